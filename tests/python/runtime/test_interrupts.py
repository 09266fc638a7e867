"""Ctrl-C while the main thread waits for a long command: the wait ends, the command goes on."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gate import Gate

import usmx


@pytest.fixture
def x() -> usmx.ndarray:
    """Elements with a command that waits for a gate."""
    made = usmx.ones(100_000, "int32", usm_type="shared")
    made.wait()
    return made


WAITS: dict[str, Callable[[Any, usmx.Event], object]] = {
    "event": lambda x, last: last.wait(),
    "events": lambda x, last: usmx.Event.wait_for([last]),
    "queue": lambda x, last: x.queue.wait(),
    "array": lambda x, last: x.wait(),
    "copy": lambda x, last: x.to_numpy(),
    "element": lambda x, last: x[3].item(),
    "DLPack": lambda x, last: x.__dlpack__(dl_device=(1, 0)),
}


class Interrupt(Exception):
    """What the handler of the signal raises."""


def raise_interrupt(*_: object) -> None:
    raise Interrupt


def interrupted(wait: Callable[[], object]) -> None:
    """Send a signal to the process while it waits, and insist on what the handler raises."""
    before = signal.signal(signal.SIGUSR1, raise_interrupt)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        with pytest.raises(Interrupt):
            wait()
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


def wait_long(queue: usmx.Queue) -> None:
    """What a program has done that waits for long commands."""
    gate = Gate(queue)
    last = queue.submit_barrier()
    timer = threading.Timer(0.05, gate.open)
    timer.start()
    last.wait()
    timer.join()


@pytest.mark.parametrize("how", WAITS)
def test_a_signal_ends_a_long_wait_and_the_command_goes_on(how: str, x: usmx.ndarray) -> None:
    wait_long(x.queue)
    with Gate(x.queue) as gate:
        last = usmx.fill_async(x, 7)
        interrupted(lambda: WAITS[how](x, last))
        assert not last.is_done
        # Once more: what was waited for is still pending, and the memory knows it.
        interrupted(x.wait)
        gate.open()
        x.wait()
        assert last.is_done
    assert x.sum().item() == 700_000


def test_memory_that_is_dropped_after_an_interrupt_stays_until_the_command_has_ended() -> None:
    source = usmx.full(100_000, 5, "int32", usm_type="device")
    source.wait()
    wait_long(source.queue)
    n = np.zeros(100_000, "int32")
    with Gate(source.queue) as gate:
        last = usmx.copy_async(n, source)
        interrupted(last.wait)
        del source
        gate.open()
        last.wait()
    assert (np.asarray(n) == 5).all()


def test_other_threads_wait_on(x: usmx.ndarray) -> None:
    ended: list[bool] = []
    with Gate(x.queue) as gate:
        last = usmx.fill_async(x, 7)
        thread = threading.Thread(target=lambda: ended.append(last.wait() is None))
        thread.start()
        interrupted(threading.Event().wait)
        assert not ended
        gate.open()
        thread.join()
    assert ended == [True]


def test_a_handler_that_returns_leaves_the_wait_alone(x: usmx.ndarray) -> None:
    wait_long(x.queue)
    calls: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: calls.append(number))
    interrupt = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with Gate(x.queue) as gate:
            last = usmx.fill_async(x, 7)
            timer = threading.Timer(0.3, gate.open)
            interrupt.start()
            timer.start()
            last.wait()
            timer.join()
            interrupt.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert calls == [signal.SIGUSR1]
    assert x.sum().item() == 700_000
