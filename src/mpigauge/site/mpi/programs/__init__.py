# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The relation of a program to MPI, without running it.

elf       a file of machine code, as far as the loader uses it
loader    the files that the loader would open here for the libraries that it needs
abi       the MPIs of these libraries, by their names
look      the program of a command line: the MPI that it was built for, and its libraries
suits     the compatibility of the MPIs that are here, and the obstacles
ways      the variables with which its ranks run on one of them
stand_ins libraries under other names, and functions that an MPI lacks
witness   the library that checks in each rank whether it runs as intended
"""

from mpigauge.site.mpi.programs.look import Look, look
from mpigauge.site.mpi.programs.suits import Suits, suits

__all__ = ["Look", "Suits", "look", "suits"]
