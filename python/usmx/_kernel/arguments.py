"""What a launch is given, as the compiler and the simulator look at it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from .. import _usmx
from .language.device_function import DeviceFunction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .types.scalars import Type

# Types are imported where they are needed: a kernel that is kept on disk needs none of them.


def as_array(obj: Any) -> Any:
    """Memory that kernels use as an array of ours, everything else as it is.

    By the protocols, and not by asking for an attribute: one that describes memory waits for what
    is pending, and from then on the memory counts as exposed.
    """
    if isinstance(obj, _usmx.ndarray):
        return obj
    obj = unpacked(obj)
    if isinstance(obj, tuple):
        return tuple_like(obj, [as_array(item) for item in obj])
    found: Any = _usmx._imported(obj, host=True)
    if found is None or found.ndim > 0 or found.usm_type != "unknown":
        return obj if found is None else found
    # Of rank 0 it is a number: by value, as NumPy takes it.
    number: Any = obj
    return number[()] if type(obj).__module__ == "numpy" else obj


def tuple_like(old: Any, items: list[Any]) -> Any:
    """A tuple of other items; of the same class if that is a namedtuple's."""
    return type(old)._make(items) if hasattr(type(old), "_make") else tuple(items)


def parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arguments in a tuple, with names of their own: ``"t.0.1"``; else the argument."""
    value = unpacked(value)
    if not isinstance(value, tuple):
        yield name, value
        return
    for k, item in enumerate(value):
        yield from parts(f"{name}.{k}", item)


_kept: dict[int, object] = {}
_NUMBERS = (bool, int, float, complex, type(None), tuple)


def key_of_class(kind: object) -> str:
    """What distinguishes the class of a tuple: its fields have names if it is a namedtuple's."""
    if not hasattr(kind, "_fields"):
        return ""
    _kept[id(kind)] = kind
    return str(id(kind))


def key_of_argument(obj: object, kernel: Any, number: int, args: Any) -> str:
    """What distinguishes the type of an argument that is neither memory nor a Python number.

    `number` counts those in tuples one by one.

    Raises
    ------
    TypeError
        It cannot be an argument of a kernel.
    """
    from .types.scalars import Array, Scalar

    try:
        t = type_of(obj, "")
    except TypeError:
        type_of(obj, kernel._called(number, args))  # the same again, with the name of the argument
        raise
    if isinstance(t, Array):  # which the device of the launch cannot use
        raise TypeError(f"{kernel._called(number, args)}: {_usmx._no_memory_text(obj)}")
    if isinstance(t, Scalar):
        return t.name
    # Alive as long as kernels that were compiled for it, so that no other object gets its id.
    _kept[id(obj)] = obj
    return str(id(obj))


def type_of(obj: object, where: str) -> Type:
    """The type of an argument; `where` begins messages. Foreign arrays are imported before.

    Raises
    ------
    TypeError
        It cannot be an argument of a kernel.
    """
    import enum

    from .language import records
    from .language.local_memory import LocalMemory
    from .types import scalars
    from .types.scalars import Array, Static, TupleOf

    obj = unpacked(obj)
    if isinstance(obj, tuple):
        items = [type_of(item, f"{where}, item {k}") for k, item in enumerate(obj)]
        return TupleOf(tuple(items), type(obj) if hasattr(type(obj), "_fields") else None)
    if type(obj) in (bool, int, float, complex):
        return (
            scalars.PYTHON_BOOL
            if obj is True or obj is False
            else scalars.BY_NAME[type(obj).__name__]
        )
    if isinstance(obj, _usmx.ndarray):
        # Not its `dtype`, which is NumPy's and would import it, nor its description for others,
        # which waits for what is pending and takes the memory for shared from then on.
        typestr = obj._typestr
        # bfloat16 has no type string of its own: that of a record begins with "|".
        name = {"|b1": "bool", "<V2": "bfloat16"}.get(typestr, typestr[1:])
        element: Any = scalars.named(name)
        if element is None and getattr(obj.dtype, "names", None):
            element = records.record_of(obj.dtype)
        if element is None:
            raise TypeError(f"{where}: dtype {obj.dtype} is not supported in kernels")
        contiguous = bool(obj.flags.c_contiguous)
        return Array(element, obj.ndim, contiguous, bool(obj.flags.writeable))
    if type(obj).__module__ == "numpy" and getattr(obj, "ndim", 0) > 0:
        # On the device a buffer arrives as an array of usmx; the simulator takes it as it is.
        array: Any = obj
        element = scalars.named(array.dtype) or records.meant(array.dtype)
        if element is not None:
            return Array(element, array.ndim, array.flags.c_contiguous, array.flags.writeable)
    if isinstance(obj, int | float | complex) and not isinstance(obj, bool):
        kind = next(k for k in (int, float, complex) if isinstance(obj, k))
        if not hasattr(obj, "dtype"):  # a member of an enumeration, and other numbers of Python's
            return scalars.BY_NAME[kind.__name__]
    if isinstance(obj, enum.Enum):
        return Static(obj)
    if obj is None or isinstance(obj, LocalMemory | DeviceFunction | type):
        return Static(obj)
    # A NumPy scalar.
    if hasattr(obj, "dtype") and hasattr(obj, "item") and getattr(obj, "ndim", 1) == 0:
        scalar = scalars.named(obj.dtype)
        if scalar is scalars.BFLOAT16:
            raise TypeError(f"{where}: a single bfloat16; pass float(x), or an array of them")
        if scalar is not None:
            return scalar
    if scalars.named(obj) is not None:
        return Static(obj)
    raise TypeError(f"{where}: {_usmx._no_memory_text(obj, ' or a number')}")


def fields_of_record(obj: Any) -> Any:
    """One record of NumPy or a struct of ctypes as a tuple of its fields; called at launches.

    Raises
    ------
    TypeError
        It has no fields, or more than are passed by value.
    """
    from .language import records

    return records.value_of(obj)


def unpacked(obj: Any) -> Any:
    """The same of one record; everything else as it is."""
    if type(obj) in _NUMBERS or isinstance(obj, _usmx.ndarray):
        return obj
    from .language import records

    return records.value_of(obj) if records.is_one(obj) else obj
