"""Pytest plugin: how many of the cases a run has, ``--depth quick``, ``pairs`` or ``full``.

Pairs has every function, and of those with several parameters cases with every pair of their
values. Where cases are expensive both have fewer, as `quick_share` says: every value once, then
every pair, until the number is reached. Quick has a part of the functions of a file, or none.
Which cases are left depends on the cases alone. What was left out is printed at the end of a run.

A test that repeats something asks `of_depth` how often, one that goes through a list takes `some`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest
from quick_share import PART, SHARE, WITH_PAIRS

Value = TypeVar("Value")


def depth() -> str:
    """The depth of this run, also in processes that tests start."""
    return os.environ.get("USMX_TEST_DEPTH", "full")


def of_depth(*, quick: Value, full: Value, pairs: Value | None = None) -> Value:
    """A number of repetitions, seeds or calls, or what is run; with pairs as full if not said."""
    if depth() == "pairs" and pairs is not None:
        return pairs
    return quick if depth() == "quick" else full


def some(values: Sequence[Value], most: int) -> Sequence[Value]:
    """All values that a test goes through; in a quick run so many, from all parts.

    With pairs twice as many: which, depends on the name of the case, so that cases of one function
    share all values out among them.
    """
    if depth() == "pairs":
        most *= 2
    if depth() == "full" or len(values) <= most:
        return values
    first = crc32(os.environ.get("PYTEST_CURRENT_TEST", "").encode()) if depth() == "pairs" else 0
    places = sorted((first + k * len(values) // most) % len(values) for k in range(most))
    return [values[place] for place in places]


def key(value: object) -> Hashable:
    """What makes two values of a parameter the same."""
    if isinstance(value, str | bytes | bool | int | float | complex | None):
        return (type(value), repr(value))
    if isinstance(value, tuple):
        return tuple(map(key, value))
    return id(value)


def order(cases: Sequence[Sequence[Hashable]]) -> Iterator[tuple[int, bool]]:
    """Cases by what they add: first values of parameters, then pairs of them.

    Gives the number of a case, and whether all values are covered without it.
    """
    width = len(cases[0]) if cases else 0
    axes = [k for k in range(width) if len({case[k] for case in cases}) > 1]
    taken: set[int] = set()
    for size in (1, 2):
        parts = [
            {(axis, tuple(case[k] for k in axis)) for axis in combinations(axes, size)}
            for case in cases
        ]
        covered = set().union(*(parts[k] for k in taken))
        # What a case adds only becomes less, so most are looked at once.
        queue = [(-len(parts[k]), k) for k in range(len(cases)) if k not in taken]
        heapq.heapify(queue)
        while queue:
            _, k = heapq.heappop(queue)
            gain = -len(parts[k] - covered)
            if gain == 0:
                continue
            if queue and (gain, k) > queue[0]:
                heapq.heappush(queue, (gain, k))
                continue
            covered |= parts[k]
            taken.add(k)
            yield k, size == 2


def chosen(cases: Sequence[Sequence[Hashable]], most: int | None) -> list[int]:
    """The cases of one function that a run has, in their order; ``most`` as in ``SHARE``."""
    if most == 0:
        return []
    if len(cases) < 2:
        return list(range(len(cases)))
    found = list(order(cases)) or [(0, False)]
    if most is None or len(found) <= most:
        return sorted(k for k, _ in found)
    values = [k for k, in_pairs in found if not in_pairs]
    if len(values) <= most:
        return sorted(k for k, _ in found[:most])
    # From all parts of a long list.
    values.sort()
    return [values[k * len(values) // most] for k in range(most)]


def share_of(name: str, shares: Mapping[str, int]) -> int | None:
    """The number of cases that `SHARE` or `WITH_PAIRS` allows a function."""
    found = max((part for part in shares if part in name), key=len, default=None)
    return shares[found] if found else None


def part_of(name: str) -> int:
    """Of how many functions of a file a quick run has one, by `PART`."""
    found = max((part for part in PART if part in name), key=len, default=None)
    return PART[found] if found else 1


def every_so_many(functions: Sequence[str]) -> set[str]:
    """Those of the functions of all files that a quick run has: of each file the first, and on."""
    seen: Counter[str] = Counter()
    kept = set()
    for name in functions:
        file = name.partition("::")[0]
        if seen[file] % part_of(name) == 0:
            kept.add(name)
        seen[file] += 1
    return kept


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--depth",
        choices=("quick", "pairs", "full"),
        default="full",
        help="pairs: of each function cases with every pair of its parameters' values; "
        "quick: fewer of those that are expensive; full: all cases",
    )
    for deeper, what in (("pairs", "those of --depth pairs"), ("full", "all cases")):
        parser.addoption(
            f"--{deeper}-in",
            action="append",
            default=[],
            metavar="FOLDER",
            help=f"a folder whose tests have {what} in a run that has fewer",
        )


def pytest_configure(config: pytest.Config) -> None:
    os.environ["USMX_TEST_DEPTH"] = config.getoption("--depth")
    if depth() != "full":
        from hypothesis import settings  # not in each environment, and only here

        # The same examples in each run: new ones would be new kernels.
        settings.register_profile("derandomized", derandomize=True)
        settings.load_profile("derandomized")
    depths = Depths(
        config.getoption("--depth"), config.getoption("--pairs-in"), config.getoption("--full-in")
    )
    config.pluginmanager.register(depths, "depths_of_run")


class Depths:
    """Leaves cases out, and says how many."""

    def __init__(self, depth: str, pairs_in: Sequence[str], full_in: Sequence[str]) -> None:
        self.depth = depth
        self.pairs_in = tuple(pairs_in)
        self.full_in = tuple(full_in)
        self.left_out: Counter[str] = Counter()
        self.kept = 0
        self.functions = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        if self.depth == "full":
            return
        functions: dict[str, list[pytest.Item]] = {}
        for item in items:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
        dropped = set()
        quick = self.depth == "quick"
        here = every_so_many(list(functions)) if quick else set(functions)
        for name, same in functions.items():
            if name.startswith(self.full_in):
                continue
            cases = []
            for item in same:
                call = getattr(item, "callspec", None)
                cases.append([key(call.params[p]) for p in sorted(call.params)] if call else [])
            if not quick or name.startswith(self.pairs_in):
                most = share_of(name, WITH_PAIRS)
            else:
                most = share_of(name, SHARE) if name in here else 0
            keep = set(chosen(cases, most))
            left = [item for k, item in enumerate(same) if k not in keep]
            dropped.update(left)
            self.functions += not keep
            if left:
                self.left_out[str(Path(name.partition("::")[0]).parent)] += len(left)
        if dropped:
            config.hook.pytest_deselected(items=list(dropped))
            items[:] = [item for item in items if item not in dropped]
        self.kept = len(items)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["depths"] = (
                self.kept, dict(self.left_out), self.functions,
            )  # fmt: skip

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        # Each worker collects everything, so any of them knows.
        if (found := getattr(node, "workeroutput", {}).get("depths")) is not None:
            self.kept, self.left_out, self.functions = found[0], Counter(found[1]), found[2]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.depth == "full":
            return
        rooms = ", ".join(f"{room} {n}" for room, n in sorted(self.left_out.items()))
        terminalreporter.write_line(
            f"{self.depth}: {self.kept} cases; --depth full (`make test-all`) has "
            f"{sum(self.left_out.values())} more: {rooms}"
        )
        if self.functions:
            terminalreporter.write_line(
                f"quick: {self.functions} functions are left to full runs: tests/lab/quick_share.py"
            )
