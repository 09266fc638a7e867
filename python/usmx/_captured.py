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

from . import _usmx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

#: Modules whose contents are taken as fixed.
_FIXED = frozenset([*sys.stdlib_module_names, "numpy", "usmx"]) - {"__main__"}
#: Modules that answer otherwise at each call: clocks, random numbers, the environment.
_CHANGING = frozenset(
    ["_contextvars", "_datetime", "_random", "_thread", "_threading_local", "contextvars",
     "datetime", "numpy.random", "numpy.random._generator", "numpy.random.mtrand", "os", "posix",
     "random", "secrets", "threading", "time", "uuid"]
)  # fmt: skip
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
#: More places than this are not compared at each call.
_MOST_ROWS = 2000
#: Larger arrays are not compared at each call.
_MOST_BYTES = 1 << 20
#: Attributes of modules, whose contents are in their dictionaries.
_MODULE = type(sys)


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


def _is_changing(obj: Any) -> bool:
    """Whether it belongs to a module that answers otherwise at each call."""
    if isinstance(obj, _MODULE):
        return obj.__name__ in _CHANGING
    if type(obj).__name__ in ("builtin_function_or_method", "method"):
        return _is_changing(obj.__self__)
    if isinstance(obj, type) or type(obj).__name__ == "function":
        return obj.__module__ in _CHANGING
    return any(base.__module__ in _CHANGING for base in type(obj).__mro__)


def _has_attributes(obj: object) -> bool:
    return isinstance(obj, type) or hasattr(obj, "__dict__")


#: The operations that read a global, with the bits of their argument that are not the number of its
#: name: from a function and a line of a module that begin with them. To import `opcode` takes half
#: of the time that a kernel from disk may take.
_READ = {
    (lambda: sys).__code__.co_code[2]: 1,  # LOAD_GLOBAL
    compile("sys", "", "eval").co_code[2]: 0,  # LOAD_NAME
}
#: Up to so many names no argument of these operations is longer than a byte.
_MOST_SHORT = 128


def globals_of(code: CodeType) -> set[str]:
    """The names of globals that a function reads, and the functions in it."""
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
        if operation in _READ:
            names.add(code.co_names[argument >> _READ[operation]])
        argument = 0
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            names |= globals_of(constant)
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
        """What an object leads to; its own rows are written down."""
        kind = type(obj)
        if _is_changing(obj):
            raise _TooMuch
        if kind.__name__ == "function":
            if not _is_of_library(obj):
                yield from self.function(obj)
        elif isinstance(obj, _MODULE):
            if not is_fixed(obj.__name__):
                for name in self.known & vars(obj).keys():
                    yield self.reads.attribute(obj, name)
            # NumPy imports its part when it is first asked for it.
            elif any(f"{obj.__name__}.{name}" in _CHANGING for name in self.known):
                raise _TooMuch
        elif isinstance(obj, type):
            if not is_fixed(obj.__module__):
                yield from self.of_class(obj)
        elif isinstance(obj, (tuple, frozenset)):
            yield from obj
            yield kind
        elif isinstance(obj, dict):
            self.reads.add("items", obj)
            yield from [*obj.keys(), *obj.values(), kind]
        elif isinstance(obj, (list, set)):
            self.reads.add("items", obj)
            yield from [*obj, kind]
        elif kind.__name__ == "method":
            yield from (obj.__func__, obj.__self__)
        elif isinstance(obj, (staticmethod, classmethod)):
            yield obj.__func__
        elif isinstance(obj, property):
            yield from (obj.fget, obj.fset)
        elif kind.__name__ in ("ConstantArray", "deque") or isinstance(obj, _usmx.ndarray):
            raise _TooMuch
        elif kind.__module__.partition(".")[0] == "usmx":
            yield from (getattr(obj, name, None) for name in ("python", "_function"))
        elif is_number_of_numpy(obj):
            pass
        elif hasattr(obj, "tobytes") and hasattr(obj, "flags"):
            if not isinstance(getattr(obj, "base", None), bytes):
                if obj.nbytes > _MOST_BYTES or obj.dtype.hasobject:
                    raise _TooMuch
                self.reads.add("bytes", obj, obj.tobytes())
        elif isinstance(obj, (bytearray, memoryview)) or kind.__name__ == "array":
            self.reads.add("bytes", obj, bytes(obj))
        elif hasattr(kind, "__dlpack__"):
            raise _TooMuch  # elements of a device
        else:
            yield from self.of_instance(obj)

    def function(self, python: Any) -> Iterator[Any]:
        """A function of Python: what its names mean, and what else it holds."""
        self.reads.function(python)
        code = python.__code__
        missing = object()
        for name in sorted(globals_of(code) | set(code.co_freevars)):
            yield self.reads.name(python, name, missing)
        yield from python.__defaults__ or ()
        yield from (python.__kwdefaults__ or {}).values()
        if vars(python):  # what `functools.wraps` and others put there
            yield vars(python)
        for name in self.code(code):
            if name in sys.modules and not is_fixed(name):
                yield sys.modules[name]

    def code(self, code: CodeType) -> Iterator[str]:
        """The names of modules that are imported inside, and those of attributes noted."""
        self.names.update(code.co_names)
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                yield from self.code(constant)
            elif isinstance(constant, str) and constant.isidentifier():
                self.names.add(constant)  # getattr(x, "name")

    def of_class(self, kind: type) -> Iterator[Any]:
        """A class of a program: the attributes that are read, and what operators call."""
        for base in kind.__mro__:
            if is_fixed(base.__module__):
                continue
            for name, value in list(vars(base).items()):
                is_operator = name.startswith("__") and type(value).__name__ == "function"
                if name in self.known or is_operator:
                    self.reads.attribute(base, name)
                    # A class may get one of its own, which hides that of the base.
                    self.reads.attribute(kind, name)
                    yield value
        yield type(kind)

    def of_instance(self, obj: Any) -> Iterator[Any]:
        """Anything else: its attributes."""
        kind = type(obj)
        held = getattr(obj, "__dict__", None)
        if isinstance(held, dict):
            yield held
        if kind.__module__ == "functools":
            yield from (getattr(obj, n, None) for n in ("func", "args", "keywords", "__wrapped__"))
        if is_fixed(kind.__module__):
            return
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                if name not in ("__dict__", "__weakref__") and hasattr(obj, name):
                    yield self.reads.attribute(obj, name)
        yield kind
