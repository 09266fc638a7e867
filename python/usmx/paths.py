"""Where the C++ half of the package lies, for build systems of extensions.

``python -m usmx.paths --cmake-dir`` prints what ``usmx_DIR`` needs to be, ``--include`` the folder
of the headers. It needs no device and does not load the SYCL runtime itself.
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


def main() -> None:
    """Print the folders that were asked for, one per line: headers first."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m usmx.paths", description=main.__doc__)
    parser.add_argument("--include", action="store_true", help="folder of the C++ headers")
    parser.add_argument("--cmake-dir", action="store_true", help="folder of usmxConfig.cmake")
    asked = parser.parse_args()
    if not (asked.include or asked.cmake_dir):
        parser.error("nothing asked for")
    if asked.include:
        print(get_include())
    if asked.cmake_dir:
        print(get_cmake_dir())


if __name__ == "__main__":
    main()
