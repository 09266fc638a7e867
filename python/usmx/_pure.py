"""What of Python, its library, NumPy and usmx answers the same each time that it is asked.

A fused function is run once for the values that it reads. That is right only if all that it calls
depends on these values alone; so what is not known to do that is named nowhere, and asked at each
call. A name that is missing here costs time, and never a wrong number.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Modules whose functions and classes depend on their arguments, and what does not in them.
_MODULES: dict[str, frozenset[str]] = {
    name: frozenset(but.split())
    for name, but in {
        "abc": "",
        "_abc": "",
        "bisect": "",
        "_bisect": "",
        # `vars` and `dir` may be of the frame; `getattr` is looked at by who asks.
        "builtins": "__import__ breakpoint compile dir eval exec globals input locals open vars",
        "cmath": "",
        "collections": "",
        "collections.abc": "",
        "_collections": "",
        "_collections_abc": "",
        "colorsys": "",
        "contextlib": "",
        "copy": "",
        "copyreg": "",
        "dataclasses": "",
        "enum": "",
        "fractions": "",
        "functools": "",
        "_functools": "",
        "heapq": "",
        "_heapq": "",
        "itertools": "",
        "math": "",
        "numbers": "",
        "operator": "attrgetter methodcaller",
        "_operator": "attrgetter methodcaller",
        "re": "",
        "reprlib": "",
        "statistics": "",
        "string": "",
        "textwrap": "",
        "types": "",
        "typing": "",
        "unicodedata": "",
        "warnings": "catch_warnings",
        "_warnings": "",
        # What they answer is the same; what they print comes at the trace.
        "_frozen_importlib": "",
        "numpy": "fromfile fromregex genfromtxt geterr getbufsize load loadtxt memmap random",
        "usmx": "default_device default_queue default_rng fromfile genfromtxt get_default_queue "
        "load loadtxt memmap random",
    }.items()
}
#: Parts of modules that are known as wholes, which are not.
_PARTS = frozenset(
    ["numpy.random", "usmx.random", "usmx._global_random", "usmx._namespace.files", "usmx.memory",
     "usmx.counters", "usmx.tracing", "usmx._memory_stats", "usmx.ipc"]
)  # fmt: skip
#: What `sys` has that stays.
_OF_SYS = frozenset(
    ["byteorder", "float_info", "hash_info", "hexversion", "implementation", "int_info",
     "maxsize", "maxunicode", "platform", "version", "version_info"]
)  # fmt: skip
#: Classes written in C whose objects never change, or show all that they hold in another place.
_KINDS = frozenset(
    ["builtins.NotImplementedType", "builtins.bool", "builtins.builtin_function_or_method",
     "builtins.bytes", "builtins.classmethod_descriptor", "builtins.code", "builtins.complex",
     "builtins.dict", "builtins.ellipsis", "builtins.float", "builtins.frozenset",
     "builtins.function", "builtins.getset_descriptor", "builtins.int", "builtins.list",
     "builtins.member_descriptor", "builtins.method", "builtins.method-wrapper",
     "builtins.method_descriptor", "builtins.module", "builtins.object", "builtins.range",
     "builtins.set", "builtins.slice", "builtins.str", "builtins.tuple", "builtins.type",
     "builtins.wrapper_descriptor", "collections.OrderedDict", "collections.defaultdict",
     "functools._lru_cache_wrapper", "functools.partial", "nanobind.nb_func",
     "nanobind.nb_method", "numpy._ArrayFunctionDispatcher", "numpy.dtype", "numpy.finfo",
     "numpy.iinfo", "numpy.ndarray", "numpy.ufunc", "operator.itemgetter", "re.Pattern",
     "types.GenericAlias", "types.SimpleNamespace", "types.UnionType", "typing.Union"]
)  # fmt: skip
#: Those of usmx: their functions of Python are looked at by who asks.
_OF_USMX = frozenset(
    ["Context", "Device", "DeviceFunction", "DeviceOnly", "ElementwiseKernel", "Fused",
     "Kernel", "Namespace", "Operation", "Platform", "PythonKernel", "Queue", "ReductionKernel",
     "ScanKernel", "dtype", "function", "_Joined", "_Key", "_Grid"]
)  # fmt: skip


def _split(module: str) -> tuple[str, frozenset[str]] | None:
    """What is known of a module; None if that is nothing."""
    if module in _MODULES:
        return module, _MODULES[module]
    top = module.partition(".")[0]
    if top not in ("numpy", "usmx") or any(f"{module}.".startswith(f"{p}.") for p in _PARTS):
        return None
    return top, _MODULES[top]


def is_module(name: str, read: set[str]) -> bool:
    """Whether what is read from a module of these names answers the same each time."""
    if name == "sys":
        return not (read & vars(sys).keys()) - _OF_SYS
    known = _split(name)
    return known is not None and not read & known[1] & vars(sys.modules[name]).keys()


def is_of_module(obj: Any) -> bool:
    """Whether a function or a class is one that answers the same each time."""
    module = obj.__module__
    known = _split(module) if isinstance(module, str) else None
    return known is not None and obj.__name__ not in known[1]


def is_native(kind: type) -> bool:
    """Whether a class is written in C, so that its objects may hold what cannot be seen."""
    return any(
        getattr(value, "__objclass__", None) is kind
        and type(value).__name__ in ("method_descriptor", "wrapper_descriptor")
        for value in vars(kind).values()
    )


def is_kind(kind: type) -> bool:
    """Whether objects of a class written in C answer the same each time."""
    module = kind.__module__
    if module.partition(".")[0] == "usmx":
        return kind.__name__ in _OF_USMX
    if module.startswith("numpy.") and issubclass(kind, sys.modules["numpy"].dtype):
        return True
    return f"{module}.{kind.__qualname__}" in _KINDS or is_of_exceptions(kind)


def is_of_exceptions(kind: type) -> bool:
    """Whether it is an exception, whose arguments have been given."""
    return issubclass(kind, BaseException)
