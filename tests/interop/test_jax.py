"""Arrays of usmx as arrays of JAX, which copies them: its arrays do not change."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

import usmx


@pytest.mark.parametrize("kind", ["shared", "device", "host"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_jax_makes_arrays_of_them(kind, dtype):
    import jax
    import jax.numpy as jnp

    x = jnp.asarray(usmx.arange(3, usm_type=kind).astype(dtype))
    assert x.dtype == dtype
    assert jax.jit(lambda a: a * 2)(x).tolist() == [0, 2, 4]


def test_what_jax_got_does_not_change_with_the_array():
    import jax.numpy as jnp

    x = usmx.ones(1 << 16, dtype="float32", usm_type="shared")
    theirs = jnp.asarray(x)
    x += 1
    x.wait()
    assert float(theirs.sum()) == 1 << 16
