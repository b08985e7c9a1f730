# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The lines that OSU's benchmarks print between the title of a test and its rows."""

from __future__ import annotations

import re
from typing import NamedTuple

from mpigauge.model.data_memory import DEVICE, HOST, MANAGED, of_sides
from mpigauge.runs.readers.osu_rows import is_known_head

_BRACKETS = re.compile(r"\[([^:\[\]]+):([^\[\]]*)\]")
_BUFFERS = re.compile(
    r"# (?:Send Buffer|Rank 0 Memory) on (\w+) ?\(?(\w*)\)?"
    r" and (?:Receive Buffer|Rank 1 Memory) on (\w+) ?\(?(\w*)\)?"
)
_STATEMENT = re.compile(r"^(?:Number of )?([^:=]*\w)\s*[:=]\s*(\S.*)$", re.IGNORECASE)
_FORMULA = re.compile(r"\S \+ \S")
"""`Overall = Coll. Init + Compute + MPI_Test + MPI_Wait` explains a column."""
_MANAGED = {"MD": DEVICE, "MH": HOST}
"""The first place of the pages of managed memory, by the letters of OSU."""
MANAGED_TITLE = "MANAGED"
_VARIED = "varied"


class Pairs(NamedTuple):
    pairs: int
    window: int
    """Messages in flight; 0: the table has a column for each window."""


def pairs_in(line: str) -> Pairs | None:
    """The pairs and the window in a line such as `# [ pairs: 2 ] [ window size: 64 ]`."""
    stated = _bracketed(line)
    pairs, window = stated.get("pairs", ""), stated.get("window size", "")
    if pairs.isdecimal() and (window.isdecimal() or window == _VARIED):
        return Pairs(int(pairs), int(window) if window.isdecimal() else 0)
    return None


class Buffers(NamedTuple):
    memory: str
    pages: str = ""
    """The first place of the pages of managed memory; empty: the memory is of another kind."""


def memory_in_title(interface: str, is_managed: bool) -> str:
    """The memory of the buffers, by the interface to the accelerator in the title of a test."""
    if is_managed or interface == MANAGED_TITLE:
        return MANAGED
    return DEVICE if interface else HOST


def buffers_in(line: str) -> Buffers | None:
    """The buffers in a line such as `# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)`,
    or in that of a one-sided test, about the memory of both ranks."""
    match = _BUFFERS.search(line)
    if not match:
        return None
    memory = of_sides(match[1].lower(), match[3].lower())
    pages = [_MANAGED[letters] for letters in (match[2], match[4]) if letters in _MANAGED]
    return Buffers(memory, of_sides(pages[0], pages[-1]) if pages else "")


def windows_in(line: str) -> tuple[str, ...]:
    """The windows at the head of a table of -V, such as `# 1 2 4`."""
    words = tuple(line.partition("#")[2].split())
    return words if words and all(map(str.isdecimal, words)) else ()


def settings_in(line: str) -> dict[str, str]:
    """The settings NAME: VALUE in a comment; a comment without a value is a setting, too."""
    comment = line.partition("#")[2].strip()
    if brackets := _bracketed(comment):
        return {_word(name).lower(): _word(value) for name, value in brackets.items()}
    if _FORMULA.search(comment) or not re.search(r"\w", comment):
        return {}
    if match := _STATEMENT.match(comment):
        return {_word(match[1]).lower(): _word(match[2])}
    return {"comment": _word(comment)}


def _bracketed(text: str) -> dict[str, str]:
    return {name.strip(): value.strip() for name, value in _BRACKETS.findall(text)}


def _word(text: str) -> str:
    """The text without blanks, which separate settings."""
    return "_".join(text.strip(" .").split())


def columns_in(text: str) -> tuple[str, ...]:
    """The heads of a table, separated by two or more blanks; empty: it is not one."""
    heads = tuple(re.split(r"\s{2,}|\t+", text.strip()))
    if any(map(is_known_head, heads[-1:] + heads[:2])):
        return heads
    return ()
