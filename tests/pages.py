# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run that holds something for every plot, and whose every name is markup."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from mpigauge.features.explain.registry import explained
from mpigauge.runs.store import RunWriter
from mpigauge.show.web.report import report
from mpigauge.site.topology.passport import plain
from tests import cells, planted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.model.columns import Cell
    from mpigauge.show.kinds import Shown

NAME = "<script>"
EVIL = "<img src=x onerror=alert(1)>"
SIZES = [0, 1, 8, 64, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144]
TICKS = [[1000, 1010, 1020, 1030], [1000, 1040, 1050, 5000]]
"""Of both samples' cells, in each launch: nanoseconds of a round trip."""


def report_of(*shown: Shown) -> str:
    """The page of these runs, as `mpigauge report` writes it where nothing is compared."""
    return report(shown, explained(shown[0].view))


def hostile(folder: Path) -> Path:
    """The run, in a folder of its own below this one."""
    header = {
        "version": "0.1",
        "command": ["mpigauge", "run", EVIL],
        "plan": {"settings": {"UCX_TLS": EVIL}, "benchmarks": ["PingPong"]},
        "mpi": {"name": f"mpich{EVIL}", "version": "5.0.2"},
    }
    path = folder / NAME
    with RunWriter.create(header, cells.cards_text(), output=path) as writer:
        writer.write_passport({"machine": {**planted.LAPTOP, "hostname": EVIL}})
        for line in lines():
            writer.append(line)
        writer.finish("done")
    return path


def lines() -> Iterator[str]:
    for launch in range(planted.LAUNCHES):
        yield cells.line("launch", **cells.LAUNCH | {"launch": launch, "world_ranks": 4})
    for rank in planted.ranks(["0", "1", "2", "3"], host=EVIL):
        yield cells.line("rank", **plain(asdict(rank)))
    yield cells.line("noise", **plain(asdict(planted.noise(0.3))))
    yield cells.line("error", launch=0, rank=3, message=EVIL)
    for cell in measured():
        yield cells.line("cell", **plain(asdict(cell)))
    for threads in (1, 2, 4):
        yield cells.line(
            "figure", launch=0, benchmark="STREAM", name=f"Triad{EVIL}", unit="MB/s",
            value=9000.0 * threads, better="higher", arm=f"threads={threads}",
        )  # fmt: skip
    for launch in range(planted.LAUNCHES):
        yield from map(partial(sampled, launch), (8, 64))
        yield cells.end(launch)


def measured() -> Iterator[Cell]:
    """PingPong with a jump above 4 KiB under two settings; a collective on 2 and 4 ranks; pairs."""

    def slow(n: int) -> float:
        return planted.line()(n) * (4 if n > 4096 else 1)

    yield from planted.curve(slow, sizes=SIZES, messages=1.0)
    yield from planted.curve(planted.line(2e-6), sizes=SIZES, arm=f"A={EVIL}")
    yield from planted.curve(slow, "Uniband", sizes=[0, 64, 4096], inflight=256, messages=256.0)
    for ranks in (2, 4):
        time = planted.line(ranks * 1e-6)
        yield from planted.curve(time, "Allreduce", SIZES, ranks=ranks, datatype="float", op="sum")
    for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        yield from planted.curve(
            planted.line((1 + a + b) * 1e-7), sizes=[8], launches=1, members=f"{a},{b}", groups=2,
            group=0,
        )  # fmt: skip


def sampled(launch: int, size: int) -> str:
    """A cell of PingPing with its samples."""
    fields: dict[str, Any] = cells.fields("PingPing", launch=launch, message_bytes=size)
    return cells.line("cell", **fields, raw=cells.raw(TICKS))
