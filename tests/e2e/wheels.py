# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Wheels with kernels inside, built as `make wheel` builds them."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from pathlib import Path

from tests import patience

MINUTES_S = 3600.0
BUILDERS = ("ziglang", "auditwheel", "hatchling", "hatch_vcs")
COMPILERS = (
    "cmake",
    "ninja",
    "make",
    "cc",
    "c++",
    "gcc",
    "g++",
    "clang",
    "clang++",
    "ccache",
    "ld",
)
"""What who installs a wheel need not have."""
GIVEN = {"x86_64": "MPIGAUGE_WHEEL", "aarch64": "MPIGAUGE_WHEEL_AARCH64"}
"""Variables that name a wheel which `make wheel` has built, by the machine that it is for."""


def program(words: list[str], **more: str) -> str:
    done = patience.run(words, seconds=MINUTES_S, env={**os.environ, **more})
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def builder(repository: Path, folder: Path) -> Path:
    """A Python that has what wheels are built with: this one, or one that is made in `folder`."""
    if all(importlib.util.find_spec(name) for name in BUILDERS):
        return Path(sys.executable)
    python = folder / "builder" / "bin" / "python"
    if not python.exists():
        program([sys.executable, "-m", "venv", str(folder / "builder")])
        program([str(python), "-m", "pip", "install", "--quiet", f"{repository}[wheel]"])
    return python


def built_wheel(repository: Path, folder: Path, machine: str = platform.machine()) -> Path:
    """The wheel for machines of this kind, in `folder` unless one is given."""
    if given := os.environ.get(GIVEN[machine]):
        return Path(given).absolute()
    python = str(builder(repository, folder))
    source = {"PYTHONPATH": str(repository / "src")}
    shipper = [python, str(repository / "tools/shipped.py"), "--work", str(folder / "work")]
    # This machine comes first, as it writes the cards of the others.
    for kind in dict.fromkeys([platform.machine(), machine]):
        program([*shipper, "--machine", kind, str(folder / kind)], **source)
    words = [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    program(
        [*words, "--wheel-dir", str(folder / "dist"), str(repository)],
        MPIGAUGE_SHIPPED=str(folder / machine),
    )
    (found,) = (folder / "dist").glob("*.whl")
    return found
