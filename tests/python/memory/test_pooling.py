"""Memory comes from queue-ordered pools by default."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import dpctl
import pytest
from gate import Gate

import usmx
import usmx.memory as um

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
