"""Compile ``arrow_pool`` for this Python and its pyarrow: ``python build.py [folder]``."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pyarrow

from usmx import paths


def main(folder: Path) -> Path:
    """Compile into the folder and return the module's path."""
    here = Path(__file__).parent
    out = folder / f"arrow_pool{sysconfig.get_config_var('EXT_SUFFIX')}"
    arrow = Path(pyarrow.get_library_dirs()[0])
    # The wheel of pyarrow names its library by the version that it belongs to.
    library = next(arrow.glob("libarrow.so.*"))
    include = ("-I" + sysconfig.get_path("include"), "-isystem", pyarrow.get_include())
    command = [
        *("g++", "-O2", "-shared", "-fPIC", str(here / "arrow_pool.cpp"), "-o", str(out)),
        *include,
        *paths.get_cflags(),
        *(str(library), f"-Wl,-rpath,{arrow}"),
        *paths.get_libs(),
    ]
    subprocess.run(command, check=True)
    return out


if __name__ == "__main__":
    print(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
