"""CuPy's names for every device of usmx: ``import usmx.compat.cupy as cp`` in place of
``import cupy as cp``.

Arrays are those of usmx, functions are usmx's under NumPy's names, which CuPy has too; what CuPy
has beyond NumPy stands here. Importing this module gives arrays of usmx CuPy's methods: ``get``,
``set`` and ``data``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import usmx as _usmx
from usmx import _explained

from . import cuda, fft, random, testing
from .arrays import asnumpy, get_array_module, install_methods
from .installing import install
from .kernels import ElementwiseKernel, RawKernel, RawModule, ReductionKernel

ndarray = _usmx.ndarray
get_default_memory_pool: Callable[[], cuda.MemoryPool] = cuda.get_default_memory_pool
get_default_pinned_memory_pool: Callable[[], cuda.PinnedMemoryPool] = (
    cuda.get_default_pinned_memory_pool
)
is_available: Callable[[], bool] = cuda.is_available
#: Types, numbers and errors that CuPy has from NumPy.
_NUMPYS = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp",
    "uintp", "intc", "uintc", "byte", "ubyte", "short", "ushort", "longlong", "ulonglong",
    "float16", "float32", "float64", "half", "single", "double", "complex64", "complex128",
    "csingle", "cdouble", "number", "integer", "signedinteger", "unsignedinteger", "inexact",
    "floating", "complexfloating", "generic", "dtype", "pi", "e", "euler_gamma", "inf", "nan",
    "newaxis", "AxisError", "ComplexWarning", "finfo", "iinfo", "issubdtype", "promote_types",
    "can_cast", "result_type", "broadcast_shapes", "printoptions", "set_printoptions",
    "get_printoptions",
)  # fmt: skip
__version__ = "13.0 (usmx)"

install_methods()


def __getattr__(name: str) -> Any:
    if name in _NUMPYS:
        found = getattr(np.exceptions if name in ("AxisError", "ComplexWarning") else np, name)
    elif name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        found = getattr(_usmx, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_NUMPYS, *dir(_usmx)})


def fuse(*args: Any, kernel_name: str | None = None) -> Any:
    """As `usmx.fuse`; a name for the kernel is taken and ignored.

    Parameters
    ----------
    *args : callable
        The function; without it the decorator is given.
    kernel_name : str, optional
        Without effect.

    Returns
    -------
    callable

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> @cp.fuse()
    ... def scaled(x):
    ...     return 2 * x + 1
    >>> print(scaled(cp.arange(3)))
    [1, 3, 5]
    """
    del kernel_name
    return _usmx.fuse(*args) if args else _usmx.fuse


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False, **place: Any
) -> _usmx.ndarray:
    """As `usmx.asarray`, whose other arguments it takes too; it never returns before the copy.

    Parameters
    ----------
    a, dtype, order : optional
        As there.
    blocking : bool
        Without effect.
    **place : optional
        `usm_type` and others.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> print(cp.asarray([1, 2], "float32"))
    [1., 2.]
    """
    del blocking
    if order is not None:
        place["order"] = order
    return _usmx.asarray(a, dtype, **place)


asanyarray = asarray


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
    **place: Any,
) -> _usmx.ndarray:
    """As `usmx.array`; memory of the host is copied, also with `copy=False`, as CuPy does.

    Parameters
    ----------
    obj, dtype, order, ndmin : optional
        As there.
    copy : bool
        False: an array of a device stays where it is, if its type is that.
    subok, blocking : bool
        Without effect.
    **place : optional
        `usm_type` and others.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> print(cp.array([1, 2], ndmin=2))
    [[1, 2]]
    """
    del subok, blocking
    is_there = hasattr(obj, "__sycl_usm_array_interface__") or hasattr(
        obj, "__cuda_array_interface__"
    )
    how = None if is_there and not copy else True
    return _usmx.array(obj, dtype, copy=how, order=order, ndmin=ndmin, **place)


def may_share_memory(a: Any, b: Any) -> bool:
    """Whether two arrays may have bytes in common.

    Parameters
    ----------
    a, b : array
        Of usmx.

    Returns
    -------
    bool

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> x = cp.arange(4)
    >>> cp.may_share_memory(x, x[1:]), cp.may_share_memory(x, x + 1)
    (True, False)
    """
    return not _usmx._usmx._KernelDispatcher._lie_apart([a, b])


shares_memory = may_share_memory


def fromDlpack(dltensor: Any) -> Any:
    """An array of a capsule of DLPack, or of an array that makes one.

    Parameters
    ----------
    dltensor : capsule or array
        A capsule is used up.

    Returns
    -------
    ndarray
        Over the same memory.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> x = cp.arange(3)
    >>> cp.may_share_memory(cp.fromDlpack(x), x)
    True
    """
    return _usmx.from_dlpack(dltensor)


def show_config() -> None:
    """Print the version and the devices; ``usmx doctor`` knows more.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> cp.show_config()  # doctest: +ELLIPSIS
    usmx ...
    """
    print(f"usmx {_usmx.__version__}", *_usmx.devices(), sep="\n")


def clear_memo() -> None:
    """Nothing: compiled programs are kept by usmx, see `usmx.set_program_memory`.

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> cp.clear_memo()
    """


def memoize(for_each_device: bool = False) -> Any:
    """Keep what a function gives for each list of arguments.

    Parameters
    ----------
    for_each_device : bool
        Without effect.

    Returns
    -------
    decorator

    Examples
    --------
    >>> import usmx.compat.cupy as cp
    >>> @cp.memoize()
    ... def power(n):
    ...     return 2**n
    >>> power(3)
    8
    """
    import functools

    del for_each_device
    return functools.cache


__all__ = [
    "ElementwiseKernel", "RawKernel", "RawModule", "ReductionKernel", "array", "asanyarray",
    "asarray", "asnumpy", "clear_memo",
    "cuda", "fft", "fromDlpack", "fuse", "get_array_module", "get_default_memory_pool",
    "get_default_pinned_memory_pool", "install", "is_available", "may_share_memory", "memoize",
    "ndarray", "random", "shares_memory", "show_config", "testing",
]  # fmt: skip

_explained.explain(globals())
