"""What the tests of the installed package share: the wheel under test, and environments with it."""
# SPDX-License-Identifier: Apache-2.0

import os
import sys
import venv
from pathlib import Path

import pytest
from environments import ROOT, once, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that ``make`` built, or a new one."""
    if ready := os.environ.get("USMX_WHEEL"):
        return (ROOT / ready).resolve(strict=True)
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    build = "-Cbuild-dir=" + str(ROOT / "build" / "venv")
    out = once(tmp_path_factory, "wheel", lambda place: run(*pip, build, "-w", place, ROOT))
    return next(out.glob("usmx-*.whl"))


@pytest.fixture(scope="session")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that holds the wheel and what it depends on."""

    def make(place: Path) -> None:
        venv.create(place, with_pip=False, symlinks=True)
        run(sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install", wheel)

    return once(tmp_path_factory, "empty-environment", make) / "bin" / "python"


@pytest.fixture(scope="session")
def developer_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment for authors of extensions: the wheel, build tools, dpctl."""

    def make(place: Path) -> None:
        venv.create(place, with_pip=True, symlinks=True)
        tools = ("scikit-build-core>=0.11", "nanobind>=3.1", "cmake", "ninja", "numpy", "dpctl")
        tools += ("pybind11>=2.13", "cython>=3.1", "setuptools>=77")
        pip = (sys.executable, "-m", "pip", "--python", place / "bin" / "python")
        run(*pip, "install", wheel, *tools)

    return once(tmp_path_factory, "developer-environment", make) / "bin" / "python"
