# What fuzz_api.py calls everything with: right values by the name of the argument, wrong ones, and
# objects that raise, call back into usmx or free what is used while they are read.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np

import usmx
import usmx.memory

BAD_TEXT = "\ud800"
DTYPES = ["f4", "f8", "i4", "i8", "u1", "bool", "c8", "f2", "int8", np.float32, float, int, bool]
RECORD = [("x", "<f4"), ("n", "<i4")]
# Large enough to be refused for sure; what could be granted would take long to fill.
HUGE = [2**40, 2**45, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63), -(2**63) - 1]
SOURCE = (
    "USMX_KERNEL(1) nothing(float* x, int64_t n) {}\n"
    "USMX_KERNEL(2) plane(usmx::strided<int, 2> x) {}\n"
)


# Lists for these are changed while they are read. Those with elements go to NumPy, which itself
# crashes then: `numpy.asarray(items)` with an item whose `__len__` clears `items`.
READ_BY_US = [
    "shape",
    "strides",
    "depends_on",
    "events",
    "options",
    "axes",
    "axis",
    "bins",
    "queue",
]


class Ours(Exception):
    """Raised by the objects below: it has to arrive as it is."""


class Stage:
    """What the calls of one process share."""

    def __init__(self, seed, classes):
        self.random = Random(seed)
        self.classes = classes
        self.victims = []  # memory that other threads and the objects below free
        self.lists = []
        self.depth = 0
        self.raw = usmx.RawKernel(SOURCE, "nothing")
        self.plane = usmx.RawKernel(SOURCE, "plane")
        self.add = usmx.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x + y")
        self.sum = usmx.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0")
        self.scan = usmx.ScanKernel("float32 x", "float32 y", "x", "a + b")
        self.resource = usmx.memory.PoolResource(usmx.memory.UsmResource("shared"))

    def choice(self, items):
        return self.random.choice(items)

    # objects of ours

    def memory(self):
        kind = self.choice(["Shared", "Host", "Device"])
        m = getattr(usmx.memory, f"MemoryUSM{kind}")(self.choice([0, 1, 16, 64, 4096]))
        self.victims.append(m)
        if self.random.random() < 0.15:
            m.free()
        elif self.random.random() < 0.2:
            return m[: self.choice([0, 1, 8])]
        elif self.random.random() < 0.1:
            return m.as_readonly()
        del self.victims[:-50]
        return m

    def array(self):
        shape = self.choice([0, 1, 3, 16, (), (2, 3), (4, 1, 2), (0, 5), (16, 16)])
        kind = self.choice(["shared", "host", "device"])
        dtype = self.choice([*DTYPES, RECORD, "V3"])
        a = usmx.zeros(shape, "f4" if self.random.random() < 0.5 else dtype, usm_type=kind)
        change = self.random.random()
        if change < 0.1 and a.ndim:
            return a[::-1]
        if change < 0.2 and a.ndim > 1:
            return a.T
        if change < 0.25:
            # Not more: functions compute with the elements, each as often as it is repeated.
            return usmx.broadcast_to(a, (2**10, *a.shape))
        if change < 0.3:
            a.flags.writeable = False
        if change < 0.4:
            m = usmx.memory.MemoryUSMShared(256)
            self.victims.append(m)
            return usmx.asarray(m)
        return a

    def launch(self):
        return self.raw[self.choice([1, 3, (4, 2)])]

    def instance(self, name):
        """An object of the class: most are complete."""
        cls = self.classes[name]
        if self.random.random() < 0.08:
            return cls.__new__(cls)
        makers = {
            "ndarray": self.array,
            "dtype": lambda: usmx.dtype(self.choice([*DTYPES, RECORD])),
            "Queue": lambda: usmx.Queue(in_order=self.choice([None, True, False])),
            "Device": usmx.Device,
            "Platform": lambda: usmx.Device().platform,
            "Context": usmx.Context,
            "Event": lambda: usmx.fill_async(usmx.zeros(3), 1),
            "RawKernel": lambda: self.choice([self.raw, self.plane]),
            "RawModule": lambda: usmx.RawModule(SOURCE),
            "ElementwiseKernel": lambda: self.add,
            "ReductionKernel": lambda: self.sum,
            "ScanKernel": lambda: self.scan,
            "using": lambda: usmx.memory.using(self.resource),
            "_Flags": lambda: self.array().flags,
            "_Launch": self.launch,
            "KernelLimits": self.raw.limits,
            "UsmResource": lambda: usmx.memory.UsmResource("shared"),
            "PoolResource": lambda: self.resource,
            "MemoryResource": lambda: usmx.memory.get_resource(kind="host"),
            "QueueOrderedResource": lambda: usmx.memory.QueueOrderedResource(self.resource),
            "StatisticsResource": lambda: usmx.memory.StatisticsResource(self.resource),
            "LimitingResource": lambda: usmx.memory.LimitingResource(self.resource, 4096),
            "BinningResource": lambda: usmx.memory.BinningResource(self.resource, {}),
            "AlignedResource": lambda: usmx.memory.AlignedResource(self.resource, 256),
            "PrefetchResource": lambda: usmx.memory.PrefetchResource(self.resource),
            "TrackingResource": lambda: usmx.memory.TrackingResource(self.resource),
            "LoggingResource": lambda: usmx.memory.LoggingResource(self.resource, "log.csv"),
            "FailureCallbackResource": lambda: usmx.memory.FailureCallbackResource(
                self.resource, lambda n: False
            ),
            "LocalMemory": lambda: usmx.LocalMemory(4, "f4"),
        }
        if name.startswith("MemoryUSM"):
            m = self.memory()
            return m if isinstance(m, cls) else cls(16)
        return makers[name]() if name in makers else cls.__new__(cls)

    def any_instance(self):
        return self.instance(self.choice(list(self.classes)))

    # objects that run code while they are read

    def act(self):
        """What an object does when it is asked for something."""
        if self.depth > 2:
            return
        self.depth += 1
        try:
            what = self.random.randrange(9)
            if what == 0:
                raise Ours("raised while it was read")
            if what in (1, 2):
                for m in self.victims[-6:]:
                    self.free(m)
            elif what == 3:
                for items in self.lists[-6:]:
                    items.clear()
            elif what == 4:
                usmx.empty(self.choice([1, 100, 4096]), self.choice(["f4", "c16", "i1"]))
            elif what == 5:
                gc.collect(0)
                usmx._usmx._Testing.collect()
            elif what == 6:
                usmx.asarray(Producer(self))
            elif what == 7:
                time.sleep(0.0002)  # other threads run
        finally:
            self.depth -= 1

    @staticmethod
    def free(m):
        with contextlib.suppress(BufferError, TypeError, ValueError):
            m.free()

    def reentrant(self):
        kinds = [Reentrant, Producer, Number, Text, Sequence]
        return self.choice(kinds)(self)

    # arguments

    def right(self, name):
        """A value that an argument of this name usually takes."""
        many = {
            "shape": [3, 0, (2, 3), [4], (), np.int64(3), (1, 0, 2), -1, (16,)],
            "dtype": [*DTYPES, None, usmx.dtype("f4"), RECORD],
            "type": DTYPES,
            "order": ["C", "F", "A", "K"],
            "usm_type": ["device", "shared", "host", None],
            "kind": ["device", "shared", "host"],
            "copy": [None, True, False],
            "nbytes": [0, 1, 64, 4096],
            "nbytes_or_object": [0, 1, 64, 4096],
            "alignment": [0, 64, 4096],
            "width": [0, 1, 8],
            "height": [0, 1, 4],
            "dst_pitch": [8, 16],
            "src_pitch": [8, 16],
            "value": [0, 1, 255, 1.5, True],
            "val": [0, 1, 255],
            "fill_value": [0, 1, 2.5],
            "advice": [0, 1],
            "axis": [0, -1, None, 1],
            "axis1": [0, 1],
            "axis2": [0, 1],
            "axes": [(1, 0), None, ()],
            "offset": [0, 1],
            "strides": [(1,), (3, 1), None],
            "start": [0, 5],
            "stop": [3, None, 10.5],
            "step": [1, 2, -1],
            "name": ["nothing", "plane", "kernel"],
            "source": [SOURCE, None, "", "cpu"],
            "options": [(), ("-DN=3",)],
            "in_params": ["float32 x", "T x"],
            "out_params": ["float32 y", "T y"],
            "operation": ["y = x"],
            "map_expr": ["x"],
            "reduce_expr": ["a + b"],
            "scan_expr": ["a + b"],
            "post_map_expr": ["y = a"],
            "identity": ["0", None, 0],
            "queue": [None, usmx.Queue(), "cpu", usmx.Device()],
            "device": [None, "cpu", usmx.Device()],
            "stream": [None, usmx.Queue()],
            "syclobj": [usmx.Queue(), usmx.Context()],
            "ptr": [0, 1],
            "depends_on": [None, (), [usmx.Event()]],
            "events": [[], [usmx.Event()]],
            "progress": [False, None],
            "most": [1 << 20, None],
            "release_above": [1 << 20, None],
            "keep": [0, 1 << 20],
            "least_size": [0, 4096],
            "bins": [{}, {64: self.resource}],
            "callback": [len, lambda n: False, lambda n: 1 / 0],
            "path": ["log.csv", Path("log.csv")],
            "index": [0, -1, (0,), slice(None)],
            "key": [0, slice(1), ..., None, "x", "C_CONTIGUOUS"],
            "range": [1, 3, (4, 2), ((2, 2), (1, 1)), 0],
            "aspect": ["fp64"],
        }
        if name in many:
            return self.choice(many[name])
        if name in ("resource", "upstream"):
            return self.choice([self.resource, usmx.memory.UsmResource("shared")])
        if name in ("memory",):
            return self.memory()
        return self.choice([self.array, self.memory, self.host, lambda: Producer(self)])()

    def host(self):
        return self.choice(
            [
                np.zeros(16, "f4"),
                np.zeros((2, 3), "f4")[:, ::-1],
                np.arange(6).reshape(2, 3),
                np.float32(1),
                np.zeros(3, RECORD),
                np.zeros(3, "M8[s]"),
                np.array([None, 1]),
                np.zeros(3, ">f4"),
                b"abcdefgh",
                bytearray(64),
                memoryview(bytearray(16))[::2],
                array.array("f", [1, 2]),
                (ctypes.c_float * 4)(1, 2, 3, 4),
                ((ctypes.c_int * 3) * 2)(),
                [1, 2, 3],
                [[1.0, 2], [3, 4]],
                [[1], [2, 3]],
                (),
                3,
                2.5,
            ]
        )

    def odd(self):
        makers = [
            lambda: self.choice([None, True, False, 0, 1, -1, 3, 7]),
            lambda: self.choice(HUGE),
            lambda: self.choice([float("nan"), float("inf"), -0.0, 1e300, 1j, complex("nan")]),
            lambda: self.choice(["", "x", BAD_TEXT, "float32", "\0", "é", "x" * 10_000, "<f4"]),
            lambda: self.choice([b"", b"\xff", ..., NotImplemented, object(), SimpleNamespace()]),
            lambda: self.choice([int, np.float32, type, len, usmx.ndarray, usmx, Ours]),
            lambda: (2**40, 2**40),
            lambda: (-1, 2),
            lambda: [self.reentrant() for _ in range(3)],
            lambda: (self.reentrant(), 2),
            lambda: {1: 2, "a": self.reentrant()},
            lambda: slice(self.reentrant(), self.choice([None, 3, 2**70]), self.choice([1, 0, -1])),
            self.host,
            self.host,
            self.array,
            self.memory,
            self.any_instance,
            self.any_instance,
            self.reentrant,
            self.reentrant,
            self.reentrant,
            lambda: usmx.Queue()._get_capsule(),
            lambda: usmx.Event()._get_capsule(),
        ]
        return self.choice(makers)()

    def list_that_is_cleared(self):
        items = [1, self.reentrant(), 2, 3]
        self.lists.append(items)
        del self.lists[:-20]
        return items

    def value(self, name):
        if name == "range":  # a launch over 2**40 items would run that long
            return self.right(name) if self.random.random() < 0.7 else self.reentrant()
        if name == "callback":  # is asked again for as long as it returns what is true
            return self.right(name)
        if name in READ_BY_US and self.random.random() < 0.1:
            return self.list_that_is_cleared()
        return self.right(name) if self.random.random() < 0.6 else self.odd()

    def arguments(self, rows):
        args, keywords = [], {}
        if self.random.random() < 0.05:
            return [self.odd() for _ in range(self.random.randrange(4))], {}
        by_place = True
        for name, kind, required in rows:
            if kind == "star":
                names = ["x", "n"] if name == "args" else [name]
                args += [self.value(n) for n in names[: self.random.randrange(len(names) + 1)]]
                by_place = False
            elif not required and self.random.random() < 0.5:
                by_place = False
            elif kind == "positional" and by_place:
                args.append(self.value(name))
            else:
                keywords[name] = self.value(name)
        return args, keywords


class Reentrant:
    """Runs code whenever anything is asked of it, and answers small numbers."""

    def __init__(self, stage):
        self._stage = stage

    def _number(self):
        self._stage.act()
        return self._stage.choice([0, 1, 2, 3, -1])

    __index__ = __int__ = __len__ = _number

    def __hash__(self):
        return self._number()

    def __float__(self):
        return float(self._number())

    def __bool__(self):
        self._stage.act()
        return False

    def __getitem__(self, key):
        self._stage.act()
        if isinstance(key, int) and key > 3:
            raise IndexError(key)
        return 1

    def __eq__(self, other):
        self._stage.act()
        return False

    def __repr__(self):
        self._stage.act()
        return self._stage.choice(["Reentrant", BAD_TEXT])

    def __call__(self, *args, **keywords):
        self._stage.act()

    def __fspath__(self):
        self._stage.act()
        return "log.csv"

    def _get_capsule(self):
        self._stage.act()
        return self._stage.choice([None, usmx.Queue()._get_capsule(), 3])

    @property
    def shape(self):
        self._stage.act()
        return (1,)

    dtype = itemsize = kind = filter_string = sycl_queue = _kernel_key = shape

    def __del__(self):
        stage = self._stage
        with contextlib.suppress(Ours):
            stage.act()


class Producer(Reentrant):
    """Describes memory that another may free, now and then wrongly."""

    def __init__(self, stage):
        super().__init__(stage)
        self._memory = usmx.memory.MemoryUSMShared(64)
        stage.victims.append(self._memory)

    @property
    def __sycl_usm_array_interface__(self):
        stage = self._stage
        described = dict(self._memory.__sycl_usm_array_interface__)
        described.update(shape=stage.choice([(16,), (4, 4), ()]), typestr="<f4")
        if stage.random.random() < 0.5:
            return described
        key = stage.choice([*described, "strides", "offset", "typedescr"])
        described[key] = stage.odd() if stage.depth < 3 else None
        stage.act()
        return described


class Number(int):
    def __new__(cls, stage):
        made = super().__new__(cls, stage.choice([0, 1, 3, -1, 2**40, 2**63]))
        made._stage = stage
        return made

    def __index__(self):
        self._stage.act()
        return 2

    def __repr__(self):
        return BAD_TEXT

    def __float__(self):
        self._stage.act()
        return 2.0


class Text(str):
    def __new__(cls, stage):
        made = super().__new__(cls, stage.choice(["float32", "shared", "C", "cpu", BAD_TEXT]))
        made._stage = stage
        return made

    def __eq__(self, other):
        self._stage.act()
        return False

    def __hash__(self):
        self._stage.act()
        return 1

    def __str__(self):
        self._stage.act()
        return "int64" * 100


class Sequence(list):
    """A list that gets shorter while it is read."""

    def __init__(self, stage):
        super().__init__([1, 2, Reentrant(stage), 4])
        self._stage = stage

    def __len__(self):
        self._stage.act()
        return 4

    def __iter__(self):
        self._stage.act()
        yield from [1, 2]
        self.clear()
        yield 3
