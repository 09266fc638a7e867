# Our pools as the allocators of other libraries: by the functions that those call, with fakes in
# the place of libraries that need a GPU.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import sys
import types

import numpy as np
import pytest
from backend_row import ROW
from gate import Gate

import usmx
import usmx.interop
import usmx.memory as um

# --- CuPy


class FakeEvent:
    def __init__(self, disable_timing):
        assert disable_timing
        self.done = False
        self.recorded = False

    def synchronize(self):
        assert self.recorded
        self.done = True


class FakeStream:
    def record(self, event):
        event.recorded = True


class FakeCupy:
    """The names of CuPy that an allocator uses, with the same signatures."""

    def __init__(self):
        self.events = []
        stream = FakeStream()

        def event(disable_timing=False):
            self.events.append(FakeEvent(disable_timing))
            return self.events[-1]

        def unowned(pointer, size, owner, device_id=-1):
            return types.SimpleNamespace(ptr=pointer, size=size, owner=owner, device_id=device_id)

        self.cuda = types.SimpleNamespace(
            runtime=types.SimpleNamespace(getDevice=lambda: 0),
            get_current_stream=lambda: stream,
            Event=event,
            UnownedMemory=unowned,
            MemoryPointer=lambda memory, offset: types.SimpleNamespace(mem=memory, offset=offset),
        )


@pytest.fixture
def cupy(monkeypatch):
    fake = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(usmx.interop, "_device_name", lambda number: ROW.device)
    yield fake
    usmx.interop._freed.clear()


def test_cupy_gets_device_memory_of_the_pool(cupy):
    made = usmx.interop.cupy_allocator(1000)
    assert made.mem.size == 1000
    assert made.offset == 0
    assert um.get_usm_type(made.mem.owner.memory) == "device"
    assert made.mem.owner.memory.nbytes == 1000
    assert usmx.interop.cupy_allocator(0).mem.ptr != 0


def test_what_cupy_drops_waits_for_its_stream(cupy):
    made = usmx.interop.cupy_allocator(1 << 20)
    pointer, event = made.mem.ptr, cupy.events[-1]
    del made
    gc.collect()
    assert event.recorded
    others = [usmx.interop.cupy_allocator(1 << 20) for _ in range(20)]
    assert pointer not in [o.mem.ptr for o in others]
    del others
    for e in cupy.events:
        e.done = True
    before = len(usmx.interop._freed)
    kept = usmx.interop.cupy_allocator(1 << 20)
    assert before == 21
    assert not usmx.interop._freed
    assert kept.mem.ptr


def test_when_memory_is_short_cupy_waits_for_its_streams(cupy):
    limited = um.LimitingResource(um.get_resource(ROW.device), 3000)
    with um.using(limited):
        kept = usmx.interop.cupy_allocator(1000)
        dropped = usmx.interop.cupy_allocator(1000)
        del dropped
        again = usmx.interop.cupy_allocator(2000)
        assert again.mem.size == 2000
        with pytest.raises(MemoryError):
            usmx.interop.cupy_allocator(2000)
        assert kept.mem.size == 1000


# --- PyTorch


@pytest.fixture
def xpu():
    """The functions as PyTorch calls them."""
    library = ctypes.CDLL(usmx.interop._library())
    allocate, free = library.usmx_torch_xpu_allocate, library.usmx_torch_xpu_free
    allocate.restype = ctypes.c_void_p
    allocate.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    free.restype = None
    free.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype = ctypes.c_void_p
    address.argtypes = [ctypes.py_object, ctypes.c_char_p]

    def pointer_of(capsule):
        return address(capsule, b"SyclQueueRef")

    return types.SimpleNamespace(allocate=allocate, free=free, pointer_of=pointer_of)


class Tensor:
    def __init__(self, pointer, count, queue):
        self.__sycl_usm_array_interface__ = {
            "data": (pointer, False),
            "shape": (count,),
            "typestr": "<f4",
            "strides": None,
            "version": 1,
            "syclobj": queue,
        }


def test_tensors_are_device_memory_of_the_pool(xpu):
    queue = usmx.Queue()
    capsule = queue._get_capsule()
    p = xpu.allocate(4000, 0, xpu.pointer_of(capsule))
    x = usmx.asarray(Tensor(p, 1000, queue))
    assert x.usm_type == "device"
    assert x.pointer == p
    usmx.fill(x, 3)
    assert (x.to_numpy() == np.float32(3)).all()
    del x
    xpu.free(p, 4000, 0, xpu.pointer_of(capsule))
    assert xpu.allocate(0, 0, xpu.pointer_of(capsule)) is None
    xpu.free(None, 0, 0, xpu.pointer_of(capsule))


def test_a_freed_tensor_is_not_used_by_other_queues_before_its_own_has_finished(xpu):
    own, other = usmx.Queue(in_order=True), usmx.Queue(in_order=True)
    own_capsule, other_capsule = own._get_capsule(), other._get_capsule()
    p = xpu.allocate(1 << 20, 0, xpu.pointer_of(own_capsule))
    x = usmx.asarray(Tensor(p, 1000, own))
    with Gate(own):
        usmx.fill_async(x, 1)
        del x
        xpu.free(p, 1 << 20, 0, xpu.pointer_of(own_capsule))
        held = [xpu.allocate(1 << 20, 0, xpu.pointer_of(other_capsule)) for _ in range(30)]
        assert p not in held
    own.wait()
    for q in held:
        xpu.free(q, 1 << 20, 0, xpu.pointer_of(other_capsule))
    other.wait()


def test_a_million_bytes_a_thousand_times_stay_a_few(xpu):
    capsule = usmx.Queue()._get_capsule()
    where = xpu.pointer_of(capsule)
    seen = set()
    for _ in range(1000):
        p = xpu.allocate(1_000_000, 0, where)
        seen.add(p)
        xpu.free(p, 1_000_000, 0, where)
    assert len(seen) < 20


@pytest.mark.parametrize(("kind", "name"), [("xpu", "XPU"), ("cuda", "CUDA")])
def test_pytorch_is_given_names_of_functions_that_the_library_has(monkeypatch, kind, name):
    made = []

    def allocator(path, allocate, free):
        made.append((path, allocate, free))
        return made

    memory = types.SimpleNamespace(**{f"{name}PluggableAllocator": allocator})
    torch = types.SimpleNamespace(__version__="2", **{kind: types.SimpleNamespace(memory=memory)})
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert usmx.interop.torch_allocator(kind) is made
    path, *functions = made[0]
    for function in functions:
        assert getattr(ctypes.CDLL(path), function)
    with pytest.raises(ValueError, match=r"device_type: 'cpu'.*asarray"):
        usmx.interop.torch_allocator("cpu")
    other = "cuda" if kind == "xpu" else "xpu"
    with pytest.raises(ValueError, match="has no torch"):
        usmx.interop.torch_allocator(other)
