"""Views without copies: every other row, columns backwards, a transposed target."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def difference(item, a, b, out):
    i, j = item.get_id(0), item.get_id(1)
    out[i, j] = a[i, j] - b[i, j]


def main():
    """The kernel sees only shapes and strides, not the operations that made the views."""
    host = np.random.default_rng(14).random((20, 30))
    a = usmx.asarray(host)
    out = usmx.empty((30, 10), dtype="f8")
    difference[10, 30](a[::2], a[::-2, ::-1], out.T).wait()
    np.testing.assert_array_equal(out.to_numpy(), (host[::2] - host[::-2, ::-1]).T)
    print("strided", out.to_numpy()[0, :3])


if __name__ == "__main__":
    main()
