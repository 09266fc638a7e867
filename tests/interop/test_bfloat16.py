"""bfloat16 of PyTorch and JAX, which comes and goes without a copy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

import usmx


def test_pytorch_shares_it():
    import torch

    t = torch.arange(16, dtype=torch.bfloat16)
    x = usmx.from_dlpack(t, copy=False)
    assert x.dtype == "bfloat16"
    t[0] = 42
    assert x.tolist() == [42.0, *map(float, range(1, 16))]
    y = usmx.ones(4, dtype="bfloat16", usm_type="shared")
    back = torch.from_dlpack(np.asarray(y.view("int16"))).view(torch.bfloat16)
    back[1] = 2.5
    assert y.tolist() == [1.0, 2.5, 1.0, 1.0]


def test_jax_shares_it():
    import jax.numpy as jnp

    t = jnp.arange(16, dtype=jnp.bfloat16)
    x = usmx.from_dlpack(t)
    assert x.dtype == usmx.dtype(jnp.bfloat16) == "bfloat16"
    assert x.tolist() == list(map(float, range(16)))
    assert usmx.asarray(np.asarray(t)).dtype == "bfloat16"


def test_each_function_takes_that_of_jax():
    import jax.numpy as jnp

    theirs = jnp.arange(3, dtype=jnp.bfloat16)
    mine = usmx.ones(3, dtype="bfloat16")
    kernel = usmx.ElementwiseKernel("T x", "T y", "y = x")
    into = usmx.zeros(3, dtype="bfloat16")
    into[:] = theirs
    copied = usmx.zeros(3, dtype="bfloat16")
    usmx.copy(copied, theirs)
    for made in (
        usmx.asarray(theirs),
        usmx.asarray(theirs, copy=True),
        usmx.asarray(theirs, dtype="float32"),
        usmx.asarray(theirs, usm_type="shared"),
        usmx.multiply(mine, theirs),
        usmx.stack([theirs, mine])[0],
        usmx.concat([mine, theirs])[3:],
        usmx.where(mine > 0, theirs, mine),
        kernel(theirs),
        into,
        copied,
    ):
        assert made.astype("float32").tolist() == [0.0, 1.0, 2.0]
