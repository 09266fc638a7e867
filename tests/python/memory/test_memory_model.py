"""Pools against a model: blocks stay right for all requests in any order.

``USMX_EXAMPLES=1000`` tries more than the few that a run of all tests has time for.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import os
import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dpctl.memory
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import usmx
from usmx import _usmx
from usmx import memory as um

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
        _usmx._drain()
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
