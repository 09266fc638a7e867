"""Handles of device memory: on a GPU the driver's, elsewhere those of a stand-in for CUDA's driver.

Both processes of each test are real, and so is their memory; `process_memory` says which it is.
"""
# SPDX-License-Identifier: Apache-2.0

import fcntl
import gc
import multiprocessing
import os
import pickle
import queue
import signal
import time

import device_programs
import numpy as np
import process_memory
import pytest
from backend_row import needs
from depths import of_depth

import usmx
from usmx import _usmx, ipc
from usmx.ipc import GoneError, Handle

pytestmark = needs("device_handles")

stand_in = pytest.mark.skipif(process_memory.IS_TRUE, reason="asks the stand-in")


@pytest.fixture(autouse=True)
def used():
    with process_memory.used():
        if not process_memory.IS_TRUE:
            process_memory.calls()
        yield
        gc.collect()
        _usmx._Testing.free_left_process_memory()


@pytest.fixture
def run():
    """Start a function in another process; its answers come through a queue of its own, because a
    process that is killed may have the lock of it."""
    context = multiprocessing.get_context("spawn")
    answers = []
    started = []
    orders = context.Queue()

    def start(function, *arguments):
        answers.append(context.Queue())
        process = context.Process(target=function, args=(*arguments, answers[-1]))
        process.start()
        started.append(process)
        return process

    def answer():
        ends_at = time.monotonic() + 100
        while time.monotonic() < ends_at:
            for one in answers:
                try:
                    return one.get(timeout=0.1)
                except queue.Empty:
                    pass
            ended = [p.exitcode for p in started if p.exitcode not in (None, 0, -9)]
            assert not ended, f"a process ended with {ended}"
        raise AssertionError("no answer")

    start.answer, start.orders, start.context = answer, orders, context
    yield start
    for _ in started:
        orders.put("end")
        orders.put("end")
    for process in started:
        process.join(100)
        assert process.exitcode is not None


def sent(x, **options):
    """As it goes through a pipe."""
    return pickle.dumps(Handle(x, **options))


def names(calls):
    return [call.split()[0] for call in calls]


def test_memory_is_that_of_the_device():
    x = ipc.empty((3, 4), "float32")
    assert x.tolist() == [[0] * 4] * 3
    assert x.usm_type == "device"
    assert ipc.ways()[x.queue.device.filter_string] in ("cuda", "runtime")
    assert ipc.share(x) is x
    y = ipc.share(usmx.arange(3))
    assert (y.tolist(), y.usm_type) == ([0, 1, 2], "device")
    with pytest.raises(ValueError, match=r"x: is 'device' memory .*usmx\.ipc\.share"):
        Handle(usmx.ones(3, usm_type="device"))
    back = pickle.loads(pickle.dumps(y))  # a copy
    back[:] = 7
    assert y.tolist() == [0, 1, 2]
    assert len(pickle.dumps(Handle(y))) < 1000


def test_a_handle_opens_in_its_own_process_without_the_driver():
    x = ipc.share(usmx.arange(12, dtype="int16").reshape(3, 4))
    if not process_memory.IS_TRUE:
        process_memory.calls()
    handle = pickle.loads(sent(x[::-1, 1::2]))
    y = handle.open()
    assert y.tolist() == x[::-1, 1::2].tolist()
    y[0, 0] = -5
    assert int(x[2, 1]) == -5
    assert handle.open() is y
    if not process_memory.IS_TRUE:
        assert "cuIpcOpenMemHandle" not in names(process_memory.calls())


@pytest.mark.parametrize(
    "dtype", ["bool", "bfloat16", "complex128", [("a", "<f4"), ("b", "<i2", (2,))]]
)
def test_every_type_has_handles(dtype):
    x = ipc.empty(6, dtype)
    y = pickle.loads(sent(x[2:])).open()
    assert (y.dtype, y.shape, y.pointer) == (x.dtype, (4,), x[2:].pointer)


def test_fields_and_steps_of_any_sign():
    x = ipc.empty((4, 6), [("a", "<i4"), ("b", "<i2")])
    x["b"] = usmx.arange(24, dtype="int16").reshape(4, 6)
    part = x["b"][::-1, 4:0:-2]
    y = pickle.loads(sent(part)).open()
    assert (y.tolist(), y.strides) == (part.tolist(), part.strides)


def test_each_comes_after_what_the_other_submitted_and_no_process_waits(run):
    x = ipc.share(usmx.arange(4, dtype="float64"))
    x += 1
    run(device_programs.double, sent(x), run.orders)
    kind, seen, answer = run.answer()
    assert (kind, seen) == ("device", [1, 2, 3, 4])
    if not process_memory.IS_TRUE:
        process_memory.calls()
    y = pickle.loads(answer).open()
    assert y.tolist() == x.tolist() == [2, 4, 6, 8]
    if not process_memory.IS_TRUE:
        made = process_memory.calls()
        # The other's event was recorded once; nothing was opened but that.
        assert names(made)[:2] == ["cuIpcOpenEventHandle", "cuStreamWaitEvent"]
        assert made[1] == "cuStreamWaitEvent 1"
        assert "cuIpcOpenMemHandle" not in names(made)


@stand_in
def test_an_event_for_other_processes_is_made_once_and_recorded_for_each_handle():
    x = ipc.empty(4)
    process_memory.calls()
    handles = [Handle(x) for _ in range(3)]
    made = process_memory.calls()
    assert names(made) == ["cuEventCreate", "cuIpcGetEventHandle"] + ["cuEventRecord"] * 3
    assert made[0] == "cuEventCreate 6"
    assert len({handle._point for handle in handles}) == 1
    del x, handles
    gc.collect()
    assert names(process_memory.calls()) == ["cuEventDestroy", "cuMemFree"]


def test_a_gibibyte_is_opened_and_nothing_is_copied(run):
    count = 1 << (28 if process_memory.IS_TRUE else of_depth(quick=20, full=26))
    x = ipc.empty(count, "float32")
    x[-1] = 5
    run(device_programs.time_it, [sent(x)], run.orders)
    _, copied, last = run.answer()
    # Reading the last element copies it, behind what is counted.
    assert (copied, last) == (0, 5)
    x[-1] = 6
    x.wait()
    run.orders.put("look")
    assert run.answer() == 6
    assert float(x[0]) == 7
    np.testing.assert_array_equal(x[1:-1:1000].to_numpy(), 0)


def test_several_receivers_have_the_same_memory(run):
    x = ipc.share([1.0, 2.0])
    handle = sent(x)
    orders = [run.context.Queue() for _ in range(2)]
    for own in orders:
        run(device_programs.open_and_stay, handle, own)
    assert [run.answer(), run.answer()] == [1, 1]
    x[0] = 5
    x.wait()
    for own in orders:
        own.put("look")
    assert [run.answer(), run.answer()] == [5, 5]
    for own in orders:
        own.put("end")


def test_the_owner_keeps_memory_until_its_receivers_are_gone(run):
    x = ipc.share([3.0, 4.0])
    process = run(device_programs.open_and_stay, sent(x), run.orders)
    assert run.answer() == 3
    del x
    gc.collect()
    assert _usmx._Testing.free_left_process_memory() == 1
    run.orders.put("look")
    assert run.answer() == 3
    run.orders.put("end")
    process.join(100)
    assert _usmx._Testing.free_left_process_memory() == 0


def test_a_receiver_that_is_killed_leaves_the_owner_alone(run):
    x = ipc.share([3.0, 4.0])
    process = run(device_programs.open_and_die, sent(x))
    assert run.answer() == 3
    process.join(100)
    assert process.exitcode == -signal.SIGKILL
    assert x.tolist() == [3, 4]
    del x
    gc.collect()
    assert _usmx._Testing.free_left_process_memory() == 0


def test_memory_outlives_an_owner_that_is_killed_once_it_is_open(run):
    process = run(device_programs.make_until, run.orders)
    text = run.answer()
    handle = pickle.loads(text)
    x = handle.open()
    x += 1
    x.wait()
    process.kill()
    process.join(100)
    assert x.tolist() == list(range(1, 9))
    again = pickle.loads(text)
    assert again.open().pointer == x.pointer  # this process has it
    passed_on = pickle.dumps(handle)
    run(device_programs.try_to_open, passed_on)
    # No driver opens what a process allocated that has ended.
    assert "ended or let go" in run.answer()


def test_a_handle_of_memory_that_is_gone_says_so(run):
    x = ipc.share([1.0])
    text = sent(x)
    del x
    gc.collect()
    with pytest.raises(GoneError, match="keep the array or its handle"):
        pickle.loads(text).open()
    run(device_programs.try_to_open, text)
    assert "ended or let go" in run.answer()
    process = run(device_programs.make_until, run.orders)
    text = run.answer()
    process.kill()
    process.join(100)
    with pytest.raises(GoneError, match=f"process {process.pid} ended"):
        pickle.loads(text).open()


def test_a_receiver_passes_on_what_it_has(run):
    x = ipc.share(usmx.arange(5, dtype="int64"))
    process = run(device_programs.pass_on, sent(x), run.orders)
    received, part = map(pickle.loads, run.answer())
    assert received._owner[0] == part._owner[0] == process.pid
    run(device_programs.try_to_open, pickle.dumps(received))
    assert run.answer() == [0, 1, 2, 3, 4]
    assert part.open().tolist() == [2, 3, 4]


def test_closing_twice_is_closing_once():
    x = ipc.share([1.0])
    with Handle(x) as handle:
        y = handle.open()
    handle.close()
    handle.close()
    for act in (handle.open, lambda: pickle.dumps(handle)):
        with pytest.raises(ValueError, match="the handle is closed"):
            act()
    assert y.tolist() == [1]


def test_readers_cannot_write(run):
    x = ipc.share([2.0])
    run(device_programs.write_refused, sent(x, readonly=True))
    message, elements = run.answer()
    assert "read-only" in message
    assert elements == [2]


def test_nothing_is_left():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        x = ipc.empty(1 << 16)
        pickle.loads(sent(x)).open()
    del x
    gc.collect()
    assert _usmx._Testing.free_left_process_memory() == 0
    assert len(os.listdir("/proc/self/fd")) <= before + 2


def test_a_handle_of_another_gpu_is_refused():
    x = ipc.share([1.0])
    handle = pickle.loads(sent(x))
    handle._device = ("cuda:gpu:7", "00000000-0000-0000-0000-000000000007")
    with pytest.raises(ValueError, match="queue: no device here is cuda:gpu:7 of the process"):
        handle.open()


def test_a_child_of_fork_leaves_the_block_to_its_parent():
    x = ipc.share([1.0])
    child = os.fork()
    if child == 0:
        del x
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    descriptor = Handle(x)._descriptor()  # as a receiver has it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        assert os.pread(descriptor, 1, 0) == b"\0"
    finally:
        os.close(descriptor)


def test_more_memory_than_the_device_has_is_refused():
    ipc.empty(1)
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    for count in (1 << 60, 1 << 62):
        with pytest.raises(MemoryError, match=rf"^{8 * count} bytes .* has \d+ bytes"):
            ipc.empty(count)
    assert len(os.listdir("/proc/self/fd")) == descriptors


@stand_in
@pytest.mark.parametrize(
    ("function", "act"),
    [
        ("cuMemAlloc", lambda: ipc.empty(4)),
        ("cuIpcGetMemHandle", lambda: ipc.empty(4)),
        ("cuEventCreate", lambda: Handle(ipc.empty(4))),
        ("cuIpcGetEventHandle", lambda: Handle(ipc.empty(4))),
        ("cuEventRecord", lambda: Handle(ipc.empty(4))),
    ],
)
def test_refusals_of_the_driver_are_named_and_leave_nothing(function, act):
    ipc.empty(1)
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    process_memory.calls()
    with (
        process_memory.refusing(function, 999),
        pytest.raises(usmx.DeviceError, match=f"{function} gave status 999"),
    ):
        act()
    gc.collect()
    made = names(process_memory.calls())
    allocated = made.count("cuMemAlloc") if function != "cuMemAlloc" else 0
    assert made.count("cuMemFree") == allocated
    assert len(os.listdir("/proc/self/fd")) == descriptors


@stand_in
@pytest.mark.parametrize("status", [205, 400])
def test_an_event_that_is_gone_is_behind_its_commands(run, status):
    x = ipc.share(usmx.arange(3, dtype="float64"))
    run(device_programs.double, sent(x), run.orders)
    _, _, answer = run.answer()
    process_memory.calls()
    with process_memory.refusing("cuIpcOpenEventHandle", status):
        assert pickle.loads(answer).open().tolist() == [0, 2, 4]
    assert "cuStreamWaitEvent" not in names(process_memory.calls())


@stand_in
def test_an_event_that_cannot_be_opened_is_an_error_of_the_driver(run):
    x = ipc.share(usmx.arange(3, dtype="float64"))
    run(device_programs.double, sent(x), run.orders)
    _, _, answer = run.answer()
    for _ in range(2):  # nothing is remembered of it
        with (
            process_memory.refusing("cuIpcOpenEventHandle", 999),
            pytest.raises(usmx.DeviceError, match="cuIpcOpenEventHandle gave status 999"),
        ):
            pickle.loads(answer).open()
    assert pickle.loads(answer).open().tolist() == [0, 2, 4]


@stand_in
@pytest.mark.parametrize(("is_killed", "status"), [(True, 999), (False, 400), (True, 400)])
def test_only_what_says_that_memory_is_gone_is_taken_for_that(run, is_killed, status):
    own_orders = run.context.Queue()  # it may be killed with the lock of its orders
    process = run(device_programs.make_until, own_orders)
    text = run.answer()
    keeper = run(device_programs.pass_on, text, run.orders)
    text, _ = run.answer()
    if is_killed:
        os.kill(process.pid, signal.SIGKILL)  # and not waited for: its entry in /proc stays
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    descriptors = len(os.listdir("/proc/self/fd"))
    gone = is_killed and status == 400
    said = f"process {process.pid} ended" if gone else f"cuIpcOpenMemHandle gave status {status}"
    with (
        process_memory.refusing("cuIpcOpenMemHandle", status),
        pytest.raises(GoneError if gone else usmx.DeviceError, match=said),
    ):
        pickle.loads(text).open()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert keeper.is_alive()
    own_orders.put("end")


@stand_in
def test_a_device_without_memory_says_how_much_was_asked():
    with (
        process_memory.refusing("cuMemAlloc", 2),
        pytest.raises(MemoryError, match=r"4194304 bytes .*device.*block of its own"),
    ):
        ipc.empty(1 << 19)
