"""The C++ of README.md and docs/start.md, compiled as a reader would, with the build file that the
page itself or docs/extension.md shows."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

import pytest
from environments import ROOT, run
from markdown_it import MarkdownIt

import usmx


def block(page: str, language: str) -> str:
    """The first block of that language."""
    tokens = MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8"))
    return next(t.content for t in tokens if t.type == "fence" and t.info == language)


@pytest.mark.parametrize(
    ("page", "build_file"),
    [("README.md", "docs/extension.md"), ("docs/start.md", "docs/start.md")],
)
def test_the_extension_does_what_the_page_shows(page: str, build_file: str, tmp_path: Path) -> None:
    (tmp_path / "quick.cpp").write_text(block(page, "cpp"))
    (tmp_path / "CMakeLists.txt").write_text(block(build_file, "cmake").replace("my_ext", "quick"))
    config = ("-Dusmx_DIR=" + usmx.get_cmake_dir(), "-DPython_EXECUTABLE=" + sys.executable)
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", *config)
    run("cmake", "--build", tmp_path / "build")

    shown = block(page, "pycon").splitlines()
    lines = [line.removeprefix(">>> ") for line in shown if line.startswith(">>> ")]
    calls = [line for line in lines if not line.startswith("import ")]
    assert len(calls) == 1
    imports = "import dpnp, usmx, quick" if calls == lines else lines[0]
    program = f"{imports}\nprint(repr({calls[0]}))"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path / "build"), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert printed.splitlines() == shown[len(lines) :]
