"""The types of elements: as the prelude of kernels in C++ calls them, and as NumPy does."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

TYPES = {
    "bool": "bool",
    "int8_t": "i1",
    "uint8_t": "u1",
    "int16_t": "i2",
    "uint16_t": "u2",
    "int32_t": "i4",
    "uint32_t": "u4",
    "int64_t": "i8",
    "uint64_t": "u8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
    "usmx::complex<float>": "c8",
    "usmx::complex<double>": "c16",
}
