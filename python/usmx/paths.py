"""Where the C++ half of the package lies, for build systems of extensions.

On a command line, ``usmx --cmake-dir`` and ``usmx --include`` print them.
"""
# SPDX-License-Identifier: Apache-2.0

import os

__all__ = ["get_cmake_dir", "get_include"]


def _installed(*parts: str) -> str:
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), *parts)
    if not os.path.isdir(path):
        raise RuntimeError(
            f"{path} does not exist: this usmx runs from a build folder, which has no installed "
            "headers; install it (pip install .) to build extensions against it"
        )
    return path


def get_include() -> str:
    """Folder to pass as ``-I``, so that ``#include <usmx/array.hpp>`` works.

    Returns
    -------
    str
        Absolute path.

    Raises
    ------
    RuntimeError
        If usmx is not installed but runs from its build folder.
    """
    return _installed("include")


def get_cmake_dir() -> str:
    """Folder of ``usmxConfig.cmake``, for ``cmake -Dusmx_DIR=...`` and then ``find_package(usmx)``.

    Returns
    -------
    str
        Absolute path.

    Raises
    ------
    RuntimeError
        If usmx is not installed but runs from its build folder.
    """
    return _installed("lib", "cmake", "usmx")
