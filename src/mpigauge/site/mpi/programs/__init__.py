# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a program is to MPI, without running it.

elf       a file of machine code, as far as the loader looks at it
loader    which files the loader would take here for the libraries that it needs
abi       whose libraries these are, by their names
look      the program behind a command line: which MPI it was made for, and what it would load
suits     which of the MPIs that are here can run it, and what stands in the way
ways      what its ranks have to be told, so that it runs on one of them
stand_ins libraries under other names, and functions that an MPI has not
witness   what looks in each rank whether it runs where it should
"""

from mpigauge.site.mpi.programs.look import Look, look
from mpigauge.site.mpi.programs.suits import Suits, suits

__all__ = ["Look", "Suits", "look", "suits"]
