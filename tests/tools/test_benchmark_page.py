"""The page of benchmarks is written from a report, and names the machine."""
# SPDX-License-Identifier: Apache-2.0

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import benchmark_page  # noqa: E402


def row(case: str, rival: str, theirs: float, ours: float) -> dict[str, Any]:
    return {
        "case": case, "rival_name": rival, "rival": theirs, "ours": ours, "ratio": theirs / ours,
        "aim": None, "met": None,
    }  # fmt: skip


def report(**changed: Any) -> dict[str, Any]:
    machine = {
        "processor": "A processor", "cores": 2, "device": "A device", "driver": "1.2",
        "system": "Linux 6", "python": "3.11.2", "date": "2026-11-28",
        "versions": {"usmx": "0.1.0", "numpy": "2.4"},
    }  # fmt: skip
    rows = [
        row("x | y", "numpy", 2000, 500),
        row("sum", "numpy", 1e6, 4e6),
        row("a", "dpctl", 9, 3),
    ]
    return {"machine": machine, "quick": False, "rows": rows, **changed}


def test_a_page_has_the_machine_and_a_table_for_each_rival() -> None:
    text = benchmark_page.page(report())
    assert "| processor | A processor, 2 cores |" in text
    assert "| versions | usmx 0.1.0, numpy 2.4 |" in text
    assert "| measured | 2026-11-28 |" in text
    assert "## numpy\n\nusmx takes less time in 1 of 2 tasks." in text
    assert "| x \\| y | 2 us | 500 ns | **4x** |" in text
    assert "| sum | 1 ms | 4 ms | 0.25x |" in text
    assert "## dpctl" in text


def test_figures_of_a_quick_run_are_no_page() -> None:
    with pytest.raises(SystemExit, match="mean nothing"):
        benchmark_page.page(report(quick=True))


def test_the_page_is_that_of_the_report() -> None:
    kept = ROOT / "docs" / "benchmarks.json"
    assert benchmark_page.PAGE.exists() == kept.exists()
    if kept.exists():
        text = benchmark_page.page(json.loads(kept.read_text(encoding="utf-8")))
        assert benchmark_page.PAGE.read_text(encoding="utf-8") == text


def test_the_readme_has_a_line_for_each_rival_that_it_shows() -> None:
    rows = [row("sum", "Numba", 1e6, 4e6), row("a", "dpctl", 9, 3), row("b", "dpctl", 2, 1)]
    text = benchmark_page.summary(report(rows=rows))
    assert "2 cores of an A processor, 2026-11-28, usmx 0.1.0" in text
    assert "| dpctl | 2 of 2 tasks | a | 9 ns | 3 ns |\n| Numba | 0 of 1 tasks | sum |" in text


def test_the_readme_shows_figures_of_the_report_and_of_the_pages() -> None:
    readme = benchmark_page.README.read_text(encoding="utf-8")
    kept = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    assert benchmark_page.with_summary(readme, kept) == readme
    support = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    said = re.findall(r"(`x \+ 1`|softmax|sort) of ([^;]*?) (\d+), CuPy (\d+)", readme)
    assert len(said) == 3
    for task, size, ours, theirs in said:
        rows = [line for line in support.splitlines() if task in line and size[:4] in line]
        assert any(ours in line and theirs in line for line in rows), (task, rows)
