# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of `mpigauge quick` around its table: for a first look at a machine, on one screen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.draw.axes import bytes_per_s
from mpigauge.model.units import duration, many, percent, plus_minus
from mpigauge.result.node.against import FLOOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.row import Estimate
    from mpigauge.products.quick.fitness import Fitness
    from mpigauge.products.quick.result import MachineErrors
    from mpigauge.result.document import Document
    from mpigauge.result.node.against import Against, Limits

_WHAT_TO_MAKE_OF_IT = {
    "good": "",
    "fair": " Compare only what differs by more than its ±.",
    "poor": " Close other programs, and measure again.",
}


def sentence(fitness: Fitness, precision: float) -> str:
    """The sentence on the fitness of this machine for measuring, with the reasons and the
    consequence."""
    facts = [_agreement(fitness)]
    if not math.isnan(fitness.lost):
        facts.append(f"others take {percent(fitness.lost)} of a core")
    numbers = many(fitness.cells, "number")
    facts.append(f"{fitness.precise} of {numbers} within ±{100 * precision:g} %")
    words = f"This machine is {fitness.grade} for measuring now: {', '.join(facts)}"
    return f"{words}.{_WHAT_TO_MAKE_OF_IT[fitness.grade]}"


def _agreement(fitness: Fitness) -> str:
    if math.isnan(fitness.scatter):
        return "how launches differ is not known from one"
    return f"{fitness.launches} launches differ by {percent(fitness.scatter)}"


def at_other_times(errors: MachineErrors | None) -> str:
    """The sentence on the variation of these numbers on this machine, in the middle and at most;
    empty: it is not known."""
    if errors is None:
        return ""
    middle, most = plus_minus(errors.middle), plus_minus(errors.most)
    return f"At other times: {middle} for half of them, {most} for all."


def limit_lines(limits: Limits) -> list[str]:
    """The limits of the machine, and the ratios of its messages to them."""
    lines = list(_limits(limits))
    if not lines:
        return []
    names, values, _ = zip(*lines, strict=True)
    name_wide, value_wide = max(map(len, names)), max(map(len, values))
    table = [f"Limits of the machine ({limits.whose})"]
    for name, value, near in lines:
        table.append(f"  {name:<{name_wide}}  {value:>{value_wide}}  {near}".rstrip())
    return table


def _limits(limits: Limits) -> Iterator[tuple[str, str, str]]:
    """Each limit with its value, and the ratio of messages to it."""
    of = limits.hardware
    if of.mailbox_s:
        near = ""
        for each in limits.against:
            if each.limit == FLOOR:
                near = _near("latency", each)
                break
        yield "a message by shared memory", _time(of.mailbox_s), near
    for each in limits.against:
        if each.limit != FLOOR:
            size = each.what.rpartition(", ")[2]
            speed = f"{bytes_per_s(each.value.value)} {plus_minus(each.value.relative_error)}"
            yield each.limit.replace("as much", size), speed, _near("bandwidth", each)


def _near(what: str, each: Against) -> str:
    return f"{what} {each.ratio.value:.3g} × this, {plus_minus(each.ratio.relative_error)}"


def _time(estimate: Estimate) -> str:
    return f"{duration(estimate.value)} {plus_minus(estimate.relative_error)}"


def next_step(document: Document, grade: str) -> str:
    """The command that is the most use after this; empty: the same as after any run."""
    if grade == "good" or any(row.wrong_count for row in document.rows):
        return ""
    return "`mpigauge doctor` (what distorts timings on this machine)"
