# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The lines that OSU's benchmarks print between the title of a test and its rows."""

from __future__ import annotations

import re
from typing import NamedTuple

from mpigauge.runs.readers.osu_rows import is_known_head

_BRACKETS = re.compile(r"\[([^:\[\]]+):([^\[\]]*)\]")
_BUFFERS = re.compile(
    r"# (?:Send Buffer|Rank 0 Memory) on (\w+) ?\(?(\w*)\)?"
    r" and (?:Receive Buffer|Rank 1 Memory) on (\w+) ?\(?(\w*)\)?"
)
_STATEMENT = re.compile(r"^(?:Number of )?([^:=]*\w)\s*[:=]\s*(\S.*)$", re.IGNORECASE)
_FORMULA = re.compile(r"\S \+ \S")
"""`Overall = Coll. Init + Compute + MPI_Test + MPI_Wait` explains a column."""
_MANAGED = {"MD": "managed-device", "MH": "managed-host"}
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


def memory_in(text: str, is_managed: bool = False) -> str:
    """The memory of the buffers: host, device or managed, as SENDER>RECEIVER if they differ. `text`
    is the line on buffers, or the interface to the accelerator in a title; empty: it is neither."""
    if match := _BUFFERS.search(text):
        sender, receiver = _side(match[1], match[2]), _side(match[3], match[4])
        return sender if sender == receiver else f"{sender}>{receiver}"
    if text.startswith("#") or " " in text:
        return ""
    if is_managed or text == "MANAGED":
        return "managed"
    return "device" if text else "host"


def _side(word: str, letters: str) -> str:
    return _MANAGED.get(letters, word.lower())


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
