"""Flow of water, compiled by Numba, on the same memory that the other libraries use."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import heapq

import numpy as np
from numba import njit

# The neighbours of a cell: rows, columns.
_DR = np.array([0, 1, 1, 1, 0, -1, -1, -1])
_DC = np.array([1, 1, 0, -1, -1, -1, 0, 1])


@njit
def accumulate_flow(elevation, receiver, area):
    """Route water downhill and count the cells that drain through each cell.

    Hollows are filled first by flooding the model from its border ("priority flood"); water leaves
    each cell towards the neighbour from which the flood came.

    Parameters
    ----------
    elevation : (rows, columns) array of numbers
    receiver : (rows, columns) int32 array, written
        Flat index of the cell that a cell drains to; its own index on the border.
    area : (rows, columns) int32 array, written
        Number of cells that drain through each cell, itself included.

    Returns
    -------
    int
        Address of the elevation's first byte, as this function sees it.
    """
    rows, columns = elevation.shape
    flat_receiver, flat_area = receiver.reshape(-1), area.reshape(-1)
    order = np.empty(rows * columns, np.int32)
    seen = np.zeros((rows, columns), np.bool_)
    # Height, then the moment of discovery, so that flats drain by the shortest way.
    queue = [(np.float64(0.0), np.int64(0), np.int64(0)) for _ in range(0)]
    moment = 0
    for r in range(rows):
        for c in range(columns):
            if r in (0, rows - 1) or c in (0, columns - 1):
                heapq.heappush(
                    queue,
                    (np.float64(elevation[r, c]), np.int64(moment), np.int64(r * columns + c)),
                )
                moment += 1
                seen[r, c] = True
                receiver[r, c] = r * columns + c
    done = 0
    while len(queue) > 0:
        height, _, cell = heapq.heappop(queue)
        order[done] = cell
        done += 1
        r, c = cell // columns, cell % columns
        for k in range(8):
            i, j = r + _DR[k], c + _DC[k]
            if 0 <= i < rows and 0 <= j < columns and not seen[i, j]:
                seen[i, j] = True
                receiver[i, j] = cell
                level = max(np.float64(elevation[i, j]), height)
                heapq.heappush(queue, (level, np.int64(moment), np.int64(i * columns + j)))
                moment += 1
    flat_area[:] = 1
    for k in range(done - 1, -1, -1):
        cell = order[k]
        if flat_receiver[cell] != cell:
            flat_area[flat_receiver[cell]] += flat_area[cell]
    return elevation.ctypes.data
