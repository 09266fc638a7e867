# Cases: versions, element types, shapes, strides and offsets that are wrong or lead astray.
# SPDX-License-Identifier: Apache-2.0
import types
from collections.abc import Mapping

from bad_descriptions import Index, Producer, case, row


class Recursive(list):
    """A list that holds itself."""

    def __init__(self):
        super().__init__([self])


class LongSequence:
    def __len__(self):
        return 10**6

    def __getitem__(self, k):
        return 1


class ShortSequence:
    def __len__(self):
        return 5

    def __getitem__(self, k):
        if k < 2:
            return 1
        raise IndexError(k)


class RaisingSequence:
    def __len__(self):
        raise OSError("no length today")

    def __getitem__(self, k):
        return 1


class NegativeLength:
    def __len__(self):
        return -1  # noqa: PLE0303

    def __getitem__(self, k):
        return 1


# --- version ----------------------------------------------------------------------------------

for name, value in {"0": 0, "2": 2, "minus-one": -1, "huge": 10**30, "intmax": 2**63}.items():
    row(f"version-{name}", ValueError, r"^version: ", version=value)
for name, value in {
    "float": 1.9,
    "one-float": 1.0,
    "str": "1",
    "none": None,
    "true": True,
    "tuple": (1,),
    "complex": 1j,
}.items():
    row(f"version-{name}", TypeError, r"^version: .*; expected an integer", version=value)

# --- typestr ----------------------------------------------------------------------------------

row(
    "typestr-byte-swapped",
    ValueError,
    r"^typestr: '>f4' is not in native byte order",
    typestr=">f4",
)
for name, value in {
    "empty": "",
    "no-order": "f4",
    "no-size": "<f",
    "letter-only": "f",
    "word": "float32",
    "size-not-a-number": "<fx",
    "negative-size": "<f-4",
    "spaces": " <f4",
    "trailing": "<f4 ",
    "nul": "<f4\0",
    "leading-zero": "<f04",
    "unknown-letter": "<z4",
    "unicode-digit": "<f\u0664",
    "very-long": "<f" + "4" * 5000,
}.items():
    row(f"typestr-{name}", ValueError, r"^typestr: ", typestr=value)
row("typestr-lone-surrogate", ValueError, r"^typestr: ", typestr="<f4\ud800")
for name, value in {
    "float128": "<f16",
    "float24": "<f3",
    "complex256": "<c32",
    "complex64-by-half": "<c4",
    "int128": "<i16",
    "bool2": "|b2",
    "object": "|O",
    "string": "|S8",
    "unicode": "<U8",
    "datetime": "<M8[ns]",
    "timedelta": "<m8[s]",
    "void-of-nothing": "|V0",
    "bitfield": "|t4",
    "void-of-two-gigabytes": "|V2147483648",
}.items():
    row(f"typestr-{name}", ValueError, r"^typestr: ", typestr=value)
for name, value in {
    "none": None,
    "bytes": b"<f4",
    "int": 4,
    "type": float,
    "list": ["<f4"],
}.items():
    row(f"typestr-{name}", TypeError, r"^typestr: .*; expected a str", typestr=value)
row(
    "typestr-dtype-object",
    TypeError,
    r"^typestr: .*; expected a str",
    typestr=lambda g: g.numpy.dtype("f4"),
)

# --- shape ------------------------------------------------------------------------------------

for name, value in {
    "float": 8.7,
    "str": "8",
    "set": {8},
    "none": None,
    "int": 24,
    "dict": {0: 24},
    "bytes": b"8",
    "bytearray": bytearray(b"8"),
    "iterator": iter((24,)),
    "mapping": types.MappingProxyType({0: 24}),
    "frozenset": frozenset({24}),
}.items():
    row(f"shape-{name}", TypeError, r"^shape: .*; expected a tuple of integers", shape=value)
for name, value in {
    "float": (8.7,),
    "whole-float": (8.0,),
    "str": ("8",),
    "none": (None,),
    "bool": (True,),
    "nested": ((24,),),
    "complex": (8j,),
}.items():
    row(f"shape-of-{name}", TypeError, r"^shape\[0\]: .*; expected an integer", shape=value)
row("shape-of-int-and-float", TypeError, r"^shape\[1\]: 2\.5 \(float\)", shape=(2, 2.5))
row("shape-of-numpy-float", TypeError, r"^shape\[0\]: ", shape=lambda g: (g.numpy.float64(8),))
row("shape-is-numpy-floats", TypeError, r"^shape\[0\]: ", shape=lambda g: g.numpy.ones(2))
row("shape-is-numpy-matrix", TypeError, r"integer", shape=lambda g: g.numpy.ones((2, 2), int))
row("shape-negative", ValueError, r"^shape: \(-1,\) has a negative length", shape=(-1,))
row("shape-negative-behind-zero", ValueError, r"^shape: ", shape=(0, -5))
row("shape-overflows-2x32", ValueError, r"^shape: \(4294967296, 4294967296\)", shape=(2**32, 2**32))
row("shape-overflows-bytes", ValueError, r"^shape: ", shape=(2**62,))
row("shape-int64-max", ValueError, r"^shape: ", shape=(2**63 - 1,))
row("shape-beyond-int64", ValueError, r"^shape\[0\]: 9223372036854775808", shape=(2**63,))
row("shape-uint64-max", ValueError, r"^shape\[0\]: ", shape=(2**64 - 1,))
row("shape-huge", ValueError, r"^shape\[0\]: ", shape=(10**5000,))
row("shape-huge-negative", ValueError, r"^shape\[0\]: ", shape=(-(10**30),))
row("shape-of-65-dimensions", ValueError, r"^shape: 65 dimensions; at most 64", shape=(1,) * 65)
row("shape-of-136-dimensions", ValueError, r"^shape: 136 dimensions", shape=[1] * 136)
row("shape-of-a-million", ValueError, r"^shape: 1000000 dimensions", shape=lambda g: LongSequence())
row(
    "shape-shorter-than-promised",
    ValueError,
    r"^shape: .*ends after 2 of the 5",
    shape=lambda g: ShortSequence(),
)
row("shape-length-raises", OSError, r"^no length today$", shape=lambda g: RaisingSequence())
row(
    "shape-length-negative",
    ValueError,
    r"__len__\(\) should return >= 0",
    shape=lambda g: NegativeLength(),
)
row(
    "shape-index-raises",
    ZeroDivisionError,
    r"^index$",
    shape=lambda g: (Index(ZeroDivisionError("index")),),
)
row(
    "shape-index-returns-str",
    TypeError,
    r"__index__ returned non-int",
    shape=lambda g: (Index("8"),),
)
row("shape-index-returns-huge", ValueError, r"^shape\[0\]: ", shape=lambda g: (Index(2**64),))
row("shape-holds-itself", TypeError, r"^shape\[0\]: ", shape=lambda g: Recursive())
row("shape-too-large-for-the-allocation", ValueError, r"^data: ", shape=(257,))
row("shape-2d-too-large-for-the-allocation", ValueError, r"^data: ", shape=(16, 17))
row("shape-terabytes", ValueError, r"^data: ", shape=(2**40,))


@case("shape-list-shrinks-while-read", ValueError, r"^data: ")
def _(ground):
    shape = [1, 2**30, 1, 1]

    class Shrinks(Index):
        def __index__(self):
            shape.clear()
            return 1

    shape[0] = Shrinks(1)
    return Producer(_Rebuilding(ground, lambda: [Shrinks(1), 2**30, 1, 1]))


class _Rebuilding(Mapping):
    """Gives a fresh shape at each read, so that a case can be repeated."""

    def __init__(self, ground, shape):
        self.ground, self.shape = ground, shape

    def __getitem__(self, key):
        return self.shape() if key == "shape" else self.ground.description()[key]

    def __iter__(self):
        return iter(self.ground.description())

    def __len__(self):
        return 7


@case(
    "dict-cleared-while-read", ValueError, r"^(typestr|shape|syclobj): is missing|^data: is missing"
)
def _(ground):
    class Fresh:
        @property
        def __sycl_usm_array_interface__(self):
            d = ground.description()

            class Clears:
                def __index__(self):
                    d.clear()
                    return 1

            d["version"] = Clears()
            return d

    return Fresh()


# --- strides ----------------------------------------------------------------------------------

for name, value in {
    "float": 1.5,
    "str": "1",
    "int": 1,
    "set": {1},
    "bytes": b"\1",
    "dict": {},
}.items():
    row(f"strides-{name}", TypeError, r"^strides: .*; expected a tuple", strides=value)
for name, value in {"float": (1.5,), "str": ("1",), "none": (None,), "bool": (False,)}.items():
    row(f"strides-of-{name}", TypeError, r"^strides\[0\]: .*; expected an integer", strides=value)
row("strides-too-few", ValueError, r"^strides: ", strides=())
row("strides-too-many", ValueError, r"^strides: ", strides=(1, 1))
row("strides-of-65-dimensions", ValueError, r"^strides: 65 ", strides=(1,) * 65)
row("strides-beyond-int64", ValueError, r"^strides\[0\]: ", strides=(2**63,))
row("strides-beyond-int64-negative", ValueError, r"^strides\[0\]: ", strides=(-(2**63) - 1,))
row("strides-int64-min", ValueError, r"^strides: ", strides=(-(2**63),))
row("strides-int64-max", ValueError, r"^strides: ", strides=(2**63 - 1,))
row("strides-overflow-when-multiplied", ValueError, r"^strides: ", strides=(2**60,))
row("strides-that-wrap-around", ValueError, r"^strides: ", shape=(2, 2), strides=(2**62, -(2**62)))
row("strides-leave-by-one-element", ValueError, r"^data: ", shape=(2,), strides=(256,))
row("strides-leave-below-by-one-element", ValueError, r"^data: ", shape=(2,), strides=(-1,))
row(
    "strides-2d-leave-by-one-element",
    ValueError,
    r"^data: ",
    shape=(16, 16),
    strides=(16, 1),
    offset=1,
)
row("strides-negative-without-offset", ValueError, r"^data: ", strides=(-1,))
row("strides-negative-offset-one-short", ValueError, r"^data: ", strides=(-1,), offset=22)
row(
    "strides-index-raises",
    ZeroDivisionError,
    r"^index$",
    strides=lambda g: (Index(ZeroDivisionError("index")),),
)
row(
    "strides-shorter-than-promised",
    ValueError,
    r"^strides: .*ends after 2 of the 5",
    shape=(1, 1, 1, 1, 1),
    strides=lambda g: ShortSequence(),
)

# --- offset -----------------------------------------------------------------------------------

for name, value in {
    "float": 1.0,
    "str": "1",
    "tuple": (1,),
    "false": False,
    "true": True,
    "list": [],
    "bytes": b"1",
}.items():
    row(f"offset-{name}", TypeError, r"^offset: .*; expected an integer", offset=value)
row("offset-minus-one", ValueError, r"^data: ", offset=-1)
row("offset-one-too-far", ValueError, r"^data: ", offset=233)
row("offset-outside", ValueError, r"^data: ", offset=10**6)
row("offset-2-61", ValueError, r"^(data|offset): ", offset=2**61)
row("offset-minus-2-61", ValueError, r"^(data|offset): ", offset=-(2**61))
row("offset-int64-max", ValueError, r"^offset: ", offset=2**63 - 1)
row("offset-int64-min", ValueError, r"^offset: ", offset=-(2**63))
row("offset-beyond-int64", ValueError, r"^offset: ", offset=2**63)
row("offset-huge", ValueError, r"^offset: ", offset=10**5000)
row(
    "offset-index-raises",
    ZeroDivisionError,
    r"^index$",
    offset=lambda g: Index(ZeroDivisionError("index")),
)
row("offset-wraps-the-address", ValueError, r"^data: ", data=(2**64 - 64, False), offset=16)
row("offset-back-to-null", ValueError, r"^data: ", shape=(1,), offset=lambda g: -(g.pointer // 4))
