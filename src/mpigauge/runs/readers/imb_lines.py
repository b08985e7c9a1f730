# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lines of IMB with a # in them: headers, headings and heads of tables."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mpigauge.runs.readers.imb_columns import HEADS


class ImbLine(NamedTuple):
    what: str
    """The kind of line: heads, comment, or one in the list below."""
    words: tuple[str, ...] = ()


_BANNER = r"#\s+Intel ?\(R\) MPI Benchmark(?:s| Suite) V?([\d.]+(?: Update \d+)?)"
_LINES = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("banner", _BANNER + r",?\s*(?:IMB-)?(MPI-\w+|RMA|P2P|MT) ? ?part( \(GPU\))?"),
        ("banner", r"#\s+(mpigauge \S+), IMB-compatible, (?:IMB-)?(\S+) part"),
        ("banner", _BANNER + "()"),
        ("halo", r"# Benchmarking (\w+) \(processes: (\d+); threads: (\d+); dimensions: (\d+)\)"),
        ("benchmark", r"# Benchmarking (?:Multi-|\(Multi-\))?(\w+)"),
        ("ranks", r"# #processes = (\d+)(?: \(threads: (\d+)\))?"),
        ("groups", r"# \( ?(\d+) groups of (\d+) processes"),
        ("idle", r"# \( ?(\d+) additional process"),
        ("mode", r"#\s+MODE: (NON-AGGREGATE|AGGREGATE)"),
        ("window", r"# window_size = (\d+)"),
        ("invalid", r"# !! Benchmark (\w+) (?:is )?invalid for (\d+) processes"),
        ("command", r"# Calling sequence was:"),
        ("fact", r"# (Date|MPI Version|MPI_Datatype(?: for reductions)?|MPI_Op) *: *(.*)"),
        ("other", r"# (?:Minimum|Maximum|Message|IO|List of|Machine|System|Release)"),
    )
)


@lru_cache(maxsize=4096)
def parse_line(line: bytes) -> ImbLine:
    """The kind and the words of a line; cached, since the same few lines occur again and again."""
    text = line.decode("utf-8", "replace")
    words = tuple(word for word in text.split() if word in HEADS)
    if "#repetitions" in words:
        return ImbLine("heads", words)
    for what, pattern in _LINES:
        if match := pattern.search(text):
            return ImbLine(what, tuple((word or "").rstrip() for word in match.groups()))
    return ImbLine("comment", (text.partition("#")[2].strip(),))
