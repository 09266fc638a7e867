# Events of launches: as exact as if SYCL had made each, though on in-order queues few are made.
# SPDX-License-Identifier: Apache-2.0
import time

import dpctl
import pytest
from gate import Gate

import usmx
from usmx import _usmx

ADD = "USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }"


@usmx.kernel
def add_python(item, x, n):
    x[item.get_id(0)] += n


@pytest.fixture(params=["raw", "python"])
def add(request):
    return usmx.RawKernel(ADD, "add") if request.param == "raw" else add_python


def zeros(queue, n=100):
    return usmx.zeros(n, "i4", usm_type="device", queue=queue)


def comes(event):
    """Whether the event is done in the end; a wait for one that never is would not fail."""
    for _ in range(2000):
        if event.is_done:
            return True
        time.sleep(0.002)
    return False


@pytest.fixture
def own_queue():
    return usmx.Queue(usmx.Device(), in_order=True)


def test_an_event_that_is_kept_is_done_before_later_kernels_are(add, own_queue):
    x = zeros(own_queue)
    other = usmx.Queue(usmx.Device(), in_order=True)
    y = zeros(other)
    add[100](x, 0).wait()  # compiled before the gate is closed
    with Gate(other):
        held = usmx.fill_async(y, 1)
        first = add[100](x, 1)
        second = add[100](x, 1, depends_on=held)
        third = add[100](x, 1)
        assert comes(first)
        assert not second.is_done
        assert not third.is_done
    third.wait()
    assert second.is_done
    assert (x.to_numpy() == 3).all()


def test_events_of_two_queues_are_told_apart(add, own_queue):
    other = usmx.Queue(usmx.Device(), in_order=True)
    x, y = zeros(own_queue), zeros(other)
    with Gate(own_queue):
        blocked = add[100](x, 1)
        free = add[100](y, 1)
        assert comes(free)
        assert not blocked.is_done
        assert blocked.status != "complete"
        assert blocked != free
    blocked.wait()
    assert blocked.is_done


def test_an_event_orders_other_queues(add, own_queue):
    other = usmx.Queue(usmx.Device(), in_order=False)
    x, y = zeros(own_queue), zeros(other)
    with Gate(own_queue):
        first = add[100](x, 1)
        second = add[100](y, 1, depends_on=first, queue=other)
        theirs = dpctl.SyclEvent(first._get_capsule())
        assert not second.is_done
    second.wait()
    assert first.is_done
    assert theirs.execution_status == dpctl.event_status_type.complete
    assert (y.to_numpy() == 1).all()


def test_an_event_that_was_waited_for_is_complete_whatever_comes_after(add, own_queue):
    x = zeros(own_queue)
    event = add[100](x, 1)
    event.wait()
    with Gate(own_queue):
        usmx.fill_async(x, 7)
        assert event.is_done
        assert event.status == "complete"
        event.wait()


def test_events_may_outlive_and_outnumber_everything(add, own_queue):
    x = zeros(own_queue)
    kept = [add[100](x, 1) for _ in range(50)]
    queues = [usmx.Queue(usmx.Device(), in_order=True) for _ in range(20)]
    arrays = [zeros(q) for q in queues]
    kept += [add[100](a, 1) for a in arrays]
    del queues, arrays
    assert len({hash(e) for e in kept}) == len(kept)
    usmx.Event.wait_for(kept)
    assert all(e.is_done for e in kept)
    assert (x.to_numpy() == 50).all()


def test_a_queue_that_measures_has_an_event_for_each_launch(add):
    queue = usmx.Queue(usmx.Device(), in_order=True, enable_profiling=True)
    x = zeros(queue)
    events = [add[100](x, 1) for _ in range(3)]
    for e in events:
        assert e.profiling_info_start <= e.profiling_info_end
    ends = [e.profiling_info_end for e in events]
    assert ends == sorted(ends)
    assert len(set(ends)) == 3


def test_memory_of_a_launch_whose_event_nobody_took_is_kept(add, own_queue):
    x = zeros(own_queue, 30000)
    copy = usmx.empty(30000, "i4", usm_type="device", queue=own_queue)
    address = x.__sycl_usm_array_interface__["data"][0]
    with Gate(own_queue):
        add[30000](x, 1)
        usmx.copy_async(copy, x)
        del x
        # The memory must not be reused before the kernel has run. A query would wait.
        others = [usmx.empty(30000, "i4", usm_type="device") for _ in range(8)]
    assert (copy.to_numpy() == 1).all()
    assert address not in {o.__sycl_usm_array_interface__["data"][0] for o in others}


def test_recording_does_not_change_what_an_event_means(add, own_queue):
    x = zeros(own_queue)
    add[100](x, 1).wait()
    with usmx.trace() as trace:
        add[100](x, 1)
        add[100](x, 1).wait()
    assert [e.action for e in trace.events].count("kernel") == 2
    assert (x.to_numpy() == 3).all()


def test_an_event_is_an_event_of_usmx(add, own_queue):
    event = add[100](zeros(own_queue), 1)
    assert type(event) is usmx.Event is _usmx.Event
    assert usmx.Event(event) == event
    assert repr(event).startswith("<usmx.Event ")
