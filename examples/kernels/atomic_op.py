"""Many work-items add to one number: with a function, and with a reference to the element."""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx


@usmx.kernel
def atomic_op(item, values, result):
    i = item.get_id(0)
    usmx.atomic.add(result, 0, values[i])
    largest = usmx.AtomicRef(result, 1)
    largest.fetch_max(values[i])


def main():
    """Sum and maximum of a thousand numbers."""
    values = np.random.default_rng(4).integers(0, 1000, 1000)
    result = usmx.zeros(2, dtype="i8")
    atomic_op[1000](usmx.asarray(values), result).wait()
    assert result.to_numpy().tolist() == [values.sum(), values.max()]
    print("atomic_op", result.to_numpy())


if __name__ == "__main__":
    main()
