"""`usmx.ipc`: arrays that other processes use without a copy, and how each of them may end."""
# SPDX-License-Identifier: Apache-2.0

import gc
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shared_programs
from backend_row import needs
from depths import of_depth

import usmx
from usmx.ipc import GoneError, Handle

pytestmark = needs("ipc")


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def run(request):
    """Start a function in another process; answers come through a queue."""
    context = multiprocessing.get_context(getattr(request, "param", "spawn"))
    answers = context.Queue()
    started = []

    def start(function, *arguments):
        process = context.Process(target=function, args=(*arguments, answers))
        process.start()
        started.append(process)
        return process

    start.answers, start.context = answers, context
    yield start
    for process in started:
        process.join(100)
        assert process.exitcode is not None


def test_an_array_is_shared_only_where_it_was_asked_for():
    x = usmx.ipc.empty((3, 4), "float32")
    assert x.tolist() == [[0] * 4] * 3
    assert usmx.ipc.share(x) is x
    y = usmx.ipc.share(usmx.arange(3))
    assert y.tolist() == [0, 1, 2]
    for other in (usmx.ones(3), usmx.ones(3, usm_type="shared"), usmx.empty(0)):
        with pytest.raises(ValueError, match=r"x: is .*usmx\.ipc\.share"):
            Handle(other)
    with pytest.raises(TypeError, match="x: is of type ndarray"):
        Handle(np.ones(3))
    with pytest.raises(ValueError, match="shape: is 0"):
        usmx.ipc.empty(0)
    before = descriptors()
    for shape in (2.5, (2.5, 2)):
        with pytest.raises(TypeError, match=r"shape: is .*2\.5.*; expected an integer"):
            usmx.ipc.empty(shape)
    assert descriptors() == before
    assert usmx.ipc.empty(np.int64(3)).shape == (3,)
    assert len(pickle.dumps(y)) < 1000
    back = pickle.loads(pickle.dumps(y))  # a copy, as pickles of all arrays are
    back[:] = 7
    assert y.tolist() == [0, 1, 2]


def test_a_handle_opens_in_its_own_process_too():
    x = usmx.ipc.share(usmx.arange(12, dtype="int16").reshape(3, 4))
    handle = pickle.loads(pickle.dumps(Handle(x[::-1, 1::2])))
    y = handle.open()
    assert y.tolist() == x[::-1, 1::2].tolist()
    y[0, 0] = -5
    assert int(x[2, 1]) == -5
    assert handle.open() is y


@pytest.mark.parametrize(
    "dtype", ["bool", "bfloat16", "complex128", [("a", "<f4"), ("b", "<i2", (2,))]]
)
def test_every_type_has_handles(dtype):
    x = usmx.ipc.empty(6, dtype)
    y = pickle.loads(pickle.dumps(Handle(x[2:]))).open()
    assert (y.dtype, y.shape, y.pointer) == (x.dtype, (4,), x[2:].pointer)


@pytest.mark.parametrize("run", ["spawn", "forkserver"], indirect=True)
def test_both_processes_see_what_the_other_writes(run):
    x = usmx.ipc.share(usmx.arange(4, dtype="float64"))
    run(shared_programs.double, Handle(x))
    assert run.answers.get(timeout=100) == ("unknown", [0, 1, 2, 3])
    assert run.answers.get(timeout=100) == "done"
    assert x.tolist() == [0, 2, 4, 6]


def test_nothing_of_a_gibibyte_is_copied_and_both_see_it(run):
    x = usmx.ipc.empty(1 << 28, "float32")
    x[-1] = 5
    orders = run.context.Queue()
    run(shared_programs.time_it, Handle(x), orders)
    took, copied, last = run.answers.get(timeout=100)
    assert (copied, last) == (0, 5)
    assert took > 0
    x[-1] = 6  # seen there, and what is written there is seen here
    orders.put("look")
    assert run.answers.get(timeout=100) == 6
    assert float(x[0]) == 7
    np.testing.assert_array_equal(x[1:-1:1000].to_numpy(), 0)


def test_several_receivers_have_the_same_memory(run):
    x = usmx.ipc.share([1.0, 2.0])
    handle = Handle(x)
    for _ in range(2):
        run(shared_programs.double, handle)
    for _ in range(4):
        run.answers.get(timeout=100)
    first, second = x.tolist()  # both may have read an element before either wrote it
    assert first in (2, 4)
    assert second in (4, 8)


def test_a_receiver_that_is_killed_leaves_the_owner_alone(run):
    x = usmx.ipc.share([3.0, 4.0])
    process = run(shared_programs.open_and_die, Handle(x))
    assert run.answers.get(timeout=100) == 3.0
    process.join(100)
    assert process.exitcode == -signal.SIGKILL
    assert x.tolist() == [3, 4]


def test_memory_outlives_an_owner_that_is_killed_once_it_is_open(run):
    orders = run.context.Queue()

    process = run(shared_programs.make_until, orders)
    handle = run.answers.get(timeout=100)
    late = pickle.loads(pickle.dumps(handle))
    x = handle.open()
    process.kill()
    process.join(100)
    assert x.tolist() == list(range(8))
    assert late.open().pointer == x.pointer  # this process has it
    again = pickle.loads(pickle.dumps(handle))  # and is who others ask for it now
    assert again._owner[0] == os.getpid()
    del x
    handle.close()
    late.close()
    again._owner = (process.pid, 3)
    with pytest.raises(GoneError, match="ended or let go"):
        again.open()


def test_a_handle_of_memory_that_is_gone_says_so():
    x = usmx.ipc.share([1.0])
    text = pickle.dumps(Handle(x))
    del x
    gc.collect()
    with pytest.raises(GoneError, match="keep the array or its handle"):
        pickle.loads(text).open()
    # The number of the descriptor belongs to other memory now.
    other = [usmx.ipc.share([2.0]) for _ in range(20)]
    with pytest.raises(GoneError):
        pickle.loads(text).open()
    assert len(other) == 20


def test_closing_twice_is_closing_once():
    x = usmx.ipc.share([1.0])
    with Handle(x) as handle:
        y = handle.open()
    handle.close()
    handle.close()
    assert "closed" in repr(handle)
    for act in (handle.open, lambda: pickle.dumps(handle)):
        with pytest.raises(ValueError, match="the handle is closed"):
            act()
    assert y.tolist() == [1]


def test_readers_cannot_write(run):
    x = usmx.ipc.share([1.0])
    handle = Handle(x, readonly=True)
    run(shared_programs.write_refused, handle)
    assert "read-only" in run.answers.get(timeout=100)
    assert not handle.open().flags.writeable


def test_nothing_is_left():
    names = {name for name in os.listdir("/dev/shm") if "usmx" in name}
    usmx.ipc.share([1.0])
    before = descriptors()
    for _ in range(200):
        x = usmx.ipc.empty(1 << 20)
        pickle.loads(pickle.dumps(Handle(x))).open()
    del x
    assert descriptors() == before
    assert {name for name in os.listdir("/dev/shm") if "usmx" in name} <= names


def test_nothing_is_left_of_processes_that_are_killed():
    count = of_depth(quick=12, full=200)
    program = Path(__file__).with_name("ipc_cycles.py")
    done = subprocess.run(
        [sys.executable, str(program), str(count)],
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(found["ends"].values()) == count
    assert min(found["ends"].values()) >= count // 3
    before, after = found["before"], found["after"]
    assert after["mappings"] == 0
    assert after["descriptors"] == before["descriptors"]
    assert after["shm"] == before["shm"]
    # Each cycle had two arrays of a MiB.
    assert after["resident"] < before["resident"] + count // 4 + 20, found


def test_pages_cannot_be_taken_away():
    x = usmx.ipc.share([1.0])
    descriptor = Handle(x)._descriptor()
    try:
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def test_more_memory_than_there_is_is_refused_before_any_is_taken(monkeypatch):
    usmx.ipc.empty(1)
    before = descriptors()
    for count in (1 << 60, 1 << 62):
        with pytest.raises(MemoryError, match=rf"^{8 * count} bytes .*: \d+ bytes are available"):
            usmx.ipc.empty(count)
    monkeypatch.setattr(usmx.ipc, "_available", lambda: 99)
    with pytest.raises(MemoryError, match=r"^104 bytes .*: 99 bytes are available"):
        usmx.ipc.empty(13)
    assert descriptors() == before


def test_devices_that_do_not_read_the_host_say_what_is_missing(monkeypatch):
    from usmx import ipc

    assert set(ipc.ways()) == {device.filter_string for device in usmx.devices()}
    monkeypatch.setattr(ipc, "_way", lambda device: "none: the backend has no memory for it")
    with pytest.raises(NotImplementedError, match=r"no memory for it.*send a pickle"):
        ipc.empty(3)
