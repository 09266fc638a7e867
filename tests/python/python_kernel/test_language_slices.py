"""Slices of arrays in kernels: each program gives what the same lines give in Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib

import numpy as np
import pytest
from language_run import DTYPES, Together, expected, given

import usmx

TABLE = usmx.constant.array(np.arange(24, dtype="int16").reshape(4, 6))
both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
PROGRAMS = {}
TOGETHER = Together(PROGRAMS)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def total(part):
    s = 0.0
    for k in range(len(part)):
        s = s * 2 + part[k]
    return s


def corner(part):
    return total(part[1:, 0]) + part[0][-1] + part.shape[0] * 10 + part.shape[1]


@program
def slices_are_indexed(x, m, i):
    return x[1:][0] + m[i, 1:4][1] * 10 + m[1:, 2][i % 4] + m[i:, ::2][0][1] + x[-2:][1]


@program
def slices_have_names_and_shapes(x, m, i):
    part = m[i // 2 :, 1:]
    row = part[0]
    i = 0
    return part[1, 1] + row[2] + part.shape[0] * 10 + len(row) + part.size + part.ndim + i


@program
def steps_go_both_ways(x, m, i):
    return total(x[::2]) + total(x[::-1]) + total(x[4:0:-2]) + total(m[i, ::-3]) + total(x[i::-1])


@program
def bounds_are_computed_and_cut_off(x, m, i):
    s = total(x[i - 2 : i + 2]) + total(x[i:100]) + total(x[-100:i]) + total(x[3:i])
    for k in (-7, -2, -1, 1, 3, 9):
        s += total(x[::k]) + total(x[i:k]) + total(x[k:i:-1]) + total(x[i : i - k : k])
    return s


@program
def slices_are_sliced(x, m, i):
    part = x[1:][::-1][:3]
    return total(part) + part[1:][0] + m[1:, 1:][i - 1 :, ::2][0][0] + total(m[:, i % 4][1:][::2])


@program
def slices_go_to_functions(x, m, i):
    return corner(m[i // 3 :, :3]) + corner(m[::-1]) + corner(m[:3][:, 1:])


@program
def slices_are_looped_over(x, m, i):
    s = x[0] * 0
    n = 2
    for v in x[:n]:
        n = 4
        s += v
    for row in m[1:3, ::-2]:
        for k, v in enumerate(row[1:]):
            s += v * (k + 1)
    for a, b in zip(x[1:], x[:-1], strict=True):
        s += a - b
    return s + n


@program
def a_slice_gets_its_name_in_a_branch(x, m, i):
    if i > 2:
        part = m[i, 1:]
        k = part[0]
    else:
        part = m[i, :-1]
        k = part[1]
    return total(part) + k


@program
def tables_and_tuples_have_slices(x, m, i):
    t = (x[i], i, 2)
    a, b = t[1:]
    return total(TABLE[1:, i % 6]) + TABLE[2, 1:3][1] + a * 10 + b + t[::-1][2] + len(t[:2])


@both
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_with_slices_gives_what_python_gives(name, dtype, order, simulated):
    x, m = given(dtype, order)
    assert TOGETHER.run(name, x, m, simulated).tolist() == expected(PROGRAMS[name], x, m)


def double(part):
    for k in range(len(part)):
        part[k] *= 2


@both
def test_what_is_written_through_slices_is_in_the_array(simulated):
    @usmx.kernel
    def kernel(item, m, count):
        i = item.get_id(0)
        part = m[i, 1:]
        part[0] = 7
        m[i][::-1][0] += 3
        double(m[i, ::2])
        usmx.atomic.add(count[1:], 0, 1)
        usmx.AtomicRef(count[::-1], 0).fetch_add(2)

    for order in "CF":
        m = usmx.asarray(np.ones((3, 4), dtype="float32", order=order))
        count = usmx.zeros(3, dtype="int32")
        with usmx.simulate() if simulated else contextlib.nullcontext():
            kernel[3](m, count).wait()
        assert m.to_numpy().tolist() == [[2, 7, 2, 4]] * 3
        assert count.to_numpy().tolist() == [0, 3, 6]


@both
def test_slices_of_local_and_private_memory(simulated):
    @usmx.kernel
    def kernel(item, x, out):
        tile = usmx.local.array((2, 4), usmx.float32)
        own = usmx.private.array(4, usmx.float32)
        k = item.get_local_id(0)
        tile[1, 1:][k] = x[item.get_global_id(0)]
        usmx.barrier()
        double(own[:2])
        part = own[1:]
        part[0] = tile[1][1 + (k + 1) % 3]
        out[item.get_global_id(0)] = total(own) + total(tile[1, :0:-1])

    x, out = usmx.arange(6, dtype="float32"), usmx.zeros(6)
    with usmx.simulate() if simulated else contextlib.nullcontext():
        kernel[6, 3](x, out).wait()
    values = np.arange(6.0).reshape(2, 3)
    want = np.roll(values, -1, 1) * 4 + (values @ [1, 2, 4])[:, None]
    assert out.to_numpy().tolist() == want.ravel().tolist()


def test_the_simulator_checks_indices_and_races_of_slices():
    @usmx.kernel(simulate=True)
    def outside(item, x):
        x[1:][3] = 0

    @usmx.kernel(simulate=True)
    def together(item, x):
        x[1:][0] = item.get_id(0)

    with pytest.raises(IndexError, match=r"index 3 of a slice of 'x' is out of bounds.* is 3"):
        outside[1](usmx.zeros(4))
    with pytest.raises(RuntimeError, match="work-item 1 writes element 1 of 'x', which"):
        together[2](usmx.zeros(4))


def test_wrong_slices_say_what_is_wrong():
    def no_step(item, x):
        x[0] = x[::0][0]

    def floats(item, x):
        x[0] = x[0.5:][0]

    def too_many(item, x):
        x[0] = x[0, 1:][0]

    for function, message in (
        (no_step, "the step of a slice is 0; expected another number"),
        (floats, "a bound of a slice must be an int, not 0.5"),
        (too_many, "2 indices for an array of 1 dimension"),
    ):
        with pytest.raises(usmx.KernelError, match=message):
            usmx.kernel(function).source(usmx.zeros(4))


def test_a_slice_with_a_computed_step_of_0_is_empty_and_an_error_of_the_simulator():
    def f(item, x, step, out):
        part = x[::step]
        out[0] = len(part)
        total = 0.0
        for v in part:
            total += v
        out[1] = total

    x = usmx.arange(5.0)
    kernel = usmx.kernel(f)
    for step, wanted in ((2, [3.0, 6.0]), (-1, [5.0, 10.0]), (0, [0.0, 0.0])):
        out = usmx.full(2, -1.0)
        kernel[1](x, step, out).wait()
        assert out.tolist() == wanted
    with usmx.simulate(), pytest.raises(ValueError, match="step"):
        kernel[1](x, 0, usmx.zeros(2))


def test_a_step_of_0_that_is_known_is_refused():
    nothing, typed_nothing = 0, np.int32(0)

    def literal(item, x):
        x[0] = len(x[::0])

    def captured(item, x):
        x[0] = len(x[1:3:nothing])

    def typed(item, x):
        x[0] = len(x[::typed_nothing])

    for f in (literal, captured, typed):
        with pytest.raises(usmx.KernelError, match="the step of a slice is 0"):
            usmx.kernel(f).source(usmx.arange(5.0))
