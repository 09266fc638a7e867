# Functions that move, join, cut, repeat and create arrays give what NumPy's give.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx

TYPES = "?bBhHiIqQefdFD"
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (6,), (2, 3), (3, 0), (2, 3, 4), (1, 4, 1)]


def sample(shape: tuple[int, ...], char: str = "f") -> np.ndarray:
    size = int(np.prod(shape))
    values = np.arange(size).reshape(shape) % 101
    return values % 3 == 0 if char == "?" else (values + (1j if char in "FD" else 0)).astype(char)


def same(got: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert isinstance(got, type(wanted)), (type(got), type(wanted))
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
        return
    assert isinstance(got, usmx.ndarray)
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got.to_numpy(), wanted, strict=True)


CALLS: dict[str, Callable[..., Any]] = {
    "atleast_1d": lambda xp, x: xp.atleast_1d(x),
    "atleast_2d": lambda xp, x: xp.atleast_2d(x),
    "atleast_3d": lambda xp, x: xp.atleast_3d(x),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, xp.ones((2,) + (1,) * x.ndim)),
    "concat": lambda xp, x: xp.concatenate([x, x[:0], x], axis=0),
    "concat, flat": lambda xp, x: xp.concat((x, x), axis=None),
    "concat, last axis": lambda xp, x: xp.concat([x, xp.astype(x, "float64")], axis=-1),
    "expand_dims": lambda xp, x: xp.expand_dims(x, 0),
    "expand_dims, two": lambda xp, x: xp.expand_dims(x, (-1, 0)),
    "flip": lambda xp, x: xp.flip(x),
    "flip, axis": lambda xp, x: xp.flip(x, axis=-1),
    "flipud": lambda xp, x: xp.flipud(x),
    "fliplr": lambda xp, x: xp.fliplr(x),
    "rot90": lambda xp, x: [xp.rot90(x, k) for k in range(-1, 4)],
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "moveaxis, two": lambda xp, x: xp.moveaxis(x, (0, 1), (-1, 0)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, tuple(range(x.ndim))[::-1]),
    "transpose": lambda xp, x: xp.transpose(x),
    "swapaxes": lambda xp, x: xp.swapaxes(x, 0, -1),
    "repeat": lambda xp, x: xp.repeat(x, 3),
    "repeat, axis": lambda xp, x: xp.repeat(x, 2, axis=-1),
    "repeat, none": lambda xp, x: xp.repeat(x, 0, axis=0),
    "repeat, each": lambda xp, x: xp.repeat(x, [k % 3 for k in range(x.shape[0])], axis=0),
    "repeat, on the device": lambda xp, x: xp.repeat(
        x, xp.asarray([(k + 1) % 3 for k in range(x.shape[-1])]), axis=-1
    ),
    "reshape": lambda xp, x: xp.reshape(x, (x.size, 1)),
    "reshape, Fortran": lambda xp, x: xp.reshape(x, (1, x.size), order="F"),
    "ravel": lambda xp, x: xp.ravel(x),
    "roll": lambda xp, x: xp.roll(x, 2),
    "roll, axis": lambda xp, x: xp.roll(x, -1, axis=0),
    "roll, axes": lambda xp, x: xp.roll(x, (1, -5), axis=(0, -1)),
    "roll, one axis twice": lambda xp, x: xp.roll(x, (1, 2), axis=0),
    "squeeze": lambda xp, x: xp.squeeze(x),
    "squeeze, axis": lambda xp, x: xp.squeeze(x[None], axis=0),
    "stack": lambda xp, x: xp.stack([x, x]),
    "stack, last": lambda xp, x: xp.stack((x, xp.flip(x)), axis=-1),
    "tile": lambda xp, x: xp.tile(x, 2),
    "tile, axes": lambda xp, x: xp.tile(x, (2, 1, 3)),
    "tile, none": lambda xp, x: xp.tile(x, (0,)),
    "unstack": lambda xp, x: xp.unstack(x, axis=-1),
    "split": lambda xp, x: xp.split(x, 1),
    "split, indices": lambda xp, x: xp.split(x, [1, 2, 9], axis=-1),
    "array_split": lambda xp, x: xp.array_split(x, 4),
    "hsplit": lambda xp, x: xp.hsplit(x, [1]),
    "vsplit": lambda xp, x: xp.vsplit(x, 1),
    "dsplit": lambda xp, x: xp.dsplit(x, 2),
    "vstack": lambda xp, x: xp.vstack([x, x]),
    "hstack": lambda xp, x: xp.hstack([x, x]),
    "dstack": lambda xp, x: xp.dstack([x, x]),
    "column_stack": lambda xp, x: xp.column_stack([x, x]),
    "pad": lambda xp, x: xp.pad(x, 2),
    "pad, values": lambda xp, x: xp.pad(x, (1, 2), constant_values=(3, 4)),
    "pad, edge": lambda xp, x: xp.pad(x, 1, "edge"),
    "pad, reflect": lambda xp, x: xp.pad(x, (4, 1), "reflect"),
    "pad, symmetric": lambda xp, x: xp.pad(x, (0, 5), mode="symmetric"),
    "pad, wrap": lambda xp, x: xp.pad(x, 3, "wrap"),
    "pad, maximum": lambda xp, x: xp.pad(x, ((1, 2),) * x.ndim, "maximum", stat_length=2),
    "pad, minimum": lambda xp, x: xp.pad(x, 2, "minimum"),
    "pad, mean": lambda xp, x: xp.pad(x, (0, 3), "mean", stat_length=(1, 2)),
    "pad, median": lambda xp, x: xp.pad(x, 1, "median"),
    "pad, ramp": lambda xp, x: xp.pad(x, (4, 3), "linear_ramp", end_values=(9, -2)),
    "pad, odd": lambda xp, x: xp.pad(x, 7, "reflect", reflect_type="odd"),
    "pad, odd halves": lambda xp, x: xp.pad(x, (1, 6), "symmetric", reflect_type="odd"),
    "pad, one axis": lambda xp, x: xp.pad(x, {0: (1, 2)}, constant_values=5),
    "tril": lambda xp, x: [xp.tril(x, k=k) for k in (-1, 0, 2)],
    "triu": lambda xp, x: [xp.triu(x, k=k) for k in (-1, 0, 2)],
    "diag": lambda xp, x: [xp.diag(x, k) for k in (-3, -1, 0, 1, 7)],
    "meshgrid": lambda xp, x: list(xp.meshgrid(x, xp.arange(3))),
    "meshgrid, ij": lambda xp, x: list(xp.meshgrid(x, xp.arange(3), x, indexing="ij")),
    "meshgrid, sparse": lambda xp, x: list(xp.meshgrid(x, xp.arange(3), sparse=True)),
}


@pytest.mark.parametrize("call", CALLS)
def test_shapes_and_elements_are_those_of_numpy(call: str) -> None:
    tested = 0
    for shape in SHAPES:
        a = sample(shape)
        for x in (usmx.asarray(a), usmx.asarray(np.repeat(a, 2, -1))[..., ::2] if shape else None):
            if x is None:
                continue
            try:
                wanted = CALLS[call](np, a)
            except (ValueError, IndexError, TypeError):
                # Ours is an error of such a kind too.
                if call not in ("meshgrid", "meshgrid, ij", "meshgrid, sparse"):
                    with pytest.raises((ValueError, IndexError, TypeError)):
                        CALLS[call](usmx, x)
                continue
            if "meshgrid" in call and a.ndim > 1:
                with pytest.raises(ValueError, match="expected vectors"):
                    CALLS[call](usmx, x)
                continue
            same(CALLS[call](usmx, x), wanted)
            tested += 1
    assert tested


@pytest.mark.parametrize("char", TYPES)
def test_each_type_is_moved(char: str) -> None:
    a = sample((3, 4), char)
    x = usmx.asarray(a)
    same(usmx.concat([x, x.T.reshape(3, 4)]), np.concat([a, a.T.reshape(3, 4)]))
    same(usmx.roll(x, 1, axis=1), np.roll(a, 1, axis=1))
    same(usmx.repeat(x, [1, 0, 2], axis=0), np.repeat(a, [1, 0, 2], axis=0))
    same(usmx.tile(x, 2), np.tile(a, 2))
    same(usmx.tril(x), np.tril(a))
    same(usmx.pad(x, 1), np.pad(a, 1))
    same(usmx.eye(3, 4, k=1, dtype=char), np.eye(3, 4, k=1, dtype=char))


def test_types_meet_where_arrays_are_joined() -> None:
    for one in TYPES:
        for other in "?bQefD":
            wanted = np.result_type(one, other)
            pieces = [usmx.zeros(0, one), usmx.ones(0, other)]
            assert usmx.concat(pieces).dtype == wanted
    got = usmx.stack([usmx.ones(2, "int8"), usmx.ones(2, "int16")], dtype="f", axis=1)
    assert got.dtype == "f"


def test_functions_of_numpy_compute_where_the_array_is(kind: Any) -> None:
    x = usmx.arange(6, usm_type=kind).reshape(2, 3)
    results = [
        np.concatenate([x, x]),
        np.stack((x, x), axis=1),
        np.moveaxis(x, 0, 1),
        np.roll(x, 1),
        np.reshape(x, -1),
        np.pad(x, 1, mode="edge"),
        np.transpose(x, (1, 0)),
        np.tril(x, 1),
        np.repeat(x, 2, 1),
        *np.split(x, 2),
        np.zeros_like(x, dtype="int8"),
        np.full_like(x, 7),
        np.broadcast_to(x, (2, 2, 3)),
        *np.meshgrid(x[0], x[1]),
    ]
    for got in results:
        assert isinstance(got, usmx.ndarray)
        assert got.usm_type == kind
    host = x.to_numpy()
    same(results[0], np.concatenate([host, host]))
    same(results[1], np.stack((host, host), axis=1))


def test_views_share_memory_and_copies_do_not() -> None:
    x = usmx.zeros((2, 3, 1))
    for view in (
        usmx.flip(x),
        usmx.moveaxis(x, 0, 2),
        usmx.squeeze(x, 2),
        usmx.expand_dims(x, 0),
        usmx.rot90(x),
        usmx.unstack(x)[0],
        usmx.reshape(x, (3, 2)),
        usmx.swapaxes(x, 0, 1),
    ):
        view[...] = view + 1
    np.testing.assert_array_equal(x.to_numpy()[0], np.full((3, 1), 8.0))
    np.testing.assert_array_equal(x.to_numpy()[1], np.full((3, 1), 7.0))
    y = usmx.reshape(x, (3, 2), copy=True)
    y[...] = 0
    assert x[0, 0, 0] == 8
    with pytest.raises(ValueError, match="copy: this shape needs a copy"):
        usmx.reshape(x.T, (6,), copy=False)


def test_rows_at_equal_distances() -> None:
    for start, stop, num in [(0, 1, 5), (-3.5, 12, 33), (2, 2, 4), (5, -5, 7), (0, 1, 1), (1, 2, 0),
                             (1e-300, 1e300, 9), (0, 5e-324, 3), (1 + 2j, 3, 4)]:  # fmt: skip
        for endpoint in (True, False):
            same(usmx.linspace(start, stop, num, endpoint=endpoint),
                 np.linspace(start, stop, num, endpoint=endpoint))  # fmt: skip
    same(usmx.linspace(-5, 5, 8, dtype="int32"), np.linspace(-5, 5, 8, dtype="int32"))
    same(usmx.linspace(0, 1, 7, dtype="float32"), np.linspace(0, 1, 7, dtype="float32"))
    assert usmx.linspace(0, 1, 3, usm_type="shared").usm_type == "shared"
    with pytest.raises(ValueError, match="num: -1; expected 0 or more"):
        usmx.linspace(0, 1, -1)


def test_matrices_with_ones() -> None:
    for rows, columns, k in [(3, None, 0), (3, 5, 2), (5, 3, -3), (2, 2, 9), (0, 3, 0), (4, 4, -9)]:
        same(usmx.eye(rows, columns, k=k), np.eye(rows, columns, k=k))
        same(usmx.tri(rows, columns, k), np.tri(rows, columns, k))
    same(usmx.identity(3, dtype="int8"), np.identity(3, dtype="int8"))
    assert usmx.eye(2, usm_type="host").usm_type == "host"


def test_shapes_meet_as_in_numpy() -> None:
    for shapes in [(), ((2, 1), (1, 3)), ((), (4,)), ((0, 1), (1, 5)), (3, (2, 1))]:
        assert usmx.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    with pytest.raises(ValueError, match=r"shapes: \(2,\), \(3,\) cannot be broadcast"):
        usmx.broadcast_shapes((2,), (3,))


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("char", ["?", "e", "f", "q", "D"])
def test_many_long_arrays_are_joined(char, kind):
    rng = np.random.default_rng(3)
    lengths = [0, 1, 70_000, 3, 0, 400_000, 12_345, 65_536, 131_072, 7, 0, 300_001, 5, 9, 11, 13, 2]
    host = [rng.integers(0, 100, n).astype(char) for n in lengths]
    parts = [usmx.asarray(one, usm_type=kind) for one in host]
    same(usmx.concat(parts), np.concatenate(host))
    rows = [one[: one.size // 8 * 8].reshape(1, -1, 8) for one in host]
    of = [usmx.asarray(one, usm_type=kind) for one in rows]
    same(usmx.concat(of, axis=1), np.concatenate(rows, axis=1))
    same(usmx.concat([one[:, ::2] for one in of], axis=1),
         np.concatenate([one[:, ::2] for one in rows], axis=1))  # fmt: skip
    out = usmx.empty(sum(lengths), char, usm_type=kind)
    usmx.concat(parts, out=out)
    same(out, np.concatenate(host))
    # What is joined may lie in the result.
    whole = usmx.arange(1 << 19, usm_type=kind)
    usmx.concat([whole[1 << 18 :], whole[: 1 << 18]], out=whole)
    same(whole, np.roll(np.arange(1 << 19), 1 << 18))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: usmx.concat([]), ValueError, "arrays: is empty"),
        (lambda x: usmx.concat([x, x[0]]), ValueError, r"number 1 has shape \(3,\)"),
        (lambda x: usmx.stack([x, x.T]), ValueError, r"number 1 has shape \(3, 2\)"),
        (lambda x: usmx.concat([x], axis=2), IndexError, "axis: 2 is out of bounds"),
        (lambda x: usmx.squeeze(x, 0), ValueError, "axis: 0 has length 2; expected 1"),
        (lambda x: usmx.flip(x, axis=(0, -2)), ValueError, "names an axis twice"),
        (lambda x: usmx.flip(x, axis="a"), TypeError, "axis: is of type str"),
        (lambda x: usmx.moveaxis(x, (0, 1), 0), ValueError, "source: has 2 axes"),
        (lambda x: usmx.repeat(x, -1), ValueError, "repeats: -1; expected 0 or more"),
        (lambda x: usmx.repeat(x, 1.5), TypeError, "repeats: of float64"),
        (lambda x: usmx.repeat(x, [1, 2, 3, 4], axis=0), ValueError, "repeats: have shape"),
        (lambda x: usmx.repeat(x, usmx.asarray([1, -2]), axis=0), ValueError, "negative"),
        (lambda x: usmx.split(x, 2, axis=1), ValueError, "2 equal parts of length 3"),
        (
            lambda x: usmx.array_split(x, 0),
            ValueError,
            "indices_or_sections: 0; expected at least 1",
        ),
        (
            lambda x: usmx.array_split(x, 2**62),
            ValueError,
            "indices_or_sections: 4611686018427387904 parts",
        ),
        (lambda x: usmx.tile(x, -1), ValueError, "reps"),
        (lambda x: usmx.roll(x, (1, 2, 3), axis=(0, 1)), ValueError, "shift: has 3 numbers"),
        (lambda x: usmx.pad(x, 1, "means"), ValueError, "mode: 'means'; expected a function or"),
        (lambda x: usmx.pad(x, 1, "edge", end_values=1), ValueError, "end_values: mode 'edge' has"),
        (lambda x: usmx.pad(x, 1, "reflect", reflect_type="no"), ValueError, "reflect_type: 'no'"),
        (lambda x: usmx.pad(x, 1, "max", stat_length=0), ValueError, "mode: 'max'"),
        (lambda x: usmx.pad(x, -1), ValueError, "pad_width"),
        (lambda x: usmx.meshgrid(x[0], indexing="yx"), ValueError, "indexing: 'yx'"),
        (lambda x: usmx.rot90(x, axes=(0, 0)), ValueError, "names an axis twice"),
    ],
)
def test_wrong_arguments_are_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(usmx.zeros((2, 3)))


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("length", [4, 5000])
def test_repeats_whose_sum_is_beyond_int64_are_refused(kind: Any, length: int) -> None:
    x = usmx.arange(length, usm_type=kind)
    for first in ([2**62] * 4, [2**63 - 1, 2], [2**63 - 1, 2**63 - 1, 2]):
        counts = np.zeros(length, "int64")
        counts[: len(first)] = first
        for given in (counts, usmx.asarray(counts, usm_type=kind)):
            with pytest.raises(ValueError, match="beyond int64"):
                usmx.repeat(x, given)
    counts = np.ones(length, "uint64")
    counts[0] = 2**63
    for given in (counts, usmx.asarray(counts, usm_type=kind)):
        with pytest.raises(ValueError, match="beyond int64"):
            usmx.repeat(x, given)
    signed = np.ones(length, "int64")
    signed[:2] = -(2**63)
    for given in (signed, usmx.asarray(signed, usm_type=kind)):
        with pytest.raises(ValueError, match="0 or more"):
            usmx.repeat(x, given)


def test_indices_of_insert_are_integers() -> None:
    x = usmx.arange(3)
    for one in (1.5, [1.5], usmx.asarray([1.0])):
        with pytest.raises(TypeError, match=r"obj: .*expected integers"):
            usmx.insert(x, one, 9)
    with pytest.raises(IndexError, match=r"obj: .*expected integers"):
        usmx.insert(x, [1.0, 2.0], 9)
    assert usmx.insert(x, [], 9).tolist() == [0, 1, 2]
    assert usmx.insert(x, [True, False, True], 9).tolist() == [9, 0, 1, 9, 2]


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_copies_have_the_order_that_is_asked_for(kind: Any) -> None:
    for shape in ((2, 3), (1, 5), (2, 2050), (3, 4, 5), (7,), (2, 0)):
        host = np.arange(int(np.prod(shape))).reshape(shape)
        x = usmx.asarray(host, usm_type=kind)
        for theirs, ours in ((host, x), (host.T, x.T), (host[::-1], x[::-1])):
            for order in "CFAK":
                for want, got in (
                    (theirs.copy(order), ours.copy(order)),
                    (np.copy(theirs, order=order), np.copy(ours, order=order)),
                    (theirs.astype("f8", order=order), ours.astype("f8", order=order)),
                    (theirs.astype("i8", order=order), ours.astype("i8", order=order)),
                ):
                    assert got.flags.c_contiguous == want.flags.c_contiguous, (shape, order)
                    assert got.flags.f_contiguous == want.flags.f_contiguous, (shape, order)
                    assert np.array_equal(got.to_numpy(), want)


#: Layouts that NumPy's order "K" keeps, from an array of shape (2, n, 4).
KEPT: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x,
    "F": lambda x: x.T,
    "permuted": lambda x: x.transpose(1, 0, 2),
    "F of two axes": lambda x: x[0].T,
    "reversed": lambda x: x[:, ::-1],
    "in steps": lambda x: x.transpose(2, 0, 1)[:, :, ::2],
    "F reversed": lambda x: x[0].T[::-1],
}
RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "+ 1": lambda xp, x: x + 1,
    "x + x": lambda xp, x: x + x,
    "x * 2 + x": lambda xp, x: x * 2 + x,
    "sin": lambda xp, x: xp.sin(x),
    "less": lambda xp, x: x < 3,
    "where": lambda xp, x: xp.where(x < 3, x, 1.0),
    "with a row": lambda xp, x: x + xp.ones(x.shape[-1]),
    "C and x": lambda xp, x: xp.ones(x.shape) + x,
    "x and C": lambda xp, x: x + xp.ones(x.shape),
    "with a number of rank 0": lambda xp, x: x + xp.ones(()),
    "astype": lambda xp, x: x.astype("float32"),
    "clip": lambda xp, x: xp.clip(x, 1, 2),
    "round": lambda xp, x: xp.round(x),
    "abs": lambda xp, x: abs(x),
    "copy K": lambda xp, x: x.copy("K"),
    "empty_like": lambda xp, x: xp.empty_like(x),
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "full_like": lambda xp, x: xp.full_like(x, 2),
}


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("n", [3, 2000])
def test_results_keep_the_order_of_axes_whatever_their_size_and_memory(kind: Any, n: int) -> None:
    host = np.arange(8.0 * n).reshape(2, n, 4)
    x = usmx.asarray(host, usm_type=kind)
    for layout, view in KEPT.items():
        for name, call in RESULTS.items():
            want, got = call(np, view(host)), call(usmx, view(x))
            steps = tuple(step // want.itemsize for step in want.strides)
            assert got.strides == steps, (layout, name)
            if name != "empty_like":
                assert np.allclose(got.to_numpy(), want), (layout, name)
        for order in "CFAK":
            theirs, ours = view(host).ravel(order), view(x).ravel(order)
            assert np.array_equal(ours.to_numpy(), theirs), (layout, order)
            assert np.array_equal(view(x).flatten(order).to_numpy(), theirs), (layout, order)
