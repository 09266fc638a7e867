"""Calls a function when another library is imported, without importing it.

Entry points are read when Dask's core is imported; its arrays, which most of its users never need,
come later or never.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Followed(Loader):
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


class _Watch(MetaPathFinder):
    """Finds one module once, by asking all other finders."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name, self.then = name, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Followed(spec.loader, self.then)
        return spec


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
        sys.meta_path.insert(0, _Watch(name, then))
    elif getattr(module.__spec__, "_initializing", False):
        raise ImportError(f"{name} is being imported; expected before or after its import")
    else:
        then()
