"""CuPy's extensions by their names: ``from usmx.compat import cupyx``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import usmx as _usmx
from usmx import _explained

from .._standing_in import refuse as _refuse
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


def empty_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> Any:
    """The same for as many elements as another array has.

    Parameters
    ----------
    a : array
        Whose shape and type it has.
    dtype, shape
        Others than those.
    order : {'C', 'F', 'A', 'K'}
        Order of the elements.
    subok
        Without effect.
    """
    del subok
    if order in ("A", "K"):
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    lengths = a.shape if shape is None else shape
    return empty_pinned(lengths, a.dtype if dtype is None else dtype, order)


def zeros_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> Any:
    """The same with zeros; parameters as of `empty_like_pinned`."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made


def geterr() -> dict[str, Any]:
    """What errors of libraries do: nothing."""
    return {"linalg": None, "fallback_mode": None}


def seterr(**_: Any) -> dict[str, Any]:
    """Nothing: `usmx.linalg` says which matrices it refuses; what `geterr` gives."""
    return geterr()


@contextlib.contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Nothing, as a ``with`` block: `usmx.trace` counts what waits."""
    del allow
    yield


#: Parts of CuPy that are not here, and what to use.
_REFUSED = {
    "optimizing": "usmx chooses the sizes of groups",
    "distributed": "see usmx.ipc and mpi4py, which takes arrays of usmx",
    "cusparse": "sparse matrices are not in usmx",
    "cusolver": "see usmx.linalg",
    "cublas": "see usmx.matmul",
    "lapack": "see usmx.linalg",
    "linalg": "see usmx.linalg",
    "tools": "see usmx doctor",
    "fallback_mode": "arrays of usmx are taken by NumPy's functions",
    "signal": "see cupyx.scipy.fft and usmx.convolve",
}
_refuse("cupyx", _REFUSED)


def __getattr__(name: str) -> Any:
    if name in ("cutensor", "profiler", "time"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _REFUSED:
        raise AttributeError(f"cupyx.{name} is not here: {_REFUSED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@contextlib.contextmanager
def errstate(**_: Any) -> Iterator[None]:
    """Nothing: devices raise no errors of numbers."""
    yield


__all__ = [
    "allow_synchronize", "empty_like_pinned", "empty_pinned", "errstate", "geterr", "jit", "rsqrt",
    "scatter_add", "scatter_max", "scatter_min", "scipy", "seterr", "zeros_like_pinned",
    "zeros_pinned",
]  # fmt: skip

_explained.explain(globals())
