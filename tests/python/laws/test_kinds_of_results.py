# The kind of memory of a result follows one rule for all functions of several arrays: device memory
# if an operand with dimensions is there, otherwise shared, otherwise host memory.
# SPDX-License-Identifier: Apache-2.0
import itertools
from functools import partial

import numpy as np
import pytest
from backend_row import needs

import usmx
from usmx._namespace._joint import JOINT

KINDS = ("device", "shared", "host")
FLOATS = np.array([0.0, 1.0, 2.0])
PLACES = np.array([0, 2, 1])

# Function -> its values, and the call; others are called with two arrays of floats.
CALLS = {
    "average": (FLOATS, FLOATS, lambda f, a, b: f(a, weights=b)),
    "bincount": (PLACES, FLOATS, lambda f, a, b: f(a, b)),
    "clip": (FLOATS, FLOATS, lambda f, a, b: f(a, b, None)),
    "column_stack": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "concat": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "concatenate": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "cross": (FLOATS, FLOATS, lambda f, a, b: f(a, b)),
    "diff": (FLOATS, FLOATS, lambda f, a, b: f(a, prepend=b)),
    "digitize": (FLOATS, FLOATS, lambda f, a, b: f(a, b)),
    "dstack": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "ediff1d": (FLOATS, FLOATS, lambda f, a, b: f(a, to_end=b)),
    "einsum": (FLOATS, FLOATS, lambda f, a, b: f("i,i->i", a, b)),
    "extract": (FLOATS, FLOATS, lambda f, a, b: f(a, b)),
    "histogram": (FLOATS, FLOATS, lambda f, a, b: f(a, 3, weights=b)[0]),
    "hstack": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "insert": (FLOATS, FLOATS, lambda f, a, b: f(a, [0, 1, 2], b)),
    "interp": (FLOATS, FLOATS, lambda f, a, b: f(a, b, FLOATS.tolist())),
    "ldexp": (FLOATS, PLACES, lambda f, a, b: f(a, b)),
    "lexsort": (FLOATS, FLOATS, lambda f, a, b: f((a, b))),
    "piecewise": (FLOATS, FLOATS, lambda f, a, b: f(a, [b > 1], [1.0, 0.0])),
    "repeat": (FLOATS, PLACES, lambda f, a, b: f(a, b)),
    "select": (FLOATS, FLOATS, lambda f, a, b: f([a > 1], [b])),
    "stack": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "take": (FLOATS, PLACES, lambda f, a, b: f(a, b)),
    "take_along_axis": (FLOATS, PLACES, lambda f, a, b: f(a, b, 0)),
    "tensordot": (FLOATS, FLOATS, lambda f, a, b: f(a, b, 0)),
    "trapezoid": (FLOATS, FLOATS, lambda f, a, b: f(a, b)),
    "vstack": (FLOATS, FLOATS, lambda f, a, b: f([a, b])),
    "percentile": (FLOATS, FLOATS, lambda f, a, b: f(a, b)),
    "quantile": (FLOATS, FLOATS / 2, lambda f, a, b: f(a, b)),
    "nanpercentile": (FLOATS, FLOATS, lambda f, a, b: f(a, b)),
    "nanquantile": (FLOATS, FLOATS / 2, lambda f, a, b: f(a, b)),
    "divmod": (FLOATS, FLOATS + 1, lambda f, a, b: f(a, b)[0]),
}
NAMES = sorted({*JOINT, "add", "arctan2", "maximum", "where", "compress"} - {"gradient"})
CALLS["where"] = (FLOATS, FLOATS, lambda f, a, b: f(a > 0, a, b))
CALLS["compress"] = (FLOATS, FLOATS, lambda f, a, b: f(a, b))
METHODS = {
    "x[places]": (FLOATS, PLACES, lambda a, b: a[b]),
    "x[mask]": (FLOATS, FLOATS > 0, lambda a, b: a[b]),
    "x @ y": (FLOATS.reshape(1, 3), FLOATS, lambda a, b: a @ b),
    "x.take": (FLOATS, PLACES, lambda a, b: a.take(b)),
    "x.searchsorted": (FLOATS, FLOATS, lambda a, b: a.searchsorted(b)),
    "x.dot": (FLOATS, FLOATS, lambda a, b: a.dot(b)),
    "linalg.solve": (np.eye(3), FLOATS, usmx.linalg.solve),
    "linalg.multi_dot": (np.eye(3), FLOATS, lambda a, b: usmx.linalg.multi_dot([a, b])),
    "linalg.outer": (FLOATS, FLOATS, usmx.linalg.outer),
    "NumPy's concatenate": (FLOATS, FLOATS, lambda a, b: np.concatenate([a, b])),
    "NumPy's take": (FLOATS, PLACES, np.take),
}


def cases():
    for name in NAMES:
        one, two, call = CALLS.get(name, (FLOATS, FLOATS, lambda f, a, b: f(a, b)))
        yield pytest.param(one, two, partial(call, getattr(usmx, name)), id=name)
    for name, (one, two, call) in METHODS.items():
        yield pytest.param(one, two, call, id=name)


@pytest.mark.parametrize(("one", "two", "call"), list(cases()))
def test_the_kind_of_a_result_is_that_of_the_rule_in_each_order(one, two, call):
    plain = call(usmx.asarray(one), usmx.asarray(two))
    for first, second in itertools.product(KINDS, repeat=2):
        made = call(usmx.asarray(one, usm_type=first), usmx.asarray(two, usm_type=second))
        assert made.usm_type == usmx.get_coerced_usm_type(first, second), (first, second)
        np.testing.assert_array_equal(made.to_numpy(), plain.to_numpy())


@pytest.mark.parametrize(("one", "two", "call"), list(cases()))
def test_the_default_kind_has_no_say_where_operands_are(one, two, call):
    for kind, default in (("device", "shared"), ("shared", "host"), ("host", "device")):
        with usmx.default_usm_type(default):
            made = call(usmx.asarray(one, usm_type=kind), usmx.asarray(two, usm_type=kind))
        assert made.usm_type == kind, default


# Functions of three operands in any order, of which one may be a number unless they join them.
THREE = {
    "where": usmx.where,
    "clip": usmx.clip,
    "select": lambda a, b, c: usmx.select([a > 0, b > 0], [b, c]),
    "einsum": partial(usmx.einsum, "...,...,...->..."),
    "vectorize": usmx.vectorize(lambda a, b, c: a + b + c),
    "fuse": usmx.fuse(lambda a, b, c: a + b * c),
    "ElementwiseKernel": usmx.ElementwiseKernel("T a, T b, T c", "T d", "d = a + b * c"),
    "triangular": lambda a, b, c: usmx.random.default_rng(1).triangular(
        a * 0 - 1, b * 0, c * 0 + 1
    ),
}
JOINING = {
    "concat": lambda *xs: usmx.concat(xs),
    "stack": lambda *xs: usmx.stack(xs),
    "a list": lambda *xs: usmx.asarray([list(xs), list(xs)]),
}
OPERANDS = {
    **{kind: partial(usmx.asarray, FLOATS, usm_type=kind) for kind in KINDS},
    "number": partial(usmx.asarray, 1.0, usm_type="device"),
    "NumPy": FLOATS.copy,
}


@pytest.mark.parametrize("name", [*THREE, *JOINING])
@needs("host_memory")
def test_the_kind_of_a_result_does_not_depend_on_the_order_of_three_operands(name):
    call = {**THREE, **JOINING}[name]
    for names in itertools.combinations(OPERANDS, 3):
        if name in JOINING and "number" in names:
            continue
        expected = usmx.get_coerced_usm_type(*[name for name in names if name in KINDS])
        for order in itertools.permutations(names):
            made = call(*[OPERANDS[name]() for name in order])
            assert made.usm_type == expected, order


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_an_operand_without_dimensions_has_no_say_next_to_others(kind, other):
    x = usmx.arange(6.0, usm_type=kind)
    number = usmx.asarray(1.0, usm_type=other)
    for made in (
        x + number,
        number * x,
        usmx.where(x > 1, x, number),
        usmx.maximum(number, x),
        x < number,
        usmx.clip(x, number, None),
    ):
        assert made.usm_type == kind
        assert made.shape == (6,)
    assert (number + usmx.asarray(1.0, usm_type="host")).usm_type == usmx.get_coerced_usm_type(
        other, "host"
    )
