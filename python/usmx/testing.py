"""NumPy's assertions, of arrays in any memory: ``usmx.testing.assert_allclose(x, y)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import wraps
from typing import Any

from ._usmx import ndarray


def _on_host(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value.to_numpy()
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_on_host(one) for one in value)
    return value


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from numpy import testing

    theirs = getattr(testing, name, None)
    if theirs is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not name.startswith("assert_") or isinstance(theirs, type):
        return theirs

    @wraps(theirs)
    def call(*args: Any, **keywords: Any) -> Any:
        return theirs(*map(_on_host, args), **{k: _on_host(v) for k, v in keywords.items()})

    globals()[name] = call
    return call


def __dir__() -> list[str]:
    from numpy import testing

    return sorted(name for name in dir(testing) if not name.startswith("_"))
