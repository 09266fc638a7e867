"""Host tasks of other libraries: their events, and the memory that is dropped in them.

The event of a host task has no context, and the runtime ends the process if it is asked for one.
dpctl and dpnp drop what they were given in a host task, on a thread of the SYCL runtime: the last
reference to our memory may go there, while the scheduler is locked.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import lab
import numpy as np
import pytest
from backend_row import needs
from host_tasks import HostTask

import usmx

pytestmark = needs("cpu")

WAYS = {
    "memory that dpctl computes on": """
import dpctl, dpnp.tensor as dt
q = dpctl.SyclQueue("cpu")  # out of order, as dpctl's queues are by default
spin = usmx.RawKernel(
    "USMX_KERNEL(1) f(int64_t* x) { auto i = usmx::global_id(); int64_t s = i;"
    " for (int k = 0; k < 3000; ++k) s = s * 31 + k; x[i] = s; }", "f")
def turn():
    a = usmx.empty(2000, "int64", usm_type="device", queue=q)
    spin[2000](a)
    d = dt.asarray(a)
    del a
    kept = dt.add(d, 1)
    del d
    b = usmx.empty(2000, "int64", usm_type="device", queue=q)
    spin[2000](b)
    return b.to_numpy()[3] == dt.asnumpy(kept)[3] - 1
""",
    "results in dpnp's arithmetic": """
import dpnp
slow = usmx.ElementwiseKernel(
    "T x", "T y", "T s = x; for (int k = 0; k < 2000; ++k) s = s * T(0.999) + T(0.5); y = s",
    "slow")
ones = usmx.ones(5000, "float32", queue=dpnp.arange(3).sycl_queue)
x = dpnp.ones(5000, dtype="float32")
def turn():
    v = slow(x)
    y = dpnp.asarray(v) + 1
    del v
    return slow(ones).to_numpy()[7] + 1 == y[7]
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_last_reference_may_go_in_a_host_task_of_another_library(
    way: str, run_python: Callable[..., Any]
) -> None:
    code = f"import usmx\n{WAYS[way]}\nprint(sum(bool(turn()) for _ in range(40)))"
    done = run_python(code, timeout=300)
    assert done.stdout.strip() == "40"


@pytest.fixture(params=["in order", "out of order"])
def a_queue(request: pytest.FixtureRequest) -> usmx.Queue:
    return usmx.Queue(in_order=request.param == "in order")


@pytest.fixture
def task(a_queue: usmx.Queue) -> Iterator[HostTask]:
    with HostTask(a_queue) as task:
        yield task


def opened_soon(task: HostTask) -> threading.Timer:
    timer = threading.Timer(0.02, task.open)
    timer.start()
    return timer


async def awaited(event: usmx.Event) -> None:
    await event


WAITS: dict[str, Callable[[HostTask], object]] = {
    "wait": lambda task: usmx.Event(task).wait(),
    "wait_for": usmx.Event.wait_for,
    "wait_for several": lambda task: usmx.Event.wait_for([usmx.Event(), task, task]),
    "await": lambda task: asyncio.run(awaited(usmx.Event(task))),
    "an event of an event": lambda task: usmx.Event(usmx.Event(task)).wait(),
    "a capsule": lambda task: usmx.Event(usmx.Event(task)._get_capsule()).wait(),
}


@pytest.mark.parametrize("how", WAITS)
def test_the_event_of_a_host_task_is_waited_for(how: str, task: HostTask) -> None:
    event = usmx.Event(task)
    assert not event.is_done
    timer = opened_soon(task)
    WAITS[how](task)
    assert event.is_done
    timer.join()


def test_the_event_of_a_host_task_is_asked_for_nothing_but_its_status(task: HostTask) -> None:
    event = usmx.Event(task)
    assert (event.status, event.execution_status) == ("submitted", "submitted")
    assert event.backend is None
    assert hash(event) == hash(usmx.Event(task))
    assert event == usmx.Event(task)
    assert repr(event) == "<usmx.Event submitted>"
    task.open()
    event.wait()
    assert (event.status, event.backend) == ("complete", None)


@pytest.mark.parametrize("what", ["submit", "start", "end"])
def test_the_event_of_a_host_task_has_no_profiling_times(what: str, task: HostTask) -> None:
    event = usmx.Event(task)
    timer = opened_soon(task)
    with pytest.raises(RuntimeError, match="no profiling times"):
        getattr(event, f"profiling_info_{what}")
    timer.join()


COMMANDS: dict[str, Callable[[Any, HostTask], usmx.Event]] = {
    "fill": lambda x, task: usmx.fill_async(x, 3, depends_on=[task]),
    "copy": lambda x, task: usmx.copy_async(x, np.full(8, 3, x.dtype), depends_on=task),
    "memset": lambda x, task: usmx.memset_async(x, 3, depends_on=[task, task]),
    "prefetch": lambda x, task: usmx.prefetch_async(x, depends_on=[task]),
    "barrier": lambda x, task: x.queue.submit_barrier([usmx.Event(task)]),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_commands_come_after_a_host_task(what: str, task: HostTask) -> None:
    x = usmx.zeros(8, "uint8", usm_type="device")
    x.wait()
    last = COMMANDS[what](x, task)
    assert not last.is_done
    assert last.backend == x.queue.backend
    task.open()
    last.wait()
    if what in ("fill", "copy", "memset"):
        assert x.tolist() == [3] * 8


def test_a_launch_on_the_queue_of_a_host_task_comes_after_it(a_queue: usmx.Queue) -> None:
    add = usmx.ElementwiseKernel("T x", "T y", "y = x + 1", "add_one")
    x = usmx.zeros(8, "int32", usm_type="device", queue=a_queue)
    add(x, out=x).wait()
    with HostTask(a_queue) as task:
        event = a_queue.submit_barrier([task])
        last = add(x, out=x, depends_on=[event])
        assert not event.is_done
        task.open()
        last.wait()
        assert x.tolist() == [2] * 8


def test_a_process_may_end_while_a_host_task_is_pending(run_python: Callable[..., Any]) -> None:
    code = """
        import threading, usmx
        from host_tasks import HostTask
        queue = usmx.Queue(in_order=False)
        x = usmx.empty(1 << 20, "uint8", usm_type="device", queue=queue)
        task = HostTask(queue)
        usmx.fill_async(x, 1, depends_on=[task])
        event = usmx.Event(task)
        del x
        threading.Timer(0.1, task.open).start()
        print("end")
    """
    path = os.pathsep.join([str(lab.HERE), os.environ.get("PYTHONPATH", "")])
    assert run_python(code, timeout=60, env={"PYTHONPATH": path}).stdout == "end\n"
