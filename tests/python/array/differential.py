"""Random calls of NumPy's functions on arrays of usmx, compared with NumPy: a case is a number.

`differential_rows.py` has a row for each function: how its arguments are drawn, and how far results
may be apart. A case draws one row, where the arrays are, how the function is called (NumPy's
function, ours of the same name, the method), and who looks at the memory meanwhile. Everything
that the call returns and all memory that it could reach is compared, gaps between elements too.

What needs a kernel takes a form (types, layouts, keywords) out of a few for each row, because
each form is compiled once; what the host computes takes any form.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import functools
import inspect
import random
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import usmx

FLOATS = "efd"
COMPLEX = "FD"
SIGNED = "bhiq"
UNSIGNED = "BHIQ"
INTS = SIGNED + UNSIGNED
REALS = INTS + FLOATS
NUMBERS = REALS + COMPLEX
ALL = "?" + NUMBERS
HOST = ("shared", "host")

SHORT = (0, 1, 1, 2, 2, 3, 4, 5, 7, 15, 16, 17)
LONG = (255, 256, 257, 1023, 4095, 4096, 4097)
VERY_LONG = (32768, 100_000)
#: Elements that the host computes, if nothing is pending.
FEW = 4096
#: Forms of each row that need kernels.
FORMS = 10
#: Of the cases of a row, at most this share is excused by one entry of `DIFFERENCES`.
MOST_EXCUSED = 0.3


class Pair:
    """The same array on both sides, with the memory that it is a part of."""

    __slots__ = ("base", "kind", "may_write", "ours", "theirs", "theirs_base")

    def __init__(self, ours: Any, theirs: np.ndarray, base: Any, theirs_base: np.ndarray) -> None:
        self.ours, self.theirs = ours, theirs
        self.base, self.theirs_base = base, theirs_base
        self.kind = ours.usm_type if isinstance(ours, usmx.ndarray) else "numpy"
        #: Whether outsiders may write to it after the call.
        self.may_write = True


@dataclass(frozen=True)
class Row:
    """One function, method or operator.

    Attributes
    ----------
    name : str
        Below NumPy (``linalg.solve``), of the array (``.sort``), or any other text with ``call``.
    draw : callable
        Gives the positional arguments and the keywords of a case.
    ulps : float
        How far inexact results may be apart, in units of the last place.
    scaled : bool
        Those of the largest element, not of each.
    call : callable, optional
        What is called in place of the name, with the namespace of the side first.
    view : callable, optional
        Brings results into a form that is the same on both sides.
    kernels : bool
        Any number of elements needs a kernel.
    doors : str
        Of ``np``, ``usmx`` and ``method``: how it may be called.
    layout : bool
        Whether strides of results are NumPy's.
    any_zero : bool
        Of two zeros either may be the result.
    weight : int
        How often it is drawn.
    """

    name: str
    draw: Callable[[Draw], tuple[tuple[Any, ...], dict[str, Any]]]
    ulps: float = 0
    scaled: bool = False
    call: Callable[..., Any] | None = None
    view: Callable[[Any], Any] | None = None
    kernels: bool = False
    doors: str = "np usmx method"
    layout: bool = True
    any_zero: bool = False
    weight: int = 1


@dataclass
class Differs:
    """What is not as in NumPy on purpose.

    `row`, `law`, `what` and `given` are patterns of a row's name, of the law that does not hold, of
    the words of the mismatch, and of what the case was given. What an entry excuses is counted by
    rows: one that excuses more than `MOST_EXCUSED` of a row's cases would hide defects.
    """

    row: str
    law: str
    what: str
    why: str
    given: str = ""
    used: Counter[str] = field(default_factory=Counter, compare=False)

    def covers(self, row: str, law: str, what: str, given: str) -> bool:
        found = bool(
            re.fullmatch(self.row, row)
            and re.fullmatch(self.law, law)
            and re.search(self.what, what, re.DOTALL)
            and re.search(self.given, given)
        )
        self.used[row] += found
        return found


def too_broad(differences: Sequence[Differs], cases: Mapping[str, int]) -> list[str]:
    """What excuses more than a small share of the cases of a row, of which so many ran.

    Three cases are allowed in any case, because a few are not a share.
    """
    return [
        f"{row}: {count} of {cases[row]} cases are excused by {d.row} {d.law} {d.what!r}: {d.why}"
        for d in differences
        for row, count in d.used.items()
        if count > max(3, MOST_EXCUSED * cases[row])
    ]


class Draw:
    """What a case is made of. `form` decides what is compiled, `random` everything else."""

    def __init__(self, number: int, row: Row) -> None:

        self.random = random.Random(f"{number} {row.name}")
        self.numpy = np.random.default_rng([number, zlib.crc32(row.name.encode())])
        self.text: list[str] = []
        self.pairs: list[Pair] = []
        where = self.random.random()
        self.long = where >= 0.88
        self.few = where < 0.75 and not row.kernels
        self.kind = self.random.choice(HOST if where < 0.75 else ("device", "device", *HOST))
        seed = f"{number if self.few else number // 7 % FORMS} {row.name}"
        self.form = random.Random(f"form {seed}")

    # --- numbers and choices ---

    def choice(self, options: Any) -> Any:
        """One of the options; part of the form."""
        return self.form.choice(list(options))

    def chance(self, probability: float) -> bool:
        return self.form.random() < probability

    def whole(self, low: int, high: int) -> int:
        """A number that no kernel depends on."""
        return self.random.randint(low, high)

    def maybe(self, keywords: dict[str, Any], probability: float = 0.4) -> dict[str, Any]:
        """Some of the keywords: a value, or a function that draws one."""
        return {
            name: value() if callable(value) else value
            for name, value in keywords.items()
            if self.chance(probability)
        }

    # --- shapes ---

    def length(self, least: int = 0) -> int:
        return self.random.choice([n for n in SHORT if n >= least])

    def shape(self, rank: int | None = None, least: int = 0) -> tuple[int, ...]:
        rank = self.choice((0, 1, 1, 1, 2, 2, 2, 3)) if rank is None else rank
        if rank == 1 and self.random.random() < (0.9 if self.long else 0.08):
            if self.long and self.random.random() < 0.06:
                return (self.random.choice(VERY_LONG),)
            return (self.random.choice(LONG if self.long else LONG[:6]),)
        lengths = [self.length(least) for _ in range(rank)]
        if rank == 2 and self.long and self.random.random() < 0.7:
            lengths[self.random.randrange(2)] = self.random.choice((255, 256, 257, 600))
        while np.prod(lengths) > FEW and not self.long:
            lengths[int(np.argmax(lengths))] = 2
        return tuple(lengths)

    def part_of_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to this one."""
        how = self.choice(("same", "same", "same", "part", "one"))
        if how == "same" or not shape:
            return shape
        if how == "one":
            return ()
        skipped = self.form.randint(0, len(shape))
        return tuple(1 if self.chance(0.4) else n for n in shape[skipped:])

    def axis(self, rank: int) -> int:
        return self.form.randrange(-rank, rank) if rank else -1

    def axes(self, rank: int) -> Any:
        how = self.choice(("none", "one", "one", "several"))
        if how == "none" or not rank:
            return None
        if how == "one":
            return self.axis(rank)
        return tuple(self.form.sample(range(rank), self.form.randint(0, rank)))

    # --- values ---

    def values(self, dtype: Any, shape: Any, low: float = -9, high: float = 9) -> np.ndarray:
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return np.asarray(self.numpy.integers(0, 2, shape)).astype("?")
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            least, most = max(int(np.ceil(low)), limits.min), min(int(high), limits.max)
            least = min(least, most)
            return np.asarray(self.numpy.integers(least, most, shape, dtype, endpoint=True))
        made = self.numpy.uniform(low, high, shape)
        if dtype.kind == "c":
            made = made + 1j * self.numpy.uniform(low, high, shape)
        return np.asarray(made).astype(dtype)

    def numbers(self, dtype: Any, shape: Any, most: int = 4) -> np.ndarray:
        """Whole numbers, of which sums and products are exact in every type."""
        made = self.values(dtype, shape, -most, most)
        return made if made.dtype.kind in "b" else np.round(made).astype(dtype)

    def special(self, values: np.ndarray, chance: float = 0.35) -> np.ndarray:
        """With some values at the limits of the type."""
        if not values.size or self.random.random() > chance:
            return values
        kind, flat = values.dtype.kind, values.reshape(-1)
        if kind in "iu":
            limits = np.iinfo(values.dtype)
            some: tuple[Any, ...] = (limits.min, limits.max, 0, limits.max - 1)
        elif kind == "f":
            f = np.finfo(values.dtype)
            some = (np.nan, np.inf, -np.inf, -0.0, 0.0, f.max, f.tiny, 1e-4)
        elif kind == "c":
            some = (0, 1j, -1, 3)  # products with infinities are rounded in another order
        else:
            return values
        for _ in range(self.random.randint(1, 3)):
            flat[self.random.randrange(flat.size)] = self.random.choice(some)
        return flat.reshape(values.shape)

    # --- arrays ---

    def array(
        self,
        types: str,
        shape: tuple[int, ...] | None = None,
        *,
        values: str = "numbers",
        most: int = 4,
        low: float = -9,
        high: float = 9,
        layout: str | None = None,
        written: bool = False,
    ) -> Pair:
        """An array of one of the types, in a random layout, on both sides."""
        dtype = np.dtype(self.choice(types))
        shape = self.shape() if shape is None else shape
        if values in ("numbers", "special"):
            made = self.numbers(dtype, shape, most)
        else:
            made = self.values(dtype, shape, low, high)
        if values == "special":
            made = self.special(made)
        return self.laid_out(made, layout, written)

    def laid_out(self, values: np.ndarray, how: str | None = None, written: bool = False) -> Pair:
        how = how or self.choice(
            ("C", "C", "C", "C", "F", "reversed", "gaps", "part", "swapped", "read-only", "zero")
        )
        rank = values.ndim
        if written and how in ("read-only", "zero"):
            how = "C"
        key: Any = ...
        base = values
        if rank and how == "reversed":
            turned = [self.chance(0.6) for _ in range(rank)]
            key = tuple(slice(None, None, -1 if t else 1) for t in turned)
            base = values[key]
        elif rank and how in ("gaps", "part"):
            step = 2 if how == "gaps" else 1
            key = tuple(slice(1, 1 + step * n, step) for n in values.shape)
            base = np.full([step * n + 2 for n in values.shape], 3, values.dtype)
            base[key] = values
        self.text.append(f"{values.dtype}{list(values.shape)} {how}")
        kind = self.kind
        if self.random.random() < 0.06:
            kind = self.random.choice(HOST if self.few else ("device", *HOST))
        if how in ("F", "swapped") and rank > 1:
            axes = list(range(rank))[::-1]
            if how == "swapped":
                self.form.shuffle(axes)
            theirs_base = np.ascontiguousarray(base.transpose(axes))
            base_ = usmx.asarray(theirs_base, usm_type=kind)
            back = np.argsort(axes)
            pair = Pair(base_.transpose(*map(int, back)), theirs_base.transpose(back), base_,
                        theirs_base)  # fmt: skip
        elif how == "zero" and rank and values.size:
            axis = self.form.randrange(rank)
            theirs_base = np.ascontiguousarray(values.take([0], axis=axis))
            base_ = usmx.asarray(theirs_base, usm_type=kind)
            pair = Pair(
                usmx.broadcast_to(base_, values.shape),
                np.broadcast_to(theirs_base, values.shape),
                base_,
                theirs_base,
            )
        else:
            theirs_base = np.array(base, order="C")
            base_ = usmx.asarray(theirs_base, usm_type=kind)
            ours, theirs = (base_, theirs_base) if key is ... else (base_[key], theirs_base[key])
            pair = Pair(ours, theirs, base_, theirs_base)
            if how == "read-only":
                pair.ours, pair.theirs = pair.ours[...], pair.theirs[...]
                pair.ours.flags.writeable = False
                pair.theirs.flags.writeable = False
        self.pairs.append(pair)
        return pair

    def number(self, types: str = "?qdD") -> Any:
        """A Python number, or one of NumPy."""
        code = self.choice(types)
        value = self.random.choice((0, 1, 2, 3, 2, -1, 5, 100))
        python = self.chance(0.6)
        self.text.append(f"{'number' if python else 'scalar'} {code}")
        if code in UNSIGNED + "?":
            value = abs(value)
        if python:
            made: Any = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[
                np.dtype(code).kind
            ](value)
            return made + 0.5 if isinstance(made, float) and self.chance(0.3) else made
        return np.dtype(code).type(value)

    def second(self, types: str, shape: tuple[int, ...], **how: Any) -> Any:
        """The other operand of an array: an array, a number, an array of NumPy or a list."""
        kind = self.choice(("array",) * 6 + ("number", "number", "numpy"))
        if kind == "number":
            numbers = "".join(t for t in types if t in "?qdD") or types
            return self.number(numbers)
        if kind == "numpy":
            made = self.numbers(self.choice(types), self.part_of_shape(shape))
            self.text.append(f"NumPy's {made.dtype}{list(made.shape)}")
            return made
        return self.array(types, self.part_of_shape(shape), **how)

    def output(self, shape: tuple[int, ...], dtype: Any) -> Pair:
        """An output with recognisable elements."""
        made = np.full(shape, 1, dtype)
        self.text.append("out")
        return self.laid_out(made, written=True)


# --- calls --------------------------------------------------------------------------------------


def side(tree: Any, ours: bool) -> Any:
    """The arguments of one side."""
    if isinstance(tree, Pair):
        return tree.ours if ours else tree.theirs
    if isinstance(tree, (tuple, list)) and type(tree) in (tuple, list):
        return type(tree)(side(part, ours) for part in tree)
    if isinstance(tree, dict):
        return {name: side(part, ours) for name, part in tree.items()}
    if isinstance(tree, slice):
        return slice(*(side(p, ours) for p in (tree.start, tree.stop, tree.step)))
    return tree


def found(space: Any, name: str) -> Any:
    for part in name.split("."):
        space = getattr(space, part, None)
    return space


def parameters(name: str) -> list[str]:
    """NumPy's names of the positional arguments; empty if they have none."""
    try:
        signature = inspect.signature(found(np, name))
    except (TypeError, ValueError):
        return []
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [p.name for p in signature.parameters.values() if p.kind is kind]


def to_numpy(x: Any) -> Any:
    return x.to_numpy() if isinstance(x, usmx.ndarray) else np.asarray(x)


def parts(result: Any) -> Iterator[Any]:
    if isinstance(result, (tuple, list)):
        for one in result:
            yield from parts(one)
    elif result is not None:
        yield result


def attempt(call: Callable[[], Any]) -> Any:
    """The results, or the error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return call()
    except (Exception, SystemError) as error:
        return error


def said(result: Any) -> str:
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else "result"


# --- comparison ---------------------------------------------------------------------------------


def unequal(
    mine: np.ndarray,
    wanted: np.ndarray,
    ulps: float,
    scaled: bool,
    any_zero: bool = False,
    computed: Any = None,
) -> str | None:
    if mine.dtype.kind not in "fcV" or mine.dtype.names:
        same = np.array_equal(mine, wanted)
        where = None if same or mine.dtype.names else mine != wanted
    elif ulps == 0:
        where = ~((mine == wanted) | (np.isnan(mine) & np.isnan(wanted)))
        if mine.dtype.kind == "f" and not any_zero:
            where |= (mine == 0) & (np.signbit(mine) != np.signbit(wanted))
        same = not where.any()
    else:
        unit = np.finfo(wanted.dtype).eps
        if computed is not None and np.dtype(computed).kind in "fc":
            unit = max(unit, np.finfo(computed).eps)
        least = np.finfo(wanted.dtype).tiny
        finite = np.isfinite(wanted)
        with np.errstate(all="ignore"):
            wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
            apart = np.abs(mine.astype(wide) - wanted.astype(wide))
            size = np.abs(wanted.astype(wide))
            if scaled:
                size = np.maximum(np.max(size[finite], initial=0), size)
            near = apart <= ulps * unit * np.maximum(size, least)
        where = ~(near | (mine == wanted) | (np.isnan(mine) & np.isnan(wanted)))
        same = not where.any()
    if same:
        return None
    if where is None or not isinstance(where, np.ndarray) or not where.any():
        return f"{mine.reshape(-1)[:6]} where NumPy has {wanted.reshape(-1)[:6]}"
    at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(where)))
    mine, wanted, where = (np.atleast_1d(v) for v in (mine, wanted, where))
    return f"{mine[where][:4]} where NumPy has {wanted[where][:4]}, first at {at}"


def strides(x: Any) -> tuple[int, ...]:
    """Strides in elements, zero where they do not matter."""
    size = 1 if isinstance(x, usmx.ndarray) else x.itemsize
    if not x.size:
        return ()
    return tuple(0 if n == 1 else s // size for n, s in zip(x.shape, x.strides, strict=True))


def compare(ours: Any, theirs: Any, row: Row, computed: Any = None) -> Iterator[tuple[str, str]]:
    """The laws that do not hold, and how. `computed` is a type that elements were computed in."""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        if isinstance(theirs, Exception) and isinstance(ours, Exception):
            wanted = [
                t for t in (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError)
                if isinstance(theirs, t)
            ]  # fmt: skip
            if not wanted or not all(isinstance(ours, t) for t in wanted):
                yield "error", f"{said(ours)!r} where NumPy has {said(theirs)!r}"
            return
        law = "refused" if isinstance(ours, Exception) else "no error"
        yield law, f"{said(ours)!r} where NumPy has {said(theirs)!r}"
        return
    if row.view is not None:
        ours, theirs = row.view(ours), row.view(theirs)
    mine_all, wanted_all = list(parts(ours)), list(parts(theirs))
    if len(mine_all) != len(wanted_all):
        yield "value", f"{len(mine_all)} results where NumPy has {len(wanted_all)}"
        return
    for mine, wanted in zip(mine_all, wanted_all, strict=True):
        plain = wanted if isinstance(wanted, np.ndarray) else np.asarray(wanted)
        copied = to_numpy(mine)
        if copied.dtype != plain.dtype:
            yield "dtype", f"{copied.dtype} where NumPy has {plain.dtype}"
            copied = copied.astype(plain.dtype)
        if copied.shape != plain.shape:
            yield "shape", f"{copied.shape} where NumPy has {plain.shape}"
            continue
        ulps = row.ulps
        if ulps and copied.dtype.char == "e":
            ulps = max(ulps, 1.5)
        wrong = unequal(copied, plain, ulps, row.scaled, row.any_zero, computed)
        if wrong is not None:
            yield "value", f"{copied.dtype}{copied.shape}: {wrong}"
        if (
            row.layout
            and isinstance(mine, usmx.ndarray)
            and isinstance(wanted, np.ndarray)
            and strides(mine) != strides(wanted)
        ):
            yield "layout", f"strides {strides(mine)} where NumPy has {strides(wanted)}"


# --- who else looks at the memory ---------------------------------------------------------------

MODES = ("alone",) * 5 + ("view", "view", "foreign", "pending", "eager")


@functools.cache
def _slow_kernel() -> Any:
    return usmx.ElementwiseKernel(
        "T x, int32 n",
        "T y",
        "T v = x; for (int k = 0; k < n; ++k) v = v * T(1.0001) + T(1); y = v",
        "keep_busy",
    )


def keep_busy(queue: Any) -> None:
    """Submit a command that takes about a millisecond."""
    _slow_kernel()(usmx.ones(64, "float32", queue=queue), 200_000)


class Watched:
    """Another library or a view that holds the memory of the operands while the call runs."""

    def __init__(self, mode: str, pairs: list[Pair], row: Row) -> None:
        self.mode = mode
        self.near = max(row.ulps, 1.5) if row.ulps else 0, row.scaled, row.any_zero
        self.pairs = [p for p in pairs if isinstance(p.base, usmx.ndarray) and p.base.size]
        if mode in ("view", "foreign"):
            self.pairs = [p for p in self.pairs if p.kind in HOST or mode == "foreign"]
        self.views: list[np.ndarray] = []
        self.memories: list[Any] = []
        self.kept: list[Any] = []
        self.events: list[Any] = []

    def before(self) -> None:
        if self.mode == "view":
            self.views = [np.asarray(p.base) for p in self.pairs]
        elif self.mode == "foreign":
            from dpctl import memory

            for p in self.pairs:
                held = memory.as_usm_memory(p.base)
                self.memories.append(held)
                # The values come by the other library, after what its queue is doing.
                right = np.frombuffer(p.theirs_base.tobytes(), "u1")
                source = memory.MemoryUSMShared(right.size, queue=held.sycl_queue)
                source.copy_from_host(right)
                garbage = np.full(right.size, 1, "u1")
                held.copy_from_host(garbage)
                keep_busy(p.base.queue)
                self.kept.append(source)
                self.events.append(held.sycl_queue.memcpy_async(held, source, right.size))
        elif self.mode == "pending":
            for p in self.pairs:
                if p.base.flags.writeable and p.base.dtype.kind in "iufc":
                    keep_busy(p.base.queue)
                    if p.base.dtype.kind == "c":
                        p.base[...] = usmx.conj(usmx.conj(p.base))
                    else:
                        p.base[...] = usmx.maximum(p.base, p.base)

    def after(self, computed: Any) -> str | None:
        """Whether they see what the call wrote, at once. See `unequal`."""
        if self.mode == "view":
            for p, view in zip(self.pairs, self.views, strict=True):
                if unequal(view.copy(), p.theirs_base, *self.near, computed):
                    return f"the view of the host has {view.reshape(-1)[:6]}"
        elif self.mode == "foreign":
            for event in self.events:
                event.wait()
            for p, held in zip(self.pairs, self.memories, strict=True):
                there = np.frombuffer(bytes(held.copy_to_host()), p.theirs_base.dtype)
                if unequal(there, p.theirs_base.reshape(-1), *self.near, computed):
                    return f"the other queue sees {there[:6]}"
        return None

    def write(self, results: list[Any]) -> None:
        """Overwrite the operands that no result may be a part of."""
        if self.mode != "view":
            return
        for p, view in zip(self.pairs, self.views, strict=True):
            # An element is a view here, and a number in NumPy.
            shared = any(
                not isinstance(r, np.ndarray) or np.may_share_memory(r, p.theirs_base)
                for r in results
            )
            if not shared and view.flags.writeable and p.may_write:
                view[...] = 1


# --- one case -----------------------------------------------------------------------------------

LAWS = ("value", "dtype", "shape", "refused", "no error", "error", "layout", "order", "memory")


@dataclass
class Mismatch:
    """A case whose result is not NumPy's."""

    number: int
    row: str
    law: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.row}: {self.law}: {self.what} [{self.text}]"


def choose(number: int, rows: list[Row]) -> Row:
    return rows[zlib.crc32(f"row {number}".encode()) % len(rows)]


def run(
    number: int, row: Row, differences: Sequence[Differs] = (), mode: str | None = None
) -> Mismatch | None:
    """What is wrong with a case; None if nothing is."""
    draw = Draw(number, row)
    positional, keywords = row.draw(draw)
    given, mode = mode, mode or draw.random.choice(MODES)
    door = "call"
    if row.call is None:
        door = _door(draw, row, positional)
        if door in ("np", "usmx") and draw.chance(0.15):
            names = parameters(row.name)
            if len(names) >= len(positional) and not set(names[: len(positional)]) & set(keywords):
                keywords = {**dict(zip(names, positional, strict=False)), **keywords}
                positional = ()
    shown = {k: v for k, v in keywords.items() if not isinstance(v, (Pair, np.ndarray))}
    draw.text.append(f"{door} {mode} {draw.kind} {shown}")

    def mismatch(law: str, what: str) -> Mismatch | None:
        if (
            given is None
            and mode != "alone"
            and law != "order"
            and not run(number, row, (), "alone")
        ):
            law = "order"  # alone it is right
        case = "; ".join(draw.text)
        if any(d.covers(row.name, law, what, case) for d in differences):
            return None
        return Mismatch(number, row.name, law, what, case)

    watched = Watched(mode, draw.pairs, row)
    watched.before()
    theirs = attempt(lambda: _call(row, door, np, side(positional, False), side(keywords, False)))
    their_results = [] if isinstance(theirs, Exception) else list(parts(theirs))
    computed = _computed_in(row, positional, keywords)
    with usmx.eager() if mode == "eager" else contextlib.nullcontext():
        space = np if door == "np" else usmx
        ours = attempt(
            lambda: _call(row, door, space, side(positional, True), side(keywords, True))
        )
    if isinstance(ours, Exception) and not isinstance(theirs, Exception):
        return mismatch("refused", f"{said(ours)!r}")
    if not isinstance(ours, Exception) and not isinstance(theirs, Exception):
        late = watched.after(computed)
        if late is not None and (found_one := mismatch("order", late)):
            return found_one
        # Results of NumPy that are parts of operands change with them: keep copies of the others.
        watched.write(their_results)
    # What is excused by one law is held to the others.
    for wrong in compare(ours, theirs, row, computed):
        if found_one := mismatch(*wrong):
            return found_one
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        return None
    if mode != "view":
        for p in draw.pairs:
            wrong_memory = unequal(
                to_numpy(p.base),
                p.theirs_base,
                row.ulps,
                row.scaled,
                row.any_zero,
                computed,
            )
            if wrong_memory is not None and (found_one := mismatch("memory", wrong_memory)):
                return found_one
    return None


def _door(draw: Draw, row: Row, positional: tuple[Any, ...]) -> str:
    if row.name.startswith("."):
        return "method"
    doors = row.doors.split()
    first = positional[0] if positional else None
    if not (isinstance(first, Pair) and hasattr(np.ndarray, row.name)):
        doors = [d for d in doors if d != "method"]
    return str(draw.choice(doors))


def _computed_in(row: Row, positional: Any, keywords: Any) -> Any:
    """The type that NumPy computes in, which outputs may have more digits than."""
    if "out" not in keywords or "dtype" in keywords or not row.ulps:
        return keywords.get("dtype")
    plain = {k: v for k, v in side(keywords, False).items() if k not in ("out", "where", "casting")}
    made = attempt(lambda: _call(row, "np", np, side(positional, False), plain))
    first = next(iter(parts(made)), None) if not isinstance(made, Exception) else None
    return getattr(first, "dtype", None)


def _call(row: Row, door: str, space: Any, positional: Any, keywords: Any) -> Any:
    if row.call is not None:
        return row.call(space, *positional, **keywords)
    if door == "method":
        return getattr(positional[0], row.name.lstrip("."))(*positional[1:], **keywords)
    return found(space, row.name)(*positional, **keywords)
