"""A complex FFT by Cooley and Tukey: one work-group, all iterations in local memory."""

# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

import usmx

N = 128


@usmx.kernel
def fft(item, x, out):
    k, group = item.get_local_id(0), item.get_group_id(0)
    a = usmx.local.array((2, N), usmx.complex128)
    a[0, k] = x[group, k]
    now, length = 0, 1
    while length < N:
        usmx.barrier()
        # Each work-item computes one of two results.
        pair = k // (2 * length) * length + k % length
        angle = -math.pi * (k % length) / length
        even, odd = a[now, pair], a[now, pair + N // 2]
        turned = odd * complex(math.cos(angle), math.sin(angle))
        a[1 - now, k] = even + turned if k % (2 * length) < length else even - turned
        now = 1 - now
        length *= 2
    out[group, k] = a[now, k]


def main():
    """Four signals at once."""
    random = np.random.default_rng(15)
    x = random.normal(size=(4, N)) + 1j * random.normal(size=(4, N))
    out = usmx.empty((4, N), dtype="c16")
    fft[4 * N, N](usmx.asarray(x), out).wait()
    np.testing.assert_allclose(out.to_numpy(), np.fft.fft(x, axis=1), atol=1e-10)
    print("fft", out.to_numpy()[0, 0])


if __name__ == "__main__":
    main()
