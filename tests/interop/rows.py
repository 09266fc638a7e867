"""The matrix of libraries: how each one takes our arrays, how we take its, and what does not hold.

A row is the code that documentation shows: `test_matrix.py` runs it, and the table of
docs/interop.md is written from it (``python tests/interop/table.py --write``). No library is
imported here. In the code, ``x`` is an array of usmx and ``t`` what the library makes of it, or has
made by itself; both have 16 elements, 0.0 to 15.0 as float32, where nothing else is said.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: What is asked of every exchange. A row names those that do not hold, and why.
LAWS = {
    "pointer": "the address is the same",
    "no copy": "the runtime copies and allocates nothing, and neither does usmx",
    "ours seen": "what a kernel of usmx writes is seen there",
    "theirs seen": "what the library writes is seen here",
    "lifetime": "the memory lives as long as the last of the two, and no longer",
    "read-only": "read-only memory stays read-only",
}
HOST = ("shared", "host")
ALL = ("device", "shared", "host")


@dataclass(frozen=True)
class Row:
    """One library in one direction or both."""

    library: str
    #: What the code needs.
    imports: str
    # How elements of ``t`` are looked at.
    #: The address of the first element.
    address: str = "np.asarray(t).__array_interface__['data'][0]"
    #: All elements, as the library reads them.
    read: str = "np.asarray(t).tolist()"
    #: Statements by which the library writes 42 to the first element; empty if it never writes.
    write: str = "np.asarray(t)[0] = 42"
    #: Whether the library treats ``t`` as read-only.
    is_read_only: str = "not np.asarray(t).flags.writeable"

    #: From usmx: ``x`` as an object of the library; empty if there is no such way.
    out: str = ""
    #: The kinds of USM for which it holds.
    kinds: tuple[str, ...] = HOST
    out_fails: Mapping[str, str] = field(default_factory=dict)
    #: What documentation shows, where ``out`` has details that do not matter.
    out_shown: str = ""

    #: An object of the library; empty if it has no memory of its own.
    make: str = ""
    #: The same, read-only; empty if it has no such memory.
    make_read_only: str = ""
    #: To usmx: ``t`` as an array.
    into: str = "usmx.asarray(t, copy=False)"
    into_fails: Mapping[str, str] = field(default_factory=dict)
    into_shown: str = ""

    #: What looks as if it worked, but raises, and why.
    refuses: Mapping[str, str] = field(default_factory=dict)
    #: For documentation: what to know, in a few words.
    note: str = ""


@dataclass(frozen=True)
class Use:
    """A library that works on our memory inside of a call, without an object of its own."""

    library: str
    imports: str
    #: Statements that work on ``x``; they may use ``path``, an empty folder.
    code: str
    #: The expected elements of ``x`` afterwards.
    expected: str
    #: What documentation shows.
    shown: str = ""
    kinds: tuple[str, ...] = HOST
    refuses: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


NUMPY_ONLY = "it accepts nothing but NumPy's arrays"
ASKS_DEVICE = "it asks for the device first, which its CPU version does not know"
NO_FLAG = "it has no read-only arrays, and ignores the flag"

ROWS = [
    Row(
        "NumPy",
        "",
        out="np.asarray(x)",
        make="np.arange(16, dtype='f4')",
        make_read_only="np.frombuffer(bytes(64), 'f4')",
    ),
    Row(
        "NumPy, DLPack",
        "",
        out="np.from_dlpack(x, device='cpu')",
        make="np.arange(16, dtype='f4')",
        into="usmx.from_dlpack(t, copy=False)",
        make_read_only="np.frombuffer(bytes(64), 'f4')",
    ),
    Row(
        "dpctl",
        "import dpctl.memory",
        kinds=ALL,
        address="t._pointer",
        read="np.frombuffer(t.tobytes(), 'f4').tolist()",
        write="t.copy_from_host(np.array([42], 'f4').view('u1'))",
        is_read_only="False",
        out="dpctl.memory.as_usm_memory(x)",
        out_fails={"read-only": "it ignores the flag"},
        make="filled(dpctl.memory.MemoryUSMShared(64))",
    ),
    Row(
        "dpnp",
        "import dpnp",
        kinds=ALL,
        address="first_of(t)",
        read="dpnp.asnumpy(t).tolist()",
        write="t[0] = 42; t.sycl_queue.wait()",
        is_read_only="not t.flags.writable",
        out="dpnp.asarray(x)",
        make="dpnp.arange(16, dtype='f4')",
    ),
    Row(
        "dpnp.tensor",
        "import dpnp.tensor",
        kinds=ALL,
        address="first_of(t)",
        read="dpnp.tensor.asnumpy(t).tolist()",
        write="t[0] = 42; t.sycl_queue.wait()",
        is_read_only="not t.flags.writable",
        out="dpnp.tensor.asarray(x)",
        make="dpnp.tensor.arange(16, dtype='f4')",
    ),
    Row(
        "PyTorch (CPU)",
        "import torch",
        address="t.data_ptr()",
        read="t.tolist()",
        write="t[0] = 42",
        is_read_only="False",
        out="torch.asarray(x)",
        out_fails={"read-only": NO_FLAG},
        refuses={"torch.as_tensor(x)": ASKS_DEVICE, "torch.from_dlpack(x)": ASKS_DEVICE},
        make="torch.arange(16, dtype=torch.float32)",
    ),
    Row(
        "PyTorch, DLPack",
        "import torch",
        address="t.data_ptr()",
        read="t.tolist()",
        write="t[0] = 42",
        is_read_only="False",
        out="torch.from_dlpack(np.asarray(x))",
        out_fails={"read-only": NO_FLAG},
        make="torch.arange(16, dtype=torch.float32)",
        into="usmx.from_dlpack(t, copy=False)",
    ),
    Row(
        "JAX (CPU)",
        "import jax; import jax.numpy as jnp",
        address="t.unsafe_buffer_pointer()",
        read="np.asarray(t).tolist()",
        write="",
        is_read_only="True",
        out="jnp.from_dlpack(np.asarray(x))",
        refuses={"jnp.from_dlpack(x)": ASKS_DEVICE},
        make="jnp.arange(16, dtype='f4').block_until_ready()",
        make_read_only="jnp.arange(16, dtype='f4').block_until_ready()",
    ),
    Row(
        "pyarrow, buffer",
        "import pyarrow as pa",
        address="t.address",
        read="np.frombuffer(t, 'f4').tolist()",
        write="np.frombuffer(t, 'f4')[0] = 42",
        is_read_only="not t.is_mutable",
        out="pa.py_buffer(x)",
        make="filled(pa.allocate_buffer(64))",
        make_read_only="pa.py_buffer(bytes(64))",
        into="usmx.asarray(memoryview(t).cast('f'), copy=False)",
    ),
    Row(
        "pyarrow",
        "import pyarrow as pa",
        address="t.buffers()[1].address",
        read="t.to_pylist()",
        write="",
        is_read_only="True",
        out="pa.array(x)",
        make="pa.array(np.arange(16, dtype='f4'))",
        make_read_only="pa.array(np.arange(16, dtype='f4'))",
    ),
    Row(
        "nanoarrow",
        "import nanoarrow as na",
        address="t.buffers[1]._addr()",
        read="t.to_pylist()",
        write="",
        is_read_only="True",
        out="na.Array(x)",
        make="na.Array(np.arange(16, dtype='f4'))",
        make_read_only="na.Array(np.arange(16, dtype='f4'))",
    ),
    Row(
        "nanoarrow, buffer",
        "import nanoarrow as na",
        address="t._addr()",
        read="np.frombuffer(t, 'f4').tolist()",
        write="",
        is_read_only="True",
        out="na.c_buffer(x)",
        make="na.c_buffer(np.arange(16, dtype='f4'))",
        make_read_only="na.c_buffer(np.arange(16, dtype='f4'))",
    ),
    Row(
        "pandas",
        "import pandas as pd",
        out="pd.Series(x, copy=False)",
        address="t.array._ndarray.__array_interface__['data'][0]",
        read="t.tolist()",
        write="t.iloc[0] = 42",
        is_read_only="not t.array._ndarray.flags.writeable",
        make="pd.Series(np.arange(16, dtype='f4'))",
        note="read-only to usmx: pandas copies before it writes",
        make_read_only="pd.Series(np.arange(16, dtype='f4'))",
    ),
    Row(
        "polars",
        "import polars as pl",
        out="pl.Series(x)",
        address="t.to_numpy(allow_copy=False).__array_interface__['data'][0]",
        read="t.to_list()",
        write="",
        is_read_only="True",
        make="pl.Series(np.arange(16, dtype='f4'))",
        make_read_only="pl.Series(np.arange(16, dtype='f4'))",
    ),
    Row(
        "SciPy",
        "import scipy.sparse",
        out="scipy.sparse.csr_array((np.asarray(x), np.arange(16), [0, 16]), shape=(1, 16))",
        address="t.data.__array_interface__['data'][0]",
        read="t.toarray()[0].tolist()",
        write="t.data[0] = 42",
        is_read_only="not t.data.flags.writeable",
        make="scipy.sparse.csr_array((np.arange(16, dtype='f4'), np.arange(16), [0, 16]))",
        into="usmx.asarray(t.data, copy=False)",
    ),
    Row(
        "xarray",
        "import xarray as xr",
        out="xr.DataArray(x)",
        address="t.values.__array_interface__['data'][0]",
        read="t.values.tolist()",
        write="t[0] = 42",
        is_read_only="not t.values.flags.writeable",
        make="xr.DataArray(np.arange(16, dtype='f4'))",
        note="holds a NumPy array of the memory; others only if they have `__array_namespace__`",
        make_read_only="xr.DataArray(np.frombuffer(bytes(64), 'f4'))",
    ),
    Row(
        "mpi4py",
        "from mpi4py import MPI",
        address="t.address",
        read="np.frombuffer(t, 'f4').tolist()",
        write="t[0:4] = np.array([42], 'f4').tobytes()",
        is_read_only="t.readonly",
        out="MPI.buffer.frombuffer(x)",
        make="filled(MPI.buffer.allocate(64))",
        into="usmx.asarray(memoryview(t).cast('B').cast('f'), copy=False)",
    ),
    Row(
        "Pillow",
        "import pyarrow as pa; from PIL import Image",
        out="Image.frombuffer('L', (8, 8), np.asarray(x).view('u1'), 'raw', 'L', 0, 1)",
        out_shown="Image.frombuffer('L', size, x, 'raw', 'L', 0, 1)",
        address="pa.array(t).buffers()[1].address",
        read="np.frombuffer(t.tobytes(), 'f4').tolist()",
        write="",
        is_read_only="t.readonly",
        note="for the modes L, P, RGBX, RGBA, CMYK and I;16; others are copied, and so is an image "
        "before Pillow writes to it",
    ),
    Row(
        "Pillow",
        "import pyarrow as pa; from PIL import Image",
        address="pa.array(t).buffers()[1].address",
        read="np.asarray(t).ravel().tolist()",
        write="t.putpixel((0, 0), 42)",
        make="(lambda i: i.putdata(range(16)) or i)(Image.new('F', (4, 4)))",
        make_read_only="(lambda i: i.putdata(range(16)) or i)(Image.new('F', (4, 4)))",
        into="usmx.asarray(pa.array(t), copy=False)",
        note="`usmx.asarray(t)` gets bytes that Pillow copied",
    ),
    Row(
        "OpenCV",
        "import cv2",
        out="np.asarray(x)",
        out_shown="v = np.asarray(x); cv2.add(v, 1, dst=v)",
        refuses={"cv2.add(x, 1)": NUMPY_ONLY},
        write="cv2.rectangle(t.reshape(4, 4), (0, 0), (0, 0), 42, -1)",
        read="cv2.copyMakeBorder(t, 0, 0, 0, 0, cv2.BORDER_CONSTANT).ravel().tolist()",
        make="cv2.add(np.arange(16, dtype='f4'), 0).ravel()",
    ),
    Row(
        "OpenVINO",
        "import openvino as ov",
        out="ov.Tensor(np.asarray(x), shared_memory=True)",
        address="t.data.__array_interface__['data'][0]",
        read="t.data.tolist()",
        write="t.data[0] = 42",
        is_read_only="not t.data.flags.writeable",
        make="filled(ov.Tensor(ov.Type.f32, [16]))",
        into="usmx.asarray(t.data, copy=False)",
        refuses={"ov.Tensor(x, shared_memory=True)": NUMPY_ONLY},
    ),
]

USES = [
    Use(
        "Numba",
        "import numba_program",
        "numba_program.double(x)",
        "2 * a",
        shown="njit_function(x)",
    ),
    Use(
        "SciPy",
        "import scipy.linalg.blas",
        "v = np.asarray(x)\nassert scipy.linalg.blas.sscal(2.0, v) is v",
        "2 * a",
        shown="scipy.linalg.blas.sscal(2.0, np.asarray(x))",
    ),
    Use(
        "MKL",
        "import mkl_library",
        "mkl_library.double(x)",
        "2 * a",
        shown="mkl.cblas_sgemm(..., x.pointer, ..., y.pointer, n)",
    ),
    Use(
        "h5py",
        "import h5py",
        "with h5py.File(path / 'f.h5', 'w') as f:\n"
        "    f['there'] = x\n"
        "    d = f.create_dataset('d', data=np.arange(16, dtype='f4')[::-1].copy())\n"
        "    assert (f['there'][:] == np.asarray(x)).all()\n"
        "    d.read_direct(np.asarray(x))",
        "a[::-1]",
        shown="d.read_direct(np.asarray(x))",
        refuses={
            "h5py.File('-', 'w', driver='core', backing_store=False).create_dataset("
            "'d', data=np.zeros(16, 'f4')).read_direct(x)": NUMPY_ONLY
        },
        note="`f['a'] = x` copies into the file",
    ),
    Use(
        "zarr",
        "import zarr",
        "z = zarr.create_array(store=path / 'z', shape=16, chunks=5, dtype='f4')\n"
        "z[:] = x\n"
        "np.asarray(x)[...] = z[:] * 2",
        "2 * a",
        shown="z[:] = x",
        note="copies into its chunks",
    ),
    Use(
        "mpi4py",
        "from mpi4py import MPI",
        "y = usmx.empty(16, 'float32', usm_type=x.usm_type)\n"
        "MPI.COMM_SELF.Sendrecv(x, dest=0, recvbuf=y, source=0)\n"
        "MPI.COMM_SELF.Allreduce(MPI.IN_PLACE, x)\n"
        "assert (np.asarray(y) == np.asarray(x)).all()\n"
        "np.asarray(x)[...] *= 2",
        "2 * a",
        shown="comm.Allreduce(x, y)",
    ),
    Use(
        "files",
        "",
        "(path / 'f').write_bytes(np.arange(16, dtype='f4')[::-1].tobytes())\n"
        "with (path / 'f').open('rb') as f:\n"
        "    assert f.readinto(memoryview(np.asarray(x)).cast('B')) == 64",
        "a[::-1]",
        shown="file.readinto(memoryview(np.asarray(x)).cast('B'))",
    ),
    Use(
        "pyopencl",
        "import pyopencl as cl, opencl_program",
        "opencl_program.double(x)",
        "2 * a",
        shown="cl.SVM(np.asarray(x))",
    ),
    Use(
        "Dask",
        "import dask",
        "@dask.delayed\n"
        "def double(v):\n"
        "    v = np.asarray(v)\n"
        "    v *= 2\n"
        "    return v.ctypes.data\n"
        "assert double(x).compute(scheduler='threads') == x.pointer",
        "2 * a",
        shown="dask.delayed(f)(x).compute(scheduler='threads')",
    ),
]


@dataclass(frozen=True)
class Other:
    """What has tests of its own, which are named here."""

    library: str
    tests: str
    shown: str
    note: str
    kinds: tuple[str, ...] = ALL


OTHERS = [
    Other(
        "Dask, processes",
        "test_shipping.py",
        "dask.delayed(f)(x).compute(scheduler='processes')",
        "other processes get copies, on the same device",
    ),
    Other(
        "Ray",
        "test_shipping.py",
        "ray.put(x)",
        "other processes get copies, on the same device",
    ),
    Other(
        "scikit-learn-intelex-gpu",
        "test_scikit_learn.py",
        "KMeans(3).fit(x)",
        "reads shared and host memory in place, and computes on the device of `x`; it asks for a "
        "copy of device memory on the host. The results are NumPy's",
    ),
    Other(
        "scikit-learn-intelex-gpu",
        "test_scikit_learn.py",
        "KMeans(3).fit(dpnp.asarray(x))",
        "with `array_api_dispatch=True` it reads device memory in place too. Not `x` itself: for "
        "results in device memory it has a branch for dpnp, and `UnboundLocalError` for others",
    ),
]
