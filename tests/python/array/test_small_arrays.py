# A few elements in shared or host memory are computed by the host: no kernel is launched, and the
# values are those of kernels, bit for bit.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from backend_row import ROW, needs
from depths import some
from gate import Gate
from together import compute_together

import usmx

SHAPES = [(1,), (10,), (23,), (256,), (3, 4), (20, 12), (2, 3, 4), (1, 7), (7, 1)]
#: Of more than 256 elements, and of more than a block that the host goes through.
MORE = [(257,), (513,), (4096,), (64, 64), (3, 700), (700, 3), (2, 3, 5, 100)]
TYPES = "bhiqBHIQfd"


def values(char: str, shape: tuple[int, ...], special: bool = True) -> Any:
    rng = np.random.default_rng(len(shape) * 7 + ord(char))
    if char not in "fd":
        return rng.integers(0 if char.isupper() else -4, 9, shape).astype(char)
    made = rng.normal(size=shape).astype(char)
    if special:
        chosen = rng.integers(0, 12, shape)
        for k, number in enumerate([np.nan, np.inf, -np.inf, 0.0, -0.0]):
            made = np.where(chosen == k, np.array(number, char), made)
    return made


def by_host(function: Callable[..., Any], *operands: Any) -> Any:
    """The results as NumPy's arrays, without a kernel where the device is the host."""
    placed = [usmx.asarray(n, usm_type="shared") for n in operands]
    with usmx.trace() as t:
        made = function(*placed)
        results = made if isinstance(made, tuple) else (made,)
        read = tuple(r.to_numpy() for r in results)
    assert t.summary().kernels == 0 or not ROW.is_host
    assert all(r.usm_type == "shared" for r in results)
    assert all(r.queue == placed[0].queue for r in results)
    return read if isinstance(made, tuple) else read[0]


def equal_bits(got: Any, wanted: Any) -> bool:
    if got.dtype.kind == "c":
        return got.dtype == wanted.dtype and got.tolist() == wanted.tolist()
    both_nan = (got != got) & (wanted != wanted)  # noqa: PLR0124
    same = got.view(f"u{got.itemsize}") == wanted.view(f"u{wanted.itemsize}")
    return got.dtype == wanted.dtype and got.shape == wanted.shape and bool((same | both_nan).all())


def axes_of(shape: tuple[int, ...]) -> range:
    return range(-len(shape), len(shape))


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_elements_are_moved_and_ordered_as_by_numpy(char: str, shape: tuple[int, ...]) -> None:
    n = values(char, shape)
    for axis in axes_of(shape):
        assert equal_bits(
            by_host(lambda x, a=axis: usmx.sort(x, axis=a), n), np.sort(n, axis, kind="stable")
        )
        assert equal_bits(
            by_host(lambda x, a=axis: usmx.argsort(x, axis=a), n),
            np.argsort(n, axis, kind="stable"),
        )
        if 2 * n.size <= 256:
            for ours, theirs in ((usmx.concat, np.concatenate), (usmx.stack, np.stack)):
                got = by_host(lambda x, y, a=axis, f=ours: f([x, y], axis=a), n, n[::-1])
                assert equal_bits(got, theirs([n, n[::-1]], axis=axis))
            got = by_host(lambda x, a=axis: usmx.repeat(x, 2, axis=a), n)
            assert equal_bits(got, np.repeat(n, 2, axis=axis))
        at = np.array([[0, -1], [-n.shape[axis], 0]])
        if n.size // n.shape[axis] * at.size <= 256:
            got = by_host(lambda x, i, a=axis: usmx.take(x, i, axis=a), n, at)
            assert equal_bits(got, np.take(n, at, axis=axis))
    assert by_host(usmx.argmax, n) == np.argmax(n)
    assert by_host(usmx.argmin, n) == np.argmin(n)
    assert by_host(usmx.count_nonzero, n) == np.count_nonzero(n)
    for got, wanted in zip(by_host(usmx.nonzero, n), np.nonzero(n), strict=True):
        assert equal_bits(got, wanted)
    mask = n > 0
    assert equal_bits(by_host(lambda x, m: x[m], n, mask), n[mask])
    first = np.array([0, -1, 0])
    if n.size // n.shape[0] * 3 <= 256:
        assert equal_bits(by_host(lambda x, i: x[i], n, first), n[first])
    assert equal_bits(by_host(lambda x: x.copy(), n), n)


@pytest.mark.parametrize("char", TYPES)
def test_descending_order_is_stable_with_nan_at_the_end(char: str) -> None:
    n = np.concatenate([values(char, (40,)), values(char, (40,))])
    order = by_host(lambda x: usmx.argsort(x, descending=True), n)
    rest = n[order]
    key = -rest.astype("d") if char in "fd" else -rest.astype(object)
    assert all(a <= b or b != b for a, b in itertools.pairwise(key))  # noqa: PLR0124
    ties = (rest[:-1] == rest[1:]) | ((rest[:-1] != rest[:-1]) & (rest[1:] != rest[1:]))
    assert (order[:-1] < order[1:])[ties].all()
    assert ties.any()
    assert equal_bits(by_host(lambda x: usmx.sort(x, descending=True), n), rest)


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("shape", [(1,), (10,), (256,), (4, 5)])
def test_different_elements_are_those_of_numpy(char: str, shape: tuple[int, ...]) -> None:
    n = values(char, shape)
    got = by_host(lambda x: usmx.unique(x, True, True, True), n)
    for ours, theirs in zip(got, np.unique(n, True, True, True), strict=True):
        assert equal_bits(ours, theirs.reshape(ours.shape))
    every = by_host(lambda x: tuple(usmx.unique_all(x)), n)
    for ours, theirs in zip(every, np.unique_all(n), strict=True):
        assert equal_bits(ours, theirs)


@pytest.mark.parametrize("char", "?biQfd")
@pytest.mark.parametrize("shape", MORE)
def test_more_elements_are_moved_and_found_as_by_numpy(char: str, shape: tuple[int, ...]) -> None:
    n = values(char, shape) if char != "?" else values("i", shape) > 0
    if char != "?":
        assert by_host(usmx.argmax, n) == np.argmax(n)
        assert by_host(usmx.argmin, n) == np.argmin(n)
    assert by_host(usmx.count_nonzero, n) == np.count_nonzero(n)
    for got, wanted in zip(by_host(usmx.nonzero, n), np.nonzero(n), strict=True):
        assert equal_bits(got, wanted)
    assert equal_bits(by_host(lambda x, m: x[m], n, n > 0), n[n > 0])
    every_other = (..., slice(None, None, -2))
    assert equal_bits(by_host(lambda x: x[every_other].copy(), n), n[every_other])
    assert equal_bits(by_host(lambda x: x.T.copy(), n), n.T)
    half = n[..., ::2]
    got = by_host(lambda x: usmx.concat([x[..., ::2], x[..., ::2]], axis=-1), n)
    assert equal_bits(got, np.concatenate([half, half], axis=-1)) or 2 * half.size > 4096
    at = np.arange(half.shape[-1])[::-1]
    got = by_host(lambda x, i: usmx.take(x, i, axis=-1), n, at)
    assert equal_bits(got, np.take(n, at, axis=-1))


@needs("few_on_host")
@pytest.mark.parametrize("shape", MORE)
def test_blocks_of_elements_have_the_bits_of_kernels(shape: tuple[int, ...]) -> None:
    line = shape[-1:]
    functions: list[Callable[..., Any]] = [
        lambda x, y: x + y,
        lambda x, y: 3 * x - y[..., ::-1],
        lambda x, y: x.T * y.T,
        lambda x, y: x.reshape(-1)[::-1] / (y.reshape(-1) + 0.5),
        lambda x, y: usmx.where(x > y, x, y.reshape(-1)[: line[0]]),
        lambda x, y: usmx.maximum(x[..., :1], y),
        lambda x, y: usmx.astype(x, "f8") * y,
        lambda x, y: usmx.sqrt(usmx.abs(x)) + usmx.floor(y),
        lambda x, y: usmx.exp(x),
    ]
    for chars in some(list(itertools.product("hiIfd", repeat=2)), 2):
        numbers = [values(c, shape, special=False) for c in chars]
        there = [usmx.asarray(n, usm_type="device") for n in numbers]
        wanted = [function(*there) for function in functions]
        compute_together(wanted)
        for k, function in enumerate(functions):
            assert equal_bits(by_host(function, *numbers), wanted[k].to_numpy()), (chars, k)


REDUCTIONS = ["sum", "prod", "mean", "min", "max", "any", "all"]


@pytest.mark.parametrize("char", "?biQfd")
def test_sums_along_axes_have_the_bits_of_kernels(char: str) -> None:
    small = [(10,), (3, 4), (20, 12), (2, 3, 4), (7, 1), (1, 7), (4, 2, 1, 30)]
    large = [(4096,), (40, 100), (100, 40), (512, 8), (4, 10, 100)]
    for shape in some([*small, *large], 4):
        n = values(char, shape, special=False) if char != "?" else values("i", shape) > 0
        there = usmx.asarray(n, usm_type="device")
        axes: list[Any] = [None, *axes_of(shape), tuple(range(len(shape)))]
        axes += [tuple(range(k)) for k in range(2, len(shape))]
        axes += [tuple(range(k, len(shape))) for k in range(1, len(shape) - 1)]
        for axis in axes:
            names = REDUCTIONS if char != "?" else REDUCTIONS[-2:]
            calls = list(itertools.product(names, (False, True)))
            wanted = [getattr(usmx, f)(there, axis=axis, keepdims=keep) for f, keep in calls]
            compute_together(wanted)
            for (name, keep), right in zip(calls, wanted, strict=True):
                function = getattr(usmx, name)
                got = by_host(lambda x, f=function, a=axis, k=keep: f(x, axis=a, keepdims=k), n)
                assert equal_bits(got, right.to_numpy()), (name, shape, axis)


def test_long_columns_are_added_as_by_kernels() -> None:
    for shape in [(513, 4), (700, 5), (1000, 2), (2, 1500)]:
        n = values("f", shape, special=False)
        here, there = (usmx.asarray(n, usm_type=kind) for kind in ("shared", "device"))
        for axis in (0, 1):
            got = usmx.sum(here, axis=axis).to_numpy()
            assert equal_bits(got, usmx.sum(there, axis=axis).to_numpy()), (shape, axis)


@pytest.mark.parametrize("char", "?biQfd")
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_sums_have_the_bits_of_kernels(char: str, name: str) -> None:
    function = getattr(usmx, name)
    for shape in [(1,), (15,), (16,), (17,), (100,), (256,), (3, 4), (20, 12), (12, 20), (2, 3, 9)]:
        n = values(char, shape, special=False) if char != "?" else values("i", shape) > 0
        there = usmx.asarray(n, usm_type="device")
        for axis in axes_of(shape):
            got = by_host(lambda x, a=axis: function(x, axis=a), n)
            assert equal_bits(got, function(there, axis=axis).to_numpy()), (shape, axis)


@pytest.mark.parametrize("char", "iBfd")
def test_variances_have_the_bits_of_kernels(char: str) -> None:
    for count in (1, 2, 15, 16, 17, 100, 128, 129, 256, 257, 1000, 4096):
        n = values(char, (count,), special=False)
        there = usmx.asarray(n, usm_type="device")
        for correction in (0, 1, 1.5, 300):
            for function in (usmx.var, usmx.std):
                got = by_host(lambda x, f=function, c=correction: f(x, correction=c), n)
                assert equal_bits(got, function(there, correction=correction).to_numpy())


@pytest.mark.parametrize("char", "fd")
def test_quotients_and_remainders_of_floats_have_the_bits_of_kernels(char: str) -> None:
    parts = [0.0, -0.0, 1.0, -1.0, 3.0, -2.5, 0.1, 7.3e5, 1e-30, np.inf, -np.inf, np.nan]
    a, b = (m.ravel() for m in np.meshgrid(np.array(parts, char), np.array(parts, char)))
    there = [usmx.asarray(v, usm_type="device") for v in (a, b)]
    for function in (usmx.floor_divide, usmx.remainder):
        assert equal_bits(by_host(function, a, b), function(*there).to_numpy())


@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint"])
def test_rounding_to_whole_numbers_has_the_bits_of_numpy(name: str, char: str) -> None:
    whole_from = 1 / np.finfo(char).eps
    near = [0.0, 0.3, 0.5, 0.7, 1.0, 1.5, 2.5, 1e-30, whole_from / 2 + 0.5, whole_from - 0.5]
    far = [whole_from, whole_from + 1, 2 * whole_from + 2, 1e30, np.inf, np.nan]
    n = np.array([*near, *far], char)
    around = np.concatenate([n, np.nextafter(n, -np.inf), np.nextafter(n, np.inf)])
    n = np.concatenate([around, -around])
    assert equal_bits(by_host(getattr(usmx, name), n), getattr(np, name)(n))


def test_whole_numbers_to_whole_powers_wrap_around() -> None:
    for char in "bhiqBHIQ":
        base, exponent = (
            m.ravel()
            for m in np.meshgrid(np.arange(-3, 5).astype(char), np.arange(0, 9).astype(char))
        )
        assert equal_bits(by_host(usmx.power, base, exponent), np.power(base, exponent))


#: A shape, the number of rows that are taken, and along which axis.
ROWS_TAKEN = [((500, 700), 60, 0), ((40, 90, 33), 17, 0), ((3, 50, 400), 30, 1), ((9, 2**16), 1, 0)]


@pytest.mark.parametrize("char", ["b", "h", "f", "D"])
@pytest.mark.parametrize(("shape", "count", "axis"), ROWS_TAKEN)
def test_a_few_rows_of_many_are_copied_by_the_host(
    char: str, shape: tuple[int, ...], count: int, axis: int
) -> None:
    n = np.random.default_rng(1).integers(-99, 99, shape).astype(char)
    if n[(0,) * (axis + 1)].nbytes < 1024:  # shorter rows are left to kernels
        n = np.repeat(n, 3, axis=-1)
    at = np.random.default_rng(2).integers(-n.shape[axis], n.shape[axis], count)
    got = by_host(lambda x: usmx.take(x, at, axis=axis), n)
    assert equal_bits(got, np.take(n, at, axis=axis))
    if axis == 0:
        assert equal_bits(by_host(lambda x: x[at], n), n[at])
        assert equal_bits(by_host(lambda x: x[at.tolist()], n), n[at])
        for key in [(at,), (at, ...), (at, *[slice(None)] * (n.ndim - 1)), (at, slice(None), ...)]:
            assert equal_bits(by_host(lambda x, key=key: x[key], n), n[key])


@pytest.mark.parametrize("order", "CF")
def test_rows_written_out_with_the_axes_that_stay_whole(order: Literal["C", "F"]) -> None:
    n = np.asarray(np.arange(4 * 3 * 5, dtype="f4").reshape(4, 3, 5), order=order)
    x = usmx.asarray(n, usm_type="shared")
    mask = np.array([True, False, True, True])
    for key in [
        ([2, 0], slice(None), slice(None)),
        (np.array([[1], [3]]), ...),
        (usmx.asarray([3, 3], usm_type="shared"), slice(None), ..., slice(None)),
        (mask, slice(None)),
        ([2, 0], slice(1)),
        ([2, 0], slice(None), 1),
        ([2, 0], slice(None), [1, 4]),
    ]:
        plain = tuple(k.to_numpy() if isinstance(k, usmx.ndarray) else k for k in key)
        assert equal_bits(x[key].to_numpy(), n[plain]), key
        x[key], n[plain] = -x[key], -n[plain]
        assert equal_bits(x.to_numpy(), n), key
    for key in [([0], *[slice(None)] * 3), ([0], ..., slice(None), ...)]:
        with pytest.raises(IndexError, match=r"too many|single ellipsis"):
            x[key]
        with pytest.raises(IndexError, match=r"too many|single ellipsis"):
            x[key] = 0


@pytest.mark.parametrize("at", [[0, 500], [-501]])
def test_rows_outside_of_the_array_are_named(at: list[int]) -> None:
    x = usmx.zeros((500, 700), usm_type="shared")
    with pytest.raises(IndexError, match=rf"index {at[-1]} is out of bounds for axis 0 .* 500"):
        x[at]


def test_rows_that_are_computed_many_or_short_are_left_to_kernels() -> None:
    n = np.arange(500 * 700, dtype="f4").reshape(500, 700)
    x = usmx.asarray(n, usm_type="shared")
    for of, at in [
        (x.T, [3, 1]),
        (x[:, :600], [3, 1]),
        (usmx.asarray(np.zeros((5000, 3)), usm_type="shared"), list(range(2000))),
        (usmx.asarray(np.zeros((800, 900)), usm_type="shared"), list(range(800))),
    ]:
        with usmx.trace() as t:
            got = of[at].to_numpy()
        assert t.summary().kernels or not ROW.is_host
        np.testing.assert_array_equal(got, of.to_numpy()[at])
    x += 1  # its kernel may run when the rows are asked for
    np.testing.assert_array_equal(x[[7, 2]].to_numpy(), n[[7, 2]] + 1)


@pytest.mark.parametrize("function", [usmx.sort, usmx.argsort, usmx.cumulative_sum, usmx.unique])
def test_what_takes_long_is_left_to_kernels(function: Callable[..., Any]) -> None:
    n = np.arange(257, dtype="i4")
    by_host(function, n[:256])
    x = usmx.asarray(n, usm_type="shared")
    with usmx.trace() as t:
        function(x).to_numpy()
    assert t.summary().kernels


def test_what_is_not_few_or_not_there_is_left_to_kernels() -> None:
    n = np.arange(4097, dtype="i4")
    by_host(usmx.argmax, n[:4096])
    for x in (usmx.asarray(n, usm_type="shared"), usmx.asarray(n[:20], usm_type="device")):
        with usmx.trace() as t:
            assert usmx.argmax(x).to_numpy() == x.size - 1
        assert t.summary().kernels
    y = usmx.tan(usmx.asarray(np.arange(3, dtype="f4"), usm_type="shared"))
    assert len(usmx.explain(usmx.sum(y)).kernels) == 1  # in the kernel of y, not after it


@pytest.mark.parametrize(
    "leaves",
    [
        pytest.param(lambda x: x.pointer, id="pointer"),
        pytest.param(lambda x: x.__sycl_usm_array_interface__, id="dictionary"),
        pytest.param(lambda x: x.__dlpack__(), id="dlpack"),
    ],
)
def test_what_others_know_is_computed_here_while_their_queue_is_idle(
    leaves: Callable[[usmx.ndarray], Any],
) -> None:
    x = usmx.ones(10, "f4", usm_type="shared")
    kept = leaves(x)
    x.wait()
    with usmx.trace() as t:
        x += 1
        made = (x * 3).sum()
        assert made.to_numpy() == 60
    assert t.summary().kernels == 0 or not ROW.is_host
    del kept


def test_what_others_know_is_not_read_while_their_queue_is_busy() -> None:
    x = usmx.ones(10, "f4", usm_type="shared", queue=usmx.Queue())
    assert x.pointer
    made = []
    thread = threading.Thread(target=lambda: made.append(x + 1))
    with Gate(x.queue):  # a command that came by the native handle
        assert not x.queue.is_idle
        thread.start()
        thread.join(0.2)
        assert thread.is_alive() or not ROW.is_host
    thread.join()
    assert x.queue.is_idle
    np.testing.assert_array_equal(made[0].to_numpy(), np.full(10, 2, "f4"))


def test_errors_are_those_of_more_elements() -> None:
    x = usmx.asarray(np.arange(6.0).reshape(2, 3), usm_type="shared")
    with pytest.raises(IndexError, match="out of bounds"):
        usmx.sort(x, axis=2)
    with pytest.raises(IndexError, match="index 2"):
        usmx.take(x, usmx.asarray([2], usm_type="shared"), axis=0)
    with pytest.raises(ValueError, match="names an axis twice"):
        usmx.sum(x, axis=(0, 0))
    with pytest.raises(ValueError, match="does not fit"):
        usmx.concat([x, x.T])
    with pytest.raises(ValueError, match="expected 0 or more"):
        usmx.repeat(x, -1)
    with pytest.raises(IndexError, match="does not fit"):
        x[usmx.asarray([True, False, True], usm_type="shared")]


def test_wait_computes_what_was_put_off_and_waits_for_it() -> None:
    x = usmx.asarray(np.arange(5000, dtype="f4"), usm_type="shared")
    y = x * 2 + 1
    assert usmx.explain(y).kernels
    assert y.wait() is None
    assert not usmx.explain(y).kernels
    with usmx.trace() as t:
        y.wait()
    assert t.summary().kernels == 0
    # The host reads the same memory, with nothing of ours that waits.
    np.testing.assert_array_equal(
        np.frombuffer(memoryview(y.usm_data), "f4"), np.arange(5000) * 2 + 1
    )


KEYS: list[Any] = [
    [1, -1, 0],
    [[0, 1], [2, -2]],
    np.array([2, 0, 0], "u1"),
    np.array([[1], [-3]]),
    np.arange(4)[::-2],
    [True, False, True, True],
]


@pytest.mark.parametrize("char", "?bhiqBHIQefdFD")
@pytest.mark.parametrize("rest", [(), (3,), (2, 5)])
def test_lists_and_arrays_of_numpy_select_and_assign(char: str, rest: tuple[int, ...]) -> None:
    n = np.arange(4 * int(np.prod(rest))).reshape(4, *rest).astype(char)
    for key in KEYS:
        if isinstance(key[0], bool) and rest:
            continue
        assert equal_bits(by_host(lambda x, k=key: x[k], n), n[key])
        for value in (1, True):
            theirs = n.copy()
            theirs[key] = value

            def assigned(x: Any, k: Any = key, v: Any = value) -> Any:
                x[k] = v
                return x

            assert equal_bits(by_host(assigned, n), theirs)
        if isinstance(key, list) and len(key) == 3:  # no index twice
            theirs = n.copy()
            theirs[key] = n[1:]

            def moved(x: Any, k: Any = key) -> Any:
                x[k] = x[1:]  # the same memory
                return x

            assert equal_bits(by_host(moved, n), theirs)


def test_masks_assign_numbers_and_elements() -> None:
    n = np.arange(12.0).reshape(3, 4)

    def negative(x: Any, m: Any) -> Any:
        x[m] = -1
        return x

    def other(x: Any, m: Any) -> Any:
        x[m] = x[m][::-1] * 2
        return x

    wanted = np.where(n > 4, -1, n)
    assert equal_bits(by_host(negative, n, n > 4), wanted)
    wanted = n.copy()
    wanted[n > 4] = n[n > 4][::-1] * 2
    assert equal_bits(by_host(other, n, n > 4), wanted)
    assert equal_bits(by_host(lambda x: x[n > 4], n), n[n > 4])
    assert by_host(lambda x: usmx.take(x, 2, axis=1), n).tolist() == [2, 6, 10]


def test_what_was_put_off_is_computed_before_the_host_writes() -> None:
    x = usmx.asarray(np.arange(1, 11, dtype="f4"), usm_type="shared")
    wanted = np.tan(np.arange(1, 11, dtype="f4"))
    y, z = usmx.tan(x), usmx.tan(x)
    assert usmx.explain(y).kernels
    x[[0, 1]] = 0
    x[x > 5] = 0
    np.testing.assert_allclose(y.to_numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(z.to_numpy(), wanted, rtol=1e-5)
    assert x.tolist() == [0, 0, 3, 4, 5, 0, 0, 0, 0, 0]


def test_assignments_that_do_not_fit_are_refused_and_write_nothing() -> None:
    n = np.arange(5.0)
    x = usmx.asarray(n, usm_type="shared")
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        x[[0, 5]] = 1
    with pytest.raises(ValueError, match="broadcast"):
        x[[0, 1]] = usmx.ones(3, usm_type="shared")
    with pytest.raises(IndexError, match="mask"):
        x[[True, False]] = 1
    with pytest.raises(IndexError, match="expected integers"):
        x[np.array([0.5])] = 1
    read_only = usmx.broadcast_to(x, (5,))
    with pytest.raises(ValueError, match="read-only"):
        read_only[[0]] = 1
    x[[0, 1]] = usmx.asarray([7], usm_type="shared")  # repeated
    x[[2]] = usmx.asarray([8], dtype="int64", usm_type="shared")  # cast
    assert x.tolist() == [7, 7, 8, 3, 4]


@pytest.mark.parametrize("char", TYPES)
def test_places_in_sorted_elements_and_medians_are_those_of_numpy(char: str) -> None:
    n = np.sort(values(char, (40,)))
    wanted = np.concatenate([values(char, (30,)), n[:5]]).reshape(5, 7)
    for side in ("left", "right"):
        got = by_host(lambda x, v, s=side: usmx.searchsorted(x, v, s), n, wanted)
        assert equal_bits(got, np.searchsorted(n, wanted, side))
        got = by_host(lambda x, s=side: usmx.searchsorted(x, 2, s), n)
        assert got == np.searchsorted(n, np.array(2, char), side)
    plain = values(char, (5, 8), special=False)
    for axis in (None, 0, 1):
        got = by_host(lambda x, a=axis: usmx.median(x, axis=a), plain)
        assert equal_bits(np.asarray(got), np.asarray(np.median(plain, axis)))
