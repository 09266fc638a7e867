"""Kernels of all forms over more than 2**31 - 1 work-items, and copies of as many elements."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import usmx

COUNT = 2**31 + 5


@pytest.fixture
def x() -> Iterator[Any]:
    """Bytes that are all 1 but for the last, which is 3."""
    made = usmx.full(COUNT, 1, dtype="int8")
    usmx.fill(made[-1:], 3)
    yield made
    made.queue.wait()


def check(x: Any, rest: int, last: int) -> None:
    """Ends, and both sides of the number that int has no room for."""
    for k, expected in ((0, rest), (2**31 - 1, rest), (2**31, rest), (COUNT - 2, rest), (-1, last)):
        assert x[k].item() == expected, k
    assert usmx.ReductionKernel("T v", "int64 s", "v", "a + b", "s = a", "0")(x).item() == (
        rest * (COUNT - 1) + last
    )


def test_raw_kernels_take_them(x: Any) -> None:
    usmx.RawKernel(
        "USMX_KERNEL(1) f(signed char* x) { x[usmx::global_id()] += 1; }",
        "f",
    )[COUNT](x)
    check(x, 2, 4)


def test_python_kernels_take_them(x: Any) -> None:
    @usmx.kernel
    def f(item, x):  # type: ignore[no-untyped-def]
        x[item.get_id(0)] += 1

    f[COUNT](x)
    check(x, 2, 4)


def test_elementwise_kernels_take_them(x: Any) -> None:
    usmx.ElementwiseKernel("T x", "T y", "y = x + 1")(x, out=x)
    check(x, 2, 4)


def test_fused_functions_take_them(x: Any) -> None:
    usmx.fuse(lambda v: v + 1)(x, out=x)
    check(x, 2, 4)


def test_reversed_copies_take_them(x: Any) -> None:
    turned = x[::-1].copy()
    assert turned[0].item() == 3
    check(turned[::-1], 1, 3)
