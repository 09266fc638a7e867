# oneMKL computes what the kernels of usmx compute, in the order of commands, and nothing depends on
# whether it is installed.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from backend_row import needs
from matrices import TYPES, close, some

import usmx
from usmx import _usmx
from usmx._namespace import _onemkl

pytestmark = needs("onemkl")


@pytest.fixture
def calls(monkeypatch):
    """The functions of oneMKL that were called."""
    assert _onemkl.missing() == ""  # it came with dpnp
    names = []
    for name in ("product", "eigh", "svd", "transform"):
        own = getattr(_onemkl, name)

        def counted(*args, own=own, name=name):
            names.append(name)
            return own(*args)

        monkeypatch.setattr(_onemkl, name, counted)
    with usmx.linalg.use_library("onemkl"):
        yield names


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((130, 120), (120, 110)),
        ((3, 130, 120), (3, 120, 110)),
        ((3, 130, 120), (120, 110)),
        ((130, 120), (2, 3, 120, 110)),
        ((2, 1, 130, 120), (3, 120, 110)),
    ],
)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products(calls, dtype, left, right, turned):
    pair = []
    for seed, (shape, turn) in enumerate(zip((left, right), turned, strict=True)):
        x = some((*shape[:-2], shape[-1], shape[-2]) if turn else shape, dtype, seed)
        swap = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        a = usmx.asarray(x)
        pair.append((a.transpose(swap), x.transpose(swap)) if turn else (a, x))
    (a, x), (b, y) = pair
    close(a @ b, x @ y)
    assert calls == ["product"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(16, 16), (3, 20, 20), (2, 2, 33, 33)])
@pytest.mark.parametrize("side", ["L", "U"])
def test_eigenvectors(calls, dtype, shape, side):
    x = some(shape, dtype)
    half = np.tril(x) if side == "L" else np.triu(x)
    turned = np.swapaxes(half, -1, -2).conj()
    whole = half + turned
    index = np.arange(shape[-1])
    whole[..., index, index] = x[..., index, index].real
    values, vectors = usmx.linalg.eigh(usmx.asarray(x), side)
    close(values, np.linalg.eigvalsh(whole))
    v = vectors.to_numpy()
    close(usmx.asarray(whole @ v), v * values.to_numpy()[..., None, :])
    identity = np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape)
    close(usmx.asarray(np.swapaxes(v, -1, -2).conj() @ v), identity)
    close(usmx.linalg.eigvalsh(usmx.asarray(x), side), np.linalg.eigvalsh(whole))
    assert calls == ["eigh", "eigh"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(16, 16), (40, 20), (20, 40), (2, 3, 25, 17)])
@pytest.mark.parametrize("full", [False, True])
def test_singular_vectors(calls, dtype, shape, full):
    x = some(shape, dtype)
    given = usmx.asarray(x)
    u, s, vh = usmx.linalg.svd(given, full_matrices=full)
    close(s, np.linalg.svd(x, compute_uv=False))
    close(usmx.linalg.svdvals(given), np.linalg.svd(x, compute_uv=False))
    assert u.shape == np.linalg.svd(x, full_matrices=full)[0].shape
    k = min(shape[-2:])
    a, b, c = u.to_numpy(), s.to_numpy(), vh.to_numpy()
    close(usmx.asarray((a[..., :, :k] * b[..., None, :]) @ c[..., :k, :]), x)
    for q in (a, np.swapaxes(c, -1, -2).conj()):
        n = q.shape[-1]
        identity = np.broadcast_to(np.eye(n, dtype=dtype), (*shape[:-2], n, n))
        close(usmx.asarray(np.swapaxes(q, -1, -2).conj() @ q), identity)
    np.testing.assert_array_equal(given.to_numpy(), x)
    assert calls == ["svd", "svd"]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(64,), (3, 100), (2, 3, 127), (5, 1009)])
def test_transforms(calls, dtype, shape):
    x = some(shape, dtype)
    wanted = np.fft.fft(x)
    close(usmx.fft.fft(usmx.asarray(x)), wanted)
    close(usmx.fft.ifft(usmx.asarray(wanted)), x)
    close(usmx.fft.fft(usmx.asarray(x), norm="ortho"), wanted / dtype_root(shape[-1], dtype))
    assert calls == ["transform"] * 3


def dtype_root(n, dtype):
    return np.dtype(dtype).type(np.sqrt(n))


@pytest.mark.usefixtures("calls")
def test_more_transforms_than_are_kept():
    for n in range(70, 110):
        x = some((n,), "complex128", n)
        close(usmx.fft.fft(usmx.asarray(x)), np.fft.fft(x))


@pytest.mark.usefixtures("calls")
def test_commands_keep_their_order():
    slow = usmx.ElementwiseKernel(
        "T x", "T z", "z = x; for (int k = 0; k < 20000; ++k) z = sqrt(z * z + T(1e-30))", "slow"
    )
    n = some((130, 130), "complex128")
    real = abs(n)
    for _ in range(5):
        x = slow(usmx.asarray(real)).astype("complex128") * usmx.asarray(n / real)
        made = x @ x
        x[...] = 0
        del x
        close(made, n @ n)
        line = slow(usmx.asarray(real[0])) + 0j
        there = usmx.fft.fft(line)
        line[...] = 0
        close(there, np.fft.fft(real[0] + 0j))


def test_threads_compute_together():
    symmetric = some((24, 24), "float64")
    symmetric = symmetric + symmetric.T
    wanted = np.linalg.eigvalsh(symmetric)
    x = some((3, 128), "complex128")
    transformed = np.fft.fft(x)

    def work(number):
        queue = usmx.Queue("cpu")
        a, b = usmx.asarray(symmetric, queue=queue), usmx.asarray(x, queue=queue)
        with usmx.linalg.use_library("onemkl"):  # of this thread
            for _ in range(10):
                close(usmx.linalg.eigvalsh(a * 1), wanted)
                close(usmx.fft.fft(b * 1), transformed)
        return number

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: _usmx._OneMKL.eigh(x, usmx.empty(3), True), "values do not fit"),
        (lambda x: _usmx._OneMKL.eigh(x[:, ::2], usmx.empty(4), True), "not contiguous"),
        (lambda x: _usmx._OneMKL.eigh(usmx.ones(4), usmx.empty(4), True), "not contiguous"),
        (lambda x: _usmx._OneMKL.eigh(x[None][:0], usmx.empty((0, 4)), True), "empty matrices"),
        (
            lambda x: _usmx._OneMKL.svd(x[None][:0], usmx.empty((0, 4)), None, None, True),
            "empty matrices",
        ),
        (lambda x: _usmx._OneMKL.svd(x, usmx.empty(4), x, usmx.empty((2, 4)), True), "vh does not"),
        (lambda x: _usmx._OneMKL.multiply(x, False, 16, x, False, 0, x[:2]), "do not fit|step"),
        (lambda x: _usmx._OneMKL.multiply(x, False, 1, x, False, 0, x), "step"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(usmx.ones((4, 4)))


def test_it_can_be_switched_off():
    program = (
        "import numpy as np, usmx; from usmx._namespace import _onemkl;"
        "x = usmx.asarray(np.eye(20)); print(usmx.linalg.eigvalsh(x)[3].item(), _onemkl.missing())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "USMX_ONEMKL": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split(None, 1) == ["1.0", "USMX_ONEMKL=0 is set\n"]


def test_a_library_that_cannot_be_loaded_is_not_used():
    program = (
        "import usmx; from usmx import _usmx; print(_usmx._OneMKL.load('/nonexistent.so'));"
        "from usmx._namespace import _onemkl; x = usmx.ones((20, 20)); "
        "print(bool(_onemkl.missing()), _onemkl.takes(x, 'svd'), usmx.linalg.svdvals(x)[0].item())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "/nonexistent.so: cannot open shared object file" in ran.stdout
    assert ran.stdout.split()[-3:-1] == ["True", "False"]
