"""A plugin for pytest: usmx in place of the library that a test of others imports.

``USMX_AS`` names it: ``array_api_strict`` in the tests of SciPy and xarray, ``cupy`` in those of
Dask and xarray, which use it as an example of a library of arrays other than NumPy.
"""
# SPDX-License-Identifier: Apache-2.0

import importlib.machinery
import os
import sys
import types

import numpy
from substituted import (  # noqa: F401
    pytest_runtest_logstart,
    pytest_runtest_makereport,
    pytest_sessionfinish,
)

import usmx

MAKERS = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")


class Impersonator(types.ModuleType):
    """A module with the names of usmx, and what the other library has in addition."""

    __version__ = "99.0"
    Array = ndarray = usmx.ndarray
    __path__ = ()

    def set_array_api_strict_flags(self, **flags):
        pass

    @staticmethod
    def array(value, dtype=None, **keywords):
        given = value if isinstance(value, usmx.ndarray) else numpy.array(value, dtype)
        return usmx.asarray(given, dtype, usm_type="shared", copy=True)

    def __getattr__(self, name):
        if name.startswith("__") and name != "__array_namespace_info__":
            raise AttributeError(name)
        return getattr(usmx, name, None) or getattr(numpy, name)


def in_shared_memory(make):
    """Make arrays that the host can read, since the tests compare by NumPy."""
    return lambda *args, **keywords: make(*args, **{"usm_type": "shared", **keywords})


for name in MAKERS:
    setattr(usmx, name, in_shared_memory(getattr(usmx, name)))
usmx.ndarray.get = usmx.ndarray.to_numpy  # as CuPy's arrays have it

for name in os.environ["USMX_AS"].split(","):
    sys.modules[name] = Impersonator(name)
    sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
    sys.modules[f"{name}._array_object"] = sys.modules[name]
