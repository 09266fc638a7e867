"""``python -m usmx.compat.cuda program.py``: an unchanged program for ``numba.cuda`` on usmx."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ..standing_in import run
from . import install


def main() -> None:
    """Run the program that the command names."""
    install()
    run("usage: python -m usmx.compat.cuda program.py [arguments]")


if __name__ == "__main__":
    main()
