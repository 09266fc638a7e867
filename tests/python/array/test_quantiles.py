# Medians and quantiles are those of NumPy: types, axes, methods, NaN, no elements.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx
from usmx._namespace import quantiles

# Numbers are computed in a few operations, from products that are rounded once.
BOUND = 8
SHARES = [0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.99, 1]


def values(char: str, shape: tuple[int, ...], seed: int, nan: float = 0.0) -> Any:
    rng = np.random.default_rng(seed)
    n = (rng.integers(0, 2, shape) if char == "?" else rng.integers(-50, 50, shape)).astype(char)
    if nan:
        n[rng.random(shape) < nan] = np.nan
    return n


def close(got: Any, wanted: Any, what: object) -> None:
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype, what
    assert got.shape == wanted.shape, what
    bound = BOUND * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got.to_numpy(), wanted, bound, bound * 50, err_msg=str(what))


@pytest.mark.parametrize("char", "?bqefdD")
def test_medians_are_those_of_numpy(char: str) -> None:
    for nan in (0.0, 0.3):
        if nan and char not in "efd":
            continue
        for seed, shape in enumerate([(1,), (7,), (8,), (3, 4), (2, 3, 5)]):
            n = values(char, shape, seed, nan)
            x = usmx.asarray(n)
            axes: list[Any] = [None, 0, -1, *([(0, 1)] if len(shape) > 1 else [])]
            for axis in axes:
                keep = bool(seed % 2)
                for name in ("median", "nanmedian"):
                    if name == "nanmedian" and char == "D":
                        continue
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        wanted = getattr(np, name)(n, axis=axis, keepdims=keep)
                    got = getattr(usmx, name)(x, axis=axis, keepdims=keep)
                    close(got, wanted, (name, char, nan, shape, axis))


@pytest.mark.parametrize("method", quantiles._PLACES)
def test_quantiles_of_every_method_are_those_of_numpy(method: Any) -> None:
    for char in "qd":
        n = values(char, (11, 4), 1)
        x = usmx.asarray(n)
        for axis in (None, 0, 1):
            wanted = np.quantile(n, SHARES, axis, method=method)
            got = usmx.quantile(x, np.asarray(SHARES), axis, method=method)
            close(got, wanted, (method, char, axis))
    n = values("d", (5, 9), 2, 0.4)
    n[2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.nanquantile(n, SHARES, 1, method=method)
    close(usmx.nanquantile(usmx.asarray(n), SHARES, 1, method=method), wanted, method)


@pytest.mark.parametrize("char", "?Befd")
def test_types_and_shapes_of_quantiles(char: str) -> None:
    n = values(char, (4, 6), 3) if char != "B" else np.arange(24, dtype="u1").reshape(4, 6) * 10
    x = usmx.asarray(n)
    shares: list[Any] = [0.5, 0.3, np.array([[0.1, 0.2], [0.5, 1]]), np.float32(0.25)]
    for q in shares:
        if char == "?":
            wanted = np.quantile(n.astype("d"), q, axis=0)
            close(usmx.quantile(x, q, axis=0), wanted, (char, q))
            continue
        for keep in (False, True):
            wanted = np.quantile(n, q, axis=(0, 1), keepdims=keep)
            close(usmx.quantile(x, q, axis=(0, 1), keepdims=keep), wanted, (char, q))
        close(usmx.percentile(x, q * 100, axis=1), np.percentile(n, q * 100, axis=1), (char, q))
        close(np.percentile(x, q), np.percentile(n, q), (char, q))


def test_nan_is_where_it_is_among_the_elements() -> None:
    n = np.array([[1, 2, np.nan], [3, 1, 2]], "f4")
    x = usmx.asarray(n)
    for name, more in (("median", ()), ("quantile", (0.3,)), ("nanquantile", ([0.3, 1],)),
                       ("nanpercentile", (30,)), ("nanmedian", ())):  # fmt: skip
        wanted = getattr(np, name)(n, *more, axis=1)
        close(getattr(usmx, name)(x, *more, axis=1), wanted, name)
    infinite = usmx.asarray([-np.inf, 1, np.inf, np.inf])
    assert usmx.quantile(infinite, [0, 1 / 3, 2 / 3, 1]).tolist() == [-np.inf, 1, np.inf, np.inf]


def test_of_no_elements_and_wrong_arguments() -> None:
    x = usmx.empty((0, 3))
    for name, more in (("median", ()), ("nanmedian", ()), ("quantile", (0.5,))):
        assert np.isnan(getattr(usmx, name)(x, *more, axis=0).to_numpy()).all()
    out = usmx.empty((), "f8")
    assert usmx.median(usmx.asarray([3, 1, 2]), out=out) is out
    assert out.item() == 2
    y = usmx.arange(4.0)
    for q in (1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="q: holds numbers outside"):
            usmx.quantile(y, q)
    with pytest.raises(ValueError, match="method: 'best'; expected one of linear"):
        usmx.percentile(y, 5, method="best")
    with pytest.raises(TypeError, match="quantiles are of real numbers"):
        usmx.quantile(y + 1j, 0.5)
    with pytest.raises(ValueError, match="axis: 1"):
        usmx.median(y, axis=1)


def test_results_are_where_the_array_is(kind: Any, queue: usmx.Queue) -> None:
    x = usmx.asarray([2.0, 1.0, 2.0], usm_type=kind, queue=queue)
    for result in (usmx.median(x), usmx.quantile(x, [0.1, 0.5]), usmx.nanquantile(x, 0.3)):
        assert result.usm_type == kind
        assert result.queue == queue


@pytest.mark.parametrize("forms", ["native_cpu", "level_zero"])
@pytest.mark.parametrize("dtype", ["?", "i", "f", "d"])
def test_selecting_and_sorting_give_the_same(
    forms: str, dtype: str, request: pytest.FixtureRequest
) -> None:
    usmx._usmx._Testing.use_forms_of(forms)
    request.addfinalizer(lambda: usmx._usmx._Testing.use_forms_of(""))
    rng = np.random.default_rng(8)
    for shape in ((1,), (2,), (5000,), (30, 41), (3, 2, 50)):
        host = rng.integers(0, 60, shape).astype(dtype)
        for nans in (0, 1, host.size // 3) if dtype in "fd" else (0,):
            if nans:
                host.reshape(-1)[rng.integers(0, host.size, nans)] = np.nan
            x = usmx.asarray(host)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for axis in (None, -1, 0):
                    for name in ("median", "nanmedian"):
                        want = getattr(np, name)(host, axis=axis)
                        got = getattr(usmx, name)(x, axis=axis).to_numpy()
                        assert np.allclose(got, want, equal_nan=True), (shape, name)
                    if dtype == "?":
                        continue
                    for name in ("quantile", "nanquantile"):
                        for q in (0.3, [0.0, 0.5, 1.0]):
                            want = getattr(np, name)(host, q, axis=axis)
                            got = getattr(usmx, name)(x, q, axis=axis).to_numpy()
                            assert got.shape == want.shape
                            assert np.allclose(got, want, equal_nan=True), (shape, name, q)


@pytest.mark.usefixtures("cuda_forms")
@pytest.mark.parametrize("dtype", ["?", "b", "H", "i", "Q", "e", "f", "d"])
def test_places_of_long_rows_are_found_digit_by_digit(dtype: str) -> None:
    rng = np.random.default_rng(11)
    n = (1 << 21) + 77
    if dtype in "efd":
        host = rng.standard_normal(n).astype(dtype)
        host[:7] = [np.inf, -np.inf, 0.0, -0.0, 1e-7, np.inf, -1e-7]
        host[9000:12_000] = np.nan
    elif dtype == "?":
        host = rng.integers(0, 2, n).astype("?")
    else:
        host = rng.integers(0, 256, n * np.dtype(dtype).itemsize).astype("u1").view(dtype)
    in_order = np.sort(host)
    for x in (usmx.asarray(host), usmx.asarray(host)[::-1]):
        for places in ([(n - 1) // 2, n // 2, n - 1], [0, 1, 5, n // 3, 7, 0, n - 2, n - 1]):
            got = usmx._usmx._select(x, places, -1, "kth").to_numpy()
            assert got.dtype == host.dtype
            np.testing.assert_array_equal(got, in_order[places])


def test_a_median_of_a_long_row_sorts_nothing(run_python: Callable[..., Any]) -> None:
    # In a process of its own: what another test compiled is not compiled again.
    run_python(
        """
        import numpy as np, usmx
        testing = usmx._usmx._Testing
        testing.use_forms_of("cuda")
        testing.keep_compiled_texts(True)
        row = np.arange((1 << 21) + 5, dtype="f4")
        usmx.median(usmx.asarray(row, usm_type="device")).item()
        options = str([given for _, given in testing.kept_compiled_texts()])
        assert "-DRANKED" in options, options
        assert "-DSWEEP_TILE" not in options, options
        """,
        env={"USMX_CACHE": "0"},
    )


def test_a_quantile_that_is_an_element_is_no_part_of_a_larger_array(kind: str) -> None:
    x = usmx.asarray(np.arange(12).reshape(3, 4), usm_type=kind)
    for axis in (-1, (), None):
        lower = usmx.quantile(x, 0.4, axis=axis, method="lower")
        assert lower.flags.c_contiguous
        np.testing.assert_array_equal(
            lower.to_numpy(), np.quantile(np.arange(12).reshape(3, 4), 0.4, axis, method="lower")
        )


@pytest.mark.parametrize("length", [3, 20, 5000])
def test_quantiles_with_weights_in_each_kind_of_memory(length: int, kind: str) -> None:
    rng = np.random.default_rng(length)
    n, w = rng.random((3, length)), rng.integers(0, 4, (3, length)).astype(float)
    w[:, 0] = 1
    x, by = (usmx.asarray(one, usm_type=kind) for one in (n, w))
    n[:, 1] = x[:, 1] = np.nan
    for name in ("nanpercentile", "percentile"):
        for axis in (1, None):
            named = {"axis": axis, "method": "inverted_cdf"}
            wanted = getattr(np, name)(n, [10, 42], weights=w, **named)
            out = usmx.zeros(wanted.shape, usm_type=kind)
            found = getattr(usmx, name)(x, [10, 42], weights=by, out=out, **named)
            np.testing.assert_array_equal(found.to_numpy(), wanted)
            np.testing.assert_array_equal(out.to_numpy(), wanted)
