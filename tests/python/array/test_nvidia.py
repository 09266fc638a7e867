# cuBLAS, cuSOLVER and cuFFT compute what the kernels of usmx compute, in the order of commands. On
# a CUDA device these are the true libraries, elsewhere stand-ins that compute on the host.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import numpy as np
import nvidia_libraries
import pytest
from backend_row import needs
from matrices import TYPES, close, some

import usmx
from usmx import _usmx, linalg
from usmx._namespace import _libraries, _nvidia

pytestmark = needs("nvidia")

stand_ins = pytest.mark.skipif(nvidia_libraries.IS_TRUE, reason="asks the stand-ins")


@pytest.fixture(autouse=True)
def used(monkeypatch):
    """The functions of NVIDIA's row that were called."""
    names = []
    for name in _libraries.TABLE["nvidia"].functions - {"lstsq"}:
        own = getattr(_nvidia, name)

        def counted(*args, own=own, name=name):
            names.append(name)
            return own(*args)

        monkeypatch.setattr(_nvidia, name, counted)
    with nvidia_libraries.used():
        if not nvidia_libraries.IS_TRUE:
            nvidia_libraries.calls()
        yield names


def one():
    """A number for a matrix, of those that failed."""
    return usmx.empty((), "int32")


# --- products ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((30, 20), (20, 17)),
        ((3, 30, 20), (3, 20, 17)),
        ((3, 30, 20), (20, 17)),
        ((30, 20), (2, 3, 20, 17)),
        ((2, 1, 30, 20), (3, 20, 17)),
        ((1, 30, 20), (1, 1, 20, 17)),
    ],
)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products(used, dtype, left, right, turned):
    pair = []
    for seed, (shape, turn) in enumerate(zip((left, right), turned, strict=True)):
        x = some((*shape[:-2], shape[-1], shape[-2]) if turn else shape, dtype, seed)
        swap = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        a = usmx.asarray(x)
        pair.append((a.transpose(swap), x.transpose(swap)) if turn else (a, x))
    (a, x), (b, y) = pair
    close(a @ b, x @ y)
    assert used == ["product"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [((9, 1), (1, 18)), ((3, 9, 1), (1, 18)), ((1, 1), (1, 1))])
def test_a_column_by_a_row_is_computed_by_kernels(dtype, shape):
    x, y = (some(one, dtype, seed) for seed, one in enumerate(shape))
    close(usmx.asarray(x) @ usmx.asarray(y), x @ y)
    if not nvidia_libraries.IS_TRUE:
        assert nvidia_libraries.calls() == []


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 2e-3), ("bfloat16", 2e-2)])
def test_short_types_are_added_in_float32(used, dtype, bound):
    x, y = some((40, 300), "float32"), some((300, 24), "float32", 1)
    a, b = usmx.asarray(x).astype(dtype), usmx.asarray(y).astype(dtype)
    made = a @ b
    assert made.dtype == a.dtype
    wanted = a.astype("float32").to_numpy() @ b.astype("float32").to_numpy()
    np.testing.assert_allclose(
        made.astype("float32").to_numpy(), wanted, rtol=bound, atol=bound * 20
    )
    assert "product" in used


@stand_ins
def test_layouts_are_read_where_they_are():
    x = usmx.asarray(some((64, 64)))
    large = usmx.asarray(some((3, 64, 64)))
    for a, b, wanted in [
        (x, x, "0 0 64 64 64 64 0 64 0 64 4096 1"),
        (x.T, x, "0 1 64 64 64 64 0 64 0 64 4096 1"),
        (x, x.T, "1 0 64 64 64 64 0 64 0 64 4096 1"),
        (x[:32, :20], x[8:28, 4:36], "0 0 32 32 20 64 0 64 0 32 1024 1"),
        (x[::2], x, "0 0 64 32 64 64 0 128 0 64 2048 1"),
        (large, large, "0 0 64 64 64 64 4096 64 4096 64 4096 3"),
        (large[::2], large[1], "0 0 64 64 64 64 0 64 8192 64 4096 2"),
        (large, x, "0 0 64 192 64 64 0 64 0 64 12288 1"),
        (x, large, "0 0 64 64 64 64 4096 64 0 64 4096 3"),
        (large.transpose(0, 2, 1), x, "0 1 64 64 64 64 0 64 4096 64 4096 3"),
        # A column of a row of matrices: read as it is, with the step of the axis before.
        (large.transpose(1, 0, 2)[:, :2], x, "0 0 64 2 64 64 0 4096 64 64 128 64"),
    ]:
        nvidia_libraries.calls()
        made = a @ b
        close(made, a.to_numpy() @ b.to_numpy())
        (call,) = [c for c in nvidia_libraries.calls() if "Gemm" in c]
        assert call == f"cublasGemmStridedBatchedEx {wanted} 1 70"


def test_other_layouts_are_copied_once():
    x = usmx.asarray(some((64, 64)))
    y = usmx.asarray(some((2, 3, 40, 40)))
    for a, b in [
        (x[:, ::2], x[::2]),
        (x[::-1], x),
        (x[:, ::-1], x.T[::-1]),
        (y.transpose(1, 0, 2, 3), y.transpose(1, 0, 3, 2)),
        (y[:, :1], y),
        (x[:40, :40].astype("float32"), y),
    ]:
        close(a @ b, a.to_numpy() @ b.to_numpy())


@stand_ins
def test_tf32_is_used_when_it_is_asked_for_and_not_otherwise():
    x = usmx.asarray(some((32, 32), "float32"))
    for tf32, wanted in [(False, "68"), (True, "77"), (False, "68")]:
        with linalg.use_library("nvidia", tf32=tf32):
            nvidia_libraries.calls()
            close(x @ x, x.to_numpy() @ x.to_numpy())
            assert nvidia_libraries.calls()[-1].split()[-1] == wanted
    with linalg.use_library("nvidia", tf32=True):
        nvidia_libraries.calls()
        a = usmx.asarray(some((32, 32)))
        a @ a
        assert nvidia_libraries.calls()[-1].split()[-1] == "70"
    with (
        pytest.raises(ValueError, match="tf32: True with name='kernels'; expected name='nvidia'"),
        linalg.use_library("kernels", tf32=True),
    ):
        pass


def test_products_of_other_functions(used):
    x, y = some((6, 20, 30)), some((30, 6, 20))
    close(
        usmx.tensordot(usmx.asarray(x), usmx.asarray(y), axes=([2], [0])),
        np.tensordot(x, y, ([2], [0])),
    )
    close(usmx.asarray(x[0]).dot(usmx.asarray(y[:, 0])), x[0] @ y[:, 0])
    close(usmx.einsum("aij,jk->aik", usmx.asarray(x), usmx.asarray(y[:, 0])), x @ y[:, 0])
    out = usmx.empty((20, 20))
    usmx.matmul(usmx.asarray(x[0]), usmx.asarray(y[:, 0]), out=out)
    close(out, x[0] @ y[:, 0])
    assert set(used) == {"product"}


# --- decompositions ------------------------------------------------------------------------------

SQUARES = [(1, 1), (5, 5), (3, 7, 7), (2, 2, 12, 12), (2, 300, 300)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SQUARES)
def test_equations(used, dtype, shape):
    n = shape[-1]
    a = some(shape, dtype) + np.eye(n, dtype=dtype) * n
    given = usmx.asarray(a)
    for b in (
        some((*shape[:-1], 3), dtype, 1),
        some((n, 2), dtype, 2),
        some((*shape[:-1], 1), dtype),
    ):
        close(linalg.solve(given, usmx.asarray(b)), np.linalg.solve(a, b))
    vector = some((n,), dtype, 3)
    close(
        linalg.solve(given, usmx.asarray(vector)),
        np.linalg.solve(a, np.broadcast_to(vector[:, None], (*shape[:-1], 1)))[..., 0],
    )
    many = some((4, *([1] * (len(shape) - 2)), n, 3), dtype, 4)
    close(linalg.solve(given, usmx.asarray(many)), np.linalg.solve(a, many))
    close(linalg.inv(given), np.linalg.inv(a))
    sign, logarithm = np.linalg.slogdet(a)
    made = linalg.slogdet(given)
    close(made.logabsdet, logarithm)
    close(made.sign, np.asarray(sign).astype(dtype))
    np.testing.assert_array_equal(given.to_numpy(), a)
    assert set(used) == {"solve", "inverse", "determinants"}


def test_a_singular_matrix_is_named():
    for n in (4, 300):
        a = np.stack([np.eye(n)] * 3)
        a[1, 2] = 0
        with pytest.raises(linalg.LinAlgError, match=r"a\[1\]: is singular"):
            linalg.inv(usmx.asarray(a))
        with pytest.raises(linalg.LinAlgError, match="a: is singular"):
            linalg.solve(usmx.asarray(a[1]), usmx.ones(n))
        with pytest.raises(linalg.LinAlgError, match=r"a\[1\]: is not positive definite"):
            linalg.cholesky(usmx.asarray(a))
        assert linalg.det(usmx.asarray(a)).to_numpy().tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SQUARES)
def test_cholesky(used, dtype, shape):
    x = some(shape, dtype)
    a = x @ np.swapaxes(x, -1, -2).conj() + np.eye(shape[-1], dtype=dtype)
    wanted = np.linalg.cholesky(a)
    given = a.copy()
    given[..., 0, shape[-1] - 1] += 5  # is not read, if there is more than one element
    close(linalg.cholesky(usmx.asarray(a if shape[-1] == 1 else given)), wanted, 3000)
    close(linalg.cholesky(usmx.asarray(a), upper=True), np.swapaxes(wanted, -1, -2).conj(), 3000)
    assert used == ["cholesky"] * 2


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(6, 6), (9, 4), (4, 9), (2, 3, 8, 5), (3, 5, 8), (1, 1)])
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_qr(used, dtype, shape, mode):
    x = some(shape, dtype)
    wanted = np.linalg.qr(x, mode)
    if mode == "r":
        close(linalg.qr(usmx.asarray(x), mode), np.asarray(wanted))
    else:
        q, r = linalg.qr(usmx.asarray(x), mode)
        close(r, wanted.R)
        close(q, wanted.Q)
    assert used == ["qr"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (3, 9, 9)])
@pytest.mark.parametrize("side", ["L", "U"])
def test_eigenvectors(used, dtype, shape, side):
    x = some(shape, dtype)
    half = np.tril(x) if side == "L" else np.triu(x)
    whole = half + np.swapaxes(half, -1, -2).conj()
    index = np.arange(shape[-1])
    whole[..., index, index] = x[..., index, index].real
    values, vectors = linalg.eigh(usmx.asarray(x), side)
    close(values, np.linalg.eigvalsh(whole))
    v = vectors.to_numpy()
    close(usmx.asarray(whole @ v), v * values.to_numpy()[..., None, :])
    identity = np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape)
    close(usmx.asarray(np.swapaxes(v, -1, -2).conj() @ v), identity)
    close(linalg.eigvalsh(usmx.asarray(x), side), np.linalg.eigvalsh(whole))
    assert used == ["eigh", "eigh"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (12, 5), (5, 12), (2, 3, 6, 4)])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("most", [0, 10**6], ids=["iterations", "rotations"])
def test_singular_vectors(used, dtype, shape, full, most, monkeypatch):
    monkeypatch.setattr(_nvidia, "_BY_ROTATIONS", most)
    x = some(shape, dtype)
    given = usmx.asarray(x)
    u, s, vh = linalg.svd(given, full_matrices=full)
    wanted = np.linalg.svd(x, full_matrices=full)
    close(s, wanted.S)
    close(linalg.svdvals(given), wanted.S)
    assert (u.shape, vh.shape) == (wanted.U.shape, wanted.Vh.shape)
    k = min(shape[-2:])
    a, b, c = u.to_numpy(), s.to_numpy(), vh.to_numpy()
    close(usmx.asarray((a[..., :, :k] * b[..., None, :]) @ c[..., :k, :]), x)
    for q in (a, np.swapaxes(c, -1, -2).conj()):
        identity = np.broadcast_to(
            np.eye(q.shape[-1], dtype=dtype), (*shape[:-2], q.shape[-1], q.shape[-1])
        )
        close(usmx.asarray(np.swapaxes(q, -1, -2).conj() @ q), identity)
    np.testing.assert_array_equal(given.to_numpy(), x)
    assert used == ["svd", "svd"]


@stand_ins
def test_rotations_that_do_not_converge_are_followed_by_iterations():
    x = some((3, 6, 4))
    with nvidia_libraries.refusing("gesvdj's convergence", 1):
        u, s, vh = linalg.svd(usmx.asarray(x), full_matrices=False)
    close(s, np.linalg.svd(x, compute_uv=False))
    close((u * s[..., None, :]) @ vh, x)
    assert [c.split()[0] for c in nvidia_libraries.calls() if c.startswith("gesvd ")] == [
        "gesvd"
    ] * 3


def test_what_has_nan_is_not_singular():
    x = usmx.asarray([[[np.nan, 1.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]])
    assert np.isnan(linalg.det(x).to_numpy()).tolist() == [True, False]
    assert np.isnan(linalg.inv(x).to_numpy()).any(axis=(1, 2)).tolist() == [True, False]


def test_least_squares_and_what_singular_values_give():
    a, b = some((9, 4)), some((9, 2), seed=1)
    made = linalg.lstsq(usmx.asarray(a), usmx.asarray(b))
    wanted = np.linalg.lstsq(a, b, rcond=None)
    close(made[0], wanted[0])
    close(made[1], wanted[1])
    assert int(made[2].item()) == wanted[2]
    close(linalg.pinv(usmx.asarray(a)), np.linalg.pinv(a))
    close(linalg.norm(usmx.asarray(a), 2), np.linalg.norm(a, 2))


@stand_ins
def test_small_matrices_of_a_stack_are_one_call():
    a = usmx.asarray(some((50, 6, 6)) + 6 * np.eye(6))
    nvidia_libraries.calls()
    linalg.solve(a, usmx.ones((50, 6, 2)))
    linalg.inv(a)
    linalg.cholesky(a @ a.transpose(0, 2, 1))
    made = [c for c in nvidia_libraries.calls() if not c.startswith(("cublas", "cusolverDnCreate"))]
    assert made == [
        "getrfBatched 6 50", "getrsBatched 0 6 2 50", "getrfBatched 6 50", "getrsBatched 0 6 6 50",
        "potrfBatched 6 50",
    ]  # fmt: skip
    # Right sides of one matrix are columns of one system.
    linalg.solve(a[0], usmx.ones((50, 6, 2)))
    assert nvidia_libraries.calls() == ["getrf 6", "getrs 0 6 100"]


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 4, 4), (0, 5), (5, 0)])
def test_empty_matrices(shape):
    x = usmx.zeros(shape)
    host = np.zeros(shape)
    assert linalg.qr(x).R.shape == np.linalg.qr(host).R.shape
    assert linalg.svdvals(x).shape == np.linalg.svd(host, compute_uv=False).shape
    if shape[-1] == shape[-2]:
        assert linalg.inv(x).shape == shape
        assert linalg.det(x).shape == shape[:-2]
    assert (x @ usmx.zeros((shape[-1], 20))).shape == (*shape[:-1], 20)
    assert linalg.solve(usmx.eye(3), usmx.zeros((3, 0))).shape == (3, 0)


# --- transforms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("char", "fdFD")
@pytest.mark.parametrize(
    ("shape", "axis"), [((64,), -1), ((3, 100), 1), ((30, 7), 0), ((2, 30, 7), 1), ((2, 3, 31), 2)]
)
@pytest.mark.parametrize("n", [None, 20, 41])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms(used, char, shape, axis, n, norm):
    x = some(shape, char)
    given = usmx.asarray(x)
    close(usmx.fft.fft(given, n, axis, norm), np.fft.fft(x, n, axis, norm))
    close(usmx.fft.ifft(given, n, axis, norm), np.fft.ifft(x, n, axis, norm))
    close(usmx.fft.irfft(given, n, axis, norm), np.fft.irfft(x, n, axis, norm))
    if char in "fd":
        close(usmx.fft.rfft(given, n, axis, norm), np.fft.rfft(x, n, axis, norm))
    np.testing.assert_array_equal(given.to_numpy(), x)
    assert set(used) == {"transform"}


def test_transforms_of_several_axes_and_layouts():
    x = some((6, 8, 10), "complex128")
    given = usmx.asarray(x)
    close(usmx.fft.fftn(given), np.fft.fftn(x))
    close(usmx.fft.ifft2(given), np.fft.ifft2(x))
    close(usmx.fft.fft(given.T), np.fft.fft(x.T))
    close(usmx.fft.fft(given[:, ::2, ::-1], axis=1), np.fft.fft(x[:, ::2, ::-1], axis=1))
    close(usmx.fft.irfftn(usmx.fft.rfftn(usmx.asarray(x.real))), x.real)


@pytest.mark.parametrize("char", ["f", "d", "F", "D"])
def test_transforms_of_a_view_that_begins_between_two_numbers(char):
    x = some((3, 101), char)
    given = usmx.asarray(x)
    for part in (np.s_[0, 1:], np.s_[1], np.s_[1:], np.s_[2, 1:]):
        close(usmx.fft.fft(given[part]), np.fft.fft(x[part]))
        if char in "fd":
            close(usmx.fft.rfft(given[part]), np.fft.rfft(x[part]))
        else:
            close(usmx.fft.irfft(given[part]), np.fft.irfft(x[part]))


@stand_ins
def test_plans_are_kept_and_those_that_were_used_last():
    def plans(*lengths):
        nvidia_libraries.calls()
        for n in lengths:
            usmx.fft.fft(usmx.ones(n, dtype="complex64"))
        return [int(c.split()[1]) for c in nvidia_libraries.calls() if "MakePlan" in c]

    assert plans(201, 202, 201, 202, 201) == [201, 202]
    assert len(plans(*range(300, 370))) == 70
    assert plans(369) == []
    assert plans(201) == [201]


@stand_ins
def test_what_is_kept_for_a_queue_ends_after_eight_others():
    def compute(queues):
        for _ in range(queues):
            queue = usmx.Queue(usmx.Device(), in_order=True)
            linalg.svdvals(usmx.asarray(some((6, 4)), queue=queue))

    compute(8)
    nvidia_libraries.calls()
    compute(2)
    ended = [c for c in nvidia_libraries.calls() if c.startswith("cusolverDnDestroy")]
    assert ended == ["cusolverDnDestroyGesvdjInfo", "cusolverDnDestroy"] * 2


# --- without the table ---------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """What the table of libraries is asked, where the thread chooses none, as mostly."""
    token = _libraries._choice.set(_libraries._BY_DEVICE)
    if not nvidia_libraries.IS_TRUE:
        _usmx._Nvidia.compute_everywhere(True)
    for first in (usmx.ones((32, 32)) @ usmx.ones((32, 32)), usmx.fft.fft(usmx.ones(4))):
        first.wait()  # the libraries are loaded
    own, names = _libraries.of, []

    def of(function, *rest):
        names.append(function)
        return own(function, *rest)

    monkeypatch.setattr(_libraries, "of", of)
    yield names
    _usmx._Nvidia.compute_everywhere(False)
    _libraries._choice.reset(token)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("left", "right"), [((30, 20), (20, 17)), ((3, 30, 20), (3, 20, 17)), ((3, 30, 20), (20, 17))]
)
def test_plain_products_ask_no_table(asked, dtype, left, right):
    x, y = some(left, dtype), some(right, dtype, 1)
    a, b = usmx.asarray(x), usmx.asarray(y)
    swap = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    turned = usmx.asarray(x.transpose(swap).copy()).transpose(swap)
    for made in (a @ b, usmx.matmul(a, b), turned @ b):
        close(made, x @ y)
    assert asked == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_plain_transforms_ask_no_table(asked, dtype):
    x = some((3, 20), dtype)
    close(usmx.fft.rfft(usmx.asarray(x)), np.fft.rfft(x))
    z = x + 1j * some((3, 20), dtype, 1)
    close(usmx.fft.fft(usmx.asarray(z)), np.fft.fft(z))
    close(usmx.fft.fft(usmx.asarray(z[0]), axis=0), np.fft.fft(z[0]))
    close(usmx.fft.ifft(usmx.asarray(z)), np.fft.ifft(z))
    assert asked == []


def test_what_is_not_plain_asks_the_table(asked):
    x = some((40, 40))
    a = usmx.asarray(x)
    close(a[:, ::2] @ a[::2], x[:, ::2] @ x[::2])
    close(a[:, :1] @ a[:1], x[:, :1] @ x[:1])
    close(a.astype("float32") @ a, x.astype("float32") @ x)
    assert asked == ["product"] * 3
    z = x + 1j * x[::-1]
    b = usmx.asarray(z)
    close(usmx.fft.fft(a), np.fft.fft(x))
    close(usmx.fft.fft(b, 30), np.fft.fft(z, 30))
    close(usmx.fft.fft(b, axis=0), np.fft.fft(z, axis=0))
    close(usmx.fft.fft(b, norm="ortho"), np.fft.fft(z, norm="ortho"))
    close(usmx.fft.rfft(a[:, ::2]), np.fft.rfft(x[:, ::2]))
    assert asked == ["product"] * 3 + ["transform"] * 5
    with pytest.raises(ValueError, match="axis"):
        usmx.fft.fft(b, axis=7)
    with pytest.raises(ValueError, match="x2: has shape"):
        a @ a[:3]


def test_a_choice_holds_for_plain_calls_too(asked):
    a = usmx.asarray(some((40, 40)))
    if not nvidia_libraries.IS_TRUE:
        nvidia_libraries.calls()
    with linalg.use_library("kernels"):
        close(a @ a, a.to_numpy() @ a.to_numpy())
        usmx.fft.rfft(a).wait()
    assert asked == ["product", "transform"]
    if nvidia_libraries.IS_TRUE:
        return
    assert nvidia_libraries.calls() == []
    with linalg.use_library("nvidia", tf32=True):
        b = a.astype("float32")
        (b @ b).wait()
    (call,) = [c for c in nvidia_libraries.calls() if "Gemm" in c]
    assert call.endswith(" 77")


# --- order, errors, and whether there is a library -----------------------------------------------


def test_what_was_asked_before_is_in_the_matrices():
    slow = usmx.ElementwiseKernel(
        "T x", "T z", "z = x; for (int k = 0; k < 20000; ++k) z = sqrt(z * z + T(1e-30))", "slow"
    )
    host = np.abs(some((60, 60))) + np.eye(60) * 60
    other = usmx.Queue()
    for kind in ("device", "shared", "host"):
        x = slow(usmx.asarray(host, usm_type=kind))
        made = x @ x
        values = linalg.inv(x)
        line = usmx.fft.fft(x)
        root = linalg.cholesky(x @ x.T)
        x[...] = 0
        close(made, host @ host)
        close(values, np.linalg.inv(host))
        close(line, np.fft.fft(host))
        close(root, np.linalg.cholesky(host @ host.T), 3000)
    # Operands that another queue still writes.
    x = usmx.asarray(host)
    y = slow(usmx.asarray(host, queue=other))
    close(usmx.matmul(x, y.to_device(x.queue) if hasattr(y, "to_device") else y), host @ host)


def test_memory_may_end_before_the_command():
    x = some((200, 200))
    for _ in range(20):
        a = usmx.asarray(x)
        made = linalg.svdvals(a @ a)
        del a
    close(made, np.linalg.svd(x @ x, compute_uv=False), 2000)


@stand_ins
@pytest.mark.parametrize(
    ("function", "status", "call", "message"),
    [
        (
            "cublasGemmStridedBatchedEx",
            13,
            lambda x: x @ x,
            r"cublasGemmStridedBatchedEx gave status 13 \(execution failed\)",
        ),
        ("getrf", 7, linalg.inv, r"cuSOLVER: cusolverDn<t>getrf gave status 7 \(internal error\)"),
        ("gesvdj", 2, linalg.svdvals, r"cuSOLVER: cusolverDn<t>gesvdj gave status 2 \(no memory\)"),
        ("cufftExecD2Z", 6, usmx.fft.rfft, r"cuFFT: cufftExec gave status 6 \(execution failed\)"),
        (
            "cufftMakePlanMany64",
            8,
            lambda x: usmx.fft.ifft(x[:, :11]),
            r"cufftMakePlanMany64 gave status 8 \(invalid size\)",
        ),
        ("getrs", 99, lambda x: linalg.solve(x, x), r"status 99 \(unknown\)"),
    ],
)
def test_what_a_library_refuses_is_an_error_that_names_it(function, status, call, message):
    x = usmx.asarray(some((20, 20)))
    with (
        nvidia_libraries.refusing(function, status),
        pytest.raises(RuntimeError, match=message),
    ):
        call(x)
    close(x @ x, x.to_numpy() @ x.to_numpy())
    call(x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: _usmx._Nvidia.multiply(x, x, usmx.ones((4, 3)), False), "do not fit"),
        (lambda x: _usmx._Nvidia.multiply(x, x.astype("float32"), x, False), "not the type"),
        (lambda x: _usmx._Nvidia.multiply(x[:, ::2], x[:2], x, False), "not rows or columns"),
        (lambda x: _usmx._Nvidia.multiply(x, x, x.T[:, :2].T.T, False), "not contiguous"),
        (lambda x: _usmx._Nvidia.lu(x, usmx.empty(3, "int32"), one()), "exchanged"),
        (lambda x: _usmx._Nvidia.lu(x, usmx.empty(4, "int32"), usmx.empty(2, "int32")), "failed"),
        (
            lambda x: _usmx._Nvidia.lu(x.astype("int64"), usmx.empty(4, "int32"), one()),
            "decompose float32",
        ),
        (
            lambda x: _usmx._Nvidia.solve(x, usmx.empty(4, "int32"), usmx.ones((2, 3)), True),
            "b does not fit",
        ),
        (lambda x: _usmx._Nvidia.cholesky(x[:3], one()), "not square|not contiguous"),
        (lambda x: _usmx._Nvidia.qr(x, usmx.empty(3)), "factors do not fit"),
        (lambda x: _usmx._Nvidia.qr_columns(x, usmx.empty(5)), "no columns, or too many"),
        (lambda x: _usmx._Nvidia.eigh(x, usmx.empty(3), one(), True), "values"),
        (
            lambda x: _usmx._Nvidia.svd(x, usmx.empty(4), x, usmx.empty((2, 4)), one(), True),
            "vh has",
        ),
        (
            lambda x: _usmx._Nvidia.svd(usmx.ones((4, 3)), usmx.empty(3), None, None, one(), True),
            "tall",
        ),
        (lambda x: _usmx._Nvidia.transform(x, x, 4, 1, False), "other types"),
        (lambda x: _usmx._Nvidia.transform(x + 0j, x + 0j, 3, 1, False), "does not fit"),
        (lambda x: _usmx._Nvidia.transform(x + 0j, x + 0j, 4, 2, False), "one axis"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(usmx.ones((4, 4)))


def test_files_of_wheels_come_first_and_never_those_that_the_driver_is_too_old_for(tmp_path):
    for folder, file in [("cublas", "libcublas.so.12"), ("cu13", "libcublas.so.13")]:
        (tmp_path / folder / "lib").mkdir(parents=True)
        (tmp_path / folder / "lib" / file).touch()
    folders = [tmp_path / "cu13" / "lib", tmp_path / "cublas" / "lib"]
    new, old = str(folders[0] / "libcublas.so.13"), str(folders[1] / "libcublas.so.12")
    assert list(_nvidia._files("blas", 13, folders))[:3] == [new, old, "libcublas.so.13"]
    assert list(_nvidia._files("blas", 12, folders)) == [
        old, "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12",
    ]  # fmt: skip
    assert next(_nvidia._files("solver", 12, [])) == "libcusolver.so.11"


def test_a_file_without_the_functions_is_named():
    program = (
        "from usmx import _usmx; print(_usmx._Nvidia.load(0, ['/nonexistent.so'])); "
        "print(_usmx._Nvidia.load(2, ['libm.so.6'])); print(_usmx._Nvidia.load(1, []))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [
        "/nonexistent.so: cannot open shared object file: No such file or directory",
        "libm.so.6 lacks the function cufftCreate",
        "no file was found",
    ]


def test_it_can_be_switched_off():
    program = (
        "import usmx; from usmx._namespace import _nvidia; x = usmx.ones((20, 20));"
        "print((x @ x)[0, 0].item(), _nvidia.missing())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "USMX_NVIDIA": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split(None, 1) == ["20.0", "USMX_NVIDIA=0 is set\n"]


def test_other_types_are_computed_by_kernels(used):
    x = usmx.ones((40, 40), dtype="int64")
    assert int((x @ x)[3, 3]) == 40
    assert used == []
