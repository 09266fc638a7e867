"""Fails each allocation of an operation in turn: of Python's (``python``), or of ours (``new``).

    python out_of_memory.py {python,new} OPERATION FIRST LAST

``test_out_of_memory.py`` starts it, for ``new`` with failing_allocations preloaded. One line for
each failing point that did not end in MemoryError or in the result, and ``at K`` before each, so
that the last one names the point of a crash. Then the operation must work again.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import _testcapi
import contextlib
import ctypes
import faulthandler
import gc
import linecache
import pickle
import sys
import traceback
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import oom_kernels

import usmx
import usmx.memory

x = usmx.arange(6, dtype="float32", usm_type="shared").reshape(2, 3)
large = usmx.ones((300, 300), "float32", usm_type="device")
a = np.arange(6.0).reshape(2, 3)
square = a @ a.T  # here: without memory NumPy loses the error of its own product
add_one = usmx.ElementwiseKernel("T a", "T b", "b = a + 1")
total = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


class Producer:
    """An object with the protocol of SYCL's memory and nothing else."""

    __sycl_usm_array_interface__ = x.__sycl_usm_array_interface__


producer = Producer()
pickled = pickle.dumps(x, 5)


def traced() -> None:
    with usmx.trace():
        usmx.empty(3)


def refused() -> None:
    with contextlib.suppress(ValueError):
        usmx.empty(-1)


def wrong_call() -> None:
    with contextlib.suppress(TypeError):
        usmx.zeros(3, dtyp="f4")


def assigned() -> None:
    x[0, 1:] = [3, 4]


def masked() -> None:
    x[x > 100] = 1


#: The device at hand.
here = usmx.Device().filter_string
#: Those of users' first minutes come first.
OPERATIONS: dict[str, Callable[[], Any]] = {
    "empty": lambda: usmx.empty((2, 3)),
    "asarray of lists": lambda: usmx.asarray([[1, 2], [3, 4]]),
    "asarray of NumPy's": lambda: usmx.asarray(a),
    "from_dlpack": lambda: usmx.from_dlpack(a),
    "dictionary": lambda: x.__sycl_usm_array_interface__,
    "asarray of a dictionary": lambda: usmx.asarray(producer),
    "__dlpack__": lambda: x.__dlpack__(),
    "np.asarray": lambda: np.asarray(x),
    "slice": lambda: x[1:, ::2],
    "add": lambda: (x + x).wait(),
    "sum": lambda: float(x.sum()),
    "repr": lambda: repr(x),
    "getsizeof": lambda: sys.getsizeof(x),
    "index by a list": lambda: x[[0, 1]],
    "mask": lambda: x[x > 2],
    "setitem": lambda: x.__setitem__(0, 5),
    "pickle": lambda: pickle.dumps(x, 5),
    "unpickle": lambda: pickle.loads(pickled),
    "kernel": lambda: oom_kernels.plus[6](x).wait(),
    "ElementwiseKernel": lambda: add_one(x, out=x),
    "tolist": lambda: x.tolist(),
    "__arrow_c_array__": lambda: x.reshape(-1).__arrow_c_array__(),
    "to_device": lambda: x.to_device(here),
    "memory": lambda: usmx.memory.MemoryUSMShared(64),
    "Queue": lambda: usmx.Queue(here),
    "matmul": lambda: (x @ x.T).wait(),
    "sort": lambda: usmx.sort(x).wait(),
    "concat": lambda: usmx.concat([x, x]),
    "np.sqrt": lambda: np.sqrt(x),
    "np.concatenate": lambda: np.concatenate([x, x]),
    "trace": traced,
    "refused": refused,
    # More of them.
    "wrong call": wrong_call,
    "setitem of lists": assigned,
    "setitem by a mask": masked,
    "large add": lambda: (large + 1).wait(),
    "large sum": lambda: large.sum(axis=0).wait(),
    "large sort": lambda: usmx.sort(large, axis=0).wait(),
    "ReductionKernel": lambda: total(x),
    "fused": lambda: oom_kernels.fused(x).wait(),
    "copy": lambda: usmx.copy(x, x.copy()),
    "to_numpy": lambda: large.to_numpy(),
    "astype": lambda: x.astype("int16"),
    "transpose": lambda: x.transpose(1, 0).reshape(-1),
    "unique": lambda: usmx.unique(x),
    "where": lambda: usmx.where(x > 2, x, 0).wait(),
    "random": lambda: usmx.random.default_rng(3).random(5),
    "linalg": lambda: usmx.linalg.solve(usmx.eye(3), usmx.ones(3)),
    "fft": lambda: usmx.fft.fft(x),
    "snapshot": lambda: usmx.memory.snapshot(),
    "device": lambda: usmx.Device(here).name,
    "dtype": lambda: (usmx.dtype("float32"), str(x.dtype), x.dtype.itemsize),
    "iteration": lambda: [float(e) for row in x for e in row],
    "einsum": lambda: usmx.einsum("ij,kj->ik", x, x).wait(),
    "np.array_equal": lambda: np.array_equal(x, x),
    # Those that call functions of NumPy which lose the error.
    "take": lambda: usmx.take(x, [0, 1], axis=0),
    "pad": lambda: usmx.pad(x, 1),
    "svd": lambda: usmx.linalg.svd(a),
    "eigh": lambda: usmx.linalg.eigh(square),
    "str of a queue": lambda: (repr(x.queue), repr(x.device)),
}


def _fail_python(nth: int) -> None:
    _testcapi.set_nomemory(nth, nth + 1)


def failing(kind: str) -> tuple[Callable[[int], None], Callable[[], None]]:
    """What fails the nth allocation from now, and what ends that."""
    if kind == "python":
        return _fail_python, _testcapi.remove_mem_hooks
    fail_new = ctypes.CDLL(None).fail_new
    fail_new.argtypes, fail_new.restype = [ctypes.c_ssize_t], ctypes.c_ssize_t
    return fail_new, lambda: fail_new(-1)


def inner_codes() -> list[CodeType]:
    """The code of functions that other functions make, of all that is loaded."""
    found: dict[int, CodeType] = {}
    codes = [f.__code__ for f in gc.get_objects() if isinstance(f, FunctionType)]
    while codes:
        inner = [c for c in codes.pop().co_consts if isinstance(c, CodeType)]
        codes += [c for c in inner if id(c) not in found]
        found.update((id(c), c) for c in inner)
    return list(found.values())


def main(kind: str, name: str, first: int, last: int) -> int:
    faulthandler.enable()
    operation = OPERATIONS[name]
    fail, end = failing(kind)
    for _ in range(3):
        operation()  # what is kept for the process is kept now
    # CPython 3.12 and 3.13 release one of these once too often when there is no memory for its
    # function: docs/upstream/memory-errors-of-others.md. So each is held often enough, for ever.
    held = inner_codes() * (2 * (last - first) + 1)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    bad = 0
    for nth in range(first, last):
        sys.stderr.write(f"at {nth}\n")
        sys.stderr.flush()
        gc.collect() if nth % 40 == 0 else None
        try:
            fail(nth)
            try:
                operation()
            finally:
                end()
        except MemoryError:
            pass
        except BaseException as error:
            bad += 1
            frames = traceback.extract_tb(error.__traceback__)[-2:]
            where = " < ".join(f"{f.name}: {f.line}" for f in reversed(frames))
            print(f"{nth}: {type(error).__name__}: {str(error)[:200]} [{where}]", flush=True)
    linecache.clearcache()
    try:
        operation()
    except BaseException as error:
        bad += 1
        print(f"afterwards: {type(error).__name__}: {str(error)[:200]}", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])), 99))
