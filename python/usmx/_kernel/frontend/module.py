"""One C++ text: what the kernel and the device functions in it share."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._captured import Reads
from ..language.constants import ConstantArray
from ..source.diagnostics import KernelError
from ..types.scalars import Record
from . import spelling
from .results import Instance


@dataclass(frozen=True)
class Table:
    """A constant table in one text: its name there, and whether it is given at each launch."""

    name: str
    of: ConstantArray
    is_given: bool

    @property
    def code(self) -> str:
        """Where the text has its elements."""
        return f"(*usmx_tables.{self.name})" if self.is_given else f"table::{self.name}"


@dataclass
class Module:
    """What the functions of one text share.

    Attributes
    ----------
    rank : int
        Dimensions of the launch.
    known : mapping
        Numbers of the arguments that the text is specialised for: ``"n"``, ``"x.shape[0]"``.
    grouped : bool
        Whether the kernel has something to do with groups, such as barriers.
    partial : bool
        Whether the last group may have items beyond the range, which end at once.
    wide : bool
        Whether the rows of the launch are whole vectors of a processor, or most of them.
    instances : dict
        Device functions by function and argument types; None while one is being made.
    """

    rank: int
    known: Mapping[str, int]
    grouped: bool = False
    partial: bool = False
    wide: bool = False
    #: The local range of a launch whose groups have all of their items along the last dimension.
    flat: tuple[int, ...] = ()
    #: Something asks for a range that a launch with such items has not.
    asks_whole_range: bool = False
    #: Items may see what others write meanwhile, by barriers, fences, atomic or group operations.
    items_meet: bool = False
    #: Items change memory that may be local by atomic operations, again and again.
    adds_in_turn: bool = False
    #: Something asks about sub-groups, or is computed by them together.
    asks_sub_groups: bool = False
    constants: dict[int, Table] = field(default_factory=dict)
    #: Functions -> parameters whose numbers they have to know, for memory of such lengths.
    to_know: dict[object, list[str]] = field(default_factory=dict)
    #: Arrays of NumPy that are constants, as tables; alive, so that no other one gets an id.
    arrays: dict[int, tuple[object, ConstantArray]] = field(default_factory=dict)
    instances: dict[object, Instance | None] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    #: The error for devices, if something stops for a debugger.
    stops: KernelError | None = None
    #: Numbers that would say whether an index is sure not to be negative, see `Specialise`.
    asks: frozenset[str] = frozenset()
    #: Integers have the types that Numba gives them, and variables may have no value on some paths.
    numba: bool = False
    #: Headers in addition to the prelude.
    headers: set[str] = field(default_factory=set)
    #: Records by the names of their structs.
    records: dict[str, Record] = field(default_factory=dict)
    #: What was read of globals, closure variables and attributes.
    reads: Reads = field(default_factory=Reads)

    @property
    def item(self) -> str:
        """What a text asks for ids and ranges."""
        if not self.flat:
            return f"usmx::nd_item<{self.rank}>"
        self.headers.add("usmx/prelude/flat_item.hpp")
        return f"usmx::flat_item<{', '.join(map(str, self.flat))}>"

    def unique(self, name: str) -> str:
        """A name that nothing else of the text has."""
        wanted, number = spelling.spell(name), 1
        while wanted in self.taken:
            number += 1
            wanted = f"{spelling.spell(name)}_{number}"
        self.taken.add(wanted)
        return wanted

    def use(self, element: object) -> None:
        """The text needs the struct of these elements, if they are records."""
        if isinstance(element, Record):
            self.records.setdefault(element.cpp, element)

    def frozen_array(self, array: Any) -> ConstantArray:
        """An array of NumPy as a table, with the values that it has now."""
        if id(array) not in self.arrays:
            self.arrays[id(array)] = array, ConstantArray(array)
        return self.arrays[id(array)][1]

    def constant(self, table: ConstantArray, name: str) -> Table:
        """A constant table under a name of its own."""
        if id(table) not in self.constants:
            self.constants[id(table)] = Table(self.unique(name), table, table.is_updated)
        return self.constants[id(table)]

    @property
    def frozen(self) -> list[ConstantArray]:
        """Tables whose values stand in the text."""
        return [t.of for t in self.constants.values() if not t.is_given]

    @property
    def given(self) -> list[Table]:
        """Tables that each launch passes, in this order, after the arguments."""
        return [t for t in self.constants.values() if t.is_given]
