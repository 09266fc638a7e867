"""The command ``usmx``: what devices there are, and what is wrong when there are none.

usmx devices [--json]     every device, its properties and aspects
usmx doctor [--json]      check drivers, runtime and versions; exit code 1 if something is broken
usmx cache [--json]       the kernels that are shipped, on disk and in memory; --clear empties the
                          disk, --warm [PROGRAM] compiles those of common calls or of a program
usmx build PACKAGE ...    compile the kernels of a package that a program launches into the package
usmx bench [--json]       what the device does in a second, in units of its own memory
usmx config [--json]      the environment variables of usmx, and what they are set to
usmx demo                 a picture that the device computes
usmx trace SCRIPT ...     run a script, print what it did to memory, write a trace or a picture;
                          --html writes a page that needs no other site
usmx migrate PROGRAM ...  what to change in programs for numba.cuda, CuPy, dpctl, dpnp; --diff
usmx --cflags --libs      what g++ needs to build a program with usmx; --cmake-dir for CMake
usmx --version            also --include, the folder of the headers
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import IO, TYPE_CHECKING, Any, NoReturn

import usmx

from . import paths

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from .doctor import Finding

__all__ = ["main"]

_SIGNS = {
    "ok": ("✓", "green"),
    "note": ("·", "cyan"),
    "warning": ("!", "yellow"),
    "error": ("✗", "red"),
}


def _console(file: IO[str] | None = None) -> Console:
    from rich.console import Console

    # Paths and commands are to be copied: never break or decorate them. A pipe has no width.
    width = None if sys.stdout.isatty() else 160
    return Console(highlight=False, markup=False, soft_wrap=True, width=width, file=file)


#: How columns of tables are shown.
_COLUMNS: dict[str, dict[str, Any]] = {
    "text": {"no_wrap": True},
    "long": {"overflow": "fold"},
    "number": {"justify": "right", "no_wrap": True},
}


def _table(**columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, kind in columns.items():
        table.add_column(heading, **_COLUMNS[kind])
    return table


def _size(count: int | None) -> str:
    if count is None:
        return "?"
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def device_report(device: usmx.Device) -> dict[str, Any]:
    """Everything known about a device, fit for JSON."""
    return {
        "filter_string": device.filter_string,
        "default": device == usmx.Device(),
        "platform": device.platform.name,
        "backend": device.backend,
        "device_type": device.device_type,
        "usm_kinds": list(device.usm_kinds),
        "aspects": sorted(device.aspects),
        "properties": device.properties(),
    }


def _devices(as_json: bool) -> int:
    with _quiet_adapters():
        found = usmx.devices()
        reports = [device_report(device) for device in found] if as_json else []
    if as_json:
        print(json.dumps(reports, indent=2))
        if found:
            return 0
    if not found:
        try:
            usmx.Device()
        except usmx.DeviceError as error:
            print(error, file=sys.stderr)
        return 1
    table = _table(
        filter="text", name="long", units="number", memory="number", free="number",
        USM="text", floats="text", driver="long",
    )  # fmt: skip
    for device in found:
        mark = " *" if device == usmx.Device() else ""
        floats = [name for name in ("fp16", "fp64") if device.has_aspect(name)]
        table.add_row(
            f"{device.filter_string}{mark}",
            device.name,
            str(device.max_compute_units),
            _size(device.global_mem_size),
            _size(device.free_memory),
            " ".join(device.usm_kinds) or "none",
            " ".join(["fp32", *floats]),
            device.driver_version,
        )
    console = _console()
    console.print(table)
    console.print("* default device. `usmx devices --json` tells everything about each.")
    return 0


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    from rich.text import Text

    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            console.print(Text(f"\n{topic}", style="bold"))
        sign, colour = _SIGNS[finding.level]
        console.print(Text.assemble("  ", (sign, colour), f" {finding.text}"))
        if finding.fix:
            console.print(Text.assemble(("      fix: ", "bold"), finding.fix))


def _doctor(as_json: bool) -> int:
    from .doctor import diagnose

    findings = diagnose()
    errors = [finding for finding in findings if finding.level == "error"]
    warnings = [finding for finding in findings if finding.level == "warning"]
    if as_json:
        with _quiet_adapters():
            devices = [device_report(device) for device in _devices_or_none()]
        report = {
            "healthy": not errors,
            "findings": [finding.as_dict() for finding in findings],
            "devices": devices,
        }
        print(json.dumps(report, indent=2))
    else:
        console = _console()
        _print_findings(console, findings)
        verdict = f"{len(errors)} broken" if errors else "Everything that usmx needs works"
        console.print(f"\n{verdict}; {len(warnings)} warning{'' if len(warnings) == 1 else 's'}.")
    return 1 if errors else 0


def _devices_or_none() -> list[usmx.Device]:
    try:
        return usmx.devices()
    except RuntimeError:
        return []  # the findings say why


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


class _Progress:
    """A line on a terminal that is written again and again; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self._shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")


def _run(script: str, arguments: Sequence[str]) -> object:
    """Run a program as Python would; its exit code."""
    import runpy

    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as stop:
        return stop.code
    return None


def _exit_code(code: object) -> int:
    """What the process ends with, from what a program gave to ``sys.exit``."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
    return code if isinstance(code, int) else int(code is not None)


def _warm(program: Sequence[str]) -> int:
    import time

    from . import _usmx
    from ._ahead import compile_common

    if program and not os.path.isfile(program[0]):
        print(f"usmx cache --warm: there is no file {program[0]}", file=sys.stderr)
        return 2
    settings = _usmx._ProgramStore.settings()
    if not settings["enabled"]:
        print("usmx cache --warm: USMX_CACHE=0 keeps nothing on disk", file=sys.stderr)
        return 2
    if settings["problem"]:
        print(f"usmx cache --warm: the folder {settings['problem']}", file=sys.stderr)
        return 2
    begin, code = time.perf_counter(), None
    if program:
        code = _run(program[0], program[1:])
    else:
        with _Progress() as line:
            compile_common(lambda k, n, name: line.show(f"{k} of {n}: {name}"))
    compiled, _, read = _usmx._ProgramStore.counts()
    print(
        f"{_many(compiled, 'program')} compiled, {_many(read, 'program')} there before; "
        f"{time.perf_counter() - begin:.1f} s"
    )
    return _exit_code(code)


def _build(package: str, program: Sequence[str], kinds: str | None) -> int:
    import time

    from . import _ahead, _usmx
    from ._programs import FOLDER

    if not os.path.isfile(os.path.join(package, "__init__.py")):
        what = f"there is no folder {package}"
        if os.path.exists(package):
            what = f"{package} has no __init__.py: it is not the folder of a package"
        print(f"usmx build: {what}", file=sys.stderr)
        return 2
    package = os.path.abspath(package)
    if not program:
        if not os.path.isfile(os.path.join(package, "__main__.py")):
            print(
                f"usmx build: say which program launches the kernels: `usmx build {package} "
                "program.py`; a package with a __main__.py is its own",
                file=sys.stderr,
            )
            return 2
        program = [f"-m {os.path.basename(package)}"]
    elif not os.path.isfile(program[0]):
        print(f"usmx build: there is no file {program[0]}", file=sys.stderr)
        return 2
    wanted = kinds.split(",") if kinds else _usmx._ProgramStore.processor_kinds()
    for kind in wanted:
        if kind not in _usmx._ProgramStore.processor_kinds():
            known = ", ".join(_usmx._ProgramStore.processor_kinds())
            print(f"usmx build: --kinds: '{kind}'; expected some of {known}", file=sys.stderr)
            return 2
    problem = _ahead.can_build()
    if problem:
        print(f"usmx build: programs cannot be compiled ahead here: {problem}", file=sys.stderr)
        return 1
    begin, folder = time.perf_counter(), os.path.join(package, FOLDER)
    try:
        with _Progress() as line:
            for done in _ahead.build(folder, package, program[0], program[1:], wanted):
                line.show(done)
    except _ahead.BuildProblem as error:
        print(f"usmx build: {error}", file=sys.stderr)
        return 1
    _usmx._ProgramStore.add_installed(folder)
    (about,) = [a for a in _usmx._ProgramStore.installed() if a["folder"] == folder]
    per_kind = about["programs"] // len(wanted)
    print(
        f"{_many(per_kind, 'program')} for {_many(len(wanted), 'kind')} of processors, "
        f"{_size(about['bytes'])} in {folder}; {time.perf_counter() - begin:.1f} s"
    )
    with open(os.path.join(package, "__init__.py"), encoding="utf-8") as file:
        if "use_programs(" not in file.read():
            print(f"add to {file.name}: usmx.use_programs(__file__)")
    return 0


def _print_shipped(console: Console) -> None:
    from . import _usmx

    found = [about for about in _usmx._ProgramStore.installed() if about["programs"]]
    for about in found:
        console.print(
            f"shipped: {_many(about['programs'], 'program')} for {', '.join(about['kinds'])}, "
            f"{_size(about['bytes'])} in {about['folder']}"
        )
    if not found:
        console.print("shipped: none")


def _cache(as_json: bool, clear: bool) -> int:
    from . import _usmx

    texts = _usmx._ProgramStore.texts()
    many = _many(texts["count"], "text")
    if clear:
        removed = _many(_usmx._ProgramStore.clear(), "program")
        print(f"{removed}{f' and {many}' if texts['count'] else ''} removed")
        return 0
    settings = _usmx._ProgramStore.settings()
    programs = _usmx._ProgramStore.programs()
    if as_json:
        report = {
            **settings,
            "programs": programs,
            "texts": texts,
            "memory": usmx.program_memory(),
            "shipped": _usmx._ProgramStore.installed(),
        }
        print(json.dumps(report, indent=2))
        return 0
    from datetime import datetime

    table = _table(**{"last used": "text", "size": "text", "kernels": "long", "device": "long"})
    for program in programs:
        used = datetime.fromtimestamp(program["last_used"])
        table.add_row(
            f"{used:%Y-%m-%d %H:%M}",
            _size(program["bytes"]),
            ", ".join(program["kernels"]),
            program["device"],
        )
    console = _console()
    if programs:
        console.print(table)
    held = sum(program["bytes"] for program in programs)
    state = "" if settings["enabled"] else "; turned off by USMX_CACHE=0"
    if texts["count"]:
        console.print(f"{many} of Python kernels in C++, {_size(texts['bytes'])}")
        held += texts["bytes"]
    # Bytes that are not UTF-8 cannot be printed.
    folder = os.fsencode(settings["folder"]).decode(errors="backslashreplace")
    console.print(
        f"{_many(len(programs), 'program')}, {_size(held)} of at most "
        f"{_size(settings['most'])} in {folder or 'no folder: HOME is not set'}{state}"
    )
    _print_shipped(console)
    memory = usmx.program_memory()
    stays = f"; {_size(memory['permanent'])} of it cannot leave" if memory["permanent"] else ""
    console.print(
        f"in memory: {_many(memory['programs'], 'program')}, {_size(memory['bytes'])} of at most "
        f"{_size(memory['limit'])} in each process{stays}"
    )
    if settings["problem"]:
        console.print(f"The folder is not used: {settings['problem']}")
    return 0


def _trace(script: str, arguments: Sequence[str], output: str, as_page: bool) -> int:
    from . import counters
    from ._tracing.endings import ending
    from ._tracing.units import amount, duration

    if not os.path.isfile(script):
        print(f"usmx trace: there is no file {script}", file=sys.stderr)
        return 2
    try:  # before the program runs
        found = ending(output, (".html",) if as_page else (".json", ".html", ".svg"))
    except ValueError as error:
        print(f"usmx trace: --output: {str(error).removeprefix('path: ')}", file=sys.stderr)
        return 2
    if as_page and not found:
        output += ".html"
    folder = os.path.dirname(output)
    if folder and not os.path.isdir(folder):
        print(f"usmx trace: --output: there is no folder {folder}", file=sys.stderr)
        return 2
    try:
        counters.enable()
    except RuntimeError as error:
        print(f"usmx trace: other libraries are not seen: {error}", file=sys.stderr)
    recorded = usmx.trace()
    code: object = 0
    try:
        with recorded:
            code = _run(script, arguments)
    finally:
        summary = recorded.summary()
        table = _table(**{"": "text"}, calls="number", bytes="number", time="number")
        table.add_column("")
        for row in summary.rows:
            size = amount(row.bytes) if row.bytes else ""
            table.add_row(row.what, f"{row.calls:,}", size, duration(row.nanoseconds), row.note)
        recorded.export(output)
        console = _console(sys.stderr)
        console.print(table)
        console.print(f"{duration(summary.nanoseconds)}, seen: {summary.watched}")
        viewer = (
            "a browser" if output.lower().endswith((".svg", ".html")) else "https://ui.perfetto.dev"
        )
        console.print(f"wrote {output}: open it in {viewer}")
    return _exit_code(code)


def _migrate(programs: Sequence[str], diff: bool) -> int:
    from . import migrate

    code = 0
    for program in programs:
        try:
            code |= migrate.report(program, diff=diff)
        except FileNotFoundError:
            print(f"usmx migrate: there is no file {program}", file=sys.stderr)
            code = 2
        except (OSError, SyntaxError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            print(f"usmx migrate: {program}: {why}", file=sys.stderr)
            code = 2
    return code


#: Variables of the environment: docs/environment.md says more of each.
_VARIABLES = {
    "USMX_CACHE": "0: compiled kernels are neither kept on disk nor read from it",
    "USMX_CACHE_DIR": "the folder in which they are kept",
    "USMX_CACHE_SIZE": "the most that they take there; 256M by default",
    "USMX_EAGER": "1: each operation is computed where it is written",
    "USMX_LEAK_WARNINGS": "objects that are alive when Python ends are listed",
    "USMX_NOTICES": "0: no line says that kernels are compiled",
    "USMX_NVIDIA": "0: cuBLAS, cuSOLVER and cuFFT are not used",
    "USMX_ONEMKL": "0: oneMKL is not used",
    "USMX_POOL": "0: each allocation goes to the driver",
    "USMX_PROGRAM_MEMORY": "the most that compiled programs take in memory; 256M by default",
    "USMX_SHOWN_DRIVER": "set by usmx: the driver that it made visible",
    "USMX_SIMULATE": "1: Python kernels run in Python, item by item",
    "USMX_TRACE": "1: the calls of all libraries are seen by traces from the start",
    "USMX_USM_TYPE": "the memory of arrays without usm_type: device, shared or host",
}


def _config(as_json: bool) -> int:
    values = {name: os.environ.get(name) for name in _VARIABLES}
    if as_json:
        print(json.dumps(values, indent=2))
        return 0
    table = _table(variable="text", value="long", effect="long")
    for name, text in _VARIABLES.items():
        value = values[name]
        table.add_row(name, "" if value is None else value, text)
    _console().print(table)
    return 0


def _bench(as_json: bool, device: str | None, seconds: float) -> int:
    from dataclasses import asdict

    from ._benchmark import machine

    queue = usmx.default_queue() if device is None else usmx.Queue(device)
    rows = machine(queue, seconds=seconds)
    if as_json:
        found = {"device": queue.device.name, "rows": [asdict(row) for row in rows]}
        print(json.dumps(found, indent=2))
        return 0
    table = _table(task="text", time="number", rate="number", of_memory="number")
    for row in rows:
        rate = "" if row.rate is None else f"{row.rate:.3g} {row.unit}"
        share = "" if row.share is None else f"{row.share:.0%}"
        table.add_row(row.task, f"{row.seconds * 1e6:,.1f} us", rate, share)
    console = _console()
    console.print(queue.device.name)
    console.print(table)
    console.print("of memory: of the bytes that a copy in device memory moves in a second")
    return 0


class _Parser(argparse.ArgumentParser):
    """Tells what was meant, with the usage of the command that was called."""

    def error(self, message: str) -> NoReturn:
        """End the process; argparse calls it."""
        wrong = re.match(r"argument command: invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if wrong:
            known = [name.strip("' ") for name in wrong[2].split(",")]
            near = get_close_matches(wrong[1], known, 1)
            hint = f"did you mean '{near[0]}'?" if near else "`usmx --help` lists them"
            message = f"there is no command '{wrong[1]}'; {hint}"
        super().error(message)

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End the process because of arguments that the command does not have."""
        near = get_close_matches(unknown[0], self._option_string_actions, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}'; expected a number") from None
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text}; expected 0 or more")
    return value


class _PrintPaths(argparse.Action):
    """Collects what to print of the installation; `main` looks it up when all are known."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, "paths", nargs=0, default=[], help=help)
        self.wanted = dest

    def __call__(self, _: object, namespace: argparse.Namespace, *__: object) -> None:
        namespace.paths = [*namespace.paths, self.wanted]


_PATHS: dict[str, Callable[[], str]] = {
    "include": paths.get_include,
    "cmake_dir": paths.get_cmake_dir,
    "cflags": lambda: shlex.join(paths.get_cflags()),
    "libs": lambda: shlex.join(paths.get_libs()),
}


@contextlib.contextmanager
def _quiet_adapters() -> Iterator[None]:
    """Silence what the runtime's adapters write to stderr about questions they do not know.

    Not for the library: it is the whole process that is silent meanwhile.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _add_options_of_trace(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o", "--output", help="default: trace.json; *.svg is a picture, *.html a page with it"
    )
    command.add_argument(
        "--html", action="store_true", help="write trace.html, a page that needs no other site"
    )


def _take_options(chosen: argparse.Namespace, whole: Sequence[str]) -> None:
    """Options of `usmx trace` directly behind the script are its own; then come the program's."""
    options = _Parser("usmx trace SCRIPT", add_help=False, allow_abbrev=False)
    _add_options_of_trace(options)
    given = chosen.arguments
    if whole[len(whole) - len(given) - 1] == "--":  # which argparse has taken out
        return
    count = 0
    while count < len(given) and given[count].partition("=")[0] in ("-o", "--output", "--html"):
        count += 2 if given[count] in ("-o", "--output") else 1
    options.parse_args(given[:count], chosen)
    chosen.arguments = given[count + 1 :] if given[count : count + 1] == ["--"] else given[count:]


def _add_trace(commands: argparse._SubParsersAction[_Parser]) -> None:
    text = "run a Python script, print what it did to memory, and write a trace for Perfetto"
    command = commands.add_parser("trace", help=text, description=text)
    _add_options_of_trace(command)
    command.add_argument(
        "script", help="a Python file; options of `usmx trace` stand before it or directly behind"
    )
    command.add_argument(
        "arguments", nargs=argparse.REMAINDER,
        help="its arguments; behind -- they may begin with an option of `usmx trace`",
    )  # fmt: skip


def _add_build(commands: argparse._SubParsersAction[_Parser]) -> None:
    text = "compile the kernels of a package into it, so that they start without a compiler"
    command = commands.add_parser("build", help=text, description=text)
    command.add_argument("--kinds", help="of processors, with commas; default: all")
    command.add_argument("package", help="the folder of a package")
    command.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        help="a Python file that launches its kernels, and its arguments; default: __main__.py",
    )


def _add_migrate(commands: argparse._SubParsersAction[_Parser]) -> None:
    text = "say what to change in programs for numba.cuda, CuPy, numba-dpex, dpctl and dpnp"
    command = commands.add_parser("migrate", help=text, description=text)
    command.add_argument("--diff", action="store_true", help="print the changes of lines instead")
    command.add_argument("programs", nargs="+", help="Python files")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        Exit code: 0, or 1 if there is no device or something is broken; 2 for wrong arguments
        (raised as SystemExit).
    """
    parser = _Parser(prog="usmx", description="SYCL devices and USM, as Python sees them.")
    parser.add_argument("--version", action="version", version=f"usmx {usmx.__version__}")
    for option, text in (
        ("--include", "print the folder of the C++ headers"),
        ("--cmake-dir", "print what usmx_DIR has to be"),
        ("--cflags", "print what a C++ compiler needs; together with --libs on one line"),
        ("--libs", "print what the linker needs"),
    ):
        parser.add_argument(option, action=_PrintPaths, help=text)
    commands = parser.add_subparsers(dest="command")
    for name, text in (
        ("devices", "list the devices"),
        ("doctor", "find out what is wrong, and how to fix it"),
        ("cache", "kernels that are kept on disk"),
        ("bench", "measure what the device does, in units of its own memory"),
        ("config", "list the environment variables of usmx, and what they are set to"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="for programs")
        if name == "cache":
            command.add_argument("--clear", action="store_true", help="remove them all")
            command.add_argument(
                "--warm",
                nargs=argparse.REMAINDER,
                metavar="PROGRAM",
                help="compile the kernels of common calls, or those of a program with arguments",
            )
        if name == "bench":
            command.add_argument("--device", help="a filter string, such as gpu or level_zero:0")
            command.add_argument(
                "--seconds", type=_seconds, default=1.0, help="time for each row; default: 1"
            )
    text = "show a picture that the device computes, and the time of NumPy"
    commands.add_parser("demo", help=text, description=text)
    _add_trace(commands)
    _add_build(commands)
    _add_migrate(commands)
    chosen, unknown = parser.parse_known_args(arguments)
    if unknown:
        commands.choices.get(chosen.command, parser).refuse(unknown)
    if chosen.paths and chosen.command is None:
        try:
            print(*(_PATHS[name]() for name in chosen.paths))
        except RuntimeError as error:
            parser.error(str(error))
        return 0
    if chosen.command is None:
        parser.error("which command? `usmx --help` lists them")
    if chosen.command == "trace":
        _take_options(chosen, sys.argv[1:] if arguments is None else arguments)
        output = chosen.output or ("trace.html" if chosen.html else "trace.json")
        return _trace(chosen.script, chosen.arguments, output, chosen.html)
    if chosen.command == "migrate":
        return _migrate(chosen.programs, chosen.diff)
    try:
        if chosen.command == "build":
            return _build(chosen.package, chosen.program, chosen.kinds)
        if chosen.command == "cache" and chosen.warm is not None:
            return _warm(chosen.warm)
        if chosen.command == "cache":
            return _cache(chosen.json, chosen.clear)
        if chosen.command == "bench":
            return _bench(chosen.json, chosen.device, chosen.seconds)
        if chosen.command == "config":
            return _config(chosen.json)
        if chosen.command == "demo":
            from ._demo import show

            print(show())
            return 0
        return {"devices": _devices, "doctor": _doctor}[chosen.command](chosen.json)
    except usmx.DeviceError as error:
        print(error, file=sys.stderr)
        return 1
    except ValueError as error:  # of a variable of the environment, whose name it begins with
        if not str(error).startswith("USMX_"):
            raise
        print(error, file=sys.stderr)
        return 1
