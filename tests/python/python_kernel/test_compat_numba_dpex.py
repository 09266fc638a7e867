# Programs in numba-dpex's kernel language, in both of its generations.
# SPDX-License-Identifier: Apache-2.0
import dpnp
import numpy as np
import pytest

import usmx
import usmx.compat.numba_dpex as dpex
from usmx.compat.numba_dpex import kernel_api as kapi


def shared(values, dtype="f4"):
    return usmx.asarray(np.asarray(values, dtype), usm_type="shared")


@dpex.func
def doubled(x):
    return x + x


@dpex.kernel
def with_functions(a, out, count):
    i, k = dpex.get_global_id(0), dpex.get_local_id(0)
    tile = dpex.local.array(shape=8, dtype=np.float32)
    own = dpex.private.array(shape=2, dtype=np.float32)
    tile[k] = a[i]
    dpex.barrier(dpex.LOCAL_MEM_FENCE)
    own[1] = tile[dpex.get_local_size(0) - 1 - k]
    out[i] = doubled(own[1]) + dpex.get_group_id(0) * dpex.get_num_groups(0)
    dpex.atomic.add(count, 0, 1)


def wanted():
    a = np.arange(32, dtype="f4").reshape(4, 8)
    return (2 * a[:, ::-1] + 4 * np.arange(4)[:, None]).ravel()


@pytest.mark.parametrize(
    "key", [(32, 8), ((32,), (8,)), dpex.NdRange((32,), (8,)), (dpex.Range(32), dpex.Range(8))]
)
def test_the_language_of_functions(key):
    a, out, count = shared(np.arange(32)), shared(np.zeros(32)), shared([0], "i4")
    with_functions[key](a, out, count)
    np.testing.assert_array_equal(out.to_numpy(), wanted())
    assert count.to_numpy()[0] == 32


def test_the_language_of_functions_in_the_simulator():
    a, out, count = shared(np.arange(32)), shared(np.zeros(32)), shared([0], "i4")
    with usmx.simulate():
        with_functions[32, 8](a, out, count)
    np.testing.assert_array_equal(out.to_numpy(), wanted())


@dpex.kernel
def with_objects(nd_item: kapi.NdItem, a, out, count, tile):
    i, k = nd_item.get_global_id(0), nd_item.get_local_id(0)
    group = nd_item.get_group()
    own = kapi.PrivateArray(2, np.float32, fill_zeros=True)
    tile[k] = a[i]
    kapi.group_barrier(group, kapi.MemoryScope.WORK_GROUP)
    own[1] = tile[group.get_local_range(0) - 1 - k]
    out[i] = 2 * own[1] + group.get_group_id(0) * group.get_group_range(0)
    ref = kapi.AtomicRef(count, index=0)
    ref.fetch_add(1)


@pytest.mark.parametrize("simulate", [False, True])
def test_the_language_of_objects(simulate):
    a, out, count = shared(np.arange(32)), shared(np.zeros(32)), shared([0], "i4")
    over = kapi.NdRange(kapi.Range(32), kapi.Range(8))
    with usmx.simulate(simulate):
        dpex.call_kernel(with_objects, over, a, out, count, kapi.LocalAccessor(8, np.float32))
    np.testing.assert_array_equal(out.to_numpy(), wanted())
    assert count.to_numpy()[0] == 32


def test_arrays_of_dpnp_and_events():
    @dpex.kernel
    def add(item: kapi.Item, a, b, c):
        i = item.get_id(0)
        c[i] = a[i] + b[i]

    a, b, c = dpnp.arange(16), dpnp.ones(16, dtype="i8"), dpnp.zeros(16, dtype="i8")
    _, event = dpex.call_kernel_async(add, dpex.Range(16), [], a, b, c)
    dpex.call_kernel_async(add, kapi.Range(16), [event], c, b, c)[1].wait()
    np.testing.assert_array_equal(dpnp.asnumpy(c), np.arange(16) + 2)


def test_a_kernel_without_an_item_is_called_with_as_many_arguments_as_it_has_parameters():
    a, out, count = shared(np.arange(32)), shared(np.zeros(32)), shared([0], "i4")
    over = kapi.NdRange(kapi.Range(32), kapi.Range(8))
    dpex.call_kernel(with_functions, over, a, out, count)
    np.testing.assert_array_equal(out.to_numpy(), wanted())
    _, event = dpex.call_kernel_async(with_functions, over, [], a, out, count)
    event.wait()
    assert count.to_numpy()[0] == 64


def test_signatures_are_read_and_change_nothing():
    array = dpex.usm_ndarray(dpex.float32, 1, "C")

    @dpex.device_func(dpex.float32(dpex.float32, dpex.int64))
    def scaled(x, n):
        return dpex.float32(x * n)

    @dpex.kernel([(array, dpex.DpnpNdArray(dpex.float32, ndim=1)), (dpex.float64[:], array)])
    def kernel(item: kapi.Item, x, y):
        i = item.get_id(0)
        own = dpex.private.array(item.dimensions, dpex.int64)
        own[0] = item.dimensions
        y[i] = scaled(x[i], 3) + own[0]

    for dtype in ("f4", "f8"):
        y = shared(np.zeros(4), dtype)
        dpex.call_kernel(kernel, dpex.Range(4), shared(np.arange(4), dtype), y)
        assert y.to_numpy().tolist() == [1, 4, 7, 10]


def test_a_kernel_runs_in_python_on_arrays_of_numpy():
    a, out, count = np.arange(32.0), np.zeros(32), np.zeros(1, "i4")
    over = kapi.NdRange(kapi.Range(32), kapi.Range(8))
    tile = kapi.LocalAccessor(8, np.float32)
    kapi.call_kernel(with_objects, over, a, out, count, tile)
    np.testing.assert_array_equal(out, wanted())

    def plain(item, x):
        x[item.get_id(0)] += item.dimensions

    kapi.call_kernel(plain, kapi.Range(32), a)
    assert a.tolist() == list(range(1, 33))
