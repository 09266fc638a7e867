"""What a loop goes through is found once, before its first round, as in Python: bounds, indices and
names that rounds change have their first values, and `reversed` takes each step."""

# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: B020, PLR1704, SIM113
# What is bad style elsewhere is what these programs are about.
from __future__ import annotations

import contextlib

import numpy as np
import pytest
from language_run import Item

import usmx

PROGRAMS = []
ROOM = 24


def program(function):
    PROGRAMS.append(function)
    return function


@program
def ranges_with_steps_backwards(item, a, b, m, o):
    n = 0
    for j in reversed(range(0, 5, 2)):
        o[n] = j
        n += 1
    for j in reversed(range(10, a, -3)):
        o[n] = j
        n += 1
    for j in reversed(range(a, b, a)):
        o[n] = j
        n += 1


@program
def the_start_of_a_numbered_range_changes(item, a, b, m, o):
    n = 0
    for count, j in enumerate(range(a, b)):
        o[n] = 10 * count + j
        n += 1
        a = 100


@program
def the_start_of_a_range_backwards_changes(item, a, b, m, o):
    n = 0
    for j in reversed(range(a, b)):
        o[n] = j
        n += 1
        a += 1


@program
def steps_of_two_ranges_change(item, a, b, m, o):
    n = 0
    step = a - 1
    for j, k in zip(range(a, b * 4, step), range(b), strict=False):
        o[n] = j + 100 * k
        n += 1
        a += 1
        step += 1
        b = 2


@program
def the_index_of_a_row_changes(item, a, b, m, o):
    n = 0
    i = 1
    for v in m[i]:
        o[n] = v
        n += 1
        i = 2


@program
def a_name_of_a_row_changes(item, a, b, m, o):
    n = 0
    row = m[0]
    for v in row:
        o[n] = v
        n += 1
        row = m[1]


@program
def a_name_of_a_matrix_changes_backwards(item, a, b, m, o):
    n = 0
    now = m
    for row in reversed(now):
        o[n] = row[0]
        n += 1
        now = m[1:]


@program
def indices_of_two_rows_change(item, a, b, m, o):
    n = 0
    i = 0
    for v, w in zip(m[i], m[i + 1], strict=False):
        o[n] = 100 * v + w
        n += 1
        i = 1


@program
def an_index_in_memory_changes(item, a, b, m, o):
    n = 1
    o[0] = 2
    for v in m[o[0]]:
        o[n] = v
        n += 1
        o[0] = 1


@program
def the_target_is_a_bound(item, a, b, m, o):
    n = 0
    for count, a in enumerate(range(a, b)):
        o[n] = 10 * count + a
        n += 1


@pytest.mark.parametrize("simulated", [False, True], ids=["device", "simulator"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_each_round_has_what_the_first_line_meant(function, simulated) -> None:
    m = np.arange(24).reshape(4, 6)
    expected = np.full(ROOM, -1)
    function(Item(), 3, 9, m.copy(), expected)
    found = usmx.full(ROOM, -1, dtype="int64")
    with usmx.simulate() if simulated else contextlib.nullcontext():
        usmx.kernel(function)[1](3, 9, usmx.asarray(m), found)
    assert found.to_numpy().tolist() == expected.tolist()
