# The C structs of `__sycl_usm_exchange_api__` by ctypes, as the page of the protocol has them:
# tables of producers that lie, and what a consumer in C sees of ours.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import re
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    c_char,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)

from dlpack_structs import api as python

ATTRIBUTE = "__sycl_usm_exchange_api__"
CAPSULE = b"sycl_usm_exchange_api"
READ_ONLY, PENDING = 1, 2
KIND_NAMES = ("unknown", "host", "device", "shared")


class Array(ctypes.Structure):
    pass


Release = CFUNCTYPE(None, POINTER(Array))  # without the GIL
Array._fields_ = (
    ("data", c_void_p),
    ("offset", c_int64),
    ("shape", POINTER(c_int64)),
    ("strides", POINTER(c_int64)),
    ("ndim", c_int32),
    ("itemsize", c_uint32),
    ("type", c_char),
    ("kind", c_uint8),
    ("reserved", c_uint16),
    ("flags", c_uint32),
    ("queue", c_void_p),
    ("context", c_void_p),
    ("event", c_void_p),
    ("owner", c_void_p),
    ("release", Release),
)
assert ctypes.sizeof(Array) == 88


class Api(ctypes.Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("size", c_uint64),
        ("view", PYFUNCTYPE(c_int, py_object, POINTER(Array))),
        ("acquire", PYFUNCTYPE(c_int, py_object, POINTER(Array))),
        ("order", PYFUNCTYPE(c_int, py_object, c_void_p)),
        ("used", PYFUNCTYPE(c_int, py_object, c_void_p, c_void_p)),
        ("wait", PYFUNCTYPE(c_int, py_object)),
        ("typedescr", PYFUNCTYPE(c_int, py_object, POINTER(c_void_p))),
        ("make", PYFUNCTYPE(c_int, POINTER(Array), POINTER(py_object))),
    )


assert ctypes.sizeof(Api) == 72


def api_of(obj):
    """The table of an object's type."""
    capsule = getattr(type(obj), ATTRIBUTE)
    return Api.from_address(python.PyCapsule_GetPointer(capsule, CAPSULE))


def address_of(memory):
    """As it is shown: the number itself waits for what is pending, because the host may look."""
    whole = getattr(memory, "usm_data", memory)
    found = re.search("at (0x[0-9a-f]+)", repr(whole)) if "usmx" in type(whole).__module__ else None
    return int(found[1], 16) if found else memory._pointer


def pointer_in(obj, name):
    """The address in a capsule of a queue, context or event, and what keeps it alive."""
    capsule = obj._get_capsule()
    return python.PyCapsule_GetPointer(capsule, name), capsule


def queue_at(queue):
    return pointer_in(queue, b"SyclQueueRef")


def view(obj):
    out = Array()
    assert api_of(obj).view(obj, out) == 0
    return out


def acquire(obj):
    out = Array()
    assert api_of(obj).acquire(obj, out) == 0
    return out


def references(obj):
    gc.collect()
    return sys.getrefcount(obj)


def numbers(pointer, count):
    return tuple(pointer[k] for k in range(count))


class Crafted:
    """What a producer with a table says; the base of the classes that `crafted` makes."""

    def __init__(self, memory, **changes):
        self.memory = memory  # what has the elements
        self.asked = 0
        self.used = []
        self.changes = changes
        self.queue = queue_at(memory.queue)

    def fill(self, out):
        self.shape = (c_int64 * 1)(self.memory.size)
        out.data, out.offset = address_of(self.memory), 0
        out.shape, out.strides = self.shape, None
        out.ndim, out.itemsize, out.type, out.flags = 1, 4, b"f", 0
        out.queue, out.context, out.event = self.queue[0], None, None
        out.release = Release()
        for name, value in self.changes.items():
            given = value
            if name in ("shape", "strides") and value is not None:
                given = (c_int64 * len(value))(*value)
                setattr(self, name, given)
            setattr(out, name, given)


def _view(obj, out):
    obj.asked += 1
    obj.fill(out.contents)
    return 0


def _used(obj, queue, event):
    obj.used.append((queue, event))
    return 0


def crafted(base=Crafted, *, major=1, minor=0, size=None, name=CAPSULE, **functions):
    """A class of producers with these functions in its table."""
    table = Api(major=major, minor=minor, size=ctypes.sizeof(Api) if size is None else size)
    for member, function in ({"view": _view, "used": _used} | functions).items():
        if function is not None:
            kind = dict(Api._fields_)[member]
            setattr(table, member, function if isinstance(function, kind) else kind(function))
    made = type("Tabled", (base,), {"table": table})
    setattr(made, ATTRIBUTE, python.PyCapsule_New(ctypes.addressof(table), name, None))
    return made
