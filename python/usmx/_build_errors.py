"""Texts of kernels that could not be compiled say what to write, behind what the compiler says.

The error is made by compiled code; each of its objects begins here, wherever it comes from.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ._usmx import BuildError, _ExplainedFunction


def _begin(self: BuildError, /, *args: object) -> None:
    RuntimeError.__init__(self, *args)
    from ._build_hints import hints_for

    for hint in hints_for(str(self)):
        self.add_note(hint)


def install() -> None:
    """Let the class begin so."""
    setattr(BuildError, "__init__", _ExplainedFunction(_begin, "usmx.BuildError", 1))  # noqa: B010
