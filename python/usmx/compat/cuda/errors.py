"""Numba's exceptions by its names, and ours as what programs of Numba catch."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from typing import Any

from usmx import _explained

from ..._kernel.source.diagnostics import KernelError


class CudaAPIError(RuntimeError):
    """A command that a device refused."""


class CudaSupportError(ImportError):
    """Never raised: where there is no device, usmx says so at the first command."""


class CudaDriverError(RuntimeError):
    """Never raised."""


class NvvmSupportError(ImportError):
    """Never raised."""


class KernelRuntimeError(RuntimeError):
    """Never raised: see ``debug=True``."""


class CooperativeError(NotImplementedError, CudaAPIError):
    """A kernel that waits for all blocks is launched over more than one."""


TypingError = KernelError
LoweringError = KernelError
UnsupportedError = KernelError


_classes: dict[type, Any] = {}


def _class_for(numbas: type) -> Any:
    if numbas not in _classes:
        _classes[numbas] = type("KernelError", (KernelError, numbas), {"__module__": __name__})
    return _classes[numbas]


def of(error: KernelError) -> Exception:
    """An error of the compiler, which is also Numba's `TypingError` where Numba is imported."""
    numba: Any = sys.modules.get("numba.core.errors")
    found = getattr(numba, "TypingError", None)
    if not isinstance(found, type) or issubclass(found, KernelError):
        return error
    made = _class_for(found)
    new: Exception = made.__new__(made)
    new.args = error.args
    new.__dict__.update(vars(error))
    return new


__all__ = [
    "CooperativeError", "CudaAPIError", "CudaDriverError", "CudaSupportError",
    "KernelRuntimeError", "LoweringError", "NvvmSupportError", "TypingError", "UnsupportedError",
]  # fmt: skip

_explained.explain(globals())
