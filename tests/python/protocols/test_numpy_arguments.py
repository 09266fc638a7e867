# NumPy's functions on arrays of ours take their arguments by NumPy's names and places.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import usmx

HOST = {
    "x": np.array([3.0, 1.0, 4.0, 1.5]),
    "m": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]]),
    "b": np.arange(24.0).reshape(2, 3, 4),
}

CALLS = [
    "np.clip(x, a_min=1.25, a_max=3.5)",
    "np.clip(x, None, a_max=3.5)",
    "np.clip(a=x, a_min=None, a_max=2)",
    "np.quantile(x, q=0.5)",
    "np.percentile(a=x, q=[25, 50])",
    "np.digitize(x, bins=np.array([1.0, 2.0]))",
    "np.moveaxis(b, source=0, destination=1)",
    "np.repeat(a=x, repeats=2)",
    "np.repeat(b, 2, 1)",
    "np.linalg.matrix_power(m, n=3)",
    "np.linalg.svd(m, False)[1]",
    "np.linalg.qr(m, 'r')",
    "np.linalg.norm(m, 'fro', (0, 1))",
    "np.linalg.solve(a=m, b=m)",
    "np.fft.fft(b, 4, 0)",
    "np.round(x, 1)",
    "np.round(a=x, decimals=1)",
    "np.sort(b, 0)",
    "np.sort(b, axis=0, kind='stable')",
    "np.argsort(b, 1)",
    "np.argsort(x, kind='stable')",
    "np.sum(a=b, axis=1)",
    "np.mean(b, 0, None, None, True)",
    "np.take(a=b, indices=[0, 1], axis=2)",
    "np.take(b, [0, 1], 2)",
    "np.tensordot(a=m, b=m, axes=1)",
    "np.roll(a=x, shift=1)",
    "np.roll(b, 1, 0)",
    "np.cumsum(b, 1)",
    "np.cumsum(a=x)",
    "np.flip(m=x)",
    "np.pad(array=x, pad_width=1, mode='edge')",
    "np.searchsorted(np.sort(x), v=2.0, side='right')",
    "np.var(a=x, ddof=1)",
    "np.std(b, 0)",
    "np.average(a=x, weights=x)",
    "np.kron(a=m, b=m)",
    "np.trace(b)",
    "np.trace(b, 1, 1, 2)",
    "np.trace(a=b, axis1=-1, axis2=0, dtype='f4')",
    "np.diagonal(a=b, axis1=1, axis2=2)",
    "np.isin(element=x, test_elements=[1.0, 4.0])",
    "np.full_like(a=x, fill_value=2)",
    "np.full_like(x, 2, 'i4')",
    "np.full_like(x, 2, shape=(2, 2), dtype=int)",
    "np.zeros_like(x, shape=(3,))",
    "np.ones_like(b, 'i2')",
    "np.broadcast_to(array=x, shape=(2, 4))",
    "np.angle(x + 1j * x, deg=True)",
    "np.diff(x, prepend=0)",
    "np.diff(b, axis=1, append=5, prepend=np.zeros((2, 2, 4)))",
    "np.outer(x, np.ones(2))",
    "np.vecdot(x, np.ones(4))",
    "np.select([x > 2], [np.ones(4)])",
    "np.select([x > 2, x > 1], [[1.0, 2.0, 3.0, 4.0], x], default=7)",
    "np.isclose(x, [3.0, 1.0, 4.0, 1.0])",
    "np.trapezoid([1.0, 2.0, 3.0, 4.0], x)",
    "x @ np.ones(4)",
    "np.ones((2, 4)) @ x",
]


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("call", CALLS)
def test_calls_in_numpys_way(call: str, kind: Any) -> None:
    arrays = {name: usmx.asarray(a, usm_type=kind) for name, a in HOST.items()}
    got = eval(call, {"np": np, **arrays})
    wanted = eval(call, {"np": np, **HOST})
    assert isinstance(got, usmx.ndarray)
    assert got.usm_type == kind
    assert got.dtype == wanted.dtype
    signs = np.abs if ".qr" in call else np.asarray  # rows of R may have either sign
    np.testing.assert_allclose(signs(got.to_numpy()), signs(wanted), rtol=1e-6, atol=1e-12)


def test_what_a_function_does_not_have_is_named() -> None:
    x = usmx.asarray([1.0, 2.0])
    with pytest.raises(TypeError, match="'meanwhile'"):
        np.sort(x, meanwhile=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"np.sum: out is of type ndarray; expected a usmx"):
        np.sum(x, out=np.zeros(()))
    host = np.zeros(2)
    with pytest.raises(TypeError, match=r"np.add: out is an array of NumPy.*to_numpy\(\)"):
        host += x


def test_numpys_other_modules_are_not_taken_for_functions_here() -> None:
    host = np.array([-1.0, 4.0])
    shared = usmx.asarray(host, usm_type="shared")
    np.testing.assert_array_equal(np.emath.sqrt(shared), np.emath.sqrt(host))
    with pytest.raises(TypeError, match=r"np.lib.scimath.sqrt: is not computed on devices"):
        np.emath.sqrt(usmx.asarray(host))


def test_a_mask_of_a_ufunc_is_seen_by_the_host() -> None:
    x = usmx.asarray([1.0, 4.0], usm_type="shared")
    out = np.zeros(2)
    assert np.sqrt(x, where=x > 2, out=out) is out
    np.testing.assert_array_equal(out, [0, 2])


def test_broadcasting_with_none_is_left_to_numpy() -> None:
    x = usmx.asarray([1.0, 4.0], usm_type="shared")
    values, none = np.broadcast_arrays(x, None)
    assert values.tolist() == [1, 4]
    assert none.tolist() == [None, None]
    both = np.broadcast_arrays(x, usmx.ones((3, 1), usm_type="shared"))
    assert [one.shape for one in both] == [(3, 2), (3, 2)]


def test_names_of_numpy_that_are_not_here_say_what_is() -> None:
    for name, instead in (("jit", "usmx.kernel"), ("tensor", "usmx.asarray")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use {instead}"):
            getattr(usmx, name)
