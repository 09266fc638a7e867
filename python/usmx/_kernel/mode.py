"""Whether kernels run on the device or in Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextvars
import os

from .. import _usmx

_mode: contextvars.ContextVar[bool | None] = contextvars.ContextVar("usmx_simulate", default=None)


def by_environment() -> bool:
    """Whether ``USMX_SIMULATE`` says that all kernels run in Python."""
    return os.environ.get("USMX_SIMULATE", "") not in ("", "0")


def is_on() -> bool:
    """Whether kernels without a choice of their own run in Python."""
    chosen = _mode.get()
    return by_environment() if chosen is None else chosen


class simulate:
    """Run the kernels that are launched in a ``with`` block in Python, with checks.

    Parameters
    ----------
    on : bool, optional
        False runs them on the device, regardless of ``USMX_SIMULATE``.

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def double(item, x):
    ...     i = item.get_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = usmx.ones(4)
    >>> with usmx.simulate():
    ...     _ = double[4](x)
    >>> print(x)
    [2., 2., 2., 2.]
    """

    # No contextlib, which takes longer to import than a kept kernel to load.
    def __init__(self, on: bool = True) -> None:
        self._on = on
        self._tokens: list[contextvars.Token[bool | None]] = []

    def __enter__(self) -> None:
        self._tokens.append(_mode.set(self._on))
        # From here on launches ask; before the first block they need not.
        _usmx._KernelDispatcher._ask_for_simulation(True)

    def __exit__(self, *_: object) -> None:
        _mode.reset(self._tokens.pop())


_usmx._KernelDispatcher._ask_for_simulation(by_environment())
