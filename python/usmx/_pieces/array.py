"""Arrays and tables in files: what `usmx.open` gives."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .. import _usmx
from .._namespace._common import to_axes
from . import results, stream
from .sources import ARRAYS, TABLES, Source
from .stream import Progress

if TYPE_CHECKING:
    from ..typing import DTypeLike

__all__ = ["FileArray", "FileTable", "open"]

_PIECE = 32 << 20
_Apply = Callable[[list[_usmx.ndarray], int, int], _usmx.ndarray]


def open(
    path: str | os.PathLike[str],
    *,
    column: str | None = None,
    piece_bytes: int = _PIECE,
    queue: Any = None,
    device: Any = None,
) -> FileArray | FileTable:
    """An array in a file, computed piece by piece: it may be larger than memory.

    Nothing but the header is read. Operators, functions of elements and `FileArray.map_blocks`
    say what is computed; a reduction, a histogram, `FileArray.save` or `FileArray.compute` streams
    the file through the device once, while threads read the next pieces.

    Parameters
    ----------
    path : path
        A file ``.npy`` in C order, a folder ``.zarr``, or a table ``.parquet``, ``.arrow`` or
        ``.feather``.
    column : str, optional
        A column of a table; by default a table of all columns is given.
    piece_bytes : int, optional
        Bytes of a piece, of which three are in memory at the same time; rounded to whole chunks of
        Zarr and row groups of Parquet.
    queue, device : optional
        Where it is computed; by default on `usmx.default_queue`.

    Returns
    -------
    FileArray or FileTable

    Raises
    ------
    ValueError
        A suffix that is not known, a file that is damaged or shorter than its header says.
    ImportError
        Zarr or pyarrow is needed and not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import usmx
    >>> folder = tempfile.mkdtemp()
    >>> name = os.path.join(folder, "x.npy")
    >>> usmx.save(name, usmx.arange(1000.0))
    >>> x = usmx.open(name)
    >>> float((x * 2 + 1).mean())
    1000.0
    """
    given = Path(path)
    size = operator.index(piece_bytes)
    if size < 1:
        raise ValueError(f"piece_bytes: {size}; expected at least 1")
    if queue is not None and device is not None:
        raise ValueError("queue and device are given; expected one of them")
    on = queue or (_usmx.default_queue() if device is None else _usmx.Queue(device))
    if not given.exists():
        raise FileNotFoundError(f"path: {str(path)!r} does not exist")
    if given.suffix in ARRAYS:
        if column is not None:
            raise ValueError(f"column: {column!r}, but {str(path)!r} is a single array")
        return FileArray([ARRAYS[given.suffix](given)], size, on)
    if given.suffix in TABLES:
        table = FileTable(str(path), TABLES[given.suffix](given), size, on)
        return table if column is None else table[column]
    known = ", ".join(repr(one) for one in (*ARRAYS, *TABLES))
    raise ValueError(f"path: {str(path)!r}; expected a name that ends in one of {known}")


class FileTable(Mapping[str, "FileArray"]):
    """The columns of a table in a file, by name; what is not a number is refused when asked for.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import pyarrow.feather
    >>> import tempfile
    >>> import usmx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.feather.write_feather(pa.table({"a": [1.0, 2.0]}), folder + "/t.arrow")
    ...     table = usmx.open(folder + "/t.arrow")
    ...     list(table), float(table["a"].sum())
    (['a'], 3.0)
    """

    def __init__(
        self, name: str, columns: dict[str, Callable[[], Source]], piece_bytes: int, queue: Any
    ) -> None:
        self._name, self._columns = name, columns
        self._piece_bytes, self._queue = piece_bytes, queue
        self._opened: dict[str, FileArray] = {}

    def __getitem__(self, name: str) -> FileArray:
        """The column of that name."""
        if name not in self._columns:
            raise KeyError(f"{name!r}; {self._name} has the columns {', '.join(self._columns)}")
        if name not in self._opened:
            source = self._columns[name]()
            self._opened[name] = FileArray([source], self._piece_bytes, self._queue)
        return self._opened[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"FileTable({self._name!r}, columns: {', '.join(self._columns)})"


def _only(pieces: list[_usmx.ndarray], _first: int, _last: int) -> _usmx.ndarray:
    return pieces[0]


class FileArray(NDArrayOperatorsMixin):
    """An array in a file, or what is computed from some; see `usmx.open`.

    Operators and NumPy's and usmx's functions of elements give further ones. Other operands are
    numbers, arrays that broadcast to the rows, and arrays with as many rows.

    Examples
    --------
    >>> import usmx
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
    >>> usmx.save(path, usmx.ones(1000))
    >>> x = usmx.open(path)
    >>> isinstance(x, usmx.FileArray), x.sum().item()
    (True, 1000.0)
    """

    __array_priority__ = 2000

    def __init__(
        self, sources: list[Source], piece_bytes: int, queue: Any, apply: _Apply = _only
    ) -> None:
        self._sources = sources
        self._piece_bytes, self._queue, self._apply = piece_bytes, queue, apply
        self._meta: Any = sources[0] if apply is _only else None

    # --- what it is -------------------------------------------------------------------------------

    def _known(self) -> Any:
        """What shape and type are taken from: the result for a piece without rows."""
        if self._meta is None:
            empty = [
                _usmx.empty((0, *s.shape[1:]), s.dtype, usm_type="host", queue=self._queue)
                for s in self._sources
            ]
            self._meta = self._apply(empty, 0, 0)
        return self._meta

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes; the first one is that of rows."""
        return (self._sources[0].shape[0], *self._known().shape[1:])

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return np.dtype(self._known().dtype)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * int(self.dtype.itemsize)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(Path(source.name).name for source in self._sources))
        return f"FileArray(shape={self.shape}, dtype={self.dtype}, of {names})"

    def __bool__(self) -> bool:
        raise TypeError("the truth of an array in a file is not known; use any() or all()")

    # --- expressions ------------------------------------------------------------------------------

    def _combine(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> FileArray:
        """A function of elements, of arrays in files and others."""
        files = [x for x in operands if isinstance(x, FileArray)]
        length, rank = len(files[0]), max(x.ndim for x in files)
        sources: list[Source] = []
        places: list[list[int]] = []
        for one in files:
            if len(one) != length:
                raise ValueError(f"operands have {length} and {len(one)} rows; expected as many")
            if one.ndim != rank:
                raise ValueError(f"operands have {one.ndim} and {rank} axes; expected as many")
            for source in one._sources:
                if source not in sources:
                    sources.append(source)
            places.append([sources.index(source) for source in one._sources])
        fixed = [
            x if isinstance(x, FileArray) else self._operand(x, length, rank) for x in operands
        ]

        def apply(pieces: list[_usmx.ndarray], first: int, last: int) -> Any:
            values = []
            of = iter(places)
            for x in fixed:
                if isinstance(x, FileArray):
                    values.append(x._apply([pieces[k] for k in next(of)], first, last))
                elif isinstance(x, _Rows):
                    values.append(x.array[first:last])
                else:
                    values.append(x)
            return function(*values)

        made = FileArray(sources, min(x._piece_bytes for x in files), self._queue, apply)
        made._known()  # what does not fit is an error in the line that says it
        return made

    def _operand(self, x: Any, length: int, rank: int) -> Any:
        if isinstance(x, (bool, int, float, complex)):
            return x
        array = x if isinstance(x, _usmx.ndarray) else _usmx.asarray(x, queue=self._queue)
        if array.ndim > rank:
            raise ValueError(f"an operand has {array.ndim} axes; expected at most {rank}")
        if array.ndim == rank and array.shape[0] != 1:
            if array.shape[0] != length:
                raise ValueError(f"an operand has {array.shape[0]} rows; expected {length} or 1")
            return _Rows(array)
        return array

    def __usmx_operation__(self, name: str, operands: Any, out: Any, dtype: Any) -> FileArray:
        if out is not None:
            raise TypeError(f"{name}: out: is not written by an array in a file; use save()")
        row = _usmx.Operation(name)
        made = self._combine(row, tuple(operands))
        return made if dtype is None else made.astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        # `x += 1` gives the name to a new array.
        if len(keywords.get("out", ())) == 1 and keywords["out"][0] is self:
            keywords.pop("out")
        if method != "__call__" or keywords:
            raise TypeError(f"numpy.{ufunc.__name__}.{method}: is not computed of arrays in files")
        try:
            row = _usmx.Operation(ufunc.__name__)
        except ValueError:
            raise TypeError(f"numpy.{ufunc.__name__}: is not computed of arrays in files") from None
        return self._combine(row, inputs)

    def astype(self, dtype: DTypeLike) -> FileArray:
        """The elements as another type.

        Parameters
        ----------
        dtype : dtype
            Each piece is cast to it when it is computed.

        Returns
        -------
        FileArray
        """
        return self._combine(lambda x: x.astype(dtype), (self,))

    def map_blocks(self, function: Callable[..., Any], *others: Any) -> FileArray:
        """What a function gives for each piece.

        Parameters
        ----------
        function : callable
            Called with the arrays of a piece, `usmx.ndarray`; it gives one with as many rows. It is
            called once with pieces of no rows, to know shape and type.
        *others : FileArray or array
            Further arguments, of which it gets the same rows.

        Returns
        -------
        FileArray
            Of as many rows.
        """
        return self._combine(_checked(function), (self, *others))

    def __getitem__(self, key: Any) -> FileArray:
        """Columns of each row: ``x[:, 2]``, ``x[..., ::2]``; the first index must be all rows."""
        keys = key if isinstance(key, tuple) else (key,)
        if not keys or not (keys[0] is Ellipsis or keys[0] == slice(None)):
            raise IndexError(
                f"index: {key!r}; expected ':' or '...' first, because rows are read in order"
            )
        return self._combine(lambda x: x[keys], (self,))

    # --- results ----------------------------------------------------------------------------------

    def pieces(self, progress: Progress = False) -> Iterator[tuple[int, _usmx.ndarray]]:
        """The first row and the computed array of each piece, in order.

        An array is valid until the next one is asked for.

        Parameters
        ----------
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Yields
        ------
        (int, ndarray)
        """
        for first, made in self._stream(progress):
            made.wait()
            yield first, made

    def _stream(self, progress: Progress) -> Iterator[tuple[int, _usmx.ndarray]]:
        """The pieces as expressions: a reduction computes them on its way."""
        for first, last, given in stream.pieces(
            self._sources, self._piece_bytes, self._queue, progress
        ):
            yield first, self._apply(given, first, last)

    def compute(self, progress: Progress = False) -> _usmx.ndarray:
        """All elements as one array in memory.

        Parameters
        ----------
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        ndarray
            It needs the memory that the file was too large for, if it is.
        """
        whole = _usmx.empty(self.shape, self.dtype, queue=self._queue)
        for first, made in self.pieces(progress):
            if made.shape[0]:
                whole[first : first + made.shape[0]] = made
        return whole

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("copy: False, but the elements are in a file")
        return np.asarray(self.compute().to_numpy(), dtype)

    def save(self, path: str | os.PathLike[str], *, progress: Progress = False) -> None:
        """Write all elements to a file ``.npy`` or ``.zarr``, piece by piece.

        The file has another name until it is whole: a program that ends half-way leaves what
        was there under `path`.

        Parameters
        ----------
        path : path
            A name that ends in ``.npy`` or ``.zarr``.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.
        """
        with (
            results.written(Path(path), self.shape, self.dtype) as write,
            ThreadPoolExecutor(1, thread_name_prefix="usmx-write") as pool,
        ):
            pending: Future[None] | None = None
            for _, made in self.pieces(progress):
                rows = made.to_numpy()
                rows = rows if rows.flags.owndata else rows.copy()
                if pending is not None:
                    pending.result()
                pending = pool.submit(write, rows)
            if pending is not None:
                pending.result()

    # --- reductions -------------------------------------------------------------------------------

    def _fold(
        self,
        name: str,
        axis: Any,
        keepdims: bool,
        of_piece: Callable[[_usmx.ndarray, tuple[int, ...]], Any],
        join: Callable[[Any, Any], Any],
        finish: Callable[[Any], Any],
        progress: Progress,
        **given: Any,
    ) -> Any:
        """A reduction: over rows one value of each piece, joined on the host; else of each row.

        The type is that of the function of that name, which takes `given` too.
        """
        from .. import _namespace

        function: Any = _namespace.find("statistics", name)
        axes = to_axes(axis, self.ndim)
        if 0 not in axes:
            return self._combine(
                lambda x: function(x, axis=axes, keepdims=keepdims, **given), (self,)
            )
        row = _usmx.empty((1, *self.shape[1:]), self.dtype, queue=self._queue)
        dtype = np.dtype(function(row, axis=axes, keepdims=True).dtype)
        total: Any = None
        for _, made in self._stream(progress):
            if made.shape[0]:
                part = of_piece(made, axes)
                total = part if total is None else join(total, part)
        if total is None:
            raise ValueError(f"{name}: the array has no rows")
        found = np.asarray(finish(total)).astype(dtype)
        if not keepdims:
            found = found.reshape([n for k, n in enumerate(found.shape) if k not in axes])
        return _usmx.asarray(found, queue=self._queue)

    def _reduce(self, name: str, axis: Any, keepdims: bool, join: Any, progress: Progress) -> Any:
        """A reduction whose parts are joined by a function of NumPy."""

        def of_piece(x: _usmx.ndarray, over: tuple[int, ...]) -> Any:
            part = getattr(x, name)(axis=over, keepdims=True).to_numpy()
            return part.astype(_wide(part.dtype))

        return self._fold(name, axis, keepdims, of_piece, join, lambda total: total, progress)

    def sum(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """The sum of the elements, of the type that `usmx.sum` gives.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            An array where axes are left.
        """
        return self._reduce("sum", axis, keepdims, np.add, progress)

    def prod(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """The product of the elements.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            Of the type that `usmx.prod` gives; an array where axes are left.
        """
        return self._reduce("prod", axis, keepdims, np.multiply, progress)

    def min(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """The smallest element; NaN if there is one.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            Of the type of the elements; an array where axes are left.
        """
        return self._reduce("min", axis, keepdims, np.minimum, progress)

    def max(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """The largest element; NaN if there is one.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            Of the type of the elements; an array where axes are left.
        """
        return self._reduce("max", axis, keepdims, np.maximum, progress)

    def any(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """Whether an element is not 0.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        bool or ndarray
            An array where axes are left.
        """
        return self._reduce("any", axis, keepdims, np.logical_or, progress)

    def all(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """Whether no element is 0.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        bool or ndarray
            An array where axes are left.
        """
        return self._reduce("all", axis, keepdims, np.logical_and, progress)

    def _variance(
        self, name: str, axis: Any, ddof: float, keepdims: bool, progress: Progress
    ) -> Any:
        """`var` or `std` in one pass: counts, means and sums of squares of the pieces are joined.

        The sums of a piece are those of distances from the mean of what came before, so each
        element is read once; the error that this adds is within that of the squares between
        the pieces. The first piece is read a second time, for its own mean.
        """
        before: list[Any] = []  # the mean so far, which `join` keeps

        def of_piece(x: _usmx.ndarray, over: tuple[int, ...]) -> Any:
            if x.dtype.kind in "biu":
                x = x.astype("float64")
            elif x.dtype.name in ("float16", "bfloat16"):
                x = x.astype("float32")
            count = np.prod([x.shape[k] for k in over], dtype=float)
            if before:
                near = before[0].astype(x.dtype)
            else:
                x.wait()  # read twice
                near = x.mean(axis=over, keepdims=True).to_numpy()
            distance = x - _usmx.asarray(near, queue=x.queue)
            # Neither is looked at before both are there: one kernel reads the piece for both.
            sums = distance.sum(axis=over, keepdims=True)
            squares = _squares(distance).sum(axis=over, keepdims=True)
            offset = sums.to_numpy().astype(_wide(sums.dtype)) / count
            within = squares.to_numpy().astype("f8") - count * np.abs(offset) ** 2
            found = count, near.astype(offset.dtype) + offset, np.maximum(within, 0)
            if not before:
                before.append(found[1])
            return found

        def join(a: Any, b: Any) -> Any:
            count, mean = _joined_means(a, b)
            before[0] = mean
            between = np.abs(b[1] - a[1]) ** 2 * (a[0] * b[0] / count)
            return count, mean, a[2] + b[2] + between

        def finish(total: Any) -> Any:
            with np.errstate(divide="ignore", invalid="ignore"):
                variance = total[2] / np.maximum(total[0] - ddof, 0)
            return np.sqrt(variance) if name == "std" else variance

        return self._fold(name, axis, keepdims, of_piece, join, finish, progress, ddof=ddof)

    def mean(self, axis: Any = None, *, keepdims: bool = False, progress: Progress = False) -> Any:
        """The mean of the elements.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            Of the type that `usmx.mean` gives; an array where axes are left.
        """

        def of_piece(x: _usmx.ndarray, over: tuple[int, ...]) -> Any:
            count = np.prod([x.shape[k] for k in over], dtype=float)
            mean = x.mean(axis=over, keepdims=True).to_numpy()
            return count, mean.astype(_wide(mean.dtype))

        return self._fold(
            "mean", axis, keepdims, of_piece, _joined_means, lambda total: total[1], progress
        )

    def var(
        self,
        axis: Any = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
        progress: Progress = False,
    ) -> Any:
        """The mean of the squares of differences from the mean, divided by ``count - ddof``.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        ddof : float
            Subtracted from the number of elements that the sum is divided by.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            An array where axes are left.
        """
        return self._variance("var", axis, ddof, keepdims, progress)

    def std(
        self,
        axis: Any = None,
        *,
        ddof: float = 0,
        keepdims: bool = False,
        progress: Progress = False,
    ) -> Any:
        """The square root of `var`.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes along which to reduce; all by default.
        ddof : float
            Subtracted from the number of elements that the sum is divided by.
        keepdims : bool
            Whether the axes stay, with length one.
        progress : bool or callable
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        number or ndarray
            An array where axes are left.
        """
        return self._variance("std", axis, ddof, keepdims, progress)

    def histogram(
        self,
        bins: Any = 10,
        range: tuple[float, float] | None = None,
        *,
        progress: Progress = False,
    ) -> tuple[_usmx.ndarray, _usmx.ndarray]:
        """How many elements are in each bin, and the edges of the bins.

        Parameters
        ----------
        bins : int or array
            How many bins of one width, or all edges.
        range : (float, float), optional
            The outer edges. Without it the file is read twice: first for its limits.
        progress : bool or callable, optional
            True shows a bar of tqdm; a function is called with the bytes done and those in all.

        Returns
        -------
        (counts, edges) : tuple of ndarray
            Counts are int64; there is one edge more.
        """
        from .._namespace.histograms import histogram

        if isinstance(bins, (int, np.integer)) and range is None:
            low = high = None
            for _, made in self.pieces():
                if made.size:
                    least, most = made.min().item(), made.max().item()
                    low = least if low is None else min(low, least)
                    high = most if high is None else max(high, most)
            range = (0.0, 1.0) if low is None or high is None else (low, high)
        counts: Any = None
        edges: Any = None
        for _, made in self.pieces(progress):
            found, edges = histogram(made.reshape(-1), bins, range)
            part = found.to_numpy()
            counts = part if counts is None else counts + part
        return _usmx.asarray(counts, queue=self._queue), edges


class _Rows:
    """An operand in memory that has a row for each row of the file."""

    def __init__(self, array: _usmx.ndarray) -> None:
        self.array = array


def _checked(function: Callable[..., Any]) -> Callable[..., _usmx.ndarray]:
    """The function of a user, whose result must have the rows of its first argument."""

    def call(x: _usmx.ndarray, *others: Any) -> _usmx.ndarray:
        made = function(x, *others)
        found = made if isinstance(made, _usmx.ndarray) else _usmx.asarray(made, queue=x.queue)
        if found.ndim == 0 or found.shape[0] != x.shape[0]:
            raise ValueError(
                f"function: gave shape {found.shape} for a piece of {x.shape[0]} rows; expected as "
                "many rows"
            )
        return found

    return call


def _squares(x: _usmx.ndarray) -> Any:
    """The squares of the distances from 0."""
    if x.dtype.kind != "c":
        return x * x
    return x.real * x.real + x.imag * x.imag


def _joined_means(a: Any, b: Any) -> tuple[Any, Any]:
    """Count and mean of two parts together, by what the second differs from the first."""
    count = a[0] + b[0]
    return count, a[1] + (b[1] - a[1]) * (b[0] / count)


def _wide(dtype: np.dtype[Any]) -> Any:
    """The type in which parts are added: their number grows with the file."""
    return {"f": "f8", "c": "c16"}.get(dtype.kind, dtype)
