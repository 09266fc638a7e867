# Products of matrices are those of NumPy, for all shapes that broadcast.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

import usmx

pytestmark = pytest.mark.usefixtures("each_library")

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
        usmx.vecdot(x, x, axis=2)


@pytest.mark.parametrize("char", "bBhHiIqQefdFD")
def test_tiles_of_matrices(char: str) -> None:
    rng = np.random.default_rng(1)
    shapes = [((70, 130), (130, 65)), ((64, 64), (64, 64)), ((9, 1), (1, 18)), ((2, 0), (0, 19))]
    shapes += [((3, 9, 5), (5, 20)), ((9, 5), (3, 5, 20)), ((2, 1, 9, 5), (3, 5, 20))]
    for first, second in shapes:
        # Whole numbers, of which sums are exact in every type.
        x, y = (rng.integers(0, 3, shape).astype(char) for shape in (first, second))
        wanted = x @ y
        got = usmx.asarray(x) @ usmx.asarray(y)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(got.to_numpy(), wanted)


def test_tiles_of_views_and_of_two_types() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(-9, 9, (40, 66)), rng.integers(-9, 9, (2, 70, 40)).astype("f")
    a, b = usmx.asarray(x), usmx.asarray(y)
    for got, wanted in (
        (a.T @ b[0].T, x.T @ y[0].T),
        (b @ a, y @ x),
        (b[:, ::-2, 1::2] @ a[::2], y[:, ::-2, 1::2] @ x[::2]),
        (usmx.broadcast_to(a[0], (9, 66)) @ a.T, np.broadcast_to(x[0], (9, 66)) @ x.T),
        ((a + 1) @ (a.T * 2), (x + 1) @ (x.T * 2)),
    ):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    special = np.zeros((10, 10), "f")
    special[3, 4], special[5, 5] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(
            (usmx.asarray(special) @ usmx.asarray(special)).to_numpy(), special @ special
        )


EINSTEIN = [
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("ij->ji", (3, 4)),
    ("ji", (3, 4)),
    ("ii", (4, 4)),
    ("ii->i", (4, 4)),
    ("iji->j", (3, 4, 3)),
    ("ij->", (3, 4)),
    ("ij->i", (3, 4)),
    ("i,i", (4,), (4,)),
    ("i,j->ij", (4,), (3,)),
    ("i,j", (4,), (3,)),
    (",ij", (), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bij,jk->bki", (2, 3, 4), (4, 5)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("ijk,jl,kl->il", (3, 4, 5), (4, 6), (5, 6)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 6)),
    ("i...->...", (3, 4, 5)),
    ("...ij,...jk", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (6, 2, 3, 4), (2, 4, 5)),
    ("...i,...i->...", (2, 1, 3), (4, 3)),
    ("ij,ij->ij", (3, 4), (3, 4)),
    ("ij,ij,ij->", (3, 4), (3, 4), (3, 4)),
    ("ij,kl->", (3, 4), (2, 5)),
    ("ij,ik->i", (3, 4), (3, 5)),
    (" i j , j k -> i k ", (3, 4), (4, 5)),
    ("ij,jk", (3, 1), (4, 5)),
    ("ab,bc,a->c", (3, 4), (4, 5), (3,)),
    ("ij,jk", (0, 4), (4, 5)),
    ("ij,jk", (3, 0), (0, 5)),
]


@pytest.mark.parametrize("char", "qDf?")
def test_letters_say_which_axes_meet(char: str) -> None:
    rng = np.random.default_rng(3)
    for text, *shapes in EINSTEIN[:: 1 if char == "q" else 6]:
        arrays = [rng.integers(0, 3, shape).astype(char) for shape in shapes]
        wanted = np.asarray(np.einsum(text, *arrays))
        ours = [usmx.asarray(x) for x in arrays]
        got = usmx.einsum(text, *ours)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), text
        np.testing.assert_array_equal(got.to_numpy(), wanted, err_msg=text)
    x = np.arange(12).reshape(3, 4)
    a = usmx.asarray(x)
    np.testing.assert_array_equal(usmx.einsum(a, [0, 1], a, [2, 1], [2, 0]).to_numpy(), x @ x.T)
    np.testing.assert_array_equal(np.einsum("ij,kj", a, a, optimize=True).to_numpy(), x @ x.T)


def test_wrong_letters_are_named() -> None:
    a = usmx.ones((3, 4))
    for text, message in (
        ("ij,jk", "has 2 operands; 1 are given"),
        ("i", "operand 0 has 1 labels for the shape"),
        ("ij->ik", "the result has 'k', which no operand has"),
        ("ij->ii", "the result 'ii' has a label twice"),
        ("i1", "operand 0 has '1'; expected letters"),
        ("ii", "operand 0: has length 4 along 'i', another one 3"),
        ("i...->i", "has '...', the result does not"),
    ):
        with pytest.raises(ValueError, match=message.replace(".", r"\.")):
            usmx.einsum(text, a)


def test_products_with_names_of_numpy() -> None:
    rng = np.random.default_rng(4)
    x, y, z = (rng.integers(-9, 9, shape) for shape in ((3, 4), (2, 4, 5), (6, 4)))
    a, b, c = (usmx.asarray(n) for n in (x, y, z))
    for got, wanted in (
        (usmx.dot(a, b), np.dot(x, y)),
        (a.dot(c.T), x.dot(z.T)),
        (usmx.dot(a, 3), np.dot(x, 3)),
        (np.dot(a, c[0]), np.dot(x, z[0])),
        (usmx.inner(a, c), np.inner(x, z)),
        (usmx.vdot(a * 1j, a), np.vdot(x * 1j, x)),
        (usmx.kron(a, c[0]), np.kron(x, z[0])),
        (np.kron(b, a), np.kron(y, x)),
        (usmx.diagonal(b), np.diagonal(y)),
        (b.diagonal(-1, axis1=1, axis2=2), y.diagonal(-1, axis1=1, axis2=2)),
        (np.diagonal(a, 9), np.diagonal(x, 9)),
    ):
        assert got.shape == np.shape(wanted)
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    with pytest.raises(ValueError, match="axis2: -2 is the same axis as axis1"):
        usmx.diagonal(a, 0, 0, -2)


def test_einsum_of_one_operand_without_a_sum_is_a_view(kind: str) -> None:
    n = np.arange(9.0).reshape(3, 3)
    x = usmx.asarray(n, usm_type=kind)
    for text in ("ii->i", "ij->ji", "...->..."):
        theirs, ours = np.einsum(text, n), usmx.einsum(text, x)
        theirs[...] = ours[...] = 7
        np.testing.assert_array_equal(x.to_numpy(), n)
        n[...] = np.arange(9.0).reshape(3, 3)
        x[...] = n
