"""Pieces in order: threads read the next ones into pinned memory while the device computes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import lcm, prod
from typing import Any

import numpy as np

from .. import _usmx
from .._progress import Report
from .sources import Source

#: Pieces that are in memory at the same time: one that is computed with, others that are read.
DEPTH = 3
#: Threads that read; a disk of today wants several requests at once.
READERS = min(4, os.cpu_count() or 1)

Progress = bool | Callable[[int, int], object]


def ranges(sources: Sequence[Source], piece_bytes: int) -> list[tuple[int, int]]:
    """Rows of pieces of about that many bytes in all sources together."""
    length = sources[0].shape[0]
    row = sum(prod(s.shape[1:]) * s.dtype.itemsize for s in sources)
    rows = max(1, piece_bytes // max(row, 1))
    together = lcm(*(s.rows_together for s in sources))
    if rows > together:
        rows -= rows % together
    return [(k, min(k + rows, length)) for k in range(0, length, rows)] or [(0, 0)]


class _Slot:
    """Pinned memory for a piece of each source, and how far its reading is."""

    def __init__(self, sources: Sequence[Source], rows: int, queue: Any) -> None:
        self.buffers = [
            _usmx.empty((rows, *s.shape[1:]), s.dtype, usm_type="host", queue=queue)
            for s in sources
        ]
        self.pending: list[Future[None]] = []
        self.rows = (0, 0)

    def fill(self, sources: Sequence[Source], rows: tuple[int, int], pool: Any) -> None:
        self.rows = rows
        first, last = rows
        self.pending = [
            pool.submit(_read, source, first, last, buffer)
            for source, buffer in zip(sources, self.buffers, strict=True)
        ]


def _read(source: Source, first: int, last: int, buffer: _usmx.ndarray) -> None:
    # The view ends with this call: commands on memory that a caller looks at wait for their end.
    source.read_into(first, last, np.asarray(buffer[: last - first]))


def pieces(
    sources: Sequence[Source], piece_bytes: int, queue: Any, progress: Progress = False
) -> Iterator[tuple[int, int, list[_usmx.ndarray]]]:
    """The rows and the arrays of each piece, in order.

    The arrays are valid until the next piece is asked for: what is made of them must be computed
    by then.
    """
    todo = ranges(sources, piece_bytes)
    longest = max(last - first for first, last in todo)
    total = sum(prod(s.shape) * s.dtype.itemsize for s in sources)
    report = Report(progress, total) if progress else None
    # Host memory is the memory of the device itself there.
    is_direct = queue.device._is_host
    pool = ThreadPoolExecutor(READERS, thread_name_prefix="usmx-read")
    slots: deque[_Slot] = deque()
    try:
        coming = iter(todo)
        for rows in coming:
            slot = _Slot(sources, longest, queue)
            slot.fill(sources, rows, pool)
            slots.append(slot)
            if len(slots) == DEPTH:
                break
        while slots:
            slot = slots.popleft()
            for one in slot.pending:
                one.result()
            first, last = slot.rows
            there = [buffer[: last - first] for buffer in slot.buffers]
            if is_direct:
                yield first, last, there
            else:
                # In order on the queue: the memory is free again when the copies have ended.
                moved = [_usmx.asarray(x, usm_type="device", queue=queue, copy=True) for x in there]
                yield first, last, moved
                del moved
            if report is not None:
                report.add(sum(x.nbytes for x in there))
            del there
            rows_next = next(coming, None)
            if rows_next is not None:
                slot.fill(sources, rows_next, pool)
                slots.append(slot)
        if report is not None:
            report.close()
    finally:
        for slot in slots:
            for one in slot.pending:
                one.cancel()
        pool.shutdown(wait=True)
