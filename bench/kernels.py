"""Measure nine kernels on the CPU device with usmx, Numba on all cores, NumPy, dpnp and Warp.

Run by itself: ``python bench/kernels.py [--json]``. Each library has a process of its own, and
every result is compared with NumPy's before it is timed. Warp and Numba are left out if they are
not installed: ``pip install --group bench``.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from apart import Side, measure_apart
from table import Effort, Result, main

import usmx

BINS, MOST, TILE, GROUP, PARTS, VECTOR = 256, 50, 16, 64, 64, 16
#: The case, with at least two rounds of all sides.
SECONDS_OF_A_CASE = 8.0


@usmx.kernel
def saxpy(item, a, x, y, out):
    """A sum and a product."""
    i = item.get_id(0)
    out[i] = a * x[i] + y[i]


@usmx.kernel
def convolution(item, image, w, out):
    """A filter of nine weights."""
    i, j = item.get_id(0), item.get_id(1)
    total = 0.0
    for di in range(3):
        for dj in range(3):
            total += w[di, dj] * image[i + di, j + dj]
    out[i, j] = total


@usmx.kernel
def histogram_local(item, x, counts):
    """Each group counts a part in local memory, then adds its counts to the result.

    The part is one piece: strides of the whole range would skip a page of memory each time. A
    group has as many items as a vector: on a processor one vector goes through the whole part
    before the next one starts, so those of larger groups would skip cache lines.
    """
    k, items = item.get_local_id(0), item.get_local_range(0)
    part, parts = item.get_group_id(0), item.get_group_range(0)
    mine = usmx.local.array(BINS, usmx.int32)
    for b in range(k, BINS, items):
        mine[b] = 0
    usmx.barrier()
    for i in range(part * x.size // parts + k, (part + 1) * x.size // parts, items):
        usmx.atomic.add(mine, min(int(x[i] * BINS), BINS - 1), 1)
    usmx.barrier()
    for b in range(k, BINS, items):
        usmx.atomic.add(counts, b, mine[b])


@usmx.kernel
def histogram_private(item, x, counts):
    """Each item counts a part in private memory, then adds its counts to the result."""
    part, parts = item.get_id(0), item.get_range(0)
    mine = usmx.private.array(BINS, usmx.int32)
    for i in range(part * x.size // parts, (part + 1) * x.size // parts):
        mine[min(int(x[i] * BINS), BINS - 1)] += 1
    for k in range(BINS):
        usmx.atomic.add(counts, k, mine[k])


@usmx.kernel
def sums_of_parts(item, x, before):
    """The first step of a scan."""
    part, parts = item.get_id(0), item.get_range(0)
    total = x.dtype(0)
    for i in range(part * x.size // parts, (part + 1) * x.size // parts):
        total += x[i]
    before[part] = total


@usmx.kernel
def scan_of_parts(item, x, before, out):
    """The second one: each part starts with the sum of those before it."""
    part, parts = item.get_id(0), item.get_range(0)
    total = x.dtype(0)
    for k in range(part):
        total += before[k]
    for i in range(part * x.size // parts, (part + 1) * x.size // parts):
        total += x[i]
        out[i] = total


@usmx.kernel
def mandelbrot(item, x0, y0, step, rounds):
    """The number of rounds in which a point stays near."""
    i, j = item.get_id(0), item.get_id(1)
    cx, cy = usmx.float32(x0 + j * step), usmx.float32(y0 + i * step)
    x, y, n = usmx.float32(0), usmx.float32(0), 0
    while n < MOST and x * x + y * y <= 4:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
    rounds[i, j] = n


@usmx.device_func
def normal(x):
    """The distribution."""
    return 0.5 + 0.5 * math.erf(x * math.sqrt(0.5))


@usmx.kernel
def black_scholes(item, price, strike, years, call, put):
    """Prices of options."""
    i = item.get_id(0)
    deviation = 0.2 * math.sqrt(years[i])
    up = (math.log(price[i] / strike[i]) + 0.1 * years[i]) / deviation + 0.5 * deviation
    discounted = strike[i] * math.exp(-0.1 * years[i])
    value = price[i] * normal(up) - discounted * normal(up - deviation)
    call[i] = value
    put[i] = value - price[i] + discounted


@usmx.kernel
def n_body(item, bodies, force):
    """Each group loads tiles of positions into local memory."""
    i, k = item.get_global_id(0), item.get_local_id(0)
    near = usmx.local.array((GROUP, 3), usmx.float32)
    x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
    fx, fy, fz = usmx.float32(0), usmx.float32(0), usmx.float32(0)
    for first in range(0, bodies.shape[0], GROUP):
        for axis in range(3):
            near[k, axis] = bodies[first + k, axis]
        usmx.barrier()
        for other in range(GROUP):
            dx, dy, dz = near[other, 0] - x, near[other, 1] - y, near[other, 2] - z
            inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
            pull = inverse * inverse * inverse
            fx += dx * pull
            fy += dy * pull
            fz += dz * pull
        usmx.barrier()
    force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz


@usmx.kernel
def matmul(item, a, b, c):
    """Tiles in local memory, which each group loads once."""
    left = usmx.local.array((TILE, TILE), usmx.float32)
    right = usmx.local.array((TILE, TILE), usmx.float32)
    i, j = item.get_global_id(0), item.get_global_id(1)
    row, column = item.get_local_id(0), item.get_local_id(1)
    total = usmx.float32(0)
    for block in range(0, a.shape[1], TILE):
        left[row, column] = a[i, block + column]
        right[row, column] = b[block + row, j]
        usmx.barrier()
        for k in range(TILE):
            total += left[row, k] * right[k, column]
        usmx.barrier()
    c[i, j] = total


def _convolution_of_arrays(xp: Any, image: Any, w: Any) -> Any:
    height, width = image.shape[0] - 2, image.shape[1] - 2
    parts = [w[i, j] * image[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return sum(parts[1:], parts[0])


def _mandelbrot_of_arrays(xp: Any, c: Any) -> Any:
    z, rounds = xp.zeros_like(c), xp.zeros(c.shape, dtype="int32")
    for _ in range(MOST):
        inside = z.real * z.real + z.imag * z.imag <= 4
        rounds = rounds + inside
        z = xp.where(inside, z * z + c, z)
    return rounds


def _n_body_of_arrays(xp: Any, bodies: Any) -> Any:
    d = bodies[None, :, :] - bodies[:, None, :]
    return xp.sum(d / (xp.sum(d * d, axis=2) + 0.01)[..., None] ** 1.5, axis=1)


@dataclass
class Task:
    """One kernel: what computes it in a library, and what gives its result there.

    A negative tolerance is the share of elements that may be wrong.
    """

    name: str
    call: Callable[[], object]
    result: Callable[[], Any]
    wanted: Any
    tolerance: float = 0.0
    label: str | None = None


class _Arrays:
    """The numbers of a task and the place of its result, as each library has them."""

    def __init__(self, *values: Any, out: Any) -> None:
        self.values = values
        self.out = out

    @cached_property
    def numba(self) -> list[Any]:
        return list(self.values)

    @cached_property
    def device(self) -> list[Any]:
        return [usmx.asarray(v) for v in self.values]

    @cached_property
    def device_out(self) -> Any:
        return usmx.asarray(self.out)

    @cached_property
    def warp(self) -> list[Any]:
        from kernels_of_warp import wp  # which quietens it first

        return [wp.array(v, device="cpu") for v in self.values if v.dtype.kind != "c"]

    @cached_property
    def warp_out(self) -> Any:
        from kernels_of_warp import wp

        return wp.array(self.out, device="cpu")


#: Library -> the module that has to be installed.
LIBRARIES = {
    "usmx": "usmx", "NumPy": "numpy", "dpnp": "dpnp", "Numba": "numba", "Warp": "warp",
    "by hand": "usmx",
}  # fmt: skip


def _warp(kernel: str, dim: Any, *arguments: Any) -> Callable[[], None]:
    import kernels_of_warp
    from kernels_of_warp import wp

    return partial(wp.launch, getattr(kernels_of_warp, kernel), dim, list(arguments), device="cpu")


def _task(
    library: str,
    name: str,
    ours: Callable[[_Arrays], Any],
    arrays: _Arrays,
    of_arrays: Callable[..., Any],
    *,
    numba: Callable[[Any], Any],
    warp: Callable[[_Arrays], Callable[[], Any]] | None = None,
    by_hand: Callable[[_Arrays], Any] | None = None,
    numpy_as: str = "NumPy",
    with_dpnp: bool = True,
    tolerance: float = 0.0,
) -> Task | None:
    """What a library does; nothing if it has no way to do it."""
    task = partial(Task, name, wanted=of_arrays(np, *arrays.values), tolerance=tolerance)
    kept: list[Any] = [None]
    if library in ("usmx", "by hand"):
        launch = ours if library == "usmx" else by_hand
        queue = arrays.device[0].queue

        def launch_and_wait() -> None:
            launch(arrays)
            queue.wait()

        return task(launch_and_wait, arrays.device_out.to_numpy) if launch else None
    if library == "NumPy":

        def call_numpy() -> None:
            kept[0] = of_arrays(np, *arrays.values)

        return task(call_numpy, lambda: kept[0], label=numpy_as)
    if library == "dpnp":
        if not with_dpnp:
            return None
        import dpnp

        theirs = [dpnp.asarray(v) for v in arrays.values]
        wait = theirs[0].sycl_queue.wait

        def call_dpnp() -> None:
            kept[0] = of_arrays(dpnp, *theirs)
            wait()

        return task(call_dpnp, lambda: dpnp.asnumpy(kept[0]))
    if library == "Numba":
        import kernels_of_numba

        return task(lambda: numba(kernels_of_numba), lambda: arrays.out)
    return task(warp(arrays), arrays.warp_out.numpy) if warp else None


def _some(shape: Any, low: float = 0, high: float = 1) -> Any:
    return np.random.default_rng(0).uniform(low, high, shape).astype(np.float32)


def _saxpy(library: str, quick: bool) -> Iterator[Task | None]:
    n = 4096 if quick else 10_000_000
    a = _Arrays(_some(n), _some(n), out=np.zeros(n, np.float32))

    def launch_saxpy(a: _Arrays) -> None:
        saxpy[n](2.0, *a.device, a.device_out)

    yield _task(
        library,
        f"saxpy of {n:,}",
        launch_saxpy,
        a,
        lambda xp, x, y: x * 2 + y,
        numba=lambda f, a=a: f.saxpy(np.float32(2), *a.numba, a.out),
        warp=lambda a: _warp("saxpy", n, 2.0, *a.warp, a.warp_out),
        tolerance=1e-6,
    )


def _convolution(library: str, quick: bool) -> Iterator[Task | None]:
    side = 64 if quick else 2048
    w = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32) / 16
    a = _Arrays(_some((side + 2, side + 2)), w, out=np.zeros((side, side), np.float32))
    yield _task(
        library,
        f"convolution 3x3 of {side} x {side}",
        lambda a: convolution[(side, side), None](*a.device, a.device_out),
        a,
        _convolution_of_arrays,
        numba=lambda f, a=a: f.convolution(*a.numba, a.out),
        warp=lambda a: _warp("convolution", (side, side), *a.warp, a.warp_out),
        tolerance=1e-5,
    )


def _histograms(library: str, quick: bool) -> Iterator[Task | None]:
    n = 4096 if quick else 10_000_000
    a = _Arrays(_some(n), out=np.zeros(BINS, np.int32))

    def count(xp: Any, x: Any) -> Any:
        if xp is np:
            return np.histogram(x, BINS, (0, 1))[0].astype(np.int32)
        return xp.histogram(x, BINS, (0, 1))[0].astype("int32")

    def count_by_warp(a: _Arrays) -> Callable[[], None]:
        launch = _warp("histogram", n, *a.warp, a.warp_out)

        def zeroed() -> None:
            a.warp_out.zero_()
            launch()

        return zeroed

    def launch_local(a: _Arrays) -> None:
        a.device_out[:] = 0
        histogram_local[PARTS * VECTOR, VECTOR](*a.device, a.device_out)

    def launch_private(a: _Arrays) -> None:
        a.device_out[:] = 0
        histogram_private[PARTS, (1,)](*a.device, a.device_out)

    for name, launch in (("local atomics", launch_local), ("private counters", launch_private)):
        yield _task(
            library,
            f"histogram of {n:,}, {name}",
            launch,
            a,
            count,
            numba=lambda f, a=a: f.histogram(*a.numba, a.out),
            warp=count_by_warp,
        )


def _scans(library: str, quick: bool) -> Iterator[Task | None]:
    n = 4096 if quick else 10_000_000
    x = np.random.default_rng(0).integers(-100, 100, n).astype(np.int32)
    a = _Arrays(x, out=np.zeros(n, np.int32))
    before = usmx.empty(PARTS, dtype="int32")
    prefix = usmx.ScanKernel("T x", "T y", "x", "a + b")

    def launch_scan(a: _Arrays) -> None:
        sums_of_parts[PARTS, (1,)](*a.device, before)
        scan_of_parts[PARTS, (1,)](*a.device, before, a.device_out)

    def scan_kernel(a: _Arrays) -> None:
        prefix(*a.device, out=a.device_out)

    for name, launch in (("by hand", launch_scan), ("ScanKernel", scan_kernel)):
        yield _task(
            library,
            f"scan of {n:,}, {name}",
            launch,
            a,
            lambda xp, x: xp.cumsum(x, dtype="int32"),
            numba=lambda f, a=a: f.scan(*a.numba, a.out),
            by_hand=launch_scan if launch is scan_kernel else None,
        )


def _mandelbrot(library: str, quick: bool) -> Iterator[Task | None]:
    side = 64 if quick else 1024
    step = 2.8 / side
    j, i = np.meshgrid(np.arange(side), np.arange(side))
    c = ((-2.1 + j * step) + 1j * (-1.2 + i * step)).astype(np.complex64)
    a = _Arrays(c, out=np.zeros((side, side), np.int32))
    yield _task(
        library,
        f"Mandelbrot of {side} x {side}",
        lambda a: mandelbrot[(side, side), None](-2.1, -1.2, step, a.device_out),
        a,
        _mandelbrot_of_arrays,
        numba=lambda f, a=a: f.mandelbrot(-2.1, -1.2, step, a.out, MOST),
        warp=lambda a: _warp("mandelbrot", (side, side), -2.1, -1.2, step, a.warp_out, MOST),
        tolerance=-0.005,  # of the points: rounding decides about those at the border
    )


def _black_scholes(library: str, quick: bool) -> Iterator[Task | None]:
    m = 4096 if quick else 1_000_000
    a = _Arrays(_some(m, 10, 50), _some(m, 10, 50), _some(m, 1, 2), out=np.zeros(m, np.float32))
    put = usmx.empty(m, dtype="float32")
    host_put = np.empty(m, np.float32)

    erf = usmx.special.erf

    def prices(xp: Any, price: Any, strike: Any, years: Any) -> Any:
        deviation = 0.2 * xp.sqrt(years)
        up = (xp.log(price / strike) + 0.1 * years) / deviation + 0.5 * deviation
        discounted = strike * xp.exp(-0.1 * years)

        def distribution(v: Any) -> Any:
            return 0.5 + 0.5 * erf(usmx.asarray(v * math.sqrt(0.5))).to_numpy()

        return price * distribution(up) - discounted * distribution(up - deviation)

    def warp_prices(a: _Arrays) -> Callable[[], None]:
        from kernels_of_warp import wp

        put = wp.zeros(m, dtype=wp.float32, device="cpu")
        return _warp("black_scholes", m, *a.warp, a.warp_out, put)

    yield _task(
        library,
        f"Black-Scholes kernel of {m:,}",
        lambda a: black_scholes[m](*a.device, a.device_out, put),
        a,
        prices,
        numba=lambda f, a=a: f.black_scholes(*a.numba, a.out, host_put),
        warp=warp_prices,
        numpy_as="NumPy with usmx's erf",
        with_dpnp=False,
        tolerance=1e-3,
    )


def _n_body(library: str, quick: bool) -> Iterator[Task | None]:
    m = 256 if quick else 4096
    a = _Arrays(_some((m, 3)), out=np.zeros((m, 3), np.float32))
    yield _task(
        library,
        f"n-body of {m}",
        lambda a: n_body[m, (GROUP,)](*a.device, a.device_out),
        a,
        _n_body_of_arrays,
        numba=lambda f, a=a: f.n_body(*a.numba, a.out),
        warp=lambda a: _warp("n_body", m, *a.warp, a.warp_out),
        tolerance=1e-3,
    )


def _matmul(library: str, quick: bool) -> Iterator[Task | None]:
    m = 64 if quick else 1024
    a = _Arrays(_some((m, m)), _some((m, m)), out=np.zeros((m, m), np.float32))
    yield _task(
        library,
        f"tiled matmul of {m} x {m}",
        lambda a: matmul[(m, m), (TILE, TILE)](*a.device, a.device_out),
        a,
        lambda xp, x, y: xp.matmul(x, y),
        numba=lambda f, a=a: f.matmul(*a.numba, a.out),
        warp=lambda a: _warp("matmul", (m, m), *a.warp, a.warp_out),
        numpy_as="NumPy (BLAS)",
        tolerance=1e-3,
    )


def tasks(library: str, quick: bool) -> Iterator[Task | None]:
    """All of them, one after the other, with small arrays in a quick run."""
    for some in (
        _saxpy, _convolution, _histograms, _scans, _mandelbrot, _black_scholes, _n_body, _matmul,
    ):  # fmt: skip
        yield from some(library, quick)


def check(task: Task) -> None:
    """A library gives what NumPy gives."""
    task.call()
    got = task.result()
    if task.tolerance < 0:
        assert np.mean(got != task.wanted) <= -task.tolerance, task.name
    else:
        np.testing.assert_allclose(
            got, task.wanted, rtol=task.tolerance, atol=task.tolerance, err_msg=task.name
        )


def sides(library: str, quick: bool) -> Iterator[Side | None]:
    """All tasks of a library."""
    for task in tasks(library, quick):
        if task is not None:
            check(task)
        yield Side(task.name, task.call, task.label) if task is not None else None


def run(effort: Effort) -> list[Result]:
    """Measure all of it.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    installed = [name for name, module in LIBRARIES.items() if importlib.util.find_spec(module)]
    effort = replace(effort, most_seconds=SECONDS_OF_A_CASE, seconds=effort.seconds * 10)
    return list(measure_apart("kernels", installed, [effort.quick], effort))


if __name__ == "__main__":
    main("kernels", __doc__, run)
