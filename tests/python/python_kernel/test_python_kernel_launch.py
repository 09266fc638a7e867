# What Python kernels take as arguments, how they are launched, and that each list of types is
# compiled once.
# SPDX-License-Identifier: Apache-2.0
import dpctl.memory
import numpy as np
import pytest

import usmx


@usmx.kernel
def double(item, a):
    i = item.get_id(0)
    a[i] = a[i] * 2


def test_arguments_of_many_kinds():
    ours = usmx.memory.MemoryUSMShared(8)
    theirs = dpctl.memory.MemoryUSMShared(8)
    buffer = np.frombuffer(usmx.memory.MemoryUSMShared(8), "i4")
    for a in (ours, theirs):
        np.frombuffer(a, "u1")[:] = 3
        double[8](a).wait()
        assert np.frombuffer(a, "u1").tolist() == [6] * 8
    buffer[:] = 5
    double[2](buffer).wait()
    assert buffer.tolist() == [10, 10]


def test_numbers_of_numpy_keep_their_type():
    @usmx.kernel
    def f(item, a, b, out):
        out[0] = a.dtype == usmx.float16
        out[1] = b.dtype == usmx.uint8
        out[2] = a
        out[3] = b

    out = usmx.zeros(4, dtype="f4", usm_type="shared")
    f[1](np.float16(1.5), np.uint8(200), out).wait()
    assert out.to_numpy().tolist() == [1, 1, 1.5, 200]


@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.parametrize(
    "name", ["bool", "int8", "uint64", "float16", "float32", "complex64", "complex128"]
)
def test_an_array_of_rank_0_is_a_number_of_its_type(name, simulated):
    @usmx.kernel(simulate=simulated or None)
    def f(item, x, t, out):
        out[0] = x.dtype == out.dtype
        out[1] = x
        out[2] = t[0]

    number = np.array(1, dtype=name)
    readonly = np.array(1, dtype=name)
    readonly.flags.writeable = False
    for x in (number, readonly):
        out = usmx.zeros(3, dtype=name)
        f[1](x, (x, 1), out).wait()
        assert out.to_numpy().tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "name", ["bool", "int8", "uint64", "int32", "float16", "float32", "float64"]
)
def test_a_launch_with_a_number_of_numpy_runs_no_python(monkeypatch, name):
    # Finding out in Python what it is took longer than the launch.
    @usmx.kernel
    def f(item, x, out):
        out[0] = x.dtype == out.dtype
        out[1] = x

    def refuse(*args):
        raise AssertionError(args)

    monkeypatch.setattr("usmx._kernel.arguments.key_of_argument", refuse)
    out = usmx.zeros(2, dtype=name, usm_type="shared")
    for _ in range(2):
        f[1](np.dtype(name).type(1), out).wait()
    assert out.to_numpy().tolist() == [1, 1]
    assert f._count == 1


def test_memory_of_every_kind(kind):
    a = usmx.asarray(np.arange(8, dtype="f4"), usm_type=kind)
    event = double[8](a)
    assert isinstance(event, usmx.Event)
    assert a.to_numpy().tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    with usmx.simulate():
        double[8](a).wait()
    assert a.to_numpy().tolist() == [0, 4, 8, 12, 16, 20, 24, 28]


def test_launches_are_ordered_by_hand_too(queue):
    a = usmx.ones(4, dtype="i4", usm_type="shared", queue=queue)
    first = double[4](a, queue=queue)
    double[4](a, queue=queue, depends_on=[first]).wait()
    assert a.to_numpy().tolist() == [4] * 4


def test_what_is_no_argument_is_refused():
    with pytest.raises(TypeError, match="takes 1 argument "):
        double[4](1, 2)
    with pytest.raises(TypeError, match=r"is of type str; expected USM .* or a number"):
        double[4]("text")
    with pytest.raises(usmx.KernelError, match="has no elements"):
        double[4](3)


def test_a_text_is_made_once_for_each_list_of_types():
    @usmx.kernel
    def f(item, a, x):
        a[item.get_id(0)] = x

    a, b = (usmx.zeros(4, dtype=d, usm_type="shared") for d in ("f4", "i4"))
    for x in (1, 2, 3):
        f[4](a, x)
        f[2, 2](a, x)
    assert f._count == 1
    f[4](b, 1).wait()
    f[2](a[::2], 2.5)
    assert f._count == 3
    with pytest.raises(ValueError, match="does not fit"):
        f[4](a, 2**70)


def test_the_text_can_be_read():
    text = double.source(usmx.zeros(4, dtype="f4"))
    assert "USMX_KERNEL(1) double_(float* a_data, int64_t a_n0)" in text
    assert "a[i] = a[i] * 2.0f;" in text
    usmx.RawKernel(text, "double_").compile()


@usmx.kernel
def copy_behind(item, a, b):
    # Of one item: what it writes to b it reads in a, if both are the same memory.
    for i in range(1, b.size):
        b[i] = a[i - 1] + 1


def test_arrays_that_overlap_are_read_after_each_write():
    # The text for arrays that do not overlap would be wrong for those that do not.
    a, b = (usmx.zeros(64, dtype="i4", usm_type="shared") for _ in range(2))
    copy_behind[1](a, b).wait()
    assert b.to_numpy().tolist() == [0] + [1] * 63
    copy_behind[1](a, a).wait()
    assert a.to_numpy().tolist() == list(range(64))
    wanted = b.to_numpy().tolist()
    for i in range(1, 56):
        wanted[8 + i] = wanted[i - 1] + 1
    copy_behind[1](b[:56], b[8:]).wait()
    assert b.to_numpy().tolist() == wanted
    assert copy_behind._count == 2


MEETINGS = ("barrier", "sub-group", "fence", "atomic", "exchange", "together", "nothing")


@pytest.mark.parametrize("meets", MEETINGS)
def test_a_text_says_that_arrays_lie_apart_where_items_do_not_meet(meets):
    way = MEETINGS.index(meets)

    @usmx.device_func
    def change(b, expected):
        return usmx.AtomicRef(b, 0).compare_exchange(expected, 5, 1)

    def add(item, a, b):
        i = item.get_id(0)
        if way == 0:
            usmx.barrier()
        if way == 1:
            item.get_sub_group().barrier()
        if way == 2:
            usmx.fence()
        if way == 3:
            usmx.atomic.add(b, 0, a[i])
        if way == 4:
            change(b, a)
        if way == 5:
            b[i] = item.get_group().reduce(a[i])
        b[i] = a[i]

    a, b = (usmx.zeros(4, dtype="i4") for _ in range(2))
    k = usmx.kernel(add)
    assert ("__restrict__" in k.source(a, b, local=2)) == (meets == "nothing")
    assert "__restrict__" not in k.source(a, a, local=2)
    assert "__restrict__" not in k.source(b[:3], b[2:], local=2)
    assert ("__restrict__" in k.source(b[:2], b[2:], local=2)) == (meets == "nothing")


def test_usmx_without_kernels_does_not_import_the_compiler(run_python):
    run_python(
        """
        import sys, usmx
        assert not [m for m in sys.modules if m.startswith("usmx._kernel")]
        usmx.kernel
        assert "numpy" not in sys.modules
        """
    )


def test_threads_that_launch_a_new_kernel_at_once_all_get_it():
    from concurrent.futures import ThreadPoolExecutor

    @usmx.kernel
    def f(item, a, x):
        i = item.get_id(0)
        a[i] = a[i] + x

    arrays = [usmx.zeros(64, dtype=d, usm_type="shared") for d in ("i4", "f4", "f8")] * 4

    def launch(a):
        for _ in range(20):
            f[64](a, 1).wait()

    arrays = [a.copy() for a in arrays]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(launch, arrays))
    assert all((a.to_numpy() == 20).all() for a in arrays)


def test_a_kernel_dies_with_its_last_reference():
    import gc
    import weakref

    def make():
        @usmx.kernel
        def f(item, a):
            a[item.get_id(0)] = 1

        f[4](usmx.zeros(4, usm_type="shared")).wait()
        return weakref.ref(f)

    gone = make()
    gc.collect()
    assert gone() is None


def test_compiling_a_kernel_needs_no_numpy(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, usmx\n@usmx.kernel\ndef f(item, a, x):\n    a[item.get_id(0)] = x\n"
        "for t in ('bool', 'int8', 'float16', 'float32', 'complex128'):\n"
        "    f[4](usmx.zeros(4, dtype=t), 1).wait()\n"
        "assert 'numpy' not in sys.modules\n",
        encoding="utf-8",
    )
    run_python(f"import runpy; runpy.run_path({str(program)!r})")


#: Lengths that no group divides well, and some that do.
LENGTHS = [1, 63, 64, 65, 101, 127, 4099, 99991, 100002]


def last_id(item):
    return item.get_range(0) - 1


@usmx.kernel
def numbered(item, out, sizes):
    i = item.get_id(0)
    out[i] += item.get_linear_id() + 1
    if i == item.get_global_range(0) - 1:
        sizes[0] += item.get_range(0)
        sizes[1] += item.get_linear_range()


@usmx.kernel
def numbered_by_functions(item, out, sizes):
    i = item.get_id(0)
    out[i] += i + 1
    if i == last_id(item):
        sizes[0] += i + 1
        sizes[1] += i + 1


@pytest.mark.parametrize("kernel", [numbered, numbered_by_functions])
def test_each_item_of_a_range_of_any_length_runs_once(kernel):
    for length in LENGTHS:
        # What is beyond the range must stay as it is.
        out = usmx.zeros(length + 2048, dtype="int64")
        sizes = usmx.zeros(2, dtype="int64")
        kernel[length](out, sizes).wait()
        assert sizes.to_numpy().tolist() == [length, length], length
        got = out.to_numpy()
        np.testing.assert_array_equal(got[:length], np.arange(1, length + 1))
        assert not got[length:].any()


@usmx.kernel
def numbered_rows(item, out, sizes):
    i, j = item.get_id(0), item.get_id(1)
    out[i, j] += i * item.get_range(1) + j + 1
    usmx.atomic.max(sizes, 0, item.get_range(0) * 100_000 + item.get_range(1))


@usmx.kernel
def numbered_rows_by_linear_ids(item, out, sizes):
    out[item.get_id(0), item.get_id(1)] += item.get_linear_id() + 1
    usmx.atomic.max(sizes, 0, item.get_range(0) * 100_000 + item.get_range(1))


@usmx.kernel
def numbered_planes(item, out, sizes):
    i, j, k = item.get_id(0), item.get_id(1), item.get_id(2)
    out[i + j, k] += (i + j) * item.get_range(2) + k + 1
    usmx.atomic.max(sizes, 0, item.get_range(1) * item.get_range(0) * 100_000 + item.get_range(2))


@pytest.mark.parametrize("kernel", [numbered_rows, numbered_rows_by_linear_ids, numbered_planes])
def test_each_item_of_long_rows_runs_once(kernel):
    for columns in (101, 4099, 10006):
        shape = (3, columns)
        out = usmx.zeros((3, columns + 2048), dtype="int64")
        sizes = usmx.zeros(1, dtype="int64")
        launched = (1, *shape) if kernel is numbered_planes else shape
        kernel[launched, None](out, sizes).wait()
        assert sizes.item() == 300_000 + columns
        got = out.to_numpy()
        np.testing.assert_array_equal(got[:, :columns].reshape(-1), np.arange(1, 3 * columns + 1))
        assert not got[:, columns:].any()


@usmx.kernel
def around(item, out, x):
    i, j = item.get_id(0) + 1, item.get_id(1) + 1
    out[i, j] = x[i - 1, j] + x[i + 1, j]


@usmx.kernel
def wide(item, out, x):
    k, i, j = item.get_id(0), item.get_id(1), item.get_id(2)
    out[k, i, j] = x[k, i, j] + item.get_range(2)


# 7 x 32, 2 x 32 with items beyond, rows that no tile divides, more groups than CUDA has.
@pytest.mark.parametrize(
    "shape", [(1024, 1026), (1023, 1026), (2050, 770), (515, 515), (70002, 34)]
)
def test_tiles_of_a_gpu_have_each_item_once(cuda_forms, shape):
    host = np.random.default_rng(0).random(shape, dtype="f4")
    x, out = usmx.asarray(host, usm_type="device"), usmx.zeros(shape, "float32", usm_type="device")
    around[shape[0] - 2, shape[1] - 2](out, x).wait()
    wanted = np.zeros(shape, "f4")
    wanted[1:-1, 1:-1] = host[:-2, 1:-1] + host[2:, 1:-1]
    np.testing.assert_array_equal(out.to_numpy(), wanted)


@pytest.mark.parametrize("shape", [(3, 512, 512), (5, 77, 1000), (2, 64, 4001)])
def test_tiles_of_a_gpu_are_of_the_last_two_dimensions(cuda_forms, shape):
    host = np.random.default_rng(0).random(shape, dtype="f4")
    x, out = usmx.asarray(host, usm_type="device"), usmx.zeros(shape, "float32", usm_type="device")
    wide[shape](out, x).wait()
    np.testing.assert_array_equal(out.to_numpy(), host + np.float32(shape[2]))
