"""Long scans in one launch, whose groups wait for each other as on CUDA, are right here too."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from test_scan import BEFORE, LARGEST, MAPS, SUMS

import usmx
from usmx import _usmx

pytestmark = pytest.mark.usefixtures("cuda_forms")

ONE_LAUNCH = "expression::scan::once<"
# A tile has 4096 float32 elements, and a window 128 tiles.
LONG = 1_234_567
TYPES = [
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def numbers(dtype, shape):
    """Small numbers, of which sums are exact."""
    values = np.random.default_rng(0).integers(0, 3, size=shape)
    return (values * (1 + 1j) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def random(dtype, size, seed=0):
    return np.random.default_rng(seed).integers(0, 9, size).astype(dtype)


@pytest.mark.parametrize(("backend", "launches"), [("cuda", 1), ("level_zero", 3), ("opencl", 3)])
def test_only_where_groups_may_wait_one_launch_is_enough(backend, launches, texts):
    _usmx._Testing.use_forms_of(backend)
    sums = usmx.ScanKernel("T x", "T y", "x", "a + b", name=f"sums_{backend}")
    x = random("int64", 100_000)
    np.testing.assert_array_equal(sums(usmx.asarray(x)).to_numpy(), np.cumsum(x))
    assert len(texts()) == launches
    assert any(ONE_LAUNCH in text for text in texts()) == (launches == 1)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_at_both_sides_of_tiles_and_windows(dtype):
    tile = 256 * min(16, 64 // np.dtype(dtype).itemsize)
    for size in (8193, 3 * tile - 1, 3 * tile, 128 * tile + 1, 129 * tile, 257 * tile + 5):
        x = numbers(dtype, size) * (
            np.arange(size) % 97 == 0
        )  # float16 holds whole numbers to 2048
        x = x.astype(dtype)
        if dtype == "float16":
            x[2000:-2000] = 0
        u = usmx.asarray(x)
        expected = np.cumsum(x, dtype=dtype)
        np.testing.assert_array_equal(SUMS(u).to_numpy(), expected, err_msg=str(size))
        np.testing.assert_array_equal(BEFORE(u).to_numpy(), expected - x, err_msg=str(size))


@pytest.mark.parametrize("size", [0, 1, 2, 8191, 8192, 8193, 100_000, LONG, 5_000_011])
def test_every_length(size):
    x = random("int64", size)
    u = usmx.asarray(x)
    np.testing.assert_array_equal(SUMS(u).to_numpy(), np.cumsum(x))
    np.testing.assert_array_equal(LARGEST(u).to_numpy(), np.maximum.accumulate(x))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("shape", [(3, 2, 40_001), (2, 40_004, 3), (40_001, 2, 2), (5, 1, 20_000)])
def test_several_lines_along_every_axis(shape, axis):
    x = random("int32", shape)
    for order in "CF":
        u = usmx.asarray(np.asarray(x, order=order))
        got = SUMS(u, axis=axis).to_numpy()
        np.testing.assert_array_equal(got, np.cumsum(x, axis=axis, dtype="int32"))


def test_joins_keep_the_order_and_values_may_be_structures():
    p, q = random("int64", LONG, 1), random("int64", LONG, 2)
    scale, shift = MAPS(usmx.asarray(p), usmx.asarray(q))
    expected_scale = np.multiply.accumulate(p)
    np.testing.assert_array_equal(scale.to_numpy(), expected_scale)
    expected, last = np.empty(LONG, "int64"), 0
    for k, (a, b) in enumerate(zip(p.tolist(), q.tolist(), strict=True)):
        last = (a * last + b) & (2**64 - 1)
        expected[k] = last - 2**64 if last >= 2**63 else last
    np.testing.assert_array_equal(shift.to_numpy(), expected)


@pytest.mark.parametrize("dtype", ["int8", "float32", "int64"])
def test_runs_that_begin_anywhere_go_backwards_or_have_steps(dtype):
    x = numbers(dtype, 60_000) * (np.arange(60_000) % 1000 == 0)
    x = x.astype(dtype)
    u = usmx.asarray(x)
    for cut in (np.s_[1:], np.s_[4:], np.s_[16:50_016], np.s_[::2], np.s_[::-1], np.s_[3::3]):
        out = usmx.zeros(x.size + 7, dtype)
        for start in (0, 1, 4):
            place = out[start : start + x[cut].size]
            SUMS(u[cut], place)
            np.testing.assert_array_equal(place.to_numpy(), np.cumsum(x[cut], dtype=dtype))
            np.testing.assert_array_equal(out.to_numpy()[start + x[cut].size :], 0)
            out[:] = 0


def test_a_scan_in_its_own_place():
    x = random("int64", 300_001)
    u = usmx.asarray(x)
    SUMS(u, u)
    np.testing.assert_array_equal(u.to_numpy(), np.cumsum(x))


def test_several_inputs_of_other_types_numbers_indices_and_outputs():
    mixed = usmx.ScanKernel(
        "int8 a, float64 b, raw int32 c, int64 f",
        "int64 y, float32 z",
        "int64_t(a) * f + int64_t(b) + c[n - 1 - i]",
        "a + b",
        "y = a + i; z = a % 7",
        name="mixed",
        scan_type="int64",
    )
    a, b, c = random("int8", 70_001), random("float64", 70_001, 1), random("int32", 70_001, 2)
    y, z = mixed(usmx.asarray(a), usmx.asarray(b), usmx.asarray(c), 3)
    total = np.cumsum(a.astype("int64") * 3 + b.astype("int64") + c[::-1])
    np.testing.assert_array_equal(y.to_numpy(), total + np.arange(70_001))
    np.testing.assert_array_equal(z.to_numpy(), (total % 7).astype("float32"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_sums_of_floats_are_the_same_in_every_run(dtype):
    """What is joined with what is fixed, whichever group ends first."""
    values = np.random.default_rng(0).normal(size=2 * LONG)
    x = values.view("complex128").astype(dtype) if dtype[0] == "c" else values.astype(dtype)
    u = usmx.asarray(x)
    first = SUMS(u).to_numpy()
    np.testing.assert_allclose(first[-1], x.astype("complex128").sum(), rtol=1e-3)
    for _ in range(10):
        assert SUMS(u).to_numpy().tobytes() == first.tobytes()


def test_many_scans_at_once_find_no_race():
    x = [random("int64", size, size) for size in (9000, 50_000, 200_003, 700_001)]
    arrays = [usmx.asarray(v) for v in x]
    expected = [np.cumsum(v) for v in x]
    for _ in range(25):
        for got, want in zip([SUMS(u) for u in arrays], expected, strict=True):
            np.testing.assert_array_equal(got.to_numpy(), want)


def test_windows_of_windows():
    """Beyond 128 windows of 128 tiles, which have 512 such values each."""
    sums = usmx.ScanKernel(
        "uint8 x",
        "int64 y",
        "wide{x, 0, 0, 0}",
        "wide{a.sum + b.sum, 0, 0, 0}",
        "y = a.sum",
        name="sums_of_wide_values",
        scan_type="wide",
        preamble="struct wide { int64_t sum, b, c, d; };\n",
    )
    size = 128 * 128 * 512 + 128 * 512 + 77
    x = random("uint8", size)
    got = sums(usmx.asarray(x)).to_numpy()
    np.testing.assert_array_equal(got, np.cumsum(x, dtype="int64"))


def test_on_a_queue_out_of_order():
    queue = usmx.Queue(usmx.Device(), in_order=False)
    x = random("int64", 200_003)
    u = usmx.asarray(x)
    for _ in range(10):
        np.testing.assert_array_equal(SUMS(u, queue=queue).to_numpy(), np.cumsum(x))


def test_neighbours_are_loaded_and_stored_together_where_they_begin_at_multiples(texts):
    sums = usmx.ScanKernel("T x", "T y", "x", "a + b", name="sums_of_several")
    u = usmx.asarray(random("float32", 40_001))
    out = usmx.empty(40_000, "float32")
    sums(u[:-1], out)
    assert "scan::once<128, 4, " in texts()[-1]
    sums(u[1:], out)
    assert "scan::once<128, 1, " in texts()[-1]
