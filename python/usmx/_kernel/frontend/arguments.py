"""The arguments of a call, as a kernel writes them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast

from .walk import Walk


def in_order(walk: Walk, node: ast.Call, least: int, most: int | None = None) -> list[ast.expr]:
    """The arguments of a call that takes no keywords."""
    most = least if most is None else most
    name = ast.unparse(node.func)
    if node.keywords:
        raise walk.error(node.keywords[0].value, f"'{name}' takes no keyword arguments in kernels")
    if not least <= len(node.args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise walk.error(node, f"'{name}' takes {wanted} arguments, got {len(node.args)}")
    return node.args


def by_name(walk: Walk, node: ast.Call, *names: str) -> list[ast.expr | None]:
    """The arguments of a call by position or name; None for those that are missing."""
    found: list[ast.expr | None] = [*node.args, *([None] * (len(names) - len(node.args)))]
    if len(node.args) > len(names):
        raise walk.error(node, f"takes {len(names)} arguments, got {len(node.args)}")
    for keyword in node.keywords:
        if keyword.arg not in names:
            raise walk.error(
                keyword.value,
                f"'{ast.unparse(node.func)}' has no parameter "
                f"'{keyword.arg}'; it has {', '.join(names)}",
            )
        found[names.index(keyword.arg)] = keyword.value
    return found
