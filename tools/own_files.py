"""The files that the checks of this folder read."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def own_files() -> list[str]:
    """Files that git knows or would add, relative to ``ROOT``."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
