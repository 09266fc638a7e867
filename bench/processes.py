"""Hand 1 GiB to another process: ``python bench/processes.py [rounds]``.

A process that runs already opens handles of arrays of 1 GiB, each a new array. For each step the
shortest time of the rounds and the longest, and the bytes that both processes copied meanwhile.
What is left of processes that are killed is counted by
``python tests/python/transfer/ipc_cycles.py 1000``.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import multiprocessing
import pickle
import sys
import time
from typing import Any

import usmx
import usmx.counters

usmx.counters.enable()

COUNT = 1 << 28  # of float32


def receive(pipe: Any) -> None:
    """Open each handle, look at the last element, and write the first."""
    usmx.ipc.share([1.0])  # the driver is there
    while text := pipe.recv():
        with usmx.counters.counting() as counts, usmx.trace() as seen:
            begin = time.perf_counter()
            x = pickle.loads(text).open()
            took = time.perf_counter() - begin
            copied = counts.bytes_copied + sum(event.bytes for event in seen.copies)
        pipe.send((took, copied, float(x[-1])))
        x[0] = 7
        x.wait()
        del x
        pipe.send(None)


def main(rounds: int) -> None:
    """Measure and print."""
    context = multiprocessing.get_context("spawn")
    pipe, end = context.Pipe()
    other = context.Process(target=receive, args=(end,))
    other.start()
    made, opened, through, copied = [], [], [], 0
    for number in range(rounds):
        x = usmx.ipc.empty(COUNT, "float32")
        x[-1] = number
        x.wait()
        with usmx.counters.counting() as counts, usmx.trace() as seen:
            begin = time.perf_counter()
            handle = usmx.ipc.Handle(x)
            text = pickle.dumps(handle)
            made.append(time.perf_counter() - begin)
            pipe.send(text)
            took, there, last = pipe.recv()
            through.append(time.perf_counter() - begin)
            copied += there + counts.bytes_copied + sum(event.bytes for event in seen.copies)
        opened.append(took)
        assert last == number, last
        pipe.recv()
        assert float(x[0]) == 7
        del x, handle
    pipe.send(b"")
    other.join()
    print(f"1 GiB, {rounds} rounds; {copied} bytes copied")
    for name, all_of in (
        ("handle made", made),
        ("opened there", opened),
        ("until the answer", through),
    ):
        print(f"{name:17} {min(all_of) * 1e3:6.2f} to {max(all_of) * 1e3:6.2f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
