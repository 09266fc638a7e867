"""Compiled kernels on disk: the next process does not compile, whatever happened to the folder."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

RunPython = Callable[..., subprocess.CompletedProcess[str]]

#: Adds 41 to ones, and prints what was compiled, found in memory and read from disk.
ADD = """
import usmx
from usmx import _usmx
add = usmx.RawKernel(
    "USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }", "add")
x = usmx.ones(100, dtype="int32")
add[100](x, 41).wait()
assert x.to_numpy().tolist() == [42] * 100
print(*_usmx._program_counts())
print("libsycl-jit" in open("/proc/self/maps").read())
"""


def cache(folder: Path) -> dict[str, str | None]:
    """The environment of a process that keeps its programs in `folder`."""
    return {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(folder), "USMX_CACHE_SIZE": None}


def usmx_cache(folder: Path, *arguments: str) -> str:
    """What the command prints."""
    environment = {**os.environ, "USMX_CACHE": "1", "USMX_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "usmx", "cache", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout


def test_the_next_process_neither_compiles_nor_loads_the_compiler(
    run_python: RunPython, tmp_path: Path
) -> None:
    assert run_python(ADD, env=cache(tmp_path)).stdout.split() == ["1", "0", "0", "True"]
    assert run_python(ADD, env=cache(tmp_path)).stdout.split() == ["0", "0", "1", "False"]


def test_a_damaged_folder_costs_a_compilation_and_nothing_else(
    run_python: RunPython, tmp_path: Path
) -> None:
    run_python(ADD, env=cache(tmp_path))
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-100] + b"?" * 100)
    assert run_python(ADD, env=cache(tmp_path)).stdout.split()[:3] == ["1", "0", "0"]
    assert run_python(ADD, env=cache(tmp_path)).stdout.split()[:3] == ["0", "0", "1"]


def test_processes_share_the_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", ADD], env=environment, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_setting_that_makes_no_sense_is_named(run_python: RunPython, tmp_path: Path) -> None:
    failed = run_python(ADD, env={**cache(tmp_path), "USMX_CACHE_SIZE": "lots"}, check=False)
    assert 'ValueError: USMX_CACHE_SIZE: is "lots", expected bytes' in failed.stderr


def test_the_command_shows_and_clears(run_python: RunPython, tmp_path: Path) -> None:
    run_python(ADD, env=cache(tmp_path))
    about = json.loads(usmx_cache(tmp_path, "--json"))
    [program] = about["programs"]
    assert about["folder"] == str(tmp_path)
    assert program["kernels"] == ["add"]
    assert program["bytes"] == Path(program["file"]).stat().st_size
    assert abs(program["last_used"] - Path(program["file"]).stat().st_mtime) < 1
    text = usmx_cache(tmp_path)
    for part in ("add", "1 program, ", str(tmp_path)):
        assert part in text
    assert usmx_cache(tmp_path, "--clear") == "1 program removed\n"
    assert list(tmp_path.iterdir()) == []
    assert "0 programs" in usmx_cache(tmp_path)
