"""``cupy.fft``: usmx's transforms, and the names that only NVIDIA's library can fulfil."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import usmx as _usmx
from usmx import _explained


def __getattr__(name: str) -> Any:
    return getattr(_usmx.fft, name)


class _Config:
    """``cupy.fft.config``: the choices that programs make; usmx has one way for each."""

    enable_nd_planning = True
    use_multi_gpus = False

    @staticmethod
    def set_cufft_callbacks(**_: Any) -> Any:
        """Not here.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            "set_cufft_callbacks: callbacks are a part of NVIDIA's cuFFT; compute the operand "
            "before usmx.fft, which takes an operand that is not computed yet"
        )

    @staticmethod
    def set_cufft_gpus(gpus: Any) -> None:
        """Not here, but for one device."""
        if gpus not in (1, [0]):
            raise NotImplementedError("set_cufft_gpus: a transform is computed by one device")


config: _Config = _Config()

_explained.explain(globals())
