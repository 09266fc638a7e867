# Calls of a fused function whose types were seen before skip Python, and mean what the first meant.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx


def usm(array):
    return usmx.asarray(array, usm_type="shared")


def test_calls_of_known_types_go_on_as_the_first_did():
    traced = []

    def scaled(x, y, z=1):
        traced.append(1)
        return x * y + z

    fused = usmx.fuse(scaled)
    x, out = usm(np.arange(5, dtype="f4")), usmx.empty(5, "f4", usm_type="shared")
    for y in (2, 3):
        assert (fused(x, y, 4).to_numpy() == np.arange(5) * y + 4).all()
        assert (fused(x, y).to_numpy() == np.arange(5) * y + 1).all()
        assert (fused(x, z=4, y=y).to_numpy() == np.arange(5) * y + 4).all()
        assert fused(x, y, 4, out=out, queue=x.queue, depends_on=()) is out
    assert len(traced) == 1
    assert fused(x, 2.5, 4).dtype == np.dtype("f4")
    assert fused(x, 1j, 4).dtype == np.dtype("F")
    assert fused(usm(np.arange(5)), 2, 4).dtype == np.dtype("q")
    assert len(traced) == 4


def test_calls_of_known_types_do_not_ask_python(monkeypatch):
    fused = usmx.fuse(lambda x, y: x * y)
    x = usm(np.arange(5, dtype="f4"))
    calls = [(x, x), (x, 2), (x, 2.5), (x, 1j)]
    first = [fused(*call).to_numpy() for call in calls]
    monkeypatch.setattr(type(fused), "_general", None)
    for call, expected in zip(calls, first, strict=True):
        assert (fused(*call).to_numpy() == expected).all()


def test_calls_of_known_types_refuse_what_the_first_would():
    fused = usmx.fuse(lambda x, y: x + y)
    x = usm(np.arange(5, dtype="f4"))
    for _ in range(2):
        fused(x, x), fused(x, 1)
        with pytest.raises(TypeError, match="missing a required argument: 'y'"):
            fused(x)
        with pytest.raises(TypeError, match="too many positional arguments"):
            fused(x, 1, 2)
        with pytest.raises(TypeError, match="size"):
            fused(x, 1, size=3)
        with pytest.raises(ValueError, match="do not broadcast"):
            fused(x, x[:3])
        with pytest.raises(TypeError, match="of type list"):
            fused(x, [1])


def test_numbers_that_fit_no_more_are_still_refused():
    fused = usmx.fuse(lambda x, n: x + n)
    x = usm(np.arange(5, dtype="i1"))
    for _ in range(2):
        assert fused(x, 100).dtype == np.dtype("i1")
        with pytest.raises(OverflowError):
            fused(x, 300)
    assert fused(usm(np.arange(5, dtype="u8")), 1 << 63).to_numpy()[1] == (1 << 63) + 1


def test_one_result_in_a_tuple_stays_one():
    fused = usmx.fuse(lambda x: (x + 1,))
    x = usm(np.arange(5, dtype="f4"))
    for _ in range(2):
        (result,) = fused(x)
        assert result.to_numpy()[1] == 2


def test_a_fused_function_keeps_its_name_and_what_it_says():
    def norm(x):
        """Of a vector."""
        return abs(x)

    fused = usmx.fuse(norm)
    assert (fused.__name__, fused.__doc__) == ("norm", "Of a vector.")
    assert callable(fused)
    assert repr(fused).endswith("norm>")
