"""Counts the files that a warm call enters, for the table of docs/decisions/0115.

Of C++ a file counts if one of its lines runs once more with each call, headers too, as gcov counts
in a build without optimization; of Python if one of its functions is called. Kernels on the device
are not seen, nor are other libraries.

    cmake -S . -B build/coverage -DCMAKE_BUILD_TYPE=Debug -DUSMX_BUILD_TESTS=OFF \\
        -DCMAKE_CXX_FLAGS="--coverage -O0 -g0" -DCMAKE_SHARED_LINKER_FLAGS=--coverage \\
        -DCMAKE_MODULE_LINKER_FLAGS=--coverage
    cmake --build build/coverage --target usmx_package
    python tools/walks.py build/coverage            # all of them
    python tools/walks.py build/coverage sort       # one, with its files
"""
# SPDX-License-Identifier: Apache-2.0

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Calls of the second run beyond those of the first.
MORE = 16

#: What is set up, and one call; the arrays are those of users, in the device's default memory.
WALKS = {
    "asarray of memory": ("m = usmx.memory.MemoryUSMShared(80)", "usmx.asarray(m)"),
    "copy": ("a, b = np.zeros(99), usmx.zeros(99, usm_type='device')", "usmx.copy(a, b)"),
    "empty": ("", "usmx.empty(99)"),
    "x + y, small": ("x = usmx.ones(10); y = usmx.ones(10)", "x + y"),
    "x + y, deferred": ("x = usmx.ones(9999); y = usmx.ones(9999)", "x + y"),
    "x + y, computed": ("x = usmx.ones(9999); y = usmx.ones(9999)", "(x + y).wait()"),
    "x.sum(axis=0), computed": ("x = usmx.ones((999, 99))", "x.sum(axis=0).wait()"),
    "launch of @usmx.kernel": (
        "x = usmx.ones(9999)\nexec(compile(open(KERNEL).read(), KERNEL, 'exec'), globals())",
        "twice[9999](x)",
    ),
    "sort of ten": ("x = usmx.ones(10)", "usmx.sort(x)"),
    "sort": ("x = usmx.asarray(np.random.default_rng(1).normal(size=9999))", "usmx.sort(x)"),
    "solve": ("x = usmx.asarray(np.eye(9) * 2.0); y = usmx.ones(9)", "usmx.linalg.solve(x, y)"),
}

KERNEL = """
@usmx.kernel
def twice(item, x):
    i = item.get_id(0)
    x[i] = x[i] * 2
"""

PROGRAM = """
import json, sys
import numpy as np
import usmx
KERNEL, count = sys.argv[1], int(sys.argv[2])
{setup}
def call():
    {call}
for _ in range(3):
    call()
entered = set()
def look(frame, event, arg):
    if event == "call" and "/usmx/" in frame.f_code.co_filename:
        entered.add(frame.f_code.co_filename)
if count:
    for _ in range(count):
        call()
else:
    sys.setprofile(look)
    call()
    sys.setprofile(None)
    print(json.dumps(sorted(entered)))
usmx.default_queue().wait()
"""


def run(build: Path, name: str, count: int, counts: Path, folder: Path) -> str:
    setup, call = WALKS[name]
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "program.py").write_text(PROGRAM.format(setup=setup, call=call))
    # The folder's name in .gcda files has so many parts, which GCOV_PREFIX takes the place of.
    environment = {
        **os.environ,
        "PYTHONPATH": str(build / "python"),
        "GCOV_PREFIX": str(counts),
        "GCOV_PREFIX_STRIP": str(len(build.parts) - 1),
    }
    program = [sys.executable, "program.py", "kernel.py", str(count)]
    return subprocess.run(
        program, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def executed(build: Path, counted: Path, objects: list[Path]) -> collections.Counter[str]:
    """How often lines of each of our files ran, by the counts of some objects."""
    all_of: collections.Counter[str] = collections.Counter()
    for one in objects:
        notes = (build / one).with_suffix(".gcno")
        link = (counted / one).with_suffix(".gcno")
        if not link.exists():
            link.symlink_to(notes)
        text = subprocess.run(
            ["gcov", "--json-format", "--stdout", str(counted / one)],
            cwd=build, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ).stdout  # fmt: skip
        text = gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text
        for line in text.splitlines():
            for file in json.loads(line)["files"]:
                path = (build / file["file"]).resolve()
                if path.is_relative_to(ROOT):
                    all_of[str(path.relative_to(ROOT))] += sum(of["count"] for of in file["lines"])
    return all_of


def walk(build: Path, name: str) -> list[str]:
    """The files that a call of that name enters."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        few, many = folder / "few", folder / "many"
        run(build, name, 1, few, folder)
        run(build, name, 1 + MORE, many, folder)
        python = json.loads(run(build, name, 0, folder / "look", folder))
        changed = [
            path.relative_to(many)
            for path in sorted(many.rglob("*.gcda"))
            if not (few / path.relative_to(many)).exists()
            or path.read_bytes() != (few / path.relative_to(many)).read_bytes()
        ]
        before = executed(build, few, [one for one in changed if (few / one).exists()])
        after = executed(build, many, changed)
    cpp = [file for file in after if after[file] - before[file] >= MORE]
    return sorted(cpp) + [file[file.index("/usmx/") + 1 :] for file in python]


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or WALKS:
        files = walk(build, name)
        of_python = sum(file.endswith(".py") for file in files)
        headers = sum(file.endswith(".hpp") for file in files)
        sources = len(files) - of_python - headers
        print(f"{name}: {sources} sources, {headers} headers, {of_python} of Python", flush=True)
        if len(sys.argv) > 2:
            print("\n".join(f"  {file}" for file in files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
