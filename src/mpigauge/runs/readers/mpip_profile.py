# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The profile in a report of mpiP: its rows, joined by call and site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mpigauge.runs.readers.reported import (
    ALL_RANKS,
    ReportedFrame,
    ReportedMessages,
    ReportedProfile,
    ReportedRank,
    ReportedSite,
    ReportedTime,
    call_name,
    whole,
)

_MILLI = 1e-3
_PLACE = re.compile(r"\s*(\d{1,9}) +(\d{1,4}) (.*)")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}")
_UNKNOWN = "[unknown]"
_LINE_DIGITS = 9
_WITH_RANKS = 4
"""The number of values in a row of rank times that names the ranks."""
_MOST_RANKS = 1 << 16
"""The most ranks of a concise report; one with more is only kept as figures."""
CONCISE = (
    "The report has times of ranks only as their most, mean and least; ranks between are taken for "
    "alike."
)
_CLOSE = 0.02
"""The relative rounding error of numbers of ranks and their sum, which have three digits."""
Row = Mapping[str, str]


@dataclass
class _Totals:
    """Totals of a site over all ranks: from its own table, and from that of the top twenty."""

    own: ReportedTime | None = None
    top: ReportedTime | None = None
    own_messages: ReportedMessages | None = None
    top_messages: ReportedMessages | None = None


@dataclass
class MpipProfile:
    """The profile, as far as the report has been read."""

    hosts: dict[int, str] = field(default_factory=dict)
    ranks: dict[int, ReportedRank] = field(default_factory=dict)
    frames: dict[int, dict[int, ReportedFrame]] = field(default_factory=dict)
    """Frames by site and level."""
    sites: dict[tuple[str, int], ReportedSite] = field(default_factory=dict)
    totals: dict[tuple[str, int], _Totals] = field(default_factory=dict)
    task_times: dict[str, list[float]] = field(default_factory=dict)
    """Times in a concise report: Max, Mean and Min of ranks, and their sum (Aggregate)."""
    most_tasks: int = 0
    """Ranks that a concise report counts in a call site."""

    def take_place(self, line: str) -> None:
        """Reads a line of the table of call sites: number, level, file, line, function, call."""
        match = _PLACE.fullmatch(line)
        if not match:
            return
        site, level = int(match[1]), int(match[2])
        file, *words = match[3].split() or [""]
        line_number = 0
        if words and words[0].isdecimal() and len(words[0]) <= _LINE_DIGITS:
            line_number = int(words.pop(0))
        function = " ".join(words if level else words[:-1])
        frame = ReportedFrame(
            function="" if function == _UNKNOWN else function,
            source_file="" if _ADDRESS.fullmatch(file) else file,
            line=line_number,
            address=int(file, 16) if _ADDRESS.fullmatch(file) else 0,
        )
        self.frames.setdefault(site, {})[level] = frame

    def take_row(self, row: Row, is_file: bool) -> None:
        """Reads a row of a table of numbers, by the heads of its columns."""
        if "Task" in row:
            self._rank(row)
        elif "Tasks" in row:
            self._concise(row)
        elif "Rank" in row and "Sum" in row:
            self._messages(row, is_file)
        elif "Rank" in row:
            self._times(row)
        elif "Total" in row:
            self._all_messages(row, is_file)
        elif "Time" in row:
            self._all_times(row)

    def _rank(self, row: Row) -> None:
        if row["Task"] != "*":
            rank = int(row["Task"])
            run_s, mpi_s = float(row["AppTime"]), float(row["MPITime"])
            self.ranks[rank] = ReportedRank(rank, self.hosts.get(rank, ""), run_s, mpi_s)

    def _site(self, row: Row) -> tuple[ReportedSite, _Totals]:
        word = row.get("Site", "")
        number = int(word) if word.isdecimal() and len(word) <= _LINE_DIGITS else 0
        key = (call_name(row.get("Call") or row.get("Name", "")), number)
        return self.sites.setdefault(key, ReportedSite(*key)), self.totals.setdefault(
            key, _Totals()
        )

    def _times(self, row: Row) -> None:
        site, totals = self._site(row)
        calls = whole(float(row["Count"]))
        time = ReportedTime(
            rank=_rank_of(row),
            calls=calls,
            seconds=calls * float(row["Mean"]) * _MILLI,
            least_s=float(row["Min"]) * _MILLI,
            most_s=float(row["Max"]) * _MILLI,
        )
        if time.rank == ALL_RANKS:
            totals.own = time
        else:
            site.times.append(time)

    def _concise(self, row: Row) -> None:
        """Adds times of ranks as maximum, mean and minimum."""
        _, totals = self._site(row)
        tasks = whole(float(row["Tasks"]))
        self.most_tasks = max(self.most_tasks, tasks)
        seconds = tasks * float(row["Mean"]) * _MILLI
        totals.top = totals.top or ReportedTime(ALL_RANKS, None, seconds)

    def take_task_times(self, kind: str, numbers: list[float]) -> None:
        """Reads a row of rank times: application, MPI, and the ranks with these times."""
        self.task_times[kind] = numbers

    def _concise_ranks(self) -> Iterator[ReportedRank]:
        """The ranks of a concise report: those with maximum and minimum as it names them, and all
        others equal, so that the sums are right."""
        count = max(len(self.hosts), self.most_tasks)
        if count > _MOST_RANKS:
            return
        run_s, mpi_s = self._spread(0, count), self._spread(1, count)
        for rank in range(count):
            yield ReportedRank(rank, self.hosts.get(rank, ""), run_s[rank], mpi_s[rank])

    def _spread(self, column: int, count: int) -> list[float]:
        """The application or MPI time of each rank."""
        extremes = {}
        for kind in ("Min", "Max"):
            numbers = self.task_times.get(kind, [])
            if len(numbers) == _WITH_RANKS and numbers[2 + column] < count:
                extremes[int(numbers[2 + column])] = numbers[column]
        left = self.task_times["Mean"][column] * count - sum(extremes.values())
        other = max(left, 0.0) / max(count - len(extremes), 1)
        return [extremes.get(rank, other) for rank in range(count)]

    def _all_times(self, row: Row) -> None:
        _, totals = self._site(row)
        calls = whole(float(row["Count"])) if "Count" in row else None
        totals.top = ReportedTime(ALL_RANKS, calls, float(row["Time"]) * _MILLI)

    def _messages(self, row: Row, is_file: bool) -> None:
        site, totals = self._site(row)
        messages = ReportedMessages(
            rank=_rank_of(row),
            count=whole(float(row["Count"])),
            bytes=whole(float(row["Sum"])),
            least=whole(float(row["Min"])),
            most=whole(float(row["Max"])),
        )
        site.is_file |= is_file
        if messages.rank == ALL_RANKS:
            totals.own_messages = messages
        else:
            site.messages.append(messages)

    def _all_messages(self, row: Row, is_file: bool) -> None:
        site, totals = self._site(row)
        mean = whole(float(row["Avrg"]))
        site.is_file |= is_file
        totals.top_messages = ReportedMessages(
            ALL_RANKS,
            whole(float(row["Count"])),
            whole(float(row["Total"])),
            mean,
            mean,
            is_mean=True,
        )

    def profile(self, launch: int, facts: Mapping[str, str]) -> ReportedProfile | None:
        """The whole profile; None: the report has no times of ranks."""
        remarks: tuple[str, ...] = ()
        if not self.ranks and "Mean" in self.task_times:
            self.ranks = {rank.rank: rank for rank in self._concise_ranks()}
            remarks = (CONCISE,)
        if not self.ranks:
            return None
        for key, site in self.sites.items():
            self._settle(site, self.totals[key])
        return ReportedProfile(
            launch=launch,
            source=f"mpiP {facts.get('Version', '')}".strip(),
            words=tuple(facts.get("Command", "").split()),
            started=facts.get("Start time", ""),
            ranks=tuple(self.ranks[rank] for rank in sorted(self.ranks)),
            sites=tuple(site for site in self.sites.values() if site.times),
            remarks=remarks,
        )

    def _settle(self, site: ReportedSite, totals: _Totals) -> None:
        """Uses the totals over all ranks if numbers of single ranks are incomplete, as in a concise
        report."""
        levels = self.frames.get(site.number, {})
        site.frames = tuple(levels[level] for level in sorted(levels))
        messages = totals.own_messages or totals.top_messages
        if messages and not _is_sum(messages.bytes, (each.bytes for each in site.messages)):
            site.messages = [messages]
        time = totals.own or totals.top
        if time and not _is_sum(time.seconds, (each.seconds for each in site.times)):
            if time.calls is None and messages:
                time = replace(time, calls=messages.count)
            site.times = [time]


def _is_sum(whole: float, parts: Iterable[float]) -> bool:
    """True if the parts add up to the whole, to within rounding."""
    return abs(sum(parts) - whole) <= _CLOSE * whole


def _rank_of(row: Row) -> int:
    if row["Rank"] == "*":
        return ALL_RANKS
    return int(row["Rank"])
