"""bfloat16: its data, its exchange with NumPy by ml_dtypes, and what it computes.

The references are computed in float32, which has all digits of two operands, and rounded once.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from depths import some
from together import compute_together

import usmx

BF16 = np.dtype(ml_dtypes.bfloat16)
EVERY = np.arange(1 << 16, dtype=np.uint16).view(BF16)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
OTHERS = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]


def same(made, expected):
    """Whether all elements are equal, NaN to NaN, with their signs of zero."""
    made = made.to_numpy() if isinstance(made, usmx.ndarray) else made
    assert made.dtype == expected.dtype
    if made.dtype == BF16:
        made, expected = made.astype("f4"), expected.astype("f4")
    np.testing.assert_array_equal(made, expected)
    if made.dtype.kind == "f":
        numbers = ~np.isnan(made)
        np.testing.assert_array_equal(np.signbit(made)[numbers], np.signbit(expected)[numbers])


def rounded(x):
    return np.asarray(x, "f4").astype(BF16)


# --- data ---------------------------------------------------------------------------------------


def test_is_a_type_by_each_of_its_names():
    assert usmx.dtype("bfloat16") == usmx.bfloat16 == ml_dtypes.bfloat16 == BF16
    assert usmx.dtype(BF16) is not None
    assert usmx.dtype(ml_dtypes.bfloat16) == "bfloat16"
    assert usmx.bfloat16 != usmx.float16
    assert usmx.bfloat16 != usmx.dtype("|V2")
    assert (usmx.bfloat16.itemsize, usmx.bfloat16.alignment, usmx.bfloat16.kind) == (2, 2, "f")
    assert str(usmx.bfloat16) == "bfloat16"
    assert repr(usmx.bfloat16) == "usmx.dtype('bfloat16')"
    assert np.dtype(usmx.bfloat16) == BF16
    assert hash(usmx.dtype("bfloat16")) == hash(usmx.bfloat16)
    assert pickle.loads(pickle.dumps(usmx.bfloat16)) == usmx.bfloat16


def test_two_bytes_without_a_name_stay_a_record():
    assert usmx.dtype("<V2") == usmx.dtype("|V2") != usmx.bfloat16


def test_functions_that_make_arrays_take_it():
    assert usmx.zeros(2, dtype="bfloat16").tolist() == [0.0, 0.0]
    assert usmx.ones((1, 2), dtype=usmx.bfloat16).tolist() == [[1.0, 1.0]]
    assert usmx.full(2, 2.5, dtype=ml_dtypes.bfloat16).tolist() == [2.5, 2.5]
    assert usmx.arange(4, dtype="bfloat16").tolist() == [0.0, 1.0, 2.0, 3.0]
    x = usmx.asarray([[1, 2.5], [3.14159, float("inf")]], dtype="bfloat16")
    assert x.dtype == usmx.bfloat16
    assert x.itemsize == 2
    assert x.nbytes == 8
    assert x.tolist() == [[1.0, 2.5], [3.140625, float("inf")]]
    assert x[1, 0].item() == 3.140625
    assert float(x[0, 1]) == 2.5
    assert "dtype=bfloat16" in repr(x)
    assert "3.140625" in repr(x)
    assert usmx.empty_like(x).dtype == "bfloat16"
    usmx.fill(x[:, ::-1][0], 9)
    x[1] = 4
    assert x.T.copy().tolist() == [[9.0, 4.0], [9.0, 4.0]]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("usm_type", ["device", "shared"])
def test_pickles(protocol, usm_type):
    x = usmx.asarray(EVERY[:300].reshape(15, 20), usm_type=usm_type)[:, ::2]
    again = pickle.loads(pickle.dumps(x, protocol))
    assert again.dtype == "bfloat16"
    same(again, EVERY[:300].reshape(15, 20)[:, ::2])


def test_views_share_the_bits():
    x = usmx.from_numpy(EVERY)
    assert np.array_equal(x.view("uint16").to_numpy(), EVERY.view("u2"))
    assert x.view("uint16").view("bfloat16").dtype == "bfloat16"


# --- exchange -----------------------------------------------------------------------------------


@pytest.mark.parametrize("usm_type", ["device", "shared", "host"])
def test_arrays_of_ml_dtypes_come_and_go(usm_type):
    there = EVERY.reshape(256, 256)[::2, ::-1]
    x = usmx.asarray(there, usm_type=usm_type)
    assert x.dtype == "bfloat16"
    back = x.to_numpy()
    assert back.dtype == BF16
    assert np.array_equal(back.view("u2"), there.view("u2"))
    usmx.copy(x, rounded(np.ones(there.shape)))
    assert x[3, 4].item() == 1.0


def test_numpy_sees_host_accessible_memory_in_place():
    x = usmx.ones(3, dtype="bfloat16", usm_type="shared")
    view = np.asarray(x)
    assert view.dtype == BF16
    view[1] = 7
    assert x.tolist() == [1.0, 7.0, 1.0]
    assert np.asarray(x, dtype="f8").tolist() == [1.0, 7.0, 1.0]


@pytest.mark.parametrize("name", ["__sycl_usm_array_interface__", "dlpack", "pickle of numpy"])
def test_goes_through_protocols_without_a_copy(name):
    x = usmx.asarray(rounded([1, 2.5, -3]), usm_type="shared")
    if name == "dlpack":
        other = usmx.from_dlpack(x)
    elif name == "pickle of numpy":
        other = usmx.asarray(pickle.loads(pickle.dumps(x.to_numpy())), usm_type="shared")
    else:
        described = x.__sycl_usm_array_interface__
        assert described["typestr"] == "<V2"
        assert described["typedescr"] == [("bfloat16", "|V2")]
        other = usmx.asarray(type("Other", (), {name: described})())
    assert other.dtype == usmx.bfloat16
    assert other.tolist() == [1.0, 2.5, -3.0]
    if not name.startswith("pickle"):
        usmx.fill(other, 5)
        assert x.tolist() == [5.0, 5.0, 5.0]


def test_a_record_of_another_field_of_two_bytes_stays_one():
    x = usmx.zeros(2, dtype=[("half", "|V2")])
    assert x.dtype != usmx.bfloat16
    described = x.__sycl_usm_array_interface__
    other = usmx.asarray(type("Other", (), {"__sycl_usm_array_interface__": described})())
    assert other.dtype == x.dtype


def test_protocols_without_the_type_say_what_helps():
    x = usmx.ones(3, dtype="bfloat16", usm_type="shared")
    with pytest.raises(BufferError, match=r"to_numpy\(\).*ml_dtypes.*view\('uint16'\)"):
        memoryview(x)
    with pytest.raises(AttributeError, match=r"astype\('float32'\)"):
        _ = x.__array_interface__
    with pytest.raises(BufferError, match="bfloat16 has no type in Arrow"):
        x.__arrow_c_array__()


def test_without_ml_dtypes_only_numpys_type_is_missing():
    code = """
import sys
sys.modules["ml_dtypes"] = None
import usmx
x = usmx.asarray([1.5, 2.5], dtype="bfloat16") + 1
assert x.tolist() == [2.5, 3.5] and x.dtype.name == "bfloat16", x
assert usmx.from_dlpack(x).tolist() == [2.5, 3.5]
print(x.astype("float32").to_numpy())
try:
    x.to_numpy()
except TypeError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "pip install ml_dtypes" in run.stdout
    assert "astype('float32')" in run.stdout


# --- casts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("usm_type", ["device", "shared"])
@pytest.mark.parametrize("name", OTHERS)
def test_casts_of_all_numbers(name, usm_type):
    x = usmx.asarray(EVERY, usm_type=usm_type)
    # Those that fit: what becomes of others is that of float32.
    made = x.astype(name)
    same(made, usmx.asarray(EVERY.astype("f4"), usm_type=usm_type).astype(name).to_numpy())
    same(made.astype("bfloat16"), made.to_numpy().astype(BF16))


@pytest.mark.parametrize("other", ["int64", "float32", "float64", "complex64"])
def test_strided_copies_cast(other):
    wide = usmx.asarray(np.arange(24).reshape(4, 6)).astype(other)
    x = usmx.zeros((6, 4), dtype="bfloat16")
    x[::2, ::-1] = wide[:, ::2].T
    same(x[::2, ::-1], wide[:, ::2].T.to_numpy().astype(BF16))
    wide[:, ::2] = x[1::2].T
    same(wide[:, ::2], np.zeros((4, 3), other))
    same(wide[:, 1::2], np.arange(24).reshape(4, 6)[:, 1::2].astype(other))


def _ties(bits):
    """Numbers on, below and above the middle of two neighbours: two steps would round twice."""
    rng = np.random.default_rng(3)
    high = rng.integers(1 << 7, 1 << 8, 500) * 2 + 1  # 9 bits: a middle
    shift = rng.integers(0, bits - 10, 500)
    middle = [int(h) << int(s) for h, s in zip(high, shift, strict=True)]
    return [m + d for m in middle for d in (-1, 0, 1)]


def _nearest(numbers):
    """By exact arithmetic."""
    out = []
    for n in numbers:
        size = max(abs(n).bit_length() - 8, 0)
        low, rest = abs(n) >> size << size, abs(n) & ((1 << size) - 1)
        middle = 1 << size >> 1
        up = size > 0 and (rest > middle or (rest == middle and (abs(n) >> size) & 1))
        out.append(float(low + ((1 << size) if up else 0)) * (1 if n >= 0 else -1))
    return rounded(out)


@pytest.mark.parametrize("usm_type", ["device", "shared"])
@pytest.mark.parametrize("count", [3, None])
def test_integers_and_doubles_are_rounded_once(usm_type, count):
    numbers = _ties(63)[:count]
    for name in ("int64", "uint64", "float64"):
        kept = [n for n in numbers if float(n) == n] if name == "float64" else numbers
        for sign in (1, -1) if name != "uint64" else (1,):
            given = [sign * n for n in kept]
            x = usmx.asarray(np.array(given, name), usm_type=usm_type)
            same(x.astype("bfloat16"), _nearest(given))
    x = np.array([1 + 2**-8 + 2**-40, 1 + 2**-8 - 2**-40, -(1 + 2**-8 + 2**-50), 1e300, 1e-320])
    made = usmx.asarray(x, usm_type=usm_type).astype("bfloat16")
    assert made.tolist() == [1 + 2**-7, 1.0, -(1 + 2**-7), float("inf"), 0.0]
    assert usmx.asarray(x.tolist(), dtype="bfloat16").tolist() == made.tolist()
    assert usmx.full(1, 2**62 + 2**54 + 1, dtype="bfloat16").tolist() == [float(2**62 + 2**55)]


# --- computing ----------------------------------------------------------------------------------


def test_meets_other_types_as_in_pytorch():
    x = usmx.ones(3, dtype="bfloat16")
    assert (x + 1).dtype == (1.5 * x).dtype == (x + True).dtype == usmx.bfloat16
    assert (x + 1j).dtype == np.complex64
    for name in ["bool", *INTEGERS]:
        other = usmx.ones(3, dtype=name)
        assert (x + other).dtype == (other * x).dtype == (other / x).dtype == usmx.bfloat16
    for name in ("float16", "float32"):
        assert (x + usmx.ones(3, dtype=name)).dtype == np.float32
    for name in ("float64", "complex64", "complex128"):
        assert (x + usmx.ones(3, dtype=name)).dtype == np.dtype(name)
    with pytest.raises(TypeError):
        x & x


def test_operators_round_once():
    left, right = EVERY, np.random.default_rng(1).permutation(EVERY)
    a, b = usmx.asarray(left), usmx.asarray(right)
    x, y = left.astype("f4"), right.astype("f4")
    with np.errstate(all="ignore"):
        same(a + b, rounded(x + y))
        same(a - b, rounded(x - y))
        same(a * b, rounded(x * y))
        same(a / b, rounded(x / y))
        same(-a, rounded(-x))
        same(abs(a), rounded(abs(x)))
        same(a[:5] + 1, rounded(x[:5] + 1))
        same(a * b + a, rounded(rounded(x * y).astype("f4") + x))
    for made, expected in [
        (a < b, x < y), (a <= b, x <= y), (a == b, x == y), (a != b, x != y), (a > b, x > y),
        (a >= b, x >= y),
    ]:  # fmt: skip
        same(made, expected)


UNARY = [
    "sqrt", "exp", "log", "sin", "tanh", "floor", "ceil", "trunc", "rint", "sign", "square", "cbrt",
    "reciprocal", "expm1", "log1p", "radians", "degrees", "fabs", "atan", "isnan", "isinf",
    "isfinite", "signbit", "logical_not",
]  # fmt: skip


def test_functions_are_those_of_float32_rounded_once():
    x, wide = usmx.asarray(EVERY), usmx.asarray(EVERY.astype("f4"))
    made, expected = ([getattr(usmx, name)(a) for name in UNARY] for a in (x, wide))
    compute_together([*made, *expected])
    for one, other in zip(made, [e.to_numpy() for e in expected], strict=True):
        same(one, other if other.dtype == bool else rounded(other))


def test_functions_of_two_operands_are_those_of_float32_rounded_once():
    rng = np.random.default_rng(2)
    left, right = rounded(rng.normal(0, 9, 4096)), rounded(rng.normal(0, 3, 4096))
    a, b = usmx.asarray(left), usmx.asarray(right)
    x, y = usmx.asarray(left.astype("f4")), usmx.asarray(right.astype("f4"))
    for name in (
        "power", "hypot", "arctan2", "minimum", "maximum", "fmin", "fmax", "copysign", "fmod",
        "floor_divide", "logaddexp", "heaviside",
    ):  # fmt: skip
        same(getattr(usmx, name)(a, b), rounded(getattr(usmx, name)(x, y).to_numpy()))
    same(usmx.where(a < b, a, 0.5), rounded(np.where(left < right, left, 0.5)))
    same(usmx.clip(a, -1, 1), rounded(np.clip(left.astype("f4"), -1, 1)))


def test_nextafter_goes_to_the_next_bits():
    one = usmx.asarray([1.0, -1.0, 0.0], dtype="bfloat16")
    made = usmx.nextafter(one, usmx.full(3, 2, dtype="bfloat16"))
    assert made.tolist() == [1 + 2**-7, -1 + 2**-8, 2.0**-133]


@pytest.mark.parametrize("count", [100, 5000])
@pytest.mark.parametrize("usm_type", ["device", "shared"])
def test_sums_are_taken_in_float32(count, usm_type):
    values = rounded(np.random.default_rng(4).uniform(0, 2, (count, 3)))
    x = usmx.asarray(values, usm_type=usm_type)
    wide = usmx.asarray(values.astype("f4"), usm_type=usm_type)
    for axis in some((None, 0, 1), 1):
        names = ("sum", "mean", "var", "prod", "max", "min")
        made = [getattr(usmx, name)(x, axis=axis) for name in names]
        as_wide = [getattr(usmx, name)(wide, axis=axis) for name in names]
        compute_together(made)
        compute_together(as_wide)
        for ours, wanted in zip(made, as_wide, strict=True):
            same(ours, rounded(wanted.to_numpy()))
        same(usmx.std(x, axis=axis), usmx.sqrt(usmx.var(x, axis=axis)).to_numpy())
    same(usmx.cumulative_sum(x, axis=0), rounded(usmx.cumulative_sum(wide, axis=0).to_numpy()))
    same(x.sum(dtype="float32"), wide.sum().to_numpy())
    assert usmx.argmax(x).item() == usmx.argmax(wide).item()
    assert usmx.argmin(x, axis=0).tolist() == usmx.argmin(wide, axis=0).tolist()
    assert usmx.any(x).item()
    assert usmx.count_nonzero(x).item() == np.count_nonzero(values)
    same(usmx.nanmean(x), rounded(usmx.nanmean(wide).to_numpy()))
    same(usmx.sum(x, initial=3, where=x > 1), (usmx.sum(x[x > 1]) + 3).to_numpy())
    same(usmx.quantile(x, 0.5), rounded(usmx.quantile(wide, 0.5).to_numpy()))


def test_sorts_with_nan_at_the_end():
    values = np.random.default_rng(5).permutation(EVERY)
    x = usmx.asarray(values)
    made = usmx.sort(x).to_numpy().astype("f4")
    np.testing.assert_array_equal(made, np.sort(values.astype("f4")))
    order = usmx.argsort(x).to_numpy()
    np.testing.assert_array_equal(order, np.argsort(values.astype("f4"), kind="stable"))
    some = values[~np.isnan(values.astype("f4"))][:500]
    same(usmx.sort(usmx.asarray(some), descending=True), -np.sort(-some.astype("f4")).astype(BF16))
    assert usmx.unique_values(usmx.asarray(rounded([2, 1, 2]))).tolist() == [1.0, 2.0]
    same(usmx.median(usmx.asarray(some[:101])), rounded(np.median(some[:101].astype("f4"))))


@pytest.mark.parametrize("n", [5, 70])
def test_products_of_matrices_are_added_in_float32(n):
    rng = np.random.default_rng(6)
    a, b = rounded(rng.normal(size=(n, n + 1))), rounded(rng.normal(size=(n + 1, n)))
    made = usmx.asarray(a) @ usmx.asarray(b)
    assert made.dtype == "bfloat16"
    exact = a.astype("f8") @ b.astype("f8")
    wide = np.abs(a.astype("f8")) @ np.abs(b.astype("f8"))
    error = np.abs(made.to_numpy().astype("f8") - exact)
    assert np.all(error <= 2**-8 * np.abs(exact) + 2**-20 * wide)


def test_indices_joins_and_sets():
    x = usmx.asarray(EVERY[:1000])
    same(x[usmx.asarray([5, 3])], EVERY[[5, 3]])
    same(x[x > 0], EVERY[:1000][EVERY[:1000].astype("f4") > 0])
    same(usmx.concat([x[:2], x[5:7]]), EVERY[[0, 1, 5, 6]])
    same(usmx.take(x, usmx.asarray([1, 2])), EVERY[[1, 2]])
    same(usmx.flip(x), EVERY[:1000][::-1])


def test_types_answer_as_those_of_the_standard():
    bf16 = usmx.bfloat16
    assert usmx.isdtype(bf16, "real floating")
    assert usmx.isdtype(bf16, ("bool", "numeric"))
    assert not usmx.isdtype(bf16, "integral")
    assert usmx.isdtype(BF16, bf16)
    assert not usmx.isdtype(np.float16, bf16)
    assert not usmx.isdtype(bf16, np.float32)
    about, theirs = usmx.finfo(bf16), ml_dtypes.finfo(BF16)
    assert (about.bits, about.eps, about.max, about.min, about.smallest_normal) == tuple(
        float(n) for n in (16, theirs.eps, theirs.max, theirs.min, theirs.smallest_normal)
    )
    assert about.dtype == bf16 == usmx.finfo(usmx.ones(1, dtype=bf16)).dtype
    with pytest.raises(TypeError, match="bfloat16; expected integers"):
        usmx.iinfo(bf16)
    assert usmx.result_type(bf16, "int64", 1.5) == usmx.result_type(bf16, True) == bf16
    assert usmx.result_type(bf16, 1j) == np.complex64
    for name in OTHERS:
        met = usmx.promote_types(bf16, name)
        assert met == (usmx.ones(1, dtype=bf16) + usmx.ones(1, dtype=name)).dtype
        assert usmx.promote_types(name, BF16) == met
    assert usmx.can_cast(bf16, "float32")
    assert usmx.can_cast("int8", bf16)
    assert not usmx.can_cast("float16", bf16)
    assert not usmx.can_cast(bf16, "float16")
    assert not usmx.can_cast("int16", bf16)
    assert not usmx.can_cast(bf16, "int64", "same_kind")
    assert usmx.can_cast("float64", bf16, "same_kind")
    assert usmx.can_cast(bf16, bf16, "no")
    assert "bfloat16" not in usmx.__array_namespace_info__().dtypes()


def test_ufuncs_of_numpy_compute_where_the_array_is():
    x = usmx.asarray([1.0, 4.0], dtype="bfloat16")
    made = np.sqrt(x)
    assert isinstance(made, usmx.ndarray)
    assert made.dtype == "bfloat16"
    assert np.add(x, 1).dtype == np.sum(x).dtype == "bfloat16"


def test_files_hold_the_bytes_that_numpy_writes(tmp_path):
    ours, theirs = tmp_path / "a.npy", tmp_path / "b.npy"
    values = EVERY[:600].reshape(20, 30)
    usmx.save(ours, usmx.asarray(values))
    np.save(theirs, values)
    assert ours.read_bytes() == theirs.read_bytes()
    same(usmx.load(ours).view("bfloat16"), values)


def test_transforms_are_of_complex64():
    x = usmx.asarray([1, 2, 3, 4], dtype="bfloat16")
    np.testing.assert_allclose(usmx.fft.fft(x).to_numpy(), np.fft.fft([1, 2, 3, 4]), atol=1e-5)
    assert usmx.fft.fft(x).dtype == np.complex64


def test_what_does_not_take_it_says_what_helps():
    x = usmx.ones((2, 2), dtype="bfloat16")
    with pytest.raises(TypeError, match=r"bfloat16.*astype\('float32'\)"):
        usmx.linalg.inv(x)
