"""Tuples and namedtuples in kernels: as arguments of launches, through functions, and returned; and
local memory that functions make."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import contextlib
from typing import NamedTuple

import numpy as np
import pytest
from language_run import DTYPES, Together, expected, given

import usmx


class Pair(NamedTuple):
    left: object
    right: object = 3


Vector = collections.namedtuple("Vector", "x y z")
ORIGIN = Vector(1, 2, 3)
both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])


def mode(simulated):
    return usmx.simulate() if simulated else contextlib.nullcontext()


PROGRAMS = {}
TOGETHER = Together(PROGRAMS)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def nested(a, b):
    return (a, (b, a + b)), b


def first_or_second(t, k):
    if k > 2:
        return t, (k, 1)
    return (t[1], t[0]), (0.5, k)


def moved(v, by):
    return Vector(v.x + by, v.y + by, z=v.z)


def swapped(p):
    return Pair(right=p.left, left=p.right)


def total(v):
    return v.x * 3 + v.y * 2 + v.z


@program
def tuples_in_tuples_are_returned(x, m, i):
    (a, (b, c)), d = nested(x[i], i)
    t = nested(i, 2)
    return a + b * 2 + c * 3 + d + t[0][1][1]


@program
def returns_of_several_types(x, m, i):
    (a, b), (c, d) = first_or_second((x[i], i), i)
    return a * 20 + b * 3 + c + d * 2


@program
def namedtuples_go_through_functions(x, m, i):
    v = moved(moved(ORIGIN, i), 2)
    w = Vector(x[i], v.y, 0)
    return total(v) + total(w) + v[0] + len(v)


@program
def namedtuples_have_defaults_and_keywords(x, m, i):
    p = Pair(x[i])
    q = swapped(swapped(swapped(p)))
    a, b = q
    return q.left * 10 + q.right + a - b


@program
def namedtuples_of_arrays(x, m, i):
    p = Pair(m[i], x)
    return p.left[1] + p.right[i] + p.left.size + len(p.right)


@program
def a_tuple_keeps_the_values_that_it_was_made_of(x, m, i):
    k = i
    t = ((x[k], k), m[k], k)
    k = 0
    return t[0][0] + t[0][1] * 10 + t[1][1] + t[2] * 3 + k


@program
def a_tuple_in_a_loop(x, m, i):
    p = Pair(0, 1)
    for k in range(i + 2):
        p = Pair(p.right, p.left + p.right + k)
    return p.left + p.right


@program
def a_loop_over_tuples_of_tuples(x, m, i):
    s = x[0] * 0
    for w, v in ((1, x[i]), (2.5, i), (3, x[0])):
        s += w * v
    for k, row in ((1, m[i]), (2, m[0])):
        s += k * row[1]
    return s


@both
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_python_gives(name, dtype, order, simulated):
    x, m = given(dtype, order)
    assert TOGETHER.run(name, x, m, simulated).tolist() == expected(PROGRAMS[name], x, m)


# --- arguments of launches ------------------------------------------------------------------------


@usmx.kernel
def of_tuples(item, p, scale, out):
    i = item.get_id(0)
    (x, n), (z, (half,)) = p
    out[i] = (x[i] + n) * scale.left + half * scale.right + z.real + len(x) + z.imag


@both
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_launch_takes_tuples_of_tuples_of_arrays_and_numbers(dtype, simulated):
    x = usmx.asarray(np.arange(1, 7), dtype=dtype)
    out = usmx.zeros(3, dtype="float64")
    with mode(simulated):
        for strided in (x[:3], x[::2], x[::-2]):
            of_tuples[3](((strided, 5), (1 - 2j, (np.float32(0.5),))), Pair(2), out).wait()
            want = (strided.to_numpy().astype(float) + 5) * 2 + 1.5 + 1 + 3 - 2
            assert out.to_numpy().tolist() == want.tolist()


@both
def test_a_tuple_of_arrays_is_written(simulated):
    @usmx.kernel
    def kernel(item, arrays, k):
        for a in arrays:
            a[item.get_id(0)] = k[0] * 2

    for usm_type in ("shared", "device"):
        arrays = tuple(usmx.zeros(3, dtype=t, usm_type=usm_type) for t in ("int32", "int32"))
        with mode(simulated):
            kernel[3](arrays, (7,)).wait()
        assert [a.to_numpy().tolist() for a in arrays] == [[14] * 3] * 2


@both
def test_a_launch_with_a_tuple_is_compiled_for_its_form_and_its_class(simulated):
    @usmx.kernel
    def kernel(item, p, out):
        out[0] = p[0]
        out[1] = p.right if hasattr_right(p) else p[1]

    def hasattr_right(p):
        return len(p) == 2

    out = usmx.zeros(2, dtype="float64")
    with mode(simulated):
        kernel[1](Pair(1, 2.5), out).wait()
        assert out.to_numpy().tolist() == [1, 2.5]
        kernel[1](Pair(3, 4), out).wait()
        assert out.to_numpy().tolist() == [3, 4]
        with pytest.raises(usmx.KernelError, match="'right' of a tuple of 2 is not supported"):
            kernel[1]((1, 2), out)
        with pytest.raises(usmx.KernelError, match="a Vector has no 'right'; it has x, y, z"):
            kernel[1](ORIGIN, out)


@both
def test_lengths_in_a_tuple_size_local_memory(simulated):
    @usmx.kernel
    def kernel(item, p, out):
        tile = usmx.local.array((p[0].shape[0], p[1]), out.dtype)
        k = item.get_local_id(0)
        tile[k, 1] = k
        usmx.barrier()
        out[k] = tile[3 - k, 1]

    out = usmx.zeros(4, dtype="int32")
    with mode(simulated):
        for n in (2, 5):
            kernel[4, (4,)]((out, n), out).wait()
            assert out.to_numpy().tolist() == [3, 2, 1, 0]


@both
def test_what_is_wrong_in_a_tuple_is_named(simulated):
    out = usmx.zeros(3)
    with (
        mode(simulated),
        pytest.raises(TypeError, match=r"argument 0 \('p'\) of kernel 'of_tuples', item 1, item 0"),
    ):
        of_tuples[3](((out, 5), ([1, 2], (0.5,))), Pair(2), out)


def test_tuples_that_are_nested_without_end_are_refused():
    deep = ()
    for _ in range(100_000):
        deep = (deep,)
    out = usmx.zeros(3)
    with pytest.raises(ValueError, match="nested deeper than 32"):
        of_tuples[3](deep, Pair(2), out)


def test_kernels_with_tuples_are_kept_on_disk(run_python, tmp_path):
    file = tmp_path / "program.py"
    file.write_text("""
import collections, usmx
P = collections.namedtuple("P", "data by")
@usmx.kernel
def kernel(item, p):
    q = P(p.data, p.by + 1)
    q.data[0] = q.by
x = usmx.zeros(1)
kernel[1](P(x, 2))
print(x.to_numpy()[0], usmx._usmx._ProgramStore.texts()["count"])
""")
    code = f"exec(compile(open({str(file)!r}).read(), {str(file)!r}, 'exec'))"
    env = {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path)}
    values = [run_python(code, env=env).stdout.split() for _ in range(2)]
    assert values[0] == values[1]
    assert values[0][0] == "3.0"
    assert int(values[0][1]) > 0


# --- local memory in functions --------------------------------------------------------------------


def reversed_in_group(item, value, n):
    tile = usmx.local.array(8, usmx.float32)
    k = item.get_local_id(0)
    usmx.barrier()
    tile[k] = value
    usmx.barrier()
    return tile[n - 1 - k]


def twice(item, value, n):
    return reversed_in_group(item, reversed_in_group(item, value, n) + 1, n)


@both
def test_a_function_makes_local_memory(simulated):
    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        once = reversed_in_group(item, x[i], 4)
        out[i] = once * 100 + twice(item, x[i], 4)

    x, out = usmx.arange(8, dtype="float32"), usmx.zeros(8, dtype="float32")
    with mode(simulated):
        kernel[8, (4,)](x, out).wait()
        with pytest.raises(ValueError, match=r"local memory|reversed_in_group"):
            kernel[8](x, out)
    want = np.arange(8).reshape(2, 4)
    assert out.to_numpy().tolist() == (want[:, ::-1] * 100 + want + 1).ravel().tolist()
