"""What to write for words of other languages, which the compiler of kernels knows only as unknown.

Imported when a text could not be compiled.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

_UNKNOWN = re.compile(
    r"(?:undeclared identifier|unknown type name|no member named|undefined:) '?([\w.]+)"
)
_SUBJECTS = {
    **dict.fromkeys(("__global__", "__device__", "__host__", "__shared__"), "cuda"),
    **dict.fromkeys(("__syncthreads", "__syncwarp", "warpSize"), "cuda"),
    **dict.fromkeys(("threadIdx", "blockIdx", "blockDim", "gridDim"), "cuda"),
    **dict.fromkeys(("atomicAdd", "atomicMax", "atomicMin", "atomicCAS", "atomicExch"), "cuda"),
    **dict.fromkeys(("printf", "cout", "print"), "print"),
    **dict.fromkeys(("np", "numpy", "math", "cmath"), "python"),
    "std": "std",
    "sycl": "sycl",
}

_IN_TEXTS = {
    "cuda": "is a word of CUDA C++: usmx.compat.cupy.RawKernel translates such texts; here a "
    "kernel is USMX_KERNEL(1) name(...), and usmx::global_id() the number of the work-item",
    "sycl": "is known behind #include <sycl/sycl.hpp>, where namespace usmx is not; without an "
    "include write usmx::nd_item<1>, usmx::local, usmx::atomic_add, usmx::sqrt(x) and so on",
    "std": "is known behind an include such as #include <cmath>; without one namespace usmx has "
    "functions of numbers, such as usmx::sqrt(x)",
    "print": 'is not there; USMX_PRINT("%d\\n", i); prints, with a literal format',
    "python": "is a word of Python; the text is C++: usmx::sqrt(x)",
}
_IN_EXPRESSIONS = {
    "cuda": "is a word of CUDA's kernels; an expression is computed for each element: 'i' is the "
    "index of the element, 'n' their number",
    "sycl": "is not known in expressions; functions of numbers have no prefix: sqrt(x)",
    "std": "is not known in expressions; functions of numbers have no prefix: sqrt(x)",
    "print": _IN_TEXTS["print"],
    "python": "is a word of Python; functions of numbers have no prefix: sqrt(x)",
}


def hints_for(message: str) -> list[str]:
    """A sentence for each subject among the words that the compiler did not know."""
    sentences = _IN_EXPRESSIONS if message.startswith("the expression") else _IN_TEXTS
    found: dict[str, str] = {}
    for word in _UNKNOWN.findall(message):
        subject = _SUBJECTS.get(word)
        if subject is not None:
            found.setdefault(subject, f"'{word}' {sentences[subject]}")
    return list(found.values())
