"""What Dask finds by the entry points of this package; users import nothing.

`dask.sizeof` is read when Dask's core is imported, and has everything else registered where and
when it is needed: chunks with ``dask.array``, serialisers with ``distributed``.
`dask.array.backends` is read for ``dask.config.set({"array.backend": "usmx"})``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _array, _usmx, memory
from .later import when_imported

if TYPE_CHECKING:
    from collections.abc import Callable

#: The key of Dask's configuration that names the kind of memory of new arrays.
KIND = "usmx.usm_type"


def register_sizes(sizeof: Any) -> None:
    """Tell Dask what objects weigh; the entry point ``dask.sizeof``.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
        Dask's table of sizes.
    """
    sizeof.register(_usmx.ndarray, _size)
    for held in (memory.MemoryUSMDevice, memory.MemoryUSMShared, memory.MemoryUSMHost):
        sizeof.register(held, lambda m: m.nbytes)
    when_imported("dask.array.backends", _register_chunks)
    when_imported("distributed.protocol.serialize", _register_serialisers)


def _size(x: _usmx.ndarray) -> int:
    """The bytes of an array, which is computed first.

    Schedulers ask for the size of what they are about to keep. A deferred result would keep
    its operands, which they believe to be gone.
    """
    if x.size and x._is_deferred:
        _ = x.pointer
    return x.__sizeof__()


def _register_chunks() -> None:
    """Everything by which Dask finds functions for chunks, and that they are chunks."""
    from dask.array import chunk_types, dispatch
    from dask.array.backends import _nannumel, _numel_arraylike, percentile

    import usmx

    chunk_types.register_chunk_type(usmx.ndarray)
    functions: dict[str, Callable[..., Any]] = {
        "concatenate_lookup": _concatenate,
        "take_lookup": lambda a, indices, axis=None: usmx.take(a, indices, axis=axis),
        "tensordot_lookup": lambda a, b, axes=2: usmx.tensordot(a, b, axes=axes),
        "einsum_lookup": _einsum,
        "empty_lookup": lambda shape, dtype=float, order="C": usmx.empty(
            shape, dtype=dtype, order=order
        ),
        "percentile_lookup": percentile,
        "numel_lookup": _numel_arraylike,
        "nannumel_lookup": _nannumel,
        "to_numpy_dispatch": lambda x, **_: x.to_numpy(),
    }
    for name, function in functions.items():
        getattr(dispatch, name).register(usmx.ndarray, function)


def _concatenate(arrays: Any, axis: int = 0) -> Any:
    # Dask joins blocks axis by axis, most of them one array; chunks are not written to.
    if len(arrays) == 1 and isinstance(arrays[0], _usmx.ndarray):
        return arrays[0]
    import usmx

    return usmx.concat(arrays, axis=axis)


def _einsum(
    *operands: Any, dtype: Any = None, casting: Any = None, order: Any = None, **keywords: Any
) -> Any:
    # Dask passes NumPy's arguments at their defaults.
    import usmx

    made = usmx.einsum(*operands, **keywords)
    return made if dtype is None else made.astype(dtype, copy=False)


def _register_serialisers() -> None:
    """Frames of `distributed`: the memory itself where the host sees it, a copy where not."""
    from distributed.protocol.serialize import dask_deserialize, dask_serialize

    dask_serialize.register(_usmx.ndarray, _serialise)
    dask_deserialize.register(_usmx.ndarray, _deserialise)


def _serialise(x: Any) -> tuple[dict[str, Any], list[Any]]:
    # The parts of its pickle (protocol 5); its buffer is the memory itself where the host sees it.
    _, (data, shape, dtype, kind, device, read_only, order) = x.__reduce_ex__(5)
    header = {
        "shape": list(shape),
        "dtype": dtype if isinstance(dtype, str) else [list(field) for field in dtype],
        "usm_type": kind,
        "device": device,
        "readonly": read_only,
        "order": order,
    }
    return header, [data.raw()]


def _deserialise(header: dict[str, Any], frames: list[Any]) -> Any:
    data = frames[0] if len(frames) == 1 else b"".join(frames)
    dtype = header["dtype"]
    if not isinstance(dtype, str):
        dtype = [_as_field(field) for field in dtype]
    return _array.rebuild(
        data,
        tuple(header["shape"]),
        dtype,
        header["usm_type"],
        header["device"],
        header["readonly"],
        header["order"],
    )


def _as_field(field: Any) -> tuple[object, ...]:
    """A field of a record as it was, before msgpack made lists of it."""
    name, kind, *shape = field
    if not isinstance(kind, str):
        kind = [_as_field(inner) for inner in kind]
    return (tuple(name) if isinstance(name, list) else name, kind, *map(tuple, shape))


def backend() -> Any:
    """The back end ``"usmx"`` of ``dask.array``; the entry point ``dask.array.backends``.

    Returns
    -------
    dask.array.backends.ArrayBackendEntrypoint
        Dask calls this name without arguments.
    """
    import numpy as np
    from dask.array.backends import ArrayBackendEntrypoint, array_creation_dispatch

    import usmx

    def numpys(name: str) -> Any:
        return getattr(array_creation_dispatch.dispatch("numpy"), name)

    def creates(name: str) -> Any:
        """Dask's own function, which makes chunks like an array of ours."""

        def create(shape: Any, *, dtype: Any = None, meta: Any = None, **keywords: Any) -> Any:
            if meta is None:
                meta = _meta(dtype or "float64")
            return numpys(name)(shape, dtype=dtype, meta=meta, **keywords)

        return staticmethod(create)

    class Usmx(ArrayBackendEntrypoint):
        """Chunks in USM."""

        @classmethod
        def to_backend_dispatch(cls) -> Callable[..., Any]:
            return to_usm

        @classmethod
        def to_backend(cls, data: Any, **keywords: Any) -> Any:
            if isinstance(data._meta, usmx.ndarray) and not keywords:
                return data
            keywords.setdefault("usm_type", _kind())  # not that of where it will run
            meta = to_usm(data._meta, **keywords)
            return data.map_blocks(to_usm, dtype=data.dtype, meta=meta, **keywords)

        @property
        def RandomState(self) -> Any:
            return usmx.random.RandomState

        @property
        def default_bit_generator(self) -> Any:
            return BitGenerator

        ones = creates("ones")
        zeros = creates("zeros")
        empty = creates("empty")

        @staticmethod
        def full(
            shape: Any, fill_value: Any, *, dtype: Any = None, meta: Any = None, **keywords: Any
        ) -> Any:
            if meta is None:
                meta = _meta(dtype or np.asarray(fill_value).dtype)
            return numpys("full")(
                shape=shape, fill_value=fill_value, dtype=dtype, meta=meta, **keywords
            )

        @staticmethod
        def arange(
            start: Any,
            /,
            stop: Any = None,
            step: Any = 1,
            *,
            dtype: Any = None,
            meta: Any = None,
            **keywords: Any,
        ) -> Any:
            like = _meta(dtype or "int64") if meta is None else meta
            return numpys("arange")(start, stop, step, dtype=dtype, like=like, **keywords)

    return Usmx()


def _kind() -> Any:
    import dask

    return dask.config.get(KIND, None)


def _meta(dtype: Any) -> Any:
    """An array without elements that says what chunks will be."""
    return _usmx.empty(0, dtype=dtype, usm_type=_kind())


def to_usm(x: Any, **keywords: Any) -> Any:
    """A chunk in USM; `keywords` are those of `usmx.asarray`, such as ``usm_type``."""
    return _usmx.asarray(x, **keywords)


class BitGenerator:
    """A seed by which Dask makes one `usmx.random.Generator` for each chunk.

    Parameters
    ----------
    seed : int, sequence of int or numpy.random.SeedSequence, optional
        None takes one from the system.
    """

    def __init__(self, seed: Any = None) -> None:
        from numpy.random import SeedSequence

        self.seed_seq = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)

    @property
    def _seed_seq(self) -> Any:  # where Dask looks
        return self.seed_seq

    def __dask_tokenize__(self) -> object:
        seed = self.seed_seq
        return ("usmx.BitGenerator", seed.entropy, seed.spawn_key, seed.pool_size)
