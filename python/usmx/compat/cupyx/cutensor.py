"""``cupyx.cutensor``: products, sums and permutations of axes that have names, by `usmx.einsum`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import usmx as _usmx
from usmx import _explained

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _subscripts(*modes: Sequence[Any]) -> list[str]:
    """Letters for names of axes."""
    letters: dict[Any, str] = {}
    for mode in modes:
        for name in mode:
            letters.setdefault(name, _LETTERS[len(letters)])
    return ["".join(letters[name] for name in mode) for mode in modes]


def _only(others: dict[str, Any]) -> None:
    """Refuse operators other than a product, a sum and the number itself."""
    for name, value in others.items():
        if name.startswith("op_") or name == "reduce_op":
            raise NotImplementedError(
                f"{name}={value!r}: write the operation with usmx's functions"
            )


def _put(result: Any, like: Any, out: Any) -> Any:
    """The result in the type of an operand; in `out`, if it is given."""
    made = result.astype(like.dtype, copy=False)
    if out is None:
        return made
    out[...] = made
    return out


def _turned(a: Any, mode: Sequence[Any], to: Sequence[Any]) -> Any:
    """An array with its axes as those of another one; axes that only that has are repeated."""
    one, other = _subscripts(mode, to)
    if set(one) - set(other):
        raise ValueError(f"mode: {[*mode]}; expected names of the axes {[*to]}")
    kept = [c for c in other if c in one]
    found = _usmx.permute_dims(a, tuple(one.index(c) for c in kept))
    lengths = iter(found.shape)
    return found.reshape(tuple(next(lengths) if c in one else 1 for c in other))


def elementwise_binary(
    alpha: Any, A: Any, mode_A: Sequence[Any], gamma: Any, C: Any, mode_C: Sequence[Any],
    out: Any = None, **others: Any,
) -> Any:  # fmt: skip
    """``alpha * A + gamma * C``, with the axes of `C`.

    Parameters
    ----------
    alpha, gamma : number
        Factors.
    A, C : array
        Operands.
    mode_A, mode_C : sequence
        Names of their axes.
    out : array, optional
        Where the result goes.
    **others
        Operators of cuTENSOR are refused.
    """
    _only(others)
    return _put(alpha * _turned(A, mode_A, mode_C) + gamma * C, C, out)


def elementwise_trinary(
    alpha: Any, A: Any, mode_A: Sequence[Any], beta: Any, B: Any, mode_B: Sequence[Any],
    gamma: Any, C: Any, mode_C: Sequence[Any], out: Any = None, **others: Any,
) -> Any:  # fmt: skip
    """``alpha * A + beta * B + gamma * C``, with the axes of `C`.

    Parameters
    ----------
    alpha, beta, gamma : number
        Factors.
    A, B, C : array
        Operands.
    mode_A, mode_B, mode_C : sequence
        Names of their axes.
    out : array, optional
        Where the result goes.
    **others
        Operators of cuTENSOR are refused.
    """
    _only(others)
    found = alpha * _turned(A, mode_A, mode_C) + beta * _turned(B, mode_B, mode_C) + gamma * C
    return _put(found, C, out)


def reduction(
    alpha: Any, A: Any, mode_A: Sequence[Any], beta: Any, C: Any, mode_C: Sequence[Any],
    out: Any = None, **others: Any,
) -> Any:  # fmt: skip
    """``alpha * A`` summed over the axes that `C` has not, and ``beta * C``.

    Parameters
    ----------
    alpha, beta : number
        Factors.
    A, C : array
        Operands; the result goes to `C` if `out` is not given.
    mode_A, mode_C : sequence
        Names of their axes.
    out : array, optional
        Where the result goes.
    **others
        Operators of cuTENSOR are refused.
    """
    _only(others)
    one, to = _subscripts(mode_A, mode_C)
    found = alpha * _usmx.einsum(f"{one}->{to}", A)
    return _put(found if beta == 0 else found + beta * C, C, C if out is None else out)


def contraction(
    alpha: Any, A: Any, mode_A: Sequence[Any], B: Any, mode_B: Sequence[Any], beta: Any, C: Any,
    mode_C: Sequence[Any], out: Any = None, **others: Any,
) -> Any:  # fmt: skip
    """``alpha * A * B`` summed over the axes that `C` has not, and ``beta * C``.

    Parameters
    ----------
    alpha, beta : number
        Factors.
    A, B, C : array
        Operands; the result goes to `C` if `out` is not given.
    mode_A, mode_B, mode_C : sequence
        Names of their axes.
    out : array, optional
        Where the result goes.
    **others
        Operators of cuTENSOR are refused.
    """
    _only(others)
    one, two, to = _subscripts(mode_A, mode_B, mode_C)
    found = alpha * _usmx.einsum(f"{one},{two}->{to}", A, B)
    return _put(found if beta == 0 else found + beta * C, C, C if out is None else out)


__all__ = ["contraction", "elementwise_binary", "elementwise_trinary", "reduction"]

_explained.explain(globals())
