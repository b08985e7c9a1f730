# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""OSU's benchmarks (OMB): latency, bandwidth, collectives, one-sided, with or without -f.

Tests that are like ours become rows of these: osu_latency is PingPong, osu_bw is Uniband with its
window. Bandwidth is of 10^6 bytes; the time of a row with a bandwidth is that of a whole window.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.model.record import Figure
from mpigauge.runs.readers.imb_columns import OF_SLOWEST, OVER_RANKS, Shape, fixed
from mpigauge.runs.readers.known import traffic
from mpigauge.runs.readers.osu_tests import SUITE, card_of_title
from mpigauge.runs.readers.reading import Reading, TextTable, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import arm_of, setting_in
from mpigauge.runs.readers.text import NUMBER

if TYPE_CHECKING:
    from mpigauge.model.cards import Card
    from mpigauge.runs.readers.text import Text

TITLE = re.compile(
    r"^[^#]*# OSU MPI(?P<memory>-\w+)?[ _](?P<title>.+?) [Tt]est(?: v(?P<version>[\d.]+))?\s*$"
)
WINDOW = 64
"""Messages under way, where -W does not say otherwise."""
_PAIRS = re.compile(r"# \[ pairs: (\d+) \] \[ window size: (\d+) \]")
_TYPE = re.compile(r"# Datatype: MPI_(\w+)")
_COMMAND = re.compile(r"\bosu_\w+")
_RANKS = re.compile(r"(?<!\S)(?:-n|-np|--np|--ntasks)[ =](\d+)(?!\S)")
_WINDOW_OPTION = re.compile(r"(?<!\S)(?:-W|--window-size)[ =](\d+)")
_INIT = re.compile(
    rf"nprocs: (\d+), min: ({NUMBER}) (s|ms|us), max: ({NUMBER}) \3, avg: ({NUMBER}) \3"
)
_WORD = re.compile(rf"-?{NUMBER}")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_OF_HEAD = {
    "Latency (us)": ("time_avg_s", 1e-6), "Avg Latency(us)": ("time_avg_s", 1e-6),
    "Avg Lat(us)": ("time_avg_s", 1e-6), "Min Latency(us)": ("time_min_s", 1e-6),
    "Max Latency(us)": ("time_max_s", 1e-6), "P99 Tail Lat(us)": ("time_p99_s", 1e-6),
    "Overall(us)": ("time_avg_s", 1e-6), "Compute(us)": ("time_cpu_s", 1e-6),
    "Pure Comm.(us)": ("time_pure_s", 1e-6), "Overlap(%)": ("overlap_ratio", 0.01),
    "Iterations": ("calls", 1), "Size": ("message_bytes", 1),
}  # fmt: skip
_RATES = ("Bandwidth (MB/s)", "MB/s")
_READ = {*_OF_HEAD, *_RATES, "Messages/s", "Validation"}
_AS_PRINTED = {**dict.fromkeys(_RATES, "printed_mb_per_s"), "Messages/s": "printed_msg_per_s"}


@reader("osu", "OSU's benchmarks (OMB)", rb"# OSU MPI[-_ ]")
def read(text: Text) -> Reading:
    log = _Log(text)
    for number, line in text.numbered():
        log.look(number, line)
    return log.reading()


@dataclass
class _Test:
    """What is known of the test whose rows come now."""

    title: str
    source: str
    memory: str
    ranks: int
    window: int
    heads: tuple[str, ...] = ()
    datatype: str = ""
    pairs: int = 1
    rows: list[dict[str, float]] = field(default_factory=list)
    launch: int = 0
    arm: str = ""

    @property
    def card(self) -> Card:
        return card_of_title(self.title, self.heads)


@dataclass
class _Log:
    text: Text
    tests: list[_Test] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    seen: dict[tuple[Any, ...], int] = field(default_factory=dict)
    ranks: int = 0
    window: int = WINDOW
    in_rows: bool = False

    def look(self, number: int, line: str) -> None:
        test = self.tests[-1] if self.tests else None
        if found := TITLE.search(line):
            self._begin(found)
        elif _COMMAND.search(line):
            self._command(line)
        elif setting := setting_in(line):
            self.settings[setting[0]] = setting[1]
        elif test and "#" in line:
            self._comment(test, number, line)
        elif test and not test.heads and (heads := _heads(line)):
            self._table(test, number, heads)  # osu_ibarrier has no mark before its head
        elif test and test.title == "Init" and (found := _INIT.search(line)):
            self._init(test, found)
        elif test and test.heads and line.strip():
            self._row(test, number, line)

    def reading(self) -> Reading:
        whole = [test for test in self.tests if test.rows]
        unknown = sorted({test.card.word for test in whole if not test.ranks})
        remarks = [
            f"OSU does not print on how many ranks it ran {', '.join(unknown)}; --ranks says it"
        ]
        others = (test.card for test in whole if test.card.suite == SUITE)
        launches: dict[int, int] = {}
        for test in whole:
            launches[test.launch] = max(launches.get(test.launch, 0), test.ranks)
        return Reading(
            tables=tuple(_table(test) for test in whole),
            figures=tuple(self.figures),
            launches=tuple(unknown_launch(n, world_ranks=ranks) for n, ranks in launches.items()),
            unread=tuple(self.unread),
            remarks=tuple(remarks if unknown else ()),
            cards=tuple(dict.fromkeys(others)),
        )

    def _begin(self, found: re.Match[str]) -> None:
        """Every rank prints the title in some versions."""
        last = self.tests[-1] if self.tests else None
        if last and not last.heads and last.title == found["title"]:
            return
        source = f"OSU {found['version'] or ''}".strip()
        memory = (found["memory"] or "-host")[1:].lower()
        ranks = self.text.ranks or self.ranks
        test = _Test(found["title"], source, memory, ranks, self.window, arm=arm_of(self.settings))
        self.tests.append(test)
        self.ranks, self.window, self.in_rows = 0, WINDOW, False

    def _command(self, line: str) -> None:
        """The ranks and the window that the next test is started with."""
        if found := _RANKS.search(line):
            self.ranks = int(found[1])
        if found := _WINDOW_OPTION.search(line):
            self.window = int(found[1])

    def _comment(self, test: _Test, number: int, line: str) -> None:
        if found := _PAIRS.search(line):
            test.pairs, test.window = int(found[1]), int(found[2])
        elif found := _TYPE.search(line):
            test.datatype = found[1].lower()
        elif not test.heads and (heads := _heads(line.partition("#")[2])):
            self._table(test, number, heads)

    def _table(self, test: _Test, number: int, heads: tuple[str, ...]) -> None:
        test.heads = heads
        if others := [head for head in heads if head not in _READ]:
            what = f"there is no place for these columns of {test.card.word}"
            self.unread.append(Unread(number, ", ".join(others), what))
        self.in_rows = True
        _settle(test)
        key = (test.title, test.ranks, test.window, test.pairs, test.arm)
        test.launch = self.seen[key] = self.seen.get(key, -1) + 1

    def _init(self, test: _Test, found: re.Match[str]) -> None:
        ranks, least, unit, most, mean = found.groups()
        for name, value in (("shortest", least), ("longest", most), ("mean", mean)):
            self.figures.append(
                Figure(test.launch, "MPI_Init", f"{name} over ranks", float(value) * _UNITS[unit],
                       "s", "lower", ranks=int(ranks), source=test.source, origin="imported")
            )  # fmt: skip

    def _row(self, test: _Test, number: int, line: str) -> None:
        words = line.split()
        is_row = len(words) == len(test.heads) and all(
            _WORD.fullmatch(word) or head == "Validation"
            for head, word in zip(test.heads, words, strict=True)
        )
        if is_row:
            row = _stored(test, dict(zip(test.heads, words, strict=True)))
            if row["time_p50_s"] > 0:
                test.rows.append(row)
            else:
                self.unread.append(Unread(number, line.strip(), "it has no time above zero"))
        elif self.in_rows and _WORD.fullmatch(words[0]):
            why = f"it has {len(words)} of {len(test.heads)} columns"
            self.unread.append(Unread(number, line.strip(), why))
        else:
            self.in_rows = False


def _statistic(test: _Test, card: Card) -> str:
    """With -f there is the slowest rank, which others print too."""
    if card.ranks in ("pair", "pairs"):
        return "mean over repetitions"
    if "Max Latency(us)" in test.heads:
        return OF_SLOWEST
    return OVER_RANKS


def _heads(text: str) -> tuple[str, ...]:
    """Of a table, if it is one: columns stand two blanks or more apart."""
    found = tuple(re.split(r"\s{2,}|\t+", text.strip()))
    if any(head in _OF_HEAD or head in _RATES for head in found[-1:] + found[:2]):
        return found
    return ()


def _settle(test: _Test) -> None:
    """Pairs have as many ranks as they need, whatever a command line said."""
    if test.card.ranks in ("pair", "pairs"):
        test.ranks = 2 * test.pairs


def _stored(test: _Test, row: dict[str, str]) -> dict[str, float]:
    card = test.card
    unit = 2.0 if card.time == "half_round_trip" else 1.0
    found = {}
    for head, (name, factor) in _OF_HEAD.items():
        if head in row:
            found[name] = float(row[head]) * factor * (unit if name.startswith("time_") else 1)
    size = found.get("message_bytes", -1)
    counted = traffic(card, test.ranks, test.window if card.windowed else 1)
    moved = max(size, 0) * counted.bytes_per_message
    rate = next((float(row[head]) for head in _RATES if head in row), 0.0)
    if rate:
        moved = moved or size
        time = moved / (rate * 1e6)
    else:
        time = found.get("time_max_s", found.get("time_avg_s", 0.0))
    wrong = {"wrong_count": 1} if row.get("Validation", "").startswith("F") else {}
    facts = {"moved_bytes": moved, "messages": counted.messages}
    said = {name: float(row[head]) for head, name in _AS_PRINTED.items() if head in row}
    return {**found, "time_p50_s": time, "time_mean_s": time, **facts, **said, **wrong}


def _table(test: _Test) -> TextTable:
    card = test.card
    shape = Shape(test.ranks, test.window if card.windowed else 1)
    about: dict[str, Any] = {
        "launch": test.launch, "source": test.source, "memory": test.memory, "arm": test.arm,
        "statistic": _statistic(test, card),
        "sync": "barrier" if card.sync == "each" else "none",
        "settings": "size=total" if "educe_scatter" in card.name else "",
    }  # fmt: skip
    if test.datatype:
        about["datatype"] = test.datatype
    if "Validation" in test.heads:
        about["check"] = "exact"
    return TextTable.of_rows(fixed(card, 0, shape) | about, test.rows)
