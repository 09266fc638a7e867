"""The table of docs/interop.md, from the rows that the tests run.

``python tests/interop/table.py`` prints where the page differs and exits with 1; ``--write`` writes
the table into the page.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import difflib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from rows import OTHERS, ROWS, USES, Other, Row, Use

PAGE = Path(__file__).resolve().parents[2] / "docs" / "interop.md"
BEGIN = "<!-- The table is written by tests/interop/table.py --write -->\n"
END = "<!-- end of the table -->\n"


def code(text: str) -> str:
    """As code, in a cell of a table."""
    return f"`{text.replace('|', '&#124;')}`" if text else ""


def limits(row: Row | Use) -> str:
    """What does not hold, and why: of both directions."""
    parts = [row.note] if row.note else []
    whys = dict.fromkeys(row.refuses.values())
    for why in whys:
        refused = [what for what, reason in row.refuses.items() if reason == why]
        # Of a long expression the call at its end is what counts.
        parts.append(f"not {', '.join(code(what.split(').')[-1]) for what in refused)}: {why}")
    if isinstance(row, Use):
        return "; ".join(parts)
    parts += [f"to it, {law}: {why}" for law, why in row.out_fails.items()]
    parts += [f"from it, {law}: {why}" for law, why in row.into_fails.items()]
    return "; ".join(parts)


def cells(*texts: str) -> str:
    """A line of the table."""
    return f"| {' | '.join(texts)} |".replace("|  |", "| |").replace("|  |", "| |")


def table() -> str:
    """The rows in Markdown."""
    lines = ["| library | from usmx | kinds | to usmx | limits |", "|---|---|---|---|---|"]
    for row in ROWS:
        out = code(row.out_shown or row.out) if row.out else ""
        into = code(row.into_shown or row.into) if row.make else ""
        kinds = ", ".join(row.kinds) if row.out else ""
        lines.append(cells(row.library, out, kinds, into, limits(row)))
    for use in (*USES, *OTHERS):
        note = use.note if isinstance(use, Other) else limits(use)
        lines.append(cells(use.library, code(use.shown), ", ".join(use.kinds), "", note))
    return "\n".join(lines) + "\n"


def page_with(text: str) -> str:
    """The page with this table in the place of its own."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n" + text + "\n" + END + after


def main(arguments: list[str]) -> int:
    """Compare or write."""
    is_there, wanted = PAGE.read_text(encoding="utf-8"), page_with(table())
    if "--write" in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(
            is_there.splitlines(True), wanted.splitlines(True), "docs/interop.md", "the rows"
        )
    )
    return int(is_there != wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
