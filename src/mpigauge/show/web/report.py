# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge report`: all that is known of a run, and of others beside it, as one page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.draw.chart import small
from mpigauge.model.cards import joined
from mpigauge.model.units import (
    dotted,
    duration,
    first_few,
    listed,
    many,
    percent,
    with_commas,
)
from mpigauge.result.run_result import RunResults
from mpigauge.show.comparisons import beside, fresh, memories
from mpigauge.show.explanation import QUIET
from mpigauge.show.formats.table import figure_lines
from mpigauge.show.heading import heading, place_word, which_run
from mpigauge.show.kinds import ALL, MANY_ROWS, PLOTS
from mpigauge.show.ratios import compared_picture
from mpigauge.show.web.answer import MOST_OPENING, against_limits, answers, opening, verdicts
from mpigauge.show.web.cells import cells_of, packed
from mpigauge.show.web.download import downloads
from mpigauge.show.web.every import every
from mpigauge.show.web.machine import MOST_MACHINES, hosts_left, machines, seats
from mpigauge.show.web.page import filled
from mpigauge.show.web.word_tables import (
    ALL_ROWS,
    WordTable,
    across_tables,
    fresh_tables,
    memory_tables,
    setting_tables,
    word_tables,
)

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.result.finding import Explanation
    from mpigauge.result.run_result import RunResult
    from mpigauge.show.web.quoted import QuotedNumber


@dataclass(frozen=True)
class PageSection:
    id: str
    title: str
    pictures: tuple[Picture, ...]
    best: tuple[WordTable, ...] = ()
    notes: tuple[str, ...] = ()


_ONLY_FIRST = (
    "The machine, anomalies, samples, disturbances, numbers, settings and data are those of "
    "{}; each of the others has a report of its own."
)
MOST_FACTS, _MOST_FINDINGS, _MOST_LEADING = 2, 3, 2
"""The most lines of the heading, findings and plots on the first screen; the rest is folded, or
stands below."""
_LEADING = (
    *(("sweep", 0), ("map", 0), ("fabric", 0), ("fabric", 1), ("node", 0), ("node", 1)),
    *(("curves", 0), ("ratios", 0), ("curves", 1)),
    *(("collectives", 0), ("figures", 0)),
)
"""Sections, and which of their plots: the first that there are stand on the first screen."""
_PLOTTED = (
    ("fabric", "The whole network", ("pairs", "hosts", "spread", "impact")),
    ("node", "The node", ("memory", "threads", "caches", "products")),
    ("curves", "Latency and bandwidth", ("latency", "bandwidth")),
    ("map", "Between every two ranks", ("map",)),
    ("collectives", "Collectives", ("collectives", "ranks")),
    ("sweep", "Settings and placements", ("best",)),
    ("figures", "Figures", ("figures",)),
)


def report(
    shown: Sequence[RunResult],
    explanation: Explanation,
    comparison: Comparison | None = None,
    across: Pivot | None = None,
    home: str = "",
    sentences: Sequence[str] = (),
) -> str:
    """The page on the first run, with what `explanation` explains. `comparison` and `across` hold
    all runs; `home`: a page with all runs to go back to; `sentences`: the first sentences, instead
    of those made from its numbers."""
    first = shown[0]
    facts = first.document.facts
    several = len(shown) > 1
    heading_lines = list(_headings(shown))
    plotted = list(sections(shown, comparison, across))
    built = list(machines(first))
    cells, left = cells_of(first)
    placed = list(seats(first))
    tables, tables_left = word_tables(first)
    crowd = every(first)
    contents = _contents(plotted, built or placed, crowd, cells or left)
    return filled(
        "report",
        home=home,
        name=page_title(shown),
        runs=listed(each.name for each in shown),
        version=facts.version or "",
        facts=heading_lines[:MOST_FACTS],
        more_facts=heading_lines[MOST_FACTS:],
        opening=sentences or opening(shown, comparison),
        most_opening=MOST_OPENING,
        quotes=not (sentences or comparison or first.across),
        lead=leading(plotted),
        sections=list(contents),
        answers=list(_answers(shown)),
        only_first=_ONLY_FIRST.format(first.name) if several else "",
        verdicts=[
            *verdicts(comparison),
            *verdicts(first.document.fresh),
            *(verdict for each in first.document.memories for verdict in verdicts(each)),
            *verdicts(first.document.compilers),
            *against_limits(first),
        ],
        compared=beside.remarks(comparison) if comparison else [],
        too_large=too_large(shown) if several else [],
        explained=explanation,
        most_findings=_MOST_FINDINGS,
        quiet=QUIET,
        machines=built[:MOST_MACHINES],
        hosts_left=hosts_left(built),
        seats=placed,
        plotted=plotted,
        cells=cells,
        cells_left=left,
        packed=packed([cell._asdict() for cell in cells]) if cells else "",
        every=crowd,
        remarks=first.document.sentences,
        noise=list(_noise(first)),
        tables=tables,
        tables_left=tables_left,
        figures="\n".join(figure_lines(first.document.figure_rows)),
        command=first.command,
        settings=sorted(first.view.settings.items()),
        documents=list(_documents(first)),
        downloads=list(downloads(first)),
    )


def _contents(
    plotted: Sequence[PageSection], machine: object, crowd: object, samples: object
) -> Iterator[tuple[str, str]]:
    """The sections of the page by id, with their titles; those that are empty have no place."""
    yield "answer", "The answer"
    if machine:
        yield "machine", "The machine"
    if crowd:
        yield "every", "All curves"
    for each in plotted:
        yield each.id, each.title
    if samples:
        yield "samples", "Samples"
    yield "disturbances", "Disturbances"
    yield "numbers", "All numbers"
    yield "run", "What was run"
    yield "data", "Data"


def _answers(shown: Sequence[RunResult]) -> Iterator[tuple[str, list[QuotedNumber]]]:
    """The numbers of each run that people quote, with its name where there are several."""
    for each in shown:
        numbers = list(answers(each))
        if numbers:
            yield each.name if len(shown) > 1 else "", numbers


def too_large(shown: Sequence[RunResult]) -> list[str]:
    """Names of runs of which only a part is looked at."""
    return [each.name for each in shown if each.run.part]


def _headings(shown: Sequence[RunResult]) -> Iterator[str]:
    """The headings: of several runs first their dates and place, if that is the same for all."""
    if len(shown) == 1:
        yield from _heading(shown[0])
        return
    dates = sorted(each.document.facts.created for each in shown)
    ends = dict.fromkeys((dates[0], dates[-1]))
    yield dotted(many(len(shown), "run"), " to ".join(ends))
    places = {which_run(each.document.facts)[-1] for each in shown}
    if len(places) == 1:
        yield from places
    for each in shown:
        for line in _heading(each):
            yield f"{each.name}: {line}"


def _heading(shown: RunResult) -> Iterator[str]:
    yield from heading(shown.document.facts)
    if shown.run.part:
        yield f"A part of a large run: {shown.run.part}."


def leading(plotted: Sequence[PageSection]) -> list[Picture]:
    """Small pictures for the first screen."""
    by_id = {each.id: each.pictures for each in plotted}
    pictures_chosen: list[Picture] = []
    for section, number in _LEADING:
        pictures = by_id.get(section, ())
        if number < len(pictures):
            pictures_chosen += small(pictures[number])
    return pictures_chosen[:_MOST_LEADING]


def page_title(shown: Sequence[RunResult]) -> str:
    """The measurement and the machine; of several runs those of the first."""
    first = shown[0]
    what, facts = _measurement(first), first.document.facts
    if where := place_word(facts):
        return f"{what} on {where}"
    return with_commas(what, f"imported from {facts.imported}" if facts.imported else "")


def _measurement(shown: RunResult) -> str:
    """The benchmarks of a run, or its name if it has none."""
    if shown.node:
        return "Memory, caches and cores"
    if shown.view.fabric:
        return "The whole network"
    names = [row.benchmark for row in shown.document.rows]
    names += [figure.benchmark for figure in shown.document.figures]
    if not names:
        return shown.name
    if shown.document.pairs:
        return f"{first_few(names)} between every two ranks"
    return first_few(names)


# --- plots and tables -----------------------------------------------------------------------
def sections(
    shown: Sequence[RunResult], comparison: Comparison | None = None, across: Pivot | None = None
) -> Iterator[PageSection]:
    """The plots and tables of these runs. `comparison`: their times against those of the first;
    `across`: their numbers side by side."""
    if comparison and (ratios := compared_picture(comparison)):
        yield PageSection("ratios", "Against the first", (_short(ratios),))
    results = RunResults(shown)
    for id_, name, kinds in _PLOTTED:
        pictures = tuple(_pictures(kinds, results))
        tables: list[WordTable] = []
        notes: list[str] = []
        if id_ == "sweep":
            tables, notes = setting_tables(shown)
        if pictures or tables:
            yield PageSection(id_, name, pictures, tuple(tables), tuple(notes))
    if across:
        cards = joined([each.run.cards for each in shown])
        beside_each_other, words = across_tables(across, cards)
        yield PageSection("across", "Side by side", (), tuple(beside_each_other), tuple(words))
    if compared := shown[0].document.fresh:
        yield PageSection("fresh", fresh.HEADING, (), tuple(fresh_tables(shown[0], compared)))
    if of_kinds := tuple(memory_tables(shown[0], shown[0].document.memories)):
        yield PageSection("memories", memories.HEADING, (), of_kinds)


def _pictures(kinds: Sequence[str], results: RunResults) -> Iterator[Picture]:
    """The pictures of these kinds that the runs have data for."""
    for kind in kinds:
        picture = PLOTS[kind].draw(results, ALL)
        if picture:
            yield _short(picture)


def _short(picture: Picture) -> Picture:
    """The picture with as many rows of its table as a page can hold."""
    points = len(picture.rows)
    if points <= MANY_ROWS:
        return picture
    note = f"The table holds the first {MANY_ROWS} of {points} points; {ALL_ROWS}."
    return replace(picture, rows=picture.rows[:MANY_ROWS], notes=(*picture.notes, note))


# --- what was run ---------------------------------------------------------------------------
def _noise(shown: RunResult) -> Iterator[tuple[str, ...]]:
    for each in shown.run.noise:
        lost, longest = percent(each.lost_ratio), duration(each.longest_s)
        yield str(each.launch + 1), str(each.rank), str(each.cpu), each.when, lost, longest


def _documents(shown: RunResult) -> Iterator[tuple[str, str]]:
    documents = (("The plan, with every setting", shown.run.plan), ("Passport", shown.run.passport))
    for name, data in documents:
        if data:
            yield name, json.dumps(data, indent=1, ensure_ascii=False, default=str)
