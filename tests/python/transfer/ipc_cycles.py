"""Processes that own and use shareable memory, and are killed: what is left of a number of them.

    python ipc_cycles.py 1000

Prints what a test compares: descriptors, mappings, bytes, names in ``/dev/shm``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import json
import multiprocessing
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import usmx
from usmx.ipc import GoneError, Handle

LENGTH = 1 << 17  # a MiB of float64: a thousand that stay would be seen
#: In a round each process is killed at another point.
ENDS = ("before it is opened", "while both have it", "after all was closed")


def own_and_use(pipe: Any) -> None:
    """Own an array and use the parent's, until killed."""
    given, number = pipe.recv()
    theirs = given.open()
    theirs[0] = number
    theirs.wait()
    own = usmx.ipc.share(usmx.full(LENGTH, float(number)))
    pipe.send(Handle(own))
    pipe.recv()
    raise AssertionError("was not killed")


def only_use(pipe: Any) -> None:
    """One more receiver, until killed."""
    given, number = pipe.recv()
    theirs = given.open()
    theirs[1] = number
    theirs.wait()
    pipe.send(None)
    pipe.recv()


class Other:
    """A process that runs one of these functions."""

    def __init__(self, context: Any, function: Any, *message: Any) -> None:
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=function, args=(end,))
        self.process.start()
        end.close()
        self.pipe.send(message)
        self.answer = self.pipe.recv()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        assert self.process.exitcode == -9, self.process.exitcode
        self.process.close()
        self.pipe.close()


def cycle(context: Any, number: int) -> str:
    """Two or three processes have each other's memory, and one or two of them are killed."""
    mine = usmx.ipc.empty(LENGTH)
    handle = Handle(mine)
    others = [Other(context, own_and_use, handle, number)]
    if number % 10 == 0:
        others.append(Other(context, only_use, handle, number))
        assert float(mine[1]) == number
    assert float(mine[0]) == number
    theirs: Handle = others[0].answer
    twice = pickle.loads(pickle.dumps(theirs))
    end = ENDS[number % len(ENDS)]
    if end == ENDS[0]:
        for other in others:
            other.kill()
        try:
            theirs.open()
        except GoneError:
            pass
        else:
            raise AssertionError("the owner was killed before")
    else:
        array = theirs.open()
        assert twice.open().pointer == array.pointer
        if end == ENDS[1]:
            for other in others:
                other.kill()
        assert float(array[-1]) == number
        array[0] = 1  # the owner may have ended
        assert float(array[0]) == 1
        del array
        if end == ENDS[2]:
            theirs.close()
            twice.close()
            for other in others:
                other.kill()
    for one in (theirs, theirs, twice, twice, handle, handle):
        one.close()
    return end


def state() -> dict[str, Any]:
    """What could be left."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings": Path("/proc/self/maps").read_text().count("memfd:usmx-"),
        "resident": int(resident) >> 10,
        "shm": sorted(name for name in os.listdir("/dev/shm") if "usmx" in name),
    }


def main(count: int) -> None:
    """Run so many cycles, and look before and after."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([Path(__file__).stem])
    sys.path.insert(0, str(Path(__file__).parent))
    import ipc_cycles  # the functions by a name that the server knows

    for number in range(12):
        ipc_cycles.cycle(context, number)
    before = state()
    ends = [ipc_cycles.cycle(context, k) for k in range(count)]
    after = state()
    kinds = {end: ends.count(end) for end in ENDS}
    print(json.dumps({"ends": kinds, "before": before, "after": after}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
