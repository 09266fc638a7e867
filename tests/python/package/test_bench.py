"""The benchmarks are run by hand: this keeps them running. It judges no figure."""

# SPDX-License-Identifier: Apache-2.0
import doctest
import importlib.util
import itertools
import json
import subprocess
import sys

import lab
import pytest

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


def test_every_row_of_every_benchmark_has_both_figures():
    rows = json.loads(run(BENCH, "--json"))
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
