"""Finds what tests/lab built, and starts programs under it.

python lab.py simulated COMMAND...      on the simulated device
python lab.py sanitized COMMAND...      with the sanitizers' libraries under an ordinary Python
python lab.py leak-checked COMMAND...   with the SYCL runtime's own check of its handles
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Builds whose libraries an ordinary process cannot load.
SANITIZED = ("asan", "tsan", "fuzz")


@cache
def built(name: str) -> Path:
    """The newest build of a file of tests/lab; USMX_LAB names the folder if there are several."""
    # Not by importing it: a sanitized usmx can be imported only where this is about to lead.
    package = importlib.util.find_spec("usmx")
    origin = Path(package.origin).absolute() if package and package.origin else None
    imported_from = [origin.parents[2] / "tests" / "lab"] if origin else []
    folders = [
        *([Path(os.environ["USMX_LAB"])] if "USMX_LAB" in os.environ else []),
        *imported_from,
        *sorted(
            (
                folder
                for folder in ROOT.glob("build/*/tests/lab")
                if folder.parents[1].name not in SANITIZED
            ),
            key=lambda folder: folder.stat().st_mtime,
            reverse=True,
        ),
    ]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(
        f"{name} is not built: configure with -DUSMX_BUILD_TESTS=ON, or set USMX_LAB "
        f"(looked in {', '.join(map(str, folders))})"
    )


def simulated(*options: str, faults: str = "") -> dict[str, str]:
    """Environment variables that put a process on the simulated discrete device.

    Options and faults are described in docs/testing.md: ``simulated("report", faults="memcpy:3")``.
    Without pools, unless USMX_POOL says otherwise: only what the device allocated itself has pages
    of its own, so that it sees where it ends and when it is gone.
    """
    return {
        "USMX_POOL": os.environ.get("USMX_POOL", "0"),
        # The table of backends takes it for the processor that it is, with shared memory.
        "USMX_USM_TYPE": os.environ.get("USMX_USM_TYPE", "device"),
        "OPENCL_LAYERS": str(built("libsimulated_device.so")),
        "USMX_SIMULATED_DEVICE": ",".join(options),
        "USMX_FAULTS": faults,
    }


def planted(
    defect: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program that has this one defect."""
    program = built("planted_defects")
    from usmx import _runtime

    library = _runtime.find_library("libsycl.so.9")
    assert library is not None
    return subprocess.run(
        [program, defect],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(Path(library).parent),
            **(environment or {}),
        },
    )


def sanitized() -> dict[str, str]:
    """Environment variables for a sanitized module in an interpreter that is not."""
    libraries = [
        subprocess.run(
            ["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    runtime = next(
        file for file in metadata.files("intel-sycl-rt") or [] if file.name == "libsycl.so.9"
    )
    return {
        "LD_PRELOAD": ":".join(libraries),
        # ASan opens libraries in place of the one that asks, whose RUNPATH then does not count.
        "LD_LIBRARY_PATH": str(Path(str(runtime.locate())).resolve().parent),
        # Python's own allocator would hide what is wrong with small blocks.
        "PYTHONMALLOC": "malloc",
        # The OpenCL compiler frees with delete what it got from malloc, and the driver replaces a
        # thread's signal stack. What Python keeps until the process ends is not our leak; the
        # C++ tests look for those.
        "ASAN_OPTIONS": "alloc_dealloc_mismatch=0:use_sigaltstack=0:detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def leak_checked() -> dict[str, str]:
    """Environment variables with which the runtime names each handle that was not released."""
    return {
        "UR_ENABLE_LAYERS": "UR_LAYER_LEAK_CHECKING",
        "UR_LOG_VALIDATION": "level:error;output:stderr",
    }


class SimulatedDevice:
    """The simulated device of this process: to make calls fail, and to see what is alive."""

    def __init__(self) -> None:
        if os.environ.get("OPENCL_LAYERS") != str(built("libsimulated_device.so")):
            raise RuntimeError("this process was not started with lab.simulated()")
        self._c = ctypes.CDLL(str(built("libsimulated_device.so")))
        self._c.simulated_device_kind.restype = ctypes.c_char_p
        self._c.simulated_device_live_bytes.restype = ctypes.c_size_t
        for name in ("calls", "live", "in_flight", "defects"):
            getattr(self._c, f"simulated_device_{name}").restype = ctypes.c_long

    @property
    def kinds(self) -> list[str]:
        """What can be made to fail."""
        kinds = []
        while kind := self._c.simulated_device_kind(len(kinds)):
            kinds.append(kind.decode())
        return kinds

    def fail(self, kind: str, nth: int, *, onwards: bool = False) -> None:
        """Let the nth call from now fail, with ``onwards`` all after it too; 0 for none."""
        if not self._c.simulated_device_fail(kind.encode(), ctypes.c_long(nth), onwards):
            raise ValueError(f"kind: {kind!r} is none of {self.kinds}")

    def calls(self, kind: str) -> int:
        """Calls since the last `fail` of this kind."""
        return int(self._c.simulated_device_calls(kind.encode()))

    @property
    def live(self) -> int:
        """Allocations that are not freed."""
        return int(self._c.simulated_device_live())

    @property
    def live_bytes(self) -> int:
        """Bytes of the allocations that are not freed."""
        return int(self._c.simulated_device_live_bytes())

    @property
    def in_flight(self) -> int:
        """Commands that are submitted and not finished."""
        return int(self._c.simulated_device_in_flight())

    @property
    def defects(self) -> int:
        """Defects that were reported on stderr."""
        return int(self._c.simulated_device_defects())


def main(arguments: list[str]) -> None:
    options = os.environ.get("USMX_SIMULATED_DEVICE", "")
    ways = {
        "simulated": lambda: simulated("report", *filter(None, [options])),
        "sanitized": sanitized,
        "leak-checked": leak_checked,
    }
    if len(arguments) < 2 or arguments[0] not in ways:
        sys.exit(__doc__)
    variables = ways[arguments[0]]()
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    os.execvpe(arguments[1], arguments[1:], {**os.environ, **variables, "PYTHONPATH": path})


if __name__ == "__main__":
    main(sys.argv[1:])
