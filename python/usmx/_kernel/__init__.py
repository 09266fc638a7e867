"""The compiler of ``@usmx.kernel``: Python functions as C++ for the device.

Its parts are imported when they are first used, so that ``import usmx`` stays quick, and a kernel
whose C++ is kept on disk needs none of those that make it.

source      the text of a function, and errors that point into it
types       types of numbers, values while compiling, Python's operators on them
language    what programs use to write kernels
frontend    from the tree of a function to C++
simulator   the same kernels in Python, with checks
launch      kernels and their launches; kept: their C++ on disk; mode: whether they are simulated
"""
# SPDX-License-Identifier: Apache-2.0
