# Programs in numba.cuda's kernel language: exceptions, texts of exec, records, vectors, extensions.
# SPDX-License-Identifier: Apache-2.0
import math
import pickle

import numpy as np
import pytest

import usmx
from usmx.compat import cuda
from usmx.compat.cuda import grid as place
from usmx.compat.cuda import threadIdx as number
from usmx.compat.cupyx import jit


class TooLargeError(Exception):
    """Raised by kernels."""


def refuse(x):
    i = cuda.grid(1)
    if x[i] > 2:
        raise TooLargeError("too large", int(x[i]))
    x[i] += 10


def test_debug_raises_what_a_kernel_raises_with_its_arguments_its_thread_and_its_line():
    x = np.arange(4)
    with pytest.raises(TooLargeError, match=r"tid=\[1, 0, 0\] ctaid=\[1, 0, 0\]: too large") as one:
        cuda.jit(refuse, debug=True)[2, 2](x)
    assert one.value.args[1:] == (3,)
    assert 'raise TooLargeError("too large"' in one.value.args[0]


def test_without_debug_a_thread_that_raises_stops():
    x = np.arange(4)
    cuda.jit(refuse)[2, 2](x)
    cuda.synchronize()
    np.testing.assert_array_equal(x, [10, 11, 12, 3])


@cuda.jit(device=True)
def checked_root(a):
    if a < 0:
        raise ValueError("negative")
    return math.sqrt(a)


def roots(x):
    i = cuda.grid(1)
    x[i] = checked_root(x[i])


def test_a_function_that_raises_gives_zero_or_the_exception_of_debug():
    x = np.array([4.0, -1.0])
    cuda.jit(roots)[1, 2](x)
    cuda.synchronize()
    np.testing.assert_array_equal(x, [2, 0])
    with pytest.raises(ValueError, match=r"tid=.*negative"):
        cuda.jit(roots, debug=True)[1, 2](np.array([4.0, -1.0]))


def asserting(x, most):
    i = cuda.grid(1)
    assert x[i] < most, f"at most {most}"
    x[i] = 7


def test_assert_stops_a_thread_and_raises_in_debug(capfd):
    x = np.arange(4)
    cuda.jit(asserting)[1, 4](x, 2)
    cuda.synchronize()
    np.testing.assert_array_equal(x, [7, 7, 2, 3])
    assert capfd.readouterr().out.count("assertion failed: x[i] < most") == 2
    with pytest.raises(AssertionError, match=r"tid=\[2, 0, 0\].*at most 2"):
        cuda.jit(asserting, debug=True)[1, 4](np.arange(4), 2)


@usmx.kernel
def stops(item, x):
    i = item.get_id(0)
    if x[i] > 1:
        raise ValueError("no")
    x[i] = 5


def test_an_item_of_other_kernels_that_raises_prints_its_line_and_stops(capfd):
    x = usmx.arange(3)
    stops[3](x).wait()
    assert x.to_numpy().tolist() == [5, 5, 2]
    assert "stops: raise ValueError('no')" in capfd.readouterr().out
    with usmx.simulate(), pytest.raises(ValueError, match="no"):
        stops[3](usmx.arange(3))


def made_by_exec(amount):
    names = {"cuda": cuda}
    exec(f"def more(x):\n    x[cuda.grid(1)] += {amount}\n", names)
    return names["more"]


def test_a_function_that_exec_made_is_found_after_its_text_is_gone():
    first, second = made_by_exec(5), made_by_exec(6)
    x = np.zeros(2)
    for function in (first, second):
        cuda.jit(function)[1, 2](x)
    cuda.synchronize()
    np.testing.assert_array_equal(x, [11, 11])


INNER = np.dtype([("grid", "i8", (2, 3))])
RECORD = np.dtype([("mass", "f4"), ("inner", INNER), ("count", "i4")], align=True)


def change(r, mass):
    r.mass = mass
    r.inner.grid[1, 2] += 5
    r["count"] = int(r[0]) + r.inner.grid[1, 2]


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("kind", [np.ndarray, np.recarray])
def test_a_record_that_is_an_argument_is_changed_where_it_is(debug, kind):
    x = np.zeros(2, RECORD)
    kernel = cuda.jit(change, debug=debug)
    for mass in (2.5, 3.5):
        kernel[1, 1](x.view(kind)[1], mass)
    cuda.synchronize()
    assert x[0]["mass"] == 0
    assert x[1]["mass"] == 3.5
    assert x[1]["inner"]["grid"].tolist() == [[0, 0, 0], [0, 0, 10]]
    assert x[1]["count"] == 13


@cuda.jit
def vectors(out):
    one = cuda.float32x1(1)
    two = cuda.float2(one, 2)
    four = cuda.float32x4(two, one, 4)
    wide = cuda.ulonglong3(7, 8, 9)
    out[0] = one.x
    out[1] = four.x + 10 * four.y + 100 * four.z + 1000 * four.w
    out[2] = wide.z


@pytest.mark.parametrize("simulate", [False, True])
def test_vectors_are_made_of_numbers_and_shorter_vectors(simulate):
    out = np.zeros(3)
    with usmx.simulate(simulate):
        vectors[1, 1](out)
    assert out.tolist() == [1, 4121, 9]
    assert cuda.long2 is cuda.longlong2 is cuda.int64x2


@cuda.jit
def past_caches(x, y):
    i = cuda.grid(1)
    cuda.stcs(y, i, cuda.ldca(x, i) + cuda.ldcg(x, i))


def test_loads_and_stores_past_caches_are_loads_and_stores():
    x, y = np.arange(4.0), np.zeros(4)
    past_caches[1, 4](x, y)
    np.testing.assert_array_equal(y, 2 * x)


@cuda.jit
def in_rows(x, y, flags, n):
    np.sin(x, y)
    np.logical_and(x, 2, flags)
    np.bitwise_xor(n, 3, n)


@pytest.mark.parametrize("simulate", [False, True])
def test_functions_of_numpy_write_arrays(simulate):
    x, y, flags = np.arange(4.0), np.zeros(4), np.zeros(4, bool)
    n = np.arange(4)
    with usmx.simulate(simulate):
        in_rows[1, 1](x, y, flags, n)
    np.testing.assert_allclose(y, np.sin(x), rtol=1e-15)
    assert flags.tolist() == [False, True, True, True]
    assert n.tolist() == [3, 2, 1, 0]
    x, y = np.arange(12.0).reshape(2, 2, 3), np.zeros((2, 2, 3))
    with usmx.simulate(simulate):
        in_rows[1, 1](x, y, np.zeros((2, 2, 3), bool), n)
    np.testing.assert_allclose(y, np.sin(x), rtol=1e-15)
    with pytest.raises(usmx.KernelError, match="arrays of as many dimensions"):
        in_rows[1, 1](x, np.zeros(3), flags, n)


@cuda.jit
def numbers(x, out):
    i = cuda.grid(1)
    v = x[i]
    part, power = cuda.libdevice.frexp(v)
    rest, whole = cuda.libdevice.modf(v)
    out[0, i] = part * 1000 + power
    out[1, i] = rest + 10 * whole
    out[2, i] = cuda.libdevice.fdim(v, 1.0) + cuda.libdevice.dadd_rn(v, 2.0)
    out[3, i] = cuda.libdevice.llround(v) + cuda.libdevice.scalbn(v, 3)
    out[4, i] = cuda.libdevice.remainder(v, 2.0) + cuda.libdevice.signbitd(v)
    out[5, i] = cuda.libdevice.uhadd(3, i) + cuda.libdevice.sad(3, i, 2)


@pytest.mark.parametrize("simulate", [False, True])
def test_more_functions_of_libdevice(simulate):
    x, out = np.array([0.5, 2.5, -1.5, 3.49]), np.zeros((6, 4))
    with usmx.simulate(simulate):
        numbers[1, 4](x, out)
    part, power = np.frexp(x)
    rest, whole = np.modf(x)
    i = np.arange(4)
    away = np.trunc(x + np.copysign(0.5, x))
    wanted = [
        part * 1000 + power, rest + 10 * whole, np.maximum(x - 1, 0) + x + 2, away + x * 8,
        [math.remainder(v, 2) + (v < 0) for v in x], (3 + i) // 2 + abs(3 - i) + 2,
    ]  # fmt: skip
    np.testing.assert_allclose(out, wanted, rtol=1e-14)


class Reading:
    """An extension of numba.cuda: arrays of the host are only read."""

    def prepare_args(self, ty, val, **_):
        from usmx.compat.cuda.dispatcher import wrap_arg

        return ty, wrap_arg(val, default=cuda.In)


def test_extensions_see_the_arguments_of_a_launch():
    def clear(x):
        x[cuda.grid(1)] = 0

    x = np.ones(4)
    cuda.jit(clear, extensions=[Reading()])[1, 4](x)
    cuda.synchronize()
    assert x.tolist() == [1] * 4


def test_the_driver_copies_bytes():
    with cuda.install():
        from numba.cuda.cudadrv import driver

        memory = cuda.current_context().memalloc(40)
        given, found = np.arange(10, dtype="u4"), np.zeros(10, "u4")
        driver.host_to_device(memory, given, 40)
        other = cuda.device_array(10, "u4")
        driver.device_to_device(other, memory, 40)
        driver.device_memset(other, 0xAB, 8)
        driver.device_to_host(found, other, 40)
        assert found.tolist() == [0xABABABAB] * 2 + given[2:].tolist()
        with pytest.raises(ValueError, match="size: 44; expected 0 to 40 bytes"):
            driver.host_to_device(memory, given, 44)
        host = cuda.current_context().memhostalloc(8, mapped=True)
        driver.device_memset(host, 3, 8)
        assert np.asarray(host).tolist() == [3] * 8


def test_code_of_other_languages_is_held_and_refused_where_it_is_linked():
    code = cuda.CUSource("extern ...", name="functions")
    assert (code.data, code.name) == ("extern ...", "functions")
    with pytest.raises(NotImplementedError, match="link="):
        cuda.jit(link=[code])


def test_arrays_have_the_strides_of_numpy():
    a = np.arange(9).reshape(3, 3)
    x = cuda.to_device(a)
    for i in range(3):
        assert x[i:, 1:].strides == a[i:, 1:].strides
    assert x.itemsize == a.itemsize
    stream = cuda.stream()
    assert x.bind(stream).stream is stream
    with pytest.raises(TypeError):
        cuda.device_array((1.5,))


@jit.rawkernel(device=True)
def twice(x):
    return 2 * x


def test_kernels_of_cupyx_are_pickled_as_such():
    function = pickle.loads(pickle.dumps(twice))
    assert type(function) is jit.RawKernel
    assert function.is_device


@pytest.mark.parametrize("threads", [8, 16, 32, 64])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_atomic_operations_on_local_memory_that_one_thread_set_count_those_of_all(threads, dtype):
    def total(x, out):
        k = cuda.threadIdx.x
        own = cuda.shared.array(1, x.dtype)
        if k == 0:
            own[0] = out[0]
        cuda.syncthreads()
        cuda.atomic.add(own, 0, x[k])
        cuda.syncthreads()
        if k == 0:
            out[0] = own[0]

    x, out = np.arange(1, threads + 1).astype(dtype), np.zeros(1, dtype)
    cuda.jit(total)[1, threads](x, out)
    cuda.synchronize()
    assert out[0] == x.sum()


def squares(x):
    i = place(1)
    if i < x.size:
        x[i] = math.sqrt(abs(x[i]))


def by_alias(x):
    x[place(1)] = number.x


@cuda.jit(device=True)
def lane(x):
    return cuda.blockDim.x


def through_a_function(x):
    x[place(1)] = lane(x)


def inside(x):
    def own():
        return cuda.blockIdx.x

    x[place(1)] = own()


class ForProcessors:
    """As a function with numba.njit."""

    def __init__(self, function):
        self.py_func = function
        self.__code__ = function.__code__

    def __call__(self, x):
        return self.py_func(x)


@ForProcessors
def one_more(x):
    return x + cuda.threadIdx.y


def through_another_decorator(x):
    x[place(1)] = one_more(1)


def of_unknown_modules(x):
    x[place(1)] = pickle.HIGHEST_PROTOCOL


@pytest.mark.parametrize(
    ("python", "apart"),
    [
        (squares, True), (roots, True), (by_alias, False), (through_a_function, False),
        (inside, False), (through_another_decorator, False), (of_unknown_modules, False),
    ],
)  # fmt: skip
def test_a_kernel_that_knows_nothing_of_blocks_is_launched_in_any(python, apart):
    assert cuda.jit(python).is_apart is apart
    assert not cuda.jit(python, debug=True).is_apart


def locked(lock, count):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    count[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def test_blocks_of_one_thread_wait_for_a_lock():
    kernel = cuda.jit(locked)
    assert not kernel.is_apart  # together in a vector they would wait for themselves
    lock, count = cuda.to_device(np.zeros(1, "int32")), cuda.to_device(np.zeros(1, "int32"))
    kernel[50, 1](lock, count)
    assert count.copy_to_host() == [50]


def test_such_a_kernel_has_as_many_threads_as_its_blocks_have():
    def count(x):
        i, j = cuda.grid(2)
        cuda.atomic.add(x, 0, 1)
        cuda.atomic.max(x, 1, i)
        cuda.atomic.max(x, 2, j)

    x = np.zeros(3, "i4")
    kernel = cuda.jit(count)
    kernel[(3, 5), (7, 2)](x)
    cuda.synchronize()
    assert kernel.is_apart
    assert x.tolist() == [210, 20, 9]


def votes(out, x):
    i = cuda.grid(1)
    out[0, i] = cuda.eq_sync(0xFFFFFFFF, x[i] != 0)
    out[1, i] = cuda.eq_sync(0xFFFFFFFF, x[i])
    out[2, i] = cuda.eq_sync(0xFFFF, x[i] < 2)
    out[3, i] = cuda.all_sync(0xFFFFFFFF, x[i] == 0) + 2 * cuda.any_sync(0xFFFFFFFF, x[i])


# Two questions about one predicate were asked inside of a branch on it, of some threads each.
@pytest.mark.parametrize("simulate", [False, True])
@pytest.mark.parametrize("of_one", [0, 2])
def test_all_threads_of_a_warp_have_the_same_answer_to_a_vote(simulate, of_one):
    x, out = np.zeros(32, "i4"), np.zeros((4, 32), "i8")
    x[3] = of_one
    with usmx.simulate(simulate):
        cuda.jit(votes)[1, 32](out, x)
        cuda.synchronize()
    wanted = [1, 1, 1, 1] if of_one == 0 else [0, 0, 0, 2]
    np.testing.assert_array_equal(out, np.repeat(np.array(wanted)[:, None], 32, axis=1))


def into_all(x, out):
    np.arctan(x, out)


def sum_into_all(x, out):
    np.add(x, x, out)


# The driver's compiler crashed on a loop that computed this of one complex number again and again.
def test_a_function_of_one_number_fills_an_array():
    for x in (np.complex64(0.5 - 0.5j), np.complex128(0.5 + 0.25j)):
        out = np.zeros(3, x.dtype)
        cuda.jit(into_all)[1, 1](x, out)
        np.testing.assert_allclose(out, np.full(3, np.arctan(x)), rtol=1e-6)
        cuda.jit(sum_into_all)[1, 1](x, out)
        np.testing.assert_array_equal(out, x + x)


def test_types_are_a_module_without_install():
    @cuda.jit(cuda.types.void(cuda.types.float32[:]))
    def one(x):
        x[cuda.grid(1)] = cuda.types.float32(1)

    x = np.zeros(2, "f4")
    one[1, 2](x)
    assert x.tolist() == [1, 1]


TABLE_OF_RECORDS = np.zeros(2, [("a", "i4"), ("b", "f8")])


def factorial(n):
    return n if n < 2 else n * factorial(n - 1)


def test_what_kernels_lack_is_refused_with_the_line_and_what_to_do():
    def records(x):
        x[0] = cuda.const.array_like(TABLE_OF_RECORDS)[0].a

    def many(*args):
        args[0][0] = 1

    def deep(x):
        x[0] = factorial(3)

    def reshaped(x):
        x[0] = x.reshape(2, 1)[0, 0]

    def viewed(x):
        x[0] = x.view(np.int64)[0]

    for python, why in (
        (records, "'TABLE_OF_RECORDS' is a constant here: .*; pass it as an argument"),
        (many, r"\*args: a variable number of parameters is not supported; pass a tuple"),
        (deep, "'factorial' calls itself; recursion is not supported"),
        (reshaped, "'reshape' of an array is not supported in kernels"),
        (viewed, "'view' of an array is not supported in kernels"),
    ):
        with pytest.raises(usmx.KernelError, match=rf"{__name__}\.py:\d+: {why}"):
            cuda.jit(python)[1, 1](np.zeros(2))
