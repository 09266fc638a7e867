"""From a few MiB on the cores of a CPU device share a copy; what they cannot do the host does."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_row import ROW, needs

import usmx
from usmx import memory as um

LARGE = 4 << 20
FIRST = """
    import usmx.counters as uc
    uc.enable()
    import numpy as np, usmx
    from usmx import memory as um
    by_device = int(usmx.Device().max_compute_units > 1)
    here = np.random.default_rng(0).integers(0, 256, {bytes}, "u1")
    there, other = np.zeros_like(here), um.MemoryUSMHost(here.size)
    memory = um.MemoryUSMShared(here.size)
    memory.memset(0)
    array = usmx.empty(here.shape, "u1", usm_type="host")
"""
EACH = """
    for what, copy in {
        "copy_from_host": lambda: memory.copy_from_host(here),
        "copy_to_host": lambda: memory.copy_to_host(there),
        "copy_from_device": lambda: other.copy_from_device(memory),
        "from NumPy": lambda: usmx.copy(array, here),
        "to NumPy": lambda: usmx.copy(there, array),
    }.items():
        there[:] = 0
        with uc.counting() as c:
            copy()
        assert c.copies + c.kernels == {copies}, (what, c)
    assert (there == here).all() and other.tobytes() == memory.tobytes() == here.tobytes()
"""


@pytest.mark.parametrize(("size", "copies"), [(LARGE, "by_device"), (LARGE - 1, "0")])
@needs("kernel_copies")
def test_a_large_run_of_bytes_is_one_command(run_python: Any, size: int, copies: str) -> None:
    run_python(FIRST.format(bytes=size) + EACH.replace("{copies}", copies))


WITHIN = """
    import usmx.counters as uc
    uc.enable()
    import numpy as np, usmx
    from_numpy = np.random.default_rng(0).integers(0, 256, {bytes}, "u1")
    x = usmx.asarray(from_numpy, usm_type="device")
    y = usmx.zeros(x.shape, "u1", usm_type="device")
    y[:] = x  # compiles
    shift = {shift}
    x.queue.wait()
    with uc.counting() as c:
        y[: x.size - shift] = x[shift:]
        x.queue.wait()
    assert (c.kernels, c.copies) == ({kernels}, 1 - {kernels}), c
    assert (y.to_numpy()[: x.size - shift] == from_numpy[shift:]).all()
"""


# The driver of the CPU device writes long runs past the caches.
@pytest.mark.parametrize(
    ("size", "shift", "kernels"), [(2 << 20, 0, 1), (2 << 20, 12, 1), (2 << 20, 1, 0), (99, 0, 0)]
)
@needs("kernel_copies")
def test_a_large_run_of_words_within_the_device_is_copied_by_a_kernel(
    run_python: Any, size: int, shift: int, kernels: int
) -> None:
    run_python(WITHIN.format(bytes=size, shift=shift, kernels=kernels))


def test_what_overlaps_is_copied_as_if_it_did_not() -> None:
    numbers = np.arange(LARGE // 4 + 1000, dtype="i4")
    array = usmx.asarray(numbers, usm_type="shared", copy=True)
    usmx.copy(array[1000:], array[:-1000])
    np.testing.assert_array_equal(array.to_numpy()[1000:], numbers[:-1000])
    memory = um.MemoryUSMShared(2 * LARGE)
    memory.copy_from_host(np.arange(2 * LARGE, dtype="u4").astype("u1"))
    before = np.frombuffer(memory.tobytes(), "u1")
    memory[5:].copy_from_host(np.asarray(memory)[: LARGE + 7])
    np.testing.assert_array_equal(np.asarray(memory)[5 : LARGE + 12], before[: LARGE + 7])


def test_what_changes_on_the_way_or_has_gaps_is_right_too() -> None:
    numbers = np.arange(LARGE, dtype="f4").reshape(4, -1)
    array = usmx.empty(numbers.shape, "f8", usm_type="shared")
    usmx.copy(array, numbers)
    np.testing.assert_array_equal(array.to_numpy(), numbers)
    usmx.copy(array[:, ::2], numbers[:, ::-2])
    np.testing.assert_array_equal(array.to_numpy()[:, ::2], numbers[:, ::-2])


def test_work_on_other_queues_comes_first() -> None:
    first, second = usmx.Queue(usmx.Device()), usmx.Queue(ROW.device)
    array = usmx.zeros(LARGE, "u1", usm_type="shared", queue=first)
    slow = usmx.RawKernel(
        """
        USMX_KERNEL(1) slow(uint8_t* a, int64_t n) {
          for (int64_t i = 0; i < n; ++i) a[i] = uint8_t(a[i] + i % 7);
        }
        """,
        "slow",
    )
    for _ in range(20):
        slow[1](array, LARGE, queue=first)
        there = np.empty(LARGE, "u1")
        usmx.copy(there, array, queue=second)
        np.testing.assert_array_equal(there, array.to_numpy())


# --- more elements than an int can count ---------------------------------------------------------

MORE_THAN_AN_INT = """
    import numpy as np, usmx
    n = (1 << 31) + 3 * 4099
    whole = usmx.empty(n, "int8")
    ends = (slice(0, 5), slice(n // 2 - 2, n // 2 + 3), slice(n - 5, n))

    # Broadcast: from a source of one element, and a cast on the way.
    one = usmx.asarray(np.array([7], "int8"))
    usmx.copy(whole, usmx.ndarray((n,), "int8", one, strides=(0,)))
    assert all((whole[end].to_numpy() == 7).all() for end in ends)
    wide = usmx.asarray(np.array([9.5], "float32"))
    usmx.copy(whole, usmx.ndarray((n,), "float32", wide, strides=(0,)))
    assert all((whole[end].to_numpy() == 9).all() for end in ends)

    # Reversed: the first elements come out last.
    whole[:5] = np.arange(5, dtype="int8")
    turned = usmx.empty(n, "int8")
    usmx.copy(turned, whole[::-1])
    assert turned[n - 5 :].to_numpy().tolist() == [4, 3, 2, 1, 0]
    assert (turned[: n - 5][ends[1]].to_numpy() == 9).all()
    del turned

    # Strided: every other byte of more than an int can count.
    half = usmx.empty((n + 1) // 2, "int8")
    usmx.copy(half, whole[::2])
    assert half[:4].to_numpy().tolist() == [0, 2, 4, 9]
    assert half[-3:].to_numpy().tolist() == [9, 9, 9]
"""


def test_device_memory_of_more_elements_than_an_int_counts(run_python: Any) -> None:
    run_python(MORE_THAN_AN_INT)


def test_an_asynchronous_copy_from_a_buffer_that_shows_the_destination_is_right() -> None:
    for usm_type in ("shared", "host"):
        array = usmx.arange(100000, dtype="int64", usm_type=usm_type)
        seen = np.asarray(array)
        usmx.copy_async(array[1:], seen[:-1]).wait()
        np.testing.assert_array_equal(seen[1:], np.arange(99999))
        usmx.copy_async(seen[:-1], array[1:]).wait()
        np.testing.assert_array_equal(seen[:-1], np.arange(99999))
        usmx.copy_async(array, seen[::-1]).wait()
        np.testing.assert_array_equal(seen[1:], np.arange(99999)[::-1])
