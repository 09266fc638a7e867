"""Measure libraries in processes of their own, of which one runs at a time.

Threads of one library take cores from another: those of OpenMP stay awake for a while after a call,
and once the driver has worked for dpnp, one of its threads never sleeps again. So each library has
a process with nothing else in it, which is stopped while another is timed. A benchmark has a
generator ``sides(library, ...)`` of what a library does in each case, in the same order for all of
them; each process goes through the one of its library.

    python bench/apart.py <benchmark> <library> <arguments as JSON>     one such process
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from table import Case, Effort, Result, Rival, measure, silenced

PR_SET_PDEATHSIG = 1


@dataclass
class Side:
    """What a library does in a case; `label` is its name in that row, if that is another one."""

    case: str
    call: Callable[[], object]
    label: str | None = None


def waited(call: Callable[[], object], wait: Callable[[], object]) -> Callable[[], None]:
    """The call, and the wait for what it launched."""

    def call_and_wait() -> None:
        call()
        wait()

    return call_and_wait


class Library:
    """A process in which a library goes through the cases of a benchmark.

    Parameters
    ----------
    benchmark, library : str
        The module, and what its `sides` is called with.
    arguments : list
        The further arguments of `sides`, as JSON has them.
    """

    def __init__(self, benchmark: str, library: str, arguments: Sequence[Any]) -> None:
        self.name = library
        command = [sys.executable, __file__, benchmark, library, json.dumps(arguments)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def _ask(self, question: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        self._process.send_signal(signal.SIGSTOP)
        if not answer:
            raise RuntimeError(f"the process of {self.name} ended; its error is above")
        return json.loads(answer)

    def next_case(self) -> dict[str, str] | None:
        """The name of its next case, and its label there; None after the last one.

        An empty dictionary if the library has nothing in that case.
        """
        found: dict[str, str] | None = self._ask("next")
        return found

    def timeit(self, calls: int) -> float:
        """The seconds that calls of its present case take."""
        return float(self._ask(calls))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.send_signal(signal.SIGCONT)
        self._process.wait()


def measure_apart(
    benchmark: str,
    libraries: Sequence[str],
    arguments: Sequence[Any],
    effort: Effort,
    aims: Mapping[tuple[str, str], float] | None = None,
) -> Iterator[Result]:
    """Time each case of a benchmark with all libraries.

    Parameters
    ----------
    benchmark : str
        A module with a generator `sides(library, *arguments)`, which gives a `Side` for each case,
        or None where the library has nothing.
    libraries : sequence of str
        Ours first.
    arguments : list
        See `sides`.
    effort : Effort
        How long to measure a case.
    aims : mapping, optional
        How many times faster ours is meant to be, by case and library; always 1 if not given.
    """
    with contextlib.ExitStack() as stack:
        sides = []
        for name in libraries:
            sides.append(Library(benchmark, name, arguments))
            stack.callback(sides[-1].close)
        while True:
            cases = [side.next_case() for side in sides]
            if cases[0] is None:
                return
            rivals = [
                Rival(
                    case["label"],
                    side,
                    1.0 if aims is None else aims.get((case["case"], side.name)),
                )
                for side, case in zip(sides[1:], cases[1:], strict=True)
                if case
            ]
            if cases[0]:
                yield from measure([Case(cases[0]["case"], sides[0], rivals)], effort)


def _serve(sides: Iterator[Side | None], answer: Callable[[Any], None]) -> None:
    side: Side | None = None
    for line in sys.stdin:
        question = json.loads(line)
        if question != "next":
            assert side is not None
            answer(timeit.timeit(side.call, number=question))
            continue
        side = None  # its arrays go before the next ones come
        try:
            side = next(sides)
        except StopIteration:
            answer(None)
            continue
        answer({"case": side.case, "label": side.label or sys.argv[2]} if side else {})


def _main() -> None:
    benchmark, library, arguments = sys.argv[1:]
    # It ends with the benchmark, also while it is stopped, when it sees no end of its input.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, silenced():

        def answer(what: Any) -> None:
            answers.write(json.dumps(what) + "\n")
            answers.flush()

        _serve(importlib.import_module(benchmark).sides(library, *json.loads(arguments)), answer)


if __name__ == "__main__":
    _main()
