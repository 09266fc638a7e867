"""Pytest plugin: the Python tests on a device that is named, as of a machine with a GPU.

    make test-device DEVICE=cuda:0
    ONEAPI_DEVICE_SELECTOR=cuda:0 python -m pytest -p on_device tests/python

What only some devices have is left out by `backend_row.needs`; here is what needs no device, or
another one. The end of a run says what was left out and why.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import exclusions
import pytest

import usmx

_SIMULATED = "starts the simulated device, a layer of OpenCL"

EXCLUDED = {
    "test_simulated_device.py": _SIMULATED,
    "test_fault_injection.py": _SIMULATED,
    "test_a_failed_copy_raises_and_the_next_one_works": _SIMULATED,
    "test_a_device_without_it_names_the_argument_and_the_remedy": _SIMULATED,
    "test_arrays_of_numpy_are_used_in_place_or_copied_in_and_out": _SIMULATED,
    "test_type_checkers.py": "no device is involved",
    "test_nvptx.py": "compiles for a device that is not here",
}


def pytest_configure(config: pytest.Config) -> None:
    device = usmx.Device()
    plugin = exclusions.Exclusions(f"on {device.filter_string}", EXCLUDED)
    config.pluginmanager.register(plugin, "exclusions")


def pytest_report_header() -> str:
    device = usmx.Device()
    asked = os.environ.get("ONEAPI_DEVICE_SELECTOR", "")
    return f"device: {device.filter_string}, {device.name}, driver {device.driver_version}; {asked}"
