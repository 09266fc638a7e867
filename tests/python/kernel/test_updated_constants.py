"""Tables whose values the host changes between launches."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from backend_row import needs
from gate import Gate

import usmx
import usmx.memory as um
from usmx import _usmx
from usmx._kernel import launch
from usmx._kernel.simulator.arrays import State
from usmx._kernel.simulator.simulation import Tools

TABLE = usmx.constant.array([[1, 2], [3, 4]], dtype="int64")


def compiled() -> int:
    """How many programs this process compiled or read."""
    made, _, loaded = _usmx._ProgramStore.counts()
    return int(made + loaded)


@usmx.device_func
def entry(row, column):
    return TABLE[row, column]


@usmx.device_func
def diagonal(table):
    return table[0, 0] * 10 + table[1, 1] + entry(0, 1) * 100


@usmx.kernel
def through_functions(item, out):
    out[0] = diagonal(TABLE)


@usmx.kernel
def named(item, usmx_given, out):
    usmx_tables = TABLE[1, 0]
    out[0] = usmx_tables + usmx_given


@pytest.fixture
def queue() -> usmx.Queue:
    return usmx.Queue(usmx.Device(), in_order=True)


@pytest.fixture
def table() -> usmx.constant.array:
    """One that was updated, so that kernels are given its values."""
    made = usmx.constant.array([0, 0, 0], dtype="int32")
    made.update([1, 2, 3])
    return made


@pytest.fixture
def read(table):
    @usmx.kernel
    def read(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    return read


def zeros(queue, n=3):
    out = usmx.zeros(n, dtype="int32", usm_type="shared", queue=queue)
    out.to_numpy()  # waits
    return out


@pytest.mark.parametrize("simulate", [False, True])
def test_device_functions_read_what_was_updated(simulate):
    TABLE.update([[1, 2], [3, 4]])
    out = usmx.zeros(1, dtype="int64", usm_type="shared")
    run = usmx.kernel(through_functions.python, simulate=simulate)
    run[1](out).wait()
    assert out.to_numpy()[0] == 214
    TABLE.update([[5, 6], [7, 8]])
    run[1](out).wait()
    assert out.to_numpy()[0] == 658
    usmx.kernel(named.python, simulate=simulate)[1](100, out).wait()
    assert out.to_numpy()[0] == 107


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_tables_of_every_type_are_updated(dtype):
    table = usmx.constant.array(np.zeros(5, dtype))

    @usmx.kernel
    def copy(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    out = usmx.ones(5, dtype=dtype, usm_type="shared")
    for first in (0, 1):
        values = np.array([first, 1, 100, 7, 0], dtype)
        table.update(values)
        copy[5](out).wait()
        np.testing.assert_array_equal(out.to_numpy(), values)
        np.testing.assert_array_equal(np.asarray(table), values)


def test_only_the_first_update_compiles_again():
    table = usmx.constant.array([1, 2, 3], dtype="int32")

    @usmx.kernel
    def read_twice(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    out = usmx.zeros(3, dtype="int32", usm_type="shared")
    read_twice[3](out).wait()
    before = compiled()
    for k in range(5):
        table.update([k, k + 1, k + 2])
        read_twice[3](out).wait()
        assert out.to_numpy().tolist() == [k, k + 1, k + 2]
        assert compiled() == before + 1


def test_a_kernel_of_an_updated_table_is_compiled_once(table, queue):
    @usmx.kernel
    def read_late(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    out = zeros(queue)
    before = compiled()
    read_late[3](out).wait()
    table.update([4, 5, 6])
    read_late[3](out).wait()
    assert out.to_numpy().tolist() == [4, 5, 6]
    assert compiled() == before + 1


def test_a_size_that_the_text_is_made_for_keeps_its_text():
    table = usmx.constant.array([1.0])

    @usmx.kernel
    def sized(item, n, out):
        own = usmx.private.array(n, usmx.float64)
        own[n - 1] = table[0]
        out[0] = own[n - 1] + n

    out = usmx.zeros(1, usm_type="shared")
    for n in (1, 2):
        sized[1](n, out).wait()
    before = compiled()
    table.update([10.0])
    for n, found in ((1, 11), (2, 12), (1, 11)):
        sized[1](n, out).wait()
        assert out.to_numpy()[0] == found
    assert compiled() == before + 2


def test_what_was_launched_keeps_its_values_and_nothing_waits(table, read, queue):
    outs = [zeros(queue) for _ in range(4)]
    read[3](outs[0]).wait()
    with Gate(queue):
        events = [read[3](outs[1])]
        table.update([4, 5, 6])
        events.append(read[3](outs[2]))
        table.update([7, 8, 9])
        events.append(read[3](outs[3]))
        table.update([0, 0, 0])
        assert not any(e.is_done for e in events)
    for e in events:
        e.wait()
    assert [o.to_numpy().tolist() for o in outs[1:]] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("in_order", [True, False])
def test_another_queue_waits_until_the_values_are_there(table, read, queue, by_hand, in_order):
    other = usmx.Queue(usmx.Device(), in_order=in_order)
    first, second, third = zeros(queue), zeros(other), zeros(other)
    read[3](first).wait()
    with Gate(queue):
        table.update([4, 5, 6])
        # The copy to the device stands behind the gate.
        held = read[3](first)
        free = read[3](second, depends_on=[] if by_hand else None)
        assert not held.is_done
        assert not free.is_done
    free.wait()
    assert second.to_numpy().tolist() == [4, 5, 6]
    read[3](third, depends_on=[]).wait()
    assert third.to_numpy().tolist() == [4, 5, 6]


def test_each_context_has_the_values(table, read, queue):
    elsewhere = usmx.Queue(usmx.Context([usmx.Device()]), usmx.Device())
    outs = [zeros(queue), zeros(elsewhere), zeros(queue), zeros(elsewhere)]
    for values in ([1, 2, 3], [4, 5, 6]):
        table.update(values)
        for out in outs:
            read[3](out).wait()
            assert out.to_numpy().tolist() == values


def test_a_context_without_an_order_has_them_before_the_launch(table, read):
    unordered = usmx.Queue(usmx.Device(), in_order=False)
    out = zeros(unordered)
    for k in range(50):
        table.update([k, k, k])
        read[3](out, depends_on=[]).wait()
        assert out.to_numpy().tolist() == [k, k, k]


def test_memory_of_old_values_is_given_back(queue):
    out = usmx.zeros(1, usm_type="shared", queue=queue)
    counted = um.StatisticsResource(um.get_resource(queue))

    def use_a_table():
        table = usmx.constant.array(np.zeros(8192))

        @usmx.kernel
        def read(item, out):
            out[0] = table[8191]

        for k in range(1, 21):
            table.update(np.full(8192, k))
            # The copy to the device runs only when the launch has returned.
            with Gate(queue) if k > 1 else nullcontext():
                ended = read[1](out)
            ended.wait()
            found = counted.stats()
            assert found["bytes"] == 65536
            assert found["total_blocks"] == k

    with um.using(counted):
        use_a_table()
    assert counted.stats()["bytes"] == 0


def test_simulated_launches_read_the_values_at_hand(table, read, queue):
    out = zeros(queue)
    for values in ([4, 5, 6], [7, 8, 9]):
        table.update(values)
        with usmx.simulate():
            read[3](out)
        assert out.to_numpy().tolist() == values
    short = usmx.zeros(4, dtype="int32", usm_type="shared")
    with usmx.simulate(), pytest.raises(IndexError, match="index 3 of 'table' is out of bounds"):
        read[4](short)


def test_a_simulated_launch_has_one_set_of_values(table):
    tools = Tools(State("read"))
    first = tools.constant(table, "table")
    table.update([4, 5, 6])
    assert tools.constant(table, "table").values.tolist() == first.values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("early", [True, False])
def test_an_update_while_a_kernel_is_compiled_is_noticed(early, queue, monkeypatch, tmp_path):
    table = usmx.constant.array([1, 2, 3], dtype="int32")
    monkeypatch.setenv("USMX_CACHE", "1")
    monkeypatch.setenv("USMX_CACHE_DIR", str(tmp_path))
    compile_it = launch.Kernel.compiled

    def meanwhile(self, *args, **how):
        if early:
            table.update([4, 5, 6])
        made = compile_it(self, *args, **how)
        table.update([4, 5, 6])
        return made

    @usmx.kernel
    def read(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    out = zeros(queue)
    monkeypatch.setattr(launch.Kernel, "compiled", meanwhile)
    read[3](out).wait()
    assert list(tmp_path.glob("*.text")) == []  # which of the two it would have been is not known
    monkeypatch.undo()
    table.update([7, 8, 9])
    read[3](out).wait()
    assert out.to_numpy().tolist() == [7, 8, 9]


def test_two_tables_that_look_alike_are_two():
    first, second = (usmx.constant.array([0], dtype="int32") for _ in range(2))
    first.update([1])
    second.update([1])

    @usmx.kernel
    def both(item, out):
        out[0] = first[0] * 10 + second[0]

    out = usmx.zeros(1, dtype="int32", usm_type="shared")
    both[1](out).wait()
    second.update([2])
    both[1](out).wait()
    assert out.to_numpy()[0] == 12


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        ([1, 2], ValueError, r"values: shape \(2,\); expected \(3,\)"),
        ([[1, 2, 3]], ValueError, r"values: shape \(1, 3\); expected \(3,\)"),
        (7, ValueError, r"values: shape \(\); expected \(3,\)"),
        ([1.5, 2, 3], TypeError, "values: dtype float64 is not of the same kind as int32"),
        (np.zeros(3, "f4"), TypeError, "values: dtype float32 is not of the same kind as int32"),
        (np.zeros(3, "c8"), TypeError, "values: dtype complex64 is not of the same kind as int32"),
        (["a", "b", "c"], TypeError, "values: dtype <U1 is not of the same kind as int32"),
        ([1, 2, 2**40], ValueError, "values: .*1099511627776"),
    ],
)
def test_values_that_the_table_cannot_hold_are_refused(table, read, queue, values, error, says):
    with pytest.raises(error, match=says):
        table.update(values)
    out = zeros(queue)
    read[3](out).wait()
    assert out.to_numpy().tolist() == [1, 2, 3]
    assert np.asarray(table).tolist() == [1, 2, 3]


def test_values_are_copied_whatever_their_layout(table, read, queue):
    out = zeros(queue)
    read[3](out).wait()
    source = np.arange(12, dtype="int16")[::-4]
    with Gate(queue):
        table.update(source)
        event = read[3](out)
        source[:] = 0
    event.wait()
    assert out.to_numpy().tolist() == [11, 7, 3]
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1


def test_threads_may_update_while_others_launch():
    table = usmx.constant.array(np.zeros(64, "int32"))
    rows = 64

    @usmx.kernel
    def read(item, out):
        i, j = item.get_id(0), item.get_id(1)
        out[i, j] = table[j]

    stop = threading.Event()
    wrong: list[object] = []

    def launch():
        queue = usmx.Queue(usmx.Device(), in_order=True)
        last = 0
        try:
            while not stop.is_set():
                out = usmx.empty((rows, 64), dtype="int32", usm_type="shared", queue=queue)
                read[rows, 64](out).wait()
                found = np.unique(out.to_numpy())
                # All of one launch is of one update, and no later launch goes back.
                if len(found) != 1 or found[0] < last:
                    wrong.append(found)
                last = found[0]
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=launch) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(1, 300):
        table.update(np.full(64, k, "int32"))
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


SCRIPT = """
import json, sys
import numpy as np
import usmx
from usmx import _usmx

one = usmx.constant.array([1, 2], dtype="int32")
two = usmx.constant.array([1, 2], dtype="int32")
never = usmx.constant.array([7], dtype="int32")
never_read = usmx.constant.array([7], dtype="int32")

@usmx.device_func
def term(i):
    return two[i]

@usmx.kernel
def read(item, out):
    i = item.get_id(0)
    out[i] = one[i] * 100 + term(i) * 10 + never[0]

out = usmx.zeros(2, dtype="int32", usm_type="shared")
found = []
for values in ([3, 4], [5, 6], [int(sys.argv[1]), 8]):
    one.update(values)
    two.update([2, 3])
    read[2](out).wait()
    found.append(out.to_numpy().tolist())
compiled = "usmx._kernel.frontend.compiler" in sys.modules
print(json.dumps([found, _usmx._ProgramStore.counts()[0], compiled]))
"""


@needs("binaries")
def test_a_fresh_process_finds_kernels_of_updated_tables_on_disk(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(value: int, old: str = "", new: str = "") -> object:
        script.write_text(SCRIPT.replace(old, new) if old else SCRIPT)
        done = subprocess.run(
            [sys.executable, "-B", str(script), str(value)],
            env={**os.environ, "USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path / "kept")},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return json.loads(done.stdout)

    assert run(7) == [[[327, 437], [527, 637], [727, 837]], 1, True]
    # For all values, because they are not part of the program.
    assert run(9) == [[[327, 437], [527, 637], [927, 837]], 0, False]
    # Frozen values are; and so is which table is which.
    assert run(9, "array([7]", "array([1]") == [[[321, 431], [521, 631], [921, 831]], 1, True]
    same = run(9, 'two = usmx.constant.array([1, 2], dtype="int32")', "two = one")
    assert same == [[[227, 337]] * 3, 1, True]
