"""Random calls of the namespace compared with NumPy: each made from a number, to repeat it.

A case draws an operation, types, shapes, layouts and values. Types are few for each operation,
because each form of types and layout is a kernel to compile; shapes and values are not.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import random
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import usmx
from usmx import _usmx
from usmx._operations import OPERATIONS

TYPES = "?bHiQefdFD"
KINDS = ("device", "device", "shared", "host")
LENGTHS = (0, 1, 1, 2, 3, 4, 5, 7, 17)
Both = tuple[Any, np.ndarray]


class Draw:
    """What a case is made of. `text` says what was drawn."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.random = random.Random(number)
        self.numpy = np.random.default_rng(number)
        self.text: list[str] = []
        self.kind = self.random.choice(KINDS)

    def choice(self, options: Any) -> Any:
        return self.random.choice(list(options))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def shape(self, rank: int | None = None, least: int = 0) -> tuple[int, ...]:
        rank = self.choice((0, 1, 1, 2, 2, 3)) if rank is None else rank
        lengths = [n for n in LENGTHS if n >= least]
        if rank == 1 and self.chance(0.1):
            return (self.random.randrange(250, 3000),)
        return tuple(self.choice(lengths) for _ in range(rank))

    def values(self, dtype: Any, shape: tuple[int, ...], low: float, high: float) -> np.ndarray:
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return np.asarray(self.numpy.integers(0, 2, shape)).astype("?")
        if dtype.kind in "iu":
            low = max(int(np.ceil(low)), 0 if dtype.kind == "u" else -9)
            most = max(int(high), low)
            return np.asarray(self.numpy.integers(low, most + 1, shape)).astype(dtype)
        made = self.numpy.uniform(low, high, shape)
        if dtype.kind == "c":
            made = made + 1j * self.numpy.uniform(low, high, shape)
        return np.asarray(made).astype(dtype)

    def whole(self, dtype: Any, shape: tuple[int, ...], most: int = 4) -> np.ndarray:
        """Whole numbers, of which sums and products are exact in every type."""
        return np.round(self.values(dtype, shape, -most, most)).astype(dtype)

    def laid_out(self, values: np.ndarray) -> Both:
        """The values in a random layout, of ours and of NumPy's."""
        how = self.choice(("contiguous", "contiguous", "transposed", "reversed", "gaps", "part"))
        rank = values.ndim
        key: Any = ...
        if rank and how == "reversed":
            axes = [self.chance(0.6) for _ in range(rank)]
            key = tuple(slice(None, None, -1 if a else 1) for a in axes)
            base = np.ascontiguousarray(values[key])
        elif rank and how in ("gaps", "part"):
            step = 2 if how == "gaps" else 1
            lengths = [step * n + 2 for n in values.shape]
            key = tuple(slice(1, 1 + step * n, step) for n in values.shape)
            base = np.full(lengths, 3, values.dtype)
            base[key] = values
        elif rank > 1 and how == "transposed":
            base = np.ascontiguousarray(values.T)
            self.text.append(f"{values.dtype}{values.shape} transposed")
            return usmx.asarray(base, usm_type=self.kind).T, base.copy().T
        else:
            how, base = "contiguous", np.array(values, order="C")
        self.text.append(f"{values.dtype}{values.shape} {how}")
        ours, theirs = usmx.asarray(base, usm_type=self.kind), base.copy()
        return (ours, theirs) if key is ... else (ours[key], theirs[key])

    def spread(self, both: Both, shape: tuple[int, ...]) -> Both:
        """Broadcast by strides of zero, sometimes."""
        ours, theirs = both
        if self.chance(0.3):
            self.text.append(f"broadcast to {shape}")
            return usmx.broadcast_to(ours, shape), np.broadcast_to(theirs, shape)
        return both

    def part_of_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to this one."""
        if not self.chance(0.4):
            return shape
        skipped = self.random.randint(0, len(shape))
        return tuple(1 if self.chance(0.4) else n for n in shape[skipped:])

    def axis(self, rank: int) -> int:
        return self.random.randrange(-rank, rank)

    def axes(self, rank: int) -> Any:
        how = self.choice(("none", "one", "several"))
        if how == "none" or not rank:
            return None
        if how == "one":
            return self.axis(rank)
        return tuple(self.random.sample(range(rank), self.random.randint(0, rank)))


Call = Callable[[Any], Any]
# A case: the call with usmx or numpy and the arrays of that side; how far results may be apart, in
# units in the last place; and whether the order of magnitude counts, not each element.
Case = tuple[Callable[[Any, list[Any]], Any], list[Both], float]


def types_of(name: str, of: str, most: int) -> str:
    """Always the same few types for an operation: its kernels are compiled once."""
    order = sorted(of, key=lambda t: zlib.crc32(f"{name}{t}".encode()))
    return "".join(order[:most])


ROWS = [row for row in OPERATIONS if isinstance(getattr(np, row.name, None), np.ufunc)]
MOST_TYPES = 3


def accepted(row: Any) -> str:
    complex_too = any("c" in kinds for kinds, _ in row.texts)
    known = [
        t
        for t in TYPES
        if _usmx._result_types(row.name, *[np.dtype(t)] * row.arity) is not None
        and (complex_too or t not in "FD")
    ]
    return types_of(row.name, "".join(known), MOST_TYPES)


FORMS = [(row, t) for row in ROWS for t in accepted(row)]


def elementwise(draw: Draw) -> Case:
    row, t = draw.choice(FORMS)
    shape = draw.shape()
    low, high = row.domain
    low, high = (max(low, -9), min(high, 9)) if low < 9 else (low, high)
    if row.name in ("left_shift", "right_shift", "power", "float_power"):
        low, high = 0, 5
    exact = not (row.ulps or row.complex_ulps)
    operands = []
    for _ in range(row.arity):
        mine = draw.part_of_shape(shape)
        values = draw.values(t, mine, low, high)
        if exact and t in "efd" and values.size and draw.chance(0.3):
            special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-4]
            flat = values.reshape(-1)
            flat[draw.random.randrange(flat.size)] = draw.choice(special)
        operands.append(draw.spread(draw.laid_out(values), shape))
    how = draw.choice(("new", "new", "operator", "out", "overlap"))
    draw.text.append(f"{row.name} {how}")
    ulps = 0 if exact else max(row.ulps, row.complex_ulps, 4)
    if t in "FD" and (not exact or row.name in ("multiply", "divide", "square")):
        # Powers of either library are right to 16 units, often on different sides.
        ulps = max(ulps, 32 if "power" in row.name else 16)
    if row.name == "floor_divide" and t in "efd":
        # Quotients of infinities are those that the standard prefers.
        operands = [(a, b) for a, b in operands if np.isfinite(b).all()]
        if len(operands) < 2:
            operands = [draw.laid_out(draw.values(t, shape, 1, 9)) for _ in range(2)]
    dtype = _usmx._result_types(row.name, *[np.dtype(t)] * row.arity)[-1]
    if how == "overlap":
        first = operands[0]
        wide = first[1].ndim and first[1].shape[0] > 1 and first[1].flags.writeable
        if wide and dtype == np.dtype(t):
            rest = [draw.laid_out(draw.values(t, (), low, high)) for _ in operands[1:]]

            def overlapped(xp: Any, a: list[Any]) -> Any:
                getattr(xp, row.name)(a[0][1:], *a[1:], out=a[0][:-1])
                return a[0]

            return overlapped, [first, *rest], ulps
    if how == "out":

        def into(xp: Any, a: list[Any]) -> Any:
            wanted = np.broadcast_shapes(*(x.shape for x in a))
            out = xp.zeros((2, *wanted), dtype=dtype)[1, ...]
            getattr(xp, row.name)(*a, out=out)
            return out

        return into, operands, ulps
    return lambda xp, a: getattr(xp, row.name)(*a), operands, ulps


REDUCTIONS = {
    "sum": "?bHidF", "prod": "?bid", "min": "?bHifd", "max": "?bHied", "mean": "?ifD",
    "var": "idF", "std": "fd", "any": "?idF", "all": "?bfD", "argmin": "Hifd", "argmax": "?bid",
    "count_nonzero": "?bfD", "ptp": "Hid", "nansum": "fd", "nanmean": "fd", "nanmax": "fd",
    "nanmin": "ed", "nanprod": "fd", "nanstd": "d", "nanvar": "f", "nanargmax": "d",
    "median": "fdi",
}  # fmt: skip
ROUNDED = {"mean", "var", "std", "nanmean", "nanstd", "nanvar", "median"}


def reduction(draw: Draw) -> Case:
    name = draw.choice(REDUCTIONS)
    t = draw.choice(REDUCTIONS[name])
    shape = draw.shape()
    values = draw.whole(t, shape, 2 if "prod" in name else 4)
    if "prod" in name and values.size > 20:
        values = np.sign(values) if t not in "?" else values
        values = values.astype(t)
    nan_too = name.startswith("nan") or name in ("min", "max", "argmin", "argmax", "any", "all")
    if t in "efd" and nan_too and values.size and draw.chance(0.4):
        values.reshape(-1)[draw.random.randrange(values.size)] = np.nan
    single = "arg" in name
    axis = draw.choice((None, draw.axis(len(shape)) if shape else None))
    if not single:
        axis = draw.axes(len(shape))
        if axis == () and name == "median":
            axis = None  # NumPy refuses it for some shapes
    keywords: dict[str, Any] = {"axis": axis, "keepdims": draw.chance(0.3)}
    if name in ("sum", "prod") and draw.chance(0.2):
        keywords["dtype"] = draw.choice(("d", "q"))
        if t in "FD":
            keywords["dtype"] = "D"
    if name in ("var", "std") and draw.chance(0.3):
        keywords["ddof"] = 1
    draw.text.append(f"{name} {keywords}")
    both = draw.spread(draw.laid_out(values), shape)

    def call(xp: Any, a: list[Any]) -> Any:
        given = dict(keywords)
        if "ddof" in given and xp is usmx:
            given["correction"] = given.pop("ddof")
        return getattr(xp, name)(a[0], **given)

    return call, [both], 64 if name in ROUNDED else 0


def cumulative(draw: Draw) -> Case:
    name = draw.choice(("cumsum", "cumprod", "diff", "nancumsum"))
    t = draw.choice({"cumsum": "?bHidF", "cumprod": "bid", "diff": "bifD", "nancumsum": "fd"}[name])
    shape = draw.shape(least=1 if name == "diff" else 0)
    if name == "diff" and not shape:
        shape = (5,)
    values = draw.whole(t, shape, 3)
    if name == "cumprod":
        values = np.sign(values)
    if name == "nancumsum" and values.size:
        values.reshape(-1)[0] = np.nan
    axis = draw.axis(len(shape)) if shape and (name == "diff" or draw.chance(0.7)) else None
    keywords = {} if axis is None else {"axis": axis}
    draw.text.append(f"{name} {keywords}")
    return lambda xp, a: getattr(xp, name)(a[0], **keywords), [draw.laid_out(values)], 0


def sorting(draw: Draw) -> Case:
    name = draw.choice(("sort", "argsort", "searchsorted", "lexsort", "partition"))
    t = draw.choice("?bHidf" if name != "lexsort" else "id")
    shape = draw.shape(least=0)
    if not shape:
        shape = (9,)
    values = draw.whole(t, shape, 4)
    if t in "fd" and values.size and draw.chance(0.3) and name != "searchsorted":
        values.reshape(-1)[draw.random.randrange(values.size)] = draw.choice((np.nan, -0.0, np.inf))
    draw.text.append(name)
    if name == "searchsorted":
        table = draw.laid_out(np.sort(draw.whole(t, draw.shape(1), 4)))
        side = draw.choice(("left", "right"))
        return (
            lambda xp, a: xp.searchsorted(a[0], a[1], side=side),
            [table, draw.laid_out(values)],
            0,
        )
    if name == "lexsort":
        both = draw.laid_out(draw.whole(t, (2, 17)))
        return lambda xp, a: xp.lexsort((a[0][0], a[0][1])), [both], 0
    axis = draw.axis(len(shape))
    both = draw.laid_out(values)
    if name == "partition":
        length = shape[axis]
        if not length:
            return lambda xp, a: xp.sort(a[0], axis=axis), [both], 0
        k = draw.random.randrange(length)
        return lambda xp, a: xp.take(xp.partition(a[0], k, axis=axis), k, axis=axis), [both], 0
    keywords = {"stable": True} if name == "argsort" or draw.chance(0.5) else {}
    return lambda xp, a: getattr(xp, name)(a[0], axis=axis, **keywords), [both], 0


SETS = (
    "unique_values", "unique_counts", "unique_inverse", "unique_all", "isin", "union1d",
    "intersect1d", "setdiff1d", "setxor1d", "bincount", "digitize", "histogram",
)  # fmt: skip


def sets(draw: Draw) -> Case:
    name = draw.choice(SETS)
    t = draw.choice("Hid")
    if name == "bincount":
        both = draw.laid_out(abs(draw.whole("i", draw.shape(1), 9)))
        return lambda xp, a: xp.bincount(a[0]), [both], 0
    first = draw.laid_out(draw.whole(t, draw.shape(1), 9))
    second = draw.laid_out(draw.whole(t, draw.shape(1), 9))
    draw.text.append(name)
    if name.startswith("unique"):
        both = draw.laid_out(draw.whole(t, draw.shape(), 5))
        if name in ("unique_values", "unique_counts"):
            return lambda xp, a: in_order(getattr(xp, name)(a[0])), [both], 0
        return lambda xp, a: tuple(getattr(xp, name)(a[0])), [both], 0
    if name == "digitize":
        edges = draw.laid_out(np.array([-3, 0, 1, 5], "d"))
        right = draw.chance(0.5)
        return lambda xp, a: xp.digitize(a[0], a[1], right=right), [first, edges], 0
    if name == "histogram":
        return lambda xp, a: xp.histogram(a[0], 5, (-4.0, 6.0)), [first], 0
    return lambda xp, a: getattr(xp, name)(a[0], a[1]), [first, second], 0


def in_order(found: Any) -> Any:
    """Unique values by size; NumPy leaves their order open."""
    if not isinstance(found, tuple):
        return np.sort(to_numpy(found))
    values, counts = (to_numpy(part) for part in found)
    order = np.argsort(values)
    return values[order], counts[order]


def manipulation(draw: Draw) -> Case:
    t = draw.choice("biD")
    shape = draw.shape(draw.choice((1, 2, 2, 3)))
    rank = len(shape)
    both = draw.spread(draw.laid_out(draw.whole(t, shape)), shape)
    axis = draw.axis(rank)
    other = draw.laid_out(draw.whole(draw.choice((t, "d")), shape))
    order = draw.random.sample(range(rank), rank)
    shift = draw.random.randint(-9, 9)
    count = draw.random.randint(0, 3)
    calls: dict[str, Callable[[Any, list[Any]], Any]] = {
        "reshape": lambda xp, a: xp.reshape(a[0], (-1,) if a[0].size else (0,)),
        "ravel": lambda xp, a: xp.ravel(a[0]),
        "permute": lambda xp, a: xp.transpose(a[0], order),
        "flip": lambda xp, a: xp.flip(a[0], axis=axis),
        "roll": lambda xp, a: xp.roll(a[0], shift, axis=draw_axis),
        "repeat": lambda xp, a: xp.repeat(a[0], count, axis=axis),
        "tile": lambda xp, a: xp.tile(a[0], (2, count)),
        "concat": lambda xp, a: xp.concatenate([a[0], a[1], a[0]], axis=axis),
        "stack": lambda xp, a: xp.stack([a[0], a[1]], axis=axis),
        "pad": lambda xp, a: xp.pad(a[0], count, "constant"),
        "tril": lambda xp, a: xp.tril(a[0], k=shift) if rank > 1 else a[0],
        "triu": lambda xp, a: xp.triu(a[0], k=shift) if rank > 1 else a[0],
        "squeeze": lambda xp, a: xp.squeeze(a[0][None], axis=0),
        "expand": lambda xp, a: xp.expand_dims(a[0], axis),
        "moveaxis": lambda xp, a: xp.moveaxis(a[0], axis, 0),
        "rot90": lambda xp, a: xp.rot90(a[0], shift) if rank > 1 else a[0],
        "split": lambda xp, a: xp.array_split(a[0], 3, axis=axis),
        "astype": lambda xp, a: xp.astype(abs(a[0]), "f"),
        "copy": lambda xp, a: a[0].copy(),
        "clip": lambda xp, a: xp.clip(a[0].real, 1, 3),
        "where": lambda xp, a: xp.where(a[0].real > 0, a[0], a[1]),
        "meshgrid": lambda xp, a: list(xp.meshgrid(a[0].reshape(-1)[:5], a[1].reshape(-1)[:3])),
        "diag": lambda xp, a: xp.diag(a[0].reshape(-1)[:6], count),
    }
    draw_axis = draw.choice((None, axis))
    name = draw.choice(calls)
    draw.text.append(f"{name} axis={axis} shift={shift} count={count} order={order}")
    return calls[name], [both, other], 0


def key_of(draw: Draw, shape: tuple[int, ...]) -> Any:
    key: list[Any] = []
    for n in shape[: draw.random.randint(0, len(shape))]:
        kind = draw.choice(("index", "slice", "slice", "none"))
        if kind == "index" and n:
            key.append(draw.random.randrange(-n, n))
        elif kind == "none":
            key += [None, slice(None)]
        else:
            ends = [draw.choice((None, draw.random.randint(-n - 2, n + 2))) for _ in range(2)]
            key.append(slice(*ends, draw.choice((None, 1, 2, -1, -3))))
    if draw.chance(0.3):
        key.append(...)
    return tuple(key)


def indexing(draw: Draw) -> Case:
    t = draw.choice("bif" if draw.chance(0.9) else "D")
    shape = draw.shape(draw.choice((1, 2, 3)))
    both = draw.laid_out(draw.whole(t, shape))
    how = draw.choice(
        ("basic", "assign", "mask", "mask assign", "mask array", "row mask", "indices",
         "indices assign", "mixed", "take", "along", "put", "nonzero", "shifted")
    )  # fmt: skip
    draw.text.append(how)
    key = key_of(draw, shape)
    n = shape[0]

    def assigned(change: Callable[[Any, list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
        def call(xp: Any, a: list[Any]) -> Any:
            change(xp, a)
            return a[0]

        return call

    if how == "basic" or (n == 0 and how not in ("mask", "mask assign", "nonzero")):
        draw.text.append(str(key))
        return lambda xp, a: a[0][key], [both], 0
    if how == "assign":
        draw.text.append(str(key))
        return assigned(lambda xp, a: a[0].__setitem__(key, 3)), [both], 0
    if how == "shifted":
        return assigned(lambda xp, a: a[0].__setitem__(slice(1, None), a[0][:-1])), [both], 0
    mask = draw.laid_out(np.asarray(draw.numpy.random(shape) < draw.random.random()))
    rows = draw.laid_out(np.asarray(draw.numpy.random(n) < 0.5))
    indices = draw.numpy.integers(-n, max(n, 1), draw.shape(draw.choice((1, 2)))) if n else None
    if how == "mask":
        return lambda xp, a: a[0][a[1]], [both, mask], 0
    if how == "mask assign":
        return assigned(lambda xp, a: a[0].__setitem__(a[1], 5)), [both, mask], 0
    if how == "mask array":
        fresh = draw.laid_out(draw.whole(t, (int(mask[1].sum()),)))
        return assigned(lambda xp, a: a[0].__setitem__(a[1], a[2])), [both, mask, fresh], 0
    if how == "row mask":
        return lambda xp, a: a[0][a[1]], [both, rows], 0
    if how == "nonzero":
        return lambda xp, a: xp.nonzero(a[0]), [both], 0
    many = draw.laid_out(np.asarray(indices, draw.choice(("i", "q"))))
    if how == "indices":
        return lambda xp, a: a[0][a[1]], [both, many], 0
    if how == "mixed" and len(shape) > 1:
        return lambda xp, a: a[0][a[1], ::-1], [both, many], 0
    if how in ("take", "mixed"):
        return lambda xp, a: xp.take(a[0], a[1], axis=0), [both, many], 0
    once = draw.laid_out(draw.numpy.permutation(n)[: draw.random.randint(0, n)])
    if how == "indices assign":
        return assigned(lambda xp, a: a[0].__setitem__(a[1], 7)), [both, once], 0
    if how == "put":
        whole = draw.laid_out(draw.whole(t, (n,)))
        return assigned(lambda xp, a: xp.put(a[0], a[1], 9)), [whole, once], 0
    axis = draw.axis(len(shape))
    if not shape[axis] or not all(shape):
        return lambda xp, a: xp.nonzero(a[0]), [both], 0
    places = np.argsort(draw.numpy.random(shape), axis=axis)
    return (
        lambda xp, a: xp.take_along_axis(a[0], a[1], axis=axis),
        [both, draw.laid_out(places)],
        0,
    )


def linear(draw: Draw) -> Case:
    t = draw.choice("ifdD")
    name = draw.choice(
        ("matmul", "matmul", "matvec", "vecdot", "outer", "tensordot", "kron", "dot", "einsum",
         "solve", "inv", "det", "norm", "trace", "cross", "qr", "eigvalsh", "svdvals", "cholesky")
    )  # fmt: skip
    a, b, c = (draw.choice((1, 2, 3, 5, 17)) for _ in range(3))
    stack = draw.choice(((), (), (2,), (3, 1)))
    left = draw.laid_out(draw.whole(t, (*stack, a, b)))
    right = draw.laid_out(draw.whole(t, (*draw.choice(((), stack)), b, c)))
    draw.text.append(name)
    x, y = draw.laid_out(draw.whole(t, (a,))), draw.laid_out(draw.whole(t, (a,)))
    exact: dict[str, tuple[Callable[[Any, list[Any]], Any], list[Both]]] = {
        "matmul": (lambda xp, v: xp.matmul(v[0], v[1]), [left, right]),
        "matvec": (lambda xp, v: v[0] @ v[1][..., :, 0], [left, right[:1] and right])
        if right[1].ndim == 2
        else (lambda xp, v: v[0] @ v[1], [left, right]),
        "vecdot": (lambda xp, v: xp.vecdot(v[0], v[1]), [x, y]),
        "outer": (lambda xp, v: xp.outer(v[0], v[1]), [x, y]),
        "tensordot": (lambda xp, v: xp.tensordot(v[0], v[1], axes=0), [x, y]),
        "kron": (lambda xp, v: xp.kron(v[0], v[1]), [x, y]),
        "dot": (lambda xp, v: xp.dot(v[0], v[1]), [x, y]),
        "einsum": (lambda xp, v: xp.einsum("i,j->ji", v[0], v[1]), [x, y]),
        "trace": (lambda xp, v: xp.linalg.trace(v[0]), [left]),
        "cross": (
            lambda xp, v: xp.linalg.cross(v[0], v[1]),
            [draw.laid_out(draw.whole(t, (a, 3))) for _ in range(2)],
        ),
    }
    if name in exact:
        call, given = exact[name]
        return call, given, 0
    kind = draw.choice("dD")
    square = draw.values(kind, (*stack, a, a), -1, 1) + 2 * a * np.eye(a)
    hermitian = square + np.conj(np.swapaxes(square, -1, -2))
    matrix = draw.laid_out(hermitian if name in ("eigvalsh", "cholesky") else square)
    if name == "solve":
        other = draw.laid_out(draw.values(kind, (*stack, a, c), -1, 1))
        return lambda xp, v: xp.linalg.solve(v[0], v[1]), [matrix, other], 1e6
    if name == "norm":
        return lambda xp, v: xp.linalg.vector_norm(v[0]), [matrix], 1e3
    if name == "qr":
        return lambda xp, v: abs(to_numpy(xp.linalg.qr(v[0])[1])), [matrix], 1e6
    return lambda xp, v: getattr(xp.linalg, name)(v[0]), [matrix], 1e6


def quantile(draw: Draw) -> Case:
    t = draw.choice("fdi")
    name = draw.choice(("quantile", "percentile", "median", "average", "cov", "corrcoef"))
    draw.text.append(name)
    if name in ("cov", "corrcoef"):
        both = draw.laid_out(draw.values("d", (3, draw.choice((2, 5, 17))), -4, 4))
        return lambda xp, a: getattr(xp, name)(a[0]), [both], 1e4
    shape = draw.shape(draw.choice((1, 2)), least=1)
    axis = draw.choice((None, draw.axis(len(shape))))
    both = draw.laid_out(draw.whole(t, shape, 9))
    q = draw.choice((0.0, 0.25, 0.5, 0.9, 1.0)) * (100 if name == "percentile" else 1)
    if name in ("median", "average"):
        return lambda xp, a: getattr(xp, name)(a[0], axis=axis), [both], 64
    method = draw.choice(("linear", "lower", "higher", "nearest", "midpoint"))
    draw.text.append(f"{q} {method} {axis}")
    return lambda xp, a: getattr(xp, name)(a[0], q, axis=axis, method=method), [both], 64


TOPICS: dict[str, tuple[Callable[[Draw], Case], int]] = {
    "elementwise": (elementwise, 6),
    "reduction": (reduction, 4),
    "cumulative": (cumulative, 1),
    "sorting": (sorting, 2),
    "sets": (sets, 1),
    "manipulation": (manipulation, 3),
    "indexing": (indexing, 4),
    "linear": (linear, 2),
    "quantile": (quantile, 1),
}
DRAWN = list(itertools.chain.from_iterable([name] * n for name, (_, n) in TOPICS.items()))


def to_numpy(x: Any) -> np.ndarray:
    return x.to_numpy() if isinstance(x, usmx.ndarray) else np.asarray(x)


def parts(result: Any) -> Iterator[np.ndarray]:
    if isinstance(result, (tuple, list)):
        for one in result:
            yield from parts(one)
    else:
        yield to_numpy(result)


def attempt(call: Callable[[Any, list[Any]], Any], xp: Any, arrays: list[Any]) -> Any:
    """The results as arrays of NumPy, or the error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return [part.copy() for part in parts(call(xp, arrays))]
    except (ValueError, TypeError, IndexError, np.linalg.LinAlgError) as error:
        return error


def difference(ours: Any, theirs: Any, ulps: float) -> str | None:
    """What is wrong; None if nothing is."""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        both = isinstance(theirs, Exception) and isinstance(ours, Exception)
        # NumPy cannot join several axes of an array without elements.
        is_numpys = "cannot reshape array of size 0" in str(theirs)
        return None if both or is_numpys else f"{ours!r} where NumPy has {theirs!r}"
    if len(ours) != len(theirs):
        return f"{len(ours)} results where NumPy has {len(theirs)}"
    for mine, wanted in zip(ours, theirs, strict=True):
        if mine.shape != wanted.shape or mine.dtype != wanted.dtype:
            return f"{mine.dtype}{mine.shape} where NumPy has {wanted.dtype}{wanted.shape}"
        if wanted.dtype.kind in "fc":
            unit = np.finfo(wanted.dtype).eps
            scale = np.nanmax(abs(wanted[np.isfinite(wanted)]), initial=0) if ulps >= 64 else 0
            with np.errstate(all="ignore"):
                near = np.isclose(
                    mine, wanted, rtol=ulps * unit, atol=ulps * unit * scale, equal_nan=True
                )
            if not near.all():
                return f"{mine[~near][:4]} where NumPy has {wanted[~near][:4]}"
        elif not np.array_equal(mine, wanted):
            return f"{mine.reshape(-1)[:9]} where NumPy has {wanted.reshape(-1)[:9]}"
    return None


def run(number: int, topic: str | None = None) -> str | None:
    """What is wrong with a case; None if nothing is."""
    draw = Draw(number)
    name = topic or draw.choice(DRAWN)
    call, given, ulps = TOPICS[name][0](draw)
    theirs = attempt(call, np, [host.copy() if host.base is None else host for _, host in given])
    ours = attempt(call, usmx, [x for x, _ in given])
    wrong = difference(ours, theirs, ulps)
    if wrong is None:
        return None
    return f"case {number}: {name}; {'; '.join(draw.text)}; {draw.kind}: {wrong}"
