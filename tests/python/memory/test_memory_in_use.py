"""Memory that one thread frees while another still works with it, and memory that is handed out
while commands still work on what was freed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import dpctl
import numpy as np
import pytest
from gate import Gate, collect_all

import usmx
from usmx import _usmx
from usmx import memory as um

CLASSES = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}
N = 4096


@pytest.fixture
def own_queue() -> Iterator[usmx.Queue]:
    """An in-order queue of this test alone; nothing of it is left waiting."""
    collect_all()
    yield usmx.Queue(dpctl.SyclQueue(property="in_order"))
    _usmx._drain()
    assert _usmx._collect() == 0


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
        text = repr(made) if isinstance(made, um._Memory) else ""
        new = int(text.split(" at ")[1].split()[0].rstrip(">"), 16) if text else made.pointer
        assert new != address
