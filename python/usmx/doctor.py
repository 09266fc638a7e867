"""What is needed for SYCL to work in this process, checked one by one, each fault with its fix.

Everything that may crash or hang (a driver, a self-test on a device) runs in a process of its own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

import usmx

from . import _explained, _runtime, _usmx

__all__ = ["Finding", "diagnose", "self_test"]

_PACKAGES = (
    "intel-sycl-rt",
    "intel-opencl-rt",
    "intel-cmplr-lib-ur",
    "umf",
    "numpy",
    "dpctl",
    "dpnp",
)
_VARIABLES = re.compile(
    r"(SYCL|UR|OCL_ICD|OPENCL|ONEAPI|ZE|ZES|ZET|USMX|XPTI|INTEL_OPENCL|CL_CONFIG)_|"
    r"(LD_LIBRARY_PATH|LD_PRELOAD|CUDA_VISIBLE_DEVICES|CUDA_PATH|ROCR_VISIBLE_DEVICES)$"
)
_VENDORS = "/etc/OpenCL/vendors"
# What Unified Runtime looks for in libsycl's folder; OpenCL's adapter is inside libsycl itself.
_ADAPTERS = {
    "level_zero": "Intel GPUs",
    "level_zero_v2": "Intel GPUs",
    "cuda": "NVIDIA GPUs",
    "hip": "AMD GPUs",
    "native_cpu": "the CPU without a driver",
}
_KIND_VARIABLE = "USMX_USM_TYPE"
_SELF_TEST_SECONDS = 120
_JIT_FOLDER = "/sycl-jit-toolchain/lib"
_SHOWN = (_runtime.DRIVERS_VARIABLE, _runtime.SHOWN_VARIABLE, "OCL_ICD_VENDORS")


@dataclass(frozen=True)
class Finding:
    """One thing that was checked.

    Attributes
    ----------
    level : str
        "ok"; "note", worth knowing; "warning", works but may surprise; "error", broken.
    topic : str
        What it belongs to.
    text : str
        What was found.
    fix : str
        What to do, for warnings and errors.

    Examples
    --------
    >>> import usmx.doctor
    >>> found = usmx.doctor.diagnose()
    >>> all(isinstance(one, usmx.doctor.Finding) for one in found)
    True
    """

    level: str
    topic: str
    text: str
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        """The same as a dictionary, for JSON.

        Returns
        -------
        dict of str
        """
        return asdict(self)


def _versions() -> Iterator[Finding]:
    topic = "Versions"
    yield Finding("ok", topic, f"Python {platform.python_version()} ({sys.executable})")
    yield Finding("ok", topic, f"usmx {usmx.__version__} ({os.path.dirname(usmx.__file__)})")
    for name in _PACKAGES:
        try:
            yield Finding("ok", topic, f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    yield Finding("ok", topic, f"{platform.platform()}, {platform.machine()}")


def _loaded_libraries(stem: str) -> list[str]:
    """Paths of the libraries of that name in this process."""
    pattern = re.compile(rf"(/\S*/{stem}\.so[.\d]*)$")
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        found = (pattern.search(line.strip()) for line in maps)
        return sorted({match[1] for match in found if match})


def _runtime_library() -> Iterator[Finding]:
    topic = "SYCL runtime"
    loaded = _loaded_libraries("libsycl")
    majors = {match[1] for path in loaded if (match := re.search(r"\.so\.(\d+)", path))}
    for path in loaded:
        yield Finding("ok", topic, f"{path}")
    if len(majors) > 1:
        yield Finding(
            "error",
            topic,
            f"{len(majors)} major versions of libsycl are in one process: queues and memory cannot "
            "cross between them",
            f"bring all SYCL packages to one version: {_runtime.INSTALL_RUNTIME}",
        )
    # A wheel has copies in place of links, so one installation has a file for each of its names.
    used = {os.path.dirname(os.path.realpath(path)) for path in loaded}
    for folder in _library_path():
        others = {
            os.path.realpath(path)
            for path in glob.glob(f"{folder}/libsycl.so.*")
            if re.search(r"\.so(\.\d+)+$", path)
        }
        for other in sorted(path for path in others if os.path.dirname(path) not in used):
            yield Finding(
                "warning",
                topic,
                f"LD_LIBRARY_PATH offers another libsycl, {other}: programs started from here may "
                "load it instead",
                "unset LD_LIBRARY_PATH, or install matching versions",
            )


def _library_path() -> list[str]:
    return [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]


def _drivers() -> Iterator[Finding]:
    topic = "OpenCL drivers"
    found = _usmx._cpu_driver()
    value = os.environ.get(_runtime.DRIVERS_VARIABLE)
    if not found["driver"]:
        yield Finding(
            "warning",
            topic,
            f"no {_runtime.CPU_DRIVER} in {', '.join(_runtime.library_folders())}: no CPU device",
            _runtime.INSTALL_CPU_DRIVER,
        )
    elif found["shown"]:
        yield Finding("ok", topic, f"{found['driver']} (found by usmx)")
    if value is not None and not found["shown"]:
        yield Finding("note", topic, f"{_runtime.DRIVERS_VARIABLE}={value!r} was set before usmx")
        for path in filter(None, value.split(":")):
            if path.startswith("/") and not os.path.exists(path):
                install = "" if found["driver"] else f"; {_runtime.INSTALL_CPU_DRIVER}"
                yield Finding(
                    "warning" if _devices() else "error",
                    topic,
                    f"{path} in {_runtime.DRIVERS_VARIABLE} does not exist",
                    f"unset {_runtime.DRIVERS_VARIABLE}{install}",
                )
    for what, path in (("OpenCL loader", found["early_loader"]), ("TBB", found["early_tbb"])):
        if path:
            yield Finding("note", topic, f"{path} was loaded before usmx: it is the {what} in use")
    folder = os.environ.get("OCL_ICD_VENDORS", _VENDORS)
    for path in sorted(glob.glob(f"{folder}/*.icd")):
        with open(path, encoding="utf-8", errors="replace") as file:
            yield Finding("ok", topic, f"{file.read().strip()} (registered by {path})")


def _can_load(path: str) -> str:
    """Why the library cannot be loaded; empty if it can. Asked in another process."""
    code = "import ctypes, sys\ntry: ctypes.CDLL(sys.argv[1])\nexcept OSError as e: print(e)"
    try:
        result = subprocess.run(
            [sys.executable, "-S", "-c", code, path],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "loading it hangs"
    if result.returncode < 0:
        return f"loading it ends the process with signal {-result.returncode}"
    return result.stdout.strip()


def _adapters() -> Iterator[Finding]:
    topic = "Adapters"
    yield Finding("ok", topic, "opencl: inside libsycl")
    runtime_folders = [os.path.dirname(path) for path in _loaded_libraries("libsycl")]
    folders = list(dict.fromkeys([*runtime_folders, *_library_path()]))
    found = set()
    for name, what in _ADAPTERS.items():
        for folder in folders:
            path = os.path.join(folder, f"libur_adapter_{name}.so.0")
            if not os.path.exists(path):
                continue
            found.add(name)
            fault = _can_load(path)
            if fault:
                yield Finding("note", topic, f"{name} (for {what}): not usable, {fault}")
            else:
                yield Finding("ok", topic, f"{name} (for {what}): {path}")
            break
    backends = {device.backend for device in _devices()}
    if os.path.exists("/dev/nvidiactl") and "cuda" not in backends:
        yield Finding(
            "warning",
            topic,
            "there is an NVIDIA GPU, but no device of the CUDA backend"
            + ("" if "cuda" in found else ": libur_adapter_cuda.so.0 is missing"),
            "install Codeplay's oneAPI plug-in for NVIDIA GPUs that matches libsycl, and put the "
            "folder of libur_adapter_cuda.so.0 on LD_LIBRARY_PATH",
        )
    if os.path.exists("/dev/kfd") and "hip" not in backends:
        yield Finding(
            "warning",
            topic,
            "there is an AMD GPU, but no device of the HIP backend",
            "install Codeplay's oneAPI plug-in for AMD GPUs that matches libsycl",
        )
    if _intel_gpu() and "level_zero" not in backends:
        yield Finding(
            "warning",
            topic,
            "there is an Intel GPU, but no device of the Level Zero backend",
            "install its driver: apt install libze1 libze-intel-gpu1 intel-opencl-icd; your user "
            "must belong to the group `render`",
        )


def _intel_gpu() -> bool:
    for path in glob.glob("/sys/class/drm/renderD*/device/vendor"):
        with open(path, encoding="ascii") as file:
            if file.read().strip() == "0x8086":
                return True
    return False


def _devices() -> list[usmx.Device]:
    try:
        return usmx.devices()
    except RuntimeError:
        return []  # _device_tests says why


def self_test(filter_string: str) -> dict[str, Any]:
    """Allocate, fill, copy and compute on one device.

    Parameters
    ----------
    filter_string : str
        The device, such as ``"opencl:cpu:0"``.

    Returns
    -------
    dict
        For each kind of USM and for ``"kernel"``: "" if it works, otherwise what went wrong.

    Examples
    --------
    >>> import usmx
    >>> import usmx.doctor
    >>> usmx.doctor.self_test(usmx.Queue().device.filter_string)["kernel"]
    ''
    """
    from usmx import memory

    queue = usmx.Queue(filter_string)
    classes = {
        "device": memory.MemoryUSMDevice,
        "shared": memory.MemoryUSMShared,
        "host": memory.MemoryUSMHost,
    }
    results: dict[str, Any] = {}
    for kind in queue.device.usm_kinds:
        try:
            source = classes[kind](4096, queue=queue)
            target = classes[kind](4096, queue=queue)
            source.memset(0x5A)
            target.copy_from_device(source)
            results[kind] = "" if target.tobytes() == b"\x5a" * 4096 else "the copy differs"
        except Exception as error:
            results[kind] = f"{type(error).__name__}: {error}"
    try:
        kernel = usmx.RawKernel(
            "USMX_KERNEL(1) add(unsigned char* x) { x[usmx::global_id()] += 1; }", "add"
        )
        x = memory.MemoryUSMDevice(64, queue=queue)
        x.memset(1)
        kernel[64](x).wait()
        results["kernel"] = "" if x.tobytes() == b"\x02" * 64 else "the result differs"
    except Exception as error:
        results["kernel"] = f"{type(error).__name__}: {error}"
    return results


def _test_apart(filter_string: str) -> dict[str, Any]:
    """`self_test` in a process of its own, which a broken driver may crash or hang."""
    code = (
        "import json, sys\nfrom usmx.doctor import self_test\n"
        "print(json.dumps(self_test(sys.argv[1])))"
    )
    # The child has to find this usmx too if it is not installed.
    parent = os.path.dirname(os.path.dirname(os.path.abspath(usmx.__file__)))
    path = os.pathsep.join(filter(None, [parent, os.environ.get("PYTHONPATH")]))
    try:
        result = subprocess.run(
            [sys.executable, "-c", code, filter_string],
            capture_output=True,
            text=True,
            timeout=_SELF_TEST_SECONDS,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"self-test": f"hangs for more than {_SELF_TEST_SECONDS} s"}
    if result.returncode != 0:
        # The last line may be a note that leads to the page of troubleshooting.
        lines = [x for x in result.stderr.strip().splitlines() if not x.startswith("help: ")]
        tail = lines[-1] if lines else "no message"
        return {"self-test": f"ended with code {result.returncode}: {tail}"}
    report: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return report


def _device_fix() -> str:
    """What to do when no device is found."""
    found = _usmx._cpu_driver()
    if "ONEAPI_DEVICE_SELECTOR" in os.environ:
        return "unset ONEAPI_DEVICE_SELECTOR"
    if not found["driver"]:
        return _runtime.INSTALL_CPU_DRIVER
    if not found["shown"]:  # never what usmx set itself
        return f"unset {_runtime.DRIVERS_VARIABLE}, so that usmx finds the CPU driver"
    if found["early_loader"] or found["early_tbb"]:
        return "import usmx before the library that is named"
    return f"{_runtime.INSTALL_CPU_DRIVER} --force-reinstall"


def _fault_fix(device: usmx.Device, fault: str) -> str:
    """What to do when a device fails its self-test."""
    if "libspirv" in fault:
        # Found by walking up from a folder that must exist, although its files are in memory.
        return f"mkdir -p {_JIT_FOLDER}: the run-time compiler looks for its device library there"
    return (
        f"update the driver ({device.driver_version}) and the runtime: {_runtime.INSTALL_RUNTIME}"
    )


def _device_tests() -> Iterator[Finding]:
    topic = "Devices"
    try:
        found = usmx.devices()
        if not found:
            usmx.Device()
    except RuntimeError as error:
        yield Finding("error", topic, str(error), _device_fix())
        return
    for device in found:
        name = f"{device.filter_string} ({device.name})"
        if not device.usm_kinds:
            yield Finding("warning", topic, f"{name} has no USM", "use another device")
            continue
        try:
            kind = usmx.default_usm_type(device=device)
        except ValueError as error:
            yield Finding("error", topic, f"{name}: {error}", f"unset {_KIND_VARIABLE}")
        else:
            why = f", by {_KIND_VARIABLE}" if os.environ.get(_KIND_VARIABLE) else ""
            yield Finding("ok", topic, f"{name}: new arrays are in {kind} memory{why}")
        for what, fault in _test_apart(str(device.filter_string)).items():
            doing = f"{what} USM: allocate, fill, copy"
            text = f"{name}: {'run-time compiled kernel' if what == 'kernel' else doing}"
            if fault:
                yield Finding("error", topic, f"{text}: {fault}", _fault_fix(device, fault))
            else:
                yield Finding("ok", topic, text)


def _compilation() -> Iterator[Finding]:
    topic = "Kernels from source"
    runtime_folders = [os.path.dirname(path) for path in _loaded_libraries("libsycl")]
    compilers = [
        path for folder in runtime_folders for path in glob.glob(f"{folder}/libsycl-jit.so*")
    ]
    if compilers:
        yield Finding("ok", topic, compilers[0])
    else:
        yield Finding(
            "error",
            topic,
            f"no libsycl-jit.so in {', '.join(runtime_folders)}: kernels cannot be compiled",
            f"{_runtime.INSTALL_RUNTIME} --force-reinstall",
        )
    compiler = shutil.which("g++") or shutil.which("c++")
    headers = glob.glob("/usr/include/c++/*/algorithm")
    if compiler or headers:
        yield Finding(
            "ok",
            topic,
            f"C++ standard headers for SYCL headers in kernels: {compiler or headers[0]}",
        )
    else:
        yield Finding(
            "note",
            topic,
            "no g++ and no C++ standard headers: kernels that include SYCL headers cannot be "
            "compiled; those that include none can",
            "apt install g++",
        )


def _libraries() -> Iterator[Finding]:
    from ._namespace import _nvidia, _onemkl

    topic = "Libraries for matrices and transforms"
    yield Finding("ok", topic, "NumPy, on CPU devices")
    if not _devices():
        return  # oneMKL lists devices when it is loaded, and ends the process if that fails
    missing = _onemkl.missing()
    if missing:
        yield Finding("note", topic, f"oneMKL is not used: {missing}", 'pip install "usmx[mkl]"')
    else:
        yield Finding("ok", topic, "oneMKL, on Intel's devices")
    if not any(device.backend == "cuda" for device in _devices()):
        return
    if missing := _nvidia.missing():
        yield Finding(
            "note",
            topic,
            f"NVIDIA's libraries are not used: {missing}",
            'pip install "usmx[cuda]"',
        )
    else:
        yield Finding("ok", topic, "cuBLAS, cuSOLVER and cuFFT, on NVIDIA's devices")


def _environment() -> Iterator[Finding]:
    topic = "Environment"
    for name in sorted(os.environ):
        if _VARIABLES.match(name):
            by_usmx = name in _SHOWN and os.environ[name] == _runtime.shown_driver()
            yield Finding(
                "note", topic, f"{name}={os.environ[name]}{' (by usmx)' if by_usmx else ''}"
            )
    if "ONEAPI_DEVICE_SELECTOR" in os.environ:
        yield Finding(
            "warning",
            topic,
            "ONEAPI_DEVICE_SELECTOR hides devices that it does not name",
            "unset ONEAPI_DEVICE_SELECTOR to see all",
        )
    if "LD_PRELOAD" in os.environ:
        yield Finding("note", topic, "LD_PRELOAD puts libraries before all others")
    if any(device.backend == "level_zero" and device.free_memory is None for device in _devices()):
        yield Finding(
            "note",
            topic,
            "free memory of Level Zero devices is unknown",
            "set ZES_ENABLE_SYSMAN=1",
        )
    if sys.version_info < (3, 14):
        yield Finding(
            "note",
            topic,
            "multiprocessing starts children by fork here: a child hangs if a host task ever ran "
            "in the parent (usmx runs none, other libraries do)",
            'multiprocessing.set_start_method("forkserver")',
        )


def diagnose() -> list[Finding]:
    """Check everything.

    Returns
    -------
    list of Finding
        Grouped by topic. usmx is broken if one of them is an error.

    Examples
    --------
    >>> import usmx
    >>> import usmx.doctor
    >>> all(found.level in ("ok", "note", "warning", "error") for found in usmx.doctor.diagnose())
    True
    """
    checks = (
        _versions,
        _runtime_library,
        _drivers,
        _adapters,
        _device_tests,
        _compilation,
        _libraries,
        _environment,
    )
    return [finding for check in checks for finding in check()]


_explained.explain(globals())
