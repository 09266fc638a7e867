"""What kernels call that is not Python's own: names with a meaning inside kernels only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ..._operations import BY_NAME, names_of_usmx
from . import described


def _without_indent(doc: str) -> str:
    """A docstring whose lines begin where its first one does."""
    return "\n".join(line.removeprefix("    ") for line in doc.rstrip().splitlines())


class DeviceOnly:
    """A function that exists inside kernels; elsewhere it says so.

    Parameters
    ----------
    name, doc : str
        How it is called, and what it does, with examples at the end.
    names : str
        Its parameters, which `described.PARAMETERS` has, separated by blanks.
    gives : str
        The kind of what it gives, and after a colon more about that; empty for nothing.
    """

    def __init__(self, name: str, doc: str, names: str = "", gives: str = "") -> None:
        self.__name__: str = name
        text, title, examples = _without_indent(doc).partition("\n\nExamples\n")
        self.__doc__: str = "\n".join([text, *described.lines_of(names, gives)]) + title + examples
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":  # what inspect and help ask for
            return described.signature_of(self._names)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
    "fence?",
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
    """An element that several items change.

    Its methods are load, store, exchange, compare_exchange, and the others of ``usmx.atomic`` as
    fetch_add, fetch_min, fetch_and, ...

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
    "array index?",
    "AtomicRef",
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
    row = BY_NAME[name]
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
    kinds = described.KINDS[row.takes]
    return DeviceOnly(
        name,
        text,
        " ".join("abc"[: row.arity]),
        f"number: Of the type of the operands, which are {kinds}.",
    )


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
    "group_barrier", "Wait until every item of the group or sub-group is here.", "group"
)
private_array: DeviceOnly = DeviceOnly(
    "private.array", "As usmx.private.array, with `fill_zeros`.", "shape dtype", "array"
)
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
    name: DeviceOnly(
        name,
        f"As item.{method}.",
        "" if name in ("get_group", "get_sub_group") else "axis",
        "group" if name in ("get_group", "get_sub_group") else "int",
    )
    for name, method in ITEM_FUNCTIONS.items()
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
    {
        name: DeviceOnly(
            f"atomic.{name}",
            "An atomic operation; it gives the value before.",
            {"load": "array index", "compare_exchange": "array index value value2"}.get(
                name, "array index value"
            ),
            "" if name == "store" else "number",
        )
        for name in ATOMIC
    },
)
local: Namespace = Namespace(
    "local",
    "Memory that the items of a group share.",
    {
        "array": DeviceOnly(
            "local.array",
            "One array for each group, not initialised. For lengths that come from arguments, each "
            "size is compiled for itself.",
            "shape dtype",
            "array",
        )
    },
)
private: Namespace = Namespace(
    "private",
    "Memory of one item.",
    {
        "array": DeviceOnly(
            "private.array", "An array of this item, all zeros.", "shape dtype", "array"
        )
    },
)
