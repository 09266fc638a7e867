"""Functions of numbers that texts of CUDA call and that `libdevice` of kernels in Python has:
``__fadd_rd`` and the like. They are described once, in the language of kernels; a text gets the
C++ of those that it calls.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from ..._kernel.language import cuda as _language
from ..._kernel.language.device_function import DeviceFunction
from ..._kernel.launch import Kernel
from ..._kernel.source.texts import defined_in

_WORD = re.compile(r"\b__(\w+)(?=\s*\()")
#: Types by CUDA's names, those of the language, and of C++.
_TYPES = {
    "int": ("int32", "int"), "uint": ("uint32", "unsigned int"), "ll": ("int64", "int64_t"),
    "ull": ("uint64", "uint64_t"), "float": ("float32", "float"), "double": ("float64", "double"),
}  # fmt: skip
_KINDS = "|".join(_TYPES)
_CONVERSION = re.compile(rf"({_KINDS})2({_KINDS})_r[dnuz]")
_OF_FLOAT = re.compile(r"(?:f(?:add|sub|mul|div|rcp|sqrt|rsqrt)|fmaf)_r[dnuz]")
_OF_DOUBLE = re.compile(r"(?:d(?:add|sub|mul|div|rcp|sqrt)|fma)_r[dnuz]")
#: The types of others: what they give, and their operands.
_OTHERS = {
    "brev": "uint uint", "brevll": "ull ull", "byte_perm": "uint uint uint uint",
    "double2hiint": "int double", "double2loint": "int double", "hadd": "int int int",
    "hiloint2double": "double int int", "mul24": "int int int", "mul64hi": "ll ll ll",
    "mulhi": "int int int", "rhadd": "int int int", "sad": "uint int int uint",
    "saturatef": "float float", "uhadd": "uint uint uint", "umul24": "uint uint uint",
    "umul64hi": "ull ull ull", "umulhi": "uint uint uint", "urhadd": "uint uint uint",
    "usad": "uint uint uint uint",
}  # fmt: skip
# What is made has no more brackets than it needs.
_QUIET = (
    """_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \\"-Wparentheses\\"")"""
)
_LOUD = '_Pragma("clang diagnostic pop")'


def types_of(name: str) -> list[str]:
    """The type of what a function gives, and those of its operands; nothing of other functions.

    Parameters
    ----------
    name : str
        As in libdevice, without the underscores of texts.
    """
    form: Any = vars(_language.libdevice).get(name)
    if form is None:
        return []
    converts = _CONVERSION.fullmatch(name)
    if converts:
        return [converts[2], converts[1]]
    if _OF_FLOAT.fullmatch(name) or _OF_DOUBLE.fullmatch(name):
        kind = "float" if _OF_FLOAT.fullmatch(name) else "double"
        return [kind] * (1 + len(form.parameters))
    return _OTHERS.get(name, "").split()


def needed(plain: str) -> str:
    """The C++ of the functions that a text calls, which ends no line.

    Parameters
    ----------
    plain : str
        The text, with blanks for comments and quotes.
    """
    return _text_of(tuple(sorted({m[1] for m in _WORD.finditer(plain) if types_of(m[1])})))


@functools.lru_cache(maxsize=256)
def _text_of(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    given = {kind: f"of_{kind}" for kind in _TYPES}
    known: dict[str, Any] = {"libdevice": _language.libdevice}
    lines = [f"def all_of_them(item, out, {', '.join(given.values())}):"]
    shown = []
    for name in names:
        gives, *kinds = types_of(name)
        parameters = ", ".join("abc"[: len(kinds)])
        text = f"def of_{name}({parameters}):\n    return libdevice.{name}({parameters})\n"
        known[f"of_{name}"] = DeviceFunction(defined_in(text, known))
        lines.append(f"    out[0] = of_{name}({', '.join(given[kind] for kind in kinds)})")
        typed = ", ".join(f"{_TYPES[k][1]} {p}" for k, p in zip(kinds, "abc", strict=False))
        shown.append(
            f"inline {_TYPES[gives][1]} __{name}({typed}) "
            f"{{ return usmx_intrinsics::device::of_{name}({parameters}); }}"
        )
    kernel = Kernel(defined_in("\n".join(lines), known))
    numbers = [np.dtype(kind).type(1) for kind, _ in _TYPES.values()]
    made = kernel.source(np.zeros(1), *numbers).partition("USMX_KERNEL(")[0]
    body = [line for line in made.split("\n") if not line.startswith(("#include", "//"))]
    return " ".join([_QUIET, "namespace usmx_intrinsics {", *body, "}", *shown, _LOUD, ""])
