"""NVIDIA's libraries for tests: the true ones on a device of CUDA, stand-ins elsewhere.

The stand-ins (`nvidia_stand_ins.cpp`) compute the same functions on the host with plain loops, so
shapes, strides, orders and errors are tested with real values where there is no GPU.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import lab
import pytest
from backend_row import ROW

import usmx
from usmx._namespace import _nvidia

IS_TRUE = ROW.backend == "cuda"


@cache
def _stand_ins() -> ctypes.CDLL:
    path = str(lab.built("libnvidia_stand_ins.so"))
    for number in range(3):
        assert usmx._usmx._Nvidia.load(number, [path]) == ""
    loaded = ctypes.CDLL(path)
    loaded.stand_in_calls.restype = ctypes.c_char_p
    return loaded


def calls() -> list[str]:
    """What the stand-ins were called with since they were asked last."""
    return _stand_ins().stand_in_calls().decode().splitlines()


@contextmanager
def refusing(function: str, status: int) -> Iterator[None]:
    """A function of the stand-ins gives a status."""
    _stand_ins().stand_in_refuses(function.encode(), status)
    try:
        yield
    finally:
        _stand_ins().stand_in_refuses(b"", 0)


@contextmanager
def used() -> Iterator[None]:
    """Matrices and transforms by NVIDIA's libraries."""
    with pytest.MonkeyPatch.context() as patch:
        if not IS_TRUE:
            _stand_ins()
            patch.setattr(_nvidia, "_missing", lambda _: "")
            patch.setattr(_nvidia, "_is_for", lambda _: True)
        with usmx.linalg.use_library("nvidia"):
            yield
