# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads recorded IMB-MPI1 text into a document, as far as the tests of our own text need it.

Every row becomes a cell of one classic launch with just the values that the text shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.model.record import Skip
from mpigauge.result.document import Document
from mpigauge.result.facts import Facts
from mpigauge.result.stats.launches import aggregate
from tests import cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.columns import Cell

REASONS = {
    "out-of-mem.": "not enough memory: needs {} GiB per rank, 0.001 GiB may be used",
    "int-overflow": "more than 2147483647 elements, which MPI counts as int here",
    "time-out.": "no time was left for it",
}


@dataclass
class Reader:
    lines: list[str]
    facts: dict[str, Any] = field(default_factory=dict)
    section: dict[str, Any] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    types: tuple[str, str, str] = ("byte", "float", "sum")
    cells: list[Cell] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


def document(text: str) -> Document:
    lines = [line for line in text.split("\n") if not line.startswith("Invalid")]
    reader = Reader(lines, _header(lines))
    reader.types = _types(text)
    for line in lines[lines.index("# List of Benchmarks to run:") :]:
        _read(reader, line)
    reader.facts["world_ranks"] = reader.facts.get("world_ranks", 1)
    return Document(
        rows=tuple(aggregate([cell]) for cell in reader.cells),
        cards=cells.cards(),
        facts=Facts(**reader.facts),
        skips=tuple(reader.skips),
    )


def _header(lines: list[str]) -> dict[str, Any]:
    said = dict(line[2:].split(":", 1) for line in lines[:10] if ":" in line)
    said = {name.strip(): value.strip() for name, value in said.items()}
    command = lines[lines.index("# Calling sequence was: ") + 2][2:].rstrip()
    first = lines.index("# List of Benchmarks to run:") + 2
    last = lines.index("", first)
    facts: dict[str, Any] = {
        "version": "0.1",
        "command": command,
        "created": "2026-11-21T02:56:53Z",
        "architecture": said["Machine"],
        "kernel": f"{said['Release']} {said['Version']}",
        "mpi_standard": said["MPI Version"],
        "benchmarks": tuple(line[2:] for line in lines[first:last]),
    }
    multi, mapped = re.search(r"-multi (\d)", command), re.search(r"-map (\d+)x(\d+)", command)
    facts["multi"] = int(multi[1]) if multi else None
    facts["map"] = (int(mapped[1]), int(mapped[2])) if mapped else None
    return facts


def _types(text: str) -> tuple[str, str, str]:
    names = re.findall(r"^# MPI_\w+(?: for reductions)? +: +MPI_(\w+)", text, re.MULTILINE)
    return names[0].lower(), names[1].lower(), names[2].lower()


def _read(reader: Reader, line: str) -> None:
    if match := re.match(r"# Benchmarking (?:Multi-)?(\w+) $", line):
        reader.section = {"benchmark": match[1], "groups": 1}
    elif match := re.match(r"# #processes = (\d+)", line):
        _ranks(reader, int(match[1]), 1)
    elif match := re.match(r"# \( (\d+) groups of (\d+) processes", line):
        _ranks(reader, int(match[2]), int(match[1]))
    elif match := re.match(r"# \( (\d+) additional process", line):
        idle = reader.section["ranks"] * reader.section["groups"] + int(match[1])
        reader.facts["world_ranks"] = max(reader.facts["world_ranks"], idle)
    elif line.startswith(" ") and "#" in line:
        reader.heads = line.split()
    elif line.startswith(" "):
        _row(reader, line.split())


def _ranks(reader: Reader, ranks: int, groups: int) -> None:
    reader.section |= {"ranks": ranks, "groups": groups}
    reader.facts["world_ranks"] = max(reader.facts.get("world_ranks", 1), ranks * groups)


def _row(reader: Reader, words: list[str]) -> None:
    if words[1].rstrip(";") in REASONS:
        needed = re.search(r"X= *([\d.]+)", " ".join(words))
        reason = REASONS[words[1].rstrip(";")].format(needed[1] if needed else "")
        key = _key(reader, int(words[0]))
        reader.skips.append(Skip(0, cells.fields(**key), reason))
        return
    shown = dict(zip(reader.heads, map(float, words), strict=True))
    key = _key(reader, int(shown.get("#bytes", -1))) | dict(_values(shown))
    reader.cells.append(cells.cell(**key | {"group": int(shown.get("Group", -1))}))


def _key(reader: Reader, size: int) -> dict[str, Any]:
    card = cells.cards().find(reader.section["benchmark"])
    transfer, reduction, op = reader.types
    reduces = card.unit == "reduction"
    types = {"datatype": reduction, "op": op} if reduces else {"datatype": transfer}
    return reader.section | types | {"message_bytes": size, "mode": "classic", "time_scale": 1.0}


def _values(shown: dict[str, float]) -> Iterator[tuple[str, Any]]:
    """Bytes and messages such that bandwidth and rate are those that the text shows."""
    rate = shown.get("Msg/sec")
    time = 256 / rate if rate else shown.get("t[usec]", shown.get("t_max[usec]", 0)) * 1e-6
    yield "calls", int(shown["#repetitions"])
    for name, head in (("min", "t_min[usec]"), ("avg", "t_avg[usec]"), ("max", "t_max[usec]")):
        yield f"time_{name}_s", shown[head] * 1e-6 if head in shown else time
    yield "time_p50_s", time
    yield "ci_low_s", None
    yield "ci_high_s", None
    yield "messages", 256 if rate else 0
    moved = shown.get("Mbytes/sec", 0) * 1e6
    yield "moved_bytes", moved * time if moved else 0
