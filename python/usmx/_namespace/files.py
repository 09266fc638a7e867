"""Arrays in files of NumPy, ``.npy`` and ``.npz``, read and written piece by piece.

The host never has more than one piece of an array, so that an array can be as large as the memory
of its device.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import zipfile
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from errno import EINVAL
from math import prod
from typing import IO, Any, Self

from .. import _usmx
from .._progress import Report
from ..typing import DeviceLike, QueueLike, UsmKind

__all__ = ["NpzFile", "load", "save", "savez", "savez_compressed"]

_MAGIC = b"\x93NUMPY"
_PIECE = 1 << 24
# As long as headers of NumPy's own reader may be; a longer one could take minutes to read.
_LONGEST_HEADER = 10_000
_Progress = bool | Callable[[int, int], object]


def _read_exactly(file: Any, count: int, what: str) -> bytes:
    parts = []
    while count > 0:
        part = file.read(count)
        if not part:
            raise ValueError(f"file: ends within {what}")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_header(file: Any) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, whether the order is Fortran's, and the type of NumPy; the file is behind it then."""
    import numpy as np

    start = _read_exactly(file, 8, "the header")
    if start[:6] != _MAGIC:
        raise ValueError(f"file: expected one of NumPy (.npy or .npz), which begins with {start!r}")
    version = (start[6], start[7])
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"file: versions 1.0, 2.0 and 3.0 are known, got {start[6]}.{start[7]}")
    digits = 2 if version == (1, 0) else 4
    length = int.from_bytes(_read_exactly(file, digits, "the header"), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(
            f"file: the header has {length} bytes, and at most {_LONGEST_HEADER} are read"
        )
    text = _read_exactly(file, length, "the header")
    try:
        header = literal_eval(text.decode("utf-8" if version == (3, 0) else "latin-1").strip())
        if not isinstance(header, dict) or header.keys() != {"descr", "fortran_order", "shape"}:
            raise ValueError("it is not a dictionary of descr, fortran_order and shape")
        shape, is_fortran = header["shape"], header["fortran_order"]
        if not isinstance(shape, tuple) or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"shape is {shape!r}")
        if type(is_fortran) is not bool:
            raise ValueError(f"fortran_order is {is_fortran!r}")
        dtype = np.lib.format.descr_to_dtype(header["descr"])
    except (
        ValueError, SyntaxError, TypeError, MemoryError, RecursionError, KeyError, IndexError,
        AttributeError, OverflowError,
    ) as error:  # fmt: skip
        raise ValueError(f"file: the header {text[:80]!r} cannot be read: {error}") from error
    if dtype.hasobject:
        raise ValueError(
            "file: has Python objects, which are not read, because pickles can run any program; "
            "numpy.load(..., allow_pickle=True) reads them"
        )
    if dtype.itemsize == 0:
        raise ValueError(f"file: elements of {dtype} have no bytes")
    try:
        _usmx.dtype(dtype.newbyteorder("="))
    except TypeError as error:
        raise ValueError(f"file: elements of {dtype} are not supported: {error}") from error
    return shape, is_fortran, dtype


def _bytes_left(file: Any) -> int | None:
    try:
        here = file.tell()
        end: int = file.seek(0, os.SEEK_END)
        file.seek(here)
    except (AttributeError, OSError, ValueError):
        return None
    return end - int(here)


def _read(
    file: Any,
    left: Callable[[], int | None],
    where: dict[str, Any],
    progress: _Progress,
) -> _usmx.ndarray:
    import numpy as np

    shape, is_fortran, dtype = read_header(file)
    count = prod(shape)
    total = count * dtype.itemsize
    there = left()
    if there is not None and there < total:
        raise ValueError(
            f"file: has {there} bytes of elements, and {shape} elements of {dtype} need {total}"
        )
    native = dtype.newbyteorder("=")
    if is_fortran:
        made = _usmx.empty(shape[::-1], native, **where)
    else:
        made = _usmx.empty(shape, native, **where)
    flat = made.reshape(-1)
    report = Report(progress, total) if progress else None
    step = max(_PIECE // dtype.itemsize, 1)
    for first in range(0, count, step):
        last = min(first + step, count)
        raw = _read_exactly(file, (last - first) * dtype.itemsize, "the elements")
        piece = np.frombuffer(raw, dtype)
        if native != dtype:
            piece = piece.astype(native)
        _usmx.copy(flat[first:last], piece)
        if report is not None:
            report.add(len(raw))
    if report is not None:
        report.close()
    return made.transpose() if is_fortran and len(shape) > 1 else made


def _write(file: Any, x: Any, progress: _Progress) -> None:
    import numpy as np

    array = x if isinstance(x, _usmx.ndarray) else _usmx.asarray(x)
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    descr: Any = "<V2"  # as NumPy writes ml_dtypes' bfloat16, which its format cannot name
    if array.dtype == _usmx.bfloat16:
        array = array.view("uint16")
    else:
        descr = np.lib.format.dtype_to_descr(array.dtype)
    header = {
        "descr": descr,
        "fortran_order": bool(is_fortran),
        "shape": array.shape,
    }
    try:
        np.lib.format.write_array_header_1_0(file, header)
    except ValueError:
        np.lib.format.write_array_header_2_0(file, header)
    ordered = array.transpose() if is_fortran else array
    flat = (ordered if ordered.flags.c_contiguous else ordered.copy()).reshape(-1)
    report = Report(progress, array.nbytes) if progress else None
    step = max(_PIECE // array.itemsize, 1)
    for first in range(0, array.size, step):
        piece = np.empty(min(step, array.size - first), array.dtype)
        _usmx.copy(piece, flat[first : first + step])
        file.write(piece.tobytes())
        if report is not None:
            report.add(piece.nbytes)
    if report is not None:
        report.close()


@contextmanager
def _opened(file: Any, mode: str, suffix: str) -> Iterator[Any]:
    if hasattr(file, "write" if "w" in mode else "read"):
        yield file
        return
    path = os.fspath(file)
    if "w" in mode and not path.endswith(suffix):
        path += suffix
    with open(path, mode) as stream:
        yield stream


def save(
    file: str | os.PathLike[str] | IO[bytes], arr: Any, *, progress: _Progress = False
) -> None:
    """Writes an array into a file of NumPy's format ``.npy``.

    Parameters
    ----------
    file : path or file
        The suffix ``.npy`` is added to a path without it.
    arr : array
        What is written; piece by piece, from any kind of memory.
    progress : bool or callable, optional
        Shows a bar of tqdm, or calls the function with the bytes done and the bytes in all.

    Examples
    --------
    >>> import usmx
    >>> import io
    >>> file = io.BytesIO()
    >>> usmx.save(file, usmx.arange(3))
    >>> _ = file.seek(0)
    >>> print(usmx.load(file))
    [0, 1, 2]
    """
    with _opened(file, "wb", ".npy") as stream:
        _write(stream, arr, progress)


def _save_all(file: Any, arrays: tuple[Any, ...], named: dict[str, Any], how: int) -> None:
    members = {f"arr_{k}": x for k, x in enumerate(arrays)}
    for name in named:
        if name in members:
            raise ValueError(f"{name}: is the name of an array that is given without a name")
    with (
        _opened(file, "wb", ".npz") as stream,
        zipfile.ZipFile(stream, "w", how, allowZip64=True) as archive,
    ):
        for name, x in {**members, **named}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                _write(member, x, False)


def savez(file: str | os.PathLike[str] | IO[bytes], *args: Any, **kwds: Any) -> None:
    """Writes arrays into a file of NumPy's format ``.npz``.

    Parameters
    ----------
    file : path or file
        The suffix ``.npz`` is added to a path without it.
    *args, **kwds : array
        Arrays without names are called ``arr_0``, ``arr_1`` and so on.

    Examples
    --------
    >>> import usmx
    >>> import io
    >>> file = io.BytesIO()
    >>> usmx.savez(file, x=usmx.arange(3), y=usmx.ones(2))
    >>> _ = file.seek(0)
    >>> print(usmx.load(file)["y"])
    [1., 1.]
    """
    _save_all(file, args, kwds, zipfile.ZIP_STORED)


def savez_compressed(file: str | os.PathLike[str] | IO[bytes], *args: Any, **kwds: Any) -> None:
    """Writes arrays into a compressed file of NumPy's format ``.npz``.

    Parameters
    ----------
    file : path or file
        The suffix ``.npz`` is added to a path without it.
    *args, **kwds : array
        Arrays without names are called ``arr_0``, ``arr_1`` and so on.

    Examples
    --------
    >>> import usmx
    >>> import io
    >>> file = io.BytesIO()
    >>> usmx.savez_compressed(file, x=usmx.zeros(1000))
    >>> len(file.getvalue()) < 1000
    True
    """
    _save_all(file, args, kwds, zipfile.ZIP_DEFLATED)


@contextmanager
def _damage_of(what: str) -> Iterator[None]:
    """What an archive raises that is damaged somewhere becomes a ValueError.

    Every decompressor has errors of its own, and a member that seems to be encrypted is a
    RuntimeError. What the system says, such as an error of the disk, stays as it is.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise
        raise ValueError(
            f"file: {what} cannot be read: {str(error) or type(error).__name__}"
        ) from error


class _Member:
    """A member of an archive that is read."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name

    def read(self, count: int) -> bytes:
        with _damage_of(self._name):
            return self._file.read(count)


class NpzFile(Mapping[str, _usmx.ndarray]):
    """The arrays of a file ``.npz`` by their names; each is read when it is asked for.

    `load` makes it. Close it, or use it in a ``with`` statement.

    Examples
    --------
    >>> import usmx
    >>> import io
    >>> file = io.BytesIO()
    >>> usmx.savez(file, x=usmx.arange(3))
    >>> _ = file.seek(0)
    >>> found = usmx.load(file)
    >>> list(found), isinstance(found, usmx.NpzFile)
    (['x'], True)
    """

    def __init__(
        self, archive: zipfile.ZipFile, where: dict[str, Any], progress: _Progress
    ) -> None:
        self._archive, self._where, self._progress = archive, where, progress
        self._members = {
            name.removesuffix(".npy"): name for name in archive.namelist() if name.endswith(".npy")
        }

    @property
    def files(self) -> list[str]:
        """The names of the arrays."""
        return [*self._members]

    def __getitem__(self, name: str) -> _usmx.ndarray:
        """The array of that name, read from the file."""
        info = self._archive.getinfo(self._members[name])
        with _damage_of(name):
            opened = self._archive.open(info)
        with opened:
            return _read(
                _Member(opened, name),
                lambda: info.file_size - opened.tell(),
                self._where,
                self._progress,
            )

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._archive.close()


def load(
    file: str | os.PathLike[str] | IO[bytes],
    *,
    allow_pickle: bool = False,
    usm_type: UsmKind | None = None,
    device: DeviceLike = None,
    queue: QueueLike = None,
    progress: _Progress = False,
) -> _usmx.ndarray | NpzFile:
    """Reads an array from a file ``.npy``, or gives those of a file ``.npz``.

    The elements are read piece by piece into the memory that is asked for. Nothing is allocated
    before the file is known to have as many bytes as its header says, if it can be asked.

    Parameters
    ----------
    file : path or file
        What `save` and NumPy write: versions 1.0, 2.0 and 3.0 of the format, both orders of
        elements and of bytes, structured types.
    allow_pickle : bool
        Must be False: Python objects are not read.
    usm_type, device, queue : optional
        Where the arrays are made.
    progress : bool or callable, optional
        Shows a bar of tqdm, or calls the function with the bytes done and the bytes in all.

    Returns
    -------
    ndarray or NpzFile

    Raises
    ------
    ValueError
        If the file ends too early, is of another kind, or has Python objects.

    Examples
    --------
    >>> import usmx
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
    >>> usmx.save(path, usmx.arange(3))
    >>> print(usmx.load(path))
    [0, 1, 2]
    """
    if allow_pickle:
        raise ValueError(
            "allow_pickle: expected False, got True: pickles can run any program, and USM has no "
            "Python objects; numpy.load reads them"
        )
    where = {"usm_type": usm_type, "device": device, "queue": queue}
    stream: Any = file if hasattr(file, "read") else open(os.fspath(file), "rb")  # noqa: SIM115
    try:
        start = stream.read(4)
        stream.seek(-len(start), os.SEEK_CUR)
        if start[:2] == b"PK":
            with _damage_of("the archive"):
                archive = zipfile.ZipFile(stream)
            if stream is not file:
                # Closed with the archive.
                archive._filePassed = 0  # type: ignore[attr-defined]
                stream = file
            return NpzFile(archive, where, progress)
        return _read(stream, lambda: _bytes_left(stream), where, progress)
    finally:
        if stream is not file:
            stream.close()
