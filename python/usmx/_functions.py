"""The functions that usmx adds to those of NumPy and math, for kernels.

Written by `make stubs` from `_operations`; do not edit.
"""
# SPDX-License-Identifier: Apache-2.0

TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    from ._kernel.language.functions import DeviceOnly

    clamp: DeviceOnly
    """Gives a between b and c."""
    clz: DeviceOnly
    """Gives how many zeros stand before the highest one of an integer."""
    fma: DeviceOnly
    """Gives a * b + c, rounded once."""
    popcount: DeviceOnly
    """Gives how many bits of an integer are ones."""
    rsqrt: DeviceOnly
    """Gives 1 / sqrt(a)."""

__all__ = [
    "clamp",
    "clz",
    "fma",
    "popcount",
    "rsqrt",
]
