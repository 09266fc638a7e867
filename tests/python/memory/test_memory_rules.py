"""Memory that is right where dpctl.memory is not; each class is one of those cases."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import io
import pickle
import sys
import weakref
from typing import Any

import dpctl
import dpctl.memory
import numpy as np
import pytest

import usmx
from usmx import memory as um

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


def filled(data: bytes, kind: str = "shared", **options: Any) -> Any:
    memory = CLASSES[kind](len(data), **options)
    memory.copy_from_host(data)
    return memory


# --- what dpctl.memory gets wrong, by the name of the case ---------------------------------------


class TestForeignPointers:
    """Pointers that are not USM, or of another context."""

    @pytest.mark.parametrize("name", KINDS)
    def test_a_context_that_does_not_know_the_pointer(self, name: str) -> None:
        memory = filled(b"1234", name)
        other = dpctl.SyclContext([dpctl.SyclDevice()])
        with pytest.raises(ValueError, match="data"):
            um.as_usm_memory(Producer(memory, syclobj=other))

    def test_host_memory_is_not_usm(self) -> None:
        memory, host = filled(b"1234"), np.zeros(4, "u1")
        context = dpctl.SyclQueue().sycl_context
        wrong = Producer(memory, data=(host.ctypes.data, False), syclobj=context)
        with pytest.raises(ValueError, match="data"):
            um.MemoryUSMShared(wrong)


class TestExtents:
    """Offsets and shapes that leave the allocation."""

    @pytest.mark.parametrize("offset", [1, 64, -1, 2**61, 2**62, -(2**61)])
    def test_offset_outside(self, offset: int) -> None:
        wrong = Producer(filled(bytes(64)), offset=offset)
        with pytest.raises(ValueError, match=r"offset|data"):
            um.MemoryUSMShared(64).copy_from_device(wrong)

    @pytest.mark.parametrize("shape", [(2**32, 2**32), (2**62,), (2**63 - 1,), (65,), (1, 2**40)])
    def test_shape_too_large(self, shape: tuple[int, ...]) -> None:
        wrong = Producer(filled(bytes(64)), shape=shape, typestr="<f4")
        with pytest.raises(ValueError, match=r"shape|data"):
            um.as_usm_memory(wrong)

    def test_misaligned_pointer(self) -> None:
        base = filled(bytes(64))
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
            filled(values.tobytes(), name),
            shape=shape, strides=strides, offset=offset, typestr=typestr,
        )  # fmt: skip
        step = values.itemsize
        expected = np.lib.stride_tricks.as_strided(
            values[offset:], shape, [s * step for s in strides], subok=False
        )
        memory = filled(b"." * 200)
        memory.copy_from_device(source)
        assert memory.tobytes() == expected.tobytes().ljust(200, b".")

    def test_elements_go_to_bytes_that_are_not_aligned_for_them(self) -> None:
        values = np.arange(8, dtype="f8")
        source = Producer(filled(values.tobytes()), shape=(4,), strides=(-2,), offset=7,
                          typestr="<f8")  # fmt: skip
        memory = um.MemoryUSMShared(40)
        memory[3:].copy_from_device(source)
        assert memory.tobytes()[3:35] == values[::-2].tobytes()

    def test_copy_true_packs_the_elements(self) -> None:
        values = np.arange(8, dtype="f4")
        source = Producer(filled(values.tobytes()), shape=(4,), strides=(-2,), offset=7,
                          typestr="<f4")  # fmt: skip
        assert um.MemoryUSMHost(source, copy=True).tobytes() == values[::-2].tobytes()

    def test_without_a_copy_it_is_the_span_of_the_elements(self) -> None:
        base = filled(bytes(range(32)))
        span = um.as_usm_memory(Producer(base, shape=(3,), strides=(-2,), offset=5, typestr="<f4"))
        assert span._pointer == base._pointer + 4
        assert span.tobytes() == bytes(range(4, 24))


class TestReadOnly:
    """Read-only memory is not written."""

    @pytest.fixture(params=["view", "foreign"])
    def readonly(self, request: pytest.FixtureRequest) -> Any:
        base = filled(b"1234")
        if request.param == "view":
            return base.as_readonly()
        return um.as_usm_memory(Producer(base, data=(base._pointer, True)))

    def test_says_so(self, readonly: Any) -> None:
        assert readonly.readonly
        assert not filled(b"1").readonly
        assert "read-only" in repr(readonly)
        assert readonly[1:3].readonly
        assert um.MemoryUSMShared(readonly).readonly
        assert readonly.__sycl_usm_array_interface__["data"] == (readonly._pointer, True)
        assert readonly.__array_interface__["data"] == (readonly._pointer, True)

    def test_refuses_every_way_to_write(self, readonly: Any) -> None:
        with pytest.raises(ValueError, match=r"copy_from_host.*read-only"):
            readonly.copy_from_host(b"ab")
        with pytest.raises(ValueError, match=r"copy_from_device.*read-only"):
            readonly.copy_from_device(filled(b"ab"))
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
        base = filled(b"1234")
        view = base.as_readonly()
        base.memset(0)
        assert view.tobytes() == bytes(4)


class TestDictionaries:
    """Fields that dpctl takes although they are wrong, and dictionaries that it refuses."""

    @pytest.mark.parametrize("typestr", [..., None, ">f4", "<f3", "", "f4", 4])
    def test_typestr(self, typestr: Any) -> None:
        with pytest.raises((ValueError, TypeError), match="typestr"):
            um.as_usm_memory(Producer(filled(bytes(16)), typestr=typestr))

    @pytest.mark.parametrize(
        "wrong",
        [{"shape": 8.7}, {"shape": "8"}, {"shape": {8}}, {"strides": 1.5}, {"version": 1.9}],
        ids=str,
    )
    def test_types_of_the_fields(self, wrong: dict[str, Any]) -> None:
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            um.as_usm_memory(Producer(filled(bytes(16)), **wrong))

    def test_any_mapping_is_a_dictionary(self) -> None:
        producer = Producer(filled(b"1234"))
        producer.interface = collections.OrderedDict(producer.interface)
        assert um.as_usm_memory(producer).tobytes() == b"1234"

    def test_the_producer_is_asked_once(self) -> None:
        for use in (
            um.as_usm_memory,
            um.MemoryUSMShared,
            lambda p: um.MemoryUSMDevice(p, copy=True),
            um.MemoryUSMShared(4).copy_from_device,
        ):
            producer = Producer(filled(b"1234"))
            use(producer)
            assert producer.asked == 1


class TestCopyTrue:
    """copy=True copies, once, and keeps nothing of the source."""

    @pytest.mark.parametrize("name", KINDS)
    @pytest.mark.parametrize("source_name", KINDS)
    def test_the_copy_is_its_own_memory(self, name: str, source_name: str) -> None:
        source = filled(b"1234", source_name)
        copied = CLASSES[name](source, copy=True)
        source.memset(0)
        assert copied.tobytes() == b"1234"
        assert copied.reference_obj is None
        assert copied.get_usm_type() == name

    def test_the_source_is_let_go(self) -> None:
        source = filled(b"1234")
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
        copied = um.MemoryUSMHost(filled(b"1234"), copy=True, queue=queue)
        assert dpctl.SyclQueue(copied.queue._get_capsule()) == queue
        assert copied.tobytes() == b"1234"


class TestMemset:
    """memset takes a byte and nothing else."""

    @pytest.mark.parametrize("value", [256, 300, -1, 2**70, -(2**70)])
    def test_values_no_byte_has(self, value: int) -> None:
        memory = filled(b"1234")
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
        memory = filled(b"1234", name)
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
        memory = filled(b"." * 500, name)
        memory.copy_from_host(values)
        assert memory.tobytes() == values.tobytes().ljust(500, b".")

    @pytest.mark.parametrize("make", [lambda a: a, lambda a: a[::2], lambda a: a[:, ::-2].T])
    @pytest.mark.parametrize("dtype", ["u1", "f8"])
    def test_any_layout_out(self, name: str, dtype: str, make: Any) -> None:
        base = np.zeros((4, 6), dtype)
        target = make(base)
        values = np.arange(1, target.size + 1).astype(dtype).reshape(target.shape)
        memory = filled(values.tobytes(), name)
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
    memory = filled(bytes(range(16)), name)
    memory.copy_from_host(memoryview(memory)[4:12])
    assert memory.tobytes()[:8] == bytes(range(4, 12))
    memory = filled(bytes(range(16)), name)
    memory[4:].copy_from_host(memoryview(memory)[:8])
    assert memory.tobytes()[4:12] == bytes(range(8))
    memory = filled(bytes(range(16)), name)
    memory.copy_from_host(memoryview(memory)[::-1])
    assert memory.tobytes() == bytes(reversed(range(16)))


class TestPickle:
    """Pickled memory comes back on its device."""

    def test_the_device_is_kept(self, device: usmx.Device) -> None:
        memory = filled(b"1234", queue=device)
        again = pickle.loads(pickle.dumps(memory))
        assert again.tobytes() == b"1234"
        assert again.device.filter_string == memory.device.filter_string

    def test_another_device_is_used_with_a_warning(self) -> None:
        text = pickle.dumps(filled(b"1234"))
        name = um.MemoryUSMShared(1).device.filter_string.encode()
        gone = name[:-1] + b"9"
        assert name in text
        with pytest.warns(RuntimeWarning, match=gone.decode()):
            again = pickle.loads(text.replace(name, gone))
        assert again.tobytes() == b"1234"

    def test_read_only_stays_read_only(self) -> None:
        assert pickle.loads(pickle.dumps(filled(b"1234").as_readonly())).readonly

    def test_a_slice_is_pickled_alone(self) -> None:
        assert pickle.loads(pickle.dumps(filled(b"12345678")[2:4])).tobytes() == b"34"


def test_numpy_says_why_it_cannot_see_device_memory() -> None:
    with pytest.raises(TypeError, match="copy_to_host"):
        np.asarray(um.MemoryUSMDevice(8))
    with pytest.raises(TypeError, match="copy_to_host"):
        memoryview(um.MemoryUSMDevice(8))
    assert not hasattr(um.MemoryUSMDevice(8), "__array_interface__")
