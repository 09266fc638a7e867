"""What a launch is given, as the compiler and the simulator look at it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from .. import _usmx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_array(obj: Any) -> Any:
    """USM of any kind as an array of ours, everything else as it is.

    By the protocols, and not by asking for an attribute: an attribute that describes memory waits for
    what is pending, and from then on the memory counts as exposed.
    """
    if isinstance(obj, _usmx.ndarray):
        return obj
    found = _usmx._imported(obj)
    return obj if found is None else found
