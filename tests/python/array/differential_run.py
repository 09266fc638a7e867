"""Runs any number of random calls, and says what differs from NumPy as it is found.

    python tests/python/array/differential_run.py 300000 [first case] [topic ...]

The cases are dealt to the topics of differential_rows.py by the number of their rows, in processes
of some thousand: a crash costs one process and is a mismatch. An entry of
DIFFERENCES that excuses many cases of a row is a mismatch too. The exit code is the number of
mismatches, at most 99. The tests run a few of the same cases (test_differential.py).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent, HERE.parent.parent / "lab"):
    sys.path.insert(0, str(folder))

#: Cases of one process.
AT_ONCE = 5000


def some(topic: str, first: int, count: int) -> None:
    """A process: mismatches on stdout, one a line, and the case in work in a file."""
    import faulthandler

    import usmx

    faulthandler.enable()
    usmx.default_usm_type("device")  # as in the tests
    import differential
    from differential_rows import DIFFERENCES, DRAWN, TOPICS

    rows = [row for row in DRAWN if row in TOPICS[topic]]
    modes: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for number in range(first, first + count):
        row = differential.choose(number, rows)
        faulthandler.dump_traceback_later(300, exit=True)
        found = differential.run(number, row, DIFFERENCES)
        modes["wrong" if found else "right"] += 1
        cases[row.name] += 1
        if found:
            print("MISMATCH", " ".join(str(found).split()), flush=True)
        if number % 100 == 0:
            print(f"AT {number} {row.name}", flush=True)
    for place, difference in enumerate(DIFFERENCES):
        for name, times in difference.used.items():
            print(f"EXCUSED {place} {times} {name}", flush=True)
    for name, times in cases.items():
        print(f"CASES {times} {name}", flush=True)
    print("DONE", sum(modes.values()), flush=True)


def main(arguments: list[str]) -> int:
    import differential
    from differential_rows import DIFFERENCES, TOPICS

    total = int(arguments[0])
    first = int(arguments[1]) if len(arguments) > 1 else 0
    topics = arguments[2:] or list(TOPICS)
    rows = {topic: sum(row.weight for row in TOPICS[topic]) for topic in topics}
    began, done, wrong = time.monotonic(), 0, 0
    cases = Counter[str]()
    for topic in topics:
        share = -(-total * rows[topic] // sum(rows.values()))
        right = Counter[str]()
        for start in range(first, first + share, AT_ONCE):
            count = min(AT_ONCE, first + share - start)
            command = [sys.executable, __file__, "--some", topic, str(start), str(count)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = run.stdout.splitlines()
            found = [line for line in lines if line.startswith("MISMATCH")]
            for line in lines:
                if line.startswith("EXCUSED "):
                    _, place, times, name = line.split(" ", 3)
                    DIFFERENCES[int(place)].used[name] += int(times)
                elif line.startswith("CASES "):
                    _, times, name = line.split(" ", 2)
                    cases[name] += int(times)
            if run.returncode:
                last = next((line for line in reversed(lines) if line.startswith("AT")), "")
                told = " ".join(run.stderr.split())[-400:]
                found.append(f"MISMATCH {topic}: ended with {run.returncode} after {last}: {told}")
            for line in found:
                print(line, flush=True)
            right["wrong"] += len(found)
            right["cases"] += count
        done, wrong = done + right["cases"], wrong + right["wrong"]
        spent = time.monotonic() - began
        print(f"{topic}: {right['cases']} cases, {right['wrong']} mismatches; {spent:.0f} s so far",
              flush=True)  # fmt: skip
    for line in differential.too_broad(DIFFERENCES, cases):
        print("MISMATCH", line, flush=True)
        wrong += 1
    print(f"{done} cases, {wrong} mismatches")
    return min(wrong, 99)


if __name__ == "__main__":
    if sys.argv[1] == "--some":
        some(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main(sys.argv[1:]))
