"""What memory holds at one moment, and how it came to that while history was recorded."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import time
from bisect import bisect_right
from typing import Any, final

from .. import _usmx
from . import picture, trace
from .blocks import Block, Chunk, Moment, Pool
from .endings import ending
from .events import Place
from .units import amount

__all__ = ["Block", "Chunk", "Pool", "Snapshot", "record_history", "take"]

KINDS = ("device", "shared", "host")

#: The recorder of `record_history`, if it is on.
_history: list[_usmx._TraceRecorder] = []


def record_history(enabled: bool, *, most: int) -> None:
    """Do what `usmx.memory.record_history` says."""
    if most < 1:
        raise ValueError(f"most: {most}; history keeps at least one operation")
    while _history:
        _history.pop().stop()
    if enabled:
        trace.find_places()
        recorder = _usmx._TraceRecorder(most, True)
        recorder.start()
        _history.append(recorder)


def _recorder() -> _usmx._TraceRecorder | None:
    if _history:
        return _history[-1]
    active = trace.active()
    return active[0]._recorder if active else None


@final
class Snapshot:
    """What was in memory at one moment. Made by `usmx.memory.snapshot`; it does not change.

    In a notebook it draws itself; ``save("memory.html")`` writes a page that needs no server.
    """

    def __init__(self) -> None:
        self._now = _usmx._TraceRecorder.now()
        recorder = _recorder()
        records: list[tuple[Any, ...]] = []
        blocks: dict[int, tuple[Any, ...]] = {}
        if recorder is not None:
            records = list(recorder.records())
            blocks = {int(b[0]): b for b in recorder.blocks()}  # type: ignore[call-overload]
        #: When, in seconds since 1970.
        self.time: float = time.time()
        #: Whether owners and a timeline were recorded.
        self.has_history: bool = recorder is not None
        #: Operations that history had no room for; the timeline begins after them.
        self.dropped: int = recorder.dropped if recorder is not None else 0
        owners = {address: Place(*b[5]) for address, b in blocks.items() if b[5] is not None}
        #: Every pool of the process.
        self.pools: list[Pool] = [
            self._pool(pool, owners) for pool in _usmx._TraceRecorder.held_pools()
        ]
        #: Allocations that were recorded and are in no pool, by address.
        self.direct: list[Block] = self._outside_of_pools(blocks, owners)
        self._direct_kinds = {b.address: str(blocks[b.address][2]) for b in self.direct}
        #: What led here, the oldest first; the last is now. Without history only that.
        self.timeline: list[Moment] = self._timeline(records)

    @staticmethod
    def _pool(pool: Any, owners: dict[int, Place]) -> Pool:
        kind, device, held, used, peak, chunks = pool

        def block(address: int, taken: int, asked: int, state: str) -> Block:
            return Block(address, taken, asked, state, owners.get(address))

        def chunk(base: int, size: int, blocks: Any) -> Chunk:
            return Chunk(base, size, [block(base + offset, *about) for offset, *about in blocks])

        return Pool(kind, device, held, used, peak, [chunk(*about) for about in chunks])

    def _outside_of_pools(
        self, blocks: dict[int, tuple[Any, ...]], owners: dict[int, Place]
    ) -> list[Block]:
        chunks = sorted((c.address, c.address + c.bytes) for p in self.pools for c in p.chunks)
        begins = [begin for begin, _ in chunks]
        out = []
        for address in sorted(blocks):
            block = blocks[address]
            at = bisect_right(begins, address) - 1
            if at < 0 or address >= chunks[at][1]:
                out.append(Block(address, block[1], block[1], "used", owners.get(address)))
        return out

    @property
    def used(self) -> dict[str, int]:
        """Bytes that live blocks asked for, by kind: those of pools, and recorded ones."""
        out = dict.fromkeys(KINDS, 0)
        for pool in self.pools:
            out[pool.kind] += pool.used
        for block in self.direct:
            out[self._direct_kinds[block.address]] += block.bytes
        return out

    @property
    def held(self) -> int:
        """Bytes taken from the driver: by pools, and by recorded allocations outside of them."""
        return sum(p.held for p in self.pools) + sum(b.bytes for b in self.direct)

    @property
    def owners(self) -> list[tuple[Place | None, int, int]]:
        """``(line, bytes, blocks)`` of who holds memory, the most first; None is not known."""
        found: dict[Place | None, tuple[int, int]] = {}
        used = [b for p in self.pools for c in p.chunks for b in c.blocks if b.state == "used"]
        for block in [*used, *self.direct]:
            size, count = found.get(block.owner, (0, 0))
            found[block.owner] = (size + block.asked, count + 1)
        ranked = [(place, size, count) for place, (size, count) in found.items()]
        return sorted(ranked, key=lambda row: -row[1])

    def _timeline(self, records: list[tuple[Any, ...]]) -> list[Moment]:
        # What is alive now is known; what was before follows from there, backwards.
        used, held = self.used, self.held
        now = max([self._now, *(record[11] for record in records[-1:])])
        out = [Moment(now, dict(used), held)]
        for record in reversed(records):
            action, size, kind = record[0], record[1], record[2]
            failed, by_runtime = record[17], record[19]
            if failed or by_runtime or kind is None:
                continue
            sign = {"allocate": 1, "driver allocate": 1, "free": -1, "driver free": -1}.get(action)
            if sign is None:
                continue
            out.append(Moment(record[11], dict(used), held))
            if action.startswith("driver"):
                held = max(0, held - sign * size)
            else:
                used[kind] = max(0, used[kind] - sign * size)
        if len(out) > 1:
            out.append(Moment(out[-1].time - 1, dict(used), held))
        return out[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""

        def block(b: Block) -> dict[str, Any]:
            owner = str(b.owner) if b.owner else None
            return {**b._asdict(), "owner": owner}

        return {
            "time": self.time,
            "history": self.has_history,
            "dropped": self.dropped,
            "used": self.used,
            "held": self.held,
            "pools": [
                {
                    **pool._asdict(),
                    "chunks": [
                        {**chunk._asdict(), "blocks": [block(b) for b in chunk.blocks]}
                        for chunk in pool.chunks
                    ],
                }
                for pool in self.pools
            ],
            "direct": [{**block(b), "kind": self._direct_kinds[b.address]} for b in self.direct],
            "timeline": [moment._asdict() for moment in self.timeline],
            "owners": [
                {"owner": str(place) if place else None, "bytes": size, "blocks": count}
                for place, size, count in self.owners
            ],
        }

    def svg(self) -> str:
        """The picture alone, as SVG."""
        return picture.svg(self)

    def html(self) -> str:
        """A page that needs nothing else: no server, no scripts, no network."""
        return picture.page(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, or with a name that ends in ``.svg`` the picture alone.

        Parameters
        ----------
        path : path-like
            What is there is overwritten.

        Raises
        ------
        ValueError
            The name has an ending that is neither that of a page nor ``.svg``.
        """
        is_picture = ending(path, (".html", ".htm", ".svg")) == ".svg"
        text = self.svg() if is_picture else self.html()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_html_(self) -> str:
        return picture.fragment(self)

    def __repr__(self) -> str:
        used = ", ".join(f"{kind} {amount(size)}" for kind, size in self.used.items() if size)
        chunks = sum(len(p.chunks) for p in self.pools)
        return (
            f"<usmx.memory.Snapshot: in use {used or 'nothing'}; {amount(self.held)} held, "
            f"{len(self.pools)} pools with {chunks} chunks>"
        )


def take() -> Snapshot:
    """Make a snapshot. See `usmx.memory.snapshot`."""
    return Snapshot()
