"""Random numbers, made where the arrays are.

``default_rng(seed)`` gives a `Generator` with the methods of NumPy's. Number k of a generator
depends on its seed and on k alone: it is the same on every device, for every shape, and however
many numbers are asked for at a time. The numbers are those of Philox4x32-10, not NumPy's.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from secrets import randbits
from typing import Any, Self, TypedDict, Unpack

from . import _explained, _usmx
from ._namespace import elementwise, manipulation, selection, sorting, statistics
from .typing import DeviceLike, DTypeLike, QueueLike, ShapeLike, UsmKind

__all__ = ["Generator", "default_rng"]

_WORD = 2**64 - 1
_MOST_CHILDREN = 2**31 - 1
_PHILOX = "Philox4x32-10"


class Where(TypedDict, total=False):
    """Where numbers are made: keywords of the methods of `Generator`."""

    usm_type: UsmKind | None
    device: DeviceLike
    queue: QueueLike


# --- arguments


def _order(keys: _usmx.ndarray, length: int) -> _usmx.ndarray:
    """The places in their lanes of sorted keys, lane after lane of a length."""
    if not keys.size:
        return keys.astype("int64")
    return sorting.argsort(keys.reshape(-1, length)).reshape(-1)


def _axis(axis: Any, ndim: int) -> int:
    found: int = index(axis)
    if not -ndim <= found < ndim:
        raise ValueError(f"axis: {axis} is outside of an array of {ndim} dimensions")
    return found % ndim


def _is_scalar(value: Any) -> bool:
    return not hasattr(value, "shape") and not isinstance(value, Sequence)


def _array(value: Any, where: Where) -> Any:
    """An array of ours; of other objects one is made there."""
    return _usmx.asarray(value, **({} if isinstance(value, _usmx.ndarray) else where))


def _parameter(value: Any, where: Where) -> Any:
    """A number or an array of ours."""
    is_number = isinstance(value, (int, float)) and not hasattr(value, "shape")
    return value if is_number else _array(value, where)


def _check_order(low: Any, high: Any) -> None:
    """Refuse an interval that ends before it begins, as NumPy does."""
    wrong = low > high
    if statistics.any(wrong).item() if isinstance(wrong, _usmx.ndarray) else wrong:
        raise ValueError("high: is below low; expected the end of an interval that begins at low")


def _bound(value: Any, where: Where) -> Any:
    """An integer or an array of ours."""
    return index(value) if _is_scalar(value) else _array(value, where)


def _lengths(size: ShapeLike) -> tuple[int, ...]:
    return tuple(index(n) for n in size) if isinstance(size, Sequence) else (index(size),)


def _real(name: str, value: Any, where: Where) -> _usmx.ndarray:
    """An array of float64 without NaN and infinities."""
    array = _array(value, where)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
    made: _usmx.ndarray = array.astype("float64", copy=False)
    if not statistics.all(elementwise.isfinite(made)).item():
        raise ValueError(f"{name}: expected finite numbers, got an array in which another one is")
    return made


class Generator:
    """Random numbers of many distributions; see `default_rng`.

    Methods have the names and arguments of ``numpy.random.Generator``, and in addition
    ``usm_type=``, ``device=`` and ``queue=``, which say where the result is made. Without them it
    is made where the first array among the arguments is, else where `default_rng` was told. Without
    ``size`` the result has the shape of the arguments: no dimensions if all are numbers.

    Parameters
    ----------
    seed, usm_type, device, queue : optional
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
            try:
                numbers = [index(n) for n in given] if is_several else [index(given)]
            except TypeError:
                what = f"seed: {given!r} ({type(given).__name__})"
                raise TypeError(f"{what}; expected an integer or several") from None
        if any(n < 0 for n in numbers):
            raise ValueError(f"seed: expected numbers that are not negative, got {seed!r}")
        self._where: Where = {"usm_type": usm_type, "device": device, "queue": queue}
        self._stream = _usmx._RandomStream([str(n) for n in numbers])

    # --- state

    @property
    def state(self) -> dict[str, Any]:
        """The state as a dictionary of texts, integers and lists, which can be assigned."""
        seed, spawned, children, place = self._stream.state()
        return {
            "bit_generator": _PHILOX,
            "seed": [int(n) for n in seed],
            "spawned": spawned,
            "children": children,
            "place": place,
        }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if not isinstance(state, dict) or state.get("bit_generator") != _PHILOX:
            raise ValueError(
                f"state: expected a dictionary with bit_generator={_PHILOX!r}, as the attribute "
                f"`state` gives it, got {state!r}"
            )
        seed = [str(index(n)) for n in state["seed"]]
        self._stream.become(
            _usmx._RandomStream(seed, state["spawned"], state["children"], state["place"])
        )

    def __getstate__(self) -> dict[str, Any]:
        """The numbers to come and the kind of memory; queues and devices stay in their process."""
        return {"state": self.state, "usm_type": self._where.get("usm_type")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._where, self._stream = {"usm_type": state["usm_type"]}, _usmx._RandomStream(["0"])
        self.state = state["state"]

    def __copy__(self) -> Self:
        made = type(self)(0, **self._where)
        made.state = self.state
        return made

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"Generator({_PHILOX}, place={self.state['place']})"

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
        OverflowError
            More than 2147483647, as in NumPy.
        """
        count = index(n_children)
        if count < 0:
            raise ValueError(f"n_children: {count}; expected 0 or more")
        if count > _MOST_CHILDREN:
            raise OverflowError(f"n_children: {count}; expected at most {_MOST_CHILDREN}")
        made = []
        for stream in self._stream.spawn(count):
            child = type(self)(0, **self._where)
            child._stream = stream
            made.append(child)
        return made

    def advance(self, delta: int) -> Self:
        """Skip numbers, as if they had been asked for.

        Parameters
        ----------
        delta : int
            How many; a negative number goes back.

        Returns
        -------
        Generator
            Itself.
        """
        self._stream.advance(index(delta) & _WORD)
        return self

    # --- how numbers are made

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

    def _draw(
        self,
        distribution: str,
        parameters: Sequence[Any],
        size: ShapeLike | None,
        dtype: DTypeLike,
        where: Where,
        out: _usmx.ndarray | None = None,
    ) -> _usmx.ndarray:
        """Numbers of a distribution that C++ names, as most are here."""
        made = self._made_where(where, parameters)
        values = [_parameter(value, made) for value in parameters]
        return self._stream.draw(distribution, values, size, dtype, out, *self._place(made))

    @staticmethod
    def _place(where: Where) -> tuple[Any, Any, Any]:
        return where.get("usm_type"), where.get("device"), where.get("queue")

    # --- uniform numbers

    def random(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 0 to below 1, each with the same chance.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; by default that of `out`, else no dimensions.
        dtype : {float32, float64}, optional
            By default that of `out`, else float64.
        out : ndarray, optional
            Where the numbers are written.
        **where : optional
            Where the result is made: ``usm_type``, ``device`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            `out`, if it is given.
        """
        return self._draw("uniform", (0, 1), size, dtype, where, out)

    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from `low` to below `high`, each with the same chance.

        Parameters
        ----------
        low, high : float or array
            The bounds; arrays are broadcast.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            A bound is not finite, or `high` is below `low`.
        """
        made = self._made_where(where, (low, high))
        _check_order(_parameter(low, made), _parameter(high, made))
        return self._draw("uniform", (low, high), size, dtype, where)

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
        dtype : dtype, optional
            Any type of integers, or bool. The numbers do not depend on it.
        endpoint : bool
            Whether `high` is one of the numbers.
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of `dtype`.

        Raises
        ------
        ValueError
            There are no numbers between the bounds, or a bound does not fit into `dtype`.
        """
        if high is None:
            low, high = 0, low
        made = self._made_where(where, (low, high))
        bounds = [_bound(low, made), _bound(high, made)]
        if not endpoint and _is_scalar(bounds[1]) and bounds[1] == 2**64:
            bounds[1], endpoint = _WORD, True
        return self._stream.integers(bounds, size, dtype, endpoint, *self._place(made))

    def bytes(self, length: int) -> bytes:
        """Random bytes, in the memory of the host.

        Parameters
        ----------
        length : int
            How many.

        Returns
        -------
        bytes
        """
        return self.integers(0, 256, length, "uint8", usm_type="host").to_numpy().tobytes()

    # --- other distributions

    def standard_normal(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the normal distribution of mean 0 and standard deviation 1.

        Parameters
        ----------
        size, dtype, out, **where : optional
            Shape, type and place of the numbers, as those of `random`.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.
        """
        return self._draw("normal", (0, 1), size, dtype, where, out)

    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the normal distribution.

        Parameters
        ----------
        loc : float or array
            The mean.
        scale : float or array
            The standard deviation.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `scale` is negative.
        """
        return self._draw("normal", (loc, scale), size, dtype, where)

    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the exponential distribution of mean 1.

        Parameters
        ----------
        size, dtype, out, **where : optional
            Shape, type and place of the numbers, as those of `random`.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.
        """
        return self._draw("exponential", (1,), size, dtype, where, out)

    def exponential(
        self,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the exponential distribution: times between events that happen at random.

        Parameters
        ----------
        scale : float or array
            The mean.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `scale` is negative.
        """
        return self._draw("exponential", (scale,), size, dtype, where)

    def standard_gamma(
        self,
        shape: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the gamma distribution of scale 1.

        Parameters
        ----------
        shape : float or array
            The mean, and the variance.
        size, dtype, out, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `shape` is negative.
        """
        return self._draw("gamma", (shape, 1), size, dtype, where, out)

    def gamma(
        self,
        shape: Any,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the gamma distribution, of mean ``shape * scale``.

        Parameters
        ----------
        shape : float or array
            The form of the distribution: 1 is exponential, and large ones are nearly normal.
        scale : float or array
            By which numbers are multiplied.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `shape` or `scale` is negative.
        """
        return self._draw("gamma", (shape, scale), size, dtype, where)

    def poisson(
        self, lam: Any = 1.0, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """How many events happen where `lam` are expected.

        Parameters
        ----------
        lam : float or array
            The mean, and the variance.
        size, **where : optional
            Shape and place of the numbers, as those of `random`; without `size` the shape of the
            array.

        Returns
        -------
        ndarray
            Of int64.

        Raises
        ------
        ValueError
            `lam` is negative or larger than 9.2e18.
        """
        return self._draw("poisson", (lam,), size, None, where)

    def binomial(
        self, n: Any, p: Any, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """How many of `n` trials succeed, where each does with the chance `p`.

        Parameters
        ----------
        n : int or array of integers
            How many trials.
        p : float or array
            From 0 to 1.
        size, **where : optional
            Shape and place of the numbers, as those of `random`; without `size` the shape of the
            arrays.

        Returns
        -------
        ndarray
            Of int64.

        Raises
        ------
        ValueError
            `n` is negative, or `p` is not from 0 to 1.
        """
        return self._draw("binomial", (n, p), size, None, where)

    # --- distributions that are made of those above

    def lognormal(
        self,
        mean: Any = 0.0,
        sigma: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers whose logarithms are of the normal distribution.

        Parameters
        ----------
        mean : float or array
            The mean of the logarithms.
        sigma : float or array
            The standard deviation of the logarithms.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `sigma` is negative.
        """
        return self._draw("lognormal", (mean, sigma), size, dtype, where)

    def laplace(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Laplace distribution: two exponential ones, back to back.

        Parameters
        ----------
        loc : float or array
            The mean.
        scale : float or array
            The mean distance from `loc`.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `scale` is negative.
        """
        return self._draw("laplace", (loc, scale), size, dtype, where)

    def logistic(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the logistic distribution.

        Parameters
        ----------
        loc : float or array
            The mean.
        scale : float or array
            The width; the standard deviation is ``scale * pi / sqrt(3)``.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `scale` is negative.
        """
        return self._draw("logistic", (loc, scale), size, dtype, where)

    def gumbel(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Gumbel distribution, which largest values of many numbers have.

        Parameters
        ----------
        loc : float or array
            The mode: where numbers are the most frequent.
        scale : float or array
            The width; the standard deviation is ``scale * pi / sqrt(6)``.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `scale` is negative.
        """
        return self._draw("gumbel", (loc, scale), size, dtype, where)

    def rayleigh(
        self,
        scale: Any = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Rayleigh distribution: lengths of normal vectors in two dimensions.

        Parameters
        ----------
        scale : float or array
            The standard deviation along each axis of the vectors, and the mode.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `scale` is negative.
        """
        return self._draw("rayleigh", (scale,), size, dtype, where)

    def weibull(
        self,
        a: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Weibull distribution of scale 1.

        Parameters
        ----------
        a : float or array
            The form of the distribution; 1 is exponential.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `a` is negative.
        """
        return self._draw("weibull", (a,), size, dtype, where)

    def pareto(
        self,
        a: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the Lomax distribution, which is Pareto's moved to 0.

        Parameters
        ----------
        a : float or array
            The smaller, the more of the numbers are large.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `a` is not above 0.
        """
        return self._draw("pareto", (a,), size, dtype, where)

    def power(
        self,
        a: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 0 to 1 with the density ``a * x**(a - 1)``.

        Parameters
        ----------
        a : float or array
            1 gives each number the same chance.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `a` is not above 0.
        """
        return self._draw("power", (a,), size, dtype, where)

    def chisquare(
        self,
        df: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the chi-squared distribution: sums of squares of normal numbers.

        Parameters
        ----------
        df : float or array
            Degrees of freedom: how many squares, and the mean.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `df` is not above 0.
        """
        return self._draw("chisquare", (df,), size, dtype, where)

    def noncentral_chisquare(
        self,
        df: Any,
        nonc: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the chi-squared distribution of normal numbers whose means are not 0.

        Parameters
        ----------
        df : float or array
            Degrees of freedom: how many squares are added.
        nonc : float or array
            The sum of the squares of the means.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `df` is not above 0, or `nonc` is negative.
        """
        return self._draw("noncentral_chisquare", (df, nonc), size, dtype, where)

    def f(
        self,
        dfnum: Any,
        dfden: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the F distribution: ratios of two means of squares of normal numbers.

        Parameters
        ----------
        dfnum, dfden : float or array
            Degrees of freedom of the numerator and of the denominator.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            A parameter is not above 0.
        """
        return self._draw("f", (dfnum, dfden), size, dtype, where)

    def standard_t(
        self,
        df: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of Student's t distribution.

        Parameters
        ----------
        df : float or array
            Degrees of freedom; the more, the closer to the normal distribution.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the array.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `df` is not above 0.
        """
        return self._draw("standard_t", (df,), size, dtype, where)

    def beta(
        self,
        a: Any,
        b: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 0 to 1 of the beta distribution, of mean ``a / (a + b)``.

        Parameters
        ----------
        a, b : float or array
            The larger both are, the closer to the mean.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            A parameter is not above 0.
        """
        return self._draw("beta", (a, b), size, dtype, where)

    def wald(
        self,
        mean: Any,
        scale: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers of the inverse Gaussian distribution.

        Parameters
        ----------
        mean : float or array
            The mean.
        scale : float or array
            The larger, the closer to the mean: the variance is ``mean**3 / scale``.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            A parameter is not above 0.
        """
        return self._draw("wald", (mean, scale), size, dtype, where)

    def standard_cauchy(
        self, size: ShapeLike | None = None, dtype: DTypeLike = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """Numbers of the Cauchy distribution around 0, which has neither a mean nor a variance.

        Parameters
        ----------
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.
        """
        return self._draw("cauchy", (1,), size, dtype, where)

    def triangular(
        self,
        left: Any,
        mode: Any,
        right: Any,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers whose density grows from 0 at `left` to `mode`, and falls to 0 at `right`.

        Parameters
        ----------
        left, mode, right : float or array
            The lower bound, the most frequent number, the upper bound.
        size, dtype, **where : optional
            Shape, type and place of the numbers, as those of `random`; without `size` the shape of
            the arrays.

        Returns
        -------
        ndarray
            Of float64, or of `dtype`.

        Raises
        ------
        ValueError
            `mode` is not between the bounds, or those are equal.
        """
        return self._draw("triangular", (left, mode, right), size, dtype, where)

    def geometric(
        self,
        p: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """How many trials the first success takes, where each succeeds with the chance `p`.

        Parameters
        ----------
        p : float or array
            Above 0, and at most 1.
        size, **where : optional
            Shape and place of the numbers, as those of `random`; without `size` the shape of the
            array.

        Returns
        -------
        ndarray
            Of int64, from 1 on.

        Raises
        ------
        ValueError
            `p` is not above 0, or larger than 1.
        """
        return self._draw("geometric", (p,), size, None, where)

    def negative_binomial(
        self,
        n: Any,
        p: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """How many trials fail before `n` succeed, where each succeeds with the chance `p`.

        Parameters
        ----------
        n : float or array
            How many successes; above 0.
        p : float or array
            Above 0, and at most 1.
        size, **where : optional
            Shape and place of the numbers, as those of `random`; without `size` the shape of the
            arrays.

        Returns
        -------
        ndarray
            Of int64.

        Raises
        ------
        ValueError
            `n` or `p` is not above 0, or `p` is larger than 1.
        """
        return self._draw("negative_binomial", (n, p), size, None, where)

    def logseries(
        self,
        p: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 1 on of the logarithmic series distribution: chances like ``p**k / k``.

        Parameters
        ----------
        p : float or array
            From 0 to below 1.
        size, **where : optional
            Shape and place of the numbers, as those of `random`; without `size` the shape of the
            array.

        Returns
        -------
        ndarray
            Of int64.

        Raises
        ------
        ValueError
            `p` is not from 0 to below 1.
        """
        return self._draw("logseries", (p,), size, None, where)

    def zipf(
        self,
        a: Any,
        size: ShapeLike | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """Numbers from 1 on with chances like ``k**-a``.

        Parameters
        ----------
        a : float or array
            Above 1; the smaller, the more of the numbers are large.
        size, **where : optional
            Shape and place of the numbers, as those of `random`; without `size` the shape of the
            array.

        Returns
        -------
        ndarray
            Of int64.

        Raises
        ------
        ValueError
            `a` is not above 1.
        """
        return self._draw("zipf", (a,), size, None, where)

    def multinomial(
        self, n: Any, pvals: Any, size: ShapeLike | None = None, **where: Unpack[Where]
    ) -> _usmx.ndarray:
        """How often each of several results occurs in `n` trials.

        Parameters
        ----------
        n : int or array of int
            How many trials.
        pvals : array
            The chances of the results along the last axis; the sum must be at most 1, and the last
            result has what is left.
        size : int or tuple of int, optional
            The shape without the axis of results.
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of int64, of the shape `size` and an axis of results, whose sum is `n`.

        Raises
        ------
        ValueError
            If `n` is negative, or chances do not fit.
        """
        made = self._made_where(where, (n, pvals))
        trials, chances = _bound(n, made), _array(pvals, made)
        return self._stream.multinomial(trials, chances, size, *self._place(made))

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
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of float64, of the shape `size` and an axis as long as `alpha`.

        Raises
        ------
        ValueError
            If a number of `alpha` is not above 0.
        """
        made = self._made_where(where, (alpha,))
        return self._stream.dirichlet(_array(alpha, made), size, *self._place(made))

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
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of float64, of the shape `size` and an axis as long as `mean`.

        Raises
        ------
        ValueError
            If the shapes do not fit, or `cov` is not positive semidefinite.
        """
        from . import linalg

        made = self._made_where(where, (mean, cov))
        centre, spread = _real("mean", mean, made), _real("cov", cov, made)
        if centre.ndim != 1 or spread.shape != (centre.size, centre.size):
            raise ValueError(
                f"mean, cov: expected the shapes (n,) and (n, n), got {centre.shape} and "
                f"{spread.shape}"
            )
        near = elementwise.abs(spread) * 1e-8
        if statistics.any(elementwise.abs(spread - spread.T) > near).item():
            raise ValueError("cov: is not symmetric")
        try:
            factor = linalg.cholesky(spread)
        except linalg.LinAlgError:
            values, axes = linalg.eigh(spread)
            if statistics.any(values < -1e-8 * elementwise.abs(values[-1])).item():
                raise ValueError("cov: is not positive semidefinite") from None
            factor = axes * elementwise.sqrt(elementwise.maximum(values, 0.0))
        lengths = () if size is None else _lengths(size)
        normal = self.standard_normal((*lengths, centre.size), **made)
        vectors: _usmx.ndarray = normal @ factor.T + centre
        return vectors

    # --- orders and samples

    def _keys(self, count: int, where: Where) -> _usmx.ndarray:
        return self._stream.draw("bits", (), count, None, None, *self._place(where))

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
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of the type of `a`; of a number int64.

        Raises
        ------
        ValueError
            If `a` is empty or has too few elements, or the chances do not fit to it.
        """
        del shuffle
        made = self._made_where(where, (a, p))
        source: Any = None
        if _is_scalar(a):
            length = index(a)
            if length < 0:
                raise ValueError(f"a: expected a number that is not negative, got {a}")
        else:
            source = _array(a, made)
            if source.ndim == 0:
                raise ValueError("a: expected an int or an array with dimensions, got 0 dimensions")
            axis = _axis(axis, source.ndim)
            length = source.shape[axis]
        shape = () if size is None else _lengths(size)
        count = prod(shape)
        if count and not length:
            raise ValueError("a: there is nothing to choose from")
        chances = None if p is None else self._chances(p, length, made)
        if not replace:
            order = self._chosen_once(length, chances, count, made).reshape(shape)
        elif not count:
            order = _usmx.empty(shape, "int64", **made)
        elif chances is None:
            order = self.integers(0, length, shape, **made)
        else:
            # As integers, whose sums are the same in every order.
            sums = statistics.cumulative_sum((chances * 2.0**62).astype("int64"))
            found = self.integers(0, sums[-1].item(), shape, **made)
            order = sorting.searchsorted(sums, found, side="right")
        return order if source is None else selection.gathered(source, order, axis)

    def _chances(self, p: Any, length: int, where: Where) -> _usmx.ndarray:
        chances = _real("p", p, where)
        if chances.shape != (length,):
            raise ValueError(
                f"p: expected the shape {(length,)} of what is chosen from, got {chances.shape}"
            )
        if statistics.any(chances < 0).item():
            raise ValueError("p: expected chances from 0 to 1, got an array with others")
        total: float = statistics.sum(chances).item()
        if abs(total - 1) > 1.5e-8:
            raise ValueError(f"p: expected chances with the sum 1, got the sum {total}")
        return chances

    def _chosen_once(
        self, length: int, chances: _usmx.ndarray | None, count: int, where: Where
    ) -> _usmx.ndarray:
        few = length if chances is None else selection.count_nonzero(chances).item()
        if count > few:
            raise ValueError(
                f"size: {count} elements are to be chosen without replacement of {few}"
            )
        if chances is None:
            return _order(self._keys(length, where), length)[:count]
        race = self._stream.draw("race", (chances,), None, None, None, *self._place(where))
        return _order(race, length)[:count]

    def permutation(self, x: Any, axis: int = 0, **where: Unpack[Where]) -> _usmx.ndarray:
        """A copy of an array in a random order along an axis, or ``arange(x)`` in one.

        Every order has the same chance, but for equal keys of 64 bits.

        Parameters
        ----------
        x : int or array
            What is put into an order.
        axis : int
            Along which.
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of the shape and type of `x`; of a number int64.

        Raises
        ------
        ValueError
            A negative number, or an axis that `x` does not have.
        """
        made = self._made_where(where, (x,))
        if _is_scalar(x):
            length = index(x)
            if length < 0:
                raise ValueError(f"x: expected a number that is not negative, got {x}")
            return _order(self._keys(length, made), length)
        source = _array(x, made)
        axis = _axis(axis, source.ndim)
        length = source.shape[axis]
        order = _order(self._keys(length, made), length)
        return selection.gathered(source, order, axis)

    def permuted(
        self,
        x: Any,
        *,
        axis: int | None = None,
        out: _usmx.ndarray | None = None,
        **where: Unpack[Where],
    ) -> _usmx.ndarray:
        """A copy of an array in random orders: another one for each line along the axis.

        Parameters
        ----------
        x : array
            Of any shape.
        axis : int, optional
            Along which; without it all elements are in one order.
        out : ndarray, optional
            Where the result is written; it may be `x`.
        **where : optional
            ``device``, ``usm_type`` and ``queue``, as in `usmx.empty`.

        Returns
        -------
        ndarray
            Of the shape and type of `x`.

        Raises
        ------
        ValueError
            An axis that `x` does not have.
        """
        made = self._made_where(where, (x,))
        source = _array(x, made)
        if axis is None:
            flat = source.reshape(-1)
            result = selection.gathered(flat, _order(self._keys(flat.size, made), flat.size), 0)
            result = result.reshape(source.shape)
        else:
            axis = _axis(axis, source.ndim)
            moved = manipulation.moveaxis(source, axis, -1)
            order = _order(self._keys(source.size, made), source.shape[axis]).reshape(moved.shape)
            result = selection.take_along_axis(moved, order, -1)
            result = manipulation.moveaxis(result, -1, axis)
        if out is None:
            return result
        out[...] = result
        return out

    def shuffle(self, x: _usmx.ndarray, axis: int = 0) -> None:
        """Put an array into a random order along an axis, in place.

        Parameters
        ----------
        x : ndarray
            The array.
        axis : int
            Along which.

        Raises
        ------
        TypeError
            `x` is not a `usmx.ndarray`.
        ValueError
            An axis that `x` does not have.
        """
        if not isinstance(x, _usmx.ndarray):
            raise TypeError(
                f"x: expected a usmx.ndarray, got {type(x).__name__}; permutation() makes a copy"
            )
        x[...] = self.permutation(x, axis)


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
