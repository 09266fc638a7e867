# `np.add.at(x, indices, values)` and `np.add.reduceat(x, begins)` on device memory, compared with
# NumPy bit for bit where the order of the elements is defined.
# SPDX-License-Identifier: Apache-2.0
import warnings

import numpy as np
import pytest

import usmx

DTYPES = ("?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "F", "D")
UFUNCS = (
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "divide",
    "bitwise_or",
    "logical_and",
    "logical_xor",
)


def made(dtype, count, seed):
    return (np.random.default_rng(seed).random(count) * 4 + 1).astype(dtype)


def supported(name, dtype):
    kind = np.dtype(dtype).kind
    return {"bitwise_or": kind in "biu", "subtract": kind != "b"}.get(name, True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_at_indices_that_repeat_gives_the_bits_of_numpy(name, dtype):
    if not supported(name, dtype):
        with pytest.raises(TypeError, match=rf"np\.{name}\.at"):
            getattr(np, name).at(usmx.asarray(made(dtype, 7, 0)), [0], made(dtype, 1, 1))
        return
    indices = np.random.default_rng(2).integers(-7, 7, 40)
    host, values = made(dtype, 7, 0), made(dtype, 40, 1)
    x = usmx.asarray(host)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(np, name).at(host, indices, values)
    getattr(np, name).at(x, usmx.asarray(indices), usmx.asarray(values))
    if np.dtype(dtype).kind == "c":
        np.testing.assert_allclose(x.to_numpy(), host, rtol=1e-5)
    else:
        assert x.to_numpy().tobytes() == host.tobytes()


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("count", [0, 1, 2, 16, 257, 4097, 100_000])
def test_sums_at_equal_indices_are_the_same_each_time(kind, count):
    indices = np.random.default_rng(3).integers(0, 100, count)
    values = np.random.default_rng(4).random(count)
    host = np.zeros(100)
    np.add.at(host, indices, values)
    for _ in range(2):
        x = usmx.zeros(100, usm_type=kind)
        np.add.at(x, usmx.asarray(indices, usm_type=kind), usmx.asarray(values, usm_type=kind))
        assert x.to_numpy().tobytes() == host.tobytes()


KEYS = (
    (slice(None), np.array([0, 0, 2])),
    (np.array([1, 1, 3]), np.array([2, 2, 2])),
    np.arange(24.0).reshape(4, 6) > 5,
    (Ellipsis, 1),
    2,
    (1, np.array([3, 3])),
    (np.array([[0, 0], [1, 0]]),),
    [0, 0],
)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_the_places_are_those_of_any_key(key):
    host = np.arange(24.0).reshape(4, 6)
    for view in (lambda a: a, lambda a: a[::-1], lambda a: a.reshape(6, 4).T):
        there = host.copy()
        x = usmx.asarray(there)
        np.add.at(view(there), key, 1.5)
        np.add.at(view(x), key, 1.5)
        np.testing.assert_array_equal(x.to_numpy(), there)


def test_values_and_indices_may_be_the_array_itself():
    host = np.array([3, 0, 0, 1])
    x = usmx.asarray(host)
    np.add.at(host, host.copy(), host.copy())
    np.add.at(x, x, x)
    assert x.tolist() == host.tolist()


def test_what_cannot_be_written_is_refused_by_name():
    x = usmx.arange(4)
    with pytest.raises(TypeError, match=r"np\.add\.at: gives complex128, .*int64"):
        np.add.at(x, [0], 1.5j)
    with pytest.raises(IndexError, match="out of bounds"):
        np.add.at(x, [4], 1)
    with pytest.raises(ValueError, match="broadcast"):
        np.add.at(x, [0, 1], usmx.asarray([1, 2, 3]))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.add.at(x, [0], 1)
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_or"])
def test_a_ufunc_is_reduced_from_each_index_up_to_the_next(name, dtype):
    host = made(dtype, 45, 5).reshape(5, 9)
    if not supported(name, dtype):
        with pytest.raises(TypeError, match=rf"np\.{name}\.reduceat"):
            getattr(np, name).reduceat(usmx.asarray(host), [0, 2])
        return
    for axis, begins in ((0, [0, 2, 1, 4]), (1, [0, 3, 3, 7, 2]), (-1, [8])):
        expected = getattr(np, name).reduceat(host, begins, axis=axis)
        found = getattr(np, name).reduceat(usmx.asarray(host), begins, axis=axis)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-2 if dtype == "e" else 1e-5)


def test_an_index_of_reduceat_outside_is_refused():
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        np.add.reduceat(usmx.arange(5), [0, 5])


@pytest.mark.parametrize("usm_type", ["shared", "device"])
@pytest.mark.parametrize("name", ["subtract", "hypot", "logaddexp", "fmax", "floor_divide"])
def test_ufuncs_without_a_function_of_their_own_go_along_an_axis_in_turn(name, usm_type):
    rng = np.random.default_rng(5)
    there = rng.uniform(1, 9, (4, 3, 5))
    x, theirs = usmx.asarray(there, usm_type=usm_type), getattr(np, name)
    counts = rng.integers(0, 2, (3, 5)) == 1
    calls = [{}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"initial": 3.5, "axis": 1},
             {"initial": 2, "where": counts}, {"dtype": "float32"}]  # fmt: skip
    for one in calls:
        made = theirs.reduce(x, **one)
        assert type(made) is usmx.ndarray
        wanted = theirs.reduce(there, **one)
        assert made.dtype == wanted.dtype
        np.testing.assert_allclose(made.to_numpy(), wanted, rtol=1e-5 if "dtype" in one else 1e-13)
    for axis in (0, 1, -1):
        made = theirs.accumulate(x, axis=axis)
        np.testing.assert_allclose(made.to_numpy(), theirs.accumulate(there, axis=axis), rtol=1e-13)
    out = usmx.empty((3, 5), usm_type=usm_type)
    assert getattr(usmx, name).reduce(x, out=out) is out
    with pytest.raises(np.exceptions.AxisError):
        theirs.reduce(x, axis=3)


def test_what_has_no_identity_needs_something_to_begin_with():
    x = usmx.ones((2, 0))
    assert np.hypot.reduce(x, axis=1).to_numpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match="empty array"):
        np.subtract.reduce(x, axis=1)
    with pytest.raises(ValueError, match="initial"):
        np.subtract.reduce(usmx.ones(3), where=usmx.ones(3, dtype="bool"))
    with pytest.raises(ValueError, match="2 axes"):
        np.subtract.reduce(x, axis=None)


def test_bools_are_reduced_from_an_initial_one():
    x = usmx.asarray([0, 0, 0])
    assert bool(np.logical_or.reduce(x, initial=3))
    assert not bool(np.logical_and.reduce(usmx.ones(2), initial=False))
    with pytest.raises(TypeError, match="expected bool"):
        np.logical_or.reduce(x, dtype="float64")


def test_operations_say_their_types_as_ufuncs_do():
    assert "dd->d" in usmx.add.types
    assert "gg->g" not in usmx.add.types
    assert usmx.add.ntypes == len(usmx.add.types)
    assert usmx.sin.signature is None
