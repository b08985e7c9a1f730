#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How often does `mpigauge compare` find a difference where there is none, and one where there is?

A trial is two runs of one thing on this machine, launches in turn (A B B A …), compared as stored
runs are. Then the times of the second run are made longer by a tenth, and they are compared again.
Both are done once more after one launch in 20, drawn by lot, was made three times as long.

With --apart the runs follow each other, and each knows of the runs before it, as stored runs do.

Exit status: 0 alarms in at most 5 % of tables, and the slow-down found in at least 90 % of the rows
that both runs know to ±2 % (in turn only); 1 not so; 2 it could not be tried, or no row was known
so well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random

import common

from mpigauge.model.between import Remembered
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.row import Row
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.comparison import Comparison
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.side import Side
from mpigauge.result.stats.history import between, remember
from mpigauge.result.stats.launches import rows
from mpigauge.site.mpi import find, kernels

PROMISE = (
    "a false alarm in at most 5 % of tables; at least 90 % of slow-downs found in rows known "
    "to ±2 %"
)
MOST_ALARMS = 0.05
LEAST_FOUND = 0.90
KNOWN_TO = 0.02
WILD, TIMES_AS_LONG = 1 / 20, 3.0
"""The share of launches that are made longer, and by which factor."""
TIMES = ("time_p50_s", "ci_low_s", "ci_high_s")
"""The columns of a cell that a comparison looks at."""
NOTES = """\
alarms   tables of which any row, or the curve, was called FASTER or SLOWER though both runs are of
         one thing
wild     the same after one launch in 20 was made three times as long
curve    called SLOWER over all sizes when the second run's times are made longer
found    rows called SLOWER when the second run's times are made longer. A run that does not know a
         row well has to say UNDECIDED; SAME and FASTER are wrong.
±        one standard deviation of such a share of so many, if trials do not depend on each other"""

Launch = Sequence[Cell]
Trial = tuple[Sequence[Launch], Sequence[Launch], Sequence[str]]
"""Launches of the two runs, and which of them each launch was of, in the order of time."""


@dataclass(frozen=True)
class Found:
    """The verdicts of one trial."""

    alarms: Sequence[str]
    """The verdicts on each row and on the curve of two runs of one thing."""
    planted: Sequence[tuple[str, float]]
    """The verdict on each row with longer times, and the wider relative error of both runs."""
    curve: str = ""
    """The verdict on the curve with longer times; empty: it has one size."""
    wild: Sequence[str] = ()
    """The verdicts of `alarms`, with wild launches."""
    wild_curve: str = ""


def measure(
    here: common.Site, words: Sequence[str], order: Sequence[str], seed: int, protect: bool
) -> Trial:
    runs: dict[str, list[Launch]] = {"A": [], "B": []}
    for at, side in enumerate(order):
        job = common.ours(here, *words, "--seed", str(seed + at))
        runs[side].append(common.our_cells(common.launch(job, protect).lines))
    return runs["A"], runs["B"], order


def order_of(launches: int, apart: bool) -> Sequence[str]:
    """Returns the order of the launches of two runs: A B B A …, or one run after the other."""
    if apart:
        return ["A"] * launches + ["B"] * launches
    return [side for n in range(launches) for side in ("AB" if n % 2 == 0 else "BA")]


def judged(
    trial: Trial,
    factor: float,
    lot: Random | None = None,
    memory: list[Remembered] | None = None,
) -> Found:
    """Returns the verdicts of a trial. `memory`: the history of runs at different times, to which
    both are appended; None: launches were taken in turn."""
    lot = lot or Random(1)
    wild = wilder(trial, lot)
    same, slower = (compared(each, memory) for each in (trial, with_longer(trial, factor)))
    odd, odd_slower = (compared(each, memory) for each in (wild, with_longer(wild, factor)))
    if memory is not None:
        for launches in trial[:2]:
            memory.append(remember(rows_of(launches), memory))
    return Found(
        [each.verdict for each in same.verdicts],
        list(verdicts(slower)),
        "".join(curve.verdict for curve in slower.curves),
        [each.verdict for each in odd.verdicts],
        "".join(curve.verdict for curve in odd_slower.curves),
    )


def compared(trial: Trial, memory: list[Remembered] | None) -> Comparison:
    """Compares both runs; the history of the second includes the first."""
    a, b, order = trial
    later = None if memory is None else [*memory, remember(rows_of(a), memory)]
    return compare([side("A", a, order, memory), side("B", b, order, later)])


def side(
    name: str, launches: Sequence[Launch], order: Sequence[str], memory: list[Remembered] | None
) -> Side:
    """A run as `mpigauge compare` sees it, with the times at which its launches began."""
    starts = [f"{at:06}" for at, of in enumerate(order) if of == name]
    side_rows = rows_of(launches)
    if memory is not None:
        scatters = between(side_rows, memory)
        side_rows = [replace(row, scatter=scatters.of(row.key)) for row in side_rows]
    return Side(name, items(side_rows), dict(enumerate(starts)), run_alone=memory is not None)


def rows_of(launches: Sequence[Launch]) -> list[Row]:
    return rows(replace(cell, launch=n) for n, of in enumerate(launches) for cell in of)


def with_longer(trial: Trial, factor: float) -> Trial:
    a, b, order = trial
    return a, [[longer(cell, factor) for cell in launch] for launch in b], order


def wilder(trial: Trial, lot: Random) -> Trial:
    """The same with launches drawn by lot that take three times as long, at all sizes."""
    a, b, order = trial
    first, second = (
        [
            [longer(cell, TIMES_AS_LONG) for cell in launch] if lot.random() < WILD else launch
            for launch in launches
        ]
        for launches in (a, b)
    )
    return first, second, order


def longer(cell: Cell, factor: float) -> Cell:
    return replace(cell, **{name: factor * getattr(cell, name) for name in TIMES})


def verdicts(comparison: Comparison) -> Iterator[tuple[str, float]]:
    """Yields the verdict on each row, with the wider relative error of the two runs."""
    for table in comparison.tables:
        for first, second in table.lines:
            assert first.item is not None
            assert second.item is not None
            errors = (each.value.relative_error for each in (first.item, second.item))
            yield second.verdict, max(errors)


def alarms(tables: Iterable[Sequence[str]]) -> int:
    """Counts the tables with an alarm."""
    return sum(bool({"FASTER", "SLOWER"} & set(each)) for each in tables)


def planted(trials: Sequence[Found], within: float) -> list[str]:
    """Returns the verdicts on the rows with relative errors of at most `within` in both runs."""
    return [verdict for trial in trials for verdict, error in trial.planted if error <= within]


def share(count: int, of: int) -> str:
    """3 of 100, 3.0 ±1.7 %."""
    if not of:
        return "none of 0"
    part = count / of
    return f"{count} of {of}, {100 * part:.1f} ±{100 * sqrt(part * (1 - part) / of):.1f} %"


def report(trials: Sequence[Found], factor: float) -> list[str]:
    count = len(trials)
    both = alarms(trial.alarms for trial in trials), alarms(trial.wild for trial in trials)
    lines = [f"alarms   {share(both[0], count)} of tables (promised: at most 5 %)"]
    lines += [f"         {share(both[1], count)} with wild launches (promised: at most 5 %)"]
    for where, curves in (
        ("", [trial.curve for trial in trials]),
        (" with wild launches", [trial.wild_curve for trial in trials]),
    ):
        wrong = curves.count("FASTER") + curves.count("SAME")
        detection = share(curves.count("SLOWER"), count)
        lines += [f"curve    +{100 * (factor - 1):.0f} %{where}: {detection}; wrong {wrong}"]
    for within in (KNOWN_TO, 0.05, 0.10):
        row_verdicts = planted(trials, within)
        wrong = len(row_verdicts) - row_verdicts.count("SLOWER") - row_verdicts.count("UNDECIDED")
        lines.append(
            f"found    +{100 * (factor - 1):.0f} % in rows known to ±{100 * within:.0f} %: "
            f"{share(row_verdicts.count('SLOWER'), len(row_verdicts))}; wrong {wrong}"
        )
    return lines


def status(trials: Sequence[Found], apart: bool = False) -> int:
    most = MOST_ALARMS * len(trials)
    kept = all(
        alarms(tables) <= most
        for tables in ([trial.alarms for trial in trials], [trial.wild for trial in trials])
    )
    row_verdicts = planted(trials, KNOWN_TO)
    if apart:
        return 0 if kept else 1
    if not row_verdicts:
        return 2
    return 0 if kept and row_verdicts.count("SLOWER") >= LEAST_FOUND * len(row_verdicts) else 1


def figures(trials: Sequence[Found]) -> str:
    wrong = alarms(each for trial in trials for each in (trial.alarms, trial.wild))
    verdicts = planted(trials, KNOWN_TO)
    rows = f"{verdicts.count('SLOWER')} of {len(verdicts)} slow-downs in rows known to ±2 %"
    return f"{wrong} alarms in {2 * len(trials)} tables; found {rows}"


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=100, help="pairs of runs (100)")
    parser.add_argument("--launches", type=int, default=6, help="of each run (6)")
    parser.add_argument("--seconds", type=float, default=1.0, help="measured in a launch (1)")
    parser.add_argument("--mpi", default="mpich", help="which (mpich)")
    parser.add_argument("--benchmark", default="PingPong", help="which (PingPong)")
    parser.add_argument("--sizes", default="", help="with commas; else 0 … 4 MiB, 24 of them")
    parser.add_argument("--longer", type=float, default=1.1, help="the planted factor (1.1)")
    parser.add_argument("--apart", action="store_true", help="one run after the other, not in turn")
    parser.add_argument("--quick", action="store_true", help="1 trial: does it work at all?")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    run_options = [
        "--benchmarks",
        options.benchmark,
        "--ranks",
        "2",
        "--seconds",
        str(options.seconds),
    ]
    run_options += ["--sizes", options.sizes] if options.sizes else []
    trials: list[Found] = []
    order, lot = order_of(options.launches, options.apart), Random(1)
    memory: list[Remembered] | None = [] if options.apart else None
    try:
        print(f"# {common.machine()}", flush=True)
        mpi = find(options.mpi)
        here = common.Site(mpi, kernels(mpi), options.cores, {})
        with common.protection(options.protect):
            for number in range(1 if options.quick else options.trials):
                until_now = alarms(trial.alarms for trial in trials)
                common.say_progress(f"trial {number + 1}; {until_now} alarms")
                seed = 1 + 2 * options.launches * number
                trial = measure(here, run_options, order, seed, options.protect)
                trials.append(judged(trial, options.longer, lot, memory))
        common.end_progress()
    except UserError as error:
        print(f"compare_truth: {error}", file=sys.stderr)
        return 2
    print(f"# {mpi.label}; trials: {len(trials)}, each of 2 x {options.launches} launches\n")
    print("\n".join(report(trials, options.longer)), NOTES, sep="\n\n")
    code = status(trials, options.apart)
    return code if code == 2 else common.conclude(code == 0, figures(trials))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
