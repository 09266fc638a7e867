"""The kernel language of numba-dpex, both generations of it, compiled by usmx.

``import usmx.compat.numba_dpex as dpex``, and programs written for numba-dpex run: the older form
with functions (``dpex.get_global_id(0)``, launched as ``kernel[global, local](...)``) and the newer
one with objects (an item as first parameter, launched by ``dpex.call_kernel``). Arrays are any USM
that speaks ``__sycl_usm_array_interface__``, those of dpnp as well as ours.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Never

from usmx import _explained

from ... import _usmx
from ..._kernel import arguments, kept
from ..._kernel.language.functions import (
    DeviceOnly,
    atomic,
    barrier,
    item_functions,
    local,
    private,
)
from ..._kernel.launch import Kernel
from ..._kernel.launch import device_func as _device_func
from ..numba_types import (
    ItemType,
    NdItemType,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    is_signature,
    uint8,
    uint16,
    uint32,
    uint64,
    usm_ndarray,
    void,
)
from . import exceptions, kernel_api, offload
from .kernel_api import NdRange, Range
from .offload import device_context

get_global_id: DeviceOnly = item_functions["get_global_id"]
get_global_size: DeviceOnly = item_functions["get_global_size"]
get_local_id: DeviceOnly = item_functions["get_local_id"]
get_local_size: DeviceOnly = item_functions["get_local_size"]
get_group_id: DeviceOnly = item_functions["get_group_id"]
get_num_groups: DeviceOnly = item_functions["get_num_groups"]
LOCAL_MEM_FENCE = CLK_LOCAL_MEM_FENCE = 1
GLOBAL_MEM_FENCE = CLK_GLOBAL_MEM_FENCE = 2
DpnpNdArray = usm_ndarray
USMNdArray = usm_ndarray
offload_to_sycl_device = device_context
#: As a local range: the compiler chooses it.
DEFAULT_LOCAL_SIZE: list[int] = []
#: Most items in a group that is chosen here.
MOST_CHOSEN = 1024

__all__ = [
    "CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE", "DEFAULT_LOCAL_SIZE", "GLOBAL_MEM_FENCE",
    "LOCAL_MEM_FENCE", "DpnpNdArray", "ItemType", "NdItemType", "NdRange", "Range", "USMNdArray",
    "atomic", "barrier", "call_kernel", "call_kernel_async", "complex64", "complex128",
    "device_context", "device_func", "exceptions", "float32", "float64", "func", "get_global_id",
    "get_global_size", "get_group_id", "get_local_id", "get_local_size", "get_num_groups",
    "int8", "int16", "int32", "int64", "kernel", "kernel_api", "local", "offload_to_sycl_device",
    "private", "uint8", "uint16", "uint32", "uint64", "usm_ndarray", "void",
]  # fmt: skip


class DpexKernel:
    """A kernel of either generation: how it is launched says which."""

    def __init__(self, python: Callable[..., Any]) -> None:
        self.python = python
        self.__name__: str = python.__name__
        self.__doc__ = python.__doc__
        self._needs_group: tuple[bool, _usmx._Captured] | None = None

    @functools.cached_property
    def with_functions(self) -> Kernel:
        """The kernel whose parameters are all arguments."""
        return Kernel(self.python, has_item=False, numba=True)

    @functools.cached_property
    def with_item(self) -> Kernel:
        """The kernel whose first parameter is the item."""
        return Kernel(self.python, numba=True)

    def takes(self, arguments: int) -> bool:
        """Whether it has that many parameters, none of which is the item."""
        return bool(self.python.__code__.co_argcount == arguments)

    def __call__(self, *_: Any) -> Never:
        name = self.__name__
        raise exceptions.UnknownGlobalRangeError(
            f"kernel '{name}' has no range: launch it as {name}[global](...) or by call_kernel"
        )

    def __getitem__(self, key: Any) -> Callable[..., None]:
        """The older launch, which waits: ``kernel[global, local](...)``.

        Without a local range, one is chosen if the kernel needs it.
        """
        kernel = self.with_functions
        if _is_pair(key) and kernel._rank < 2:
            key = ((key[0],), (key[1],))
        brackets = _range(key)

        def run(*args: Any) -> None:
            launch: Any = kernel[self.grouped(brackets, args)]
            offload.run(launch, args)

        return run

    def grouped(
        self, brackets: tuple[tuple[int, ...], ...], args: Sequence[Any]
    ) -> tuple[tuple[int, ...], ...]:
        """The ranges of a kernel with functions, with a local one if it needs that."""
        lengths, *local = brackets
        if local or not self.needs_group(lengths, args):
            return brackets
        return lengths, group_of(lengths)

    def needs_group(self, lengths: tuple[int, ...], args: Sequence[Any]) -> bool:
        """Whether the kernel has barriers or other things of groups."""
        if self._needs_group is None or not self._needs_group[1].holds():
            kernel = self.with_functions
            found = kept.key_of(self.python, (), "group")
            held = kept.load(found[0]) if found else None
            reads = found[2] if found else None
            if held is None:
                values = [arguments.as_array(a) for a in args]
                made = kernel.compiled(values, len(lengths), group_of(lengths))
                held, reads = [made.needs_group or ""], made.module.reads
                if found:
                    kept.store(found[0], held)
            assert reads is not None
            self._needs_group = bool(held[0]), reads.made()
        return self._needs_group[0]


@functools.lru_cache(maxsize=256)
def group_of(lengths: tuple[int, ...]) -> tuple[int, ...]:
    """A local range for a global one: as many items as fit, the last dimension first."""
    left = MOST_CHOSEN
    found: list[int] = []
    for n in reversed(lengths):
        found.insert(0, max((d for d in range(1, min(n, left) + 1) if n % d == 0), default=1))
        left //= found[0]
    return tuple(found)


def _is_pair(key: Any) -> bool:
    """Two ints: a global and a local range, unless the kernel asks for two dimensions."""
    pair = isinstance(key, tuple | list) and len(key) == 2 and not isinstance(key, Range)
    return pair and all(hasattr(n, "__index__") for n in key)


def _range(key: Any) -> tuple[tuple[int, ...], ...]:
    """What stands in brackets, as a global range and perhaps a local one.

    Raises
    ------
    TypeError, ValueError
        It is not one or two ranges.
    """
    if isinstance(key, Range | NdRange):
        return kernel_api.brackets(key)
    if not hasattr(key, "__index__") and not 1 <= len(key) <= 3:
        raise exceptions.InvalidKernelLaunchArgsError(
            f"range: {key!r}; expected a global range, and a local range if there is one"
        )
    if hasattr(key, "__index__") or all(hasattr(n, "__index__") for n in key):
        return (_lengths(key),)
    if len(key) != 2:
        raise exceptions.InvalidKernelLaunchArgsError(
            f"range: {key!r}; expected a global range, and a local range if there is one"
        )
    first, second = map(_lengths, key)
    if not first:
        raise exceptions.IllegalRangeValueError(f"global range: {key[0]!r}; expected lengths")
    return (first, second) if second else (first,)


def _lengths(given: Any) -> tuple[int, ...]:
    """One range as a tuple."""
    return (int(given),) if hasattr(given, "__index__") else tuple(int(n) for n in given)


def kernel(function: Any = None, **_: Any) -> Any:
    """Make a kernel of a Python function.

    Parameters
    ----------
    function : callable, signature or None
        Signatures of numba-dpex are taken and ignored.
    **_ : optional
        Options of numba-dpex, which are ignored.

    Returns
    -------
    DpexKernel or decorator
        Launched as ``kernel[global, local](...)`` or by `call_kernel`.

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> @dpex.kernel
    ... def double(x):
    ...     i = dpex.get_global_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = usmx.arange(3)
    >>> double[3](x)
    >>> print(x)
    [0, 2, 4]
    """
    return kernel if function is None or is_signature(function) else DpexKernel(function)


def device_func(function: Any = None, **_: Any) -> Any:
    """Make a function that kernels call.

    Parameters
    ----------
    function : callable, signature or None
        Signatures of numba-dpex are taken and ignored.
    **_ : optional
        Options of numba-dpex, which are ignored.

    Returns
    -------
    DeviceFunction or decorator

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> @dpex.device_func
    ... def square(v):
    ...     return v * v
    >>> @dpex.kernel
    ... def squares(item, x):
    ...     i = item.get_id(0)
    ...     x[i] = square(x[i])
    >>> x = usmx.arange(3)
    >>> dpex.call_kernel(squares, dpex.Range(3), x)
    >>> print(x)
    [0, 1, 4]
    """
    if function is None or is_signature(function):
        return device_func
    return _device_func(function)


func = device_func


def call_kernel(kernel: DpexKernel, range: Range | NdRange, *args: Any) -> None:
    """Launch a kernel and wait for it.

    Its first parameter is an item if it has one more than there are arguments.

    Parameters
    ----------
    kernel : kernel
        Made by ``@dpex.kernel``.
    range : Range or NdRange
        Over which items.
    *args : object
        The other arguments.

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> @dpex.kernel
    ... def double(item, x):
    ...     i = item.get_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = usmx.arange(3)
    >>> dpex.call_kernel(double, dpex.Range(3), x)
    >>> print(x)
    [0, 2, 4]
    """
    kernel_api.refuse_local_memory(range, args)
    _launched(kernel, range, (), args).wait()


def call_kernel_async(
    kernel: DpexKernel, range: Range | NdRange, dependent_events: Any, *args: Any
) -> tuple[Any, Any]:
    """Launch a kernel after some events.

    Parameters
    ----------
    kernel, range, *args : object
        As for `call_kernel`.
    dependent_events : sequence of events
        Of dpctl or of usmx.

    Returns
    -------
    tuple of two events
        Here the same; a ``dpctl.SyclEvent`` where dpctl is installed, else a `usmx.Event`.

    Examples
    --------
    >>> import usmx.compat.numba_dpex as dpex
    >>> @dpex.kernel
    ... def double(item, x):
    ...     i = item.get_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = usmx.arange(3)
    >>> event, _ = dpex.call_kernel_async(double, dpex.Range(3), (), x)
    >>> event.wait()
    >>> print(x)
    [0, 2, 4]
    """
    kernel_api.refuse_local_memory(range, args)
    event = _launched(kernel, range, dependent_events, args)
    library = offload.dpctl()
    given = event if library is None else library.SyclEvent(event._get_capsule())
    return given, given


def _launched(
    kernel: DpexKernel, range: Range | NdRange, events: Any, args: Sequence[Any]
) -> _usmx.Event:
    if not isinstance(kernel, DpexKernel):
        name = getattr(kernel, "__name__", kernel)
        raise TypeError(
            f"kernel: {name} is of type {type(kernel).__name__}; expected a function that is "
            "decorated with @kernel"
        )
    brackets = _range(range)
    if kernel.takes(len(args)):
        launch: Any = kernel.with_functions[kernel.grouped(brackets, args)]
    else:
        launch = kernel.with_item[brackets]
    event: _usmx.Event = launch(*args, depends_on=list(events) or None)
    return event


_explained.explain(globals())
