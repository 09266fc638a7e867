"""`usmx.from_pointer`: arrays over USM that others allocated, and what the driver is asked."""
# SPDX-License-Identifier: Apache-2.0

import gc
import weakref

import numpy as np
import pytest
from backend_row import needs
from gate import Gate, collect_all

import usmx
from usmx.memory import MemoryUSMDevice, MemoryUSMHost, MemoryUSMShared


def elsewhere():
    """A queue of a context of its own."""
    device = usmx.Device()
    return usmx.Queue(usmx.Context([device]), device)


@pytest.fixture
def memory():
    return MemoryUSMShared(64)


@pytest.mark.parametrize("kind", [MemoryUSMDevice, MemoryUSMShared, MemoryUSMHost])
def test_an_array_is_over_the_address(kind):
    memory = kind(64)
    x = usmx.from_pointer(memory._pointer, (2, 8), "float32", memory.sycl_queue, owner=memory)
    assert (x.pointer, x.shape, x.dtype) == (memory._pointer, (2, 8), "float32")
    assert x.usm_type == memory.get_usm_type()
    x[:] = 3
    assert memory.tobytes() == np.full(16, 3, "float32").tobytes()


def test_the_owner_lives_as_long_as_a_view():
    class Library:
        """Frees what it allocated with the last array."""

        def __init__(self):
            self.memory = MemoryUSMShared(64)

    owner = Library()
    gone = weakref.ref(owner)
    x = usmx.from_pointer(owner.memory._pointer, 8, owner=owner)
    view = x[2:]
    del owner, x
    gc.collect()
    assert gone() is not None
    view[:] = 1
    del view
    gc.collect()
    assert gone() is None


@needs("cpu")
def test_memory_of_a_library_is_freed_once_and_behind_the_last_command(queue):
    freed = []

    class Block:
        """Memory with an allocator of its own, which is told when it is no longer used."""

        def __init__(self):
            self.memory = MemoryUSMDevice(1 << 16)  # the host sees nothing of it
            self.address = self.memory._pointer

        def __del__(self):
            freed.append(self.address)

    block = Block()
    address = block.address
    usmx.from_pointer(address, 1 << 13, "float64", queue, owner=block).fill(5.0)  # is compiled
    x = usmx.from_pointer(address, 1 << 13, "float64", queue, owner=block)
    other = usmx.from_pointer(address, 4, "float64", queue, owner=block)
    gate = Gate(queue)
    try:
        usmx.fill_async(x, 3.0)
        del block, x, other
        gc.collect()
        assert freed == []  # the command uses it
    finally:
        gate.open()
    queue.wait()
    collect_all()
    assert freed == [address]


def test_an_owner_is_let_go_of_where_the_call_fails(memory):
    class Library:
        pass

    owner = Library()
    gone = weakref.ref(owner)
    with pytest.raises(ValueError, match="not inside its allocation"):
        usmx.from_pointer(memory._pointer, 9, owner=owner)
    del owner
    gc.collect()
    assert gone() is None


def test_layouts_and_types(memory):
    x = usmx.from_pointer(memory._pointer, 16, "float32", owner=memory)
    x[:] = usmx.arange(16, dtype="float32")
    back = usmx.from_pointer(x[::-1].pointer, 4, "float32", strides=(-2,), owner=x)
    assert back.tolist() == [15, 13, 11, 9]
    rows = usmx.from_pointer(x.pointer, (2, 3), "float32", strides=(8, 1), readonly=True, owner=x)
    assert rows.tolist() == [[0, 1, 2], [8, 9, 10]]
    assert not rows.flags.writeable
    assert usmx.from_pointer(x.pointer, 32, "bfloat16", owner=x).dtype == "bfloat16"
    pair = usmx.from_pointer(x.pointer, 8, [("a", "<f4"), ("b", "<f4")], owner=x)
    assert pair["b"].tolist() == [1, 3, 5, 7, 9, 11, 13, 15]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"address": 0}, ValueError, "address: is 0x0"),
        ({"address": "0x10"}, TypeError, "address: is of type str"),
        ({"address": True}, TypeError, "address: is of type bool"),
        ({"address": 1 << 64}, ValueError, "address: is 0x1"),
        ({"shape": 9}, ValueError, "not inside its allocation"),
        ({"shape": (1 << 32, 1 << 32)}, ValueError, "shape"),
        ({"shape": -1}, ValueError, "negative"),
        ({"shape": 2.5}, TypeError, "float"),
        ({"strides": (-1,)}, ValueError, "not inside|not USM"),
        ({"strides": (1, 1)}, ValueError, "strides"),
        ({"usm_type": "device"}, ValueError, "usm_type: is 'device'"),
        pytest.param(
            {"queue": elsewhere()},
            ValueError,
            "context",
            marks=needs("contexts"),
        ),
    ],
)
def test_what_the_driver_knows_is_checked(memory, change, error, message):
    arguments = {"address": memory._pointer, "shape": 8, **change}
    with pytest.raises(error, match=message):
        usmx.from_pointer(arguments.pop("address"), arguments.pop("shape"), **arguments)


def test_misaligned_addresses_and_memory_of_the_host_are_refused(memory):
    with pytest.raises(ValueError, match="aligned"):
        usmx.from_pointer(memory._pointer + 1, 3)
    with pytest.raises(ValueError, match="not USM"):
        usmx.from_pointer(np.ones(3).ctypes.data, 3)
