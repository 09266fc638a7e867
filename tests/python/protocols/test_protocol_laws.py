# One set of laws for every producer and every consumer of the protocol: the same first element, the
# same values, the same right to write. Who takes part stands in exchange_partners.py.
# SPDX-License-Identifier: Apache-2.0
import gc
import itertools
import weakref

import dpctl.memory
import dpnp
import dpnp.tensor as dpt
import exchange_partners as partners
import numpy as np
import pytest
from exchange_partners import (
    ATTRIBUTE,
    CONSUMERS,
    PRODUCERS,
    Block,
    block_of,
    described,
)
from layouts import DTYPES, KINDS, LAYOUTS, Layout

import usmx
import usmx.memory

WHOLE = Layout((partners.ELEMENTS,))


def combinations(producer):
    for dtype, (name, layout) in itertools.product(
        map(np.dtype, DTYPES), [*LAYOUTS.items(), ("whole", WHOLE)]
    ):
        if producer.can(layout, dtype):
            yield dtype, name, layout


def expected(block, layout, consumer):
    values = layout.of(block.host)
    if not consumer.only_span:
        return values
    touched = layout.of(np.arange(partners.ELEMENTS))
    if touched.size == 0:
        return np.zeros(0, np.uint8)
    return np.frombuffer(block.host[touched.min() : touched.max() + 1].tobytes(), np.uint8)


def expected_first(block, layout, consumer):
    first = layout.offset
    if consumer.only_span:
        first = layout.of(np.arange(partners.ELEMENTS)).min()
    return block.pointer + int(first) * block.dtype.itemsize


def check(producer, consumer, block, layout):
    obj = producer.make(block, layout)
    seen = consumer.take(obj)
    right = expected(block, layout, consumer)
    assert seen.values.shape == right.shape
    assert seen.values.dtype == right.dtype
    assert seen.values.tobytes() == right.tobytes()
    if right.size:
        assert seen.first == expected_first(block, layout, consumer)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("consumer_name", CONSUMERS)
@pytest.mark.parametrize("producer_name", PRODUCERS)
def test_consumer_sees_the_same_elements_at_the_same_address(producer_name, consumer_name, kind):
    producer, consumer = PRODUCERS[producer_name], CONSUMERS[consumer_name]
    checked, wrong = 0, []
    for dtype, name, layout in combinations(producer):
        block = block_of(producer.library, kind, dtype)
        if consumer.leaves_out(layout):
            continue
        if consumer.refuses(producer_name, layout):
            with pytest.raises((ValueError, TypeError)):
                check(producer, consumer, block, layout)
            continue
        checked += 1
        try:
            check(producer, consumer, block, layout)
        except Exception as error:  # all of them together say more than the first
            wrong.append(f"{dtype} {name}: {type(error).__name__}: {str(error)[:200]}")
    assert not wrong, f"{len(wrong)} of {checked}:\n" + "\n".join(wrong[:40])
    assert checked


# --- read-only --------------------------------------------------------------------------------


def writable(obj):
    return not getattr(obj, ATTRIBUTE)["data"][1]


def read_only_tensor(kind):
    a = dpt.arange(24, dtype="f4", usm_type=kind)
    a.flags["W"] = False
    return a


READ_ONLY = {
    "dpnp.tensor.usm_ndarray": read_only_tensor,
    "a Python class": lambda kind: described(kind, True),
    "a Python class with NumPy's bool": lambda kind: described(kind, np.True_),
    "a Python class with one": lambda kind: described(kind, 1),
    "usmx.ndarray": lambda kind: usmx.asarray(described(kind, True)),
    "usmx.memory": lambda kind: usmx.memory.as_usm_memory(described(kind, True)),
}
WRITABLE = {
    "dpnp.tensor.usm_ndarray": lambda kind: dpt.arange(24, dtype="f4", usm_type=kind),
    "dpnp.ndarray": lambda kind: dpnp.arange(24, dtype="f4", usm_type=kind),
    # The one that says True for memory that may be written.
    "dpctl.memory": lambda kind: Block(dpctl.memory, kind, "f4").memory,
    "usmx.memory": lambda kind: Block(usmx.memory, kind, "f4").memory,
    "usmx.ndarray": lambda kind: usmx.asarray(described(kind, False)),
    "a Python class": lambda kind: described(kind, False),
    "a Python class with NumPy's bool": lambda kind: described(kind, np.False_),
    "a Python class with zero": lambda kind: described(kind, 0),
}
HONOURING = [name for name, consumer in CONSUMERS.items() if consumer.honours_read_only]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("consumer_name", HONOURING)
@pytest.mark.parametrize("producer_name", READ_ONLY)
def test_read_only_memory_stays_read_only(producer_name, consumer_name, kind):
    obj = READ_ONLY[producer_name](kind)
    assert not writable(CONSUMERS[consumer_name].take(obj).held)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("consumer_name", HONOURING)
@pytest.mark.parametrize("producer_name", WRITABLE)
def test_writable_memory_stays_writable(producer_name, consumer_name, kind):
    obj = WRITABLE[producer_name](kind)
    assert writable(CONSUMERS[consumer_name].take(obj).held)


def test_read_only_survives_a_chain_through_our_own_objects():
    a = usmx.asarray(described("shared", True))
    for _ in range(3):
        a = usmx.asarray(usmx.memory.as_usm_memory(a))
        assert not writable(a)


class SpeaksForItself(dpctl.memory.MemoryUSMShared):
    """A subclass of dpctl's memory that has the protocol's own idea of the flag."""

    @property
    def __sycl_usm_array_interface__(self):
        there = dict(super().__sycl_usm_array_interface__)
        return {**there, "data": (there["data"][0], self.locked)}


class OnlyInherits(dpctl.memory.MemoryUSMShared):
    pass


def test_dpctl_memory_is_writable_whatever_its_subclass_is_called():
    assert getattr(OnlyInherits(64), ATTRIBUTE)["data"][1] is True
    assert writable(usmx.asarray(OnlyInherits(64)))


@pytest.mark.parametrize("locked", [True, False])
def test_subclass_of_dpctl_memory_with_its_own_property_is_taken_at_its_word(locked):
    m = SpeaksForItself(64)
    m.locked = locked
    assert writable(usmx.asarray(m)) is not locked


def test_object_that_passes_on_the_dictionary_of_dpctl_memory_is_read_only():
    # Nothing in the dictionary says who wrote it: the protocol's meaning is the only one left.
    m = dpctl.memory.MemoryUSMShared(64)

    class PassesOn:
        __sycl_usm_array_interface__ = getattr(m, ATTRIBUTE)

    assert not writable(usmx.asarray(PassesOn()))


# --- chains -----------------------------------------------------------------------------------


CHAIN = {
    "usmx.asarray": usmx.asarray,
    "dpnp.tensor.asarray": dpt.asarray,
    "dpnp.asarray": lambda o: dpnp.asarray(dpt.asarray(o)),
    "usmx.asarray again": lambda o: usmx.asarray(usmx.asarray(o)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", list(itertools.permutations(CHAIN, 3)), ids=" > ".join)
def test_chain_of_libraries_ends_at_the_same_bytes(names, kind):
    layout = LAYOUTS["strided at an offset"]
    ends, gone, rights = [], [], []
    for dtype in map(np.dtype, DTYPES):
        block = Block(dpctl.memory, kind, dtype)
        obj = start = partners.Described(block.memory, layout, dtype)
        gone.append(weakref.ref(start))
        for name in names:
            obj = CHAIN[name](obj)
        ends.append(obj)
        pointer = expected_first(block, layout, CONSUMERS["usmx.asarray"])
        rights.append((pointer, layout.of(block.host).tobytes()))
        del obj, start, block
    # Each link keeps the one before it alive, and with it the memory.
    gc.collect()
    for end, start, (pointer, right) in zip(ends, gone, rights, strict=True):
        assert start() is not None
        assert partners.first_element(end) == pointer
        assert usmx.asarray(end).to_numpy().tobytes() == right
    del end
    ends.clear()
    gc.collect()
    assert [start() for start in gone] == [None] * len(gone)
