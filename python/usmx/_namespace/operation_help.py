"""The help of a function of the table of operations, from its row: what `help(usmx.sqrt)` shows.

Editors show the same: `tools/make_tables.py` writes it under the name of each function, where type
checkers and completion read it. So nothing is imported here.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

_WORDS = {"b": "bools", "iu": "integers", "f": "floats", "c": "complex numbers"}
#: What functions of the table take in addition to their operands.
_KEYWORDS = {
    "out": (
        "ndarray or tuple of one, optional",
        "Where the result is written.",
    ),
    "where": (
        "array of bool, optional",
        "Where `out` is written; its other elements are kept. Without `out` all are computed.",
    ),
    "casting": (
        "{'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional",
        "The rule by which operands and the result are cast.",
    ),
    "order": (
        "{'C', 'F', 'A', 'K'}, optional",
        "The order of the elements of a new result in memory; 'K' follows the operands, and 'A' is "
        "'F' if all of them are in that order.",
    ),
    "dtype": ("dtype, optional", "The type that is computed in: operands are cast to it."),
    "subok": ("bool, optional", "Without effect; programs for NumPy pass it."),
    "signature": (
        "str or tuple of dtype, optional",
        'The types of the operands and of the result, such as ``"dd->d"``; in place of `dtype`.',
    ),
    "deg": ("bool, optional", "Gives degrees in place of radians."),
}


def _in_words(letters: str) -> str:
    words = [word for some, word in _WORDS.items() if set(some) & set(letters)]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _types(row: Any) -> str:
    """Of what it is computed, what becomes that, and what it refuses."""
    letters = "biufc"
    has_text = [any(letter in kinds for kinds, _ in row.texts) for letter in letters]
    # A kind that has no text becomes the next wider one that has.
    target = {
        letter: next((to for to, found in zip(letters[k:], has_text[k:], strict=True) if found), "")
        for k, letter in enumerate(letters)
        if letter not in row.refused
    }
    refused = "".join(letter for letter in letters if not target.get(letter))
    same = "".join(letter for letter, to in target.items() if letter == to)
    cast = "".join(letter for letter, to in target.items() if to and letter != to)
    parts = [_in_words(same)]
    if cast:
        parts.append(f"{_in_words(cast)} become {_in_words(target[cast[-1]])}")
    if refused:
        parts.append(f"{_in_words(refused)} are refused")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _result(row: Any) -> str:
    if row.result == "bool":
        return "Of bools."
    if row.result == "real":
        return "Of the type of the operand; of complex numbers that of their parts."
    if row.chooses:
        return (
            "Of the type that x1 and x2 are cast to; with the condition alone, a tuple of the "
            "indices where it is true."
        )
    if row.wide:
        return f"Of float64 or complex128 if the operands are {_in_words(row.wide)}."
    return "Of the type that the operands are cast to."


def _accuracy(row: Any) -> str:
    """How far results may be off, for rows that have a bound."""
    unit = "units in the last place"
    if row.oscillates:
        unit += " of the larger one of 1 and the value"
    if row.ulps and row.complex_ulps:
        return f"Off by at most {row.ulps} {unit}; of complex numbers {row.complex_ulps}."
    if row.ulps:
        return f"Off by at most {row.ulps} {unit}."
    if row.complex_ulps:
        return f"Of complex numbers off by at most {row.complex_ulps} {unit}."
    return ""


def _example(row: Any, place: str) -> list[str]:
    given, _, result = row.example.partition(" -> ")
    operands = [f"usmx.asarray({one})" for one in re.split(r"(?<=\]), (?=\[)", given)]
    names = ["x"] if len(operands) == 1 else [f"x{k + 1}" for k in range(len(operands))]
    if row.chooses:
        names = ["condition", *names[:-1]]
    lines = [f">>> {name} = {one}" for name, one in zip(names, operands, strict=True)]
    call = f"usmx.{place}({', '.join(names)})"
    if row.ulps or re.search(r"\.\d{3,4}\b", result):
        call = f"usmx.round({call}, 4)"
    return [*lines, f">>> {call}.tolist()", result]


def _wrapped(text: str) -> list[str]:
    """Lines of at most 88 characters, indented."""
    lines, line = [], "   "
    for word in text.split():
        if len(line) + 1 + len(word) > 88:
            lines.append(line)
            line = "   "
        line += f" {word}"
    return [*lines, line]


def help_of(row: Any, signature: Any) -> str:
    """The docstring of the function of a row.

    Parameters
    ----------
    row : Operation
        The row of the table.
    signature : inspect.Signature
        How the function is called.
    """
    place = f"{row.space}.{row.name}" if row.space else row.name
    names = list(signature.parameters)
    first = names.index("deg" if "deg" in names else "out")
    lines = [f"Gives {row.doc}.", "", f"``usmx.{place}{signature}``", ""]
    lines += ["Parameters", "----------", f"{', '.join(names[:first])} : array or number"]
    # The row calls operands by these letters.
    operands = {1: "Operand a", 2: "Operands a and b", 3: "Operands a, b and c"}[first]
    lines += _wrapped(f"{operands}{', which are broadcast' if first > 1 else ''}. {_types(row)}")
    for name in names[first:]:
        kind, text = _KEYWORDS[name]
        lines += [f"{name} : {kind}", *_wrapped(text)]
    lines += ["", "Returns", "-------", "ndarray"]
    lines += _wrapped(f"{_result(row)} Computed when it is needed, where the operands are.")
    if accuracy := _accuracy(row):
        lines += ["", "Notes", "-----", *(line.strip() for line in _wrapped(accuracy))]
    if row.example:
        lines += ["", "Examples", "--------", *_example(row, place)]
    return "\n".join(lines)
