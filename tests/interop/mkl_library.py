"""oneMKL's C interface, called with addresses."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import sys
from functools import cache
from pathlib import Path

import numpy as np

import usmx

ROW_MAJOR, NOT_TRANSPOSED = 101, 111


@cache
def load() -> ctypes.CDLL:
    """The library that the wheel `mkl` installs, on one thread of the host."""
    folder = Path(sys.prefix) / "lib"
    mkl = ctypes.CDLL(str(next(folder.glob("libmkl_rt.so.*"))), mode=ctypes.RTLD_GLOBAL)
    mkl.MKL_Set_Threading_Layer(1)  # sequential: no second OpenMP next to that of other libraries
    return mkl


def double(x: usmx.ndarray) -> None:
    """Double 16 elements: a matrix times one, into other memory of usmx, and added from there."""
    y = usmx.empty(16, "float32", usm_type=x.usm_type)
    one = np.eye(4, dtype="f4")
    scale, zero = ctypes.c_float(1), ctypes.c_float(0)
    here, there = ctypes.c_void_p(x.pointer), ctypes.c_void_p(y.pointer)
    matrix = ctypes.c_void_p(one.ctypes.data)
    order = (ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED)
    load().cblas_sgemm(*order, 4, 4, 4, scale, here, 4, matrix, 4, zero, there, 4)
    load().cblas_saxpy(16, scale, there, 1, here, 1)
