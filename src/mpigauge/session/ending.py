# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The endings of campaigns, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.measuring.plan import Plan
from mpigauge.model.typed import as_word
from mpigauge.model.units import byte_count
from mpigauge.result.stats.remarks import wrong_data

if TYPE_CHECKING:
    from mpigauge.measuring.campaign import Ending
    from mpigauge.runs.store import Run

MOST_NAMED = 4
"""Cells with wrong data that are named."""


def verdict(ending: Ending, stored: Run) -> list[str]:
    """The descriptions of what went wrong, worst first."""
    return [
        *wrong_words(stored),
        *failure_words(ending, stored),
        *missing_words(ending, stored),
        *nothing_words(ending, stored),
    ]


def nothing_words(ending: Ending, stored: Run) -> list[str]:
    """The reason, if every cell was left out."""
    if ending.status != "done" or stored.has_numbers or not stored.skips:
        return []
    reasons = list(dict.fromkeys(skip.reason for skip in stored.skips))
    words = f"nothing could be measured: {reasons[0]}"
    if len(reasons) > 1:
        words += f" (and {len(reasons) - 1} more reasons)"
    return [words]


def wrong_words(stored: Run) -> list[str]:
    wrong = [cell for cell in stored.cells if cell.wrong_count]
    if not wrong:
        return []
    count = sum(cell.wrong_count for cell in wrong)
    # Cells of a slow launch are stored in the order in which they were measured.
    cells = sorted({(cell.benchmark, cell.message_bytes) for cell in wrong})
    names = [f"{benchmark} {byte_count(size)}".strip() for benchmark, size in cells]
    where = ", ".join(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        where += f" and {len(names) - MOST_NAMED} more"
    return [f"{wrong_data(count)}, in {where}"]


def failure_words(ending: Ending, stored: Run) -> list[str]:
    failures = ending.failures
    if not failures:
        return []
    first = f"{_launch(failures[0].launch, stored)} failed: {failures[0].reason}"
    others = len(failures) - 1
    if others:
        first += f" (and {others} more)"
    return [first]


def _launch(number: int, stored: Run) -> str:
    """The launch, with its setting where settings are varied: launch 3 (A=1)."""
    arm = Plan.from_json(stored.plan).part(number).arm
    return f"launch {number} ({arm})" if arm else f"launch {number}"


def missing_words(ending: Ending, stored: Run) -> list[str]:
    if ending.status == "done":
        return []
    count = len(stored.complete)
    launches = f"{count} launches are"
    if count == 1:
        launches = "1 launch is"
    words = f"{launches} complete, what was measured is kept in {stored.path}"
    if ending.status == "interrupted":
        words = f"interrupted: {words}"
    return [f"{words}; `mpigauge resume {as_word(stored.path)}` goes on"]
