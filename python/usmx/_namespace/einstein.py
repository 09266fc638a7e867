"""Sums of products written with labels of axes: ``einsum("ij,jk->ik", a, b)``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import prod
from typing import Any

from .. import _usmx
from ._common import as_array, as_arrays
from ._outputs import check_cast, written
from .data_types import result_type, to_dtype
from .linear_algebra import diagonals, matmul
from .ufunc_arguments import in_order

__all__ = ["einsum", "einsum_path"]

_DOTS = "..."


def _labels(text: str, name: str) -> list[str]:
    """The labels of a term; dots are one of them."""
    text = text.replace(" ", "")
    before, dots, after = text.partition(_DOTS)
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise ValueError(f"subscripts: {name} has {letter!r}; expected letters and '...'")
    return [*before, *([_DOTS] if dots else []), *after]


def _from_lists(given: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The form ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` as text and operands."""

    def text(labels: Any) -> str:
        made = []
        for label in labels:
            if label is Ellipsis:
                made.append(_DOTS)
            elif isinstance(label, int) and 0 <= label < 52:
                made.append(chr(label + (65 if label < 26 else 71)))
            else:
                raise ValueError(f"subscripts: {label!r}; expected integers from 0 to 51 or '...'")
        return "".join(made)

    pairs = len(given) // 2
    terms = ",".join(text(given[2 * k + 1]) for k in range(pairs))
    result = f"->{text(given[-1])}" if len(given) % 2 else ""
    return terms + result, [given[2 * k] for k in range(pairs)]


def _parsed(
    text: str, arrays: list[_usmx.ndarray]
) -> tuple[list[list[str]], list[str], dict[str, int]]:
    """Labels of each operand and of the result, dots as labels of their own; all lengths."""
    left, arrow, right = text.partition("->")
    terms = [_labels(term, f"operand {k}") for k, term in enumerate(left.split(","))]
    if len(terms) != len(arrays):
        raise ValueError(f"subscripts: {text!r} has {len(terms)} operands; {len(arrays)} are given")
    most = 0
    for k, (term, x) in enumerate(zip(terms, arrays, strict=True)):
        own = len(term) - (_DOTS in term)
        if own > x.ndim or (own < x.ndim and _DOTS not in term):
            raise ValueError(f"subscripts: operand {k} has {own} labels for the shape {x.shape}")
        if _DOTS in term:
            most = max(most, x.ndim - own)
    dots = [f".{k}" for k in range(most)]

    def spread(term: list[str], count: int) -> list[str]:
        if _DOTS not in term:
            return term
        place = term.index(_DOTS)
        return [*term[:place], *dots[most - count :], *term[place + 1 :]]

    inputs = [spread(term, x.ndim - len(term) + 1) for term, x in zip(terms, arrays, strict=True)]
    letters = [label for term in inputs for label in term if label not in dots]
    if arrow:
        named = _labels(right, "the result")
        if most and _DOTS not in named:
            raise ValueError(f"subscripts: {text!r} has '...', the result does not")
        result = spread(named, most)
    else:
        result = dots + sorted(label for label in set(letters) if letters.count(label) == 1)
    if len(set(result)) != len(result):
        raise ValueError(f"subscripts: the result {right!r} has a label twice")
    lengths: dict[str, int] = {}
    for k, (term, x) in enumerate(zip(inputs, arrays, strict=True)):
        for label, length in zip(term, x.shape, strict=True):
            known = lengths.get(label, 1)
            if known != 1 and length not in (1, known):
                raise ValueError(
                    f"operand {k}: has length {length} along {label!r}, another one {known}"
                )
            lengths[label] = known if length == 1 else length
    for label in result:
        if label not in lengths:
            raise ValueError(f"subscripts: the result has {label!r}, which no operand has")
    return inputs, result, lengths


def _single(x: _usmx.ndarray, labels: list[str], kept: set[str]) -> tuple[_usmx.ndarray, list[str]]:
    """Diagonals of labels that are there twice, and sums over those that nothing needs."""
    labels = [*labels]
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            row = labels.index(label)
            column = labels.index(label, row + 1)
            if x.shape[row] != x.shape[column]:  # one of them is 1
                longer = max(x.shape[row], x.shape[column])
                shape = [longer if k in (row, column) else n for k, n in enumerate(x.shape)]
                x = _usmx.broadcast_to(x, tuple(shape))
            rest = [k for k in range(x.ndim) if k not in (row, column)]
            x = diagonals(x.transpose((*rest, row, column)))
            labels = [labels[k] for k in rest] + [label]
    gone = tuple(k for k, label in enumerate(labels) if label not in kept)
    return _summed(x, gone), [label for label in labels if label in kept]


def _summed(x: _usmx.ndarray, axes: tuple[int, ...]) -> _usmx.ndarray:
    from .statistics import any as any_of
    from .statistics import sum as total

    if not axes:
        return x
    return any_of(x, axis=axes) if x.dtype.kind == "b" else total(x, axis=axes, dtype=x.dtype)


def _pair(
    a: _usmx.ndarray, left: list[str], b: _usmx.ndarray, right: list[str], kept: set[str]
) -> tuple[_usmx.ndarray, list[str]]:
    """The product of two operands, summed over what they share and nothing else needs."""
    # An axis of length 1 meets a longer one as if it were not there.
    for label in [label for label in left if label in right]:
        p, q = left.index(label), right.index(label)
        if a.shape[p] != b.shape[q]:
            if a.shape[p] == 1:
                a, left = a.squeeze(p), [x for x in left if x != label]
            else:
                b, right = b.squeeze(q), [x for x in right if x != label]
    a, left = _single(a, left, kept | set(right))
    b, right = _single(b, right, kept | set(left))
    both = [label for label in left if label in right]
    stack = [label for label in both if label in kept]
    inner = [label for label in both if label not in kept]
    rows = [label for label in left if label not in both]
    columns = [label for label in right if label not in both]
    a = a.transpose(tuple(left.index(x) for x in (*stack, *rows, *inner)))
    b = b.transpose(tuple(right.index(x) for x in (*stack, *inner, *columns)))
    of_stack = a.shape[: len(stack)]
    of_rows = a.shape[len(stack) : len(stack) + len(rows)]
    of_columns = b.shape[len(stack) + len(inner) :]
    labels = [*stack, *rows, *columns]
    if not inner:
        made: _usmx.ndarray = a.reshape((*of_stack, *of_rows, *(1,) * len(columns))) * b.reshape(
            (*of_stack, *(1,) * len(rows), *of_columns)
        )
        return made, labels
    length = prod(a.shape[len(stack) + len(rows) :])
    product = matmul(
        a.reshape((*of_stack, prod(of_rows), length)),
        b.reshape((*of_stack, length, prod(of_columns))),
    )
    return product.reshape((*of_stack, *of_rows, *of_columns)), labels


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: _usmx.ndarray | None = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> _usmx.ndarray:
    """Add products of elements; letters say which axes meet, as in NumPy.

    Of one operand of which nothing is summed the result is a view.

    Parameters
    ----------
    subscripts : str
        The letters of the axes of each operand, such as ``"ij,jk->ik"``. A letter that the result
        lacks is summed over. Without an arrow the result has the letters that are there once, in
        order. ``...`` stands for axes that broadcast.
    *operands : array
        As many as there are terms. ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` is another form.
    out : ndarray, optional
        The result is written into this array.
    dtype : dtype, optional
        The type that is computed in; by default that of the operands together.
    order : {'K', 'C', 'F', 'A'}, optional
        The order of the elements in memory; 'K' and 'A' leave it open.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional
        What may be cast to `dtype`, and to the type of `out`.
    optimize : bool or str, optional
        For callers of NumPy's function. Operands are joined from left to right, each step as a
        product of matrices.

    Returns
    -------
    ndarray
        Of the axes that the text behind the arrow names.

    Raises
    ------
    ValueError
        The letters do not match the operands, or lengths differ.
    TypeError
        A cast that the rule does not allow.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.einsum("ij,j->i", usmx.asarray([[1, 2], [3, 4]]), usmx.asarray([1, 10])))
    [21, 43]
    """
    if isinstance(subscripts, str):
        text, given = subscripts, [*operands]
    else:
        text, given = _from_lists((subscripts, *operands))
    if not given:
        raise ValueError("operands: none are given; expected one for each term")
    arrays = as_arrays(given)
    chosen = result_type(*arrays) if dtype is None else dtype
    for x in map(as_array, arrays):
        check_cast(x.dtype, to_dtype(chosen), casting, "dtype")
    arrays = [x.astype(chosen, copy=False) for x in map(as_array, arrays)]
    inputs, result, _ = _parsed(text, arrays)
    made, labels = arrays[0], inputs[0]
    for k in range(1, len(arrays)):
        kept = {*result, *(label for term in inputs[k + 1 :] for label in term)}
        made, labels = _single(made, labels, kept | set(inputs[k]))
        other, others = _single(arrays[k], inputs[k], kept | set(labels))
        made, labels = _pair(made, labels, other, others, kept)
    made, labels = _single(made, labels, set(result))
    turned = made.transpose(tuple(labels.index(label) for label in result)) if result else made
    if out is not None:
        return written(turned, out, casting)
    return in_order(turned, order)


def einsum_path(*operands: Any, optimize: Any = "greedy") -> Any:
    """The order in which NumPy would contract operands, and a text that explains it.

    Parameters
    ----------
    *operands : array
        As those of `einsum`: subscripts and arrays.
    optimize : bool, str or sequence, optional
        NumPy's way to find it.

    Returns
    -------
    tuple of (list, str)
        Pairs of operands to contract, and the cost of that order. `einsum` finds its own.

    Examples
    --------
    >>> import usmx
    >>> path, text = usmx.einsum_path("ij,jk->ik", usmx.ones((2, 3)), usmx.ones((3, 4)))
    >>> path
    ['einsum_path', (0, 1)]
    """
    import numpy as np

    # Only shapes count.
    given: list[Any] = [
        x if isinstance(x, (str, list, tuple)) else np.broadcast_to(np.empty(()), as_array(x).shape)
        for x in operands
    ]
    return np.einsum_path(*given, optimize=optimize)
