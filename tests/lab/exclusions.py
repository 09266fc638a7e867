"""What a special way of running the tests cannot run: listed with a reason, shown, never silent."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest


class Exclusions:
    """A pytest plugin that deselects tests by a part of their name.

    Each exclusion is named in the summary with the number of its tests; one that fits no test any
    more makes a whole run fail.

    Parameters
    ----------
    where : str
        "on the simulated device".
    reasons : dict of str to str
        Part of a test's name -> why it cannot run there.
    """

    def __init__(self, where: str, reasons: dict[str, str]) -> None:
        self.where = where
        self.reasons = reasons
        self.found = dict.fromkeys(reasons, 0)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        kept, excluded = [], []
        for item in items:
            part = next((part for part in self.reasons if part in item.nodeid), None)
            (kept if part is None else excluded).append(item)
            if part is not None:
                self.found[part] += 1
        config.hook.pytest_deselected(items=excluded)
        items[:] = kept
        stale = [part for part, count in self.found.items() if count == 0]
        # A run of some files or names says nothing about the others.
        if stale and not config.option.keyword and config.args_source.name == "TESTPATHS":
            raise pytest.UsageError(f"exclusions {self.where} that fit no test: {stale}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for part, reason in self.reasons.items():
            terminalreporter.write_line(
                f"not run {self.where}: {part} ({self.found[part]} tests): {reason}"
            )
