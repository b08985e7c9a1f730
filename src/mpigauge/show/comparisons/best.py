# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The best arm for each size, for people and for programs; the default stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mpigauge.model.names import DEFAULT
from mpigauge.model.units import byte_count
from mpigauge.model.width import WIDTH, as_blocks, broken
from mpigauge.result.compare.match.items import WORST
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.show.comparisons.beside import (
    FAILED,
    error_of,
    in_unit,
    joined,
    numbers_of,
    table_title,
    unit_of,
    word_in_unit,
)
from mpigauge.show.comparisons.compared import ends
from mpigauge.show.pivoted.names import short_names
from mpigauge.show.tables import records
from mpigauge.show.tables.records import with_nulls

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.best import Best, BestSettings, BestTable, Control, Named
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.stats.ratio import Ratio

Words = tuple[str, ...]
_WORST = "worst"


def render(result: BestSettings, cards: Cards, heading: Sequence[str] = ()) -> str:
    """Text for people; settings are named by their values."""
    comparison = result.comparison
    short = short_names([*comparison.names, *comparison.failed])
    blocks = [broken(heading)]
    for best in result.tables:
        title = table_title(best.table, cards, comparison.varied)
        rows = text_rows(best, short.by_name, comparison.failed)
        blocks.append([title, *_fitting(rows)])
    common = [f"Settings {short.common}"] if short.common else []
    blocks.append(broken([*common, *remarks(result)]))
    return as_blocks(blocks)


def _fitting(rows: Sequence[Words]) -> list[str]:
    """The lines, without the column of the worst launch where they do not fit."""
    lines = list(joined(rows))
    if max(map(len, lines)) <= WIDTH:
        return lines
    place = rows[0].index(_WORST)
    return list(joined([(*row[:place], *row[place + 1 :]) for row in rows]))


def as_json(result: BestSettings) -> str:
    names, control = result.comparison.names, result.control
    data = {
        "tool": "mpigauge",
        "first": names[0],
        "arms": list(names[1:]),
        "failed": list(result.comparison.failed),
        "tolerance": result.comparison.tolerance,
        "control": control and {"compared": control.compared, "different": control.different},
        "best": [_record(best) for best in result.lines],
    }
    return records.as_json(data)


def text_rows(
    best_table: BestTable, names: Mapping[str, str], failed: Sequence[str] = ()
) -> list[Words]:
    """The heads, then for each size each setting with its numbers, and last the default with the
    outcome. `names`: the settings' names to print; `failed`: those without numbers."""
    first = best_table.table.first
    size = "bytes" if first.message_bytes >= 0 else ""
    rows: list[Words] = [(size, "setting", unit_of(first), "±", _WORST, "ratio", "95 %", "")]
    for best in best_table.lines:
        lines = [*_of_arms(best, names), *(_failed(names[name]) for name in failed)]
        lines.append(_of_default(best, names))
        size = byte_count(best.first.message_bytes)
        rows += [(size if number == 0 else "", *words) for number, words in enumerate(lines)]
    return rows


def _of_arms(best: Best, names: Mapping[str, str]) -> Iterator[Words]:
    for arm in best.arms:
        value, error, ratio, ends_of_ratio, verdict = numbers_of(arm.entry)
        worst = _worst(arm.entry.item) if arm.entry.item else ""
        yield names[arm.name], value, error, worst, ratio, ends_of_ratio, verdict


def _failed(name: str) -> Words:
    return (name, "", "", "", "", "", FAILED)


def _of_default(best: Best, names: Mapping[str, str]) -> Words:
    first = best.first
    worst = _worst(first)
    return (DEFAULT, in_unit(first), error_of(first), worst, "", "", _outcome(best, names))


def _outcome(best: Best, names: Mapping[str, str]) -> str:
    """The name of the best setting, or why none is known."""
    if best.best is None:
        if best.is_open:
            return f"UNDECIDED{_how_many(best)}"
        return f"best: {DEFAULT} ({_why_none(best)})"
    leading = f"best: {names[best.best.name]}"
    others = [names[each.name] for each in best.as_good]
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
        "Best: the setting with the largest gain of those whose difference from the default holds "
        f"at 5 % after Holm's correction over {judged} ratios; “as” names others that reach it. "
        "UNDECIDED: a setting may be better or not, as far as is known; few launches: fewer than "
        f"the {LEAST_FOR_INTERVAL} that an interval needs. Worst: of all launches."
    )
    notes = [how]
    if result.control is not None:
        notes.append(f"Control: the default was measured twice; {_of_control(result.control)}.")
    return notes


def _of_control(control: Control) -> str:
    if not control.compared:
        return f"fewer than {LEAST_FOR_INTERVAL} launches cannot rule out chance"
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
