"""``%`` by a number that is not known asks all items of a vector first whether one of them needs a
division, where all come to it together; it gives what Python gives."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib

import numpy as np
import pytest

import usmx
from usmx.compat import cuda

both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
ASKS: list[object] = []
DIVIDES: list[object] = []


def asks(function):
    """Its remainder asks."""
    ASKS.append(function)
    return function


def divides(function):
    """Its remainder does not."""
    DIVIDES.append(function)
    return function


@asks
def of_an_element(item, a, n, out):
    i = item.get_id(0)
    out[i] = a[i] % n


@asks
def before_an_end(item, a, n, out):
    i = item.get_id(0)
    if i >= 0 and not i >= a.size:
        out[i] = a[i] % out.size


@asks
def behind_an_end(item, a, n, out):
    i = item.get_global_id(0)
    if i >= a.shape[0]:
        return
    cell = int(a[i])
    usmx.atomic.add(out, (cell + 1) % n, 1)


@asks
def of_neighbours(item, a, n, out):
    i = item.get_id(0)
    total = 0
    for k in range(-1, 2):
        if k != 0:
            total += a[(i + k) % a.size]
    out[i] = total


@asks
def in_rounds_that_halve(item, a, n, out):
    i = item.get_id(0)
    step = n
    while step > 0:
        out[i] += a[i] % step
        step //= 2


@asks
def in_place(item, a, n, out):
    i = item.get_id(0)
    x = a[i]
    x %= n
    out[i] %= n
    out[i] += x


@asks
def before_some_leave(item, a, n, out):
    i = item.get_id(0)
    x = a[i] % n
    if x == 1:
        return
    out[i] = x


@asks
def until_a_free_place(item, a, n, out):
    i = item.get_id(0)
    k = (a[i] * 7) % n
    while usmx.atomic.compare_exchange(out, k, 0, a[i]) != 0:
        k += 1


@divides
def behind_two_ends(item, a, n, out):
    i = item.get_id(0)
    if i < a.size:
        out[0] = 1
        if i > 3:
            out[i] = a[i] % n


@divides
def before_an_end_or_not(item, a, n, out):
    i = item.get_id(0)
    if i < a.size:
        out[i] = 0
    else:
        out[0] = a[0] % n


@divides
def of_a_known_number(item, a, n, out):
    i = item.get_id(0)
    out[i] = a[i] % 1000


@divides
def with_the_quotient(item, a, n, out):
    i = item.get_id(0)
    out[i] = a[i] // n + 3 * (a[i] % n)


@divides
def of_the_place_alone(item, a, n, out):
    i = item.get_id(0)
    out[i] = a[i % n]


@divides
def behind_a_branch(item, a, n, out):
    i = item.get_id(0)
    if a[i] > 3:
        out[i] = a[i] % n


@divides
def on_one_side(item, a, n, out):
    i = item.get_id(0)
    out[i] = a[i] % n if a[i] > 3 else 0


@divides
def behind_and(item, a, n, out):
    i = item.get_id(0)
    if a[i] > 3 and a[i] % n == 0:
        out[i] = 1


@divides
def after_some_left(item, a, n, out):
    i = item.get_id(0)
    if a[i] > 3:
        return
    out[i] = a[i] % n


@divides
def in_rounds_of_its_own(item, a, n, out):
    i = item.get_id(0)
    for _ in range(a[i]):
        out[i] += a[i] % n


@divides
def in_rounds_of_a_grid(item, a, n, out):
    for i in range(item.get_id(0), a.size, item.get_range(0)):
        out[i] = a[i] % n


@divides
def until_it_divides(item, a, n, out):
    i = item.get_id(0)
    while True:
        if out[i] > a[i] % n:
            break
        out[i] += 1


@divides
def where_a_name_differs(item, a, n, out):
    i = item.get_id(0)
    k = 0
    if a[i] > 3:
        k = 1
    if k == 1:
        out[i] = a[i] % n


@divides
def of_every_other_item(item, a, n, out):
    i = item.get_id(0)
    if i == 3:
        out[i] = a[i] % n


@usmx.device_func
def remainder(x, n):
    return x % n


@divides
def in_a_function(item, a, n, out):
    i = item.get_id(0)
    out[i] = remainder(a[i], n)


def arguments(dtype="int64"):
    return usmx.arange(64, dtype=dtype), 5, usmx.zeros(64, dtype=dtype)


def names(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda f: f.__name__)


@names(ASKS)
def test_items_that_come_together_ask(function):
    assert "usmx::wrapped<int64_t>(" in usmx.kernel(function).source(*arguments())


@names(DIVIDES)
def test_items_that_may_come_alone_divide(function):
    text = usmx.kernel(function).source(*arguments())
    assert "usmx::modulo<int64_t>(" in text
    assert "usmx::wrapped<" not in text


def test_unsigned_and_narrow_integers_and_floats_divide():
    for dtype in ("uint64", "uint32", "int16", "int8", "float32", "float64"):
        assert "usmx::wrapped<" not in usmx.kernel(of_an_element).source(*arguments(dtype))
    assert "usmx::wrapped<int32_t>(" in usmx.kernel(of_an_element).source(*arguments("int32"))


@pytest.mark.parametrize("threads", [128, 16, 4])
def test_threads_of_cuda_ask_where_a_block_has_whole_vectors(threads):
    @cuda.jit
    def deposit(place, charge, grid):
        i = cuda.grid(1)
        if i < place.size:
            cell = int(place[i])
            share = place[i] - cell
            cuda.atomic.add(grid, cell % grid.size, charge * (1 - share))
            cuda.atomic.add(grid, (cell + 1) % grid.size, charge * share)

    place, grid = np.random.default_rng(1).random(1000) * 40, np.zeros(32)
    text = deposit.inspect_source(place, 0.5, grid)
    assert text.count("usmx::wrapped<int64_t>(") == 2
    deposit[-(-place.size // threads), threads](place, 0.5, grid)
    cell = place.astype(int)
    wanted = np.bincount(cell % 32, 0.5 * (1 - place + cell), 32)
    wanted += np.bincount((cell + 1) % 32, 0.5 * (place - cell), 32)
    np.testing.assert_allclose(grid, wanted, rtol=1e-12)


def test_rows_shorter_than_a_vector_divide():
    asks, divides = usmx.kernel(of_an_element), usmx.kernel(with_the_quotient)
    a, n, out = arguments()
    for local in (16, 32, 128, 100):
        assert "usmx::wrapped<" in asks.source(a, n, out, local=local)
    for local in (1, 4, 8, 20):
        assert "usmx::wrapped<" not in asks.source(a, n, out, local=local)
    for k, of_short in ((asks, 2), (divides, 1)):
        k[64](a, n, out).wait()
        k[64, (16,)](a, n, out).wait()
        assert k._count == 1
        for ranges in ((64, (4,)), (20, None), (64, (8,))):
            k[ranges](a, n, out).wait()
        assert k._count == of_short
        k[64](a, n, out).wait()
        assert k._count == of_short


def test_a_branch_at_an_end_is_there_for_whole_vectors_too():
    a, n, out = arguments()
    for function in (before_an_end, behind_an_end):
        text = usmx.kernel(function).source(a, n, out)
        assert text.count("usmx::all_of<3>(") == text.count("#ifdef USMX_SHORT_VECTOR") == 1
        assert text.count("usmx::wrapped<") == text.count("usmx::modulo<") == 1
    for function in (of_an_element, of_a_known_number, behind_a_branch, behind_two_ends):
        assert "usmx::all_of<3>(" not in usmx.kernel(function).source(a, n, out)


@both
@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000, 4099])
def test_items_beyond_an_end_do_nothing(size, simulated):
    if simulated and size > 100:
        size = 40

    @usmx.kernel
    def returns(item, a, n, out):
        i = item.get_id(0)
        if i < 0 or i >= a.size - 1:
            return
        if n > 5:
            if i >= a.size - 2:
                return
            out[i] += 100
        out[i] += (a[i] + 1) % n

    @usmx.kernel
    def goes_inside(item, a, n, out):
        i = item.get_id(0)
        k = 1
        if 1 <= i < a.size:
            k = (a[i] - a[i - 1]) % n
            if k == 3:
                return
            for j in range(2):
                out[i] += (i + j) % n
        out[i] += k

    def once(kernel, n):
        out = usmx.zeros(size, dtype="int64")
        with usmx.simulate() if simulated else contextlib.nullcontext():
            kernel[size](usmx.asarray(a), n, out).wait()
        return out.to_numpy().tolist()

    a = np.random.default_rng(size).integers(-9, 30, size)
    for n in (4, 7):
        wanted = [(x + 1) % n for x in a[:-1].tolist()] + [0]
        if n > 5 and size > 1:
            wanted = [100 + x for x in wanted[:-2]] + [0, 0]
        assert once(returns, n) == wanted
        wanted = [1]
        for i in range(1, size):
            k = int(a[i] - a[i - 1]) % n
            wanted.append(0 if k == 3 else k + sum((i + j) % n for j in range(2)))
        assert once(goes_inside, n) == wanted
    assert "usmx::wrapped<" in goes_inside.source(a, 4, a)
    assert "usmx::wrapped<" not in returns.source(a, 4, a)


def edges(t):
    low, high = np.iinfo(t).min, np.iinfo(t).max
    return [low, low + 1, -7, -6, -5, -2, -1, 0, 1, 2, 4, 5, 6, 9, 10, 11, high - 1, high]


@both
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_the_results_are_those_of_python(dtype, simulated):
    numbers = edges(dtype)
    if simulated:
        numbers = [*numbers[::3], -5, 5]
    quarter = 2 ** (np.iinfo(dtype).bits - 3)
    divisors = [*numbers, quarter, quarter + 1, -quarter]
    a = usmx.asarray(np.array([numbers] * len(divisors), dtype))
    b = usmx.asarray(np.array(divisors, dtype))
    out = usmx.zeros(a.shape, dtype=dtype)

    # Each row has one divisor, so that all may be near in one and none in another.
    @usmx.kernel
    def remainders(item, a, b, out):
        j, i = item.get_id(0), item.get_id(1)
        if i < a.shape[1]:
            out[j, i] = a[j, i] % b[j]

    with usmx.simulate() if simulated else contextlib.nullcontext():
        remainders[len(divisors), 64](a, b, out).wait()
    assert "usmx::wrapped<" in remainders.source(a, b, out)
    wanted = [[x % y if y else 0 for x in numbers] for y in divisors]
    assert out.to_numpy().tolist() == wanted


@pytest.mark.parametrize("local", [1, 5, 16, 33, 64, 100, 128])
@pytest.mark.parametrize("groups", [1, 3])
def test_groups_of_any_size_give_the_same(local, groups):
    @usmx.kernel
    def turned(item, a, n, out):
        i, k = item.get_id(0), item.get_local_id(0)
        size = item.get_local_range(0)
        tile = usmx.local.array(128, usmx.int64)
        tile[k] = a[i]
        usmx.barrier()
        total = 0
        for step in range(3):
            total += tile[(k + step * n) % size] % n
        usmx.barrier()
        if k < size // 2:
            total += tile[(k + n) % size]
        out[i] = total

    size = groups * local
    a = np.random.default_rng(local).integers(-20, 40, size)
    for n in (-3, 7, 13):
        out = usmx.zeros(size, dtype="int64")
        turned[size, (local,)](usmx.asarray(a), n, out).wait()
        wanted = np.zeros((groups, local), int)
        tile, k = a.reshape(groups, local), np.arange(local)
        for step in range(3):
            wanted += tile[:, (k + step * n) % local] % n
        half = k < local // 2
        wanted[:, half] += tile[:, (k[half] + n) % local]
        assert out.to_numpy().tolist() == wanted.ravel().tolist()


def test_items_that_are_elsewhere_change_nothing():
    # In the text of a RawKernel nothing says who comes to the question.
    text = """
    USMX_KERNEL(1) pick(const int64_t* a, const int64_t* b, int64_t* out) {
      const auto i = usmx::global_id();
      if (a[i] % 3 == 0) {
        out[i] = usmx::wrapped<int64_t>(a[i], b[i]);
        return;
      }
      for (int64_t k = 0; k < a[i] % 5; ++k) {
        if ((a[i] + k) % 2 == 0) continue;
        out[i] += usmx::wrapped<int64_t>(a[i] + k, b[i]);
      }
    }
    """
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 50, 1000), rng.integers(1, 60, 1000)
    out = usmx.zeros(1000, dtype="int64")
    usmx.RawKernel(text, "pick")[1000](usmx.asarray(a), usmx.asarray(b), out).wait()
    wanted = [
        x % y if x % 3 == 0 else sum((x + k) % y for k in range(x % 5) if (x + k) % 2 != 0)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert out.to_numpy().tolist() == wanted
