"""Local memory of kernels from text gets its size at the launch: usmx.LocalMemory."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from backend_row import needs
from element_types import TYPES

import usmx

REVERSE = """
USMX_KERNEL(1) reverse({0}* a, usmx::local_view<{0}, 1> tile) {{
  usmx::nd_item<1> item;
  auto l = item.get_local_id(0);
  tile[l] = a[item.get_global_id(0)];
  item.barrier();
  a[item.get_global_id(0)] = tile[tile.shape[0] - 1 - l];
}}
"""
FLOATS = REVERSE.format("float")


def reversed_in_groups(values, group):
    return values.reshape(-1, group)[:, ::-1].reshape(-1)


@pytest.mark.parametrize("name", TYPES)
def test_every_type(name):
    values = np.random.default_rng(1).integers(0, 2 if name == "bool" else 100, 96)
    values = values.astype(TYPES[name])
    kernel = usmx.RawKernel(REVERSE.format(name), "reverse")
    for group in (8, 32):
        a = usmx.asarray(values)
        kernel[96, group](a, usmx.LocalMemory(group, TYPES[name])).wait()
        np.testing.assert_array_equal(a.to_numpy(), reversed_in_groups(values, group))


def test_every_size_is_compiled_once():
    made = lambda: sum(usmx._usmx._ProgramStore.counts()[::2])  # noqa: E731
    kernel = usmx.RawKernel("// sizes\n" + FLOATS, "reverse")
    a = usmx.arange(64, dtype="f4")
    kernel.compile()
    before = made()
    for group in (4, 8, 4, 8, 4):
        kernel[64, group](a, usmx.LocalMemory(group, "f4")).wait()
    assert made() == before + 2


@needs("binaries")
def test_the_next_process_compiles_nothing(tmp_path):
    program = f"""
import usmx
kernel = usmx.RawKernel({FLOATS!r}, "reverse")
a = usmx.arange(64, dtype="f4")
kernel[64, 16](a, usmx.LocalMemory(16, "f4")).wait()
assert a[:2].to_numpy().tolist() == [15, 14]
print(usmx._usmx._ProgramStore.counts())
"""
    environment = os.environ | {"USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path)}
    run = lambda: subprocess.run(  # noqa: E731
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout.split("\n")[0]
    assert run() == "(2, 0, 0)"
    assert run() == "(0, 0, 2)"


def test_threads_ask_for_many_sizes():
    kernel = usmx.RawKernel("// threads\n" + FLOATS, "reverse")
    wrong = []

    def work(seed):
        for group in np.random.default_rng(seed).choice([2, 4, 8, 16], 12):
            values = np.arange(32, dtype="f4") + seed
            a = usmx.asarray(values)
            kernel[32, int(group)](a, usmx.LocalMemory(int(group), "f4")).wait()
            if not (a.to_numpy() == reversed_in_groups(values, group)).all():
                wrong.append((seed, group))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_limits_are_those_of_a_size():
    kernel = usmx.RawKernel(FLOATS, "reverse")
    assert kernel.limits(local=usmx.LocalMemory(8, "f4")).max_work_group_size > 0
    assert kernel.limits(local=[usmx.LocalMemory(8, "f4")]).max_work_group_size > 0
    with pytest.raises(ValueError, match="depend on the sizes of its local memory"):
        kernel.limits()
    with pytest.raises(TypeError, match=r"local: expected usmx\.LocalMemory .* got int"):
        kernel.limits(local=8)
    with pytest.raises(ValueError, match="takes 1 sizes of local memory, got 2"):
        kernel.limits(local=(usmx.LocalMemory(8, "f4"), usmx.LocalMemory(8, "f4")))


A = usmx.zeros(64, "f4")


@pytest.mark.parametrize(
    ("key", "arguments", "error", "words"),
    [
        ((64, 8), (A,), TypeError, "takes 2 arguments, got 1"),
        ((64, 8), (A, 8), TypeError, "tile): is of type int; expected usmx.LocalMemory(shape"),
        ((64, 8), (A, A), TypeError, "ndarray; expected usmx.LocalMemory(shape, dtype)"),
        ((64, 8), (A, usmx.LocalMemory(8, "f8")), TypeError, "float64; expected float32"),
        ((64, 8), (A, usmx.LocalMemory((2, 4), "f4")), ValueError, "has 2 dimensions; expected 1"),
        ((64, 8), (A, usmx.LocalMemory(1 << 40, "f4")), ValueError, "takes 4398046511104 bytes"),
        ((64, 8), (usmx.LocalMemory(8, "f4"),) * 2, TypeError, "(float* a): is local memory"),
        (64, (A, usmx.LocalMemory(8, "f4")), ValueError, "local range: is missing"),
    ],
)
def test_what_does_not_fit(key, arguments, error, words):
    kernel = usmx.RawKernel(FLOATS, "reverse")
    with pytest.raises(error, match=re.escape(words)):
        kernel[key](*arguments)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("usmx::local_view<const float, 1> x", "local memory of const elements cannot be written"),
        ("usmx::local_view<float, 1 + 0> x", "the number of dimensions must be an integer literal"),
        (
            "usmx::local_view<float*, 1> x",
            "the element type is not supported; expected a number type",
        ),
    ],
)
def test_what_cannot_be_declared(source, words):
    kernel = usmx.RawKernel(f"USMX_KERNEL(1) f({source}) {{}}", "f")
    with pytest.raises(ValueError, match=re.escape(f"kernel 'f', parameter '{source}': ") + words):
        kernel[8, 8](usmx.LocalMemory(8, "f4"))


def test_a_number_does_not_take_local_memory():
    kernel = usmx.RawKernel("USMX_KERNEL(1) f(float x) {}", "f")
    with pytest.raises(TypeError, match=re.escape("(float x): is local memory")):
        kernel[8, 8](usmx.LocalMemory(8, "f4"))


def test_an_error_in_the_text_keeps_its_line():
    kernel = usmx.RawKernel(FLOATS.replace("tile[l] =", "tile[l] = wrong +"), "reverse")
    with pytest.raises(usmx.BuildError, match=r"source:5:.*'wrong'"):
        kernel[64, 8](A, usmx.LocalMemory(8, "f4"))


def test_a_size_of_local_memory_is_told_by_ints():
    assert usmx.LocalMemory([2, np.int64(3)], "f4").shape == (2, 3)
    for wrong in (A, 2.0, (2.5,), ("2",), "22"):
        with pytest.raises(TypeError):
            usmx.LocalMemory(wrong, "f4")
    for wrong in (0, (), (2, -1)):
        with pytest.raises(ValueError, match=r"^shape: .* expected positive lengths$"):
            usmx.LocalMemory(wrong, "f4")


@needs("opencl")
def test_a_launch_that_the_driver_refuses_names_the_kernel_and_the_local_memory():
    k = usmx.RawKernel(
        "USMX_KERNEL(1) large(float* x) { usmx::local<float[10000000]> t;"
        " t[usmx::local_id()] = x[0]; usmx::group_barrier(); x[0] = t[3]; }",
        "large",
    )
    most = usmx.default_queue().device.local_mem_size
    with pytest.raises(RuntimeError, match=rf"kernel 'large': .*{most} bytes for a work-group"):
        k[4, (4,)](usmx.ones(1, "f4")).wait()
