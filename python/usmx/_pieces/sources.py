"""What pieces are read from: a file of NumPy, Zarr, Parquet or Arrow, each a row of `OPENERS`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np


class Source(Protocol):
    """An array in a file, of which rows can be read by several threads at the same time."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    #: Pieces of a multiple of this many rows are read without work that is done twice.
    rows_together: int

    def read_into(self, first: int, last: int, target: np.ndarray) -> None:
        """Read rows into an array of the host, of the shape and type of them."""


class NpySource:
    """A file of NumPy."""

    rows_together = 1

    def __init__(self, path: Path) -> None:
        from .._namespace.files import read_header

        self.name = str(path)
        with path.open("rb") as file:
            self.shape, is_fortran, self._stored = read_header(file)
            self._start = file.tell()
        if not self.shape:
            raise ValueError(f"path: {self.name} has an array without dimensions; usmx.load it")
        if is_fortran and len(self.shape) > 1:
            raise ValueError(
                f"path: {self.name} is in Fortran order, whose rows are not in one piece; "
                "numpy.save writes C order of numpy.ascontiguousarray(x)"
            )
        self.dtype = self._stored.newbyteorder("=")
        self._row = prod(self.shape[1:]) * self.dtype.itemsize
        there = path.stat().st_size - self._start
        if there < self.shape[0] * self._row:
            raise ValueError(
                f"path: {self.name} has {there} bytes of elements; expected "
                f"{self.shape[0] * self._row} for shape {self.shape} of {self.dtype}"
            )
        self._file = path.open("rb", buffering=0)

    def read_into(self, first: int, last: int, target: np.ndarray) -> None:
        flat: Any = target.reshape(-1).view("u1")
        left = memoryview(flat)
        place = self._start + first * self._row
        while left:
            count = os.preadv(self._file.fileno(), [left], place)
            if count == 0:
                raise ValueError(f"path: {self.name} became shorter while it was read")
            left, place = left[count:], place + count
        if self._stored != self.dtype:
            target.byteswap(inplace=True)


class ZarrSource:
    """An array of Zarr; blocks are decoded by its own threads."""

    def __init__(self, path: Path) -> None:
        try:
            import zarr
        except ImportError as error:
            raise ImportError(
                f"path: {path} needs Zarr, which is not installed; pip install zarr"
            ) from error
        self._array: Any = zarr.open_array(str(path), mode="r")
        self.name = str(path)
        self.shape = tuple(self._array.shape)
        if not self.shape:
            raise ValueError(f"path: {path} has an array without dimensions")
        self.dtype = self._array.dtype.newbyteorder("=")
        self.rows_together = int(self._array.chunks[0])

    def read_into(self, first: int, last: int, target: np.ndarray) -> None:
        target[...] = self._array[first:last]


class _Column:
    """A column of a table whose rows lie in groups; the group that was read last is kept."""

    def __init__(
        self, name: str, dtype: Any, lengths: list[int], read: Callable[[int], Any]
    ) -> None:
        self.name = name
        self.dtype = dtype
        self._begins = [0]
        for one in lengths:
            self._begins.append(self._begins[-1] + one)
        self.shape: tuple[int, ...] = (self._begins[-1],)
        self.rows_together = max(lengths, default=1) or 1
        self._read = read
        self._lock = Lock()
        self._kept: tuple[int, Any] = (-1, None)

    def _group(self, number: int) -> Any:
        with self._lock:
            if self._kept[0] != number:
                self._kept = (number, self._numbers(self._read(number)))
            return self._kept[1]

    def _numbers(self, column: Any) -> Any:
        if column.null_count and self.dtype.kind != "f":
            raise ValueError(
                f"path: {self.name} has {column.null_count} missing values of {self.dtype}; "
                "expected numbers (missing floats become NaN)"
            )
        return column.to_numpy(zero_copy_only=False) if hasattr(column, "offset") else (
            column.to_numpy()
        )  # fmt: skip

    def read_into(self, first: int, last: int, target: np.ndarray) -> None:
        number = bisect_right(self._begins, first) - 1
        done = 0
        while first + done < last:
            begin, end = self._begins[number], self._begins[number + 1]
            at = first + done
            until = min(end, last)
            if until > at:
                target[done : done + until - at] = self._group(number)[at - begin : until - begin]
                done += until - at
            number += 1


def _type_of(name: str, arrow: Any) -> Any:
    """NumPy's type of a column; TypeError for texts, lists and the like."""
    import pyarrow as pa

    if not (
        pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_boolean(arrow)
    ):
        raise TypeError(f"column: {name!r} is of type {arrow}; expected numbers or bools")
    import numpy as np

    return np.dtype(arrow.to_pandas_dtype())


def _pyarrow(path: Path) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"path: {path} needs pyarrow, which is not installed; pip install pyarrow"
        ) from error


def parquet_columns(path: Path) -> dict[str, Callable[[], Source]]:
    """The columns of a file of Parquet; each row group is read once."""
    _pyarrow(path)
    import pyarrow.parquet as pq

    file = pq.ParquetFile(str(path), memory_map=True)
    lengths = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]

    def column(name: str, arrow: Any) -> Source:
        own = pq.ParquetFile(str(path), memory_map=True)  # a reader is for one thread
        return _Column(
            f"{path}: column {name!r}",
            _type_of(name, arrow),
            lengths,
            lambda k: own.read_row_group(k, columns=[name]).column(0),
        )

    return {f.name: partial(column, f.name, f.type) for f in file.schema_arrow}


def arrow_columns(path: Path) -> dict[str, Callable[[], Source]]:
    """The columns of a file of Arrow, which is mapped into memory."""
    _pyarrow(path)
    import pyarrow as pa

    file = pa.ipc.open_file(pa.memory_map(str(path)))
    lengths = [file.get_batch(k).num_rows for k in range(file.num_record_batches)]

    def column(number: int, name: str, arrow: Any) -> Source:
        return _Column(
            f"{path}: column {name!r}",
            _type_of(name, arrow),
            lengths,
            lambda k: file.get_batch(k).column(number),
        )

    return {f.name: partial(column, k, f.name, f.type) for k, f in enumerate(file.schema)}


#: Suffix -> what opens an array, and what opens the columns of a table.
ARRAYS: dict[str, Callable[[Path], Source]] = {".npy": NpySource, ".zarr": ZarrSource}
TABLES: dict[str, Callable[[Path], dict[str, Callable[[], Source]]]] = {
    ".parquet": parquet_columns,
    ".arrow": arrow_columns,
    ".feather": arrow_columns,
}
