"""A kernel for one list of argument types: its C++ text, and how its arguments are passed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._captured import Reads
from ..language.intrinsics import SPECIAL
from ..source.function import Function
from ..types import scalars
from ..types.scalars import Array, RecordOf, Scalar, Static, Type
from ..types.values import parts
from . import rows, spelling, wrapping
from .elaborate import elaborate
from .items import RANGE
from .memory import OF_LAUNCH
from .module import Module
from .records import declarations
from .results import Instance, Result, Walked


@dataclass
class Compiled:
    """A kernel as C++.

    Attributes
    ----------
    text, name : str
        The source for RawKernel, and the kernel's name in it.
    plan : str
        How each argument is passed, those in tuples one by one: ``n`` number, ``c`` complex
        number, ``d`` contiguous array (with its lengths), ``s`` strided array (with lengths and
        strides), ``-`` not at all; ``r`` the length of the last dimension; ``v`` says that the text
        asks whole vectors of items, ``T`` that its items take several rows, whose number is
        passed before ``r``, and ``t`` that there is such a text too.
    needs_group : str or None
        Why a local range has to be given at the launch.
    known : tuple of str
        Names of the numbers that the text is specialised for.
    module : Module
        Constants and device functions, for the simulator.
    walked : Walked
        Types of variables and of converted values, for the simulator.
    """

    text: str
    name: str
    plan: str
    needs_group: str | None
    known: tuple[str, ...]
    module: Module
    walked: Walked

    @property
    def result(self) -> Result:
        """What the walk over the kernel found."""
        return self.walked.result


def compile_kernel(
    function: Function,
    arguments: list[Type],
    *,
    rank: int,
    known: Mapping[str, int],
    has_item: bool = True,
    grouped: bool = False,
    partial: bool = False,
    apart: bool = False,
    wide: bool = False,
    tall: bool = False,
    reads: Reads | None = None,
    numba: bool = False,
    of_launch: bool = False,
    sub_group: int = 0,
    flat: tuple[int, ...] = (),
) -> Compiled:
    """The C++ of a kernel.

    Parameters
    ----------
    function : Function
        Its first parameter is the item, if ``has_item``.
    grouped : bool
        Whether it has barriers or other things of groups; found out if not given.
    partial : bool
        Whether the last dimension may be launched with more items than its length, which is passed
        as the last parameter; the plan then ends with ``r``. Not for kernels that need groups.
    apart : bool
        Whether no two of the arrays have a byte in common. The text says so where items do not wait
        for each other: then the compiler reads what it needs again and again, as the weights of a
        filter, only once.
    wide : bool
        Whether the rows of the launch, or of its groups, are long enough for the vectors that
        processors make of items: then remainders ask a vector whether it needs a division.
    tall : bool
        Whether an item takes several rows, if `rows` says that this is such a kernel. The number of
        rows is passed as a parameter then, and the length as with ``partial``.
    numba : bool
        Whether integers have the types that Numba gives them.
    of_launch : bool
        Whether the last argument is the `LocalMemory` whose size the launch gives, which no
        parameter stands for.
    sub_group : int
        Items in each sub-group, where the kernel asks about them; 0 for what the device chooses.
    flat : tuple of int
        The local range of a launch whose groups have all of their items along the last dimension;
        empty for one as it is. Not with ``partial`` or ``tall``.
    reads : Reads, optional
        Told what the function reads of globals, closure variables and attributes.
    arguments : list of Type
        One for each parameter that is left.
    rank : int
        Dimensions of the launch.
    known : mapping
        Values to specialise for, see `Specialise`.

    Raises
    ------
    KernelError
        The function is not a valid kernel for these types.
    Specialise
        More values have to be known.
    """
    item = function.parameters[0] if has_item else None
    names = (*function.parameters[1 if has_item else 0 :], *([OF_LAUNCH] if of_launch else []))
    module = Module(
        rank, known, grouped, partial or tall, wide, reads=reads or Reads(), numba=numba, flat=flat
    )
    module.taken |= {"device", "table"}
    name = module.unique(function.name)
    walked = elaborate(
        function, dict(zip(names, arguments, strict=True)), module, is_kernel=True, item=item
    )
    result, needs_group = walked.result, walked.result.needs_group is not None
    given = [p for n, t in zip(names, arguments, strict=True) for p in parts(n, t)]
    several = _several_rows(walked, module, dict(given)) if apart else None
    is_whole = module.asks_whole_range and module.partial
    if (needs_group and not grouped) or is_whole or (tall and several is None):
        return compile_kernel(
            function,
            arguments,
            rank=rank,
            known=known,
            has_item=has_item,
            grouped=needs_group,
            partial=partial and not is_whole and not needs_group,
            apart=apart,
            wide=wide,
            reads=module.reads,
            numba=numba,
            of_launch=of_launch,
            sub_group=sub_group,
            flat=flat,
        )
    functions = [instance.text for instance in _used(result)]
    # To a compiler such an array changes by its own name alone, also at a barrier.
    alone = "__restrict__ " if apart and not module.items_meet else ""
    parameters: list[str] = []
    head: list[str] = []
    plan = ""
    for p, t in given:
        spelled = walked.spell(p)
        if isinstance(t, Static):
            plan += "-"
        elif isinstance(t, Scalar):
            plan += "c" if t.kind == "c" else "n"
            parameters += _scalar(walked, p, t, head)
        elif isinstance(t, RecordOf):  # an array of one
            plan += "d"
            parameters += _record(spelled, t, alone, p in result.written, head)
        else:
            plan += "d" if t.dense else "s"
            parameters += _array(spelled, t, alone, p in result.written, head)
    lines = [
        f"// {function.name}({_signature(names, arguments)})",
        *(f'#include "{header}"' for header in sorted(module.headers)),
        *declarations(module.records),
    ]
    # In namespaces, so that a variable of the same name hides nothing.
    if module.constants:
        lines += ["namespace table {", *_declarations(module), "}", ""]
    if module.given:
        parameters += _given(module, walked, head)
    if partial or tall:
        ends = [several.names.rows] if tall and several else []
        parameters += [f"int64_t {end}" for end in (*ends, walked.spell(RANGE))]
        plan += "r"
    if functions:
        lines += ["namespace device {", "\n\n".join(functions), "}", ""]
    if tall and several:
        inner = rows.text_of(several, rank, result.declarations)
    else:
        inner = _inside(walked, rank, partial)
    body = "\n".join([*(f"  {line}" for line in head), *inner, "}", ""])
    head_of = (
        f"{_vectors(module, body, functions)}USMX_KERNEL({rank}) "
        f"{name}{_sub_groups(module, sub_group)}({', '.join(parameters)}) {{"
    )
    text = "\n".join([*lines, head_of, body])
    if any(f"usmx::{name}(" in text for name in SPECIAL):
        text = f'#include "usmx/prelude/special.hpp"\n{text}'
    plan += _asks(body) or (("T" if tall else "t") if several else "")
    return Compiled(text, name, plan, result.needs_group, tuple(known), module, walked)


def _names_of_rows(walked: Walked) -> rows.Names:
    """How a text spells what it has for items of several rows."""
    spelled = [walked.spell(f"usmx.{name}") for name in (
        "rows", "row", "place", "first", "at", "is_inside", "compute", "stored")]  # fmt: skip
    return rows.Names(spelled[0], walked.spell(RANGE), *spelled[1:])


def _several_rows(walked: Walked, module: Module, given: dict[str, Type]) -> rows.Parts | None:
    """What a text for items of several rows is made of, if this kernel gains by it."""
    result = walked.result
    if module.grouped or module.items_meet or result.needs_group or result.calls:
        return None
    # Each of an item's rows begins with the arguments as they were given.
    if any(result.memory.values()) or given.keys() & spelling.stores(walked.function.tree).keys():
        return None
    arrays = {p for p, t in given.items() if isinstance(t, Array) and t.ndim > 1}
    written = {walked.spell(p) for p in arrays & result.written}
    read = {walked.spell(p) for p in arrays - result.written}
    return rows.parts_of(result.text, module.rank, _names_of_rows(walked), read, written)


def _inside(walked: Walked, rank: int, partial: bool) -> list[str]:
    """The lines of a kernel whose items are one each."""
    found = walked.result
    lines = _before_end(walked, rank, found.text) if partial else found.text
    return [*(f"  {line}" for line in found.declarations), *lines]


def _before_end(walked: Walked, rank: int, lines: list[str]) -> list[str]:
    """A kernel whose last groups may have items beyond the range."""
    place = f"int64_t(usmx::nd_item<{rank}>::get_global_id({rank - 1}))"
    end = walked.spell(RANGE)
    if not wrapping.asks(lines):
        return [f"  if ({place} >= {end}) return;", *lines]
    name = walked.spell("once.inside")
    inner = [line if line.startswith("#") else f"  {line}" for line in lines]
    whole = wrapping.before_end(name, inner, "  ")
    return [f"  const bool {name} = {place} < {end};", *whole, "  }"]


def _vectors(module: Module, body: str, functions: list[str]) -> str:
    """What says how many items a processor takes together, see USMX_SHORT_VECTORS."""
    whole = "".join([*functions, body])
    if not module.adds_in_turn or "usmx::local<" not in whole:
        return ""
    return "" if "sub_group" in whole or "shuffle" in whole else "USMX_SHORT_VECTORS "


def _asks(body: str) -> str:
    """The letter of a plan that says that the text asks whole vectors of items."""
    return "v" if "usmx::wrapped<" in body else ""


def _sub_groups(module: Module, items: int) -> str:
    """What says how many items a sub-group has, where the kernel asks about them."""
    return f" [[sycl::reqd_sub_group_size({items})]] " if items and module.asks_sub_groups else ""


def _scalar(walked: Walked, name: str, t: Scalar, head: list[str]) -> list[str]:
    """The parameters of one number, and what makes a variable of them."""
    given = walked.spell(name) + ("" if walked.variables[name].cpp == t.cpp else "_given")
    if t.kind != "c":
        return [f"{t.cpp} {given}"]
    part = scalars.real_of(t).cpp
    head.append(f"{t.cpp} {given}({given}_re, {given}_im);")
    return [f"{part} {given}_re", f"{part} {given}_im"]


def _record(name: str, t: RecordOf, alone: str, is_written: bool, head: list[str]) -> list[str]:
    """The parameters of one record in memory, and its name."""
    of = ("" if is_written else "const ") + t.record.cpp
    head.append(f"{of}& {name} = *{name}_data;")
    return [f"{of}* {alone}{name}_data", f"int64_t {name}_n0"]


def _array(name: str, t: Array, alone: str, is_written: bool, head: list[str]) -> list[str]:
    """The parameters of an array, and its view."""
    const = "" if is_written else "const "
    lengths = [f"{name}_n{k}" for k in range(t.ndim)]
    strides = [] if t.dense else [f"{name}_s{k}" for k in range(t.ndim)]
    head.append(_view(name, t, const, lengths, strides))
    pointer = f"{const}{t.element.cpp}* {alone}{name}_data"
    return [pointer, *(f"int64_t {n}" for n in lengths + strides)]


def _view(name: str, t: Array, const: str, lengths: list[str], strides: list[str]) -> str:
    lists = (
        f"{{{', '.join(lengths)}}}"
        if t.dense
        else (f"{{{', '.join(lengths)}}}, {{{', '.join(strides)}}}")
    )
    form = "dense" if t.dense else "strided"
    return f"const usmx::{form}<{const}{t.element.cpp}, {t.ndim}> {name}{{{name}_data, {lists}}};"


def _declarations(module: Module) -> list[str]:
    """What stands in the namespace of the tables."""
    lines = [t.of.declaration(t.name) for t in module.constants.values() if not t.is_given]
    if module.given:
        fields = [f"  const {t.of.element.cpp} (*{t.name}){t.of.lengths};" for t in module.given]
        lines += ["struct usmx_given {", *fields, "};"]
    return lines


def _given(module: Module, walked: Walked, head: list[str]) -> list[str]:
    """The parameters of tables, and one variable of them all, which device functions take."""
    parameters, pointers = [], []
    for t in module.given:
        name, element = walked.spell(f"table.{t.name}"), t.of.element.cpp
        parameters.append(f"const {element}* {name}")
        pointers.append(f"(const {element} (*){t.of.lengths}){name}")
    head.append(f"const table::usmx_given usmx_tables{{{', '.join(pointers)}}};")
    return parameters


def _signature(names: tuple[str, ...], arguments: list[Type]) -> str:
    return ", ".join(f"{n}: {t}" for n, t in zip(names, arguments, strict=True)).replace("\n", " ")


def _used(result: Result) -> list[Instance]:
    """Device functions in an order in which each comes after those that it calls."""
    found: list[Instance] = []
    _add_used(result, found)
    return found


def _add_used(result: Result, found: list[Instance]) -> None:
    for instance in result.calls:
        if instance not in found:
            _add_used(instance.result, found)
            found.append(instance)
