"""Vectors and matrices in kernels: the same values on the device, in the simulator and in Python,
where their classes compute with NumPy's numbers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import copy
import math
import pickle

import numpy as np
import pytest
from language_run import DTYPES, Together, expected, given

import usmx

vec2, vec3, vec4 = (usmx.vec(n, usmx.float32) for n in (2, 3, 4))
mat3 = usmx.mat(3, 3, usmx.float32)
UP = vec3(0, 1, 0.5)
both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
PROGRAMS = {}
TOGETHER = Together(PROGRAMS)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mode(simulated):
    return usmx.simulate() if simulated else contextlib.nullcontext()


def packed(v):
    """One number that each component changes."""
    return v.x + v[1] * 3 + v[-1] * 7


def reflected(v, n):
    return v - 2 * v.dot(n) * n, n


@program
def components_and_indices(x, m, i):
    v = usmx.vec(4, x.dtype)(x[i], x[0], m[i, 1], 3)
    return v.x + v.y * 2 + v.z * 3 + v.w * 5 + v[0] + v[-1] + v[i % 4] + len(v)


@program
def operators_work_component_by_component(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    w = usmx.vec(3, x.dtype)(m[i, 1], x[i], 1)
    return packed(v + w) + packed(v * w) + packed(w - v) + packed(+v)


@program
def operators_with_numbers_on_both_sides(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    return packed(v * 2 + 1) + packed(2 * v) + packed(7 - v) + packed(v / 2) + packed(6 // v)


@program
def types_are_promoted_as_those_of_numbers(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    return packed(v * 0.5) + packed(usmx.vec(3, usmx.int32)(i, 1, 2) + v)


@program
def small_integers_wrap_around(x, m, i):
    v = usmx.vec(2, usmx.int8)(100 + i, 7)
    w = v * v
    return w.x * 3 + w.y + (v + v).x


@program
def remainders_and_powers(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    return packed(v**2) + packed(v % 3) + packed(v // 2)


@program
def dot_and_cross_products(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    w = usmx.vec(3, x.dtype)(1, x[i], x[0])
    return v.dot(w) + packed(v.cross(w)) + (v + 1).dot(v.cross(w))


@program
def vectors_go_through_functions(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    a, b = reflected(v, usmx.vec(3, x.dtype)(1, 0, 2))
    return packed(a) + packed(b)


@program
def vectors_compare_as_a_whole(x, m, i):
    v = usmx.vec(2, x.dtype)(x[i], 2)
    w = usmx.vec(2, x.dtype)(2, x[i])
    return (1 if v == w else 0) + (2 if v != w else 0) + (4 if v == v * 1 else 0)


@program
def vectors_are_chosen_and_unpacked(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    w = v if x[i] > 2 else v + 1
    a, b, c = w
    s = a + b * 2 + c * 3
    for one in w:
        s += one
    return s + sum(w) + max(w)


@program
def vectors_are_made_of_one_number_and_of_others(x, m, i):
    kind = usmx.vec(3, x.dtype)
    other = kind(usmx.vec(3, usmx.int16)(i, 1, 2))
    return packed(kind(x[i])) + packed(kind()) + packed(kind((1, x[i], 2))) + packed(other)


@program
def a_vector_changes_in_a_loop(x, m, i):
    v = usmx.vec(3, x.dtype)(x[i], 2, 3)
    w = v
    for k in range(i):
        w = w + v * k
        v += w
        v -= 1
    return packed(w) + packed(v)


@program
def matrices_are_indexed(x, m, i):
    t = usmx.mat(2, 3, x.dtype)(x[i], 1, 2, 3, m[i, 1], 5)
    k = i % 2
    return t[0, 0] + t[1, -1] * 2 + t[k, i % 3] * 3 + t[k][1] * 5 + packed(t[1]) + len(t)


@program
def matrices_multiply(x, m, i):
    t = usmx.mat(2, 3, x.dtype)(x[i], 1, 2, 3, 1, 5)
    v = usmx.vec(3, x.dtype)(1, x[0], 2)
    left, right = (t @ v), (usmx.vec(2, x.dtype)(2, 1) @ t)
    square = t @ t.transpose()
    return left.x + left.y * 3 + packed(right) + square[0, 1] + square[1, 0] * 2 + square[0, 0]


@program
def matrices_add_and_scale(x, m, i):
    v = usmx.vec(2, x.dtype)(x[i], 2)
    t = usmx.mat(2, 2, x.dtype)(v, v + 1)
    s = t * 2 + t - usmx.mat(2, 2, x.dtype)(1, 0, 0, 1)
    return s[0, 0] + s[0, 1] * 3 + s[1, 0] * 5 + s[1, 1] * 7 + (1 if s == t else 0)


@both
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_what_python_does(name, dtype, simulated):
    x, m = given(dtype, "C")
    wanted = expected(PROGRAMS[name], x, m)
    np.testing.assert_array_equal(TOGETHER.run(name, x, m, simulated), wanted)


@both
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_length_and_normalize_are_within_rounding_of_numpy(dtype, simulated):
    out = usmx.zeros((5, 4), dtype="float64")
    x = np.arange(1, 6).astype(dtype)

    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        v = usmx.vec(3, x.dtype)(x[i], 2, x[0])
        n = v.normalize()
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = v.length(), n.x, n.y, n.z

    with mode(simulated):
        kernel[5](usmx.asarray(x), out)
    rows = np.stack([x, np.full(5, 2), np.full(5, x[0])], axis=1).astype(float)
    length = np.sqrt((rows**2).sum(axis=1))
    wanted = np.concatenate([length[:, None], rows / length[:, None]], axis=1)
    precision = "float32" if dtype == "float32" else "float64"
    error = np.abs(out.to_numpy() / wanted - 1).max()
    assert error <= 2 * np.finfo(precision).eps


@both
def test_components_of_variables_are_assigned(simulated):
    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        v = vec3(x[i], 1, 2)
        w = v
        v.x = 5.5
        v[i % 3] += 2
        v[-1] *= 3
        m = mat3()
        m[0, 1] = x[i]
        m[i % 2][2] = 7
        m[2] = m[0] * 2
        m[2, i % 3] -= 1
        for k in range(3):
            out[i, k], out[i, 3 + k] = v[k], w[k]
            for j in range(3):
                out[i, 6 + 3 * k + j] = m[k, j]

    x = np.arange(5, dtype="float32")
    out = usmx.zeros((5, 15), dtype="float32")
    with mode(simulated):
        kernel[5](usmx.asarray(x), out)
    for i, row in enumerate(out.to_numpy()):
        v, m = np.array([5.5, 1, 2]), np.zeros((3, 3))
        v[i % 3] += 2
        v[-1] *= 3
        m[0, 1], m[i % 2, 2] = x[i], 7
        m[2] = m[0] * 2
        m[2, i % 3] -= 1
        np.testing.assert_array_equal(row, [*v, x[i], 1, 2, *m.ravel()])


@both
def test_a_copy_keeps_its_value_when_the_original_changes(simulated):
    def changed(v):
        w = v
        w.x += 10
        return w

    @usmx.kernel
    def kernel(item, out):
        v = vec2(1, 2)
        w = changed(v)
        out[0], out[1] = v.x, w.x

    out = usmx.zeros(2, dtype="float32")
    with mode(simulated):
        kernel[1](out)
    assert out.to_numpy().tolist() == [1, 11]


@both
def test_vectors_are_arguments_of_launches_and_constants(simulated):
    @usmx.kernel
    def kernel(item, v, m, out):
        w = m @ v + UP
        out[0], out[1], out[2] = w.x, w.y, w.z

    out = usmx.zeros(3, dtype="float32")
    v, m = vec3(1, 2, 3), mat3(range(9))
    with mode(simulated):
        kernel[1](v, m, out)
        assert out.to_numpy().tolist() == list(m @ v + UP)
        kernel[1](usmx.vec(3, "float64")(1, 2, 0.1), m, out)  # another type, another text
    wanted = m @ usmx.vec(3, "float64")(1, 2, 0.1) + UP
    assert out.to_numpy().tolist() == [np.float32(a) for a in wanted]


@both
def test_an_operand_of_and_is_computed_only_where_python_would(simulated):
    def parts(x, k):
        x[k] += 1
        return k, k * 2

    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        a = i > 1 and parts(x, i)[1] > 4
        b = i < 1 or divmod(x[i] + i, 2)[1] == 0
        c = parts(x, i)[0] if i == 4 else vec2(i, 2).normalize().x
        out[i, 0], out[i, 1], out[i, 2] = a, b, c

    x = usmx.zeros(5, dtype="int64")
    out = usmx.zeros((5, 3), dtype="float64")
    with mode(simulated):
        kernel[5](x, out)
    assert x.to_numpy().tolist() == [0, 0, 1, 1, 2]
    got = out.to_numpy()
    assert got[:, 0].tolist() == [0, 0, 0, 1, 1]
    assert got[:, 1].tolist() == [1, 0, 0, 1, 0]
    for i in range(4):
        assert got[i, 2] == pytest.approx(i / math.hypot(i, 2), rel=1e-7)
    assert got[4, 2] == 4


def test_vectors_are_tuples_of_numpy_numbers_in_python():
    v = vec3(1, 2, 3.5)
    assert tuple(v) == (1, 2, 3.5)
    assert all(type(c) is np.float32 for c in v)
    assert repr(v) == "usmx.vec(3, 'float32')(1.0, 2.0, 3.5)"
    assert v == vec3([1, 2, 3.5])
    assert v != v + 1
    assert hash(v) == hash(vec3(v))
    assert -v == 0 - v
    assert (v * np.float64(2)).__class__ is usmx.vec(3, "float64")
    assert usmx.vec(3, float) is usmx.vec(3, np.float64)
    assert vec3.dtype == np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])
    assert mat3.dtype == np.dtype([("m", "f4", (3, 3))])
    assert mat3(range(9)).transpose()[0] == vec3(0, 3, 6)


@pytest.mark.parametrize("value", [vec3(1, 2, 3), mat3(range(9)), vec3, mat3], ids=repr)
def test_vectors_and_their_classes_are_pickled_and_copied(value):
    for made in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert made == value
        assert type(made) is type(value)


def test_a_class_is_the_dtype_of_arrays():
    assert usmx.zeros(4, dtype=vec3).dtype == vec3.dtype
    assert np.zeros(4, dtype=mat3).dtype == mat3.dtype


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: usmx.vec(5, "float32"), ValueError, "lengths: (5,); expected 2 to 4"),
        (lambda: usmx.mat(1, 3, "float32"), ValueError, "expected 2 to 4"),
        (lambda: usmx.vec(3, "bool"), TypeError, "the type of an integer or of a float"),
        (lambda: vec3(1, 2), TypeError, "takes 3 numbers, got 2"),
        (lambda: mat3(1), TypeError, "takes 9 numbers or 3 rows of 3, got 1"),
        (lambda: vec3(1, 2, 3) + vec2(1, 2), TypeError, "expected the same lengths"),
        (lambda: vec3(1) * (1, 2, 3), TypeError, "make a vector of the tuple"),
        (lambda: vec3() < vec3(), TypeError, "vectors have no order"),
        (lambda: mat3() * mat3(), TypeError, "'@' is the product of matrices"),
        (lambda: mat3() @ vec2(), TypeError, "whose lengths fit"),
        (lambda: vec2().cross(vec2()), TypeError, "expected two vectors of length 3"),
        (lambda: vec3().transpose(), TypeError, "'transpose' is one of matrices"),
        (lambda: vec2().z, AttributeError, "has no 'z'"),
    ],
)
def test_what_vectors_do_not_have_is_refused_in_python(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def order(item, out):
    out[0] = vec3() < vec3(1)


def lengths(item, out):
    out[0] = (vec3() + vec2()).x


def with_a_tuple(item, out):
    out[0] = (vec3() * (1, 2, 3)).x


def elementwise(item, out):
    out[0] = (mat3() * mat3())[0, 0]


def missing(item, out):
    v = vec2(1, 2)
    v.z = 3
    out[0] = v.x


def parameter(item, out):
    def changed(v):
        v.x = 3
        return v

    out[0] = changed(vec2(1, 2)).x


def another_type(item, out):
    v = vec3(1)
    v = v * np.float64(2)
    out[0] = v.x


def too_few(item, out):
    out[0] = vec3(1, 2).x


def number_at(item, out):
    out[0] = 2 @ vec3(1)


def outside(item, out):
    v = vec3(1)
    v[3] = 2
    out[0] = v.x


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (order, "vectors have no order"),
        (lengths, "expected the same lengths"),
        (with_a_tuple, "make a vector of it"),
        (elementwise, "'@' is the product of matrices"),
        (missing, "a vec2_float32 has no 'z'; it has x, y"),
        (parameter, "'v' is a parameter; assign it to a variable and change that"),
        (another_type, "'v' is a vec3_float32 already and gets a vec3_float64"),
        (too_few, "takes 3 numbers, got 2"),
        (number_at, "expected a matrix and a matrix or vector"),
        (outside, "index 3 of a vec3_float32"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_vectors_do_not_have_is_refused_in_kernels(function, text):
    with pytest.raises(usmx.KernelError) as caught:
        usmx.kernel(function)[1](usmx.zeros(1))
    assert text in str(caught.value)


@both
def test_vectors_and_matrices_are_made_of_arrays_of_known_length(simulated):
    body = np.dtype([("place", "f4", 3), ("turn", "f8", (2, 2))])
    mat2 = usmx.mat(2, 2, usmx.float64)

    @usmx.kernel
    def kernel(item, bodies, out):
        i = item.get_id(0)
        p = bodies[i]
        near = usmx.private.array(3, usmx.float32)
        near[1] = i
        v = vec3(bodies[i].place) + vec3(near)
        m = mat2(p.turn[0], p.turn[1])
        out[i] = packed(v) + m[1, 0]

    x = np.zeros(4, body)
    x["place"] = np.arange(12).reshape(4, 3)
    x["turn"][:, 1, 0] = 100 * np.arange(4)
    out = usmx.zeros(4, "float64")
    with mode(simulated):
        kernel[4](usmx.asarray(x), out).wait()
    v = x["place"] + [0, 1, 0] * np.arange(4)[:, None]
    assert out.to_numpy().tolist() == (v @ [1, 3, 7] + 100 * np.arange(4)).tolist()


def test_an_array_of_another_length_makes_no_vector():
    @usmx.kernel
    def of_four(item, out):
        four = usmx.private.array(4, usmx.float32)
        out[0] = vec3(four).x

    @usmx.kernel
    def of_any(item, out):
        out[0] = vec3(out).x

    for wrong, message in ((of_four, "takes 3 numbers, got 4"), (of_any, "a component is a 1-d")):
        with pytest.raises(usmx.KernelError, match=message):
            wrong[1](usmx.zeros(1, "float32"))
