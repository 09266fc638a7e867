# Histograms and counts are those of NumPy; sums of weights are the same from run to run.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from depths import some

import usmx


def numbers(char: str, shape: tuple[int, ...], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if char == "?":
        return rng.integers(0, 2, shape).astype(char)
    whole = rng.integers(0 if char in "BQ" else -40, 40, shape)
    return (whole if char in "bBiqQ" else whole + rng.normal(size=shape)).astype(char)


def close(got: Any, wanted: Any, what: object) -> None:
    assert got.dtype == wanted.dtype, what
    assert got.shape == wanted.shape, what
    # Sums of 300 weights, in another order than NumPy's.
    bound = 300 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got.to_numpy(), wanted, bound, bound, err_msg=str(what))


@pytest.mark.parametrize("char", "?Qef")
def test_histograms_are_those_of_numpy(char: str) -> None:
    n = numbers(char, (20, 15), 1)
    x = usmx.asarray(n)
    cases: list[dict[str, Any]] = [
        {},
        {"bins": 7, "range": (-3, 20)},
        {"bins": [-5, 0, 0, 1, 2.5, 30]},
        {"bins": 4, "density": True},
        {"bins": [0, 1, 5, 40], "density": True},
    ]
    weights = np.random.default_rng(2).random((20, 15))
    for case in cases:
        if char == "?" and isinstance(case.get("bins"), list):
            continue
        wanted = np.histogram(n.astype("u1") if char == "?" else n, **case)
        for got in (usmx.histogram(x, **case), np.histogram(x, **case)):
            for one, other in zip(got, wanted, strict=True):
                close(one, other, (char, case))
    for kind in "dF":
        own = weights.astype(kind) * (1 + 2j if kind == "F" else 1)
        got = usmx.histogram(x, 5, weights=usmx.asarray(own))
        wanted = np.histogram(n.astype("u1") if char == "?" else n, 5, weights=own)
        close(got[0], wanted[0], (char, kind))
    np.testing.assert_array_equal(
        usmx.histogram_bin_edges(x, 6).to_numpy(),
        np.histogram_bin_edges(n.astype("u1") if char == "?" else n, 6),
    )


def between(values: Any, steps: Any) -> Any:
    """Counts between edges, by their definition."""
    values = values[(values >= steps[0]) & (values <= steps[-1])]
    places = np.clip(np.searchsorted(steps, values, "right") - 1, 0, len(steps) - 2)
    return np.bincount(places, minlength=len(steps) - 1)


@pytest.mark.parametrize("char", "efdiB")
def test_even_bins_of_many_elements_are_those_of_numpy(char: str) -> None:
    rng = np.random.default_rng(7)
    n = (rng.normal(size=40_000) * 30 + 100).clip(0, 250).astype(char)
    n[:200] = np.linspace(0, 200, 200)  # some at edges
    if n.dtype.kind == "f":
        n[200:204] = [np.nan, np.inf, -np.inf, -0.0]
    cases = [(50, (0, 200)), (1, (0, 200)), (200, (0, 200)), (3000, (-7, 213)), (7, (90.5, 90.75))]
    for bins, limits in cases:
        if char == "e" and (bins == 3000 or limits == (90.5, 90.75)):  # float16 has no such edges
            with pytest.raises(ValueError, match="too many"):
                usmx.histogram(usmx.asarray(n), bins, limits)
            continue
        counts, edges = usmx.histogram(usmx.asarray(n), bins, limits)
        wanted = between(n.astype("d"), edges.to_numpy().astype("d"))
        np.testing.assert_array_equal(counts.to_numpy(), wanted, err_msg=str((char, bins, limits)))
    turned = usmx.asarray(n.reshape(200, 200)).T[::3]
    wanted = np.histogram(n.reshape(200, 200).T[::3], 50, (0, 200))[0]
    np.testing.assert_array_equal(usmx.histogram(turned, 50, (0, 200))[0].to_numpy(), wanted)


@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("width", [1.0, 1e-3, 5e-38, 1e-6])
def test_edges_that_rounding_moves_count_as_they_are(char: str, width: float) -> None:
    rng = np.random.default_rng(8)
    low = 0.0 if width < 1e-30 else 1e6
    n = (low + rng.random(20_000) * width).astype(char)
    x = usmx.asarray(n)
    for bins in (10, 1000):
        try:
            np.histogram(n, bins)
        except ValueError:  # the type has no numbers between
            with pytest.raises(ValueError, match="too many"):
                usmx.histogram(x, bins)
            continue
        counts, edges = usmx.histogram(x, bins)
        steps = edges.to_numpy()
        np.testing.assert_array_equal(counts.to_numpy(), between(n, steps), err_msg=str(bins))


def test_the_range_of_bins_takes_one_pass() -> None:
    x = usmx.asarray(np.random.default_rng(3).random(200_000, dtype="f4"), usm_type="device")
    with usmx.trace() as trace:
        usmx.histogram(x, 16)
    kernels = [str(event) for event in trace.events if str(event).startswith("kernel")]
    large = [text for text in kernels if int(text.split()[2].replace(",", "")) >= x.nbytes]
    assert len(large) == 2, kernels  # both limits at once, and the counts


def test_elements_at_edges_and_nan() -> None:
    n = np.array([0.0, 1, 2, 3, np.nan, -0.0, 3, 4, -1, np.inf])
    x = usmx.asarray(n)
    for bins in ([0, 1, 2, 3], [0, 0.5, 3]):
        assert usmx.histogram(x, bins)[0].tolist() == np.histogram(n, bins)[0].tolist()
    assert usmx.histogram(x, 3, (0, 3))[0].tolist() == np.histogram(n, 3, (0, 3))[0].tolist()
    same = usmx.histogram(usmx.full(5, 2.0), 2)
    assert [part.tolist() for part in same] == [[0, 5], [1.5, 2, 2.5]]
    nothing = usmx.histogram(usmx.empty(0), 2)
    assert [part.tolist() for part in nothing] == [[0, 0], [0, 0.5, 1]]


def test_counts_of_numbers_are_those_of_numpy(forms: str) -> None:
    rng = np.random.default_rng(3)
    for char in "?iq":
        for size in (1, 300, 20_000):
            n = rng.integers(0, 2 if char == "?" else 90, size).astype(char)
            x = usmx.asarray(n)
            for least in (0, 200):
                wanted = np.bincount(n.astype("q"), minlength=least)
                close(usmx.bincount(x, minlength=least), wanted, (char, size, least))
            weights = rng.integers(-5, 5, size).astype("f")
            wanted = np.bincount(n.astype("q"), weights)
            close(usmx.bincount(x, usmx.asarray(weights)), wanted, (char, size))
    sparse = usmx.asarray([70_000, 3, 70_000])
    assert usmx.bincount(sparse)[70_000].item() == 2
    assert np.bincount(sparse, weights=[0.5, 1, 2])[-1].item() == 2.5


def test_sums_of_weights_are_the_same_each_time() -> None:
    rng = np.random.default_rng(4)
    x = usmx.asarray(rng.integers(0, 3, 100_000))
    w = usmx.asarray(rng.random(100_000))
    first = usmx.bincount(x, w).tolist()
    assert all(usmx.bincount(x, w).tolist() == first for _ in range(3))
    np.testing.assert_allclose(first, np.bincount(x.to_numpy(), w.to_numpy()), rtol=1e-12)


def test_bins_of_elements_are_those_of_numpy() -> None:
    for char in some("Bqed", 2):
        n = numbers(char, (6, 9), 5)
        n.reshape(-1)[:3] = [0, 10, 20]
        for bins in ([-5, 0, 10, 10, 20], [20, 10, 0.5, 0], [1.5], []):
            for right in (False, True):
                wanted = np.digitize(n, bins, right)
                got = usmx.digitize(usmx.asarray(n), bins, right=right)
                close(got, wanted.astype("q"), (char, bins, right))
    x = usmx.asarray([0.2, 6.4, 3.0, 1.6])
    assert np.digitize(x, [0.0, 1.0, 2.5, 4.0, 10.0]).tolist() == [1, 4, 3, 2]


def test_results_are_where_the_array_is(kind: Any, queue: usmx.Queue) -> None:
    x = usmx.asarray([2, 1, 2], usm_type=kind, queue=queue)
    for result in (*usmx.histogram(x), usmx.bincount(x), usmx.bincount(x, x),
                   usmx.digitize(x, [0, 2])):  # fmt: skip
        assert result.usm_type == kind
        assert result.queue == queue


def test_wrong_arguments() -> None:
    x = usmx.arange(4)
    with pytest.raises(ValueError, match="x: holds -1; expected no negative"):
        usmx.bincount(x - 1)
    with pytest.raises(ValueError, match=r"x: has shape \(2, 2\)"):
        usmx.bincount(x.reshape(2, 2))
    with pytest.raises(ValueError, match="minlength: -1 is negative"):
        usmx.bincount(x, minlength=-1)
    with pytest.raises(ValueError, match=r"weights: have shape \(3,\)"):
        usmx.bincount(x, x[1:])
    for y in (x * 1.0, x.astype("u8")):
        with pytest.raises(TypeError, match="expected integers"):
            usmx.bincount(y)
    for bins, part in (([3, 1], "increase"), (0, "at least one"), ("every", "'every'")):
        with pytest.raises(ValueError, match=part):
            usmx.histogram(x, bins)
    with pytest.raises(ValueError, match="larger than the second"):
        usmx.histogram(x, 3, (2, 1))
    with pytest.raises(ValueError, match="expected finite numbers"):
        usmx.histogram(usmx.asarray([1, np.nan]))
    with pytest.raises(TypeError, match="expected real numbers"):
        usmx.histogram(x * 1j)
    with pytest.raises(ValueError, match="monotonically"):
        usmx.digitize(x, [1, 3, 2])


def test_edges_in_a_list_that_changes_while_it_is_read() -> None:
    bins: list[Any] = [*range(1_000_000)]  # so many that NumPy read what had been freed

    class Sequence:
        def __len__(self) -> int:
            bins.clear()
            return 2

        def __getitem__(self, key: int) -> int:
            if key > 1:
                raise IndexError(key)
            return 1

    bins[1] = Sequence()
    with pytest.raises((ValueError, TypeError)):
        usmx.histogram(usmx.arange(4.0), bins)


@pytest.mark.parametrize("least", [1, 7, 300, 600, 5000])
def test_more_bins_than_the_least_are_found_in_a_second_pass(least):
    host = np.random.default_rng(1).integers(0, 500, 70_001).astype("int32")
    x = usmx.asarray(host, usm_type="device")
    np.testing.assert_array_equal(
        usmx.bincount(x, minlength=least).to_numpy(), np.bincount(host, minlength=least)
    )
    x[40_000] = -3
    with pytest.raises(ValueError, match="holds -3"):
        usmx.bincount(x, minlength=least)


def test_bins_whose_edges_would_be_equal_are_refused() -> None:
    x = usmx.asarray([1, 1 + 2e-16] * 10)
    with pytest.raises(ValueError, match="too many"):
        usmx.histogram(x, bins=10)


@pytest.mark.parametrize("rule", ["auto", "doane", "rice", "stone", "sturges", "sqrt"])
def test_rules_see_the_whole_distance_of_small_integers(rule: str) -> None:
    x = np.array([-2, 0, 127], dtype="int8")
    for ours, theirs in zip(
        usmx.histogram(usmx.asarray(x), rule), np.histogram(x, rule), strict=True
    ):
        np.testing.assert_array_equal(ours.to_numpy(), theirs)
