"""Programs of random steps on arrays that others hold too, each step compared with plain NumPy.

A program makes arrays, computes, assigns, slices, exports views of the host and dpctl's memory,
writes through those, copies between kinds of memory and drops names, in any order. After each step
all views of the host show what the step did; what arrays hold is compared when a step looks.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import operator
import os
from typing import Any

import numpy as np
from dpctl import memory
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import usmx

LENGTHS = (1, 3, 17, 256, 4096, 5000, 40_000)
KINDS = ("shared", "host", "device")
PROGRAMS = int(os.environ.get("USMX_FUZZ_PROGRAMS", "12"))
STEPS = int(os.environ.get("USMX_FUZZ_STEPS", "25"))


class Both:
    """An array of usmx, and the array of NumPy that it must be like."""

    def __init__(self, ours: Any, model: np.ndarray) -> None:
        self.ours, self.model = ours, model


class Arrays(RuleBasedStateMachine):
    """See the first lines of the file."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: list[Both] = []
        #: Views of the host: what reads them, and the part of the model.
        self.views: list[tuple[np.ndarray, np.ndarray]] = []
        #: Memory of dpctl, and the part of the model: whole allocations.
        self.foreign: list[tuple[Any, np.ndarray]] = []
        self.kept: list[Any] = []
        self.count = 0

    # --- what steps choose from ---

    numbers = st.integers(0, 10**6)

    def one(self, k: int) -> Both:
        return self.arrays[k % len(self.arrays)]

    def same_shape(self, x: Both, k: int) -> Both:
        alike = [
            y for y in self.arrays
            if y.model.shape == x.model.shape and y.model.dtype == x.model.dtype
        ]  # fmt: skip
        return alike[k % len(alike)]

    def fresh(self, n: int, dtype: str = "f4") -> np.ndarray:
        self.count += 1
        return (np.arange(n) % 50 + self.count % 50).astype(dtype)

    def has_arrays(self) -> bool:
        return bool(self.arrays)

    # --- steps ---

    @rule(n=st.sampled_from(LENGTHS), kind=st.sampled_from(KINDS), t=st.sampled_from(("f4", "i8")))
    def make(self, n: int, kind: str, t: str) -> None:
        values = self.fresh(n, t)
        if len(self.arrays) < 8:
            self.arrays.append(Both(usmx.asarray(values, usm_type=kind), values.copy()))

    @precondition(has_arrays)
    @rule(k=numbers, how=st.sampled_from(("half", "step", "reversed", "matrix")))
    def part(self, k: int, how: str) -> None:
        x = self.one(k)
        if x.model.ndim != 1 or len(self.arrays) >= 10:
            return
        n = x.model.size
        if how == "matrix":
            if n % 2 == 0:
                self.arrays.append(Both(x.ours.reshape(2, -1).T, x.model.reshape(2, -1).T))
            return
        key = {
            "half": slice(n // 2), "step": slice(None, None, 2), "reversed": slice(None, None, -1)
        }[how]  # fmt: skip
        self.arrays.append(Both(x.ours[key], x.model[key]))

    @precondition(has_arrays)
    @rule(k=numbers, m=numbers, how=st.sampled_from(("+", "*", "-", "maximum", "square")))
    def compute(self, k: int, m: int, how: str) -> None:
        x = self.one(k)
        y = self.same_shape(x, m)
        call = {
            "+": lambda xp, a, b: a + b,
            "*": lambda xp, a, b: a * 2 + b,
            "-": lambda xp, a, b: a - b,
            "maximum": lambda xp, a, b: xp.maximum(a, b),
            "square": lambda xp, a, b: xp.square(a) % 100,
        }[how]
        if len(self.arrays) < 10 and np.abs(x.model).max(initial=0) < 1e4:
            self.arrays.append(Both(call(usmx, x.ours, y.ours), call(np, x.model, y.model).copy()))

    @precondition(has_arrays)
    @rule(k=numbers, how=st.sampled_from(("+=", "out", "slice", "shift", "mask", "sort", "fill")))
    def change(self, k: int, how: str) -> None:
        x = self.one(k)
        for xp, a in ((usmx, x.ours), (np, x.model)):
            if how == "+=":
                operator.iadd(a, 1)
            elif how == "out":
                xp.subtract(100, a, out=a)
            elif how == "slice":
                a[: a.shape[0] // 2] = 7
            elif how == "shift":
                a[1:] = a[:-1]
            elif how == "mask":
                a[a > 20] = 3
            elif how == "sort":
                a.sort()
            else:
                a.fill(5)

    @precondition(has_arrays)
    @rule(k=numbers, m=numbers)
    def assign(self, k: int, m: int) -> None:
        x = self.one(k)
        y = self.same_shape(x, m)
        x.ours[...] = y.ours
        x.model[...] = y.model

    @precondition(has_arrays)
    @rule(k=numbers, how=st.sampled_from(("asarray", "memoryview", "dlpack", "pointer")))
    def export(self, k: int, how: str) -> None:
        x = self.one(k)
        if x.ours.usm_type == "device" or len(self.views) >= 6:
            return
        if how == "pointer":
            assert x.ours.pointer
            return
        if how == "memoryview":
            view = np.asarray(memoryview(x.ours))
        elif how == "dlpack":
            view = np.from_dlpack(x.ours, device="cpu")
        else:
            view = np.asarray(x.ours)
        assert view.size == 0 or np.shares_memory(view, np.asarray(x.ours))
        self.views.append((view, x.model))

    @precondition(lambda self: self.views)
    @rule(k=numbers, value=st.integers(-50, 50))
    def write_through_a_view(self, k: int, value: int) -> None:
        view, model = self.views[k % len(self.views)]
        if view.flags.writeable:
            view[..., ::2] = value
            model[..., ::2] = value

    @precondition(lambda self: self.views)
    @rule(k=numbers)
    def drop_a_view(self, k: int) -> None:
        del self.views[k % len(self.views)]

    @precondition(has_arrays)
    @rule(k=numbers)
    def give_to_dpctl(self, k: int) -> None:
        x = self.one(k)
        if x.model.base is None and x.model.ndim == 1 and len(self.foreign) < 4:
            self.foreign.append((memory.as_usm_memory(x.ours), x.model))

    @precondition(lambda self: self.foreign)
    @rule(k=numbers, waits=st.booleans())
    def write_by_dpctl(self, k: int, waits: bool) -> None:
        held, model = self.foreign[k % len(self.foreign)]
        values = self.fresh(model.size, model.dtype.str)
        source = memory.MemoryUSMShared(values.nbytes, queue=held.sycl_queue)
        source.copy_from_host(values.view("u1"))
        for _, event in self.kept:
            event.wait()
        event = held.sycl_queue.memcpy_async(held, source, values.nbytes)
        self.kept.append((source, event))
        if waits or self.views:
            event.wait()  # dpctl's work: views of the host do not wait for it
        model[...] = values

    @precondition(lambda self: self.foreign)
    @rule(k=numbers)
    def read_by_dpctl(self, k: int) -> None:
        held, model = self.foreign[k % len(self.foreign)]
        for _, event in self.kept:  # its own writes, in a queue that may be out of order
            event.wait()
        target = memory.MemoryUSMShared(model.nbytes, queue=held.sycl_queue)
        held.sycl_queue.memcpy_async(target, held, model.nbytes).wait()
        np.testing.assert_array_equal(np.frombuffer(target.copy_to_host(), model.dtype), model)

    @precondition(has_arrays)
    @rule(k=numbers, kind=st.sampled_from(KINDS))
    def copy_to_another_kind(self, k: int, kind: str) -> None:
        x = self.one(k)
        if len(self.arrays) < 10:
            made = usmx.asarray(x.ours, usm_type=kind, copy=True)
            self.arrays.append(Both(made, x.model.copy()))

    @precondition(has_arrays)
    @rule(k=numbers)
    def copy_onto_itself(self, k: int) -> None:
        x = self.one(k)
        usmx.copy(x.ours, x.ours)
        x.ours[...] = x.ours

    @precondition(has_arrays)
    @rule(k=numbers, collects=st.booleans())
    def drop(self, k: int, collects: bool) -> None:
        del self.arrays[k % len(self.arrays)]
        if collects:
            gc.collect()

    @precondition(has_arrays)
    @rule(k=numbers, how=st.sampled_from(("all", "sum", "element", "list")))
    def look(self, k: int, how: str) -> None:
        x = self.one(k)
        if how == "sum":
            assert float(abs(x.ours % 100).astype("f8").sum()) == float(
                np.abs(x.model % 100).astype("f8").sum()
            )
        elif how == "element":
            assert x.ours.reshape(-1)[-1].item() == x.model.reshape(-1)[-1].item()
        elif how == "list":
            assert x.ours[:2].tolist() == x.model[:2].tolist()
        else:
            np.testing.assert_array_equal(x.ours.to_numpy(), x.model)

    # --- what always holds ---

    @invariant()
    def views_of_the_host_show_everything(self) -> None:
        for view, model in self.views:
            np.testing.assert_array_equal(view, model)

    def teardown(self) -> None:
        for x in self.arrays:
            np.testing.assert_array_equal(x.ours.to_numpy(), x.model)


def test_programs_of_random_steps() -> None:
    run_state_machine_as_test(
        Arrays,
        settings=settings(
            max_examples=PROGRAMS,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize="USMX_FUZZ_PROGRAMS" not in os.environ,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"{PROGRAMS} programs of up to {STEPS} steps")
