"""Writes the type stub of the compiled module, when the build has linked it.

``python tools/make_stubs.py FOLDER`` imports the package in that folder and writes its
``_usmx.pyi``; without a folder it prints the stub of the package that is installed.
"""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

from nanobind.stubgen import StubGen, load_pattern_file

#: The package that is to have a stub, and nothing else of its kind.
FOLDERS = [Path(folder).resolve() for folder in sys.argv[1:2]]
sys.path[:0] = [str(folder.parent) for folder in FOLDERS]

import usmx.typing  # noqa: E402
from usmx import _usmx  # noqa: E402

HEADER = '''"""The compiled half of the package. Built from its bindings; do not edit."""
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa

'''


# The names that signatures in the bindings use, and where they are.
IMPORTED = {
    **dict.fromkeys(("Callable", "Generator", "Mapping", "Sequence"), "collections.abc"),
    "PathLike": "os",
    **dict.fromkeys(("Any", "ClassVar", "Never", "NoReturn", "Self", "SupportsIndex"), "typing"),
    "Buffer": "typing_extensions",
    "CapsuleType": "typing_extensions",
    "LocalMemory": "usmx",
    **dict.fromkeys(usmx.typing.__all__, "usmx.typing"),
}


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
    """The text of ``_usmx.pyi``."""
    _usmx.__name__ = OurName(_usmx.__name__)
    patterns = load_pattern_file(str(Path(__file__).with_name("stub_patterns.txt")))
    generator = StubGen(_usmx, include_private=True, patterns=patterns)
    generator.put(_usmx)
    # What the module defines is at hand: going through the package would be a circle.
    text = re.sub(
        r"\busmx\.(?:memory\.|_usmx\.)?(\w+)",
        lambda m: m[1] if hasattr(_usmx, m[1]) else m[0],
        generator.get(),
    )
    text = re.sub(r"^import usmx\.memory\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^_api: .*$", "_api: object\n\n__version__: str", text, flags=re.MULTILINE)
    # The class has a property `str`, so that the type needs its full name there.
    text = re.sub(
        r"^class dtype:\n(?:    .*\n|\n)*",
        lambda m: re.sub(r"(-> (?:tuple\[)?)str\b", r"\1builtins.str", m[0]),
        text,
        flags=re.MULTILINE,
    )
    unused = [pattern.query.pattern for pattern in patterns if pattern.matches == 0]
    if unused:
        raise ValueError(f"stub_patterns.txt: these fit nothing: {', '.join(unused)}")
    return HEADER + imports(text) + text.strip() + "\n"


def imports(text: str) -> str:
    """The imports of the names in signatures, other than those that the generator wrote."""
    code = re.sub(r'"""(?:.|\n)*?"""', "", text)
    wanted: dict[str, list[str]] = {}
    for name, module in IMPORTED.items():
        is_there = re.search(rf"^from .* import .*\b{name}\b", code, flags=re.MULTILINE)
        if re.search(rf"\b{name}\b", code) and not is_there:
            wanted.setdefault(module, []).append(name)
    lines = [f"from {module} import {', '.join(names)}" for module, names in wanted.items()]
    return "\n".join(["import builtins", *lines, ""])


def main() -> int:
    """Write or print it."""
    text = stub()
    if not FOLDERS:
        print(text, end="")
        return 0
    (folder,) = FOLDERS
    if Path(usmx.__file__).absolute().parent.resolve() != folder:
        raise ImportError(f"{folder} was asked for, and {usmx.__file__} was imported")
    new = folder / "._usmx.pyi.new"
    new.write_text(text, encoding="utf-8")
    new.replace(folder / "_usmx.pyi")
    return 0


if __name__ == "__main__":
    sys.exit(main())
