"""A picture of two halves: a Julia set, computed in pieces by the workers of a cluster of Dask, and
its edges, for which workers hand borders of pieces to each other. Bright frames are the pieces of
the second worker.

    pip install usmx 'dask[array,distributed]' pillow && python julia.py [picture.png]
"""

# SPDX-License-Identifier: Apache-2.0
import os
import sys

import dask.array as da
import numpy as np
from distributed import Client

import usmx
from usmx.dask import LocalCluster

HEIGHT, WIDTH, PIECE, ROUNDS = 256, 512, 64, 60


def julia(rows, columns):
    """How many rounds each point of a piece stays near, and the process that counted."""
    z = (columns - WIDTH / 2) * (3.2 / WIDTH) + 1j * ((rows - HEIGHT / 2) * (3.2 / WIDTH))
    rounds = usmx.zeros(z.shape, dtype="float32")
    for _ in range(ROUNDS):
        is_near = usmx.abs(z) < 2
        z = usmx.where(is_near, z * z + (-0.79 + 0.15j), z)
        rounds += is_near
    rounds[:2], rounds[:, :2] = -os.getpid(), -os.getpid()
    return rounds


def edges(x):
    """Where a piece and the rows and columns around it change."""
    made = usmx.zeros_like(x)
    made[1:-1, 1:-1] = usmx.hypot(x[2:, 1:-1] - x[:-2, 1:-1], x[1:-1, 2:] - x[1:-1, :-2])
    return made


def main():
    """Compute both with two workers, and compare with one process."""
    with (
        LocalCluster(n_workers=2, memory_limit="2GB", dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rows = da.arange(HEIGHT, chunks=PIECE).to_backend("usmx")[:, None]
        columns = da.arange(WIDTH, chunks=PIECE).to_backend("usmx")[None, :]
        made = da.map_blocks(julia, rows, columns, dtype="float32")
        change = made.map_overlap(edges, depth=1, boundary="nearest")
        here, there = (x.to_numpy() for x in da.compute(made, change))
    owners = sorted(set(here[here < 0].tolist()))
    alone = julia(usmx.arange(HEIGHT)[:, None], usmx.arange(WIDTH)[None, :]).to_numpy()
    inside = (here >= 0) & (alone >= 0)
    np.testing.assert_array_equal(here[inside], alone[inside])
    print(f"{HEIGHT // PIECE * WIDTH // PIECE} pieces by {len(owners)} workers, as by one")
    if len(sys.argv) > 1:
        from PIL import Image

        there = np.where(there > ROUNDS, 0, there)
        picture = np.hstack([here, there * 2])
        frame = 1.0 * (here == owners[-1]) * ROUNDS
        picture[:, :WIDTH] = np.where(here < 0, frame, here)
        grey = (picture * (255 / ROUNDS)).clip(0, 255).astype("u1") // 32 * 32
        Image.fromarray(grey).quantize(9).save(sys.argv[1], optimize=True)


if __name__ == "__main__":
    main()
