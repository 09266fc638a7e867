"""What the device of the tests can do, as the table of backends says it.

Tests ask `ROW`, the row of the default device, and no name. A test that only some devices can run
says which by ``pytestmark = needs(...)`` or ``@needs(...)``. Elsewhere it is left out, and the end
of the run says how many were and why.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import usmx


class Row(NamedTuple):
    """A device and its row of `src/runtime/backend.cpp`, with what only the device itself knows."""

    #: The filter string of the device, which messages name.
    device: str
    backend: str
    #: The device is the host's cores: few elements are computed without a kernel.
    is_host: bool
    #: The binary of a program can be kept on disk.
    keeps_binaries: bool
    #: Code that was read from disk can leave memory.
    reads_apart: bool
    #: Kernels take structures by value.
    takes_structs: bool
    #: A work-group is a loop on one core: rows are one kernel, short vectors are chosen.
    groups_are_loops: bool
    #: No child of fork can use the driver.
    lost_by_fork: bool
    #: The driver's own copy to pageable memory is used, without staging.
    copies_to_host_by_driver: bool
    most_alignment: int
    #: Types of DLPack for each kind of memory.
    dlpack: dict[str, int]
    #: Kernels may use memory of the host that is not USM.
    uses_host_memory: bool
    #: The host may read and write device memory, as on a processor.
    shows_device_memory: bool
    #: It can be divided.
    divides: bool

    @property
    def counts_few(self) -> int:
        """Kernels that results of few elements in shared memory take."""
        return 0 if self.is_host else 1


def row_of(device: usmx.Device) -> Row:
    fields = usmx._usmx._Testing.backend_row(device)
    kept = {name: fields[name] for name in Row._fields if name in fields}
    return Row(
        device=device.filter_string or device.name,
        backend=fields["name"],
        uses_host_memory="usm_system_allocations" in device.aspects,
        shows_device_memory=device.is_cpu,
        divides=device.max_compute_units > 1 and device.is_cpu,
        **kept,
    )


ROW = row_of(usmx.Device())


def own_device(kind: str) -> tuple[int, int]:
    """What DLPack and Arrow call memory of that kind of the default device."""
    return (ROW.dlpack[kind], 0)


#: What `needs` can name, and what is said of the tests that are left out.
REASONS = {
    "opencl": "is about a driver of OpenCL, which this device does not have",
    "cpu": "is about the CPU device itself: its name, its parts, its driver",
    "parts": "divides the device, which this one cannot be",
    "host_memory": "kernels use the host's own memory, which this device cannot reach",
    "few_on_host": "few elements are computed by the host only where the device is the host",
    "row_groups": "elementwise groups are some rows only where groups are loops",
    "products_in_turn": "products of floats are joined in turn only where groups are loops",
    "kernel_copies": "long copies are made by a kernel or all cores where the device is the host",
    "free_loads": "kernels are loaded while the device is busy; CUDA waits until it is idle",
    "binaries": "programs are kept on disk, and this backend has no binaries that can be read",
    "structs": "kernels take structures by value, and this backend's compiler cannot",
    "limits": "shared memory that the device does not have is refused; CUDA moves pages in and out",
    "onemkl": "oneMKL computes on Intel's devices and on processors",
    "nvidia": "cuBLAS, cuSOLVER and cuFFT compute on CUDA; elsewhere stand-ins need a CPU",
    "ipc": "memory of several processes is a file, whose pages this device does not use",
    "device_handles": "processes open device memory by handles, or by a stand-in that needs a CPU",
    "contexts": "memory is unknown in another context, and this backend has one for each device",
    "own_functions": "exp and others have the same bits everywhere where usmx computes them itself",
    "oneapi": "DLPack's name for the memory is oneAPI's, and this backend has one of its own",
    "staging": "copies to the host are staged, and this driver's own are faster",
    "fork": "a child of fork uses the device, and on this backend none can",
}


def has(what: str, row: Row = ROW) -> bool:
    """Whether a device has what a test needs."""
    return {
        "opencl": row.backend == "opencl",
        "cpu": row.is_host and row.backend == "opencl",
        "parts": row.divides,
        "host_memory": row.uses_host_memory,
        "few_on_host": row.is_host,
        "row_groups": row.groups_are_loops,
        "products_in_turn": row.groups_are_loops,
        "kernel_copies": row.is_host,
        "free_loads": row.backend != "cuda",
        "binaries": row.keeps_binaries,
        "structs": row.takes_structs,
        "limits": row.backend != "cuda",
        "onemkl": row.backend in ("opencl", "level_zero"),
        "nvidia": row.backend == "cuda" or row.shows_device_memory,
        "ipc": row.is_host,
        "device_handles": row.backend in ("cuda", "level_zero") or row.shows_device_memory,
        "contexts": row.backend != "cuda",
        "own_functions": row.groups_are_loops,
        "oneapi": set(row.dlpack.values()) == {14},
        "staging": not row.copies_to_host_by_driver,
        "fork": not row.lost_by_fork,
    }[what]


def needs(*what: str) -> pytest.MarkDecorator:
    """A mark for tests that are left out on devices that lack one of these."""
    unknown = set(what) - REASONS.keys()
    if unknown:
        raise ValueError(f"needs: {sorted(unknown)}; expected some of {sorted(REASONS)}")
    return pytest.mark.needs(*what)


class LeftOut:
    """A pytest plugin that leaves out what the device lacks, and says so at the end."""

    def __init__(self, row: Row = ROW) -> None:
        self.row = row
        self.found: Counter[str] = Counter()

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        kept: list[pytest.Item] = []
        excluded: list[pytest.Item] = []
        for item in items:
            lacks = next(self._lacks(item), None)
            (kept if lacks is None else excluded).append(item)
            if lacks is not None:
                self.found[lacks] += 1
        if excluded:
            config.hook.pytest_deselected(items=excluded)
            items[:] = kept

    def _lacks(self, item: pytest.Item) -> Iterator[str]:
        for mark in item.iter_markers("needs"):
            yield from (what for what in mark.args if not has(what, self.row))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_out"] = dict(self.found)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # Each worker collects everything, so any of them knows.
        self.found |= Counter(getattr(node, "workeroutput", {}).get("left_out", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for what, count in sorted(self.found.items()):
            terminalreporter.write_line(
                f"left out on {self.row.device}: {count} tests that need {what}: {REASONS[what]}"
            )
