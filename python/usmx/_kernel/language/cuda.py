"""The names of CUDA's kernels in Python, as ``numba.cuda`` spells them.

Where CUDA counts dimensions from the fastest one, ``x``, usmx counts to it: of a launch of rank 2
``threadIdx.x`` is ``item.get_local_id(1)``. A dimension that the launch has not is one block of one
thread.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

from . import cuda_functions
from . import functions as f
from .forms import Form
from .functions import Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _along(method: str, axis: int, outside: str) -> Callable[[int], str]:
    """The text of a dimension of CUDA."""

    def text(rank: int) -> str:
        return f"{{item.{method}}}({rank - 1 - axis})" if axis < rank else outside

    return text


def _dimensions(name: str, doc: str, method: str, outside: str) -> Namespace:
    """``threadIdx`` and the like."""
    axes = {
        axis: Form(f"cuda.{name}.{axis}", f"{doc} along {axis}.", _along(method, k, outside))
        for k, axis in enumerate("xyz")
    }
    return Namespace(f"cuda.{name}", f"{doc} along x, y and z.", dict(axes))


def _each(method: str, outside: str) -> Callable[[int, int], str]:
    """The text of ``grid(n)``: a number, or a tuple of two or three."""

    def text(rank: int, count: int) -> str:
        if count not in (1, 2, 3):
            raise ValueError(f"ndim: {count}; expected 1, 2 or 3")
        parts = [_along(method, k, outside)(rank) for k in range(count)]
        return parts[0] if count == 1 else f"({', '.join(parts)})"

    return text


threadIdx: Namespace = _dimensions("threadIdx", "Number of the thread", "get_local_id", "0")
blockIdx: Namespace = _dimensions("blockIdx", "Number of the block", "get_group_id", "0")
blockDim: Namespace = _dimensions("blockDim", "Threads of a block", "get_local_size", "1")
gridDim: Namespace = _dimensions("gridDim", "Blocks of the grid", "get_num_groups", "1")
grid: Form = Form(
    "cuda.grid", "Number of the thread in the grid: an int, or a tuple of 2 or 3.",
    _each("get_global_id", "0"), "ndim", counts=True, gives="int or tuple of int",
)  # fmt: skip
gridsize: Form = Form(
    "cuda.gridsize", "Threads of the grid: an int, or a tuple of 2 or 3.",
    _each("get_global_size", "1"), "ndim", counts=True, gives="int or tuple of int",
)  # fmt: skip
laneid: Form = Form(
    "cuda.laneid", "Number of the thread in its warp.", "{item.get_sub_group}().get_local_id()"
)
warpsize: Form = Form(
    "cuda.warpsize", "Threads of a warp.", "{item.get_sub_group}().get_max_local_range()"
)

# --- memory ---------------------------------------------------------------------------------------

shared: Namespace = Namespace("cuda.shared", "Memory of a block.", {"array": f.local.array})
local: Namespace = Namespace("cuda.local", "Memory of a thread.", {"array": f.private.array})
const: Namespace = Namespace(
    "cuda.const",
    "Tables that kernels read.",
    {"array_like": Form("cuda.const.array_like", "The values of a global array.", "a", "ndarray")},
)

# --- waiting and order ----------------------------------------------------------------------------

syncthreads: Any = f.barrier
threadfence: Any = f.fence
threadfence_block: Any = f.fence
threadfence_system: Any = f.fence
syncwarp: Form = Form(
    "cuda.syncwarp", "A barrier of a warp.", "{item.get_sub_group}().barrier()", "membermask?",
    gives="",
)  # fmt: skip
nanosleep: Form = Form("cuda.nanosleep", "Nothing: devices have no such wait.", "0", "ns", gives="")
cg: Namespace = Namespace(
    "cuda.cg",
    "Cooperative groups.",
    {"this_grid": Form("cuda.cg.this_grid", "All threads of the launch.", "{cuda.grid_group}", "")},
)


def _plain(name: str, parameters: str, gives: str = "number") -> Form:
    """A function of `cuda_functions` by its own name."""
    count = len(parameters.split())
    doc = getattr(cuda_functions, name).__doc__
    operands = ", ".join("abc"[:count])
    return Form(f"cuda.{name}", doc, f"{{cuda.{name}}}({operands})", parameters, gives=gives)


syncthreads_count: Form = _plain("syncthreads_count", "predicate", "int")
syncthreads_and: Form = _plain("syncthreads_and", "predicate", "int")
syncthreads_or: Form = _plain("syncthreads_or", "predicate", "int")

# --- warps ----------------------------------------------------------------------------------------

all_sync: Form = _plain("all_sync", "mask predicate", "bool")
any_sync: Form = _plain("any_sync", "mask predicate", "bool")
eq_sync: Form = _plain("eq_sync", "mask predicate", "bool")
ballot_sync: Form = _plain("ballot_sync", "mask predicate", "int")
match_any_sync: Form = _plain("match_any_sync", "mask value", "int")
match_all_sync: Form = _plain("match_all_sync", "mask value", "(int, bool)")
reduce_add_sync: Form = _plain("reduce_add_sync", "mask value")
reduce_min_sync: Form = _plain("reduce_min_sync", "mask value")
reduce_max_sync: Form = _plain("reduce_max_sync", "mask value")
activemask: Form = _plain("activemask", "", "int")
lanemask_lt: Form = _plain("lanemask_lt", "", "int")


def _shuffle(name: str, by: str) -> Form:
    text = f"{{cuda.{name}}}(a, b, c, 0)"
    return Form(
        f"cuda.{name}", "The value of another thread of the warp.", text, f"mask value {by}"
    )


shfl_sync: Form = _shuffle("shfl_sync", "src_lane")
shfl_up_sync: Form = _shuffle("shfl_up_sync", "delta")
shfl_down_sync: Form = _shuffle("shfl_down_sync", "delta")
shfl_xor_sync: Form = _shuffle("shfl_xor_sync", "lane_mask")

# --- atomic operations ----------------------------------------------------------------------------

atomic: Namespace = Namespace(
    "cuda.atomic",
    "``atomic.add(array, index, value)`` and its like; each gives the value before.",
    {
        **{
            name: getattr(f.atomic, name)
            for name in (
                "add", "sub", "and_", "or_", "xor", "inc", "dec", "max", "min", "nanmax", "nanmin",
            )
        },
        "exch": f.atomic.exchange,
        "cas": f.atomic.compare_exchange,
        "compare_and_swap": Form(
            "cuda.atomic.compare_and_swap", "Store a value if the first element is the old one.",
            "{atomic.compare_exchange}(a, 0, b, c)", "ary old val",
        ),
    },
)  # fmt: skip

# --- elements past a cache ------------------------------------------------------------------------

for _name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv"):
    globals()[_name] = Form(f"cuda.{_name}", "An element; caches choose themselves.", "a[b]",
                            "array i")  # fmt: skip
for _name in ("stcg", "stcs", "stwb", "stwt"):
    globals()[_name] = Form(f"cuda.{_name}", "Set an element; caches choose themselves.",
                            "{cuda.stored}(a, b, c)", "array i value", gives="")  # fmt: skip

# --- functions of numbers -------------------------------------------------------------------------

selp: Form = Form("cuda.selp", "One of two values.", "b if a else c", "cond a b")
popc: Form = Form("cuda.popc", "Ones among the bits.", "{usmx.popcount}(a)", "x")
clz: Form = Form("cuda.clz", "Zeros before the highest one.", "{usmx.clz}(a)", "x")
brev: Form = _plain("brev", "x")
ffs: Form = _plain("ffs", "x")
fma: Form = Form("cuda.fma", "a * b + c, rounded once.", "{usmx.fma}(a, b, c)", "a b c")
cbrt: Form = Form("cuda.cbrt", "The cube root.", "{row.cbrt}(a)", "x")


def _half(text: str, parameters: str = "a") -> Form:
    return Form("cuda.fp16", "A function of float16.", text, parameters)


_F16 = "{type.float16}"
#: Functions of float16 by their names.
fp16: Namespace = Namespace(
    "cuda.fp16",
    "Functions of float16.",
    {
        **{
            f"h{name}": _half(f"{_F16}(a {sign} b)", "a b")
            for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"))
        },
        **{
            f"h{name}": _half(f"a {sign} b", "a b")
            for name, sign in (
                ("eq", "=="), ("ne", "!="), ("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"),
            )
        },
        "hfma": _half(f"{_F16}({{usmx.fma}}({_F16}(a), {_F16}(b), {_F16}(c)))", "a b c"),
        "hneg": _half(f"{_F16}(-a)"),
        "habs": _half(f"{_F16}({{builtins.abs}}(a))"),
        "hmax": _half("{builtins.max}(a, b)", "a b"),
        "hmin": _half("{builtins.min}(a, b)", "a b"),
        "hrsqrt": _half(f"{_F16}({{usmx.rsqrt}}({_F16}(a)))"),
        "hrcp": _half(f"{_F16}(1 / a)"),
        **{
            f"h{name}": _half(f"{_F16}({{row.{name}}}({_F16}(a)))")
            for name in (
                "sin", "cos", "log", "log2", "log10", "exp", "exp2", "exp10", "sqrt", "ceil",
                "floor", "trunc", "rint",
            )
        },
    },
)  # fmt: skip


# --- libdevice ------------------------------------------------------------------------------------

_OF_ONE = {
    "fabs": "row.fabs", "acos": "math.acos", "acosh": "math.acosh", "asin": "math.asin",
    "asinh": "math.asinh", "atan": "math.atan", "atanh": "math.atanh", "cbrt": "row.cbrt",
    "ceil": "row.ceil", "cos": "math.cos", "cosh": "math.cosh", "cospi": "row.cospi",
    "erf": "math.erf", "erfc": "math.erfc", "erfinv": "row.erfinv", "erfcinv": "row.erfcinv",
    "erfcx": "row.erfcx", "exp": "math.exp", "exp10": "row.exp10", "exp2": "row.exp2",
    "expm1": "math.expm1", "floor": "row.floor", "isinf": "math.isinf", "isnan": "math.isnan",
    "j0": "row.j0", "j1": "row.j1", "y0": "row.y0", "y1": "row.y1", "lgamma": "math.lgamma",
    "log": "math.log", "log10": "math.log10", "log1p": "math.log1p", "log2": "math.log2",
    "normcdf": "row.ndtr", "normcdfinv": "row.ndtri", "rint": "row.rint", "nearbyint": "row.rint",
    "rsqrt": "usmx.rsqrt", "sin": "math.sin", "sinh": "math.sinh", "sinpi": "row.sinpi",
    "sqrt": "math.sqrt", "tan": "math.tan", "tanh": "math.tanh", "tgamma": "math.gamma",
    "trunc": "row.trunc",
}  # fmt: skip
_OF_TWO = {
    "atan2": "math.atan2", "copysign": "math.copysign", "fmax": "row.fmax", "fmin": "row.fmin",
    "fmod": "math.fmod", "hypot": "math.hypot", "nextafter": "row.nextafter", "pow": "math.pow",
}  # fmt: skip
_OTHERS = {
    "abs": ("{builtins.abs}({type.int32}(a))", "x"),
    "llabs": ("{builtins.abs}({type.int64}(a))", "x"),
    "brev": ("{cuda.brev}({type.uint32}(a))", "x"),
    "brevll": ("{cuda.brev}({type.uint64}(a))", "x"),
    "clz": ("{usmx.clz}({type.int32}(a))", "x"),
    "clzll": ("{usmx.clz}({type.int64}(a))", "x"),
    "ffs": ("{cuda.ffs}({type.int32}(a))", "x"),
    "ffsll": ("{cuda.ffs}({type.int64}(a))", "x"),
    "popc": ("{usmx.popcount}({type.uint32}(a))", "x"),
    "popcll": ("{usmx.popcount}({type.uint64}(a))", "x"),
    "max": ("{builtins.max}({type.int32}(a), {type.int32}(b))", "x y"),
    "min": ("{builtins.min}({type.int32}(a), {type.int32}(b))", "x y"),
    "llmax": ("{builtins.max}({type.int64}(a), {type.int64}(b))", "x y"),
    "llmin": ("{builtins.min}({type.int64}(a), {type.int64}(b))", "x y"),
    "umax": ("{builtins.max}({type.uint32}(a), {type.uint32}(b))", "x y"),
    "umin": ("{builtins.min}({type.uint32}(a), {type.uint32}(b))", "x y"),
    "ullmax": ("{builtins.max}({type.uint64}(a), {type.uint64}(b))", "x y"),
    "ullmin": ("{builtins.min}({type.uint64}(a), {type.uint64}(b))", "x y"),
    "fma": ("{usmx.fma}({type.float64}(a), {type.float64}(b), {type.float64}(c))", "x y z"),
    "fmaf": ("{usmx.fma}({type.float32}(a), {type.float32}(b), {type.float32}(c))", "x y z"),
    "fast_fdividef": ("{type.float32}(a) / {type.float32}(b)", "x y"),
    "fast_powf": ("{math.pow}({type.float32}(a), {type.float32}(b))", "x y"),
    "saturatef": ("{row.fmin}({row.fmax}({type.float32}(a), {type.float32}(0)), "
                  "{type.float32}(1))", "x"),
    "mul24": ("{type.int32}(a) * {type.int32}(b)", "x y"),
    "mulhi": ("{type.int32}(({type.int64}(a) * {type.int64}(b)) >> 32)", "x y"),
    "umulhi": ("{type.uint32}(({type.uint64}(a) * {type.uint64}(b)) >> 32)", "x y"),
    "sincos": ("({math.sin}(a), {math.cos}(a))", "x"),
    "sincosf": ("({math.sin}({type.float32}(a)), {math.cos}({type.float32}(a)))", "x"),
    "sincospi": ("({row.sinpi}(a), {row.cospi}(a))", "x"),
    "jn": ("{row.jn}(a, b)", "n x"),
    "yn": ("{row.yn}(a, b)", "n x"),
    "jnf": ("{type.float32}({row.jn}(a, {type.float32}(b)))", "n x"),
    "ynf": ("{type.float32}({row.yn}(a, {type.float32}(b)))", "n x"),
    "sincospif": ("({row.sinpi}({type.float32}(a)), {row.cospi}({type.float32}(a)))", "x"),
    "fast_sincosf": ("({math.sin}({type.float32}(a)), {math.cos}({type.float32}(a)))", "x"),
    "hadd": ("{type.int32}(({type.int64}(a) + {type.int64}(b)) >> 1)", "x y"),
    "rhadd": ("{type.int32}(({type.int64}(a) + {type.int64}(b) + 1) >> 1)", "x y"),
    "uhadd": ("{type.uint32}(({type.int64}(a) + {type.int64}(b)) >> 1)", "x y"),
    "urhadd": ("{type.uint32}(({type.int64}(a) + {type.int64}(b) + 1) >> 1)", "x y"),
    "sad": ("{type.int32}({builtins.abs}({type.int64}(a) - {type.int64}(b)) + c)", "x y z"),
    "usad": ("{type.uint32}({builtins.abs}({type.int64}(a) - {type.int64}(b)) + c)", "x y z"),
    "umul24": ("{type.uint32}(a) * {type.uint32}(b)", "x y"),
    "double2float_rn": ("{type.float32}({type.float64}(a))", "x"),
    "finitef": ("{math.isfinite}({type.float32}(a))", "x"),
    "isfinited": ("{math.isfinite}({type.float64}(a))", "x"),
    "isinfd": ("{math.isinf}({type.float64}(a))", "x"),
    "isnand": ("{math.isnan}({type.float64}(a))", "x"),
    "mul64hi": ("{cuda.mul64hi}({type.int64}(a), {type.int64}(b))", "x y"),
    "umul64hi": ("{cuda.umul64hi}({type.uint64}(a), {type.uint64}(b))", "x y"),
    "byte_perm": ("{cuda.byte_perm}(a, b, c)", "x y s"),
    "remquo": ("{cuda.remquo}({type.float64}(a), {type.float64}(b))", "x y"),
    "remquof": ("{cuda.remquo}({type.float32}(a), {type.float32}(b))", "x y"),
    "double_as_longlong": ("{type.float64}(a).view({type.int64})", "x"),
    "longlong_as_double": ("{type.int64}(a).view({type.float64})", "x"),
    "float_as_int": ("{type.float32}(a).view({type.int32})", "x"),
    "int_as_float": ("{type.int32}(a).view({type.float32})", "x"),
    "float2half_rn": ("{type.float16}({type.float32}(a)).view({type.int16})", "x"),
    "half2float": ("{type.float32}({type.int16}(a).view({type.float16}))", "x"),
    "double2hiint": ("{type.int32}({type.float64}(a).view({type.int64}) >> 32)", "x"),
    "double2loint": ("{type.int32}({type.float64}(a).view({type.int64}))", "x"),
    "hiloint2double": ("(({type.int64}(a) << 32) | {type.int64}({type.uint32}(b)))"
                       ".view({type.float64})", "x y"),
    "signbitd": ("1 if {math.copysign}(1.0, {type.float64}(a)) < 0 else 0", "x"),
    "signbitf": ("1 if {math.copysign}(1.0, {type.float64}(a)) < 0 else 0", "x"),
}  # fmt: skip
#: Functions of a float64, and with an f behind their names of a float32.
_OF_BOTH = {
    "fdim": ("{row.fmax}(T(a) - T(b), T(0))", "x y"),
    "frexp": ("{math.frexp}(T(a))", "x"),
    "ilogb": ("{cuda.ilogb}(T(a))", "x"),
    "ldexp": ("{math.ldexp}(T(a), b)", "x y"),
    "llrint": ("{type.int64}({row.rint}(T(a)))", "x"),
    "llround": ("{type.int64}({cuda.rounded}(T(a)))", "x"),
    "logb": ("{cuda.logb}(T(a))", "x"),
    "modf": ("{math.modf}(T(a))", "x"),
    "powi": ("{math.pow}(T(a), T(b))", "x y"),
    "rcbrt": ("T(1) / {row.cbrt}(T(a))", "x"),
    "remainder": ("{math.remainder}(T(a), T(b))", "x y"),
    "round": ("{cuda.rounded}(T(a))", "x"),
    "scalbn": ("{math.ldexp}(T(a), b)", "x y"),
}
#: Operators that are rounded to the nearest, by the names of both types.
_ROUNDED = {
    "add": ("T(a) + T(b)", "x y"), "sub": ("T(a) - T(b)", "x y"), "mul": ("T(a) * T(b)", "x y"),
    "div": ("T(a) / T(b)", "x y"), "rcp": ("T(1) / T(a)", "x"),
    "sqrt": ("{math.sqrt}(T(a))", "x"), "rsqrt": ("{usmx.rsqrt}(T(a))", "x"),
}  # fmt: skip


#: The directions of rounding, as functions of `cuda_functions` take them.
_DIRECTIONS = {"rd": -1, "ru": 1, "rz": 0}
#: Operators that are rounded in a direction, by the names of both types.
_DIRECTED = {
    "add": ("{cuda.sum_toward}(T(a), T(b), TO)", "x y"),
    "sub": ("{cuda.sum_toward}(T(a), -T(b), TO)", "x y"),
    "mul": ("{cuda.product_toward}(T(a), T(b), TO)", "x y"),
    "div": ("{cuda.quotient_toward}(T(a), T(b), TO)", "x y"),
    "rcp": ("{cuda.quotient_toward}(T(1), T(a), TO)", "x"),
    "sqrt": ("{cuda.root_toward}(T(a), TO)", "x"),
}


def _directed() -> dict[str, tuple[str, str]]:
    """The functions of libdevice that are rounded down, up or towards zero."""
    found: dict[str, tuple[str, str]] = {}
    for how, to in _DIRECTIONS.items():
        for width, letter, name in (("float64", "d", "double"), ("float32", "f", "float")):
            made = {f"{letter}{n}_{how}": row for n, row in _DIRECTED.items()}
            made[f"fma{letter if letter == 'f' else ''}_{how}"] = (
                "{cuda.fma_toward}(T(a), T(b), T(c), TO)", "x y z",
            )  # fmt: skip
            for whole, of in _WHOLE.items():
                # Each int32 is a float64.
                if not (name == "double" and whole in ("int", "uint")):
                    number = f"{{type.{of}}}(a)"
                    made[f"{whole}2{name}_{how}"] = (
                        f"{{cuda.whole_toward}}({number}, T({number}), TO)", "x",
                    )  # fmt: skip
            found |= {
                n: (re.sub(r"\bTO\b", str(to), re.sub(r"\bT\(", f"{{type.{width}}}(", text)), p)
                for n, (text, p) in made.items()
            }
        found[f"double2float_{how}"] = (f"{{cuda.float_toward}}({{type.float64}}(a), {to})", "x")
    return found


#: Integers by CUDA's names.
_WHOLE = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}


def _libdevice() -> dict[str, Any]:
    """All functions of CUDA's library of numbers that kernels have."""
    found = dict(_OTHERS)
    for width, letter in (("float64", ""), ("float32", "f")):
        of = f"{{type.{width}}}"
        found |= {f"{n}{letter}": (f"{{{to}}}({of}(a))", "x") for n, to in _OF_ONE.items()}
        found |= {
            f"{n}{letter}": (f"{{{to}}}({of}(a), {of}(b))", "x y") for n, to in _OF_TWO.items()
        }
        both = {f"{n}{letter}": row for n, row in _OF_BOTH.items()}
        both |= {f"{'f' if letter else 'd'}{n}_rn": row for n, row in _ROUNDED.items()}
        both[f"fma{letter}_rn"] = ("{usmx.fma}(T(a), T(b), T(c))", "x y z")
        found |= {n: (re.sub(r"\bT\(", f"{of}(", text), p) for n, (text, p) in both.items()}
    for name in ("cos", "exp", "exp10", "log", "log10", "log2", "sin", "tan"):
        found[f"fast_{name}f"] = found[f"{name}f"]
    for whole, of in _WHOLE.items():
        for name, width in (("float", "float32"), ("double", "float64")):
            for how, row in (("rd", "floor"), ("rn", "rint"), ("ru", "ceil"), ("rz", "trunc")):
                text = f"{{type.{of}}}({{row.{row}}}({{type.{width}}}(a)))"
                found[f"{name}2{whole}_{how}"] = (text, "x")
            found[f"{whole}2{name}_rn"] = (f"{{type.{width}}}({{type.{of}}}(a))", "x")
    found |= _directed()
    return {name: Form(f"cuda.libdevice.{name}", "A function of numbers.", text, parameters)
            for name, (text, parameters) in found.items()}  # fmt: skip


libdevice: Namespace = Namespace("cuda.libdevice", "Functions of numbers.", _libdevice())

#: What kernels of CUDA in Python call, by name.
NAMES: dict[str, Any] = {
    name: value
    for name, value in globals().items()
    if isinstance(value, Form | Namespace | f.DeviceOnly) and not name.startswith("_")
}
