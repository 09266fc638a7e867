"""Writes the page of benchmarks from what ``make bench --json`` measured.

``python tools/benchmark_page.py docs/benchmarks.json`` writes docs/benchmarks.md: the machine and
the versions, then a table for each rival. Figures of different runs are never in one table. The
README gets a line for each of some rivals: how many tasks, and the one in the middle.
"""
# SPDX-License-Identifier: Apache-2.0

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
#: What is between them in the README is written here.
MARKS = ("<!-- figures: make benchmark-page -->\n", "<!-- end of figures -->\n")
#: The rivals there, of those that were measured.
SHOWN = ("dpctl", "dpnp.tensor", "dpnp", "Numba")

HEAD = """# Benchmarks

What each task costs, compared with those who do the same. All sides of a row alternate in one run,
and each shows its fastest round; a machine is rarely quiet, so the ratio says more than a time.
`make benchmark-page` measures and writes this page again, `make bench` prints the table, and
`usmx bench` says what a device does in units of its own memory ([tracing](tracing.md)).
"""


def amount(nanoseconds: float) -> str:
    """A time with three digits and its unit."""
    for unit, size in (("ns", 1.0), ("us", 1e3)):
        if nanoseconds < 1000 * size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e6:.3g} ms"


def cell(text: object) -> str:
    """Text in a table of Markdown."""
    return str(text).replace("|", "\\|")


def page(report: dict[str, Any]) -> str:
    """The page of one report."""
    if report["quick"]:
        raise SystemExit("a quick run: its figures mean nothing")
    machine = report["machine"]
    about = [
        ("processor", f"{machine['processor']}, {machine['cores']} cores"),
        ("device", f"{machine['device']}, driver {machine['driver']}"),
        ("system", f"{machine['system']}, Python {machine['python']}"),
        ("versions", ", ".join(f"{k} {v}" for k, v in machine["versions"].items())),
        ("measured", machine["date"]),
    ]
    parts = [HEAD, "| | |\n|---|---|\n" + "".join(f"| {k} | {cell(v)} |\n" for k, v in about)]
    for rival in dict.fromkeys(row["rival_name"] for row in report["rows"]):
        rows = [row for row in report["rows"] if row["rival_name"] == rival]
        ahead = sum(row["ratio"] >= 1 for row in rows)
        lines = [f"## {rival}\n", f"usmx takes less time in {ahead} of {len(rows)} tasks.\n"]
        lines.append(f"| task | {cell(rival)} | usmx | ratio |\n|---|---:|---:|---:|")
        for row in rows:
            ratio = f"{row['ratio']:.3g}x"
            lines.append(
                f"| {cell(row['case'])} | {amount(row['rival'])} | {amount(row['ours'])} | "
                f"{f'**{ratio}**' if row['ratio'] >= 1 else ratio} |"
            )
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def summary(report: dict[str, Any]) -> str:
    """The table of the README."""
    machine = report["machine"]
    where = f"{machine['cores']} cores of an {machine['processor']}, {machine['date']}"
    lines = [
        f"Measured on {where}, usmx {machine['versions']['usmx']}; all sides of a row in one run "
        "([all rows](docs/benchmarks.md)):\n",
        "| compared with | less time in | the task in the middle | theirs | usmx |",
        "|---|---|---|---:|---:|",
    ]
    for rival in SHOWN:
        rows = sorted(
            (row for row in report["rows"] if row["rival_name"] == rival),
            key=lambda row: float(row["ratio"]),
        )
        if rows:
            ahead = sum(row["ratio"] >= 1 for row in rows)
            middle = rows[len(rows) // 2]
            lines.append(
                f"| {rival} | {ahead} of {len(rows)} tasks | {cell(middle['case'])} | "
                f"{amount(middle['rival'])} | {amount(middle['ours'])} |"
            )
    return "\n".join(lines) + "\n"


def with_summary(readme: str, report: dict[str, Any]) -> str:
    """The README with the table of a report."""
    before, _, rest = readme.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{summary(report)}\n{MARKS[1]}{after}"


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    PAGE.write_text(page(given), encoding="utf-8")
    README.write_text(with_summary(README.read_text(encoding="utf-8"), given), encoding="utf-8")
