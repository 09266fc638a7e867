"""Products and eigenvalues by oneMKL's SYCL functions; arrays of any library that describes USM."""
# SPDX-License-Identifier: Apache-2.0

# First, so that the libraries which the module needs are there wherever the module is installed.
import usmx as _usmx  # noqa: F401

from ._core import gemm, syevd

__all__ = ["gemm", "syevd"]
