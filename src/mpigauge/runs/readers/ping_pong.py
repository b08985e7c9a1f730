# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program ping_pong: one-way times next to a line fitted to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.reading import Reading, TextTable, Unread, unknown_launch
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.settings_lines import (
    arm_of,
    is_command,
    placement_in_command,
    setting_in,
    settings_in_command,
)
from mpigauge.runs.readers.text import why_no_row

if TYPE_CHECKING:
    from mpigauge.runs.readers.text import Text

_HEAD = re.compile(r"^\s*length\(bytes\)\s+time\(usec\)\s+time\(usec\)")
_HEADS = ("length(bytes)", "time(usec)", "time(usec)")
_ROW = re.compile(r"^\s*(\d+)\.\s+(\d+\.\d+)\s+(\d+\.\d+)\s*$")
_DAMAGED = re.compile(r"^\s*\d")


@reader(
    "ping_pong", "the program ping_pong, with its fitted line", rb"^[ \t]*length\(bytes\)[ \t]+time"
)
def read(text: Text) -> Reading:
    """Reads the output. Each table is a launch; cores and settings are from the command before
    it."""
    settings: dict[str, str] = {}
    tables: list[tuple[dict[str, Any], list[dict[str, float]]]] = []
    unread: list[Unread] = []
    of_command: dict[str, str] = {}
    placement, in_rows = "", False
    for number, line in text.numbered():
        if setting := setting_in(line):
            settings[setting[0]] = setting[1]
        elif is_command(line):
            of_command, placement = settings_in_command(line), placement_in_command(line)
        elif _HEAD.match(line):
            arm = arm_of(settings | of_command)
            about = {"launch": len(tables), "placement": placement, "arm": arm}
            tables.append((about, []))
            in_rows = True
        elif in_rows and (match := _ROW.match(line)):
            tables[-1][1].append(_row(int(match[1]), float(match[2]) * 1e-6))
        elif in_rows and _DAMAGED.match(line):
            unread.append(Unread(number, line.strip(), why_no_row(line.split(), _HEADS)))
        elif line.strip():
            in_rows = False
    return Reading(
        tables=tuple(TextTable.of_rows(_shared() | about, rows) for about, rows in tables),
        launches=tuple(unknown_launch(launch, world_ranks=2) for launch in range(len(tables))),
        unread=tuple(unread),
    )


def _shared() -> dict[str, Any]:
    card = known_cards().find("MORE:ping_pong")
    facts = {"source": "ping_pong", "statistic": "mean over repetitions"}
    return fixed(card, 0, Shape(2)) | facts


def _row(size: int, one_way_s: float) -> dict[str, float]:
    both = 2 * one_way_s
    return {"message_bytes": size, "time_p50_s": both, "time_mean_s": both, "moved_bytes": size,
            "messages": 1}  # fmt: skip
