"""Reductions from expressions agree with NumPy's, for every type, layout and choice of axes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math

import dpctl
import dpctl.memory
import numpy as np
import pytest
from depths import of_depth
from gate import Gate
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import usmx

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]

TOTAL = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
WIDE_TOTAL = usmx.ReductionKernel("T x", "int64 y", "x", "a + b", "y = a", 0, "wide_total")
PRODUCT = usmx.ReductionKernel("T x", "T y", "x", "a * b", "y = a", "1", "product")
LARGEST = usmx.ReductionKernel(
    "T x", "T y", "x", "maximum(a, b)", "y = a", name="largest", reduce_type="T"
)
DOT = usmx.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")

# Two structures of a preamble: a number and where it stands.
PLACE = """
struct place { T value; int64_t at; };
inline place larger(place a, place b) {
  return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b;
}
"""
ARGMAX = usmx.ReductionKernel(
    "T x",
    "int64 y",
    "place{x, i}",
    "larger(a, b)",
    "y = a.at",
    name="argmax",
    reduce_type="place",
    preamble=PLACE,
)
# With constructors, as CuPy's documentation writes such structures.
ARGMIN = usmx.ReductionKernel(
    "T x",
    "int64 y",
    "lowest(x, i)",
    "lower(a, b)",
    "y = a.at",
    "lowest()",
    name="argmin",
    reduce_type="lowest",
    preamble="""
struct lowest {
  double value;
  int64_t at;
  lowest() : value(__builtin_inf()), at(-1) {}
  lowest(double v, int64_t i) : value(v), at(i) {}
};
inline lowest lower(const lowest& a, const lowest& b) {
  return a.value < b.value || (a.value == b.value && a.at < b.at && a.at >= 0) ? a : b;
}
""",
)


@pytest.mark.parametrize("shape", [(7,), (300, 5), (3, 70_000), (2000, 40)])
def test_structures_may_have_constructors(shape):
    x = np.random.default_rng(4).integers(0, 1000, shape).astype("f8")
    for axis in (None, 0, -1):
        found = ARGMIN(usmx.asarray(x), axis=axis)
        np.testing.assert_array_equal(found.to_numpy(), x.argmin(axis=axis))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_exact_and_wrap_around(dtype):
    info = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max, (5, 1000), dtype, endpoint=True)
    u = usmx.asarray(x)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(TOTAL(u, axis=axis).to_numpy(), x.sum(axis=axis, dtype=dtype))
        np.testing.assert_array_equal(
            PRODUCT(u, axis=axis).to_numpy(), x.prod(axis=axis, dtype=dtype)
        )
        np.testing.assert_array_equal(LARGEST(u, axis=axis).to_numpy(), x.max(axis=axis))


@settings(max_examples=of_depth(quick=10, full=60), deadline=None)
@given(data=st.data())
def test_whatever_numpy_can_slice_is_reduced_as_by_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=5, min_side=1, max_side=40))
    while math.prod(shape) > 200_000:
        shape = shape[:-1]
    x = np.arange(math.prod(shape), dtype="i8").reshape(shape)
    index = data.draw(hnp.basic_indices(shape, allow_ellipsis=False, allow_newaxis=False))
    u = usmx.asarray(x)[index]
    x = np.asarray(x[index])
    order = data.draw(st.permutations(range(x.ndim)))
    u, x = usmx.asarray(u).transpose(order) if x.ndim else u, x.transpose(order)
    axis = data.draw(
        st.none() | st.lists(st.sampled_from(range(x.ndim)), unique=True).map(tuple)
        if x.ndim
        else st.none()
    )
    np.testing.assert_array_equal(TOTAL(u, axis=axis).to_numpy(), x.sum(axis=axis))


# Around an item's share, a group's, a part's, and where parts are reduced in parts again.
@pytest.mark.parametrize(
    "size",
    [
        *(1, 2, 15, 16, 17, 127, 128, 129, 255, 256, 257),
        *(4095, 4096, 4097, 65535, 65536, 65537, 16 * 65536 + 1, 4096 * 4096 + 1),
    ],
)
def test_lengths_around_every_border(size):
    x = np.random.default_rng(size).integers(0, 255, size, "u1")
    u = usmx.asarray(x)
    assert int(WIDE_TOTAL(u).to_numpy()) == int(x.sum())
    assert int(WIDE_TOTAL(u[::-1]).to_numpy()) == int(x.sum())
    assert int(LARGEST(u).to_numpy()) == x.max()
    assert int(ARGMAX(u).to_numpy()) == x.argmax()
    if size < 1_000_000:
        column = u.reshape(size, 1)
        np.testing.assert_array_equal(WIDE_TOTAL(column, axis=0).to_numpy(), [x.sum()])
        np.testing.assert_array_equal(WIDE_TOTAL(column, axis=1).to_numpy(), x)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((3000, 300), 0),  # parts of columns
        ((3000, 300), 1),
        ((300_000, 3), 0),  # columns too few to share out
        ((300_000, 3), 1),
        ((3, 300_000), 0),
        ((3, 300_000), 1),
        ((20, 3000, 70), 1),  # in the middle
        ((20, 3000, 3), 1),
        ((50, 60, 70), (0, 2)),
        ((300, 9000), 1),  # many results, each in parts
        ((300, 40_000), 1),
        ((600_000, 40), 0),  # parts of parts
    ],
)
def test_long_thin_wide_and_middle(shape, axis):
    x = np.random.default_rng(2).integers(-100, 100, shape, "i2")
    u = usmx.asarray(x)
    np.testing.assert_array_equal(WIDE_TOTAL(u, axis=axis).to_numpy(), x.sum(axis=axis, dtype="i8"))
    np.testing.assert_array_equal(LARGEST(u, axis=axis).to_numpy(), x.max(axis=axis))


def test_sums_are_as_accurate_as_sums_of_chunks():
    # Each number goes through at most 32 additions of an item in a part of 4096, 7 of blocks and
    # 15 of items, then as many again over 245 parts: fewer than 64 roundings, however many numbers.
    roundings, unit = 64, np.finfo("f4").eps / 2
    x = np.random.default_rng(3).lognormal(sigma=3, size=1_000_000).astype("f4")
    exact = math.fsum(x.tolist())
    error = abs(float(TOTAL(usmx.asarray(x)).to_numpy()) - exact)
    assert error <= roundings * unit * exact
    # One addition after the other is off by far more than that, so the bound says something.
    one_by_one = float(np.add.accumulate(x, dtype="f4")[-1])
    assert abs(one_by_one - exact) > roundings * unit * exact


def test_results_are_the_same_from_run_to_run():
    x = usmx.asarray(np.random.default_rng(4).standard_normal((1000, 777)).astype("f4"))
    for axis in (None, 0, 1):
        first = TOTAL(x, axis=axis).to_numpy().tobytes()
        assert all(TOTAL(x, axis=axis).to_numpy().tobytes() == first for _ in range(5))


def test_inputs_broadcast_and_may_be_numbers():
    x = np.arange(12.0).reshape(3, 4)
    y = np.arange(4.0)
    u, v = usmx.asarray(x), usmx.asarray(y)
    np.testing.assert_array_equal(DOT(u, v, axis=1).to_numpy(), x @ y)
    np.testing.assert_array_equal(DOT(u, v, axis=0).to_numpy(), (x * y).sum(axis=0))
    np.testing.assert_array_equal(DOT(u[:, :1], v).to_numpy(), (x[:, :1] * y).sum())
    assert float(DOT(u, 2).to_numpy()) == 2 * x.sum()
    assert float(DOT(3, 2).to_numpy()) == 6
    assert DOT(usmx.ones(3, "f4"), 2.0).dtype == np.float32
    assert DOT(usmx.ones(3, "f4"), np.float64(2)).dtype == np.float64
    assert DOT(usmx.ones(3, "f4"), usmx.ones(3, "i4")).dtype == np.float64


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_a_structure_is_reduced_with_the_number_of_the_element(dtype):
    x = np.random.default_rng(5).integers(0, 50, (9, 300, 31)).astype(dtype)
    u = usmx.asarray(x)
    for a, b in ((u, x), (u[:, ::-1], x[:, ::-1]), (u.T, x.T), (u[::2, :, ::5], x[::2, :, ::5])):
        assert int(ARGMAX(a).to_numpy()) == b.argmax()
        for axis in range(3):
            np.testing.assert_array_equal(ARGMAX(a, axis=axis).to_numpy(), b.argmax(axis=axis))


def test_numbers_of_elements_and_results_as_here_and_as_in_cupy():
    x = np.arange(24.0).reshape(4, 6)
    u = usmx.asarray(x)
    for count in ("n", "_in_ind.size() / _out_ind.size()"):
        mean = usmx.ReductionKernel("T x", "T y", "x", "a + b", f"y = a / ({count})", "0", "mean")
        np.testing.assert_array_equal(mean(u, axis=0).to_numpy(), x.mean(axis=0))
        np.testing.assert_array_equal(mean(u, axis=1).to_numpy(), x.mean(axis=1))
    for index in ("i", "_J"):
        weighted = usmx.ReductionKernel("T x", "T y", f"x * {index}", "a + b", "y = a", "0", "w")
        np.testing.assert_array_equal(
            weighted(u.T, axis=0).to_numpy(), (x * np.arange(6)).sum(axis=1)
        )
    ranked = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a + 100 * i", "0", "ranked")
    for axis, keepdims in itertools.product((0, 1, None), (False, True)):
        whole = np.asarray(x.sum(axis=axis, keepdims=keepdims))
        whole += 100 * np.arange(whole.size).reshape(whole.shape)
        np.testing.assert_array_equal(ranked(u, axis=axis, keepdims=keepdims).to_numpy(), whole)
        backwards = usmx.empty(whole.shape, "f8")
        backwards = backwards[(slice(None, None, -1),) * whole.ndim]
        ranked(u, axis=axis, keepdims=keepdims, out=backwards)
        np.testing.assert_array_equal(backwards.to_numpy(), whole)


def test_raw_inputs_are_indexed_by_the_expression():
    table = np.array([5.0, 7.0, 11.0, 13.0])
    gather = usmx.ReductionKernel(
        "int32 k, raw T table", "T y", "table[k] + table.size()", "a + b", "y = a", "0", "gather"
    )
    k = np.random.default_rng(6).integers(0, 4, (3, 50), "i4")
    np.testing.assert_array_equal(
        gather(usmx.asarray(k), usmx.asarray(table), axis=1).to_numpy(),
        (table[k] + 4).sum(axis=1),
    )
    with pytest.raises(ValueError, match=r"input 'table' \(raw T table\): is strided"):
        gather(usmx.asarray(k), usmx.asarray(table)[::2])
    with pytest.raises(usmx.BuildError, match="map_expr:1:6: error: subscripted value is not"):
        gather(usmx.asarray(k), 2.0)


def test_several_outputs():
    two = usmx.ReductionKernel(
        "T x",
        "T mean, int64 count",
        "x",
        "a + b",
        "mean = a / n; count = n",
        "0",
        "two",
        reduce_type="float64",
    )
    x = np.arange(12, dtype="f4").reshape(3, 4)
    mean, count = two(usmx.asarray(x), axis=1)
    np.testing.assert_array_equal(mean.to_numpy(), x.mean(axis=1))
    np.testing.assert_array_equal(count.to_numpy(), [4, 4, 4])
    given = usmx.empty(3, "f8"), None
    mean, count = two(usmx.asarray(x), axis=1, out=given)
    assert mean is given[0]
    np.testing.assert_array_equal(mean.to_numpy(), x.mean(axis=1))
    np.testing.assert_array_equal(count.to_numpy(), [4, 4, 4])
    both = usmx.empty(4, "f4")
    pair = usmx.ReductionKernel("T x", "T y, T z", "x", "a + b", "y = a; z = a", "0", "pair")
    with pytest.raises(ValueError, match=r"output 'z' .*shares memory with output 'y'"):
        pair(usmx.asarray(x), axis=1, out=(both[:3], both[1:]))


@pytest.mark.parametrize(
    ("identity", "expected"),
    [(0, 0), ("1 + 1", 2), (-7, -7), (2.5, 2.5), (True, 1), (math.inf, math.inf), (-1e300, -1e300)],
)
def test_nothing_gives_the_identity(identity, expected):
    k = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", identity, "empty")
    assert float(k(usmx.empty((0,), "f8")).to_numpy()) == expected
    np.testing.assert_array_equal(
        k(usmx.empty((3, 0, 2), "f8"), axis=1).to_numpy(), np.full((3, 2), expected)
    )
    assert k(usmx.empty((3, 0, 2), "f8"), axis=0).shape == (0, 2)
    assert k(usmx.empty((3, 0, 2), "f8"), axis=0, keepdims=True).shape == (1, 0, 2)
    # Where there is something, the identity does not count.
    assert float(k(usmx.ones(5, "f8")).to_numpy()) == 5


def test_identities_of_64_bits():
    for identity in (2**63 - 1, -(2**63)):
        k = usmx.ReductionKernel("int64 x", "int64 y", "x", "a + b", "y = a", identity)
        assert int(k(usmx.empty((0,), "i8")).to_numpy()) == identity
    k = usmx.ReductionKernel("uint64 x", "uint64 y", "x", "a + b", "y = a", 2**64 - 1)
    assert int(k(usmx.empty((0,), "u8")).to_numpy()) == 2**64 - 1
    nan = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", math.nan)
    assert math.isnan(float(nan(usmx.empty((0,), "f4")).to_numpy()))


def test_nothing_without_an_identity_is_an_error():
    empty = usmx.empty((3, 0), "f4")
    for axis in (None, 1, (0, 1)):
        with pytest.raises(
            ValueError, match=r"\(3, 0\) has no elements.* 'largest' has no identity"
        ):
            LARGEST(empty, axis=axis)
    assert LARGEST(empty, axis=0).shape == (0,)


def test_a_scalar_is_reduced_to_itself():
    x = usmx.asarray(np.float32(4))
    assert x.shape == ()
    for axis in (None, ()):
        assert float(TOTAL(x, axis=axis).to_numpy()) == 4


def test_into_a_given_output():
    x = np.arange(60, dtype="f4").reshape(3, 4, 5)
    u = usmx.asarray(x)
    out = usmx.zeros((5, 3), "f8")
    assert TOTAL(u, axis=1, out=out.T) is not None
    np.testing.assert_array_equal(out.T.to_numpy(), x.sum(axis=1))
    into = usmx.zeros((3, 1, 5), "f4")
    assert TOTAL(u, into, axis=1, keepdims=True) is into
    np.testing.assert_array_equal(into.to_numpy(), x.sum(axis=1, keepdims=True))
    assert TOTAL(u, axis=1, keepdims=True, out=(into,)) is into


def test_outputs_live_where_the_inputs_do():
    kinds = {k: usmx.ones(4, "f4", usm_type=k) for k in ("device", "shared", "host")}
    assert [TOTAL(a).usm_type for a in kinds.values()] == ["device", "shared", "host"]
    assert DOT(kinds["host"], kinds["shared"]).usm_type == "shared"
    assert DOT(kinds["host"], kinds["device"]).usm_type == "device"


def test_memory_of_other_libraries():
    memory = dpctl.memory.MemoryUSMShared(40)
    memory.copy_from_host(np.arange(40, dtype="u1"))
    assert int(WIDE_TOTAL(memory).to_numpy()) == sum(range(40))


def test_depends_on_orders_by_hand():
    busy = usmx.Queue(usmx.Device(), in_order=True)
    queue = usmx.Queue(usmx.Device(), in_order=True)
    x = usmx.ones(100, "i4", queue=queue)
    y = usmx.ones(100, "i4", queue=busy)
    TOTAL(x)
    seen = np.zeros((), "i4")
    with Gate(busy):
        pending = usmx.fill_async(y, 3)
        total = TOTAL(x, depends_on=pending)
        assert not usmx.copy_async(seen, total).is_done
    assert int(total.to_numpy()) == 100


def test_a_second_call_compiles_nothing():
    compiled = lambda: sum(usmx._usmx._ProgramStore.counts()[::2])  # noqa: E731  (or read)
    k = usmx.ReductionKernel("T x", "T y", "x + 3", "a + b", "y = a", "0", "once")
    x = usmx.ones((500, 700), "f4")
    before = compiled()
    for axis in (0, 1, None):
        k(x, axis=axis)
    first = compiled()
    assert first > before
    texts = len(k.sources)
    for _ in range(2):
        for axis in (0, 1, None):
            k(usmx.ones((501, 701), "f4"), axis=axis)
    assert compiled() == first
    assert len(k.sources) == texts
    k(usmx.ones((500, 700), "i4"), axis=0)
    assert compiled() > first
