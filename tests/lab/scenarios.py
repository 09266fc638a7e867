"""What usmx promises, in small programs that check their own data: run while calls fail."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np

import usmx
import usmx.memory as um

ALL: dict[str, Callable[[], None]] = {}


class WrongDataError(BaseException):
    """Worse than any exception of usmx, and so none of theirs."""


def scenario(run: Callable[[], None]) -> Callable[[], None]:
    ALL[run.__name__] = run
    return run


def same(got: object, expected: object) -> None:
    if isinstance(expected, np.ndarray):
        right = np.array_equal(np.asarray(got), expected)
    else:
        right = got == expected
    if not right:
        raise WrongDataError(f"{got!r} is not {expected!r}")


class Producer:
    def __init__(self, interface: dict[str, object]) -> None:
        self.__sycl_usm_array_interface__ = interface


KINDS = (um.MemoryUSMDevice, um.MemoryUSMShared, um.MemoryUSMHost)


@scenario
def memory_is_allocated_and_freed() -> None:
    for kind in KINDS:
        with kind(1000) as m:
            same(len(m), 1000)
        same(kind(10, alignment=4096)._pointer % 4096, 0)
        same(kind(0).nbytes, 0)
        same(kind(5_000_000).nbytes, 5_000_000)  # more than a pool takes at once


@scenario
def memory_is_copied() -> None:
    data = bytes(range(256)) * 16
    for kind in KINDS:
        m = kind(4096)
        m.copy_from_host(data)
        same(bytes(m.copy_to_host()), data)
        out = bytearray(4096)
        m.copy_to_host(out)
        same(bytes(out), data)
        for other in KINDS:
            n = other(4096)
            n.copy_from_device(m)
            same(n.tobytes(), data)
        m.memset(7)
        same(m.tobytes(), b"\x07" * 4096)
        same(m[16:64].tobytes(), b"\x07" * 48)
        m[16:32].memset(9)
        same(m.tobytes()[15:33], b"\x07" + b"\x09" * 16 + b"\x07")


@scenario
def memory_is_exchanged() -> None:
    data = bytes(range(200))
    for kind in KINDS:
        m = kind(200)
        m.copy_from_host(data)
        n = um.as_usm_memory(Producer(m.__sycl_usm_array_interface__))
        same(n._pointer, m._pointer)
        same(n.tobytes(), data)
        copied = kind(m, copy=True)
        m.memset(0)
        same(copied.tobytes(), data)


@scenario
def memory_of_dpctl_is_exchanged() -> None:
    import dpctl.memory as dm

    data = bytes(range(100))
    for make in (dm.MemoryUSMDevice, dm.MemoryUSMShared, dm.MemoryUSMHost):
        try:
            theirs = make(100)
        except Exception as error:  # a failure of dpctl's is not judged
            raise RuntimeError(f"dpctl: {error}") from error
        ours = um.as_usm_memory(theirs)
        ours.copy_from_host(data)
        same(ours.tobytes(), data)
        same(ours._pointer, theirs._pointer)


@scenario
def arrays_are_created() -> None:
    for kind in ("device", "shared", "host"):
        same(usmx.zeros((3, 4), "i4", usm_type=kind).to_numpy(), np.zeros((3, 4), "i4"))
        same(usmx.full(5, 2.5, "f8", usm_type=kind).to_numpy(), np.full(5, 2.5))
        same(usmx.arange(7, usm_type=kind).to_numpy(), np.arange(7))
        numbers = np.arange(24, dtype="f4").reshape(4, 6)
        same(usmx.from_numpy(numbers, usm_type=kind).to_numpy(), numbers)
        same(usmx.asarray(numbers.T, usm_type=kind).to_numpy(), numbers.T)
        same(usmx.empty((0, 3), usm_type=kind).to_numpy().shape, (0, 3))


@scenario
def arrays_are_copied() -> None:
    numbers = np.arange(60, dtype="i4").reshape(6, 10)
    for kind in ("device", "shared", "host"):
        a = usmx.asarray(numbers, usm_type=kind)
        same(a.copy().to_numpy(), numbers)
        same(a[::-2, 1::3].copy().to_numpy(), numbers[::-2, 1::3])
        same(a.T.astype("f8").to_numpy(), numbers.T.astype("f8"))
        same(a.to_host().to_numpy(), numbers)
        same(a.to_device(usmx.Queue(usmx.Device())).to_numpy(), numbers)
        b = usmx.zeros((6, 10), "i4", usm_type=kind)
        b[2:4] = a[2:4]
        b[0, 0] = 9
        expected = np.zeros((6, 10), "i4")
        expected[2:4] = numbers[2:4]
        expected[0, 0] = 9
        same(b.to_numpy(), expected)
        same("59" in repr(a), True)


@scenario
def arrays_are_exchanged() -> None:
    numbers = np.arange(60, dtype="i4").reshape(6, 10)
    for kind in ("device", "shared", "host"):
        a = usmx.asarray(numbers, usm_type=kind)
        b = usmx.asarray(Producer(a[::-1].__sycl_usm_array_interface__))
        same(b.to_numpy(), numbers[::-1])
        b[1:3] = 0
        same(a.to_numpy()[3:5].any(), np.False_)


@scenario
def kernels_are_launched() -> None:
    axpy = usmx.RawKernel(
        """
        USMX_KERNEL(1) axpy(float a, const float* x, float* y) {
          auto i = usmx::global_id();
          y[i] += a * x[i];
        }
        """,
        "axpy",
    )
    for kind in ("device", "shared", "host"):
        x = usmx.arange(100, dtype="f4", usm_type=kind)
        y = usmx.ones(100, "f4", usm_type=kind)
        axpy[100](2.0, x, y)
        axpy[100](1.0, x, y).wait()
        same(y.to_numpy(), 3 * np.arange(100, dtype="f4") + 1)


@scenario
def queues_are_made() -> None:
    for in_order in (True, False):
        q = usmx.Queue(usmx.Device(), in_order=in_order)
        m = um.MemoryUSMDevice(64, queue=q)
        m.memset(3)
        q.wait()
        same(m.tobytes(), b"\x03" * 64)


@scenario
def blocks_come_and_go() -> None:
    sizes = (1, 64, 1000, 5000, 70_000, 1_500_000)
    for kind in KINDS:
        blocks = [(kind(size), k + 1) for k, size in enumerate(sizes)]
        for m, value in blocks:
            m.memset(value)
        del blocks[::2]  # what comes next may lie there
        for k, size in enumerate(sizes):
            m = kind(size)
            m.memset(100 + k)
            blocks.append((m, 100 + k))
        for m, value in blocks:
            same(m.tobytes(), bytes([value]) * m.nbytes)


@scenario
def a_trace_is_recorded() -> None:
    um.record_history()
    try:
        with usmx.trace() as t:
            a = usmx.asarray(np.arange(100, dtype="f4"), usm_type="device")
            same(a.copy().to_numpy(), np.arange(100, dtype="f4"))
            with usmx.expect_zero_copy():
                b = usmx.asarray(Producer(a.__sycl_usm_array_interface__))
            same(b.pointer, a.pointer)
        same(t.summary().bytes_copied, 1200)
        same(t.summary().failed, 0)
        same(any(size == 400 for _, size, _ in um.snapshot().owners), True)
    finally:
        um.record_history(False)


@scenario
def transfers_are_submitted() -> None:
    numbers = np.arange(6000, dtype="i4").reshape(60, 100)
    for in_order in (True, False):
        q = usmx.Queue(usmx.Device(), in_order=in_order)
        for kind in ("device", "shared", "host"):
            a = usmx.empty((60, 100), "i4", usm_type=kind, queue=q)
            b = usmx.empty((100, 60), "f8", usm_type=kind, queue=q)
            usmx.copy_async(a, numbers)
            usmx.copy_async(b, a.T)
            out = np.zeros((100, 60), "i8")
            usmx.copy_async(out, b).wait()
            same(out, numbers.T)
            usmx.fill_async(a[::2], 7)
            usmx.memset_async(a[1::2], 1)
            usmx.prefetch_async(a)
            usmx.copy(out, a.T)
            same(out[:, 0::2].min() == 7 and out[:, 1::2].max() == 0x01010101, True)
            usmx.copy_2d(a, 400, numbers, 400, 200, 60)
            same(a[:, :50].to_numpy(), numbers[:, :50])


@scenario
def large_copies_are_staged() -> None:
    numbers = np.arange(600, dtype="i4").reshape(20, 30)
    usmx._usmx._Testing.set_staging((1500, 900, 2))
    try:
        a = usmx.empty((20, 30), "i4", usm_type="device")
        for src in (numbers, np.asfortranarray(numbers)):
            usmx.copy(a, src)
            out = np.zeros_like(src)
            usmx.copy(out, a)
            same(out, src)
    finally:
        usmx._usmx._Testing.set_staging(None)


@scenario
def elements_are_copied_between_any_two() -> None:
    numbers = np.arange(48, dtype="f4").reshape(6, 8)
    kinds = ("device", "shared", "host")
    for kind in kinds:
        a = usmx.asarray(numbers, usm_type=kind)
        for other in kinds:
            b = usmx.empty((6, 8), "f4", usm_type=other)
            usmx.copy(b, a)
            same(b.to_numpy(), numbers)
        turned = usmx.empty((8, 6), "i4", usm_type=kind)
        usmx.copy(turned.T, a)
        same(turned.to_numpy(), numbers.T.astype("i4"))
        out = np.empty((3, 4), "f8")
        usmx.copy(out, a[::2, 1::2])
        same(out, numbers[::2, 1::2].astype("f8"))
        usmx.copy(a[1:], a[:-1])  # over itself
        same(a.to_numpy(), numbers[[0, 0, 1, 2, 3, 4]])


@scenario
def transfers_are_waited_for_later() -> None:
    numbers = np.arange(5000, dtype="i4")
    for kind in ("device", "shared", "host"):
        a = usmx.empty(5000, "i4", usm_type=kind)
        b = usmx.empty(5000, "i4", usm_type="device")
        out = np.zeros(5000, "i4")
        into = usmx.copy_async(a, numbers)
        over = usmx.copy_async(b, a, depends_on=[into])
        filled = usmx.fill_async(a, 7, depends_on=[over])
        back = usmx.copy_async(out, b, depends_on=[over])
        bytes_set = usmx.memset_async(a[:100], 1, depends_on=[filled])
        for event in (into, over, filled, back, bytes_set):
            event.wait()
        same(out, numbers)
        same(a.to_numpy(), np.r_[np.full(100, 0x01010101), np.full(4900, 7)].astype("i4"))


@scenario
def transfers_outlive_their_arrays() -> None:
    numbers = np.arange(5000, dtype="i4")
    out = np.zeros(5000, "i4")
    a = usmx.empty(5000, "i4", usm_type="device")
    usmx.copy_async(a, numbers)
    b = usmx.empty(5000, "i4", usm_type="device")
    usmx.copy_async(b, a)
    last = usmx.copy_async(out, b)
    del a, b
    kept = usmx.full(5000, 3, "i4", usm_type="device")  # may lie where they lay
    last.wait()
    same(out, numbers)
    same(kept.to_numpy(), np.full(5000, 3, "i4"))


@scenario
def rows_are_copied_with_pitches() -> None:
    source = np.arange(60, dtype="u1")
    for kind in ("device", "shared", "host"):
        a = usmx.asarray(source, usm_type=kind)
        b = usmx.zeros(60, "u1", usm_type=kind)
        usmx.copy_2d(b, 20, a, 12, 10, 3)
        expected = np.zeros(60, "u1")
        for row in range(3):
            expected[row * 20 : row * 20 + 10] = source[row * 12 : row * 12 + 10]
        same(b.to_numpy(), expected)


@scenario
def large_memory_is_staged() -> None:
    numbers = np.arange(30_000, dtype="i4")
    usmx._usmx._Testing.set_staging((1 << 14, 1 << 13, 3))
    try:
        a = usmx.empty(30_000, "i4", usm_type="device")
        usmx.copy(a, numbers)
        out = np.zeros(30_000, "i4")
        usmx.copy(out, a)
        same(out, numbers)
    finally:
        usmx._usmx._Testing.set_staging(None)


@scenario
def memory_is_moved_ahead() -> None:
    a = usmx.zeros(5000, "i4", usm_type="shared")
    usmx.prefetch(a)
    usmx.mem_advise(a, 0)
    usmx.fill(a, 5)
    same(a.to_numpy(), np.full(5000, 5, "i4"))


@scenario
def resources_stand_on_each_other() -> None:
    for memory, kind in zip(KINDS, ("device", "shared", "host"), strict=True):
        pool = um.PoolResource(um.UsmResource(kind), most=1 << 25)
        counted = um.StatisticsResource(pool)
        with um.using(counted):
            blocks = [memory(size) for size in (10, 5000, 300_000)]
            for k, m in enumerate(blocks):
                m.memset(k)
            try:
                memory(1 << 26)
            except MemoryError as error:
                same("may hold" in str(error) or "simulated" in str(error), True)
            for k, m in enumerate(blocks):
                same(m.tobytes(), bytes([k]) * m.nbytes)
            del blocks, m
        usmx._usmx._Testing.drain()
        same(counted.stats()["blocks"], 0)
        pool.trim()
        same(pool.stats()["held"], 0)


@scenario
def memory_is_found_by_giving_some_back() -> None:
    for memory, kind in zip(KINDS, ("device", "shared", "host"), strict=True):
        upstream = um.LimitingResource(um.UsmResource(kind), 100_000)
        hoard = [upstream.allocate(60_000)]

        def give_back(_: int, hoard: list[object] = hoard) -> bool:
            return bool(hoard) and hoard.pop() is not None

        with um.using(um.FailureCallbackResource(upstream, give_back)):
            m = memory(70_000)
        m.memset(4)
        same(m.tobytes(), b"\x04" * 70_000)


def everything() -> None:
    """All of the above, for a process that does it once."""
    for run in ALL.values():
        run()
