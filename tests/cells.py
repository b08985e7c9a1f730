# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cells, cards and record lines that nobody measured."""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import Card, Cards
from mpigauge.model.column_facts import USUAL
from mpigauge.model.columns import ABSENT, COLUMNS, Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

_EMPTY: dict[str, Any] = {"int": 0, "float": 0.0, "str": "", "bool": False, "words": []}
_COLUMNS = {
    "single": "PingPong PingPing PingPongSpecificSource PingPongAnySource "
    "PingPingSpecificSource PingPingAnySource",
    "parallel": "Sendrecv Exchange",
    "collective": "Allreduce Reduce Reduce_local Reduce_scatter Reduce_scatter_block Allgather "
    "Allgatherv Gather Gatherv Scatter Scatterv Alltoall Alltoallv Bcast",
    "barrier": "Barrier",
    "band": "Uniband Biband",
}
_RANKS = {"single": "pair", "band": "pairs"}


def fields(benchmark: str = "PingPong", **changed: Any) -> dict[str, Any]:
    """All columns of a quiet cell; the interval is 1 % to each side."""
    time = changed.get("time_p50_s", 1e-6)
    return {
        **{column.name: _EMPTY[column.type] for column in COLUMNS},
        **{c.name: time for c in COLUMNS if c.name.startswith("time_") and c.name.endswith("_s")},
        **ABSENT,
        **USUAL,
        "suite": "MPI1",
        "benchmark": benchmark,
        "ranks": 2,
        "datatype": "byte",
        "calls": 1,
        "samples": 120,
        "chunks": 6,
        "rounds": 6,
        "epochs": 2,
        "stop": "precise",
        "check": "exact",
        "ci_low_s": time * 0.99,
        "ci_high_s": time * 1.01,
        "time_scale": 0.5 if benchmark.startswith("PingPong") else 1.0,
    } | changed


def cell(benchmark: str = "PingPong", **changed: Any) -> Cell:
    return Cell.from_record(fields(benchmark, **changed))


def line(record: str, **data: Any) -> str:
    return json.dumps({"record": record} | data)


def raw(ticks: Sequence[Sequence[int]], taints: Sequence[int] = (), hz: float = 1e9) -> Any:
    """The `raw` of a cell record whose chunks hold these ticks of the slowest rank."""
    flat = [tick for chunk in ticks for tick in chunk]
    words = flat + [tick - 2 for tick in flat] + [tick - 1 for tick in flat]
    taints = taints or [0] * len(ticks)
    return {
        "hz": hz,
        "scheme": "max,min,avg",
        "chunks": [
            {"round": i + 1, "taint": taints[i], "n": len(chunk)} for i, chunk in enumerate(ticks)
        ],
        "ticks": base64.b64encode(struct.pack(f"<{len(words)}I", *words)).decode(),
    }


LAUNCH = {
    "launch": 0,
    "schema": 1,
    "time": "2026-11-21T05:00:00Z",
    "mpi_library": "A Library 1.0",
    "mpi_standard": "4.1",
    "abi": "mpich",
    "world_ranks": 2,
    "mode": "adaptive",
    "precision": 0.05,
    "seed": 1,
    "thread_level": "single",
    "clock": {"name": "tsc", "hz": 2.6e9, "cost_s": 1e-8, "step_s": 1e-9},
}


def end(launch: int = 0, stopped: str = "done") -> str:
    return line(
        "end", launch=launch, stopped=stopped, seconds=1, measuring_s=0.5, wrong_count=0, cells=1
    )


def cards() -> Cards:
    return Cards(
        benchmarks=tuple(
            _card(name, columns) for columns, names in _COLUMNS.items() for name in names.split()
        ),
        datatypes=("byte", "int", "float"),
        reduction_datatypes=("int", "float"),
        ops=("sum", "land"),
        op_types=(("sum", ("int", "float")), ("land", ("int",))),
    )


def cards_text(of: Cards | None = None) -> str:
    from dataclasses import asdict

    known = (of or cards()).benchmarks
    return json.dumps({"schema": 1} | {"benchmarks": [asdict(card) for card in known]})


def _card(name: str, columns: str) -> Card:
    reduces = name.startswith(("Allreduce", "Reduce"))
    return Card(
        suite="MPI1",
        name=name,
        about="",
        ranks=_RANKS.get(columns, "any"),
        time="half_round_trip" if name.startswith("PingPong") else "call",
        unit="none" if columns == "barrier" else "reduction" if reduces else "transfer",
        sync="each" if columns == "collective" else "none",
        rooted=name in ("Bcast", "Reduce"),
        by_default=columns != "band",
        columns=columns,
    )
