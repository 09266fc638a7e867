# Elementwise kernels compute what NumPy computes, for every element type and every layout.
# SPDX-License-Identifier: Apache-2.0
import gc
import itertools
import sys
import threading

import dpctl.memory
import dpnp
import numpy as np
import pytest
from depths import of_depth
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usmx
from usmx import ElementwiseKernel, _usmx

TYPES = ["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "F", "D"]
ADD = ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
MULADD = ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "muladd")


def numbers(shape, dtype, seed=0):
    """Numbers on which one operation is exact in every type."""
    values = np.random.default_rng(seed).integers(0, 7, shape)
    if np.dtype(dtype).kind == "c":
        return (values + 1j * values[..., ::-1]).astype(dtype) if shape else values.astype(dtype)
    return values.astype(dtype)


def usm(array, usm_type="shared"):
    return usmx.asarray(np.ascontiguousarray(array), usm_type=usm_type).reshape(array.shape)


def compiled():
    """How many programs this process compiled or read, as another worker may have been first."""
    return sum(_usmx._ProgramStore.counts()[::2])


def assert_same(got, want):
    got = got.to_numpy()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want, strict=True)


# --- what NumPy computes --------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [*itertools.product(TYPES, TYPES[::3])])
def test_mixed_types_meet_as_in_numpy(first, second):
    a, b = numbers((5,), first), numbers((5,), second, 1)
    assert_same(ADD(usm(a), usm(b)), np.add(a, b))


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 1), (1, 4)), ((), (4,)), ((2, 1, 3), (5, 1)), ((0, 3), (1,)), ((1,), (1, 1)), ((4,), ())],
)
def test_shapes_broadcast(a, b):
    x, y = numbers(a, "i"), numbers(b, "i", 1)
    assert_same(ADD(usm(x), usm(y)), np.asarray(x + y))


@pytest.mark.parametrize(
    "number", [True, 2, 2.5, 1 + 2j, np.float64(2.5), np.int8(3), np.complex64(1j)]
)
@pytest.mark.parametrize("dtype", ["?", "b", "Q", "e", "f", "F"])
def test_numbers_take_part_as_in_numpy(dtype, number):
    a = numbers((6,), dtype)
    assert_same(ADD(usm(a), number), np.add(a, number))
    assert_same(ADD(number, usm(a)), np.add(number, a))


def test_numbers_alone_give_one_element():
    assert_same(ADD(2, 3.5), np.asarray(5.5))


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_products_and_sums_are_rounded_one_by_one(dtype):
    x, y = np.random.default_rng(3).standard_normal((2, 10_000)).astype(dtype)
    assert_same(MULADD(usm(x), usm(y)), x * y + np.ones((), dtype))


def test_sizes_around_those_of_work_groups():
    for n in [1, 2, 255, 256, 257, 4095, 4096, 4097, 100_001]:
        x = np.arange(n, dtype="i4")
        assert_same(ADD(usm(x), 1), x + 1)


axis = st.tuples(st.integers(0, 4), st.sampled_from([1, 1, 2, 3]), st.booleans(), st.booleans())


@settings(
    max_examples=of_depth(quick=20, full=150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(axis, max_size=5), st.randoms(use_true_random=False), st.booleans())
def test_any_strides_and_broadcasting(axes, random, given_output):
    def operand(seed):
        shape, key = [], []
        for length, step, is_reversed, is_repeated in axes:
            n = 1 if is_repeated and (seed + length) % 2 else length
            shape.append(n * step)
            key.append(slice(None, None, -step if is_reversed ^ bool(seed % 2) else step))
        order = list(range(len(shape)))
        random.shuffle(order)
        whole = numbers([shape[k] for k in order], "i", seed)
        back = [order.index(k) for k in range(len(shape))]
        host, device = whole.transpose(back), usm(whole).transpose(back)
        return host[tuple(key)], device[tuple(key)]

    (a, x), (b, y) = operand(0), operand(1)
    want = np.asarray(a + b)
    if not given_output:
        assert_same(ADD(x, y), want)
        return
    whole = usmx.zeros([2 * n for n in want.shape], dtype="i4", usm_type="shared")
    out = whole[tuple(slice(None, None, 2) for _ in want.shape)][::-1] if want.ndim else whole
    assert ADD(x, y, out=out) is out
    assert_same(out, want)
    assert int(whole.to_numpy().sum()) == int(want.sum())


# --- outputs --------------------------------------------------------------------------------------


def test_several_outputs_are_a_tuple():
    k = ElementwiseKernel("T x, U y", "T a, U b, bool c", "a = -x; b = y * y; c = x < T(y)")
    x, y = numbers((3, 4), "f"), numbers((4,), "h", 1)
    a, b, c = k(usm(x), usm(y))
    assert_same(a, -x)
    assert_same(b, np.broadcast_to(y * y, (3, 4)))
    assert_same(c, x < y)
    given_b = usmx.empty((3, 4), dtype="i4")
    again = k(usm(x), usm(y), out=(None, given_b, None))
    assert again[1] is given_b
    assert_same(given_b, np.broadcast_to(y * y, (3, 4)).astype("i4"))


def test_outputs_are_cast_within_their_class_only():
    x = usm(numbers((4,), "d"))
    out = usmx.empty(4, dtype="f4")
    ADD(x, 1, out)
    assert_same(out, x.to_numpy().astype("f4") + np.float32(1))
    with pytest.raises(
        TypeError, match=r"output 'z' \(T z\): float64 is not cast to elements of int64"
    ):
        ADD(x, 1, usmx.empty(4, dtype="i8"))
    with pytest.raises(TypeError, match=r"input 'x' \(int32 x\): float64 is not cast to int32"):
        ElementwiseKernel("int32 x", "T z", "z = x")(x, out)


def test_outputs_keep_the_order_of_the_inputs():
    f = usm(numbers((3, 4), "f").T).T
    assert ADD(f, f).strides == f.strides
    assert ADD(f, usm(numbers((3, 4), "f"))).strides == (4, 1)
    moved = usm(numbers((2, 3, 4), "f")).transpose(1, 2, 0)
    assert ADD(moved, 1).strides == (4, 1, 12)
    assert ADD(f[::-1], 1).strides == (1, 3)


@pytest.mark.parametrize(
    ("first", "second", "want"),
    [
        ("device", "host", "device"),
        ("shared", "host", "shared"),
        ("host", "host", "host"),
        ("shared", "device", "device"),
    ],
)
def test_outputs_are_allocated_as_the_strongest_input(first, second, want):
    z = ADD(usmx.ones(3, usm_type=first), usmx.ones(3, usm_type=second))
    assert z.usm_type == want
    assert ADD(1, 2).usm_type == "device"


def test_the_expression_sees_what_an_output_held():
    k = ElementwiseKernel("T x", "T z", "z += x")
    z = usm(np.arange(6, dtype="f4"))
    k(usm(np.ones(6, "f4")), z)
    assert_same(z, np.arange(6, dtype="f4") + 1)
    wide = usm(np.arange(6, dtype="f8"))
    k(usm(np.ones(6, "f4")), wide)
    assert_same(wide, np.arange(6, dtype="f8") + 1)
    k(z[:-1], z[1:])
    assert_same(z, np.asarray([1, 3, 5, 7, 9, 11], "f4"))


# --- the expression -------------------------------------------------------------------------------


def test_i_counts_in_c_order_and_n_is_the_size():
    k = ElementwiseKernel("T x", "int64 z", "z = n * 100 + i")
    f = usm(np.zeros((4, 3), "f4")).T[::-1]
    assert_same(k(f), 1200 + np.arange(12).reshape(3, 4))


@pytest.mark.parametrize(("step", "text"), [(-1, "-1"), (2, "_x_column"), (-3, "_x_column")])
def test_a_step_along_one_axis_stands_in_the_text(step, text):
    k = ElementwiseKernel("T x, T one", "T z", "z = x + one", "line")
    x = np.arange(100, dtype="i2")
    one = usm(np.ones(1, "i2"))
    got = k(usm(x)[::step], usmx.broadcast_to(one, x[::step].shape))
    np.testing.assert_array_equal(got.to_numpy(), x[::step] + 1)
    (source,) = k.sources
    assert f"_x_data, int64_t(_at) * {text})" in source
    assert "each_row(" not in source


def test_squares_of_rows_keep_values_and_the_number_of_elements():
    """An input whose elements are neighbours in another axis changes the order of the loops."""
    x = numbers((5, 3, 70, 12), "f").transpose(3, 1, 2, 0)
    device = usm(numbers((5, 3, 70, 12), "f")).transpose(3, 1, 2, 0)
    out = usm(np.zeros(x.shape, "f4"))
    usmx.ElementwiseKernel("float32 x", "float32 y", "y = x", "moved")(device, out)
    np.testing.assert_array_equal(out.to_numpy(), x)
    usmx.ElementwiseKernel("float32 x", "float32 y", "y = x + i", "counted")(device, out)
    np.testing.assert_array_equal(
        out.to_numpy(), x + np.arange(x.size, dtype="f4").reshape(x.shape)
    )


def test_raw_parameters_are_indexed():
    k = ElementwiseKernel("raw T x, int64 step", "T z", "z = x[(i + step) % x.size()]")
    x = np.arange(12, dtype="h").reshape(3, 4)
    assert_same(k(usm(x), 2, size=12), np.roll(x.ravel(), -2))
    assert_same(k(usm(x)[:, ::-2], 1, size=6), np.roll(x[:, ::-2].ravel(), -1))
    out = usmx.empty((3, 4), dtype="h")
    k(usm(x), 3, out)
    assert_same(out, np.roll(x.ravel(), -3).reshape(3, 4))


def test_raw_inputs_are_cast_and_raw_outputs_written():
    gather = ElementwiseKernel("raw T x, T y", "T z", "z = x[n - 1 - i] + y")
    a, b = numbers((5,), "h"), numbers((5,), "f", 1)
    assert_same(gather(usm(a), usm(b)), a[::-1] + b)
    scatter = ElementwiseKernel("T x", "raw T z", "z[n - 1 - i] = x")
    out = usmx.zeros(5, dtype="f4")
    scatter(usm(b), out)
    assert_same(out, b[::-1])
    with pytest.raises(ValueError, match="a raw output has to be given"):
        scatter(usm(b))


def test_inputs_may_be_missing():
    k = ElementwiseKernel("", "int32 z", "z = int32_t(i * i)")
    assert_same(k(size=5), np.arange(5, dtype="i4") ** 2)
    assert_same(k(size=0), np.arange(0, dtype="i4"))
    out = usmx.empty((2, 3), dtype="i4")
    assert_same(k(out), np.arange(6, dtype="i4").reshape(2, 3) ** 2)
    with pytest.raises(ValueError, match="size: is needed"):
        k()


def test_text_around_the_expression():
    k = ElementwiseKernel(
        "T x",
        "T z",
        "if (x < limit) { z = limit; return; } z = twice(x)",
        "bounded",
        preamble="template <class T> T twice(T x) { return x * FACTOR; }",
        options=("-DFACTOR=2",),
        loop_prep="const T limit = T(3);",
        after_loop="z += T(1);",
    )
    x = np.arange(6, dtype="f4")
    assert_same(k(usm(x)), np.where(x < 3, 3, x * 2).astype("f4") + np.float32(1))
    assert (k.name, k.in_params, k.out_params) == ("bounded", ("T x",), ("T z",))
    assert "bounded" in repr(k)


def test_functions_and_parameters_may_have_any_names():
    k = ElementwiseKernel("T load, T n", "T store", "store = sqrt(load) + n", "sqrt")
    assert_same(k(usm(np.asarray([4.0, 9.0])), 1), np.asarray([3.0, 4.0]))


def test_any_byte_but_zero_is_true():
    class Flags:
        def __init__(self, bits):
            self.__sycl_usm_array_interface__ = {
                **bits.__sycl_usm_array_interface__,
                "typestr": "|b1",
            }

    held = usm(np.asarray([0, 1, 2, 255], "u1"))
    bits = Flags(held)
    k = ElementwiseKernel("T x", "int32 z", "z = x + x")
    assert_same(k(bits), np.asarray([0, 2, 2, 2], "i4"))


# --- what is compiled -----------------------------------------------------------------------------


def test_a_second_call_compiles_nothing():
    k = ElementwiseKernel("T x, T y", "T z", "z = x - y + 17", "counted")
    x, y = usm(np.ones((3, 4), "f4")), usm(np.ones((3, 4), "f4"))
    k(x, y)
    before = compiled()
    k(y, x, out=x)
    k(usm(np.ones(7, "f4")), usm(np.ones(7, "f4")))
    k(x.T, y.T)
    assert compiled() == before
    assert len(k.sources) == 1 or len(k.sources) == 2
    k(x[:, ::2], 1)
    assert compiled() == before + 1
    again = ElementwiseKernel("T x, T y", "T z", "z = x - y + 17", "counted")
    again(x, y)
    assert compiled() == before + 1


def test_threads_share_a_kernel():
    k = ElementwiseKernel("T x, T y", "T z", "z = x * 3 + y", "shared_by_threads")
    x = usm(np.arange(1000))
    wrong = []

    def work(number):
        for _ in range(50):
            z = k(x, number)
            if not np.array_equal(z.to_numpy(), np.arange(1000) * 3 + number):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


# --- what is passed, and where it runs ------------------------------------------------------------


def test_arrays_of_other_libraries():
    x = dpnp.asarray(np.arange(4, dtype="f4"))
    assert_same(ADD(x, 1), np.arange(4, dtype="f4") + np.float32(1))
    shared = usm(np.arange(4, dtype="f4"))
    assert_same(ADD(np.asarray(shared), shared), 2 * np.arange(4, dtype="f4"))
    m = dpctl.memory.MemoryUSMShared(4)
    memoryview(m)[:] = b"\1\2\3\4"
    assert_same(ADD(m, 1), np.asarray([2, 3, 4, 5], "u1"))
    ADD(shared, 1, out=x)
    np.testing.assert_array_equal(dpnp.asnumpy(x), np.arange(4, dtype="f4") + 1)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("text", ["x > 0 ? -1 : 0", "-(x > 0)", "x * (x > 0 ? -1 : 1)"])
def test_a_condition_keeps_its_sign_as_a_number(text, dtype):
    x = np.asarray([-1, 0, 1, 2], dtype)
    right = x * np.where(x > 0, -1, 1) if "*" in text else np.where(x > 0, -1, 0)
    ours = usm(x)
    assert_same(usmx.ElementwiseKernel("T x", "T z", f"z = {text}")(ours), right.astype(dtype))
    total = usmx.ReductionKernel("T x", "T z", text, "a + b", "z = a", "0")
    assert_same(total(ours), right.sum().astype(dtype))
    running = usmx.ScanKernel("T x", "T z", text, "a + b", identity="0")
    assert_same(running(ours), np.cumsum(right).astype(dtype))


@pytest.mark.parametrize(
    "kernel",
    [
        usmx.ElementwiseKernel("T x", "T z", "z = x + 1"),
        usmx.ReductionKernel("T x", "T z", "x", "a + b", "z = a", "0"),
        usmx.ScanKernel("T x", "T z", "x", "a + b", identity="0"),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_who_does_not_know_our_queue_finds_the_results(kernel):
    x = usmx.ones(4, "f4", usm_type="shared")
    ours = kernel(x)
    theirs = dpnp.empty(ours.shape, dtype="f4")
    kernel(x, out=ours)
    with usmx.trace() as t:
        kernel(x, out=ours)
    assert t.summary().waits == 0
    with usmx.trace() as t:
        kernel(x, out=theirs)
    assert t.summary().waits == 1
    np.testing.assert_array_equal(dpnp.asnumpy(theirs), ours.to_numpy())


def test_queues_are_put_in_order():
    other = usmx.Queue(usmx.default_queue().device)
    slow = usmx.RawKernel(
        """USMX_KERNEL(1) slow(const int* p, int* r) {
          int sum = 0;
          for (int n = 0; n < 30000000; ++n) sum += p[n & 1023] ^ n;
          r[0] = sum | 1;
        }""",
        "slow",
    )
    p = usmx.zeros(1024, dtype="i4")
    result = usmx.zeros(1, dtype="i4", queue=other)
    slow[1](p, result, queue=other)
    z = ADD(p[:1], result)
    assert z.to_numpy()[0] != 0
    asked = ADD(p[:1], result, queue=other)
    assert asked.queue == other
    event = slow[1](p, result, queue=other)
    ordered = ADD(p[:1], result, depends_on=[event])
    assert ordered.to_numpy()[0] != 0
    assert event.is_done


def test_memory_of_another_context_is_refused():
    other = usmx.Queue(usmx.Context([usmx.Device()]), usmx.Device())
    with pytest.raises(
        ValueError, match=r"input 'y' \(T y\): its memory belongs to another context"
    ):
        ADD(usmx.ones(3), usmx.ones(3, queue=other))


def test_nothing_is_kept():
    x = usmx.ones(5, dtype="f4")
    ADD(x, 1)
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(100):
        ADD(x, 1)
        ADD(x, 1, out=x)
        with pytest.raises(TypeError):
            ADD(x, "one")
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize("name", ["N", "T", "As", "at", "Integer", "count"])
def test_macros_among_the_options_meet_no_header(name):
    """A macro is for the expression alone, for all names that the headers of the library use."""
    k = usmx.ElementwiseKernel(
        "float32 x", "int8 y", f"y = x + {name}", "macro", options=(f"-D{name}=8",)
    )
    assert k(usmx.ones(3, "float32")).to_numpy().tolist() == [9, 9, 9]
