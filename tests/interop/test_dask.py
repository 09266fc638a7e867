"""Arrays of usmx in chunks of Dask: by the entry points of the wheel, in threads and processes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys

import dask
import dask.array as da
import dask_programs
import numpy as np
import pytest
from dask.base import tokenize
from dask.sizeof import sizeof
from dask_programs import ON_THE_HOST, A
from PIL import Image

import usmx

#: Those of which the result is NumPy's, also of chunks that the host sees.
OF_NUMPY = {*ON_THE_HOST} - {"cholesky"}
#: Those that give SciPy arrays of NumPy and of usmx, which it refuses with SCIPY_ARRAY_API=1.
MIXED_FOR_SCIPY = {"solve", "inverse"}


def result_of(program, kind, **where):
    def asx(a):
        return a if kind is None else usmx.asarray(a, usm_type=kind)

    def x(a):
        return da.from_array(asx(a), chunks=5, asarray=False)

    return eval(program, {**vars(dask_programs), "x": x, "asx": asx}).compute(**where)


def check(name, kind, **where):
    program = dask_programs.PROGRAMS[name]
    if name in (ON_THE_HOST if kind == "device" else MIXED_FOR_SCIPY):
        why = "the host cannot access device memory|Multiple namespaces for array inputs"
        with pytest.raises(TypeError, match=why):
            result_of(program, kind, **where)
        return None
    got = result_of(program, kind, **where)
    assert isinstance(got, np.ndarray if name in OF_NUMPY else usmx.ndarray)
    expected = result_of(program, None, scheduler="sync")
    np.testing.assert_allclose(np.asarray(got.tolist()), expected, rtol=1e-10, atol=1e-10)
    return got


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("name", dask_programs.PROGRAMS)
def test_programs_have_numpys_results(name, kind):
    check(name, kind, scheduler="threads")


@pytest.mark.parametrize("kind", ["shared", "device"])
def test_dask_weighs_them_as_numpys(kind):
    theirs = sizeof(np.ones(1 << 16))
    assert theirs <= sizeof(usmx.ones(1 << 16, usm_type=kind)) < 1.01 * theirs


def test_what_dask_weighs_does_not_hold_its_operands():
    total = (usmx.ones(1 << 16) * 2).sum()
    assert total._is_deferred
    assert sizeof(total) < 1000
    assert not total._is_deferred


def test_tokens_are_those_of_the_elements():
    x = usmx.arange(30000, dtype="float32")
    assert tokenize(x) == tokenize(usmx.arange(30000, dtype="float32") + 0)
    assert tokenize(x) != tokenize(x[::-1])
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        assert da.from_array(x, chunks=999).name == da.from_array(x + 0, chunks=999).name


@pytest.mark.parametrize("kind", ["device", "shared"])
def test_the_back_end_creates_them(kind):
    with dask.config.set({"array.backend": "usmx", "usmx.usm_type": kind}):
        made = [
            da.ones((4, 6), chunks=2),
            da.zeros(5, chunks=2, dtype="int32"),
            da.full((4, 6), 7, chunks=2),
            da.arange(10, chunks=3),
            da.from_array(A, chunks=3).to_backend("usmx"),
        ]
    for one in made:
        got = one.compute(scheduler="threads")
        assert isinstance(got, usmx.ndarray)
        assert got.usm_type == kind
        assert isinstance(one.to_backend("numpy").compute(scheduler="threads"), np.ndarray)
    assert made[2].compute(scheduler="sync").tolist() == [[7] * 6] * 4
    assert made[3].compute(scheduler="sync").tolist() == list(range(10))


def test_random_numbers_are_the_same_for_the_same_seed():
    with dask.config.set({"array.backend": "usmx"}):
        one, same, other = (
            da.random.default_rng(s).normal(size=(8, 8), chunks=4) for s in (1, 1, 2)
        )
        state = da.random.RandomState(1).uniform(size=9, chunks=3)
        assert one.name == same.name != other.name
        a = one.compute(scheduler="threads")
        b = da.random.default_rng(1).normal(size=(8, 8), chunks=4).compute(scheduler="sync")
        assert isinstance(state.compute(scheduler="threads"), usmx.ndarray)
    assert isinstance(a, usmx.ndarray)
    assert (a.to_numpy() == b.to_numpy()).all()
    assert len({float(v) for v in a.to_numpy().ravel()}) == 64


@pytest.mark.parametrize("kind", ["shared", "host"])
def test_frames_are_the_memory_itself(kind):
    from distributed.protocol import deserialize, serialize

    x = usmx.arange(1000, dtype="float32", usm_type=kind)
    header, frames = serialize(x)
    assert header["serializer"] == "dask"
    assert np.asarray(frames[0]).__array_interface__["data"][0] == x.pointer
    back = deserialize(header, [bytearray(frames[0])])
    assert back.usm_type == kind
    assert back.tolist() == x.tolist()


@pytest.mark.parametrize(
    "x",
    [
        usmx.asarray(np.asfortranarray(A)),
        usmx.asarray(A, usm_type="shared")[:, ::2],
        usmx.asarray(np.zeros(3, [("a", "<f4"), ("b", "<i2", (2,))])),
        usmx.ones(3, dtype="bfloat16"),
        usmx.empty((0, 3)),
        usmx.asarray(2.5),
    ],
    ids=["fortran", "strided", "record", "bfloat16", "empty", "scalar"],
)
def test_every_array_travels_in_frames(x):
    from distributed.protocol import deserialize_bytes, serialize_bytes

    back = deserialize_bytes(serialize_bytes(x))
    assert (back.shape, back.dtype, back.usm_type) == (x.shape, x.dtype, x.usm_type)
    assert back.flags.f_contiguous == (x.flags.f_contiguous or back.ndim < 2)
    assert tokenize(back) == tokenize(x.copy("A"))


@pytest.mark.parametrize(
    "name", ["concatenate", "take", "tensordot", "einsum", "empty", "divide", "percentile",
             "numel", "nannumel"]
)  # fmt: skip
def test_dask_finds_each_of_its_functions_of_chunks(name):
    from dask.array import dispatch

    assert callable(getattr(dispatch, f"{name}_lookup").dispatch(usmx.ndarray))


@pytest.mark.parametrize("kind", ["device", "shared"])
def test_blocks_that_stand_alone_are_not_copied_to_be_joined(kind):
    from dask.array.core import _concatenate2

    blocks = [[usmx.full((3, 4), float(k), usm_type=kind)] for k in range(2)]
    joined = _concatenate2(blocks, axes=[0, 1])
    assert joined.tolist() == [[0.0] * 4] * 3 + [[1.0] * 4] * 3
    assert _concatenate2(blocks[:1], axes=[0, 1]).pointer == blocks[0][0].pointer


# --- values that spill ----------------------------------------------------------------------------


def test_a_worker_that_has_too_many_spills_them(tmp_path):
    from distributed.spill import SpillBuffer

    buffer = SpillBuffer(str(tmp_path), target=10 << 16)
    for k in range(16):
        buffer[f"x{k}"] = usmx.full(1 << 13, float(k)).reshape(8, -1)
    assert len(buffer.slow) >= 5
    assert float(buffer["x3"].sum()) == 3.0 * (1 << 13)


@pytest.fixture
def kept(tmp_path):
    from usmx.dask import SpillBuffer

    return SpillBuffer(str(tmp_path), target=5 << 16, device_limit=3 << 16)


def test_device_memory_spills_to_the_host_and_then_to_disk(kept):
    for k in range(12):
        kept[k] = usmx.full(1 << 13, float(k), usm_type="device")
    assert list(kept.device) == [9, 10, 11]
    assert sorted(kept.memory) == [5, 6, 7, 8]
    assert sorted(kept.disk) == [0, 1, 2, 3, 4]
    for k in (0, 6, 11):  # from disk, from the host, from the device
        assert kept[k].usm_type == "device"
        assert kept[k].to_numpy().tolist() == [k] * (1 << 13)
    assert list(kept.device) == [6, 0, 11] or set(kept.device) == {0, 6, 11}
    assert len(kept) == 12
    assert sorted(kept) == list(range(12))


def test_containers_spill_with_what_is_in_them(kept):
    kept["a"] = {"x": usmx.ones(1 << 14, usm_type="device"), "y": [1, "text"]}
    kept["b"] = (usmx.zeros(1 << 14, usm_type="device"), np.arange(3))
    assert list(kept.device) == ["b"]
    assert float(kept["a"]["x"].sum()) == 1 << 14
    assert kept["a"]["y"] == [1, "text"]
    assert list(kept.device) == ["a"]


def test_deleted_and_replaced_values_are_gone(kept):
    for value in (1.0, 2.0):
        for k in range(12):
            kept[k] = usmx.full(1 << 13, value, usm_type="device")
    assert float(kept[0][0]) == 2.0
    for k in range(12):
        del kept[k]
    assert not kept
    assert kept.evict() == -1
    with pytest.raises(KeyError):
        kept[0]


def test_evict_writes_to_disk(kept):
    kept["x"] = usmx.ones(1 << 12, usm_type="shared")
    assert kept.fast
    assert kept.evict() >= 1 << 15
    assert list(kept.disk) == ["x"]
    assert float(kept["x"].sum()) == 1 << 12


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"target": 0}, "target"), ({"target": 1, "device_limit": -1}, "device_limit")],
)
def test_wrong_limits_are_named(tmp_path, arguments, named):
    from usmx.dask import SpillBuffer

    with pytest.raises(ValueError, match=named):
        SpillBuffer(str(tmp_path), **arguments)


# --- a scheduler and two processes ----------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    from distributed import Client

    from usmx.dask import LocalCluster

    with (
        LocalCluster(n_workers=2, memory_limit="1200MB", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_a_worker_has_its_device(client):
    selectors = client.run(lambda: os.environ["ONEAPI_DEVICE_SELECTOR"])
    assert len(selectors) == 2
    assert set(selectors.values()) == {"opencl:cpu"}


@pytest.mark.parametrize("kind", ["device", "shared"])
@pytest.mark.parametrize("name", dask_programs.PROGRAMS)
def test_programs_run_in_processes(client, name, kind):
    got = check(name, kind)
    if name in ("operators", "moments", "products", "overlap", "rechunk"):
        assert got.usm_type == kind


def test_arrays_are_scattered_and_gathered(client):
    x = usmx.asarray(A, usm_type="device")
    there = client.scatter(x, broadcast=True)
    back = client.submit(lambda v: v * 2, there).result(timeout=100)
    assert back.usm_type == "device"
    assert (back.to_numpy() == 2 * A).all()


def written(handle, place, value):
    """Where the memory is here, and what it holds."""
    x = handle.open()
    x[place] = value
    x.wait()
    return os.getpid(), x.to_numpy().tolist()


def test_workers_of_one_machine_open_the_memory_of_a_handle(client):
    x = usmx.ipc.share(usmx.zeros(3))
    workers = list(client.scheduler_info()["workers"])
    seen = [
        client.submit(written, usmx.ipc.Handle(x), k, k + 1.0, workers=[worker]).result(timeout=100)
        for k, worker in enumerate(workers)
    ]
    assert len({process for process, _ in seen} | {os.getpid()}) == 3
    assert [values for _, values in seen] == [[1, 0, 0], [1, 2, 0]]
    assert x.tolist() == [1, 2, 0]


@pytest.fixture
def small_workers(tmp_path):
    """Two of 300 MB each, Python and the driver included; other tests' clients come back after."""
    from distributed import Client

    from usmx.dask import LocalCluster

    # Dask imports xarray where it finds it, and with it pandas and pyarrow: 70 MB.
    without = tmp_path / "without_xarray.py"
    without.write_text("import sys\nsys.modules['xarray'] = None\n")
    # What a worker would compile is in the folder of programs: the compiler alone takes 270 MB.
    with (
        dask.config.set({"array.backend": "usmx", "usmx.usm_type": "device"}),
        LocalCluster(n_workers=1, memory_limit="2GB", dashboard_address=None) as cluster,
        Client(cluster),
    ):
        x = counted(32).persist()
        assert float(x.sum().compute()) == 32 * (32 * CHUNK - 1) * CHUNK / 2
        x.partitions[0].compute()
        del x
    with (
        LocalCluster(
            n_workers=2, memory_limit="300MB", dashboard_address=None, preload=str(without)
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


CHUNK = 1 << 20


def counted(chunks):
    return da.arange(chunks * CHUNK, chunks=CHUNK, dtype="float64")


def test_two_gigabytes_of_device_memory_are_summed_by_workers_of_300_mb(small_workers):
    chunks = 256
    with dask.config.set({"array.backend": "usmx", "usmx.usm_type": "device"}):
        x = counted(chunks).persist()
        assert x.nbytes > 2 * 10**9
        total = float(x.sum().compute())
        first = x.partitions[0].compute()
    assert total == chunks * CHUNK * (chunks * CHUNK - 1) / 2
    assert first.usm_type == "device"
    spilled = small_workers.run(lambda dask_worker: dask_worker.data.spilled_total.disk)
    assert sum(spilled.values()) > 1.5e9
    assert len(spilled) == 2  # none was ended by its nanny
    del x


@pytest.mark.parametrize("kind", ["device", "shared"])
def test_chunks_are_shuffled_and_cut_again(client, kind):
    values = np.random.default_rng(4).normal(size=(400, 300))
    order = np.random.default_rng(5).permutation(400)
    groups = [part.tolist() for part in np.array_split(order, 8)]
    x = da.from_array(usmx.asarray(values, usm_type=kind), chunks=(50, 100), asarray=False)
    moved = da.shuffle(x, groups, axis=0).rechunk((400, 30)).compute()
    assert moved.usm_type == kind
    np.testing.assert_array_equal(moved.to_numpy(), values[order])


def test_more_than_the_limit_is_summed_by_spilling(client):
    with dask.config.set({"array.backend": "usmx"}):
        x = da.ones((40, 1 << 21), chunks=(1, 1 << 21)).cumsum(axis=1).persist()
        assert float(x[:, -1].sum().compute()) == 40 * (1 << 21)
        spilled = client.run(lambda dask_worker: dask_worker.data.spilled_total.disk)
    assert sum(spilled.values()) > 1 << 24


def test_a_worker_that_ends_loses_nothing(client):
    with dask.config.set({"array.backend": "usmx"}):
        x = da.arange(1000, chunks=50, dtype="float64").persist()
        first, _ = client.scheduler_info()["workers"]
        client.run(os._exit, 1, workers=[first], on_error="ignore", wait=False)
        assert float((x * 2).sum().compute()) == 999 * 1000


def test_the_example_draws_a_picture(run_program, examples, tmp_path):
    said = run_program(sys.executable, examples / "dask" / "julia.py", tmp_path / "julia.png")
    assert said == "32 pieces by 2 workers, as by one\n"
    assert Image.open(tmp_path / "julia.png").size == (1024, 256)
