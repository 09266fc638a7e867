"""Records in kernels: NumPy's structured arrays, single records and structs of ctypes, by field."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import ctypes
import re

import numpy as np
import pytest

import usmx

FIELDS = [
    ("mass", "f4"),
    ("pos", "f8", (3,)),
    ("vel", [("x", "f4"), ("y", "f4")]),
    ("tag", "i2"),
    ("on", "?"),
    ("z", "c8"),
    ("h", "f2"),
]
PACKED, ALIGNED = np.dtype(FIELDS), np.dtype(FIELDS, align=True)
SPREAD = np.dtype(
    {"names": ["a", "b", "c"], "formats": ["u1", "i8", "f4"], "offsets": [3, 4, 21], "itemsize": 30}
)
both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
layouts = pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])


def mode(simulated):
    return usmx.simulate() if simulated else contextlib.nullcontext()


def bodies(dtype, count=5):
    made = np.zeros(count, dtype)
    made["mass"] = np.arange(1, count + 1)
    made["pos"] = np.arange(3 * count).reshape(count, 3)
    made["vel"]["x"] = 0.5
    made["tag"] = -1
    made["z"] = 1 + 2j
    made["h"] = 0.25
    return made


def same(got, want):
    """Equal fields; padding has no meaning."""
    assert got.dtype.names is not None
    for name in want.dtype.names:
        if want.dtype[name].names is None:
            np.testing.assert_array_equal(got[name], want[name], err_msg=name)
        else:
            same(got[name], want[name])


@both
@layouts
def test_fields_are_read_and_written(dtype, simulated):
    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        p = x[i]
        out[i] = p.mass + x[i].pos[2] * 10 + x[i]["vel"].x * 3 + p["tag"] + p.h
        p.mass = i * 2.5
        p["tag"] += 3
        x[i].on = p.tag > 1
        x[i].vel.y = p.mass
        p.pos[i % 3] -= 1.5
        x["pos"][i][0] *= 2
        x["vel"][i].x = x["mass"][i]
        p.z = p.z * 2j
        p.h += 1

    x = bodies(dtype)
    want = x.copy()
    i = np.arange(5)
    result = x["mass"] + x["pos"][:, 2] * 10 + x["vel"]["x"] * 3 + x["tag"] + x["h"]
    want["mass"] = i * 2.5
    want["tag"] += 3
    want["on"] = want["tag"] > 1
    want["vel"]["y"] = want["mass"]
    want["pos"][i, i % 3] -= 1.5
    want["pos"][:, 0] *= 2
    want["vel"]["x"] = want["mass"]
    want["z"] *= 2j
    want["h"] += 1
    given, out = usmx.asarray(x), usmx.zeros(5)
    with mode(simulated):
        kernel[5](given, out)
    same(given.to_numpy(), want)
    np.testing.assert_array_equal(out.to_numpy(), result)


@both
def test_places_are_those_of_numpy(simulated):
    @usmx.kernel
    def kernel(item, x):
        i = item.get_id(0)
        x[i].a = 200 + i
        x[i].b = -(2**40) - i
        x[i].c = i + 0.5

    want = np.frombuffer(bytes(range(150)), SPREAD).copy()
    raw = usmx.asarray(want)
    with mode(simulated):
        kernel[5](raw)
    got = np.frombuffer(raw.to_numpy().tobytes(), SPREAD)
    want["a"], want["b"] = 200 + np.arange(5), -(2**40) - np.arange(5)
    want["c"] = np.arange(5) + 0.5
    assert got.tobytes() == want.tobytes()  # other bytes are as they were


@both
@layouts
def test_records_are_copied_whole(dtype, simulated):
    @usmx.kernel
    def copy(item, x, y):
        i = item.get_id(0)
        y[i] = x[4 - i]

    @usmx.kernel
    def through(item, x, y):
        i = item.get_id(0)
        own = usmx.private.array(2, x.dtype)
        own[1] = x[i]
        own[1].mass += 1
        own[0] = own[1]
        y[i] = own[0]

    x = bodies(dtype)
    given, copied = usmx.asarray(x), usmx.zeros(5, dtype=dtype)
    with mode(simulated):
        copy[5](given, copied)
    same(copied.to_numpy(), x[::-1])
    with mode(simulated):
        through[5](given, copied)
    x["mass"] += 1
    same(copied.to_numpy(), x)


def kick(p, by):
    p.vel.x += by
    return p.mass * 2


def scaled(p, factor):
    q = p.copy()
    q.mass *= factor
    q.pos[1] = 77
    q.vel = p.vel * 2
    return q


@both
@layouts
def test_functions_take_records_by_reference_and_return_copies(dtype, simulated):
    @usmx.kernel
    def kernel(item, x, y, out):
        i = item.get_id(0)
        out[i] = kick(x[i], 0.25)
        p = x[i]
        y[i] = scaled(p, 3)
        a, b = scaled(p, 4), p.vel
        out[i] += a.mass + a["pos"][1] + b.x

    x = bodies(dtype)
    given, made, out = usmx.asarray(x), usmx.zeros(5, dtype=dtype), usmx.zeros(5)
    with mode(simulated):
        kernel[5](given, made, out)
    x["vel"]["x"] += 0.25
    same(given.to_numpy(), x)
    np.testing.assert_array_equal(out.to_numpy(), x["mass"] * 6 + 77 + 0.75)
    x["mass"] *= 3
    x["pos"][:, 1] = 77
    x["vel"]["x"] *= 2
    x["vel"]["y"] *= 2
    same(made.to_numpy(), x)


class Inner(ctypes.Structure):
    _fields_ = (("k", ctypes.c_int16), ("w", ctypes.c_double))


class Point(ctypes.Structure):
    _fields_ = (("a", ctypes.c_float), ("b", ctypes.c_uint8), ("c", ctypes.c_double * 2),
                ("inner", Inner))  # fmt: skip


@both
def test_one_record_is_an_argument(simulated):
    @usmx.kernel
    def kernel(item, one, struct, both, out):
        out[0] = one.mass + one["pos"][1] + one.vel.x + (1 if one.on else 0)
        out[1] = struct.a + struct.b * 10 + struct.c[1] * 100 + struct.inner.w
        out[2] = both[0].tag + both[1].inner.k
        w = struct
        w.b += 250
        w.inner.k = 7
        w.c[0] = one.h
        out[3] = w.b + w.inner.k + w.c[0] + struct.b

    one = bodies(ALIGNED)[2]
    struct = Point(1.5, 7, (8, 9), Inner(3, 0.5))
    out = usmx.zeros(4)
    with mode(simulated):
        kernel[1](one, struct, (one, struct), out)
    assert out.to_numpy().tolist() == [3 + 7 + 0.5, 1.5 + 70 + 900 + 0.5, -1 + 3, 1 + 7 + 0.25 + 7]
    # The same types again, with other values: one compiled kernel.
    with mode(simulated):
        kernel[1](one, Point(2.5, 7, (8, 9), Inner(3, 0.5)), (one, struct), out)
    assert out.to_numpy()[1] == 2.5 + 70 + 900 + 0.5


@both
def test_a_struct_is_made_in_a_kernel(simulated):
    @usmx.kernel
    def kernel(item, x):
        i = item.get_id(0)
        p = Point(i, b=300 + i, c=(1, i), inner=Inner(i, 0.5))
        p.a += 0.5
        x[i] = p
        x[i].inner.w *= 2

    x = usmx.zeros(3, dtype=np.dtype(Point))
    with mode(simulated):
        kernel[3](x)
    got = x.to_numpy()
    assert got["a"].tolist() == [0.5, 1.5, 2.5]
    assert got["b"].tolist() == [44, 45, 46]
    assert got["c"].tolist() == [[1, 0], [1, 1], [1, 2]]
    assert got["inner"]["k"].tolist() == [0, 1, 2]
    assert got["inner"]["w"].tolist() == [1, 1, 1]


vec3 = usmx.vec(3, usmx.float32)
mat2 = usmx.mat(2, 2, usmx.float64)


@both
def test_vectors_are_elements_of_arrays(simulated):
    @usmx.kernel
    def kernel(item, x, m, y):
        i = item.get_id(0)
        v = x[i]
        v.x += 10
        x[i].y = v.x
        x[i][2] -= 1
        x[i] *= 2
        y[i] = v.cross(x[i]) + vec3(1)
        m[i][0, 1] = x[i].y
        m[i] = m[i] @ m[i] + mat2(1, 0, 0, 1)
        m[i][1][0] += 1

    x = np.zeros(3, vec3.dtype)
    for k, name in enumerate("xyz"):
        x[name] = np.arange(3) + k
    m = np.zeros(3, mat2.dtype)
    m["m"] = np.arange(12).reshape(3, 2, 2)
    given = usmx.asarray(x), usmx.asarray(m), usmx.empty(3, dtype=vec3)
    with mode(simulated):
        kernel[3](*given)
    rows = np.stack([x[name] for name in "xyz"], axis=1)
    v = rows + np.float32([10, 0, 0])
    rows[:, 1] = v[:, 0]
    rows[:, 2] -= 1
    rows *= 2
    got = [g.to_numpy() for g in given]
    np.testing.assert_array_equal(np.stack([got[0][n] for n in "xyz"], axis=1), rows)
    crossed = np.cross(v, rows) + 1
    np.testing.assert_array_equal(np.stack([got[2][n] for n in "xyz"], axis=1), crossed)
    square = m["m"].copy()
    square[:, 0, 1] = rows[:, 1]
    square = square @ square + np.eye(2)
    square[:, 1, 0] += 1
    np.testing.assert_array_equal(got[1]["m"], square)


@both
def test_loops_rows_and_slices_of_records(simulated):
    @usmx.kernel
    def kernel(item, x, out):
        i = item.get_id(0)
        s = 0.0
        for p in x:
            s += p.mass
            if i == 0:
                p.tag = 9
        for k, p in enumerate(x[1:4]):
            s += k * p.mass
        out[i] = s + len(x)

    x = bodies(PACKED)
    given, out = usmx.asarray(x), usmx.zeros(1)
    with mode(simulated):
        kernel[1](given, out)
    assert out.to_numpy()[0] == 15 + (3 + 2 * 4) + 5
    assert given.to_numpy()["tag"].tolist() == [9] * 5


@both
def test_rows_of_matrices_and_strided_arrays_of_records(simulated):
    @usmx.kernel
    def kernel(item, x, y):
        i = item.get_id(0)
        row = x[i]
        for k in range(len(row)):
            row[k].tag = 10 * i + k
        y[i].mass = x["tag"][i, 1]

    x = usmx.zeros((3, 4), dtype=PACKED)
    y = usmx.zeros(6, dtype=ALIGNED)
    with mode(simulated):
        kernel[3](x, y[::2])
    assert x.to_numpy()["tag"].tolist() == [[10 * i + k for k in range(4)] for i in range(3)]
    assert y.to_numpy()["mass"].tolist() == [1, 0, 11, 0, 21, 0]


@both
def test_local_memory_holds_records(simulated):
    @usmx.kernel
    def kernel(item, x):
        k = item.get_local_id(0)
        tile = usmx.local.array(4, vec3)
        tile[k] = x[item.get_id(0)]
        usmx.barrier()
        x[item.get_id(0)] = tile[3 - k] + tile[k].y

    x = np.zeros(8, vec3.dtype)
    x["x"], x["y"] = np.arange(8), 0.5
    given = usmx.asarray(x)
    with mode(simulated):
        kernel[8, 4](given)
    assert given.to_numpy()["x"].tolist() == [3.5, 2.5, 1.5, 0.5, 7.5, 6.5, 5.5, 4.5]


def test_kernels_are_found_by_the_fields_of_records():
    @usmx.kernel
    def kernel(item, x):
        x[item.get_id(0)].a += 1

    for fields in (
        [("a", "f4"), ("b", "i4")],
        [("b", "i4"), ("a", "f4")],
        [("a", "i4"), ("b", "f4")],
    ):
        x = usmx.zeros(2, dtype=fields)
        kernel[2](x).wait()
        assert x.to_numpy()["a"].tolist() == [1, 1]
        assert x.to_numpy()["b"].tolist() == [0, 0]


def test_items_may_use_different_fields_of_a_record():
    @usmx.kernel(simulate=True)
    def apart(item, x):
        if item.get_id(0) == 0:
            x[0].mass = 1
        else:
            x[0].tag = 2

    @usmx.kernel(simulate=True)
    def together(item, x):
        x[0].pos[1] = item.get_id(0)

    x = usmx.zeros(1, dtype=PACKED)
    apart[2](x)
    with pytest.raises(RuntimeError, match=re.escape("element 0.pos.1 of 'x'")):
        together[2](x)


def no_field(item, x):
    x[0].weight = 1


def field_of_a_view(item, x):
    x[0].mass = sum(x["mass"])


def whole(item, x):
    x[0] = 1.5


def too_few(item, x):
    x[0] = (1, 2)


def atomic(item, x):
    usmx.atomic.add(x["mass"], 0, 1.0)


def number(item, x):
    x[0].mass = x[0] + 1


def array_of_a_record(item, x):
    x[0].mass = sum(x[0].pos)


def assigned(item, x):
    x[0].pos = 1


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (no_field, "no field 'weight' of a supported type; it has mass, pos, vel, tag, on, z, h"),
        (
            field_of_a_view,
            "the field 'mass' of an array cannot be passed or sliced; pass the array",
        ),
        (whole, "1.5 cannot be stored in a record of mass, pos"),
        (too_few, "a tuple of 2 for a record of mass, pos"),
        (atomic, "atomic operations on fields of records are not supported"),
        (number, "the left side of '+' is a record of mass, pos"),
        (array_of_a_record, "an array in a record cannot be passed or sliced; pass the record"),
        (assigned, "a kernel writes single elements"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_records_do_not_have_is_refused(function, text):
    with pytest.raises(usmx.KernelError) as caught:
        usmx.kernel(function)[1](usmx.zeros(1, dtype=PACKED))
    assert text in str(caught.value)


def test_a_large_record_is_not_passed_by_value():
    one = np.zeros(1, [("a", "f4", (100,))])[0]
    with pytest.raises(TypeError, match="a record of 100 numbers; at most 64 are passed by value"):
        usmx.kernel(no_field)[1](one)
