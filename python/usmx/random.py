"""Random numbers, made where the arrays are.

``default_rng(seed)`` gives a `Generator` with the methods of NumPy's. Number k of a generator
depends on its seed and on k alone: it is the same on every device, for every shape, and however
many numbers are asked for at a time. The numbers are those of Philox4x32-10, not NumPy's.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from math import isfinite, prod
from operator import index
from secrets import randbits
from threading import Lock
from typing import Any, Self, TypedDict, Unpack

from . import _explained, _usmx
from ._namespace import elementwise, manipulation, sorting
from .typing import DeviceLike, DTypeLike, QueueLike, ShapeLike, UsmKind

__all__ = ["Generator", "default_rng"]

_WORD = 2**64 - 1
_PHILOX = "Philox4x32-10"
_SOURCE = "usmx::random::source(rng_key, rng_stream, rng_place + uint64_t(i))"


class Where(TypedDict, total=False):
    """Where numbers are made: keywords of the methods of `Generator`."""

    usm_type: UsmKind | None
    device: DeviceLike
    queue: QueueLike


# --- kernels


#: Functions that take a share of a block, which neighbours have together.
_OF_SHARES = ("uniform<", "normal<")


@cache
def _fill_kernel(function: str, result: str) -> _usmx.RawKernel:
    """Such a function for neighbours, whose parameters are two numbers."""
    t = _C[result]
    return _usmx.RawKernel(
        '#include "usmx/random.hpp"\n'
        "USMX_KERNEL(1) random_fill(uint64_t key, uint64_t stream, uint64_t place, "
        f"{t}* z, int64_t size, {t} a, {t} b) {{\n"
        f"  usmx::random::fill(key, stream, place, z, size, [&](const usmx::random::share<{t}>& s) "
        f"{{ return usmx::random::{function}(s, a, b); }});\n}}\n",
        "random_fill",
    )


@cache
def _kernel(function: str, parameters: str, result: str) -> _usmx.ElementwiseKernel:
    """Calls a function of kernels/random.hpp; parameters are written ``"float64 a, float64 b"``."""
    text = function if "(" in function else f"usmx::random::{function}({{}}, {{}})"
    names = ", ".join(each.split()[-1] for each in parameters.split(",") if each)
    source = _SOURCE
    if function.startswith(_OF_SHARES):
        source = _SOURCE.replace("source(", f"share<{_C[result]}>::at(")
    return _usmx.ElementwiseKernel(
        ", ".join(
            ["uint64 rng_key, uint64 rng_stream, uint64 rng_place", *filter(None, [parameters])]
        ),
        f"{result} z",
        f"z = {text.format(source, names)}",
        "random",
        preamble='#include "usmx/random.hpp"\n',
    )


_INTEGERS = "uint64_t(low) + usmx::random::integer({}, uint64_t(last) - uint64_t(low))"
_KEYS = "{0}(0).wide(0)"
# Bits of positive floats are in the order of the numbers.
_WEIGHTED_KEYS = (
    "__builtin_bit_cast(uint64_t, p > 0 ? usmx::random::exponential<double>({0}, 1 / p) "
    ": double(__builtin_inff()))"
)
_CHOOSE = """\
const uint64_t want = usmx::random::integer(
    usmx::random::source(rng_key, rng_stream, rng_place + uint64_t(i)),
    uint64_t(sums[length - 1] - 1));
int64_t low = 0, high = length - 1;
while (low < high) {
  const int64_t middle = low + (high - low) / 2;
  if (uint64_t(sums[middle]) > want) high = middle; else low = middle + 1;
}
z = low;"""
_GATHER = """\
const int64_t row = i / inner, lane = row / count;
z = x[(lane * length + order[(each ? row : row % count)]) * inner + i % inner];"""


@cache
def _choose() -> _usmx.ElementwiseKernel:
    return _usmx.ElementwiseKernel(
        "uint64 rng_key, uint64 rng_stream, uint64 rng_place, raw int64 sums, int64 length",
        "int64 z",
        _CHOOSE,
        "choose",
        preamble='#include "usmx/random.hpp"\n',
    )


@cache
def _gather() -> _usmx.ElementwiseKernel:
    return _usmx.ElementwiseKernel(
        "raw T x, raw int64 order, int64 length, int64 count, int64 inner, bool each",
        "T z",
        _GATHER,
        "gather",
    )


@cache
def _sum(what: str) -> _usmx.ReductionKernel:
    result = "bool" if what == "any" else "float64"
    return _usmx.ReductionKernel(
        f"{result} x",
        f"{result} y",
        "x",
        "a || b" if what == "any" else "a + b",
        "y = a",
        "false" if what == "any" else "0",
    )


def _order(keys: _usmx.ndarray, length: int) -> _usmx.ndarray:
    """The places in their lanes of sorted keys, lane after lane of a length."""
    if not keys.size:
        return keys.astype("int64")
    return sorting.argsort(keys.reshape(-1, length)).reshape(-1)


def _taken(
    x: _usmx.ndarray, order: _usmx.ndarray, axis: int, shape: tuple[int, ...] | None = None
) -> _usmx.ndarray:
    """Elements of `x` along an axis; in an order for each lane if `shape` is None."""
    each = shape is None
    counts = (x.shape[axis],) if shape is None else shape
    made = _usmx.empty(
        (*x.shape[:axis], *counts, *x.shape[axis + 1 :]),
        x.dtype,
        queue=x.queue,
        usm_type=_usmx._joint_kind(x),
    )
    if made.size:
        inner = prod(x.shape[axis + 1 :])
        flat = x.copy() if not x.flags.c_contiguous else x
        _gather()(
            flat.reshape(-1), order.reshape(-1), x.shape[axis], prod(counts), inner, each, out=made
        )
    return made


# --- arguments


def _shape(size: ShapeLike) -> tuple[int, ...]:
    lengths = tuple(index(n) for n in size) if isinstance(size, Sequence) else (index(size),)
    if any(n < 0 for n in lengths):
        raise ValueError(f"size: {size!r} has a negative length")
    return lengths


def _broadcast(values: Sequence[Any]) -> tuple[int, ...]:
    shape: list[int] = []
    for value in values:
        lengths = value.shape if isinstance(value, _usmx.ndarray) else ()
        shape = [1] * (len(lengths) - len(shape)) + shape
        for k in range(1, len(lengths) + 1):
            if shape[-k] == 1:
                shape[-k] = lengths[-k]
            elif lengths[-k] not in (1, shape[-k]):
                raise ValueError(
                    "the shapes "
                    + ", ".join(str(v.shape) for v in values if isinstance(v, _usmx.ndarray))
                    + " cannot be broadcast together"
                )
    return tuple(shape)


def _floating(dtype: DTypeLike) -> str:
    name = _usmx.dtype("float64" if dtype is None else dtype).name
    if name not in ("float32", "float64"):
        raise TypeError(f"dtype: expected float32 or float64, got {name}")
    return name


def _is_number(value: Any) -> bool:
    return not hasattr(value, "shape") and isinstance(value, (int, float))


def _name_of(low: float | None, high: float | None, above: float | None) -> str:
    if above is not None:
        return f"a number above {above}" + ("" if high is None else f", at most {high}")
    if high is None:
        return "a finite number" if low is None else f"a number that is not smaller than {low}"
    return f"a number from {low} to {high}"


def _axis(axis: Any, ndim: int) -> int:
    found: int = index(axis)
    if not -ndim <= found < ndim:
        raise ValueError(f"axis: {axis} is outside of an array of {ndim} dimensions")
    return found % ndim


#: What parameters of distributions may be.
_RANGES: dict[str, dict[str, float]] = {
    "any": {},
    "from 0": {"low": 0},
    "above 0": {"above": 0},
    "above 1": {"above": 1},
    "chance above 0": {"above": 0, "high": 1},
    "chance below 1": {"low": 0, "high": 1 - 2**-53},
}


def _new_lock() -> Lock:
    try:
        return Lock()
    except RuntimeError:  # what Python says without memory
        raise MemoryError("the host has not enough memory") from None


class Generator:
    """Random numbers of many distributions; see `default_rng`.

    Methods have the names and arguments of ``numpy.random.Generator``, and in addition
    ``usm_type=``, ``device=`` and ``queue=``, which say where the result is made. Without them it
    is made where the first array among the arguments is, else where `default_rng` was told. Without
    ``size`` the result has the shape of the arguments: no dimensions if all are numbers.

    Parameters
    ----------
    seed, usm_type, device, queue
        See `default_rng`.

    Examples
    --------
    >>> import usmx
    >>> rng = usmx.random.Generator(1)
    >>> x = rng.random(1000)
    >>> bool((x >= 0).all()), bool((x < 1).all())
    (True, True)
    """

    def __init__(
        self,
        seed: int | Sequence[int] | Any = None,
        *,
        usm_type: UsmKind | None = None,
        device: DeviceLike = None,
        queue: QueueLike = None,
    ) -> None:
        if seed is None:
            numbers = [randbits(128)]
        elif hasattr(seed, "generate_state"):  # NumPy's SeedSequence, whose children differ
            numbers = [int(word) for word in seed.generate_state(8)]
        else:
            given: Any = seed
            is_several = isinstance(given, Sequence) or getattr(given, "ndim", 0) > 0
            numbers = [index(n) for n in given] if is_several else [index(given)]
        if any(n < 0 for n in numbers):
            raise ValueError(f"seed: expected numbers that are not negative, got {seed!r}")
        self._where: Where = {"usm_type": usm_type, "device": device, "queue": queue}
        self._lock = _new_lock()
        self._start(numbers, [])

    def _start(self, seed: list[int], spawned: list[int]) -> None:
        self._seed, self._spawned, self._children, self._place = seed, spawned, 0, 0
        digest = sha256(repr((seed, spawned)).encode()).digest()
        self._key = int.from_bytes(digest[:8], "little")
        self._stream = int.from_bytes(digest[8:12], "little")

    # --- state

    @property
    def state(self) -> dict[str, Any]:
        """The state as a dictionary of texts, integers and lists, which can be assigned."""
        return {
            "bit_generator": _PHILOX,
            "seed": list(self._seed),
            "spawned": list(self._spawned),
            "children": self._children,
            "place": self._place,
        }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if not isinstance(state, dict) or state.get("bit_generator") != _PHILOX:
            raise ValueError(
                f"state: expected a dictionary with bit_generator={_PHILOX!r}, as the attribute "
                f"`state` gives it, got {state!r}"
            )
        with self._lock:
            self._start(list(state["seed"]), list(state["spawned"]))
            self._children, self._place = state["children"], state["place"]

    def __getstate__(self) -> dict[str, Any]:
        """The numbers to come and the kind of memory; queues and devices stay in their process."""
        return {"state": self.state, "usm_type": self._where.get("usm_type")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._where, self._lock = {"usm_type": state["usm_type"]}, _new_lock()
        self.state = state["state"]

    def __copy__(self) -> Self:
        made = type(self)(0, **self._where)
        made.state = self.state
        return made

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"Generator({_PHILOX}, place={self._place})"

    def spawn(self, n_children: int) -> list[Self]:
        """Generators of streams that do not meet this one or each other.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of Generator
            The same ones for the same seed and number of earlier children.

        Raises
        ------
        ValueError
            A negative number.
        """
        count = index(n_children)
        if count < 0:
            raise ValueError(f"n_children: {count}; expected 0 or more")
        with self._lock:
            first, self._children = self._children, self._children + count
        made = []
        for k in range(first, first + count):
            child = type(self)(0, **self._where)
            child._start(self._seed, [*self._spawned, k])
            made.append(child)
        return made

    def advance(self, delta: int) -> Self:
        """Skips numbers, or goes back if `delta` is negative; gives this generator."""
        with self._lock:
            self._place = (self._place + index(delta)) & _WORD
        return self

    # --- how numbers are made

    def _reserve(self, count: int) -> tuple[int, int, int]:
        with self._lock:
            place, self._place = self._place, (self._place + count) & _WORD
        return self._key, self._stream, place

    @staticmethod
    def _part(at: tuple[int, int, int], part: int) -> tuple[int, int, int]:
        """Blocks of the same places that other parts do not use; no distribution has 2048."""
        key, stream, place = at
        return key, stream | (2048 * part & 0xFFFFFFFF) << 32, place

    def _unexpected(self, argument: str, where: Where) -> TypeError:
        """The error for a keyword that the method that was called does not take."""
        import inspect
        import sys

        from . import _wrong_calls

        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_name.startswith("_"):
            frame = frame.f_back
        method = frame.f_code.co_name
        names = inspect.signature(getattr(type(self), method)).parameters
        free = [*names, *Where.__annotations__]
        return _wrong_calls.unexpected(
            f"usmx.random.{type(self).__name__}.{method}",
            argument,
            [one for one in free if one not in where and one not in ("self", "where")],
        )

    def _made_where(self, where: Where, arrays: Sequence[Any] = ()) -> Where:
        unknown = where.keys() - {"usm_type", "device", "queue"}
        if unknown:
            raise self._unexpected(min(unknown), where)
        first = next((a for a in arrays if isinstance(a, _usmx.ndarray)), None)
        # Not items(): CPython 3.11 ends the process if there is no memory for their iterator.
        made: Where = {**self._where}
        for name in where:
            if where[name] is not None:  # type: ignore[literal-required]
                made[name] = where[name]  # type: ignore[literal-required]
        if where.get("queue") is not None and where.get("device") is None:
            made["device"] = None
        if where.get("device") is not None and where.get("queue") is None:
            made["queue"] = None
        if first is not None:
            if where.get("queue") is None and where.get("device") is None:
                made["queue"], made["device"] = first.queue, None
            if where.get("usm_type") is None:
                made["usm_type"] = _usmx._joint_kind(*arrays)
        return made

    def _parameter(
        self,
        name: str,
        value: Any,
        where: Where,
        low: float | None = None,
        high: float | None = None,
        above: float | None = None,
    ) -> Any:
        """A number or an array of ours, whose elements are in the range."""
        expected = _name_of(low, high, above)
        if _is_number(value):
            fits = isfinite(value) and (low is None or value >= low)
            fits = fits and (above is None or value > above)
            if not fits or (high is not None and value > high):
                raise ValueError(f"{name}: expected {expected}, got {value!r}")
            return value
        array: Any = _usmx.asarray(value, **({} if isinstance(value, _usmx.ndarray) else where))
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
        bad = elementwise.logical_not(elementwise.isfinite(array))
        if low is not None:
            bad = elementwise.logical_or(bad, array < low)
        if above is not None:
            bad = elementwise.logical_or(bad, array <= above)
        if high is not None:
            bad = elementwise.logical_or(bad, array > high)
        if array.size and _sum("any")(bad).item():
            raise ValueError(f"{name}: expected {expected}, got an array in which another one is")
        return array

    def _make(
        self,
        function: str,
        parameters: str,
        result: str,
        values: Sequence[Any],
        size: ShapeLike | None,
        where: Where,
        out: _usmx.ndarray | None = None,
        at: tuple[int, int, int] | None = None,
    ) -> _usmx.ndarray:
        if out is not None:
            if not isinstance(out, _usmx.ndarray):
                raise TypeError(f"out: expected a usmx.ndarray, got {type(out).__name__}")
            if out.dtype.name != result:
                raise TypeError(f"out: expected elements of {result}, got {out.dtype}")
            if size is not None and _shape(size) != out.shape:
                raise ValueError(f"out: has the shape {out.shape}, and size is {size}")
        elif size is None:
            out = _usmx.empty(_broadcast(values), result, **self._made_where(where, values))
        else:
            shape = _shape(size)
            if any(isinstance(v, _usmx.ndarray) for v in values) and (
                _broadcast([*values, _usmx.empty(shape, "?")]) != shape
            ):
                raise ValueError(
                    f"size: the shape {_broadcast(values)} of the arguments cannot be broadcast to "
                    f"{shape}"
                )
            out = _usmx.empty(shape, result, **self._made_where(where, values))
        if out.size:
            at = self._reserve(out.size) if at is None else at
            if (
                function.startswith(_OF_SHARES)
                and out.flags.c_contiguous
                and all(map(_is_number, values))
            ):
                in_block = 16 // out.dtype.itemsize
                items = -(-(out.size + at[2] % in_block) // in_block)
                _fill_kernel(function, result)[items](*at, out.reshape(-1), out.size, *values)
            else:
                _kernel(function, parameters, result)(*at, *values, out=out)
        return out

    def _draw(
        self,
        function: str,
        parameters: dict[str, tuple[Any, str]],
        size: ShapeLike | None,
        dtype: DTypeLike,
        where: Where,
        result: str | None = None,
    ) -> _usmx.ndarray:
        """Numbers of a function of kernels/random.hpp; parameters are "any", "from 0", ... ."""
        t = _floating(dtype)
        made = self._made_where(where, [value for value, _ in parameters.values()])
        values = [
            self._parameter(name, value, made, **_RANGES[kind])
            for name, (value, kind) in parameters.items()
        ]
        declared = ", ".join(f"{t} p{k}" for k in range(len(values)))
        called = function if result else f"{function}<{_C[t]}>"
        return self._make(called, declared, result or t, values, size, where)

    # --- uniform numbers

    def random(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 0 to below 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape.
        dtype : {float32, float64}, optional
            By default that of `out`, else float64.
        out : ndarray, optional
            Where the numbers are written.

        Returns
        -------
        ndarray
        """
        t = _floating(out.dtype if dtype is None and out is not None else dtype)
        values = (0, 1)
        return self._make(f"uniform<{_C[t]}>", f"{t} a, {t} b", t, values, size, where, out)

    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from `low` to below `high`, which may be arrays.

        Raises
        ------
        ValueError
            If a bound is not finite.
        """
        parameters = {"low": (low, "any"), "high": (high, "any")}
        return self._draw("uniform", parameters, size, dtype, where)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = "int64",
        endpoint: bool = False,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Integers from `low` to below `high`, each with exactly the same chance.

        Parameters
        ----------
        low, high : int or array of int
            The bounds; ``integers(n)`` gives numbers from 0 to below n.
        size : int or tuple of int, optional
            The shape.
        dtype : optional
            Any type of integers, or bool. The numbers do not depend on it.
        endpoint : bool
            Whether `high` is one of the numbers.

        Raises
        ------
        ValueError
            If there is no number between the bounds, or a bound does not fit into `dtype`.
        """
        if high is None:
            low, high = 0, low
        t = _usmx.dtype(dtype)
        if t.kind not in "biu":
            raise TypeError(f"dtype: expected integers or bool, got {t.name}")
        bits = 1 if t.kind == "b" else 8 * t.itemsize - (t.kind == "i")
        least, largest = (-(2**bits) if t.kind == "i" else 0), 2**bits - 1
        made = self._made_where(where, (low, high))
        first = self._bound("low", low, least, largest, made)
        last = self._bound("high", high, least + (not endpoint), largest + (not endpoint), made)
        kind = "uint64" if t.kind == "u" and t.itemsize == 8 else "int64"
        if not isinstance(last, _usmx.ndarray):
            last -= not endpoint
        elif not endpoint:
            # As unsigned numbers, of which none is below its type.
            last = last.astype(kind) - 1
        wrong: Any = first > last
        if isinstance(wrong, _usmx.ndarray):
            wrong = wrong.size and _sum("any")(wrong).item()
        if wrong:
            raise ValueError(
                f"low, high: there is no integer from {low!r} to "
                f"{'' if endpoint else 'below '}{high!r}"
            )
        first, last = (v.astype(kind) if isinstance(v, _usmx.ndarray) else v for v in (first, last))
        parameters = f"{kind} low, {kind} last"
        return self._make(_INTEGERS, parameters, t.name, (first, last), size, where)

    def _bound(self, name: str, value: Any, least: int, largest: int, where: Where) -> Any:
        if not hasattr(value, "shape") and not isinstance(value, Sequence):
            value = index(value)
            if not least <= value <= largest:
                raise ValueError(
                    f"{name}: expected an integer from {least} to {largest}, got {value}"
                )
            return value
        array: Any = _usmx.asarray(value, **({} if isinstance(value, _usmx.ndarray) else where))
        if array.dtype.kind not in "biu":
            raise TypeError(f"{name}: expected integers, got {array.dtype}")
        if array.size and _sum("any")((array < least) | (array > largest)).item():
            raise ValueError(
                f"{name}: expected integers from {least} to {largest}, got an array with others"
            )
        return array

    def bytes(self, length: int) -> bytes:
        """Random bytes, in the memory of the host."""
        return self.integers(0, 256, length, "uint8", usm_type="host").to_numpy().tobytes()

    # --- other distributions

    def standard_normal(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the normal distribution of mean 0 and deviation 1; see `random`."""
        t = _floating(out.dtype if dtype is None and out is not None else dtype)
        return self._make(f"normal<{_C[t]}>", f"{t} a, {t} b", t, (0, 1), size, where, out)

    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the normal distribution of mean `loc` and standard deviation `scale`.

        Raises
        ------
        ValueError
            If `scale` is negative.
        """
        parameters = {"loc": (loc, "any"), "scale": (scale, "from 0")}
        return self._draw("normal", parameters, size, dtype, where)

    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the exponential distribution of mean 1; see `random`."""
        t = _floating(out.dtype if dtype is None and out is not None else dtype)
        return self._make(f"exponential<{_C[t]}>", f"{t} a", t, (1,), size, where, out)

    def exponential(
        self,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the exponential distribution of mean `scale`.

        Raises
        ------
        ValueError
            If `scale` is negative.
        """
        return self._draw("exponential", {"scale": (scale, "from 0")}, size, dtype, where)

    def standard_gamma(
        self,
        shape: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the gamma distribution of scale 1; see `gamma`."""
        t = _floating(out.dtype if dtype is None and out is not None else dtype)
        value = self._parameter("shape", shape, self._made_where(where, (shape,)), 0)
        return self._make(f"gamma<{_C[t]}>", f"{t} a, {t} b", t, (value, 1), size, where, out)

    def gamma(
        self,
        shape: Any,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the gamma distribution, of mean ``shape * scale``.

        Raises
        ------
        ValueError
            If `shape` or `scale` is negative.
        """
        parameters = {"shape": (shape, "from 0"), "scale": (scale, "from 0")}
        return self._draw("gamma", parameters, size, dtype, where)

    def poisson(
        self, lam: Any = 1.0, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """Numbers of events, as int64, where `lam` are expected.

        Raises
        ------
        ValueError
            If `lam` is negative or larger than 9.2e18.
        """
        value = self._parameter("lam", lam, self._made_where(where, (lam,)), 0, 9.2e18)
        return self._make("poisson", "float64 a", "int64", (value,), size, where)

    def binomial(
        self, n: Any, p: Any, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """How many of `n` trials succeed, as int64, where each does with the chance `p`.

        Raises
        ------
        ValueError
            If `n` is negative, or `p` is not from 0 to 1.
        """
        made = self._made_where(where, (n, p))
        values = [
            self._bound("n", n, 0, 2**63 - 1, made),
            self._parameter("p", p, made, 0, 1),
        ]
        return self._make("binomial", "int64 a, float64 b", "int64", values, size, where)

    # --- distributions that are made of those above

    def lognormal(
        self,
        mean: Any = 0.0,
        sigma: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers whose logarithms are normal, of mean `mean` and deviation `sigma`.

        Raises
        ------
        ValueError
            If `sigma` is negative.
        """
        parameters = {"mean": (mean, "any"), "sigma": (sigma, "from 0")}
        return self._draw("lognormal", parameters, size, dtype, where)

    def laplace(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Laplace distribution: two exponential ones, back to back.

        Raises
        ------
        ValueError
            If `scale` is negative.
        """
        parameters = {"loc": (loc, "any"), "scale": (scale, "from 0")}
        return self._draw("laplace", parameters, size, dtype, where)

    def logistic(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the logistic distribution of mean `loc`.

        Raises
        ------
        ValueError
            If `scale` is negative.
        """
        parameters = {"loc": (loc, "any"), "scale": (scale, "from 0")}
        return self._draw("logistic", parameters, size, dtype, where)

    def gumbel(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Gumbel distribution, of largest values, with the mode `loc`.

        Raises
        ------
        ValueError
            If `scale` is negative.
        """
        parameters = {"loc": (loc, "any"), "scale": (scale, "from 0")}
        return self._draw("gumbel", parameters, size, dtype, where)

    def rayleigh(
        self,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Rayleigh distribution: lengths of normal vectors in two dimensions.

        Raises
        ------
        ValueError
            If `scale` is negative.
        """
        parameters = {"scale": (scale, "from 0")}
        return self._draw("rayleigh", parameters, size, dtype, where)

    def weibull(
        self,
        a: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Weibull distribution of scale 1 and shape `a`.

        Raises
        ------
        ValueError
            If `a` is negative.
        """
        parameters = {"a": (a, "from 0")}
        return self._draw("weibull", parameters, size, dtype, where)

    def pareto(
        self,
        a: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Lomax distribution of shape `a`, which is Pareto's moved to 0.

        Raises
        ------
        ValueError
            If `a` is not above 0.
        """
        parameters = {"a": (a, "above 0")}
        return self._draw("pareto", parameters, size, dtype, where)

    def power(
        self,
        a: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 0 to 1 with the density ``a * x**(a - 1)``.

        Raises
        ------
        ValueError
            If `a` is not above 0.
        """
        parameters = {"a": (a, "above 0")}
        return self._draw("power", parameters, size, dtype, where)

    def chisquare(
        self,
        df: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the chi-squared distribution with `df` degrees of freedom.

        Raises
        ------
        ValueError
            If `df` is not above 0.
        """
        parameters = {"df": (df, "above 0")}
        return self._draw("chi_squared", parameters, size, dtype, where)

    def noncentral_chisquare(
        self,
        df: Any,
        nonc: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the chi-squared distribution around `nonc`.

        Raises
        ------
        ValueError
            If `df` is not above 0, or `nonc` is negative.
        """
        parameters = {"df": (df, "above 0"), "nonc": (nonc, "from 0")}
        return self._draw("noncentral_chi_squared", parameters, size, dtype, where)

    def f(
        self,
        dfnum: Any,
        dfden: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the F distribution: a ratio of means of squares.

        Raises
        ------
        ValueError
            If a parameter is not above 0.
        """
        parameters = {"dfnum": (dfnum, "above 0"), "dfden": (dfden, "above 0")}
        return self._draw("f", parameters, size, dtype, where)

    def standard_t(
        self,
        df: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of Student's t distribution with `df` degrees of freedom.

        Raises
        ------
        ValueError
            If `df` is not above 0.
        """
        parameters = {"df": (df, "above 0")}
        return self._draw("student", parameters, size, dtype, where)

    def beta(
        self,
        a: Any,
        b: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 0 to 1 of the beta distribution, of mean ``a / (a + b)``.

        Raises
        ------
        ValueError
            If a parameter is not above 0.
        """
        parameters = {"a": (a, "above 0"), "b": (b, "above 0")}
        return self._draw("beta", parameters, size, dtype, where)

    def wald(
        self,
        mean: Any,
        scale: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the inverse Gaussian distribution.

        Raises
        ------
        ValueError
            If a parameter is not above 0.
        """
        parameters = {"mean": (mean, "above 0"), "scale": (scale, "above 0")}
        return self._draw("wald", parameters, size, dtype, where)

    def standard_cauchy(
        self, size: ShapeLike | None = None, dtype: DTypeLike = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """Numbers of the Cauchy distribution, which has no mean."""
        return self._draw("cauchy", {"scale": (1, "any")}, size, dtype, where)

    def triangular(
        self,
        left: Any,
        mode: Any,
        right: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from `left` to `right`, of which those near `mode` are the most frequent.

        Raises
        ------
        ValueError
            If `mode` is not between the bounds, or those are equal.
        """
        made = self._made_where(where, (left, mode, right))
        left, mode, right = (
            self._parameter(name, value, made)
            for name, value in (("left", left), ("mode", mode), ("right", right))
        )
        wrong: Any = (left > mode) | (mode > right) | (left == right)
        if isinstance(wrong, _usmx.ndarray):
            wrong = wrong.size and _sum("any")(wrong).item()
        if wrong:
            raise ValueError(
                f"left, mode, right: expected left <= mode <= right and left < right, got "
                f"{left!r}, {mode!r}, {right!r}"
            )
        parameters = {"left": (left, "any"), "mode": (mode, "any"), "right": (right, "any")}
        return self._draw("triangular", parameters, size, dtype, where)

    def geometric(
        self,
        p: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """How many trials the first success takes, as int64; each succeeds with the chance `p`.

        Raises
        ------
        ValueError
            If `p` is not above 0, or larger than 1.
        """
        parameters = {"p": (p, "chance above 0")}
        return self._draw("geometric", parameters, size, None, where, "int64")

    def negative_binomial(
        self,
        n: Any,
        p: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """How many trials fail before `n` succeed, as int64, where each does with the chance `p`.

        Raises
        ------
        ValueError
            If `n` or `p` is not above 0, or `p` is larger than 1.
        """
        parameters = {"n": (n, "above 0"), "p": (p, "chance above 0")}
        return self._draw("negative_binomial", parameters, size, None, where, "int64")

    def logseries(
        self,
        p: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the logarithmic series distribution, as int64.

        Raises
        ------
        ValueError
            If `p` is not from 0 to below 1.
        """
        parameters = {"p": (p, "chance below 1")}
        return self._draw("logarithmic", parameters, size, None, where, "int64")

    def zipf(
        self,
        a: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 1 on, as int64, with chances like ``k**-a``.

        Raises
        ------
        ValueError
            If `a` is not above 1.
        """
        parameters = {"a": (a, "above 1")}
        return self._draw("zipf", parameters, size, None, where, "int64")

    def multinomial(
        self, n: Any, pvals: Any, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """How often each of several results occurs in `n` trials, as int64.

        Parameters
        ----------
        n : int or array of int
            How many trials.
        pvals : array
            The chances of the results along the last axis; the sum must be at most 1, and the last
            result has what is left.
        size : int or tuple of int, optional
            The shape without the axis of results.

        Raises
        ------
        ValueError
            If `n` is negative, or chances do not fit.
        """
        made = self._made_where(where, (n, pvals))
        chances = self._table("pvals", pvals, made, 0, 1)
        if chances.ndim == 0 or chances.shape[-1] == 0:
            raise ValueError(f"pvals: expected one chance or more, got the shape {chances.shape}")
        columns = [chances[..., k] for k in range(chances.shape[-1])]
        left = self._bound("n", n, 0, 2**63 - 1, made)
        shape = _broadcast([left, columns[0]]) if size is None else _shape(size)
        left = _usmx.broadcast_to(
            _usmx.full((), left, "int64", **made)
            if isinstance(left, int)
            else left.astype("int64"),
            shape,
        )
        at = self._reserve(prod(shape))
        rest, counts = columns[0] * 0 + 1, []
        for k, column in enumerate(columns[:-1]):
            if _sum("any")(column > rest + 1e-12).item():
                raise ValueError("pvals: expected chances with a sum of at most 1")
            # Of the trials that are left. Sums of chances are rounded.
            part = elementwise.minimum(column / elementwise.maximum(rest, 1e-300), 1.0)
            counts.append(
                self._make(
                    "binomial",
                    "int64 a, float64 b",
                    "int64",
                    (left, part),
                    shape,
                    made,
                    at=self._part(at, k),
                )
            )
            left, rest = left - counts[-1], rest - column
        return manipulation.stack([*counts, left], axis=-1)

    def dirichlet(
        self, alpha: Any, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """Numbers from 0 to 1 with the sum 1 along the last axis.

        Parameters
        ----------
        alpha : array of one dimension
            The larger, the closer to ``alpha / sum(alpha)``.
        size : int or tuple of int, optional
            The shape without the last axis.

        Raises
        ------
        ValueError
            If a number of `alpha` is not above 0.
        """
        made = self._made_where(where, (alpha,))
        table = self._table("alpha", alpha, made, above=0)
        if table.ndim != 1 or not table.size:
            raise ValueError(f"alpha: expected one dimension, got the shape {table.shape}")
        shapes: list[float] = table.tolist()
        lengths = () if size is None else _shape(size)
        at = self._reserve(prod(lengths))
        # A stick is broken: sums of gamma variates of small shapes could be 0.
        left, parts = _usmx.ones(lengths, "float64", **made), []
        for k, shape in enumerate(shapes[:-1]):
            taken = self._make(
                "beta<double>",
                "float64 a, float64 b",
                "float64",
                (shape, sum(shapes[k + 1 :])),
                lengths,
                made,
                at=self._part(at, k),
            )
            parts.append(left * taken)
            left = left * (1 - taken)
        return manipulation.stack([*parts, left], axis=-1)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Normal vectors, along the last axis.

        They are made of normal numbers by a product with a matrix, which devices round each in
        their way: the last bits of vectors are not those of other devices.

        Parameters
        ----------
        mean : array of one dimension
            Of the vectors.
        cov : array of two dimensions
            The covariances: symmetric, and positive semidefinite.
        size : int or tuple of int, optional
            The shape without the last axis.

        Raises
        ------
        ValueError
            If the shapes do not fit, or `cov` is not positive semidefinite.
        """
        from . import linalg

        made = self._made_where(where, (mean, cov))
        centre = self._table("mean", mean, made)
        spread = self._table("cov", cov, made)
        if centre.ndim != 1 or spread.shape != (centre.size, centre.size):
            raise ValueError(
                f"mean, cov: expected the shapes (n,) and (n, n), got {centre.shape} and "
                f"{spread.shape}"
            )
        near = elementwise.abs(spread) * 1e-8
        if _sum("any")(elementwise.abs(spread - spread.T) > near).item():
            raise ValueError("cov: is not symmetric")
        try:
            factor = linalg.cholesky(spread)
        except linalg.LinAlgError:
            values, axes = linalg.eigh(spread)
            if _sum("any")(values < -1e-8 * elementwise.abs(values[-1])).item():
                raise ValueError("cov: is not positive semidefinite") from None
            factor = axes * elementwise.sqrt(elementwise.maximum(values, 0.0))
        lengths = () if size is None else _shape(size)
        normal = self.standard_normal((*lengths, centre.size), **made)
        vectors: _usmx.ndarray = normal @ factor.T + centre
        return vectors

    def _table(self, name: str, value: Any, where: Where, *limits: Any, **more: Any) -> Any:
        """An array of float64, whose elements are in the range of `_parameter`."""
        given = {} if isinstance(value, _usmx.ndarray) else where
        array = self._parameter(name, _usmx.asarray(value, **given), where, *limits, **more)
        return array.astype("float64", copy=False)

    # --- orders and samples

    def _keys(self, count: int, where: Where) -> _usmx.ndarray:
        return self._make(_KEYS, "", "uint64", (), count, where)

    def choice(
        self,
        a: Any,
        size: ShapeLike | None = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """A sample of an array.

        Parameters
        ----------
        a : int or array
            What to choose from; a number n is ``arange(n)``.
        size : int or tuple of int, optional
            The shape of the sample; by default one element.
        replace : bool
            Whether an element can be chosen again.
        p : array, optional
            The chance of each element; by default all have the same. The sum must be 1.
        axis : int
            Along which elements of `a` are chosen.
        shuffle : bool
            Has no effect: samples without replacement are in a random order.

        Raises
        ------
        ValueError
            If `a` is empty or has too few elements, or the chances do not fit to it.
        """
        del shuffle
        made = self._made_where(where, (a, p))
        source: Any = None
        if hasattr(a, "shape") or isinstance(a, Sequence):
            source = _usmx.asarray(a, **({} if isinstance(a, _usmx.ndarray) else made))
            if source.ndim == 0:
                raise ValueError("a: expected an int or an array with dimensions, got 0 dimensions")
            axis = _axis(axis, source.ndim)
            length = source.shape[axis]
        else:
            length = index(a)
            if length < 0:
                raise ValueError(f"a: expected a number that is not negative, got {a}")
        shape = () if size is None else _shape(size)
        count = prod(shape)
        if count and not length:
            raise ValueError("a: there is nothing to choose from")
        chances = None if p is None else self._chances(p, length, made)
        if replace:
            order = self._chosen(length, chances, shape, made)
        else:
            few = length
            if chances is not None:
                few = int(_sum("all")((chances > 0).astype("float64")).item())
            if count > few:
                raise ValueError(
                    f"size: {count} elements are to be chosen without replacement of {few}"
                )
            if chances is None:
                keys = self._keys(length, made)
            else:
                keys = self._make(_WEIGHTED_KEYS, "float64 p", "uint64", (chances,), length, made)
            order = _order(keys, length)[:count].reshape(shape)
        return order if source is None else _taken(source, order, axis, shape)

    def _chances(self, p: Any, length: int, where: Where) -> _usmx.ndarray:
        chances: Any = self._parameter("p", p, where, 0, 1)
        if not isinstance(chances, _usmx.ndarray) or chances.shape != (length,):
            got = getattr(chances, "shape", chances)
            raise ValueError(f"p: expected the shape {(length,)} of what is chosen from, got {got}")
        array: _usmx.ndarray = chances.astype("float64")
        total: float = _sum("all")(array).item()
        if abs(total - 1) > 1.5e-8:
            raise ValueError(f"p: expected chances with the sum 1, got the sum {total}")
        return array

    def _chosen(
        self, length: int, chances: _usmx.ndarray | None, shape: tuple[int, ...], where: Where
    ) -> _usmx.ndarray:
        if chances is None:
            parameters = "int64 low, int64 last"
            return self._make(_INTEGERS, parameters, "int64", (0, length - 1), shape, where)
        # As integers, whose sums are the same in every order.
        sums = _sums()((chances * 2.0**62).astype("int64"))
        made = _usmx.empty(shape, "int64", **where)
        if made.size:
            _choose()(*self._reserve(made.size), sums, length, out=made)
        return made

    def permutation(self, x: Any, axis: int = 0, **where: Unpack[Where]) -> _usmx.ndarray:
        """A copy of an array in a random order along an axis, or ``arange(x)`` in one.

        Every order has the same chance, but for equal keys of 64 bits.
        """
        made = self._made_where(where, (x,))
        if not hasattr(x, "shape") and not isinstance(x, Sequence):
            length = index(x)
            if length < 0:
                raise ValueError(f"x: expected a number that is not negative, got {x}")
            return _order(self._keys(length, made), length)
        source: Any = _usmx.asarray(x, **({} if isinstance(x, _usmx.ndarray) else made))
        axis = _axis(axis, source.ndim)
        length = source.shape[axis]
        return _taken(source, _order(self._keys(length, made), length), axis, (length,))

    def permuted(
        self,
        x: Any,
        *,
        axis: int | None = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """A copy of an array in random orders: another one for each line along the axis.

        Without an axis all elements are in one order. The result is written to `out`, if it is
        given, which may be `x`.
        """
        made = self._made_where(where, (x,))
        source: Any = _usmx.asarray(x, **({} if isinstance(x, _usmx.ndarray) else made))
        if axis is None:
            flat = source.copy().reshape(-1)
            order = _order(self._keys(flat.size, made), flat.size)
            result = _taken(flat, order, 0).reshape(source.shape)
        else:
            axis = _axis(axis, source.ndim)
            others = [k for k in range(source.ndim) if k != axis]
            moved = source.transpose((*others, axis))
            order = _order(self._keys(source.size, made), source.shape[axis])
            result = _taken(moved, order, source.ndim - 1)
            result = result.transpose([(*others, axis).index(k) for k in range(source.ndim)])
        if out is None:
            return result
        out[...] = result
        return out

    def shuffle(self, x: _usmx.ndarray, axis: int = 0) -> None:
        """Puts an array into a random order along an axis, in place."""
        if not isinstance(x, _usmx.ndarray):
            raise TypeError(
                f"x: expected a usmx.ndarray, got {type(x).__name__}; permutation() makes a copy"
            )
        x[...] = self.permutation(x, axis)


@cache
def _sums() -> _usmx.ScanKernel:
    return _usmx.ScanKernel("int64 x", "int64 y", "x", "a + b")


#: The types of the results -> their names in C++.
_C = {"float32": "float", "float64": "double"}


def default_rng(
    seed: int | Sequence[int] | Generator | Any = None,
    *,
    usm_type: UsmKind | None = None,
    device: DeviceLike = None,
    queue: QueueLike = None,
) -> Generator:
    """A generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator or Generator, optional
        The same seed gives the same numbers. None takes one from the system, and a generator is
        returned as it is. NumPy's ``SeedSequence`` is a seed, also one of those that its
        ``spawn()`` gives to workers; of its bit generators and generators the seed sequence is
        taken.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory of the results.
    device, queue : optional
        Where they are made.

    Returns
    -------
    Generator

    Examples
    --------
    >>> from usmx.random import default_rng
    >>> rng = default_rng(1)
    >>> rng.normal(size=(2, 3)).shape
    (2, 3)
    """
    if isinstance(seed, Generator):
        return seed
    seed = getattr(getattr(seed, "bit_generator", seed), "seed_seq", seed)
    return Generator(seed, usm_type=usm_type, device=device, queue=queue)


def __getattr__(name: str) -> Any:
    """NumPy's oldest functions, which share one generator."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("._global_random", __package__).find(name)


_explained.explain(globals())
