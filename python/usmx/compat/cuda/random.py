"""Random numbers of kernels: ``numba.cuda.random``, with the same numbers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from usmx import _explained

from ..._kernel.language.cuda_functions import (
    xoroshiro128p_jump,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)
from ..numba_types import from_dtype
from .arrays import DeviceNDArray, device_array

#: A generator: two numbers of 64 bits.
xoroshiro128p_dtype: np.dtype[Any] = np.dtype([("s0", "u8"), ("s1", "u8")], align=True)
xoroshiro128p_type: Any = from_dtype(xoroshiro128p_dtype)
_MASK = 2**64 - 1
_JUMP = 0xD86B048B86AA9922_BEAC0467EBA5FACB


def _stepped(state: int) -> int:
    """A generator, as a number of 128 bits, after one number."""
    first, second = state & _MASK, state >> 64
    mixed = first ^ second
    new = ((first << 55 | first >> 9) & _MASK) ^ mixed ^ (mixed << 14 & _MASK)
    return new | ((mixed << 36 | mixed >> 28) & _MASK) << 64


def _jumped(state: int) -> int:
    """A generator 2**64 numbers later."""
    found = 0
    for k in range(128):
        if _JUMP >> k & 1:
            found ^= state
        state = _stepped(state)
    return found


@functools.lru_cache(maxsize=1)
def _jumps() -> list[list[int]]:
    """The powers of two of a jump, which is linear in the bits: what becomes of each bit."""
    return [[_jumped(1 << k) for k in range(128)]]


def _power(number: int) -> list[int]:
    """What becomes of each bit in ``2**number`` jumps."""
    known = _jumps()
    while len(known) <= number:
        last = known[-1]
        known.append([_applied(last, column) for column in last])
    return known[number]


def _applied(columns: list[int], state: int) -> int:
    found = 0
    while state:
        low = state & -state
        found ^= columns[low.bit_length() - 1]
        state ^= low
    return found


def _states(n: int, seed: int, first: int) -> np.ndarray[Any, Any]:
    """Generators that are `first`, `first` + 1, ... jumps behind the one of a seed."""
    # SplitMix64, so that small seeds give no simple bits.
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    z ^= z >> 31
    state, number = z | z << 64, 0
    while first >> number:
        if first >> number & 1:
            state = _applied(_power(number), state)
        number += 1
    found = np.empty(n, xoroshiro128p_dtype)
    if n == 0:
        return found
    found[0] = state & _MASK, state >> 64
    known, number = 1, 0
    while known < n:
        # The next ones are those that are known, 2**number jumps later.
        count = min(known, n - known)
        columns = _power(number)
        old = found[:count]
        low, high = np.zeros(count, "u8"), np.zeros(count, "u8")
        for k, column in enumerate(columns):
            bits = old["s0" if k < 64 else "s1"] >> np.uint64(k % 64) & np.uint64(1)
            chosen = np.uint64(0) - bits
            low ^= chosen & np.uint64(column & _MASK)
            high ^= chosen & np.uint64(column >> 64)
        found["s0"][known : known + count] = low
        found["s1"][known : known + count] = high
        known, number = known + count, number + 1
    return found


def init_xoroshiro128p_states(
    states: DeviceNDArray, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Set generators to subsequences of the sequence of a seed, 2**64 numbers apart.

    Parameters
    ----------
    states : device array of ``xoroshiro128p_dtype``
        The generators.
    seed : int
        Of the sequence.
    subsequence_start : int
        The subsequence of the first generator.
    stream
        Where the copy is submitted.
    """
    states.copy_to_device(_states(states.size, int(seed) & _MASK, int(subsequence_start)), stream)


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> DeviceNDArray:
    """New generators on the device.

    Parameters
    ----------
    n : int
        How many.
    seed, subsequence_start, stream
        As for `init_xoroshiro128p_states`.

    Returns
    -------
    DeviceNDArray
        An argument of kernels that call ``xoroshiro128p_uniform_float32(states, index)``.
    """
    made = device_array(n, xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(made, seed, subsequence_start, stream)
    return made


__all__ = [
    "create_xoroshiro128p_states", "init_xoroshiro128p_states", "xoroshiro128p_dtype",
    "xoroshiro128p_jump", "xoroshiro128p_next", "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64", "xoroshiro128p_type", "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]  # fmt: skip

_explained.explain(globals())
