"""Native functions on USM; each takes arrays of any library that describes them."""
# SPDX-License-Identifier: Apache-2.0

# First, so that the libraries which the module needs are there wherever the module is installed.
import usmx as _usmx  # noqa: F401

from ._core import (
    add_one,
    cleared,
    copy_contiguous,
    every_second_column,
    largest,
    pictures_outstanding,
    scale,
    take_picture,
)

__all__ = [
    "add_one",
    "cleared",
    "copy_contiguous",
    "every_second_column",
    "largest",
    "pictures_outstanding",
    "scale",
    "take_picture",
]
