"""Records of NumPy and structs of ctypes as kernels see them, and the values that they are passed
as: tuples of their fields."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import math
import sys

from ..types import scalars
from ..types.scalars import Field, Record, Scalar
from . import vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

    import numpy as np

#: Numbers of a record that is passed by its value, or copied to one.
MOST_NUMBERS = 64


class RecordValue(tuple[object, ...]):
    """A record as a value: a tuple of its fields, which are read by name."""

    __slots__ = ()
    _record: Record
    _fields: tuple[str, ...] = ()
    _field_defaults: dict[str, object] = {}  # noqa: RUF012 - never changed

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Self:
        """Of its fields, as a namedtuple's `_make`."""
        return tuple.__new__(cls, items)

    def __getattr__(self, name: str) -> Any:
        if name not in self._fields:
            raise AttributeError(f"the record has no field '{name}'")
        return tuple.__getitem__(self, self._fields.index(name))

    def __getitem__(self, index: Any) -> Any:
        return getattr(self, index) if isinstance(index, str) else tuple.__getitem__(self, index)

    def copy(self) -> Self:
        """Itself, which cannot be changed."""
        return self


@functools.lru_cache(maxsize=4096)
def record_of(dtype: np.dtype[Any]) -> Record:
    """The record of a structured type of NumPy, without the fields that kernels lack."""
    fields = []
    for name in dtype.names or ():
        about: Any = dtype.fields
        member, offset, *_ = about[name]
        base, shape = member.subdtype or (member, ())
        t: Scalar | Record | None = None
        if base.names is not None:
            t = record_of(base)
        elif base.isnative and base.kind in "biufc":
            t = scalars.named(base)
        if t is not None and 0 not in shape:
            fields.append(Field(name, t, tuple(int(n) for n in shape), int(offset)))
    fields.sort(key=lambda f: f.offset)
    return Record(tuple(fields), dtype.itemsize)


def meant(obj: object) -> Record | None:
    """The record that an object means: a structured dtype, a vector's class, a struct of ctypes."""
    if isinstance(obj, Record):
        return obj
    if isinstance(obj, vectors.VectorType):
        return record_of(obj.dtype)
    if type(obj).__module__.startswith("numba.core.types."):
        inside = getattr(obj, "dtype", None)
        return None if getattr(inside, "names", None) is None else meant(inside)
    if is_struct_class(obj):
        import numpy as np

        struct: Any = obj
        return record_of(np.dtype(struct))
    if getattr(obj, "names", None) is not None and hasattr(obj, "fields"):
        dtype: Any = obj
        return record_of(dtype)
    return None


def is_struct_class(obj: object) -> bool:
    """Whether it is the class of structs of ctypes."""
    ctypes = sys.modules.get("ctypes")
    return ctypes is not None and isinstance(obj, type) and issubclass(obj, ctypes.Structure)


def to_numpy(record: Record) -> np.dtype[Any]:
    """The type of NumPy with the same places."""
    import numpy as np

    formats: list[Any] = []
    for f in record.fields:
        base = to_numpy(f.type) if isinstance(f.type, Record) else np.dtype(f.type.name)
        formats.append((base, f.shape) if f.shape else base)
    offsets = [f.offset for f in record.fields]
    return np.dtype(
        {
            "names": list(record.names),
            "formats": formats,
            "offsets": offsets,
            "itemsize": record.size,
        }
    )


@functools.lru_cache(maxsize=4096)
def kind_of(record: Record) -> Any:
    """The class of its values: that of vectors if it has the fields of one."""
    types = {f.type for f in record.fields}
    t, *others = [*types, None]
    if isinstance(t, Scalar) and others == [None] and t.kind in "iuf":
        count = len(record.fields)
        is_plain = not any(f.shape for f in record.fields)
        if is_plain and count >= 2 and record.names == tuple(vectors.COMPONENTS[:count]):
            return vectors.vec(count, t)
        shape = record.fields[0].shape
        is_matrix = record.names == (vectors.MATRIX,) and len(shape) == 2
        if is_matrix and all(2 <= n <= vectors.MOST for n in shape):
            return vectors.mat(shape[0], shape[1], t)
    about = {"__slots__": (), "_record": record, "_fields": record.names, "__module__": __name__}
    return type("record", (RecordValue,), about)


def is_vector(record: Record) -> bool:
    """Whether its values are vectors or matrices."""
    return isinstance(kind_of(record), vectors.VectorType)


def count_of(record: Record) -> int:
    """How many numbers it has."""
    return sum(
        math.prod(f.shape) * (count_of(f.type) if isinstance(f.type, Record) else 1)
        for f in record.fields
    )


def is_one(obj: object) -> bool:
    """Whether it is one record of NumPy, or a struct of ctypes."""
    numpy = sys.modules.get("numpy")
    return (numpy is not None and isinstance(obj, numpy.void)) or is_struct_class(type(obj))


def value_of(obj: Any) -> Any:
    """One record of NumPy or a struct of ctypes as a value.

    Raises
    ------
    TypeError
        It has more numbers than are passed by value.
    """
    import numpy as np

    if is_struct_class(type(obj)):
        obj = np.frombuffer(obj, np.dtype(type(obj)), 1)[0]
    if obj.dtype.names is None:
        raise TypeError("bytes without fields are not supported in kernels")
    record = record_of(obj.dtype)
    if count_of(record) > MOST_NUMBERS:
        raise TypeError(
            f"a record of {count_of(record)} numbers; at most {MOST_NUMBERS} are passed by value; "
            "pass it as an element of an array"
        )
    return _value(record, obj)


def _value(record: Record, obj: Any) -> Any:
    kind = kind_of(record)
    if is_vector(record):
        numbers = [x for f in record.fields for x in _flat(obj[f.name])]
        return kind._of(numbers)
    return kind._make(_part(f.type, obj[f.name]) for f in record.fields)


def _part(t: Scalar | Record, obj: Any) -> Any:
    if getattr(obj, "ndim", 0) > 0:
        return tuple(_part(t, one) for one in obj)
    return _value(t, obj) if isinstance(t, Record) else obj


def _flat(obj: Any) -> list[Any]:
    return list(obj.ravel())
