"""Kernels whose items read the rows around their own, as stencils do: on processors an item takes
several rows, so that each row is read less often.

The vectors of a processor are neighbours along the last dimension. Where items read the rows above
and below, each row comes from the second cache once for each of them; an item of four rows reads
six rows in place of twelve. Two more things count then. A vector whose items are all inside of the
kernel's condition needs no mask, and a vector that begins where a line of the cache does stores
into one line, not into two.

All of it is read from the lines of C++: they have every id and every index in one form.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Rows of an item.
ROWS = 4
#: Longer bodies do more than read neighbours, and would take long to compile so often.
MOST_LINES = 40

_ASSIGNED = re.compile(r"  (\w+) = (.+);")
#: What a number that is known of all items is computed from, but for names.
_CALLED = re.compile(r"([\w:.]+)\s*\(")
_HARMLESS = {"int64_t", "int32_t", "usmx::min", "usmx::max", "usmx::global_id_of"}
_REFUSED = re.compile(
    r"\b(?:for|while|do|goto|barrier|USMX_PRINT|nd_item)\b|usmx_stop|usmx::local<|^\s*#"
)


@dataclass(frozen=True)
class Names:
    """How a text spells what it has for items of several rows."""

    #: Parameters: how many rows there are, and the length of a row.
    rows: str
    length: str
    #: The row and the place in it of one of the items of the kernel.
    row: str
    place: str
    #: Those of the first of the items that are taken together.
    first: str
    at: str
    #: Functions of a row and a place.
    is_inside: str
    compute: str
    stored: str


@dataclass(frozen=True)
class Parts:
    """The lines of a kernel, taken apart."""

    names: Names
    #: Numbers that follow from the ids, before the condition.
    before: list[str]
    condition: str
    body: list[str]
    #: The element whose address says where lines of the cache begin; empty if there is none.
    stored: str


def parts_of(
    lines: list[str], rank: int, names: Names, read: set[str], written: set[str]
) -> Parts | None:
    """The kernel's lines taken apart; None if its items do not read the rows around their own.

    Parameters
    ----------
    lines : list of str
        Of the kernel, without declarations.
    rank : int
        Dimensions of the launch.
    names : Names
        Of this text.
    read, written
        Names of its arrays.
    """
    if rank < 2:
        return None
    lines = [_of_item(line, rank, names) for line in lines]
    arrays = {*read, *written}
    before: list[str] = []
    while lines and (found := _ASSIGNED.fullmatch(lines[0])) and _is_plain(found[2], arrays):
        before.append(lines.pop(0))
    conditions = []
    while len(lines) > 3 and lines[1] == "    return;" and lines[2] == "  }":
        if not lines[0].startswith("  if ("):
            return None
        conditions.append(f"!({_condition(lines[0])})")
        del lines[:3]
    if (
        not conditions
        and len(lines) > 2
        and lines[0].startswith("  if (")
        and lines[-1] == "  }"
        and all(line.startswith("   ") for line in lines[1:-1])
    ):
        conditions.append(f"({_condition(lines[0])})")
        lines = [line[2:] for line in lines[1:-1]]
    condition = " && ".join(conditions) or "true"
    # A name that the condition assigns would have no value behind it.
    if not _is_plain(condition, arrays) or " = " in condition:
        return None
    if not 0 < len(lines) <= MOST_LINES:
        return None
    if any(_REFUSED.search(line) for line in [*before, condition, *lines]):
        return None
    of_row, of_place = {names.row}, {names.place}
    for line in before:
        name, value = _assigned(line)
        used = set(re.findall(r"\w+", value))
        if used & of_row:
            of_row.add(name)
        if used & of_place:
            of_place.add(name)
    if not _reads_rows(lines, read, of_row, of_place):
        return None
    return Parts(names, before, condition, lines, _stored(before, lines, written, of_place))


def _of_item(line: str, rank: int, names: Names) -> str:
    """A line whose ids are those of one of an item's rows."""
    of = f"usmx::nd_item<{rank}>::get_global_"
    for code, name in (
        (f"id({rank - 1})", names.place),
        (f"id({rank - 2})", names.row),
        (f"range({rank - 2})", names.rows),
        (f"range({rank - 1})", names.length),
    ):
        line = line.replace(f"int64_t({of}{code})", name)
    for axis in range(rank - 2):  # these stay as they are
        line = line.replace(f"{of}id({axis})", f"usmx::global_id_of({axis})")
    return line


def _condition(line: str) -> str:
    return line.removeprefix("  if (").removesuffix(") {")


def _assigned(line: str) -> tuple[str, str]:
    found = _ASSIGNED.fullmatch(line)
    assert found is not None
    return found[1], found[2]


def _is_plain(code: str, arrays: set[str]) -> bool:
    """Whether an expression is computed from ids, lengths and numbers, without elements."""
    called = {name for name in _CALLED.findall(code) if name}
    called = {name for name in called if not name.endswith(".size")}
    indexed = set(re.findall(r"(\w+)\[", code)) - {"shape"}
    return not (called - _HARMLESS) and not indexed and not (called & arrays)


def _accesses(line: str, arrays: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Each element in a line: its array, and its indices."""
    for found in re.finditer(r"\b(\w+)\(", line):
        if found[1] not in arrays:
            continue
        indices, depth, start = [], 0, found.end()
        for at in range(found.end(), len(line)):
            one = line[at]
            if one in ",)" and depth == 0:
                indices.append(line[start:at].strip())
                start = at + 1
                if one == ")":
                    break
            depth += (one in "([{") - (one in ")]}")
        yield found[1], indices


def _uses(code: str, names: set[str]) -> bool:
    return not names.isdisjoint(re.findall(r"\w+", code))


def _reads_rows(lines: list[str], read: set[str], of_row: set[str], of_place: set[str]) -> bool:
    """Whether an array is read at several rows, and along each as the items lie."""
    seen: dict[tuple[object, ...], str] = {}
    for line in lines:
        for array, indices in _accesses(line, read):
            *outer, last = indices
            rows = [k for k, index in enumerate(outer) if _uses(index, of_row)]
            if len(rows) != 1 or not _uses(last, of_place) or _uses(last, of_row):
                continue
            row = outer[rows[0]]
            if any(_uses(index, of_place) for index in outer):
                continue
            others = (array, rows[0], *(x for k, x in enumerate(outer) if k != rows[0]))
            if seen.setdefault(others, row) != row:
                return True
    return False


def _stored(before: list[str], lines: list[str], written: set[str], of_place: set[str]) -> str:
    """An element that is stored, whose place follows from the ids."""
    changed = {m[1] for line in lines if (m := re.match(r"\s*(\w+) [-+*/]?= ", line))}
    for line in lines:
        for array, indices in _accesses(line, written):
            place = ", ".join(indices)
            if (
                _uses(indices[-1], of_place)
                and _is_plain(place, set())
                and not _uses(place, changed - {_assigned(one)[0] for one in before})
            ):
                return f"{array}({place})"
    return ""


def text_of(parts: Parts, rank: int, declarations: list[str]) -> list[str]:
    """The lines of a kernel whose items take several rows.

    Parameters
    ----------
    parts : Parts
        Of the kernel.
    rank : int
        Dimensions of the launch.
    declarations : list of str
        Of the kernel's variables.
    """
    names = parts.names
    row, place, first, at = names.row, names.place, names.first, names.at
    head = [*(f"    {line}" for line in declarations), *(f"  {line}" for line in parts.before)]
    of = f"int64_t(usmx::nd_item<{rank}>::get_global_id"
    takes = f"[&](const int64_t {row}, const int64_t {place})"
    known = f"{row} < {names.rows} && {place} >= 0 && {place} < {names.length}"
    lines = [
        f"  const auto {names.is_inside} = {takes} {{",
        *head,
        f"    return {known} && {parts.condition};",
        "  };",
        f"  const auto {names.compute} = {takes} {{",
        *head,
        *(f"  {line}" for line in parts.body),
        "  };",
        f"  const int64_t {first} = {of}({rank - 2})) * {ROWS};",
    ]
    shift = ""
    if parts.stored:
        lines += [
            f"  const auto {names.stored} = {takes} {{",
            *head,
            f"    return &{parts.stored};",
            "  };",
        ]
        shift = f" - usmx::items_behind_line({names.stored}({first}, 0))"
    lines.append(f"  const int64_t {at} = {of}({rank - 1})){shift};")
    every = " & ".join(f"{names.is_inside}({first} + {k}, {at})" for k in range(ROWS))
    lines += [
        f"  if (usmx::all_of<3>({every})) {{",
        *(f"    {names.compute}({first} + {k}, {at});" for k in range(ROWS)),
        "  } else {",
        f"    for (int64_t {row} = {first}; {row} < {first} + {ROWS}; ++{row}) {{",
        f"      if ({names.is_inside}({row}, {at})) {names.compute}({row}, {at});",
        "    }",
        "  }",
    ]
    return [_as_it_was(line, rank) for line in lines]


def _as_it_was(line: str, rank: int) -> str:
    return line.replace("usmx::global_id_of(", f"usmx::nd_item<{rank}>::get_global_id(")
