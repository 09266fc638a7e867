"""Writes what comes of the table of operations.

``python tools/make_tables.py cpp ROWS HOST_ROWS FUNCTIONS`` writes the rows for C++, those that the
host computes too, and their functions, and ``python FOLDER`` the modules with their names into a
package: the build does both. ``docs`` shows how the tables of the documentation differ from the
rows, with exit code 1 if they do, and ``docs --write`` corrects them.
"""
# SPDX-License-Identifier: Apache-2.0

import cmath
import difflib
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def load(path: str) -> ModuleType:
    """A module of this checkout that needs nothing that is compiled."""
    file = ROOT / "python" / "usmx" / path
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLE = load("_operations.py")
SIGNATURES = load("_namespace/signatures.py")
HELP = load("_namespace/operation_help.py")
KINDS = {"b": "bools", "iu": "integers", "f": "floats", "c": "complex numbers"}


def functions() -> str:
    """The text of ``usmx/_functions.py``."""
    names = sorted(TABLE.names_of_usmx())
    lines = [
        '"""The functions that usmx adds to those of NumPy and math, for kernels.',
        "",
        "Built from `_operations`; do not edit.",
        '"""',
        "# SPDX-License-Identifier: Apache-2.0",
        "",
        "TYPE_CHECKING = False  # as typing's, which takes milliseconds to import",
        "if TYPE_CHECKING:",
        "    from ._kernel.language.functions import DeviceOnly",
        "",
    ]
    for name, doc in names:
        lines += [f"    {name}: DeviceOnly", f'    """Gives {doc}."""']
    lines += ["", "__all__ = [", *(f'    "{name}",' for name, _ in names), "]", ""]
    return "\n".join(lines)


def kinds(letters: str) -> str:
    """The letters of a row in words."""
    words = [word for some, word in KINDS.items() if set(some) & set(letters)]
    return "all numbers" if len(words) == len(KINDS) else ", ".join(words)


def of_kernels() -> list[str]:
    """The table of functions that kernels call."""
    lines = ["| in a kernel | gives | of | units in the last place |", "|---|---|---|---|"]
    for row in TABLE.OPERATIONS:
        if not row.function:
            continue
        names = [
            path.replace("numpy.", "np.").removeprefix("builtins.") for path in row.python.split()
        ]
        rare = row.takes == "f" and row.complex_ulps and hasattr(cmath, row.function)
        takes = "fc" if rare and row.function != "log10" else row.takes
        if takes == "fc":
            names.append(f"cmath.{row.function}")
        bounds = [str(row.ulps)] if set(row.takes) & set("iuf") else []
        bounds += [f"complex {row.complex_ulps}"] if row.complex_ulps else []
        off = ", ".join(bounds) if row.ulps or row.complex_ulps else "exact"
        names = [name for name in names if not name.startswith("scipy.")]
        lines.append(
            f"| {', '.join(f'`{n}`' for n in names)} | {row.doc} | {kinds(takes)} | {off} |"
        )
    return lines


def of_fused() -> list[str]:
    """The table of ufuncs that fused functions may use."""
    lines = ["| in a fused function | gives | of |", "|---|---|---|"]
    for row in TABLE.OPERATIONS:
        if row.texts:
            letters = "".join(some for some, _ in row.texts)
            doc = row.doc.replace("|", "\\|")
            place = f"usmx.{row.space}" if row.space else "np"
            lines.append(f"| `{place}.{row.name}` | {doc} | {kinds(letters)} |")
    return lines


def between(page: str, name: str, lines: list[str]) -> str:
    """A page with the table of that name replaced."""
    begin = f"<!-- {name}: the rows of _operations.py, compared by a test; see `make tables` -->\n"
    end = f"<!-- end of {name} -->\n"
    head, found, rest = page.partition(begin)
    _, also, tail = rest.partition(end)
    if not (found and also):
        raise ValueError(f"no place for the table '{name}'")
    return head + begin + "\n" + "\n".join(lines) + "\n\n" + end + tail


def for_cpp() -> str:
    """The text of ``compute/operations.inc``, the rows as C++ reads them."""
    lines = ["// Built from python/usmx/_operations.py; do not edit.\n"]
    for row in sorted(TABLE.OPERATIONS, key=lambda row: row.name):
        if not row.texts:
            continue
        rule = {"same": "same", "bool": "boolean", "real": "part"}[row.result]
        texts = ", ".join(f'{{"{kinds}", "{text}"}}' for kinds, text in row.texts)
        lines.append(
            f'{{"{row.name}", {row.arity}, {rule}, "{row.refused}", "{row.wide}", '
            f"{str(row.chooses).lower()}, "
            f'{{{{{texts}}}}}, "{row.mixed}"}},\n'
        )
    return "".join(lines)


def for_host() -> str:
    """The text of ``compute/host_rows.inc``: the rows that the host's compiler compiles too."""
    lines = ["// Built from python/usmx/_operations.py; do not edit."]
    table = []
    for row in sorted(TABLE.OPERATIONS, key=lambda row: row.name):
        if not row.on_host:
            continue
        operands = "abc"[: row.arity]
        types = ["bool" if row.chooses and one == "a" else "T" for one in operands]
        given = ", ".join(f"{of} {one}" for of, one in zip(types, operands, strict=True))
        rule = {"same": "T", "bool": "bool", "real": "part_of<T>"}[row.result]
        lines += [
            f"struct {row.name}_row {{",
            f'  static constexpr std::string_view name = "{row.name}", kinds = "{row.on_host}";',
            f"  static constexpr std::int64_t most = most_at_{row.cost}_cost;",
            f"  static constexpr bool has_fma = {str(bool(row.ulps)).lower()};",
            "  template <class T>",
            f"  USMX_ON_HOST static {rule} of({given}) {{",
        ]
        for k, (kinds, text) in enumerate(row.texts):
            lines.append(
                f'    {"else " if k else ""}if constexpr (is_of<T>("{kinds}"))'
                f" return {rule}({text.format(*operands, T='T')});"
            )
        lines += ["  }", "};"]
        table.append(f"{row.name}_row")
    return "\n".join([*lines, f"using all_rows = list_of<{', '.join(table)}>;", ""])


#: The operator of C++ for a special method of Python; C++ has none for the others.
CPP_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "and": "&", "or": "|",
    "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-",
    "pos": "+", "invert": "~",
}  # fmt: skip


def functions_for_cpp() -> str:
    """The text of ``usmx/detail/functions.inc``: a function of C++ for each row."""
    lines = ["// Built from python/usmx/_operations.py; do not edit."]
    for row in sorted(TABLE.OPERATIONS, key=lambda row: row.name):
        if not row.texts:
            continue
        operands = "abc"[: row.arity]
        types = ", ".join(f"class {one.upper()}" for one in operands)
        given = ", ".join(f"const {one.upper()}& {one}" for one in operands)
        names = [row.name]
        if symbol := CPP_OPERATORS.get(row.method):
            names.append(f"operator{symbol}")
        for name in names:
            lines += [
                f"/// {row.doc}",
                f"template <{types}>",
                f"  requires detail::operands<{', '.join(operands.upper())}>",
                f"deferred_array {name}({given}) {{",
                f'  static const operation& row = detail::operation_of("{row.name}");',
                f"  return detail::compute(row, {', '.join(operands)});",
                "}",
            ]
    return "\n".join([*lines, ""])


def in_order(names: list[str]) -> list[str]:
    """As a formatter sorts names: numbers by value."""
    return sorted(
        names, key=lambda n: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", n)]
    )


def type_of(row: Any) -> str:
    """The class that says to type checkers how the function of a row is called."""
    if row.chooses:
        return "Choice"
    if row.name in SIGNATURES.NAMED_OPERANDS:
        return "AngleOperation" if row.name == "angle" else "PartOperation"
    return "UnaryOperation" if row.arity == 1 else "BinaryOperation"


#: What `usmx.special` has in addition, because SciPy has it there.
ALSO_SPECIAL = ["cbrt", "exp2", "expm1", "log1p"]


def of_arrays(space: str = "") -> str:
    """The text of ``_namespace/elementwise.py``, or of ``special.py``, in ``usmx/``."""
    rows = [row for row in TABLE.OPERATIONS if row.texts and row.space == space]
    rows.sort(key=lambda row: row.name)
    kinds_of = sorted({type_of(row) for row in rows})
    lines = [
        '"""Special functions of arrays, with the names that SciPy gives them.'
        if space
        else '"""The functions of arrays that compute each element by itself.',
        "",
        "Built from `_operations`; do not edit.",
        '"""',
        "# SPDX-License-Identifier: Apache-2.0",
        "",
        *([f"from ._namespace.elementwise import {', '.join(ALSO_SPECIAL)}"] if space else []),
        f"from {'.' if space else '..'}_usmx import Operation",
        "",
        "TYPE_CHECKING = False",
        "if TYPE_CHECKING:",
        f"    from .{'_namespace.' if space else ''}operation_types import (",
        *(f"        {kind}," for kind in kinds_of),
        "    )",
        "else:",
        f"    {' = '.join(kinds_of)} = Operation",
        "",
    ]
    names = [*ALSO_SPECIAL] if space else []
    for row in rows:
        kind = type_of(row)
        doc = HELP.help_of(row, SIGNATURES.of_operation(row.arity, row.chooses, row.name))
        quoted = doc.replace("\\", "\\\\")
        lines += [f'{row.name}: {kind} = {kind}("{row.name}")', f'"""{quoted}\n"""']
        names.append(row.name)
        if row.standard:
            lines += [f"{row.standard}: {kind} = {row.name}", f'"""{quoted}\n"""']
            names.append(row.standard)
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in in_order(names)), "]", ""]
    return "\n".join(lines)


def names_of_arrays() -> str:
    """The text of ``usmx/_namespace/_elementwise_names.py``."""
    names = {row.name for row in TABLE.OPERATIONS if row.texts and not row.space}
    names |= {
        row.standard for row in TABLE.OPERATIONS if row.texts and row.standard and not row.space
    }
    lines = [
        '"""The names of `elementwise`, for `dir(usmx)` without importing it.',
        "",
        "Built from `_operations`; do not edit.",
        '"""',
        "# SPDX-License-Identifier: Apache-2.0",
        "",
        "ELEMENTWISE = (",
        *(f'    "{name}",' for name in sorted(names)),
        ")",
        "",
    ]
    return "\n".join(lines)


def python_files() -> dict[str, str]:
    """The files of the package that are built, by their paths in it."""
    return {
        "_functions.py": functions(),
        "special.py": of_arrays("special"),
        "_namespace/_elementwise_names.py": names_of_arrays(),
        "_namespace/elementwise.py": of_arrays(),
    }


def replace(path: Path, text: str) -> None:
    """Write a file in one step, which may have been a link."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def pages() -> dict[Path, str]:
    """The pages of the documentation, with their tables as they should be."""
    kernels, fused = ROOT / "docs" / "python-kernels.md", ROOT / "docs" / "expressions.md"
    return {
        kernels: between(kernels.read_text(encoding="utf-8"), "functions of kernels", of_kernels()),
        fused: between(fused.read_text(encoding="utf-8"), "fused functions", of_fused()),
    }


def check(write: bool) -> int:
    """Show how the tables of the documentation differ, or write them."""
    found = 0
    for path, text in pages().items():
        old = path.read_text(encoding="utf-8")
        if old == text:
            continue
        if write:
            replace(path, text)
            continue
        found = 1
        sys.stdout.writelines(
            difflib.unified_diff(
                old.splitlines(True),
                text.splitlines(True),
                str(path.relative_to(ROOT)),
                "of the table of operations",
            )
        )
    return found


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    match arguments:
        case ["cpp", rows, on_host, functions]:
            replace(Path(rows), for_cpp())
            replace(Path(on_host), for_host())
            replace(Path(functions), functions_for_cpp())
        case ["python", folder]:
            for name, text in python_files().items():
                replace(Path(folder) / name, text)
        case ["docs"] | ["docs", "--write"]:
            return check(write="--write" in arguments)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
