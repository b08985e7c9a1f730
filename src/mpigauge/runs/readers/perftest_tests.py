# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests of perftest: their names, the facts above a table, and their stored columns.

A latency of write and send is half a round trip, as perftest prints it; reads and atomics are whole
calls. The time of a row with a bandwidth is that of all messages in flight (TX depth), and both
directions count in a bidirectional test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import Card
from mpigauge.model.data_memory import DEVICE, HOST, MANAGED, PINNED
from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.reading import TextTable

if TYPE_CHECKING:
    from collections.abc import Mapping

Row = dict[str, float]
"""Stored columns."""
SUITE = "PERFTEST"
SERVICE_LEVEL = "#sl"
RATE_UNITS = {"MB/sec": 2**20, "MiB/sec": 2**20, "Gb/sec": 1e9 / 8}
"""Bytes per second. perftest counts 2^20 bytes as a megabyte, whichever it prints."""
_TITLE = re.compile(
    r"(?P<verb>RDMA[_ ]Write|RDMA[_ ]Read|Send|Atomic)(?P<words>(?:[ _]\w+)*?)"
    r"[ _](?P<kind>BW|Latency)(?P<more>(?:[ _]\w+)*?)[ _]Test"
)
_RATES = tuple(f"BW {word}[{unit}]" for word in ("peak", "average") for unit in RATE_UNITS)
_BIDIRECTIONAL = "bidirectional"
_HALVED = ("write", "send")
_US = 1e-6
_TIMES = {
    "t_min[usec]": "time_best_s",
    "t_max[usec]": "time_worst_s",
    "t_typical[usec]": "time_p50_s",
    "t_avg[usec]": "time_mean_s",
    "99% percentile[usec]": "time_p99_s",
}
_SETTINGS = {
    "numberofqps": ("qps", "1"),
    "connectiontype": ("connection", "RC"),
    "usingsrq": ("srq", "OFF"),
    "dualport": ("dual-port", "OFF"),
    "postlist": ("post-list", "1"),
}
"""Facts about the measured operation: name, and the default value, which is omitted."""
_SURROUNDINGS = {
    "device": ("device", ""),
    "linktype": ("link", ""),
    "mtu": ("mtu", ""),
    "gidindex": ("gid", ""),
    "cqmoderation": ("cq-moderation", ""),
    "outstandreads": ("outstanding-reads", ""),
    "maxinlinedata": ("inline", "0"),
    "pcierelaxorder": ("relaxed-order", "ON"),
    "ibvwrapi": ("ibv_wr", "ON"),
    "rdmacmqps": ("rdma_cm", "OFF"),
}
"""Facts about the method of measurement."""
_DEPTH = "txdepth"
_MEMORY = re.compile(r"use\w+memory")
"""`Use CUDA memory`, and the same for the GPUs of other vendors."""
_OF_TYPE = re.compile(r"\bfor type CUDA_MEM_(\w+)")
_TYPES = {
    "MANAGED": MANAGED, "HOSTALLOC": PINNED, "HOSTREGISTER": PINNED, "MALLOC": HOST
}  # fmt: skip
"""Kinds of memory by the words of --cuda_mem_type; all others are on the GPU."""
_DEEPEST = 9
"""Digits of a number of messages in flight."""


@dataclass
class Test:
    """A test, as far as its text has been read."""

    program: str = ""
    """The name of the program, such as ib_write_bw; empty: unknown."""
    words: tuple[str, ...] = ()
    """The other words of its title."""
    facts: dict[str, str] = field(default_factory=dict)
    memory: str = HOST
    side: str = ""
    """local or remote, if a table is of one of the two alone."""
    service_level: str = ""
    """The service level of its rows, if rows differ in it."""
    addresses: frozenset[str] = frozenset()
    """The addresses of both sides, which both print."""
    heads: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    line: int = 0
    """The line where its table begins."""
    launch: int = 0

    @property
    def is_latency(self) -> bool:
        return self.program.endswith("lat")

    @property
    def is_bidirectional(self) -> bool:
        return _BIDIRECTIONAL in self.words

    @property
    def depth(self) -> int:
        """Messages in flight."""
        depth = self.facts.get(_DEPTH, "")
        if self.is_latency or not depth.isdecimal() or len(depth) > _DEEPEST:
            return 1
        return max(int(depth), 1)

    @property
    def settings(self) -> str:
        """Settings that change the measured operation, besides the name of the test."""
        rows = {"side": self.side, "sl": self.service_level}
        of_rows = (f"{name}={value}" for name, value in rows.items() if value)
        return " ".join([*self.words, *_in_words(self.facts, _SETTINGS), *of_rows])

    @property
    def arm(self) -> str:
        """Settings that change how it is measured."""
        return " ".join(_in_words(self.facts, _SURROUNDINGS))

    @property
    def key(self) -> tuple[object, ...]:
        """A key of the facts that distinguish this test from others."""
        return self.program, self.settings, self.arm, self.depth, self.memory

    def take_title(self, title: str) -> None:
        """Takes the name from a title."""
        match = _TITLE.fullmatch(title.strip())
        if not match:
            return
        verb = re.split("[_ ]", match["verb"])[-1].lower()
        kind = "bw" if match["kind"] == "BW" else "lat"
        self.program = f"ib_{verb}_{kind}"
        words = re.split("[_ ]", f"{match['words']} {match['more']}".lower())
        self.words = tuple(filter(None, words))

    def take_fact(self, name: str, value: str) -> None:
        """Keeps a fact above the table."""
        key = re.sub(r"[^a-z]", "", name.lower())
        if key in _SETTINGS or key in _SURROUNDINGS or key == _DEPTH:
            self.facts[key] = value.removesuffix("[B]")
        elif _MEMORY.fullmatch(key) and value == "ON":
            self.memory = DEVICE

    def row(self, printed: Mapping[str, float]) -> Row | None:
        """The stored columns of a row; None: it has neither a time nor a rate above zero."""
        if self.is_latency:
            return self._latency(printed)
        return self._bandwidth(printed)

    def _latency(self, printed: Mapping[str, float]) -> Row | None:
        unit = _US * (2 if self._is_halved else 1)
        row = {name: printed[head] * unit for head, name in _TIMES.items() if head in printed}
        if "time_p50_s" not in row and "time_mean_s" in row:
            row["time_p50_s"] = row["time_mean_s"]
        if not row.get("time_p50_s", 0) > 0:
            return None
        size = printed["#bytes"]
        return {**_shared(printed), **row, "moved_bytes": size, "messages": 1}

    def _bandwidth(self, printed: Mapping[str, float]) -> Row | None:
        unit = next((unit for unit in RATE_UNITS if f"BW average[{unit}]" in printed), "")
        mean = printed.get(f"BW average[{unit}]", 0.0)
        messages = self.depth * (2 if self.is_bidirectional and not self.side else 1)
        moved = messages * printed["#bytes"]
        if not mean > 0 or not moved:
            return None
        time = moved / (mean * RATE_UNITS[unit])
        peak = printed.get(f"BW peak[{unit}]", 0.0) * RATE_UNITS[unit]
        row = {"time_p50_s": time, "time_mean_s": time, "moved_bytes": moved, "messages": messages}
        if peak > 0:  # with -D it is not measured
            row["time_best_s"] = moved / peak
        if RATE_UNITS[unit] == RATE_UNITS["MB/sec"]:
            row["printed_mb_per_s"] = mean
        if "MsgRate[Mpps]" in printed:
            row["printed_msg_per_s"] = printed["MsgRate[Mpps]"] * 1e6
        return {**_shared(printed), **row}

    @property
    def _is_halved(self) -> bool:
        return self.is_latency and self.program.split("_")[1] in _HALVED

    @property
    def card(self) -> Card:
        return Card(
            suite=SUITE, name=self.program, about=f"perftest's {self.program}", ranks="pair",
            time="half_round_trip" if self._is_halved else "call", unit="transfer", sync="none",
            rooted=False, by_default=False, columns="single" if self.is_latency else "band",
            windowed=not self.is_latency,
        )  # fmt: skip

    def table(self) -> TextTable:
        has_median = "t_typical[usec]" in self.heads
        about: dict[str, Any] = {
            "memory": self.memory,
            "arm": self.arm,
            "settings": self.settings,
            "source": "perftest",
            "statistic": "median over repetitions" if has_median else "mean over repetitions",
        }
        return TextTable.of_rows(
            fixed(self.card, self.launch, Shape(2, self.depth)) | about, self.rows
        )

    def has_place(self, head: str) -> bool:
        """True if a column is stored."""
        if head in ("#bytes", "#iterations", SERVICE_LEVEL):
            return True
        if self.is_latency:
            return head in _TIMES
        return head == "MsgRate[Mpps]" or head in _RATES


def memory_in(line: str) -> str:
    """The memory of a buffer, as the line about its allocation states it."""
    match = _OF_TYPE.search(line)
    return _TYPES.get(match[1], DEVICE) if match else DEVICE


def _shared(printed: Mapping[str, float]) -> Row:
    return {"message_bytes": int(printed["#bytes"]), "calls": int(printed["#iterations"])}


def _in_words(facts: Mapping[str, str], names: Mapping[str, tuple[str, str]]) -> list[str]:
    """These facts as name=value, without default values."""
    parts = []
    for key, (word, usual) in names.items():
        if facts.get(key, usual) != usual:
            parts.append(f"{word}={facts[key]}")
    return parts
