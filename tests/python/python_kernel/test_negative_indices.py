"""Indices that are negative, computed or not, count from the end: as in Python, in the simulator,
and in programs for numba.cuda; and those that are sure not to be negative cost nothing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import linecache
import random

import numpy as np
import pytest
from depths import depth
from language_run import DTYPES, Together, expected, given

import usmx
from usmx.compat import cuda

TABLE = usmx.constant.array(np.arange(20, dtype="int32").reshape(5, 4))
both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
PROGRAMS = {}
TOGETHER = Together(PROGRAMS)
vec4 = usmx.vec(4, usmx.float32)
mat2 = usmx.mat(2, 2, usmx.float32)


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def before(x, i):
    return x[i - 1]


def left_of(i):
    return i - 1


def inside(i, n):
    return min(i, n - 1)


@program
def computed_ones_count_from_the_end(x, m, i):
    return x[i - 1] + x[i - 5] * 2 + x[-i] * 3 + x[~i] * 5


@program
def in_two_dimensions(x, m, i):
    return m[i - 1, 1 - i] + m[i - 5, -i - 0 * i - (i < 1)] * 3 + m[(i - 2, i - 4)] * 5


@program
def in_rows_and_slices(x, m, i):
    row, part = m[i - 3], m[1:, ::-1]
    return (
        row[i - 4]
        + m[i - 1][-1] * 3
        + part[i - 4, 2] * 5
        + x[::2][i - 3 + i // 3]
        + m[i - 2, 1:][-1]
    )


@program
def in_functions(x, m, i):
    return before(x, i) + before(m[i - 1], i - 3) * 3 + x[left_of(i)] * 5 + x[inside(i, 4)] * 7


@program
def in_loops(x, m, i):
    s, k = x[0] * 0, 4
    for j in range(-3, 3):
        s += x[j] * (j + 5)
    while k > -5:
        s += x[k] * (k + 6)
        k -= 1
    for j in range(i, -5, -1):
        s += x[j]
    for j, v in enumerate(x, -4):
        s += v * x[j]
    return s


@program
def of_what_an_element_says(x, m, i):
    return m[int(x[i]) - 5, int(m[0, i % 4]) - 4]


@program
def in_tables_tuples_and_private_memory(x, m, i):
    return TABLE[i - 5, i - 4] + (3, 1, 4, 1, 5)[i - 5] * 100 + (2, 7, 1, 8, 2)[i - 1] * 1000


@program
def a_variable_that_becomes_negative_late(x, m, i):
    s, a, b, c, d = 0.0, 0, 0, 0, 0
    for _ in range(5):
        s = s * 2 + x[a] + x[b] * 3
        a = b
        b = c
        c = d
        d = -1
    return s


@program
def a_condition_counts_only_where_it_holds(x, m, i):
    j, s = i - 2, x[0] * 0
    if j >= 0:
        s += x[j]
    else:
        s += x[j] * 3
    if j > 0:
        j = j - 3
        s += x[j] * 5
    s += x[j] * 7
    k = x[j - 1] if j > 0 else x[j]
    if j < 0 or x[j - 1] > 2:
        s += x[j - 2]
    if not (j < 1 or i > 100):
        s += x[j - 1] * 11
    if i >= 2 and x[i - 2] > 0:
        j = -4
    if i >= 2:
        s += x[j] + x[i - 2]
    return s + k * 13


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", DTYPES)
@both
def test_a_kernel_counts_as_python(name, dtype, simulated):
    """Each program gives what it gives in Python."""
    x, m = given(dtype, "C")
    got = TOGETHER.run(name, x, m, simulated)
    np.testing.assert_array_equal(got, np.array(expected(PROGRAMS[name], x, m), dtype=got.dtype))


def shown(simulated):
    return usmx.simulate() if simulated else contextlib.nullcontext()


@both
def test_elements_are_stored_and_added_from_the_end(simulated):
    """Stores, augmented assignments, atomics, AtomicRef, fields, private and local memory."""
    at = np.dtype([("n", "i4"), ("v", "f4", (3,))])

    @usmx.kernel
    def kernel(item, x, m, counts, points, out):
        i = item.get_global_id(0)
        k = item.get_local_id(0)
        x[i - 3] = i
        m[i - 2, -1 - i] += i + 1
        usmx.atomic.add(counts, i - 5, 1)
        usmx.AtomicRef(counts, -i).fetch_add(10)
        points[i - 1].n = i
        points[i - 1].v[i - 3] = i * 2
        tile = usmx.local.array(4, usmx.int32)
        own = usmx.private.array(4, usmx.int32)
        tile[k - 4] = i * i
        own[k - 1] = 7
        usmx.barrier()
        v = vec4(1, 2, 3, 4)
        v[k - 4] += 10
        w = mat2(1, 2, 3, 4)
        out[i] = tile[k - 1] * 100 + own[(k + 3) % 4] + v[k - 4] * 1000 + w[k // 2 - 2, k % 2 - 2]

    x, m = usmx.zeros(4, dtype="int32"), usmx.zeros((4, 4), dtype="int32")
    counts, out = usmx.zeros(5, dtype="int32"), usmx.zeros(4, dtype="float32")
    places = usmx.asarray(np.zeros(4, dtype=at))
    with shown(simulated):
        kernel[4, (4,)](x, m, counts, places, out).wait()
    points = places.to_numpy()
    assert x.to_numpy().tolist() == [3, 0, 1, 2]
    wanted = np.zeros((4, 4), int)
    for i in range(4):
        wanted[i - 2, -1 - i] += i + 1
    np.testing.assert_array_equal(m.to_numpy(), wanted)
    assert counts.to_numpy().tolist() == [11, 1, 11, 11, 10]
    assert points["n"].tolist() == [1, 2, 3, 0]
    values = np.zeros((4, 3))
    for i in range(4):
        values[i - 1, i - 3] = i * 2
    np.testing.assert_array_equal(points["v"], values)
    squares, w = [0, 1, 4, 9], [1, 2, 3, 4]
    assert out.to_numpy().tolist() == [
        squares[k - 1] * 100 + 7 + (k + 1 + 10) * 1000 + w[k] for k in range(4)
    ]


@both
def test_an_argument_may_be_negative_once_and_not_the_next_time(simulated):
    """The text for arguments that are not negative is not used for others."""

    @usmx.kernel
    def shift(item, by, start, x, out):
        i = item.get_id(0)
        out[i] = x[i + by] + 10 * x[start]

    x = usmx.arange(6, dtype="int32")
    for by, start in [(1, 0), (-2, 1), (2, -1), (-1, -6), (0, 5), (np.int32(-4), np.uint8(2))]:
        out = usmx.zeros(4, dtype="int32")
        with shown(simulated):
            shift[4](by, start, x, out).wait()
        given = np.arange(6)
        assert out.to_numpy().tolist() == [given[i + by] + 10 * given[start] for i in range(4)]


@both
def test_programs_for_numba_cuda(simulated):
    """A periodic stencil, atomics and rows, as numba.cuda counts."""

    @cuda.jit(debug=simulated)
    def periodic(u, new, counts):
        i, j = cuda.grid(2)
        n, m = u.shape
        if i < n and j < m:
            new[i, j] = u[i - 1, j] + u[i, j - 1] + u[(i + 1) % n, j] + u[i, (j + 1) % m]
            cuda.atomic.add(counts, i - n, 1)
            cuda.atomic.max(counts, (-1,), j)

    @cuda.jit(debug=simulated)
    def reversed_in_shared(x):
        tile = cuda.shared.array(8, dtype="float64")
        i = cuda.threadIdx.x
        tile[i] = x[i]
        cuda.syncthreads()
        x[i] = tile[-i - 1]

    u = np.arange(30.0).reshape(5, 6)
    new, counts = np.zeros_like(u), np.zeros(5, "int64")
    periodic[(2, 2), (4, 4)](u, new, counts)
    wanted = np.roll(u, 1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 0) + np.roll(u, -1, 1)
    np.testing.assert_array_equal(new, wanted)
    assert counts[:4].tolist() == [6] * 4
    x = np.arange(8.0)
    reversed_in_shared[1, 8](x)
    assert x.tolist() == list(range(7, -1, -1))


def test_beyond_both_ends_is_an_error_of_the_simulator():
    """An index counts from the end once."""

    @usmx.kernel(simulate=True)
    def kernel(item, x, at):
        x[item.get_id(0) + at] = 1

    x = usmx.zeros(4)
    kernel[1](x, -4)
    for at in (-5, 4):
        with pytest.raises(IndexError, match=rf"index {at} of 'x' is out of bounds"):
            kernel[1](x, at)

    @usmx.kernel(simulate=True)
    def unsigned(item, x):
        x[usmx.uint32(item.get_id(0)) - usmx.uint32(1)] = 1

    with pytest.raises(IndexError, match=r"index 4294967295 of 'x' is out of bounds"):
        unsigned[1](x)


def plain(item, u, new):
    i = item.get_id(0)
    new[i] = u[i]


def guarded(item, u, new):
    i = item.get_id(0)
    if 0 < i < u.shape[0] - 1:
        new[i] = u[i - 1] + u[i + 1]


def leaves(item, u, new):
    i = item.get_id(0)
    if i == 0 or i >= u.size - 1:
        return
    new[i] = u[i - 1] + u[i + 1]


def moved(item, u, new):
    i = item.get_id(0) + 1
    new[i] = u[i - 1] + u[i + 1]


def loops(item, u, new):
    for i in range(item.get_id(0) + 2, len(u), item.get_range(0)):
        for k in range(3):
            new[i] += u[i - k]
    for i in range(len(u) - 1, -1, -1):
        new[i] = u[i]


def choices(item, u, new):
    i, n = item.get_id(0), len(u)
    left = u[i - 1] if i > 0 else u[n - 1]
    new[i] = left + u[i - 1 if i >= 1 else 0] + u[max(i - 1, 0)] + u[(i - 1) % n] + u[abs(i - 9)]


def backwards(item, u, new):
    i, n = item.get_id(0), u.size
    if i < n:
        new[n - 1 - i] = u[n - i - 1]
    for k in range(n):
        new[n - 1 - k] = 1


def search(item, u, new):
    low, high = 0, len(u)
    while low < high:
        middle = (low + high) // 2
        if u[middle] < 3:
            low = middle + 1
        else:
            high = middle
    new[low] = 1


def scanned(item, u, new):
    k = item.get_local_id(0)
    tile = usmx.local.array(64, usmx.float32)
    tile[k] = u[k]
    d = 1
    while d < 64:
        usmx.barrier()
        v = 0.0
        if k >= d:
            v = tile[k - d]
        usmx.barrier()
        tile[k] += v
        d *= 2
    half = 32
    while half > 0:
        usmx.barrier()
        if k < half:
            tile[k] += tile[k + half]
        half //= 2
    new[k] = tile[k]


def helped(item, u, new):
    i = item.get_id(0)
    new[at_most(i, len(u))] = taken(u, i) + taken(u, i * 2 + 1)


def at_most(i, n):
    return i if i < n else n


def taken(u, i):
    return u[i]


def asserted(item, u, new):
    i = usmx.uint64(item.get_id(0) - 1)
    new[i] = u[usmx.uint64(int(u[0]))]


def flat(item, u, new):
    i, j, n = item.get_id(0), item.get_id(1), 4
    new[i * n + j] = u[j * n + i] + u[(i << 1) | j] + u[int(new[i]) & 7]


SURE = [plain, guarded, leaves, moved, loops, choices, backwards, search, scanned, helped, asserted]


@pytest.mark.parametrize("function", SURE, ids=lambda f: f.__name__)
def test_what_is_sure_not_to_be_negative_is_not_asked_about(function):
    """The text of such a kernel has no word of it."""
    u = usmx.zeros(64, dtype="float32")
    text = usmx.kernel(function).source(u, u, rank=1, local=64)
    assert "from_end" not in text


def test_arguments_that_are_not_negative_are_not_asked_about():
    """The text is made for the signs of arguments that indices are computed from."""
    u = usmx.zeros(64, dtype="float32")
    assert "from_end" not in usmx.kernel(flat).source(u, u, rank=2)

    @usmx.kernel
    def product(item, n, scale, a, out):
        i, j = item.get_id(0), item.get_id(1)
        out[i * n + j] += scale * a[j * n + i]

    assert "from_end" not in product.source(8, 2, u, u)
    assert product.source(8, 2, u, u) == product.source(8, -2, u, u)
    assert "from_end" in product.source(-8, 2, u, u)


def test_what_may_be_negative_is_asked_about():
    """Conditions of other variables, and of values that have changed, say nothing."""

    @usmx.kernel
    def kernel(item, u, at, new):
        i = item.get_id(0)
        new[i] = u[at[i]]
        j = i
        if j > 0:
            j -= 1
            new[i] += u[j - 1]
        if at[i] > 0:
            new[i] += u[at[i] - 1]

    u, at = usmx.zeros(4), usmx.zeros(4, dtype="int32")
    assert kernel.source(u, at, u).count("from_end") == 3


def test_random_programs_count_as_python():
    """What is taken to be sure is so: in random programs of branches, loops and assignments."""
    chosen = random.Random(37)
    count = 20 if depth() == "quick" else 60
    functions = [_random_function(chosen, f"f{k}") for k in range(count)]
    lines = ["def kernel(item, x, out):", "    i = item.get_id(0)"]
    lines += [f"    out[{k}, i] = f{k}(x, i)" for k in range(count)]
    text = "\n".join([*functions, *lines]) + "\n"
    file = "<random programs of indices>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space: dict[str, object] = {"__name__": "programs"}
    exec(compile(text, file, "exec"), space)
    x = np.arange(10, 17)
    out = usmx.zeros((count, 6), dtype="int64")
    made = usmx.kernel(space["kernel"])
    made[6](usmx.asarray(x), out).wait()
    wanted = [[space[f"f{k}"](x, i) for i in range(6)] for k in range(count)]
    np.testing.assert_array_equal(out.to_numpy(), wanted)
    text = made.source(x, out)
    assert 0 < text.count("from_end") < text.count("x[") * 2 / 3  # some are sure, some are not


def _random_function(chosen: random.Random, name: str) -> str:
    lines = [f"def {name}(x, i):", "    a, b, c, s = i, 2, i + 1, 0"]

    def expression() -> str:
        one, other = (chosen.choice(["a", "b", "c", "i", "1", "2", "len(x)"]) for _ in range(2))
        sign = chosen.choice(["+", "-", "-", "*", "//", "%", "&", "|"])
        return f"({one} {sign} {other})" if sign not in "//%" else f"({one} {sign} 3)"

    def condition() -> str:
        sign = chosen.choice(["<", "<=", ">", ">=", "==", "!="])
        one = f"{chosen.choice('abci')} {sign} {chosen.choice(['a', 'b', 'c', '0', '1', 'i'])}"
        word = chosen.choice(["", "", "and", "or", "not"])
        if word == "not":
            return f"not ({one})"
        if word:
            return (
                f"{one} {word} x[max(min({chosen.choice('abc')}, 6), -7)] > {chosen.choice('05')}"
            )
        return one

    def block(depth: int, left: int) -> None:
        pad = "    " * depth
        for _ in range(left):
            kind = chosen.choice(["assign", "assign", "use", "use", "if", "for", "while", "choose"])
            if kind == "assign" or (depth > 2 and kind in ("if", "for", "while")):
                lines.append(f"{pad}{chosen.choice('abc')} = max(min({expression()}, 50), -50)")
                if chosen.random() < 0.5:
                    lines[-1] = f"{pad}{chosen.choice('abc')} = {chosen.choice('abci')} - 1"
            elif kind == "use":
                at = chosen.choice([*"abc", expression(), "(a - b)", "(b - 1)", "(a - i)"])
                lines.append(f"{pad}s = s * 3 % 1000 + x[max(min({at}, 6), -7)]")
            elif kind == "choose":
                at = chosen.choice("abc")
                lines.append(
                    f"{pad}s += x[max(min({at} - 1 if {condition()} else "
                    f"{chosen.choice('abc')}, 6), -7)]"
                )
            elif kind == "if":
                lines.append(f"{pad}if {condition()}:")
                block(depth + 1, chosen.randint(1, 3))
                if chosen.random() < 0.2:
                    lines.append(f"{pad}    return s")
                if chosen.random() < 0.5:
                    lines.append(f"{pad}else:")
                    block(depth + 1, chosen.randint(1, 2))
            elif kind == "for":
                start = chosen.choice(["0", "1", "max(a, -3)", "-2"])
                lines.append(f"{pad}for i{depth} in range({start}, 3):")
                lines.append(f"{pad}    s += x[max(min(i{depth} - {chosen.choice('ab1')}, 6), -7)]")
                block(depth + 1, chosen.randint(1, 2))
                if chosen.random() < 0.3:
                    lines.append(f"{pad}    if {condition()}:")
                    lines.append(f"{pad}        {chosen.choice(['break', 'continue'])}")
            else:
                lines.append(f"{pad}n{depth} = 3")
                lines.append(f"{pad}while n{depth} > 0 and ({condition()}):")
                lines.append(f"{pad}    n{depth} -= 1")
                block(depth + 1, chosen.randint(1, 2))

    block(1, 6)
    lines.append("    return s + x[max(min(a, 6), -7)] + x[max(min(b, 6), -7)]")
    return "\n".join(lines)


@both
def test_elements_change_places_with_the_last(simulated):
    """The old values are read before the first is written."""

    @usmx.kernel
    def swap(item, x):
        x[-1], x[0] = x[0], x[-1]
        i = item.get_id(0) + 1
        x[-1 - i], x[i] = x[i], x[-1 - i]

    x = usmx.arange(6)
    with shown(simulated):
        swap[1](x).wait()
    assert x.to_numpy().tolist() == [5, 4, 2, 3, 1, 0]
