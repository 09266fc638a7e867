"""``cupyx.time``, as older programs of CuPy call `cupyx.profiler.benchmark`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from usmx import _explained

from .profiler import benchmark

repeat = benchmark

__all__ = ["repeat"]

_explained.explain(globals())
