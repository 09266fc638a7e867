"""Device functions: one with two results, and one that is passed as an argument."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.device_func
def halves(x):
    return x // 2, x - x // 2


@usmx.device_func
def square(x):
    return x * x


@usmx.device_func
def transformed(function, x):
    return function(x) + 1


@usmx.kernel
def device_func(item, function, x, out):
    i = item.get_id(0)
    low, high = halves(x[i])
    out[i, 0] = transformed(function, low)
    out[i, 1] = transformed(function, high)


def main():
    """Squares of the halves."""
    x = np.arange(20, dtype="i4")
    out = usmx.empty((20, 2), dtype="i4")
    device_func[20](square, usmx.asarray(x), out).wait()
    wanted = np.stack([(x // 2) ** 2 + 1, (x - x // 2) ** 2 + 1], axis=1)
    np.testing.assert_array_equal(out.to_numpy(), wanted)
    print("device_func", out.to_numpy()[:2].tolist())


if __name__ == "__main__":
    main()
