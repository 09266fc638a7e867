# DLPack's C structs by ctypes: crafted tensors, and what a consumer in C sees of ours.
# SPDX-License-Identifier: Apache-2.0
import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_void_p

from backend_row import own_device

CPU, CUDA, ONEAPI = 1, 2, 14
READ_ONLY, COPIED = 1, 2
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = (c_void_p, c_char_p, c_void_p)
api.PyCapsule_GetPointer.restype = c_void_p
api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, c_char_p)
api.PyCapsule_GetName.restype = c_char_p
api.PyCapsule_GetName.argtypes = (ctypes.py_object,)


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Versioned(ctypes.Structure):
    pass


class Legacy(ctypes.Structure):
    pass


Versioned._fields_ = (
    ("major", c_uint32),
    ("minor", c_uint32),
    ("context", c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, POINTER(Versioned))),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
)
Legacy._fields_ = (
    ("tensor", Tensor),
    ("context", c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, POINTER(Legacy))),
)


class Table(ctypes.Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("previous", c_void_p),
        ("allocate", c_void_p),
        ("from_object", ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(POINTER(Versioned)))),
        ("to_object", ctypes.PYFUNCTYPE(c_int, POINTER(Versioned), POINTER(ctypes.py_object))),
        ("view_object", ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(Tensor))),
        ("current_stream", ctypes.PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))),
    )


FRESH = {Versioned: b"dltensor_versioned", Legacy: b"dltensor"}


def struct_in(capsule):
    """The struct that a fresh capsule holds."""
    name = api.PyCapsule_GetName(capsule)
    kind = next(kind for kind, fresh in FRESH.items() if fresh == name)
    return ctypes.cast(api.PyCapsule_GetPointer(capsule, name), POINTER(kind)).contents


def numbers(pointer, count):
    return tuple(pointer[k] for k in range(count))


class Crafted:
    """A producer whose tensor can be anything; counts how often its deleter is called."""

    def __init__(self, memory, *, kind=Versioned, device=None, capsule_name=None, **changes):
        self.memory = memory  # what has the elements, kept alive here
        self.device = device or own_device(getattr(memory, "usm_type", "device"))
        self.kind = kind
        self.deleted = 0
        self.asked = []
        self.capsule_name = capsule_name or FRESH[kind]
        self.changes = changes

    def describe(self, managed):
        tensor = managed.tensor
        tensor.data = self.memory.pointer
        tensor.device_type, tensor.device_id = self.device
        tensor.ndim, tensor.code, tensor.bits, tensor.lanes = 1, CODES["f"], 32, 1
        self.shape = (c_int64 * 1)(self.memory.size)
        tensor.shape = ctypes.cast(self.shape, POINTER(c_int64))
        if self.kind is Versioned:
            managed.major, managed.minor = 1, 0
        for name, value in self.changes.items():
            if name in ("shape", "strides"):
                listed = value and (c_int64 * len(value))(*value)
                setattr(self, name, listed)
                setattr(tensor, name, ctypes.cast(listed, POINTER(c_int64)))
            elif name == "deleter":
                continue
            else:
                setattr(managed if hasattr(managed, name) else tensor, name, value)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        self.managed = self.kind()

        def delete(_):
            self.deleted += 1

        if self.changes.get("deleter", True):
            self.managed.deleter = type(self.managed.deleter)(delete)
        self.describe(self.managed)
        return api.PyCapsule_New(ctypes.addressof(self.managed), self.capsule_name, None)
