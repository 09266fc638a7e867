"""``python -m usmx.compat.cupy program.py``: an unchanged program for CuPy on usmx."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ..standing_in import run
from .installing import install


def main() -> None:
    """Run the program that the command names."""
    install()
    run("usage: python -m usmx.compat.cupy program.py [arguments]")


if __name__ == "__main__":
    main()
