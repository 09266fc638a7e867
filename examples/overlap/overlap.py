"""The host prepares the next piece while the device copies and computes with the last one.

A large signal is made on the host piece by piece (here: its noise is smoothed), copied to the
device, changed there by a kernel, and copied back. First each step waits for the one before; then
copies and kernels are submitted with `copy_async`, two pieces are under way, and the host only
waits when it needs a buffer again. Both ways give the same numbers; the trace shows how they differ
in time.

    python examples/overlap/overlap.py                    # prints the two times
    python examples/overlap/overlap.py --trace both.json  # and a file for https://ui.perfetto.dev
    python examples/overlap/overlap.py --trace both.svg   # or a picture
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import usmx
from usmx.tracing import Trace

KERNEL = usmx.RawKernel(
    """
    USMX_KERNEL(1) settle(float* x) {
      auto i = usmx::global_id();
      float v = x[i];
      for (int k = 0; k < 60; ++k) v = v * v - 0.5f * v + 0.25f;
      x[i] = v;
    }
    """,
    "settle",
)


def prepare(number: int, out: np.ndarray, trace: Trace) -> None:
    """What the host has to do for a piece: some noise, smoothed."""
    with trace.mark("prepare"):
        noise = np.random.default_rng(number).random(out.size + 7, dtype="float32")
        out[:] = np.convolve(noise, np.full(8, 0.125, "float32"), mode="valid")


def one_after_the_other(results: np.ndarray, queue: usmx.Queue, trace: Trace) -> None:
    """Each step waits for the one before."""
    pieces, size = results.shape
    here = np.empty(size, "float32")
    there = usmx.empty(size, "float32", usm_type="device", queue=queue)
    for number in range(pieces):
        prepare(number, here, trace)
        usmx.copy(there, here)
        KERNEL[size](there).wait()
        usmx.copy(results[number], there)


def together(results: np.ndarray, queue: usmx.Queue, trace: Trace) -> None:
    """Two pieces are in flight: the host prepares one while the device computes with the other."""
    pieces, size = results.shape
    here = [np.empty(size, "float32") for _ in range(2)]
    there = [usmx.empty(size, "float32", usm_type="device", queue=queue) for _ in range(2)]
    copied: list[usmx.Event] = [usmx.Event(), usmx.Event()]
    last = usmx.Event()
    for number in range(pieces):
        slot = number % 2
        copied[slot].wait()  # the host's buffer can be reused after the copy
        prepare(number, here[slot], trace)
        copied[slot] = usmx.copy_async(there[slot], here[slot])
        KERNEL[size](there[slot])
        last = usmx.copy_async(results[number], there[slot])
    last.wait()  # the queue is in-order, so all earlier commands have ended too


def measure(pieces: int, size: int, trace: Path | None) -> tuple[float, float]:
    """Seconds of both ways; their results are the same."""
    queue = usmx.Queue(usmx.Device(), enable_profiling=trace is not None)
    KERNEL.compile(queue)
    results = [np.zeros((pieces, size), "float32") for _ in range(2)]
    seconds = []
    with usmx.trace() as recorded:
        for way, out in zip((one_after_the_other, together), results, strict=True):
            begin = time.perf_counter()
            with recorded.mark(way.__name__.replace("_", " ")):
                way(out, queue, recorded)
            seconds.append(time.perf_counter() - begin)
    np.testing.assert_array_equal(*results)
    if trace is not None:
        recorded.export(trace)
    return seconds[0], seconds[1]


def main() -> None:
    """Run it as a program."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pieces", type=int, default=16)
    parser.add_argument("--size", type=int, default=1_000_000, help="elements of a piece")
    parser.add_argument("--trace", type=Path, help="write a trace: JSON for Perfetto, or .svg")
    options = parser.parse_args()
    waiting, overlapped = measure(options.pieces, options.size, options.trace)
    print(f"one after the other: {waiting * 1e3:.0f} ms")
    print(f"together:            {overlapped * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
