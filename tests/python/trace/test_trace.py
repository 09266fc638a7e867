# A trace must contain what happened and nothing else: each operation once, with its
# bytes, kinds, times and line, from all threads and all libraries that are said to be seen.
# SPDX-License-Identifier: Apache-2.0
import inspect
import json
import pickle
import secrets
import threading
from pathlib import Path

import numpy as np
import pytest

import usmx
import usmx.memory as um
from usmx._tracing.summary import Row


def here():
    """The line from which this is called."""
    return inspect.currentframe().f_back.f_lineno


def actions(events, *names):
    return [e for e in events if e.action in names]


def test_allocations_are_recorded_by_kind_and_bytes(kind):
    with usmx.trace() as t:
        a = usmx.empty((10, 10), "f4", usm_type=kind)
        address = a.pointer
        del a
    (allocated,) = actions(t.events, "allocate")
    (freed,) = actions(t.events, "free")
    assert (allocated.bytes, allocated.kind, allocated.address) == (400, kind, address)
    assert (freed.bytes, freed.kind, freed.address) == (400, kind, address)
    assert allocated.device == usmx.Device().filter_string
    assert t.summary().allocations == 1
    assert t.summary().bytes_allocated == 400


def test_a_copy_says_from_where_to_where(kind):
    numbers = np.arange(64, dtype="i4")
    with usmx.trace() as t:
        a = usmx.asarray(numbers, usm_type=kind)
        b = usmx.empty(64, "i4", usm_type="host")
        b[:] = a
        back = a.to_numpy()
    assert [(e.source_kind, e.kind, e.bytes) for e in t.copies] == [
        (None, kind, 256),
        (kind, "host", 256),
        (kind, None, 256),
    ] or (kind == "host" and [e.bytes for e in t.copies] == [256] * 3)
    assert (back == numbers).all()
    assert (t.summary().copies, t.summary().bytes_copied) == (3, 768)


def test_times_lie_within_the_trace_and_rows_add_up():
    with usmx.trace() as t:
        for _ in range(5):
            usmx.zeros(1000, "f4", usm_type="device").to_numpy()
    for event in t.events:
        assert t.started <= event.begin <= event.end <= t.started + t.duration
        assert event.duration == event.end - event.begin
    summary = t.summary()
    assert sum(row.calls for row in summary.rows if row.what.startswith("copy")) == 5
    assert (summary.fills, summary.copies, summary.allocations) == (5, 5, 5)
    assert summary.bytes_copied == 20_000


def test_every_event_names_the_line_that_asked():
    with usmx.trace() as t:
        a = usmx.asarray(np.ones(8), usm_type="device")
        made = here() - 1
        a.to_numpy()
        copied = here() - 1
        del a
        freed = here() - 1
    lines = {e.action: e.place for e in t.events if e.counts}
    assert lines["allocate"].line == made
    assert lines["copy"].line == copied
    assert lines["free"].line == freed
    assert lines["copy"].file == __file__
    assert lines["copy"].function == "test_every_event_names_the_line_that_asked"


def test_lines_inside_usmx_are_skipped_for_the_one_that_called():
    data = pickle.dumps(usmx.ones(4, usm_type="device"))
    with usmx.trace() as t:
        pickle.loads(data)
        line = here() - 1
    places = {e.place.line for e in t.events if e.counts and e.action in ("allocate", "copy")}
    assert places == {line}


def test_events_of_other_threads_are_recorded_with_their_line_and_number():
    numbers = {}

    def work():
        numbers[threading.get_native_id()] = here() + 1
        usmx.ones(16, "f4", usm_type="device")

    threads = [threading.Thread(target=work) for _ in range(4)]
    with usmx.trace() as t:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    allocated = actions(t.events, "allocate")
    assert len(allocated) == 4
    for event in allocated:
        assert event.thread in numbers
        assert event.place.line == numbers[event.thread]


def test_a_child_of_fork_finds_no_lock_taken(run_python):
    run_python(
        """
        import os, threading, usmx
        a = usmx.arange(10, usm_type="shared")
        stop = threading.Event()
        def work():
            while not stop.is_set(): usmx._usmx._TraceRecorder(1, True).start()
        with usmx.trace() as t:
            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads: thread.start()
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    usmx.trace().start().stop()
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            stop.set()
            for thread in threads: thread.join()
        """,
        timeout=60,
    )


def test_traces_nest_and_each_sees_its_own_part():
    with usmx.trace() as outer:
        usmx.ones(1)
        with usmx.trace() as inner:
            usmx.ones(2)
        usmx.ones(3)
    usmx.ones(4)
    assert outer.summary().allocations == 3
    assert inner.summary().allocations == 1
    assert len(actions(outer.events, "allocate")) == 3


def test_a_trace_and_a_proof_can_be_used_again():
    a = usmx.arange(10, usm_type="device")
    proof = usmx.expect_zero_copy()
    with pytest.raises(usmx.CopyError), proof:
        a.to_numpy()
    with proof as t:
        usmx.asarray(a)
    assert t.copies == []
    assert [e for e in t.events if e.action == "copy"] == []


def test_a_running_trace_can_be_read():
    with usmx.trace() as t:
        usmx.ones(1)
        assert t.summary().allocations == 1
        usmx.ones(1)
        assert t.summary().allocations == 2
        assert "on" in repr(t)
    assert "ended" in repr(t)


def test_what_finds_no_room_is_counted_as_dropped():
    with usmx.trace(most=2) as t:
        usmx.ones(1)
        usmx.ones(1)
    assert len(t.events) == 2
    assert t.dropped > 0
    assert f"{t.dropped:,} events dropped" in repr(t.summary())
    with pytest.raises(ValueError, match="most: 0"):
        usmx.trace(most=0)


def test_a_failed_operation_is_marked_and_not_counted():
    with usmx.trace() as t, pytest.raises(MemoryError):
        um.MemoryUSMDevice(1 << 60)
    (event,) = actions(t.events, "allocate")
    assert event.failed
    assert t.summary().allocations == 0
    assert t.summary().failed >= 1


def test_printing_an_array_is_no_copy():
    a = usmx.arange(100, usm_type="device")
    with usmx.trace() as t:
        text = repr(a) + str(a)
    assert "99" in text
    assert t.copies == []


def test_kernels_are_recorded_by_name_and_with_the_times_of_the_device():
    queue = usmx.Queue(usmx.Device(), enable_profiling=True)
    # With a number that no run had before, so that it is compiled and not read from disk.
    text = "USMX_KERNEL(1) add_one(float* x) { x[usmx::global_id()] += 1; } // "
    kernel = usmx.RawKernel(text + secrets.token_hex(), "add_one")
    x = usmx.zeros(1000, "f4", usm_type="device", queue=queue)
    with usmx.trace() as t:
        kernel[1000](x, queue=queue).wait()
    (event,) = [e for e in actions(t.events, "kernel") if not e.by_runtime]
    assert event.name == "add_one"
    assert event.queue != 0
    assert event.begin <= event.device_begin < event.device_end
    assert (t.summary().kernels, t.summary().builds) == (1, 1)
    assert t.summary().waits >= 1


def test_imports_and_exports_are_recorded_and_are_no_copies():
    class Producer:
        def __init__(self, interface):
            self.__sycl_usm_array_interface__ = interface

    a = usmx.arange(10, usm_type="device")
    with usmx.trace() as t:
        b = usmx.asarray(Producer(a.__sycl_usm_array_interface__))
    assert b.pointer == a.pointer
    summary = t.summary()
    assert (summary.exports, summary.imports, summary.copies, summary.allocations) == (1, 1, 0, 0)
    (imported,) = actions(t.events, "import")
    assert imported.name == "Producer"
    assert imported.address == a.pointer


def test_the_chrome_format_is_what_viewers_expect(tmp_path):
    queue = usmx.Queue(usmx.Device(), enable_profiling=True)
    kernel = usmx.RawKernel("USMX_KERNEL(1) k(float* x) { x[usmx::global_id()] = 1; }", "k")
    with usmx.trace() as t:
        x = usmx.empty(100, "f4", usm_type="device", queue=queue)
        kernel[100](x, queue=queue).wait()
        x.to_numpy()
    path = tmp_path / 'a "trace".json'
    t.export(path)
    content = json.loads(path.read_text())
    events = content["traceEvents"]
    complete = [e for e in events if e["ph"] == "X"]
    assert {e["ph"] for e in events} == {"X", "C", "M"}
    for e in complete:
        assert isinstance(e["name"], str)
        assert e["ts"] >= 0
        assert e["dur"] >= 0
        assert isinstance(e["pid"], int)
        assert isinstance(e["tid"], int)
        assert e["ts"] + e["dur"] <= t.duration / 1000 or e["cat"] == "device"
    host = {e["name"]: e for e in complete if e["cat"] == "usmx"}
    assert host["kernel k"]["args"]["line"].startswith(__file__)
    assert host["copy device to plain"]["args"]["bytes"] == 400
    (event,) = actions(t.copies, "copy")
    assert host["copy device to plain"]["dur"] == pytest.approx(event.duration / 1000)
    (on_device,) = [e for e in complete if e["cat"] == "device"]
    assert on_device["name"] == "kernel k"
    assert on_device["pid"] != host["kernel k"]["pid"]
    names = {(e["name"], e["args"]["name"]) for e in events if e["ph"] == "M"}
    assert ("process_name", f"device {usmx.Device().filter_string}") in names
    assert ("thread_name", threading.current_thread().name) in names
    counters = [e["args"] for e in events if e["ph"] == "C"]
    assert counters[0] == {"device": 400}


def test_a_summary_is_a_table_for_people_and_figures_for_programs():
    with usmx.trace() as t:
        usmx.asarray(np.zeros(1 << 20, "u1"), usm_type="device")
    summary = t.summary()
    text = repr(summary)
    assert "allocate device" in text
    assert "1.0 MiB" in text
    assert "seen: usmx" in text
    html = summary._repr_html_()
    assert html.count("<tr>") == len(summary.rows) + 1
    figures = json.loads(json.dumps(summary.as_dict()))
    assert figures["bytes_copied"] == 1 << 20
    assert figures["rows"][0]["what"] == summary.rows[0].what


def test_names_are_escaped_in_the_summary():
    class Evil:
        pass

    Evil.__name__ = "<script>"
    row = Row("kernel <script>", 1, 0, 5, "<b>")
    with usmx.trace() as t:
        pass
    summary = t.summary()
    summary.rows = [row]
    assert "<script>" not in summary._repr_html_()
    assert "&lt;script&gt;" in summary._repr_html_()


def test_a_copy_that_is_not_waited_for_has_the_times_of_the_device():
    queue = usmx.Queue(usmx.Device(), enable_profiling=True)
    a = usmx.zeros(100_000, "f4", usm_type="device", queue=queue)
    b = usmx.empty(100_000, "f4", usm_type="device", queue=queue)
    with usmx.trace() as t:
        usmx.copy_async(b, a, queue=queue).wait()
        line = here() - 1
    (event,) = actions(t.events, "copy")
    assert (event.bytes, event.source_kind, event.kind) == (400_000, "device", "device")
    assert event.begin <= event.device_begin < event.device_end
    assert event.place.line == line
    assert t.summary().copies == 1


def test_prefetches_fills_and_pitched_copies_are_recorded():
    a = usmx.zeros(1000, "u1", usm_type="shared")
    b = usmx.zeros(1000, "u1", usm_type="device")
    with usmx.trace() as t:
        usmx.prefetch(a)
        usmx.fill(b, 3)
        usmx.memset(a, 1)
        usmx.copy_2d(b, 100, a, 50, 40, 5)
    summary = t.summary()
    assert (summary.fills, summary.copies, summary.bytes_copied) == (2, 1, 200)
    assert [e.bytes for e in actions(t.events, "prefetch")] == [1000]


# --- the proof of zero copy


def test_nothing_is_raised_where_nothing_is_copied(kind):
    a = usmx.arange(100, usm_type=kind)
    with usmx.expect_zero_copy() as t:
        b = usmx.asarray(a)[::-1].reshape(10, 10)
        c = um.as_usm_memory(b)
        if kind != "device":
            np.asarray(a)[:] += 1
        usmx.zeros(5)
    assert c._pointer == a.pointer
    assert t.summary().allocations == 1


def test_a_copy_raises_with_bytes_kinds_and_line():
    a = usmx.arange(100, dtype="f4", usm_type="device")

    def copying():
        a.to_numpy()
        a[::2].copy()

    line = here() - 3
    with pytest.raises(usmx.CopyError) as caught, usmx.expect_zero_copy():
        copying()
    assert isinstance(caught.value, AssertionError)
    text = str(caught.value)
    assert text.startswith("2 copies of 600 bytes where none was expected:\n")
    assert f"copy of 400 bytes from device USM to host memory at {__file__}:{line} in " in text
    assert "copy of 200 bytes from device USM to device USM" in text
    assert text.splitlines()[-1].startswith("watched: usmx")
    first, second = caught.value.copies
    assert (first.bytes, second.bytes) == (400, 200)
    assert first.place.line == line


def test_copies_that_the_host_makes_are_found():
    a = usmx.arange(100, usm_type="shared")
    b = usmx.arange(1000, usm_type="shared")
    for copying in (
        a.to_numpy,
        a.copy,
        a[::2].copy,
        b.copy,
        lambda: a.astype(a.dtype),
        lambda: usmx.repeat(a, 2),
    ):
        with pytest.raises(usmx.CopyError, match="1 copy"), usmx.expect_zero_copy():
            copying()
    with pytest.raises(usmx.CopyError, match="2 copies"), usmx.expect_zero_copy():
        usmx.concat([a, a])
    with usmx.expect_zero_copy():
        a.astype("f4").wait()  # an operation, as a product is


def test_copies_in_other_threads_are_found():
    a = usmx.arange(100, usm_type="device")

    def copying():
        thread = threading.Thread(target=a.to_numpy)
        thread.start()
        thread.join()

    with pytest.raises(usmx.CopyError, match="1 copy"), usmx.expect_zero_copy():
        copying()


def test_small_copies_pass_if_they_may():
    a = usmx.arange(100, dtype="u1", usm_type="device")
    with usmx.expect_zero_copy(least=11):
        a[:10].to_numpy()
    with pytest.raises(usmx.CopyError, match="1 copy of 11 bytes"), usmx.expect_zero_copy(least=11):
        a[:11].to_numpy()


def test_an_exception_of_the_block_passes():
    a = usmx.arange(100, usm_type="device")
    with pytest.raises(ZeroDivisionError), usmx.expect_zero_copy():
        divmod(a.to_numpy().size, 0)


def test_many_copies_make_a_short_message():
    a = usmx.arange(10, usm_type="device")
    with pytest.raises(usmx.CopyError) as caught, usmx.expect_zero_copy():
        [a.to_numpy() for _ in range(50)]
    assert len(caught.value.copies) == 50
    assert "and 30 more" in str(caught.value)
    assert len(str(caught.value).splitlines()) < 25


def test_everyone_cannot_be_watched_without_the_runtimes_reports(run_python):
    result = run_python(
        """
        import usmx
        try:
            with usmx.expect_zero_copy(everyone=True): print("inside")
        except RuntimeError as error: print(error)
        """,
        env={"USMX_TRACE": None, "XPTI_SUBSCRIBERS": None},
    )
    assert "inside" not in result.stdout
    assert "usmx.counters.enable()" in result.stdout


# --- what other libraries do

OTHERS = """
import json, sys, tempfile
import usmx, usmx.memory as um
import dpctl.memory as dm, dpnp, dpnp.tensor as dpt, numpy as np
x = dpt.ones(1000, dtype="f4", usm_type="shared")
x + x
"""


def test_calls_of_other_libraries_appear_with_kinds_names_and_lines(run_python):
    run_python(
        OTHERS
        + """
m = dm.MemoryUSMDevice(1000)
with usmx.trace() as t:
    m.copy_from_host(bytes(1000)); line = sys._getframe().f_lineno
    n = dm.MemoryUSMShared(64)
    n.memset(1)
    y = x + x
    y.sycl_queue.wait()
    a = usmx.asarray(np.ones(10), usm_type="device")
assert t.sees_runtime
s = t.summary()
theirs = [e for e in t.events if e.by_runtime and e.counts]
(copy,) = [e for e in t.copies if e.by_runtime]
assert (copy.bytes, copy.source_kind, copy.kind) == (1000, None, "device"), copy
assert copy.begin < copy.end
(allocation,) = [e for e in theirs if e.action == "driver allocate" and e.bytes == 64]
assert (allocation.kind, allocation.address) == ("shared", n._pointer)
assert [e.name for e in theirs if e.action == "kernel" and "add" in (e.name or "")], theirs
assert s.copies == 2 and s.bytes_copied == 1000 + 80, s  # ours is not counted twice
assert s.fills == 1 and s.kernels == 1, s
assert "other libraries" in repr(s) and "all calls of the SYCL runtime" in repr(s)
""",
        env={"USMX_TRACE": "1"},
    )


def test_the_exchange_with_dpctl_dpnp_and_numpy_copies_nothing_and_their_copies_are_found(
    run_python,
):
    run_python(
        OTHERS
        + """
for kind in ("device", "shared", "host"):
    a = usmx.arange(1000, dtype="f4", usm_type=kind)
    with usmx.expect_zero_copy(everyone=True):
        there = dm.as_usm_memory(a)
        tensor = dpt.asarray(a)
        array = dpnp.asarray(tensor)
        back = [usmx.asarray(o) for o in (there, tensor, array)]
        if kind != "device":
            np.asarray(a)[:] *= 2
            back.append(usmx.asarray(a)[::3])
    assert all(b.pointer == a.pointer for b in back)
    out = dm.MemoryUSMHost(4000)
    tensor_copied = lambda: dpt.copy(tensor)  # its copy is gone when the block ends
    for copying in (lambda: out.copy_from_device(there), tensor_copied,
                    lambda: dpnp.asnumpy(array)):
        try:
            with usmx.expect_zero_copy(everyone=True): copying()
        except usmx.CopyError as error:
            assert "4,000 bytes" in str(error), error
            if copying is tensor_copied:
                assert f"from {kind} USM to {kind} USM" in str(error), error
            assert "<string>:" in str(error), error  # not a line of dpnp's
            assert "watched: usmx and every library" in str(error), error
        else:
            raise SystemExit(f"not found: {copying}")
""",
        env={"USMX_TRACE": "1"},
    )


def test_files_are_not_written_with_an_ending_that_says_something_else(tmp_path: Path) -> None:
    with usmx.trace() as t:
        usmx.ones(3).to_numpy()
    for name in ("trace.png", "trace.htm", "trace.csv"):
        with pytest.raises(ValueError, match=name):
            t.export(tmp_path / name)
    for name in ("page.png", "page.json"):
        with pytest.raises(ValueError, match=name):
            usmx.memory.snapshot().save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    t.export(tmp_path / "trace")
    assert (tmp_path / "trace").read_text()[0] in "[{"


def test_trace_of_an_array_adds_its_diagonal() -> None:
    x = usmx.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert usmx.trace(x).item() == 5.0
    assert usmx.trace(x, offset=1).item() == 2.0
    assert isinstance(usmx.trace(), usmx.tracing.Trace)
