# A str may hold what no other text can, a lone surrogate, and more than there is memory for. Every
# argument that is text says so; none crashes.
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np
import pytest

import usmx
import usmx.memory

BAD = "\ud800"
RECORD = usmx.zeros(2, [("x", "<f4"), ("n", "<i4")])
RAW = "USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }"

CALLS = {
    "dtype": lambda: usmx.zeros(3, dtype=BAD),
    "usm_type": lambda: usmx.zeros(3, usm_type=BAD),
    "order": lambda: usmx.zeros(3, order=BAD),
    "device": lambda: usmx.zeros(3, device=BAD),
    "queue": lambda: usmx.zeros(3, queue=BAD),
    "usm_type ": lambda: usmx.memory.UsmResource(BAD),
    "usm_type  ": lambda: usmx.memory.get_resource(kind=BAD),
    "dtype ": lambda: usmx.dtype(BAD),
    "source": lambda: usmx.Queue(BAD),
    "source ": lambda: usmx.Device(BAD),
    "source  ": lambda: usmx.Context(BAD),
    "partition": lambda: usmx.Device().create_sub_devices(BAD),
    "aspect": lambda: usmx.Device().has_aspect(BAD),
    "value": lambda: usmx.Device().can_access_peer(usmx.Device(), BAD),
    "key": lambda: RECORD[BAD],
    "key ": lambda: RECORD.flags[BAD],
    "source   ": lambda: usmx.RawKernel(BAD, "f"),
    "name": lambda: usmx.RawKernel(RAW, BAD),
    "options": lambda: usmx.RawKernel(RAW, "f", (BAD,)),
    "source    ": lambda: usmx.RawModule(BAD),
    "name ": lambda: usmx.RawModule(RAW).get_function(BAD),
    "in_params": lambda: usmx.ElementwiseKernel(BAD, "T y", "y = x"),
    "out_params": lambda: usmx.ElementwiseKernel("T x", BAD, "y = x"),
    "operation": lambda: usmx.ElementwiseKernel("T x", "T y", BAD),
    "name  ": lambda: usmx.ElementwiseKernel("T x", "T y", "y = x", BAD),
    "preamble": lambda: usmx.ElementwiseKernel("T x", "T y", "y = x", preamble=BAD),
    "options ": lambda: usmx.ElementwiseKernel("T x", "T y", "y = x", options=[BAD]),
    "map_expr": lambda: usmx.ReductionKernel("T x", "T y", BAD, "a + b", "y = a", "0"),
    "identity": lambda: usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", BAD),
    "scan_expr": lambda: usmx.ScanKernel("T x", "T y", "x", BAD),
    "usm_type   ": lambda: usmx.zeros(3).copy(usm_type=BAD),
    "order ": lambda: usmx.zeros(3).reshape(3, order=BAD),
    "buffer": lambda: usmx.ndarray(3, buffer=BAD),
    "format": lambda: format(usmx.zeros(3), BAD),
}


@pytest.mark.parametrize("argument", CALLS)
def test_a_lone_surrogate_is_a_value_error_that_names_the_argument(argument):
    name = "usm_type" if argument == "buffer" else argument.strip()
    with pytest.raises(ValueError, match=rf"^{name}(\[0\])?: '\\ud800' .*surrogate"):
        CALLS[argument]()


def test_a_type_equals_no_text_that_names_none():
    assert usmx.dtype("f4") != BAD
    assert (usmx.dtype("f4") == BAD) is False


@pytest.mark.parametrize("number", [2**80, -(2**80), -5])
def test_a_number_whose_text_is_a_lone_surrogate_is_refused(number):
    class Odd(int):
        def __repr__(self):
            return BAD

        __str__ = __repr__

    with pytest.raises(ValueError, match="nbytes"):
        usmx.memory.MemoryUSMShared(Odd(number))
    with pytest.raises(ValueError, match="memset"):
        usmx.memory.MemoryUSMShared(8).memset(Odd(number))
    kernel = usmx.RawKernel("USMX_KERNEL(1) f(int* x, unsigned char n) { x[0] = n; }", "f")
    with pytest.raises(ValueError, match="does not fit into"):
        kernel[1](usmx.zeros(1, "i4"), Odd(number))


def test_the_text_of_a_derived_str_is_its_own_and_not_what_str_says():
    class Text(str):
        __slots__ = ()

        def __str__(self):
            return "int64" * 1000

    assert usmx.zeros(3, dtype=Text("float32")).dtype == np.float32
    assert usmx.zeros(3, usm_type=Text("host")).usm_type == "host"
    assert usmx.zeros((2, 2), order=Text("F")).flags.f_contiguous


@pytest.mark.parametrize("options", ["-DN", b"-DN", 3, {"-DN"}, (b"-DN",), (3,)])
def test_options_are_a_sequence_of_text(options):
    with pytest.raises(TypeError, match="options"):
        usmx.RawKernel(RAW, "f", options)


@pytest.mark.parametrize(
    "call",
    [
        "usmx.RawKernel(text, 'f')",
        "usmx.RawModule(text)",
        "usmx.zeros(3, dtype=text)",
        "usmx.ElementwiseKernel('T x', 'T y', text)",
        "usmx.Device().has_aspect(text)",
    ],
)
def test_text_that_is_too_large_for_memory_is_a_memory_error(call, run_python):
    said = run_python(f"""
        import resource
        import usmx
        usmx.zeros(3)
        text = "x" * (400 << 20)
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * 4096 + (100 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            {call}
        except MemoryError:
            print("refused")
    """)
    assert said.stdout == "refused\n"


def test_surrogates_in_names_of_classes_do_no_harm():
    odd = type("Odd", (), {})
    odd.__qualname__ = BAD
    odd.__module__ = BAD
    with pytest.raises(TypeError, match="queue"):
        usmx.zeros(3, queue=odd())
    memory = type("M", (usmx.memory.MemoryUSMShared,), {})
    memory.__qualname__ = BAD
    assert "64 bytes" in repr(memory(64))
    assert sys.getrefcount(memory) > 0
