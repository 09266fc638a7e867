"""Every benchmark of the Python package, one after the other: ``python bench [--json]``."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import importlib

from table import Effort, Result, main

#: The files in this folder that have a ``run(effort)``.
TASKS = (
    "exchange",
    "expressions",
    "reductions",
    "launches",
    "memory",
    "transfers",
    "chains",
    "kernels",
    "exercises",
)


def run(effort: Effort) -> list[Result]:
    """Run all of them.

    Parameters
    ----------
    effort : Effort
        How long to measure.
    """
    return [result for task in TASKS for result in importlib.import_module(task).run(effort)]


if __name__ == "__main__":
    main("usmx", __doc__, run)
