# The compiled module has few functions of its own: docs/decisions/0115.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from pathlib import Path

from usmx import _usmx

PRIVATE = [n for n in dir(_usmx) if n.startswith("_") and not n.startswith("__")]
FUNCTIONS = [n for n in PRIVATE if not isinstance(getattr(_usmx, n), type)]
#: What C++ itself looks up: the table of other extensions, errors of slots, signatures.
OF_CPP = {"_api", "_raise_again", "_signature_of"}


def test_one_door_for_each_act_leaves_few_private_functions() -> None:
    assert len(FUNCTIONS) <= 35, FUNCTIONS


def test_the_package_calls_each_private_function() -> None:
    """What only tests ask stands in `_Testing`."""
    folder = Path(_usmx.__file__).parent
    text = "\n".join(path.read_text() for path in folder.rglob("*.py"))
    used = set(re.findall(r"\b_[a-z]\w*", text))
    assert set(FUNCTIONS) - used - OF_CPP == set()
    assert "_Testing" not in text
