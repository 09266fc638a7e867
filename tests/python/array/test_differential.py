"""Random calls compared with NumPy: see differential.py."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import differential
import pytest

SEED = int(os.environ.get("USMX_FUZZ_SEED", "0"))
CASES = int(os.environ.get("USMX_FUZZ_CASES", "14"))


@pytest.mark.parametrize("topic", differential.TOPICS)
def test_random_calls_give_what_numpy_gives(topic: str) -> None:
    wrong = [
        found
        for number in range(SEED, SEED + CASES)
        if (found := differential.run(number, topic)) is not None
    ]
    assert not wrong, "\n".join(wrong)
