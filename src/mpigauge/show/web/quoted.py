# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers that people quote: large on the first screen, with their errors and origins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.model.row import Estimate, Row


@dataclass(frozen=True)
class QuotedNumber:
    label: str
    value: str
    error: str
    where: str


def quoted(
    label: str, words: Callable[[float], str], row: Row, of: Estimate, where: str
) -> QuotedNumber:
    """`words`: a value of `of`, which is a number of `row`, with its unit."""
    return QuotedNumber(label, words(of.value), row.error_text(of), where)
