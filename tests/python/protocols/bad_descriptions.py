# What a case of bad input is: a description of memory that must be refused, with the exception and
# the words that its author needs to see. The cases are in the other bad_*.py files.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

MISSING = object()


class Producer:
    """The simplest producer: the attribute is the object that it was given."""

    def __init__(self, description):
        self.__sycl_usm_array_interface__ = description


class Ground:
    """What cases need to stand on: live memory, queues and contexts of several libraries.

    Each is made when a case asks for it: most need no other library, and start in half the time.
    """

    def __init__(self):
        import usmx
        import usmx.memory

        self.usmx = usmx
        self.memory = usmx.memory.MemoryUSMShared(1024)
        self.pointer = self.memory.__sycl_usm_array_interface__["data"][0]
        self.queue = usmx.Queue()
        self.host = (ctypes.c_char * 1024)()

    @cached_property
    def numpy(self):
        import numpy

        return numpy

    @cached_property
    def dpctl(self):
        import dpctl.memory

        return dpctl

    @cached_property
    def foreign(self):
        return self.dpctl.memory.MemoryUSMShared(1024)

    @cached_property
    def other_context(self):
        return self.dpctl.SyclContext([self.dpctl.SyclDevice()])

    @cached_property
    def other_queue(self):
        return self.dpctl.SyclQueue(self.other_context, self.dpctl.SyclDevice())

    @cached_property
    def part_queue(self):
        part = self.dpctl.SyclDevice().create_sub_devices(partition=[1])[0]
        return self.dpctl.SyclQueue(self.dpctl.SyclContext(part), part)

    def description(self, **changes):
        """A good description of 24 floats with `changes`; MISSING takes a key away."""
        good = {
            "shape": (24,),
            "typestr": "<f4",
            "data": (self.pointer, False),
            "strides": None,
            "offset": 0,
            "version": 1,
            "syclobj": self.queue,
        }
        good.update(changes)
        return {key: value for key, value in good.items() if value is not MISSING}


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Ground], object]
    error: type[BaseException]
    says: str
    repeatable: bool = True
    #: One refusal takes as long as many others: it is repeated a tenth as often.
    slow: bool = False


CASES: dict[str, Case] = {}


def case(name, error, says, *, repeatable=True, slow=False):
    def register(make):
        assert name not in CASES, name
        CASES[name] = Case(name, make, error, says, repeatable, slow)
        return make

    return register


def row(name, error, says, *, slow=False, **changes):
    """A case that differs from a good description by values, or by what lambdas make of Ground."""

    def make(ground):
        made = {k: v(ground) if isinstance(v, types.LambdaType) else v for k, v in changes.items()}
        return Producer(ground.description(**made))

    case(name, error, says, slow=slow)(make)


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value
