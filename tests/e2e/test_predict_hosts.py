# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a calibration lacks, measured on two hosts, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.products.predict.calibration import NETWORK, SOCKET, read_calibration
from mpigauge.runs.store import load
from tests.e2e.cluster import Cluster, cluster, needs_root

pytestmark = [pytest.mark.mpi, pytest.mark.hosts, needs_root]
FILE = "hosts.cal"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("predicted"), 2) as made:
        yield made


def test_two_hosts_are_calibrated_and_their_collectives_predicted(
    hosts: Cluster, tmp_path: Path
) -> None:
    measuring = ["calibrate", "--measure", "--hosts", "node[01-02]", "--ppn", "2", "--time", "30s"]
    words = [*measuring, "--rsh", f"{hosts.agent} -p 50000", "--mpi", "mpich", "--oversubscribe"]
    done = hosts.mpigauge(*words, "-o", FILE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = read_calibration(tmp_path / FILE)
    assert [name for name in (NETWORK, SOCKET) if made.paths[name].assumed] == []
    assert set(made.assumed) <= {"node_copy", "message_gap"}, done.stdout

    (folder,) = (path for path in (tmp_path / "mpigauge-runs").iterdir() if not path.is_symlink())
    cells = load(folder).cells
    card = {cell.ranks for cell in cells if cell.benchmark == "Biband"}
    assert card == {4}
    rest = hosts.mpigauge(*words, "--dry-run", str(folder), "-o", "again.cal", cwd=tmp_path)
    assert "PingPong" not in rest.stdout or "message_gap" in made.assumed, rest.stdout

    predicted = hosts.mpigauge(
        "predict", "Allreduce", "--on", FILE, "--nodes", "2", "--ppn", "2", "--sizes", "8,64Ki",
        cwd=tmp_path,
    )  # fmt: skip
    assert predicted.returncode == 0, predicted.stderr
    assert "recursive_doubling" in predicted.stdout
