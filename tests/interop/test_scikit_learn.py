# scikit-learn-intelex on arrays of usmx: its estimators read the memory in place, and the results
# are those with NumPy. What it refuses is named exactly.
# SPDX-License-Identifier: Apache-2.0
import gc

import dpnp
import numpy as np
import onedal.cluster
import onedal.datatypes
import pytest
import sklearnex
from sklearnex.cluster import DBSCAN, KMeans
from sklearnex.decomposition import PCA
from sklearnex.linear_model import LinearRegression

import usmx
import usmx.counters

choose = np.random.default_rng(7)
CENTERS = choose.normal(size=(3, 5)) * 20
POINTS = CENTERS[np.arange(600) % 3] + choose.normal(size=(600, 5))
TARGETS = POINTS @ np.array([1.0, 2.0, 3.0, 4.0, 5.0]) + 7

# Each estimator: how it is fitted, and its results as numbers.
ESTIMATORS = {
    "KMeans": (
        lambda x, y: KMeans(3, init=CENTERS, n_init=1).fit(x),
        lambda m: [m.cluster_centers_, m.labels_, m.inertia_],
    ),
    "PCA": (
        lambda x, y: PCA(2).fit(x),
        lambda m: [m.explained_variance_, m.mean_, abs(as_numpy(m.components_))],
    ),
    "LinearRegression": (
        lambda x, y: LinearRegression().fit(x, y),
        lambda m: [m.coef_, m.intercept_],
    ),
    "DBSCAN": (
        lambda x, y: DBSCAN(eps=4, min_samples=3).fit(x),
        lambda m: [m.labels_, m.core_sample_indices_],
    ),
}


def as_numpy(a):
    return dpnp.asnumpy(a) if isinstance(a, dpnp.ndarray) else np.asarray(a)


def results(name, x, y):
    fit, numbers = ESTIMATORS[name]
    return [as_numpy(r) for r in numbers(fit(x, y))]


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7)


def arrays(kind):
    return usmx.asarray(POINTS, usm_type=kind), usmx.asarray(TARGETS, usm_type=kind)


@pytest.mark.parametrize("kind", ["shared", "host"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_read_host_accessible_memory_in_place(name, kind):
    x, y = arrays(kind)
    expected = results(name, POINTS, TARGETS)
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        found = results(name, np.asarray(x), np.asarray(y))
    assert runtime.copies == 0
    assert not own.copies
    same(found, expected)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_compute_on_the_device_with_all_kinds(name, kind):
    x, y = arrays(kind)
    expected = results(name, POINTS, TARGETS)
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        there = dpnp.asarray(x), dpnp.asarray(y)
    assert runtime.zero_copy
    assert not own.copies
    assert there[0].get_array()._pointer == x.pointer
    with sklearnex.config_context(array_api_dispatch=True):
        found = results(name, *there)
    same(found, expected)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_its_tables_are_views_of_our_memory(kind):
    x, _ = arrays(kind)
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        table = onedal.datatypes.to_table(x)
    assert runtime.zero_copy
    assert not own.copies
    assert table.shape == (600, 5)
    assert table.__sycl_usm_array_interface__["data"][0] == x.pointer


# --- arrays of usmx themselves


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_of_usmx_are_taken_and_read_in_place_where_the_host_can(name, kind):
    given = arrays(kind)
    expected = results(name, POINTS, TARGETS)
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        found = results(name, *given)
    read = 2 if name == "LinearRegression" else 1
    copied = read if kind == "device" else 0
    assert len(own.copies) == copied
    assert runtime.copies == copied
    same(found, expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_results_in_memory_of_the_device_are_made_for_dpnp_alone(name):
    # A defect of onedal's return_type_constructor: it has a branch for dpnp, and none for others.
    given = arrays("shared")
    with (
        sklearnex.config_context(array_api_dispatch=True),
        pytest.raises(UnboundLocalError, match="func"),
    ):
        results(name, *given)


# --- what oneDAL computed, as arrays of usmx


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_results_in_memory_of_the_device_come_back_without_a_copy(kind):
    x, y = (dpnp.asarray(a) for a in arrays(kind))
    with sklearnex.config_context(array_api_dispatch=True):
        model = LinearRegression().fit(x, y)
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        ours = usmx.asarray(model.coef_, copy=False)
    assert runtime.zero_copy
    assert not own.copies
    assert ours.usm_type == "device"
    assert ours.pointer == model.coef_.get_array()._pointer
    del model  # the array keeps the memory
    gc.collect()
    np.testing.assert_allclose((ours * 2).to_numpy(), [2, 4, 6, 8, 10], rtol=1e-9)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_tables_that_it_made_come_back_without_a_copy(kind):
    x, y = (dpnp.asarray(a) for a in arrays(kind))
    with sklearnex.config_context(array_api_dispatch=True):
        model = LinearRegression().fit(x, y)
    made = model._onedal_estimator._onedal_model.packed_coefficients  # intercept first
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        ours = usmx.asarray(made, copy=False)
    assert runtime.zero_copy
    assert not own.copies
    del model, made
    gc.collect()
    assert ours.shape == (1, 6)
    np.testing.assert_allclose(ours.to_numpy()[0], [7, 1, 2, 3, 4, 5], rtol=1e-9)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_tables_of_our_memory_come_back_as_that_memory(kind):
    x, _ = arrays(kind)
    back = usmx.asarray(onedal.datatypes.to_table(x), copy=False)
    assert (back.pointer, back.shape, back.usm_type) == (x.pointer, x.shape, kind)
    del x
    gc.collect()
    np.testing.assert_array_equal(back.to_numpy(), POINTS)
