# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Run folders that nobody measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.runs.store import RunWriter
from tests import cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HEADER = {
    "created": "2026-11-21T05:00:00Z",
    "version": "0.1",
    "command": ["mpigauge", "run", "PingPong"],
    "plan": {"benchmarks": ["PingPong"]},
    "mpi": {"name": "mpich", "version": "5.0.2"},
}


def launch(number: int = 0, time: str = "2026-11-21T05:00:01Z", **changed: Any) -> str:
    return cells.line("launch", **cells.LAUNCH | {"launch": number, "time": time} | changed)


def rank(number: int = 0, host: str = "a", **changed: Any) -> str:
    return cells.line(
        "rank",
        **{
            "launch": 0, "rank": number, "host": host, "pid": 100 + number, "local_rank": number,
            "wanted_cpuset": str(number), "cpuset": str(number), "cpu": number, "numa": 0,
        }
        | changed,
    )  # fmt: skip


def cell(number: int = 0, **changed: Any) -> str:
    return cells.line("cell", **cells.fields(**{"launch": number, "message_bytes": 8} | changed))


def figure(**changed: Any) -> str:
    given = {"launch": 0, "benchmark": "HPL", "name": "HPL", "value": 41.5, "unit": "GFLOP/s"}
    return cells.line("figure", **given | {"better": "higher"} | changed)


def write(
    folder: Path,
    lines: Sequence[str] = (),
    status: str | None = "done",
    host: str = "a",
    header: Mapping[str, Any] | None = None,
) -> Path:
    """A run with these records; without lines with one launch that measured one cell."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with RunWriter.create(HEADER | dict(header or {}), cells.cards_text(), output=folder) as writer:
        writer.write_passport({"machine": {"hostname": host, "cpu_model": "A CPU"}})
        for line in lines or (launch(), rank(0, host), rank(1, host), cell(), cells.end()):
            assert writer.append(line), line
        if status:
            writer.finish(status)
    return folder
