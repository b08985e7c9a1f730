# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts on one machine: network namespaces with addresses, names and shared memory of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import patience

SCRIPT = Path(__file__).resolve().parents[1] / "fixtures" / "netns-cluster.sh"
TOOLS = ("ip", "nsenter", "unshare", "taskset")


def why_not() -> str:
    """Why there can be no hosts here; empty: there can."""
    if os.geteuid() != 0:
        return "needs root, to make hosts out of network namespaces"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    return f"needs {' and '.join(missing)}, to make hosts out of network namespaces" * bool(missing)


needs_root = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is root")


def run_script(
    script: Path, words: Sequence[str], env: Mapping[str, str], cwd: Path | None
) -> subprocess.CompletedProcess[str]:
    return patience.run([str(script), *words], cwd=cwd, env={**os.environ, **env})


def cpusets(name: str) -> str:
    """A folder of this name for cpusets, of cgroup v1 or v2."""
    old = Path("/sys/fs/cgroup/cpuset")
    return f"{old if old.is_dir() else old.parent}/{name}"


@dataclass(frozen=True)
class Cluster:
    state: Path
    agent: Path
    """A program that takes ssh's words."""

    @property
    def env(self) -> dict[str, str]:
        return {
            "NETNS_CLUSTER_DIR": str(self.state),
            "NETNS_CLUSTER_CPUSETS": cpusets(self.state.name),
        }

    def script(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return run_script(SCRIPT, words, self.env, cwd)

    def words(self, host: str, *words: str) -> list[str]:
        """What runs mpigauge on a host."""
        call = [sys.executable, "-c", "from mpigauge.cli import main; main()"]
        return [str(SCRIPT), "exec", host, "--", *call, *words]

    def mpigauge(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Started on the first host."""
        call = self.words("node01", *words)[1:]
        return self.script(*call, cwd=cwd)

    def sent_bytes(self, host: str) -> int:
        done = self.script("exec", host, "--", "cat", "/sys/class/net/eth0/statistics/tx_bytes")
        return int(done.stdout)


@contextmanager
def cluster(folder: Path, hosts: int, *options: str) -> Iterator[Cluster]:
    """Brings hosts node01, node02, … up, and down whatever happens."""
    state = Path("/run") / f"mpigauge-test-{os.getpid()}-{folder.name}"
    agent = folder / "agent"
    made = Cluster(state, agent)
    agent.write_text(f"#!/bin/sh\n{_exports(made.env)}exec '{SCRIPT}' rsh \"$@\"\n")
    agent.chmod(0o755)
    done = made.script("up", "-n", str(hosts), *options)
    try:
        assert done.returncode == 0, done.stderr
        yield made
    finally:
        made.script("down")


def _exports(env: Mapping[str, str]) -> str:
    return "".join(f"export {name}='{value}'\n" for name, value in env.items())
