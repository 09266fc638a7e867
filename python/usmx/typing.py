"""The types that signatures of usmx, and of extensions built on it, use.

At run time most of them are plain text, so that importing this module imports nothing else.
"""
# SPDX-License-Identifier: Apache-2.0

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    SupportsComplex,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
)

if TYPE_CHECKING:
    import sys

    import numpy
    import numpy.typing

    from ._kernel.language.local_memory import LocalMemory
    from ._usmx import Event
    from ._usmx import dtype as usmx_dtype

    if sys.version_info >= (3, 12):
        from collections.abc import Buffer
    else:
        from typing_extensions import Buffer

__all__ = [
    "ArrayLike", "ArrayOrNumber", "CopySide", "DTypeLike", "DeviceLike", "EventLike",
    "EventsLike", "ForeignArray", "HostElements", "Index", "KernelArgument", "LaunchRange",
    "Number", "NumpyArray", "NumpyDType", "Order", "OrderLike", "OutputLike", "QueueLike",
    "ShapeLike", "SupportsArray", "SupportsArrayInterface", "SupportsArrow",
    "SupportsArrowStream", "SupportsCapsule", "SupportsCudaArray", "SupportsDLPack",
    "SupportsDType", "SupportsFilterString", "SupportsQueue", "SupportsUSM", "UsmKind",
]  # fmt: skip


class SupportsUSM(Protocol):
    """An object that describes its USM by ``__sycl_usm_array_interface__``, of any library."""

    @property
    def __sycl_usm_array_interface__(self) -> Mapping[str, Any]: ...


class SupportsCapsule(Protocol):
    """A queue, context or event of any library: returns its SYCL object in a fresh capsule."""

    def _get_capsule(self) -> object: ...


class SupportsFilterString(Protocol):
    """A device of any library."""

    @property
    def filter_string(self) -> str | None: ...


class SupportsQueue(Protocol):
    """An object that knows its queue, such as the device of a dpnp array."""

    @property
    def sycl_queue(self) -> SupportsCapsule: ...


class SupportsArray(Protocol):
    """An object that NumPy makes an array of."""

    def __array__(self) -> Any: ...


class SupportsDLPack(Protocol):
    """An object that other libraries share through DLPack."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class SupportsArrow(Protocol):
    """An object that other libraries share through Arrow."""

    def __arrow_c_array__(self) -> tuple[Any, Any]: ...


class SupportsArrowStream(Protocol):
    """An object of one or more chunks that other libraries share through Arrow."""

    def __arrow_c_stream__(self) -> Any: ...


class SupportsArrayInterface(Protocol):
    """An object that describes its memory to NumPy by ``__array_interface__``."""

    @property
    def __array_interface__(self) -> Mapping[str, Any]: ...


class SupportsCudaArray(Protocol):
    """An object that describes memory of CUDA by ``__cuda_array_interface__``."""

    @property
    def __cuda_array_interface__(self) -> Mapping[str, Any]: ...


class SupportsDType(Protocol):
    """An object with an element type of NumPy."""

    @property
    def dtype(self) -> "numpy.dtype[Any]": ...


UsmKind: TypeAlias = Literal["device", "shared", "host"]
"""The kinds of USM."""

Order: TypeAlias = Literal["C", "F"]
"""The order of the elements of a new array in memory."""

OrderLike: TypeAlias = Literal["C", "F", "A", "K"]
"""The same for a copy: "A" and "K" follow the source."""

ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
"""Lengths: an int, or a sequence of ints."""

DTypeLike: TypeAlias = (
    "str | type[Any] | usmx_dtype | numpy.dtype[Any] | SupportsDType | list[tuple[Any, ...]] | None"
)
"""An element type: a name, a type, a dtype, or the fields of a record; None is the default."""

QueueLike: TypeAlias = SupportsCapsule | SupportsFilterString | SupportsQueue | str | None
"""A queue: one of any library, a device, a filter string, or None for the default queue."""

DeviceLike: TypeAlias = SupportsFilterString | SupportsCapsule | SupportsQueue | str | None
"""A device: one of any library, a queue, a filter string, or None for the default device."""

EventLike: TypeAlias = "Event | SupportsCapsule"
"""An event of any library."""

EventsLike: TypeAlias = "Event | SupportsCapsule | Sequence[Event | SupportsCapsule] | None"
"""An event, or a sequence of events."""

Number: TypeAlias = complex | SupportsComplex | SupportsFloat | SupportsIndex
"""A number of Python or NumPy."""

HostElements: TypeAlias = "Buffer | SupportsArray | complex | SupportsFloat | Sequence[Any]"
"""Elements of the host: a buffer, a NumPy array, a number, or nested sequences of them."""

ForeignArray: TypeAlias = (
    SupportsUSM
    | SupportsDLPack
    | SupportsCudaArray
    | SupportsArrow
    | SupportsArrowStream
    | SupportsArrayInterface
)
"""An array of another library, by one of the protocols."""

ArrayLike: TypeAlias = "ForeignArray | HostElements"
"""Elements: an array of any library, a buffer, a number, or nested sequences of them."""

ArrayOrNumber: TypeAlias = SupportsUSM | complex | SupportsComplex | SupportsFloat | SupportsIndex
"""An operand of an expression: USM of any library, or a number."""

OutputLike: TypeAlias = SupportsUSM | tuple[SupportsUSM | None, ...] | None
"""Where results go; None in a tuple is an output that is made."""

CopySide: TypeAlias = "SupportsUSM | Buffer | SupportsArray"
"""A side of a copy: USM of any library, or a buffer of the host."""

KernelArgument: TypeAlias = "ArrayOrNumber | Buffer | SupportsArray | LocalMemory"
"""An argument of a kernel: USM, a number, a record, or local memory."""

LaunchRange: TypeAlias = (
    SupportsIndex | tuple[SupportsIndex | tuple[SupportsIndex, ...] | list[SupportsIndex], ...]
)
"""A global range, or a global and a local one."""

Index: TypeAlias = (
    SupportsIndex | slice | EllipsisType | str | SupportsUSM | SupportsArray | Sequence[Any] | None
)
"""Integers, slices, None, `...`, and masks or integers as arrays or lists; a tuple has an entry for
each axis; a string is a field of records."""

NumpyArray: TypeAlias = "numpy.typing.NDArray[Any]"
"""A NumPy array."""

NumpyDType: TypeAlias = "numpy.dtype[Any]"
"""A NumPy dtype; where NumPy is not installed, a `usmx.dtype` stands in its place."""
