# Cases: what the attribute may be instead of a mapping, and mappings that do not behave.
# SPDX-License-Identifier: Apache-2.0
import collections
import types
from collections.abc import Mapping

from bad_descriptions import MISSING, Producer, case, row


class RaisingRepr:
    def __repr__(self):
        raise RuntimeError("no repr")


class HugeRepr:
    def __repr__(self):
        return "é" * 10**5


# --- the attribute itself ---------------------------------------------------------------------

for name, value in {
    "none": None,
    "int": 1,
    "str": "shape",
    "bytes": b"shape",
    "list": [("shape", (1,))],
    "set": {"shape"},
    "function": len,
    "object-without-repr": RaisingRepr(),
    "object-with-huge-repr": HugeRepr(),
}.items():
    case(
        f"attribute-is-{name}",
        TypeError,
        r"^__sycl_usm_array_interface__: .*; expected a dict or another mapping",
    )(lambda ground, value=value: Producer(value))

case("attribute-is-empty-dict", ValueError, r"^version: is missing")(lambda g: Producer({}))
case("attribute-is-empty-proxy", ValueError, r"^version: is missing")(
    lambda g: Producer(types.MappingProxyType({}))
)
case("attribute-is-default-dict-of-zeros", ValueError, r"^version: is missing")(
    lambda g: Producer(collections.defaultdict(int))
)


def raising_property(error):
    class Raises:
        @property
        def __sycl_usm_array_interface__(self):
            raise type(error)(*error.args)  # a fresh one: Python stores the object in it

    return Raises()


case("property-raises-value-error", ValueError, r"^from the property$")(
    lambda g: raising_property(ValueError("from the property"))
)
case("property-raises-memory-error", MemoryError, r"^from the property$")(
    lambda g: raising_property(MemoryError("from the property"))
)
case("property-raises-attribute-error", TypeError, r"Raises")(
    lambda g: raising_property(AttributeError("'P' object has no attribute 'missing_member'"))
)
case("property-raises-keyboard-interrupt", KeyboardInterrupt, r"^stop$")(
    lambda g: raising_property(KeyboardInterrupt("stop"))
)


@case("property-recurses", RecursionError, "recursion")
def _(ground):
    class Recurses:
        @property
        def __sycl_usm_array_interface__(self):
            return self.__sycl_usm_array_interface__

    return Recurses()


@case("getattr-raises", OSError, "^offline$")
def _(ground):
    class Offline:
        def __getattr__(self, name):
            raise OSError("offline")

    return Offline()


@case("bad-only-at-first-sight", ValueError, r"^version: 2 ")
def _(ground):
    class Improves:
        reads = 0

        @property
        def __sycl_usm_array_interface__(self):
            self.reads += 1
            return ground.description(version=2 if self.reads % 2 else 1)

    class Fresh:
        """A new one each time, so that repetitions start from the bad answer."""

        @property
        def __sycl_usm_array_interface__(self):
            return Improves().__sycl_usm_array_interface__

    return Fresh()


class Hostile(Mapping):
    """A mapping that answers with what it was given; an exception is raised."""

    def __init__(self, values, length=None):
        self.values_, self.length = values, length

    def __getitem__(self, key):
        value = self.values_[key]
        if isinstance(value, BaseException):
            raise value
        return value

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_) if self.length is None else self.length


for key in ("version", "typestr", "shape", "strides", "offset", "typedescr", "data", "syclobj"):
    case(f"mapping-raises-at-{key}", ZeroDivisionError, f"^at {key}$")(
        lambda g, key=key: Producer(Hostile(g.description(**{key: ZeroDivisionError(f"at {key}")})))
    )

case("mapping-lies-about-its-length", ValueError, r"^data: ")(
    lambda g: Producer(Hostile(g.description(shape=(10**9,)), length=10**12))
)


@case("dict-with-hostile-keys", ZeroDivisionError, "^eq$")
def _(ground):
    class Key:
        def __hash__(self):
            return hash("version")

        def __eq__(self, other):
            raise ZeroDivisionError("eq")

    d = ground.description(version=MISSING)
    d[Key()] = 1
    return Producer(d)


# --- missing keys -----------------------------------------------------------------------------

for key in ("version", "typestr", "shape", "syclobj"):
    row(f"missing-{key}", ValueError, f"^{key}: is missing", **{key: MISSING})
row("missing-data-and-no-buffer", ValueError, r"^data: is missing .* has no buffer", data=MISSING)
row("data-none-and-no-buffer", ValueError, r"^data: is missing .* has no buffer", data=None)
