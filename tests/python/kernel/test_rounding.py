"""Each operation is rounded by itself in kernels of all forms, unless they are told otherwise."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backend_row import ROW

import usmx

COUNT = 10007  # fills no group
Call = Callable[[Any, Any, Any], Any]


def raw(**keywords: Any) -> Call:
    """The product and sum of RawKernel."""
    text = """
    USMX_KERNEL(1) f(const float* a, const float* b, const float* c, float* r) {
      auto i = usmx::global_id();
      r[i] = a[i] * b[i] + c[i];
    }"""
    kernel = usmx.RawKernel(text, "f", **keywords)

    def call(a: Any, b: Any, c: Any) -> Any:
        r = usmx.empty_like(a)
        kernel[a.size](a, b, c, r)
        return r

    return call


def module(**keywords: Any) -> Call:
    """The same of RawModule, for two elements an item, which an optimiser may compute together."""
    text = """
    USMX_KERNEL(1) f(const float* a, const float* b, const float* c, float* r, int n) {
      int i = 2 * int(usmx::global_id());
      r[i] = a[i] * b[i] + c[i];
      if (i + 1 < n) r[i + 1] = a[i + 1] * b[i + 1] + c[i + 1];
    }"""
    kernel = usmx.RawModule(text, **keywords).get_function("f")

    def call(a: Any, b: Any, c: Any) -> Any:
        r = usmx.empty_like(a)
        kernel[(a.size + 1) // 2](a, b, c, r, a.size)
        return r

    return call


def elementwise(**keywords: Any) -> Call:
    return usmx.ElementwiseKernel("T a, T b, T c", "T r", "r = a * b + c", **keywords)


def reduction(**keywords: Any) -> Call:
    kernel = usmx.ReductionKernel(
        "T a, T b, T c", "T r", "a * b + c", "a + b", "r = a", "0", **keywords
    )
    return lambda a, b, c: kernel(*(v.reshape(-1, 1) for v in (a, b, c)), axis=1)


def scan(**keywords: Any) -> Call:
    kernel = usmx.ScanKernel("T a, T b, T c", "T r", "a * b + c", "b", **keywords)
    return kernel


def python(**keywords: Any) -> Call:
    @usmx.kernel(**keywords)
    def f(item, a, b, c, r):  # type: ignore[no-untyped-def]
        i = item.get_id(0)
        r[i] = a[i] * b[i] + c[i]

    def call(a: Any, b: Any, c: Any) -> Any:
        r = usmx.empty_like(a)
        f[a.size](a, b, c, r)
        return r

    return call


def fused(**keywords: Any) -> Call:
    return usmx.fuse(**keywords)(lambda a, b, c: a * b + c)  # type: ignore[no-any-return]


FORMS = [raw, module, elementwise, reduction, scan, python, fused]


def operands() -> list[Any]:
    random = np.random.default_rng(5)
    return [random.standard_normal(COUNT).astype("float32") for _ in range(3)]


@pytest.mark.parametrize("form", FORMS)
def test_a_product_and_a_sum_are_rounded_twice(form: Callable[..., Call]) -> None:
    a, b, c = operands()
    got = form()(*map(usmx.asarray, (a, b, c))).to_numpy()
    np.testing.assert_array_equal(got, a * b + c)


@pytest.mark.parametrize("form", FORMS)
def test_contract_allows_one_rounding(form: Callable[..., Call]) -> None:
    a, b, c = operands()
    got = form(contract=True)(*map(usmx.asarray, (a, b, c))).to_numpy()
    once = (a.astype("float64") * b + c).astype("float32")
    assert np.all((got == once) | (got == a * b + c))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_complex_numbers_are_rounded_as_numpy_does(dtype: str) -> None:
    random = np.random.default_rng(6)
    x, y = (random.standard_normal((2, COUNT)) * [[1], [1j]] for _ in range(2))
    x, y = (v.sum(axis=0).astype(dtype) for v in (x, y))

    @usmx.kernel
    def multiply(item, x, y, z):  # type: ignore[no-untyped-def]
        i = item.get_id(0)
        z[i] = x[i] * y[i]

    z = usmx.empty(COUNT, dtype)
    multiply[COUNT](usmx.asarray(x), usmx.asarray(y), z)
    real = x.real * y.real - x.imag * y.imag
    np.testing.assert_array_equal(z.to_numpy().real, real)
    np.testing.assert_array_equal(z.to_numpy().imag, x.real * y.imag + x.imag * y.real)
    fuse = usmx.fuse(lambda x, y: x * y)
    np.testing.assert_array_equal(fuse(usmx.asarray(x), usmx.asarray(y)).to_numpy(), z.to_numpy())


def test_square_roots_are_rounded_correctly() -> None:
    x = np.abs(operands()[0])
    root = usmx.ElementwiseKernel("T x", "T r", "r = sqrt(x)")
    np.testing.assert_array_equal(root(usmx.asarray(x)).to_numpy(), np.sqrt(x))


def sine(form: str, **keywords: Any) -> Any:
    """The sine of numbers by each form, as float32."""
    x = usmx.asarray(operands()[0])
    y = usmx.empty_like(x)
    text = """
    USMX_KERNEL(1) f(const float* x, float* y) {
      auto i = usmx::global_id();
      y[i] = usmx::sin(x[i]);
    }"""
    if form == "raw":
        usmx.RawKernel(text, "f", **keywords)[x.size](x, y)
    elif form == "module":
        usmx.RawModule(text + "\n", **keywords).get_function("f")[x.size](x, y)
    elif form == "elementwise":
        y = usmx.ElementwiseKernel("T x", "T y", "y = sin(x)", **keywords)(x)
    elif form == "reduction":
        kernel = usmx.ReductionKernel("T x", "T y", "sin(x)", "a + b", "y = a", "0", **keywords)
        y = kernel(x.reshape(-1, 1), axis=1)
    elif form == "scan":
        y = usmx.ScanKernel("T x", "T y", "sin(x)", "b", **keywords)(x)
    elif form == "fuse":
        y = usmx.fuse(**keywords)(lambda x: +np.sin(x))(x)
    else:

        @usmx.kernel(**keywords)
        def f(item, x, y):  # type: ignore[no-untyped-def]
            i = item.get_id(0)
            y[i] = np.sin(x[i])

        f[x.size](x, y)
    return y.to_numpy()


@pytest.mark.parametrize(
    "form", ["raw", "module", "elementwise", "reduction", "scan", "python", "fuse"]
)
def test_the_functions_of_the_driver_are_taken_where_they_are_asked_for(form: str) -> None:
    x = usmx.asarray(operands()[0])
    ours = usmx.sin(x).to_numpy()
    drivers = usmx.ElementwiseKernel("T x", "T y", "y = __spirv_ocl_sin(x)")(x).to_numpy()
    assert np.array_equal(ours, drivers) != ROW.is_host
    np.testing.assert_array_equal(sine(form), ours)
    np.testing.assert_array_equal(sine(form, driver_math=True), drivers)
