"""The command `usmx` lists devices, and its doctor names the fix of what is broken."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from backend_row import ROW, needs

import usmx
from usmx import cli, doctor

HEALTHY = {
    "OCL_ICD_FILENAMES": None,
    "ONEAPI_DEVICE_SELECTOR": None if ROW.is_host else os.environ.get("ONEAPI_DEVICE_SELECTOR"),
    "USMX_SHOWN_DRIVER": None,
}


def run(*arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ}
    for name, value in {**HEALTHY, **environment}.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    return subprocess.run(
        [sys.executable, "-m", "usmx", *arguments],
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"usmx {usmx.__version__}\n")


@pytest.mark.parametrize("arguments", [(), ("cure",), ("devices", "--xml")])
def test_wrong_arguments_exit_with_2_and_the_usage(arguments):
    result = run(*arguments)
    assert result.returncode == 2
    assert "usage: usmx" in result.stderr


def test_devices_are_a_table():
    result = run("devices")
    assert result.returncode == 0
    (row,) = [line for line in result.stdout.splitlines() if ROW.device in line]
    cpu = usmx.Device(ROW.device)
    assert cpu.name in row
    assert cpu.driver_version in row
    assert "device shared host" in row
    assert "GiB" in row


def test_devices_as_json_tell_everything():
    report = json.loads(run("devices", "--json").stdout)
    assert [device["filter_string"] for device in report] == [
        device.filter_string for device in usmx.devices()
    ]
    assert sum(device["default"] for device in report) == 1
    cpu = usmx.Device(ROW.device)
    (told,) = [device for device in report if device["filter_string"] == cpu.filter_string]
    assert set(told["aspects"]) == cpu.aspects
    assert told["usm_kinds"] == list(cpu.usm_kinds)
    assert told["properties"]["max_compute_units"] == cpu.max_compute_units
    assert set(told["properties"]) == set(cpu.properties())


@pytest.mark.parametrize("arguments", [(), ("--json",)])
@needs("cpu")
def test_no_device_is_an_error_that_says_why(arguments):
    result = run("devices", *arguments, OCL_ICD_FILENAMES="")
    assert result.returncode == 1
    assert "OCL_ICD_FILENAMES='' is set and does not contain the CPU driver" in result.stderr
    assert result.stdout == ("[]\n" if arguments else "")


@pytest.mark.parametrize("command", ["devices", "doctor"])
def test_json_is_not_disturbed_by_what_adapters_write_to_stderr(command, monkeypatch, capfd):
    # As that of CUDA does when it is asked about an aspect that it does not know.
    def chatty(device):
        os.write(2, b"adapter: unknown query\n")
        return {"filter_string": device.filter_string}

    monkeypatch.setattr(cli, "device_report", chatty)
    monkeypatch.setattr(doctor, "diagnose", list)
    cli.main([command, "--json"])
    os.write(2, b"later\n")
    out, err = capfd.readouterr()
    assert ROW.device in out
    assert json.loads(out)
    assert err == "later\n"


def findings(result: subprocess.CompletedProcess[str], level: str) -> list[dict[str, str]]:
    return [f for f in json.loads(result.stdout)["findings"] if f["level"] == level]


@needs("cpu")
def test_the_doctor_finds_a_working_installation_healthy():
    result = run("doctor", "--json")
    assert findings(result, "error") == []
    assert result.returncode == 0
    report = json.loads(result.stdout)
    assert report["healthy"] is True
    assert [device["filter_string"] for device in report["devices"]] == [
        device.filter_string for device in usmx.devices()
    ]
    good = " | ".join(f["text"] for f in findings(result, "ok"))
    for kind in ("device", "shared", "host"):
        assert f"{kind} USM: allocate, fill, copy" in good
    assert "run-time compiled kernel" in good
    assert f"usmx {usmx.__version__}" in good
    assert "intel-sycl-rt" in good
    assert "libsycl.so" in good
    assert "libintelocl.so" in good
    assert "level_zero" in good


@pytest.mark.parametrize(
    ("environment", "complaint", "fix"),
    [
        (
            {"OCL_ICD_FILENAMES": "/nonexistent/driver.so"},
            "/nonexistent/driver.so in OCL_ICD_FILENAMES does not exist",
            "unset OCL_ICD_FILENAMES",
        ),
        ({"OCL_ICD_FILENAMES": ""}, "no SYCL device", "unset OCL_ICD_FILENAMES"),
        (
            {"ONEAPI_DEVICE_SELECTOR": "cuda:*"},
            "ONEAPI_DEVICE_SELECTOR='cuda:*' is set",
            "unset ONEAPI_DEVICE_SELECTOR",
        ),
        (
            {"ONEAPI_DEVICE_SELECTOR": "a:b:c:d"},
            "could not list its devices",
            "unset ONEAPI_DEVICE_SELECTOR",
        ),
    ],
)
@needs("cpu")
def test_the_doctor_names_the_fix_of_a_broken_environment(environment, complaint, fix):
    result = run("doctor", "--json", **environment)
    assert result.returncode == 1
    report = json.loads(result.stdout)
    assert report["healthy"] is False
    assert report["devices"] == []
    assert any(complaint in f["text"] and fix in f["fix"] for f in findings(result, "error"))
    printed = run("doctor", **environment)
    assert printed.returncode == 1
    assert complaint in printed.stdout
    assert f"fix: {fix}" in printed.stdout


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (None, f"new arrays are in {'shared' if ROW.is_host else 'device'} memory"),
        ("host", "new arrays are in host memory, by USMX_USM_TYPE"),
    ],
)
def test_the_doctor_says_which_memory_new_arrays_are_in(kind, said):
    texts = [f["text"] for f in findings(run("doctor", "--json", USMX_USM_TYPE=kind), "ok")]
    name = usmx.Device(ROW.device).filter_string
    assert [text for text in texts if name in text and text.endswith(said)]


@needs("cpu")
def test_the_doctor_names_the_fix_of_a_wrong_kind_of_memory():
    result = run("doctor", "--json", USMX_USM_TYPE="managed")
    assert result.returncode == 1
    (error,) = findings(result, "error")
    assert "USMX_USM_TYPE: 'managed' is not supported" in error["text"]
    assert error["fix"] == "unset USMX_USM_TYPE"


def test_a_missing_driver_wheel_is_named(monkeypatch):
    nothing = {"driver": "", "shown": False, "early_loader": "", "early_tbb": ""}
    monkeypatch.setattr("usmx._usmx._cpu_driver", lambda: nothing)
    monkeypatch.delenv("OCL_ICD_FILENAMES")
    monkeypatch.setattr(usmx, "devices", list)
    (missing,) = [f for f in doctor.diagnose() if "no libintelocl.so" in f.text]
    assert missing.fix == "pip install 'intel-opencl-rt>=2026.0,<2027'"


@pytest.mark.parametrize(
    "first", [{}, {"early_loader": "/old/libOpenCL.so.1"}, {"early_tbb": "/old/libtbb.so.12"}]
)
@needs("cpu")
def test_the_doctor_never_advises_to_unset_what_usmx_set(monkeypatch, first):
    driver = "/env/lib/libintelocl.so"
    found = {"driver": driver, "shown": True, "early_loader": "", "early_tbb": "", **first}
    monkeypatch.setattr("usmx._usmx._cpu_driver", lambda: found)
    monkeypatch.setenv("OCL_ICD_FILENAMES", driver)
    monkeypatch.setattr(usmx, "devices", list)

    def no_device():
        raise usmx.DeviceError("no SYCL device")

    monkeypatch.setattr(usmx, "Device", no_device)
    findings = doctor.diagnose()
    assert [f.fix for f in findings if "no SYCL device" in f.text] != []
    assert [f.fix for f in findings if "unset" in f.fix] == []
    for path in first.values():
        assert [f for f in findings if f"{path} was loaded before usmx" in f.text]


def test_a_compiler_that_misses_its_device_library_gets_the_folder_it_looks_for(monkeypatch):
    fault = "BuildError: Error opening file /lib/clang/23/lib/libspirv.l64.signed_char.a"
    monkeypatch.setattr(doctor, "_test_apart", lambda name: {"kernel": fault})
    (error, *_) = [f for f in doctor.diagnose() if f.level == "error"]
    assert error.fix.startswith("mkdir -p /sycl-jit-toolchain/lib")


def test_a_self_test_that_fails_or_crashes_is_an_error(monkeypatch):
    monkeypatch.setattr(doctor, "_test_apart", lambda name: {"shared": "the copy differs"})
    errors = [f for f in doctor.diagnose() if f.level == "error"]
    assert len(errors) == len(usmx.devices())
    assert "shared USM: allocate, fill, copy: the copy differs" in errors[0].text
    assert errors[0].fix


def test_a_self_test_runs_apart_and_reports_how_it_ended(monkeypatch):
    assert set(doctor._test_apart(ROW.device).values()) == {""}
    (fault,) = doctor._test_apart("cpu:99").values()
    assert "ended with code 1" in fault
    assert "no device matches the filter 'cpu:99'" in fault


def test_two_major_versions_of_the_runtime_are_an_error(monkeypatch):
    both = ["/a/libsycl.so.8", "/b/libsycl.so.9"]
    monkeypatch.setattr(doctor, "_loaded_libraries", lambda stem: both)
    errors = [f for f in doctor._runtime_library() if f.level == "error"]
    assert len(errors) == 1
    assert "2 major versions" in errors[0].text


@needs("cpu")
def test_another_runtime_is_one_in_another_folder(tmp_path, monkeypatch):
    (loaded,) = {os.path.dirname(path) for path in doctor._loaded_libraries("libsycl")}
    other = tmp_path / "libsycl.so.9"
    for name in ("libsycl.so.9", "libsycl.so.9.0.0-gdb.py"):
        (tmp_path / name).write_text("")

    def warnings(folder):
        monkeypatch.setattr(doctor, "_library_path", lambda: [str(folder)])
        return [f.text for f in doctor._runtime_library() if f.level == "warning"]

    assert warnings(loaded) == []
    (said,) = warnings(tmp_path)
    assert f"another libsycl, {other}:" in said


def test_an_adapter_that_cannot_be_loaded_says_why(tmp_path):
    broken = tmp_path / "libur_adapter_cuda.so.0"
    broken.write_bytes(b"not a library")
    assert str(broken) in doctor._can_load(str(broken))
    result = run("doctor", "--json", LD_LIBRARY_PATH=str(tmp_path))
    notes = [f["text"] for f in findings(result, "note")]
    assert any(n.startswith("cuda (for NVIDIA GPUs): not usable") for n in notes)
    assert f"LD_LIBRARY_PATH={tmp_path}" in notes


def test_trace_runs_a_script_and_writes_what_it_did(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, numpy as np, usmx, dpctl.memory as dm, helper\n"
        "a = usmx.asarray(np.zeros(int(sys.argv[1]), 'u1'), usm_type='device')\n"
        "dm.MemoryUSMHost(8)\n"
        "print(sys.argv[2], __name__)\n"
        "sys.exit(3)\n"
    )
    (tmp_path / "helper.py").write_text("")
    output = tmp_path / "out.json"
    result = subprocess.run(
        [sys.executable, "-m", "usmx", "trace", "-o", output, script, "4096", "--flag"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.returncode == 3, result.stderr
    assert result.stdout == "--flag __main__\n"
    assert re.search(r"copy plain to device +1 +4.0 KiB", result.stderr), result.stderr
    assert re.search(r"driver allocate host +1 +8 B .*other libraries", result.stderr)
    events = json.loads(output.read_text())["traceEvents"]
    (copy,) = [e for e in events if e["name"] == "copy plain to device"]
    assert copy["args"]["line"] == f"{script}:2 in <module>"


def test_trace_of_a_script_that_fails_is_written_all_the_same(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import usmx; a = usmx.empty(5, usm_type='device'); 1 / 0\n")
    result = subprocess.run(
        [sys.executable, "-m", "usmx", "trace", script],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stderr
    assert "allocate device" in result.stderr
    assert (tmp_path / "trace.json").exists()
    missing = subprocess.run(
        [sys.executable, "-m", "usmx", "trace", "nothing.py"],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert missing.returncode == 2
    assert "there is no file nothing.py" in missing.stderr


@pytest.mark.parametrize(
    ("name", "viewer"),
    [("t.svg", "a browser"), ("t.html", "a browser"), ("t.json", "https://ui.perfetto.dev")],
)
def test_the_trace_says_what_opens_the_file_that_it_wrote(tmp_path, name, viewer):
    script = tmp_path / "script.py"
    script.write_text("import usmx; usmx.zeros(5)\n")
    result = subprocess.run(
        [sys.executable, "-m", "usmx", "trace", "-o", name, script],
        capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert f"wrote {name}: open it in {viewer}\n" in result.stderr


def test_options_of_the_trace_stand_before_the_script_or_directly_behind_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.argv[1:])\n")

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "usmx", "trace", *words],
            capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
        )  # fmt: skip

    for words, given, written in [
        (("--html", script), [], "trace.html"),
        ((script, "--html"), [], "trace.html"),
        ((script, "-o", "a.svg"), [], "a.svg"),
        ((script, "--html", "--output=b.html", "x", "--html"), ["x", "--html"], "b.html"),
        (("-o", "c.json", script, "x", "-o", "y"), ["x", "-o", "y"], "c.json"),
        ((script, "--", "--html"), ["--html"], "trace.json"),
        ((script, "-o", "d.json", "--", "-o", "y"), ["-o", "y"], "d.json"),
    ]:
        done = run(*words)
        assert done.stdout == f"{given}\n", done.stderr
        assert f"wrote {written}: " in done.stderr
    refused = run(script, "-o")
    assert refused.returncode == 2
    assert "argument -o/--output: expected one argument" in refused.stderr


def test_the_trace_as_a_page_is_asked_for_by_a_word(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import usmx; usmx.zeros(5)\n")

    def run(*options):
        return subprocess.run(
            [sys.executable, "-m", "usmx", "trace", *options, script],
            capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
        )  # fmt: skip

    assert "wrote trace.html: open it in a browser\n" in run("--html").stderr
    assert (tmp_path / "trace.html").read_text().startswith("<!doctype html>")
    assert "wrote page.html: " in run("--html", "-o", "page").stderr
    for options in (("--html", "-o", "x.svg"), ("-o", "x.png")):
        refused = run(*options)
        assert refused.returncode == 2
        assert f"usmx trace: --output: '{options[-1]}'; expected a name" in refused.stderr
