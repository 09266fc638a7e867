# Decompositions are right up to rounding: what they are made of gives the matrix again, and columns
# that are to be orthonormal are. Bounds are multiples of epsilon times the size of the matrix.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import usmx
from usmx import linalg

#: How many epsilons for each row a residual may have, relative to the largest numbers.
ROWS = 8.0
SQUARE = [(1, 1), (2, 2), (3, 5, 5), (2, 3, 17, 17), (40, 40)]
OTHERS = [(3, 2), (2, 3), (2, 7, 17), (2, 33, 9)]
EMPTY = [(0, 3), (3, 0), (2, 0, 3, 3), (0, 0)]

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.usefixtures("each_library"),
]


def some(shape: tuple[int, ...], char: str) -> np.ndarray:
    rng = np.random.default_rng(sum(shape) + ord(char))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if char in "FD" else x).astype(char)


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().swapaxes(-1, -2)


def largest(*arrays: np.ndarray) -> float:
    return max((float(np.abs(x).max()) for x in arrays if x.size), default=0.0)


def close(got: np.ndarray, wanted: np.ndarray, scale: float = 1.0) -> None:
    """They differ by a few epsilons for each row, times the scale of the numbers."""
    assert got.shape == wanted.shape
    if got.size:
        eps = max(np.finfo(x.dtype).eps for x in (got, wanted))
        error = np.abs(got.astype("D") - wanted.astype("D")).max()
        assert error <= ROWS * eps * max(got.shape[-2:] if got.ndim > 1 else got.shape) * scale


def orthonormal(columns: np.ndarray) -> None:
    close(adjoint(columns) @ columns, np.eye(columns.shape[-1]) + 0 * (adjoint(columns) @ columns))


def on_host(results: Any) -> tuple[np.ndarray, ...]:
    return tuple(x.to_numpy() for x in results)


@pytest.mark.parametrize("char", "fdFD")
def test_systems_inverses_and_determinants(char: str) -> None:
    for shape in SQUARE:
        n = shape[-1]
        x = some(shape, char)
        a = usmx.asarray(x)
        condition = float(np.linalg.cond(x).max())
        inverse = linalg.inv(a).to_numpy()
        assert inverse.dtype == char
        close(x @ inverse, np.eye(n) + 0 * x, condition)
        for count in (1, 3, 12):
            b = some((*shape[:-1], count), char)
            solved = linalg.solve(a, usmx.asarray(b)).to_numpy()
            close(x @ solved, b, n * largest(x) * largest(solved))
        vector = some((n,), char)
        solved = linalg.solve(a, usmx.asarray(vector)).to_numpy()
        columns = np.broadcast_to(vector[:, None], (*shape[:-1], 1))
        close(solved, np.linalg.solve(x, columns)[..., 0], condition * largest(solved))
        wanted = np.linalg.det(x)
        close(linalg.det(a).to_numpy()[None], wanted[None], n * condition * largest(wanted))
        sign, logarithm = on_host(linalg.slogdet(a))
        wanted_sign, wanted_logarithm = np.linalg.slogdet(x)
        assert logarithm.dtype == wanted_logarithm.dtype
        close(sign[None], wanted_sign[None], n * condition)
        close(logarithm[None], wanted_logarithm[None], n * condition)


@pytest.mark.parametrize("char", "fdFD")
def test_triangles_of_positive_matrices(char: str) -> None:
    for shape in SQUARE:
        x = some(shape, char)
        positive = x @ adjoint(x) + np.eye(shape[-1], dtype=char)
        for upper in (False, True):
            half = (np.triu if upper else np.tril)(positive)  # the other one is not read
            made = linalg.cholesky(usmx.asarray(half), upper=upper).to_numpy()
            assert made.dtype == char
            np.testing.assert_array_equal(made, (np.triu if upper else np.tril)(made))
            close(adjoint(made) @ made if upper else made @ adjoint(made), positive,
                  largest(positive))  # fmt: skip


@pytest.mark.parametrize("char", "fdFD")
def test_orthonormal_columns_times_a_triangle(char: str) -> None:
    for shape in SQUARE + OTHERS + EMPTY:
        x = some(shape, char)
        for mode in ("reduced", "complete"):
            q, r = on_host(linalg.qr(usmx.asarray(x), mode=mode))
            wanted_q, wanted_r = np.linalg.qr(x, mode=mode)
            assert (q.shape, q.dtype) == (wanted_q.shape, wanted_q.dtype)
            orthonormal(q)
            np.testing.assert_array_equal(r, np.triu(r))
            close(q @ r, x, largest(x))
            # The signs are LAPACK's; triangles depend on the condition of the columns.
            close(r, wanted_r, 100 * largest(x))
        close(linalg.qr(usmx.asarray(x), mode="r").to_numpy(), np.linalg.qr(x, mode="r"),
              100 * largest(x))  # fmt: skip


def deficient(x: np.ndarray) -> np.ndarray:
    """Two columns are the same, one row is 0."""
    made = x.copy()
    made[..., -1] = made[..., 0]
    made[..., -1, :] = 0
    return made


@pytest.mark.parametrize("char", "fD")
def test_singular_values_and_vectors(char: str) -> None:
    for shape in SQUARE[:-1] + OTHERS + EMPTY:
        least = min(shape[-2:])
        for x in (some(shape, char), deficient(some(shape, char)) if 0 not in shape else None):
            if x is None:
                continue
            a = usmx.asarray(x)
            for full in (True, False):
                u, s, vh = on_host(linalg.svd(a, full_matrices=full))
                wanted = np.linalg.svd(x, full_matrices=full)
                for got, same in zip((u, s, vh), wanted, strict=True):
                    assert (got.shape, got.dtype) == (same.shape, same.dtype)
                close(s, wanted[1], largest(wanted[1]))
                orthonormal(u)
                orthonormal(adjoint(vh))
                close((u[..., :least] * s[..., None, :]) @ vh[..., :least, :], x, largest(x))
            close(linalg.svdvals(a).to_numpy(), wanted[1], largest(wanted[1]))
            inverse = linalg.pinv(a).to_numpy()
            close(x @ inverse @ x, x, largest(x) ** 2 * max(largest(inverse), 1))
            assert inverse.shape == np.linalg.pinv(x).shape
            np.testing.assert_array_equal(
                linalg.matrix_rank(a).to_numpy(), np.linalg.matrix_rank(x)
            )


@pytest.mark.parametrize("char", "fD")
def test_eigenvalues_of_hermitian_matrices(char: str) -> None:
    for shape in SQUARE:
        x = some(shape, char)
        for matrix in (x + adjoint(x), deficient(x) @ adjoint(deficient(x)), 0 * x):
            wanted = np.linalg.eigvalsh(matrix)
            values, vectors = on_host(linalg.eigh(usmx.asarray(np.tril(matrix))))
            assert (values.dtype, vectors.dtype) == (wanted.dtype, matrix.dtype)
            close(values, wanted, largest(wanted))
            orthonormal(vectors)
            close(matrix @ vectors, vectors * values[..., None, :], largest(wanted))
            upper = linalg.eigvalsh(usmx.asarray(np.triu(matrix)), UPLO="U")
            close(upper.to_numpy(), wanted, largest(wanted))


@pytest.mark.parametrize("char", "fD")
def test_eigenvalues_of_any_matrices(char: str) -> None:
    for shape in SQUARE:
        x = some(shape, char)
        values, vectors = on_host(linalg.eig(usmx.asarray(x)))
        assert values.dtype == vectors.dtype == np.dtype(char.upper())
        close(np.linalg.norm(vectors, axis=-2), np.ones(values.shape, char.lower()))
        close(x @ vectors, vectors * values[..., None, :], shape[-1] * largest(x))
        alone = linalg.eigvals(usmx.asarray(x)).to_numpy()
        np.testing.assert_array_equal(alone, values)
        traces = np.trace(x.astype("D"), axis1=-2, axis2=-1)
        close(values.sum(-1)[None].astype(char.upper()), traces[None], shape[-1] ** 2)


def test_eigenvalues_of_special_matrices() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])  # all shifts are alike without exceptional ones
    ring = np.roll(np.eye(6), 1, axis=0)
    chain = np.eye(4, k=1)  # defective
    for x in (turn, ring, np.diag([3.0, 1.0, 2.0]), np.zeros((3, 3)), chain):
        values, vectors = on_host(linalg.eig(usmx.asarray(x)))
        assert np.isfinite(vectors).all()
        close(x @ vectors, vectors * values[..., None, :], 10.0)
    close(np.abs(on_host(linalg.eig(usmx.asarray(ring)))[0]), np.ones(6))


NORMS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


@pytest.mark.parametrize("char", "F")
def test_norms(char: str) -> None:
    x = some((2, 4, 3), char)
    a = usmx.asarray(x)
    for order in NORMS:
        for keepdims in (False, True)[: 1 + (order in (2, "fro"))]:
            wanted = np.linalg.norm(x, ord=order, axis=(-2, -1), keepdims=keepdims)
            got = linalg.matrix_norm(a, ord=order, keepdims=keepdims).to_numpy()
            close(got, wanted.astype(got.dtype), 20.0)
            close(linalg.norm(a, order, (0, 2), keepdims).to_numpy(),
                  np.linalg.norm(x, order, (0, 2), keepdims), 20.0)  # fmt: skip
    for power in (0, 1, 2, 3, 0.5, np.inf, -np.inf, -1):
        for axis in (0, (0, 2), None)[: 3 if power == 2 else 1]:
            wanted = np.linalg.vector_norm(x, ord=power, axis=axis)
            got = linalg.vector_norm(a, ord=power, axis=axis).to_numpy()
            close(got[None], np.asarray(wanted)[None].astype(got.dtype), 20.0 * largest(wanted))
    close(linalg.norm(a).to_numpy()[None], np.asarray(np.linalg.norm(x))[None], 20.0)
    for order in (None, -2, "fro", 1):
        square = some((3, 3), char)
        wanted = np.linalg.cond(square, order)
        got = linalg.cond(usmx.asarray(square), order).to_numpy()
        close(got[None], np.asarray(wanted)[None].astype(got.dtype), 10 * wanted * wanted + 10)


def test_products_and_parts() -> None:
    x, y = some((2, 5, 3), "d"), some((5, 3), "d")
    a, b = usmx.asarray(x), usmx.asarray(y)
    np.testing.assert_allclose(linalg.cross(a, b).to_numpy(), np.linalg.cross(x, y), rtol=1e-14)
    np.testing.assert_allclose(
        linalg.cross(a.T, b.T[:, :, None], axis=0).to_numpy(),
        np.cross(x.T, y.T[:, :, None], axis=0),
        rtol=1e-14,
    )
    for view in (a, a[:, ::-1, ::2], a.T):
        same = view.to_numpy()
        for offset in range(-6, 7):
            np.testing.assert_array_equal(
                linalg.diagonal(view, offset=offset).to_numpy(),
                np.linalg.diagonal(same, offset=offset),
            )
            np.testing.assert_allclose(
                linalg.trace(view, offset=offset).to_numpy(), np.linalg.trace(same, offset=offset)
            )
    square = some((2, 4, 4), "d")
    for power in (0, 1, 2, 5, -1, -3):
        wanted = np.linalg.matrix_power(square, power)
        got = linalg.matrix_power(usmx.asarray(square), power).to_numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
    chain = [some(shape, "d") for shape in ((3,), (3, 20), (20, 2), (2, 7))]
    np.testing.assert_allclose(
        linalg.multi_dot([usmx.asarray(c) for c in chain]).to_numpy(), np.linalg.multi_dot(chain)
    )
    tall, right = some((9, 4), "d"), some((9, 2), "d")
    for got, wanted in zip(
        linalg.lstsq(usmx.asarray(tall), usmx.asarray(right)),
        np.linalg.lstsq(tall, right),
        strict=True,
    ):
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-12)
        assert got.dtype == np.asarray(wanted).dtype


def test_sums_over_several_axes() -> None:
    x, y = some((2, 3, 4), "d"), some((4, 3, 5), "d")
    a, b = usmx.asarray(x), usmx.asarray(y)
    for axes in (0, 1, ((2,), (0,)), ((1, 2), (1, 0)), ((-1, -2), (-3, -2))):
        np.testing.assert_allclose(
            usmx.tensordot(a, b, axes=axes).to_numpy(), np.tensordot(x, y, axes=axes), rtol=1e-13
        )
    with pytest.raises(ValueError, match=r"axes: of x1 they have the lengths \[3, 4\], of x2"):
        usmx.tensordot(a, b)
    with pytest.raises(ValueError, match="axes: 4; a has 3 dimensions"):
        usmx.tensordot(a, b, axes=4)


def test_memory_and_layout_do_not_matter() -> None:
    x = some((6, 6), "d")
    for kind in ("device", "shared", "host"):
        a = usmx.asarray(x, usm_type=kind)
        inverse = linalg.inv(a)
        assert (inverse.usm_type, inverse.queue) == (kind, a.queue)
        np.testing.assert_array_equal(
            linalg.inv(a.T).to_numpy(), linalg.inv(usmx.asarray(x.T.copy())).to_numpy()
        )
        np.testing.assert_array_equal(a.to_numpy(), x)  # nothing was computed in its place
        np.testing.assert_array_equal(linalg.qr(a[::-1, ::2])[1].to_numpy().shape, (3, 3))
    whole = usmx.arange(9).reshape(3, 3) + usmx.eye(3, dtype="int64")
    assert linalg.inv(whole).dtype == np.float64
    x1 = some((3, 1, 4, 4), "f")
    x2 = some((2, 4, 5), "d")
    close(
        x1 @ linalg.solve(usmx.asarray(x1), usmx.asarray(x2)).to_numpy(),
        np.broadcast_to(x2, (3, 2, 4, 5)),
        1e3,
    )


def test_errors_name_the_matrix() -> None:
    x = some((2, 3, 3, 3), "d")
    x[1, 2] = np.arange(9).reshape(3, 3) * 0
    a = usmx.asarray(x)
    for call in (linalg.inv, lambda a: linalg.solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError, match=r"^a\[1, 2\]: is singular"):
            call(a)
    np.testing.assert_array_equal(linalg.det(a).to_numpy()[1, 2], 0)
    sign, logarithm = linalg.slogdet(a)
    assert (sign[1, 2].item(), logarithm[1, 2].item()) == (0, -np.inf)
    with pytest.raises(linalg.LinAlgError, match=r"a: is not positive definite"):
        linalg.cholesky(usmx.asarray(-np.eye(2)))
    with pytest.raises(linalg.LinAlgError, match=r"a: has shape \(3, 4\); expected square"):
        linalg.inv(usmx.ones((3, 4)))
    with pytest.raises(linalg.LinAlgError, match=r"a: has shape \(3,\); expected at least two"):
        linalg.svd(usmx.ones(3))
    with pytest.raises(linalg.LinAlgError, match=r"b: has shape \(4, 1\); expected 3 rows"):
        linalg.solve(usmx.ones((3, 3)), usmx.ones((4, 1)))
    with pytest.raises(TypeError, match="a: float16 is not supported in linear algebra"):
        linalg.inv(usmx.ones((3, 3), dtype="float16"))
    with pytest.raises(ValueError, match="mode: 'full'; expected"):
        linalg.qr(usmx.ones((3, 3)), mode="full")
    with pytest.raises(ValueError, match="ord: 3; expected 'fro'"):
        linalg.matrix_norm(usmx.ones((3, 3)), ord=3)
    with pytest.raises(ValueError, match="x2: has length 2 along axis -1; expected 3"):
        linalg.cross(usmx.ones(3), usmx.ones(2))
    with pytest.raises(linalg.LinAlgError, match="a: has NaN or infinite elements"):
        linalg.eigvals(usmx.full((3, 3), np.nan))
    assert np.isnan(linalg.inv(usmx.full((3, 3), np.nan)).to_numpy()).any()


def test_functions_of_numpy_compute_on_the_device() -> None:
    x = some((4, 4), "d")
    a = usmx.asarray(x, usm_type="device")
    b = usmx.asarray(x[:, :2].copy(), usm_type="device")
    for got, wanted in (
        (np.linalg.inv(a), np.linalg.inv(x)),
        (np.linalg.solve(a, b), np.linalg.solve(x, x[:, :2])),
        (np.linalg.norm(a, 2), np.linalg.norm(x, 2)),
        (np.linalg.eigvalsh(a + a.T), np.linalg.eigvalsh(x + x.T)),
        (np.linalg.svd(a, compute_uv=False), np.linalg.svd(x, compute_uv=False)),
        (np.linalg.qr(a).R, np.linalg.qr(x).R),
        (np.tensordot(a, b, 1), x @ x[:, :2]),
        (np.tensordot(a, b, axes=([1], [0])), x @ x[:, :2]),
    ):
        assert isinstance(got, usmx.ndarray)
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-10, atol=1e-12)


# The signatures of edition 2025.12.
SIGNATURES = """
cholesky(x, /, *, upper=False)
cross(x1, x2, /, *, axis=-1)
det(x, /)
diagonal(x, /, *, offset=0)
eig(x, /)
eigh(x, /)
eigvals(x, /)
eigvalsh(x, /)
inv(x, /)
matmul(x1, x2, /)
matrix_norm(x, /, *, keepdims=False, ord='fro')
matrix_power(x, n, /)
matrix_rank(x, /, *, rtol=None)
matrix_transpose(x, /)
outer(x1, x2, /)
pinv(x, /, *, rtol=None)
qr(x, /, *, mode='reduced')
slogdet(x, /)
solve(x1, x2, /)
svd(x, /, *, full_matrices=True)
svdvals(x, /)
tensordot(x1, x2, /, *, axes=2)
trace(x, /, *, offset=0, dtype=None)
vecdot(x1, x2, /, *, axis=-1)
vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""


@pytest.mark.parametrize("line", SIGNATURES.split("\n")[1:-1])
def test_each_call_that_the_standard_allows_is_accepted(line: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def {line}: ...", scope)
    name = line.split("(", maxsplit=1)[0]
    wanted = inspect.signature(scope[name]).parameters
    ours = inspect.signature(getattr(linalg, name)).parameters
    for place, (parameter, same) in enumerate(wanted.items()):
        if same.kind is same.POSITIONAL_ONLY:
            assert [*ours.values()][place].kind in (same.kind, same.POSITIONAL_OR_KEYWORD)
        else:
            assert ours[parameter].kind in (same.kind, same.POSITIONAL_OR_KEYWORD)
            assert ours[parameter].default == same.default
    by_place = sum(one.kind is one.POSITIONAL_ONLY for one in wanted.values())
    for place, (parameter, own) in enumerate(ours.items()):
        is_needed = own.default is own.empty and own.kind is not own.VAR_KEYWORD
        assert parameter in wanted or place < by_place or not is_needed


NOT_FINITE = [
    [[np.nan, 1], [1, 2]],
    [[1, 2], [2, np.nan]],
    [[np.inf, 1], [1, 2]],
    [[1, 2], [-np.inf, np.nan]],
]


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_no_decomposition_of_what_is_not_finite_looks_right(dtype: str, n: int) -> None:
    for rows in NOT_FINITE:
        host = np.eye(n, dtype=dtype)
        host[:2, :2] = rows
        x = usmx.asarray(np.stack([np.eye(n, dtype=dtype), host]))
        for name in ("svd", "svdvals", "matrix_rank", "pinv", "cond", "eig", "eigvals"):
            with pytest.raises(np.linalg.LinAlgError, match=r"a\[1\]: has NaN or infinite"):
                getattr(usmx.linalg, name)(x)
        for side in "LU":
            with pytest.raises(np.linalg.LinAlgError, match=r"a\[1\]: has NaN or infinite"):
                usmx.linalg.eigh(usmx.asarray(x), side)
        with pytest.raises(np.linalg.LinAlgError):
            usmx.linalg.lstsq(x[1], usmx.ones(n, dtype=dtype))
        for order in (2, -2, "nuc"):
            with pytest.raises(np.linalg.LinAlgError):
                usmx.linalg.norm(x[1], order)
        # What is computed without iterations has NaN, as in NumPy; zeros do not hide it.
        if np.isnan(host).any():
            assert np.isnan(usmx.linalg.det(x).to_numpy()[1])
            assert np.isnan(usmx.linalg.slogdet(x).logabsdet.to_numpy()[1])
            assert not np.isfinite(usmx.linalg.inv(x).to_numpy()[1]).all()


def test_only_the_triangle_that_is_read_must_be_finite() -> None:
    x = usmx.asarray([[2.0, np.nan], [1.0, 2.0]])
    assert np.allclose(usmx.linalg.eigvalsh(x).to_numpy(), [1, 3])
    with pytest.raises(np.linalg.LinAlgError):
        usmx.linalg.eigvalsh(x, "U")


def test_nan_above_zeros_is_not_a_singular_matrix() -> None:
    x = usmx.asarray([[np.nan, 1.0], [0.0, 2.0]])
    assert np.isnan(usmx.linalg.det(x).item())
    assert np.isnan(usmx.linalg.solve(x, usmx.asarray([1.0, 2.0])).to_numpy()).any()


def test_norms_of_no_elements_are_those_of_numpy() -> None:
    for shape in ((0,), (0, 3), (3, 0), (0, 0)):
        orders = (None, np.inf, 1, 2) if len(shape) == 1 else (None, np.inf, 1, 2, "fro", "nuc")
        for order in orders:
            assert usmx.linalg.norm(usmx.zeros(shape), order).item() == 0, (shape, order)
    with pytest.raises(ValueError, match="at least one element"):
        usmx.linalg.norm(usmx.zeros(0), -np.inf)


MATRICES_OF_REALS = {
    "real": [[2.0, 1.0], [0.0, 3.0]],
    "complex": [[0.0, 1.0], [-1.0, 0.0]],
    "symmetric": [[1.0, 2.0], [2.0, 1.0]],
    "integers": [[2, 1], [1, 3]],
    "of complex numbers": [[1j, 0.0], [0.0, 2.0]],
    "stack": [[[2.0, 1.0], [0.0, 3.0]], [[0.0, 1.0], [-1.0, 0.0]]],
}


@pytest.mark.parametrize("matrix", MATRICES_OF_REALS.values(), ids=MATRICES_OF_REALS)
def test_numpys_eigenvalues_have_the_type_of_numpys_own(matrix, kind):
    theirs = np.array(matrix)
    ours = usmx.asarray(theirs, usm_type=kind)
    want = np.linalg.eigvals(theirs)
    found = np.linalg.eigvals(ours)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(np.sort_complex(found.to_numpy()), np.sort_complex(want), atol=1e-12)
    values, vectors = np.linalg.eig(ours)
    assert values.dtype == want.dtype
    assert vectors.dtype == np.linalg.eig(theirs)[1].dtype
    left = theirs @ vectors.to_numpy()
    np.testing.assert_allclose(
        left, vectors.to_numpy() * values.to_numpy()[..., None, :], atol=1e-12
    )
    # The standard's are complex in any case.
    assert linalg.eigvals(ours).dtype == "complex128"


@pytest.mark.parametrize(
    "p", [[1.0, -3.0, 2.0], [1.0, 0.0, 1.0], [0.0, 1.0, -3.0, 2.0, 0.0], [2, -4], [1j, 2.0], [5.0]]
)
def test_roots_are_real_where_numpys_are(p, kind):
    found, want = np.roots(usmx.asarray(p, usm_type=kind)), np.roots(p)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(np.sort_complex(found.to_numpy()), np.sort_complex(want), atol=1e-12)
