"""Pytest plugin: the whole suite on the simulated device.

    python tests/lab/lab.py simulated python -m pytest -p on_simulated_device

A test fails if the device reports a defect while it runs; a process that a test starts ends at its
first one.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import exclusions
import lab
import pytest

import usmx

#: Without them each allocation has pages of its own, and the device sees where it ends.
POOLED = "is about pools, which are turned off on the simulated device"

#: They ask what is written, found and kept on the host, which no device changes.
NO_DEVICE = "is about files and texts of the host, which the ordinary run reads too"

EXCLUDED = {
    "test_dpnp_computes.py": "dpnp computes by host functions of MKL, also on device memory",
    "refusing_many_times": (
        "counts host memory, as in the ordinary run; here each repetition maps pages for ever"
    ),
    "test_simulated_device.py": "starts the simulated device itself, and the plain one too",
    "test_fault_injection.py": "starts the simulated device itself",
    "test_type_checkers.py": NO_DEVICE,
    "test_bench_command.py": NO_DEVICE,
    "test_cli.py": NO_DEVICE,
    "test_kept_texts.py": NO_DEVICE,
    "test_operation_help.py": NO_DEVICE,
    "test_program_cache.py": NO_DEVICE,
    "test_program_memory.py": NO_DEVICE,
    "test_programs_of_packages.py": NO_DEVICE,
    "test_files_of_the_user_of_each_type": "the same kernels as the test of the example",
    "test_nvptx.py": "compiles for a device that is not here",
    "test_onemkl.py": "oneMKL computes on the host, in memory of the device",
    "test_nvidia.py": "the stand-ins compute on the host, in memory of the device",
    "test_ipc_of_devices.py": "the stand-in puts files in the place of memory of the device",
    "[nvidia": "the same; these tests run with the kernels of usmx",
    "[onemkl": "the same; these tests run with the kernels of usmx",
    "test_every_row_of_every_benchmark": "dpnp adds arrays of device memory on the host",
    "comes_back_only_after_the_commands_of_others": POOLED,
    "an_address_that_is_used_again_is_not_the_memory": POOLED,
    "test_out_of_memory_says_who_holds_what": POOLED,
    "dropped_while_its_queue_is_busy_comes_back_there": POOLED,
    "test_a_child_of_fork_ends_while_other_threads_allocate": POOLED,
    "other_threads_are_in_the_driver": "forks with locks of this device, which no fork waits for",
    "test_a_block_that_waits_for_its_queue_is_shown_as_waiting": POOLED,
    "test_a_first_launch_leaves_its_memory_to_the_order_of_its_queue": POOLED,
    "test_asking_for_the_text_of_a_kernel_neither_waits_nor_exposes_its_memory": POOLED,
    "test_a_million_bytes_a_thousand_times_stay_a_few": POOLED,
    "test_no_call_of_anything_public_crashes": (
        "its producers describe memory that another thread frees, a defect that this device reports"
    ),
}

device = lab.SimulatedDevice()


def pytest_configure(config: pytest.Config) -> None:
    plugin = exclusions.Exclusions("on the simulated device", EXCLUDED)
    config.pluginmanager.register(plugin, "exclusions")
    config.pluginmanager.register(Totals(), "simulated_device_totals")
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        usmx.devices()  # the layer reads the settings of this process
        # Those that tests start may print nothing but defects: the tests look at their stderr.
        os.environ["USMX_SIMULATED_DEVICE"] = "abort"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    before = device.defects
    yield
    found = device.defects - before
    if found:
        pytest.fail(f"the simulated device reported {found} defects, see stderr", pytrace=False)


class Totals:
    """What the devices of all processes saw; with pytest-xdist each worker has its own."""

    def __init__(self) -> None:
        self.defects = self.live = 0

    def add(self, defects: int, live: int) -> None:
        self.defects += defects
        self.live += live

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        gc.collect()
        usmx._usmx._Testing.drain()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["simulated_device"] = (device.defects, device.live)
        else:
            self.add(device.defects, device.live)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self.add(*getattr(node, "workeroutput", {}).get("simulated_device", (0, 0)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(
            f"simulated device: {self.defects} defects, {self.live} allocations alive"
        )
