# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The best arm for each size, for people and for programs; the default stands beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from mpigauge.analyse.best import Best, Control, Named, best_lines, control_of
from mpigauge.analyse.items import SECONDS, WORST
from mpigauge.model.units import byte_count, number, plus_minus
from mpigauge.model.width import broken
from mpigauge.plan.arms import CONTROL
from mpigauge.report.beside import error_of, in_unit, joined, table_title, word_in_unit
from mpigauge.report.compared import ends
from mpigauge.report.fields import plain
from mpigauge.stats.launches import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from mpigauge.analyse.compare import Comparison, Table
    from mpigauge.analyse.items import Item
    from mpigauge.model.cards import Cards

Words = tuple[str, ...]


def render(comparison: Comparison, cards: Cards, heading: Sequence[str] = ()) -> str:
    """Text for people; arms are named by letters, which the end explains."""
    letters = _letters(comparison.names)
    blocks = [broken(heading)] if heading else []
    for table in comparison.tables:
        lines = list(best_lines(comparison, table))
        if lines:
            title = table_title(table, cards, comparison.varied)
            blocks.append([title, *_lines(table, lines, letters)])
    blocks.append([f"{letter:>3}  {name}" for name, letter in letters.items()])
    blocks.append(_remarks(comparison))
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def as_json(comparison: Comparison) -> str:
    control = control_of(comparison)
    data = {
        "tool": "mpigauge",
        "first": comparison.names[0],
        "arms": list(comparison.names[1:]),
        "tolerance": comparison.tolerance,
        "control": control and {"compared": control.compared, "different": control.different},
        "best": [
            _record(best) for table in comparison.tables for best in best_lines(comparison, table)
        ],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _letters(names: Sequence[str]) -> dict[str, str]:
    """a, b, … z, aa, ab, … for the arms; the first and the control have none."""
    arms = [name for name in names[1:] if name != CONTROL]
    return {name: _letter(place) for place, name in enumerate(arms)}


def _letter(place: int) -> str:
    many = len(ascii_lowercase)
    return (_letter(place // many - 1) if place >= many else "") + ascii_lowercase[place % many]


def _lines(table: Table, lines: Sequence[Best], letters: dict[str, str]) -> Iterator[str]:
    yield from joined(words_of(table, lines, letters))


def words_of(table: Table, lines: Sequence[Best], names: Mapping[str, str]) -> list[Words]:
    """The heads, then a line for each size; `names` says what arms are called in it."""
    sized = table.first.message_bytes >= 0
    unit = "µs" if table.first.unit == SECONDS else table.first.unit
    heads = ("bytes" if sized else "", f"default {unit}", "±", "worst", "best", unit, "±", "ratio",
             "±", "")  # fmt: skip
    return [heads, *(_words(best, names) for best in lines)]


def _words(best: Best, letters: Mapping[str, str]) -> Words:
    first = byte_count(best.first.message_bytes), *_number(best.first), _worst(best.first)
    if best.best is None:
        return *first, "default", "", "", "", "", _why_none(best)
    arm, entry = best.best, best.best.entry
    others = [letters[each.name] for each in best.as_good]
    also = f"{entry.verdict}, as {', '.join(others)}" if others else entry.verdict
    item, ratio = entry.item, entry.ratio
    if item is None or ratio is None:
        raise ValueError(f"{arm.name} was called best without a ratio")
    found = ratio.estimate
    return (
        *first,
        letters[arm.name],
        *_number(item),
        number(found.value, found.error),
        plus_minus(found.relative_error),
        also,
    )


def _number(item: Item) -> Words:
    return in_unit(item), error_of(item)


def _worst(item: Item) -> str:
    """Of all launches."""
    return word_in_unit(item, item.launch(WORST))


def _why_none(best: Best) -> str:
    if best.few:
        return f"undecided: fewer than {LEAST_FOR_INTERVAL} launches"
    counts = (("same", best.same), ("worse", best.worse), ("undecided", best.undecided))
    return ", ".join(f"{count} {word}" for word, count in counts if count) or "no other"


def _remarks(comparison: Comparison) -> list[str]:
    return broken(remarks(comparison))


def remarks(comparison: Comparison) -> list[str]:
    """How it was judged, and what the control says of that."""
    judged = len(comparison.entries)
    how = (
        "Best: the arm with the largest gain of those whose difference from the default holds at "
        f"5 % after Holm's correction over {judged} ratios; “as” names others that reach it. "
        "Worst: of all launches of the default."
    )
    control = control_of(comparison)
    said = [how]
    if control is not None:
        said.append(f"Control: the default was measured twice; {_of_control(control)}.")
    return said


def _of_control(control: Control) -> str:
    if not control.compared:
        return f"fewer than {LEAST_FOR_INTERVAL} launches tell nothing of chance"
    counted = f"{control.different} of {control.compared} ratios differ"
    if not control.different:
        return counted
    return f"{counted}, which chance seldom does: take gains of that size for nothing"


def _record(best: Best) -> dict[str, Any]:
    arm = best.best
    ratio = arm.entry.ratio.estimate if arm and arm.entry.ratio else None
    said = {
        **dict(best.first.columns),
        "what": best.first.what,
        "unit": best.first.unit,
        **ends("default", best.first),
        "best": arm.name if arm else None,
        **(ends("best", arm.entry.item) if arm and arm.entry.item else {}),
        "ratio": ratio and ratio.value,
        "ratio_low": ratio and ratio.low,
        "ratio_high": ratio and ratio.high,
        "as_good": [_name(each) for each in best.as_good],
        "same": best.same,
        "worse": best.worse,
        "undecided": best.undecided,
    }
    return {name: plain(value) for name, value in said.items()}


def _name(named: Named) -> str:
    return named.name
