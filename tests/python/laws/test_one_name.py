"""One name gives one result: for each row of the table of operations and each type the bits are the
same in operations of arrays, many elements or few, in fused functions, in kernels from expressions,
in kernels in Python by each name that they have for it, and in the simulator.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depths import of_depth
from test_row_laws import describe, extremes, function_of, rows_taking, same_bits
from together import compute_together
from written_module import module_of

import usmx
from usmx import _usmx
from usmx._kernel.frontend import lowering
from usmx._kernel.language import intrinsics
from usmx._kernel.types import scalars
from usmx._operations import Operation

BFLOAT16 = "bfloat16"
TYPES = [*"f?bBhHiIqQFDed", BFLOAT16]
SIZE = 3000
#: Items that the simulator computes, one after the other.
SIMULATED = of_depth(quick=40, full=200)
#: Lengths that few elements have, which a kernel of groups or vectors may treat in another way.
FEW = (1, 2, 3, 7, 16, 33, 250)

Results = dict[str, np.ndarray]


# --- operands and types ---------------------------------------------------------------------------


def dtype_of(char: str) -> usmx.dtype:
    return usmx.dtype(char)


def name_of(char: str) -> str:
    return char if char == BFLOAT16 else np.dtype(char).name


def in_memory(char: str) -> str:
    """The type of NumPy that holds the numbers."""
    return "f" if char == BFLOAT16 else char


@functools.cache
def operands(char: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three for all rows: each extreme with each, then numbers of all sizes, and some near 1."""
    rng = np.random.default_rng(len(char) + ord(char[0]))
    of = in_memory(char)
    part = {"F": "f", "D": "d"}.get(of, of)
    some = extremes("e" if char == BFLOAT16 else part).astype(part)
    if of in "FD":
        few = np.array([0, 1, -2, np.inf, np.nan, -0.0, some[0], np.finfo(part).max], part)
        real, imag = (m.ravel() for m in np.meshgrid(few, few))
        some = np.empty(real.size, of)
        some.real, some.imag = real, imag
        some = some[:: 2 if len(some) > 40 else 1]
    made = [m.ravel() for m in np.meshgrid(some, some)]
    made.append(rng.permutation(made[0]))
    count = SIZE
    for k in range(3):
        rest = numbers(part, count, rng)
        if of in "FD":
            with np.errstate(all="ignore"):
                rest = (rest + 1j * numbers(part, count, rng)).astype(of)
        made[k] = np.concatenate([made[k], rest])
    order = rng.permutation(made[0].size)
    a, b, c = (m[order] for m in made)
    if char == BFLOAT16:
        a, b, c = (usmx.asarray(m).astype(BFLOAT16).astype("float32").to_numpy() for m in (a, b, c))
    return a, b, c


def numbers(char: str, size: int, rng: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(char)
    if char == "?":
        return rng.integers(0, 2, size).astype("?")
    if char in "bBhHiIqQ":
        limits = np.iinfo(char)
        wide = rng.integers(limits.min, limits.max, size, dtype, endpoint=True)
        small = rng.integers(0, 9, size).astype(dtype)
        return np.where(rng.random(size) < 0.5, wide, small)
    bits = np.frombuffer(rng.bytes(size * dtype.itemsize), dtype)
    other = [rng.uniform(0.05, 0.95, size), rng.uniform(0.5, 9, size), rng.normal(0, 3, size)]
    chosen = rng.integers(0, 4, size)
    return np.choose(chosen, [bits, *(o.astype(char) for o in other)])


def arrays(char: str, kind: str = "device", part: slice | Any = slice(None)) -> list[usmx.ndarray]:
    made = [usmx.asarray(np.ascontiguousarray(o[part]), usm_type=kind) for o in operands(char)]
    return [m.astype(BFLOAT16) for m in made] if char == BFLOAT16 else made


def of_row(row: Operation, given: list[usmx.ndarray]) -> list[usmx.ndarray]:
    """The operands that a row takes."""
    first = [given[0] != 0] if row.chooses else given[:1]
    return [*first, *given[1 : row.arity]]


def taking(char: str) -> list[Operation]:
    if char != BFLOAT16:
        return rows_taking(char)
    return [row for row in rows_taking("f") if _types(row, char) is not None]


def _types(row: Operation, char: str) -> Any:
    given = [dtype_of("?") if row.chooses and k == 0 else dtype_of(char) for k in range(row.arity)]
    return _usmx._result_types(row.name, *given)


def result_of(row: Operation, char: str) -> str:
    """The name of the type that arrays' results have."""
    return str(np.dtype(_types(row, char)[-1]).name if char != BFLOAT16 else _types(row, char)[-1])


def to_numpy(x: usmx.ndarray) -> np.ndarray:
    return (x.astype("float32") if x.dtype == BFLOAT16 else x).to_numpy()


# --- the ways -------------------------------------------------------------------------------------


@functools.cache
def of_arrays(char: str) -> Results:
    """What all others are compared with: many elements, several rows in one kernel."""
    given = arrays(char)
    made = {row.name: function_of(row)(*of_row(row, given)) for row in taking(char)}
    compute_together(made.values())
    return {name: to_numpy(x) for name, x in made.items()}


def by_numpy(char: str) -> Results:
    """NumPy's functions of arrays."""
    given = arrays(char)
    made = {
        row.name: getattr(np, row.name)(*of_row(row, given))
        for row in taking(char)
        if not row.space and isinstance(getattr(np, row.name, None), np.ufunc)
    }
    compute_together(made.values())
    return {name: to_numpy(x) for name, x in made.items()}


def alone(char: str) -> Results:
    """One operation by itself, without waiting for others."""
    given, made = arrays(char, part=slice(0, 2000)), {}
    with usmx.eager():
        for row in taking(char)[::9]:
            made[row.name] = to_numpy(function_of(row)(*of_row(row, given)))
    return made


def few(char: str) -> Results:
    """Few elements at a time, which the host computes where it has the function."""
    made: dict[str, list[usmx.ndarray]] = {}
    given = arrays(char, "shared")
    on_host: set[str] = set()
    begin = 0
    while begin < given[0].size:
        length = FEW[begin % len(FEW)] if begin < 600 else 250
        some = [x[begin : begin + length] for x in given]
        for row in taking(char):
            # Without code of the host each length is the same kernel again.
            if begin < 20 or row.name in on_host:
                result = function_of(row)(*of_row(row, some))
                if not usmx.explain(result).kernels:
                    on_host.add(row.name)
                made.setdefault(row.name, []).append(result)
        begin += length
    compute_together(x for parts in made.values() for x in parts)
    return {name: np.concatenate([to_numpy(x) for x in parts]) for name, parts in made.items()}


def several(rows: tuple[Operation, ...], a: Any, b: Any, c: Any) -> Any:
    return tuple(getattr(np, row.name)(*of_row(row, [a, b, c])) for row in rows)


def fused(char: str) -> Results:
    """Functions of NumPy in `usmx.fuse`."""
    given, made = arrays(char), {}
    rows = [row for row in taking(char) if not row.space]
    for begin in range(0, len(rows), 24):
        batch = tuple(rows[begin : begin + 24])
        results = usmx.fuse(functools.partial(several, batch))(*given)
        made.update(zip((row.name for row in batch), map(to_numpy, results), strict=True))
    return made


#: What C++ writes as Python does.
SIGNS = ("add", "sub", "mul", "truediv", "and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge")


def by_text(char: str) -> Results:
    """Functions of texts, by the names that kernels in C++ have."""
    kind = "f" if char == BFLOAT16 else np.dtype(char).kind
    lines = []
    for row in taking(char):
        if row.function and kind in row.takes:
            lines.append((row, f"{row.function}({', '.join('abc'[: row.arity])})"))
        elif row.method in SIGNS[:3] or (row.method in SIGNS and kind != "c"):
            if row.method == "truediv" and kind in "biu":
                continue
            lines.append((row, lowering._operations._OPERATORS[row.method]))
    made: Results = {}
    given = arrays(char)
    for begin in range(0, len(lines), 30):
        batch = lines[begin : begin + 30]
        outputs = ", ".join(f"{result_of(row, char)} o{k}" for k, (row, _) in enumerate(batch))
        text = "; ".join(f"o{k} = {line}" for k, (_, line) in enumerate(batch))
        results = usmx.ElementwiseKernel("T a, T b, T c", outputs, text, "one_name")(*given)
        results = results if isinstance(results, tuple) else (results,)
        made.update(zip((row.name for row, _ in batch), map(to_numpy, results), strict=True))
    return made


def spellings(row: Operation, char: str) -> Iterator[str]:
    """How kernels in Python write a row for operands of a type, ``"np.sin(a)"``."""
    computed = _types(row, char)[1 if row.chooses else 0]
    kind = "f" if char == BFLOAT16 else np.dtype(char).kind
    letters = ", ".join("abc"[: row.arity])
    scalar = scalars.value_of(scalars.BY_NAME[name_of(char)])
    for path in row.python.split():
        module, _, name = path.rpartition(".")
        function = {"math": math, "numpy": np, "usmx": usmx}.get(module)
        found = intrinsics.find(getattr(function, name, None)) if function else None
        found = intrinsics.complex_form(found) if found and kind == "c" else found
        if found is None or (row.name == "nextafter" and char == BFLOAT16):
            continue  # the next one to a bfloat16 is in kernels the next float32
        try:
            taken = found.operand_type([scalar] * row.arity)
        except TypeError:
            continue
        taken = scalars.STRONG_OF.get(taken.name, taken)
        # Numbers of type bfloat16 are float32 in kernels.
        if taken.name == (str(computed) if char != BFLOAT16 else "float32"):
            yield f"{ {'numpy': 'np'}.get(module, module) }.{name}({letters})"
    refused = row.method in ("lt", "le", "gt", "ge", "floordiv", "mod") and kind == "c"
    if row.inlined and not refused:
        yield row.inlined
    if row.name == "where":
        yield "b if a != 0 else c"


def lines_of(char: str) -> list[tuple[Operation, str]]:
    return [(row, line) for row in taking(char) for line in spellings(row, char)]


@functools.cache
def kernel_of(char: str, folder: Path) -> tuple[Any, list[tuple[str, str, str, int]]]:
    """One kernel of all rows: its results by type, and the place of each line in these."""
    places: list[tuple[str, str, str, int]] = []
    count: dict[str, int] = {}
    body = []
    for row, line in lines_of(char):
        result = result_of(row, char)
        k = count[result] = count.get(result, -1) + 1
        places.append((row.name, line, result, k))
        body.append(f"    of_{result}[{k}, i] = {line}")
    names = ", ".join(f"of_{name}" for name in count)
    text = "import cmath\nimport math\nimport numpy as np\nimport usmx\n\n\n@usmx.kernel\n"
    text += f"def all_rows(item, x, y, z, {names}):\n    i = item.get_id(0)\n"
    text += "    a = x[i]\n    b = y[i]\n    c = z[i]\n" + "\n".join(body) + "\n"
    return module_of(text, folder / f"rows_{name_of(char)}.py").all_rows, places


def in_python(char: str, folder: Path, where: np.ndarray | slice = slice(None)) -> Results:
    function, places = kernel_of(char, folder)
    given = arrays(char, "shared", where)
    outputs = {
        name: usmx.zeros(
            (1 + max(k for *_, r, k in places if r == name), given[0].size), name, usm_type="shared"
        )
        for name in dict.fromkeys(r for _, _, r, _ in places)
    }
    function[given[0].size](*given, *outputs.values()).wait()
    values = {name: to_numpy(x) for name, x in outputs.items()}
    return {f"{name}: {line}": values[result][k] for name, line, result, k in places}


def simulated(char: str, folder: Path) -> tuple[Results, np.ndarray]:
    """The same; of integers without divisors that are 0, which the simulator refuses."""
    a, b, _ = operands(char)
    fine = np.ones(a.size, "?")
    if char in "bBhHiIqQ?":
        fine = (b != 0) & (b > -1) & ~((a == 0) & (b < 0)) if char != "?" else b
        fine &= a != np.iinfo(char).min if char != "?" else True
    where = np.flatnonzero(fine)[:SIMULATED]
    with usmx.simulate():
        return in_python(char, folder, where), where


# --- the law --------------------------------------------------------------------------------------


def compare(char: str, got: Results, where: Any = None) -> list[str]:
    wrong, wanted = [], of_arrays(char)
    rows = {row.name: row for row in taking(char)}
    for key, values in got.items():
        name, _, line = key.partition(": ")
        right = wanted[name]
        right = right[: len(values)] if where is None else right[where]
        at = ~same_bits(np.ascontiguousarray(values), np.ascontiguousarray(right))
        if at.any():
            given = [o[: len(values)] if where is None else o[where] for o in operands(char)]
            wrong.append(
                f"{line or name}: "
                + describe(rows[name], name_of(char), values, right, given[: rows[name].arity], at)
            )
    return wrong


WAYS: dict[str, Callable[[str], Results]] = {
    "numpy": by_numpy,
    "alone": alone,
    "few": few,
    "fuse": fused,
    "text": by_text,
}


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("way", WAYS)
def test_arrays_and_texts_have_the_same_bits(way: str, char: str) -> None:
    got = WAYS[way](char)
    assert got
    wrong = compare(char, got)
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("one_name")


@pytest.mark.parametrize("char", TYPES)
def test_kernels_in_python_have_the_same_bits(char: str, folder: Path) -> None:
    wrong = compare(char, in_python(char, folder))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("char", TYPES)
def test_the_simulator_has_the_same_bits(char: str, folder: Path) -> None:
    wrong = compare(char, *simulated(char, folder))
    assert not wrong, "\n".join(wrong)
