"""A file that changes after it was imported: its kernels are read at their first launch, and the
text that is at their place then may be that of another function."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import linecache
from types import ModuleType

import pytest
from written_module import module_of

import usmx

LINES = """import usmx


@usmx.kernel
def first(item, x):
    x[item.get_id(0)] = 1


@usmx.kernel
def second(item, x):
    x[item.get_id(0)] = 2


@usmx.device_func
def third(a, b):
    return a + b


@usmx.device_func
def fourth(a, c):
    return a - c


@usmx.kernel
def fifth(item, x):
    x[item.get_id(0)] = third(3, 2)
"""


def imported(folder, name: str) -> ModuleType:
    return module_of(LINES, folder / f"{name}.py")


def launched(kernel) -> int:
    x = usmx.zeros(1, dtype="int64")
    kernel[1](x)
    return x.item()


def moved(folder, name: str, lines: int) -> None:
    """Change the file as an editor does: what was at a line is so many lines below."""
    (folder / f"{name}.py").write_text("#\n" * lines + LINES)
    linecache.checkcache()


@pytest.mark.parametrize("lines", [5, 10])
def test_another_function_at_the_place_is_refused(tmp_path, lines: int) -> None:
    name = f"kernels_that_move_by_{lines}"
    module = imported(tmp_path, name)
    assert launched(module.first) == 1  # whose text is kept, and comes to the place of the second
    moved(tmp_path, name, lines)
    with pytest.raises(usmx.KernelError, match=r"was changed after 'second' was defined|not that"):
        launched(module.second)
    with pytest.raises(usmx.KernelError, match=r"was changed after '.*' was defined|not that"):
        launched(module.fifth)


def test_what_was_launched_before_stays(tmp_path) -> None:
    name = "kernels_that_move_later"
    module = imported(tmp_path, name)
    assert (launched(module.second), launched(module.fifth)) == (2, 5)
    moved(tmp_path, name, 5)
    assert (launched(module.second), launched(module.fifth)) == (2, 5)


def test_a_file_that_is_imported_again_is_read_again(tmp_path) -> None:
    name = "kernels_that_come_again"
    imported(tmp_path, name)
    moved(tmp_path, name, 5)
    module = imported(tmp_path, name)
    assert (launched(module.second), launched(module.fifth)) == (2, 5)
