# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launch lines as users type them: from the words of any launcher to our values, and back.

line       what a line says, whoever it was said to
grammar    how words are taken apart: options, their values, programs, `:`
openmpi    the words of mpirun of Open MPI 4 and 5
hydra      those of MPICH's and Intel's mpiexec
srun       those of Slurm's srun
platform   those of Platform MPI's (HP-MPI's) mpirun
binding    what they call places of ranks, in our words
to_job     a line as a job that any of our launchers can be told
count      the ranks of a line that a log shows, whatever launcher it is for
preload    the same line with a library that its ranks load first

Pure: files that a line names (hostfiles, app files) are read by a function that is handed in.
"""

from mpigauge.site.launch.lines.line import Line, Program
from mpigauge.site.launch.lines.read import DIALECTS, is_launcher, read

__all__ = ["DIALECTS", "Line", "Program", "is_launcher", "read"]
