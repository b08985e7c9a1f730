# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The Python packages of a bundle: mpigauge's requirements as they are installed here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.products.bundle.archive import File

OWN = "mpigauge"
LEFT_OUT = ("__pycache__", "tests")
"""Folders of packages that nothing needs when it runs."""
ONLY_OF_HERE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""The metadata on how a package was installed here."""
_REQUIREMENT = re.compile(r"\s*(?P<name>[\w.-]+)\s*(\[(?P<extras>[^]]*)\])?[^;]*(;(?P<marker>.*))?")
_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")
_LIBC = re.compile(r"^Tag: \S*manylinux_(\d+)_(\d+)_", re.MULTILINE)
_OLD_TAGS = {"manylinux1_": "manylinux_2_5_", "manylinux2010_": "manylinux_2_12_",
             "manylinux2014_": "manylinux_2_17_"}  # fmt: skip


@dataclass(frozen=True)
class Requirement:
    """A line of a package's metadata, as far as it matters for what is installed already."""

    name: str
    extras: tuple[str, ...]
    """The extras of the required package."""
    only_for: str
    """The extra of the requiring package that needs it; empty: it is always needed."""
    only_on_some: bool
    """It is needed on some machines or by some Pythons; where it is missing, it was not needed."""


def requirement(line: str) -> Requirement:
    """A requirement as pip writes it: `duckdb>=1.2; extra == "sql"`."""
    match = _REQUIREMENT.match(line)
    if match is None:
        raise UserError(f"the requirement '{line}' of an installed package cannot be read")
    marker = match["marker"] or ""
    extra = _EXTRA.search(marker)
    extras = tuple(each.strip() for each in (match["extras"] or "").split(",") if each.strip())
    only_for = extra[1] if extra else ""
    return Requirement(match["name"], extras, only_for, bool(marker) and not only_for)


def distributions(extras: Sequence[str]) -> list[metadata.Distribution]:
    """mpigauge, first, and what it and these extras of it need.

    UserError: something is not installed. What only some machines need is taken where it is here.
    """
    by_name: dict[str, metadata.Distribution] = {}
    waiting = [(OWN, tuple(extras))]
    looked = set(waiting)
    while waiting:
        name, extras_of = waiting.pop(0)
        distribution = _installed(name)
        by_name.setdefault(_same(name), distribution)
        for each in map(requirement, distribution.requires or []):
            if each.only_for and each.only_for not in extras_of:
                continue
            if each.only_on_some and not _is_installed(each.name):
                continue
            if (more := (each.name, each.extras)) not in looked:
                looked.add(more)
                waiting.append(more)
    return list(by_name.values())


def files_of(distribution: metadata.Distribution) -> Iterator[File]:
    """The files of a distribution as they lie beside each other, but what is not needed. UserError:
    nobody knows which."""
    files = distribution.files
    if files is None:
        raise UserError(
            f"no record lists the files of the package {distribution.name}, as another than "
            "pip installed it; make the bundle in a virtual environment that pip has filled"
        )
    for file in files:
        path = Path(str(distribution.locate_file(file)))
        if _is_needed(file) and path.is_file():
            yield File(file.as_posix(), path)


def metadata_of(distribution: metadata.Distribution) -> Iterator[File]:
    """The files that describe a distribution, without the package itself."""
    for file in files_of(distribution):
        if file.name.partition("/")[0].endswith(".dist-info"):
            yield file


def libc_of(distribution: metadata.Distribution) -> tuple[int, int]:
    """The oldest glibc that it runs with; (0, 0): any."""
    tags = distribution.read_text("WHEEL") or ""
    for old, new in _OLD_TAGS.items():
        tags = tags.replace(old, new)
    versions = [(int(major), int(minor)) for major, minor in _LIBC.findall(tags)]
    return min(versions, default=(0, 0))


def _is_needed(file: metadata.PackagePath) -> bool:
    """Programs of a package lie outside of the packages' folder, by `..`."""
    if ".." in file.parts or file.is_absolute() or file.suffix == ".pyc":
        return False
    if file.parts[0].endswith(".dist-info") and file.name in ONLY_OF_HERE:
        return False
    return not any(part in LEFT_OUT for part in file.parts[:-1])


def _installed(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise UserError(
            f"the package {name} belongs into the bundle and is not installed here; "
            f"`pip install {name}` brings it"
        ) from None


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _same(name: str) -> str:
    """Names of packages that differ in this way only are of one package."""
    return re.sub(r"[-_.]+", "-", name).lower()
