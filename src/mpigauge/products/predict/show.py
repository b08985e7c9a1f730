# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Predictions as text, and as rows and objects for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.model.spreadsheet import csv_text
from mpigauge.model.units import byte_count, dotted, listed, many, microseconds, with_commas
from mpigauge.model.width import WIDTH, as_blocks, broken, right_aligned, widths
from mpigauge.products.predict.calibration import QUANTITIES
from mpigauge.products.predict.model import LIMITS
from mpigauge.products.predict.prediction import CLOSE, assumed_of
from mpigauge.products.predict.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.products.predict.calibration import Calibration, Validation
    from mpigauge.products.predict.model import Cost, Machine
    from mpigauge.products.predict.prediction import AtSize, Crossover, Prediction
    from mpigauge.products.predict.validating import Validated

ASSUMED = "*"
"""The mark of a number that derives from something that was not measured."""
LETTERS = dict(zip(LIMITS, "lcman", strict=True))
MOST_CLOSE = 2
"""Algorithms that are named beside the best one."""
COLUMNS = ("message_bytes", "algorithm", "time_s", "low_s", "high_s", "limit", "chosen", "assumed")


# --- for people -----------------------------------------------------------------------------
def page(of: Prediction) -> str:
    """Predictions with their trust: the best by size, crossovers, every algorithm."""
    return as_blocks(
        [
            broken(_head(of)),
            [*_chosen_table(of)],
            broken(map(_crossover, of.crossovers)),
            broken([*trust_lines(of.calibration, of.operation), *assumed_lines(of.assumed)]),
            [*_every_algorithm(of)],
        ]
    )


def _head(of: Prediction) -> Iterator[str]:
    machine = of.machine
    yield dotted(
        f"{of.operation} on {many(machine.ranks, 'rank')}",
        f"{many(machine.nodes, 'node')} of {machine.ppn}",
        with_commas(of.calibration.name, of.calibration.mpi),
        "predicted, not measured",
    )
    yield f"{of.what}; {contention(machine)}"


def contention(machine: Machine) -> str:
    """A phrase for the contention that is counted between nodes."""
    if machine.nodes == 1:
        return "one node"
    if machine.network:
        return machine.network.word
    return "no contention beyond the network cards (--network adds it)"


def _chosen_table(of: Prediction) -> Iterator[str]:
    lines = [["bytes", "µs", "from", "to", "algorithm", "limited by", "also close"]]
    for size in of.sizes:
        name = byte_count(size.message_bytes)
        if size.chosen is None:
            lines.append([name, "", "", "", size.choice, "no schedule of it", ""])
            continue
        cost = size.chosen.cost
        numbers = [microseconds(each) for each in cost.estimate]
        lines.append(
            [name, f"{numbers[0]}{_mark(of, cost)}", numbers[1], numbers[2],
             size.chosen.algorithm, cost.limit, "" if of.library else _others(size)]
        )  # fmt: skip
    yield from (f"  {line}" for line in in_columns(lines, range(4)))


def in_columns(lines: Sequence[Sequence[str]], numbers: range) -> list[str]:
    """The words in columns; those of these numbers are right-aligned."""
    wide = widths(lines)
    result = []
    for words in lines:
        column = [
            f"{word:>{width}}" if place in numbers else f"{word:<{width}}"
            for place, (word, width) in enumerate(zip(words, wide, strict=True))
        ]
        result.append("  ".join(column).rstrip())
    return result


def _others(size: AtSize) -> str:
    names = [each.algorithm for each in size.close if each is not size.chosen]
    more = len(names) - MOST_CLOSE
    return with_commas(*names[:MOST_CLOSE], f"{more} more" if more > 0 else "")


def _mark(of: Prediction, cost: Cost) -> str:
    return ASSUMED if assumed_of(of.calibration, cost.used) else " "


def _crossover(at: Crossover) -> str:
    start = f"{at.after} instead of {at.before} from {byte_count(at.first_bytes)}"
    if at.low_bytes > at.high_bytes:
        return start
    low, high = byte_count(at.low_bytes), byte_count(at.high_bytes)
    sizes = f"at {low}" if low == high else f"from {low} to {high}"
    return f"{start}; too close to call {sizes} (within {CLOSE:g}×)"


def trust_lines(calibration: Calibration, operation: str) -> Iterator[str]:
    """Yields how good predictions were over all sizes, where measurements exist."""
    of = [each for each in calibration.validations if each.collective == operation]
    if not of:
        yield f"not validated for {operation}: `mpigauge validate RUN --on FILE` compares"
    seen: dict[tuple[str, int, int, str], Validation] = {}
    for each in of:
        seen.setdefault((each.run, each.ranks, each.nodes, each.way), each)
    yield from map(validation_line, seen.values())


def validation_line(each: Validation) -> str:
    sizes = f"{byte_count(each.first_bytes)} to {byte_count(each.last_bytes)}"
    where = f"{many(each.ranks, 'rank')} of {many(each.nodes, 'node')}"
    return (
        f"validated on {each.run}: typical {each.typical:.2f}, worst {each.worst:.2f} "
        f"({each.collective}, {each.way}, {sizes}, {where})"
    )


def assumed_lines(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{ASSUMED} derives from what was not measured but assumed: {listed(names)}"


def _every_algorithm(of: Prediction) -> Iterator[str]:
    """All algorithms beside each other, in as many blocks of columns as they need."""
    names = sorted({each.algorithm for size in of.sizes for each in size.timed})
    if len(names) < 2:
        return
    legend = listed(f"{letter} {name}" for name, letter in LETTERS.items())
    yield from broken([f"every algorithm, µs; limited by {legend}"])
    lines = [["bytes", *names]]
    for size in of.sizes:
        cost = {each.algorithm: each.cost for each in size.timed}
        words = [
            f"{microseconds(cost[name].seconds[0])} {LETTERS[cost[name].limit]}" for name in names
        ]
        lines.append([byte_count(size.message_bytes), *words])
    wide = widths(lines)
    first = 1
    while first < len(wide):
        last = first + 1
        while (
            last < len(wide)
            and 4 + sum(wide[:1] + wide[first : last + 1]) + 2 * (last - first) < WIDTH
        ):
            last += 1
        if first > 1:
            yield ""
        for words in lines:
            part = [words[0], *words[first:last]]
            yield f"  {right_aligned(part, [wide[0], *wide[first:last]], '  ')}".rstrip()
        first = last


# --- predicted beside measured ----------------------------------------------------------------
def validation_page(of: Validated) -> str:
    """Ratios by size, then the factors of each collective; no significance: a prediction has no
    launches."""
    lines = [["", "ranks", "bytes", "predicted µs", "measured µs", "ratio", "algorithm"]]
    for each in of.compared:
        has_time = not math.isnan(each.predicted_s)
        lines.append(
            [each.collective, str(each.ranks), byte_count(each.message_bytes),
             microseconds(each.predicted_s) if has_time else "", microseconds(each.measured_s),
             f"{each.ratio:.2f}" if has_time else "", each.algorithm]
        )  # fmt: skip
    rows = in_columns(lines, range(1, len(lines[0]) - 1))
    return as_blocks(
        [rows, broken(map(validation_line, of.validations)), broken(map(_left_out, of.left_out))]
    )


def validation_json(of: Validated) -> dict[str, Any]:
    rows = []
    for each in of.compared:
        has_time = not math.isnan(each.predicted_s)
        numbers: dict[str, float | None] = {"predicted_s": each.predicted_s, "ratio": each.ratio}
        if not has_time:
            numbers = dict.fromkeys(numbers)
        rows.append(vars(each) | numbers)
    return {
        "rows": rows,
        "validated": [vars(each) for each in of.validations],
        "left_out": list(of.left_out),
    }


def _left_out(why: str) -> str:
    return f"left out: {why}"


# --- a calibration ----------------------------------------------------------------------------
def calibration_page(of: Calibration) -> str:
    """The contents of a calibration, a line each."""
    lines = [[f"{of.name}", with_commas(of.machine, of.mpi)]]
    for name, path in of.paths.items():
        first, last = path.sizes[0], path.sizes[-1]
        best = Table.of(path).rates(0)[0]
        words = f"{microseconds(path.times[0].value)} µs at {byte_count(first)}, "
        words += f"{best / 1e9:.3g} GB/s at most, up to {byte_count(last)}"
        lines.append([name, _with_source(words, path.source, path.assumed)])
    for name, quantity in of.quantities.items():
        unit, scale, _ = QUANTITIES[name]
        words = f"{quantity.value.value / scale:.4g} {unit.replace('us', 'µs')}"
        lines.append([name, _with_source(words, quantity.source, quantity.assumed)])
    wide = max(len(name) for name, _ in lines)
    rows = [f"{name:<{wide}}  {words}" for name, words in lines]
    return as_blocks([broken(rows, indent=" " * (wide + 2))])


def _with_source(words: str, source: str, assumed: bool) -> str:
    return f"{words}; {'assumed: ' if assumed else ''}{source}"


# --- for programs -----------------------------------------------------------------------------
def to_csv(of: Prediction) -> str:
    return csv_text([COLUMNS, *(list(row.values()) for row in _rows(of))])


def _rows(of: Prediction) -> Iterator[dict[str, Any]]:
    for size in of.sizes:
        for each in size.timed:
            value, low, high = each.cost.estimate
            yield {
                "message_bytes": size.message_bytes, "algorithm": each.algorithm, "time_s": value,
                "low_s": low, "high_s": high, "limit": each.cost.limit,
                "chosen": each is size.chosen,
                "assumed": " ".join(assumed_of(of.calibration, each.cost.used)),
            }  # fmt: skip


def to_json(of: Prediction) -> dict[str, Any]:
    machine, calibration = of.machine, of.calibration
    return {
        "operation": of.operation,
        "ranks": machine.ranks,
        "nodes": machine.nodes,
        "ranks_per_node": machine.ppn,
        "calibration": calibration.name,
        "predicts": of.what,
        "contention": contention(machine),
        "validated": [vars(each) for each in calibration.validations],
        "rows": [{**row, "assumed": row["assumed"].split()} for row in _rows(of)],
        "crossovers": [vars(each) for each in of.crossovers],
    }
