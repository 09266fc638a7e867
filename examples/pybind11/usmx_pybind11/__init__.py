"""Native functions on USM; each takes arrays of any library that describes them."""
# SPDX-License-Identifier: Apache-2.0

from ._core import add_one, cleared, dot, scale

__all__ = ["add_one", "cleared", "dot", "scale"]
