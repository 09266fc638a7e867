"""A plugin for pytest: tests of NumPy's package make arrays of usmx where they make NumPy's.

In the modules of the tests ``np`` becomes a namespace whose functions that make arrays give arrays
of usmx in shared memory, of all types that usmx has; everything else is NumPy's, which calls usmx
by its protocols. Functions that compare take arrays of usmx as those of NumPy. What each test did
is written to the file that ``USMX_OUTCOMES`` names.
"""
# SPDX-License-Identifier: Apache-2.0

import contextlib
import json
import os
import sys

import numpy
import numpy.testing
import pytest

import usmx

MAKERS = (
    "arange",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "empty",
    "eye",
    "frombuffer",
    "full",
    "identity",
    "linspace",
    "logspace",
    "ones",
    "tri",
    "zeros",
)
OUTCOMES = {}


def ours(made):
    """An array of NumPy as one of usmx, if usmx has its type; a given one of usmx as it is."""
    plain = type(made) is numpy.ndarray and made.dtype.char in "?bhilqBHILQefdFD"
    if not plain or not made.dtype.isnative:
        return made
    order = "F" if made.ndim > 1 and made.flags.fnc else "C"
    return usmx.asarray(numpy.array(made, order=order), usm_type="shared")


def theirs(value):
    """What functions that compare see."""
    if isinstance(value, usmx.ndarray):
        made = value.to_numpy()
        return made if made.ndim else made[()]
    if type(value) in (list, tuple):
        return type(value)(theirs(part) for part in value)
    return value


def maker(function):
    def make(*args, **keywords):
        first = args[0] if args else None
        if isinstance(first, usmx.ndarray) and function.__name__.startswith("as"):
            keywords = {k: v for k, v in keywords.items() if k in ("dtype", "order", "copy")}
            return usmx.asarray(first, *args[1:], **keywords)
        return ours(function(*map(theirs, args), **keywords))

    return make


def comparing(function):
    def compare(*args, **keywords):
        return function(*map(theirs, args), **{k: theirs(v) for k, v in keywords.items()})

    return compare


class EitherArray:
    """`numpy.ndarray`, of which arrays of usmx are instances too."""

    def __instancecheck__(self, value):
        return isinstance(value, (numpy.ndarray, usmx.ndarray))

    def __subclasscheck__(self, value):
        return issubclass(value, (numpy.ndarray, usmx.ndarray))

    def __mro_entries__(self, bases):
        return (numpy.ndarray,)

    def __call__(self, *args, **keywords):
        return ours(numpy.ndarray(*args, **keywords))

    def __getattr__(self, name):
        return getattr(numpy.ndarray, name)


def raises(expected, *args, match=None, **keywords):
    """Errors have words of usmx: their types are compared."""
    return RAISES(expected, *args, **keywords)


def assert_raises_regex(expected, words, *args, **keywords):
    return numpy.testing.assert_raises(expected, *args, **keywords)


RAISES = pytest.raises
pytest.raises = raises


class Namespace:
    """NumPy with arrays of usmx."""

    ndarray = EitherArray()

    def __init__(self):
        for name in MAKERS:
            setattr(self, name, maker(getattr(numpy, name)))

    def __getattr__(self, name):
        return getattr(numpy, name)


def substitute(module):
    for name, value in list(vars(module).items()):
        if value is numpy:
            setattr(module, name, Namespace())
        elif getattr(numpy, name, None) is value and name in MAKERS:
            setattr(module, name, maker(value))
        elif name == "assert_raises_regex":
            setattr(module, name, assert_raises_regex)
        elif name.startswith("assert_") and callable(value):
            setattr(module, name, comparing(value))


def pytest_collection_modifyitems(items):
    for module in {item.module for item in items}:
        substitute(module)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    name = item.nodeid.partition("::")[2]
    if report.outcome == "failed":
        told = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}"
        OUTCOMES[name] = told.strip().replace("\n", " ")[:300]
    elif report.when == "call" or report.outcome == "skipped":
        OUTCOMES.setdefault(name, report.outcome)
    return report


def pytest_runtest_logstart(nodeid):
    with contextlib.suppress(KeyError), open(os.environ["USMX_OUTCOMES"] + ".at", "w") as file:
        file.write(nodeid)  # what ran when the process ended


def pytest_sessionfinish():
    if path := os.environ.get("USMX_OUTCOMES"):
        with open(path, "w") as file:
            json.dump(OUTCOMES, file, indent=0, sort_keys=True)
    sys.stdout.flush()
