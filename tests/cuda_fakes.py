# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A fake driver of GPUs for tests on machines without one (tests/fakes/cuda.c)."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

SOURCE = Path(__file__).resolve().parent / "fakes" / "cuda.c"
NAME = "libcuda.so.1"
BUSES = ("0000:19:00.0", "0000:1a:00.0")
"""The addresses of its GPUs."""


@cache
def _built() -> Path:
    library = Path(mkdtemp(prefix="mpigauge-fake-cuda-")) / NAME
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    return library


def fake_driver(folder: Path, mode: str = "", **more: str) -> dict[str, str]:
    """Puts the library into a folder, and returns the variables with which programs find it.

    Trials are remembered for a driver's library, so each folder has a memory of its own. `mode` is
    that of MPIGAUGE_FAKE_CUDA: empty, so that the CPU cannot touch device memory; or aware.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(_built(), folder / NAME)
    paths = [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]
    variables = {"LD_LIBRARY_PATH": ":".join(filter(None, paths)), **more}
    return {**variables, "MPIGAUGE_FAKE_CUDA": mode} if mode else variables
