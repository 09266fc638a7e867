"""On processors items of a kernel that reads the rows around its own take several rows: each gives
what it gives alone, and kernels whose items depend on each other are left as they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from backend_row import needs

import usmx
from usmx.compat import cuda

pytestmark = needs("host_memory")  # what they are given are arrays of NumPy
TAKEN: list[object] = []
LEFT: list[object] = []
#: Neither 4 nor 16 divides them, and they are large enough to be taken so.
ROWS, LENGTH = 515, 283


def taken(function):
    """Its items take several rows."""
    TAKEN.append(function)
    return function


def left(function):
    """Its items take one."""
    LEFT.append(function)
    return function


@taken
def inside(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if 0 < y < old.shape[0] - 1 and 0 < x < old.shape[1] - 1:
        new[y, x] = by * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1]) - old[y, x + 1]


@taken
def behind_returns(item, old, new, by):
    y = item.get_id(0)
    x = item.get_id(1)
    if x + 3 >= old.shape[1]:
        return
    if y >= old.shape[0] - 2:
        return
    new[y + 1, x + 3] = old[y + 2, x] - by * old[y, x + 1]


@taken
def of_all(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    up = y - 1 if y > 0 else old.shape[0] - 1
    new[y, x] = old[up, x] + by * old[y, x]


@taken
def from_the_end(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    new[y, x] = old[y - 1, x - 1] + by * old[y, x]


@taken
def reads_before_the_condition(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    here = old[y, x]
    if y > 0:
        new[y, x] = old[y - 1, x] + by * here


@taken
def leaves_in_the_middle(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if y + 1 < old.shape[0]:
        below = old[y + 1, x]
        if below > 3:
            new[y, x] = below
            return
        new[y, x] = old[y, x] - by * below


@taken
def asks_for_the_range(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    rows, length = item.get_range(0), item.get_range(1)
    if y < rows - 1 and x < length:
        new[y, x] = old[y + 1, x] - old[y, x] + rows * by + length


@taken
def with_a_table(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if y > 1:
        new[y, x] = TABLE[0] * old[y - 2, x] + TABLE[1] * old[y, x] + by


TABLE = usmx.constant.array([2.0, 3.0])


@left
def in_a_loop(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if y < old.shape[0] - 3:
        total = old[y, x]
        for k in range(4):
            if old[y + k, x] > 4:
                break
            total += old[y + k, x] * by
        new[y, x] = total


@left
def adds_at_once(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if y > 0:
        usmx.atomic.add(new, (y - 1, x), old[y - 1, x] + by * old[y, x])


@left
def changes_an_argument(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if y > 0:
        by += y
        new[y, x] = by * old[y, x] + old[y - 1, x]


@taken
def assigns_in_the_condition(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if (above := y - 1) >= 0:
        new[y, x] = old[above, x] + by * old[y, x]


@left
def has_own_memory(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    own = usmx.private.array(2, "int32")
    if y > 0:
        own[0] = y
        new[y, x] = old[y - 1, x] + by * old[y, x] + own[0]


@left
def one_row(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    new[y, x] = old[y, x] + by * old[y, x - 1]


@left
def along_columns(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if 0 < x < old.shape[0] and y < old.shape[1]:
        new[y, x] = old[x - 1, y] + by * old[x, y]


@left
def several_tables(item, old, new, by):
    y, x = item.get_id(0), item.get_id(1)
    if x < old.shape[1]:
        new[y, x] = old[1, x] + by * old[2, x]


def arrays(rows=ROWS, length=LENGTH, dtype="float64", *, first=0, column=1):
    """An array to read and one to write, whose first elements are anywhere in a line."""
    made = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        whole = np.zeros(first + rows * length * column, dtype)
        view = whole[first:].reshape(rows, length * column)[:, ::column]
        view[:] = rng.integers(0, 6, (rows, length))
        made.append(view)
    return made


def agree(kernel, old, new, shape, *, by=2):
    """A launch gives what items in groups give, of which each takes one row."""
    wanted = new.copy()
    group = shape[-1] if shape[-1] <= 4096 else shape[-1] // 2
    kernel[shape, (*(1 for _ in shape[1:]), group)](old, wanted, by).wait()
    kernel[shape, None](old, new, by).wait()
    assert np.array_equal(new, wanted)


def plan(function, old, new, *, apart=True):
    """How a text passes its arguments; `t` says that there is one for several rows."""
    return usmx.kernel(function).compiled([old, new, 2], 2, (), apart=apart).plan


@pytest.mark.parametrize("function", TAKEN, ids=lambda f: f.__name__)
def test_items_of_kernels_that_read_other_rows_take_several(function):
    old, new = map(usmx.asarray, arrays())
    assert plan(function, old, new).endswith("t")
    assert not plan(function, old, new, apart=False).endswith("t")
    tall = usmx.kernel(function).compiled([old, new, 2], 2, (), apart=True, tall=True)
    assert tall.plan.endswith("T")
    # Whether an item is inside is asked of items beyond the arrays, too.
    assert "old(" not in tall.text.split("usmx_compute = ")[0]


@pytest.mark.parametrize("function", LEFT, ids=lambda f: f.__name__)
def test_items_of_other_kernels_take_one(function):
    old, new = map(usmx.asarray, arrays())
    assert not plan(function, old, new).endswith("t")
    tall = usmx.kernel(function).compiled([old, new, 2], 2, (), apart=True, tall=True)
    assert not tall.plan.endswith("T")


@pytest.mark.parametrize("function", [*TAKEN, *LEFT], ids=lambda f: f.__name__)
def test_several_rows_give_what_one_gives(function):
    old, new = arrays()
    if function is along_columns:
        old = np.ascontiguousarray(old.T)
    agree(usmx.kernel(function), old, new, (ROWS, LENGTH))


@pytest.mark.parametrize("function", [inside, of_all], ids=lambda f: f.__name__)
@pytest.mark.parametrize("rows", [512, 513, 514])
@pytest.mark.parametrize("length", [256, 257, 4093, 8200])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("first", [1, 2, 5])
def test_several_rows_of_any_length_at_any_address(function, rows, length, dtype, first):
    old, new = arrays(rows, length, dtype, first=first)
    agree(usmx.kernel(function), old, new, (rows, length))
    # Vectors begin before the rows, and nothing is written there.
    assert not new.base[:first].any()


@pytest.mark.parametrize("function", [inside, of_all], ids=lambda f: f.__name__)
def test_several_rows_of_arrays_with_strides(function):
    old, new = arrays(column=2)
    agree(usmx.kernel(function), old, new, (ROWS, LENGTH))


def test_fewer_items_than_elements_leave_the_rest():
    old, new = arrays(700, 600)
    before = new.copy()
    usmx.kernel(of_all)[517, 301](old, new, 2).wait()
    wanted = np.roll(old, 1, axis=0) + 2 * old
    assert np.array_equal(new[:517, :301], wanted[:517, :301])
    assert np.array_equal(new[517:], before[517:])
    assert np.array_equal(new[:, 301:], before[:, 301:])


def test_arrays_that_overlap_are_read_in_no_order_but_written_once():
    # Each item reads and writes its own column of two halves that share rows.
    def halves(item, old, new, by):
        y, x = item.get_id(0), item.get_id(1)
        if y % 2 == 0 and y + 1 < old.shape[0]:
            new[y, x] = old[y, x] + by * old[y + 1, x]

    whole = arrays(1030, 283)[0]
    old, new = whole[:600], whole[:600]
    wanted = old.copy()
    even = slice(0, 599, 2)
    wanted[even] = old[even] + 2 * old[1::2][:300]
    kernel = usmx.kernel(halves)
    lie_apart = kernel._lie_apart([old, new])
    assert not lie_apart
    assert not plan(halves, old, new, apart=lie_apart).endswith("t")
    kernel[600, 283](old, new, 2).wait()
    assert np.array_equal(whole[:600], wanted)


def test_three_dimensions():
    def cube(item, old, new, by):
        z, y, x = item.get_id(0), item.get_id(1), item.get_id(2)
        if 0 < z < old.shape[0] - 1 and 0 < y < old.shape[1] - 1 and x > 0:
            new[z, y, x] = old[z - 1, y, x] + old[z, y - 1, x] + by * old[z, y + 1, x - 1]

    rng = np.random.default_rng(3)
    old = rng.integers(0, 9, (9, 131, 259)).astype(np.float32)
    new = np.zeros_like(old)
    kernel = usmx.kernel(cube)
    assert kernel.compiled([old, new, 2], 3, (), apart=True).plan.endswith("t")
    agree(kernel, old, new, old.shape)


def test_kernels_of_numba_take_several_rows():
    @cuda.jit
    def heat(old, new, speed):
        x, y = cuda.grid(2)
        if 0 < y < old.shape[0] - 1 and 0 < x < old.shape[1] - 1:
            around = old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1]
            new[y, x] = old[y, x] + speed * (around - 4 * old[y, x])

    old = np.random.default_rng(4).random((521, 333))
    new = np.zeros_like(old)
    heat[(21, 33), (16, 16)](old, new, 0.2)
    inner = old[1:-1, 1:-1]
    around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
    wanted = np.zeros_like(old)
    wanted[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    assert np.array_equal(new, wanted)


def test_small_launches_and_given_groups_have_one_text():
    old, new = arrays(64, 64)
    kernel = usmx.kernel(inside)
    kernel[64, 64](old, new, 2).wait()
    assert kernel._count == 1
    old, new = arrays(512, 256)
    kernel[(512, 256), (1, 256)](old, new, 2).wait()
    assert kernel._count == 1
