# Everything public, called with what no program means: no crash, no hang, no words of the runtime.
# USMX_FUZZ_CALLS says how many calls, few by default; USMX_FUZZ_SEED is the first process's: each
# makes 300 calls and has the number after, so that any of them can be reproduced.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import fuzz_api
import pytest
from depths import of_depth

CALLS = int(os.environ.get("USMX_FUZZ_CALLS", of_depth(quick=600, pairs=1200, full=2400)))
FIRST = int(os.environ.get("USMX_FUZZ_SEED", "1"))
TOGETHER = 300
SEEDS = range(FIRST, FIRST + -(-CALLS // TOGETHER))


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Compiled kernels, kept from one process to the next."""
    return {
        **os.environ,
        "USMX_CACHE": "1",
        "USMX_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }


def run(seed, environment):
    return subprocess.run(
        [sys.executable, Path(fuzz_api.__file__), str(seed), str(TOGETHER)],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=240,
        check=False,
        env=environment,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_call_of_anything_public_crashes_hangs_or_says_what_the_runtime_said(seed, cache):
    said = run(seed, cache)
    defects = [line for line in said.stdout.splitlines() if line.startswith("DEFECT")]
    last = "\n".join(said.stdout.splitlines()[-3:])
    assert defects == []
    assert said.returncode == 0, f"{last}\n{said.stderr[-3000:]}"
    assert f"done {TOGETHER} calls, 0 defects" in said.stdout


def test_the_fuzzer_reaches_nearly_everything_that_is_public():
    functions, classes, attributes = fuzz_api.targets()
    assert len(functions) > 60
    assert len(classes) > 25
    assert len(attributes) > 350
    assert {"zeros", "copy_2d_async", "ndarray", "MemoryUSMHost"} <= set(functions)
    assert {("ndarray", "reshape"), ("MemoryUSMHost", "free")} <= set(attributes)
