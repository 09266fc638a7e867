"""Errors that Python raises say where the page of troubleshooting explains them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TypeVar

from . import _usmx

Error = TypeVar("Error", bound=BaseException)


def with_link(error: Error) -> Error:
    """The error, with a note if the page has an entry for its message, as compiled code does."""
    note = _usmx._help_note(str(error))
    if note is not None:
        error.add_note(note)
    return error
