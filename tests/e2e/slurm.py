# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A real Slurm on hosts that are network namespaces, from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import patience
from tests.e2e.cluster import cpusets, needs_root, run_script

__all__ = ["Slurm", "needs_root", "slurm"]
SCRIPT = Path(__file__).resolve().parents[1] / "fixtures" / "slurm-cluster.sh"
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
PACKAGES = ("slurm-wlm", "munge", "libpmix-dev", "iproute2")
"""libpmix-dev: srun opens the library by the name that only this package has."""
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin"
INSTALL_S = 300.0


@dataclass(frozen=True)
class Slurm:
    state: Path

    @property
    def env(self) -> dict[str, str]:
        return {
            "SLURM_CLUSTER_DIR": str(self.state / "slurm"),
            "NETNS_CLUSTER_DIR": str(self.state / "hosts"),
            "NETNS_CLUSTER_CPUSETS": cpusets(self.state.name),
        }

    def script(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return run_script(SCRIPT, words, self.env, cwd)

    def words(self, *words: str) -> list[str]:
        """What runs mpigauge on the login host."""
        call = [sys.executable, "-c", "from mpigauge.cli import main; main()"]
        return [str(SCRIPT), "shell", *call, *words]

    def mpigauge(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self.script(*self.words(*words)[1:], cwd=cwd)

    def job(self) -> str:
        """The number of the only job there is."""
        return self.script("squeue", "-h", "-o", "%i").stdout.strip()


@contextmanager
def slurm(name: str, *options: str) -> Iterator[Slurm]:
    """Brings nodes node01, node02, … and a login host up, and down whatever happens."""
    _install()
    state = Path("/run") / f"mpigauge-slurm-{os.getpid()}-{name}"
    state.mkdir()
    made = Slurm(state)
    done = made.script("start", *options)
    try:
        assert done.returncode == 0, done.stderr
        yield made
    finally:
        made.script("stop")
        shutil.rmtree(state, ignore_errors=True)


def _install() -> None:
    if not _missing():
        return
    if not shutil.which("apt-get"):
        pytest.skip(f"needs {' and '.join(_missing())}, and knows only Debian's packages of them")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (("update",), ("install", "-y", "--no-install-recommends", *PACKAGES)):
        done = patience.run(["apt-get", "-qq", *words], env=env, seconds=INSTALL_S)
    if missing := _missing():
        why = f"apt-get could not install {' and '.join(missing)}: {done.stderr.strip()[-300:]}"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)


def _missing() -> list[str]:
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PLACES)]
    pmix = list(Path("/usr/lib").glob("*/pmix2/lib/libpmix.so"))
    return missing + ([] if pmix else ["libpmix.so"])
