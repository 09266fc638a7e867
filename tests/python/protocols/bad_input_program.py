# Tries one case of bad input, or repeats many to find leaks: a program of its own, because a crash
# must be seen and must not take the other cases with it.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import faulthandler
import gc
import re
import sys
import tracemalloc
import types

import bad_attributes  # noqa: F401  (registers its cases)
import bad_layouts  # noqa: F401
import bad_memory  # noqa: F401
import bad_records  # noqa: F401
from bad_descriptions import CASES, Case, Ground, Producer
from flat_memory import resident_bytes


def entry_points(ground):
    """Every door through which a foreign description comes in."""
    return {
        "asarray": ground.usmx.asarray,
        "as_usm_memory": ground.usmx.memory.as_usm_memory,
    }


def attempt(door, obj):
    """Return the exception that `door` raised, without its traceback and so without our frames."""
    try:
        door(obj)
    except BaseException as error:
        return error.with_traceback(None)
    return None


def check(case, error):
    if error is None:
        return f"{case.name}: was accepted"
    if not isinstance(error, case.error):
        return f"{case.name}: expected {case.error}, got {error!r}"
    if not re.search(case.says, str(error)):
        return f"{case.name}: {str(error)!r} does not match {case.says!r}"
    return None


def try_once(name):
    ground = Ground()
    case = CASES[name]
    for door_name, door in entry_points(ground).items():
        error = attempt(door, case.make(ground))
        print(f"{door_name}: {type(error).__name__}: {str(error)[:300]}")
        if problem := check(case, error):
            print(problem)
            return 1
    # Nothing that was refused may have harmed what it pointed at.
    kept = ground.usmx.asarray(Producer(ground.description()))
    assert kept.shape == (24,)
    return 0


def try_each(names):
    """Between the lines "begin NAME" and "end NAME" stands what happened."""
    CASES["crash"] = Case("crash", lambda _: faulthandler._sigsegv(), TypeError, "")
    CASES["accepted"] = Case("accepted", lambda g: Producer(g.description()), TypeError, "")
    for name in names:
        print("begin", name, flush=True)
        if try_once(name) == 0:
            print("end", name, flush=True)
        sys.stdout.flush()


def leaks(case, ground, times):
    """What grew while the case was refused `times` times; empty if nothing did."""
    door = ground.usmx.asarray
    obj = case.make(ground)
    references = sys.getrefcount(obj)
    for _ in range(100):
        attempt(door, obj)
    gc.collect()
    objects, resident = len(gc.get_objects()), resident_bytes()
    # The interpreter's own caches fill now and then, and what was there before the tracing is
    # replaced by what is traced; a leak is there in every window.
    grown = allowed = 1600
    tracemalloc.start()
    for _ in range(20):
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            attempt(door, obj)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        if grown <= allowed:
            break
    tracemalloc.stop()
    for _ in range(times):
        attempt(door, obj)
    gc.collect()
    found = []
    if sys.getrefcount(obj) != references:
        found.append(f"{sys.getrefcount(obj) - references} references")
    if len(gc.get_objects()) - objects > 20:
        found.append(f"{len(gc.get_objects()) - objects} objects")
    if grown > allowed:
        found.append(f"{grown} bytes in 100 calls")
    # 100 bytes a call would be 1 MB; allocators breathe by less.
    if resident_bytes() - resident > max(times * 60, 1 << 19):
        found.append(f"{resident_bytes() - resident} resident bytes in {times} calls")
    return found


def repeat(names, times):
    ground = Ground()
    gc.freeze()  # collections pass over what the imports made
    failures = 0
    for name in names:
        found = leaks(CASES[name], ground, times // 10 if CASES[name].slow else times)
        print(name, "leaks " + ", ".join(found) if found else "ok", flush=True)
        failures += bool(found)
    return failures


def control(times):
    """A leak of 100 bytes a call that the measurement has to see."""
    ground = Ground()
    kept = []
    make = CASES["shape-float"].make

    def door(obj):
        kept.append(bytearray(40))
        raise TypeError("refused, and kept")

    ground.usmx = types.SimpleNamespace(asarray=door)
    real = Ground()
    return leaks(Case("control", lambda g: make(real), TypeError, ""), ground, times)


if __name__ == "__main__":
    faulthandler.enable()
    if sys.argv[1] == "repeat":
        sys.exit(1 if repeat(sys.argv[3:], int(sys.argv[2])) else 0)
    if sys.argv[1] == "control":
        print(control(int(sys.argv[2])))
        sys.exit(0)
    try_each(sys.argv[1:])
