"""A child of fork computes, or its first command says why it cannot.

It never waits for a lock that only the parent's threads could give back.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gate
import pytest

HELPERS = str(Path(gate.__file__).parent)

WORK = {
    "launch": "f[1000](y)",
    "wait": "f[1000](y).wait()",
    "copy": "usmx.copy(host, large)",
    "fill": "usmx.fill(y, 2)",
    "allocate": "usmx.empty(1 << 20, 'float32')",
    "compile": "usmx.RawKernel(text % next(numbers), 'f').compile()",
}

PROGRAM = """
import itertools, os, signal, sys, threading, numpy, usmx

text = "USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += %d; }"
f = usmx.RawKernel(text % 1, "f")
x = usmx.zeros(1000, "float32")
f[1000](x).wait()
large = usmx.zeros(1 << 20, "float32", usm_type="device")
host = numpy.zeros(1 << 20, "float32")
numbers = itertools.count(2)
stop = False
started = threading.Barrier(3, timeout=60)

def work():
    y = usmx.zeros(1000, "float32", queue=usmx.Queue(in_order=True))
    WORK
    started.wait()
    while not stop:
        WORK

threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for t in threads:
    t.start()
started.wait()
ends = []
for _ in range(12):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that waits for ever ends by this signal
        try:
            z = usmx.zeros(1000, "float32")
            f[1000](z).wait()
            right = z.to_numpy().sum() == 1000
        except usmx.DeviceError as error:
            right = "forked" in str(error)
        os._exit(0 if right else 1)
    ends.append(os.waitpid(child, 0)[1])
stop = True
for t in threads:
    t.join()
print(ends)
"""


@pytest.mark.parametrize("what", WORK)
def test_a_child_computes_or_says_why_not_beside_threads_that(
    what: str, run_python: Callable[..., Any]
) -> None:
    code = PROGRAM.replace("WORK", WORK[what])
    done = run_python(code, env={"USMX_CACHE": "0"}, timeout=500)
    assert done.stdout.strip() == str([0] * 12)


def test_a_child_of_a_fork_beside_a_thread_that_waits_gets_an_error_and_ends(
    run_python: Callable[..., Any],
) -> None:
    code = """
    import os, signal, sys, threading, usmx
    from gate import Gate

    x = usmx.zeros(1000, "float32", queue=usmx.Queue(in_order=True))
    f = usmx.RawKernel("USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }", "f")
    f[1000](x).wait()
    entered = threading.Event()

    with Gate(x.queue):
        started = f[1000](x)
        def wait():
            entered.set()
            started.wait()
        waiting = threading.Thread(target=wait)
        waiting.start()
        entered.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            calls = {
                "empty": lambda: usmx.empty(1 << 24, "float32"),
                "launch": lambda: f[1000](x),
                "wait": lambda: x.queue.wait(),
                "compile": lambda: usmx.RawKernel("USMX_KERNEL(1) g() {}", "g").compile(),
                "fill": lambda: usmx.fill(x, 1),
            }
            for name, call in calls.items():
                try:
                    call()
                except RuntimeError as error:
                    assert "spawn" in str(error), (name, error)
                else:
                    raise AssertionError(name)
            sys.exit(0)
    status = os.waitpid(child, 0)[1]
    waiting.join()
    print(status, x.to_numpy().sum())
    """
    done = run_python(
        code,
        timeout=200,
        env={"PYTHONPATH": os.pathsep.join([HELPERS, os.environ.get("PYTHONPATH", "")])},
    )
    assert done.stdout.strip() == "0 2000.0", done.stderr


def test_a_driver_that_no_child_can_use_is_named(run_python: Callable[..., Any]) -> None:
    # What a device of CUDA does; the CPU device itself goes on in a child.
    code = """
    import os, usmx

    x = usmx.ones(3)
    x.wait()
    usmx._usmx._Testing.uses_driver_of("cuda")
    child = os.fork()
    if child == 0:
        try:
            usmx.ones(3).wait()
        except usmx.DeviceError as error:
            print(error, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(x.sum().item())
    """
    child, parent = run_python(code).stdout.splitlines()
    assert "forked from one that had used a device of cuda" in child
    assert "'spawn' or 'forkserver'" in child
    assert parent == "3.0"
