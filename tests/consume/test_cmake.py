"""A plain CMake project finds the installed library, builds against it and runs."""
# SPDX-License-Identifier: Apache-2.0

import json
import re
import subprocess
import sys
from pathlib import Path

from environments import ROOT, run

import usmx

PROJECT = Path(__file__).parent / "cmake_project"
DEBIAN_12 = (3, 25)


def test_a_cmake_project_finds_builds_and_runs(tmp_path: Path) -> None:
    wanted = ".".join(usmx.__version__.split(".")[:2])
    here = f"-Dusmx_DIR={usmx.get_cmake_dir()}"
    run("cmake", "-S", PROJECT, "-B", tmp_path, here, f"-DWANTED={wanted}")
    run("cmake", "--build", tmp_path)
    program = subprocess.run(
        [tmp_path / "consumer"],
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    assert program.stdout.split() == ["0", "1", "4", "9", "16"]


def test_a_version_that_is_too_new_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
        "find_package(usmx 99.0 QUIET)\n"
        'if(usmx_FOUND)\n  message(FATAL_ERROR "found")\nendif()\n'
    )
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, "-Dusmx_DIR=" + usmx.get_cmake_dir())


def test_no_newer_cmake_is_asked_for_than_debian_12_has() -> None:
    files = [ROOT / "CMakeLists.txt", ROOT / "docs" / "extension.md"]
    files += [*(ROOT / "examples").rglob("CMakeLists.txt"), *(ROOT / "tests").rglob("*.txt")]
    asked = {
        (int(major), int(minor))
        for file in files
        for major, minor in re.findall(
            r"cmake_minimum_required\(VERSION (\d+)\.(\d+)", file.read_text()
        )
    }
    assert asked == {DEBIAN_12}
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["cmakeMinimumRequired"]
    assert (presets["major"], presets["minor"]) == DEBIAN_12
    assert f"cmake>={DEBIAN_12[0]}.{DEBIAN_12[1]}" in (ROOT / "pyproject.toml").read_text()


def test_the_headers_lie_where_get_include_says() -> None:
    assert (Path(usmx.get_include()) / "usmx" / "nanobind.hpp").is_file()
    assert run(sys.executable, "-m", "usmx", "--include").strip() == usmx.get_include()
    assert run(sys.executable, "-m", "usmx", "--cmake-dir").strip() == usmx.get_cmake_dir()
