# Functions that Numba compiles take arrays that the host can read, in place.
# SPDX-License-Identifier: Apache-2.0
import gc
import weakref
from importlib import metadata

import numba
import numpy as np
import pytest
from backend_row import needs

import usmx

KINDS = ["shared", "host", "unknown"]


def on_host(values, kind):
    values = np.asarray(values)
    if kind == "unknown":
        return usmx.asarray(values.copy(order="K"), copy=False)
    return usmx.asarray(values, usm_type=kind)


@numba.njit
def double(x):
    for i in range(x.size):
        x[i] *= 2
    return x.sum()


@numba.njit
def itself(x):
    return x


@numba.njit
def address(x):
    return x.ctypes.data


@pytest.mark.parametrize("kind", KINDS)
@needs("host_memory")
def test_elements_are_read_and_written_in_place(kind):
    x = on_host(np.arange(5.0), kind)
    with usmx.trace() as record:
        assert double(x) == 20
    assert not record.copies
    assert x.to_numpy().tolist() == [0, 2, 4, 6, 8]
    assert address(x) == x.pointer


def test_numba_knows_arrays_by_its_own_entry_point(run_python):
    points = metadata.entry_points(group="numba_extensions")
    assert [p.value for p in points if p.value.startswith("usmx")] == ["usmx._interop.numba:init"]
    program = """
        import usmx, sys
        assert "numba" not in sys.modules
        import numba
        x = usmx.arange(3, dtype="float32", usm_type="shared")
        print(numba.njit(lambda x: x.sum())(x))
        print(numba.typeof(x))
    """
    said = run_python(program, timeout=300).stdout.splitlines()
    assert said == ["3.0", "usmx.ndarray(float32, 1d, C)"]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "i8", "f4", "f8", "c8", "c16"])
def test_types(dtype):
    @numba.njit
    def reverse(x, y):
        for i in range(x.size):
            y[i] = x[x.size - 1 - i]

    values = np.array([0, 1, 1, 0, 1], dtype)
    x, y = on_host(values, "shared"), on_host(np.zeros_like(values), "host")
    reverse(x, y)
    assert y.to_numpy().tolist() == values[::-1].tolist()


def test_strides_and_orders():
    values = np.arange(24.0).reshape(4, 6)
    x = on_host(values, "shared")

    @numba.njit
    def weigh(x):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                total += x[i, j] * (i + 10 * j)
        return total

    for ours, theirs in [
        (x, values),
        (x.T, values.T),
        (x[::-1, ::2], values[::-1, ::2]),
        (x[1:, 3:], values[1:, 3:]),
    ]:
        assert weigh(ours) == weigh(theirs)
    assert [numba.typeof(a).layout for a in (x, x.T, x[:, ::2])] == ["C", "F", "A"]


def test_zero_dimensions_and_no_elements():
    scalar = on_host(np.array(3.0), "shared")

    @numba.njit
    def add_one(x):
        x[()] += 1
        return x.ndim

    assert add_one(scalar) == 0
    assert scalar.item() == 4
    assert double(usmx.zeros(0, usm_type="host")) == 0


def test_what_is_computed_from_them_are_arrays_of_numpy():
    x = on_host(np.arange(6.0).reshape(2, 3), "shared")

    @numba.njit
    def compute(x, choose):
        y = x if choose else np.zeros((2, 3))
        return np.sqrt(x + 1) + y.T.copy().T, x[1], x.reshape(6)

    root, row, flat = compute(x, True)
    assert np.allclose(root, np.sqrt(x.to_numpy() + 1) + x.to_numpy())
    assert type(row) is np.ndarray
    row[0] = 30
    flat[0] = 10
    assert x.to_numpy().tolist() == [[10, 1, 2], [30, 4, 5]]
    assert usmx.asarray(row, copy=False).pointer == x.pointer + 24
    assert compute(x, False)[1].tolist() == [30, 4, 5]


def test_an_array_that_is_returned_is_the_same_object():
    x = on_host(np.arange(3.0), "shared")
    assert itself(x) is x


def test_memory_lives_as_long_as_what_a_function_returned():
    x = on_host(np.arange(1000.0), "shared")
    view = numba.njit(lambda x: x[10:])(x)
    del x
    gc.collect()
    assert view.tolist() == list(range(10, 1000))


@needs("host_memory")
def test_references_are_given_back():
    source = np.arange(4.0)
    x = usmx.asarray(source, copy=False)
    for _ in range(100):
        double(x)
        itself(x)
    gone = weakref.ref(source)
    del x, source
    gc.collect()
    assert gone() is None


def test_read_only_arrays_are_read_and_not_written():
    x = on_host(np.arange(3.0), "shared")
    x.flags.writeable = False
    assert numba.njit(lambda x: x[2])(x) == 2
    with pytest.raises(numba.TypingError, match="readonly"):
        double(x)
    assert x.to_numpy().tolist() == [0, 1, 2]


def test_pending_commands_come_first():
    n = 1 << 20
    add = usmx.ElementwiseKernel("T a", "T b", "b = a + 1")
    x = usmx.zeros(n, "int64", usm_type="shared")
    least = numba.njit(lambda x: (x.min(), x.max()))
    least(x)
    for step in range(1, 11):
        add(x, x)
        assert least(x) == (step, step)


def test_parallel_functions():
    @numba.njit(parallel=True)
    def scale(x, y):
        for i in numba.prange(x.size):
            y[i] = 3 * x[i]
        return (x + y).sum()

    x, y = on_host(np.arange(1000.0), "shared"), on_host(np.zeros(1000), "host")
    assert scale(x, y) == 4 * np.arange(1000.0).sum()
    assert y.to_numpy()[-1] == 2997


def test_records():
    kind = np.dtype([("a", "i4"), ("b", "f8")])
    x = on_host(np.zeros(3, kind), "shared")

    @numba.njit
    def fill(x):
        for i in range(x.size):
            x[i].a = i
            x[i].b = i / 2

    fill(x)
    assert x.to_numpy().tolist() == [(0, 0.0), (1, 0.5), (2, 1.0)]


def test_device_memory_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"device memory .*x\.to_numpy\(\).*usm_type='shared'"):
        double(usmx.zeros(3, usm_type="device"))


def test_importing_usmx_does_not_import_numba(run_python):
    run_python("import sys, usmx; usmx.ones(3); assert 'numba' not in sys.modules")
