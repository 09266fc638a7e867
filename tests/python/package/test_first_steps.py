"""What new users try in their first ten minutes: right values, or a message that helps."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import datetime
import pickle
import traceback
from collections.abc import Hashable

import numpy as np
import pandas as pd
import pytest

import usmx

KINDS = ("device", "shared", "host")
NUMBERS = ("int8", "uint64", "float16", "float32", "float64", "complex64", "complex128", "bool")


def numbers(usm_type="device"):
    return usmx.asarray([1.0, 2.0, 3.0], usm_type=usm_type)


# --- single elements compare as the numbers that they are


@pytest.mark.parametrize("kind", KINDS)
def test_an_element_equals_its_number(kind):
    x = numbers(kind)
    assert x[1] == 2
    assert x[1] == 2.0
    assert 2 == x[1]  # noqa: SIM300
    assert not bool(x[1] != 2)
    assert not bool(x[1] == 3)
    assert x[1] in (1, 2)
    assert x[1] not in (1, 3)


def test_elements_have_an_order():
    x = numbers()
    assert x[0] < 2 <= x[1] < x[2]
    assert x[2] > 2.5 >= x[1]
    assert max(x) == 3
    assert [float(e) for e in sorted(x, reverse=True)] == [3, 2, 1]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_an_element_that_was_set_to_a_number_is_equal_to_it(dtype):
    value = {"b": True, "i": -7, "u": 2**63 + 1, "f": 0.1, "c": 0.1 + 0.7j}[np.dtype(dtype).kind]
    x = usmx.full((), value, dtype=dtype)
    assert x == value
    assert not bool(x != value)
    assert value in x


@pytest.mark.parametrize("dtype", NUMBERS)
def test_elements_compare_as_those_of_numpy(dtype):
    values = [0, 1, 2, 0.1, 100, 255.5, 2**60, 1e300, float("inf"), float("nan"), 10**400, 1j]
    kind = np.dtype(dtype).kind
    for mine in (0, 1, 0.1 if kind in "fc" else 2):
        theirs = np.array(mine, dtype)
        x = usmx.asarray(theirs)
        for value in values:
            if value == 10**400 and kind in "fcb":
                assert not bool(x == value)  # NumPy raises OverflowError
                continue
            with np.errstate(over="ignore"):
                assert bool(x == value) is bool(theirs == value), (mine, value)
                assert bool(x != value) is bool(theirs != value), (mine, value)


def test_elements_of_two_arrays_compare():
    x, y = numbers(), usmx.asarray(np.array([3, 2, 1], "int8"), usm_type="shared")
    assert x[1] == y[1]
    assert x[0] != y[0]
    assert x[0] < y[0]


def test_an_element_is_true_if_it_is_not_zero():
    x = usmx.asarray([0, 1])
    assert not x[0]
    assert x[1]


def test_elements_of_records_compare_as_tuples():
    points = usmx.zeros(2, dtype=[("x", "<f4"), ("n", "<i4")], usm_type="shared")
    assert points[0] == (0.0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_in_looks_at_the_elements(kind):
    x = numbers(kind)
    assert 3 in x
    assert 4 not in x
    assert 2 in x[::-1]
    assert 6 in usmx.arange(12, usm_type=kind).reshape(3, 4).T
    assert x[2] in x
    assert "a" not in x
    for row in ([1, 2], (1, 2)):
        with pytest.raises(TypeError, match=r"`list in array`: write \(x == usmx.asarray\(y\)\)"):
            row in x  # noqa: B015
    assert 0.1 in usmx.full(2, 0.1, dtype="float32")


def test_arrays_have_no_hash_as_those_of_numpy():
    with pytest.raises(TypeError, match="unhashable"):
        hash(numbers()[0])
    assert not isinstance(numbers(), Hashable)


def test_errors_are_named_as_programs_name_them():
    with pytest.raises(usmx.linalg.LinAlgError) as caught:
        usmx.linalg.inv(usmx.ones((2, 3)))
    line = traceback.format_exception_only(caught.value)[0]
    assert line.startswith("usmx.linalg.LinAlgError: a: has shape (2, 3)")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is usmx.linalg.LinAlgError


# --- what is not there yet says so


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "compare",
    [
        lambda x: x == object(),
        lambda x: x == "abc",
        lambda x: x < None,
        lambda x: x in x,  # noqa: PLR0124
    ],
)
def test_what_cannot_be_compared_raises_instead_of_being_false(compare, shared):
    with pytest.raises(TypeError):
        compare(numbers("shared" if shared else "device"))


def test_an_array_is_not_none():
    x = numbers()
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    assert (x[0] == None) is False  # noqa: E711


def test_an_array_beside_one_of_numpy_is_compared_by_numpy():
    x = numbers("shared")
    assert (x == np.array([1, 0, 3])).tolist() == [True, False, True]
    assert (np.array([1, 0, 3]) < x).tolist() == [False, True, False]


def test_what_knows_how_to_compare_itself_does():
    class Anything:
        def __eq__(self, other):
            return True

        __hash__ = None

    assert (numbers() == Anything()) is True


def test_the_same_array_is_found_in_a_list():
    x = numbers()
    assert x in [x]
    assert [x].index(x) == 0


def test_operators_of_the_other_side_come_first():
    class Theirs:
        def __radd__(self, other):
            return "theirs"

        def __rpow__(self, other):
            return "theirs"

    x = numbers("shared")
    assert x + Theirs() == "theirs"
    assert x ** Theirs() == "theirs"
    assert (np.ones(3) + x).tolist() == [2, 3, 4]
    assert (x + np.ones(3)).tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (1.5, "index: is of type float"),
    ],
    ids=repr,
)
def test_an_index_that_is_not_supported_says_what_is(key, message):
    x = numbers()
    with pytest.raises((TypeError, IndexError), match=message):
        x[key]
    with pytest.raises((TypeError, IndexError), match=message):
        x[key] = 0
    with pytest.raises((TypeError, IndexError), match=message):
        usmx.zeros((3, 3))[0, key]


def test_integers_of_numpy_and_arrays_without_dimensions_are_indices():
    x = numbers()
    for one in (np.int8(1), np.array(1), usmx.asarray(1)):
        assert x[one] == 2


# --- what cannot become an array says what can


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(["2020-01-01"], "datetime64[D]"), r"datetime64\[D\].*view\('int64'\)"),
        (np.array([5], "timedelta64[s]"), r"timedelta64\[s\].*view\('int64'\)"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), r"Series of dtype datetime64.*view\('int64'\)"),
        (pd.Series(["a", "b"], dtype=object), "Series of dtype object; .*astype"),
        (np.array([1, None]), "ndarray of dtype object; .*astype"),
        ([1, None], "list of dtype object; .*astype"),
        (np.array(["a"]), "ndarray of dtype <U1; text is not supported"),
        (["a"], "list of dtype <U1; text is not supported"),
        ("text", "str of dtype <U4; text is not supported"),
        (None, "obj: None; expected USM"),
        ({1: 2}, "dict.; expected USM"),
        (datetime.datetime(2020, 1, 1), "datetime.datetime.; expected USM"),
        ([[1], [1, 2]], "differ in length"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_is_no_array_of_numbers_says_why(value, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        usmx.asarray(value)
    assert "\n" not in str(caught.value)


def test_series_and_frames_of_numbers_become_arrays():
    assert usmx.asarray(pd.Series([1, 2])).tolist() == [1, 2]
    assert usmx.asarray(pd.DataFrame({"a": [1.5], "b": [2.5]})).tolist() == [[1.5, 2.5]]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("jit", "use usmx.kernel"),
        ("NaN", "use usmx.nan"),
        ("float", "use Python's own float"),
        ("in1d", "use usmx.isin"),
        ("trapz", "use usmx.trapezoid"),
        ("memmap", "use usmx.open(file), which reads a file piece by piece"),
        ("ma", "functions of numpy.ma take x.to_numpy(), and usmx.asarray brings results back"),
        ("datetime64", "arrays of usmx do not have dates; use x.view('int64') of NumPy's array"),
        ("str_", "arrays of usmx do not have text"),
        ("poly1d", "numpy.poly1d takes x.to_numpy(), and usmx.asarray brings its result back"),
    ],
)
def test_a_name_of_numpy_leads_to_what_there_is(name, hint):
    with pytest.raises(AttributeError) as caught:
        getattr(usmx, name)
    assert str(caught.value) == f"module 'usmx' has no attribute '{name}'; {hint}"
    assert caught.value.name is None, "Python would guess another name"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("PCG64", "; usmx.random.default_rng(seed) makes a generator"),
        ("vonmises", "; numpy.random.vonmises gives an array of NumPy, and usmx.asarray takes it"),
        ("nonsense", ""),
    ],
)
def test_a_name_of_numpys_random_leads_to_what_there_is(name, hint):
    with pytest.raises(AttributeError) as caught:
        getattr(usmx.random, name)
    assert str(caught.value) == f"module 'usmx.random' has no attribute '{name}'{hint}"


def test_what_is_named_instead_is_there():
    from usmx import _missing_names

    for text in _missing_names._INSTEAD.values():
        if "usmx." in text:
            eval(text.partition("(")[0].partition(",")[0])


def test_a_name_that_is_nothing_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'\n"):
        usmx.nonsense  # noqa: B018


@pytest.mark.parametrize("function", [np.asarray, np.ldexp.accumulate])
def test_numpy_on_device_memory_says_how_it_could_see_it(function):
    with pytest.raises(TypeError, match=r"device memory.*to_numpy\(\).*usm_type='shared'"):
        function(numbers())


SOURCE = "USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }"


@usmx.kernel
def increase(item, x):
    i = item.get_id(0)
    x[i] += 1


@pytest.mark.parametrize("kernel", [usmx.RawKernel(SOURCE, "f"), increase], ids=["raw", "python"])
@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (lambda k, x: k[3]([1, 2, 3]), r"type list; expected .*USM.*usmx\.asarray\(x\)"),
        (
            lambda k, x: k[3](np.zeros(3, ">f4")),
            r"(in place: byte-swapped|memory of the host).*usmx\.asarray\(x\)",
        ),
        (lambda k, x: k[3](x=x), r"got the keyword arguments 'x'; .*positional"),
        (lambda k, x: k[3](), r"takes 1 arguments?.*got 0"),
        (lambda k, x: k(x), r"is launched over a range: \w+\[global_range\]\(\.\.\.\)"),
        (lambda k, x: k["3"](x), r"global range: expected an int or a tuple of ints, got str"),
    ],
)
def test_a_wrong_launch_says_what_is_right(kernel, launch, message):
    with pytest.raises((TypeError, ValueError), match=message):
        launch(kernel, usmx.zeros(3, dtype="float32"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: usmx.arange("a"), r"stop: 'a' \(str\); expected a number"),
        (lambda: usmx.arange(0, "a"), r"stop: 'a' \(str\); expected a number"),
        (lambda: usmx.zeros("3"), r"shape: '3' \(str\)"),
        (lambda: usmx.zeros(3, "flaot32"), r"dtype: 'flaot32' \(str\); expected a name"),
        (lambda: usmx.zeros(3, usm_type="gpu"), "expected 'device', 'shared' or 'host'"),
        (lambda: usmx.zeros(3, device="nope"), "'nope' is neither a backend, a device type nor"),
        (lambda: len(usmx.zeros(())), r"len\(\) of a 0-d array"),
        (lambda: float(numbers()), r"float\(\) takes an array of size 1; this has shape \(3,\)"),
        (lambda: usmx.copy([1, 2, 3], numbers()), r"dst: \[1, 2, 3\] \(list\); expected USM"),
        (lambda: usmx.memory.MemoryUSMShared("a"), r"str has no USM: expected a number of bytes"),
        (lambda: usmx.memory.MemoryUSMHost(3.5), r"float has no USM: expected a number of bytes"),
        (lambda: usmx.zeros((2, -1)), r"shape: \(2, -1\) has a negative length"),
        (lambda: usmx.linspace(0, 1, 5 / 2), r"num: 2.5 \(float\); expected an integer"),
        (lambda: usmx.eye("3"), r"N: '3' \(str\); expected an integer"),
        (lambda: usmx.eye(3, k=0.5), r"k: 0.5 \(float\); expected an integer"),
        (
            lambda: usmx.random.default_rng("a"),
            r"seed: 'a' \(str\); expected an integer",
        ),
        (lambda: usmx.random.default_rng([1, 0.5]), r"seed: \[1, 0.5\] \(list\); expected an int"),
        (lambda: usmx.pad([1], 1, mod="edge"), "mod: .* no such keyword; did you mean 'mode'"),
        (lambda: usmx.pad([1], 1, "edge", constant_values=1), "'edge' has no such keyword$"),
        (lambda: usmx.argmax(usmx.ones(3), axis="a"), r"axis: 'a' \(str\); expected an integer"),
        (
            lambda: usmx.LocalMemory(3, dtyp="f4"),
            "^usmx.LocalMemory: got an unexpected argument 'dtyp'; did you mean 'dtype'",
        ),
        (lambda: usmx.LocalMemory(3), "^usmx.LocalMemory: missing the argument 'dtype'"),
        (lambda: usmx.bench(3), "bench: expected a function, got int"),
        (lambda: usmx.profile(usmx.ones(3)), "profile: expected a function, got ndarray"),
        (lambda: usmx.zeros(3, device="custom"), r"no device matches the filter 'custom'; avail"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_expected(call, message):
    with pytest.raises((TypeError, ValueError, usmx.DeviceError), match=message):
        call()


def test_what_worked_still_does():
    x = numbers()
    assert str(x.T) == "[1., 2., 3.]"
    assert copy.deepcopy(x).tolist() == [float(e) for e in x] == [1, 2, 3]
    assert int(x[0]) == 1
    assert list(range(5))[usmx.asarray(2)] == 2
