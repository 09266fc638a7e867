# "Without a copy" is measured: while objects of dpctl, dpnp and usmx change hands, the runtime is
# asked for no copy and no allocation, and usmx makes none by itself, in any kind of memory, any
# layout and both directions.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = """
import sys
sys.path[:0] = {folders!r}
import usmx, usmx.counters
usmx.counters.enable()
import dpctl.memory, dpnp, dpnp.tensor as dpt, usmx.memory, numpy as np
import exchange_partners as partners
from layouts import LAYOUTS, Layout

def watched(hand_over):
    # Calls of the runtime by all libraries, and operations of usmx.
    with usmx.counters.counting() as c, usmx.trace() as t:
        kept = hand_over()
    own = [e for e in t.events if e.action in ("allocate", "copy", "host copy")]
    return kept, c, own

def quiet(what, hand_over):
    hand_over()  # the first time may make queues
    kept, c, own = watched(hand_over)
    assert c.zero_copy and c.copies == 0 and c.allocations == 0 and not own, (what, c, own)
    return kept

def loud(what, hand_over):
    kept, c, own = watched(hand_over)
    assert c.copies + c.allocations + len(own) > 0, (what, c)
    return kept

kind = {kind!r}
pairs = 0
layouts = {{**LAYOUTS, "all": Layout((partners.ELEMENTS,))}}
"""

INTO_USMX = """
for name, producer in partners.PRODUCERS.items():
    for dtype in (np.dtype("u1"), np.dtype("f4"), np.dtype("D")):
        for where, layout in layouts.items():
            if not producer.can(layout, dtype):
                continue
            obj = producer.make(partners.Block(producer.library, kind, dtype), layout)
            for take in (usmx.asarray, usmx.memory.as_usm_memory):
                kept = quiet((name, dtype, where, take), lambda: take(obj))
                pairs += 1
            if not layout.empty:
                loud((name, dtype, where), lambda: usmx.asarray(obj, copy=True))
print(pairs)
"""

OUT_OF_USMX = """
takers = {
    "dpctl.memory": dpctl.memory.as_usm_memory,
    "dpnp.tensor": dpt.asarray,
    "dpnp": lambda o: dpnp.asarray(dpt.asarray(o)),
}
for dtype in (np.dtype("u1"), np.dtype("f4"), np.dtype("D")):
    for where, layout in LAYOUTS.items():
        block = partners.Block(usmx.memory, kind, dtype)
        a = partners.PRODUCERS["usmx.ndarray"].make(block, layout)
        for name, take in takers.items():
            kept = quiet((name, dtype, where), lambda: take(a))
            if not layout.empty and name != "dpctl.memory":
                assert partners.first_element(kept) == partners.first_element(a)
            pairs += 1
m = partners.Block(usmx.memory, kind, "u1").memory
assert quiet("memory", lambda: dpctl.memory.as_usm_memory(m))._pointer == m._pointer
assert partners.first_element(quiet("tensor", lambda: dpt.asarray(m))) == m._pointer
loud("control", lambda: dpctl.memory.as_usm_memory(m).tobytes() and dpt.asarray(m, copy=True))
print(pairs)
"""


def run(program, kind):
    here = Path(__file__).parent
    folders = [str(here), str(here.parent), str(here.parents[1] / "lab")]
    result = subprocess.run(
        [sys.executable, "-c", PRELUDE.format(folders=folders, kind=kind) + program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return int(result.stdout)


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_nothing_is_copied_or_allocated_on_the_way_in(kind):
    assert run(INTO_USMX, kind) > 300


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_nothing_is_copied_or_allocated_on_the_way_out(kind):
    assert run(OUT_OF_USMX, kind) > 150
