"""Linear interpolation in a table, found by bisection."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.device_func
def interval(knots, x):
    low, high = 0, len(knots) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@usmx.kernel
def interpolation(item, x, knots, values, out):
    i = item.get_id(0)
    k = interval(knots, x[i])
    part = (x[i] - knots[k]) / (knots[k + 1] - knots[k])
    out[i] = values[k] + part * (values[k + 1] - values[k])


def main():
    """The sine between 50 knots."""
    knots = np.sort(np.random.default_rng(5).uniform(0, 6, 50))
    knots[0], knots[-1] = 0, 6
    x = np.linspace(0, 6, 500)
    out = usmx.empty(500, dtype="f8")
    arrays = [usmx.asarray(a) for a in (x, knots, np.sin(knots))]
    interpolation[500](*arrays, out).wait()
    np.testing.assert_allclose(out.to_numpy(), np.interp(x, knots, np.sin(knots)), atol=1e-12)
    print("interpolation", out[:3].to_numpy())


if __name__ == "__main__":
    main()
