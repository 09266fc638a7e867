"""The types that signatures of usmx, and of extensions built on it, speak of."""
# SPDX-License-Identifier: Apache-2.0

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

__all__ = ["QueueLike", "SupportsCapsule", "SupportsUSM"]


class SupportsUSM(Protocol):
    """Whatever describes its USM by ``__sycl_usm_array_interface__``: arrays of any library."""

    @property
    def __sycl_usm_array_interface__(self) -> Mapping[str, Any]: ...


class SupportsCapsule(Protocol):
    """A queue or context of any library: hands over its SYCL object in a fresh capsule."""

    def _get_capsule(self) -> object: ...


QueueLike: TypeAlias = SupportsCapsule | str | None
"""What names a queue: one of any library, a filter string, or None for the default queue."""
