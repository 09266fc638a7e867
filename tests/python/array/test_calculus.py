# Functions of samples, choices and edited arrays are those of NumPy, called by either name.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx

TYPES = ["int16", "int64", "float32", "float64", "complex128"]


def some(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 9, shape).astype(dtype)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def check(name, *args, exact=False, **keywords):
    """`np.name` and `usmx.name` of arrays in USM give what NumPy gives of its own."""
    wanted = getattr(np, name)(*args, **keywords)

    def ours(value):
        if isinstance(value, np.ndarray) and value.ndim:
            return usmx.asarray(value)
        return type(value)(map(ours, value)) if isinstance(value, (list, tuple)) else value

    for module in (usmx, np):
        got = getattr(module, name)(*map(ours, args), **{k: ours(v) for k, v in keywords.items()})
        if not isinstance(wanted, tuple):
            compare(got, wanted, exact)
            continue
        assert isinstance(got, tuple)
        for one, other in zip(got, wanted, strict=True):
            compare(one, other, exact)


def compare(got, wanted, exact):
    if isinstance(wanted, bool):
        assert got is wanted
        return
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    if exact or wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(got.to_numpy(), wanted)
    else:
        eps = np.finfo(wanted.dtype).eps
        scale = float(np.nanmax(abs(wanted), initial=1))
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=20 * eps, atol=20 * eps * scale)


# --- calculus ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("n", "m"), [(1, 1), (5, 1), (5, 2), (5, 3), (3, 5), (4, 4), (2, 7), (100, 33)]
)
def test_convolutions(n, m, dtype, mode):
    check("convolve", some(n, dtype), some(m, dtype, 1), mode)
    check("correlate", some(n, dtype), some(m, dtype, 1), mode)


def test_convolutions_of_other_types():
    check("convolve", some(9, "bool"), some(4, "bool", 1))
    check("convolve", some(9, "int8"), some(4, "float32", 1))
    x, y = some(50, "float16"), some(20, "float16", 1)
    got = usmx.convolve(usmx.asarray(x), usmx.asarray(y)).to_numpy()
    wanted = np.convolve(x.astype("f4"), y.astype("f4"))
    np.testing.assert_allclose(got, wanted, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.ones((2, 2)), np.ones(2)), r"a: has shape \(2, 2\)"),
        ((np.ones(2), np.ones(0)), r"v: has shape \(0,\)"),
        ((np.ones(2), np.ones(2), "some"), "mode: 'some'; expected"),
    ],
)
def test_convolutions_that_are_refused(args, message):
    first, *rest = args
    with pytest.raises(ValueError, match=message):
        usmx.convolve(usmx.asarray(first), *rest)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_gradients(dtype):
    x = some((5, 6, 7), dtype)
    points = np.cumsum(some(6) ** 2 + 0.1)
    check("gradient", x[0, 0])
    check("gradient", x)
    check("gradient", x, 0.5)
    check("gradient", x, 0.5, 2.0, 3.0, edge_order=2)
    check("gradient", x, axis=1)
    check("gradient", x, axis=(0, -1), edge_order=2)
    if dtype in ("float64", "complex128"):
        check("gradient", x, points, axis=1)
        check("gradient", x, points, axis=1, edge_order=2)
        check("gradient", x, 2.0, points, axis=(0, 1))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8"])
def test_gradients_of_points_whose_differences_do_not_fit(dtype):
    check("gradient", np.array([0, 2, 4]), np.array([3, 2, 1], dtype))
    check("gradient", np.array([-64.0, 0]), np.array([100, 27], dtype))
    limits = np.iinfo(dtype)
    check("gradient", np.array([1.0, 2]), np.array([limits.min, limits.max], dtype))


def test_a_distance_may_be_an_array_without_dimensions():
    for f, distances in ((np.arange(5.0), [3.0]), (some((4, 5)), [1.5, 2])):
        got = usmx.gradient(usmx.asarray(f), *map(usmx.asarray, distances))
        wanted = np.gradient(f, *distances)
        several = len(distances) > 1
        for mine, theirs in zip(
            got if several else [got], wanted if several else [wanted], strict=True
        ):
            np.testing.assert_allclose(mine.to_numpy(), theirs)


def test_gradients_that_are_refused():
    x = usmx.ones((3, 2))
    with pytest.raises(ValueError, match="f: has 2 elements along axis 1; expected at least 3"):
        usmx.gradient(x, edge_order=2)
    with pytest.raises(ValueError, match="edge_order: 3"):
        usmx.gradient(x, edge_order=3)
    with pytest.raises(TypeError, match="got 3 spacings for 2 axes"):
        usmx.gradient(x, 1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match=r"varargs: has shape \(4,\); expected \(3,\)"):
        usmx.gradient(x, np.arange(4.0), axis=0)


def test_integrals():
    y = some((4, 9))
    check("trapezoid", y)
    check("trapezoid", y, dx=0.25, axis=0)
    check("trapezoid", y, np.cumsum(some(9) ** 2))
    check("trapezoid", y, np.cumsum(some((4, 9)) ** 2, axis=0), axis=0)
    check("trapezoid", some(7, "int32"))
    check("trapezoid", some(7, "complex128"))


def test_differences():
    x = some((3, 4), "int32")
    check("ediff1d", x)
    check("ediff1d", x, to_end=[7, 8], to_begin=99)
    check("ediff1d", x[0, :1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_angles_without_jumps(dtype):
    x = (np.cumsum(some((3, 40)), axis=1) * 2).astype(dtype)
    check("unwrap", (x + np.pi) % (2 * np.pi) - np.pi)
    check("unwrap", x, discont=5.0)
    check("unwrap", x, axis=0, period=1.5)
    check("unwrap", np.array([0.0, np.pi, 0.0, -np.pi, np.pi], dtype))


def test_whole_numbers_without_jumps():
    x = some(60, "int64") * 7
    check("unwrap", x % 10, period=10)
    check("unwrap", x % 11, period=11)
    check("unwrap", x % 6)


def test_sinc():
    check("sinc", np.array([0.0, 0.5, 1.0, -2.25, 1e-30, np.inf, np.nan])[:5])
    check("sinc", some(20, "float32"))
    check("sinc", some(5, "int32"))
    check("sinc", some(20, "complex128"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
@pytest.mark.parametrize("count", [1, 2, 50])
def test_interpolation(count, dtype):
    xp = np.sort(some(count))
    fp = some(count, dtype, 1)
    x = np.concatenate([some((30,), seed=2) * 2, xp, [xp[0] - 1, xp[-1] + 1, np.nan]])
    check("interp", x, xp, fp)
    check("interp", x.reshape(1, -1), xp, fp, left=-5.0, right=7.0)
    if count > 1:
        check("interp", x[:-1] * 9, xp, fp, period=1.7)


def test_interpolation_at_steps_and_infinities():
    xp = np.array([0.0, 1.0, 1.0, 2.0])
    check("interp", np.array([0.5, 1.0, 1.5, 2.0]), xp, np.array([0.0, 1.0, 5.0, 6.0]))
    check("interp", np.array([-np.inf, np.inf, 0.5]), xp, np.arange(4.0), left=-1)
    ends = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    check("interp", np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), ends, np.arange(1.0, 7.0))


def test_interpolation_that_is_refused():
    x = usmx.ones(3)
    with pytest.raises(ValueError, match=r"xp: has shape \(2,\) and fp \(3,\)"):
        usmx.interp(x, [1.0, 2.0], x)
    with pytest.raises(ValueError, match="period: is 0"):
        usmx.interp(x, x, x, period=0)


@pytest.mark.parametrize("dtype", TYPES)
def test_polynomials(dtype):
    x = some((4, 5), dtype)
    check("polyval", np.array([2, -1, 3]), x)
    check("polyval", np.array([0.5, -1.5, 2, 1]), x)
    check("polyval", np.array([1j, 2.0]), x)
    if dtype == "float64":
        assert len(usmx.explain(usmx.polyval([1.0] * 9, usmx.asarray(x))).kernels) == 1


def test_cross_products():
    x, y = some((4, 3)), some((4, 3), seed=1)
    check("cross", x, y)
    check("cross", x, y[0])
    check("cross", x.T.copy(), y, axisa=0, axisc=0)
    check("cross", x.T.copy(), y.T.copy(), axis=0)
    with pytest.raises(ValueError, match="3"):
        usmx.cross(usmx.ones((4, 2)), usmx.ones((4, 2)))


# --- conditions ----------------------------------------------------------------------------------


def test_choices():
    x = some((4, 5))
    check("select", [x < -0.5, x < 0.5], [x, x * x], exact=True)
    mixed = [x.astype("float32"), np.arange(5)]
    check("select", [x < -0.5, x < 0.5], mixed, default=-1, exact=True)
    check("select", [np.array([True, False]), np.array([[True], [False]])], [1, 2.5], exact=True)
    with pytest.raises(ValueError, match="1 conditions for 2 choices"):
        usmx.select([usmx.ones(2, "bool")], [1, 2])
    with pytest.raises(TypeError, match="condition 0 is of float64"):
        usmx.select([usmx.ones(2)], [1])


def test_functions_by_pieces():
    x = some(50)
    pieces = [lambda v: v * 2, 7.0, lambda v: v - 1]
    check("piecewise", x, [x < 0, x > 1], pieces[:2], exact=True)
    check("piecewise", x, [x < 0, x > 1], pieces, exact=True)
    check("piecewise", x, x > 0, [lambda v: v + 3, 2], exact=True)
    a = usmx.asarray(x)
    got = usmx.piecewise(a, [a > 0], [lambda v, by, plus: v * by + plus], 3, plus=1)
    np.testing.assert_array_equal(got.to_numpy(), np.where(x > 0, x * 3 + 1, 0))
    with pytest.raises(ValueError, match="3 pieces for 1 conditions"):
        usmx.piecewise(a, [a > 0], [1, 2, 3])


@pytest.mark.parametrize(
    "conditions",
    [[True, False], [[True, False]], np.array([1, 0]), [np.array([1, 0])], [[0, 1], [1, 0]]],
)
def test_conditions_of_pieces_may_be_lists_and_numbers(conditions):
    pieces = [5, 7][: len(conditions) if np.ndim(conditions) > 1 else 1]
    x = np.array([0, 0])
    got = usmx.piecewise(usmx.asarray(x), conditions, pieces)
    np.testing.assert_array_equal(got.to_numpy(), np.piecewise(x, conditions, pieces))


@pytest.mark.parametrize("conditions", [[True], [False, True], [True, False, False]])
def test_pieces_of_one_number(conditions):
    pieces = [4, 5, 6][: len(conditions)]
    got = usmx.piecewise(usmx.asarray(3), conditions, pieces)
    assert got.item() == np.piecewise(np.array(3), conditions, pieces)


def test_equal_arrays():
    x = some((3, 4))
    nan = np.where(x > 0, np.nan, x)
    for a, b in [(x, x.copy()), (x, x + 1e-9), (x, x[:2]), (nan, nan.copy()), (x, x[:1])]:
        check("array_equal", a, b)
        check("array_equal", a, b, equal_nan=True)
        check("array_equiv", a, b)
    check("array_equiv", np.ones((3, 4)), np.ones(4))
    check("array_equal", np.ones(0), np.ones(0))


def test_kinds_of_numbers():
    z = np.array([1, 2j, 3 + 0j])
    check("isreal", z)
    check("isreal", z.real)
    check("iscomplexobj", z)
    check("iscomplexobj", z.real)


# --- edited arrays -------------------------------------------------------------------------------


def test_append():
    x = some((3, 4), "int32")
    check("append", x, x[:1])
    check("append", x, x[:1], axis=0)
    check("append", x, some((3, 2)), axis=1)


@pytest.mark.parametrize(
    "obj", [0, -1, [0, 2, 2], slice(None, None, 2), np.array([True, False, True]), [], slice(5, 9)]
)
def test_delete(obj):
    x = some((3, 4, 3), "int32")
    check("delete", x, obj, axis=0)
    check("delete", x, obj, axis=2)
    if not isinstance(obj, np.ndarray):
        check("delete", x, obj)


@pytest.mark.parametrize(
    ("obj", "values", "axis"),
    [
        (1, 9.0, None),
        (1, [7, 8, 9], None),
        (-1, 5, 0),
        (0, [[1, 2, 3, 4], [5, 6, 7, 8]], 0),
        (2, [1, 2, 3], 1),
        ([0, 2], 9, 1),
        ([2, 0, 2], [1, 2, 3], 1),
        ([1], [[1], [2], [3]], 1),
        (slice(0, 3, 2), 4, 0),
        ([], 1, None),
    ],
)
def test_insert(obj, values, axis):
    x = some((3, 4), "int32")
    check("insert", x, obj, values, axis=axis)


def test_edits_outside_of_an_axis_are_refused():
    x = usmx.ones((3, 4))
    with pytest.raises(IndexError, match="out of bounds"):
        usmx.delete(x, 3, axis=0)
    with pytest.raises(IndexError, match="out of bounds"):
        usmx.insert(x, [9], 1, axis=1)


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (9, 2), (3, 3, 3)])
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("value", [7, np.array([1, 2])])
def test_diagonals_are_filled(shape, wrap, value):
    x = some(shape, "int32")
    a = usmx.asarray(x)
    np.fill_diagonal(x, value, wrap)
    usmx.fill_diagonal(a, value, wrap)
    np.testing.assert_array_equal(a.to_numpy(), x)
    np.fill_diagonal(a.T if a.ndim == 2 else a, 3)
    np.fill_diagonal(x.T if x.ndim == 2 else x, 3)
    np.testing.assert_array_equal(a.to_numpy(), x)


def test_diagonals_that_are_refused():
    with pytest.raises(ValueError, match=r"a: has shape \(2, 2, 3\)"):
        usmx.fill_diagonal(usmx.ones((2, 2, 3)), 1)


@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_indices(order):
    k = some(20, "int64") * 6
    check("unravel_index", k, (4, 5, 6), order=order)
    check("unravel_index", k, 60)
    x = usmx.asarray(some((4, 5)))
    at = np.unravel_index(usmx.argmax(x), x.shape)
    assert x.to_numpy()[tuple(int(i) for i in at)] == x.to_numpy().max()
    with pytest.raises(TypeError, match="indices: of float64"):
        usmx.unravel_index(usmx.ones(2), (2, 2))
    for outside in ([5, 100], [-1, 3], 6):
        with pytest.raises(ValueError, match=r"indices: from .* expected 0 to 5, .*\(2, 3\)"):
            usmx.unravel_index(outside, (2, 3), order=order)


@pytest.mark.parametrize("kind", ["shared", "device"])
@pytest.mark.parametrize("is_complex", [False, True])
def test_interpolation_next_to_infinities_is_that_of_numpy(kind, is_complex):
    rng = np.random.default_rng(3)
    values = [1.0, 2.0, 4.0, np.inf, -np.inf, np.nan]
    for _ in range(40):
        xp = np.unique(rng.integers(0, 7, rng.integers(1, 6))).astype(float)
        fp = rng.choice(values, xp.size)
        if is_complex:
            fp = fp.astype(complex)
            fp.imag = rng.choice(values, xp.size)
        x = np.concatenate([xp, 8 * rng.random(6) - 0.5, [np.nan, np.inf, -np.inf]])
        want = np.interp(x, xp, fp)
        got = usmx.interp(*(usmx.asarray(a, usm_type=kind) for a in (x, xp, fp))).to_numpy()
        for part in ("real", "imag"):
            assert np.allclose(
                getattr(got, part), getattr(want, part), rtol=1e-12, equal_nan=True
            ), (xp, fp)


@pytest.mark.parametrize("obj", [1, [1], slice(1, 2), np.array([False, True])])
@pytest.mark.parametrize("values", [[1, 2, 3], [[1, 2, 3]], [[1], [2], [3]], 9])
def test_several_values_before_one_element(obj, values):
    a = np.array([[1, 1], [2, 2], [3, 3]])
    got = usmx.insert(usmx.asarray(a), obj, usmx.asarray(values), axis=1)
    np.testing.assert_array_equal(got.to_numpy(), np.insert(a, obj, values, axis=1))
