"""Signatures and docstrings of what kernels call, from the names of the parameters.

Names of one meaning are the same in all functions here, as in those of CUDA, so that what a
parameter is stands here once. Nothing is imported before a signature is asked for.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect import Signature

_ARRAY = ("array", "In memory of the device, of the group or of the item.")
_ELEMENT = ("int or tuple of int", "Which element: a number for each dimension.")
_NUMBER = ("number", "The operand.")
_OPERAND = ("number", "An operand.")
_WARP = ("int", "A bit for each thread of the warp that takes part.")
_WHOLE_WARP = ("int, optional", "Without effect: all threads of the warp take part.")

#: Names of parameters -> what they are, and what they mean.
PARAMETERS: dict[str, tuple[str, str]] = {
    "a": _OPERAND, "b": _OPERAND, "c": _OPERAND, "x": _NUMBER, "y": _NUMBER, "z": _NUMBER,
    "array": _ARRAY, "ary": _ARRAY, "index": _ELEMENT, "i": _ELEMENT,
    "index?": ("int or tuple of int, optional", "Which element; the first one by default."),
    "ndarray": ("array", "A global array, whose values become a part of the program."),
    "n": ("int", "The order."),
    "s": ("int", "Four bits for each byte of the result: its number among the eight."),
    "value": ("number", "What this item gives to the others or to the element."),
    "value2": ("number", "What is stored."),
    "old": ("number", "What the element has to be for that."),
    "val": ("number", "What is stored."),
    "cond": ("bool", "Whether it is the first one."),
    "predicate": ("bool", "What this item asks."),
    "mask": _WARP,
    "mask?": _WHOLE_WARP, "membermask?": _WHOLE_WARP,
    "src_lane": ("int", "Number of the thread in the warp whose value it is."),
    "var": ("number", "What this thread gives to the others."),
    "width?": ("int, optional", "Threads of a segment, a power of two; the whole warp by default."),
    "val_id": ("int", "The other thread, or how far away it is."),
    "delta": ("int", "How many threads before or after this one."),
    "lane_mask": ("int", "The bits in which the number of the other thread differs."),
    "ndim": ("{1, 2, 3}", "How many dimensions are asked for."),
    "ns": ("int", "Nanoseconds."),
    "fence?": ("int, optional", "Without effect; older languages name the memory here."),
    "axis": ("int", "The dimension of the launch, from 0 on."),
    "dtype": ("dtype", "The type of the elements."),
    "size": ("int, tuple of int or None", "Known when compiling; None is that of the launch."),
    "alignment?": ("int, optional", "Without effect."),
    "shape": ("int or tuple of int", "Known when compiling, or an argument of the kernel."),
    "group": ("group or sub-group", "Whose items wait."),
}  # fmt: skip

#: Kinds of numbers, as rows of the table have them, in words.
KINDS = {"f": "floats", "iu": "integers", "iuf": "integers or floats"}


def lines_of(names: str, gives: str) -> list[str]:
    """The sections of a docstring.

    Parameters
    ----------
    names : str
        Names of the parameters, separated by blanks; one that ends with ``?`` may be left out.
    gives : str
        What is given, and after a colon what that is; empty for nothing.
    """
    lines: list[str] = []
    joined: list[tuple[str, tuple[str, str]]] = []
    for given in names.split():
        about, name = PARAMETERS[given], given.removesuffix("?")
        if joined and joined[-1][1] is about:
            joined[-1] = f"{joined[-1][0]}, {name}", about
        else:
            joined.append((name, about))
    if joined:
        lines += ["", "Parameters", "----------"]
    for name, (kind, text) in joined:
        lines += [f"{name} : {kind}", f"    {text}"]
    if gives:
        kind, _, text = gives.partition(": ")
        lines += ["", "Returns", "-------", kind, *([f"    {text}"] if text else [])]
    return lines


def signature_of(names: str) -> Signature:
    """How it is called."""
    from inspect import Parameter, Signature

    made = []
    for name in names.split():
        default = 0 if name.endswith("?") else Parameter.empty
        kind = Parameter.POSITIONAL_OR_KEYWORD
        made.append(Parameter(name.removesuffix("?"), kind, default=default))
    return Signature(made)
