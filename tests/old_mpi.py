# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes an old MPI library of a new one: the same, but for calls that had not been invented.

A small library is built that opens the real one for itself alone and exports the names that it
shall have, each as an indirect function (ifunc): whoever looks one up gets the address in the real
library. So calls cost nothing more, objects such as Open MPI's handles are the real ones, and what
is left out is not there, whether by linking or by dlsym.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

LIST = Path(__file__).parent / "data" / "newer_calls.txt"
EXPORTED = re.compile(r"\w (MPI_\w+|MPIR_Dup_fn)|[BDRV] (ompi_\w+)")
"""Calls, what tells MPICH's ABI, and objects of Open MPI's, as nm writes them."""

SOURCE = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *real;

static void *address_of(const char *name) {
  void *found = dlsym(real, name);
  if (found == nullptr) fprintf(stderr, "old MPI: no %s\\n", name), abort();
  return found;
}

#define SAME(name) \\
  static void *at_##name; \\
  extern "C" { \\
  static void *resolve_##name() { return at_##name; } \\
  void name() __attribute__((ifunc("resolve_" #name))); \\
  }
#include "names.h"
#undef SAME

// Its objects are initialised before anyone can look a name up.
__attribute__((constructor)) static void open_real() {
  real = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
  if (real == nullptr) fprintf(stderr, "old MPI: %s\\n", dlerror()), abort();
#define SAME(name) at_##name = address_of(#name);
#include "names.h"
#undef SAME
}

extern "C" int MPI_Get_version(int *version, int *subversion) {
  *version = MAJOR;
  *subversion = MINOR;
  return 0;
}
"""

NEWER_OBJECTS = {
    "ompi_message_no_proc": "3.0",
    "ompi_message_null": "3.0",
    "ompi_mpi_count": "3.0",
    "ompi_mpi_instance_default": "4.0",
    "ompi_mpi_instance_null": "4.0",
    "ompi_mpi_op_no_op": "3.0",
}
"""Handles of Open MPI that an older one has not; a plugin that refers to one would not open."""


@cache
def newer_calls() -> dict[str, str]:
    """The version of the standard that each call came with; calls of MPI-2.2 are not in it."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if not line.startswith("#"))
    return {name: version for version, name in pairs}


def version_of(call: str) -> str:
    """The version of the standard that a call came with."""
    if call.startswith("MPI_T_"):
        return "3.0"
    if call.endswith(("_toint", "_fromint")):
        return "5.0"
    newer = newer_calls().get(call) or NEWER_OBJECTS.get(call)
    return newer or ("4.0" if call.endswith("_c") else "2.2")


def of_standard(mpi: Mpi, standard: str, folder: Path) -> Mpi:
    """The same MPI with a library of that standard, made in `folder`."""
    names = [name for name in _exported(mpi.library) if _is_kept(name, standard)]
    (folder / "names.h").write_text("\n".join(f"SAME({name})" for name in names) + "\n")
    (folder / "old.cpp").write_text(SOURCE)
    library = folder / mpi.library.name
    major, _, minor = standard.partition(".")
    compiler = shutil.which("g++") or "c++"
    words = [compiler, "-O0", "-shared", "-fPIC", f'-DREAL="{mpi.library}"']
    words += [f"-DMAJOR={major}", f"-DMINOR={minor}", f"-Wl,-soname,{library.name}"]
    words += ["-o", str(library), str(folder / "old.cpp"), "-ldl"]
    subprocess.run(words, check=True)
    return dataclasses.replace(mpi, library=library, standard=standard, include=None)


def _is_kept(name: str, standard: str) -> bool:
    return name != "MPI_Get_version" and version_of(name) <= standard


def _exported(library: Path) -> list[str]:
    words = ["nm", "-D", "--defined-only", str(library)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = (line.partition(" ")[2].partition("@")[0] for line in done.stdout.splitlines())
    found = (EXPORTED.fullmatch(line) for line in lines)
    return sorted({match[1] or match[2] for match in found if match})
