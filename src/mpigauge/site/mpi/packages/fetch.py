# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Gets the wheel of an MPI: with pip, without pip from the package index, or from a folder."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INDEX = "https://pypi.org/simple"
INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
JSON = "application/vnd.pypi.simple.v1+json"
SECONDS = 60.0
_CHUNK = 1 << 20
_LIBC = re.compile(r"manylinux_(\d+)_(\d+)_")
_OLDER_NAMES = {"manylinux1_": (2, 5), "manylinux2010_": (2, 12), "manylinux2014_": (2, 17)}


def fetch(package: str, version: str, folder: Path) -> None:
    """Downloads into this folder, without pip in environments that lack it (uv, pipx)."""
    if _has_pip():
        _by_pip(f"{package}=={version}", folder)
    else:
        _by_ourselves(package, version, folder)


def take(package: str, version: str, source: Path, folder: Path) -> None:
    """Copies the wheel from a folder, which was filled on a machine with a network."""
    if not source.is_dir():
        raise UserError(f"--from {source}: there is no such folder")
    wheels = sorted(source.glob("*.whl"))
    name = fitting(package, version, [path.name for path in wheels])
    if name is None:
        there = ", ".join(path.name for path in wheels) or "no wheel"
        raise UserError(
            f"--from {source}: there is no wheel of {package} {version} for {platform.machine()} "
            f"(there is {there}); where there is a network, `{how_to_fetch(package, version)}` "
            "gets it"
        )
    folder.mkdir(parents=True)
    shutil.copyfile(source / name, folder / name)


def how_to_fetch(package: str, version: str) -> str:
    return f"pip download --no-deps --only-binary :all: {package}=={version}"


def fitting(package: str, version: str, names: Iterable[str]) -> str | None:
    """Returns the wheel of these that runs here, for the newest libc; None: it does not exist."""
    stem = f"{package.replace('-', '_')}-{version}-".lower()
    ours = [name for name in names if name.lower().startswith(stem) and _runs_here(name)]
    return max(ours, key=_wanted_libc, default=None)


def _runs_here(name: str) -> bool:
    here = tuple(int(part) for part in re.findall(r"\d+", platform.libc_ver()[1])[:2])
    is_for_us = name.endswith((f"_{platform.machine()}.whl", "-any.whl"))
    return is_for_us and _wanted_libc(name) <= here


def _wanted_libc(name: str) -> tuple[int, ...]:
    """Returns the lowest libc version of its tags."""
    versions = [tuple(map(int, numbers)) for numbers in _LIBC.findall(name)]
    versions += [libc for mark, libc in _OLDER_NAMES.items() if mark in name]
    return min(versions, default=(0, 0))


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None


def _by_pip(requirement: str, folder: Path) -> None:
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    words += ["--only-binary", ":all:", "--dest", str(folder), requirement]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"cannot download {requirement} with pip: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines() or ["it gave no reason"]
    return lines[-1].removeprefix("ERROR: ")


def _by_ourselves(package: str, version: str, folder: Path) -> None:
    """Downloads from the index that pip or uv would use, through its JSON interface."""
    index = next(filter(None, map(os.environ.get, INDEX_VARIABLES)), INDEX).rstrip("/")
    page = f"{index}/{package}/"
    try:
        files = {each["filename"]: each for each in _listed(page)}
        name = fitting(package, version, files)
        if name is None:
            raise UserError(
                f"{page} has no wheel of {package} {version} for {platform.machine()} and "
                f"{' '.join(platform.libc_ver())}"
            )
        folder.mkdir(parents=True)
        _save(page, files[name], folder / name)
    except (OSError, ValueError, KeyError) as error:
        why = f"{error}{_hint(error)}"
        raise UserError(f"cannot download {package} {version} from {page}: {why}") from None


def _hint(error: Exception) -> str:
    """Returns advice if certificates are missing, as on small systems; pip and uv have theirs."""
    if "CERTIFICATE_VERIFY_FAILED" not in str(error):
        return ""
    return "; install the package ca-certificates, or set SSL_CERT_FILE to a file of certificates"


def _listed(page: str) -> list[Mapping[str, Any]]:
    import urllib.request

    asked = urllib.request.Request(page, headers={"Accept": JSON})
    with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
        files: list[Mapping[str, Any]] = json.load(answer)["files"]
    return files


def _save(page: str, entry: Mapping[str, Any], target: Path) -> None:
    """Downloads a file. UserError: its content does not match the index's digest."""
    import urllib.parse
    import urllib.request

    url = urllib.parse.urljoin(page, str(entry["url"]))
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=SECONDS) as answer, target.open("wb") as file:
        while piece := answer.read(_CHUNK):
            digest.update(piece)
            file.write(piece)
    expected = entry["hashes"].get("sha256")
    if expected and expected != digest.hexdigest():
        raise UserError(f"{url} was changed on its way: its SHA-256 is {digest.hexdigest()}")
