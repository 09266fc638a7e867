"""The example that wraps oneMKL: built by g++ against the installed wheel, and called from Python.

Its commands are host tasks on a CPU device, whose events have no context: nothing of the driver
says that they run, so order and the life of memory come from usmx alone.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import usmx
import usmx.counters
import usmx.memory as um

rng = np.random.default_rng(4)
A, B = rng.normal(size=(60, 40)), rng.normal(size=(40, 50))
S = A.T @ A

SLOW = """
USMX_KERNEL(1) slow(double* x) {
  auto i = usmx::global_id();
  double s = x[i];
  for (int k = 0; k < 3000000; ++k) s = s * 0.999999 + 0.000001;
  x[i] = s > 2 ? s : 1;
}
"""


@pytest.fixture(scope="session")
def folder(
    examples: Path, run_program: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Where the example is installed."""
    built, made = (tmp_path_factory.mktemp(name) for name in ("built", "installed"))
    bin = Path(sys.executable).parent
    given = (f"-Dusmx_DIR={usmx.get_cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}")
    tools = (f"-DCMAKE_MAKE_PROGRAM={bin / 'ninja'}", f"-DCMAKE_INSTALL_PREFIX={made}")
    tools += ("-DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON",)  # it is not in site-packages here
    source = examples / "onemkl"
    run_program(bin / "cmake", "-G", "Ninja", "-S", source, "-B", built, *given, *tools)
    run_program(bin / "cmake", "--build", built, "--target", "install")
    package = made / "usmx_onemkl"
    package.joinpath("__init__.py").write_text((source / "usmx_onemkl/__init__.py").read_text())
    return made


@pytest.fixture(scope="session")
def e(folder: Path) -> Any:
    sys.path.insert(0, str(folder))
    yield importlib.import_module("usmx_onemkl")
    sys.path.remove(str(folder))


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["device", "shared", "host"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def near(got: usmx.ndarray, wanted: Any) -> None:
    close = 1e-3 if got.dtype == "float32" else 1e-10
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=close, atol=close)


def test_products_are_arrays_of_usmx(e: Any, kind: str, dtype: str) -> None:
    x, y = usmx.asarray(A, dtype, usm_type=kind), usmx.asarray(B, dtype, usm_type=kind)
    made = e.gemm(x, y, alpha=2)
    assert type(made) is usmx.ndarray
    assert (made.dtype, made.usm_type, made.queue) == (dtype, kind, x.queue)
    near(made, 2 * A @ B)


def test_eigenvalues_and_vectors(e: Any, kind: str, dtype: str) -> None:
    x = usmx.asarray(S, dtype, usm_type=kind)
    values, vectors = e.syevd(x)
    assert values.usm_type == vectors.usm_type == kind
    near(values, np.linalg.eigvalsh(S))
    near(x @ vectors, vectors.to_numpy() * values.to_numpy())
    near(x, S)  # it was copied


def test_operands_are_used_where_they_lie(e: Any) -> None:
    x, y = usmx.asarray(A, usm_type="device"), usmx.asarray(B, usm_type="device")
    near(e.gemm(y.T, x.T), (A @ B).T)
    near(e.gemm(x[::2, :30], y[:30, 10:]), A[::2, :30] @ B[:30, 10:])
    with usmx.counters.counting() as counted, usmx.trace() as own:
        made = e.gemm(y.T, x[1:].T)
        made.wait()
    assert not own.copies
    assert counted.copies == 0
    assert made.shape == (50, 59)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda e, x: e.gemm(x, x), ValueError, "b: has 60 rows; expected 40"),
        (lambda e, x: e.gemm(x[:, ::2], x[:20]), ValueError, r"a: has strides \(40, 2\)"),
        (lambda e, x: e.syevd(x), ValueError, r"a: has shape \(60, 40\)"),
        (lambda e, x: e.gemm(x, x.astype("int32")), TypeError, "gemm"),
        (lambda e, x: e.gemm(x, x, alhpa=2), TypeError, "did you mean 'alpha'"),
    ],
)
def test_wrong_operands_are_named(e: Any, call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call(e, usmx.asarray(A))


def test_matrices_without_elements(e: Any) -> None:
    near(e.gemm(usmx.ones((3, 0)), usmx.ones((0, 2))), np.zeros((3, 2)))
    values, vectors = e.syevd(usmx.ones((0, 0)))
    assert (values.shape, vectors.shape) == ((0,), (0, 0))


def test_its_commands_are_host_tasks(e: Any) -> None:
    x, y = usmx.asarray(A), usmx.asarray(B)
    e.gemm(x, y).wait()
    with usmx.counters.counting() as counted:
        made = e.gemm(x, y)
        made.wait()
    near(made, A @ B)
    assert counted.kernels == 0, counted  # computed by the host, behind an event
    with usmx.counters.counting() as counted:
        (x + 1).wait()
    assert counted.kernels == 1, counted  # and kernels are counted


def test_they_come_between_kernels_before_and_after(e: Any) -> None:
    slow = usmx.RawKernel(SLOW, "slow")
    for _ in range(5):
        x, y = usmx.ones((64, 64), usm_type="device"), usmx.ones((64, 64), usm_type="device")
        x *= 5
        slow[64](x[0])
        made = e.gemm(x, y)
        x.fill(0)  # behind it
        del x, y  # and their memory is given to others behind it
        other = [usmx.full((64, 64), 7.0, usm_type="device") for _ in range(4)]
        total = (made + 1).sum(axis=1)
        first = total.to_numpy()
        assert first[1:].tolist() == [64 * 321.0] * 63
        assert np.isfinite(first[0])
        del other


def test_workspaces_come_from_the_pool_and_go_back(e: Any) -> None:
    counted = um.StatisticsResource(um.PoolResource(um.UsmResource("device")))
    x = usmx.asarray(S, usm_type="device")
    with um.using(counted):
        values, vectors = e.syevd(x)
        values.wait()
        stats = counted.stats()
    assert stats["total_blocks"] == 3, stats  # values, vectors, the workspace
    assert stats["blocks"] == 2, stats
    near(values, np.linalg.eigvalsh(S))
    del values, vectors
    assert counted.stats()["blocks"] == 0
    tight = um.LimitingResource(um.UsmResource("device"), S.nbytes + S.shape[0] * 8)
    with um.using(tight), pytest.raises(MemoryError):
        e.syevd(x)


def test_it_takes_the_arrays_of_others(e: Any) -> None:
    dpnp = pytest.importorskip("dpnp")
    made = e.gemm(dpnp.asarray(A), dpnp.asarray(B))
    near(made, A @ B)
    assert dpnp.asarray(made).get_array()._pointer == made.pointer


def test_threads_call_it_at_the_same_time(e: Any) -> None:
    x = usmx.asarray(S)
    wrong: list[int] = []

    def work(number: int) -> None:
        for k in range(20):
            values, _ = e.syevd(x)
            got = e.gemm(x, x).sum().item() if k % 2 else values.sum().item()
            if abs(got - ((S @ S).sum() if k % 2 else np.trace(S))) > 1e-6 * abs(got):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong


def test_the_readme_prints_what_it_says(
    e: Any, folder: Path, examples: Path, run_program: Callable[..., str]
) -> None:
    text = (examples / "onemkl" / "README.md").read_text()
    (block,) = re.findall(r"```console\n(.*?)```", text, re.S)
    (program,) = re.findall(r'python -c "\n(.*?)"\n', block, re.S)
    expected = block[block.index(program) + len(program) + 2 :]
    where = {"PYTHONPATH": ":".join([str(folder), *filter(None, sys.path)])}
    assert run_program(sys.executable, "-c", program, **where).strip() == expected.strip()
