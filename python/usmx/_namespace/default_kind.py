"""`usmx.default_usm_type`: the kind of memory of arrays whose program does not say one."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from .. import _usmx

if TYPE_CHECKING:
    from types import TracebackType

    from ..typing import DeviceLike, UsmKind

__all__ = ["ChosenUsmType", "default_usm_type"]


class ChosenUsmType:
    """A choice of `default_usm_type`, which holds at once; a ``with`` block ends it.

    Examples
    --------
    >>> import usmx
    >>> with usmx.default_usm_type("host"):
    ...     x = usmx.zeros(3)
    >>> x.usm_type
    'host'
    """

    __slots__ = ("_before",)

    def __init__(self, before: UsmKind | None) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _usmx._set_default_kind(self._before)


#: What stands for no argument: None is one.
_NOT_GIVEN = cast("Any", object())


@overload
def default_usm_type(*, device: DeviceLike = ...) -> UsmKind: ...
@overload
def default_usm_type(usm_type: UsmKind | None) -> ChosenUsmType: ...
def default_usm_type(usm_type: Any = _NOT_GIVEN, *, device: Any = None) -> Any:
    """The kind of memory of new arrays whose program does not say one; with an argument, choose it.

    By itself each device has its own: ``'shared'`` where the device is the host's own processor, so
    that NumPy and other libraries read arrays without a copy, ``'device'`` elsewhere.

    Parameters
    ----------
    usm_type : {'device', 'shared', 'host'} or None
        The kind for all devices and threads of the process from now on, or until the end of a
        ``with`` block. None ends a choice: then the environment variable ``USMX_USM_TYPE`` holds,
        or each device's own kind.
    device : str, Device or Queue, optional
        Whose kind is asked for; the default device by default.

    Returns
    -------
    str or ChosenUsmType
        The kind without `usm_type`, otherwise what a ``with`` block takes.

    Raises
    ------
    ValueError
        Another text, also in ``USMX_USM_TYPE``.
    TypeError
        Both `usm_type` and `device`.

    Examples
    --------
    >>> import usmx
    >>> with usmx.default_usm_type("shared"):
    ...     usmx.zeros(3).usm_type
    'shared'
    """
    if usm_type is _NOT_GIVEN:
        return _usmx._default_kind(device)
    if device is not None:
        raise TypeError("device: with usm_type, the kind of all devices is chosen")
    return ChosenUsmType(_usmx._set_default_kind(usm_type))
