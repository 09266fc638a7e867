# What a fused function changes in place is changed, as NumPy changes it: arrays that were passed,
# views of them, arrays computed on the way, and arrays that are passed twice.
# SPDX-License-Identifier: Apache-2.0
import dpnp
import numpy as np
import pytest

import usmx

X = np.arange(6, dtype="f4")
Y = np.arange(6, dtype="f8") + 1
N = np.arange(6, dtype="i4")
Z = np.arange(6) + 1j * Y


def add(x, y):
    x += y


def add_and_return(x, y):
    x += y
    return x


def swap(x, y):
    t = x.copy()
    x[...] = y
    y[:] = t


def out(x, y):
    np.add(x, y, out=x)
    np.multiply(x, 2, out=(y,))
    return x * y


def clip(x, y):
    np.clip(x, 2, 4, out=x)
    return np.round(y / 3, 1, out=y)


def fill(x, y):
    x.fill(3)
    np.copyto(y, 0, where=y > 4)


def several(x, y):
    x **= 2
    x *= 3
    x -= y
    x /= 7
    y //= 2
    y %= 3
    return x, x + 1, y


def bits(x, y):
    x <<= 2
    x |= 1
    x ^= y
    x &= 12
    y >>= 1


def second_name(x, y):
    z = x
    z += y
    return x * 2


def on_the_way(x, y):
    t = x * y
    u = t
    t += 1
    return u


def of_numbers(x, s):
    t = s
    s += 1
    return x * t + s


def parts(x, y):
    x.real += 1
    r = x.imag
    x *= 2
    y.imag = 5
    r -= 1
    return r


def same_type(x, y):
    t = x.astype(x.dtype, copy=False)
    t += y
    u = x.astype(x.dtype)
    u += 1


def reduced(x, y):
    x += y
    return x.sum()


def reads_the_other(x, y):
    x += y
    return y * 2


def narrow(x, y):
    x += y.astype("f4")


CASES = {
    "operators": (several, Y, Y + 2),
    "bits": (bits, N, N + 9),
    "no result": (add, X, X + 1),
    "a wider operand": (add, X, Y),
    "a number": (add, N, 3),
    "the array itself": (add_and_return, Y, Y),
    "swapped": (swap, Y, 2 * Y),
    "swapped types": (swap, X, N),
    "out=": (out, Y, Y + 1),
    "functions with out=": (clip, Y, Y + 1),
    "filled": (fill, Y, N),
    "another name": (second_name, X, X),
    "computed": (on_the_way, X, X),
    "Python's number": (of_numbers, X, 2.5),
    "NumPy's number": (of_numbers, X, np.float32(2.5)),
    "parts of complex numbers": (parts, Z, 3 * Z),
    "without a copy": (same_type, X, X),
    "bool": (add, X > 2, N > 3),
    "reduced": (reduced, Y, Y + 1),
    "broadcast": (add, np.ones((2, 3)), np.ones(3)),
    "converted": (narrow, X, Y),
}


def usm(array):
    return usmx.asarray(array, usm_type="shared")


def assert_same(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple)
        for a, b in zip(got, want, strict=True):
            assert_same(a, b)
    elif want is None:
        assert got is None
    else:
        got = got.to_numpy() if isinstance(got, usmx.ndarray) else np.asarray(got)
        assert got.dtype == np.asarray(want).dtype
        np.testing.assert_array_equal(got, want)


def check(function, theirs, ours, fused=None):
    """The same function on NumPy's arrays and, fused, on ours."""
    want = function(*theirs)
    got = (fused or usmx.fuse(function))(*ours)
    assert_same(got, want)
    for a, b in zip(theirs, ours, strict=True):
        if isinstance(a, np.ndarray):
            assert_same(b, a)
        assert (want is a) == (got is b)


@pytest.mark.parametrize("case", CASES)
def test_arrays_are_changed_as_numpy_changes_them(case):
    function, *args = CASES[case]
    fused = usmx.fuse(function)
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    ours = [usm(a) if isinstance(a, np.ndarray) else a for a in theirs]
    for _ in range(2):
        check(function, theirs, ours, fused)


@pytest.mark.parametrize("function", [add_and_return, reads_the_other, swap, out])
def test_an_array_that_is_passed_twice_is_one(function):
    fused = usmx.fuse(function)
    a = np.arange(1, 7, dtype="f8")
    theirs, ours = [a.copy(), a.copy()], [usm(a), usm(a)]
    for first, second in ((0, 0), (0, 1), (1, 1)):
        check(function, [theirs[first], theirs[second]], [ours[first], ours[second]], fused)
    a = theirs[0]
    b = ours[0]
    check(function, [a[::2], a[::2]], [b[::2], b[::2]], fused)
    assert_same(b, a)


def test_arrays_that_overlap_in_part_are_read_before_they_are_changed():
    a, b = np.arange(8), usm(np.arange(8))
    add(a[1:], a[:-1])
    usmx.fuse(add)(b[1:], b[:-1])
    assert_same(b, a)
    with pytest.raises(ValueError, match=r"'x' and 'y' overlap.* uses 'y' after it changed 'x'"):
        usmx.fuse(reads_the_other)(b[1:], b[:-1])
    assert_same(b, a)


def test_arrays_of_others_are_changed_too():
    theirs = dpnp.arange(5, dtype="f4")
    fused = usmx.fuse(add_and_return)
    assert fused(theirs, 1) is theirs
    assert dpnp.asnumpy(theirs).tolist() == [1, 2, 3, 4, 5]
    view = np.asarray(usmx.zeros(4, usm_type="shared"))
    assert fused(view, 1) is view
    assert view.tolist() == [1] * 4


def test_out_takes_the_results_beside_what_is_changed():
    x, y, z = usm(Y), usm(Y), usm(Y)
    fused = usmx.fuse(second_name)
    assert fused(x, y, out=z) is z
    assert_same(x, 2 * Y)
    assert_same(z, 4 * Y)
    with pytest.raises(TypeError, match="out=: the function returns nothing"):
        usmx.fuse(add)(x, y, out=z)
    with pytest.raises(TypeError, match="out=: the function returns an argument"):
        usmx.fuse(add_and_return)(x, y, out=z)
    assert_same(x, 2 * Y)


WRONG = {
    "a float into ints": (add, (N, Y), "cannot cast float64 to int32.*astype"),
    "a Python float into ints": (add, (N, 1.5), "cannot cast float64 to int32"),
    "complex into real": (add, (Y, Z), "cannot cast complex128 to float64"),
    "out= of another kind": (lambda x: np.sqrt(x, out=np.ones(6)), (X,), "out= is of type ndarray"),
    "no result and no change": (lambda x: None, (X,), "not with NoneType"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_changed_in_place(case):
    function, args, message = WRONG[case]
    passed = [usm(a) if isinstance(a, np.ndarray) else a for a in args]
    with pytest.raises(TypeError, match=message):
        usmx.fuse(function)(*passed)
    for a, b in zip(args, passed, strict=True):
        if isinstance(a, np.ndarray):
            assert_same(b, a)


def test_an_array_that_is_too_small_for_the_result_is_refused():
    x = usm(np.ones(3))
    with pytest.raises(ValueError, match="shape"):
        usmx.fuse(add)(x, usm(np.ones((2, 3))))
    assert_same(x, np.ones(3))
