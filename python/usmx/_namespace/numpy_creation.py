"""NumPy's functions that make an array, with ``like=`` (NEP 35): of usmx, where `like` is."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _usmx
from ._common import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Functions of `usmx` with NumPy's arguments that take a place.
_PLACED = ("arange", "empty", "eye", "full", "identity", "ones", "tri", "zeros")
#: Functions that read or make elements on the host, which are then copied.
_OF_HOST = (
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "fromstring",
    "genfromtxt",
    "loadtxt",
)
#: What is left to the default only: usmx has no subclasses, and no other device of NumPy's.
_IGNORED = {"subok": (True, False), "device": (None, "cpu")}


def _place(like: _usmx.ndarray) -> dict[str, Any]:
    return {"usm_type": kind_of(like), "queue": like.queue}


def _without_ignored(name: str, keywords: dict[str, Any]) -> dict[str, Any]:
    for key, allowed in _IGNORED.items():
        if key in keywords and keywords[key] not in allowed:
            raise TypeError(
                f"np.{name}: {key}={keywords[key]!r} is not supported with like= of usmx"
            )
    return {key: value for key, value in keywords.items() if key not in _IGNORED}


def _as_array(
    like: _usmx.ndarray,
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    copy: bool | None = None,
    ndmin: int = 0,
) -> _usmx.ndarray:
    made = _usmx.asarray(a, dtype=dtype, copy=copy, order=order, **_place(like))
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def _array(
    like: _usmx.ndarray,
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    ndmax: int = 0,
) -> _usmx.ndarray:
    if ndmax not in (0, 32, 64):
        raise TypeError(f"np.array: ndmax={ndmax!r} is not supported with like= of usmx")
    return _as_array(like, object, dtype, order, copy=copy, ndmin=ndmin)


def _in_order(order: str, least: int) -> Callable[..., _usmx.ndarray]:
    def made(like: _usmx.ndarray, a: Any, dtype: Any = None) -> _usmx.ndarray:
        return _as_array(like, a, dtype, order, ndmin=least)

    return made


def _require(
    like: _usmx.ndarray, a: Any, dtype: Any = None, requirements: Any = None
) -> _usmx.ndarray:
    wanted = {str(one).upper()[:1] for one in requirements or ()}
    order = "F" if "F" in wanted else "C" if "C" in wanted else None
    return _as_array(like, a, dtype, order)


_MADE: dict[str, Callable[..., Any]] = {
    "array": _array,
    "asarray": _as_array,
    "asanyarray": _as_array,
    "ascontiguousarray": _in_order("C", 1),
    "asfortranarray": _in_order("F", 1),
    "require": _require,
}


def creation(
    name: str, function: Any, like: _usmx.ndarray, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """What such a function makes.

    Parameters
    ----------
    name : str
        Its name in NumPy.
    function : callable
        NumPy's function.
    like : ndarray
        Where the array is made: its kind of memory and its queue.
    args, keywords
        Those of the call, without ``like``.

    Raises
    ------
    TypeError
        There is no such function here, or one of its arguments has no meaning here.
    """
    if name in _MADE:
        return _MADE[name](like, *args, **_without_ignored(name, keywords))
    if name in _OF_HOST:
        made = function(*args, **keywords)
        if isinstance(made, _usmx.ndarray):
            return made
        return _usmx.asarray(made, **_place(like))
    if name not in _PLACED:
        raise TypeError(f"np.{name}: makes no array of usmx; make it with NumPy and usmx.asarray")
    import usmx

    given = _without_ignored(name, keywords)
    ours = getattr(usmx, name)
    if name in ("empty", "full", "ones", "zeros"):
        names = ("shape", "fill_value", "dtype", "order") if name == "full" else (
            "shape", "dtype", "order",
        )  # fmt: skip
        given = {**dict(zip(names, args, strict=False)), **given}
        if given.get("order") is None:
            given.pop("order", None)
        return ours(**given, **_place(like))
    if name == "eye":
        for key, value in zip(("N", "M", "k", "dtype", "order"), args, strict=False):
            given[key] = value
        made = ours(
            given["N"], given.get("M"), k=given.get("k", 0),
            dtype=given.get("dtype", float), **_place(like),
        )  # fmt: skip
        return _usmx.asarray(made, order=given.get("order") or "C")
    if name == "arange":
        numbers = dict(zip(("start", "stop", "step", "dtype"), args, strict=False)) | given
        if numbers.get("start") is None:
            numbers["start"] = 0
        if numbers.get("step") is None:
            numbers["step"] = 1
        if numbers["start"] is not None and numbers.get("stop") is None:
            numbers["start"], numbers["stop"] = 0, numbers["start"]
        return ours(**numbers, **_place(like))
    if name == "tri":
        named = dict(zip(("N", "M", "k", "dtype"), args, strict=False)) | given
        return ours(
            named["N"], named.get("M"), named.get("k", 0), named.get("dtype", float),
            **_place(like),
        )  # fmt: skip
    return ours(*args, **given, **_place(like))
