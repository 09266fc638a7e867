"""``@cuda.reduce``: one number of an array, by a function of two numbers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _usmx
from ..._kernel.language.functions import barrier, item_functions, local
from ..._kernel.launch import Kernel
from .arrays import DeviceNDArray, unwrapped
from .dispatcher import CUDADispatcher
from .streams import queue_of

#: Threads of a block, and at most so many blocks.
THREADS = 64
MOST_BLOCKS = 256

_id: Any = item_functions["get_local_id"]
_group: Any = item_functions["get_group_id"]
_groups: Any = item_functions["get_num_groups"]
_barrier: Any = barrier
_array: Any = local.array


def _kernel(operation: Any) -> Kernel:
    """A kernel that leaves one number of each group. Numbers are taken in their order."""

    def reduced(x: Any, part: Any, found: Any) -> None:
        k, group = _id(0), _group(0)
        tile = _array(THREADS, found.dtype)
        # Each item takes `part` numbers that follow one another.
        first = (group * THREADS + k) * part
        last = min(first + part, x.size)
        if first < last:
            value = x[first]
            for i in range(first + 1, last):
                value = operation(value, x[i])
            tile[k] = value
        _barrier()
        begin = group * THREADS * part
        left = min(THREADS, (x.size - begin + part - 1) // part)
        step = 1
        while step < THREADS:
            if k % (2 * step) == 0 and k + step < left:
                tile[k] = operation(tile[k], tile[k + step])
            _barrier()
            step *= 2
        if k == 0:
            found[group] = tile[0]

    return Kernel(reduced, has_item=False, numba=True)


class Reduce:
    """A function of an array that combines its numbers two by two.

    Parameters
    ----------
    functor : function
        Of two numbers, which gives one of their type; associative.

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> total = cuda.reduce(lambda a, b: a + b)
    >>> float(total(np.arange(4.0)))
    6.0
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._functor = functor
        self._kernel = _kernel(
            functor if isinstance(functor, CUDADispatcher) else CUDADispatcher(functor, device=True)
        )

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """The numbers combined.

        Parameters
        ----------
        arr : array
            Of one dimension, of the host or of the device.
        size : int, optional
            How many of its numbers; all if not given.
        res : device array, optional
            Where its first element becomes the result, and the call returns None.
        init : number
            What the first number is combined with; that of no numbers.
        stream
            Where it is computed.

        Returns
        -------
        number or None
            Of the array's type.
        """
        queue = queue_of(stream)
        given = unwrapped(arr)
        if not isinstance(given, _usmx.ndarray):
            given = _usmx.asarray(np.asarray(given), queue=queue)
        if given.ndim != 1:
            raise TypeError(f"only support 1D array, got {given.ndim} dimensions")
        count = given.size if size is None else int(size)
        if count == 0:
            result = init
        else:
            numbers = given[:count]
            while numbers.size > 1:
                numbers = self._step(numbers, queue)
            result = numbers.to_numpy()[0]
            if init != 0:
                made = _usmx.asarray(np.array([init, result], given.dtype), queue=queue)
                result = self._step(made, queue).to_numpy()[0]
        if res is None:
            return result
        target: DeviceNDArray = res
        target[:1] = np.array([result], np.dtype(given.dtype))
        return None

    def _step(self, numbers: _usmx.ndarray, queue: _usmx.Queue | None) -> _usmx.ndarray:
        part = max(8, -(-numbers.size // (THREADS * MOST_BLOCKS)))
        groups = -(-numbers.size // (THREADS * part))
        found: _usmx.ndarray = _usmx.empty(
            groups, numbers.dtype, usm_type="device", queue=numbers.queue
        )
        launch: Any = self._kernel[(groups * THREADS,), (THREADS,)]
        launch(numbers, part, found, queue=queue) if queue is not None else launch(
            numbers, part, found
        )
        return found
