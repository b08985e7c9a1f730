# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""nccl-tests, and rccl-tests, which has the same tables: text of all_reduce_perf and the others.

A version, a start or a list of devices begins a test, the line of heads its table. Columns are read
by their heads, of which versions and options have different ones.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.runs.readers.nccl_cards import EACH, name_of_call, name_of_program
from mpigauge.runs.readers.nccl_json import tests_in_json
from mpigauge.runs.readers.nccl_rows import (
    CPU_TIME,
    PLACES,
    SETTINGS,
    TIME,
    WRONG,
    NcclTest,
    Operation,
    average_in,
    has_place,
    library_version,
)
from mpigauge.runs.readers.reading import Reading, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import (
    is_command,
    placement_in_command,
    setting_in,
    settings_in_command,
)
from mpigauge.runs.readers.text import why_no_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.readers.text import Text

_VERSION = re.compile(r"\b([nr]ccl-tests) version (\S+)(?:.*\bnccl-library=(\d+))?")
_LIBRARY = re.compile(r"\b([NR]CCL) version ([\d.]+\S*)")
_START = re.compile(r"\bCollective test starting: (\w+)")
_PROGRAM = re.compile(r"(?<!\w)([a-z]\w*_perf)(?!\w)")
_CONFIG = re.compile(r"^\s*(?:#\s*)?nThread \d+ nGpus \d+ ")
_FACT = re.compile(r"\b(agg iters|iters|graph|unalign): (\d+)")
_DEVICE = re.compile(
    r"^\s*(?:#\s*)?Rank +(\d+)(?: +Group +(\d+))? +Pid +\d+ on +(\S+) +device +\d+ \[([^\]\s]*)\]"
)
_HEAD = re.compile(r"^\s*(?:#\s*)?size +count +type\b")
_BLOCKING = re.compile(r"\bBlocking Enabled\b")
_OUT_OF_BOUNDS = re.compile(r"\bOut of bounds values : ([1-9]\d*)")
_FAILURE = re.compile(r"\bTest (?:NCCL|CUDA|failure)\b.*")
_STAMP_WORDS = 2
_STAMP = "timestamp"


@reader(
    "nccl_tests",
    "nccl-tests (all_reduce_perf …), text and JSON",
    rb'^[ \t]*(?:#[ \t]*)?size[ \t]+count[ \t]+type[ \t]|"alg_bw"[ \t]*:',
)
def read(text: Text) -> Reading:
    log = _Log(text)
    for number, line in text.numbered():
        log.look(number, line)
    of_json, unread = tests_in_json(text)
    return _reading([*log.tests, *of_json], [*log.unread, *unread], log.remarks)


@dataclass
class _Log:
    """The state of the text at a line."""

    text: Text
    test: NcclTest = field(default_factory=NcclTest)
    tests: list[NcclTest] = field(default_factory=list)
    """Tests with a table."""
    heads: tuple[str, ...] = ()
    """The heads of the current table; empty: none."""
    exported: dict[str, str] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def look(self, number: int, line: str) -> None:
        if _HEAD.match(line):
            self._head(number, line)
        elif self.heads and (words := line.split()) and words[0].isdecimal():
            self._row(number, line, words)
        elif match := _OUT_OF_BOUNDS.search(line):
            self.remarks.append(f"nccl-tests reports at line {number}: {match[0]}")
        elif match := _FAILURE.search(line):
            self.remarks.append(f"nccl-tests reports at line {number}: {match[0].strip()}")
        elif setting := setting_in(line):
            self.exported[setting[0]] = setting[1]
        elif _PROGRAM.search(line) or _VERSION.search(line) or _CONFIG.match(line):
            self._facts(line)
        elif match := _DEVICE.match(line):
            rank, group, host, bus = match.groups()
            self._next().devices[int(rank)] = (int(group or 0), f"{host} {bus}")
        elif _BLOCKING.search(line):
            self._next().completion = EACH
        elif match := _LIBRARY.search(line):
            self.test.library = self.test.library or f"{match[1]} {match[2]}"

    def _next(self) -> NcclTest:
        """The test that is described; a test that has its table is over."""
        if self.heads:
            self.heads = ()
            self.test = NcclTest()
        return self.test

    def _facts(self, line: str) -> None:
        """Reads a line above the devices: of a command, a version, a start or a configuration."""
        match = _PROGRAM.search(line)
        if "concluded" in line or not (match or _VERSION.search(line) or _CONFIG.match(line)):
            return
        test = self._next()
        if match:
            test.name = name_of_program(match[1])
        if is_command(line):
            test.surroundings |= settings_in_command(line)
            test.placement = placement_in_command(line)
        if match and not _START.search(line):
            test.average = average_in(line)
        if version := _VERSION.search(line):
            test.program, test.version = version[1], version[2]
            if version[3]:
                test.library = f"{version[1][:4].upper()} {library_version(int(version[3]))}"
        for name, value in _FACT.findall(line):
            if name == "iters":
                test.calls = int(value)
            elif value != SETTINGS[name][1]:
                test.settings[SETTINGS[name][0]] = value

    def _head(self, number: int, line: str) -> None:
        test = self.test
        if not test.name and self.text.benchmark:
            test.name = name_of_call(self.text.benchmark)
        if not test.name:
            why = "the name of the test above this table is missing; --benchmark gives it"
            self.unread.append(Unread(number, line.strip(), why))
            return
        if self.heads and test.tables:  # of a text that has no more than tables
            self.test = test = NcclTest(name=test.name)
        test.given_ranks = self.text.ranks
        test.surroundings = {**self.exported, **test.surroundings}
        self.heads = tuple(line.replace("#wrong", WRONG).lstrip(" \t#").split())
        self.tests.append(test)
        if others := [head for head in _halves(self.heads)[1] if not has_place(head)]:
            what = f"there is no place for these columns of NCCL:{test.name}"
            self.unread.append(Unread(number, ", ".join(others), what))

    # --- rows
    def _row(self, number: int, line: str, words: Sequence[str]) -> None:
        fixed, half = _halves(self.heads)
        if self.heads[-1] == _STAMP and len(words) > len(fixed) + len(half):
            words = words[:-_STAMP_WORDS]
        count = len(words) - len(fixed)
        places = PLACES if count == 2 * len(half) else PLACES[1:]  # a replay is in place only
        if count != len(places) * len(half):
            heads = (*fixed, *half, *half)
            self.unread.append(Unread(number, line.strip(), why_no_row(words, heads)))
            return
        whole = dict(zip(fixed, words, strict=False))
        operation = Operation(
            size=int(whole["size"]),
            count=int(whole["count"]) if whole["count"].isdecimal() else 0,
            type=whole["type"],
            redop=whole.get("redop", ""),
            root=whole.get("root", ""),
        )
        for n, place in enumerate(places):
            start = len(fixed) + n * len(half)
            printed = dict(zip(half, words[start : start + len(half)], strict=True))
            if why := self.test.add(operation, place, printed):
                self.unread.append(Unread(number, line.strip(), why))


def _halves(heads: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The heads before the times, and those of one half: out of place, or in place."""
    starts = [place for place, head in enumerate(heads) if head in (TIME, CPU_TIME)]
    if not starts:
        return tuple(heads), ()
    end = starts[1] if len(starts) > 1 else len(heads)
    return tuple(heads[: starts[0]]), tuple(heads[starts[0] : end])


def _reading(tests: Sequence[NcclTest], unread: Sequence[Unread], remarks: list[str]) -> Reading:
    whole = [test for test in tests if test.tables]
    unknown = sorted({test.card.word for test in whole if not test.ranks})
    if unknown:
        remarks.append(
            f"the text does not name the ranks of {', '.join(unknown)}; --ranks gives their number"
        )
    launches: dict[int, tuple[int, str]] = {}
    tables = []
    counts: Counter[tuple[object, ...]] = Counter()
    for test in whole:
        for key, table in test.tables.items():
            launch = counts[key]
            counts[key] += 1
            tables.append(table.table(launch))
            ranks, time = launches.get(launch, (0, ""))
            launches[launch] = max(ranks, test.ranks * test.groups), time or test.time
    return Reading(
        tables=tuple(tables),
        launches=tuple(
            unknown_launch(launch, world_ranks=ranks, time=time)
            for launch, (ranks, time) in sorted(launches.items())
        ),
        unread=tuple(unread),
        remarks=tuple(dict.fromkeys(remarks)),
        cards=tuple(dict.fromkeys(test.card for test in whole)),
    )
