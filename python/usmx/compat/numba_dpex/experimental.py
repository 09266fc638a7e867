"""The launchers and decorators under the name that they had in release 0.22."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from usmx import _explained

from . import call_kernel, call_kernel_async, device_func, kernel

__all__ = ["call_kernel", "call_kernel_async", "device_func", "kernel"]

_explained.explain(globals())
