# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the page of each kind of run says first, and where words stand in its plots."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from mpigauge.draw import level_lines
from mpigauge.draw.axes import BANDWIDTH, SIZE, TIME, Scale
from mpigauge.draw.chart import frames
from mpigauge.draw.plot import Level, Panel, Plot, Point, Series
from mpigauge.model.record import Rank
from mpigauge.result.library.tables import contents
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.result.stats.headline import Headline
from mpigauge.result.stats.launches import rows
from mpigauge.session.run_names import open_run
from mpigauge.show.ending import headline_lines
from mpigauge.show.formats import render
from mpigauge.show.kinds import ALL, PLOTS
from mpigauge.show.web.answer import answers, opening, within_hosts
from mpigauge.show.web.of_pairs import pair_numbers, pair_sentences
from tests import cells, pages, planted, runs
from tests.unit.products.map.test_map import drawn

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Record
    from mpigauge.runs.store import Run


@pytest.fixture
def machine(tmp_path: Path) -> RunResult:
    return RunResult.of("machine", open_run(str(pages.machine(tmp_path))))


def test_a_machine_is_told_by_its_memory_its_cores_and_its_least_latency(
    machine: RunResult,
) -> None:
    assert opening([machine], None) == (
        (
            "The memory gives 40 GB/s with 4 ranks; for 95 % of the best, 2 ranks are needed "
            "(2 to 4 within the errors)."
        ),
        "Memory of another NUMA node gives 60 % of what that of the own node does.",
        "DGEMM has 90 % of the peak of 1 core (41.4 GFLOP/s, openblas n = 2000).",
        "A message of 0 B takes 5.7 × as long as two cores need for it (140 ns).",
    )
    said = {each.label: each.value for each in answers(machine)}
    assert said == {
        "Memory bandwidth": "40 GB/s",
        "Floating-point peak": "46 GFLOP/s",
        "DGEMM": "41.4 GFLOP/s",
        "Least latency of two cores": "140 ns",
    }


def test_the_memory_of_nodes_is_no_placement_to_choose(machine: RunResult) -> None:
    assert machine.across is None


def test_what_the_node_does_is_no_message(machine: RunResult) -> None:
    picture = PLOTS["latency"].draw(RunResults([machine]), ALL)
    assert picture is not None
    assert picture.plot is not None
    assert [panel.title for panel in picture.plot.panels] == [""]
    assert [point.x for point in picture.plot.panels[0].series[0].points] == [0]


def test_slow_memory_is_dark_whatever_was_measured(machine: RunResult) -> None:
    """Bandwidth of local memory, and a load from it: both are as light as can be."""
    picture = PLOTS["memory"].draw(RunResults([machine]), ALL)
    assert picture is not None
    for svg in picture.leading:
        squares = svg.split("<rect ")[2:]
        fills = [square.partition('fill="')[2][:7] for square in squares]
        assert fills == ["#fffacd", "#2d134b", "#2d134b", "#fffacd"]


def test_a_map_names_its_slow_pair_first() -> None:
    found = drawn(16, slow={(2, 5): 3.0})
    said = list(pair_sentences(found))
    assert len(said) == 1
    assert said[0].startswith("PingPong 8 B: slow: ")
    assert "(ranks 2 and 5) takes 2.99 × as long as its" in said[0]
    numbers = list(pair_numbers(found))
    assert numbers
    assert len(numbers) <= 4
    assert all(each.error.startswith("±") for each in numbers)


def test_a_map_without_a_slow_pair_says_so() -> None:
    assert list(pair_sentences(drawn(16))) == [
        "PingPong 8 B: none of 120 pairs is slower than its peers by more than chance."
    ]
    few = drawn(2)
    assert list(pair_sentences(few)) == [
        "PingPong 8 B: 1 pair, too few of a kind to judge whether one is slow."
    ]
    assert len(list(combinations(few.seats, 2))) == 1


def test_a_run_of_one_launch_says_what_its_error_is_of(tmp_path: Path) -> None:
    shown = RunResult.of("run", open_run(str(runs.write(tmp_path / "run"))))
    assert opening([shown], None)[-1].startswith("All are of one launch: ± does not cover other")


@pytest.mark.parametrize(
    ("status", "said"),
    [("interrupted", "This run was interrupted: it holds 1 number of 1 launch."),
     ("failed", "This run failed before its end: it holds 1 number of 1 launch."),
     (None, "This run goes on, or was killed: it holds 1 number of 1 launch.")],
)  # fmt: skip
def test_a_run_that_is_not_whole_says_so_first(
    status: str | None, said: str, tmp_path: Path
) -> None:
    shown = RunResult.of("run", open_run(str(runs.write(tmp_path / "run", status=status))))
    assert opening([shown], None)[0] == said


def test_a_whole_run_says_nothing_of_its_end(tmp_path: Path) -> None:
    (said,) = opening([of_launches(tmp_path, 6)], None)
    assert " are known within " in said


def test_of_a_few_launches_no_error_is_known(tmp_path: Path) -> None:
    (said,) = opening([of_launches(tmp_path, 2)], None)
    assert said.startswith("There are too few launches for an error")


def of_launches(folder: Path, launches: int) -> RunResult:
    lines = []
    for number in range(launches):
        cell = runs.cell(number, time_p50_s=1e-6 * (1 + number / 100))
        lines += [runs.launch(number), cell, cells.end(number)]
    return RunResult.of("run", open_run(str(runs.write(folder / "run", lines))))


def test_numbers_within_one_of_several_hosts_are_not_taken_for_those_of_a_network() -> None:
    (row,) = rows([cells.cell()])
    head = Headline(row, row, None, (), None, hosts={row.key: ("n01",)})
    (said,) = within_hosts(head)
    assert said.endswith("none is between hosts (--place hosts measures that).")
    between = replace(head, hosts={row.key: ("n01", "n02")})
    assert list(within_hosts(between)) == list(within_hosts(replace(head, hosts={}))) == []
    assert list(within_hosts(None)) == []


def two_hosts(*placements: str) -> Run:
    """PingPong and Uniband within a host, which is faster, and between two, as far as they are
    named, each in launches of its own."""
    measured: list[Cell] = []
    others: list[Record] = []
    for part, placement in enumerate(placements):
        far = placement == "hosts"
        for launch in range(6 * part, 6 * part + 6):
            first, second = planted.ranks(("0", "1"), "n1", launch)
            others += [first, replace(second, host="n2") if far else second]
            for name, inflight in (("PingPong", 1), ("Uniband", 256)):
                for size in (0, 8, 1 << 20):
                    measured.append(
                        cells.cell(
                            name, launch=launch, message_bytes=size, placement=placement,
                            time_p50_s=(4 if far else 1) * (1e-6 + size * 1e-10),
                            moved_bytes=size, messages=inflight, inflight=inflight,
                        )
                    )  # fmt: skip
    return planted.run(measured, others)


@pytest.mark.parametrize("placements", [("l3", "hosts"), ("hosts", "l3")])
def test_a_run_of_several_hosts_leads_with_the_numbers_between_them(
    placements: tuple[str, ...],
) -> None:
    """Those within a host are better, and first where they were measured first."""
    stored = two_hosts(*placements)
    shown = RunResult.of("run", stored)
    first, *others = opening([shown], None)
    assert first.startswith("From n1 to n2, a message of 0 B takes 2.00 µs ±")
    assert " and the highest bandwidth is " in first
    assert not any("none is between hosts" in line for line in others)
    assert not any("best setting" in each.label for each in answers(shown))
    head = shown.document.headline
    assert head is not None
    for row in (head.zero, head.peak, head.busiest):
        assert row is not None
        assert (head.hosts_of(row), head.placement_of(row)) == ("n1 to n2", "hosts")
    for line in headline_lines(shown.document)[:3]:
        assert "hosts, n1 to n2" in line
    assert "hosts" in next(answers(shown)).where
    (quoted,) = (values for table, values in contents("run", stored) if table == "runs")
    assert quoted["latency_s"] == pytest.approx(2e-6)


def test_a_run_within_hosts_alone_says_so() -> None:
    shown = RunResult.of("run", two_hosts("l3"))
    assert not any("none is between hosts" in line for line in opening([shown], None))
    of_two = two_hosts("l3", "numa")
    ranks = [replace(each, host="n2") if isinstance(each, Rank) and each.launch > 5 else each
             for each in of_two.records]  # fmt: skip
    shown = RunResult.of("run", replace(of_two, records=tuple(ranks)))
    assert any("none is between hosts" in line for line in opening([shown], None))


def test_a_run_of_collectives_quotes_its_smallest_and_its_largest_message(tmp_path: Path) -> None:
    sizes = (0, 8, 4096)
    lines = [runs.launch(), *(runs.cell(benchmark="Allreduce", message_bytes=n) for n in sizes)]
    shown = RunResult.of("run", open_run(str(runs.write(tmp_path / "run", [*lines, cells.end()]))))
    assert [each.label for each in answers(shown)] == ["Allreduce 8 B", "Allreduce 4 KiB"]


def test_curves_of_the_default_settings_come_first(tmp_path: Path) -> None:
    """As beside them, where others are divided by the default: so colours agree."""
    lines = [
        runs.launch(),
        *(runs.cell(arm=arm, message_bytes=n) for arm in ("a", "default") for n in (8, 64)),
        cells.end(),
    ]
    shown = RunResult.of("run", open_run(str(runs.write(tmp_path / "run", lines))))
    picture = PLOTS["latency"].draw(RunResults([shown]), ALL)
    assert picture is not None
    assert picture.names == ("default", "a")


# --- words in plots -------------------------------------------------------------------------
def test_words_of_levels_keep_off_each_other_and_off_curves() -> None:
    """Two levels a few lines apart, and a curve that ends where words would stand."""
    points = tuple(Point(2.0**n, min(1e7 * 2.0**n, 5.2e9)) for n in range(16))
    levels = (Level(6.5e9, "one copy 6.5 GB/s"), Level(5e9, "two copies 5 GB/s"))
    panel = Panel("", SIZE, BANDWIDTH, (Series("curve", points),), levels=levels)
    (frame,) = frames(Plot("", "", (panel,)))
    words = [line for line in level_lines.lines_of_levels(panel, frame) if line.startswith("<text")]
    tops = [float(line.partition(' y="')[2].partition('"')[0]) for line in words]
    assert len(tops) == 2
    assert abs(tops[0] - tops[1]) >= 11
    for line, top in zip(words, tops, strict=True):
        left = float(line.partition(' x="')[2].partition('"')[0])
        right = left + 5 * len(line.partition(">")[2].partition("<")[0])
        near = [y for x, y in (frame.at(p.x, p.y) for p in points) if left <= x <= right]
        assert not any(top - 9 <= y <= top for y in near)


def test_an_axis_of_two_decades_has_ticks_between_them() -> None:
    scale = Scale.of(TIME, (1.5e-7, 6e-5))
    assert [round(tick * 1e9) for tick in scale.ticks(5)] == [300, 1000, 3000, 10000, 30000]


def test_a_line_between_two_cores_beside_messages_is_no_page_of_a_machine(tmp_path: Path) -> None:
    """As `mpigauge quick` measures it."""
    lines = [runs.launch(), runs.cell(), runs.cell(benchmark="Mailbox", suite="NODE"), cells.end()]
    shown = RunResult.of("run", open_run(str(runs.write(tmp_path / "run", lines))))
    assert shown.node is None
    assert " are known within " in opening([shown], None)[0]


# --- programs -------------------------------------------------------------------------------
def test_a_program_on_several_mpis_says_on_which_it_is_faster(tmp_path: Path) -> None:
    """With a point for each of them, which no line and no band joins."""
    shown = []
    for name, seconds in (("mpich 5", 1.0), ("openmpi 5", 1.3)):
        lines = []
        for launch in range(8):
            value = seconds * (1 + 0.001 * launch)
            lines += [
                runs.launch(launch),
                runs.figure(launch=launch, benchmark="app", name="run time", value=value, unit="s",
                            better="lower", source="app"),
                cells.end(launch),
            ]  # fmt: skip
        own = {"programs": [{"name": "app", "how": "own"}]} if "mpich" in name else {}
        path = runs.write(tmp_path / name.replace(" ", "-"), lines, header=own)
        shown.append(RunResult.of(name, open_run(str(path))))
    (said,) = opening(shown, RunResults(shown).comparison)
    assert said.startswith("app on openmpi 5: ")
    assert said.endswith((" of its own mpich 5.", " than on its own mpich 5."))
    picture = PLOTS["figures"].draw(RunResults(shown), ALL)
    assert picture is not None
    assert picture.plot is not None
    (panel,) = picture.plot.panels
    assert panel.x.names == ("mpich 5", "openmpi 5")
    assert "<polyline" not in picture.svg
    assert picture.svg.count('class="band"') == 2


# --- several hosts --------------------------------------------------------------------------
def test_numbers_of_several_hosts_say_between_which_of_them_they_are(tmp_path: Path) -> None:
    """Ranks 0 and 1 of a job on two hosts may sit on one of them."""
    for hosts, said in ((("a", "a", "b", "b"), "within a"), (("a", "b"), "a to b")):
        ranks = [runs.rank(number, host) for number, host in enumerate(hosts)]
        launch = runs.launch(world_ranks=len(hosts))
        lines = [launch, *ranks, runs.cell(), cells.end()]
        path = runs.write(tmp_path / said.replace(" ", "-"), lines)
        shown = RunResult.of("run", open_run(str(path)))
        assert f"PingPong · {said} · 1 launch" in [each.where for each in answers(shown)]
        assert f", {said}, 1 launch)" in render("table", shown.document)


def test_numbers_of_one_host_do_not_name_it(tmp_path: Path) -> None:
    shown = RunResult.of("run", open_run(str(runs.write(tmp_path / "run"))))
    assert next(answers(shown)).where == "PingPong · 1 launch"
