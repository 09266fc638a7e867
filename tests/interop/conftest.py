"""What has to be done before the libraries are used, and how programs are run."""
# SPDX-License-Identifier: Apache-2.0

import gc
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

# Lets scikit-learn compute with other arrays than NumPy's.
os.environ["SCIPY_ARRAY_API"] = "1"

# What libraries do with memory that the host must not touch, also on a processor; for the processes
# of tests too.
os.environ["USMX_USM_TYPE"] = "device"

from rows import ROWS, USES

import usmx.counters

# The runtime counts its copies from its first use in the process.
usmx.counters.enable()

EXAMPLES = Path(__file__).parents[2] / "examples"


def pytest_collection_finish() -> None:
    """Import all libraries, and let `gc.collect()` pass over the million objects that they made."""
    for row in (*ROWS, *USES):
        exec(row.imports, {})
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of the example programs."""
    return EXAMPLES


@pytest.fixture(scope="session")
def run_program() -> Callable[..., str]:
    """Run a command, which must succeed, and give what it printed.

    ``run_program(*command, **variables)``: ``variables`` are added to the environment.
    """

    def run(*command: str | Path, **variables: str) -> str:
        done = subprocess.run(
            [str(word) for word in command],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run
