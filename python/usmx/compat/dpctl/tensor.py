"""``dpctl.tensor``'s names: usmx's, with ``sycl_queue=``, and those that usmx has not."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import enum
import functools
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import usmx as _usmx


class TopKResult(NamedTuple):
    """The largest or smallest elements, and where they were."""

    values: Any
    indices: Any


class DLDeviceType(enum.IntEnum):
    """Types of devices of DLPack."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLCUDAManaged = 13
    kDLROCM = 10
    kDLROCMHost = 11
    kDLOneAPI = 14


def _takes_queue(function: Any) -> bool:
    """Whether a function has a parameter ``queue``."""
    if getattr(function, "__name__", "") in _CREATE:
        return True
    try:
        return "queue" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


_CREATE = frozenset({
    "arange", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like",
    "linspace", "ones", "ones_like", "zeros", "zeros_like",
})  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_usmx, name)
    if callable(found) and not isinstance(found, type) and _takes_queue(found):
        found = _with_sycl_queue(found)
    globals()[name] = found
    return found


def _with_sycl_queue(function: Any) -> Any:
    @functools.wraps(function, updated=())
    def call(*args: Any, sycl_queue: Any = None, **others: Any) -> Any:
        if sycl_queue is not None:
            others["queue"] = sycl_queue
        return function(*args, **others)

    return call


def to_numpy(x: Any) -> np.ndarray[Any, Any]:
    """A copy on the host."""
    return np.array(x.to_numpy(), copy=True)


asnumpy = to_numpy


def logsumexp(
    x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None
) -> Any:
    """The logarithm of the sum of exponentials, which does not overflow on the way.

    Parameters
    ----------
    x : array
        Of real numbers.
    axis : int or tuple of int, optional
        What is summed; all if not given.
    dtype : optional
        Type of the result.
    keepdims : bool
        Whether summed axes stay, with length 1.
    out : array, optional
        Where the result goes.
    """
    given = x if dtype is None else x.astype(dtype)
    given = given if np.dtype(given.dtype).kind == "f" else given.astype("float64")
    most = _usmx.max(given, axis=axis, keepdims=True)
    finite = _usmx.where(_usmx.isfinite(most), most, _usmx.zeros_like(most))
    total = _usmx.log(_usmx.sum(_usmx.exp(given - finite), axis=axis, keepdims=True)) + finite
    if not keepdims:
        total = total.reshape(_usmx.max(given, axis=axis).shape)
    return _into(total, out)


def reduce_hypot(
    x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None
) -> Any:
    """The square root of the sum of squares.

    Parameters
    ----------
    x, axis, dtype, keepdims, out
        As for `logsumexp`.
    """
    given = x if dtype is None else x.astype(dtype)
    given = given if np.dtype(given.dtype).kind == "f" else given.astype("float64")
    most = _usmx.max(_usmx.abs(given), axis=axis, keepdims=True)
    scale = _usmx.where((most > 0) & _usmx.isfinite(most), most, _usmx.ones_like(most))
    part = given / scale
    total = _usmx.sqrt(_usmx.sum(part * part, axis=axis, keepdims=True)) * scale
    if not keepdims:
        total = total.reshape(_usmx.max(given, axis=axis).shape)
    return _into(total, out)


def cumulative_logsumexp(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    out: Any = None,
) -> Any:
    """The logarithms of running sums of exponentials.

    Parameters
    ----------
    x, dtype, out
        As for `logsumexp`.
    axis : int, optional
        Along which axis; needed if there are several.
    include_initial : bool
        Whether the sum of no numbers, minus infinity, stands first.
    """
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis: None, of an array of {x.ndim} dimensions; expected an int")
    along = 0 if axis is None else axis
    given = x if dtype is None else x.astype(dtype)
    given = given if np.dtype(given.dtype).kind == "f" else given.astype("float64")
    found: Any = _usmx.moveaxis(given, along, 0)
    step = 1
    while step < found.shape[0]:  # sums of twice as many numbers in each round
        found = _usmx.concat([found[:step], _usmx.logaddexp(found[step:], found[:-step])], axis=0)
        step *= 2
    found = _usmx.moveaxis(found, 0, along)
    if include_initial:
        first = _usmx.full_like(_usmx.take(found, _usmx.asarray([0]), axis=along), -np.inf)
        found = _usmx.concat([first, found], axis=along)
    return _into(found, out)


def proj(x: Any, /, out: Any = None, order: str = "K") -> Any:
    """Complex numbers, of which all infinite ones are one: infinity, with the sign of zero."""
    del order
    given = x if np.dtype(x.dtype).kind == "c" else x.astype("complex128")
    is_infinite = _usmx.isinf(_usmx.real(given)) | _usmx.isinf(_usmx.imag(given))
    made = np.empty(tuple(given.shape), np.dtype(given.dtype))
    made.real, made.imag = np.inf, np.copysign(0.0, _usmx.imag(given).to_numpy())
    infinite = _usmx.asarray(made, queue=given.queue)
    return _into(_usmx.where(is_infinite, infinite, given), out)


def top_k(x: Any, k: int, /, *, axis: int | None = None, mode: str = "largest") -> Any:
    """The largest or smallest elements and their indices.

    Parameters
    ----------
    x : array
        The elements.
    k : int
        How many.
    axis : int, optional
        Along which axis; of all elements if not given.
    mode : {'largest', 'smallest'}
        Which ones.

    Returns
    -------
    values, indices
        Two arrays.
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"mode: {mode!r}; expected 'largest' or 'smallest'")
    given = x.reshape(-1) if axis is None else x
    along = 0 if axis is None else axis
    n = given.shape[along]
    if not 0 < k <= n:
        raise ValueError(f"k: {k}; expected 1 to {n}")
    order = _usmx.argsort(given, axis=along, descending=mode == "largest")
    chosen = _usmx.take(order, _usmx.arange(k, queue=given.queue), axis=along)
    return TopKResult(_usmx.take_along_axis(given, chosen, axis=along), chosen)


def _into(found: Any, out: Any) -> Any:
    if out is None:
        return found
    out[...] = found
    return out


def validate_usm_type(usm_type: Any, allow_none: bool = True) -> None:
    """Refuse what is not a kind of memory.

    Raises
    ------
    TypeError, ValueError
        It is not a text, or names none of the kinds.
    """
    if usm_type is None and allow_none:
        return
    if not isinstance(usm_type, str):
        what = type(usm_type).__name__
        raise TypeError(f"usm_type: {what}; expected 'device', 'shared' or 'host'")
    if usm_type not in ("device", "shared", "host"):
        raise ValueError(f"usm_type: {usm_type!r}; expected 'device', 'shared' or 'host'")


def sycl_device_to_dldevice(dev: Any) -> tuple[DLDeviceType, int]:
    """A device as DLPack numbers it: its place among the devices of its platform's order."""
    device = _usmx.Device(dev)
    return DLDeviceType.kDLOneAPI, _usmx.devices().index(device)


def dldevice_to_sycl_device(dl_dev_type: int, dl_dev_id: int) -> _usmx.Device:
    """The device of a type and a number of DLPack."""
    if dl_dev_type != DLDeviceType.kDLOneAPI:
        raise ValueError(f"dl_dev_type: {dl_dev_type}; expected {DLDeviceType.kDLOneAPI.value}")
    found = _usmx.devices()
    if not 0 <= dl_dev_id < len(found):
        raise ValueError(f"dl_dev_id: {dl_dev_id}; expected 0 to {len(found) - 1}")
    return found[dl_dev_id]


def usm_ndarray_repr(x: Any, **_: Any) -> str:
    """``repr`` of an array."""
    return repr(x)


def usm_ndarray_str(x: Any, **_: Any) -> str:
    """``str`` of an array."""
    return str(x)


def set_print_options(**options: Any) -> None:
    """NumPy's options, which arrays of usmx follow."""
    np.set_printoptions(**options)


def get_print_options() -> dict[str, Any]:
    """NumPy's options."""
    return dict(np.get_printoptions())


@contextlib.contextmanager
def print_options(**options: Any) -> Iterator[dict[str, Any]]:
    """NumPy's options, in a ``with`` block."""
    with np.printoptions(**options) as found:
        yield dict(found)
