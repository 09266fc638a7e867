"""A quick run has a case of each test function, every pair of values, and says what it left out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import depths
import pytest
from quick_share import PART, SHARE, WITH_PAIRS

TESTS = Path(__file__).resolve().parents[1]
CASES = [list(case) for case in itertools.product("abcde", "xyz", range(4))]


def pairs(cases: list[list[object]]) -> set[tuple[object, ...]]:
    """Each two values that are in one case, with their places."""
    return {
        (i, case[i], j, case[j])
        for case in cases
        for i, j in itertools.combinations(range(len(case)), 2)
    }


def test_every_pair_of_values_is_in_a_case_that_is_left() -> None:
    left = [CASES[k] for k in depths.chosen(CASES, None)]
    assert pairs(left) == pairs(CASES)
    assert len(left) < 30 < len(CASES)


def test_cases_that_are_a_list_keep_the_pairs_that_are_in_it() -> None:
    listed = [["i", 1, "C"], ["i", 1, "F"], ["f", 2, "C"], ["f", 2, "F"], ["f", 2, "F"]]
    assert depths.chosen(listed, None) == [0, 1, 2, 3]


def test_the_most_cases_are_every_value_first() -> None:
    left = [CASES[k] for k in depths.chosen(CASES, 6)]
    assert len(left) == 6
    assert [{case[k] for case in left} for k in range(3)] == [set("abcde"), set("xyz"), {*range(4)}]


def test_fewer_cases_than_values_come_from_all_parts_of_the_list() -> None:
    assert depths.chosen([[k] for k in range(100)], 4) == [0, 25, 50, 75]


@pytest.mark.parametrize("cases", [[], [[]], [["a"], ["a"]], [[1, 2]]])
def test_a_function_without_parameters_or_with_equal_ones_keeps_a_case(cases) -> None:
    assert len(depths.chosen(cases, None)) == min(len(cases), 1)


def test_values_are_the_same_by_type_and_text_and_objects_by_themselves() -> None:
    assert depths.key(1) != depths.key(1.0) != depths.key(True)
    assert depths.key(float("nan")) == depths.key(float("nan"))
    assert depths.key((1, "a")) == depths.key((1, "a"))
    assert depths.key([1]) != depths.key([1])


def test_the_most_specific_share_counts() -> None:
    shares = {"room/": 4, "room/test_a.py::test_b": 9}
    assert depths.share_of("room/test_a.py::test_b", shares) == 9
    assert depths.share_of("room/test_a.py::test_c", shares) == 4
    assert depths.share_of("elsewhere/test_a.py::test_b", shares) is None


def test_with_pairs_each_function_has_a_case() -> None:
    assert min(WITH_PAIRS.values()) > 0


def test_a_share_of_nothing_leaves_a_function_to_full_runs() -> None:
    assert depths.chosen(CASES, 0) == depths.chosen([[]], 0) == []


def test_a_part_of_the_functions_of_each_file_is_every_so_many(monkeypatch) -> None:
    monkeypatch.setattr(depths, "PART", {"room/": 3, "room/test_b.py": 2})
    names = [f"{file}::test_{k}" for file in ("room/test_a.py", "room/test_b.py", "a/test_c.py")
             for k in range(5)]  # fmt: skip
    kept = depths.every_so_many(names)
    numbers = {file: [k for k in range(5) if f"{file}::test_{k}" in kept]
               for file in ("room/test_a.py", "room/test_b.py", "a/test_c.py")}  # fmt: skip
    assert list(numbers.values()) == [[0, 3], [0, 2, 4], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("part", [*SHARE, *PART, *WITH_PAIRS])
def test_each_share_fits_a_test(part: str) -> None:
    file, _, function = part.rpartition("::")
    if part.endswith("/"):
        assert (TESTS.parent / part).is_dir()
        return
    named = rf"def \w*{re.escape(function)}\w*\("
    files = TESTS.rglob(file if file.endswith(".py") else "test_*.py")
    assert any(re.search(named, path.read_text(encoding="utf-8")) for path in files)


PROGRAM = """
import os, pytest
from depths import of_depth, some
@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(3))
@pytest.mark.parametrize("c", range(3))
def test_many(a, b, c): pass
def test_one():
    number = int(os.environ["EXPECTED"])
    assert of_depth(quick=1, pairs=2, full=3) == number
    assert of_depth(quick=1, full=3) == (1 if number == 1 else 3)
    assert list(some("abcdef", 3)) == list("ace" if number == 1 else "abcdef")
    assert len(some("abcdefgh", 2)) == (0, 2, 4, 8)[number]
"""
SHARED = """
import pytest
from depths import some
@pytest.mark.parametrize("a", range(40))
def test_shared(a):
    with open("seen.txt", "a") as file:
        file.write("".join(some("abcdefgh", 1)))
"""


FEW = """
import pytest
@pytest.mark.parametrize("a", range(40))
def test_expensive(a): pass
"""


def test_pairs_are_all_functions_with_every_pair_of_values(tmp_path: Path) -> None:
    said = run(tmp_path, "--depth", "pairs", expected=2)
    passed = int(re.search(r"(\d+) passed", said)[1])
    assert 10 <= passed <= 14
    assert f"pairs: {passed} cases; --depth full" in said


def test_cases_of_a_function_share_the_values_of_a_list(tmp_path: Path) -> None:
    for seen in ("first", "second"):
        run(tmp_path, "--depth", "pairs", expected=2, program=SHARED)
        (tmp_path / "seen.txt").rename(tmp_path / seen)
    values = (tmp_path / "first").read_text()
    assert len(values) == 80
    assert set(values) == set("abcdefgh")
    assert values == (tmp_path / "second").read_text()


def run(
    folder: Path,
    *arguments: str,
    expected: int,
    program: str = PROGRAM,
    file: str = "test_it.py",
) -> str:
    """The last lines of pytest, on a file with two tests of 28 cases."""
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "depths", "-p", "no:cacheprovider", "-q",
         "--rootdir", folder, "-c", os.devnull, *arguments, file],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS / "lab"), "EXPECTED": str(expected)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout  # fmt: skip


def test_a_run_says_how_many_cases_it_left_out(tmp_path: Path) -> None:
    quick = run(tmp_path, "--depth", "quick", expected=1)
    passed, left = (int(re.search(rf"(\d+) {word}", quick)[1]) for word in ("passed", "deselected"))
    assert passed + left == 28
    assert 10 <= passed <= 14
    assert f"quick: {passed} cases; --depth full (`make test-all`) has {left} more" in quick
    assert "28 passed" in run(tmp_path, expected=3)
    assert "28 passed" in run(tmp_path, "--depth", "quick", "--full-in", "test_it.py", expected=1)


def test_a_folder_has_pairs_in_a_quick_run(tmp_path: Path) -> None:
    file = "tests/python/kernel/test_it.py"

    def passed(*arguments: str) -> int:
        said = run(tmp_path, *arguments, expected=1, program=FEW, file=file)
        return int(re.search(r"(\d+) passed", said)[1])

    assert passed("--depth", "quick") == 1
    assert passed("--depth", "quick", "--pairs-in", "tests/python/kernel") == 4
    assert passed("--depth", "pairs") == 4


def test_workers_leave_out_the_same_cases(tmp_path: Path) -> None:
    alone = run(tmp_path, "--depth", "quick", expected=1)
    shared = run(tmp_path, "--depth", "quick", "-n", "2", expected=1)
    (said,) = re.findall(r"quick: .*", shared)
    assert said in alone
