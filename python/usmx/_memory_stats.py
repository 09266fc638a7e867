"""What ``usmx.memory.stats()`` returns: a table of the memory that each resource holds.

In a file of its own, because importing ``usmx`` should not pay for it.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from ._tracing.units import amount
from ._usmx import MemoryResource

HEADINGS = ("device", "kind", "used", "blocks", "peak", "held", "cached")


class MemoryUse(NamedTuple):
    """What one resource holds, in bytes where nothing else is said.

    A figure that nothing in the resource counts is None: the driver alone counts nothing.
    """

    #: Filter string and name.
    device: str
    #: "device", "shared" or "host".
    kind: str
    #: Of the blocks alive, as they were asked for.
    used: int | None
    #: How many blocks are alive.
    blocks: int | None
    #: The most at once: held by a pool, or used, as counted by a StatisticsResource above it.
    peak: int | None
    #: Taken from the driver.
    held: int | None
    #: The resource itself.
    resource: MemoryResource

    @property
    def cached(self) -> int | None:
        """Held and not used: what ``trim`` can give back at most."""
        if self.held is None or self.used is None:
            return None
        return max(self.held - self.used, 0)


def _cells(row: MemoryUse) -> Sequence[str]:
    blocks = "-" if row.blocks is None else str(row.blocks)
    sizes = [amount(n) for n in (row.peak, row.held, row.cached)]
    return (row.device, row.kind, amount(row.used), blocks, *sizes)


class MemoryStats(tuple[MemoryUse, ...]):
    """One row for each context, device and kind that memory was asked for.

    Shown as a table in a terminal and in a notebook.
    """

    __slots__ = ()

    @property
    def used(self) -> int:
        """Bytes of all live blocks that a resource counts."""
        return sum(row.used or 0 for row in self)

    @property
    def held(self) -> int:
        """Bytes that all pools took from their drivers."""
        return sum(row.held or 0 for row in self)

    def __repr__(self) -> str:
        if not self:
            return "no memory was allocated yet"
        rows = [HEADINGS, *map(_cells, self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", _cells(row)) for row in self)
        return f"<table><thead>{line('th', HEADINGS)}</thead><tbody>{body}</tbody></table>"
