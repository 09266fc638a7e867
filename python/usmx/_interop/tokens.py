"""What identifies the elements of an array, computed where they are.

Schedulers name a value by what it is made of; copying device memory to the host to
name it would cost more than most of what is done with it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from hashlib import blake2b
from typing import Any

from .. import _usmx

#: Fewer bytes than this are read by the host: a kernel costs more than the copy.
FEW = 1 << 14

#: Two sums with different constants are 128 bits.
SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


@cache
def _sum() -> _usmx.ReductionKernel:
    """A sum of words, each mixed with its place, so that equal words at other places differ."""
    return _usmx.ReductionKernel(
        "uint64 x, uint64 seed",
        "uint64 y",
        "mixed(x + mixed(seed + i))",
        "a + b",
        "y = a",
        "0",
        "token_of_elements",
        preamble="""
        inline uint64_t mixed(uint64_t v) {
          v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93ull;
          v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93ull;
          return v ^ (v >> 32);
        }
        """,
    )


def _digest(x: _usmx.ndarray) -> str:
    if x.nbytes == 0:
        return ""
    if not x.flags.c_contiguous or x.pointer % 8:
        x = x.copy("C")
    memory: Any = x.reshape(-1).view("uint8")
    if x.nbytes < FEW:
        return blake2b(memory.to_numpy().tobytes(), digest_size=16).hexdigest()
    whole = x.nbytes // 8 * 8
    words = memory[:whole].view("uint64")
    sums = [_sum()(words, seed).item() for seed in SEEDS]
    rest = memory[whole:].to_numpy().tobytes()
    return f"{sums[0]:016x}{sums[1]:016x}{rest.hex()}"


def token(x: _usmx.ndarray) -> tuple[object, ...]:
    """The same for the same elements, types and kind of memory on a device, in every process.

    Parameters
    ----------
    x : usmx.ndarray
        Computed first, if it was deferred.

    Returns
    -------
    tuple
        Of texts and numbers.
    """
    dtype = x.dtype
    return (
        "usmx.ndarray",
        tuple(x.shape),
        dtype.str if dtype.names is None else repr(dtype.descr),
        x.usm_type,
        x.queue.device.filter_string,
        x.flags.f_contiguous and not x.flags.c_contiguous,
        _digest(x),
    )
