"""Functions that Numba compiles for the host, once for all tests."""
# SPDX-License-Identifier: Apache-2.0

import numba


@numba.njit
def elements(v):
    """Read all elements."""
    return [e for e in v]


@numba.njit
def write_first(v):
    """Write 42 to the first element."""
    v[0] = 42
