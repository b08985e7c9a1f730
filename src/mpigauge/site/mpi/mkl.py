# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where MKL may be: by its modules' variable, in wheels, conda and the folders of its installers.

`libmkl_rt` is the one library of MKL that opens the others, which lie beside it.
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
"""Since 2024 libraries lie in the first, before in the second."""


def in_folders() -> Iterator[str]:
    """Files, those that somebody has chosen (a module, this environment) first; of several versions
    the newest."""
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
    """It lies where its files say, in this environment or in that of the user."""
    from importlib import metadata

    try:
        files = metadata.files("mkl") or ()
    except metadata.PackageNotFoundError:
        return
    found = (Path(str(each.locate())) for each in files if each.match(LIBRARY))
    yield from dict.fromkeys(path.resolve().parent for path in found)


def _versions(folder: Path) -> list[Path]:
    """2024.2 before 2023.1.0, but `latest` before both."""
    known = [path for path in folder.glob("*") if re.fullmatch(r"latest|\d+(\.\d+)*", path.name)]
    return sorted(known, key=_age, reverse=True)


def _age(version: Path) -> tuple[bool, list[int]]:
    return version.name == "latest", [int(part) for part in re.findall(r"\d+", version.name)]
