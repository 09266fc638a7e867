"""What transforms by libraries need: lines of a length, and the factor of a norm."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import sqrt
from typing import Any

from .._usmx import ndarray
from ._common import empty_at
from .manipulation import moveaxis


def scale(n: int, norm: str, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "forward") != inverse else 1.0


def cut(x: ndarray, axis: int, length: int, dtype: Any) -> ndarray:
    """New contiguous lines along the last axis, cut or filled with zeros."""
    turned = moveaxis(x, axis, -1)
    own = turned.shape[-1]
    made = empty_at(x, (*turned.shape[:-1], length), dtype)
    made[..., :own] = turned[..., :length]
    if own < length:
        made[..., own:] = 0
    return made
