"""Arrays of a device as ``numba.cuda`` names them: usmx's arrays with its methods."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _usmx
from . import devices
from .streams import queue_of


class DeviceNDArray:
    """An array on a device.

    Parameters
    ----------
    array : usmx.ndarray
        Its elements. `usmx` is this array, for all that usmx can do with it.

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> x = cuda.to_device(np.arange(3))
    >>> x.shape, x.usmx.sum().item()
    ((3,), 3)
    """

    #: What it was made or bound with.
    stream: Any = 0

    def __init__(self, array: _usmx.ndarray) -> None:
        self.usmx = array

    # --- what it is -------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return np.dtype(self.usmx.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths."""
        return tuple(self.usmx.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype).strides
        return tuple(n * self.dtype.itemsize for n in self.usmx.strides)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.usmx.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.usmx.size

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.usmx.nbytes

    alloc_size = nbytes

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def T(self) -> DeviceNDArray:
        """The array with its axes in the opposite order."""
        return DeviceNDArray(self.usmx.T)

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address of the first element."""
        import ctypes

        return ctypes.c_void_p(self.usmx.pointer)

    def is_c_contiguous(self) -> bool:
        """Whether the elements are contiguous in C order."""
        return bool(self.usmx.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Whether the elements are contiguous in Fortran order."""
        return bool(self.usmx.flags.f_contiguous)

    @property
    def flags(self) -> dict[str, bool]:
        """NumPy's names of the order."""
        return {
            "C_CONTIGUOUS": self.is_c_contiguous(),
            "F_CONTIGUOUS": self.is_f_contiguous(),
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("_interface__"):
            return getattr(self.usmx, name)
        raise AttributeError(
            f"a device array has no '{name}'; its `usmx` is the array of usmx, which has all others"
        )

    def __dlpack__(self, **how: Any) -> Any:
        return self.usmx.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self.usmx.__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        found = self.copy_to_host()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self.usmx)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<device array of {self.shape}, {self.dtype}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return to_device, (self.copy_to_host(),)

    # --- copies -----------------------------------------------------------------------------------

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """Copy the elements to an array of NumPy, which is made if none is given.

        Parameters
        ----------
        ary : numpy.ndarray, optional
            Of the same shape and type.
        stream : Stream
            The copy waits for it.

        Returns
        -------
        numpy.ndarray
            The copy.
        """
        queue = queue_of(stream)
        if queue is not None:
            queue.wait()
        if ary is None:
            order = "C" if self.is_c_contiguous() or not self.is_f_contiguous() else "F"
            return np.array(self.usmx.to_numpy(), order=order, copy=True)  # type: ignore[call-overload]
        if ary.dtype != self.dtype:
            raise TypeError(f"ary: dtype {ary.dtype}; expected {self.dtype}")
        if ary.shape != self.shape:
            raise ValueError(f"incompatible shape: {ary.shape} vs. {self.shape}")
        ary[...] = self.usmx.to_numpy()
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Replace the elements.

        Parameters
        ----------
        ary : numpy.ndarray or device array
            Of the same shape.
        stream : Stream
            Where the copy is submitted.
        """
        del stream
        values = unwrapped(ary)
        if not isinstance(values, _usmx.ndarray):
            values = np.asarray(values)
        if tuple(values.shape) != self.shape:
            raise ValueError(f"incompatible shape: {tuple(values.shape)} vs. {self.shape}")
        if not isinstance(values, _usmx.ndarray):
            values = values.astype(self.dtype, copy=False)
        self.usmx[...] = values

    # --- parts ------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        found = self.usmx[key]
        return found.to_numpy()[()] if found.ndim == 0 else DeviceNDArray(found)

    getitem = __getitem__

    def __setitem__(self, key: Any, value: Any) -> None:
        self.usmx[key] = unwrapped(value)

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """``a[key] = value``."""
        del stream
        self[key] = value

    def reshape(self, *newshape: Any, order: str = "C") -> DeviceNDArray:
        """Other lengths for the same elements."""
        shape = newshape[0] if len(newshape) == 1 and np.iterable(newshape[0]) else newshape
        how: Any = order
        return DeviceNDArray(self.usmx.reshape(tuple(shape), order=how))

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceNDArray:
        """The elements in one dimension."""
        del stream
        how: Any = order
        return DeviceNDArray(self.usmx.ravel(how))

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """The array with its axes in another order."""
        return DeviceNDArray(self.usmx.T if axes is None else self.usmx.permute(*axes))

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceNDArray:
        """The array without axes of length 1."""
        del stream
        return DeviceNDArray(self.usmx.squeeze(axis))

    def view(self, dtype: Any) -> DeviceNDArray:
        """The same bytes as elements of another type."""
        return DeviceNDArray(self.usmx.view(dtype))

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Parts of that many elements, the last one perhaps of fewer."""
        del stream
        for begin in range(0, self.size, section):
            yield DeviceNDArray(self.usmx[begin : begin + section])

    def as_cuda_arg(self) -> DeviceNDArray:
        """Itself."""
        return self

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """Itself: commands on the same memory are in order on all streams."""
        self.stream = stream
        return self

    def get_ipc_handle(self) -> Any:
        """Not here.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            "IPC handles: other processes open memory of usmx.ipc.empty and usmx.ipc.share, by "
            "usmx.ipc.Handle(x); other memory has none"
        )


class HostNDArray(np.ndarray[Any, Any]):
    """An array of NumPy in memory that the device uses too.

    `usmx` is the array of usmx with the same elements; None for parts of it, which are passed to
    kernels as other arrays of NumPy.
    """

    usmx: _usmx.ndarray | None

    def __array_finalize__(self, obj: Any) -> None:
        self.usmx = None

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """A copy, as of a device array."""
        return DeviceNDArray(self._whole()).copy_to_host(ary, stream)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Replace the elements."""
        DeviceNDArray(self._whole()).copy_to_device(ary, stream)

    def _whole(self) -> _usmx.ndarray:
        found: _usmx.ndarray = _usmx.asarray(self) if self.usmx is None else self.usmx
        return found


def unwrapped(obj: Any) -> Any:
    """The array of usmx in an array of this package; everything else as it is."""
    if type(obj) is DeviceNDArray:
        return obj.usmx
    if isinstance(obj, HostNDArray) and obj.usmx is not None:
        return obj.usmx
    if isinstance(obj, DeviceNDArray):
        return obj.usmx
    return obj


def _queue(stream: Any) -> _usmx.Queue:
    return queue_of(stream) or devices.queue()


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> DeviceNDArray:
    """Copy an array to the device.

    Parameters
    ----------
    obj : array-like
        What is copied.
    stream : Stream
        Where the copy is submitted.
    copy : bool
        False only allocates memory of its shape and type.
    to : device array, optional
        Where to copy it instead of new memory.

    Returns
    -------
    DeviceNDArray
        The copy.

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> x = cuda.to_device(np.arange(3))
    >>> x.copy_to_host()
    array([0, 1, 2])
    """
    given = unwrapped(obj)
    if to is not None:
        to.copy_to_device(obj, stream)
        made: DeviceNDArray = to
        return made
    if not isinstance(given, _usmx.ndarray):
        given = np.asarray(given)
    if not copy:
        return device_array_like(given, stream)
    order: Any = "F" if _is_fortran(given) else "C"
    where = _queue(stream)
    return DeviceNDArray(
        _usmx.asarray(given, usm_type="device", queue=where, copy=True, order=order)
    )


def _is_fortran(a: Any) -> bool:
    return bool(a.ndim > 1 and a.flags.f_contiguous and not a.flags.c_contiguous)


def _empty(shape: Any, dtype: Any, order: Any, kind: Any, stream: Any) -> _usmx.ndarray:
    many = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    lengths = tuple(operator.index(n) for n in many)
    t = np.dtype(getattr(dtype, "name", dtype) if not isinstance(dtype, np.dtype) else dtype)
    made: _usmx.ndarray = _usmx.empty(lengths, t, order, usm_type=kind, queue=_queue(stream))
    return made


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """Memory of the device, not initialised.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    dtype : dtype-like
        Type of the elements.
    strides : None
        Bytes between elements; only those of `order` are supported.
    order : {'C', 'F'}
        Order of the elements.
    stream : Stream
        Where it is used first.

    Returns
    -------
    DeviceNDArray

    Raises
    ------
    NotImplementedError
        Strides that are not those of `order`.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.device_array((2, 3), "float32").shape
    (2, 3)
    """
    made = DeviceNDArray(_empty(shape, dtype, order, "device", stream)).bind(stream)
    if strides is not None and tuple(np.atleast_1d(strides)) != made.strides:
        raise NotImplementedError(f"strides: {strides}; expected those of order={order!r}, or None")
    return made


def _like(ary: Any) -> tuple[Any, Any, str]:
    given = unwrapped(ary)
    return given.shape, np.dtype(given.dtype), "F" if _is_fortran(given) else "C"


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Memory of the device for as many elements as another array has.

    Parameters
    ----------
    ary : array
        Of NumPy or of a device: its shape, type and order are taken.
    stream : Stream
        Where it is used first.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> cuda.device_array_like(np.ones((2, 3))).shape
    (2, 3)
    """
    shape, dtype, order = _like(ary)
    return DeviceNDArray(_empty(shape, dtype, order, "device", stream))


def _host(shape: Any, dtype: Any, order: str, kind: str, stream: Any = 0) -> HostNDArray:
    array = _empty(shape, dtype, order, kind, stream)
    plain = np.asarray(array.to_numpy()) if array.size == 0 else np.asarray(memoryview(array))
    made = plain.view(HostNDArray)
    made.usmx = array
    return made


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> HostNDArray:
    """An array of NumPy in memory of the host that devices copy from quickly.

    Parameters
    ----------
    shape, dtype, strides, order : optional
        As for `device_array`.

    Returns
    -------
    HostNDArray

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.pinned_array(3, "float32").nbytes
    12
    """
    del strides
    return _host(shape, dtype, order, "host")


def pinned_array_like(ary: Any) -> HostNDArray:
    """The same for as many elements as another array has.

    Parameters
    ----------
    ary : array
        Of NumPy or of a device: its shape, type and order are taken.

    Returns
    -------
    HostNDArray

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> cuda.pinned_array_like(np.ones((2, 3))).shape
    (2, 3)
    """
    return _host(*_like(ary), "host")


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> HostNDArray:
    """An array of NumPy in memory of the host that kernels read and write.

    Wait for a kernel, by `synchronize`, before reading what it wrote.

    Parameters
    ----------
    shape, dtype, strides, order, stream : optional
        As for `device_array`.
    portable, wc : bool
        Without effect.

    Returns
    -------
    HostNDArray

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> x = cuda.mapped_array(3, "float32")
    >>> x[:] = 7
    >>> x.sum().item()
    21.0
    """
    del strides, portable, wc
    return _host(shape, dtype, order, "host", stream)


def mapped_array_like(
    ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False
) -> HostNDArray:
    """The same for as many elements as another array has.

    Parameters
    ----------
    ary : array
        Of NumPy or of a device: its shape, type and order are taken.
    stream : Stream
        Where it is used first.
    portable, wc : bool
        Without effect.

    Returns
    -------
    HostNDArray

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> cuda.mapped_array_like(np.ones((2, 3))).shape
    (2, 3)
    """
    del portable, wc
    return _host(*_like(ary), "host", stream)


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> HostNDArray:
    """An array of NumPy in memory that moves between host and device.

    Parameters
    ----------
    shape, dtype, strides, order, stream : optional
        As for `device_array`.
    attach_global : bool
        Without effect.

    Returns
    -------
    HostNDArray

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> x = cuda.managed_array(3, "float32")
    >>> x[:] = 7
    >>> x.sum().item()
    21.0
    """
    del strides, attach_global
    return _host(shape, dtype, order, "shared", stream)


@contextlib.contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """Nothing: arrays of NumPy are copied from where they are.

    Parameters
    ----------
    *arylist : numpy.ndarray
        Without effect.

    Yields
    ------
    None

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> x = np.ones(3)
    >>> with cuda.pinned(x):
    ...     copied = cuda.to_device(x)
    """
    del arylist
    yield


@contextlib.contextmanager
def mapped(*arylist: Any, **_: Any) -> Iterator[Any]:
    """Copies of arrays of NumPy on the device, which are copied back at the end of the block.

    Parameters
    ----------
    *arylist : numpy.ndarray
        What is copied.
    **_ : optional
        Without effect.

    Yields
    ------
    DeviceNDArray or list of DeviceNDArray
        One for each argument.

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> x = np.ones(3)
    >>> with cuda.mapped(x) as there:
    ...     there[0] = 5
    >>> x.tolist()
    [5.0, 1.0, 1.0]
    """
    copies = [to_device(a) for a in arylist]
    yield copies[0] if len(copies) == 1 else copies
    for a, copied in zip(arylist, copies, strict=True):
        copied.copy_to_host(a)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """An array of another library, without a copy: of all that `usmx.asarray` takes.

    Parameters
    ----------
    obj : object
        With a protocol that usmx reads, of memory that the device reads.
    sync : bool
        Without effect: commands on the same memory are in order.

    Returns
    -------
    DeviceNDArray
        What one writes, the other sees.

    Raises
    ------
    TypeError
        It describes no memory.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> x = usmx.arange(3)
    >>> cuda.as_cuda_array(x).usmx.pointer == x.pointer
    True
    """
    del sync
    given = unwrapped(obj)
    if isinstance(given, _usmx.ndarray):
        return DeviceNDArray(given)
    found = _usmx._imported(given, host=True)
    if found is None:
        raise TypeError(f"obj: {type(obj).__name__}; expected an array with a protocol of memory")
    return DeviceNDArray(found)


def is_cuda_array(obj: Any) -> bool:
    """Whether it is an array of a device.

    Parameters
    ----------
    obj : object
        Anything.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> cuda.is_cuda_array(usmx.ones(3)), cuda.is_cuda_array(np.ones(3))
    (True, False)
    """
    if isinstance(obj, DeviceNDArray | _usmx.ndarray | HostNDArray):
        return True
    return hasattr(obj, "__cuda_array_interface__") or hasattr(obj, "__sycl_usm_array_interface__")


def is_cuda_ndarray(obj: Any) -> bool:
    """Whether it is an array of this package.

    Parameters
    ----------
    obj : object
        Anything.

    Returns
    -------
    bool

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.is_cuda_ndarray(cuda.device_array(3)), cuda.is_cuda_ndarray(usmx.ones(3))
    (True, False)
    """
    return isinstance(obj, DeviceNDArray | HostNDArray)


def auto_device(obj: Any, stream: Any = 0, copy: bool = True) -> tuple[Any, bool]:
    """An array on the device, and whether it was made for this.

    Parameters
    ----------
    obj : array-like
        Copied, if it is not on a device.
    stream : Stream
        Where the copy is submitted.
    copy : bool
        False only allocates memory of its shape and type.

    Returns
    -------
    (DeviceNDArray, bool)

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> x, was_made = cuda.auto_device(np.ones(3))
    >>> was_made
    True
    """
    if isinstance(obj, DeviceNDArray):
        return obj, False
    return to_device(obj, stream, copy), True
