"""An n-body simulation: each group loads tiles of positions into local memory."""

# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

import usmx

GROUP = 32
SOFTENING = 0.01


@usmx.device_func
def attraction(dx, dy, dz):
    inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
    return inverse**3


@usmx.kernel
def forces(item, bodies, force):
    i, k = item.get_global_id(0), item.get_local_id(0)
    near = usmx.local.array((GROUP, 3), usmx.float64)
    x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
    fx, fy, fz = 0.0, 0.0, 0.0
    for first in range(0, bodies.shape[0], GROUP):
        for axis in range(3):
            near[k, axis] = bodies[first + k, axis]
        usmx.barrier()
        for other in range(GROUP):
            dx, dy, dz = near[other, 0] - x, near[other, 1] - y, near[other, 2] - z
            pull = attraction(dx, dy, dz)
            fx += dx * pull
            fy += dy * pull
            fz += dz * pull
        usmx.barrier()
    force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz


def main():
    """Forces on 128 bodies."""
    bodies = np.random.default_rng(13).random((128, 3))
    force = usmx.empty((128, 3), dtype="f8")
    forces[128, GROUP](usmx.asarray(bodies), force).wait()
    d = bodies - bodies[:, None]
    wanted = (d / (np.square(d).sum(axis=2) + SOFTENING)[..., None] ** 1.5).sum(axis=1)
    np.testing.assert_allclose(force.to_numpy(), wanted, rtol=1e-9)
    print("n_body", force.to_numpy()[0])


if __name__ == "__main__":
    main()
