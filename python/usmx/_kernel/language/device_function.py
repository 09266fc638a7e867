"""Functions that kernels can call."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ..source import pickles, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..source import function


def name_as(self: Any, python: Any) -> None:
    """Give an object the name and the documentation of the function that it is made of."""
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(self, name, getattr(python, name))
    self.__wrapped__ = python


class DeviceFunction:
    """A Python function that kernels can call; made by ``@usmx.device_func``.

    In Python it is what it was: calling it calls the function.
    """

    is_device_function = True

    def __init__(self, python: Callable[..., Any]) -> None:
        if getattr(python, "__code__", None) is None:
            raise TypeError(f"device_func: expected a Python function, got {type(python).__name__}")
        self.python = python
        self._function: function.Function | None = None
        self._code: object = None
        name_as(self, python)
        texts.remember(python)

    @property
    def function(self) -> function.Function:
        """The function with its tree."""
        if self._function is None or self._code is not self.python.__code__:
            # Late, because `ast` takes longer to import than a kept kernel to load.
            from ..source import function

            self._function = function.read(self.python)
            self._code = self.python.__code__
        return self._function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.python(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<usmx.device_func {self.python.__name__}>"

    def __reduce__(self) -> pickles.Reduced:
        return pickles.of_function(self, DeviceFunction, self.python)

    def __copy__(self) -> DeviceFunction:
        return self

    def __deepcopy__(self, memo: object) -> DeviceFunction:
        return self
