# What the prelude gives to kernels, against NumPy: mathematics and atomic operations, each for
# every type it takes.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx
from usmx._kernel.simulator.arithmetic import evaluate
from usmx._operations import OPERATIONS


def array(values, dtype=None):
    return usmx.asarray(np.asarray(values, dtype=dtype), usm_type="shared")


def kernel(body, **kwargs):
    return usmx.RawKernel(body, "f", **kwargs)


#: Rows of the table that give a float of a float, and what else the prelude has.
OF_FLOATS = [
    row for row in OPERATIONS if row.function and "f" in row.takes and row.result == "same"
]
MORE = {
    "round(x)": lambda x, _: np.floor(x + 0.5),
    "fdim(x, y)": lambda x, y: np.maximum(x - y, 0),
    "min(x, y)": np.minimum,
    "max(x, y)": np.maximum,
    "abs(-x)": lambda x, _: x,
}


def wanted_of(x, y):
    """Calls of the prelude, each with NumPy's result."""
    wanted = {}
    for row in OF_FLOATS:
        operands, texts = [x, y, x][: row.arity], ["x", "y", "x"][: row.arity]
        if row.function == "acosh":
            operands, texts = [x + 1], ["x + 1"]
        if row.function == "clamp":
            operands, texts = [x, 0.25, 0.5], ["x", "T(0.25)", "T(0.5)"]
        wanted[f"{row.function}({', '.join(texts)})"] = evaluate(row, *operands)
    return wanted | {call: function(x, y) for call, function in MORE.items()}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_mathematical_functions_agree_with_numpy(dtype):
    random = np.random.default_rng(1)
    x, y = (random.uniform(0.01, 0.99, 200).astype(dtype) for _ in range(2))
    wanted = wanted_of(x, y)
    calls = ", ".join(f"usmx::{call}" for call in wanted)
    k = kernel(
        f"""
#include "usmx/prelude/special.hpp"
    USMX_KERNEL(1) f(const T* xs, const T* ys, T* out) {{
      auto i = usmx::global_id(), n = usmx::global_range();
      T x = xs[i], y = ys[i];
      T results[] = {{{calls}}};
      int k = 0;
      for (T r : results) out[k++ * n + i] = r;
    }}""",
        options=[f"-DT={'float' if dtype == 'f4' else 'double'}"],
    )
    out = usmx.empty((len(wanted), len(x)), dtype=dtype, usm_type="shared")
    k[len(x)](array(x), array(y), out).wait()
    for got, (name, want) in zip(out.to_numpy(), wanted.items(), strict=True):
        tolerance = 2e-6 if dtype == "f4" else 1e-14
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_infinities_and_nans_are_recognised(dtype):
    k = kernel(
        """
    USMX_KERNEL(1) f(const T* x, int* out) {
      auto i = usmx::global_id();
      out[i] = usmx::isnan(x[i]) * 4 + usmx::isinf(x[i]) * 2 + usmx::isfinite(x[i]);
    }""",
        options=[f"-DT={'float' if dtype == 'f4' else 'double'}"],
    )
    out = usmx.zeros(4, dtype="i4", usm_type="shared")
    k[4](array([np.nan, np.inf, -np.inf, 1.5], dtype), out).wait()
    assert out.to_numpy().tolist() == [4, 2, 2, 1]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float32", "float64"])
def test_atomic_operations_lose_nothing(dtype):
    c_type = {"float32": "float", "float64": "double"}.get(dtype, dtype + "_t")
    k = kernel(
        """
    USMX_KERNEL(1) f(T* out) {
      usmx::local<T[1]> sum;
      if (usmx::local_id() == 0) sum[0] = 0;
      usmx::group_barrier();
      usmx::atomic_add(&sum[0], T(1));
      usmx::group_barrier();
      auto i = usmx::global_id();
      if (usmx::local_id() == 0) usmx::atomic_add(out, sum[0]);
      usmx::atomic_sub(out + 1, T(1));
      usmx::atomic_min(out + 2, T(i));
      usmx::atomic_max(out + 3, T(i));
      usmx::atomic_ref<T>(out[4]).fetch_add(T(2));
      if (i == 0) usmx::atomic_store(out + 5, usmx::atomic_load(out + 7));
      if (i == 0) out[6] = usmx::atomic_exchange(out + 8, T(3));
    }""",
        options=[f"-DT={c_type}"],
    )
    n = 4096
    out = array([0, n, 9999, 0, 0, 0, 0, 77, 88], dtype)
    k[n, 64](out).wait()
    assert out.to_numpy().tolist() == [n, 0, 0, n - 1, 2 * n, 77, 88, 77, 3]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_atomic_operations_of_integers(dtype):
    k = kernel(
        """
    USMX_KERNEL(1) f(T* out) {
      auto i = usmx::global_id();
      usmx::atomic_or(out, T(1) << (i % 31));
      usmx::atomic_and(out + 1, ~(T(1) << (i % 31)));
      usmx::atomic_xor(out + 2, T(1) << (i % 31));
      T seen = usmx::atomic_load(out + 3);
      for (T before = seen + 1; before != seen;) {
        before = seen;
        seen = usmx::atomic_compare_exchange(out + 3, before, before + 1);
      }
    }""",
        options=[f"-DT={dtype}_t"],
    )
    out = array([0, 2**31 - 1, 0, 0], dtype)
    k[31 * 8](out).wait()
    assert out.to_numpy().tolist() == [2**31 - 1, 0, 0, 31 * 8]


def test_all_and_any_of_a_sub_group_do_not_move_into_a_branch_on_what_they_ask() -> None:
    # Two functions of the prelude, inlined late, became calls that only some items made.
    text = """
    namespace device {
    inline bool is_in(int64_t mask) {
      const uint64_t item = usmx::sub_group_local_id();
      return (usmx::shift_right<uint64_t>(uint64_t(mask), item) & 1) != 0;
    }
    inline bool is_same(int64_t mask, bool says) {
      bool every{}, some{};
      every = usmx::all_of<3>(says || !device::is_in(mask));
      some = usmx::any_of<3>(says && device::is_in(mask));
      return every || !some;
    }
    }
    USMX_KERNEL(1) ask [[sycl::reqd_sub_group_size(32)]]
    (int64_t* o_data, int64_t o_n0, int64_t o_n1, const int32_t* x) {
      const usmx::dense<int64_t, 2> o{o_data, {o_n0, o_n1}};
      int64_t i{};
      i = int64_t(usmx::nd_item<1>::get_global_id(0));
      o(0, i) = int64_t(device::is_same(4294967295l, x[i] != 0));
    }
    """
    if 32 not in usmx.Device().sub_group_sizes:
        text = text.replace("[[sycl::reqd_sub_group_size(32)]]", "")
    kernel = usmx.RawKernel(text, "ask")
    for chosen in ((), (3,), (0, 31), tuple(range(32))):
        host = np.zeros(32, "i4")
        host[list(chosen)] = 1
        out = usmx.zeros((2, 32), dtype="int64")
        kernel[(32,), (32,)](out, 2, 32, usmx.asarray(host)).wait()
        assert out[0].tolist() == [int(len(chosen) in (0, 32))] * 32, chosen
