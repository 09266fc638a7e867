"""Arrays of usmx in chunks of Dask: their size is counted, and their functions travel."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

import usmx


@pytest.mark.parametrize("kind", ["shared", "device"])
def test_dask_weighs_them_as_numpys(kind):
    from dask.sizeof import sizeof

    theirs = sizeof(np.ones(1 << 16))
    assert theirs <= sizeof(usmx.ones(1 << 16, usm_type=kind)) < 1.01 * theirs


def test_a_worker_that_has_too_many_spills_them(tmp_path):
    from distributed.spill import SpillBuffer

    buffer = SpillBuffer(str(tmp_path), target=10 << 16)
    for k in range(8):
        buffer[f"x{k}"] = usmx.full(1 << 13, float(k)).reshape(8, -1)
    one = buffer["x0"].nbytes
    assert len(buffer.slow) == 0
    assert one == 1 << 16
    for k in range(8, 16):
        buffer[f"x{k}"] = usmx.full(1 << 13, float(k)).reshape(8, -1)
    assert len(buffer.slow) >= 5
    assert float(buffer["x3"].sum()) == 3.0 * (1 << 13)
