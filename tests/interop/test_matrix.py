# Every row of the matrix under every law: memory of usmx in other libraries, and theirs in usmx.
# What a row says does not hold must really not hold: a reason that is not needed any more fails.
# SPDX-License-Identifier: Apache-2.0
import gc
import types

import numpy as np
import psutil
import pytest
from rows import ALL, LAWS, ROWS, USES

import usmx
import usmx.counters
import usmx.memory

ELEMENTS = [float(n) for n in range(16)]
TWICE = usmx.ElementwiseKernel("T x", "T y", "y = 2 * x")


def first_of(t):
    """The address of the first element of what has `__sycl_usm_array_interface__`."""
    there = t.__sycl_usm_array_interface__
    return there["data"][0] + (there.get("offset") or 0) * int(there["typestr"][2:])


def filled(t):
    """Memory of any library after the sixteen numbers were written there."""
    numbers = np.arange(16, dtype="f4")
    if hasattr(t, "copy_from_host"):
        t.copy_from_host(numbers.view("u1"))
    else:
        where = t.data if isinstance(getattr(t, "data", None), np.ndarray) else np.asarray(t)
        where.view("u1")[:64] = numbers.view("u1")
    return t


class Program:
    """The code of a row, with its imports and its variables."""

    def __init__(self, row, **names):
        self.row = row
        self.names = {"np": np, "usmx": usmx, "first_of": first_of, "filled": filled, **names}
        exec(row.imports, self.names)

    def get(self, code):
        return eval(code, self.names)

    def run(self, code):
        exec(code, self.names)

    def drop(self, name):
        self.names.pop(name)
        gc.collect()

    def __getattr__(self, name):
        return self.get(getattr(self.row, name))


def fresh(kind, read_only=False):
    x = usmx.asarray(np.array(ELEMENTS, "f4"), usm_type=kind)
    x.queue.wait()
    x.flags.writeable = not read_only
    return x


def double(x):
    """Let usmx write: by a kernel, where it is not an array of bytes."""
    if x.dtype == np.uint8:
        x[:] = (2 * np.array(ELEMENTS, "f4")).view("u1")
    else:
        TWICE(x, x)
    x.queue.wait()


def numbers(x):
    return x.to_numpy().ravel().view("f4").tolist()


def quietly(exchange):
    """What the exchange gave, and what was copied and allocated for it."""
    exchange()  # the first time may make queues
    with usmx.counters.counting() as runtime, usmx.trace() as own:
        kept = exchange()
    ours = [e for e in own.events if e.action in ("allocate", "copy", "host copy")]
    assert runtime.copies == 0, runtime
    assert runtime.allocations == 0, runtime
    assert not ours, ours
    return kept


def resident():
    return psutil.Process().memory_info().rss


# --- the laws: each raises AssertionError, or what the library raises


class Out:
    """From usmx to the library."""

    def __init__(self, row, kind):
        self.p = Program(row, x=fresh(kind))
        self.kind = kind

    def exchanged(self):
        self.p.names["t"] = self.p.out
        return self.p

    def pointer(self):
        x = self.p.names["x"]
        assert self.exchanged().address == x.pointer

    def no_copy(self):
        quietly(lambda: self.p.out)

    def ours_seen(self):
        p = self.exchanged()
        double(p.names["x"])
        assert list(p.read) == [2 * e for e in ELEMENTS]

    def theirs_seen(self):
        p = self.exchanged()
        p.run(p.row.write)
        assert numbers(p.names["x"]) == [42, *ELEMENTS[1:]]

    def lifetime(self):
        below = usmx.memory.get_resource(kind=self.kind)
        counted = usmx.memory.StatisticsResource(below)
        with usmx.memory.using(counted):
            self.p.names["x"] = fresh(self.kind)
        p = self.exchanged()
        before = counted.stats()["blocks"]
        p.drop("x")
        hoard = [usmx.full(16, 7, "float32", usm_type=self.kind) for _ in range(100)]
        assert list(p.read) == ELEMENTS
        assert counted.stats()["blocks"] == before == 1
        p.drop("t")
        usmx._usmx._Testing.collect()
        assert counted.stats()["blocks"] == 0
        assert len(hoard) == 100

    def read_only(self):
        p = self.p
        p.names["x"] = fresh(self.kind, read_only=True)
        try:
            t = p.out
        except (ValueError, TypeError, BufferError):
            return  # refused: nothing can be written
        p.names["t"] = t
        assert p.is_read_only
        assert p.address == p.names["x"].pointer


class Into:
    """From the library to usmx."""

    def __init__(self, row, kind=None):
        self.p = Program(row)

    def made(self, code=None):
        self.p.names["t"] = self.p.get(code) if code else self.p.make
        return self.p

    def exchanged(self):
        p = self.made()
        p.names["x"] = p.into
        return p

    def pointer(self):
        p = self.exchanged()
        assert p.names["x"].pointer == p.address
        assert numbers(p.names["x"]) == ELEMENTS

    def no_copy(self):
        self.made()
        quietly(lambda: self.p.into)

    def ours_seen(self):
        p = self.exchanged()
        double(p.names["x"])
        assert list(p.read) == [2 * e for e in ELEMENTS]

    def theirs_seen(self):
        p = self.exchanged()
        p.run(p.row.write)
        assert numbers(p.names["x"]) == [42, *ELEMENTS[1:]]

    def lifetime(self):
        p = self.exchanged()
        p.drop("t")
        hoard = [self.made().names.pop("t") for _ in range(100)]
        assert numbers(p.names["x"]) == ELEMENTS
        p.drop("x")
        hoard.clear()

        # Memory that is not given back shows in the size of the process.
        def growth(rounds):
            before = resident()
            for _ in range(rounds):
                large = [self.exchanged().names.pop("x") for _ in range(200)]
                del large
                self.p.drop("t")
            return resident() - before

        growth(3)
        # A heap stops growing once blocks of all sizes were used; what is lost is lost each time.
        assert any(growth(50) < 1_000_000 for _ in range(6))  # 100 bytes for each of 10 000

    def read_only(self):
        p = self.p
        self.made(p.row.make_read_only)
        assert not p.into.flags.writeable


def cases(direction, code, fails):
    for row in ROWS:
        if not getattr(row, code):
            continue
        for law in LAWS:
            if law == "read-only" and direction is Into and not row.make_read_only:
                continue
            if law == "theirs seen" and not row.write:
                continue
            if law == "ours seen" and direction is Into and row.make == row.make_read_only:
                continue
            for kind in row.kinds if direction is Out else (None,):
                reason = getattr(row, fails).get(law)
                where = "-".join(filter(None, (row.library, law, kind)))
                yield pytest.param(row, law, kind, reason, id=where)


def obey(direction, row, law, kind, reason):
    if kind == "device":
        assert row.kinds == ALL
    judge = getattr(direction(row, kind), law.replace(" ", "_").replace("-", "_"))
    if reason is None:
        judge()
    else:
        with pytest.raises(Exception):  # noqa: B017, PT011
            judge()


@pytest.mark.parametrize(("row", "law", "kind", "reason"), list(cases(Out, "out", "out_fails")))
def test_from_usmx(row, law, kind, reason):
    obey(Out, row, law, kind, reason)


@pytest.mark.parametrize(("row", "law", "kind", "reason"), list(cases(Into, "make", "into_fails")))
def test_to_usmx(row, law, kind, reason):
    obey(Into, row, law, kind, reason)


@pytest.mark.parametrize(
    ("use", "kind"),
    [pytest.param(u, kind, id=f"{u.library}-{kind}") for u in USES for kind in u.kinds],
)
def test_use_in_a_call(use, kind, tmp_path):
    x = fresh(kind)
    p = Program(use, x=x, path=tmp_path)
    with usmx.trace() as own:
        p.run(use.code)
    assert not [e for e in own.events if e.action in ("copy", "host copy")]
    expected = eval(use.expected, {"a": np.array(ELEMENTS, "f4")})
    assert x.to_numpy().tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("row", "what"),
    [
        pytest.param(row, what, id=f"{row.library}-{what}")
        for row in (*ROWS, *USES)
        for what in row.refuses
    ],
)
def test_what_a_library_refuses_it_still_refuses(row, what):
    p = Program(row, x=fresh("shared"))
    with pytest.raises(Exception):  # noqa: B017, PT011
        p.get(what)


def test_a_reason_that_is_not_needed_fails():
    row = next(r for r in ROWS if r.library == "NumPy")
    with pytest.raises(pytest.fail.Exception):
        obey(Out, row, "pointer", "shared", "it copies")


def test_the_laws_find_a_copy():
    copies = types.SimpleNamespace(
        **{**vars(ROWS[0]), "out": "np.array(x)", "into": "usmx.asarray(t, copy=True)"}
    )
    for law in ("pointer", "ours_seen", "theirs_seen"):
        with pytest.raises(AssertionError):
            getattr(Out(copies, "shared"), law)()
        with pytest.raises(AssertionError):
            getattr(Into(copies), law)()
    with pytest.raises(AssertionError):
        Into(copies).no_copy()


def test_the_laws_find_memory_that_lives_too_long():
    for_ever = types.SimpleNamespace(
        **{
            **vars(ROWS[0]),
            "imports": "kept = []",
            "out": "kept.append(np.asarray(x)) or kept[-1]",
            # Of a size that shows whatever else the process gives back meanwhile.
            "into": "kept.append((usmx.asarray(t, copy=False), bytearray(2000))) or kept[-1][0]",
        }
    )
    with pytest.raises(AssertionError):
        Out(for_ever, "shared").lifetime()
    with pytest.raises(AssertionError):
        Into(for_ever).lifetime()
