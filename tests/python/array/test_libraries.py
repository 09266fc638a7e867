"""Who computes matrices and transforms: the table, the choice among its rows, and equal errors."""
# SPDX-License-Identifier: Apache-2.0

from importlib import import_module
from threading import Thread

import numpy as np
import pytest
from backend_row import needs

import usmx
from usmx import linalg
from usmx._namespace import _by_kernels, _by_numpy, _libraries

EACH = ["numpy", pytest.param("onemkl", marks=needs("onemkl")), "kernels"]


@pytest.fixture
def by_numpy(monkeypatch):
    """The functions of NumPy's row that were called."""
    names = []
    for name in _libraries.TABLE["numpy"].least_on_cpu:
        own = getattr(_by_numpy, name)

        def counted(*args, own=own, name=name):
            names.append(name)
            return own(*args)

        monkeypatch.setattr(_by_numpy, name, counted)
    return names


def some(kind, *shape, dtype="float64"):
    return usmx.asarray(
        np.random.default_rng(3).standard_normal(shape).astype(dtype), usm_type=kind
    )


def test_every_row_computes_what_it_says():
    for library in _libraries.TABLE.values():
        module = import_module(f"usmx._namespace.{library.module}")
        for name in library.functions:
            assert callable(getattr(module, name)), (library.module, name)
        assert library.functions <= _libraries.TABLE["kernels"].functions


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@needs("cpu")
def test_on_the_cpu_numpy_computes_small_matrices(kind, by_numpy):
    a = some(kind, 6, 6)
    host = a.to_numpy()
    for got, wanted in [
        (linalg.solve(a, a[:, 0]), np.linalg.solve(host, host[:, 0])),
        (linalg.inv(a), np.linalg.inv(host)),
        (linalg.det(a), np.linalg.det(host)),
        (linalg.cholesky(a @ a.T), np.linalg.cholesky(host @ host.T)),
        (linalg.qr(a).R, np.linalg.qr(host).R),
        (linalg.svdvals(a), np.linalg.svd(host, compute_uv=False)),
        (linalg.eigvalsh(a), np.linalg.eigvalsh(host)),
        (linalg.eig(a).eigenvalues, np.linalg.eig(host).eigenvalues),
        (linalg.lstsq(a, a[:, 0])[0], np.linalg.lstsq(host, host[:, 0])[0]),
        (usmx.fft.fft(a), np.fft.fft(host)),
    ]:
        assert got.usm_type == kind
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-12, atol=1e-12)
    assert by_numpy == [
        "solve", "inverse", "determinants", "cholesky", "qr", "svd", "eigh", "eig",
        "lstsq", "transform",
    ]  # fmt: skip


@needs("cpu")
def test_no_kernel_is_compiled_for_them(texts):
    for kind in ("device", "shared"):
        a = some(kind, 5, 5)
        linalg.svd(a), linalg.eigh(a), linalg.solve(a, a), usmx.fft.rfft(a)
    assert texts() == []


def test_bits_of_kernels_are_the_same_from_run_to_run():
    a = some("shared", 150, 150, dtype="float32")
    with linalg.use_library("kernels"):
        first = (a @ a).to_numpy()
        for _ in range(5):
            np.testing.assert_array_equal((a @ a).to_numpy(), first)


def test_types_that_a_library_does_not_take_are_computed_by_kernels(by_numpy):
    for dtype in ("int64", "float16", "bfloat16"):
        a = usmx.ones((70, 70), dtype=dtype)
        assert float((a @ a)[3, 4]) == 70
    assert by_numpy == []


@pytest.mark.parametrize("library", EACH)
@needs("cpu")
def test_the_choice_ends_with_its_block_and_is_that_of_a_thread(library, by_numpy):
    a = some("shared", 4, 4)
    with linalg.use_library("kernels"):
        with linalg.use_library(library):
            linalg.det(a)
            assert by_numpy == (["determinants"] if library == "numpy" else [])
            by_numpy.clear()
        linalg.det(a)
        assert by_numpy == []
        other = Thread(target=linalg.det, args=(a,))
        other.start()
        other.join()
        assert by_numpy == ["determinants"]


def test_a_wrong_choice_is_refused_with_the_names(monkeypatch):
    with (
        pytest.raises(
            ValueError, match="name: 'mkl'; expected 'nvidia', 'onemkl', 'numpy' or 'kernels'"
        ),
        linalg.use_library("mkl"),
    ):
        pass
    from usmx._namespace import _onemkl

    monkeypatch.setattr(_onemkl, "missing", lambda: "it is not installed")
    with (
        pytest.raises(ValueError, match="'onemkl', but it cannot be used: it is not installed"),
        linalg.use_library("onemkl"),
    ):
        pass


@pytest.mark.parametrize("library", EACH)
def test_the_matrix_of_a_stack_that_has_no_result_is_named(library):
    a = np.stack([np.eye(3)] * 6).reshape(2, 3, 3, 3)
    a[1, 2] = 0
    wrong = usmx.asarray(a)
    a = a.copy()
    a[1, 2, 0, 0] = np.nan
    endless = usmx.asarray(a)
    with linalg.use_library(library):
        for call in (linalg.inv, lambda x: linalg.solve(x, x)):
            with pytest.raises(linalg.LinAlgError, match=r"a\[1, 2\]: is singular"):
                call(wrong)
        with pytest.raises(linalg.LinAlgError, match=r"a\[1, 2\]: is not positive definite"):
            linalg.cholesky(wrong)
        for call in (linalg.svd, linalg.svdvals, linalg.eigh, linalg.eig, linalg.pinv):
            with pytest.raises(linalg.LinAlgError, match=r"a\[1, 2\]: has NaN or infinite"):
                call(endless)


def test_what_was_asked_before_is_in_the_matrices():
    slow = usmx.ElementwiseKernel(
        "T x", "T z", "z = x; for (int k = 0; k < 20000; ++k) z = sqrt(z * z + T(1e-30))", "slow"
    )
    host = np.abs(np.random.default_rng(0).standard_normal((120, 120))) + np.eye(120)
    for kind in ("device", "shared"):
        x = slow(usmx.asarray(host, usm_type=kind))
        made = x @ x
        values = linalg.inv(x)
        x[...] = 0
        np.testing.assert_allclose(made.to_numpy(), host @ host, rtol=1e-10)
        np.testing.assert_allclose(values.to_numpy() @ host, np.eye(120), atol=1e-8)


def test_kernels_stay_a_way_for_every_function():
    a = some("device", 5, 3)
    with linalg.use_library("kernels"):
        assert _libraries.of("svd", a, 3) is _by_kernels
        x, residuals, rank, s = linalg.lstsq(a, a @ usmx.ones(3))
    np.testing.assert_allclose(x.to_numpy(), 1, rtol=1e-12)
    assert (residuals.shape, int(rank), s.shape) == ((1,), 3, (3,))
