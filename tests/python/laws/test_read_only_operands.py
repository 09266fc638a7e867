"""What a kernel of ours only reads may be read-only: the same result as of the same elements.

The arrays are in device memory and have as many elements as each algorithm of its own needs; small
ones are computed by the host, and products of floating-point numbers by a library.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import usmx

COUNT = 7000


def matrix(x: usmx.ndarray) -> usmx.ndarray:
    return x[:2500].reshape(50, 50)


def added(x: usmx.ndarray, places: usmx.ndarray) -> usmx.ndarray:
    made = usmx.zeros(COUNT, x.dtype, usm_type="device")
    np.add.at(made, places, x)
    return made


def put(x: usmx.ndarray, places: usmx.ndarray) -> usmx.ndarray:
    made = usmx.zeros(COUNT, x.dtype, usm_type="device")
    made[places] = x
    return made


ALGORITHMS: dict[str, Callable[[usmx.ndarray, usmx.ndarray], Any]] = {
    "@": lambda x, _: matrix(x) @ matrix(x),
    "a column times a row": lambda x, _: x[:60].reshape(60, 1) @ x[:40].reshape(1, 40),
    "a stack of products": lambda x, _: x[:600].reshape(6, 10, 10) @ x[:100].reshape(10, 10),
    "add.at": added,
    "argmax": lambda x, _: usmx.argmax(x),
    "argsort": lambda x, _: usmx.argsort(x),
    "convolve": lambda x, _: usmx.convolve(x, x[:5]),
    "copy of a transposed matrix": lambda x, _: matrix(x).T.copy(),
    "cumulative_sum": lambda x, _: usmx.cumulative_sum(x),
    "dot": lambda x, _: usmx.dot(x, x),
    "einsum": lambda x, _: usmx.einsum("ij,jk->ik", matrix(x), matrix(x)),
    "fft": lambda x, _: usmx.fft.fft(x),
    "histogram": lambda x, _: usmx.histogram(x, bins=10)[0],
    "index": lambda x, places: x[places],
    "isin": lambda x, _: usmx.isin(x, x[:100]),
    "lexsort": lambda x, _: usmx.lexsort((x, x)),
    "mask": lambda x, _: x[x > 3],
    "nonzero": lambda x, _: usmx.nonzero(x)[0],
    "partition": lambda x, _: usmx.partition(x, 5)[5],
    "put": put,
    "quantile": lambda x, _: usmx.quantile(x, 0.3),
    "repeat": lambda x, _: usmx.repeat(x, 2),
    "searchsorted": lambda x, _: usmx.searchsorted(usmx.sort(x), x),
    "shuffled": lambda x, _: usmx.random.default_rng(1).permutation(x),
    "sort": lambda x, _: usmx.sort(x),
    "sum": lambda x, _: usmx.sum(matrix(x), axis=0),
    "take": usmx.take,
    "tensordot": lambda x, _: usmx.tensordot(x[:30].reshape(2, 5, 3), x[:30].reshape(5, 3, 2), 0),
    "tril": lambda x, _: usmx.tril(matrix(x)),
    "unique": lambda x, _: usmx.unique(x),
}


@pytest.mark.parametrize("dtype", ["int16", "float32"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_read_only_operands_give_the_same(name: str, dtype: str) -> None:
    random = np.random.default_rng(1)
    elements = (random.random(COUNT) * 100).astype(dtype)
    places = random.permutation(COUNT)
    made = []
    for writable in (True, False):
        operands = [usmx.asarray(a, usm_type="device") for a in (elements, places)]
        for x in operands:
            x.flags.writeable = writable
        made.append(ALGORITHMS[name](*operands).to_numpy())
    np.testing.assert_array_equal(*made)
