"""Compiles programs ahead: those of packages for ``usmx build``, those of common calls for
``usmx cache --warm`` and for the wheel, which is built with ``python -m usmx._ahead folder``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

import usmx

from . import _common_forms, _usmx
from ._kernel import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: The kinds of processors that the wheel has programs for.
SHIPPED = ("sapphirerapids", "icelake-client", "skx", "core-avx2")
_FILE = re.compile(r"[0-9a-f]{32}\.(program|text)")
#: What the processes of a build do.
_RUN = """
import sys
from usmx import _ahead
_ahead.run_for_package(*sys.argv[1:5], sys.argv[5:])
"""
_CHECK = """
from usmx import _ahead, _usmx
_ahead.compile_common()
print(_usmx._ProgramStore.counts()[0])
"""
_LINK = (
    "import sys; from usmx import _usmx; print(_usmx._ProgramStore.link_for_package(*sys.argv[1:]))"
)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def compile_common(report: Callable[[int, int, str], None] | None = None) -> int:
    """Compute the list of common forms, several at once; how many there are.

    Parameters
    ----------
    report : callable, optional
        Called with the number of forms done, of all, and the name of the last one.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    done = 0
    for kind in _common_forms.KINDS:
        # Each thread waits for the compiler without the GIL.
        with usmx.default_usm_type(kind), ThreadPoolExecutor(_cores()) as pool:
            running = {pool.submit(call): name for name, call in _common_forms.calls(kind)}
            for finished in as_completed(running):
                finished.result()
                done += 1
                if report:
                    report(done, len(running) * len(_common_forms.KINDS), running[finished])
    return done


def run_for_package(
    package: str, folder: str, objects: str, program: str, arguments: Sequence[str]
) -> None:
    """Run a program that launches a package's kernels, in the process of `build` that is for it.

    Parameters
    ----------
    package : str
        Its folder, or nothing.
    folder : str
        Where the texts of its kernels are written.
    objects : str
        Where what is compiled is written.
    program : str
        A file, a module as ``-m name``, or nothing: the common forms.
    arguments : sequence of str
        Of the program.
    """
    import runpy

    _usmx._ProgramStore.record(objects)
    if package:
        sys.path.insert(0, os.path.dirname(package))
        kept.packages.append(package + os.sep)
        kept.record(folder)
    if not program:
        compile_common()
        return
    module = program.removeprefix("-m ")
    sys.argv = [program, *arguments]
    try:
        if module != program:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
            runpy.run_path(program, run_name="__main__")
    except SystemExit as stop:
        if stop.code:
            raise


def _environment(cache: str, kind: str | None) -> dict[str, str]:
    changed = {"USMX_CACHE": "1", "USMX_CACHE_DIR": cache, "USMX_CACHE_SIZE": "4G"}
    changed["PYTHONPATH"] = os.pathsep.join(
        [os.path.dirname(os.path.dirname(__file__)), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    if kind:
        changed["CL_CONFIG_CPU_TARGET_ARCH"] = kind
    return os.environ | changed


class BuildProblem(RuntimeError):
    """What the program or the compiler of a build wrote."""


def _finished(what: str, child: subprocess.Popen[str]) -> str:
    out, errors = child.communicate()
    if child.returncode:
        raise BuildProblem(f"{what} ended with exit code {child.returncode}:\n{errors or out}")
    return out


def build(
    folder: str,
    package: str = "",
    program: str = "",
    arguments: Sequence[str] = (),
    kinds: Sequence[str] | None = None,
) -> Iterator[str]:
    """Run a program, and write what it compiles into a folder, for each kind of processor.

    Parameters
    ----------
    folder : str
        Is made, or emptied of programs.
    package, program, arguments
        As for `run_for_package`.
    kinds : sequence of str, optional
        Of processors; default: all that are known.

    Yields
    ------
    str
        What was done last.
    """
    kinds = _usmx._ProgramStore.processor_kinds() if kinds is None else kinds
    os.makedirs(folder, exist_ok=True)
    _empty(folder)
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as objects:
        what = program or "the list of common calls"
        command = [sys.executable, "-c", _RUN, package, folder, objects, program, *arguments]
        _finished(what, _child(command, _environment(cache, None), program))
        yield f"ran {what}"
        waiting = list(kinds)
        running: list[tuple[str, subprocess.Popen[str]]] = []
        while waiting or running:
            while waiting and len(running) < _cores():
                kind = waiting.pop(0)
                command = [sys.executable, "-c", _LINK, objects, folder]
                running.append((kind, _child(command, _environment(cache, kind))))
            kind, child = running.pop(0)
            count = _finished(f"compiling for {kind}", child).split()[-1]
            yield f"{count} programs for {kind}"
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)  # for all who use the package


def _empty(folder: str) -> None:
    """Remove the programs in a folder, and nothing else."""
    for name in os.listdir(folder):
        if _FILE.fullmatch(name):
            os.remove(os.path.join(folder, name))


def _child(
    command: Sequence[str], environment: dict[str, str], shown: str = ""
) -> subprocess.Popen[str]:
    """A process whose output is kept for a message; that of a program is shown."""
    pipe = None if shown else subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def can_build() -> str:
    """Why programs cannot be compiled here; empty if they can."""
    try:
        device = usmx.Device()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    if (
        device.backend != "opencl"
        or device.device_type != "cpu"
        or "Intel" not in device.platform.name
    ):
        return f"the default device is {device.name}, not Intel's OpenCL device for processors"
    return ""


def main(arguments: Iterable[str]) -> int:
    """Build the programs of usmx into a folder, if those in it are not what this usmx compiles."""
    (folder,) = arguments
    os.makedirs(folder, exist_ok=True)
    problem = can_build()
    if problem:
        print(f"usmx: no compiled programs are put into this build: {problem}", flush=True)
        return 0
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", _CHECK]
        if os.listdir(folder):
            check = _child(command, _environment(cache, None))
            if _finished("looking for changed programs", check).split()[-1] == "0":
                print("usmx programs: none has changed", flush=True)
                return 0
    try:
        for done in build(folder, kinds=SHIPPED):
            print(f"usmx programs: {done}", flush=True)
    except BuildProblem as error:  # the package works without them
        _empty(folder)
        print(f"usmx: no compiled programs are put into this build: {error}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
