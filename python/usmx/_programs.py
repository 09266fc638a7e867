"""Makes the compiled programs that a package brings known to the cache."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

from . import _usmx
from ._kernel import kept

__all__ = ["FOLDER", "use_programs"]

#: The folder in a package.
FOLDER = "usmx-programs"


def use_programs(file: str) -> None:
    """Make the compiled programs of a package known, so that its kernels start without a compiler.

    ``usmx build`` has written them into the package's folder. Where there are none, or where they
    do not fit this version of usmx, of the SYCL runtime and of the driver, kernels are compiled as
    always.

    Parameters
    ----------
    file : str
        ``__file__`` of the package: of its ``__init__.py``.

    Examples
    --------
    In the package's ``__init__.py``, before its kernels are launched:

    >>> import usmx
    >>> __file__ = "/package/__init__.py"
    >>> usmx.use_programs(__file__)
    """
    package = os.path.dirname(os.path.abspath(os.fspath(file)))
    if package + os.sep not in kept.packages:
        kept.packages.append(package + os.sep)
        _usmx._ProgramStore.add_installed(os.path.join(package, FOLDER))
