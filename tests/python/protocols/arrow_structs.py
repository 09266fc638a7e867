# Arrow's C structs by ctypes: crafted arrays and streams, and what a consumer in C sees of ours.
# SPDX-License-Identifier: Apache-2.0
import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_void_p

from backend_row import own_device
from dlpack_structs import api

CPU, CUDA, CUDA_HOST, CUDA_MANAGED, ONEAPI = 1, 2, 3, 13, 14
DEVICE = own_device("device")


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = (
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Schema))),
    ("private_data", c_void_p),
)
Array._fields_ = (
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Array))),
    ("dictionary", POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Array))),
    ("private_data", c_void_p),
)


class DeviceArray(ctypes.Structure):
    _fields_ = (
        ("array", Array),
        ("device_id", c_int64),
        ("device_type", c_int32),
        ("sync_event", c_void_p),
        ("reserved", c_int64 * 3),
    )


class Stream(ctypes.Structure):
    pass


Stream._fields_ = (
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(c_void_p, POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Stream))),
    ("private_data", c_void_p),
)


class DeviceStream(ctypes.Structure):
    pass


DeviceStream._fields_ = (
    ("device_type", c_int32),
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(DeviceStream), POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(DeviceStream), POINTER(DeviceArray))),
    ("get_last_error", ctypes.CFUNCTYPE(c_void_p, POINTER(DeviceStream))),
    ("release", ctypes.CFUNCTYPE(None, POINTER(DeviceStream))),
    ("private_data", c_void_p),
)

NAMES = {
    Schema: b"arrow_schema",
    Array: b"arrow_array",
    DeviceArray: b"arrow_device_array",
    Stream: b"arrow_array_stream",
    DeviceStream: b"arrow_device_array_stream",
}


# Functions that a struct may call after its producer is gone, as those of a library in C.
LASTING = []


def struct_in(capsule, kind):
    """The struct that a capsule holds."""
    address = api.PyCapsule_GetPointer(capsule, NAMES[kind])
    struct = ctypes.cast(address, POINTER(kind)).contents
    struct.capsule = capsule  # which owns it
    return struct


def capsule_of(struct, name=None):
    return api.PyCapsule_New(ctypes.addressof(struct), name or NAMES[type(struct)], None)


def end(struct):
    """Release a struct as a consumer does."""
    if struct.release:
        struct.release(ctypes.pointer(struct))


class Crafted:
    """A producer whose structs can be anything; counts how often each is released.

    Fields of the schema are given as ``schema_format=...``, those of the array as ``length=...``.
    """

    def __init__(self, address, length, format=b"f", *, owner=None, names=None, **changes):
        self.owner = owner  # what has the elements, kept alive here
        self.address, self.length, self.format = address, length, format
        self.names = names or {}
        self.changes = changes
        self.released = []
        self.asked = []
        self.kept = []

    def _release(self, kind, label):
        released = self.released  # and not the producer, which may be gone

        def release(pointer):
            released.append(label)
            pointer.contents.release = type(pointer.contents.release)()

        function = type(kind().release)(release)
        LASTING.append(function)
        return function

    def schema(self):
        made = Schema(format=self.format, name=b"", release=self._release(Schema, "schema"))
        for name, value in self.changes.items():
            if name.startswith("schema_"):
                setattr(made, name.removeprefix("schema_"), value)
        return made

    def array(self, **more):
        buffers = (c_void_p * 2)(self.changes.get("bits"), self.address)
        self.kept.append(buffers)
        made = Array(
            length=self.length,
            n_buffers=2,
            buffers=buffers,
            release=self._release(Array, "array"),
        )
        for name, value in {**self.changes, **more}.items():
            if hasattr(Array, name):
                setattr(made, name, value)
        return made

    def keep(self, struct):
        self.kept.append(struct)
        return capsule_of(struct, self.names.get(type(struct)))

    def __arrow_c_array__(self, requested_schema=None):
        self.asked.append(requested_schema)
        return self.keep(self.schema()), self.keep(self.array())


class CraftedOnDevice(Crafted):
    def __init__(self, *args, device=DEVICE, sync_event=None, **more):
        super().__init__(*args, **more)
        self.device, self.sync_event = device, sync_event

    __arrow_c_array__ = None

    def __arrow_c_device_array__(self, requested_schema=None, **_):
        made = DeviceArray(
            array=self.array(),
            device_type=self.device[0],
            device_id=self.device[1],
            sync_event=self.sync_event,
        )
        return self.keep(self.schema()), self.keep(made)


class CraftedStream(Crafted):
    """A stream of arrays, one for each entry of `chunks`: what differs in it."""

    def __init__(self, *args, chunks=({},), fails=None, **more):
        super().__init__(*args, **more)
        self.chunks, self.fails = list(chunks), fails

    __arrow_c_array__ = None

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream(Stream, self.array, Array)

    def stream(self, kind, make, end):
        left = list(self.chunks)
        message = ctypes.create_string_buffer(b"the file is gone")

        def get_schema(_, out):
            if self.fails == "get_schema":
                return 5
            out[0] = self.schema()
            return 0

        def get_next(_, out):
            if self.fails == "get_next" and not left:
                return 22
            out[0] = make(**left.pop(0)) if left else end()
            return 0

        functions = {
            "get_schema": get_schema,
            "get_next": get_next,
            "get_last_error": lambda _: ctypes.addressof(message),
        }
        kinds = dict(kind._fields_)
        self.kept.append(message)
        made = kind(release=self._release(kind, "stream"))
        for name, function in functions.items():
            if name == self.changes.get("without"):
                continue
            called = kinds[name](function)
            self.kept.append(called)
            setattr(made, name, called)
        self.made = made
        return self.keep(made)


class CraftedDeviceStream(CraftedStream):
    """The same on a device; each chunk says where its elements are."""

    __arrow_c_stream__ = None

    def __init__(self, *args, device=DEVICE, **more):
        super().__init__(*args, **more)
        self.device = device

    def __arrow_c_device_stream__(self, requested_schema=None, **_):
        def make(**more):
            return DeviceArray(
                array=self.array(**more), device_type=self.device[0], device_id=self.device[1]
            )

        capsule = self.stream(DeviceStream, make, DeviceArray)
        self.made.device_type = self.device[0]
        return capsule
