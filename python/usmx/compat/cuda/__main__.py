"""``python -m usmx.compat.cuda program.py``: an unchanged program for ``numba.cuda`` on usmx."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import runpy
import sys

from . import install


def main() -> None:
    """Run the program that the command names."""
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m usmx.compat.cuda program.py [arguments]")
    install()
    del sys.argv[0]
    sys.path.insert(0, sys.argv[0].rpartition("/")[0] or ".")
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
