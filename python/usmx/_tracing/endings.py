"""What the ending of a file's name asks for: files say what they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os


def ending(path: str | os.PathLike[str], known: tuple[str, ...]) -> str:
    """The ending of a name, in lower case; empty without one.

    Parameters
    ----------
    path : path-like
        The name.
    known : tuple of str
        Those that are written.

    Raises
    ------
    ValueError
        The name has another ending.
    """
    found = os.path.splitext(os.fspath(path))[1].lower()
    if found and found not in known:
        raise ValueError(
            f"path: {os.fspath(path)!r}; expected a name that ends in "
            f"{' or '.join(map(repr, known))}"
        )
    return found
