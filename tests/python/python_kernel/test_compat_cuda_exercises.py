# The exercises of examples/numba_cuda, which are written for numba.cuda, on usmx.
# SPDX-License-Identifier: Apache-2.0
import runpy
from pathlib import Path

import numpy as np
import pytest

from usmx.compat import cuda

FILE = Path(__file__).parents[3] / "examples" / "numba_cuda" / "exercises.py"
with cuda.install():
    EXERCISES = runpy.run_path(str(FILE))["EXERCISES"]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.__name__)
def test_an_exercise_written_for_numba_equals_numpy(exercise):
    found, wanted, tolerance = exercise()
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_there_are_fourteen():
    assert len(EXERCISES) == 14
