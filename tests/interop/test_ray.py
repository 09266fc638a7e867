"""Actors of Ray hand arrays to each other: without a copy on one machine, and nothing is kept."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image


@pytest.fixture
def run(run_program: Callable[..., str]) -> Callable[..., str]:
    """Run a program of Python that uses Ray."""
    # Ray ends the processes that hold most of the machine's memory, and those of other tests count.
    given = {"RAY_memory_monitor_refresh_ms": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    return lambda *words: run_program(sys.executable, *words, **given)


def test_three_actors_have_one_frame(
    run: Callable[..., str], examples: Path, tmp_path: Path
) -> None:
    assert run(examples / "ray" / "frames.py", tmp_path / "frame.png").splitlines() == [
        "light 10000, edges 200, brightest after that 9",
        "3 processes, one frame",
    ]
    assert Image.open(tmp_path / "frame.png").size == (640, 480)


HEAD = """
import dataclasses, time
import ray, usmx, usmx.ray
from ray.experimental.rdt.util import get_tensor_transport_manager

usmx.ray.register()
usmx.ray.register()
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

@ray.remote(num_cpus=0)
class Maker:
    @ray.method(tensor_transport="usmx")
    def make(self, kind):
        self.x = usmx.ipc.empty(5) if kind == "shareable" else usmx.arange(5.0, usm_type=kind)
        return {"first": self.x, "rest": [usmx.ones((2, 3)), usmx.empty(0)], "number": 5}
    def kept(self):
        return len(get_tensor_transport_manager("USMX").kept)

class Takes:
    def take(self, given):
        assert given["number"] == 5
        assert given["rest"][0].tolist() == [[1.0] * 3] * 2 and given["rest"][1].shape == (0,)
        self.x = given["first"]
        return self.x.tolist()
    def later(self):
        return self.x.tolist()

def made(maker, kind="shareable"):
    return usmx.ray.wait(maker.make.remote(kind))

def falls_to(count, maker):
    for _ in range(100):
        if ray.get(maker.kept.remote()) == count:
            return True
        time.sleep(0.1)
    return False

Taker = ray.remote(num_cpus=0)(Takes)
maker, taker = Maker.remote(), Taker.remote()
"""

PROGRAM = """
for kind in ("shareable", "shared", "host", "device"):
    expected = [0.0] * 5 if kind == "shareable" else [0.0, 1.0, 2.0, 3.0, 4.0]
    reference = made(maker, kind)
    assert ray.get(taker.take.remote(reference)) == expected, kind
    assert ray.get(maker.kept.remote()) == 1, kind
    del reference
    assert falls_to(0, maker), kind          # Ray's garbage collection
    assert ray.get(taker.later.remote()) == expected, kind
print("ok")
"""


def test_any_memory_arrives_and_is_let_go_of(run: Callable[..., str]) -> None:
    assert run("-c", HEAD + PROGRAM) == "ok\n"


KILLED = """
reference = made(maker)
assert ray.get(taker.take.remote(reference)) == [0.0] * 5
ray.kill(maker)
assert ray.get(taker.later.remote()) == [0.0] * 5  # the memory stays with the receiver
maker = Maker.remote()
reference = made(maker)
ray.kill(maker)
try:
    ray.get(taker.take.remote(reference), timeout=60)
except Exception as error:
    print(type(error).__name__ != "GetTimeoutError")
"""


def test_a_killed_sender_is_an_error_and_not_a_wait_without_end(run: Callable[..., str]) -> None:
    assert run("-c", HEAD + KILLED) == "True\n"


ELSEWHERE = """
# What a receiver on another machine does: the memory is not opened, the sender is asked.
@ray.remote(num_cpus=0)
class Far(Takes):
    def __init__(self):
        usmx.ray._machine = lambda: "another"

far = Far.remote()
assert ray.get(far.take.remote(made(maker, "shared"))) == [0.0, 1.0, 2.0, 3.0, 4.0]
ray.get(maker.kept.remote())
print("ok")
"""


def test_actors_elsewhere_get_a_copy(run: Callable[..., str]) -> None:
    assert run("-c", HEAD + ELSEWHERE) == "ok\n"


WITHOUT_RAY = """
import usmx, usmx.ray
transport = usmx.ray.Transport()
x, y = usmx.ipc.share([1.0, 2.0]), usmx.arange(3.0)
meta = transport.extract_tensor_transport_metadata("a", [x, y])
assert [shape for shape, _ in meta.tensor_meta] == [(2,), (3,)]
assert transport.kept["a"][0] is x
again = transport.extract_tensor_transport_metadata("a", [x, y])  # a task that was tried twice
assert [h.shape for h in again.handles] == [(2,), (3,)]
to = [usmx.empty(2), usmx.empty(3)]
got = transport.recv_multiple_tensors("a", meta, usmx.ray.Communicator(), to)
assert [t.tolist() for t in got] == [[1.0, 2.0], [0.0, 1.0, 2.0]] and got[0] is to[0]
assert transport.can_abort_transport() and transport.is_one_sided()
transport.abort_transport("a", usmx.ray.Communicator())
transport.abort_transport("a", usmx.ray.Communicator())
transport.garbage_collect("a", meta, [x, y])
assert transport.kept == {}
try:
    transport.send_multiple_tensors([x], meta, usmx.ray.Communicator())
except NotImplementedError as error:
    print(error)
"""


def test_a_transfer_that_is_given_up_keeps_nothing(run: Callable[..., str]) -> None:
    assert run("-c", WITHOUT_RAY) == "usmx.ray: receivers open the memory; nothing is sent\n"
