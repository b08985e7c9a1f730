#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How often does `mpigauge compare` find a difference where there is none, and one where there is?

A trial is two runs of one thing on this machine, launches in turn (A B B A …), compared as stored
runs are. Then the times of the second run are made longer by a tenth, and they are compared again.
Exit status: 0 alarms in at most 5 % of tables, and the slow-down found in at least 90 % of the rows
that both runs know to ±2 %; 1 not so; 2 it could not be tried, or no row was known so well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import common

from mpigauge.analyse.compare import Comparison, Side, compare
from mpigauge.analyse.items import items
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, parse
from mpigauge.mpi import find, kernels
from mpigauge.stats.launches import rows

MOST_ALARMS = 0.05
LEAST_FOUND = 0.90
KNOWN_TO = 0.02
TIMES = ("time_p50_s", "ci_low_s", "ci_high_s")
"""The columns of a cell that a comparison looks at."""
NOTES = """\
alarms   tables of which any row was called FASTER or SLOWER though both runs are of one thing
found    rows called SLOWER when the second run's times are made longer. A run that does not know a
         row well has to say UNDECIDED; SAME and FASTER are wrong.
±        one standard deviation of such a share of so many, if trials do not depend on each other"""

Launch = Sequence[Cell]
Trial = tuple[Sequence[Launch], Sequence[Launch], Sequence[str]]
"""Launches of the two runs, and which of them each launch was of, in the order of time."""


@dataclass(frozen=True)
class Found:
    """What was said of one trial: a verdict, and how well both runs knew it, for each row."""

    alarms: Sequence[str]
    planted: Sequence[tuple[str, float]]


def measure(
    here: common.Site, words: Sequence[str], launches: int, seed: int, protect: bool
) -> Trial:
    runs: dict[str, list[Launch]] = {"A": [], "B": []}
    order = [side for n in range(launches) for side in ("AB" if n % 2 == 0 else "BA")]
    for at, side in enumerate(order):
        job = common.ours(here, *words, "--seed", str(seed + at))
        runs[side].append(read(common.launch(job, protect).lines))
    return runs["A"], runs["B"], order


def read(lines: Sequence[common.Line]) -> Launch:
    cells = [r.cell for line in lines if isinstance(r := parse(line.text), CellRecord)]
    if any(cell.wrong_count for cell in cells):
        raise UserError("wrong data, so its times mean nothing")
    return cells


def judged(trial: Trial, factor: float) -> Found:
    a, b, order = trial
    slow = [[longer(cell, factor) for cell in launch] for launch in b]
    same, slower = (compare([side("A", a, order), side("B", of, order)]) for of in (b, slow))
    return Found([entry.verdict for entry in same.entries], list(verdicts(slower)))


def side(name: str, launches: Sequence[Launch], order: Sequence[str]) -> Side:
    """A run as `mpigauge compare` sees it, with the times at which its launches began."""
    starts = [f"{at:06}" for at, of in enumerate(order) if of == name]
    numbered = (replace(cell, launch=n) for n, of in enumerate(launches) for cell in of)
    return Side(name, items(rows(numbered)), dict(enumerate(starts)))


def longer(cell: Cell, factor: float) -> Cell:
    return replace(cell, **{name: factor * getattr(cell, name) for name in TIMES})


def verdicts(found: Comparison) -> Iterator[tuple[str, float]]:
    """Of each row, with the wider of the two runs' intervals as a share."""
    for table in found.tables:
        for first, second in table.lines:
            assert first.item is not None
            assert second.item is not None
            errors = (each.value.relative_error for each in (first.item, second.item))
            yield second.verdict, max(errors)


def alarms(trials: Sequence[Found]) -> int:
    """Tables with any."""
    return sum(bool({"FASTER", "SLOWER"} & set(trial.alarms)) for trial in trials)


def planted(trials: Sequence[Found], within: float) -> list[str]:
    """What was said of the rows that both runs know so well."""
    return [said for trial in trials for said, error in trial.planted if error <= within]


def share(count: int, of: int) -> str:
    """3 of 100, 3.0 ±1.7 %."""
    if not of:
        return "none of 0"
    part = count / of
    return f"{count} of {of}, {100 * part:.1f} ±{100 * sqrt(part * (1 - part) / of):.1f} %"


def report(trials: Sequence[Found], factor: float) -> list[str]:
    lines = [f"alarms   {share(alarms(trials), len(trials))} of tables (promised: at most 5 %)"]
    for within in (KNOWN_TO, 0.05, 0.10):
        said = planted(trials, within)
        wrong = len(said) - said.count("SLOWER") - said.count("UNDECIDED")
        lines.append(
            f"found    +{100 * (factor - 1):.0f} % in rows known to ±{100 * within:.0f} %: "
            f"{share(said.count('SLOWER'), len(said))}; wrong {wrong}"
        )
    return lines


def status(trials: Sequence[Found]) -> int:
    known = planted(trials, KNOWN_TO)
    if not known:
        return 2
    kept = alarms(trials) <= MOST_ALARMS * len(trials)
    return 0 if kept and known.count("SLOWER") >= LEAST_FOUND * len(known) else 1


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=100, help="pairs of runs (100)")
    parser.add_argument("--launches", type=int, default=6, help="of each run (6)")
    parser.add_argument("--seconds", type=float, default=1.0, help="measured in a launch (1)")
    parser.add_argument("--mpi", default="mpich", help="which (mpich)")
    parser.add_argument("--benchmark", default="PingPong", help="which (PingPong)")
    parser.add_argument("--sizes", default="", help="with commas; else 0 … 4 MiB, 24 of them")
    parser.add_argument("--longer", type=float, default=1.1, help="the planted factor (1.1)")
    parser.add_argument("--quick", action="store_true", help="1 trial: does it work at all?")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    said = ["--benchmarks", options.benchmark, "--ranks", "2", "--seconds", str(options.seconds)]
    said += ["--sizes", options.sizes] if options.sizes else []
    found: list[Found] = []
    try:
        print(f"# {common.machine()}", flush=True)
        mpi = find(options.mpi)
        here = common.Site(mpi, kernels(mpi), options.cores, {})
        with common.protection(options.protect):
            for number in range(1 if options.quick else options.trials):
                common.say_progress(f"trial {number + 1}; {alarms(found)} alarms")
                seed = 1 + 2 * options.launches * number
                trial = measure(here, said, options.launches, seed, options.protect)
                found.append(judged(trial, options.longer))
        common.end_progress()
    except UserError as error:
        print(f"compare_truth: {error}", file=sys.stderr)
        return 2
    print(f"# {mpi.label}; trials: {len(found)}, each of 2 x {options.launches} launches\n")
    print("\n".join(report(found, options.longer)), NOTES, sep="\n\n")
    return status(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
