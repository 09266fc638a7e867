# Indexing by arrays, lists and masks selects, and assigns to, what NumPy's does.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import usmx

TYPES = "?bBhHiIqQefdFD"


def elements(rng: np.random.Generator, shape: tuple[int, ...], char: str) -> np.ndarray:
    values = rng.integers(0, 100, shape)
    if char == "?":
        return values % 2 == 0
    return (values + 1j * rng.integers(0, 9, shape) if char in "FD" else values).astype(char)


def pair(rng: np.random.Generator, shape: tuple[int, ...], char: str) -> tuple[Any, Any]:
    """Equal arrays of NumPy and of ours, in one of several layouts."""
    layout = rng.integers(4)
    if layout == 1:
        block = elements(rng, shape[::-1], char)
        return block.T, usmx.asarray(block).T
    if layout == 2:
        block = elements(rng, tuple(2 * n for n in shape), char)
        key = (slice(None, None, 2),) * len(shape)
        return block[key], usmx.asarray(block)[key]
    block = elements(rng, shape, char)
    if layout == 3 and shape:
        key = (slice(None, None, -1),) * len(shape)
        return block[key], usmx.asarray(block)[key]
    return block, usmx.asarray(block)


def random_key(
    rng: np.random.Generator, shape: tuple[int, ...], *, unique: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A key with at least one array, for NumPy and for ours."""
    batch = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0 if not unique else 1, 3)))
    theirs: list[Any] = []
    ours: list[Any] = []
    axis = 0
    has_mask = False
    while axis < len(shape):
        choice = rng.integers(8)
        length = shape[axis]
        item: Any
        if choice == 0:
            item = slice(*sorted(rng.integers(-length - 1, length + 2, 2)))
        elif choice == 1:
            item = slice(None, None, int(rng.choice([-2, -1, 2])))
        elif choice == 2 and length:
            item = int(rng.integers(-length, length))
        elif choice == 3 and not has_mask:
            count = int(rng.integers(1, len(shape) - axis + 1))
            mask = rng.integers(0, 2, shape[axis : axis + count]) == 1
            # A mask meets other indices only if the count fits: one index broadcasts.
            if mask.sum() != 1 and any(isinstance(k, (np.ndarray, list)) for k in theirs):
                continue
            has_mask = True
            theirs.append(mask)
            ours.append(usmx.asarray(mask) if rng.integers(2) else mask)
            axis += count
            continue
        elif choice == 7:
            theirs.append(None)
            ours.append(None)
            continue
        elif not has_mask and length:
            where = batch if rng.integers(3) else tuple(1 for _ in batch)
            if unique:
                where = tuple(1 for _ in batch)
            index = rng.integers(-length, length, where).astype(rng.choice(list("bhiq")))
            theirs.append(index)
            ours.append([index, index.tolist(), usmx.asarray(index)][rng.integers(3)])
            if not isinstance(ours[-1], (list, np.ndarray, usmx.ndarray)):
                ours[-1] = theirs[-1] = index  # a 0-d index is a number
            axis += 1
            continue
        else:
            item = slice(None)
        theirs.append(item)
        ours.append(item)
        axis += 1
    if rng.integers(3) == 0 and theirs:
        # An ellipsis in place of the last whole axes, or of none.
        at = int(rng.integers(len(theirs) + 1))
        theirs.insert(at, Ellipsis)
        ours.insert(at, Ellipsis)
    return tuple(theirs), tuple(ours)


def shapes(rng: np.random.Generator) -> tuple[int, ...]:
    often = [0.05, 0.15, 0.25, 0.25, 0.3]
    return tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5], rng.integers(1, 4), p=often))


@pytest.mark.parametrize("seed", range(8))
def test_keys_with_arrays_select_what_they_select_in_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        a, x = pair(rng, shapes(rng), "f")
        theirs, ours = random_key(rng, a.shape, unique=False)
        wanted = a[theirs]
        got = x[ours]
        assert isinstance(got, usmx.ndarray)
        assert got.shape == np.shape(wanted), (a.shape, theirs)
        np.testing.assert_array_equal(got.to_numpy(), wanted, err_msg=repr((a.shape, theirs)))


@pytest.mark.parametrize("seed", range(8))
def test_keys_with_arrays_assign_to_what_they_assign_to_in_numpy(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(40):
        a, x = pair(rng, shapes(rng), "f")
        a = a.copy()
        theirs, ours = random_key(rng, a.shape, unique=True)
        selected = np.shape(a[theirs])
        value: Any = 7
        if rng.integers(2):
            value = rng.integers(0, 100, selected[int(rng.integers(len(selected) + 1)) :])
        a[theirs] = value
        x[ours] = usmx.asarray(value) if rng.integers(2) else value
        np.testing.assert_array_equal(x.to_numpy(), a, err_msg=repr((a.shape, theirs)))


@pytest.mark.parametrize("char", TYPES)
def test_each_type_is_indexed(char: str) -> None:
    rng = np.random.default_rng(3)
    a = elements(rng, (5, 7), char)
    x = usmx.asarray(a)
    mask = rng.integers(0, 2, a.shape) == 1
    index = np.array([4, -1, 0])
    np.testing.assert_array_equal(x[mask].to_numpy(), a[mask])
    np.testing.assert_array_equal(x[index].to_numpy(), a[index])
    np.testing.assert_array_equal(x[:, index].to_numpy(), a[:, index])
    assert x[mask].dtype == a.dtype
    x[mask] = x[mask][::-1]
    a[mask] = a[mask][::-1]
    np.testing.assert_array_equal(x.to_numpy(), a)
    x[[0, 2]] = a[3]
    a[[0, 2]] = a[3]
    x[mask] = a[0, 0]
    a[mask] = a[0, 0]
    np.testing.assert_array_equal(x.to_numpy(), a)
    for got, wanted in zip(usmx.nonzero(x), a.nonzero(), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    assert usmx.count_nonzero(x).item() == np.count_nonzero(a)


def test_results_live_where_the_array_does(kind: Any) -> None:
    x = usmx.arange(10, usm_type=kind)
    there = usmx.asarray([1], usm_type=kind)
    for result in (x[[1, 2]], x[x > 3], usmx.take(x, there), usmx.nonzero(x)[0]):
        assert result.usm_type == kind
        assert result.queue == x.queue


@pytest.mark.parametrize("key", [True, False, np.True_])
def test_a_bool_adds_an_axis(key: Any) -> None:
    a = np.arange(6).reshape(2, 3)
    x = usmx.asarray(a)
    np.testing.assert_array_equal(x[key].to_numpy(), a[key])
    np.testing.assert_array_equal(x[0, key].to_numpy(), a[0, key])
    a[key] = 9
    x[key] = 9
    np.testing.assert_array_equal(x.to_numpy(), a)
    b = np.array(3)
    y = usmx.asarray(b)
    np.testing.assert_array_equal(y[y == 3].to_numpy(), b[b == 3])
    y[y == 3] = 4
    assert y.item() == 4


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([5], "index 5 is out of bounds for axis 0 with size 4"),
        (([0], [-4]), "index -4 is out of bounds for axis 1 with size 3"),
        (np.array([[9]]), "index 9 is out of bounds for axis 0"),
        ((usmx.asarray([0, -5]),), "index -5 is out of bounds for axis 0 with size 4"),
        ((usmx.asarray([0, 4]), 0), "index 4 is out of bounds for axis 0"),
        (([0], [0], [0]), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        (([0, 1], [0, 1, 2]), r"index: arrays of shapes \(2,\) and \(3,\) cannot be broadcast"),
        (np.ones((4, 2), bool), r"index: a mask of shape \(4, 2\) does not fit"),
        ((..., [0], ...), "single ellipsis"),
    ],
)
def test_wrong_keys_are_errors_and_change_nothing(key: Any, message: str) -> None:
    x = usmx.zeros((4, 3))
    with pytest.raises(IndexError, match=message):
        x[key]
    with pytest.raises(IndexError, match=message):
        x[key] = 1
    assert not usmx.count_nonzero(x)


def test_values_that_do_not_fit_are_errors() -> None:
    x = usmx.zeros((4, 3))
    with pytest.raises(ValueError, match=r"value: of shape \(5,\) cannot be broadcast"):
        x[[0, 1]] = np.zeros(5)
    with pytest.raises(ValueError, match="cannot be assigned to the 12 elements"):
        x[x == 0] = [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        usmx.broadcast_to(x[0], (2, 3))[[0]] = 1


def test_assigning_an_array_to_itself_takes_the_values_from_before() -> None:
    a = np.arange(1000)
    x = usmx.asarray(a)
    x[np.arange(999, -1, -1)] = x
    np.testing.assert_array_equal(x.to_numpy(), a[::-1])
    x[x % 2 == 0] += 1
    np.testing.assert_array_equal(x.to_numpy(), a[::-1] | 1)


def test_many_elements_are_compacted_in_order() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 1000, 300_007).astype("f")
    x = usmx.asarray(a)
    np.testing.assert_array_equal(x[x > 500].to_numpy(), a[a > 500])
    x[x > 500] = a[a > 500] + 1
    a[a > 500] += 1
    np.testing.assert_array_equal(x.to_numpy(), a)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_and_put(axis: int | None) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 99, (4, 5, 3)).astype("f")
    x = usmx.asarray(a)
    for shape in ((), (0,), (3,), (2, 2)):
        index = rng.integers(-3, 3, shape)
        wanted = np.take(a, index, axis)
        np.testing.assert_array_equal(usmx.take(x, index, axis=axis).to_numpy(), wanted)
        np.testing.assert_array_equal(np.take(x, usmx.asarray(index), axis).to_numpy(), wanted)
        for mode in ("wrap", "clip"):
            np.testing.assert_array_equal(
                x.take(usmx.asarray(index * 9), axis=axis, mode=mode).to_numpy(),
                np.take(a, index * 9, axis, mode=mode),
            )
    out = usmx.zeros((4,), "f")
    assert usmx.take(x, [0, 1, 2, -1], out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), np.take(a, [0, 1, 2, -1]))
    index = np.array([2, 0])
    if axis is None:
        np.put(a, index, [7])
        usmx.put(x, index, [7])
        np.put(a, [1, 3, 4], [1, 2])
        usmx.put(x, [1, 3, 4], [1, 2])
        y = usmx.asarray(a).T
        usmx.put(y, [1, -2], [50, 60])
        b = a.T.copy()
        b.put([1, -2], [50, 60])
        np.testing.assert_array_equal(y.to_numpy(), b)
    else:
        np.moveaxis(a, axis, 0)[index] = 7
        usmx.put(x, index, 7, axis=axis)
    np.testing.assert_array_equal(x.to_numpy(), a)
    with pytest.raises(IndexError, match="index 99 is out of bounds"):
        usmx.take(x, usmx.asarray([99]), axis=axis)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_along_an_axis(axis: int | None) -> None:
    rng = np.random.default_rng(6)
    a = rng.permutation(24).reshape(4, 6).astype("f")
    index = np.argsort(a, axis)
    x = usmx.asarray(a)
    wanted = np.take_along_axis(a, index, axis)
    got = usmx.take_along_axis(x, usmx.asarray(index), axis=axis)
    np.testing.assert_array_equal(got.to_numpy(), wanted)
    if axis is not None:
        one = np.expand_dims(np.argmax(a, axis), axis)
        np.testing.assert_array_equal(
            usmx.take_along_axis(x, one, axis=axis).to_numpy(), np.take_along_axis(a, one, axis)
        )
        narrow = index[:1] if axis else index[:, :1]
        np.testing.assert_array_equal(
            usmx.take_along_axis(x, narrow, axis=axis).to_numpy(),
            np.take_along_axis(a, narrow, axis),
        )
        np.put_along_axis(a, one, -1, axis)
        usmx.put_along_axis(x, one, -1, axis=axis)
        np.testing.assert_array_equal(x.to_numpy(), a)
    with pytest.raises(ValueError, match="indices: have 3 dimensions"):
        usmx.take_along_axis(x, np.zeros((1, 1, 1), int), axis=axis)


def test_nonzero_and_its_kin() -> None:
    rng = np.random.default_rng(7)
    for shape in ((0,), (5,), (3, 4), (2, 0, 3), (2, 3, 4)):
        a = rng.integers(0, 2, shape).astype("f") * np.float32(np.nan)
        a[rng.integers(0, 2, shape) == 0] = -0.0
        x = usmx.asarray(a)
        for got, wanted in zip(usmx.nonzero(x), np.nonzero(a), strict=True):
            np.testing.assert_array_equal(got.to_numpy(), wanted)
            assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(usmx.argwhere(x).to_numpy(), np.argwhere(a))
        np.testing.assert_array_equal(np.flatnonzero(a), usmx.flatnonzero(x).to_numpy())
        for axis in (None, 0, -1, tuple(range(len(shape)))):
            np.testing.assert_array_equal(
                usmx.count_nonzero(x, axis=axis).to_numpy(), np.count_nonzero(a, axis=axis)
            )
    with pytest.raises(ValueError, match="a: has no dimensions"):
        usmx.nonzero(usmx.asarray(1))
    x = usmx.arange(6)
    np.testing.assert_array_equal(usmx.extract(x > 2, x).to_numpy(), [3, 4, 5])


@pytest.mark.usefixtures("cuda_forms")
def test_kernels_written_for_cuda_select_the_same() -> None:
    rng = np.random.default_rng(8)
    a = rng.integers(0, 100, (40, 30)).astype("f")
    x = usmx.asarray(a)
    mask, index = a > 50, rng.integers(-40, 40, 17)
    np.testing.assert_array_equal(x[usmx.asarray(mask)].to_numpy(), a[mask])
    np.testing.assert_array_equal(x[usmx.asarray(index)].to_numpy(), a[index])
    np.testing.assert_array_equal(usmx.argwhere(x > 50).to_numpy(), np.argwhere(mask))
    x[mask] = x[mask] + 1
    x[[3, 1], ::2] = 0
    a[mask] += 1
    a[[3, 1], ::2] = 0
    np.testing.assert_array_equal(x.to_numpy(), a)
    with pytest.raises(IndexError, match="index 40 is out of bounds for axis 0"):
        x[usmx.asarray([40])]


def test_where_of_a_condition_alone_is_nonzero() -> None:
    host = np.arange(20).reshape(4, 5) % 3 == 0
    found = usmx.where(usmx.asarray(host))
    for ours, theirs in zip(found, np.where(host), strict=True):
        np.testing.assert_array_equal(ours.to_numpy(), theirs)


class OnlyDLPack:
    """USM of a library that has no other protocol, and no memory that the host sees."""

    def __init__(self, values: Any) -> None:
        self.held = usmx.asarray(np.asarray(values), usm_type="device")

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.held.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.held.__dlpack_device__()


def test_indices_and_values_are_taken_from_usm_of_any_protocol() -> None:
    a = np.arange(12.0).reshape(4, 3)
    x = usmx.asarray(a)
    index, values = OnlyDLPack([3, 0]), OnlyDLPack([[7.0, 8, 9], [1, 2, 3]])
    np.testing.assert_array_equal(usmx.take(x, index, axis=0).to_numpy(), a[[3, 0]])
    x[[1, 2]] = values
    a[[1, 2]] = values.held.to_numpy()
    np.testing.assert_array_equal(x.to_numpy(), a)
    # Without a copy, although the other array is of another kind.
    shared, other = usmx.zeros(3, usm_type="shared"), OnlyDLPack([1.0, 2])
    with usmx.trace() as t:
        joined = usmx.concat([shared, other])
    assert joined.tolist() == [0, 0, 0, 1, 2]
    assert t.summary().bytes_allocated == joined.nbytes


def test_put_along_axis_takes_values_by_name_as_numpy_does():
    x = usmx.zeros((2, 3))
    usmx.put_along_axis(x, usmx.asarray([[1], [2]]), values=5, axis=-1)
    assert x.tolist() == [[0, 5, 0], [0, 0, 5]]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("size", [1, 7, 8, 1023, 1024, 1025, 40_001])
@pytest.mark.parametrize("kind", ["?", "i2", "f4", "c16"])
def test_masks_of_all_lengths_select_and_are_assigned(kind: str, size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    mask = rng.random(size) < share
    values = (100 * rng.random(size)).astype(kind)
    for step in (slice(None), slice(None, None, -1), slice(0, None, 2)):
        # Of the results, what lies between their elements has to stay.
        by_numpy, ours = values.copy(), usmx.asarray(values)
        ours_mask, ours_view = usmx.asarray(mask)[step], ours[step]
        np.testing.assert_array_equal(ours_view[ours_mask].to_numpy(), values[step][mask[step]])
        np.testing.assert_array_equal(
            usmx.nonzero(ours_mask)[0].to_numpy(), np.nonzero(mask[step])[0]
        )
        np.testing.assert_array_equal(
            usmx.nonzero(ours_view)[0].to_numpy(), np.nonzero(values[step])[0]
        )
        new = (100 * rng.random(int(mask[step].sum()))).astype(kind)
        by_numpy[step][mask[step]] = new
        ours_view[ours_mask] = usmx.asarray(new)
        np.testing.assert_array_equal(ours.to_numpy(), by_numpy)


@pytest.mark.parametrize("shift", [0, 1])
def test_a_mask_in_the_memory_that_is_assigned_to_is_read_before(shift: int) -> None:
    bools = np.resize([True, False, True, True, False], 5000)
    ours = usmx.asarray(bools)
    new = np.resize([False, True, True], int(bools[: 5000 - shift].sum()))
    ours[shift:][ours[: 5000 - shift]] = usmx.asarray(new)
    mask = bools[: 5000 - shift].copy()
    bools[shift:][mask] = new
    np.testing.assert_array_equal(ours.to_numpy(), bools)


@pytest.mark.parametrize(
    ("shape", "mask"), [((0, 1), (0, 0)), ((2, 1), (2, 0)), ((2, 1), (0, 1)), ((3, 2, 4), (0, 0))]
)
def test_a_mask_without_elements_fits_as_in_numpy(
    shape: tuple[int, ...], mask: tuple[int, ...]
) -> None:
    x = np.ones(shape, "f4")
    got = usmx.asarray(x)[usmx.zeros(mask, "?")]
    assert got.shape == x[np.zeros(mask, "?")].shape
    with pytest.raises(IndexError, match="mask of shape"):
        usmx.zeros((0, 3))[usmx.zeros((0, 2), "?")]


@pytest.mark.parametrize("wrong", [10, -11, 2**40])
def test_taking_checks_while_it_gathers(wrong):
    x = usmx.arange(10.0, usm_type="device")
    host = np.arange(-10, 10).repeat(300)
    index = usmx.asarray(host, usm_type="device")
    np.testing.assert_array_equal(usmx.take(x, index).to_numpy(), np.arange(10.0)[host])
    index[4321] = wrong
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 10"):
        usmx.take(x, index)
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 10"):
        x[index]
    with pytest.raises(IndexError, match="out of bounds for axis 1 with size 0"):
        usmx.take(usmx.zeros((3, 0), usm_type="device"), index, axis=1)


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("char", ["?", "e", "f", "q", "D"])
def test_long_rows_are_gathered(char, kind):
    rng = np.random.default_rng(7)
    for shape in ((7, 40), (300, 5, 8), (1000, 64), (3, 3000)):
        host = elements(rng, shape, char)
        x = usmx.asarray(host, usm_type=kind)
        for size in (1, 2, 33, 700):
            index = rng.integers(-shape[0], shape[0], size)
            np.testing.assert_array_equal(x[index].to_numpy(), host[index])
            np.testing.assert_array_equal(x[index.tolist(), ...].to_numpy(), host[index])
            np.testing.assert_array_equal(usmx.take(x, index, axis=0).to_numpy(), host[index])
            own = usmx.asarray(index.astype("i4"), usm_type=kind)
            np.testing.assert_array_equal(x[own].to_numpy(), host[index])
            assert x[index].usm_type == kind
        pairs = rng.integers(0, shape[0], (3, 4))
        np.testing.assert_array_equal(x[pairs].to_numpy(), host[pairs])
        # Rows with gaps between them, and in another order.
        np.testing.assert_array_equal(x[::2][[0, -1]].to_numpy(), host[::2][[0, -1]])
        np.testing.assert_array_equal(x[:, 1:][[0, -1]].to_numpy(), host[:, 1:][[0, -1]])
        np.testing.assert_array_equal(x[::-1][[0, -1]].to_numpy(), host[::-1][[0, -1]])


@pytest.mark.parametrize("wrong", [300, -301, 2**40])
def test_rows_are_checked_while_they_are_gathered(wrong):
    x = usmx.asarray(np.ones((300, 40)), usm_type="device")
    index = usmx.asarray(np.arange(-300, 300), usm_type="device")
    index[432] = wrong
    for act in (lambda: usmx.take(x, index, axis=0), lambda: x[index]):
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0"):
            act()


@pytest.mark.parametrize("mode", ["trusted", "checked", "unchecked", "", None])
@pytest.mark.parametrize("axis", [None, 0])
def test_no_mode_leaves_indices_unchecked(mode, axis):
    x = usmx.asarray(np.arange(1000), usm_type="device")
    far = usmx.asarray(np.array([1 << 40, -1 << 40]))
    with pytest.raises(ValueError, match="mode"):
        usmx.take(x, far, axis=axis, mode=mode)
    with pytest.raises(ValueError, match="mode"):
        usmx.put(x, far, 1, mode=mode, axis=axis)
    np.testing.assert_array_equal(x.to_numpy(), np.arange(1000))


LEAST = -(2**63)
READS: dict[str, Any] = {
    "getitem": lambda x, i: x[i],
    "take": usmx.take,
    "take of an axis": lambda x, i: usmx.take(x, i, axis=0),
    "take_along_axis": lambda x, i: usmx.take_along_axis(x, i, 0),
    "two indices": lambda x, i: x.reshape(-1, 1)[i, 0 * i],
    "rows": lambda x, i: x.reshape(-1, 1)[i],
}
WRITES: dict[str, Any] = {
    "setitem": lambda x, i: x.__setitem__(i, 7),
    "two indices": lambda x, i: x.reshape(1, -1).__setitem__((0 * i, i), 7),
    "put": lambda x, i: usmx.put(x, i, 7),
    "put of an axis": lambda x, i: usmx.put(x, i, 7, axis=0),
    "put_along_axis": lambda x, i: usmx.put_along_axis(x, i, 7, 0),
}


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("n", [16, 10000])
def test_no_index_outside_is_taken_for_none(kind: Any, n: int) -> None:
    hostile = [(LEAST, "int64"), (LEAST + 1, "int64"), (2**63 - 1, "int64"), (2**63, "uint64"),
               (n, "int32"), (-n - 1, "int32")]  # fmt: skip
    for number, dtype in hostile:
        for count in (1, 5000):
            indices = np.zeros(count, dtype)
            indices[-1] = number
            given = usmx.asarray(indices, usm_type=kind)
            base = usmx.zeros(3 * n, "float32", usm_type=kind)
            x = base[n : 2 * n]
            for call in (*READS.values(), *WRITES.values()):
                with pytest.raises(IndexError, match="out of bounds"):
                    call(x, given)
            assert not base.to_numpy().any()


def test_what_nan_is_as_an_integer_is_an_index_outside() -> None:
    index = usmx.asarray([float("nan")]).astype("int64")
    x = usmx.zeros(20000, usm_type="device")
    with pytest.raises(IndexError, match=str(LEAST)):
        x[:10000][index] = 1
    assert not x.to_numpy().any()


@pytest.mark.parametrize("usm_type", ["device", "shared"])
def test_ranges_buffers_and_tuples_are_indices_as_in_numpy(usm_type: str) -> None:
    host = np.arange(12.0).reshape(4, 3)
    x = usmx.asarray(host, usm_type=usm_type)
    for key in (
        range(0, 4, 2),
        range(0),
        memoryview(np.array([0, 3])),
        array.array("l", [0, 3]),
        [(0, 1), (2, 3)],
        (slice(None), range(2)),
        (slice(None), (0, 2)),
        (range(2), [0, 1]),
    ):
        np.testing.assert_array_equal(x[key].to_numpy(), host[key])
        changed, right = x.copy(), host.copy()
        changed[key], right[key] = 7, 7
        np.testing.assert_array_equal(changed.to_numpy(), right)
    with pytest.raises(IndexError):
        x[range(3, 6)]
    with pytest.raises(IndexError):
        x[array.array("d", [0.0])]


def test_complex_numbers_in_a_list_are_not_assigned_to_real_elements() -> None:
    x = usmx.zeros(2)
    for key in ([0, 1], x == 0):
        with pytest.raises(TypeError):
            x[key] = [1j, 2]
    assert x.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("count", [2, 100, 129, 5000, 500_000])
def test_of_equal_indices_the_value_of_the_last_one_stays(kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    value = np.arange(count)
    for length in (1, 7, 40 * count):
        at = rng.integers(-length, length, count) // 20 if length > 7 else np.arange(count) % length
        wanted = np.full(length, -1)
        wanted[at] = value
        given, place = (usmx.asarray(one, usm_type=kind) for one in (value, at))
        x = usmx.full(length, -1, usm_type=kind)
        x[place] = given
        np.testing.assert_array_equal(x.to_numpy(), wanted)
        x = usmx.full(length, -1, usm_type=kind)
        usmx.put(x, place, given)
        np.testing.assert_array_equal(x.to_numpy(), wanted)
        x = usmx.full((length, 1), -1, usm_type=kind)
        usmx.put_along_axis(x, place[:, None], given[:, None], 0)
        np.testing.assert_array_equal(x.to_numpy()[:, 0], wanted)


@pytest.mark.parametrize("count", [100, 200_000])
def test_rows_and_pairs_of_equal_indices_are_those_of_the_last_one(count: int) -> None:
    rng = np.random.default_rng(count)
    rows, columns = rng.integers(0, 5, count), rng.integers(-3, 3, (2, 1))
    for key, shape in ((rows, (5, 3)), ((slice(None), rows), (2, 5, 3)), ((rows, columns), (5, 3))):
        a = np.zeros(shape)
        value = rng.random(a[key].shape)
        a[key] = value
        x = usmx.zeros(shape, usm_type="device")
        x[key] = usmx.asarray(value)
        np.testing.assert_array_equal(x.to_numpy(), a)
