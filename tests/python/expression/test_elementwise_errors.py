# What an elementwise kernel cannot compute is an error that names the parameter, what it held and
# what was expected.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx
from usmx import ElementwiseKernel

ADD = ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")


def usm(array):
    return usmx.asarray(array, usm_type="shared")


X = np.arange(6, dtype="f4")
BAD_CALLS = {
    "no argument": (
        lambda k, x: k(),
        TypeError,
        "takes 2 inputs, or 3 arguments with the outputs; got 0",
    ),
    "too many": (lambda k, x: k(x, x, x, x), TypeError, "got 4"),
    "text": (lambda k, x: k(x, "1"), TypeError, "input 'y' (T y): is of type str"),
    "None": (lambda k, x: k(None, x), TypeError, "input 'x' (T x): is of type NoneType"),
    "list": (lambda k, x: k(x, [1, 2]), TypeError, "input 'y' (T y): is of type list"),
    "text array": (lambda k, x: k(x, np.array(["a"])), TypeError, "'y' (T y): is of type ndarray"),
    "record": (
        lambda k, x: k(x, usmx.zeros(6, dtype=np.dtype([("a", "f4")]))),
        TypeError,
        "input 'y' (T y): has elements of record32, expected numbers",
    ),
    "too large": (
        lambda k, x: k(usmx.ones(6, dtype="u1"), 256),
        OverflowError,
        "256 does not fit into uint8",
    ),
    "far too large": (lambda k, x: k(x, 1 << 70), OverflowError, "more than 64 bits"),
    "shapes": (lambda k, x: k(x, x[:4]), ValueError, "shapes (6,) and (4,) do not broadcast"),
    "shape of out": (
        lambda k, x: k(x, x, out=usmx.empty(5, dtype="f4")),
        ValueError,
        "output 'z' (T z): has shape (5,), expected (6,)",
    ),
    "out is too small": (
        lambda k, x: k(x, x, out=usmx.empty((), dtype="f4")),
        ValueError,
        "has shape (), expected (6,)",
    ),
    "out is a number": (lambda k, x: k(x, x, out=1), TypeError, "output 'z' (T z): is of type int"),
    "out is a list": (
        lambda k, x: k(x, x, out=[0]),
        TypeError,
        "output 'z' (T z): is of type list",
    ),
    "out twice": (lambda k, x: k(x, x, x, out=x), TypeError, "was given its outputs already"),
    "out too long": (lambda k, x: k(x, x, out=(x, x)), ValueError, "a tuple of 2, expected 1"),
    "out repeats": (
        lambda k, x: k(x, x, out=usmx.broadcast_to(x[:1], (6,))),
        ValueError,
        "output 'z' (T z): is read-only",
    ),
    "size": (
        lambda k, x: k(x, x, size=6),
        ValueError,
        "it is allowed only if all input arrays are raw",
    ),
    "keyword": (lambda k, x: k(x, x, where=x), TypeError, "has no argument 'where'"),
    "queue": (lambda k, x: k(x, x, queue=3), TypeError, "queue"),
    "depends_on": (lambda k, x: k(x, x, depends_on=3), TypeError, "depends_on"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_calls(case):
    call, error, text = BAD_CALLS[case]
    with pytest.raises(error) as raised:
        call(ADD, usm(X))
    assert text in str(raised.value)


BAD_KERNELS = {
    "type": (
        ("float33 x", "T z", "z = x"),
        ValueError,
        "in_params: parameter 0 'float33 x': 'float33' is no",
    ),
    "no output": (("T x", "", "x"), ValueError, "out_params: is empty"),
    "same name": (
        ("T x", "T x", "x = 1"),
        ValueError,
        "out_params: 'T x': 'x' is the name of an input",
    ),
    "name": (("T x", "T z", "z = x", "a-b"), ValueError, "name: 'a-b'"),
    "not text": (("T x", 3, "z = x"), TypeError, "out_params: 3 (int); expected a str"),
}


@pytest.mark.parametrize("case", BAD_KERNELS)
def test_bad_kernels(case):
    args, error, text = BAD_KERNELS[case]
    with pytest.raises(error) as raised:
        ElementwiseKernel(*args)
    assert text in str(raised.value)
    with pytest.raises(TypeError, match="options"):
        ElementwiseKernel("T x", "T z", "z = x", options="-DN=1")


def test_an_expression_that_does_not_compile_says_where():
    k = ElementwiseKernel("T x", "T z", "z = x + nothing")
    with pytest.raises(usmx.BuildError, match="nothing") as raised:
        k(usm(X))
    assert "z = x + nothing" in raised.value.log


SCALE = "T scaled(T x) {\n  return x * by;\n}"


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (
            lambda: ElementwiseKernel("T x", "T z", "T a = x;\n  z = a + nothing"),
            "operation:2:11: error: use of undeclared identifier 'nothing'\n    z = a + nothing\n",
        ),
        (
            lambda: ElementwiseKernel("T x", "T z", "z = x +"),
            "operation:1:8: error: expected expression\n  z = x +\n         ^\n",
        ),
        (
            lambda: ElementwiseKernel("T x", "T z", "z = k", loop_prep="T k = y;"),
            "loop_prep:1:7: error: use of undeclared identifier 'y'\n  T k = y;\n        ^\n",
        ),
        (
            lambda: ElementwiseKernel("T x", "T z", "z = x", preamble=SCALE.replace("T", "float")),
            "preamble:2:14: error: use of undeclared identifier 'by'\n    return x * by;\n",
        ),
        (
            lambda: usmx.ReductionKernel("T x", "T y", "x * q // q", "a + b", "y = a"),
            "map_expr:1:5: error: use of undeclared identifier 'q'\n  x * q // q\n      ^\n",
        ),
        (
            lambda: usmx.ReductionKernel("T x", "T y", "x", "a + c", "y = a"),
            "reduce_expr:1:5: error: use of undeclared identifier 'c'\n  a + c\n      ^\n",
        ),
        (
            lambda: usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = z"),
            "post_map_expr:1:5: error: use of undeclared identifier 'z'\n  y = z\n      ^\n",
        ),
        (
            lambda: usmx.ScanKernel("T x", "T y", "x", "join(a, b)"),
            "scan_expr:1:1: error: use of undeclared identifier 'join'\n  join(a, b)\n  ^\n",
        ),
    ],
)
def test_messages_are_about_the_argument(kernel, said):
    k = kernel()
    with pytest.raises(usmx.BuildError) as raised:
        k(usm(X))
    first, _, rest = str(raised.value).partition("\n")
    assert first == "the expression could not be compiled: " + said.split("\n")[0]
    assert rest.startswith(said)
    assert "usmx_" not in str(raised.value)
    assert "in the text generated for it:\nsource:" in raised.value.log


def test_outputs_that_share_memory_are_refused():
    k = ElementwiseKernel("T x", "T a, T b", "a = x; b = x")
    out = usmx.zeros(8, dtype="f4")
    with pytest.raises(ValueError, match=r"output 'b' .* shares memory with output 'a'"):
        k(usm(X), out[:6], out[2:])


def test_a_placeholder_that_nothing_names_needs_an_output():
    k = ElementwiseKernel("T x", "U z", "z = U(x)")
    with pytest.raises(TypeError, match="no input says what type U is"):
        k(usm(X))
    out = usmx.empty(6, dtype="i2")
    k(usm(X), out)
    np.testing.assert_array_equal(out.to_numpy(), X.astype("i2"))


def test_an_output_whose_elements_overlap_is_refused():
    base = usmx.zeros(6, dtype="f4")

    class Windows:
        __sycl_usm_array_interface__ = base.__sycl_usm_array_interface__ | {
            "shape": (3, 4),
            "strides": (1, 1),
        }

    windows = usmx.asarray(Windows(), copy=False)
    k = ElementwiseKernel("T x", "T z", "z = x")
    with pytest.raises(
        ValueError, match=r"output 'z' .* several of its elements share their memory"
    ):
        k(usmx.ones((3, 4), dtype="f4"), windows)
    np.testing.assert_array_equal(k(windows).to_numpy(), np.zeros((3, 4)))
