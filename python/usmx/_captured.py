"""What Python functions read besides their arguments: globals, closure variables, attributes.

Kernels and fused functions are made while their names mean something, and hold only as long as
those mean the same. What is read is written down here, one row for each place; a launch compares
(``_usmx._Captured``).

Reads   what a compiler looks up one by one: exactly that
of      all that a function may read when Python runs it
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

from . import _pure, _usmx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

#: Modules whose contents are taken as fixed.
_FIXED = frozenset([*sys.stdlib_module_names, "numpy", "usmx"]) - {"__main__"}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
#: More places than this are not compared at each call.
_MOST_ROWS = 2000
#: Larger arrays are not compared at each call.
_MOST_BYTES = 1 << 20
#: Attributes of modules, whose contents are in their dictionaries.
_MODULE = type(sys)
#: What is described by its module and its name.
_NAMED = frozenset(["_ArrayFunctionDispatcher", "function", "nb_func", "nb_method"])
_BUILT_IN = (tuple, frozenset, list, set)
#: Attributes that show what objects written in C hold.
_PARTS_OF = {
    "functools.partial": ("func", "args", "keywords"),
    "functools._lru_cache_wrapper": ("__wrapped__",),
}
#: Memory of the host, whose elements are compared.
_MEMORY = frozenset(["array.array", "builtins.bytearray", "builtins.memoryview"])
#: In a set of names: each of them.
_ANY = "*"


def is_fixed(name: object) -> bool:
    """Whether a module, or what is defined in it, stays what it is."""
    return not isinstance(name, str) or name.partition(".")[0] in _FIXED


class Reads:
    """What was read where. Each place counts once, with what was there first."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        # The rows keep the objects alive, so that no other one gets an id.
        self._seen: set[tuple[str, int, object]] = set()

    def add(self, what: str, where: object, *more: object) -> None:
        """One place, see ``captured_values::place``."""
        key = (what, id(where), more[0] if more and what in ("name", "attribute") else None)
        if key not in self._seen:
            self._seen.add(key)
            self.rows.append((what, where, *more))

    def name(self, python: Any, name: str, missing: object) -> Any:
        """What a name means outside of a function: closure, globals, builtins; or ``missing``."""
        code: CodeType = python.__code__
        if name in code.co_freevars:
            cell = python.__closure__[code.co_freevars.index(name)]
            try:
                value = cell.cell_contents
            except ValueError:
                self.add("cell", cell)
                return missing
            self.add("cell", cell, None, value)
            return value
        names = python.__globals__
        if name in names:
            self.add("name", names, name, names[name])
            return names[name]
        self.add("name", names, name)  # none yet: it would hide the builtin
        builtins = names.get("__builtins__")
        found = (
            builtins if isinstance(builtins, dict) else vars(builtins or sys.modules["builtins"])
        )
        return found.get(name, missing)

    def attribute(self, of: Any, name: str, *missing: object) -> Any:
        """What a dot reads."""
        value = getattr(of, name, *missing)
        if missing and value is missing[0]:
            return value
        if isinstance(of, _MODULE):
            if not is_fixed(of.__name__):
                where = vars(of)
                if name in where:
                    self.add("name", where, name, value)
                else:
                    self.add("attribute", of, name, value)
        elif isinstance(of, type) and is_fixed(of.__module__):
            pass
        elif type(value) is of or (is_fixed(type(of).__module__) and not _has_attributes(of)):
            pass  # a member of an enumeration; what has no attributes of its own
        else:
            self.add("attribute", of, name, value)
        return value

    def item(self, array: Any) -> Any:
        """The number in an array of rank 0, or in a number of NumPy, which never changes."""
        number = array.item()
        if not is_number_of_numpy(array):
            self.add("item", array, number)
        return number

    def function(self, python: Any) -> None:
        """A function that is read itself: its code and defaults."""
        if not _is_of_library(python):
            self.add("function", python)

    def made(self) -> _usmx._Captured:
        """What launches ask."""
        return _usmx._Captured(self.rows)


def is_number_of_numpy(obj: object) -> bool:
    """Whether it is a scalar of NumPy, and no array."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(obj, numpy.generic)


def _is_of_library(python: Any) -> bool:
    """Whether a function stands in a module whose contents are taken as fixed."""
    home = python.__module__
    # What `exec` defines may name any module.
    return is_fixed(home) and python.__globals__ is getattr(sys.modules.get(home), "__dict__", None)


def _has_attributes(of: object) -> bool:
    """Whether it may have attributes of its own; the class says so, not what it answers to."""
    return issubclass(type(of), type) or type(of).__dictoffset__ != 0


#: The operations that read a global, with the bits of their argument that are not the number of its
#: name: from a function and a line of a module that begin with them. To import `opcode` takes half
#: of the time that a kernel from disk may take.
_READ = {
    (lambda: sys).__code__.co_code[2]: 1,  # LOAD_GLOBAL
    compile("sys", "", "eval").co_code[2]: 0,  # LOAD_NAME
}
#: The one that imports a module; its argument is the number of the name.
_IMPORT = compile("import sys", "", "exec").co_code[6]
#: Up to so many names no argument of these operations is longer than a byte.
_MOST_SHORT = 128


def globals_of(code: CodeType) -> set[str]:
    """The names of globals that a function reads, and the functions in it."""
    return _names_of(code, _READ)


def imports_of(code: CodeType) -> set[str]:
    """The names of modules that a function imports, and the functions in it."""
    return _names_of(code, {_IMPORT: 0})


def _names_of(code: CodeType, operations: dict[int, int]) -> set[str]:
    """The names that some operations have, with the bits that are not the number of the name."""
    extended = -1
    if len(code.co_names) > _MOST_SHORT:
        import opcode

        extended = opcode.EXTENDED_ARG
    names, argument = set(), 0
    text = code.co_code  # made each time that it is asked for
    for operation, low in zip(text[::2], text[1::2], strict=True):
        argument = argument << 8 | low
        if operation == extended:
            continue
        if operation in operations:
            names.add(code.co_names[argument >> operations[operation]])
        argument = 0
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            names |= _names_of(constant, operations)
    return names


def of(function: Callable[..., Any]) -> _usmx._Captured | None:
    """All that a callable may read when it is called, and what it calls; None if that is too much,
    or is memory that is not looked at from here: then only a new call says what it does.
    """
    names: set[str] = set()
    while True:
        found = _Collector(names)
        try:
            found.collect(function)
        except _TooMuch:
            return None
        if found.names == names:
            return found.reads.made()
        names = found.names


class _TooMuch(Exception):
    """Not to be compared at each call."""


class _Collector:
    """Goes through what a function reaches. ``names`` are the attributes that its code, and that of
    what it calls, reads: those of modules and classes that matter.
    """

    def __init__(self, names: set[str]) -> None:
        self.reads = Reads()
        self.known = names
        self.names = set(names)
        self.seen: dict[int, object] = {}

    def collect(self, obj: object) -> None:
        """An object, and what it leads to."""
        waiting = [obj]
        while waiting:
            one = waiting.pop()
            if type(one) in _PLAIN or id(one) in self.seen:
                continue
            self.seen[id(one)] = one
            waiting += self.inside(one)
            if len(self.reads.rows) > _MOST_ROWS:
                raise _TooMuch

    def inside(self, obj: Any) -> Iterator[Any]:
        """What an object leads to; its own rows are written down.

        The class of an object is asked, not the object: that may answer to any name.
        """
        kind = type(obj)
        if kind is type(is_fixed) and not _is_of_library(obj):
            yield from self.function(obj)
        elif kind.__name__ in _NAMED and kind.__module__ != "usmx._usmx":
            self.named(obj)
        elif kind.__name__ in ("builtin_function_or_method", "method-wrapper"):
            yield from self.builtin(obj)
        elif issubclass(kind, _MODULE):
            yield from self.of_module(obj)
        elif issubclass(kind, type):
            yield from self.of_class(obj)
        elif kind.__name__ == "method":
            yield from (obj.__func__, obj.__self__)
        elif issubclass(kind, (staticmethod, classmethod)):
            yield obj.__func__
        elif issubclass(kind, property):
            yield from (obj.fget, obj.fset)
        elif kind.__module__.partition(".")[0] == "usmx":
            yield from self.of_usmx(obj)
        elif not issubclass(kind, _number_of_numpy()):
            self.contents(obj)
            yield from self.held(obj)
            yield from self.of_instance(obj)

    def named(self, obj: Any) -> None:
        """A function that only its name describes."""
        if not _pure.is_of_module(obj):
            raise _TooMuch

    def builtin(self, obj: Any) -> Iterator[Any]:
        """A function written in C, or a method of an object."""
        of = obj.__self__
        if of is None or type(of) is _MODULE:
            self.named(obj)
            if obj is getattr or obj is hasattr:
                self.names.add(_ANY)  # which names, only a run says
        else:
            yield of

    def of_module(self, obj: Any) -> Iterator[Any]:
        """What a module of a program holds under the names that are read."""
        if not is_fixed(obj.__name__):
            for name in self.read(vars(obj)):
                yield self.reads.attribute(obj, name)
        elif not _pure.is_module(obj.__name__, self.known):
            raise _TooMuch

    def read(self, held: Any) -> list[str]:
        """Those of the names in a dictionary that may be read."""
        return sorted(held if _ANY in self.known else self.known & held.keys())

    def of_usmx(self, obj: Any) -> Iterator[Any]:
        """What is ours: functions are those of Python that they were made of."""
        kind = type(obj)
        if kind.__name__ == "function":
            self.named(obj)
        elif not _pure.is_kind(kind):
            raise _TooMuch  # memory of devices, random numbers, what counts
        yield from (getattr(obj, name, None) for name in ("python", "_function"))

    def contents(self, obj: Any) -> None:
        """A row for the elements of a container, or of memory of the host."""
        kind = type(obj)
        if issubclass(kind, (dict, list, set)):
            self.reads.add("items", obj)
        elif issubclass(kind, _array_of_numpy()):
            if type(obj.base) is not bytes:
                if obj.nbytes > _MOST_BYTES or obj.dtype.hasobject:
                    raise _TooMuch
                self.reads.add("bytes", obj, obj.tobytes())
        elif _name(kind) in _MEMORY:
            if memoryview(obj).nbytes > _MOST_BYTES:
                raise _TooMuch
            self.reads.add("bytes", obj, bytes(obj))
        elif _name(kind) == "numpy.ufunc" and all(set(t) <= set("O->") for t in obj.types):
            raise _TooMuch  # `np.frompyfunc`, whose function is not seen

    def held(self, obj: Any) -> Iterator[Any]:
        """The elements of a container."""
        kind = type(obj)
        if issubclass(kind, dict):
            yield from [*dict.keys(obj), *dict.values(obj)]
        elif issubclass(kind, (tuple, frozenset, list, set)):
            yield from list(obj) if kind in _BUILT_IN else _items(obj)
        elif _name(kind) in _PARTS_OF:
            yield from (getattr(obj, name, None) for name in _PARTS_OF[_name(kind)])

    def function(self, python: Any) -> Iterator[Any]:
        """A function of Python: what its names mean, and what else it holds."""
        self.reads.function(python)
        code = python.__code__
        missing = object()
        names = set(code.co_freevars)
        if not self.is_made_by_library(python):
            names |= globals_of(code)
        for name in sorted(names):
            yield self.reads.name(python, name, missing)
        yield from python.__defaults__ or ()
        yield from (python.__kwdefaults__ or {}).values()
        if vars(python):  # what `functools.wraps` and others put there
            yield vars(python)
        self.code(code)
        for name in imports_of(code):
            if name not in sys.modules:
                raise _TooMuch  # this run imports it, and the next one sees what it holds
            yield sys.modules[name]

    def is_made_by_library(self, python: Any) -> bool:
        """Whether a decorator of a library made it, as those of dataclasses do: then only its
        closure is of the program."""
        names = python.__globals__
        home = names.get("__name__")
        if not is_fixed(home) or getattr(sys.modules.get(home), "__dict__", None) is not names:
            return False
        if not _pure.is_module(home, set(python.__code__.co_names)):
            raise _TooMuch
        return True

    def code(self, code: CodeType) -> None:
        """Notes the names of attributes."""
        self.names.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                self.code(constant)

    def of_class(self, kind: type) -> Iterator[Any]:
        """A class of a program: the attributes that are read, and what operators call."""
        for base in kind.__mro__:
            if is_fixed(base.__module__):
                if not _pure.is_of_module(base):
                    raise _TooMuch
                continue
            for name, value in list(vars(base).items()):
                is_operator = name.startswith("__") and type(value).__name__ == "function"
                if name in self.known or _ANY in self.known or is_operator:
                    self.reads.attribute(base, name)
                    # A class may get one of its own, which hides that of the base.
                    self.reads.attribute(kind, name)
                    yield value
        if not is_fixed(type(kind).__module__):
            yield type(kind)

    def of_instance(self, obj: Any) -> Iterator[Any]:
        """The attributes of an object, and its class."""
        kind = type(obj)
        if hasattr(kind, "__dlpack__") and not issubclass(kind, _array_of_numpy()):
            raise _TooMuch  # elements of a device
        for base in kind.__mro__:
            if _pure.is_native(base):
                if not _pure.is_kind(base) and _name(base) not in _MEMORY:
                    raise _TooMuch  # an iterator, a generator, a file, a clock
                continue
            for name, value in list(vars(base).items()):
                if type(value).__name__ == "member_descriptor":
                    yield self.slot(obj, name, value)
        attributes = _attributes(obj)
        if attributes:
            yield attributes
        if not _pure.is_native(kind):
            yield kind

    def slot(self, obj: Any, name: str, member: Any) -> Any:
        """What stands in a slot, which may be nothing yet."""
        try:
            value = member.__get__(obj, type(obj))
        except AttributeError:
            self.reads.add("attribute", obj, name)
            return None
        self.reads.add("attribute", obj, name, value)
        return value


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _items(obj: Any) -> list[Any]:
    """The elements of an object whose class may iterate otherwise."""
    for kind in (tuple, list, set, frozenset):
        if isinstance(obj, kind):
            of_kind: Any = kind.__iter__
            return list(of_kind(obj))
    return []


def _attributes(obj: object) -> dict[str, Any] | None:
    """The attributes that an object has itself, without asking it."""
    try:
        found = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return found if type(found) is dict else None


def _number_of_numpy() -> tuple[type, ...]:
    numpy = sys.modules.get("numpy")
    return () if numpy is None else (numpy.generic,)


def _array_of_numpy() -> tuple[type, ...]:
    numpy = sys.modules.get("numpy")
    return () if numpy is None else (numpy.ndarray,)
