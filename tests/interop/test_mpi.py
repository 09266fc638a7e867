"""MPI takes arrays as they are: the example of four processes that give each other their edges."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image


@pytest.fixture
def ranks(run_program: Callable[..., str]) -> Callable[..., str]:
    """Run a program of Python on so many processes of MPI."""
    mpiexec = Path(sys.executable).parent / "mpiexec"
    return lambda count, *words: run_program(mpiexec, "-n", str(count), sys.executable, *words)


def test_four_processes_have_the_values_of_one(
    ranks: Callable[..., str], examples: Path, tmp_path: Path
) -> None:
    assert ranks(4, examples / "mpi" / "heat.py", tmp_path / "heat.png").splitlines() == [
        "shared: 4 processes have the values of one",
        "device: 4 processes have the values of one",
        "sum of the ranks: 10",
    ]
    assert Image.open(tmp_path / "heat.png").size == (2 * 48 * 6, 64 * 6)


COMMANDS = """
from mpi4py import MPI
import usmx
world = MPI.COMM_WORLD
x = usmx.full((3, 4), float(world.rank), usm_type="shared")
x += 1  # not computed yet when MPI is called
got = usmx.zeros(4, usm_type="shared")
if world.rank == 0:
    world.Send(x[1], 1)
else:
    world.Recv(got, 0)
    got *= 10
    assert got.tolist() == [10, 10, 10, 10], got
total = usmx.zeros((3, 4), usm_type="host")
world.Allreduce(x, total)
assert total.tolist() == [[3.0] * 4] * 3
if world.rank == 0:
    try:
        world.Send(x[:, ::2], 1)
    except BufferError as error:
        print(str(error))
"""


def test_commands_before_and_after_are_in_order(ranks: Callable[..., str]) -> None:
    said = ranks(2, "-c", COMMANDS)
    assert "contiguous" in said  # of rows with gaps; MPI's own error


HANDLES = """
from mpi4py import MPI
import usmx
world = MPI.COMM_WORLD
mine = usmx.ipc.share(usmx.full(4, float(world.rank)))
handles = world.allgather(usmx.ipc.Handle(mine))
theirs = [one.open() for one in handles]  # no message carries elements
assert [float(x[0]) for x in theirs] == list(range(world.size))
world.Barrier()
theirs[(world.rank + 1) % world.size][1] = 10 + world.rank
world.Barrier()
assert mine[1].item() == 10 + (world.rank - 1) % world.size, mine
said = world.gather(f"rank {world.rank} of {world.size}")  # lines of several processes may mix
if world.rank == 0:
    print("\\n".join(said))
"""


def test_ranks_of_one_machine_open_each_others_memory(ranks: Callable[..., str]) -> None:
    assert ranks(3, "-c", HANDLES).splitlines() == [f"rank {k} of 3" for k in range(3)]
