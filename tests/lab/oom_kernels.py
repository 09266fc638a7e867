"""Kernels for out_of_memory.py, in a module of their own as in programs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import usmx


@usmx.kernel
def plus(item: Any, x: Any) -> None:
    i = item.get_id(0)
    x[i // 3, i % 3] += 1.0


@usmx.fuse
def fused(x: Any) -> Any:
    return usmx.sqrt(x * x + 1)
