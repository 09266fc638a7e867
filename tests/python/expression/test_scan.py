"""Scans from expressions agree with NumPy's, for every type, layout, axis and length."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from depths import of_depth
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import usmx

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]

SUMS = usmx.ScanKernel("T x", "T y", "x", "a + b", name="sums")
BEFORE = usmx.ScanKernel("T x", "T y", "x", "a + b", None, 0, "before", exclusive=True)
LARGEST = usmx.ScanKernel("T x", "T y", "x", "maximum(a, b)", name="largest")

# x -> scale * x + shift, one after the other: joined in another order it is something else.
MAPS = usmx.ScanKernel(
    "int64 p, int64 q",
    "int64 scale, int64 shift",
    "affine{p, q}",
    "affine{b.scale * a.scale, b.scale * a.shift + b.shift}",
    "scale = a.scale; shift = a.shift",
    name="maps",
    scan_type="affine",
    preamble="struct affine { int64_t scale, shift; };",
)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around(dtype):
    info = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max, 40_000, dtype, endpoint=True)
    u = usmx.asarray(x)
    np.testing.assert_array_equal(SUMS(u).to_numpy(), np.cumsum(x, dtype=dtype))
    np.testing.assert_array_equal(LARGEST(u).to_numpy(), np.maximum.accumulate(x))


# Around an item's share, a tile and a chunk; and where totals of chunks have chunks themselves.
BORDERS = [
    *(1, 2, 15, 16, 17, 255, 256, 257, 511, 2047, 2048, 2049, 4095, 4096, 4097),
    *(16383, 16384, 16385, 3 * 16384 + 5, 300_000, 64 * 16384 - 1, 64 * 16384 + 1),
]


@pytest.mark.parametrize("size", BORDERS)
def test_lengths_around_every_border(size):
    x = np.random.default_rng(size).integers(-100, 100, size)
    u = usmx.asarray(x)
    expected = np.cumsum(x)
    np.testing.assert_array_equal(SUMS(u).to_numpy(), expected)
    np.testing.assert_array_equal(BEFORE(u).to_numpy(), expected - x)
    np.testing.assert_array_equal(SUMS(u[::-1]).to_numpy(), np.cumsum(x[::-1]))
    wide = np.stack([x, 2 * x, x + 1], axis=1)
    for kernel, plus in ((SUMS, 0), (BEFORE, wide)):
        np.testing.assert_array_equal(
            kernel(usmx.asarray(wide), axis=0).to_numpy(), np.cumsum(wide, axis=0) - plus
        )


def test_totals_of_chunks_are_scanned_in_chunks():
    across = np.ones((2048 * 2048 + 1, 2), "i4")
    np.testing.assert_array_equal(
        SUMS(usmx.asarray(across), axis=0).to_numpy(), np.cumsum(across, axis=0, dtype="i4")
    )


@pytest.mark.parametrize("shape", [(40, 5000), (3000, 300), (20_000, 3), (3, 20_000), (5, 700, 9)])
def test_elements_keep_their_order(shape):
    rng = np.random.default_rng(2)
    p, q = rng.integers(-3, 4, shape) | 1, rng.integers(-9, 9, shape)
    for axis in range(len(shape)):
        scale, shift = p.copy(), q.copy()
        s, t = np.moveaxis(scale, axis, 0), np.moveaxis(shift, axis, 0)
        with np.errstate(over="ignore"):
            for k in range(1, len(s)):
                t[k] += s[k] * t[k - 1]
                s[k] *= s[k - 1]
        got = MAPS(usmx.asarray(p), usmx.asarray(q), axis=axis)
        np.testing.assert_array_equal(got[0].to_numpy(), scale)
        np.testing.assert_array_equal(got[1].to_numpy(), shift)


@settings(max_examples=of_depth(quick=8, full=40), deadline=None)
@given(data=st.data())
def test_whatever_numpy_can_slice_is_scanned_as_by_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=30))
    x = np.arange(math.prod(shape), dtype="i8").reshape(shape)
    slices = [
        st.sampled_from([slice(None), slice(None, None, -1), slice(None, None, 2), slice(0, 1)])
        for _ in shape
    ]
    index = tuple(data.draw(st.tuples(*slices)))
    order = data.draw(st.permutations(range(x.ndim)))
    u, x = usmx.asarray(x)[index].transpose(order), x[index].transpose(order)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    np.testing.assert_array_equal(SUMS(u, axis=axis).to_numpy(), np.cumsum(x, axis=axis))
    np.testing.assert_array_equal(BEFORE(u, axis=axis).to_numpy(), np.cumsum(x, axis=axis) - x)


def test_numbers_of_elements_inputs_that_broadcast_and_raw_ones():
    x = np.arange(12.0).reshape(3, 4)
    u = usmx.asarray(x)
    mean = usmx.ScanKernel("T x", "T y", "x", "a + b", "y = a / (i + 1) + n")
    for axis in (0, 1):
        steps = np.arange(1, x.shape[axis] + 1)
        steps = steps[:, None] if axis == 0 else steps
        np.testing.assert_array_equal(
            mean(u, axis=axis).to_numpy(), np.cumsum(x, axis=axis) / steps + x.shape[axis]
        )
    weighted = usmx.ScanKernel("T x, T w, raw T t", "T y", "x * w + t[i] * t.size()", "a + b")
    table = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(
        weighted(u, 3, usmx.asarray(table), axis=1).to_numpy(),
        np.cumsum(x * 3 + table * 4, axis=1),
    )
    row = usmx.asarray(np.arange(4.0))
    np.testing.assert_array_equal(
        weighted(u[:, :1], row, usmx.asarray(table), axis=1).to_numpy(),
        np.cumsum(x[:, :1] * np.arange(4.0) + table * 4, axis=1),
    )


def test_a_raw_input_may_be_the_output(kind):
    table = np.arange(60_000)
    pick = usmx.ScanKernel("int64 k, raw T t", "T y", "t[k]", "a + b", name="pick")
    k = np.random.default_rng(6).permutation(60_000)
    u = usmx.asarray(table, usm_type=kind, copy=True)
    pick(usmx.asarray(k), u, out=u)
    np.testing.assert_array_equal(u.to_numpy(), np.cumsum(table[k]))


def test_nothing_and_one():
    assert SUMS(usmx.empty((0,), "f4")).shape == (0,)
    for axis in (0, 1, 2):
        assert BEFORE(usmx.empty((3, 0, 2), "f4"), axis=axis).shape == (3, 0, 2)
    assert SUMS(usmx.ones(1, "f4")).to_numpy() == [1]
    infinite = usmx.ScanKernel(
        "T x", "T y", "x", "minimum(a, b)", identity=math.inf, exclusive=True
    )
    np.testing.assert_array_equal(infinite(usmx.asarray([3.0, 1, 2])).to_numpy(), [math.inf, 3, 1])


def test_sums_are_the_same_from_run_to_run():
    x = usmx.asarray(np.random.default_rng(4).standard_normal(100_000).astype("f4"))
    first = SUMS(x).to_numpy().tobytes()
    assert all(SUMS(x).to_numpy().tobytes() == first for _ in range(5))


def test_a_second_call_compiles_nothing():
    compiled = lambda: sum(usmx._usmx._ProgramStore.counts()[::2])  # noqa: E731  (or read)
    k = usmx.ScanKernel("T x", "T y", "x + 5", "a + b", name="once")
    k(usmx.ones(100_000, "f4"))
    first, texts = compiled(), len(k.sources)
    assert texts in (1, 3)  # one launch where groups wait for others
    k(usmx.ones(200_001, "f4"))
    assert (compiled(), len(k.sources)) == (first, texts)


@pytest.mark.parametrize(
    ("arguments", "keywords", "words"),
    [
        (
            ("raw T x", "T y", "x[i]", "a + b"),
            {},
            "in_params: .*expected at least one",
        ),
        (("T x", "", "x", "a + b"), {}, "out_params: is empty"),
        (("T x", "T b", "x", "a + b"), {}, "out_params: 'T b': 'b' is one of"),
        (("T x", "T y", "", "a + b"), {}, "map_expr: is empty"),
        (("T x", "T y", "x", " "), {}, "scan_expr: is empty"),
        (("T x", "T y, T z", "x", "a + b"), {}, "post_map_expr: is empty, .*2 outputs"),
        (("T x", "T y", "x", "a + b"), {"exclusive": True}, "identity: is missing"),
        (
            ("T x", "T y", "x", "a + b"),
            {"name": "1st"},
            "name: '1st' is not a valid",
        ),
    ],
)
def test_what_is_wrong_with_a_kernel_is_said_by_name(arguments, keywords, words):
    with pytest.raises(ValueError, match=words):
        usmx.ScanKernel(*arguments, **keywords)


X = usmx.ones((3, 4), "f4")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (SUMS, TypeError, "'sums' takes 1 inputs, or 2 arguments.*got 0"),
        (lambda: SUMS([1.0] * 3), TypeError, r"input 'x' \(T x\): is of type .*expected USM"),
        (lambda: SUMS(X), ValueError, "axis: is needed for an input of 2 dimensions"),
        (lambda: SUMS(X, axis=2), ValueError, "axis: 2 is out of range for 2 dimensions"),
        (lambda: SUMS(X, axis=-3), ValueError, "axis: -3 is out of range"),
        (lambda: SUMS(X, axis=(0,)), TypeError, "axis: is of type tuple"),
        (lambda: SUMS(X, axis=1.0), TypeError, "axis: is of type float"),
        (lambda: SUMS(usmx.asarray(np.float32(1))), ValueError, "no axis to scan along"),
        (lambda: SUMS(2.0), ValueError, "no axis to scan along"),
        (lambda: SUMS(X, axis=0, out=usmx.ones(4)), ValueError, r"\(4,\), expected \(3, 4\)"),
        (lambda: SUMS(X, axis=0, out=usmx.ones((3, 4), "i4")), TypeError, "float32 is not cast to"),
        (lambda: SUMS(X, axis=0, depends_on=3), TypeError, "depends_on: "),
        (
            lambda: SUMS(X, axis=0, queue=usmx.Queue(usmx.Context([usmx.Device()]))),
            ValueError,
            "input 'x' .*another context",
        ),
        (
            lambda: usmx.ScanKernel("T x", "T y", "x +", "a + b")(X, axis=0),
            usmx.BuildError,
            "expected",
        ),
    ],
)
def test_a_wrong_call_is_refused_and_leaves_nothing(call, error, words):
    with pytest.raises(error, match=words):
        call()
    np.testing.assert_array_equal(SUMS(X, axis=0).to_numpy()[-1], [3, 3, 3, 3])
