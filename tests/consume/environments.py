"""Commands as a user gives them: from outside the checkout, with nothing of it on Python's path."""
# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made once in a run: the workers of pytest-xdist wait for the first one.

    Parameters
    ----------
    factory : pytest.TempPathFactory
        Knows the folder of this worker, which is in that of the run.
    name : str
        What is in the folder.
    make : callable
        Takes the path, which does not exist yet.
    """
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place, ready = shared / name, shared / f"{name}.ready"
    with open(shared / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            make(place)
            ready.touch()
    return place


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command; return what it printed, or fail with it."""
    inside = ("PYTHONPATH", "VIRTUAL_ENV", "OCL_ICD_FILENAMES", "USMX_SHOWN_DRIVER")
    outside = {k: v for k, v in os.environ.items() if k not in inside}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd or Path("/"),
        env=outside,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout
