# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which functions of Open MPI carry out a call: it calls them by names that can be preloaded."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi.make import headers

CALLS = Path(__file__).with_name("calls.c")
FUNCTIONS = re.compile(r"(ompi_coll_base|mca_coll_han)_\w+_intra_?\w*")
"""Those that Open MPI has for algorithms; one may call others."""
PRELOADED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
typedef long Word;
typedef Word (*Real)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
static void say(const char* name) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank && atoi(rank) == 0) printf(" %s", name), fflush(stdout);
}
#define SEEN(NAME) \\
  Word NAME(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, \\
            Word k, Word l) { \\
    static Real real; \\
    if (!real) real = (Real)dlsym(RTLD_NEXT, #NAME); \\
    say(#NAME); \\
    return real(a, b, c, d, e, f, g, h, i, j, k, l); \\
  }
"""


def build_calls(mpi: Mpi, folder: Path) -> tuple[Path, Path]:
    """A program that calls collectives, and what is to be preloaded so that it is seen how."""
    program, seen = folder / "calls", folder / "seen.so"
    words = ["gcc", "-O1", "-isystem", str(headers(mpi)), str(CALLS), "-o", str(program)]
    subprocess.run([*words, str(mpi.library)], check=True)
    symbols = ["nm", "--dynamic", "--defined-only", str(mpi.library)]
    listed = subprocess.run(symbols, check=True, capture_output=True, text=True).stdout
    names = sorted({line.split()[-1] for line in listed.splitlines()})
    found = [f"SEEN({name})\n" for name in names if FUNCTIONS.fullmatch(name)]
    source = folder / "seen.c"
    source.write_text(PRELOADED + "".join(found), encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", str(source), "-o", str(seen)], check=True)
    return program, seen


def carried_out_by(printed: str) -> dict[int, tuple[str, ...]]:
    """By size the functions that carried out the call, in the order in which they were called."""
    found = {}
    for line in printed.splitlines():
        if line.startswith("call ") and line.endswith(" end"):
            size, *functions = line.split()[1:-1]
            found[int(size)] = tuple(functions)
    return found
