"""What every test needs: a device that is there, and a clean process to break things in."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import backend_row
import pytest

import usmx
from usmx import _usmx

# Compiling is most of what the tests cost, so kernels are kept from one run to the next: a file of
# the cache contains its whole key, so equal text gives equal code. All workers, the processes that
# tests start and the stages of `.ci/run` share the folder. A test of what is compiled names another
# folder or "0". An empty USMX_TEST_CACHE_DIR is a folder for this run only.
if "PYTEST_XDIST_WORKER" not in os.environ:
    kept = os.environ.get("USMX_TEST_CACHE_DIR")
    if kept is None:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        kept = str(Path(caches) / "usmx" / "tests")
        Path(kept).mkdir(mode=0o700, parents=True, exist_ok=True)
    if not kept:
        _cache = tempfile.TemporaryDirectory(prefix="usmx-tests-", ignore_cleanup_errors=True)
        kept = _cache.name
    os.environ["USMX_CACHE_DIR"] = kept
    os.environ["USMX_CACHE"] = "1"
    os.environ["USMX_CACHE_SIZE"] = "2G"

# Tests make promises about device memory unless they name another kind, also on a processor, whose
# own default is shared memory: the host must not touch it on any device. Programs of users, which
# are processes of their own, have the default of users; `array/test_default_kind.py` is about that.
usmx.default_usm_type("device")


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what the device lacks by its row in the table of backends."""
    config.pluginmanager.register(backend_row.LeftOut(), "left_out")


def pytest_collection_finish() -> None:
    """Let `gc.collect()`, which many tests call, pass over what all the imports made.

    That is a million objects of the libraries under test, and a tenth of a second each time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def device() -> usmx.Device:
    """The default device. There must be one: a suite that skips without it proves nothing."""
    return usmx.Device()


@pytest.fixture(scope="session")
def queue(device: usmx.Device) -> usmx.Queue:
    """The cached in-order queue of the default device."""
    return usmx.Queue(device)


@pytest.fixture(params=["device", "shared", "host"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of USM in turn."""
    return str(request.param)


@pytest.fixture(
    params=[
        "numpy",
        pytest.param("onemkl", marks=backend_row.needs("onemkl")),
        pytest.param("nvidia", marks=backend_row.needs("nvidia")),
        "kernels",
    ]
)
def each_library(request: pytest.FixtureRequest) -> Iterator[None]:
    """Linear algebra and transforms by each library of the table, where it computes them."""
    if request.param == "nvidia":
        import nvidia_libraries

        with nvidia_libraries.used():
            yield
        return
    with usmx.linalg.use_library(request.param):
        yield


@pytest.fixture
def cuda_forms() -> Iterator[None]:
    """Kernels written and cut as for CUDA devices, on the device that is there."""
    _usmx._Testing.use_forms_of("cuda")
    yield
    _usmx._Testing.use_forms_of("")


@pytest.fixture(params=["native_cpu", "level_zero"])
def forms(request: pytest.FixtureRequest) -> Iterator[str]:
    """Kernels for a device whose groups are loops, and for one whose items run side by side."""
    _usmx._Testing.use_forms_of(request.param)
    yield request.param
    _usmx._Testing.use_forms_of("")


@pytest.fixture
def texts() -> Iterator[Callable[[], list[str]]]:
    """What was compiled since the test began, oldest first."""
    _usmx._Testing.keep_compiled_texts(True)
    yield lambda: [text for text, _ in _usmx._Testing.kept_compiled_texts()]
    _usmx._Testing.keep_compiled_texts(False)


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a snippet in a fresh interpreter and insist on a clean exit.

    ``run_python(code, *, env=None, check=True, args=(), timeout=120)``: ``env`` changes the
    environment (a value of None removes the variable); with ``check=False`` the caller looks at the
    return code. The result has ``returncode``, ``stdout`` and ``stderr``. New arrays are in device
    memory there as in the tests.
    """

    def run(
        code: str,
        *,
        env: Mapping[str, str | None] | None = None,
        check: bool = True,
        args: tuple[str, ...] = (),
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        variables: dict[str, str] = {**os.environ, "USMX_USM_TYPE": "device"}
        for name, value in (env or {}).items():
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = value
        result = subprocess.run(
            [sys.executable, *args, "-c", textwrap.dedent(code)],
            env=variables,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check:
            assert result.returncode == 0, (
                f"exit code {result.returncode}\n--- stdout\n{result.stdout}"
                f"\n--- stderr\n{result.stderr}"
            )
        return result

    return run
