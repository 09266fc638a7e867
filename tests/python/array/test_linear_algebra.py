# Products of matrices are those of NumPy, for all shapes that broadcast.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

import usmx

SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (6, 4, 2)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
]


@pytest.mark.parametrize("char", "?bef")
def test_products_are_those_of_numpy(char: str) -> None:
    rng = np.random.default_rng(0)
    for a, b in SHAPES:
        x, y = (rng.integers(0, 4, shape).astype(char) for shape in (a, b))
        wanted = x @ y
        got = usmx.asarray(x) @ usmx.asarray(y)
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        np.testing.assert_array_equal(got.to_numpy(), wanted)


def test_complex_products_and_views() -> None:
    n = (np.arange(12) + 1j * np.arange(12)[::-1]).astype("c8").reshape(3, 4)
    x = usmx.asarray(n)
    np.testing.assert_array_equal((x @ x.T).to_numpy(), n @ n.T)
    np.testing.assert_array_equal(usmx.vecdot(x, x).to_numpy(), np.vecdot(n, n))
    np.testing.assert_array_equal(usmx.vecdot(x, x, axis=-2).to_numpy(), np.vecdot(n.T, n.T))
    np.testing.assert_array_equal(usmx.matrix_transpose(x).to_numpy(), n.T)
    np.testing.assert_array_equal(usmx.outer(x[0], x[:, 1]).to_numpy(), np.outer(n[0], n[:, 1]))
    np.testing.assert_array_equal((x.to_numpy() @ x.T).to_numpy(), n @ n.T)


def test_wrong_operands_are_named() -> None:
    x = usmx.ones((3, 4))
    with pytest.raises(ValueError, match="x2: has shape"):
        x @ x
    with pytest.raises(ValueError, match="x1: has no dimensions"):
        x[0, 0] @ x
    with pytest.raises(TypeError):
        x @ 3  # type: ignore[operator]
    with pytest.raises(TypeError, match="x2: is of type int"):
        usmx.matmul(x, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="axis"):
        usmx.vecdot(x, x, axis=0)
