# A snapshot is what people look at when memory is gone: it must show every block of every pool, who
# holds it and how it came to that, and be a page that opens anywhere and runs nothing.
# SPDX-License-Identifier: Apache-2.0
import inspect
import json
import re
import xml.etree.ElementTree as ET

import pytest
from gate import Gate

import usmx
import usmx.memory as um


@pytest.fixture
def history():
    um.record_history()
    yield
    um.record_history(False)


def here():
    return inspect.currentframe().f_back.f_lineno


def owners_of(snapshot):
    return {place.line: (size, count) for place, size, count in snapshot.owners if place}


def test_what_is_alive_is_shown_with_the_line_that_made_it(history, kind):
    before = um.snapshot().used[kind]
    a = usmx.empty(1000, "u1", usm_type=kind)
    line = here() - 1
    s = um.snapshot()
    assert s.used[kind] - before == 1000
    assert owners_of(s)[line] == (1000, 1)
    assert s.held >= 1000
    address = a.pointer
    found = [b for p in s.pools for c in p.chunks for b in c.blocks] + s.direct
    (block,) = [b for b in found if b.address == address and b.state == "used"]
    assert block.asked == 1000
    assert block.bytes >= 1000
    assert block.owner.file == __file__
    del a
    gone = um.snapshot()
    assert line not in owners_of(gone)
    assert gone.used[kind] == before
    assert owners_of(s)[line] == (1000, 1)  # the first one does not change


def test_the_timeline_tells_what_was_in_use_and_when(history):
    base = um.snapshot().used["device"]
    a = usmx.empty(5000, "u1", usm_type="device")
    b = usmx.empty(7000, "u1", usm_type="device")
    del a
    s = um.snapshot()
    levels = [m.used["device"] - base for m in s.timeline]
    steps = [x for k, x in enumerate(levels) if k == 0 or x != levels[k - 1]]
    assert steps == [0, 5000, 12000, 7000]
    times = [m.time for m in s.timeline]
    assert times == sorted(times)
    assert s.timeline[-1].held == s.held
    assert b.nbytes == 7000


def test_history_keeps_the_latest_and_all_owners(history):
    um.record_history(most=10)
    kept = usmx.empty(123, "u1")
    line = here() - 1
    for _ in range(20):
        usmx.empty(10, "u1")
    s = um.snapshot()
    assert owners_of(s)[line] == (123, 1)
    assert s.dropped > 0
    assert len(s.timeline) <= 12
    assert kept.nbytes == 123
    with pytest.raises(ValueError, match="most: 0"):
        um.record_history(most=0)


def test_a_trace_serves_as_history():
    with usmx.trace():
        a = usmx.empty(321, "u1")
        line = here() - 1
        assert owners_of(um.snapshot())[line] == (321, 1)
    assert a.nbytes == 321


def test_without_history_there_is_the_present_alone():
    s = um.snapshot()
    assert not s.has_history
    assert len(s.timeline) == 1
    assert all(place is None for place, _, _ in s.owners)
    assert "record_history" in s._repr_html_()


def test_every_chunk_of_a_pool_is_filled_by_its_blocks():
    kept = [usmx.empty(n, "u1", usm_type="device") for n in (1, 100, 5000, 300_000, 3 << 20)]
    del kept[1]
    for pool in um.snapshot().pools:
        for chunk in pool.chunks:
            at = chunk.address
            for block in chunk.blocks:
                assert block.address == at
                assert block.state in ("used", "free", "waiting")
                assert 0 <= block.asked <= block.bytes
                at += block.bytes
            assert at == chunk.address + chunk.bytes
        assert pool.held == sum(c.bytes for c in pool.chunks)
        used = [b for c in pool.chunks for b in c.blocks if b.state == "used"]
        assert pool.used == sum(b.asked for b in used)


def test_a_block_that_waits_for_its_queue_is_shown_as_waiting():
    queue = usmx.Queue(usmx.Device(), in_order=True)
    kernel = usmx.RawKernel(
        "USMX_KERNEL(1) k(char* x, uint64_t* where) { *x = 1; *where = uint64_t(x); }", "k"
    )
    x = usmx.empty(200_001, "i1", usm_type="device", queue=queue)
    # Asked of the kernel: an address that Python has read may be in use by other libraries.
    where = usmx.empty(1, "u8", usm_type="shared", queue=queue)
    kernel[1](x, where, queue=queue).wait()
    address = int(where[0])

    def state():
        blocks = [b for p in um.snapshot().pools for c in p.chunks for b in c.blocks]
        return next(b.state for b in blocks if b.address <= address < b.address + b.bytes)

    assert state() == "used"
    with Gate(queue):
        kernel[1](x, where, queue=queue)
        del x
        assert state() == "waiting"


def test_the_page_needs_nothing_and_its_picture_is_valid(history, tmp_path):
    kept = [usmx.empty(n, "u1", usm_type="device") for n in (100, 100_000, 3 << 20)]
    s = um.snapshot()
    path = tmp_path / "memory.html"
    s.save(path)
    page = path.read_text()
    assert page == s.html()
    assert not re.search(
        r"<script|<link|<img|https?://(?!www\.w3\.org/2000/svg)|@import|url\(", page
    )
    s.save(tmp_path / "memory.svg")
    tree = ET.fromstring((tmp_path / "memory.svg").read_text())
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    titles = " ".join(t.text for t in tree.iter("{http://www.w3.org/2000/svg}title"))
    assert "device USM in use" in titles
    assert __file__ in page
    assert len(kept) == 3


def test_the_picture_stays_small_with_many_blocks(history):
    kept = [usmx.empty(64, "u1", usm_type="host") for _ in range(3000)]
    assert len(um.snapshot().svg()) < 400_000
    assert len(kept) == 3000


def test_names_are_escaped(history):
    code = compile("kept = usmx.empty(77, 'u1')", "<b>&evil.py", "exec")
    scope = {"usmx": usmx}
    exec(code, scope)
    s = um.snapshot()
    assert "<b>&evil" not in s.html()
    assert "&lt;b&gt;&amp;evil.py:1" in s.html()
    ET.fromstring(s.svg())


def test_a_snapshot_is_fit_for_json(history):
    a = usmx.empty(55, "u1", usm_type="shared")
    content = json.loads(json.dumps(um.snapshot().to_dict()))
    assert content["used"]["shared"] >= 55
    assert any(owner["bytes"] == 55 for owner in content["owners"])
    assert content["timeline"][-1]["held"] == content["held"]
    assert a.nbytes == 55


def test_it_says_in_a_line_what_is_held():
    a = usmx.empty(10, "u1", usm_type="device")
    assert re.match(
        r"<usmx.memory.Snapshot: in use .*; .* held, \d+ pools with", repr(um.snapshot())
    )
    assert a.nbytes == 10


# --- what notebooks show


def test_an_array_shows_values_shape_and_place_in_a_notebook(kind):
    a = usmx.arange(12, dtype="i4", usm_type=kind).reshape(3, 4)
    html = a._repr_html_()
    for text in ("(3, 4)", "int32", kind, usmx.Device().filter_string, "48 of", str(a)):
        assert text in html
    ET.fromstring(html)


def test_a_large_array_shows_its_edges_and_copies_no_more(kind):
    a = usmx.arange(10_000_000, dtype="f4", usm_type=kind).reshape(1000, 10_000)
    with usmx.trace() as t:
        html = a._repr_html_()
    assert len(html) < 20_000
    assert str(a) in html
    assert sum(e.bytes for e in t.events if e.action in ("copy", "host copy")) == 0


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,), (2, 3, 4), (1,) * 8])
def test_every_shape_has_a_picture(shape):
    ET.fromstring(usmx.zeros(shape, "i2")._repr_html_())


def test_a_resource_shows_all_that_it_stands_on_with_figures(kind):
    pool = um.PoolResource(um.UsmResource(kind))
    counted = um.StatisticsResource(um.LimitingResource(pool, 1 << 30))
    kept = counted.allocate(5000)
    html = counted._repr_html_()
    root = ET.fromstring(html)
    rows = [[cell.text or "" for cell in row.iter("td")] for row in root.iter("tr")]
    assert [row[0] for row in rows] == [
        "StatisticsResource",
        "LimitingResource",
        "PoolResource",
        "UsmResource",
    ]
    assert "bytes 4.9 KiB" in rows[0][1]
    assert "total blocks 1" in rows[0][1]
    assert f"held {pool.stats()['held'] >> 20}.0 MiB" in rows[2][1]
    assert root.findtext("caption") == f"{kind} USM on {usmx.Device().filter_string}"
    assert kept.nbytes == 5000


def test_an_explanation_is_a_table_in_a_notebook():
    x = usmx.ones(1000, "float32")
    root = ET.fromstring(usmx.explain(usmx.sqrt(x) < 2)._repr_html_())
    _, row = root.iter("tr")
    text, shape, operations, read, written, saved = ("".join(td.itertext()) for td in row)
    assert "sqrt" in text
    assert (shape, operations) == ("(1000,)", "2")
    assert (read, written) == ("4,000", "1,000")
    assert saved == "8,000"
    assert "pre" in {part.tag for part in row.iter()}, "columns of a text align"
    done = usmx.explain(x)._repr_html_()
    assert "computed: no kernel is needed" in done
    ET.fromstring(done)


def test_an_explanation_counts_in_plain_words():
    x = usmx.ones(1000, "float32")
    assert "k0: 1 operation on (1000,)" in str(usmx.explain(usmx.sqrt(x)))
    assert "k0: 2 operations on (1000,)" in str(usmx.explain(usmx.sqrt(x) + 1))


def test_devices_show_themselves_in_a_notebook():
    html = usmx.Device()._repr_html_()
    assert usmx.Device().filter_string in html
    ET.fromstring(html)


def test_records_with_evil_field_names_are_escaped():
    import numpy as np

    a = usmx.asarray(np.zeros(2, dtype=[("<script>", "f4")]))
    html = a._repr_html_()
    assert "<script>" not in html
    ET.fromstring(html)
