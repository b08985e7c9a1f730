# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Messages that are too long for a cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.analyse.causes.collapse import FOR_CACHES
from mpigauge.analyse.falls import cache_past, falls, lost_behind
from mpigauge.analyse.finding import Finding
from mpigauge.analyse.needs import machine, sizes
from mpigauge.analyse.registry import cause
from mpigauge.analyse.words import bandwidth, size
from mpigauge.model.units import byte_count

if TYPE_CHECKING:
    from mpigauge.analyse.seen import Seen

LEAST = 1.15


@cause("cache-capacity", "bandwidth that falls where messages outgrow a cache", sizes, machine)
def look(seen: Seen) -> Iterator[Finding]:
    for fall in falls(seen, LEAST):
        cache = cache_past(seen, fall)
        if cache is None or fall.ratio >= FOR_CACHES:
            continue
        sharers = f"which {len(cache.pus)} CPUs share" if len(cache.pus) > 1 else "one for each CPU"
        yield Finding(
            what=f"{fall.curve.label}: bandwidth falls from {bandwidth(fall.before)} at "
            f"{size(fall.before)} to {bandwidth(fall.after)} at "
            f"{size(fall.after)}",
            likely=f"messages outgrow the L{cache.level} cache: from there on they come from "
            f"farther away",
            evidence=(
                (
                    f"the L{cache.level} cache beside these ranks holds {byte_count(cache.bytes)} "
                    f"({sharers}); a message and its copy of {size(fall.after)} need "
                    f"{byte_count(2 * fall.after.message_bytes)}"
                ),
            ),
            attempts=(
                "`--cache cold` shows what programs see whose data are in no cache anyway",
                "ranks that share a larger cache: `--place l3` or `--place numa`",
                "shorter messages, or the work between them on pieces that fit",
            ),
            cost=seen.cost(lost_behind(fall)),
        )
