"""What kernels call that is not Python's own: names with a meaning inside kernels only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ..._operations import names_of_usmx


class DeviceOnly:
    """A function that exists inside kernels; elsewhere it says so."""

    def __init__(self, name: str, doc: str) -> None:
        self.__name__: str = name
        self.__doc__: str = doc

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(f"usmx.{self.__name__} works inside kernels only")

    def __repr__(self) -> str:
        return f"<usmx.{self.__name__}, for kernels>"


barrier: DeviceOnly = DeviceOnly(
    "barrier",
    """Wait until every work-item of the group is here and sees what the others wrote.

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def reverse(item, x):
    ...     i = item.get_local_id(0)
    ...     kept = usmx.local.array(4, "int32")
    ...     kept[i] = x[i]
    ...     usmx.barrier()
    ...     x[i] = kept[3 - i]
    >>> x = usmx.arange(4, dtype="int32")
    >>> reverse[4, 4](x).wait()
    >>> x.tolist()
    [3, 2, 1, 0]
    """,
)
fence: DeviceOnly = DeviceOnly(
    "fence",
    """Make this item's writes visible to other items before what it writes next.

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def hand_over(item, data, ready):
    ...     if item.get_id(0) == 0:
    ...         data[0] = 7
    ...         usmx.fence()  # who sees `ready` sees `data`
    ...         usmx.atomic.store(ready, 0, 1)
    >>> data, ready = usmx.zeros(1, dtype="int32"), usmx.zeros(1, dtype="int32")
    >>> hand_over[1](data, ready).wait()
    >>> int(data[0]), int(ready[0])
    (7, 1)
    """,
)
AtomicRef: DeviceOnly = DeviceOnly(
    "AtomicRef",
    """``AtomicRef(array, index)``: an element that several items change; has load, store, exchange,
    compare_exchange, and the others of ``usmx.atomic`` as fetch_add, fetch_min, fetch_and, ...

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def count(item, x, bins):
    ...     usmx.AtomicRef(bins, x[item.get_id(0)]).fetch_add(1)
    >>> bins = usmx.zeros(3, dtype="int32")
    >>> count[5](usmx.asarray([0, 2, 2, 1, 2]), bins).wait()
    >>> bins.tolist()
    [1, 1, 3]
    """,
)


#: A call of each function of the table: its arguments, their type, and the result.
CALLS: dict[str, tuple[tuple[float, ...], str, float]] = {
    "clamp": ((5, 0, 3), "int32", 3),
    "clz": ((1,), "int32", 31),
    "fma": ((2, 3, 4), "float32", 10.0),
    "popcount": ((7,), "int32", 3),
    "rsqrt": ((4,), "float32", 0.5),
}


def _of_row(name: str, doc: str) -> DeviceOnly:
    """A function of the table, with the example that `CALLS` has."""
    text = f"Gives {doc}."
    if name in CALLS:
        values, dtype, result = CALLS[name]
        arguments = ", ".join(f"x[{k}]" for k in range(len(values)))
        text += f"""

    Examples
    --------
    >>> import usmx
    >>> @usmx.kernel
    ... def call(item, x, out):
    ...     out[item.get_id(0)] = usmx.{name}({arguments})
    >>> out = usmx.empty(1, dtype="{dtype}")
    >>> call[1](usmx.asarray({list(values)}, dtype="{dtype}"), out).wait()
    >>> out.tolist()
    [{result}]
    """
    return DeviceOnly(name, text)


# Those of the table, which `usmx._functions` declares.
globals().update({name: _of_row(name, doc) for name, doc in names_of_usmx()})


class Namespace:
    """A dotted name of usmx, such as ``usmx.atomic``."""

    def __init__(self, name: str, doc: str, members: dict[str, object]) -> None:
        self.__name__: str = name
        self.__doc__: str = doc
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"usmx.{self.__name__} has no '{name}'")

    def __repr__(self) -> str:
        return f"<usmx.{self.__name__}>"


group_barrier: DeviceOnly = DeviceOnly(
    "group_barrier", "Wait until every item of the group or sub-group is here."
)
private_array: DeviceOnly = DeviceOnly("private.array", "As usmx.private.array, with `fill_zeros`.")
#: Ids and ranges without an item, as older languages have them -> method of the item.
ITEM_FUNCTIONS = {
    "get_global_id": "get_global_id",
    "get_global_size": "get_global_range",
    "get_local_id": "get_local_id",
    "get_local_size": "get_local_range",
    "get_group_id": "get_group_id",
    "get_num_groups": "get_group_range",
    "get_group": "get_group",
    "get_sub_group": "get_sub_group",
}
item_functions = {
    name: DeviceOnly(name, f"As item.{method}.") for name, method in ITEM_FUNCTIONS.items()
}


#: Atomic operations by name, with the kinds of numbers that they take.
ATOMIC = {
    "add": "iuf",
    "sub": "iuf",
    "min": "iuf",
    "max": "iuf",
    "nanmin": "iuf",
    "nanmax": "iuf",
    "inc": "u",
    "dec": "u",
    "exchange": "iuf",
    "and_": "iu",
    "or_": "iu",
    "xor": "iu",
    "load": "iuf",
    "store": "iuf",
    "compare_exchange": "iuf",
}
#: Those that an AtomicRef has as ``fetch_...``, as SYCL names them.
FETCHED: tuple[str, ...] = tuple(
    name for name in ATOMIC if name not in ("exchange", "load", "store", "compare_exchange")
)
atomic: Namespace = Namespace(
    "atomic",
    "``atomic.add(array, index, value)`` and its like; each gives the value before.",
    {name: DeviceOnly(f"atomic.{name}", "Atomic operation.") for name in ATOMIC},
)
local: Namespace = Namespace(
    "local",
    "Memory that the items of a group share.",
    {
        "array": DeviceOnly(
            "local.array",
            "``local.array(shape, dtype)``: one array for each group, not initialised. Lengths are "
            "known when compiling, or come from arguments; then each size is compiled for itself.",
        )
    },
)
private: Namespace = Namespace(
    "private",
    "Memory of one item.",
    {
        "array": DeviceOnly(
            "private.array", "``private.array(shape, dtype)``: an array of this item, all zeros."
        )
    },
)
