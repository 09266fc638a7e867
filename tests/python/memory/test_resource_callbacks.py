"""A resource that asks Python what to free: on the right thread, and with its errors."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from usmx import memory as um

MiB = 1 << 20


def test_a_callback_may_free_and_then_the_request_succeeds() -> None:
    limited = um.LimitingResource(um.UsmResource(), 1000)
    cache: list[Any] = []
    asked: list[tuple[int, int]] = []

    def free_something(nbytes: int) -> bool:
        asked.append((nbytes, threading.get_ident()))
        if not cache:
            return False
        cache.pop()
        return True

    resource = um.FailureCallbackResource(limited, free_something)
    cache += [resource.allocate(300) for _ in range(3)]
    memory = resource.allocate(500)
    assert asked == [(500, threading.get_ident())] * 2
    assert (len(cache), limited.used) == (1, 800)
    with pytest.raises(um.AllocationError, match="1000 bytes"):
        resource.allocate(5000)
    assert cache == []
    del memory


@pytest.mark.parametrize("over", [lambda r: r, um.PoolResource, um.StatisticsResource])
def test_what_a_callback_raises_is_the_cause(over: Any) -> None:
    def fail(nbytes: int) -> bool:
        raise KeyError(f"no {nbytes}")

    resource = over(um.FailureCallbackResource(um.LimitingResource(um.UsmResource(), 10), fail))
    with pytest.raises(um.AllocationError, match="raised KeyError") as caught:
        resource.allocate(5 * MiB)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "fail"


def test_a_callback_runs_on_the_thread_that_asks_while_others_go_on() -> None:
    threads: list[int] = []
    entered, leave = threading.Event(), threading.Event()

    def wait(nbytes: int) -> bool:
        threads.append(threading.get_ident())
        entered.set()
        assert leave.wait(60)
        return False

    resource = um.FailureCallbackResource(um.LimitingResource(um.UsmResource(), 10), wait)
    failures: list[Exception] = []

    def ask() -> None:
        try:
            resource.allocate(11)
        except MemoryError as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert entered.wait(60)
    assert resource.allocate(5).nbytes == 5  # no lock is held meanwhile
    leave.set()
    thread.join()
    assert threads == [thread.ident]
    assert len(failures) == 1


def test_an_answer_that_has_no_truth_is_the_cause() -> None:
    class Neither:
        def __bool__(self) -> bool:
            raise ArithmeticError

    resource = um.FailureCallbackResource(
        um.LimitingResource(um.UsmResource(), 10), lambda nbytes: Neither()
    )
    with pytest.raises(um.AllocationError) as caught:
        resource.allocate(11)
    assert isinstance(caught.value.__cause__, ArithmeticError)


def test_the_callback_lives_as_long_as_its_resource() -> None:
    class Callback:
        def __call__(self, nbytes: int) -> bool:
            return False

    callback = Callback()
    alive = weakref.ref(callback)
    resource = um.FailureCallbackResource(um.UsmResource(), callback)
    memory = resource.allocate(10)
    del callback, resource
    gc.collect()
    assert alive() is not None
    del memory
    gc.collect()
    um.MemoryUSMShared(1)  # what could not be dropped without the GIL is dropped now
    assert alive() is None
