"""Each recipe of docs/extending.md is a diff in tests/recipes: it applies to this tree, it changes
as many files as the page says, and with it the test that it brings passes.

What changes Python alone is laid over the package under test; what changes `src/core` alone is
compiled here. The others need a build of the library, which `make test-recipes` makes.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from depths import depth

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "recipes"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Recipe:
    """What a diff needs, and what shows that it is complete."""

    #: "python": laid over the package; "core": compiled alone; "build": the whole library.
    needs: str
    #: The test of the diff: a file, or what to select.
    test: str
    #: Files that it changes, without its tests.
    files: int
    #: A second test, of what it does on devices: it needs a build.
    on_devices: str = ""


RECIPES = {
    "function_of_arrays": Recipe("python", "tests/python/array/test_rms.py", 2),
    "function_of_kernels": Recipe(
        "build", "tests/python/python_kernel/test_kernel_intrinsics.py", 2
    ),
    "reduction": Recipe("python", "tests/python/fusion/test_fuse_counts.py", 1),
    "reduction_of_bits": Recipe("python", "tests/python/fusion/test_fuse_bits.py", 2),
    "dtype": Recipe(
        "core", "tests/cpp/core/test_float8.cpp", 5, "tests/cpp/transfer/test_float8_casts.cpp"
    ),
    "construct_of_kernels": Recipe(
        "python", "tests/python/python_kernel/test_language_match.py", 3
    ),
    "algorithm": Recipe("python", "tests/python/array/test_is_sorted.py", 2),
    "backend": Recipe("build", "tests/cpp/runtime/test_backend.cpp", 3),
}


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """What a command printed, or a failure with it."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def changed(name: str) -> list[str]:
    """The files of a diff."""
    text = (FOLDER / f"{name}.patch").read_text(encoding="utf-8")
    return re.findall(r"^diff --git a/(\S+) b/", text, re.M)


def copied(to: Path, *parts: str) -> Path:
    """A part of this tree, outside of the checkout."""
    ignored = shutil.ignore_patterns("__pycache__", "build", ".*_cache")
    for part in parts:
        source, target = ROOT / part, to / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy(source, target)
    return to


def test_each_diff_is_a_recipe_and_each_recipe_is_on_the_page() -> None:
    assert {path.stem for path in FOLDER.glob("*.patch")} == set(RECIPES)
    assert [name for name in RECIPES if f"tests/recipes/{name}.patch" not in PAGE] == []


@pytest.mark.parametrize("name", RECIPES)
def test_a_diff_applies_and_changes_as_many_files_as_it_says(name: str, tmp_path: Path) -> None:
    files, recipe = changed(name), RECIPES[name]
    copied(tmp_path, *(file for file in files if (ROOT / file).exists()))
    run("git", "apply", "--check", FOLDER / f"{name}.patch", cwd=tmp_path)
    assert len([file for file in files if not file.startswith("tests/")]) == recipe.files
    for test in (recipe.test, recipe.on_devices):
        assert test in files or (ROOT / test).exists()


OVER_PYTHON = [name for name, recipe in RECIPES.items() if recipe.needs == "python"]


@pytest.mark.parametrize("name", OVER_PYTHON)
def test_the_test_of_a_recipe_passes_with_it(name: str, tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree", "tests/conftest.py", "tests/lab", "pyproject.toml")
    copied(tree, "tests/python", "python/usmx")
    found = importlib.util.find_spec("usmx")
    assert found is not None
    assert found.origin is not None
    installed, over = Path(found.origin).parent, tmp_path / "over"
    run("git", "apply", FOLDER / f"{name}.patch", cwd=tree)
    # The compiled parts are those of the package; the wheel has its libraries next to it.
    shutil.copytree(installed, over / "usmx", symlinks=True)
    for file in changed(name):
        if file.startswith("python/usmx/"):
            target = over / file.removeprefix("python/")
            target.unlink(missing_ok=True)  # it may be a link into this tree
            shutil.copy(tree / file, target)
    run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "testpaths=",
        RECIPES[name].test,
        cwd=tree,
        PYTHONPATH=str(over),
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip


@pytest.mark.skipif(depth() == "quick", reason="compiles src/core")
@pytest.mark.parametrize("name", [n for n, recipe in RECIPES.items() if recipe.needs == "core"])
def test_a_recipe_of_the_core_compiles_and_its_test_passes(name: str, tmp_path: Path) -> None:
    tree = copied(tmp_path, "include", "kernels", "src/core", "tests/cpp/check.cpp")
    copied(tree, "tests/cpp/check.hpp")
    run("git", "apply", FOLDER / f"{name}.patch", cwd=tree)
    fmt = fmt_headers()
    sources = [*sorted((tree / "src" / "core").glob("*.cpp")), tree / "tests/cpp/check.cpp"]
    options = ("-std=c++20", "-O0", "-DFMT_HEADER_ONLY", "-Iinclude", "-Isrc", "-Itests/cpp")
    program = tree / "program"
    run(
        "g++", *options, *(f"-isystem{folder}" for folder in fmt), *sources,
        tree / RECIPES[name].test, "-o", program,
        cwd=tree,
    )  # fmt: skip
    assert ", 0 failed" in run(program, cwd=tree)


def fmt_headers() -> list[Path]:
    """Where {fmt} is, if not where the compiler looks by itself."""
    return [path.parent.parent for path in Path(sys.prefix).rglob("fmt/base.h")]


@pytest.mark.skipif(
    "USMX_BUILD_RECIPES" not in os.environ, reason="`make test-recipes` builds them"
)
def test_recipes_that_need_a_build_pass_their_tests(tmp_path: Path) -> None:
    tests = {
        name: recipe.test if recipe.needs == "build" else recipe.on_devices
        for name, recipe in RECIPES.items()
        if recipe.needs == "build" or recipe.on_devices
    }
    listed = run("git", "ls-files", "-z", cwd=ROOT).split("\0")
    tree = copied(tmp_path / "tree", *(file for file in listed if (ROOT / file).is_file()))
    for name in tests:
        run("git", "apply", FOLDER / f"{name}.patch", cwd=tree)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    options = ("-Cbuild-dir=build", "-Ccmake.define.USMX_BUILD_TESTS=ON")
    run(*pip, *options, "-w", "wheel", ".", cwd=tree, CCACHE_BASEDIR=str(tree))
    run("cmake", "--build", "build", "--target", "usmx_tests", cwd=tree, CCACHE_BASEDIR=str(tree))
    for test in tests.values():
        if test.endswith(".cpp"):
            file = test.removeprefix("tests/cpp/").removesuffix(".cpp")
            run("ctest", "--test-dir", "build", "--no-tests=error", "-R", file, cwd=tree)
        else:
            package = str(tree / "build" / "python")
            run(sys.executable, "-m", "pytest", "-q", test, cwd=tree, PYTHONPATH=package)
