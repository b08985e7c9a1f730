# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Libraries that replace a program's own MPI under other names, next to the actual replacement.

The loader uses a library that is already loaded if its soname matches. So an empty one under a
packager's name of an MPI (Debian's libmpich.so.12) keeps the loader from searching for that. A
function that the new MPI lacks is replaced by one that reports its name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mpigauge.site.mpi.programs.small import small_library

WHAT = "a library in place of a program's own MPI"
LACKING = "libmpigauge_lacking.so"
_HEAD = """
#include <stdio.h>
#include <stdlib.h>
static void lacking(const char* name, const char* mpi) {
  fprintf(stderr, "mpigauge: the program called %s, which %s does not have\\n", name, mpi);
  abort();
}
#define LACKS(name, mpi) \\
  extern "C" __attribute__((visibility("default"))) void name() { lacking(#name, mpi); }
"""


def empty(soname: str) -> Path:
    """Returns an empty library of this name."""
    return small_library(soname, "", WHAT)


def lacking(names: Sequence[str], mpi: str) -> Path:
    """Returns a library with functions of these names, each of which reports that this MPI lacks
    it, and aborts the program."""
    lines = (f"LACKS({name}, {json.dumps(mpi)})" for name in sorted(names))
    return small_library(LACKING, "\n".join([_HEAD, *lines, ""]), WHAT)
