"""Fused functions that are more than one kernel: run on arrays, which defer what they compute."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _usmx


class OnArrays:
    """A function that is run at each call.

    Parameters
    ----------
    function : callable
        What is fused.
    reason : str
        Why it is not one kernel.
    """

    written = ()
    takes_arguments_as_they_are = False

    def __init__(self, function: Callable[..., Any], reason: str) -> None:
        self._function = function
        self.reason = reason
        self.sources: list[str] = []

    def __call__(
        self,
        args: tuple[Any, ...],
        passed: tuple[Any, ...],
        out: Any,
        queue: Any,
        depends_on: Any,
    ) -> Any:
        if queue is not None or depends_on is not None:
            word = "queue" if queue is not None else "depends_on"
            raise ValueError(
                f"{word}: the function is more than one kernel ({self.reason}), which run on the "
                f"queues of their arrays, after what these wait for; leave {word}= out"
            )
        given = tuple(_array_of(value) for value in args)
        foreign = [
            array
            for array, value in zip(given, passed, strict=True)
            if isinstance(array, _usmx.ndarray) and array is not value
        ]
        made = self._function(*given)
        many = isinstance(made, (tuple, list))
        results = list(made) if many else [made]
        if made is None or not results:
            for array in foreign:
                array.queue.wait()
            if out is not None:
                raise TypeError("out=: the function returns nothing")
            return () if many else None
        # An argument that is returned is what was passed.
        back = {id(array): value for array, value in zip(given, passed, strict=True)}
        results = [
            back[id(one)] if isinstance(one, _usmx.ndarray) and id(one) in back else _result(one)
            for one in results
        ]
        if out is not None:
            results = _written(results, out)
        if foreign:
            # Others write to their memory without our knowing, and read without waiting.
            for one in results:
                if isinstance(one, _usmx.ndarray):
                    one._compute()
            for array in foreign:
                array.queue.wait()
        return tuple(results) if many else results[0]


def _array_of(value: Any) -> Any:
    """Memory of the host as an array of ours over the same elements."""
    if isinstance(value, np.ndarray):
        found = _usmx._imported(value, host=True)
        if found is None:
            # A copy would lose what the function changes in place.
            text = _usmx._no_memory_text(value, " or a number")
            raise TypeError(f"an argument of a fused function: {text}")
        return found
    return value


def _result(value: Any) -> _usmx.ndarray:
    if isinstance(value, _usmx.ndarray):
        return value
    if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
        return _usmx.asarray(value)
    raise TypeError(
        f"a fused function returns arrays and numbers, not a value of type {type(value).__name__}"
    )


def _written(results: list[Any], out: Any) -> list[Any]:
    """Given outputs with the values of the results."""
    outputs = list(out) if isinstance(out, tuple) else [out]
    if len(outputs) != len(results):
        raise ValueError(f"out: has {len(outputs)} arrays, but the function returns {len(results)}")
    store = _usmx.Operation("positive")
    for target, value in zip(outputs, results, strict=True):
        if not isinstance(target, _usmx.ndarray):
            raise TypeError(f"out: is of type {type(target).__name__}, expected a usmx.ndarray")
        if value.shape != target.shape:
            raise ValueError(f"out: has shape {target.shape}, the result has {value.shape}")
        store(value, out=target)
    return outputs
