"""Memory lives exactly as long as objects, other libraries or running commands need it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import importlib
import pickle
import random
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import dpctl
import dpctl.memory
import numpy as np
import psutil
import pytest
from gate import Gate, collect_all

import usmx
from usmx import _usmx
from usmx import memory as um

CLASSES = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}
THEIRS = {
    "device": dpctl.memory.MemoryUSMDevice,
    "shared": dpctl.memory.MemoryUSMShared,
    "host": dpctl.memory.MemoryUSMHost,
}


@pytest.fixture
def own_queue() -> Iterator[usmx.Queue]:
    """An in-order queue of this test alone; nothing of it is left waiting."""
    collect_all()
    yield usmx.Queue(dpctl.SyclQueue(property="in_order"))
    _usmx._Testing.drain()
    assert _usmx._Testing.collect() == 0


def is_usm(address: int, queue: usmx.Queue) -> bool:
    return um.get_usm_type(address, queue) != "unknown"


# --- work that is still running ------------------------------------------------------------------


@pytest.mark.parametrize("end", ["del", "free", "with"])
def test_memory_outlives_a_command_of_dpctl_on_it(
    kind: str, end: str, own_queue: usmx.Queue
) -> None:
    theirs = dpctl.SyclQueue(own_queue._get_capsule())
    result = dpctl.memory.MemoryUSMShared(1 << 20, queue=theirs)
    ours = CLASSES[kind](1 << 20, queue=own_queue)
    ours.memset(7)
    address = ours._pointer
    with Gate(own_queue) as gate:
        seen = dpctl.memory.as_usm_memory(ours)
        event = theirs.memcpy_async(result, seen, 1 << 20)
        del seen
        if end == "free":
            ours.free()
        elif end == "with":
            with ours:
                pass
        else:
            del ours
        assert _usmx._Testing.collect() == 1
        assert is_usm(address, own_queue)
        gate.open()
        event.wait()
    _usmx._Testing.drain()
    assert not is_usm(address, own_queue)
    assert result.tobytes() == b"\7" * (1 << 20)


def test_foreign_memory_is_held_while_our_commands_run(own_queue: usmx.Queue) -> None:
    theirs = dpctl.memory.MemoryUSMDevice(64, queue=dpctl.SyclQueue(own_queue._get_capsule()))
    before = sys.getrefcount(theirs)
    target = dpctl.memory.MemoryUSMShared(64, queue=theirs.sycl_queue)
    ours = um.as_usm_memory(theirs)
    assert ours._pointer == theirs._pointer  # the address is out: commands may follow
    with Gate(own_queue) as gate:
        theirs.sycl_queue.memcpy_async(target, theirs, 64)
        del ours
        assert sys.getrefcount(theirs) == before + 1
        gate.open()
    own_queue.wait()
    assert _usmx._Testing.collect() == 0
    assert sys.getrefcount(theirs) == before


def test_allocations_find_what_has_become_free(own_queue: usmx.Queue) -> None:
    theirs = dpctl.SyclQueue(own_queue._get_capsule())
    addresses = []
    with Gate(own_queue) as gate:
        target = dpctl.memory.MemoryUSMShared(4096, queue=theirs)
        for _ in range(20):
            ours = um.MemoryUSMDevice(4096, queue=own_queue)
            seen = dpctl.memory.as_usm_memory(ours)
            addresses.append(seen._pointer)
            theirs.memcpy_async(target, seen, 4096)
            del ours, seen
        assert all(is_usm(address, own_queue) for address in addresses)
        gate.open()
    own_queue.wait()
    for _ in range(20):
        um.MemoryUSMHost(1)
    assert _usmx._Testing.collect() == 0


def test_the_host_sees_memory_only_after_the_work_on_it(own_queue: usmx.Queue) -> None:
    theirs = dpctl.SyclQueue(own_queue._get_capsule())
    ours = um.MemoryUSMShared(1 << 20, queue=own_queue)
    source = dpctl.memory.MemoryUSMDevice(1 << 20, queue=theirs)
    source.memset(5)
    for look in (
        lambda: bytes(memoryview(ours)),
        ours.tobytes,
        lambda: np.asarray(ours).tobytes(),
        lambda: ours.copy_to_host().tobytes(),
        lambda: np.array(np.asarray(type("", (), ours_interface(ours)))).tobytes(),
    ):
        ours.memset(0)
        with Gate(own_queue) as gate:
            theirs.memcpy_async(dpctl.memory.as_usm_memory(ours), source, 1 << 20)
            timer = threading.Timer(0.02, gate.open)
            timer.start()
            assert look() == b"\5" * (1 << 20)
            timer.join()


def ours_interface(memory: Any) -> dict[str, Any]:
    return {"__array_interface__": memory.__array_interface__}


# --- references ----------------------------------------------------------------------------------


def test_reference_counts_are_constant(kind: str) -> None:
    theirs, ours = THEIRS[kind](64), CLASSES[kind](64)
    uses: list[Callable[[], Any]] = [
        lambda: um.as_usm_memory(theirs),
        lambda: um.as_usm_memory(theirs)[3:],
        lambda: CLASSES[kind](theirs),
        lambda: CLASSES[kind](theirs, copy=True),
        lambda: ours[1:],
        ours.as_readonly,
        lambda: um.as_usm_memory(ours),
        lambda: dpctl.memory.as_usm_memory(ours),
        lambda: THEIRS[kind](ours),
        lambda: ours.copy_from_device(theirs),
        lambda: ours.copy_from_host(b"abc"),
        lambda: ours.__sycl_usm_array_interface__,
        lambda: ours.queue,
        lambda: um.get_usm_type(ours._pointer, theirs.sycl_queue),
    ]
    counted = [theirs, ours, type(ours), theirs.sycl_queue, um.NotUSMError]
    for use in uses:
        use()
        gc.collect()
        before = [sys.getrefcount(o) for o in counted]
        for _ in range(100):
            use()
        assert [sys.getrefcount(o) for o in counted] == before


def test_errors_keep_nothing_alive(kind: str) -> None:
    ours = CLASSES[kind](64)
    before = sys.getrefcount(ours)
    for _ in range(50):
        for wrong in (
            lambda: ours[::2],
            lambda: ours.memset(300),
            lambda: ours.copy_from_host(bytes(65)),
            lambda: ours.copy_from_device(5),
            lambda: um.MemoryUSMShared(8, queue=5),
            lambda: CLASSES[kind](ours, queue=object()),
            lambda: ours.copy_to_host(bytearray(1)),
        ):
            with pytest.raises((ValueError, TypeError)):
                wrong()
    assert sys.getrefcount(ours) == before


@pytest.mark.parametrize("seed", range(20))
def test_owners_and_users_go_in_any_order(kind: str, seed: int) -> None:
    theirs = THEIRS[kind](64)
    theirs.memset(3)
    ours = CLASSES[kind](64)
    ours.memset(4)
    chain = [
        (theirs, b"\3"),
        (ours, b"\4"),
        (um.as_usm_memory(theirs), b"\3"),
        (dpctl.memory.as_usm_memory(um.as_usm_memory(theirs)), b"\3"),
        (ours[8:], b"\4"),
        (dpctl.memory.as_usm_memory(ours[8:][8:]), b"\4"),
        (um.as_usm_memory(dpctl.memory.as_usm_memory(ours)), b"\4"),
    ]
    if kind != "device":
        chain.append((np.asarray(ours[4:]), b"\4"))
        chain.append((np.asarray(um.as_usm_memory(theirs)), b"\3"))
    del theirs, ours
    random.Random(seed).shuffle(chain)
    while chain:
        chain.pop()
        gc.collect()
        for user, byte in chain:
            data = user.tobytes()
            assert data == byte * len(data)


def test_the_lender_is_let_go_with_the_last_user() -> None:
    class Lender:
        """An object of another library with its own memory."""

        def __init__(self) -> None:
            self.memory = dpctl.memory.MemoryUSMShared(16)
            self.__sycl_usm_array_interface__ = self.memory.__sycl_usm_array_interface__

    lender = Lender()
    alive = weakref.ref(lender)
    memory = um.as_usm_memory(lender)
    view = memory[4:]
    assert memory.reference_obj is lender
    del lender
    assert alive() is not None
    del memory
    assert alive() is not None
    del view
    assert alive() is None


# --- many ----------------------------------------------------------------------------------------


def grown_bytes(work: Callable[[], object], rounds: int) -> int:
    """How much the process grew in the second half of `rounds` calls."""
    process = psutil.Process()
    for _ in range(rounds // 2):
        work()
    gc.collect()
    before = process.memory_info().rss
    for _ in range(rounds // 2):
        work()
    gc.collect()
    return int(process.memory_info().rss - before)


def test_a_hundred_thousand_allocations_leave_nothing(kind: str) -> None:
    cls = CLASSES[kind]
    # One lost block of 4096 bytes a round would be 200 MB.
    assert grown_bytes(lambda: cls(4096), 100_000) < 8 << 20


def test_a_hundred_thousand_exchanges_leave_nothing() -> None:
    theirs, ours = dpctl.memory.MemoryUSMShared(64), um.MemoryUSMShared(64)

    def exchange() -> None:
        um.as_usm_memory(theirs)[8:]
        dpctl.memory.as_usm_memory(ours[8:])
        memoryview(ours)

    assert grown_bytes(exchange, 100_000) < 8 << 20


def test_ten_thousand_failures_leave_nothing() -> None:
    def fail() -> None:
        for wrong in (lambda: um.MemoryUSMShared(1 << 46), lambda: um.MemoryUSMShared("8")):
            with pytest.raises((MemoryError, TypeError)):
                wrong()

    assert grown_bytes(fail, 10_000) < 8 << 20


def test_eight_threads(kind: str) -> None:
    theirs = THEIRS[kind](4096)
    theirs.memset(9)
    before = sys.getrefcount(theirs)
    failures: list[object] = []

    def work(number: int) -> None:
        try:
            for k in range(100):
                memory = CLASSES[kind](1 + (number * 7919 + k * 104729) % 5000)
                memory.memset(number)
                view = memory[len(memory) // 2 :]
                del memory
                assert view.tobytes() == bytes([number]) * len(view)
                assert um.as_usm_memory(theirs)[-5:].tobytes() == b"\t" * 5
                with CLASSES[kind](theirs, copy=True) as copied:
                    assert copied.tobytes()[:3] == b"\t\t\t"
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _usmx._Testing.drain()
    assert failures == []
    assert sys.getrefcount(theirs) == before


# --- the end of the interpreter ------------------------------------------------------------------

EXITS = {
    "alive": "keep = m, view, borrowed, dm.as_usm_memory(m), memoryview(m)",
    "cycle": "c = [m, view, borrowed]; c.append(c); del m, view, borrowed",
    "global function": "def f(a=m, b=view, c=borrowed): pass",
    "thread": "import threading; threading.Thread(target=lambda a: a.tobytes(), args=(m,)).start()",
    "daemon": (
        "import threading, time\n"
        "def work():\n"
        "    while True: um.MemoryUSMShared(m).tobytes(); um.as_usm_memory(theirs)\n"
        "threading.Thread(target=work, daemon=True).start(); time.sleep(0.05)"
    ),
    "atexit": "import atexit; atexit.register(lambda: um.MemoryUSMShared(8).memset(1))",
    "early atexit": "",
    "exit in del": (
        "class A:\n    def __del__(self, um=um): self.x = um.MemoryUSMShared(8)\na = A()"
    ),
    "sys.exit": "import sys; sys.exit(0)",
}


@pytest.mark.parametrize("way", EXITS)
def test_interpreter_exits_cleanly(way: str, run_python: Callable[..., Any]) -> None:
    code = (
        "import atexit\n"
        + ("late = []; atexit.register(lambda: late.clear())\n" if way == "early atexit" else "")
        + "import usmx, dpctl.memory as dm\n"
        "from usmx import memory as um\n"
        "theirs = dm.MemoryUSMShared(1 << 16)\n"
        "m = um.MemoryUSMShared(1 << 16); view = m[8:]; borrowed = um.as_usm_memory(theirs)\n"
        + ("late += [m, view, borrowed]; del m, view, borrowed\n" if way == "early atexit" else "")
        + EXITS[way]
    )
    result = run_python(code)
    if way == "daemon":  # it still holds its objects, and nanobind says so
        assert not result.stderr or result.stderr.startswith("nanobind: leaked")
    else:
        assert result.stderr == ""


@pytest.mark.parametrize("gone", ["ours", "kept"])
def test_exit_while_work_is_running(gone: str, run_python: Callable[..., Any]) -> None:
    code = f"""
        import usmx, dpctl, dpctl.memory as dm
        from usmx import memory as um
        q = dpctl.SyclQueue(property="in_order")
        size = 64 << 20
        ours = um.MemoryUSMShared(size, queue=q)
        target = dm.MemoryUSMShared(size, queue=q)
        for _ in range(20):
            q.memcpy_async(target, dm.as_usm_memory(ours), size)
        if {gone == "ours"}:
            del ours
        print("end")
    """
    result = run_python(code)
    assert result.stdout == "end\n"
    assert result.stderr == ""


@pytest.mark.parametrize("look", ["pointer", "_pointer", "__usm_ndarray__"])
def test_an_address_that_was_read_leaves_the_last_command_known(
    own_queue: usmx.Queue, look: str
) -> None:
    importlib.import_module("dpnp")  # without it there is no view for it
    x = usmx.zeros(1000, dtype="f4", usm_type="device", queue=own_queue)
    for _ in range(2):  # the view for dpnp is kept, and handed out again
        getattr(x, look)
    usmx.fill(x, 1)
    # The queue is busy, the array is not: an export must not wait for what it does not need.
    exported = threading.Event()

    def export() -> None:
        assert x.__sycl_usm_array_interface__["shape"] == (1000,)
        exported.set()

    thread = threading.Thread(target=export)
    with Gate(own_queue):
        thread.start()
        exported.wait(20)
        in_time = exported.is_set()
    thread.join(60)
    assert in_time


# --- freed by one thread while another, or a command, works with it -------------------------------

N = 4096


set_bytes = usmx.RawKernel(
    "USMX_KERNEL(1) set_bytes(unsigned char* x) { x[usmx::global_id()] = 9; }", "set_bytes"
)


# --- free() during a call that waits --------------------------------------------------------------

add_one = usmx.ElementwiseKernel("uint8 x", "uint8 y", "y = x + 1", "add_one")

WAITING: dict[str, Callable[[Any], Any]] = {
    "dictionary": lambda m: m.__sycl_usm_array_interface__["data"][0],
    "array_interface": lambda m: m.__array_interface__["data"][0],
    "memoryview": lambda m: bytes(memoryview(m)),
    "numpy": lambda m: np.asarray(m).tobytes(),
    "slice": lambda m: bytes(memoryview(m[3:77])),
    "tobytes": lambda m: m.tobytes(),
    "pickle": lambda m: pickle.loads(pickle.dumps(m)).tobytes(),
    "copy_to_host": lambda m: m.copy_to_host().tobytes(),
    "copy_to_strided": lambda m: m.copy_to_host(np.empty((N, 2), "u1")[:, 0]).tobytes(),
    "copy_from_host": lambda m: m.copy_from_host(bytes(N)),
    "copy_from_strided": lambda m: m.copy_from_host(np.zeros((N, 2), "u1")[:, 0]),
    "copy_from_device": lambda m: m.copy_from_device(um.MemoryUSMShared(N)),
    "memset": lambda m: m.memset(3),
    "copied": lambda m: um.MemoryUSMShared(m, copy=True).tobytes(),
    "copy_from": lambda m: usmx.copy(bytearray(N), m),
    "copy_to": lambda m: usmx.copy(m, bytes(N)),
    "copy_between": lambda m: usmx.copy(m, um.MemoryUSMShared(N)),
    "fill": lambda m: usmx.fill(m, 7),
    "asarray": lambda m: usmx.asarray(m, dtype="int32", copy=True).to_numpy().tobytes(),
    "elementwise": lambda m: add_one(m).to_numpy().tobytes(),
}


@pytest.mark.parametrize("use", WAITING.values(), ids=WAITING.keys())
@pytest.mark.parametrize("part", ["itself", "view"])
def test_free_is_refused_or_comes_after_a_call_that_waits(
    use: Callable[[Any], Any], part: str, own_queue: usmx.Queue
) -> None:
    memory = um.MemoryUSMShared(N, queue=own_queue)
    set_bytes[N](memory).wait()  # compiled before the gate
    used = memory if part == "itself" else um.MemoryUSMShared(memory)
    refused: list[str] = []
    results: list[Any] = []

    def call() -> None:
        try:
            results.append(use(used))
        except ValueError as error:
            results.append(str(error))

    with Gate(own_queue) as gate:
        set_bytes[N](memory)
        thread = threading.Thread(target=call)
        thread.start()
        thread.join(0.1)  # what waits is waiting now
        for freed in (used, memory):
            try:
                freed.free()
            except BufferError as error:
                refused.append(str(error))
        gate.open()
        thread.join(60)
    assert not thread.is_alive()
    (result,) = results
    if memory.freed:
        assert result is None or isinstance(result, (int, bytes, str)), result
    else:
        assert all("use" in text or "show" in text for text in refused)
        memory.free()
    if isinstance(result, int):
        assert result != 0
    if isinstance(result, bytes):
        assert len(result) >= 74
    assert memory.freed


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("part", ["itself", "slice"])
def test_free_is_refused_while_an_array_uses_the_bytes(kind: str, part: str) -> None:
    memory = CLASSES[kind](64)
    memory.memset(5)
    array = usmx.asarray(memory if part == "itself" else memory[:16])
    with pytest.raises(BufferError, match="array"):
        memory.free()
    assert not memory.freed
    assert memory.tobytes() == bytes([5]) * 64
    assert array.to_numpy().tolist() == [5] * array.size
    del array
    memory.free()
    assert memory.freed


def test_with_lets_an_exception_pass_although_an_array_uses_the_bytes() -> None:
    memory = um.MemoryUSMDevice(8)
    array = usmx.asarray(memory)
    with pytest.raises(KeyError), memory:
        raise KeyError
    assert not memory.freed
    del array
    memory.free()


def test_free_inside_a_call_on_the_memory_is_refused() -> None:
    class Frees:
        """An index that frees what is sliced with it."""

        def __index__(self) -> int:
            memory.free()
            return 1

    memory = um.MemoryUSMShared(64)
    with pytest.raises((BufferError, ValueError)):
        memory[Frees() :]
    if not memory.freed:
        memory.free()


# --- memory that is handed out while a queue is busy ----------------------------------------------

LENGTH = 12345
shift = usmx.ElementwiseKernel("uint8 x", "uint8 y", "y = x + 1", "shift")


def entries() -> dict[str, Callable[[str, usmx.Queue, Any], Any]]:
    """Everything that hands out new memory, with arguments of `LENGTH` bytes."""
    return {
        "memory": lambda kind, q, like: CLASSES[kind](LENGTH, queue=q),
        "memory_aligned": lambda kind, q, like: CLASSES[kind](LENGTH, alignment=64, queue=q),
        "get_resource": lambda kind, q, like: um.get_resource(q, kind).allocate(LENGTH, queue=q),
        "empty": lambda kind, q, like: usmx.empty(LENGTH, "uint8", usm_type=kind, queue=q),
        "empty_long": lambda kind, q, like: usmx.empty(
            shape=LENGTH, dtype=np.dtype("u1"), usm_type=kind, order="C", queue=q
        ),
        "empty_like": lambda kind, q, like: usmx.empty_like(like, usm_type=kind, queue=q),
        "output": lambda kind, q, like: shift(like, queue=q),
    }


@pytest.mark.parametrize("kind", ["shared", "host"])
@pytest.mark.parametrize("entry", entries().values(), ids=entries().keys())
def test_new_memory_that_the_host_can_write_is_idle(
    kind: str, entry: Callable[[str, usmx.Queue, Any], Any], own_queue: usmx.Queue
) -> None:
    like = usmx.ones(LENGTH, "uint8", usm_type=kind, queue=own_queue)
    set_bytes[LENGTH](shift(like, queue=own_queue))  # compiled before the gate
    own_queue.wait()
    collect_all()
    with Gate(own_queue):
        former = CLASSES[kind](LENGTH, queue=own_queue)
        set_bytes[LENGTH](former)
        before = former[:1]  # its address, without letting it leave: that alone keeps bytes aside
        address = int(repr(before).split(" at ")[1].split()[0].rstrip(">"), 16)
        del former, before
        made = entry(kind, own_queue, like)
        # `pointer` would wait for what is pending on the memory: the host may look there.
        text = repr(made if isinstance(made, um._Memory) else made.usm_data)
        assert int(text.split(" at ")[1].split()[0].rstrip(">"), 16) != address
