"""Shows how far a long transfer is: a bar of tqdm, or a function of the caller."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _bar(total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tqdm":
            raise
        raise ModuleNotFoundError(
            "progress=True shows a bar of tqdm, which is not installed: pip install tqdm; or pass "
            "a function, which is called with the bytes done and the bytes in all",
            name="tqdm",
        ) from None
    return tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024)


class Report:
    """Counts the bytes of a transfer; ``progress`` is True for a bar, or a function.

    Raises
    ------
    TypeError
        If `progress` is neither.
    ModuleNotFoundError
        If tqdm is not installed.
    """

    def __init__(self, progress: bool | Callable[[int, int], object], total: int) -> None:
        self._done = 0
        self._total = total
        self._bar: Any = None
        self._call: Callable[[int, int], object] | None = None
        if progress is True:
            self._bar = _bar(total)
        elif callable(progress):
            self._call = progress
        else:
            raise TypeError(
                f"progress: {progress!r} ({type(progress).__name__}); expected a bool, or a "
                "function that is called with the bytes done and the bytes in all"
            )

    def add(self, count: int) -> None:
        """`count` bytes more are done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        if self._call is not None:
            self._call(self._done, self._total)

    def close(self) -> None:
        """No more will come."""
        if self._bar is not None:
            self._bar.close()
