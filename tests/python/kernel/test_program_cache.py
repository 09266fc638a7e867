"""Compiled kernels on disk: the next process does not compile, also if the folder was damaged."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backend_row import needs

pytestmark = needs("binaries")

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
print(*_usmx._ProgramStore.counts())
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


#: A kernel of each kind that usmx writes itself.
WRITTEN = {
    "elementwise": 'usmx.ElementwiseKernel("T x", "T y", "y = x + 1", "next")(x)',
    "reduction": 'usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")(x)',
    "scan": 'usmx.ScanKernel("T x", "T y", "x", "a + b", "0", "sums")(x)',
    "elementwise with CuPy's headers": """usmx.ElementwiseKernel(
        "T x", "T y", "y = x + 1", "next", preamble="#include <cupy/cuda_workaround.h>")(x)""",
    "fuse": "usmx.fuse(lambda v: v * 2 + 1)(x)",
    "fuse with a reduction": "usmx.fuse(lambda v: (v * 2).sum())(x)",
    # Of elements of two bytes: that of longer ones comes with the package.
    "strided copy": "usmx.asarray(usmx.ones(1000, 'int16', usm_type='device')[::2], copy=True)",
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_kernel_that_usmx_writes_is_read_by_the_next_process(
    run_python: RunPython, tmp_path: Path, kind: str
) -> None:
    code = f"""
    import usmx
    from usmx import _usmx
    x = usmx.ones(1000, dtype="int32", usm_type="device")
    {WRITTEN[kind]}
    print(*_usmx._ProgramStore.counts())
    print("libsycl-jit" in open("/proc/self/maps").read())
    """
    first = run_python(code, env=cache(tmp_path)).stdout.split()
    assert int(first[0]) > 0
    assert run_python(code, env=cache(tmp_path)).stdout.split() == ["0", "0", first[0], "False"]


def test_a_damaged_folder_costs_a_compilation_and_nothing_else(
    run_python: RunPython, tmp_path: Path
) -> None:
    run_python(ADD, env=cache(tmp_path))
    [file] = (tmp_path / "usmx-programs").iterdir()
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
    assert len(list((tmp_path / "usmx-programs").iterdir())) == 1


def test_a_setting_that_makes_no_sense_is_named(run_python: RunPython, tmp_path: Path) -> None:
    failed = run_python(ADD, env={**cache(tmp_path), "USMX_CACHE_SIZE": "lots"}, check=False)
    assert "ValueError: USMX_CACHE_SIZE: 'lots' is not a size; expected bytes" in failed.stderr


def test_the_command_shows_and_clears(run_python: RunPython, tmp_path: Path) -> None:
    run_python(ADD, env=cache(tmp_path))
    about = json.loads(usmx_cache(tmp_path, "--json"))
    [program] = about["programs"]
    assert about["folder"] == str(tmp_path / "usmx-programs")
    assert program["kernels"] == ["add"]
    assert program["bytes"] == Path(program["file"]).stat().st_size
    assert abs(program["last_used"] - Path(program["file"]).stat().st_mtime) < 1
    text = usmx_cache(tmp_path)
    for part in ("add", "1 program, ", str(tmp_path)):
        assert part in text
    assert usmx_cache(tmp_path, "--clear") == "1 program removed\n"
    assert list((tmp_path / "usmx-programs").iterdir()) == []
    assert "0 programs" in usmx_cache(tmp_path)


def test_the_command_says_why_the_folder_is_not_used(run_python: RunPython, tmp_path: Path) -> None:
    run_python(ADD, env=cache(tmp_path))
    (tmp_path / "usmx-programs").chmod(0o777)
    assert run_python(ADD, env=cache(tmp_path)).stdout.split()[:3] == ["1", "0", "0"]
    assert "is writable by other users; chmod go-w makes it safe" in usmx_cache(tmp_path)
    assert json.loads(usmx_cache(tmp_path, "--json"))["problem"].startswith(
        "is writable by other users"
    )


KERNEL = (
    ADD
    + """
@usmx.kernel
def twice(item, x):
    i = item.get_id(0)
    x[i] *= 2
twice[100](x).wait()
assert x.to_numpy().tolist() == [84] * 100
print(*_usmx._ProgramStore.counts(), usmx._usmx._ProgramStore.texts()["count"])
"""
)


def run(environment: dict[str, str], *arguments: str) -> str:
    """What Python prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_folder_whose_name_is_no_utf_8_works(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    for name, value in (("USMX_CACHE_DIR", b"/\xff\xfe"), ("HOME", b"/\xff")):
        environment = {**os.environ, "USMX_CACHE": "1"}
        for variable in ("XDG_CACHE_HOME", "USMX_CACHE_DIR"):
            environment.pop(variable, None)
        environment[name] = os.fsdecode(os.fsencode(tmp_path) + value)
        assert run(environment, str(script)).splitlines()[-1] == "2 0 0 2"
        assert run(environment, str(script)).splitlines()[-1] == "0 0 2 2"
        assert "2 programs, " in run(environment, "-m", "usmx", "cache")
        about = json.loads(run(environment, "-m", "usmx", "cache", "--json"))
        assert os.path.isdir(os.fsencode(about["folder"]))
        cleared = run(environment, "-m", "usmx", "cache", "--clear")
        assert cleared == "2 programs and 2 texts removed\n"
