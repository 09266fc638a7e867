"""``cupy.testing``: NumPy's assertions for arrays of devices."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

import usmx as _usmx
import usmx.testing as _testing
from usmx import _explained


def __getattr__(name: str) -> Any:
    return getattr(_testing, name)


def shaped_arange(shape: Any, xp: Any = None, dtype: Any = np.float32, order: str = "C") -> Any:
    """An array of 1, 2, 3, ... of that shape."""
    made = np.arange(1, int(np.prod(shape)) + 1).astype(dtype).reshape(shape, order=order)  # type: ignore[call-overload]
    return made if xp is np else _usmx.asarray(made)


def shaped_random(
    shape: Any, xp: Any = None, dtype: Any = np.float32, scale: float = 10, seed: int = 0
) -> Any:
    """An array of random numbers up to `scale` of that shape."""
    made = (np.random.default_rng(seed).random(shape) * scale).astype(dtype)
    return made if xp is np else _usmx.asarray(made)


_explained.explain(globals())
