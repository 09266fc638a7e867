"""Says what this machine lacks for a build, and the command that installs it.

Runs on any installed Python, before anything else is installed, so it uses nothing newer than 3.6.
"""
# SPDX-License-Identifier: Apache-2.0

import importlib.util
import os
import shutil
import sys
import sysconfig


def missing():
    """Pairs of (what is missing, the Debian package that has it)."""
    found = []
    if sys.version_info < (3, 11):
        found.append(("Python 3.11 or newer (this is %d.%d)" % sys.version_info[:2], "python3"))
    if not shutil.which(os.environ.get("CXX", "g++")):
        found.append(("a C++ compiler", "g++"))
    if not importlib.util.find_spec("ensurepip") or not importlib.util.find_spec("venv"):
        found.append(("Python's venv and ensurepip", "python3-venv"))
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.exists(header):
        found.append(("Python's C headers (" + header + ")", "python3-dev"))
    return found


if __name__ == "__main__":
    gaps = missing()
    for what, _ in gaps:
        print("missing: " + what, file=sys.stderr)
    if gaps:
        packages = " ".join(package for _, package in gaps)
        print("on Debian or Ubuntu:  sudo apt install " + packages, file=sys.stderr)
        sys.exit(1)
