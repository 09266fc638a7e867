"""The objects of numba-dpex's kernel language: items, groups, memory, atomic references."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Never

from ..._kernel.language import functions
from ..._kernel.language.functions import fence as atomic_fence
from ..._kernel.language.functions import group_barrier
from ..._kernel.language.functions import private_array as PrivateArray
from ..._kernel.language.local_memory import LocalMemory
from ..._kernel.simulator.arithmetic import cast
from ..._kernel.simulator.arrays import Group, Item, changed, is_same
from ..._kernel.types import scalars
from .exceptions import UnmatchedNumberOfRangeDimsError, UnsupportedGroupWorkItemSizeError

NdItem = Item


class LocalAccessor(LocalMemory):
    """Local memory as an argument of a launch; it has elements in kernels only."""

    def __getitem__(self, index: Any) -> Never:
        raise NotImplementedError("the elements of a LocalAccessor exist inside kernels only")

    def __setitem__(self, index: Any, value: Any) -> Never:
        raise NotImplementedError("the elements of a LocalAccessor exist inside kernels only")


def _operation(name: str) -> Callable[..., Any]:
    """An atomic operation outside of kernels."""

    def method(self: AtomicRef, *values: Any) -> Any:
        return self._change(name, *values)

    method.__name__ = name
    method.__doc__ = f"Atomic {name}; gives the value before."
    return method


class AtomicRef:
    """An element that several items change; outside of kernels, an element of any array.

    Parameters
    ----------
    ref : array
        Of NumPy, dpnp, usmx or another library.
    index : int or tuple of int
        Which element.
    memory_order, memory_scope, address_space : int
        Of kernels, and without effect here.
    """

    #: What the class means in a kernel.
    _in_kernels: object = functions.AtomicRef

    def __init__(
        self,
        ref: Any,
        index: Any,
        memory_order: int = 0,
        memory_scope: int = 3,
        address_space: int | None = None,
    ) -> None:
        element = scalars.named(getattr(ref, "dtype", None))
        if element is None or not hasattr(ref, "__setitem__"):
            raise TypeError(f"ref: {type(ref).__name__}; expected an array of numbers")
        self._ref = ref
        self._index = index
        self._element = element
        self.memory_order = memory_order
        self.memory_scope = memory_scope
        self.address_space = address_space

    @property
    def ref(self) -> Any:
        """The value of the element."""
        return self._number(self._ref[self._index])

    def _number(self, value: Any) -> Any:
        """A number, also in an array of rank 0, in the type of the element."""
        return cast(self._element, value.item() if hasattr(value, "item") else value)

    def _change(self, name: str, *values: Any) -> Any:
        """The value before an operation of the simulator's table."""
        before = self.ref
        self._ref[self._index] = changed(name, self._element, before, *map(self._number, values))
        return before

    fetch_add: Callable[..., Any] = _operation("add")
    fetch_sub: Callable[..., Any] = _operation("sub")
    fetch_min: Callable[..., Any] = _operation("min")
    fetch_max: Callable[..., Any] = _operation("max")
    fetch_and: Callable[..., Any] = _operation("and_")
    fetch_or: Callable[..., Any] = _operation("or_")
    fetch_xor: Callable[..., Any] = _operation("xor")
    load: Callable[..., Any] = _operation("load")
    exchange: Callable[..., Any] = _operation("exchange")

    def store(self, value: Any) -> None:
        """Write a value."""
        self._change("store", value)

    def compare_exchange(
        self, expected: Any = None, desired: Any = None, expected_idx: Any = 0, **others: Any
    ) -> bool:
        """Write `desired` if the element is ``expected[expected_idx]``, else write it there.

        Parameters
        ----------
        expected : array
            Also by the name ``expected_ref``.
        desired : number
            What is written.
        expected_idx : int or tuple of int
            Which element of `expected`.

        Returns
        -------
        bool
            Whether `desired` was written.
        """
        expected = others.pop("expected_ref", expected)
        if others:
            raise TypeError(f"compare_exchange has no parameter {', '.join(others)}")
        wanted = self._number(expected[expected_idx])
        before = self._change("compare_exchange", wanted, desired)
        if is_same(before, wanted):
            return True
        expected[expected_idx] = before
        return False


class Range(tuple[int, ...]):
    """One to three lengths: ``Range(10)``, ``Range(10, 20)``.

    Parameters
    ----------
    *lengths : int
        One to three; None is left out.

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> dpex.Range(10, 20).size()
    200
    """

    __slots__ = ()

    def __new__(cls, *lengths: Any) -> Range:
        if not 1 <= len(lengths) <= 3:
            raise TypeError(f"a range has 1 to 3 dimensions, got {len(lengths)}")
        return super().__new__(cls, (operator.index(n) for n in lengths if n is not None))

    def get(self, index: int) -> int:
        """The length of a dimension."""
        return self[index]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self)

    def size(self) -> int:
        """Number of items."""
        return math.prod(self)

    @property
    def dim0(self) -> int:
        """The first length."""
        return self[0]

    @property
    def dim1(self) -> int:
        """The second length, -1 if there is none."""
        return self[1] if len(self) > 1 else -1

    @property
    def dim2(self) -> int:
        """The third length, -1 if there is none."""
        return self[2] if len(self) > 2 else -1


class NdRange:
    """A global and a local range.

    Parameters
    ----------
    global_size : Range
        How many items there are, along each dimension.
    local_size : Range
        How many of them are a group; divisors of `global_size`.

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> dpex.NdRange(dpex.Range(64), dpex.Range(16)).get_local_range()[0]
    16
    """

    def __init__(self, global_size: Any, local_size: Any) -> None:
        self.global_range: Range = Range(*global_size)
        self.local_range: Range = Range(*local_size)
        if len(self.global_range) != len(self.local_range):
            raise UnmatchedNumberOfRangeDimsError(
                f"local_size: {len(self.local_range)} dimensions; expected the "
                f"{len(self.global_range)} of global_size"
            )
        for items, of_group in zip(self.global_range, self.local_range, strict=True):
            if of_group < 1 or items % of_group:
                raise UnsupportedGroupWorkItemSizeError(
                    f"local_size: {of_group}; expected a divisor of global_size, {items}"
                )

    def get_global_range(self) -> Range:
        """The global range."""
        return self.global_range

    def get_local_range(self) -> Range:
        """The local range."""
        return self.local_range

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NdRange) and brackets(self) == brackets(other)

    def __hash__(self) -> int:
        return hash(brackets(self))

    def __repr__(self) -> str:
        return f"NdRange({self.global_range}, {self.local_range})"


def brackets(range: Range | NdRange) -> tuple[tuple[int, ...], ...]:
    """What stands in the brackets of a launch of usmx."""
    if isinstance(range, NdRange):
        return tuple(range.global_range), tuple(range.local_range)
    return (tuple(range),)


def refuse_local_memory(range: Range | NdRange, args: tuple[Any, ...]) -> None:
    """Local memory is of a work-group.

    Raises
    ------
    TypeError
        There is local memory among the arguments, and the range has no groups.
    """
    for number, arg in enumerate(args):
        if isinstance(arg, LocalAccessor) and not isinstance(range, NdRange):
            raise TypeError(
                f"argument {number}: a LocalAccessor, over a Range; local memory is of a "
                "work-group: launch over an NdRange"
            )


def call_kernel(function: Any, range: Range | NdRange, *args: Any) -> None:
    """Run a kernel in Python, item by item, on arrays of NumPy or of usmx.

    Parameters
    ----------
    function : function or kernel
        Its first parameter is the item.
    range : Range or NdRange
        Over which items.
    *args
        The other arguments.
    """
    from ..._kernel.launch import Kernel

    refuse_local_memory(range, args)
    python = getattr(function, "python", function)
    launch: Any = Kernel(python, simulate=True)[brackets(range)]
    launch(*args).wait()


class MemoryOrder:
    """Orders of atomic operations; ours are relaxed, fences the strongest."""

    RELAXED, ACQUIRE, CONSUME_UNSUPPORTED, RELEASE, ACQ_REL, SEQ_CST = range(6)


class MemoryScope:
    """Scopes of fences."""

    WORK_ITEM, SUB_GROUP, WORK_GROUP, DEVICE, SYSTEM = range(5)


class AddressSpace:
    """Where an atomic reference points to; found by the compiler here."""

    PRIVATE, GLOBAL, CONSTANT, LOCAL, GENERIC = range(5)


__all__ = [
    "AddressSpace", "AtomicRef", "Group", "Item", "LocalAccessor", "MemoryOrder", "MemoryScope",
    "NdItem", "NdRange", "PrivateArray", "Range", "atomic_fence", "call_kernel", "group_barrier",
]  # fmt: skip
