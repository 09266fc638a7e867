"""Fused functions read globals, closure variables, attributes and containers: a call sees what
they hold then, as NumPy would, and what was compiled before is used again."""

# A lambda around a function is what is fused.
# ruff: noqa: PLW0108
# SPDX-License-Identifier: Apache-2.0
import contextvars
import dataclasses
import functools
import gc
import os
import random
import threading
import types
import weakref

import numpy as np
import pytest

import usmx

scale = 2.0
table = {"gain": 2.0, "list": [1.0, 2.0]}
weights = [1.0, 2.0]
numbers = np.array([1.0, 2.0])
config = types.SimpleNamespace(inner=types.SimpleNamespace(n=2.0))
module = types.ModuleType("settings_of_fused")
module.n = 2.0


class Settings:
    gain = 2.0

    @classmethod
    def of_class(cls):
        return cls.gain

    @property
    def doubled(self):
        return self.gain * 2.0


class Inheriting(Settings):
    pass


@dataclasses.dataclass
class Point:
    x: float = 2.0

    def of(self, v):
        return v * self.x


class Slotted:
    __slots__ = ("n",)

    def __init__(self):
        self.n = 2.0


point, slotted, settings, inheriting = Point(), Slotted(), Settings(), Inheriting()


def twice(v):
    return v * 2.0


def helper(v):
    return twice(v)


def passing(v, what):
    return v * what.n


@usmx.fuse
def inner_fused(v):
    return v * scale


def with_default(v, by=weights):
    return v * by[1]


def set_in(container, key, value):
    return lambda: container.__setitem__(key, value)


def set_of(obj, name, value):
    return lambda: setattr(obj, name, value)


FORMS = {
    "global": (lambda x: x * scale, set_in(globals(), "scale", 3.0)),
    "class": (lambda x: x * Settings.gain, set_of(Settings, "gain", 3.0)),
    "classmethod": (lambda x: x * Settings.of_class(), set_of(Settings, "gain", 3.0)),
    "base class": (lambda x: x * Inheriting.gain, set_of(Settings, "gain", 3.0)),
    "hidden base class": (lambda x: x * Inheriting.gain, set_of(Inheriting, "gain", 3.0)),
    "hidden for a classmethod": (
        lambda x: x * Inheriting.of_class(),
        set_of(Inheriting, "gain", 3.0),
    ),
    "hidden for an instance": (lambda x: x * inheriting.gain, set_of(Inheriting, "gain", 3.0)),
    "hidden for a property": (
        lambda x: x * inheriting.doubled / 2.0,
        set_of(Inheriting, "gain", 3.0),
    ),
    "hidden property": (
        lambda x: x * inheriting.doubled / 2.0,
        set_of(Inheriting, "doubled", 6.0),
    ),
    "property": (lambda x: x * settings.doubled / 2.0, set_of(Settings, "gain", 3.0)),
    "instance": (lambda x: point.of(x), set_of(point, "x", 3.0)),
    "another object": (lambda x: x * point.x, set_in(globals(), "point", Point(3.0))),
    "method": (lambda x: point.of(x), set_of(Point, "of", lambda self, v: v * 3.0)),
    "slots": (lambda x: x * slotted.n, set_of(slotted, "n", 3.0)),
    "attributes of attributes": (lambda x: x * config.inner.n, set_of(config.inner, "n", 3.0)),
    "module": (lambda x: x * module.n, set_of(module, "n", 3.0)),
    "module that is passed on": (lambda x: passing(x, module), set_of(module, "n", 3.0)),
    "dictionary": (lambda x: x * table["gain"], set_in(table, "gain", 3.0)),
    "list in a dictionary": (lambda x: x * table["list"][1], set_in(table["list"], 1, 3.0)),
    "list": (lambda x: x * max(weights), set_in(weights, 1, 3.0)),
    "longer list": (lambda x: x * len(weights), lambda: weights.append(1.0)),
    "element of an array": (lambda x: x * numbers[1], set_in(numbers, 1, 3.0)),
    "helper": (lambda x: helper(x), set_in(globals(), "helper", lambda v: v * 3.0)),
    "helper of a helper": (lambda x: helper(x), set_in(globals(), "twice", lambda v: v * 3.0)),
    "called fused function": (lambda x: inner_fused(x), set_in(globals(), "scale", 3.0)),
    "fused function": (lambda x: inner_fused._function(x), set_in(globals(), "scale", 3.0)),
    "default": (lambda x: with_default(x), set_of(with_default, "__defaults__", ((0, 3.0),))),
    "list as default": (lambda x: with_default(x), set_in(weights, 1, 3.0)),
    "partial": (functools.partial(lambda p, x: x * p.x, point), set_of(point, "x", 3.0)),
    "bound method": (point.of, set_of(point, "x", 3.0)),
    "builtin": (lambda x: x * min(2.0, 4.0), set_in(globals(), "min", lambda a, b: 3.0)),
}


@pytest.fixture
def kept():
    """Puts back what a test changes."""
    held = [dict(globals()), list(weights), numbers.copy(), dict(table), list(table["list"])]
    of = Point.of
    yield
    for name in set(globals()) - set(held[0]):
        del globals()[name]
    globals().update(held[0])
    weights[:], numbers[...] = held[1], held[2]
    table.update(held[3])
    table["list"][:] = held[4]
    Settings.gain = point.x = slotted.n = module.n = config.inner.n = 2.0
    for name in {"gain", "doubled"} & vars(Inheriting).keys():
        delattr(Inheriting, name)
    Point.of = of
    with_default.__defaults__ = (weights,)


@pytest.mark.parametrize("form", FORMS)
def test_what_a_function_reads_may_change(form, kept):
    function, change = FORMS[form]
    fused = usmx.fuse(function)
    x = usmx.asarray([1.0, 2.0])
    assert fused(x).tolist() == fused(x).tolist() == [2.0, 4.0]
    change()
    assert fused(x).tolist() == fused(x).tolist() == [3.0, 6.0]


def test_changed_back_nothing_is_made(kept):
    fused = usmx.fuse(lambda x: x * scale)
    x = usmx.asarray([1.0, 2.0])
    for value in (2.0, 3.0, 2.0, float("3"), 2.0):
        globals()["scale"] = value
        assert fused(x).tolist() == [value, 2 * value]
    assert len(fused.sources) == 2


def test_closure_variables_may_change():
    level = 1.0

    @usmx.fuse
    def above(x):
        return x - level

    x = usmx.asarray([1.0, 2.0])
    assert above(x).tolist() == [0.0, 1.0]
    level = 2.0
    assert above(x).tolist() == [-1.0, 0.0]


def test_what_a_function_changes_itself_does_not_run_it_again():
    calls = []

    @usmx.fuse
    def counted(x):
        calls.append(1)
        return x * scale

    x, y = usmx.asarray([1.0]), usmx.asarray([1])
    for _ in range(3):
        assert counted(x).tolist() == counted(y).tolist() == [2.0]
    assert len(calls) == 2


def test_an_array_of_a_device_that_is_read_is_read_at_each_call():
    gain = usmx.asarray([2.0])
    fused = usmx.fuse(lambda x: x * float(gain[0]))
    x = usmx.asarray([1.0])
    assert fused(x).tolist() == [2.0]
    gain[0] = 3.0
    assert fused(x).tolist() == [3.0]


def test_an_array_of_a_device_in_a_product_of_matrices_is_seen_as_it_is():
    weights = usmx.asarray([[1.0, 2.0], [3.0, 4.0]])
    fused = usmx.fuse(lambda x: x @ weights + 1.0)
    x = usmx.asarray([[1.0, 1.0]])
    assert fused(x).tolist() == [[5.0, 7.0]]
    weights += 1.0
    assert fused(x).tolist() == [[7.0, 9.0]]
    weights = usmx.asarray([[0.0, 0.0], [0.0, 0.0]])
    assert fused(x).tolist() == [[1.0, 1.0]]
    assert len(fused.several) == 1


def test_functions_that_call_each_other_are_read_once():
    def even(x, n):
        return x if n == 0 else odd(x, n - 1)

    def odd(x, n):
        return even(x + 1.0, n - 1)

    fused = usmx.fuse(lambda x: even(x, 4))
    assert fused(usmx.asarray([1.0])).tolist() == [3.0]


def test_a_fused_function_that_reads_itself_is_collected():
    def make():
        @usmx.fuse
        def f(x):
            return x * held[1]

        held = [f, 2.0]
        assert f(usmx.asarray([1.0])).tolist() == [2.0]
        return weakref.ref(f)

    alive = make()
    gc.collect()
    assert alive() is None


def test_changed_values_of_parameters_are_noticed():
    def scaled(x, by=2, *, more=0):
        return x * by + more

    x = usmx.ones(4, "f4")
    fused = usmx.fuse(scaled)
    assert fused(x).tolist() == [2] * 4
    scaled.__defaults__ = (5,)
    assert fused(x).tolist() == [5] * 4
    scaled.__kwdefaults__ = {"more": 1}
    assert fused(x).tolist() == [6] * 4
    assert fused(x, 3).tolist() == [4] * 4


def test_what_answers_otherwise_at_each_call_is_asked_at_each_call(monkeypatch):
    number = contextvars.ContextVar("number", default=2.0)
    local = threading.local()
    local.n = 2.0
    draw, of_numpy = random.Random(1), np.random.default_rng(1)
    number_of_numpy = np.random.random
    monkeypatch.setenv("USMX_OF_A_TEST", "2")
    forms = {
        "context": (lambda x: x * number.get(), lambda: number.set(3.0)),
        "thread": (lambda x: x * local.n, lambda: setattr(local, "n", 3.0)),
        "environment": (
            lambda x: x * float(os.environ["USMX_OF_A_TEST"]),
            lambda: monkeypatch.setenv("USMX_OF_A_TEST", "3"),
        ),
    }
    x = usmx.ones(3, "f4")
    for name, (function, change) in forms.items():
        fused = usmx.fuse(function)
        assert fused(x).tolist() == [2] * 3, name
        change()
        assert fused(x).tolist() == [3] * 3, name
    for name, fused in {
        "generator": usmx.fuse(lambda x: x * draw.random()),
        "module": usmx.fuse(lambda x: x * random.random()),
        "part of a module": usmx.fuse(lambda x: x * np.random.random()),
        "generator of NumPy": usmx.fuse(lambda x: x * of_numpy.random()),
        "function of NumPy": usmx.fuse(lambda x: x * number_of_numpy()),
    }.items():
        assert len({fused(x).tolist()[0] for _ in range(4)}) == 4, name
