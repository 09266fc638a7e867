"""Distances between all pairs of points."""

# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

import usmx


@usmx.kernel
def pairwise_distance(item, points, distances):
    i, j = item.get_id(0), item.get_id(1)
    total = 0.0
    for k in range(points.shape[1]):
        difference = points[i, k] - points[j, k]
        total += difference * difference
    distances[i, j] = math.sqrt(total)


def main():
    """Distances of 40 points in three dimensions."""
    points = np.random.default_rng(2).random((40, 3))
    distances = usmx.empty((40, 40), dtype="f8")
    pairwise_distance[40, 40](usmx.asarray(points), distances).wait()
    wanted = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(distances.to_numpy(), wanted, rtol=1e-12, atol=1e-12)
    print("pairwise_distance", distances.to_numpy()[0, :3])


if __name__ == "__main__":
    main()
