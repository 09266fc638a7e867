"""Matrices for the tests of libraries, and how near their results have to be."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

TYPES = ["float32", "float64", "complex64", "complex128"]


def some(shape: tuple[int, ...], dtype: Any = "float64", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def close(got: Any, wanted: Any, factor: float = 200) -> None:
    """Within `factor` units in the last place of the largest number."""
    wanted = np.asarray(wanted)
    assert got.shape == wanted.shape
    bound = factor * np.finfo(wanted.dtype).eps * max(1.0, float(abs(wanted).max()))
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=0, atol=bound)
