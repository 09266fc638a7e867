# Arrays, memory, kernels of every tier and queues go to other processes and come back as they were.
# SPDX-License-Identifier: Apache-2.0
import copy
import multiprocessing
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import shipped
from backend_row import ROW, needs

import usmx
import usmx.memory

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def sent(obj, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(obj, protocol))


LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "strided": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1],
    "no elements": lambda a: a[:0],
    "one element": lambda a: a[0, 0],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_keep_type_order_kind_and_access(layout, kind, protocol):
    for dtype in ("int16", "complex64", np.dtype([("a", "i2"), ("b", "f8")])):
        whole = usmx.asarray(np.arange(24).reshape(4, 6).astype(dtype), usm_type=kind)
        x = LAYOUTS[layout](whole)
        for read_only in (False, True):
            if read_only:
                x.flags.writeable = False
            y = sent(x, protocol)
            assert np.array_equal(y.to_numpy(), x.to_numpy())
            assert (y.dtype, y.shape, y.usm_type, y.queue) == (x.dtype, x.shape, kind, x.queue)
            assert y.flags.writeable is not read_only
            order = x.flags.f_contiguous and not x.flags.c_contiguous
            assert y.flags.f_contiguous == (order or x.flags.f_contiguous)
            assert y.flags.c_contiguous is not order


@pytest.mark.parametrize("order", "CF")
def test_elements_that_the_host_reads_go_out_of_band_without_a_copy(order, kind):
    x = usmx.asarray(np.arange(24.0).reshape(4, 6).copy(order=order), usm_type=kind)
    buffers = []
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(text) < 400
    (buffer,) = buffers
    assert buffer.raw().nbytes == x.nbytes
    if kind != "device":
        address = np.frombuffer(buffer.raw(), "u1").__array_interface__["data"][0]
        assert address == x.pointer
    # As bytes, which is how they arrive in another process.
    y = pickle.loads(text, buffers=[bytearray(buffer.raw())])
    assert np.array_equal(y.to_numpy(), x.to_numpy())
    assert (y.usm_type, y.flags.f_contiguous) == (kind, order == "F")
    assert y.pointer != x.pointer
    # Where the memory is, it is that memory.
    same = pickle.loads(text, buffers=buffers)
    assert (same.pointer == x.pointer) is (kind != "device")
    assert np.array_equal(same.to_numpy(), x.to_numpy())
    assert (same.usm_type, same.shape, same.strides) == (kind, x.shape, x.strides)


def test_pending_commands_come_before_a_pickle(kind):
    add = usmx.ElementwiseKernel("T a", "T b", "b = a + 1")
    x = usmx.zeros(1 << 20, "int32", usm_type=kind)
    for step in range(1, 6):
        add(x, x)
        assert set(np.unique(sent(x).to_numpy())) == {step}


@needs("host_memory")
def test_memory_of_the_host_arrives_where_the_host_reads_it():
    y = sent(usmx.asarray(np.arange(4.0), copy=False))
    assert y.usm_type == "host"
    assert np.asarray(y).tolist() == [0, 1, 2, 3]


def test_a_pickle_of_the_form_before_is_still_read():
    x = usmx.asarray(np.arange(4, dtype="int32"))
    rebuild, (data, shape, dtype, kind, device, read_only, _) = x.__reduce__()
    old = rebuild(data, shape, dtype, kind, device, read_only)
    assert old.to_numpy().tolist() == [0, 1, 2, 3]


CLASSES = [
    usmx.memory.MemoryUSMDevice,
    usmx.memory.MemoryUSMShared,
    usmx.memory.MemoryUSMHost,
]


@pytest.mark.parametrize("cls", CLASSES)
def test_memory_goes_out_of_band_too(cls):
    m = cls(8)
    m.copy_from_host(b"12345678")
    for again in (sent(m), sent(m, 2), copy.copy(m), copy.deepcopy(m)):
        assert type(again) is cls
        assert again.tobytes() == b"12345678"
        assert again._pointer != m._pointer
    assert sent(m.as_readonly()).readonly
    buffers = []
    text = pickle.dumps(m, 5, buffer_callback=buffers.append)
    assert b"12345678" not in text
    same = pickle.loads(text, buffers=buffers)
    assert (same._pointer == m._pointer) is (cls is not usmx.memory.MemoryUSMDevice)
    assert same.tobytes() == b"12345678"
    assert pickle.loads(text, buffers=[b"87654321"]).tobytes() == b"87654321"


def test_copies_of_arrays_are_arrays_of_their_own(kind):
    x = usmx.asarray(np.arange(6.0).reshape(2, 3).T, usm_type=kind)
    for y in (copy.copy(x), copy.deepcopy(x)):
        assert y.pointer != x.pointer
        assert (y.usm_type, y.flags.f_contiguous) == (kind, x.flags.f_contiguous)
        assert np.array_equal(y.to_numpy(), x.to_numpy())


def test_queues_go_by_their_device():
    default = usmx.default_queue()
    assert sent(default) == default
    for options in ({"in_order": True}, {"in_order": False}, {"enable_profiling": True}):
        queue = usmx.Queue(ROW.device, **options)
        again = sent(queue)
        assert again != queue
        assert again.device == queue.device
        assert again.is_in_order == queue.is_in_order
        assert again.has_enable_profiling == queue.has_enable_profiling
    if ROW.divides:
        part = usmx.Device(ROW.device).create_sub_devices(1)[0]
        with pytest.raises(TypeError, match="a queue of a sub-device cannot be pickled"):
            pickle.dumps(usmx.Queue(part))
    with pytest.raises(usmx.DeviceError):
        pickle.loads(
            pickle.dumps(default).replace(ROW.device.encode(), f"{ROW.device[:-1]}9".encode())
        )


def test_copies_of_what_never_changes_are_the_object():
    for obj in (*shipped.KERNELS, shipped.twice, usmx.default_queue(), usmx.Device()):
        assert copy.copy(obj) is obj
        assert copy.deepcopy(obj) is obj


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_kernels_of_every_tier_compute_the_same_afterwards(protocol):
    kernels = sent(shipped.KERNELS, protocol)
    assert shipped.all_right(kernels) == shipped.RIGHT
    # Those of functions are found by their names.
    assert kernels[1] is shipped.doubled
    assert kernels[3] is shipped.fused


def test_all_parts_of_a_kernel_arrive():
    each, total, sums = (sent(k) for k in (shipped.each, shipped.total, shipped.sums))
    assert (each.name, each.operation) == ("each", "y = two * x")
    assert (each.in_params, each.out_params) == (("T x",), ("T y",))
    assert (total.name, total.map_expr, total.reduce_expr) == ("total", "2 * x", "a + b")
    assert (total.post_map_expr, sums.exclusive) == ("y = a", True)
    assert sent(shipped.raw).options == ("-DN=2",)
    contracted = usmx.RawKernel("USMX_KERNEL(1) f(int* x) {}", "f", contract=True)
    assert sent(contracted).options == contracted.options
    module = usmx.RawModule("USMX_KERNEL(1) f(int* x) {}", ("-DA",))
    assert (sent(module).source, sent(module).options) == (module.source, module.options)


def test_tables_and_functions_for_kernels_arrive():
    assert sent(shipped.TABLE).values.tolist() == [1, 2, 3, 4]
    assert sent(shipped.TABLE).dtype == np.int32
    assert sent(shipped.twice) is shipped.twice


def test_a_function_without_a_name_says_what_helps(run_python):
    program = """
        import pickle, sys, usmx
        for make in (usmx.fuse, usmx.kernel, usmx.device_func):
            def inner():
                return make(lambda x: x) if make is usmx.fuse else make("def f(x): pass")
            try:
                pickle.dumps(inner())
            except pickle.PicklingError as error:
                assert "cloudpickle" in str(error), error
            else:
                raise AssertionError(make)
    """
    run_python(program)


PROGRAM = """
import multiprocessing, sys, numpy as np, usmx

@usmx.fuse
def plus_one(x):
    return x + 1

@usmx.kernel
def double(item, x):
    x[item.get_id(0)] *= 2

def work(given):
    x, kernels = given
    double, plus_one = kernels
    double[x.size](x).wait()
    y = plus_one(x)
    return y, x.usm_type, y.to_numpy().tolist()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        x = usmx.asarray(np.arange(4.0), usm_type="shared")
        y, kind, values = pool.apply(work, ((x, (double, plus_one)),))
        assert kind == "shared" and values == [1, 3, 5, 7], (kind, values)
        assert y.to_numpy().tolist() == values
        assert x.to_numpy().tolist() == [0, 1, 2, 3]
    print("right")
"""


def test_spawned_processes_get_arrays_and_kernels_of_a_program(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_spawned_processes_get_kernels_of_a_module():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(shipped.run_all, (shipped.KERNELS,)).get(300) == shipped.RIGHT


# Programs, because what stands in `__main__` has no name for workers.
WORKERS = """
    import numpy as np
    import usmx

    @usmx.device_func
    def twice(a):
        return 2 * a

    @usmx.kernel
    def double(item, x):
        i = item.get_id(0)
        x[i] = twice(x[i])

    @usmx.fuse
    def plus_one(x):
        return x + 1

    raw = usmx.RawKernel("USMX_KERNEL(1) f(double* x) { x[usmx::global_id()] += 5; }", "f")

    def work(x, double, plus_one, raw, queue):
        double[x.size](x, queue=queue).wait()
        raw[x.size](x).wait()
        return plus_one(x), x.usm_type, x.flags.f_contiguous

    x = usmx.asarray(np.arange(6.0).reshape(2, 3).T, usm_type="shared")
    flat = usmx.asarray(np.arange(6.0), usm_type="device")
    kernels = double, plus_one, raw, usmx.default_queue()

    def check(total, kind, fortran, y, kind_of_flat, _):
        assert (total, kind, fortran) == (15.0, "shared", True), (total, kind, fortran)
        assert y.to_numpy().tolist() == [6, 8, 10, 12, 14, 16], y
        assert (y.usm_type, kind_of_flat) == ("device", "device")
        print("right")

    def about(x):
        return float(x.to_numpy().sum()), x.usm_type, x.flags.f_contiguous
"""

DASK = """
    from distributed import Client, LocalCluster

    if __name__ == "__main__":
        where = dict(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
        with LocalCluster(host="127.0.0.1", **where) as cluster, Client(cluster) as client:
            told = client.submit(about, x).result(timeout=120)
            made = client.submit(work, flat, *kernels).result(timeout=120)
            check(*told, *made)
"""

RAY = """
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 27)
    try:
        told = ray.get(ray.remote(about).remote(x), timeout=120)
        made = ray.get(ray.remote(work).remote(flat, *kernels), timeout=120)
        check(*told, *made)
    finally:
        ray.shutdown()
"""


@pytest.mark.parametrize("program", [DASK, RAY], ids=["Dask", "Ray"])
def test_workers_of_other_libraries_get_arrays_kernels_and_queues(program, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(WORKERS) + textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, file],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "right" in done.stdout


def test_compiled_functions_are_sent_by_name():
    import cloudpickle

    for function in (usmx.asarray, usmx.zeros, usmx.ndarray.reshape, usmx.Queue.wait):
        for protocol in PROTOCOLS:
            assert sent(function, protocol) is function
        assert cloudpickle.loads(cloudpickle.dumps(function)) is function
    assert cloudpickle.loads(cloudpickle.dumps(lambda n: usmx.zeros(n + 1)))(2).size == 3
    assert pickle.loads(pickle.dumps(usmx.linalg.norm)) is usmx.linalg.norm
    assert pickle.loads(pickle.dumps(usmx.ones(3).sum))() == 3
