"""What memory consists of: blocks in chunks in pools, and how much of it was in use."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from .events import Place


class Block(NamedTuple):
    """A part of a chunk, or an allocation that is in no pool."""

    address: int
    #: What it takes up.
    bytes: int
    #: Requested size; 0 if the block is free.
    asked: int
    #: "used", "free", or "waiting" for commands that may still use it.
    state: str
    #: The line that allocated it, if that was recorded.
    owner: Place | None


class Chunk(NamedTuple):
    """A piece of memory that a pool took from the driver, and what is in it, by address."""

    address: int
    bytes: int
    blocks: list[Block]


class Pool(NamedTuple):
    """A pool and everything in it. Bytes."""

    kind: str
    device: str
    #: Taken from the driver.
    held: int
    #: Asked for by blocks that are alive.
    used: int
    #: The most that was ever held.
    peak: int
    chunks: list[Chunk]


class Moment(NamedTuple):
    """A step of the timeline: from here on it was so."""

    #: Nanoseconds of ``time.monotonic_ns()``.
    time: int
    #: Bytes in use of each kind.
    used: dict[str, int]
    #: Bytes taken from the driver, of all kinds.
    held: int


class Held(Protocol):
    """What pictures show of a snapshot."""

    time: float
    has_history: bool
    pools: list[Pool]
    timeline: list[Moment]

    @property
    def used(self) -> Mapping[str, int]:
        """Bytes that live blocks asked for, by kind."""

    @property
    def held(self) -> int:
        """Bytes taken from the driver."""

    @property
    def owners(self) -> Sequence[tuple[Place | None, int, int]]:
        """``(line, bytes, blocks)`` of who holds memory, the most first."""
