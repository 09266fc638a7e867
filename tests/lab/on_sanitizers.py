"""Pytest plugin: the whole suite with a sanitized module.

PYTHONPATH=build/asan/python python tests/lab/lab.py sanitized python -m pytest -p on_sanitizers
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import exclusions
import pytest

EXCLUDED = {
    "test_simulated_device.py": "its programs crash on purpose; a sanitizer catches them first",
    "test_fault_injection.py": "runs crashing programs as well, and takes minutes when sanitized",
}


def pytest_configure(config: pytest.Config) -> None:
    plugin = exclusions.Exclusions("under the sanitizers", EXCLUDED)
    config.pluginmanager.register(plugin, "exclusions")
