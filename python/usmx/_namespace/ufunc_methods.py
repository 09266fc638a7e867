"""Ufuncs along an axis that have no function of their own here: ``np.maximum.accumulate(x)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from typing import Any

from .._usmx import ReductionKernel, ScanKernel, ndarray
from ._common import to_axis

#: Ufunc -> the text that joins two numbers, what joins to nothing, and the kinds of types.
JOINS = {
    "bitwise_and": ("a & b", "T(~T(0))", "biu"),
    "bitwise_or": ("a | b", "0", "biu"),
    "bitwise_xor": ("a ^ b", "0", "biu"),
    "maximum": ("a < b || b != b ? b : a", None, "biuf"),
    "minimum": ("b < a || b != b ? b : a", None, "biuf"),
}


@cache
def _scan(name: str) -> ScanKernel:
    return ScanKernel("T x", "T y", "x", JOINS[name][0], name=f"{name}_accumulate", scan_type="T")


@cache
def _reduction(name: str) -> ReductionKernel:
    text, identity, _ = JOINS[name]
    return ReductionKernel("T x", "T y", "x", text, "y = a", identity, f"{name}_reduce")


def along_axis(name: str, method: str, x: ndarray, keywords: dict[str, Any]) -> ndarray | None:
    """What a method of such a ufunc gives; None if it is left to others."""
    if name not in JOINS or method not in ("accumulate", "reduce"):
        return None
    if x.dtype.kind not in JOINS[name][2] or keywords.keys() - {"axis", "keepdims"}:
        return None
    if method == "accumulate":
        if x.ndim == 0 or "keepdims" in keywords:
            return None
        made: ndarray = _scan(name)(x, axis=to_axis(keywords.get("axis", 0), x.ndim))
        return made
    made = _reduction(name)(x, **{"axis": 0, **keywords})
    return made
