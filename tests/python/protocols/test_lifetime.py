# Memory lives exactly as long as it is referenced: a producer as long as the arrays made from it,
# in any order of destruction, on any thread, at any moment of the interpreter's life.
# SPDX-License-Identifier: Apache-2.0
import gc
import itertools
import subprocess
import sys
import textwrap
import threading
import weakref

import dpctl.memory
import dpnp
import dpnp.tensor as dpt
import exchange_partners as partners
import numpy as np
import psutil
import pytest
from exchange_partners import ATTRIBUTE, Block
from gate import collect_all
from layouts import Layout

import usmx
import usmx.memory

WHOLE = Layout((partners.ELEMENTS,))


def described(library=dpctl.memory, dtype="f4", queue=None):
    block = Block(library, "shared", dtype, queue)
    made = partners.Described(block.memory, WHOLE, block.dtype)
    made.right = block.host
    return made


TAKERS = {
    "usmx.asarray": usmx.asarray,
    "usmx.memory.as_usm_memory": usmx.memory.as_usm_memory,
    "a slice": lambda o: usmx.asarray(o)[3:7],
    "a slice of memory": lambda o: usmx.memory.as_usm_memory(o)[8:64],
    "dpnp through usmx": lambda o: dpt.asarray(usmx.asarray(o)),
    "usmx through dpnp": lambda o: usmx.asarray(dpnp.asarray(dpt.asarray(o))),
    "a buffer": lambda o: memoryview(usmx.memory.as_usm_memory(o)),
    "NumPy": lambda o: np.asarray(usmx.memory.as_usm_memory(o)),
}


@pytest.mark.parametrize("name", TAKERS)
def test_producer_lives_as_long_as_what_was_made_from_it(name):
    producer = described()
    gone = weakref.ref(producer)
    made = TAKERS[name](producer)
    del producer
    gc.collect()
    assert gone() is not None
    del made
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("name", TAKERS)
def test_refused_producer_is_let_go(name):
    producer = described()
    producer.description["offset"] = 10**6
    gone = weakref.ref(producer)
    with pytest.raises(ValueError, match=r"data|USM allocation"):
        TAKERS[name](producer)
    del producer
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_any_order_of_dying(order):
    producer = described()
    right = producer.right.tobytes()
    gone = weakref.ref(producer)
    a = usmx.asarray(producer)
    b = dpt.asarray(a)
    c = usmx.asarray(b)
    alive = [producer, a, b, c]
    del producer, a, b, c
    for k, victim in enumerate(order):
        for who in (1, 3):
            if alive[who] is not None:
                assert alive[who].to_numpy().tobytes() == right
        alive[victim] = None
        gc.collect()
        later = {producer for producer in order[k + 1 :]}
        assert (gone() is None) == (not later)


def test_export_does_not_keep_memory_alive_by_itself():
    a = usmx.asarray(described())
    there = getattr(a, ATTRIBUTE)
    gone = weakref.ref(a)
    del a
    assert gone() is None
    assert there["shape"] == (partners.ELEMENTS,)


def test_cycle_of_producers_is_collected():
    producer = described()
    producer.me = producer
    other = described()
    producer.other, other.other = other, producer
    gone = weakref.ref(producer), weakref.ref(other)
    arrays = [usmx.asarray(producer), usmx.asarray(other)]
    del producer, other
    gc.collect()
    assert [g() is None for g in gone] == [False, False]
    arrays.clear()
    gc.collect()
    assert [g() is None for g in gone] == [True, True]


def test_collection_in_the_middle_of_an_import():
    class Collects(partners.Described):
        @property
        def __sycl_usm_array_interface__(self):
            gc.collect()
            return dict(self.description)

    block = Block(dpctl.memory, "shared", "f4")
    arrays = [usmx.asarray(Collects(block.memory, WHOLE, block.dtype)) for _ in range(20)]
    assert all(a.to_numpy().tobytes() == block.host.tobytes() for a in arrays)


# --- pending work -----------------------------------------------------------------------------


def test_memory_dropped_while_another_library_computes_on_it():
    """The other library's kernels end on the right bytes; nothing takes the memory before."""
    ones = usmx.asarray(np.ones(1 << 20, np.float32), usm_type="shared")
    x = dpt.asarray(ones)
    for _ in range(20):
        x += 1
    del ones
    hoard = [usmx.asarray(np.zeros(1 << 20, np.float32), usm_type="shared") for _ in range(8)]
    assert (dpt.asnumpy(x) == 21).all()
    assert all((h.to_numpy() == 0).all() for h in hoard)


def test_export_shows_the_results_of_work_that_was_pending():
    a = usmx.asarray(np.zeros(1 << 20, np.int32), usm_type="device")
    for value in range(30):
        a[...] = value
        x = dpt.asarray(a)
        assert int(x[12345]) == value


# --- a hundred thousand -----------------------------------------------------------------------


def resident():
    return psutil.Process().memory_info().rss


EXCHANGES = {
    "import of dpctl.memory": lambda o: usmx.asarray(o["dpctl"]),
    "import of a Python class": lambda o: usmx.asarray(o["described"]),
    "import of a tensor": lambda o: usmx.asarray(o["tensor"]),
    "import as memory": lambda o: usmx.memory.as_usm_memory(o["described"]),
    "export of an array": lambda o: getattr(o["array"], ATTRIBUTE),
    "export of memory": lambda o: getattr(o["memory"], ATTRIBUTE),
    "there and back": lambda o: usmx.asarray(dpctl.memory.as_usm_memory(o["array"])),
    "own to own": lambda o: usmx.asarray(o["memory"]),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_hundred_thousand_exchanges_leave_nothing_behind(name):
    exchange = EXCHANGES[name]
    partner = {
        "dpctl": dpctl.memory.MemoryUSMShared(1024),
        "described": described(),
        "tensor": dpt.arange(24, dtype="f4"),
        "array": usmx.asarray(described()),
        "memory": usmx.memory.MemoryUSMShared(1024),
    }
    for _ in range(2_000):
        exchange(partner)
    gc.collect()
    references = {k: sys.getrefcount(v) for k, v in partner.items()}
    objects, before = len(gc.get_objects()), resident()
    for _ in range(98_000):
        exchange(partner)
    gc.collect()
    assert {k: sys.getrefcount(v) for k, v in partner.items()} == references
    assert len(gc.get_objects()) - objects < 50
    # Ten bytes an exchange would be a megabyte.
    assert resident() - before < 1_000_000


# --- threads ----------------------------------------------------------------------------------


def test_eight_threads_share_producers_and_drop_them_in_any_order():
    # In order: of two threads in which dpnp waits for the same other queue the CPU driver crashes.
    queue = dpctl.SyclQueue(property="in_order")
    producers = [described(queue=queue) for _ in range(8)]
    rights = [p.right.tobytes() for p in producers]
    gone = [weakref.ref(p) for p in producers]
    box = [usmx.asarray(p) for p in producers]
    del producers
    wrong = []
    start = threading.Barrier(8)

    def work(seed):
        choose = np.random.default_rng(seed)
        start.wait()
        try:
            for _ in range(400):
                k = int(choose.integers(8))
                a = box[k]
                if choose.random() < 0.3:
                    a = usmx.asarray(dpctl.memory.as_usm_memory(a))
                    assert a.to_numpy().tobytes() == rights[k]
                elif choose.random() < 0.5:
                    assert getattr(a, ATTRIBUTE)["version"] == 1
                else:
                    box[k] = usmx.asarray(dpt.asarray(a))  # the chain grows, others shorten it
                    if choose.random() < 0.5:
                        box[k] = usmx.asarray(described_again(a))
        except BaseException as error:
            wrong.append(error)

    def described_again(a):
        return partners.Described(a, WHOLE, np.dtype("f4"))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong[0]
    for a, right in zip(box, rights, strict=True):
        assert a.to_numpy().tobytes() == right
    assert all(g() is not None for g in gone)
    box.clear()
    del a
    gc.collect()
    collect_all()
    assert all(g() is None for g in gone)


# --- the end of the interpreter ---------------------------------------------------------------

ENDINGS = {
    "arrays in globals": "",
    "producer dies first": "del producer",
    "array dies first": "del a",
    "in a module that goes late": "import builtins; builtins.kept = a, b, c, producer",
    "in a cycle": (
        "producer.kept = [a, b, c]; loop = [producer]; loop.append(loop)\ndel producer, a, b, c"
    ),
    "in an exit handler": (
        "import atexit; atexit.register(lambda x=a, y=b: x.to_numpy().sum() + int(y[0]))"
    ),
    "in a thread that still runs": (
        "import threading, time\n"
        "def spin():\n"
        "    while True:\n"
        "        usmx.asarray(producer)\n"
        "        time.sleep(0.0001)\n"
        "threading.Thread(target=spin, daemon=True).start(); time.sleep(0.05)"
    ),
    "with work pending": "for _ in range(20): b += 1",
    "by an exception": "raise SystemExit(0)",
    "by os._exit": "import os; os._exit(0)",
    "in the frame of an error": (
        "try:\n    x = a, b, c; 1 / 0\nexcept ZeroDivisionError as e:\n    kept = e"
    ),
    "held by a destructor": (
        "class Late:\n"
        "    def __init__(self, x): self.x = x\n"
        "    def __del__(self): self.x.to_numpy()\n"
        "late = Late(a); late.me = late"
    ),
}


@pytest.mark.parametrize("first", ["usmx", "dpctl.memory"])
@pytest.mark.parametrize("name", ENDINGS)
def test_interpreter_ends_cleanly(name, first):
    program = f"""
import {first}
import usmx, usmx.memory, dpctl.memory, dpnp.tensor as dpt
m = dpctl.memory.MemoryUSMShared(1 << 16)
class Producer:
    def __init__(self, memory):
        self.memory = memory
    @property
    def __sycl_usm_array_interface__(self):
        d = dict(self.memory.__sycl_usm_array_interface__)
        d.update(data=(d["data"][0], False), offset=0, typestr="<i4", shape=(1 << 14,))
        return d
producer = Producer(m)
a = usmx.asarray(producer)
b = dpt.asarray(a)
c = usmx.memory.as_usm_memory(b)[64:128]
own = usmx.memory.MemoryUSMDevice(4096)
{ENDINGS[name]}
"""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
