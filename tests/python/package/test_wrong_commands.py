"""A wrong command says in one line, behind its usage, what is wrong and what was meant."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from usmx import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, list[str]]:
    code: object
    try:
        code = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    return code, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("devise",), r"usmx: error: there is no command 'devise'; did you mean 'devices'?"),
        (("xyz",), r"usmx: error: there is no command 'xyz'; `usmx --help` lists them"),
        ((), r"usmx: error: which command? `usmx --help` lists them"),
        (("--cflgs",), r"usmx: error: unrecognized arguments: --cflgs; did you mean '--cflags'?"),
        (
            ("doctor", "--jsn"),
            "usmx doctor: error: unrecognized arguments: --jsn; did you mean '--json'?",
        ),
        (
            ("cache", "--wram"),
            "usmx cache: error: unrecognized arguments: --wram; did you mean '--warm'?",
        ),
        (("demo", "x.png"), "usmx demo: error: unrecognized arguments: x.png"),
        (
            ("bench", "--seconds", "-1"),
            "usmx bench: error: argument --seconds: -1; expected 0 or more",
        ),
        (
            ("bench", "--seconds", "abc"),
            "usmx bench: error: argument --seconds: 'abc'; expected a number",
        ),
    ],
)
def test_the_last_line_says_what_was_meant(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = said_by(capsys, *arguments)
    assert code == 2
    assert lines[-1] == line
    # The usage is that of the command which the line names.
    assert lines[0].startswith(f"usage: {line.partition(':')[0]} [-h]")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("migrate", "no.py"), "usmx migrate: there is no file no.py"),
        (("migrate", "."), "usmx migrate: .: Is a directory"),
        (("build", "no"), "usmx build: there is no folder no"),
        (
            ("build", "a.py"),
            "usmx build: a.py has no __init__.py: it is",
        ),
        (("trace", "no.py"), "usmx trace: there is no file no.py"),
        (("trace", "-o", "no/t.json", "a.py"), "usmx trace: --output: there is no folder no"),
        (("trace", "-o", "a.png", "a.py"), "expected a name that ends in '.json' or '.html' or"),
        (("cache", "--warm", "no.py"), "usmx cache --warm: there is no file no.py"),
    ],
)
def test_files_that_are_not_there_are_named(
    arguments: tuple[str, ...],
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    with open("a.py", "w") as file:
        file.write("raise AssertionError('this ran')\n")
    code, lines = said_by(capsys, *arguments)
    assert code == 2
    assert len(lines) == 1
    assert line in lines[0]


@pytest.mark.parametrize(
    ("name", "value", "command"),
    [("USMX_CACHE_SIZE", "much", "cache"), ("USMX_USM_TYPE", "gpu", "demo")],
)
def test_a_wrong_setting_is_one_line(
    run_python: Callable[..., Any], name: str, value: str, command: str
) -> None:
    code = f"import sys; from usmx.cli import main; sys.exit(main([{command!r}]))"
    found = run_python(code, env={name: value}, check=False)
    assert found.returncode == 1
    assert len(found.stderr.splitlines()) == 1, found.stderr
    assert found.stderr.startswith(f"{name}: '{value}' is not ")
