"""The wheel: what it holds, what it says of itself, and that it works where nothing else is."""
# SPDX-License-Identifier: Apache-2.0

import base64
import csv
import email
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from environments import ROOT, run


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_what_extensions_need_and_nothing_else(wheel: Path) -> None:
    names = names_in(wheel)
    headers = {f"usmx/include/usmx/{h.name}" for h in (ROOT / "include/usmx").glob("*.hpp")}
    assert headers <= set(names)
    for needed in (
        "usmx/lib/libusmx.so.0",
        "usmx/lib/libusmx.so",
        "usmx/lib/cmake/usmx/usmxConfig.cmake",
        "usmx/lib/cmake/usmx/UsmxExtension.cmake",
        "usmx/include/usmx/usmx.h",
        "usmx/include/usmx/exchange.h",
        "usmx/__init__.pxd",
        "usmx/py.typed",
    ):
        assert needed in names
    allowed = re.compile(r"usmx/|usmx-[0-9.]+\.dist-info/|usmx\.pth$")
    assert [n for n in names if not allowed.match(n)] == []
    tests = re.compile(r"(^|/)tests?[_/]")
    assert [n for n in names if tests.search(n) or n.endswith((".cpp", ".pyc"))] == []


def test_the_wheel_has_the_licences_of_what_is_compiled_into_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/THIRD-PARTY-NOTICES.txt"))
        notices = archive.read(name).decode()
    for library, holder in (
        ("{fmt}", "Victor Zverovich and {fmt} contributors"),
        ("nanobind", "Wenzel Jakob"),
        ("robin-map", "Thibaut Goetghebuer-Planchon"),
    ):
        text = notices.split(f"\n{library}: https://")[1]
        assert f"{holder}" in text[:600], text[:600]


def test_the_wheel_lists_the_components_of_others_with_their_versions(wheel: Path) -> None:
    (name,) = (n for n in names_in(wheel) if ".dist-info/sboms/" in n)
    assert name.endswith(".cdx.json")
    with zipfile.ZipFile(wheel) as archive:
        listed = json.loads(archive.read(name))
        (notices,) = (n for n in archive.namelist() if n.endswith("/THIRD-PARTY-NOTICES.txt"))
        told = archive.read(notices).decode()
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.6")
    assert listed["metadata"]["component"]["version"] in wheel.name
    assert {part["name"] for part in listed["components"]} == {"fmt", "nanobind", "robin-map"}
    for part in listed["components"]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", part["version"])
        assert part["externalReferences"][0]["url"] in told


def test_the_wheel_has_programs_for_each_kind_of_processor(wheel: Path) -> None:
    programs = [n for n in names_in(wheel) if n.startswith("usmx/lib/usmx-programs/")]
    assert len(programs) % 4 == 0
    assert len(programs) > 400, "was the driver for processors there when the wheel was built?"


def test_the_library_is_there_once(wheel: Path) -> None:
    names = [n for n in names_in(wheel) if "/libusmx.so" in n]
    with zipfile.ZipFile(wheel) as archive:
        libraries = [n for n in names if archive.read(n).startswith(b"\x7fELF")]
        # A wheel has no symbolic links: what -lusmx finds is a line for the linker.
        (script,) = set(names) - set(libraries)
        assert b"INPUT(libusmx.so.0)" in archive.read(script)
    assert libraries == ["usmx/lib/libusmx.so.0"]
    assert script == "usmx/lib/libusmx.so"


def test_the_line_that_every_python_of_the_environment_runs_is_one(wheel: Path) -> None:
    # Each line of a .pth file that begins with "import" is run; a second one could only add cost.
    with zipfile.ZipFile(wheel) as archive:
        (line,) = archive.read("usmx.pth").decode().splitlines()
    assert line.startswith("import os; ")


def test_the_metadata_asks_for_the_runtime_and_of_array_libraries_for_numpy(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    wanted: dict[str, set[str]] = {"": set(), "mkl": set(), "cuda": set()}
    for line in metadata.get_all("Requires-Dist", []):
        extra = re.search(r'extra == "(\w+)"', line)
        wanted[extra[1] if extra else ""].add(re.split(r"[<>=;\s]", line)[0])
    assert wanted == {
        "": {"intel-sycl-rt", "intel-opencl-rt", "numpy", "rich"},
        "mkl": {"onemkl-sycl-blas", "onemkl-sycl-lapack", "onemkl-sycl-dft"},
        "cuda": {"nvidia-cublas", "nvidia-cusolver", "nvidia-cufft"},
    }
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_tag_of_a_published_wheel_is_true_and_its_record_complete(
    wheel: Path, tmp_path: Path
) -> None:
    copy = shutil.copy(wheel, tmp_path)
    name = run(sys.executable, ROOT / "tools" / "tag_wheel.py", copy).strip()
    assert re.fullmatch(r"usmx-[0-9.]+-(cp\d+)-\1-manylinux_2_\d\d_x86_64\.whl", name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    with zipfile.ZipFile(tmp_path / name) as archive:
        (description,) = (n for n in archive.namelist() if n.endswith("/WHEEL"))
        tag = name.removesuffix(".whl").split("-", 2)[2]
        assert f"Tag: {tag}\n" in archive.read(description).decode()
        readme = archive.read(description.replace("WHEEL", "METADATA")).decode()
        assert "](https://usmx.readthedocs.io/en/stable/_images/terrain.png)" in readme
        assert "](docs/" not in readme
        record = description.replace("WHEEL", "RECORD")
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(archive.namelist())
        for file, digest, size in rows:
            if file != record:
                content = archive.read(file)
                found = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
                assert digest == "sha256=" + found.decode().rstrip("=")
                assert int(size) == len(content)


@pytest.mark.parametrize(
    "suffix", ["usmx/lib/libusmx.so.0", "usmx/lib/libusmx_onemkl.so", "usmx/_usmx.*.so"]
)
def test_no_run_time_path_leads_to_the_machine_that_built_it(
    wheel: Path, tmp_path: Path, suffix: str
) -> None:
    (name,) = (n for n in names_in(wheel) if re.fullmatch(suffix, n))
    with zipfile.ZipFile(wheel) as archive:
        library = archive.extract(name, tmp_path)
    dynamic = run("readelf", "-d", library)
    (paths,) = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic)
    assert all(path.startswith("$ORIGIN") for path in paths.split(":"))


def test_it_works_in_an_empty_environment(empty_environment: Path) -> None:
    run(
        empty_environment,
        "-c",
        "import importlib.util as u, sys, usmx, usmx.memory\n"
        "assert not any(u.find_spec(m) for m in ('dpctl', 'dpnp', 'numba'))\n"
        "assert 'numpy' not in sys.modules\n"
        "m = usmx.memory.MemoryUSMShared(1000)\n"
        "m.copy_from_host(bytes(range(200)) * 5)\n"
        "assert bytes(m) == bytes(range(200)) * 5\n"
        "x = usmx.zeros((3, 4), dtype='int16')\n"
        "assert usmx.asarray(x).shape == (3, 4)\n",
    )


def test_the_command_lists_the_cpu_right_after_installation(empty_environment: Path) -> None:
    command = empty_environment.parent / "usmx"
    assert "cpu" in run(command, "devices").lower()
    found = json.loads(run(command, "devices", "--json"))
    assert len(found) >= 1


def test_other_libraries_find_the_cpu_although_they_ask_before_usmx_is_imported(
    developer_environment: Path,
) -> None:
    # As `import ray` does, which asks dpctl.
    found = run(
        developer_environment,
        "-c",
        "import dpctl\n"
        "first = [d.filter_string for d in dpctl.get_devices()]\n"
        "import usmx\n"
        "x = usmx.arange(5)\n"
        "print(first, (x.copy()).to_numpy().tolist())",
    )
    assert "opencl:cpu:0" in found
    assert "[0, 1, 2, 3, 4]" in found


def test_an_installation_into_a_folder_works_too(wheel: Path, empty_environment: Path) -> None:
    # As `pip install --target`: usmx lies where no run-time path leads to the runtime.
    elsewhere = empty_environment.parents[1] / "elsewhere"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(elsewhere)
    found = run(
        empty_environment,
        "-c",
        f"import sys; sys.path.insert(0, {str(elsewhere)!r})\n"
        "import usmx; print(usmx.__file__, len(usmx.devices()))",
    )
    assert found.split()[0].startswith(str(elsewhere))
    assert int(found.split()[1]) >= 1


def test_the_source_distribution_can_build_a_wheel(tmp_path: Path) -> None:
    run(
        "python",
        "-c",
        f"import scikit_build_core.build as b; b.build_sdist({str(tmp_path)!r})",
        cwd=ROOT,
    )
    (sdist,) = tmp_path.glob("usmx-*.tar.gz")
    with tarfile.open(sdist) as archive:
        # Debian 12's Python knows the safe way only as what it will be one day.
        archive.extractall(
            tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )
    (source,) = (p for p in tmp_path.iterdir() if p.is_dir())
    tracked = subprocess.run(
        ["git", "ls-files", "include", "src", "kernels", "cmake", "python", "CMakeLists.txt"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(tracked) > 50
    assert [f for f in tracked if not (source / f).exists()] == []
    # Everything but the compiler: the build files are complete and know where each source is.
    build = tmp_path / "build"
    configure = ("cmake", "-G", "Ninja", "-S", source, "-B", build, "-DSKBUILD=ON")
    python = run("python", "-c", "import sys; print(sys.executable)").strip()
    run(*configure, "-DPython_EXECUTABLE=" + python)
    inputs = [Path(i) for i in run("ninja", "-C", build, "-t", "inputs", "all").split()]
    sources = [i for i in inputs if i.is_relative_to(source) and not i.is_relative_to(build)]
    assert len([i for i in sources if i.suffix == ".cpp"]) > 40
    assert [i for i in sources if not i.exists()] == []
