# The call counter is what other tests prove "zero copy" with, so it has to move when something
# moves, stand still when nothing does, and say so when it cannot see.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import textwrap

import pytest

import usmx.counters


def run(program, **variables):
    """Run a program in a fresh interpreter, because counting is decided at SYCL's first use."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **variables},
        check=False,
    )


def succeeds(program, **variables):
    result = run(program, **variables)
    assert result.returncode == 0, result.stderr
    return result.stdout


COUNTED = """
import usmx, usmx.counters as uc
uc.enable()
import dpctl.memory as dm
"""


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_allocations_are_counted_by_kind_with_their_bytes(kind):
    succeeds(
        COUNTED
        + f"""
    with uc.counting() as c:
        m = dm.MemoryUSM{kind.title()}(1000)
        n = dm.MemoryUSM{kind.title()}(24)
    assert (c.allocations, c.bytes_allocated) == (2, 1024), c
    assert c.allocations_by_kind.pop("{kind}") == (2, 1024), c
    assert sum(count for count, _ in c.allocations_by_kind.values()) == 2, c
    with uc.counting() as c:
        del m, n
    assert (c.frees, c.allocations) == (2, 0), c
    """.replace("\n    ", "\n")
    )


def test_copies_fills_and_their_bytes_are_counted():
    succeeds(
        COUNTED
        + """
a, b = dm.MemoryUSMDevice(4096), dm.MemoryUSMShared(4096)
with uc.counting() as c:
    a.copy_from_host(bytes(4096)); b.copy_from_device(a); b.copy_to_host()
assert (c.copies, c.bytes_copied) == (3, 3 * 4096), c
assert not c.zero_copy
with uc.counting() as c:
    b.memset(7)
assert (c.fills, c.bytes_filled, c.copies) == (1, 4096, 0), c
"""
    )


def test_kernels_and_builds_are_counted():
    succeeds(
        COUNTED
        + """
import dpnp.tensor as dpt
x = dpt.ones(1000, dtype="f4")
with uc.counting() as c:
    (x + x).sycl_queue.wait()
assert c.kernels == 1 and c.builds >= 1, c
"""
    )


def test_an_exchange_without_a_copy_counts_nothing():
    succeeds(
        COUNTED
        + """
class Producer:
    def __init__(self, d): self.__sycl_usm_array_interface__ = d
m = dm.MemoryUSMShared(4096)
with uc.counting() as c:
    n = dm.as_usm_memory(Producer(m.__sycl_usm_array_interface__))
assert n._pointer == m._pointer
assert c.zero_copy and (c.copies, c.allocations, c.bytes_copied) == (0, 0, 0), c
"""
    )


def test_a_refused_allocation_counts_as_failed_only():
    succeeds(
        COUNTED
        + """
q = dm.MemoryUSMDevice(8).sycl_queue
with uc.counting() as c:
    try: dm.MemoryUSMDevice(1 << 50, queue=q)
    except Exception: pass
assert (c.failed, c.allocations, c.bytes_allocated) == (1, 0, 0), c
"""
    )


def test_nested_blocks_see_their_own_part_and_stop_when_they_end():
    succeeds(
        COUNTED
        + """
m = dm.MemoryUSMShared(16)
with uc.counting() as outer:
    m.memset(1)
    with uc.counting() as inner:
        m.memset(2)
        assert inner.fills == 1 and outer.fills == 2
    m.memset(3)
m.memset(4)
assert (outer.fills, inner.fills) == (3, 1), (outer, inner)
"""
    )


def test_calls_of_all_threads_are_counted_and_none_is_lost():
    succeeds(
        COUNTED
        + """
import threading
def work():
    for _ in range(50): dm.MemoryUSMShared(64)
dm.MemoryUSMShared(64)
threads = [threading.Thread(target=work) for _ in range(8)]
with uc.counting() as c:
    for t in threads: t.start()
    for t in threads: t.join()
assert (c.allocations, c.bytes_allocated, c.frees) == (400, 400 * 64, 400), c
"""
    )


def test_calls_are_listed_by_name():
    succeeds(
        COUNTED
        + """
m = dm.MemoryUSMShared(16)
with uc.counting() as c:
    m.copy_to_host()
assert c.calls["urEnqueueUSMMemcpy"] == 1 and "urUSMFree" not in c.calls, c.calls
assert repr(c) == "Counts(copies=1, bytes_copied=16)", c
"""
    )


def test_counting_works_after_other_libraries_were_imported():
    succeeds(
        "import dpctl, dpctl.memory\n" + COUNTED + "assert dm.MemoryUSMHost(1) and uc.enabled()"
    )


def test_enabling_twice_changes_nothing():
    succeeds(COUNTED + "uc.enable()\nassert dm.MemoryUSMHost(1) and uc.enabled()")


def test_counting_after_the_first_use_of_sycl_is_an_error():
    result = run("import dpctl; dpctl.get_devices(); import usmx.counters as c; c.enable()")
    assert result.returncode == 1
    assert "RuntimeError: the SYCL runtime of this process was used before" in result.stderr


def test_counting_without_enabling_is_an_error():
    result = run("import usmx.counters as c\nwith c.counting(): pass")
    assert "RuntimeError: nothing is counted yet: call usmx.counters.enable()" in result.stderr


def test_a_child_counts_from_its_start_with_the_environment():
    out = succeeds(
        """
        import dpctl.memory as dm
        dm.MemoryUSMShared(64)
        import usmx.counters as c
        c.enable()
        print(c.Counts().values()["shared_bytes"], c._read()[0]["shared_bytes"])
        """,
        **usmx.counters.environment(),
    )
    assert out.split() == ["0", "64"]


def test_other_subscribers_and_layers_are_kept(monkeypatch):
    monkeypatch.setenv("XPTI_SUBSCRIBERS", "/somewhere/libother.so")
    monkeypatch.setenv("UR_ENABLE_LAYERS", "UR_LAYER_PARAMETER_VALIDATION")
    variables = usmx.counters.environment()
    assert variables["XPTI_SUBSCRIBERS"].startswith("/somewhere/libother.so,/")
    assert variables["UR_ENABLE_LAYERS"] == "UR_LAYER_PARAMETER_VALIDATION;UR_LAYER_TRACING"


def test_a_program_can_be_counted_from_the_command_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys, dpctl.memory as m; m.MemoryUSMHost(int(sys.argv[1]))")
    result = subprocess.run(
        [sys.executable, "-m", "usmx.counters", str(program), "4096"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stderr.splitlines()]
    counts = dict(line for line in lines if len(line) == 2)
    assert counts["host_bytes"] == "4,096"
    assert counts["copies"] == "0"
