"""`usmx.fuse`: a Python function over arrays becomes one elementwise kernel.

The function is run once for each list of argument types, on values that write down what is done to
them (``symbols``); what it returns are the outputs of the kernel.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from .. import _usmx
from .._kernel.source import pickles
from .functions import FUNCTIONS
from .on_arrays import OnArrays
from .reductions import ROWS, Reduced, text_of
from .spelling import cpp, preamble
from .symbols import NATURAL, Program, SeveralKernels, Symbol, constant

__all__ = ["Fused", "fuse"]

# What an argument of these types is, is known when tracing: the function may branch on it.
_STATIC = (bool, str, bytes, type, type(None), np.dtype)


class Fused(_usmx._FusedCall):
    """A Python function that runs as one kernel over all elements; see `fuse`."""

    def __init__(self, function: Callable[..., Any], contract: bool = False) -> None:
        super().__init__()
        self._contract = contract
        self._function = function
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY):
                raise TypeError(
                    f"fuse: '{p}' of {function.__name__}: only a fixed number of positional "
                    "parameters is supported"
                )
        self._count = len(parameters)
        self._traced: dict[tuple[Any, ...], _Traced | OnArrays] = {}
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<usmx.fuse of {self._function.__qualname__}>"

    def __reduce__(self) -> pickles.Reduced:
        return pickles.of_function(self, Fused, self._function, self._contract)

    def __copy__(self) -> Fused:
        _ = self._function  # AttributeError for an object that was never initialised
        return self

    def __deepcopy__(self, memo: object) -> Fused:
        return self.__copy__()

    def _general(
        self,
        *args: Any,
        out: Any = None,
        queue: Any = None,
        depends_on: Any = None,
        **keywords: Any,
    ) -> Any:
        """Compute for any arguments; calls with known types do not come here."""
        as_given = args
        if keywords or len(args) != self._count:
            try:
                bound = self._signature.bind(*args, **keywords)
            except TypeError:
                if "self" not in self._signature.parameters:
                    raise
                raise TypeError(
                    f"fuse: {self._function.__qualname__} is a method, which is not supported; "
                    "fuse a function of arrays, and call it in the method"
                ) from None
            bound.apply_defaults()
            args = bound.args
        passed = args
        if any(map(_is_foreign, args)):
            args = tuple(map(self._array_of, range(len(args)), args))
        key = tuple(map(_key_of, args))
        traced = self._traced.get(key)
        if traced is None:
            traced = self._traced[key] = self._trace(args)
        if isinstance(traced, OnArrays):
            return traced(args, passed, out, queue, depends_on)
        if traced.written and (same := _same_arrays(args)):
            # Arguments that are one array see each other's new values.
            traced = self._traced.get((*key, same))
            if traced is None:
                traced = self._traced[(*key, same)] = self._trace(args, dict(same))
            if isinstance(traced, OnArrays):
                return traced(args, passed, out, queue, depends_on)
        if args is as_given and traced.takes_arguments_as_they_are:
            self._remember(args, traced.kernel)
        return traced(args, passed, out, queue, depends_on)

    def _trace(
        self, args: tuple[Any, ...], same: dict[int, int] | None = None
    ) -> _Traced | OnArrays:
        """One kernel if that is possible."""
        try:
            return _Traced(self._function, args, self._contract, same)
        except SeveralKernels as reason:
            if not any(map(_is_array, args)):
                raise TypeError(f"{reason}, and no argument is an array") from None
            return OnArrays(self._function, str(reason))

    def _array_of(self, number: int, value: Any) -> Any:
        """An array in the place of another library's object, whose description is read once."""
        if not _is_foreign(value):
            return value
        found: Any = _usmx._imported(value, host=True)
        if found is None:
            name = list(self._signature.parameters)[number]
            text = _usmx._no_memory_text(value, " or a number")
            raise TypeError(f"argument '{name}' of {self._function.__name__}: {text}")
        # Memory of the host as NumPy's array, for which kernels wait: no other knows of queues.
        return np.asarray(found) if found.usm_type == "unknown" and found.size else found

    @property
    def sources(self) -> list[str]:
        """The C++ texts that were compiled so far, one for each list of types and layouts."""
        return [text for traced in self._traced.values() for text in traced.sources]

    @property
    def several(self) -> list[str]:
        """Why calls were computed by several kernels, one reason for each list of types."""
        return [one.reason for one in self._traced.values() if isinstance(one, OnArrays)]


@overload
def fuse(function: Callable[..., Any], *, contract: bool = False) -> Fused: ...
@overload
def fuse(
    function: None = None, *, contract: bool = False
) -> Callable[[Callable[..., Any]], Fused]: ...


def fuse(function: Callable[..., Any] | None = None, *, contract: bool = False) -> Any:
    """Make one kernel of a Python function over arrays.

    The function is called once for each list of argument types, with symbols in place of arrays
    and numbers, and may do with them what NumPy does element by element: operators, ufuncs,
    ``np.where``, ``np.clip``, ``astype``, ``.real`` and ``.imag``. Types are those of NumPy in
    every step. What it returns, a value or a tuple, is computed in one pass, without temporary
    arrays; so is one sum, prod, min, max, mean, any or all that it returns. Arrays that it changes
    in place (``x += y``, ``x[...] = y``, ``np.add(x, y, out=x)``) are changed; then it may return
    nothing.

    What one kernel cannot compute - indexing, sorting, several reductions, arithmetic with what a
    reduction gives - makes each call run the function on the arrays, whose operations are computed
    lazily and fused where that is possible; `Fused.several` says why.

    Parameters
    ----------
    function : callable
        With positional parameters. Arguments are arrays of any library with USM, NumPy arrays and
        other buffers where the device reads the host's memory, NumPy scalars and Python numbers;
        strings, types, None and bools are seen as they are and may decide what is computed.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy.

    Returns
    -------
    Fused
        Called as the function is; also with ``out=``, ``queue=`` and ``depends_on=``.

    Raises
    ------
    TypeError
        At the first call: if an element decides (``if``, ``and``, ``bool()``), if something is not
        to be traced.

    Examples
    --------
    >>> @usmx.fuse
    ... def norm(x, y):
    ...     return np.sqrt(x * x + y * y)
    >>> norm(usmx.full(2, 3.0), 4).to_numpy()
    array([5., 5.])
    """
    if function is None:
        return functools.partial(fuse, contract=contract)
    if not callable(function):
        raise TypeError(f"fuse: expected a function, got {type(function).__name__}")
    return Fused(function, contract)


def _key_of(value: Any) -> Any:
    """What of an argument decides the kernel."""
    if isinstance(value, _usmx.ndarray):
        return value.dtype
    kind = type(value)
    if kind in (int, float, complex):
        return "huge" if kind is int and value >= 1 << 63 else kind
    if isinstance(value, _STATIC):
        return ("static", kind, value)
    return ("array", value.dtype)


def _is_foreign(value: Any) -> bool:
    """Neither ours nor a number, nor seen as it is."""
    return not isinstance(value, (_usmx.ndarray, np.generic, np.ndarray, *_STATIC, *NATURAL))


def _declared(program: Program, dtype: np.dtype[Any], name: str, weak: bool) -> str:
    """A parameter. A Python number that is only used as one type arrives in that type, because not
    every device has double."""
    if weak and dtype.kind == "f":
        text = "\n".join(program.lines)
        casts = re.findall(rf"expression::convert<(\w+)>\({name}\)", text)
        if len(set(casts)) == 1 and len(casts) == len(re.findall(rf"\b{name}\b", text)):
            dtype = np.dtype({"half": "e", "float": "f"}.get(casts[0], dtype.char))
    return f"{dtype.name} {name}"


def _same_arrays(args: tuple[Any, ...]) -> tuple[tuple[int, int], ...]:
    """Arguments that are the same elements as one before them, with its number."""
    found = []
    arrays = [k for k, value in enumerate(args) if _is_array(value)]
    for n, k in enumerate(arrays):
        for first in arrays[:n]:
            if _usmx._shared_elements(args[first], args[k]) == "all":
                found.append((k, first))
                break
    return tuple(found)


def _is_array(value: Any) -> bool:
    """Whether it can be changed in place: an array, no number."""
    return type(value) not in NATURAL and not isinstance(value, (*_STATIC, np.generic))


def _elementwise(program: Program, values: list[Symbol], declared: list[str], name: str) -> Any:
    """The kernel that computes values for each element."""
    lines = program.lines + [f"o{k} = {value.text};" for k, value in enumerate(values)]
    text = "\n".join(lines)
    outputs = [f"{value.dtype.name} o{k}" for k, value in enumerate(values)]
    return _usmx.ElementwiseKernel(
        ", ".join(declared),
        ", ".join(outputs),
        text,
        name,
        preamble=preamble(text),
        contract=program.contract,
    )


def _reduction(
    program: Program, result: Reduced, parameters: list[Any], declared: list[str], name: str
) -> Any:
    """The kernel that computes a value for each element and reduces them."""
    types = [_declared(program, *p).split()[0] for p in parameters]
    arguments = [f"{cpp(np.dtype(t))} {p[1]}" for t, p in zip(types, parameters, strict=True)]
    function, value, post = text_of(result, program, arguments)
    _, join, identity = ROWS[result.name]
    return _usmx.ReductionKernel(
        ", ".join(declared),
        f"{result.result.name} o0",
        value,
        join,
        post,
        identity,
        name,
        reduce_type=cpp(result.value.dtype),
        preamble=preamble(function) + function,
        contract=program.contract,
    )


class _Traced:
    """The kernel for one list of argument types.

    Parameters
    ----------
    function : callable
        What is fused.
    args : tuple
        Of the call.
    same : dict of int, optional
        Arguments that are the same array as another one.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        contract: bool,
        same: dict[int, int] | None = None,
    ) -> None:
        program = Program(FUNCTIONS)
        program.contract = contract
        parameters = []
        symbols: list[Any] = []
        self.passed: list[int] = []
        for k, value in enumerate(args):
            if isinstance(value, _STATIC):
                symbols.append(value)
                continue
            weak = type(value) in NATURAL
            if type(value) is int and value >= 1 << 63:
                dtype = np.dtype("Q")
            elif type(value) in NATURAL:
                dtype = np.dtype(NATURAL[type(value)])
            else:
                key = _key_of(value)
                dtype = key[1] if isinstance(key, tuple) else key
            cpp(dtype)  # TypeError for what no device has
            if dtype.name == "bfloat16":
                raise SeveralKernels("NumPy has no functions of bfloat16, which arrays have")
            parameters.append((dtype, f"a{k}", weak))
            self.passed.append(k)
            if same and k in same:
                symbols.append(symbols[same[k]])
                continue
            is_array = _is_array(value)
            symbols.append(
                Symbol(
                    program,
                    f"a{k}",
                    dtype,
                    weak,
                    mutable=is_array,
                    argument=k if is_array else None,
                )
            )
        result = function(*symbols)
        self.names = [f"'{name}'" for name in inspect.signature(function).parameters]
        self.many = isinstance(result, (tuple, list))
        self.written = sorted(program.written)
        results = self._results(program, result)
        values = [value for value in results if isinstance(value, Symbol)]
        #: For each value that the function returns: the argument that it is, or None.
        self.returned = [None if isinstance(value, Symbol) else value for value in results]
        # Of arrays that overlap in part, a later use would see new values here and there; what is
        # returned is used last.
        _ = [value.text for value in values]
        self.after = sorted(program.after)
        values += [program.written[k] for k in self.written]
        declared = [_declared(program, *p) for p in parameters]
        name = "".join(c if c.isascii() and c.isalnum() else "_" for c in function.__name__)
        name = f"fused_{name.strip('_') or 'lambda'}"
        self.how: dict[str, Any] = {}
        self.reduction: Any = None
        if isinstance(result, Reduced):
            self.how = {"axis": result.axis, "keepdims": result.keepdims}
            self.reduction = _reduction(program, result, parameters, declared, name)
        self.kernel: Any = _elementwise(program, values, declared, name) if values else None
        self.fits = [
            (int(text[1:]), np.dtype(char))
            for text, char in program.fits
            if text[0] == "a" and np.dtype(char) != np.dtype("q")
        ]
        self.takes_arguments_as_they_are = len(self.passed) == len(args) and not (
            self.fits or self.how or self.many or self.written
        )

    def _results(self, program: Program, result: Any) -> list[Any]:
        """What is returned: symbols, and numbers of arguments that were changed in place."""
        if result is None and program.written:
            return []
        if isinstance(result, Reduced):
            return []
        results: list[Any] = []
        for value in result if self.many else [result]:
            if isinstance(value, Reduced):
                raise SeveralKernels("the function returns a reduction among other values")
            numbers = [k for k, symbol in program.written.items() if symbol is value]
            results.append(numbers[0] if numbers else constant(program, value))
        if not results and not program.written:
            raise TypeError("a fused function that returns an empty tuple has nothing to do")
        return results

    @property
    def sources(self) -> list[str]:
        """The C++ texts that were compiled so far."""
        kernels = [k for k in (self.reduction, self.kernel) if k is not None]
        return [text for kernel in kernels for text in kernel.sources]

    def __call__(
        self,
        args: tuple[Any, ...],
        passed: tuple[Any, ...],
        out: Any,
        queue: Any,
        depends_on: Any,
    ) -> Any:
        for k, dtype in self.fits:
            dtype.type(args[k])  # OverflowError, as NumPy raises it
        inputs = args if len(self.passed) == len(args) else [args[k] for k in self.passed]
        if self.written:
            return self._write(args, passed, inputs, out, queue, depends_on)
        kernel = self.reduction or self.kernel
        result = kernel(*inputs, out=out, queue=queue, depends_on=depends_on, **self.how)
        return (result,) if self.many and not isinstance(result, tuple) else result

    def _write(
        self, args: Any, passed: Any, inputs: Any, out: Any, queue: Any, depends_on: Any
    ) -> Any:
        """Compute with arguments that get new values; ``passed`` are those of the call."""
        for k in self.written:
            if not args[k].flags.writeable:
                raise ValueError(
                    f"argument {self.names[k]}: is read-only, and the function changes it; pass a "
                    "copy"
                )
        for written, used in self.after:
            if _usmx._shared_elements(args[written], args[used]) == "some":
                raise ValueError(
                    f"arguments {self.names[written]} and {self.names[used]} overlap, and the "
                    f"function uses {self.names[used]} after it changed {self.names[written]} in "
                    "place; pass a copy of one of them"
                )
        reduced = None
        if self.reduction is not None:
            # First, because it reads the arguments as they are before the call.
            how = {"out": out, "queue": queue, "depends_on": depends_on}
            reduced = self.reduction(*inputs, **how, **self.how)
            out = depends_on = None
        new = self.returned.count(None)
        if out is not None:
            if not new or new < len(self.returned):
                raise TypeError(
                    "out=: the function returns nothing"
                    if not self.returned
                    else "out=: the function returns an argument that it changes in place"
                )
            outputs = list(out) if isinstance(out, tuple) else [out]
            if len(outputs) != new:
                raise ValueError(f"out: has {len(outputs)} arrays, but the function returns {new}")
        else:
            outputs = [None] * new
        outputs += [args[k] for k in self.written]
        made = self.kernel(*inputs, out=tuple(outputs), queue=queue, depends_on=depends_on)
        for k, changed in zip(self.written, outputs[new:], strict=True):
            if changed is not passed[k] and isinstance(changed, _usmx.ndarray):
                changed.queue.wait()  # other libraries do not wait when they read
        if reduced is not None:
            return reduced
        values = iter(made if isinstance(made, tuple) else (made,))
        results = tuple(next(values) if k is None else passed[k] for k in self.returned)
        if self.many:
            return results
        return results[0] if results else None
