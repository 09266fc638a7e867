# Complex numbers as arguments of kernels from text: every number of Python and NumPy arrives, and
# what is none, or does not fit, is refused by the parameter's name.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx

SOURCE = """
using c8 = usmx::complex<float>;
USMX_KERNEL(1) narrow(int before, c8 a, const usmx::complex<float>& b, c8* out, float after) {
  out[0] = a;
  out[1] = b;
  out[2] = a * b;
  out[3] = c8(before, after);
}
USMX_KERNEL(1) wide(usmx::complex<double> a, usmx::strided<usmx::complex<double>, 1> out) {
  out(usmx::global_id()) = a;
}
struct waves { usmx::complex<float> first; double width; };
USMX_KERNEL(1) of_struct(waves w, usmx::complex<double> a, usmx::complex<float>* out) {
  out[0] = w.first;
  out[1] = usmx::complex<float>(w.width, a.im);
}
"""


@pytest.mark.parametrize("number", [2 + 3j, 2, 2.5, True, np.complex64(2 - 1j), np.float32(2.5)])
def test_complex_numbers_arrive_whole_among_other_arguments(number):
    out = usmx.zeros(4, dtype="complex64")
    usmx.RawKernel(SOURCE, "narrow")[1](7, number, number, out, 0.5).wait()
    a = np.complex64(number)
    np.testing.assert_array_equal(out.to_numpy(), [a, a, a * a, 7 + 0.5j])


@pytest.mark.parametrize(
    "number", [1e300 - 0.1j, complex(-0.0, float("inf")), np.complex128(0.1 + 0.2j), 1 << 60]
)
def test_complex_numbers_of_double_precision_keep_every_bit(number):
    out = usmx.zeros(4, dtype="complex128")
    usmx.RawKernel(SOURCE, "wide")[2](number, out[::2]).wait()
    want = np.complex128(number)
    assert out.to_numpy()[[0, 2]].tobytes() == np.array([want, want]).tobytes()


def test_structs_have_complex_members():
    out = usmx.zeros(2, dtype="complex64")
    waves = np.dtype([("first", "c8"), ("width", "f8")])
    usmx.RawKernel(SOURCE, "of_struct")[1](np.array((1 + 2j, 3), waves), 4j, out).wait()
    np.testing.assert_array_equal(out.to_numpy(), [1 + 2j, 3 + 4j])


@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (1e39, ValueError, r"argument 1 of kernel 'narrow' \(c8 a\): 1e\+39 does not fit into"),
        (complex(0, -1e39), ValueError, "does not fit into complex64"),
        (10**400, ValueError, "does not fit into complex64"),
        ("1j", TypeError, "is of type str, expected a number for complex64"),
        (None, TypeError, "is of type NoneType, expected a number for complex64"),
        (np.ones(1, "c8"), TypeError, r"argument 1 of kernel 'narrow' \(c8 a\)"),
    ],
)
def test_what_is_no_complex_number_of_the_type_is_refused(number, error, message):
    out = usmx.zeros(4, dtype="complex64")
    with pytest.raises(error, match=message):
        usmx.RawKernel(SOURCE, "narrow")[1](7, number, 1, out, 0.5)
