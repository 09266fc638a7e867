# Sorted arrays have the elements, bit for bit, in the order of NumPy's stable sorts; NaN is at the
# end in both directions.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_row import needs
from depths import some

import usmx

TYPES = "?bBhHiIqQefdFD"
SHAPES = [(1,), (7,), (33,), (500,), (3, 5), (40, 4), (6, 100), (5, 1030), (17000,), (2, 17000)]


def values(char: str, shape: tuple[int, ...], few: bool, seed: int) -> Any:
    """Numbers of all sizes, or few different ones; floats with NaN, infinities and both zeros."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(char)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = (max(limits.min, -3), 3) if few else (limits.min, limits.max)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)

    def parts() -> Any:
        made: Any = rng.integers(-3, 4, shape).astype("d")
        if not few:
            made = made * 10.0 ** rng.integers(-4, 5, shape) + rng.normal(size=shape)
        chance = rng.integers(0, 50, shape)
        for k, special in enumerate([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]):
            made = np.where(chance == k, special, made)
        return made

    if dtype.kind == "f":
        return parts().astype(dtype)
    part = "f" if char == "F" else "d"
    return np.stack([parts(), parts()], -1).astype(part).view(dtype)[..., 0]


def order_of(n: Any, descending: bool) -> Any:
    """The indices that sort the last axis, stable."""
    if n.dtype.kind == "c":
        sign = -1 if descending else 1
        of_nan = 2 * np.isnan(n.real) + np.isnan(n.imag)
        real, imag = (np.where(np.isnan(p), 0, sign * p) for p in (n.real, n.imag))
        return np.lexsort((imag, real, of_nan), axis=-1)
    key = n if not descending else -n if n.dtype.kind == "f" else ~n
    return np.argsort(key, axis=-1, kind="stable")


def check(char: str, shapes: list[tuple[int, ...]]) -> None:
    for number, shape in enumerate(shapes):
        for few in (False, True):
            n = values(char, shape, few, number)
            x = usmx.asarray(n)
            for descending in (False, True):
                what = (char, shape, few, descending)
                order = order_of(n, descending)
                got = usmx.argsort(x, descending=descending)
                assert got.dtype == np.int64
                np.testing.assert_array_equal(got.to_numpy(), order, str(what))
                in_order = usmx.sort(x, descending=descending)
                wanted = np.take_along_axis(n, order, -1)
                assert in_order.dtype == wanted.dtype
                assert in_order.to_numpy().tobytes() == wanted.tobytes(), what


@pytest.mark.parametrize("char", TYPES)
def test_elements_are_in_order_and_equal_ones_in_theirs(char: str) -> None:
    check(char, SHAPES)


@pytest.mark.parametrize("char", "?bHefD")
def test_groups_of_items_sort_the_same(char: str, cuda_forms: None) -> None:
    check(char, [(1,), (500,), (40, 4), (70, 20), (3, 3000)])


def test_complex_numbers_are_in_the_order_of_numpy() -> None:
    n = values("D", (400,), True, 1)
    np.testing.assert_array_equal(usmx.sort(usmx.asarray(n)).to_numpy(), np.sort(n))


def wide_places(request: pytest.FixtureRequest) -> None:
    """The kernels for rows of 2^32 elements, for shorter ones."""
    before = usmx._usmx._Testing.use_wide_places_from(1)
    request.addfinalizer(lambda: usmx._usmx._Testing.use_wide_places_from(before))


def test_places_beyond_32_bits_are_counted(forms: str, request: pytest.FixtureRequest) -> None:
    wide_places(request)
    check("h", [(40,), (2, 3000), (17000,)])


@pytest.mark.parametrize("char", "efq")
def test_read_only_arrays_are_sorted(char: str, forms: str) -> None:
    for shape in ((300,), (17, 16), (2, 3000), (20_000,)):
        n = np.random.default_rng(2).integers(0, 900, shape).astype(char)
        x = usmx.asarray(n)
        x.flags.writeable = False
        np.testing.assert_array_equal(usmx.sort(x).to_numpy(), np.sort(n))
        wanted = np.argsort(n, kind="stable")
        np.testing.assert_array_equal(usmx.argsort(x).to_numpy(), wanted)
        np.testing.assert_array_equal(usmx.unique(x).to_numpy(), np.unique(n))


def test_axes_layouts_and_methods() -> None:
    rng = np.random.default_rng(5)
    n = rng.integers(0, 50, (6, 7, 8)).astype("i4")
    x = usmx.asarray(n)
    for axis in (0, 1, 2, -2, None):
        np.testing.assert_array_equal(usmx.sort(x, axis=axis).to_numpy(), np.sort(n, axis))
        wanted = np.argsort(n, axis, kind="stable")
        np.testing.assert_array_equal(x.argsort(axis).to_numpy(), wanted)
        np.testing.assert_array_equal(np.argsort(x, axis=axis, kind="stable").to_numpy(), wanted)
    for key in (np.s_[::-1], np.s_[:, ::2, 1:], np.s_[1, :, 3]):
        np.testing.assert_array_equal(usmx.sort(x[key]).to_numpy(), np.sort(n[key]))
    one = usmx.broadcast_to(usmx.asarray([3, 1, 2]), (2, 3))
    assert usmx.sort(one, descending=True).tolist() == [[3, 2, 1]] * 2
    assert (
        usmx.take_along_axis(x, usmx.argsort(x, axis=1), axis=1).tolist() == np.sort(n, 1).tolist()
    )
    assert x.sort(axis=0) is None
    np.testing.assert_array_equal(x.to_numpy(), np.sort(n, axis=0))
    x[:, 1, ::2].sort()
    n = np.sort(n, axis=0)
    n[:, 1, ::2].sort()
    np.testing.assert_array_equal(x.to_numpy(), n)
    assert np.sort(x + 1, stable=True).tolist() == np.sort(n + 1).tolist()


def test_results_are_where_the_array_is(kind: Any, queue: usmx.Queue) -> None:
    x = usmx.asarray([2.0, 1.0], usm_type=kind, queue=queue)
    for result in (usmx.sort(x), usmx.argsort(x), usmx.searchsorted(x, x)):
        assert result.usm_type == kind
        assert result.queue == queue


def test_of_no_elements_and_wrong_arguments() -> None:
    empty = usmx.empty((2, 0), "f4")
    assert usmx.sort(empty).shape == usmx.argsort(empty, axis=0).shape == (2, 0)
    assert usmx.argsort(empty).dtype == np.int64
    x = usmx.arange(6).reshape(2, 3)
    for axis in (2, -3):
        with pytest.raises(IndexError, match=f"axis: {axis}"):
            usmx.sort(x, axis=axis)
    with pytest.raises(IndexError, match="axis: -1"):
        usmx.sort(usmx.asarray(1))
    with pytest.raises(ValueError, match="kind: 'fast'"):
        usmx.argsort(x, kind="fast")
    with pytest.raises(TypeError, match="expected an array"):
        usmx.sort(3)  # type: ignore[arg-type]
    for call in (usmx.partition, usmx.argpartition):
        with pytest.raises(ValueError, match="kth: 3 is out of bounds"):
            call(x, 3)


def test_partitions_are_sorted() -> None:
    x = usmx.asarray([[3, 1, 2], [9, 7, 8]])
    assert usmx.partition(x, 1).tolist() == np.sort(x).tolist() == [[1, 2, 3], [7, 8, 9]]
    assert usmx.argpartition(x, (0, -1)).tolist() == [[1, 2, 0]] * 2
    assert np.partition(x, 4, axis=None).tolist() == [1, 2, 3, 7, 8, 9]
    x.partition(1, axis=0)
    assert x.tolist() == [[3, 1, 2], [9, 7, 8]]


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_in_sorted_arrays_are_those_of_numpy(side: Any) -> None:
    for char in some("?bQefdFD", 2):
        for few in (False, True):
            n, wanted_in = values(char, (300,), few, 1), values(char, (20, 5), few, 2)
            a, v = usmx.asarray(n), usmx.asarray(wanted_in)
            in_order = np.sort(n)
            wanted = np.searchsorted(in_order, wanted_in, side)
            got = usmx.searchsorted(usmx.sort(a), v, side=side)
            np.testing.assert_array_equal(got.to_numpy(), wanted, (char, few))
            got = usmx.searchsorted(a, v, side=side, sorter=usmx.argsort(a))
            np.testing.assert_array_equal(got.to_numpy(), wanted, (char, few))
    x = usmx.asarray([1, 2, 2, 4], dtype="i4")
    assert usmx.searchsorted(x, 2, side=side).item() == np.searchsorted([1, 2, 2, 4], 2, side)
    assert usmx.searchsorted(x, 2.5, side=side).item() == 3
    assert usmx.searchsorted(x, [0.5, 9], side=side).tolist() == [0, 4]
    assert x.searchsorted(usmx.asarray([3]), side).tolist() == [3]
    assert np.searchsorted(x[::-1], 3, side=side, sorter=[-1, 2, 1, 0]).item() == 3
    assert usmx.searchsorted(x[:0], x, side=side).tolist() == [0] * 4
    assert usmx.searchsorted(x, x[:0]).shape == (0,)


def test_wrong_arguments_of_searches() -> None:
    x = usmx.arange(4)
    with pytest.raises(ValueError, match=r"a: has shape \(2, 2\)"):
        usmx.searchsorted(x.reshape(2, 2), x)
    with pytest.raises(ValueError, match="side: 'middle'"):
        usmx.searchsorted(x, x, side="middle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sorter: has shape"):
        usmx.searchsorted(x, x, sorter=x[:2])
    with pytest.raises(TypeError, match="sorter: of float64"):
        usmx.searchsorted(x, x, sorter=x * 1.0)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        usmx.searchsorted(x, x, sorter=x + 1)


def test_digits_that_are_the_same_in_a_row() -> None:
    n = np.full((2, 17000), 7, "u8")
    n[1, ::7] = 2**40
    n[1, ::5] = 3
    for descending in (False, True):
        x, order = usmx.asarray(n), order_of(n, descending)
        np.testing.assert_array_equal(usmx.argsort(x, descending=descending).to_numpy(), order)
        wanted = np.take_along_axis(n, order, -1)
        np.testing.assert_array_equal(usmx.sort(x, descending=descending).to_numpy(), wanted)


@pytest.mark.parametrize("char", "iqfd")
def test_digits_begin_at_the_bits_that_differ(char: str) -> None:
    few = np.array([1, 2, 3, 4, 2**20, 2**20 + 1], char)
    for given in (few[:1], few[:4], few, np.concatenate((few, -few))):
        n = np.random.default_rng(0).choice(given, 17000)
        if char in "fd":
            n[::100] = np.nan
        for descending in (False, True):
            x, order = usmx.asarray(n), order_of(n, descending)
            np.testing.assert_array_equal(usmx.argsort(x, descending=descending).to_numpy(), order)
            wanted = n[order]
            assert usmx.sort(x, descending=descending).to_numpy().tobytes() == wanted.tobytes()


def long_rows(char: str) -> dict[str, Any]:
    """Rows that are counted, or moved to buckets, or both."""
    rng = np.random.default_rng(7)
    dtype, n = np.dtype(char), 20_000
    made: dict[str, Any] = {"few": rng.integers(0, 4, n), "one": np.full(n, 3)}
    if dtype.kind == "f":
        made["both signs"] = rng.integers(-3, 4, n) + 0.5
        made["normal"] = rng.normal(size=n)
        made["small and large"] = np.exp(rng.normal(size=n) * 20)
        made["zeros"] = np.where(rng.integers(0, 2, n), 0.0, -0.0)
        made["nan"] = np.where(rng.integers(0, 4, n), rng.normal(size=n), np.nan)
    else:
        limits = np.iinfo(dtype)
        made["all"] = rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
        made["ends"] = rng.choice(np.array([limits.min, limits.max], dtype), n)
        # Those of one bucket share all bits but two and the low ones, which are in reverse.
        high = rng.integers(0, 3, n).astype(dtype) << (dtype.itemsize * 5)
        made["clusters"] = high + np.arange(n)[::-1].astype(dtype)
        made["clusters"][::500] = dtype.type(limits.max)
    made["sorted"] = np.sort(rng.integers(0, 100_000, n))
    made["reversed"] = made["sorted"][::-1]
    return {name: np.ascontiguousarray(x.astype(dtype)) for name, x in made.items()}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("char", "iIqQfd")
def test_long_rows_of_any_numbers(char: str, wide: bool, request: pytest.FixtureRequest) -> None:
    if wide:
        wide_places(request)
    for name, n in long_rows(char).items():
        x = usmx.asarray(n)
        for descending in (False, True):
            order = order_of(n, descending)
            got = usmx.argsort(x, descending=descending).to_numpy()
            np.testing.assert_array_equal(got, order, f"{name} {descending}")
            in_order = usmx.sort(x, descending=descending).to_numpy()
            assert in_order.tobytes() == n[order].tobytes(), (name, descending)
            both = usmx._usmx._sort(x, 0, descending, True, True)
            assert both[0].to_numpy().tobytes() == n[order].tobytes(), (name, descending)
            np.testing.assert_array_equal(both[1].to_numpy(), order)
        values, counts = usmx.unique(x, return_counts=True)
        wanted = np.unique(n, return_counts=True)
        np.testing.assert_array_equal(values.to_numpy(), wanted[0], name)
        np.testing.assert_array_equal(counts.to_numpy(), wanted[1], name)


@needs("row_groups")
def test_long_rows_of_few_numbers_are_counted_and_not_moved() -> None:
    for dtype in some(("float32", "float64", "int32", "int64"), 2):
        for low in (-2, 0, 1000):
            x = usmx.asarray(np.arange(20_000).astype(dtype) % 5 + low)
            values, starts = usmx._usmx._different_or_sorted(x)
            assert values.tolist() == [low + k for k in range(5)]
            assert starts is not None
            assert starts.tolist() == [4000 * k for k in range(5)]
            moved = usmx.asarray(np.arange(20_000).astype(dtype))
            assert usmx._usmx._different_or_sorted(moved)[1] is None


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("forms", ["native_cpu", "level_zero"])
@pytest.mark.parametrize("dtype", ["?", "b", "H", "i", "l", "Q", "e", "E", "f", "d", "F", "D"])
def test_partitions_have_the_elements_asked_for_at_their_places(
    kind: Any, forms: str, dtype: str, request: pytest.FixtureRequest
) -> None:
    usmx._usmx._Testing.use_forms_of(forms)
    request.addfinalizer(lambda: usmx._usmx._Testing.use_forms_of(""))
    rng = np.random.default_rng(5)
    for shape in ((1,), (2,), (17,), (5000,), (30, 40), (3, 2, 50)):
        numbers = rng.integers(0, 60, shape)
        host = usmx.asarray(numbers).astype("bfloat16").to_numpy() if dtype == "E" else (
            numbers.astype(dtype)
        )  # fmt: skip
        if dtype in "efdFD":
            host.reshape(-1)[rng.integers(0, host.size, host.size // 5)] = np.nan
        x = usmx.asarray(host, usm_type=kind)
        for axis in (-1, 0, None):
            line = host.reshape(-1) if axis is None else host
            along = -1 if axis is None else axis
            n = line.shape[along]
            in_order = usmx.sort(x, axis=axis).to_numpy()
            for kth in (0, n // 2, -1, [n - 1, n // 3, 0], np.array([n // 2])):
                places = np.atleast_1d(kth) % n
                made = usmx.partition(x, kth, axis=axis).to_numpy()
                indices = usmx.argpartition(x, kth, axis=axis).to_numpy()
                assert indices.dtype == np.int64
                assert np.array_equal(
                    np.sort(indices, axis=along),
                    np.sort(np.argsort(np.zeros(line.shape), axis=along), axis=along),
                )
                for found in (made, np.take_along_axis(line, indices, along)):
                    assert same(np.take(found, places, along), np.take(in_order, places, along))
                    again = usmx.sort(usmx.asarray(found), axis=along).to_numpy()
                    assert same(again, in_order)
                    for place in places:  # nothing larger before, nothing smaller behind
                        before = np.sort(np.take(found, range(place), along), axis=along)
                        assert dtype == "E" or same(before, np.take(in_order, range(place), along))
        y = usmx.asarray(host, usm_type=kind)
        assert y.partition(0) is None
        assert same(y.to_numpy()[..., 0], np.min(host, axis=-1) if dtype in "?bHilQ" else
                    usmx.sort(x).to_numpy()[..., 0])  # fmt: skip


def same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind not in "biufc":
        a, b = a.astype("f"), b.astype("f")
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def test_places_of_partitions_are_inside() -> None:
    x = usmx.arange(5000)
    for kth in (5000, -5001, [0, 5000]):
        with pytest.raises(ValueError, match=r"kth: .*out of bounds"):
            usmx.partition(x, kth)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x.partition(3)


@pytest.mark.parametrize("value", [-1, 300, 2**40, True, 2, 2.5])
def test_numbers_of_python_are_searched_whatever_the_type_of_the_array(value, kind: str) -> None:
    for dtype in ("u1", "i2", "u8", "f4"):
        values = np.asarray([1, 2, 3, 200], dtype)
        for side in ("left", "right"):
            ours = usmx.searchsorted(usmx.asarray(values, usm_type=kind), value, side=side)
            assert int(ours) == np.searchsorted(values, value, side=side)
