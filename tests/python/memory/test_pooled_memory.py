"""Blocks of a pool are as safe as allocations of their own: in flight, and at their edges."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import dpctl
import dpctl.memory
import dpnp.tensor as dpt
import pytest
from gate import Gate

import usmx
from usmx import _usmx
from usmx import memory as um

N = 64 << 10
CLASSES = {"device": um.MemoryUSMDevice, "shared": um.MemoryUSMShared, "host": um.MemoryUSMHost}


@pytest.fixture
def own_queue() -> Iterator[usmx.Queue]:
    """An in-order queue of this test alone; nothing of it is left waiting."""
    yield usmx.Queue(dpctl.SyclQueue(property="in_order"))
    _usmx._drain()
    assert _usmx._collect() == 0


@pytest.fixture
def pool(kind: str, own_queue: usmx.Queue) -> Iterator[um.PoolResource]:
    """What serves while the test runs, with one chunk that is large enough for all it asks for."""
    made = um.PoolResource(um.UsmResource(kind, own_queue))
    made.reserve(32 * N)
    with um.using(made):
        yield made
    _usmx._drain()
    gc.collect()
    assert made.stats()["blocks"] == 0


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
    result = dpctl.memory.MemoryUSMShared(N, queue=theirs)
    result.memset(0)
    ours = CLASSES[kind](N, queue=own_queue)
    ours.memset(7)
    address = ours._pointer
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
            assert others[-1]._pointer != address
        gate.open()
        own_queue.wait()
    assert result.tobytes() == b"\7" * N
    _usmx._drain()
    # Now it does: this is what would have happened before.
    others += [CLASSES[kind](N) for _ in range(15)]
    assert address in [memory._pointer for memory in others]


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
