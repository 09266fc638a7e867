"""Reductions along rows and what is done with the same rows: one kernel computes them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from backend_row import ROW

import usmx

#: Groups are loops over some rows, or have one row and share its elements.
FORMS = ["own", "cuda"] if ROW.groups_are_loops else ["own"]


@pytest.fixture(params=FORMS, autouse=True)
def forms(request):
    usmx._usmx._Testing.use_forms_of("" if request.param == "own" else request.param)
    yield request.param
    usmx._usmx._Testing.use_forms_of("")


def values(shape, seed=1, dtype=np.float32):
    host = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return usmx.asarray(host, usm_type="device"), host


def kernels(expression):
    return usmx.explain(expression).kernels


def layer_norm(xp, x, weight=None):
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    y = centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)
    return y if weight is None else y * weight + 1


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def entropy(xp, x):
    """A reduction of what reductions were used for; keeps no axis."""
    p = softmax(xp, x)
    return xp.sum(p * xp.log(p), axis=-1)


SHAPES = [(300, 400), (33, 2), (70, 33), (5, 4000), (1, 129), (300, 5000), (4, 9, 100), (3000,)]
#: As many elements as one group adds where there are few rows: no more elsewhere.
SHAPES += [(32768,), (3, 32000)]
#: Rows of which a sub-group has each there, and of which more items than usual have each.
WIDE = [(1025, 513), (1031, 700), (1024, 1000), (1030, 1023), (1024, 1024)]
WIDE += [(260, 5120), (257, 9001), (256, 10240), (256, 20001), (256, 32768)]
SHAPES += WIDE
#: Rows that share a group there, by 32 items each and by fewer.
SHORT = [(1024, 512), (1100, 130), (2000, 100), (1030, 33), (1025, 40)]
SHAPES += SHORT
#: Rows that are sums of one item each on processors.
SHORTER = [(1500, 17), (1027, 16), (40, 50, 9), (1201, 5), (3000, 3), (5000, 2)]


def for_one_group(shape, forms):
    loops = ROW.groups_are_loops and forms == "own"
    many = np.prod(shape[:-1]) >= 256
    return shape if loops or many else (*shape[:-1], min(shape[-1], 16384))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_norm_of_rows_is_one_kernel_with_the_bits_of_its_steps(shape, forms):
    x, host = values(for_one_group(shape, forms))
    mean = x.mean(axis=-1, keepdims=True)
    mean.to_numpy()
    centred = x - mean
    centred.to_numpy()
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    variance.to_numpy()
    in_steps = (centred / usmx.sqrt(variance + 1e-5)).to_numpy()
    y = layer_norm(usmx, x)
    (kernel,) = kernels(y)
    assert kernel.bytes_read == kernel.bytes_written == host.nbytes
    assert kernel.text.count("reduce") == 2
    np.testing.assert_array_equal(y.to_numpy(), in_steps)
    np.testing.assert_allclose(in_steps, layer_norm(np, host), atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("chain", [softmax, entropy])
def test_several_stages_are_one_kernel(chain, shape, forms):
    x, host = values(for_one_group(shape, forms))
    y = chain(usmx, x)
    assert len(kernels(y)) == 1
    np.testing.assert_allclose(y.to_numpy(), chain(np, host.astype(float)), rtol=1e-4, atol=1e-6)
    with usmx.eager():
        one_by_one = chain(usmx, x)
    np.testing.assert_array_equal(y.to_numpy(), one_by_one.to_numpy())


@pytest.mark.parametrize("shape", [*SHORT, *SHORTER])
@pytest.mark.parametrize("chain", [layer_norm, softmax, entropy])
def test_short_rows_share_a_group_where_groups_fill_a_core(chain, shape, forms):
    x, host = values(shape)
    y = chain(usmx, x)
    loops = ROW.groups_are_loops and forms == "own"
    reductions = kernels(y)[-1].text.count("reduce")
    assert (reductions == (3 if chain is entropy else 2)) == (not loops or shape in SHORT)
    np.testing.assert_allclose(y.to_numpy(), chain(np, host.astype(float)), rtol=3e-4, atol=1e-3)
    with usmx.eager():
        one_by_one = chain(usmx, x)
    np.testing.assert_array_equal(y.to_numpy(), one_by_one.to_numpy())


@pytest.mark.parametrize("name", ["sum", "max", "prod", "argmax", "var"])
@pytest.mark.parametrize("shape", [*SHORT, *SHORTER, (2000, 4, 9), (30, 40, 2, 3)])
def test_reductions_of_short_rows(name, shape):
    host = np.random.default_rng(5).integers(-3, 3, shape).astype("f4")
    host[::7, ..., 0] = np.nan if name == "max" else 1
    axes = (
        [-1] if name == "argmax" else [-1, *([(1, 2), (0, 2), (0, -1)] if len(shape) > 2 else [])]
    )
    for axis in axes:
        for x in (host, host[::-1], host[..., ::-1]):
            got = getattr(usmx, name)(usmx.asarray(x.copy(), usm_type="device"), axis=axis)
            np.testing.assert_allclose(
                got.to_numpy(), getattr(np, name)(x, axis=axis), rtol=1e-5, atol=1e-6
            )


def test_operands_of_rows_and_of_columns_are_part_of_it():
    x, host = values((200, 300))
    weight, w = values((300,), seed=2)
    scale, s = values((200, 1), seed=3)
    y = layer_norm(usmx, x * scale, weight)
    assert len(kernels(y)) == 1
    np.testing.assert_allclose(y.to_numpy(), layer_norm(np, host * s, w), rtol=1e-3, atol=1e-4)


def test_many_reductions_are_one_kernel_where_there_is_memory_for_them(forms):
    x, host = values((200, 300))

    def chain(xp, x):
        for _ in range(5):
            x = x / xp.max(abs(x), axis=1, keepdims=True)
        return x

    y = chain(usmx, x)
    loops = ROW.groups_are_loops and forms == "own"
    assert (len(kernels(y)) == 1) == loops
    np.testing.assert_allclose(y.to_numpy(), chain(np, host), rtol=1e-5)


def test_what_has_a_name_is_stored_too():
    x, host = values((200, 300))
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    square = centred * centred
    spread = usmx.sqrt(square.mean(axis=1, keepdims=True))
    y = centred / spread
    (kernel,) = kernels(y)
    assert kernel.bytes_written == 3 * host.nbytes + 2 * 4 * 200
    y.to_numpy()
    for known in (mean, centred, square, spread):
        assert kernels(known) == ()
    np.testing.assert_allclose(mean.to_numpy(), host.mean(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(spread.to_numpy(), host.std(axis=1, keepdims=True), rtol=1e-4)
    np.testing.assert_array_equal((centred / spread).to_numpy(), y.to_numpy())


def test_a_reduction_that_is_used_twice_is_computed_once():
    x, host = values((200, 300))
    mean = x.mean(axis=1, keepdims=True)
    low, high = x - mean, x + mean
    del mean
    low.to_numpy()
    (kernel,) = kernels(high)
    assert "reduce" not in kernel.text
    np.testing.assert_allclose(high.to_numpy(), host + host.mean(axis=1, keepdims=True), atol=1e-6)


def test_reductions_of_one_stage_are_joined_together():
    x, host = values((200, 300))
    centred = x - x.mean(axis=1, keepdims=True)
    third = (centred**3).mean(axis=1, keepdims=True)
    second = (centred**2).mean(axis=1, keepdims=True)
    skew = third / second**1.5
    assert len(kernels(skew)) == 1
    c = host - host.mean(axis=1, keepdims=True)
    expected = (c**3).mean(axis=1, keepdims=True) / (c**2).mean(axis=1, keepdims=True) ** 1.5
    np.testing.assert_allclose(skew.to_numpy(), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float64", "bool"])
def test_every_type_is_joined_and_used_again(dtype):
    host = (np.arange(60 * 70) % 11).reshape(60, 70).astype(dtype)
    x = usmx.asarray(host, usm_type="device")
    part = x / usmx.sum(x, axis=1, keepdims=True, dtype="float64")
    assert len(kernels(part)) == 1
    np.testing.assert_allclose(
        part.to_numpy(), host / host.sum(axis=1, keepdims=True, dtype="f8"), rtol=1e-3
    )


@pytest.mark.parametrize(
    "of",
    [
        lambda x: x - x.mean(axis=0, keepdims=True),
        lambda x: x.T - x.T.mean(axis=1, keepdims=True),
        lambda x: x[:, ::2] - x[:, ::2].mean(axis=1, keepdims=True),
        lambda x: x - x.mean(),
        lambda x: x - x.mean(axis=1)[:, None],
        lambda x: (x - x.mean(axis=1, keepdims=True))[::2, 3:],
        lambda x: (x[:, :8] - x[:, :8].mean(axis=1, keepdims=True)).sum(axis=0),
    ],
)
def test_other_axes_orders_and_views_are_computed_as_before(of):
    x, host = values((3000, 40))
    np.testing.assert_allclose(of(x).to_numpy(), of(host), rtol=1e-3, atol=1e-3)


def test_the_elements_are_those_of_the_time_when_it_was_written():
    x, host = values((200, 300))
    y = softmax(usmx, x)
    x[:] = 0
    np.testing.assert_allclose(y.to_numpy(), softmax(np, host), rtol=1e-4)


def test_sums_of_rows_that_wait_keep_no_other_rows():
    shape, held = (1 << 10, 1 << 10), []
    counted = usmx.memory.StatisticsResource(usmx.memory.UsmResource("shared"))
    with usmx.memory.using(counted):
        for k in range(8):
            x = usmx.full(shape, k, dtype="float32", usm_type="shared")
            mean = x.mean(axis=1, keepdims=True)
            held.append((mean, ((x - mean) ** 2).sum(axis=1)))
        del x, mean
        usmx.default_queue().wait()
        usmx._usmx._Testing.drain()
        assert counted.stats()["bytes"] < 2 * 4 << 20
    assert all(float(m[3, 0]) == k and float(v[5]) == 0 for k, (m, v) in enumerate(held))
