# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Transports on real MPIs: each is asked what it has, and messages go where they were told to."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from mpigauge.measuring.trials.trial import trial
from mpigauge.model.mpi import Mpi
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from mpigauge.site.mpi.transports.choose import choose, transports
from mpigauge.site.mpi.transports.probe import offers
from tests.e2e import commands as cli
from tests.e2e.cluster import cluster, needs_root

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


def moved_by_a_run(transport: str, wire: str, cwd: Path) -> tuple[int, int]:
    """Bytes through the loopback, and bytes of messages, of a short PingPong."""
    words = ("PingPong", "--sizes", "1Mi", "--launches", "1", "--time", "3s", "--output", transport)
    before = loopback_bytes()
    done = cli.mpigauge("run", *words, "--mpi", "openmpi", "--transport", transport, cwd=cwd)
    assert done.returncode == 0, done.stderr
    through = loopback_bytes() - before
    stored = load(cwd / transport)
    selected = stored.header["transport"]
    assert (selected["name"], selected["used"]) == (transport, f"{wire} within a host")
    assert stored.used == selected["used"]
    assert stored.plan["settings"]["OMPI_MCA_pml"] == "ob1"
    assert f"takes PML ob1, BTL {wire} (it reports: {wire} within a host)" in done.stderr
    (cell,) = stored.cells
    return through, 2 * SIZE * cell.calls * cell.samples


def test_messages_go_over_tcp_or_shared_memory(tmp_path: Path) -> None:
    """The loopback is that of all programs, so another one may use it, but not each time."""
    through, messages = moved_by_a_run("tcp", "tcp", tmp_path)
    assert through > messages
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        through, messages = moved_by_a_run("shm", "sm", tmp_path / str(number))
        if through < messages:
            break
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


def test_a_transport_that_does_not_work(tmp_path: Path) -> None:
    """What is there need not reach the other rank; then nothing is measured."""
    words = ("PingPong", "--mpi", "openmpi", "--transport", "tcp:lo", "--output", "out")
    closed = ("--set", "btl_tcp_port_min_v4=1", "--set", "btl_tcp_port_range_v4=0")
    done = cli.mpigauge("run", *words, *closed, cwd=tmp_path)
    assert done.returncode == 2
    assert "--transport tcp:lo does not work here: " in done.stderr
    assert not (tmp_path / "out").exists()


@needs_root
@pytest.mark.hosts
def test_between_hosts(tmp_path: Path) -> None:
    """The trial runs on them, so what it tells is about the wire between them."""
    with cluster(tmp_path, 2, "--pin") as hosts:
        where = ("--hosts", "node[01-02]", "--rsh", str(hosts.agent), "--mpi", "openmpi")
        words = ("PingPong", "--sizes", "8", "--launches", "1", *where)
        into = ("--output", "out")
        done = hosts.mpigauge("run", *words, "--transport", "tcp:eth0", *into, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert load(tmp_path / "out").header["transport"]["used"] == "tcp between hosts"
        done = hosts.mpigauge("run", *words, "--transport", "shm", cwd=tmp_path)
        assert done.returncode == 2
        assert "shared memory reaches the ranks of one host only" in done.stderr
