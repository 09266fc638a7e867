"""Kernels read globals, closure variables and attributes: a launch sees what they are then, as
Python and the simulator do, and what was compiled before is used again."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import fractions
import gc
import sys
import types
import weakref

import numpy as np
import pytest

import usmx

number = 5.0
pair = (1.0, 2.0)
rank_0 = np.array(3.0)
size = 4
config = types.SimpleNamespace(n=2.0)
module = types.ModuleType("settings_of_test")
module.n = 2.0


class Settings:
    gain = 3.0


class Fixed:
    __slots__ = ("n",)


slotted = Fixed()
slotted.n = 2.0


def twice(v):
    return v * 2.0


def helper(v):
    return twice(v)


def scaled(v, by=2.0, *, more=1.0):
    return v * by + more


@usmx.kernel
def of_global(item, a):
    a[item.get_id(0)] = number


@usmx.kernel
def of_pair(item, a):
    a[item.get_id(0)] = pair[1]


@usmx.kernel
def of_rank_0(item, a):
    a[item.get_id(0)] = rank_0


@usmx.kernel
def of_attributes(item, a):
    a[item.get_id(0)] = Settings.gain + config.n * 10.0 + module.n * 100.0 + slotted.n * 1000.0


@usmx.kernel
def of_helper(item, a):
    a[item.get_id(0)] = helper(1.0)


@usmx.kernel
def of_defaults(item, a):
    a[item.get_id(0)] = scaled(1.0)


@usmx.kernel
def of_builtin(item, a):
    a[item.get_id(0)] = abs(-1.0)


@usmx.kernel
def of_size(item, a):
    tile = usmx.private.array(size, usmx.float64)
    a[item.get_id(0)] = len(tile)


@usmx.kernel
def of_name(item, a):
    a[item.get_id(0)] = getattr(config, word)


word = "n"


def launched(kernel):
    """What a kernel writes, which the simulator writes too."""
    a = usmx.zeros(1)
    kernel[1](a).wait()
    with usmx.simulate():
        b = usmx.zeros(1)
        kernel[1](b).wait()
    assert a.tolist() == b.tolist()
    return a.tolist()[0]


def test_a_changed_global_is_seen_and_changed_back_nothing_is_made(monkeypatch):
    assert launched(of_global) == 5.0
    monkeypatch.setitem(globals(), "number", 7.0)
    assert launched(of_global) == 7.0
    texts = of_global._count
    for value in (5.0, 7.0, 5.0):
        monkeypatch.setitem(globals(), "number", value)
        assert launched(of_global) == value
    monkeypatch.setitem(globals(), "number", float("7"))  # another object
    assert launched(of_global) == 7.0
    assert of_global._count == texts


@pytest.mark.parametrize("value", [5, True, np.float32(5.0), np.float64(5.0)])
def test_an_equal_number_of_another_type_is_another_value(monkeypatch, value):
    assert launched(of_global) == 5.0
    texts = of_global._count
    monkeypatch.setitem(globals(), "number", value)
    assert launched(of_global) == float(value)
    assert of_global._count == texts + 1


def test_minus_zero_and_nan_are_values_of_their_own(monkeypatch):
    monkeypatch.setitem(globals(), "number", 0.0)
    assert np.copysign(1.0, launched(of_global)) == 1.0
    monkeypatch.setitem(globals(), "number", -0.0)
    assert np.copysign(1.0, launched(of_global)) == -1.0
    monkeypatch.setitem(globals(), "number", float("nan"))
    a = usmx.zeros(1)
    of_global[1](a).wait()
    assert np.isnan(a.tolist()[0])


def test_a_changed_tuple_is_seen(monkeypatch):
    assert launched(of_pair) == 2.0
    monkeypatch.setitem(globals(), "pair", (1.0, 4.0))
    assert launched(of_pair) == 4.0


def test_a_changed_array_of_rank_0_is_seen():
    assert launched(of_rank_0) == 3.0
    rank_0[...] = 4.0
    assert launched(of_rank_0) == 4.0
    rank_0[...] = 3.0
    assert launched(of_rank_0) == 3.0


@pytest.mark.parametrize(
    ("of", "name", "new"),
    [(Settings, "gain", 4.0), (config, "n", 3.0), (module, "n", 3.0), (slotted, "n", 3.0)],
)
def test_a_changed_attribute_is_seen(monkeypatch, of, name, new):
    before = launched(of_attributes)
    assert before == 2223.0
    monkeypatch.setattr(of, name, new)
    place = [Settings, config, module, slotted].index(of)
    assert launched(of_attributes) == before + (1.0, 10.0, 100.0, 1000.0)[place]
    monkeypatch.undo()
    assert launched(of_attributes) == before


def test_an_object_of_the_same_attributes_is_seen(monkeypatch):
    launched(of_attributes)
    monkeypatch.setitem(globals(), "config", types.SimpleNamespace(n=5.0))
    assert launched(of_attributes) == 2253.0


def test_the_name_of_an_attribute_may_change(monkeypatch):
    monkeypatch.setattr(config, "m", 9.0, raising=False)
    assert launched(of_name) == 2.0
    monkeypatch.setitem(globals(), "word", "m")
    assert launched(of_name) == 9.0


def test_a_redefined_helper_and_a_helper_of_it_are_seen(monkeypatch):
    assert launched(of_helper) == 2.0

    def twice(v):
        return v * 20.0

    monkeypatch.setitem(globals(), "twice", twice)
    assert launched(of_helper) == 20.0

    def helper(v):
        return v * 3.0

    monkeypatch.setitem(globals(), "helper", helper)
    assert launched(of_helper) == 3.0
    monkeypatch.undo()
    assert launched(of_helper) == 2.0


def test_a_device_function_in_place_of_a_function_is_seen(monkeypatch):
    assert launched(of_helper) == 2.0

    @usmx.device_func
    def helper(v):
        return twice(v) + 1.0

    monkeypatch.setitem(globals(), "helper", helper)
    assert launched(of_helper) == 3.0
    monkeypatch.setitem(globals(), "twice", lambda v: v * 4.0)
    assert launched(of_helper) == 5.0


def test_replaced_code_and_defaults_are_seen(monkeypatch):
    assert launched(of_defaults) == 3.0
    monkeypatch.setattr(scaled, "__defaults__", (5.0,))
    assert launched(of_defaults) == 6.0
    monkeypatch.setattr(scaled, "__kwdefaults__", {"more": 2.0})
    assert launched(of_defaults) == 7.0
    scaled.__kwdefaults__["more"] = 3.0
    assert launched(of_defaults) == 8.0
    monkeypatch.undo()

    def other(v, by=2.0, *, more=1.0):
        return v * by - more

    monkeypatch.setattr(scaled, "__code__", other.__code__)
    assert launched(of_defaults) == 1.0


def test_a_global_that_hides_a_builtin_is_seen(monkeypatch):
    assert launched(of_builtin) == 1.0
    monkeypatch.setitem(globals(), "abs", twice)
    assert launched(of_builtin) == -2.0
    monkeypatch.undo()
    assert launched(of_builtin) == 1.0


def test_a_size_of_memory_may_change(monkeypatch):
    assert launched(of_size) == 4.0
    monkeypatch.setitem(globals(), "size", 6)
    assert launched(of_size) == 6.0


def test_closure_variables_of_a_kernel_and_of_its_helper_may_change():
    level, step = 1.0, 10.0

    def inner(v):
        return v + step

    @usmx.kernel
    def k(item, a):
        a[item.get_id(0)] = inner(level)

    assert launched(k) == 11.0
    level = 2.0
    assert launched(k) == 12.0
    step = 20.0
    assert launched(k) == 22.0
    level, step = 1.0, 10.0
    assert launched(k) == 11.0
    assert k._count == 3


def test_a_name_that_is_deleted_is_the_error_of_a_first_launch(monkeypatch):
    assert launched(of_global) == 5.0
    monkeypatch.delitem(globals(), "number")
    with pytest.raises(usmx.KernelError, match="'number' is not defined"):
        of_global[1](usmx.zeros(1))
    monkeypatch.undo()
    assert launched(of_global) == 5.0


def test_the_dimension_that_a_global_names_may_change(monkeypatch):
    axis = 0

    @usmx.kernel
    def k(item, a):
        a[item.get_id(axis)] = 1.0

    assert k._rank == 1
    axis = 1
    assert k._rank == 2
    axis = 0
    assert k._rank == 1


def test_a_kernel_that_is_loaded_from_disk_sees_changes(monkeypatch, tmp_path):
    path = tmp_path / "kept_of_test.py"
    path.write_text(
        "import usmx\nn = 1.0\ndef helper(v):\n    return v + n\n"
        "def k(item, a):\n    a[item.get_id(0)] = helper(0.0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import kept_of_test

    for _ in range(2):  # the second kernel finds the texts of the first
        k = usmx.kernel(kept_of_test.k)
        for value in (1.0, 2.0, 1.0):
            monkeypatch.setattr(kept_of_test, "n", value)
            assert launched(k) == value
        assert k._count == 2
    del sys.modules["kept_of_test"]


def test_annotations_that_are_text_may_change():
    names = {"usmx": usmx, "T": usmx.float32, "__name__": __name__}
    text = "def k(item, a, x: T):\n    a[item.get_id(0)] = x * 1.0\n"
    exec(text, names)
    k = usmx.kernel(names["k"])
    a = usmx.zeros(1, dtype="float32")
    assert "float x" in k.source(a, 1.5)
    k[1](a, 1.5).wait()
    names["T"] = usmx.float64
    k[1](a, 1.5).wait()
    assert k._count == 2


def test_kernels_that_are_among_the_globals_that_they_read_are_collected():
    def make():
        @usmx.kernel
        def k(item, a):
            a[item.get_id(0)] = level

        level = types.SimpleNamespace(kernel=k, n=1.0)
        level = 1.0
        k[1](usmx.zeros(1)).wait()
        assert k._count == 1
        return weakref.ref(k), k.python.__closure__

    alive, closure = make()
    del closure
    gc.collect()
    assert alive() is None


def test_only_so_many_values_are_remembered():
    level = 0

    @usmx.kernel
    def k(item, a):
        a[item.get_id(0)] = level * 0

    a = usmx.zeros(1)
    for level in range(40):  # noqa: B007 - the kernel reads it
        k[1](a).wait()
    assert k._count == 32


def test_the_same_holds_for_kernels_whose_texts_are_on_disk(run_python, tmp_path):
    # What a kept text depends on is read by other code than a compiled one's.
    once = f"""
        import pytest
        raise SystemExit(pytest.main(
            ["-q", "-p", "no:cacheprovider", "-n", "0", "-k", "not on_disk", {__file__!r}]))
        """
    for _ in range(2):
        run_python(once, env={"USMX_TEST_CACHE_DIR": str(tmp_path), "PYTEST_XDIST_WORKER": None})


class Scaling:
    offset = 1.0

    def __init__(self, by):
        self.by = by

    def of(self, v, more=0.0):
        return v * self.by + more

    def twice(self, v):
        return self.of(self.of(v), more=self.offset)

    @classmethod
    def moved(cls, v):
        return v + cls.offset

    def keep(self, v):
        self.by = v
        return v


@dataclasses.dataclass
class Compared:
    by: float

    def of(self, v):
        return v * self.by


class Anything:
    def __getattr__(self, name):
        return 3.0


scaling, compared, anything = Scaling(3.0), Compared(4.0), Anything()
bound = Scaling(5.0).of


@usmx.kernel
def of_methods(item, a):
    a[0] = scaling.of(2.0)
    a[1] = scaling.twice(2.0)
    a[2] = scaling.moved(2.0)
    a[3] = compared.of(2.0)
    a[4] = bound(2.0, more=1.0)


def test_a_bound_method_is_called_with_its_object():
    a = usmx.zeros(5)
    of_methods[1](a).wait()
    assert a.tolist() == [6.0, 19.0, 3.0, 8.0, 11.0]
    scaling.by, Scaling.offset = 1.0, 2.0
    try:
        of_methods[1](a).wait()
        assert a.tolist() == [2.0, 4.0, 4.0, 8.0, 11.0]
        with usmx.simulate():
            of_methods[1](a)
        assert a.tolist() == [2.0, 4.0, 4.0, 8.0, 11.0]
    finally:
        scaling.by, Scaling.offset = 3.0, 1.0


def test_a_bound_method_that_changes_its_object_is_refused():
    @usmx.kernel
    def kernel(item, a):
        a[0] = scaling.keep(2.0)

    with pytest.raises(usmx.KernelError, match="only variables, elements and fields"):
        kernel[1](usmx.zeros(1))


def test_a_bound_method_of_a_library_is_refused():
    half = fractions.Fraction(1, 2)

    @usmx.kernel
    def kernel(item, a):
        a[0] = half.limit_denominator(10)

    with pytest.raises(usmx.KernelError, match="is a bound method of a library"):
        kernel[1](usmx.zeros(1))


def test_an_object_that_has_each_name_gives_numbers_and_is_no_function():
    @usmx.kernel
    def kernel(item, a):
        a[0] = anything.gain

    @usmx.kernel
    def calling(item, a):
        a[0] = anything(1.0)

    a = usmx.zeros(1)
    kernel[1](a).wait()
    assert a.item() == 3.0
    with pytest.raises(usmx.KernelError, match="'anything' is not supported"):
        calling[1](a)
