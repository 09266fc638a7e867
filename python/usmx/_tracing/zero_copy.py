"""Blocks that must not copy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import final

from .._help import with_link
from .events import TraceEvent
from .trace import Trace, runtime_reports


class CopyError(AssertionError):
    """Something was copied where nothing should be; ``copies`` are the events.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.ones(4)
    >>> try:
    ...     with usmx.expect_zero_copy():
    ...         y = x.copy()
    ... except usmx.CopyError as error:
    ...     [copy.bytes for copy in error.copies]
    [32]
    """

    def __init__(self, message: str, copies: list[TraceEvent]) -> None:
        super().__init__(message)
        self.copies = copies


_SHOWN = 20


@final
class expect_zero_copy:
    """Raise `CopyError` at the end of a ``with`` block that copied elements.

    Copies by usmx are always found, those that the host makes too; copies that other libraries ask
    the SYCL runtime for where it reports its calls (``usmx.counters.enable()``, ``USMX_TRACE=1``).
    Fills, allocations and kernels do not count, not even kernels that copy, as some of dpnp do.
    An exception of the block itself passes as it is.

    Parameters
    ----------
    everyone : bool
        Refuse to begin where the calls of other libraries cannot be seen.
    least : int
        Copies of fewer bytes pass. dpnp, for one, copies shapes and strides to the device before
        it launches some kernels.

    Raises
    ------
    CopyError
        An AssertionError with every copy: its bytes, from and to what kind of memory, and the line
        of Python that asked for it.
    RuntimeError
        With ``everyone``, if the SYCL runtime does not report its calls.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.ones(100)
    >>> with usmx.expect_zero_copy():
    ...     same = usmx.from_dlpack(x)
    """

    def __init__(self, *, everyone: bool = False, least: int = 1) -> None:
        self._everyone = everyone
        self._least = least
        self._trace = Trace()

    def __enter__(self) -> Trace:
        if self._everyone and not runtime_reports():
            raise RuntimeError(
                "calls of other libraries cannot be seen: call usmx.counters.enable() before "
                "anything uses SYCL, or start the process with USMX_TRACE=1"
            )
        return self._trace.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._trace.__exit__()
        copies = [event for event in self._trace.copies if event.bytes >= self._least]
        if kind is not None or (not copies and not self._trace.dropped):
            return
        count = f"{len(copies)} {'copy' if len(copies) == 1 else 'copies'}"
        lines = [
            f"{count} of {sum(e.bytes for e in copies):,} bytes where none was expected:",
            *(f"  {event}" for event in copies[:_SHOWN]),
        ]
        if len(copies) > _SHOWN:
            lines.append(f"  and {len(copies) - _SHOWN} more, in the attribute `copies`")
        if self._trace.dropped:
            lines.append(f"  and {self._trace.dropped} later events that were not looked at")
        lines.append(
            "watched: usmx and every library that calls the SYCL runtime"
            if self._trace.sees_runtime
            else "watched: usmx; other libraries too after usmx.counters.enable()"
        )
        raise with_link(CopyError("\n".join(lines), copies))
