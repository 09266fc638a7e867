"""Records what the SYCL runtime did during the step of each library."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich import box
from rich.console import Console
from rich.table import Table

import usmx
from usmx import counters


@dataclass
class Hop:
    """One library's step. The counts are measured and cover the whole process."""

    library: str
    action: str
    pointer: int = 0
    copies: int = 0
    bytes_copied: int = 0
    allocations: int = 0
    kernels: int = 0
    seconds: float = 0.0
    control: bool = False


class Journey:
    """The steps in their order."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []

    @contextlib.contextmanager
    def hop(self, library: str, action: str, *, control: bool = False) -> Iterator[Hop]:
        """Count what happens inside the block. The block says where it saw the elevation.

        A copy in any step but the control raises an error with the line that copied.
        """
        hop = Hop(library, action, control=control)
        start = time.perf_counter()
        zero_copy = contextlib.nullcontext() if control else usmx.expect_zero_copy(everyone=True)
        with counters.counting() as counts, zero_copy:
            yield hop
        hop.seconds = time.perf_counter() - start
        hop.copies, hop.bytes_copied = counts.copies, counts.bytes_copied
        hop.allocations, hop.kernels = counts.allocations, counts.kernels
        self.hops.append(hop)

    def as_dicts(self) -> list[dict[str, object]]:
        """The steps as plain values, for a file."""
        return [asdict(hop) for hop in self.hops]

    def show(self, title: str, caption: str) -> None:
        """Print the table."""
        table = Table(
            title=title,
            caption=caption,
            title_justify="left",
            caption_justify="left",
            title_style="bold",
            caption_style="",
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
        )
        table.add_column("library", no_wrap=True)
        table.add_column("step", min_width=16)
        table.add_column("elevation at", no_wrap=True)
        for name in ("copies", "bytes", "allocations", "kernels", "time"):
            table.add_column(name, justify="right", no_wrap=True)
        for hop in self.hops:
            if hop.control:
                table.add_section()
            table.add_row(
                hop.library,
                hop.action,
                f"{hop.pointer:#x}",
                str(hop.copies),
                f"{hop.bytes_copied:,}",
                str(hop.allocations),
                str(hop.kernels),
                f"{hop.seconds * 1e3:.1f} ms",
                style="yellow" if hop.control else "",
            )
        console = Console()
        if not console.is_terminal:
            console.width = 120
        console.print(table)
