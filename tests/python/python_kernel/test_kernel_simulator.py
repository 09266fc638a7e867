# The simulator finds what a device does not say: indices out of bounds, races, barriers that not
# every item comes to; and it leads to the kernel's own lines.
# SPDX-License-Identifier: Apache-2.0
import sys
import traceback

import numpy as np
import pytest

import usmx

TABLE = usmx.constant.array([1, 2, 3])


def simulate(function, *args, over=(8, (4,))):
    passed = [usmx.asarray(a, usm_type="shared") if isinstance(a, np.ndarray) else a for a in args]
    usmx.kernel(function, simulate=True)[over](*passed).wait()
    return passed[-1].to_numpy()


@pytest.mark.parametrize("index", [8, -9, 100])
def test_an_index_out_of_bounds_is_named(index):
    def f(item, n, a):
        a[n] = 1

    with pytest.raises(IndexError, match=rf"kernel 'f', work-item 0: index {index} of 'a' is out"):
        simulate(f, index, np.zeros(8))


def test_the_traceback_leads_to_the_line_of_the_kernel():
    def f(item, n, a):
        k = 1
        a[k * n] = 1  # this line

    with pytest.raises(IndexError) as caught:
        simulate(f, 99, np.zeros(8))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.line and frame.line.endswith("# this line") for frame in frames)


def test_bounds_of_local_private_and_constant_memory_are_checked():
    def local(item, n, a):
        t = usmx.local.array(4, usmx.float32)
        t[n] = 1

    def private(item, n, a):
        t = usmx.private.array(4, usmx.float32)
        a[0] = t[n]

    def constant(item, n, a):
        a[0] = TABLE[n]

    for function in (local, private, constant):
        with pytest.raises(IndexError, match="index 4"):
            simulate(function, 4, np.zeros(8))


def test_races_are_found():
    def between_writers(item, a):
        a[0] = item.get_global_id(0)

    def between_reader_and_writer(item, a):
        i = item.get_global_id(0)
        a[i] = a[(i + 1) % 8]

    def without_barrier(item, a):
        t = usmx.local.array(4, usmx.float32)
        k = item.get_local_id(0)
        t[k] = k
        a[item.get_global_id(0)] = t[3 - k]

    def beside_an_atomic(item, a):
        usmx.atomic.add(a, 0, 1)
        a[1 + item.get_global_id(0) % 7] = a[0]

    for function in (between_writers, between_reader_and_writer, without_barrier, beside_an_atomic):
        dtype = "i4" if function is beside_an_atomic else "f4"
        with pytest.raises(RuntimeError, match="the accesses are not synchronized"):
            simulate(function, np.zeros(8, dtype))


def test_equal_values_written_by_several_items_are_no_race():
    def flag(item, a):
        a[0] = 1
        a[1] = np.nan
        usmx.barrier()
        a[2 + item.get_global_id(0) % 4] = a[0]

    got = simulate(flag, np.zeros(8, "f4"))
    np.testing.assert_array_equal(got, [1, np.nan, 1, 1, 1, 1, 0, 0])


def test_equal_values_are_a_race_with_readers_and_with_other_values():
    def read_between(item, a):
        if a[0] == 0:
            a[0] = 0

    def changed_after_a_barrier(item, a):
        a[0] = 1
        usmx.barrier()
        if item.get_global_id(0) == 7:
            a[0] = 2

    def read_without_writing(item, a):
        i = item.get_global_id(0)
        if i < 2:
            a[0] = 1
        usmx.barrier()
        a[i] = a[0]

    def of_another_sign(item, a):
        a[0] = -0.0 if item.get_global_id(0) else 0.0

    for function in (read_between, changed_after_a_barrier, read_without_writing, of_another_sign):
        with pytest.raises(RuntimeError, match="the accesses are not synchronized"):
            simulate(function, np.zeros(8, "f4"))


def test_what_is_ordered_is_no_race():
    def f(item, a, out):
        t = usmx.local.array(4, usmx.float32)
        i, k = item.get_global_id(0), item.get_local_id(0)
        for _ in range(3):
            t[k] = a[i]
            usmx.barrier()
            a[i] = t[3 - k]
            usmx.barrier()
        usmx.atomic.add(out, 0, 1)

    assert simulate(f, np.arange(8, dtype="f4"), np.zeros(1, "i4")).tolist() == [8]


def test_barriers_that_not_all_items_come_to_are_found():
    def some(item, a):
        if item.get_local_id(0) < 2:
            usmx.barrier()

    def different(item, a):
        g = item.get_group()
        if item.get_local_id(0) < 2:
            usmx.barrier()
        else:
            g.reduce(1)

    with pytest.raises(RuntimeError, match="2 items of a group wait at barrier, but item 2"):
        simulate(some, np.zeros(8))
    with pytest.raises(RuntimeError, match="wait at different places: barrier, reduce"):
        simulate(different, np.zeros(8))


def test_a_false_assertion_is_an_error():
    def f(item, a):
        assert a[0] > 0, "too small"

    with pytest.raises(AssertionError, match="too small"):
        simulate(f, np.zeros(8))


def test_print_prints(capsys):
    def f(item, a):
        if item.get_id(0) == 0:
            print("first", a[0], f"{a[0]:.2f}")

    simulate(f, np.ones(8), over=8)
    assert capsys.readouterr().out == "first 1.0 1.00\n"


def test_a_breakpoint_stops_in_the_kernels_own_line(monkeypatch):
    stopped = []

    def hook():
        frame = sys._getframe(1)
        stopped.append((frame.f_code.co_filename, frame.f_lineno, frame.f_locals["i"]))

    def f(item, a):
        i = item.get_id(0)
        if i == 2:
            breakpoint()
        a[i] += 1

    monkeypatch.setattr(sys, "breakpointhook", hook)
    a = np.zeros(8)
    simulate(f, a, over=8)
    line = f.__code__.co_firstlineno + 3
    assert stopped == [(__file__, line, 2)]


def test_a_breakpoint_on_the_device_leads_to_the_simulator():
    @usmx.kernel
    def f(item, a):
        breakpoint()

    with pytest.raises(usmx.KernelError, match=r"breakpoint.*with usmx\.simulate\(\)") as caught:
        f[1](usmx.zeros(1))
    assert caught.value.lineno == f.python.__code__.co_firstlineno + 2
    with usmx.simulate(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "breakpointhook", lambda: None)
        f[1](usmx.zeros(1))


def test_numbers_in_tuples_are_printed_as_numbers(capsys):
    def f(item, a):
        if item.get_id(0) == 0:
            pair = (a[0] > 1, a[0])
            print(pair, (a[1] < 5, (1, a[1])), f"{pair}", f"{(a[0] > 0,)}")

    simulate(f, np.ones(8, "float32"), over=8)
    assert capsys.readouterr().out == "(False, 1.0) (True, (1, 1.0)) (False, 1.0) (True,)\n"


def test_wrong_kernels_are_wrong_in_the_simulator_too():
    def f(item, a):
        a[0] = nothing  # noqa: F821

    with pytest.raises(usmx.KernelError, match="'nothing' is not defined"):
        simulate(f, np.zeros(8))


def test_ways_to_switch_it_on(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import usmx\n@usmx.kernel\ndef f(item, a, n):\n    a[n] = 1\n"
        "a = usmx.zeros(4, dtype='i4', usm_type='shared')\n"
        "with usmx.simulate(False):\n    f[1](a, 1).wait()\n"
        "assert a.to_numpy().tolist() == [0, 1, 0, 0]\n"
        "try:\n    f[1](a, 99)\nexcept IndexError as e:\n    print('found')\n",
        encoding="utf-8",
    )
    code = f"exec(compile(open({str(program)!r}).read(), {str(program)!r}, 'exec'))"
    assert run_python(code, env={"USMX_SIMULATE": "1"}).stdout == "found\n"

    def f(item, a, n):
        a[n] = 1

    k = usmx.kernel(f)
    a = usmx.zeros(4, dtype="i4", usm_type="shared")
    with usmx.simulate(), pytest.raises(IndexError):
        k[1](a, 99)
    k[1](a, 2).wait()
    assert a.to_numpy().tolist() == [0, 0, 1, 0]


def test_the_least_and_the_greatest_are_taken_in_the_type_of_both():
    @usmx.kernel
    def extremes(item, small, n, out):
        i = item.get_id(0)
        out[0, i] = max(small[i], n - 6)
        out[1, i] = min(small[i], n - 6)
        out[2, i] = max((small[i], n - 6, -0.5))

    small = usmx.asarray([97, 255], dtype="u1", usm_type="shared")
    results = []
    for simulate in (False, True):
        out = usmx.zeros((3, 2), "f8", usm_type="shared")
        with usmx.simulate(simulate):
            extremes[2](small, 3, out).wait()
        results.append(out.to_numpy().tolist())
    # The Python int becomes a uint8 as the element is one, and -3 wraps around.
    assert results[0] == results[1] == [[253, 255], [97, 253], [253, 255]]


def test_powers_of_integers_keep_the_lowest_bits():
    @usmx.kernel
    def powers(item, a, b, out):
        k = item.get_id(0)
        out[k] = a[k] ** b[k]

    for type_ in ("int32", "uint64"):
        a = usmx.asarray([3, 7, 2, 5], dtype=type_, usm_type="shared")
        b = usmx.asarray([2_000_000_011, 65, 64, 3], dtype=type_, usm_type="shared")
        here, there = usmx.zeros_like(a), usmx.zeros_like(a)
        powers[4](a, b, there).wait()
        with usmx.simulate():
            powers[4](a, b, here).wait()
        assert here.tolist() == there.tolist()
