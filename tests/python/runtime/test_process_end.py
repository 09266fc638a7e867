"""A process ends with its own exit code although daemon threads are in the driver."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

WORK = {
    "compile": "usmx.RawKernel(f % n, 'f').compile()",
    "launch": "g[1000](y)",
    "wait": "g[1000](y).wait()",
    "copy": "usmx.copy(host, large)",
    "allocate": "usmx.empty(1 << 22, 'float32', usm_type='device')",
    "await": "asyncio.run(awaited())",
}

PROGRAM = """
import asyncio, sys, threading, time, numpy, usmx

f = "USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += %d; }"
x = usmx.zeros(1000, "float32")
usmx.RawKernel(f % 1, "f")[1000](x).wait()
large = usmx.zeros(1 << 20, "float32", usm_type="device")
host = numpy.zeros(1 << 20, "float32")
started = threading.Barrier(4)

def work(k):
    n = 2 + k * 100000
    y = usmx.zeros(1000, "float32", queue=usmx.Queue(in_order=True))
    g = usmx.RawKernel(f % 1, "f")
    async def awaited():
        for _ in range(100):
            await g[1000](y)
    WORK
    started.wait()
    while True:
        n += 1
        WORK

for k in range(3):
    threading.Thread(target=work, args=(k,), daemon=True).start()
started.wait()
time.sleep(SEED * 0.03)
print("written", end="")
END
"""


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("what", WORK)
def test_daemon_threads_may_be_inside_the_driver(
    what: str, seed: int, run_python: Callable[..., Any]
) -> None:
    code = PROGRAM.replace("WORK", WORK[what]).replace("SEED", str(seed)).replace("END", "")
    done = run_python(code, env={"USMX_CACHE": "0"}, timeout=120)
    assert done.stdout == "written"


def test_an_exit_code_is_kept(run_python: Callable[..., Any]) -> None:
    code = PROGRAM.replace("WORK", WORK["wait"]).replace("SEED", "1").replace("END", "sys.exit(7)")
    done = run_python(code, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (7, "written")


def test_earlier_exit_handlers_still_run(run_python: Callable[..., Any]) -> None:
    code = "import atexit; atexit.register(lambda: print(', handled', int(x[0])))\n" + PROGRAM
    code = code.replace("WORK", WORK["wait"]).replace("SEED", "1").replace("END", "")
    assert run_python(code, timeout=120).stdout.strip() == "written, handled 1"
