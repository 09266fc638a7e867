# Structs as arguments of kernels from text: every field arrives, packed or padded on the way, and
# all others are refused with the name of the field.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import re

import numpy as np
import pytest
from backend_row import needs

import usmx
from usmx import _usmx

SOURCE = """
struct vec { float x, y, z; };
struct params {
  int8_t tag;          // seven bytes of padding follow
  double scale;
  uint16_t count[3];
  vec origin[2];
  bool on;
};
USMX_KERNEL(1) f(params p, double* out) {
  out[0] = p.tag;
  out[1] = p.scale;
  for (int k = 0; k < 3; ++k) out[2 + k] = p.count[k];
  for (int k = 0; k < 2; ++k) {
    out[5 + 3 * k] = p.origin[k].x;
    out[6 + 3 * k] = p.origin[k].y;
    out[7 + 3 * k] = p.origin[k].z;
  }
  out[11] = p.on;
}
"""
VEC = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")], align=True)
PARAMS = [("tag", "i1"), ("scale", "f8"), ("count", "u2", 3), ("origin", VEC, 2), ("on", "?")]
VALUES = (-3, 0.1, (1, 2, 65535), [(1, 2, 3), (4, 5, 6)], True)
EXPECTED = [-3, 0.1, 1, 2, 65535, 1, 2, 3, 4, 5, 6, 1]
ALIGNED = np.dtype(PARAMS, align=True)


class Vec(ctypes.Structure):
    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float), ("z", ctypes.c_float))


class Params(ctypes.Structure):
    _fields_ = (
        ("tag", ctypes.c_int8),
        ("scale", ctypes.c_double),
        ("count", ctypes.c_uint16 * 3),
        ("origin", Vec * 2),
        ("on", ctypes.c_bool),
    )


FORMS = {
    "packed record": np.array(VALUES, PARAMS)[()],
    "padded record": np.array(VALUES, ALIGNED)[()],
    "array of no dimension": np.array(VALUES, PARAMS),
    "one of an array": np.array([VALUES] * 3, ALIGNED)[1],
    "structure": Params(
        -3, 0.1, (ctypes.c_uint16 * 3)(1, 2, 65535), (Vec * 2)(Vec(1, 2, 3), Vec(4, 5, 6)), True
    ),
    "bytes": np.array(VALUES, ALIGNED).tobytes(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_field_arrives(form):
    out = usmx.zeros(12, dtype="f8")
    usmx.RawKernel(SOURCE, "f")[1](FORMS[form], out).wait()
    assert out.to_numpy().tolist() == EXPECTED


TYPES = {
    "bool": "?",
    "char": "i1",
    "unsigned char": "u1",
    "short": "i2",
    "uint16_t": "u2",
    "int": "i4",
    "unsigned": "u4",
    "long long": "i8",
    "uint64_t": "u8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
    "usmx::complex<float>": "c8",
    "usmx::complex<double>": "c16",
}


@pytest.mark.parametrize("written", TYPES)
def test_fields_of_every_type_arrive(written):
    kernel = usmx.RawKernel(
        f"struct one {{ char before; {written} value; }};\n"
        f"USMX_KERNEL(1) f(const one& o, {written}* out) {{ out[0] = o.value; }}",
        "f",
    )
    out = usmx.zeros(1, dtype=TYPES[written])
    kernel[1](np.array((1, 1), [("before", "i1"), ("value", TYPES[written])]), out).wait()
    assert out.to_numpy().tolist() == [1]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 16, 1023, 1024])
def test_structs_of_every_size_arrive_to_their_last_byte(size):
    kernel = usmx.RawKernel(
        f"namespace n {{ struct block {{ uint8_t b[{size}]; }};\n"
        "USMX_KERNEL(1) f(block x, uint8_t* out) {\n"
        "  out[usmx::global_id()] = x.b[usmx::global_id()]; } }",
        "f",
    )
    out = usmx.zeros(size, dtype="u1")
    data = np.random.default_rng(size).integers(0, 256, size, "u1").tobytes()
    kernel[size](data, out).wait()
    assert out.to_numpy().tobytes() == data


def test_views_numbers_and_structs_go_together():
    kernel = usmx.RawKernel(
        """
        struct line { float slope, offset; };
        using alias = line;
        USMX_KERNEL(1) f(usmx::strided<float, 1> x, alias first, int n, line second, float* y) {
          auto i = usmx::global_id();
          y[i] = first.slope * x[i] + first.offset + n * (second.slope * x[i] + second.offset);
        }
        """,
        "f",
    )
    line = np.dtype([("slope", "f4"), ("offset", "f4")])
    x = usmx.arange(8, dtype="f4")
    y = usmx.zeros(4, dtype="f4")
    kernel[4](x[::-2], np.array((1, 2), line), 10, np.array((3, 4), line), y).wait()
    expected = np.arange(8.0)[::-2]
    assert y.to_numpy().tolist() == (expected + 2 + 10 * (3 * expected + 4)).tolist()


def test_other_values_are_the_same_program():
    source = "struct s { int a; };\nUSMX_KERNEL(1) f(s p, int* out) { out[0] += p.a; } // once"
    kernel, out = usmx.RawKernel(source, "f"), usmx.zeros(1, dtype="i4")
    kernel[1](np.array((1,), [("a", "i4")]), out).wait()
    before = _usmx._ProgramStore.counts()
    for value in range(5):
        kernel[1](np.array((value,), [("a", "i4")]), out).wait()
        kernel[1](value.to_bytes(4, "little"), out).wait()
    assert _usmx._ProgramStore.counts() == before
    assert int(out[0]) == 21


# --- what is refused ------------------------------------------------------------------------------

PAIR = "struct pair { int n; float m[2]; };"


def record(*fields):
    return np.zeros((), [*fields])


class Bits(ctypes.Structure):
    _fields_ = (("n", ctypes.c_int, 3), ("m", ctypes.c_float * 2))


WRONG = [
    (record(("n", "i4")), TypeError, "has 1 fields, expected 2"),
    (record(("n", "i4"), ("k", "f4", 2)), TypeError, "field 1 is 'k', expected 'm'"),
    (record(("m", "f4", 2), ("n", "i4")), TypeError, "field 0 is 'm', expected 'n'"),
    (record(("n", "i8"), ("m", "f4", 2)), TypeError, "field 'n': has type <i8, expected <i4"),
    (record(("n", ">i4"), ("m", "f4", 2)), TypeError, "field 'n': has type >i4, expected <i4"),
    (record(("n", "i4"), ("m", "f4")), TypeError, "field 'm': has type <f4, expected <f4(2,)"),
    (record(("n", "i4"), ("m", "f4", 3)), TypeError, "has type <f4(3,), expected <f4(2,)"),
    (np.zeros(1, [("n", "i4"), ("m", "f4", 2)]), TypeError, "expected one NumPy record"),
    (Params(), TypeError, "has 5 fields, expected 2"),
    (b"123", ValueError, "has 3 bytes, expected 12"),
    (bytes(13), ValueError, "has 13 bytes, expected 12"),
    (np.void(bytes(12)), TypeError, "is of type void, expected one NumPy record"),
    (3, TypeError, "is of type int, expected one NumPy record, a ctypes.Structure or 12 bytes"),
    ((1, 2), TypeError, "is of type tuple"),
    (None, TypeError, "is of type NoneType"),
    (usmx.zeros(3, dtype="f4"), TypeError, "is USM; expected a scalar"),
]


@pytest.mark.parametrize(
    ("given", "error", "message"), WRONG, ids=[f"{n}-{row[2]}" for n, row in enumerate(WRONG)]
)
def test_what_is_no_such_struct_is_refused(given, error, message):
    kernel = usmx.RawKernel(PAIR + "\nUSMX_KERNEL(1) f(float* x, pair p) {}", "f")
    with pytest.raises(error, match=re.escape(message)) as caught:
        kernel[1](usmx.zeros(1, dtype="f4"), given)
    assert "argument 1 of kernel 'f' (pair p)" in str(caught.value)


def test_bit_fields_of_ctypes_are_refused():
    kernel = usmx.RawKernel(PAIR + "\nUSMX_KERNEL(1) f(pair p) {}", "f")
    with pytest.raises(TypeError):
        kernel[1](Bits())


def test_a_dtype_that_lies_reads_nothing_beyond_its_buffer():
    class Liar(bytearray):
        dtype = np.dtype([("n", "i4"), ("m", "f4", 2)])
        shape = ()

    kernel = usmx.RawKernel(PAIR + "\nUSMX_KERNEL(1) f(pair p) {}", "f")
    with pytest.raises(TypeError, match="field 'm': is not in its buffer"):
        kernel[1](Liar(8))


def test_a_nested_field_is_named_with_its_way():
    wrong = np.zeros(
        (), [*PARAMS[:3], ("origin", [("x", "f4"), ("y", "f4"), ("w", "f4")], 2), PARAMS[4]]
    )
    with pytest.raises(TypeError, match="field 'origin': field 2 is 'w', expected 'z'"):
        usmx.RawKernel(SOURCE, "f")[1](wrong, usmx.zeros(12, dtype="f8"))


NOT_READ = {
    "a pointer": "struct s { int n; float* p; };",
    "a bit field": "struct s { int n : 3; };",
    "a function": "struct s { int n; int f() const { return n; } };",
    "a base": "struct b { int m; }; struct s : b { int n; };",
    "an alignment": "struct alignas(16) s { int n; };",
    "a directive": "struct s {\n#ifdef X\nint k;\n#endif\nint n; };",
    "an attribute": "struct [[gnu::packed]] s { char c; int n; };",
    "a static member": "struct s { static int k; int n; };",
}


@pytest.mark.parametrize("what", NOT_READ)
@needs("structs")
def test_a_struct_that_cannot_be_read_takes_nothing(what):
    kernel = usmx.RawKernel(NOT_READ[what] + "\nUSMX_KERNEL(1) f(s p) {}", "f")
    with pytest.raises(TypeError, match="the source does not show the type of this parameter"):
        kernel[1](np.array((1,), [("n", "i4")]))
    with pytest.raises(TypeError):
        kernel[1](bytes(4))


def test_a_layout_that_the_text_hides_does_not_compile():
    kernel = usmx.RawKernel(
        "#pragma pack(push, 1)\nstruct s { char c; int n; };\n#pragma pack(pop)\n"
        "USMX_KERNEL(1) f(s p) {}",
        "f",
    )
    with pytest.raises(usmx.BuildError, match="the layout of s could not be read"):
        kernel[1](np.array((1, 2), [("c", "i1"), ("n", "i4")]))


def test_a_large_struct_is_refused():
    kernel = usmx.RawKernel("struct s { char c[1025]; };\nUSMX_KERNEL(1) f(s p) {}", "f")
    with pytest.raises(
        ValueError, match="has 1025 bytes; at most 1024 are supported, so pass an array"
    ):
        kernel[1](bytes(1025))
