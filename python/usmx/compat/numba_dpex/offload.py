"""Where the oldest kernels run on NumPy's arrays: on the device of a ``with`` block, in place where
the device reads memory of the host, else on copies that are written back."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import contextvars
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ... import _usmx
from ..._kernel import arguments

_queue: contextvars.ContextVar[Any] = contextvars.ContextVar("usmx_dpex_queue", default=None)


@functools.cache
def dpctl() -> Any:
    """The module dpctl, None if it is not installed."""
    try:
        return importlib.import_module("dpctl")
    except ImportError:
        return None


@contextlib.contextmanager
def device_context(device: Any) -> Iterator[Any]:
    """Run the kernels of a ``with`` block that are given arrays of NumPy on a device.

    Parameters
    ----------
    device : str, device or queue
        A filter string such as ``"opencl:cpu:0"``, a device or a queue of dpctl or usmx.

    Yields
    ------
    dpctl.SyclQueue or usmx.Queue
        The queue of the block; of usmx where dpctl is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import usmx.compat.numba_dpex as dpex
    >>> @dpex.kernel
    ... def double(x):
    ...     i = dpex.get_global_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = np.arange(3)
    >>> with dpex.device_context(usmx.Device()):
    ...     double[3](x)
    >>> x.tolist()
    [0, 2, 4]
    """
    queue = _usmx.Queue(device)
    library = dpctl()
    token = _queue.set(queue)
    try:
        yield queue if library is None else library.SyclQueue(queue._get_capsule())
    finally:
        _queue.reset(token)


def run(launch: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Launch a kernel and wait for it."""
    if not all(isinstance(a, np.ndarray) for a in args if hasattr(type(a), "__getitem__")):
        launch(*args).wait()
        return
    queue = _queue.get()
    # An array that is passed twice is one array on the device too.
    copies: dict[int, tuple[np.ndarray[Any, Any], Any]] = {}
    given = []
    for a in args:
        if isinstance(a, np.ndarray) and a.ndim and arguments.as_array(a) is a:
            found = copies.setdefault(id(a), (a, _usmx.asarray(a, queue=queue)))
            given.append(found[1])
        else:
            given.append(a)
    launch(*given, queue=queue).wait()
    for host, copy in copies.values():
        if host.flags.writeable:
            host[...] = copy.to_numpy()
