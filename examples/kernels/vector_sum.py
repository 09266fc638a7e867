"""c = a + b, one work-item for each element."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def vector_sum(item, a, b, c):
    i = item.get_id(0)
    c[i] = a[i] + b[i]


def main():
    """Add two vectors."""
    a, b = np.arange(1024, dtype="f4"), np.linspace(0, 1, 1024, dtype="f4")
    c = usmx.empty(1024, dtype="f4")
    vector_sum[1024](usmx.asarray(a), usmx.asarray(b), c).wait()
    np.testing.assert_array_equal(c.to_numpy(), a + b)
    print("vector_sum", c[:4].to_numpy())


if __name__ == "__main__":
    main()
