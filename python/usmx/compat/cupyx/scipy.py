"""``cupyx.scipy``: what usmx has of SciPy's names; sparse matrices and images are missing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from typing import Any

import usmx as _usmx
from usmx import _explained

from .._standing_in import refuse as _refuse

#: Parts that are usmx's own.
_PARTS = ("special", "fft", "linalg")
# `import cupyx.scipy.special` finds them too.
sys.modules.update({f"{__name__}.{name}": getattr(_usmx, name) for name in _PARTS})
#: A package to `import`, which asks for its parts then.
__path__: list[str] = []
_OF_SCIPY = "takes arrays in shared memory, with SCIPY_ARRAY_API=1 set before SciPy is imported"
#: Parts of CuPy that are not here, and what to use.
_REFUSED = {
    "sparse": "sparse matrices are not in usmx",
    **{
        name: f"scipy.{name} {_OF_SCIPY}"
        for name in ("interpolate", "ndimage", "optimize", "signal", "spatial", "stats")
    },
}
_refuse("cupyx.scipy", _REFUSED)


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return getattr(_usmx, name)
    if name in _REFUSED:
        raise AttributeError(f"cupyx.scipy.{name} is not here: {_REFUSED[name]}")
    raise AttributeError(f"cupyx.scipy has no '{name}' here; it has {', '.join(_PARTS)}")


_explained.explain(globals())
