"""Files that results are written to: under the final name only when they are whole."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def _npy(path: Path, shape: tuple[int, ...], dtype: Any) -> Iterator[Callable[[Any], None]]:
    with path.open("wb", buffering=0) as file:
        header = {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": shape,
        }
        np.lib.format.write_array_header_2_0(file, header)

        def write(rows: Any) -> None:
            flat: Any = np.ascontiguousarray(rows).reshape(-1).view("u1")
            left = memoryview(flat)
            while left:
                left = left[file.write(left) :]

        yield write
        os.fsync(file.fileno())


@contextmanager
def _zarr(path: Path, shape: tuple[int, ...], dtype: Any) -> Iterator[Callable[[Any], None]]:
    import zarr

    row = max(1, int(np.prod(shape[1:])) * dtype.itemsize)
    chunk = (min(max(1, (16 << 20) // row), max(shape[0], 1)), *(max(n, 1) for n in shape[1:]))
    made: Any = zarr.create_array(str(path), shape=shape, dtype=dtype, chunks=chunk)
    done = 0

    def write(rows: Any) -> None:
        nonlocal done
        made[done : done + len(rows)] = rows
        done += len(rows)

    yield write


WRITERS = {".npy": _npy, ".zarr": _zarr}


@contextmanager
def written(path: Path, shape: tuple[int, ...], dtype: Any) -> Iterator[Callable[[Any], None]]:
    """A function that writes the next rows into a file, which gets its name at the end."""
    if path.suffix not in WRITERS:
        expected = " or ".join(repr(one) for one in WRITERS)
        raise ValueError(f"path: {str(path)!r}; expected a name that ends in {expected}")
    part = path.with_name(f".{path.name}.{os.getpid()}.part{path.suffix}")
    try:
        with WRITERS[path.suffix](part, shape, dtype) as write:
            yield write
        if path.is_dir():
            shutil.rmtree(path)
        part.replace(path)
    except BaseException:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
        raise
