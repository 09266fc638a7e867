"""What a kernel needs and allows is what the driver says of it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

import usmx

SOURCE = """
USMX_KERNEL(1) plain(float* x) { x[usmx::global_id()] += 1; }
USMX_KERNEL(1) large(int32_t* x, int32_t n) {
  int32_t mine[1000];
  for (int32_t i = 0; i < 1000; ++i) mine[i] = i * n;
  x[usmx::global_id()] = mine[x[usmx::global_id()] % 1000];
}
"""


def test_limits_are_within_those_of_the_device(device: usmx.Device) -> None:
    limits = usmx.RawKernel(SOURCE, "plain").limits()
    assert 0 < limits.max_work_group_size <= device.max_work_group_size
    assert limits.preferred_work_group_size_multiple >= 1
    assert limits.max_sub_group_size in device.sub_group_sizes
    assert limits.max_sub_groups >= 1
    assert limits.required_work_group_size is None
    assert limits.required_sub_group_size == 0
    assert f"up to {limits.max_work_group_size}, " in repr(limits)


def test_private_memory_is_what_a_table_of_an_item_takes() -> None:
    module = usmx.RawModule(SOURCE)
    plain = module.get_function("plain").limits().private_memory
    large = module.get_function("large").limits().private_memory
    assert large >= plain + 4000


@pytest.mark.parametrize("size", [(32,), (4, 8), (2, 4, 8)])
def test_what_the_source_demands_is_known(size: tuple[int, ...]) -> None:
    kernel = usmx.RawKernel(
        f"""
        USMX_KERNEL({len(size)}) plain [[sycl::reqd_work_group_size{size}]] (float* x) {{
          usmx::nd_item<{len(size)}> item;
          x[item.get_global_linear_id()] += 1;
        }}
        """.replace(",)", ")"),
        "plain",
    )
    assert kernel.limits().required_work_group_size == size
    count = math.prod(size) * 8 ** len(size)
    x = usmx.zeros(count, "f4", usm_type="shared")
    kernel[tuple(8 * n for n in size), size](x).wait()
    assert x.to_numpy().sum() == count
    with pytest.raises(TypeError, match=r"\(float\* x\): is of type int; expected USM"):
        kernel[size, size](1)


def test_a_sub_group_of_the_size_that_the_source_demands() -> None:
    sizes = usmx.Device().sub_group_sizes
    size = 8 if 8 in sizes else sizes[0]
    kernel = usmx.RawKernel(
        """
        USMX_KERNEL(1) sizes [[sycl::reqd_sub_group_size(SIZE)]] (int32_t* x) {
          usmx::nd_item<1> item;
          x[item.get_global_id(0)] = int32_t(usmx::sub_group_max_size());
        }
        """.replace("SIZE", str(size)),
        "sizes",
    )
    assert kernel.limits().required_sub_group_size == size
    x = usmx.zeros(32, "i4", usm_type="shared")
    kernel[32, 32](x).wait()
    assert (x.to_numpy() == size).all()


def test_a_launch_is_refused_above_the_limit_that_was_told() -> None:
    kernel = usmx.RawKernel(SOURCE, "plain")
    most = kernel.limits(usmx.Queue()).max_work_group_size
    x = usmx.zeros(4 * most, "f4", usm_type="shared")
    kernel[4 * most, most](x).wait()
    assert x.to_numpy().sum() == 4 * most
    with pytest.raises(ValueError, match=f"at most {most}"):
        kernel[4 * most, 2 * most](x)


def test_a_missing_kernel_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="plain"):
        usmx.RawKernel(SOURCE, "nothing").limits()


def test_kernels_in_python_have_limits_for_their_arguments() -> None:
    @usmx.kernel
    def table(item, x):  # type: ignore[no-untyped-def]
        mine = usmx.private.array(1000, x.dtype)
        for i in range(1000):
            mine[i] = i * x[0]
        x[item.get_id(0)] = mine[int(x[item.get_id(0)]) % 1000]

    small = table.limits(usmx.ones(10, "i4")).private_memory
    assert table.limits(usmx.ones(10, "f8")).private_memory >= small + 2000
