"""An error leads to its entry on the page of troubleshooting, and there is no link without one."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
import re
import traceback
from collections.abc import Callable

import lab
import numpy as np
import pytest
from test_docs import anchors

import usmx
import usmx.memory
from usmx import _usmx

PAGE = lab.ROOT / "docs" / "troubleshooting.md"
HEADINGS = re.findall(r"^### `(.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
LINK = re.compile(r"help: (https://\S+/)troubleshooting\.html#(\S+)")


def test_the_headings_are_those_of_the_page() -> None:
    assert _usmx._Testing.help_headings() == HEADINGS


@pytest.mark.parametrize("heading", HEADINGS)
def test_each_entry_of_the_page_has_a_link_and_its_anchor_exists(heading: str) -> None:
    note = _usmx._help_note(f"x: {heading}, and more")
    assert note is not None
    found = LINK.fullmatch(note)
    assert found is not None
    assert found[2] in anchors(PAGE)


def test_a_message_without_an_entry_has_no_link() -> None:
    assert _usmx._help_note("something else") is None
    with pytest.raises(TypeError) as raised:
        usmx.ones("x")  # type: ignore[arg-type]
    assert not hasattr(raised.value, "__notes__")


def test_the_address_of_the_site_is_in_one_place() -> None:
    named = [
        path.relative_to(lab.ROOT).as_posix()
        for folder in ("python", "src", "include")
        for path in sorted((lab.ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".cpp", ".hpp"} and "usmx.readthedocs" in path.read_text("utf-8")
    ]
    assert named == ["python/bindings/support/help_link.cpp"]


def no_device() -> None:
    usmx.Device("gpu:99")


def ambiguous() -> None:
    bool(usmx.ones(2))


def device_memory() -> None:
    np.asarray(usmx.ones(3, usm_type="device"))


def not_together() -> None:
    (usmx.ones(2) + usmx.ones(3)).wait()


def freed() -> None:
    memory = usmx.memory.MemoryUSMHost(8)
    memory.free()
    memory.tobytes()


def not_in_kernels() -> None:
    @usmx.kernel
    def wrong(item, x):  # type: ignore[no-untyped-def]
        x[0] = {k for k in x}

    wrong[1](usmx.ones(1))


def no_range() -> None:
    usmx.kernel(lambda item, x: None)(usmx.ones(1))


def copied() -> None:
    with usmx.expect_zero_copy():
        usmx.ones(1000, usm_type="device").to_numpy()


def no_name() -> None:
    usmx.no_such_name  # noqa: B018


@pytest.mark.parametrize(
    "wrong",
    [no_device, ambiguous, device_memory, not_together, freed, not_in_kernels, no_range, copied,
     no_name],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_an_error_has_its_link_once_behind_its_message(wrong: Callable[[], None]) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011 (each has a class of its own)
        wrong()
    (note,) = raised.value.__notes__
    found = LINK.fullmatch(note)
    assert found is not None, note
    assert found[2] in anchors(PAGE)
    assert "http" not in str(raised.value)
    shown = "".join(traceback.format_exception(raised.value)).rstrip()
    assert shown.endswith(note)


def test_an_error_keeps_its_link_when_it_is_sent() -> None:
    with pytest.raises(usmx.DeviceError) as raised:
        no_device()
    sent = pickle.loads(pickle.dumps(raised.value))
    assert sent.__notes__ == raised.value.__notes__


def test_a_wrong_call_of_a_bound_function_stays_one_line() -> None:
    with pytest.raises(TypeError, match="dtyp") as raised:
        usmx.zeros(3, dtyp="f4")  # type: ignore[call-overload]
    assert not hasattr(raised.value, "__notes__")
