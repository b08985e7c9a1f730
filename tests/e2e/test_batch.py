# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Jobs of PBS and LSF: stand-ins for their programs start the script here; all else is real."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import load
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi

STARTED = """
cat > "$FAKE/script"
log=$(sed -n 's/^#[A-Z]* -o //p' "$FAKE/script")
exec 3>&1 </dev/null >"$log" 2>&1
(exec 3>&-; env {environment} sh "$FAKE/script"; echo $? >"$FAKE/status") &
echo '{answer}' >&3
"""
PBS = {
    "qsub": STARTED.format(
        environment='PBS_JOBID=41.head PBS_NODEFILE="$FAKE/nodes"', answer="41.head"
    ),
    "qstat": "if [ -e $FAKE/status ]; then echo 'job_state = F'; "
    'echo "Exit_status = $(cat $FAKE/status)"; else echo "job_state = R"; fi',
}
LSF = {
    "bsub": STARTED.format(
        environment=f'LSB_JOBID=41 LSB_MCPU_HOSTS="{socket.gethostname()} 2"',
        answer="Job <41> is submitted to queue <normal>.",
    ),
    "bjobs": "if [ -e $FAKE/status ]; then echo 'DONE|-|-'; else echo 'RUN|-|-'; fi",
}


@pytest.mark.parametrize(("system", "programs"), [("pbs", PBS), ("lsf", LSF)], ids=["pbs", "lsf"])
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_job(
    mpi: Mpi,
    built: Kernels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    programs: dict[str, str],
) -> None:
    """The job says which hosts it has and how many ranks; the result is shown and stored."""
    assert built.executable.exists()
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "nodes").write_text(f"{socket.gethostname()}\n" * 2)
    for name, text in programs.items():
        (fake / name).write_text(f"#!/bin/sh\n{text}\n")
        (fake / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE", str(fake))
    words = ("Barrier", "--launches", "1", *cli.ROUGH, "--mpi", mpi.spec, "--output", "out")
    job = ("--system", system, "--ppn", "2", "--time", "5m")
    done = cli.mpigauge("submit", *job, "run", *words, cwd=tmp_path)
    log = tmp_path / "out.log"
    assert done.returncode == 0, done.stderr + (log.read_text() if log.exists() else "")
    assert "job 41" in done.stderr
    assert "Barrier · 2 ranks" in done.stdout
    stored = load(tmp_path / "out")
    assert [block["host"] for block in stored.plan["parts"][0]["blocks"]] == [socket.gethostname()]
    assert len(stored.ranks) == 2
