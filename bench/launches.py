"""Measure launching a small kernel, and compiling one from its source, compared with dpctl.

dpctl launches a kernel of OpenCL C on the same in-order queue; it compiles no SYCL from text.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import dpctl
import dpctl.memory
import dpctl.program
from table import Case, Effort, Result, Rival, main, measure

import usmx

OPENCL = "kernel void add(global int* x, int n) { x[get_global_id(0)] += n; }"
SYCL = "USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }"
ITEMS, GROUP = 256, 64
#: Where `make numba-dpex` puts it.
NUMBA_DPEX = Path(__file__).parents[1] / "build" / "numba-dpex"

#: Prints what making a kernel takes, in ns: the first, the fastest of some more.
MAKE = """
import time, usmx, dpctl.program
queue = usmx.default_queue()
theirs = dpctl.SyclQueue(queue._get_capsule())
times = []
for _ in range({times}):
    start = time.perf_counter_ns()
    {make}
    times.append(time.perf_counter_ns() - start)
print(times[0], min(times[1:]))
"""
OURS = MAKE.format(times=200, make=f'usmx.RawKernel({SYCL!r}, "add").compile(queue)')
#: The same with the headers of SYCL, which also need those of a C++ compiler.
HEADERS = """
#include <sycl/sycl.hpp>
namespace oneapi = sycl::ext::oneapi;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((oneapi::experimental::nd_range_kernel<1>))
void add(int* x, int n) {
  x[oneapi::this_work_item::get_nd_item<1>().get_global_id(0)] += n;
}
"""
WITH_HEADERS = MAKE.format(times=2, make=f'usmx.RawKernel({HEADERS!r}, "add").compile(queue)')
THEIRS = MAKE.format(
    times=5,
    make=f'dpctl.program.create_program_from_source(theirs, {OPENCL!r}).get_sycl_kernel("add")',
)


@usmx.kernel
def add(item, x, n):
    """As in the other two languages."""
    x[item.get_id(0)] += n


def launches() -> list[Case]:
    """A kernel of 256 items that hardly does anything, waited for and not."""
    queue = usmx.default_queue()
    theirs = dpctl.SyclQueue(queue._get_capsule())
    kernel = dpctl.program.create_program_from_source(theirs, OPENCL).get_sycl_kernel("add")
    memory = dpctl.memory.MemoryUSMDevice(4 * ITEMS, queue=theirs)
    number = ctypes.c_int(1)
    x = usmx.zeros(ITEMS, dtype="int32")
    raw = usmx.RawKernel(SYCL, "add")

    def dpctl_submit() -> object:
        return theirs.submit_async(kernel, [memory, number], [ITEMS], [GROUP])

    def dpctl_waited() -> None:
        theirs.submit(kernel, [memory, number], [ITEMS], [GROUP]).wait()

    submit, waited = Rival("dpctl", dpctl_submit, 1.5), Rival("dpctl", dpctl_waited, 1.5)
    return [
        Case("launch RawKernel", lambda: raw[ITEMS, GROUP](x, 1), [submit]),
        Case("launch RawKernel, waited", lambda: raw[ITEMS, GROUP](x, 1).wait(), [waited]),
        Case("launch @usmx.kernel", lambda: add[ITEMS, GROUP](x, 1), [submit]),
        Case("launch @usmx.kernel, waited", lambda: add[ITEMS, GROUP](x, 1).wait(), [waited]),
    ]


def making(code: str | Path, folder: str) -> list[float]:
    """What a new process with its program cache in `folder` prints."""
    environment = {**os.environ, "USMX_CACHE": "1", "USMX_CACHE_DIR": folder}
    program = [code] if isinstance(code, Path) else ["-c", code]
    done = subprocess.run(
        [sys.executable, *program], env=environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def from_source(effort: Effort) -> list[Result]:
    """New, again in the process, and in the next process; the fastest of several."""
    rounds = 1 if effort.quick else 5
    ours, theirs = [float("inf")] * 3, [float("inf")] * 3
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for best, code in ((theirs, THEIRS), (ours, OURS)):
                new, again = making(code, folder)
                other = making(code, folder)[0]
                for k, value in enumerate((new, again, other)):
                    best[k] = min(best[k], value)
    with tempfile.TemporaryDirectory() as folder:
        headers = making(WITH_HEADERS, folder)[0]
    names = ("new", "the same again", "in the next process")
    return [
        Result("kernel from source, new", "SYCL headers", headers, ours[0], 6),
        *(
            Result(f"kernel from source, {name}", "dpctl (OpenCL C)", rival, mine)
            for name, rival, mine in zip(names, theirs, ours, strict=True)
        ),
    ]


def script(effort: Effort) -> list[Result]:
    """Three kernels in Python, in a process with a warm disk cache and in one with a cold one."""
    program = Path(__file__).with_name("three_kernels.py")
    with tempfile.TemporaryDirectory() as folder:
        cold, *warm = (making(program, folder)[0] for _ in range(2 if effort.quick else 6))
    return [Result("a script's three kernels, kept on disk", "compiled", cold, min(warm), 10)]


def beside_numba_dpex(effort: Effort, ours: list[Result]) -> list[Result]:
    """The launches of `ours` that a kernel in Python makes, with numba-dpex as the rival."""
    if effort.quick:
        return []
    if not NUMBA_DPEX.exists():
        print("numba-dpex is not measured: `make numba-dpex` installs it", file=sys.stderr)
        return []
    environment = os.environ | {
        "LD_LIBRARY_PATH": f"{NUMBA_DPEX}/lib",
        "OCL_ICD_FILENAMES": f"{NUMBA_DPEX}/lib/libintelocl.so",
    }
    program = Path(__file__).with_name("numba_dpex_launch.py")
    done = subprocess.run(
        [NUMBA_DPEX / "bin" / "python", program, "200", "20"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    in_a_row, waited = json.loads(done.stdout)
    mine = {result.case: result.ours for result in ours}
    return [
        Result(case, "numba-dpex", rival, mine[case], 15)
        for case, rival in (
            ("launch @usmx.kernel", in_a_row),
            ("launch @usmx.kernel, waited", waited),
        )
    ]


def run(effort: Effort) -> list[Result]:
    """Time everything.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    launched = measure(launches(), effort)
    return [
        *launched,
        *beside_numba_dpex(effort, launched),
        *from_source(effort),
        *script(effort),
    ]


if __name__ == "__main__":
    main("launches", __doc__, run)
