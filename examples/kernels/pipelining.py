"""Copies and kernels overlap: while one part is computed, the next one is copied to the device.

Two queues, one for copies and one for kernels, and two pairs of buffers that alternate. Events say
what has to be there first; nothing waits on the host before the end.
"""

# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx

PARTS, SIZE = 8, 10_000


@usmx.kernel
def polynomial(item, x, y):
    i = item.get_id(0)
    t = x[i]
    total = t
    for k in range(50):
        total = total * t + 1.0 / (k + 1)
    y[i] = total


def main():
    """A polynomial of many numbers that come in parts."""
    numbers = np.random.default_rng(3).uniform(-0.9, 0.9, (PARTS, SIZE)).astype("f4")
    results = np.empty_like(numbers)
    copies, kernels = usmx.Queue(in_order=True), usmx.Queue(in_order=True)
    inputs = [usmx.empty(SIZE, dtype="f4", usm_type="device", queue=copies) for _ in range(2)]
    outputs = [usmx.empty(SIZE, dtype="f4", usm_type="device", queue=kernels) for _ in range(2)]

    fetched = usmx.copy_async(inputs[0], numbers[0], queue=copies)
    computed = [usmx.Event(), usmx.Event()]
    returned = [usmx.Event(), usmx.Event()]
    for part in range(PARTS):
        here, there = part % 2, (part + 1) % 2
        computed[here] = polynomial[SIZE](
            inputs[here], outputs[here], queue=kernels, depends_on=[fetched, returned[here]]
        )
        if part + 1 < PARTS:
            # Its buffer is free when the part before has been computed.
            fetched = usmx.copy_async(
                inputs[there], numbers[part + 1], queue=copies, depends_on=computed[there]
            )
        returned[here] = usmx.copy_async(
            results[part], outputs[here], queue=copies, depends_on=computed[here]
        )
    usmx.Event.wait_for(returned)

    wanted = numbers.copy()
    for k in range(50):
        wanted = wanted * numbers + np.float32(1.0 / (k + 1))
    np.testing.assert_allclose(results, wanted, rtol=1e-4, atol=1e-5)
    print("pipelining", PARTS, "parts of", SIZE)


if __name__ == "__main__":
    main()
