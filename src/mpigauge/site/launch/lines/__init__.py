# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launch lines as users type them: parsed from the words of any launcher, and rewritten.

line       a parsed line, independent of the launcher
grammar    the parser: options, their values, programs, `:`
openmpi    the options of mpirun of Open MPI 4 and 5
hydra      the options of MPICH's and Intel's mpiexec
srun       the options of Slurm's srun
platform   the options of Platform MPI's (HP-MPI's) mpirun
binding    their mapping and binding as policies of ours
to_job     a line as a job for any of our launchers
count      the ranks of a line in a log, for any launcher
preload    the same line with a library that its ranks load first

Pure: files that a line names (hostfiles, app files) are read by a function that is passed in.
"""

from mpigauge.site.launch.lines.line import Line, Program
from mpigauge.site.launch.lines.read import DIALECTS, is_launcher, read

__all__ = ["DIALECTS", "Line", "Program", "is_launcher", "read"]
