"""``import cupy`` finds this package while `install` holds."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import types
from typing import Any

from .._standing_in import StandsIn

#: Parts of the two packages that programs import by name.
_PARTS = {
    "cupy": ("cuda", "random", "testing", "linalg", "fft"),
    "cupy.cuda": ("runtime", "nvtx", "stream", "device", "memory", "pinned_memory", "profiler"),
    "cupyx": ("jit", "scipy", "profiler", "time", "cutensor"),
    "cupyx.scipy": ("special", "fft", "linalg"),
}
#: Packages of NVIDIA's libraries, and what to use.
_REFUSED = "cupy_backends"


class _Backends(types.ModuleType):
    """NVIDIA's libraries, which are not here."""

    __path__: list[str] = []  # noqa: RUF012 - what makes a module a package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(
            f"{_REFUSED} is not here: NVIDIA's libraries are called by usmx.linalg, usmx.fft and "
            "usmx.matmul"
        )


class install(StandsIn):
    """Let ``import cupy`` and ``import cupyx`` find `usmx.compat.cupy` and `usmx.compat.cupyx`.

    It holds until the process ends, or until the end of a ``with`` block. CuPy need not be
    installed.

    Examples
    --------
    >>> import usmx.compat.cupy
    >>> with usmx.compat.cupy.install():
    ...     import program_for_cupy
    """

    def __init__(self) -> None:
        modules: dict[str, Any] = {
            name: importlib.import_module(f"usmx.compat.{name}") for name in ("cupy", "cupyx")
        }
        for package, names in _PARTS.items():
            for name in names:
                modules[f"{package}.{name}"] = getattr(modules[package], name)
        for name in ("", ".cuda", ".cuda.libs"):
            modules[_REFUSED + name] = _Backends(_REFUSED + name)
        for name in ("cusparselt", "cusparse", "cublas", "cusolver", "cufft", "cutensor"):
            modules[f"{_REFUSED}.cuda.libs.{name}"] = _Backends(name)
        super().__init__(("cupy", "cupyx", _REFUSED), modules, [])

    def __enter__(self) -> install:
        return self
