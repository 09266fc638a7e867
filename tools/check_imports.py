"""Finds circles among the imports of the Python package; one line per circle, exit code 1 if any.

Every import counts: at the top of a file, inside of a function, and those for type checkers alone.
What may not import each other are modules, and rooms as well: the modules and folders that stand
side by side in one folder, each with all that is in it.

What `__getattr__` of a package imports by a text, when a name is first used, is what a package is
for, and not seen.
"""
# SPDX-License-Identifier: Apache-2.0

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

#: Module -> the modules that it imports, each with the line.
Imports = dict[str, dict[str, int]]


def modules(root: Path) -> dict[str, Path]:
    """The modules below a folder by their dotted names, compiled ones by their stubs."""
    found = {}
    for path in sorted([*root.rglob("*.pyi"), *root.rglob("*.py")]):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(module: str, is_package: bool, tree: ast.AST) -> Iterator[tuple[str, int]]:
    """What a module imports, and the line; of ``from a import b`` both ``a.b`` and ``a``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")
            up = node.level - (1 if is_package else 0)
            start = base[: len(base) - up] if node.level else []
            of = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((f"{of}.{alias.name}", node.lineno) for alias in node.names)


def imports_of(files: Mapping[str, Path]) -> Imports:
    """Who imports whom among these modules."""
    found: Imports = {}
    for module, path in files.items():
        mine = found.setdefault(module, {})
        if path.suffix == ".pyi":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name, line in imported(module, path.stem == "__init__", tree):
            # A name of a module, if there is no module of that name.
            target = name if name in files else name.rpartition(".")[0]
            if target in files and target != module:
                mine.setdefault(target, line)
    return found


def circles(edges: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Circles, each with its first node again at the end, until none would be left without them."""
    left = {node: set(targets) for node, targets in edges.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
            return
        except CycleError as error:
            # It begins with what is imported.
            found: list[str] = error.args[1][::-1]
        yield found
        left[found[-2]].discard(found[-1])


def rooms(imports: Imports) -> Iterator[dict[str, dict[str, str]]]:
    """For each folder: who of its modules and folders imports whom, and by which import."""
    folders = {module.rpartition(".")[0] for module in imports} - {""}
    for folder in sorted(folders):
        depth = folder.count(".") + 2
        edges: dict[str, dict[str, str]] = {}
        for module, targets in imports.items():
            for target, line in targets.items():
                if not (module.startswith(folder + ".") and target.startswith(folder + ".")):
                    continue
                a, b = (".".join(name.split(".")[:depth]) for name in (module, target))
                # The face of a folder imports what is in it, and not the other way round.
                if a != b:
                    edges.setdefault(a, {}).setdefault(b, f"{module}:{line} imports {target}")
        yield edges


def findings(files: Mapping[str, Path]) -> list[str]:
    """A message for each circle that was found."""
    imports = imports_of(files)
    messages = []
    for found in circles(imports):
        steps = [f"{a}:{imports[a][b]} imports {b}" for a, b in pairwise(found)]
        messages.append("modules import each other: " + ", ".join(steps))
    if messages:
        return messages  # rooms repeat what their modules do
    for edges in rooms(imports):
        for found in circles(edges):
            steps = [edges[a][b] for a, b in pairwise(found)]
            messages.append(f"{found[0]} and {found[1]} import each other: {', '.join(steps)}")
    return messages


def main() -> int:
    """Check the package."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "python" / "usmx"
    messages = findings(modules(root))
    print(*messages, sep="\n", end="\n" if messages else "")
    print(f"imports: {len(messages)} circles")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
