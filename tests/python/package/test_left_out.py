"""Tests that a device cannot run are left out by its row, counted, and named with the reason."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import backend_row
import pytest
from backend_row import REASONS, ROW, LeftOut, has, needs

#: As the device of a graphics processor would answer.
OTHER = ROW._replace(
    device="cuda:gpu:0",
    backend="cuda",
    is_host=False,
    lost_by_fork=True,
    keeps_binaries=False,
    takes_structs=False,
    groups_are_loops=False,
    copies_to_host_by_driver=True,
    uses_host_memory=False,
    divides=False,
    dlpack={"device": 2, "shared": 13, "host": 3},
)


def item(*what: str) -> Any:
    marks = [needs(*what).mark] if what else []
    return SimpleNamespace(iter_markers=lambda name: marks if name == "needs" else [])


def test_what_a_device_lacks_is_left_out_and_named_with_the_reason() -> None:
    deselected: list[Any] = []
    config: Any = SimpleNamespace(
        hook=SimpleNamespace(pytest_deselected=lambda *, items: deselected.extend(items))
    )
    plain, here, there = item(), item("host_memory", "fork"), item("fork")
    items = [plain, here, there]
    plugin = LeftOut(OTHER)
    plugin.pytest_collection_modifyitems(config, items)
    assert items == [plain]
    assert deselected == [here, there]
    lines: list[str] = []
    plugin.pytest_terminal_summary(SimpleNamespace(write_line=lines.append))  # type: ignore[arg-type]
    assert lines == [
        f"left out on cuda:gpu:0: 1 tests that need fork: {REASONS['fork']}",
        f"left out on cuda:gpu:0: 1 tests that need host_memory: {REASONS['host_memory']}",
    ]


@pytest.mark.parametrize("what", REASONS)
def test_each_need_is_what_some_device_has_and_another_lacks(what: str) -> None:
    # Of the two rows: one that no device lacks would leave nothing out.
    processor = OTHER._replace(
        backend="opencl", is_host=True, lost_by_fork=False, keeps_binaries=True,
        takes_structs=True, groups_are_loops=True, copies_to_host_by_driver=False,
        uses_host_memory=True, shows_device_memory=True, divides=True,
        dlpack=dict.fromkeys(OTHER.dlpack, 14),
    )  # fmt: skip
    assert has(what, processor)
    unknown = OTHER._replace(backend="hip", shows_device_memory=False)
    assert not has(what, OTHER) or not has(what, unknown)


def test_an_unknown_need_is_refused() -> None:
    with pytest.raises(ValueError, match="needs: \\['toaster'\\]; expected some of"):
        needs("toaster")


def test_the_row_of_this_device_is_complete() -> None:
    assert ROW.device
    assert backend_row.own_device("shared") == (ROW.dlpack["shared"], 0)
