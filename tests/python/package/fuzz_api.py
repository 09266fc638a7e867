# Calls everything that is public in usmx with right and wrong values, objects that raise or call
# back into usmx while they are read, instances that were never initialised, and memory that the
# call or another thread frees. `python fuzz_api.py SEED CALLS` is one process of it: it prints each
# call before it makes it, so that the last line names the one that crashed, and "DEFECT" for an
# error that is none of ours. test_fuzz_api.py runs many of these.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import contextlib
import copy
import faulthandler
import inspect
import io
import operator
import os
import pickle
import re
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from random import Random

import numpy as np
from fuzz_values import Ours, Stage

import usmx
import usmx.memory

# Words of the runtime, of C++ and of the interpreter's own errors, which do not help a user.
RAW = re.compile(
    r"UR_RESULT|PI_ERROR|\bstd::|sycl::_V1|bad_cast|basic_string|vector::|\bmap::at|_M_"
)

# --- what can be called --------------------------------------------------------------------------

# They start programs, change the process for good, or may divide a device (on the CPU driver copies
# between parts of one hang now and then: a defect of the runtime that the documentation names).
LEFT_OUT = {"create_sub_devices", "set_resource", "simulate", "get_cmake_dir"}


class Signatures(ast.NodeVisitor):
    """The names of parameters from the stub: "ndarray.reshape" -> [("shape", kind, required)]."""

    def __init__(self, text):
        self.found = {}
        self.inside = []
        self.visit(ast.parse(text))

    def visit_ClassDef(self, node):
        self.inside.append(node.name)
        self.generic_visit(node)
        self.inside.pop()

    def visit_FunctionDef(self, node):
        a = node.args
        plain = a.posonlyargs + a.args
        first_optional = len(plain) - len(a.defaults)
        rows = [(p.arg, "positional", k < first_optional) for k, p in enumerate(plain)]
        if a.vararg:
            rows.append((a.vararg.arg, "star", False))
        rows += [
            (p.arg, "keyword", d is None) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)
        ]
        self.found.setdefault(".".join([*self.inside, node.name]), rows)


STUB = Signatures((Path(usmx.__file__).parent / "_usmx.pyi").read_text())


def parameters_of(function, name):
    if name in STUB.found:
        rows = STUB.found[name]
        return rows[1:] if rows and rows[0][0] == "self" else rows
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return [("obj", "star", False)]
    kinds = {"VAR_POSITIONAL": "star", "KEYWORD_ONLY": "keyword"}
    return [
        (p.name, kinds.get(p.kind.name, "positional"), p.default is p.empty)
        for p in signature.parameters.values()
        if p.kind.name != "VAR_KEYWORD" and p.name != "self"
    ]


def public(module):
    return [n for n in getattr(module, "__all__", dir(module)) if not n.startswith("_")]


def targets():
    """(name, function) of all functions and classes, (class, attribute) of all attributes."""
    functions = {}
    classes = {}
    for module in (usmx, usmx.memory):
        for name in public(module):
            value = getattr(module, name)
            if name in LEFT_OUT or inspect.ismodule(value) or not callable(value):
                continue
            if isinstance(value, type):
                if issubclass(value, BaseException):
                    continue
                classes[value.__qualname__] = value
            functions[value.__qualname__ if isinstance(value, type) else name] = value
    for name in ("_Flags", "_Launch", "_BoundKernel", "KernelLimits"):
        classes[name] = getattr(usmx._usmx, name)
    attributes = []
    for name, cls in classes.items():
        for attribute in dir(cls):
            plain = not attribute.startswith("_") or attribute in SPECIAL
            # Four hundred names of what a device has, all made by one loop.
            many = attribute.startswith("has_aspect_") or (name == "Device" and attribute in ROWS)
            if plain and attribute not in LEFT_OUT and not many:
                attributes.append((name, attribute))
    return functions, classes, attributes


ROWS = [n for n in dir(usmx.Device) if "_" in n and not n.startswith("_")][::2]
SPECIAL = {
    "__array__",
    "__array_interface__",
    "__bytes__",
    "__copy__",
    "__deepcopy__",
    "__dlpack__",
    "__dlpack_device__",
    "__enter__",
    "__exit__",
    "__reduce__",
    "__sizeof__",
    "__sycl_usm_array_interface__",
    "__usm_ndarray__",
    "_get_capsule",
    "_repr_html_",
}

OPERATIONS = {
    "len": len,
    "iterate": lambda x, v: [i for i, _ in zip(range(3), x, strict=False)],
    "hash": hash,
    "repr": repr,
    "str": str,
    "format": lambda x, v: f"{x:{v}}" if isinstance(v, str) else format(x),
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "bytes": bytes,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "in": lambda x, v: v in x,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "eq reversed": lambda x, v: v == x,
    "add": operator.add,
    "memoryview": lambda x, v: memoryview(x).tolist() if len(memoryview(x)) < 100 else None,
    "numpy": lambda x, v: np.asarray(x),
    "frombuffer": lambda x, v: np.frombuffer(x, np.uint8),
    "readinto": lambda x, v: io.BytesIO(b"abc").readinto(x),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x, v: pickle.loads(pickle.dumps(x)),
    "sizeof": sys.getsizeof,
    "dir": dir,
    "weak key": lambda x, v: {x: v},
    "setattr": lambda x, v: setattr(x, "something", v),
    "with": lambda x, v: x.__enter__() and x.__exit__(None, None, None),
    "init again": lambda x, v: x.__init__(v),
}

# --- calls ---------------------------------------------------------------------------------------


class Fuzzer:
    def __init__(self, seed):
        self.functions, self.classes, self.attributes = targets()
        self.stage = Stage(seed, self.classes)
        self.random = self.stage.random
        self.defects = 0
        self.going_on = True

    def say(self, text):
        os.write(1, (text + "\n").encode(errors="backslashreplace"))

    def choose(self):
        """What to call, as (description, function without arguments)."""
        stage = self.stage
        form = self.random.random()
        if form < 0.4:
            name = self.random.choice(list(self.functions))
            function = self.functions[name]
            rows = parameters_of(
                function, f"{name}.__init__" if isinstance(function, type) else name
            )
            args, keywords = stage.arguments(rows)
            return f"{name}", lambda: function(*args, **keywords), (args, keywords)
        cls, attribute = self.random.choice(self.attributes)
        obj = stage.instance(cls)
        if form < 0.75:
            static = inspect.getattr_static(self.classes[cls], attribute, None)
            if not inspect.isroutine(static):
                if self.random.random() < 0.15:
                    value = stage.odd()
                    return f"{cls}.{attribute} =", lambda: setattr(obj, attribute, value), (value,)
                return f"{cls}.{attribute}", lambda: getattr(obj, attribute), ()
            rows = parameters_of(static, f"{cls}.{attribute}")
            args, keywords = stage.arguments(rows)
            if self.random.random() < 0.05:
                other = stage.odd()
                method = getattr(self.classes[cls], attribute)
                return (
                    f"{cls}.{attribute} of another",
                    lambda: method(other, *args, **keywords),
                    (other, args, keywords),
                )
            return (
                f"{cls}.{attribute}()",
                lambda: getattr(obj, attribute)(*args, **keywords),
                (args, keywords),
            )
        if form < 0.85 and cls not in ("RawModule", "Device"):
            kernel = self.random.choice([stage.raw, stage.add, stage.sum, stage.scan])
            if kernel is stage.raw:
                kernel = kernel[self.random.choice([0, 1, 3, (4, 2)])]
            count = self.random.choice([1, 1, 2, 2, 3])
            args = [stage.value("x") for _ in range(count)]
            keywords = {
                n: stage.value(n)
                for n in ("out", "queue", "depends_on", "size", "axis")
                if self.random.random() < 0.1
            }
            return f"{type(kernel).__name__}()", lambda: kernel(*args, **keywords), (args, keywords)
        name = self.random.choice(list(OPERATIONS))
        operation = OPERATIONS[name]
        takes = operation.__code__.co_argcount if inspect.isfunction(operation) else 0
        is_launch = name == "getitem" and "Kernel" in cls
        values = [stage.value("range" if is_launch else "key") for _ in range(3)]
        if not takes:
            takes = (
                3
                if name == "setitem"
                else 2
                if name in ("getitem", "delitem", "eq", "ne", "lt", "add")
                else 1
            )
        return f"{name} of {cls}", lambda: operation(obj, *values[: takes - 1]), values

    def judge(self, what, error):
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, SystemError) or RAW.search(text):
            self.defects += 1
            self.say(f"DEFECT {what}: {text[:600]}")

    def call(self, number):
        what, function, values = self.choose()
        self.say(f"{number} {what} {type_names(values)}")
        try:
            function()
        except Ours:
            pass
        except Exception as error:
            with contextlib.suppress(Ours):  # the message shows an object of ours
                self.judge(what, error)

    def free_from_elsewhere(self):
        """Another thread frees what the calls use, and allocates."""
        random = Random(self.random.random())
        while self.going_on:
            victims = list(self.stage.victims)
            if victims and random.random() < 0.3:
                Stage.free(random.choice(victims))
            else:
                usmx.memory.MemoryUSMShared(random.choice([16, 64, 4096]))
            time.sleep(0.0003)

    def run(self, calls):
        thread = threading.Thread(target=self.free_from_elsewhere, daemon=True)
        thread.start()
        for number in range(calls):
            faulthandler.dump_traceback_later(60, exit=True)
            self.call(number)
            faulthandler.cancel_dump_traceback_later()
        self.going_on = False
        thread.join(60)
        faulthandler.dump_traceback_later(60, exit=True)
        usmx.Queue().wait()


def type_names(values):
    if isinstance(values, (list, tuple)) and type(values) in (list, tuple):
        return "(" + ", ".join(type_names(v) for v in values) + ")"
    if type(values) is dict:
        return "{" + ", ".join(f"{k}: {type_names(v)}" for k, v in values.items()) + "}"
    if type(values) in (int, float, bool, type(None)):
        return str(values)[:24]
    if type(values) is str:
        return ascii(values[:24])
    return type(values).__name__


def main(seed, calls):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None  # what __del__ raises
    threading.excepthook = lambda a: os.write(
        1, f"DEFECT in the thread: {a.exc_value!r}\n".encode()
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fuzzer = Fuzzer(seed)
        fuzzer.run(calls)
        fuzzer.say(f"done {calls} calls, {fuzzer.defects} defects")
        os.chdir("/")
    return 1 if fuzzer.defects else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
