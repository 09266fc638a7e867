# Reductions of arrays are those of NumPy: types, axes, NaN, no elements, the first of equal ones.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from depths import some
from together import compute_together

import usmx

NUMBERS = "?bQefD"  # each form of types is a kernel, and those of `fuse` have all
SHAPES: list[tuple[tuple[int, ...], list[Any]]] = [
    ((7,), [None, 0]),
    ((3, 4), [0, -1, (1, 0)]),
    ((2, 3, 4), [(0, 2)]),
]


def values(char: str, shape: tuple[int, ...], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 5, shape)
    return (whole + 1j * rng.integers(-3, 3, shape) if char in "FD" else whole).astype(char)


def close(got: usmx.ndarray, wanted: Any, what: object) -> None:
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype, what
    assert got.shape == wanted.shape, what
    bound = 8 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=bound, atol=bound, err_msg=str(what))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "std", "var", "any", "all"])
def test_reductions_are_those_of_numpy(name: str) -> None:
    for char in some(NUMBERS, 2):
        if name in ("min", "max") and char in "FD":
            continue
        for seed, (shape, axes) in enumerate(SHAPES):
            n = values(char, shape, seed)
            x = usmx.asarray(n)
            keep = bool(seed % 2)
            got = [getattr(usmx, name)(x, axis=axis, keepdims=keep) for axis in axes]
            compute_together(got)
            for axis, one in zip(axes, got, strict=True):
                wanted = getattr(np, name)(n, axis=axis, keepdims=keep)
                close(one, wanted, (name, char, shape, axis))


@pytest.mark.parametrize("name", ["argmin", "argmax", "count_nonzero"])
def test_places_and_counts_are_those_of_numpy(name: str) -> None:
    for char in some(NUMBERS, 2):
        if name != "count_nonzero" and char in "FD":
            continue
        for seed, (shape, axes) in enumerate(SHAPES):
            n = values(char, shape, seed)
            for axis in axes:
                if isinstance(axis, tuple) and name != "count_nonzero":
                    continue
                got = getattr(usmx, name)(usmx.asarray(n), axis=axis)
                close(got, np.asarray(getattr(np, name)(n, axis=axis), "q"), (name, char, shape))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "diff"])
def test_cumulative_operations_are_those_of_numpy(name: str) -> None:
    for char in some("?bIqfD", 2):
        for seed, (shape, axes) in enumerate(SHAPES):
            n = values(char, shape, seed)
            for axis in axes:
                if isinstance(axis, tuple) or (axis is None and name == "diff"):
                    continue
                got = getattr(usmx, name)(usmx.asarray(n), axis=axis)
                close(got, getattr(np, name)(n, axis=axis), (name, char, shape, axis))


def test_nan_goes_through_extremes_and_is_found_first() -> None:
    n = np.array([[1, np.nan, 3], [np.nan, 0, np.nan], [5, 4, 9]], "f4")
    x = usmx.asarray(n)
    for name in ("min", "max", "argmin", "argmax"):
        for axis in (None, 0, 1):
            wanted = getattr(np, name)(n, axis=axis)
            np.testing.assert_array_equal(getattr(usmx, name)(x, axis=axis).to_numpy(), wanted)
    equal = usmx.asarray([3, 1, 3, 1])
    assert (usmx.argmax(equal).item(), usmx.argmin(equal).item()) == (0, 1)


@pytest.mark.usefixtures("cuda_forms")
def test_spreads_in_one_pass_are_exact() -> None:
    rng = np.random.default_rng(3)
    n = 300_001
    cases = {
        "far from 0": 1e4 + rng.standard_normal(n),
        "zeros before a million": np.where(np.arange(n) < 20_000, 0, 1e6 + rng.standard_normal(n)),
        "one far from all": np.where(np.arange(n) == 0, 1e5, rng.standard_normal(n)),
        "all the same": np.full(n, 0.1),
        "few": rng.standard_normal(5000),
    }
    for name, values in cases.items():
        for dtype in ("f4", "f8"):
            host = values.astype(dtype)
            x = usmx.asarray(host, usm_type="device")
            wanted = host.astype("f8").var()
            got = usmx.var(x)
            assert got.dtype == dtype
            assert got.item() == pytest.approx(wanted, rel=3e-5 if dtype == "f4" else 1e-12), name
    grid = (100 + rng.standard_normal((700, 300))).astype("f4")
    x = usmx.asarray(grid, usm_type="device")
    for axis in (0, 1, (0, 1)):
        for ddof in (0, 1, 2.5):
            np.testing.assert_allclose(
                usmx.var(x, axis=axis, ddof=ddof, keepdims=True).to_numpy(),
                grid.astype("f8").var(axis=axis, ddof=ddof, keepdims=True),
                rtol=1e-5,
            )
    for bad in (np.inf, -np.inf, np.nan):
        for place in (0, 17, n - 1):
            values = rng.standard_normal(n).astype("f4")
            values[place] = bad
            assert np.isnan(usmx.var(usmx.asarray(values, usm_type="device")).item())
    one = usmx.asarray(np.array([np.inf, 2.0], "f4")).reshape(2, 1)
    np.testing.assert_array_equal(usmx.var(one, axis=1).to_numpy(), [np.nan, 0])
    assert np.isnan(usmx.var(usmx.empty(0, "f4")).item())
    assert np.isnan(usmx.var(usmx.empty((0, 2), "f4"), axis=0).to_numpy()).all()


@pytest.mark.usefixtures("cuda_forms")
def test_a_spread_reads_its_elements_once(texts: Callable[[], list[str]]) -> None:
    x = usmx.ones(100_003, "f4", usm_type="device")
    usmx.var(x * 3.25 + 1.5).item()
    made = [text for text in texts() if "expression::reduce" in text]
    assert made
    assert all("expression::moments" in text for text in made)


def test_of_no_elements() -> None:
    x = usmx.empty((0, 3), "f4")
    assert usmx.sum(x).item() == 0
    assert usmx.prod(x, axis=0).tolist() == [1, 1, 1]
    assert usmx.any(x).item() is False
    assert usmx.all(x).item() is True
    assert np.isnan(usmx.mean(x).item())
    assert usmx.max(x, axis=1).shape == (0,)
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError, match=f"{name}: a has shape"):
            getattr(usmx, name)(x)


def test_arguments() -> None:
    x = usmx.arange(12, dtype="i4").reshape(3, 4)
    assert usmx.sum(x, dtype="f4").dtype == np.float32
    assert usmx.var(x, correction=1).item() == pytest.approx(np.arange(12).var(ddof=1))
    assert usmx.cumulative_sum(x, axis=1, include_initial=True).tolist()[1] == [0, 4, 9, 15, 22]
    assert usmx.cumulative_prod(x[0] + 1, include_initial=True).tolist() == [1, 1, 2, 6, 24]
    assert usmx.diff(x, axis=1, n=2).tolist() == [[0, 0]] * 3
    assert usmx.ptp(x).item() == 11
    assert usmx.diff(x[0], prepend=x[1, :1], append=x[2, :1]).tolist() == [-4, 1, 1, 1, 5]
    assert usmx.sum(x, axis=()).tolist() == x.tolist()
    out = usmx.empty(4, "i8")
    assert usmx.sum(x, axis=0, out=out) is out
    assert out.tolist() == [12, 15, 18, 21]
    for axis, part in ((2, "axis: 2"), ((0, 0), "twice"), (-3, "axis: -3")):
        with pytest.raises(ValueError, match=part):
            usmx.sum(x, axis=axis)
    assert usmx.max(usmx.asarray([1 + 2j, 1 + 3j], "c8")).item() == 1 + 3j
    with pytest.raises(TypeError, match="expected an array"):
        usmx.sum(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="axis: is needed"):
        usmx.cumulative_sum(x)


def test_no_name_is_given_by_two_modules() -> None:
    from usmx import _namespace

    assert len(_namespace.NAMES) == len(set(_namespace.NAMES)) == len(_namespace.WHERE)


BY_PLACE = (
    "sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin", "ptp",
    "cumsum", "cumprod",
)  # fmt: skip


@pytest.mark.parametrize("name", BY_PLACE)
def test_the_axis_may_be_given_by_place_as_in_numpy(name: str) -> None:
    host = np.arange(12.0).reshape(3, 4)[::-1] - 5
    x = usmx.asarray(host)
    function = getattr(np, name)
    for axis in (0, 1, -1):
        wanted = function(host, axis)
        made = [getattr(usmx, name)(x, axis), function(x, axis), getattr(x, name)(axis)]
        for got in made:
            assert isinstance(got, usmx.ndarray)
            np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-12)
    if name in ("sum", "prod", "mean"):
        out = usmx.zeros(4, "f4")
        assert getattr(x, name)(0, "f4", out) is out
        np.testing.assert_allclose(out.to_numpy(), function(host, 0, "f4"), rtol=1e-6)
    if name in ("max", "min", "any", "all"):
        out = usmx.zeros(4, "?" if name in ("any", "all") else "f8")
        assert getattr(x, name)(0, out) is out
        np.testing.assert_array_equal(out.to_numpy(), function(host, 0))


def test_methods_and_functions_of_numpy_compute_on_the_device() -> None:
    x = usmx.arange(12, dtype="f4").reshape(3, 4)
    for answer in (x.sum(axis=0), np.sum(x, axis=0), x.mean(axis=0) * 3):
        assert isinstance(answer, usmx.ndarray)
        assert answer.tolist() == [12, 15, 18, 21]
    assert x.max() == 11
    assert bool((x >= 0).all())
    with pytest.raises(AttributeError, match="no_such"):
        x.no_such  # noqa: B018


def test_a_reduction_of_operators_is_one_kernel() -> None:
    x = usmx.ones((100, 100), "f4")
    with usmx.trace() as t:
        total = ((x * 2 + 1) ** 2).sum(axis=1)
        assert total.tolist() == [900.0] * 100
    assert t.summary().kernels == 1


def test_sums_are_accurate_and_the_same_each_time() -> None:
    n = np.random.default_rng(0).random(1_000_003).astype("f4")
    x = usmx.asarray(n)
    first = x.sum().item()
    assert first == pytest.approx(n.sum(dtype="f8"), rel=2e-7)
    assert all(x.sum().item() == first for _ in range(5))


def test_more_differences_than_there_are_elements_are_none() -> None:
    x = usmx.arange(5.0)
    assert usmx.diff(x, n=5).shape == np.diff(x.to_numpy(), n=5).shape == (0,)
    assert usmx.diff(x, n=2**62).shape == (0,)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
def test_reductions_begin_with_a_number_and_skip_elements(name: str) -> None:
    for char in some(NUMBERS, 2):
        if name in ("min", "max") and char in "FD":
            continue
        for seed, (shape, axes) in enumerate(SHAPES):
            n = values(char, shape, seed)
            mask = np.random.default_rng(seed).integers(0, 2, shape[-1:]).astype(bool)
            x = usmx.asarray(n)
            found = []
            for axis in axes:
                for more in ({"initial": 1}, {"initial": 2, "where": mask}, {"where": n == 1}):
                    if name in ("min", "max") and "initial" not in more:
                        continue
                    if "where" in more and more["where"].shape != n.shape:
                        ours = more | {"where": usmx.asarray(mask)}
                    else:
                        ours = more
                    wanted = getattr(np, name)(n, axis=axis, **more)
                    what = (name, char, shape, axis, more)
                    found.append((getattr(usmx, name)(x, axis=axis, **ours), wanted, what))
                    found.append((getattr(np, name)(x, axis=axis, **ours), wanted, what))
                    out = usmx.zeros(wanted.shape, dtype=wanted.dtype)
                    assert getattr(usmx, name)(x, axis=axis, out=out, **ours) is out
                    found.append((out, wanted, what))
            compute_together(got for got, _, _ in found)
            for got, wanted, what in found:
                close(got, wanted, what)


@pytest.mark.parametrize("name", ["mean", "any", "all"])
def test_means_and_tests_skip_elements(name: str) -> None:
    for char in some(NUMBERS, 2):
        n = values(char, (3, 4), 1)
        x = usmx.asarray(n)
        mask = np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1]], bool)
        for axis in (None, 0, 1):
            wanted = getattr(np, name)(n, axis=axis, where=mask)
            close(getattr(usmx, name)(x, axis=axis, where=mask), wanted, (name, char, axis))
            out = usmx.zeros(wanted.shape, dtype=wanted.dtype)
            assert getattr(usmx, name)(x, axis=axis, where=mask, out=out) is out
            close(out, wanted, (name, char, axis))


def test_extremes_of_no_elements_are_what_they_begin_with() -> None:
    x = usmx.zeros((0, 3))
    assert usmx.max(x, initial=4).item() == 4
    assert usmx.min(x, axis=0, initial=-2).to_numpy().tolist() == [-2, -2, -2]
    assert usmx.max(x, axis=1, initial=1).shape == (0,)
    assert usmx.max(x, keepdims=True, initial=1).shape == (1, 1)
    assert usmx.sum(x, axis=0, initial=2).to_numpy().tolist() == [2, 2, 2]


def test_what_initial_and_where_refuse() -> None:
    x = usmx.ones((2, 3))
    with pytest.raises(ValueError, match=r"max: where= needs initial=, for where no element"):
        usmx.max(x, where=[True, False, True])
    with pytest.raises(TypeError, match="where: expected an array of bools, got int64"):
        usmx.sum(x, where=[1, 0, 1])
    with pytest.raises(ValueError, match=r"where: shape \(4, 1, 1\) cannot be broadcast"):
        usmx.sum(x, where=np.ones((4, 1, 1), bool))
    with pytest.raises(ValueError, match=r"initial: expected a number, got an array of shape"):
        usmx.sum(x, initial=[1, 2])


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "cumsum", "cumprod", "nansum", "nanmax", "nancumprod"]
)
def test_an_output_of_another_type_is_cast_to_at_the_end(name: str, kind: str) -> None:
    """NumPy reduces in a type that also holds the output's, and casts by any rule."""
    rng = np.random.default_rng(7)
    wholes = rng.integers(-3, 3, 6)
    for values in (wholes + 0.75, wholes + 1j, wholes.astype("i2"), wholes > 0):
        for wanted in ("i8", "i4", "f4", "f8", "c16"):
            expected = np.zeros(6 if "cum" in name else (), wanted)
            ours = usmx.zeros(expected.shape, wanted, usm_type=kind)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of imaginary parts
                getattr(np, name)(values, out=expected)
            getattr(usmx, name)(usmx.asarray(values, usm_type=kind), out=ours)
            np.testing.assert_allclose(ours.to_numpy(), expected, 1e-6, err_msg=wanted)


def test_no_axis_at_all_leaves_long_arrays_as_they_are(kind: str) -> None:
    values = np.arange(100_000) % 3 == 0
    x = usmx.asarray(values, usm_type=kind)
    for name in ("all", "any"):
        ours = getattr(usmx, name)(x, axis=())
        np.testing.assert_array_equal(ours.to_numpy(), getattr(np, name)(values, axis=()))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum", "nanmax"])
def test_a_first_number_that_the_type_cannot_hold_is_refused(name: str) -> None:
    for dtype, initial in (("u1", -1), ("u1", 300), ("i1", -2000), ("f4", 1j), ("u4", -2.5)):
        n = np.ones(3, dtype)
        how = {"dtype": dtype} if name in ("sum", "prod", "nansum") else {}
        with pytest.raises((OverflowError, TypeError)) as theirs:
            getattr(np, name)(n, initial=initial, **how)
        with pytest.raises(theirs.type):
            getattr(usmx, name)(usmx.asarray(n), initial=initial, **how)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("how", [{}, {"axis": 0}, {"include_initial": True}])
def test_what_is_cumulated_of_a_number_has_one_dimension(name, how):
    made = getattr(usmx, name)(usmx.asarray(3), **how)
    wanted = getattr(np, name)(np.array(3), **how)
    assert (made.shape, made.tolist()) == (wanted.shape, wanted.tolist())
