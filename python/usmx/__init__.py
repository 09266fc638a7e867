"""usmx: zero-copy exchange of SYCL Unified Shared Memory between C++ and Python."""

from ._usmx import __version__

__all__ = ["__version__"]
