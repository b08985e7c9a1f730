# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The profile in a report of mpiP: its rows, joined by call and site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
_CLOSE = 0.02
"""Numbers of ranks and their sum are printed with three digits."""
Row = Mapping[str, str]


@dataclass
class _Totals:
    """Numbers of a site on all ranks together: of its own table, and of that of the top twenty."""

    own: ReportedTime | None = None
    top: ReportedTime | None = None
    own_messages: ReportedMessages | None = None
    top_messages: ReportedMessages | None = None


@dataclass
class MpipProfile:
    """What is known of the profile at a line of the report."""

    hosts: dict[int, str] = field(default_factory=dict)
    ranks: dict[int, ReportedRank] = field(default_factory=dict)
    frames: dict[int, dict[int, ReportedFrame]] = field(default_factory=dict)
    """By site and level."""
    sites: dict[tuple[str, int], ReportedSite] = field(default_factory=dict)
    totals: dict[tuple[str, int], _Totals] = field(default_factory=dict)

    def take_place(self, line: str) -> None:
        """A line of the table of call sites: number, level, file, line, function, call."""
        found = _PLACE.fullmatch(line)
        if not found:
            return
        site, level = int(found[1]), int(found[2])
        file, *words = found[3].split() or [""]
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
        """A row of a table of numbers, by the heads of its columns."""
        if "Task" in row:
            self._rank(row)
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

    def profile(self, launch: int, said: Mapping[str, str]) -> ReportedProfile | None:
        """The whole of it; None: the report has no times of ranks."""
        if not self.ranks:
            return None
        for key, site in self.sites.items():
            self._settle(site, self.totals[key])
        return ReportedProfile(
            launch=launch,
            source=f"mpiP {said.get('Version', '')}".strip(),
            words=tuple(said.get("Command", "").split()),
            started=said.get("Start time", ""),
            ranks=tuple(self.ranks[rank] for rank in sorted(self.ranks)),
            sites=tuple(site for site in self.sites.values() if site.times),
        )

    def _settle(self, site: ReportedSite, totals: _Totals) -> None:
        """Takes the numbers of all ranks together where those of single ranks are not all there, as
        in a concise report."""
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
    """Whether these are all parts of it, to within what is rounded."""
    return abs(sum(parts) - whole) <= _CLOSE * whole


def _rank_of(row: Row) -> int:
    if row["Rank"] == "*":
        return ALL_RANKS
    return int(row["Rank"])
