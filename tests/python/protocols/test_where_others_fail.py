# What other libraries were seen to get wrong when they read a description of memory, one test for
# each, named after it. The many variants of each stand in the bad_*.py files.
# SPDX-License-Identifier: Apache-2.0
import collections
import ctypes

import bad_attributes  # noqa: F401  (registers its cases)
import bad_layouts  # noqa: F401
import bad_memory  # noqa: F401
import numpy as np
import pytest
from backend_row import ROW, needs
from bad_descriptions import CASES, MISSING, Ground, Producer
from exchange_partners import Block, Described, described
from layouts import LAYOUTS

import usmx
import usmx.memory

DOORS = {"asarray": usmx.asarray, "as_usm_memory": usmx.memory.as_usm_memory}


@pytest.fixture(scope="module")
def ground():
    return Ground()


@pytest.fixture(params=DOORS)
def door(request):
    return DOORS[request.param]


def refused(door, ground, **changes):
    with pytest.raises((ValueError, TypeError)) as caught:
        door(Producer(ground.description(**changes)))
    return caught.value


@pytest.mark.parametrize("what", ["not USM", "of another context"])
@needs("contexts")
def test_pointer_with_a_context_as_syclobj(door, ground, what):
    host, context = ctypes.addressof(ground.host), ground.queue.context
    changes = {
        "not USM": {"data": (host, False), "syclobj": context},
        "of another context": {"syclobj": ground.other_context},
    }[what]
    assert "is not USM that" in str(refused(door, ground, **changes))


@pytest.mark.parametrize("offset", [10**6, 2**61, -1, -(2**61)])
def test_offset_outside_the_allocation(door, ground, offset):
    assert isinstance(refused(door, ground, offset=offset), ValueError)


@pytest.mark.parametrize("shape", [(2**32, 2**32), (2**62,)])
def test_shape_that_overflows(door, ground, shape):
    assert "2**63 - 1 bytes" in str(refused(door, ground, shape=shape))


def test_shape_larger_than_the_allocation(door, ground):
    assert "allocation" in str(refused(door, ground, shape=(257,)))


def test_misaligned_pointer(door, ground):
    assert "aligned" in str(refused(door, ground, shape=(2,), data=(ground.pointer + 1, False)))


@pytest.mark.parametrize("name", [name for name in LAYOUTS if "reversed" in name])
def test_valid_negative_strides_with_an_offset(name, kind):
    block = Block(usmx.memory, kind, "i4")
    seen = usmx.asarray(Described(block.memory, LAYOUTS[name], block.dtype)).to_numpy()
    assert seen.tolist() == LAYOUTS[name].of(block.host).tolist()


def test_read_only_memory_is_not_written(kind):
    a = usmx.asarray(described(kind, True))
    before = a.to_numpy().tobytes()
    with pytest.raises(ValueError, match=r"read-only|writable"):
        a[0] = 1
    with pytest.raises(ValueError, match=r"read-only|writable"):
        usmx.memory.as_usm_memory(a).copy_from_host(b"1234")
    assert a.to_numpy().tobytes() == before


def test_typestr_missing_or_none(door, ground):
    assert "typestr" in str(refused(door, ground, typestr=MISSING))
    assert "typestr" in str(refused(door, ground, typestr=None))


def test_byte_swapped_typestr(door, ground):
    assert "byte order" in str(refused(door, ground, typestr=">f4"))


@pytest.mark.parametrize(
    "changes",
    [{"shape": 8.7}, {"shape": "8"}, {"shape": {8}}, {"strides": 1.5}, {"version": 1.9}],
)
def test_values_of_the_wrong_type(door, ground, changes):
    (field,) = changes
    error = refused(door, ground, **changes)
    assert isinstance(error, TypeError)
    assert str(error).startswith(field)


@pytest.mark.parametrize("mapping", [type("Sub", (dict,), {}), collections.OrderedDict])
def test_subclass_of_dict(door, ground, mapping):
    assert door(Producer(mapping(ground.description()))).nbytes == 96


def test_data_missing_and_a_buffer_instead():
    import dpctl.memory

    class Foreign(dpctl.memory.MemoryUSMShared):
        """USM with a buffer, and a description that leaves the memory to it."""

        @property
        def __sycl_usm_array_interface__(self):
            return {
                "shape": (4,),
                "typestr": "<f4",
                "version": 1,
                "syclobj": ROW.device,
                "offset": 2,
            }

    foreign = Foreign(32)
    values = np.asarray(memoryview(foreign)).view("f4")
    values[:] = range(8)
    a = usmx.asarray(foreign)
    assert a.to_numpy().tolist() == [2, 3, 4, 5]
    a[0] = 9
    assert values[2] == 9


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=needs("parts")) if name.endswith("sub-device") else name
        for name in CASES
        if name.startswith("syclobj-")
    ],
)
def test_syclobj_of_every_wrong_sort(door, ground, name):
    case = CASES[name]
    with pytest.raises(case.error, match=case.says):
        door(case.make(ground))


def test_bad_typestr_with_a_context_leaks_nothing(ground):
    import gc

    import psutil

    obj = Producer(ground.description(typestr="<q9", syclobj=ground.queue.context))
    process = psutil.Process()

    def refuse(times):
        for _ in range(times):
            with pytest.raises(ValueError, match="typestr"):
                usmx.asarray(obj)
        gc.collect()
        return process.memory_info().rss

    before = refuse(500)
    assert refuse(2000) - before < 1_000_000  # 3.6 KiB a call would be 7 MB


def test_empty_shape_with_a_null_pointer(door, ground):
    assert door(Producer(ground.description(shape=(0,), data=(0, False)))).nbytes == 0
