#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long do IMB and we have to measure until a table comes out the same again, within 5 %?

Both measure the default PingPong table (24 sizes, 2 ranks) many times, in turn, on Intel MPI. Of
the launches of each, L are drawn again and again; the median over L launches scatters, and half
the width of its central 95 % is the run-to-run error of a user who takes L launches. The smallest
L at which that error (of the median size) is within 5 %, times the measuring time of a launch, is
what the precision costs.

Some machines change their state as a whole from second to second: a guest whose cores the host
places now close together, now far apart has two latencies, a factor of two apart. Launches in
another state than most are left out for both, by the shortest time of their smallest messages,
which noise does not move; what the result would be with all of them is printed too.

Exit status: 0 the goal is met (a third of IMB's measuring time, with --burner a tenth), 1 it is
not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import common
import numpy as np
from common import Site

from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count

TARGET = 0.05
GOAL, GOAL_WITH_BURNER = 1 / 3, 1 / 10
COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""Launches that a user may take the median of."""
DRAWS = 4000
STATE_WITHIN = 0.25
STATE_BYTES = 64
LEAST_KEPT = 0.5
TCP = {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}
BURNER = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
tick = time.monotonic()
while True:
    start = time.monotonic()
    while time.monotonic() < start + 1e-3: pass
    tick = max(tick + 10e-3, time.monotonic())
    time.sleep(tick - time.monotonic())
"""
NOTES = """\
measuring   inside the job: from the heading of the table to its last row (IMB); from the end of
            start-up until all rows are out, data check included (ours, as it reports itself)
wall        of the whole launch; ours listens to the machine's noise for 0.2 s of it
error       of one launch: half the central 95 % of what the launches gave, median and worst size"""


@dataclass(frozen=True)
class Tool:
    """What the launches of an instrument brought."""

    name: str
    times: tuple[dict[int, float], ...]
    """Per launch: microseconds of each size."""
    measuring_s: tuple[float, ...]
    wall_s: tuple[float, ...]

    @property
    def sizes(self) -> list[int]:
        return list(self.times[0])


@dataclass(frozen=True)
class Cost:
    """What a tool needs to reach the target; without launches it does not reach it."""

    launches: int | None
    measuring_s: float
    wall_s: float


def measure(here: Site, launches: int, protect: bool) -> tuple[Tool, Tool]:
    runs: dict[str, list[tuple[dict[int, float], float, float]]] = {"IMB": [], "mpigauge": []}
    for n in range(launches):
        order = list(runs)
        for name in order if n % 2 == 0 else reversed(order):
            common.say_progress(f"launch {n + 1} of {launches}: {name}")
            runs[name].append(one_launch(here, name, n, protect))
    common.end_progress()
    imb, ours = (Tool(name, *zip(*taken, strict=True)) for name, taken in runs.items())
    return imb, ours


def one_launch(
    here: Site, name: str, n: int, protect: bool
) -> tuple[dict[int, float], float, float]:
    """Times by size, measuring time, wall time."""
    if name == "IMB":
        out = common.launch(common.imb(here, "PingPong"), protect)
        rows, took = common.imb_rows(out.lines), common.imb_measuring_s(out.lines)
    else:
        words = ("--benchmarks", "PingPong", "--precision", str(TARGET), "--seed", str(n + 1))
        out = common.launch(common.ours(here, *words), protect)
        rows, took = common.our_rows(out.lines), common.our_measuring_s(out.lines)
    return {size: time for (_, size), time in rows.items()}, took, out.wall_s


def errors(tool: Tool, count: int) -> list[float]:
    """Per size: relative run-to-run error of the median over so many launches."""
    table = np.array([[launch[size] for size in tool.sizes] for launch in tool.times])
    drawn = np.random.default_rng(count).integers(len(table), size=(DRAWS, count))
    medians = np.median(table[drawn], axis=1)
    low, high = np.quantile(medians, (0.025, 0.975), axis=0)
    return [float(e) for e in (high - low) / 2 / np.median(table, axis=0)]


def in_one_state(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Without the launches during which the machine was not as it was most of the time."""
    usual = median(state(times) for tool in tools for times in tool.times)
    return tuple(only(tool, usual) for tool in tools)


def state(times: dict[int, float]) -> float:
    return min(time for size, time in times.items() if size <= STATE_BYTES)


def only(tool: Tool, usual: float) -> Tool:
    kept = [i for i, t in enumerate(tool.times) if abs(state(t) / usual - 1) <= STATE_WITHIN]
    return Tool(
        tool.name,
        tuple(tool.times[i] for i in kept),
        tuple(tool.measuring_s[i] for i in kept),
        tuple(tool.wall_s[i] for i in kept),
    )


def cost(tool: Tool) -> Cost:
    for count in COUNTS:
        if median(errors(tool, count)) <= TARGET:
            wall = count * median(tool.wall_s)
            return Cost(count, count * median(tool.measuring_s), wall)
    most = COUNTS[-1]
    return Cost(None, most * median(tool.measuring_s), most * median(tool.wall_s))


@contextlib.contextmanager
def burners(cores: Sequence[str], protect: bool) -> Iterator[None]:
    """On each core a process that works for 1 ms in every 10 ms; as important as the jobs."""
    with contextlib.ExitStack() as stack:
        for core in cores:
            words = [sys.executable, "-c", BURNER, core]
            child = stack.enter_context(subprocess.Popen(words, start_new_session=True))
            stack.callback(child.terminate)
            if protect:
                common.give_way_to(child.pid)
        yield


def summary(tools: Sequence[Tool]) -> str:
    form = "{:<10} {:>8} {:>22} {:>9} {:>18}"
    lines = [form.format("", "launches", "measuring ms (range)", "wall ms", "error of a launch")]
    for tool in tools:
        took = [1e3 * s for s in tool.measuring_s]
        one = errors(tool, 1)
        lines.append(
            form.format(
                tool.name,
                len(tool.times),
                f"{median(took):.0f} ({min(took):.0f}-{max(took):.0f})",
                f"{1e3 * median(tool.wall_s):.0f}",
                f"{median(one):.1%} / {max(one):.1%}",
            )
        )
    return "\n".join(lines)


def by_count(tools: Sequence[Tool]) -> str:
    """Error of the median size for each number of launches; * means more than were made."""
    lines = ["median of L" + "".join(f"{tool.name:>10}" for tool in tools)]
    for count in COUNTS:
        values = "".join(f"{median(errors(tool, count)):>10.1%}" for tool in tools)
        mark = "*" if count > len(tools[0].times) else ""
        lines.append(f"{count:>10}{mark or ' '}{values}")
    return "\n".join(lines)


def where_we_lose(imb: Tool, ours: Tool) -> str:
    """Sizes at which one launch of ours scatters more than one of IMB."""
    pairs = zip(ours.sizes, errors(ours, 1), errors(imb, 1), strict=True)
    worse = [f"{byte_count(n)} ({mine:.0%}, IMB {its:.0%})" for n, mine, its in pairs if mine > its]
    return "a launch scatters more than IMB's at: " + (", ".join(worse) or "no size")


def verdict(its: Cost, mine: Cost, goal: float) -> tuple[str, bool]:
    lines = [sentence("IMB", its), sentence("mpigauge", mine)]
    if mine.launches is None:
        return "\n".join([*lines, "not reached by us, so no ratio"]), False
    least = "" if its.launches else "at most "
    measuring, wall = mine.measuring_s / its.measuring_s, mine.wall_s / its.wall_s
    lines.append(f"measuring time {least}{measuring:.2f} of IMB's, wall time {least}{wall:.2f}")
    met = measuring <= goal
    return "\n".join([*lines, f"goal {goal:.2f}: {'met' if met else 'MISSED'}"]), met


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
    parser.add_argument("--tcp", action="store_true", help="over TCP instead of shared memory")
    common.add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    options = arguments(words)
    launches = 3 if options.quick else options.launches
    beside = burners(options.cores.split(","), options.protect)
    try:
        conditions = common.machine()
        here = common.site(options.cores, TCP if options.tcp else {})
        burning = beside if options.burner else contextlib.nullcontext()
        with common.protection(options.protect), burning:
            tools = measure(here, launches, options.protect)
    except UserError as error:
        print(f"time_to_precision: {error}", file=sys.stderr)
        return 2
    print(f"# {here.mpi.label}{', TCP' if options.tcp else ''}, {conditions}")
    print(f"# beside a burner on each core: {'yes' if options.burner else 'no'}\n")
    goal = GOAL_WITH_BURNER if options.burner else GOAL
    kept = in_one_state(tools)
    if min(len(tool.times) for tool in kept) < LEAST_KEPT * launches:
        print(report(tools, goal)[0], "\nno state of the machine lasted: nothing is left out")
        return 1
    left_out = [str(launches - len(tool.times)) for tool in kept]
    text, met = report(kept, goal)
    print(text)
    print(
        f"\nleft out, in another state of the machine: {left_out[0]} of IMB, {left_out[1]} of ours"
    )
    print("with all launches:", verdict(cost(tools[0]), cost(tools[1]), goal)[0], sep="\n")
    return 0 if met else 1


def report(tools: Sequence[Tool], goal: float) -> tuple[str, bool]:
    imb, ours = tools
    text, met = verdict(cost(imb), cost(ours), goal)
    parts = (summary(tools), NOTES, by_count(tools), where_we_lose(imb, ours), text)
    return "\n\n".join(parts), met


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
