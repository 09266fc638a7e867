# What NumPy and the libraries around it ask of an array by name: `like=`, `__array_priority__`,
# `__sizeof__`, pickles of functions.
# SPDX-License-Identifier: Apache-2.0
import copy
import inspect
import pickle
import sys
import weakref

import numpy as np
import pytest

import usmx

MADE_LIKE = {
    "array": lambda like: np.array([1, 2], like=like),
    "array of two dimensions": lambda like: np.array([1, 2], ndmin=2, dtype="f", like=like),
    "asarray": lambda like: np.asarray([1, 2], like=like),
    "asarray of its own": lambda like: np.asarray(like, like=like),
    "asanyarray": lambda like: np.asanyarray([1, 2], like=like),
    "ascontiguousarray": lambda like: np.ascontiguousarray([[1, 2]], like=like),
    "asfortranarray": lambda like: np.asfortranarray([[1, 2], [3, 4]], like=like),
    "require": lambda like: np.require([[1, 2]], dtype="d", requirements=["F"], like=like),
    "arange": lambda like: np.arange(3, like=like),
    "arange from": lambda like: np.arange(2, 9, 3, dtype="f", like=like),
    "zeros": lambda like: np.zeros(3, like=like),
    "ones": lambda like: np.ones((2, 3), dtype=int, like=like),
    "full": lambda like: np.full(3, 2.5, like=like),
    "empty": lambda like: np.empty(3, order="F", like=like) * 0,
    "eye": lambda like: np.eye(3, k=1, like=like),
    "eye of two lengths": lambda like: np.eye(2, 3, -1, int, like=like),
    "identity": lambda like: np.identity(3, like=like),
    "tri": lambda like: np.tri(3, like=like),
    "frombuffer": lambda like: np.frombuffer(b"12345678", dtype="u1", like=like),
    "fromiter": lambda like: np.fromiter([1, 2], float, like=like),
    "fromfunction": lambda like: np.fromfunction(lambda i: i, (3,), like=like),
    "fromstring": lambda like: np.fromstring("1 2", sep=" ", like=like),
    "loadtxt": lambda like: np.loadtxt(["1 2", "3 4"], like=like),
    "genfromtxt": lambda like: np.genfromtxt(["1 2", "3 4"], like=like),
}


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize("name", MADE_LIKE)
def test_numpy_makes_an_array_where_like_is(name, kind):
    like = usmx.arange(4.0, usm_type=kind)
    made = MADE_LIKE[name](like)
    expected = MADE_LIKE[name](like.to_numpy())
    assert isinstance(made, usmx.ndarray)
    assert made.usm_type == kind
    assert made.queue == like.queue
    assert made.dtype == expected.dtype
    assert made.flags.c_contiguous == expected.flags.c_contiguous
    np.testing.assert_array_equal(made.to_numpy(), expected)


def numpys_functions():
    """All functions that NumPy dispatches by `__array_function__`."""
    found = {}
    for module in (np, np.linalg, np.fft):
        for name in dir(module):
            function = getattr(module, name)
            if hasattr(function, "_implementation"):
                found[f"{module.__name__}.{name}"] = function
    return found


# Arguments that make sense for most functions; each function gets those that it takes.
ATTEMPTS = (
    lambda f, x: f(x),
    lambda f, x: f(x, x),
    lambda f, x: f(x, 1),
    lambda f, x: f(x, x, x),
    lambda f, x: f(x, 1, 1),
)


@pytest.mark.parametrize("name", numpys_functions())
def test_a_function_of_numpy_gives_a_result_or_names_itself(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = numpys_functions()[name]
    last = name.rpartition(".")[2]
    host = np.arange(1.0, 5.0).reshape(2, 2)
    x = usmx.asarray(host, usm_type="device")
    for attempt in ATTEMPTS:
        try:
            attempt(function, host.copy())
        except Exception:
            continue
        said = last
        try:
            attempt(function, x.copy())
        except TypeError as error:
            said = str(error)
        except (ValueError, IndexError, NotImplementedError, np.linalg.LinAlgError):
            pass  # a value that is refused, with its reason
        assert last in said or "argument" in said


def test_numpys_priority_is_below_ours():
    assert usmx.ndarray.__array_priority__ > np.ones(1).__array_priority__
    assert isinstance(usmx.ones(1).__array_priority__, float)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_the_size_of_an_array_counts_the_elements_that_it_shows(kind):
    x = usmx.ones((1 << 10, 1 << 8), usm_type=kind)
    own = sys.getsizeof(usmx.empty(0))
    assert sys.getsizeof(x) - own == x.nbytes
    assert sys.getsizeof(x[::2]) - own == x.nbytes // 2
    assert sys.getsizeof(usmx.broadcast_to(x[0], (1000, 1 << 8))) - own == x[0].nbytes
    assert sys.getsizeof(usmx.asarray(1.0)) - own == 8
    with pytest.raises(TypeError, match="self: an object of type int"):
        usmx.ndarray.__sizeof__(3)


def test_asking_for_the_size_computes_nothing():
    x = (usmx.zeros((1000, 10)) + 1) * 2
    own = sys.getsizeof(usmx.empty(0))
    for _ in range(2):
        assert x._is_deferred
        assert sys.getsizeof(x) - own == 80_000
    assert float(x.sum()) == 20_000


OPERATIONS = [
    name for name in usmx._namespace.NAMES if type(getattr(usmx, name)).__name__ == "Operation"
]


def test_functions_of_the_table_pickle_by_name_and_copy_as_themselves():
    assert len(OPERATIONS) > 90
    for operation in [*(getattr(usmx, name) for name in OPERATIONS), usmx.special.erf]:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(operation, protocol)) is operation or (
                pickle.loads(pickle.dumps(operation, protocol)).__name__ == operation.__name__
            )
        assert copy.copy(operation) is operation
        assert copy.deepcopy([operation])[0] is operation
        assert weakref.ref(operation)() is operation
        assert operation.__qualname__ == operation.__name__
    assert pickle.loads(pickle.dumps(usmx.sin)) is usmx.sin
    assert pickle.loads(pickle.dumps(usmx.special.erf)) is usmx.special.erf


def test_the_help_of_a_function_of_the_table_is_its_own():
    texts = {inspect.getdoc(getattr(usmx, name)).splitlines()[0] for name in OPERATIONS}
    names = {getattr(usmx, name).__name__ for name in OPERATIONS}
    assert len(texts) > 0.9 * len(names)
    assert inspect.getdoc(usmx.sqrt).startswith("Gives the square root.")
