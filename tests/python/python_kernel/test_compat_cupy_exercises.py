# The exercises of examples/cupy, which are written for CuPy: only the import is another one.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[3] / "examples" / "cupy" / "exercises.py"
BEFORE, AFTER = "import cupy as cp\n", "import usmx.compat.cupy as cp\n"


def exercises():
    text = FILE.read_text(encoding="utf-8")
    assert text.count(BEFORE) == 1
    names = {"__name__": "exercises"}
    exec(compile(text.replace(BEFORE, AFTER), str(FILE), "exec"), names)
    return names["EXERCISES"]


EXERCISES = exercises()


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.__name__)
def test_an_exercise_written_for_cupy_equals_numpy(exercise):
    found, wanted, tolerance = exercise()
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_there_are_fourteen():
    assert len(EXERCISES) == 14
