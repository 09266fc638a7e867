# What stands in the brackets of a launch: two ints are never silently taken for less than they say.
# SPDX-License-Identifier: Apache-2.0
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from backend_row import needs
from gate import Gate

import usmx
import usmx.compat.numba_dpex as dpex
import usmx.memory as um

ROWS, COLUMNS = 64, 32


@usmx.device_func
def of_second(item):
    return item.get_id(1)


@usmx.device_func
def through_two(item):
    return of_second(item)


AXIS = 1


@pytest.fixture(params=["device", "simulator"])
def kernel(request):
    return lambda function: usmx.kernel(function, simulate=request.param == "simulator")


def zeros(*shape):
    return usmx.zeros(shape, "i4", usm_type="shared")


def test_a_kernel_with_linear_ids_runs_over_a_whole_shape(kernel):
    def add(item, x, flat):
        flat[item.get_global_linear_id()] += 1

    x = zeros(ROWS, COLUMNS)
    kernel(add)[x.shape](x, x.reshape(-1)).wait()
    assert x.to_numpy().tolist() == [[1] * COLUMNS] * ROWS


def test_dimensions_are_seen_through_device_functions_and_names(kernel):
    def direct(item, x):
        k = of_second(item)
        x[item.get_id(0), k] += 1

    def nested(item, x):
        k = through_two(item)
        x[item.get_id(0), k] += 1

    def named(item, x):
        x[item.get_id(0), item.get_id(AXIS)] += 1

    for function in (direct, nested, named):
        x = zeros(8, 4)
        kernel(function)[x.shape](x).wait()
        assert x.to_numpy().tolist() == [[1] * 4] * 8, function.__name__


def test_two_ints_are_global_and_local_range_for_one_dimension(kernel):
    def sizes(item, out):
        out[item.get_id(0)] = item.get_local_range(0)

    for key in ((8, 4), (8, (4,)), ((8,), (4,)), ([8], [4])):
        out = zeros(8)
        kernel(sizes)[key](out).wait()
        assert out.to_numpy().tolist() == [4] * 8


def test_a_shape_of_an_argument_is_not_taken_for_a_local_range(kernel):
    def add(item, x, flat):
        flat[item.get_id(0)] += 1

    x = zeros(ROWS, COLUMNS)
    k = kernel(add)
    with pytest.raises(ValueError, match=r"also the shape of argument 0; write \[x.size\]"):
        k[x.shape](x, x.reshape(-1))
    assert not x.to_numpy().any()
    k[x.size](x, x.reshape(-1)).wait()
    assert x.to_numpy().all()
    # Said without doubt, it is a local range.
    k[ROWS, (COLUMNS,)](x, x.reshape(-1)).wait()
    assert x.to_numpy().sum() == ROWS * COLUMNS + ROWS


@pytest.mark.parametrize(
    ("key", "where"), [(2**63, "global"), ((4, 2**63), "global"), ((4, (2**64,)), "local")]
)
def test_a_range_of_more_than_64_bits_is_refused_by_name(kernel, key, where):
    def nothing(item, x):
        pass

    with pytest.raises(ValueError, match=rf"^{where} range: \d{{19,20}} does not fit into 64 bits"):
        kernel(nothing)[key](zeros(1))


@pytest.mark.parametrize("how", [{}, {"depends_on": ()}])
def test_a_kernel_from_text_refuses_a_shape_too(how):
    add = usmx.RawKernel("USMX_KERNEL(1) add(int* x) { x[usmx::global_id()] += 1; }", "add")
    x = zeros(ROWS, COLUMNS)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"kernel 'add' .* is also the shape of argument 0"):
            add[x.shape](x, **how)
        add[x.size](x, **how).wait()
    add[ROWS, (COLUMNS,)](x, **how).wait()
    assert x.to_numpy().sum() == 2 * ROWS * COLUMNS + ROWS


def test_dimensions_that_cannot_be_read_are_ambiguous(kernel):
    def add(item, x, where):
        x[where(item)] += 1

    with pytest.raises(TypeError, match=r"\[8, 4\] is ambiguous.*\[\(8, 4\), None\]"):
        kernel(add)[8, 4]


def place(item):
    return item.get_global_id(0)


def column(item):
    return item.get_global_id(1)


def test_functions_without_a_decorator_say_their_dimensions_too(kernel):
    def one(item, out):
        out[place(item)] = item.get_local_range(0)

    def two(item, out):
        out[place(item), column(item)] = 3

    out = zeros(8)
    kernel(one)[8, 4](out).wait()
    assert out.to_numpy().tolist() == [4] * 8
    out = zeros(8, 4)
    kernel(two)[8, 4](out).wait()
    assert out.to_numpy().tolist() == [[3] * 4] * 8


def test_ranges_without_doubt(kernel):
    def count(item, x):
        usmx.atomic.add(x, 0, 1)
        usmx.atomic.add(x, 1, item.get_global_linear_id())

    for key, items in (
        (((4, 6), None), 24),
        (((4, 6),), 24),
        ([4, 6], 24),
        ((4, 6), 24),
        ((2, 3, 4), 24),
        (((4, 6), (2, 3)), 24),
        ((24, (6,)), 24),
        ((24, None), 24),
        (24, 24),
    ):
        x = zeros(2)
        kernel(count)[key](x).wait()
        assert x.to_numpy().tolist() == [items, items * (items - 1) // 2], key


def test_numba_dpex_keeps_its_own_meaning_of_two_ints():
    @dpex.kernel
    def ids(out):
        out[dpex.get_global_id(0)] = dpex.get_local_size(0)

    out = zeros(8)
    ids[8, 4](out)
    assert out.to_numpy().tolist() == [4] * 8

    @dpex.kernel
    def unseen(out):
        dpex.atomic.add(out, 0, 1)

    out = zeros(1)
    unseen[8, 4](out)
    assert int(out[0]) == 8
    x = zeros(8, 4)

    @dpex.kernel
    def shape(out):
        out[dpex.get_global_id(0), 0] += 1

    shape[8, 4](x)
    assert x.to_numpy()[:, 0].tolist() == [1] * 8


def test_arguments_by_name_are_refused_in_words(kernel):
    def add(item, x):
        x[item.get_id(0)] += 1

    x = zeros(8)
    text = usmx.RawKernel("USMX_KERNEL(1) add(int* x) { x[usmx::global_id()] += 1; }", "add")
    for k in (kernel(add), text):
        with pytest.raises(TypeError) as caught:
            k[8](x=x)
        assert str(caught.value) == (
            "kernel 'add': got the keyword arguments 'x'; arguments of a kernel are positional, "
            "only queue= and depends_on= are passed by name"
        )
    assert not x.to_numpy().any()


INT_MAX, INT_MIN = 2**63 - 1, -(2**63)
ENDS = [
    (INT_MAX - 3, INT_MAX, 2),
    (INT_MAX - 4, INT_MAX, 3),
    (INT_MAX - 1, INT_MAX, 1),
    (INT_MAX - 1, INT_MAX, INT_MAX),
    (INT_MIN, INT_MAX, INT_MAX),
    (INT_MIN, INT_MAX, INT_MAX - 1),
    (INT_MIN + 4, INT_MIN, -3),
    (INT_MIN + 5, INT_MIN, -2),
    (INT_MIN + 2, INT_MIN, -1),
    (INT_MAX, INT_MIN, INT_MIN),
    (INT_MAX, INT_MIN, INT_MIN + 1),
    (INT_MIN, INT_MIN, -1),
    (INT_MAX, INT_MAX, 1),
    (5, 5, 2),
    (7, -8, -5),
    (-3, 12, 5),
]


@pytest.mark.parametrize("simulate", [False, True])
def test_ranges_of_loops_are_exact_at_the_ends_of_the_ints(simulate):
    def variable(item, start, stop, step, out):
        n = 0
        for i in range(start, stop, step):
            if n < 8:
                out[n] = i
            n += 1
            if n > 20:
                break
        out[8] = n

    def ends(item, out):
        # Steps and bounds that the text says.
        n = 0
        for i in range(9223372036854775804, 9223372036854775807, 2):
            out[n] = i
            n += 1
            if n > 6:
                break
        for i in range(-9223372036854775803, -9223372036854775808, -2):
            out[n] = i
            n += 1
            if n > 6:
                break
        out[8] = n

    def known_step(item, start, stop, out):
        n = 0
        for i in range(start, stop, 2):
            out[n] = i
            n += 1
            if n > 6:
                break
        out[8] = n

    def got(function, *args):
        out = usmx.zeros(9, "i8", usm_type="shared")
        usmx.kernel(function, simulate=simulate)[1](*args, out).wait()
        values = out.to_numpy().tolist()
        return values[: min(values[8], 8)], values[8]

    for start, stop, step in ENDS:
        want = list(range(start, stop, step))
        assert got(variable, start, stop, step) == (want[:8], len(want)), (start, stop, step)
    want = [
        *range(9223372036854775804, 9223372036854775807, 2),
        *range(-9223372036854775803, -9223372036854775808, -2),
    ]
    assert got(ends) == (want, len(want))
    assert got(known_step, INT_MAX - 3, INT_MAX) == ([INT_MAX - 3, INT_MAX - 1], 2)


def test_a_bound_that_is_no_int_of_64_bits_is_refused():
    def wrong(item, x):
        for i in range(9223372036854775808):
            x[0] = i

    with pytest.raises(usmx.KernelError, match="9223372036854775808 does not fit"):
        usmx.kernel(wrong)[1](zeros(1))


def address_of(memory):
    """As it is shown: who asks for the number itself may compute there, and is waited for."""
    return re.search("0x[0-9a-f]+", repr(memory))[0]


@pytest.mark.parametrize("kept", ["0", "1"])
@needs("free_loads")
def test_a_first_launch_leaves_its_memory_to_the_order_of_its_queue(kept, monkeypatch, tmp_path):
    # What was described for others comes back only when its queue is done.
    monkeypatch.setenv("USMX_CACHE", kept)
    monkeypatch.setenv("USMX_CACHE_DIR", str(tmp_path))

    def set_to(item, x, value):
        x[item.get_id(0)] = value

    queue = usmx.Queue(usmx.Device(), in_order=True)
    with Gate(queue) as gate:
        first = um.MemoryUSMDevice(12_344, queue=queue)
        address = address_of(first)
        usmx.kernel(set_to)[1](first, 7, queue=queue)
        del first
        again = um.MemoryUSMDevice(12_344, queue=queue)
        assert address_of(again) == address
        gate.open()
    queue.wait()


@pytest.mark.parametrize("ask", ["source", "limits"])
def test_asking_for_the_text_of_a_kernel_neither_waits_nor_exposes_its_memory(ask):
    def set_to(item, x, value):
        x[item.get_id(0)] = value

    kernel = usmx.kernel(set_to)
    queue = usmx.Queue(usmx.Device(), in_order=True)
    kernel[1](um.MemoryUSMDevice(4, queue=queue), 7, queue=queue).wait()
    with Gate(queue) as gate:
        first = um.MemoryUSMDevice(12_352, queue=queue)
        address = address_of(first)
        kernel[1](first, 7, queue=queue)
        asked = ThreadPoolExecutor(1).submit(getattr(kernel, ask), first, 7)
        asked.result(timeout=60)
        del first, asked
        again = um.MemoryUSMDevice(12_352, queue=queue)
        assert address_of(again) == address
        gate.open()
    queue.wait()
