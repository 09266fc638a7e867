"""Writes the type stub of the compiled module, for ``make stubs`` and the test that compares it.

``python tools/make_stubs.py [file]``: prints the stub, or writes it to the file.
"""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

from usmx import _usmx

HEADER = '''"""The compiled half of the package. Written by `make stubs`; do not edit."""
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa

'''


class OurName(str):
    """The module's name, equal to that of each module of the package.

    Classes and functions say that they live in ``usmx``, where users find them; the stub is about
    where they are defined.
    """

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.split(".")[0] == "usmx"

    def __ne__(self, other: object) -> bool:
        return not self == other


def stub() -> str:
    """The text of ``python/usmx/_usmx.pyi``."""
    _usmx.__name__ = OurName(_usmx.__name__)
    generator = StubGen(_usmx, include_private=True)
    generator.put(_usmx)
    # What the module defines is at hand: going through the package would be a circle.
    text = re.sub(
        r"\busmx\.(?:memory\.|_usmx\.)?(\w+)",
        lambda m: m[1] if hasattr(_usmx, m[1]) else m[0],
        generator.get(),
    )
    text = re.sub(r"^import usmx\.memory\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^_api: .*$", "_api: object\n\n__version__: str", text, flags=re.MULTILINE)
    return HEADER + text.rstrip() + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(stub(), encoding="utf-8")
    else:
        print(stub(), end="")
