"""The heat equation on several processes: each has some rows, and gives its edges to its
neighbours by MPI.

    mpiexec -n 4 python heat.py [picture.png]

The picture (of Pillow) has the plate before and after, with a line where parts meet.

MPI takes arrays in shared and host memory as they are: nothing is copied on the way to it. Edges of
arrays in device memory go through pinned memory, a row each.
"""

# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np
from mpi4py import MPI

import usmx

HEIGHT, WIDTH, STEPS, SPEED = 64, 48, 50, 0.2
WORLD = MPI.COMM_WORLD


def start():
    """A warm square in a cold plate."""
    plate = np.zeros((HEIGHT, WIDTH))
    plate[20:44, 10:30] = 1
    return plate


class Edges:
    """Sends the outer rows of a part to the processes above and below, and receives theirs."""

    def __init__(self, part):
        self.above = WORLD.rank - 1 if WORLD.rank > 0 else MPI.PROC_NULL
        self.below = WORLD.rank + 1 if WORLD.rank < WORLD.size - 1 else MPI.PROC_NULL
        self.pinned = None
        if part.usm_type == "device":
            self.pinned = [usmx.zeros(part.shape[1], usm_type="host") for _ in range(2)]

    def exchange(self, part):
        """Fill the first and the last row of a part, which belong to its neighbours."""
        for send, receive, to, origin in (
            (part[1], part[-1], self.above, self.below),
            (part[-2], part[0], self.below, self.above),
        ):
            if self.pinned is None:
                WORLD.Sendrecv(send, to, 0, receive, origin, 0)
                continue
            out, back = self.pinned
            usmx.copy(out, send)
            WORLD.Sendrecv(out, to, 0, back, origin, 0)
            if origin != MPI.PROC_NULL:
                usmx.copy(receive, back)


def heat(usm_type):
    """The plate after some steps, at process 0."""
    rows = HEIGHT // WORLD.size
    first = WORLD.rank * rows
    own = np.zeros((rows + 2, WIDTH))
    own[1:-1] = start()[first : first + rows]
    part = usmx.asarray(own, usm_type=usm_type)
    edges = Edges(part)
    top = 2 if WORLD.rank == 0 else 1
    bottom = -2 if WORLD.rank == WORLD.size - 1 else -1
    for _ in range(STEPS):
        edges.exchange(part)
        inner = part[top:bottom, 1:-1]
        around = part[top - 1 : bottom - 1, 1:-1] + part[top + 1 : part.shape[0] + bottom + 1, 1:-1]
        around = around + part[top:bottom, :-2] + part[top:bottom, 2:]
        part[top:bottom, 1:-1] = inner + SPEED * (around - 4 * inner)
    whole = usmx.zeros((HEIGHT, WIDTH), usm_type="shared") if WORLD.rank == 0 else None
    WORLD.Gather(usmx.asarray(part[1:-1], usm_type="shared"), whole, 0)
    return whole


def heat_of_numpy():
    """The same in one process."""
    plate = start()
    for _ in range(STEPS):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + SPEED * (around - 4 * inner)
    return plate


def draw(after, path):
    """The plate before and after, six points for each element."""
    from PIL import Image

    both = np.stack([np.kron(plate, np.ones((6, 6))) for plate in (start(), after)])
    each = both.shape[1] // WORLD.size
    both[:, each::each, ::8] = 0.5  # where a part ends
    Image.fromarray((np.hstack(both) * 255).astype("u1")).save(path, optimize=True)


def main():
    """Compare both kinds of memory with NumPy, and the sum of all parts by `Allreduce`."""
    for usm_type in ("shared", "device"):
        whole = heat(usm_type)
        if WORLD.rank == 0:
            np.testing.assert_allclose(whole.to_numpy(), heat_of_numpy(), rtol=1e-12, atol=1e-15)
            print(f"{usm_type}: {WORLD.size} processes have the values of one")
    if WORLD.rank == 0 and len(sys.argv) > 1:
        draw(whole.to_numpy(), sys.argv[1])
    total = usmx.zeros(1, usm_type="shared")
    WORLD.Allreduce(usmx.full(1, WORLD.rank + 1.0, usm_type="shared"), total)
    if WORLD.rank == 0:
        print("sum of the ranks:", int(total[0]))


if __name__ == "__main__":
    sys.exit(main())
