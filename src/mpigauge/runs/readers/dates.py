# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Dates of imported measurements: as programs print them, or as users write them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

_PRINTED = ("%Y-%m-%dT%H:%M:%S", "%a %b %d %H:%M:%S %Y", "%Y %m %d %H:%M:%S")
_WRITTEN = ("%Y-%m-%d", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%SZ")
_FIRST_YEAR = 1990
"""The earliest year of a measurement: MPI is not older."""


def printed_date(texts: Iterable[str]) -> datetime | None:
    """The first valid date among those that a program printed. Programs print local time without a
    zone, so it is taken as UTC."""
    dates = (_parse(text.strip(), _PRINTED) for text in texts)
    return next((date for date in dates if date), None)


def written_date(option: str, text: str, now: datetime) -> datetime:
    """The date in an option, in UTC. UserError: it is not a date, or cannot be one of a
    measurement."""
    date = _parse(text.strip(), _WRITTEN)
    if date is None:
        raise UserError(
            f"{option}: '{text}' is not a date; write it as 2026-11-21 or 2026-11-21T05:00Z, in UTC"
        )
    if not datetime(_FIRST_YEAR, 1, 1, tzinfo=timezone.utc) <= date <= now:
        raise UserError(
            f"{option}: nothing was measured on {text}; it has to be between {_FIRST_YEAR} and now"
        )
    return date


def _parse(text: str, forms: Iterable[str]) -> datetime | None:
    for form in forms:
        try:
            return datetime.strptime(text, form).replace(tzinfo=timezone.utc)
        except ValueError:
            continue
    return None
