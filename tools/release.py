# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Says whether a release may be uploaded, and lists its files. It uploads nothing.

`make release` builds the files and runs it: with `--before` it looks at what needs no files, so
that nothing is built for a release that cannot be. `--twice` builds the wheel of this commit in two
fresh clones and compares the bytes.

Exit status: 0 it may be uploaded (or both are the same), 1 it may not, and why.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.wheel_readme import relative_links  # noqa: E402

MACHINES = ("x86_64", "aarch64")
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the files are")
    parser.add_argument("--before", action="store_true", help="look at what needs no files")
    parser.add_argument("--twice", action="store_true", help="build the wheel twice and compare")
    given = parser.parse_args(arguments)
    if given.twice:
        return ended([*twice()])
    problems = [*wrong_here()]
    if given.before or problems:
        return ended(problems)
    version = tag().removeprefix("v")
    problems = [*wrong_files(given.dist, version)]
    if not problems:
        print("would be uploaded:")
        for path in files_of(given.dist, version):
            print(f"  {hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    return ended(problems)


def ended(problems: list[str]) -> int:
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    return 1 if problems else 0


# --- what needs no files ------------------------------------------------------------------------
def wrong_here() -> Iterator[str]:
    changed = git("status", "--porcelain").splitlines()
    if changed:
        yield f"files differ from the commit, the first is {changed[0][3:]}: commit them"
    yield from wrong_version(tag(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if not project.get("urls", {}).get("Source"):
        yield "pyproject.toml has no Source in [project.urls]: links of README.md lead nowhere"


def wrong_version(tagged: str, changelog: str) -> Iterator[str]:
    if not tagged:
        yield "this commit has no tag: `git tag -a v1.2.3` gives it one"
        return
    version = tagged.removeprefix("v")
    if not tagged.startswith("v") or not VERSION.fullmatch(version):
        yield f"the tag {tagged} names no release: v1.2.3 or v1.2.3rc1 would"
    elif not re.search(rf"(?m)^## {re.escape(version)}(\s|$)", changelog):
        yield f"CHANGELOG.md has no section '## {version}'"


def tag() -> str:
    """Returns the highest tag of the checked-out commit; empty: it has none."""
    return git("tag", "--points-at", "HEAD", "--sort=-version:refname").partition("\n")[0]


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


# --- the files ----------------------------------------------------------------------------------
def files_of(dist: Path, version: str) -> list[Path]:
    """The sources and the wheels of exactly this version."""
    wheels = dist.glob(f"mpigauge-{version}-*.whl")
    return sorted([*dist.glob(f"mpigauge-{version}.tar.gz"), *wheels])


def wrong_files(dist: Path, version: str) -> Iterator[str]:
    files = files_of(dist, version)
    if not any(path.name.endswith(".tar.gz") for path in files):
        yield f"{dist} has no sources mpigauge-{version}.tar.gz"
    for machine in MACHINES:
        wheels = [path for path in files if path.name.endswith(f"_{machine}.whl")]
        if len(wheels) != 1:
            yield f"{dist} has {len(wheels)} wheels of {version} for {machine}, not one"
    for path in files:
        yield from wrong_metadata(path.name, metadata(path), version)
    if files:
        yield from twine_says(files)


def metadata(path: Path) -> Message:
    """Returns the metadata of a wheel or of a source archive."""
    if path.suffix == ".whl":
        with ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            return message_from_bytes(archive.read(name))
    with tarfile.open(path) as packed:
        file = packed.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert file is not None
        return message_from_bytes(file.read())


def wrong_metadata(name: str, headers: Message, version: str) -> Iterator[str]:
    if headers["Version"] != version:
        yield f"{name} says that it is version {headers['Version']}"
    body = headers.get_payload(decode=True)
    assert isinstance(body, bytes)
    lost = relative_links(body.decode())
    if lost:
        yield f"{name}: {len(lost)} links of its description lead nowhere, the first is {lost[0]}"


def twine_says(files: Sequence[Path]) -> Iterator[str]:
    words = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"twine: {' '.join((done.stdout + done.stderr).split())}"


# --- the same bytes -----------------------------------------------------------------------------
def twice() -> Iterator[str]:
    """Builds in folders with names of different lengths, without anything compiled before."""
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        one, other = (built(Path(folder) / name) for name in ("one", "of-another-length"))
        differ = list(differences(one, other))
        yield from differ
        if not differ:
            print(f"{one.name}: both builds are the same {one.stat().st_size} bytes")


def built(clone: Path) -> Path:
    """The wheel of the commit that is checked out here."""
    git("clone", "--quiet", str(ROOT), str(clone))
    env = os.environ | {"CCACHE_DISABLE": "1", "CMAKE_CXX_COMPILER_LAUNCHER": ""}
    subprocess.run(["make", "wheel"], cwd=clone, env=env, stdin=subprocess.DEVNULL, check=True)
    (wheel,) = (clone / "dist").glob("*.whl")
    return wheel


def differences(one: Path, other: Path) -> Iterator[str]:
    """Yields a line for each file that differs between two wheels, or one if only packing does."""
    if one.read_bytes() == other.read_bytes():
        return
    first, second = checksums(one), checksums(other)
    names = sorted(first.keys() | second.keys())
    unlike = [name for name in names if first.get(name) != second.get(name)]
    for name in unlike:
        yield f"{name} differs between two builds"
    if not unlike:
        yield f"{one.name}: the same files, packed in two ways"


def checksums(wheel: Path) -> dict[str, int]:
    with ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


if __name__ == "__main__":
    sys.exit(main())
