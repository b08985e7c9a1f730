# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The best arm for each size, for people and for programs; the default stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from mpigauge.model.names import CONTROL
from mpigauge.model.units import byte_count
from mpigauge.model.width import as_blocks, broken
from mpigauge.result.compare.items import WORST
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.show import records
from mpigauge.show.beside import (
    error_of,
    in_unit,
    joined,
    numbers_of,
    table_title,
    unit_of,
    word_in_unit,
)
from mpigauge.show.compared import ends
from mpigauge.show.records import with_nulls

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.best import Best, BestSettings, BestTable, Control, Named
    from mpigauge.result.compare.items import Item
    from mpigauge.result.stats.ratio import Ratio

Words = tuple[str, ...]
DEFAULT = "default"


def render(result: BestSettings, cards: Cards, heading: Sequence[str] = ()) -> str:
    """Text for people; arms are named by letters, which the end explains."""
    comparison = result.comparison
    letters = _letters(comparison.names)
    blocks = [broken(heading)]
    for best in result.tables:
        title = table_title(best.table, cards, comparison.varied)
        blocks.append([title, *joined(text_rows(best, letters))])
    blocks.append([f"{letter:>3}  {name}" for name, letter in letters.items()])
    blocks.append(broken(remarks(result)))
    return as_blocks(blocks)


def as_json(result: BestSettings) -> str:
    names, control = result.comparison.names, result.control
    data = {
        "tool": "mpigauge",
        "first": names[0],
        "arms": list(names[1:]),
        "tolerance": result.comparison.tolerance,
        "control": control and {"compared": control.compared, "different": control.different},
        "best": [_record(best) for best in result.lines],
    }
    return records.as_json(data)


def _letters(names: Sequence[str]) -> dict[str, str]:
    """a, b, … z, aa, ab, … for the arms; the first and the control have none."""
    arms = [name for name in names[1:] if name != CONTROL]
    return {name: _letter(place) for place, name in enumerate(arms)}


def _letter(place: int) -> str:
    many = len(ascii_lowercase)
    last = ascii_lowercase[place % many]
    if place < many:
        return last
    return _letter(place // many - 1) + last


def text_rows(best_table: BestTable, names: Mapping[str, str]) -> list[Words]:
    """The heads, then for each size the default with its outcome, and each other setting with its
    numbers. `names`: the arms' names to print."""
    first = best_table.table.first
    size = "bytes" if first.message_bytes >= 0 else ""
    rows: list[Words] = [(size, "setting", unit_of(first), "±", "worst", "ratio", "95 %", "")]
    for best in best_table.lines:
        rows += _words(best, names)
    return rows


def _words(best: Best, letters: Mapping[str, str]) -> Iterator[Words]:
    first, size = best.first, byte_count(best.first.message_bytes)
    own = in_unit(first), error_of(first)
    yield size, DEFAULT, *own, _worst(first), "", "", _outcome(best, letters)
    for arm in best.arms:
        value, error, ratio, ends_of_ratio, verdict = numbers_of(arm.entry)
        worst = _worst(arm.entry.item) if arm.entry.item else ""
        yield "", letters[arm.name], value, error, worst, ratio, ends_of_ratio, verdict


def _outcome(best: Best, letters: Mapping[str, str]) -> str:
    """The name of the best setting, or why none is known."""
    if best.best is None:
        if best.is_open:
            return f"UNDECIDED{_how_many(best)}"
        return f"best: {DEFAULT} ({_why_none(best)})"
    leading = f"best: {letters[best.best.name]}"
    others = [letters[each.name] for each in best.as_good]
    if not others:
        return leading
    return f"{leading}, as {', '.join(others)}"


def _worst(item: Item) -> str:
    """The worst of all launches."""
    return word_in_unit(item, item.launch(WORST))


def _how_many(best: Best) -> str:
    """The number of undecided arms, which the lines below name."""
    if best.few:
        return ": few launches"
    return f" ({best.undecided} of {best.same + best.worse + best.undecided})"


def _why_none(best: Best) -> str:
    words = []
    for word, count in (("same", best.same), ("worse", best.worse), ("undecided", best.undecided)):
        if count:
            words.append(f"{count} {word}")
    return ", ".join(words) or "no other"


def remarks(result: BestSettings) -> list[str]:
    """The notes below: how the best was chosen, and the result of the control."""
    judged = len(result.comparison.entries)
    how = (
        "Best: the arm with the largest gain of those whose difference from the default holds at "
        f"5 % after Holm's correction over {judged} ratios; “as” names others that reach it. "
        "UNDECIDED: an arm may be better or not, as far as is known; few launches: fewer than the "
        f"{LEAST_FOR_INTERVAL} that an interval needs. Worst: of all launches."
    )
    notes = [how]
    if result.control is not None:
        notes.append(f"Control: the default was measured twice; {_of_control(result.control)}.")
    return notes


def _of_control(control: Control) -> str:
    if not control.compared:
        return f"fewer than {LEAST_FOR_INTERVAL} launches tell nothing of chance"
    counted = f"{control.different} of {control.compared} ratios differ"
    if not control.different:
        return counted
    return f"{counted}, which chance seldom does: take gains of that size for nothing"


def _record(best: Best) -> dict[str, Any]:
    """A flat record of what is best at a size, and one of each arm in it."""
    record = {
        **dict(best.first.columns),
        "what": best.first.what,
        "unit": best.first.unit,
        **ends("default", best.first),
        "best": None,
    }
    ratio = None
    if best.best:
        entry = best.best.entry
        record["best"] = best.best.name
        record |= ends("best", entry.item) if entry.item else {}
        ratio = entry.ratio
    record |= {
        **_of_ratio(ratio),
        "as_good": [each.name for each in best.as_good],
        "same": best.same,
        "worse": best.worse,
        "undecided": best.undecided,
    }
    arms = [_arm(each) for each in best.arms]
    return with_nulls(record) | {"outcome": _outcome_word(best), "arms": arms}


def _outcome_word(best: Best) -> str:
    """arm, default or undecided."""
    if best.best is not None:
        return "arm"
    if best.is_open:
        return "undecided"
    return DEFAULT


def _arm(named: Named) -> dict[str, Any]:
    """The numbers of an arm, whatever is known of them."""
    entry = named.entry
    record: dict[str, Any] = {"arm": named.name}
    if entry.item:
        record |= ends("value", entry.item)
    record |= {**_of_ratio(entry.ratio), "verdict": entry.verdict}
    return with_nulls(record)


def _of_ratio(ratio: Ratio | None) -> dict[str, float | None]:
    estimate = ratio.estimate if ratio else None
    return {
        "ratio": estimate and estimate.value,
        "ratio_low": estimate and estimate.low,
        "ratio_high": estimate and estimate.high,
    }
