"""Computes arrays whose elements are deferred by few kernels, because compiling takes longest."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import operator
from collections.abc import Iterable

import usmx


def compute_together(values: Iterable[usmx.ndarray]) -> None:
    """Compute values that wait, by one kernel for eight of a shape.

    A kernel stores all values on its way that the program holds.
    """
    by_shape: dict[tuple[int, ...], list[usmx.ndarray]] = {}
    for v in values:
        if usmx.explain(v).kernels:
            by_shape.setdefault(v.shape, []).append(v)
    for waiting in by_shape.values():
        for k in range(0, len(waiting), 8):
            same = [v == v for v in waiting[k : k + 8]]  # noqa: PLR0124
            functools.reduce(operator.and_, same).to_numpy()
