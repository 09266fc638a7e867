"""Loads the compiled module, and with it the SYCL runtime from where the wheels put it.

libusmx finds the CPU driver when it is loaded (decision 0006). Here only ``os.environ``, which
Python filled when it started, is told of what it set.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

INSTALL_RUNTIME = "pip install 'intel-sycl-rt>=2026.0,<2027'"
INSTALL_CPU_DRIVER = "pip install 'intel-opencl-rt>=2026.0,<2027'"

CPU_DRIVER = "libintelocl.so"
DRIVERS_VARIABLE = "OCL_ICD_FILENAMES"
SHOWN_VARIABLE = "USMX_SHOWN_DRIVER"


def library_folders() -> list[str]:
    """Folders where wheels of this environment put their libraries, the most likely one first.

    Wheels install them into ``<scheme>/lib``, the folder of ``pythonX.Y/site-packages``, and
    ``pip install --target`` into ``<folder>/lib``. The paths are absolute and without repetitions;
    not all of them need to exist.
    """
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.path.join(packages, "lib"), os.path.join(sys.prefix, "lib")]
    if os.path.basename(packages) in ("site-packages", "dist-packages"):
        folders.insert(0, os.path.dirname(os.path.dirname(packages)))
    site = sys.modules.get("site")  # absent under `python -S`
    user_base = getattr(site, "USER_BASE", None)
    if user_base:
        folders.append(os.path.join(user_base, "lib"))
    for prefix in (sys.base_prefix, "/usr/local"):
        folders.append(os.path.join(prefix, "lib"))
    return list(dict.fromkeys(folders))


def find_library(name: str) -> str | None:
    """The absolute path of a library that a wheel installed, such as ``"libsycl.so.9"``."""
    for folder in library_folders():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return None


def load_module() -> ModuleType:
    """Load ``usmx._usmx``, and the SYCL runtime with it.

    Raises
    ------
    ImportError
        There is no SYCL runtime of the right version; names the command that installs it.
    """
    try:
        from . import _usmx
    except ImportError as error:
        if not _load_missing_library(error):
            raise
        from . import _usmx
    return _usmx


def _load_missing_library(error: ImportError) -> bool:
    """Load the library that an import missed; False if the error is about something else."""
    import re

    missing = re.match(r"(lib(?:sycl|umf)\.so\.(\d+)): cannot open", str(error))
    if not missing:
        return False
    path = find_library(missing[1])
    if path is None:
        import glob

        stem = missing[1].rsplit(".", 1)[0]
        others = sorted(
            other for folder in library_folders() for other in glob.glob(f"{folder}/{stem}.*[0-9]")
        )
        found = f" There is {', '.join(others)}: another major version." if others else ""
        raise ImportError(
            f"usmx needs {missing[1]} of the SYCL runtime, which is in none of "
            f"{', '.join(library_folders())}.{found} Install it with: {INSTALL_RUNTIME}"
        ) from error
    import ctypes

    ctypes.CDLL(path)
    return True


def shown_driver() -> str | None:
    """The CPU driver that usmx showed to the OpenCL loader, None if the user chose drivers."""
    from . import _usmx

    found = _usmx._cpu_driver()
    return str(found["driver"]) if found["shown"] else None


def wants_trace() -> bool:
    """Whether ``USMX_TRACE=1`` asks for the calls of all libraries to be seen from the start."""
    return os.environ.get("USMX_TRACE", "") not in ("", "0")


load_module()
if _driver := shown_driver():
    os.environ[DRIVERS_VARIABLE] = os.environ[SHOWN_VARIABLE] = _driver
