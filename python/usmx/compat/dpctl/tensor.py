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
from usmx import _explained


class _OfArrays(type):
    """Arrays of usmx are instances of `usm_ndarray`."""

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, _usmx.ndarray)


class usm_ndarray(metaclass=_OfArrays):
    """An array over new memory, or over memory that is there.

    Parameters
    ----------
    shape, dtype, strides, offset, order
        As for `usmx.ndarray`.
    buffer : str or memory, optional
        The kind of new memory (``"device"`` if not given), or the memory.
    buffer_ctor_kwargs : dict, optional
        ``queue`` of new memory.
    array_namespace : optional
        Without effect.
    """

    def __new__(
        cls,
        shape: Any,
        dtype: Any = None,
        strides: Any = None,
        buffer: Any = "device",
        offset: int = 0,
        order: Any = "C",
        buffer_ctor_kwargs: Any = None,
        array_namespace: Any = None,
    ) -> Any:
        del array_namespace
        return _usmx.ndarray(
            shape,
            dtype,
            strides=strides,
            buffer=buffer,
            offset=offset,
            order=order,
            queue=(buffer_ctor_kwargs or {}).get("queue"),
        )


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


#: Functions whose arguments have another order here, or other names: how many are arrays, and all.
_ARGUMENTS = {
    "allclose": (2, "a1 a2 atol rtol equal_nan"),
    "argsort": (1, "x axis descending stable kind"),
    "matrix_transpose": (1, "x"),
    "mean": (1, "x axis keepdims"),
    "nonzero": (1, "arr"),
    "sort": (1, "x axis descending stable kind"),
    "std": (1, "x axis correction keepdims"),
    "swapaxes": (1, "X axis1 axis2"),
    "tensordot": (2, "x1 x2 axes"),
    "var": (1, "x axis correction keepdims"),
    "vecdot": (2, "x1 x2 axis"),
}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_usmx, name)
    if name in _ARGUMENTS:
        found = _with_arguments(found, *_ARGUMENTS[name])
    elif callable(found) and not isinstance(found, type) and _takes_queue(found):
        found = _with_sycl_queue(found)
    globals()[name] = found
    return found


def _with_arguments(function: Any, arrays: int, words: str) -> Any:
    names = words.split()
    required, kind = inspect.Parameter.empty, inspect.Parameter.POSITIONAL_OR_KEYWORD
    known = inspect.signature(function).parameters
    default = {name: known[name].default for name in names[arrays:] if name in known}
    signature = inspect.Signature(
        [inspect.Parameter(name, kind, default=default.get(name, required)) for name in names]
    )

    @functools.wraps(function, updated=())
    def call(*args: Any, **others: Any) -> Any:
        given = signature.bind(*args, **others).arguments
        first = [given.pop(name) for name in names[:arrays]]
        return function(*first, **given)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _with_sycl_queue(function: Any) -> Any:
    @functools.wraps(function, updated=())
    def call(*args: Any, sycl_queue: Any = None, **others: Any) -> Any:
        if sycl_queue is not None:
            others["queue"] = sycl_queue
        return function(*args, **others)

    return call


def to_numpy(usm_ary: Any) -> np.ndarray[Any, Any]:
    """A copy on the host."""
    return np.array(usm_ary.to_numpy(), copy=True)


def __array_namespace_info__() -> Any:
    """What the array API standard asks of a namespace."""
    return _usmx.__array_namespace_info__()


def copy(usm_ary: Any, /, *, order: str = "K") -> Any:
    """A new array with the same elements; `usmx.copy` copies from one array to another."""
    return usm_ary.copy(order)


def astype(
    usm_ary: Any,
    newdtype: Any,
    /,
    *,
    order: str = "K",
    casting: str = "unsafe",
    copy: bool = True,
    device: Any = None,
) -> Any:
    """Elements of another type, or the array itself where nothing changes.

    Parameters
    ----------
    usm_ary : array
        The elements.
    newdtype
        Their new type.
    order : {'K', 'A', 'C', 'F'}
        How they lie in memory.
    casting : str
        Which casts are allowed, as for NumPy.
    copy : bool
        False gives the array itself if it has the type and the order.
    device : optional
        Where the result is.
    """
    if not _usmx.can_cast(usm_ary.dtype, newdtype, casting=casting):
        raise TypeError(
            f"newdtype: {_usmx.dtype(newdtype).name}, of {usm_ary.dtype.name}; "
            f"casting={casting!r} does not allow that"
        )
    made = usm_ary.astype(newdtype, order=order, copy=copy)
    return made if device is None else made.to_device(device)


def where(condition: Any, x1: Any, x2: Any, /, *, order: str = "K", out: Any = None) -> Any:
    """Elements of `x1` where `condition` is true, of `x2` elsewhere."""
    return _ordered(_usmx.where(condition, x1, x2), order, out)


def clip(x: Any, /, min: Any = None, max: Any = None, out: Any = None, order: str = "K") -> Any:
    """Elements inside of bounds; NaN stays NaN."""
    return _ordered(_usmx.clip(x, min, max), order, out)


def matmul(x1: Any, x2: Any, out: Any = None, dtype: Any = None, order: str = "K") -> Any:
    """Products of matrices, as `usmx.matmul`, in a type and an order."""
    if dtype is not None:
        x1, x2 = x1.astype(dtype, copy=False), x2.astype(dtype, copy=False)
    return _ordered(_usmx.matmul(x1, x2), order, out)


def round(x: Any, /, *, out: Any = None, order: str = "K") -> Any:
    """The nearest whole numbers, to the even one of two."""
    return _ordered(_usmx.round(x), order, out)


def rsqrt(x: Any, /, *, out: Any = None, order: str = "K") -> Any:
    """One over the square root."""
    return _ordered(_usmx.rsqrt(x), order, out)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """How many elements are not zero."""
    return _into(_usmx.count_nonzero(x, axis=axis, keepdims=keepdims), out)


def _ordered(found: Any, order: str, out: Any) -> Any:
    if out is None and order in ("C", "F"):
        return found.copy(order) if not found.flags[order] else found
    return _into(found, out)


def _bounded(indices: Any, length: int, mode: str) -> Any:
    """Indices by dpctl's modes, of which none refuses: 'wrap' counts negative ones from the end."""
    if mode not in ("wrap", "clip"):
        raise ValueError(f"mode: {mode!r}; expected 'wrap' or 'clip'")
    if indices.dtype.kind not in "iu":
        raise IndexError(f"indices: have type {indices.dtype.name}; expected integers")
    low = -length if mode == "wrap" else 0
    high = length - 1
    if indices.dtype.kind == "u":  # so that large ones stay large
        return _usmx.minimum(indices, np.asarray(high, indices.dtype)).astype("int64")
    return _usmx.clip(indices.astype("int64", copy=False), low, high)


def _along(x: Any, axis: int | None, name: str) -> int:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"axis: None, of an array of {x.ndim} dimensions; {name} needs one")
        return 0
    return axis


def take(
    x: Any, indices: Any, /, *, axis: int | None = None, out: Any = None, mode: str = "wrap"
) -> Any:
    """Elements at indices along an axis.

    Parameters
    ----------
    x : array
        The elements.
    indices : array of int
        Their places.
    axis : int, optional
        Needed if there are several.
    out : array, optional
        Where the result goes.
    mode : {'wrap', 'clip'}
        Indices outside are the nearest ones inside; 'wrap' counts negative ones from the end.
    """
    along = _along(x, axis, "take")
    given = x.reshape(1) if x.ndim == 0 else x
    at = _bounded(indices, given.shape[along], mode)
    return _into(_usmx.take(given, at, axis=along), out)


def put(x: Any, indices: Any, vals: Any, /, *, axis: int | None = None, mode: str = "wrap") -> None:
    """Write values to places along an axis; parameters as for `take`."""
    along = _along(x, axis, "put")
    at = _bounded(indices, x.shape[along] if x.ndim else 1, mode)
    if x.ndim == 0:
        x[()] = vals.reshape(-1)[-1] if getattr(vals, "ndim", 0) else vals
    else:
        x[(*(slice(None) for _ in range(along % x.ndim)), at)] = vals


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1, mode: str = "wrap") -> Any:
    """Elements at indices of the same rank; parameters as for `take`."""
    return _usmx.take_along_axis(x, _bounded(indices, x.shape[axis], mode), axis=axis)


def put_along_axis(
    x: Any, indices: Any, vals: Any, /, *, axis: int = -1, mode: str = "wrap"
) -> None:
    """Write values to places of the same rank; parameters as for `take`."""
    _usmx.put_along_axis(x, _bounded(indices, x.shape[axis], mode), vals, axis=axis)


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
    dtype : dtype, optional
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


def dldevice_to_sycl_device(dl_dev: tuple[int, int]) -> _usmx.Device:
    """The device of a type and a number of DLPack."""
    dl_dev_type, dl_dev_id = dl_dev
    if dl_dev_type != DLDeviceType.kDLOneAPI:
        raise ValueError(f"dl_dev_type: {dl_dev_type}; expected {DLDeviceType.kDLOneAPI.value}")
    found = _usmx.devices()
    if not 0 <= dl_dev_id < len(found):
        raise ValueError(f"dl_dev_id: {dl_dev_id}; expected 0 to {len(found) - 1}")
    return found[dl_dev_id]


def usm_ndarray_repr(
    x: Any,
    line_width: int | None = None,
    precision: int | None = None,
    suppress: bool | None = None,
    prefix: str = "usm_ndarray",
) -> str:
    """The text of an array with its name in front, by NumPy's `array2string`."""
    lines = np.array2string(
        x.to_numpy(), line_width, precision, suppress, separator=", ", prefix=prefix + "("
    )
    return f"{prefix}({lines})"


def usm_ndarray_str(
    x: Any,
    line_width: int | None = None,
    edge_items: int | None = None,
    threshold: int | None = None,
    precision: int | None = None,
    floatmode: str | None = None,
    suppress: bool | None = None,
    sign: str | None = None,
    numpy: bool = False,
    separator: str = " ",
    prefix: str = "",
    suffix: str = "",
) -> str:
    """The text of the elements; the other parameters are those of NumPy's `array2string`."""
    del numpy
    options: dict[str, Any] = {
        "max_line_width": line_width,
        "edgeitems": edge_items,
        "threshold": threshold,
        "precision": precision,
        "floatmode": floatmode,
        "suppress_small": suppress,
        "sign": sign,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return np.array2string(x.to_numpy(), separator=separator, prefix=prefix, suffix=suffix, **given)


def set_print_options(
    linewidth: int | None = None,
    edgeitems: int | None = None,
    threshold: int | None = None,
    precision: int | None = None,
    floatmode: Any = None,
    suppress: bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    sign: Any = None,
    numpy: bool = False,
) -> None:
    """NumPy's options, which arrays of usmx follow; `numpy` has no effect."""
    del numpy
    np.set_printoptions(
        linewidth=linewidth,
        edgeitems=edgeitems,
        threshold=threshold,
        precision=precision,
        floatmode=floatmode,
        suppress=suppress,
        nanstr=nanstr,
        infstr=infstr,
        sign=sign,
    )


def get_print_options() -> dict[str, Any]:
    """NumPy's options."""
    return dict(np.get_printoptions())


@contextlib.contextmanager
def print_options(**options: Any) -> Iterator[dict[str, Any]]:
    """NumPy's options, in a ``with`` block."""
    with np.printoptions(**options) as found:
        yield dict(found)


_explained.explain(globals())
