"""All operations that read arrays and write one, a row each: the calls, and NumPy's answer.

A new operation is one more row; test_operation_laws.py tests all laws for it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from layouts import DTYPES, KINDS

import usmx

SIDES = (*KINDS, "numpy")

ADD = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
TOTAL = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
SUMS = usmx.ScanKernel("T x", "T y", "x", "a + b", name="sums")
BEFORE = usmx.ScanKernel("T x", "T y", "x", "a + b", None, 0, "before", exclusive=True)
ANY = usmx.ReductionKernel("T x", "bool y", "x != T(0)", "a || b", "y = a", False, "any")
ALL = usmx.ScanKernel("T x", "bool y", "x != T(0)", "a && b", name="all")


@dataclass(frozen=True)
class Operation:
    """One row. Each function takes the inputs, and `axis` if there are `axes`."""

    # into(out, *inputs) writes a given output, new(*inputs) allocates it, if the operation can.
    into: Callable[..., Any]
    new: Callable[..., Any] | None
    numpy: Callable[..., Any]
    # What messages call the output.
    output: str
    inputs: int = 1
    # The type of the second input, if not that of the first.
    second_type: str | None = None
    axes: Callable[[int], Iterable[Any]] | None = None
    # Where inputs and outputs may be; and of which kind a new output is, if not of the input's.
    sides: tuple[str, ...] = KINDS
    kind: str | None = None
    # Whether a new output has NumPy's order of axes too.
    numpys_order: bool = False
    types: tuple[str, ...] = DTYPES
    # If False, because each type and form of layout is another kernel to compile: all types are
    # contiguous, and a few types have every layout.
    every_type_in_every_layout: bool = True
    few_types: tuple[str, ...] = ("f",)
    # Laws that do not apply, and why.
    exempt: dict[str, str] = field(default_factory=dict)

    def arguments(self, rank: int) -> list[dict[str, Any]]:
        """The keywords of all calls for inputs with so many dimensions."""
        return [{}] if self.axes is None else [{"axis": axis} for axis in self.axes(rank)]


def cast(values: Any, dtype: Any) -> np.ndarray:
    """NumPy's cast, without its warning that imaginary parts are dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(values).astype(dtype)


def assign(out: Any, x: Any) -> None:
    out[...] = x


def sets_of_axes(rank: int) -> list[Any]:
    sets = [s for n in range(rank + 1) for s in itertools.combinations(range(rank), n)]
    return [*sets, *(tuple(k - rank for k in s) for s in sets)] if rank <= 3 else []


def each_axis(rank: int) -> range:
    return range(-rank, rank)


def exclusive(x: np.ndarray, axis: int | None) -> np.ndarray:
    axis = 0 if axis is None else axis
    shifted = np.zeros_like(x)
    into, of = np.moveaxis(shifted, axis, 0), np.moveaxis(x, axis, 0)
    into[1:] = of[:-1]
    return np.add.accumulate(shifted, axis=axis, dtype=x.dtype)


def bytes_of(x: np.ndarray, value: int) -> np.ndarray:
    raw = np.full(x.size * x.itemsize, value, "u1")
    return raw.view(x.dtype).reshape(x.shape) if x.size else x.copy()


def transfer(**row: Any) -> Operation:
    """A copy, which may have NumPy's memory on either side."""
    defaults = {"output": "dst: ", "sides": SIDES, "few_types": ("h", "f", "F")}
    return Operation(**{**defaults, "numpys_order": row["new"] is not None, **row})


def fill(into: Callable[..., Any], numpy: Callable[..., Any], **exempt: str) -> Operation:
    """Sets all elements; the input only gives shape and type."""
    return Operation(
        lambda out, x: into(out),
        None,
        numpy,
        "dst: ",
        exempt={"overlap": "reads no element"} | exempt,
    )


def scan(kernel: usmx.ScanKernel, numpy: Callable[..., Any], axes: Any, **row: Any) -> Operation:
    return Operation(
        lambda out, x, axis: kernel(x, axis=axis, out=out),
        lambda x, axis: kernel(x, axis=axis),
        numpy,
        "output 'y' .*",
        axes=axes,
        every_type_in_every_layout=False,
        **row,
    )


def total(x: np.ndarray, axis: Any, keepdims: bool) -> Any:
    return x.sum(axis=axis, keepdims=keepdims, dtype=x.dtype)


def reduction(
    axes: Callable[[int], Iterable[Any]],
    keepdims: bool = False,
    kernel: usmx.ReductionKernel = TOTAL,
    numpy: Callable[..., Any] = total,
    **row: Any,
) -> Operation:
    return Operation(
        lambda out, x, axis: kernel(x, axis=axis, keepdims=keepdims, out=out),
        lambda x, axis: kernel(x, axis=axis, keepdims=keepdims),
        lambda x, axis: numpy(x, axis, keepdims),
        "output 'y' .*",
        axes=axes,
        every_type_in_every_layout=False,
        **row,
    )


WAITS = "waits for its commands; the asynchronous row submits the same"
ALLOCATES = "writes no given output; the row 'copy' does"
OTHER_TYPE = "its output has a type of its own"
BYTES = "sets bytes, not elements"


def whole_scan(rank: int) -> list[None]:
    """Without an axis only one dimension is scanned."""
    return [None] if rank == 1 else []


OPERATIONS: dict[str, Operation] = {
    "copy": transfer(
        into=usmx.copy, new=lambda x: x.copy(), numpy=lambda x: x.copy(), exempt={"order": WAITS}
    ),
    "copy_async": transfer(into=usmx.copy_async, new=None, numpy=np.copy),
    **{
        f"copy_async with cast to {dtype!r}": transfer(
            into=usmx.copy_async,
            new=None,
            numpy=lambda x, dtype=dtype: cast(x, dtype),
            exempt={"cast": "is a cast", "overlap": OTHER_TYPE},
            types=("h", "f", "F"),
            every_type_in_every_layout=False,
        )
        for dtype in ("h", "f", "F")
    },
    "assignment": Operation(
        assign, None, np.copy, "assignment destination is ", exempt={"order": WAITS}
    ),
    **{
        f"copy to {kind}": transfer(
            into=usmx.copy,
            new=lambda x, kind=kind: x.copy(usm_type=kind),
            numpy=lambda x: x.copy(),
            kind=kind,
            exempt=dict.fromkeys(("into", "cast", "overlap", "read-only", "order"), ALLOCATES),
        )
        for kind in KINDS
    },
    **{
        f"asarray to {kind}": transfer(
            into=usmx.copy,
            new=lambda x, kind=kind: usmx.asarray(x, usm_type=kind),
            numpy=lambda x: x,
            kind=kind,
            numpys_order=False,
            exempt=dict.fromkeys(("into", "cast", "overlap", "read-only", "order"), ALLOCATES),
        )
        for kind in KINDS
    },
    **{
        f"copy with cast to {dtype!r}": transfer(
            into=usmx.copy,
            new=lambda x, dtype=dtype: x.astype(dtype),
            numpy=lambda x, dtype=dtype: cast(x, dtype),
            exempt={"cast": "is a cast", "overlap": OTHER_TYPE, "order": WAITS},
            every_type_in_every_layout=False,
        )
        for dtype in DTYPES
    },
    "fill": fill(
        lambda out: usmx.fill(out, 5), lambda x: np.full(x.shape, 5, x.dtype), order=WAITS
    ),
    "fill_async": fill(
        lambda out: usmx.fill_async(out, 6),
        lambda x: np.full(x.shape, 6, x.dtype),
    ),
    "memset": fill(
        lambda out: usmx.memset(out, 1), lambda x: bytes_of(x, 1), order=WAITS, cast=BYTES
    ),
    "memset_async": fill(
        lambda out: usmx.memset_async(out, 1), lambda x: bytes_of(x, 1), cast=BYTES
    ),
    "elementwise": Operation(
        lambda out, x, y: ADD(x, y, out=out), ADD, np.add, "output 'z' .*", inputs=2
    ),
    "elementwise of two types": Operation(
        lambda out, x, y: ADD(x, y, out=out),
        ADD,
        np.add,
        "output 'z' .*",
        inputs=2,
        second_type="h",
        every_type_in_every_layout=False,
    ),
    "reduction, whole": reduction(lambda rank: [None]),
    "reduction, each axis": reduction(each_axis),
    "reduction, sets of axes": reduction(sets_of_axes),
    "reduction, dimensions kept": reduction(lambda rank: [None, *sets_of_axes(rank)], True),
    "reduction to bool": reduction(
        each_axis,
        kernel=ANY,
        numpy=lambda x, axis, keepdims: (x != 0).any(axis=axis, keepdims=keepdims),
        types=("?", "f"),
        exempt={"overlap": OTHER_TYPE},
    ),
    "scan, whole": scan(SUMS, lambda x, axis: np.add.accumulate(x, dtype=x.dtype), whole_scan),
    "scan, each axis": scan(
        SUMS, lambda x, axis: np.add.accumulate(x, axis=axis, dtype=x.dtype), range
    ),
    "exclusive scan, each axis": scan(BEFORE, exclusive, range),
    "scan to bool, each axis": scan(
        ALL,
        lambda x, axis: np.logical_and.accumulate(x != 0, axis=axis),
        range,
        exempt={"overlap": OTHER_TYPE},
    ),
}
