"""Whether kernels run on the device or in Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator

from .. import _usmx

_mode: contextvars.ContextVar[bool | None] = contextvars.ContextVar("usmx_simulate", default=None)


def by_environment() -> bool:
    """Whether ``USMX_SIMULATE`` says that all kernels run in Python."""
    return os.environ.get("USMX_SIMULATE", "") not in ("", "0")


def is_on() -> bool:
    """Whether kernels without a choice of their own run in Python."""
    chosen = _mode.get()
    return by_environment() if chosen is None else chosen


@contextlib.contextmanager
def simulate(on: bool = True) -> Iterator[None]:
    """Run the kernels that are launched in a ``with`` block in Python, with checks.

    Parameters
    ----------
    on : bool, optional
        False runs them on the device, whatever ``USMX_SIMULATE`` says.
    """
    token = _mode.set(on)
    # From here on launches ask; before the first block they need not.
    _usmx._ask_for_simulation(True)
    try:
        yield
    finally:
        _mode.reset(token)


_usmx._ask_for_simulation(by_environment())
