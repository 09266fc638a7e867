"""What programs set with np.set_printoptions holds for arrays of usmx, and types make numbers."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx

X = [[1 / 3, 1e-9], [1000.5, 2]]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "[[0.33333333,      1e-09],\n [    1000.5,         2.]]"),
        ({"precision": 2, "suppress": True}, "[[  0.33,     0.],\n [1000.5,     2.]]"),
        ({"precision": 3}, "[[ 0.333,  1e-09],\n [1000.5,     2.]]"),
        ({"precision": 0}, "[[   0.,  1e-09],\n [ 1000.,     2.]]"),
        ({"suppress": True}, "[[0.33333333,         0.],\n [    1000.5,         2.]]"),
        ({"linewidth": 20}, "[[0.33333333,\n       1e-09],\n [    1000.5,\n          2.]]"),
    ],
    ids=str,
)
def test_digits_and_width(options, text):
    x = usmx.asarray(X)
    with usmx.printoptions(**options):
        if options.get("precision") == 0:
            assert [one.strip(" []\n") for one in str(x).split(",")] == [
                "0.", "1e-09", "1000.", "2."]  # fmt: skip
        else:
            assert str(x) == text
    assert str(x) == "[[0.33333333,      1e-09],\n [    1000.5,         2.]]"


def test_more_digits_and_complex_numbers():
    x = usmx.asarray([1 / 3, 2e10 / 3])
    with np.printoptions(precision=12):
        assert str(x) == "[    0.333333333333, 6.666666666667e+09]"
    z = usmx.asarray([1 / 3 + 1j / 7, 2e-9j])
    with np.printoptions(precision=3, suppress=True):
        assert str(z) == "[0.333+0.143j,       0.+0.j]"
    with np.printoptions(suppress=True):
        assert (
            str(usmx.asarray([1e300, 1e17, 123456789.5]))
            == "[     1e+300,       1e+17, 123456789.5]"
        )


def test_how_many_elements_are_shown():
    x = usmx.arange(3000)
    assert "..." in str(x)
    for threshold in (np.inf, 5000):
        with np.printoptions(threshold=threshold):
            assert str(x).count(",") == 2999
    with np.printoptions(threshold=4, edgeitems=1):
        assert str(usmx.arange(10)) == "[0, ..., 9]"
        assert "shape=(10,)" in repr(usmx.arange(10))
    assert str(usmx.arange(4)) == "[0, 1, 2, 3]"


def test_types_make_numbers_and_arrays():
    assert type(usmx.float32(1)) is np.float32
    assert usmx.float32("1.5") == np.float32(1.5)
    assert usmx.uint8(200) + usmx.uint8(20) == 220
    with pytest.raises(OverflowError):
        usmx.uint8(300)
    made = usmx.int16([1, 2])
    assert isinstance(made, usmx.ndarray)
    assert made.dtype == "int16"
    cast = usmx.int64(usmx.asarray([1.5, 2]))
    assert isinstance(cast, usmx.ndarray)
    assert cast.tolist() == [1, 2]
    assert isinstance(usmx.float32(np.ones(2)), np.ndarray)
    with pytest.raises(TypeError):
        usmx.float32(object())


def test_types_know_their_numbers():
    assert isinstance(np.float64(3), usmx.float64)
    assert not isinstance(np.float64(3), usmx.float32)
    assert not isinstance("3", usmx.int64)
    assert isinstance(usmx.float32, usmx.dtype)
