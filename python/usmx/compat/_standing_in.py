"""Packages of usmx that stand in for others in `sys.modules`, until they are undone."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.abc
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_MISSING = object()


class StandsIn:
    """Modules under the names of other packages, and names of modules that have other values.

    Parameters
    ----------
    roots : tuple of str
        The packages that are replaced, with all their parts.
    modules : dict
        Modules by the names that programs import.
    values : list of tuple
        A module, a name and its value meanwhile.
    """

    def __init__(
        self, roots: tuple[str, ...], modules: dict[str, Any], values: list[tuple[Any, str, Any]]
    ) -> None:
        self._roots = roots
        self._before: list[tuple[Any, str, Any]] = []
        self._modules: dict[str, Any] = {}
        for name in self._present():
            self._modules[name] = sys.modules.pop(name)
        for name, module in modules.items():
            self._modules.setdefault(name, sys.modules.get(name, _MISSING))
            sys.modules[name] = module
        for of, name, value in values:
            self._before.append((of, name, vars(of).get(name, _MISSING)))
            setattr(of, name, value)

    def _present(self) -> list[str]:
        return [n for n in sys.modules if any(n == r or n.startswith(f"{r}.") for r in self._roots)]

    def undo(self) -> None:
        """What was there before is there again."""
        while self._before:
            of, name, value = self._before.pop()
            if value is _MISSING:
                delattr(of, name)
            else:
                setattr(of, name, value)
        for name in self._present():
            if name not in self._modules:
                del sys.modules[name]
        for name, module in self._modules.items():
            if module is _MISSING:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        self._modules.clear()

    def __exit__(self, *_: object) -> None:
        self.undo()


class _MissingParts(importlib.abc.MetaPathFinder):
    """Asked last for modules: says of those that are missing on purpose what to use.

    ``from cupyx.scipy import sparse`` asks the package first, whose error Python replaces by one
    without a reason.
    """

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Nothing; the error, if it is one of these."""
        del path, target
        name = fullname.removeprefix("usmx.compat.")
        if name in self.parts:
            raise ImportError(f"{name} is not here: {self.parts[name]}", name=fullname)


_missing_parts = _MissingParts()
sys.meta_path.append(_missing_parts)


def refuse(package: str, parts: Mapping[str, str]) -> None:
    """Refuse to import parts of a package, by what to use in place of each; it has a ``__path__``.

    Parameters
    ----------
    package : str
        Its name in programs, `usmx.compat` has it by the same.
    parts : mapping
        What to use, by the names of the parts.
    """
    _missing_parts.parts.update({f"{package}.{name}": use for name, use in parts.items()})


def run(usage: str) -> None:
    """Run the program that the command names, with its arguments."""
    if len(sys.argv) < 2:
        raise SystemExit(usage)
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
