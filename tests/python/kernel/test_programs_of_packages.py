"""Programs compiled ahead: those of a package start where there is no compiler, and a first session
of usmx finds those of the wheel."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backend_row import needs

from usmx import _ahead, _runtime
from usmx._captured import globals_of

RunPython = Callable[..., subprocess.CompletedProcess[str]]

KERNELS = '''
"""Kernels of each tier."""

import usmx

usmx.use_programs(__file__)


@usmx.kernel
def saxpy(item, a, x, y):
    i = item.get_id(0)
    y[i] = a * x[i] + y[i]


add = usmx.RawKernel("USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }", "add")
muladd = usmx.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "muladd")
'''
LAUNCHES = """
import usmx
import shipping

x, y = usmx.arange(5000, dtype="float32"), usmx.ones(5000, dtype="float32")
shipping.saxpy[5000](2.0, x, y).wait()
slow = {"opcode", "inspect", "ast", "usmx._kernel.frontend"} & set(__import__("sys").modules)
assert shipping.muladd(x, y).to_numpy()[2] == 11, shipping.muladd(x, y)
n = usmx.zeros(100, dtype="int32")
shipping.add[100](n, 41).wait()
assert (n.to_numpy() == 41).all()
compiled, _, read = usmx._usmx._ProgramStore.counts()
print(compiled > 0, *sorted(slow))
"""
#: In a mount namespace of its own, in which the library that compiles is an empty file.
HIDE = 'mount --bind /dev/null "$1"; shift; exec "$@"'


def command(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "usmx", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def this_kind() -> str:
    """The newest kind of processor whose programs run here, of which one is enough for a test."""
    return "core-avx2"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of kernels, built."""
    folder = tmp_path_factory.mktemp("of_package")
    (folder / "shipping").mkdir()
    (folder / "shipping" / "__init__.py").write_text(KERNELS)
    (folder / "launches.py").write_text(LAUNCHES)
    done = command(
        "build", "--kinds", this_kind(), folder / "shipping", folder / "launches.py",
        PYTHONPATH=os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH")])),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "programs for 1 kind of processors, " in done.stdout.splitlines()[-1]
    return folder


@needs("cpu")
def test_kernels_of_a_built_package_start_without_the_compiler(
    package: Path, tmp_path: Path
) -> None:
    [compiler] = [
        path
        for folder in _runtime.library_folders()
        if (path := os.path.join(folder, "libsycl-jit.so")) and os.path.exists(path)
    ][:1]
    unshare = shutil.which("unshare")
    assert unshare, "unshare (util-linux) is needed to hide the compiler"
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    hidden = [unshare, *as_root, "--mount", "bash", "-ec", HIDE, "hidden", compiler]
    # Elsewhere, as an installed package is.
    shutil.copytree(package / "shipping", tmp_path / "shipping")
    (tmp_path / "launches.py").write_text(LAUNCHES)

    def launched(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*hidden, sys.executable, "launches.py"],
            cwd=tmp_path,
            env={**os.environ, "USMX_CACHE_DIR": str(tmp_path / "empty"), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    done = launched({"USMX_CACHE": "1"})
    assert done.returncode == 0, done.stderr
    # What takes longer to import than such a kernel takes to find.
    assert done.stdout.split() == ["False"]
    # The control: without what was built, there is no way to compile.
    failed = launched({"USMX_CACHE": "0"})
    assert failed.returncode != 0, failed.stdout


def test_the_globals_of_a_function_are_found_beyond_the_length_of_a_byte() -> None:
    found: dict[str, Any] = {}
    lines = (f"    a.b{k}.c; g{k}; inner = lambda: h{k}" for k in range(300))
    exec("def f():\n" + "\n".join(lines), found)
    names = {"a"} | {f"{letter}{k}" for letter in "gh" for k in range(300)}
    assert globals_of(found["f"].__code__) == names
    assert globals_of(compile("one + two.three", "", "eval")) == {"one", "two"}


@needs("cpu")
def test_programs_for_another_version_are_not_used(
    package: Path, tmp_path: Path, run_python: RunPython
) -> None:
    shutil.copytree(package / "shipping", tmp_path / "shipping")
    for file in (tmp_path / "shipping" / "usmx-programs").iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    done = run_python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{LAUNCHES}",
        env={"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path / "empty"), "USMX_USM_TYPE": None},
    )
    assert done.stdout.split()[0] == "True"


@needs("cpu")
def test_a_build_says_what_is_missing(tmp_path: Path) -> None:
    assert "has no __init__.py" in command("build", tmp_path).stderr
    (tmp_path / "__init__.py").write_text("import usmx\n")
    assert "say which program launches the kernels" in command("build", tmp_path).stderr
    program = tmp_path / "program.py"
    assert f"there is no file {program}" in command("build", tmp_path, program).stderr
    program.write_text("raise ValueError('not today')")
    failed = command("build", "--kinds", "core-avx2", tmp_path, program)
    assert (failed.returncode, "exit code 1" in failed.stderr) == (1, True)
    assert "not today" in failed.stderr
    wrong = command("build", "--kinds", "z80", tmp_path, program)
    assert "--kinds: 'z80'; expected some of sapphirerapids, " in wrong.stderr
    program.write_text("import usmx\n(usmx.ones(9000) * 3 + 5).wait()\n")
    done = command("build", "--kinds", "core-avx2", tmp_path, program)
    assert done.stdout.splitlines()[-1] == (
        f"add to {tmp_path / '__init__.py'}: usmx.use_programs(__file__)"
    )


#: A first session with more elements than the host computes by itself. Prints what was compiled.
SESSION = """
import sys
import usmx
from usmx import _usmx

counts = _usmx._ProgramStore.counts
x = usmx.arange(int(sys.argv[1]), dtype="float64")
y = usmx.sqrt(x)
i = usmx.arange(x.size)
for a in (x, y, i):
    a.wait()
for name in (
    "usmx.sum(x)", "usmx.mean(x)", "usmx.std(x)", "usmx.max(x)", "usmx.argmax(x)", "x * 2 + y",
    "usmx.cumsum(x)", "usmx.sort(x)", "usmx.argsort(x)", "usmx.histogram(x, bins=50)[0]",
    "x[x > 3]", "usmx.where(x > 3, x, y)", "usmx.take(x, i)", "x.astype('float32')", "x + 1",
    "usmx.random.default_rng(1).random(x.size)", "x > y", "x / y", "usmx.exp(x)",
):
    before = counts()[0]
    eval(name).wait()
    if counts()[0] > before:
        print(name)
print(counts()[0], "libsycl-jit" in open("/proc/self/maps").read())
"""


@needs("cpu")
@pytest.mark.parametrize("kind", ["shared", "device"])
@pytest.mark.parametrize("count", [6_000, 20_000, 1_000_000])
def test_a_first_session_compiles_nothing(
    run_python: RunPython, tmp_path: Path, kind: str, count: int
) -> None:
    assert _ahead.can_build() == "", "the programs of the wheel are for Intel's CPU device"
    code = SESSION.replace("sys.argv[1]", str(count))
    done = run_python(
        code, env={"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path), "USMX_USM_TYPE": kind}
    )
    assert done.stdout == "0 False\n"


@pytest.mark.parametrize("reason", ["no driver", "no program"])
def test_usmx_is_built_without_programs_where_none_can_be_compiled(
    tmp_path: Path, reason: str
) -> None:
    environment = {"ONEAPI_DEVICE_SELECTOR": "level_zero:gpu"}
    if reason == "no program":
        # Read by each Python that starts; a file numpy.py would come after the installed one.
        (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['numpy'] = None\n")
        places = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, places))}
    done = subprocess.run(
        [sys.executable, "-m", "usmx._ahead", tmp_path / "programs"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usmx: no compiled programs are put into this build: ")
    assert list((tmp_path / "programs").iterdir()) == []


@needs("cpu")
def test_the_command_shows_what_is_shipped(tmp_path: Path) -> None:
    environment = {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path)}
    [shipped] = json.loads(command("cache", "--json", **environment).stdout)["shipped"]
    assert shipped["kinds"] == list(_ahead.SHIPPED)
    assert shipped["programs"] % len(shipped["kinds"]) == 0
    text = command("cache", **environment).stdout
    assert f"shipped: {shipped['programs']} programs for sapphirerapids, " in text


@needs("binaries")
def test_warming_keeps_the_programs_of_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, usmx\n"
        "assert sys.argv[1:] == ['--so']\n"
        "(usmx.ones(9000) * 3 + 5).wait()\n"
        "sys.exit(3)\n"
    )
    environment = {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path / "cache")}
    first = command("cache", "--warm", program, "--so", **environment)
    assert first.returncode == 3, first.stderr
    assert first.stdout.startswith("1 program compiled, 0 programs there before; ")
    again = command("cache", "--warm", program, "--so", **environment)
    assert again.stdout.startswith("0 programs compiled, 1 program there before; ")
    assert "there is no file nowhere.py" in command("cache", "--warm", "nowhere.py").stderr
    off = command("cache", "--warm", USMX_CACHE="0")
    assert (off.returncode, "USMX_CACHE=0 keeps nothing" in off.stderr) == (2, True)


def test_each_form_of_the_list_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from usmx import _common_forms

    names = [name for kind in _common_forms.KINDS for name, _ in _common_forms.calls(kind)]
    assert len(names) == len(set(names)) > 100
    seen: list[str] = []
    one = [("a form", lambda: seen.append("computed"))]
    monkeypatch.setattr(_common_forms, "calls", lambda kind: iter(one if kind == "shared" else []))
    reported: list[tuple[int, int, str]] = []
    assert _ahead.compile_common(lambda *about: reported.append(about)) == 1
    assert (seen, reported) == (["computed"], [(1, 2, "a form")])


#: Compiles for more than two seconds.
SLOW = """
import time, usmx
begin = time.monotonic()
k = 0
while time.monotonic() < begin + 2.5:
    k += 1
    text = f"USMX_KERNEL(1) f(int* x) {{ x[usmx::global_id()] += {k}; }}"
    usmx.RawKernel(text, "f").compile()
"""


def on_a_terminal(code: str, **environment: str) -> str:
    """What a process writes to stderr, where that is a terminal."""
    main, other = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        stderr=other,
    )
    os.close(other)
    text = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part
    os.close(main)
    assert child.wait(timeout=120) == 0, text
    return text.decode().replace("\r\n", "\n")


def test_after_a_second_of_compiling_a_line_says_so_once(tmp_path: Path) -> None:
    folder = {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path)}
    assert on_a_terminal(SLOW, **folder) == (
        f"usmx: compiling kernels; they are kept in {tmp_path}/usmx-programs, and `usmx cache "
        "--warm` compiles common ones beforehand (USMX_NOTICES=0 hides this line)\n"
    )
    assert "USMX_CACHE=0 keeps none of them for the next process" in on_a_terminal(
        SLOW, USMX_CACHE="0"
    )
    assert on_a_terminal(SLOW, USMX_CACHE="0", USMX_NOTICES="0") == ""


def test_where_stderr_is_no_terminal_nothing_is_said(run_python: RunPython) -> None:
    assert run_python(SLOW, env={"USMX_CACHE": "0"}).stderr == ""
