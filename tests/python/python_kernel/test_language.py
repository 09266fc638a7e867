"""What kernels have of Python's language: each program gives what the same lines give in Python.

A program is a plain function of arrays and an index. It runs on the device, in the simulator, and
in Python on NumPy's arrays, which is what both are compared with.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import math
import operator

import numpy as np
import pytest
from language_run import Together

import usmx

PROGRAMS = {}
TOGETHER = Together(PROGRAMS)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


# --- functions ------------------------------------------------------------------------------------


def scaled(x, by=3, offset=(1, 2)):
    return x * by + offset[0] * offset[1]


def swap(pair):
    a, b = pair
    return b, a


def item_of(pair):
    row, k = pair
    return row[k] + len(row)


def put(a, k, value):
    a[k] = value


@program
def plain_functions_with_defaults_and_keywords(x, m, i):
    return scaled(x[i]) + scaled(by=2, x=x[i]) + scaled(x[i], offset=(i, 1))


def named(x, /, by=3, *, offset, sign=1):
    return (x * by + offset) * sign


named_lambda = lambda x, *, by=2: x * by + 1  # noqa: E731


@program
def parameters_by_keyword_only(x, m, i):
    def inner(v, *, w=2, z):
        return v * w + z + x[0]

    s = named(x[i], offset=1) + named(x[i], 2, sign=2, offset=i)
    return s + inner(i, z=1) + inner(i, z=2, w=3) + named_lambda(i) + named_lambda(i, by=3)


@program
def tuples_go_in_and_come_out(x, m, i):
    a, b = swap((x[i], i))
    (c, d) = swap(swap((a, b)))
    return a * 20 + b * 2 + c - d


@program
def arrays_inside_of_tuples(x, m, i):
    return item_of((x, i)) + item_of((m[i], 1))


# --- loops ----------------------------------------------------------------------------------------


@program
def over_an_array(x, m, i):
    s = x[0] * 0
    for v in x:
        if v > 6:
            break
        if v == x[i]:
            continue
        s += v
    return s


@program
def over_rows(x, m, i):
    s = x[0] * 0
    for row in m:
        for v in row:
            s += v * row[0]
    return s


@program
def else_after_a_loop_runs_unless_break_ended_it(x, m, i):
    s = x[0] * 0
    for v in x:
        if v == i:
            break
        s += v
    else:
        s += 7
    for k in range(3):
        for j in range(k):
            if j == i:
                break
            if j == 5:
                continue
        else:
            s += 2
    else:  # noqa: PLW0120
        s += k
    n = 0
    while n < i:
        n += 1
        if n == 3:
            s += 5
            break
    else:
        s += 11
    for row in (m[0], m[1]):
        s += row[0]
    else:  # noqa: PLW0120
        s += 1
    return s


@program
def targets_with_a_star(x, m, i):
    a, *rest = (x[i], 2, 3, i)
    *most, b = rest
    c, *nothing, d = (i, 4)
    a, *changed = (rest[0], a, c)
    return a * 50 + changed[0] * 5 + changed[1] + most[1] + b + c * d + len(nothing)


@program
def enumerated(x, m, i):
    s = x[0] * 0
    for k, v in enumerate(x, i):
        s += k * v
    for k, v in enumerate(x, start=2):
        s -= k + v
    for k, v in enumerate(x):
        s += k * v
    return s


@program
def zipped(x, m, i):
    s = x[0] * 0
    for a, row, k in zip(x, m, range(i, 100, 3), strict=False):
        s += a * row[0] + k
    for a, b in zip((1, 2, 3), (4, 5), strict=False):
        s += a * b
    return s


@program
def reversed_loops(x, m, i):
    s = x[0] * 0
    for v in reversed(x):
        s = s * 2 + v
    for k in reversed(range(1, i + 2)):
        s = s * 2 + k
    return s


@program
def over_a_tuple(x, m, i):
    s = x[0] * 0
    for w in (1, x[i], 2.5, i):
        if w == 1:
            continue
        if w == 2.5 and i == 3:
            break
        s += w
    for _ in ():
        s += 1000
    return s


@program
def over_a_tuple_of_arrays(x, m, i):
    s = x[0] * 0
    for row in (m[i], m[0], m[1]):
        s = s * 3 + row[1]
    return s


@program
def a_target_of_several_names_is_kept(x, m, i):
    k, v = -1, x[0]
    for k, v in enumerate(x):  # noqa: B007 - read after the loop
        if v >= x[i]:
            break
    return k * 10 + v


# --- values ---------------------------------------------------------------------------------------


@program
def rows_have_names(x, m, i):
    k = i
    row = m[k]
    k = 0
    return row[0] * 100 + row[1] * 10 + m[k][1] + len(row) + row.shape[0]


@program
def an_index_of_a_tuple_that_is_computed(x, m, i):
    t = (x[i], 10, 2.5)
    return t[i % 3] + (7, 8, 9)[i % 2]


@program
def names_in_expressions(x, m, i):
    s = x[0] * 0
    if (v := x[i] * 2) > 3:
        s += v
    while (s := s + 1) < 9:
        s += 1
    return s + v


@program
def membership(x, m, i):
    a = 1 if i in (0, 2) else 0
    b = 1 if x[i] not in (1, 2.0, x[2]) else 0
    return a * 10 + b


@program
def numbers_of_python(x, m, i):
    q, r = divmod(i * 7, 3)
    return q * 100 + r * 10 + pow(i, 2) + (i * 5).bit_count() + (1 if i < float("inf") else 0)


@program
def functions_of_numpy_are_operators(x, m, i):
    a, b = np.divmod(x[i], 2)
    c = np.add(x[i], i) * np.subtract(x[i], 1) + np.multiply(a, b) + np.true_divide(x[i], 4)
    d = np.where(x[i] > 2, x[i], 1) + np.square(x[i]) + np.negative(x[i]) + np.mod(x[i], 3)
    e = np.logical_and(x[i], i) * 1 + np.logical_not(i) * 2 + np.logical_xor(x[i], i) * 4
    f = np.bitwise_and(i, 1) + np.bitwise_or(i, 4) + np.left_shift(i, 2) + np.less(x[i], 3) * 1
    return c + d + e + f + np.power(i, 2)


@program
def functions_of_the_module_operator(x, m, i):
    a = operator.add(x[i], i) + operator.floordiv(i, 2) + operator.xor(i, 5)
    a += operator.abs(operator.invert(i) - operator.inv(0))
    return a + (1 if operator.not_(i) else 0) + (1 if operator.le(i, 2) else 0)


@program
def conversions(x, m, i):
    return x[i].astype(np.int16) + np.float64(i) / 2 + np.float32(x[i]).astype(np.float64)


@program
def types_by_name(x, m, i):
    most = np.iinfo("int16").max + np.finfo("f4").eps
    return (x[i] / 2).astype("float64").astype("int32") + most


# --- the tests ------------------------------------------------------------------------------------


def run(function, x, m, simulated):
    """The program for each element of x."""
    out = usmx.zeros(len(x), dtype="float64")

    @usmx.kernel
    def kernel(item, x, m, out):
        i = item.get_id(0)
        out[i] = function(x, m, i)

    with usmx.simulate() if simulated else contextlib.nullcontext():
        kernel[len(x)](usmx.asarray(x), usmx.asarray(m), out)
    return out.to_numpy()


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_python_gives(name, dtype, order, simulated):
    function = PROGRAMS[name]
    x = np.arange(1, 6).astype(dtype)
    m = np.arange(10).reshape(5, 2).astype(dtype, order=order)
    with np.errstate(over="ignore"):
        expected = [float(function(x, m, np.int64(i) if "numpy" in name else i)) for i in range(5)]
    assert TOGETHER.run(name, x, m, simulated).tolist() == expected


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
def test_limits_of_types_and_logarithms_to_a_base(simulated):
    def limits(x, m, i):
        finite = np.finfo(np.float32).max + np.finfo(x.dtype).eps + np.iinfo(np.int16).min
        return finite + math.log(x[i], 2.0)

    x = np.asarray([1, 2, 8], "float64")
    got = run(limits, x, x.reshape(3, 1), simulated)
    expected = float(np.finfo(np.float32).max) + 2.0**-52 - 2.0**15 + np.log2(x)
    np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_a_function_that_writes_a_row_writes_the_array():
    @usmx.kernel
    def kernel(item, m):
        row = m[item.get_id(0)]
        put(row, 1, 7)
        put(m[item.get_id(0)], 0, 8)

    for order in "CF":
        m = usmx.asarray(np.zeros((3, 2), order=order))
        kernel[3](m)
        assert m.to_numpy().tolist() == [[8, 7]] * 3


def test_an_array_that_is_written_can_be_passed_to_a_function_that_reads_it():
    @usmx.kernel
    def kernel(item, x):
        i = item.get_id(0)
        x[i] = scaled(item_of((x, i)))

    x = usmx.ones(3, dtype="float64")
    kernel[3](x)
    assert x.to_numpy().tolist() == [scaled(4.0)] * 3


def test_what_is_assigned_in_an_expression_is_not_computed_too_early():
    def early(item, x):
        i = item.get_id(0)
        x[i] = i + (i := 5)

    with pytest.raises(usmx.KernelError, match="would be computed before 'i'"):
        usmx.kernel(early).source("float32")


def test_plain_functions_are_kept_on_disk_with_what_they_read(run_python, tmp_path):
    file = tmp_path / "program.py"
    text = """
import usmx
def plus(x, by={by}):
    return x + by
@usmx.kernel
def kernel(item, x):
    x[0] = plus(x[0])
x = usmx.zeros(1)
kernel[1](x)
print(x.to_numpy()[0], usmx._usmx._ProgramStore.texts()["count"])
"""
    code = f"exec(compile(open({str(file)!r}).read(), {str(file)!r}, 'exec'))"
    env = {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path)}
    outputs = []
    for by in (1, 1, 2):
        file.write_text(text.format(by=by))
        outputs.append(run_python(code, env=env).stdout.split())
    assert [value for value, _ in outputs] == ["1.0", "1.0", "2.0"]
    counts = [int(count) for _, count in outputs]
    assert 0 < counts[0] == counts[1] < counts[2]
