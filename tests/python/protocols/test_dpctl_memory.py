# dpctl.memory's objects are read by dpctl's own C functions: the result is what their dictionary
# says, and classes that describe themselves otherwise are asked for their dictionary.
# SPDX-License-Identifier: Apache-2.0
import gc
import subprocess
import sys
import textwrap

import dpctl
import dpctl.memory
import dpctl.memory._memory as compiled
import pytest

import usmx
import usmx.memory as um

ATTRIBUTE = "__sycl_usm_array_interface__"
CLASSES = {
    "device": dpctl.memory.MemoryUSMDevice,
    "shared": dpctl.memory.MemoryUSMShared,
    "host": dpctl.memory.MemoryUSMHost,
}


class Described:
    """The same memory by its dictionary, with the flag as the protocol means it."""

    def __init__(self, memory):
        self.memory = memory

    @property
    def __sycl_usm_array_interface__(self):
        d = getattr(self.memory, ATTRIBUTE)
        return {**d, "data": (d["data"][0], False)}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("derived", [False, True])
def test_it_is_what_the_dictionary_says(kind, derived):
    cls = type("Derived", (CLASSES[kind],), {}) if derived else CLASSES[kind]
    queue = dpctl.SyclQueue(property="in_order")
    for count in (1, 7, 4096):
        memory = cls(count, queue=queue)
        with usmx.trace() as record:
            ours, theirs = usmx.asarray(memory), usmx.asarray(Described(memory))
            bytes_of_it = um.as_usm_memory(memory)
        assert not record.copies
        assert ours.pointer == theirs.pointer == bytes_of_it._pointer == memory._pointer
        assert ours.shape == theirs.shape == (count,)
        assert ours.dtype == theirs.dtype
        assert ours.usm_type == theirs.usm_type == bytes_of_it.usm_type == kind
        assert ours.queue == theirs.queue == usmx.Queue(queue)
        assert ours.flags.writeable
        assert bytes_of_it.reference_obj is memory


def test_it_lives_as_long_as_the_array():
    class Derived(dpctl.memory.MemoryUSMShared):
        ended = 0

        def __del__(self):
            Derived.ended += 1

    x = usmx.asarray(Derived(64))[3:]
    gc.collect()
    assert Derived.ended == 0
    x[...] = 7
    assert x.to_numpy().tolist() == [7] * 61
    del x
    gc.collect()
    assert Derived.ended == 1


def test_a_class_that_describes_itself_is_asked():
    class Half(dpctl.memory.MemoryUSMShared):
        @property
        def __sycl_usm_array_interface__(self):
            return {**super().__sycl_usm_array_interface__, "shape": (32,)}

    class ReadOnly(dpctl.memory.MemoryUSMShared):
        def __getattribute__(self, name):
            value = super().__getattribute__(name)
            if name != ATTRIBUTE:
                return value
            return {**value, "shape": (8,)}

    class Late(dpctl.memory.MemoryUSMShared):
        pass

    assert usmx.asarray(Half(64)).shape == (32,)
    assert usmx.asarray(ReadOnly(64)).shape == (8,)
    assert usmx.asarray(Late(64)).shape == (64,)
    whole, half = Late(64), Half(64)
    Late.__sycl_usm_array_interface__ = property(lambda _: getattr(half, ATTRIBUTE))
    assert usmx.asarray(whole).shape == (32,)


def test_an_object_that_borrowed_the_attribute_is_no_memory():
    class Borrower:
        pass

    setattr(Borrower, ATTRIBUTE, getattr(compiled._Memory, ATTRIBUTE))
    for take in (usmx.asarray, um.as_usm_memory):
        with pytest.raises(TypeError, match="Borrower"):
            take(Borrower())


def test_without_the_functions_the_dictionary_is_read():
    program = """
        import dpctl.memory
        import dpctl.memory._memory as compiled
        import usmx

        for name in ("Memory_GetQueueRef", "Memory_GetNumBytes", "Memory_GetUsmPointer"):
            held = compiled.__pyx_capi__.pop(name)
            Derived = type("Derived", (dpctl.memory.MemoryUSMShared,), {})
            memory = Derived(64)
            x = usmx.asarray(memory)
            assert (x.pointer, x.shape) == (memory._pointer, (64,))
            assert x.flags.writeable
            compiled.__pyx_capi__[name] = held
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
