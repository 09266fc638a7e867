"""The objects of numba-dpex's kernel language: items, groups, memory, atomic references."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ..._kernel.language.functions import AtomicRef, group_barrier
from ..._kernel.language.functions import fence as atomic_fence
from ..._kernel.language.functions import private_array as PrivateArray
from ..._kernel.language.local_memory import LocalMemory
from ..._kernel.simulator.arrays import Group, Item

NdItem = Item
LocalAccessor = LocalMemory


class Range(tuple[int, ...]):
    """One to three lengths: ``Range(10)``, ``Range(10, 20)``."""

    __slots__ = ()

    def __new__(cls, *lengths: Any) -> Range:
        if not 1 <= len(lengths) <= 3:
            raise TypeError(f"a range has 1 to 3 dimensions, got {len(lengths)}")
        return super().__new__(cls, (int(n) for n in lengths))

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return len(self)

    @property
    def size(self) -> int:
        """Number of items."""
        total = 1
        for n in self:
            total *= n
        return total


class NdRange:
    """A global and a local range."""

    def __init__(self, global_size: Any, local_size: Any) -> None:
        self.global_range: Range = Range(*global_size)
        self.local_range: Range = Range(*local_size)


def brackets(range: Range | NdRange) -> tuple[tuple[int, ...], ...]:
    """What stands in the brackets of a launch of usmx."""
    if isinstance(range, NdRange):
        return tuple(range.global_range), tuple(range.local_range)
    return (tuple(range),)


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

    python = getattr(function, "python", function)
    launch: Any = Kernel(python, simulate=True)[brackets(range)]
    launch(*args).wait()


class MemoryOrder:
    """Orders of atomic operations; ours are relaxed, fences the strongest."""

    RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = range(5)


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
