"""Where the C++ half of the package lies, for compilers and build systems.

On a command line, ``usmx --cflags --libs``, ``--cmake-dir`` and ``--include`` print them.
"""
# SPDX-License-Identifier: Apache-2.0

import os

from . import _explained, _runtime

__all__ = ["get_cflags", "get_cmake_dir", "get_include", "get_libs"]


def _installed(*parts: str) -> str:
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), *parts)
    if not os.path.isdir(path):
        raise RuntimeError(
            f"{path} does not exist: this usmx runs from a build folder, which has no installed "
            "headers; install it (pip install .) to build extensions against it"
        )
    return path


def get_include() -> str:
    """Absolute path of the folder to pass as ``-I``: ``#include <usmx/array.hpp>`` then works.

    Returns
    -------
    str
        The folder, which exists.

    Raises
    ------
    RuntimeError
        If usmx is not installed but runs from its build folder.

    Examples
    --------
    >>> import os
    >>> import usmx
    >>> os.path.isfile(os.path.join(usmx.get_include(), "usmx", "array.hpp"))
    True
    """
    return _installed("include")


def get_cmake_dir() -> str:
    """Absolute path of the folder of ``usmxConfig.cmake``, for ``cmake -Dusmx_DIR=...``.

    Returns
    -------
    str
        The folder, which exists.

    Raises
    ------
    RuntimeError
        As `get_include`.

    Examples
    --------
    >>> import os
    >>> import usmx
    >>> os.path.isdir(usmx.get_cmake_dir())
    True
    """
    return _installed("lib", "cmake", "usmx")


def _runtime_folder(*parts: str) -> str:
    """A folder of the SYCL runtime's wheel, found by the file that must be in it."""
    for folder in _runtime.library_folders():
        path = os.path.join(os.path.dirname(folder), *parts)
        if os.path.exists(path):
            return os.path.dirname(path)
    raise RuntimeError(
        f"{'/'.join(parts)} of the SYCL runtime was not found next to any of "
        f"{', '.join(_runtime.library_folders())}: {_runtime.INSTALL_RUNTIME}"
    )


def get_cflags() -> list[str]:
    """Options with which g++ and clang++ find the headers of usmx and of SYCL.

    Returns
    -------
    list of str
        One option an element.

    Raises
    ------
    RuntimeError
        As `get_include`, or if SYCL's headers are missing.

    Examples
    --------
    >>> import usmx.paths
    >>> any(flag.startswith("-I") for flag in usmx.paths.get_cflags())
    True
    """
    sycl = os.path.dirname(_runtime_folder("include", "sycl", "version.hpp"))
    return [
        "-std=c++20",
        "-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING",
        f"-I{get_include()}",
        "-isystem",
        sycl,
    ]


def get_libs() -> list[str]:
    """Options with which the linker, and later the program, finds libusmx and libsycl.

    They come after the source files.

    Returns
    -------
    list of str
        One option an element.

    Raises
    ------
    RuntimeError
        As `get_include`, or if libsycl is missing.

    Examples
    --------
    >>> import usmx.paths
    >>> any("usmx" in flag for flag in usmx.paths.get_libs())
    True
    """
    folders = [_installed("lib"), _runtime_folder("lib", "libsycl.so")]
    options = [f"-L{folder}" for folder in folders]
    options += [f"-Wl,-rpath,{folder}" for folder in folders]
    return [*options, "-lusmx", "-lsycl"]


_explained.explain(globals())
