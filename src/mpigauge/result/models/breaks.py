# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The likely causes of a break of a curve, and the settings that move it.

A setting whose value is known, because the run sets it or its default is fixed, and lies between
the two sizes is named first, whatever the shape of the break. Otherwise the shape decides: a time
that jumps is a handshake before the message (eager to rendezvous), or a cache that is too small
from there on; one that falls is a saved copy; one that grows faster or slower per byte is a cache,
or a different segmentation of messages. A setting whose known value lies elsewhere is not named.
Benchmarks that send no messages by the MPI's protocols, such as a loop without MPI, one-sided
communication or a file, can only outgrow a cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_size
from mpigauge.model.data_memory import is_on_gpu
from mpigauge.model.units import between_sizes, byte_count
from mpigauge.result.nature import SENDING, nature_of
from mpigauge.result.settings import entries_of

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.model.topology import Cache
    from mpigauge.result.nature import Does
    from mpigauge.result.run_view import Curve, RunView, Where
    from mpigauge.result.stats.pieces import Break
    from mpigauge.site.mpi.settings.catalogue import SettingEntry

MEANING = {
    "inline": "longer messages do not fit beside their header, and need a buffer or a copy more",
    "eager": "eager to rendezvous: longer messages wait until the receiver has answered",
    "single copy": "single copy: within a host longer messages are copied in one go",
    "segment": "longer messages go in pieces, or in others than before",
    "algorithm": "another algorithm of the collective",
    "cache": "longer messages do not fit into the cache",
}
_WITHIN_A_HOST = "single copy"
"""The kind that has no meaning between hosts."""
JUMP, FALL = 1.1, 0.9
"""Steps of the time beyond which it jumps or falls; between them it only bends."""
LONGEST_INLINE = 512
"""The size up to which MPIs send no messages by rendezvous unless configured to."""
BEND = 1.2
"""The least ratio of times per byte that is a bend upwards."""


@dataclass(frozen=True)
class Reason:
    kind: str
    """A word of MEANING."""
    words: str
    knobs: tuple[str, ...] = ()
    """Settings that move it."""
    is_likely: bool = False
    """True if a known value or capacity lies at the break, so that it is more than possible."""


def reasons(view: RunView, curve: Curve, at: Break) -> tuple[Reason, ...]:
    """Returns the possible causes of a break, likeliest first; none if nothing known fits."""
    knobs = list(_entries(view, curve))
    result = list(_known_values(view, curve, at, knobs))
    shapes = kinds(at, nature_of(curve.first).does)
    if "cache" in shapes and (cache := cache_at(view, curve, at)):
        size = byte_count(cache.bytes)
        words = f"past the capacity of the L{cache.level} cache ({size})"
        result.append(Reason("cache", words, is_likely=True))
    held = {"cache", *(reason.kind for reason in result)}
    if view.where(curve.first) == "network":
        held.add(_WITHIN_A_HOST)
    result += (_possible(kind, knobs, curve) for kind in shapes if kind not in held)
    return tuple(sorted(result, key=lambda each: (not each.is_likely, each.kind != "algorithm")))


@dataclass(frozen=True)
class LikelyBreak:
    """A break of a curve, with its likely causes."""

    at: Break
    reasons: tuple[Reason, ...]
    """The possible causes, likeliest first; none if nothing known fits."""

    @property
    def shape(self) -> str:
        """The change of the time at the break, in words."""
        return shape(self.at)

    @property
    def where(self) -> str:
        return between_sizes(self.at.before_bytes, self.at.after_bytes)

    @property
    def middle_bytes(self) -> float:
        """The middle between its two sizes, on an axis of logarithms."""
        return math.sqrt(max(self.at.before_bytes, 1) * self.at.after_bytes)


def likely_breaks(view: RunView, curve: Curve) -> tuple[LikelyBreak, ...]:
    """All breaks of a curve, sizes upwards."""
    if curve.pieces is None:
        return ()
    return tuple(LikelyBreak(at, reasons(view, curve, at)) for at in curve.pieces.breaks)


def kinds(at: Break, does: Does = "messages") -> tuple[str, ...]:
    """Returns the possible kinds of a break of this shape, of those in MEANING. `does`: the nature
    of the benchmark."""
    bends = at.slope > BEND
    if does not in SENDING:
        if at.step >= JUMP or (at.step > FALL and bends):
            return ("cache",)
        return ()
    likely = []
    if does == "collective":
        likely.append("algorithm")
    if at.step >= JUMP:
        likely += ["eager" if at.after_bytes > LONGEST_INLINE else "inline", "cache"]
    elif at.step <= FALL:
        likely += ["single copy", "segment"]
    elif bends:
        likely += ["cache", "segment"]
    else:
        likely.append("segment")
    return tuple(likely)


def cache_at(view: RunView, curve: Curve, at: Break) -> Cache | None:
    """The cache that a message, or a message and its copy, stop to fit into at this break; None
    also for data on a GPU, which are in none of them."""
    if is_on_gpu(curve.first.cell.memory):
        return None
    for cache in view.caches_of(curve.first):
        if at.before_bytes < cache.bytes <= 2 * at.after_bytes:
            return cache
    return None


def settings_that_move(view: RunView, curve: Curve, kind: str) -> tuple[str, ...]:
    """Settings of the run's MPI that move breaks of this kind, wherever their values lie."""
    return _all_named((each for each in _entries(view, curve) if each.moves == kind), curve.first)


def _all_named(entries: Iterable[SettingEntry], row: Row) -> tuple[str, ...]:
    """The variables of all these entries that are about this row."""
    names: list[str] = []
    for entry in entries:
        names += _named(entry, row)
    return tuple(names)


def algorithms(view: RunView, row: Row) -> list[str]:
    """The settings of the run's MPI that choose the algorithm of this row's collective."""
    chosen = [entry for entry in entries_of(view) if entry.moves == "algorithm"]
    return list(_all_named(chosen, row))


def shape(at: Break) -> str:
    """The shape of a break in words."""
    if at.step >= JUMP:
        return f"the time jumps to {at.step:.2g} × what smaller sizes suggest"
    if at.step <= FALL:
        return f"the time falls to {at.step:.2g} × what smaller sizes suggest"
    if at.slope > 1:
        return f"each further byte takes {at.slope:.2g} × as long"
    return "each further byte takes less time"


def _known_values(
    view: RunView, curve: Curve, at: Break, knobs: Iterable[SettingEntry]
) -> Iterator[Reason]:
    """A limit may count a header of the message, so both ends belong to it. What acts within a
    node or between nodes only is no more than possible where nobody knows which it was."""
    given, where = view.settings_of(curve.first), view.where(curve.first)
    for entry in knobs:
        value = _value_of(entry, given)
        if entry.moves != "algorithm" and at.before_bytes <= value <= at.after_bytes:
            how = "is set to" if _values_set(entry, given) else "is usually"
            title = MEANING[entry.moves].partition(":")[0]
            words = f"{title}: {entry.variable} {how} {byte_count(value)}"
            is_likely = not entry.within or bool(where)
            yield Reason(entry.moves, words, _named(entry, curve.first), is_likely)


def _possible(kind: str, knobs: Iterable[SettingEntry], curve: Curve) -> Reason:
    """Settings with a known value elsewhere are not asked to move a break here."""
    fitting = [entry for entry in knobs if entry.moves == kind and not entry.usual]
    return Reason(kind, MEANING[kind], _all_named(fitting, curve.first))


def _named(entry: SettingEntry, row: Row) -> tuple[str, ...]:
    """The variables of an entry that are about this row; none where it chooses the algorithm of
    another collective, or where nobody knows which settings this form of one has."""
    if entry.moves != "algorithm":
        return entry.variables()
    call = nature_of(row).call
    if not call:
        return ()
    return entry.variables(call)


def _value_of(entry: SettingEntry, given: Mapping[str, str]) -> int:
    """Returns the value in bytes, as set by the run or by default; 0: unknown, or a word."""
    values = _values_set(entry, given)
    if not values:
        return entry.usual
    return parse_size(values[0].upper())


def _values_set(entry: SettingEntry, given: Mapping[str, str]) -> list[str]:
    """Returns the values that the run sets; Open MPI's parameters may lack their prefix."""
    names = [name for name in given if entry.fits(name) or entry.fits(f"OMPI_MCA_{name}")]
    return [given[name] for name in names]


def _entries(view: RunView, curve: Curve) -> Iterator[SettingEntry]:
    """Yields the settings of the run's MPI and of the layers below it that act where the ranks
    are."""
    where = view.where(curve.first)
    if nature_of(curve.first).does in SENDING:
        for entry in entries_of(view):
            if entry.moves and _acts(entry, where):
                yield entry


def _acts(entry: SettingEntry, where: Where) -> bool:
    """True if the setting may act on ranks in this place; an unknown place ("") always may."""
    return where in ("", entry.within or where)
