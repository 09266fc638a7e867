"""Each line that ends in `# wrong` has one error, in every type checker; it never runs."""

# SPDX-License-Identifier: Apache-2.0
from typing import Any

import usmx
import usmx.memory as um

x = usmx.zeros(3)
muladd = usmx.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1")
raw = usmx.RawKernel("", "f")


@usmx.kernel
def kernel(item: Any, x: Any) -> None: ...


usmx.zeros(3, usm_type="nonsense")  # wrong
usmx.zeros("3")  # wrong
usmx.zeros()  # wrong
usmx.zeros(3, order="K")  # wrong
usmx.zeros(3, 4)  # wrong
usmx.zeros(3, device=0)  # wrong
usmx.ones(3, dtpye="float32")  # wrong
usmx.asarray(None)  # wrong
usmx.arange("a")  # wrong
usmx.jit(abs)  # wrong
usmx.sqrt(x, ot=x)  # wrong
usmx.add(x)  # wrong
usmx.add(x, x, casting="same")  # wrong
usmx.where(x, 1)  # wrong
usmx.where(x).shape  # wrong
x.shpae  # wrong
x + "1"  # wrong
x < None  # wrong
x[1.5]  # wrong
x.shape = (3, 1)  # wrong
x.astype()  # wrong
x.copy(order="Z")  # wrong
x.to_device(1.5)  # wrong
kernel(x)  # wrong
kernel["3"](x)  # wrong
kernel[3](x=x)  # wrong
raw[3]([1, 2, 3])  # wrong
raw[3](x).wiat()  # wrong
muladd("x", 1)  # wrong
raw(x)  # wrong
usmx.RawKernel("", "f", 3)  # wrong
usmx.copy(x, [1, 2, 3])  # wrong
usmx.fill(x, "a")  # wrong
um.MemoryUSMShared("16")  # wrong
um.MemoryUSMShared(16)[0]  # wrong
um.LimitingResource(most=16)  # wrong
um.set_resource("pool")  # wrong
usmx.Queue(3)  # wrong
usmx.Device().naem  # wrong
number: int = x.to_numpy  # wrong
