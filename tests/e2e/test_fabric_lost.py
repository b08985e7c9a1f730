# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge fabric` that loses a host or is interrupted: what was measured is kept, and shown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import load
from tests import patience
from tests.e2e import commands as cli
from tests.e2e.cluster import Cluster, cluster, needs_root

pytestmark = [pytest.mark.mpi, pytest.mark.hosts, pytest.mark.alone, needs_root]

ALL = "node[01-04]"
LOST = "node03"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("lost"), 4) as made:
        yield made


@pytest.fixture
def ready(mpi: Mpi, built: Kernels) -> Mpi:
    assert built.executable.exists()
    return mpi


def started(hosts: Cluster, mpi: Mpi, cwd: Path) -> subprocess.Popen[str]:
    """A run whose second launch has begun: hot spots, after the pairs."""
    agent = ("--rsh", f"{hosts.agent} -p 50000")
    idle = ("--set", "mpi_yield_when_idle=1") if mpi.launcher == "openmpi" else ()
    words = ("fabric", "--hosts", ALL, *agent, "--mpi", mpi.spec, *idle, "--sizes", "64Ki")
    process = subprocess.Popen(
        hosts.words("node01", *words, "--in", "40s", "--timeout", "15s", "--output", "out"),
        cwd=cwd,
        env={**os.environ, **hosts.env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    folder = cwd / "out"
    patience.wait_for(lambda: (folder / "logs" / "launch-001.command").exists() or is_over(process))
    patience.wait_for(
        lambda: is_over(process) or [rank for rank in load(folder).ranks if rank.launch == 1]
    )
    assert not is_over(process), process.communicate()
    return process


def is_over(process: subprocess.Popen[str]) -> bool:
    return process.poll() is not None


def check_kept(hosts: Cluster, cwd: Path) -> None:
    """The pairs are stored and shown again."""
    assert 0 in load(cwd / "out").complete
    done = hosts.mpigauge("show", "out", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "random" in done.stdout.lower()


def test_a_host_that_is_lost_is_named(ready: Mpi, hosts: Cluster, tmp_path: Path) -> None:
    process = started(hosts, ready, tmp_path)
    cut = hosts.script("exec", LOST, "--", "ip", "link", "set", "eth0", "down")
    holder = hosts.state / f"{LOST}.pid"
    gone = holder.rename(holder.with_suffix(".gone"))  # the agent no longer reaches it
    try:
        out, errors = patience.communicate(process)
    finally:
        gone.rename(holder)
        hosts.script("exec", LOST, "--", "ip", "link", "set", "eth0", "up")
    assert (cut.returncode, process.returncode) == (0, 1), errors
    assert f"lost: host {LOST} does not answer" in errors
    assert "launch 1 failed: " in errors
    assert "random" in out.lower()
    check_kept(hosts, tmp_path)


def test_a_rank_that_is_killed_leaves_what_was_measured(
    ready: Mpi, hosts: Cluster, tmp_path: Path
) -> None:
    process = started(hosts, ready, tmp_path)
    for rank in load(tmp_path / "out").ranks:
        if (rank.launch, rank.host) == (1, LOST) and not cli.is_gone(rank.pid):
            os.kill(rank.pid, signal.SIGKILL)
    out, errors = patience.communicate(process)
    assert process.returncode == 1, errors
    assert "launch 1 failed: " in errors
    assert "lost: " not in errors  # all hosts still answer
    assert "random" in out.lower()
    check_kept(hosts, tmp_path)


def test_an_interrupted_run_keeps_what_was_measured(
    ready: Mpi, hosts: Cluster, tmp_path: Path
) -> None:
    process = started(hosts, ready, tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = patience.communicate(process)
    assert process.returncode == 1, errors
    assert "interrupted" in cli.last_line(errors)
    assert "Traceback" not in errors
    assert json.loads((tmp_path / "out" / "status.json").read_text())["status"] == "interrupted"
    check_kept(hosts, tmp_path)
    assert all(cli.is_gone(rank.pid) for rank in load(tmp_path / "out").ranks)
