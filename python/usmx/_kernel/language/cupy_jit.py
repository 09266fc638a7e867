"""The names of CUDA's kernels in Python, as ``cupyx.jit`` spells them.

See `cuda`, which has most of them under the names of ``numba.cuda``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import builtins

from . import cuda
from . import functions as f
from .forms import Form
from .functions import Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

threadIdx: Namespace = cuda.threadIdx
blockIdx: Namespace = cuda.blockIdx
blockDim: Namespace = cuda.blockDim
gridDim: Namespace = cuda.gridDim
warpsize: Form = cuda.warpsize
grid: Form = cuda.grid
gridsize: Form = cuda.gridsize
syncthreads: Any = f.barrier
syncwarp: Form = Form(
    "jit.syncwarp", "A barrier of a warp.", "{item.get_sub_group}().barrier()", "mask?",
    gives="",
)  # fmt: skip
laneid: Form = Form(
    "jit.laneid", "Number of the thread in its warp.", "{item.get_sub_group}().get_local_id()", ""
)


def _shuffle(name: str) -> Form:
    return Form(
        f"jit.{name}", "The value of another thread of the warp, or of a segment of it.",
        f"{{cuda.{name}}}(a, b, c, d)", "mask var val_id width?",
    )  # fmt: skip


shfl_sync: Form = _shuffle("shfl_sync")
shfl_up_sync: Form = _shuffle("shfl_up_sync")
shfl_down_sync: Form = _shuffle("shfl_down_sync")
shfl_xor_sync: Form = _shuffle("shfl_xor_sync")
#: As Python's; ``unroll=`` is for NVIDIA's compiler and changes nothing.
range: Any = builtins.range
shared_memory: Form = Form(
    "jit.shared_memory", "Memory of a block; of size None that of the launch.",
    "{local.array}(b, a)", "dtype size alignment?", gives="array",
)  # fmt: skip


def _atomic(name: str, method: str) -> Form:
    return Form(
        f"jit.atomic_{name}", "An atomic operation; it gives the value before.",
        f"{{atomic.{method}}}(a, b, c)", "array index value",
    )  # fmt: skip


atomic_add: Form = _atomic("add", "add")
atomic_sub: Form = _atomic("sub", "sub")
atomic_exch: Form = _atomic("exch", "exchange")
atomic_min: Form = _atomic("min", "min")
atomic_max: Form = _atomic("max", "max")
atomic_inc: Form = _atomic("inc", "inc")
atomic_dec: Form = _atomic("dec", "dec")
atomic_and: Form = _atomic("and", "and_")
atomic_or: Form = _atomic("or", "or_")
atomic_xor: Form = _atomic("xor", "xor")
atomic_cas: Form = Form(
    "jit.atomic_cas", "Store a value if the element is another one; gives the value before.",
    "{atomic.compare_exchange}(a, b, c, d)", "array index value value2",
)  # fmt: skip

threadfence: Any = f.fence
threadfence_block: Any = f.fence
threadfence_system: Any = f.fence
ldg: Form = Form("jit.ldg", "An element; caches choose themselves.", "a[b]", "array index")


def _refused(name: str, instead: str) -> Namespace:
    return Namespace(f"compat.cupyx.jit.{name} is not here: {instead}; it", instead, {})


cg: Namespace = _refused("cg", "groups are syncthreads(), shuffles and atomic operations")
cub: Namespace = _refused("cub", "write the reduction with shared_memory")
thrust: Namespace = _refused("thrust", "see usmx's functions of arrays")

#: What kernels call, by name.
NAMES: dict[str, Any] = {
    name: value
    for name, value in globals().items()
    if isinstance(value, Form | Namespace | f.DeviceOnly) and not name.startswith("_")
} | {"range": range}
