# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts the columns that OSU's benchmarks print to those that are stored.

Bandwidth is in 10^6 bytes; the time of a row with a bandwidth is that of a whole window. A
percentile of the bandwidth is one of the time from the other end: 90 % of the calls reach at least
the bandwidth that 10 % do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.record import Figure
from mpigauge.model.units import byte_count, with_commas
from mpigauge.runs.readers.imb_columns import OF_SLOWEST, OVER_RANKS, Shape, fixed
from mpigauge.runs.readers.known import traffic
from mpigauge.runs.readers.nccl_cards import EACH
from mpigauge.runs.readers.osu_tests import card_of_title, nccl_card_of_title
from mpigauge.runs.readers.reading import TextTable
from mpigauge.runs.readers.settings_lines import arm_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.model.cards import Card

WINDOW = 64
"""Messages in flight, unless -W states another number."""
_OF_HEAD = {
    "Latency (us)": ("time_avg_s", 1e-6), "Avg Latency(us)": ("time_avg_s", 1e-6),
    "Avg Lat(us)": ("time_avg_s", 1e-6), "Min Latency(us)": ("time_min_s", 1e-6),
    "Max Latency(us)": ("time_max_s", 1e-6), "Overall(us)": ("time_avg_s", 1e-6),
    "Compute(us)": ("time_cpu_s", 1e-6), "Pure Comm.(us)": ("time_pure_s", 1e-6),
    "Overlap(%)": ("overlap_ratio", 0.01), "Iterations": ("calls", 1),
    "Size": ("message_bytes", 1),
}  # fmt: skip
RATES = ("Bandwidth (MB/s)", "MB/s")
SLOWEST, VALIDATION, TRANSMITTED = "Max Latency(us)", "Validation", "Transmit Size"
TEXTS = (VALIDATION,)
"""The columns that hold words."""
_READ = {*_OF_HEAD, *RATES, "Messages/s", VALIDATION, TRANSMITTED}
_AS_PRINTED = {**dict.fromkeys(RATES, "printed_mb_per_s"), "Messages/s": "printed_msg_per_s"}
_PERCENTILE = re.compile(r"P(\d{1,3}) Tail (Lat\(us\)|BW\(MB/s\))")
_STORED_PERCENTILES = {
    0: "time_best_s", 1: "time_p01_s", 50: "time_p50_s", 99: "time_p99_s", 100: "time_worst_s"
}  # fmt: skip
"""Columns by the percentile of the time. Others are figures."""
_MEDIAN = "median over repetitions"


class Percentile(NamedTuple):
    percent: int
    """The percentile as it is printed."""
    is_rate: bool

    @property
    def column(self) -> str:
        """The stored column of the time; empty: it does not exist."""
        return _STORED_PERCENTILES.get(100 - self.percent if self.is_rate else self.percent, "")


@dataclass(frozen=True)
class OsuTest:
    """The facts in the text about the test of the following rows."""

    title: str
    source: str
    memory: str
    ranks: int
    window: int
    arm: str
    placement: str
    library: str = "MPI"
    """MPI, NCCL or RCCL."""
    heads: tuple[str, ...] = ()
    datatype: str = ""
    pairs: int = 1
    settings: tuple[tuple[str, str], ...] = ()
    profile: str = ""
    """The content of a table with a column for each window: MB/s or Messages/s."""
    windows: tuple[str, ...] = ()

    @property
    def card(self) -> Card:
        if self.is_nccl:
            return nccl_card_of_title(self.title)
        return card_of_title(self.title, self.heads)

    @property
    def is_nccl(self) -> bool:
        return self.library != "MPI"

    @property
    def columns(self) -> tuple[str, ...]:
        """The heads of a row."""
        return ("Size", *self.windows) if self.windows else self.heads

    @property
    def settled(self) -> OsuTest:
        """The test with as many ranks as its pairs need, whatever the command line stated."""
        if self.card.ranks in ("pair", "pairs"):
            return replace(self, ranks=2 * self.pairs)
        return self

    @property
    def has_median(self) -> bool:
        """True if the time of a row is the median of all calls. With -f it is that of the slowest
        rank."""
        percentiles = [percentile_in(head) for head in self.heads]
        medians = [each for each in percentiles if each and each.column == "time_p50_s"]
        return bool(medians) and SLOWEST not in self.heads

    @property
    def key(self) -> OsuTest:
        """A key that is equal for tests whose rows have the same key; their tables are launches."""
        return replace(self, title=self.card.word, heads=(), pairs=1, profile="", windows=())

    def with_settings(self, settings: Mapping[str, str]) -> OsuTest:
        return replace(self, settings=tuple((dict(self.settings) | dict(settings)).items()))


@dataclass
class OsuTable:
    test: OsuTest
    launch: int
    rows: list[dict[str, float]] = field(default_factory=list)


def percentile_in(head: str) -> Percentile | None:
    match = _PERCENTILE.fullmatch(head)
    if match and int(match[1]) <= 100:
        return Percentile(int(match[1]), match[2].startswith("BW"))
    return None


def is_known_head(head: str) -> bool:
    return head in _OF_HEAD or head in RATES or percentile_in(head) is not None


def has_no_place(head: str) -> bool:
    return head not in _READ and percentile_in(head) is None


def stored_row(test: OsuTest, words: Mapping[str, str]) -> dict[str, float]:
    """The stored columns of a row, given by its heads."""
    card = test.card
    counted = traffic(card, test.ranks, _window_of(test))
    unit = _unit_of(card)
    row: dict[str, float] = {}
    for head, (name, factor) in _OF_HEAD.items():
        if head in words:
            row[name] = float(words[head]) * factor * (unit if name.startswith("time_") else 1)
    size = row.get("message_bytes", -1)
    moved = max(float(words.get(TRANSMITTED, size)), 0) * counted.bytes_per_message
    rate = next((float(words[head]) for head in RATES if head in words), 0.0)
    if rate:
        moved = moved or size
        time = moved / (rate * 1e6)
    else:
        time = row.get("time_max_s", row.get("time_avg_s", 0.0))
    row |= {"time_p50_s": time, "time_mean_s": time}
    row |= {"moved_bytes": moved, "messages": counted.messages}
    row |= {name: float(words[head]) for head, name in _AS_PRINTED.items() if head in words}
    if VALIDATION in words:
        row["wrong_count"] = int(words[VALIDATION].startswith("F"))
    return row | _stored_percentiles(test, words, moved) if time > 0 else row


def _stored_percentiles(test: OsuTest, words: Mapping[str, str], moved: float) -> dict[str, float]:
    times = {}
    for percentile, value in _percentiles(words):
        if _has_column(test, percentile) and value > 0:
            time = (
                moved / (value * 1e6) if percentile.is_rate else value * 1e-6 * _unit_of(test.card)
            )
            times[percentile.column] = time
    return times


def _percentiles(words: Mapping[str, str]) -> Iterator[tuple[Percentile, float]]:
    for head, word in words.items():
        if percentile := percentile_in(head):
            yield percentile, float(word)


def _has_column(test: OsuTest, percentile: Percentile) -> bool:
    if percentile.column == "time_p50_s":
        return test.has_median
    return bool(percentile.column)


def percentile_figures(table: OsuTable, words: Mapping[str, str]) -> Iterator[Figure]:
    """Figures for the percentiles of a row that have no column."""
    test = table.test
    size = byte_count(int(float(words.get("Size", -1))))
    of_window = f"{test.window} in flight" if test.card.windowed else ""
    of_memory = "" if test.memory == "host" else test.memory
    for percentile, value in _percentiles(words):
        if not _has_column(test, percentile):
            what = "bandwidth" if percentile.is_rate else "time"
            name = f"P{percentile.percent} of the {what}"
            yield Figure(
                launch=table.launch,
                benchmark=test.card.word,
                name=with_commas(name, size, test.datatype, of_window, of_memory, _settings(test)),
                value=value * (1 if percentile.is_rate else 1e-6),
                unit="MB/s" if percentile.is_rate else "s",
                better="higher" if percentile.is_rate else "lower",
                ranks=test.ranks,
                arm=test.arm,
                placement=test.placement,
                source=test.source,
                origin="imported",
            )


def text_table(table: OsuTable) -> TextTable:
    test = table.test
    card = test.card
    about: dict[str, Any] = {
        "launch": table.launch,
        "source": test.source,
        "memory": test.memory,
        "arm": test.arm,
        "placement": test.placement,
        "statistic": _statistic(test, card),
        "sync": "barrier" if card.sync == "each" else "none",
        "settings": _settings(test),
        "completion": EACH if test.is_nccl else "",
    }
    if test.datatype:
        about["datatype"] = test.datatype
    if VALIDATION in test.heads:
        about["check"] = "exact"
    shape = Shape(test.ranks, _window_of(test))
    return TextTable.of_rows(fixed(card, 0, shape) | about, table.rows)


def _window_of(test: OsuTest) -> int:
    return test.window if test.card.windowed else 1


def _unit_of(card: Card) -> float:
    """The number of printed times in a stored one."""
    return 2.0 if card.time == "half_round_trip" else 1.0


def _settings(test: OsuTest) -> str:
    settings = dict(test.settings)
    if "reducescatter" in test.card.name.replace("_", "").lower():
        settings["size"] = "total"
    if TRANSMITTED in test.heads:
        settings["layout"] = "derived"
    return arm_of(settings)


def _statistic(test: OsuTest, card: Card) -> str:
    """The statistic of a table: -f adds the slowest rank, which other programs also print."""
    if card.ranks in ("pair", "pairs"):
        return _MEDIAN if test.has_median else "mean over repetitions"
    if test.has_median:
        return f"{_MEDIAN}, mean over ranks"
    if SLOWEST in test.heads:
        return OF_SLOWEST
    return OVER_RANKS
