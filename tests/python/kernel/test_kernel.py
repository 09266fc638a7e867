# Kernels from text: what they compute from Python, what they take as arguments, and that everything
# the runtime would crash on or silently accept is an error before it gets there.
# SPDX-License-Identifier: Apache-2.0
import gc
import threading

import dpctl
import dpctl.memory
import numpy as np
import pytest
from backend_row import ROW, needs

import usmx
import usmx.memory
from usmx import _usmx

AXPY = """
USMX_KERNEL(1) axpy(float a, const float* x, float* y) {
  auto i = usmx::global_id();
  y[i] += a * x[i];
}
"""
SLOW = """
USMX_KERNEL(1) slow(const int* p, int* result) {
  int sum = 0;
  for (int n = 0; n < 30000000; ++n) sum += p[n & 1023] ^ n;
  result[0] = sum + 1;
}
"""


def array(values, dtype=None, usm_type="shared"):
    return usmx.asarray(np.asarray(values, dtype=dtype), usm_type=usm_type)


def kernel(body, name="f", **kwargs):
    return usmx.RawKernel(body, name, **kwargs)


@pytest.fixture
def axpy():
    return kernel(AXPY, "axpy")


# --- computing ------------------------------------------------------------------------------------


def test_kernel_computes_on_every_kind_of_memory(axpy, kind):
    x, y = array(np.arange(1000), "f4", kind), array(np.ones(1000), "f4", kind)
    event = axpy[1000](2.0, x, y)
    assert isinstance(event, usmx.Event)
    event.wait()
    np.testing.assert_array_equal(y.to_numpy(), 2 * np.arange(1000, dtype="f4") + 1)


def test_kernel_computes_on_memory_objects(axpy):
    x, y = (usmx.memory.MemoryUSMShared(400) for _ in range(2))
    np.frombuffer(x, "f4")[:] = 3
    np.frombuffer(y, "f4")[:] = 1
    axpy[100](2, x, y).wait()
    assert (np.frombuffer(y, "f4") == 7).all()


def test_kernel_computes_on_buffers_that_show_usm(axpy):
    x, y = (usmx.arange(8, dtype="f4", usm_type=kind) for kind in ("shared", "host"))
    axpy[8](2.0, np.asarray(x), np.asarray(y)).wait()
    np.testing.assert_array_equal(np.asarray(y), 3 * np.arange(8, dtype="f4"))
    frozen = np.asarray(y)
    frozen.flags.writeable = False
    axpy[8](2.0, frozen, x).wait()
    with pytest.raises(ValueError, match="read-only"):
        axpy[8](2.0, x, frozen)


def test_kernel_computes_on_objects_of_dpctl_in_place(axpy):
    x, y = dpctl.memory.MemoryUSMShared(400), dpctl.memory.MemoryUSMDevice(400)
    np.frombuffer(x, "f4")[:] = 3
    y.copy_from_host(np.ones(100, "f4").view("u1"))
    axpy[100](2, x, y).wait()
    assert (np.frombuffer(y.copy_to_host(), "f4") == 7).all()


def test_results_are_seen_without_an_explicit_wait(axpy, kind):
    y = array(np.zeros(1 << 16), "f4", kind)
    x = array(np.ones(1 << 16), "f4", kind)
    for _ in range(20):
        axpy[1 << 16](1, x, y)
    assert (y.to_numpy() == 20).all()


def test_ranges_are_in_the_order_of_sycl():
    k = kernel("""
    USMX_KERNEL(3) f(int* out) {
      usmx::nd_item<3> it;
      out[it.get_global_linear_id()] =
          int(100 * it.get_global_id(0) + 10 * it.get_global_id(1) + it.get_global_id(2));
    }""")
    out = array(np.zeros((2, 3, 4)), "i4")
    k[(2, 3, 4), (1, 3, 2)](out).wait()
    i, j, m = np.indices((2, 3, 4))
    np.testing.assert_array_equal(out.to_numpy(), 100 * i + 10 * j + m)


@pytest.mark.parametrize(
    ("rank", "key", "items"),
    [
        (1, 6, 6),
        (1, (6,), 6),
        (1, (6, 2), 6),
        (1, ((6,), (3,)), 6),
        (1, (6, None), 6),
        (2, (2, 3), 6),
        (2, [2, 3], 6),
        (2, ((2, 3), None), 6),
        (2, ((2, 3), (1, 3)), 6),
        (3, (1, 2, 3), 6),
        (3, ((1, 2, 3), (1, 1, 3)), 6),
        (1, np.int64(6), 6),
        (1, 0, 0),
        (2, (3, 0), 0),
    ],
)
def test_ways_to_write_a_range(rank, key, items):
    k = kernel(f"USMX_KERNEL({rank}) f(int* n) {{ usmx::atomic_add(n, 1); }}")
    count = array([0], "i4")
    k[key](count).wait()
    assert count.to_numpy()[0] == items


def test_work_items_share_local_memory():
    k = kernel("""
    USMX_KERNEL(2) f(const float* in, float* out) {
      usmx::nd_item<2> it;
      usmx::local<float[8][9]> tile;
      auto y = it.get_local_id(0), x = it.get_local_id(1), n = it.get_global_range(1);
      auto row = it.get_group(0) * 8, column = it.get_group(1) * 8;
      tile[y][x] = in[(row + y) * n + column + x];
      it.barrier();
      out[(column + y) * it.get_global_range(0) + row + x] = tile[x][y];
    }""")
    a = np.arange(64 * 32, dtype="f4").reshape(64, 32)
    out = usmx.empty((32, 64), dtype="f4", usm_type="shared")
    k[(64, 32), (8, 8)](array(a), out).wait()
    np.testing.assert_array_equal(out.to_numpy(), a.T)


# --- scalars --------------------------------------------------------------------------------------

SCALARS = {
    "bool": "bool", "int8": "int8_t", "uint8": "uint8_t", "int16": "short", "uint16": "uint16_t",
    "int32": "int", "uint32": "unsigned", "int64": "long", "uint64": "size_t", "float16": "half",
    "float32": "float", "float64": "double",
}  # fmt: skip


def echo(c_type):
    return kernel(
        "USMX_KERNEL(1) f(T* out, T value) { out[0] = value; }", options=[f"-DT={c_type}"]
    )


@pytest.mark.parametrize("dtype", SCALARS)
def test_python_and_numpy_scalars_arrive_unchanged(dtype):
    k = echo(SCALARS[dtype])
    info = {"b": None, "i": np.iinfo, "u": np.iinfo, "f": np.finfo}[np.dtype(dtype).kind]
    values = [False, True] if info is None else [info(dtype).min, info(dtype).max, 0, 1]
    for value in values:
        for spelled in (np.dtype(dtype).type(value), np.dtype(dtype).type(value).item()):
            out = array([1], dtype)
            k[1](out, spelled).wait()
            assert out.to_numpy()[0] == value


def test_a_half_is_rounded_once():
    # As a float it would be a tie, and round to the even one.
    out = array([1], "float16")
    echo("half")[1](out, 1 + 2.0**-11 + 2.0**-40).wait()
    assert out.to_numpy()[0] == np.float16(1 + 2.0**-10)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", 128), ("int8", -129), ("uint8", 256), ("uint8", -1), ("int16", 1 << 15),
        ("uint16", 1 << 16), ("int32", 1 << 31), ("uint32", -1), ("int64", 1 << 63),
        ("uint64", 1 << 64), ("uint64", -1), ("bool", 2), ("float32", 1e39), ("float16", 65520.0),
        ("float64", 10**400), ("int32", np.int64(1 << 40)), ("float32", np.float64(-1e39)),
    ],
)  # fmt: skip
def test_scalar_out_of_range_is_refused(dtype, value):
    with pytest.raises(ValueError, match=rf"argument 1 of kernel 'f' \(T value\).*{dtype}"):
        echo(SCALARS[dtype])[1](array([1], dtype), value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int32", 2.5), ("int32", 2.0), ("int32", np.float32(2)), ("int32", "2"), ("int32", None),
        ("float32", "2"), ("float32", 1j), ("float32", b"2"), ("float32", None), ("bool", 0.5),
        ("float64", np.complex64(1)), ("int64", [1]), ("float32", object()),
    ],
)  # fmt: skip
def test_scalar_of_the_wrong_type_is_refused(dtype, value):
    with pytest.raises(TypeError, match="argument 1 of kernel 'f'"):
        echo(SCALARS[dtype])[1](array([1], dtype), value)


def test_special_floats_arrive(tmp_path):
    out = array([0], "f4")
    for value in (np.inf, -np.inf, np.nan, -0.0):
        echo("float")[1](out, value).wait()
        np.testing.assert_array_equal(out.to_numpy()[0], np.float32(value))


@needs("structs")
def test_parameter_of_unknown_type_takes_numpy_scalars_only():
    k = kernel("""
    template <class T> struct of { using type = T; };
    USMX_KERNEL(1) f(double* out, of<float>::type a, of<int>::type b) { out[0] = a + b; }""")
    out = array([0], "f8")
    k[1](out, np.float32(0.5), np.int32(2)).wait()
    assert out.to_numpy()[0] == 2.5
    with pytest.raises(TypeError, match="NumPy scalar"):
        k[1](out, 0.5, 2)


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda x, y: (1.0, x), "takes 3 arguments, got 2"),
        (lambda x, y: (), "takes 3 arguments, got 0"),
        (lambda x, y: (1.0, x, y, y), "takes 3 arguments, got 4"),
        (lambda x, y: (x, x, y), r"argument 0 of kernel 'axpy' \(float a\): is USM"),
        (lambda x, y: (1.0, 2.0, y), r"argument 1 .*\(const float\* x\): is of type float"),
        (lambda x, y: (1.0, None, y), "is of type NoneType; expected USM"),
        (lambda x, y: (1.0, [1.0] * 8, y), "is of type list; expected USM.*asarray"),
        (lambda x, y: (1.0, x, array([1.0] * 8, "f8")), "float64; expected float32"),
        (lambda x, y: (1.0, x, array([1] * 8, "i4")), "int32; expected float32"),
    ],
)
def test_arguments_that_do_not_fit_the_declaration_are_refused(axpy, arguments, message):
    x, y = array(np.ones(8), "f4"), array(np.ones(8), "f4")
    with pytest.raises(TypeError, match=message):
        axpy[8](*arguments(x, y))
    np.testing.assert_array_equal(y.to_numpy(), 1)


def test_read_only_memory_goes_to_pointers_to_const_only(axpy):
    x, y = array(np.ones(8), "f4"), array(np.ones(8), "f4")
    frozen = read_only(x)
    axpy[8](1, frozen, y).wait()
    assert (y.to_numpy() == 2).all()
    with pytest.raises(ValueError, match=r"\(float\* y\): is read-only"):
        axpy[8](1, y, frozen)


def read_only(a):
    """A foreign object that exports `a` as read-only."""

    class Lender:
        def __init__(self):
            fields = a.__sycl_usm_array_interface__
            self.__sycl_usm_array_interface__ = {**fields, "data": (fields["data"][0], True)}

    return Lender()


def test_strided_arrays_are_refused_where_a_pointer_would_ignore_the_strides(axpy):
    x, y = array(np.ones(16), "f4"), array(np.ones(16), "f4")
    for view in (x[::2], x[::-1]):
        with pytest.raises(ValueError, match=r"\(const float\* x\): is strided.*copy"):
            axpy[8](1, view, y)
    axpy[8](1, x[8:], y[:8]).wait()  # a contiguous part is fine
    assert y.to_numpy().tolist() == [2] * 8 + [1] * 8


def test_memory_of_another_context_is_refused(axpy):
    other = dpctl.SyclQueue(
        dpctl.SyclContext([dpctl.SyclDevice(ROW.device)]), dpctl.SyclDevice(ROW.device)
    )
    x, y = array(np.ones(8), "f4"), array(np.ones(8), "f4")
    foreign = dpctl.memory.MemoryUSMShared(32, queue=other)
    with pytest.raises(ValueError, match="another context"):
        axpy[8](1, foreign, y)
    with pytest.raises(ValueError, match="another context"):
        axpy[8](1, x, y, queue=other)
    np.frombuffer(foreign, "f4")[:] = 1
    axpy[8](1, foreign, foreign).wait()  # alone it takes the kernel to its own context
    assert (np.frombuffer(foreign, "f4") == 2).all()


def test_memory_that_is_dropped_while_the_kernel_runs_stays_until_it_is_done():
    k = kernel(SLOW, "slow")
    k.compile()
    result = array([0], "i4")
    for make in (
        lambda: array(np.full(1024, 3), "i4"),
        lambda: dpctl.memory.as_usm_memory(array(np.full(1024, 3), "i4")),
    ):
        p = make()
        event = k[1](p, result)
        del p
        gc.collect()
        trash = [array(np.full(1024, -1), "i4") for _ in range(4)]
        event.wait()
        n = np.arange(30_000_000, dtype="i4")
        assert result.to_numpy()[0] == np.bitwise_xor(n, 3).sum(dtype="i4") + 1
        del trash


# --- queues ---------------------------------------------------------------------------------------


def test_kernel_runs_on_the_queue_of_its_arguments_or_the_one_given(axpy):
    given = usmx.Queue(dpctl.SyclQueue())
    x, y = array(np.ones(8), "f4"), array(np.ones(8), "f4")
    for queue in (None, given, dpctl.SyclQueue(), ROW.device):
        axpy[8](1, x, y, queue=queue).wait()
    assert (y.to_numpy() == 5).all()


def test_launches_on_different_queues_follow_each_other():
    k = kernel(SLOW + AXPY, "slow")
    add = kernel("USMX_KERNEL(1) f(int* r) { r[1] = r[0]; }")
    p = dpctl.memory.MemoryUSMShared(4096, queue=dpctl.SyclQueue())  # keeps no order by itself
    np.frombuffer(p, "i4")[:] = 0
    q = dpctl.memory.MemoryUSMShared(8, queue=p.sycl_queue)
    np.frombuffer(q, "i4")[:] = 0
    k[1](p, q)
    add[1](q).wait()
    first, second = np.frombuffer(q, "i4")
    assert first == second != 0


def test_explicit_dependencies_order_a_queue_without_order(axpy):
    queue = usmx.Queue(dpctl.SyclQueue())
    x, y = array(np.ones(1 << 16), "f4"), array(np.zeros(1 << 16), "f4")
    event = axpy[1 << 16](1, x, y, queue=queue, depends_on=())
    for _ in range(20):
        event = axpy[1 << 16](1, x, y, queue=queue, depends_on=[event])
    event.wait()
    assert (y.to_numpy() == 21).all()
    for wrong in (1, [1], "x"):
        with pytest.raises(TypeError, match="depends_on"):
            axpy[8](1, x, y, depends_on=wrong)


def test_threads_launch_the_same_kernel(axpy):
    results = []

    def work(value):
        x, y = array(np.full(64, value), "f4"), array(np.zeros(64), "f4")
        for _ in range(50):
            axpy[64](1, x, y).wait()
        results.append((y.to_numpy() == 50 * value).all())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 8


# --- compiling ------------------------------------------------------------------------------------


def test_same_source_is_compiled_once_in_a_process():
    source = "// only here\n" + AXPY
    made = lambda: sum(_usmx._ProgramStore.counts()[::2])  # noqa: E731  (compiled or read)
    before = made()
    x = array(np.ones(8), "f4")
    for _ in range(3):
        kernel(source, "axpy")[8](1, x, x).wait()
    assert made() - before == 1


def test_missing_kernel_is_a_key_error_that_names_those_there_are():
    module = usmx.RawModule(AXPY + "USMX_KERNEL(1) other(int* p) {}")
    assert module.names() == ("axpy", "other")
    with pytest.raises(KeyError, match="no kernel named 'axpi'; there are: axpy, other"):
        module.get_function("axpi").compile()
    with pytest.raises(KeyError, match="axpy, other"):
        module.get_function("axpi")[1]()


def test_build_error_has_the_log_with_the_users_lines():
    with pytest.raises(usmx.BuildError, match=r"source:3:10: error: .*'nothing'") as raised:
        kernel("\nUSMX_KERNEL(1) f(int* p) {\n  p[0] = nothing;\n}").compile()
    assert "3 |   p[0] = nothing;" in raised.value.log
    assert isinstance(raised.value, RuntimeError)


def test_build_error_in_a_launch_leaves_the_kernel_usable_elsewhere():
    broken, fine = kernel("USMX_KERNEL(1) f(int* p) { ; ; oops }"), echo("int")
    out = array([0], "i4")
    for _ in range(2):
        with pytest.raises(usmx.BuildError, match="oops"):
            broken[1](out)
    fine[1](out, 4).wait()
    assert out.to_numpy()[0] == 4


def test_options_must_be_a_sequence_of_str():
    for wrong in ("-DN=1", 5, [1], None):
        with pytest.raises(TypeError, match=r"options|argument"):
            usmx.RawKernel(AXPY, "axpy", wrong)


@pytest.mark.parametrize(
    ("rank", "key", "error"),
    [
        (1, (), ValueError),
        (1, (1, 2, 3), TypeError),
        (1, "8", TypeError),
        (1, 1.5, TypeError),
        (1, None, TypeError),
        (1, True, TypeError),
        (1, -1, ValueError),
        (1, 1 << 70, ValueError),
        (1, (8, 3), ValueError),
        (1, (8, 0), ValueError),
        (1, ((8,), (2, 2)), ValueError),
        (1, ((1, 2, 3, 4), None), ValueError),
        (1, ((2, 2), (1, 1)), ValueError),  # two dimensions for a kernel over one
        (2, 8, ValueError),
        (3, (2, 2), ValueError),
        (1, (1 << 20, 1 << 20), ValueError),  # larger than any work-group
    ],
)
def test_impossible_ranges_are_refused(rank, key, error):
    k = kernel(f"USMX_KERNEL({rank}) f(int* n) {{ usmx::atomic_add(n, 1); }}")
    count = array([0], "i4")
    with pytest.raises(error):
        k[key](count)
    assert count.to_numpy()[0] == 0


def test_kernels_describe_themselves(axpy):
    assert repr(axpy) == "<usmx.RawKernel 'axpy'>"
    assert (axpy.name, axpy.source, axpy.options) == ("axpy", AXPY, ())
    assert usmx.RawModule(AXPY, ["-DN=1"]).options == ("-DN=1",)


def test_pointers_take_arrays_in_c_order_alone():
    """A pointer knows no strides, so another layout would show elements in other places."""
    copies = usmx.RawKernel(
        "USMX_KERNEL(1) copies(const float* x, float* y) {"
        " auto i = usmx::global_id(); y[i] = x[i]; }",
        "copies",
    )
    x = usmx.arange(24, dtype="float32").reshape(2, 3, 4)
    matrix = x[0]
    taken = [x, matrix, x[1:], x[:, :1, :][:1], x[:1].T[:, :1, :1], matrix[1:2].T, x[0, 0], x[:0]]
    assert all(view.flags.c_contiguous for view in taken)
    for view in taken:
        y = usmx.zeros(view.shape, dtype="float32")
        if view.size:
            copies[view.size](view, y).wait()
        assert y.tolist() == view.tolist()
    for view in (matrix.T, x.T, usmx.asarray(matrix, order="F")):
        wrong = r"argument 0 of kernel 'copies' \(const float\* x\): is in Fortran order"
        with pytest.raises(ValueError, match=wrong) as refused:
            copies[view.size](view, usmx.zeros(view.shape, dtype="float32"))
        assert "pass x.copy()" in str(refused.value)
        with pytest.raises(ValueError, match=r"argument 1 .* and a pointer knows no strides"):
            copies[view.size](usmx.zeros(view.shape, dtype="float32"), view)
    for view in (matrix[:, ::2], matrix[::-1], matrix[:, 1:], x[:, 0], x.transpose(0, 2, 1)):
        with pytest.raises(ValueError, match="is strided, and a pointer knows no strides"):
            copies[view.size](view, usmx.zeros(view.shape, dtype="float32"))
    # What knows strides takes all of them.
    raw = usmx.ElementwiseKernel("raw float32 x", "float32 y", "y = x[i]", "raw_copies")
    for view in (matrix.T, matrix[::-1], x[:, ::2, ::-1]):
        y = usmx.zeros(view.size, dtype="float32")
        raw(view, out=y)
        assert y.tolist() == view.reshape(-1).tolist()
