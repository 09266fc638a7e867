"""Measure the exchange of USM between libraries, compared with other libraries."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dpctl.memory
import dpnp.tensor
import numpy as np
from table import Case, Effort, Result, Rival, main, measure

import usmx
import usmx.memory

ATTRIBUTE = "__sycl_usm_array_interface__"


class Producer:
    """Memory described in pure Python, as the protocol's documentation shows it."""

    def __init__(self, memory: object) -> None:
        self.memory = memory
        self.description = dict(getattr(memory, ATTRIBUTE), data=(memory._pointer, False))

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, object]:
        """The dictionary, made once."""
        return self.description


def cases() -> list[Case]:
    """Every row of the table."""
    block = dpctl.memory.MemoryUSMShared(1024)
    table = dpnp.tensor.arange(24, dtype="f4")
    memory = usmx.memory.MemoryUSMShared(1024)
    array = usmx.empty(24, dtype="f4")
    foreign = Producer(block)
    own = Producer(memory)
    queue = block.sycl_queue

    def get(obj: object) -> Callable[[], object]:
        return partial(getattr, obj, ATTRIBUTE)

    ours, as_array = usmx.memory.as_usm_memory, usmx.asarray
    theirs, as_tensor = dpctl.memory.as_usm_memory, dpnp.tensor.asarray

    def answer_of_dpctl() -> None:
        getattr(block, ATTRIBUTE)
        queue._get_capsule()

    numbers = np.arange(1000, dtype="f4")
    visible = usmx.asarray(numbers, usm_type="shared")
    seen = np.from_dlpack(visible, device="cpu")
    their_visible = dpnp.tensor.asarray(numbers, usm_type="shared")
    touch = usmx.RawKernel("USMX_KERNEL(1) touch(float* x) {}", "touch")[1]

    def there_and_back_of_dpnp() -> None:
        dpnp.tensor.from_dlpack(np.from_dlpack(dpnp.tensor.asnumpy(their_visible)))

    def there_and_back() -> None:
        usmx.from_dlpack(np.from_dlpack(visible, device="cpu"))

    def case(
        name: str,
        rival: str,
        their_call: Callable[[], object],
        our_call: Callable[[], object],
        aim: float | None = None,
    ) -> Case:
        return Case(name, our_call, [Rival(rival, their_call, aim)])

    return [
        case("describe memory", "dpctl", get(block), get(memory), 1),
        case("describe an array", "dpnp.tensor", get(table), get(array), 8),
        case("dpctl's memory as memory", "dpctl", partial(theirs, block), partial(ours, block), 2),
        case("  of which dpctl's answer", "dpctl", answer_of_dpctl, answer_of_dpctl),
        # Of these the driver of the CPU device takes 240 ns for two questions, the property 70.
        case("a producer as memory", "dpctl", partial(theirs, foreign), partial(ours, foreign), 10),
        case("  with a queue of ours", "dpctl", partial(theirs, own), partial(ours, own), 10),
        case("our memory as memory", "dpctl", partial(theirs, memory), partial(ours, memory)),
        case(
            "dpctl's memory as an array",
            "dpnp.tensor",
            partial(as_tensor, block),
            partial(as_array, block),
            8,
        ),
        case(
            "a producer as an array",
            "dpnp.tensor",
            partial(as_tensor, foreign),
            partial(as_array, foreign),
            8,
        ),
        case(
            "their array as ours, ours as theirs",
            "dpnp.tensor",
            partial(as_tensor, array),
            partial(as_array, table),
        ),
        Case(
            "our array to NumPy by DLPack",
            partial(np.from_dlpack, visible, device="cpu"),
            [Rival("NumPy's own", partial(np.from_dlpack, numbers, device="cpu"), 0.5)],
        ),
        Case(
            "NumPy's view to us by DLPack",
            partial(usmx.from_dlpack, seen),
            [Rival("NumPy's own", partial(np.from_dlpack, numbers, device="cpu"), 0.5)],
        ),
        Case(
            "there and back by DLPack",
            there_and_back,
            [Rival("dpnp.tensor, copies", there_and_back_of_dpnp, 100)],
        ),
        Case(
            "a NumPy array as an array",
            partial(as_array, numbers, copy=False),
            [Rival("dpnp.tensor, copies", partial(as_tensor, numbers), 8)],
        ),
        Case(
            "a NumPy array to a kernel, waited",
            partial(touch, numbers),
            [Rival("USM, waited", lambda: touch(visible).wait())],
        ),
    ]


def changes_in_place() -> list[Case]:
    """What looking on costs: a change of an array that never left, and of others, whom others see.

    The rival is NumPy, whose arrays have no commands to wait for.
    """

    def changed(x: usmx.ndarray | np.ndarray) -> Callable[[], object]:
        return partial(type(x).__iadd__, x, 1)

    def ours() -> usmx.ndarray:
        return usmx.ones(10, "float32", usm_type="shared")

    own, seen, known, told = ours(), ours(), ours(), ours()
    seen_by = np.asarray(seen)
    rival = Rival("NumPy", changed(np.ones(10, "float32")))
    rows = [
        Case("x += 1 of 10, never left", changed(own), [rival]),
        Case("  while NumPy sees it", changed(seen), [rival]),
        Case("  after x.pointer", changed(known), [rival]),
        Case("  after the dictionary", changed(told), [rival]),
        Case(
            "np.asarray(x)",
            partial(np.asarray, ours()),
            [Rival("NumPy", partial(np.asarray, seen_by))],
        ),
    ]
    _ = known.pointer, told.__sycl_usm_array_interface__
    return rows


def calls_in_c(programs: Path) -> list[Case]:
    """What an argument costs a function in C, by the table of C functions and by the dictionary.

    Parameters
    ----------
    programs : Path
        The folder where the module of these functions was built.
    """
    sys.path.insert(0, str(programs))
    calls = importlib.import_module("exchange_calls")
    array = usmx.empty(24, dtype="f4", usm_type="shared")

    def case(name: str, times: int) -> Case:
        ours = partial(calls.by_table, array, times)
        return Case(
            name, ours, [Rival("dictionary", partial(calls.by_dictionary, array, times), 8)]
        )

    return [case("an argument of a function in C", 1), case("  a thousand of them", 1000)]


def run(effort: Effort) -> list[Result]:
    """Measure every row; those of functions in C only if their module was built."""
    results = measure([*cases(), *changes_in_place()], effort)
    if effort.programs is not None:
        results += measure(calls_in_c(effort.programs), effort)
    return results


if __name__ == "__main__":
    main("Exchange of USM", __doc__, run)
