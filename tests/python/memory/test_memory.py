"""What memory can do besides what programs for dpctl.memory expect of it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
import sys
import weakref
from typing import Any

import dpctl
import dpctl.memory
import numpy as np
import pytest
from backend_row import ROW

import usmx
from usmx import memory as um

CLASSES = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}
KINDS = list(CLASSES)


def filled(data: bytes, kind: str = "shared", **options: Any) -> Any:
    memory = CLASSES[kind](len(data), **options)
    memory.copy_from_host(data)
    return memory


class TestQueues:
    """Every way to say where the memory belongs."""

    @pytest.mark.parametrize("name", KINDS)
    def test_all_of_them(self, name: str, device: usmx.Device, queue: usmx.Queue) -> None:
        context = queue.context
        for where in (
            None,
            queue,
            device,
            ROW.device,
            dpctl.SyclQueue(),
            dpctl.SyclQueue()._get_capsule(),
            queue._get_capsule(),
            context,
        ):
            memory = CLASSES[name](8, queue=where)
            memory.memset(3)
            assert memory.tobytes() == b"\3" * 8
            assert memory.get_usm_type(context) == name

    def test_wrong_ones(self) -> None:
        with pytest.raises(TypeError, match="queue"):
            um.MemoryUSMShared(8, queue=5)
        with pytest.raises(RuntimeError, match="09"):
            um.MemoryUSMShared(8, queue=f"{ROW.device}9")

    def test_zero_copy_with_a_queue_of_another_context_is_refused(self) -> None:
        elsewhere = dpctl.SyclQueue(dpctl.SyclContext([dpctl.SyclDevice()]), dpctl.SyclDevice())
        with pytest.raises(ValueError, match="context"):
            um.MemoryUSMShared(filled(b"1234"), queue=elsewhere)

    def test_ours_and_dpctls_names_are_the_same(self) -> None:
        memory = um.MemoryUSMShared(8, queue=usmx.Queue(in_order=True))
        assert memory.queue == memory._queue
        assert memory.queue == memory.sycl_queue
        assert memory.context == memory._context
        assert memory.context == memory.sycl_context
        assert memory.device.filter_string == memory.sycl_device.filter_string
        assert memory.usm_type == "shared"


class TestAllocation:
    """Sizes, alignments, and errors that say what was missing."""

    @pytest.mark.parametrize("name", KINDS)
    def test_no_bytes_are_bytes_too(self, name: str) -> None:
        memory = CLASSES[name](0)
        assert memory.nbytes == 0
        assert memory.tobytes() == b""
        assert memory.get_usm_type() == name
        assert um.as_usm_memory(memory).nbytes == 0
        memory.memset(1)
        memory.copy_from_device(CLASSES[name](0))
        assert pickle.loads(pickle.dumps(memory)).nbytes == 0

    @pytest.mark.parametrize("name", KINDS)
    def test_too_many_bytes(self, name: str) -> None:
        size = 1 << 46
        with pytest.raises(MemoryError) as caught:
            CLASSES[name](size)
        text = str(caught.value)
        for part in (str(size), "64.0 TiB", name, ROW.device, "free"):
            assert part in text
        assert isinstance(caught.value, usmx.AllocationError)

    @pytest.mark.parametrize("size", [-1, -(2**70), 2**63, 2**70])
    def test_sizes_no_memory_has(self, size: int) -> None:
        with pytest.raises(ValueError, match=f"nbytes: {size}"):
            um.MemoryUSMShared(size)

    def test_sixty_three_bits_of_bytes_are_only_too_many(self) -> None:
        with pytest.raises(MemoryError):
            um.MemoryUSMShared(2**63 - 2)

    @pytest.mark.parametrize("alignment", [3, 48, -8])
    def test_alignments_that_are_none(self, alignment: int) -> None:
        with pytest.raises(ValueError, match=f"alignment: {alignment}"):
            um.MemoryUSMShared(8, alignment=alignment)

    def test_an_object_that_describes_no_usm_is_of_the_wrong_type(self) -> None:
        with pytest.raises(TypeError, match="str"):
            um.MemoryUSMShared("8")
        with pytest.raises(um.NotUSMError, match="copy_from_host"):
            um.MemoryUSMShared(b"8")

    def test_the_base_class_makes_nothing(self) -> None:
        with pytest.raises(TypeError):
            um._Memory(8)

    def test_subclasses(self) -> None:
        class Mine(um.MemoryUSMShared):
            """Memory of another library."""

        memory = Mine(8)
        memory.memset(1)
        assert memory.tobytes() == b"\1" * 8
        assert isinstance(memory[2:4], um.MemoryUSMShared)
        assert "Mine" in repr(memory)


@pytest.mark.parametrize("name", KINDS)
class TestSlices:
    """Views of a part of the memory."""

    @pytest.mark.parametrize(
        "key",
        [
            slice(16, 64), slice(None), slice(5, 5), slice(-8, None), slice(None, -60),
            slice(60, 200), slice(70, 80), slice(30, 10), slice(-200, 3), slice(0, 64, 1),
        ],
    )  # fmt: skip
    def test_as_bytes_slice(self, name: str, key: slice) -> None:
        data = bytes(range(64))
        memory = filled(data, name)
        view = memory[key]
        assert type(view) is type(memory)
        assert view.tobytes() == data[key]
        assert len(view) == len(data[key])

    def test_they_share_the_bytes(self, name: str) -> None:
        memory = filled(b"12345678", name)
        view = memory[2:6]
        assert view._pointer == memory._pointer + 2
        view[1:3].memset(ord("x"))
        assert memory.tobytes() == b"123xx678"
        assert view.reference_obj is memory
        assert view[1:].reference_obj is memory

    def test_they_keep_the_bytes_alive(self, name: str) -> None:
        view = filled(b"12345678", name)[2:6][1:3]
        assert view.tobytes() == b"45"

    def test_other_libraries_see_them(self, name: str) -> None:
        view = filled(b"12345678", name)[3:6]
        assert dpctl.memory.as_usm_memory(view).tobytes() == b"456"

    def test_steps_are_refused_with_the_reason(self, name: str) -> None:
        for step in (2, -1):
            with pytest.raises(ValueError, match=f"{step}.*asarray"):
                CLASSES[name](8)[::step]

    def test_an_index_is_refused_with_the_reason(self, name: str) -> None:
        for key in (0, "a", None, (slice(1), slice(1))):
            with pytest.raises(TypeError, match="slice"):
                CLASSES[name](8)[key]


USES: dict[str, Any] = {
    "nbytes": lambda m: m.nbytes,
    "len": len,
    "tobytes": lambda m: m.tobytes(),
    "copy_to_host": lambda m: m.copy_to_host(),
    "copy_from_host": lambda m: m.copy_from_host(b"1"),
    "copy_from_device": lambda m: m.copy_from_device(um.MemoryUSMShared(1)),
    "source": lambda m: um.MemoryUSMShared(64).copy_from_device(m),
    "memset": lambda m: m.memset(1),
    "slice": lambda m: m[1:],
    "buffer": memoryview,
    "interface": lambda m: m.__sycl_usm_array_interface__,
    "array_interface": lambda m: m.__array_interface__,
    "pointer": lambda m: m._pointer,
    "queue": lambda m: m.queue,
    "readonly": lambda m: m.readonly,
    "as_readonly": lambda m: m.as_readonly(),
    "get_usm_type": lambda m: m.get_usm_type(),
    "as_usm_memory": um.as_usm_memory,
    "constructor": um.MemoryUSMShared,
    "copied": lambda m: um.MemoryUSMShared(m, copy=True),
    "dpctl": dpctl.memory.as_usm_memory,
    "pickle": pickle.dumps,
    "with": lambda m: m.__enter__(),
    "reference_obj": lambda m: m.reference_obj,
}


class TestFree:
    """Bytes that are given back before the object dies."""

    @pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
    @pytest.mark.parametrize("part", ["itself", "slice", "view"])
    def test_every_use_afterwards_is_refused(self, use: Any, part: str) -> None:
        memory = um.MemoryUSMShared(64)
        used = {"itself": memory, "slice": memory[8:16][1:], "view": um.MemoryUSMShared(memory)}
        use(used[part])
        memory.free()
        if use is USES["reference_obj"] and part != "itself":
            assert used[part].reference_obj is memory
            return
        with pytest.raises(ValueError, match="freed"):
            use(used[part])

    @pytest.mark.parametrize("name", KINDS)
    def test_the_bytes_are_gone(self, name: str, queue: usmx.Queue) -> None:
        memory = CLASSES[name](1 << 20)
        address, view = memory._pointer, memory[1:]
        assert um.get_usm_type(address, queue) == name
        memory.free()
        assert um.get_usm_type(address, queue) == "unknown"
        assert memory.freed
        assert view.freed
        assert "freed" in repr(memory)

    def test_twice_is_once(self) -> None:
        memory = um.MemoryUSMShared(8)
        memory.free()
        memory.free()

    def test_a_freed_slice_leaves_the_rest(self) -> None:
        memory = filled(b"1234")
        view = memory[1:]
        view.free()
        assert memory.tobytes() == b"1234"
        with pytest.raises(ValueError, match="freed"):
            view.tobytes()

    @pytest.mark.parametrize("part", [slice(None), slice(1, 3)])
    def test_exported_buffers_block_it(self, part: slice) -> None:
        memory = filled(b"1234")
        seen = np.asarray(memory[part])
        with pytest.raises(BufferError, match="1 exported"):
            memory.free()
        assert memory.tobytes() == b"1234"
        del seen
        memory.free()

    def test_with_frees_at_the_end(self) -> None:
        with um.MemoryUSMDevice(8) as memory:
            memory.memset(1)
        assert memory.freed

    def test_with_frees_after_an_exception_and_lets_it_pass(self) -> None:
        with pytest.raises(KeyError), um.MemoryUSMDevice(8) as memory:
            raise KeyError
        assert memory.freed

    def test_with_and_an_exported_buffer(self) -> None:
        memory = um.MemoryUSMShared(8)
        with pytest.raises(BufferError), memory:
            seen = memoryview(memory)
        seen.release()
        memory.free()

    def test_foreign_memory_is_only_let_go(self) -> None:
        theirs = dpctl.memory.MemoryUSMShared(8)
        ours = um.as_usm_memory(theirs)
        before = sys.getrefcount(theirs)
        ours.free()
        assert sys.getrefcount(theirs) == before - 1
        theirs.memset(1)


class TestUsmType:
    """The kind of memory, by object and by address."""

    @pytest.mark.parametrize("name", KINDS)
    def test_by_address(self, name: str, queue: usmx.Queue) -> None:
        memory = CLASSES[name](64)
        address = memory._pointer
        for where in (queue, queue.context, dpctl.SyclQueue(), dpctl.SyclQueue().sycl_context):
            assert um.get_usm_type(address, where) == name
            assert um.MemoryUSMShared.get_usm_type(address, where) == name
        assert um.get_usm_type(address + 63, queue) == name
        assert um.get_usm_type(memory) == name

    def test_memory_of_the_host(self, queue: usmx.Queue) -> None:
        assert um.get_usm_type(np.zeros(4).ctypes.data, queue) == "unknown"
        assert um.get_usm_type(0, queue) == "unknown"

    def test_wrong_arguments(self, queue: usmx.Queue) -> None:
        with pytest.raises(TypeError, match="syclobj"):
            um.get_usm_type(64)
        with pytest.raises(TypeError, match="address"):
            um.get_usm_type("64", queue)
        with pytest.raises(ValueError, match="pointer"):
            um.get_usm_type(2**64, queue)
        with pytest.raises(TypeError, match="syclobj"):
            um.MemoryUSMShared(8).get_usm_type(5)


def test_array_interface_of_host_accessible_memory() -> None:
    memory = um.MemoryUSMHost(8)
    assert memory.__array_interface__ == {
        "shape": (8,),
        "typestr": "|u1",
        "data": (memory._pointer, False),
        "strides": None,
        "version": 3,
    }


@pytest.mark.parametrize("name", KINDS)
def test_repr_says_what_and_where(name: str) -> None:
    memory = CLASSES[name](64)
    text = repr(memory)
    for part in (type(memory).__name__, "64 bytes", name, hex(memory._pointer), ROW.device):
        assert part in text
    assert str(memory) == text


@pytest.mark.parametrize("name", KINDS)
def test_weak_references(name: str) -> None:
    memory = CLASSES[name](64)
    died: list[int] = []
    alive = weakref.ref(memory, lambda _: died.append(1))
    assert alive() is memory
    del memory
    assert alive() is None
    assert died == [1]


def test_files_are_read_into_memory(tmp_path: Any) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"12345678")
    memory = um.MemoryUSMShared(8)
    with path.open("rb") as file:
        assert file.readinto(memory) == 8
    assert memory.tobytes() == b"12345678"


@pytest.mark.parametrize(
    "dtype", ["O", [("a", "i8"), ("b", "O")], np.dtypes.StringDType()], ids=["O", "record", "T"]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda m, a: m.copy_to_host(a),
        lambda m, a: m.copy_from_host(a),
        lambda m, a: usmx.copy(a, m),
        usmx.copy,
        lambda m, a: usmx.copy_async(a, m),
    ],
)
def test_references_to_python_objects_are_not_copied_as_bytes(dtype, call):
    m = um.MemoryUSMShared(32)
    m.memset(0xFF)
    a = np.zeros(32 // np.dtype(dtype).itemsize, dtype)
    before = repr(a)
    with pytest.raises((TypeError, ValueError), match="buffer"):
        call(m, a)
    assert repr(a) == before
    assert bytes(m) == b"\xff" * 32


def test_bytes_of_dates_and_of_fields_called_o_are_copied():
    m = um.MemoryUSMShared(16)
    m.memset(1)
    for dtype in ("M8[s]", [("O", "i4"), ("OO", "i4")]):
        a = np.zeros(2, dtype)
        m.copy_to_host(a)
        assert a.tobytes() == b"\x01" * 16
