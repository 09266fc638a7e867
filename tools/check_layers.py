"""Checks the rules of the sources that no compiler checks; one line per break, exit code 1 if any.

* A file includes only what stands above it in LAYERS.
* Length: headers 250 lines, everything else 500. An SPDX line. No path of somebody's machine.
* ``sycl::free`` is called in one place; public headers do not include all of SYCL.
* Only src/wait.cpp waits for SYCL by itself.
* The bindings read text from Python by text.hpp alone.
"""
# SPDX-License-Identifier: Apache-2.0

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# Each layer sees itself and the layers above it. `services` see no other service.
LAYERS = {
    "std": "version error dtype promotion layout view suai trace",
    "sycl": "cpu_driver runtime wait exit memory_resource memory pool queue_ordered umf resources "
    "array program_cache launch_range kernel detail/inspection detail/built_kernels expression "
    "copy",
    "services": "elementwise reduction scan",
    "kit": "python_api detail/nanobind_argument nanobind",
}
# Inside a layer the order counts too: a header includes only what stands before it.
ORDER = [name for names in LAYERS.values() for name in names.split()]
SERVICES = set(LAYERS["services"].split())
FIRST_OF_SYCL = ORDER.index("runtime")
FIRST_OF_KIT = ORDER.index("python_api")

INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]")
SOURCES = {".cpp", ".hpp", ".h", ".py"}
# Words that only a path of a developer's machine has.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users|tmp/[a-z])(?:/|\b)")
FREE = re.compile(r"\bsycl::free\s*\(")

# Forms that crash or hang on some drivers when several threads use them: usmx/wait.hpp has others.
RAW_WAIT = re.compile(r"\.\s*(wait_and_throw|ext_oneapi_empty)\s*\(")

# Null for lone surrogates, and where nanobind's own caster allocates it may not throw.
RAW_TEXT = re.compile(
    r"nb::cast<std::(?:string|vector<std::string>)"
    r"|nb::(?:str|repr|type_name)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\.c_str\(\)"
    r"|\[[^\]]*\]\([^)]*\bstd::(?:string|string_view)\b[^)]*\) \{"
)

Finding = tuple[int, str]


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without their ``//`` comments, numbered from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        yield number, line.split("//", 1)[0]


def includes(text: str) -> Iterator[tuple[int, str]]:
    """What a C++ file includes, with line numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1]


def own_header(included: str) -> str | None:
    """``usmx/detail/x.hpp`` -> ``detail/x``; None for somebody else's header."""
    path = PurePosixPath(included)
    if path.parts[:1] != ("usmx",) or path.suffix != ".hpp":
        return None
    return str(PurePosixPath(*path.parts[1:]).with_suffix(""))


def check_header(name: str, text: str) -> Iterator[Finding]:
    """A public header: only what stands above it, and SYCL only from its layer on."""
    if name not in ORDER:
        yield 1, f"usmx/{name}.hpp stands in no layer: add it to LAYERS in tools/check_layers.py"
        return
    place = ORDER.index(name)
    for line, included in includes(text):
        other = own_header(included)
        if included == "sycl/sycl.hpp":
            yield line, "includes all of SYCL: include the narrow header"
        elif included.startswith("sycl/") and place < FIRST_OF_SYCL:
            yield line, f"includes {included}, but usmx/{name}.hpp needs no SYCL"
        elif included.split("/")[0] in ("nanobind", "Python.h") and place < FIRST_OF_KIT:
            yield line, f"includes {included}, but only the kit and the bindings see Python"
        elif other is not None and other not in ORDER:
            yield line, f"includes usmx/{other}.hpp, which stands in no layer"
        elif other is not None and ORDER.index(other) >= place:
            yield line, f"includes usmx/{other}.hpp, which stands below it"
        elif other in SERVICES and name in SERVICES:
            yield line, f"includes usmx/{other}.hpp: a service uses no other service"


def check_source(path: PurePosixPath, text: str) -> Iterator[Finding]:
    """A source of the library: no Python; the sources of the std-only headers no SYCL."""
    std_only = path.stem in LAYERS["std"].split()
    for line, included in includes(text):
        other = own_header(included)
        if included.split("/")[0] in ("nanobind", "Python.h"):
            yield line, f"includes {included}, but only the kit and the bindings see Python"
        elif other is not None and other in ORDER and ORDER.index(other) >= FIRST_OF_KIT:
            yield line, f"includes usmx/{other}.hpp, which is for extensions"
        elif std_only and (
            included.startswith("sycl/")
            or (other is not None and ORDER.index(other) >= FIRST_OF_SYCL)
        ):
            yield line, f"includes {included}, but {path} needs no SYCL"


def check_binding(text: str) -> Iterator[Finding]:
    """A binding file: not the casters, which are for other people's extensions."""
    for line, included in includes(text):
        if included == "usmx/nanobind.hpp":
            yield line, "includes usmx/nanobind.hpp, which is for extensions; we are what it calls"
    for number, line in code_lines(text):
        if RAW_TEXT.search(line) and "nb::" in line:
            yield number, "reads a str by itself; use to_text, shown or repr_of of text.hpp"


def check_file(path: PurePosixPath, text: str) -> list[Finding]:
    """Everything that is wrong with one file; ``path`` is relative to the checkout."""
    found: list[Finding] = []
    public = path.is_relative_to("include/usmx")
    if public:
        name = str(path.relative_to("include/usmx").with_suffix(""))
        found += check_header(name, text)
    elif path.is_relative_to("src") and path.suffix == ".cpp":
        found += check_source(path, text)
    elif path.is_relative_to("python/bindings"):
        found += check_binding(text)

    lines = text.splitlines()
    limit = 250 if public else 500
    if len(lines) > limit:
        found.append((len(lines), f"has {len(lines)} lines; {limit} are the limit"))
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
    if path.parts[0] not in ("src", "include", "python") or path == PurePosixPath("src/wait.cpp"):
        return
    if path.suffix in (".cpp", ".hpp"):
        for number, line in code_lines(text):
            for match in RAW_WAIT.finditer(line):
                yield number, f"calls {match[1]}; usmx::wait and is_idle survive many threads"


def check_tree(root: Path, files: list[str]) -> list[str]:
    """Messages for all files, sorted by file and line."""
    messages = []
    frees = []
    for name in sorted(files):
        path = PurePosixPath(name)
        if path.suffix not in SOURCES or not (root / path).is_file():
            continue
        text = (root / path).read_text(encoding="utf-8")
        messages += [f"{path}:{line}: {what}" for line, what in sorted(check_file(path, text))]
        messages += [f"{path}:{line}: {what}" for line, what in raw_waits(path, text)]
        frees += [f"{path}:{line}" for line in free_calls(path, text)]
    if len(frees) != 1:
        where = ", ".join(frees) or "nowhere"
        messages.append(f"sycl::free is called {where}; one call, in usm_resource, is the rule")
    return messages


def main() -> int:
    """Check the files that git knows."""
    root = Path(__file__).resolve().parents[1]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    messages = check_tree(root, listed.stdout.splitlines())
    print(*messages, sep="\n", end="\n" if messages else "")
    print(f"layers: {len(messages)} broken rules")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
