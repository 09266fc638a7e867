"""What a special way of running the tests cannot run: listed with a reason, shown, never silent."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest


class Exclusions:
    """A pytest plugin that deselects tests by a part of their name.

    Each exclusion is named in the summary with the number of its tests; one that fits no test any
    more makes a run of whole folders fail.

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

    @pytest.hookimpl(tryfirst=True)  # others leave out tests that an exclusion would fit
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

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # One of several workers tells the process that started it, which judges.
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["excluded"] = self.found
        elif session.exitstatus == pytest.ExitCode.OK and self.stale(session.config):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        # Each worker collects everything, so any of them knows.
        self.found |= getattr(node, "workeroutput", {}).get("excluded", {})

    def stale(self, config: pytest.Config) -> list[str]:
        # A run of some files or names says nothing about the others.
        if config.option.keyword or not all(Path(argument).is_dir() for argument in config.args):
            return []
        return [part for part, count in self.found.items() if count == 0]

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        for part, reason in self.reasons.items():
            terminalreporter.write_line(
                f"not run {self.where}: {part} ({self.found[part]} tests): {reason}"
            )
        for part in self.stale(config):
            terminalreporter.write_line(f"ERROR: this exclusion fits no test: {part}", red=True)
