"""Edges of NumPy's methods of ufuncs, indices and views that users meet."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import usmx

KINDS = ("shared", "device")


def array(values: Any, kind: str = "shared", dtype: Any = None) -> usmx.ndarray:
    return usmx.asarray(np.array(values, dtype=dtype), usm_type=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "values"), [("hypot", 2), ("divide", 2), ("add", 2.5), ("sqrt", None)]
)
def test_at_casts_to_the_type_of_the_array(kind: str, name: str, values: Any) -> None:
    given = () if values is None else (values,)
    x, host = array([1, 2, 3, 16], kind), np.array([1, 2, 3, 16])
    getattr(np, name).at(x, [1, 3, 3], *given)
    getattr(np, name).at(host, [1, 3, 3], *given)
    assert x.tolist() == host.tolist()


def test_at_does_not_drop_imaginary_parts() -> None:
    with pytest.raises(TypeError, match="not cast"):
        np.add.at(array([1.0, 2.0]), [0], 1j)


@pytest.mark.parametrize("kind", KINDS)
def test_methods_of_power_refuse_negative_exponents_of_integers(kind: str) -> None:
    for call in (
        np.power.reduce,
        np.power.accumulate,
        lambda x: np.power.at(x, [0], -1),
        lambda x: np.power.reduce(x.reshape(3, 1), axis=0),
    ):
        with pytest.raises(ValueError, match="negative integer powers"):
            call(array([2, -1, 2], kind))
    assert np.power.reduce(array([-2, 3, 2], kind)) == 64
    assert np.power.reduce(array([2.0, -1.0], kind)) == 0.5
    where = array([True, False, True], kind)
    assert np.power.reduce(array([2, -1, 2], kind), initial=3, where=where) == 81


@pytest.mark.parametrize("kind", KINDS)
def test_reduce_takes_the_first_axis_of_an_array_without_dimensions(kind: str) -> None:
    for name in ("add", "multiply", "maximum", "bitwise_or"):
        for axis in (0, -1, None):
            assert getattr(np, name).reduce(array(3, kind), axis=axis) == 3
    assert np.logical_and.reduce(array(3, kind))
    with pytest.raises(TypeError):
        np.add.accumulate(array(3, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_logical_xor_reduces_anything_on_each_kind(kind: str) -> None:
    host = np.array([[1, 0, 5], [2, 0, 0]])
    for keywords in ({}, {"axis": 1}, {"axis": 1, "initial": True}, {"axis": 0, "keepdims": True}):
        made: Any = np.logical_xor.reduce(array(host, kind), **keywords)
        right = np.logical_xor.reduce(host, **keywords)
        assert (made.dtype, made.tolist()) == (right.dtype, right.tolist())
    mask = np.array([[True, True, False], [False, True, True]])
    assert (
        np.logical_xor.reduce(array(host, kind), axis=1, where=mask).tolist()
        == np.logical_xor.reduce(host, axis=1, where=mask).tolist()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_reduceat_takes_no_indices_and_cuts_floats_off(kind: str) -> None:
    host = np.array([3, 1, 4, 1, 5])
    for indices in ([], [0, 1.5]):
        made: Any = np.add.reduceat(array(host, kind), indices)
        assert made.tolist() == np.add.reduceat(host, indices).tolist()


@pytest.mark.parametrize("key", [1.0, [1.0], np.array([1.0]), np.array([]), "a", [slice(None)]])
def test_what_is_no_index_is_an_index_error(key: Any) -> None:
    for x in (array([1, 2, 3]), array([1, 2, 3], "device")):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 0
        with pytest.raises(IndexError):
            np.add.at(x, key, 1)


def test_item_of_several_elements_is_a_value_error_and_float_a_type_error() -> None:
    with pytest.raises(ValueError, match="size 1"):
        array([1, 2]).item()
    with pytest.raises(TypeError):
        float(array([1, 2]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [[1, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9], [[1], [2]], 7])
def test_flat_repeats_and_cuts_off_what_is_assigned_to_slices(kind: str, values: Any) -> None:
    x, host = array(np.arange(24).reshape(2, 3, 4), kind), np.arange(24).reshape(2, 3, 4)
    x.flat[::5] = values
    host.flat[::5] = values
    assert x.tolist() == host.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_shared_memory_is_known_of_each_kind(kind: str) -> None:
    x = array(np.arange(10), kind)
    for ask in (np.shares_memory, np.may_share_memory, usmx.shares_memory):
        assert ask(x[2:5], x[4:]) is True
        assert ask(x[:5], x[5:]) is False
        assert ask(x, np.arange(3)) is False


def test_views_of_numpy_share_memory_with_their_array() -> None:
    x = array(np.arange(10))
    assert usmx.shares_memory(np.asarray(x), x)
    assert not usmx.shares_memory(np.asarray(x)[:5], x[5:])
