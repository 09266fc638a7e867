"""When arrays are computed: what is deferred, and a switch that defers nothing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .. import _usmx

__all__ = ["Explanation", "PlannedKernel", "eager", "explain"]


@dataclass(frozen=True)
class PlannedKernel:
    """A kernel that computing an array would run.

    Attributes
    ----------
    text : str
        What it computes, one operation in a line. ``x0``, ``x1`` are its operands.
    shape : tuple of int
        Of what it computes.
    operations : int
        How many operations it does for each element.
    bytes_read, bytes_written : int
        Of memory.
    bytes_saved : int
        What values in between would read and write if each operation were a kernel of its own.

    Examples
    --------
    >>> import usmx
    >>> plan = usmx.explain(usmx.sqrt(usmx.ones(1_000_000)) + 1)
    >>> isinstance(plan.kernels[0], usmx.PlannedKernel)
    True
    """

    text: str
    shape: tuple[int, ...]
    operations: int
    bytes_read: int
    bytes_written: int
    bytes_saved: int


@dataclass(frozen=True)
class Explanation:
    """What `explain` gives; printed, it is a short report.

    Attributes
    ----------
    kernels : tuple of PlannedKernel
        In the order in which they run; empty if nothing is left to compute.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.ones(1000)
    >>> isinstance(usmx.explain(usmx.sqrt(x) + 1), usmx.Explanation)
    True
    """

    kernels: tuple[PlannedKernel, ...]

    def __str__(self) -> str:
        if not self.kernels:
            return "computed: no kernel is needed"
        total = sum(k.bytes_saved for k in self.kernels)
        lines = [f"{len(self.kernels)} kernel{'s'[: len(self.kernels) != 1]}, {total} bytes saved"]
        for number, k in enumerate(self.kernels):
            lines.append(
                f"k{number}: {_operations(k)} on {k.shape}, reads {k.bytes_read} bytes, "
                f"writes {k.bytes_written}"
            )
            lines += [f"    {line}" for line in k.text.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        if not self.kernels:
            return f"<div>{escape(str(self))}</div>"
        left = " style='text-align:left'"
        names = ("shape", "operations", "bytes read", "written", "saved")
        head = f"<th{left}>kernel</th>" + "".join(f"<th>{name}</th>" for name in names)
        body = ""
        for k in self.kernels:
            moved = [f"{n:,}" for n in (k.bytes_read, k.bytes_written, k.bytes_saved)]
            cells = "".join(
                f"<td>{escape(str(one))}</td>" for one in (k.shape, k.operations, *moved)
            )
            body += f"<tr><td{left}><pre>{escape(k.text)}</pre></td>{cells}</tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _operations(kernel: PlannedKernel) -> str:
    return f"{kernel.operations} operation{'s'[: kernel.operations != 1]}"


def explain(x: _usmx.ndarray, /) -> Explanation:
    """Say which kernels computing an array would run. Nothing is computed.

    Parameters
    ----------
    x : ndarray
        The result of operators and functions.

    Returns
    -------
    Explanation
        Print it, or look at its ``kernels``.

    Raises
    ------
    TypeError
        If `x` is not an array of usmx.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.ones(1_000_000)
    >>> y = usmx.sqrt(x) + 1
    >>> plan = usmx.explain(y)
    >>> len(plan.kernels)
    1
    """
    return Explanation(tuple(PlannedKernel(*k) for k in _usmx._explain(x)))


@contextmanager
def eager(enabled: bool = True) -> Iterator[None]:
    """Compute each operation where it is written, in this thread, as long as the block runs.

    To find which operation is slow, or to time one. ``USMX_EAGER=1`` does the same for a process.

    Parameters
    ----------
    enabled : bool, optional
        False defers again inside of an eager block.

    Yields
    ------
    None

    Examples
    --------
    >>> import usmx
    >>> with usmx.eager():
    ...     y = usmx.ones(1000) + 1  # computed here
    >>> y.sum().item()
    2000.0
    """
    before = _usmx._set_eager(enabled)
    try:
        yield
    finally:
        _usmx._set_eager(before)
