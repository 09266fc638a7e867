"""A plain CMake project finds the installed library, builds against it and runs."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
from pathlib import Path

from environments import run

import usmx

PROJECT = Path(__file__).parent / "cmake_project"
RUNTIME = Path(sys.prefix) / "lib"


def test_a_cmake_project_finds_builds_and_runs(tmp_path: Path) -> None:
    run("cmake", "-S", PROJECT, "-B", tmp_path, "-Dusmx_DIR=" + usmx.get_cmake_dir())
    run("cmake", "--build", tmp_path)
    program = subprocess.run(
        [tmp_path / "consumer"],
        env={"OCL_ICD_FILENAMES": str(RUNTIME / "libintelocl.so")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert program.stdout.split() == ["0", "1", "4", "9", "16"]


def test_a_version_that_is_too_new_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.26)\nproject(p LANGUAGES CXX)\n"
        "find_package(usmx 99.0 QUIET)\n"
        'if(usmx_FOUND)\n  message(FATAL_ERROR "found")\nendif()\n'
    )
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, "-Dusmx_DIR=" + usmx.get_cmake_dir())


def test_the_headers_lie_where_get_include_says() -> None:
    assert (Path(usmx.get_include()) / "usmx" / "nanobind.hpp").is_file()
    assert run(sys.executable, "-m", "usmx", "--include").strip() == usmx.get_include()
    assert run(sys.executable, "-m", "usmx", "--cmake-dir").strip() == usmx.get_cmake_dir()
