"""Fails the first, second, third, … call of every kind while a scenario runs, until none is left.

    python exhaust.py scenario

On the simulated device; test_fault_injection.py starts it. In a quick run of the tests (depths.py)
only the first calls of each kind fail. One line for each attempt on stdout, so
that the last one names the call that crashed or hung. The scenario must raise one of
the errors that are allowed, or finish with right data; afterwards it must work again, with no
allocation more alive than before.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import faulthandler
import gc
import os
import sys
from collections.abc import Callable

import lab
import scenarios

import usmx
import usmx.memory

QUICK = os.environ.get("USMX_TEST_DEPTH") == "quick"
ATTEMPTS = 6 if QUICK else 300
SECONDS = 60

# What a caller may see when the runtime fails under us. InteropError only where the question that
# failed was what a pointer is.
ALLOWED: dict[str, tuple[type[BaseException], ...]] = {
    "info": (MemoryError, RuntimeError, usmx.InteropError),
}
ALLOWED_ELSEWHERE = (MemoryError, RuntimeError)


def attempt(run: Callable[[], None], kind: str) -> str:
    try:
        run()
    except ALLOWED.get(kind, ALLOWED_ELSEWHERE) as error:
        text = " ".join(str(error).split())
        if not text:
            return f"BAD: {type(error).__name__} without a message"
        return f"{type(error).__name__}: {text[:150]}"
    except BaseException as error:
        return f"BAD: {type(error).__name__}: {error}"
    return "right data"


def settled(device: lab.SimulatedDevice) -> int:
    gc.collect()
    usmx._usmx._Testing.drain()  # what was put aside behind a busy queue
    return device.live


def main(name: str) -> int:
    run = scenarios.ALL[name]
    device = lab.SimulatedDevice()
    bad = tried = raised = 0
    faulthandler.enable()
    run()
    run()  # what is cached for the process is cached now
    gc.freeze()  # each attempt collects, and need not look at what the imports made
    baseline = settled(device)
    for kind in device.kinds:
        for onwards in (False, True):
            for nth in range(1, ATTEMPTS):
                print(f"{kind} {nth}{'+' if onwards else ''}", end=" ... ", flush=True)
                faulthandler.dump_traceback_later(SECONDS, exit=True)
                settled(device)  # pools that still hold memory would not ask for any
                device.fail(kind, nth, onwards=onwards)
                outcome = attempt(run, kind)
                reached = device.calls(kind) >= nth
                device.fail(kind, 0)
                faulthandler.cancel_dump_traceback_later()
                print(outcome, flush=True)
                tried += 1
                raised += outcome not in ("right data",)
                bad += outcome.startswith("BAD")
                if not reached:
                    break
            else:
                if QUICK:
                    continue
                print(f"BAD: more than {ATTEMPTS} calls of {kind}")
                bad += 1
        run()
        live = settled(device)
        if live != baseline:
            print(f"BAD: {live - baseline} allocations leaked by faults of {kind}", flush=True)
            baseline = live
            bad += 1
    if device.defects:
        print(f"BAD: {device.defects} defects reported on stderr")
        bad += 1
    print(f"tried={tried} raised={raised} bad={bad}")
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) != 0)
