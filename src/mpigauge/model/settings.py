# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options that only some benchmarks heed: one table for command line, check and kernels.

A card says which of them it heeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mpigauge.model import openmp
from mpigauge.model.errors import UserError, did_you_mean, no_such

MOST = 1 << 20
ORDERS = ("compact", "scatter")
OMP = "omp"
"""Stands for what the environment says in the variables of OpenMP."""
NODES = ("local", "remote", "interleaved", "all")
THREAD_LEVEL = "thread-level"
LEVELS = ("single", "funneled", "serialized", "multiple")
"""Thread levels of MPI, the lowest first."""


@dataclass(frozen=True)
class Setting:
    """`read(option, text)` gives the word for the kernels, or says what is wrong with the text."""

    name: str
    metavar: str
    about: str
    read: Callable[[str, str], str]
    choices: tuple[str, ...] = ()
    omp: Callable[[Mapping[str, str]], str] | None = None
    """What the word omp stands for in a list, by the environment; None: it is a word as others."""

    @property
    def option(self) -> str:
        return f"--{self.name}"

    @property
    def key(self) -> str:
        """As the command line hands it on."""
        return self.name.replace("-", "_")


def read_settings(said: Mapping[str, object], environment: Mapping[str, str]) -> dict[str, str]:
    """What was given of them, in the kernels' words, by name."""
    given = {each: str(said[each.key]) for each in SETTINGS if said.get(each.key) not in (None, "")}
    return {each.name: _read(each, text, environment) for each, text in given.items()}


def _read(setting: Setting, text: str, environment: Mapping[str, str]) -> str:
    if setting.omp is None:
        return setting.read(setting.option, text)
    found: dict[str, None] = {}
    for word in text.split(","):
        is_omp = word.strip() == OMP
        read = setting.omp(environment) if is_omp else setting.read(setting.option, word.strip())
        found |= dict.fromkeys(read.split(","))
    return ",".join(found)


def _count(option: str, text: str) -> str:
    digits = text.strip()
    if not digits.isdecimal() or not 1 <= int(digits) <= MOST:
        raise UserError(f"{option}: '{text}' is no number; write one from 1 to {MOST}")
    return digits


def _thread_count(option: str, text: str) -> str:
    """4 or 1..8."""
    first, dots, last = text.partition("..")
    ends = int(_count(option, first)), int(_count(option, last if dots else first))
    if ends[1] < ends[0]:
        raise UserError(f"{option}: '{text}' goes down; write {ends[1]}..{ends[0]}")
    return ",".join(map(str, range(ends[0], ends[1] + 1)))


def _thread_order(option: str, text: str) -> str:
    if text not in ORDERS:
        raise no_such("order", text, (*ORDERS, OMP), option)
    return text


def _thread_levels(option: str, text: str) -> str:
    """Each once, in the order in which they were given."""
    levels = [word.strip().lower() for word in text.split(",")]
    for level in levels:
        if level not in LEVELS:
            raise no_such("thread level", level, LEVELS, option)
    return ",".join(dict.fromkeys(levels))


def _memory_on(option: str, text: str) -> str:
    """Which NUMA nodes a machine has is looked up later."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in NODES and not re.fullmatch(r"\d+(\+\d+)*", word):
            hint = did_you_mean(word, NODES) or (
                f"; write {', '.join(NODES)}, or numbers such as 1 or 0+1"
            )
            raise UserError(f"{option}: '{word}' says no NUMA nodes{hint}")
    return ",".join(dict.fromkeys(words))


def _stride(option: str, text: str) -> str:
    return "0" if text.strip() == "0" else _count(option, text)


def _as_is(_option: str, text: str) -> str:
    return text


def _directories(option: str, text: str) -> str:
    """Whether they are there is looked up before."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UserError(f"{option}: '{text}' has an empty name; write folders with commas")
    return ",".join(names)


def _sides(option: str, text: str) -> str:
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)*", text.strip().lower()):
        raise UserError(f"{option}: '{text}' is no grid; write numbers with x between: 4x2x2")
    return text.strip().lower()


def _microseconds(option: str, text: str) -> str:
    word = text.strip().removesuffix("us").removesuffix("µs").strip()
    if not re.fullmatch(r"\d+(\.\d+)?", word) or not float(word):
        raise UserError(f"{option}: '{text}' is no number of microseconds; write 2 or 0.5us")
    return f"{float(word):g}"


def _switch(_option: str, text: str) -> str:
    return {"on": "1", "off": "0"}[text]


def _one_of(name: str, choices: Iterable[str], about: str) -> Setting:
    return Setting(name, "", about, _as_is, tuple(choices))


SETTINGS = (
    _one_of(
        "layout",
        ("base", "base_vec", "resize", "resize_vec"),
        "Elements of a message: as they are, as one of a vector type, with room between.",
    ),
    Setting("dir", "DIR,…", "Folders for MPI-IO, each measured.  [default: .]", _directories),
    _one_of(
        "io-cache",
        ("keep", "drop", "direct"),
        "The page cache under MPI-IO: as it is, dropped before reading, gone around.",
    ),
    Setting(
        "threads",
        "N",
        "Threads of each rank (MT, NODE); for NODE several, as 1..8, or omp: OMP_NUM_THREADS.  "
        "[default: 1]",
        _thread_count,
        omp=openmp.threads,
    ),
    Setting(
        "thread-order",
        "ORDER,…",
        "Cores of threads (NODE): compact, scatter, or omp, OMP_PLACES.  [default: compact]",
        _thread_order,
        omp=openmp.order,
    ),
    Setting(
        "memory-on",
        "NODES,…",
        "NUMA nodes of the arrays (NODE), each measured: local, remote, interleaved, 1, 0+1, all.",
        _memory_on,
    ),
    Setting(
        THREAD_LEVEL,
        "LEVEL,…",
        "Thread levels at which MPI is initialised, each measured: single, funneled, serialized, "
        "multiple.  [default: the lowest that benchmarks need]",
        _thread_levels,
    ),
    _one_of(
        "thread-memory", ("parallel", "serial", "continuous"), "Who takes threads' buffers (MT)."
    ),
    Setting("stride", "N", "Between the ranks of a pair (MT).  [default: half of them]", _stride),
    Setting(
        "touch-send", "", "Write to what is sent before each call (P2P).", _switch, ("on", "off")
    ),
    Setting(
        "touch-recv", "", "Read what was received after each call (P2P).", _switch, ("on", "off")
    ),
    Setting("topo", "AxB…", "Grid of ranks (HALO).  [default: as even as can be]", _sides),
    Setting("partitions", "N", "Parts of a partitioned message.  [default: 4]", _count),
    Setting(
        "test-every",
        "MICROSECONDS",
        "Computation between calls of MPI_Test.  [default: 2]",
        _microseconds,
    ),
)
