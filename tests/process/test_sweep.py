# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sweeps on the fake launcher: the order of arms, those that crash, resuming; the best arm."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.runs.comparing import sides_within
from mpigauge.measuring.campaign.cost import Rates, cost, rates_of
from mpigauge.measuring.campaign.resume import resumed
from mpigauge.measuring.jobs.job import job_of
from mpigauge.measuring.plan import Resources, read_request
from mpigauge.measuring.plan.arms.arms import Arm, Places
from mpigauge.measuring.plan.arms.foreign import Foreign, Merit, read_command
from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostRanks
from mpigauge.model.mpi import Mpi
from mpigauge.model.record import Figure
from mpigauge.products.sweep.plan import sweep_plan, swept
from mpigauge.products.sweep.sweeping import present, read_sweep
from mpigauge.result.compare.best import best_of
from mpigauge.result.compare.compare import compare
from mpigauge.result.run_result import RunResult
from mpigauge.runs.store import RunWriter, load
from mpigauge.session.ending import verdict
from mpigauge.show.comparisons.best import as_json, render
from mpigauge.show.web.answer import opening
from mpigauge.site import topology
from mpigauge.site.launch import command
from tests import cells, runs
from tests.process.test_campaign import PART, PLAN, Bench, bench, carried_out, fake_mpi
from tests.unit.measuring.plan.test_plan import CARDS, MPICH

__all__ = ["bench", "fake_mpi"]

NUMBERED: list[tuple[Arm, dict[str, str]]] = [(Arm(), {}), (Arm({"env:N": "4"}), {})]
SLOW = {"FAKE_FACTOR": "1.3"}


def sweep_of(arms: dict[str, dict[str, str]], launches: int = 6, fail_fast: bool = False) -> Plan:
    told = [(Arm(), {}), *((arm_of(name), arms[name]) for name in arms), (Arm(control=True), {})]
    return swept(replace(PLAN, launches=launches), told, fail_fast)


def arm_of(name: str) -> Arm:
    return Arm(dict([name.split("=")]))


def arms_of(bench: Bench) -> Counter[str]:
    """Complete launches of each arm."""
    plan = Plan.from_json(bench.stored().plan)
    return Counter(plan.part(number).arm for number in bench.stored().complete)


# --- order ----------------------------------------------------------------------------------------
def test_each_round_has_each_arm_once_in_another_order() -> None:
    plan = sweep_of({"A=1": {}, "A=2": {}})
    rounds = [tuple(plan.part_number(4 * r + i) for i in range(4)) for r in range(6)]
    assert all(sorted(each) == [0, 1, 2, 3] for each in rounds)
    assert len(set(rounds)) > 3
    assert Plan.from_json(plan.to_json()) == plan
    assert [Plan.from_json(plan.to_json()).part_number(i) for i in range(24)] == [
        plan.part_number(i) for i in range(24)
    ]


def test_arms_are_in_the_records(bench: Bench) -> None:
    ending = bench.run(sweep_of({"A=1": SLOW}, launches=2))
    assert ending.status == "done"
    assert arms_of(bench) == {"": 2, "A=1": 2, "control": 2}
    assert {cell.arm for cell in bench.stored().cells} == {"", "A=1", "control"}


# --- failures -------------------------------------------------------------------------------------
def test_an_arm_that_crashes_is_given_up_and_the_others_go_on(bench: Bench) -> None:
    """That is a result of the sweep, which is done; the exit status tells of it."""
    ending = bench.run(sweep_of({"A=1": {"FAKE": "abort"}, "A=2": {}}, launches=5))
    assert ending.status == "done"
    (problem,) = verdict(ending, bench.stored())
    assert re.match(r"launch \d+ \(A=1\) failed: exit status 15.* \(and 2 more\)$", problem)
    shown = RunResult.of("sweep", bench.stored())
    assert not any("failed before its end" in sentence for sentence in opening([shown], None))
    assert arms_of(bench) == {"": 5, "A=2": 5, "control": 5}
    assert len(ending.failures) == 3
    assert all("(A=1) failed: exit status 15" in f.message for f in bench.stored().failures)


def test_the_first_launch_may_be_one_that_crashes(bench: Bench) -> None:
    plan = sweep_of({"A=1": {"FAKE": "abort"}}, launches=1)
    seed = next(s for s in range(99) if replace(plan, seed=s).part(0).arm == "A=1")
    assert bench.run(replace(plan, seed=seed)).status == "done"
    assert arms_of(bench) == {"": 1, "control": 1}


@pytest.mark.parametrize(
    ("settings", "status"),
    [({"": "abort", "A=1": ""}, "failed"), ({"": "abort", "A=1": "abort"}, "failed")],
)
def test_a_sweep_whose_default_fails_has_failed(
    bench: Bench, settings: dict[str, str], status: str
) -> None:
    """Nothing is left that others could be compared with."""
    arms = [(arm_of(name) if name else Arm(), {"FAKE": how}) for name, how in settings.items()]
    plan = swept(replace(PLAN, launches=3), arms, fail_fast=False)
    assert bench.run(plan).status == status


def test_fail_fast_ends_with_the_first_failure(bench: Bench) -> None:
    ending = bench.run(sweep_of({"A=1": {"FAKE": "crash"}}, fail_fast=True))
    assert ending.status == "failed"
    assert len(ending.failures) == 1
    assert ending.outcomes[-1].reason


def test_what_crashed_is_tried_again_when_it_is_resumed(bench: Bench) -> None:
    """Nothing is measured twice, nothing is lost."""
    plan = sweep_of({"A=1": {"FAKE": "abort"}}, launches=2)
    bench.run(plan)
    before = bench.stored().complete
    stored = bench.stored()
    healed = replace(plan, parts=tuple(replace(part, settings={}) for part in plan.parts))
    stored = replace(stored, header={**stored.header, "plan": healed.to_json()})

    with RunWriter.resume(stored.path) as writer:
        task = resumed(stored, bench.mpi, bench.kernels, writer)
        ending = carried_out(task, bench.watcher)
    assert ending.status == "done"
    assert {outcome.launch for outcome in ending.outcomes}.isdisjoint(before)
    cells_of = Counter(cell.launch for cell in bench.stored().cells)
    assert set(cells_of) == set(range(6))
    assert set(cells_of.values()) == {3}


# --- programs that are not ours -------------------------------------------------------------------
def program(text: str, better: str = "higher") -> PlanPart:
    words = ("sh", "-c", text)
    foreign = Foreign("toy", words, (Merit("rate", better, "x/s", r"rate (\S+)"),), 1, False)
    return PlanPart(("toy",), 1, foreign=foreign)


def test_a_program_that_starts_its_own_ranks_alone_has_a_plan(repository: Path) -> None:
    """Nobody is placed, so no caches are to be cold and no cores to be shared."""
    resources = Resources(topology.read(repository / "tests/machines/vm-epyc-2-cores.txt"))
    part = program("echo rate 1")
    assert part.foreign is not None
    plan = sweep_plan(read_request({}), [part.foreign], CARDS, resources, MPICH)
    assert plan.parts == (part,)
    assert not plan.oversubscribe


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"datatype": "double"}, "--datatype has no effect on programs that are not ours"),
        ({"op": "max"}, "--op has no effect on programs that are not ours; it is for benchmarks"),
        ({"root": "1"}, "--root has no effect on programs that are not ours"),
    ],
)
def test_programs_alone_take_no_options_of_benchmarks(
    repository: Path, raw: dict[str, str], said: str
) -> None:
    resources = Resources(topology.read(repository / "tests/machines/vm-epyc-2-cores.txt"))
    foreign = program("echo rate 1").foreign
    assert foreign is not None
    with pytest.raises(UserError, match=said):
        sweep_plan(read_request(raw), [foreign], CARDS, resources, MPICH)


def test_a_program_has_its_figures_stored(bench: Bench) -> None:
    part = program("echo rate $RATE; echo rate 1$RATE")
    base = replace(PLAN, parts=(part,), launches=3)
    arms = [(Arm(), {"RATE": "4"}), (arm_of("RATE=5"), {"RATE": "5"})]
    ending = bench.run(swept(base, arms, False))
    assert ending.status == "done"
    figures = bench.stored().of(Figure)
    assert {(f.name, f.value, f.unit, f.arm) for f in figures} == {
        ("rate", 14.0, "x/s", ""), ("rate", 15.0, "x/s", "RATE=5"),
    }  # fmt: skip
    assert Counter(figure.launch for figure in figures) == dict.fromkeys(range(6), 1)


def test_a_variable_is_varied_beside_what_the_plan_sets(bench: Bench) -> None:
    """Each launch of a program without the launcher sees the value of its arm, else the plan's."""
    part = program("echo rate $OMP_NUM_THREADS$more")
    base = replace(PLAN, parts=(part,), launches=1)
    arms = [Arm(), *(Arm({"env:OMP_NUM_THREADS": n}) for n in ("2", "4"))]
    plan = swept(base, [(arm, {}) for arm in arms], False)
    ending = bench.run(plan, env={"OMP_NUM_THREADS": "1", "more": "0"})
    assert ending.status == "done"
    assert {(f.arm, f.value) for f in bench.stored().of(Figure)} == {
        ("", 10.0), ("env:OMP_NUM_THREADS=2", 20.0), ("env:OMP_NUM_THREADS=4", 40.0),
    }  # fmt: skip
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("mpi", ["mpich", "intel", "openmpi"])
def test_launchers_are_told_the_variable_of_an_arm(fake_mpi: Mpi, mpi: str) -> None:
    """Also one in small letters, which Open MPI would take for a parameter of its own."""
    plan = swept(PLAN, [(Arm({"env:omp": "4", "btl": "self"}), {"btl": "self"})], False)
    here = replace(fake_mpi, name=mpi, launcher="openmpi" if mpi == "openmpi" else "hydra")
    words = command(job_of(replace(plan, env={"omp": "1"}), plan.parts[0], here, ("app",), ""))
    assert words.env["omp"] == "4"
    told = " ".join(words.words)
    assert ("-x omp=4" if mpi == "openmpi" else "-genv omp 4") in told
    assert ("--mca btl self" if mpi == "openmpi" else "-genv btl self") in told


def test_a_program_on_hosts_is_given_no_words_of_ours(fake_mpi: Mpi) -> None:
    """Our kernels are told which cores to bind themselves to."""
    blocks = tuple(HostRanks(name, 1, ("0",)) for name in ("a", "b"))
    ours = replace(PLAN.parts[0], blocks=blocks)
    theirs = replace(program("echo rate 1"), blocks=blocks)
    assert all(host.words for host in job_of(PLAN, ours, fake_mpi).hosts)
    assert not any(host.words for host in job_of(PLAN, theirs, fake_mpi).hosts)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo nothing", "toy: nothing in its output fits the expression for rate"),
        ("echo rate 3; echo cannot go on >&2; exit 3", "exit status 3: cannot go on"),
    ],
)
def test_a_program_without_its_figure_has_failed(bench: Bench, text: str, said: str) -> None:
    ending = bench.run(replace(PLAN, parts=(PART, program(text)), launches=1))
    assert ending.status == "failed"
    assert ending.failures[0].reason == said
    assert not bench.stored().of(Figure)


@pytest.mark.parametrize("has_kernels", [True, False])
def test_a_program_that_one_of_our_readers_knows(bench: Bench, has_kernels: bool) -> None:
    """Its table becomes rows, with the arm of its launch. Programs alone need no kernels."""
    if not has_kernels:
        bench.kernels = None
    text = "# OSU MPI Latency Test v7.2\\n# Size          Latency (us)\\n1  1.25\\n2  1.5\\n"
    words = ("sh", "-c", f"printf '{text}'")
    part = PlanPart(("osu",), 2, foreign=Foreign("osu", words, (), 2, False, "osu"))
    base = replace(PLAN, parts=(part,), launches=2)
    arms = [(Arm(), {}), (arm_of("A=1"), {"A": "1"})]
    assert bench.run(swept(base, arms, False)).status == "done"
    stored = bench.stored()
    assert {(c.arm, c.message_bytes, c.source, c.origin) for c in stored.cells} == {
        (arm, size, "OSU 7.2", "measured") for arm in ("", "A=1") for size in (1, 2)
    }
    assert stored.complete == {0, 1, 2, 3}
    assert "by arm" in render(
        best_of(compare(sides_within(stored, "arm"), 0.05, "arm")), stored.cards
    )


STREAM = """Number of Threads counted = {threads}
Triad:           9335.0     0.025     0.024     0.026
"""


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        (STREAM.format(threads="'$N'"), {"", "env:N=4"}),
        (
            STREAM.format(threads=1) + STREAM.format(threads=2),
            {"threads=1", "threads=2", "env:N=4 threads=1", "env:N=4 threads=2"},
        ),
    ],
)
def test_what_an_output_says_of_its_settings_is_no_arm_unless_it_says_several(
    bench: Bench, text: str, arms: set[str]
) -> None:
    """STREAM prints its threads: beside the arms of a sweep that would leave no default."""
    words = ("sh", "-c", f"printf '%s' '{text}'")
    part = PlanPart(("STREAM",), 1, foreign=Foreign("STREAM", words, (), 1, False, "stream"))
    plan = swept(replace(PLAN, parts=(part,), launches=1), NUMBERED, False)
    assert bench.run(plan, env={"N": "1"}).status == "done"
    assert {figure.arm for figure in bench.stored().of(Figure)} == arms


def test_a_program_without_figures_is_timed(bench: Bench) -> None:
    block = {"name": "app", "run": "sh -c true", "launcher": False}
    part = PlanPart(("app",), 1, foreign=read_command(block, Places("plan.toml", {})))
    assert bench.run(replace(PLAN, parts=(part,), launches=2)).status == "done"
    figures = bench.stored().of(Figure)
    assert [(each.name, each.unit, each.better) for each in figures] == 2 * [
        ("run time", "s", "lower")
    ]
    assert all(each.value > 0 for each in figures)
    assert Plan.from_json(bench.stored().plan).parts[0].foreign == part.foreign


def test_several_mpis_are_enough_to_vary_for_programs() -> None:
    block = {"name": "app", "run": "./app"}
    told = json.dumps({"block": block, "place": "plan.toml", "places": {}})
    flags = {"control": True, "fail_fast": False, "relaunch": False}
    raw = {"vary_blocks": (), "command_blocks": (told,), "vary": (), **flags}
    assert read_sweep(dict(raw), dry_run=True, several=True).blocks == ()
    with pytest.raises(UserError, match="or several --mpi for its"):
        read_sweep(dict(raw), dry_run=True)
    with pytest.raises(UserError, match="nothing is varied"):
        read_sweep({**raw, "command_blocks": ()}, dry_run=True, several=True)


def test_a_reader_that_finds_nothing_says_so(bench: Bench) -> None:
    part = PlanPart(("osu",), 1, foreign=Foreign("osu", ("echo", "no"), (), 1, False, "osu"))
    ending = bench.run(replace(PLAN, parts=(PART, part), launches=1))
    assert ending.failures[0].reason == "osu: the reader osu finds nothing in its output"


def test_launches_of_programs_end_when_their_figures_are_narrow(bench: Bench) -> None:
    bench.run(replace(PLAN, parts=(program("echo rate 5"),), launches=None))
    assert bench.stored().complete == frozenset(range(6))


# --- the best -------------------------------------------------------------------------------------
def test_the_best_arm(bench: Bench) -> None:
    fast, faster = {"FAKE_FACTOR": "0.8"}, {"FAKE_FACTOR": "0.5"}
    bench.run(sweep_of({"A=1": SLOW, "A=2": fast, "A=3": faster}))
    found = best_of(compare(sides_within(bench.stored(), "arm"), 0.05, "arm"))
    assert [(line.best and line.best.name, line.worse) for line in found.lines] == [("A=3", 1)] * 3
    control = found.control
    assert control is not None
    assert (control.compared, control.different) == (3, 0)
    text = render(found, bench.stored().cards)
    assert text.count("best: ") == 3
    assert text.count("FASTER") == 6
    assert text.count("SLOWER") == 3
    assert "Control: the default was measured twice; 0 of 3 ratios differ" in text
    records = json.loads(as_json(found))["best"]
    assert {(each["best"], each["outcome"]) for each in records} == {("A=3", "arm")}
    for arms in (each["arms"] for each in records):
        assert sorted(arm["arm"] for arm in arms) == ["A=1", "A=2", "A=3"]
        assert all(arm["value_low"] <= arm["value_value"] <= arm["value_high"] for arm in arms)


def test_a_control_of_few_launches_tells_nothing(bench: Bench) -> None:
    bench.run(sweep_of({"A=1": SLOW}, launches=2))
    found = best_of(compare(sides_within(bench.stored(), "arm"), 0.05, "arm"))
    control = found.control
    assert control is not None
    assert control.compared == 0
    text = " ".join(render(found, bench.stored().cards).split())
    assert "fewer than 6 launches cannot rule out chance" in text
    assert text.count("UNDECIDED: few launches") == 3
    assert "best: default" not in text
    outcomes = {each["outcome"] for each in json.loads(as_json(found))["best"]}
    assert outcomes == {"undecided"}


def test_where_nothing_is_better_the_default_stays(bench: Bench) -> None:
    bench.run(sweep_of({"A=1": SLOW, "A=2": {}}))
    found = best_of(compare(sides_within(bench.stored(), "arm"), 0.05, "arm"))
    assert [(line.best, line.worse, line.same) for line in found.lines] == [(None, 1, 1)] * 3
    assert render(found, bench.stored().cards).count("best: default (1 same, 1 worse)") == 3


# --- cost -----------------------------------------------------------------------------------------
def test_the_cost_of_a_plan() -> None:
    plan = replace(sweep_of({"A=1": {}}), launches=None)
    cells_of_round = sum(part.weight for part in plan.parts)
    known = cost(plan, Rates(start_s=1.0, cell_s=0.1, launches=3))
    assert known.launches == (18, 60)
    assert known.cells == cells_of_round
    assert known.seconds == pytest.approx(
        (6 * (3 + 0.1 * known.cells), 20 * (3 + 0.1 * known.cells))
    )
    assert cost(replace(plan, seconds=5.0), known.rates).seconds == (5.0, 5.0)


def test_rates_come_from_launches_that_ended_well() -> None:
    good = {"ended": True, "interrupted": False, "cells": 10, "wall_s": 3.0, "measuring_s": 2.0}
    statuses = [{"launches": [good, good | {"ended": False, "wall_s": 99.0}]}, {}]
    assert rates_of(statuses) == Rates(start_s=1.0, cell_s=0.2, launches=1)
    assert rates_of([]).launches == 0


def test_a_sweep_of_which_one_setting_was_measured_is_shown_as_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Memory of the job is no measured value of a setting."""
    memory = [runs.figure(benchmark="job", name="peak RSS", unit="B", launch=launch, arm=arm)
              for launch, arm in enumerate(("env:A=1", ""))]  # fmt: skip
    lines = [runs.launch(), runs.cell(arm="env:A=1"), *memory, cells.end()]
    present(load(runs.write(tmp_path / "run", lines)), "table")
    assert "PingPong" in capsys.readouterr().out
