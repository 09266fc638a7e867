"""What NumPy's signatures offer, as calls: a row for each function, values for each argument.

The names of arguments come from `inspect.signature` of NumPy itself, so that an argument of a new
version of NumPy is one that fails here until it is taken or refused with a reason.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MATRIX = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 5.0]])
HOLES = np.array([[3.0, np.nan, 2.0], [6.0, 5.0, np.nan]])
VECTOR = np.array([1.0, 4.0, 2.0, 2.0])
WHOLE = np.array([3, 1, 2, 1])
SORTED = np.array([1.0, 2.0, 4.0])
MASK = np.array([[True, False, True], [True, True, True]])
COMPLEX = np.array([1 + 2j, 3 - 1j, 2j])


class Missing:
    """Stands for an argument that is not given."""


@dataclass(frozen=True)
class Out:
    """An array for the result: of the result's shape and type, or of others."""

    dtype: str | None = None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Row:
    """The arguments of a function without which it is not called, and values for more of it."""

    given: tuple[Any, ...]
    values: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict)


AXES = (0, 1, -1, None, (0, 1), np.array(1), 7)
OUTS = (Out(), Out("float32"), Out("complex128"), Out("int8"), Out(shape=(9,)))

#: Values of arguments that mean the same wherever they are.
VALUES: dict[str, tuple[Any, ...]] = {
    "axis": AXES,
    "keepdims": (True, False),
    "out": OUTS,
    "dtype": ("float32", "float64", "complex64", "int64", "no such type"),
    "where": (MASK, MASK[0], True),
    "initial": (1, 5.5),
    "casting": ("unsafe", "same_kind", "safe", "no", "nonsense"),
    "order": ("C", "F", "K", "Z"),
    "subok": (True, False),
    "signature": (None,),
    "ddof": (1,),
    "correction": (1, 0),
    "overwrite_input": (False,),
    "assume_unique": (False,),
    "equal_nan": (True, False),
    "copy": (True,),
    "kind": ("stable", "quicksort", "nonsense"),
    "stable": (True,),
    "sorted": (True,),
    "side": ("left", "right", "middle"),
    "mode": ("raise", "wrap", "clip", "nonsense"),
    "density": (True, False),
    "range": ((0.0, 8.0), (5.0, 1.0)),
    "norm": (None, "ortho", "forward", "nonsense"),
    "rowvar": (True, False),
    "bias": (True,),
    "k": (1, -1, np.array(1)),
    "offset": (1, -1),
    "axis1": (1,),
    "axis2": (0, 1),
    "n": (0, 2, np.array(2), -1),
    "right": (True,),
    "returned": (True, False),
    "hermitian": (True, False),
    "rtol": (1e-3,),
    "atol": (1e-3,),
    "nan": (1.5,),
    "posinf": (2.5,),
    "neginf": (-2.5,),
    "invert": (True,),
    "device": ("cpu",),
}

_FFT = Row((MATRIX,), {"n": (2, 5), "out": (Out(),), "s": ((2, 2),), "axes": ((0, 1), (0,))})
_REDUCE = Row((MATRIX,), {"mean": (np.array([[3.5], [4.0]]),)})
_NAN = Row((HOLES,), {"mean": (np.array([[2.5], [5.5]]),)})
_RANKS = {
    "q": (0.25, np.array([0.0, 1.0])),
    "method": ("lower", "inverted_cdf", "nonsense"),
    "weights": (np.array([[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]),),
}

#: Function -> its row. A public function of `usmx` that NumPy has too needs one.
ROWS: dict[str, Row] = {
    **dict.fromkeys(
        ("sum", "prod", "max", "min", "amax", "amin", "any", "all", "mean", "ptp"), _REDUCE
    ),
    **dict.fromkeys(("std", "var"), Row((MATRIX,), {"mean": (np.array([[2.0], [5.0]]),),
                                                    "axis": (*AXES,)})),
    **dict.fromkeys(("argmax", "argmin"), Row((MATRIX,), {"out": (
        Out(), Out("float64"), Out("int32"), Out(shape=(9,)))})),
    **dict.fromkeys(("cumsum", "cumprod"), _REDUCE),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), Row(
        (MATRIX,), {"include_initial": (True, False), "axis": (0, 1, -1, 7)}, {"axis": 0})),
    **dict.fromkeys(("nansum", "nanprod", "nanmax", "nanmin", "nanmean"), _NAN),
    **dict.fromkeys(("nanstd", "nanvar"), _NAN),
    **dict.fromkeys(("nancumsum", "nancumprod"), _NAN),
    **dict.fromkeys(("nanargmax", "nanargmin"), Row((HOLES,), {"out": (
        Out(), Out("float64"), Out(shape=(9,)))})),
    "diff": Row((MATRIX,), {"prepend": (0.0,), "append": (MATRIX[:, :1],), "axis": (0, 1, 7)}),
    **dict.fromkeys(("median", "nanmedian"), _NAN),
    **dict.fromkeys(("quantile", "nanquantile"), Row((MATRIX, 0.5), {**_RANKS})),
    **dict.fromkeys(("percentile", "nanpercentile"), Row((MATRIX, 50.0), {**_RANKS})),
    "average": Row((MATRIX,), {"weights": (np.array([[1.0, 2, 0], [1, 1, 1]]),)}),
    "cov": Row((MATRIX,), {"y": (MATRIX + 1,), "fweights": (np.array([1, 2, 1]),),
                           "aweights": (np.array([1.0, 2.0, 1.0]),), "dtype": ("float32",)}),
    "corrcoef": Row((MATRIX,), {"y": (MATRIX[::-1],), "dtype": ("float32",)}),
    "bincount": Row((WHOLE,), {"weights": (VECTOR,), "minlength": (6, np.array(6), -1)}),
    "digitize": Row((VECTOR, SORTED)),
    "histogram": Row((VECTOR,), {"bins": (
        3, np.array(3), SORTED, "auto", "fd", "sqrt", "sturges", "rice", "scott", "doane", "stone",
        "nonsense", 0), "weights": (np.array([1.0, 0.5, 2.0, 1.0]),)}),
    "histogram_bin_edges": Row((VECTOR,), {"bins": (3, SORTED, "auto", "stone"),
                                           "weights": (VECTOR,)}),
    "sort": Row((MATRIX,), {"axis": (0, 1, None, 7), "order": (None,)}),
    "argsort": Row((MATRIX,), {"axis": (0, 1, None, 7), "order": (None,)}),
    "partition": Row((MATRIX, 1), {"axis": (0, -1, 7), "kth": (1, np.array(1)),
                                   "kind": ("introselect",), "order": (None,)}),
    "argpartition": Row((MATRIX[:, :2], 0), {"axis": (0, -1, 7), "kind": ("introselect",),
                                             "order": (None,)}),
    "searchsorted": Row((SORTED, 2.5), {"v": (VECTOR,), "sorter": (np.array([0, 1, 2]),)}),
    "unique": Row((WHOLE,), {"return_index": (True,), "return_inverse": (True,),
                             "return_counts": (True,), "axis": (0, None, 7)}),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"),
                    Row((WHOLE,))),
    **dict.fromkeys(("union1d", "intersect1d", "setdiff1d", "setxor1d"), Row(
        (WHOLE, np.array([1, 5])), {"return_indices": (True,)})),
    "isin": Row((WHOLE, np.array([1, 5])), {"kind": (None, "sort")}),
    "lexsort": Row(((WHOLE, VECTOR),), {"axis": (0, -1, 7)}),
    # --- shapes
    "reshape": Row((MATRIX,), {"shape": (6, (3, 2), np.array(6), (3, np.array(2)), (5,)),
                               "copy": (None, True), "order": ("C", "F", "A", "Z")},
                   {"shape": (3, 2)}),
    "ravel": Row((MATRIX,), {"order": ("C", "F", "A", "K", "Z")}),
    **dict.fromkeys(("transpose", "permute_dims"), Row(
        (MATRIX,), {"axes": ((1, 0), None, (0, 0))})),
    "swapaxes": Row((MATRIX, 0, 1), {"axis1": (-1, 7)}),
    "moveaxis": Row((MATRIX, 0, 1), {"source": ((0, 1),), "destination": (np.array(1), 7)}),
    "expand_dims": Row((MATRIX,), {"axis": (0, (0, 1), np.array(2), 7)}, {"axis": 0}),
    "squeeze": Row((MATRIX[:, :1],), {"axis": (1, None, np.array(1), 0, 7)}),
    "flip": Row((MATRIX,)),
    **dict.fromkeys(("flipud", "fliplr"), Row((MATRIX,))),
    "rot90": Row((MATRIX,), {"axes": ((1, 0), (0, 0))}),
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), Row((VECTOR,))),
    "broadcast_arrays": Row((MATRIX, MATRIX[0])),
    "broadcast_shapes": Row(((2, 1), (3,))),
    "broadcast_to": Row((VECTOR, (2, 4)), {"shape": ((3, 4), (4,), (5,))}),
    **dict.fromkeys(("concat", "concatenate"), Row(
        ((MATRIX, MATRIX[::-1]),), {"axis": (0, 1, None, 7), "out": (
            Out(), Out("float32"), Out("int8"), Out(shape=(9,)))})),
    "stack": Row(((MATRIX, MATRIX[::-1]),), {"axis": (0, 1, -1, 7)}),
    **dict.fromkeys(("vstack", "hstack", "dstack", "column_stack"), Row(((VECTOR, VECTOR),))),
    "unstack": Row((MATRIX,), {"axis": (0, 1, 7)}),
    **dict.fromkeys(("split", "array_split"), Row(
        (MATRIX, 1), {"indices_or_sections": (3, [1, 2], np.array([1]), np.array(3), 0, 5),
                      "axis": (1, 7)}, {"axis": 1})),
    **dict.fromkeys(("vsplit", "hsplit"), Row((MATRIX, 1), {"indices_or_sections": ([1], 5)})),
    "dsplit": Row((MATRIX[None], 1), {"indices_or_sections": ([1], 3)}),
    "repeat": Row((VECTOR, 2), {"repeats": (np.array(2), [1, 0, 2, 1], -1, [1, 2])}),
    "tile": Row((VECTOR, 2), {"reps": (np.array(2), (2, 1), (2, np.array(1)))}),
    "roll": Row((MATRIX, 1), {"shift": (np.array(1), (1, 2)), "axis": (0, None, (0, 1), 7)}),
    "pad": Row((MATRIX, 1), {"pad_width": (((1, 0), (0, 2)), np.array(1), -1), "mode": (
        "constant", "edge", "reflect", "symmetric", "wrap", "empty", "nonsense")[:5]}),
    # --- choosing
    "take": Row((MATRIX, np.array([1, 0])), {"indices": ([0, 1], 1, np.array(1), range(2), 9),
                                             "out": (Out(), Out("float32"), Out("int8"),
                                                     Out("complex128"), Out(shape=(9,)))}),
    "take_along_axis": Row((MATRIX, np.array([[1], [0]]), 1)),
    "put": Row((VECTOR, [1, 2], 9.0), {"ind": (np.array([0]), range(2), 9), "v": ([1.0, 2.0],)}),
    "put_along_axis": Row((MATRIX, np.array([[1], [0]]), 9.0, 1)),
    **dict.fromkeys(("nonzero", "flatnonzero", "argwhere"), Row((MATRIX,))),
    "count_nonzero": Row((MATRIX,)),
    "extract": Row((MASK, MATRIX)),
    # --- making
    "eye": Row((3,), {"N": (np.array(3),), "M": (2, None), "dtype": ("int8", "complex64"),
                      "order": ("C", "F")}),
    "identity": Row((3,), {"n": (np.array(2),), "dtype": ("int8",)}),
    "tri": Row((3,), {"N": (np.array(3),), "M": (2, None), "dtype": ("int8",)}),
    **dict.fromkeys(("tril", "triu"), Row((MATRIX,))),
    "diag": Row((VECTOR,), {"v": (MATRIX,)}),
    "linspace": Row((0.0, 3.0, 4), {
        "start": (np.array([0.0, 1.0]), 1j), "stop": (np.array([3.0, 6.0]), 2), "num": (
            0, 1, np.array(5), -1), "endpoint": (False,), "retstep": (True,),
        "dtype": ("int64", "float32", "complex64"), "axis": (0, -1)}),
    "logspace": Row((0.0, 2.0, 3), {
        "start": (np.array([0.0, 1.0]),), "stop": (np.array([1.0, 2.0]),), "num": (0, 1, -1),
        "endpoint": (False,), "base": (2.0, np.array([2.0, 3.0])), "dtype": ("int64", "float32"),
        "axis": (0, -1)}),
    "meshgrid": Row((SORTED, VECTOR), {"sparse": (True,), "indexing": ("ij", "xy", "no")}),
    # --- products
    "dot": Row((MATRIX, MATRIX.T), {"out": (Out(), Out("float32"), Out(shape=(9,)))}),
    "outer": Row((VECTOR, SORTED)),
    **dict.fromkeys(("inner", "vdot", "kron"), Row((VECTOR, VECTOR))),
    "tensordot": Row((MATRIX, MATRIX.T), {"axes": (1, ((0, 1), (1, 0)), 3)}),
    "matrix_transpose": Row((MATRIX,)),
    "cross": Row((MATRIX, MATRIX[::-1]), {"axisa": (1,), "axisb": (1,), "axisc": (0, 1),
                                          "axis": (1, -1)}),
    "diagonal": Row((SQUARE,)),
    "trace": Row((SQUARE,), {"out": (Out(), Out("int8"))}),
    "einsum": Row(("ij,jk->ik", MATRIX, MATRIX.T), {
        "optimize": (True, False), "out": (Out(), Out("int8")), "dtype": ("float64", "complex128"),
        "casting": ("safe", "unsafe")}),
    # --- numbers
    "clip": Row((MATRIX, 2.0, 5.0), {"a_min": (None, MATRIX - 1), "a_max": (None,), "min": (1.0,),
                                     "max": (3.0,)}),
    **dict.fromkeys(("round", "around"), Row((MATRIX / 3,), {"decimals": (1, np.array(1), -1)})),
    "nan_to_num": Row((np.array([np.nan, np.inf, -np.inf, 1.0]),)),
    **dict.fromkeys(("isclose", "allclose"), Row((VECTOR, VECTOR + 1e-4))),
    "astype": Row((VECTOR, "int8")),
    # --- types
    "can_cast": Row(("int8", "int16"), {"to": ("float32",)}),
    "isdtype": Row((np.dtype("int8"), "integral"), {"kind": ("bool", "nonsense")}),
    "promote_types": Row(("int8", "uint8")),
    "result_type": Row((VECTOR, np.float32)),
    # --- calculus
    **dict.fromkeys(("convolve", "correlate"), Row((VECTOR, SORTED), {"mode": (
        "full", "same", "valid", "nonsense")})),
    "ediff1d": Row((VECTOR,), {"to_end": (9.0,), "to_begin": (8.0,)}),
    "gradient": Row((MATRIX,), {"axis": (0, 1, 7), "edge_order": (1,)}),
    "interp": Row((VECTOR, SORTED, SORTED * 2), {"left": (7.0,), "right": (7.0,),
                                                 "period": (3.0,)}),
    "polyval": Row((SORTED, VECTOR)),
    "sinc": Row((VECTOR,)),
    "trapezoid": Row((MATRIX,), {"x": (SORTED,), "dx": (2.0,), "axis": (0, 1, 7)}),
    "unwrap": Row((MATRIX,), {"discont": (4.0,), "axis": (0, 1, 7), "period": (3.0,)}),
    "array_equal": Row((VECTOR, VECTOR)),
    "array_equiv": Row((VECTOR, VECTOR)),
    **dict.fromkeys(("iscomplexobj", "isreal"), Row((VECTOR,))),
    "select": Row(([VECTOR > 1], [VECTOR]), {"default": (7.0,)}),
    "piecewise": Row((VECTOR, [VECTOR > 1], [2.0, 3.0])),
    "append": Row((VECTOR, SORTED), {"axis": (0, None)}),
    "delete": Row((MATRIX, 1), {"obj": ([0, 1], slice(0, 1), 9), "axis": (1, None, 7)},
                  {"axis": 0}),
    "insert": Row((VECTOR, 1, 9.0), {"obj": ([0, 1], 9), "axis": (0, None, 7)}),
    "fill_diagonal": Row((SQUARE, 9.0), {"wrap": (True,)}),
    "unravel_index": Row((np.array([1, 4]), (2, 3)), {"order": ("C", "F", "Z")}),
    # --- linear algebra
    **{f"linalg.{name}": Row((SQUARE,)) for name in (
        "det", "inv", "slogdet", "eigvals", "svdvals", "diagonal")},
    "linalg.cholesky": Row((SQUARE,), {"upper": (True,)}),
    "linalg.eigvalsh": Row((SQUARE,), {"UPLO": ("U", "L", "X")}),
    "linalg.svd": Row((MATRIX,), {"compute_uv": (False,)}, {"compute_uv": False}),
    "linalg.qr": Row((MATRIX,), {"mode": ("r", "nonsense")}, {"mode": "r"}),
    "linalg.solve": Row((SQUARE, SORTED)),
    "linalg.pinv": Row((MATRIX,), {"rcond": (1e-3,)}),
    "linalg.matrix_rank": Row((MATRIX,), {"tol": (1e-3,)}),
    "linalg.matrix_power": Row((SQUARE, 2), {"n": (0, -1, np.array(3))}),
    "linalg.multi_dot": Row(([MATRIX, MATRIX.T, MATRIX],)),
    "linalg.cond": Row((SQUARE,), {"p": (1, 2, "fro")}),
    "linalg.norm": Row((MATRIX,), {"ord": (1, 2, np.inf, "fro", "nonsense"), "axis": (
        0, 1, (0, 1), None, 7)}),
    "linalg.vector_norm": Row((MATRIX,), {"ord": (1, 3, np.inf), "axis": (0, (0, 1), None, 7)}),
    "linalg.matrix_norm": Row((MATRIX,), {"ord": (1, "nuc", "nonsense")}),
    "linalg.trace": Row((SQUARE,)),
    "linalg.cross": Row((MATRIX, MATRIX[::-1]), {"axis": (1,)}),
    "linalg.lstsq": Row((MATRIX.T, SORTED), {"rcond": (None, 1e-3)}),
    "linalg.matmul": Row((MATRIX, MATRIX.T)),
    "linalg.vecdot": Row((MATRIX, MATRIX), {"axis": (-1,)}),
    "linalg.outer": Row((VECTOR, VECTOR)),
    "linalg.tensordot": Row((MATRIX, MATRIX.T)),
    "linalg.matrix_transpose": Row((MATRIX,)),
    # --- Fourier transforms
    **{f"fft.{name}": _FFT for name in (
        "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "fftn", "ifftn",
        "rfft2", "irfft2", "rfftn", "irfftn")},
    **{f"fft.{name}": Row((4,), {"d": (0.5,)}) for name in (
        "fftfreq", "rfftfreq")},
    **{f"fft.{name}": Row((MATRIX,), {"axes": (0, (0, 1))}) for name in ("fftshift", "ifftshift")},
}  # fmt: skip


def names_of(function: Any) -> list[inspect.Parameter]:
    """The parameters of a function of NumPy."""
    return list(inspect.signature(function).parameters.values())


def calls(
    name: str, theirs: Callable[..., Any]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Calls of a function: of what is needed, and with each argument by its name."""
    row = ROWS[name]
    yield row.given, row.named
    parameters = names_of(theirs)
    places = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    for number, one in enumerate(parameters):
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL, one.POSITIONAL_ONLY):
            continue
        if number < len(row.given) and one.kind is not one.KEYWORD_ONLY:
            # What was given by place, by name: this one and all that follow.
            rest = dict(zip(places[number:], row.given[number:], strict=False))
            if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
                yield row.given[:number], {**row.named, **rest}
            for value in row.values.get(one.name, ()):
                yield row.given[:number], {**row.named, **rest, one.name: value}
            continue
        for value in row.values.get(one.name, VALUES.get(one.name, ())):
            yield row.given, {**row.named, one.name: value}
    for extra in {"min", "max"} & row.values.keys():
        for value in row.values[extra]:
            yield row.given[:1], {extra: value}
