# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Libraries that stand where a program looks for its own MPI, beside the one that takes its place.

The loader takes a library that is there already for one that is asked for by its soname. So an
empty one under the name that a packager has given an MPI (Debian's libmpich.so.12) keeps the
loader from looking for that. What the new MPI has not is a function there that names itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mpigauge.site.mpi.programs.small import small_library

WHAT = "a library that stands in for a program's own MPI"
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
    """A library of this name with nothing in it."""
    return small_library(soname, "", WHAT)


def lacking(names: Sequence[str], mpi: str) -> Path:
    """A library with functions of these names, each of which says that this MPI has it not, and
    ends the program."""
    lines = (f"LACKS({name}, {json.dumps(mpi)})" for name in sorted(names))
    return small_library(LACKING, "\n".join([_HEAD, *lines, ""]), WHAT)
