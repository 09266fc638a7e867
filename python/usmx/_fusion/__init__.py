"""`usmx.fuse`: a Python function over arrays becomes one elementwise kernel.

The function is run once for each list of argument types, on values that write down what is done to
them (``symbols``); what it returns are the outputs of the kernel.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from .. import _captured as captured
from .. import _usmx
from .._kernel.source import pickles
from .._kernel.types.scalars import cpp
from .functions import FUNCTIONS
from .on_arrays import OnArrays
from .reductions import Reduced
from .symbols import NATURAL, Program, SeveralKernels, Symbol, constant, is_wide

__all__ = ["Fused", "fuse"]

#: Kernels of more values of globals and closure variables are forgotten, and made again.
MOST_GENERATIONS = 32
# What an argument of these types is, is known when tracing: the function may branch on it.
_STATIC = (bool, str, bytes, type, type(None), np.dtype)


class Fused(_usmx._FusedCall):
    """A Python function that runs as one kernel over all elements; see `fuse`."""

    def __init__(
        self, function: Callable[..., Any], contract: bool = False, driver_math: bool = False
    ) -> None:
        super().__init__()
        self._rounding = contract, driver_math
        self._function = function
        self._name = _name_of(function)
        try:
            self._signature = _signature_of(function)
        except ValueError:  # a function written in C
            raise TypeError(
                f"fuse: {self._name} does not say which parameters it has; fuse a function that "
                f"calls it: usmx.fuse(lambda x: {self._name}(x))"
            ) from None
        self._defaults = _defaults_of(function)
        kinds = {p.name: p.kind for p in self._signature.parameters.values()}
        by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        for name, kind in kinds.items():
            if kind is inspect.Parameter.KEYWORD_ONLY and name in ("out", "queue", "depends_on"):
                raise TypeError(
                    f"fuse: '{name}' of {self._name}: a fused call has {name}= itself; give the "
                    "parameter another name"
                )
        #: How many arguments by place make a call complete, and whether more may follow.
        self._count = len(kinds) if not any(k in by_name for k in kinds.values()) else -1
        self._has_more = inspect.Parameter.VAR_POSITIONAL in kinds.values()
        if self._has_more and self._count > 0:
            self._count -= 1
        self._generations: list[_Generation] = []
        #: By types of arguments, if what the function reads cannot be compared.
        self._on_arrays: dict[tuple[Any, ...], OnArrays] = {}
        is_function = inspect.isfunction(function)
        functools.update_wrapper(
            self, function, updated=functools.WRAPPER_UPDATES if is_function else ()
        )
        if not is_function:
            self.__name__: str = self._name

    def __repr__(self) -> str:
        return f"<usmx.fuse of {getattr(self._function, '__qualname__', self._name)}>"

    def __reduce__(self) -> pickles.Reduced:
        if not hasattr(self._function, "__qualname__"):  # a partial, an object that can be called
            return Fused, (self._function, *self._rounding)
        return pickles.of_function(self, Fused, self._function, *self._rounding)

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
        if any(isinstance(one, (Symbol, Reduced)) for one in (*args, *keywords.values(), out)):
            # Called by a fused function, which it becomes part of.
            if any(one is not None for one in (out, queue, depends_on)):
                raise SeveralKernels(f"{self._name} is called with out=, queue= or depends_on=")
            self._check_rounding((*args, *keywords.values()))
            return self._function(*args, **keywords)
        as_given = args
        words: tuple[str, ...] = ()
        if keywords or not (
            len(args) == self._count or (self._has_more and 0 <= self._count < len(args))
        ):
            if (defaults := _defaults_of(self._function)) != self._defaults:
                self._signature, self._defaults = _signature_of(self._function), defaults
            try:
                bound = self._signature.bind(*args, **keywords)
            except TypeError:
                if "self" not in self._signature.parameters:
                    from .. import _wrong_calls

                    name = self._function.__qualname__
                    line = _wrong_calls.line(name, self._signature, args, keywords)
                    if line is None:
                        raise
                    raise TypeError(line) from None
                raise TypeError(
                    f"fuse: {self._function.__qualname__} is a method, which is not supported; "
                    "fuse a function of arrays, and call it in the method"
                ) from None
            bound.apply_defaults()
            words = tuple(bound.kwargs)
            args = (*bound.args, *bound.kwargs.values())
        passed = args
        if any(map(_is_foreign, args)):
            count = len(args)
            args = tuple(
                self._array_of(value, k, words, count) if _is_foreign(value) else value
                for k, value in enumerate(args)
            )
        key = (words, *map(_key_of, args))
        on_arrays = self._on_arrays.get(key)
        if on_arrays is not None:
            return on_arrays(args, passed, out, queue, depends_on)
        now = self._generation()
        traced = now.traced.get(key)
        if traced is None:
            traced = now.traced[key] = self._trace(args, words)
            self._check(now)
        if isinstance(traced, OnArrays):
            if now.captured is None:
                self._on_arrays[key] = traced  # it is run at each call as it is
            return traced(args, passed, out, queue, depends_on)
        if traced.written and (same := _same_arrays(args)):
            # Arguments that are one array see each other's new values.
            traced = now.traced.get((*key, same))
            if traced is None:
                traced = now.traced[(*key, same)] = self._trace(args, words, dict(same))
                self._check(now)
            if isinstance(traced, OnArrays):
                return traced(args, passed, out, queue, depends_on)
        if args is as_given and traced.takes_arguments_as_they_are and now.captured is not None:
            self._remember(args, traced.kernel)
        return traced(args, passed, out, queue, depends_on)

    def _check_rounding(self, values: tuple[Any, ...]) -> None:
        """A function that may round otherwise than the one that calls it is a kernel of its own:
        a kernel is compiled in one way."""
        program = next(one.program for one in values if isinstance(one, (Symbol, Reduced)))
        for name, mine, theirs in (
            ("contract", self._rounding[0], program.contract),
            ("driver_math", self._rounding[1], program.driver_math),
        ):
            if mine and not theirs:
                raise SeveralKernels(f"{self._name} is fused with {name}=True")

    def _generation(self) -> _Generation:
        """The kernels that were made while the function read what it reads now."""
        for k, one in enumerate(self._generations):
            if one.holds():
                if k:
                    self._generations.insert(0, self._generations.pop(k))
                    self._begin(one.captured)
                return one
        new = _Generation(captured.of(self._function))
        others = [one for one in self._generations if one.captured is not None]
        self._generations = [new, *others[: MOST_GENERATIONS - 1]]
        self._begin(new.captured)
        return new

    def _check(self, now: _Generation) -> None:
        """A function that changed what it reads while it ran is run again by the next call, from
        what it reads then: a counter counts."""
        if now.captured is not None and not now.captured.holds():
            now.captured = None
            if self._generations and self._generations[0] is now:
                self._begin(None)

    def _trace(
        self, args: tuple[Any, ...], words: tuple[str, ...], same: dict[int, int] | None = None
    ) -> _Traced | OnArrays:
        """One kernel if that is possible."""
        function = self._function
        if words:
            by_place = len(args) - len(words)

            def function(*flat: Any) -> Any:
                by_name = dict(zip(words, flat[by_place:], strict=True))
                return self._function(*flat[:by_place], **by_name)

        try:
            names = [f"'{self._named(k, words, len(args))}'" for k in range(len(args))]
            return _Traced(function, self._name, names, args, self._rounding, same)
        except SeveralKernels as reason:
            if not any(map(_is_array, args)):
                raise TypeError(f"{reason}, and no argument is an array") from None
            return OnArrays(function, str(reason))

    def _named(self, number: int, words: tuple[str, ...], count: int) -> str:
        """The name of an argument, the last of which are given by name."""
        if number >= count - len(words):
            return words[number - count + len(words)]
        for k, p in enumerate(self._signature.parameters.values()):
            if p.kind is p.VAR_POSITIONAL:
                return f"{p.name}[{number - k}]"
            if k == number:
                return p.name
        return str(number)

    def _array_of(self, value: Any, number: int, words: tuple[str, ...], count: int) -> Any:
        """An array in the place of another library's object, whose description is read once."""
        found: Any = _usmx._imported(value, host=True)
        if found is None:
            name = self._named(number, words, count)
            text = _usmx._no_memory_text(value, " or a number")
            raise TypeError(f"argument '{name}' of {self._name}: {text}")
        # Memory of the host as NumPy's array, for which kernels wait: no other knows of queues.
        return np.asarray(found) if found.usm_type == "unknown" and found.size else found

    @property
    def sources(self) -> list[str]:
        """The C++ texts that were compiled so far, one for each list of types and layouts."""
        return [text for traced in self._all() for text in traced.sources]

    @property
    def several(self) -> list[str]:
        """Why calls were computed by several kernels, one reason for each list of types."""
        return [one.reason for one in self._all() if isinstance(one, OnArrays)]

    def _all(self) -> list[_Traced | OnArrays]:
        return [one for made in self._generations for one in made.traced.values()]


class _Generation:
    """Kernels that were made while the names in a function meant the same.

    Parameters
    ----------
    captured : _usmx._Captured or None
        What it read; None if that cannot be compared, so that each call traces it anew.
    """

    def __init__(self, captured: _usmx._Captured | None) -> None:
        self.captured = captured
        self.traced: dict[tuple[Any, ...], _Traced | OnArrays] = {}

    def holds(self) -> bool:
        """Whether they mean the same now."""
        return self.captured is not None and self.captured.holds()


def _defaults_of(function: Callable[..., Any]) -> tuple[tuple[str, int], ...]:
    """The values of parameters that a call may leave out, which a notebook may change."""
    by_place = getattr(function, "__defaults__", None) or ()
    by_name = getattr(function, "__kwdefaults__", None) or {}
    return (*(("", id(x)) for x in by_place), *((name, id(x)) for name, x in by_name.items()))


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function; of a ufunc its operands."""
    if isinstance(function, np.ufunc):
        kind = inspect.Parameter.POSITIONAL_ONLY
        return inspect.Signature(
            [inspect.Parameter(f"x{k + 1}", kind) for k in range(function.nin)]
        )
    return inspect.signature(function)


def _name_of(function: Callable[..., Any]) -> str:
    """How messages call it: a partial by what it calls, an object by its class."""
    while isinstance(function, functools.partial):
        function = function.func
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


@overload
def fuse(
    function: Callable[..., Any], *, contract: bool = False, driver_math: bool = False
) -> Fused: ...
@overload
def fuse(
    function: None = None, *, contract: bool = False, driver_math: bool = False
) -> Callable[[Callable[..., Any]], Fused]: ...


def fuse(
    function: Callable[..., Any] | None = None,
    *,
    contract: bool = False,
    driver_math: bool = False,
) -> Any:
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
        A function, a `functools.partial` or an object that can be called. Arguments are arrays of
        any library with USM, NumPy arrays and other buffers where the device reads the host's
        memory, NumPy scalars and Python numbers; strings, types, None and bools are seen as they
        are and may decide what is computed. Globals, closure variables and attributes that it
        reads are part of the kernel: when they change, the next call makes another one.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy.
    driver_math : bool, optional
        Whether ``exp``, ``log``, ``sin``, ``cos``, ``tanh``, ``atan2`` and ``hypot`` are those of
        the driver on processors too, which may take less time. By default they have the bits of
        `usmx.exp` and the others.

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
    >>> import numpy as np
    >>> import usmx
    >>> @usmx.fuse
    ... def norm(x, y):
    ...     return np.sqrt(x * x + y * y)
    >>> norm(usmx.full(2, 3.0), 4).to_numpy()
    array([5., 5.])
    """
    if function is None:
        return functools.partial(fuse, contract=contract, driver_math=driver_math)
    if not callable(function):
        raise TypeError(f"fuse: expected a function, got {type(function).__name__}")
    return Fused(function, contract, driver_math)


def _key_of(value: Any) -> Any:
    """What of an argument decides the kernel."""
    if isinstance(value, _usmx.ndarray):
        return value.dtype
    kind = type(value)
    if kind in (int, float, complex):
        if kind is int and value >= 1 << 63:
            return "huge" if value < 1 << 64 else ("static", kind, value)
        return kind if kind is not int or value >= -(1 << 63) else ("static", kind, value)
    if isinstance(value, _STATIC):
        return ("static", kind, value)
    return ("array", value.dtype)


def _is_foreign(value: Any) -> bool:
    """Neither ours nor a number, nor seen as it is."""
    return not isinstance(value, (_usmx.ndarray, np.generic, np.ndarray, *_STATIC, *NATURAL))


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


class _Traced:
    """The kernel for one list of argument types.

    Parameters
    ----------
    function : callable
        What is fused.
    called : str
        Its name.
    names : list of str
        Those of the arguments, as messages have them.
    args : tuple
        Of the call.
    same : dict of int, optional
        Arguments that are the same array as another one.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        called: str,
        names: list[str],
        args: tuple[Any, ...],
        rounding: tuple[bool, bool],
        same: dict[int, int] | None = None,
    ) -> None:
        program = Program(FUNCTIONS, rounding)
        symbols: list[Any] = []
        self.passed: list[int] = []
        for k, value in enumerate(args):
            if isinstance(value, _STATIC) or is_wide(value):
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
            number = program.captured.argument(dtype, weak)
            self.passed.append(k)
            if same and k in same:
                symbols.append(symbols[same[k]])
                continue
            is_array = _is_array(value)
            symbols.append(
                Symbol(program, number, mutable=is_array, argument=k if is_array else None)
            )
        result = function(*symbols)
        self.names = names
        self.many = isinstance(result, (tuple, list))
        self.written = sorted(program.written)
        results = self._results(program, result)
        values = [value for value in results if isinstance(value, Symbol)]
        #: For each value that the function returns: the argument that it is, or None.
        self.returned = [None if isinstance(value, Symbol) else value for value in results]
        # Of arrays that overlap in part, a later use would see new values here and there; what is
        # returned is used last.
        stored = [value.value for value in values]
        self.after = sorted(program.after)
        stored += [program.written[k].value for k in self.written]
        name = "".join(c if c.isascii() and c.isalnum() else "_" for c in called)
        name = f"fused_{name.strip('_') or 'lambda'}"
        self.how: dict[str, Any] = {}
        self.reduction: Any = None
        if isinstance(result, Reduced):
            self.how = {"axis": result.axis, "keepdims": result.keepdims}
            self.reduction = result.kernel(name)
        captured = program.captured
        self.kernel: Any = captured.elementwise(stored, name, *rounding) if stored else None
        self.fits = [(self.passed[number], dtype) for number, dtype in captured.fits()]
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
