"""Names in kernels that stand for one array and another, and parts of arrays that get a number:
each kernel gives what the same lines give in Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib

import numpy as np
import pytest
from language_run import Item

import usmx
from usmx.compat import cuda

both = pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
PROGRAMS = []
COUNT = 6


def program(function):
    PROGRAMS.append(function)
    return function


@program
def a_branch_chooses(item, x, y, m, n):
    i = item.get_id(0)
    if i % 2 == 0:
        data, other = x, y
    else:
        data = y
        other = x
    m[i, 0] = data[i] + 2 * other[5 - i] + data.shape[0] + len(other)


@program
def what_is_written_is_in_the_array(item, x, y, m, n):
    i = item.get_id(0)
    target = x
    if i > 2:
        target = y
    target[i] = 100 + target[i]
    rest = target[i:]
    rest[0] += 1


@program
def two_arrays_change_places_in_a_loop(item, x, y, m, n):
    i = item.get_id(0)
    now = x
    then = y
    for k in range(3):
        then[i] = now[i] + k + 1
        now, then = then, now
    m[i, 1] = now[i]


@program
def parameters_change_places(item, x, y, m, n):
    i = item.get_id(0)
    for k in range(i % 3):
        y[i] = x[i] + k + 1
        x, y = y, x
    x[i] += 5


@program
def rows_of_several_arrays_have_one_name(item, x, y, m, n):
    i = item.get_id(0)
    row = m[i]
    if i > 3:
        row = n[5 - i, ::-1]
    for k in range(3):
        x[i] += row[k] * (k + 1)
        row = n[k]


def summed(a, b):
    chosen = a if a[0] > b[1] else b
    total = 0.0
    for k in range(len(chosen)):
        total += chosen[k]
    chosen[0] = total
    return total


@program
def functions_choose_too(item, x, y, m, n):
    i = item.get_id(0)
    x[i] = summed(m[i], n[i])


@program
def a_choice_is_of_arrays(item, x, y, m, n):
    i = item.get_id(0)
    for k in range(3):
        now = x if k % 2 == 0 else y
        then = y if k % 2 == 0 else x
        then[i] = now[i] + k
    m[i, 0] = (x if i > 3 else y if i > 1 else m[5])[5 - i if i < 2 else i]
    (n[i] if i < 3 else n[i, :])[2] = 8


@program
def a_name_is_given_on_to_another(item, x, y, m, n):
    i = item.get_id(0)
    a = x
    for k in range(4):
        b = a
        b[i] += k
        a = x
        if k % 2:
            a = y
    m[i, 0] = b[i]


@program
def loops_go_over_several_arrays(item, x, y, m, n):
    i = item.get_id(0)
    total = 0.0
    for a in (x, y, x):
        total += a[i] * 2
    for part in (x[1:], y[2:], x[3:]):
        total += part[0]
    for row in n:
        total += row[i]
    for row in n[1:]:
        total += row[0] * 3
    m[i, 0] = total


@program
def rows_change_places(item, x, y, m, n):
    i = item.get_id(0)
    a = m[i]
    b = m[5 - i]
    a, b = b, a
    x[i] = a[0] * 1000 + b[1]


@program
def slices_change_places(item, x, y, m, n):
    i = item.get_id(0)
    a = n[i, 1:]
    b = n[5 - i, 2:]
    a, b = b, a
    x[i] = a[0] * 1000 + b[1]
    a, b, k = b, a, i
    y[i] = a[0] + b[k % 3]


@program
def a_tuple_is_read_before_it_is_replaced(item, x, y, m, n):
    i = item.get_id(0)
    t = (x[i], 2.0)
    a = 7.0
    a, t = t[0], (a, a)
    y[i] = a * 100 + t[0]


@program
def parts_get_a_number(item, x, y, m, n):
    i = item.get_id(0)
    m[i] = 7.5
    m[i, 2:] = i
    m[i, ::-2] = 3
    row = m[i]
    row[1:2] = -1
    n[i, i:][:] = m[i, 3]


@both
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_names_of_several_arrays_mean_what_they_mean_in_python(function, simulated):
    x = np.arange(6.0)
    arrays = [x, x * 10 + 3, np.arange(36.0).reshape(6, 6), np.arange(36.0)[::-1].reshape(6, 6)]
    given = [usmx.asarray(a) for a in arrays]
    with usmx.simulate() if simulated else contextlib.nullcontext():
        usmx.kernel(function)[COUNT](*given).wait()
    wanted = [a.copy() for a in arrays]
    for k in range(COUNT):
        function(Item(k), *wanted)
    for a, b in zip(given, wanted, strict=True):
        np.testing.assert_array_equal(a.to_numpy(), b)


def test_only_what_is_written_needs_to_be_writable():
    @usmx.kernel
    def chosen(item, x, y, out):
        i = item.get_id(0)
        a = x
        if i % 2:
            a = y
        out[i] = a[i]

    @usmx.kernel
    def written(item, x, y):
        i = item.get_id(0)
        a = x
        if i % 2:
            a = y
        a[i] = 0

    x, y, out = usmx.arange(4.0), usmx.arange(4.0) + 10, usmx.empty(4, "float64")
    y.flags.writeable = False
    chosen[4](x, y, out).wait()
    assert out.tolist() == [0, 11, 2, 13]
    with pytest.raises(usmx.KernelError, match="read-only"):
        written[4](x, y)


@both
def test_a_program_for_cuda_changes_two_arrays_between_steps(simulated):
    @cuda.jit
    def heat(one, two, steps, k):
        i = cuda.grid(1)
        for step in range(steps):
            if step % 2 == 0:
                now = one
                then = two
            else:
                now = two
                then = one
            left = now[i - 1] if i > 0 else 0.0
            right = now[i + 1] if i < len(now) - 1 else 0.0
            then[i] = now[i] + k * (left - 2 * now[i] + right)
            cuda.syncthreads()

    @cuda.jit
    def scanned(x, out):
        one = cuda.shared.array(32, cuda.float64)
        two = cuda.shared.array(32, cuda.float64)
        own = cuda.local.array(3, cuda.float64)
        own[:] = 1
        t, now, then = cuda.threadIdx.x, one, two
        now[t] = x[t]
        cuda.syncthreads()
        d = 1
        while d < 32:
            then[t] = now[t] + (now[t - d] if t >= d else 0.0)
            now, then = then, now
            cuda.syncthreads()
            d *= 2
        out[t] = now[t] * own[2]

    x = np.zeros(20)
    x[10] = 100
    one, two = cuda.to_device(x), cuda.to_device(x * 0)
    y, sums = cuda.to_device(np.arange(32.0)), cuda.device_array(32)
    with usmx.simulate() if simulated else contextlib.nullcontext():
        heat[1, 20](one, two, 3, 0.25)
        scanned[1, 32](y, sums)
    for _ in range(3):
        padded = np.concatenate([[0.0], x, [0.0]])
        x = x + 0.25 * (padded[:-2] - 2 * x + padded[2:])
    np.testing.assert_array_equal(two.copy_to_host(), x)
    np.testing.assert_array_equal(sums.copy_to_host(), np.arange(32.0).cumsum())
