"""Reductions that wait for others of the same data: one kernel computes them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

import usmx


def values(shape, seed=1, dtype=np.float32):
    host = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return usmx.asarray(host, usm_type="device"), host


def kernels(expression):
    return usmx.explain(expression).kernels


def test_reductions_of_the_same_array_are_one_kernel():
    x, host = values((300, 400))
    lowest, highest, total, middle = x.min(), x.max(), x.sum(), x.mean()
    (kernel,) = kernels(lowest)
    assert kernel.bytes_read == host.nbytes
    assert kernel.bytes_written == 16
    assert lowest == host.min()
    assert [kernels(r) for r in (highest, total, middle)] == [(), (), ()]
    assert highest == host.max()
    assert float(total) == pytest.approx(host.sum(dtype=float), rel=1e-5)
    assert float(middle) == pytest.approx(host.mean(dtype=float), rel=1e-5)


def test_reductions_of_what_is_made_of_the_same_arrays_are_one_kernel():
    x, a = values(5000)
    y, b = values(5000, seed=2)
    cosine = (x * y).sum() / usmx.sqrt((x * x).sum() * (y * y).sum())
    reduced, closing = kernels(cosine)
    assert reduced.shape == (5000,)
    assert reduced.bytes_read == a.nbytes + b.nbytes
    assert closing.shape == ()
    a, b = a.astype(float), b.astype(float)
    expected = (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())
    assert float(cosine) == pytest.approx(expected, abs=1e-6)


def test_types_results_and_axes_that_stay_may_differ():
    x, host = values((30, 40))
    total = usmx.sum(x > 0, axis=1)
    middle = x.mean(axis=-1, keepdims=True)
    largest = x.max(axis=1)
    assert len(kernels(total)) == 1
    np.testing.assert_array_equal(total.to_numpy(), (host > 0).sum(axis=1))
    assert kernels(middle) == kernels(largest) == ()
    assert (total.dtype, middle.dtype, largest.dtype) == (np.int64, np.float32, np.float32)
    np.testing.assert_allclose(middle.to_numpy(), host.mean(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_array_equal(largest.to_numpy(), host.max(axis=1))


@pytest.mark.parametrize("shape", [(100_003,), (700, 300), (3000, 5), (5, 3000), (20, 30, 40)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_a_sum_has_the_same_bits_alone_and_together_with_others(shape, axis):
    x, _ = values(shape)
    y, _ = values(shape, seed=2)
    alone = x.sum(axis=axis).to_numpy()
    together = x.sum(axis=axis)
    others = x.max(axis=axis), (x * y).sum(axis=axis), (y + 1).mean(axis=axis)
    assert len(kernels(together)) == 1
    np.testing.assert_array_equal(together.to_numpy(), alone)
    assert all(kernels(other) == () for other in others)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
def test_every_type_is_reduced_together_with_others(dtype):
    host = (np.arange(2000) % 11).astype(dtype)
    x = usmx.asarray(host)
    total, product, any_one = usmx.sum(x), usmx.prod(x[:3]), usmx.any(x)
    every = usmx.all(x)
    assert len(kernels(any_one)) == 1
    assert total == host.sum()
    assert product == host[:3].prod()
    assert any_one
    assert every == host.all()


def test_elements_in_another_order_are_reduced_by_a_kernel_of_their_own():
    x, host = values((200, 300))
    along = x.sum(axis=0)
    other = x.T.sum(axis=0)
    np.testing.assert_allclose(other.to_numpy(), host.sum(axis=1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(along.to_numpy(), host.sum(axis=0), rtol=1e-3, atol=1e-4)


def test_more_than_fits_into_a_kernel_becomes_two():
    x, host = values(1000, dtype=np.float64)
    results = [(x + k).sum() for k in range(9)]
    expected = [(host + k).sum() for k in range(9)]
    np.testing.assert_allclose([float(r) for r in results], expected)


def test_what_is_reduced_later_of_other_data_keeps_no_memory():
    size = 1 << 20

    counted = usmx.memory.StatisticsResource(usmx.memory.UsmResource("shared"))
    with usmx.memory.using(counted):
        totals = []
        for k in range(8):
            totals.append(usmx.full(size, k, dtype="float32", usm_type="shared").sum())
        usmx.default_queue().wait()
        usmx._usmx._Testing.drain()
        assert counted.stats()["bytes"] < 2 * 4 * size  # only the last array
    assert [float(t) for t in totals] == [k * size for k in range(8)]


def test_a_reduction_keeps_the_elements_that_it_was_written_for():
    x, host = values(1000)
    total, largest = x.sum(), x.max()
    x[0] = 1e6
    assert largest == host.max()
    assert float(total) == pytest.approx(host.sum(dtype=float), rel=1e-4)
    y = x * 2
    smallest = y.min()
    y += 5
    assert smallest == (x * 2).to_numpy().min()


def test_a_reduction_of_another_is_a_kernel_of_its_own():
    x, host = values((50, 60))
    spread = ((x - x.mean()) ** 2).mean()
    assert len(kernels(spread)) == 1  # the mean was submitted when it was needed
    assert float(spread) == pytest.approx(host.astype(float).var(), rel=1e-5)
    assert x.max(axis=0).max() == host.max()


def test_a_view_of_a_reduction_shares_its_memory():
    x, host = values((50, 60))
    largest = x.max(axis=0)
    part = largest[10:20]
    part[0] = 100
    assert largest[10] == 100
    np.testing.assert_array_equal(part[1:].to_numpy(), host.max(axis=0)[11:20])


def test_out_is_written_at_once():
    x, host = values((50, 60))
    waiting = x.min(axis=0)
    out = usmx.zeros(60, dtype="float32")
    assert usmx.max(x, axis=0, out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), host.max(axis=0))
    np.testing.assert_array_equal(waiting.to_numpy(), host.min(axis=0))
    usmx.min(out, out=(one := usmx.zeros((), dtype="float32")))
    assert one == host.max(axis=0).min()


def test_errors_come_from_the_line_of_the_reduction():
    x, _ = values((3, 0))
    with pytest.raises(ValueError, match=r"max: a has shape \(3, 0\)"):
        x.max()
    with pytest.raises(ValueError, match="axis"):
        x.sum(axis=2)
    assert x.max(axis=0).shape == (0,)
    np.testing.assert_array_equal(x.sum(axis=1).to_numpy(), [0, 0, 0])


def test_eager_computes_a_reduction_where_it_is_written():
    x, host = values(100)
    with usmx.eager():
        largest = x.max()
    assert kernels(largest) == ()
    assert largest == host.max()
