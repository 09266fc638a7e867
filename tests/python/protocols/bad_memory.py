# Cases: addresses that are not USM, buffers that are not either, and objects without a context.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import sys
import types

from bad_descriptions import MISSING, Index, Producer, case, row

# --- data -------------------------------------------------------------------------------------

for name, value in {
    "int": 4096,
    "str": "4096",
    "bytes": b"abc",
    "dict": {},
    "empty": (),
    "one": (4096,),
    "three": (4096, False, 0),
    "false": False,
    "set": {1, 2},
    "buffer": bytearray(96),
}.items():
    row(
        f"data-{name}", TypeError, r"^data: .*; expected a tuple \(address, read_only\)", data=value
    )
for name, value in {
    "float": 4096.0,
    "str": "4096",
    "hex": "0x1000",
    "none": None,
    "bool": True,
    "bytes": b"\0" * 8,
}.items():
    row(
        f"data-pointer-{name}",
        TypeError,
        r"^data\[0\]: .*; expected the address",
        data=(value, False),
    )
row(
    "data-pointer-ctypes", TypeError, r"^data\[0\]: ", data=lambda g: (ctypes.c_void_p(4096), False)
)
for name, value in {
    "none": None,
    "str": "False",
    "two": 2,
    "minus-one": -1,
    "float": 0.0,
    "tuple": (),
    "huge": 2**70,
}.items():
    row(
        f"data-flag-{name}",
        TypeError,
        r"^data\[1\]: .*; expected True \(read-only\) or False",
        data=lambda g, value=value: (g.pointer, value),
    )
row(
    "data-flag-numpy-float",
    TypeError,
    r"^data\[1\]: ",
    data=lambda g: (g.pointer, g.numpy.float64(1)),
)
row("data-null", ValueError, r"^data: is null, but the array has elements", data=(0, False))
row(
    "data-null-with-offset",
    ValueError,
    r"^data: ",
    data=(0, False),
    offset=lambda g: g.pointer // 4,
)
row("data-negative", ValueError, r"^data\[0\]: -4096 ", data=(-4096, False))
row("data-beyond-address-space", ValueError, r"^data\[0\]: ", data=(2**64, False))
row("data-huge", ValueError, r"^data\[0\]: ", data=(10**5000, False))
row("data-last-address", ValueError, r"^data: ", data=(2**64 - 4, False))
row("data-not-canonical", ValueError, r"^data: ", data=(2**48, False))
row("data-tiny", ValueError, r"^data: .* is not USM", data=(4096, False))
row(
    "data-index-raises",
    ZeroDivisionError,
    r"^index$",
    data=lambda g: (Index(ZeroDivisionError("index")), False),
)
for alignment, typestr in ((1, "<f4"), (2, "<f4"), (3, "<i4"), (1, "<i2"), (4, "<f8"), (4, "<c16")):
    row(
        f"data-misaligned-by-{alignment}-for-{typestr[1:]}",
        ValueError,
        r"^data: 0x[0-9a-f]+ is not aligned",
        shape=(4,),
        typestr=typestr,
        data=lambda g, by=alignment: (g.pointer + by, False),
    )
row(
    "data-host-memory",
    ValueError,
    r"^data: .* is not USM",
    data=lambda g: (ctypes.addressof(g.host), False),
)
row(
    "data-numpy-memory",
    ValueError,
    r"^data: .* is not USM",
    data=lambda g: (_numpy_block(g), False),
)
row(
    "data-stack-memory",
    ValueError,
    r"^data: .* is not USM",
    shape=(1,),
    typestr="|u1",
    data=lambda g: (ctypes.addressof(ctypes.c_char(b"x")), False),
)
row(
    "data-code",
    ValueError,
    r"^data: .* is not USM",
    shape=(1,),
    typestr="|u1",
    data=lambda g: (ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value, False),
)
row(
    "data-host-memory-with-a-context",
    ValueError,
    r"^data: .* is not USM",
    data=lambda g: (ctypes.addressof(g.host), False),
    syclobj=lambda g: g.queue.context,
)
row(
    "data-one-past-the-end",
    ValueError,
    r"^data: ",
    shape=(1,),
    typestr="|u1",
    data=lambda g: (g.pointer + 1024, False),
)
row(
    "data-one-before-the-start",
    ValueError,
    r"^data: ",
    shape=(2,),
    typestr="|u1",
    data=lambda g: (g.pointer - 1, False),
)
row(
    "data-end-one-element-too-far",
    ValueError,
    r"^data: ",
    data=lambda g: (g.pointer + 1024 - 92, False),
)
row(
    "data-foreign-memory-too-large",
    ValueError,
    r"^data: ",
    shape=(257,),
    data=lambda g: (g.foreign._pointer, False),
    syclobj=lambda g: g.foreign.sycl_queue,
)


def _numpy_block(ground):
    block = ground.numpy.zeros(1 << 16)
    return block.ctypes.data


@case("data-freed-memory", ValueError, r"^data: .* is not USM", repeatable=False)
def _(ground):
    block = ground.dpctl.memory.MemoryUSMDevice(1 << 20)
    queue, pointer = block.sycl_queue, block._pointer
    del block
    return Producer(ground.description(data=(pointer, False), syclobj=queue))


# --- missing data, so that the producer's buffer is the memory --------------------------------


class Bytes(bytearray):
    """A bytearray that claims to be USM and leaves `data` to its buffer."""

    description: dict

    @property
    def __sycl_usm_array_interface__(self):
        return self.description


def buffered(ground, content, **changes):
    made = Bytes(content)
    made.description = ground.description(data=MISSING, **changes)
    return made


HOST_BUFFER = r"^data: is missing, and the buffer of .* is not USM of the context"
case("buffer-of-host-memory", ValueError, HOST_BUFFER)(lambda g: buffered(g, bytes(96)))
case("buffer-of-host-memory-data-none", ValueError, HOST_BUFFER)(
    lambda g: _with_none(buffered(g, bytes(96)))
)
case("buffer-of-host-memory-with-a-context", ValueError, HOST_BUFFER)(
    lambda g: buffered(g, bytes(96), syclobj=g.queue.context)
)
case("buffer-too-small", ValueError, r"buffer of 95 bytes")(lambda g: buffered(g, bytes(95)))
case("buffer-offset-outside", ValueError, r"buffer of 96 bytes")(
    lambda g: buffered(g, bytes(96), offset=1)
)
case("buffer-offset-below", ValueError, r"buffer of 96 bytes")(
    lambda g: buffered(g, bytes(96), offset=-1)
)
case("buffer-strides-outside", ValueError, r"buffer of 96 bytes")(
    lambda g: buffered(g, bytes(96), strides=(2,))
)


def _with_none(made):
    made.description["data"] = None
    return made


# --- syclobj ----------------------------------------------------------------------------------

for name, value in {
    "none": None,
    "int": 0,
    "bytes": b"cpu",
    "object": object(),
    "list": ["cpu"],
    "float": 1.5,
    "type": int,
    "module": sys,
}.items():
    row(
        f"syclobj-{name}",
        TypeError,
        r"^syclobj: .*expected a filter string, a Queue",
        syclobj=value,
    )
row(
    "syclobj-usmx-device",
    TypeError,
    r"^syclobj: .*pass a queue made from it",
    syclobj=lambda g: g.queue.device,
)
row(
    "syclobj-dpctl-device",
    TypeError,
    r"^syclobj: .*pass a queue made from it",
    syclobj=lambda g: g.dpctl.SyclDevice(),
)
row("syclobj-queue-class", TypeError, r"^syclobj: ", syclobj=lambda g: g.usmx.Queue)
row("syclobj-dpctl-queue-class", TypeError, r"^syclobj: ", syclobj=lambda g: g.dpctl.SyclQueue)
row("syclobj-memory", TypeError, r"^syclobj: ", syclobj=lambda g: g.memory)
for name, value in {
    "empty": "",
    "word": "toaster",
    "no-such-index": "cpu:7",
    "four-parts": "a:b:c:d",
    "negative-index": "cpu:-1",
    "nul": "cpu\0",
}.items():
    if name != "empty":  # the empty string is the default device
        row(
            f"syclobj-filter-{name}",
            (ValueError, RuntimeError),
            r"(?i)filter|device|syclobj",
            syclobj=value,
        )
row("syclobj-filter-lone-surrogate", ValueError, "lone surrogate", syclobj="cpu\ud800")


def capsule(name, pointer=None):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(pointer or 1, name, None)


def used_capsule(ground):
    made = ground.dpctl.SyclQueue()._get_capsule()
    ground.dpctl.SyclQueue(made)
    return made


def used_context_capsule(ground):
    made = ground.dpctl.SyclContext()._get_capsule()
    ground.dpctl.SyclContext(made)
    return made


row(
    "syclobj-capsule-without-a-name",
    ValueError,
    r"^syclobj: .*without a name",
    syclobj=lambda g: capsule(None),
)
row(
    "syclobj-capsule-of-another-name",
    ValueError,
    r"^syclobj: .*\"dltensor\"",
    syclobj=lambda g: capsule(_DLTENSOR),
)
row(
    "syclobj-capsule-of-an-event",
    ValueError,
    r"^syclobj: .*event",
    syclobj=lambda g: capsule(_EVENT),
)
row(
    "syclobj-capsule-of-a-device",
    ValueError,
    r"^syclobj: .*SyclDeviceRef",
    syclobj=lambda g: capsule(_DEVICE),
)
row("syclobj-capsule-used-queue", ValueError, r"^syclobj: .*used already", syclobj=used_capsule)
row(
    "syclobj-capsule-used-context",
    ValueError,
    r"^syclobj: .*used already",
    syclobj=used_context_capsule,
)
# A capsule keeps the pointer to its name, so the names must stay.
_DLTENSOR, _EVENT, _DEVICE = b"dltensor", b"SyclEventRef", b"SyclDeviceRef"


class Capsuled:
    def __init__(self, value):
        self.value = value

    def _get_capsule(self):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


for name, value in {"none": None, "int": 1, "bytes": b"x"}.items():
    row(
        f"syclobj-get-capsule-gives-{name}",
        TypeError,
        r"^syclobj: .*_get_capsule",
        syclobj=lambda g, value=value: Capsuled(value),
    )
row(
    "syclobj-get-capsule-raises",
    ZeroDivisionError,
    r"^capsule$",
    syclobj=lambda g: Capsuled(ZeroDivisionError("capsule")),
)
row(
    "syclobj-get-capsule-gives-another-name",
    ValueError,
    r"^syclobj: .*dltensor",
    syclobj=lambda g: Capsuled(capsule(_DLTENSOR)),
)
row(
    "syclobj-get-capsule-gives-a-used-one",
    ValueError,
    r"^syclobj: .*used already",
    syclobj=lambda g: Capsuled(used_capsule(g)),
)
row(
    "syclobj-get-capsule-is-no-method",
    TypeError,
    r"not callable",
    syclobj=lambda g: types.SimpleNamespace(_get_capsule=1),
)
row("syclobj-other-context", ValueError, r"^data: .* is not USM", syclobj=lambda g: g.other_context)
row(
    "syclobj-queue-of-another-context",
    ValueError,
    r"^data: .* is not USM",
    syclobj=lambda g: g.other_queue,
)
row(
    "syclobj-queue-of-a-sub-device",
    ValueError,
    r"^data: .* is not USM",
    syclobj=lambda g: g.part_queue,
)
