# Kernels written and cut as for CUDA devices give the same values on the device that is there: the
# table of backends chooses forms, and tests choose a row of it.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx
from usmx import _usmx

pytestmark = pytest.mark.usefixtures("cuda_forms")

SIZES = [1, 2, 3, 15, 16, 17, 63, 1000, 4099]


def some(dtype, size, seed=0):
    values = np.random.default_rng(seed).integers(0, 9, size)
    return values.astype(dtype)


def test_an_unknown_backend_is_an_error():
    with pytest.raises(ValueError, match="'coda' is not supported; expected one of"):
        _usmx._Testing.use_forms_of("coda")


@pytest.mark.parametrize(
    ("dtype", "elements"),
    [("int8", 16), ("float16", 8), ("float32", 4), ("int64", 2), ("complex64", 2)],
)
def test_several_elements_are_loaded_at_once(dtype, elements, texts):
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", f"add_{dtype}")
    for size in SIZES:
        x, y = some(dtype, size), some(dtype, size, 1)
        np.testing.assert_array_equal(add(usmx.asarray(x), usmx.asarray(y)).to_numpy(), x + y)
    assert any(f"each_several<{elements}>(" in text for text in texts())


def test_numbers_of_16_bytes_are_loaded_one_by_one(texts):
    double = usmx.ElementwiseKernel("T x", "T z", "z = x + x", "doubled")
    x = some("complex128", 100)
    np.testing.assert_array_equal(double(usmx.asarray(x)).to_numpy(), x + x)
    assert "each_several" not in texts()[0]


@pytest.mark.parametrize("start", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("size", SIZES)
def test_runs_that_begin_anywhere(start, size):
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    x, y = some("float32", size + start), some("float32", size)
    out = usmx.zeros(size + start, "float32")
    add(usmx.asarray(x)[start:], usmx.asarray(y), out[start:])
    np.testing.assert_array_equal(out.to_numpy()[start:], x[start:] + y)
    np.testing.assert_array_equal(out.to_numpy()[:start], 0)


def test_types_of_different_widths_and_numbers():
    mixed = usmx.ElementwiseKernel(
        "int8 a, float64 b, bool c, T f", "float32 y, int64 z", "y = a + b; z = c ? a : f", "mixed"
    )
    for size in SIZES:
        a, b, c = some("int8", size), some("float64", size, 1), some("int8", size, 2) > 4
        y, z = mixed(*map(usmx.asarray, (a, b, c)), np.int16(7))
        np.testing.assert_array_equal(y.to_numpy(), (a + b).astype("float32"))
        np.testing.assert_array_equal(z.to_numpy(), np.where(c, a, 7))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "if (x > 4) y = x; else if (x > 2) y += x",
            lambda x: np.where(x > 4, x, np.where(x > 2, 100 + x, 100)),
        ),
        ("y = x; y = _raw_y[i] + x", lambda x: 2 * x),
    ],
    ids=["not assigned, or read", "seen as a whole"],
)
def test_outputs_have_what_they_had_and_what_was_assigned(text, wanted):
    kernel = usmx.ElementwiseKernel("T x", "T y", text, "output")
    for size in SIZES:
        x = some("float32", size)
        y = usmx.asarray(np.full(size, 100, "float32"))
        kernel(usmx.asarray(x), y)
        np.testing.assert_array_equal(y.to_numpy(), wanted(x))


def test_an_element_of_an_atomic_operation_is_in_memory(texts):
    count = usmx.ElementwiseKernel("T x", "T y", "atomicAdd(&y, x)", "count")
    x = some("int32", 100)
    y = usmx.ones(100, "int32")
    count(usmx.asarray(x), y)
    np.testing.assert_array_equal(y.to_numpy(), x + 1)
    assert "each_several" not in texts()[-1]


def test_an_output_can_be_an_input_and_overlap_one():
    step = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + 2 * y", "step")
    for size in SIZES:
        x = some("float32", size + 4)
        a = usmx.asarray(x)
        step(a, a, a)
        np.testing.assert_array_equal(a.to_numpy(), 3 * x)
        step(a[:-4], a[4:], a[4:])
        np.testing.assert_array_equal(a.to_numpy()[4:], 3 * x[:-4] + 6 * x[4:])


def test_an_expression_knows_its_element_and_can_end_early():
    counted = usmx.ElementwiseKernel(
        "T x", "int64 y", "y = -1; if (x > 4) return; y = 100 * n + i", "counted"
    )
    for size in SIZES:
        x = some("float32", size)
        wanted = np.where(x > 4, -1, 100 * size + np.arange(size))
        np.testing.assert_array_equal(counted(usmx.asarray(x)).to_numpy(), wanted)


@pytest.mark.parametrize(
    ("items", "group"), [(1 << 18, 256), (1 << 16, 128), (1 << 14, 32), (96, 32), (97, None)]
)
def test_a_plain_range_runs_in_groups_that_fill_the_device(items, group):
    kernel = usmx.RawKernel(
        "USMX_KERNEL(1) group(int64_t* y) { y[usmx::global_id()] = usmx::local_range(); }", "group"
    )
    y = usmx.empty(items, "int64")
    kernel[items](y).wait()
    assert (y.to_numpy() > 0).all()
    assert group is None or set(y.to_numpy()) == {group}


@pytest.mark.parametrize("columns", [2, 3, 5, 8, 63, 100, 127, 128])
@pytest.mark.parametrize("rows", [1, 7, 120, 997, 30_030, 65_536])
def test_few_columns_are_reduced(rows, columns):
    total = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
    x = some("int64", (rows, columns))
    np.testing.assert_array_equal(total(usmx.asarray(x), axis=0).to_numpy(), x.sum(axis=0))


def test_few_columns_of_parts_and_of_several_operands():
    dot = usmx.ReductionKernel("T x, T y, T f", "T z", "x * y * f", "a + b", "z = a * n", 0, "dot")
    x, y = some("int64", (6000, 8)), some("int64", (6000, 8), 1)
    a, b = usmx.asarray(x), usmx.asarray(y)
    wanted = (x * y).sum(axis=0) * 3 * 6000
    np.testing.assert_array_equal(dot(a, b, 3, axis=0).to_numpy(), wanted)
    # Rows that are not adjacent, columns in another order, one row for all.
    for u, v, p, q in [
        (a[::2], b[::2], x[::2], y[::2]),
        (a[:, ::-1], b[:, ::-1], x[:, ::-1], y[:, ::-1]),
        (a[:, :5], b[:, :5], x[:, :5], y[:, :5]),
        (a, b[:1], x, y[:1]),
    ]:
        wanted = (p * q).sum(axis=0) * 3 * len(p)
        np.testing.assert_array_equal(dot(u, v, 3, axis=0).to_numpy(), wanted)


def test_a_map_over_few_columns_that_counts_elements():
    parts = usmx.ReductionKernel("T x", "T y", "x * n", "a + b", "y = a", 0, "parts")
    where = usmx.ReductionKernel("T x", "int64 y", "i", "max(a, b)", "y = a", name="where")
    x = some("int64", (4096, 8))
    a = usmx.asarray(x)
    np.testing.assert_array_equal(parts(a, axis=0).to_numpy(), x.sum(axis=0) * 4096)
    np.testing.assert_array_equal(where(a, axis=0).to_numpy(), 4095)


@pytest.mark.parametrize("size", [1, 255, 1024, 8192, 8193, 100_000])
def test_scans(size):
    running = usmx.ScanKernel("T x", "T y", "x", "a + b", name="running")
    x = some("int64", size)
    np.testing.assert_array_equal(running(usmx.asarray(x)).to_numpy(), np.cumsum(x))


def test_python_kernels_over_lengths_that_no_group_divides():
    @usmx.kernel
    def add(item, x):
        x[item.get_id(0)] += item.get_range(0)

    for size in [*SIZES, 99991]:
        x = usmx.zeros(size + 512, dtype="int64")
        add[size](x).wait()
        assert x.to_numpy().tolist() == [size] * size + [0] * 512
