"""Functions of all kinds can be fused: with ``*args``, keyword-only parameters and ``**keywords``,
partials, objects that can be called; what cannot be is named."""

# SPDX-License-Identifier: Apache-2.0
import functools
import pickle

import numpy as np
import pytest

import usmx


def product(first, *others):
    for one in others:
        first = first * one
    return first


def shifted(a, *, by=1):
    return a + by


def weighted(a, /, b=2.0, *more, scale=1.0, **named):
    for one in (*more, *named.values()):
        a = a + one
    return a * b * scale


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, a, *, plus=0.0):
        return a * self.k + plus


x = usmx.asarray([1.0, 2.0])


def test_more_arguments_by_place_are_arguments_of_the_kernel():
    fused = usmx.fuse(product)
    assert fused(x).tolist() == [1.0, 2.0]
    assert fused(x, x, x).tolist() == [1.0, 8.0]
    assert fused(x, 3).tolist() == [3.0, 6.0]
    assert fused(x, x, x).tolist() == [1.0, 8.0]
    assert len(fused.sources) == 3


def test_arguments_by_name_are_arguments_of_the_kernel():
    fused = usmx.fuse(shifted)
    assert fused(x).tolist() == [2.0, 3.0]
    assert fused(x, by=2).tolist() == [3.0, 4.0]
    assert fused(x, by=x).tolist() == [2.0, 4.0]
    assert len(fused.sources) == 2
    out = usmx.zeros(2)
    assert fused(x, by=5, out=out) is out
    assert out.tolist() == [6.0, 7.0]


def test_all_kinds_of_parameters_together():
    fused = usmx.fuse(weighted)
    for args, named in [
        ((x,), {}),
        ((x, 3.0), {}),
        ((x, 3.0, x), {}),
        ((x,), {"scale": 2.0}),
        ((x,), {"p": x, "q": 1.0}),
        ((x,), {"q": 1.0, "p": x}),
        ((x, 3.0, x, 1.0), {"scale": x, "p": 2.0}),
    ]:
        host = [a.to_numpy() if a is x else a for a in args]
        by_name = {k: v.to_numpy() if v is x else v for k, v in named.items()}
        assert fused(*args, **named).tolist() == weighted(*host, **by_name).tolist()


def test_partials_and_objects():
    assert usmx.fuse(functools.partial(lambda k, a: a * k, 3))(x).tolist() == [3.0, 6.0]
    assert usmx.fuse(functools.partial(shifted, by=2))(x).tolist() == [3.0, 4.0]
    fused = usmx.fuse(Scale(3))
    assert fused(x).tolist() == [3.0, 6.0]
    assert fused(x, plus=1.0).tolist() == [4.0, 7.0]
    assert fused.__name__ == "Scale"
    assert not hasattr(fused, "k")
    assert usmx.fuse(np.add)(x, x).tolist() == [2.0, 4.0]
    again = pickle.loads(pickle.dumps(usmx.fuse(functools.partial(shifted, by=2))))
    assert again(x).tolist() == [3.0, 4.0]


def test_arguments_by_name_may_be_changed_in_place():
    def f(a, *, into):
        into += a

    y = usmx.asarray([1.0, 1.0])
    usmx.fuse(f)(x, into=y)
    assert y.tolist() == [2.0, 3.0]


def test_an_argument_of_another_kind_is_named():
    with pytest.raises(TypeError, match=r"argument 'others\[1\]' of product"):
        usmx.fuse(product)(x, x, object())
    with pytest.raises(TypeError, match="argument 'by' of shifted"):
        usmx.fuse(shifted)(x, by=object())
    with pytest.raises(TypeError, match="shifted: got an unexpected argument 'on'"):
        usmx.fuse(shifted)(x, on=1)


def test_what_cannot_be_fused_is_named():
    with pytest.raises(TypeError, match=r"fuse: max does not say .* usmx.fuse\(lambda x: max\(x\)"):
        usmx.fuse(max)
    with pytest.raises(TypeError, match="fuse: 'out' of f: a fused call has out= itself"):
        usmx.fuse(f)


def f(a, *, out):
    return a + out
