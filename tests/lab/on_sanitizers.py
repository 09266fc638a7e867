"""Pytest plugin: the whole suite with a sanitized module.

PYTHONPATH=$PWD/build/asan/python python tests/lab/lab.py sanitized \\
    python -m pytest -p on_sanitizers
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import exclusions
import pytest

GROWTH = "measures the memory of the process, in which ASan keeps what was freed"

EXCLUDED = {
    "leaks_nothing": GROWTH,
    "leak_nothing": GROWTH,
    "hundred_thousand": GROWTH,
    "ten_thousand_failures": GROWTH,
    "ten_thousand_exchanges": GROWTH,
    "leak_neither": GROWTH,
    "the_leak_check_sees": GROWTH,
    "test_simulated_device.py": "its programs crash on purpose; a sanitizer catches them first",
    "nothing_of_a_compiler": "hides the compiler's folders, in one of which the sanitizer lives",
    "other_threads_are_in_the_driver": "its forks took more than 100 s when sanitized",
    "test_type_checkers.py": "sanitized type checkers take minutes and run nothing of usmx",
    "test_nvptx.py": "compiles for a device that is not here, in programs that are not sanitized",
    "without_the_driver_the_error": "copies the installed package, which this one is not",
    "test_a_tbb_that_was_first": "sets LD_PRELOAD, which the sanitizer's libraries need",
    "test_text_that_is_too_large_for_memory": "ASan ends the process where memory is exhausted",
    "test_a_host_without_enough_memory": "ASan ends the process where memory is exhausted",
    "test_programs_stay_within_the_limit": GROWTH,
    "test_the_doctor_never_advises": "the sanitizer's environment sets LD_LIBRARY_PATH itself",
    "test_other_libraries_may_ask_for_devices": "needs the .pth of the installed package",
    "test_fault_injection.py": "runs crashing programs as well, and takes minutes when sanitized",
}


def pytest_configure(config: pytest.Config) -> None:
    plugin = exclusions.Exclusions("under the sanitizers", EXCLUDED)
    config.pluginmanager.register(plugin, "exclusions")
