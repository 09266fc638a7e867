"""``from numba import cuda`` finds this package while `install` holds."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from typing import Any

from ..numba_types import TYPES, from_dtype
from ..standing_in import StandsIn

#: Of the packages that are replaced; with a dot behind it, of their parts too.
_NAME = "numba.cuda"


def _module(name: str, doc: str, **contents: Any) -> types.ModuleType:
    made = types.ModuleType(name, doc)
    made.__dict__.update(contents)
    return made


def _parts(cuda: Any) -> dict[str, Any]:
    """The modules that programs import from ``numba.cuda``."""
    from . import arrays, devices, dispatcher, driver, errors, linking, random, ufuncs

    libdevice = _module(f"{_NAME}.libdevice", "Functions of numbers.", **vars(cuda.libdevice))
    drv = _module(
        f"{_NAME}.cudadrv", "Names of its driver.",
        devicearray=arrays, devices=devices, driver=driver, error=errors, linkable_code=linking,
    )  # fmt: skip
    core = _module(f"{_NAME}.core", "Its compiler.", errors=errors)
    return {
        _NAME: cuda,
        f"{_NAME}.random": random,
        f"{_NAME}.libdevice": libdevice,
        f"{_NAME}.types": cuda.types,
        f"{_NAME}.args": dispatcher,
        f"{_NAME}.errors": errors,
        f"{_NAME}.vectorizers": ufuncs,
        f"{_NAME}.cudadrv": drv,
        f"{_NAME}.cudadrv.devicearray": arrays,
        f"{_NAME}.cudadrv.devices": devices,
        f"{_NAME}.cudadrv.driver": driver,
        f"{_NAME}.cudadrv.error": errors,
        f"{_NAME}.cudadrv.linkable_code": linking,
        f"{_NAME}.core": core,
        f"{_NAME}.core.errors": errors,
    }


def types_module() -> types.ModuleType:
    """``numba.types``."""
    return _module("numba.types", "Types of numbers and arrays.", **TYPES)


def _stand_in() -> dict[str, Any]:
    """What programs ask of ``numba`` where it is not installed."""
    from . import errors

    def refused(*_: Any, **__: Any) -> Any:
        raise ImportError(
            "numba is not installed, and usmx.compat.cuda stands in for its `cuda` alone: "
            "functions for the processor need `pip install numba`"
        )

    core = _module(
        "numba.core.errors",
        "Errors of its compiler.",
        **{name: getattr(errors, name) for name in errors.__all__},
    )
    found = _module(
        "numba", "Stands in for Numba.", jit=refused, njit=refused, prange=range,
        types=types_module(), __path__=[], __version__="0.0 (usmx)", from_dtype=from_dtype,
        **{name: t for name, t in TYPES.items() if name not in ("bool", "array")},
    )  # fmt: skip
    return {
        "numba": found,
        "numba.types": vars(found)["types"],
        "numba.core": _module("numba.core", "Its compiler.", errors=core, __path__=[]),
        "numba.core.errors": core,
    }


def _dispatching(ours: Any, theirs: Any) -> Any:
    """``numba.vectorize``: ours for ``target="cuda"``."""

    def chosen(*args: Any, **options: Any) -> Any:
        if options.get("target") == "cuda" or theirs is None:
            return ours(*args, **options)
        return theirs(*args, **options)

    return chosen


class install(StandsIn):
    """Let ``from numba import cuda`` find `usmx.compat.cuda`.

    It holds until the process ends, or until the end of a ``with`` block. Numba need not be
    installed; if it is, all else of it stays what it is.

    Examples
    --------
    >>> import usmx.compat.cuda
    >>> with usmx.compat.cuda.install():
    ...     import program_for_numba_cuda
    """

    def __init__(self) -> None:
        cuda = sys.modules[__package__ or "usmx.compat.cuda"]
        modules = _parts(cuda)
        if "numba" not in sys.modules and importlib.util.find_spec("numba") is None:
            modules |= _stand_in()
            numba: Any = modules["numba"]
        else:
            numba = importlib.import_module("numba")
        values = [(numba, "cuda", cuda), (cuda, "cudadrv", modules[f"{_NAME}.cudadrv"])]
        for name in ("vectorize", "guvectorize"):
            chosen = _dispatching(getattr(cuda, name), getattr(numba, name, None))
            values.append((numba, name, chosen))
        super().__init__((_NAME,), modules, values)

    def __enter__(self) -> install:
        return self
