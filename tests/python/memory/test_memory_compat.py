"""Programs written for dpctl.memory run unchanged, and are right where dpctl.memory is not."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array
import collections
import gc
import io
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Any

import dpctl
import dpctl.memory
import lab
import numpy as np
import pytest
from backend_row import REASONS, ROW, has, needs

import usmx
import usmx.memory
from usmx import memory as um

# --- unchanged: each test runs on its classes and on ours -----------------------------------------

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
    try:
        memory = cls(100, alignment=alignment)
    except dpctl.memory.USMAllocationError:
        # Of dpctl alone, which asks the driver for more than it has.
        assert alignment > ROW.most_alignment
        return
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


@needs("contexts")
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
    if cls.__name__ == "MemoryUSMShared" and not has("limits"):
        pytest.skip(REASONS["limits"])
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


# --- where dpctl.memory is not right; each class is one of those cases ----------------------------

CLASSES = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}
KINDS = list(CLASSES)


class Producer:
    """A description of another library, right or wrong."""

    def __init__(self, base: Any, **changes: Any) -> None:
        self.base = base
        interface = dict(base.__sycl_usm_array_interface__)
        interface["data"] = (base._pointer, False)
        interface.update(changes)
        self.interface: Any = {k: v for k, v in interface.items() if v is not ...}
        self.asked = 0

    @property
    def __sycl_usm_array_interface__(self) -> Any:
        self.asked += 1
        return self.interface


def block_of(data: bytes, kind: str = "shared", **options: Any) -> Any:
    memory = CLASSES[kind](len(data), **options)
    memory.copy_from_host(data)
    return memory


# --- what dpctl.memory gets wrong, by the name of the case ---------------------------------------


class TestForeignPointers:
    """Pointers that are not USM, or of another context."""

    @pytest.mark.parametrize("name", KINDS)
    @needs("contexts")
    def test_a_context_that_does_not_know_the_pointer(self, name: str) -> None:
        memory = block_of(b"1234", name)
        other = dpctl.SyclContext([dpctl.SyclDevice()])
        with pytest.raises(ValueError, match="data"):
            um.as_usm_memory(Producer(memory, syclobj=other))

    def test_host_memory_is_not_usm(self) -> None:
        memory, host = block_of(b"1234"), np.zeros(4, "u1")
        context = dpctl.SyclQueue().sycl_context
        wrong = Producer(memory, data=(host.ctypes.data, False), syclobj=context)
        with pytest.raises(ValueError, match="data"):
            um.MemoryUSMShared(wrong)


class TestExtents:
    """Offsets and shapes that leave the allocation."""

    @pytest.mark.parametrize("offset", [1, 64, -1, 2**61, 2**62, -(2**61)])
    def test_offset_outside(self, offset: int) -> None:
        wrong = Producer(block_of(bytes(64)), offset=offset)
        with pytest.raises(ValueError, match=r"offset|data"):
            um.MemoryUSMShared(64).copy_from_device(wrong)

    @pytest.mark.parametrize("shape", [(2**32, 2**32), (2**62,), (2**63 - 1,), (65,), (1, 2**40)])
    def test_shape_too_large(self, shape: tuple[int, ...]) -> None:
        wrong = Producer(block_of(bytes(64)), shape=shape, typestr="<f4")
        with pytest.raises(ValueError, match=r"shape|data"):
            um.as_usm_memory(wrong)

    def test_misaligned_pointer(self) -> None:
        base = block_of(bytes(64))
        wrong = Producer(base, data=(base._pointer + 1, False), shape=(4,), typestr="<f4")
        with pytest.raises(ValueError, match="data"):
            um.as_usm_memory(wrong)


class TestLayouts:
    """copy_from_device copies elements, not the span they lie in."""

    @pytest.mark.parametrize("name", KINDS)
    @pytest.mark.parametrize("typestr", ["|u1", "<i2", "<f4", "<f8", "<c16"])
    @pytest.mark.parametrize(
        ("shape", "strides", "offset"),
        [
            ((4,), (2,), 0),
            ((4,), (-1,), 3),
            ((4,), (-2,), 7),
            ((2, 3), (1, 2), 0),
            ((2, 3), (-3, -1), 5),
            ((3, 2), (0, 1), 2),
            ((1, 1), (5, 7), 1),
            ((0, 3), (3, 1), 0),
            ((), (), 3),
        ],
    )
    def test_strided_and_reversed_elements(
        self, name: str, typestr: str, shape: Any, strides: Any, offset: int
    ) -> None:
        values = np.arange(8).astype(typestr)
        source = Producer(
            block_of(values.tobytes(), name),
            shape=shape, strides=strides, offset=offset, typestr=typestr,
        )  # fmt: skip
        step = values.itemsize
        expected = np.lib.stride_tricks.as_strided(
            values[offset:], shape, [s * step for s in strides], subok=False
        )
        memory = block_of(b"." * 200)
        memory.copy_from_device(source)
        assert memory.tobytes() == expected.tobytes().ljust(200, b".")

    def test_elements_go_to_bytes_that_are_not_aligned_for_them(self) -> None:
        values = np.arange(8, dtype="f8")
        source = Producer(block_of(values.tobytes()), shape=(4,), strides=(-2,), offset=7,
                          typestr="<f8")  # fmt: skip
        memory = um.MemoryUSMShared(40)
        memory[3:].copy_from_device(source)
        assert memory.tobytes()[3:35] == values[::-2].tobytes()

    def test_copy_true_packs_the_elements(self) -> None:
        values = np.arange(8, dtype="f4")
        source = Producer(block_of(values.tobytes()), shape=(4,), strides=(-2,), offset=7,
                          typestr="<f4")  # fmt: skip
        assert um.MemoryUSMHost(source, copy=True).tobytes() == values[::-2].tobytes()

    def test_without_a_copy_it_is_the_span_of_the_elements(self) -> None:
        base = block_of(bytes(range(32)))
        span = um.as_usm_memory(Producer(base, shape=(3,), strides=(-2,), offset=5, typestr="<f4"))
        assert span._pointer == base._pointer + 4
        assert span.tobytes() == bytes(range(4, 24))


class TestReadOnly:
    """Read-only memory is not written."""

    @pytest.fixture(params=["view", "foreign"])
    def readonly(self, request: pytest.FixtureRequest) -> Any:
        base = block_of(b"1234")
        if request.param == "view":
            return base.as_readonly()
        return um.as_usm_memory(Producer(base, data=(base._pointer, True)))

    def test_says_so(self, readonly: Any) -> None:
        assert readonly.readonly
        assert not block_of(b"1").readonly
        assert "read-only" in repr(readonly)
        assert readonly[1:3].readonly
        assert um.MemoryUSMShared(readonly).readonly
        assert readonly.__sycl_usm_array_interface__["data"] == (readonly._pointer, True)
        assert readonly.__array_interface__["data"] == (readonly._pointer, True)

    def test_refuses_every_way_to_write(self, readonly: Any) -> None:
        with pytest.raises(ValueError, match=r"copy_from_host.*read-only"):
            readonly.copy_from_host(b"ab")
        with pytest.raises(ValueError, match=r"copy_from_device.*read-only"):
            readonly.copy_from_device(block_of(b"ab"))
        with pytest.raises(ValueError, match=r"memset.*read-only"):
            readonly.memset(1)
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(readonly)[0] = 1
        with pytest.raises(TypeError, match="read-write"):
            io.BytesIO(b"ab").readinto(readonly)
        assert memoryview(readonly).readonly
        assert not np.asarray(readonly).flags.writeable
        assert readonly.tobytes() == b"1234"

    def test_a_copy_is_writable(self, readonly: Any) -> None:
        copied = um.MemoryUSMShared(readonly, copy=True)
        copied.memset(0)
        assert copied.tobytes() == bytes(4)
        assert readonly.tobytes() == b"1234"

    def test_the_base_stays_writable(self) -> None:
        base = block_of(b"1234")
        view = base.as_readonly()
        base.memset(0)
        assert view.tobytes() == bytes(4)


class TestDictionaries:
    """Fields that dpctl takes although they are wrong, and dictionaries that it refuses."""

    @pytest.mark.parametrize("typestr", [..., None, ">f4", "<f3", "", "f4", 4])
    def test_typestr(self, typestr: Any) -> None:
        with pytest.raises((ValueError, TypeError), match="typestr"):
            um.as_usm_memory(Producer(block_of(bytes(16)), typestr=typestr))

    @pytest.mark.parametrize(
        "wrong",
        [{"shape": 8.7}, {"shape": "8"}, {"shape": {8}}, {"strides": 1.5}, {"version": 1.9}],
        ids=str,
    )
    def test_types_of_the_fields(self, wrong: dict[str, Any]) -> None:
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            um.as_usm_memory(Producer(block_of(bytes(16)), **wrong))

    def test_any_mapping_is_a_dictionary(self) -> None:
        producer = Producer(block_of(b"1234"))
        producer.interface = collections.OrderedDict(producer.interface)
        assert um.as_usm_memory(producer).tobytes() == b"1234"

    def test_the_producer_is_asked_once(self) -> None:
        for use in (
            um.as_usm_memory,
            um.MemoryUSMShared,
            lambda p: um.MemoryUSMDevice(p, copy=True),
            um.MemoryUSMShared(4).copy_from_device,
        ):
            producer = Producer(block_of(b"1234"))
            use(producer)
            assert producer.asked == 1


class TestCopyTrue:
    """copy=True copies, once, and keeps nothing of the source."""

    @pytest.mark.parametrize("name", KINDS)
    @pytest.mark.parametrize("source_name", KINDS)
    def test_the_copy_is_its_own_memory(self, name: str, source_name: str) -> None:
        source = block_of(b"1234", source_name)
        copied = CLASSES[name](source, copy=True)
        source.memset(0)
        assert copied.tobytes() == b"1234"
        assert copied.reference_obj is None
        assert copied.get_usm_type() == name

    def test_the_source_is_let_go(self) -> None:
        source = block_of(b"1234")
        before = sys.getrefcount(source)
        copied = um.MemoryUSMHost(source, copy=True)
        assert sys.getrefcount(source) == before
        alive = weakref.ref(source)
        del source
        assert alive() is None
        assert copied.tobytes() == b"1234"

    def test_it_is_on_the_queue_of_the_source(self) -> None:
        queue = dpctl.SyclQueue(property="in_order")
        source = dpctl.memory.MemoryUSMDevice(4, queue=queue)
        assert dpctl.SyclQueue(um.MemoryUSMHost(source, copy=True).queue._get_capsule()) == queue

    def test_or_on_the_one_that_was_asked_for(self) -> None:
        queue = dpctl.SyclQueue(property="in_order")
        copied = um.MemoryUSMHost(block_of(b"1234"), copy=True, queue=queue)
        assert dpctl.SyclQueue(copied.queue._get_capsule()) == queue
        assert copied.tobytes() == b"1234"


class TestMemset:
    """memset takes a byte and nothing else."""

    @pytest.mark.parametrize("value", [256, 300, -1, 2**70, -(2**70)])
    def test_values_no_byte_has(self, value: int) -> None:
        memory = block_of(b"1234")
        with pytest.raises(ValueError, match=str(value)):
            memory.memset(value)
        assert memory.tobytes() == b"1234"

    @pytest.mark.parametrize("value", [1.5, "1", None, b"1"])
    def test_what_is_no_integer(self, value: object) -> None:
        with pytest.raises(TypeError, match="integer"):
            um.MemoryUSMShared(4).memset(value)

    @pytest.mark.parametrize("name", KINDS)
    def test_integers_of_numpy(self, name: str) -> None:
        memory = CLASSES[name](4)
        memory.memset(np.uint8(200))
        assert memory.tobytes() == b"\xc8" * 4


@pytest.mark.parametrize("name", KINDS)
class TestHostBuffers:
    """Buffers of any type, shape and layout."""

    def test_nothing(self, name: str) -> None:
        memory = block_of(b"1234", name)
        memory.copy_from_host(b"")
        memory.copy_from_host(np.empty((0, 3), "f8"))
        assert memory.tobytes() == b"1234"
        assert memory[2:2].tobytes() == b""
        assert memory[2:2].copy_to_host().shape == (0,)

    @pytest.mark.parametrize(
        "make",
        [
            lambda a: a,
            lambda a: a[::2],
            lambda a: a[::-1],
            lambda a: a.T,
            lambda a: a[1:, ::-2],
            np.asfortranarray,
            lambda a: np.broadcast_to(a[0], (2, a.shape[1])),
        ],
    )
    @pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16", "i2,f4"])
    def test_any_layout_in(self, name: str, dtype: str, make: Any) -> None:
        values = make(np.arange(24).reshape(4, 6).astype("i4").astype(dtype))
        memory = block_of(b"." * 500, name)
        memory.copy_from_host(values)
        assert memory.tobytes() == values.tobytes().ljust(500, b".")

    @pytest.mark.parametrize("make", [lambda a: a, lambda a: a[::2], lambda a: a[:, ::-2].T])
    @pytest.mark.parametrize("dtype", ["u1", "f8"])
    def test_any_layout_out(self, name: str, dtype: str, make: Any) -> None:
        base = np.zeros((4, 6), dtype)
        target = make(base)
        values = np.arange(1, target.size + 1).astype(dtype).reshape(target.shape)
        memory = block_of(values.tobytes(), name)
        assert memory.copy_to_host(target) is target
        np.testing.assert_array_equal(target, values)
        assert np.count_nonzero(base) == target.size  # and nothing else

    def test_sizes_that_do_not_fit_are_both_named(self, name: str) -> None:
        memory = CLASSES[name](24)
        with pytest.raises(ValueError, match=r"32.*24"):
            memory.copy_from_host(np.zeros(4))
        with pytest.raises(ValueError, match=r"24.*16"):
            memory.copy_to_host(np.zeros(2))
        with pytest.raises(ValueError, match=r"24.*32"):
            memory.copy_to_host(np.zeros(8)[::2])
        with pytest.raises(ValueError, match=r"32.*24"):
            memory.copy_from_device(um.MemoryUSMHost(32))


@pytest.mark.parametrize("name", ["shared", "host"])
def test_a_buffer_of_the_memory_itself_is_copied_as_if_it_had_been_put_aside(name: str) -> None:
    memory = block_of(bytes(range(16)), name)
    memory.copy_from_host(memoryview(memory)[4:12])
    assert memory.tobytes()[:8] == bytes(range(4, 12))
    memory = block_of(bytes(range(16)), name)
    memory[4:].copy_from_host(memoryview(memory)[:8])
    assert memory.tobytes()[4:12] == bytes(range(8))
    memory = block_of(bytes(range(16)), name)
    memory.copy_from_host(memoryview(memory)[::-1])
    assert memory.tobytes() == bytes(reversed(range(16)))


class TestPickle:
    """Pickled memory comes back on its device."""

    def test_the_device_is_kept(self, device: usmx.Device) -> None:
        memory = block_of(b"1234", queue=device)
        again = pickle.loads(pickle.dumps(memory))
        assert again.tobytes() == b"1234"
        assert again.device.filter_string == memory.device.filter_string

    def test_another_device_is_used_with_a_warning(self) -> None:
        text = pickle.dumps(block_of(b"1234"))
        name = um.MemoryUSMShared(1).device.filter_string.encode()
        gone = name[:-1] + b"9"
        assert name in text
        with pytest.warns(RuntimeWarning, match=gone.decode()):
            again = pickle.loads(text.replace(name, gone))
        assert again.tobytes() == b"1234"

    def test_read_only_stays_read_only(self) -> None:
        assert pickle.loads(pickle.dumps(block_of(b"1234").as_readonly())).readonly

    def test_a_slice_is_pickled_alone(self) -> None:
        assert pickle.loads(pickle.dumps(block_of(b"12345678")[2:4])).tobytes() == b"34"


def test_numpy_says_why_it_cannot_see_device_memory() -> None:
    with pytest.raises(TypeError, match="copy_to_host"):
        np.asarray(um.MemoryUSMDevice(8))
    with pytest.raises(TypeError, match="copy_to_host"):
        memoryview(um.MemoryUSMDevice(8))
    assert not hasattr(um.MemoryUSMDevice(8), "__array_interface__")


# --- a failed copy raises an error: dpctl.memory returns uninitialised bytes ----------------------

COPIES = {
    "copy_to_host": ("memcpy", "m.copy_to_host(bytearray(64))"),
    "tobytes": ("memcpy", "m.tobytes()"),
    "copy_from_host": ("memcpy", "m.copy_from_host(bytes(64))"),
    "copy_from_device": ("memcpy", "m.copy_from_device(other)"),
    "memset": ("fill", "m.memset(1)"),
    "constructor": ("memcpy", "um.MemoryUSMDevice(m, copy=True)"),
    "pickle": ("memcpy", "pickle.dumps(m)"),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_failed_copy_raises_and_the_next_one_works(
    name: str, run_python: Callable[..., Any]
) -> None:
    fault, call = COPIES[name]
    code = f"""
        import pickle, sys
        sys.path.insert(0, {str(lab.HERE)!r})
        import lab
        from usmx import memory as um
        m, other = um.MemoryUSMDevice(64), um.MemoryUSMDevice(64)
        m.memset(3), other.memset(4)
        device = lab.SimulatedDevice()
        device.fail({fault!r}, 1)
        live = device.live
        try:
            {call}
        except RuntimeError as error:
            print("raised")
        device.fail({fault!r}, 0)
        assert device.live == live
        {call}
        assert len(m.tobytes()) == 64
    """
    assert run_python(code, env=lab.simulated()).stdout == "raised\n"
