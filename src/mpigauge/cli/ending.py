# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How campaigns ended, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count

if TYPE_CHECKING:
    from mpigauge.measure.campaign import Ending
    from mpigauge.runs.store import Run


def verdict(ending: Ending, stored: Run) -> list[str]:
    """What went wrong, worst first."""
    return [
        *wrong_words(stored),
        *failure_words(ending),
        *missing_words(ending, stored),
        *nothing_words(ending, stored),
    ]


def nothing_words(ending: Ending, stored: Run) -> list[str]:
    """Where every cell was left out."""
    if ending.status != "done" or stored.has_numbers or not stored.skips:
        return []
    reasons = list(dict.fromkeys(skip.reason for skip in stored.skips))
    more = f" (and {len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
    return [f"nothing could be measured: {reasons[0]}{more}"]


def wrong_words(stored: Run) -> list[str]:
    from mpigauge.result.stats.remarks import wrong_data

    wrong = [cell for cell in stored.cells if cell.wrong_count]
    if not wrong:
        return []
    count = sum(cell.wrong_count for cell in wrong)
    names = dict.fromkeys(
        f"{cell.benchmark} {byte_count(cell.message_bytes)}".strip() for cell in wrong
    )
    where = ", ".join(list(names)[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return [f"{wrong_data(count)}, in {where}"]


def failure_words(ending: Ending) -> list[str]:
    failures = ending.failures
    if not failures:
        return []
    first = f"launch {failures[0].launch} failed: {failures[0].reason}"
    others = len(failures) - 1
    return [f"{first} (and {others} more)" if others else first]


def missing_words(ending: Ending, stored: Run) -> list[str]:
    if ending.status == "done":
        return []
    word = "interrupted: " if ending.status == "interrupted" else ""
    count = len(stored.complete)
    launches = "1 launch is" if count == 1 else f"{count} launches are"
    kept = f"{word}{launches} complete, what was measured is kept in {stored.path}"
    return [f"{kept}; `mpigauge resume {stored.path}` goes on"]
