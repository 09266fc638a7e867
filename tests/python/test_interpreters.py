"""A second interpreter in the process is refused, and the first one goes on and ends as ever."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BEGIN = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
WITHOUT
"""

TRY = """
other = interpreters.create()
interpreters.run_string(other, '''
WITHOUT
try:
    import usmx
except ImportError as error:
    print("refused:", "main interpreter" in str(error), flush=True)
else:
    print("imported", usmx.zeros(3), flush=True)
''')
"""

WITHOUT_NUMPY = "import sys; sys.modules['numpy'] = None"


@pytest.mark.parametrize("without", ["", WITHOUT_NUMPY], ids=["", "without NumPy"])
@pytest.mark.parametrize("ended", ["interpreters.destroy(other)", ""], ids=["ended", "left"])
@pytest.mark.parametrize("used", ["before", "after", "never"])
def test_a_second_interpreter_is_refused(
    used: str, ended: str, without: str, run_python: Callable[..., Any]
) -> None:
    use = "import usmx; x = usmx.zeros(3); print(float(x[0]), flush=True)\n"
    code = BEGIN + (use if used == "before" else "") + TRY + ended + "\n"
    code += use if used != "never" else ""
    done = run_python(code.replace("WITHOUT", without), timeout=120)
    expected = ["0.0"] * (used == "before") + ["refused: True"] + ["0.0"] * (used != "never")
    assert done.stdout.split("\n")[:-1] == expected
