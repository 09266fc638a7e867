"""What the tests of the installed package share: the wheel under test, and environments with it."""
# SPDX-License-Identifier: Apache-2.0

import os
import sys
import venv
from pathlib import Path

import pytest
from environments import ROOT, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that ``make`` built, or a new one."""
    if ready := os.environ.get("USMX_WHEEL"):
        return (ROOT / ready).resolve(strict=True)
    out = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip, "-Cbuild-dir=" + str(ROOT / "build" / "venv"), "-w", out, ROOT)
    return next(out.glob("usmx-*.whl"))


@pytest.fixture(scope="session")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that holds the wheel and what it depends on."""
    place = tmp_path_factory.mktemp("empty") / "environment"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", wheel)
    return python


@pytest.fixture(scope="session")
def developer_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment for authors of extensions: the wheel, build tools, dpctl."""
    place = tmp_path_factory.mktemp("developer") / "environment"
    venv.create(place, with_pip=True, symlinks=True)
    python = place / "bin" / "python"
    tools = ("scikit-build-core>=0.11", "nanobind>=3.1", "cmake", "ninja", "numpy", "dpctl")
    tools += ("pybind11>=2.13", "cython>=3.1", "setuptools>=77")
    run(sys.executable, "-m", "pip", "--python", python, "install", wheel, *tools)
    return python
