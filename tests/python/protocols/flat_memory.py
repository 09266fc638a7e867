"""Whether something that is done ten thousand times keeps the memory of the process flat."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
from collections.abc import Callable


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def growth(once: Callable[[], object], times: int = 10_000) -> int:
    """Bytes by which the process grows in that many calls, after some that fill its caches."""
    for _ in range(times // 5):
        once()
    gc.collect()
    before = resident_bytes()
    for _ in range(times):
        once()
    gc.collect()
    return resident_bytes() - before
