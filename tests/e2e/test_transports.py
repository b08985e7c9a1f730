# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Transports on real MPIs: each is asked what it has, and messages go where they were told to."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from mpigauge.campaign.trial import trial
from mpigauge.model.mpi import Mpi
from mpigauge.mpi import find
from mpigauge.mpi.transports import choose, offers, transports
from mpigauge.store import load
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
SIZE = 1 << 20


def loopback_bytes() -> int:
    """Received so far; TCP between two processes of a host goes there, whatever its address."""
    match = re.search(r"^\s*lo:\s*(\d+)", Path("/proc/net/dev").read_text(), re.MULTILINE)
    assert match is not None
    return int(match[1])


def moved_by_a_run(transport: str, cwd: Path) -> tuple[int, int]:
    """Bytes through the loopback, and bytes of messages, of a short PingPong."""
    words = ("PingPong", "--sizes", "1Mi", "--launches", "1", "--in", "3s", "--output", transport)
    before = loopback_bytes()
    done = cli.mpigauge("run", *words, "--mpi", "openmpi", "--transport", transport, cwd=cwd)
    assert done.returncode == 0, done.stderr
    through = loopback_bytes() - before
    stored = load(cwd / transport)
    assert stored.header["transport"] == transport
    assert stored.plan["settings"]["OMPI_MCA_pml"] == "ob1"
    (cell,) = stored.cells
    return through, 2 * SIZE * cell.calls * cell.samples


def test_messages_go_over_tcp_or_shared_memory(tmp_path: Path) -> None:
    through, messages = moved_by_a_run("tcp", tmp_path)
    assert through > messages
    through, messages = moved_by_a_run("shm", tmp_path)
    assert through < messages


def test_each_mpi_is_told_of_tcp_and_shared_memory(mpi: Mpi) -> None:
    found = offers(mpi)
    before = loopback_bytes()
    for name in ("shm", "tcp"):
        tried = trial(mpi, settings=choose(name, mpi, found).settings)
        assert tried.reason == "", name
    # Each rank of a trial sends 1 MiB.
    assert loopback_bytes() - before > 2 * SIZE


def test_what_the_libraries_of_each_mpi_find(mpi: Mpi) -> None:
    found = offers(mpi)
    assert "lo" in found.interfaces
    assert {"tcp"} <= set(found.provider_names)
    if mpi.name != "intel":  # which brings no UCX
        assert {"tcp", "posix"} <= {lane.transport for lane in found.ucx}
    assert {"shm", "tcp"} <= {transport.name for transport in transports(mpi, found)}


def test_the_command(tmp_path: Path) -> None:
    done = cli.mpigauge("transports", "--mpi", "mpich", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["mpi"] == find("mpich").spec
    assert said["transports"][0]["name"] == "shm"
    assert said["offers"]["netmods"] == ["ucx", "ofi"]


def test_a_transport_that_is_not_there(tmp_path: Path) -> None:
    words = ("PingPong", "--mpi", "openmpi", "--transport", "ucx:mlx5_9:1", "--output", "out")
    done = cli.mpigauge("run", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "has no 'ucx:mlx5_9:1' here" in done.stderr
    assert "there are: shm, tcp" in done.stderr
    assert not (tmp_path / "out").exists()
