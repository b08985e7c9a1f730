# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of plots, each kind of which is defined in a file of plots/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.registry import Registry
from mpigauge.result.run_result import RunResults

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture
    from mpigauge.result.run_result import RunResult

MANY_ROWS = 2_000
"""The most rows of the table below a plot, and of all tables of numbers together; more make a page
slow."""


@dataclass(frozen=True)
class Chosen:
    """The benchmark and size to draw; by default all, or what the kind shows first."""

    benchmark: str = ""
    message_bytes: int | None = None


ALL = Chosen()
Draw = Callable[[RunResults, Chosen], "Picture | None"]
"""A function that draws runs. Its value None: the runs hold nothing of this kind."""


@dataclass(frozen=True)
class PlotKind:
    name: str
    about: str
    draw: Draw
    least_runs: int = 1
    """The least number of runs that can be drawn."""
    choices: tuple[str, ...] = ("benchmark",)
    """Fields of Chosen that it heeds."""


PLOTS = Registry[PlotKind]("plot", f"{__name__.rpartition('.')[0]}.plots")


def plot(
    name: str, about: str, least_runs: int = 1, choices: tuple[str, ...] = ("benchmark",)
) -> Callable[[Draw], Draw]:
    """Makes a function the plot of this name."""

    def register(draw: Draw) -> Draw:
        PLOTS.add(name, PlotKind(name, about, draw, least_runs, choices))
        return draw

    return register


def _check_choices(kind: PlotKind, chosen: Chosen) -> None:
    """UserError: the kind does not heed what is chosen."""
    for option, field in (("--benchmark", "benchmark"), ("--size", "message_bytes")):
        if getattr(chosen, field) != getattr(ALL, field) and field not in kind.choices:
            heed = ", ".join(name for name, each in PLOTS.items() if field in each.choices)
            raise UserError(f"{option} has no effect on the plot {kind.name}; it is of {heed}")


def picture_of(kind: PlotKind, runs: Sequence[RunResult], chosen: Chosen = ALL) -> Picture:
    """UserError: the runs hold nothing of this kind; it names what they hold."""
    _check_choices(kind, chosen)
    shown = RunResults(runs)
    if len(shown) < kind.least_runs:
        raise UserError(f"{kind.name} is of {kind.least_runs} runs or more; name others, too")
    picture = kind.draw(shown, chosen)
    if picture is None:
        others = []
        for k in PLOTS.values():
            if k != kind and k.draw(shown, ALL):
                others.append(k.name)
        there = ", ".join(others) or "none at all"
        of = f" of {chosen.benchmark}" if chosen.benchmark else ""
        raise UserError(f"there is no plot '{kind.name}'{of} in this run; it has {there}")
    return picture
