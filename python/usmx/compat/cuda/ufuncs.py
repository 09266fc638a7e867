"""``@vectorize`` and ``@guvectorize`` with ``target="cuda"``: functions of numbers, and of rows,
for whole arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _usmx
from ..._kernel.language.functions import item_functions
from ..._kernel.launch import Kernel
from ..numba_types import ALIASES, TYPES, Signature, arguments_of, read
from .arrays import DeviceNDArray, unwrapped
from .dispatcher import CUDADispatcher
from .streams import queue_of

_texts = 0


def _made(text: str, **names: Any) -> Kernel:
    """A kernel of a text that is written here."""
    global _texts  # noqa: PLW0603 - each text is a file of its own to the compiler
    _texts += 1
    file = f"<usmx.compat.cuda.ufuncs {_texts}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    made: dict[str, Any] = {}
    exec(compile(text, file, "exec"), {"__name__": __name__, **names}, made)
    return Kernel(made["run"], has_item=False, numba=True)


def _signatures(given: Any) -> list[Signature]:
    many = given if isinstance(given, list | tuple) else [given]
    return [read(one) if isinstance(one, str) else one for one in many]


def _dtype(t: Any) -> np.dtype[Any]:
    """The type of NumPy that a type of Numba, or the elements of an array of it, has."""
    of = getattr(t, "dtype", t)
    found: np.dtype[Any] = np.dtype(getattr(of, "name", of))
    return found


def _result(signature: Any) -> Any:
    return getattr(signature, "result", getattr(signature, "return_type", None))


class _Function:
    """What both kinds have in common."""

    def __init__(self, python: Callable[..., Any], signatures: list[Any]) -> None:
        self.python = python
        self.__name__: str = python.__name__
        self.__doc__ = python.__doc__
        self.function: CUDADispatcher = CUDADispatcher(
            getattr(python, "py_func", python), device=True
        )
        self.rows: list[tuple[tuple[np.dtype[Any], ...], Any]] = [
            (tuple(_dtype(t) for t in arguments_of(s) or ()), s) for s in signatures
        ]
        self.max_blocksize = 0

    @property
    def types(self) -> list[Any]:
        """The signatures."""
        return [s for _, s in self.rows]

    def chosen(self, dtypes: list[np.dtype[Any]]) -> tuple[tuple[np.dtype[Any], ...], Any] | None:
        """The first signature that operands of these types can be cast to.

        Raises
        ------
        TypeError
            There are signatures, and none fits.
        """
        if not self.rows:
            return None
        for how in ("equiv", "safe", "same_kind"):
            for types, signature in self.rows:
                pairs = zip(dtypes, types, strict=False)
                if len(types) >= len(dtypes) and all(np.can_cast(a, b, how) for a, b in pairs):
                    return types, signature
        raise TypeError(
            f"No matching version of '{self.__name__}' for {', '.join(map(str, dtypes))}.  GPU "
            "ufunc requires array arguments to have the exact types.  This behaves like regular "
            "ufunc with casting='no'."
        )


def _on_device(a: Any, queue: _usmx.Queue | None) -> Any:
    given = unwrapped(a)
    return given if isinstance(given, _usmx.ndarray) else np.asarray(given)


def _returned(found: _usmx.ndarray, operands: tuple[Any, ...], out: Any) -> Any:
    """An array of the device if an operand is one, else one of NumPy, or a number."""
    if out is not None:
        if isinstance(out, np.ndarray) and not isinstance(unwrapped(out), _usmx.ndarray):
            out[...] = found.to_numpy()
        return out
    if any(isinstance(a, DeviceNDArray | _usmx.ndarray) for a in operands):
        return DeviceNDArray(found)
    host = found.to_numpy()
    return host[()] if host.ndim == 0 else host


class Vectorized(_Function):
    """A function of numbers for whole arrays, which are broadcast."""

    def __init__(self, python: Callable[..., Any], signatures: list[Any]) -> None:
        super().__init__(python, signatures)
        code = self.function.python.__code__
        self.nin: int = code.co_argcount
        names = [f"a{k}" for k in range(self.nin)]
        elements = ", ".join(f"{n}[i]" for n in names)
        text = (
            f"def run({', '.join(names)}, out):\n    i = at(0)\n    out[i] = function({elements})\n"
        )
        self.kernel: Any = _made(text, at=item_functions["get_global_id"], function=self.function)

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """The function of each element.

        Parameters
        ----------
        *args
            Arrays of the device or of the host, or numbers; after them perhaps `out`.
        out : array, optional
            Where the results go.
        stream
            Where it is computed.

        Returns
        -------
        array
            Of the device if an operand is, else of NumPy.
        """
        if len(args) == self.nin + 1 and out is None:
            *operands, out = args
        else:
            operands = list(args)
        if len(operands) != self.nin:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments, got {len(operands)}")
        if isinstance(out, tuple):
            (out,) = out
        queue = queue_of(stream)
        arrays = [_on_device(a, queue) for a in operands]
        row = self.chosen([np.dtype(a.dtype) for a in arrays])
        shape = np.broadcast_shapes(*(tuple(a.shape) for a in arrays))
        ready = []
        for k, a in enumerate(arrays):
            want = np.dtype(a.dtype) if row is None else row[0][k]
            one = _usmx.asarray(a, want, queue=queue)
            ready.append(_usmx.broadcast_to(one, shape).reshape(-1))
        result = _result(row[1]) if row is not None else None
        dtype = np.dtype(np.result_type(*(a.dtype for a in ready)) if result is None
                         else _dtype(result))  # fmt: skip
        target = unwrapped(out)
        if not isinstance(target, _usmx.ndarray) or not target.flags.c_contiguous:
            target = _usmx.empty(shape, dtype, usm_type="device", queue=queue)
        if target.size:
            launch: Any = self.kernel[(target.size,)]
            launch(*ready, target.reshape(-1), queue=target.queue)
        final = unwrapped(out)
        if isinstance(final, _usmx.ndarray) and final is not target:
            final[...] = target
        return _returned(target, args, out)

    def reduce(self, arg: Any, out: Any = None, stream: Any = 0) -> Any:
        """The elements of an array of one dimension combined two by two.

        Parameters
        ----------
        arg : array
            The elements.
        out : device array, optional
            Where the result goes.
        stream
            Where it is computed.
        """
        from .reduction import Reduce

        if self.nin != 2:
            raise TypeError("must be a binary ufunc")
        given = unwrapped(arg)
        if given.ndim != 1:
            raise TypeError(f"must use 1d array, got {given.ndim} dimensions")
        return Reduce(self.function)(arg, res=out, stream=stream)

    def __repr__(self) -> str:
        return f"<vectorize {self.__name__}>"


_DIMENSIONS = re.compile(r"\(([^()]*)\)")


def _layout(text: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """``"(m,n),(n,p)->(m,p)"`` as the names of dimensions of inputs and outputs."""
    head, arrow, tail = text.partition("->")
    if not arrow:
        raise ValueError(f"signature: {text!r}; expected inputs -> outputs")
    return tuple(  # type: ignore[return-value]
        [
            tuple(n.strip() for n in found.split(",") if n.strip())
            for found in _DIMENSIONS.findall(part)
        ]
        for part in (head, tail)
    )


class GUVectorized(_Function):
    """A function of rows or matrices for arrays of them."""

    def __init__(self, python: Callable[..., Any], signatures: list[Any], layout: str) -> None:
        super().__init__(python, signatures)
        self.signature = layout
        self.inputs: list[tuple[str, ...]]
        self.outputs: list[tuple[str, ...]]
        self.inputs, self.outputs = _layout(layout)
        names = [f"a{k}" for k in range(len(self.inputs) + len(self.outputs))]
        # A number is the element itself where it is read, and an array of one where it is written.
        given = [
            f"{n}[i]" if dims or k < len(self.inputs) else f"{n}[i:i + 1]"
            for k, (n, dims) in enumerate(zip(names, [*self.inputs, *self.outputs], strict=True))
        ]
        text = f"def run({', '.join(names)}):\n    i = at(0)\n    function({', '.join(given)})\n"
        self.kernel: Any = _made(text, at=item_functions["get_global_id"], function=self.function)

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """The function of each part.

        Parameters
        ----------
        *args
            The inputs, after them perhaps the outputs.
        out : array, optional
            The output.
        stream
            Where it is computed.

        Returns
        -------
        array or tuple of arrays
            Of the device if an input is, else of NumPy.
        """
        count = len(self.inputs)
        given, outs = args[:count], list(args[count:])
        if out is not None:
            outs = list(out) if isinstance(out, tuple) else [out]
        if len(given) != count or len(outs) not in (0, len(self.outputs)):
            raise TypeError(f"'{self.__name__}' takes {count} inputs, got {len(args)} arguments")
        queue = queue_of(stream)
        arrays = [_on_device(a, queue) for a in given]
        row = self.chosen([np.dtype(a.dtype) for a in arrays])
        sizes: dict[str, int] = {}
        loops = []
        for a, dims in zip(arrays, self.inputs, strict=True):
            if a.ndim < len(dims):
                raise ValueError(
                    f"'{self.__name__}': an input of {a.ndim} dimensions; expected {len(dims)}"
                )
            core = tuple(a.shape)[a.ndim - len(dims) :]
            loops.append(tuple(a.shape)[: a.ndim - len(dims)])
            for name, n in zip(dims, core, strict=True):
                if sizes.setdefault(name, n) != n:
                    raise ValueError(
                        f"'{self.__name__}': dimension '{name}' is {sizes[name]} and {n}"
                    )
        shape = np.broadcast_shapes(*loops)
        total = int(np.prod(shape, dtype=np.int64))
        ready = []
        for k, (a, dims) in enumerate(zip(arrays, self.inputs, strict=True)):
            core = tuple(sizes[n] for n in dims)
            want = np.dtype(a.dtype) if row is None else row[0][k]
            one = _usmx.asarray(a, want, queue=queue)
            ready.append(_usmx.broadcast_to(one, shape + core).reshape((total, *core)))
        results = []
        for k, dims in enumerate(self.outputs):
            core = tuple(sizes[n] for n in dims)
            if row is not None and len(row[0]) > count + k:
                dtype = row[0][count + k]
            else:
                dtype = np.dtype(outs[k].dtype) if outs else np.dtype(ready[0].dtype)
            results.append(_usmx.zeros((total, *core), dtype, usm_type="device", queue=queue))
        if total:
            launch: Any = self.kernel[(total,)]
            launch(*ready, *results, queue=results[0].queue)
        final = []
        for k, (found, dims) in enumerate(zip(results, self.outputs, strict=True)):
            whole = found.reshape(shape + tuple(sizes[n] for n in dims))
            target = outs[k] if outs else None
            inner = unwrapped(target)
            if isinstance(inner, _usmx.ndarray):
                inner[...] = whole
            final.append(_returned(whole, args, target))
        return final[0] if len(final) == 1 else tuple(final)

    def __repr__(self) -> str:
        return f"<guvectorize {self.__name__}{self.signature}>"


def vectorize(ftylist_or_function: Any = (), **options: Any) -> Any:
    """Make a function of whole arrays of one of numbers.

    Parameters
    ----------
    ftylist_or_function : list of signatures, or function
        The types that operands are cast to, and that of the result.
    **options : optional
        ``target="cuda"`` and others of Numba, which change nothing.

    Returns
    -------
    Vectorized or decorator

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat.cuda import vectorize
    >>> @vectorize(["float32(float32, float32)"], target="cuda")
    ... def add(a, b):
    ...     return a + b
    >>> add(np.ones(2, "float32"), 2).tolist()
    [3.0, 3.0]
    """
    del options
    if callable(ftylist_or_function) and not isinstance(ftylist_or_function, Signature):
        return Vectorized(ftylist_or_function, [])
    signatures = _signatures(ftylist_or_function)
    return lambda python: Vectorized(python, signatures)


def guvectorize(ftylist: Any, signature: str | None = None, **options: Any) -> Any:
    """Make a function of arrays of rows, or of matrices, of one of them.

    Parameters
    ----------
    ftylist : list of signatures
        The types of inputs and outputs; or the layout, if there are none.
    signature : str
        The layout, such as ``"(m,n),(n,p)->(m,p)"``.
    **options : optional
        ``target="cuda"`` and others of Numba, which change nothing.

    Returns
    -------
    decorator
        Of a function that writes its outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> @cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
    ... def double(x, out):
    ...     for i in range(x.shape[0]):
    ...         out[i] = 2 * x[i]
    >>> double(np.ones((1, 2), "float32")).tolist()
    [[2.0, 2.0]]
    """
    del options
    if signature is None:
        ftylist, signature = [], ftylist
    signatures = _signatures(ftylist)
    layout = signature
    return lambda python: GUVectorized(python, signatures, layout)


__all__ = ["ALIASES", "TYPES", "GUVectorized", "Vectorized", "guvectorize", "vectorize"]
