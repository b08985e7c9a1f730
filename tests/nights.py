# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A folder of runs that nobody made: the same test every night, and what else may lie there."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mpigauge.model.between import Between, Scatter, cell_name
from mpigauge.runs.store import RunWriter
from tests import cells, pages, planted

if TYPE_CHECKING:
    from pathlib import Path

NIGHTS, STEP = 16, 8
"""Runs, and the first that is slower: on the night of a new kernel, by a fifth."""
SIZES = [8, 4096]
SD = 0.01
"""By which the machine's runs were seen to differ before."""
BEGIN = datetime(2026, 10, 1, 3)
DAMAGED = "broken"


def folder(root: Path) -> Path:
    """Nights, a run of another MPI, one whose every name is markup, and a damaged one."""
    root.mkdir()
    for number in range(NIGHTS):
        night(root, number)
    measured = planted.curve(planted.line(2e-6), sizes=SIZES)
    other = planted.run(measured, **planted.OPEN_MPI, created="2026-11-01T03:00:00Z")
    planted.store(other, root / "other")
    pages.hostile(root)
    (root / DAMAGED).mkdir()
    (root / DAMAGED / "run.json").write_text("{ this is no", encoding="utf-8")
    return root


def night(root: Path, number: int, mpi: str = "5.0.1") -> Path:
    """PingPong of two sizes in six launches, and a figure."""
    scatter = random.Random(number)
    slower = (1.2 if number >= STEP else 1.0) * (1 + 0.005 * scatter.uniform(-1, 1))
    header = {
        "created": f"{BEGIN + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}",
        "version": "0.9",
        "command": ["mpigauge", "run", "PingPong", "--sizes", "8,4KiB"],
        "plan": {},
        "mpi": {"name": "mpich", "version": mpi},
    }
    path = root / f"night{number:02}"
    with RunWriter.create(header, cells.cards_text(), output=path) as writer:
        kernel = "6.1.0-18" if number >= STEP else "6.1.0-17"
        writer.write_passport({"machine": {"hostname": "n1", "kernel": kernel, "cpu_model": "A"}})
        writer.append(cells.line("launch", **cells.LAUNCH))
        measured = planted.curve(lambda n: planted.line()(n) * slower, sizes=SIZES)
        for each in measured:
            writer.append(cells.line("cell", **json.loads(json.dumps(vars(each)))))
        known = {cell_name(each.key): Scatter(SD, -2 * SD, 2 * SD, runs=9) for each in measured}
        writer.write_between(Between(9, 0.0, known))
        writer.append(
            cells.line(
                "figure", launch=0, benchmark="STREAM", name="Triad", unit="MB/s",
                value=9000.0 / slower, better="higher",
            )
        )  # fmt: skip
        writer.append(cells.end())
        writer.finish("done")
    return path
