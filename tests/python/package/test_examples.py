# The examples run as a user runs them, and check their results.
# SPDX-License-Identifier: Apache-2.0
import importlib.util
import json
import subprocess
import sys

import lab
import matplotlib.image
import numpy as np
import pytest

import usmx

# --- kernels; a second time in the simulator where that is quick ----------------------------------

EXAMPLES = sorted((lab.ROOT / "examples" / "kernels").glob("*.py"))
QUICK = {"vector_sum", "atomic_op", "device_func", "kernel_private_memory", "scan", "strided"}


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_right_results(path, capsys):
    load(path).main()
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if path.stem in QUICK], ids=lambda path: path.stem
)
def test_an_example_gives_right_results_in_the_simulator(path):
    with usmx.simulate():
        load(path).main()


# --- copies while it computes ---------------------------------------------------------------------

OVERLAP = lab.ROOT / "examples" / "overlap" / "overlap.py"


def test_both_ways_give_the_same_and_the_trace_shows_them(tmp_path):
    trace = tmp_path / "both.json"
    result = subprocess.run(
        [sys.executable, OVERLAP, "--pieces", "3", "--size", "20000", "--trace", trace],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "together" in result.stdout
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum("copy" in event["name"] for event in events) >= 2 * 3 * 2
    assert sum("settle" in event["name"] for event in events) >= 2 * 3


# --- several devices ------------------------------------------------------------------------------

SEVERAL = lab.ROOT / "examples" / "several_devices" / "heat.py"


def test_parts_on_several_queues_exchange_their_edges(tmp_path):
    picture = tmp_path / "plate.png"
    result = subprocess.run(
        [sys.executable, SEVERAL, "--size", "100", "--steps", "20", "--picture", picture],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "2 parts have the values of NumPy" in result.stdout
    assert picture.stat().st_size > 100


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_any_number_of_parts_has_the_values_of_one(count):
    several = load(SEVERAL)
    plate = np.random.default_rng(2).random((23, 17)).astype("f4")
    plate[:, [0, -1]] = 0
    got, _ = several.heat(plate, 7, [usmx.Queue(usmx.Device()) for _ in range(count)])
    np.testing.assert_allclose(got, several.heat_of_numpy(plate, 7), rtol=1e-4, atol=1e-6)


# --- the demo: what its table claims was counted, and a control shows that the counters work ------

DEMO = lab.ROOT / "examples" / "terrain" / "terrain.py"


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, str(DEMO), "-o", "out.png", "--json", "table.json", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def journey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terrain")
    result = run(folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder, result.stdout, json.loads((folder / "table.json").read_text())


def hops_of(table, *libraries):
    return [hop for hop in table["hops"] if hop["library"] in libraries]


def test_several_libraries_compute_on_the_same_bytes_without_a_copy(journey):
    _, _, table = journey
    computing = [h for h in table["hops"][2:] if not h["control"]]
    assert {"usmx", "dpctl", "Numba", "NumPy", "matplotlib"} <= {h["library"] for h in computing}
    assert len({h["pointer"] for h in table["hops"] if not h["control"]}) == 1
    for hop in computing:
        assert (hop["copies"], hop["bytes_copied"], hop["allocations"]) == (0, 0, 0), hop


def test_kernels_of_usmx_and_dpctl_ran_where_they_were_counted(journey):
    _, _, table = journey
    assert [h["kernels"] for h in hops_of(table, "usmx")][1:] == [1]
    assert [h["kernels"] for h in hops_of(table, "dpctl")] == [1]


def test_control_moves_the_counters(journey):
    _, _, table = journey
    (control,) = hops_of(table, "control")
    assert control["copies"] == 1
    assert control["allocations"] == 1
    assert control["bytes_copied"] == 344 * 403 * 2
    assert control["pointer"] != table["hops"][0]["pointer"]


def test_reading_makes_one_allocation_and_no_copy(journey):
    _, _, table = journey
    (reading,) = hops_of(table, "Python")
    assert reading["allocations"] == 1
    assert reading["bytes_copied"] == 0


def test_kernel_agrees_with_numpy(journey):
    _, _, table = journey
    assert set(table["errors"]) == {"slope", "shade", "sky"}
    assert table["errors"]["slope"] < 1e-3
    assert max(table["errors"]["shade"], table["errors"]["sky"]) < 1e-5


def test_table_is_printed(journey):
    _, printed, table = journey
    assert f"{table['hops'][0]['pointer']:#x}" in printed
    for word in ("Numba", "dpctl", "control", "copies", "allocations"):
        assert word in printed


def test_picture_is_a_picture_of_the_terrain(journey):
    folder, _, _ = journey
    picture = matplotlib.image.imread(folder / "out.png")
    assert picture.shape[0] > 800
    assert picture.shape[1] > 800
    assert picture.std() > 0.1
    map_part = picture[300:700, 200:800, :3]
    assert len(np.unique((map_part * 255).astype(int).reshape(-1, 3), axis=0)) > 2000
    # Its lower right quarter is the green valley, the lower left the mountains.
    red, green, _ = picture[750:900, 700:750, :3].mean(axis=(0, 1))
    assert green > red
    red, green, _ = picture[850:1000, 100:500, :3].mean(axis=(0, 1))
    assert red > green


def test_files_of_the_user_of_each_type_are_read(tmp_path):
    """In one process: half of the time of each would be imports."""
    y, x = np.mgrid[:70, :90]
    hills = 50 * np.sin(x / 9.0) * np.cos(y / 7.0) + y
    calls = []
    for dtype in ("f4", "f8", "i4"):
        np.save(tmp_path / f"{dtype}.npy", hills.astype(dtype))
        calls.append([f"{dtype}.npy", "--cell", "25"])
    np.savez(tmp_path / "hills.npz", elevation=hills.astype("i2"))
    calls.append(["hills.npz"])
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import terrain\n"
        "for call in json.loads(sys.argv[2]):\n"
        "    assert terrain.main(call) == 0, call\n"
        "    print('read', call[0])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(DEMO.parent), json.dumps(calls)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert [f"read {name}" in result.stdout for name, *_ in calls] == [True] * 4


@pytest.mark.parametrize(
    "grid", [np.zeros(5, "i2"), np.zeros((4, 4), ">i2"), np.zeros((4, 4), "c8")]
)
def test_file_that_is_no_grid_is_refused_with_the_reason(tmp_path, grid):
    np.save(tmp_path / "grid.npy", grid)
    result = run(tmp_path, "grid.npy")
    assert result.returncode == 1
    assert "expected a grid of two dimensions" in result.stderr
    assert grid.dtype.str in result.stderr
