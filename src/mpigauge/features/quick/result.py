# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What somebody has to know of a run who sees its machine for the first time."""

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
    """How far numbers hold on their machine at other times, as shares of them."""

    middle: float
    most: float


def machine_errors(rows: Iterable[Row]) -> MachineErrors | None:
    """None: nobody knows."""
    errors = [row.machine_error for row in rows if row.scatter]
    if not errors:
        return None
    return MachineErrors(median(errors), max(errors))


def remarks(found: Document, noise: Iterable[Noise], run: str) -> list[str]:
    """What is wrong first, then what was left out or failed, then all flags in one sentence. What
    others took is in another."""
    about_rows = sentences(found.rows)
    elsewhere = {*about_rows, *noise_sentences(noise)}
    said: list[str] = []
    if any(row.wrong_count for row in found.rows):
        said += about_rows[:1]
    said += [each for each in found.sentences if each not in elsewhere]
    flags = Counter(flag for row in found.rows for flag in row.flags)
    if flags:
        counted = ", ".join(f"{count} {flag}" for flag, count in flags.most_common())
        cells = many(len(found.rows), "cell")
        said.append(f"Of {cells} {counted}; `mpigauge show {run}` says what that means.")
    return said
