# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The result of a run: all that a format may show of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.columns import ABSENT, KEY_COLUMNS
from mpigauge.model.grouping import distinct
from mpigauge.model.record import JOB, Figure
from mpigauge.model.records import GpuState
from mpigauge.model.row_tables import RowTable, row_tables
from mpigauge.result.facts import Facts, facts_of_run
from mpigauge.result.stats.changes import change
from mpigauge.result.stats.figures import FigureRow, figure_rows
from mpigauge.result.stats.headline import Headline, headline, quotable
from mpigauge.result.stats.launches import DEFAULT_MOST, HOPELESS, in_order
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.result.stats.remarks import (
    change_sentence,
    imported_sentences,
    machine_sentences,
    noise_sentences,
    sentences,
    skip_sentences,
)
from mpigauge.runs.store.writer import word_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.model.cards import Cards
    from mpigauge.model.record import Failure, Key, Launch, Rank, Skip
    from mpigauge.model.row import Row
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.node.against import Limits
    from mpigauge.result.pairs import PairMap
    from mpigauge.result.stats.changes import Change
    from mpigauge.result.stats.remarks import Named
    from mpigauge.runs.store import Run


class Remarked(NamedTuple):
    """The part of a row that sentences about a run need, if rows are too many to be made."""

    benchmark: str
    ranks: int
    message_bytes: int
    flags: tuple[str, ...]
    wrong_count: int


@dataclass(frozen=True)
class Document:
    rows: tuple[Row, ...]
    cards: Cards
    facts: Facts = field(default_factory=Facts)
    skips: tuple[Skip, ...] = ()
    headline: Headline | None = None
    sentences: tuple[str, ...] = ()
    """Warnings about the run."""
    notes: tuple[str, ...] = ()
    """The warnings about numbers that are missing or not measured here, which every output has."""
    change: Change | None = None
    """The change of the machine during the run, if there was one."""
    run: str = ""
    """The word for the run in recommended commands; empty: it is not stored."""
    pairs: PairMap | None = None
    """The map of pairs; None: no pairs were measured."""
    figures: tuple[Figure, ...] = ()
    """Numbers that are not times of calls."""
    fresh: Comparison | None = None
    """Fresh data against static, where both were measured."""
    memories: tuple[Comparison, ...] = ()
    """Kinds of memory against each other, if several were measured."""
    compilers: Comparison | None = None
    """Simple loops by several compilers."""
    accounts: Mapping[str, str] = field(default_factory=dict)
    """The version and flags of each of these compilers, by its command line."""
    limits: Limits | None = None
    """The limits of the node; None: unknown."""
    whole: bool = False
    """True if headings show all facts of the run instead of its name only."""
    remarked: tuple[Remarked, ...] = ()
    """The part of a large map's rows that sentences need; empty: the rows themselves have it."""

    @property
    def flagged(self) -> Sequence[Row | Remarked]:
        """All rows, for a legend of their flags."""
        return self.remarked or self.rows

    @cached_property
    def figure_rows(self) -> list[FigureRow]:
        """The figures over launches."""
        return figure_rows(self.figures)

    def tables(self) -> list[RowTable]:
        return row_tables(self.rows, self.cards, self.skips)


def document(
    run: Run,
    precision: float | None = None,
    rows: Sequence[Row] | None = None,
    pairs: PairMap | None = None,
    remarked: Sequence[Remarked] = (),
) -> Document:
    """Makes the document of a stored run. `precision`: None: that of the run; `rows`: those of its
    cells, if already made. `pairs` and `remarked`: of all rows of a map of which the run holds a
    part."""
    if rows is None:
        rows = rows_of_run(run, precision)
    ordered = tuple(_as_planned(run, rows))
    hosts = hosts_of_rows(run, ordered)
    head = replace(headline(ordered, between(hosts)), hosts=hosts)
    skips = _not_measured(run.skips, ordered)
    starts = {launch.launch: launch.time for launch in run.launches}
    changed = change(ordered)
    about, lost = tuple(_about_numbers(run, ordered)), tuple(_losses(run, ordered, skips))
    warnings = _warnings(run, ordered, remarked or ordered, changed, starts)
    called = {each["name"]: each["said"] for each in run.passport.get("compilers") or ()}
    figures = [figure for figure in run.of(Figure) if figure.benchmark != JOB]
    return Document(
        ordered,
        run.cards,
        facts_of_run(run),
        skips,
        None if head.empty else head,
        (*about, *warnings, *lost),
        (*about, *lost),
        changed,
        word_for(run.path),
        pairs or _map(run, ordered),
        tuple(figures),
        _fresh(ordered, starts),
        _memories(ordered, starts),
        *_compilers(ordered, starts, called),
        remarked=tuple(remarked),
    )


def _about_numbers(run: Run, rows: Sequence[Row]) -> Iterator[str]:
    """Yields what imported numbers are, and what was not read."""
    imported = run.header.get("imported") or {}
    yield from imported_sentences(rows)
    for remark in imported.get("remarks") or ():
        yield f"{remark}."
    yield from _unread(imported.get("unread") or ())


def _warnings(
    run: Run,
    rows: Sequence[Row],
    flagged: Sequence[Named],
    changed: Change | None,
    starts: Mapping[int, str],
) -> Iterator[str]:
    """Yields warnings about numbers that are there. `flagged`: all rows of a large map."""
    if changed:
        yield change_sentence(changed, starts)
    yield from sentences(flagged, changed is not None, _stop_reason(run))
    yield from machine_sentences(rows)
    yield from noise_sentences(run.noise)
    if states := run.of(GpuState):
        from mpigauge.result.gpus import gpu_sentences

        yield from gpu_sentences(states)
    if run.between and run.between.remark:
        yield f"{run.between.remark}."


def _losses(run: Run, rows: Sequence[Row], skips: Sequence[Skip]) -> Iterator[str]:
    """Yields what was not measured, or not as planned, and how a replay went."""
    yield from skip_sentences(skips)
    yield from _other_levels(run.launches)
    yield from _replayed(rows, run.plan.get("replay"))
    yield from map(_failure_words, run.failures)
    yield from run.damaged


# What few runs hold is looked at by modules that the others need not wait for.
def _map(run: Run, rows: Sequence[Row]) -> PairMap | None:
    if not any(row.cell.members for row in rows):
        return None
    from mpigauge.result.pairs import stored_map

    return stored_map(run, rows)


def hosts_of_rows(run: Run, rows: Sequence[Row]) -> Mapping[Key, Sequence[str]]:
    """The hosts of the ranks of what a headline may quote; empty: the run is of one host."""
    if len({rank.host for rank in run.ranks}) < 2:
        return {}
    from mpigauge.result.run_view import RunView

    of_headline = quotable(rows)
    view = RunView.of(run, of_headline)
    return {row.key: _hosts_of(view.ranks_of(row)) for row in of_headline}


def between(hosts: Mapping[Key, Sequence[str]]) -> set[Key]:
    """The keys of rows whose ranks are on several hosts."""
    return {key for key, names in hosts.items() if len(names) > 1}


def _hosts_of(ranks: Iterable[Rank]) -> tuple[str, ...]:
    """Returns the hosts of these ranks, each once."""
    return tuple(distinct(ranks, lambda rank: rank.host))


def _replayed(rows: Sequence[Row], replay: Mapping[str, Any] | None) -> list[str]:
    if not replay:
        return []
    from mpigauge.result.replayed import replay_sentences

    return replay_sentences(rows, replay)


def _fresh(rows: Sequence[Row], starts: Mapping[int, str]) -> Comparison | None:
    if not any(row.cell.data == "fresh" for row in rows):
        return None
    from mpigauge.result.compare.fresh import fresh_against_static

    return fresh_against_static(rows, starts)


def _memories(rows: Sequence[Row], starts: Mapping[int, str]) -> tuple[Comparison, ...]:
    if len({row.cell.memory for row in rows}) < 2:
        return ()
    from mpigauge.result.compare.memories import between_memories

    return between_memories(rows, starts)


def _compilers(
    rows: Sequence[Row], starts: Mapping[int, str], called: Mapping[str, str]
) -> tuple[Comparison | None, Mapping[str, str]]:
    if not any("compiler=" in row.cell.settings for row in rows):
        return None, {}
    from mpigauge.result.compare.compilers import accounts, compilers

    return compilers(rows, starts, called), accounts(rows, called)


def rows_of_run(run: Run, precision: float | None = None) -> list[Row]:
    """Returns the rows of all cells. `precision`: None: that of the run's first launch."""
    if precision is None and run.launches:
        precision = run.launches[0].precision
    return rows_of(run.cells, precision, run.between)


def _stop_reason(run: Run) -> str:
    """The reason why launches ended before the most. It follows from the plan of runs that were
    stored without one."""
    stopped = run.status.get("stopped")
    if stopped is not None:
        return str(stopped)
    plan = run.plan
    free = plan.get("seconds", 0) is None and plan.get("launches", 0) is None
    parts = len(plan.get("parts") or ()) or 1
    is_early = run.status.get("status") == "done" and len(run.launches) < DEFAULT_MOST * parts
    return HOPELESS if free and is_early else ""


def _as_planned(run: Run, rows: Iterable[Row]) -> list[Row]:
    """Returns the rows in the order of the plan."""
    sizes: dict[str, Sequence[int]] = {}
    for part in run.plan.get("parts") or ():
        if part["sizes"]:
            sizes |= dict.fromkeys(part["benchmarks"], part["sizes"])
    return in_order(rows, run.plan.get("benchmarks") or (), sizes)


def _not_measured(skips: Iterable[Skip], rows: Iterable[Row]) -> tuple[Skip, ...]:
    """Skipped cells that no launch has measured, each once."""
    measured = {row.key for row in rows}
    left = {(_key_of(skip), skip.reason): skip for skip in skips}
    return tuple(skip for (key, _), skip in left.items() if key not in measured)


def _key_of(skip: Skip) -> Key:
    """Returns the key that the cell would have; kernels do not write all of its columns."""
    full = {**ABSENT, **skip.key}
    return tuple(full.get(name, "") for name in KEY_COLUMNS)


def _unread(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence for all of them; import names each."""
    if not lines:
        return []
    first = lines[0]
    many = "1 line could not be read and is"
    if len(lines) > 1:
        many = f"{len(lines)} lines could not be read and are"
    where = f"the first is line {first.get('line')} of {first.get('file') or 'the text'}"
    return [f"{many} left out; {where}: {first.get('why')}."]


def _other_levels(launches: Iterable[Launch]) -> Iterator[str]:
    """Yields a sentence for each thread level that differs from the requested one."""
    for asked, provided in distinct(launches, lambda of: (of.thread_level_asked, of.thread_level)):
        if asked not in ("", provided):
            yield (
                f"the MPI library was asked for thread level {asked} and provided {provided}, "
                "under which its rows stand."
            )


def _failure_words(failure: Failure) -> str:
    """A negative rank stands for the launch as a whole."""
    if failure.rank < 0:
        return failure.message
    return f"rank {failure.rank}: {failure.message}"
