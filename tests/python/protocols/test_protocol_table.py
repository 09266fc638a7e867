# Every function that takes memory of other libraries goes through one table of protocols: it reads
# an object's attribute once, and where it refuses an object it names every protocol there is.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx
import usmx.memory
from usmx import _usmx

TEXT = "USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }"


class Foreign:
    """An array of another library, which counts how often it is asked."""

    def __init__(self, count=4):
        self.memory = usmx.zeros(count, "float32", usm_type="shared")
        self.asked = 0

    @property
    def __sycl_usm_array_interface__(self):
        self.asked += 1
        return self.memory.__sycl_usm_array_interface__


@usmx.kernel
def add_one(item, x):
    x[item.get_id(0)] += 1


@usmx.fuse
def doubled(x):
    return x + x


def taken_by_kernel_of_text(obj):
    usmx.RawKernel(TEXT, "f")[4](obj).wait()


CALLS = {
    "asarray": usmx.asarray,
    "empty_like": usmx.empty_like,
    "ndarray": lambda obj: usmx.ndarray((2,), "float32", obj),
    "setitem": lambda obj: usmx.zeros(4, "float32").__setitem__(slice(None), obj),
    "copy, destination": lambda obj: usmx.copy(obj, np.zeros(4, "float32")),
    "copy, source": lambda obj: usmx.copy(np.zeros(4, "float32"), obj),
    "copy_async": lambda obj: usmx.copy_async(usmx.zeros(4, "float32"), obj).wait(),
    "fill": lambda obj: usmx.fill(obj, 1),
    "memory": usmx.memory.MemoryUSMShared,
    "memory, copy": lambda obj: usmx.memory.MemoryUSMHost(obj, copy=True),
    "as_usm_memory": usmx.memory.as_usm_memory,
    "copy_from_device": lambda obj: usmx.memory.MemoryUSMShared(16).copy_from_device(obj),
    "RawKernel": taken_by_kernel_of_text,
    "kernel": lambda obj: add_one[4,](obj).wait(),
    "elementwise, input": usmx.ElementwiseKernel("T x", "T y", "y = x"),
    "elementwise, output": lambda obj: usmx.ElementwiseKernel("T x", "T y", "y = x")(1.0, obj),
    "fuse": doubled,
}
# These take numbers and sequences as well, so they have more to say.
TAKES_ALL = {"asarray", "empty_like", "setitem"}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_reads_the_attribute_of_a_producer_once(call):
    obj = Foreign()
    CALLS[call](obj)
    assert obj.asked == 1


@pytest.mark.parametrize("call", [c for c in CALLS if c not in TAKES_ALL])
def test_a_refusal_names_every_protocol(call):
    expected = _usmx._Testing.expected_protocols()
    assert "__sycl_usm_array_interface__" in expected
    with pytest.raises(TypeError) as refused:
        CALLS[call](object())
    assert expected in str(refused.value).replace("any object", "an object")


class InDict:
    pass


class ByGetattr:
    __slots__ = ("memory",)

    def __getattr__(self, name):
        if name == "__sycl_usm_array_interface__":
            return self.memory.__sycl_usm_array_interface__
        raise AttributeError(name)


class InSlot:
    __slots__ = ("__sycl_usm_array_interface__",)


def test_the_attribute_is_found_wherever_an_object_has_it():
    memory = usmx.ones(4, "float32", usm_type="shared")
    in_dict, by_getattr, in_slot = InDict(), ByGetattr(), InSlot()
    in_dict.__sycl_usm_array_interface__ = memory.__sycl_usm_array_interface__
    by_getattr.memory = memory
    in_slot.__sycl_usm_array_interface__ = memory.__sycl_usm_array_interface__
    for obj in (in_dict, by_getattr, in_slot):
        assert usmx.asarray(obj).pointer == memory.pointer


def test_an_attribute_that_a_class_gets_or_loses_later_counts():
    class Base:
        __slots__ = ("memory",)

    class Late(Base):
        __slots__ = ()

    obj = Late()
    obj.memory = usmx.ones(4, "float32", usm_type="shared")
    for changed in (Late, Base):
        for _ in range(2):
            with pytest.raises(TypeError):
                usmx.memory.as_usm_memory(obj)
        changed.__sycl_usm_array_interface__ = property(
            lambda self: self.memory.__sycl_usm_array_interface__
        )
        for _ in range(2):
            assert usmx.memory.as_usm_memory(obj).nbytes == 16
        del changed.__sycl_usm_array_interface__
    with pytest.raises(TypeError):
        usmx.memory.as_usm_memory(obj)


def test_an_attribute_without_a_value_is_absent():
    with pytest.raises(TypeError, match="expected USM"):
        usmx.asarray(InSlot())  # the slot is there and empty
    with pytest.raises(TypeError):
        usmx.memory.as_usm_memory(InDict())
    with pytest.raises(TypeError):
        usmx.memory.as_usm_memory(ByGetattr.__class__)


def test_arrays_and_memory_export_by_the_same_rows():
    for obj in (usmx.zeros(3, usm_type="shared"), usmx.memory.MemoryUSMShared(24)):
        given = obj.__sycl_usm_array_interface__
        assert given["data"] == (obj._pointer, False)
        with pytest.raises(AttributeError):
            obj.__sycl_usm_array_interface__ = {}
    freed = usmx.memory.MemoryUSMShared(24)
    freed.free()
    with pytest.raises(ValueError, match="freed"):
        _ = freed.__sycl_usm_array_interface__
    with pytest.raises(TypeError):
        usmx.ndarray.__sycl_usm_array_interface__.__get__(7)
