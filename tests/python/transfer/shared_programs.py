"""What other processes do with handles: functions that spawn and forkserver find by name."""
# SPDX-License-Identifier: Apache-2.0

import os
import signal
import time

import usmx
import usmx.counters


def double(handle, answers):
    """Open, double what is there, and tell what it was."""
    x = handle.open()
    answers.put((x.usm_type, x.to_numpy().tolist()))
    x *= 2
    x.wait()
    answers.put("done")


def open_and_die(handle, answers):
    x = handle.open()
    answers.put(float(x[0]))
    time.sleep(0.2)  # the answer leaves on a thread
    os.kill(os.getpid(), signal.SIGKILL)


def make_until(orders, answers):
    """Own memory until told otherwise."""
    x = usmx.ipc.share(usmx.arange(8, dtype="float64"))
    answers.put(usmx.ipc.Handle(x))
    orders.get()


def write_refused(handle, answers):
    x = handle.open()
    try:
        x[0] = 1
    except ValueError as error:
        answers.put(str(error))


def time_it(handle, orders, answers):
    """Milliseconds and copied bytes of opening a second handle, when everything is started."""
    usmx.counters.enable()  # before the first use of the device
    usmx.ipc.share([1.0])
    with usmx.counters.counting() as counts, usmx.trace() as own:
        begin = time.perf_counter()
        x = handle.open()
        took = time.perf_counter() - begin
    copied = counts.bytes_copied + sum(event.bytes for event in own.copies)
    answers.put((took * 1e3, copied, float(x[-1])))
    orders.get()
    seen = float(x[-1])
    x[0] = 7
    x.wait()
    answers.put(seen)
