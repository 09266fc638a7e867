"""New arrays have the order of axes in memory that NumPy's have, for any order of operands."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from together import compute_together

import usmx

#: How an array of shape (2, 3, 4) lies in memory: the axes of its base, and which part of it it is.
ORDERS: dict[str, tuple[tuple[int, ...], Any]] = {
    "permuted": ((1, 2, 0), ...),
    "Fortran": ((2, 1, 0), ...),
    "reversed": ((0, 1, 2), np.s_[::-1, :, ::-1]),
    "reversed and permuted": ((2, 0, 1), np.s_[:, ::-1]),
    "with gaps": ((2, 1, 0), np.s_[::2, ::3, ::2]),
}
PLACE = np.array([1, 0])
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "copy": lambda xp, x: x.copy(),
    "copy K": lambda xp, x: x.copy("K"),
    "astype": lambda xp, x: x.astype("f4"),
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "sort": lambda xp, x: xp.sort(x, 0),
    "sort last": lambda xp, x: xp.sort(x),
    "argsort": lambda xp, x: xp.argsort(x, 1),
    "partition": lambda xp, x: xp.partition(x, 1, 0),
    "argpartition": lambda xp, x: xp.argpartition(x, 1, 0),
    "roll": lambda xp, x: xp.roll(x, 1, 0),
    "roll all": lambda xp, x: xp.roll(x, 1),
    "round": lambda xp, x: xp.round(x),
    "round digits": lambda xp, x: xp.round(x, 1),
    "round tens": lambda xp, x: xp.round(x.astype("i4"), -1),
    "round integers": lambda xp, x: xp.round(x.astype("i4"), 1),
    "clip": lambda xp, x: xp.clip(x, 0, 5),
    "clip nothing": lambda xp, x: xp.clip(x, None, None),
    "diff": lambda xp, x: xp.diff(x, axis=0),
    "concat": lambda xp, x: xp.concatenate([x, x], 1),
    "concat of two orders": lambda xp, x: xp.concatenate([x, xp.ones(x.shape)], 1),
    "concat of two types": lambda xp, x: xp.concatenate([x.astype("f4"), x], 0),
    "stack": lambda xp, x: xp.stack([x, x], 1),
    "dstack": lambda xp, x: xp.dstack([x, x]),
    "append": lambda xp, x: xp.append(x, x, 0),
    "cumsum": lambda xp, x: xp.cumsum(x, 0),
    "cumsum last": lambda xp, x: xp.cumsum(x, 2),
    "cumprod": lambda xp, x: xp.cumprod(x.astype("i4"), 1),
    "accumulate": lambda xp, x: np.maximum.accumulate(x, 1),
    "sum": lambda xp, x: x.sum(0),
    "sum, axis kept": lambda xp, x: x.sum(1, keepdims=True),
    "mean": lambda xp, x: x.mean(2),
    "max": lambda xp, x: x.max(1),
    "std": lambda xp, x: xp.std(x, 0),
    "any": lambda xp, x: xp.any(x, 0),
    "nansum": lambda xp, x: xp.nansum(x, 0),
    "argmax": lambda xp, x: xp.argmax(x, 0),
    "x[i]": lambda xp, x: x[xp.asarray(PLACE)],
    "x[list]": lambda xp, x: x[[1, 0]],
    "x[i2]": lambda xp, x: x[xp.asarray(PLACE[:, None])],
    "x[:, i]": lambda xp, x: x[:, xp.asarray(PLACE)],
    "x[..., i]": lambda xp, x: x[..., xp.asarray(PLACE)],
    "x[i, :, i]": lambda xp, x: x[xp.asarray(PLACE), :, xp.asarray(PLACE)],
    "x[i, None]": lambda xp, x: x[xp.asarray(PLACE), None],
    "x[mask]": lambda xp, x: x[xp.asarray(np.array([True, True]))],
    "take": lambda xp, x: xp.take(x, xp.asarray(PLACE), 0),
    "repeat": lambda xp, x: xp.repeat(x, 2, 0),
    "tile": lambda xp, x: xp.tile(x, 2),
    "where": lambda xp, x: xp.where(x > 3, x, 0),
    "nan_to_num": lambda xp, x: xp.nan_to_num(x.astype("i4")),
    "gradient": lambda xp, x: xp.gradient(x, axis=0),
    "unwrap": lambda xp, x: xp.unwrap(x, axis=0),
    "delete": lambda xp, x: xp.delete(x, 0, 1),
    "insert": lambda xp, x: xp.insert(x, 1, 0, 1),
    "select": lambda xp, x: xp.select([x > 3], [x]),
    "x + row": lambda xp, x: x + x[0],
    # What lies between is in C order, though it is not computed alone.
    "(column + row) * x": lambda xp, x: (column(xp) + xp.arange(4)) * x,
    "x * (column + row)": lambda xp, x: x * (column(xp) + xp.arange(4)),
    "-(x + column)": lambda xp, x: -(x + column(xp)),
    "(x + column) * (row - x)": lambda xp, x: (x + column(xp)) * (xp.arange(4) - x),
    "where(row > column, x, 0)": lambda xp, x: xp.where(xp.arange(4) > column(xp), x, 0.0),
    "tril": lambda xp, x: xp.tril(x),
    "triu": lambda xp, x: xp.triu(x, 1),
    "astype(order=F)": lambda xp, x: x.astype(x.dtype, order="F", copy=False),
    "astype(order=C)": lambda xp, x: x.astype(x.dtype, order="C", copy=False),
    "astype(order=A)": lambda xp, x: x.astype("f4", order="A", copy=False),
    "concat with nothing": lambda xp, x: xp.concat([x[:, :, :0], x], axis=2),
}


def column(xp: Any) -> Any:
    return xp.arange(3)[:, None]


def elements_apart(x: Any) -> tuple[int, ...]:
    """Steps in elements; 0 for axes of length one, where they do not matter."""
    size = 1 if isinstance(x, usmx.ndarray) else x.itemsize
    return tuple(0 if n == 1 else s // size for n, s in zip(x.shape, x.strides, strict=True))


def both(order: str, kind: str) -> tuple[Any, np.ndarray]:
    axes, part = ORDERS[order]
    lengths = [(2, 3, 4)[axis] for axis in axes]
    if isinstance(part, tuple):
        lengths = [
            n * abs(s.step or 1) for n, s in zip(lengths, (*part, slice(None)), strict=False)
        ]
    base = np.arange(float(np.prod(lengths))).reshape(lengths)
    back = [int(k) for k in np.argsort(axes)]
    there = usmx.asarray(base, usm_type=kind)
    return there[part].transpose(back), base[part].transpose(back)


@pytest.mark.parametrize("kind", ["shared", "device"])
@pytest.mark.parametrize("order", ORDERS)
def test_results_have_numpys_order_in_memory(order: str, kind: str) -> None:
    ours, theirs = both(order, kind)
    assert ours.shape == (2, 3, 4)
    assert elements_apart(ours) == elements_apart(theirs)
    wrong = []
    made = {name: call(usmx, ours) for name, call in CALLS.items()}
    compute_together(x for x in made.values() if isinstance(x, usmx.ndarray))
    for name, call in CALLS.items():
        got, wanted = made[name], call(np, theirs)
        np.testing.assert_array_equal(got.to_numpy(), wanted, err_msg=name)
        if elements_apart(got) != elements_apart(wanted):
            wrong.append(f"{name}: {elements_apart(got)} where NumPy has {elements_apart(wanted)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", ["shared", "device"])
def test_a_line_of_many_elements_has_the_order_of_its_steps(kind: str) -> None:
    def made(xp: Any) -> list[Any]:
        x = np.ones((300, 300), order="F")
        x = x if xp is np else usmx.asarray(x, usm_type=kind)
        row = xp.arange(300)
        between = row[:, None] + row
        return [
            xp.tril(x),
            between * x,
            (x + row) * (row[:, None] - x),
            (between * x) + x,
            xp.where(row > row[:, None], x, 0.0),
            between,
        ]

    assert [elements_apart(x) for x in made(usmx)] == [elements_apart(x) for x in made(np)]
