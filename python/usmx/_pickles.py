"""What pickles of kernels and queues name: pickle finds functions of Python modules only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def call(cls: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Make an object as it was made."""
    return cls(*args, **keywords)


def queue(device: str, in_order: bool, enable_profiling: bool) -> Any:
    """Make a queue of its own on the device of that filter string."""
    from . import _usmx

    return _usmx.Queue(device, in_order=in_order, enable_profiling=enable_profiling)
