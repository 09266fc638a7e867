"""Views, shapes, copies and casts have the layout and the values that NumPy gives them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from depths import of_depth
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usmx

KINDS = ("device", "shared", "host")
DTYPES = [
    "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16",
]  # fmt: skip
RECORD = np.dtype([("x", "<f4"), ("n", "<i2"), ("v", "u1", (2, 3))])


def sample(shape: tuple[int, ...], dtype: Any = "f4") -> np.ndarray[Any, Any]:
    size = int(np.prod(shape, dtype=int))
    if np.dtype(dtype) == RECORD:
        raw = np.arange(size * RECORD.itemsize, dtype="u1") % 251
        return (
            np.frombuffer(raw.tobytes(), RECORD).reshape(shape) if size else np.zeros(shape, RECORD)
        )
    values = np.arange(size) % 113
    if np.dtype(dtype).kind == "c":
        return (values + 1j * (values % 5)).astype(dtype).reshape(shape)
    if np.dtype(dtype).kind == "b":
        return (values % 3 == 0).reshape(shape)
    return values.astype(dtype).reshape(shape)


def steps(a: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple(s // a.itemsize for s in a.strides)


def check(ours: Any, numpys: Any, layout: bool = True) -> None:
    numpys = np.asarray(numpys)
    assert isinstance(ours, usmx.ndarray)
    assert ours.shape == numpys.shape
    assert ours.dtype == numpys.dtype
    if layout and numpys.size > 0:
        # Steps of dimensions of length one lead nowhere.
        reach = [k for k, n in enumerate(numpys.shape) if n > 1]
        assert [ours.strides[k] for k in reach] == [steps(numpys)[k] for k in reach]
    if layout:
        for flag in ("c_contiguous", "f_contiguous"):
            assert getattr(ours.flags, flag) == getattr(numpys.flags, flag)
    np.testing.assert_array_equal(ours.to_numpy(), numpys)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "c": lambda a: a,
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1],
    "stepped": lambda a: a[..., ::2],
    "backwards": lambda a: a[:, ::-2],
    "inner": lambda a: a[1:-1, 1:-1],
    "swapped": lambda a: a.swapaxes(0, 2)[::-1],
    "one": lambda a: a[:1, :, 2:3],
    "empty": lambda a: a[2:2],
}
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "item": lambda a: a[0] if a.shape[0] else a,
    "last": lambda a: a[-1, ..., -1] if a.size else a,
    "slice": lambda a: a[1:, :, ::-1],
    "ellipsis": lambda a: a[..., 1:],
    "newaxis": lambda a: a[None, :, None],
    "t": lambda a: a.T,
    "mt": lambda a: a.mT,
    "transpose": lambda a: a.transpose(1, -1, 0),
    "reshape": lambda a: a.reshape(-1) if a.size else a.reshape(0),
    "reshape2": lambda a: a.reshape(a.shape[0], a.shape[1] * a.shape[2]),
    "reshape_f": lambda a: a.reshape((a.size, 1), order="F"),
    "reshape_a": lambda a: a.reshape((a.size,), order="A"),
    "squeeze": lambda a: a.squeeze(),
    "ravel": lambda a: a.ravel(),
    "flatten": lambda a: a.flatten("F"),
    "copy": lambda a: a.copy(),
    "copy_f": lambda a: a.copy("F"),
    "copy_a": lambda a: a.copy("A"),
    "copy_k": lambda a: a.copy(order="K"),
    "astype": lambda a: a.astype(a.dtype),
}


@pytest.mark.parametrize("dtype", [*DTYPES, RECORD], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_operation_on_every_layout_is_numpys(kind: str, dtype: Any, layout: str) -> None:
    base = sample((4, 5, 6), dtype)
    ours, numpys = LAYOUTS[layout](usmx.asarray(base, usm_type=kind)), LAYOUTS[layout](base)
    check(ours, numpys)
    for name, operation in OPERATIONS.items():
        result, expected = operation(ours), operation(numpys)
        assert isinstance(result, usmx.ndarray), name
        check(result, expected)
        assert result.usm_type == kind
        expects_view = name not in ("astype", "flatten") and not name.startswith("copy")
        if expects_view and expected.size and np.shares_memory(expected, base):
            memory = ours.usm_data
            assert memory._pointer <= result.pointer < memory._pointer + memory.nbytes


def test_casts_of_floats_round_and_truncate_as_numpy(kind: str) -> None:
    values = np.array(
        [-2.7, -0.5, 0.0, -0.0, 0.49, 1.5, 2.5, 99.99, 1e-8, 65504.0, 70000.0, np.inf, np.nan]
    )
    a = usmx.asarray(values, usm_type=kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in ("f2", "f4", "c8", "?"):
            np.testing.assert_array_equal(a.astype(target).to_numpy(), values.astype(target))
        for target in ("i1", "i2", "i4", "i8"):
            check(a[:8].astype(target), values[:8].astype(target))


def _hard_to_round(kind: str) -> np.ndarray:
    """64-bit integers halfway between two floats, and their neighbours, of all lengths."""
    rng = np.random.default_rng(3)
    halves = [
        ((2 * int(m) + 1) << k) + e
        for digits in (24, 53)
        for k in range(64 - digits)
        for m in rng.integers(1 << (digits - 1), 1 << digits, 20)
        for e in (-1, 0, 1)
    ]
    powers = [(1 << k) + e for k in range(65) for e in range(-3, 4)]
    bits = np.array([n % (1 << 64) for n in halves + powers], "u8")
    numbers = np.concatenate(
        [bits, rng.integers(0, 1 << 64, 4000, "u8") >> rng.integers(0, 64, 4000, "u8")]
    )
    return np.concatenate([numbers.view("i8"), -numbers.view("i8")]) if kind == "i8" else numbers


@pytest.mark.parametrize("target", ["f4", "f8"])
@pytest.mark.parametrize("kind", ["i8", "u8"])
def test_integers_of_64_bits_are_rounded_once(kind: str, target: str) -> None:
    values = _hard_to_round(kind)
    values = values[: values.size // 40 * 40]
    ours = usmx.asarray(values, usm_type="device")
    check(ours.astype(target), values.astype(target))
    rows, by_numpy = ours.reshape(40, -1)[:, 1:-1], values.reshape(40, -1)[:, 1:-1]
    check(rows.astype(target), by_numpy.astype(target))
    one = np.ones(1, target)
    check(rows * usmx.asarray(one), by_numpy * one)  # in a kernel of an expression


@pytest.mark.parametrize("rank", [0, 1, 2, 5, 8, 64])
def test_any_rank(kind: str, rank: int) -> None:
    shape = tuple(2 if k < 8 else 1 for k in range(rank))
    base = sample(shape, "i4")
    ours = usmx.asarray(base, usm_type=kind)
    check(ours, base)
    check(ours.T, base.T)
    backwards = (slice(None, None, -1),) * rank
    check(ours[backwards], base[backwards])
    check(ours.T.astype("f8"), base.T.astype("f8"))
    check(ours.T.copy(), base.T.copy())
    zeros = usmx.zeros(shape, "f4", usm_type=kind)
    zeros.T[...] = ours.T
    check(zeros, base.astype("f4"))
    assert str(ours.item((0,) * rank)) == "0"


def test_rank_64_is_the_last() -> None:
    a = usmx.zeros((1,) * 64)
    with pytest.raises(ValueError, match="64"):
        a[None]
    with pytest.raises(ValueError, match="64"):
        usmx.zeros((1,) * 65)


def test_zero_strides_repeat(kind: str) -> None:
    base = sample((1, 5))
    ours = usmx.broadcast_to(usmx.asarray(base, usm_type=kind), (40, 5))
    check(ours, np.broadcast_to(base, (40, 5)))
    assert not ours.flags.writeable
    check(ours.astype("i8"), np.broadcast_to(base, (40, 5)).astype("i8"), layout=False)
    with pytest.raises(ValueError, match="broadcast"):
        usmx.broadcast_to(ours, (3, 5))


INDICES = st.one_of(
    st.integers(-3, 3),
    st.slices(7),
    st.builds(
        slice,
        st.none() | st.integers(-9, 9),
        st.none() | st.integers(-9, 9),
        st.sampled_from([None, 1, -1, 2, -3]),
    ),
    st.just(Ellipsis),
    st.none(),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("index"), st.lists(INDICES, max_size=4).map(tuple)),
        st.tuples(st.just("transpose"), st.randoms(use_true_random=False)),
        st.tuples(st.just("reshape"), st.none()),
        st.tuples(st.just("squeeze"), st.none()),
    ),
    max_size=5,
)


@settings(
    max_examples=of_depth(quick=30, full=200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    shape=st.lists(st.integers(0, 7), max_size=4).map(tuple), chain=STEPS, value=st.integers(0, 9)
)
def test_chains_of_views_reach_the_same_elements(
    kind: str, shape: tuple[int, ...], chain: list[tuple[str, Any]], value: int
) -> None:
    base = sample(shape, "i4")
    numpys, root = base, usmx.asarray(base, usm_type=kind)
    ours = root
    for name, argument in chain:
        if name == "index":
            try:
                numpys = np.asarray(numpys[argument]) if argument else numpys
            except IndexError as error:
                with pytest.raises(IndexError, match=str(error)[:20]):
                    ours[argument]
                continue
            if np.ndim(numpys) == 0 and not np.shares_memory(numpys, base):
                return  # NumPy gave a scalar; ours stays a view
            ours = ours[argument] if argument else ours
        elif name == "transpose":
            order = list(range(numpys.ndim))
            argument.shuffle(order)
            numpys, ours = numpys.transpose(order), ours.permute(order)
        elif name == "reshape":
            if not np.shares_memory(numpys, numpys.reshape(-1)):
                continue
            numpys, ours = numpys.reshape(-1), ours.reshape(-1)
        else:
            numpys, ours = numpys.squeeze(), ours.squeeze()
        assert ours.shape == numpys.shape
    np.testing.assert_array_equal(ours.to_numpy(), numpys)
    check(ours.copy(), numpys.copy())
    # Writing through the chain changes exactly what it changes in NumPy.
    if np.shares_memory(numpys, base):
        numpys[...] = value
        ours[...] = value
        np.testing.assert_array_equal(root.to_numpy(), base)


def test_indexing_errors_are_numpys() -> None:
    a = usmx.zeros((3, 4))
    for key, text in [
        (3, "index 3 is out of bounds for axis 0 with size 3"),
        ((0, -5), "index -5 is out of bounds for axis 1 with size 4"),
        ((0, 0, 0), "too many indices"),
        ((..., ...), "single ellipsis"),
        (2**70, "int"),
        ("x", "only records"),
    ]:
        with pytest.raises(IndexError, match=text):
            a[key]
    for key in (1.5, [1.5], np.zeros(2), object()):
        expected = "expected integers, slices, ..., None, or arrays or lists of integers or bools"
        with pytest.raises(IndexError, match=expected):
            a[key]
        with pytest.raises(IndexError, match=expected):
            a[key] = 0
    with pytest.raises(ValueError, match="zero"):
        a[::0]


def test_fields_of_records_are_views(kind: str) -> None:
    record = np.dtype([("x", "<f4"), ("n", "<i4"), ("v", "<f4", (2,))])
    base = np.zeros(6, record)
    base["x"], base["n"], base["v"] = np.arange(6), -np.arange(6), np.arange(12).reshape(6, 2)
    a = usmx.asarray(base, usm_type=kind)
    assert a.dtype == record
    for name in ("x", "n", "v"):
        check(a[name], base[name], layout=False)
        check(a[::-2][name], base[::-2][name], layout=False)
    a["n"] = 7
    base["n"] = 7
    np.testing.assert_array_equal(a.to_numpy(), base)
    assert a[2].item()[:2] == base[2].item()[:2]
    a[1] = (1.0, 2, (3.0, 4.0))
    assert a[1].item()[1] == 2
    with pytest.raises(ValueError, match="is not a field"):
        a["y"]


def test_reshape_says_what_does_not_fit() -> None:
    a = usmx.zeros((3, 4))
    for shape in ((5,), (-1, 5), (-1, -1), (2, -6), (0,), (-1, 0)):
        with pytest.raises(ValueError, match=r"reshape|shape"):
            a.reshape(shape)
    with pytest.raises(ValueError, match="copy"):
        a.T.reshape(-1, copy=False)
    assert a.reshape(12, copy=True).pointer != a.pointer
    assert a.reshape((2, 6), copy=False).pointer == a.pointer
    with pytest.raises(ValueError, match="axes"):
        a.transpose(0, 0)
    with pytest.raises(ValueError, match="out of bounds"):
        a.transpose(0, 2)
    with pytest.raises(ValueError, match="squeeze"):
        a.squeeze(0)
    with pytest.raises(ValueError, match="order"):
        a.reshape(12, order="X")


@pytest.mark.parametrize(
    "value",
    [
        5,
        2.5,
        True,
        np.float32(3),
        np.arange(4),
        np.arange(3)[:, None],
        [[1], [2], [3]],
        [1, 2, 3, 4],
        np.arange(12).reshape(1, 1, 3, 4),
        np.arange(4, dtype=">i4"),
    ],
    ids=repr,
)
def test_assignment_broadcasts_and_casts(kind: str, value: Any) -> None:
    for dtype in ("f4", "i2", "c16"):
        base = np.zeros((3, 4), dtype)
        ours = usmx.asarray(base, usm_type=kind)
        ours[...] = value
        base[...] = value
        np.testing.assert_array_equal(ours.to_numpy(), base)
        ours[::-1, ::2] = 1
        base[::-1, ::2] = 1
        np.testing.assert_array_equal(ours.to_numpy(), base)


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        ("u1", 300, OverflowError),
        ("u1", -1, OverflowError),
        ("i8", 2**63, OverflowError),
        ("i4", float("nan"), ValueError),
        ("i4", float("inf"), OverflowError),
        ("f4", 1j, TypeError),
        ("f4", "x", (TypeError, ValueError)),
        ("i4", None, TypeError),
        ("f4", object(), TypeError),
    ],
)
def test_values_that_do_not_fit_are_refused(dtype: str, value: Any, error: Any) -> None:
    a = usmx.zeros(3, dtype)
    with pytest.raises(error):
        a[1] = value
    with pytest.raises(error):
        usmx.full(3, value, dtype)
    assert a.tolist() == [0, 0, 0]


def test_numbers_of_numpy_that_do_not_fit_are_refused_as_in_numpy(kind: str) -> None:
    for xp, a in ((np, np.zeros(3, "i1")), (usmx, usmx.zeros(3, "i1", usm_type=kind))):
        for key in (1, slice(None), ...):
            for value in (np.int64(300), np.uint8(200), 300):
                with pytest.raises(OverflowError):
                    a[key] = value
        a[1] = np.int64(-3)
        assert a.tolist() == [0, -3, 0], xp


def test_shapes_that_do_not_broadcast_are_refused(kind: str) -> None:
    a = usmx.zeros((3, 4), usm_type=kind)
    for value in (np.zeros(3), usmx.zeros(5), [1, 2], np.zeros((2, 3, 4))):
        with pytest.raises(ValueError, match="broadcast"):
            a[...] = value


VIEWED = {
    "row": lambda a: a,
    "matrix": lambda a: a.reshape(4, 24),
    "columns": lambda a: a.reshape(4, 24)[:, :8],
    "rows": lambda a: a.reshape(8, 12)[::-2],
    "transposed": lambda a: a.reshape(4, 24).T,
    "steps": lambda a: a[::3],
    "one column": lambda a: a.reshape(96, 1)[::2],
    "nothing": lambda a: a[:0],
    "no rows": lambda a: a.reshape(4, 24)[:0],
    "a single one": lambda a: a[5:6].reshape(()),
    "broadcast": lambda a: a[:8].reshape(1, 8),
    "records of three": lambda a: a.reshape(-1, 3),
}


@pytest.mark.parametrize("where", VIEWED)
@pytest.mark.parametrize("old", ["u1", "i2", "f4", "i8", "c16"])
def test_a_view_as_another_type_is_numpys(kind: str, old: str, where: str) -> None:
    host = np.arange(96).astype(old)
    theirs = VIEWED[where](host)
    ours = VIEWED[where](usmx.asarray(host, usm_type=kind))
    for new in ("u1", "?", "i2", "f4", "i8", "c16", [("a", "i1"), ("b", "i2")]):
        try:
            expected = theirs.view(new)
        except ValueError:
            with pytest.raises(ValueError, match=r"^(dtype|data|shape|strides|pointer|typestr)"):
                ours.view(new)
            continue
        if not expected.flags.aligned:
            with pytest.raises(ValueError, match="align"):
                ours.view(new)
            continue
        found = ours.view(new)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert found.size == 0 or found.pointer == ours.pointer
        assert found.to_numpy().tobytes() == expected.tobytes()


def test_a_view_shares_its_memory_and_stays_read_only() -> None:
    x = usmx.zeros(4, "float32", usm_type="shared")
    x.view("int32")[1] = 0x3F800000
    assert x.to_numpy().tolist() == [0, 1, 0, 0]
    assert x.view().dtype == x.dtype
    x.flags.writeable = False
    assert not x.view("u1").flags.writeable
    with pytest.raises(TypeError):
        x.view(3.5)  # type: ignore[arg-type]


def test_a_view_between_aligned_addresses_is_refused() -> None:
    x = usmx.zeros(17, "u1", usm_type="shared")
    with pytest.raises(ValueError, match="align"):
        x[1:].view("int64")


@pytest.mark.parametrize("kind", ["shared", "device"])
def test_bytes_and_casts_take_numpys_arguments(kind: str) -> None:
    n = np.arange(24, dtype="i2").reshape(2, 3, 4)
    for there in (n, n.T, n.transpose(1, 0, 2), n[::-1]):
        x = usmx.asarray(n, usm_type=kind)
        ours = {n.strides: x, n.T.strides: x.T}.get(there.strides, x.transpose(1, 0, 2))
        if there.strides == n[::-1].strides:
            ours = x[::-1]
        for order in ("C", "F", "A", "K", None):
            assert ours.tobytes(order) == there.tobytes(order), (there.strides, order)
    f = usmx.asarray([0.5, 2.5], usm_type=kind)
    assert f.astype("i4", "C", "unsafe", False, True).tolist() == [0, 2]
    assert f.astype("f4", casting="same_kind", subok=False).dtype == np.float32
    for casting in ("no", "equiv", "safe", "same_kind"):
        with pytest.raises(TypeError, match=f"not cast to int32 by the rule '{casting}'"):
            f.astype("i4", casting=casting)
    with pytest.raises(ValueError, match="casting"):
        f.astype("i4", casting="perhaps")
