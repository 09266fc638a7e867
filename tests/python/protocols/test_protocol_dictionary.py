# The dictionary itself: every form that the protocol allows is read, once, and ours is what others
# need.
# SPDX-License-Identifier: Apache-2.0
import collections
import os
import subprocess
import sys
import types

import dpctl
import dpctl.memory
import exchange_partners as partners
import numpy as np
import pytest
from backend_row import ROW
from exchange_partners import ATTRIBUTE, Block, described
from layouts import KINDS, LAYOUTS, Layout

import usmx
import usmx.memory

WHOLE = Layout((partners.ELEMENTS,))


def test_attribute_is_read_once():
    block = Block(usmx.memory, "shared", "f4")

    class Counts(partners.Described):
        reads = 0

        @property
        def __sycl_usm_array_interface__(self):
            self.reads += 1
            return self.description

    for take in (usmx.asarray, usmx.memory.as_usm_memory):
        obj = Counts(block.memory, WHOLE, block.dtype)
        take(obj)
        assert obj.reads == 1


def test_each_key_is_read_at_most_once():
    block = Block(usmx.memory, "shared", "f4")
    obj = partners.Described(block.memory, WHOLE, block.dtype)
    asked = []

    class Records(dict):
        pass

    class Asked:
        def __init__(self, inner):
            self.inner = inner

        def keys(self):
            return self.inner.keys()

        def __getitem__(self, key):
            asked.append(key)
            return self.inner[key]

    obj.description = Asked(Records(obj.description))
    assert usmx.asarray(obj).shape == WHOLE.shape
    assert sorted(asked) == sorted(set(asked))
    assert {"shape", "typestr", "data", "version", "syclobj"} <= set(asked)


def test_own_objects_take_the_way_without_a_dictionary():
    class Watched(usmx.memory.MemoryUSMShared):
        @property
        def __sycl_usm_array_interface__(self):
            raise AssertionError("a dictionary was asked for")

    m = Watched(64)
    assert partners.first_element(usmx.asarray(m)) == m._pointer


def mappings():
    class Mapping(collections.abc.Mapping):
        def __init__(self, d):
            self.d = d

        def __getitem__(self, key):
            return self.d[key]

        def __iter__(self):
            return iter(self.d)

        def __len__(self):
            return len(self.d)

    class Duck:
        def __init__(self, d):
            self.d = d

        def keys(self):
            return self.d.keys()

        def __getitem__(self, key):
            return self.d[key]

    class Sub(dict):
        pass

    return {
        "dict": dict,
        "subclass of dict": Sub,
        "OrderedDict": collections.OrderedDict,
        "UserDict": collections.UserDict,
        "ChainMap": lambda d: collections.ChainMap({}, d),
        "MappingProxyType": types.MappingProxyType,
        "collections.abc.Mapping": Mapping,
        "keys and __getitem__": Duck,
        "defaultdict": lambda d: collections.defaultdict(int, d),
    }


@pytest.mark.parametrize("name", mappings())
def test_every_mapping_is_a_dictionary(name):
    block = Block(usmx.memory, "shared", "f4")
    obj = partners.Described(block.memory, WHOLE, block.dtype)
    del obj.description["strides"], obj.description["offset"]
    obj.description = mappings()[name](obj.description)
    assert usmx.asarray(obj).to_numpy().tobytes() == block.host.tobytes()


class Number:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Int(int):
    pass


@pytest.mark.parametrize("number", [int, Int, np.int64, np.uint8, np.int16, Number])
def test_every_integer_is_a_number(number):
    block = Block(usmx.memory, "shared", "u1")
    obj = partners.Described(
        block.memory,
        WHOLE,
        block.dtype,
        shape=(number(3), number(4)),
        strides=(number(5), number(1)),
        offset=number(7),
        version=number(1),
    )
    right = Layout((3, 4), (5, 1), 7).of(block.host)
    assert usmx.asarray(obj).to_numpy().tolist() == right.tolist()


@pytest.mark.parametrize("number", [int, Int, np.uint64, Number])
def test_every_integer_is_an_address(number):
    block = Block(usmx.memory, "shared", "u1")
    obj = partners.Described(block.memory, WHOLE, block.dtype, data=(number(block.pointer), False))
    assert partners.first_element(usmx.asarray(obj)) == block.pointer


@pytest.mark.parametrize(
    "sequence",
    [tuple, list, np.array, lambda t: range(t[0], 12, 6), lambda t: memoryview(bytes(t))],
)
def test_every_sequence_is_a_shape(sequence):
    block = Block(usmx.memory, "shared", "u1")
    shape = sequence((5, 11))
    obj = partners.Described(block.memory, WHOLE, block.dtype, shape=shape)
    assert tuple(usmx.asarray(obj).shape) == (5, 11)


@pytest.mark.parametrize(
    "changes",
    [
        {"strides": None},
        {"offset": None},
        {"typedescr": None},
        {"typedescr": [("", "|u1")]},
        {"typedescr": [("", "|V1")]},
        {"somebody": "else", "a": object()},
    ],
)
def test_defaults_and_unknown_keys_change_nothing(changes):
    block = Block(usmx.memory, "shared", "u1")
    obj = partners.Described(block.memory, WHOLE, block.dtype, **changes)
    assert usmx.asarray(obj).to_numpy().tobytes() == block.host.tobytes()


@pytest.mark.parametrize("key", ["strides", "offset"])
def test_key_with_a_default_may_be_missing(key):
    block = Block(usmx.memory, "shared", "u1")
    obj = partners.Described(block.memory, WHOLE, block.dtype)
    del obj.description[key]
    assert usmx.asarray(obj).to_numpy().tobytes() == block.host.tobytes()


@pytest.mark.parametrize("order", "<=|")
def test_every_spelling_of_native_order(order):
    block = Block(usmx.memory, "shared", "f4")
    obj = partners.Described(block.memory, WHOLE, block.dtype, typestr=f"{order}f4")
    assert usmx.asarray(obj).to_numpy().tobytes() == block.host.tobytes()


def test_class_does_not_describe_itself():
    class Producer:
        @property
        def __sycl_usm_array_interface__(self):
            raise AssertionError("asked")

    for take in (usmx.asarray, usmx.memory.as_usm_memory):
        with pytest.raises((TypeError, ValueError)):
            take(Producer)


# --- what is empty ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (0, 2**40)])
@pytest.mark.parametrize("pointer", [0, 64])
def test_empty_array_may_have_any_address(shape, pointer):
    obj = partners.Described(
        usmx.memory.MemoryUSMShared(64), Layout(shape), np.dtype("f4"), data=(pointer, False)
    )
    a = usmx.asarray(obj)
    assert tuple(a.shape) == shape
    again = usmx.asarray(partners.Described(a, Layout(shape), np.dtype("f4")))
    assert tuple(again.shape) == shape
    assert a.to_numpy().shape == shape


@pytest.mark.parametrize("syclobj", ["queue", "context"])
def test_empty_array_with_a_null_pointer_and(syclobj):
    q = usmx.Queue()
    obj = partners.Described(
        usmx.memory.MemoryUSMShared(64),
        Layout((0,)),
        np.dtype("f4"),
        data=(0, False),
        syclobj=q if syclobj == "queue" else q.context,
    )
    assert tuple(usmx.asarray(obj).shape) == (0,)


# --- records ----------------------------------------------------------------------------------

RECORDS = {
    "plain": [("a", "<f4"), ("b", "<i2"), ("c", "|u1")],
    "padded": np.dtype({"names": ["a", "b"], "formats": ["|u1", "<f8"], "offsets": [0, 8]}).descr,
    "aligned": np.dtype([("x", "i1"), ("y", "f8"), ("z", "i2")], align=True).descr,
    "nested": [("p", [("x", "<f4"), ("y", "<f4")]), ("id", "<i8")],
    "with shapes": [("m", "<f4", (2, 3)), ("v", "<i2", (3,)), ("s", "|b1")],
    "with titles": [(("the title", "a"), "<f4"), (("another", "b"), "<i4")],
    "shape as a number": [("v", "<i2", 3)],
    "not ascii": [("größe", "<f4"), ("温度", "<f8")],
    "deep": [("a", [("b", [("c", [("d", "<i2")])])])],
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_travel_with_their_description(name):
    descr = RECORDS[name]
    dtype = np.dtype(descr)
    block = Block(usmx.memory, "shared", "u1")
    obj = partners.Described(
        block.memory, Layout((4,)), np.dtype("u1"), typestr=f"|V{dtype.itemsize}", typedescr=descr
    )
    a = usmx.asarray(obj)
    there = getattr(a, ATTRIBUTE)
    assert np.dtype(there["typedescr"]) == dtype
    assert there["typestr"] == f"|V{dtype.itemsize}"
    again = getattr(usmx.asarray(a), ATTRIBUTE)
    assert again["typedescr"] == there["typedescr"]


def test_numbers_carry_no_description():
    assert "typedescr" not in getattr(usmx.asarray(described("shared", False)), ATTRIBUTE)


# --- our own dictionary -----------------------------------------------------------------------


def test_dictionary_is_fresh_and_complete():
    a = usmx.asarray(described("shared", False))
    first, second = getattr(a, ATTRIBUTE), getattr(a, ATTRIBUTE)
    assert first is not second
    assert set(first) == {"shape", "typestr", "data", "strides", "offset", "version", "syclobj"}
    assert {k: v for k, v in first.items() if k != "syclobj"} == {
        "shape": (partners.ELEMENTS,),
        "typestr": "<f4",
        "data": (partners.first_element(a), False),
        "strides": None,
        "offset": 0,
        "version": 1,
    }
    first["shape"] = None
    first.clear()
    assert getattr(a, ATTRIBUTE)["shape"] == (partners.ELEMENTS,)


def test_dictionary_names_a_queue_that_dpctl_takes():
    m = dpctl.memory.MemoryUSMShared(64)
    there = getattr(usmx.asarray(m), ATTRIBUTE)
    assert isinstance(there["syclobj"], dpctl.SyclQueue)
    for _ in range(3):  # a fresh capsule each time
        assert dpctl.SyclQueue(there["syclobj"]._get_capsule()) == m.sycl_queue


def test_negative_strides_count_from_the_lowest_address():
    block = Block(usmx.memory, "shared", "i4")
    a = usmx.asarray(partners.Described(block.memory, LAYOUTS["reversed in part"], block.dtype))
    there = getattr(a, ATTRIBUTE)
    assert there["strides"] == (10, -2)
    assert there["offset"] == 6
    assert there["data"][0] == block.pointer + 4 * 24


# --- any syclobj ------------------------------------------------------------------------------


def syclobjs():
    return {
        "filter string": lambda q: ROW.device,
        "dpctl.SyclContext": lambda q: q.sycl_context,
        "SyclContextRef": lambda q: q.sycl_context._get_capsule(),
        "dpctl.SyclQueue": lambda q: q,
        "SyclQueueRef": lambda q: q._get_capsule(),
        "_get_capsule": lambda q: type("Q", (), {"_get_capsule": lambda self: q._get_capsule()})(),
        "_get_capsule of a context": lambda q: type(
            "C", (), {"_get_capsule": lambda self: q.sycl_context._get_capsule()}
        )(),
        "usmx.Queue": usmx.Queue,
        "usmx.Context": lambda q: usmx.Queue(q).context,
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", syclobjs())
def test_every_syclobj(name, kind):
    block = Block(dpctl.memory, kind, "f4")
    make = syclobjs()[name]
    syclobj = make(block.memory.sycl_queue)
    a = usmx.asarray(partners.Described(block.memory, WHOLE, block.dtype, syclobj=syclobj))
    assert a.to_numpy().tobytes() == block.host.tobytes()
    assert a.usm_type == kind


def test_compute_follows_the_queue_of_the_producer():
    q = dpctl.SyclQueue(ROW.device, property="in_order")
    m = dpctl.memory.MemoryUSMShared(64, queue=q)
    there = getattr(usmx.asarray(m), ATTRIBUTE)
    assert dpctl.SyclQueue(there["syclobj"]._get_capsule()) == q


def test_imports_with_only_a_context_share_a_queue():
    m = dpctl.memory.MemoryUSMShared(64)
    whole = Layout((64,))
    c = m.sycl_context
    a, b = (usmx.asarray(partners.Described(m, whole, np.dtype("u1"), syclobj=c)) for _ in range(2))
    assert a.queue == b.queue


def test_dictionaries_of_many_queues_and_types_are_not_confused():
    queues = [usmx.Queue(in_order=True) for _ in range(9)]
    arrays = [
        usmx.empty(3, dtype=dtype, queue=queue)
        for queue in queues
        for dtype in ("f4", "i4", "u1", "c8", [("a", "<i4"), ("b", "<f4")])
    ]
    for _ in range(2):
        for a in arrays:
            there = getattr(a, ATTRIBUTE)
            assert a.queue == there["syclobj"]
            assert there["typestr"] == a.dtype.str
            assert ("typedescr" in there) == (a.dtype.names is not None)


def test_changing_a_dictionary_changes_no_other():
    a = usmx.empty((2, 3), dtype="f4")
    first = getattr(a, ATTRIBUTE)
    expected = dict(first)
    first.update(typestr="|b1", syclobj=None, version=7, extra=1)
    del first["offset"]
    assert getattr(a, ATTRIBUTE) == expected


def test_dictionaries_made_until_the_very_end_leave_nothing_behind():
    program = """
import atexit
atexit.register(lambda: (made.append(a.__sycl_usm_array_interface__), print(len(made))))
import usmx
a = usmx.empty(3)
made = [a.__sycl_usm_array_interface__]
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "USMX_LEAK_WARNINGS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")
