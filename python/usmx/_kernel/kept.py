"""The C++ that was made of Python functions, kept on disk: a program that finds it there imports no
compiler. The key is everything that decides the text, and it is compared whole; what cannot be
described is not kept."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys

from .. import _usmx
from .._captured import Reads, globals_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType
    from typing import Any

#: Modules whose contents change with their version only.
_FIXED = ("math", "cmath", "numpy", "usmx")
_MISSING = object()
#: Of an array that is a constant.
_MOST_BYTES = 1 << 16
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


#: Folders of packages that `usmx.use_programs` named; their functions have a second, portable key.
packages: list[str] = []
#: While a package is built: the folder for its texts.
_recorded_in: list[str] = []


class Key(bytes):
    """What decides a text. ``portable`` is the same without this machine, for a function of a
    package that brings its programs: its files are those of its release. Otherwise it is empty."""

    portable: bytes = b""

    def __add__(self, more: bytes) -> Key:  # type: ignore[override]
        made = Key(bytes(self) + more)
        made.portable = self.portable + more if self.portable else b""
        return made


class _Unknown(Exception):
    """Something that may change without being noticed."""


class _Key:
    """Collects what a text depends on."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        #: Instead of a part, by its place: what it is to a package. Empty if no package is used.
        self.portable: dict[int, str] = {}
        #: The folder of the package that the first function belongs to.
        self.package: str | None = None
        #: Each table that was met, and whether it is given at each launch.
        self.tables: dict[Any, bool] = {}
        self.seen: set[int] = set()
        #: The same for launches of this process, which compare what was read.
        self.reads = Reads()
        #: Names that were asked of each module: another function may ask for others.
        self.asked: dict[int, set[str]] = {}

    def function(self, python: Any) -> None:
        """A function: its lines, and all that its names mean."""
        if id(python) in self.seen:
            self.parts.append(f"again {python.__qualname__}")
            return
        self.seen.add(id(python))
        code = python.__code__
        self.reads.function(python)
        if len(self.seen) == 1:
            self.package = next(filter(code.co_filename.startswith, packages), None)
        self.parts.append(f"def {python.__qualname__}")
        self.of_machine(code.co_filename, code.co_filename.removeprefix(self.package or ""))
        self.parts.append(str(code.co_firstlineno))
        # Messages name the file as it is seen from here.
        self.of_machine(os.getcwd(), "")
        self.parts += [_lines(code), repr(sorted(python.__annotations__))]
        self.value(python.__defaults__, frozenset())
        self.value(tuple(sorted((python.__kwdefaults__ or {}).items())), frozenset())
        names: set[str] = set()
        self.code(code, names)
        attributes = frozenset(names)
        # Of the names of attributes none is a global's, even if one is called the same.
        names = globals_of(code)
        for name, value in sorted(python.__annotations__.items()):
            names.update(value.replace(".", " ").split() if isinstance(value, str) else ())
            self.parts.append(name)
            self.value(value, attributes)
        attributes |= names
        # A name that is none yet may hide a builtin later.
        for name in sorted(names - set(code.co_freevars)):
            value = self.reads.name(python, name, _MISSING)
            if name in python.__globals__:
                self.parts.append(name)
                self.value(value, attributes)
        for name in code.co_freevars:
            self.parts.append(name)
            value = self.reads.name(python, name, _MISSING)
            if value is not _MISSING:
                self.value(value, attributes)

    def of_machine(self, part: str, portable: str) -> None:
        """A part that is another one in another installation of a package."""
        if packages:
            self.portable[len(self.parts)] = portable
        self.parts.append(part)

    def code(self, code: CodeType, names: set[str]) -> None:
        """What was compiled of the lines, should the file have changed since."""
        names.update(code.co_names)
        self.of_machine(code.co_code.hex(), "")
        self.parts.append(repr((code.co_names, code.co_varnames, code.co_freevars)))
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                self.code(constant, names)
            else:
                self.value(constant, frozenset())

    def value(self, obj: Any, names: frozenset[str]) -> None:
        """What a name stands for; ``names`` are those that may be asked of it."""
        kind = type(obj)
        module = kind.__module__.partition(".")[0]
        if kind in _PLAIN:
            self.parts.append(f"{kind.__name__} {obj!r}")
        elif kind in (tuple, frozenset) or hasattr(kind, "_fields"):
            items = sorted(obj, key=repr) if kind is frozenset else obj
            self.parts.append(f"{kind.__name__} {len(obj)}")
            if kind not in (tuple, frozenset):
                self.value(kind, frozenset())
            for item in items:
                self.value(item, names)
        elif kind is type(sys):
            self.parts.append(f"module {obj.__name__}")
            if obj.__name__.partition(".")[0] not in _FIXED:
                found = vars(obj)
                if "__getattr__" in found:
                    raise _Unknown
                asked = self.asked.setdefault(id(obj), set())
                for name in sorted(names.intersection(found) - asked):
                    if name in asked:
                        continue  # while a name before it was described
                    asked.add(name)
                    self.parts.append(name)
                    self.value(self.reads.attribute(obj, name), names)
        elif getattr(obj, "is_device_function", False) is True:
            self.function(obj.python)
        elif kind.__name__ == "function" and obj.__module__.partition(".")[0] not in _FIXED:
            self.function(obj)
        elif kind.__name__ == "ConstantArray" and module == "usmx":
            given = self.tables.setdefault(obj, obj.is_updated)
            # Two that are given are two arguments, even if they look alike.
            number = list(self.tables).index(obj)
            values = f"given {number}" if given else obj.values.tobytes().hex()
            self.parts.append(f"table {obj.element.name} {obj.shape} {values}")
        elif kind.__name__ == "LocalMemory" and module == "usmx":
            self.parts.append(str(obj._kernel_key))
        elif self.named(obj):
            pass
        elif kind is type or kind is type(len):
            if obj.__module__ is None or obj.__module__.partition(".")[0] not in (
                "builtins",
                *_FIXED,
            ):
                raise _Unknown
            self.parts.append(f"{obj.__module__}.{obj.__qualname__}")
        elif module == "usmx" and kind.__name__ in (
            "DeviceOnly",
            "Form",
            "Namespace",
            "Operation",
            "dtype",
            "Scalar",
        ):
            self.parts.append(f"usmx {getattr(obj, '__name__', '')} {obj!r:.80}")
        elif module == "numpy" and kind.__name__ == "ufunc":
            self.parts.append(f"numpy {obj.__name__}")
        elif module == "numpy" and hasattr(obj, "tobytes") and getattr(obj, "ndim", 1) == 0:
            self.number(obj)
        elif kind.__name__ == "ndarray" and module == "numpy" and obj.nbytes <= _MOST_BYTES:
            # To programs for Numba a constant; all others refuse it.
            self.parts.append(f"array {obj.dtype.str} {obj.shape} {obj.tobytes().hex()}")
        else:
            raise _Unknown

    def number(self, obj: Any) -> None:
        """A number of NumPy, or an array of rank 0, which may hold another one later."""
        self.reads.item(obj)
        self.parts.append(f"number {obj.dtype.str} {obj.tobytes().hex()}")

    def named(self, obj: Any) -> bool:
        """An enumeration, a member of one, or a namedtuple's class; False if it is none."""
        kind: Any = type(obj)
        if kind.__name__ == "VectorType" and kind.__module__.startswith("usmx."):
            self.parts.append(f"vectors {obj.__name__}")
        elif kind is type and hasattr(obj, "_record"):
            self.parts.append(f"record {obj._record}")
        elif hasattr(obj, "fields") and getattr(obj, "names", None):
            self.parts.append(f"fields {obj.descr} {obj.itemsize}")
        elif kind.__name__ == "PyCStructType":
            from .language import records

            self.parts.append(f"struct {records.meant(obj)}")
        elif hasattr(kind, "__members__") and hasattr(obj, "value"):
            self.parts.append(f"member {kind.__qualname__}.{obj.name}")
            self.value(obj.value, frozenset())
        elif isinstance(obj, type) and "_member_map_" in vars(obj):
            self.parts.append(f"enumeration {obj.__qualname__} {obj.__bases__}")
            for member in vars(obj)["_member_map_"].values():
                self.value(member, frozenset())
        elif kind is type and issubclass(obj, tuple) and hasattr(obj, "_fields"):
            self.parts.append(f"fields {obj.__qualname__} {vars(obj)['_fields']}")
            self.value(tuple(sorted(vars(obj)["_field_defaults"].items())), frozenset())
        else:
            return False
        return True

    def argument(self, obj: Any) -> None:
        """The type of an argument."""
        if isinstance(obj, _usmx.ndarray):
            about = obj.flags
            element = obj.dtype.descr if "V" in obj._typestr else obj._typestr
            self.parts.append(f"array {element} {obj.ndim} {about.c_contiguous} {about.writeable}")
        elif type(obj) in (bool, int, float, complex):
            self.parts.append(f"argument {type(obj).__name__}")
        elif type(obj).__module__ == "numpy" and getattr(obj, "ndim", 1) == 0:
            self.parts.append(f"argument {obj.dtype.str}")
        elif isinstance(obj, tuple):
            self.parts.append(f"argument of {len(obj)}")
            if type(obj) is not tuple:
                self.value(type(obj), frozenset())
            for item in obj:
                self.argument(item)
        else:
            self.value(obj, frozenset())


def _lines(code: CodeType) -> str:
    """The text of a function: from its first line to where the next thing begins."""
    try:
        with open(code.co_filename, encoding="utf-8") as file:
            lines = file.read().splitlines()[code.co_firstlineno - 1 :]
    except (OSError, UnicodeError):
        raise _Unknown from None  # typed at a prompt, in a notebook
    if not lines:
        raise _Unknown
    indent = len(lines[0]) - len(lines[0].lstrip())
    last = max((end or 0) for _, end, _, _ in code.co_positions()) - code.co_firstlineno
    for k, line in enumerate(lines[last + 1 :], last + 1):
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return "\n".join(lines[:k])
    return "\n".join(lines)


def _compiler() -> str:
    """Changes with the compiler, also between releases."""
    found = ((path, os.stat(path)) for path in sources())
    files = sorted((path, about.st_mtime_ns, about.st_size) for path, about in found)
    return f"{_usmx.__version__} {sys.version} {files}"


def sources() -> Iterator[str]:
    """The files of the compiler, and what it reads from outside of its folder."""
    here = os.path.dirname(__file__)
    for name in ("_operations.py", "_captured.py", "_pure.py"):
        yield os.path.join(os.path.dirname(here), name)
    yield from _python_files(here)


def _python_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _python_files(entry.path)


_about_compiler: list[str] = []


def key_of(python: Callable[..., Any], args: Iterable[Any], *more: object) -> Any:
    """What decides the text of a kernel for these arguments.

    Returns
    -------
    (Key, dict of ConstantArray, Reads) or None
        The key, the tables that it holds with whether each is given at a launch, and what was read;
        None if something has no description.
    """
    if not _usmx._ProgramStore.settings()["enabled"]:
        return None
    if not _about_compiler:
        _about_compiler.append(_compiler())
    key = _Key()
    key.of_machine(_about_compiler[0], _usmx.__version__)
    key.parts.append(repr(more))
    try:
        key.function(python)
        for arg in args:
            key.argument(arg)
    except _Unknown:
        return None
    made = Key(_joined(key.parts))
    if key.package is not None:
        parts = (key.portable.get(k, part) for k, part in enumerate(key.parts))
        made.portable = _joined(parts)
    return made, key.tables, key.reads


def _joined(parts: Iterable[str]) -> bytes:
    return "\n".join(f"{len(part)} {part}" for part in parts).encode(errors="surrogatepass")


def load(key: Key) -> list[str] | None:
    """What `store` kept for exactly this key; None if there is nothing to be believed."""
    held = _usmx._ProgramStore.load_texts(key, key.portable)
    return None if held is None else [text.decode(errors="surrogatepass") for text in held]


def store(key: Key, values: Iterable[str]) -> None:
    """Keep texts for a key. What cannot be kept is made again."""
    texts = [value.encode(errors="surrogatepass") for value in values]
    _usmx._ProgramStore.store_texts(key, texts)
    if key.portable and _recorded_in:
        _usmx._ProgramStore.store_texts_for_package(_recorded_in[0], key.portable, texts)


def record(folder: str) -> None:
    """From now on texts of functions of packages are written into this folder too."""
    _recorded_in[:] = [folder]
