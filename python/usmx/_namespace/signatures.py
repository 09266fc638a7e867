"""The signatures of operations, as the Array API standard publishes them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from inspect import Parameter, Signature


def of_operation(arity: int, chooses: bool) -> Signature:
    """`inspect.signature` of a function of the table of operations.

    Parameters
    ----------
    arity : int
        How many operands it takes.
    chooses : bool
        Whether the first one is a condition.
    """
    if chooses:
        names = ["condition", *(f"x{k}" for k in range(1, arity))]
    else:
        names = ["x"] if arity == 1 else [f"x{k}" for k in range(1, arity + 1)]
    positional = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    keywords = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in ("out", "dtype")]
    return Signature([*positional, *keywords])
