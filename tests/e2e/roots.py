# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Clean roots: a Debian that has python3-venv and what is asked for, and nothing else.

The bare ones are made by mmdebstrap from the mirror that this machine's apt knows, and kept in the
cache folder. What is done to a root is seen by nobody else, and gone with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mpigauge.site.builds import folders
from tests import patience
from tests.e2e.debian import Installed, installed

VISITOR = "visitor"
"""A user without any right."""
MINUTES_S = 1800.0
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LAY = """
set -e
base=$1 work=$2
mount -t tmpfs -o size=4g tmpfs "$work"
mkdir "$work/changed" "$work/.work" "$work/root"
mount -t overlay -o "lowerdir=$base,upperdir=$work/changed,workdir=$work/.work" overlay "$work/root"
mount --rbind /dev "$work/root/dev"
mount --rbind /sys "$work/root/sys"
mount -t proc proc "$work/root/proc"
echo laid
exec cat
"""
"""Lays a file system over the kept root, and stays until its input is closed."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
OF_THE_NETWORK = (CERTIFICATES, *map(Path, ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf")))
"""Files without which the package index may not be reached from here."""
_FOR_INDEXES = re.compile(
    r"PIP_(CERT|(EXTRA_)?INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)"
    r"|UV_(INDEX|DEFAULT_INDEX|INDEX_URL|EXTRA_INDEX_URL)|(?i:(http|https|all|no)_proxy)"
)
READ_ONLY = ("unshare", "--mount", "sh", "-c", 'mount -o remount,bind,ro "$0" && exec "$@"')
WITHOUT_NETWORK = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


@dataclass(frozen=True)
class Root:
    keeper: int
    """The process whose view it is."""
    place: Path
    """Where it is in that view."""

    def inside(self, path: str) -> Path:
        """A file of the root, for who is outside."""
        return Path(f"/proc/{self.keeper}/root{self.place}{path}")

    def put(self, file: Path) -> str:
        """Copies a file in; where it is then."""
        shutil.copy(file, self.inside(f"/srv/{file.name}"))
        return f"/srv/{file.name}"

    def add_user(self, name: str) -> None:
        """By hand, as not every root has a program for it."""
        with self.inside("/etc/passwd").open("r+") as file:
            number = 1000 + len(file.readlines())
            file.write(f"{name}:x:{number}:{number}::/home/{name}:/bin/sh\n")
        home = self.inside(f"/home/{name}")
        home.mkdir()
        os.chown(home, number, number)

    def _numbers(self, user: str) -> str:
        lines = self.inside("/etc/passwd").read_text().splitlines()
        (found,) = (line.split(":") for line in lines if line.startswith(f"{user}:"))
        return f"{found[2]}:{found[3]}"

    def words(
        self,
        *words: str,
        user: str = VISITOR,
        cwd: str = "",
        network: bool = True,
        read_only: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> list[str]:
        """What runs a program there, in the user's home where no other folder is named.
        `read_only`: nothing of the root can be written, by nobody."""
        home = "/root" if user == "root" else f"/home/{user}"
        wanted = {"PATH": PATH, "HOME": home, **_network(), **(env or {})}
        sets = [f"{name}={value}" for name, value in wanted.items()]
        alone = () if network else WITHOUT_NETWORK
        fixed = (*READ_ONLY, str(self.place)) if read_only else ()
        enter = ["nsenter", "--mount", f"--target={self.keeper}", *alone, *fixed]
        enter += ["chroot", f"--userspec={self._numbers(user)}", str(self.place)]
        return [*enter, "env", "--ignore-environment", f"--chdir={cwd or home}", *sets, *words]

    def run(
        self,
        *words: str,
        user: str = VISITOR,
        cwd: str = "",
        network: bool = True,
        read_only: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        entered = self.words(
            *words, user=user, cwd=cwd, network=network, read_only=read_only, env=env
        )
        return patience.run(entered, seconds=MINUTES_S)

    def good(self, *words: str, user: str = VISITOR) -> str:
        """What a program prints that has to end well."""
        done = self.run(*words, user=user)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def install(self, *packages: str) -> None:
        """Packages of Debian, and nothing that they only recommend."""
        quietly = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        self.good(*quietly, "update", user="root")
        words = ["install", "--yes", "--no-install-recommends", *packages]
        self.good(*quietly, *words, user="root")


@contextmanager
def root(folder: Path, suite: str, *packages: str) -> Iterator[Root]:
    """A root of its own; `folder` is where it is laid."""
    kept = bare(suite, folder)
    place = folder / "root"
    place.mkdir()
    words = ["unshare", "--mount", "sh", "-c", LAY, "sh", str(kept), str(place)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as keeper:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        assert keeper.stderr is not None
        if keeper.stdout.readline() != "laid\n":
            _give_up(f"cannot lay a file system over {kept}: {keeper.stderr.read().strip()[-300:]}")
        made = Root(keeper.pid, place / "root")
        try:
            for file in filter(Path.is_file, OF_THE_NETWORK):
                made.inside(str(file.parent)).mkdir(parents=True, exist_ok=True)
                shutil.copy(file, made.inside(str(file)))
            made.add_user(VISITOR)
            if packages:
                made.install(*packages)
            yield made
        finally:
            keeper.stdin.close()


def bare(suite: str, folder: Path) -> Path:
    """A release of Debian with apt and python3-venv; it is made where none is kept."""
    kept = folders.cache() / "debian-roots" / suite
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    tools = folder / "mmdebstrap"
    tools.mkdir()
    with installed(tools, "mmdebstrap") as machine, folders.workplace(kept) as work:
        words = ["mmdebstrap", "--quiet", "--variant=apt", "--include=python3-venv"]
        words += [suite, str(work / "root"), _mirror(machine)]
        done = machine.run(*words, cwd=folder, seconds=MINUTES_S)
        if done.returncode != 0:
            _give_up(f"cannot make a root of {suite}: {done.stderr.strip()[-300:]}")
        (work / "root").rename(kept)
    return kept


def _mirror(machine: Installed) -> str:
    """Where this machine gets its own packages of Debian from."""
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"]
    done = machine.run(*words, "Label: Debian", "Created-By: Packages", cwd=Path("/"))
    if not done.stdout:
        _give_up("apt's sources here name no mirror of Debian")
    return done.stdout.splitlines()[0]


def _network() -> dict[str, str]:
    """What reaches the package index from here."""
    found = {name: value for name, value in os.environ.items() if _FOR_INDEXES.fullmatch(name)}
    if CERTIFICATES.is_file():
        found["SSL_CERT_FILE"] = str(CERTIFICATES)
    return found


def _give_up(why: str) -> None:
    pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
