"""``cupyx.scipy``: what usmx has of SciPy's names; sparse matrices and images are missing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from typing import Any

import usmx as _usmx
from usmx import _explained

#: Parts that are usmx's own.
_PARTS = ("special", "fft", "linalg")
# `import cupyx.scipy.special` finds them too.
sys.modules.update({f"{__name__}.{name}": getattr(_usmx, name) for name in _PARTS})


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return getattr(_usmx, name)
    raise AttributeError(f"cupyx.scipy has no '{name}' here; it has {', '.join(_PARTS)}")


_explained.explain(globals())
