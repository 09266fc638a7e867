# What is written out of order reads its operands as they were before, also those in its own memory.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx

#: On the host's path, at its end, and in kernels.
SIZES = (2, 17, 4096, 4098, 20000)
KINDS = ("device", "shared", "host")


def _rows(p: np.ndarray) -> np.ndarray:
    return np.stack([p, p[::-1], p], axis=1)


def _put(xp: Any, x: Any, v: Any) -> Any:
    xp.put(x, x, v)


#: What is done -> the array from a permutation, and the same line for NumPy and for usmx.
WRITES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[Any, Any, Any], Any]]] = {
    "x[x] = v": (lambda p: p, lambda xp, x, v: x.__setitem__(x, v)),
    "x[x] = number": (lambda p: p, lambda xp, x, v: x.__setitem__(x, 10**12)),
    "x[x[::-1]] = x": (lambda p: p, lambda xp, x, v: x.__setitem__(x[::-1], x)),
    "x[x[:k]] = number": (lambda p: p, lambda xp, x, v: x.__setitem__(x[: len(x) // 2], -7)),
    "x[::-1][x] = v": (lambda p: p, lambda xp, x, v: x[::-1].__setitem__(x, v)),
    "of another type": (lambda p: p, lambda xp, x, v: x.view("float64").__setitem__(x, 2.5)),
    "rows": (_rows, lambda xp, x, v: x.__setitem__(x[:, 0], v[:, None])),
    "columns": (_rows, lambda xp, x, v: x[:, 0].__setitem__(x[:, 1], x[:, 2])),
    "two indices": (_rows, lambda xp, x, v: x.__setitem__((x[:, 0], x[:, 1] % 1), v)),
    "put": (lambda p: p, _put),
    "put_along_axis": (lambda p: p, lambda xp, x, v: xp.put_along_axis(x, x, v, 0)),
    "a mask": (
        lambda p: (p % 2).astype("u1"),
        lambda xp, x, v: x.__setitem__(x.view("bool"), x[x.view("bool")][::-1] + 4),
    ),
    "concat": (lambda p: p, lambda xp, x, v: xp.concatenate([x[1:], x[:1]], out=x)),
    "stack": (_rows, lambda xp, x, v: xp.stack([x[:, 1], x[::-1, 0], x[:, 0]], axis=1, out=x)),
    "take": (lambda p: p, lambda xp, x, v: xp.take(x, x, out=x)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("line", WRITES)
def test_operands_in_the_memory_that_is_written_are_read_before(line: str, kind: Any) -> None:
    make, write = WRITES[line]
    for n in SIZES:
        p = np.random.default_rng(n).permutation(n)
        values = p[::-1] + 10**9
        want = make(p).copy()
        x = usmx.asarray(want, usm_type=kind)
        operand = want.copy()
        if line == "concat":
            want = np.concatenate([operand[1:], operand[:1]])
        elif line == "stack":
            want = np.stack([operand[:, 1], operand[::-1, 0], operand[:, 0]], axis=1)
        elif line == "take":
            want = operand[operand]
        else:
            write(np, want, values)
        write(usmx, x, usmx.asarray(values, usm_type=kind))
        assert np.array_equal(x.to_numpy(), want), n


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32"])
def test_narrow_indices_of_their_own_array(dtype: str) -> None:
    for n in (200, 5000):
        p = np.random.default_rng(n).permutation(min(n, 256) if dtype == "uint8" else n)
        host = p.astype(dtype)
        want, x = host.copy(), usmx.asarray(host)
        want[host] = host[::-1].copy()
        x[x] = x[::-1]
        assert np.array_equal(x.to_numpy(), want)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "complex128"])
def test_a_matrix_is_multiplied_in_place(dtype: str) -> None:
    for n in (2, 40):
        host = np.random.default_rng(n).integers(-5, 5, (n, n)).astype(dtype)
        x = usmx.asarray(host)
        same, row = x, x[0]
        x @= usmx.asarray(host[::-1].copy())
        want = host @ host[::-1]
        assert x is same
        assert np.array_equal(same.to_numpy(), want)
        assert np.array_equal(row.to_numpy(), want[0])
        x @= x
        assert np.array_equal(same.to_numpy(), want @ want)


def test_products_in_place_keep_the_type_and_refuse_what_does_not_fit() -> None:
    x = usmx.asarray(np.eye(2, dtype="int32"))
    x @= usmx.ones((2, 2), dtype="int64")
    assert x.dtype == "int32"
    with pytest.raises(TypeError, match=r"x1: float64.*not cast to int32"):
        x @= usmx.ones((2, 2))
    assert x.tolist() == [[1, 1], [1, 1]]
    for left, right in (((2, 3), (3, 2)), ((2,), (2,)), ((2, 2), (2,)), ((1, 2, 2), (3, 2, 2))):
        y = usmx.ones(left)
        with pytest.raises(ValueError, match="x1: has shape"):
            y @= usmx.ones(right)
    with pytest.raises(ValueError, match="x2: has shape"):
        x @= usmx.ones((3, 3), dtype="int32")
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x @= x
    stack = usmx.ones((3, 2, 2))
    stack[1:, ::-1].T[...] = 2
    want = stack.to_numpy()
    turned = stack.transpose((0, 2, 1))
    turned @= usmx.ones((2, 2))
    assert np.array_equal(
        stack.to_numpy(), (want.transpose(0, 2, 1) @ np.ones((2, 2))).transpose(0, 2, 1)
    )
