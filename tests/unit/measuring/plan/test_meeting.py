# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How ranks start a call: by default, again, across hosts, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.measuring.plan import LaunchPlan, Plan, PlanPart, kernel_words
from mpigauge.measuring.plan.meeting import same_meeting, started_by_clock
from mpigauge.measuring.plan.narrowed import narrowed
from mpigauge.measuring.plan.request import read_request
from mpigauge.products.browse.series import RunSeries, started_otherwise
from mpigauge.products.check.result import against_reference
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.side import Side
from mpigauge.result.document import document
from mpigauge.result.stats.launches import rows
from mpigauge.runs.readers.registry import READERS
from mpigauge.runs.readers.text import Text
from mpigauge.show.formats import render
from tests import planted
from tests.cells import cell

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell

PART = PlanPart(benchmarks=("Bcast", "Allreduce"), world_ranks=4)
PLAN = Plan(parts=(PART,), mpi="mpich", seed=7, sync="auto")


def bcast(size: int = 8, sync: str = "clock", launch: int = 0, **changed: Any) -> Cell:
    return cell("Bcast", message_bytes=size, sync=sync, launch=launch, ranks=4, **changed)


def said(by_clock: tuple[str, ...] | None) -> dict[str, str]:
    words = kernel_words(PLAN, LaunchPlan(number=1, part=PART, seed=1, by_clock=by_clock))
    return dict(zip(words[::2], words[1::2], strict=True))


# --- which way ------------------------------------------------------------------------------
def test_the_default_asks_for_the_clock_where_there_is_one() -> None:
    assert read_request({}).sync == "auto"
    assert said(None)["--sync"] == "auto"
    assert "--by-clock" not in said(None)


def test_later_launches_do_as_the_first() -> None:
    """Whatever they would find themselves."""
    found = [bcast(8, "barrier"), bcast(65536), bcast(1 << 20), bcast(8, "clock", launch=2)]
    words = started_by_clock(found)
    assert words == ("MPI1:Bcast/4/65536", "MPI1:Bcast/4/1048576")
    assert said(words)["--by-clock"] == "MPI1:Bcast/4/65536,MPI1:Bcast/4/1048576"


def test_a_first_launch_in_which_no_cell_had_the_clock_binds_the_later_ones() -> None:
    assert started_by_clock([]) is None
    assert started_by_clock([bcast(8, "barrier")]) == ()
    assert said(())["--by-clock"] == "none"


def test_hot_and_cold_of_a_cell_are_one_word() -> None:
    assert started_by_clock([bcast(), bcast(cache="cold")]) == ("MPI1:Bcast/4/8",)


def test_a_call_without_a_message_is_of_0_bytes() -> None:
    assert started_by_clock([bcast(-1), bcast(1)]) == ("MPI1:Bcast/4/0", "MPI1:Bcast/4/1")


def test_the_first_launch_is_the_one_of_the_least_number() -> None:
    found = [bcast(8, launch=3), bcast(16, launch=2), bcast(32, launch=5)]
    assert started_by_clock(found) == ("MPI1:Bcast/4/16",)


def test_a_narrowed_plan_has_the_sizes_and_ranks_of_its_numbers() -> None:
    part = replace(PART, ranks=(2, 4), sizes=(0, 8, 16, 64))
    plan = replace(PLAN, parts=(part, replace(part, arm="A=1")))
    numbers = [bcast(64), bcast(8), bcast(8, launch=1), cell("Allreduce", message_bytes=8, ranks=2)]
    again = narrowed(plan, numbers)
    assert again is not None
    found = [(each.benchmarks, each.sizes, each.ranks, each.arm) for each in again.parts]
    assert found == [(("Bcast",), (8, 64), (4,), ""), (("Allreduce",), (8,), (2,), "")]
    assert again.seed == PLAN.seed + 1
    other = narrowed(plan, [bcast(0, arm="A=1"), bcast(-1, arm="A=1")])
    assert other is not None
    assert [(each.sizes, each.arm) for each in other.parts] == [((0,), "A=1")]
    barrier = narrowed(plan, [bcast(-1)])
    assert barrier is not None
    assert barrier.parts[0].sizes is None
    assert narrowed(plan, [bcast(arm="B=2")]) is None
    assert narrowed(plan, [cell("Reduce", ranks=4)]) is None


def test_a_part_without_groups_gets_none_when_it_is_narrowed() -> None:
    again = narrowed(PLAN, [bcast(8), cell("Allreduce", message_bytes=8, ranks=4)])
    assert again is not None
    found = [(each.benchmarks, each.sizes, each.ranks) for each in again.parts]
    assert found == [(("Bcast", "Allreduce"), (8,), ())]


@pytest.mark.parametrize("sync", ["barrier", "clock", "dissemination"])
def test_what_is_measured_again_starts_as_it_did(sync: str) -> None:
    again = narrowed(PLAN, [bcast(sync=sync), cell("Allreduce", sync=sync, ranks=4)])
    assert again is not None
    assert again.sync == sync


def test_numbers_that_started_in_several_ways_are_measured_as_planned() -> None:
    assert same_meeting([bcast(), bcast(sync="barrier")]) == ""
    again = narrowed(PLAN, [bcast(), bcast(64, "barrier")])
    assert again is not None
    assert again.sync == "auto"


def test_plans_of_older_runs_keep_their_barrier() -> None:
    stored = replace(PLAN, sync="barrier").to_json()
    assert Plan.from_json(stored).sync == "barrier"
    del stored["sync"]
    assert Plan.from_json(stored).sync == "barrier"


# --- what is said ---------------------------------------------------------------------------
def launches(sync: str) -> list[Cell]:
    return [bcast(size, sync, launch) for launch in range(6) for size in (8, 64)]


def test_a_check_against_another_way_says_so_in_a_line() -> None:
    one, two = (Side(way, tuple(items(rows(launches(way)), []))) for way in ("barrier", "clock"))
    (note,) = against_reference(one, two, 0.1)[1]
    assert "collectives of clock started by the clock, those of barrier after a barrier" in note
    assert note.endswith("--sync barrier measures as there")
    assert against_reference(one, one, 0.1)[1] == []


def test_tables_say_how_their_calls_started() -> None:
    by_clock = render("table", document(planted.run(launches("clock"))))
    assert "Bcast · 4 ranks · byte · started by the clock" in by_clock
    assert "started after a barrier" in render("table", document(planted.run(launches("barrier"))))
    pairs = render("table", document(planted.run([cell(launch=i) for i in range(6)])))
    assert "started" not in pairs


@pytest.mark.parametrize("sync", ["clock", "barrier"])
def test_a_text_for_readers_of_imb_says_it_in_a_remark_that_they_skip(sync: str) -> None:
    text = render("imb", document(planted.run(launches(sync))))
    remarks = [line for line in text.splitlines() if "sync = clock" in line]
    assert len(remarks) == (sync == "clock")
    assert all(line.startswith("# ") for line in remarks)
    reading = READERS.find("imb").read(Text(text.encode()))
    assert reading.rows == 2


# --- over time ------------------------------------------------------------------------------
def series(id_: str, sync: str, **changed: Any) -> RunSeries:
    columns = {"suite": "MPI1", "benchmark": "Bcast", "message_bytes": 8, "sync": sync} | changed
    asked = {"host": "n1", "mpi_name": "mpich", "transport": "", "settings": ""}
    return RunSeries(id_, 3, datetime(2026, 1, 1), datetime(2026, 2, 1), asked, columns)


def test_a_trend_knows_the_series_before_the_other_way() -> None:
    now, before = series("a", "clock"), series("b", "barrier")
    others = [now, before, series("c", "barrier", message_bytes=64)]
    assert started_otherwise(now, others) == [before]
    assert started_otherwise(before, others) == [now]
