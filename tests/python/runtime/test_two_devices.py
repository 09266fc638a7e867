"""Memory of one device and work on another: two parts of the CPU stand for two GPUs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_row import ROW, needs

import usmx
from usmx import memory as um

pytestmark = needs("parts")

N = 5000


@pytest.fixture(scope="module")
def queues() -> tuple[usmx.Queue, usmx.Queue]:
    """A queue on each of two devices of one context."""
    first, second = usmx.Device(ROW.device).create_sub_devices(1)[:2]
    context = usmx.Context([first, second])
    return usmx.Queue(context, first), usmx.Queue(context, second)


@pytest.fixture
def apart(queues: tuple[usmx.Queue, usmx.Queue]) -> tuple[usmx.ndarray, usmx.ndarray]:
    """Device memory of the one and of the other."""
    x, y = (usmx.arange(N, dtype="int32", queue=q) for q in queues)
    return x, y


add = usmx.ElementwiseKernel("int32 x, int32 y", "int32 z", "z = x + y", "add_apart")
add_raw = usmx.RawKernel(
    "USMX_KERNEL(1) add_raw(int* x, const int* y) {"
    " x[usmx::global_id()] += y[usmx::global_id()]; }",
    "add_raw",
)


LAUNCHES = {
    "elementwise": add,
    "raw": add_raw[N],
    "raw_on_the_other_queue": lambda x, y: add_raw[N](y, x, queue=y.queue),
}


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES.keys())
def test_a_kernel_over_device_memory_of_another_device_is_refused(
    launch: Any, apart: tuple[usmx.ndarray, usmx.ndarray]
) -> None:
    x, y = apart
    with pytest.raises(ValueError, match=r"device memory of .* cannot access it; .*to_device"):
        launch(x, y)
    np.testing.assert_array_equal(x.to_numpy(), np.arange(N))
    moved = y.to_device(x.queue)
    assert moved.queue == x.queue
    np.testing.assert_array_equal(add(x, moved).to_numpy(), 2 * np.arange(N))


def test_shared_memory_is_reached_by_both(queues: tuple[usmx.Queue, usmx.Queue]) -> None:
    shared = usmx.arange(N, dtype="int32", usm_type="shared", queue=queues[0])
    there = usmx.arange(N, dtype="int32", queue=queues[1])
    add_raw[N](there, shared, queue=queues[1]).wait()
    np.testing.assert_array_equal(there.to_numpy(), 2 * np.arange(N))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("part", [slice(None), slice(None, None, -1), slice(None, None, 3)])
@pytest.mark.parametrize("staged", [False, True])
def test_copies_between_two_devices_are_right(
    dtype: str, part: slice, staged: bool, apart: tuple[usmx.ndarray, usmx.ndarray]
) -> None:
    x, y = apart
    expected = np.arange(N, dtype="int32")[part].astype(dtype)
    usmx._usmx._Testing.set_staging((1, 1000, 2) if staged else None)
    try:
        target = usmx.zeros(2 * expected.size, dtype, queue=y.queue)
        for to in (target[: expected.size], target[::2], target[::-2]):
            usmx.copy(to, x[part])
            np.testing.assert_array_equal(to.to_numpy(), expected)
            usmx.fill(target, 0)
            usmx.copy_async(to, x[part]).wait()
            np.testing.assert_array_equal(to.to_numpy(), expected)
    finally:
        usmx._usmx._Testing.set_staging(None)


class Described:
    """A dictionary that names its memory and a queue."""

    def __init__(self, memory: um.MemoryUSMDevice, queue: usmx.Queue) -> None:
        self.__sycl_usm_array_interface__ = {
            **memory.__sycl_usm_array_interface__,
            "syclobj": queue,
        }
        self.memory = memory


def test_a_dictionary_that_names_the_queue_of_its_memory_keeps_it(
    queues: tuple[usmx.Queue, usmx.Queue],
) -> None:
    for queue in queues:
        memory = um.MemoryUSMDevice(N, queue=queue)
        assert usmx.asarray(Described(memory, queue)).queue == queue
