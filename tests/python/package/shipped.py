# Kernels of every tier in a module, as programs have them: other processes find them by name.
# SPDX-License-Identifier: Apache-2.0
import usmx

TABLE = usmx.constant.array([1, 2, 3, 4], "int32")


@usmx.device_func
def twice(a):
    return 2 * a


@usmx.kernel
def doubled(item, x):
    i = item.get_id(0)
    x[i] = twice(x[i]) + TABLE[0] - 1


@usmx.fuse
def fused(x):
    return 2 * x


raw = usmx.RawKernel("USMX_KERNEL(1) raw(int* x) { x[usmx::global_id()] *= N; }", "raw", ("-DN=2",))
each = usmx.ElementwiseKernel(
    "T x", "T y", "y = two * x", "each", preamble="static const int two = 2;"
)
total = usmx.ReductionKernel("T x", "T y", "2 * x", "a + b", "y = a", 0, "total")
sums = usmx.ScanKernel("T x", "T y", "x", "a + b", identity=0, exclusive=True)


def all_right(kernels):
    """What the kernels compute, in the order of KERNELS."""
    raw, doubled, each, fused, total, sums = kernels
    x = usmx.asarray([1, 2, 3], dtype="int32")
    raw[3](x)
    doubled[3](x)
    return [
        x.to_numpy().tolist(),
        each(x).to_numpy().tolist(),
        fused(x).to_numpy().tolist(),
        total(x).item(),
        sums(x).to_numpy().tolist(),
    ]


KERNELS = (raw, doubled, each, fused, total, sums)
RIGHT = [[4, 8, 12], [8, 16, 24], [8, 16, 24], 48, [0, 4, 12]]


def sum_of(x):
    """For workers: the sum of an array that arrived, and where it is."""
    return float(x.to_numpy().sum()), x.usm_type, x.flags.f_contiguous


def run_all(kernels):
    """For workers."""
    return all_right(kernels)
