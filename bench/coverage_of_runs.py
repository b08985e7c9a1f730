#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Does the ± for a machine cover what the machine shows, run after run?

A group is one MPI, with `--in 3s` or as it comes, on the machine as it is or beside a burner. Its
runs follow each other, and begin with a history that is empty and of this group alone. The truth of
a cell is the median over all launches of all runs of the group. Runs are kept below --folder, so
groups can be measured one by one and added up, and a group that was cut short goes on; --anew
forgets what is kept of the chosen ones. A group whose run fails does not keep the next from its
turn.

    python bench/coverage_of_runs.py --mpi mpich --budget 3s --load idle
    python bench/coverage_of_runs.py --judge

Exit status: 0 the promises are kept in all groups that are there, 1 one is not, 2 one could not be
measured, or has too few runs to be judged.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import common
from time_to_precision import burners

from mpigauge.cli.runs.comparing import sides_of
from mpigauge.model.between import LEAST_RUNS, cell_name
from mpigauge.model.errors import UserError
from mpigauge.result.compare.compare import compare
from mpigauge.result.document import rows_of_run
from mpigauge.runs.store import Run, list_runs, load

PROMISE = (
    "from the sixth run 90 % of rows, before 80 %; half widths at most 1.5 × the scatter of "
    "runs; false alarms in 5 % of tables"
)
WORDS = ["PingPong", "Allreduce", "Bcast", "--sizes", "8,512,4Ki,64Ki,256Ki", "--ranks", "2"]
QUICK_RUNS = 3
QUICK_WORDS = ["PingPong", "Allreduce", "--sizes", "8,4Ki", "--ranks", "2"]
MPIS, BUDGETS, LOADS = ("mpich", "openmpi", "intel"), ("3s", "default"), ("idle", "burner")
LEAST_COVERED, LEAST_COVERED_FIRST, WIDEST, MOST_ALARMS = 0.90, 0.80, 1.5, 0.05
ENDS = 1.96
_MAD = 1.4826
NOTES = f"""\
covers   rows whose ± for this machine holds the truth, from run {LEAST_RUNS + 1} on (90 %)
first    the same of the first {LEAST_RUNS} runs, which the starting value carries (80 %)
half     the median half width of these ±
by sd    the same by 1.96 robust standard deviations of the runs' values of that cell (at most 1.5)
run's    what the ± of the run itself covers of that truth, and its median half width: no promise
alarms   tables of two runs at different times with any number called FASTER or SLOWER (5 %)"""


@dataclass(frozen=True)
class Group:
    mpi: str
    budget: str
    load: str

    @property
    def name(self) -> str:
        return f"{self.mpi}-{self.budget}-{self.load}"


@dataclass(frozen=True)
class Said:
    """The result of a run for one cell."""

    run: int
    cell: str
    value_s: float
    launches_s: tuple[float, ...]
    low_s: float
    high_s: float
    """Ends for this machine."""
    run_low_s: float
    run_high_s: float


@dataclass(frozen=True)
class Judged:
    runs: int
    covers: float
    first: float
    half: float
    by_sd: float
    of_run: float
    half_of_run: float

    @property
    def kept(self) -> bool:
        enough = self.covers >= LEAST_COVERED and self.first >= LEAST_COVERED_FIRST
        return enough and self.by_sd <= WIDEST


# --- measuring ------------------------------------------------------------------------------------
def measure(group: Group, folder: Path, runs: int, words: Sequence[str]) -> None:
    """The runs that are missing, into run-01, run-02, …"""
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"MPIGAUGE_HISTORY": str((folder / "history").absolute())}
    for number in range(1, runs + 1):
        output = folder / f"run-{number:02d}"
        if is_done(output):
            continue
        shutil.rmtree(output, ignore_errors=True)  # what was cut short
        common.say_progress(f"{group.name}: run {number} of {runs}")
        command = [common.MPIGAUGE, "run", *words, "--mpi", group.mpi]
        command += [] if group.budget == "default" else ["--in", group.budget]
        command += ["--output", str(output), "--format", "csv"]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        if done.returncode:
            raise UserError(f"{group.name}, run {number}: {done.stderr.strip()[-500:]}")
    common.end_progress()


def is_done(output: Path) -> bool:
    """True if this run exists and was not interrupted."""
    try:
        return bool(json.loads((output / "status.json").read_text())["status"] == "done")
    except FileNotFoundError:
        return False


# --- judging --------------------------------------------------------------------------------------
def said_of(run: Run, number: int) -> Iterator[Said]:
    for row in rows_of_run(run, run.plan.get("precision")):
        machine, own = row.machine_time, row.time
        yield Said(
            number,
            cell_name(row.key),
            row.cell.time_p50_s,
            row.values_s,
            *(machine.low, machine.high),
            *(own.low, own.high),
        )


def judge(rows: Sequence[Said]) -> Judged:
    """Judges one group. A row without an interval for the machine covers nothing."""
    truth, scatter = _truths(rows), _scatters(rows)
    later = [each for each in rows if each.run > LEAST_RUNS]
    first = [each for each in rows if each.run <= LEAST_RUNS]
    halves = [_half(each.value_s, each.low_s, each.high_s) for each in later]
    by_sd = [half / (ENDS * scatter[each.cell]) for half, each in zip(halves, later, strict=True)]
    own = [_half(each.value_s, each.run_low_s, each.run_high_s) for each in later]
    return Judged(
        runs=max((each.run for each in rows), default=0),
        covers=_share(each.low_s <= truth[each.cell] <= each.high_s for each in later),
        first=_share(each.low_s <= truth[each.cell] <= each.high_s for each in first),
        half=median(halves) if halves else math.nan,
        by_sd=median(by_sd) if by_sd else math.nan,
        of_run=_share(each.run_low_s <= truth[each.cell] <= each.run_high_s for each in later),
        half_of_run=median(own) if own else math.nan,
    )


def _truths(rows: Sequence[Said]) -> dict[str, float]:
    launches: dict[str, list[float]] = defaultdict(list)
    for each in rows:
        launches[each.cell] += each.launches_s
    return {cell: median(values) for cell, values in launches.items()}


def _scatters(rows: Sequence[Said]) -> dict[str, float]:
    """Robust standard deviations of the logarithms of the runs' values."""
    values: dict[str, list[float]] = defaultdict(list)
    for each in rows:
        values[each.cell].append(math.log(each.value_s))
    return {cell: max(_spread(of), 1e-6) for cell, of in values.items()}


def _spread(logs: Sequence[float]) -> float:
    middle = median(logs)
    return _MAD * median(abs(log - middle) for log in logs)


def _half(value: float, low: float, high: float) -> float:
    return max(high - value, value - low) / value


def _share(hits: Iterator[bool]) -> float:
    outcomes = list(hits)
    return sum(outcomes) / len(outcomes) if outcomes else math.nan


def alarms(runs: Sequence[Run]) -> tuple[int, int]:
    """Tables with a false alarm, and all tables: each run with the one half of all runs later."""
    apart = len(runs) // 2
    wrong = many = 0
    for first, second in zip(runs[:apart], runs[apart : 2 * apart], strict=True):
        for table in compare(sides_of([first, second])).tables:
            verdicts = {line[1].verdict for line in table.lines}
            verdicts |= {each.verdict for each in table.overall if each}
            many += 1
            wrong += bool({"FASTER", "SLOWER"} & verdicts)
    return wrong, many


# --- the page -------------------------------------------------------------------------------------
def line_of(name: str, judged: Judged, alarm: tuple[int, int]) -> str:
    wrong, many = alarm
    return (
        f"{name:<24} {judged.runs:>4} {_percent(judged.covers):>8} {_percent(judged.first):>8} "
        f"{_percent(judged.half):>8} {judged.by_sd:>7.2f} {_percent(judged.of_run):>8} "
        f"{_percent(judged.half_of_run):>8} {f'{wrong}/{many}':>8}"
    )


HEAD = (
    f"{'group':<24} {'runs':>4} {'covers':>8} {'first':>8} {'half':>8} {'by sd':>7} "
    f"{'run covers':>8} {'half':>6} {'alarms':>8}"
)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def runs_of(folder: Path) -> list[Run]:
    """Returns the completed runs of a group, oldest first."""
    if not folder.is_dir():
        return []
    return [load(each.path) for each in list_runs(folder) if each.status == "done"]


def report(root: Path, groups: Sequence[Group], least_runs: int) -> int:
    """Prints the results of these groups, writes results.json, and returns the exit status."""
    status, wrong, many, results = 0, 0, 0, dict[str, Any]()
    print(HEAD)
    for group in groups:
        runs = runs_of(root / group.name)
        if not runs:
            continue
        rows = [each for number, run in enumerate(runs, 1) for each in said_of(run, number)]
        judged, alarm = judge(rows), alarms(runs)
        wrong, many = wrong + alarm[0], many + alarm[1]
        print(line_of(group.name, judged, alarm))
        results[group.name] = {**asdict(judged), "alarms": alarm[0], "tables": alarm[1]}
        if judged.runs < least_runs:
            status = max(status, 2)
        elif not judged.kept:
            status = 1
    if many and wrong > MOST_ALARMS * many:
        status = 1
    print(f"\n{NOTES}")
    if not results:
        return 2
    (root / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return status if status == 2 else common.conclude(status == 0, figures(results, wrong, many))


def figures(results: Mapping[str, Mapping[str, float]], wrong: int, many: int) -> str:
    covers = [each["covers"] for each in results.values()]
    widest = max(each["by_sd"] for each in results.values())
    return (
        f"{len(results)} groups: {100 * min(covers):.1f} to {100 * max(covers):.1f} % covered, "
        f"at most {widest:.2f} × the scatter, {wrong} alarms in {many} tables"
    )


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mpi", action="append", choices=MPIS, help="which (all; again for more)")
    parser.add_argument("--budget", action="append", choices=BUDGETS, help="of each run (both)")
    parser.add_argument("--load", action="append", choices=LOADS, help="beside it (both)")
    parser.add_argument("--runs", type=int, default=20, help="of a group (20)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("build/coverage_of_runs"),
        help="where runs and results.json are kept (build/coverage_of_runs)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--judge", action="store_true", help="measure nothing, judge what is kept")
    what.add_argument("--anew", action="store_true", help="keep nothing of the chosen groups")
    what.add_argument(
        "--quick", action="store_true", help="3 runs of 1 group of 4 cells: does it work at all?"
    )
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    chosen = options.mpi or MPIS, options.budget or BUDGETS, options.load or LOADS
    groups = [Group(*each) for each in product(*chosen)]
    folder, runs, measured = options.folder, options.runs, WORDS
    if options.quick:
        groups, folder, runs, measured = groups[:1], folder / "quick", QUICK_RUNS, QUICK_WORDS
    print(f"# {common.machine()}", flush=True)
    failed = False
    for group in [] if options.judge else groups:
        if options.anew or options.quick:
            shutil.rmtree(folder / group.name, ignore_errors=True)
        beside = burners(options.cores.split(","), options.protect)
        burning = beside if group.load == "burner" else contextlib.nullcontext()
        try:
            with common.protection(options.protect), burning:
                measure(group, folder / group.name, runs, measured)
        except (UserError, subprocess.TimeoutExpired) as error:
            print(f"coverage_of_runs: {error}", file=sys.stderr)
            failed = True
    status = report(folder, groups, LEAST_RUNS + 1)
    if failed:
        return 2
    return 0 if options.quick else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
