# A launch in its plain form, which reads its arguments by a shorter way, means and refuses what the
# general one does.
# SPDX-License-Identifier: Apache-2.0
import pytest

import usmx

SOURCE = """
USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }
USMX_KERNEL(1) scale(float* x, float a, double b) { x[usmx::global_id()] *= a * b; }
USMX_KERNEL(2) fill(usmx::strided<int, 2> x, int n) {
  x(usmx::nd_item<2>::get_global_id(0), usmx::nd_item<2>::get_global_id(1)) = n;
}
USMX_KERNEL(1) copy(int* x, const int* y) { x[0] = y[0]; }
"""
ADD, SCALE, FILL, COPY = (usmx.RawKernel(SOURCE, name) for name in ("add", "scale", "fill", "copy"))
LOCAL = usmx.RawKernel("USMX_KERNEL(1) f(int* x, usmx::local_view<int, 1> l) { l[0] = 1; }", "f")


def ints(*shape, **how):
    return usmx.zeros(shape or 8, "i4", usm_type="shared", **how)


ELSEWHERE = usmx.Queue(usmx.Context([usmx.Device()]), usmx.Device())
WRONG = {
    "too few": lambda how: ADD[8](ints(), **how),
    "too many": lambda how: ADD[8](ints(), 1, 2, **how),
    "no argument": lambda how: ADD[8](**how),
    "a number for memory": lambda how: ADD[8](1, 1, **how),
    "a number and memory": lambda how: COPY[8](ints(), 1, **how),
    "a number for local memory": lambda how: LOCAL[8, 8](ints(), 1, **how),
    "memory for local memory": lambda how: LOCAL[8, 8](ints(), ints(), **how),
    "memory for a number": lambda how: ADD[8](ints(), ints(), **how),
    "a float for an int": lambda how: ADD[8](ints(), 1.5, **how),
    "too large": lambda how: ADD[8](ints(), 1 << 31, **how),
    "far too large": lambda how: ADD[8](ints(), 1 << 99, **how),
    "too large for a float": lambda how: SCALE[8](usmx.zeros(8, "f4"), 1e300, 1.0, **how),
    "text": lambda how: ADD[8](ints(), "1", **how),
    "None": lambda how: ADD[8](None, 1, **how),
    "list": lambda how: ADD[8]([0] * 8, 1, **how),
    "other elements": lambda how: ADD[8](usmx.zeros(8, "f4"), 1, **how),
    "strided": lambda how: ADD[4](ints()[::2], 1, **how),
    "another rank": lambda how: FILL[8, 8](ints(8), 1, **how),
    "a range of another rank": lambda how: FILL[8](ints(8, 8), 1, **how),
    "a group that does not divide": lambda how: ADD[8, 3](ints(), 1, **how),
    "a group of none": lambda how: ADD[8, 0](ints(), 1, **how),
    "a group too large": lambda how: ADD[1 << 20, 1 << 20](ints(), 1, **how),
    "a negative range": lambda how: ADD[-8](ints(), 1, **how),
    "a range beyond all": lambda how: ADD[1 << 99](ints(), 1, **how),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_both_forms_refuse_in_the_same_words(wrong):
    COPY[8](ints(), ints()), LOCAL[8, 8](ints(), usmx.LocalMemory(8, "i4"))
    ADD[8](ints(), 1), SCALE[8](usmx.zeros(8, "f4"), 1.0, 1.0), FILL[8, 8](ints(8, 8), 1)
    raised = []
    for how in ({}, {"depends_on": ()}):
        with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
            wrong(how)
        raised.append((caught.type, str(caught.value)))
    assert raised[0] == raised[1]


def test_both_forms_compute_the_same():
    for how in ({}, {"depends_on": ()}):
        x, y, z = ints(), usmx.ones(8, "f4", usm_type="shared"), ints(4, 12)
        ADD[8](x, True, **how).wait()
        ADD[8, 4](x, -3, **how).wait()
        SCALE[8](y, 2, 3.0, **how).wait()
        FILL[4, 6](z[:, ::2], 5, **how).wait()
        assert x.to_numpy().tolist() == [-2] * 8
        assert y.to_numpy().tolist() == [6.0] * 8
        assert z.to_numpy().tolist() == [[5, 0] * 6] * 4


def test_a_kernel_of_many_parameters_has_room_for_all():
    names = [f"p{k}" for k in range(40)]
    text = f"USMX_KERNEL(1) f(int* x, {', '.join('int ' + n for n in names)})"
    k = usmx.RawKernel(f"{text} {{ x[0] = {' + '.join(names)}; }}", "f")
    x = ints()
    for _ in range(2):
        k[1](x, *range(40)).wait()
    assert int(x[0]) == sum(range(40))


def test_a_launch_without_items_computes_nothing():
    x = ints()
    for _ in range(2):
        ADD[0](x, 1).wait()
    assert x.to_numpy().tolist() == [0] * 8


def test_memory_of_another_context_is_refused_after_a_launch_in_each():
    there = ints(queue=ELSEWHERE)
    for x in (ints(), there, ints(), there):
        ADD[8](x, 1).wait()
    assert there.to_numpy().tolist() == [2] * 8
    two = usmx.RawKernel("USMX_KERNEL(1) two(int* x, int* y) { x[0] = y[0]; }", "two")
    two[1](ints(), ints()).wait()
    with pytest.raises(ValueError, match=r"argument 1 .*belongs to another context"):
        two[1](ints(), there)


def test_a_class_of_its_own_decides_what_its_brackets_mean():
    class Eight(usmx.RawKernel):
        def __getitem__(self, group):
            return super().__getitem__((8, group))

    x = ints()
    Eight(SOURCE, "add")[4](x, 2).wait()
    assert x.to_numpy().tolist() == [2] * 8


def test_kernels_that_were_never_initialised_are_type_errors():
    with pytest.raises(TypeError, match="never initialised"):
        usmx.RawKernel.__new__(usmx.RawKernel)[8]
    bound = type(ADD[8])
    with pytest.raises(TypeError, match="never initialised"):
        bound.__new__(bound)(ints())
    with pytest.raises(TypeError, match="never initialised"):
        usmx.ElementwiseKernel.__new__(usmx.ElementwiseKernel)(1)
