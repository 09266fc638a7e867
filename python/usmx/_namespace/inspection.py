"""What the standard lets libraries ask: which functions, types and devices there are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _usmx
from .data_types import KIND_NAMES, KINDS

if TYPE_CHECKING:
    from ..typing import DeviceLike

__all__ = ["__array_api_version__", "__array_namespace_info__"]

#: The edition of the standard.
__array_api_version__ = "2025.12"


class NamespaceInfo:
    """Capabilities, devices and types of `usmx`."""

    def capabilities(self) -> dict[str, Any]:
        """What is supported beyond what every library has.

        Returns
        -------
        dict
            'boolean indexing', 'data-dependent shapes' and 'max dimensions'.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> _usmx.Device:
        """The device on which arrays live if none is given."""
        return _usmx.default_queue().device

    def devices(self) -> tuple[_usmx.Device, ...]:
        """All devices."""
        return tuple(_usmx.devices())

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, Any]:
        """The types of results if none is given.

        Parameters
        ----------
        device : str, Device or Queue, optional
            None is the default device.

        Returns
        -------
        dict
            'real floating', 'complex floating', 'integral' and 'indexing'.
        """
        types = self._known(device)
        double = "float64" in types
        return {
            "real floating": types["float64" if double else "float32"],
            "complex floating": types["complex128" if double else "complex64"],
            "integral": types["int64"],
            "indexing": types["int64"],
        }

    def dtypes(self, *, device: DeviceLike = None, kind: Any = None) -> dict[str, Any]:
        """The types of the standard that a device computes with; `float16` is none of them.

        Parameters
        ----------
        device : str, Device or Queue, optional
            None is the default device.
        kind : str or tuple of str, optional
            As for `isdtype`; None is all.

        Raises
        ------
        ValueError
            There is no such kind.
        """
        known = self._known(device)
        if kind is None:
            return known
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for one in kinds:
            if one not in KIND_NAMES:
                raise ValueError(f"kind: {one!r}; expected one of {', '.join(KIND_NAMES)}")
        return {name: t for name, t in known.items() if any(k in KINDS[name] for k in kinds)}

    @staticmethod
    def _known(device: DeviceLike) -> dict[str, Any]:
        import numpy as np

        if device is None:
            where = _usmx.default_queue().device
        else:
            where = _usmx.empty(0, "int8", device=device).device
        missing = {"float16"}
        if not where.has_aspect_fp64:
            missing |= {"float64", "complex128"}
        return {name: np.dtype(name) for name in KINDS if name not in missing}


def __array_namespace_info__() -> NamespaceInfo:
    """What the standard lets libraries ask about `usmx`.

    Returns
    -------
    NamespaceInfo
        Its methods are ``capabilities``, ``default_device``, ``default_dtypes``, ``devices`` and
        ``dtypes``.

    Examples
    --------
    >>> import usmx
    >>> sorted(usmx.__array_namespace_info__().default_dtypes())
    ['complex floating', 'indexing', 'integral', 'real floating']
    """
    return NamespaceInfo()
