"""What pyproject.toml cannot say: where the headers of usmx are, and where its library is."""
# SPDX-License-Identifier: Apache-2.0

from Cython.Build import cythonize
from setuptools import Extension, setup

import usmx
from usmx import paths

# Only for the functions of usmx.h: a module that uses no more than pointers needs no library.
LIBRARY = {"extra_link_args": paths.get_libs()}

setup(
    ext_modules=cythonize(
        [
            Extension(
                "usmx_cython", ["usmx_cython.pyx"], include_dirs=[usmx.get_include()], **LIBRARY
            )
        ]
    )
)
