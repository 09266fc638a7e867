# Memory of the host as an argument of every tier of kernels: used in place where the device can,
# complete when the call returns, refused by the argument's name where the device cannot.
# SPDX-License-Identifier: Apache-2.0
import array as std_array
import ctypes
import gc
import mmap
import os
import re
import subprocess
import sys
import threading
import weakref

import lab
import numpy as np
import pytest
from backend_row import needs
from gate import Gate

import usmx

RAW = usmx.RawKernel(
    "USMX_KERNEL(1) raw(const int* x, int* y) { y[usmx::global_id()] = 2 * x[usmx::global_id()]; }",
    "raw",
)
VIEWS = usmx.RawKernel(
    "USMX_KERNEL(1) views(usmx::strided<const int, 1> x, usmx::strided<int, 1> y) {"
    " y[usmx::global_id()] = 2 * x[usmx::global_id()]; }",
    "views",
)
EACH = usmx.ElementwiseKernel("int32 x", "int32 y", "y = 2 * x")
SUMS = usmx.ScanKernel("int32 x", "int32 y", "2 * x", "a + b")
TOTAL = usmx.ReductionKernel("int32 x", "int32 y", "2 * x", "a + b", "y = a", "0")


@usmx.kernel
def doubled(item, x, y):
    i = item.get_id(0)
    y[i] = 2 * x[i]


@usmx.fuse
def fused(x, y):
    y[...] = 2 * x


# What each tier is called with, and what it computes.
TIERS = {
    "RawKernel": (RAW[16], lambda x: 2 * x),
    "RawKernel with views": (VIEWS[16], lambda x: 2 * x),
    "usmx.kernel": (doubled[16], lambda x: 2 * x),
    "ElementwiseKernel": (lambda x, y: EACH(x, out=y), lambda x: 2 * x),
    "fuse": (fused, lambda x: 2 * x),
    "ReductionKernel": (lambda x, y: TOTAL(x, keepdims=True, out=y), lambda x: 2 * x.sum()),
    "ScanKernel": (lambda x, y: SUMS(x, out=y), lambda x: 2 * np.cumsum(x)),
}
tiers = pytest.mark.parametrize("tier", TIERS)


class OnlyDlpack:
    """A producer that has DLPack and no buffer, as a tensor on the CPU."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __dlpack__(self, **keywords):
        return self.numbers.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.numbers.__dlpack_device__()


def mapped(numbers, tmp_path):
    file = tmp_path / f"numbers{id(numbers)}"
    file.write_bytes(numbers.tobytes())
    with file.open("r+b") as opened:
        return memoryview(mmap.mmap(opened.fileno(), 0)).cast("i")


FORMS = {
    "NumPy": lambda a, _: a.copy(),
    "bytearray": lambda a, _: memoryview(bytearray(a.tobytes())).cast("i"),
    "array.array": lambda a, _: std_array.array("i", a.tolist()),
    "memoryview": lambda a, _: memoryview(a.copy()),
    "mmap": mapped,
    "ctypes": lambda a, _: (ctypes.c_int * a.size)(*a.tolist()),
    "DLPack": lambda a, _: OnlyDlpack(a.copy()),
    "NumPy's view of USM": lambda a, _: np.asarray(usmx.asarray(a, usm_type="shared")),
}


def seen(form):
    return form.numbers if isinstance(form, OnlyDlpack) else np.asarray(form)


def operands(tier, wrap=lambda a: a):
    """Sixteen numbers, room for the results, and what those have to be."""
    numbers = np.arange(16, dtype="int32")
    out = np.full(1 if tier == "ReductionKernel" else 16, -1, "int32")
    right = TIERS[tier][1](numbers)
    return wrap(numbers), wrap(out), np.atleast_1d(right).tolist()


@pytest.mark.parametrize("form", FORMS)
@tiers
@needs("host_memory")
def test_memory_of_the_host_is_used_in_place_and_complete_at_once(tier, form, tmp_path):
    x, y, right = operands(tier, lambda a: FORMS[form](a, tmp_path))
    with usmx.trace() as record:
        TIERS[tier][0](x, y)
    assert not record.copies
    assert seen(y).tolist() == right


@tiers
@needs("host_memory")
def test_it_mixes_with_usm_on_the_queue_of_that(tier):
    queue = usmx.Queue(in_order=True)
    x, y, right = operands(tier)
    y = usmx.asarray(y, usm_type="shared", queue=queue)
    TIERS[tier][0](x, y)  # compiled
    usmx.fill(y, -1)
    with Gate(usmx.default_queue()):  # where nothing runs now
        TIERS[tier][0](x, y)
        assert np.asarray(y).tolist() == right


@tiers
@needs("host_memory")
def test_the_call_returns_after_its_command(tier):
    x, y, right = operands(tier)
    TIERS[tier][0](x, y)  # compiled
    y[...] = -1
    returned = threading.Event()

    def run():
        TIERS[tier][0](x, y)
        returned.set()

    with Gate(usmx.default_queue()) as gate:
        thread = threading.Thread(target=run)
        thread.start()
        assert not returned.wait(0.1)
        gate.open()
        thread.join(60)
    assert returned.is_set()
    assert y.tolist() == right


@tiers
@needs("host_memory")
def test_an_input_alone_makes_the_call_wait_too(tier):
    """Otherwise the program could write it while the kernel still reads."""
    x, y, right = operands(tier)
    y = usmx.asarray(y)
    for _ in range(50):
        given = x.copy()
        TIERS[tier][0](given, y)
        given[...] = -1
        assert y.to_numpy().tolist() == right


@tiers
@needs("host_memory")
def test_a_read_only_output_is_refused_by_its_name(tier):
    x, y, _ = operands(tier)
    y.flags.writeable = False
    names = {"RawKernel": "int[*] y", "RawKernel with views": "usmx::strided<int, 1> y"}
    names["usmx.kernel"] = r"y\[i\] = 2"
    with pytest.raises((ValueError, TypeError), match="read-only") as raised:
        TIERS[tier][0](x, y)
    assert re.search(names.get(tier, "'y'"), str(raised.value))
    assert set(y.tolist()) == {-1}


@tiers
@needs("host_memory")
def test_read_only_inputs_are_read(tier):
    x, y, right = operands(tier)
    x.flags.writeable = False
    TIERS[tier][0](x, y)
    assert y.tolist() == right


@tiers
@needs("host_memory")
def test_nothing_is_kept_after_the_call(tier):
    x, y, _ = operands(tier)
    TIERS[tier][0](x, y)
    gone = weakref.ref(x), weakref.ref(y)
    del x, y
    gc.collect()
    usmx._usmx._Testing.collect()
    assert [one() for one in gone] == [None, None]


@needs("host_memory")
def test_strides_of_numpy_are_followed():
    numbers = np.arange(64, dtype="int32").reshape(8, 8)
    x, y = numbers.copy()[::2, ::-1], np.zeros((8, 4), "int32").T
    EACH(x, out=y)
    assert (y == 2 * x).all()
    doubled[4](x[:, 0], y[:, 1])
    assert y[:, 1].tolist() == (2 * x[:, 0]).tolist()
    with pytest.raises(ValueError, match=r"argument 0 .*is strided"):
        RAW[4](x[:, 0], np.zeros(4, "int32"))


@needs("host_memory")
def test_results_of_host_memory_are_host_memory():
    y = EACH(np.arange(4, dtype="int32"))
    assert y.usm_type == "host"
    assert np.asarray(y).tolist() == [0, 2, 4, 6]
    add = usmx.ElementwiseKernel("T a, T b", "T c", "c = a + b")
    a = np.ones(4, "int32")
    assert add(a, usmx.ones(4, "int32", usm_type="shared")).usm_type == "shared"
    assert add(a, usmx.ones(4, "int32", usm_type="device")).usm_type == "device"


def test_numbers_of_numpy_stay_numbers():
    scale = usmx.ElementwiseKernel("T x, T a", "T y", "y = a * x")
    x = usmx.ones(4, "float32")
    for number in (np.float32(3), np.array(3, "float32"), np.array([3], "float32")[0]):
        assert scale(x, number).to_numpy().tolist() == [3] * 4
    by_value = usmx.RawKernel(
        "USMX_KERNEL(1) f(float* x, float a) { x[usmx::global_id()] = a; }", "f"
    )
    by_value[4](x, np.array(5, "float32")).wait()
    assert x.to_numpy().tolist() == [5] * 4
    of_a_bool = usmx.RawKernel("USMX_KERNEL(1) f(float* x, bool b) { x[0] = b ? 2 : 3; }", "f")
    for truth, wanted in ((True, 2), (False, 3)):
        of_a_bool[1](x, np.array(truth)).wait()
        assert x.to_numpy()[0] == wanted
    of_an_int = usmx.RawKernel("USMX_KERNEL(1) f(float* x, int n) { x[0] = n; }", "f")
    for number in (np.bool_(True), np.array(True), np.float32(1), np.array(1.0)):
        with pytest.raises(TypeError, match=r"argument 1 .*expected an integer for int32"):
            of_an_int[1](x, number)

    @usmx.kernel
    def set_all(item, x, a):
        x[item.get_id(0)] = a

    for number in (np.float32(7), np.array(7, "float32")):
        set_all[4](x, number).wait()
        assert x.to_numpy().tolist() == [7] * 4


@needs("host_memory")
def test_records_of_numpy_and_bytes_stay_structures():
    source = (
        "struct pair { int a; float b; };"
        "USMX_KERNEL(1) f(float* x, pair p) { x[usmx::global_id()] = p.a + p.b; }"
    )
    k = usmx.RawKernel(source, "f")
    record = np.array((1, 2.5), np.dtype([("a", "i4"), ("b", "f4")], align=True))
    x = np.zeros(4, "float32")
    for given in (record, record[()], record.tobytes()):
        x[...] = 0
        k[4](x, given)
        assert x.tolist() == [3.5] * 4


@needs("host_memory")
def test_a_typed_array_is_not_taken_for_bytes():
    with pytest.raises(TypeError, match=r"argument 0 .*has elements of uint8; expected int32"):
        RAW[4](np.zeros(16, "uint8"), np.zeros(4, "int32"))
    y = np.zeros(4, "int32")
    RAW[4](bytearray(np.arange(4, dtype="int32").tobytes()), y)
    assert y.tolist() == [0, 2, 4, 6]


UNUSABLE = {
    "byte-swapped": np.zeros(16, ">i4"),
    "dates": np.zeros(16, "M8[s]"),
    "objects": np.array([None] * 16),
    "misaligned": np.frombuffer(bytearray(65), "i4", 16, 1),
    "list": [1] * 16,
    "text": "1" * 16,
    "dictionary": {1: 2},
}
NAMES = {"RawKernel": "argument 0 of kernel 'raw'", "RawKernel with views": "argument 0 of kernel"}
NAMES |= {"usmx.kernel": r"argument 0 \('x'\) of kernel 'doubled'", "fuse": "argument 'x' of fused"}


@pytest.mark.parametrize("what", UNUSABLE)
@pytest.mark.parametrize("tier", [t for t in TIERS if t != "fuse"])
def test_what_cannot_be_used_in_place_is_refused_by_name_with_the_remedy(tier, what):
    y = usmx.zeros(1 if tier == "ReductionKernel" else 16, "int32")
    name = NAMES.get(tier, "input 'x'")
    with pytest.raises(TypeError, match=rf"{name}.*: is of type \w+[,;].*usmx\.asarray\(x\)"):
        TIERS[tier][0](UNUSABLE[what], y)


REFUSED = """
import numpy as np, usmx
assert not usmx.Device().has_aspect("usm_system_allocations")
raw = usmx.RawKernel("USMX_KERNEL(1) raw(const int* x) {}", "raw")
each = usmx.ElementwiseKernel("T x", "T y", "y = x", "each")
total = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
sums = usmx.ScanKernel("T x", "T y", "x", "a + b")
fused = usmx.fuse(lambda x: x + 1)
@usmx.kernel
def python(item, x): x[0] = 1
x = np.zeros(4, "int32")
y = usmx.zeros(4, "int32")
calls = [lambda a: raw[4](a), lambda a: python[4](a), each, total, sums, fused,
         lambda a: each(y, out=a)]
for given in (x, bytearray(16), [1, 2]):
    for call in calls:
        try:
            call(given)
        except TypeError as error:
            print(error)
        else:
            raise AssertionError("was taken")
try:
    usmx.asarray(x, copy=False)
except ValueError as error:
    print(error)
assert usmx.asarray(x).to_numpy().tolist() == [0] * 4
assert usmx.from_dlpack(x).to_numpy().tolist() == [0] * 4
"""


def test_a_device_without_it_names_the_argument_and_the_remedy():
    done = subprocess.run(
        [sys.executable, "-c", REFUSED],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | lab.simulated("abort", "usm-only"),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 22
    for line in lines[:21]:
        assert re.match(r"(argument|input|output) .*: is of type \w+[,;] .*usmx.asarray", line)
    for line in lines[:14]:
        assert "in memory of the host, which kernels on opencl:cpu:0 cannot use" in line
    assert "copy=False" in lines[21]
