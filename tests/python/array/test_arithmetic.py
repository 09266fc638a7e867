# Arrays compute as NumPy's do: the same types for every pair, the same values, and what is deferred
# until it is needed is never seen to be.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import gc
import itertools
import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backend_row import needs
from depths import some
from together import compute_together

import usmx
from usmx import _usmx
from usmx._operations import OPERATIONS, Operation

NUMBERS = "?bBhHiIqQefdFD"
ROWS = [row for row in OPERATIONS if row.texts]
OF_NUMPY = [row for row in ROWS if isinstance(getattr(np, row.name, None), np.ufunc)]
# Complex numbers that usmx refuses and NumPy takes.
NO_COMPLEX = {row.name for row in ROWS if not any("c" in kinds for kinds, _ in row.texts)}


def sample(char: str, row: Operation, seed: int, size: int = 37) -> np.ndarray:
    """Values of a type where the operation is defined."""
    rng = np.random.default_rng(seed)
    low, high = row.domain
    if char == "?":
        return rng.integers(0, 2, size).astype("?")
    if char in "bBhHiIqQ":
        return rng.integers(0 if char.isupper() else -9, 9, size).astype(char)
    values = rng.uniform(low, high, size)
    return (values + 1j * rng.uniform(low, high, size) if char in "FD" else values).astype(char)


@pytest.mark.parametrize("row", OF_NUMPY, ids=lambda row: row.name)
def test_the_types_are_those_of_numpy(row: Operation) -> None:
    ufunc = getattr(np, row.name)
    weak = {int: 1, float: 1.5, complex: 1j}
    operands = [*NUMBERS, *weak] if row.arity > 1 else [*NUMBERS]
    for types in itertools.product(operands, repeat=row.arity):
        if all(isinstance(t, type) for t in types):
            continue
        given = [t if isinstance(t, type) else np.dtype(t) for t in types]
        try:
            wanted = [*ufunc.resolve_dtypes((*given, None))]
        except TypeError:
            wanted = None
        got = _usmx._result_types(row.name, *[weak.get(t, t) for t in given])
        if wanted and any(t.kind == "c" for t in wanted[:-1]) and row.name in NO_COMPLEX:
            wanted = None
        if row.name.startswith("logical") or row.name == "conjugate":
            # Cast to other types on the way, with the same values.
            wanted, got = wanted and wanted[-1:], got and got[-1:]
            if row.name == "conjugate" and given == [np.dtype("?")]:
                wanted = [np.dtype("?")]
        assert got == wanted, (types, got, wanted)


def test_logic_needs_no_type_that_holds_both_operands() -> None:
    """NumPy makes bools of operands of two types: a device without float64 can do that, too."""
    for row in ("logical_and", "logical_or", "logical_xor"):
        assert _usmx._result_types(row, np.dtype("f4"), np.dtype("i4")) == [np.dtype("?")] * 3
        x, y = np.array([0.5, np.nan, 0, -0.0], "f4"), np.array([1, 0, 1 << 30, 0], "i4")
        got = getattr(usmx, row)(usmx.asarray(x), usmx.asarray(y))
        assert got.tolist() == getattr(np, row)(x, y).tolist()


@functools.cache
def values_of_every_row(char: str) -> dict[str, tuple[list[np.ndarray], np.ndarray]]:
    """The operands of each operation that takes a type, and the values."""
    made = {}
    for row in OF_NUMPY:
        if _usmx._result_types(row.name, *[np.dtype(char)] * row.arity) is None:
            continue
        operands = [sample(char, row, k) for k in range(row.arity)]
        if row.name in ("left_shift", "right_shift"):
            operands[1] = abs(operands[1])
        if row.name == "power" and char in "bhiq":
            operands[1] = abs(operands[1])
        made[row.name] = operands, getattr(usmx, row.name)(*map(usmx.asarray, operands))
    compute_together(result for _, result in made.values())
    return {name: (operands, result.to_numpy()) for name, (operands, result) in made.items()}


@pytest.mark.parametrize("row", OF_NUMPY, ids=lambda row: row.name)
def test_the_values_are_those_of_numpy(row: Operation) -> None:
    for char in some("?hQfD", 2):  # the tests of fused functions have each type
        if row.name not in values_of_every_row(char):
            continue
        operands, got = values_of_every_row(char)[row.name]
        with np.errstate(all="ignore"):
            wanted = getattr(np, row.name)(*operands)
        assert got.dtype == wanted.dtype or (row.name, char) == ("conjugate", "?")
        exact = not (row.ulps or row.complex_ulps) or wanted.dtype.kind in "biu"
        if exact and (char not in "FD" or wanted.dtype.kind == "b"):
            np.testing.assert_array_equal(got, wanted, err_msg=f"{row.name} of {char}")
        else:
            ulps = max(row.ulps, row.complex_ulps, 4)
            bound = ulps * np.finfo(wanted.dtype).eps
            np.testing.assert_allclose(got, wanted, rtol=bound, err_msg=f"{row.name} of {char}")


def test_values_of_one_shape_are_computed_together() -> None:
    x = usmx.asarray(np.arange(5, dtype="f4"))
    values = [x + 1, x * 2, x - 3]
    with usmx.trace() as t:
        compute_together(values)
    assert t.summary().kernels == 1
    assert not any(usmx.explain(v).kernels for v in values)


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge,
]  # fmt: skip


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_operators_take_numbers_scalars_and_arrays_of_numpy_on_both_sides(op) -> None:
    n = np.arange(1, 7, dtype="f4").reshape(2, 3)
    x = usmx.asarray(n)
    made = []
    for other in (2, 2.5, True, np.float32(3), np.int64(4), n[::-1], n[0]):
        made += [(op(x, other), op(n, other)), (op(other, x), op(other, n))]
    compute_together(ours for ours, _ in made)
    for ours, wanted in made:
        assert isinstance(ours, usmx.ndarray)
        assert ours.dtype == wanted.dtype
        np.testing.assert_array_equal(ours.to_numpy(), wanted)


@pytest.mark.parametrize("kind", ["shared", "device"])
def test_lists_and_tuples_are_operands_as_in_numpy(kind: str) -> None:
    n = np.arange(3, dtype="i4")
    x = usmx.asarray(n, usm_type=kind)
    for op in BINARY:
        for other in ([1, 2, 3], (1.5, 2, 3), [[1], [2]], [True, False, True]):
            if op is operator.mod and not all(np.ravel(other)):
                continue
            with np.errstate(all="ignore"):
                wanted, turned = op(n, np.asarray(other)), op(np.asarray(other), n)
            for ours, theirs in ((op(x, other), wanted), (op(other, x), turned)):
                assert ours.usm_type == kind
                assert ours.dtype == theirs.dtype
                np.testing.assert_array_equal(ours.to_numpy(), theirs)
    x += [1, 2, 3]
    assert x.tolist() == [1, 3, 5]
    assert (x == (1, 3, 4)).tolist() == [True, True, False]
    assert usmx.add([1, 1, 1], x).tolist() == [2, 4, 6]


def test_what_cannot_be_computed_with_is_an_error_where_it_is_written() -> None:
    x = usmx.arange(3)
    for wrong in ("text", object(), {}):
        with pytest.raises(TypeError):
            x + wrong  # type: ignore[operator]
        with pytest.raises(TypeError):
            x < wrong  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError, match="array cannot be compared"):
        x == "text"  # noqa: B015
    with pytest.raises(ValueError, match="shape"):
        x + usmx.arange(4)
    with pytest.raises(ValueError, match="shapes"):
        operator.add(x, [1, 2])
    with pytest.raises(OverflowError):
        usmx.ones(3, "int8") + 300
    with pytest.raises(TypeError, match="subtract"):
        usmx.ones(3, "?") - usmx.ones(3, "?")
    with pytest.raises(TypeError, match="bitwise_and"):
        usmx.ones(3) & 1
    with pytest.raises(TypeError):
        hash(x)
    assert (x != None) is True  # noqa: E711


def test_integers_are_compared_by_value() -> None:
    x = usmx.asarray(np.array([0, 255], "u1"))
    assert (x < 300).tolist() == [True, True]
    assert (x == -1).tolist() == [False, False]
    big = usmx.asarray(np.array([0, 2**64 - 1], "u8"))
    assert (big > usmx.asarray(np.array([-1, -1], "i8"))).tolist() == [True, True]
    assert (big == -1).tolist() == [False, False]


def test_layouts_and_broadcasting() -> None:
    n = np.arange(24.0).reshape(2, 3, 4)
    x = usmx.asarray(n)
    for key in (np.s_[::-1], np.s_[:, ::2], np.s_[..., 1:3], np.s_[0], np.s_[:, None]):
        np.testing.assert_array_equal((x[key] * 2 + 1).to_numpy(), n[key] * 2 + 1)
    np.testing.assert_array_equal((x + x[:, :1] - x[0, 0]).to_numpy(), n + n[:, :1] - n[0, 0])
    np.testing.assert_array_equal((x.T * x.T).to_numpy(), n.T * n.T)
    assert (usmx.empty((0, 3)) + usmx.ones(3)).shape == (0, 3)
    assert (x[0, 0, 0] + 1).tolist() == 1.0
    row = x[0, 0] + 1  # not computed, and broadcast
    np.testing.assert_array_equal((x * row).to_numpy(), n * (n[0, 0] + 1))


# --- what is deferred is never seen to be


def ways_to_change(x: usmx.ndarray) -> dict[str, object]:
    one = usmx.full(x.shape, 100.0, x.dtype)
    fill = usmx.RawKernel("USMX_KERNEL(1) fill(float* x) { x[usmx::global_id()] = 100; }", "fill")

    def by_numpy() -> None:
        np.asarray(x)[...] = 100

    def by_kernel() -> None:
        fill[x.size](x).wait()

    def by_another_queue() -> None:
        usmx.copy_async(x, one, queue=usmx.Queue()).wait()

    return {
        "operator": lambda: operator.iadd(x, one),
        "element": lambda: operator.setitem(x, 0, 100),
        "slice": lambda: operator.setitem(x, slice(None), 100),
        "view": lambda: operator.setitem(x[::2], ..., 100),
        "fill": lambda: usmx.fill(x, 100),
        "copy": lambda: usmx.copy(x, one),
        "kernel": by_kernel,
        "queue": by_another_queue,
        "memory": lambda: x.usm_data.copy_from_host(np.full(x.shape, 100, "f4")),
        **({} if x.usm_type == "device" else {"numpy": by_numpy}),
    }


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_a_result_has_the_values_from_before_its_operands_changed(kind: str) -> None:
    names = [*ways_to_change(usmx.zeros(4, "f4", usm_type=kind))]
    for name in names:
        x = usmx.asarray(np.arange(4, dtype="f4"), usm_type=kind)
        inner = x + 1
        y = inner * 2
        del inner  # known to nothing but `y`
        ways_to_change(x)[name]()
        assert y.tolist() == [2, 4, 6, 8], name
        assert x.tolist() != [0, 1, 2, 3], name


def test_what_others_can_write_to_is_read_at_once() -> None:
    x = usmx.asarray(np.arange(4, dtype="f4"), usm_type="shared")
    view = np.asarray(x)
    y = x + 1
    x.queue.wait()  # as before any write of the host
    view[...] = 50
    assert y.tolist() == [1, 2, 3, 4]


def test_in_place_operators_keep_the_memory_and_the_type() -> None:
    x = usmx.asarray(np.arange(4, dtype="f4"))
    alias, before = x[1:], x.pointer
    x += 1
    x *= usmx.asarray(np.arange(4))
    assert x.pointer == before
    assert x.dtype == np.float32
    assert alias.tolist() == [2, 6, 12]
    with pytest.raises(TypeError, match="complex"):
        x += 1j
    with pytest.raises(ValueError, match="shape"):
        x += usmx.ones((2, 4), "f4")
    y = usmx.arange(4) + 1  # not computed yet
    same = y
    y += 1
    y **= 2
    assert same is y
    assert y.tolist() == [4, 9, 16, 25]


def test_only_what_is_seen_is_stored() -> None:
    x = usmx.asarray(np.arange(1000, dtype="f4"))
    (x + 1).to_numpy()  # what a first use allocates
    with usmx.trace() as t:
        y = (x + 1) * 2 - x
        _ = y.pointer
    assert t.summary().kernels == 1
    assert t.summary().bytes_allocated == 4000
    with usmx.trace() as t:
        kept = x + 3
        z = kept * 2
        _ = z.pointer
        assert kept.tolist()[:2] == [3, 4]
    assert t.summary().kernels == 1
    with usmx.trace() as t:
        _ = x + 5
        del _
        gc.collect()
    assert t.summary().kernels == 0


def test_long_chains_are_cut_into_kernels() -> None:
    x = usmx.asarray(np.arange(5, dtype="f8"))
    y = x
    for k in range(1000):
        y = y + k % 3
    assert y.tolist() == [v + sum(k % 3 for k in range(1000)) for v in range(5)]
    many = [usmx.full(3, float(k)) for k in range(100)]
    assert sum(many[1:], many[0]).tolist() == [4950] * 3


def test_threads_compute_one_value_once() -> None:
    x = usmx.asarray(np.arange(100, dtype="f4"))
    for _ in range(50):
        y = x + 1
        results: list[list[float]] = []
        threads = [
            threading.Thread(target=lambda y=y, r=results: r.append(y.tolist())) for _ in "abcd"
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert results == [[float(k + 1) for k in range(100)]] * 4


def test_out_and_dtype() -> None:
    x = usmx.arange(3, dtype="f4")
    out = usmx.empty(3, "f4")
    assert usmx.add(x, 1, out=out) is out
    assert out.tolist() == [1, 2, 3]
    assert usmx.add(x, 1, dtype="f8").dtype == np.float64
    usmx.add(out, out, out=out)
    assert out.tolist() == [2, 4, 6]
    usmx.multiply(out[::-1], 1, out=out)
    assert out.tolist() == [6, 4, 2]
    with pytest.raises(TypeError, match="out"):
        usmx.add(x, 1, out=usmx.empty(3, "i4"))
    with pytest.raises(ValueError, match="shape"):
        usmx.add(x, 1, out=usmx.empty(4, "f4"))


# --- a few elements are computed on the host

SPECIAL = {
    "f": [0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, 1.1754944e-38, 2.5],
    "d": [0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 5e-324, 1.7e308, 2.2e-308, 3.3],
}


def extremes(char: str) -> np.ndarray:
    if char in SPECIAL:
        return np.array(SPECIAL[char], char)
    if char == "?":
        return np.array([0, 1], "?")
    limits = np.iinfo(char)
    return np.array([limits.min, limits.max, 0, 1, limits.max // 2, limits.min // 2 + 3, 7], char)


@pytest.mark.parametrize("char", "?bBhHiIqQfd")
@needs("few_on_host")
def test_the_host_computes_the_same_bits_as_a_kernel(char: str) -> None:
    values = extremes(char)
    pairs = [m.ravel() for m in np.meshgrid(values, values)]
    on_host, by_kernel = {}, {}
    for row in OF_NUMPY:
        operands = pairs[: row.arity]
        if row.arity > 2 or _usmx._result_types(row.name, *[np.dtype(char)] * row.arity) is None:
            continue
        function = getattr(usmx, row.name)
        with usmx.trace() as t:
            ours = function(*[usmx.asarray(v, usm_type="shared") for v in operands])
        if usmx.explain(ours).kernels:
            continue
        assert t.summary().kernels == 0
        on_host[row.name] = ours.to_numpy()
        wanted = function(*[usmx.asarray(v, usm_type="device") for v in operands])
        assert usmx.explain(wanted).kernels
        by_kernel[row.name] = wanted
    for arity in (1, 2):  # of one shape each
        compute_together(
            by_kernel[r.name] for r in OF_NUMPY if r.arity == arity and r.name in on_host
        )
    for name, ours in on_host.items():
        wanted = by_kernel[name].to_numpy()
        # Which NaN it is differs from processor to processor.
        both_nan = (ours != ours) & (wanted != wanted)  # noqa: PLR0124
        bits = f"u{ours.itemsize}"
        assert ((ours.view(bits) == wanted.view(bits)) | both_nan).all(), name
    assert len(on_host) >= 10


def kernels_of(function: Callable[[], Any]) -> tuple[Any, int]:
    """The result, and how many kernels were launched until it could be read."""
    with usmx.trace() as t:
        result = function()
        result.to_numpy()
    return result, t.summary().kernels


FOLDS = {
    "sum": "bBhHiIqQfd", "prod": "bBhHiIqQfd", "min": "?bBhHiIqQfd", "max": "?bBhHiIqQfd",
    "mean": "?bBhHiIqQfd", "any": "?bBhHiIqQfd", "all": "?bBhHiIqQfd",
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDS)
@needs("few_on_host")
def test_the_host_reduces_to_the_same_bits_as_a_kernel(name: str) -> None:
    rng = np.random.default_rng(5)
    function = getattr(usmx, name)
    for char in some(FOLDS[name], 2):
        values = rng.standard_normal(4096) if char in "fd" else rng.integers(0, 100, 4096)
        there = usmx.asarray(values.astype(char), usm_type="device")
        here = usmx.asarray(values.astype(char), usm_type="shared")
        # 16 items of a group have 1 to 16 elements each, and from 128 on eight sums.
        lengths = [*range(1, 36), 63, 64, 65, 127, 128, 129, 143, 144, 145, 200, 254, 255, 256]
        lengths += [257, 300, 511, 512, 513, 1000, 2049, 4095, 4096]
        for n in lengths:
            ours, kernels = kernels_of(lambda n=n, x=here: function(x[:n]))
            assert kernels == 0
            wanted = function(there[:n])
            assert ours.dtype == wanted.dtype
            assert ours.shape == ()
            assert ours.to_numpy().tobytes() == wanted.to_numpy().tobytes(), (char, n)
    x = usmx.asarray(np.arange(12.0).reshape(3, 4), usm_type="shared")
    ours, kernels = kernels_of(lambda: function(x, keepdims=True))
    assert kernels == 0
    assert ours.shape == (1, 1)
    np.testing.assert_array_equal(ours.to_numpy(), getattr(np, name)(x.to_numpy(), keepdims=True))
    transposed = function(x.T)
    np.testing.assert_array_equal(transposed.to_numpy(), getattr(np, name)(x.to_numpy().T))


@needs("few_on_host")
def test_the_host_reads_any_layout_and_casts_as_a_kernel_does() -> None:
    rng = np.random.default_rng(6)

    def chosen(a: Any, b: Any) -> Any:
        return usmx.where(a[1] > b[0], a[2], b[3, ::-1])

    found = []
    for first, second in itertools.product(some("?bBhHiIqQfd", 4), repeat=2):
        values = [rng.integers(0, 100, (6, 8)).astype(c) for c in (first, second)]
        here, there = ([usmx.asarray(v, usm_type=k) for v in values] for k in ("shared", "device"))
        for part in (
            lambda a, b: a[::-1, ::2] + b[:, 1::2],
            lambda a, b: a.T[1:3] * b[0, :6],
            chosen,
            lambda a, b: usmx.maximum(a[:, :1], b[2]),
        ):
            ours, kernels = kernels_of(lambda part=part, here=here: part(*here))
            # An integer of 64 bits without a sign is compared by value with one that has a sign.
            by_value = "Q" in (first, second) and any(c in "bhiq" for c in (first, second))
            assert kernels == (part is chosen and by_value)
            found.append((ours, part(*there)))
    compute_together(wanted for _, wanted in found)
    for ours, wanted in found:
        assert ours.dtype == wanted.dtype
        assert ours.to_numpy().tobytes() == wanted.to_numpy().tobytes()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x > 3],
        lambda x: usmx.take(x, usmx.asarray([1, 2])),
        lambda x: x[[1, 2]],
        usmx.sort,
        usmx.argsort,
        usmx.unique_values,
        usmx.cumulative_sum,
        usmx.argmax,
        usmx.std,
        usmx.median,
        lambda x: usmx.concat((x, x)),
        lambda x: usmx.repeat(x, 2),
        usmx.linalg.vector_norm,
        usmx.fuse(lambda x: x * x + 1),
    ],
)
@needs("few_on_host")
def test_what_a_function_does_with_an_array_is_no_export(function: Callable[[Any], Any]) -> None:
    # Of memory that was exported nothing is deferred, and the host never knows whether it is idle.
    x = usmx.asarray(np.arange(10, dtype="f4"), usm_type="shared")
    function(x).to_numpy()
    x.to_numpy()
    assert kernels_of(lambda: x + 1)[1] == 0
    y = usmx.asarray(np.arange(1000, dtype="f4"))
    function(y).to_numpy()
    assert usmx.explain(y + 1).kernels


@pytest.mark.parametrize("usm_type", ["shared", "host"])
@needs("few_on_host")
def test_the_host_computes_again_after_a_kernel_has_ended(usm_type: str) -> None:
    x = usmx.asarray(np.arange(10, dtype="f4"), usm_type=usm_type)
    add_one = usmx.ElementwiseKernel("float32 x", "float32 y", "y = x + 1")
    add_one(x, x)
    y = usmx.sqrt(x)
    x.to_numpy(), y.to_numpy()  # a queue cannot tell that its last command has ended, the wait can
    with usmx.trace() as t:
        z = x + y
    assert t.summary().kernels == 0
    assert not usmx.explain(z).kernels
    np.testing.assert_array_equal(z.to_numpy(), x.to_numpy() + y.to_numpy())


def test_asking_whether_a_kernel_has_ended_submits_nothing() -> None:
    x = usmx.asarray(np.arange(10, dtype="f4"), usm_type="shared")
    y = usmx.tan(x)
    x + 1
    assert usmx.explain(y).kernels


def test_the_host_waits_for_no_kernel_and_computes_behind_none() -> None:
    x = usmx.zeros(10, "f4", usm_type="shared")
    slow = usmx.RawKernel(
        "USMX_KERNEL(1) slow(float* x) {"
        " float y = 0; for (int k = 0; k < 3000000; ++k) y = y * 0.5f + 1;"
        " x[usmx::global_id()] = y; }",
        "slow",
    )
    for _ in range(5):
        x[...] = 0
        slow[10](x)
        assert (x + 1).tolist() == [3] * 10


# --- reductions of what was not computed


def test_a_reduction_computes_its_operand_on_the_way() -> None:
    n = np.random.default_rng(0).random((50, 70)).astype("f4")
    x = usmx.asarray(n)

    def total(y: usmx.ndarray, axes: tuple[int, ...] | None) -> usmx.ndarray:
        return _usmx._reduce(y, "f8", "f8", reduce="a + b", identity="0", axes=axes)

    with usmx.trace() as t:
        s = total(x * 2 + 1, (1,))
        s.to_numpy()
    assert t.summary().kernels == 1
    assert t.summary().bytes_allocated < n.nbytes
    np.testing.assert_allclose(s.to_numpy(), (n * 2 + 1).sum(1, dtype="f8"), rtol=1e-6)
    y = x * 3
    first, second = total(y, None), total(y, None)
    x[...] = 0
    assert first.item() == second.item() == pytest.approx((n * 3).sum(dtype="f8"), rel=1e-6)


# --- what is deferred can be seen, and switched off


def test_explain_says_what_is_left_to_compute() -> None:
    x = usmx.zeros((1000, 10), "f4")
    row = usmx.ones(10, "f4") * 2
    y = (x + 1) * row
    plan = usmx.explain(y)
    assert [(k.shape, k.operations) for k in plan.kernels] == [((10,), 1), ((1000, 10), 2)]
    first, second = plan.kernels
    assert (first.bytes_read, first.bytes_written, first.bytes_saved) == (40, 40, 0)
    assert (second.bytes_read, second.bytes_written) == (40_040, 40_000)
    assert second.bytes_saved == 80_000
    assert "2 kernels, 80000 bytes saved" in str(plan)
    assert y.tolist() == [[2.0] * 10] * 1000
    assert usmx.explain(y).kernels == ()
    assert "no kernel" in str(usmx.explain(y))
    with pytest.raises(TypeError, match=r"x: 3 \(int\); expected an array of usmx"):
        usmx.explain(3)  # type: ignore[arg-type]


def test_eager_computes_at_once() -> None:
    x = usmx.zeros(1000, "f4")
    with usmx.eager():
        y = x + 1
        assert usmx.explain(y).kernels == ()
        with usmx.eager(False):
            assert usmx.explain(x + 1).kernels
    assert usmx.explain(x + 1).kernels
    assert y.tolist() == [1.0] * 1000


def test_eager_is_a_matter_of_the_thread() -> None:
    x = usmx.zeros(1000, "f4")
    inside, leave, found = threading.Event(), threading.Event(), []

    def other() -> None:
        found.append(len(usmx.explain(x + 1).kernels))
        with usmx.eager():
            inside.set()
            leave.wait(30)
        found.append(len(usmx.explain(x + 1).kernels))

    with usmx.eager():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(30)
    assert usmx.explain(x + 1).kernels  # while the other thread is inside of its block
    leave.set()
    thread.join(30)
    assert found == [1, 1]
    assert usmx.explain(x + 1).kernels


@pytest.mark.parametrize("char", "efd")
def test_quotients_of_infinities_are_rounded_as_the_standard_prefers(char: str) -> None:
    inf, nan = np.inf, np.nan
    a = np.array([inf, inf, -inf, -inf, 5, -5, 5, -5, inf, -inf, 0.0, inf, nan, inf], char)
    b = np.array([2, -2, 2, -2, -inf, inf, inf, -inf, inf, inf, -inf, 0.0, inf, nan], char)
    wanted = np.array([inf, -inf, -inf, inf, -0.0, -0.0, 0.0, 0.0, nan, nan, -0.0, inf, nan, nan])
    x, y = usmx.asarray(a), usmx.asarray(b)
    z = x.copy()
    z //= y
    for got in (x // y, usmx.floor_divide(x, y), z, x.to_host() // y.to_host()):
        np.testing.assert_array_equal(got.to_numpy(), wanted)
        np.testing.assert_array_equal(np.signbit(got.to_numpy()[4:8]), np.signbit(wanted[4:8]))


@pytest.mark.parametrize("char", "FD")
def test_the_exponential_minus_one_of_zeros_is_the_zero_of_the_standard(char: str) -> None:
    zeros = np.array([complex(-0.0, 0.0), complex(0.0, 0.0)], char)
    got = usmx.expm1(usmx.asarray(zeros)).to_numpy()
    assert not np.signbit(got.real).any()
    assert not np.signbit(got.imag).any()
    assert not got.any()


def test_what_is_broadcast_and_used_twice_is_computed_first() -> None:
    # Its kernel reads the memory that the rest of the expression waits for, which is computed then.
    n = np.arange(6.0).reshape(2, 3)
    x, y, one = usmx.asarray(n), usmx.asarray(n[0]), usmx.asarray(2.0)
    for _ in range(20):
        np.testing.assert_array_equal(((one * 2) + (x * one)).to_numpy(), 4 + n * 2)
        inner = x * y
        made = (inner + (y + 1)) * (inner - (y * 3)) + (one + 1)
        wanted = (n * n[0] + (n[0] + 1)) * (n * n[0] - n[0] * 3) + 3
        np.testing.assert_array_equal(made.to_numpy(), wanted)
        np.testing.assert_array_equal(inner.to_numpy(), n * n[0])
        out = usmx.empty_like(x)
        usmx.add(x * y, y * 2, out=out)
        np.testing.assert_array_equal(out.to_numpy(), n * n[0] + n[0] * 2)
