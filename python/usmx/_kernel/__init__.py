"""The compiler of ``@usmx.kernel``: Python functions as C++ for the device.

Its parts are imported when they are first used, so that ``import usmx`` stays quick, and a kernel
whose C++ is kept on disk needs none of those that make it.
"""

# SPDX-License-Identifier: Apache-2.0
TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    from .diagnostics import KernelError
    from .functions import (
        AtomicRef,
        LocalMemory,
        atomic,
        barrier,
        clamp,
        clz,
        fence,
        fma,
        local,
        popcount,
        private,
        rsqrt,
    )
    from .launch import device_func, kernel
    from .mode import simulate
    from .spaces import constant

__all__ = [
    "AtomicRef",
    "KernelError",
    "LocalMemory",
    "atomic",
    "barrier",
    "clamp",
    "clz",
    "constant",
    "device_func",
    "fence",
    "fma",
    "kernel",
    "local",
    "popcount",
    "private",
    "rsqrt",
    "simulate",
]

_PARTS = {
    "KernelError": "diagnostics",
    "constant": "spaces",
    "device_func": "launch",
    "kernel": "launch",
    "simulate": "mode",
}


if not TYPE_CHECKING:  # type checkers would believe that every name exists

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(f".{_PARTS.get(name, 'functions')}", __name__), name)
        globals()[name] = value
        return value
