# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Moments as stored runs write them: UTC, as 2026-11-21T05:00:00Z."""

from __future__ import annotations

import math
import re
from datetime import datetime, timezone

UTC_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def moment_of(text: object) -> datetime | None:
    """The UTC time in 2026-11-21T05:00:00Z; None if it is something else."""
    text = str(text)
    if not re.fullmatch(_UTC, text, re.ASCII):
        return None
    try:
        return datetime.fromisoformat(text[:-1]).replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def unix_time(text: object) -> float:
    """Seconds since 1970 of such a time; NaN where it is something else."""
    moment = moment_of(text)
    if moment:
        return moment.timestamp()
    return math.nan
