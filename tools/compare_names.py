"""Writes docs/comparison.md: which of NumPy's functions CuPy, dpnp and usmx have.

Libraries for different devices are installed in environments of their own, so it takes two steps:

    python tools/compare_names.py names numpy > numpy.json     # in an environment with that library
    python tools/compare_names.py page numpy.json cupy.json dpnp.json usmx.json > docs/comparison.md
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

#: The parts of NumPy that are compared, under the names that all four give them.
PARTS = ("", "linalg", "fft", "random")
#: About the interpreter, NumPy itself, or types of elements that hold Python's objects and texts.
NO_FUNCTIONS = {
    *("add_newdoc", "add_newdoc_ufunc", "asmatrix", "bmat", "busday_count", "busday_offset"),
    *("bytes_", "datetime_as_string", "datetime_data", "get_bit_generator", "get_include"),
    *("get_state", "getbufsize", "info", "is_busday", "isnat", "set_bit_generator", "set_state"),
    *("setbufsize", "show_config", "show_runtime", "test", "typename"),
}


def names_of(library: str) -> dict[str, Any]:
    """The version of a library, and which of NumPy's functions each of its parts has."""
    found: dict[str, list[str]] = {}
    for part in PARTS:
        theirs = importlib.import_module(f"numpy.{part}" if part else "numpy")
        ours = importlib.import_module(f"{library}.{part}" if part else library)
        found[part] = [
            name
            for name in dir(theirs)
            if not name.startswith("_") and name not in NO_FUNCTIONS
            if callable(getattr(theirs, name)) and not inspect.isclass(getattr(theirs, name))
            if has(ours, name)
        ]
    return {"name": library, "version": importlib.import_module(library).__version__, "has": found}


def has(module: Any, name: str) -> bool:
    """Whether a module has a name; a library may say that a function is not there by any error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return callable(getattr(module, name))
        except Exception:
            return False


def page(numpy: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """The page as Markdown."""
    wanted = numpy["has"]
    versions = ", ".join(f"{o['name']} {o['version']}" for o in others if o["name"] != "usmx")
    lines = [
        "# Which functions of NumPy there are",
        "",
        f"The functions of NumPy {numpy['version']} by name, in {versions} and this version of "
        "usmx. A name says that a function is there, not that it takes each of NumPy's arguments.",
        "In usmx the functions of printing and settings are NumPy's own; numbers of the legacy "
        "generator (`usmx.random.normal`) are not NumPy's.",
        "",
        "| | NumPy | " + " | ".join(o["name"] for o in others) + " |",
        "|---|---|" + "---|" * len(others),
    ]
    for part, names in wanted.items():
        have = [sum(n in o["has"][part] for n in names) for o in others]
        lines.append(
            f"| `numpy{'.' + part if part else ''}` | {len(names)} | "
            + " | ".join(str(count) for count in have)
            + " |"
        )
    for part, names in wanted.items():
        lines += [
            "",
            f"## numpy{'.' + part if part else ''}",
            "",
            "| function | " + " | ".join(o["name"] for o in others) + " |",
            "|---|" + "---|" * len(others),
        ]
        for n in names:
            marks = ["yes" if n in o["has"][part] else "" for o in others]
            lines.append(f"| `{n}` | " + " | ".join(marks) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    match sys.argv[1:]:
        case ["names", library]:
            json.dump(names_of(library), sys.stdout)
        case ["page", numpy, *others] if others:
            read = [json.loads(Path(o).read_text(encoding="utf-8")) for o in (numpy, *others)]
            sys.stdout.write(page(read[0], read[1:]))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
