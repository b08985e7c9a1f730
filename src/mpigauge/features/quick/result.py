# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The remarks on a run for somebody who sees its machine for the first time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.units import many
from mpigauge.result.stats.order import median
from mpigauge.result.stats.remarks import noise_sentences, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.record import Noise
    from mpigauge.model.row import Row
    from mpigauge.result.document import Document


class MachineErrors(NamedTuple):
    """The variation of numbers on their machine at other times, as shares of them."""

    middle: float
    most: float


def machine_errors(rows: Iterable[Row]) -> MachineErrors | None:
    """None: nobody knows."""
    errors = [row.machine_error for row in rows if row.scatter]
    if not errors:
        return None
    return MachineErrors(median(errors), max(errors))


def remarks(document: Document, noise: Iterable[Noise], run: str) -> list[str]:
    """The remarks: first what is wrong, then what was left out or failed, then all flags in one
    sentence. Noise is reported elsewhere."""
    about_rows = sentences(document.rows)
    elsewhere = {*about_rows, *noise_sentences(noise)}
    lines: list[str] = []
    if any(row.wrong_count for row in document.rows):
        lines += about_rows[:1]
    lines += [each for each in document.sentences if each not in elsewhere]
    flags = Counter(flag for row in document.rows for flag in row.flags)
    if flags:
        counted = ", ".join(f"{count} {flag}" for flag, count in flags.most_common())
        cells = many(len(document.rows), "cell")
        lines.append(f"Of {cells} {counted}; `mpigauge show {run}` says what that means.")
    return lines
