# Calls every attribute of every compiled class of usmx with objects of other types and with
# instances that were never initialised. A program of its own, because a crash must not take pytest
# with it. It prints a line for each call that was accepted, and in the end how many it made.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import copy
import faulthandler
import importlib
import inspect
import operator
import pickle
import pkgutil
import sys
import warnings

import numpy as np

import usmx
import usmx.memory

faulthandler.enable()
warnings.simplefilter("ignore", RuntimeWarning)  # nanobind's own, in addition to the TypeError

# What object defines is right for any object, and these two are what makes and ends one.
NOT_METHODS = {"__new__", "__init__", "__init_subclass__", "__del__"}
# Take an address in the place of self.
STATIC = {"get_usm_type", "get_usm_type_enum"}


def is_static(value):
    """Whether a function of a class takes no self: nanobind's methods are of another type."""
    return isinstance(value, staticmethod) or type(value).__name__ == "nb_func"


def modules():
    yield usmx
    for found in pkgutil.walk_packages(usmx.__path__, "usmx."):
        # Doors to other libraries, which have no compiled classes and need these libraries.
        if not found.name.endswith("__main__") and found.name not in (
            "usmx.dask",
            "usmx.ray",
            "usmx.zarr",
        ):
            yield importlib.import_module(found.name)


def is_compiled(cls):
    # By identity: `usmx.int64 == int`.
    return type(cls) is type(usmx.ndarray) and any(
        cls is value for value in vars(usmx._usmx).values()
    )


def classes():
    """The compiled classes, and those of usmx that Python derives from them."""
    found = {}
    for module in modules():
        for value in list(vars(module).values()):
            if isinstance(value, type) and any(map(is_compiled, value.__mro__)):
                found[value.__module__, value.__qualname__] = value
    return list(found.values())


def derived(cls):
    class Forgetful(cls):
        def __init__(self):
            pass

    return Forgetful()


def fill_pools():
    """Let objects end whose places the next ones take."""
    for _ in range(4):
        m = usmx.memory.MemoryUSMShared(4096)
        m.memset(65)
        a = usmx.ones((3, 5), usm_type="shared")
        usmx.Event(), usmx.Queue(), usmx.dtype("f4")
        del a, m


def uninitialised(cls):
    fill_pools()
    yield "made by __new__", cls.__new__(cls)
    with contextlib.suppress(TypeError):  # a class that cannot be derived from
        yield "of a derived class", derived(cls)


def strangers(cls):
    others = {
        "int": 3,
        "None": None,
        "str": "x",
        "object": object(),
        "the class": cls,
        "numpy.ndarray": np.zeros(3),
        "usmx.ndarray": usmx.zeros(3, usm_type="shared"),
        "memory": usmx.memory.MemoryUSMShared(64),
        "queue": usmx.Queue(),
        "uninitialised ndarray": usmx.ndarray.__new__(usmx.ndarray),
    }
    return [(name, obj) for name, obj in others.items() if not isinstance(obj, cls)]


ARGUMENTS = [
    (),
    (0,),
    ("C",),
    (None,),
    (slice(0, 1),),
    (True,),
    ({},),
    (np.zeros(2),),
    ((1,), 0),
    (0, 1),
    (0, 1, 2),
]

OPERATIONS = {
    "len": len,
    "iter": lambda x: next(iter(x)),
    "hash": hash,
    "repr": repr,
    "str": str,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "bytes": bytes,
    "[0]": lambda x: x[0],
    "[:]": lambda x: x[:],
    "[0] =": lambda x: operator.setitem(x, 0, 1),
    "del [0]": lambda x: operator.delitem(x, 0),
    "call": lambda x: x(),
    "call(1)": lambda x: x(1),
    "memoryview": memoryview,
    "numpy": np.frombuffer,
    "with": lambda x: x.__enter__(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "0 in": lambda x: 0 in x,
    "await": lambda x: x.__await__(),
    "sizeof": lambda x: x.__sizeof__(),
    "asarray": usmx.asarray,
    "as_usm_memory": usmx.memory.as_usm_memory,
    "Queue": usmx.Queue,
    "Device": usmx.Device,
    "Context": usmx.Context,
    "Event": usmx.Event,
    "dtype": usmx.dtype,
    "fill": lambda x: usmx.fill(x, 0),
    "copy to": lambda x: usmx.copy(x, np.zeros(3)),
    "copy from": lambda x: usmx.copy(np.zeros(3), x),
    "depends_on": lambda x: usmx.fill(usmx.zeros(1), 0, depends_on=x),
    "queue=": lambda x: usmx.zeros(1, queue=x),
    "dtype=": lambda x: usmx.zeros(1, dtype=x),
    "upstream": usmx.memory.PoolResource,
    "set_resource": usmx.memory.set_resource,
    "numpy.asarray": lambda x: np.asarray(memoryview(x)),
}
# Right for any object, unless the class says otherwise: identity, no conversion, object's pickling
# (which makes a new one that was not initialised either).
NEEDS = {"with": "__enter__", "await": "__await__", "del [0]": "__delitem__"}
OF_ANY_OBJECT = {"hash", "repr", "str", "bool", "copy", "deepcopy", "pickle", "sizeof"}


class Walk:
    def __init__(self):
        self.calls = 0
        self.cls = None

    def expect_refusal(self, what, function, *arguments):
        self.calls += 1
        try:
            result = function(*arguments)
        except TypeError:
            return True
        except Exception as error:
            # A function in Python raises it for an instance that is not complete.
            if isinstance(error, AttributeError) and not is_compiled(self.cls):
                return True
            print(f"{what}: {type(error).__name__}: {error}"[:300])
            return False
        if result is NotImplemented:
            return True
        print(f"{what}: accepted, gave a {type(result).__name__}")
        return False

    def methods(self, cls, who, obj):
        # The mro of a class that Python derives ends with compiled classes.
        for owner in cls.__mro__[:-1]:
            if not is_compiled(owner) or (isinstance(obj, owner) and not isinstance(obj, cls)):
                continue
            for name, value in list(vars(owner).items()):
                where = f"{owner.__qualname__}.{name} of {who}"
                if name in NOT_METHODS | STATIC or is_static(value):
                    continue
                if isinstance(value, property):
                    self.expect_refusal(where, value.fget, obj)
                    if value.fset:
                        self.expect_refusal(where, value.fset, obj, True)
                elif callable(value) and inspect.isroutine(value):
                    self.method(where, value, obj)
                elif name in ("__dict__", "__weakref__") or isinstance(value, type):
                    continue
                elif hasattr(type(value), "__get__"):
                    self.expect_refusal(where, value.__get__, obj)

    def method(self, where, value, obj):
        for arguments in ARGUMENTS:
            if not self.expect_refusal(f"{where}{arguments}", value, obj, *arguments):
                break

    def operations(self, cls, who, obj):
        for name, operation in OPERATIONS.items():
            special = {"copy": "__reduce__", "deepcopy": "__reduce__", "pickle": "__reduce__"}
            own = getattr(cls, special.get(name, f"__{name}__"), None)
            if name in OF_ANY_OBJECT and own is getattr(
                object, special.get(name, f"__{name}__"), own
            ):
                continue
            if name in NEEDS and not hasattr(cls, NEEDS[name]):
                continue
            self.expect_refusal(f"{name}({cls.__qualname__} {who})", operation, obj)
        for compare in (operator.eq, operator.ne, operator.lt, operator.ge):
            for a, b in ((obj, obj), (obj, 3), (3, obj), (obj, np.zeros(2))):
                self.calls += 1
                with contextlib.suppress(TypeError):  # identity where the class compares nothing
                    compare(a, b)


def main():
    walk = Walk()
    for cls in classes():
        walk.cls = cls
        print("class", cls.__module__, cls.__qualname__, flush=True)
        for who, obj in strangers(cls):
            walk.methods(cls, who, obj)
        for who, obj in uninitialised(cls):
            walk.methods(cls, who, obj)
            walk.operations(cls, who, obj)
    print("calls", walk.calls)


if __name__ == "__main__":
    sys.exit(main())
