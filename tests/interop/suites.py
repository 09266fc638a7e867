"""Which modules of tests of other packages run with arrays of usmx, and how.

The tests are those of the installed packages. `test_suites.py` runs each module in a process; the
tests that fail there must be those of `suites_refused.toml`, no more and no fewer.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """One module of tests."""

    module: str
    #: The plugin of this folder by which its arrays become ours.
    plugin: str = "substituted"
    #: The library that usmx stands for.
    stands_for: str = ""
    #: Of which tests, as pytest's ``-k`` takes it.
    only: str = ""


SUITES = [
    *(
        Suite(f"numpy.{name}")
        for name in (
            "_core.tests.test_einsum",
            "_core.tests.test_function_base",
            "_core.tests.test_indexing",
            "_core.tests.test_item_selection",
            "_core.tests.test_numeric",
            "_core.tests.test_ufunc",
            "_core.tests.test_umath",
            "fft.tests.test_helper",
            "fft.tests.test_pocketfft",
            "lib.tests.test_arraypad",
            "lib.tests.test_arraysetops",
            "lib.tests.test_function_base",
            "lib.tests.test_histograms",
            "lib.tests.test_index_tricks",
            "lib.tests.test_nanfunctions",
            "lib.tests.test_shape_base",
            "lib.tests.test_stride_tricks",
            "lib.tests.test_twodim_base",
            "lib.tests.test_type_check",
            "lib.tests.test_ufunclike",
            "linalg.tests.test_linalg",
        )
    ),
    # A list of 2^31 arrays takes all memory.
    Suite("numpy._core.tests.test_shape_base", only="not huge_list_error"),
    Suite("scipy._lib.tests.test_array_api", "impersonated", "array_api_strict"),
    Suite("scipy.fft.tests.test_basic", "impersonated", "array_api_strict", "array_api_strict"),
    Suite("scipy.fft.tests.test_helper", "impersonated", "array_api_strict", "array_api_strict"),
    Suite(
        "scipy.special.tests.test_logsumexp", "impersonated", "array_api_strict", "array_api_strict"
    ),
    Suite("xarray.tests.test_array_api", "impersonated", "array_api_strict"),
    Suite("xarray.tests.test_duck_array_wrapping", "impersonated", "cupy", "cupy"),
    Suite("xarray.tests.test_cupy", "impersonated", "cupy"),
    *(
        Suite(f"dask.array.tests.test_cupy_{name}", "impersonated", "cupy")
        for name in (
            "core",
            "creation",
            "gufunc",
            "linalg",
            "overlap",
            "percentile",
            "reductions",
            "routines",
            "slicing",
        )
    ),
]
