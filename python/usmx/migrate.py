"""What to change in a program for numba.cuda, CuPy, numba-dpex, dpctl or dpnp to use usmx.

A program is read and not run. Each import, call and kernel of these packages is a `Finding`:
unchanged, changed, with the line to write, or missing, with what to do.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import difflib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import _explained

#: What a package is called -> what has its names.
TARGETS = {
    "numba.cuda": "usmx.compat.cuda",
    "cupy": "usmx.compat.cupy",
    "cupyx": "usmx.compat.cupyx",
    "numba_dpex": "usmx.compat.numba_dpex",
    "dpctl.tensor": "usmx.compat.dpctl.tensor",
    "dpctl.memory": "usmx.memory",
    "dpctl": "usmx.compat.dpctl",
    "dpnp": "usmx",
}
#: Names that are written otherwise.
RENAMED = {
    "dpnp": {"asnumpy": "x.to_numpy() of an array x"},
}
#: What no device but NVIDIA's has, or what usmx does otherwise.
MISSING = {
    "numba.cuda.declare_device": "functions of other languages cannot be linked",
    "numba.cuda.compile_ptx": "there is no PTX; kernel.inspect_source(*args) has the C++",
    "numba.cuda.compile": "there is no PTX; kernel.inspect_source(*args) has the C++",
    "numba.cuda.open_ipc_array": "share memory by usmx.ipc.share and usmx.ipc.Handle",
    "numba.cuda.set_memory_manager": "usmx.memory.set_resource",
    "numba.cuda.cudadrv": "internals of its driver",
    "numba.cuda.extending": "overloads: write a function that kernels call",
    "cupyx.scipy.sparse": "sparse matrices are not in usmx",
    "cupyx.jit.cub": "write the reduction with shared_memory",
    "cupyx.jit.thrust": "see usmx's functions of arrays",
    "cupyx.jit.cg": "groups are syncthreads(), shuffles and atomic operations",
    "cupy.cuda.nccl": "see mpi4py, which takes arrays of usmx",
    "cupy.cuda.texture": "textures exist on NVIDIA's devices only",
    "dpctl.LocalAccessor": "kernels take usmx.LocalMemory, for a parameter usmx::local_view<T, N>",
    "dpctl.WorkGroupMemory": "kernels take usmx.LocalMemory, for usmx::local_view<T, N>",
    "dpctl.RawKernelArg": "kernels take bytes, a NumPy record or a ctypes.Structure for a struct",
    "numba_dpex.dpjit": "write the loop as a kernel",
    "numba_dpex.prange": "write the loop as a kernel",
}
_UNCHANGED, _CHANGED, _MISSING = "unchanged", "changed", "missing"


@dataclass(frozen=True)
class Finding:
    """One place of a program.

    Attributes
    ----------
    line : int
        Where it is, from 1.
    kind : str
        ``"import"``, ``"call"`` or ``"kernel"``.
    name : str
        What is imported or used.
    status : str
        ``"unchanged"``, ``"changed"`` or ``"missing"``.
    advice : str
        The line to write, or what to do.

    Examples
    --------
    >>> from usmx.migrate import read
    >>> findings, changed = read("from numba import cuda\\n")
    >>> isinstance(findings, list)
    True
    """

    line: int
    kind: str
    name: str
    status: str
    advice: str = ""


def _target(module: str) -> tuple[str, str] | None:
    """The package of a module and the module that has its names here; None of others."""
    for package in sorted(TARGETS, key=len, reverse=True):
        if module == package or module.startswith(f"{package}."):
            return package, TARGETS[package] + module[len(package) :]
    return None


def _has(path: str) -> bool:
    """Whether usmx has a name, ``usmx.compat.cupy.linalg.norm``."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            try:
                found = getattr(found, name)
            except (AttributeError, NotImplementedError):
                return False
        return True
    return False


def _why(path: str) -> str:
    """Why a name is missing: what is known of it, or of the module that it is in."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        found = MISSING.get(".".join(parts[:cut]))
        if found:
            return found
    return ""


class _Reader(ast.NodeVisitor):
    """Collects the findings of a program, and the lines to write."""

    def __init__(self, lines: list[str], tree: ast.Module) -> None:
        self.lines = lines
        self.is_all_cuda: bool = _is_all_cuda(tree)
        self.findings: list[Finding] = []
        #: First and last line of what is replaced -> the lines to write.
        self.changes: dict[tuple[int, int], list[str]] = {}
        #: Names in the program -> what they are in the packages.
        self.names: dict[str, str] = {}
        #: Of each line where words were replaced by longer or shorter ones.
        self.moved: dict[int, list[tuple[int, int]]] = {}

    def add(self, node: Any, kind: str, name: str, status: str, advice: str = "") -> None:
        """One finding."""
        self.findings.append(Finding(node.lineno, kind, name, status, advice))

    def replace(self, node: Any, *new: str) -> None:
        """The lines of a statement by others, with its indentation."""
        first, last = node.lineno, node.end_lineno or node.lineno
        old = self.lines[first - 1]
        indent = old[: len(old) - len(old.lstrip())]
        self.changes[first, last] = [f"{indent}{line}" for line in new]

    # --- imports ----------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        """``import cupy as cp``."""
        new, changed = [], False
        for alias in node.names:
            found = _target(alias.name)
            if found is None:
                new.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
                continue
            changed = True
            package, to = found
            bound = alias.asname or alias.name.split(".")[0]
            self.names[bound] = alias.name if alias.asname else alias.name.split(".")[0]
            if _why(alias.name) or not _has(to):
                self.add(node, "import", alias.name, _MISSING, _why(alias.name))
                new.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
                continue
            if alias.asname:
                line = f"import {to} as {alias.asname}"
            elif _has(f"{TARGETS.get(bound)}{alias.name[len(bound) :]}"):
                # It binds the package, in which the module is then found.
                of_package = f"{TARGETS[bound]} as {bound}"
                inner = f"{to}, " if to.startswith(f"{TARGETS[bound]}.") else ""
                line = f"import {inner}{of_package}"
            elif "." in alias.name and package != alias.name.split(".")[0]:
                # Its parts are used by their whole names.
                line = f"import usmx.compat.cuda; usmx.compat.cuda.install(); import {alias.name}"
                if package != "numba.cuda":
                    line = f"import {to} as {bound}"
            else:
                line = f"import {to} as {bound}"
            new.append(line)
            self.add(node, "import", alias.name, _CHANGED, line)
        if changed:
            self.replace(node, *new)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """``from numba import cuda, float32``."""
        module = node.module or ""
        if node.level:
            return
        groups: dict[str, list[str]] = {}
        changed = False
        for alias in node.names:
            spelled = alias.name + (f" as {alias.asname}" if alias.asname else "")
            path = f"{module}.{alias.name}"
            of_module, of_path = _target(module), _target(path)
            bound = alias.asname or alias.name
            if module == "numba" and of_path is None and self.is_all_cuda:
                groups.setdefault(TARGETS["numba.cuda"], []).append(spelled)
                line = f"from {TARGETS['numba.cuda']} import {spelled}"
                self.add(node, "import", path, _CHANGED, line)
                changed = True
                continue
            if of_path is not None and of_module is None:  # from numba import cuda
                to = of_path[1].rpartition(".")
                groups.setdefault(to[0], []).append(
                    to[2] + (f" as {bound}" if bound != to[2] else "")
                )
            elif of_module is not None and alias.name == "*":
                groups.setdefault(of_module[1], []).append("*")
            elif of_module is not None:
                package, to_module = of_module
                name = alias.name
                if of_path is not None and of_path[0] != package:  # from dpctl import tensor
                    to = of_path[1].rpartition(".")
                    home, name = (to[0], to[2]) if to[0] else ("", to[2])
                else:
                    home = to_module
                if _why(path) or not _has(f"{home}.{name}" if home else name):
                    self.names[bound] = path
                    self.add(node, "import", path, _MISSING, _why(path))
                    groups.setdefault(module, []).append(spelled)
                    continue
                groups.setdefault(home, []).append(name + (f" as {bound}" if bound != name else ""))
            else:
                groups.setdefault(module, []).append(spelled)
                continue
            changed = True
            self.names[bound] = path
            home = next(reversed(groups))
            text = groups[home][-1]
            line = f"from {home} import {text}" if home else f"import {text}"
            self.add(node, "import", path, _CHANGED, line)
        if changed:
            new = [
                f"from {home} import {', '.join(those)}" if home else f"import {', '.join(those)}"
                for home, those in groups.items()
            ]
            self.replace(node, *new)

    # --- uses -------------------------------------------------------------------------------------

    def path(self, node: ast.AST) -> str | None:
        """What an expression is in the packages, ``cupy.linalg.norm``; None of others."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            of = self.path(node.value)
            return None if of is None else f"{of}.{node.attr}"
        return None

    def use(self, node: ast.AST, path: str, kind: str) -> None:
        """A use of a name of a package."""
        found = _target(path)
        if found is None or path in TARGETS:
            return
        package, to = found
        why = _why(path)
        name = path[len(package) + 1 :]
        renamed = RENAMED.get(package, {}).get(name)
        if renamed is not None and renamed != name and not why:
            self.add(node, kind, path, _CHANGED, renamed)
        elif why or not _has(to):
            self.add(node, kind, path, _MISSING, why or f"there is no {to}")
        else:
            self.add(node, kind, path, _UNCHANGED)

    def respell(self, line: int, at: int, old: str, new: str) -> None:
        """Write another word at a place, counted in bytes; the length of the line may change."""
        moved = at + sum(by for where, by in self.moved.get(line, []) if where < at)
        raw = self.lines[line - 1].encode()
        end = moved + len(old.encode())
        self.lines[line - 1] = (raw[:moved] + new.encode() + raw[end:]).decode()
        self.moved.setdefault(line, []).append((at, len(new.encode()) - len(old.encode())))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """``cp.linalg.norm``, with or without a call."""
        path = self.path(node)
        if path is not None:
            self.use(node, path, "call")
            return
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name that was imported from a package."""
        path = self.names.get(node.id)
        if path is not None and isinstance(node.ctx, ast.Load) and "." in path:
            self.use(node, path, "call")

    def visit_Call(self, node: ast.Call) -> None:
        """A kernel from text is checked too."""
        path = self.path(node.func)
        if path in ("cupy.RawKernel", "cupy.RawModule"):
            self.text(node)
        if path is not None and path.startswith("dpnp."):
            for keyword in node.keywords:
                if keyword.arg == "sycl_queue":
                    self.add(keyword, "call", f"{path}(sycl_queue=)", _CHANGED, "queue=")
                    self.respell(keyword.lineno, keyword.col_offset, "sycl_queue", "queue")
        self.generic_visit(node)

    def text(self, node: ast.Call) -> None:
        """A text of CUDA C++."""
        from .compat.cupy.translation import UntranslatableError, check

        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "code")]
        for one in given:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                try:
                    check(one.value)
                except UntranslatableError as error:
                    self.add(node, "kernel", "text of CUDA", _MISSING, str(error))
                else:
                    self.add(node, "kernel", "text of CUDA", _UNCHANGED)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A kernel, by its decorator."""
        for one in node.decorator_list:
            path = self.path(one.func if isinstance(one, ast.Call) else one)
            if path in _KERNELS:
                self.kernel(node, one)
        self.generic_visit(node)

    def kernel(self, node: ast.FunctionDef, decorator: ast.expr) -> None:
        """What a kernel has that kernels of usmx have not."""
        status, advice = _UNCHANGED, ""
        keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
        if any(k.arg == "link" for k in keywords):
            status, advice = _MISSING, "link=: code of other languages cannot be linked"
        for part in ast.walk(node):
            what = _UNSUPPORTED.get(type(part))
            if what is not None:
                status, advice = _MISSING, f"line {getattr(part, 'lineno', node.lineno)}: {what}"
                break
        if status == _UNCHANGED and any(
            isinstance(p, ast.Attribute) and p.attr == "this_grid" for p in ast.walk(node)
        ):
            status, advice = _CHANGED, "this_grid().sync(): launch one block, or split the kernel"
        self.add(node, "kernel", node.name, status, advice)


#: Decorators of kernels and of functions that kernels call.
_KERNELS = (
    "numba.cuda.jit", "cupyx.jit.rawkernel", "numba_dpex.kernel", "numba_dpex.device_func",
)  # fmt: skip
#: What kernels have not -> what to write.
_UNSUPPORTED: dict[type[ast.AST], str] = {
    ast.Try: "try: test the condition",
    ast.ListComp: "a list: use cuda.local.array",
    ast.List: "a list: use a tuple, or cuda.local.array",
    ast.Dict: "a dict: pass arrays",
    ast.Set: "a set: pass arrays",
    ast.With: "with: call the function",
    ast.Yield: "yield: write to an array",
    ast.GeneratorExp: "a generator: write a loop",
}


def read(text: str, name: str = "<program>") -> tuple[list[Finding], str]:
    """What to change in a program, and the changed program.

    Parameters
    ----------
    text : str
        The program.
    name : str
        Of its file, for messages.

    Returns
    -------
    list of Finding, str
        The findings in the order of their lines, and the program with the lines that change.

    Raises
    ------
    SyntaxError
        The text is not Python.

    Examples
    --------
    >>> from usmx.migrate import read
    >>> findings, changed = read("from numba import cuda\\n")
    >>> changed
    'from usmx.compat import cuda\\n'
    """
    tree = ast.parse(text, name)
    lines = text.splitlines()
    reader = _Reader(lines, tree)
    # Imports first, wherever they stand: functions above them use their names.
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            reader.visit_Import(node)
        elif isinstance(node, ast.ImportFrom):
            reader.visit_ImportFrom(node)
    for node in _without_imports(tree):
        reader.visit(node)
    for (first, last), new in sorted(reader.changes.items(), reverse=True):
        lines[first - 1 : last] = new
    findings = sorted(set(reader.findings), key=lambda f: (f.line, f.kind, f.name))
    return findings, "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _is_all_cuda(tree: ast.Module) -> bool:
    """Whether all that a program takes from Numba is for kernels, its types too: they are others
    for functions of the processor."""
    taken: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names if one.name.partition(".")[0] == "numba"]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if node.module == "numba":
                taken |= {one.name for one in node.names}
            elif (node.module or "").startswith("numba."):
                names = [str(node.module)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            target = [k.value for k in node.keywords if k.arg == "target"]
            if node.func.id in _DECORATORS and [ast.dump(t) for t in target] != [_FOR_CUDA]:
                return False
        if any(name != "numba.cuda" and not name.startswith("numba.cuda.") for name in names):
            return False
    of_kernels = {n for n in taken - {"cuda"} if n in _DECORATORS or _is_type(n)}
    return "cuda" in taken and taken == of_kernels | {"cuda"}


def _is_type(name: str) -> bool:
    return name in importlib.import_module("usmx.compat.numba_types").TYPES and _has(
        f"{TARGETS['numba.cuda']}.{name}"
    )


#: Of functions of arrays, which Numba has for the processor too.
_DECORATORS = ("vectorize", "guvectorize")
_FOR_CUDA = ast.dump(ast.Constant("cuda"))


def _without_imports(tree: ast.Module) -> Iterator[ast.AST]:
    class Drop(ast.NodeTransformer):
        def visit_Import(self, node: ast.Import) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

        def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

    yield Drop().visit(tree)


def report(path: str, *, diff: bool = False, write: Callable[[str], object] = print) -> int:
    """Print what to change in a program.

    Parameters
    ----------
    path : str
        Its file.
    diff : bool
        Print the changes of lines instead.
    write : function
        Called with each line.

    Returns
    -------
    int
        0, or 1 if something is missing.

    Examples
    --------
    >>> import pathlib
    >>> import tempfile
    >>> import usmx.migrate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     program = pathlib.Path(folder, "program.py")
    ...     _ = program.write_text("import dpnp as np\\nprint(np.ones(3).sum())\\n")
    ...     usmx.migrate.report(str(program), write=lambda line: None)
    0
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    findings, changed = read(text, path)
    if diff:
        whole = text.splitlines(keepends=True), changed.splitlines(keepends=True)
        for line in difflib.unified_diff(*whole, path, path):
            write(line.removesuffix("\n"))
            if not line.endswith("\n"):
                write("\\ No newline at end of file")
    else:
        for f in findings:
            advice = f"    {f.advice}" if f.advice else ""
            write(f"{path}:{f.line}: {f.status:9} {f.kind:6} {f.name}{advice}")
        counts = [
            f"{sum(f.status == s for f in findings)} {s}" for s in (_UNCHANGED, _CHANGED, _MISSING)
        ]
        write(f"{path}: {', '.join(counts)}")
    return int(any(f.status == _MISSING for f in findings))


__all__ = ["Finding", "read", "report"]

_explained.explain(globals())
