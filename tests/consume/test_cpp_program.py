"""C++ as a reader types it: the ten-line program, and every block of the documentation."""
# SPDX-License-Identifier: Apache-2.0

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nanobind
import numpy as np
import pybind11
import pytest
from environments import ROOT, run
from markdown_it import MarkdownIt

from usmx import paths

PROGRAM = ROOT / "examples" / "cpp" / "squares.cpp"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKERS = [name for name in ("bfd", "gold", "lld") if shutil.which(f"ld.{name}")]
# What the text around a fragment speaks of, as parameters of the function that it becomes.
NAMES = {
    "q": "sycl::queue& q",
    "queue": "sycl::queue& queue",
    "x": "const usmx::array& x",
    "dst": "const usmx::array& dst",
    "src": "const usmx::array& src",
    "produced": "const sycl::event& produced",
}


def cpp_blocks() -> dict[str, str]:
    """Every C++ block of README.md and docs/, by page and line."""
    return {
        f"{page.relative_to(ROOT)}:{(token.map or [0])[0] + 1}": token.content
        for page in PAGES
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if token.type == "fence" and token.info.split(" ")[0] == "cpp"
    }


BLOCKS = cpp_blocks()


def translation_unit(block: str) -> str:
    """The block as written, its statements in a function if they need one."""
    if re.search(r"^(NB_MODULE|PYBIND11_MODULE|[\w:]+ \w+)\(.*\{$", block, re.M):
        return block
    lines = block.splitlines()
    count = 1 + max((n for n, line in enumerate(lines) if line.startswith("#include")), default=-1)
    given = [text for name, text in NAMES.items() if re.search(rf"(?<![\w.\"])\b{name}\b", block)]
    head = "\n".join(lines[:count])
    body = "\n".join(lines[count:])
    return f"{head}\n#include <usmx/array.hpp>\nvoid page({', '.join(given)}) {{\n{body}\n}}\n"


@pytest.mark.parametrize("place", BLOCKS)
def test_a_block_of_the_documentation_compiles(place: str, tmp_path: Path) -> None:
    block = BLOCKS[place]
    assert block.startswith("#include"), "say which header it takes"
    file = tmp_path / "block.cpp"
    file.write_text(translation_unit(block))
    nearby = (ROOT / "examples" / "extension" / "src",)
    foreign = (nanobind.include_dir(), pybind11.get_include(), sysconfig.get_path("include"))
    folders = [f"-I{folder}" for folder in nearby]
    folders += [part for folder in foreign for part in ("-isystem", folder)]
    run("g++", "-fsyntax-only", *paths.get_cflags(), *folders, file)


def test_there_are_blocks_on_the_pages_for_users_of_cpp() -> None:
    pages = {place.split(":")[0] for place in BLOCKS}
    assert {"README.md", "docs/protocol.md", "docs/extension.md", "docs/memory.md"} <= pages


def test_a_program_of_ten_lines_computes_without_any_variable(tmp_path: Path) -> None:
    (command,) = re.findall(r"^//.*?(g\+\+ .*) && \./squares$", PROGRAM.read_text(), re.M)
    lines = PROGRAM.read_text().split("int main() {\n")[1].splitlines()
    assert len(lines) <= 10
    (tmp_path / "squares.cpp").write_bytes(PROGRAM.read_bytes())
    tool = f"{sys.executable} -m usmx"
    run("bash", "-c", command.replace("usmx --", f"{tool} --"), cwd=tmp_path)
    done = subprocess.run(
        [tmp_path / "squares"], env={}, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["0", "1", "4", "9", "16"], "")


def test_a_program_reads_a_file_and_computes_with_operators(tmp_path: Path) -> None:
    source = PROGRAM.with_name("line.cpp")
    run(
        "g++",
        "-Wall",
        "-Werror",
        *paths.get_cflags(),
        source,
        *paths.get_libs(),
        "-o",
        tmp_path / "line",
    )
    x = np.linspace(0.0, 10.0, 10_001)
    y = 3 * x - 2 + np.sin(50 * x)
    np.savetxt(tmp_path / "points.txt", np.stack([x, y], axis=1))
    done = subprocess.run(
        [tmp_path / "line", tmp_path / "points.txt"],
        env={}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    slope, intercept = np.polyfit(x, y, 1)
    left = y - (slope * x + intercept)
    near = np.count_nonzero(np.abs(left) <= left.std())
    expected = (
        f"y = {slope:.6g} x + {intercept:.6g}, deviation {left.std():.6g}, "
        f"{near} of 10001 points within it"
    )
    assert (done.stdout.strip(), done.stderr) == (expected, "")


def test_a_program_draws_transforms_sorts_and_multiplies(tmp_path: Path) -> None:
    source, program = PROGRAM.with_name("tones.cpp"), tmp_path / "tones"
    options = ("-Wall", "-Werror", *paths.get_cflags(), source, *paths.get_libs())
    run("g++", *options, "-o", program)
    done = subprocess.run(
        [program], env={}, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr) == ("440 periods, 3.0\n1000 periods, 1.0\n", "")


@pytest.mark.parametrize("linker", LINKERS)
def test_every_linker_of_this_machine_finds_the_library(linker: str, tmp_path: Path) -> None:
    source = tmp_path / "link.cpp"
    source.write_text(
        "#include <usmx/cpu_driver.hpp>\n"
        "int main() { return usmx::cpu_driver().driver.empty() ? 1 : 0; }\n"
    )
    options = (*paths.get_cflags(), source, *paths.get_libs())
    run("g++", f"-fuse-ld={linker}", *options, "-o", tmp_path / "link")
    assert subprocess.run([tmp_path / "link"], env={}, check=False, timeout=60).returncode == 0


def test_the_options_for_compilers_are_those_of_the_module() -> None:
    assert run(sys.executable, "-m", "usmx", "--cflags", "--libs").split() == [
        *paths.get_cflags(),
        *paths.get_libs(),
    ]
