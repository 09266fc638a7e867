"""Memory resources can be built, selected and inspected from Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backend_row import ROW

import usmx
from usmx import memory as um

KiB, MiB = 1024, 1 << 20


@pytest.fixture
def driver(kind: str) -> um.UsmResource:
    return um.UsmResource(kind)


@pytest.fixture
def pool() -> Iterator[um.PoolResource]:
    """A pool of its own, which the test has to leave without a block."""
    made = um.PoolResource(um.UsmResource("shared"))
    yield made
    gc.collect()
    assert made.stats()["blocks"] == 0


STACKED = {
    "QueueOrderedResource": um.QueueOrderedResource,
    "PoolResource": um.PoolResource,
    "StatisticsResource": um.StatisticsResource,
    "TrackingResource": um.TrackingResource,
    "LimitingResource": lambda up: um.LimitingResource(up, 64 * MiB),
    "BinningResource": lambda up: um.BinningResource(up, {4 * KiB: um.PoolResource(up)}),
    "AlignedResource": lambda up: um.AlignedResource(up, 4096),
    "PrefetchResource": um.PrefetchResource,
    "FailureCallbackResource": lambda up: um.FailureCallbackResource(up, lambda nbytes: False),
    "LoggingResource": lambda up: um.LoggingResource(up, "/dev/null"),
}


@pytest.fixture(params=["UsmResource", *STACKED])
def resource(request: pytest.FixtureRequest, driver: um.UsmResource) -> um.MemoryResource:
    """One of each class, in each kind."""
    if request.param == "UsmResource":
        return driver
    made: um.MemoryResource = STACKED[request.param](driver)
    return made


# --- what all have in common ---------------------------------------------------------------------


def test_every_class_serves_memory_of_its_kind(resource: um.MemoryResource, kind: str) -> None:
    assert resource.kind == kind
    assert resource.device == usmx.Device()
    blocks = []
    for nbytes in (0, 1, 1000, 100 * KiB, 3 * MiB):
        memory = resource.allocate(nbytes, alignment=256)
        assert isinstance(memory, getattr(um, f"MemoryUSM{kind.capitalize()}"))
        assert (memory.nbytes, memory.usm_type) == (nbytes, kind)
        assert memory._pointer % 256 == 0
        memory.memset(nbytes % 251)
        blocks.append((memory, bytes([nbytes % 251]) * nbytes))
    for memory, content in blocks:
        assert memory.tobytes() == content
        resource.deallocate(memory)
        assert memory.freed


def test_every_class_serves_by_default_where_it_is_used(
    resource: um.MemoryResource, kind: str
) -> None:
    counted = um.StatisticsResource(resource)
    with um.using(counted) as used:
        assert used == counted
        memory = getattr(um, f"MemoryUSM{kind.capitalize()}")(100)
        array = usmx.zeros(25, "int64", usm_type=kind)
    assert counted.stats()["blocks"] == 2
    assert counted.stats()["bytes"] == 300
    assert array.to_numpy().tolist() == [0] * 25
    del memory, array
    assert counted.stats()["blocks"] == 0


def test_a_resource_is_known_again_with_its_class(resource: um.MemoryResource, kind: str) -> None:
    with um.using(resource):
        found = um.get_resource(kind=kind)
    assert found == resource
    assert hash(found) == hash(resource)
    assert type(found) is type(resource)
    assert found != um.UsmResource(kind)
    assert found != "a resource"
    assert repr(found) == f"<usmx.memory.{type(resource).__name__}: {kind} USM on {ROW.device}>"
    upstream = found.upstream
    assert (upstream is None) == isinstance(found, um.UsmResource)
    assert upstream is None or isinstance(upstream, um.UsmResource)


def test_memory_outlives_its_resource(resource: um.MemoryResource) -> None:
    memory = resource.allocate(1000)
    memory.memset(3)
    del resource
    gc.collect()
    assert memory.tobytes() == b"\3" * 1000


def test_a_resource_of_another_context_takes_its_own_queue() -> None:
    context = usmx.Context(usmx.Queue(usmx.Context([usmx.Device()])))
    queue = usmx.Queue(context)
    resource = um.PoolResource(um.UsmResource("host", queue))
    assert resource.context == context
    assert resource.allocate(10).context == context
    with pytest.raises(ValueError, match="queue: its context is not that"):
        resource.allocate(10, queue=usmx.Queue(usmx.Context([usmx.Device()])))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: um.PoolResource(None), TypeError, "upstream: None"),
        (lambda: um.StatisticsResource(5), TypeError, "upstream: 5"),
        (lambda: um.set_resource(None), TypeError, "resource: None"),
        (lambda: um.set_resource(um.UsmResource), TypeError, "resource: "),
        (lambda: um.using("pool"), TypeError, "resource: 'pool'"),
        (lambda: um.UsmResource("fast"), ValueError, "usm_type: 'fast'"),
        (lambda: um.UsmResource("shared", 7), TypeError, "queue: "),
        (lambda: um.UsmResource().allocate(-1), ValueError, "nbytes: -1 is negative"),
        (lambda: um.UsmResource().allocate("1"), TypeError, "nbytes: '1'"),
        (lambda: um.UsmResource().allocate(1, alignment=3), ValueError, "alignment: 3"),
        (lambda: um.UsmResource().deallocate(b""), TypeError, "memory: b''"),
        (lambda: um.PoolResource(um.UsmResource(), most=-1), ValueError, "most: -1"),
        (lambda: um.AlignedResource(um.UsmResource(), 3), ValueError, "least: 3|alignment: 3|3 is"),
        (lambda: um.BinningResource(um.UsmResource(), [1]), TypeError, "bins: "),
        (lambda: um.BinningResource(um.UsmResource(), {1: 2}), TypeError, "bins: 2"),
        (
            lambda: um.BinningResource(um.UsmResource(), {1: um.UsmResource("host")}),
            ValueError,
            "bin",
        ),
        (lambda: um.FailureCallbackResource(um.UsmResource(), 1), TypeError, "callback: 1"),
        (um.MemoryResource, TypeError, "constructor"),
        (lambda: um.get_resource(kind=b"host"), TypeError, "usm_type: "),
    ],
)
def test_errors_name_the_argument(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# --- choosing ------------------------------------------------------------------------------------


def test_set_resource_serves_all_threads_and_returns_what_served() -> None:
    before = um.get_resource(kind="host")
    counted = um.StatisticsResource(before)
    assert um.set_resource(counted) == before
    try:
        blocks: list[object] = [um.MemoryUSMHost(10)]
        thread = threading.Thread(target=lambda: blocks.append(um.MemoryUSMHost(20)))
        thread.start()
        thread.join()
        assert counted.stats()["bytes"] == 30
        um.MemoryUSMShared(10)
        assert counted.stats()["total_blocks"] == 2
    finally:
        assert um.set_resource(before) == counted
    assert um.get_resource(kind="host") == before
    blocks.clear()
    assert counted.stats()["bytes"] == 0


def test_blocks_of_use_lie_in_each_other_and_survive_exceptions() -> None:
    usual = um.get_resource()
    first, second = um.StatisticsResource(usual), um.StatisticsResource(usual)
    block = um.using(first)

    def fail_inside() -> None:
        with um.using(second):
            assert um.get_resource() == second
            raise KeyError

    with block:
        assert um.get_resource() == first
        with pytest.raises(KeyError):
            fail_inside()
        assert um.get_resource() == first
        with block, um.using(usual):
            assert um.get_resource() == usual
        assert um.get_resource() == first
    assert um.get_resource() == usual


def test_a_block_of_use_leaves_other_threads_alone() -> None:
    counted = um.StatisticsResource(um.get_resource())
    with um.using(counted):
        thread = threading.Thread(target=um.MemoryUSMDevice, args=(10,))
        thread.start()
        thread.join()
        assert counted.stats()["total_blocks"] == 0
        um.MemoryUSMDevice(10)
        assert counted.stats()["total_blocks"] == 1


def test_a_block_cannot_be_left_on_another_thread() -> None:
    block = um.using(um.get_resource())
    raised: list[Exception] = []

    def leave() -> None:
        try:
            block.__exit__(None, None, None)
        except RuntimeError as error:
            raised.append(error)

    with block:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert "another thread" in str(raised[0])
    with pytest.raises(RuntimeError, match="not entered"):
        block.__exit__(None, None, None)


def test_all_ways_to_make_memory_draw_from_what_is_used(queue: usmx.Queue) -> None:
    counted = um.StatisticsResource(um.UsmResource("shared"))
    makers = [
        lambda: um.MemoryUSMShared(64),
        lambda: um.MemoryUSMShared(64, queue=queue),
        lambda: um.MemoryUSMShared(64, alignment=128),
        lambda: usmx.empty(8, "f8", usm_type="shared"),
        lambda: usmx.empty((2, 4), dtype="f8", usm_type="shared", queue=queue),
        lambda: usmx.ndarray(8, "f8", "shared"),
        lambda: usmx.asarray([0.0] * 8, usm_type="shared"),
        lambda: usmx.arange(8, usm_type="shared"),
    ]
    for make in makers:
        make()  # drops earlier lines
    with um.using(counted):
        for number, make in enumerate(makers, 1):
            make()
            assert counted.stats()["total_blocks"] == number
    assert counted.stats()["total_bytes"] == 64 * len(makers)


# --- the classes ---------------------------------------------------------------------------------


def test_a_pool_holds_what_came_back_until_it_is_trimmed(pool: um.PoolResource) -> None:
    assert pool.stats() == {"used": 0, "blocks": 0, "held": 0, "chunks": 0, "peak": 0}
    memory = pool.allocate(1000)
    small = pool.stats()
    assert (small["used"], small["blocks"], small["chunks"]) == (1000, 1, 1)
    address = memory._pointer
    del memory
    assert pool.allocate(1000)._pointer == address
    assert pool.stats()["held"] == small["held"] > 0
    pool.reserve(8 * MiB)
    assert pool.stats()["held"] >= 8 * MiB
    held = pool.stats()["held"]
    assert pool.trim(keep=held) == 0
    assert pool.trim() == held
    assert pool.stats()["held"] == 0
    assert pool.stats()["peak"] == held


def test_a_pool_keeps_to_its_limits() -> None:
    pool = um.PoolResource(um.UsmResource(), most=8 * MiB, release_above=0)
    assert (pool.most, pool.release_above) == (8 * MiB, 0)
    with pytest.raises(um.AllocationError, match=r"the pool holds .* may hold 8388608 bytes"):
        pool.allocate(9 * MiB)
    with pytest.raises(MemoryError):
        pool.reserve(9 * MiB)
    memory = pool.allocate(5 * MiB)
    del memory
    assert pool.stats()["held"] == 0
    unlimited = um.PoolResource(um.UsmResource())
    assert (unlimited.most, unlimited.release_above) == (None, None)


def test_statistics_count_what_is_alive_and_what_ever_was() -> None:
    counted = um.StatisticsResource(um.LimitingResource(um.UsmResource(), 100))
    blocks = [counted.allocate(30) for _ in range(3)]
    with pytest.raises(MemoryError):
        counted.allocate(30)
    del blocks[1:]
    assert counted.stats() == {
        "bytes": 30,
        "peak_bytes": 90,
        "total_bytes": 90,
        "blocks": 1,
        "peak_blocks": 3,
        "total_blocks": 3,
        "failures": 1,
    }
    counted.reset_peaks()
    assert counted.stats()["peak_bytes"] == 30


def test_a_limit_counts_what_is_alive() -> None:
    limited = um.LimitingResource(um.UsmResource(), 100)
    memory = limited.allocate(60)
    assert (limited.most, limited.used) == (100, 60)
    with pytest.raises(um.AllocationError, match="100 bytes"):
        limited.allocate(41)
    del memory
    assert limited.used == 0
    limited.allocate(100)


def test_bins_serve_their_sizes() -> None:
    small, middle, large = (um.StatisticsResource(um.UsmResource()) for _ in range(3))
    resource = um.BinningResource(large, {1000: small, 2000: middle})
    for nbytes in (1, 1000, 1001, 2001):
        resource.allocate(nbytes)
    totals = [r.stats()["total_bytes"] for r in (small, middle, large)]
    assert totals == [1001, 1001, 2001]


def test_alignment_begins_at_a_size() -> None:
    resource = um.AlignedResource(um.UsmResource(), 2 * MiB, 4096)
    assert resource.allocate(4096)._pointer % (2 * MiB) == 0


def test_tracking_names_the_line_that_asked(pool: um.PoolResource) -> None:
    tracked = um.TrackingResource(pool)
    with um.using(tracked):
        um.MemoryUSMShared(5)
        kept = somebody_who_allocates()
        line = somebody_who_allocates.__code__.co_firstlineno + 1
    (block,) = tracked.alive()
    assert block["nbytes"] == 1234
    assert block["number"] == 2
    assert block["pointer"] == kept._pointer
    first = block["stack"].splitlines()[0]
    assert first == f"    {__file__}:{line} in somebody_who_allocates"
    report = tracked.report()
    assert report.startswith("1 blocks of shared USM are alive, 1234 bytes")
    assert f"{__file__}:{line} in somebody_who_allocates\n" in report
    del kept
    assert tracked.alive() == []


def somebody_who_allocates() -> um.MemoryUSMShared:
    return um.MemoryUSMShared(1234)


def test_a_log_has_a_line_for_each_request(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    log = um.LoggingResource(um.LimitingResource(um.UsmResource(), 1000), path)
    memory = log.allocate(10, alignment=128)
    address = memory._pointer
    with pytest.raises(MemoryError):
        log.allocate(991)
    del memory
    log.flush()
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["action"] for row in rows] == ["allocate", "fail", "deallocate"]
    assert [int(row["bytes"]) for row in rows] == [10, 991, 10]
    assert int(rows[0]["pointer"], 16) == int(rows[2]["pointer"], 16) == address
    assert rows[0]["alignment"] == "128"


def test_a_log_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="path: cannot write"):
        um.LoggingResource(um.UsmResource(), tmp_path / "nowhere" / "log.csv")
    log = um.LoggingResource(um.UsmResource(), "/dev/full")
    log.allocate(1)
    with pytest.raises(OSError, match="No space left"):
        log.flush()


def test_prefetched_memory_is_ready_to_use(queue: usmx.Queue) -> None:
    resource = um.PrefetchResource(um.UsmResource("shared"), queue)
    for _ in range(20):
        memory = resource.allocate(64 * KiB)
        memory.memset(7)
        assert memory.tobytes() == b"\7" * (64 * KiB)


# --- looking -------------------------------------------------------------------------------------


def test_stats_have_a_row_for_each_kind(kind: str) -> None:
    counted = um.StatisticsResource(um.PoolResource(um.UsmResource(kind)))
    before = um.set_resource(counted)
    try:
        memory = getattr(um, f"MemoryUSM{kind.capitalize()}")(3 * MiB)
        (row,) = (r for r in um.stats() if r.resource == counted)
        assert row.device.startswith(f"{ROW.device} (")
        assert (row.kind, row.used, row.blocks, row.peak) == (kind, 3 * MiB, 1, 3 * MiB)
        assert row.held is not None
        assert row.held >= 3 * MiB
        assert row.cached == row.held - 3 * MiB
        stats = um.stats()
        assert stats.used >= 3 * MiB
        assert stats.held >= row.held
        assert "3.0 MiB" in repr(stats)
        assert repr(stats).splitlines()[0].split() == [
            *("device", "kind", "used", "blocks", "peak", "held", "cached")
        ]
        assert "<td>3.0 MiB</td>" in stats._repr_html_()
        del memory
        assert um.trim() >= 3 * MiB
        (row,) = (r for r in um.stats() if r.resource == counted)
        assert (row.used, row.held, row.cached) == (0, 0, 0)
    finally:
        um.set_resource(before if before is not None else um.UsmResource(kind))


def test_stats_say_nothing_of_what_nobody_counts() -> None:
    context = usmx.Context([usmx.Device()])
    direct = um.UsmResource("host", usmx.Queue(context))
    um.set_resource(direct)
    (row,) = (r for r in um.stats() if r.resource == direct)
    assert (row.used, row.blocks, row.held, row.peak, row.cached) == (None,) * 5
    assert "-" in repr(um.stats())


# --- many ----------------------------------------------------------------------------------------


def test_references_are_constant(pool: um.PoolResource) -> None:
    counted = um.StatisticsResource(pool)

    def use() -> None:
        with um.using(counted):
            um.MemoryUSMShared(100)
            usmx.empty(10, "f4", usm_type="shared")
            um.get_resource(kind="shared")
        with pytest.raises(TypeError):
            um.using(3)
        counted.allocate(10)
        um.stats()

    use()
    watched = [counted, pool, type(counted), um.MemoryUSMShared, usmx.ndarray]
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(200):
        use()
    assert [sys.getrefcount(o) for o in watched] == before
    assert counted.stats()["blocks"] == 0


def test_a_limit_speaks_for_itself():
    limited = um.LimitingResource(um.UsmResource("device"), 100)
    with pytest.raises(usmx.AllocationError) as raised:
        limited.allocate(1000)
    assert str(raised.value).endswith("; the limit is 100 bytes, of which 0 bytes are in use")
    assert "the runtime says" not in str(raised.value)


# --- a resource that asks Python what to free: on the right thread, with its errors ---------------

MiB = 1 << 20


def test_a_callback_may_free_and_then_the_request_succeeds() -> None:
    limited = um.LimitingResource(um.UsmResource(), 1000)
    cache: list[Any] = []
    asked: list[tuple[int, int]] = []

    def free_something(nbytes: int) -> bool:
        asked.append((nbytes, threading.get_ident()))
        if not cache:
            return False
        cache.pop()
        return True

    resource = um.FailureCallbackResource(limited, free_something)
    cache += [resource.allocate(300) for _ in range(3)]
    memory = resource.allocate(500)
    assert asked == [(500, threading.get_ident())] * 2
    assert (len(cache), limited.used) == (1, 800)
    with pytest.raises(um.AllocationError, match="1000 bytes"):
        resource.allocate(5000)
    assert cache == []
    del memory


@pytest.mark.parametrize("over", [lambda r: r, um.PoolResource, um.StatisticsResource])
def test_what_a_callback_raises_is_the_cause(over: Any) -> None:
    def fail(nbytes: int) -> bool:
        raise KeyError(f"no {nbytes}")

    resource = over(um.FailureCallbackResource(um.LimitingResource(um.UsmResource(), 10), fail))
    with pytest.raises(um.AllocationError, match="raised KeyError") as caught:
        resource.allocate(5 * MiB)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "fail"


def test_a_callback_runs_on_the_thread_that_asks_while_others_go_on() -> None:
    threads: list[int] = []
    entered, leave = threading.Event(), threading.Event()

    def wait(nbytes: int) -> bool:
        threads.append(threading.get_ident())
        entered.set()
        assert leave.wait(60)
        return False

    resource = um.FailureCallbackResource(um.LimitingResource(um.UsmResource(), 10), wait)
    failures: list[Exception] = []

    def ask() -> None:
        try:
            resource.allocate(11)
        except MemoryError as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert entered.wait(60)
    assert resource.allocate(5).nbytes == 5  # no lock is held meanwhile
    leave.set()
    thread.join()
    assert threads == [thread.ident]
    assert len(failures) == 1


def test_an_answer_that_has_no_truth_is_the_cause() -> None:
    class Neither:
        def __bool__(self) -> bool:
            raise ArithmeticError

    resource = um.FailureCallbackResource(
        um.LimitingResource(um.UsmResource(), 10), lambda nbytes: Neither()
    )
    with pytest.raises(um.AllocationError) as caught:
        resource.allocate(11)
    assert isinstance(caught.value.__cause__, ArithmeticError)


def test_the_callback_lives_as_long_as_its_resource() -> None:
    class Callback:
        def __call__(self, nbytes: int) -> bool:
            return False

    callback = Callback()
    alive = weakref.ref(callback)
    resource = um.FailureCallbackResource(um.UsmResource(), callback)
    memory = resource.allocate(10)
    del callback, resource
    gc.collect()
    assert alive() is not None
    del memory
    gc.collect()
    um.MemoryUSMShared(1)  # what could not be dropped without the GIL is dropped now
    assert alive() is None
