"""Kernels in Python: one work-item after the other, in the kernel's own lines, with checks."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ... import _usmx
from .. import arguments as given
from ..frontend.compiler import Compiled
from ..frontend.groups import OPERATORS
from ..frontend.results import Instance
from ..language.constants import ConstantArray
from ..language.device_function import DeviceFunction
from ..language.local_memory import LocalMemory
from ..source.function import Function
from ..types.scalars import Scalar
from ..types.values import ArrayValue, ItemValue, Method, parts
from . import arithmetic
from .arrays import (
    SUB_GROUP,
    AtomicRef,
    DivergenceError,
    Item,
    SimArray,
    SimRecord,
    State,
    SubGroup,
    dtype_of,
    element_of,
    reference,
)
from .rewrite import Rewriter


class Shown:
    """A number in a tuple that is printed: as by itself, without the name of NumPy's type."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return str(self.value)


def shown(value: Any) -> Any:
    """What ``print`` prints of a value."""
    if isinstance(value, tuple):
        return tuple(shown(one) if isinstance(one, tuple) else Shown(one) for one in value)
    return value


@dataclass(eq=False)
class Request:
    """What an item waits for."""

    name: str
    whole_group: bool
    type: Scalar | None = None
    value: Any = None
    extra: Any = None


class Tools:
    """What rewritten kernels call."""

    AtomicRef = AtomicRef
    cast = staticmethod(arithmetic.cast)
    bits = staticmethod(arithmetic.bits)
    binary: Any = staticmethod(arithmetic.binary)
    extreme = staticmethod(arithmetic.extreme)
    negative: Any = staticmethod(arithmetic.negative)
    signed: Any = staticmethod(arithmetic.signed)
    vector = staticmethod(arithmetic.vector)
    method = staticmethod(arithmetic.method)
    replaced = staticmethod(arithmetic.replaced)
    record = staticmethod(arithmetic.record)
    reference = staticmethod(reference)
    intrinsic = staticmethod(arithmetic.intrinsic)
    shown = staticmethod(shown)

    def __init__(self, state: State, *, numba: bool = False) -> None:
        self.state = state
        if numba:
            self.binary = functools.partial(arithmetic.binary, numba=True)
            self.negative = functools.partial(arithmetic.negative, numba=True)
            self.signed = functools.partial(arithmetic.signed, numba=True)
        self.tiles: dict[Any, SimArray] = {}
        #: The local memory of the launch.
        self.of_launch: LocalMemory | None = None
        self.functions: dict[int, Any] = {}
        #: The values that tables had when this launch first read them.
        self.tables: dict[int, Any] = {}

    def cast_tuple(self, types: Mapping[str, Scalar], value: Any, name: str = "") -> Any:
        """A tuple of variables, and the tuples in it."""
        if isinstance(value, SimRecord) and any(n.startswith(f"{name}.") for n in types):
            value = value.usmx_load()
        if isinstance(value, tuple):
            items = [self.cast_tuple(types, x, f"{name}.{k}") for k, x in enumerate(value)]
            return given.tuple_like(value, items)
        t = types.get(name)
        return value if t is None else arithmetic.cast(t, value)

    def total(self, values: Any, start: Any = 0) -> Any:
        """``sum`` of a tuple."""
        result = start
        for value in values:
            result = self.binary("+", result, value)
        return result

    def constant(self, table: ConstantArray, name: str) -> SimArray:
        """A table that is only read."""
        values = self.tables.setdefault(id(table), table.values)
        return SimArray(values, table.element, name, self.state, "constant", True)

    def local(self, site: object, what: ArrayValue) -> SimArray:
        """The group's array of this place in the kernel; one for all its items."""
        key: Any = (id(site), self.state.group)
        if what.sliced:
            return self._of_launch(what)
        if key not in self.tiles:
            assert what.shape is not None
            values = np.zeros(math.prod(what.shape), dtype_of(what.element)).reshape(what.shape)
            values.view(np.uint8)[...] = 0xCD if what.element.kind != "b" else 1
            self.tiles[key] = SimArray(values, what.element, what.code, self.state, "local")
        return self.tiles[key]

    def _of_launch(self, what: ArrayValue) -> SimArray:
        """The group's local memory of the launch as an array of that type."""
        assert self.of_launch is not None
        assert what.shape is not None
        key = (None, self.state.group)
        if key not in self.tiles:
            raw = np.full(math.prod(self.of_launch.shape), 0xCD, np.uint8)
            self.tiles[key] = SimArray(raw, self.of_launch.dtype, "", self.state, "local")
        own = (None, self.state.group, what.element.name)
        if own not in self.tiles:
            t: Any = dtype_of(what.element)
            bytes_ = self.tiles[key].values[: what.shape[0] * what.element.size]
            self.tiles[own] = SimArray(bytes_.view(t), what.element, what.code, self.state, "local")
        return self.tiles[own]

    def private(self, _: object, what: ArrayValue) -> SimArray:
        """An array of one item, all zeros."""
        assert what.shape is not None
        values = np.zeros(what.shape, dtype_of(what.element))
        return SimArray(values, what.element, what.code, self.state, "private")

    def atomic(self, name: str, array: SimArray, index: Any, *values: Any) -> Any:
        """``usmx.atomic.add`` and its like."""
        return AtomicRef(array, index).change(name, *values)

    def function_of(self, instance: Instance) -> Any:
        """A device function as Python."""
        if id(instance) not in self.functions:
            self.functions[id(instance)] = Rewriter(instance.walked, self).function()
        return self.functions[id(instance)]

    def of_item(self, method: str, *arguments: Any) -> Any:
        """``get_global_id(0)`` without an item."""
        return getattr(self.state.current, method)(*arguments)

    def request(self, what: Any, t: Any = None, *arguments: Any) -> Request:
        """What an item waits for."""
        if isinstance(what, str):
            return Request(what, not isinstance(t, SubGroup))
        assert isinstance(what, Method)
        whole = not (isinstance(what.of, ItemValue) and what.of.what == "sub-group")
        if what.name == "barrier":
            return Request("barrier", whole)
        value, *extra = arguments[1:]
        return Request(what.name, whole, t, value, extra[0] if extra else None)


def answers(requests: Sequence[Request]) -> list[Any]:
    """What items that wait for the same get, in the order of their ids."""
    name = requests[0].name
    values = [r.value for r in requests]
    n = len(values)
    if name == "barrier":
        return [None] * n
    if name in ("any", "all"):
        return [(any if name == "any" else all)(bool(v) for v in values)] * n
    t = requests[0].type
    assert t is not None
    values = [arithmetic.cast(t, v) for v in values]
    if name == "broadcast":
        return [values[int(requests[0].extra or 0)]] * n
    if name.startswith("shuffle"):
        made = []
        for k, r in enumerate(requests):
            e = int(r.extra)
            at = {"shuffle": e, "shuffle_xor": k ^ e, "shuffle_up": k - e}.get(name, k + e)
            made.append(values[at] if 0 <= at < n else values[k])
        return made
    how = OPERATORS[requests[0].extra if requests[0].extra is not None else "sum"]
    combine = {"min": min, "max": max}.get(how, lambda a, b: arithmetic.binary("+", a, b))
    running = list(itertools.accumulate(values, combine))
    if name == "reduce":
        return [arithmetic.cast(t, running[-1])] * n
    if name == "inclusive_scan":
        return [arithmetic.cast(t, x) for x in running]
    low, high = (-math.inf, math.inf) if t.kind == "f" else t.limits
    start = {"min": high, "max": low}.get(how, 0)
    return [arithmetic.cast(t, x) for x in [start, *running[:-1]]]


class Simulated(Protocol):
    """What the simulator asks of a kernel."""

    __name__: str

    @property
    def function(self) -> Function:
        """The function with its tree."""

    @property
    def _has_item(self) -> bool:
        """Whether the first parameter is the item."""

    @property
    def _rank(self) -> int:
        """Dimensions that the function asks for, see `dimensions.of`."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arguments of a launch."""

    @property
    def _of_launch(self) -> bool:
        """Whether the last of them is the local memory of the launch."""

    @property
    def _sub_group(self) -> int:
        """Items in each sub-group; 0 for what the simulator chooses."""

    @property
    def _races(self) -> bool:
        """Whether to look for races."""

    @property
    def _records(self) -> frozenset[int]:
        """Numbers of the parameters that are one record, of which an array of one is given."""

    def compiled(
        self, args: Sequence[Any], rank: int, local: Sequence[int], *, simulated: bool = False
    ) -> Compiled:
        """The kernel for the types of these arguments."""


class Simulation:
    """A kernel with its range, waiting for arguments; as a launch, but in Python."""

    def __init__(self, kernel: Simulated, key: Any) -> None:
        self.kernel = kernel
        key = tuple(key) if isinstance(key, list) else key
        pair = isinstance(key, tuple) and len(key) > 1
        read: Any = _usmx._LaunchRange.read(key, kernel._rank if pair else 0)
        self.global_range: tuple[int, ...] = read.global_range
        self.local_range: tuple[int, ...] = read.local_range
        self.read = read
        self.sub_group: int = kernel._sub_group or SUB_GROUP
        #: Where the launch is; of one that raised an exception, the item that did.
        self.state: State | None = None

    def __call__(
        self, *args: Any, queue: Any = None, depends_on: Any = None, **keywords: Any
    ) -> Any:
        """Run all work-items and return an event that is complete."""
        if keywords:
            _usmx._KernelDispatcher._refuse_keywords(self.kernel.__name__, keywords)
        for event in [depends_on] if hasattr(depends_on, "wait") else depends_on or ():
            event.wait()
        kernel = self.kernel
        taken = [given.as_array(a) for a in args]
        for k, (_, arg) in enumerate(parts("", tuple(taken))):
            if hasattr(arg, "shape"):
                self.read.check_shape(kernel.__name__, k, tuple(arg.shape))
        made = kernel.compiled(taken, len(self.global_range), self.local_range, simulated=True)
        if made.needs_group is not None and not self.local_range:
            name = kernel.__name__
            raise ValueError(
                f"kernel '{name}' needs the size of a work-group, for {made.needs_group}: launch "
                f"it as {name}[global, (local,)](...)"
            )
        state = self.state = State(kernel.__name__, races=kernel._races)
        tools = Tools(state, numba=made.module.numba)
        names = kernel.parameters
        if kernel._of_launch:
            tools.of_launch = taken.pop()
            names = names[:-1]
        back: list[tuple[Any, Any]] = []
        written = made.result.written
        arguments = [
            _as_simulated(name, arg, state, written, back)
            for name, arg in zip(names, taken, strict=True)
        ]
        for k in kernel._records:
            arguments[k] = reference(arguments[k], 0)
        function = Rewriter(made.walked, tools).function()
        local = self.local_range or (1,) * len(self.global_range)
        groups = tuple(g // n for g, n in zip(self.global_range, local, strict=True))
        for number, group in enumerate(np.ndindex(*groups)):
            state.group, state.phase = number, 0
            self.run_group(function, arguments, tools, group, local)
        for arg, host in back:
            arg[...] = host
        where = (
            queue
            if queue is not None
            else next(
                (a.queue for _, a in parts("", tuple(taken)) if isinstance(a, _usmx.ndarray)), None
            )
        )
        return done(where)

    def run_group(
        self,
        function: Any,
        arguments: list[Any],
        tools: Tools,
        group: tuple[int, ...],
        local: tuple[int, ...],
    ) -> None:
        """All items of one group, from barrier to barrier."""
        state = tools.state
        items = [
            Item(self.global_range, local, group, tuple(index)) for index in np.ndindex(*local)
        ]
        for item in items:
            item.sub_group = self.sub_group
        running: dict[int, Any] = {}
        waiting: dict[int, Request] = {}

        def step(k: int, resume: Any) -> None:
            state.item = items[k].get_global_linear_id()
            state.current = items[k]
            try:
                waiting[k] = running[k].send(resume)
            except StopIteration:
                del running[k]

        for k, item in enumerate(items):
            state.item = item.get_global_linear_id()
            state.current = item
            passed = [self.argument(a, tools) for a in arguments]
            made = function(*([item] if self.kernel._has_item else []), *passed)
            if hasattr(made, "send"):
                running[k] = made
                step(k, None)
        while waiting:
            for members in self.meetings(waiting, len(items), local):
                requests = [waiting.pop(k) for k in members]
                if requests[0].whole_group:
                    state.phase += 1
                for k, answer in zip(members, answers(requests), strict=True):
                    step(k, answer)

    def argument(self, value: Any, tools: Tools) -> Any:
        """An argument as the function sees it."""
        if isinstance(value, tuple):
            return given.tuple_like(value, [self.argument(item, tools) for item in value])
        if isinstance(value, LocalMemory):
            what = ArrayValue(value.dtype, len(value.shape), "local memory", "local", value.shape)
            return tools.local(value, what)
        return value.python if isinstance(value, DeviceFunction) else value

    def meetings(
        self, waiting: dict[int, Request], items: int, local: tuple[int, ...]
    ) -> list[list[int]]:
        """Which items wait for each other.

        Raises
        ------
        DivergenceError
            Some wait and others will never come.
        """
        if all(r.whole_group for r in waiting.values()):
            self.check(waiting, list(range(items)), "group")
            return [sorted(waiting)]
        meetings = []
        for first in range(0, items, self.sub_group):
            members = list(range(first, min(first + self.sub_group, items)))
            there = {k: waiting[k] for k in members if k in waiting}
            if there and not any(r.whole_group for r in there.values()):
                self.check(there, members, "sub-group")
                meetings.append(members)
        if not meetings:
            self.check(waiting, list(range(items)), "group")
        return meetings

    def check(self, waiting: dict[int, Request], members: list[int], what: str) -> None:
        """All items have to wait for the same."""
        name = self.kernel.__name__
        missing = [k for k in members if k not in waiting]
        if missing:
            raise DivergenceError(
                f"kernel '{name}': {len(waiting)} items of a {what} wait at {_names(waiting)}, but "
                f"item {missing[0]} of the {what} never reaches it"
            )
        if len({r.name for r in waiting.values()}) > 1:
            raise DivergenceError(
                f"kernel '{name}': items of a {what} wait at different places: {_names(waiting)}"
            )


def _names(waiting: dict[int, Request]) -> str:
    return ", ".join(sorted({r.name for r in waiting.values()}))


def _as_simulated(
    name: str,
    arg: Any,
    state: State,
    written: Collection[str],
    back: list[tuple[Any, Any]],
) -> Any:
    """An argument as the function gets it; what has to be copied back is added to ``back``."""
    if isinstance(arg, tuple):
        items = [
            _as_simulated(f"{name}.{k}", item, state, written, back) for k, item in enumerate(arg)
        ]
        return given.tuple_like(arg, items)
    if isinstance(arg, _usmx.ndarray):
        host, is_copy = on_host(arg)
        if is_copy and name in written:
            back.append((arg, host))
        return SimArray(host, element_of(arg), name, state)
    if isinstance(arg, np.ndarray):
        if arg.ndim == 0:
            return arg[()]  # a number, as in kernels
        return SimArray(arg, element_of(arg), name, state)
    return arg


def on_host(array: Any) -> tuple[np.ndarray[Any, Any], bool]:
    """The elements where the host may use them, and whether they are a copy."""
    array.wait() if hasattr(array, "wait") else None
    if array.dtype.name == "bfloat16":
        return array.astype("float32").to_numpy(), True
    if array.usm_type == "device" or array.dtype.name == "float16":
        host = array.to_numpy()
        # As bytes: NumPy copies records field by field, and what is between them is lost.
        plain = host if host.dtype.names is None else host.view(f"V{host.dtype.itemsize}")
        return plain.copy().view(host.dtype), True
    return np.asarray(memoryview(array)), False


def done(queue: Any) -> Any:
    """An event of a queue that has nothing to do."""
    return (_usmx.Queue(queue) if queue is not None else _usmx.default_queue()).submit_barrier()
