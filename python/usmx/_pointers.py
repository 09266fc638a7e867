"""Arrays over USM that a library allocated and gives as an address."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from . import _usmx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .typing import DTypeLike, QueueLike, UsmKind


class _Lent:
    """The memory as an object of the protocol, by which all foreign memory comes in."""

    __slots__ = ("__sycl_usm_array_interface__", "__weakref__", "owner")

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__sycl_usm_array_interface__ = interface
        self.owner = owner


def from_pointer(
    address: int,
    shape: int | Sequence[int],
    dtype: DTypeLike = "float64",
    queue: QueueLike = None,
    *,
    owner: object = None,
    strides: Sequence[int] | None = None,
    readonly: bool = False,
    usm_type: UsmKind | None = None,
) -> _usmx.ndarray:
    """An array over USM at an address, without a copy.

    The driver is asked what is there: the memory has to be USM of the queue's context, from the
    first to the last element of one allocation, and aligned for its elements.

    Parameters
    ----------
    address : int
        Of the element whose indices are all 0.
    shape : int or sequence of int
        The lengths of the dimensions.
    dtype : dtype
        The type of the elements.
    queue : Queue or what stands for one
        In whose context the memory was allocated, and to which commands are submitted. None is the
        default queue.
    owner : object
        What keeps the memory: the array, its views and everything else over the memory hold it, and
        let it go behind the last command. None leaves that to the caller.
    strides : sequence of int, optional
        Steps between neighbours in elements, for each dimension; None is C order.
    readonly : bool
        Whether the elements may not be written.
    usm_type : {'device', 'shared', 'host'}, optional
        What the memory is expected to be.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the address is not USM of that context, elements are outside of the allocation or not
        aligned, or the memory is of another kind than `usm_type`.
    TypeError
        If an argument is of another type.

    Examples
    --------
    >>> import usmx.memory
    >>> memory = usmx.memory.MemoryUSMShared(64)
    >>> x = usmx.from_pointer(memory._pointer, (2, 4), "float32", memory.sycl_queue, owner=memory)
    >>> x.shape, x.usm_type
    ((2, 4), 'shared')
    """
    if isinstance(address, bool) or not hasattr(address, "__index__"):
        raise TypeError(
            f"address: is of type {type(address).__name__}; expected an int, such as x.pointer or "
            "the value of a ctypes.c_void_p"
        )
    place = index(address)
    if not 0 < place < 1 << 64:
        raise ValueError(f"address: is {place:#x}; expected an address from 1 to 2**64 - 1")
    kind = _usmx.dtype(dtype)
    lengths = (index(shape),) if hasattr(shape, "__index__") else tuple(map(index, shape))
    interface: dict[str, Any] = {
        "version": 1,
        "data": (place, bool(readonly)),
        "shape": lengths,
        "typestr": kind.str,
        "syclobj": _usmx.default_queue() if queue is None else queue,
    }
    if kind.names is not None:
        interface["typedescr"] = kind.descr
    elif kind == _usmx.bfloat16:
        interface.update(typestr="<V2", typedescr=[("bfloat16", "|V2")])
    if strides is not None:
        interface["strides"] = tuple(map(index, strides))
    array = _usmx.asarray(_Lent(interface, owner), copy=False)
    if usm_type is not None and array.usm_type != usm_type:
        raise ValueError(
            f"usm_type: is {usm_type!r}, but the driver says that the memory at {place:#x} is "
            f"{array.usm_type!r}"
        )
    return array
