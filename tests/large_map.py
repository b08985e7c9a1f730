# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A stored map of very many ranks that nobody measured, as `mpigauge map` would store it."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

from mpigauge.runs.store import RunWriter
from mpigauge.site.topology.passport import plain
from tests import cells, planted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SIZES = (8, 1 << 20)
CORES = 128
"""Of each host, which is like the Rome of tests/machines."""
_TIME, _LOW, _HIGH = 0.123456789, 0.123456788, 0.12345679
"""Stand for the times of a pair in the line from which all others are made."""


def store(
    folder: Path,
    ranks: int = 256,
    sizes: Sequence[int] = SIZES,
    slow: Mapping[tuple[int, int], float] | None = None,
) -> Path:
    """The run in this folder; the slow pairs take so many times as long as the others."""
    hosts = [f"n{number}" for number in range(-(-ranks // CORES))]
    part = {"benchmarks": ["PingPong"], "world_ranks": ranks, "pairs": "all", "sizes": list(sizes)}
    header = {
        "command": ["mpigauge", "map", "--np", str(ranks)],
        "mpi": {"name": "mpich", "version": "5.0.2"},
        "plan": {"parts": [part], "benchmarks": ["PingPong"], "precision": 0.05},
    }
    machines = [{"name": host, "machine": planted.ROME | {"hostname": host}} for host in hosts]
    launch = cells.LAUNCH | {"world_ranks": ranks}
    with RunWriter.create(header, cells.cards_text(), output=folder) as writer:
        writer.write_passport({"machine": machines[0]["machine"], "hosts": machines[1:]})
        writer.append(cells.line("launch", **launch))
        for number, host in enumerate(hosts):
            first = number * CORES
            seats = [str(pu) for pu in range(min(CORES, ranks - first))]
            for rank in planted.ranks(seats, host):
                placed = plain(asdict(rank)) | {"rank": first + rank.rank}
                writer.append(cells.line("rank", **placed))
        writer.append(cells.end())
        writer.finish("done")
    with (folder / "records.jsonl").open("a", encoding="utf-8") as file:
        for line in _cells(ranks, sizes, slow or {}):
            file.write(f"{line}\n")
    return folder


def _cells(
    ranks: int, sizes: Sequence[int], slow: Mapping[tuple[int, int], float]
) -> Iterator[str]:
    """A line for each pair and size; what differs is put into a line that was written once."""
    chunks = [{"round": at, "taint": 0, "n": 20} for at in range(1, 7)]
    raw = {
        "hz": 1e9,
        "scheme": "max,min,avg",
        "file": "samples/000.bin",
        "samples": 120,
        "chunks": chunks,
        "offset": 123456789,
    }
    times: dict[str, Any] = {"time_p50_s": _TIME, "ci_low_s": _LOW, "ci_high_s": _HIGH}
    for size in sizes:
        usual = 1e-6 + size * 1e-10
        fields = cells.fields(
            members="A,B",
            groups=ranks // 2,
            message_bytes=size,
            moved_bytes=float(size),
            raw=raw,
            **times,
        )
        template = json.dumps({"record": "cell", **fields}, separators=(",", ":"))
        for number, (first, second) in enumerate(combinations(range(ranks), 2)):
            between = 3.0 if first // CORES != second // CORES else 1.0
            time = 2 * usual * between * (1 + 0.001 * ((first * 7 + second) % 5))
            time *= slow.get((first, second), 1.0)
            line = template.replace("A,B", f"{first},{second}").replace("123456789}", f"{number}}}")
            line = line.replace(f"{_TIME!r}", f"{time:.9g}")
            line = line.replace(f"{_LOW!r}", f"{0.99 * time:.9g}")
            yield line.replace(f"{_HIGH!r}", f"{1.01 * time:.9g}")
