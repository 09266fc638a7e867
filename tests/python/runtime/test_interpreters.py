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
@pytest.mark.parametrize("used", ["before", "after", "before and after", "never"])
def test_a_second_interpreter_is_refused(
    used: str, ended: str, without: str, run_python: Callable[..., Any]
) -> None:
    use = "import usmx; x = usmx.zeros(3); print(float(x[0]), flush=True)\n"
    code = BEGIN + (use if "before" in used else "") + TRY + ended + "\n"
    code += use if "after" in used else ""
    done = run_python(code.replace("WITHOUT", without), timeout=120)
    expected = ["0.0"] * ("before" in used) + ["refused: True"] + ["0.0"] * ("after" in used)
    assert done.stdout.split("\n")[:-1] == expected


@pytest.mark.parametrize("without", ["", WITHOUT_NUMPY], ids=["", "without NumPy"])
def test_a_refusal_that_is_not_caught_ends_the_process_as_any_error_does(
    without: str, run_python: Callable[..., Any]
) -> None:
    code = BEGIN + "import usmx\nx = usmx.zeros(3)\nother = interpreters.create()\n"
    code += "failed = interpreters.run_string(other, '''WITHOUT\nimport usmx''')\n"
    code += "raise ImportError(failed)  # newer interpreters return what the older ones raise\n"
    done = run_python(code.replace("WITHOUT", without), check=False, timeout=120)
    assert done.returncode == 1
    assert "main interpreter" in done.stderr
