"""The C++ of README.md, compiled as a reader would, with the build file of docs/extension.md."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

from environments import ROOT, run
from markdown_it import MarkdownIt

import usmx


def block(page: str, language: str) -> str:
    """The first block of that language."""
    tokens = MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8"))
    return next(t.content for t in tokens if t.type == "fence" and t.info == language)


def test_the_readme_extension_does_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "quick.cpp").write_text(block("README.md", "cpp"))
    (tmp_path / "CMakeLists.txt").write_text(
        block("docs/extension.md", "cmake").replace("my_ext", "quick")
    )
    config = ("-Dusmx_DIR=" + usmx.get_cmake_dir(), "-DPython_EXECUTABLE=" + sys.executable)
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", *config)
    run("cmake", "--build", tmp_path / "build")

    shown = block("README.md", "pycon").splitlines()
    calls = [line.removeprefix(">>> ") for line in shown if line.startswith(">>> ")]
    assert len(calls) == 1
    program = f"import dpnp, usmx, quick\nprint(repr({calls[0]}))"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path / "build"), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert printed.splitlines() == shown[1:]
