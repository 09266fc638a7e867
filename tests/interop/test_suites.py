# Tests of NumPy, SciPy, xarray and Dask, from their installed packages, with arrays of usmx. What
# fails there is what suites_refused.toml lists, with a reason: a listed one that passes is an
# error. `python tests/interop/test_suites.py --write` makes the list anew, of all or some modules.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import pytest
from suites import SUITES

HERE = pathlib.Path(__file__).parent
LIST = HERE / "suites_refused.toml"
LISTED = tomllib.loads(LIST.read_text())
REASONS = LISTED.pop("reasons")


def failures_of(suite, folder):
    """The tests of a module that failed, with what they said, and how many there are."""
    told = folder / f"{suite.module}.json"
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH")))),
        "SCIPY_ARRAY_API": '["array_api_strict"]',
        # Plugins of other packages import CuPy, for which usmx stands.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "USMX_AS": suite.stands_for,
        "USMX_OUTCOMES": str(told),
    }
    command = [
        sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder),
        "-q", "-p", suite.plugin, "-p", "no:cacheprovider", "-W", "ignore",
        *(["-k", suite.only] if suite.only else []), "--pyargs", suite.module,
    ]  # fmt: skip
    ran = subprocess.run(
        command,
        check=False,
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    if not told.exists():
        last = pathlib.Path(f"{told}.at")
        at = last.read_text() if last.exists() else "no test"
        pytest.fail(f"the process ended during {at}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    outcomes = json.loads(told.read_text())
    assert outcomes, f"no test ran: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
    failed = {name: said for name, said in outcomes.items() if said not in ("passed", "skipped")}
    return failed, len(outcomes)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.module)
def test_tests_of_others(suite, tmp_path):
    failed, count = failures_of(suite, tmp_path)
    listed = LISTED.get(suite.module, {})
    print(f"{suite.module}: {count} tests, {len(listed)} listed")
    unexpected = {name: said for name, said in failed.items() if name not in listed}
    needless = [name for name in listed if name not in failed]
    assert not unexpected
    assert not needless, "these pass: take them from suites_refused.toml"


def test_the_list_names_suites_and_reasons():
    assert set(LISTED) <= {suite.module for suite in SUITES}
    assert {reason for names in LISTED.values() for reason in names.values()} <= set(REASONS)


def reason_of(said):
    """The first reason whose pattern is in what the test said."""
    return next((n for n, r in REASONS.items() if r["says"] and re.search(r["says"], said)), "")


def write(modules):
    """Make the list anew, of all modules or of some, and store it after each.

    Entries keep their reasons; new ones get those that their words have.
    """
    head = LIST.read_text().partition('\n["')[0].rstrip()
    for suite in SUITES:
        if modules and suite.module not in modules:
            continue
        with tempfile.TemporaryDirectory() as folder:
            failed, count = failures_of(suite, pathlib.Path(folder))
        print(f"{suite.module}: {len(failed)} of {count}", flush=True)
        before = LISTED.get(suite.module, {})
        LISTED[suite.module] = {n: before.get(n) or reason_of(said) for n, said in failed.items()}
        lines = [head]
        for one in SUITES:
            if names := LISTED.get(one.module):
                lines += ["", f"[{json.dumps(one.module)}]"]
                lines += [f"{json.dumps(n)} = {json.dumps(r)}" for n, r in sorted(names.items())]
        LIST.write_text("\n".join(lines) + "\n")


if __name__ == "__main__" and "--write" in sys.argv:
    write(sys.argv[2:])
