# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs of very many ranks that nobody measured: what grows with their number, counted."""

from __future__ import annotations

import base64
import json
import struct
from itertools import product
from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.pair_block import pairs_of_round
from mpigauge.runs.store import RunWriter
from tests import cells, planted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CORES = 128
"""Ranks on each host."""
SIZES = (8, 1 << 20)


def store_map(
    folder: Path, ranks: int, rounds: Sequence[int], slow_host: int | None = None
) -> Path:
    """A map of these rounds of all pairs, as kernels write it. Pairs with a rank on the slow host
    take three times as long."""
    part = {"benchmarks": ["PingPong"], "world_ranks": ranks, "pairs": "all", "sizes": [*SIZES]}
    header = {
        "command": ["mpigauge", "map", "--np", str(ranks)],
        "mpi": {"name": "mpich", "version": "5.0.2"},
        "plan": {"parts": [part], "benchmarks": ["PingPong"], "precision": 0.05},
    }
    written = 0
    with RunWriter.create(header, cells.cards_text(), output=folder) as writer:
        writer.append(cells.line("launch", **cells.LAUNCH | {"world_ranks": ranks}))
        for line in rank_lines(ranks):
            writer.append(line)
        for number in rounds:
            for size in SIZES:
                writer.append(block_line(ranks, number, size, slow_host))
                written += 1
        end = json.loads(cells.end()) | {"records": 1 + ranks + written}
        writer.append(json.dumps(end, separators=(",", ":")))
        writer.finish("done")
    return folder


def store_run(folder: Path, ranks: int) -> Path:
    """A run of a collective on powers of two of ranks, as kernels write it: for each rank its place
    and the noise on its core before and after."""
    part = {"benchmarks": ["Allreduce"], "world_ranks": ranks, "sizes": [*SIZES]}
    header = {
        "command": ["mpigauge", "run", "Allreduce", "--np", str(ranks)],
        "mpi": {"name": "mpich", "version": "5.0.2"},
        "plan": {"parts": [part], "benchmarks": ["Allreduce"], "precision": 0.05},
    }
    lines = [cells.line("launch", **cells.LAUNCH | {"world_ranks": ranks}), *rank_lines(ranks)]
    lines += noise_lines(ranks, "before")
    numbers = [2**power for power in range(1, ranks.bit_length()) if 2**power < ranks] + [ranks]
    for number, size in product(numbers, SIZES):
        time_s = 1e-6 * number.bit_length() + size * 1e-10
        values = cells.fields(
            benchmark="Allreduce", datatype="float", op="sum", ranks=number, groups=1,
            message_bytes=size, moved_bytes=float(size), time_p50_s=time_s,
            ci_low_s=0.99 * time_s, ci_high_s=1.01 * time_s,
        )  # fmt: skip
        lines.append(cells.line("cell", **values))
    lines += noise_lines(ranks, "after")
    with RunWriter.create(header, cells.cards_text(), output=folder) as writer:
        for line in lines:
            writer.append(line)
        end = json.loads(cells.end()) | {"records": len(lines)}
        writer.append(json.dumps(end, separators=(",", ":")))
        writer.finish("done")
    return folder


def noise_lines(ranks: int, when: str) -> Iterator[str]:
    """What each rank lost of its core: rank 7 a hundred times as much as the others."""
    for rank in range(ranks):
        lost = 0.1 if rank == 7 else 0.001
        detours = [round(lost * 1e8 / 40)] * 40
        yield cells.line(
            "noise", launch=0, rank=rank, when=when, cpu=rank % CORES, seconds=0.1, detours=40,
            lost_ratio=lost, longest_s=detours[0] * 1e-9, stolen_s=0.0, waited_s=0.0,
            switched_out=0, start_ns=[*range(0, 80_000_000, 2_000_000)], length_ns=detours,
        )  # fmt: skip


def rank_lines(ranks: int) -> Iterator[str]:
    (seat,) = planted.ranks(["0"], "n0")
    usual = {name: value for name, value in vars(seat).items() if name != "gpu"}
    for rank in range(ranks):
        pus = str(rank % CORES)
        own = {"rank": rank, "host": f"n{rank // CORES}", "cpuset": pus, "wanted_cpuset": pus}
        yield cells.line("rank", **usual | own)


def block_line(ranks: int, number: int, size: int, slow_host: int | None = None) -> str:
    """The record of a round at one size: of a large job the times are packed."""
    fields = cells.fields(groups=ranks // 2, message_bytes=size, moved_bytes=float(size))
    times = []
    for first, second in pairs_of_round(number, ranks):
        hosts = {first // CORES, second // CORES}
        far = 3.0 if len(hosts) > 1 else 1.0
        slow = 3.0 if slow_host in hosts else 1.0
        spread = 1 + 0.001 * ((first * 7 + second) % 5)
        times.append((1e-6 + size * 1e-10) * far * slow * spread)
    columns: dict[str, Any] = {"time_p50_s": times}
    columns["ci_low_s"] = [0.99 * time for time in times]
    columns["ci_high_s"] = [1.01 * time for time in times]
    kept = ("calls", "samples", "chunks", "rounds", "epochs", "stop", "flags", "wrong_count",
            "variant", "busy_cores", "busy_threads", "check", "time_scale", "moved_bytes",
            "messages")  # fmt: skip
    return json.dumps(
        {
            "record": "pairs",
            "launch": 0,
            "round": number,
            "key": {name: fields[name] for name in KEY_COLUMNS},
            "pairs": [],
            "pairing": "all",
            "world_ranks": ranks,
            "shared": {name: fields[name] for name in kept},
            "columns": {name: packed(values) for name, values in columns.items()},
        },
        separators=(",", ":"),
    )


def packed(values: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
