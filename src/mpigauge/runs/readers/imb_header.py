# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The header of an IMB run, as far as its tables depend on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.data_memory import DEVICE, HOST, OF_IMB_GPU

if TYPE_CHECKING:
    from mpigauge.model.cards import Card
    from mpigauge.runs.readers.imb_heading import HeadingKind, HeadingSection, Heads

SUITES = {
    "MPI-1": "MPI1", "MPI-2": "EXT", "MPI-IO": "IO", "MPI-NBC": "NBC", "MPI-RMA": "RMA",
    "MPI-4": "MPI4", "P2P": "P2P", "MT": "MT", "RMA": "RMA",
}  # fmt: skip
_IO = re.compile(r"MPI-IO")
TOTAL_UNTIL = 2018
"""The last year in which the size of Reduce_scatter was that of the whole vector, not of one rank's
part."""
MEETS_FROM = 2017
"""The first year in which ranks synchronize after each call of a collective, unless -sync is
off."""
WIDE_WINDOW_FROM = (2021, 2)
NARROW, WIDE = 64, 256
"""Messages in flight in Uniband and Biband, before and since that version."""


@dataclass
class Header:
    version: str = ""
    """The version, such as 2021.7; empty: there is no banner."""
    suite: str = ""
    on_gpu: bool = False
    """True for a program whose buffers may be on a GPU."""
    command: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    kinds: dict[tuple[HeadingSection, Heads], HeadingKind] | None = None
    """The kinds of tables by heading, as they become known; shared by runs with the same header."""

    @classmethod
    def of_banner(cls, version: str, part: str, on_gpu: bool = False) -> Header:
        """A header from a banner; that of IO has run into the following line since 2021.2."""
        suite = SUITES.get(part) or ("IO" if _IO.match(part) else part)
        return cls(version, suite, on_gpu)

    @property
    def source(self) -> str:
        if self.is_ours:
            return self.version
        return f"IMB {self.version}".strip()

    @property
    def is_ours(self) -> bool:
        return self.version.startswith("mpigauge")

    @property
    def year(self) -> tuple[int, ...]:
        """The version as numbers, such as (2021, 7); (9999,) for an unknown one: the newest."""
        numbers = tuple(map(int, re.findall(r"\d+", self.version))) if not self.is_ours else ()
        return numbers or (9999,)

    @property
    def alike(self) -> tuple[str, ...]:
        """A key that is equal for runs whose tables differ only in their numbers."""
        facts = (f"{name}={value}" for name, value in self.facts.items() if name != "Date")
        return self.version, self.suite, str(self.on_gpu), *self.command, *facts

    @cached_property
    def may_be_old(self) -> bool:
        return not self.version or self.year < (MEETS_FROM,)

    @property
    def date(self) -> str:
        """The date as 2026-11-21T03:20:56; unchanged in an unknown format."""
        text = self.facts.get("Date", "")
        try:
            return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").isoformat()
        except ValueError:
            return text

    def of_launch(self) -> dict[str, str]:
        """The fields of a launch record."""
        return {
            "time": self.date,
            "mpi_standard": self.facts.get("MPI Version", ""),
            "thread_level": self.option("thread_level"),
        }

    def option(self, name: str, default: str = "") -> str:
        """The word after -name in the command line."""
        words = self.command
        at = next((i for i, word in enumerate(words[:-1]) if word == f"-{name}"), None)
        if at is not None:
            return words[at + 1]
        return default

    def is_on(self, name: str, default: bool) -> bool:
        word = self.option(name).lower()
        if word:
            return word in ("on", "1", "enable", "yes", "true")
        return default

    def mpi_word(self, fact: str, default: str) -> str:
        """The name of an MPI constant in lower case: float for MPI_FLOAT."""
        match = re.match(r"MPI_(\w+)", self.facts.get(fact, ""))
        if match:
            return match[1].lower()
        return default

    def window(self) -> int:
        asked = self.option("window_size")
        if asked.isdigit():
            return int(asked)
        if self.year >= WIDE_WINDOW_FROM:
            return WIDE
        return NARROW

    def sync(self, card: Card) -> str:
        meets = card.sync == "each" and self.is_on("sync", self.year >= (MEETS_FROM,))
        own = self.is_on("imb_barrier", False)
        return ("dissemination" if own else "barrier") if meets else "none"

    def placement(self) -> str:
        grid = self.option("map")
        if grid:
            return f"map:{grid}"
        return ""

    def memory(self) -> str:
        """The memory of the buffers; a word that IMB does not document is unchanged."""
        if self.on_gpu:
            word = self.option("mem_alloc_type", DEVICE)
            return OF_IMB_GPU.get(word.lower(), word)
        return HOST

    def cache(self) -> str:
        if self.option("off_cache") not in ("", "off"):
            return "cold"
        return "hot"

    def sizes_are_total(self, card: Card) -> bool:
        return "educe_scatter" in card.name and self.year[0] <= TOTAL_UNTIL
