"""What other processes do with handles of device memory; each begins with `use`."""
# SPDX-License-Identifier: Apache-2.0

import os
import pickle
import signal
import time

import usmx
import usmx.counters
from usmx.ipc import GoneError, Handle


def use():
    import process_memory  # asks the device, which counters have to come before

    process_memory.use()


def double(handle, orders, answers):
    """Open, double, and answer with a handle: what is behind it comes after the doubling."""
    use()
    x = pickle.loads(handle).open()
    seen = x.to_numpy().tolist() if x.size < 100 else None
    x *= 2
    answers.put((x.usm_type, seen, pickle.dumps(Handle(x))))
    orders.get()


def write_and_tell(handle, orders, answers):
    """Write without waiting, answer with a handle, and stay until told otherwise."""
    use()
    x = pickle.loads(handle).open()
    x += 1
    answers.put(pickle.dumps(Handle(x)))
    orders.get()


def open_and_stay(handle, orders, answers):
    use()
    x = pickle.loads(handle).open()
    answers.put(float(x.ravel()[0]))
    orders.get()
    answers.put(float(x.ravel()[0]))
    orders.get()


def open_and_die(handle, answers):
    use()
    x = pickle.loads(handle).open()
    answers.put(float(x[0]))
    time.sleep(0.3)  # the answer leaves on a thread
    os.kill(os.getpid(), signal.SIGKILL)


def make_until(orders, answers):
    """Own memory until told otherwise."""
    use()
    x = usmx.ipc.share(usmx.arange(8, dtype="float64"))
    answers.put(pickle.dumps(Handle(x)))
    orders.get()


def try_to_open(handle, answers):
    use()
    try:
        answers.put(pickle.loads(handle).open().to_numpy().tolist())
    except GoneError as error:
        answers.put(str(error))


def pass_on(handle, orders, answers):
    """Receive, send a handle of one's own of the same memory, and stay."""
    use()
    received = pickle.loads(handle)
    x = received.open()
    answers.put((pickle.dumps(received), pickle.dumps(Handle(x[2:]))))
    orders.get()


def write_refused(handle, answers):
    use()
    x = pickle.loads(handle).open()
    try:
        x[0] = 1
    except ValueError as error:
        answers.put((str(error), x.to_numpy().tolist()))


def time_it(handles, orders, answers):
    """Seconds of opening each handle, and what the last element is then."""
    usmx.counters.enable()
    use()
    usmx.ipc.share([1.0])
    took = []
    with usmx.counters.counting() as counts, usmx.trace() as own:
        for handle in handles:
            unpickled = pickle.loads(handle)
            begin = time.perf_counter()
            x = unpickled.open()
            took.append(time.perf_counter() - begin)
        copied = counts.bytes_copied + sum(event.bytes for event in own.copies)
    answers.put((took, copied, float(x[-1])))
    orders.get()
    seen = float(x[-1])
    x[0] = 7
    x.wait()
    answers.put(seen)
