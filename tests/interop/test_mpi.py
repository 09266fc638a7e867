"""MPI takes arrays as they are: the example of four processes that give each other their edges."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "mpi" / "heat.py"
MPIEXEC = Path(sys.executable).parent / "mpiexec"


def ranks(count: int, *command: str) -> str:
    said = subprocess.run(
        [str(MPIEXEC), "-n", str(count), sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout


def test_four_processes_have_the_values_of_one() -> None:
    assert ranks(4, str(EXAMPLE)).splitlines() == [
        "shared: 4 processes have the values of one",
        "device: 4 processes have the values of one",
        "sum of the ranks: 10",
    ]


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


def test_commands_before_and_after_are_in_order() -> None:
    said = ranks(2, "-c", COMMANDS)
    assert "contiguous" in said  # of rows with gaps; MPI's own error
