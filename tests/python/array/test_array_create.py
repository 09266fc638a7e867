"""asarray takes what there is without a copy where it can; the creation functions are NumPy's."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import dpnp.tensor
import numpy as np
import pytest
from backend_row import ROW

import usmx

CREATORS: list[Callable[..., Any]] = [
    lambda **k: usmx.empty((2, 3), "f4", **k),
    lambda **k: usmx.zeros((2, 3), "f4", **k),
    lambda **k: usmx.ones((2, 3), "f4", **k),
    lambda **k: usmx.full((2, 3), 7, "f4", **k),
    lambda **k: usmx.arange(6, dtype="f4", **k),
    lambda **k: usmx.empty_like(np.zeros((2, 3), "f4"), **k),
    lambda **k: usmx.zeros_like(np.zeros((2, 3), "f4"), **k),
    lambda **k: usmx.ones_like(usmx.zeros((2, 3), "f4"), **k),
    lambda **k: usmx.full_like(usmx.zeros((2, 3), "f4"), 7, **k),
    lambda **k: usmx.from_numpy(np.zeros((2, 3), "f4"), **k),
    lambda **k: usmx.asarray(np.zeros((2, 3), "f4"), **k),
    lambda **k: usmx.asarray([[1, 2, 3], [4, 5, 6]], dtype="f4", **k),
]


class Speaker:
    """An object of no library that describes USM."""

    def __init__(self, owner: usmx.ndarray, **changes: Any) -> None:
        self.owner = owner
        self.description = {**owner.__sycl_usm_array_interface__, **changes}

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        return self.description


@pytest.mark.parametrize("create", CREATORS)
def test_every_creation_function_takes_kind_device_and_queue(create: Any, kind: str) -> None:
    assert create(usm_type=kind).usm_type == kind
    assert create().usm_type == "device"
    device = usmx.Device()
    queue = usmx.Queue(device)
    for place in (ROW.device, device, queue, ""):
        assert create(device=place).device == device
    for place in (queue, ROW.device):
        assert create(queue=place, usm_type=kind).device == device
    assert create(queue=queue).queue == queue
    assert create(queue=queue, device=device).queue == queue
    assert create().itemsize == 4


@pytest.mark.parametrize("create", CREATORS)
def test_wrong_places_and_kinds_are_named(create: Any) -> None:
    with pytest.raises(ValueError, match="usm_type"):
        create(usm_type="managed")
    with pytest.raises(TypeError, match="usm_type"):
        create(usm_type=3)
    with pytest.raises(TypeError, match="device"):
        create(device=3.5)
    with pytest.raises(TypeError, match="queue"):
        create(queue=object())
    with pytest.raises(ValueError, match="nonsense"):
        create(device="nonsense")
    with pytest.raises(usmx.DeviceError, match="cuda"):
        create(device="cuda:gpu:9")


def test_contents_are_numpys(kind: str) -> None:
    for dtype in ("?", "i1", "u8", "f2", "f4", "c8", "c16"):
        for shape in ((), 3, (2, 0), [4, 5]):
            for name in ("zeros", "ones"):
                ours = getattr(usmx, name)(shape, dtype, usm_type=kind)
                np.testing.assert_array_equal(ours.to_numpy(), getattr(np, name)(shape, dtype))
    assert usmx.zeros(2).dtype == np.float64
    big = usmx.full(100_000, 1.5, "f4", usm_type=kind)
    assert (big.to_numpy() == 1.5).all()
    assert usmx.full(3, [1, 2, 3], usm_type=kind).tolist() == [1, 2, 3]
    assert usmx.full(2, 3).dtype == np.int64
    assert usmx.full(2, 3.0).dtype == np.float64
    assert usmx.full(2, True).dtype == np.bool_


@pytest.mark.parametrize(
    "arguments",
    [
        (5,),
        (0,),
        (-3,),
        (2, 9),
        (2, 9, 3),
        (9, 2, -3),
        (9, 2),
        (0.5, 3),
        (0, 1, 0.1),
        (3, 0, -0.7),
        (10, 10),
        (0, 1000000.0, 3.5),
        (-5, 5, 1),
        (1500000,),
    ],
)
def test_arange_counts_as_numpy(arguments: tuple[float, ...], kind: str) -> None:
    expected = np.arange(*arguments)
    ours = usmx.arange(*arguments, usm_type=kind)
    assert ours.dtype == expected.dtype
    np.testing.assert_array_equal(ours.to_numpy(), expected)
    for dtype in ("i2", "f4", "c16"):
        small = usmx.arange(*arguments[:3], dtype=dtype) if expected.size < 1000 else None
        if small is not None and float(arguments[-1]).is_integer():
            np.testing.assert_array_equal(small.to_numpy(), np.arange(*arguments, dtype=dtype))


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [
        ((300,), "u1"),  # counts on modulo 256
        ((100_000, 5, -7), "i2"),
        ((0, 10**6, 40_000), "i2"),
        ((-1, 3), "u8"),
        ((3, -3, -1), "u8"),
        ((1e6, 2e6, 2.5), "i2"),
        ((0.0, 1e6, 7e5), "i2"),
        ((9, 2, 300), "i1"),  # empty: nothing is stored
        ((9, 10, 300), "i1"),
    ],
)
def test_arange_stores_its_first_two_numbers_as_numpy(arguments, dtype, kind: str) -> None:
    try:
        expected = np.arange(*arguments, dtype=dtype)
    except OverflowError:
        with pytest.raises(OverflowError, match="does not fit into"):
            usmx.arange(*arguments, dtype=dtype, usm_type=kind)
    else:
        ours = usmx.arange(*arguments, dtype=dtype, usm_type=kind)
        np.testing.assert_array_equal(ours.to_numpy(), expected)


def test_arange_refuses_what_has_no_end() -> None:
    for arguments in ((0, float("inf")), (0, float("nan")), (0.0, 1e300, 1e-300)):
        with pytest.raises(ValueError):  # noqa: PT011 - not finite, overflow
            usmx.arange(*arguments)
    with pytest.raises(TypeError):
        usmx.arange("x")


def test_like_functions_keep_the_order_of_the_axes(kind: str) -> None:
    base = np.zeros((2, 3, 4), "f4").transpose(1, 2, 0)
    ours = usmx.zeros((2, 3, 4), "f4", usm_type=kind).transpose(1, 2, 0)
    for order in "KCFA":
        expected = np.empty_like(base, order=order)
        for source in (ours, base):
            made = usmx.empty_like(source, order=order)
            assert made.strides == tuple(s // 4 for s in expected.strides)
    assert usmx.ones_like(ours).usm_type == kind
    assert usmx.ones_like(ours, usm_type="shared").usm_type == "shared"
    assert usmx.empty_like(ours, dtype="i2").dtype == np.int16


def test_asarray_of_an_array_is_the_array(kind: str) -> None:
    a = usmx.arange(6, usm_type=kind)
    assert usmx.asarray(a) is a
    assert usmx.asarray(a, dtype="i8", usm_type=kind, device=a.device, copy=False) is a
    assert usmx.asarray(a, queue=a.queue) is a
    b = usmx.asarray(a, copy=True)
    assert b.pointer != a.pointer
    assert (b.usm_type, b.tolist()) == (kind, a.tolist())


def test_asarray_takes_foreign_usm_without_a_copy(kind: str) -> None:
    a = usmx.arange(24, dtype="i4", usm_type=kind)
    for view in (a, a[::-1], a.reshape(4, 6)[1:3, ::-2]):
        b = usmx.asarray(Speaker(view), copy=False)
        assert b.pointer == view.pointer
        assert (b.shape, b.strides, b.usm_type) == (view.shape, view.strides, kind)
        assert b.tolist() == view.tolist()
    memory = usmx.asarray(a.usm_data, copy=False)
    assert memory.dtype == np.uint8
    assert memory.pointer == a.pointer
    converted = usmx.asarray(Speaker(a), dtype="f8")
    assert converted.tolist() == a.tolist()
    assert converted.pointer != a.pointer


def test_dpctl_and_dpnp_come_in_and_go_out_without_a_copy(kind: str) -> None:
    import dpctl.memory
    import dpnp
    import dpnp.tensor as dpt

    theirs = dpt.arange(24, dtype="i4", usm_type=kind)
    ours = usmx.asarray(dpt.reshape(theirs, (4, 6))[1:3, 5:0:-2], copy=False)
    assert ours.tolist() == dpt.asnumpy(dpt.reshape(theirs, (4, 6))[1:3, 5:0:-2]).tolist()
    assert usmx.asarray(dpctl.memory.MemoryUSMShared(64), copy=False).nbytes == 64

    a = usmx.arange(24, dtype="i4", usm_type=kind).reshape(4, 6)
    for view in (a, a.T, a[::-1], a[1:3, ::-2], a[2:2]):
        for take in (dpt.asarray, dpnp.asarray):
            out = take(view)
            array_out = out.get_array() if hasattr(out, "get_array") else out
            assert array_out.usm_type == kind
            if view.size:
                assert array_out._pointer == view.pointer
            np.testing.assert_array_equal(dpt.asnumpy(array_out), view.to_numpy())
    a.flags.writeable = False
    assert not dpt.asarray(a).flags.writable


def test_numpys_attribute_for_dpnp_is_absent_without_dpnp(run_python: Callable[..., Any]) -> None:
    run_python(
        """
        import usmx
        a = usmx.zeros(3)
        assert not hasattr(a, "__usm_ndarray__")
        """
    )


def test_asarray_copies_host_memory_into_usm(kind: str) -> None:
    base = np.arange(12, dtype="f4").reshape(3, 4)
    for source in (base, base.T, base[::-1, ::2], memoryview(base), base.astype(">f4"), base[:0]):
        expected = np.asarray(source)
        a = usmx.asarray(source, usm_type=kind)
        assert a.usm_type == kind
        assert a.dtype == np.float32
        np.testing.assert_array_equal(a.to_numpy(), expected)
        assert usmx.asarray(source, dtype="i2").tolist() == expected.astype("i2").tolist()
        if expected.size == 0:
            continue
        with pytest.raises(ValueError, match="copy"):
            usmx.asarray(source, usm_type=kind, copy=False)
    assert usmx.asarray(base.T).strides == (1, 4)
    assert usmx.asarray(array.array("h", [1, -2])).dtype == np.int16
    assert usmx.asarray(b"ab").tolist() == [97, 98]
    assert usmx.asarray(bytearray(b"ab"), dtype="f8").tolist() == [97.0, 98.0]
    assert usmx.asarray(np.float16(1.5)).dtype == np.float16


@pytest.mark.parametrize(
    "source",
    [
        3,
        2.5,
        True,
        1j,
        2**63,
        [1, 2],
        [[1, 2], [3, 4]],
        [],
        [[], []],
        (1, 2.5),
        [True, 2],
        [1, 1j],
        [np.float32(1), 2],
        [np.arange(3), np.arange(3)],
        range(4),
        [[[1]]],
        [True, False],
        [2**63],
    ],
    ids=repr,
)
def test_numbers_and_nested_sequences_are_numpys(source: Any, kind: str) -> None:
    expected = np.asarray(source)
    ours = usmx.asarray(source, usm_type=kind)
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    np.testing.assert_array_equal(ours.to_numpy(), expected)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ([1, [2]], ValueError),
        ([[1, 2], [3]], ValueError),
        ([1, "x"], (TypeError, ValueError)),
        (object(), TypeError),
        ([object()], TypeError),
        ("text", TypeError),
        (None, TypeError),
        ({1, 2}, TypeError),
        (int, TypeError),
        ([2**64], (OverflowError, TypeError)),
    ],
    ids=lambda v: type(v).__name__,  # an address in a name differs between workers
)
def test_what_is_no_array_is_refused(source: Any, error: Any) -> None:
    with pytest.raises(error):
        usmx.asarray(source)


def test_copy_false_says_why_a_copy_is_needed(kind: str) -> None:
    a = usmx.arange(6, usm_type=kind)
    other = {"device": "shared", "shared": "host", "host": "device"}[kind]
    with pytest.raises(ValueError, match="dtype"):
        usmx.asarray(a, dtype="f4", copy=False)
    with pytest.raises(ValueError, match="usm_type"):
        usmx.asarray(a, usm_type=other, copy=False)
    moved = usmx.asarray(a, usm_type=other)
    assert (moved.usm_type, moved.tolist()) == (other, a.tolist())


def test_to_device_and_to_host_move_explicitly(kind: str) -> None:
    a = usmx.arange(6, usm_type=kind)
    assert a.to_device(ROW.device) is a
    assert a.to_device(a.device) is a
    sibling = usmx.Queue(a.context, a.device)
    b = a.to_device(sibling)
    assert b.queue == sibling
    assert b.pointer == a.pointer
    elsewhere = usmx.Queue(usmx.Context([a.device]), a.device)
    c = a.to_device(elsewhere)
    assert c.queue == elsewhere
    assert (c.usm_type, c.tolist()) == (kind, a.tolist())
    with pytest.raises(ValueError, match="context"):
        usmx.asarray(a, queue=elsewhere, copy=False)
    host = a.to_host()
    assert host.usm_type == "host"
    assert host.to_host() is host
    assert np.asarray(host).tolist() == a.tolist()


def test_allocations_that_cannot_be_are_errors(kind: str) -> None:
    with pytest.raises(MemoryError, match=r"device|host|shared"):
        usmx.empty(2**55, "u1", usm_type=kind)
    for shape in ((2**32, 2**32), 2**62, -1, (3, -1), 2**70):
        with pytest.raises(ValueError, match="shape"):
            usmx.zeros(shape, usm_type=kind)
    for shape in (8.7, "8", {8}, None, (1.5,), True):
        with pytest.raises(TypeError, match="shape"):
            usmx.zeros(shape, usm_type=kind)


@pytest.mark.parametrize("usm_type", ["device", "shared", "host"])
def test_arrays_in_nested_lists_are_joined_where_they_are(usm_type):
    n = np.arange(6.0).reshape(2, 3)
    x = usmx.asarray(n, usm_type=usm_type)
    for ours, theirs in (
        ([x[0, 0], x[1, 2]], [n[0, 0], n[1, 2]]),
        ([[x[0, 0], 2.5], (1, x[1, 2])], [[n[0, 0], 2.5], (1, n[1, 2])]),
        ([x, x + 1], [n, n + 1]),
        ([x[0], n[1]], [n[0], n[1]]),
        ([x[:, :0]], [n[:, :0]]),
    ):
        made = usmx.asarray(ours)
        assert made.usm_type == usm_type
        np.testing.assert_array_equal(made.to_numpy(), np.asarray(theirs))
        assert made.dtype == np.asarray(theirs).dtype
    assert usmx.asarray([x[0, 0], x[1, 2]], dtype="int8", usm_type="host").tolist() == [0, 5]
    with pytest.raises(ValueError, match=r"obj: has rows of different shapes \[\(\), \(3,\)\]"):
        usmx.asarray([x[0], x[0, 0]])
    with pytest.raises(ValueError, match="obj: has rows of different shapes"):
        usmx.asarray([[x[0, 0], 1], [2]])
    with pytest.raises(ValueError, match="copy"):
        usmx.asarray([x[0], x[1]], copy=False)


class Exporter:
    """An array of another library, known by its interface only."""

    def __init__(self, of):
        self.of = of

    @property
    def __sycl_usm_array_interface__(self):
        return self.of.__sycl_usm_array_interface__


@pytest.mark.parametrize("usm_type", ["device", "shared", "host"])
@pytest.mark.parametrize("made_by", ["interface", "dpnp"])
def test_arrays_of_other_libraries_in_nested_lists_are_joined(usm_type, made_by):
    n = np.arange(6, dtype="i4").reshape(2, 3)
    if made_by == "dpnp":
        x = pytest.importorskip("dpnp").asarray(n, usm_type=usm_type)
    else:
        x = Exporter(usmx.asarray(n, usm_type=usm_type))
    own = usmx.asarray(x)
    for given, same in (
        ([x, x], [n, n]),
        ([[x], (x,)], [[n], [n]]),
        ([x, n.tolist()], [n, n]),
        ([own, x], [n, n]),
    ):
        made = usmx.asarray(given)
        assert made.usm_type == usm_type
        np.testing.assert_array_equal(made.to_numpy(), np.asarray(same))
    np.testing.assert_array_equal(usmx.stack([x, x]).to_numpy(), np.stack([n, n]))


def test_a_list_that_its_elements_empty_while_it_is_read():
    class Emptying:
        @property
        def __sycl_usm_array_interface__(self):
            items.clear()
            raise AttributeError

    items = [Emptying(), *[object() for _ in range(1000)]]
    assert usmx.asarray(items).shape == (0,)


@pytest.mark.parametrize("order", [None, "K", "A", "C", "F", "f"])
@pytest.mark.parametrize("laid", ["C", "F"])
@pytest.mark.parametrize("source", ["numpy", "usmx", "dpnp", "list", "arrays in a list"])
def test_asarray_in_an_order(source, laid, order):
    values = np.array(np.arange(6, dtype="f4").reshape(2, 3), order=laid)
    given = {
        "numpy": lambda: values,
        "usmx": lambda: usmx.empty_like(values, order="K"),
        "dpnp": lambda: dpnp.tensor.asarray(values),
        "list": values.tolist,
        "arrays in a list": lambda: [usmx.asarray(row) for row in values],
    }[source]()
    if source == "usmx":
        given[...] = values
    of_lists = isinstance(given, list)
    wanted = np.asarray(values.tolist() if of_lists else values, order=order, dtype="f4")
    x = usmx.asarray(given, order=order, dtype="f4")
    assert x.flags.c_contiguous == wanted.flags.c_contiguous
    assert x.flags.f_contiguous == wanted.flags.f_contiguous
    np.testing.assert_array_equal(x.to_numpy(), values)
    if source == "usmx":
        stays = wanted.flags.c_contiguous == values.flags.c_contiguous
        assert (x is given) == stays
        if not stays:
            with pytest.raises(ValueError, match="copy: the elements are in another order"):
                usmx.asarray(given, order=order, copy=False)


def test_asarray_refuses_an_order_that_is_none():
    with pytest.raises(ValueError, match=r"order: 'Z'; expected one of the letters CFAK"):
        usmx.asarray([1], order="Z")


@pytest.mark.parametrize("usm_type", ["device", "shared"])
def test_rows_may_be_arrays_lists_and_ranges_next_to_each_other(usm_type: str) -> None:
    x = usmx.arange(3, usm_type=usm_type)
    n = x.to_numpy()
    for rows, right in (
        ([x, [1, 2, 3]], [n, [1, 2, 3]]),
        ([(1, 2, 3), x], [(1, 2, 3), n]),
        ([n, range(3), x], [n, range(3), n]),
        ([[x, n], [[1, 2, 3], x]], [[n, n], [[1, 2, 3], n]]),
        ([x[:2], [x[0], 2.5]], [n[:2], [0, 2.5]]),
        ([x[:0], []], [n[:0], []]),
    ):
        made = usmx.asarray(rows)
        np.testing.assert_array_equal(made.to_numpy(), np.asarray(right))
        assert made.dtype == np.asarray(right).dtype
        assert made.usm_type == usm_type
    with pytest.raises(ValueError, match="rows of different shapes"):
        usmx.asarray([x, [1, 2]])


def test_arrays_without_dimensions_are_lengths() -> None:
    n = usmx.count_nonzero(usmx.asarray([1, 0, 5, 2]))
    for count in (n, np.array(3), np.int64(3), usmx.asarray(3, usm_type="shared")):
        for function in (usmx.zeros, usmx.ones, usmx.empty, usmx.eye, usmx.arange):
            assert function(count).shape[0] == 3
        assert usmx.full(count, 2.0).shape == (3,)
        assert usmx.broadcast_to(usmx.ones(1), count).shape == (3,)
        assert usmx.zeros((2, count)).shape == (2, 3)
        assert usmx.tile(usmx.ones(2), count).shape == (6,)
        assert usmx.repeat(usmx.ones(2), count).shape == (6,)
        assert usmx.ones(3).reshape(count).shape == (3,)
        assert usmx.linspace(0, 1, count).shape == (3,)
        assert usmx.zeros_like(usmx.ones(5), shape=count).shape == (3,)
    with pytest.raises(TypeError):
        usmx.zeros(usmx.asarray(3.0))
