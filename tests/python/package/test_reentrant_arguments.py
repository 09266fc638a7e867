# Reading an argument may run any code: it may call the same function again, change the container
# that is being read, free what is used. Nothing is read twice, and no pointer is kept meanwhile to
# what Python can change.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import sys
import threading
import time

import numpy as np
import pytest

import usmx
import usmx.memory


class Producer:
    """Another library's array, which counts how often it is asked."""

    def __init__(self, memory, **changes):
        self.memory = memory
        self.changes = changes
        self.asked = 0

    @property
    def __sycl_usm_array_interface__(self):
        self.asked += 1
        return {**self.memory.__sycl_usm_array_interface__, **self.changes}


RAW = usmx.RawKernel("USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }", "f")
ADD = usmx.ElementwiseKernel("float32 x", "float32 y", "y = x + 1")
SUM = usmx.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0")
RUNNING = usmx.ScanKernel("float32 x", "float32 y", "x", "a + b")


@usmx.kernel
def twice(item, x):
    i = item.get_id(0)
    x[i] = x[i] * 2


def plus_one(x):
    return x + 1


def memory():
    m = usmx.memory.MemoryUSMShared(64)
    m.memset(0)
    return m


CONSUMERS = {
    "asarray": usmx.asarray,
    "asarray with a type": lambda p: usmx.asarray(p, dtype="f8"),
    "asarray elsewhere": lambda p: usmx.asarray(p, usm_type="device"),
    "asarray copied": lambda p: usmx.asarray(p, copy=True),
    "as_usm_memory": usmx.memory.as_usm_memory,
    "memory": usmx.memory.MemoryUSMShared,
    "memory copied": lambda p: usmx.memory.MemoryUSMDevice(p, copy=True),
    "ndarray": lambda p: usmx.ndarray(4, "f4", buffer=p),
    "empty_like": usmx.empty_like,
    "zeros_like": usmx.zeros_like,
    "ones_like": usmx.ones_like,
    "full_like": lambda p: usmx.full_like(p, 1),
    "setitem": lambda p: usmx.zeros(16, "f4").__setitem__(slice(None), p),
    "copy to": lambda p: usmx.copy(p, np.zeros(16, "f4")),
    "copy from": lambda p: usmx.copy(np.zeros(16, "f4"), p),
    "copy between": lambda p: usmx.copy(usmx.zeros(16, "f4"), p),
    "copy_async to": lambda p: usmx.copy_async(p, np.zeros(16, "f4")).wait(),
    "copy_async from": lambda p: usmx.copy_async(np.zeros(16, "f4"), p).wait(),
    "copy_2d to": lambda p: usmx.copy_2d(p, 8, np.zeros(64, "u1"), 8, 8, 8),
    "copy_2d_async from": lambda p: usmx.copy_2d_async(usmx.zeros(16), 8, p, 8, 8, 8).wait(),
    "fill": lambda p: usmx.fill(p, 1),
    "fill_async": lambda p: usmx.fill_async(p, 1).wait(),
    "memset": lambda p: usmx.memset(p, 1),
    "memset_async": lambda p: usmx.memset_async(p, 1).wait(),
    "prefetch": usmx.prefetch,
    "prefetch_async": lambda p: usmx.prefetch_async(p).wait(),
    "mem_advise": lambda p: usmx.mem_advise(p, 0),
    "mem_advise_async": lambda p: usmx.mem_advise_async(p, 0).wait(),
    "copy_from_device": lambda p: usmx.memory.MemoryUSMShared(64).copy_from_device(p),
    "RawKernel": lambda p: RAW[16](p).wait(),
    "kernel": lambda p: twice[16](p).wait(),
    "ElementwiseKernel": ADD,
    "ElementwiseKernel into": lambda p: ADD(usmx.zeros(16, "f4"), p),
    "ElementwiseKernel out": lambda p: ADD(usmx.zeros(16, "f4"), out=p),
    "ReductionKernel": SUM,
    "ScanKernel": RUNNING,
    "fuse": usmx.fuse(plus_one),
}


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_producer_is_asked_once(name):
    producer = Producer(memory(), shape=(16,), typestr="<f4")
    CONSUMERS[name](producer)
    assert producer.asked == 1


def test_an_element_is_made_and_filled_as_one_type():
    class Changing(Producer):
        @property
        def __sycl_usm_array_interface__(self):
            self.asked += 1
            typestr = "|u1" if self.asked == 1 else "|V32"
            return {**self.memory.__sycl_usm_array_interface__, "shape": (2,), "typestr": typestr}

    for fill in (usmx.fill, lambda *a: usmx.fill_async(*a).wait()):
        m = memory()
        fill(Changing(m), 7)
        assert bytes(m) == b"\7\7" + bytes(62)


SPIN = usmx.RawKernel(
    "USMX_KERNEL(1) spin(float* x, int64_t n) { float v = x[0]; for (int64_t i = 0; i < n; ++i)"
    " { v = v * 1.0000001f + 0.5f; if (v > 1e30f) v = 1.0f; } x[0] = v; }",
    "spin",
)


def test_a_type_is_kept_while_destructors_name_others():
    # Types are remembered by the address of the text that named them: these two share a place.
    small_at = {(id(text) >> 4) % 64: text for text in ["".join(["in", "t8"]) for _ in range(999)]}
    larges = ["".join(["comp", "lex128"]) for _ in range(999)]
    large = next(text for text in larges if (id(text) >> 4) % 64 in small_at)
    small = small_at[(id(large) >> 4) % 64]
    made = []

    class Naming(Producer):
        def __del__(self):
            usmx.empty(1, large, usm_type="shared")
            made.append("named another")

    def work():
        for _ in range(3):
            usmx.empty(1000, small, usm_type="shared")  # known from now on, and a block is free
        a = usmx.asarray(Naming(memory(), shape=(16,), typestr="<f4"))
        running = SPIN[1](a, 30_000_000)
        del a  # put aside behind the kernel
        while not running.is_done:
            time.sleep(0.01)
        # Ends it without the GIL, so that its destructor waits for the next allocation. The main
        # thread, which would run it, is in join().
        usmx._usmx._Testing.collect()
        x = usmx.empty(1000, small, usm_type="shared")
        made.append((x.dtype, x.nbytes))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join(60)
    assert made == ["named another", (np.int8, 1000)]


def test_a_type_whose_place_is_taken_by_its_own_end_is_right():
    class Meta(type):
        def __del__(cls):
            usmx.empty(1, "complex128")

    for _ in range(50):
        for name in ("int8", "float32", "int16"):
            assert usmx.empty(3, name).dtype == np.dtype(name)
        Meta("T", (), {})
        gc.collect()


def test_bins_that_change_while_they_are_read_are_read_as_they_were():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return self.n

        def __index__(self):
            bins.clear()
            for i in range(50):
                bins[i] = [i] * 1000
            gc.collect()
            return self.n

    upstream = usmx.memory.UsmResource("shared")
    bins = {Key(64 << i): usmx.memory.PoolResource(upstream) for i in range(6)}
    resource = usmx.memory.BinningResource(upstream, bins)
    assert resource.allocate(100).nbytes == 100


def test_a_list_that_contains_itself_is_no_index_and_no_shape():
    endless = []
    endless.append(endless)
    a = usmx.zeros(3)
    for use in (lambda: a[endless], lambda: usmx.zeros(endless), lambda: usmx.dtype(endless)):
        with pytest.raises((TypeError, IndexError)):
            use()


def test_a_host_without_enough_memory_is_said_in_words_of_ours():
    repeated = usmx.broadcast_to(usmx.zeros(1, "f8"), (2**44,))
    with pytest.raises(MemoryError, match=r"^the host has not enough memory$"):
        3 in repeated  # noqa: B015


def test_one_using_object_serves_many_threads():
    resource = usmx.memory.PoolResource(usmx.memory.UsmResource("shared"))
    using = usmx.memory.using(resource)
    wrong = []

    def work():
        for _ in range(300):
            with using as inside:
                if usmx.memory.get_resource(kind="shared") != inside:
                    wrong.append("another resource")
                usmx.empty(10, "int8", usm_type="shared")
            if usmx.memory.get_resource(kind="shared") == resource:
                wrong.append("still inside")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert wrong == []
    assert not any(t.is_alive() for t in threads)


def test_a_block_of_using_can_be_left_on_its_own_thread_only():
    using = usmx.memory.using(usmx.memory.get_resource(kind="host"))
    using.__enter__()
    errors = []

    def leave():
        try:
            using.__exit__(None, None, None)
        except RuntimeError as error:
            errors.append(str(error))

    t = threading.Thread(target=leave)
    t.start()
    t.join(60)
    using.__exit__(None, None, None)
    assert len(errors) == 1
    assert "another thread" in errors[0]
    with pytest.raises(RuntimeError, match="not entered"):
        using.__exit__(None, None, None)


@pytest.mark.parametrize("kernel", [RAW, twice, ADD, SUM, usmx.zeros(3).flags])
def test_what_has_no_index_is_not_iterated(kernel):
    with pytest.raises(TypeError):
        3 in kernel  # noqa: B015
    with pytest.raises(TypeError):
        iter(kernel)
    with pytest.raises(TypeError):
        len(kernel)


def test_staging_limits_in_an_array_are_read_as_numbers_or_refused():
    with pytest.raises(TypeError, match="index"):
        usmx._usmx._Testing.set_staging(usmx.zeros(3))


@pytest.mark.parametrize("limits", ["abc", 3, (1, 2), (1, 2, "3"), object()])
def test_staging_limits_of_another_type_are_refused(limits):
    with pytest.raises(TypeError, match="limits"):
        usmx._usmx._Testing.set_staging(limits)


def test_the_size_of_a_memory_counts_the_bytes_that_it_owns():
    small = usmx.memory.MemoryUSMShared(0)
    large = usmx.memory.MemoryUSMShared(1 << 20)
    assert sys.getsizeof(large) - sys.getsizeof(small) == 1 << 20
    assert sys.getsizeof(large[:]) < 1000
    assert sys.getsizeof(usmx.memory.as_usm_memory(Producer(large))) < 1000
    large.free()
    assert sys.getsizeof(large) < 1000


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ((ctypes.c_float * 4)(1, 2, 3, 4), np.array([1, 2, 3, 4], "f4")),
        (((ctypes.c_int16 * 3) * 2)((1, 2, 3), (4, 5, 6)), np.array([[1, 2, 3], [4, 5, 6]], "i2")),
        ((ctypes.c_double * 0)(), np.zeros(0)),
        (ctypes.c_int32(7), np.int32(7)),
    ],
    ids=["one axis", "two axes", "no elements", "a number"],
)
def test_a_ctypes_array_is_read_as_any_buffer(made, expected):
    a = usmx.asarray(made)
    assert a.dtype == expected.dtype
    np.testing.assert_array_equal(a.to_numpy(), expected)
    usmx.copy(a, made)
    usmx.copy(made, a)
    np.testing.assert_array_equal(np.ctypeslib.as_array(made), expected)
    m = usmx.memory.MemoryUSMShared(max(expected.nbytes, 1))
    m.copy_from_host(made)
    assert bytes(m)[: expected.nbytes] == expected.tobytes()
