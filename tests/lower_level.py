# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes an MPI library provide no thread level but the lowest, whatever it is asked for."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
#include <dlfcn.h>

// MPI_THREAD_SINGLE is 0 in every ABI.
extern "C" int MPI_Init_thread(int *argc, char ***argv, int, int *provided) {
  using Init = int (*)(int *, char ***, int, int *);
  return reinterpret_cast<Init>(dlsym(RTLD_DEFAULT, "PMPI_Init_thread"))(argc, argv, 0, provided);
}
"""


def preloaded(folder: Path) -> tuple[str, ...]:
    """Words that a launcher is started by, so that its ranks open this before their MPI."""
    source, library = folder / "lower_level.cpp", folder / "liblower_level.so"
    source.write_text(SOURCE, encoding="utf-8")
    compiler = shutil.which("g++") or "c++"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return "env", f"LD_PRELOAD={library}"
