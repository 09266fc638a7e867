"""Commands as a user gives them: from outside the checkout, with nothing of it on Python's path."""
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
