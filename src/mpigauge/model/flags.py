# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Flags of rows, which mark suspicious numbers, as letters for tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.row import Row

SHARED_GPU = "shared-gpu"
LETTERS = {
    "tainted": "T", "drift": "D", "bimodal": "B", "unconverged": "N", "cold-sensitive": "C",
    "sync": "S", "clock": "K", "detours": "E", "oversubscribed": "O",
    "aggressors": "A",
    SHARED_GPU: "G",
}  # fmt: skip


class Flagged(Protocol):
    @property
    def flags(self) -> tuple[str, ...]: ...


def flags_of(rows: Iterable[Flagged]) -> list[str]:
    """The flags of these rows, each once, those with a letter in the order of their letters."""
    shown = list(dict.fromkeys(flag for row in rows for flag in row.flags))
    return sorted(shown, key=[*LETTERS, *shown].index)


def letters(row: Row) -> str:
    """The flags of a row as letters, wrong data as an exclamation mark."""
    codes = "".join(LETTERS.get(flag, "?") for flag in flags_of([row]))
    if row.wrong_count:
        return f"{codes}!"
    return codes


def legend(rows: Iterable[Flagged]) -> list[str]:
    """The legend of the letters in these rows: letter = flag."""
    return [f"{LETTERS.get(flag, '?')} = {flag}" for flag in flags_of(rows)]
