# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The ranks in launch lines of logs, for every launcher that is known."""

from __future__ import annotations

import pytest

from mpigauge.site.launch.lines.count import MEANINGS, count_ranks
from mpigauge.site.launch.lines.read import GRAMMARS, LAUNCHERS, read
from tests.unit.runs.readers.test_readers import cells
from tests.unit.runs.readers.test_readers import read as read_output


def is_program(word: str) -> bool:
    return "osu_" in word


LINES = {
    "mpirun -np 4 ./osu_bw": 4,
    "mpirun --np 4 -x A=1 ./osu_bw -n 7": 4,
    "mpirun -n=4 ./osu_bw": 4,
    "mpirun -np 1 ./osu_bw : -np 3 ./osu_bw": 4,
    "mpirun -np 1 -host a ./osu_bw : -np 1 -host b ./osu_bw : -n 2 ./osu_bw": 4,
    "mpirun -np 1 ./osu_bw : ./osu_bw": 0,
    "mpirun -hosts a,b[1-3] -ppn 2 ./osu_bw": 8,
    "mpirun -wdir /tmp -ppn 2 ./osu_bw": 0,
    "mpirun ./osu_bw": 0,
    "$ time mpiexec.hydra -n 4 ./osu_bw | tee -n log": 4,
    "OMP_NUM_THREADS=2 /opt/mpi/bin/mpirun -np 4 ./osu_bw": 4,
    "mpirun_rsh -np 2 a b MV2_X=1 ./osu_bw": 2,
    "orterun -n 2 ./osu_bw": 2,
    "prterun -n 2 ./osu_bw": 2,
    "prun -n 2 ./osu_bw": 2,
    "ibrun -n 2 ./osu_bw": 2,
    "ccc_mprun -n 2 ./osu_bw": 2,
    "runjob --np 2 : ./osu_bw": 0,
    "poe ./osu_bw -procs 4": 0,
    "poe -procs 4 ./osu_bw": 4,
    "mpiexec -n 4 --ppn 2 ./osu_bw": 4,
    "jsrun -n 4 -a 2 ./osu_bw": 8,
    "jsrun -n4 -a2 -c 7 -r 2 ./osu_bw": 8,
    "jsrun --nrs 4 --tasks_per_rs=2 ./osu_bw": 8,
    "jsrun --nrs=4 ./osu_bw": 4,
    "jsrun -p 6 -a 2 ./osu_bw": 6,
    "jsrun -n ALL_HOSTS ./osu_bw": 0,
    "lrun -N 2 -T4 ./osu_bw": 8,
    "lrun -n 6 ./osu_bw": 6,
    "srun -n4 ./osu_bw": 4,
    "srun --ntasks=4 --nodes=2 ./osu_bw": 4,
    "srun -N 2 --ntasks-per-node=4 ./osu_bw": 8,
    "srun -w n[01-03] --ntasks-per-node 2 ./osu_bw": 6,
    "srun -n 1 ./osu_bw : -n 3 ./osu_bw": 4,
    "+ srun -N 2 ./osu_bw": 0,
    "salloc -N 2 -n 8 srun -n 2 ./osu_bw": 2,
    "flux run -n 4 ./osu_bw": 4,
    "flux run -N 2 --tasks-per-node=3 ./osu_bw": 6,
    "aprun -n 4 -N 2 ./osu_bw": 4,
    "aprun -n 4 ./osu_bw : -n 2 ./osu_bw": 6,
    "palsrun -n 4 ./osu_bw": 4,
    "./launch.sh -n 4 ./osu_bw": 4,
    "./osu_bw -n 4": 0,
    "mpirun -np 4 'a b ./osu_bw": 4,
    "mpirun -np 9999999999 ./osu_bw": 0,
}


@pytest.mark.parametrize("line", LINES)
def test_ranks(line: str) -> None:
    assert count_ranks(line, is_program) == LINES[line]


def test_every_launcher_is_tried() -> None:
    words = " ".join(LINES).split()
    assert {name for name in MEANINGS if name not in words} <= {"mpirun", "mpiexec"}
    assert {name.partition(".")[0] for name in LAUNCHERS} <= set(MEANINGS)


@pytest.mark.parametrize("dialect", GRAMMARS)
def test_the_ranks_of_a_line_that_is_started(dialect: str) -> None:
    """The sum over its programs."""
    launcher = "srun" if dialect == "srun" else "mpirun"
    assert read([launcher, "-n", "2", "a", ":", "-n", "3", "b"], dialect).ranks == 5


def test_srun_counts_ranks_by_nodes() -> None:
    line = read(["srun", "-N", "2", "--ntasks-per-node=4", "./app"], "srun")
    assert (line.ranks, line.ppn) == (8, 4)


@pytest.mark.parametrize("line", ["jsrun -n 4 -a 2 ./osu_bcast", "srun -n 2 x : -n 6 osu_bcast"])
def test_osu_beneath_a_launch_line(line: str) -> None:
    text = f"{line}\n# OSU MPI Broadcast Latency Test v7.4\n# Size  Avg Latency(us)\n1  2.5\n"
    assert [cell.ranks for cell in cells(read_output("osu", text))] == [8]
