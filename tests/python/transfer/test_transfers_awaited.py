"""Events in asyncio, and how far a long copy is."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import os

import numpy as np
import pytest
from gate import Gate

import usmx


@pytest.fixture
def queue():
    return usmx.Queue(usmx.Device(), in_order=True)


@pytest.fixture
def device_array(queue):
    return usmx.zeros(30000, "i4", usm_type="device", queue=queue)


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_await_returns_when_the_command_has_finished(queue, device_array):
    async def main():
        out = np.zeros(30000, "i4")
        gate = Gate(queue)
        usmx.fill_async(device_array, 4)
        copied = usmx.copy_async(out, device_array)
        waiting = asyncio.ensure_future(wait(copied))
        ticks = 0
        for _ in range(5):
            await asyncio.sleep(0)
            ticks += 1
        assert not waiting.done()
        gate.open()
        await waiting
        return ticks, out

    async def wait(event):
        await event

    ticks, out = asyncio.run(main())
    assert ticks == 5
    assert (out == 4).all()


def test_a_finished_event_can_be_awaited_again_and_by_many(device_array):
    async def main():
        event = usmx.fill_async(device_array, 2)
        await asyncio.gather(*(many(event) for _ in range(20)))
        await event
        await usmx.Event()

    async def many(event):
        await event

    before = open_descriptors()
    asyncio.run(main())
    # The thread that looks may be about to close the last.
    usmx.fill_async(device_array, 3).wait()
    assert open_descriptors() <= before + 20
    assert (device_array.to_numpy() == 3).all()


def test_cancelling_a_task_leaves_the_command_alone(queue, device_array):
    async def main():
        gate = Gate(queue)
        filled = usmx.fill_async(device_array, 6)

        async def wait():
            await filled

        task = asyncio.ensure_future(wait())
        other = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), 0.001)
        assert not filled.is_done
        gate.open()
        await other

    asyncio.run(main())
    assert (device_array.to_numpy() == 6).all()


def test_an_event_is_awaited_after_all_memory_was_drained(queue, device_array):
    usmx._usmx._Testing.drain()
    gate = Gate(queue)
    filled = usmx.fill_async(device_array, 6)

    async def wait(event):
        await event

    async def main():
        waiting = asyncio.ensure_future(wait(filled))
        await asyncio.sleep(0)
        gate.open()
        await asyncio.wait_for(waiting, 60)

    asyncio.run(main())
    assert device_array.to_numpy().tolist() == [6] * 30000


def test_the_loop_may_end_while_a_command_still_waits(queue, device_array):
    gate = Gate(queue)

    async def main():
        filled = usmx.fill_async(device_array, 8)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(as_task(filled)), 0.001)

    async def wait(event):
        await event

    def as_task(event):
        return asyncio.ensure_future(wait(event))

    asyncio.run(main())
    gate.open()
    assert (device_array.to_numpy() == 8).all()


def test_a_process_ends_while_somebody_still_awaits(run_python):
    run_python("""
        import asyncio, sys
        import usmx
        a = usmx.zeros(1000000, "i4", usm_type="device")
        async def main():
            async def wait(event): await event
            tasks = [asyncio.ensure_future(wait(usmx.fill_async(a, k))) for k in range(20)]
            await asyncio.sleep(0)
            sys.exit(0)
        asyncio.run(main())
    """)


def test_progress_counts_to_the_end(kind):
    numbers = np.arange(3 << 19, dtype="i4").reshape(3, -1)
    a = usmx.zeros(numbers.shape, "f8", usm_type=kind)
    seen = []
    usmx.copy(a, numbers, progress=lambda done, total: seen.append((done, total)))
    assert [total for _, total in seen] == [a.nbytes] * len(seen)
    assert len(seen) >= 3
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1][0] == a.nbytes
    np.testing.assert_array_equal(a.to_numpy(), numbers)
    usmx.copy(a[:0], numbers[:0], progress=lambda *_: None)


def test_progress_shows_the_bar_of_tqdm(capsys):
    usmx.copy(usmx.zeros(1000), np.ones(1000), progress=True)
    assert "100%" in capsys.readouterr().err


def test_without_tqdm_the_error_names_it(run_python):
    run_python("""
        import sys
        sys.modules["tqdm"] = None
        import usmx
        try:
            usmx.copy(usmx.zeros(3), usmx.ones(3), progress=True)
        except ModuleNotFoundError as error:
            assert "tqdm" in str(error) and error.name == "tqdm"
        else:
            raise SystemExit("no error")
    """)


def test_what_a_progress_function_raises_ends_the_copy():
    a = usmx.zeros(1 << 20, "f8", usm_type="device")

    def stop(done, total):
        raise KeyError(done)

    with pytest.raises(KeyError):
        usmx.copy(a, np.ones(1 << 20), progress=stop)
    with pytest.raises(TypeError, match="progress: 3"):
        usmx.copy(a, np.ones(1 << 20), progress=3)
