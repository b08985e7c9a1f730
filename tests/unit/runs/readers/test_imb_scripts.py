# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What scripts search for in IMB's output, and IMB's own words for what its tables cannot say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.cards import Cards
from mpigauge.model.stored_cards import all_cards
from mpigauge.result.document import Document
from mpigauge.result.facts import Facts
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.runs.readers import READERS
from mpigauge.runs.readers.text import Text
from mpigauge.show.formats import FORMATS, render
from mpigauge.site import topology
from tests import cells

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs/users/imb.md"
HALO = ROOT / "tests/golden/printed/mpich-HALO-default-np2.txt"
FACTS = Facts(
    version="1.2.3",
    command="mpigauge run",
    created="2026-11-26T05:00:00Z",
    architecture="x86_64",
    kernel="6.1.0-13-amd64",
    kernel_version="#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1",
    mpi_standard="4.1",
)


def searches() -> list[tuple[str, str]]:
    """The regular expressions of the page, each with the options that satisfy it."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition(
        "## Scripts that search IMB's output"
    )
    table, _, _ = section.partition("\n## ")
    return re.findall(r"(?m)^\| [^`|]+ \| `(.+)` \| `(.+)` \|$", table)


def text_of(*measured: Cell, facts: Facts = FACTS, of: Cards | None = None) -> str:
    return render("imb", Document(tuple(rows_of(measured, 0.05)), of or cells.cards(), facts))


def test_the_page_lists_searches() -> None:
    assert len(searches()) > 8
    assert {options.split()[1] for _, options in searches()} <= set(FORMATS)


@pytest.mark.parametrize(("pattern", "options"), searches())
def test_scripts_find_what_the_page_promises(pattern: str, options: str) -> None:
    mode = "classic" if "--classic" in options else "adaptive"
    shown = text_of(
        cells.cell(message_bytes=8, moved_bytes=8.0, mode=mode, calls=1000),
        cells.cell("Allreduce", message_bytes=8, mode=mode, calls=1000, op="sum", unit="reduction"),
    )
    assert re.search(pattern, shown, re.MULTILINE), shown


def test_a_machine_has_the_build_of_its_kernel() -> None:
    assert topology.read().kernel_version == Path("/proc/sys/kernel/version").read_text().strip()


# --- HALO -----------------------------------------------------------------------------------
def halo(text: str) -> list[Cell]:
    reading = READERS["imb"].read(Text(text.encode()))
    return [cell for table in reading.tables for cell in table.cells()]


def test_halo_is_printed_as_it_was_read() -> None:
    text = HALO.read_text()
    shown = text_of(*halo(text), of=all_cards())
    for line in filter(None, text.splitlines()):
        assert re.sub(r"(\.\d\d)\d*", r"\1", line) in re.sub(r"(\.\d\d)\d*", r"\1", shown)


def test_messages_along_a_side_of_one_do_not_count() -> None:
    text = HALO.read_text().replace("dimensions: 1", "dimensions: 2")
    assert [(cell.message_bytes, cell.moved_bytes) for cell in halo(text)] == [
        (64, 4 * 64), (256, 4 * 256)
    ]  # fmt: skip


# --- ranks that are their own neighbours ----------------------------------------------------
@pytest.mark.parametrize(
    ("suite", "benchmark", "ranks", "words"),
    [
        ("MORE", "Ineighbor_alltoall", 2, "each rank is its own neighbour along one side"),
        ("MORE", "Neighbor_allgather_persist_init", 3, "each rank is its own neighbour along one"),
        ("MORE", "Ineighbor_alltoallv_pure", 13, "each rank is its own neighbour along one side"),
        ("MORE", "Neighbor_alltoall", 1, "the rank is its own neighbour"),
        ("MPI1", "Sendrecv", 1, "the rank is its own neighbour"),
        ("RMA", "Exchange_put", 1, "the rank is its own neighbour"),
        ("MORE", "Ineighbor_alltoall", 4, ""),
        ("MORE", "Ineighbor_alltoall", 6, ""),
        ("MPI1", "Sendrecv", 2, ""),
        ("MPI1", "Alltoall", 1, ""),
    ],
)
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "imb"])
def test_the_heading_tells_when_a_rank_is_its_own_neighbour(
    suite: str, benchmark: str, ranks: int, words: str, form: str
) -> None:
    cell = cells.cell(benchmark, suite=suite, ranks=ranks, message_bytes=8)
    facts = Facts(world_ranks=ranks)
    shown = render(form, Document(tuple(rows_of([cell], 0.05)), all_cards(), facts))
    shown = " ".join(shown.split())
    assert (words in shown) if words else ("own neighbour" not in shown)
