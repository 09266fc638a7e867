"""Kernels of every tier compile on a machine that has no C++ compiler and no headers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

# A mount namespace of its own in which the compiler's folders are empty.
HIDE = """
    empty=$(mktemp -d)
    for folder in /usr/include /usr/local/include /usr/lib/gcc /usr/lib/llvm-*; do
      if [ -d "$folder" ]; then mount --bind "$empty" "$folder"; fi
    done
    export PATH="$empty"
    unset CPATH CPLUS_INCLUDE_PATH C_INCLUDE_PATH
    exec "$@"
"""

TIERS = """
    import os, shutil
    assert not any(map(shutil.which, ("g++", "c++", "gcc", "cc", "clang++", "clang")))
    assert os.listdir("/usr/include") == os.listdir("/usr/lib/gcc") == []

    import numpy as np
    import usmx

    try:  # the control: what needs headers does not find them
        usmx.RawKernel('#include <sycl/sycl.hpp>\\nint f() { return 1; }', "f").compile()
    except usmx.BuildError as error:
        assert "file not found" in error.log, error.log
    else:
        raise AssertionError("there are C++ headers")

    x = usmx.arange(100, dtype="f4", usm_type="shared")
    numbers = np.arange(100, dtype="f4")

    usmx.RawKernel("USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += usmx::sqrt(4.0f); }", "f")[
        100
    ](x).wait()
    np.testing.assert_array_equal(np.asarray(x), numbers + 2)

    twice = usmx.ElementwiseKernel("T x", "T z", "z = 2 * x")
    np.testing.assert_array_equal(twice(x).to_numpy(), 2 * numbers + 4)
    total = usmx.ReductionKernel("T x", "T z", "x", "a + b", "z = a", "0", "total")
    assert total(x).to_numpy() == numbers.sum() + 200
    running = usmx.ScanKernel("T x", "T z", "x", "a + b", identity="0", name="running")
    np.testing.assert_array_equal(running(x).to_numpy(), np.cumsum(numbers + 2))

    @usmx.fuse
    def fused(a):
        return np.where(a > 5, np.abs(a), -a)

    np.testing.assert_array_equal(
        fused(x).to_numpy(), np.where(numbers + 2 > 5, numbers + 2, -numbers - 2)
    )
    np.testing.assert_array_equal(x[::-2].astype("i8").to_numpy(), (numbers + 2)[::-2])
"""

PYTHON_KERNEL = """
import numpy as np

import usmx


@usmx.kernel
def histogram(item, values, counts):
    mine = usmx.local.array(10, usmx.int32)
    place = item.get_local_id(0)
    if place < 10:
        mine[place] = 0
    usmx.barrier()
    usmx.atomic.add(mine, int(values[item.get_global_id(0)]) % 10, 1)
    usmx.barrier()
    if place < 10:
        usmx.atomic.add(counts, place, mine[place])


x = usmx.arange(100, dtype="f4")
counts = usmx.zeros(10, "i4")
histogram[100, 50](x, counts).wait()
assert (counts.to_numpy() == 10).all()
print("all tiers")
"""


@pytest.fixture
def hidden() -> list[str]:
    """How to start a program where compiler and headers are hidden."""
    unshare = shutil.which("unshare")
    assert unshare, "unshare (util-linux) is needed to hide the compiler"
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return [unshare, *as_root, "--mount", shutil.which("bash") or "bash", "-ec", HIDE, "hidden"]


def test_every_tier_works_where_nothing_of_a_compiler_is_installed(hidden, tmp_path) -> None:
    program = tmp_path / "tiers.py"  # a kernel in Python has to have a file
    program.write_text(textwrap.dedent(TIERS) + PYTHON_KERNEL)
    done = subprocess.run(
        [*hidden, sys.executable, program],
        env=os.environ | {"USMX_CACHE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all tiers\n"
