# Who gives memory and who takes it: every library that speaks the protocol, each in one entry. A
# new producer or consumer is one more entry; their layouts are in layouts.py.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import dpctl
import dpctl.memory as dpctl_memory
import dpnp
import dpnp.tensor as dpt
import exchange_structs
import numpy as np
from layouts import Layout

import usmx
import usmx.memory

ATTRIBUTE = "__sycl_usm_array_interface__"
ELEMENTS = 360


class Described:
    """A producer in pure Python, as the documentation shows it."""

    def __init__(self, memory, layout, dtype, *, read_only=False, **changes):
        there = getattr(memory, ATTRIBUTE)
        self.memory = memory
        self.description = {
            "shape": layout.shape,
            "typestr": dtype.str,
            "data": (there["data"][0], read_only),
            "strides": layout.strides,
            "offset": layout.offset,
            "version": 1,
            "syclobj": there["syclobj"],
            **changes,
        }

    @property
    def __sycl_usm_array_interface__(self):
        return self.description


class Block:
    """One allocation full of known elements, and the same elements on the host."""

    def __init__(self, library, kind, dtype, queue=None):
        self.dtype = np.dtype(dtype)
        self.kind = kind
        self.host = np.arange(ELEMENTS).astype(self.dtype)
        if self.dtype.kind == "b":
            self.host = np.arange(ELEMENTS) % 3 == 0
        if self.dtype.kind == "c":
            self.host = self.host * self.dtype.type(1 - 2j)
        make = getattr(library, f"MemoryUSM{kind.title()}")
        self.memory = make(self.host.nbytes, queue=queue)
        self.memory.copy_from_host(np.frombuffer(self.host, np.uint8))
        self.pointer = getattr(self.memory, ATTRIBUTE)["data"][0]


@cache
def block_of(library, kind, dtype):
    """A block that is never written."""
    return Block(library, kind, dtype)


class InC(exchange_structs.Crafted):
    """A producer with a C table, and the dictionary for consumers that do not know tables."""

    def __init__(self, memory, layout, dtype):
        super().__init__(memory, type=dtype.kind.encode(), itemsize=dtype.itemsize)
        self.described = Described(memory, layout, dtype)
        self.changes |= {"shape": layout.shape, "strides": layout.strides, "offset": layout.offset}
        self.changes |= {"data": memory._pointer, "ndim": len(layout.shape)}

    @property
    def __sycl_usm_array_interface__(self):
        return self.described.description


Tabled = exchange_structs.crafted(InC)


def described(kind, read_only):
    """A whole block of floats of ours, as a Python class."""
    block = Block(usmx.memory, kind, "f4")
    return Described(block.memory, Layout((ELEMENTS,)), block.dtype, read_only=read_only)


# --- producers: (library of the memory, how to describe a part of it, what it can describe) ----


@dataclass(frozen=True)
class Producer:
    library: object
    make: Callable[[Block, Layout], object]
    only_bytes: bool = False

    def can(self, layout: Layout, dtype: np.dtype) -> bool:
        return not self.only_bytes or (dtype == np.uint8 and layout.shape == (ELEMENTS,))


def _dpnp_tensor(block, layout):
    return dpt.usm_ndarray(
        layout.shape,
        dtype=block.dtype,
        buffer=dpctl_memory.as_usm_memory(block.memory),
        strides=layout.strides,
        offset=layout.offset,
    )


PRODUCERS = {
    "usmx.ndarray": Producer(
        usmx.memory, lambda b, where: usmx.asarray(Described(b.memory, where, b.dtype))
    ),
    "usmx.memory": Producer(usmx.memory, lambda b, _: b.memory, only_bytes=True),
    "dpctl.memory": Producer(dpctl_memory, lambda b, _: b.memory, only_bytes=True),
    "dpnp.tensor.usm_ndarray": Producer(dpctl_memory, _dpnp_tensor),
    "dpnp.tensor.usm_ndarray on usmx.memory": Producer(usmx.memory, _dpnp_tensor),
    "dpnp.ndarray": Producer(dpctl_memory, lambda b, where: dpnp.asarray(_dpnp_tensor(b, where))),
    "a Python class": Producer(dpctl_memory, lambda b, where: Described(b.memory, where, b.dtype)),
    "a Python class with a C table": Producer(
        usmx.memory, lambda b, where: Tabled(b.memory, where, b.dtype)
    ),
    "a Python class on usmx.memory": Producer(
        usmx.memory, lambda b, where: Described(b.memory, where, b.dtype)
    ),
}


# --- consumers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What a consumer made of an object: where the first element is, and the elements."""

    first: int
    values: np.ndarray
    held: object


def first_element(obj) -> int:
    there = getattr(obj, ATTRIBUTE)
    itemsize = int(there["typestr"][2:])
    return there["data"][0] + (there.get("offset") or 0) * itemsize


def _elements_of(array, to_numpy):
    return Seen(first_element(array), to_numpy(array), array)


def _bytes_of(memory):
    """The consumers of bytes see the span from the lowest element to the highest."""
    return Seen(
        getattr(memory, ATTRIBUTE)["data"][0], np.frombuffer(memory.tobytes(), np.uint8), memory
    )


def _by_hand(obj):
    """Reads the dictionary alone; the elements come through a copy of the bytes around them."""
    there = getattr(obj, ATTRIBUTE)
    dtype = np.dtype(there["typestr"])
    layout = Layout(there["shape"], there["strides"], there.get("offset", 0))
    touched = layout.of(np.arange(ELEMENTS * 2))
    span = dpctl_memory.as_usm_memory(_Bytes(there, dtype.itemsize, touched))
    flat = np.zeros(ELEMENTS * 2, dtype)
    if touched.size:
        low, high = int(touched.min()), int(touched.max()) + 1
        flat[low:high] = np.frombuffer(span.tobytes(), dtype)
    return Seen(first_element(obj), layout.of(flat), obj)


class _Bytes:
    def __init__(self, there, itemsize, touched):
        low, high = (int(touched.min()), int(touched.max()) + 1) if touched.size else (0, 1)
        self.__sycl_usm_array_interface__ = {
            "shape": ((high - low) * itemsize,),
            "typestr": "|u1",
            "data": (there["data"][0] + low * itemsize, False),
            "strides": None,
            "version": 1,
            "syclobj": dpctl.SyclQueue(there["syclobj"]._get_capsule()),
        }


@dataclass(frozen=True)
class Consumer:
    take: Callable[[object], Seen]
    only_span: bool = False
    honours_read_only: bool = False
    # What the library at hand is known to refuse, as measured.
    refuses: Callable[[str, Layout], bool] = lambda producer, layout: False
    leaves_out: Callable[[Layout], bool] = lambda layout: False


def _no_negative_strides(producer, layout):
    """dpnp takes its own arrays and ours in any layout, but no dictionary with negative strides."""
    return layout.negative and producer.startswith("a Python class")


CONSUMERS = {
    "usmx.asarray": Consumer(
        lambda o: _elements_of(usmx.asarray(o), lambda a: a.to_numpy()),
        honours_read_only=True,
    ),
    "usmx.memory.as_usm_memory": Consumer(
        lambda o: _bytes_of(usmx.memory.as_usm_memory(o)), only_span=True, honours_read_only=True
    ),
    "dpctl.memory.as_usm_memory": Consumer(
        lambda o: _bytes_of(dpctl_memory.as_usm_memory(o)),
        only_span=True,
        # It has no memory of no bytes: an empty array gives it one element.
        leaves_out=lambda layout: layout.empty,
    ),
    "dpnp.tensor.asarray": Consumer(
        lambda o: _elements_of(dpt.asarray(o), dpt.asnumpy),
        refuses=_no_negative_strides,
    ),
    # By way of its tensors: alone, dpnp.asarray copies what does not live on its default queue.
    "dpnp.asarray": Consumer(
        lambda o: _elements_of(dpnp.asarray(dpt.asarray(o)), dpnp.asnumpy),
        refuses=_no_negative_strides,
    ),
    "a reader of the dictionary": Consumer(_by_hand),
}
