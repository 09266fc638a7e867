"""``dpctl.program``: programs from texts in usmx's SYCL C++; OpenCL C and SPIR-V are refused."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import usmx as _usmx
from usmx import _explained

SyclKernel = _usmx.RawKernel
SyclProgramCompilationError = _usmx.BuildError
_WRITE = (
    'write "USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }" for '
    '"__kernel void f(__global float* x) { x[get_global_id(0)] += 1; }"'
)


class SyclProgram:
    """Kernels of one text.

    Parameters
    ----------
    module : RawModule
        Their source.
    """

    def __init__(self, module: _usmx.RawModule) -> None:
        self._module = module

    def get_sycl_kernel(self, kernel_name: str) -> _usmx.RawKernel:
        """The kernel of a name, for ``queue.submit``; KeyError if there is none."""
        return self._module.get_function(kernel_name)

    def has_sycl_kernel(self, kernel_name: str) -> bool:
        """Whether there is a kernel of that name."""
        return kernel_name in self._module.names()


def create_program_from_source(q: Any, src: str, copts: str = "") -> SyclProgram:
    """A program from a text in SYCL C++ as of `usmx.RawModule`.

    Parameters
    ----------
    q : Queue
        Taken and not needed: a program is compiled for the device that it is launched on.
    src : str
        The text.
    copts : str
        Options of the compiler.

    Raises
    ------
    ValueError
        The text is OpenCL C.
    """
    import re

    del q
    if re.search(r"\b(__kernel|__global|get_global_id)\b", src):
        raise ValueError(f"src: is OpenCL C, which usmx does not compile; {_WRITE}")
    return SyclProgram(_usmx.RawModule(src, copts.split()))


def create_program_from_spirv(q: Any, IL: bytes, copts: str = "") -> SyclProgram:
    """Refused: usmx compiles texts."""
    del q, IL, copts
    raise NotImplementedError(
        "create_program_from_spirv: usmx compiles texts and takes no SPIR-V; write the kernel as "
        "a text of usmx.RawModule, or in Python with usmx.kernel"
    )


__all__ = [
    "SyclKernel", "SyclProgram", "SyclProgramCompilationError", "create_program_from_source",
    "create_program_from_spirv",
]  # fmt: skip

_explained.explain(globals())
