"""Records next to numbers: moved as they are, and refused where numbers are computed with."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import usmx

PADDED = np.dtype([("a", "u1"), ("b", "f8")], align=True)
PACKED = np.dtype([("a", "u1"), ("b", "f8"), ("c", "i2", (3,))])

#: `x` has numbers, `r` records of the type `al`.
CALLS = [
    "x.astype(al)",
    "x.reshape(2,1).astype(al)",
    "usmx.astype(x,al)",
    "usmx.full(3,1,dtype=al)",
    "usmx.full(3,2.5,al)",
    "usmx.ones(3,al)",
    "usmx.arange(3,dtype=al)",
    "usmx.linspace(0,1,3,dtype=al)",
    "usmx.asarray([1,2],dtype=al)",
    "usmx.asarray(x,dtype=al)",
    "usmx.array(x,dtype=al)",
    "usmx.sum(x,dtype=al)",
    "usmx.prod(x,dtype=al)",
    "usmx.mean(x,dtype=al)",
    "usmx.std(x,dtype=al)",
    "usmx.cumsum(x,dtype=al)",
    "usmx.add(x,x,dtype=al)",
    "np.add(x,x,dtype=al)",
    "usmx.add(x,1,out=r)",
    "usmx.sqrt(x,out=r)",
    "usmx.sum(x,out=usmx.zeros((),al))",
    "usmx.max(x,out=usmx.zeros((),al))",
    "usmx.concatenate([x,x],dtype=al)",
    "usmx.concatenate([x,r])",
    "usmx.where(x>1,x,r)",
    "usmx.where(x>1,r,r)",
    "r+1",
    "r==r",
    "-r",
    "abs(r)",
    "r.sum()",
    "r.max()",
    "r.mean()",
    "r.any()",
    "r.all()",
    "usmx.sort(r)",
    "usmx.argsort(r)",
    "usmx.argmax(r)",
    "usmx.cumsum(r)",
    "usmx.dot(r,r)",
    "r@r",
    "usmx.unique(r)",
    "usmx.nonzero(r)",
    "usmx.count_nonzero(r)",
    "usmx.isnan(r)",
    "usmx.round(r)",
    "usmx.clip(r,0,1)",
    "bool(r[:1])",
    "float(r[:1])",
    "int(r[0:1])",
    "r.astype('f4')",
    "r.astype(bool)",
    "r.view('f8')",
    "usmx.searchsorted(r,r)",
    "usmx.searchsorted(x,r)",
    "usmx.take(x,r)",
    "x[r]",
    "r[r]",
    "r[0]=x[0]",
    "r[:]=x",
    "r[:]=1",
    "r[[0,1]]=x",
    "r[[0]]=x[:1]",
    "r[r['b']<1]=x[0]",
    "usmx.put(r,[0],[1])",
    "usmx.fill_diagonal(usmx.zeros((2,2),al),1)",
    "r.fill(1)",
    "usmx.copy(r,x)",
    "usmx.copyto(r,x)",
    "np.copyto(r,x)",
    "usmx.copyto(x,r)",
    "usmx.histogram(r)",
    "usmx.bincount(r)",
    "usmx.median(r)",
    "usmx.percentile(r,50)",
    "usmx.partition(r,0)",
    "usmx.random.uniform(0,1,3).astype(al)",
    "usmx.fuse(lambda a:a+1)(r)",
    "usmx.ElementwiseKernel('T a','T b','b=a','k')(r)",
    "usmx.matmul(r,r)",
    "usmx.linalg.norm(r)",
    "usmx.fft.fft(r)",
    "r.tolist()",
    "str(r)",
    "r.item(0)",
    "usmx.diff(r)",
    "usmx.einsum('i->',r)",
    "usmx.tensordot(r,r,1)",
    "usmx.outer(r,x)",
    "np.asarray(r).astype(al)",
    "usmx.equal(r,1)",
    "usmx.isin(r,r)",
    "usmx.flip(r)",
    "usmx.diag(r)",
    "usmx.trace(usmx.zeros((2,2),al))",
    "usmx.tril(usmx.zeros((2,2),al))",
    "usmx.nan_to_num(r)",
    "usmx.maximum(r,r)",
    "usmx.result_type(r,x)",
    "usmx.can_cast(r.dtype,'f4')",
    "usmx.promote_types(al,'f4')",
    "usmx.iinfo(al)",
    "usmx.finfo(al)",
    "usmx.interp(r,x,x)",
    "usmx.insert(usmx.zeros(6,al),1,(9,9.0))",
    "usmx.delete(r,0)",
    "usmx.append(r,x)",
    "usmx.pad(r,1)",
    "usmx.repeat(r,r)",
    "usmx.repeat(r,2)",
    "usmx.tile(r,2)",
    "usmx.stack([r,x])",
    "usmx.add.reduce(r)",
    "usmx.add.at(r,[0],1)",
    "usmx.add.accumulate(r)",
    "usmx.add.outer(r,r)",
    "x+=r",
    "x[:]=r",
    "x[0]=r[0]",
    "usmx.atleast_2d(r).astype('i4')",
    "(x+1).astype(al)",
    "(usmx.ones(9000)+1).astype(al)",
    "usmx.ones_like(x,dtype=al)",
    "usmx.full_like(x,1,dtype=al)",
    "usmx.eye(2,dtype=al)",
    "usmx.tri(2,dtype=al)",
    "usmx.identity(2,dtype=al)",
    "usmx.fromfunction(lambda i:i,(3,),dtype=al)",
    "usmx.frombuffer(b'12345678'*4,dtype=al)",
    "usmx.loadtxt(['1 2'],dtype=al)",
    "usmx.cov(r)",
    "usmx.var(r)",
    "usmx.ptp(r)",
    "usmx.average(r)",
    "usmx.nansum(r)",
    "usmx.logical_and(r,r)",
    "r & r",
    "r<r",
    "not r[:1]",
    "usmx.array_equal(r,r)",
    "usmx.allclose(r,r)",
    "usmx.isclose(r,r)",
    "usmx.packbits(r)",
    "usmx.trapezoid(r)",
    "usmx.convolve(r,r)",
    "usmx.quantile(r,.5)",
    "usmx.choose(r,[x,x])",
    "usmx.select([r],[x])",
    "usmx.compress(r,x)",
    "usmx.extract(r,x)",
    "usmx.digitize(x,r)",
    "usmx.vander(r)",
    "usmx.cross(r,r)",
    "usmx.kron(r,r)",
    "usmx.meshgrid(r,r)",
    "usmx.ravel(r)",
    "usmx.triu_indices(2)",
    "usmx.real(r)",
    "usmx.imag(r)",
    "r.real",
    "r.T",
    "usmx.angle(r)",
    "usmx.sinc(r)",
    "divmod(r,r)",
    "r**2",
    "pow(r,2)",
    "r<<1",
    "~r",
]

PROGRAM = """
import sys
import numpy as np
import usmx

al = np.dtype([("a", "u1"), ("b", "f8")], align=True)
for call in sys.stdin.read().splitlines():
    x, r = usmx.asarray([9, 9.0]), usmx.zeros(2, al)
    print(call, flush=True)
    try:
        exec(call)
    except (TypeError, ValueError, IndexError, AttributeError, RuntimeError) as e:
        assert str(e)
print("ended")
"""


def test_no_call_with_records_ends_the_process() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        input="\n".join(CALLS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines()[-1] == "ended", (run.returncode, run.stdout[-200:], run.stderr)


def test_numbers_are_not_cast_to_records(kind: str) -> None:
    for x in (usmx.ones(3, usm_type=kind), usmx.ones(5000, usm_type=kind) + 1):
        with pytest.raises(usmx.InteropError, match="float64 cannot become record"):
            x.astype(PADDED)


def some_records(shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape)) * PACKED.itemsize
    return np.frombuffer(rng.integers(0, 127, size, "u1").tobytes(), PACKED).reshape(shape)


KEYS = {
    "mask": lambda n: np.arange(n.size).reshape(n.shape) % 3 > 0,
    "mask of rows": lambda n: np.arange(len(n)) % 2 > 0,
    "list": lambda n: [0, 2, 2],
    "array": lambda n: np.array([1, 0, -1]),
    "from behind": lambda n: (..., [0, 2]),
    "list, then all": lambda n: ([0, 1], ...),
    "new axis": lambda n: (None, [1]),
    "nothing": lambda n: np.zeros(0, int),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("shape", [(6,), (4, 3), (3, 3, 4)])
@pytest.mark.parametrize("view", ["whole", "reversed", "part", "transposed"])
def test_records_are_indexed_as_in_numpy(key: str, shape, view: str, kind: str) -> None:
    see = {
        "whole": lambda a: a,
        "reversed": lambda a: a[::-1],
        "part": lambda a: a[..., 1:] if a.shape[-1] > 3 else a,
        "transposed": lambda a: a.T,
    }[view]
    memory = some_records(shape, 1).copy()
    ours_memory = usmx.asarray(memory, usm_type=kind)
    theirs, ours = see(memory), see(ours_memory)
    where = KEYS[key](theirs)
    found = ours[where].to_numpy()
    assert found.shape == theirs[where].shape
    assert found.tobytes() == theirs[where].tobytes()
    other = some_records((1,), 2)[0]
    theirs[where] = other
    ours[where] = other
    assert ours_memory.to_numpy().tobytes() == memory.tobytes()


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_records_are_taken_as_in_numpy(axis: int | None, kind: str) -> None:
    theirs = some_records((3, 4), 3)
    ours = usmx.take(usmx.asarray(theirs, usm_type=kind), usmx.asarray([2, 0, 1]), axis=axis)
    expected = np.take(theirs, [2, 0, 1], axis=axis)
    assert ours.shape == expected.shape
    assert ours.to_numpy().tobytes() == expected.tobytes()


def test_records_are_filled_with_one(kind: str) -> None:
    theirs = some_records((5,), 4).copy()
    ours = usmx.asarray(theirs, usm_type=kind)
    for one in ((7, 1.5, (1, 2, 3)), some_records((1,), 5)[0]):
        theirs[:] = one
        ours.fill(one)
        assert ours.to_numpy().tobytes() == theirs.tobytes()
    with pytest.raises(ValueError, match="expected one number"):
        usmx.zeros(3, usm_type=kind).fill((1, 2))


@pytest.mark.parametrize(
    "dtype",
    [PACKED, PADDED, np.dtype([("a", "f4"), ("b", "f8")]), np.dtype([("a", "u1"), ("b", "i2")])],
    ids=["packed", "padded", "of floats", "of integers"],
)
def test_one_record_of_numpy_is_taken_wherever_elements_are(dtype: np.dtype, kind: str) -> None:
    theirs = np.frombuffer(bytes(range(4 * dtype.itemsize)), dtype).copy()
    one = theirs[2]
    ours = usmx.zeros(4, dtype, usm_type=kind)
    ours[0] = one
    ours[1:2] = one
    ours[[2]] = one
    ours[3:].fill(one)
    full = usmx.full(2, one, dtype, usm_type=kind).to_numpy()
    alone = usmx.asarray(one, usm_type=kind).to_numpy()
    for field in dtype.names:
        for made in (*ours.to_numpy(), *full, alone):
            assert made[field].tolist() == one[field].tolist()


# Packed, so that no field but the first is a view; with bytes between; of several numbers.
ORDERED = {
    "packed": PACKED,
    "padded": PADDED,
    "plain": np.dtype([("a", "f4"), ("b", "i4")]),
    "complex and bools": np.dtype([("a", "?"), ("b", "c8"), ("c", "u1", (2, 2))]),
    "nested": np.dtype([("a", "i2"), ("b", [("c", "i2"), ("d", "f4")])]),
}


def few_different(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(9)
    made = np.zeros(shape, dtype)

    def fill(part: np.ndarray) -> None:
        for name in part.dtype.names:
            if part.dtype[name].names is not None:
                fill(part[name])
            else:
                part[name] = rng.integers(0, 2, part[name].shape)

    fill(made)
    return made


@pytest.mark.parametrize("dtype", ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize(("shape", "axis"), [((7,), -1), ((300,), 0), ((4, 5), 0), ((4, 5), None)])
def test_records_are_sorted_by_their_fields_as_in_numpy(dtype, shape, axis, kind: str) -> None:
    theirs = few_different(dtype, shape)
    ours = usmx.asarray(theirs, usm_type=kind)
    last = dtype.names[-1]
    for order in (None, last, [last, "a"]):
        found = usmx.sort(ours, axis=axis, order=order)
        assert repr(found.to_numpy().tolist()) == repr(np.sort(theirs, axis, order=order).tolist())
        assert np.sort(ours, axis=axis, order=order).usm_type == kind
        places = usmx.argsort(ours, axis=axis, order=order).to_numpy()
        want = np.argsort(theirs, axis, order=order, kind="stable")
        np.testing.assert_array_equal(places, want)
    if axis is not None:
        ours.sort(axis)
        theirs.sort(axis)
        assert repr(ours.to_numpy().tolist()) == repr(theirs.tolist())


def test_orders_that_are_no_fields_are_refused(kind: str) -> None:
    r = usmx.zeros(3, PADDED, usm_type=kind)
    with pytest.raises(ValueError, match="order: 'z' is not a field of"):
        usmx.sort(r, order="z")
    with pytest.raises(ValueError, match=r"order: .* names a field twice"):
        usmx.argsort(r, order=["a", "a"])
    with pytest.raises(ValueError, match="order: 'a'; expected None"):
        usmx.sort(usmx.ones(3), order="a")


@pytest.mark.parametrize("dtype", ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize("n", [0, 1, 5, 5000])
def test_records_are_compared_by_their_fields_as_in_numpy(dtype, n: int, kind: str) -> None:
    theirs, other = few_different(dtype, (n,)), few_different(dtype, (n,))[::-1].copy()
    ours, others = usmx.asarray(theirs, usm_type=kind), usmx.asarray(other, usm_type=kind)
    for found, want in (
        (ours == others, theirs == other),
        (ours != others, theirs != other),
        (ours == other, theirs == other),
        (ours[:1] == others, theirs[:1] == other),
    ):
        assert found.dtype == "bool"
        np.testing.assert_array_equal(found.to_numpy(), want)
    assert usmx.array_equal(ours, ours.copy())
    if n:
        np.testing.assert_array_equal((ours == ours[0]).to_numpy(), theirs == theirs[0])
        np.testing.assert_array_equal((ours != theirs[0]).to_numpy(), theirs != theirs[0])


def test_records_of_other_fields_are_not_compared(kind: str) -> None:
    r = usmx.zeros(3, PADDED, usm_type=kind)
    for other in (1, [1, 2], "a", np.ones(3), usmx.ones(3), usmx.zeros(3, [("a", "u1")])):
        with pytest.raises(TypeError, match="records"):
            _ = r == other
    assert (r == None) is False  # noqa: E711
    wider = usmx.zeros(3, [("a", "i8"), ("b", "f4")], usm_type=kind)
    assert (r == wider).all()


@pytest.mark.parametrize("dtype", ORDERED.values(), ids=ORDERED)
def test_different_records_are_found(dtype, kind: str) -> None:
    theirs = few_different(dtype, (40,))
    found = usmx.unique(usmx.asarray(theirs, usm_type=kind), True, True, True)
    values, first, inverse, counts = np.unique(theirs, True, True, True)
    assert repr(found[0].to_numpy().tolist()) == repr(values.tolist())
    for one, want in zip(found[1:], (first, inverse, counts), strict=True):
        np.testing.assert_array_equal(one.to_numpy(), want)


def test_some_fields_are_a_view_of_the_records(kind: str) -> None:
    theirs = some_records((5,), 6).copy()
    ours = usmx.asarray(theirs, usm_type=kind)
    for names in (["a", "c"], ["b"], ["a", "b", "c"], ["c"]):
        part, want = ours[names], theirs[names]
        assert part.dtype == want.dtype
        assert repr(part.to_numpy().tolist()) == repr(want.tolist())
        if PACKED.itemsize % PACKED[names[0]].base.itemsize == 0:
            assert repr(part[1:3][names[0]].to_numpy().tolist()) == repr(
                want[1:3][names[0]].tolist()
            )
        assert repr(part[[0, 2]].to_numpy().tolist()) == repr(want[[0, 2]].tolist())
        assert part.pointer == ours.pointer
        assert not part.flags.writeable
    ours[0] = theirs[0] = some_records((1,), 7)[0]
    assert repr(ours[["b", "c"]].to_numpy().tolist()) == repr(theirs[["b", "c"]].tolist())


def test_some_fields_are_assigned_and_the_others_stay(kind: str) -> None:
    for dtype in (PACKED, PADDED, np.dtype([("a", "f4"), ("b", "i4"), ("c", "f4")])):
        last = dtype.names[-1]
        theirs = few_different(dtype, (5,))
        ours = usmx.asarray(theirs, usm_type=kind)
        other = np.array([(k, k + 1) for k in range(5)], [("x", "i4"), ("y", "f8")])
        for names, value in (
            (["a", "b"], (3, 4)),
            (["b", "a"], other),
            (["b", "a"], usmx.asarray(other, usm_type=kind)),
            ([last], 9),
            (["a", last], 2),
        ):
            theirs[names] = usmx.asnumpy(value) if isinstance(value, usmx.ndarray) else value
            ours[names] = value
            assert repr(ours.to_numpy().tolist()) == repr(theirs.tolist())
        theirs[["a", "b"]] = theirs[["b", "a"]].copy()
        ours[["a", "b"]] = np.asarray(ours.to_numpy())[["b", "a"]]
    with pytest.raises(KeyError, match="'z' is not a field"):
        ours[["a", "z"]] = 1
    with pytest.raises(ValueError, match="value: has 2 fields, the index names 1"):
        ours[["a"]] = other


def test_fields_that_a_view_cannot_have_are_refused(kind: str) -> None:
    r = usmx.zeros(3, PADDED, usm_type=kind)
    with pytest.raises(ValueError, match="a view has each field once, in the order"):
        _ = r[["b", "a"]]
    with pytest.raises(ValueError, match="a view has each field once, in the order"):
        _ = r[["a", "a"]]
    with pytest.raises(KeyError, match="'z' is not a field of"):
        _ = r[["a", "z"]]
    with pytest.raises(ValueError, match="'z' is not a field of"):
        _ = r["z"]
    with pytest.raises(IndexError, match="only records have fields"):
        _ = usmx.ones(3)[["a"]]
