# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is seen of a campaign while it runs, on a narrow terminal and in a pipe."""

from __future__ import annotations

import io
import math
import re

import pytest
from rich.console import Console, RenderableType

from mpigauge.measuring.campaign import CampaignState, Results
from mpigauge.measuring.campaign.state import LaunchOutcome
from mpigauge.measuring.live import LineView, phrases, view
from mpigauge.measuring.live.live import LiveView, picture
from mpigauge.measuring.live.matrix import some
from mpigauge.measuring.plan import Plan, PlanPart
from mpigauge.model.columns import Cell
from mpigauge.model.screen import Screen, in_ascii
from tests import cells

WIDTH = 80
PART = PlanPart(benchmarks=("PingPong",), world_ranks=2)
PLAN = Plan(parts=(PART,), mpi="mpich==5.0.2", seed=1)
SIZES = [0, *(1 << n for n in range(23))]
MANY = ("PingPong", "Sendrecv", "Reduce_scatter_block", "Uniband", "Allreduce", "Barrier")


def state(*found: Cell, plan: Plan = PLAN, **known: object) -> CampaignState:
    made = CampaignState(plan, Results(plan.precision, found, plan.benchmarks))
    for name, value in known.items():
        setattr(made, name, value)
    return made


def every_cell() -> list[Cell]:
    sized = [
        cells.cell(name, message_bytes=size, time_p50_s=1e-6 * (size + 3))
        for name in MANY[:-1]
        for size in SIZES
    ]
    return [*sized, cells.cell("Barrier", message_bytes=-1)]


def on(width: int, height: int, unicode: bool = True) -> Screen:
    return Screen(width, height, unicode=unicode, live=True)


def seen(picture: RenderableType, width: int = WIDTH) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(picture)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_few_cells_are_shown_each() -> None:
    lines = seen(picture(state(cells.cell(message_bytes=8, samples=12)), on(WIDTH, 24)))
    assert lines[1].split() == ["benchmark", "ranks", "bytes", "µs", "±", "MB/s", "samples"]
    assert lines[2].split()[:4] == ["PingPong", "2", "8", "B"]


@pytest.mark.parametrize("sizes", [[8], SIZES])
def test_names_that_begin_alike_remain_distinct(sizes: list[int]) -> None:
    places = [f"cores:{first},348" for first in (1012, 1013)]
    measured = [
        cells.cell("Reduce_scatter_block", message_bytes=size, placement=place)
        for place in places
        for size in sizes
    ]
    lines = seen(picture(state(*measured), on(WIDTH, 40)))
    names = {line[:20] for line in lines if line.startswith("Reduce")}
    assert len(names) == len(places)


@pytest.mark.parametrize("height", [5, 10, 24, 50])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_many_cells_fit_the_terminal(width: int, height: int) -> None:
    remarks = ["launch 3 failed: " + "x" * 300] * 5
    shown = picture(state(*every_cell(), remarks=remarks), on(width, height))
    lines = seen(shown, width)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_words_in_ascii_fit_too(width: int) -> None:
    shown = picture(state(*every_cell(), elapsed_s=3.0), on(width, 24, unicode=False))
    lines = [in_ascii(line) for line in seen(shown, width)]
    assert max(map(len, lines)) <= width
    assert any("+-1.0%" in line for line in lines)


def test_the_shape_of_each_line_is_shown_where_there_is_room() -> None:
    lines = seen(picture(state(*every_cell()), on(WIDTH, 40)))
    assert lines[1].split()[-2:] == ["over", "size"]
    assert sum(line.endswith("█") for line in lines) == len(MANY) - 1
    assert not any("█" in line for line in seen(picture(state(*every_cell()), on(50, 40)), 50))


def test_no_number_is_cut_at_80_columns() -> None:
    assert not [line for line in seen(picture(state(*every_cell()), on(WIDTH, 40))) if "…" in line]


def test_benchmarks_without_messages_have_a_place() -> None:
    lines = seen(picture(state(*every_cell()), on(WIDTH, 40)))
    assert any(line.startswith("Barrier ") and "±" in line for line in lines)


def test_what_is_measured_now_is_left_out_last() -> None:
    plan = Plan(parts=(PART, PlanPart(benchmarks=("Barrier",), world_ranks=2)), mpi="", seed=1)
    lines = seen(picture(state(*every_cell(), plan=plan, launch=1), on(WIDTH, 12)))
    assert any(line.startswith("Barrier ") for line in lines)


def test_before_the_first_number() -> None:
    lines = seen(picture(state(), on(WIDTH, 24)))
    assert lines[0] == "launch 1 of 6–20 · starting · 0 s"


def test_sizes_are_chosen_evenly() -> None:
    assert some(SIZES, 4) == [0, 128, 16384, 4194304]
    assert some([-1], 4) == [-1]
    assert some([8, 0], 4) == [0, 8]


def test_the_live_table_leaves_nothing_behind() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=WIDTH, height=24, force_terminal=True)
    view = LiveView(on(WIDTH, 24), console)
    known = state(cells.cell())
    view.show(known)
    view.launch_ended(known, LaunchOutcome(0))
    view.close()
    assert "PingPong" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")


def test_a_terminal_of_another_size_gets_another_picture() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=200, height=50, force_terminal=True, color_system=None)
    view = LiveView(on(200, 50), console)
    wide = state(*every_cell())
    view.show(wide)
    first = stream.tell()
    console.width, console.height = 60, 12
    view.show(wide)
    view.close()
    escapes = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
    later = [escapes.sub("", line) for line in stream.getvalue()[first:].splitlines()]
    assert max(map(len, later)) <= 60


def test_only_a_terminal_gets_a_live_table() -> None:
    assert isinstance(view(Screen(live=False)), LineView)


def test_lines_for_a_pipe() -> None:
    stream = io.StringIO()
    view = LineView(stream)
    known = state(cells.cell(message_bytes=8))
    view.show(known)
    view.launch_ended(known, LaunchOutcome(0, ended=True, cells=1, wall_s=1.5))
    view.launch_ended(known, LaunchOutcome(0, reason="exit status 1"))
    view.close()
    assert stream.getvalue().splitlines() == [
        "mpigauge: launch 1 of 6–20, 1 cell in 1.50 s, widest ±1.0 % (PingPong 8 B)",
        "mpigauge: launch 1 of 6–20, failed: exit status 1, widest ±1.0 % (PingPong 8 B)",
    ]


def test_a_pipe_gets_a_line_a_second_at_most() -> None:
    """And the last one; what went wrong is told at once."""
    stream, now = io.StringIO(), [0.0]
    view = LineView(stream, clock=lambda: now[0])
    for number in range(8):
        now[0] = number * 0.3
        reason = "exit status 1" if number == 2 else ""
        outcome = LaunchOutcome(number, reason=reason, ended=not reason, cells=1, wall_s=0.3)
        view.launch_ended(state(launch=number), outcome)
    view.close()
    said = [line.split(",")[0] for line in stream.getvalue().splitlines()]
    assert said == [f"mpigauge: launch {number} of 6–20" for number in (1, 3, 7, 8)]


def test_a_pipe_is_told_the_last_launch_of_each_mpi() -> None:
    stream = io.StringIO()
    view = LineView(stream, clock=lambda: 0.0)
    for launch, name in [(0, "mpich"), (0, "openmpi"), (1, "openmpi"), (1, "mpich")]:
        outcome = LaunchOutcome(launch, ended=True, cells=1, wall_s=0.3)
        view.launch_ended(state(name=name), outcome)
    view.close()
    said = [line.split(",")[0] for line in stream.getvalue().splitlines()]
    assert said == [
        "mpigauge: mpich: launch 1 of 6–20",
        "mpigauge: openmpi: launch 2 of 6–20",
        "mpigauge: mpich: launch 2 of 6–20",
    ]


def test_words() -> None:
    parts = Plan(parts=(PART, PART), mpi="", seed=1, launches=4)
    assert phrases.launches(state(plan=parts), launch=3) == "launch 2 of 4 (part 2 of 2)"
    assert phrases.time_left(state(left_s=184.2)) == "about 3:05 left"
    assert phrases.time_left(state(left_s=None)) == ""
    assert phrases.outcome_words(LaunchOutcome(0, cells=2, wall_s=2.0, interrupted=True)) == (
        "2 cells in 2.00 s, interrupted"
    )


def test_a_row_without_an_interval_is_the_widest() -> None:
    known = cells.cell(message_bytes=1)
    unknown = cells.cell(message_bytes=2, ci_low_s=math.nan, ci_high_s=math.nan)
    assert phrases.widest(state(known, unknown)) == "widest ±? (PingPong 2 B)"


def test_placements_are_lines_of_their_own() -> None:
    from mpigauge.measuring.live.matrix import by_line
    from mpigauge.result.stats.launches import rows

    found = rows([cells.cell(placement=name, message_bytes=8) for name in ("numa", "l3")])
    assert list(by_line(found)) == ["PingPong numa", "PingPong l3"]
