"""Fused functions read globals, closure variables, attributes and containers: a call sees what
they hold then, as NumPy would, and what was compiled before is used again."""

# A lambda around a function is what is fused.
# ruff: noqa: PLW0108
# SPDX-License-Identifier: Apache-2.0
import abc
import collections
import contextvars
import dataclasses
import enum
import fractions
import functools
import gc
import importlib
import itertools
import math
import operator
import os
import pathlib
import random
import sys
import threading
import types
import unittest.mock
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


def test_what_a_function_changes_itself_runs_it_again():
    calls, count = [], 0

    @usmx.fuse
    def appending(x):
        calls.append(1)
        return x * len(calls)

    @usmx.fuse
    def counting(x):
        nonlocal count
        count += 1
        return x * count

    def seen(one, so_far=[]):  # noqa: B006
        so_far.append(one)
        return len(so_far)

    with_default = usmx.fuse(lambda x: x * seen(1))
    x = usmx.asarray([1.0])
    for fused in (appending, counting, with_default):
        assert [fused(x).item() for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert (len(calls), count) == (4, 4)


def test_what_a_function_fills_at_its_first_call_is_read_later():
    known = {}

    @usmx.fuse
    def remembering(x):
        known.setdefault("gain", scale)
        return x * known["gain"]

    x = usmx.asarray([1.0])
    assert [remembering(x).item() for _ in range(4)] == [2.0] * 4
    assert remembering._generations[0].captured is not None  # it changes nothing any more


def numbers_of_a_generator():
    yield from (1, 2, 3, 4)


@pytest.mark.parametrize(
    "numbers",
    [
        lambda: itertools.count(1),
        lambda: iter([1, 2, 3, 4]),
        lambda: iter((1, 2, 3, 4)),
        lambda: iter({1: 0, 2: 0, 3: 0, 4: 0}),
        lambda: iter(range(1, 5)),
        lambda: map(int, "1234"),
        lambda: (k for k in (1, 2, 3, 4)),
        numbers_of_a_generator,
        lambda: types.SimpleNamespace(__next__=itertools.count(1).__next__),
    ],
)
def test_an_iterator_gives_its_next_number(numbers):
    held = numbers()
    if isinstance(held, types.SimpleNamespace):
        fused = usmx.fuse(lambda x: x * held.__next__())
    else:
        fused = usmx.fuse(lambda x: x * next(held))
    x = usmx.asarray([1.0])
    assert [fused(x).item() for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


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


class Anything:
    """A configuration that has each name."""

    def __getattr__(self, name):
        return answers.get(name, 2.0)


answers = {}


class Pretending:
    """A proxy that says it is what it stands for."""

    def __init__(self, of):
        object.__setattr__(self, "_of", of)

    @property
    def __class__(self):
        return type(self._of)

    def __getattr__(self, name):
        return getattr(self._of, name)

    def __getitem__(self, key):
        return self._of[key]


def test_an_object_that_has_each_name_is_read():
    every = Anything()
    fused = usmx.fuse(lambda x: x * every.gain)
    x = usmx.asarray([1.0])
    assert [fused(x).item(), fused(x).item()] == [2.0, 2.0]
    answers["gain"] = 3.0
    assert fused(x).item() == 3.0
    answers.clear()
    mocked = unittest.mock.Mock(gain=2.0)
    assert usmx.fuse(lambda x: x * mocked.gain)(x).item() == 2.0


@pytest.mark.parametrize("held", [[2.0], {0: 2.0}, np.array([2.0])])
def test_a_proxy_of_a_container_is_read(held):
    proxy = Pretending(held)
    fused = usmx.fuse(lambda x: x * float(proxy[0]))
    x = usmx.asarray([1.0])
    assert [fused(x).item(), fused(x).item()] == [2.0, 2.0]
    held[0] = 3.0
    assert fused(x).item() == 3.0


NAMED = {
    "globals": lambda x: x * globals()["scale"],
    "eval": lambda x: x * eval("scale"),
    "exec": lambda x: x * by_exec(),
    "vars": lambda x: x * vars(sys.modules[__name__])["scale"],
    "getattr": lambda x: x * getattr(this_module(), "".join(["sc", "ale"])),
    "getattr of a class": lambda x: x * getattr(Settings, "".join(["ga", "in"])),
    "attrgetter": lambda x: x * operator.attrgetter("scale")(this_module()),
    "sys.modules": lambda x: x * sys.modules[__name__].scale,
    "import": lambda x: x * __import__(__name__, fromlist=["scale"]).scale,
    "importlib": lambda x: x * importlib.import_module(__name__).scale,
    "import inside": lambda x: x * by_import(),
    "builtins": lambda x: x * __builtins__["eval"]("scale"),
    "file": lambda x: x * float(open(a_file).read()),  # noqa: SIM115
    "path": lambda x: x * float(pathlib.Path(a_file).read_text()),
    "file of NumPy": lambda x: x * float(np.loadtxt(a_file)),
    "method of a dictionary": lambda x: x * of_table("gain"),
    "a slot of a private name": lambda x: x * private.value(),
    "an attribute of a list": lambda x: x * longer.gain,
    "deque": lambda x: x * last_numbers[0],
}
a_file = ""
of_table = table.get
last_numbers = collections.deque([2.0])


class Private:
    __slots__ = ("__n",)

    def __init__(self):
        self.__n = 2.0

    def value(self):
        return self.__n

    def change(self):
        self.__n = 3.0


class Longer(list):
    gain = 2.0


private, longer = Private(), Longer()


def this_module():
    return sys.modules[__name__]


def by_exec():
    names = {"__builtins__": {}}
    exec("n = held", {"held": globals()["scale"]}, names)
    return names["n"]


def by_import():
    import os

    return float(os.environ["USMX_OF_A_TEST"])


@pytest.mark.parametrize("form", NAMED)
def test_what_a_name_in_a_text_means_is_asked_at_each_call(form, kept, tmp_path, monkeypatch):
    def write(value):
        (tmp_path / "number").write_text(str(value))
        monkeypatch.setenv("USMX_OF_A_TEST", str(value))
        table["gain"] = last_numbers[0] = value

    monkeypatch.setitem(globals(), "a_file", str(tmp_path / "number"))
    write(2.0)
    fused = usmx.fuse(NAMED[form])
    x = usmx.asarray([1.0])
    assert [fused(x).item(), fused(x).item()] == [2.0, 2.0]
    write(3.0)
    globals()["scale"] = Settings.gain = longer.gain = 3.0
    private.change()
    try:
        assert fused(x).item() == 3.0
    finally:
        private.__init__()
        longer.gain = 2.0


@dataclasses.dataclass(order=True, frozen=True)
class Frozen:
    n: float = 2.0


class Kind(enum.Enum):
    FIRST = 2.0


class Abstract(abc.ABC):
    n = 2.0

    @abc.abstractmethod
    def of(self): ...


class Concrete(Abstract):
    def of(self):
        return self.n


frozen, half, abstract = Frozen(), fractions.Fraction(4, 2), Concrete()
doubled = functools.lru_cache(twice)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sqrt(x * scale) + np.where(x > 1.0, x, 2.0) + np.maximum(x, np.float32(1)),
        lambda x: usmx.exp(x) + usmx.where(x > 0.0, x, 1.0) + usmx.special.erf(x),
        lambda x: x * max(1.0, min(2.0, len(weights), sum(weights), abs(-1), round(1.2))),
        lambda x: x * math.sin(math.pi) * sys.maxsize * np.finfo("f4").eps,
        lambda x: functools.reduce(operator.mul, [x] * 3),
        lambda x: x * float(half) * frozen.n * Kind.FIRST.value * abstract.n,
        lambda x: doubled(x) + point.of(x) + Point(2.0).x,
        lambda x: x if isinstance(x, Settings) else x * settings.doubled,
        lambda x: sum(x**k * w for k, w in enumerate(zip(weights, strict=True), 1) for w in w),
        lambda x: x * getattr(config.inner, "n", 1.0) if hasattr(config, "inner") else x,
        lambda x: x.astype("f4") * np.array([2.0])[0] if np.dtype("f4") else x,
    ],
)
def test_a_function_of_known_ones_is_traced_once(function):
    fused = usmx.fuse(function)
    x = usmx.asarray([1.0])
    fused(x)
    assert fused._generations[0].captured is not None
    made = fused._generations[0]
    fused(x)
    assert fused._generations == [made]
