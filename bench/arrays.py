"""Measure common operations on arrays of four sizes and four types, with usmx, NumPy and dpnp.

Run by itself: ``python bench/arrays.py [--json]``. Each library has a process of its own, and what
it refuses is left out of its rows.
A row is an operation, with the ratios of the four types; the last lines count how often usmx is
ahead, and name the losses.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from apart import Side, measure_apart, waited
from table import Effort, Result, amount

SIZES = (10, 10_000, 1_000_000, 10_000_000)
TYPES = ("float32", "float64", "int32", "int64")
#: All rows together take some minutes.
SECONDS_OF_A_CASE = 0.3

#: Name -> the operation, of the functions of a library, two arrays and an array of bools.
Operation = Callable[[Any, Any, Any, Any], Any]


def _functions(*names: str) -> dict[str, Operation]:
    """Functions of one array."""
    return {name: lambda xp, x, y, m, name=name: getattr(xp, name)(x) for name in names}


def _pairs(*names: str) -> dict[str, Operation]:
    """Functions of two arrays."""
    return {name: lambda xp, x, y, m, name=name: getattr(xp, name)(x, y) for name in names}


OPERATIONS: dict[str, Operation] = {
    "x + 1": lambda xp, x, y, m: x + 1,
    "x + y": lambda xp, x, y, m: x + y,
    "x - y": lambda xp, x, y, m: x - y,
    "x * y": lambda xp, x, y, m: x * y,
    "x / y": lambda xp, x, y, m: x / y,
    "x // y": lambda xp, x, y, m: x // y,
    "x % y": lambda xp, x, y, m: x % y,
    "x ** 2": lambda xp, x, y, m: x**2,
    "-x": lambda xp, x, y, m: -x,
    "x < y": lambda xp, x, y, m: x < y,
    "x == y": lambda xp, x, y, m: x == y,
    "x != 0": lambda xp, x, y, m: x != 0,
    "(x > 1) & m": lambda xp, x, y, m: (x > 1) & m,
    "~m": lambda xp, x, y, m: ~m,
    "a * x + y": lambda xp, x, y, m: 3 * x + y,
    "x * x + y * y": lambda xp, x, y, m: x * x + y * y,
    "where": lambda xp, x, y, m: xp.where(m, x, y),
    "clip": lambda xp, x, y, m: xp.clip(x, 1, 2),
    "astype float64": lambda xp, x, y, m: x.astype("float64"),
    "copy": lambda xp, x, y, m: x.copy(),
    "x[::-1] + y": lambda xp, x, y, m: x[::-1] + y,
    "x[1:] - x[:-1]": lambda xp, x, y, m: x[1:] - x[:-1],
    "x[m]": lambda xp, x, y, m: x[m],
    "sum axis 0": lambda xp, x, y, m: xp.sum(x.reshape(10, -1), axis=0),
    "sum axis 1": lambda xp, x, y, m: xp.sum(x.reshape(10, -1), axis=1),
    "sum of x * y": lambda xp, x, y, m: xp.sum(x * y),
    "concat": lambda xp, x, y, m: xp.concatenate((x, y)),
    "stack": lambda xp, x, y, m: xp.stack((x, y)),
    "repeat": lambda xp, x, y, m: xp.repeat(x, 2),
    "roll": lambda xp, x, y, m: xp.roll(x, 3),
    "take": lambda xp, x, y, m: xp.take(x, m.astype("int64")),
    "outer of 10": lambda xp, x, y, m: x[:10, None] * y[None, :10],
    "any": lambda xp, x, y, m: xp.any(m),
    "all": lambda xp, x, y, m: xp.all(m),
    "count_nonzero": lambda xp, x, y, m: xp.count_nonzero(m),
    "nonzero": lambda xp, x, y, m: xp.nonzero(m),
    **_functions("abs", "square", "sign", "sqrt", "exp", "log", "sin", "cos", "tanh", "floor"),
    **_functions("sum", "prod", "min", "max", "mean", "std", "var", "argmin", "argmax"),
    **_functions("cumsum", "sort", "argsort", "unique", "isnan"),
    **_pairs("minimum", "maximum", "power", "arctan2", "hypot"),
}


def _there(call: Callable[[], Any]) -> Callable[[], object]:
    """Waits until the elements of what usmx gives are there."""
    if isinstance(call(), tuple):
        return lambda: [one.wait() for one in call()]
    return lambda: call().wait()


def _called(call: Callable[[], Any]) -> Callable[[], object]:
    """NumPy's are there; called by a function too, which is a third of the quickest calls."""

    def once() -> object:
        return call()

    return once


def _works(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (TypeError, ValueError, NotImplementedError, AttributeError, IndexError):
        return False
    return True


#: Functions, arrays, and what makes a call of one that waits for its result.
Library = tuple[Any, Sequence[Any], Callable[[Callable[[], Any]], Callable[[], object]]]


def _usmx(*values: Any) -> Library:
    """Small arrays are shared, others device memory."""
    import usmx

    kind = "shared" if values[0].size <= SIZES[0] else "device"
    return usmx, [usmx.asarray(v, usm_type=kind) for v in values], _there


def _numpy(*values: Any) -> Library:
    return np, values, _called


def _dpnp(*values: Any) -> Library:
    import dpnp

    arrays = [dpnp.asarray(v) for v in values]
    wait = arrays[0].sycl_queue.wait
    return dpnp, arrays, lambda call: waited(call, wait)


LIBRARIES: dict[str, Callable[..., Library]] = {"usmx": _usmx, "NumPy": _numpy, "dpnp": _dpnp}


def sides(library: str, sizes: Sequence[int]) -> Iterator[Side | None]:
    """Each operation with each size and type; nothing where the library refuses it."""
    rng = np.random.default_rng(0)
    for size in sizes:
        for dtype in TYPES:
            values = [rng.integers(1, 5, size).astype(dtype) for _ in range(2)]
            mask = rng.integers(0, 2, size).astype(bool)
            xp, arrays, finished = LIBRARIES[library](*values, mask)
            for name, operation in OPERATIONS.items():
                call = partial(operation, xp, *arrays)
                works = _works(call)
                yield Side(f"{name}, {size} {dtype}", finished(call)) if works else None


def run_alone(effort: Effort, sizes: Sequence[int] = SIZES) -> list[Result]:
    """Measure all of it.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    sizes : sequence of int
        Of the arrays.
    """
    effort = replace(effort, most_seconds=SECONDS_OF_A_CASE, seconds=effort.seconds * 10)
    return list(measure_apart("arrays", list(LIBRARIES), [list(sizes)], effort))


def _parts(result: Result) -> tuple[str, int, str]:
    """The operation, size and type of a row."""
    operation, _, rest = result.case.rpartition(", ")
    size, dtype = rest.split()
    return operation, int(size.replace("_", "")), dtype


def print_by_operation(results: Sequence[Result]) -> None:
    """A row for an operation and a size: times of float32, and the ratios of all types."""
    rows: dict[tuple[str, int], dict[tuple[str, str], Result]] = {}
    for r in results:
        operation, size, dtype = _parts(r)
        rows.setdefault((operation, size), {})[dtype, r.rival_name] = r
    types = " ".join(f"{t:>7}" for t in TYPES)
    print(f"{'':34}{'float32 takes':>20}   {'NumPy / usmx':^31}   {'dpnp / usmx':^31}")
    print(f"{'':24}{'size':>10}{'usmx':>10}{'NumPy':>10}   {types}   {types}")
    for (operation, size), found in rows.items():
        first = found.get(("float32", "NumPy"))
        times = (amount(first.ours), amount(first.rival)) if first else ("", "")
        ratios = "   ".join(
            " ".join(f"{found[t, o].ratio:7.2f}" if (t, o) in found else f"{'-':>7}" for t in TYPES)
            for o in ("NumPy", "dpnp")
        )
        print(f"{operation:24}{size:>10}{times[0]:>10}{times[1]:>10}   {ratios}")
    print()
    for rival in ("NumPy", "dpnp"):
        for size in sorted({s for _, s in rows}):
            found_here = [r for r in results if r.rival_name == rival and _parts(r)[1] == size]
            least = 0.5 if rival == "NumPy" and size <= SIZES[0] else 1.0
            lost = sorted((r for r in found_here if r.ratio < least), key=lambda r: r.ratio)
            all_operations = {_parts(r)[0] for r in found_here}
            won = all_operations - {_parts(r)[0] for r in lost}
            print(
                f"{size:>9} elements, {rival}: at least {least}x in "
                f"{len(found_here) - len(lost)} of {len(found_here)} rows,"
                f" in all types of {len(won)} of {len(all_operations)} operations"
            )
            for r in lost:
                print(f"    {r.ratio:5.2f}x  {r.case}: {amount(r.ours)}, {rival} {amount(r.rival)}")


def command() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="of the arrays")
    options = parser.parse_args()
    results = run_alone(Effort(), tuple(options.sizes))
    if options.json:
        print(json.dumps([asdict(r) for r in results], indent=2))
    else:
        print_by_operation(results)


if __name__ == "__main__":
    command()
