#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long do a usual loop and mpigauge measure until a table comes out the same within 5 %?

Both measure the default PingPong table (24 sizes, 2 ranks) many times, in turn. On Intel MPI the
loop is IMB's; on others it is bench/plain_pingpong.cpp, with as many calls, started by the same
launcher. Of the launches of each, L are drawn again and again; the median over L launches scatters,
and half the width of its central 95 % is the run-to-run error of a user who takes L launches. The
smallest L at which that error (of the median size) is within 5 %, times the measuring time of a
launch, is the cost of the precision.

Launches during another state of the machine than most (common.in_one_state) are left out for both;
the result with all launches is printed too.

With --command ours is the command that people type, `mpigauge run PingPong`: Python, planning, six
launches or more and the table, on a machine with earlier runs in its history. Each round runs the
command, and launches of the loop in a row for as long as the command took. Launches that are drawn
from the whole bench would share no minute, which those of a user do. The error is that of the
command, or of the median over the first L launches in a row, from round to round. The ratio of both
errors has an interval over rounds; if that contains the goal, the verdict is UNDECIDED.

Exit status: 0 the goal is met (a third of the loop's measuring time, with --burner a tenth; with
--command no larger error than the loop's in the same wall time), 1 it is not, or that is undecided,
2 it could not be tried.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

import common
import numpy as np
from common import Cell, Site
from numpy.typing import NDArray

from mpigauge.model.between import LEAST_RUNS
from mpigauge.model.errors import UserError
from mpigauge.model.record import End
from mpigauge.model.units import byte_count
from mpigauge.runs.store import load
from mpigauge.site.launch import Command, Job
from mpigauge.site.launch import command as start_words
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.quick_start import is_slow_version, quick_start

LOOP, OURS = TOOLS = ("loop", "mpigauge")
PROMISE = (
    "a third of IMB's measuring time for ±5 %, beside a burner a tenth; with --command no "
    "larger error in the same time"
)
TARGET = 0.05
GOAL, GOAL_WITH_BURNER, GOAL_OF_COMMAND = 1 / 3, 1 / 10, 1.0
COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""Launches that a user may take the median of."""
DRAWS, RESAMPLES = 4000, 2000
SMALL_BYTES = 64
LEAST_KEPT = 3
TCP = {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}
BURNER = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
tick = time.monotonic()
while True:
    start = time.monotonic()
    while time.monotonic() < start + 1e-3: pass
    tick = max(tick + 10e-3, time.monotonic())
    time.sleep(max(0, tick - time.monotonic()))
"""
NOTES = """\
measuring   inside the job: from the heading of the table to its last row (loop); from the end of
            start-up until all rows are out, data check included (ours, as it reports itself)
wall        of the whole launch, or command
error       of one launch: half the central 95 % of the launches' values, median and worst size"""


@dataclass(frozen=True)
class Launch:
    tool: str
    times: dict[int, float]
    """Microseconds of each size, in the order of sizes."""
    measuring_s: float
    wall_s: float

    @property
    def latency(self) -> float:
        """The shortest: noise does not move it, the state of the machine does."""
        return min(time for size, time in self.times.items() if size <= SMALL_BYTES)


@dataclass(frozen=True)
class Cost:
    """The cost at which a tool reaches the target; without launches it does not reach it."""

    launches: int | None
    measuring_s: float
    wall_s: float


def measure(here: Site, count: int, protect: bool) -> list[Launch]:
    """Launches both tools `count` times, in reversed order every other time."""
    launches = []
    with tempfile.TemporaryDirectory() as folder:
        loop = loop_of(here, Path(folder))
        for n in range(count):
            for tool in TOOLS if n % 2 == 0 else reversed(TOOLS):
                common.say_progress(f"launch {n + 1} of {count}: {tool}")
                if tool == LOOP:
                    launches.append(loop_launch(loop, protect))
                else:
                    launches.append(one_launch(here, n, protect))
    common.end_progress()
    return launches


class Round(NamedTuple):
    """A command, and the launches of the loop that took as long, in a row."""

    command: Launch
    loops: list[Launch]


def measure_commands(here: Site, count: int, protect: bool) -> list[Round]:
    """Runs the command `count` times; the loop comes before it every other time. The first runs,
    which only fill the history, do not count."""
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        loop = loop_of(here, root)
        first = [whole_command(here, root, n, protect) for n in range(LEAST_RUNS)]
        wall_s = median(run.wall_s for run in first)
        for n in range(count):
            common.say_progress(f"round {n + 1} of {count}")
            loops = in_a_row(loop, wall_s, protect) if n % 2 else []
            command = whole_command(here, root, LEAST_RUNS + n, protect)
            wall_s = command.wall_s
            rounds.append(Round(command, loops or in_a_row(loop, wall_s, protect)))
    common.end_progress()
    return rounds


def in_a_row(loop: Command, seconds: float, protect: bool) -> list[Launch]:
    """Launches the loop as often as fits the time, and at least once."""
    launches = [loop_launch(loop, protect)]
    while sum(launch.wall_s for launch in launches) + launches[0].wall_s <= seconds:
        launches.append(loop_launch(loop, protect))
    return launches


def together(launches: Sequence[Launch]) -> Launch:
    """Several launches of a tool as one: medians of their times, sums of what they took."""
    times = {size: median(each.times[size] for each in launches) for size in launches[0].times}
    walls, measuring = zip(*((each.wall_s, each.measuring_s) for each in launches), strict=True)
    return Launch(launches[0].tool, times, sum(measuring), sum(walls))


class Conclusion(NamedTuple):
    """The page of a bench with its last line."""

    text: str
    figures: str
    is_kept: bool | None


def report_commands(rounds: Sequence[Round]) -> Conclusion:
    """Prints the error of launches in a row by their number, and that of the command."""
    fit = min(len(each.loops) for each in rounds)
    rows = {f"{n} loops": [together(each.loops[:n]) for each in rounds] for n in COUNTS if n <= fit}
    rows["as many as fit"] = [together(each.loops) for each in rounds]
    rows["the command"] = [each.command for each in rounds]
    lines = [f"{'':<16}{'wall s':>8}{'median error':>14}{'largest':>9}"]
    for name, launches in rows.items():
        own = errors(launches, 1)
        wall = median(launch.wall_s for launch in launches)
        lines.append(f"{name:<16}{wall:>8.2f}{median(own):>14.1%}{max(own):>9.1%}")
    low, ratio, high = ratio_of_errors(rows["the command"], rows["as many as fit"])
    figures = f"error {ratio:.2f} of the loop's in the same time, {low:.2f} to {high:.2f}"
    return Conclusion("\n".join(lines), figures, is_met_by_command(low, high))


def is_met_by_command(low: float, high: float) -> bool | None:
    """True or false if the whole interval of the ratio is on one side of the goal."""
    if high <= GOAL_OF_COMMAND:
        return True
    return False if low > GOAL_OF_COMMAND else None


def ratio_of_errors(ours: Sequence[Launch], its: Sequence[Launch]) -> tuple[float, float, float]:
    """Returns the ratio of two run-to-run errors (of the median size) between the ends of its 95 %
    interval, from rounds that are drawn again and again, each with both of its launches."""
    rng = np.random.default_rng(1)
    drawn = rng.integers(len(ours), size=(RESAMPLES, len(ours)))
    all_rounds = np.arange(len(ours))[None]
    with np.errstate(divide="ignore", invalid="ignore"):  # a draw of one round has no error
        ratios = [
            _median_errors(ours, rounds) / _median_errors(its, rounds)
            for rounds in (all_rounds, drawn)
        ]
    low, high = np.nanquantile(ratios[1], (0.025, 0.975))
    return float(low), float(ratios[0][0]), float(high)


def _median_errors(launches: Sequence[Launch], rounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the error of the median size for each row of rounds."""
    table = np.array([list(launch.times.values()) for launch in launches])[rounds]
    low, high = np.quantile(table, (0.025, 0.975), axis=1)
    errors: NDArray[np.float64] = np.median((high - low) / 2 / np.median(table, axis=1), axis=1)
    return errors


def loop_of(here: Site, folder: Path) -> Command:
    if here.mpi.name == "intel":
        return common.imb(here, "PingPong")
    return plain_loop(here, folder)


def plain_loop(here: Site, folder: Path) -> Command:
    """The plain loop, which binds its ranks to the cores itself."""
    program = common.mpi_program("plain_pingpong", here.mpi, folder)
    is_slow = is_slow_version(here.mpi.name, here.mpi.version)
    settings = quick_start(here.mpi, here.settings, os.environ) if is_slow else {}
    words = (str(program), here.cores)
    return start_words(Job(here.mpi, here.ranks, words, env={**here.settings, **settings}))


def loop_launch(loop: Command, protect: bool) -> Launch:
    out = common.launch(loop, protect)
    return _launch(LOOP, common.imb_rows(out.lines), common.imb_measuring_s(out.lines), out.wall_s)


def one_launch(here: Site, n: int, protect: bool) -> Launch:
    words = ("--benchmarks", "PingPong", "--precision", str(TARGET), "--seed", str(n + 1))
    out = common.launch(common.ours(here, *words), protect)
    return _launch(OURS, common.our_rows(out.lines), common.our_measuring_s(out.lines), out.wall_s)


def _launch(tool: str, rows: Mapping[Cell, float], measuring_s: float, wall_s: float) -> Launch:
    times = {size: time for (_, size), time in sorted(rows.items())}
    return Launch(tool, times, measuring_s, wall_s)


def whole_command(here: Site, root: Path, n: int, protect: bool) -> Launch:
    """Runs the whole command as a user types it, on a machine with a history."""
    program = str(Path(sys.executable).with_name("mpigauge"))
    with tempfile.TemporaryDirectory(dir=root) as folder:
        words = (program, "run", "PingPong", "--mpi", here.mpi.name, "--bind", here.cores)
        output = ("--output", f"{folder}/run", "--format", "csv", "--seed", str(n + 1))
        env = {**here.settings, "MPIGAUGE_HISTORY": str(root / "history")}
        out = common.launch(Command((*words, *output), env), protect)
        ends = [end for end in load(Path(folder, "run")).of(End) if end.measuring_s > 0]
    rows = csv.DictReader(line.text for line in out.lines)
    times = {("PingPong", int(row["message_bytes"])): 1e6 * float(row["latency_s"]) for row in rows}
    return _launch(OURS, times, sum(end.measuring_s for end in ends), out.wall_s)


def of(tool: str, launches: Sequence[Launch]) -> list[Launch]:
    return [launch for launch in launches if launch.tool == tool]


def in_one_state(launches: Sequence[Launch]) -> list[Launch]:
    good = common.in_one_state([launch.latency for launch in launches])
    return [launch for launch, is_good in zip(launches, good, strict=True) if is_good]


def errors(launches: Sequence[Launch], count: int) -> list[float]:
    """Returns the relative run-to-run error of the median over `count` launches, by size."""
    table = np.array([list(launch.times.values()) for launch in launches])
    drawn = np.random.default_rng(count).integers(len(table), size=(DRAWS, count))
    medians = np.median(table[drawn], axis=1)
    low, high = np.quantile(medians, (0.025, 0.975), axis=0)
    return [float(e) for e in (high - low) / 2 / np.median(table, axis=0)]


def cost(launches: Sequence[Launch]) -> Cost:
    measuring = median(launch.measuring_s for launch in launches)
    wall = median(launch.wall_s for launch in launches)
    reached = (count for count in COUNTS if median(errors(launches, count)) <= TARGET)
    count = next(reached, None)
    factor = count or COUNTS[-1]
    return Cost(count, factor * measuring, factor * wall)


@contextlib.contextmanager
def burners(cores: Sequence[str], protect: bool) -> Iterator[None]:
    """Starts on each core a process that works 1 ms in every 10 ms, as important as the jobs."""
    with contextlib.ExitStack() as stack:
        for core in cores:
            words = [sys.executable, "-c", BURNER, core]
            child = stack.enter_context(subprocess.Popen(words, start_new_session=True))
            stack.callback(child.terminate)
            if protect:
                common.give_way_to(child.pid)
        yield


def summary(launches: Sequence[Launch]) -> str:
    form = "{:<10} {:>8} {:>22} {:>9} {:>18}"
    lines = [form.format("", "launches", "measuring ms (range)", "wall ms", "error of a launch")]
    for tool in TOOLS:
        mine = of(tool, launches)
        took = [1e3 * launch.measuring_s for launch in mine]
        one = errors(mine, 1)
        measuring = f"{median(took):.0f} ({min(took):.0f}-{max(took):.0f})"
        wall = f"{1e3 * median(launch.wall_s for launch in mine):.0f}"
        lines.append(
            form.format(tool, len(mine), measuring, wall, f"{median(one):.1%} / {max(one):.1%}")
        )
    return "\n".join(lines)


def by_count(launches: Sequence[Launch]) -> str:
    """Error of the median size for each number of launches; * means more than were made."""
    lines = ["median of L" + "".join(f"{tool:>10}" for tool in TOOLS)]
    for count in COUNTS:
        values = (median(errors(of(tool, launches), count)) for tool in TOOLS)
        mark = "*" if 2 * count > len(launches) else " "
        lines.append(f"{count:>10}{mark}" + "".join(f"{value:>10.1%}" for value in values))
    return "\n".join(lines)


def where_we_lose(launches: Sequence[Launch]) -> str:
    """The sizes at which one launch of ours scatters more than one of the loop."""
    loop, ours = (of(tool, launches) for tool in TOOLS)
    pairs = zip(ours[0].times, errors(ours, 1), errors(loop, 1), strict=True)
    worse = [
        f"{byte_count(n)} ({mine:.0%}, loop {its:.0%})" for n, mine, its in pairs if mine > its
    ]
    return "a launch scatters more than the loop's at: " + (", ".join(worse) or "no size")


def verdict(launches: Sequence[Launch], goal: float) -> Conclusion:
    its, mine = (cost(of(tool, launches)) for tool in TOOLS)
    lines = [sentence(LOOP, its), sentence(OURS, mine)]
    if mine.launches is None:
        return Conclusion("\n".join(lines), "not reached by us, so no ratio", False)
    least = "" if its.launches else "at most "
    measuring, wall = mine.measuring_s / its.measuring_s, mine.wall_s / its.wall_s
    figures = f"measuring time {least}{measuring:.2f} of the loop's, wall time {least}{wall:.2f}"
    return Conclusion("\n".join([*lines, figures]), figures, measuring <= goal)


def sentence(name: str, what: Cost) -> str:
    if what.launches is None:
        return f"{name} does not reach ±{TARGET:.0%} with {COUNTS[-1]} launches"
    times = f"{what.measuring_s:.2f} s of measuring, {what.wall_s:.1f} s in all"
    return f"{name} reaches ±{TARGET:.0%} with {what.launches} launches: {times}"


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=int, default=40, help="of each instrument (40)")
    parser.add_argument("--quick", action="store_true", help="3 launches: does it work at all?")
    parser.add_argument("--burner", action="store_true", help="beside 1 ms of work every 10 ms")
    parser.add_argument("--command", action="store_true", help="ours is `mpigauge run PingPong`")
    parser.add_argument("--mpi", default="intel", choices=("mpich", "openmpi", "intel"))
    parser.add_argument("--tcp", action="store_true", help="over TCP instead of shared memory")
    common.add_options(parser)
    return parser.parse_args(words)


def site(options: argparse.Namespace) -> Site:
    if options.mpi == "intel":
        return common.site(options.cores, TCP if options.tcp else {})
    if options.tcp:
        raise UserError("--tcp: only Intel MPI is started so; leave out --mpi")
    mpi = find(options.mpi)
    return Site(mpi, kernels(mpi), options.cores, {})


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    count = 3 if options.quick else options.launches
    beside = burners(options.cores.split(","), options.protect)
    try:
        conditions = common.machine()
        here = site(options)
        burning = beside if options.burner else contextlib.nullcontext()
        with common.protection(options.protect), burning:
            if options.command:
                result = report_commands(measure_commands(here, count, options.protect))
            else:
                goal = GOAL_WITH_BURNER if options.burner else GOAL
                result = report(measure(here, count, options.protect), goal)
    except UserError as error:
        print(f"time_to_precision: {error}", file=sys.stderr)
        return 2
    print(f"# {here.mpi.label}{', TCP' if options.tcp else ''}, {conditions}")
    print(f"# beside a burner on each core: {'yes' if options.burner else 'no'}")
    print(f"# ours is {'the default command' if options.command else 'one launch'}\n")
    print(result.text)
    return common.conclude(result.is_kept, result.figures)


def report(launches: Sequence[Launch], goal: float) -> Conclusion:
    kept = in_one_state(launches)
    with_all = verdict(launches, goal)
    if min(len(of(tool, kept)) for tool in TOOLS) < LEAST_KEPT:
        sorry = "no state of the machine lasted; this is from all launches"
        parts = [summary(launches), NOTES, by_count(launches), with_all.text, sorry]
        return with_all._replace(text="\n\n".join(parts))
    result = verdict(kept, goal)
    parts = [summary(kept), NOTES, by_count(kept), where_we_lose(kept), result.text]
    if len(kept) < len(launches):
        left_out = " and ".join(f"{len(of(t, launches)) - len(of(t, kept))} of {t}" for t in TOOLS)
        parts.append(f"left out, in or beside another state of the machine: {left_out}")
        parts.append(f"with all launches:\n{with_all.text}")
    return result._replace(text="\n\n".join(parts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
