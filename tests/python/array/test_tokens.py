"""What names the elements of an array for schedulers: `__dask_tokenize__`."""
# SPDX-License-Identifier: Apache-2.0

import pytest

import usmx


def token(x):
    return x.__dask_tokenize__()


def test_equal_elements_have_the_same_name():
    x = usmx.arange(100, dtype="int16")
    many = usmx.arange(10_007, dtype="int16")  # by a kernel, with bytes left over
    assert token(x) == token(usmx.arange(100, dtype="int16"))
    assert token(many) == token(usmx.arange(10_006, -1, -1, dtype="int16")[::-1])
    assert token(many) == token(many + 0)
    assert token(many[1:]) == token(many[1:].copy())


@pytest.mark.parametrize("count", [100, 10_007])
def test_other_elements_have_other_names(count):
    x = usmx.arange(count, dtype="int32")
    swapped = x.copy()
    swapped[3], swapped[9] = 9, 3
    last = x.copy()
    last[-1] = 0
    others = [
        x,
        swapped,
        last,
        x[::-1],
        x.view("uint32"),
        x.reshape(-1, 1),
        usmx.asarray(x, usm_type="shared"),
    ]
    assert len({token(one) for one in others}) == len(others)


def test_everything_has_a_name():
    for x in (
        usmx.empty(0),
        usmx.asarray(2.5),
        usmx.ones((7, 8), dtype="bfloat16"),
        usmx.ones((70, 80), dtype="bfloat16")[1:, 3:],
        usmx.zeros(5, dtype=[("a", "<f4"), ("b", "<i2")]),
        usmx.ones(10, dtype="complex128") * 2,
        usmx.asarray([[1, 2], [3, 4]]).T,
    ):
        assert token(x) == token(x.copy("A"))


def test_a_line_of_a_table_shows_where_and_what():
    x = usmx.asarray([[1.5, 2.25], [3.0, 4.0]], usm_type="shared")
    assert x._repr_inline_(80) == "shared 1.5 2.25 3 4"
    assert x._repr_inline_(16) == "shared 1.5 ..."
    assert len(usmx.arange(1000)._repr_inline_(30)) <= 30
    assert usmx.empty(0, usm_type="host")._repr_inline_(20) == "host"
