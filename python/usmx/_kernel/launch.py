"""``@usmx.kernel`` and ``@usmx.device_func``: Python functions that devices run."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from .. import _usmx
from .._captured import Reads
from . import arguments, kept, mode
from .language.device_function import DeviceFunction, name_as
from .source import pickles, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Never, overload

    from .frontend.compiler import Compiled
    from .language.constants import ConstantArray
    from .source.function import Function
    from .types.scalars import Type

# What compiles is imported where it is needed: a kernel that is kept on disk needs none of it.
#: A kernel is specialised for this many numbers at most, one after the other.
MOST_NUMBERS = 32


class Kernel(_usmx._KernelDispatcher):
    """A kernel made from a Python function; made by ``@usmx.kernel``.

    ``k[global](...)`` or ``k[global, local](...)`` launches it and gives an Event; ranges are ints
    or tuples of up to three ints. Two ints are a global and a local range if the kernel asks for
    dimension 0 alone, and a range of two dimensions otherwise; ``k[n, (m,)]`` and
    ``k[(n, m), None]`` say it themselves. It is compiled for each list of argument types once.

    Parameters
    ----------
    python : function
        Its first parameter is the item.
    numba
        Integers have the types that Numba gives them.
    of_launch
        The last argument of a launch is the `LocalMemory` that arrays of length 0 stand for.
    sub_group
        Items in each sub-group, for kernels that ask about them; 0 for what the device chooses.
    races
        Whether the simulator looks for races; it always checks indices.
    records
        Numbers of the parameters that are one record: a launch gives an array of one.
    simulate, options, contract, driver_math
        As for `kernel`; `usmx.simulate` and ``USMX_SIMULATE`` decide where `simulate` is None.
    """

    __name__: str

    def __init__(
        self,
        python: Callable[..., Any],
        *,
        simulate: bool | None = None,
        options: Sequence[str] = (),
        contract: bool = False,
        driver_math: bool = False,
        has_item: bool = True,
        numba: bool = False,
        of_launch: bool = False,
        sub_group: int = 0,
        flat: Sequence[int] = (),
        races: bool = True,
        records: Sequence[int] = (),
    ) -> None:
        super().__init__()
        if getattr(python, "__code__", None) is None:
            raise TypeError(f"kernel: expected a Python function, got {type(python).__name__}")
        self.python = python
        asked = {"-ffp-contract=fast": contract, "-DUSMX_DRIVER_MATH": driver_math}
        self._options = ("-fwrapv", *(o for o, yes in asked.items() if yes), *options)
        self._has_item = has_item
        self._numba = numba
        self._of_launch = of_launch
        self._sub_group = sub_group
        self._block = tuple(flat)
        self._races = races
        self._records = frozenset(records)
        self._choice = simulate
        self._always_ask = simulate is True
        self._families: dict[tuple[object, ...], tuple[str, ...]] = {}
        self._function: Function | None = None
        self._code: object = None
        self._known_rank: tuple[int, _usmx._Captured] | None = None
        name_as(self, python)
        texts.remember(python)

    def _simulation(self, key: Any) -> Any:
        """Called in brackets where simulation may be on: None if it is not."""
        if self._choice is False or (self._choice is None and not mode.is_on()):
            return None
        from .simulator.simulation import Simulation

        if self._block:
            # Simulated sub-groups take items that are next to each other, in any dimensions.
            whole, local = key
            groups = [g // n for g, n in zip(whole, local, strict=True)]
            key = tuple(g * n for g, n in zip(groups, self._block, strict=True)), self._block
        return Simulation(self, key)

    def __call__(self, *_: Never, **__: Never) -> Any:
        name = self.__name__
        from .._help import with_link

        raise with_link(TypeError(f"a kernel is launched over a range: {name}[global_range](...)"))

    def __repr__(self) -> str:
        return f"<usmx.kernel {self.__name__}>"

    def __reduce__(self) -> pickles.Reduced:
        about = (
            self._choice, self._options[1:], self._has_item, self._numba, self._of_launch,
            self._sub_group, self._races, sorted(self._records), self._block,
        )  # fmt: skip
        return pickles.of_function(self, _rebuilt, self.python, *about)

    def __copy__(self) -> Kernel:
        _ = self.python  # AttributeError for an object that was never initialised
        return self

    def __deepcopy__(self, memo: object) -> Kernel:
        return self.__copy__()

    @property
    def function(self) -> Function:
        """The function with its tree."""
        if self._function is None or self._code is not self.python.__code__:
            from .source.function import read

            function = read(self.python)
            if self.python.__name__ == "<lambda>":
                raise function.place.error(
                    function.tree, "a lambda cannot be a kernel; write it with def"
                )
            if self._has_item and not function.parameters:
                raise function.place.error(
                    None, "it has no parameters; the first one must be the work-item"
                )
            if function.keyword_only:
                raise function.place.error(
                    function.tree.args.kwonlyargs[0],
                    "a launch gives its arguments by place, so a kernel has no keyword-only "
                    "parameters; functions that it calls may",
                )
            if function.defaults:
                raise function.place.error(
                    function.tree.args.defaults[0],
                    "a kernel's parameters have no defaults; those of functions that it calls may",
                )
            self._function = function
            self._code = self.python.__code__
        return self._function

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arguments of a launch."""
        names = self.function.parameters[1 if self._has_item else 0 :]
        return (*names, "usmx.of_launch") if self._of_launch else names

    @property
    def _rank(self) -> int:
        """Dimensions that the function asks for: 0 for none, -1 if that cannot be read."""
        if self._known_rank is None or not self._known_rank[1].holds():
            found = kept.key_of(self.python, (), "dimensions")
            held = kept.load(found[0]) if found else None
            if held:
                self._known_rank = int(held[0]), found[2].made()
            else:
                from .frontend import dimensions

                reads = Reads()
                item = self.function.parameters[0] if self._has_item else None
                rank = dimensions.of(self.function, item, reads)
                self._known_rank = rank, reads.made()
                if found:
                    kept.store(found[0], [str(rank)])
        return self._known_rank[0]

    def source(
        self, *args: Any, rank: int | None = None, local: int | Sequence[int] | None = None
    ) -> str:
        """The C++ that is compiled for arguments like these.

        Parameters
        ----------
        *args
            As in a launch.
        rank : int, optional
            Dimensions of the launch; those that the function asks for if not given.
        local : int or sequence of int, optional
            Local range, if the kernel's memory depends on it.
        """
        return self._compiled_for(args, rank, local).text

    def limits(
        self,
        *args: Any,
        rank: int | None = None,
        local: int | Sequence[int] | None = None,
        queue: Any = None,
    ) -> _usmx.KernelLimits:
        """Private memory, and limits of work-groups and sub-groups, for arguments like these.

        Parameters
        ----------
        *args, rank, local
            As for `source`.
        queue : optional
            Whose device; the default device if not given.
        """
        made = self._compiled_for(args, rank, local)
        return _usmx.RawKernel(made.text, made.name, self._options).limits(queue)

    def _compiled_for(
        self, args: Sequence[Any], rank: int | None, local: int | Sequence[int] | None
    ) -> Compiled:
        sizes = () if local is None else (local,) if isinstance(local, int) else tuple(local)
        values = [arguments.as_array(a) for a in args]
        apart = self._lie_apart([p for v in values for _, p in arguments.parts("", v)])
        wide = not sizes or self._fills_vectors(sizes[-1])
        rank = rank or len(sizes) or max(self._rank, 1)
        return self.compiled(values, rank, sizes, apart=apart, wide=wide)

    def argument_types(self, args: Sequence[Any], reads: Reads) -> list[Type]:
        """The types of the arguments of a launch; ``reads`` are told what annotations name.

        Raises
        ------
        TypeError
            Too many or too few, or one that no kernel takes.
        """
        from .types import scalars

        names = self.parameters
        if len(args) != len(names):
            from .frontend import instead
            from .source.diagnostics import number_of

            forgotten = instead.of_launch(self.function, len(args)) if self._has_item else ""
            raise TypeError(
                f"kernel '{self.__name__}' takes {number_of(len(names), 'argument')} "
                f"({', '.join(names)}), got {len(args)}{forgotten}"
            )
        given = []
        for k, (name, arg) in enumerate(zip(names, args, strict=True)):
            t = self._annotated(name, arguments.type_of(arg, self._named(k)), reads)
            if k in self._records:
                assert isinstance(t, scalars.Array)
                t = t.first
            given.append(t)
        return given

    def _named(self, number: int) -> str:
        """An argument of a launch, as messages begin."""
        names = self.parameters
        name = f" ('{names[number]}')" if number < len(names) else ""
        return f"argument {number}{name} of kernel '{self.__name__}'"

    def _called(self, number: int, args: Sequence[Any]) -> str:
        """The same of the arguments that `_flat` gives."""
        names = [str(k) for k in range(len(args))]
        name, *rest = self._flat(args, names)[number][0].split(".")
        return ", item ".join([self._named(int(name)), *rest])

    def _flat(
        self, args: Sequence[Any], names: Sequence[str] | None = None
    ) -> list[tuple[str, Any]]:
        """Arguments with their names, those in tuples one by one."""
        if names is None:
            names = self.parameters
        return [p for n, a in zip(names, args, strict=True) for p in arguments.parts(n, a)]

    def _annotated(self, name: str, t: Type, reads: Reads) -> Type:
        """The type that the function declares for a number."""
        from .types import scalars
        from .types.scalars import Scalar

        annotation = self.python.__annotations__.get(name)
        if isinstance(annotation, str):
            first, *dotted = annotation.split(".")
            if all(map(str.isidentifier, (first, *dotted))):
                of = reads.name(self.python, first, None)
                for part in dotted:
                    of = reads.attribute(of, part, None)
            try:
                annotation = eval(annotation, getattr(self.python, "__globals__", {}))
            except (NameError, AttributeError, SyntaxError):
                return t
        declared = scalars.named(annotation) if annotation is not None else None
        declared = scalars.PYTHON_BOOL if annotation is bool else declared
        if declared is None or not isinstance(t, Scalar):
            return t
        if scalars.RANK[t.kind] > scalars.RANK[declared.kind]:
            raise TypeError(f"'{name}' of kernel '{self.__name__}' is declared {declared}, got {t}")
        return declared

    def compiled(
        self,
        args: Sequence[Any],
        rank: int,
        local: Sequence[int],
        *,
        partial: bool = False,
        apart: bool = False,
        wide: bool = False,
        tall: bool = False,
        simulated: bool = False,
    ) -> Compiled:
        """The kernel for the types of these arguments."""
        from .frontend.compiler import compile_kernel
        from .frontend.results import Specialise
        from .source.diagnostics import KernelError

        reads = Reads()
        reads.function(self.python)
        given = self.argument_types(args, reads)
        family = (rank, *given)
        origins = self._families.get(family, ())
        for _ in range(MOST_NUMBERS):
            known = {o: self._number(o, args, local) for o in origins}
            try:
                made = compile_kernel(
                    self.function,
                    given,
                    rank=rank,
                    known=known,
                    has_item=self._has_item,
                    partial=partial and not self._block,
                    apart=apart,
                    wide=wide,
                    tall=tall and not self._block,
                    reads=reads,
                    numba=self._numba,
                    of_launch=self._of_launch,
                    sub_group=self._sub_group,
                    flat=self._block,
                )
            except Specialise as missing:
                origins = tuple(dict.fromkeys((*origins, *sorted(missing.origins))))
                continue
            except KernelError as wrong:
                # Twenty frames of the compiler would stand between the launch and the caret.
                raise wrong.with_traceback(None) from None
            if made.module.stops is not None and not simulated:
                raise made.module.stops
            self._families[family] = origins
            return made
        raise ValueError(f"kernel '{self.__name__}' depends on too many numbers to specialise it")

    def _position(self, origin: str, args: Sequence[Any]) -> tuple[str, int, int]:
        """Where a launch has the number of that name, see `Specialise`."""
        if origin.startswith("local["):
            return "l", 0, int(origin[6:-1])
        names = [name for name, _ in self._flat(args)]
        if origin.endswith(">=0"):
            return "p", names.index(origin.removesuffix(">=0")), 0
        if ".shape[" in origin:
            name, axis = origin[:-1].split(".shape[")
            return "s", names.index(name), int(axis)
        return "v", names.index(origin), 0

    def _number(self, origin: str, args: Sequence[Any], local: Sequence[int]) -> int:
        number = _number_at(self._position(origin, args), args, local)
        if number is None:
            raise ValueError(
                f"kernel '{self.__name__}' has memory whose size depends on the local range: "
                f"launch it as {self.__name__}[global, (local,)](...)"
            )
        return number

    def _make(
        self,
        args: tuple[Any, ...],
        global_: tuple[int, ...],
        local: tuple[int, ...],
        partial: bool,
        apart: bool,
        wide: bool,
        tall: bool,
    ) -> dict[str, Any]:
        """Called at a launch with types that are new, or after a table's first update.

        With ``partial`` the last group may have items beyond the range, with ``apart`` no two
        arrays have a byte in common, with ``wide`` rows of items are long enough for vectors, with
        ``tall`` items take several rows, if that text is there.
        """
        form = (
            self._has_item, self._numba, self._of_launch, self._sub_group, self._block,
            self._options,
            tuple(sorted(self._records)),
        )  # fmt: skip
        about = (args, len(global_), *form, partial, apart, wide, tall)
        found = kept.key_of(self.python, *about)
        if found:
            held = self._load(found[0], found[1], found[2], args, local)
            if held:
                return held
        made = self.compiled(
            args, len(global_), local, partial=partial, apart=apart, wide=wide, tall=tall
        )
        known = [self._position(origin, args) for origin in made.known]
        given = [table.of for table in made.module.given]
        texts = [made.text, made.name, made.plan, made.needs_group or ""]
        # Kept only under what it was made of: a table may have been updated in the meantime.
        again = kept.key_of(self.python, *about) if found else None
        if found and again and again[:2] == found[:2]:
            rows = [" ".join(map(str, position)) for position in known]
            order = list(found[1])
            texts.append(" ".join(str(order.index(table)) for table in given))
            kept.store(found[0], rows)
            kept.store(_exact(found[0], known, args, local), [*texts, *rows])
        return self._made(texts, known, given, made.module.frozen, made.module.reads)

    def _made(
        self,
        texts: Sequence[str],
        known: object,
        given: Sequence[ConstantArray],
        frozen: Sequence[ConstantArray],
        reads: Reads,
    ) -> dict[str, Any]:
        names = ("source", "name", "plan", "needs_group")
        return {
            **dict(zip(names, texts, strict=False)),
            "options": list(self._options),
            "known": known,
            "tables": [table.table for table in given],
            "frozen": [table.table for table in frozen],
            "captured": reads.made(),
        }

    def _load(
        self,
        key: kept.Key,
        tables: dict[ConstantArray, bool],
        reads: Reads,
        args: Sequence[Any],
        local: Sequence[int],
    ) -> dict[str, Any] | None:
        """What `_make` gives, if the disk has it."""
        rows = kept.load(key)
        if rows is None:
            return None
        known = [(what, int(k), int(axis)) for what, k, axis in map(str.split, rows)]
        held = kept.load(_exact(key, known, args, local))
        if held is None or held[5:] != rows:
            return None
        order = list(tables)
        given = [order[int(number)] for number in held[4].split()]
        return self._made(held, known, given, [t for t in order if not tables[t]], reads)


def _rebuilt(
    python: Callable[..., Any],
    simulate: bool | None,
    options: Sequence[str],
    has_item: bool,
    numba: bool = False,
    of_launch: bool = False,
    sub_group: int = 0,
    races: bool = True,
    records: Sequence[int] = (),
    flat: Sequence[int] = (),
) -> Kernel:
    """The kernel that was pickled."""
    return Kernel(
        python, simulate=simulate, options=options, has_item=has_item, numba=numba,
        of_launch=of_launch, sub_group=sub_group, races=races, records=records, flat=flat,
    )  # fmt: skip


def _number_at(
    position: tuple[str, int, int], args: Sequence[Any], local: Sequence[int]
) -> int | None:
    """The number of a launch at a position, see `Kernel._position`; None if it has none there."""
    what, argument, axis = position
    if what == "l":
        return int(local[axis]) if axis < len(local) else None
    _, value = [p for a in args for p in arguments.parts("", a)][argument]
    if what == "p":
        return int(int(value) >= 0)
    return int(value.shape[axis] if what == "s" else value)


def _exact(
    key: kept.Key,
    known: Sequence[tuple[str, int, int]],
    args: Sequence[Any],
    local: Sequence[int],
) -> kept.Key:
    """The key with the numbers that the text is specialised for."""
    return key + f"\n{known} {[_number_at(k, args, local) for k in known]}".encode()


if TYPE_CHECKING:

    @overload
    def kernel(
        function: Callable[..., object] | str,
        *,
        simulate: bool | None = None,
        options: Sequence[str] = (),
        contract: bool = False,
        driver_math: bool = False,
    ) -> Kernel: ...
    @overload
    def kernel(
        function: None = None,
        *,
        simulate: bool | None = None,
        options: Sequence[str] = (),
        contract: bool = False,
        driver_math: bool = False,
    ) -> Callable[[Callable[..., object]], Kernel]: ...


def kernel(
    function: Callable[..., Any] | str | None = None,
    *,
    simulate: bool | None = None,
    options: Sequence[str] = (),
    contract: bool = False,
    driver_math: bool = False,
) -> Any:
    """Make a kernel of a Python function, which is compiled when it is first launched.

    Parameters
    ----------
    function : function or str
        Its first parameter is the item; the others are the arguments of a launch. A function whose
        text cannot be found is passed as text, whose names are globals of the caller.
    simulate : bool, optional
        Run it in Python, item by item, with checks of bounds and races.
    options : sequence of str, optional
        For the C++ compiler.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy and in the simulator.
    driver_math : bool, optional
        Whether ``exp``, ``log``, ``sin``, ``cos``, ``tanh``, ``atan2`` and ``hypot`` are those of
        the driver on processors too, which may take less time. By default they have the bits of
        `usmx.exp` and the others.

    Returns
    -------
    Kernel
        Launched as ``k[global](...)`` or ``k[global, local](...)``.

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def saxpy(item, a, x, y):
    ...     i = item.get_id(0)
    ...     y[i] = a * x[i] + y[i]
    >>> x, y = usmx.arange(3.0), usmx.ones(3)
    >>> saxpy[x.size](2.0, x, y).wait()
    >>> print(y)
    [1., 3., 5.]
    """
    if function is None:
        return lambda given: kernel(
            given, simulate=simulate, options=options, contract=contract, driver_math=driver_math
        )
    function = texts.function_of(function)
    return Kernel(
        function, simulate=simulate, options=options, contract=contract, driver_math=driver_math
    )


def device_func(function: Callable[..., Any] | str) -> DeviceFunction:
    """Make a Python function, or its text, callable from kernels; in Python it stays what it is.

    Parameters
    ----------
    function : callable or str
        In the language of kernels: a function of Python, or the text of one.

    Returns
    -------
    DeviceFunction
        Kernels and other such functions call it; a call from Python runs it as Python.

    Examples
    --------
    >>> import usmx
    >>> @usmx.device_func
    ... def square(v):
    ...     return v * v
    >>> @usmx.kernel
    ... def squares(item, x):
    ...     i = item.get_id(0)
    ...     x[i] = square(x[i])
    >>> x = usmx.arange(4)
    >>> _ = squares[4](x)
    >>> print(x)
    [0, 1, 4, 9]
    """
    return DeviceFunction(texts.function_of(function))
