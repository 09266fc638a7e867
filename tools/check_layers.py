"""Checks the rules of the sources that no compiler checks; one line per break, exit code 1 if any.

* A folder below src/ is a room. A file includes only from its own room and from those before it.
* An SPDX line in each file. No path of one machine.
* ``sycl::free`` is called in one place; public headers do not include all of SYCL.
* Only src/runtime/wait.cpp waits for SYCL by itself.
* The bindings read text from Python, and make it, by support/text.hpp alone.

Length is advice: with ``--long`` it lists the files that may have two subjects.
"""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from own_files import ROOT, own_files

# The order of the folders below src/, which no folder can say by itself.
ROOMS = (
    "core",
    "trace",
    "runtime",
    "memory",
    "submission",
    "kernel",
    "transfer",
    "expression",
    "compute",
    "algorithm",
    "onemkl",
    "nvidia",
    "kit",
)
# What extensions include; the only public headers that see Python.
KIT = "kit"
FIRST_OF_SYCL = ROOMS.index("runtime")
# Public headers without a source of their name. All others stand in the room of their source.
WITHOUT_SOURCE = {
    "version": "core",
    "exit": "runtime",
    "operations": "compute",
    "resources": "memory",
    "umf": "memory",
    "detail/built_kernels": "kernel",
    "detail/functions": "compute",  # built from the table of operations
    "python_api": KIT,
    "detail/argument": KIT,
    "detail/explained_calls": KIT,
    "nanobind": KIT,
    "pybind11": KIT,
}

INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]")
SOURCES = {".cpp", ".hpp", ".h", ".py"}
LONG = 500
# Words that only a path of a developer's machine has.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users|tmp/[a-z])(?:/|\b)")
FREE = re.compile(r"\bsycl::free\s*\(")

# Forms that crash or hang on some drivers when several threads use them: usmx/wait.hpp has others.
RAW_WAIT = re.compile(r"\.\s*(wait_and_throw|ext_oneapi_empty)\s*\(")
WAITS = PurePosixPath("src/runtime/wait.cpp")
# What an event may be asked for is asked there: that of a host task has no context.
RAW_EVENT = re.compile(r"\bcommand_execution_status\b|\bevent\s*\.\s*get_backend\b")

# Null for lone surrogates, and where nanobind's own caster allocates it may not throw.
# Of a C string; that of an object says MemoryError.
NEW_TEXT = re.compile(r'nb::str\((?:"|name\(|[^()]*(?:\.|->)(?:c_str|data)\(\))')
NEW_CONTAINER = re.compile(r"nb::(?:list|dict|set) \w+;|nb::(?:list|dict|set)\(\)")
RAW_TEXT = re.compile(
    r"nb::cast<std::(?:string|vector<std::string>)"
    r"|nb::(?:str|repr|type_name)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\.c_str\(\)"
    r"|\[[^\]]*\]\([^)]*\bstd::(?:string|string_view)\b[^)]*\) \{"
)

Finding = tuple[int, str]
# The room of a public header ("array", "detail/built_kernels"); None if there is no such header.
RoomOf = Callable[[str], str | None]


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without their ``//`` comments, numbered from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        yield number, line.split("//", 1)[0]


def includes(text: str) -> Iterator[tuple[int, str]]:
    """What a C++ file includes, with line numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1]


def header_room(files: frozenset[str], name: str) -> str | None:
    """Read from where the source of the header stands; see ``RoomOf``."""
    if name in WITHOUT_SOURCE:
        return WITHOUT_SOURCE[name]
    for file in files:
        path = PurePosixPath(file)
        if (
            path.parts[0] == "src"
            and path.suffix == ".cpp"
            and path.stem == PurePosixPath(name).name
        ):
            return path.parts[1]
    return None


def included_room(included: str, room_of: RoomOf) -> str | None:
    """The room of a header of ours; None for a header of another project."""
    path = PurePosixPath(included)
    if path.parts[0] == "usmx" and path.suffix in (".hpp", ".h", ".inc"):
        return room_of(str(PurePosixPath(*path.parts[1:]).with_suffix("")))
    return path.parts[0] if path.parts[0] in ROOMS and len(path.parts) > 1 else None


def check_room(room: str, text: str, room_of: RoomOf) -> Iterator[Finding]:
    """A file of the library: only rooms before its own, SYCL and Python only where they belong."""
    place = ROOMS.index(room)
    for line, included in includes(text):
        other = included_room(included, room_of)
        first = included.split("/")[0]
        if other is not None and ROOMS.index(other) > place:
            yield line, f"includes {included} of the room {other}, which comes after {room}"
        elif first == "sycl" and place < FIRST_OF_SYCL:
            yield line, f"includes {included}, but the room {room} needs no SYCL"
        elif first in ("nanobind", "pybind11", "Python.h") and room != KIT:
            yield line, f"includes {included}, but only the kit and the bindings see Python"


def check_public(name: str, text: str, room_of: RoomOf) -> Iterator[Finding]:
    """A public header: in a room, and SYCL by narrow headers."""
    room = room_of(name)
    if room is None:
        yield 1, f"usmx/{name}.hpp is in no room: no source below src/ has its name"
        return
    for line, included in includes(text):
        if included == "sycl/sycl.hpp":
            yield line, "includes all of SYCL: include the narrow header"
        elif included.startswith("usmx/") and included_room(included, room_of) is None:
            yield line, f"includes {included}, which is in no room"
    yield from check_room(room, text, room_of)


def check_binding(text: str) -> Iterator[Finding]:
    """A binding file: not the casters, which are for extensions of others."""
    for line, included in includes(text):
        if included in ("usmx/nanobind.hpp", "usmx/pybind11.hpp"):
            yield line, f"includes {included}, which is for extensions; we are what it calls"
    for number, line in code_lines(text):
        if RAW_TEXT.search(line) and "nb::" in line:
            yield number, "reads a str by itself; use to_text, shown or repr_of of text.hpp"
        if NEW_TEXT.search(line):
            yield (
                number,
                "makes a str by nb::str; use new_text of text.hpp, which knows MemoryError",
            )
        if NEW_CONTAINER.search(line):
            yield number, "may be null without memory; use new_list() and so on of containers.hpp"


def check_file(path: PurePosixPath, text: str, room_of: RoomOf) -> list[Finding]:
    """Everything that is wrong with one file; ``path`` is relative to the checkout."""
    found: list[Finding] = []
    is_cpp = path.suffix in (".cpp", ".hpp", ".h")
    if path.is_relative_to("include/usmx"):
        name = str(path.relative_to("include/usmx").with_suffix(""))
        found += check_public(name, text, room_of)
    elif path.is_relative_to("src") and is_cpp:
        if path.parts[1] in ROOMS:
            found += check_room(path.parts[1], text, room_of)
        else:
            found.append((1, "is in no room: ROOMS in tools/check_layers.py names the folders"))
    elif path.is_relative_to("python/bindings"):
        found += check_binding(text)

    lines = text.splitlines()
    if lines and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:40]):
        found.append((1, "has no line `SPDX-License-Identifier: Apache-2.0`"))
    for number, line in enumerate(lines, 1):
        if path.name not in ("check_layers.py", "test_check_layers.py"):
            for match in MACHINE_PATH.finditer(line):
                found.append((number, f"names a path of one machine: {match[0]}"))
    return found


def free_calls(path: PurePosixPath, text: str) -> list[int]:
    """Lines on which the library itself gives USM back."""
    if path.parts[0] not in ("src", "include", "python") or path.suffix not in (".cpp", ".hpp"):
        return []
    return [number for number, line in code_lines(text) if FREE.search(line)]


def raw_waits(path: PurePosixPath, text: str) -> Iterator[Finding]:
    """Waits of the library that leave out the care of ``usmx/wait.hpp``."""
    if path.parts[0] not in ("src", "include", "python") or path == WAITS:
        return
    if path.suffix in (".cpp", ".hpp"):
        for number, line in code_lines(text):
            for match in RAW_WAIT.finditer(line):
                yield number, f"calls {match[1]}; usmx::wait and is_idle survive many threads"
            for match in RAW_EVENT.finditer(line):
                yield number, f"asks an event for {match[0]}; detail::status can be asked of all"


def check_tree(root: Path, files: list[str]) -> list[str]:
    """Messages for all files, sorted by file and line."""
    messages = []
    frees = []
    room_of = partial(header_room, frozenset(files))
    for name in sorted(files):
        path = PurePosixPath(name)
        if path.suffix not in SOURCES or not (root / path).is_file():
            continue
        text = (root / path).read_text(encoding="utf-8")
        found = check_file(path, text, room_of)
        messages += [f"{path}:{line}: {what}" for line, what in sorted(found)]
        messages += [f"{path}:{line}: {what}" for line, what in raw_waits(path, text)]
        frees += [f"{path}:{line}" for line in free_calls(path, text)]
    if len(frees) != 1:
        where = ", ".join(frees) or "nowhere"
        messages.append(f"sycl::free is called {where}; one call, in usm_resource, is the rule")
    return messages


def long_files(root: Path, files: list[str]) -> list[str]:
    """Where to ask whether a file has two subjects."""
    lengths = {
        name: len((root / name).read_text(encoding="utf-8").splitlines())
        for name in files
        if PurePosixPath(name).suffix in SOURCES and (root / name).is_file()
    }
    return [f"{name}: {n} lines" for name, n in sorted(lengths.items()) if n > LONG]


def main() -> int:
    """Check the files that git knows."""
    files = own_files()
    if "--long" in sys.argv[1:]:
        print(*long_files(ROOT, files), sep="\n")
        return 0
    messages = check_tree(ROOT, files)
    print(*messages, sep="\n", end="\n" if messages else "")
    print(f"layers: {len(messages)} broken rules")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
