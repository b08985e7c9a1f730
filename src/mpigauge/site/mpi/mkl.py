# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The places of MKL: its modules' variable, wheels, conda and the folders of its installers.

`libmkl_rt` is the library of MKL that opens the others, which are next to it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ONEAPI = "/opt/intel/oneapi"
BEFORE_ONEAPI = "/opt/intel/mkl"
LIBRARY = "libmkl_rt.so*"
_IN_ROOT = ("lib", "lib/intel64")
"""The folders of libraries, since 2024 and before."""


def in_folders() -> Iterator[str]:
    """Yields libraries, the user's choice (a module, this environment) first, then the newest."""
    for folder in _folders():
        yield from map(str, sorted(folder.glob(LIBRARY)))


def _folders() -> Iterator[Path]:
    if root := os.environ.get("MKLROOT"):
        yield from _below(Path(root))
    yield from _of_wheel()
    for prefix in (sys.prefix, os.environ.get("CONDA_PREFIX")):
        if prefix:
            yield Path(prefix, "lib")
    for version in _versions(Path(os.environ.get("ONEAPI_ROOT") or ONEAPI, "mkl")):
        yield from _below(version)
    yield from _below(Path(BEFORE_ONEAPI))


def _below(root: Path) -> Iterator[Path]:
    return (root / name for name in _IN_ROOT)


def _of_wheel() -> Iterator[Path]:
    """Yields the folders of the wheel's libraries, in this environment or in that of the user."""
    from importlib import metadata

    try:
        files = metadata.files("mkl") or ()
    except metadata.PackageNotFoundError:
        return
    libraries = (Path(str(each.locate())) for each in files if each.match(LIBRARY))
    yield from dict.fromkeys(path.resolve().parent for path in libraries)


def _versions(folder: Path) -> list[Path]:
    """Returns the versions' folders, the newest first, but `latest` before all."""
    paths = [path for path in folder.glob("*") if re.fullmatch(r"latest|\d+(\.\d+)*", path.name)]
    return sorted(paths, key=_age, reverse=True)


def _age(version: Path) -> tuple[bool, list[int]]:
    return version.name == "latest", [int(part) for part in re.findall(r"\d+", version.name)]
