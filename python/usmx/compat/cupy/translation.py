"""Texts of CUDA C++ as texts of usmx.

What marks kernels and shared memory, and indices of threads, have counterparts in the prelude;
functions are those of ``kernels/cuda``. What has no counterpart is refused by its name and line.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable

from . import intrinsics, variables

_TEXTURES = "textures exist on NVIDIA's devices only"
_CLOCKS = "devices of usmx have no common clock; events of the queue have times"
_STOPS = "no kernel of usmx stops its device; write a flag to an array"
_PLACES = "a pointer does not say which memory it is to"
_OLD = "CUDA has it no more: write the function that ends with _sync, with a mask"
_PAIRS = "write two numbers of half, or float2"
_QUEUES = "kernels of usmx copy by their own threads: load, store and wait with __syncthreads()"
#: What texts of CUDA have that no device but NVIDIA's has, and why.
REFUSED: dict[str, str] = {
    "texture": _TEXTURES,
    "cudaTextureObject_t": _TEXTURES,
    "cudaSurfaceObject_t": _TEXTURES,
    "tex1D": _TEXTURES,
    "tex1Dfetch": _TEXTURES,
    "tex2D": _TEXTURES,
    "tex3D": _TEXTURES,
    **{f"surf{n}D{how}": _TEXTURES for n in (1, 2, 3) for how in ("read", "write")},
    "cooperative_groups": "groups are __syncthreads(), shuffles and atomic operations",
    "wmma": "matrix instructions of NVIDIA's devices; see usmx.matmul",
    "asm": "assembler of NVIDIA's devices",
    "__asm__": "assembler of NVIDIA's devices",
    "cub": "write the reduction with shared memory, or see usmx.ReductionKernel",
    "thrust::device": "algorithms of thrust; see usmx's functions of arrays",
    **dict.fromkeys(("clock", "clock64", "__clock", "__clock64", "__globaltimer"), _CLOCKS),
    **dict.fromkeys(("__trap", "__brkpt", "__prof_trigger", "__pm0", "__exit"), _STOPS),
    **{f"__is{name}": _PLACES for name in ("Global", "Shared", "Local", "Constant")},
    **{
        f"__cvta_{name}": _PLACES
        for name in (
            "generic_to_global", "generic_to_shared", "generic_to_local", "generic_to_constant",
            "global_to_generic", "shared_to_generic", "local_to_generic", "constant_to_generic",
        )
    },
    **dict.fromkeys(
        ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot"), _OLD
    ),
    **dict.fromkeys(("__half2", "half2", "__nv_bfloat162"), _PAIRS),
    **dict.fromkeys(("__nv_bfloat16", "nv_bfloat16"), "write bfloat16, the type of usmx"),
    **dict.fromkeys(
        ("__pipeline_memcpy_async", "__pipeline_commit", "__pipeline_wait_prior", "cuda::barrier",
         "cuda::pipeline", "cuda::memcpy_async"), _QUEUES,
    ),
    **dict.fromkeys(
        ("cudaDeviceSynchronize", "cudaMalloc", "cudaFree", "cudaLaunchDevice"),
        "kernels of usmx launch no kernels: launch it from the program",
    ),
    **dict.fromkeys(
        ("malloc", "free"), "kernels of usmx allocate nothing: pass an array as an argument"
    ),
    "__cluster_dims__": "clusters of blocks exist on NVIDIA's devices only",
    "assert": "a kernel of usmx stops no program; write a flag to an array",
}  # fmt: skip
_INCLUDES = ("cupy/", "cuda/std/", "usmx/")
_OPTIONAL = (
    r"<(?:cuda_runtime\.h|cuda_fp16\.h|math\.h|cmath|stdint\.h|cstdint|math_constants\.h|"
    r"cuComplex\.h|float\.h|cfloat|climits|limits\.h|stdio\.h|cstdio)>"
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_IS_OPTIONAL = re.compile(_OPTIONAL)
#: Comments and quotes. A quote between digits separates these.
_COMMENT = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\""
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_INDEX = re.compile(r"\b(threadIdx|blockIdx|blockDim|gridDim)\b(?:\s*\.\s*([xyz])\b)?")
_METHODS = {
    "threadIdx": "get_local_id", "blockIdx": "get_group", "blockDim": "get_local_range",
    "gridDim": "get_group_range",
}  # fmt: skip
GLOBAL: re.Pattern[str] = re.compile(
    r"__global__\s+(?:void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?"
    r"|__launch_bounds__\s*\([^)]*\)\s*void\s+)(\w+)"
)
_SHARED = re.compile(
    r"(?<!extern )\b__shared__\s+((?:unsigned\s+|signed\s+|long\s+|const\s+)*[\w:<>, ]*?[\w>])\s+"
    r"([^;{}()]+);"
)
_DYNAMIC = re.compile(
    r"extern\s+__shared__\s+(?:__align__\s*\(\d+\)\s*)?"
    r"((?:unsigned\s+|long\s+)*[\w:<>]+)\s+(\w+)\s*\[\s*\]\s*;"
)
#: What programs define that is there already, perhaps as another type of the same size.
TYPEDEF: re.Pattern[str] = re.compile(r"\btypedef\s+[\w ]*\bu?int(?:8|16|32|64)_t\s*;")
_EXTERN_C = re.compile(r'extern\s*"C"\s*(\{)?')
#: What depends on how many threads a warp has, and which they are.
_OF_WARPS = re.compile(
    r"\b(?:__shfl\w*_sync|__(?:all|any|ballot|match_any|match_all)_sync|__reduce_\w+_sync|"
    r"__syncwarp|__activemask|warpSize)\b"
)
#: Types whose names are others in usmx.
_TYPES = {
    re.compile(r"\bsize_t\b"): "uint64_t",
    re.compile(r"\bunsigned\s+long\s+long\b(\s+int\b)?"): "uint64_t",
    re.compile(r"\blong\s+long\b(\s+int\b)?"): "int64_t",
}
# Not functions: names that the compiler knows on some devices, or that look like variables.
_NAMES = """
#define __syncthreads() usmx::group_barrier()
#define __syncwarp(...) usmx::warps::barrier(__VA_ARGS__)
#define __threadfence() usmx::fence()
#define __threadfence_block() usmx::fence()
#define __threadfence_system() usmx::fence()
#define printf(...) USMX_PRINT(__VA_ARGS__)
#define warpSize int(usmx::sub_group_max_size())
"""


class UntranslatableError(NotImplementedError):
    """A text of CUDA has something that devices of usmx do not."""


def blanked(text: str) -> str:
    """The text without what stands in comments and quotes; lines and columns stay.

    Each search for something in a text is one in this.
    """
    return _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def substituted(
    pattern: re.Pattern[str], made: Callable[[re.Match[str]], str] | str, text: str
) -> str:
    """The text with something in the place of what is found outside of comments and quotes.

    No line moves: what is put there gets the ends of lines that it lacks.
    """
    pieces, at = [], 0
    for m in pattern.finditer(blanked(text)):
        new = made if isinstance(made, str) else made(m)
        pieces += [text[at : m.start()], new, "\n" * (m[0].count("\n") - new.count("\n"))]
        at = m.end()
    return "".join([*pieces, text[at:]])


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def check(text: str) -> None:
    """Refuse what cannot be translated.

    Raises
    ------
    UntranslatableError
        Its name, its line, and what to write instead.
    """
    plain = blanked(text)
    for found in _INCLUDE.finditer(text):
        header = found[1]
        is_code = plain[found.start() : found.end()].lstrip().startswith("#")
        is_known = header.startswith(_INCLUDES) or _IS_OPTIONAL.match(f"<{header}>")
        if is_code and not is_known:
            raise UntranslatableError(
                f"line {_line_of(text, found.start(1))}: the header <{header}> is not here; "
                "kernels of usmx see CUDA's functions of numbers, atomics and CuPy's headers"
            )
    for name, instead in REFUSED.items():
        used = re.search(rf"(?<![\w:.]){re.escape(name)}(?!\w)", plain)
        if used and not _is_own(name, plain):
            raise UntranslatableError(
                f"line {_line_of(plain, used.start())}: '{name}' has no counterpart here: {instead}"
            )


def _is_own(name: str, plain: str) -> bool:
    """Whether the text defines a function, a variable or a macro of this name."""
    if "::" in name or name in ("asm", "texture"):
        return False
    own = r"(?:#[ \t]*define[ \t]+|\b(?!return\b|else\b|do\b|case\b)[A-Za-z_]\w*[ \t*&]+)"
    return re.search(rf"{own}{re.escape(name)}\b", plain) is not None


def is_cuda(text: str) -> bool:
    """Whether it is a text of CUDA and not one of usmx."""
    return "__global__" in blanked(text)


def asks_warps(text: str) -> bool:
    """Whether it asks about the warps of a block."""
    return _OF_WARPS.search(blanked(text)) is not None


def variables_of(text: str) -> variables.Variables | None:
    """The variables of a text of CUDA, if it has any.

    Raises
    ------
    UntranslatableError
        One stands in a namespace or in a function.
    """
    plain = blanked(text)
    found = variables.found_in(text, plain, set(GLOBAL.findall(plain)))
    rest = plain if found is None else blanked(found.text)
    left = re.search(r"__(?:constant|managed)__", rest)
    if left:
        raise UntranslatableError(
            f"line {_line_of(rest, left.start())}: '{left[0]}' is understood for variables outside "
            "of functions and namespaces only"
        )
    return found


def parts(text: str) -> list[str]:
    """What stands between commas."""
    return [one for one in text.split(",") if one.strip()]


def translated(text: str, shared: int = 0, warp: int = 0, block: tuple[int, ...] = ()) -> str:
    """A text of CUDA C++ for usmx; lines stay where they are.

    Parameters
    ----------
    text : str
        With kernels that are marked by ``__global__``.
    shared : int
        Bytes of shared memory that the launch gives.
    warp : int
        Threads of a warp that kernels are compiled for, if the text asks about warps; 0 for what
        the device chooses.
    block : tuple of int
        Threads along z, y and x of a block that is launched with one dimension; empty for one that
        is launched as it is.
    """
    check(text)
    found = variables_of(text)
    if found is not None:
        text = found.text
    text = _without_headers(text)
    text = _without_linkage(text)
    text = substituted(_DYNAMIC, lambda m: _dynamic(m, shared), text)
    text = substituted(_SHARED, _static, text)
    sizes = f" [[sycl::reqd_sub_group_size({warp})]] " if warp > 0 and asks_warps(text) else ""
    text = substituted(GLOBAL, lambda m: f"USMX_KERNEL(3) {m[1]}{sizes}", text)
    _refuse_marks(text)
    item = f"usmx::flat_item<{', '.join(map(str, block))}>" if block else "usmx::nd_item<3>"
    text = substituted(_INDEX, lambda m: _index(m, item), text)
    text = substituted(TYPEDEF, "", text)
    for pattern, name in _TYPES.items():
        text = substituted(pattern, name, text)
    if found is not None:
        text += variables.places(found.names)
    needed = intrinsics.needed(blanked(text))
    head = ['#include "usmx/cuda.hpp"', '#include "usmx/cuda/warps.hpp"']
    head += ['#include "usmx/prelude/flat_item.hpp"'] if block else []
    return "\n".join([*head, needed]) + _NAMES + "#line 1\n" + text


def _without_headers(text: str) -> str:
    """Without headers whose names are there anyway."""
    return re.sub(r"^(\s*#\s*include\s*" + _OPTIONAL + r")", "", text, flags=re.MULTILINE)


def _without_linkage(text: str) -> str:
    """Without ``extern "C"``, of one function or around what ends the text."""
    plain = blanked(text)
    found = [m for m in _EXTERN_C.finditer(text) if plain.startswith("extern", m.start())]
    cut = plain.rstrip().rfind("}") if any(m[1] for m in found) else len(text)
    text = text[:cut] + " " + text[cut + 1 :]
    for m in reversed(found):
        text = text[: m.start()] + "\n" * m[0].count("\n") + text[m.end() :]
    return text


def _dynamic(m: re.Match[str], shared: int) -> str:
    """Shared memory of a size that the launch says."""
    words = max(1, -(-shared // 8))
    return (
        f"usmx::local<int64_t[{words}]> {m[2]}_of_launch; "
        f"{m[1]}* {m[2]} = ({m[1]}*)&{m[2]}_of_launch[0];"
    )


def _static(m: re.Match[str]) -> str:
    """Shared memory of a size that the text says."""
    made = []
    for one in parts(m[2]):
        found = re.match(r"\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)$", one)
        if found is None:
            line = _line_of(m.string, m.start())
            raise UntranslatableError(
                f"line {line}: '__shared__ {m[1]} {one.strip()}' is not understood"
            )
        local = f"usmx::local<{m[1]}{found[2].strip()}>"
        made.append(f"{local} {found[1]}_; auto& {found[1]} = {found[1]}_.get();")
    return " ".join(made)


def _refuse_marks(text: str) -> None:
    """Refuse what marks kernels and shared memory in a form that was not understood."""
    plain = blanked(text)
    left = re.search(r"__(?:global|shared)__", plain)
    if left:
        raise UntranslatableError(
            f"line {_line_of(plain, left.start())}: '{left[0]}' is not understood here; expected "
            "'__global__ void name(' and '__shared__ type name[length];'"
        )


def _index(m: re.Match[str], item: str) -> str:
    """``threadIdx.x``, or all three of them."""

    def along(axis: str) -> str:
        return f"((unsigned int){item}::{_METHODS[m[1]]}({2 - 'xyz'.index(axis)}))"

    if m[2]:
        return along(m[2])
    kind = "usmx::dim3" if m[1].endswith("Dim") else "usmx::uint3"
    return f"({kind}{{{', '.join(map(along, 'xyz'))}}})"
