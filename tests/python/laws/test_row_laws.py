"""What every row of the table of operations keeps, for every type: NumPy's values within the row's
bounds, also at infinities, NaN, zeros, limits and subnormals. test_one_name.py has the other law:
all ways have one result.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from together import compute_together

import usmx
from usmx import _usmx
from usmx._operations import OPERATIONS, Operation

TYPES = "f?bBhHiIqQFDed"
#: Rows that are functions of arrays.
ROWS = [row for row in OPERATIONS if row.texts]
WIDER = {"e": "d", "f": "d", "d": "g", "F": "D", "D": "G"}
LONG_DOUBLE = np.finfo("g").nmant > np.finfo("d").nmant


# --- operands -----------------------------------------------------------------------------------


def extremes(char: str) -> np.ndarray:
    """The numbers of a real type at which something special happens."""
    if char == "?":
        return np.array([False, True])
    if char in "bBhHiIqQ":
        limits = np.iinfo(char)
        some = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2 + 1, 0, 1]
        return np.array([*some, *([-1, -2] if limits.min else []), 2, 3, 7], char)
    about = np.finfo(char)
    large = float(about.max)
    root, exponent = np.sqrt(large), np.log(large)
    some = [0, 0.5, 1, 1 + about.eps, 1 - about.epsneg, 2, 3, 20, root, exponent, exponent + 1]
    some += [1 / about.eps, 2 / about.eps + 2, about.tiny, about.smallest_subnormal, about.max]
    some += [large / 2, about.eps, np.pi / 2, np.inf]
    return np.array([*some, *(-x for x in some), np.nan], about.dtype)


def spread(char: str, size: int, row: Operation, rng: np.random.Generator) -> np.ndarray:
    """Numbers of all sizes, numbers near 1, and the row's own domain."""
    dtype = np.dtype(char)
    if char == "?":
        return rng.integers(0, 2, size).astype("?")
    if char in "bBhHiIqQ":
        limits = np.iinfo(char)
        wide = rng.integers(limits.min, limits.max, size, dtype, endpoint=True)
        return np.where(rng.random(size) < 0.5, wide, wide // max(1, limits.max // 9))
    bits = np.frombuffer(rng.bytes(size * dtype.itemsize), dtype)
    own = rng.uniform(*row.domain, size).astype(char)
    near = rng.normal(0, 3, size).astype(char)
    return rng.permutation(np.concatenate([bits[::3], own[::3], near[: size - 2 * len(own[::3])]]))


@functools.cache
def operands_of(name: str, char: str) -> tuple[np.ndarray, ...]:
    """As many operands as the row has: each extreme with each, then others."""
    row = next(r for r in ROWS if r.name == name)
    rng = np.random.default_rng([ord(char), len(name)])
    part = {"F": "f", "D": "d"}.get(char, char)
    some = extremes(part)
    if char in "FD":
        few = some if row.arity == 1 else np.array([0, 1, -2, np.inf, np.nan, -0.0], part)
        real, imag = (m.ravel() for m in np.meshgrid(few, few))
        some = np.empty(real.size, char)
        some.real, some.imag = real, imag
    corners = [m.ravel() for m in np.meshgrid(*[some] * min(row.arity, 2))]
    corners += [np.resize(some, corners[0].size)] * (row.arity - len(corners))
    size = 5000 - corners[0].size
    made = []
    for k in range(row.arity):
        rest = np.asarray(spread(part, size, row, rng))
        if char in "FD":
            with np.errstate(all="ignore"):
                rest = (rest + 1j * spread(part, size, row, rng)).astype(char)
        made.append(np.concatenate([corners[k], rest]).astype(char))
    if row.chooses:
        made[0] = made[0] != 0
    if row.name in ("left_shift", "right_shift") or (row.name == "power" and char in "bhiq"):
        # Others are errors, or undefined in NumPy.
        made[1] = np.abs(made[1] % (64 if row.name != "power" else 9)).astype(char)
    return tuple(made)


def rows_taking(char: str) -> list[Operation]:
    """The rows that take a type."""
    found = []
    for row in ROWS:
        types = [np.dtype("?" if row.chooses and k == 0 else char) for k in range(row.arity)]
        if _usmx._result_types(row.name, *types) is not None:
            found.append(row)
    return found


def rows_for(char: str) -> Sequence[Operation]:
    """The same; some of them, from all parts, because compiling all takes half an hour.

    ``USMX_ALL_ROWS=1`` in the environment takes all.
    """
    rows = rows_taking(char)
    if os.environ.get("USMX_ALL_ROWS") == "1" or len(rows) <= 24:
        return rows
    return [rows[k * len(rows) // 24] for k in range(24)]


def function_of(row: Operation) -> Any:
    return getattr(usmx.special if row.space else usmx, row.name)


# --- references ---------------------------------------------------------------------------------


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of complex numbers, each step rounded: NumPy's own loops may use fma."""
    made = np.empty_like(a)
    made.real = a.real * b.real - a.imag * b.imag
    made.imag = a.real * b.imag + a.imag * b.real
    return made


def log1p(z: np.ndarray) -> np.ndarray:
    """NumPy's is the logarithm of 1 + z, which loses small numbers."""
    x, y = z.real, z.imag
    small = (np.abs(x) < 0.5) & (np.abs(y) < 0.5)
    made = np.log(1 + z)
    made.real = np.where(small, np.log1p(x * (2 + x) + y * y) / 2, made.real)
    made.imag = np.where(small, np.arctan2(y, 1 + x), made.imag)
    return made


def expm1(z: np.ndarray) -> np.ndarray:
    """NumPy's is exp(z) - 1, which loses small numbers."""
    small = (np.abs(z.real) < 0.5) & (np.abs(z.imag) < 0.5)
    made = np.exp(z) - 1
    sine = np.sin(z.imag / 2)
    made.real = np.where(small, np.expm1(z.real) * np.cos(z.imag) - 2 * sine * sine, made.real)
    return made


def sign(z: np.ndarray) -> np.ndarray:
    """NumPy's is 1j where the length is beyond the largest number."""
    most = np.finfo(z.dtype).max / 8
    is_large = (np.abs(z.real) > most) | (np.abs(z.imag) > most)
    return np.asarray(np.sign(np.where(is_large & np.isfinite(z), z / 4, z)))


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of infinities that of the standard, which is a / b: NumPy has NaN, and -1 for -1 // inf."""
    return np.where(np.isinf(a) | np.isinf(b), np.divide(a, b), np.floor_divide(a, b))


#: What is right where it is not what NumPy has; of complex numbers, but for `floor_divide`.
RIGHT: dict[str, Any] = {
    "multiply": multiplied,
    "square": lambda z: multiplied(z, z),
    "log1p": log1p,
    "expm1": expm1,
    "sign": sign,
}
#: Where the error of a number in between grows with it: by how much.
GROWS: dict[str, Any] = {
    "power": lambda a, b: 1 + np.abs(b * np.log(a)),
    "float_power": lambda a, b: 1 + np.abs(b * np.log(a)),
    "exp2": lambda a: 1 + np.abs(a),
}


def reference(row: Operation, operands: Any, exact: bool = False) -> np.ndarray:
    """What is right; with `exact` of numbers of a wider type."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exact:
            operands = [x.astype(WIDER.get(x.dtype.char, "d")) for x in operands]
        kind = operands[-1].dtype.kind
        if kind == "c" and row.name in RIGHT:
            return np.asarray(RIGHT[row.name](*operands))
        if kind == "f" and row.name == "floor_divide":
            return quotient(*operands)
        return np.asarray(getattr(np, row.name)(*operands))


def bound_of(row: Operation, operands: Any) -> Any:
    """How far results may be from the values, in units of the last place."""
    kind, size = operands[-1].dtype.kind, operands[-1].dtype.itemsize
    if kind != "c":
        return max(row.ulps, 1) if row.ulps and size == 2 else row.ulps
    if row.name not in GROWS:
        return row.complex_ulps
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown = GROWS[row.name](*(x.astype(WIDER[x.dtype.char]) for x in operands))
    return max(row.complex_ulps, 4) * np.where(np.isfinite(grown), grown, 1)


def matches(got: np.ndarray, wanted: np.ndarray, any_zero: bool) -> np.ndarray:
    """Where numbers are the same, and zeros have the same sign."""
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    return np.asarray(same & (any_zero | (got != 0) | (np.signbit(got) == np.signbit(wanted))))


def wrong_at(row: Operation, got: np.ndarray, operands: Any) -> np.ndarray:
    """Where a result is not what is right."""
    plain = reference(row, operands)
    if (row.name, operands[0].dtype.char) == ("conjugate", "?"):
        plain = plain.astype("?")  # as in the standard
    assert got.dtype == plain.dtype, (row.name, got.dtype, plain.dtype)
    if got.dtype.kind not in "fc":
        return np.asarray(got != plain)
    parts = ("real", "imag") if got.dtype.kind == "c" else ("real",)
    bound = bound_of(row, operands)
    fine = np.ones(got.shape, "?")
    about = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        exact = reference(row, operands, exact=True) if np.any(bound) else plain
        size = np.abs(exact)
        if row.oscillates:
            size = np.maximum(size, 1)
        allowed = bound * np.maximum(size * exact.real.dtype.type(about.eps), about.smallest_normal)
        largest = about.max * (1 - bound * about.eps)
        for part in parts:
            ours, true = getattr(got, part), getattr(exact, part)
            right = matches(ours, getattr(plain, part), row.any_zero)
            if np.any(bound):
                right |= matches(ours, true.astype(ours.dtype), row.any_zero)
                right |= np.abs(ours - true) <= np.where(np.isfinite(size), allowed, np.abs(
                    true * bound * about.eps))  # fmt: skip
                # The last numbers before infinity.
                right |= (np.abs(true) >= largest) & (np.abs(ours) >= largest)
            fine &= right
    return ~fine


def describe(
    row: Operation, char: str, got: np.ndarray, wanted: Any, operands: Any, at: Any
) -> str:
    places = np.flatnonzero(at)
    lines = [
        f"  {row.name}({', '.join(repr(o[k]) for o in operands)}) = {got[k]!r}, not {wanted[k]!r}"
        for k in places[:4]
    ]
    return f"{row.name} of {char}: {len(places)} of {len(got)}\n" + "\n".join(lines)


# --- the laws -----------------------------------------------------------------------------------


def bits(x: np.ndarray) -> np.ndarray:
    return x.view(x.real.dtype).view(f"u{x.real.dtype.itemsize}")


def same_bits(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where all bits are the same; which NaN it is differs from processor to processor."""
    if got.dtype.kind not in "fc":
        return np.asarray(got == wanted)
    part = got.real.dtype
    both_nan = np.isnan(got.view(part)) & np.isnan(wanted.view(part))
    same = (bits(got) == bits(wanted)) | both_nan
    return same.reshape(got.size, -1).all(axis=1)


@functools.cache
def by_kernels(char: str) -> dict[str, np.ndarray]:
    """The results of all rows for many elements, several rows in one kernel."""
    made = {
        row.name: function_of(row)(
            *(usmx.asarray(o, usm_type="device") for o in operands_of(row.name, char))
        )
        for row in rows_for(char)
    }
    compute_together(made.values())
    return {name: result.to_numpy() for name, result in made.items()}


@pytest.mark.parametrize("char", TYPES)
def test_each_row_gives_what_numpy_gives(char: str) -> None:
    wrong = []
    for row in rows_for(char):
        if row.space:
            continue  # test_special.py has points of them
        if char == "d" and not LONG_DOUBLE:
            continue
        operands, got = operands_of(row.name, char), by_kernels(char)[row.name]
        at = wrong_at(row, got, operands)
        if at.any():
            wrong.append(describe(row, char, got, reference(row, operands), operands, at))
    assert not wrong, "\n".join(wrong)


def test_every_row_takes_a_type_here() -> None:
    assert {row.name for char in TYPES for row in rows_taking(char)} == {row.name for row in ROWS}
