# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The programs of bench/: what they read and compute. What they measure is not tested."""

from __future__ import annotations

import importlib
import random
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mpigauge.measuring.plan import read_request
from mpigauge.measuring.plan.resolve import check_effect
from mpigauge.model.columns import Cell
from mpigauge.model.stored_cards import all_cards
from mpigauge.products.predict.calibrating import calibrated
from mpigauge.products.predict.model import Machine
from mpigauge.runs.store.imported import load_reference
from tests.cells import cell
from tests.unit.measuring.plan.test_plan import MPICH
from tools.bench_page import BENCH, programs

PROGRAMS = [program.name for program in programs(BENCH)]
IMB = """\
# IMB-compatible text, as it comes through a pipe
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.15         0.00
            8         1000         0.16        50.00

#-----------------------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         0.34         0.36         0.35        44.44

#----------------------------------------------------------------
# Benchmarking Bcast
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         4096         1000         0.50         0.70         0.60


# All processes entering MPI_Finalize
"""


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module(request.param)


def with_program(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", [name], indirect=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_needs_no_mpi(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = str(BENCH / f"{name}.py")
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(script, run_name="__main__")
    assert ended.value.code == 0
    assert "--quick" in capsys.readouterr().out


# --- common --------------------------------------------------------------------------------


@with_program("common")
def test_the_time_of_an_imb_row_is_that_of_its_slowest_rank(program: ModuleType) -> None:
    lines = [program.Line(i, text) for i, text in enumerate(IMB.splitlines())]
    assert program.imb_rows(lines) == {
        ("PingPong", 0): 0.15,
        ("PingPong", 8): 0.16,
        ("Sendrecv", 8): 0.36,
        ("Bcast", 4096): 0.70,
    }


@with_program("common")
def test_imb_measures_from_its_first_heading_to_its_last_row(program: ModuleType) -> None:
    lines = [program.Line(i, text) for i, text in enumerate(IMB.splitlines())]
    first = next(line for line in lines if "Benchmarking PingPong" in line.text)
    last = next(line for line in lines if line.text.strip().startswith("4096"))
    assert program.imb_measuring_s(lines) == last.at_s - first.at_s


@with_program("common")
def test_launches_beside_another_state_do_not_count(program: ModuleType) -> None:
    latencies = [0.15, 0.16, 0.15, 0.33, 0.15, 0.14, 0.15]
    assert program.in_one_state(latencies) == [True, True, False, False, False, True, True]


@with_program("common")
def test_a_launch_gives_its_lines_and_leaves_nothing_behind(program: ModuleType) -> None:
    out = program.launch(program.Command((sys.executable, "-c", "print('a'); print('b')"), {}))
    assert [line.text for line in out.lines] == ["a", "b"]
    assert all(line.at_s <= out.wall_s for line in out.lines)


@with_program("common")
def test_a_launch_that_fails_says_what_it_said(program: ModuleType) -> None:
    words = (sys.executable, "-c", "raise SystemExit('no such core')")
    with pytest.raises(program.UserError, match=r"status 1: .*\n.*no such core"):
        program.launch(program.Command(words, {}))


# --- agreement -----------------------------------------------------------------------------


@with_program("agreement")
@pytest.mark.parametrize(
    ("size", "imb", "classic", "agrees"),
    [
        (0, 0.15, 0.184, True),
        (0, 0.15, 0.19, False),
        (4096, 1.00, 1.10, True),
        (4096, 1.00, 0.88, False),
        (8, 0.20, 0.224, True),  # 0.204 is printed as 0.20
        (8, 0.20, 0.23, False),
    ],
)
def test_agreement_allows_for_what_imb_rounds(
    program: ModuleType, size: int, imb: float, classic: float, agrees: bool
) -> None:
    assert program.Row(("PingPong", size), imb, classic, 1.0, 0.0).agrees is agrees


@with_program("agreement")
def test_agreement_compares_medians_over_launches(program: ModuleType) -> None:
    def launch(tool: str, time: float) -> object:
        cells = [(name, size) for name in program.BENCHMARKS for size in program.SIZES]
        return program.Launch(tool, dict.fromkeys(cells, time))

    times = {"imb": (1.0, 1.0, 9.0), "classic": (2.0, 2.0, 2.0), "adaptive": (3.0, 1.0, 3.0)}
    rows = program.compare([launch(tool, t) for tool, ts in times.items() for t in ts])
    assert {(row.imb, row.classic, row.adaptive) for row in rows} == {(1.0, 2.0, 3.0)}
    assert "DISAGREES" in program.table(rows)


@with_program("agreement")
def test_the_ratio_of_what_is_too_short_to_be_printed_is_one(program: ModuleType) -> None:
    assert program.ratio(0.0, 0.0) == 1.0
    assert program.ratio(0.1, 0.0) == float("inf")
    assert program.uncertainty_of_ratio([2.0, 2.0], [1.0, 1.0]) == 0.0


# --- harness_cost --------------------------------------------------------------------------


@with_program("harness_cost")
def test_the_cost_of_a_loop_is_the_median_of_paired_differences(program: ModuleType) -> None:
    found = program.read("chain\tsend\t2.0\t1.5\nchain\tsend\t9.0\t8.5\nchain\tsend\t3.0\t1.0\n")
    assert program.added(found["chain", "send"]) == 0.5
    assert "+0.50" in program.table(found)


# --- profile_cost ------------------------------------------------------------------------


@with_program("profile_cost")
def test_what_a_profiler_adds_is_the_difference_of_blocks_in_turn(program: ModuleType) -> None:
    text = "Iprobe\t40.0\t10.0\nsaid by another\nIprobe\t36.0\t12.0\nIprobe\t90.0\t30.0\n"
    assert program.added(program.read(text)["Iprobe"]) == (30.0, 26.0)


@with_program("profile_cost")
def test_a_profiler_may_add_what_a_slow_clock_takes(program: ModuleType) -> None:
    found = program.read("clock\t9.5\t9.0\nclock\t9.2\t9.6\nIprobe\t40.0\t10.0\n")
    assert program.clock_ns(found) == 9.0
    assert program.limit("Iprobe", 9.0) == 34.0
    assert program.limit("Iprobe", 6.0) == 30.0
    assert list(found) == ["Iprobe"]


# --- time_to_precision ---------------------------------------------------------------------


def launches_of(program: ModuleType, tool: str, times: list[float], took: float) -> list[object]:
    return [program.Launch(tool, {0: 1.0, 4096: time}, took, 2 * took) for time in times]


@with_program("time_to_precision")
def test_the_error_of_constant_times_is_nothing(program: ModuleType) -> None:
    assert program.errors(launches_of(program, "loop", [3.0] * 9, 1.0), 1) == [0.0, 0.0]


@with_program("time_to_precision")
def test_the_error_of_one_launch_is_half_of_its_spread(program: ModuleType) -> None:
    same, spread = program.errors(launches_of(program, "loop", [9.0, 10.0, 11.0], 1.0), 1)
    assert (same, spread) == (0.0, pytest.approx(0.1))


@with_program("time_to_precision")
def test_more_launches_scatter_less(program: ModuleType) -> None:
    launches = launches_of(program, "loop", [9.0, 9.5, 10.0, 10.5, 11.0], 1.0)
    assert program.errors(launches, 20)[1] < program.errors(launches, 1)[1]


@with_program("time_to_precision")
def test_the_price_is_launches_times_measuring_time(program: ModuleType) -> None:
    steady = [program.Launch("loop", {0: 1.0}, 0.5, 2.0)] * 5
    assert program.cost(steady) == program.Cost(1, 0.5, 2.0)


@with_program("time_to_precision")
def test_the_command_is_judged_by_loops_in_a_row(program: ModuleType) -> None:
    """Loops in a row share the state of their minute, so their median is off by as much as one."""
    rounds = [
        program.Round(
            program.Launch("mpigauge", {0: 10.0 + place / 10}, 1.0, 3.0),
            [program.Launch("loop", {0: 10.0 + place}, 0.2, 0.5)] * 6,
        )
        for place in (-1, 0, 1)
    ]
    text, figures, is_kept = program.report_commands(rounds)
    assert is_kept
    assert [line.split()[-1] for line in text.splitlines() if "loops" in line] == ["10.0%"] * 4
    assert "error 0.10 of the loop's in the same time" in figures
    swapped = [
        program.Round(
            program.Launch("mpigauge", dict(each.loops[0].times), 1.0, 3.0), [each.command]
        )
        for each in rounds
    ]
    _, figures, is_kept = program.report_commands(swapped)
    assert is_kept is False
    assert "error 10.00 of the loop's in the same time" in figures


@with_program("time_to_precision")
def test_a_ratio_on_both_sides_of_the_goal_is_undecided(program: ModuleType) -> None:
    assert program.is_met_by_command(0.5, 1.0) is True
    assert program.is_met_by_command(0.5, 1.2) is None
    assert program.is_met_by_command(1.1, 1.2) is False


@with_program("time_to_precision")
def test_launches_together_are_their_medians_and_sums(program: ModuleType) -> None:
    launches = [
        program.Launch("loop", {0: time, 8: 2 * time}, 0.25, 0.5) for time in (1.0, 9.0, 2.0)
    ]
    assert program.together(launches) == program.Launch("loop", {0: 2.0, 8: 4.0}, 0.75, 1.5)


@with_program("time_to_precision")
def test_what_is_never_reached_is_said(program: ModuleType) -> None:
    wild = [program.Launch("loop", {0: t}, 1.0, 2.0) for t in (1.0, 3.0) * 5]
    never = program.cost(wild)
    assert never.launches is None
    assert never.measuring_s == program.COUNTS[-1]
    assert "does not reach" in program.sentence("loop", never)


@with_program("time_to_precision")
def test_the_report_meets_its_goal_or_not(program: ModuleType) -> None:
    loop = launches_of(program, "loop", [10.0] * 6, 1.0)
    ours = launches_of(program, "mpigauge", [10.0] * 6, 0.2)
    assert program.report([*loop, *ours], 1 / 3).is_kept
    result = program.report([*loop, *ours], 1 / 10)
    assert not result.is_kept
    assert result.figures == "measuring time 0.20 of the loop's, wall time 0.20"


# --- soak ----------------------------------------------------------------------------------


@with_program("soak")
def test_no_drawn_run_has_an_option_without_effect(program: ModuleType) -> None:
    cards = all_cards()
    for seed in range(300):
        words = program.drawn(random.Random(seed), ["mpich"], 4)
        names = words[: words.index("--mpi")]
        given = {"sizes": words[words.index("--sizes") + 1], "benchmarks": tuple(names)}
        for option in program.HEEDED_BY:
            if option in words:
                given[option.strip("-")] = words[words.index(option) + 1]
        check_effect(read_request(given), cards.named(names), cards)


# --- launch_cost ---------------------------------------------------------------------------


@with_program("launch_cost")
def test_a_launch_is_judged_beside_the_empty_job_and_measuring(program: ModuleType) -> None:
    def costs(kernels: float, between: float) -> dict[str, dict[str, list[float]]]:
        return {"mpich": {"kernels": [kernels] * 3, "between": [between] * 3}}

    ((words, is_met),) = program.verdicts(costs(0.05, 0.005))
    assert is_met
    assert words == "mpich 55 and 5 ms"
    assert not program.verdicts(costs(0.05, 0.011))[0][1]
    assert not program.verdicts(costs(0.06, 0.001))[0][1]


# --- store_query ---------------------------------------------------------------------------


@with_program("store_query")
def test_questions_to_made_up_rows_find_them(program: ModuleType, tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect() as con:
        (file, *more) = program.make(con, tmp_path, 4000)
        listed = ", ".join(f"'{path}'" for path in (file, *more))
        con.execute(f"CREATE VIEW cells AS SELECT * FROM read_parquet([{listed}])")
        assert con.execute("SELECT count(*), count(DISTINCT run) FROM cells").fetchall() == [
            (4000, 4)
        ]
        for question in program.QUESTIONS:
            assert con.execute(question.query).fetchall()
            assert set(question.columns) <= set(program.columns_of("cells"))


# --- node_memory ----------------------------------------------------------------------------
@with_program("node_memory")
def test_loops_over_memory_are_compared_round_by_round(program: ModuleType) -> None:
    rounds: dict[str, Any] = {}
    program.read("triad 2.0 2.0 1.0\ntriad 3.0 3.03 1.5\n", rounds)
    program.read("triad 2.2 2.0 1.1\n", rounds)
    assert program.ratios(rounds["triad"]) == [1.0, 2.0]
    assert program.best(rounds["triad"]) == [1.0, 2.0]
    found = {2: program.Found(rounds, "stream_mem", [1.0, 1.5, 3.0])}
    words = ["2", "triad", "1.00", "1.00", "2.00", "2.00", "2.00", "1.82", "1.00", "3"]
    assert list(program.table(found, 1))[1].split() == words
    assert not list(program.failures(found, 1))


@with_program("node_memory")
@pytest.mark.parametrize("plain", [1.06, 0.94])
def test_a_plain_loop_that_is_faster_is_no_plain_one_either(
    program: ModuleType, plain: float
) -> None:
    found = {1: program.Found({"triad": [(1.0, 1 / plain, 0.5)]})}
    (wrong,) = program.failures(found, 1)
    assert wrong == "plain triad on 1 thread is not within 5 % of the loop by hand"


@with_program("node_memory")
def test_tuned_loops_that_bring_too_little_are_named(program: ModuleType) -> None:
    found = {1: program.Found({"triad": [(1.0, 1.0, 0.7)]}, "stream_mem", [4.0])}
    assert list(program.failures(found, 1)) == [
        "tuned triad on 1 thread is less than 1.5 × plain",
        "tuned triad on 1 thread is less than 1.1 × likwid-bench's",
    ]


# --- compare_truth -------------------------------------------------------------------------
def scattered(seed: int, launches: int = 6) -> list[list[Cell]]:
    """Launches of PingPong that scatter by half a percent, at two sizes."""
    random = Random(seed)
    return [
        [cell(message_bytes=size, time_p50_s=1e-6 * random.gauss(1, 0.005)) for size in (8, 64)]
        for _ in range(launches)
    ]


@with_program("compare_truth")
def test_a_planted_slow_down_is_found_and_nothing_where_there_is_none(program: ModuleType) -> None:
    trial = scattered(1), scattered(2), list("ABBAABBAABBA")
    found = program.judged(trial, 1.1)
    assert found.alarms == ["SAME"] * 3
    assert [said for said, _ in found.planted] == ["SLOWER"] * 2
    assert found.curve == "SLOWER"
    assert all(0 < error < 0.02 for _, error in found.planted)
    assert program.status([found]) == 0
    assert {said for said, _ in program.judged(trial, 0.9).planted} == {"FASTER"}


@with_program("compare_truth")
def test_wild_launches_are_drawn_by_lot(program: ModuleType) -> None:
    trial = scattered(1, 200), scattered(2, 200), ["A", "B"] * 200
    wild = program.wilder(trial, Random(1))
    times = [launch[0].time_p50_s for side in wild[:2] for launch in side]
    assert 10 <= sum(time > 2e-6 for time in times) <= 30
    found = program.judged(trial, 1.1)
    assert (found.curve, found.wild_curve) == ("SLOWER", "SLOWER")
    assert set(found.wild) == {"SAME"}


@with_program("compare_truth")
def test_runs_at_different_times_know_of_those_before_them(program: ModuleType) -> None:
    order = program.order_of(6, apart=True)
    assert "".join(order) == "A" * 6 + "B" * 6
    assert "".join(program.order_of(3, apart=False)) == "ABBAAB"
    memory: list[Any] = []
    found = [
        program.judged((scattered(2 * n), scattered(2 * n + 1), order), 1.1, memory=memory)
        for n in range(8)
    ]
    assert len(memory) == 16
    assert [each.curve for each in found[:1] + found[-1:]] == ["UNDECIDED", "SLOWER"]
    assert program.alarms(each.alarms for each in found) == 0


@with_program("compare_truth")
def test_promises_are_counted_in_tables_and_in_rows_that_are_known(program: ModuleType) -> None:
    good = program.Found(["SAME"], [("SLOWER", 0.01)] * 9 + [("UNDECIDED", 0.5)])
    alarm = program.Found(["SAME", "SLOWER", "FASTER"], [("SLOWER", 0.01)])
    missed = program.Found(["SAME"], [("UNDECIDED", 0.01)] * 2)
    assert program.alarms(each.alarms for each in (good, alarm)) == 1
    assert program.status([good] * 19 + [alarm]) == 0
    assert program.status([good] * 18 + [alarm]) == 1
    assert program.status([good, missed]) == 1
    assert program.status([good, replace(good, wild=["FASTER"])]) == 1
    assert program.status([good, missed], apart=True) == 0
    assert program.status([program.Found(["SAME"], [("SLOWER", 0.5)])]) == 2
    assert program.share(3, 100) == "3 of 100, 3.0 ±1.7 %"
    said = "\n".join(program.report([good, missed], 1.1))
    assert "+10 % in rows known to ±2 %: 9 of 11" in said


# --- false_steps ---------------------------------------------------------------------------
@with_program("false_steps")
def test_made_up_runs_scatter_as_much_as_they_should(program: ModuleType) -> None:
    for process in {**program.INDEPENDENT, **program.DEPENDENT}.values():
        values = program.series(process, np.random.default_rng(1), 5000)
        assert np.std(np.log(values)) == pytest.approx(program.SCATTER, rel=0.2)


@with_program("false_steps")
def test_a_step_that_all_can_see_is_found(program: ModuleType) -> None:
    assert program.detection_rate(0.5, 14, 3) == 1.0


# --- report_speed --------------------------------------------------------------------------
@with_program("report_speed")
def test_a_page_is_smooth_where_every_interaction_is(program: ModuleType) -> None:
    quick = {"first paint": 0.2, "find by words": 0.02, "scroll to the end": 0.01}
    assert program.is_smooth(quick)
    assert not program.is_smooth(quick | {"find by words": 0.11})
    assert not program.is_smooth(quick | {"first paint": 2.1})
    assert [line.split() for line in program.table({"first paint": 0.2})] == [
        ["first", "paint", "200.0", "ms"]
    ]


@with_program("report_speed")
def test_a_made_up_run_has_its_cells(program: ModuleType, tmp_path: Path) -> None:
    from mpigauge.runs.store import load

    program.write_run(tmp_path / "run", 960, launches=2)
    run = load(tmp_path / "run")
    assert len(run.cells) == 960
    assert {cell.arm for cell in run.cells} == {"", "X=1"}
    assert not run.damaged


# --- coverage_of_runs ----------------------------------------------------------------------


def statement(program: ModuleType, run: int, value: float, half: float) -> Any:
    """Of one cell whose launches all took 1 µs."""
    ends = value * (1 - half), value * (1 + half)
    return program.Said(run, "a", value, (1e-6,) * 6, *ends, value * 0.99, value * 1.01)


@with_program("coverage_of_runs")
def test_coverage_counts_the_first_five_runs_apart(program: ModuleType) -> None:
    """Values of 20 runs scatter by 2 % around the truth."""
    random = Random(5)
    values = [1e-6 * (1 + random.gauss(0, 0.02)) for _ in range(20)]
    said = [statement(program, n, value, 0.05) for n, value in enumerate(values, 1)]
    found = program.judge(said)
    assert (found.runs, found.covers, found.first) == (20, 1.0, 1.0)
    assert found.half == pytest.approx(0.05)
    assert 0.8 < found.by_sd < 2.5
    assert found.of_run < 0.7
    missed = [statement(program, n, 1.2e-6, 0.05) for n in range(1, 6)] + said[5:]
    assert program.judge(missed).first == 0.0
    assert not program.judge(missed).kept


@with_program("coverage_of_runs")
def test_widths_are_judged_by_the_scatter_of_runs(program: ModuleType) -> None:
    random = Random(5)
    values = [1e-6 * (1 + random.gauss(0, 0.02)) for _ in range(20)]
    wide = program.judge([statement(program, n, v, 0.5) for n, v in enumerate(values, 1)])
    assert wide.covers == 1.0
    assert wide.by_sd > program.WIDEST
    assert not wide.kept


@with_program("coverage_of_runs")
def test_a_group_that_fails_does_not_keep_the_next_from_its_turn(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measured = []

    def measure(group: Any, *_: object) -> None:
        measured.append(group.name)
        if group.budget == "3s":
            raise program.UserError("no such MPI")

    monkeypatch.setattr(program, "measure", measure)
    words = ["--mpi", "mpich", "--load", "idle", "--folder", str(tmp_path)]
    assert program.main(words) == 2
    assert measured == ["mpich-3s-idle", "mpich-default-idle"]


@with_program("coverage_of_runs")
def test_quick_runs_are_no_part_of_what_is_kept(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folders = []
    monkeypatch.setattr(program, "measure", lambda _group, folder, *_: folders.append(folder))
    kept = tmp_path / "quick" / "mpich-3s-idle" / "run-01"
    kept.mkdir(parents=True)
    assert program.main(["--quick", "--folder", str(tmp_path)]) == 0
    assert folders == [kept.parent]
    assert not kept.exists(), "each quick try measures"


@with_program("coverage_of_runs")
@pytest.mark.parametrize(("status", "done"), [("done", True), ("interrupted", False)])
def test_runs_that_were_interrupted_are_made_again(
    program: ModuleType, tmp_path: Path, status: str, done: bool
) -> None:
    assert not program.is_done(tmp_path)
    (tmp_path / "status.json").write_text(f'{{"status": "{status}"}}')
    assert program.is_done(tmp_path) == done


# --- first_number --------------------------------------------------------------------------
@with_program("first_number")
@pytest.mark.parametrize(
    ("text", "has_one"),
    [
        ("vm · Intel(R) Xeon(R) Processor · 2 cores · 1 socket\nmpich 4.0.2, on PATH", False),
        ("launch 1 of 6–20 (part 1 of 2) · measuring · 1 s · about 40 s left", False),
        ("µs                   0 B    4 KiB\nPingPong        0.390 ±?", True),
        ("latency, 0 B    0.262 µs ±2.4 %", True),
    ],
)
def test_a_number_is_one_with_its_error(program: ModuleType, text: str, has_one: bool) -> None:
    assert bool(program.NUMBER.search(text)) == has_one


@with_program("first_number")
def test_the_first_number_is_looked_for_on_a_terminal(program: ModuleType) -> None:
    script = "printf 'no number\\n'; test -t 1 && printf '1.5\\033[0m ±2 %%\\n'; exec sleep 60"
    assert program.until_first_number_s(["sh", "-c", script]) > 0
    with pytest.raises(program.UserError, match="ended without a number: none"):
        program.until_first_number_s(["echo", "none"])


# --- start_up ------------------------------------------------------------------------------
@with_program("start_up")
def test_ratios_to_imb_are_of_runs_of_one_round(program: ModuleType) -> None:
    """A machine that gets slower meanwhile makes no difference."""
    table = program.table({"IMB": [1.0, 2.0, 4.0], "ours": [3.0, 6.0, 12.0]})
    *_, ours = table.splitlines()
    assert ours.split() == ["ours", "3.00", "6.00", "12.00", "3.00"]


# --- mpi4py_suite --------------------------------------------------------------------------
@with_program("mpi4py_suite")
def test_a_test_is_lost_where_it_passes_natively_and_not_on_all_ranks(program: ModuleType) -> None:
    passed, failed = program.Outcome("ok"), program.Outcome("failed", "1 != 0")
    native = {"same": [passed, passed], "wrong": [passed, passed], "never": [passed, failed]}
    other = {"same": [passed, passed], "wrong": [passed, failed], "never": [failed, failed]}
    assert program.lost(native, other) == {"wrong": "failed 1 != 0"}
    assert program.lost(native, {}) == dict.fromkeys(("same", "wrong"), "not run")


@with_program("mpi4py_suite")
def test_a_job_that_died_goes_on_behind_its_last_test(program: ModuleType, tmp_path: Path) -> None:
    """Rank 1 has ended the test in which rank 0 died."""
    mpi = replace(MPICH, name="mpich")
    suite = program.Suite(tmp_path, tmp_path, ())
    running = program.Running(program.native(mpi), suite)
    running.folder = tmp_path
    head = (
        '{"tests": ["one", "two", "three"]}\n{"begun": 0}\n{"ended": 0, "how": "ok", "why": ""}\n'
    )
    (tmp_path / "rank0.jsonl").write_text(head + '{"begun": 1}\n')
    ended = '{"begun": 1}\n{"ended": 1, "how": "ok", "why": ""}\n{"beg'
    (tmp_path / "rank1.jsonl").write_text(head + ended)
    assert running._read("died", 0) == 2
    assert running.outcome_of[1, 0].how == "died"
    assert running.outcome_of[1, 1].how == running.outcome_of[0, 0].how == "ok"


@with_program("mpi4py_suite")
def test_what_is_known_to_be_lost_has_a_reason(program: ModuleType) -> None:
    native = program.native(replace(MPICH, name="intel"))
    assert "natively as well" in program.reason(native, "test_rma_nb.TestRMAWorld.testPutGet")
    assert program.reason(native, "test_rma.TestRMAWorld.testPutGet") == ""


# --- mpich_suite ---------------------------------------------------------------------------
@with_program("mpich_suite")
def test_lists_of_tests_say_what_is_run_and_how(program: ModuleType) -> None:
    listed = """
    # what is commented out is not a test
    allred 4 arg=-count=10
    allred 7
    sendrecv2 2 env=A=1 env=B=0,1 timeLimit=300
    bigtype 1 mem=6.5
    cancel 1 xfail=ticket2276
    """
    found = list(program.tests_in("pt2pt", "\n".join(map(str.strip, listed.splitlines())), 4))
    assert [test.name for test in found] == ["pt2pt/allred 4 -count=10", "pt2pt/sendrecv2 2"]
    assert (found[1].env, found[1].longest_s) == ({"A": "1", "B": "0,1"}, 300.0)


@with_program("mpich_suite")
def test_a_test_of_mpich_is_lost_where_it_passes_natively_only(program: ModuleType) -> None:
    native = {"same": "passed", "worse": "passed", "never": "status 1", "not built": "passed"}
    other = {"same": "passed", "worse": "status 9: killed", "never": "status 2"}
    assert program.lost(native, other) == {"worse": "status 9: killed"}


# --- mutation ------------------------------------------------------------------------------


def a_mutant(program: ModuleType, after: str) -> Any:
    source = "A = 1\nB = 2\n"
    return program.Mutant.of(Path("a.py"), source, source.replace("B = 2", after), 2)


@with_program("mutation")
def test_a_mutant_is_told_by_the_line_that_differs(program: ModuleType) -> None:
    assert a_mutant(program, "B = 3").key == ("a.py", "B = 2", "B = 3")


class Drawn:
    """A language of a few mutants, of which one is noticed and one never ends."""

    def __init__(self, program: ModuleType) -> None:
        self.program = program

    def mutants(self, area: str, _: Random) -> Any:
        return iter([a_mutant(self.program, f"{area} = {n}") for n in range(3)])

    def bed(self, _: int) -> Drawn:
        return self

    def outcome(self, mutant: Any) -> str:
        noticed = mutant.after in ("core = 0", "tune = 1")
        return str(self.program.KILLED if noticed else self.program.SURVIVED)


@with_program("mutation")
def test_areas_take_turns_and_what_changes_nothing_does_not_count(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(program, "KEPT", tmp_path)
    same = {("a.py", "B = 2", "core = 2"): "nobody reads it"}
    monkeypatch.setattr(program, "equivalents", lambda: same)
    found = program.tried(Drawn(program), ["core", "tune"], 1, float("inf"), 1)
    assert [each.after for each in found] == [
        f"{a} = {n}" for n in range(3) for a in ("core", "tune")
    ]
    assert program.share_killed(found) == (2, 5)
    assert program.summary(found, ["core", "tune"]) == [
        "core        50.0% killed: 1 of 2 mutants; 1 equivalent",
        "tune        33.3% killed: 1 of 3 mutants",
        "all         40.0% killed: 2 of 5 mutants; 1 equivalent",
    ]
    assert capsys.readouterr().out.count("survived: a.py:2: B = 2") == 3
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 6
    assert program.tried(Drawn(program), ["core"], 1, 0.0, 1) == []


@with_program("mutation")
def test_tests_that_never_end_are_ended(program: ModuleType, tmp_path: Path) -> None:
    assert program.run_until(["sh", "-c", "exit 3"], tmp_path, {}, 60) == 3
    assert program.run_until(["sh", "-c", "sleep 600 & wait"], tmp_path, {}, 0.01) is None


@with_program("mutation")
def test_mutants_that_change_nothing_are_of_lines_that_are_there(program: ModuleType) -> None:
    root = BENCH.parent
    for (path, before, after), reason in program.equivalents().items():
        lines = [line.strip() for line in (root / path).read_text(encoding="utf-8").splitlines()]
        assert before in lines, (path, before)
        assert after not in ("", before)
        assert reason


CPP = """\
// a < b
#if A < B
int f(int a, const char* text, std::vector<int>&& b) {
  return a <= 8 && text != "a < b" ? a + 1 : std::max(a, -1);
}
"""


@with_program("mutants_cpp")
def test_operators_and_constants_of_lines_that_are_run_change(program: ModuleType) -> None:
    path = Path("a.cpp")
    changes = list(program.changes_of(path, CPP, {1, 2, 3, 4}, Random(1)))
    assert changes == list(program.changes_of(path, CPP, {1, 2, 3, 4}, Random(1)))
    line = CPP.splitlines()[3]
    assert [line[each.start : each.end] for each in changes] == [
        "<=", "8", "&&", "!=", "+", "1", "max", "1"
    ]  # fmt: skip
    mutants = [program.mutant_of(each, CPP) for each in changes]
    assert all(mutant.before == line.strip() != mutant.after for mutant in mutants)
    assert mutants[2].text == CPP.replace(" && ", " || ")
    assert mutants[6].text == CPP.replace("max", "min")


@with_program("mutants_python")
def test_annotations_and_guards_are_left_as_they_are(program: ModuleType) -> None:
    """Also beside a value in the same line."""
    source = "def f(\n    a: int | None = 1 + 2,\n) -> int | None:\n    b: int | str = a or 1\n"
    source += "zip(a, b, strict=True)\n"
    assert sorted(program._silent_spans(source)) == [
        ((2, 7), (2, 17)), ((3, 5), (3, 15)), ((4, 7), (4, 16)), ((5, 10), (5, 21))
    ]  # fmt: skip


@with_program("mutants_python")
def test_a_line_belongs_to_a_statement(program: ModuleType) -> None:
    source = "def f(\n  a,\n):\n  if (\n    a\n  ):\n    return (\n      1\n    )\nA = 1\n"
    lines = [program.statement_at(source, line) for line in range(1, 11)]
    head, condition, end = range(1, 4), range(4, 7), range(7, 10)
    assert lines == [*[head] * 3, *[condition] * 3, *[end] * 3, range(10, 11)]


@with_program("mutants_python")
def test_tests_are_named_as_pytest_does(program: ModuleType) -> None:
    coverage = program.Coverage(BENCH.parent, Path("none.db"))
    own = "tests.unit.tools.test_bench.test_tests_are_named_as_pytest_does"
    assert coverage._node(own) == own.replace(".", "/", 3).replace(".", ".py::")
    assert coverage._node("tests.conftest.something") == ""
    assert coverage._node("") == ""


@with_program("mutants_python")
def test_what_runs_on_import_is_tested_by_all_tests_of_its_file(
    program: ModuleType, tmp_path: Path
) -> None:
    """Of a line in a function only those that run it; those that run few lines come first."""
    source = "A = 1\n\ndef f(\n    a=2,\n):\n    return a\n\nclass B:\n    c = 3\n"
    (tmp_path / "a.py").write_text(source)
    (tmp_path / "test_a.py").touch()
    coverage = program.Coverage(tmp_path, Path("none.db"))
    import_in, runs, both = (f"test_a.test_{name}" for name in ("import", "runs", "both"))
    at_import = {1: {import_in}, 3: {import_in}, 8: {import_in}, 9: {import_in}}
    other = {str(tmp_path / "b.py"): {1: {both}, 2: {both}}}
    by_line = {str(tmp_path / "a.py"): at_import | {6: {runs, both}}} | other
    vars(coverage)["_by_line"] = by_line
    of_line = {line: coverage.tests_of(Path("a.py"), line) for line in (1, 4, 6, 9)}
    own = ["test_a.py::test_runs", "test_a.py::test_both"]
    every = [*own, "test_a.py::test_import"]
    assert of_line == {1: every, 4: every, 6: own, 9: every}
    del by_line[str(tmp_path / "a.py")][6]
    assert coverage.tests_of(Path("a.py"), 6) is None


@with_program("mutants_python")
def test_near_tests_import_from_the_area_themselves(program: ModuleType, tmp_path: Path) -> None:
    for name, line in {
        "below": "from a.b.c import d", "module": "import a.b", "name": "from a import b",
        "above": "import a", "other": "from a.bc import d", "text": "'import a.b'",
    }.items():  # fmt: skip
        (tmp_path / f"test_{name}.py").write_text(f"{line}\n")
    near = ["test_below.py", "test_module.py", "test_name.py"]
    assert program.near_tests(tmp_path, ["src/a/b"], (".",)) == near


# --- predict_against_simgrid -----------------------------------------------------------------


def of_simgrid(program: ModuleType, folder: Path) -> Any:
    program.check_simgrid()
    made = calibrated([load_reference("oci-optimized3-36-intel")], "published").calibration
    return program.Simulated(Machine(made, 2, 2), folder / "simulated")


@with_program("predict_against_simgrid")
def test_simgrid_gives_a_message_its_measured_time(program: ModuleType, tmp_path: Path) -> None:
    try:
        simulated = of_simgrid(program, tmp_path)
    except program.UserError as reason:
        pytest.skip(str(reason))
    for size in (8, 65536):
        row = program.row_of(simulated, "PingPong", "message", size)
        assert row.off == pytest.approx(1.0, abs=0.02)
    row = program.row_of(simulated, "Allreduce", "recursive_doubling", 8)
    assert 1 / 1.6 < row.ratio < 1.6


@with_program("predict_against_simgrid")
def test_a_schedule_in_which_a_rank_waits_for_ever_is_a_fault(
    program: ModuleType, tmp_path: Path
) -> None:
    try:
        simulated = of_simgrid(program, tmp_path)
    except program.UserError as reason:
        pytest.skip(str(reason))
    names = []
    for rank in range(4):
        waits = [f"{rank} irecv {(rank + 1) % 4} 0 8", f"{rank} waitall"]
        path = tmp_path / f"{rank}.txt"
        path.write_text("\n".join([f"{rank} init", *waits, f"{rank} finalize"]) + "\n")
        names.append(str(path))
    (tmp_path / "ranks.txt").write_text("\n".join(names) + "\n")
    time_s, _, _ = simulated.replay(tmp_path / "ranks.txt")
    row = program.Row(4, "a deadlock", 8, 1e-6, time_s, 0.0, 0)
    assert not row.is_complete
    assert "DID NOT COMPLETE" in program.line(row)
    is_kept, figures = program.figures_of([row], 0.1, 50.0)
    assert not is_kept
    assert "1 schedules did not complete" in figures


@with_program("predict_against_simgrid")
def test_the_package_of_simgrid_is_named_where_it_is_missing(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(program.UserError, match="apt install libsimgrid-dev"):
        program.check_simgrid()


@with_program("predict_against_simgrid")
def test_a_factor_beyond_the_promise_is_missed(program: ModuleType) -> None:
    def row(ranks: int, name: str, ratio: float) -> Any:
        return program.Row(ranks, name, 8, ratio * 1e-6, 1e-6, 1.0, 0)

    good = [row(144, "Allreduce/ring", 1.59), row(10240, "Allreduce/ring", 1.29)]
    assert program.figures_of([*good, row(144, "Allreduce/node_flags", 9.0)], 0.5, 100.0)[0]
    for bad in (row(144, "Allreduce/ring", 0.6), row(10240, "Allreduce/ring", 1.31)):
        assert not program.figures_of([*good, bad], 0.5, 100.0)[0]
    assert not program.figures_of(good, 1.5, 100.0)[0]
    assert not program.figures_of(good, 0.5, 400.0)[0]


# --- predict_on_hosts ------------------------------------------------------------------------


@with_program("predict_on_hosts")
def test_rows_that_links_do_not_limit_have_no_bound(program: ModuleType) -> None:
    made = calibrated([load_reference("oci-optimized3-36-intel")], "published").calibration

    def row(size: int, algorithm: str) -> Any:
        return program.Compared("Allreduce", 8, 4, size, algorithm, algorithm, 1e-3, 2e-3)

    assert program.is_bounded(made, row(1 << 20, "recursive_doubling"))
    assert not program.is_bounded(made, row(1024, "recursive_doubling"))
    assert "0.50  network card" in program.line(made, row(1 << 20, "recursive_doubling"))
    assert program.line(made, row(8, "ring")).endswith("latency  (no bound)")


# --- many_ranks ------------------------------------------------------------------------------


@with_program("many_ranks")
def test_the_growth_of_a_rank_is_taken_from_the_first_large_job_on(program: ModuleType) -> None:
    bytes_of = {64: 64e6, 512: 60e6, 4096: 240e6, 10_000: 1200e6}
    taken = [program.Taken("run: show", ranks, 1.0, size) for ranks, size in bytes_of.items()]
    steady = [program.Taken("run: stored", ranks, 0.0, 2000.0 * ranks) for ranks in bytes_of]
    assert program.worst_growth(taken) == pytest.approx(120_000 / (240e6 / 4096))
    assert program.worst_growth(steady) == 1


@with_program("many_ranks")
def test_a_launch_of_very_many_hosts_has_no_long_word(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "find", lambda _: MPICH)
    taken, longest = program.launch_line("mpich", 10_000)
    assert longest < program.LONGEST_WORD
    assert taken.bytes / taken.ranks < 64


@with_program("many_ranks")
def test_the_table_has_a_column_for_each_number_of_ranks(
    program: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    program.print_table([program.map_records(ranks) for ranks in (64, 512)], (64, 512))
    heading, rule, row = capsys.readouterr().out.strip().splitlines()
    assert heading == "| seconds, bytes a rank | 64 ranks | 512 ranks |"
    assert rule.count("|") == row.count("|") == 4
