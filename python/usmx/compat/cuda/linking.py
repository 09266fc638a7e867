"""Code of other languages, which programs for ``numba.cuda`` link to kernels: it is held, and
refused where a kernel is to be linked to it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any


class LinkableCode:
    """A text or an object file.

    Parameters
    ----------
    data : bytes, str or file
        What it has.
    name : str, optional
        Its name in messages.
    **options : optional
        Others of Numba, which are not used.
    """

    def __init__(self, data: Any, name: str | None = None, **options: Any) -> None:
        del options
        self._data = data
        self.name: str = name or f"<unnamed {type(self).__name__}>"

    @property
    def data(self) -> Any:
        """What it has."""
        return self._data.read() if hasattr(self._data, "read") else self._data


class PTXSource(LinkableCode):
    """PTX."""


class CUSource(LinkableCode):
    """CUDA C++."""


class Fatbin(LinkableCode):
    """A fatbin."""


class Cubin(LinkableCode):
    """A cubin."""


class Archive(LinkableCode):
    """An archive of objects."""


class Object(LinkableCode):
    """An object file."""


class LTOIR(LinkableCode):
    """Code of NVIDIA's linker."""


__all__ = ["LTOIR", "Archive", "CUSource", "Cubin", "Fatbin", "LinkableCode", "Object", "PTXSource"]
