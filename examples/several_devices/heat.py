"""The heat equation on all devices: each has some rows, and gives its edges to its neighbours.

    python heat.py                     # on all devices of the default kind; two queues if it is one
    python heat.py --size 16384 --steps 100 --picture plate.png

A step on a device is three commands. First its edges are computed; then they are copied to the
neighbours, on a queue of their own, while the rows in between are computed:

    queue of the device   | edges | rows in between ...................... | edges | ...
    queue of its copies           | to above, to below |

Nothing here waits: usmx knows which command last used an array, and lets commands of other queues
run behind it. That is why edges are arrays of their own, and no parts of the plate.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import usmx

SPEED = np.float32(0.2)


@usmx.kernel
def edges(item, next_plate, plate, above, below, first, last):
    x = item.get_id(0) + 1
    end = plate.shape[0] - 1
    row = plate[0, x]
    around = above[x] + plate[1, x] + plate[0, x - 1] + plate[0, x + 1]
    first[x] = next_plate[0, x] = row + SPEED * (around - 4 * row)
    row = plate[end, x]
    around = plate[end - 1, x] + below[x] + plate[end, x - 1] + plate[end, x + 1]
    last[x] = next_plate[end, x] = row + SPEED * (around - 4 * row)


@usmx.kernel
def between(item, next_plate, plate):
    y, x = item.get_id(0) + 1, item.get_id(1) + 1
    around = plate[y - 1, x] + plate[y + 1, x] + plate[y, x - 1] + plate[y, x + 1]
    next_plate[y, x] = plate[y, x] + SPEED * (around - 4 * plate[y, x])


def queues(count: int | None = None) -> list[usmx.Queue]:
    """A queue for each device of the default one's kind; two for one device.

    Parameters
    ----------
    count : int, optional
        How many of them.
    """
    default = usmx.Device()
    kind = (default.backend, default.device_type)
    devices = [d for d in usmx.devices() if (d.backend, d.device_type) == kind]
    if len(devices) == 1 and count != 1:
        devices *= 2
    return [usmx.Queue(device) for device in devices[:count]]


class Part:
    """Some rows of the plate on a device, and what it knows of its neighbours' edges.

    Parameters
    ----------
    rows : numpy.ndarray
        Of float32, two at the least.
    queue : usmx.Queue
        Where they are computed.
    """

    def __init__(self, rows: np.ndarray, queue: usmx.Queue) -> None:
        self.queue, self.copies = queue, usmx.Queue(queue.device)
        self.plate = usmx.asarray(rows, usm_type="device", queue=queue)
        self.next = self.plate.copy()
        width = rows.shape[1]
        # Two of each: a neighbour may be a step behind and still read the older one.
        self.first, self.last, self.above, self.below = (
            [usmx.zeros(width, "float32", usm_type="device", queue=queue) for _ in range(2)]
            for _ in range(4)
        )

    def edges(self, step: int) -> None:
        """Compute the first and the last row of the next plate."""
        now, then = step % 2, (step + 1) % 2
        edges[self.plate.shape[1] - 2](
            self.next, self.plate, self.above[now], self.below[now], self.first[then],
            self.last[then],
        )  # fmt: skip

    def between(self) -> None:
        """Compute the other rows, and go on to the next plate."""
        rows, width = self.plate.shape
        if rows > 2:
            between[rows - 2, width - 2](self.next, self.plate)
        self.plate, self.next = self.next, self.plate


def exchange(parts: list[Part], step: int) -> None:
    """Give the edges of step `step` to the neighbours, while they compute."""
    for above, below in pairwise(parts):
        usmx.copy_async(below.above[step % 2], above.last[step % 2], queue=above.copies)
        usmx.copy_async(above.below[step % 2], below.first[step % 2], queue=below.copies)


def heat(plate: np.ndarray, steps: int, places: list[usmx.Queue]) -> tuple[np.ndarray, float]:
    """The plate after some steps, and the seconds that these took.

    Parameters
    ----------
    plate : numpy.ndarray
        Of float32; its border is cold and stays so.
    steps : int
        How many.
    places : list of usmx.Queue
        Where the parts are computed.
    """
    split = np.array_split(plate, len(places))
    parts = [Part(rows, queue) for rows, queue in zip(split, places, strict=True)]
    for part in parts:
        part.edges(1)  # compiles the kernels; what they write is written again
        part.between()
        part.plate, part.next = part.next, part.plate
        part.first[0][...] = part.plate[0]
        part.last[0][...] = part.plate[-1]
    exchange(parts, 0)
    for part in parts:
        part.queue.wait()
        part.copies.wait()
    begin = time.perf_counter()
    for step in range(steps):
        for part in parts:
            part.edges(step)
        exchange(parts, step + 1)
        for part in parts:
            part.between()
    for part in parts:
        part.queue.wait()
        part.copies.wait()
    seconds = time.perf_counter() - begin
    return np.vstack([part.plate.to_numpy() for part in parts]), seconds


def heat_of_numpy(plate: np.ndarray, steps: int) -> np.ndarray:
    """The same by NumPy; rows outside of the plate are cold."""
    plate = np.pad(plate, ((1, 1), (0, 0)))
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + SPEED * (around - 4 * inner)
    return plate[1:-1]


def main() -> None:
    """Compare with NumPy, and one device with all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1024, help="rows and columns of the plate")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--picture", type=Path, help="a .png of the plate, by Pillow")
    given = parser.parse_args()

    small = np.zeros((50, 40), "float32")
    small[10:40, 5:30] = 1
    plate, _ = heat(small, 30, queues())
    np.testing.assert_allclose(plate, heat_of_numpy(small, 30), rtol=1e-4, atol=1e-6)
    print(f"{len(queues())} parts have the values of NumPy")

    whole = np.zeros((given.size, given.size), "float32")
    whole[given.size // 4 : given.size // 2, given.size // 8 : -given.size // 8] = 1
    seconds = {}
    for count in range(1, len(queues()) + 1):
        for _ in range(2):  # the first run makes the memory that the second one gets
            plate, seconds[count] = heat(whole, given.steps, queues(count))
        speed = given.steps * whole.size / seconds[count] / 1e9
        name = usmx.Device().name + (", two queues" if len(usmx.devices()) < count else "")
        print(
            f"{count} x {name}: {seconds[count] / given.steps * 1e6:.0f} us a step, "
            f"{speed:.1f} G elements/s, {seconds[1] / seconds[count]:.2f}x"
        )
    if given.picture:
        from PIL import Image

        Image.fromarray((plate * 255).astype("u1")).save(given.picture)


if __name__ == "__main__":
    main()
