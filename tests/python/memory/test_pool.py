"""Default memory comes from queue-ordered pools, whose blocks are as safe as allocations."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dpctl
import dpctl.memory
import dpnp.tensor as dpt
import pytest
from backend_row import needs
from gate import Gate
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import usmx
from usmx import _usmx
from usmx import memory as um

# --- in flight, and at their edges ----------------------------------------------------------------

N = 64 << 10
CLASSES = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}


@pytest.fixture
def own_queue() -> Iterator[usmx.Queue]:
    """An in-order queue of this test alone; nothing of it is left waiting."""
    yield usmx.Queue(dpctl.SyclQueue(property="in_order"))
    _usmx._Testing.drain()
    assert _usmx._Testing.collect() == 0


@pytest.fixture
def pool(kind: str, own_queue: usmx.Queue) -> Iterator[um.PoolResource]:
    """What serves while the test runs, with one chunk that is large enough for all it asks for."""
    made = um.PoolResource(um.UsmResource(kind, own_queue))
    made.reserve(32 * N)
    with um.using(made):
        yield made
    _usmx._Testing.drain()
    gc.collect()
    assert made.stats()["blocks"] == 0


@pytest.mark.parametrize("kind", ["device", pytest.param("shared", marks=needs("limits")), "host"])
def test_what_the_driver_does_not_have_cannot_be_reserved(kind: str) -> None:
    # The driver gives no cause, which must not look like success.
    pool = um.PoolResource(um.UsmResource(kind))
    with pytest.raises(usmx.AllocationError, match="cannot allocate 1099511627776 bytes"):
        pool.reserve(2**40)
    assert pool.stats()["held"] == 0


# --- commands that still run ---------------------------------------------------------------------


def copied_by_dpctl(ours: Any, result: Any, queue: Any) -> None:
    seen = dpctl.memory.as_usm_memory(ours)
    queue.memcpy_async(result, seen, N)


def computed_by_dpnp(ours: Any, result: Any, queue: Any) -> None:
    seen = dpt.usm_ndarray(N, "u1", buffer=dpctl.memory.as_usm_memory(ours))
    into = dpt.usm_ndarray(N, "u1", buffer=result)
    dpt.add(seen, dpt.zeros(N, dtype="u1", sycl_queue=queue), out=into)


def computed_by_usmx(ours: Any, result: Any, queue: Any) -> None:
    carry = usmx.RawKernel(
        """
        USMX_KERNEL(1) carry(const uint8_t* from, uint8_t* to) {
          auto i = usmx::global_id();
          to[i] = from[i];
        }
        """,
        "carry",
    )
    carry[N](ours, result, queue=usmx.Queue(queue))


@pytest.mark.parametrize("compute", [copied_by_dpctl, computed_by_dpnp, computed_by_usmx])
def test_a_block_comes_back_only_after_the_commands_of_others(
    kind: str,
    compute: Callable[[Any, Any, Any], None],
    own_queue: usmx.Queue,
    pool: um.PoolResource,
) -> None:
    theirs = dpctl.SyclQueue(own_queue._get_capsule())
    result = dpctl.memory.MemoryUSMDevice(N, queue=theirs)
    result.memset(0)
    ours = CLASSES[kind](N, queue=own_queue)
    ours.memset(7)
    address = address_of(ours)
    compute(ours, result, theirs)  # compiles everything
    own_queue.wait()
    result.memset(0)
    others = [CLASSES[kind](N) for _ in range(8)]
    with Gate(own_queue) as gate:
        compute(ours, result, theirs)
        del ours
        gc.collect()
        assert pool.stats()["blocks"] == len(others) + 1
        for _ in range(8):
            others.append(CLASSES[kind](N))
            assert address_of(others[-1]) != address
        gate.open()
        own_queue.wait()
    assert result.tobytes() == b"\7" * N
    _usmx._Testing.drain()
    # Now it does: this is what would have happened before.
    others += [CLASSES[kind](N) for _ in range(15)]
    assert address in [address_of(memory) for memory in others]


def test_a_block_that_never_left_comes_back_at_once(
    kind: str, own_queue: usmx.Queue, pool: um.PoolResource
) -> None:
    with Gate(own_queue):
        memory = CLASSES[kind](N, queue=own_queue)
        del memory
        assert pool.stats()["blocks"] == 0


# --- edges ---------------------------------------------------------------------------------------


class Described:
    """Memory as a foreign library describes it."""

    def __init__(self, memory: Any, **fields: Any) -> None:
        self.memory = memory
        self.__sycl_usm_array_interface__ = {**memory.__sycl_usm_array_interface__, **fields}


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": (1001,)},
        {"shape": (1,), "offset": 1000},
        {"shape": (1,), "offset": -1},
        {"shape": (2,), "strides": (1000,)},
        {"shape": (126,), "typestr": "<i8"},
    ],
)
def test_who_leaves_a_block_is_refused_though_the_driver_would_not(
    fields: dict[str, Any], pool: um.PoolResource
) -> None:
    block = pool.allocate(1000)
    assert pool.stats()["held"] >= 32 * N  # the driver sees one large allocation
    with pytest.raises(usmx.InteropError, match="allocat"):
        usmx.asarray(Described(block, **fields))
    assert usmx.asarray(Described(block, shape=(1000,))).pointer == block._pointer


def test_an_offset_does_not_lead_from_one_block_to_another(pool: um.PoolResource) -> None:
    blocks = [pool.allocate(64) for _ in range(8)]
    addresses = sorted(block._pointer for block in blocks)
    assert addresses[1] - addresses[0] == 64  # side by side, and both alive
    (first,) = (block for block in blocks if block._pointer == addresses[0])
    for fields in ({"offset": 64}, {"offset": 64, "shape": (1,)}):
        with pytest.raises(usmx.InteropError, match="offset"):
            usmx.asarray(Described(first, **fields))
    inside = usmx.asarray(Described(first, offset=63, shape=(64,), strides=(-1,)))
    assert inside.pointer == addresses[0] + 63


def test_a_block_that_went_back_is_no_memory(pool: um.PoolResource) -> None:
    block = pool.allocate(1000)
    described = Described(block)
    block.free()
    with pytest.raises(usmx.InteropError):
        usmx.asarray(described)


def test_out_of_memory_says_everything_once(run_python: Any) -> None:
    code = """
        import pytest, re, usmx, usmx.memory as um
        kept = um.MemoryUSMDevice(1 << 20)
        pool = um.get_resource(kind="device").upstream
        held = pool.stats()["held"]
        with pytest.raises(um.AllocationError) as caught:
            usmx.empty(1 << 41, "uint8")
        text = str(caught.value)
        device = text.split(" on ")[1].split(";")[0]
        assert len(text) - len(device) < 400, text
        for words in ("cannot allocate", "of device USM", device, "free memory", "the pool"):
            assert text.count(words) == 1, (words, text)
        # A failed allocation is not held.
        assert re.findall(r"holds (\\d+) bytes", text) == [str(held)], text
        assert "aligned to" not in text, text
    """
    run_python(code, env={"USMX_POOL": "1"})  # also on the simulated device, which has none


# --- what serves by default ----------------------------------------------------------------------

CHAIN = """
    import usmx.memory as um
    resource = um.get_resource(kind="shared")
    while resource is not None:
        print(type(resource).__name__)
        resource = resource.upstream
"""


@pytest.mark.parametrize("value", [None, "1"])
def test_pools_serve_by_default(run_python: Any, value: str | None) -> None:
    found = run_python(CHAIN, env={"USMX_POOL": value}).stdout.split()
    assert found == ["QueueOrderedResource", "PoolResource", "UsmResource"]


def test_the_environment_turns_pools_off(run_python: Any) -> None:
    assert run_python(CHAIN, env={"USMX_POOL": "0"}).stdout.split() == ["UsmResource"]


def test_a_switch_that_cannot_be_read_is_named(run_python: Any) -> None:
    done = run_python(CHAIN, env={"USMX_POOL": "maybe"}, check=False)
    assert done.returncode == 1
    assert "ValueError: USMX_POOL: 'maybe' is not supported" in done.stderr


def test_out_of_memory_says_who_holds_what(run_python: Any) -> None:
    run_python("""
        import pytest, usmx.memory as um
        kept = [um.MemoryUSMShared(1 << 20), um.MemoryUSMHost(5)]
        with pytest.raises(um.AllocationError) as caught:
            um.MemoryUSMDevice(1 << 41)
        text = str(caught.value)
        assert "cannot allocate 2199023255552 bytes (2.0 TiB) of device USM" in text, text
        assert "the pool of shared USM holds 2.0 MiB, of which 1 blocks use 1.0 MiB" in text, text
        assert "the pool of host USM holds" in text, text
        assert um.MemoryUSMDevice(100).nbytes == 100
    """)


# --- many ----------------------------------------------------------------------------------------


def test_a_hundred_thousand_blocks_take_no_more_than_the_first(
    kind: str, pool: um.PoolResource
) -> None:
    cls = CLASSES[kind]
    held = pool.stats()["held"]
    queue = pool.allocate(1).queue
    for _ in range(25_000):
        cls(1000, queue=queue)
        usmx.empty(100, "f4", usm_type=kind, queue=queue)
        cls(10_000, queue=queue)[5:]
        usmx.empty((3, 4), "u1", usm_type=kind, queue=queue).T  # noqa: B018
    assert pool.stats()["held"] == held


# --- by default -----------------------------------------------------------------------------------

COUNT = """
import usmx.counters
usmx.counters.enable()
import usmx.memory as um
um.MemoryUSMDevice(64)
with usmx.counters.counting() as c:
    live = [um.MemoryUSMDevice(100 + k) for k in range(100)]
    live.clear()
print(c.allocations, c.frees)
"""

SET = "USMX_KERNEL(1) set_to(long* to, long value) { *to = value; }"


def in_order() -> usmx.Queue:
    return usmx.Queue(dpctl.SyclQueue(property="in_order"))


def address_of(memory: object) -> str:
    """As it is shown: who asks for the number itself may compute there, and is waited for."""
    found = re.search("0x[0-9a-f]+", repr(memory))
    assert found is not None
    return found[0]


@pytest.mark.parametrize(("value", "expected"), [(None, "0 0"), ("1", "0 0"), ("0", "100 100")])
def test_the_driver_is_asked_for_each_allocation_only_without_pools(
    run_python, value, expected
) -> None:
    assert run_python(COUNT, env={"USMX_POOL": value}).stdout.strip() == expected


def test_a_value_that_means_nothing_is_refused_by_name(run_python) -> None:
    code = """
    import usmx.memory as um
    try:
        um.MemoryUSMDevice(64)
    except ValueError as error:
        print(error)
    """
    text = run_python(code, env={"USMX_POOL": "yes"}).stdout
    assert "USMX_POOL" in text
    assert "'yes'" in text
    assert "0" in text


def test_memory_that_is_dropped_while_its_queue_is_busy_comes_back_there_at_once(kind: str) -> None:
    queue = in_order()
    other = in_order()
    cls = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}[
        kind
    ]
    set_to = usmx.RawKernel(SET, "set_to")
    result = cls(8, queue=queue)
    set_to[1](result, 0, queue=queue).wait()  # compiled before the gate is closed
    with Gate(queue) as gate:
        first = cls(12_344, queue=queue)
        address = address_of(first)
        set_to[1](first, 7, queue=queue)
        del first
        elsewhere = cls(12_344, queue=other)
        assert address_of(elsewhere) != address
        again = cls(12_344, queue=queue)
        # The host may write to shared and host memory at once, so that has to be idle.
        assert (address_of(again) == address) == (kind == "device")
        set_to[1](again, 8, queue=queue)  # comes after the other
        gate.open()
    result.copy_from_device(again[:8])
    assert int.from_bytes(result.tobytes(), "little") == 8


def test_an_array_that_leaves_its_block_is_refused() -> None:
    memory = um.MemoryUSMShared(1000)
    um.MemoryUSMShared(1000)
    described = dict(memory.__sycl_usm_array_interface__)
    described["shape"] = (1001,)

    class Longer:
        __sycl_usm_array_interface__ = described

    with pytest.raises(usmx.InteropError):
        usmx.asarray(Longer())


def test_a_child_of_fork_ends_while_other_threads_allocate(run_python) -> None:
    code = """
    import os, signal, sys, threading
    import usmx, usmx.memory as um

    kept = um.MemoryUSMShared(1 << 20)
    stop = False

    def busy():
        while not stop:
            um.MemoryUSMShared(5000)
            um.MemoryUSMDevice(70_000)

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
    for t in threads:
        t.start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            del kept
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop = True
    for t in threads:
        t.join()
    print("ended")
    """
    assert run_python(code, timeout=150).stdout.strip() == "ended"


@pytest.mark.parametrize("reports", ["0", "1"])
def test_a_child_of_fork_ends_while_other_threads_are_in_the_driver(run_python, reports) -> None:
    code = """
    import os, signal, sys, threading
    import usmx, usmx.memory as um

    kept = um.MemoryUSMShared(1 << 20)
    stop = False

    def busy():
        while not stop:
            um.MemoryUSMShared(5000)
            um.MemoryUSMDevice(70_000)

    signal.alarm(100)
    threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
    for t in threads:
        t.start()
    for forks in range(20):
        # A trace of its own for each: a child that ends reads all records of its trace.
        with usmx.trace():
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                if forks % 2:
                    del kept
                sys.exit(0)
        status = os.waitpid(child, 0)[1]
        assert status == 0, (forks, status)
    stop = True
    for t in threads:
        t.join()
    print("ended")
    """
    # Without pools every allocation is one of the driver, whose locks a child has as they were.
    # Reports of the runtime make records in there.
    environment = {"USMX_POOL": "0", "USMX_TRACE": reports}
    done = run_python(code, env=environment, timeout=150)
    assert done.stdout.strip() == "ended"


# --- against a model; USMX_EXAMPLES=1000 tries more -----------------------------------------------

SIZES = st.one_of(
    st.integers(0, 300),
    st.sampled_from([1 << k for k in range(9, 22)]),
    st.integers(0, 100_000),
    st.integers(1 << 20, 3 << 20),
)


@dataclass
class Block:
    """A block alive: what was asked for, and what it should hold."""

    pool: int
    views: list[Any]
    address: int
    nbytes: int
    byte: int


class Forged:
    """Memory of another library, which claims that it is larger than it is."""

    def __init__(self, memory: Any, nbytes: int) -> None:
        own = memory.__sycl_usm_array_interface__
        self.__sycl_usm_array_interface__ = {**own, "shape": (nbytes,), "keep": memory}


class PoolsMachine(RuleBasedStateMachine):
    """Two contexts, three kinds, a pool each."""

    def __init__(self) -> None:
        super().__init__()
        queues = [usmx.Queue(), usmx.Queue(usmx.Context([usmx.Device()]))]
        self.queues = [q for q in queues for _ in range(3)]
        kinds = ["device", "shared", "host"] * 2
        self.pools = [
            um.PoolResource(um.UsmResource(kind, q))
            for kind, q in zip(kinds, self.queues, strict=True)
        ]
        self.blocks: list[Block] = []
        self.next_byte = 0

    def take(self, number: int) -> Block:
        return self.blocks.pop(number % len(self.blocks))

    def check_content(self, block: Block) -> None:
        for view in block.views:
            data = view.tobytes()
            assert data == bytes([block.byte]) * len(data)

    @rule(pool=st.integers(0, 5), nbytes=SIZES, power=st.integers(0, 13))
    def allocate(self, pool: int, nbytes: int, power: int) -> None:
        memory = self.pools[pool].allocate(nbytes, alignment=1 << power)
        assert memory._pointer % (1 << power) == 0
        assert (memory.nbytes, memory.context) == (nbytes, self.queues[pool].context)
        self.next_byte = (self.next_byte + 1) % 256
        memory.memset(self.next_byte)
        self.blocks.append(Block(pool, [memory], memory._pointer, nbytes, self.next_byte))

    @rule(nbytes=SIZES, shared=st.booleans())
    def allocate_by_default(self, nbytes: int, shared: bool) -> None:
        pool = 1 if shared else 0
        with um.using(self.pools[pool]):
            cls = um.MemoryUSMShared if shared else um.MemoryUSMDevice
            memory = cls(nbytes)
        self.next_byte = (self.next_byte + 1) % 256
        memory.memset(self.next_byte)
        self.blocks.append(Block(pool, [memory], memory._pointer, nbytes, self.next_byte))

    @precondition(lambda self: self.blocks)
    @rule(number=st.integers(0, 10_000))
    def drop(self, number: int) -> None:
        self.check_content(self.take(number))

    @precondition(lambda self: self.blocks)
    @rule(number=st.integers(0, 10_000))
    def free_twice(self, number: int) -> None:
        block = self.take(number)
        root = block.views[0]
        block.views[1:] = []
        gc.collect()  # what dpctl holds would go on showing the bytes
        root.free()
        root.free()
        self.pools[block.pool].deallocate(root)
        with pytest.raises(ValueError, match="freed"):
            root.tobytes()

    @precondition(lambda self: self.blocks)
    @rule(number=st.integers(0, 10_000))
    def drop_on_another_thread(self, number: int) -> None:
        block = self.take(number)
        held = [block.views]
        del block
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()

    @precondition(lambda self: self.blocks)
    @rule(number=st.integers(0, 10_000), part=st.integers(0, 100_000))
    def slice(self, number: int, part: int) -> None:
        block = self.blocks[number % len(self.blocks)]
        block.views.append(block.views[0][part % (block.nbytes + 1) :])

    @precondition(lambda self: self.blocks)
    @rule(number=st.integers(0, 10_000))
    def lend_to_dpctl(self, number: int) -> None:
        block = self.blocks[number % len(self.blocks)]
        if block.nbytes == 0:
            return
        theirs = dpctl.memory.as_usm_memory(block.views[0])
        assert theirs._pointer == block.address
        block.views.append(theirs)

    @precondition(lambda self: self.blocks)
    @rule(number=st.integers(0, 10_000), beyond=st.integers(1, 1 << 20))
    def leave_the_block(self, number: int, beyond: int) -> None:
        block = self.blocks[number % len(self.blocks)]
        if block.nbytes == 0:
            return
        with pytest.raises(usmx.InteropError):
            usmx.asarray(Forged(block.views[0], block.nbytes + beyond))
        usmx.asarray(Forged(block.views[0], block.nbytes))

    @rule(pool=st.integers(0, 5))
    def trim(self, pool: int) -> None:
        self.pools[pool].trim()

    @rule(pool=st.integers(0, 5), nbytes=SIZES)
    def reserve(self, pool: int, nbytes: int) -> None:
        self.pools[pool].reserve(nbytes)
        assert self.pools[pool].stats()["held"] >= nbytes

    @invariant()
    def no_two_blocks_share_a_byte(self) -> None:
        for context in (0, 1):  # the addresses of two contexts may be the same
            own = [b for b in self.blocks if b.pool // 3 == context]
            ranges = sorted((b.address, b.address + b.nbytes) for b in own)
            for (_, end), (begin, _) in pairwise(ranges):
                assert end <= begin

    @invariant()
    def pools_count_what_is_alive(self) -> None:
        _usmx._Testing.drain()
        for number, pool in enumerate(self.pools):
            alive = [b for b in self.blocks if b.pool == number]
            stats = pool.stats()
            assert (stats["blocks"], stats["used"]) == (len(alive), sum(b.nbytes for b in alive))
            assert stats["used"] <= stats["held"] <= stats["peak"]

    def teardown(self) -> None:
        """Untouched memory is as it was written, and pools end without a block."""
        while self.blocks:
            self.check_content(self.blocks.pop())
        self.pools_count_what_is_alive()


PoolsMachine.TestCase.settings = settings(
    max_examples=int(os.environ.get("USMX_EXAMPLES", "10")),
    stateful_step_count=25,
    deadline=None,
    derandomize="USMX_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
test_pools_do_what_the_model_says = PoolsMachine.TestCase
