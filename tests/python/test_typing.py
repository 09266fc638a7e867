"""What type checkers and ``inspect`` say: right programs have no error, wrong lines have one.

The programs are in ``typed/``. mypy and pyright (its build for PyPI, basedpyright) see the
installed package, as users do.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import usmx

PROGRAMS = Path(__file__).with_name("typed")
PLACE = {"usm_type", "device", "queue"}


def lines_with_errors(checker: str, program: Path, folder: Path) -> dict[int, list[str]]:
    """What a checker reports, by line."""
    command = {
        "mypy": [
            "mypy",
            "--strict",
            "--no-incremental",
            "--no-error-summary",
            "--show-column-numbers",
        ],
        "basedpyright": ["basedpyright", "--outputjson", "--project", str(folder)],
    }[checker]
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", *command, str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=600,
    )
    found: dict[int, list[str]] = {}
    if checker == "mypy":
        for line in run.stdout.splitlines():
            match = re.match(r".*?:(\d+):\d+: error: (.*)", line)
            if match:
                found.setdefault(int(match[1]), []).append(match[2])
        assert run.returncode in (0, 1), run.stdout + run.stderr
    else:
        for one in json.loads(run.stdout)["generalDiagnostics"]:
            if one["severity"] == "error":
                line = one["range"]["start"]["line"] + 1
                found.setdefault(line, []).append(one["message"])
    return found


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_right_program_has_no_error(checker, tmp_path):
    assert lines_with_errors(checker, PROGRAMS / "right.py", tmp_path) == {}


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_each_wrong_line_has_an_error_and_no_other_line_has_one(checker, tmp_path):
    program = PROGRAMS / "wrong.py"
    text = program.read_text(encoding="utf-8").splitlines()
    wrong = {k for k, line in enumerate(text, 1) if line.endswith("# wrong")}
    assert len(wrong) >= 25
    found = lines_with_errors(checker, program, tmp_path)
    assert set(found) == wrong, {k: (text[k - 1], found.get(k)) for k in sorted(set(found) ^ wrong)}


def test_the_right_program_runs(tmp_path):
    run = subprocess.run(
        [sys.executable, PROGRAMS / "right.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "name",
    [
        "asarray",
        "from_numpy",
        "empty",
        "zeros",
        "ones",
        "full",
        "arange",
        "empty_like",
        "full_like",
    ],
)
def test_creation_functions_have_a_signature(name):
    signature = inspect.signature(getattr(usmx, name))
    assert set(signature.parameters) >= PLACE
    assert signature.return_annotation == "ndarray"
    assert signature.parameters["usm_type"].annotation == "UsmKind | None"


def test_signatures_name_defaults_and_kinds():
    zeros = inspect.signature(usmx.zeros).parameters
    assert zeros["shape"].default is inspect.Parameter.empty
    assert zeros["order"].default == "C"
    assert zeros["queue"].kind is inspect.Parameter.KEYWORD_ONLY
    trim = inspect.signature(usmx.memory.PoolResource.trim)
    assert list(trim.parameters) == ["self", "keep"]


def test_a_method_of_an_object_has_no_self():
    x = usmx.zeros(3)
    assert list(inspect.signature(x.swapaxes).parameters) == ["axis1", "axis2"]
    assert list(inspect.signature(usmx.ndarray.swapaxes).parameters) == ["self", "axis1", "axis2"]


def public_callables():
    for module in (usmx, usmx.memory):
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value) or isinstance(value, type(usmx.float32)):
                continue
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value) and value.__module__.startswith("usmx"):
                for method, function in vars(value).items():
                    if type(function).__name__ == "nb_method":
                        yield f"{module.__name__}.{name}.{method}", function


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(f, id=name)
        for name, f in public_callables()
        if not (inspect.isclass(f) and (issubclass(f, Exception) or f.__init__ is object.__init__))
    ],
)
def test_everything_public_has_a_signature(function):
    # A class without a constructor of its own cannot be made, and says so when it is tried.
    if inspect.isclass(function) and type(function.__init__).__name__ == "wrapper_descriptor":
        with pytest.raises(TypeError):
            function()
    else:
        assert isinstance(inspect.signature(function), inspect.Signature)


def test_completion_offers_what_an_array_has():
    assert {"shape", "dtype", "to_numpy", "reshape", "usm_type", "queue", "T"} <= set(
        dir(usmx.zeros(3))
    )
