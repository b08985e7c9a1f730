# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The best arm for each size, for people and for programs; the default stands beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from mpigauge.model.fields import plain
from mpigauge.model.names import CONTROL
from mpigauge.model.units import byte_count
from mpigauge.model.width import broken
from mpigauge.result.compare.best import Best, Control, Named, best_lines, control_of
from mpigauge.result.compare.items import SECONDS, WORST
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.show.beside import error_of, in_unit, joined, numbers_of, table_title, word_in_unit
from mpigauge.show.compared import ends

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.comparison import Comparison, ComparisonTable
    from mpigauge.result.compare.items import Item

Words = tuple[str, ...]
DEFAULT = "default"


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


def _lines(table: ComparisonTable, lines: Sequence[Best], letters: dict[str, str]) -> Iterator[str]:
    yield from joined(text_rows(table, lines, letters))


def text_rows(
    table: ComparisonTable, lines: Sequence[Best], names: Mapping[str, str]
) -> list[Words]:
    """The heads, then for each size the default with what came of it, and every other setting with
    its numbers; `names` says what arms are called in it."""
    sized = table.first.message_bytes >= 0
    unit = "µs" if table.first.unit == SECONDS else table.first.unit
    heads = ("bytes" if sized else "", "setting", unit, "±", "worst", "ratio", "95 %", "")
    return [heads, *(words for best in lines for words in _words(best, names))]


def _words(best: Best, letters: Mapping[str, str]) -> Iterator[Words]:
    size = byte_count(best.first.message_bytes)
    own = in_unit(best.first), error_of(best.first)
    yield size, DEFAULT, *own, _worst(best.first), "", "", _outcome(best, letters)
    for arm in best.arms:
        value, error, ratio, ends_of_ratio, said = numbers_of(arm.entry)
        worst = _worst(arm.entry.item) if arm.entry.item else ""
        yield "", letters[arm.name], value, error, worst, ratio, ends_of_ratio, said


def _outcome(best: Best, letters: Mapping[str, str]) -> str:
    """Which setting is the best, or that nobody knows."""
    if best.best is not None:
        others = [letters[each.name] for each in best.as_good]
        also = f", as {', '.join(others)}" if others else ""
        return f"best: {letters[best.best.name]}{also}"
    if best.is_open:
        return f"UNDECIDED{_how_many(best)}"
    return f"best: {DEFAULT} ({_why_none(best)})"


def _worst(item: Item) -> str:
    """Of all launches."""
    return word_in_unit(item, item.launch(WORST))


def _how_many(best: Best) -> str:
    """Of the arms are undecided; the lines below it say which."""
    if best.few:
        return ": few launches"
    return f" ({best.undecided} of {best.same + best.worse + best.undecided})"


def _why_none(best: Best) -> str:
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
        "UNDECIDED: an arm may be better or not, as far as is known; few launches: fewer than the "
        f"{LEAST_FOR_INTERVAL} that an interval needs. Worst: of all launches."
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
    known = {name: plain(value) for name, value in said.items()}
    return known | {"outcome": _outcome_word(best), "arms": [_arm(each) for each in best.arms]}


def _outcome_word(best: Best) -> str:
    """arm, default or undecided."""
    if best.best is not None:
        return "arm"
    return "undecided" if best.is_open else DEFAULT


def _arm(named: Named) -> dict[str, Any]:
    """Its numbers, whatever is known of them."""
    entry = named.entry
    ratio = entry.ratio.estimate if entry.ratio else None
    said = {
        "arm": named.name,
        **(ends("value", entry.item) if entry.item else {}),
        "ratio": ratio and ratio.value,
        "ratio_low": ratio and ratio.low,
        "ratio_high": ratio and ratio.high,
        "verdict": entry.verdict,
    }
    return {name: plain(value) for name, value in said.items()}


def _name(named: Named) -> str:
    return named.name
