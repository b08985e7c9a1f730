# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge report`: all that is known of a run, and of others beside it, as one page."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.analyse.best import best_lines
from mpigauge.analyse.registry import explain
from mpigauge.analyse.seen import pus_of
from mpigauge.analyse.summary import summaries
from mpigauge.model.units import byte_count, duration, percent, plus_minus, rate
from mpigauge.report import axes, beside, best
from mpigauge.report.explanation import QUIET
from mpigauge.report.formats.table import figure_lines, heading, title, words_of
from mpigauge.report.kinds import ALL, all_kinds
from mpigauge.report.picture import picture
from mpigauge.report.web.cells import cells_of, packed
from mpigauge.report.web.download import downloads
from mpigauge.report.web.page import filled
from mpigauge.topology.remarks import many

if TYPE_CHECKING:
    from mpigauge.analyse.compare import Comparison
    from mpigauge.model.row import Estimate
    from mpigauge.report.kinds import Shown
    from mpigauge.report.plot import Picture

MOST_MACHINES = 4
MOST_ROWS = 2_000
"""In the table below a plot, and in all tables of numbers together: beyond these a page is slow."""


@dataclass(frozen=True)
class Answer:
    """A number that people quote."""

    label: str
    value: str
    error: str
    where: str


@dataclass(frozen=True)
class Block:
    """Sentences under a title."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """A table of words."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    pictures: tuple[Picture, ...]
    best: tuple[Words, ...] = ()
    said: tuple[str, ...] = ()


_ALL_ROWS = "`mpigauge show RUN` prints all rows, `mpigauge export csv RUN` writes them"
_PLOTTED = (
    ("curves", "Latency and bandwidth", ("latency", "bandwidth")),
    ("map", "Between every two ranks", ("map",)),
    ("collectives", "Collectives", ("collectives", "ranks")),
    ("sweep", "Settings and placements", ("best",)),
    ("figures", "Figures", ("figures",)),
)


def report(shown: Sequence[Shown], comparison: Comparison | None = None) -> str:
    """The page. The first run is what it is about; `comparison`: of all of them."""
    first = shown[0]
    facts = first.document.facts
    sections = list(_sections(shown))
    machines = list(_machines(first))
    cells, left = cells_of(first)
    seats = list(_seats(first))
    tables, tables_left = _tables(first)
    named = [("answer", "The answer"), ("machine", "The machine") if machines or seats else None,
             *((each.id, each.title) for each in sections),
             ("samples", "Samples") if cells or left else None, ("disturbances", "Disturbances"),
             ("numbers", "All numbers"), ("run", "What was run"), ("data", "Data")]  # fmt: skip
    return filled(
        "report",
        name=" · ".join(each.name for each in shown),
        version=facts.version or "",
        facts=[line for each in shown for line in _heading(each, len(shown) > 1)],
        sections=[each for each in named if each],
        answers=list(_answers(first)),
        verdicts=list(_verdicts(comparison)),
        compared=beside.remarks(comparison) if comparison else [],
        explained=explain(first.run),
        quiet=QUIET,
        machines=machines[:MOST_MACHINES],
        hosts_left=_hosts_left(machines),
        seats=seats,
        plotted=sections,
        cells=cells,
        cells_left=left,
        packed=packed(cells) if cells else "",
        remarks=first.document.sentences,
        noise=list(_noise(first)),
        tables=tables,
        tables_left=tables_left,
        figures="\n".join(figure_lines(first.document.figures)),
        command=_command(first),
        settings=sorted(first.seen.settings.items()),
        documents=list(_documents(first)),
        downloads=list(downloads(first)),
    )


def _heading(shown: Shown, several: bool) -> Iterator[str]:
    for line in heading(shown.document.facts):
        yield f"{shown.name}: {line}" if several else line


# --- the answer -----------------------------------------------------------------------------
def _answers(shown: Shown) -> Iterator[Answer]:
    head = shown.document.headline
    if head is None:
        return
    if head.zero and head.latency_s:
        where = " · ".join(filter(None, (head.zero.benchmark, head.zero.cell.placement)))
        label = f"Latency of {byte_count(head.zero.message_bytes)}"
        yield _answer(label, duration, head.latency_s, where)
    if head.peak and head.peak_bandwidth:
        where = f"{head.peak.benchmark}, at {byte_count(head.peak.message_bytes)}"
        yield _answer("Highest bandwidth", axes.bytes_per_s, head.peak_bandwidth, where)
    if head.busiest and head.message_rate:
        flying = f"{head.busiest.cell.inflight} in flight"
        where = f"{head.busiest.benchmark}, {byte_count(head.busiest.message_bytes)}, {flying}"
        yield _answer("Message rate", rate, head.message_rate, where)


def _answer(label: str, words: Any, of: Estimate, where: str) -> Answer:
    return Answer(label, words(of.value), plus_minus(of.relative_error), where)


def _verdicts(comparison: Comparison | None) -> Iterator[Block]:
    """What the runs show against the first, in words."""
    if comparison is None:
        return
    for table in comparison.tables:
        first = table.first
        ranks = dict(first.columns).get("ranks")
        words = (first.benchmark, "" if first.row else first.what, f"on {ranks} ranks")
        said = tuple(summaries(comparison, table))
        if said:
            yield Block(f"{' '.join(filter(None, words))}, against {comparison.names[0]}", said)


# --- machine --------------------------------------------------------------------------------
def _machines(shown: Shown) -> Iterator[dict[str, str]]:
    """Those that ranks were on; of a run without ranks all that it describes."""
    written = _on_pus(shown)
    for name, topology in shown.seen.topologies.items():
        if name in written or not written:
            yield {"name": name, "svg": picture(topology, written.get(name, {}))}


def _on_pus(shown: Shown) -> Mapping[str, Mapping[int, str]]:
    """Of each host which ranks sat on which PU in the first launch."""
    found: dict[str, dict[int, list[int]]] = {}
    first = min((rank.launch for rank in shown.run.ranks), default=0)
    for rank in shown.run.ranks:
        if rank.launch == first:
            of_host = found.setdefault(rank.host, {})
            for pu in pus_of(rank) if rank.wanted_cpuset else ():
                of_host.setdefault(pu, []).append(rank.rank)
    return {
        host: {pu: f"rank {', '.join(map(str, ranks))}" for pu, ranks in of.items()}
        for host, of in found.items()
    }


def _hosts_left(machines: Sequence[object]) -> str:
    left = len(machines) - MOST_MACHINES
    return f"{left} more hosts are described in the passport." if left > 0 else ""


def _seats(shown: Shown) -> Iterator[tuple[str, ...]]:
    first = min((rank.launch for rank in shown.run.ranks), default=0)
    for rank in sorted(shown.run.ranks, key=lambda rank: rank.rank):
        if rank.launch == first:
            numa = str(rank.numa) if rank.numa >= 0 else ""
            yield str(rank.rank), rank.host, rank.cpuset, numa


# --- plots and tables -----------------------------------------------------------------------
def _sections(shown: Sequence[Shown]) -> Iterator[Section]:
    kinds = all_kinds()
    for id_, name, of in _PLOTTED:
        pictures = tuple(_short(found) for kind in of if (found := kinds[kind].draw(shown, ALL)))
        arms = shown[0].arms if id_ == "sweep" else None
        tables = tuple(_best(arms)) if arms else ()
        said = tuple(best.remarks(arms)) if arms and tables else ()
        if pictures or tables:
            yield Section(id_, name, pictures, tables, said)


def _short(picture: Picture) -> Picture:
    """With as many rows of its table as a page can hold."""
    points = len(picture.rows)
    if points <= MOST_ROWS:
        return picture
    said = f"The table holds the first {MOST_ROWS} of {points} points; {_ALL_ROWS}."
    return replace(picture, rows=picture.rows[:MOST_ROWS], notes=(*picture.notes, said))


def _best(arms: Comparison) -> Iterator[Words]:
    for table in arms.tables:
        if lines := list(best_lines(arms, table)):
            heads, *rows = best.words_of(table, lines, {name: name for name in arms.names})
            columns = dict(table.first.columns)
            what = "" if table.first.row else f" {table.first.what}"
            name = f"Best of {table.first.benchmark}{what} on {columns.get('ranks')} ranks"
            yield Words(name, heads, rows)


def _tables(shown: Shown) -> tuple[list[Words], str]:
    """As many as a page can hold, and what is said of the others."""
    found, room = [], MOST_ROWS
    tables = [table for table in shown.document.tables() if table.rows]
    for table in tables:
        if len(table.rows) <= room:
            heads, *rows = words_of(table)
            found.append(Words(title(table), heads, rows))
            room -= len(rows)
    left = len(tables) - len(found)
    return found, f"{many(left, 'more table')} of this run: {_ALL_ROWS}." if left else ""


# --- what was run ---------------------------------------------------------------------------
def _noise(shown: Shown) -> Iterator[tuple[str, ...]]:
    for each in shown.run.noise:
        lost, longest = percent(each.lost_ratio), duration(each.longest_s)
        yield str(each.launch + 1), str(each.rank), str(each.cpu), each.when, lost, longest


def _command(shown: Shown) -> str:
    command = shown.run.header.get("command") or ""
    return command if isinstance(command, str) else shlex.join(map(str, command))


def _documents(shown: Shown) -> Iterator[tuple[str, str]]:
    known = (("The plan, with every setting", shown.run.plan), ("Passport", shown.run.passport))
    for name, data in known:
        if data:
            yield name, json.dumps(data, indent=1, ensure_ascii=False, default=str)
