# One set of laws for all code that holds an address that usmx gave out: what usmx was asked to do
# before is there, and what it was asked to do uses what was there when it was asked. A gate holds
# the kernels back, so that a law that is broken is seen each time.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import ctypes
import gc
import itertools
import threading
import weakref

import dpctl
import dpctl.memory
import dpnp
import exchange_structs
import numpy as np
import polars
import pyarrow
import pytest
from gate import Gate

import usmx
import usmx.memory
from usmx import _usmx

# On both sides of what the host computes itself, and of what it copies itself.
SIZES = (10, 4096, 4097, 1_000_000)
HOST_KINDS = ("shared", "host")


def new_queue(*, in_order=True):
    return usmx.Queue(usmx.Device(), in_order=in_order)


@contextlib.contextmanager
def held_for_a_moment(queue):
    """What is submitted meanwhile does not run before a while is over."""
    with Gate(queue) as gate:
        opener = threading.Timer(0.03, gate.open)
        opener.start()
        try:
            yield
        finally:
            opener.join()


def values_of(n):
    return np.arange(n, dtype="f4") % 7


def new_array(n, kind, queue):
    return usmx.asarray(values_of(n), usm_type=kind, queue=queue)


# --- views of the host ------------------------------------------------------------------------


class Described:
    def __init__(self, interface, keep):
        self.__array_interface__ = interface
        self.keep = keep


def at_address(address, x):
    floats = ctypes.POINTER(ctypes.c_float)
    return np.ctypeslib.as_array(ctypes.cast(address, floats), x.shape)


VIEWS = {
    "np.asarray": np.asarray,
    "memoryview": lambda x: np.asarray(memoryview(x)),
    "np.frombuffer": lambda x: np.frombuffer(x, "f4"),
    "__array_interface__": lambda x: np.asarray(Described(x.__array_interface__, x)),
    "pointer": lambda x: at_address(x.pointer, x),
    "np.from_dlpack": lambda x: np.from_dlpack(x, device="cpu"),
    "pyarrow": lambda x: pyarrow.array(x).to_numpy(),
    "polars": lambda x: polars.Series(x).to_numpy(allow_copy=False),
    "the memory": lambda x: np.frombuffer(x.usm_data, "f4"),
    "the pointer of the memory": lambda x: at_address(x.usm_data._pointer, x),
    "a view of the array": lambda x: np.asarray(x.reshape(-1, 1)).reshape(-1),
    "the memory of dpctl": lambda x: np.frombuffer(dpctl.memory.as_usm_memory(x), "f4"),
    "the memory, by dpctl": lambda x: np.frombuffer(dpctl.memory.as_usm_memory(x.usm_data), "f4"),
    "the memory of dpnp": lambda x: np.frombuffer(dpnp.asarray(x).get_array().usm_data, "f4"),
    "an address in the dictionary": lambda x: at_address(
        x.__sycl_usm_array_interface__["data"][0], x
    ),
}
READ_ONLY_VIEWS = ("pyarrow", "polars")


def increase(x):
    x += 1


def increase_part(x):
    x[: x.size // 2] += 1


def assign(x):
    x[:] = 3


def assign_lazy(x):
    x[:] = x * 2


def mask(x):
    x[x < 5] = 9


def reversed_in_place(x):
    x[:] = x[::-1].copy()


TWICE = usmx.RawKernel("USMX_KERNEL(1) twice(float* x) { x[usmx::global_id()] *= 2; }", "twice")
PLUS = usmx.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "plus_one_order")


@usmx.kernel
def halve(item, x):
    i = item.get_id(0)
    x[i] = x[i] * 0.5


@usmx.fuse
def polynomial(x):
    return x * x + 1


# What usmx does to x, and NumPy to an array: one of each tier.
WRITES = {
    "x += 1": (increase, increase),
    "x[: n // 2] += 1": (increase_part, increase_part),
    "x[:] = 3": (assign, assign),
    "x[:] = x * 2": (assign_lazy, assign_lazy),
    "x[x < 5] = 9": (mask, mask),
    "x[:] = x[::-1].copy()": (reversed_in_place, reversed_in_place),
    "out=": (lambda x: usmx.add(x, 1, out=x), increase),
    "np.add": (lambda x: np.add(x, 1, out=x), increase),
    "fill_async": (lambda x: usmx.fill_async(x, 3), assign),
    "copy_async": (
        lambda x: usmx.copy_async(x, usmx.full_like(x, 3, usm_type="device")),
        assign,
    ),
    "sort": (lambda x: x.sort(), lambda a: a.sort()),
    "RawKernel": (lambda x: TWICE[x.size](x), lambda a: np.multiply(a, 2, out=a)),
    "ElementwiseKernel": (lambda x: PLUS(x, out=x), increase),
    "kernel": (lambda x: halve[x.size](x), lambda a: np.multiply(a, 0.5, out=a)),
}
READS = {
    "x * 2": (lambda x: x * 2, lambda a: a * 2),
    "sqrt(x) + x": (lambda x: usmx.sqrt(x) + x, lambda a: np.sqrt(a) + a),
    "sum": (lambda x: x.sum(), lambda a: a.sum(dtype="f8")),
    "max": (lambda x: x.max(), lambda a: a.max()),
    "where": (lambda x: usmx.where(x > 3, 0.0, x), lambda a: np.where(a > 3, 0, a)),
    "astype": (lambda x: x.astype("f8"), lambda a: a.astype("f8")),
    "sort": (usmx.sort, np.sort),
    "argmax": (usmx.argmax, np.argmax),
    "copy": (lambda x: x.copy(), lambda a: a.copy()),
    "a copy on the device": (
        lambda x: usmx.asarray(x, usm_type="device"),
        lambda a: a.copy(),
    ),
    "concat": (lambda x: usmx.concat([x, x]), lambda a: np.concatenate([a, a])),
    "x[::-2] + 1": (lambda x: x[::-2] + 1, lambda a: a[::-2] + 1),
    "cumulative_sum": (
        lambda x: usmx.cumulative_sum(x.astype("i4")),
        lambda a: np.cumsum(a.astype("i4")),
    ),
    "fuse": (polynomial, lambda a: a * a + 1),
    "ElementwiseKernel": (PLUS, lambda a: a + 1),
}


def check_write(name, view_of, n, kind):
    ours, numpys = WRITES[name]
    queue = new_queue()
    ours(new_array(n, kind, queue))  # compiles what has to be
    x = new_array(n, kind, queue)
    view = view_of(x)
    right = values_of(n)
    numpys(right)
    with held_for_a_moment(queue):
        ours(x)
        seen = view.copy()
    np.testing.assert_array_equal(seen, right)
    np.testing.assert_array_equal(x.to_numpy(), right)


def check_read(name, view_of, n, kind):
    ours, numpys = READS[name]
    queue = new_queue()
    ours(new_array(n, kind, queue)).to_numpy()
    x = new_array(n, kind, queue)
    view = view_of(x)
    right = numpys(values_of(n))
    with held_for_a_moment(queue):
        y = ours(x)
        view[:] = 100
    np.testing.assert_allclose(y.to_numpy(), right, rtol=1e-6)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("n", SIZES)
def test_a_view_shows_what_the_line_before_wrote(name, n):
    check_write(name, np.asarray, n, "shared")


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("view", VIEWS)
def test_each_view_shows_what_the_line_before_wrote(view, kind):
    for name, n in itertools.product(("x += 1", "x[:] = x * 2"), (10, 4097)):
        check_write(name, VIEWS[view], n, kind)


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("n", SIZES)
def test_a_result_is_that_of_its_line_whatever_a_view_writes_then(name, n):
    check_read(name, np.asarray, n, "shared")


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("view", [v for v in VIEWS if v not in READ_ONLY_VIEWS])
def test_a_result_is_that_of_its_line_whatever_each_view_writes_then(view, kind):
    for name, n in itertools.product(("x * 2", "sum"), (10, 4097)):
        check_read(name, VIEWS[view], n, kind)


@pytest.mark.parametrize("n", [10, 4097])
@pytest.mark.parametrize("name", READS)
def test_memory_of_numpy_may_be_written_when_the_line_is_over(name, n):
    ours, numpys = READS[name]
    queue = new_queue()
    a = values_of(n)
    x = usmx.asarray(a, copy=False, queue=queue)
    ours(x).to_numpy()
    with held_for_a_moment(queue):
        y = ours(x)
        a[:] = 100
    np.testing.assert_allclose(y.to_numpy(), numpys(values_of(n)), rtol=1e-6)


@pytest.mark.parametrize("n", [10, 4097])
@pytest.mark.parametrize("name", [n for n in WRITES if n not in ("copy_async", "fill_async")])
def test_memory_of_numpy_shows_what_the_line_before_wrote(name, n):
    ours, numpys = WRITES[name]
    queue = new_queue()
    ours(usmx.asarray(values_of(n), copy=False, queue=queue))
    a, right = values_of(n), values_of(n)
    x = usmx.asarray(a, copy=False, queue=queue)
    numpys(right)
    with held_for_a_moment(queue):
        ours(x)
        seen = a.copy()
    np.testing.assert_array_equal(seen, right)


def test_a_buffer_that_numpy_fills_again_and_again_gives_the_mean_of_each_time():
    queue = new_queue()
    a = np.zeros(100_000, "f4")
    x = usmx.asarray(a, copy=False, queue=queue)
    x.mean().to_numpy()
    means = []
    for k in range(4):
        with held_for_a_moment(queue):
            a[:] = k
            means.append(x.mean())
    a[:] = 100
    assert [float(m) for m in means] == [0, 1, 2, 3]


def test_eager_lines_are_over_too():
    queue = new_queue()
    x = new_array(5000, "shared", queue)
    view = np.asarray(x)
    with usmx.eager(), held_for_a_moment(queue):
        y = x + 1
        view[:] = 100
        seen = y.to_numpy()
    np.testing.assert_array_equal(seen, values_of(5000) + 1)


def test_a_value_that_was_put_off_before_the_view_is_that_of_its_line():
    for make in (lambda x: x * 2, lambda x: x.sum(), lambda x: (x + 1)[::2]):
        x = new_array(5000, "shared", new_queue())
        y = make(x)
        view = np.asarray(x)
        view[:] = 100
        np.testing.assert_array_equal(y.to_numpy(), make(values_of(5000)))


def is_put_off(y):
    return y._is_deferred


def test_when_the_last_view_is_gone_lines_are_put_off_again():
    for take in (np.asarray, memoryview, lambda x: np.from_dlpack(x, device="cpu"), pyarrow.array):
        x = new_array(5000, "shared", new_queue())
        first, second = take(x), take(x[:10])
        assert not is_put_off(x + 1)
        del first
        assert not is_put_off(x + 1)
        del second
        assert is_put_off(x + 1)


def test_nobody_waits_for_memory_whose_address_never_left(kind):
    queue = new_queue()
    x = new_array(5000, kind, queue)
    y = x + 1
    y.wait()
    with Gate(queue):
        TWICE[5000](x)
        x += 1
        x[:] = x * 2
        TWICE[5000](x)
        assert is_put_off(x + y)
    np.testing.assert_array_equal(x.to_numpy(), (values_of(5000) * 2 + 1) * 4)


def test_a_view_of_one_array_does_not_hold_up_another():
    queue = new_queue()
    x, other = (new_array(5000, "shared", queue) for _ in range(2))
    view = np.asarray(x)
    with Gate(queue):
        TWICE[5000](other)
        assert is_put_off(other + 1)
    assert view[1] == 1


# --- in place after an address left -----------------------------------------------------------

LEAVES = {
    "pointer": lambda x: x.pointer,
    "the dictionary": lambda x: x.__sycl_usm_array_interface__,
    "a capsule of DLPack": lambda x: x.__dlpack__(),
    "dpnp": dpnp.asarray,
    "the memory": dpctl.memory.as_usm_memory,
}


@pytest.mark.parametrize("left", LEAVES)
def test_in_place_needs_no_temporary_after_an_address_left(left, kind):
    for change in (increase, lambda x: usmx.add(x, 1, out=x)):
        x = new_array(1 << 16, kind, None)
        kept = LEAVES[left](x)
        change(x)
        x.wait()
        with usmx.trace() as t:
            change(x)
            x.queue.wait()
        summary = t.summary()
        assert (summary.kernels, summary.copies, summary.allocations) == (1, 0, 0)
        np.testing.assert_array_equal(x.to_numpy(), values_of(1 << 16) + 2)
        del kept


# --- commands without work --------------------------------------------------------------------

WITHOUT_WORK = {
    "copy_async": lambda y: usmx.copy_async(y, y),
    "y[:] = y": lambda y: y.__setitem__(slice(None), y),
    "a part": lambda y: usmx.copy_async(y[:5], y[:5]),
    "nothing": lambda y: usmx.copy_async(y[:0], y[5:5]),
    "no elements": lambda y: usmx.fill_async(y[:0], 1),
    "y[:9] += 0": lambda y: y.__setitem__(slice(9), y[:9]),
}


@pytest.mark.parametrize("name", WITHOUT_WORK)
def test_what_is_pending_stays_pending_after_a_command_without_work(name):
    first, second = new_queue(), new_queue()
    x = new_array(5000, "device", first)
    z = usmx.zeros(5000, "f4", usm_type="device", queue=second)
    TWICE[5000](new_array(5000, "device", first)).wait()
    with Gate(first):
        TWICE[5000](x)
        WITHOUT_WORK[name](x)
        copied = usmx.copy_async(z, x, queue=second)
        assert not copied.is_done
    np.testing.assert_array_equal(z.to_numpy(), values_of(5000) * 2)


def test_the_event_of_a_copy_onto_itself_comes_after_what_was_pending():
    queue = new_queue()
    x = new_array(5000, "device", queue)
    with Gate(queue):
        TWICE[5000](x)
        event = usmx.copy_async(x, x)
        assert not event.is_done
    event.wait()


# --- queues of other libraries ----------------------------------------------------------------


class Foreign:
    """Memory of ours as another library knows it: by an address and a queue."""

    def __init__(self, x, queue):
        self.x = x
        self.__sycl_usm_array_interface__ = {
            **x.__sycl_usm_array_interface__,
            "syclobj": queue,
        }


@pytest.mark.parametrize("n", SIZES)
def test_dpnp_and_usmx_in_turn(n, kind):
    x = new_array(n, kind, None)
    right = values_of(n)
    d = dpnp.asarray(x)
    d *= 2
    x += 1
    x.wait()
    right = right * 2 + 1
    queue = x.queue
    for _ in range(3):
        with held_for_a_moment(queue):
            x += 1
            d *= 2
        right = (right + 1) * 2
        np.testing.assert_array_equal(x.to_numpy(), right)


@pytest.mark.parametrize("n", SIZES)
def test_who_took_a_capsule_and_named_no_queue_finds_finished_elements(n, kind):
    queue = new_queue()
    x = new_array(n, kind, queue)
    d = dpnp.from_dlpack(x)
    right = values_of(n)
    for _ in range(3):
        with held_for_a_moment(queue):
            x += 1
            d *= 2  # on a queue of dpnp's, which usmx does not know
        d.sycl_queue.wait()
        right = (right + 1) * 2
        np.testing.assert_array_equal(x.to_numpy(), right)


@pytest.mark.parametrize("n", SIZES)
def test_dpctl_copies_what_usmx_wrote(n, kind):
    x = new_array(n, kind, None)
    m = dpctl.memory.as_usm_memory(x)
    increase(new_array(n, kind, None))
    with held_for_a_moment(x.queue):
        x += 1
        seen = m.copy_to_host().view("f4")
    np.testing.assert_array_equal(seen, values_of(n) + 1)


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("n", [10, 5000])
def test_dpctl_copies_what_usmx_wrote_on_a_queue_of_its_own(n, in_order, kind):
    queue = new_queue(in_order=in_order)
    x = new_array(n, kind, queue)
    to = dpctl.memory.MemoryUSMHost(x.nbytes, queue=dpctl.SyclQueue("cpu", property="in_order"))
    for of in (x, x.usm_data):
        m = dpctl.memory.as_usm_memory(of)
        with held_for_a_moment(queue):
            x += 1
            to.copy_from_device(m)
        np.testing.assert_array_equal(np.frombuffer(to, "f4"), x.to_numpy())


class Writable(Foreign):
    """dpctl's own dictionary says read-only of all memory."""

    def __init__(self, m, queue):
        super().__init__(m, queue)
        address, _ = self.__sycl_usm_array_interface__["data"]
        self.__sycl_usm_array_interface__["data"] = address, False


# What the memory of another library becomes here, and how that library looks at it by its address.
OF_OTHERS = {
    "dpctl": lambda m, queue: usmx.asarray(m).view("f4"),
    "the dictionary": lambda m, queue: usmx.asarray(Writable(m, queue)).view("f4"),
    "dpnp": lambda m, queue: usmx.asarray(
        dpnp.ndarray(m.nbytes // 4, dtype="f4", buffer=m, sycl_queue=queue)
    ),
}


def copied_elsewhere(m):
    to = dpctl.memory.MemoryUSMHost(m.nbytes, queue=dpctl.SyclQueue("cpu", property="in_order"))
    to.copy_from_device(m)
    return np.frombuffer(to, "f4")


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("n", [10, 5000])
@pytest.mark.parametrize("way", OF_OTHERS)
def test_who_has_memory_that_usmx_was_given_sees_what_usmx_did(way, n, kind):
    theirs = dpctl.SyclQueue("cpu")
    m = getattr(dpctl.memory, f"MemoryUSM{kind.title()}")(4 * n, queue=theirs)
    m.memset(0)
    x = OF_OTHERS[way](m, theirs)
    TWICE[10](new_array(10, kind, x.queue))
    for _ in range(3):
        before = x.to_numpy()
        with held_for_a_moment(x.queue):
            TWICE[n](x)
            x += 1
            seen = copied_elsewhere(m)
        np.testing.assert_array_equal(seen, before * 2 + 1)
        view = np.frombuffer(m, "f4")
        with held_for_a_moment(x.queue):
            x += 1
            now = view.copy()
        np.testing.assert_array_equal(now, seen + 1)


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("n", [10, 5000])
@pytest.mark.parametrize("way", OF_OTHERS)
def test_a_result_is_that_of_its_line_whatever_the_owner_of_the_memory_writes(way, n, kind):
    theirs = dpctl.SyclQueue("cpu")
    m = getattr(dpctl.memory, f"MemoryUSM{kind.title()}")(4 * n, queue=theirs)
    m.memset(0)
    x = OF_OTHERS[way](m, theirs)
    (new_array(n, kind, x.queue) * 2).wait()
    with held_for_a_moment(x.queue):
        y = x * 2
        at_address(m._pointer, x)[:] = 100
    np.testing.assert_array_equal(y.to_numpy(), np.zeros(n, "f4"))


@pytest.mark.parametrize("n", [10, 5000])
@pytest.mark.parametrize("given", ["dictionary", "stream in order", "stream"])
def test_a_result_is_that_of_its_line_whatever_another_library_writes_then(n, given, kind):
    x = new_array(n, kind, None)
    if given == "dictionary":
        theirs = dpctl.memory.as_usm_memory(x)
    else:
        stream = new_queue(in_order=given == "stream in order")
        x.__dlpack__(stream=stream)
        theirs = dpctl.memory.as_usm_memory(Foreign(x, dpctl.SyclQueue(stream._get_capsule())))
    new = dpctl.memory.as_usm_memory(usmx.full_like(x, 100))
    (new_array(n, kind, None) * 2).wait()
    with held_for_a_moment(x.queue):
        y = x * 2
        theirs.sycl_queue.memcpy_async(theirs, new, theirs.nbytes)
    np.testing.assert_array_equal(y.to_numpy(), values_of(n) * 2)
    np.testing.assert_array_equal(x.to_numpy(), np.full(n, 100, "f4"))


LOOKS = {
    "to_numpy": lambda x: x.to_numpy()[-1],
    "float": lambda x: float(x[-1]),
    "sum": lambda x: float(x.sum()) / x.size,
    "x + 0": lambda x: float((x + 0)[-1]),
    "tolist": lambda x: x[-3:].tolist()[-1],
    "x.wait()": lambda x: (x.wait(), float(x[-1]))[1],
    "dpctl": lambda x: dpctl.memory.as_usm_memory(x).copy_to_host().view("f4")[-1],
}
# Of the host's kinds of memory only.
LOOKS_BY_ADDRESS = {
    "np.asarray": lambda x: np.asarray(x)[-1],
    "memoryview": lambda x: memoryview(x)[x.size - 1],
    "np.from_dlpack": lambda x: np.from_dlpack(x, device="cpu")[-1],
}
ALL_LOOKS = {**LOOKS, **LOOKS_BY_ADDRESS}


@pytest.mark.parametrize("n", [10, 5000])
@pytest.mark.parametrize("look", ALL_LOOKS)
def test_the_host_sees_what_others_submitted_to_the_queue_of_the_array(look, n, kind):
    if look in LOOKS_BY_ADDRESS and kind == "device":
        kind = "host"
    x = new_array(n, kind, new_queue())
    source = usmx.full_like(x, 50)
    source.wait()
    for name in ("capsule", "attribute"):
        given = x.queue._get_capsule() if name == "capsule" else x.sycl_queue
        queue = dpctl.SyclQueue(given) if name == "capsule" else given
        theirs, new = (dpctl.memory.as_usm_memory(a) for a in (x, source))
        ALL_LOOKS[look](new_array(n, kind, x.queue))
        with held_for_a_moment(x.queue):
            queue.memcpy_async(theirs, new, theirs.nbytes)
            seen = ALL_LOOKS[look](x)
        assert seen == 50
        x[:] = 1


@pytest.mark.parametrize("look", [look for look in ALL_LOOKS if look != "dpctl"])
def test_the_host_sees_what_others_submitted_to_the_default_queue(look, kind):
    if look in LOOKS_BY_ADDRESS and kind == "device":
        kind = "host"
    x = new_array(5000, kind, None)
    source = usmx.full_like(x, 50)
    source.wait()
    queue = dpctl.SyclQueue(x.queue._get_capsule())
    theirs, new = (dpctl.memory.as_usm_memory(a) for a in (x, source))
    ALL_LOOKS[look](new_array(5000, kind, None))
    with held_for_a_moment(x.queue):
        queue.memcpy_async(theirs, new, theirs.nbytes)
        seen = ALL_LOOKS[look](x)
    assert seen == 50


@pytest.mark.parametrize("n", [10, 5000])
@pytest.mark.parametrize("look", ALL_LOOKS)
def test_memory_of_another_library_is_seen_as_its_queue_leaves_it(look, n, kind):
    if look in LOOKS_BY_ADDRESS and kind == "device":
        kind = "host"
    ours = new_queue()
    queue = dpctl.SyclQueue(ours._get_capsule())
    make = getattr(dpctl.memory, f"MemoryUSM{kind.title()}")
    theirs, new = make(4 * n, queue=queue), make(4 * n, queue=queue)
    theirs.memset(0)
    new.copy_from_host(np.full(n, 50, "f4").view("u1"))
    x = usmx.asarray(theirs).view("f4")
    ALL_LOOKS[look](new_array(n, kind, ours))
    with held_for_a_moment(ours):
        queue.memcpy_async(theirs, new, theirs.nbytes)
        seen = ALL_LOOKS[look](x)
    assert seen == 50


def test_another_library_goes_on_behind_what_usmx_does_with_its_memory(kind):
    # Its queue has no order of its own, and usmx computes on it, too.
    d = dpnp.arange(5000, dtype="f4", device=dpctl.SyclQueue())
    blocker = new_queue()
    x = usmx.asarray(d)
    y = usmx.empty(5000, "f4", queue=blocker)
    with held_for_a_moment(blocker):
        TWICE[5000](y)
        event = usmx.copy_async(y, x, queue=blocker)  # behind the gate
        d += 1
    event.wait()
    np.testing.assert_array_equal(y.to_numpy(), np.arange(5000, dtype="f4"))


def test_memory_is_not_reused_while_others_use_it_on_the_queue_of_the_array():
    queue = new_queue()
    theirs_queue = dpctl.SyclQueue(queue._get_capsule())
    x = usmx.zeros(5000, "f4", usm_type="device", queue=queue)
    source = usmx.full_like(x, 50)
    address = x.pointer
    with Gate(queue):
        theirs, new = (dpctl.memory.as_usm_memory(a) for a in (x, source))
        theirs_queue.memcpy_async(theirs, new, theirs.nbytes)
        del x, theirs
        other = usmx.zeros(5000, "f4", usm_type="device")
        assert other.pointer != address


# --- memory that comes back -------------------------------------------------------------------

InC = exchange_structs.crafted()


def through_c(x):
    exchange_structs.view(x)  # which the library in between has from us
    return usmx.asarray(InC(x))


# How memory of usmx goes to others and comes back as an array of its own.
WAYS_BACK = {
    "the dictionary": lambda x: usmx.asarray(Foreign(x, x.sycl_queue)),
    "a queue of its own": lambda x: usmx.asarray(Foreign(x, dpctl.SyclQueue())),
    "dpctl": lambda x: usmx.asarray(dpctl.memory.as_usm_memory(x)).view("f4"),
    "the memory of dpctl": lambda x: usmx.asarray(
        usmx.memory.as_usm_memory(dpctl.memory.as_usm_memory(x))
    ).view("f4"),
    "dpnp": lambda x: usmx.asarray(dpnp.asarray(x)),
    "a view of dpnp": lambda x: usmx.asarray(dpnp.asarray(x)[3:][::2]),
    "DLPack of dpnp": lambda x: usmx.from_dlpack(dpnp.asarray(x)),
    "C": through_c,
    "twice": lambda x: usmx.asarray(dpnp.asarray(usmx.asarray(dpnp.asarray(x)))),
}
WAYS_OF_THE_HOST = {
    "NumPy": lambda x: usmx.asarray(np.asarray(x), copy=False),
    "memoryview": lambda x: usmx.asarray(memoryview(x), copy=False),
    "DLPack of NumPy": lambda x: usmx.from_dlpack(np.from_dlpack(x, device="cpu"), copy=False),
    "NumPy from DLPack": lambda x: usmx.asarray(np.from_dlpack(x, device="cpu"), copy=False),
}
ALL_WAYS = {**WAYS_BACK, **WAYS_OF_THE_HOST}


def part_of(values, way):
    """The elements that the array has which came back."""
    return values[3:][::2] if way == "a view of dpnp" else values


def test_each_way_back_gives_the_same_memory():
    for way, back in ALL_WAYS.items():
        x = new_array(50, "shared", None)
        b = back(x)
        b += 1
        right = values_of(50)
        part_of(right, way)[...] += 1
        np.testing.assert_array_equal(x.to_numpy(), right)


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("n", [10, 5000])
def test_a_view_of_the_first_array_shows_what_is_done_through_the_one_that_came_back(n, way, kind):
    increase(ALL_WAYS[way](new_array(n, kind, None)))
    for view_first in (True, False):
        x = new_array(n, kind, None)
        view = np.asarray(x) if view_first else None
        b = ALL_WAYS[way](x)
        view = np.asarray(x) if view is None else view
        right = values_of(n)
        part_of(right, way)[...] += 1
        with held_for_a_moment(b.queue):
            b += 1
            seen = view.copy()
        np.testing.assert_array_equal(seen, right)


@pytest.mark.parametrize("kind", HOST_KINDS)
@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("n", [10, 5000])
def test_a_view_of_the_array_that_came_back_shows_what_is_done_through_the_first(n, way, kind):
    increase(new_array(n, kind, None))
    x = new_array(n, kind, None)
    b = ALL_WAYS[way](x)
    view = np.asarray(b)
    with held_for_a_moment(x.queue):
        x += 1
        seen = view.copy()
    np.testing.assert_array_equal(seen, part_of(values_of(n) + 1, way))


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("n", [10, 5000])
def test_a_result_is_that_of_its_line_whatever_is_done_through_the_other_array(n, way):
    for first_is_read in (True, False):
        x = new_array(n, "shared", new_queue())
        b = ALL_WAYS[way](x)
        read, written = (x, b) if first_is_read else (b, x)
        right = read.to_numpy() * 2
        with held_for_a_moment(x.queue):
            y = read * 2
            written += 100
        np.testing.assert_array_equal(y.to_numpy(), right)


@pytest.mark.parametrize("way", [w for w in WAYS_BACK if w != "a view of dpnp"])
@pytest.mark.parametrize("n", [10, 5000])
def test_two_arrays_of_one_memory_and_the_library_between_them_in_turn(n, way, kind):
    x = new_array(n, kind, None)
    b, d = WAYS_BACK[way](x), dpnp.asarray(x)
    right = values_of(n)
    for _ in range(3):
        with held_for_a_moment(x.queue):
            x += 1
            b *= 2
            d += 3
            b -= 1
            x *= 2
        right = (((right + 1) * 2 + 3) - 1) * 2
        np.testing.assert_array_equal(b.to_numpy(), right)
        np.testing.assert_array_equal(x.to_numpy(), right)


def test_memory_of_another_library_that_is_taken_twice_is_one_memory():
    theirs = dpctl.memory.MemoryUSMShared(20_000)
    theirs.memset(0)
    first, second = (usmx.asarray(theirs).view("f4") for _ in range(2))
    view = np.asarray(first)
    for x in (first, second, usmx.asarray(dpnp.asarray(first))):
        before = view[-1]
        increase(new_array(5000, "shared", x.queue))
        with held_for_a_moment(x.queue):
            increase(x)
            seen = view[-1]
        assert seen == before + 1


def test_memory_that_came_back_keeps_what_it_came_from():
    x = new_array(5000, "shared", None)
    view = weakref.ref(d := Foreign(x, x.sycl_queue))
    b = usmx.asarray(d)
    del x, d
    gc.collect()
    assert view() is not None
    b += 1
    np.testing.assert_array_equal(b.to_numpy(), values_of(5000) + 1)
    assert b.usm_data.nbytes == 20_000
    b.wait()
    del b
    _usmx._Testing.drain()
    assert view() is None


def test_the_array_that_came_back_may_end_first_or_last():
    for name, way in ALL_WAYS.items():
        x = new_array(5000, "shared", None)
        b = way(x)
        b += 0
        right = b.to_numpy()
        if name in WAYS_BACK:
            address = x.pointer
            del x
            other = usmx.full(5000, 7, dtype="f4", usm_type="shared")
            other.wait()
            assert other.pointer != address
        else:
            del b
            b = x
        np.testing.assert_array_equal(b.to_numpy(), right)


def test_an_address_that_is_used_again_is_not_the_memory_that_was_there():
    addresses = set()
    for k in range(20):
        x = usmx.full(5000, k, dtype="f4", usm_type="shared")
        b = usmx.asarray(dpnp.asarray(x))
        addresses.add(x.pointer)
        b += 1
        np.testing.assert_array_equal(b.to_numpy(), np.full(5000, k + 1, "f4"))
        del x, b
    assert len(addresses) < 20


def test_a_cycle_through_memory_that_came_back_is_collected():
    class Lender:
        def __init__(self, x):
            self.__sycl_usm_array_interface__ = x.__sycl_usm_array_interface__
            self.x = x

    lender = Lender(new_array(10, "shared", None))
    lender.back = usmx.asarray(lender)
    gone = weakref.ref(lender)
    del lender
    gc.collect()
    assert gone() is None


def test_threads_take_memory_back_while_it_ends():
    def run():
        for k in range(100):
            x = usmx.full(10, k, dtype="f4", usm_type="shared")
            b = usmx.asarray(dpctl.memory.as_usm_memory(x)).view("f4")
            b += 1
            assert float(x[0]) == k + 1

    failed = []

    def guarded():
        try:
            run()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=guarded) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []


def test_a_kernel_of_another_library_that_is_compiled_late_is_waited_for(run_python):
    # dpctl's host task behind `d += 1` held our command back, and that one the next of dpnp: a
    # thread of the runtime compiled it then. Only the first use of each in a process is compiled.
    run_python("""
        import dpnp, numpy as np, usmx

        wrong = []
        for name in ("__iadd__", "__imul__", "__isub__", "__itruediv__", "__ipow__"):
            x = usmx.full(10, 3, dtype="f4", usm_type="device")
            d = dpnp.asarray(x)
            d += 1
            x += 1
            getattr(d, name)(2)
            right = np.full(10, 5, "f4")
            getattr(right, name)(2)
            if float(x[9]) != right[9]:
                wrong.append(name)
        assert not wrong, wrong
    """)
