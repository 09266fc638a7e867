"""``@cuda.jit``: Python functions that are launched over blocks of threads, or called by those."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import functools
import math
import operator
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import _usmx
from ..._kernel.language.device_function import DeviceFunction
from ..._kernel.language.local_memory import LocalMemory
from ..._kernel.launch import Kernel
from ..._kernel.source.diagnostics import KernelError
from ..numba_types import arguments_of, is_signature
from . import blocks, devices, errors
from .arrays import DeviceNDArray, unwrapped
from .streams import queue_of

#: Threads of a block that `forall` chooses.
CHOSEN = 256
#: Launches of a kernel that are kept, by what stands in brackets.
MOST_KEPT = 64
_FEW = "kernel launch configuration was not specified"


class In:
    """An argument that a kernel only reads: it works on a copy.

    Parameters
    ----------
    value : array
        The argument.

    Examples
    --------
    >>> import numpy as np
    >>> from usmx.compat import cuda
    >>> @cuda.jit
    ... def double(x, out):
    ...     i = cuda.grid(1)
    ...     out[i] = 2 * x[i]
    >>> x, out = np.arange(3), np.zeros(3, "int64")
    >>> double[1, 3](cuda.In(x), cuda.Out(out))
    >>> out.tolist()
    [0, 2, 4]
    """

    def __init__(self, value: Any) -> None:
        self.value = value


class Out(In):
    """An argument that a kernel writes."""


class InOut(In):
    """An argument that a kernel reads and writes."""


def wrap_arg(value: Any, default: Any = InOut) -> Any:
    """An argument that says how it is used; as `default` if it does not say it."""
    return value if isinstance(value, In) else default(value)


def lengths(given: Any, name: str) -> tuple[int, int, int]:
    """Blocks or threads along x, y and z.

    Raises
    ------
    TypeError, ValueError
        One is not an int, or there are too many of them.
    """
    many = given if isinstance(given, tuple | list) else (given,)
    if not 1 <= len(many) <= 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {[*many]}")
    try:
        found = [operator.index(n) for n in many]
    except TypeError:
        raise TypeError(f"{name} must be a sequence of integers, got {[*many]}") from None
    for n in found:
        if n < 1:
            raise ValueError(f"{name}: {given!r}; expected positive integers")
    x, y, z = [*found, 1, 1][:3]
    return x, y, z


class Configuration:
    """The blocks, threads, stream and shared memory of launches of one kernel, and what was chosen
    for them."""

    def __init__(self, name: str, config: Any) -> None:
        many = config if isinstance(config, tuple | list) else (config,)
        if not 2 <= len(many) <= 4:
            raise ValueError(
                f"kernel '{name}': must specify at least the griddim and blockdim, and "
                f"at most the stream and the shared memory too; got {config!r}"
            )
        grid, threads = lengths(many[0], "griddim"), lengths(many[1], "blockdim")
        self.stream: Any = many[2] if len(many) > 2 else 0
        self.shared: int = operator.index(many[3]) if len(many) > 3 else 0
        rank = max(k + 1 if grid[k] * threads[k] > 1 else 1 for k in range(3))
        # CUDA's x is the last dimension.
        self.local: tuple[int, ...] = tuple(reversed(threads[:rank]))
        self.groups: tuple[int, ...] = tuple(reversed(grid[:rank]))
        self.range: tuple[int, ...] = tuple(
            b * t for b, t in zip(self.groups, self.local, strict=True)
        )
        self.blocks: int = math.prod(grid)
        queue_of(self.stream)  # refuses what is none
        #: What `choice` gave last, and for what.
        self.chosen: tuple[_About, tuple[int, ...], Kernel, Any] | None = None

    def choice(
        self, kernel: CUDADispatcher, about: _About, records: tuple[int, ...]
    ) -> tuple[Kernel, Any]:
        """The kernel of usmx, and its ranges, for a device and arguments that are records."""
        if self.blocks > 1 and kernel.meets_grid:
            raise errors.CooperativeError(
                f"kernel '{kernel.__name__}' waits for all blocks, by cg.this_grid().sync(), and "
                f"is launched over {self.blocks}; no device of usmx promises that all blocks run "
                "at the same time: launch one block, or split the kernel where it waits"
            )
        # A processor takes long rows faster than the small squares that suit a GPU.
        free = about.is_processor and self.shared == 0 and kernel.is_apart
        if blocks.is_cut_at_rows(self.local) and kernel.asks_warps:
            made = kernel.made(self.shared > 0, about.warp, records, self.local)
            return made, blocks.flattened(self.range, self.local)
        made = kernel.made(self.shared > 0, about.warp, records)
        return made, (self.range, None if free else self.local)


class Launch:
    """A kernel with its configuration, waiting for arguments.

    Made anew for each launch: a kernel that kept it would keep itself, and what it captured, until
    the garbage collector comes.
    """

    __slots__ = ("config", "kernel")

    def __init__(self, kernel: CUDADispatcher, config: Configuration) -> None:
        self.kernel: CUDADispatcher = kernel
        self.config: Configuration = config

    def __call__(self, *args: Any) -> None:
        """Launch it.

        Parameters
        ----------
        *args
            Arrays of a device, of usmx and of NumPy, numbers, records and tuples of these. Of
            arrays of NumPy the call waits until the kernel has run.
        """
        kernel, config = self.kernel, self.config
        queue = queue_of(config.stream)
        of_device = about(_usmx.Device() if queue is None else queue.device)
        found: list[Any] = []
        after: list[Any] = []
        records: tuple[int, ...] = ()
        if kernel.extensions:
            args = kernel.extended(args, config.stream, after)
        if kernel.types is not None:
            args = kernel.converted(args)
        for a in args:
            if type(a) is DeviceNDArray:
                found.append(a.usmx)
            elif type(a) in _AS_THEY_ARE:
                found.append(a)
            elif isinstance(a, np.void) and a.dtype.names is not None:
                # Kernels write to the record of the host, which is an element of an array there.
                records += (len(found),)
                found.append(_prepared(np.asarray(a).reshape(1), after, of_device.copies, queue))
            else:
                found.append(_prepared(a, after, of_device.copies, queue))
        chosen = config.chosen  # another thread may launch on another device
        if chosen is None or chosen[0] is not of_device or chosen[1] != records:
            choice = config.choice(kernel, of_device, records)
            chosen = config.chosen = (of_device, records, *choice)
        if config.shared > 0:
            found.append(LocalMemory(config.shared, "uint8"))
        made, ranges = chosen[2:]
        launch: Any = made[ranges]
        try:
            event = launch(*found, queue=queue) if queue is not None else launch(*found)
        except KernelError as error:
            raise errors.of(error) from None
        except Exception as error:
            item = getattr(getattr(launch, "state", None), "current", None)
            if item is None:
                raise
            raise kernel.located(error, item) from None
        if after:
            event.wait()
            for one in after:
                if callable(one):  # of an extension
                    one()
                else:
                    host, copied = one
                    host[...] = copied.to_numpy()


class _About(NamedTuple):
    """What launches ask about a device."""

    #: Whether arrays of the host have to be copied there and back.
    copies: bool
    is_processor: bool
    #: The threads of a warp that kernels are compiled for; 0 if the device has no such warps.
    warp: int


@functools.lru_cache(maxsize=16)
def about(device: _usmx.Device) -> _About:
    """What launches ask about a device, asked once."""
    sizes: Any = device.properties().get("sub_group_sizes") or ()
    return _About(
        not device.has_aspect("usm_system_allocations"),
        bool(device.is_cpu),
        devices.WARP if devices.WARP in sizes else 0,
    )


#: Types of arguments that launches of usmx take, and that nothing of Numba means otherwise.
_AS_THEY_ARE = frozenset({_usmx.ndarray, int, float})


def _prepared(a: Any, after: list[Any], copies: bool, queue: _usmx.Queue | None) -> Any:
    """An argument as a launch of usmx takes it; what is to be copied back is noted."""
    if isinstance(a, In):
        if isinstance(a, Out | InOut):
            return _prepared(a.value, after, copies, queue)
        return _usmx.asarray(unwrapped(a.value), copy=True, queue=queue)
    if isinstance(a, tuple):
        items = [_prepared(one, after, copies, queue) for one in a]
        return type(a)._make(items) if hasattr(a, "_make") else tuple(items)
    a = unwrapped(a)
    if copies and isinstance(a, np.ndarray) and a.ndim > 0:
        made = _usmx.asarray(a, copy=True, queue=queue)
        if a.flags.writeable:
            after.append((a, made))
        return made
    return a


class CUDADispatcher(DeviceFunction):
    """A function with ``@cuda.jit``: a kernel, and a function that kernels call.

    ``k[blocks, threads, stream, shared](*args)`` launches it. `py_func` is the function.
    """

    __name__: str

    def __init__(
        self,
        python: Callable[..., Any],
        *,
        device: bool = False,
        types: tuple[Any, ...] | None = None,
        debug: bool = False,
        fastmath: bool = False,
        extensions: Sequence[Any] = (),
    ) -> None:
        super().__init__(python)
        self.is_device = device
        self.debug = debug
        self.types = types
        self.fastmath = fastmath
        self._made: dict[tuple[bool, int, tuple[int, ...], tuple[int, ...]], Kernel] = {}
        self._meets_grid: bool | None = None
        self._asks_warps: bool | None = None
        self._is_apart: bool | None = None
        self._configurations: dict[Any, Configuration] = {}
        #: Objects whose `prepare_args` sees each argument before a launch, as Numba's.
        self.extensions: list[Any] = list(extensions)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function."""
        return self.python

    def __repr__(self) -> str:
        return f"<cuda.jit {self.__name__}>"

    def __reduce__(self) -> Any:
        from ..._kernel.source import pickles

        about = (type(self), self.is_device, self.types, self.debug, self.fastmath)
        return pickles.of_function(self, _rebuilt, self.python, *about)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.is_device:
            return self.python(*args, **kwargs)
        raise ValueError(
            f"{_FEW}: write {self.__name__}[blocks, threads](...). Documentation: Moving from "
            "numba.cuda"
        )

    def __getitem__(self, config: Any) -> Launch:
        if self.is_device:
            raise TypeError(
                f"'{self.__name__}' has device=True: kernels call it, it is not launched"
            )
        try:
            return Launch(self, self._configurations[config])
        except (KeyError, TypeError):
            made = Configuration(self.__name__, config)
        if len(self._configurations) < MOST_KEPT and isinstance(config, tuple):
            with contextlib.suppress(TypeError):  # lists have no hash
                self._configurations[config] = made
        return Launch(self, made)

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Launch:
        """What brackets give."""
        return Launch(self, Configuration(self.__name__, (griddim, blockdim, stream, sharedmem)))

    def forall(
        self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        """A launch of at least that many threads.

        Parameters
        ----------
        ntasks : int
            How many are needed; the last block may have more.
        tpb : int
            Threads of a block; 0 for what is chosen here.
        stream, sharedmem
            As in brackets.
        """
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        if ntasks == 0:
            return lambda *args: None
        threads = tpb or min(CHOSEN, ntasks)
        return self[-(-ntasks // threads), threads, stream, sharedmem]

    def specialize(self, *args: Any) -> CUDADispatcher:
        """Itself: kernels are compiled for the types of each call."""
        del args
        return self

    def compile(self, sig: Any) -> CUDADispatcher:
        """Itself: the same."""
        del sig
        return self

    compile_device = compile

    @property
    def overloads(self) -> dict[Any, Any]:
        """The types that the decorator was given, each with this kernel."""
        return dict.fromkeys(self.signatures, self)

    @property
    def signatures(self) -> list[Any]:
        """The types that the decorator was given."""
        return [] if self.types is None else [self.types]

    @property
    def specialized(self) -> bool:
        """Whether the decorator was given types."""
        return self.types is not None

    def inspect_source(self, *args: Any) -> str:
        """The C++ that is compiled for arguments like these.

        Parameters
        ----------
        *args
            As in a launch.
        """
        made = self.made(False, about(_usmx.Device()).warp, ())
        rank = blocks.most_dimensions(self.python)
        return made.source(*(unwrapped(a) for a in args), rank=rank)

    def _no_assembly(self, *_: Any) -> Any:
        raise NotImplementedError(
            f"kernel '{self.__name__}' has no text of LLVM or PTX; see inspect_source(*args)"
        )

    inspect_asm: Any = _no_assembly
    inspect_llvm: Any = _no_assembly
    inspect_sass: Any = _no_assembly
    inspect_types: Any = _no_assembly
    inspect_lto_ptx: Any = _no_assembly

    def recompile(self) -> None:
        """Nothing: kernels are compiled for the types of each call."""

    def enable_caching(self) -> None:
        """Nothing: compiled kernels are kept, see `usmx.set_program_memory`."""

    @property
    def targetoptions(self) -> dict[str, Any]:
        """What the decorator was given."""
        return {
            "device": self.is_device, "debug": self.debug, "fastmath": self.fastmath,
            "extensions": self.extensions,
        }  # fmt: skip

    def _unknown(self, signature: Any = None) -> Any:
        """What only NVIDIA's compiler knows: 0 for one signature, else 0 for each."""
        return 0 if signature is not None else dict.fromkeys(self.signatures, 0)

    get_regs_per_thread: Any = _unknown
    get_shared_mem_per_block: Any = _unknown
    get_local_mem_per_thread: Any = _unknown
    get_const_mem_size: Any = _unknown

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """The largest block of the device, for one signature or for each."""
        most = devices.gpus.current.MAX_THREADS_PER_BLOCK
        return most if signature is not None else dict.fromkeys(self.signatures, most)

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """How many blocks may wait for each other: one.

        Parameters
        ----------
        blockdim, dynsmemsize
            As in a launch.
        """
        del blockdim, dynsmemsize
        return 1

    def converted(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Numbers in the types that the decorator was given."""
        if self.types is None or len(self.types) != len(args):
            return args
        return tuple(
            _as_type(t, a) if isinstance(a, int | float | complex | np.generic) else a
            for t, a in zip(self.types, args, strict=True)
        )

    def extended(self, args: tuple[Any, ...], stream: Any, after: list[Any]) -> tuple[Any, ...]:
        """Arguments as the extensions of the kernel make them."""
        if not self.extensions:
            return args
        made = []
        types = self.types or (None,) * len(args)
        for t, a in zip(types, args, strict=False):
            for one in reversed(self.extensions):
                t, a = one.prepare_args(t, a, stream=stream, retr=after)  # noqa: PLW2901
            made.append(a)
        return tuple(made)

    def made(
        self, with_shared: bool, warp: int, records: tuple[int, ...], flat: tuple[int, ...] = ()
    ) -> Kernel:
        """The kernel of usmx, for warps of a device and the numbers of arguments that are records.

        Parameters
        ----------
        with_shared : bool
            Whether the launch gives bytes of shared memory.
        warp : int
            Threads of a warp, 0 for what the device chooses.
        records : tuple of int
            Numbers of the arguments.
        flat : tuple of int
            The local range of a launch whose blocks have all of their threads along x.
        """
        key = with_shared, warp, records, flat
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Kernel(
                self.python,
                has_item=False,
                numba=True,
                of_launch=with_shared,
                sub_group=warp,
                flat=flat,
                simulate=True if self.debug else None,
                races=not self.debug,
                contract=self.fastmath,
                driver_math=self.fastmath,
                records=records,
            )
        return found

    @property
    def meets_grid(self) -> bool:
        """Whether it waits for all blocks."""
        if self._meets_grid is None:
            self._meets_grid = "this_grid" in blocks.names_of(self.python)
        return self._meets_grid

    @property
    def asks_warps(self) -> bool:
        """Whether it asks about the warps of its block."""
        if self._asks_warps is None:
            self._asks_warps = blocks.asks_warps(self.python)
        return self._asks_warps

    @property
    def is_apart(self) -> bool:
        """Whether it gives the same in blocks of any size."""
        if self._is_apart is None:
            self._is_apart = not self.debug and blocks.is_apart(self.python)
        return self._is_apart

    def located(self, error: Exception, item: Any) -> Exception:
        """What a kernel raised, with the thread and the line; its other arguments stay."""
        file = self.python.__code__.co_filename
        lines = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == file]
        if not lines:
            return error
        where = lines[-1]
        thread, block = (
            [*(int(of(k)) for k in reversed(range(len(item.local_range)))), 0, 0][:3]
            for of in (item.get_local_id, item.get_group_id)
        )
        message, *others = error.args or ("",)
        told = f"tid={thread} ctaid={block}"
        told = f"{told}: {message}" if error.args else told
        error.args = (f"{told}\n  {where.filename}:{where.lineno}: {where.line}", *others)
        return error


def _as_type(t: Any, a: Any) -> Any:
    """A number in a type of a signature; as it is if that is none of numbers."""
    name = getattr(t, "name", "")
    try:
        made = np.dtype(name)
    except TypeError:
        return a
    if made.kind not in "biufc" or (made.kind in "biuf" and isinstance(a, complex)):
        return a
    return np.asarray(a).astype(made)[()]


def _rebuilt(
    python: Callable[..., Any],
    kind: type[CUDADispatcher],
    device: bool,
    types: Any,
    debug: bool,
    fastmath: bool,
) -> CUDADispatcher:
    return kind(python, device=device, types=types, debug=debug, fastmath=fastmath)


#: Parameters of ``cuda.jit`` that change nothing here.
_IGNORED = frozenset({
    "inline", "link", "opt", "lineinfo", "cache", "max_registers", "forceinline",
    "launch_bounds", "lto", "nopython", "boundscheck", "argtypes", "restype", "bind", "fp_contract",
    "abi", "abi_info", "chip", "shared_memory_carveout", "cc", "target", "forceobj", "looplift",
})  # fmt: skip


def jit(
    func_or_sig: Any = None,
    device: bool = False,
    *,
    debug: bool | None = None,
    fastmath: bool = False,
    extensions: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """Make a kernel of a Python function, or a function that kernels call.

    Parameters
    ----------
    func_or_sig : function, signature, or None
        A signature such as ``"void(float32[:], int32)"`` gives numbers their types; kernels are
        compiled for the types of each call.
    device : bool
        Whether kernels call it.
    debug : bool, optional
        Run it item by item in Python, where indices are checked: an `IndexError` names the array,
        the index and the line.
    fastmath : bool
        Whether ``a * b + c`` may be rounded once.
    extensions : sequence of objects
        Whose ``prepare_args(type, value, stream=, retr=)`` sees each argument before a launch.
    **options : optional
        Others of Numba, which change nothing.

    Returns
    -------
    CUDADispatcher, DeviceFunction or decorator
        Without a function, what takes one.

    Raises
    ------
    TypeError
        An option that Numba has not.
    NotImplementedError
        ``link=``: code of other languages.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> @cuda.jit
    ... def double(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] *= 2
    >>> x = usmx.arange(3)
    >>> double[4, 64](x)
    >>> print(x)
    [0, 2, 4]
    """
    unknown = sorted(set(options) - _IGNORED)
    if unknown:
        raise TypeError(f"cuda.jit has no parameter '{unknown[0]}'")
    if options.get("link"):
        raise NotImplementedError(
            "link=: PTX and CUDA C++ cannot be linked to kernels of usmx; write the function in "
            "Python, or the kernel as a usmx.RawKernel"
        )
    if options.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA; use debug=True")
    about: dict[str, Any] = {
        "device": device, "debug": bool(debug), "fastmath": bool(fastmath),
        "extensions": extensions,
    }  # fmt: skip
    if func_or_sig is None or is_signature(func_or_sig):
        types = None if func_or_sig is None else arguments_of(func_or_sig)
        return lambda python: _decorated(python, types=types, **about)
    return _decorated(func_or_sig, **about)


def _decorated(python: Any, **about: Any) -> CUDADispatcher:
    if isinstance(python, CUDADispatcher):
        raise TypeError(
            "A jit decorator was called on an already jitted function: give its py_func"
        )
    return CUDADispatcher(getattr(python, "py_func", python), **about)


def declare_device(name: str, sig: Any) -> Any:
    """Not here.

    Parameters
    ----------
    name : str
        Of a function of another language.
    sig : signature
        Of its types.

    Returns
    -------
    callable

    Raises
    ------
    NotImplementedError
        Always: functions of other languages cannot be linked.

    Examples
    --------
    >>> from usmx.compat import cuda
    >>> cuda.declare_device("f", "int32(int32)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    NotImplementedError: ...
    """
    raise NotImplementedError(
        f"declare_device({name!r}): PTX and CUDA C++ cannot be linked to kernels of usmx; write "
        "the function in Python, or the kernel as a usmx.RawKernel"
    )
