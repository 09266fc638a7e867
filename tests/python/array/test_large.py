"""Arrays with more elements than 32 bits count, and how much memory a chain of operations takes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

import usmx

COUNT = 2**31 + 5


def test_elements_beyond_32_bits_are_counted_and_found() -> None:
    # One element, repeated: this takes no memory.
    ones = usmx.broadcast_to(usmx.ones(1, "int8"), COUNT)
    assert ones.sum(dtype="int64") == COUNT
    assert ones[COUNT - 3 :].shape == (3,)
    assert ones[::-1][-1] == 1
    assert (ones * 2)[COUNT - 2 :].tolist() == [2, 2]
    np.testing.assert_array_equal(usmx.take(ones, usmx.asarray([0, 2**31, COUNT - 1])).tolist(), 1)


def test_a_chain_of_operations_takes_only_the_memory_of_its_result() -> None:
    n = 10_000_000
    x, y = usmx.ones(n, "float32"), usmx.full(n, 2, dtype="float32")
    before = usmx.memory.get_resource()
    counted = usmx.memory.StatisticsResource(before)
    usmx.memory.set_resource(counted)
    try:
        z = usmx.sqrt(abs((((x + y) * x - 1) / y + 3) * 2 - x) + y) - 4
        assert z[n - 1] == np.float32(np.sqrt(9.0) - 4)
        most = counted.stats()["peak_bytes"]
    finally:
        usmx.memory.set_resource(before)
    assert x.nbytes + y.nbytes + most <= 1.2 * (x.nbytes + y.nbytes + z.nbytes)
    assert most >= z.nbytes
