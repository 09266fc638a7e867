# NumPy's arrays from our pools: what is computed inside of a block of `usmx.numpy_memory` is USM,
# for as long as it lives, and everything else stays NumPy's.
# SPDX-License-Identifier: Apache-2.0
import asyncio
import gc
import threading
import weakref

import numpy as np
import pytest
from backend_row import needs
from numpy._core.multiarray import get_handler_name

import usmx
import usmx.memory as um

DOUBLE = usmx.RawKernel("USMX_KERNEL(1) f(int* x) { x[usmx::global_id()] *= 2; }", "f")


@pytest.fixture(params=["shared", "host"])
def host_kind(request):
    return request.param


def address(a):
    return a.__array_interface__["data"][0]


def test_what_numpy_computes_in_the_block_is_usm(host_kind):
    with usmx.numpy_memory(host_kind):
        a = np.arange(6, dtype="int32").reshape(2, 3) + 1
    with usmx.trace() as record:
        for copy in (None, False):
            x = usmx.asarray(a, copy=copy)
            assert x.usm_type == host_kind
            assert x.pointer == address(a)
    assert not record.copies

    DOUBLE[6](x).wait()
    assert a.tolist() == [[2, 4, 6], [8, 10, 12]]
    a[0, 0] = 50
    assert x[0, 0].item() == 50


def test_views_of_such_arrays_are_usm(host_kind):
    with usmx.numpy_memory(host_kind):
        a = np.arange(24, dtype="int32").reshape(4, 6).copy()
    for view in (a[1:, ::2], a.T, a[::-1], a.view("u1"), memoryview(a), a.ravel()[3:]):
        x = usmx.asarray(view, copy=False)
        assert x.usm_type == host_kind
        assert x.pointer == address(np.asarray(view))
        assert np.array_equal(x.to_numpy(), view)


def test_kernels_and_dpnp_take_them_without_a_copy():
    import dpnp
    import dpnp.tensor as dpt

    with usmx.numpy_memory():
        a = np.ones(100, "int32")
    with usmx.trace() as record:
        DOUBLE[100](a).wait()
        theirs = dpnp.asarray(dpt.asarray(usmx.asarray(a)))
    assert not record.copies
    theirs += 1
    theirs.sycl_queue.wait()
    assert (a == 3).all()


def test_arrays_outlive_the_block_and_their_memory_goes_back(host_kind):
    counted = um.StatisticsResource(um.get_resource(kind=host_kind))
    with um.using(counted):
        with usmx.numpy_memory(host_kind):
            a = np.full(1000, 7, "int32")
            assert counted.stats()["blocks"] == 1
        x = usmx.asarray(a, copy=False)[10:]
        gone = weakref.ref(a)
        del a
        gc.collect()
        assert gone() is not None
        assert (x.to_numpy() == 7).all()
        del x
        gc.collect()
        assert gone() is None
    assert counted.stats()["blocks"] == 0


def test_memory_of_a_running_kernel_is_not_reused():
    with usmx.numpy_memory():
        for _ in range(20):
            a = np.ones(1 << 18, "int32")
            x = usmx.asarray(a)
            y = x.copy()
            for _ in range(5):
                DOUBLE[x.size](x)
            usmx.copy_async(y, x)
            del a, x
            np.zeros(1 << 18, "int32")
            assert (y.to_numpy() == 32).all()


def test_outside_of_the_block_numpy_allocates_as_ever():
    before = get_handler_name()
    with usmx.numpy_memory() as block:
        assert get_handler_name() == "usmx shared"
        assert isinstance(block, usmx.numpy_memory)
    assert get_handler_name() == before
    a = np.arange(4)
    assert usmx.asarray(a).usm_type == "device"
    with pytest.raises(KeyError), usmx.numpy_memory():
        raise KeyError
    assert get_handler_name() == before


def test_of_nested_blocks_the_innermost_counts():
    outer, inner = usmx.numpy_memory("shared"), usmx.numpy_memory("host")
    with outer:
        with inner:
            with outer:
                assert usmx.asarray(np.ones(3)).usm_type == "shared"
            assert usmx.asarray(np.ones(3)).usm_type == "host"
        assert usmx.asarray(np.ones(3)).usm_type == "shared"


def test_other_threads_are_left_alone_and_may_free():
    seen = {}
    with usmx.numpy_memory():
        box = [np.arange(1000)]

        def work():
            seen["handler"] = get_handler_name()
            box.clear()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen["handler"] == "default_allocator"
    assert not box


def test_leaving_on_another_thread_is_an_error():
    block = usmx.numpy_memory()
    block.__enter__()
    errors = []

    def leave():
        try:
            block.__exit__(None, None, None)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    assert "another thread" in errors[0]
    with pytest.raises(RuntimeError, match="not entered"):
        block.__exit__(None, None, None)


def test_tasks_have_blocks_of_their_own():
    names = {}
    shared = usmx.numpy_memory("host")

    async def task(name, use):
        if use:
            with shared:
                await asyncio.sleep(0)
                names[name] = get_handler_name(np.ones(2))
                await asyncio.sleep(0)
        else:
            await asyncio.sleep(0)
            names[name] = get_handler_name(np.ones(2))

    async def main():
        await asyncio.gather(task("a", True), task("b", False), task("c", True))

    asyncio.run(main())
    assert names == {"a": "usmx host", "b": "default_allocator", "c": "usmx host"}


@needs("host_memory")
def test_growing_and_shrinking_keeps_the_elements(host_kind):
    with usmx.numpy_memory(host_kind):
        a = np.arange(5, dtype="int32")
        for length in (100, 3, 50_000, 0, 4):
            kept = a[: min(length, a.size)].tolist()
            a.resize(length, refcheck=False)
            assert a[: len(kept)].tolist() == kept
            assert usmx.asarray(a, copy=False).pointer in (address(a), 0)
        b = np.fromiter(iter(range(10_000)), "int64")  # grows by realloc
        assert b.tolist() == list(range(10_000))
        assert usmx.asarray(b).usm_type == host_kind


def test_zeros_are_zeros_in_memory_that_was_used():
    with usmx.numpy_memory():
        for n in (1, 100, 10_000, 1_000_000):
            for _ in range(3):
                np.full(n, 255, "u1").sum()
                assert not np.zeros(n, "u1").any()


def test_elements_are_aligned_to_a_cache_line():
    with usmx.numpy_memory():
        arrays = [np.empty(n, "u1") for n in (*range(200), 4095, 4096, 1 << 20)]
    assert {address(a) % 64 for a in arrays} == {0}


def test_objects_and_records_live_there():
    thing = object()
    with usmx.numpy_memory():
        a = np.array([thing] * 10 + [None])
        record = np.zeros(5, [("x", "f4"), ("y", "i8")])
    del a
    gc.collect()
    assert usmx.asarray(record, copy=False).usm_type == "shared"
    empty = np.empty((0, 3), "f4")
    assert usmx.asarray(empty).shape == (0, 3)


def test_no_memory_is_a_memory_error_of_numpy():
    few = um.LimitingResource(um.get_resource(kind="shared"), 10_000)
    with um.using(few), usmx.numpy_memory():
        kept = np.ones(1000)
        with pytest.raises(MemoryError):
            np.ones(1000)
        with pytest.raises(MemoryError):
            np.empty(1 << 62, "u1")
        assert kept.sum() == 1000
        with pytest.raises(MemoryError):
            kept.resize(2000, refcheck=False)
        assert kept.sum() == 1000


def test_the_queue_of_the_block_is_that_of_the_arrays():
    queue = usmx.Queue(usmx.Context([usmx.Device()]), in_order=True)
    with usmx.numpy_memory(queue=queue):
        a = np.arange(10, dtype="int32")
    x = usmx.asarray(a[2:], copy=False)
    assert x.queue == queue
    assert x.usm_type == "shared"
    DOUBLE[8](x).wait()
    assert a.tolist() == [0, 1, 4, 6, 8, 10, 12, 14, 16, 18]


@pytest.mark.parametrize("kind", ["device", "nothing", 3])
def test_other_kinds_are_refused(kind):
    with pytest.raises((ValueError, TypeError), match=r"kind|usm_type"):
        usmx.numpy_memory(kind)


def test_threads_that_allocate_and_free_leave_nothing_behind():
    counted = um.StatisticsResource(um.get_resource(kind="shared"))
    box = [None] * 16
    wrong = []

    def work(seed):
        choose = np.random.default_rng(seed)
        try:
            with um.using(counted), usmx.numpy_memory():
                for _ in range(500):
                    n = int(choose.integers(1, 5000))
                    k = int(choose.integers(16))
                    a = np.full(n, seed, "int64")
                    box[k] = a
                    if k % 4 == 0:
                        assert usmx.asarray(a, copy=False).pointer == address(a)
                    assert (a == seed).all()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong[0]
    box.clear()
    gc.collect()
    assert counted.stats()["total_blocks"] >= 3000
    assert counted.stats()["blocks"] == 0


@needs("fork")
def test_a_child_of_fork_computes_with_numpy(run_python):
    code = """
    import os, signal, numpy as np, usmx
    block = usmx.numpy_memory()
    block.__enter__()
    a = np.arange(1000.0)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        b = np.ones(1_000_000) + 1
        right = b.sum() == 2_000_000 and a.sum() == 499_500
        del a, b
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert usmx.asarray(a, copy=False).usm_type == "shared"
    """
    run_python(code)


def test_a_process_that_ends_inside_the_block_ends_well(run_python):
    code = """
    import numpy as np, usmx
    usmx.numpy_memory().__enter__()
    a = np.arange(1000.0)
    x = usmx.asarray(a)
    import builtins
    builtins.kept = a, np.ones(5)
    class Late:
        def __del__(self, a=a, empty=np.empty): empty(10)[0] = a[0]
    late = Late(); late.me = late
    """
    result = run_python(code)
    assert result.stderr == ""
