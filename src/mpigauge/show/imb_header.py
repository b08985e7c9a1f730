# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The header of a run in the shape of IMB's tables: the system, the lengths and types, the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.cards import Card
    from mpigauge.model.row_tables import RowTable
    from mpigauge.result.document import Document
    from mpigauge.result.facts import Facts


_PARTS = {"MPI1": "MPI-1", "EXT": "MPI-2", "IO": "MPI-IO", "NBC": "MPI-NBC", "RMA": "MPI-RMA",
          "MPI4": "MPI-4", "P2P": "IMB-P2P"}  # fmt: skip


def header_lines(document: Document, suite: str) -> Iterator[str]:
    facts = document.facts
    rule = "#" + "-" * 64
    part = _PARTS.get(suite, suite)
    yield from (rule, f"#    mpigauge {facts.version}, IMB-compatible, {part} part", rule)
    for name, value in _system(facts):
        yield f"# {name:<22}: {value}"
    yield from ("", "", "# Calling sequence was: ", "", f"# {facts.command} ", "")
    yield from _lengths(document, suite)
    yield "#"
    for name, value in _types(document, suite):
        yield f"# {name:<31}:   {value} "
    yield from ("# ", "# ", "", "# List of Benchmarks to run:", "")
    for card in listed_cards(document):
        if card.suite == suite:
            yield f"# {card.name}"


def _system(facts: Facts) -> Iterator[tuple[str, str]]:
    release, _, version = facts.kernel.partition(" ")  # of imported runs both together
    yield "Date", _date(facts.created)
    yield "Machine", facts.architecture
    yield "System", facts.system
    yield "Release", release
    yield "Version", facts.kernel_version or version
    yield "MPI Version", facts.mpi_standard
    yield "MPI Thread Environment", ""


def _date(created: str) -> str:
    """2026-11-21T05:00:00Z as asctime writes it."""
    from datetime import datetime

    try:
        return datetime.strptime(created, "%Y-%m-%dT%H:%M:%SZ").strftime("%a %b %e %H:%M:%S %Y")
    except ValueError:
        return created


def suite_tables(document: Document, suite: str) -> list[RowTable]:
    return [table for table in document.tables() if table.card.suite == suite]


def _lengths(document: Document, suite: str) -> list[str]:
    what, name = ("io portion", "IO") if suite == "IO" else ("message length", "Message")
    tables = suite_tables(document, suite)
    sizes: list[int] = []
    for table in tables:
        sizes += [row.message_bytes for row in table.rows]
        sizes += [int(skip.key.get("message_bytes", -1)) for skip in table.skips]
    positive = [size for size in sizes if size >= 0]
    if positive and not _doubles(tables):
        return [f"# {name} lengths were user defined"]
    return [
        f"# Minimum {what} in bytes:   {min(positive, default=0)}",
        f"# Maximum {what} in bytes:   {max(positive, default=0)}",
    ]


def _doubles(tables: Sequence[RowTable]) -> bool:
    """True if the sizes of every table are 0 and powers of two, in ascending order."""
    for table in tables:
        sizes = []
        for row in table.rows:
            if row.cell.group in (-1, 0):
                sizes.append(row.message_bytes)
        whole = all(size & (size - 1) == 0 for size in sizes if size > 0)
        if not whole or sizes != sorted(set(sizes)):
            return False
    return True


def _types(document: Document, suite: str) -> Iterator[tuple[str, str]]:
    moved, reduced, op = "byte", "float", "sum"
    for table in reversed(suite_tables(document, suite)):  # the first of each counts
        if table.rows and table.card.unit == "transfer":
            moved = table.rows[0].cell.datatype
        elif table.rows and table.card.unit == "reduction":
            reduced, op = table.rows[0].cell.datatype, table.rows[0].cell.op
    yield "MPI_Datatype", _mpi_name(moved)
    yield "MPI_Datatype for reductions", _mpi_name(reduced)
    yield "MPI_Op", f"{_mpi_name(op)} "


def _mpi_name(name: str) -> str:
    return f"MPI_{name.upper()}"


def listed_cards(document: Document) -> list[Card]:
    measured = [table.card for table in document.tables()]
    asked = [document.cards.find(name) for name in document.facts.benchmarks]
    return list(dict.fromkeys([*asked, *measured]))
