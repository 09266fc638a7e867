# exp, log, sin, cos, tanh, arctan2 and hypot: the bits of the host are those of kernels of the CPU,
# wherever they stand, and they are within an ulp.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_row import needs
from test_small_arrays import by_host, equal_bits

import usmx

pytestmark = needs("own_functions")

OPERANDS = {"exp": 1, "log": 1, "sin": 1, "cos": 1, "tanh": 1, "arctan2": 2, "hypot": 2}
INF, NAN = np.inf, np.nan


def numbers(char: str, seed: int) -> Any:
    """2048 numbers of all sizes, in no order, with those that are hard for one of the functions."""
    rng = np.random.default_rng(seed)
    info = np.finfo(char)
    limit = float(np.log(info.max))
    quarters = rng.integers(1, 2**20, 256) * (np.longdouble(np.pi) / 2)
    near_one = 1 + rng.normal(size=128) * 2.0 ** rng.integers(-info.nmant, -2, 128)
    exact = [0.0, -0.0, 1, -1, INF, -INF, NAN, info.tiny, -info.tiny, info.max, -info.max, 0.5, 2]
    exact += [info.smallest_subnormal, limit, -limit, 2.0**20, 2.0**28, 6381956970095103 * 2.0**70]
    parts = [
        rng.integers(0, 2 ** (8 * info.bits // 8), 512, dtype=f"u{info.bits // 8}").view(char),
        rng.uniform(-10, 10, 512),
        rng.uniform(-1.1 * limit, 1.1 * limit, 256),
        rng.normal(size=128) * float(info.tiny),
        quarters,
        near_one,
        np.resize(np.array(exact, char), 256),
    ]
    return rng.permutation(np.concatenate([part.astype(char) for part in parts]))


def operands(name: str, char: str) -> list[Any]:
    return [numbers(char, seed) for seed in range(OPERANDS[name])]


@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("name", OPERANDS)
def test_the_host_has_the_bits_of_kernels(name: str, char: str) -> None:
    given = operands(name, char)
    function, of_numpy = getattr(usmx, name), getattr(np, name)
    there = [usmx.asarray(n, usm_type="device") for n in given]
    wanted = function(*there).to_numpy()
    for first in range(0, len(wanted), 256):
        few = [n[first : first + 256] for n in given]
        assert equal_bits(by_host(function, *few), wanted[first : first + 256])
        assert equal_bits(by_host(of_numpy, *few), wanted[first : first + 256])
    for count in (1, 2, 3, 7, 16, 33):
        few = [n[-count:] for n in given]
        assert equal_bits(by_host(function, *few), wanted[-count:])
    if len(given) == 2:
        one = usmx.asarray(given[1][:1], usm_type="device")
        got = by_host(function, given[0][:200].reshape(20, 10), given[1][:1])
        assert equal_bits(got, function(there[0][:200], one).to_numpy().reshape(20, 10))


@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("name", OPERANDS)
def test_kernels_with_other_operations_have_the_same_bits(name: str, char: str) -> None:
    given = operands(name, char)
    function, of_numpy = getattr(usmx, name), getattr(np, name)
    there = [usmx.asarray(n, usm_type="device") for n in given]
    wanted = function(*there).to_numpy()
    # The other operation is exact, and after it the same number is computed.
    chain = -function(*(x * 1 for x in there))
    assert len(usmx.explain(chain).kernels) == 1
    assert equal_bits(chain.to_numpy(), -wanted)
    negative, least = (
        (lambda x: -of_numpy(x), lambda x: np.min(of_numpy(x)))
        if len(given) == 1
        else (lambda x, y: -of_numpy(x, y), lambda x, y: np.min(of_numpy(x, y)))
    )
    assert equal_bits(usmx.fuse(negative)(*there).to_numpy(), -wanted)
    with usmx.eager():
        assert equal_bits(function(*there).to_numpy(), wanted)
    strided = function(*(x[::3] for x in there)).to_numpy()
    assert equal_bits(strided, wanted[::3])
    finite = np.isfinite(wanted)
    rest = [usmx.asarray(n[finite], usm_type="device") for n in given]
    assert usmx.max(function(*rest)).to_numpy() == wanted[finite].max()
    assert usmx.fuse(least)(*rest).to_numpy() == wanted[finite].min()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="longdouble is no more than double")
@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("name", OPERANDS)
def test_functions_are_within_one_ulp(name: str, char: str) -> None:
    given = [np.concatenate([numbers(char, 7 * k + s) for k in range(1, 20)]) for s in range(2)]
    given = given[: OPERANDS[name]]
    got = getattr(usmx, name)(*(usmx.asarray(n, usm_type="device") for n in given)).to_numpy()
    with np.errstate(all="ignore"):
        wide = [n.astype(np.float64 if char == "f" else np.longdouble) for n in given]
        exact = getattr(np, name)(*wide)
        wanted = exact.astype(char)
    assert (np.isnan(got) == np.isnan(wanted)).all()
    assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()
    both = np.isfinite(got) & np.isfinite(wanted)
    # Where one is infinite the other one is the largest number or infinite too.
    edge = ~both & ~np.isnan(wanted)
    assert (np.minimum(np.abs(got), np.abs(wanted))[edge] >= np.finfo(char).max).all()
    with np.errstate(over="ignore"):
        unit = np.spacing(np.abs(wanted[both]))
    unit[np.isinf(unit)] = np.spacing(np.finfo(char).max / 2) * 2  # of the largest numbers
    off = np.abs(got[both] - exact[both]) / unit.astype(exact.dtype)
    assert off.max() < 1


SPECIAL: list[tuple[Any, ...]] = [
    ("exp", 0.0, 1), ("exp", -0.0, 1), ("exp", INF, INF), ("exp", -INF, 0.0), ("exp", NAN, NAN),
    ("exp", 1e5, INF), ("exp", -1e5, 0.0),
    ("log", 1, 0.0), ("log", 0.0, -INF), ("log", -0.0, -INF), ("log", -1, NAN), ("log", INF, INF),
    ("log", -INF, NAN), ("log", NAN, NAN),
    ("sin", 0.0, 0.0), ("sin", -0.0, -0.0), ("sin", INF, NAN), ("sin", -INF, NAN),
    ("sin", NAN, NAN), ("cos", 0.0, 1), ("cos", -0.0, 1), ("cos", INF, NAN), ("cos", NAN, NAN),
    ("tanh", 0.0, 0.0), ("tanh", -0.0, -0.0), ("tanh", INF, 1), ("tanh", -INF, -1),
    ("tanh", NAN, NAN), ("tanh", 30, 1), ("tanh", -30, -1),
    ("arctan2", 0.0, 0.0, 0.0), ("arctan2", -0.0, 0.0, -0.0), ("arctan2", 0.0, -0.0, np.pi),
    ("arctan2", -0.0, -0.0, -np.pi), ("arctan2", 0.0, -1, np.pi), ("arctan2", -0.0, -1, -np.pi),
    ("arctan2", 0.0, 1, 0.0), ("arctan2", -0.0, 1, -0.0), ("arctan2", 1, 0.0, np.pi / 2),
    ("arctan2", 1, -0.0, np.pi / 2), ("arctan2", -1, 0.0, -np.pi / 2), ("arctan2", 1, INF, 0.0),
    ("arctan2", -1, INF, -0.0), ("arctan2", 1, -INF, np.pi), ("arctan2", -1, -INF, -np.pi),
    ("arctan2", INF, 1, np.pi / 2), ("arctan2", -INF, -1, -np.pi / 2),
    ("arctan2", INF, INF, np.pi / 4), ("arctan2", INF, -INF, 3 * np.pi / 4),
    ("arctan2", -INF, INF, -np.pi / 4), ("arctan2", -INF, -INF, -3 * np.pi / 4),
    ("arctan2", NAN, 1, NAN), ("arctan2", 1, NAN, NAN), ("arctan2", INF, NAN, NAN),
    ("arctan2", NAN, INF, NAN), ("arctan2", NAN, -INF, NAN), ("arctan2", 0.0, NAN, NAN),
    ("hypot", 0.0, -0.0, 0.0), ("hypot", -3, 4, 5), ("hypot", INF, NAN, INF),
    ("hypot", NAN, -INF, INF), ("hypot", NAN, 1, NAN), ("hypot", 0.0, NAN, NAN),
    ("hypot", -INF, 1, INF), ("hypot", 3e30, 4e30, 5e30),
]  # fmt: skip


@pytest.mark.parametrize("char", "fd")
@pytest.mark.parametrize("usm_type", ["shared", "device"])
def test_special_values_are_those_of_the_standard(char: str, usm_type: str) -> None:
    for name, *given, wanted in SPECIAL:
        arrays = [usmx.asarray(np.array([n], char), usm_type=usm_type) for n in given]
        got = getattr(usmx, name)(*arrays).to_numpy()
        assert equal_bits(got, np.array([wanted], char)), (name, given, got)
