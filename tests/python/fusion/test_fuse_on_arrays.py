# Fused functions that are more than one kernel give what NumPy gives: they run on arrays that put
# off what they compute, and say why.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from backend_row import needs

import usmx

A = np.arange(-7, 17, dtype="f8").reshape(4, 6) / 4
B = np.arange(6, dtype="f8") + 1

FUNCTIONS = {
    "row": lambda x, y: x[0] * y,
    "column": lambda x, y: x[:, 2:3] + y,
    "new axis": lambda x, y: x[:, None] * y,
    "reversed": lambda x, y: x[::-1] - x,
    "slice of a value": lambda x, y: (x * 2 + y)[1:, ::2] + 1,
    "neighbours": lambda x, y: (x[:, 2:] + x[:, :-2]) / 2 - x[:, 1:-1],
    "after a reduction": lambda x, y: x / np.sum(x * x),
    "mean and deviation": lambda x, y: (x - x.mean()) / (x * x).mean(),
    "several reductions": lambda x, y: (x.min(), x.max(), np.sum(x, axis=0)),
    "softmax": lambda x, y: (
        np.exp(x - x.max(axis=1, keepdims=True))
        / np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    ),
    "value and reduction": lambda x, y: (x * y, np.max(x)),
    "cumulative": lambda x, y: np.cumsum(x * y, axis=1),
    "shape": lambda x, y: x.reshape(6, 4) * len(y),
    "transpose": lambda x, y: x.T + y[:, None],
    "size": lambda x, y: x.sum() / x.size + y,
    "reduced comparison": lambda x, y: np.where(x > x.mean(), x, y),
    "matrix": lambda x, y: x @ y,
    "iterating": lambda x, y: sum(row * row for row in x) + y,
    "variance": lambda x, y: np.var(x, axis=1),
    "one element": lambda x, y: x[1, 2] + y,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_other_elements_give_what_numpy_gives(name):
    function = FUNCTIONS[name]
    fused = usmx.fuse(function)
    x, y = usmx.asarray(A), usmx.asarray(B)
    for _ in range(2):
        made, wanted = fused(x, y), function(A, B)
        assert isinstance(made, tuple) == isinstance(wanted, tuple)
        for one, want in zip(
            made if isinstance(made, tuple) else [made],
            wanted if isinstance(wanted, tuple) else [wanted],
            strict=True,
        ):
            assert isinstance(one, usmx.ndarray)
            assert one.dtype == want.dtype
            assert one.shape == want.shape
            np.testing.assert_allclose(one.to_numpy(), want, rtol=1e-14, atol=1e-14)
    assert len(fused.several) == 1
    assert fused.several[0]


def test_bfloat16_which_numpy_does_not_know_is_computed_on_arrays():
    fused = usmx.fuse(lambda x, y: (np.exp(x) * 2 + np.where(x > y, x, 1), np.sum(x * x)))
    x = usmx.asarray([1.0, 2.0, 3.0, 4.0], dtype="bfloat16")
    values, total = fused(x, 2)
    assert values.dtype.name == total.dtype.name == "bfloat16"
    wanted = usmx.exp(x) * 2 + usmx.where(x > 2, x, 1)
    assert values.tolist() == wanted.tolist()
    assert total.item() == 30
    assert "bfloat16" in fused.several[0]
    store = usmx.empty(4, dtype="bfloat16")
    assert usmx.fuse(lambda x: x + 1)(x, out=store) is store
    assert store.tolist() == [2, 3, 4, 5]


def test_what_is_one_kernel_says_no_reason():
    fused = usmx.fuse(lambda x: np.sum(np.copy(x) * 2))
    assert fused(usmx.asarray(A)).item() == A.sum() * 2
    assert fused.several == []


@needs("host_memory")
def test_arguments_are_changed_in_place():
    def f(x, y):
        x[0] = y
        x[1:] *= 2
        return x

    wanted = A.copy()
    f(wanted, B)
    x = usmx.asarray(A)
    assert usmx.fuse(f)(x, usmx.asarray(B)) is x
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    host = A.copy()
    assert usmx.fuse(f)(host, B) is host
    np.testing.assert_array_equal(host, wanted)


def test_elements_that_a_mask_chooses_are_changed():
    def f(x):
        x[x > 1] = 1

    x, wanted = usmx.asarray(A), A.copy()
    f(wanted)
    assert usmx.fuse(f)(x) is None
    np.testing.assert_array_equal(x.to_numpy(), wanted)


@needs("host_memory")
def test_results_do_not_see_what_the_host_writes_later():
    host = A.copy()
    made = usmx.fuse(lambda x, y: x[::-1] - x.mean() + y)(host, 2)
    host[:] = 0
    np.testing.assert_allclose(made.to_numpy(), A[::-1] - A.mean() + 2, rtol=1e-14)


def test_given_outputs_are_written():
    fused = usmx.fuse(lambda x: x - x.mean())
    x, out = usmx.asarray(A), usmx.empty(A.shape)
    assert fused(x, out=out) is out
    np.testing.assert_allclose(out.to_numpy(), A - A.mean(), rtol=1e-14)
    with pytest.raises(ValueError, match="out: has shape"):
        fused(x, out=usmx.empty(3))
    with pytest.raises(ValueError, match="queue: the function is more than one kernel"):
        fused(x, queue=x.queue)


def test_empty_arrays():
    x = usmx.empty((0, 3))
    assert usmx.fuse(lambda x: x * 2)(x).shape == (0, 3)
    assert usmx.fuse(lambda x: x[:, None] * 2)(x).shape == (0, 1, 3)
    assert usmx.fuse(lambda x: x.sum(axis=0) + 1)(x).tolist() == [1, 1, 1]


def test_what_arrays_refuse_too_is_their_error():
    x = usmx.asarray(A)
    with pytest.raises(IndexError):
        usmx.fuse(lambda x: x[9])(x)
    with pytest.raises(TypeError, match="no argument is an array"):
        usmx.fuse(lambda x: x[0])(3)


def test_what_cannot_be_computed_is_an_error_that_says_so():
    x = usmx.asarray(A, usm_type="device")
    with pytest.raises(TypeError, match="complex numbers have no order"):
        usmx.fuse(lambda x: np.max(x * 1j))(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'first'"):
        usmx.fuse(lambda x: x.sum(first=3))(x)
    with pytest.raises(TypeError, match=r"np\.ldexp\.accumulate: is not computed on devices"):
        usmx.fuse(np.ldexp.accumulate)(x)


def test_divmod_and_sorting():
    x = usmx.asarray(A, usm_type="device")
    quotient, rest = usmx.fuse(lambda x: divmod(x, 3))(x)
    np.testing.assert_array_equal(quotient.to_numpy(), A // 3)
    np.testing.assert_array_equal(rest.to_numpy(), A % 3)
    np.testing.assert_array_equal(usmx.fuse(lambda x: np.sort(-x))(x).to_numpy(), np.sort(-A))
