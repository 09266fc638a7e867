"""``cupy.random``: usmx's random numbers, with CuPy's ``dtype=`` where NumPy has none."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

import usmx as _usmx
from usmx import _explained


def __getattr__(name: str) -> Any:
    return getattr(_usmx.random, name)


def random_sample(size: Any = None, dtype: Any = float) -> Any:
    """Numbers from 0 to 1, without 1.

    Parameters
    ----------
    size : int or tuple of int, optional
        Lengths; one number if not given.
    dtype : dtype-like
        float32 or float64.
    """
    return _usmx.random.random(() if size is None else size).astype(np.dtype(dtype))


random = random_sample
ranf = random_sample
sample = random_sample


def rand(*size: int, dtype: Any = float) -> Any:
    """The same with the lengths as arguments; parameters as of `random_sample`."""
    return random_sample(size, dtype)


def randn(*size: int, dtype: Any = float) -> Any:
    """Normal numbers of mean 0 and deviation 1.

    Parameters
    ----------
    *size : int
        Lengths.
    dtype : dtype-like
        float32 or float64.
    """
    return _usmx.random.standard_normal(size).astype(np.dtype(dtype))


_explained.explain(globals())
