# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds the page of an address: lists of runs, reports, comparisons, numbers over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from mpigauge.cli.runs.kinds import KINDS, kind_among, kind_of
from mpigauge.cli.runs.reporting import shown_of
from mpigauge.model.errors import UserError
from mpigauge.model.units import dotted, many, with_commas
from mpigauge.model.width import cut_apart
from mpigauge.products.browse.choice import (
    WHERE_TABLES,
    RunFilter,
    fitting,
    lines,
    menus,
    where_query,
)
from mpigauge.products.browse.machines import QUOTED, Quoted, curves, machines
from mpigauge.products.browse.pages import (
    LONGEST_NAME,
    FolderEntry,
    ListView,
    RunEntry,
    Turn,
    beside_page,
    runs_page,
    said_page,
)
from mpigauge.products.browse.series import (
    MOST_RUNS,
    RunSeries,
    facts,
    histories,
    points,
    series,
    started_otherwise,
)
from mpigauge.products.browse.trend import trend
from mpigauge.products.browse.trend_pages import (
    NumberLine,
    small_trend,
    trend_page,
    trends_page,
    verdict,
)
from mpigauge.result.run_result import RunResults
from mpigauge.result.words import number_name

if TYPE_CHECKING:
    from mpigauge.products.browse.access import PageRequest
    from mpigauge.products.browse.runs_folder import RunsFolder
    from mpigauge.products.browse.trend import Trend
    from mpigauge.result.library import Library

MOST_BESIDE = 8
"""The maximum number of runs side by side: more do not fit into one plot."""
_MOST_NAMED = 4
Query = Mapping[str, list[str]]


class Page(NamedTuple):
    status: int
    text: str


class MissingError(Exception):
    """Raised when there is no such page."""


@dataclass(frozen=True)
class Pages:
    folder: RunsFolder
    base: str
    """The common prefix of all addresses: the token between slashes."""

    def page(self, asked: PageRequest) -> Page:
        """Returns the page of a request; errors also give a page."""
        kinds: dict[tuple[str, int], Callable[[PageRequest], Page]] = {
            **{(name, 2): self._of_several_runs for name in KINDS},
            ("", 0): self._runs,
            ("run", 2): self._run,
            ("beside", 1): self._beside,
            ("trends", 1): self._trends,
            ("trend", 2): self._trend,
        }
        kind = (asked.path[0] if asked.path else "", len(asked.path))
        try:
            if kind not in kinds:
                raise MissingError("there is no such page")
            return kinds[kind](asked)
        except MissingError as missing:
            return self._error_page(404, "Not found", missing)
        except UserError as error:
            return self._error_page(400, "This cannot be shown", error)

    def failed(self, asked: PageRequest, error: Exception) -> Page:
        """Returns the page for an internal error, or for a run with unexpected contents; the server
        has printed the traceback."""
        what = "/".join(asked.path) or "the list"
        message = f"{what}: internal error ({type(error).__name__}); see the terminal running"
        return self._error_page(500, "mpigauge has failed", f"{message} `mpigauge browse`")

    def _error_page(self, status: int, title: str, why: object) -> Page:
        return Page(status, said_page(self.base, title, _ended(why)))

    # --- runs ---------------------------------------------------------------------------------
    def _runs(self, asked: PageRequest) -> Page:
        choice = _choice(asked.query)
        chosen = self._chosen(choice)

        def go(library: Library) -> Page:
            names, why = _fitting(library, choice, chosen)
            listed = self._listed(library, "", choice, asked.query, len(names))
            here = names[listed.turn.slice]
            rows = lines(library.con, here, (*_COLUMNS, *QUOTED))
            drawn = curves(library.con, here)
            short = cut_apart([each["run"] for each in rows], LONGEST_NAME)
            entries = [
                _line(each, name, drawn.get(each["run"], ""))
                for each, name in zip(rows, short, strict=True)
            ]
            every = library.con.execute("SELECT count(*) FROM runs").fetchall()[0][0]
            counted = why or f"{len(names)} of {many(every, 'run')}"
            where = self.folder.root.name or str(self.folder.root)
            on = machines(library.con, self.base, names)
            folders = [] if any(vars(choice).values()) else [*self._folders()]
            text = runs_page(self.base, where, listed, entries, counted, on, folders)
            return Page(400 if why else 200, text)

        return self.folder.ask(go)

    def _chosen(self, choice: RunFilter) -> set[str] | UserError | None:
        """Returns the runs selected by the user's expression, or its error; None: there is no
        expression."""
        query = where_query(choice)
        if not query:
            return None
        try:
            return {row[0] for row in self.folder.ask_for_user(query, WHERE_TABLES).rows}
        except UserError as error:
            return error

    def _listed(
        self, library: Library, path: str, choice: RunFilter, query: Query, count: int
    ) -> ListView:
        turn = Turn.of(f"{self.base}{path}", vars(choice), _number(query, "page"), count)
        return ListView(vars(choice), menus(library.con), library.notes, turn)

    def _run(self, asked: PageRequest) -> Page:
        path = self._paths([asked.path[1]])
        return Page(200, kind_of(path[0]).page(path, home=self.base))

    def _folders(self) -> Iterator[FolderEntry]:
        """Yields the folders that hold several runs, such as tunings."""
        for name, kind in KINDS.items():
            for each in kind.folders(self.folder.root):
                yield FolderEntry(name, each.path.name, each.mpi, each.host, each.about)

    def _of_several_runs(self, asked: PageRequest) -> Page:
        kind, name = asked.path
        paths = [each.path for each in KINDS[kind].folders(self.folder.root)]
        for path in paths:
            if path.name == name:
                return Page(200, KINDS[kind].page([str(path)], home=self.base))
        raise MissingError(f"there is no {kind} '{name}' in {self.folder.root}")

    def _beside(self, asked: PageRequest) -> Page:
        names = list(dict.fromkeys(asked.query.get("run", [])))
        if len(names) < 2:
            raise UserError("choose two runs or more to put them side by side")
        if len(names) > MOST_BESIDE:
            raise UserError(f"{len(names)} runs are chosen; {MOST_BESIDE} is the most side by side")
        shown = shown_of(self._paths(names))
        if asked.query.get("by") == ["time"]:
            in_time = sorted(shown, key=lambda each: each.document.facts.created)
            shown = RunResults(in_time)
        order = [each.run.path.name for each in shown]
        facts_of_runs = self.folder.ask(lambda library: facts(library.con, order))
        paths = [str(each.run.path) for each in shown]
        comparison = kind_among(paths).beside(paths) or shown.comparison
        return Page(200, beside_page(self.base, shown, comparison, facts_of_runs))

    def _paths(self, names: Sequence[str]) -> list[str]:
        """Returns the paths of runs. MissingError: a run is not in the folder."""
        paths = self.folder.runs()
        if missing := [name for name in names if name not in paths]:
            raise MissingError(f"there is no run '{missing[0]}' in {self.folder.root}")
        return [str(paths[name]) for name in names]

    # --- numbers over time --------------------------------------------------------------------
    def _trends(self, asked: PageRequest) -> Page:
        choice = _choice(asked.query)
        chosen = self._chosen(choice)

        def go(library: Library) -> Page:
            names, why = _fitting(library, choice, chosen)
            numbers = series(library.con, names, choice.benchmark)
            listed = self._listed(library, "trends", choice, asked.query, len(numbers))
            apart = _apart(numbers)
            here = numbers[listed.turn.slice]
            values = histories(library.con, here, names)
            number_lines = []
            for each in here:
                over_time = trend(values[each.id], each.kind)
                number_lines.append(self._number_line(each, apart[each.id], choice, over_time))
            counted = why or f"{many(len(numbers), 'number')} in {many(len(names), 'run')}"
            return Page(400 if why else 200, trends_page(self.base, listed, number_lines, counted))

        return self.folder.ask(go)

    def _number_line(
        self, of: RunSeries, apart: str, choice: RunFilter, over_time: Trend
    ) -> NumberLine:
        given = {name: value for name, value in vars(choice).items() if value}
        href = f"{self.base}trend/{of.id}"
        if given:
            href += f"?{urlencode(given)}"
        return NumberLine(
            _title(of),
            with_commas(of.asked["transport"], of.asked["settings"], apart),
            of.asked["mpi_name"],
            of.asked["host"],
            of.runs,
            f"{of.first:%Y-%m-%d}",
            f"{of.last:%Y-%m-%d}",
            href,
            small_trend(over_time),
            verdict(over_time),
        )

    def _trend(self, asked: PageRequest) -> Page:
        choice = _choice(asked.query)
        chosen = self._chosen(choice)
        if isinstance(chosen, UserError):
            raise chosen

        def go(library: Library) -> Page:
            names = fitting(library.con, choice, chosen)
            numbers = series(library.con, names)
            by_id = {each.id: each for each in numbers}
            of = by_id.get(asked.path[1])
            if of is None:
                raise MissingError("no two of the runs have this number")
            found_trend = trend(points(library.con, of, names), of.kind)
            where = dotted(*of.asked.values(), _apart(numbers)[of.id])
            unit = "s" if of.is_time else str(of.columns["unit"])
            others = started_otherwise(of, numbers)
            left = " ".join([_left_out(of.runs - len(found_trend.points)), *map(_started, others)])
            return Page(
                200, trend_page(self.base, _title(of), where, found_trend, unit, left.strip())
            )

        return self.folder.ask(go)


_COLUMNS = ("created", "mpi", "host", "benchmarks", "rows", "figures", "status", "command")


def _choice(query: Query) -> RunFilter:
    return RunFilter(**{name: query.get(name, [""])[0] for name in vars(RunFilter())})


def _number(query: Query, name: str) -> int:
    text = query.get(name, ["1"])[0]
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return 1


def _fitting(
    library: Library, choice: RunFilter, chosen: set[str] | UserError | None
) -> tuple[list[str], str]:
    """Returns the runs that match, or none and the error in the request."""
    if isinstance(chosen, UserError):
        return [], _ended(chosen)
    try:
        return fitting(library.con, choice, chosen), ""
    except UserError as error:
        return [], _ended(error)


def _ended(message: object) -> str:
    """Returns a message with a full stop at its end."""
    text = str(message)
    if text.endswith(("?", ".")):
        return text
    return f"{text}."


def _line(row: Mapping[str, Any], short: str, spark: str) -> RunEntry:
    named = row["benchmarks"][:_MOST_NAMED]
    left = len(row["benchmarks"]) - len(named)
    if left:
        named = [*named, f"{left} more"]
    return RunEntry(
        name=row["run"],
        short=short,
        begun=f"{row['created']:%Y-%m-%d %H:%M}" if row["created"] else "",
        mpi=row["mpi"],
        host=row["host"],
        benchmarks=", ".join(named),
        rows=row["rows"] + row["figures"],
        status=row["status"],
        command=row["command"],
        quoted=Quoted.of(row),
        spark=spark,
    )


def _left_out(count: int) -> str:
    if not count:
        return ""
    kept = f"the newest {MOST_RUNS} with a value above 0 and right data are shown"
    return f"{many(count, 'run')} left out: {kept}."


def _started(of: RunSeries) -> str:
    """Returns a sentence about runs that are not shown, as they used another synchronization."""
    return (
        f"From {of.first:%Y-%m-%d} to {of.last:%Y-%m-%d} {many(of.runs, 'run')} brought the ranks "
        f"together in another way (sync: {of.columns['sync']}), which changes the times: they are "
        "a series of their own."
    )


def _title(of: RunSeries) -> str:
    """Returns the title of a series, such as PingPong 8 B on 2 ranks."""
    name = number_name(of.benchmark, of.message_bytes, of.columns)
    if of.is_time:
        return name
    return f"{name} {of.columns['name']}"


def _apart(numbers: Sequence[RunSeries]) -> dict[str, str]:
    """Returns for each series the columns that differ from others of its name on its host."""
    alike: dict[tuple[str, ...], list[RunSeries]] = {}
    for each in numbers:
        alike.setdefault((_title(each), *each.asked.values()), []).append(each)
    found_apart: dict[str, str] = {}
    for of in alike.values():
        for each in of:
            found_apart[each.id] = _differing(each, of)
    return found_apart


def _differing(one: RunSeries, alike: Sequence[RunSeries]) -> str:
    words = []
    for name, value in one.columns.items():
        values = {each.columns.get(name) for each in alike}
        if len(values) > 1:
            words.append(f"{name}: {value}")
    return ", ".join(words)
