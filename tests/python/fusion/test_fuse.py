# A fused function computes what NumPy computes when it runs the very same function, in types and in
# values; what cannot be traced is an error that says what to write instead.
# A lambda around a function is what is fused.
# ruff: noqa: PLW0108
# SPDX-License-Identifier: Apache-2.0
import ast
import contextlib
import operator
import re

import dpnp
import numpy as np
import pytest
from backend_row import needs
from depths import of_depth
from depths import some as some_of
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import usmx
from usmx import _usmx
from usmx._operations import OPERATIONS

TYPES = ["?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "F", "D"]
FUSED = {
    row.name: row
    for row in OPERATIONS
    if row.texts and isinstance(getattr(np, row.name, None), np.ufunc)
}
# Functions that round in one way everywhere. Bounds of the others are those of what the row calls;
# NumPy's own functions are within 4 units in the last place.
EXACT = {
    name
    for name, row in FUSED.items()
    if not row.ulps
    or (row.function and not any(re.search(rf"\b{row.function}\(", t) for _, t in row.texts))
}


@pytest.fixture
def traced(monkeypatch):
    """One element for each trace of a fused function, which does not see it."""
    found, trace = [], usmx._fusion.Fused._trace

    def noted(self, *args):
        found.append(1)
        return trace(self, *args)

    monkeypatch.setattr(usmx._fusion.Fused, "_trace", noted)
    return found


def values(dtype, seed=0, size=257):
    """Numbers of a type, its special ones among them."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.integers(0, 2, size).astype(dtype)
    if kind in "iu":
        info = np.iinfo(dtype)
        some = random.integers(-9, 10, size) if kind == "i" else random.integers(0, 20, size)
        some = some.astype(dtype)
        some[:6] = [info.min, info.max, 0, 1, info.max, 2]
        return some
    if kind == "c":
        part = {"F": "f", "D": "d"}[dtype]
        return random.standard_normal(size).astype(part) + 1j * random.standard_normal(size).astype(
            part
        )
    some = (random.standard_normal(size) * 8).astype(dtype)
    some[:9] = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.5, -2.5]
    random.shuffle(some)
    return some


def usm(array):
    return usmx.asarray(array, usm_type="shared")


def evaluate(function, *args):
    with np.errstate(all="ignore"):
        return function(*args)


def assert_same(got, want, ulp=0):
    got, want = got.to_numpy(), np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if ulp == 0 or want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
    elif want.dtype.kind == "f":
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite])
        np.testing.assert_array_max_ulp(got[finite], want[finite], ulp)
    else:
        # Where one part is small, its error is that of the other.
        assert np.all(np.abs(got - want) <= ulp * np.finfo(want.dtype).eps * np.abs(want))


def check(function, *args, ulp=0):
    """The fused function and the function itself give the same."""
    want = evaluate(function, *args)
    got = usmx.fuse(function)(*(usm(a) if isinstance(a, np.ndarray) else a for a in args))
    if isinstance(want, tuple):
        for a, b in zip(got, want, strict=True):
            assert_same(a, b, ulp)
    else:
        assert_same(got, want, ulp)


# --- every ufunc of the table ---------------------------------------------------------------------


CHUNK = 16
CHUNKS = range(-(-len(FUSED) // CHUNK))


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("dtype", TYPES)
def test_ufuncs_compute_what_numpy_computes(dtype, chunk):
    for nin in (1, 2):
        some = []
        for name in sorted(FUSED)[chunk * CHUNK : (chunk + 1) * CHUNK]:
            ufunc = getattr(np, name)
            try:
                types = ufunc.resolve_dtypes((*[np.dtype(dtype)] * nin, None))
            except (TypeError, ValueError):
                continue  # another number of operands, or NumPy has none for this type
            if FUSED[name].text(types[0].kind) is None:
                # Complex numbers have no order, and few functions.
                assert types[0].kind == "c", f"{name} of {dtype}"
            else:
                some.append((name, ufunc, types[0].kind))
        if not some:
            continue
        args = (values(dtype), values(dtype, 1))[:nin]
        if np.dtype(dtype).kind == "i" and any(name == "power" for name, *_ in some):
            args = args[0], np.random.default_rng(2).integers(0, 5, args[0].size).astype(dtype)
        fused = usmx.fuse(all_of(some, nin))
        got = fused(*map(usm, args))
        for (name, ufunc, kind), result in zip(some, got, strict=True):
            exact = name in EXACT and (kind != "c" or name in {"add", "subtract", "equal"})
            want = evaluate(ufunc, *args)
            if name == "floor_divide" and kind == "f":
                # Of infinities the standard prefers the quotient, NumPy has Python's NaN and -1.
                infinite = np.isinf(args[0]) | np.isinf(args[1])
                want = np.where(infinite, evaluate(np.divide, *args), want)
            if (name, dtype) == ("conjugate", "?"):
                want = want.astype("?")  # as arrays have it, and the standard
            assert_same(result, want, 0 if exact else 64 if kind == "c" else 16)


def all_of(some, nin):
    if nin == 1:
        return lambda a: tuple(ufunc(a) for _, ufunc, _ in some)
    return lambda a, b: tuple(ufunc(a, b) for _, ufunc, _ in some)


def test_the_table_is_tried():
    tried = {
        name
        for name in FUSED
        for dtype in TYPES
        for nin in (1, 2)
        if is_tried(getattr(np, name), [np.dtype(dtype)] * nin)
    }
    assert tried == set(FUSED)


def is_tried(ufunc, types):
    try:
        kind = ufunc.resolve_dtypes((*types, None))[0].kind
    except (TypeError, ValueError):
        return False
    return FUSED[ufunc.__name__].text(kind) is not None


@pytest.mark.parametrize(
    "operation",
    [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge],
    ids=lambda o: o.__name__,
)
def test_signed_and_unsigned_numbers_are_compared_by_value(operation):
    check(lambda x, y: operation(x, y), values("q"), values("Q", 1))


# --- types ----------------------------------------------------------------------------------------


def test_numbers_of_the_function_are_weak():
    def function(x):
        return x + 1, x * 2.5, 3 / x, x - np.float64(1), x + np.int8(1), 1j * x

    for dtype in some_of("bHqefdFD", 3):
        check(function, np.arange(1, 7).astype(dtype))


def test_python_numbers_among_the_arguments_are_weak():
    def function(x, k, w):
        return x * k, x + w, x * (k + 1), np.sqrt(x) * (w / 2) + k

    for dtype in some_of("bhqefdFD", 3):
        check(function, np.arange(1, 7).astype(dtype), 3, 0.3)
    check(function, np.arange(3, dtype="f"), np.float64(2), np.int16(1))


def test_numbers_that_do_not_fit_are_refused_as_numpy_refuses_them():
    fused = usmx.fuse(lambda x, k: x + k)
    x = usm(np.ones(3, "i1"))
    assert_same(fused(x, 100), np.full(3, 101, "i1"))
    with pytest.raises(OverflowError):
        fused(x, 300)
    with pytest.raises(OverflowError):
        usmx.fuse(lambda x: x + 300)(x)


@pytest.mark.parametrize("target", TYPES)
def test_astype_converts_as_numpy(target):
    """All types in one kernel, which is compiled once."""
    arrays = []
    for dtype in some_of(TYPES, 4):
        if np.dtype(dtype).kind == "c" and np.dtype(target).kind != "c":
            continue  # NumPy warns; real is the way
        a = values(dtype)
        if np.dtype(dtype).kind == "f" and np.dtype(target).kind in "iu":
            some = np.asarray([0, 1.5, -1.5, 2.99, -2.99, 100], dtype)
            a = np.resize(abs(some) if np.dtype(target).kind == "u" else some, a.shape)
        arrays.append(a)
    names = [f"x{k}" for k in range(len(arrays))]
    results = ", ".join(f"{name}.astype({target!r})" for name in names)
    check(eval(f"lambda {', '.join(names)}: ({results},)"), *arrays)


# --- functions and methods ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_integers_that_a_condition_chose_keep_their_sign_as_floats(dtype):
    def f(x):
        return np.where(x > 0, np.int8(-1), np.int8(0)).astype(dtype)

    x = np.array([1.5, -8, 4, 0], "f4")
    np.testing.assert_array_equal(usmx.fuse(f)(usmx.asarray(x)).to_numpy(), f(x))


def test_functions_that_are_no_ufuncs():
    def function(x, y):
        return (
            np.where(x > y, x, 2),
            np.where(y, x, y),
            np.clip(x, -1, 1.5),
            np.clip(x, None, y),
            x.clip(0),
            np.zeros_like(x),
            np.ones_like(y, dtype="i2") + x,
            np.full_like(x, 7),
        )

    check(function, values("f"), values("d", 1))
    check(function, values("h"), values("f", 1))


@pytest.mark.parametrize("dtype", ["b", "I", "q", "e", "f", "d"])
def test_ufuncs_of_several_types_and_results_are_one_kernel(dtype):
    a = values(dtype)
    by = np.resize(np.arange(-30, 31).astype("i4"), a.size)
    functions = [
        lambda x, k: np.divmod(x[...], 3),
        lambda x, k: divmod(x, x + x),
        lambda x, k: np.modf(x),
        lambda x, k: np.frexp(x),
        lambda x, k: (np.ldexp(x, 3), np.ldexp(x, k), np.ldexp(2, k)),
    ]
    finite = np.isfinite(a)  # of infinities `//` is the standard's
    for function in functions:
        fused = usmx.fuse(function)
        with np.errstate(all="ignore"):
            got, want = fused(usm(a[finite]), usm(by[finite])), function(a[finite], by[finite])
        assert not fused.several
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one.to_numpy(), other)
            if other.dtype.kind == "f":
                known = ~np.isnan(other)
                signs = [np.signbit(each)[known].tolist() for each in (one.to_numpy(), other)]
                assert signs[0] == signs[1]


def test_rounding():
    check(lambda x: (np.round(x), x.round(2), np.around(x, -1)), values("d"))
    check(lambda x: np.round(x), values("h"))


def test_complex_parts():
    def function(z, x):
        return z.real, z.imag, np.conj(z), np.real(x), np.imag(x), z.conj() * z, z + x, z == x

    check(function, np.asarray([1 + 2j, -3j, 4], "F"), np.asarray([1, 2, 3], "f"))


def test_powers_are_those_of_numpys_operator():
    check(lambda x: (x**2, x**0.5, x**-1), np.abs(values("d")))
    check(lambda x: (x**2, x**3), values("h"))
    check(lambda x: 2**x, np.arange(6, dtype="i4"))


def test_broadcasting_and_strides():
    def function(x, y):
        return x * 2 + y

    x = np.arange(24, dtype="f").reshape(2, 3, 4)
    y = np.arange(4, dtype="i2")
    fused = usmx.fuse(function)
    assert_same(fused(usm(x), usm(y)), function(x, y))
    assert_same(fused(usm(x)[:, ::-1, ::2], usm(y)[::-2]), function(x[:, ::-1, ::2], y[::-2]))
    assert_same(fused(usm(x)[0, 0, 0], 2), function(x[0, 0, 0], 2))
    assert fused(usm(x[:0]), 1).shape == (0, 3, 4)


# --- calls ----------------------------------------------------------------------------------------


def test_results_are_shaped_as_the_function_returns_them():
    x = usm(np.arange(3.0))
    assert isinstance(usmx.fuse(lambda x: x)(x), usmx.ndarray)
    one = usmx.fuse(lambda x: (x + 1,))(x)
    assert isinstance(one, tuple)
    assert len(one) == 1
    out = usmx.empty(3, dtype="f8")
    assert usmx.fuse(lambda x: x + 1)(x, out=out) is out
    assert_same(out, np.arange(3.0) + 1)
    assert_same(usmx.fuse(lambda x: np.int16(5))(x), np.full(3, 5, "i2"))


def test_keywords_defaults_and_static_arguments():
    def function(x, factor=2.0, invert=False, dtype=None):
        result = x / factor if invert else x * factor
        return result if dtype is None else result.astype(dtype)

    fused = usmx.fuse(function)
    x = np.arange(4, dtype="f")
    assert_same(fused(usm(x)), function(x))
    assert_same(fused(usm(x), invert=True), function(x, invert=True))
    assert_same(fused(usm(x), 4, dtype="i2"), function(x, 4, dtype="i2"))
    assert fused.__name__ == "function"
    assert "function" in repr(fused)


def test_arrays_of_other_libraries():
    fused = usmx.fuse(lambda x, y: x + y)
    x = dpnp.arange(4, dtype="float32")
    assert_same(fused(x, usm(np.ones(4, "f"))), np.arange(4, dtype="f") + 1)
    shared = usm(np.arange(4, dtype="f"))
    assert_same(fused(np.asarray(shared), 1), np.arange(4, dtype="f") + 1)


def test_a_second_call_compiles_and_traces_nothing(traced):
    @usmx.fuse
    def function(x, y):
        return x * y - 3

    x = usm(np.ones(3, "f"))
    function(x, 2)
    before = sum(_usmx._ProgramStore.counts()[::2])
    function(x, 5)
    function(usm(np.ones((2, 2), "f")), 7)
    assert (len(traced), sum(_usmx._ProgramStore.counts()[::2])) == (1, before)
    function(x, 5.0)
    function(x, x)
    assert len(traced) == 3
    assert any("v0" in text for text in function.sources)


def test_equal_steps_are_computed_once():
    fused = usmx.fuse(lambda x: np.sin(x) * np.sin(x) + np.sin(x))
    fused(usm(np.ones(3, "f")))
    assert fused.sources[0].count("sin(x0)") == 1


# --- what cannot be traced ------------------------------------------------------------------------

ARRAY = np.ones(3)


def looks(x):
    return x if x > 0 else -x


def chains(x):
    return 0 < x < 1


def both(x):
    return np.where((x > 0) and (x < 1), x, 0)


NOT_TRACED = {
    "if": (looks, "cannot decide by the value of an element; use np.where"),
    "chain": (chains, "use np.where(condition, a, b) instead of if, & and |"),
    "and": (both, "cannot decide by the value of an element"),
    "float()": (lambda x: float(x), "use astype(float)"),
    "int()": (lambda x: int(x), "use astype(int)"),
    "array": (lambda x: x + ARRAY, "not with ndarray; pass it as an argument"),
    "usm": (lambda x: x + usmx.ones(3), "not with ndarray; pass it as an argument"),
    "where=": (lambda x: np.sqrt(x, where=x > 0), "where= cannot be fused; use np.where"),
    "type": (lambda x: x.astype("U3"), "dtype <U3 is not supported in kernels"),
    "text": (lambda x: "x", "not with str"),
    "nothing": (lambda x: (), "returns an empty tuple has nothing"),
    "None": (lambda x: None, "not with NoneType"),
    "bits": (lambda x: x & 1, "bitwise_and"),
}


@pytest.mark.parametrize("case", NOT_TRACED)
def test_what_cannot_be_traced(case):
    function, text = NOT_TRACED[case]
    with pytest.raises(TypeError) as raised:
        usmx.fuse(function)(usm(np.ones(3)))
    assert text in str(raised.value)


WHOLE_ARRAYS = {
    "sort": lambda xp, x: xp.sort(x * 2)[1:] + 1,
    "argsort": lambda xp, x: xp.argsort(x)[::-1],
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x) - x,
    "unique_values": lambda xp, x: xp.unique_values(x),
    "take": lambda xp, x: xp.take(x, xp.asarray([2, 0, 1])) + x[:3],
    "mask": lambda xp, x: x[x > 1] * 2,
    "arange": lambda xp, x: x * xp.arange(x.size) + xp.linspace(0, 1, x.size),
    "astype": lambda xp, x: (x * 1.5).astype("i4") + 1,
    "reductions": lambda xp, x: xp.sum(x) + xp.max(x) - xp.mean(x),
    "concat": lambda xp, x: xp.concat([x, x + 1]),
    "matmul": lambda xp, x: x @ x + 1,
    "norm": lambda xp, x: x / xp.linalg.vector_norm(x),
    "roll": lambda xp, x: xp.roll(x, 1) - x,
    "where": lambda xp, x: xp.where(x > 1, x, xp.arange(x.size)),
}


@pytest.mark.parametrize("case", WHOLE_ARRAYS)
def test_functions_of_whole_arrays_can_be_fused(case):
    function = WHOLE_ARRAYS[case]
    host = np.array([3.0, 1.0, 2.5, 0.5, 2.0])
    fused = usmx.fuse(lambda x: function(usmx, x))
    wanted = function(np, host)
    for _ in range(2):
        np.testing.assert_allclose(fused(usm(host)).to_numpy(), wanted)


@needs("host_memory")
def test_bad_calls():
    fused = usmx.fuse(lambda x: x + 1)
    with pytest.raises(TypeError, match="missing the argument 'x'"):
        fused()
    with pytest.raises(TypeError, match="is of type list; expected USM"):
        fused([1])
    assert fused(np.ones(3)).tolist() == [2] * 3
    with pytest.raises(TypeError, match="is not supported in kernels"):
        fused(np.datetime64("2020"))
    with pytest.raises(TypeError, match="expected a function, got int"):
        usmx.fuse(3)

    class Model:
        @usmx.fuse
        def twice(self, x):
            return 2 * x

    with pytest.raises(TypeError, match=r"Model\.twice is a method, which is not supported"):
        Model().twice(np.ones(3))


# --- a reduction at the end -----------------------------------------------------------------------

SMALL = np.arange(-11, 13).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "any", "all"])
def test_a_reduction_ends_a_function(name, axis):
    def by_function(x, y):
        return getattr(np, name)(x % 3 - y, axis=axis)

    def by_method(x, y):
        return getattr(x % 3 - y, name)(axis=axis, keepdims=True)

    # Sums of small whole numbers are exact in any order.
    for dtype in some_of("bqfd", 2):
        check(by_function, SMALL.astype(dtype), 1, ulp=1 if name == "mean" else 0)
    check(by_method, SMALL.astype("f"), SMALL[0].astype("h"), ulp=1 if name == "mean" else 0)


def test_reductions_have_the_types_of_numpy():
    for dtype in some_of(TYPES, 4):
        x = np.asarray([1, 0, 1, 1]).astype(dtype)
        check(lambda x: np.sum(x), x)
        check(lambda x: np.mean(x), x, ulp=1)
        check(lambda x: np.prod(x), x)
    check(lambda x: np.sum(x, dtype="f4"), np.arange(5, dtype="i2"))
    check(lambda x: np.max(x), np.asarray([1, np.nan, 2], "f"))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "min", "max", "any", "all"])
def test_reductions_have_the_bits_of_arrays(name):
    """Sums of float16 are taken in float32 and rounded once, as those of arrays."""
    rng = np.random.default_rng(3)
    for dtype in some_of("efdFbQ?", 3):
        if dtype == "F" and name in ("min", "max"):
            continue
        host = rng.standard_normal(5000) * 3 if name != "prod" else 1 + rng.standard_normal(5000)
        x = usm(host.astype(dtype))
        fused = usmx.fuse(lambda x: getattr(np, name)(x))
        got, wanted = fused(x), getattr(usmx, name)(x)
        assert fused.several == []
        assert got.dtype == wanted.dtype
        assert got.to_numpy().tobytes() == wanted.to_numpy().tobytes()


def test_functions_of_usmx_are_fused_by_what_they_do_with_arrays():
    x = usm(np.array([-1.26, 0.34, np.inf, 2.5], "f"))
    n = usm(np.array([-15, 25, 35, 4], "h"))
    for function, of in [
        (lambda x: usmx.clip(x * 2, -1, 3), x),
        (lambda x: np.clip(x, -1, np.float32(0.5)), x),
        (lambda x: usmx.round(x, 1), x),
        (lambda x: np.round(x, -1), n),
        (lambda x: usmx.modf(x)[0], x),
        (lambda x: usmx.nan_to_num(x), x),
    ]:
        fused = usmx.fuse(function)
        got, wanted = fused(of), function(of)
        assert fused.several == []
        assert got.dtype == wanted.dtype
        assert got.to_numpy().tobytes() == wanted.to_numpy().tobytes()


def test_ints_that_only_an_unsigned_type_holds_stay_what_they_are():
    def function(x, k):
        return k < 4, np.where(k > 5, x, 0), x * (k + 1)

    k = 1 << 63
    got = usmx.fuse(function)(usm(np.arange(3, dtype="f")), k)
    wanted = function(np.arange(3, dtype="f"), k)
    for one, want in zip(got, wanted, strict=True):
        assert_same(one, np.broadcast_to(want, (3,)))


# --- random expressions ---------------------------------------------------------------------------

LEAVES = st.sampled_from(["x", "y", "k", "2", "3.5", "np.float32(0.5)", "np.int8(3)"])
TWO = st.sampled_from(
    [
        *("({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.minimum({}, {})"),
        *("np.where({} > {}, x, y)", "({} // {})", "np.copysign({}, {})", "({} / {})", "({} < {})"),
    ]
)
ONE = st.sampled_from(["abs({})", "(+{})", "np.sqrt(abs({}))", "np.floor({})", "np.square({})"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda f, a, b: f.format(a, b), TWO, inner, inner),
        st.builds(lambda f, a: f.format(a), ONE, inner),
    ),
    max_leaves=6,
)


def floor_quotient(a, b):
    """``a // b`` of NumPy, but for infinities, where ours follow the standard."""
    quotient = a // b
    if not isinstance(quotient, np.ndarray) or quotient.dtype.kind != "f":
        return quotient
    return np.where(np.isinf(a) | np.isinf(b), a / b, quotient).astype(quotient.dtype)


class AsTheStandard(ast.NodeTransformer):
    """Calls `floor_quotient` for each ``//``."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.FloorDiv):
            return node
        return ast.Call(ast.Name("floor_quotient", ast.Load()), [node.left, node.right], [])


@settings(
    max_examples=of_depth(quick=8, full=40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(EXPRESSIONS, st.sampled_from("hIefd"), st.sampled_from("bqfd"), st.sampled_from([3, 0.25]))
@example("(k / (k - k))", "h", "b", 3)
@example("(k // (k - k))", "h", "b", 3)
def test_random_expressions(text, first, second, k):
    function = eval(f"lambda x, y, k: {text} + x * 0")
    in_numpy = AsTheStandard().visit(ast.parse(f"lambda x, y, k: {text} + x * 0", mode="eval"))
    in_numpy = eval(compile(ast.fix_missing_locations(in_numpy), "<expression>", "eval"))
    x, y = values(first, 3, 40), values(second, 4, 40)
    try:
        want = evaluate(in_numpy, x, y, k)
    except (TypeError, OverflowError) as refused:
        with pytest.raises(type(refused)):
            usmx.fuse(function)(usm(x), usm(y), k)
        return
    except ZeroDivisionError:
        # Of plain numbers, such as `k / (k - k)`. To a kernel k is a number like those of arrays:
        # the quotient is infinite, or 0. What Python knows without k it refuses.
        with contextlib.suppress(ZeroDivisionError):
            assert usmx.fuse(function)(usm(x), usm(y), k).shape == np.broadcast(x, y).shape
        return
    assert_same(usmx.fuse(function)(usm(x), usm(y), k), want)


@pytest.mark.parametrize(
    ("text", "k", "wanted", "dtype"),
    [
        ("k / (k - k) + x * 0", 3, np.inf, "float64"),
        ("k / (k - k) + x * 0", 0.25, np.inf, "float64"),
        ("k // (k - k) + x * 0", 3, 0, "int16"),
        ("k // (k - k) + x * 0", 0.25, np.inf, "float64"),
    ],
)
def test_plain_numbers_are_divided_by_zero_as_those_of_arrays(text, k, wanted, dtype):
    made = usmx.fuse(eval(f"lambda x, k: {text}"))(usm(np.array([1, 2], "i2")), k)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.to_numpy(), [wanted, wanted])


@pytest.mark.parametrize("k", [3, 2.5])
@pytest.mark.parametrize(
    "text",
    [
        "(k + (k < k)) + x * 0", "(k < 4) + (k < 5) + x", "-(k + True) + y",
        "(k == 3) - 1 + y", "(k < 4) ** 2 + y", "~(k < 4) + x", "((k < 4) + 0.5) * y",
        "((k < 4) | False) + y", "((k < 4) & (k > 1)) + x", "np.where(k < 4, k, x)",
    ],
)  # fmt: skip
def test_comparisons_of_numbers_are_those_of_python(text, k):
    function = eval(f"lambda x, y, k: {text}")
    x, y = np.arange(5, dtype="i2"), np.ones(5, dtype="i1")
    assert_same(usmx.fuse(function)(usm(x), usm(y), k), np.asarray(function(x, y, k)))


# --- calls whose types were seen before skip Python, and mean what the first meant ----------------


def test_calls_of_known_types_go_on_as_the_first_did(traced):
    def scaled(x, y, z=1):
        return x * y + z

    fused = usmx.fuse(scaled)
    x, out = usm(np.arange(5, dtype="f4")), usmx.empty(5, "f4", usm_type="shared")
    for y in (2, 3):
        assert (fused(x, y, 4).to_numpy() == np.arange(5) * y + 4).all()
        assert (fused(x, y).to_numpy() == np.arange(5) * y + 1).all()
        assert (fused(x, z=4, y=y).to_numpy() == np.arange(5) * y + 4).all()
        assert fused(x, y, 4, out=out, queue=x.queue, depends_on=()) is out
    assert len(traced) == 1
    assert fused(x, 2.5, 4).dtype == np.dtype("f4")
    assert fused(x, 1j, 4).dtype == np.dtype("F")
    assert fused(usm(np.arange(5)), 2, 4).dtype == np.dtype("q")
    assert len(traced) == 4


def test_calls_of_known_types_do_not_ask_python(monkeypatch):
    fused = usmx.fuse(lambda x, y: x * y)
    x = usm(np.arange(5, dtype="f4"))
    calls = [(x, x), (x, 2), (x, 2.5), (x, 1j)]
    first = [fused(*call).to_numpy() for call in calls]
    monkeypatch.setattr(type(fused), "_general", None)
    for call, expected in zip(calls, first, strict=True):
        assert (fused(*call).to_numpy() == expected).all()


def test_calls_of_known_types_refuse_what_the_first_would():
    fused = usmx.fuse(lambda x, y: x + y)
    x = usm(np.arange(5, dtype="f4"))
    for _ in range(2):
        fused(x, x), fused(x, 1)
        with pytest.raises(TypeError, match="missing the argument 'y'"):
            fused(x)
        with pytest.raises(TypeError, match="takes 2 arguments by place, got 3"):
            fused(x, 1, 2)
        with pytest.raises(TypeError, match="size"):
            fused(x, 1, size=3)
        with pytest.raises(ValueError, match="do not broadcast"):
            fused(x, x[:3])
        with pytest.raises(TypeError, match="of type list"):
            fused(x, [1])


def test_numbers_that_fit_no_more_are_still_refused():
    fused = usmx.fuse(lambda x, n: x + n)
    x = usm(np.arange(5, dtype="i1"))
    for _ in range(2):
        assert fused(x, 100).dtype == np.dtype("i1")
        with pytest.raises(OverflowError):
            fused(x, 300)
    assert fused(usm(np.arange(5, dtype="u8")), 1 << 63).to_numpy()[1] == (1 << 63) + 1


def test_one_result_in_a_tuple_stays_one():
    fused = usmx.fuse(lambda x: (x + 1,))
    x = usm(np.arange(5, dtype="f4"))
    for _ in range(2):
        (result,) = fused(x)
        assert result.to_numpy()[1] == 2


def test_a_fused_function_keeps_its_name_and_what_it_says():
    def norm(x):
        """Of a vector."""
        return abs(x)

    fused = usmx.fuse(norm)
    assert (fused.__name__, fused.__doc__) == ("norm", "Of a vector.")
    assert callable(fused)
    assert repr(fused).endswith("norm>")


def test_a_fused_function_is_part_of_another_one_that_calls_it():
    @usmx.fuse
    def scaled(x, by=2.0):
        return x * by

    @usmx.fuse
    def whole(x, y):
        return scaled(x) + scaled(y, by=3) - scaled(by=4.0, x=y)

    x, y = usmx.arange(4, dtype="float32"), usmx.ones(4, "float32")
    with usmx.trace() as trace:
        found = whole(x, y)
    assert found.tolist() == [-1, 1, 3, 5]
    assert trace.summary().kernels == 1


def test_a_fused_function_keeps_its_rounding_where_another_one_calls_it():
    @usmx.fuse(contract=True)
    def joined(x, y, z):
        return x * y + z

    @usmx.fuse(driver_math=True)
    def power(x):
        return np.exp(x)

    @usmx.fuse
    def apart(x, y, z):
        return x * y + z

    @usmx.fuse
    def plain(x, y, z):
        return joined(x, y, z) + (x * y + z)

    @usmx.fuse(contract=True)
    def contracted(x, y, z):
        return joined(x, y, z) + apart(x, y, z)

    @usmx.fuse
    def of_power(x):
        return power(x) + 0

    @usmx.fuse
    def of_sum(x):
        return joined(np.sum(x), x, x)

    rng = np.random.default_rng(3)
    x, y, z = (usmx.asarray(rng.standard_normal(5000)) for _ in range(3))
    one, two = joined(x, y, z).to_numpy(), apart(x, y, z).to_numpy()
    assert (one != two).any()  # or nothing is tested below
    np.testing.assert_array_equal(plain(x, y, z).to_numpy(), one + two)
    assert plain.several == ["joined is fused with contract=True"]
    np.testing.assert_array_equal(contracted(x, y, z).to_numpy(), one + one)
    assert contracted.several == []
    np.testing.assert_array_equal(of_power(x).to_numpy(), power(x).to_numpy())
    assert of_power.several == ["power is fused with driver_math=True"]
    np.testing.assert_allclose(of_sum(x).to_numpy(), float(x.sum()) * x.to_numpy() + x.to_numpy())


def test_a_fused_function_that_another_one_calls_writes_to_out():
    @usmx.fuse
    def doubled(x):
        return x * 2

    @usmx.fuse
    def whole(x, y):
        return doubled(x, out=y) + 1

    @usmx.fuse
    def of_sum(x):
        return doubled(np.sum(x)) + x

    x, y = usmx.arange(3.0), usmx.zeros(3)
    assert whole(x, y).tolist() == [1, 3, 5]
    assert y.tolist() == [0, 2, 4]
    assert whole.several == ["doubled is called with out=, queue= or depends_on="]
    assert of_sum(x).tolist() == [6, 7, 8]
