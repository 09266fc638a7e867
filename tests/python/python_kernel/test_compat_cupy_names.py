# Names that programs for CuPy use: memory, streams, devices, pools, measurements, tests.
# SPDX-License-Identifier: Apache-2.0
import importlib
import importlib.util
import re
import subprocess
import sys

import numpy as np
import pytest

import usmx
import usmx.compat.cupy as cp
from usmx.compat import cupyx
from usmx.compat.cupy import testing


def test_memory_is_reached_by_places_in_it():
    x = cp.arange(6, dtype=cp.float32)
    part = cp.ndarray((2,), cp.float32, x.data + 16)
    assert part.get().tolist() == [4, 5]
    owned = cp.cuda.UnownedMemory(x.data.ptr, x.nbytes, x)
    same = cp.ndarray((6,), cp.float32, cp.cuda.MemoryPointer(owned, 0))
    same[1] = 7
    assert x.get()[1] == 7
    assert int(x.device) == x.device.id == x.data.device_id == 0
    managed = cp.ndarray((3,), cp.int32, cp.cuda.malloc_managed(12))
    managed.data.memset_async(0, 12)
    assert managed.usm_type == "shared"
    assert managed.get().tolist() == [0, 0, 0]
    host = np.zeros(2, cp.float32)
    cp.cuda.runtime.memcpy(
        host.ctypes.data, (x.data + 16).ptr, 8, cp.cuda.runtime.memcpyDeviceToHost
    )
    assert host.tolist() == [4, 5]
    cp.cuda.runtime.memcpyAsync(x.data.ptr, host.ctypes.data, 8)
    cp.cuda.runtime.memset((x.data + 8).ptr, 0, 4)
    assert x.get().tolist() == [4, 5, 0, 3, 4, 5]


def test_arrays_have_the_methods_that_numpys_have_not():
    x = cp.zeros((2, 2), dtype=cp.float32)
    x.scatter_add((cp.array([0, 0]), cp.array([1, 1])), 2.0)
    x.scatter_max(1, 5.0)
    x.scatter_min((slice(None), 0), -1.0)
    assert x.get().tolist() == [[-1, 4], [-1, 5]]
    assert x.reduced_view().shape == (4,)
    assert cp.fromDlpack(x.toDlpack()).get().sum() == 7


def test_streams_and_devices_answer_as_cupys():
    stream = cp.cuda.Stream(non_blocking=True, priority=-1)
    assert stream.is_non_blocking
    assert stream.priority == -1
    assert stream.device_id == 0
    assert cp.cuda.Stream.ptds == cp.cuda.Stream.null == cp.cuda.get_current_stream()
    assert stream != cp.cuda.Stream.null
    other = cp.cuda.ExternalStream(stream.queue)
    other.synchronize()
    with pytest.raises(TypeError, match="an address"):
        cp.cuda.ExternalStream(1234)
    with pytest.raises(NotImplementedError, match=r"usmx\.fuse"):
        stream.begin_capture()
    about = cp.cuda.runtime.getDeviceProperties(0)
    assert {"major", "minor", "totalConstMem", "maxThreadsDim", "managedMemory"} <= set(about)
    assert cp.cuda.runtime.deviceCanAccessPeer(0, 0) is False
    assert cp.cuda.runtime.runtimeGetVersion() >= 12000
    assert cp.cuda.Device(0).pci_bus_id
    assert cp.cuda.device.get_compute_capability() == cp.cuda.Device().compute_capability
    with pytest.raises(AttributeError, match="nccl is not here: see usmx"):
        _ = cp.cuda.nccl


def test_a_pool_refuses_what_is_more_than_its_limit():
    pool = cp.cuda.MemoryPool()
    pool.set_limit(size=1 << 20)
    try:
        assert pool.get_limit() == 1 << 20
        with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="limit"):
            pool.malloc(2 << 20)
        with pytest.raises(ValueError, match="cannot be specified at one time"):
            pool.set_limit(size=1, fraction=0.5)
    finally:
        pool.set_limit(size=0)
    assert pool.get_limit() == 0
    pool.malloc(2 << 20)
    cp.cuda.set_allocator(cp.cuda.MemoryPool(cp.cuda.malloc_managed).malloc)
    cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)


def test_kernels_say_what_cupys_say():
    text = 'extern "C" __global__ void f(float* x) { x[threadIdx.x] += 1; }'
    kernel = cp.RawKernel(text, "f", backend="nvrtc")
    assert kernel.attributes["max_threads_per_block"] == kernel.max_threads_per_block > 0
    assert kernel.num_regs == 0
    kernel.max_dynamic_shared_size_bytes = 1000
    assert kernel.attributes["max_dynamic_shared_size_bytes"] == 1000
    assert kernel.backend == "nvrtc"
    assert cp.RawModule(code=text, options=("-O2",)).options == ("-O2",)
    square = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")
    assert (square.nin, square.nout, square.nargs) == (1, 1, 2)
    stream = cp.cuda.Stream()
    x = cp.arange(4.0)
    assert square(x, stream=stream, block_size=128).get().tolist() == [0, 1, 4, 9]
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert float(total(x, stream=stream)) == 6


def test_cupyx_has_pinned_copies_errors_and_measurements():
    like = np.asfortranarray(np.ones((2, 3), "f4"))
    made = cupyx.empty_like_pinned(like)
    assert made.shape == (2, 3)
    assert made.flags.f_contiguous
    assert cupyx.zeros_like_pinned(like, dtype="i4").tolist() == [[0, 0, 0], [0, 0, 0]]
    assert cupyx.seterr(linalg="raise") == cupyx.geterr()
    with cupyx.allow_synchronize(False):
        pass
    found = cupyx.profiler.benchmark(lambda x: x + 1, (cp.arange(9.0),), n_repeat=3, n_warmup=1)
    assert found.cpu_times.shape == (3,)
    assert found.gpu_times.shape == (1, 3)
    assert (found.gpu_times[0] >= found.cpu_times).all()
    assert "CPU:" in str(found)
    assert "GPU-0:" in str(found)
    assert cupyx.time.repeat is cupyx.profiler.benchmark
    with cupyx.profiler.time_range("mark"), cupyx.profiler.profile():
        pass
    with pytest.raises(AttributeError, match="no 'nothing' here"):
        _ = cupyx.scipy.nothing
    with pytest.raises(AttributeError, match="optimizing is not here"):
        _ = cupyx.optimizing
    with pytest.raises(NotImplementedError, match="cuFFT"):
        cp.fft.config.set_cufft_callbacks(cb_load="")


def test_cutensor_names_axes():
    draw = np.random.default_rng(3)
    a, b, c = (draw.random(s) for s in ((2, 3, 4), (4, 3, 5), (2, 5)))
    tensor = cupyx.cutensor
    got = tensor.contraction(
        2.0, cp.asarray(a), "mhk", cp.asarray(b), "khn", 0.5, cp.asarray(c), "mn"
    )
    np.testing.assert_allclose(got.get(), 2 * np.einsum("mhk,khn->mn", a, b) + 0.5 * c)
    row = draw.random(3)
    got = tensor.elementwise_binary(3.0, cp.asarray(row), "h", 2.0, cp.asarray(a), "mhk")
    np.testing.assert_allclose(got.get(), 3 * row[None, :, None] + 2 * a)
    d = draw.random((4, 2, 3))
    got = tensor.elementwise_trinary(
        1.0, cp.asarray(d), "kmh", 2.0, cp.asarray(row), "h", 3.0, cp.asarray(a), "mhk"
    )
    np.testing.assert_allclose(got.get(), d.transpose(1, 2, 0) + 2 * row[:, None] + 3 * a)
    out = cp.zeros(2)
    got = tensor.reduction(1.0, cp.asarray(a), "mhk", 0.0, out, "m")
    assert got is out
    np.testing.assert_allclose(out.get(), a.sum((1, 2)))
    with pytest.raises(NotImplementedError, match="op_A"):
        tensor.elementwise_binary(1.0, out, "m", 1.0, out, "m", op_A=3)


@testing.for_all_dtypes(no_bool=True)
@testing.numpy_cupy_array_equal()
def test_a_decorated_test_runs_with_both_modules_for_all_types(xp, dtype):
    return testing.shaped_reverse_arange((2, 3), xp, dtype).T


@testing.for_CF_orders()
@testing.for_float_dtypes(no_float16=True)
@testing.numpy_cupy_allclose(rtol={np.float32: 1e-5, "default": 1e-12})
def test_a_decorated_test_has_tolerances_by_type(xp, dtype, order):
    return xp.asarray(xp.sin(testing.shaped_random((2, 5), xp, dtype)), order=order)


@testing.for_all_dtypes_combination(names=("one", "other"))
@testing.numpy_cupy_equal()
def test_a_decorated_test_has_types_of_several_names(xp, one, other):
    return xp.result_type(one, other) == np.result_type(one, other)


@testing.parameterize(*testing.product({"shape": [(2,), (2, 3)], "dtype": ["f4", "f8"]}))
class TestParameters:
    def test_a_class_has_its_parameters_as_attributes(self):
        made = testing.shaped_linspace(0, 1, self.shape, cp, self.dtype)
        assert made.shape == self.shape
        assert made.dtype == self.dtype


def test_a_decorated_test_fails_where_the_modules_differ():
    @testing.numpy_cupy_allclose()
    def differs(xp):
        return xp.ones(3) * (1 if xp is np else 2)

    @testing.numpy_cupy_array_equal(accept_error=ValueError)
    def refused(xp):
        raise ValueError(xp)

    with pytest.raises(AssertionError):
        differs()
    refused()
    assert testing.installed("numpy>=1", "pytest")
    assert not testing.installed("no_such_package")
    matrix = testing.generate_matrix((3, 3), cp, "f8", singular_values=[1, 2, 3])
    np.testing.assert_allclose(np.linalg.svd(matrix.get())[1], [3, 2, 1])


PROGRAM = """
import sys
import cupy as cp
import cupyx
import cupyx.scipy.special
from cupy.cuda import runtime
from cupyx import jit
from cupyx.profiler import benchmark

@jit.rawkernel()
def double(x, size):
    i = jit.grid(1)
    if i < size:
        x[i] = 2 * jit.ldg(x, i)
        jit.threadfence()

x = cp.arange(5.0)
double((1,), (32,), (x, 5))
print(cp.asnumpy(x), runtime.getDeviceCount() > 0, *sys.argv[1:])
"""


def test_an_unchanged_program_runs_by_a_command(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "usmx.compat.cupy", str(program), "one"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[0. 2. 4. 6. 8.] True one"


def test_install_is_undone():
    before = sys.modules.get("cupy")
    with cp.install():
        assert importlib.import_module("cupy") is cp
        assert importlib.import_module("cupyx.jit") is cupyx.jit
        libraries = importlib.import_module("cupy_backends.cuda.libs.cusparselt")
        with pytest.raises(ImportError, match="NVIDIA's libraries are called by usmx"):
            _ = libraries.Handle
    assert sys.modules.get("cupy") is before
    assert usmx.ones(2).get().sum() == 2


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("import cupyx.scipy.sparse", "cupyx.scipy.sparse is not here: sparse matrices are not"),
        ("import cupyx.scipy.sparse.linalg", "cupyx.scipy.sparse is not here"),
        ("from cupyx.scipy import ndimage", "cupyx.scipy.ndimage is not here: scipy.ndimage"),
        ("from cupyx.scipy.signal import convolve2d", "cupyx.scipy.signal is not here"),
        ("from usmx.compat.cupyx.scipy import sparse", "cupyx.scipy.sparse is not here"),
        ("from cupy.cuda import nccl", "cupy.cuda.nccl is not here: see usmx.ipc and mpi4py"),
        ("import cupy.cuda.texture", "cupy.cuda.texture is not here: textures exist on NVIDIA's"),
        ("from cupyx import distributed", "cupyx.distributed is not here: see usmx.ipc"),
    ],
)
def test_what_is_not_here_is_refused_where_it_is_imported(line, text):
    with cp.install(), pytest.raises(ImportError, match=f"^{re.escape(text)}"):
        exec(line, {})


def test_what_is_not_here_is_no_attribute():
    for of, name in ((cupyx, "distributed"), (cupyx.scipy, "sparse"), (cp.cuda, "nccl")):
        assert not hasattr(of, name)
        with pytest.raises(AttributeError, match=f"{name} is not here: "):
            getattr(of, name)
    assert importlib.util.find_spec("usmx.compat.cupyx.nothing") is None


def test_arrays_are_made_with_cupys_arguments_and_never_over_memory_of_numpy():
    for make in (
        cp.asarray,
        cp.asanyarray,
        cp.array,
        lambda a, **more: cp.array(a, None, False, "C", **more),
    ):
        theirs = np.zeros((2, 3))
        made = make(theirs, blocking=True)
        made += 1
        assert isinstance(made, cp.ndarray)
        assert not theirs.any()
        assert made.get().all()
    x = cp.asarray([1, 2], "float32", "F", usm_type="device")
    assert x.usm_type == "device"
    assert cp.array(x, copy=False).data.ptr == cp.asarray(x).data.ptr == x.data.ptr
    assert cp.array(x, cp.float64, False).dtype == "float64"
    assert cp.array(x, ndmin=2).shape == (1, 2)
    cp.cuda.profiler.start()
    cp.cuda.profiler.stop()
