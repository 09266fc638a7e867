"""Calls a function when another library is imported, without importing it.

Entry points are read when Dask's core is imported; its arrays, which most of its users never need,
come later or never.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

TYPE_CHECKING = False  # as typing's, which takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class _Followed:
    """The loader of a module, and what comes after it."""

    def __init__(self, loader: Loader, then: Callable[[], None]) -> None:
        self.loader, self.then = loader, then

    def __getattr__(self, name: str) -> object:  # what inspect and importlib.resources ask for
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # What the module knows of its loader is what it would know without us.
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.then()


class _Watch:
    """Finds each of some modules, by asking all other finders, until it was executed."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[], None]]] = {}
        self.asking: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.waiting or fullname in self.asking:
            return None
        from importlib.util import find_spec

        self.asking.add(fullname)
        try:
            spec = find_spec(fullname)
        finally:
            self.asking.discard(fullname)
        if spec is not None and spec.loader is not None:
            followed: Any = _Followed(spec.loader, lambda: self.executed(fullname))
            spec.loader = followed
        return spec

    def executed(self, name: str) -> None:
        calls = self.waiting.pop(name, ())
        if not self.waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        for call in calls:
            call()


#: The one of this process: it is asked at each import of a program while it waits for some.
_watch = _Watch()


def when_imported(name: str, then: Callable[[], None]) -> None:
    """Call a function after a module was executed; at once if it is there already.

    Parameters
    ----------
    name : str
        The full name of the module.
    then : callable
        Called once, without arguments.
    """
    module = sys.modules.get(name)
    if module is None:
        _watch.waiting.setdefault(name, []).append(then)
        if _watch not in sys.meta_path:
            sys.meta_path.insert(0, _watch)
    elif getattr(module.__spec__, "_initializing", False):
        raise ImportError(f"{name} is being imported; expected before or after its import")
    else:
        then()
