"""Private memory: each work-item sorts a few numbers of its own to find their median."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

WIDTH = 5


@usmx.kernel
def median_filter(item, x, out):
    i = item.get_id(0)
    window = usmx.private.array(WIDTH, usmx.float32)
    for k in range(WIDTH):
        value = x[min(max(i + k - WIDTH // 2, 0), len(x) - 1)]
        at = k
        while at > 0 and window[max(at - 1, 0)] > value:
            window[at] = window[at - 1]
            at -= 1
        window[at] = value
    out[i] = window[WIDTH // 2]


def main():
    """A moving median."""
    x = np.random.default_rng(6).random(200, dtype="f4")
    out = usmx.empty(200, dtype="f4")
    median_filter[200](usmx.asarray(x), out).wait()
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, WIDTH // 2, "edge"), WIDTH)
    np.testing.assert_array_equal(out.to_numpy(), np.median(windows, axis=1))
    print("kernel_private_memory", out[:3].to_numpy())


if __name__ == "__main__":
    main()
