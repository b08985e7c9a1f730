# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Packages of Debian, installed on a view of this machine that nobody else sees."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import patience
from tests.e2e.cluster import needs_root

__all__ = ["Installed", "again_with", "installed", "needs_root", "sources", "unpacked"]
LAY = r"""
set -e
work=$1
mount -t tmpfs -o size=2g tmpfs "$work"
for top in usr etc var; do
  mkdir "$work/$top" "$work/.$top"
  mount -t overlay -o "lowerdir=/$top,upperdir=$work/$top,workdir=$work/.$top" overlay "/$top"
done
echo laid
shift
export DEBIAN_FRONTEND=noninteractive
# What is built against an MPI here is no part of a test that has not asked for it.
for package in $(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null |
    sed -n 's/^ii \(lib.*mpi.*-dev\|mpi-default-dev\)$/\1/p'); do
  case " $* " in *" $package "*) ;; *) unwanted="$unwanted $package" ;; esac
done
[ -z "$unwanted" ] || apt-get -qq remove -y $unwanted >&2
install() { apt-get -qq -o Acquire::http::Timeout=60 install -y --no-install-recommends "$@" >&2; }
install "$@" 2>/dev/null || { apt-get -qq update >&2 && install "$@"; }
echo installed
exec cat
"""
"""Lays file systems over the system's own, removes headers of MPIs that may be installed there,
installs, and stays until its input is closed."""


@dataclass(frozen=True)
class Installed:
    keeper: int
    """The process whose view it is."""

    def mpigauge(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self.python("-c", "from mpigauge.cli import main; main()", *words, cwd=cwd)

    def python(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, *words, cwd=cwd)

    def run(
        self, *words: str, cwd: Path, seconds: float = patience.USUAL_S
    ) -> subprocess.CompletedProcess[str]:
        return patience.run(self.words(*words, cwd=cwd), seconds=seconds)

    def words(self, *words: str, cwd: Path) -> list[str]:
        """The command that runs these words there."""
        enter = ["nsenter", "--mount", f"--target={self.keeper}", "env", f"--chdir={cwd}"]
        return [*enter, *words]


@contextmanager
def installed(folder: Path, *packages: str) -> Iterator[Installed]:
    """The machine as if it had these packages. `folder` is where the view is laid."""
    if not shutil.which("apt-get"):
        pytest.skip("knows only Debian's packages, and there is no apt-get")
    errors = (folder / "errors").open("w+")
    view = folder / "view"
    view.mkdir()
    words = ["unshare", "--mount", "sh", "-c", LAY, "sh", str(view), *packages]
    with errors, subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
    ) as keeper:  # fmt: skip
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        said = [keeper.stdout.readline().strip() for _ in range(2)]
        if said != ["laid", "installed"]:
            what = "install packages" if said[0] == "laid" else "lay a file system over /usr"
            errors.seek(0)
            why = f"cannot {what}: {errors.read().strip()[-300:]}"
            pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
        try:
            yield Installed(keeper.pid)
        finally:
            keeper.stdin.close()


def again_with(packages: Sequence[str], program: str, words: Sequence[str]) -> int:
    """Runs a program of Python once more, where these packages are: its exit status."""
    with (
        tempfile.TemporaryDirectory() as folder,
        installed(Path(folder), *packages) as debian,
        subprocess.Popen(debian.words(sys.executable, program, *words, cwd=Path.cwd())) as again,
    ):
        return again.wait()


def unpacked(folder: Path, *packages: str, architecture: str = "") -> Path:
    """A folder with what these packages hold, for this kind of machine or another. Nothing is
    installed, so it needs no root."""
    if not shutil.which("apt-get"):
        pytest.skip("knows only Debian's packages, and there is no apt-get")
    words = ["apt-get", "-qq"]
    if architecture:
        state, cache = folder / "state", folder / "cache"
        (state / "lists/partial").mkdir(parents=True)
        (cache / "archives/partial").mkdir(parents=True)
        options = {
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "Dir::State": state,
            "Dir::State::status": "/dev/null",
            "Dir::Cache": cache,
        }
        words += [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        _apt([*words, "update"], folder)
    downloads, root = folder / "packages", folder / "root"
    downloads.mkdir(parents=True)
    _apt([*words, "download", *packages], downloads)
    for package in sorted(downloads.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    return root


SOURCES = """\
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


def sources(folder: Path, package: str) -> Path:
    """A folder with what the authors of this package have written, without Debian's changes. The
    system's own lists may name no sources, and are not touched."""
    if not shutil.which("apt-get"):
        pytest.skip("knows only Debian's packages, and there is no apt-get")
    apt, unpacked = folder / "apt", folder / package
    for each in (apt / "lists/partial", apt / "cache/archives/partial", unpacked):
        each.mkdir(parents=True, exist_ok=True)
    (apt / "debian.sources").write_text(SOURCES, encoding="utf-8")
    options = {
        "Dir::Etc::SourceList": apt / "debian.sources",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State": apt,
        "Dir::State::status": "/dev/null",
        "Dir::Cache": apt / "cache",
    }
    words = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    _apt([*words, "update"], folder)
    _apt([*words, "source", "--download-only", "--tar-only", package], folder)
    (archive,) = folder.glob(f"{package}_*.orig.tar.*")
    shutil.unpack_archive(archive, unpacked, filter="data")
    (top,) = unpacked.iterdir()
    return top


def _apt(words: list[str], folder: Path) -> None:
    done = patience.run(words, cwd=folder)
    if done.returncode != 0:
        why = f"{' '.join(words[-2:])}: {done.stderr.strip()[-300:]}"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
