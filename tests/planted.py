# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs that nobody made, with or without something planted in them."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.model.record import CellRecord, Clock, Failure, Launch, Noise, Rank
from mpigauge.runs.store import Run, RunWriter
from mpigauge.site import topology
from mpigauge.site.topology.passport import plain
from mpigauge.site.topology.read import read
from tests import cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Record

MACHINES = Path(__file__).with_name("machines")
SIZES = [0, *(1 << i for i in range(23))]
LAUNCHES = 6
ROME = plain(asdict(topology.built(MACHINES / "epyc-rome-2s-nps4.xml")))
LAPTOP = plain(asdict(read(MACHINES / "laptop-i7-8550u-smt.txt")))


OPEN_MPI: dict[str, Any] = {"mpi": {"name": "openmpi", "version": "5.0.2"}}


def line(alpha: float = 1e-6, beta: float = 1e-10) -> Callable[[int], float]:
    return lambda n: alpha + beta * n


def curve(
    time: Callable[[int], float],
    benchmark: str = "PingPong",
    sizes: Sequence[int] = SIZES,
    launches: int = LAUNCHES,
    **changed: Any,
) -> list[Cell]:
    """Printed times of every size, ±1 %, in so many launches that hardly differ."""
    scale = 0.5 if benchmark.startswith("PingPong") else 1.0
    return [
        cells.cell(
            benchmark,
            **{
                "launch": launch,
                "message_bytes": n,
                "moved_bytes": float(n),
                "time_p50_s": time(n) / scale * (1 + 0.001 * ((launch * 7 + n) % 5)),
            }
            | changed,
        )
        for launch in range(launches)
        for n in sizes
    ]


def stepping(at: int, by: float, **changed: Any) -> list[Cell]:
    """A time that is `by` as long from the next size behind `at` on."""
    return curve(lambda n: (1e-6 + 1e-10 * n) * (by if n > at else 1.0), **changed)


def table(text: str, **changed: Any) -> list[Cell]:
    """The rows of a table of IMB: bytes, repetitions, µs, MB/s; no intervals are known."""
    found = re.findall(r"^ *(\d+) +(\d+) +([\d.]+) +[\d.]+ *$", text, re.MULTILINE)
    return [
        cells.cell(
            message_bytes=int(n),
            moved_bytes=float(n),
            time_p50_s=2e-6 * float(t),
            mode="classic",
            origin="imported",
            source="IMB 2018",
            **{"ci_low_s": None, "ci_high_s": None} | changed,
        )
        for n, _, t in found
    ]


def ranks(pus: Sequence[str], host: str = "n1", launch: int = 0, **changed: Any) -> list[Rank]:
    """Rank 0, 1, … on these CPUs of a host, bound to them as wanted."""
    asked: dict[str, Any] = {"launch": launch, "host": host, "pid": 1, "numa": 0} | changed
    return [
        Rank(rank=i, local_rank=i, wanted_cpuset=pu, cpuset=pu, cpu=int(re.split("[-,]", pu)[0]),
             **asked)
        for i, pu in enumerate(pus)
    ]  # fmt: skip


def noise(lost: float, cpu: int = 0) -> Noise:
    return Noise(0, cpu, "before", cpu, 0.1, 12, lost, 1e-4)


def ticking(
    hz: float = 250.0,
    length_s: float = 19e-6,
    others_s: Sequence[float] = (),
    cpu: int = 0,
    seconds: float = 1.0,
    seed: int = 1,
) -> Noise:
    """A core that a clock interrupts, and others now and then."""
    random = np.random.default_rng(seed)
    first, jitter = random.uniform(0, 1 / hz), 2e-6
    ticks = [
        (first + i / hz + jitter * random.uniform(), length_s * random.uniform(0.9, 1.1))
        for i in range(int(seconds * hz) if length_s > 0 else 0)
    ]
    others = [(random.uniform(0, seconds), length) for length in others_s]
    found = sorted([*ticks, *others])
    lengths = [length for _, length in found]
    return Noise(
        launch=0, rank=cpu, when="measured", cpu=cpu, seconds=seconds, detours=len(found),
        lost_ratio=sum(lengths) / seconds, longest_s=max(lengths, default=0.0),
        start_ns=tuple(round(start * 1e9) for start, _ in found),
        length_ns=tuple(round(length * 1e9) for length in lengths),
    )  # fmt: skip


def run(
    measured: Iterable[Cell],
    others: Iterable[Record] = (),
    machine: Mapping[str, Any] | None = None,
    **header: Any,
) -> Run:
    """A run of MPICH 5.0.2 that holds these cells and records."""
    known: dict[str, Any] = dict(cells.LAUNCH)
    start = Launch(**known | {"clock": Clock(**known["clock"])})
    head = {"schema": 1, "mpi": {"name": "mpich", "version": "5.0.2"}, "plan": {}} | header
    return Run(
        path=Path("planted"),
        header=head,
        passport={"machine": dict(machine)} if machine else {},
        cards=cells.cards(),
        status={"status": "done"},
        records=(start, *others, *(CellRecord(cell) for cell in measured)),
    )


_KINDS: dict[type, str] = {CellRecord: "cell", Failure: "error"}
"""Kinds of records that have another name in files."""


def store(of: Run, folder: Path) -> Path:
    """As a run folder, for commands."""
    with RunWriter.create(dict(of.header), cells.cards_text(), output=folder) as writer:
        writer.write_passport(of.passport)
        for record in of.records:
            kind = _KINDS.get(type(record), type(record).__name__.lower())
            data = asdict(record.cell if isinstance(record, CellRecord) else record)
            writer.append(cells.line(kind, **plain(data)))
        writer.append(cells.end())
        writer.finish("done")
    return folder
