# Programs in numba-dpex's kernel language, in both of its generations.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import os

import dpctl
import dpnp
import lab
import numba
import numpy as np
import pytest
from backend_row import ROW

import usmx
import usmx.compat.numba_dpex as dpex
from usmx.compat.numba_dpex import exceptions
from usmx.compat.numba_dpex import experimental as dpex_exp
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


NUMBERS = ["i4", "i8", "u4", "u8", "f4", "f8"]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("made", [np.array, shared, dpnp.array], ids=["numpy", "usmx", "dpnp"])
def test_atomic_references_change_elements_of_arrays_outside_of_kernels(made, dtype):
    a = made(np.array([[5, 6], [7, 8]]), dtype)
    ref = kapi.AtomicRef(a, index=(1, 0))
    assert (ref.ref, ref.load(), ref.fetch_add(3), ref.fetch_sub(1)) == (7, 7, 7, 10)
    assert (ref.fetch_min(made([4], dtype)[0]), ref.fetch_max(6), ref.exchange(2)) == (9, 4, 6)
    assert ref.store(12) is None
    assert type(ref.load()) is np.dtype(dtype).type
    expected = made(np.array([0, 9]), dtype)
    assert not ref.compare_exchange(expected_ref=expected, desired=1, expected_idx=1)
    assert ref.compare_exchange(expected, 1, 1)
    assert (int(expected[1]), int(a[1, 0]), int(a[0, 0])) == (12, 1, 5)


def test_atomic_references_outside_of_kernels_do_bitwise_operations_of_integers():
    a = np.array([0b1100], "u4")
    ref = kapi.AtomicRef(a, 0)
    assert (ref.fetch_and(0b0110), ref.fetch_or(0b0011), ref.fetch_xor(0b0001)) == (12, 4, 7)
    assert a[0] == 6
    with pytest.raises(TypeError, match="ref: int; expected an array of numbers"):
        kapi.AtomicRef(1, 0)
    with pytest.raises(IndexError):
        kapi.AtomicRef(a, 1).load()


@pytest.mark.parametrize("simulate", [False, True])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_compare_exchange_writes_what_was_there_to_the_expected_element(dtype, simulate):
    @dpex.kernel
    def kernel(item, a, found):
        ref = kapi.AtomicRef(a, index=1)
        found[0] = ref.compare_exchange(expected_ref=a, desired=a[3], expected_idx=2)
        found[1] = ref.compare_exchange(a, a[3], 2)
        own = kapi.PrivateArray(2, a.dtype)
        own[0] = a[3]
        found[2] = ref.compare_exchange(own, 7)

    a, found = shared([0, 1, 2, 3], dtype), shared([9, 9, 9], "i4")
    with usmx.simulate(simulate):
        dpex.call_kernel(kernel, dpex.Range(1), a, found)
    assert found.to_numpy().tolist() == [0, 1, 1]
    assert a.to_numpy().tolist() == [0, 7, 1, 3]


def test_floats_are_compared_and_exchanged_bit_by_bit():
    def kernel(item, a, out):
        ref = usmx.AtomicRef(a, item.get_id(0))
        out[item.get_id(0)] = ref.compare_exchange(0.0, 1.0)

    for simulate in (False, True):
        a, out = shared([0, -0.0, np.nan]), shared(np.zeros(3))
        usmx.kernel(kernel, simulate=simulate)[3](a, out).wait()
        np.testing.assert_array_equal(a.to_numpy(), [1, -0.0, np.nan])
        np.testing.assert_array_equal(out.to_numpy(), [0, -0.0, np.nan])


@pytest.mark.parametrize("simulate", [False, True])
@pytest.mark.parametrize("name", ["fetch_add", "fetch_max", "exchange"])
def test_getattr_with_a_known_name(name, simulate):
    @dpex.kernel
    def kernel(item, a, out):
        i = item.get_id(0)
        out[i] = getattr(kapi.AtomicRef(a, i), name)(3)
        getattr(out, "shape")  # noqa: B009 - what is tested

    a, out = shared([1, 5], "i4"), shared([0, 0], "i4")
    with usmx.simulate(simulate):
        dpex.call_kernel(kernel, dpex.Range(2), a, out)
    assert out.to_numpy().tolist() == [1, 5]
    after = {"fetch_add": [4, 8], "fetch_max": [3, 5], "exchange": [3, 3]}
    assert a.to_numpy().tolist() == after[name]


def test_getattr_with_a_name_that_is_computed_is_refused():
    @dpex.kernel
    def kernel(item, a):
        getattr(a, a[0])

    with pytest.raises(usmx.KernelError, match="must be text that is known"):
        dpex.call_kernel(kernel, dpex.Range(1), shared([0]))


def test_the_address_space_of_an_atomic_reference_is_that_of_the_array():
    @dpex.kernel
    def kernel(item, a, space):
        kapi.AtomicRef(a, 0, address_space=kapi.AddressSpace.GENERIC).fetch_add(1)
        kapi.AtomicRef(a, 0, address_space=kapi.AddressSpace.GLOBAL).fetch_add(1)

    @dpex.kernel
    def wrong(item, a):
        kapi.AtomicRef(a, 0, address_space=kapi.AddressSpace.LOCAL).fetch_add(1)

    a = shared([0], "i4")
    dpex.call_kernel(kernel, dpex.Range(1), a, 0)
    assert a.to_numpy()[0] == 2
    with pytest.raises(exceptions.TypingError, match="address_space is local; the array is global"):
        dpex.call_kernel(wrong, dpex.Range(1), a)


def test_numbers_of_orders_scopes_and_spaces_in_kernels():
    @dpex.kernel
    def kernel(a):
        a[0] = kapi.MemoryOrder.CONSUME_UNSUPPORTED
        a[1] = kapi.MemoryOrder.SEQ_CST
        a[2] = kapi.MemoryScope.SYSTEM
        a[3] = kapi.AddressSpace.GENERIC

    a = shared(np.zeros(4), "i8")
    dpex.call_kernel(kernel, dpex.Range(1), a)
    assert a.to_numpy().tolist() == [2, 5, 4, 4]


def test_asynchronous_launches_give_events_of_dpctl_and_take_them():
    @dpex.kernel
    def add(item: kapi.Item, a, b, c):
        i = item.get_id(0)
        c[i] = a[i] + b[i]

    queue = dpctl.SyclQueue()
    a, b, c = (dpnp.ones(16, sycl_queue=queue) for _ in range(3))
    of_host, event = dpex.call_kernel_async(add, dpex.Range(16), (), a, b, c)
    assert isinstance(of_host, dpctl.SyclEvent)
    assert isinstance(event, dpctl.SyclEvent)
    copied = queue.memcpy_async(
        dpnp.get_usm_ndarray(b).usm_data, dpnp.get_usm_ndarray(c).usm_data, 16 * 8, [event]
    )
    dpex.call_kernel_async(add, dpex.Range(16), (copied,), a, b, c)[1].wait()
    np.testing.assert_array_equal(dpnp.asnumpy(c), np.full(16, 3.0))


def test_asynchronous_launches_give_events_of_usmx_without_dpctl(monkeypatch):
    from usmx.compat.numba_dpex import offload

    monkeypatch.setattr(offload, "dpctl", lambda: None)
    with dpex.device_context("cpu") as queue:
        assert isinstance(queue, usmx.Queue)

    def ones(a):
        a[dpex.get_global_id(0)] = 1

    a = shared(np.zeros(4))
    _, event = dpex.call_kernel_async(dpex.kernel(ones), dpex.Range(4), (), a)
    assert isinstance(event, usmx.Event)
    event.wait()
    assert a.to_numpy().tolist() == [1] * 4


@dpex.kernel
def reversed_in_groups(a):
    i, n = dpex.get_global_id(0), dpex.get_local_size(0)
    tile = dpex.local.array(n, dtype=a.dtype)
    tile[dpex.get_local_id(0)] = a[i]
    dpex.barrier()
    a[i] = tile[n - 1 - dpex.get_local_id(0)]


@pytest.mark.parametrize("size", [1, 64, 1000, 3072])
def test_a_kernel_with_functions_that_needs_groups_gets_them_without_a_local_range(size):
    group = max(d for d in range(1, 1025) if size % d == 0)
    wanted = np.arange(size, dtype="f4").reshape(-1, group)[:, ::-1].ravel()
    a = shared(np.arange(size))
    reversed_in_groups[size](a)
    np.testing.assert_array_equal(a.to_numpy(), wanted)
    dpex.call_kernel(reversed_in_groups, dpex.Range(size), a)
    reversed_in_groups[size, dpex.DEFAULT_LOCAL_SIZE](a)
    reversed_in_groups[[size], []](a)
    np.testing.assert_array_equal(a.to_numpy(), np.arange(size))


def test_groups_of_two_dimensions_are_chosen_with_the_last_one_first():
    @dpex.kernel
    def sizes(out):
        dpex.barrier(dpex.LOCAL_MEM_FENCE)
        out[dpex.get_global_id(0), dpex.get_global_id(1)] = 100 * dpex.get_local_size(
            0
        ) + dpex.get_local_size(1)

    out = usmx.zeros((48, 96), dtype="i4")
    sizes[dpex.Range(48, 96)](out)
    assert np.unique(out.to_numpy()).tolist() == [896]  # 8 times 96 is at most 1024


def test_local_memory_over_a_plain_range_is_refused():
    accessor = kapi.LocalAccessor((8,), np.float32)
    for launch in (
        lambda: dpex.call_kernel(with_objects, dpex.Range(32), accessor),
        lambda: kapi.call_kernel(with_objects, kapi.Range(32), accessor),
        lambda: dpex.call_kernel_async(with_objects, dpex.Range(32), (), accessor),
    ):
        with pytest.raises(TypeError, match="argument 0: a LocalAccessor, over a Range"):
            launch()
    with pytest.raises(NotImplementedError, match="inside kernels only"):
        accessor[0]
    with pytest.raises(NotImplementedError, match="inside kernels only"):
        accessor[0] = 1


def test_a_function_that_is_no_kernel_is_refused():
    def with_item(item, x):
        x[item.get_id(0)] = 1

    out = usmx.zeros(8)
    with pytest.raises(TypeError, match=r"kernel: with_item is of type function; .*@kernel"):
        dpex.call_kernel(with_item, dpex.Range(8), out)


def test_ranges_compare_and_say_what_is_wrong():
    over = kapi.NdRange((8, 4), kapi.Range(2, 4))
    assert over == kapi.NdRange([8, 4], [2, 4])
    assert over != kapi.NdRange((8, 4), (2, 2))
    assert (over.get_global_range(), over.get_local_range().size()) == ((8, 4), 8)
    assert str(over) == "NdRange((8, 4), (2, 4))"
    assert len({over, kapi.NdRange((8, 4), (2, 4))}) == 1
    one = kapi.Range(5, None)
    assert (one.ndim, one.dim0, one.dim1, one.dim2, one.get(0)) == (1, 5, -1, -1, 5)
    with pytest.raises(TypeError):
        kapi.Range("a", 1)
    with pytest.raises(exceptions.UnmatchedNumberOfRangeDimsError, match="1 dimensions; expected"):
        kapi.NdRange((4, 4), (2,))
    with pytest.raises(exceptions.UnsupportedGroupWorkItemSizeError, match="3; expected a divisor"):
        kapi.NdRange((4,), (3,))
    for wrong in ((), ((4,), (2,), (1,)), (4, [], [])):
        with pytest.raises(
            exceptions.InvalidKernelLaunchArgsError, match="expected a global range"
        ):
            with_functions[wrong]
    for wrong in (([], []), ([], 4), ((), (4,))):
        with pytest.raises(exceptions.IllegalRangeValueError, match=r"global range: .*expected"):
            with_functions[wrong]
    with pytest.raises(exceptions.UnknownGlobalRangeError, match=r"with_functions\[global\]"):
        with_functions(1, 2, 3)


ON_NUMPY = """
import numpy as np
import usmx.compat.numba_dpex as dpex

@dpex.kernel
def add(a, b, c):
    i = dpex.get_global_id(0)
    c[i] = a[i] + b[i]

a, b = np.arange(8.0), np.ones(8)
b.flags.writeable = False
for device in ("cpu", "opencl:cpu:0"):
    c = np.zeros((8, 2))
    with dpex.offload_to_sycl_device(device) as queue:
        add[8, dpex.DEFAULT_LOCAL_SIZE](a, b, c[:, 1])
        add[dpex.NdRange((8,), (4,))](c[:, 1], b, c[:, 0])
    assert queue.sycl_device.is_cpu
    assert c.T.tolist() == [(a + 2).tolist(), (a + 1).tolist()], c
add[8](a, a, a)
assert a.tolist() == list(range(0, 16, 2)), a
"""


@pytest.mark.parametrize("options", [(), ("abort", "usm-only")])
def test_arrays_of_numpy_are_used_in_place_or_copied_in_and_out(run_python, options):
    run_python(ON_NUMPY, env=os.environ | (lab.simulated(*options) if options else {}))


def test_arrays_of_numpy_run_where_the_with_block_says():
    with (
        dpex.device_context(dpctl.SyclDevice(ROW.device)) as outer,
        dpex.device_context(outer) as inner,
    ):
        assert isinstance(inner, dpctl.SyclQueue)
        assert inner.sycl_device == outer.sycl_device

    def ones(a):
        a[dpex.get_global_id(0)] = 1

    a = usmx.zeros(4)
    with dpex.device_context("cpu"):
        dpex.kernel(ones)[4](a)
    assert a.to_numpy().tolist() == [1] * 4


def test_a_type_called_with_a_number_is_a_number_of_that_type():
    two, half = dpex.int64(2), dpex.float32(0.5)
    assert (two, two.dtype.name, half.dtype.name) == (2, "int64", "float32")
    word, zero = numba.uint32, np.int64(0)

    @dpex.kernel
    def kernel(a):
        i = dpex.get_global_id(zero)
        a[i] = two * i + half * 2 + word(1.5)

    a = shared([0, 0, 0], "f8")
    kernel[3](a)
    assert a.to_numpy().tolist() == [2, 4, 6]


def test_signatures_of_numba_and_of_items_are_read():
    @dpex_exp.device_func([numba.int32(numba.int32), numba.int64(numba.int64)])
    def more(x):
        return x + 1

    array = dpex.DpnpNdArray(dpex.int32, ndim=1)

    @dpex_exp.kernel((dpex.ItemType(ndim=1), array))
    def kernel(item: kapi.Item, a):
        i = item.get_id(0)
        a[i] = more(a[i])

    @dpex.kernel(dpex.void(array))
    def plain(a):
        a[dpex.get_global_id(0)] += 1

    a = shared([1, 2], "i4")
    dpex_exp.call_kernel(kernel, dpex.Range(2), a)
    dpex_exp.call_kernel_async(plain, dpex.Range(2), (), a)[1].wait()
    assert a.to_numpy().tolist() == [3, 4]


def test_kernels_that_give_a_value_are_refused_by_the_name_of_the_error():
    array = dpex.usm_ndarray(dpex.int32, 1)

    def gives(item, a):
        return a[0]

    with pytest.raises(exceptions.KernelHasReturnValueError):
        dpex.call_kernel(
            dpex.kernel(array(dpex.NdItemType(1), array))(gives), dpex.Range(4), shared([1])
        )


@pytest.mark.parametrize("simulate", [False, True])
def test_an_annotation_of_what_is_no_number_is_only_read(simulate):
    @dpex.kernel
    def kernel(nd_item: kapi.NdItem, rows, out):
        group: kapi.Group = nd_item.get_group()
        row: object = rows[group.get_group_id(0)]
        out[nd_item.get_global_id(0)] = row[1]

    rows, out = shared([[1, 2], [3, 4]]), shared(np.zeros(4))
    with usmx.simulate(simulate):
        dpex.call_kernel(kernel, dpex.NdRange((4,), (2,)), rows, out)
    assert out.to_numpy().tolist() == [2, 2, 4, 4]


SIGNS = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod", "**": "pow",
         "<<": "lshift", ">>": "rshift", "&": "and_", "|": "or_", "^": "xor",
         "/": "truediv"}  # fmt: skip
INTEGERS = ["bool", *(f"{sign}int{8 * n}" for sign in ("", "u") for n in (1, 2, 4, 8))]


def test_integers_have_the_types_that_numba_gives_them():
    """Numba's own typing is the table: nothing is compiled."""
    import operator

    from numba.core import types
    from numba.core.registry import cpu_target

    from usmx._kernel.types import operators, scalars
    from usmx._kernel.types.values import Number

    context = cpu_target.typing_context
    context.refresh()

    def differs(function, sign, given):
        numbers = [Number(scalars.BY_NAME[name], "x") for name in given]
        made = (operators.binary if len(given) == 2 else operators.unary)(
            sign, *numbers, grouped=False, numba=True
        )
        operands = tuple(types.boolean if n == "bool" else getattr(types, n) for n in given)
        found = str(context.resolve_function_type(function, operands, {}).return_type)
        return found != str(scalars.STRONG_OF.get(made.type.name, made.type))

    wrong = [
        (a, sign, b)
        for sign, name in SIGNS.items()
        for a in INTEGERS
        for b in INTEGERS
        if differs(getattr(operator, name), sign, (a, b))
    ]
    wrong += [
        (sign, a)
        for sign, name in (("-", "neg"), ("+", "pos"), ("~", "invert"))
        for a in INTEGERS
        if (sign, a) != ("~", "bool") and differs(getattr(operator, name), sign, (a,))
    ]
    # A float: it takes the power of a float by an int32 for nearer than that of two ints.
    assert wrong == [("bool", "**", "int32")]


@pytest.mark.parametrize("simulate", [False, True], ids=["device", "simulator"])
def test_unsigned_integers_and_constants_meet_in_int64(simulate):
    two, zero = 2, np.uint64(0)

    def compute(p, i, out):
        new = p[i] - two
        new = max(new, zero)
        out[i, 0] = new
        out[i, 1] = 1 if p[i] - 6 < 0 else 0
        out[i, 2] = (p[i] - 7) // 2
        out[i, 3] = (p[i] - 7) % 4
        out[i, 4] = -(p[i] - 1)
        out[i, 5] = (p[i] - two) >> 1

    @dpex.kernel
    def k(p, out):
        i = dpex.get_global_id(0)
        new = p[i] - two
        new = max(new, zero)
        out[i, 0] = new
        out[i, 1] = 1 if p[i] - 6 < 0 else 0
        out[i, 2] = (p[i] - 7) // 2
        out[i, 3] = (p[i] - 7) % 4
        out[i, 4] = -(p[i] - 1)
        out[i, 5] = (p[i] - two) >> 1

    p = np.array([5, 1, 0, 9], "u8")
    wanted = np.zeros((4, 6), "i8")
    compiled = numba.njit(compute)
    for i in range(4):
        compiled(p, i, wanted)
    out = usmx.zeros((4, 6), "i8", usm_type="shared")
    given = usmx.asarray(p, usm_type="shared")
    with usmx.simulate() if simulate else contextlib.nullcontext():
        k[4](given, out)
    assert out.tolist() == wanted.tolist()


def test_a_variable_may_have_no_value_on_some_paths_as_in_numba():
    @dpex.kernel
    def k(out):
        i = dpex.get_global_id(0)
        if i > 0:
            t = 5
        if i > 0:
            out[i] = t

    out = usmx.zeros(3, "i8")
    k[3](out)
    assert out.tolist() == [0, 5, 5]
