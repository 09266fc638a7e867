"""Wrong reductions are refused by name, before anything is compiled, and leave nothing behind."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

import usmx

TOTAL = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
DOT = usmx.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("", "T y", "x", "a + b", "y = a"),
            "in_params: .*expected at least one",
        ),
        (
            ("raw T x", "T y", "x[i]", "a + b", "y = a"),
            "in_params: .*expected at least one",
        ),
        (("T x", "", "x", "a + b", "y = a"), "out_params: is empty"),
        (("T x", "raw T y", "x", "a + b", "y = a"), "out_params: 'raw T y': .*cannot be raw"),
        (("T x", "T x", "x", "a + b", "x = a"), "out_params: 'T x': 'x' is the name of an input"),
        (
            ("T x", "T a", "x", "a + b", "a = a"),
            "out_params: 'T a': 'a' is one of",
        ),
        (("T x", "T y", " ", "a + b", "y = a"), "map_expr: is empty"),
        (("T x", "T y", "x", "", "y = a"), "reduce_expr: is empty"),
        (("T x", "T y", "x", "a + b", ""), "post_map_expr: is empty"),
        (
            ("T x", "T y", "x", "a + b", "y = a", 0, "my kernel"),
            "name: 'my kernel' is not a valid",
        ),
        (("int x", "T y", "x", "a + b", "y = a"), "in_params: parameter 0 'int x': "),
    ],
)
def test_what_is_wrong_with_a_kernel_is_said_by_name(arguments, words):
    with pytest.raises(ValueError, match=words):
        usmx.ReductionKernel(*arguments)


@pytest.mark.parametrize(
    ("arguments", "keywords", "words"),
    [
        ((1, "T y", "x", "a + b", "y = a"), {}, r"in_params: 1 \(int\); expected a str"),
        (("T x", "T y", 3, "a + b", "y = a"), {}, r"map_expr: 3 \(int\); expected a str"),
        (("T x", "T y", "x", "a + b", "y = a", []), {}, "identity: is of type list"),
        (("T x", "T y", "x", "a + b", "y = a"), {"options": "-O0"}, r"options: .-O0. \(str\)"),
        (("T x", "T y", "x", "a + b", "y = a"), {"reduce_type": 4}, r"reduce_type: 4 \(int\)"),
    ],
)
def test_a_wrong_type_is_said_by_name(arguments, keywords, words):
    with pytest.raises(TypeError, match=words):
        usmx.ReductionKernel(*arguments, **keywords)
    with pytest.raises(OverflowError, match=r"identity: .*64 bits"):
        usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 2**64)


X = usmx.ones((3, 4), "f4")
LOCKED = usmx.ones((3,), "f4")
LOCKED.flags.writeable = False
ELSEWHERE = usmx.Queue(usmx.Context([usmx.Device()]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (TOTAL, TypeError, "'total' takes 1 inputs, or 2 arguments.*got 0"),
        (lambda: TOTAL(X, X, X), TypeError, "'total' takes 1 inputs.*got 3"),
        (lambda: TOTAL([1.0] * 3), TypeError, r"input 'x' \(T x\): is of type .*expected USM"),
        (lambda: TOTAL("abc"), TypeError, r"input 'x' \(T x\): "),
        (lambda: TOTAL(None), TypeError, r"input 'x' \(T x\): "),
        (lambda: TOTAL(X, axis=2), ValueError, "axis: 2 is out of range for 2 dimensions"),
        (lambda: TOTAL(X, axis=-3), ValueError, "axis: -3 is out of range"),
        (lambda: TOTAL(X, axis=10**30), ValueError, "axis|int"),
        (lambda: TOTAL(X, axis=(0, -2)), ValueError, "axis: -2 is named twice"),
        (lambda: TOTAL(X, axis=1.0), TypeError, "axis: is of type float"),
        (lambda: TOTAL(X, axis=True), TypeError, "axis: is of type bool"),
        (lambda: TOTAL(X, axis=("0",)), TypeError, "axis: is of type str"),
        (
            lambda: TOTAL(X, axis=0, out=usmx.ones(3)),
            ValueError,
            r"has shape \(3,\), expected \(4,\)",
        ),
        (lambda: TOTAL(X, axis=0, out=[1.0] * 4), TypeError, r"output 'y' \(T y\): "),
        (lambda: TOTAL(X, axis=0, out=usmx.ones(4, "i4")), TypeError, "float32 is not cast to"),
        (lambda: TOTAL(X, axis=1, out=LOCKED), ValueError, "output 'y' .*read-only"),
        (lambda: TOTAL(X, X, out=X), TypeError, "out: 'total' was given its outputs already"),
        (lambda: TOTAL(X, out=(X, X)), ValueError, "out: a tuple of 2, expected 1"),
        (
            lambda: TOTAL(X, axis=1, out=usmx.broadcast_to(usmx.ones(1, "f4"), (3,))),
            ValueError,
            "share their memory|read-only",
        ),
        (lambda: DOT(X, usmx.ones(3, "f4")), ValueError, r"\(3, 4\) and \(3,\) do not broadcast"),
        (lambda: TOTAL(X, queue=ELSEWHERE), ValueError, "input 'x' .*another context"),
        (lambda: TOTAL(X, queue="nothing"), Exception, "nothing"),
        (lambda: TOTAL(X, depends_on=3), TypeError, "depends_on: "),
        (lambda: TOTAL(X, axes=0), TypeError, "incompatible|axes"),
        (
            lambda: DOT(usmx.ones(3, "u1"), 300),
            OverflowError,
            "300 does not fit into uint8",
        ),
        (
            lambda: usmx.ReductionKernel("T x", "T y", "x +", "a + b", "y = a")(X),
            usmx.BuildError,
            "expected",
        ),
        (
            lambda: usmx.ReductionKernel(
                "T x",
                "T y",
                "s{}",
                "a",
                "y = 0",
                reduce_type="s",
                preamble="struct s{char c[33];};",
            )(X),
            usmx.BuildError,
            "reduce_type: has more than 32 bytes",
        ),
    ],
)
def test_a_wrong_call_is_refused_and_leaves_nothing(call, error, words):
    with pytest.raises(error, match=words):
        call()
    assert float(TOTAL(X).to_numpy()) == 12


def test_a_wrong_identity_is_said_although_there_are_elements():
    k = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "nosuch", "no_identity")
    with pytest.raises(usmx.BuildError, match="nosuch"):
        k(X)
