"""Random calls compared with NumPy: see differential.py."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
from typing import Any

import differential
import numpy as np
import pytest
from depths import of_depth
from differential_rows import DIFFERENCES, DRAWN, ROWS, TOPICS
from everyday import IN_EVERYDAY_PROGRAMS, RARER

import usmx

SEED = int(os.environ.get("USMX_FUZZ_SEED", "0"))
CASES = int(os.environ.get("USMX_FUZZ_CASES", of_depth(quick=4, pairs=20, full=40)))


@pytest.mark.parametrize("topic", TOPICS)
def test_random_calls_give_what_numpy_gives(topic: str) -> None:
    rows = [row for row in DRAWN if row in TOPICS[topic]]
    numbers = range(SEED, SEED + CASES)
    wrong = [
        str(found)
        for number in numbers
        if (found := differential.run(number, differential.choose(number, rows), DIFFERENCES))
    ]
    print(f"{topic}: {len(numbers)} cases, {len(wrong)} mismatches")
    assert not wrong, "\n".join(wrong)


#: Functions that NumPy and usmx have, and no row calls.
NOT_CALLED = {
    "arange", "linspace", "logspace", "eye", "identity", "tri", "ones", "zeros", "empty", "full",
    "asarray", "from_dlpack", "empty_like", "load", "save", "savez", "savez_compressed", "finfo",
    "iinfo", "can_cast", "isdtype", "promote_types", "result_type", "broadcast_shapes",
    "piecewise", "dtype", "ndarray", "get_include", "fft.fftfreq", "fft.rfftfreq",
    *IN_EVERYDAY_PROGRAMS, *RARER,
}  # fmt: skip


def test_each_function_that_numpy_has_too_has_a_row() -> None:
    called = {row.name for row in ROWS}
    spaces: dict[str, Any] = {"": usmx, "linalg.": usmx.linalg, "fft.": usmx.fft}
    missing = []
    for prefix, space in spaces.items():
        for name in dir(space):
            theirs = differential.found(np, prefix + name)
            is_function = callable(theirs) and not isinstance(theirs, type)
            public = name in getattr(space, "__all__", ()) and not name.startswith("_")
            if public and is_function and not {prefix + name, name} & (called | NOT_CALLED):
                missing.append(prefix + name)
    assert not missing


#: Rows that entries of DIFFERENCES are about; those that need kernels take longer.
EXCUSED = [
    row for row in ROWS if any(d.row != ".*" and re.fullmatch(d.row, row.name) for d in DIFFERENCES)
]
CASES_OF_A_ROW = of_depth(quick=12, full=60)


def counted(rows: list[differential.Row], differences: list[differential.Differs]) -> list[str]:
    """What is too broad for some cases of each of these rows."""
    for d in differences:
        d.used.clear()
    for row in rows:
        for number in range(SEED, SEED + CASES_OF_A_ROW):
            differential.run(number, row, differences, mode="alone")
    return differential.too_broad(differences, {row.name: CASES_OF_A_ROW for row in rows})


def test_no_difference_excuses_more_than_a_small_share_of_a_row() -> None:
    rows = [row for row in EXCUSED if not row.kernels]
    assert not counted(rows[:: of_depth(quick=24, pairs=24, full=6)], DIFFERENCES)


def test_a_difference_that_is_too_broad_is_found() -> None:
    def call(xp: Any, x: Any) -> Any:
        return x + 1 if xp is usmx else x

    row = differential.Row("planted", lambda d: ((d.array("d", (3,)),), {}), call=call)
    broad = differential.Differs("plan.*", "value", "", "anything")
    narrow = differential.Differs("planted", "value", r"\[nothing", "one case")
    assert len(counted([row], [narrow, broad])) == 1
    assert not counted([row], [narrow])


def test_what_one_law_excuses_is_held_to_the_others() -> None:
    def call(xp: Any, x: Any) -> Any:
        return (x + 1).astype("float32") if xp is usmx else x

    row = differential.Row("planted", lambda d: ((d.array("d", (3,)),), {}), call=call)
    excused = differential.Differs("planted", "dtype", "", "another type")
    found = differential.run(0, row, [excused], mode="alone")
    assert found is not None
    assert found.law == "value"


@pytest.mark.parametrize(
    ("law", "change"),
    [
        ("value", lambda x, y: x + y + 1),
        ("dtype", lambda x, y: (x + y).astype("float32") if isinstance(x, usmx.ndarray) else x + y),
        ("refused", lambda x, y: x.no_such if isinstance(x, usmx.ndarray) else x + y),
    ],
)  # fmt: skip
def test_a_planted_difference_is_found(law: str, change: Any) -> None:
    def call(xp: Any, x: Any, y: Any) -> Any:
        return change(x, y) if xp is usmx or law != "value" else x + y

    row = differential.Row(
        "planted", lambda d: ((d.array("d", (3,)), d.array("d", (3,))), {}), call=call
    )
    found = [differential.run(number, row, mode="alone") for number in range(4)]
    assert [m.law if m else None for m in found] == [law] * 4
