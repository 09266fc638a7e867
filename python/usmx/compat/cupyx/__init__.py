"""CuPy's extensions by their names: ``from usmx.compat import cupyx``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import usmx as _usmx
from usmx import _explained

from ..cuda.arrays import pinned_array
from . import jit, scipy


def scatter_add(a: _usmx.ndarray, slices: Any, value: Any) -> None:
    """``a[slices] += value``, where elements that are named twice get both values."""
    np.add.at(a, slices, value)


def scatter_max(a: _usmx.ndarray, slices: Any, value: Any) -> None:
    """The larger one of each element and the values for it."""
    np.maximum.at(a, slices, value)


def scatter_min(a: _usmx.ndarray, slices: Any, value: Any) -> None:
    """The smaller one of each element and the values for it."""
    np.minimum.at(a, slices, value)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1 / _usmx.sqrt(x)


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """An array of NumPy in memory of the host that devices copy from quickly."""
    return pinned_array(shape, dtype, order=order)


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """The same with zeros."""
    made = pinned_array(shape, dtype, order=order)
    made[...] = 0
    return made


@contextlib.contextmanager
def errstate(**_: Any) -> Iterator[None]:
    """Nothing: devices raise no errors of numbers."""
    yield


__all__ = [
    "empty_pinned", "errstate", "jit", "rsqrt", "scatter_add", "scatter_max", "scatter_min",
    "scipy", "zeros_pinned",
]  # fmt: skip

_explained.explain(globals())
