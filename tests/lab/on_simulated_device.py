"""Pytest plugin: the whole suite on the simulated device.

    python tests/lab/lab.py simulated python -m pytest -p on_simulated_device

A test fails if the device reports a defect while it runs.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
from collections.abc import Iterator

import exclusions
import lab
import pytest

import usmx

EXCLUDED = {
    "test_simulated_device.py": "starts the simulated device itself, and the plain one beside it",
    "test_fault_injection.py": "starts the simulated device itself",
}

device = lab.SimulatedDevice()


def pytest_configure(config: pytest.Config) -> None:
    plugin = exclusions.Exclusions("on the simulated device", EXCLUDED)
    config.pluginmanager.register(plugin, "exclusions")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    before = device.defects
    yield
    found = device.defects - before
    if found:
        pytest.fail(f"the simulated device reported {found} defects, see stderr", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    gc.collect()
    usmx._usmx._drain()
    terminalreporter.write_line(
        f"simulated device: {device.defects} defects, {device.live} allocations alive"
    )
