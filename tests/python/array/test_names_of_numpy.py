"""Attributes and arguments that NumPy's objects have besides its functions."""
# SPDX-License-Identifier: Apache-2.0

import ctypes

import numpy as np
import pytest

import usmx

FLAGS = [
    "C",
    "F",
    "W",
    "A",
    "B",
    "CA",
    "C_CONTIGUOUS",
    "F_CONTIGUOUS",
    "WRITEABLE",
    "ALIGNED",
    "BEHAVED",
    "CARRAY",
    "FORTRAN",
    "FNC",
    "FORC",
    "CONTIGUOUS",
]


@pytest.mark.parametrize("order", ["C", "F", "neither", "one axis"])
def test_flags_have_numpys_names(order):
    n = np.zeros((3, 4), order="F" if order == "F" else "C")
    x = usmx.zeros((3, 4), order="F" if order == "F" else "C")
    if order == "neither":
        n, x = n[:, ::2], x[:, ::2]
    if order == "one axis":
        n, x = n[0], x[0]
    # NumPy's own FARRAY is true of what is in neither order, or read-only.
    assert x.flags["FA"] is x.flags["FARRAY"] is x.flags.farray is (order == "F")
    for _ in range(2):
        assert {k: x.flags[k] for k in FLAGS} == {k: n.flags[k] for k in FLAGS}
        attributes = [k.lower() for k in FLAGS if len(k) > 2]
        for name in attributes:
            assert getattr(x.flags, name) == getattr(n.flags, name), name
        assert x.flags == x.flags
        n.flags["W"] = False
        x.flags["W"] = False
    assert not x.flags.farray
    assert x.flags != usmx.zeros(3).flags
    with pytest.raises(KeyError, match="F"):
        x.flags["F"] = True
    with pytest.raises(KeyError, match="Q"):
        x.flags["Q"]


def test_limits_of_types_have_numpys_names():
    for name in ("float16", "float32", "float64", "complex64", "complex128"):
        theirs, ours = np.finfo(name), usmx.finfo(name)
        for attribute in [n for n in dir(theirs) if not n.startswith("_")]:
            if isinstance(getattr(theirs, attribute), (int, float, np.floating)):
                assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    for name in ("int8", "uint64"):
        assert usmx.iinfo(name).kind == np.iinfo(name).kind
    small = usmx.finfo(usmx.bfloat16)
    assert (small.nmant, small.epsneg, small.smallest_subnormal) == (7, 2.0**-8, 2.0**-133)


def test_types_of_ctypes_are_types_of_elements():
    for one in (ctypes.c_bool, ctypes.c_int8, ctypes.c_uint16, ctypes.c_int, ctypes.c_size_t,
                ctypes.c_float, ctypes.c_double):  # fmt: skip
        assert usmx.zeros(2, dtype=one).dtype == np.dtype(one)
    assert usmx.asarray(ctypes.c_int(8)).item() == 8
    with pytest.raises(TypeError, match="dtype"):
        usmx.zeros(2, dtype=ctypes.c_wchar)


def test_axes_are_sequences_of_any_kind():
    n = np.arange(24).reshape(2, 3, 4)
    x = usmx.asarray(n)
    for one, other in ((range(2), [-1, -2]), (np.array([0, 1]), (1, 0)), ([0], range(2, 3))):
        np.testing.assert_array_equal(
            usmx.moveaxis(x, one, other).to_numpy(), np.moveaxis(n, one, other)
        )
    assert usmx.transpose(x[0, 0], 0).tolist() == np.transpose(n[0, 0], 0).tolist()
    assert usmx.permute_dims(x[0, 0], (-1)).shape == (4,)
    for axis in (0, -1):
        assert usmx.squeeze(usmx.asarray(5), axis).item() == np.squeeze(np.array(5), axis)
    for call in (lambda xp, a: xp.squeeze(a, 1), lambda xp, a: xp.moveaxis(a, {}, 0)):
        with pytest.raises((ValueError, TypeError)):
            call(np, np.array(5))
        with pytest.raises((ValueError, TypeError)):
            call(usmx, usmx.asarray(5))


def test_complex_numbers_are_no_infinity_with_a_sign():
    for name in ("isposinf", "isneginf"):
        with pytest.raises(TypeError, match="no sign"):
            getattr(usmx, name)(usmx.asarray([1j]))


def test_pseudo_inverses_take_one_bound():
    with pytest.raises(ValueError, match="both"):
        usmx.linalg.pinv(usmx.eye(2), 0.1, rtol=0.1)


def test_numpys_r_of_device_memory_leads_to_ours() -> None:
    x = usmx.ones(3, usm_type="device")
    for call in (lambda: np.r_[x, 0], lambda: np.c_[x, x]):
        with pytest.raises(TypeError, match=r"usmx\.r_ and usmx\.c_ join where arrays are"):
            call()
    assert usmx.r_[x, 0].tolist() == [1, 1, 1, 0]
    assert usmx.c_[x, x].shape == (3, 2)
