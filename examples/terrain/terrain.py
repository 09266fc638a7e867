"""Shaded relief of a real elevation model, computed by several libraries on the same bytes.

The model is read once, into USM. A kernel of usmx computes slope, light and open sky on the device,
dpctl counts the heights with a kernel of its own, Numba routes the water, NumPy checks, matplotlib
draws. No library copies; the printed table shows the counted copies.

    python examples/terrain/terrain.py                      # the model that matplotlib ships
    python examples/terrain/terrain.py model.npy --cell 30  # any grid, here of 30 m cells
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import ctypes
import json
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import usmx.counters

usmx.counters.enable()  # before anything uses SYCL

import dpctl.memory  # noqa: E402
import dpctl.program  # noqa: E402
import numpy as np  # noqa: E402
from drainage import accumulate_flow  # noqa: E402
from hops import Journey  # noqa: E402
from picture import Relief, draw  # noqa: E402

METRES_PER_DEGREE = 111_200
TILE = 16
EXAGGERATION = 1.6
KERNEL = Path(__file__).with_name("relief.cpp")
C_TYPES = {"i2": "int16_t", "u2": "uint16_t", "i4": "int32_t", "f4": "float", "f8": "double"}

HISTOGRAM = """
__kernel void histogram(__global const short* elevation, __global int* counts,
                        int lowest, int width) {
  atomic_inc(counts + (elevation[get_global_id(0)] - lowest) / width);
}
"""


@dataclass
class Model:
    """An elevation model: a grid in USM, row 0 in the north, and where it lies."""

    name: str
    grid: Any  # usmx.ndarray, shared memory
    dx: float  # metres between columns
    dy: float  # metres between rows
    extent: tuple[float, float, float, float] | None  # west, east, south, north in degrees
    lowest: int = 0  # of the histogram of heights
    bin_width: int = 1


def read_grid(file: IO[bytes]) -> Any:
    """Read an array of NumPy's format straight into shared USM; nothing holds it in between."""
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, fortran, dtype = read_header(file)
    if len(shape) != 2 or fortran or dtype.str[1:] not in C_TYPES or dtype.str[0] == ">":
        raise SystemExit(
            f"expected a grid of two dimensions in C order with elements of type "
            f"{', '.join(C_TYPES)}, found shape {shape}, dtype {dtype.str}"
        )
    grid = usmx.empty(shape, dtype=dtype, usm_type="shared")
    place = memoryview(np.asarray(grid).reshape(-1).view(np.uint8))
    while place:
        # In pieces, because a compressed file unpacks each piece somewhere first.
        count = file.readinto(place[: 1 << 16])  # type: ignore[attr-defined]
        if not count:
            raise SystemExit("the file ends before the grid does")
        place = place[count:]
    return grid


def read_model(path: Path | None, cell: float) -> Model:
    """Read a .npy file, or a .npz file with `elevation` and, if it has them, its coordinates."""
    name = path.stem if path else "Jacksboro fault, Tennessee"
    if path is None:
        from matplotlib import cbook

        path = Path(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False))
    if path.suffix == ".npy":
        with open(path, "rb", buffering=0) as raw:
            return Model(name, read_grid(raw), cell, cell, None)
    with zipfile.ZipFile(path) as archive:
        members = archive.namelist()
        member = "elevation.npy" if "elevation.npy" in members else members[0]
        with archive.open(member) as packed:
            grid = read_grid(packed)  # type: ignore[arg-type]
    where = np.load(path)
    if not {"dx", "dy", "xmin", "xmax", "ymin", "ymax"} <= set(where):
        return Model(name, grid, cell, cell, None)
    south, north = sorted((float(where["ymin"]), float(where["ymax"])))
    width = METRES_PER_DEGREE * np.cos(np.radians((south + north) / 2))
    return Model(
        name,
        grid,
        abs(float(where["dx"])) * width,
        abs(float(where["dy"])) * METRES_PER_DEGREE,
        (float(where["xmin"]), float(where["xmax"]), south, north),
    )


def address(obj: Any) -> int:
    """Address of the first element, from the protocol's dictionary."""
    return int(obj.__sycl_usm_array_interface__["data"][0])


def reference(z: np.ndarray, dx: float, dy: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the kernel computes, in NumPy and double precision: slope, shade, sky."""
    reach = 12
    p = np.pad(z.astype(float), reach, mode="edge")
    rows, columns = z.shape

    def h(r: int, c: int) -> np.ndarray:
        return p[reach + r : reach + r + rows, reach + c : reach + c + columns]

    east = (h(-1, 1) + 2 * h(0, 1) + h(1, 1) - h(-1, -1) - 2 * h(0, -1) - h(1, -1)) / (8 * dx)
    north = (h(-1, -1) + 2 * h(-1, 0) + h(-1, 1) - h(1, -1) - 2 * h(1, 0) - h(1, 1)) / (8 * dy)
    slope = np.degrees(np.arctan(np.hypot(east, north)))
    e, n = EXAGGERATION * east, EXAGGERATION * north
    normal = np.stack([-e, -n, np.ones_like(e)]) / np.sqrt(1 + e * e + n * n)
    half, root = 0.5, np.sqrt(0.75)
    suns = [
        (0.58, (-half, half, np.sqrt(half))),
        (0.17, (-root, 0.0, half)),
        (0.17, (0.0, root, half)),
        (0.08, (-root * np.sqrt(half), -root * np.sqrt(half), half)),
    ]
    shade = sum(w * np.maximum(0, np.tensordot(sun, normal, axes=1)) for w, sun in suns)
    quarter = [(0, 1), (1, 2), (1, 1), (2, 1)]
    sky = np.zeros_like(slope)
    for _ in range(4):
        for r, c in quarter:
            steepest = np.zeros_like(slope)
            for k in range(1, reach // max(abs(r), abs(c)) + 1):
                rise = (h(k * r, k * c) - h(0, 0)) / (k * np.hypot(r * dy, c * dx))
                steepest = np.maximum(steepest, rise)
            up = EXAGGERATION * steepest
            sky += (1 - up / np.sqrt(1 + up * up)) / 16
        quarter = [(c, -r) for r, c in quarter]
    return slope, np.asarray(shade), sky


def make_room(model: Model, journey: Journey) -> dict[str, Any]:
    """Grids for the results, each of them USM that all libraries can use."""
    shape = model.grid.shape
    z = np.asarray(model.grid)
    with journey.hop("usmx", "makes room for the results") as hop:
        results = {
            name: usmx.zeros(shape, dtype=dtype, usm_type="shared")
            for name, dtype in {
                "slope": "f4",
                "shade": "f4",
                "sky": "f4",
                "receiver": "i4",
                "area": "i4",
            }.items()
        }
        lowest, highest = int(np.floor(z.min())), int(np.ceil(z.max()))
        model.lowest, model.bin_width = lowest, max(1, (highest - lowest) // 100)
        bins = (highest - lowest) // model.bin_width + 1
        results["histogram"] = usmx.zeros(bins, dtype="i4", usm_type="shared")
        hop.pointer = address(model.grid)
    return results


def light(model: Model, results: dict[str, Any], journey: Journey) -> None:
    """Slope, shade and sky by a kernel that usmx compiles now."""
    sample = C_TYPES[np.asarray(model.grid).dtype.str[1:]]
    kernel = usmx.RawKernel(KERNEL.read_text(), "relief", options=[f"-DSAMPLE={sample}"])
    kernel.compile()
    rows, columns = model.grid.shape
    padded = tuple(-(-n // TILE) * TILE for n in (rows, columns))
    with journey.hop("usmx", "lights it: a kernel with local memory") as hop:
        kernel[padded, (TILE, TILE)](
            model.grid,
            rows,
            columns,
            model.dx,
            model.dy,
            EXAGGERATION,
            results["slope"],
            results["shade"],
            results["sky"],
        ).wait()
        hop.pointer = address(model.grid)


def count_heights(model: Model, results: dict[str, Any], journey: Journey) -> None:
    """The histogram of heights: on the device by dpctl where it can compile, else by NumPy."""
    z = np.asarray(model.grid)
    queue = dpctl.memory.as_usm_memory(model.grid).sycl_queue
    if z.dtype == np.int16 and queue.backend == dpctl.backend_type.opencl:
        program = dpctl.program.create_program_from_source(queue, HISTOGRAM)
        kernel = program.get_sycl_kernel("histogram")
        with journey.hop("dpctl", "counts heights: a kernel in OpenCL C") as hop:
            heights = dpctl.memory.as_usm_memory(model.grid)
            counts = dpctl.memory.as_usm_memory(results["histogram"])
            numbers = [ctypes.c_int(model.lowest), ctypes.c_int(model.bin_width)]
            queue.submit(kernel, [heights, counts, *numbers], [z.size]).wait()
            hop.pointer = heights._pointer
        return
    with journey.hop("NumPy", "counts heights") as hop:
        counts = np.asarray(results["histogram"])
        np.add.at(counts, ((z.ravel() - model.lowest) // model.bin_width).astype(int), 1)
        hop.pointer = z.__array_interface__["data"][0]


def drain(model: Model, results: dict[str, Any], journey: Journey) -> None:
    """Where the water flows, by Numba."""
    grids = [np.asarray(a) for a in (model.grid, results["receiver"], results["area"])]
    accumulate_flow(*(grid[:3, :3].copy().reshape(3, 3) for grid in grids))  # compiles
    with journey.hop("Numba", "routes the water over it") as hop:
        hop.pointer = accumulate_flow(*grids)


def steep_share(model: Model, results: dict[str, Any], journey: Journey) -> float:
    """The part of the area steeper than 30 degrees, by dpnp where it is installed."""
    try:
        import dpnp
        from dpnp import tensor
    except ImportError:
        return float((np.asarray(results["slope"]) > 30).mean())
    with journey.hop("dpnp", "takes it over as an array of its own") as hop:
        slope, grid = (dpnp.asarray(tensor.asarray(a)) for a in (results["slope"], model.grid))
        hop.pointer = address(grid)
    return float(dpnp.mean(slope > 30))


def check(model: Model, results: dict[str, Any], journey: Journey) -> dict[str, float]:
    """The largest differences between the kernel's results and NumPy's."""
    z = np.asarray(model.grid)
    with journey.hop("NumPy", "computes the light again, to compare") as hop:
        wanted = reference(z, model.dx, model.dy)
        errors = {
            name: float(np.abs(np.asarray(results[name]) - want).max())
            for name, want in zip(("slope", "shade", "sky"), wanted, strict=True)
        }
        hop.pointer = z.__array_interface__["data"][0]
    return errors


def paint(model: Model, results: dict[str, Any], path: Path, journey: Journey) -> None:
    """The picture."""
    z = np.asarray(model.grid)
    with journey.hop("matplotlib", f"draws {path.name}") as hop:
        shown = {name: np.asarray(a) for name, a in results.items()}
        place = (model.dx, model.dy, model.extent)
        draw(Relief(model.name, z, *place, model.lowest, model.bin_width, **shown), path)
        hop.pointer = z.__array_interface__["data"][0]


def control(model: Model, journey: Journey) -> None:
    """A copy on purpose, which shows that the counters work."""
    with journey.hop("control", "dpctl copies it on purpose", control=True) as hop:
        copy = dpctl.memory.MemoryUSMShared(model.grid.nbytes)
        copy.copy_from_device(dpctl.memory.as_usm_memory(model.grid))
        hop.pointer = copy._pointer


def main(arguments: list[str] | None = None) -> int:
    """Run all steps; 0 if no library copied and the results are right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help=".npy or .npz; default: a real model")
    parser.add_argument("-o", "--output", type=Path, default=Path("terrain.png"))
    parser.add_argument("--cell", type=float, default=30.0, help="metres between cells (30)")
    parser.add_argument("--json", type=Path, help="write the table there too")
    options = parser.parse_args(arguments)

    journey = Journey()
    with journey.hop("Python", "reads the file into shared USM") as hop:
        model = read_model(options.file, options.cell)
        hop.pointer = address(model.grid)
    results = make_room(model, journey)
    light(model, results, journey)
    count_heights(model, results, journey)
    drain(model, results, journey)
    steep = steep_share(model, results, journey)
    errors = check(model, results, journey)
    paint(model, results, options.output, journey)
    control(model, journey)

    grid = model.grid
    journey.show(
        f"{model.name}: {grid.shape[0]} x {grid.shape[1]} {grid.dtype}, {grid.nbytes:,} bytes "
        f"at {address(grid):#x}",
        "Copies, bytes and allocations are those of the SYCL runtime, counted during each step.\n"
        f"{100 * steep:.1f} % is steeper than 30 degrees; the largest catchment has "
        f"{np.asarray(results['area']).max():,} cells.\n"
        "Largest difference between kernel and NumPy: "
        + ", ".join(f"{name} {error:.0e}" for name, error in errors.items()),
    )
    if options.json:
        table = {"errors": errors, "hops": journey.as_dicts()}
        options.json.write_text(json.dumps(table, indent=1))

    computing = [hop for hop in journey.hops[2:] if not hop.control]
    right = max(errors["slope"] / 90, errors["shade"], errors["sky"]) < 1e-4
    right &= int(np.asarray(results["histogram"]).sum()) == grid.size
    shared = all(h.copies == h.allocations == 0 for h in computing)
    shared &= all(h.pointer == address(grid) for h in computing)
    moved = journey.hops[-1].copies > 0 and journey.hops[-1].bytes_copied == grid.nbytes
    if not (right and shared and moved):
        print(f"FAILED: results {right}, zero copy {shared}, control {moved}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
