"""Arrays, items and groups of the simulator: what checks bounds and finds races."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..language import records
from ..types import scalars
from ..types.scalars import Record, Scalar
from .arithmetic import cast


class RaceError(RuntimeError):
    """Two work-items access one element without synchronization, and one of them writes."""


class DivergenceError(RuntimeError):
    """Not all items of a group come to a barrier or a group function."""


@dataclass
class State:
    """What runs at the moment."""

    kernel: str
    item: int = 0
    current: Any = None
    group: int = 0
    #: Counts the barriers that the group has passed.
    phase: int = 0
    races: bool = True


@dataclass
class Access:
    """Who used an element last."""

    #: Several if they write the same value.
    writers: list[tuple[int, int, int]] = field(default_factory=list)
    readers: list[tuple[int, int, int]] = field(default_factory=list)
    atomic: tuple[int, int, int] | None = None


class SimArray:
    """An array with checked accesses."""

    def __init__(
        self, values: np.ndarray[Any, Any], element: Scalar | Record, name: str, state: State,
        space: str = "global", readonly: bool = False,
    ) -> None:  # fmt: skip
        self.values = values
        self.element = element
        self.name = name
        self.state = state
        self.space = space
        self.readonly = readonly
        self.accesses: dict[tuple[int, ...], Access] = {}

    shape = property(lambda self: tuple(int(n) for n in self.values.shape))
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: int(self.values.size))
    itemsize = property(lambda self: self.element.size)
    dtype = property(lambda self: self.element)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def where(self, index: Any) -> tuple[int, ...]:
        """The index as a tuple inside of the bounds.

        Raises
        ------
        IndexError
            Outside; one that is negative counts from the end.
        """
        many = index if isinstance(index, tuple) else (index,)
        found = []
        for axis, one in enumerate(many):
            length = self.values.shape[axis]
            at = int(one)
            at += length if at < 0 else 0
            if not 0 <= at < length:
                shown = many[0] if len(many) == 1 else tuple(int(i) for i in many)
                raise IndexError(
                    f"kernel '{self.state.kernel}', work-item {self.state.item}: index {shown} of "
                    f"'{self.name}' is out of bounds, its shape is {self.shape}"
                )
            found.append(at)
        return tuple(found)

    def part(self, index: Any) -> SimArray | None:
        """``a[i]`` of an array of two dimensions, ``a[1:3]``: to be indexed again."""
        given = index if isinstance(index, tuple) else (index,)
        if len(given) >= self.ndim and not any(isinstance(one, slice) for one in given):
            return None
        return View(self, given)

    def note(
        self, at: tuple[int, ...], what: str, value: Any = None, path: tuple[Any, ...] = (),
        old: Any = None,
    ) -> None:  # fmt: skip
        """Note an access. Items may write equal values, and are all writers then.

        Of a record `path` is where it has the number, and `old` the number.

        Raises
        ------
        RaceError
            Another item uses the element, and the accesses are not synchronized.
        """
        if self.space in ("private", "constant") or not self.state.races:
            return
        state = self.state
        me = (state.item, state.group, state.phase)
        entry = self.accesses.setdefault((*at, *path), Access())

        def conflicts(other: tuple[int, int, int] | None) -> bool:
            if other is None or other[0] == me[0]:
                return False
            return not (other[1] == me[1] and other[2] < me[2])

        again = what == "write" and bool(entry.writers)
        again = again and is_same(old if path else self.values[at], value)
        rivals = [] if what == "atomic" else [entry.atomic]
        # What reads after one of several writes of a value reads that value in any order.
        if not again and (what != "read" or all(map(conflicts, entry.writers))):
            rivals += entry.writers
        if not again and what != "read":
            rivals += entry.readers
        for other in rivals:
            if conflicts(other):
                assert other is not None
                how = "reads" if what == "read" else "writes"
                shown = f"{at if len(at) > 1 else at[0]}{''.join(f'.{p}' for p in path)}"
                raise RaceError(
                    f"kernel '{state.kernel}': work-item {me[0]} {how} element "
                    f"{shown} of '{self.name}', which work-item {other[0]} "
                    f"{'writes' if other in (*entry.writers, entry.atomic) else 'reads'}, and "
                    "the accesses are not synchronized; use a barrier within a work-group, or an "
                    "atomic operation"
                )
        if what == "write":
            if not again:
                entry.writers, entry.readers = [], []
            entry.writers = [*entry.writers[-7:], me]
        elif what == "atomic":
            entry.atomic = me
        elif not any(r[0] == me[0] for r in entry.readers):
            entry.readers = [*entry.readers[-7:], me]
        else:
            entry.readers = [r for r in entry.readers if r[0] != me[0]] + [me]

    def reference(self, index: Any) -> Any:
        """A part, a record in it, or the place of a number."""
        part = self.part(index)
        if part is not None:
            return part
        at = self.where(index)
        if isinstance(self.element, Record):
            return SimRecord(self, at, (), self.values[at], self.element)
        return at

    def __getattr__(self, name: str) -> Any:
        element = self.__dict__.get("element")
        if isinstance(element, Record) and element.field(name) is not None:
            return FieldOf(self, (name,))
        if name in ("real", "imag") and isinstance(element, Scalar) and element.kind == "c":
            # Kept, because it knows who used its elements.
            self.__dict__[name] = part = SimArray(
                getattr(self.values, name), scalars.real_of(element), f"{self.name}.{name}",
                self.state, self.space, self.readonly,
            )  # fmt: skip
            return part
        raise AttributeError(f"arrays in kernels have no '{name}'")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return FieldOf(self, (index,))
        part = self.reference(index)
        if isinstance(part, SimArray):
            return part
        if isinstance(part, SimRecord):
            return part.usmx_load() if part.usmx_is_vector() else part
        at = part
        self.note(at, "read")
        value = self.values[at]
        if self.element is scalars.BFLOAT16:
            return np.float32(value)
        return np.bool_(value) if self.element.kind == "b" else value

    def __setitem__(self, index: Any, value: Any) -> None:
        part = self.part(index)
        if part is not None:
            for one in np.ndindex(part.shape):
                part[one] = value
            return
        at = self.where(index)
        if isinstance(self.element, Record):
            self.reference(index).usmx_store(value)
            return
        value = self.values.dtype.type(cast(self.element, value))
        self.note(at, "write", value)
        self.values[at] = value


class View(SimArray):
    """A part of an array: for each axis an index, or the indices that it keeps."""

    def __init__(self, of: SimArray, given: tuple[Any, ...]) -> None:
        super().__init__(of.values, of.element, of.name, of.state, of.space, of.readonly)
        self.of = of
        self.accesses = of.accesses
        self.axes: list[Any] = []
        for axis, length in enumerate(of.shape):
            one = given[axis] if axis < len(given) else slice(None)
            if isinstance(one, slice):
                bounds = [None if n is None else int(n) for n in (one.start, one.stop, one.step)]
                one = range(*slice(*bounds).indices(length))
            self.axes.append(one)

    shape = property(lambda self: tuple(len(a) for a in self.axes if isinstance(a, range)))
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def where(self, index: Any) -> tuple[int, ...]:
        """The index in the whole array."""
        many = iter(index if isinstance(index, tuple) else (index,))
        whole = []
        for axis, one in enumerate(self.axes):
            if not isinstance(one, range):
                whole.append(one)
            elif one == range(self.of.shape[axis]):
                whole.append(next(many))  # which is checked there
            else:
                at = next(many)
                inside = int(at) + (len(one) if int(at) < 0 else 0)
                if not 0 <= inside < len(one):
                    raise IndexError(
                        f"kernel '{self.state.kernel}', work-item {self.state.item}: index "
                        f"{int(at)} of a slice of '{self.name}' is out of bounds, its length is "
                        f"{len(one)}"
                    )
                whole.append(one[inside])
        return self.of.where(tuple(whole))


class FieldOf:
    """``x["mass"]``: a field of each element, once it has its indices."""

    def __init__(self, of: SimArray, names: tuple[str, ...]) -> None:
        self.of = of
        self.names = names

    shape = property(lambda self: self.of.shape)
    ndim = property(lambda self: self.of.ndim)
    size = property(lambda self: self.of.size)

    def __len__(self) -> int:
        return len(self.of)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def _last(self, index: Any) -> Any:
        found = self.of.reference(index)
        for name in self.names[:-1]:
            found = found.usmx_part(name, load=False)
        return found

    def reference(self, index: Any) -> Any:
        """The field, if it is a record; nothing is read."""
        if isinstance(index, str):
            return FieldOf(self.of, (*self.names, index))
        found = self._last(index)
        if isinstance(found, SimArray):
            return FieldOf(found, self.names)
        return found.usmx_part(self.names[-1], load=False)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return FieldOf(self.of, (*self.names, index))
        found = self._last(index)
        if isinstance(found, SimArray):
            return FieldOf(found, self.names)
        return found.usmx_part(self.names[-1])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._last(index).usmx_set(self.names[-1], value)


class SimRecord:
    """A record in memory, whose fields are read and written by name."""

    __slots__ = ("usmx_array", "usmx_at", "usmx_path", "usmx_record", "usmx_values")

    def __init__(
        self, array: SimArray, at: tuple[int, ...], path: tuple[Any, ...], values: Any,
        record: Record,
    ) -> None:  # fmt: skip
        given = (array, at, path, record, values)
        for name, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, name, value)

    def usmx_is_vector(self) -> bool:
        """Whether it is a vector or a matrix, which is read as a whole."""
        return records.is_vector(self.usmx_record)

    def usmx_part(self, name: Any, load: bool = True) -> Any:
        """A field; of a vector also by its number."""
        record = self.usmx_record
        if not isinstance(name, str):
            kind = records.kind_of(record)
            if records.is_vector(record) and len(kind._shape) == 2:
                return self.usmx_part(record.names[0])[name]
            name = record.names[int(name)]
        f = record.field(name)
        assert f is not None
        value, path = self.usmx_values[name], (*self.usmx_path, name)
        if f.shape:
            return SimField(self.usmx_array, self.usmx_at, path, value, f.type)
        if isinstance(f.type, Record):
            part = SimRecord(self.usmx_array, self.usmx_at, path, value, f.type)
            return part.usmx_load() if load and part.usmx_is_vector() else part
        self.usmx_array.note(self.usmx_at, "read", path=path)
        return np.bool_(value) if f.type.kind == "b" else value

    def usmx_set(self, name: Any, value: Any) -> None:
        """Another value for a field."""
        if not isinstance(name, str):
            kind = records.kind_of(self.usmx_record)
            if len(kind._shape) == 2:
                self.usmx_part(self.usmx_record.names[0])[name] = value
                return
            name = self.usmx_record.names[int(name)]
        f = self.usmx_record.field(name)
        assert f is not None
        if not isinstance(f.type, Scalar) or f.shape:
            part = self.usmx_part(name, load=False)
            part.usmx_store(value)
            return
        old = self.usmx_values[name]
        value = old.dtype.type(cast(f.type, value))
        path = (*self.usmx_path, name)
        self.usmx_array.note(self.usmx_at, "write", value, path, old)
        self.usmx_values[name] = value

    def usmx_load(self) -> Any:
        """Its value: a tuple of the fields, or a vector."""
        parts = [_value(self.usmx_part(f.name)) for f in self.usmx_record.fields]
        kind = records.kind_of(self.usmx_record)
        if self.usmx_is_vector():
            return kind._of(_numbers(parts))
        return kind._make(parts)

    def usmx_store(self, value: Any) -> None:
        """All fields, of a record or of a tuple that was read before."""
        numbers = _numbers(value.usmx_load() if isinstance(value, SimRecord) else value)
        self.usmx_fill(iter(numbers))

    def usmx_fill(self, numbers: Iterator[Any]) -> None:
        """All numbers, one after the other."""
        for f in self.usmx_record.fields:
            if isinstance(f.type, Scalar) and not f.shape:
                self.usmx_set(f.name, next(numbers))
            else:
                self.usmx_part(f.name, load=False).usmx_fill(numbers)

    def __getattr__(self, name: str) -> Any:
        if name == "copy" and self.usmx_record.field(name) is None:
            return self.usmx_load
        if self.usmx_record.field(name) is None:
            raise AttributeError(f"the record has no field '{name}'")
        return self.usmx_part(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.usmx_set(name, value)

    __getitem__ = usmx_part
    __setitem__ = usmx_set


class SimField(SimArray):
    """An array that is a field of a record."""

    def __init__(
        self, of: SimArray, at: tuple[int, ...], path: tuple[Any, ...],
        values: np.ndarray[Any, Any], element: Scalar | Record,
    ) -> None:  # fmt: skip
        super().__init__(values, element, of.name, of.state, of.space, of.readonly)
        self.of = of
        self.place = at
        self.path = path

    def note(
        self, at: tuple[int, ...], what: str, value: Any = None, path: tuple[Any, ...] = (),
        old: Any = None,
    ) -> None:  # fmt: skip
        """Note an access, as one of the array that the record is in."""
        old = old if path else self.values[at]
        self.of.note(self.place, what, value, (*self.path, *at, *path), old)

    def usmx_fill(self, numbers: Iterator[Any]) -> None:
        """All numbers, one after the other."""
        for at in np.ndindex(*self.shape):
            if isinstance(self.element, Record):
                self.reference(at).usmx_fill(numbers)
            else:
                self[at] = next(numbers)


def _value(part: Any) -> Any:
    if isinstance(part, SimArray):
        return tuple(_value(part[k]) for k in range(len(part)))
    return part.usmx_load() if isinstance(part, SimRecord) else part


def _numbers(value: Any) -> list[Any]:
    """All numbers in tuples."""
    if not isinstance(value, tuple | list):
        return [value]
    return [x for item in value for x in _numbers(item)]


def reference(of: Any, index: Any) -> Any:
    """A part of an array or a record of which not everything is read."""
    if isinstance(of, SimRecord):
        return of.usmx_part(index, load=False)
    if isinstance(of, FieldOf) or (isinstance(of, SimArray) and isinstance(of.element, Record)):
        return of[index] if isinstance(index, str) else of.reference(index)
    return getattr(of, index) if isinstance(index, str) else of[index]


class AtomicRef:
    """An element that is only changed as a whole."""

    def __init__(self, ref: SimArray, index: Any = 0, **_: Any) -> None:
        self.array = ref
        self.at = ref.where(index if isinstance(index, tuple) else (index,))

    def change(self, name: str, *values: Any) -> Any:
        """An operation; gives the value before."""
        array, element = self.array, self.array.element
        assert isinstance(element, Scalar)
        array.note(self.at, "atomic")
        before = array.values[self.at]
        array.values[self.at] = changed(name, element, before, *values)
        return cast(element, before)

    def compare_exchange(
        self, expected: Any = None, desired: Any = None, expected_idx: Any = 0, **named: Any
    ) -> Any:
        """As SYCL has it if `expected` is an array, else as ``usmx.atomic.compare_exchange``."""
        expected = named.get("expected_ref", expected)
        if not isinstance(expected, SimArray):
            return self.change("compare_exchange", expected, desired)
        wanted = expected[expected_idx]
        before = self.change("compare_exchange", wanted, desired)
        if is_same(before, wanted):
            return True
        expected[expected_idx] = before
        return False

    def __getattr__(self, name: str) -> Any:
        plain = {"fetch_and": "and_", "fetch_or": "or_"}.get(name, name.removeprefix("fetch_"))
        return lambda *values: self.change(plain, *values)


_ATOMIC: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "min": min,
    "max": max,
    "nanmin": lambda a, b: b if b < a or (np.isnan(a) and not np.isnan(b)) else a,
    "nanmax": lambda a, b: b if b > a or (np.isnan(a) and not np.isnan(b)) else a,
    "inc": lambda a, limit: 0 if a >= limit else a + 1,
    "dec": lambda a, limit: limit if a == 0 or a > limit else a - 1,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exchange": lambda a, b: b,
    "store": lambda a, b: b,
    "load": lambda a: a,
    "compare_exchange": lambda a, expected, desired: desired if is_same(a, expected) else a,
}


def changed(name: str, element: Scalar, before: Any, *values: Any) -> Any:
    """What an atomic operation makes of an element."""
    with np.errstate(all="ignore"):
        return cast(element, _ATOMIC[name](before, *(cast(element, x) for x in values)))


def is_same(a: Any, b: Any) -> bool:
    """Whether two numbers of one type have the same bits."""
    return bool(np.asarray(a).tobytes() == np.asarray(b).tobytes())


#: Items in a simulated sub-group; devices have 4 to 64.
SUB_GROUP = 8


class Range3:
    """Ids and ranges of a launch: the item, and its group."""

    def __init__(
        self,
        global_range: tuple[int, ...],
        local_range: tuple[int, ...],
        group_id: tuple[int, ...],
        local_id: tuple[int, ...],
    ) -> None:
        self.global_range = global_range
        self.local_range = local_range
        self.group_id = group_id
        self.local_id = local_id
        self.sub_group = SUB_GROUP
        self.group_range: tuple[int, ...] = tuple(
            g // n for g, n in zip(global_range, local_range, strict=True)
        )
        self.global_id: tuple[int, ...] = tuple(
            g * n + i for g, n, i in zip(group_id, local_range, local_id, strict=True)
        )

    @staticmethod
    def linear(index: tuple[int, ...], lengths: tuple[int, ...]) -> int:
        """The number of an index in C order."""
        at = 0
        for i, n in zip(index, lengths, strict=True):
            at = at * n + i
        return at


class Item(Range3):
    """The first parameter."""

    @property
    def dimensions(self) -> int:
        """How many dimensions the launch has."""
        return len(self.global_range)

    def get_global_id(self, d: int) -> int:
        """Id in the whole range."""
        return self.global_id[int(d)]

    def get_global_range(self, d: int) -> int:
        """Length of the whole range."""
        return self.global_range[int(d)]

    def get_local_id(self, d: int) -> int:
        """Id in the group."""
        return self.local_id[int(d)]

    def get_local_range(self, d: int) -> int:
        """Length of the group."""
        return self.local_range[int(d)]

    def get_group_id(self, d: int) -> int:
        """Id of the group."""
        return self.group_id[int(d)]

    def get_group_range(self, d: int) -> int:
        """Number of groups."""
        return self.group_range[int(d)]

    def get_global_linear_id(self) -> int:
        """Id in the whole range, counted through."""
        return self.linear(self.global_id, self.global_range)

    def get_local_linear_id(self) -> int:
        """Id in the group, counted through."""
        return self.linear(self.local_id, self.local_range)

    def get_group_linear_id(self) -> int:
        """Id of the group, counted through."""
        return self.linear(self.group_id, self.group_range)

    def get_global_linear_range(self) -> int:
        """Number of items."""
        return math.prod(self.global_range)

    def get_local_linear_range(self) -> int:
        """Number of items in a group."""
        return math.prod(self.local_range)

    def get_group_linear_range(self) -> int:
        """Number of groups."""
        return math.prod(self.group_range)

    get_id = get_global_id
    get_range = get_global_range
    get_linear_id = get_global_linear_id
    get_linear_range = get_global_linear_range

    def ndim(self) -> int:
        """Dimensions."""
        return len(self.global_range)

    def get_group(self) -> Group:
        """Its group."""
        return Group(self.global_range, self.local_range, self.group_id, self.local_id)

    def get_sub_group(self) -> SubGroup:
        """Its sub-group."""
        made = SubGroup(self.global_range, self.local_range, self.group_id, self.local_id)
        made.sub_group = self.sub_group
        return made


class Group(Item):
    """A work-group."""

    def get_id(self, d: int) -> int:
        """As `get_group_id`."""
        return self.get_group_id(d)

    def get_max_local_range(self, d: int) -> int:
        """As `get_local_range`."""
        return self.get_local_range(d)

    def get_linear_id(self) -> int:
        """As `get_group_linear_id`."""
        return self.get_group_linear_id()

    def leader(self) -> bool:
        """Whether this is the first item."""
        return self.get_local_linear_id() == 0


class SubGroup(Range3):
    """A part of a work-group."""

    def _id(self) -> int:
        return self.linear(self.local_id, self.local_range)

    def get_local_id(self, _: int = 0) -> int:
        """Id in the sub-group."""
        return self._id() % self.sub_group

    def get_group_id(self, _: int = 0) -> int:
        """Which sub-group."""
        return self._id() // self.sub_group

    def get_local_range(self, _: int = 0) -> int:
        """Items in it."""
        return min(
            self.sub_group, math.prod(self.local_range) - self.get_group_id() * self.sub_group
        )

    def get_max_local_range(self, _: int = 0) -> int:
        """Most items in one."""
        return self.sub_group

    def get_group_range(self, _: int = 0) -> int:
        """How many sub-groups the group has."""
        return -(-math.prod(self.local_range) // self.sub_group)

    get_local_linear_id = get_local_id
    get_group_linear_id = get_group_id
    get_local_linear_range = get_local_range
    get_group_linear_range = get_group_range

    def leader(self) -> bool:
        """Whether this is the first item."""
        return self.get_local_id() == 0


def element_of(array: Any) -> Scalar | Record:
    """The type of an array's elements."""
    found = scalars.named(array.dtype) or records.meant(array.dtype)
    assert found is not None
    return found


def dtype_of(element: Scalar | Record) -> Any:
    """The type of NumPy."""
    if isinstance(element, Record):
        return records.to_numpy(element)
    return scalars.value_of(element).name  # rounded bfloat16 are float32
