"""The arguments of NumPy's functions as those of the functions of `usmx` of the same name.

``np.clip(x, a_min=0, a_max=1)`` and ``np.linalg.svd(x, False)`` name and place their arguments in
NumPy's way; functions of `usmx` have the names of the Array API standard, many of them by place
only.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@cache
def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...] | None:
    """Without further keywords; None where they cannot be told, or if any number has no names."""
    try:
        known = signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is Parameter.VAR_POSITIONAL for one in known):
        return None
    return tuple(one for one in known if one.kind is not Parameter.VAR_KEYWORD)


@cache
def _taken(function: Callable[..., Any]) -> tuple[int, frozenset[str]] | None:
    """How many arguments it takes by place, and which by name."""
    own = _parameters(function)
    if own is None:
        return None
    return (
        sum(one.kind is not Parameter.KEYWORD_ONLY for one in own),
        frozenset(one.name for one in own if one.kind is not Parameter.POSITIONAL_ONLY),
    )


def fitted(
    theirs: Callable[..., Any],
    ours: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> tuple[Iterable[Any], dict[str, Any]]:
    """Arguments for `ours` that say what these say to `theirs`.

    An argument goes to the parameter of the same name, else to the one in the same place. What has
    neither keeps its name, which the function then refuses, unless it is NumPy's default.
    """
    taken = _taken(ours)
    if taken is None or (len(args) <= taken[0] and keywords.keys() <= taken[1]):
        return args, keywords
    numpys, own = _parameters(theirs), _parameters(ours)
    if numpys is None or own is None or len(args) > len(numpys):
        return args, keywords
    placed = [one for one in own if one.kind is not Parameter.KEYWORD_ONLY]
    places, named = [one.name for one in placed], taken[1]
    given = {one.name: value for one, value in zip(numpys, args, strict=False)}
    if given.keys() & keywords.keys():
        return args, keywords  # twice the same one
    given |= keywords
    by_place: dict[int, Any] = {}
    by_name: dict[str, Any] = {}
    for k, one in enumerate(numpys):
        if one.name not in given:
            continue
        value = given.pop(one.name)
        if one.name in named:
            by_name[one.name] = value
        elif k < len(places):
            by_place[k] = value
        elif value is not one.default:
            by_name[one.name] = value
    for k in range(max(by_place, default=-1)):
        if k not in by_place:
            by_place[k] = by_name.pop(places[k], placed[k].default)
    return [by_place[k] for k in sorted(by_place)], {**by_name, **given}
