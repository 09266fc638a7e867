"""Lambdas and functions inside of kernels: each program gives what its lines give in Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib

import module_lambdas
import numpy as np
import pytest
from language_run import DTYPES, Together, expected, given

import usmx

SCALE = 3
both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
PROGRAMS = {}
TOGETHER = Together(PROGRAMS)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def applied(function, a, b):
    return function(a) + function(b)


@program
def a_nested_function_reads_variables(x, m, i):
    k = 2

    def weighted(v, by=10, offset=(1, 2)):
        w = v * k + by
        return w * SCALE + x[i] + offset[1]

    s = weighted(x[i]) + weighted(i, by=1)
    k = 5
    return s + weighted(m[i, 1], 3, (4, i))


@program
def lambdas_are_called(x, m, i):
    k = i + 1
    f = lambda v, w=2: v * k + w  # noqa: E731
    g = lambda: x[0] + k  # noqa: E731
    return f(x[i]) + f(i, 7) + g() + applied(lambda v: v * SCALE, i, x[i])


@program
def nested_functions_return_tuples_and_loop(x, m, i):
    def pair(row):
        s = 0.0
        for k, v in enumerate(row):
            s += k * v
        return s, row[0]

    a, b = pair(m[i])
    for k in range(2):
        a += pair(x)[0] + k
    return a + b


@program
def names_inside_are_its_own(x, m, i):
    k = 4

    def inner(v):
        k = v + 1
        return k * 2

    return inner(i) * 10 + k


@program
def nested_functions_nest(x, m, i):
    def outer(v):
        def inner(w):
            return w + v * 2

        return inner(v) + inner(3)

    return outer(x[i]) + outer(i)


@both
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_with_nested_functions_gives_what_python_gives(name, dtype, order, simulated):
    x, m = given(dtype, order)
    assert TOGETHER.run(name, x, m, simulated).tolist() == expected(PROGRAMS[name], x, m)


@both
def test_a_nested_function_of_a_kernel_writes_arrays_and_waits_at_barriers(simulated):
    @usmx.kernel
    def kernel(item, x, out):
        tile = usmx.local.array(4, usmx.float32)
        k = item.get_local_id(0)

        def exchange(v):
            tile[k] = v
            usmx.barrier()
            return tile[3 - k]

        def put(v):
            out[item.get_global_id(0)] = v

        put(exchange(x[item.get_global_id(0)]))

    x, out = usmx.arange(8, dtype="float32"), usmx.zeros(8, dtype="float32")
    with usmx.simulate() if simulated else contextlib.nullcontext():
        kernel[8, 4](x, out).wait()
    assert out.to_numpy().tolist() == [3, 2, 1, 0, 7, 6, 5, 4]


def test_wrong_nested_functions_say_what_is_wrong():
    def recursive(item, x):
        def f(v):
            return f(v)

        x[0] = f(1)

    def elsewhere(item, x):
        k = 2
        x[0] = applied(lambda v: v * k, 1, 2)

    def default(item, x):
        def f(v, w=x[0]):
            return v + w

        x[0] = f(1)

    for function, message in (
        (recursive, "reads 'f' of the function that it stands in, and can be called only there"),
        (elsewhere, "reads 'k' of the function that it stands in, and can be called only there"),
        (default, "the default of a nested function must be a literal"),
    ):
        with pytest.raises(usmx.KernelError, match=message):
            usmx.kernel(function).source(usmx.zeros(4))


def test_the_dimensions_of_a_nested_function_count():
    @usmx.kernel
    def kernel(item, x):
        def at():
            return item.get_id(1)

        x[item.get_id(0), at()] = 1

    x = usmx.zeros((2, 3), dtype="float32")
    kernel[2, 3](x).wait()
    assert np.all(x.to_numpy() == 1)


def test_two_lengths_stay_a_global_and_a_local_range_beside_a_lambda():
    @usmx.kernel
    def kernel(item, x):
        f = lambda v: v + 1  # noqa: E731
        x[item.get_global_id(0)] = f(item.get_local_id(0))

    x = usmx.zeros(8, dtype="float32")
    kernel[8, 4](x).wait()
    assert x.to_numpy().tolist() == [1, 2, 3, 4] * 2


ALONE = """
import usmx
from usmx._kernel.source import function

plain = lambda v: 3
first, second = (lambda v: 1), (lambda v: 2)
print(function.read(plain).tree.body[0].value.value)
try:
    function.read(second)
except usmx.KernelError as error:
    print(error.cause)
"""


def test_a_lambda_whose_code_has_no_places_is_the_only_one_of_its_line(tmp_path, run_python):
    """As from Python 3.12 on code has that returns a constant."""
    (tmp_path / "alone.py").write_text(ALONE)
    ran = run_python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import alone",
        env={"PYTHONNODEBUGRANGES": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ran.stdout == "3\nits source text cannot be found; write it with def\n"


UP, DOWN = module_lambdas.pair
ROOT = module_lambdas.roots["root"]
BY_FOUR, BY_FIVE = module_lambdas.made(4), module_lambdas.made(5)


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
def test_lambdas_of_modules_are_functions_of_kernels(simulated):
    @usmx.device_func
    def apply(f, v):
        return f(v)

    marked = usmx.device_func(module_lambdas.double)

    @usmx.kernel(simulate=simulated)
    def kernel(item, x, out):
        i = item.get_id(0)
        v = x[i]
        out[i, 0] = module_lambdas.double(v) + UP(v) * 10 + DOWN(v) * 100
        out[i, 1] = module_lambdas.spread(v) + module_lambdas.spread(v, by=5)
        out[i, 2] = module_lambdas.nested(v) + ROOT(v) + module_lambdas.half(v)
        out[i, 3] = BY_FOUR(v) + BY_FIVE(v) * 100 + apply(DOWN, v) + marked(v)

    x = usmx.asarray([1.0, 4.0, 9.0])
    out = usmx.zeros((3, 4))
    kernel[3](x, out)
    for v, row in zip(x.to_numpy(), out.to_numpy(), strict=True):
        want = [v * 2 + (v + 1) * 10 + (v - 1) * 100, v * 2 + 3 + v * 5 + 3]
        want += [v * 10 + 1 + v**0.5 + v / 2, v * 4 + 1 + (v * 5 + 1) * 100 + v - 1 + v * 2]
        assert row.tolist() == want
