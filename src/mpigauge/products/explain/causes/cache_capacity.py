# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Messages that are too long for a cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count
from mpigauge.products.explain.causes.collapse import FOR_CACHES
from mpigauge.products.explain.falls import Fall, cache_past, falls, in_words, lost_behind, together
from mpigauge.products.explain.needs import REPEATED, machine, sizes
from mpigauge.products.explain.places import possible
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.words import size

if TYPE_CHECKING:
    from mpigauge.model.topology import Cache
    from mpigauge.result.run_view import RunView

LEAST = 1.15


@cause(
    "cache-capacity",
    "bandwidth that falls where messages outgrow a cache",
    sizes,
    machine,
    of=MOVING | {"local"},
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    shallow = [fall for fall in falls(view, LEAST) if fall.ratio < FOR_CACHES]
    for group in together(fall for fall in shallow if cache_past(view, fall)):
        yield _finding(view, group)


def _finding(view: RunView, group: Sequence[Fall]) -> Finding:
    after, cache = group[0].after, cache_past(view, group[0])
    assert cache is not None  # they were chosen so
    sharers = f"which {len(cache.pus)} CPUs share" if len(cache.pus) > 1 else "one for each CPU"
    need = byte_count(2 * after.message_bytes)
    return Finding(
        what=in_words(group),
        likely=f"messages outgrow the L{cache.level} cache: from there on they come from farther "
        "away",
        evidence=(
            (
                f"the L{cache.level} cache beside these ranks holds {byte_count(cache.bytes)} "
                f"({sharers}); a message and its copy of {size(after)} need {need}"
            ),
        ),
        attempts=(
            "`--cache cold` shows what programs see whose data are in no cache anyway",
            *_larger(view, group[0], cache),
            "shorter messages, or the work between them on pieces that fit",
        ),
        rows=tuple(row for fall in group for row in (fall.before, fall.after)),
        cost=view.cost(lost_behind(group)),
    )


def _larger(view: RunView, fall: Fall, cache: Cache) -> list[str]:
    """Two ranks can be put on a larger cache, where the machine has such cores and they were not
    there already."""
    row = fall.before
    if row.ranks != 2:
        return []
    larger = {each.level for each in view.caches if each.bytes > cache.bytes}
    for level in (2, 3, 4):
        if level in larger and not view.share(row, level) and possible(view, f"l{level}", 2):
            return [f"ranks that share a larger cache: `--place l{level}`"]
    return []
