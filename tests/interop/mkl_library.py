"""oneMKL's C interface, called with addresses."""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import sys
from functools import cache
from pathlib import Path


@cache
def load() -> ctypes.CDLL:
    """The library that the wheel `mkl` installs, on one thread of the host."""
    folder = Path(sys.prefix) / "lib"
    mkl = ctypes.CDLL(str(next(folder.glob("libmkl_rt.so.*"))), mode=ctypes.RTLD_GLOBAL)
    mkl.MKL_Set_Threading_Layer(1)  # sequential: no second OpenMP next to that of other libraries
    return mkl
