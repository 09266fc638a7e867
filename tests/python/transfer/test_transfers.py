"""Transfers between any two sides, waited for or not, give what NumPy gives, in the right order."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import itertools
import threading
import weakref

import dpctl
import dpctl.memory
import numpy as np
import pytest
from gate import Gate

import usmx
import usmx.memory as um

SIDES = ("device", "shared", "host", "numpy")


class Foreign:
    """An array of another library, which has only the protocol."""

    def __init__(self, array):
        self._array = array

    @property
    def __sycl_usm_array_interface__(self):
        return self._array.__sycl_usm_array_interface__


@pytest.mark.parametrize("in_order", [True, False])
def test_copies_that_follow_each_other_need_no_wait_between(kind, in_order):
    queue = usmx.Queue(usmx.Device(), in_order=in_order)
    numbers = np.arange(30000, dtype="i4")
    a = usmx.empty(30000, "i4", usm_type=kind, queue=queue)
    b = usmx.empty(30000, "i8", usm_type=kind, queue=queue)
    out = np.zeros(30000, "i8")
    usmx.copy_async(a, numbers)
    usmx.copy_async(b, a)
    usmx.copy_async(b[::2], a[::2])
    usmx.copy_async(out, b).wait()
    np.testing.assert_array_equal(out, numbers)
    usmx.fill_async(a, 5)
    usmx.copy(out, a)
    assert (out == 5).all()


def test_every_library_can_be_a_side(kind):
    numbers = np.arange(1000, dtype="f8")
    a = usmx.asarray(numbers, usm_type=kind)
    b = usmx.zeros(1000, "f8", usm_type=kind)
    usmx.copy(Foreign(b), Foreign(a))
    np.testing.assert_array_equal(b.to_numpy(), numbers)
    theirs = getattr(dpctl.memory, f"MemoryUSM{kind.title()}")(8000)
    usmx.copy(theirs, a)
    assert theirs.tobytes() == numbers.tobytes()
    usmx.fill(b, 0)
    usmx.copy_async(b, theirs).wait()
    np.testing.assert_array_equal(b.to_numpy(), numbers)


def test_memory_bytes_and_bytearray_hold_elements_of_any_type(kind):
    numbers = np.arange(24, dtype="f4").reshape(4, 6)
    memory = getattr(um, f"MemoryUSM{kind.title()}")(96)
    usmx.copy(memory, numbers.T)
    assert memory.tobytes() == numbers.T.tobytes()
    back = np.zeros((6, 4), "f4")
    usmx.copy(back[::-1], memory)
    np.testing.assert_array_equal(back[::-1], numbers.T)
    raw = bytearray(96)
    usmx.copy(raw, usmx.asarray(numbers, usm_type=kind)[:, ::-1])
    assert raw == numbers[:, ::-1].tobytes()
    usmx.copy(memory[8:16], bytes(range(8)))
    assert memory.tobytes()[8:16] == bytes(range(8))
    # Not aligned for its elements.
    usmx.copy(memory[1:9], np.arange(4, dtype="f8")[:1])
    assert memory.tobytes()[1:9] == np.zeros(1).tobytes()
    usmx.copy(memory[:0], b"")


def test_the_quick_way_takes_only_what_is_the_same(kind):
    """One dtype for another of the same size, or another shape, is not a plain run of bytes."""
    a = usmx.zeros(4, "f4", usm_type=kind)
    usmx.copy(a, np.arange(4, dtype="i4"))
    np.testing.assert_array_equal(a.to_numpy(), np.arange(4, dtype="f4"))
    usmx.copy(a, np.arange(4, dtype=">f4"))
    np.testing.assert_array_equal(a.to_numpy(), np.arange(4, dtype="f4"))
    ints = np.zeros(4, "i4")
    usmx.copy(ints, a)
    np.testing.assert_array_equal(ints, np.arange(4))
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        usmx.copy(a, np.zeros((2, 2), "f4"))
    for letter in "bBhHiIlLqQefd?FD":
        numbers = np.arange(4).astype(letter)
        b = usmx.zeros(4, letter, usm_type=kind)
        usmx.copy(b, numbers)
        back = np.zeros(4, letter)
        usmx.copy(back, b)
        np.testing.assert_array_equal(back, numbers)


@pytest.mark.parametrize(
    ("dst", "src", "error", "words"),
    [
        (lambda: np.zeros(3), lambda: usmx.zeros(4), ValueError, r"src: .*\(4,\).*dst.*\(3,\)"),
        (lambda: b"abc", lambda: usmx.zeros(3, "u1"), usmx.InteropError, "dst: bytes is read-only"),
        (lambda: usmx.zeros(3), lambda: [1, 2, 3], TypeError, "src: .*list.*buffer"),
        (lambda: 3, lambda: usmx.zeros(3), TypeError, "dst: 3 .*buffer"),
        (lambda: um.MemoryUSMShared(4), lambda: b"abc", ValueError, "3 bytes.*4"),
        (lambda: np.zeros(3, ">f4"), lambda: usmx.zeros(3, "f4"), ValueError, "byte-swapped"),
    ],
)
def test_an_error_names_the_side(dst, src, error, words):
    for transfer in (usmx.copy, usmx.copy_async):
        with pytest.raises(error, match=words):
            transfer(dst(), src())


def test_a_read_only_destination_is_refused(kind):
    a = usmx.zeros(4, usm_type=kind)
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    with pytest.raises(usmx.InteropError, match=r"dst: numpy\.ndarray is read-only"):
        usmx.copy(frozen, a)
    locked = um.as_usm_memory(a).as_readonly()
    for transfer in (usmx.copy, usmx.copy_async):
        with pytest.raises(usmx.InteropError, match=r"dst: .*read-only"):
            transfer(locked, bytes(a.nbytes))
    for change in (usmx.fill, usmx.fill_async, usmx.memset, usmx.memset_async):
        with pytest.raises(usmx.InteropError, match=r"dst: .*read-only"):
            change(locked, 1)


def test_the_queue_must_reach_a_side():
    other = usmx.Queue(usmx.Context([usmx.Device()]))
    a, b = usmx.zeros(4, usm_type="device"), usmx.zeros(4, usm_type="device")
    with pytest.raises(ValueError, match=r"queue: .*another context"):
        usmx.copy(a, b, queue=other)
    with pytest.raises(ValueError, match="queue: its context is not that of the memory"):
        usmx.fill(a, 1, queue=other)
    with pytest.raises(TypeError, match="depends_on: "):
        usmx.copy(a, b, depends_on=7)
    with pytest.raises(TypeError, match="depends_on: "):
        usmx.copy_async(a, b, depends_on=[usmx.Event(), "x"])


def test_another_context_is_reached_through_the_host():
    other = usmx.Queue(usmx.Context([usmx.Device()]))
    numbers = np.arange(5000, dtype="i4")
    for to, source in itertools.product(SIDES[:3], SIDES[:3]):
        a = usmx.asarray(numbers, usm_type=source)
        b = usmx.zeros(5000, "f4", usm_type=to, queue=other)
        usmx.copy(b[::-1], a)
        np.testing.assert_array_equal(b.to_numpy(), numbers[::-1])
        usmx.copy_async(a, b).wait()
        np.testing.assert_array_equal(a.to_numpy(), numbers[::-1])


@pytest.mark.parametrize("in_order", [True, False])
def test_depends_on_takes_events_of_usmx_and_dpctl(kind, in_order):
    busy = usmx.Queue(usmx.Device(), in_order=True)
    queue = usmx.Queue(usmx.Device(), in_order=in_order)
    first = usmx.zeros(30000, "i4", usm_type="device", queue=busy)
    dst = usmx.zeros(30000, "i4", usm_type=kind, queue=queue)
    usmx.copy_async(dst, dst[::-1]).wait()
    source = np.arange(30000, dtype="i4")
    for ask in (
        lambda e: e,
        lambda e: [usmx.Event(), e],
        lambda e: dpctl.SyclEvent(e._get_capsule()),
    ):
        with Gate(busy):
            pending = usmx.fill_async(first, 1)
            copied = usmx.copy_async(dst, source, depends_on=ask(pending))
            filled = usmx.fill_async(dst, 3, depends_on=ask(pending))
            fetched = usmx.prefetch_async(dst, depends_on=ask(pending))
            assert not any(e.is_done for e in (pending, copied, filled, fetched))
        usmx.Event.wait_for([copied, filled, fetched])
        assert (dst.to_numpy() == 3).all()


def test_a_kernel_waits_for_a_copy_on_a_third_queue(kind):
    third = usmx.Queue(usmx.Device(), in_order=True)
    queue = usmx.Queue(usmx.Device(), in_order=True)
    twice = usmx.RawKernel("USMX_KERNEL(1) twice(int* x) { x[usmx::global_id()] *= 2; }", "twice")
    x = usmx.ones(30000, "i4", usm_type=kind, queue=queue)
    twice[30000](x).wait()
    with Gate(third):
        usmx.copy_async(x, np.full(30000, 21, "i4"), queue=third)
        doubled = twice[30000](x)
        assert not doubled.is_done
    doubled.wait()
    assert (x.to_numpy() == 42).all()


def test_everything_may_be_dropped_while_the_copy_waits(kind):
    queue = usmx.Queue(usmx.Device(), in_order=True)
    numbers = np.arange(30000, dtype="i4")
    result = usmx.zeros(30000, "i4", usm_type="device", queue=queue)
    with Gate(queue):
        src = numbers.copy()
        middle = usmx.empty(30000, "i4", usm_type=kind, queue=queue)
        usmx.copy_async(middle, src)
        usmx.copy_async(result, middle)
        gone = weakref.ref(src)
        del src, middle
        gc.collect()
        np.full(30000, -1, "i4")  # would be where the source was
        assert gone() is not None
    np.testing.assert_array_equal(result.to_numpy(), numbers)
    usmx._usmx._Testing.collect()
    gc.collect()
    assert gone() is None


def test_a_buffer_stays_exported_until_the_copy_has_ended():
    queue = usmx.Queue(usmx.Device(), in_order=True)
    memory = um.MemoryUSMDevice(30000, queue=queue)
    for make in (
        lambda raw: usmx.copy_async(memory, raw),
        lambda raw: usmx.copy_async(raw, memory),
    ):
        raw = bytearray(30000)
        with Gate(queue):
            copied = make(raw)
            with pytest.raises(BufferError):
                raw.append(0)
        copied.wait()
        raw.append(0)  # waiting for it gave the buffer back


def test_fill_sets_the_bytes_of_memory(kind):
    memory = getattr(um, f"MemoryUSM{kind.title()}")(16)
    usmx.fill(memory, 255)
    assert memory.tobytes() == b"\xff" * 16


def test_fill_and_memset_refuse_what_does_not_fit():
    a = usmx.zeros(4, "i1")
    with pytest.raises(OverflowError):
        usmx.fill(a, 1000)
    with pytest.raises(ValueError, match="value: 300"):
        usmx.memset(a, 300)
    for dtype in ("i4", "f4", "c8", "bfloat16"):
        with pytest.raises(TypeError, match=r"^value: 'a' \(str\); expected a (real )?number"):
            usmx.fill(usmx.zeros(4, dtype), "a")

    class Broken:
        def __float__(self):
            raise TypeError("mine")

    for dtype in ("f4", "c8"):
        with pytest.raises(TypeError, match=r"^mine$"):
            usmx.fill(usmx.zeros(4, dtype), Broken())
    with pytest.raises(um.NotUSMError, match="dst: "):
        usmx.fill(np.zeros(3), 1)
    with pytest.raises(um.NotUSMError, match="obj: "):
        usmx.prefetch(np.zeros(3))
    with pytest.raises(ValueError, match="advice: -1"):
        usmx.mem_advise(a, -1)


def test_prefetch_and_advice_leave_the_elements_alone(kind):
    a = usmx.arange(30000, dtype="i4", usm_type=kind)
    usmx.prefetch(a)
    usmx.prefetch_async(a[::2]).wait()
    usmx.mem_advise(a, 0)
    usmx.mem_advise_async(a, 0).wait()
    np.testing.assert_array_equal(a.to_numpy(), np.arange(30000))


@pytest.mark.parametrize("source", SIDES)
def test_pitched_rows(kind, source):
    rows = np.arange(400, dtype="u1").reshape(20, 20)
    src = rows if source == "numpy" else usmx.asarray(rows, usm_type=source)
    memory = getattr(um, f"MemoryUSM{kind.title()}")(300)
    for submit in (usmx.copy_2d, lambda *a: usmx.copy_2d_async(*a).wait()):
        usmx.fill(memory, 0)
        submit(memory, 13, src, 20, 7, 20)
        expected = np.zeros(300, "u1")
        for r in range(20):
            expected[13 * r : 13 * r + 7] = rows[r, :7]
        assert memory.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="rows: 24"):
        usmx.copy_2d(memory, 13, src, 16, 7, 24)
    with pytest.raises(ValueError, match="pitch: 6"):
        usmx.copy_2d(memory, 6, src, 20, 7, 2)
    with pytest.raises(ValueError, match="width: -7"):
        usmx.copy_2d(memory, 13, src, 20, -7, 2)


@pytest.mark.parametrize("blocks", [2, 3])
def test_staging_moves_the_same_elements(blocks):
    numbers = np.arange(60000, dtype="i4").reshape(200, 300)
    a = usmx.empty((200, 300), "i4", usm_type="device")
    usmx._usmx._Testing.set_staging((5000, 1000, blocks))
    try:
        for src in (numbers, np.asfortranarray(numbers), numbers.astype("f8"), numbers[:, ::-1]):
            usmx.fill(a, -1)
            usmx.copy(a, src)
            out = np.zeros((200, 300), src.dtype)
            usmx.copy(out, a)
            np.testing.assert_array_equal(out, src)
            out = np.zeros((300, 200), "i8")
            usmx.copy(out.T, a)
            np.testing.assert_array_equal(out.T, src)
    finally:
        usmx._usmx._Testing.set_staging(None)


def test_threads_copy_at_once():
    shared_queue = usmx.Queue(usmx.Device(), in_order=True)
    wrong = []

    def work(number):
        queue = shared_queue if number % 2 else usmx.Queue(usmx.Device(), in_order=True)
        a = usmx.empty(6000, "i4", usm_type="device", queue=queue)
        out = np.empty(6000, "i4")
        for round_number in range(15):
            expected = 100 * number + round_number
            usmx.copy_async(a, np.full(6000, expected, "i4"))
            usmx.copy_async(out, a).wait()
            if not (out == expected).all():
                wrong.append((number, round_number))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
