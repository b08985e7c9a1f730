# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The pages of `mpigauge browse` around reports: lists of runs, comparisons, and errors.

`base` is the prefix of all links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import mpigauge
from mpigauge.model.units import many
from mpigauge.products.browse.machines import MOST_MACHINES
from mpigauge.show.comparisons import beside
from mpigauge.show.web.answer import verdicts
from mpigauge.show.web.page import filled
from mpigauge.show.web.report import sections, too_large
from mpigauge.show.web.word_tables import WordTable

if TYPE_CHECKING:
    from mpigauge.products.browse.machines import MachineEntry, Quoted
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.run_result import RunResult

PER_PAGE = 100
LONGEST_NAME = 34
"""The maximum number of letters of a run's name in the list."""
_HEADS = {
    "run": "Run", "begun": "Begun", "mpi": "MPI", "host": "Host", "benchmarks": "Benchmarks",
    "latency": "Latency", "bandwidth": "Bandwidth", "rows": "Rows", "ended": "Ended",
}  # fmt: skip
"""The column headings of the list of runs, by their sort keys."""
_SORTED = {"": "ascending", "-": "descending"}
_LARGEST_FIRST = ("begun", "bandwidth", "rows")


@dataclass(frozen=True)
class RunEntry:
    """A run in the list."""

    name: str
    short: str
    """The name for a column: a long one lacks its middle."""
    begun: str
    mpi: str
    host: str
    benchmarks: str
    rows: int
    status: str
    command: str
    quoted: Quoted
    spark: str
    """The first curve of the run, as SVG; empty: it has none."""


@dataclass(frozen=True)
class FolderEntry:
    """A folder of several runs, such as a tuning, below the list of runs."""

    kind: str
    name: str
    mpi: str
    host: str
    about: str
    """Its contents, or why it cannot be read."""


@dataclass(frozen=True)
class SortHead:
    """A column heading that links to the list sorted by its column."""

    title: str
    href: str
    sorted: str
    """The current sort direction: ascending, descending or none."""


@dataclass(frozen=True)
class Turn:
    """One page of several."""

    page: int
    last: int
    newer: str
    older: str
    """The address of the next page; empty: it does not exist."""

    @classmethod
    def of(cls, address: str, choice: Mapping[str, str], requested: int, count: int) -> Turn:
        """Returns the requested page, or the nearest that exists."""
        last = max(1, -(-count // PER_PAGE))
        page = min(max(requested, 1), last)
        given = {name: value for name, value in choice.items() if value}

        def href(number: int) -> str:
            if not 1 <= number <= last:
                return ""
            return f"{address}?{urlencode(given | {'page': str(number)})}"

        return cls(page, last, href(page - 1), href(page + 1))

    @property
    def slice(self) -> slice:
        return slice((self.page - 1) * PER_PAGE, self.page * PER_PAGE)


@dataclass(frozen=True)
class ListView:
    """The parts of a list of runs or numbers in addition to its lines."""

    choice: Mapping[str, str]
    menus: Mapping[str, Sequence[str]]
    notes: Sequence[str]
    turn: Turn


def runs_page(
    base: str,
    where: str,
    listed: ListView,
    lines: Sequence[RunEntry],
    counts: str,
    machines: Sequence[MachineEntry],
    folders: Sequence[FolderEntry],
) -> str:
    """Returns the page of all runs. `where`: the name of the folder; `counts`: how many match."""
    return filled_page(
        "runs",
        base,
        f"Runs in {where}",
        "Runs",
        lines=lines,
        counted=counts,
        machines=machines,
        folders=folders,
        most_machines=MOST_MACHINES,
        heads=list(_heads(base, listed.choice)),
        **vars(listed),
    )


def _heads(base: str, choice: Mapping[str, str]) -> Iterator[SortHead]:
    """Yields headings that sort by their column; the current sort column reverses its order."""
    others = {name: value for name, value in choice.items() if value and name != "sort"}
    sorted_by = choice["sort"] or "-begun"
    for word, title in _HEADS.items():
        now = _SORTED.get(sorted_by.replace(word, "", 1), "none")
        if now != "none":
            sort_key = _turned(sorted_by)
        else:
            sort_key = f"-{word}" if word in _LARGEST_FIRST else word
        yield SortHead(title, f"{base}?{urlencode(others | {'sort': sort_key})}", now)


def _turned(sorted_by: str) -> str:
    if sorted_by.startswith("-"):
        return sorted_by[1:]
    return f"-{sorted_by}"


def beside_page(
    base: str,
    shown: Sequence[RunResult],
    comparison: Comparison | None,
    facts: Sequence[Mapping[str, str]],
) -> str:
    """Returns the page that compares runs with the first one; no comparison if one is too large.
    `facts`: the facts of each run, by name."""
    contents = [("runs", "The runs"), ("verdicts", "Verdicts")]
    plotted = []
    for each in sections(shown, comparison):
        if each.pictures:
            plotted.append(replace(each, best=(), notes=()))
            contents.append((each.id, each.title))
    tables = list(_tables(comparison, shown[0])) if comparison else []
    if tables:
        contents.append(("numbers", "Number by number"))
    return filled_page(
        "beside",
        base,
        f"{many(len(shown), 'run')} side by side",
        "",
        sections=contents,
        sides=list(_sides(base, shown)),
        names=[each.name for each in shown],
        differ=list(_differ(facts)),
        verdicts=list(verdicts(comparison)),
        compared=beside.remarks(comparison) if comparison else [],
        too_large=too_large(shown),
        plotted=plotted,
        tables=tables,
    )


def said_page(base: str, title: str, sentence: str) -> str:
    """Returns a page with an error message and a link back."""
    return filled_page("said", base, title, "", sentence=sentence)


def filled_page(template: str, base: str, title: str, here: str, **values: object) -> str:
    version = mpigauge.__version__
    return filled(template, base=base, title=title, here=here, version=version, **values)


def _sides(base: str, shown: Sequence[RunResult]) -> Iterator[Mapping[str, str]]:
    names = [each.run.path.name for each in shown]
    for place, each in enumerate(shown):
        order = [names[place], *names[:place], *names[place + 1 :]]
        query = urlencode([("run", name) for name in order])
        facts = each.document.facts
        yield {
            "run": names[place],
            "name": each.name,
            "begun": facts.created.replace("T", " ").removesuffix("Z"),
            "mpi": facts.mpi,
            "host": facts.host,
            "first": f"{base}beside?{query}",
        }


def _differ(facts: Sequence[Mapping[str, str]]) -> Iterator[Sequence[str]]:
    """Yields a row for each fact that differs between the runs that have it."""
    for name in dict.fromkeys(name for each in facts for name in each):
        values = [each.get(name, "") for each in facts]
        if len(set(values) - {""}) > 1:
            yield name, *values


def _tables(comparison: Comparison, first: RunResult) -> Iterator[WordTable]:
    for table in comparison.tables:
        heads, *rows = beside.text_rows(table, comparison.names)
        title = beside.table_title(table, first.run.cards, comparison.varied)
        yield WordTable(title, heads, rows)
