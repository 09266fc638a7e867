"""The CPU driver is found after a plain install, and when something is missing usmx says what."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from backend_row import needs

import usmx
from usmx import _runtime, _usmx

pytestmark = needs("cpu")

UNSET = {
    "OCL_ICD_FILENAMES": None,
    "ONEAPI_DEVICE_SELECTOR": None,
    "OCL_ICD_VENDORS": None,
    "USMX_SHOWN_DRIVER": None,
}
# Python without `site`, so that nothing of the environment runs before the program.
SITES = [path for path in sys.path if path]
BARE = f"import sys; sys.path[:] = {SITES!r}\n"


@pytest.fixture
def run_bare(run_python):
    """`run_python` where usmx.pth is not read and no variable is set."""

    def run(code: str, *, env=None):
        return run_python(BARE + textwrap.dedent(code), env={**UNSET, **(env or {})}, args=("-S",))

    return run


@pytest.fixture(scope="session")
def old_libraries(tmp_path_factory) -> dict[str, Path]:
    """Libraries with the names of the system's that are of no use to the runtime: empty ones."""
    folder = tmp_path_factory.mktemp("old")
    built = {}
    for name in ("libOpenCL.so.1", "libtbb.so.12"):
        file = folder / f"{name}.cpp"
        file.touch()
        built[name] = folder / name
        subprocess.run(
            ["g++", "-shared", "-fPIC", f"-Wl,-soname,{name}", file, "-o", built[name]],
            check=True,
        )
    return built


def test_the_cpu_works_without_any_variable(run_python):
    result = run_python(
        """
        import usmx, os
        print(usmx.Device("cpu").filter_string, os.environ["OCL_ICD_FILENAMES"])
        """,
        env=UNSET,
    )
    device, driver = result.stdout.split()
    assert device == "opencl:cpu:0"
    assert Path(driver).name == "libintelocl.so"
    assert Path(driver).exists()


@pytest.mark.parametrize("first", ["import usmx, dpctl", "import dpctl, usmx"])
def test_dpctl_sees_the_cpu_too(run_python, first):
    result = run_python(
        f"{first}\nprint([d.filter_string for d in dpctl.get_devices()])", env=UNSET
    )
    assert "opencl:cpu:0" in result.stdout


def test_the_c_library_sees_the_variable(run_python):
    code = """
        import usmx, ctypes
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        print(getenv(b"OCL_ICD_FILENAMES").decode())
        """
    assert "libintelocl.so" in run_python(code, env=UNSET).stdout


@pytest.mark.parametrize("chosen", ["", "/nonexistent/driver.so"])
def test_a_variable_that_the_user_set_stays(run_python, chosen):
    result = run_python(
        "import usmx, os; print('<' + os.environ['OCL_ICD_FILENAMES'] + '>', usmx.devices())",
        env={**UNSET, "OCL_ICD_FILENAMES": chosen},
    )
    assert result.stdout == f"<{chosen}> []\n"


def test_drivers_of_the_system_stay_visible(run_python, tmp_path):
    # A second driver registered the system's way: a copy of the name is enough to count platforms.
    driver = Path(_runtime.find_library("libintelocl.so")).resolve()
    link = driver.with_name(driver.name)
    (tmp_path / "vendor.icd").write_text(f"{link}\n")
    code = "import usmx; print(len(usmx.platforms()))"
    alone = run_python(code, env=UNSET)
    preset = run_python(code, env={**UNSET, "OCL_ICD_VENDORS": str(tmp_path)})
    only = run_python(
        code, env={**UNSET, "OCL_ICD_FILENAMES": "", "OCL_ICD_VENDORS": str(tmp_path)}
    )
    assert alone.stdout.strip() == "1"
    assert int(preset.stdout) >= 1
    assert only.stdout.strip() == "1"


@pytest.mark.parametrize(
    ("environment", "hint"),
    [
        ({"OCL_ICD_FILENAMES": "/nonexistent.so"}, "'/nonexistent.so', which does not exist"),
        ({"OCL_ICD_FILENAMES": ""}, "'' is set and does not contain the CPU driver"),
        ({"ONEAPI_DEVICE_SELECTOR": "cuda:*"}, "ONEAPI_DEVICE_SELECTOR='cuda:*' is set"),
    ],
)
def test_without_a_device_import_works_and_every_use_says_what_is_missing(
    run_python, environment, hint
):
    code = """
        import usmx
        assert usmx.devices() == [] and usmx.platforms() == []
        for use in (usmx.Device, usmx.Queue, usmx.Context, usmx.default_queue,
                    lambda: usmx.Device("cpu"), lambda: usmx.Queue("opencl:0"),
                    lambda: usmx.Queue(in_order=False)):
            try:
                use()
            except usmx.DeviceError as error:
                print(error)
        usmx.Event().wait()
        """
    lines = run_python(code, env={**UNSET, **environment}).stdout.splitlines()
    assert len(lines) == 7
    for line in lines:
        assert line.startswith("no SYCL device")
        assert hint in line
        assert "pip install" not in line  # it is installed
        assert "usmx doctor" in line


def test_nothing_but_the_library_is_needed_to_find_the_driver(run_bare):
    assert "opencl:cpu:0" in run_bare("import usmx; print(usmx.devices())").stdout


def test_other_libraries_may_ask_for_devices_before_usmx_is_imported(run_python):
    # As `import ray` does, through dpctl: the line in usmx.pth has run before both.
    code = "import dpctl; print(dpctl.get_devices()); import usmx; print(usmx.arange(3).to_numpy())"
    out = run_python(code, env=UNSET).stdout
    assert "device_type.cpu" in out
    assert "[0 1 2]" in out


def test_without_that_line_the_error_names_who_asked_and_what_helps(run_bare):
    code = """
        import dpctl
        assert dpctl.get_devices() == []
        import usmx
        try:
            usmx.Device()
        except usmx.DeviceError as error:
            print(error)
        """
    message = run_bare(code).stdout
    driver = _runtime.find_library("libintelocl.so")
    assert "libOpenCL.so.1' was loaded before usmx, by dpctl," in message
    assert f"OCL_ICD_FILENAMES={driver}" in message
    assert "pip install" not in message
    assert "unset" not in message
    code = "import dpctl; print(dpctl.get_devices())"
    assert "device_type.cpu" in run_bare(code, env={"OCL_ICD_FILENAMES": driver}).stdout


@pytest.mark.parametrize("name", ["libOpenCL.so.1", "libtbb.so.12"])
def test_libraries_of_the_system_may_be_loaded_after_usmx(run_bare, old_libraries, name):
    code = f"""
        import usmx, ctypes
        ctypes.CDLL({str(old_libraries[name])!r})
        print(usmx.arange(3).to_numpy())
        """
    assert run_bare(code).stdout == "[0 1 2]\n"


def test_a_tbb_that_was_first_is_named_with_the_line_that_helps(run_bare, old_libraries):
    old = old_libraries["libtbb.so.12"]
    code = f"""
        import ctypes
        ctypes.CDLL({str(old)!r})
        import usmx
        try:
            print(usmx.Device())
        except usmx.DeviceError as error:
            print(error)
        """
    message = run_bare(code).stdout
    ours = _runtime.find_library("libtbb.so.12")
    assert f"'{old}' was loaded before usmx" in message
    assert f"LD_PRELOAD={ours}" in message
    assert "<usmx.Device opencl:cpu:0" in run_bare(code, env={"LD_PRELOAD": ours}).stdout


def test_a_loader_of_the_system_that_was_first_is_shown_the_driver_its_own_way(
    run_bare, old_libraries
):
    old = old_libraries["libOpenCL.so.1"]
    code = f"""
        import ctypes
        ctypes.CDLL({str(old)!r})
        import usmx
        try:
            usmx.Device()
        except usmx.DeviceError as error:
            print(error)
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        print(getenv(b"OCL_ICD_VENDORS"))
        """
    message, shown = run_bare(code).stdout.splitlines()
    driver = _runtime.find_library("libintelocl.so")
    # Drivers that the system has registered are not hidden.
    registered = list(Path("/etc/OpenCL/vendors").glob("*.icd"))
    assert shown == str(None if registered else os.fsencode(driver))
    assert f"'{old}' was loaded before usmx" in message
    assert f"OCL_ICD_VENDORS={driver}" in message


def test_what_usmx_of_another_environment_has_set_is_no_choice_of_the_user(run_python, run_bare):
    other = {
        "OCL_ICD_FILENAMES": "/other/libintelocl.so",
        "USMX_SHOWN_DRIVER": "/other/libintelocl.so",
    }
    code = "import os, usmx; print(os.environ['OCL_ICD_FILENAMES'], len(usmx.devices()))"
    for run in (run_python, run_bare):
        driver, count = run(code, env=other).stdout.split()
        assert driver == _runtime.find_library("libintelocl.so")
        assert int(count) >= 1


def test_a_filter_for_the_cpu_says_why_there_is_none(run_python):
    # Without any device the whole story is told; it names no wheel that is installed.
    code = """
        import usmx
        try:
            usmx.Device("cpu")
        except usmx.DeviceError as error:
            print(error)
        """
    message = run_python(code, env={**UNSET, "OCL_ICD_FILENAMES": ""}).stdout
    assert f"does not contain the CPU driver '{_usmx._cpu_driver()['driver']}': unset it" in message
    assert "pip install" not in message


def test_a_malformed_selector_is_an_error_with_the_runtimes_words(run_python):
    code = """
        import usmx
        for use in (usmx.devices, usmx.Device):
            try:
                use()
            except RuntimeError as error:
                print(error)
        """
    out = run_python(code, env={"ONEAPI_DEVICE_SELECTOR": "nonsense:x:y:z"}).stdout
    assert len(out.splitlines()) == 2
    assert "ONEAPI_DEVICE_SELECTOR" in out


def test_objects_alive_at_exit_are_harmless(run_python):
    run_python(
        """
        import usmx, sys, builtins
        builtins.kept = [usmx.Queue("cpu"), usmx.Queue(in_order=False), usmx.Context(["cpu"]),
                         usmx.Queue()._get_capsule(), usmx.Queue().submit_barrier(), usmx.Device()]
        class Late:
            def __del__(self):
                usmx.Queue()
        sys.late = Late()
        """
    )


def test_a_forked_child_and_a_fresh_one_can_use_the_device(run_python):
    run_python(
        """
        import multiprocessing, usmx
        usmx.Queue().submit_barrier().wait()
        for method in ("fork", "spawn"):
            child = multiprocessing.get_context(method).Process(target=usmx.Queue)
            child.start()
            child.join(60)
            assert child.exitcode == 0, (method, child.exitcode)
        """,
        args=("-W", "ignore"),
    )


def test_without_the_driver_the_error_names_the_wheel(run_python, tmp_path):
    # The libraries of the environment without the driver; this path comes before all others.
    site = tmp_path / "lib" / "python" / "site-packages"
    site.mkdir(parents=True)
    package = Path(usmx.__file__).parent
    shutil.copytree(package, site / "usmx", symlinks=False, ignore=shutil.ignore_patterns("*.pyc"))
    runtime = Path(_runtime.find_library("libsycl.so.9")).parent
    for file in (*runtime.glob("libsycl*"), *runtime.glob("libur_*"), *runtime.glob("libumf*")):
        shutil.copy(file, tmp_path / "lib")
    loaded = re.findall(r"/\S*/libusmx\.so\.\S+", Path("/proc/self/maps").read_text())
    shutil.copy(loaded[0], tmp_path / "lib")
    libraries = {"LD_LIBRARY_PATH": str(tmp_path / "lib")}
    code = f"""
        import sys
        sys.path.insert(0, {str(site)!r})
        import usmx
        assert usmx.__file__.startswith({str(site)!r})
        try:
            usmx.Device()
        except usmx.DeviceError as error:
            print(error)
        """
    message = run_python(
        BARE + textwrap.dedent(code), env={**UNSET, **libraries}, args=("-S",)
    ).stdout
    assert "pip install intel-opencl-rt" in message


def broken_copy(tmp_path: Path) -> Path:
    """The package as if installed in an environment without a SYCL runtime."""
    source = Path(usmx.__file__).parent
    target = tmp_path / "lib" / "python" / "site-packages" / "usmx"
    target.mkdir(parents=True)
    for file in source.glob("*.py"):
        shutil.copy(file.resolve(), target)
    # Stands for the compiled module: the loader's complaint is what matters.
    (target / "_usmx.py").write_text(
        "raise ImportError('libsycl.so.9: cannot open shared object file: No such file')\n"
    )
    return target.parent


def test_a_missing_runtime_names_the_wheel(run_python, tmp_path):
    site = broken_copy(tmp_path)
    result = run_python(
        f"""
        import sys
        sys.prefix = sys.base_prefix = {str(tmp_path)!r}
        sys.path.insert(0, {str(site)!r})
        import usmx
        """,
        env={"PYTHONPATH": None},
        check=False,
    )
    assert result.returncode == 1
    assert "ImportError: usmx needs libsycl.so.9" in result.stderr
    assert "pip install 'intel-sycl-rt" in result.stderr


def test_a_runtime_of_another_version_is_named(run_python, tmp_path):
    site = broken_copy(tmp_path)
    (tmp_path / "lib" / "libsycl.so.8").touch()
    result = run_python(
        f"""
        import sys
        sys.prefix = sys.base_prefix = {str(tmp_path)!r}
        sys.path.insert(0, {str(site)!r})
        import usmx
        """,
        env={"PYTHONPATH": None},
        check=False,
    )
    assert f"{tmp_path}/lib/libsycl.so.8: another major version" in result.stderr


def test_a_runtime_that_the_loader_misses_is_loaded_from_where_it_is(run_python, tmp_path):
    site = broken_copy(tmp_path)
    # The first import complains, the second finds libsycl in the process and goes through.
    (site / "usmx" / "_usmx.py").write_text(
        "import os\n"
        "if 'libsycl.so.9' not in open('/proc/self/maps').read():\n"
        "    raise ImportError('libsycl.so.9: cannot open shared object file: No such file')\n"
        "print('loaded')\n"
        "def _cpu_driver(): return {'shown': False}\n"
    )
    (site / "usmx" / "__init__.py").write_text("from . import _runtime\n")
    result = run_python(
        f"import sys; sys.path.insert(0, {str(site)!r}); import usmx", env={"PYTHONPATH": None}
    )
    assert result.stdout == "loaded\n"


@pytest.mark.parametrize("site", ["env/lib/python3.11/site-packages", "env/folder"])
def test_finding_libraries_looks_beside_the_package_first(site, tmp_path, monkeypatch):
    monkeypatch.setattr(_runtime, "__file__", str(tmp_path / site / "usmx" / "_runtime.py"))
    folders = _runtime.library_folders()
    assert os.path.join(sys.prefix, "lib") in folders
    # `pip install --target` makes a folder; what is above it belongs to another user.
    in_environment = site.endswith("site-packages")
    assert folders[0] == str(tmp_path / ("env/lib" if in_environment else "env/folder/lib"))
    assert str(tmp_path) not in folders
    assert len(set(folders)) == len(folders)
    assert _runtime.find_library("libdoes_not_exist.so") is None


@pytest.mark.parametrize("use", ["", "usmx.ElementwiseKernel('T x', 'T y', 'y = x')(x)"])
def test_a_device_is_found_in_a_folder_that_was_removed(run_python, use):
    code = f"""
        import os, tempfile
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)
        import usmx
        x = usmx.ones(3)
        {use}
        print(x.sum().item(), len(usmx.devices()))
        try:
            os.getcwd()
        except FileNotFoundError:
            print("still there")
    """
    value, devices, *rest = run_python(code, timeout=60).stdout.split()
    assert value == "3.0"
    assert int(devices) >= 1
    assert rest == ["still", "there"]


def test_a_runtime_that_another_library_started_in_a_removed_folder_is_explained(run_python):
    code = """
        import os, tempfile
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)
        import dpctl
        dpctl.get_devices()
        import usmx
        try:
            usmx.ones(3)
        except usmx.DeviceError as error:
            print(error)
    """
    assert "working folder of this process was removed" in run_python(code, timeout=60).stdout


@pytest.mark.parametrize("removed", ["name.startswith('usmx')", "name == 'usmx._usmx'"])
def test_importing_twice_in_one_process_says_that_it_cannot(run_python, removed):
    code = f"""
        import sys, usmx
        x = usmx.ones(2)
        for name in [name for name in sys.modules if {removed}]:
            del sys.modules[name]
        try:
            import usmx._usmx
        except ImportError as error:
            print(error)
        print(x.tolist())
    """
    done = run_python(code)
    assert "more than once per process" in done.stdout
    assert done.stdout.endswith("[1.0, 1.0]\n")
    assert done.stderr == ""


def test_the_package_can_be_imported_again_over_its_loaded_module(run_python):
    code = """
        import importlib, sys, usmx
        del sys.modules["usmx"]
        import usmx as again
        print(importlib.reload(again).ones(3).sum().item())
    """
    assert run_python(code).stdout == "3.0\n"


def test_import_is_light(run_python):
    loaded = run_python("import sys, usmx; print(' '.join(sys.modules))").stdout.split()
    heavy = {"numpy", "ctypes", "importlib.metadata", "subprocess", "typing", "re", "rich", "json"}
    bare = run_python("import sys; print(' '.join(sys.modules))").stdout.split()
    assert not heavy & (set(loaded) - set(bare))
