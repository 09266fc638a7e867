"""What the casters of ``usmx/nanobind.hpp`` and ``usmx/pybind11.hpp`` promise, asked through a
probe extension.

The probe is built three times: as a neighbour that shares nanobind's state with usmx, apart from
it, as one that was built with another version of nanobind would be, and with pybind11.
"""
# SPDX-License-Identifier: Apache-2.0

import functools
import gc
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import dpctl
import dpctl.memory
import dpnp
import numpy as np
import pybind11
import pytest
from environments import once, run

import usmx
import usmx.memory

NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMBERS += ["float32", "float64", "complex64", "complex128"]


WITH = {
    "neighbour": (),
    "apart": ("-DPROBE_DOMAIN=usmx_probe",),
    "pybind11": ("-DPROBE_PYBIND11=ON", "-Dpybind11_DIR=" + pybind11.get_cmake_dir()),
}
Build = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Makes the probe of a name in ``WITH``, once."""

    @functools.cache
    def made(name: str) -> ModuleType:
        project = Path(__file__).parent / "probe"
        config = ("-Dusmx_DIR=" + usmx.get_cmake_dir(), "-DPython_EXECUTABLE=" + sys.executable)

        def make(place: Path) -> None:
            run("cmake", "-G", "Ninja", "-S", project, "-B", place, *config, *WITH[name])
            run("cmake", "--build", place)

        folder = once(tmp_path_factory, f"probe-{name}", make)
        (file,) = folder.glob("usmx_probe.*.so")
        spec = importlib.util.spec_from_file_location("usmx_probe", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return made


@pytest.fixture(scope="session", params=WITH)
def probe(request: pytest.FixtureRequest, build: Build) -> ModuleType:
    return build(request.param)


@pytest.fixture(scope="session", params=["neighbour", "apart"])
def nanobind_probe(request: pytest.FixtureRequest, build: Build) -> ModuleType:
    """For what only nanobind does, or does in its own way."""
    return build(request.param)


@pytest.fixture(scope="session")
def pybind11_probe(build: Build) -> ModuleType:
    return build("pybind11")


class Foreign:
    """An array of another library: counts how often its description is read."""

    def __init__(self, memory: Any, **changes: Any) -> None:
        self.memory = memory
        self.asked = 0
        given = dict(memory.__sycl_usm_array_interface__)
        given["data"] = (given["data"][0], False)
        self.suai = given | {"strides": None, "offset": 0} | changes

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        self.asked += 1
        return self.suai


def floats(count: int = 4, **changes: Any) -> Foreign:
    memory = dpctl.memory.MemoryUSMShared(4 * count)
    np.frombuffer(memory, np.float32)[:] = np.arange(count)
    return Foreign(memory, **({"shape": (count,), "typestr": "<f4"} | changes))


def shared(values: Any, dtype: str = "float32") -> usmx.ndarray:
    return usmx.asarray(np.asarray(values, dtype), usm_type="shared")


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("library", [shared, dpnp.array], ids=["usmx", "dpnp"])
def test_each_dtype_finds_its_overload(
    probe: ModuleType, dtype: str, library: Callable[..., Any]
) -> None:
    if library is dpnp.array:
        values = dpnp.array([1, 2, 3], dtype=dtype, usm_type="shared")
    else:
        values = shared([1, 2, 3], dtype)
    total = probe.sum(values)
    assert total == 6
    assert isinstance(total, complex) == dtype.startswith("complex")
    assert isinstance(total, float) == dtype.startswith("float")


def test_bool_is_a_dtype_of_its_own(probe: ModuleType) -> None:
    assert probe.count_true(shared([True, False, True], "bool")) == 2
    with pytest.raises(TypeError):
        probe.sum(shared([True], "bool"))
    with pytest.raises(TypeError):
        probe.count_true(shared([1], "uint8"))


def test_the_rank_picks_the_overload(probe: ModuleType) -> None:
    x = shared(np.zeros((2, 3, 4)))
    assert probe.rank(x) == 3
    assert probe.rank(x[0, 0]) == 1
    with pytest.raises(TypeError, match=r"ndim=3|3 dimensions"):
        probe.rank(x[0])


def test_every_parameter_sees_the_producers_own_bytes(probe: ModuleType) -> None:
    for x in (shared([1, 2]), dpnp.array([1, 2], dtype="float32"), floats()):
        address = x.__sycl_usm_array_interface__["data"][0]
        assert probe.address_of_view(x) == address
        assert probe.address_of_array(x) == address
        assert probe.address_of_typed(x) == address
        assert probe.cast(x) == address


def test_strides_and_offsets_arrive(probe: ModuleType) -> None:
    assert probe.sum(floats(6, shape=(3,), strides=(-2,), offset=5)) == 5 + 3 + 1
    assert probe.sum(dpnp.arange(10, dtype="float64", usm_type="host")[7:1:-3]) == 7 + 4


def test_memory_objects_are_arrays_of_bytes(probe: ModuleType) -> None:
    for memory in (dpctl.memory.MemoryUSMShared(4), usmx.memory.MemoryUSMShared(4)):
        memory.copy_from_host(b"\x01\x02\x03\x04")
        assert probe.sum(memory) == 10


@pytest.mark.parametrize("wrong", [1, 1.5, "text", None, [1.0], object()])
def test_objects_without_memory_are_a_type_error(probe: ModuleType, wrong: object) -> None:
    with pytest.raises(TypeError):
        probe.sum(wrong)


def test_memory_of_the_host_is_for_host_views_only(probe: ModuleType) -> None:
    host = np.array([1, 2, 3.5], np.float32)
    assert probe.sum(host) == 6.5
    assert probe.sum(host[::-2]) == 4.5
    assert probe.sum(memoryview(host)) == 6.5
    for takes_usm in (probe.address_of_view, probe.address_of_array, probe.address_of_typed):
        with pytest.raises(TypeError):
            takes_usm(host)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"shape": (5,)}, "data"),
        ({"shape": (-1,)}, "shape"),
        ({"shape": (2**62,)}, "shape"),
        ({"typestr": "<f3"}, "typestr"),
        ({"typestr": ">f4"}, "typestr"),
        ({"strides": (1, 1)}, "strides"),
        ({"offset": 1}, "data"),
        ({"version": 2}, "version"),
        ({"data": (1, False)}, "data"),
    ],
)
@pytest.mark.parametrize("function", ["sum", "address_of_array", "address_of_view"])
def test_malformed_memory_is_a_value_error_that_names_the_field(
    probe: ModuleType, function: str, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValueError, match=field) as caught:
        getattr(probe, function)(floats(4, **changes))
    assert type(caught.value) is usmx.InteropError


def test_what_a_producer_raises_passes_through(probe: ModuleType) -> None:
    class Broken:
        @property
        def __sycl_usm_array_interface__(self) -> dict[str, Any]:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        probe.sum(Broken())


def test_read_only_memory_is_read_and_not_written(probe: ModuleType) -> None:
    x = floats()
    x.suai["data"] = (x.suai["data"][0], True)
    assert probe.sum(x) == 6
    for function in (probe.write_view, probe.write_typed):
        with pytest.raises(ValueError, match="read-only"):
            function(x)


def test_device_memory_reaches_kernels_but_no_host_loop(probe: ModuleType) -> None:
    x = dpnp.ones(3, dtype="float32", usm_type="device")
    assert probe.address_of_view(x) != 0
    with pytest.raises(ValueError, match="'device', which the host cannot touch"):
        probe.sum(x)
    assert probe.sum(dpnp.ones(0, dtype="float32", usm_type="device")) == 0


def test_an_overloaded_function_asks_the_producer_once(nanobind_probe: ModuleType) -> None:
    x = floats()
    x.suai["typestr"] = "<i4"  # the fifth overload
    nanobind_probe.sum(x)
    assert x.asked == 1


def test_an_array_comes_back_as_ours_on_the_same_bytes(probe: ModuleType) -> None:
    for x in (shared([1, 2, 3]), floats(), dpnp.ones(3, dtype="float32")):
        y = probe.same(x)
        assert type(y) is usmx.ndarray
        here, there = (a.__sycl_usm_array_interface__["data"][0] for a in (y, x))
        assert here == there


def test_pairs_tuples_and_optionals_carry_arrays(probe: ModuleType) -> None:
    x, y = shared([1]), shared([2])
    assert [type(a) for a in probe.both(x)] == [usmx.ndarray] * 2
    swapped = probe.swap((x, y))
    assert [float(a.to_numpy()[0]) for a in swapped] == [2, 1]
    assert probe.optional_sum(None) == -1
    assert probe.optional_sum(floats()) == 6
    assert probe.optional_same(None) is None
    with pytest.raises(ValueError, match="shape"):
        probe.optional_sum(floats(4, shape=(-1,)))


def test_a_list_of_views_stays_alive_until_the_call_ends(probe: ModuleType) -> None:
    third = dpnp.ones(2, dtype="float32", usm_type="host")
    assert probe.sum_all([floats(), shared([1, 2]), third]) == 6 + 3 + 2
    with pytest.raises(ValueError, match="typestr"):  # a tuple is handed over as its items are
        probe.swap((floats(4, typestr="x"), shared([1])))


def test_a_malformed_item_of_a_list_is_refused(build: Build) -> None:
    wrong = floats(4, shape=(-1,))
    # With nanobind the reason cannot travel, but nothing else may go wrong.
    for name, error in (("neighbour", TypeError), ("pybind11", usmx.InteropError)):
        with pytest.raises(error, match=r"sum_all: \w+\[1\]: got|sum_all: argument 1|shape"):
            build(name).sum_all([floats(), wrong])


def test_pybind11_passes_reasons_on_from_casts_and_containers(pybind11_probe: ModuleType) -> None:
    wrong = floats(4, shape=(-1,))
    for call, given in (("cast", wrong), ("cast_all", [wrong]), ("either", wrong)):
        with pytest.raises(usmx.InteropError, match="shape"):
            getattr(pybind11_probe, call)(given)
    assert pybind11_probe.cast_all([floats(), shared([1])]) == 2
    assert pybind11_probe.either("text") == 1
    assert pybind11_probe.either(floats()) == 0


WITH_POLICIES = ["array", "view", "host_view", "typed", "optional"]


@pytest.mark.parametrize("parameter", WITH_POLICIES)
def test_call_policies_change_no_error(probe: ModuleType, parameter: str) -> None:
    wrong = floats(4, shape=(-1,))
    with pytest.raises(usmx.InteropError, match="shape"):
        getattr(probe, parameter + "_kept")(probe.Keeper(), wrong)
    with pytest.raises(usmx.InteropError, match="shape"):
        getattr(probe, parameter + "_guarded")(wrong)
    with pytest.raises(usmx.InteropError, match="shape"):
        getattr(probe, parameter + "_named")(x=wrong, n=2)


def test_keep_alive_refuses_what_is_read_only_and_what_names_no_queue(probe: ModuleType) -> None:
    x = floats()
    x.suai["data"] = (x.suai["data"][0], True)
    with pytest.raises(usmx.InteropError, match="read-only"):
        probe.writable_kept(probe.Keeper(), x)
    with pytest.raises(ValueError, match="nonsense"):
        probe.queue_kept(probe.Keeper(), "nonsense")


def test_keep_alive_keeps_and_still_picks_overloads_by_dtype(probe: ModuleType) -> None:
    keeper, x = probe.Keeper(), floats()
    before = sys.getrefcount(x)
    assert probe.dtype_kept(keeper, x) == "float32"
    assert probe.dtype_kept(keeper, shared([1], "float64")) == "float64"
    assert sys.getrefcount(x) > before
    del keeper
    gc.collect()
    assert sys.getrefcount(x) == before
    with pytest.raises(TypeError, match=r"incompatible function arguments|got an array of int8"):
        probe.dtype_kept(probe.Keeper(), shared([1], "int8"))


def test_a_malformed_object_is_asked_once_by_all_overloads(nanobind_probe: ModuleType) -> None:
    x = floats(4, shape=(-1,))
    with pytest.raises(usmx.InteropError, match="shape"):
        nanobind_probe.sum(x)
    assert x.asked == 1
    with pytest.raises(TypeError, match=r"array_named: .*got 'text' \(str\)"):
        nanobind_probe.array_named(x, "text")


def test_a_cast_in_cpp_raises_the_reason_and_an_attempt_leaves_none(
    nanobind_probe: ModuleType,
) -> None:
    wrong = floats(4, shape=(-1,))
    with pytest.raises(usmx.InteropError, match="shape"):
        nanobind_probe.cast(wrong)
    assert nanobind_probe.try_cast(wrong) is False  # an error left behind would be a SystemError
    assert nanobind_probe.try_cast(floats()) is True
    assert nanobind_probe.cast_all([floats(), shared([1])]) == 2
    with pytest.raises((TypeError, RuntimeError)):  # std::bad_cast, with and without usmx's words
        nanobind_probe.cast_all([wrong])
    assert nanobind_probe.either("text") == 1
    assert nanobind_probe.either(floats()) == 0
    with pytest.raises(TypeError, match=r"usmx_probe\.either: argument 1: got"):
        nanobind_probe.either(wrong)


IMPLICIT = """
import importlib.util, sys
import usmx

spec = importlib.util.spec_from_file_location("usmx_probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
x = usmx.ones(3, "float32", usm_type="shared")
assert probe.total_of(x) == 3

class Foreign:
    __sycl_usm_array_interface__ = x.__sycl_usm_array_interface__ | {"shape": (-1,)}

try:
    probe.total_of(Foreign())
except TypeError as e:
    assert "total_of: argument 1: got" in str(e), e
    print("refused")
"""


def test_an_implicit_conversion_of_a_malformed_object_is_a_type_error(
    nanobind_probe: ModuleType,
) -> None:
    done = subprocess.run(
        (sys.executable, "-c", IMPLICIT, nanobind_probe.__file__),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "refused\n"


def test_a_queue_is_whatever_names_one(probe: ModuleType) -> None:
    queue = usmx.Queue("cpu")
    assert probe.same_queue(queue) == queue
    assert probe.same_queue(None) == usmx.default_queue()
    ours = probe.same_queue(dpctl.SyclQueue("cpu"))
    assert type(ours) is usmx.Queue
    with pytest.raises(ValueError, match="nonsense"):
        probe.same_queue("nonsense")
    with pytest.raises(TypeError, match="queue"):
        probe.same_queue(5)


def test_exceptions_of_the_library_keep_their_class(probe: ModuleType) -> None:
    with pytest.raises(usmx.InteropError, match="thrown on purpose"):
        probe.throw_interop()
    with pytest.raises(usmx.AllocationError, match=r"\d"):
        probe.allocate(None, 2**60)


def test_errors_of_usmx_itself_stay_whole_beside_other_extensions(probe: ModuleType) -> None:
    assert probe  # its translators are asked before those of usmx
    with pytest.raises(usmx.BuildError) as raised:
        usmx.RawKernel("USMX_KERNEL(1) f(int* p) {\n  p[0] = nothing;\n}", "f").compile()
    assert "2 |   p[0] = nothing;" in raised.value.log


def test_an_array_that_cpp_keeps_holds_its_producer(probe: ModuleType) -> None:
    x = floats()
    before = sys.getrefcount(x)
    probe.keep(x)
    assert sys.getrefcount(x) == before + 1
    probe.drop()
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize("make", [lambda: shared([1, 2]), floats], ids=["own", "foreign"])
def test_ten_thousand_calls_change_no_reference_count(
    probe: ModuleType, make: Callable[[], Any]
) -> None:
    x = make()
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(10_000):
        probe.sum(x)
        probe.same(x)
        probe.optional_sum(x)
    assert sys.getrefcount(x) == before


def test_ten_thousand_refusals_change_no_reference_count(probe: ModuleType) -> None:
    x = floats(4, shape=(5,))
    before = sys.getrefcount(x), sys.getrefcount(x.memory), len(gc.get_objects())
    for _ in range(10_000):
        with pytest.raises(ValueError, match="data"):
            probe.sum(x)
    gc.collect()
    after = sys.getrefcount(x), sys.getrefcount(x.memory), len(gc.get_objects())
    assert after[:2] == before[:2]
    assert after[2] < before[2] + 1000


def test_eight_threads_may_call_at_once(probe: ModuleType) -> None:
    x, y = shared([1, 2, 3]), floats()
    wrong = []

    def work() -> None:
        for _ in range(500):
            if probe.sum(x) != 6 or probe.sum(y) != 6 or type(probe.same(y)) is not usmx.ndarray:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_signatures_say_dtype_and_rank(probe: ModuleType) -> None:
    assert "dict(dtype='float32', ndim=1, writable=True)" in probe.write_view.__doc__
    assert "-> usmx.ndarray" in probe.same.__doc__


# --- calls that do not fit, of a submodule that calls explain_calls

EXPLAINED = "usmx_probe.explained."
OF_FLOATS = "an array of float32 with 1 dimension"
#: What is called, with what -> the line without the name of the module.
WRONG_CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (
        lambda p: p.scale(shared([1]), facter=2),
        "scale: got an unexpected argument 'facter'; did you mean 'factor'?",
    ),
    (lambda p: p.scale(shared([1])), "scale: missing the argument 'factor'"),
    (lambda p: p.scale(shared([1]), "two"), "scale: factor: got 'two' (str); expected float"),
    (lambda p: p.scale(shared([1]), None), "scale: factor: got None; expected float"),
    (
        lambda p: p.scale(shared([1], "int32"), 2),
        "scale: x: got an array of int32 with 1 dimension (ndarray); expected " + OF_FLOATS,
    ),
    (lambda p: p.scale("abc", 2), "scale: x: got 'abc' (str); expected " + OF_FLOATS),
    (
        lambda p: p.largest(shared([1], "int32")),
        f"largest: x: got an array of int32 with 1 dimension (ndarray); expected {OF_FLOATS} or "
        "an array of float64 with 1 dimension",
    ),
    (
        lambda p: p.maybe(shared([1])),
        f"maybe: x: got {OF_FLOATS} (ndarray); expected an array of float32 with 2 dimensions or "
        "None",
    ),
    (lambda p: p.repeat(300), "repeat: times: got 300 (int), which is out of range"),
    (lambda p: p.repeat(1 << 100), "repeat: times: got an int of 101 bits, which is out of range"),
    (lambda p: p.repeat("x" * 50), f"repeat: times: got '{'x' * 36}... (str); expected int"),
    (lambda p: p.names("abc"), "names: names: got 'abc' (str); expected sequence of str"),
    (lambda p: p.names(["a", 3]), "names: names[1]: got 3 (int); expected str"),
    (lambda p: p.names(["a"], sorted=1), "names: sorted: got 1 (int); expected bool"),
    (
        lambda p: p.names(["a"], True),
        "names: takes 1 argument by place, got 2; by name: 'sorted'",
    ),
    (lambda p: p.unnamed("a", "b"), "unnamed: argument 1: got 'a' (str); expected int"),
    (lambda p: p.unnamed(3), "unnamed: takes 2 arguments by place, got 1"),
    (lambda p: p.nothing(3), "nothing: takes no arguments by place, got 1"),
    (
        lambda p: p.nothing(a=3),
        "nothing: got an unexpected argument 'a'; it takes no other by name",
    ),
    (lambda p: p.unbound(3, 4), "unbound: of: got 3 (int); expected unbound"),
    (lambda p: p.either(3.5), "either: x: got 3.5 (float); expected int or str"),
    (lambda p: p.by_count("a"), "by_count: first: got 'a' (str); expected int"),
    (lambda p: p.by_count(1, 2), "by_count: second: got 2 (int); expected str"),
    (
        lambda p: p.by_count(1, secnd="a"),
        "by_count: got an unexpected argument 'secnd'; did you mean 'second'?",
    ),
    (
        lambda p: p.by_count(1, first=2),
        "by_count: got the argument 'first' by place and by name",
    ),
    (lambda p: p.itself(p.itself), "itself: takes 1 argument by place, got 3"),
    (lambda p: p.itself(p.nothing), "nothing: takes no arguments by place, got 3"),
    (lambda p: p.Picture(), "Picture: missing the argument 'width'"),
    (
        lambda p: p.Picture(widht=3),
        "Picture: got an unexpected argument 'widht'; did you mean 'width'?",
    ),
    (lambda p: type("Own", (p.Picture,), {})("a"), "Picture: width: got 'a' (str); expected int"),
    (lambda p: setattr(p.Picture(3), "width", "a"), "Picture.width: got 'a' (str); expected int"),
    (
        lambda p: p.Picture(3).crop(lft=3),
        "Picture.crop: got an unexpected argument 'lft'; did you mean 'left'?",
    ),
    (lambda p: p.Picture(3).crop(1, 2, 3), "Picture.crop: takes 1 to 2 arguments by place, got 3"),
    (lambda p: p.Picture.crop(), "Picture.crop: missing the argument 'left'"),
    (
        lambda p: p.Picture.blank(sise=3),
        "Picture.blank: got an unexpected argument 'sise'; did you mean 'size'?",
    ),
]


@pytest.mark.parametrize(
    ("call", "line"), [pytest.param(*row, id=row[1].split(";")[0]) for row in WRONG_CALLS]
)
def test_a_wrong_call_of_an_extension_is_told_in_one_line(
    nanobind_probe: ModuleType, call: Callable[[Any], Any], line: str
) -> None:
    with pytest.raises(TypeError) as caught:
        call(nanobind_probe.explained)
    assert str(caught.value) == EXPLAINED + line


def refuse(*_: object) -> None:
    raise TypeError("\ud800")


def test_what_is_no_wrong_call_stays_as_it_is(nanobind_probe: ModuleType) -> None:
    explained = nanobind_probe.explained
    explained.any(3, b=2)
    explained.by_count(1, second="a")
    with pytest.raises(TypeError, match=r"^raises\(\): of its own$"):
        explained.raises()
    with pytest.raises(TypeError, match="\ud800"):  # has no UTF-8
        explained.itself(refuse)
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = explained.Picture(3) + 3
    with pytest.raises(usmx.InteropError, match="shape"):
        explained.scale(floats(4, shape=(-1,)), 2)
    with pytest.raises(TypeError, match=r"usmx_probe\.rank: "):  # by NB_MODULE
        nanobind_probe.rank()
