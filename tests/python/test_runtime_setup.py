"""The CPU driver is found after a plain install, and when something is missing usmx says what."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

import usmx
from usmx import _runtime

UNSET = {"OCL_ICD_FILENAMES": None, "ONEAPI_DEVICE_SELECTOR": None}


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
    beside = run_python(code, env={**UNSET, "OCL_ICD_VENDORS": str(tmp_path)})
    only = run_python(
        code, env={**UNSET, "OCL_ICD_FILENAMES": "", "OCL_ICD_VENDORS": str(tmp_path)}
    )
    assert alone.stdout.strip() == "1"
    assert int(beside.stdout) >= 1
    assert only.stdout.strip() == "1"


@pytest.mark.parametrize(
    ("environment", "hint"),
    [
        ({"OCL_ICD_FILENAMES": "/nonexistent.so"}, "'/nonexistent.so', which does not exist"),
        ({"OCL_ICD_FILENAMES": ""}, "pip install intel-opencl-rt"),
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
        assert "pip install intel-opencl-rt" in line
        assert "usmx doctor" in line


def test_asking_for_devices_before_import_is_too_late_and_the_error_says_so(run_python):
    code = """
        import dpctl
        assert dpctl.get_devices() == []
        import usmx
        try:
            usmx.Device()
        except usmx.DeviceError as error:
            print(error)
        """
    assert "import usmx before" in run_python(code, env=UNSET).stdout


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


def broken_copy(tmp_path: Path) -> Path:
    """The package as if installed where no SYCL runtime is beside it."""
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
    )
    (site / "usmx" / "__init__.py").write_text("from . import _runtime\n")
    result = run_python(
        f"import sys; sys.path.insert(0, {str(site)!r}); import usmx", env={"PYTHONPATH": None}
    )
    assert result.stdout == "loaded\n"


def test_finding_libraries_looks_beside_the_package_first():
    folders = _runtime.library_folders()
    package = Path(_runtime.__file__).parent
    assert os.path.join(sys.prefix, "lib") in folders
    assert folders[0] == str(package.parents[2])
    assert len(set(folders)) == len(folders)
    assert _runtime.find_library("libdoes_not_exist.so") is None


def test_import_is_light(run_python):
    loaded = run_python("import sys, usmx; print(' '.join(sys.modules))").stdout.split()
    heavy = {"numpy", "ctypes", "importlib.metadata", "subprocess", "typing", "re", "rich", "json"}
    bare = run_python("import sys; print(' '.join(sys.modules))").stdout.split()
    assert not heavy & (set(loaded) - set(bare))
