# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The outputs within a page or a JSON text, each read separately.

If two of them hold the same rows, their headings become the arm of these rows; outputs with the
same headings are launches.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.runs.readers.reading import Reading, joined
from mpigauge.runs.readers.repeated import row_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from mpigauge.runs.readers.pages import Headings
    from mpigauge.runs.readers.text import Text, Unread


def read_parts(read: Callable[[Text], Reading], text: Text) -> Reading:
    """The reading of all pieces of a text, distinguished by their headings."""
    whole = read(text)
    if not text.parts:
        return _read_sections(read, text, whole)
    readings = [_without_empty_launches(read(part)) for part in text.parts.values()]
    if whole.rows > sum(reading.rows for reading in readings):
        return whole  # tables stand between the pieces, too
    if not any(reading.rows or reading.skips or reading.unread for reading in readings):
        return whole  # the pieces are of something else
    arms = _arms(list(text.parts), readings)
    return joined(in_arm(reading, arm) for reading, arm in zip(readings, arms, strict=True))


def _read_sections(read: Callable[[Text], Reading], text: Text, whole: Reading) -> Reading:
    """The launches of a log, distinguished by its headings if each section holds all facts of its
    rows."""
    if whole.last_launch < 1 or not text.sections:
        return whole
    readings = [_without_empty_launches(read(section)) for section in text.sections.values()]
    keys: set[Hashable] = set().union(*map(row_keys, readings))
    if keys != row_keys(whole) or whole.rows != sum(reading.rows for reading in readings):
        return whole
    arms = _arms(list(text.sections), readings)
    if not any(arms):
        return whole
    return joined(in_arm(reading, arm) for reading, arm in zip(readings, arms, strict=True))


def left_out(text: Text) -> tuple[Unread, ...]:
    """The lines with a number that cannot be a result, of the text or of its pieces."""
    texts = text.parts.values() or (text,)
    return tuple(dict.fromkeys(line for each in texts for line in each.left_out))


def in_arm(reading: Reading, arm: str) -> Reading:
    """The same rows with this arm before the settings that their text states."""
    if not arm:
        return reading
    tables, figures, skips = [], [], []
    for table in reading.tables:
        tables.append(replace(table, fixed=_with_arm(table.fixed, arm)))
    for figure in reading.figures:
        figures.append(replace(figure, arm=f"{arm} {figure.arm}".rstrip()))
    for skip in reading.skips:
        skips.append(replace(skip, key=_with_arm(skip.key, arm)))
    return replace(reading, tables=tuple(tables), figures=tuple(figures), skips=tuple(skips))


def _without_empty_launches(reading: Reading) -> Reading:
    if reading.rows or reading.skips:
        return reading
    return replace(reading, launches=())


def _with_arm(columns: Mapping[str, Any], arm: str) -> dict[str, Any]:
    return {**columns, "arm": f"{arm} {columns.get('arm', '')}".rstrip()}


# --- which headings tell rows apart --------------------------------------------------------------
def _arms(headings: Sequence[Headings], readings: Sequence[Reading]) -> list[str]:
    """The outer headings of each piece, as far as necessary to distinguish pieces with the same
    rows."""
    keys = [row_keys(reading) for reading in readings]
    filled = [path for path, of in zip(headings, keys, strict=True) if of]
    shared = _shared_length(filled)
    paths = [path[shared:] for path in headings]
    for depth in range(max(map(len, paths), default=0) + 1):
        labels = [path[:depth] for path in paths]
        if not _has_collision(paths, labels, keys):
            break
    return [" / ".join(label) for label in labels]


def _shared_length(paths: Sequence[Headings]) -> int:
    """The number of outer headings that all pieces have in common."""
    length = 0
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        length += 1
    return length


def _has_collision(
    paths: Sequence[Headings], labels: Sequence[Headings], keys: Sequence[set[Hashable]]
) -> bool:
    """True if pieces below different headings hold the same row under the same label."""
    owners: dict[Hashable, Headings] = {}
    for path, label, of in zip(paths, labels, keys, strict=True):
        if any(owners.setdefault((label, key), path) != path for key in of):
            return True
    return False
