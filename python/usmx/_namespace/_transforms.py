"""Fourier transforms along the last axis: passes of small factors, or convolutions (Bluestein)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from math import sqrt
from threading import Lock
from typing import Any

import numpy as np

from .._usmx import ElementwiseKernel, RawKernel, ndarray
from ._common import empty_at, kind_of
from .elementwise import real
from .manipulation import moveaxis

_PREAMBLE = '#include "usmx/fourier.hpp"\n'
#: What a pass can take out of a length.
_FACTORS = (4, 2, 3, 5, 7, 11, 13)


@cache
def _pass_kernel(radix: int, char: str) -> RawKernel:
    real = "float" if char == "F" else "double"
    number = f"usmx::complex<{real}>"
    return RawKernel(
        f"{_PREAMBLE}USMX_KERNEL(1) pass({number} const* from, {number}* to, "
        f"{number} const* roots, int64_t n, int64_t stride, int64_t count, bool first, bool last, "
        f"{real} scale) {{ usmx::fourier::pass<{radix}>("
        "from, to, roots, n, stride, count, first, last, scale); }\n",
        "pass",
        contract=True,
    )


@cache
def _kernel(text: str, inputs: str, name: str) -> ElementwiseKernel:
    return ElementwiseKernel(inputs, "T z", text, name, preamble=_PREAMBLE, contract=True)


def _real_name(dtype: np.dtype[Any]) -> str:
    return "float" if dtype.char == "F" else "double"


def _roots(like: ndarray, n: int, dtype: np.dtype[Any]) -> ndarray:
    """``exp(-2j * pi * k / n)`` for all k."""
    return _table(like, "roots", n, dtype)


#: Tables that are kept, and how many bytes one may have.
_KEPT, _LARGEST = 16, 1 << 20
_tables: OrderedDict[Any, ndarray] = OrderedDict()
_lock = Lock()


def _table(like: ndarray, what: str, n: int, dtype: np.dtype[Any]) -> ndarray:
    key = (what, n, dtype.char, kind_of(like), like.queue)
    with _lock:
        found = _tables.get(key)
        if found is not None:
            _tables.move_to_end(key)
            return found
    made = _MAKERS[what](like, n, dtype)
    if made.nbytes <= _LARGEST:
        with _lock:
            _tables[key] = made
            while len(_tables) > _KEPT:
                _tables.popitem(last=False)
    return made


def _new_roots(like: ndarray, n: int, dtype: np.dtype[Any]) -> ndarray:
    made = empty_at(like, n, dtype)
    real = _real_name(dtype)
    text = f"z = usmx::fourier::root_of_one<{real}>(i, length)"
    _kernel(text, "int64 length", "roots")(n, made)
    return made


def _new_chirp(like: ndarray, n: int, dtype: np.dtype[Any]) -> ndarray:
    """``exp(-1j * pi * k * k / n)``."""
    made = empty_at(like, n, dtype)
    text = (
        f"z = usmx::fourier::root_of_one<{_real_name(dtype)}>"
        "(int64_t(uint64_t(i) * uint64_t(i) % uint64_t(2 * length)), 2 * length)"
    )
    _kernel(text, "int64 length", "chirp")(n, made)
    return made


def _new_filter(like: ndarray, n: int, dtype: np.dtype[Any]) -> ndarray:
    """The transform of the chirp's conjugate, as it is convolved with."""
    size = _convolution_size(n)
    chirp = _table(like, "chirp", n, dtype)
    turned = empty_at(like, (1, size), dtype)
    text = (
        "if (i < length) z = conj(chirp[i]); else if (i > size - length) z = conj(chirp[size - i]);"
        " else z = T(0);"
    )
    _kernel(text, "raw T chirp, int64 length, int64 size", "filter")(
        chirp, n, size, turned.reshape(size)
    )
    return _by_factors(turned, _factors(size) or [], False, 1.0).reshape(size)


_MAKERS = {"roots": _new_roots, "chirp": _new_chirp, "filter": _new_filter}


def _convolution_size(n: int) -> int:
    return 1 << (2 * n - 2).bit_length()


def _factors(n: int) -> list[int] | None:
    """Factors that passes can take, or None if there are others."""
    factors = []
    for factor in _FACTORS:
        while n % factor == 0:
            factors.append(factor)
            n //= factor
    return factors if n == 1 else None


def _by_factors(x: ndarray, factors: list[int], inverse: bool, scale: float) -> ndarray:
    """The transform of contiguous lines, in new memory; x keeps its elements."""
    lines, n = x.shape
    roots = _roots(x, n, x.dtype)
    source, spare = x, None
    stride = 1
    for number, factor in enumerate(factors):
        is_last = number + 1 == len(factors)
        target = spare if spare is not None else empty_at(x, x.shape)
        count = lines * (n // factor)
        items = 64
        _pass_kernel(factor, x.dtype.char)[-(-count // items) * items, (items,)](
            source, target, roots, n, stride, count, inverse and number == 0,
            inverse and is_last, scale if is_last else 1.0,
        )  # fmt: skip
        spare = None if source is x else source
        source = target
        stride *= factor
    return source


def _by_convolution(x: ndarray, inverse: bool, scale: float) -> ndarray:
    """For a length with large factors: a convolution with a chirp, of a power of two."""
    lines, n = x.shape
    size = _convolution_size(n)
    chirp = _table(x, "chirp", n, x.dtype)
    response = _table(x, "filter", n, x.dtype)
    padded = empty_at(x, (lines, size))
    exchange = "usmx::fourier::exchanged" if inverse else ""
    text = (
        "const int64_t k = i % size; if (k < length) "
        f"z = {exchange}(x[(i / size) * length + k]) * chirp[k]; else z = T(0);"
    )
    _kernel(text, "raw T x, raw T chirp, int64 length, int64 size", "spread")(
        x, chirp, n, size, padded
    )
    factors = _factors(size) or []
    product = _by_factors(padded, factors, False, 1.0)
    _kernel("z = x * response[i % size]", "T x, raw T response, int64 size", "respond")(
        product, response, size, product
    )
    product = _by_factors(product, factors, True, 1.0 / size)
    made = empty_at(x, x.shape)
    text = (
        "const int64_t k = i % length; T value = x[(i / length) * size + k] * chirp[k];"
        f"value.re = value.re * R(scale); value.im = value.im * R(scale); z = {exchange}(value);"
    )
    _kernel(
        text.replace("R(", f"{_real_name(x.dtype)}("),
        "raw T x, raw T chirp, int64 length, int64 size, float64 scale"
        if x.dtype.char == "D"
        else "raw T x, raw T chirp, int64 length, int64 size, float32 scale",
        "gather_back",
    )(product, chirp, n, size, scale, made)
    return made


def lines(x: ndarray, inverse: bool, scale: float) -> ndarray:
    """The transform of each line of a contiguous complex array, times a factor, in new memory."""
    n = x.shape[-1]
    if n == 1:
        scaled: ndarray = x * x.dtype.type(scale)
        return scaled
    rows = x.reshape(-1, n)
    factors = _factors(n)
    made = (
        _by_convolution(rows, inverse, scale)
        if factors is None
        else _by_factors(rows, factors, inverse, scale)
    )
    return made.reshape(x.shape)


def _hermitian(x: ndarray, n: int) -> ndarray:
    """Lines of n numbers whose transform is real, of their first n // 2 + 1."""
    half = n // 2 + 1
    made = empty_at(x, (*x.shape[:-1], n))
    if made.size:
        text = (
            "const int64_t k = i % length, line = i / length * half;"
            "if (k == 0 || 2 * k == length) { z = x[line + k]; z.im = 0; }"
            "else if (k < half) z = x[line + k]; else z = conj(x[line + length - k]);"
        )
        _kernel(text.replace("half", "part"), "raw T x, int64 length, int64 part", "hermitian")(
            x, n, half, made
        )
    return made


# --- kinds of transforms, by what transforms complex lines ---------------------------------------


def scale(n: int, norm: str, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "forward") != inverse else 1.0


def cut(x: ndarray, axis: int, length: int, dtype: Any) -> ndarray:
    """New contiguous lines along the last axis, cut or filled with zeros."""
    turned = moveaxis(x, axis, -1)
    own = turned.shape[-1]
    made = empty_at(x, (*turned.shape[:-1], length), dtype)
    made[..., :own] = turned[..., :length]
    if own < length:
        made[..., own:] = 0
    return made


def by(of_lines: Callable[[ndarray, bool, float], ndarray]) -> Callable[..., ndarray]:
    """The function of the table of libraries, made of one that transforms contiguous lines."""

    def transform(kind: str, x: ndarray, length: int, axis: int, norm: str) -> ndarray:
        inverse = kind.startswith("i")
        factor = scale(length, norm, inverse)
        dtype = np.dtype(x.dtype.char.upper())

        def whole(given: ndarray) -> ndarray:
            return of_lines(given, inverse, factor) if given.size else given

        if kind == "irfft":
            half = cut(x, axis, length // 2 + 1, dtype)
            made = real(whole(_hermitian(half, length))).copy()
        else:
            made = whole(cut(x, axis, length, dtype))
            if kind == "rfft":
                made = made[..., : length // 2 + 1].copy()
        return moveaxis(made, -1, axis)

    return transform
