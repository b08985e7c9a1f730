#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long does it take to join and store the files of many ranks, in how much memory?

A job of four ranks is recorded. Its files are repeated for larger jobs, each with a number, peers
and members of the large job. These are read, joined, and stored with their replay. They have more
recorded calls than those of a real large job, whose ranks record at most 1024 of a collective.

Exit status: 0 within the limits, 1 above one of them, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpigauge.model.errors import UserError
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.files import SUFFIX, read_folder
from mpigauge.products.profile.read.layout import BlockKind
from mpigauge.products.profile.store.replayed import save_mix
from mpigauge.products.profile.store.stored import ProfiledJob, save
from mpigauge.site.mpi import find
from tests.profiled import build, profiled

PROMISE = "512 ranks in at most 10 s, more in proportion; from 4096 on at most 150 kB a rank"
RECORDED = 4
RANKS = (64, 512, 4096, 10_000)
FEW, MOST_S = 512, 10.0
MANY, MOST_BYTES = 4096, 150e3
GRAIN = 64
JOIN = "--join"
"""The option with which this program runs itself, to measure the memory of joining alone."""


# --- one large job out of a small one ------------------------------------------------------------


def make(recorded: Path, rank: int, ranks: int, target: Path) -> None:
    """The file of a rank of the large job, by that of the rank in its place of the small one."""
    data = np.fromfile(recorded, dtype=np.uint8)
    head = data[: layout.HEAD.itemsize].view(layout.HEAD)[0].copy()
    small = int(head["rank"])
    blocks = b"".join(_changed(data, head, small, rank, ranks))
    head["rank"], head["ranks"], head["pid"] = rank, ranks, 1000 + rank
    head["pieces"] = 1
    head["piece"][0] = (layout.PAGE, len(blocks) + GRAIN)
    target.write_bytes(head.tobytes().ljust(layout.PAGE, b"\0") + blocks + bytes(GRAIN))


def _changed(
    data: npt.NDArray[np.uint8], head: Any, small: int, rank: int, ranks: int
) -> Iterator[bytes]:
    def peers(table: Any) -> None:
        valid = table["peer"] >= 0
        step = (table["peer"][valid] - small + RECORDED // 2) % RECORDED - RECORDED // 2
        table["peer"][valid] = (rank + step) % ranks

    for kind, block in _blocks(data, head):
        if kind == BlockKind.MEMBERS:
            yield _members(block, rank, ranks).tobytes()
            continue
        if kind == BlockKind.COMM:
            comm = block[: layout.COMM.itemsize].view(layout.COMM)
            if comm["size"][0] == RECORDED:
                comm["rank"], comm["size"] = rank, ranks
        elif kind == BlockKind.CELLS:
            part = block[: layout.CELLS.itemsize].view(layout.CELLS)[0]
            size = layout.CELL.itemsize * int(part["used"])
            peers(block[layout.CELLS.itemsize :][:size].view(layout.CELL))
        elif kind == BlockKind.CHANNEL:
            peers(block[: layout.CHANNEL.itemsize].view(layout.CHANNEL))
        yield block.tobytes()


def _blocks(data: npt.NDArray[np.uint8], head: Any) -> Iterator[tuple[int, npt.NDArray[np.uint8]]]:
    for piece in head["piece"][: int(head["pieces"])]:
        at, end = int(piece["offset"]), int(piece["offset"] + piece["bytes"])
        while at + 8 <= min(end, data.size):
            kind, size = (int(word) for word in data[at : at + 8].view("u4"))
            if size == 0:
                break
            yield kind, data[at : at + size].copy()
            at += size


def _members(block: npt.NDArray[np.uint8], rank: int, ranks: int) -> npt.NDArray[np.uint8]:
    """All of the world, or the rank alone."""
    part = block[: layout.MEMBERS.itemsize].view(layout.MEMBERS).copy()
    members = range(ranks) if int(part["count"][0]) == RECORDED else [rank]
    content = np.array(members, dtype="i4").tobytes()
    size = -(-(layout.MEMBERS.itemsize + len(content)) // GRAIN) * GRAIN
    part["count"], part["bytes"] = len(members), size
    return np.frombuffer((part.tobytes() + content).ljust(size, b"\0"), dtype=np.uint8)


# --- joining them --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """The cost of joining and storing the files of so many ranks."""

    ranks: int
    files_bytes: int
    rows: int
    waits: int
    seconds: float
    cpu_s: float
    peak_bytes: float

    @property
    def is_cheap(self) -> bool:
        is_small = self.ranks < MANY or self.peak_bytes <= MOST_BYTES * self.ranks
        return is_small and self.seconds <= MOST_S * max(1, self.ranks / FEW)


def join(folder: Path) -> int:
    """Reads and joins the files of a folder, stores the profile with its replay, and prints its
    size, time and peak memory."""
    start, cpu = time.perf_counter(), time.process_time()
    profile = merged(read_folder(folder))
    with tempfile.TemporaryDirectory() as run:
        job = ProfiledJob(0, 0, profile, {})
        save(job, Path(run))
        save_mix(job, Path(run))
        has_replay = any(Path(run).rglob("replay-*"))
    wall, took = time.perf_counter() - start, time.process_time() - cpu
    if not has_replay:
        print("profile_scale: there is no replay of these files", file=sys.stderr)
        return 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(len(profile.rows), len(profile.waits), wall, took, peak)
    return 0


def cost_of_joining(small: Sequence[Path], ranks: int, folder: Path) -> Cost:
    """Joins the files of a large job, in a process of its own."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        for rank in range(ranks):
            make(small[rank % RECORDED], rank, ranks, Path(made) / f"rank{rank}{SUFFIX}")
        files_bytes = sum(path.stat().st_size for path in Path(made).iterdir())
        again = [sys.executable, str(Path(__file__)), JOIN, made]
        text = subprocess.run(again, capture_output=True, text=True, check=True).stdout
    rows, waits, *costs = text.split()
    return Cost(ranks, files_bytes, int(rows), int(waits), *map(float, costs))


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mpi", default="mpich", help="of the recorded job (mpich)")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS, help="of the large jobs")
    parser.add_argument("--calls", type=int, default=3000, help="of each rank (3000)")
    parser.add_argument("--quick", action="store_true", help="16 ranks: does it work at all?")
    parser.add_argument(JOIN, metavar="FOLDER", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    if options.join:
        return join(Path(options.join))
    print(f"# {common.machine()}\n")
    print("| ranks | files | rows | waits | joined and stored | CPU | peak memory | of a rank |")
    print("|---" * 8 + "|")
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            small = record(options.mpi, options.calls, Path(folder))
        except UserError as error:
            print(f"profile_scale: {error}", file=sys.stderr)
            return 2
        for ranks in (16,) if options.quick else options.ranks:
            cost = cost_of_joining(small, ranks, Path(folder))
            costs.append(cost)
            print(f"| {ranks} | {cost.files_bytes / 1e6:.0f} MB | {cost.rows} | {cost.waits}"
                  f" | {cost.seconds:.1f} s | {cost.cpu_s:.1f} s | {cost.peak_bytes / 1e6:.0f} MB"
                  f" | {cost.peak_bytes / ranks / 1e3:.0f} kB |", flush=True)  # fmt: skip
    last = costs[-1]
    figures = f"{last.ranks} ranks in {last.seconds:.1f} s, {last.peak_bytes / 1e6:.0f} MB"
    return common.conclude(all(cost.is_cheap for cost in costs), figures)


def record(name: str, calls: int, folder: Path) -> list[Path]:
    """The files of four ranks that exchange messages in a ring, by rank."""
    mpi = find(name)
    program = build(mpi, "late.cpp", folder)
    kept = folder / "recorded"
    done = profiled(mpi, RECORDED, [str(program), "turns", str(calls), "20", "irecv"], kept)
    if done.status != 0:
        raise UserError(f"{mpi.label}: {done.errors.strip()[-300:]}")
    paths = sorted(kept.glob(f"*{SUFFIX}"))
    heads = [np.fromfile(path, dtype=layout.HEAD, count=1)[0] for path in paths]
    return [
        path for _, path in sorted((int(h["rank"]), p) for h, p in zip(heads, paths, strict=True))
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
