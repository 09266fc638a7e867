"""What a user of usmx writes, without an error in any type checker and at run time."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

import usmx
import usmx.memory as um

a = usmx.zeros((2, 3), dtype="float32", order="F", usm_type="shared")
b = usmx.asarray([[1, 2], [3, 4]], dtype=usmx.int32, device="cpu")
c = usmx.empty_like(b, dtype=np.float64)
d = usmx.arange(0, 10, 0.5, dtype=float, queue=usmx.Queue("cpu"))
e = usmx.full(3, np.float32(2), dtype=np.dtype("f4"), device=usmx.Device())
row: usmx.ndarray = a[0, ::-1][None, ...]
a[1] = [1.0, 2.0, 3.0]
host: np.ndarray[Any, np.dtype[Any]] = b.T.reshape(-1).astype("int64").to_numpy()
total: float = float(host.sum()) + float(d[3]) + c.size * c.itemsize + len(a) + a.shape[0]
names: list[str] = [b.dtype.name, b.device.name, usmx.float32.name, a.usm_type]
chosen: usmx.ndarray = usmx.where(e > 1, e, 0)
places: tuple[usmx.ndarray, ...] = usmx.where(e)
roots: usmx.ndarray = usmx.sqrt(e, usmx.empty_like(e), where=e > 1, casting="unsafe", order="C")
sums: usmx.ndarray = usmx.add(e, np.float32(1), dtype="float32") + usmx.angle(e, deg=True)
same: bool = bool(d[1] == 0.5) and bool((d < 10).all()) and 9.5 in d and a.flags.c_contiguous


@usmx.kernel
def scale(item: Any, factor: Any, x: Any) -> None:
    i = item.get_id(0)
    x[i] = usmx.fma(factor, x[i], 1)


@usmx.fuse
def length(x: Any, y: Any) -> Any:
    return np.sqrt(x * x + y * y)


add = usmx.RawKernel("USMX_KERNEL(1) add(float* x, float y) { x[usmx::global_id()] += y; }", "add")
muladd = usmx.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "muladd")
norm = usmx.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", identity=0)
running = usmx.ScanKernel("T x", "T y", "x", "a + b")
event: usmx.Event = scale[3](2.0, e)
add[3, 1](e, 1, depends_on=event).wait()
result: usmx.ndarray = muladd(e, 2, out=usmx.empty_like(e))
values = [norm(e, axis=0, keepdims=True).item(), length(e, 3)[0].item(), running(e).to_numpy()[2]]
with um.MemoryUSMShared(64, queue=e.queue) as memory:
    memory.memset(1)
    memory[16:32].copy_from_host(b"0123")
    view = np.asarray(memoryview(memory))
    del view
with um.using(um.PoolResource(um.UsmResource("device"), most=1 << 24)) as pool, usmx.trace() as t:
    usmx.copy(
        usmx.empty(3, "float32", usm_type=pool.kind), np.ones(3), progress=lambda done, all: None
    )
print([copy.bytes for copy in t.copies], t.summary().copies)


class Column:
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return usmx.ones(3, usm_type="shared").__arrow_c_array__()


column: usmx.ndarray = usmx.asarray(Column())


async def fetch(out: np.ndarray[Any, np.dtype[Any]]) -> None:
    await usmx.copy_async(out, result, depends_on=[event])


asyncio.run(fetch(np.empty(3, "float32")))
