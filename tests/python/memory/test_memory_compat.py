"""Programs written for dpctl.memory run unchanged: each test runs on its classes and on ours."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array
import gc
import pickle
from typing import Any

import dpctl
import dpctl.memory
import numpy as np
import pytest

import usmx
import usmx.memory

NAMES = {"device": "MemoryUSMDevice", "shared": "MemoryUSMShared", "host": "MemoryUSMHost"}
HOST_KINDS = ["shared", "host"]


@pytest.fixture(params=[dpctl.memory, usmx.memory], ids=["dpctl", "usmx"])
def module(request: pytest.FixtureRequest) -> Any:
    """The library under test; what passes on both is what "unchanged" means."""
    return request.param


@pytest.fixture
def cls(module: Any, kind: str) -> Any:
    """The class of each kind."""
    return getattr(module, NAMES[kind])


def filled(cls: Any, data: bytes, **options: Any) -> Any:
    memory = cls(len(data), **options)
    memory.copy_from_host(data)
    return memory


def test_sizes_in_bytes(cls: Any) -> None:
    memory = cls(64)
    assert (memory.nbytes, memory.size, len(memory)) == (64, 64, 64)
    assert cls(np.int64(24)).nbytes == 24


def test_size_must_not_be_negative(cls: Any) -> None:
    with pytest.raises(ValueError, match="bytes"):
        cls(-1)


@pytest.mark.parametrize("wrong", ["text", None, 8.0, b"bytes", [1]])
def test_objects_without_usm_are_a_value_error(cls: Any, wrong: object) -> None:
    with pytest.raises(ValueError, match="__sycl_usm_array_interface__"):
        cls(wrong)


def test_options_are_keywords(cls: Any) -> None:
    with pytest.raises(TypeError):
        cls(64, 8)


@pytest.mark.parametrize("alignment", [0, 1, 16, 64, 256, 4096])
def test_alignment(cls: Any, alignment: int) -> None:
    memory = cls(100, alignment=alignment)
    assert memory._pointer % max(alignment, 1) == 0


def test_queue_of_dpctl(cls: Any) -> None:
    queue = dpctl.SyclQueue()
    memory = cls(64, queue=queue)
    assert memory.get_usm_type(queue) == memory.get_usm_type()
    assert dpctl.SyclQueue(memory.sycl_queue._get_capsule()) == queue


def test_kind(cls: Any, kind: str) -> None:
    memory = cls(64)
    assert memory.get_usm_type() == kind
    assert memory.get_usm_type(dpctl.SyclQueue()) == kind
    assert memory.get_usm_type(syclobj=dpctl.SyclQueue().sycl_context) == kind
    assert memory.get_usm_type_enum() == {"device": 1, "shared": 2, "host": 3}[kind]


def test_kind_is_unknown_in_another_context(cls: Any) -> None:
    other = dpctl.SyclContext([dpctl.SyclDevice()])
    assert cls(64).get_usm_type(other) == "unknown"


def test_where_it_lives(cls: Any) -> None:
    memory = cls(64)
    assert memory.sycl_device.name == dpctl.SyclDevice().name
    for attribute in ("sycl_queue", "_queue", "sycl_context", "_context"):
        assert getattr(memory, attribute)._get_capsule() is not None
    assert memory.reference_obj is None
    assert isinstance(memory._pointer, int)


@pytest.mark.parametrize(
    "source",
    [bytes(range(8)), bytearray(range(8)), array.array("B", range(8)), np.arange(8, dtype="u1")],
    ids=lambda s: type(s).__name__,
)
def test_host_data_goes_in_and_comes_out(cls: Any, source: Any) -> None:
    memory = cls(8)
    memory.copy_from_host(source)
    assert memory.tobytes() == bytes(range(8))
    assert bytes(memory) == bytes(range(8))


def test_copy_to_host_makes_a_numpy_array(cls: Any) -> None:
    out = filled(cls, b"usm!").copy_to_host()
    assert isinstance(out, np.ndarray)
    assert out.dtype == np.uint8
    assert out.tobytes() == b"usm!"


def test_copy_to_host_fills_the_buffer_it_is_given(cls: Any) -> None:
    target = bytearray(b"........")
    assert filled(cls, b"usm!").copy_to_host(target) is target
    assert target == b"usm!...."


def test_copy_to_host_refuses_what_is_too_small(cls: Any) -> None:
    with pytest.raises(ValueError, match="64"):
        cls(64).copy_to_host(bytearray(63))


def test_copy_to_host_refuses_what_cannot_be_written(cls: Any) -> None:
    with pytest.raises(BufferError):
        cls(4).copy_to_host(b"1234")


def test_copy_from_host_takes_less_than_there_is_room(cls: Any) -> None:
    memory = filled(cls, b"12345678")
    memory.copy_from_host(b"ab")
    assert memory.tobytes() == b"ab345678"


def test_copy_from_host_refuses_what_is_too_large(cls: Any) -> None:
    with pytest.raises(ValueError, match="64"):
        cls(64).copy_from_host(bytes(65))


@pytest.mark.parametrize("wrong", [5, [1, 2]])
def test_host_copies_need_buffers(cls: Any, wrong: object) -> None:
    with pytest.raises(TypeError):
        cls(64).copy_from_host(wrong)
    with pytest.raises(TypeError):
        cls(64).copy_to_host(wrong)


@pytest.mark.parametrize("source_kind", ["device", "shared", "host"])
@pytest.mark.parametrize("source_module", [dpctl.memory, usmx.memory], ids=["dpctl", "usmx"])
def test_copy_from_device(cls: Any, source_module: Any, source_kind: str) -> None:
    source = filled(getattr(source_module, NAMES[source_kind]), b"abcd")
    memory = filled(cls, b"12345678")
    memory.copy_from_device(source)
    assert memory.tobytes() == b"abcd5678"


def test_copy_from_device_refuses_what_is_too_large(cls: Any) -> None:
    with pytest.raises(ValueError, match="64"):
        cls(64).copy_from_device(cls(65))


@pytest.mark.parametrize("wrong", [b"a", 5])
def test_copy_from_device_needs_usm(cls: Any, wrong: object) -> None:
    with pytest.raises(ValueError, match="__sycl_usm_array_interface__"):
        cls(64).copy_from_device(wrong)


def test_memset(cls: Any) -> None:
    memory = cls(8)
    memory.memset()
    assert memory.tobytes() == bytes(8)
    memory.memset(7)
    assert memory.tobytes() == b"\7" * 8
    memory.memset(val=255)
    assert memory.tobytes() == b"\xff" * 8


@pytest.mark.parametrize("host_kind", HOST_KINDS)
def test_the_host_sees_shared_and_host_memory(module: Any, host_kind: str) -> None:
    memory = getattr(module, NAMES[host_kind])(16)
    view = memoryview(memory)
    assert (view.format, view.nbytes, view.readonly) == ("B", 16, False)
    seen = np.asarray(memory)
    assert seen.__array_interface__["data"][0] == memory._pointer
    seen.view("f4")[:] = 1.5
    assert memory.tobytes() == np.full(4, 1.5, "f4").tobytes()


def test_device_memory_has_no_buffer(module: Any) -> None:
    with pytest.raises(TypeError):
        memoryview(module.MemoryUSMDevice(16))


def test_the_same_kind_is_shared_without_a_copy(cls: Any) -> None:
    memory = filled(cls, b"abcd")
    other = cls(memory)
    assert other._pointer == memory._pointer
    del memory
    gc.collect()
    assert other.tobytes() == b"abcd"


def test_another_kind_needs_a_copy(module: Any) -> None:
    source = filled(module.MemoryUSMDevice, b"abcd")
    with pytest.raises(ValueError, match="copy=True"):
        module.MemoryUSMShared(source)
    copied = module.MemoryUSMShared(source, copy=True)
    assert copied.get_usm_type() == "shared"
    assert copied.tobytes() == b"abcd"
    assert copied._pointer != source._pointer


@pytest.mark.parametrize("source_module", [dpctl.memory, usmx.memory], ids=["dpctl", "usmx"])
def test_as_usm_memory_finds_the_class(module: Any, source_module: Any, kind: str) -> None:
    source = filled(getattr(source_module, NAMES[kind]), b"abcd")
    memory = module.as_usm_memory(source)
    assert type(memory) is getattr(module, NAMES[kind])
    assert memory._pointer == source._pointer
    assert memory.tobytes() == b"abcd"


def test_as_usm_memory_needs_usm(module: Any) -> None:
    with pytest.raises(ValueError, match="__sycl_usm_array_interface__"):
        module.as_usm_memory(5)


def test_the_array_interface_describes_bytes(cls: Any) -> None:
    memory = cls(24)
    interface = memory.__sycl_usm_array_interface__
    assert interface["data"][0] == memory._pointer
    assert interface["shape"] == (24,)
    assert interface["strides"] is None
    assert interface["typestr"] == "|u1"
    assert interface["version"] == 1
    assert interface["syclobj"]._get_capsule() is not None


def test_pickle_keeps_class_and_bytes(cls: Any) -> None:
    again = pickle.loads(pickle.dumps(filled(cls, b"abcd")))
    assert type(again) is cls
    assert again.tobytes() == b"abcd"


def test_memory_is_compared_by_identity(cls: Any) -> None:
    memory, other = cls(4), cls(4)
    assert memory != other
    assert memory in [other, memory]
    assert len({memory, other, memory}) == 2


def test_attributes_cannot_be_invented(cls: Any) -> None:
    with pytest.raises(AttributeError):
        cls(4).surprise = 1


def test_allocation_that_is_too_large_raises_the_name_of_the_module(cls: Any, module: Any) -> None:
    with pytest.raises(module.USMAllocationError):
        cls(1 << 46)


def test_every_public_name_of_dpctl_is_there() -> None:
    for name in dpctl.memory.__all__:
        assert hasattr(usmx.memory, name)
    ours, theirs = usmx.memory.MemoryUSMShared(4), dpctl.memory.MemoryUSMShared(4)
    missing = [n for n in dir(theirs) if not n.startswith("__pyx") and not hasattr(ours, n)]
    assert missing == []


# --- ours inside dpctl ---------------------------------------------------------------------------


def test_dpctl_wraps_our_memory_and_writes_it(kind: str) -> None:
    ours = filled(getattr(usmx.memory, NAMES[kind]), b"12345678")
    theirs = getattr(dpctl.memory, NAMES[kind])(ours)
    assert theirs._pointer == ours._pointer
    theirs.copy_from_host(b"abcd")
    assert ours.tobytes() == b"abcd5678"
    theirs.memset(1)
    assert ours.tobytes() == b"\1" * 8
    dpctl.memory.as_usm_memory(ours).copy_from_device(filled(dpctl.memory.MemoryUSMHost, b"xy"))
    assert ours.tobytes() == b"xy" + b"\1" * 6


@pytest.mark.parametrize("host_kind", HOST_KINDS)
def test_numpy_writes_our_memory_through_dpctl(host_kind: str) -> None:
    ours = filled(getattr(usmx.memory, NAMES[host_kind]), b"1234")
    np.asarray(dpctl.memory.as_usm_memory(ours))[1] = ord("x")
    assert ours.tobytes() == b"1x34"


def test_our_copy_of_dpctl_memory_stays_writable(kind: str) -> None:
    theirs = filled(getattr(dpctl.memory, NAMES[kind]), b"1234")
    ours = usmx.memory.as_usm_memory(theirs)
    assert not ours.readonly
    ours.memset(9)
    assert theirs.tobytes() == b"\t" * 4
    assert ours.reference_obj is theirs


def test_dpctl_queues_copy_between_both_libraries() -> None:
    queue = dpctl.SyclQueue()
    ours = usmx.memory.MemoryUSMShared(8, queue=queue)
    theirs = filled(dpctl.memory.MemoryUSMDevice, b"abcdefgh", queue=queue)
    queue.memcpy(dpctl.memory.as_usm_memory(ours), theirs, 8)
    assert ours.tobytes() == b"abcdefgh"
