# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A fake driver of GPUs, and a fake NCCL, for tests on machines without a GPU (tests/fakes)."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

SOURCES = Path(__file__).resolve().parent / "fakes"
NAMES = {"cuda": "libcuda.so.1", "nccl": "libnccl.so.2"}
"""The libraries made from tests/fakes/NAME.c."""
BUSES = ("0000:19:00.0", "0000:1a:00.0")
"""The addresses of its GPUs."""


@cache
def fake(name: str, *options: str) -> Path:
    """The library made from tests/fakes/NAME.c, built once. `options`: more words for the
    compiler."""
    folder = Path(mkdtemp(prefix="mpigauge-fake-cuda-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    library = folder / NAMES[name]
    words = ["cc", "-O1", "-shared", "-fPIC", *options, str(SOURCES / f"{name}.c")]
    subprocess.run([*words, "-o", str(library), "-ldl", "-lrt", "-lpthread"], check=True)
    return library


def fake_driver(folder: Path, mode: str = "", **more: str) -> dict[str, str]:
    """Puts the library into a folder, and returns the variables with which programs find it.

    Trials are remembered for a driver's library, so each folder has a memory of its own. `mode` is
    that of MPIGAUGE_FAKE_CUDA: empty, so that the CPU cannot touch device memory; or aware.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(fake("cuda"), folder / NAMES["cuda"])
    paths = [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]
    variables = {"LD_LIBRARY_PATH": ":".join(filter(None, paths)), **more}
    return {**variables, "MPIGAUGE_FAKE_CUDA": mode} if mode else variables
