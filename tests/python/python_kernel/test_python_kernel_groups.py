# What the items of a group do together: memory of each space, barriers, reductions, scans,
# shuffles, atomic operations; on the device and in the simulator.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx

SIZE, GROUP = 64, 16
FILTER = usmx.constant.array(np.array([[1, 2], [3, 4]], "f4"))
NUMBERS = ["i4", "i8", "u4", "u8", "f4", "f8"]


@pytest.fixture(params=["device", "simulator"])
def run(request):
    """Launches a function over arrays and gives back what the last one holds then."""

    def launch(function, *args, over=(SIZE, GROUP)):
        passed = [
            usmx.asarray(a, usm_type="shared") if isinstance(a, np.ndarray) else a for a in args
        ]
        usmx.kernel(function, simulate=request.param == "simulator")[over](*passed).wait()
        return passed[-1].to_numpy()

    return launch


@usmx.device_func
def minus(a):
    return -a


@usmx.device_func
def times(a):
    return a * -1


@usmx.device_func
def over(a):
    return a / -1


@usmx.device_func
def less_than_nothing(a):
    factor = 2.0
    factor -= 3.0
    return factor * a


@usmx.device_func
def by_an_index(a):
    b = a
    for k in range(-1, 0):
        b = k * a
    return b


@usmx.device_func
def conjugate(a):
    return complex(0, a).conjugate().imag


NEGATIONS = [minus, times, over, less_than_nothing, by_an_index, conjugate]


@pytest.mark.parametrize("negated", NEGATIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_a_negated_number_is_each_items_own_after_a_barrier(run, dtype, negated):
    def f(item, x, out):
        i = item.get_global_id(0)
        y = negated(x[i])
        usmx.barrier()
        out[i] = y

    x = np.linspace(-2, 2, SIZE).astype(dtype)
    # The items of a group that fills one vector of the processor are never told apart.
    np.testing.assert_array_equal(run(f, x, np.zeros(SIZE, dtype), over=(SIZE, 4)), -x)


def test_local_memory_turns_groups_around(run):
    def f(item, a, out):
        tile = usmx.local.array(GROUP, usmx.float32)
        i, k = item.get_global_id(0), item.get_local_id(0)
        tile[k] = a[i]
        usmx.barrier()
        out[i] = tile[GROUP - 1 - k] + tile[-1]

    a = np.arange(SIZE, dtype="f4")
    groups = a.reshape(-1, GROUP)
    wanted = groups[:, ::-1] + groups[:, -1:]
    np.testing.assert_array_equal(run(f, a, np.zeros(SIZE, "f4")), wanted.ravel())


def size_of_argument(item, a, n, out):
    tile = usmx.local.array((n, 2), a.dtype)
    turn(item, a, tile, out)


def size_of_shape(item, a, n, out):
    length = out.shape[0] // 4
    tile = usmx.local.array((length, 2), a.dtype)
    turn(item, a, tile, out)


def size_of_range(item, a, n, out):
    tile = usmx.local.array((item.get_local_range(0), 2), a.dtype)
    turn(item, a, tile, out)


def size_of_memory(item, a, tile, out):
    turn(item, a, tile, out)


@usmx.device_func
def turn(item, a, tile, out):
    i, k = item.get_global_id(0), item.get_local_id(0)
    tile[k, 0] = a[i]
    tile[k, 1] = 100 * a[i]
    usmx.barrier()
    n = tile.shape[0]
    out[i] = tile[n - 1 - k, 0] + tile[(k + 1) % n, 1]


@pytest.mark.parametrize(
    "function", [size_of_argument, size_of_shape, size_of_range, size_of_memory]
)
def test_local_memory_of_a_size_that_the_launch_says(run, function):
    for group in (16, 8) if function is not size_of_shape else (16,):
        a = np.arange(4 * group, dtype="i4")
        n = usmx.LocalMemory((group, 2), "i4") if function is size_of_memory else group
        groups = a.reshape(-1, group)
        wanted = groups[:, ::-1] + 100 * np.roll(groups, -1, axis=1)
        got = run(function, a, n, np.zeros(4 * group, "i4"), over=(4 * group, group))
        np.testing.assert_array_equal(got, wanted.ravel())


def test_a_kernel_is_compiled_for_each_size_once():
    k = usmx.kernel(size_of_argument)
    a, out = (usmx.zeros(64, dtype="i4", usm_type="shared") for _ in range(2))
    for group in (8, 16, 8, 16):
        k[64, group](a, group, out).wait()
    assert k._count == 2
    memory = usmx.kernel(size_of_memory)
    for _ in range(3):
        memory[64, 8](a, usmx.LocalMemory((8, 2), "i4"), out).wait()
    assert memory._count == 1


def test_private_memory_belongs_to_the_item_and_starts_with_zeros(run):
    def f(item, out):
        i = item.get_global_id(0)
        for _ in range(2):
            own = usmx.private.array((2, 3), usmx.int32)
            own[i % 2, i % 3] += i
        total = 0
        for r in range(2):
            for c in range(3):
                total += own[r, c] * (r + 1)
        out[i] = total

    i = np.arange(SIZE)
    np.testing.assert_array_equal(run(f, np.zeros(SIZE, "i4")), i * (i % 2 + 1))


def test_constant_memory_is_read_by_its_name(run):
    def f(item, out):
        i = item.get_global_id(0)
        out[i] = FILTER[i % 2, 1] + FILTER.shape[0] + FILTER[-1, 0]

    i = np.arange(SIZE)
    np.testing.assert_array_equal(run(f, np.zeros(SIZE, "f4")), np.where(i % 2, 4, 2) + 5)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_constant_memory_of_every_type(dtype):
    values = np.array([0, 1, 100, 7, 0], dtype)
    if dtype in ("f2", "f4", "f8"):
        values[:2] = np.nan, -np.inf
    table = usmx.constant.array(values)

    @usmx.kernel
    def f(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    out = usmx.ones(5, dtype=dtype, usm_type="shared")
    f[5](out).wait()
    np.testing.assert_array_equal(out.to_numpy(), values)


def test_constant_memory_is_updated():
    table = usmx.constant.array([1, 2, 3], dtype="f4")

    @usmx.kernel
    def f(item, out):
        i = item.get_id(0)
        out[i] = table[i]

    out = usmx.zeros(3, dtype="f4", usm_type="shared")
    for values in ([1, 2, 3], [4, 5, 6], [7, 8, 9]):
        table.update(values)
        f[3](out).wait()
        assert out.to_numpy().tolist() == values
    with pytest.raises(ValueError, match=r"shape \(2,\); expected \(3,\)"):
        table.update([1, 2])
    for wrong in ([], 3.0, np.zeros(20000)):
        with pytest.raises(ValueError, match="values: "):
            usmx.constant.array(wrong)
    with pytest.raises(TypeError, match="dtype: "):
        usmx.constant.array(["text"])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_groups_reduce_scan_and_broadcast(run, dtype):
    def f(item, a, out):
        i, g = item.get_global_id(0), item.get_group()
        x = a[i]
        out[0, i] = g.reduce(x)
        out[1, i] = g.reduce(x, min)
        out[2, i] = g.reduce(x, "max")
        out[3, i] = g.inclusive_scan(x)
        out[4, i] = g.exclusive_scan(x)
        out[5, i] = g.inclusive_scan(x, max)
        out[6, i] = g.broadcast(x)
        out[7, i] = g.broadcast(x, 3)
        out[8, i] = 1 if g.any(x > 90) else 0
        out[9, i] = 2 if g.all(x < 90) else 0
        if i % GROUP > 0:
            out[10, i] = 0
        out[10, i] = g.get_group_id(0) * 10 + g.get_local_id(0) * g.get_group_range(0)

    a = np.random.default_rng(5).integers(0, 100, SIZE).astype(dtype)
    g = a.reshape(-1, GROUP)
    table = np.zeros((11, *g.shape), dtype)
    table[0], table[1], table[2] = (f(g, axis=1, keepdims=True) for f in (np.sum, np.min, np.max))
    table[3] = np.cumsum(g, axis=1)
    table[4] = table[3] - g
    table[5] = np.maximum.accumulate(g, axis=1)
    table[6], table[7] = g[:, :1], g[:, 3:4]
    table[8] = (g > 90).any(axis=1, keepdims=True)
    table[9] = 2 * (g < 90).all(axis=1, keepdims=True)
    table[10] = np.arange(4)[:, None] * 10 + np.arange(GROUP) * 4
    got = run(f, a, np.zeros((11, SIZE), dtype))
    np.testing.assert_array_equal(got, table.reshape(11, -1))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_sub_groups_exchange_values(run, dtype):
    def f(item, a, out):
        i, s = item.get_global_id(0), item.get_sub_group()
        x = a[i]
        k, n = s.get_local_id(), s.get_local_range()
        out[0, i] = s.shuffle(x, 0)
        out[1, i] = s.shuffle_xor(x, 1)
        out[2, i] = s.shuffle_up(x, 1)
        out[3, i] = s.shuffle_down(x, 1)
        out[4, i] = s.reduce(x)
        out[5, i] = s.inclusive_scan(x)
        out[6, i] = s.broadcast(x, 1)
        out[7, i] = s.reduce(x, max)
        s.barrier()
        # What these have to be, from the array itself.
        first = i - k
        total, running, most = x - x, x - x, x
        for j in range(n):
            total += a[first + j]
            running += a[first + j] if j <= k else x - x
            most = max(most, a[first + j])
        out[0, i] -= a[first]
        out[1, i] -= a[first + (k ^ 1)]
        out[2, i] -= a[i - 1] if k > 0 else x
        out[3, i] -= a[i + 1] if k < n - 1 else x
        out[4, i] -= total
        out[5, i] -= running
        out[6, i] -= a[first + 1]
        out[7, i] -= most

    a = np.random.default_rng(6).integers(0, 100, SIZE).astype(dtype)
    np.testing.assert_array_equal(run(f, a, np.ones((8, SIZE), dtype)), 0)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_atomic_operations(run, dtype):
    def f(item, a):
        i = item.get_global_id(0)
        usmx.atomic.add(a, 0, 1)
        usmx.atomic.sub(a, 1, 2)
        usmx.atomic.min(a, 2, i)
        usmx.atomic.max(a, 3, i)
        r = usmx.AtomicRef(a, 4)
        r.fetch_add(i)
        if i == 0:
            usmx.atomic.store(a, 5, 3)
            before = usmx.atomic.exchange(a, 6, 9)
            usmx.atomic.exchange(a, 7, before)

    def whole(item, a):
        i = item.get_global_id(0)
        usmx.atomic.or_(a, 0, 1 << (i % 16))
        usmx.atomic.and_(a, 1, ~(1 << (i % 16)))
        usmx.atomic.xor(a, 2, 1 << (i % 16))
        r = usmx.AtomicRef(a, 3)
        seen = r.load()
        while True:
            before = r.compare_exchange(seen, seen + 1)
            if before == seen:
                break
            seen = before

    got = run(f, np.array([0, 1000, 99, 0, 0, 0, 5, 0], dtype))
    assert got.tolist() == [SIZE, 1000 - 2 * SIZE, 0, SIZE - 1, SIZE * (SIZE - 1) // 2, 3, 9, 5]
    if dtype[0] != "f":
        got = run(whole, np.array([0, 65535 + 65536, 0, 0], dtype))
        assert got.tolist() == [65535, 65536, 0, SIZE]


@pytest.mark.parametrize("limit", [0, 6, 1000])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_atomic_counters_wrap_around_as_those_of_cuda(run, dtype, limit):
    def f(item, limit, out):
        i = item.get_global_id(0)
        usmx.atomic.inc(out, 0, limit)
        usmx.atomic.dec(out, 1, limit)
        usmx.AtomicRef(out, 2 + i).fetch_inc(limit)
        usmx.AtomicRef(out, 2 + SIZE + i).fetch_dec(limit)

    def counted(before, times):
        for _ in range(times):
            before = 0 if before >= limit else before + 1
        return before

    def counted_down(before, times):
        for _ in range(times):
            before = limit if before == 0 or before > limit else before - 1
        return before

    ups, downs = [*range(SIZE - 1), 2**32 - 1], [*range(SIZE - 1), 2**32 - 1]
    given = np.array([3, 3, *ups, *downs], dtype)
    got = run(f, np.dtype(dtype).type(limit), given)
    assert got[:2].tolist() == [counted(3, SIZE), counted_down(3, SIZE)]
    assert got[2 : 2 + SIZE].tolist() == [counted(n, 1) for n in ups]
    assert got[2 + SIZE :].tolist() == [counted_down(n, 1) for n in downs]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_atomic_minima_and_maxima_leave_nan_out(run, dtype):
    def f(item, x, out):
        v = x[item.get_global_id(0)]
        usmx.atomic.nanmin(out, 0, v)
        usmx.atomic.nanmax(out, 1, v)
        usmx.AtomicRef(out, 2).fetch_nanmin(v)
        usmx.AtomicRef(out, 3).fetch_nanmax(v)

    x = np.arange(10, 10 + SIZE).astype(dtype)
    x[[0, 7, -1]] = np.array(np.nan if dtype[0] == "f" else 20, dtype)
    start = np.array([15, 15, 5, 99], dtype)
    assert run(f, x, start).tolist() == [11, 72, 5, 99]
    if dtype[0] == "f":
        assert run(f, x, np.full(4, np.nan, dtype)).tolist() == [11, 72, 11, 72]
        nothing = np.full(SIZE, np.nan, dtype)
        assert run(f, nothing, start).tolist() == start.tolist()
        assert np.isnan(run(f, nothing, np.full(4, np.nan, dtype))).all()


def test_atomic_operations_on_local_memory_and_two_dimensions(run):
    def f(item, a, out):
        count = usmx.local.array((2, 4), usmx.int32)
        i, k, g = item.get_global_id(0), item.get_local_id(0), item.get_group()
        if k < 8:
            count[k // 4, k % 4] = 0
        g.barrier()
        usmx.atomic.add(count, (a[i] % 2, a[i] % 4), 1)
        g.barrier()
        if k < 8:
            usmx.atomic.add(out, (k // 4, k % 4), count[k // 4, k % 4])

    a = np.random.default_rng(7).integers(0, 100, SIZE).astype("i4")
    wanted = np.zeros((2, 4), "i4")
    np.add.at(wanted, (a % 2, a % 4), 1)
    np.testing.assert_array_equal(run(f, a, np.zeros((2, 4), "i4")), wanted)


def test_groups_of_two_dimensions_know_where_they_are(run):
    def f(item, out):
        i, j, g = item.get_global_id(0), item.get_global_id(1), item.get_group()
        where = g.get_group_linear_id() * 100 + item.get_local_linear_id()
        out[i, j] = where * (1 if g.leader() == (item.get_local_linear_id() == 0) else -1)

    got = run(f, np.zeros((4, 6), "i4"), over=((4, 6), (2, 3)))
    i, j = np.indices((4, 6))
    wanted = (i // 2 * 2 + j // 3) * 100 + i % 2 * 3 + j % 3
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("simulate", [False, True])
def test_a_kernel_with_groups_needs_a_local_range(simulate):
    def f(item, a):
        usmx.barrier()
        a[0] = 1

    with pytest.raises(ValueError, match=r"needs the size of a work-group, for line \d+: barrier"):
        usmx.kernel(f, simulate=simulate)[4](usmx.zeros(4, usm_type="shared"))


def test_print_and_assert_speak_from_the_device(run_python, tmp_path):
    (tmp_path / "speaking.py").write_text(
        "import usmx\n@usmx.kernel\ndef f(item, a):\n"
        "    print('100 %', a[0], f'{a[1]:.2f}|{item.get_id(0)}', a[0] > 1, a[1] * 1j, sep=';')\n"
        "    assert a[0] > 2, 'too small'\n",
        encoding="utf-8",
    )
    result = run_python(
        """
        import usmx, numpy as np, speaking
        speaking.f[1](usmx.asarray(np.array([1.5, 2.25], "f4"))).wait()
        """,
        env={"PYTHONPATH": f"{tmp_path}:{_pythonpath()}"},
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "100 %;1.5;2.25|0;True;(0+2.25j)"
    assert lines[1].endswith("speaking.py:5: f: assertion failed: a[0] > 2: too small")


def _pythonpath():
    import os
    from pathlib import Path

    return f"{Path(usmx.__file__).parents[1]}:{os.environ.get('PYTHONPATH', '')}"


@usmx.device_func
def count(counts, x):
    usmx.atomic.add(counts, x, 1)


EACH = "for i in range(k, x.size, item.get_local_range(0)):"
COUNTED = """
def counted(item, x, counts):
    mine = usmx.local.array(4, usmx.int32)
    k = item.get_local_id(0)
    if k < 4:
        mine[k] = 0
    usmx.barrier()
    {}
    usmx.barrier()
    if k < 4:
        usmx.atomic.add(counts, k, mine[k])
"""


# Lanes of long vectors that add to local memory are slow on some processors: 20 ms in place of 5.
@pytest.mark.parametrize(
    ("added", "is_short"),
    [
        (f"{EACH} usmx.atomic.add(mine, x[i], 1)", True),
        (f"{EACH} count(mine, x[i])", True),
        ("usmx.atomic.add(mine, x[k], 1)", False),
        (f"{EACH} usmx.atomic.add(counts, x[i], 1)", False),
        (
            "first = item.get_sub_group().get_local_id(0)\n"
            f"    {EACH} usmx.atomic.add(mine, x[i], 1)",
            False,
        ),
    ],
    ids=["in a loop", "by a function", "once", "in global memory", "with sub-groups"],
)
@pytest.mark.parametrize("local", [4, 8, 24, 64])
def test_vectors_are_short_where_items_add_to_local_memory_in_a_loop(added, is_short, local):
    kernel = usmx.kernel(COUNTED.format(added))
    host = np.random.default_rng(0).integers(0, 4, 1000 if EACH in added else local)
    x = usmx.asarray(host.astype(np.int32))
    counts = usmx.zeros(4, dtype="int32", usm_type="shared")
    kernel[local, (local,)](x, counts).wait()
    np.testing.assert_array_equal(counts.to_numpy(), np.bincount(host, minlength=4))
    sizes = x.device.sub_group_sizes
    expected = 8 if is_short and x.device.is_cpu and 8 in sizes else 0
    assert kernel.limits(x, counts, local=local).required_sub_group_size == expected


def over_a_grid(item, stop, seen):
    first, step = item.get_global_id(0), item.get_global_range(0)
    i = 0
    for i in range(first, stop, step):
        if i % 3 == 1:
            continue
        usmx.atomic.add(seen, i, 1)
    usmx.atomic.add(seen, 200 + first, i)


# What all items have is taken together, the last round apart: `i` and continue stay what they are.
@pytest.mark.parametrize("stop", [-20, 0, 1, 15, 16, 17, 31, 32, 33, 100])
def test_a_loop_over_a_grid_has_each_number_once(run, stop):
    seen = run(over_a_grid, stop, np.zeros(216, "i8"), over=(16, 8))
    wanted = np.array([i < stop and i % 3 != 1 for i in range(200)], "i8")
    np.testing.assert_array_equal(seen[:200], wanted)
    last = [max([*range(k, stop, 16)] or [0]) for k in range(16)]
    np.testing.assert_array_equal(seen[200:], last)


GRID = "range(item.get_global_id(0), stop, item.get_global_range(0))"
ADD = "usmx.atomic.add(seen, i, 1)"
ROUNDS = """
def rounds(item, stop, seen):
    first = item.get_global_id(0)
    {}
"""


@pytest.mark.parametrize(
    ("loop", "is_together"),
    [
        (f"for i in {GRID}: {ADD}", True),
        (f"for i in range(first, stop, item.get_global_range(0)): {ADD}", True),
        (f"for i in {GRID}: seen[i] = 1", False),
        (f"for i in {GRID}:\n        if i > 9: break\n        {ADD}", False),
        (f"for i in range(first, stop, item.get_local_range(0)): {ADD}", False),
        (f"first += 1\n    for i in range(first, stop, item.get_global_range(0)): {ADD}", False),
        (f"for i in range(first, stop): {ADD}", False),
    ],
    ids=["a grid", "by a name", "a store", "break", "a group", "another name", "steps of 1"],
)  # fmt: skip
def test_rounds_that_all_items_have_are_together_where_they_add_one_by_one(loop, is_together):
    text = usmx.kernel(ROUNDS.format(loop)).source(5, usmx.zeros(8, dtype="int32"))
    assert ("i_whole" in text) is is_together
