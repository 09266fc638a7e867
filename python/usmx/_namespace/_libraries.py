"""Who computes matrices and transforms: one row for each library, and the choice among them.

A library is a module with some of the functions of the table. The first row that has the function,
takes the array and gains by its size computes. Kernels of usmx are the last row: they take all
types and devices.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from .._usmx import ndarray


@cache
def _module(name: str) -> Any:
    return import_module(f".{name}", __package__)


class Library(NamedTuple):
    """One row of the table."""

    #: With the functions, and `takes`, which says whether it computes with arrays like one.
    module: str
    #: By function: from how much work on it is the better one on a CPU. Rows of a matrix,
    #: multiplications of a product, or numbers that are transformed.
    least_on_cpu: dict[str, int]
    least_elsewhere: dict[str, int]

    @property
    def functions(self) -> set[str]:
        return {*self.least_on_cpu, *self.least_elsewhere}

    def load(self) -> Any:
        return _module(self.module)

    def gains(self, function: str, x: ndarray, work: int) -> bool:
        least = (self.least_on_cpu if x.device._is_host else self.least_elsewhere).get(function)
        return least is not None and work >= least and bool(self.load().takes(x, function))


_ALL = ("solve", "inverse", "determinants", "cholesky", "qr", "svd", "eigh", "eig", "lstsq",
        "transform", "product")  # fmt: skip

#: cuSOLVER of CUDA 12 has no eigenvalues of matrices that are not Hermitian.
_ALL_BUT_EIG = tuple(name for name in _ALL if name != "eig")

#: docs/decisions/0075-libraries-for-matrices.md has the measurements behind the numbers.
TABLE = {
    "nvidia": Library("_nvidia", {}, dict.fromkeys(_ALL_BUT_EIG, 1)),
    "onemkl": Library(
        "_onemkl",
        {"transform": 4096},
        {"svd": 16, "eigh": 16, "transform": 64, "product": 100**3},
    ),
    "numpy": Library("_by_numpy", dict.fromkeys(_ALL, 0), {}),
    "kernels": Library("_by_kernels", dict.fromkeys(_ALL, 0), dict.fromkeys(_ALL, 0)),
}


class _Choice(NamedTuple):
    """What `use_library` says in a thread."""

    name: str | None = None
    tf32: bool = False


_BY_DEVICE = _Choice()
_choice: ContextVar[_Choice] = ContextVar("usmx.linalg.use_library", default=_BY_DEVICE)


def chosen() -> str | None:
    """The row that `use_library` names in this thread."""
    return _choice.get().name


def tf32() -> bool:
    """Whether `use_library` allows products of float32 in TF32 in this thread."""
    return _choice.get().tf32


def of(function: str, x: ndarray, work: int) -> Any:
    """The module that computes a function of arrays like `x`.

    Parameters
    ----------
    function : str
        A name of the table.
    x : ndarray
        Of the type that is computed with, where the result will be.
    work : int
        How much, as `Library.least_on_cpu` counts.
    """
    named = chosen()
    found = TABLE["kernels"]
    if named is None:
        found = next(row for row in TABLE.values() if row.gains(function, x, work if x.size else 0))
    elif function in TABLE[named].functions and x.size and TABLE[named].load().takes(x, function):
        found = TABLE[named]
    return found.load()


def product(a: ndarray, b: ndarray, made: ndarray, work: int) -> bool:
    """``made = a @ b`` of matrices that broadcast; False if kernels do it, which C++ launches."""
    return of("product", made, work).product(a, b, made) is not False


@contextmanager
def use_library(name: str, *, tf32: bool = False) -> Iterator[None]:
    """Choose who computes decompositions, products of matrices and Fourier transforms.

    By default a library of the device's vendor where there is one: NumPy's LAPACK, BLAS and
    transforms on CPU devices, oneMKL on Intel's devices and cuBLAS, cuSOLVER and cuFFT on NVIDIA's
    where they are installed, otherwise kernels of usmx. The choice holds for the thread until the
    ``with`` block ends.

    Parameters
    ----------
    name : {"nvidia", "onemkl", "numpy", "kernels"}
        ``"kernels"`` gives equal bits from run to run and on each number of cores. What a library
        does not have is computed by kernels.
    tf32 : bool, optional
        With ``"nvidia"``: whether products of float32 and complex64 may be computed on tensor cores
        in TF32, with 10 binary digits of the 23 that float32 has: several times faster. Never
        without being asked for.

    Returns
    -------
    context manager
        The choice holds inside its ``with`` block.

    Raises
    ------
    ValueError
        Another name, a library that is not there, or `tf32` of another one than ``"nvidia"``.

    Examples
    --------
    >>> import usmx
    >>> with usmx.linalg.use_library("kernels"):
    ...     usmx.linalg.det(usmx.asarray([[2.0, 0.0], [0.0, 3.0]])).item()
    6.0
    """
    if name not in TABLE:
        *others, last = map(repr, TABLE)
        raise ValueError(f"name: {name!r}; expected {', '.join(others)} or {last}")
    if name in ("nvidia", "onemkl") and (missing := TABLE[name].load().missing()):
        raise ValueError(f"name: {name!r}, but it cannot be used: {missing}")
    if tf32 and name != "nvidia":
        raise ValueError(f"tf32: True with name={name!r}; expected name='nvidia'")
    before = _choice.set(_Choice(name, tf32))
    try:
        yield
    finally:
        _choice.reset(before)
