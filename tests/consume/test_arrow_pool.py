"""The example of a memory pool for Arrow, compiled as a reader does it: what Arrow makes is USM."""
# SPDX-License-Identifier: Apache-2.0

import sys
from pathlib import Path

import pytest
from environments import ROOT, run

PROGRAM = """
import gc, sys
sys.path.insert(0, sys.argv[1])
import arrow_pool, numpy as np, pyarrow as pa, usmx, usmx.memory as um

kind = sys.argv[2]
pool = arrow_pool.make(kind)
assert pool.backend_name == "usmx"
a = pa.array(np.arange(1000), pa.float32(), memory_pool=pool, from_pandas=False)
import pyarrow.compute as pc
b = pc.add(a.cast(pa.int32(), memory_pool=pool), pa.scalar(1, pa.int32()), memory_pool=pool)
used = pool.bytes_allocated()
assert used >= 4000, used
x = usmx.asarray(memoryview(b.buffers()[1]).cast("i"), copy=False)
assert x.usm_type == kind and x.pointer == b.buffers()[1].address
assert x.to_numpy()[:1000].tolist() == list(range(1, 1001))
del a, b
gc.collect()
assert x.to_numpy()[:1000].tolist() == list(range(1, 1001))
del x
gc.collect()
assert pool.bytes_allocated() == 0, pool.bytes_allocated()
assert pool.max_memory() >= used
grown = pa.BufferOutputStream(pool)
for k in range(1000):
    grown.write(bytes([k % 256]) * 100)
assert grown.getvalue().to_pybytes() == b"".join(bytes([k % 256]) * 100 for k in range(1000))
pa.allocate_buffer(0, memory_pool=pool)
with um.using(um.LimitingResource(um.get_resource(kind=kind), 1000)):
    small = arrow_pool.make(kind)
try:
    pa.allocate_buffer(2000, memory_pool=small)
except MemoryError as error:
    print("refused")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("arrow_pool")
    run(sys.executable, ROOT / "examples" / "arrow_pool" / "build.py", made)
    return made


@pytest.mark.parametrize("kind", ["shared", "host"])
def test_what_arrow_allocates_is_usm(folder: Path, kind: str) -> None:
    assert run(sys.executable, "-c", PROGRAM, folder, kind).strip() == "refused"
