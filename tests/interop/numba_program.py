"""A function that Numba compiles for the host, once for all tests."""
# SPDX-License-Identifier: Apache-2.0

import numba


@numba.njit
def double(v):
    """Double all elements."""
    for k in range(len(v)):
        v[k] *= 2
