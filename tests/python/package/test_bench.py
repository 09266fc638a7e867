"""The benchmarks are run by hand: this keeps them running. It judges no figure."""

# SPDX-License-Identifier: Apache-2.0
import doctest
import importlib.util
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lab
import pytest
from depths import of_depth

BENCH = lab.ROOT / "bench"


def run(program, *arguments):
    done = subprocess.run(
        [sys.executable, program, "--quick", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def table(monkeypatch):
    spec = importlib.util.spec_from_file_location("table", BENCH / "table.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "table", module)  # where dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


#: All of them take two minutes.
TASK = BENCH / "exchange.py"


def test_every_row_of_every_benchmark_has_both_figures():
    report = json.loads(run(of_depth(quick=TASK, pairs=TASK, full=BENCH), "--json"))
    rows = report["rows"]
    assert report["quick"]
    assert report["machine"]["versions"].keys() >= {"usmx", "numpy", "dpctl"}
    assert all(report["machine"].values())
    assert len({(row["case"], row["rival_name"]) for row in rows}) == len(rows) >= 8
    for row in rows:
        assert row["ratio"] == pytest.approx(row["rival"] / max(row["ours"], 0.1))
        assert row["met"] == (None if row["aim"] is None else row["ratio"] >= row["aim"])


def test_all_benchmarks_are_run_together():
    main = (BENCH / "__main__.py").read_text(encoding="utf-8")
    tasks = {p.stem for p in BENCH.glob("*.py") if "\ndef run(effort" in p.read_text("utf-8")}
    assert len(tasks) >= 6
    tasks -= {"__main__"}
    assert [task for task in tasks if f'"{task}"' not in main] == []


def test_table_names_the_rivals():
    shown = run(BENCH / "exchange.py")
    assert "dpctl" in shown
    assert "dpnp.tensor" in shown


FAKE = """
from apart import Side

def sides(library, most):
    for number in range(most):
        if library == "b" and number == 0:
            yield None
        elif library == "broken":
            raise ValueError("no such thing")
        else:
            yield Side(f"case {number}", lambda: None, None if number else "another name")
"""


@pytest.fixture
def apart(table, monkeypatch, tmp_path):
    (tmp_path / "fake.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    spec = importlib.util.spec_from_file_location("apart", BENCH / "apart.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "apart", module)
    spec.loader.exec_module(module)
    return module


def is_stopped(library):
    """Signals arrive a little later."""
    for _ in range(500):
        status = Path(f"/proc/{library._process.pid}/status").read_text("utf-8")
        if status.partition("State:")[2].split()[0] == "T":
            return True
        time.sleep(0.01)
    return False


def test_a_library_stands_still_while_another_one_is_timed(apart):
    library = apart.Library("fake", "a", [2])
    try:
        assert library.next_case() == {"case": "case 0", "label": "another name"}
        assert is_stopped(library)
        assert library.timeit(1000) > library.timeit(1) > 0
        assert library.next_case() == {"case": "case 1", "label": "a"}
        assert library.next_case() is None
        assert is_stopped(library)
    finally:
        library.close()
    assert library._process.returncode == 0


def test_a_library_ends_with_the_benchmark(apart):
    program = (
        "import sys, apart\n"
        "library = apart.Library('fake', 'a', [2])\n"
        "library.next_case()\n"
        "print(library._process.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=BENCH,
        text=True,
    ) as benchmark:
        pid = int(benchmark.stdout.readline())
        benchmark.kill()
    for _ in range(500):
        status = Path(f"/proc/{pid}/status")
        if not status.exists() or "zombie" in status.read_text("utf-8"):
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the process of the library is still there")


def test_libraries_go_through_the_same_cases(apart, table):
    effort = table.Effort(rounds=2, seconds=0.0)
    results = apart.measure_apart("fake", ["a", "b", "c"], [2], effort, {("case 1", "c"): 3.0})
    found = [(r.case, r.rival_name, r.aim) for r in results]
    assert found == [
        ("case 0", "another name", None), ("case 1", "b", None), ("case 1", "c", 3.0),
    ]  # fmt: skip


def test_a_library_that_fails_is_named(apart, capfd):
    library = apart.Library("fake", "broken", [2])
    with pytest.raises(RuntimeError, match="broken"):
        library.next_case()
    library.close()
    assert "no such thing" in capfd.readouterr().err


def test_all_sides_take_turns_in_an_order_that_changes(table):
    called = []
    case = table.Case(
        "task",
        lambda: called.append("ours"),
        [
            table.Rival("first", lambda: called.append("first"), 2.0),
            table.Rival("second", lambda: called.append("second")),
        ],
    )
    rounds = 20
    effort = table.Effort(rounds=rounds, seconds=0.0)
    results = table.measure([case], effort)
    timed = called[-3 * rounds :]
    orders = [tuple(timed[k : k + 3]) for k in range(0, len(timed), 3)]
    assert all(set(order) == {"ours", "first", "second"} for order in orders)
    assert len(set(orders)) > 2
    # None finds what it left itself in the caches.
    assert all(a != b for a, b in itertools.pairwise(timed))
    assert [(r.case, r.rival_name, r.aim) for r in results] == [
        ("task", "first", 2.0),
        ("task", "second", None),
    ]


def test_an_aim_is_met_from_its_ratio_on(table):
    assert table.Result("", "", 100.0, 50.0, 2.0).met is True
    assert table.Result("", "", 99.0, 50.0, 2.0).met is False
    assert table.Result("", "", 99.0, 50.0).met is None


def test_examples_of_the_table_are_true(table):
    assert doctest.testmod(table).failed == 0
    assert doctest.testmod(table).attempted > 0
