"""The calls of a first session: the wheel brings the programs that these compile, and
``usmx cache --warm`` compiles them. A form that is new is one row."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import usmx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .typing import UsmKind

#: More elements than the host computes by itself.
_MANY = 100_000

#: Name -> what is computed. ``x``, ``y``: contiguous; ``m``: 300 x 300; ``k``: bool; ``i``: int64.
_OF_NUMBERS: dict[str, Callable[[Any], object]] = {
    "arange": lambda a: usmx.arange(_MANY, dtype=a.x.dtype),
    "x + 1": lambda a: a.x + 1,
    "x + y": lambda a: a.x + a.y,
    "x * 2 + y": lambda a: a.x * 2 + a.y,
    "x > y": lambda a: a.x > a.y,
    "x[k]": lambda a: a.x[a.k],
    "x[::2]": lambda a: a.x[::2].copy(),
    "take": lambda a: usmx.take(a.x, a.i),
    "sum": lambda a: usmx.sum(a.x),
    "sum, axis 0": lambda a: usmx.sum(a.m, axis=0),
    "mean": lambda a: usmx.mean(a.x),
    "max": lambda a: usmx.max(a.x),
    "argmax": lambda a: usmx.argmax(a.x),
    "cumsum": lambda a: usmx.cumsum(a.x),
}
#: Not for float32.
_OF_MANY: dict[str, Callable[[Any], object]] = {
    "sort": lambda a: usmx.sort(a.x),
    "argsort": lambda a: usmx.argsort(a.x),
    "unique": lambda a: usmx.unique(a.x),
}
#: Reductions, sums that run and sorting have other programs for fewer elements.
_OF_FEWER: dict[str, Callable[[Any], object]] = {
    "sum": lambda a: usmx.sum(a.x),
    "mean": lambda a: usmx.mean(a.x),
    "max": lambda a: usmx.max(a.x),
    "min": lambda a: usmx.min(a.x),
    "argmax": lambda a: usmx.argmax(a.x),
    "cumsum": lambda a: usmx.cumsum(a.x),
    "sort": lambda a: usmx.sort(a.x),
    "argsort": lambda a: usmx.argsort(a.x),
}
_OF_FEWER_DOUBLES: dict[str, Callable[[Any], object]] = {
    "std": lambda a: usmx.std(a.x),
    "histogram": lambda a: usmx.histogram(a.x, bins=50),
}
_OF_DOUBLES: dict[str, Callable[[Any], object]] = {
    "x > 0": lambda a: a.x > 0,
    "x[x > 0]": lambda a: a.x[a.x > 0],
    "where(x > 0)": lambda a: usmx.where(a.x > 0, a.x, 0),
    "where(x > 0, x, y)": lambda a: usmx.where(a.x > 0, a.x, a.y),
    "histogram": lambda a: usmx.histogram(a.x, bins=50),
    "std": lambda a: usmx.std(a.x),
    "x[::2] + 1": lambda a: a.x[::2] + 1,
    "sum of squares": lambda a: usmx.sum(a.x * a.x),
    "mean, axis 1": lambda a: usmx.mean(a.m, axis=1),
    "nonzero": lambda a: usmx.nonzero(a.x),
    "log": lambda a: usmx.log(a.x),
    "cos": lambda a: usmx.cos(a.x),
    "median": lambda a: usmx.median(a.x),
    "x * y": lambda a: a.x * a.y,
    "x - y": lambda a: a.x - a.y,
    "x * 2": lambda a: a.x * 2,
    "-x": lambda a: -a.x,
    "x ** 2": lambda a: a.x**2,
    "x < y": lambda a: a.x < a.y,
    "x == 0": lambda a: a.x == 0,
    "1 / x": lambda a: 1 / a.x,
    "power": lambda a: usmx.power(a.x, a.y),
    "isnan": lambda a: usmx.isnan(a.x),
    "round": lambda a: usmx.round(a.x),
    "tanh": lambda a: usmx.tanh(a.x),
    "min": lambda a: usmx.min(a.x),
    "sum, axis 1": lambda a: usmx.sum(a.m, axis=1),
    "mean, axis 0": lambda a: usmx.mean(a.m, axis=0),
    "var": lambda a: usmx.var(a.x),
    "diff": lambda a: usmx.diff(a.x),
    "m + row": lambda a: a.m + a.m[0],
    "eye": lambda a: usmx.eye(300),
}
_OF_FLOATS: dict[str, Callable[[Any], object]] = {
    "maximum": lambda a: usmx.maximum(a.x, a.y),
    "clip": lambda a: usmx.clip(a.x, 0, 1),
    "m.T": lambda a: usmx.ascontiguousarray(a.m.T),
    "where": lambda a: usmx.where(a.k, a.x, a.y),
    "m @ m": lambda a: a.m @ a.m,
    "abs": lambda a: usmx.abs(a.x),
    "concatenate": lambda a: usmx.concatenate([a.x, a.y]),
    "x / y": lambda a: a.x / a.y,
    "x / 2": lambda a: a.x / 2,
    "sqrt": lambda a: usmx.sqrt(a.x),
    "exp": lambda a: usmx.exp(a.x),
    "sin": lambda a: usmx.sin(a.x),
    "linspace": lambda a: usmx.linspace(0, 1, _MANY, dtype=a.x.dtype),
    "random": lambda a: usmx.random.default_rng(1).random(_MANY, dtype=a.x.dtype),
    "standard_normal": lambda a: usmx.random.default_rng(1).standard_normal(_MANY, dtype=a.x.dtype),
    "fft": lambda a: usmx.fft.fft(a.x),
    # What a transform by oneMKL begins with.
    "to complex": lambda a: usmx.copy_async(
        usmx.empty(_MANY, usmx.result_type(a.x.dtype, "complex64")), a.x
    ).wait(),
    "svd": lambda a: usmx.linalg.svd(a.m),
    "norm": lambda a: usmx.linalg.norm(a.x),
    "dot": lambda a: usmx.dot(a.x, a.y),
}
_OF_INTEGERS: dict[str, Callable[[Any], object]] = {
    "bincount": lambda a: usmx.bincount(a.i),
    "x % 2": lambda a: a.x % 2,
    "x // 2": lambda a: a.x // 2,
    "x % 2 == 0": lambda a: a.x % 2 == 0,
    "x / 2": lambda a: a.x / 2,
    "sqrt": lambda a: usmx.sqrt(a.x),
    "integers": lambda a: usmx.random.default_rng(1).integers(0, 10, _MANY),
}
_OF_BOOLS: dict[str, Callable[[Any], object]] = {
    "any": lambda a: a.k.any(),
    "all": lambda a: a.k.all(),
    "mean": lambda a: usmx.mean(a.k),
    "k & k": lambda a: a.k & ~a.k,
    "~k": lambda a: ~a.k,
    "nonzero": lambda a: usmx.nonzero(a.k),
    "random.random": lambda a: usmx.random.random(_MANY),
    "random.standard_normal": lambda a: usmx.random.standard_normal(_MANY),
}
#: Types, numbers of elements, and the forms.
_TABLE: tuple[tuple[str, int, dict[str, Callable[[Any], object]]], ...] = (
    ("float64", _MANY, _OF_NUMBERS | _OF_MANY | _OF_FLOATS | _OF_DOUBLES),
    ("float32", _MANY, _OF_NUMBERS | _OF_FLOATS),
    ("int64", _MANY, _OF_NUMBERS | _OF_MANY | _OF_INTEGERS),
    ("bool", _MANY, _OF_BOOLS),
    ("float64", 20_000, _OF_FEWER | _OF_FEWER_DOUBLES),
    ("float64", 6_000, _OF_FEWER | _OF_FEWER_DOUBLES),
)
_CASTS = ("float64", "float32", "int64")


def _operands(type_: str, count: int, kind: UsmKind) -> SimpleNamespace:
    """What the forms are computed of."""
    import numpy as np

    numbers = np.arange(count) * 7919 % 1000

    def made(values: Any) -> usmx.ndarray:
        return usmx.asarray(values, usm_type=kind)

    x = numbers + 1 if type_ == "bool" else (numbers + 1).astype(type_)
    return SimpleNamespace(
        x=made(x), y=made(x[::-1].copy()), i=made(numbers), k=made(numbers > 500),
        m=made(np.resize(x, (300, 300))),
    )  # fmt: skip


def _computed(form: Callable[[Any], object], operands: SimpleNamespace) -> None:
    """Compute it, and wait."""
    found = form(operands)
    for one in found if isinstance(found, tuple) else (found,):
        if isinstance(one, usmx.ndarray):
            one.wait()


def _cast(to: str) -> Callable[[Any], object]:
    return lambda a: a.x.astype(to)


#: The kinds of memory that they are computed in.
KINDS: tuple[UsmKind, ...] = ("shared", "device")


def calls(kind: UsmKind) -> Iterator[tuple[str, Callable[[], None]]]:
    """The name of each form and what computes it; new arrays have to be of the same kind."""
    for type_, count, forms in _TABLE:
        if type_ == "float64" and not usmx.Device().has_aspect("fp64"):
            continue
        operands = _operands(type_, count, kind)
        casts = {f"astype {to}": _cast(to) for to in _CASTS if to != type_ and count == _MANY}
        for name, form in (forms | casts).items():
            yield f"{name} of {count} {type_}, {kind}", partial(_computed, form, operands)
