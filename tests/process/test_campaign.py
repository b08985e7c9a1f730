# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Campaigns on a fake launcher: order, budgets, faults, Ctrl-C, resume. No MPI, no statistics."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from mpigauge.measuring import campaign
from mpigauge.measuring.campaign import (
    CampaignState,
    CampaignTask,
    Ending,
    Remeasure,
    Results,
    budget,
    launch,
)
from mpigauge.measuring.campaign.resume import (
    check_more_time,
    launches_after,
    resumed,
    with_more_time,
)
from mpigauge.measuring.campaign.run import Campaign
from mpigauge.measuring.campaign.state import LaunchOutcome
from mpigauge.measuring.jobs.own_settings import reporting
from mpigauge.measuring.jobs.process import LauncherProcess, _processes
from mpigauge.measuring.plan import Plan, PlanPart
from mpigauge.model.columns import Cell
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.hosts import HostRanks
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.model.record import JOB, Carried, Figure
from mpigauge.result.document import document, rows_of_run
from mpigauge.result.stats.launches import HOPELESS, expected_error, rows
from mpigauge.result.stats.order import ENDS
from mpigauge.runs.store import Run, RunWriter, history, load
from mpigauge.session.ending import verdict
from mpigauge.site.launch import Command
from mpigauge.site.launch.leftovers import Watched
from tests import cells, patience

PART = PlanPart(benchmarks=("PingPong",), world_ranks=2, ranks=(2,), sizes=(0, 8, 1024))


def seated(*cores: str, by: str = "") -> PlanPart:
    return replace(PART, placement=by, blocks=(HostRanks("", len(cores), cores),))


PLAN = Plan(parts=(PART,), mpi="fake", seed=1, launches=2, timeout_s=30.0)


class Watcher:
    """A view that remembers, and that can press Ctrl-C."""

    def __init__(
        self,
        press_at: Callable[[CampaignState], bool] = lambda _: False,
        times: int = 1,
        number: signal.Signals = signal.SIGINT,
    ) -> None:
        self.press_at, self.presses, self.number = press_at, times, number
        self.outcomes: list[LaunchOutcome] = []
        self.activities: list[str] = []
        self.remarks: list[str] = []
        self.closed = False

    def show(self, state: CampaignState) -> None:
        self.activities.append(state.activity)
        self.remarks = state.remarks
        if self.presses and self.press_at(state):
            self.presses -= 1
            os.kill(os.getpid(), self.number)

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None:
        assert state.outcomes[-1] == outcome
        self.outcomes.append(outcome)

    def close(self) -> None:
        self.closed = True


def measuring(state: CampaignState) -> bool:
    return state.activity == "measuring"


@pytest.fixture
def fake_mpi(repository: Path) -> Mpi:
    launcher = repository / "tests" / "e2e" / "fake_kernel.py"
    return Mpi(
        name="mpich",
        version="5.0.2",
        standard="4.1",
        library=Path("/fake/libmpi.so.12"),
        library_string="Fake MPI 1.0",
        abi="mpich",
        launcher="hydra",
        mpiexec=launcher,
        prefix=Path("/fake"),
        include=None,
        env={},
        found="at /fake",
    )


@dataclass(frozen=True)
class Once:
    """Measures these parts once more, whatever was measured."""

    what: tuple[PlanPart, ...]

    def parts(self, results: Results) -> tuple[PlanPart, ...]:
        assert results.has_numbers
        return self.what


def carried_out(task: CampaignTask, watcher: Watcher) -> Ending:
    (ending,) = campaign.run_in_turn([task], watcher)
    if isinstance(ending, RunError):
        raise ending
    return ending


class Bench:
    """Runs plans on the fake, into folders of this test."""

    def __init__(self, mpi: Mpi, root: Path) -> None:
        self.mpi, self.root = mpi, root
        fake = (Path("/fake/kernel"), Path("/fake/plugin.so"), Path("/fake/cards"))
        self.kernels: Kernels | None = Kernels(*fake)
        self.watcher = Watcher()
        self.machine = ""
        """Its name; empty: no passport is written."""

    def run(
        self,
        plan: Plan = PLAN,
        fake: str = "",
        launches: str = "",
        env: dict[str, str] | None = None,
        remeasure: Remeasure | None = None,
    ) -> Ending:
        env = {"FAKE": fake, "FAKE_LAUNCHES": launches, **(env or {})}
        plan = replace(plan, env={name: value for name, value in env.items() if value})
        mpi = {"name": self.mpi.name, "version": self.mpi.version}
        header = {"version": "1", "plan": plan.to_json(), "mpi": mpi}
        with RunWriter.create(header, cells.cards_text(), output=self.root / "run") as writer:
            if self.machine:
                writer.write_passport({"machine": {"hostname": self.machine}})
            task = CampaignTask(plan, self.mpi, self.kernels, writer, remeasure)
            return carried_out(task, self.watcher)

    def resume(self, fake: str = "", more_s: float | None = None) -> Ending:
        stored = self.stored()
        plan = replace(Plan.from_json(stored.plan), env={"FAKE": fake} if fake else {})
        stored = replace(stored, header={**stored.header, "plan": plan.to_json()})
        with RunWriter.resume(stored.path) as writer:
            task = resumed(stored, self.mpi, self.kernels, writer)
            task = task if more_s is None else with_more_time(task, more_s)
            return carried_out(task, self.watcher)

    def stored(self) -> Run:
        return load(self.root / "run")

    def commands(self) -> list[str]:
        return sorted(path.name for path in (self.root / "run" / "logs").glob("*.command"))


@pytest.fixture
def bench(fake_mpi: Mpi, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(fake_mpi, tmp_path)
    yield bench
    assert bench.watcher.closed
    assert not list(tmp_path.glob("run/stop-*"))


# --- the good way ---------------------------------------------------------------------------
def test_a_run_is_stored(bench: Bench) -> None:
    ending = bench.run()
    stored = bench.stored()
    assert ending.status == stored.status["status"] == "done"
    assert stored.complete == {0, 1}
    assert len(stored.cells) == 6
    assert [outcome.cells for outcome in bench.watcher.outcomes] == [3, 3]
    assert bench.watcher.activities[0] == "starting"


def test_what_stood_out_gets_launches_of_its_own_at_the_end(bench: Bench) -> None:
    """One that fails is named by what it was."""
    more = tuple(replace(PART, arm=arm) for arm in ("again", "again host=n1"))
    ending = bench.run(fake="abort", launches="3", remeasure=Once(more))
    stored = bench.stored()
    assert stored.complete == {0, 1, 2}
    assert {cell.launch for cell in stored.cells if cell.arm == "again"} == {2}
    assert [outcome.launch for outcome in ending.failures] == [3]
    assert any(each.startswith("launch 3 (again host=n1) failed") for each in
               [failure.message for failure in stored.failures])  # fmt: skip


def on_512_ranks(blocks: tuple[HostRanks, ...]) -> Plan:
    return replace(PLAN, parts=(replace(PART, world_ranks=512, blocks=blocks),))


FOUR_HOSTS = tuple(
    HostRanks(f"n{i}", 128, tuple(map(str, range(128))), f"n{i}") for i in range(1, 5)
)


def test_an_mpi_is_asked_what_carries_its_messages(bench: Bench) -> None:
    """In each launch, unless somebody has said otherwise."""
    bench.run(fake="tells")
    stored = bench.stored()
    assert [each.launch for each in stored.of(Carried)] == [0, 1]
    assert stored.used == "netmod ofi, provider tcp"
    assert not stored.damaged
    assert reporting(bench.mpi, {}) == {"MPIR_CVAR_DEBUG_SUMMARY": "1"}
    assert reporting(bench.mpi, {"MPIR_CVAR_DEBUG_SUMMARY": "0"}) == {}


def test_the_next_launch_starts_before_the_view_shows_the_last(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What must survive is on disk by then."""
    events: list[str] = []
    start = launch.start

    def noted_start(words: Command) -> LauncherProcess:
        events.append(f"start after {len(bench.stored().complete)} whole launches")
        return start(words)

    class Noting(Watcher):
        def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None:
            super().launch_ended(state, outcome)
            events.append(f"show {outcome.launch}")

    monkeypatch.setattr(launch, "start", noted_start)
    bench.watcher = Noting()
    bench.run(replace(PLAN, launches=3))
    assert events == [
        *("start after 0 whole launches", "start after 1 whole launches", "show 0"),
        *("start after 2 whole launches", "show 1", "show 2"),
    ]


def test_the_results_of_512_ranks_are_collected(bench: Bench) -> None:
    """Four hosts with 128 ranks each, and each rank is where the plan has it."""
    assert bench.run(on_512_ranks(FOUR_HOSTS)).status == "done"
    stored = bench.stored()
    assert stored.complete == {0, 1}
    assert [(r.launch, r.rank, r.host, r.cpuset) for r in stored.ranks] == [
        (launch, rank, f"n{1 + rank // 128}", str(rank % 128))
        for launch in (0, 1)
        for rank in range(512)
    ]
    assert {launch.world_ranks for launch in stored.launches} == {512}


def test_one_of_512_ranks_that_is_elsewhere_is_named(bench: Bench) -> None:
    away = replace(FOUR_HOSTS[3], hostname="m4")
    with pytest.raises(RunError, match="rank 384 was to run on host n4 and runs on n4"):
        bench.run(on_512_ranks((*FOUR_HOSTS[:3], away)))


def test_each_launch_has_its_seed(bench: Bench) -> None:
    bench.run()
    assert [launch.seed for launch in bench.stored().launches] == [PLAN.seed_of(0), PLAN.seed_of(1)]


def test_launches_end_when_the_intervals_are_narrow(bench: Bench) -> None:
    bench.run(replace(PLAN, launches=None))
    assert bench.stored().complete == frozenset(range(6))
    assert bench.stored().status["stopped"] == "precise"


def test_launches_go_on_to_twenty_while_they_could_become_so(bench: Bench) -> None:
    bench.run(replace(PLAN, launches=None, precision=0.002))
    assert bench.stored().complete == frozenset(range(20))
    assert bench.stored().status["stopped"] == ""


def test_launches_end_where_twenty_would_hardly_do(bench: Bench) -> None:
    bench.run(replace(PLAN, launches=None, precision=0.0001))
    stored = bench.stored()
    assert stored.complete == frozenset(range(6))
    assert stored.status["stopped"] == "hopeless"
    why = "twenty launches in a row would reach it in few of them"
    assert why in " ".join(document(stored).sentences)
    known = {name: said for name, said in stored.status.items() if name != "stopped"}
    assert why in " ".join(document(replace(stored, status=known)).sentences)  # of older runs
    known["stopped"] = "precise"
    assert why not in " ".join(document(replace(stored, status=known)).sentences)


def test_a_time_that_was_given_is_used_although_it_hardly_helps(bench: Bench) -> None:
    bench.run(replace(PLAN, launches=None, precision=0.0001, seconds=600))
    assert bench.stored().complete == frozenset(range(20))


def test_what_is_varied_gets_all_launches(bench: Bench) -> None:
    parts = (replace(PART, arm="A=1"), replace(PART, arm="A=2"))
    bench.run(replace(PLAN, parts=parts, launches=None, precision=0.0001))
    assert bench.stored().complete == frozenset(range(40))


def test_parts_take_turns(bench: Bench) -> None:
    other = replace(PART, benchmarks=("Bcast",), sizes=(64,))
    bench.run(replace(PLAN, parts=(PART, other)))
    found = [(cell.launch, cell.benchmark) for cell in bench.stored().cells]
    assert sorted(set(found)) == [(0, "PingPong"), (1, "Bcast"), (2, "PingPong"), (3, "Bcast")]


def test_lines_with_a_prefix_are_read(bench: Bench) -> None:
    bench.run(fake="prefixed")
    assert len(bench.stored().cells) == 6


def test_garbage_goes_into_the_log(bench: Bench) -> None:
    assert bench.run(fake="garbage").status == "done"
    stored = bench.stored()
    assert len(stored.cells) == 6
    assert "libfabric:123" in (stored.path / "logs" / "launch-000.stdout").read_text()


# --- faults ---------------------------------------------------------------------------------
def test_a_crash_costs_its_own_launch_only(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, launches=3), fake="crash", launches="1")
    stored = bench.stored()
    assert ending.status == stored.status["status"] == "failed"
    assert [failure.launch for failure in ending.failures] == [1]
    assert "signal 11 (SIGSEGV)" in ending.failures[0].reason
    assert stored.complete == {0, 2}
    assert "SIGSEGV" in stored.failures[0].message
    assert "SIGSEGV" in stored.status["launches"][1]["reason"]


def test_what_a_crashed_launch_had_measured_is_kept(bench: Bench) -> None:
    bench.run(fake="crash", launches="1")
    of_crashed = {c.message_bytes: c.stop for c in bench.stored().cells if c.launch == 1}
    assert of_crashed == {0: "precise", 8: "interrupted"}


def test_an_abort_in_the_first_launch_ends_the_run(bench: Bench) -> None:
    with pytest.raises(RunError, match="first launch failed: exit status 15: Fatal error in inter"):
        bench.run(fake="abort")
    assert bench.stored().status["status"] == "failed"
    assert bench.commands() == ["launch-000.command"]


def test_a_launcher_that_stumbles_is_started_again(bench: Bench) -> None:
    ending = bench.run(fake="stumble")
    assert ending.status == "done"
    assert [outcome.good for outcome in ending.outcomes] == [True, True]
    assert "launch 1 started again" in bench.watcher.remarks[-1]
    logged = (bench.root / "run" / "logs" / "launch-001.stderr").read_text()
    assert "listener thread" in logged


def test_an_abort_later_does_not(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, launches=3), fake="abort", launches="1")
    assert bench.stored().complete == {0, 2}
    assert "no network" in ending.failures[0].reason


def test_three_failures_in_a_row_are_enough(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, launches=9), fake="crash")
    assert [failure.launch for failure in ending.failures] == [0, 1, 2]


def test_a_silent_launch_is_ended(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, timeout_s=1.0), fake="hang", launches="0")
    assert "silent for 1 s" in ending.failures[0].reason
    assert bench.stored().complete == {1}


def test_a_slow_start_is_not_taken_for_a_hang(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, timeout_s=0.3, start_s=600.0, launches=1), fake="late")
    assert (ending.status, ending.failures) == ("done", [])


def test_a_launch_that_never_starts_is_ended(bench: Bench) -> None:
    with pytest.raises(RunError, match=r"the first launch failed: it was silent for 0\.5 s"):
        bench.run(replace(PLAN, timeout_s=0.2, start_s=0.5, launches=1), fake="mute")


def test_a_launch_that_ignores_sigterm_is_ended_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "TERM_S", 0.2)
    ending = bench.run(replace(PLAN, timeout_s=1.0, launches=1), fake="deaf")
    assert "silent" in ending.failures[0].reason


def test_wrong_data_are_counted(bench: Bench) -> None:
    ending = bench.run(fake="wrong", launches="1")
    assert ending.wrong_count == 6
    assert (ending.status, ending.failures) == ("done", [])
    assert sum(cell.wrong_count for cell in bench.stored().cells) == 6


def test_a_job_of_single_ranks_is_refused(bench: Bench) -> None:
    with pytest.raises(RunError, match=r"1 rank instead of 2.*do not belong together"):
        bench.run(fake="singletons")
    assert bench.stored().status["status"] == "failed"


def test_a_rank_on_other_cores_is_refused(bench: Bench) -> None:
    bound = replace(PLAN, parts=(seated("0", "1"),))
    with pytest.raises(RunError, match="rank 0 on fake was to run on core 0 and may run on 0-9"):
        bench.run(bound, fake="misbound")


def test_what_a_launcher_did_not_bind_is_refused(bench: Bench) -> None:
    """The kernels are told no cores, so the fake ones have none."""
    bound = replace(PLAN, parts=(seated("0", "1"),), bound_by="launcher")
    told = r"rank 0 on fake was to run on core 0 and may run on 0-9: its launcher did not bind it"
    with pytest.raises(RunError, match=told):
        bench.run(bound)
    command = (bench.root / "run" / "logs" / "launch-000.command").read_text()
    assert "-bind-to user:0,1" in command
    assert "--bind " not in command


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        (
            (HostRanks("a", 1, ("0",)), HostRanks("b", 1, ("4",))),
            "a launcher takes one list of cores for all hosts, and a would have 0, b 4",
        ),
        ((HostRanks("", 2),), r"ranks that share cores \(--oversubscribe\) have none of their own"),
    ],
    ids=["other-cores", "no-cores"],
)
def test_what_no_launcher_can_be_told(
    fake_mpi: Mpi, blocks: tuple[HostRanks, ...], sentence: str
) -> None:
    plan = replace(PLAN, parts=(replace(PART, blocks=blocks),))
    campaign.check_told(plan, fake_mpi)
    with pytest.raises(UserError, match=f"--bind-by launcher: {sentence}"):
        campaign.check_told(replace(plan, bound_by="launcher"), fake_mpi)


def test_cells_say_how_their_ranks_were_placed(bench: Bench) -> None:
    """Kernels know cores, not policies: each launch of a part brings rows of its own."""
    near = seated("0", "1", by="l3")
    far = seated("0", "4", by="numa")
    bench.run(replace(PLAN, parts=(near, far)))
    stored = bench.stored()
    found = {(cell.launch % 2, cell.placement) for cell in stored.cells}
    assert found == {(0, "l3"), (1, "numa")}
    assert len({row.key for row in rows(stored.cells)}) == 2 * len(
        {row.message_bytes for row in rows(stored.cells)}
    )


def test_a_killed_launch_keeps_its_placement(bench: Bench) -> None:
    bench.run(
        replace(PLAN, parts=(seated("0", "1", by="l3"),), launches=1),
        fake="crash",
    )
    assert {(cell.stop, cell.placement) for cell in bench.stored().cells} == {
        ("precise", "l3"),
        ("interrupted", "l3"),
    }


def test_a_launcher_that_is_not_there(bench: Bench) -> None:
    bench.mpi = replace(bench.mpi, mpiexec=Path("/no/mpiexec"))
    with pytest.raises(RunError, match="cannot start /no/mpiexec: No such file"):
        bench.run()
    assert bench.stored().status["status"] == "failed"


def test_a_full_disk_ends_the_run_and_keeps_the_rest(bench: Bench) -> None:
    written = [0]
    append = RunWriter.append

    def fills_up(writer: RunWriter, line: str) -> Any:
        written[0] += '"cell"' in line
        if written[0] > 4:
            raise RunError("cannot write records.jsonl: No space left on device")
        return append(writer, line)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunWriter, "append", fills_up)
        with pytest.raises(RunError, match="No space left"):
            bench.run()
    assert len([c for c in bench.stored().cells if c.stop == "precise"]) == 4


# --- Ctrl-C ---------------------------------------------------------------------------------
def test_ctrl_c_lets_the_kernels_finish_their_table(bench: Bench) -> None:
    bench.watcher = Watcher(measuring)
    ending = bench.run(fake="slow")
    stored = bench.stored()
    assert ending.status == stored.status["status"] == "interrupted"
    assert [end.stopped for end in stored.ends] == ["interrupted"]
    assert bench.watcher.outcomes[0].interrupted
    assert bench.watcher.outcomes[0].reason == ""


def test_ctrl_c_in_the_only_launch(bench: Bench) -> None:
    bench.watcher = Watcher(measuring)
    assert bench.run(replace(PLAN, launches=1), fake="slow").status == "interrupted"


def test_ctrl_c_twice_ends_at_once(bench: Bench) -> None:
    bench.watcher = Watcher(measuring, times=2)
    ending = bench.run(fake="hang")
    stored = bench.stored()
    assert ending.status == "interrupted"
    assert {cell.message_bytes: cell.stop for cell in stored.cells} == {
        0: "precise",
        8: "interrupted",
    }


def test_ctrl_c_ends_kernels_that_do_not_listen(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 0.2)
    monkeypatch.setattr(launch, "TERM_S", 0.2)
    bench.watcher = Watcher(measuring)
    assert bench.run(fake="deaf").status == "interrupted"
    assert len(bench.stored().cells) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_launch_that_has_not_begun_to_measure_is_ended_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 3600.0)
    bench.watcher = Watcher(lambda state: state.activity == "starting", number=number)
    assert bench.run(fake="mute").status == "interrupted"


def test_after_sigterm_nobody_is_waited_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither kernels that do not look for the stop file, nor a launcher that ignores SIGTERM."""
    monkeypatch.setattr(launch, "GRACE_S", 3600.0)
    monkeypatch.setattr(launch, "TERM_S", 3600.0)
    bench.watcher = Watcher(measuring, number=signal.SIGTERM)
    assert bench.run(fake="deaf").status == "interrupted"
    assert len(bench.stored().cells) == 2


def test_ctrl_c_between_the_first_and_the_last_launch_keeps_both(bench: Bench) -> None:
    bench.watcher = Watcher(lambda state: state.launch == 1 and measuring(state))
    bench.run(replace(PLAN, launches=3), fake="slow", launches="1")
    assert bench.stored().complete == {0}
    assert {cell.launch for cell in bench.stored().cells} == {0, 1}


def test_the_old_handlers_are_back_afterwards(bench: Bench) -> None:
    before = signal.getsignal(signal.SIGINT)
    bench.run()
    assert signal.getsignal(signal.SIGINT) is before


# --- resume ---------------------------------------------------------------------------------
def test_resume_makes_the_missing_launches(bench: Bench) -> None:
    bench.run(replace(PLAN, launches=3), fake="crash", launches="1")
    first = bench.stored()
    ending = bench.resume()
    stored = bench.stored()
    assert ending.status == stored.status["status"] == "done"
    assert [outcome.launch for outcome in ending.outcomes] == [1]
    assert stored.complete == {0, 1, 2}
    assert [launch.seed for launch in stored.launches].count(PLAN.seed_of(1)) == 2
    kept = [cell for cell in first.cells if cell.launch != 1]
    assert [cell for cell in stored.cells if cell.launch != 1] == kept


def test_more_time_makes_more_launches_of_a_whole_run(bench: Bench) -> None:
    """They end at a number at which intervals are checked, and the plan of the run has them."""
    bench.run()
    ending = bench.resume(more_s=30.0)
    assert [outcome.launch for outcome in ending.outcomes] == list(range(2, 10))
    assert bench.stored().complete == set(range(10))
    assert bench.stored().plan["launches"] == 10
    assert bench.resume().outcomes == (), "an interrupted one goes on with the same plan"


def test_the_schedule_of_imb_takes_no_more_time() -> None:
    check_more_time(PLAN)
    with pytest.raises(UserError, match="IMB's schedule"):
        check_more_time(replace(PLAN, mode="classic"))


@pytest.mark.parametrize(
    ("begun", "parts", "seconds", "launches"),
    [(2, 1, 1.0, 6), (6, 1, 4.0, 10), (6, 1, 60.0, 20), (6, 4, 60.0, 10), (500, 1, 1.0, 501)],
)
def test_launches_of_more_time(begun: int, parts: int, seconds: float, launches: int) -> None:
    assert launches_after(begun, parts, seconds) == launches


def test_resume_of_a_whole_run_measures_nothing(bench: Bench) -> None:
    bench.run()
    assert bench.resume(fake="abort").outcomes == ()
    assert bench.stored().status["status"] == "done"


@pytest.mark.parametrize("harm", ["cut", "empty", "another type", "a byte", "gone"])
@pytest.mark.parametrize("kind", ["rank", "cell"])
def test_a_launch_with_a_damaged_record_is_measured_again(
    bench: Bench, kind: str, harm: str
) -> None:
    """Its end is there all the same, and says how many records there were."""
    bench.run()
    file = bench.root / "run" / "records.jsonl"
    lines = file.read_text().split("\n")
    hit = next(i for i, line in enumerate(lines) if f'"record":"{kind}","launch":1' in line)
    lines[hit] = harmed(lines[hit], harm)
    file.write_text("\n".join(line for line in lines if line or harm != "gone"))
    broken = bench.stored()
    assert broken.broken == {1}
    assert broken.complete == {0}
    (said,) = [sentence for sentence in broken.damaged if sentence.startswith("launch 1")]
    assert "launch 1 is not whole: 1 of its 6 records is damaged or missing; `mpigauge" in said
    assert said in document(broken).sentences

    assert [outcome.launch for outcome in bench.resume().outcomes] == [1]
    whole = bench.stored()
    assert whole.complete == {0, 1}
    assert not any(sentence.startswith("launch 1") for sentence in whole.damaged)
    assert bench.resume(fake="abort").outcomes == ()


def harmed(line: str, harm: str) -> str:
    return {
        "cut": line[: len(line) // 2],
        "empty": "",
        "another type": json.dumps([line]),
        "a byte": line.replace('"record"', '"recorc"', 1),
        "gone": "",
    }[harm]


def test_an_end_that_counts_nothing_is_read_as_before(bench: Bench) -> None:
    """Runs of former versions."""
    bench.run()
    file = bench.root / "run" / "records.jsonl"
    lines = [re.sub(r',"records":\d+', "", line) for line in file.read_text().splitlines()]
    at = next(i for i, line in enumerate(lines) if '"record":"cell","launch":1' in line)
    file.write_text("\n".join([*lines[:at], *lines[at + 1 :], ""]))
    stored = bench.stored()
    assert [end.records for end in stored.ends] == [-1, -1]
    assert stored.complete == {0, 1}
    assert stored.damaged == ()


def test_records_that_do_not_come_whole_fail_their_launch(bench: Bench) -> None:
    ending = bench.run(fake="lossy", launches="1")
    assert ending.status == "failed"
    assert ending.failures[0].reason == "1 of its 7 records did not come whole"
    assert bench.stored().complete == {0}
    bench.resume()
    assert bench.stored().complete == {0, 1}


@pytest.mark.parametrize(
    ("strict", "taken_s", "made"), [(True, 4.0, [0, 1]), (True, 40.0, [0]), (False, 4.0, [0, 1, 2])]
)
def test_a_strict_plan_leaves_out_the_parts_for_which_no_time_is_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, strict: bool, taken_s: float, made: list[int]
) -> None:
    """The first is always made. Launches take as long as we say, by a clock of ours."""

    def launched(watch: launch.Watch) -> LaunchOutcome:
        return replace(one(watch), wall_s=taken_s)

    one = launch.launch
    monkeypatch.setattr(launch, "launch", launched)
    monkeypatch.setattr(
        Campaign,
        "elapsed_s",
        lambda self: taken_s * len(self.state.outcomes),
    )
    parts = tuple(replace(PART, sizes=(size,)) for size in (0, 8, 64))
    plan = replace(PLAN, parts=parts, launches=1, seconds=10.0, strict=strict)
    assert [outcome.launch for outcome in bench.run(plan).outcomes] == made


def test_resume_after_ctrl_c(bench: Bench) -> None:
    bench.watcher = Watcher(measuring)
    bench.run(fake="slow")
    bench.resume()
    assert bench.stored().complete == {0, 1}
    assert {(c.launch, c.message_bytes): c.stop for c in bench.stored().cells}[0, 8] == "precise"


# --- what a machine remembers -----------------------------------------------------------------
@pytest.fixture
def remembered(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the history, which is on."""
    bench.machine = "n1"
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "history"))
    return tmp_path / "history"


def test_a_run_is_remembered_and_says_what_it_used(bench: Bench, remembered: Path) -> None:
    bench.run(replace(PLAN, launches=6))
    (kept,) = history.histories(remembered)
    (run,) = kept.runs
    found = bench.stored().between
    assert found is not None
    assert set(run.cells) == set(found.cells)
    assert not any(scatter.is_known for scatter in found.cells.values())
    assert found.runs == 0


def test_what_ctrl_c_left_is_remembered_and_replaced_by_the_whole(
    bench: Bench, remembered: Path
) -> None:
    bench.watcher = Watcher(lambda state: state.launch == 3 and measuring(state))
    bench.run(replace(PLAN, launches=5), fake="slow", launches="3")
    ((run,),) = [each.runs for each in history.histories(remembered)]
    assert {known.launches for known in run.cells.values()} <= {3, 4}
    bench.watcher = Watcher()
    bench.resume()
    assert {known.launches for each in history.histories(remembered)
            for run in each.runs for known in run.cells.values()} == {5}  # fmt: skip


def test_a_run_that_failed_is_remembered_as_far_as_it_came(bench: Bench, remembered: Path) -> None:
    bench.run(replace(PLAN, launches=4), fake="abort", launches="3")
    ((run,),) = [each.runs for each in history.histories(remembered)]
    assert {known.launches for known in run.cells.values()} == {3}


def test_what_the_machine_has_shown_never_keeps_a_run_going(bench: Bench, remembered: Path) -> None:
    """Earlier runs took from a third to three times as long, and this one is precise at once."""
    bench.run(replace(PLAN, launches=6))
    ((run,),) = [each.runs for each in history.histories(remembered)]
    (place,) = [each.place for each in history.histories(remembered)]
    for number in range(10):
        moved = {name: each._replace(log=each.log + (number % 5 - 2) / 2)
                 for name, each in run.cells.items()}  # fmt: skip
        history.add(remembered, place, replace(run, name=str(number), cells=moved))
    shutil.rmtree(bench.root / "run")
    bench.run(replace(PLAN, launches=None))
    assert bench.stored().complete == frozenset(range(6))
    found = bench.stored().between
    assert found is not None
    assert found.cells
    assert all(scatter.is_known and scatter.sd > 0.5 for scatter in found.cells.values()), found


ROUGH = replace(PLAN, launches=None, precision=0.02)


def remember_error(bench: Bench, folder: Path, error: float, apart: float = 0.0) -> None:
    """Puts ten runs into the history whose ± of six launches is so wide for each cell; their values
    differ by a factor of 1 ± `apart`."""
    bench.run(replace(ROUGH, launches=6), fake="rough")
    ((run,),) = [each.runs for each in history.histories(folder)]
    (place,) = [each.place for each in history.histories(folder)]
    cells = {name: each._replace(error=error / ENDS) for name, each in run.cells.items()}
    for number in range(10):
        moved = {
            name: each._replace(log=each.log + apart * (number % 3 - 1))
            for name, each in cells.items()
        }
        history.add(folder, place, replace(run, name=str(number), cells=moved))
    shutil.rmtree(bench.root / "run")


def launches_by_size(run: Run) -> dict[int, int]:
    return dict(sorted(Counter(cell.message_bytes for cell in run.cells).items()))


def test_a_machine_that_is_not_known_measures_all_rows_in_all_launches(
    bench: Bench, remembered: Path
) -> None:
    del remembered
    bench.run(ROUGH, fake="rough")
    counts = launches_by_size(bench.stored())
    assert len(set(counts.values())) == 1
    assert counts[8] > 6


def test_launches_of_a_known_machine_go_to_the_rows_that_need_them(
    bench: Bench, remembered: Path
) -> None:
    remember_error(bench, remembered, 0.025)
    bench.run(ROUGH, fake="rough")
    counts = launches_by_size(bench.stored())
    assert counts.pop(8) > 6
    assert counts == {0: 6, 1024: 6}
    assert {row.launches for row in rows_of_run(bench.stored())} == set(
        launches_by_size(bench.stored()).values()
    )


def test_a_quiet_machine_ends_after_six_launches(bench: Bench, remembered: Path) -> None:
    """The interval of a row is wide by chance: ten earlier runs were precise after six."""
    remember_error(bench, remembered, 0.005)
    bench.run(ROUGH, fake="rough")
    stored = bench.stored()
    assert stored.complete == frozenset(range(6))
    assert stored.status["stopped"] == "steady"
    why = "by earlier runs of this machine so many launches usually reach it"
    assert why in " ".join(document(stored).sentences)


def test_a_machine_that_is_always_rough_ends_after_six_launches(
    bench: Bench, remembered: Path
) -> None:
    remember_error(bench, remembered, 0.2)
    bench.run(ROUGH, fake="rough")
    assert bench.stored().complete == frozenset(range(6))
    assert bench.stored().status["stopped"] == "hopeless"


def test_a_machine_that_drifts_ends_after_six_launches(bench: Bench, remembered: Path) -> None:
    """More launches would make the row precise, but only for this state of the machine."""
    remember_error(bench, remembered, 0.025, apart=0.2)
    bench.run(ROUGH, fake="rough")
    stored = bench.stored()
    assert stored.complete == frozenset(range(6))
    assert stored.status["stopped"] == "drift"
    assert "this machine differs by more from run to run" in " ".join(document(stored).sentences)


def test_a_part_without_rows_that_need_launches_has_no_more(bench: Bench, remembered: Path) -> None:
    remember_error(bench, remembered, 0.025)
    plan = replace(ROUGH, parts=(replace(PART, benchmarks=("Bcast",), sizes=(64, 512)), PART))
    bench.run(plan, fake="rough")
    parts = [plan.part_number(number) for number in sorted(bench.stored().complete)]
    assert parts.count(0) == 6
    assert parts.count(1) > 6


def test_a_history_that_cannot_be_written_costs_a_remark(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.machine = "n1"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(history.SWITCH, str(tmp_path / "file"))
    assert bench.run().status == "done"
    found = bench.stored().between
    assert found is not None
    assert "this run cannot be remembered" in found.remark


def test_a_header_without_plan_cannot_be_resumed(bench: Bench, tmp_path: Path) -> None:
    bench.run()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"schema": 1, "plan": {}}))
    with (
        RunWriter.resume(tmp_path / "run") as writer,
        pytest.raises(UserError, match="holds no plan that can be resumed"),
    ):
        resumed(bench.stored(), bench.mpi, bench.kernels, writer)


# --- budgets --------------------------------------------------------------------------------
def spend(plan: Plan, overhead: float, used: float = 1.0, usual: float = 0.0) -> tuple[int, float]:
    """How many launches are made and how long they take, if each uses this share of its time."""
    spent, number = 0.0, 0
    while plan.round(number) < plan.most_rounds and plan.seconds is not None:
        seconds = budget.share(plan, number, plan.seconds - spent, overhead, usual)
        if seconds is None:
            break
        spent += overhead + seconds * used
        number += 1
    return number, spent


TIMED = replace(PLAN, launches=None, seconds=60.0)


@pytest.mark.parametrize("overhead", [0.05, 0.5, 2.0])
def test_a_budget_is_kept(overhead: float) -> None:
    launches, spent = spend(TIMED, overhead)
    assert launches >= 6
    assert spent == pytest.approx(60)


def test_long_budgets_give_more_launches() -> None:
    assert spend(replace(TIMED, seconds=600.0), 0.5)[0] > spend(TIMED, 0.5)[0]
    assert spend(replace(TIMED, seconds=36000.0), 0.5)[0] == 20


def test_a_budget_that_is_not_used_gives_more_launches() -> None:
    assert spend(TIMED, 0.5, used=0.2)[0] > spend(TIMED, 0.5)[0]


def test_a_short_budget_gives_fewer_launches() -> None:
    launches, spent = spend(replace(TIMED, seconds=2.0), 0.5)
    assert 1 <= launches < 6
    assert spent <= 2.5


def test_six_launches_are_made_of_a_short_budget_where_they_fit() -> None:
    plan = replace(TIMED, seconds=3.0)
    assert spend(plan, 0.3)[0] == 6
    assert (budget.share(plan, 0, 3.0, budget.FIRST_OVERHEAD_S) or 0) <= 0.2


def test_one_launch_uses_the_second_that_it_is_given() -> None:
    plan = replace(TIMED, seconds=1.0, launches=1)
    seconds = budget.share(plan, 0, 1.0, budget.FIRST_OVERHEAD_S)
    assert seconds == pytest.approx(1.0 - budget.FIRST_OVERHEAD_S)


def test_launches_that_could_only_widen_an_interval_are_not_begun() -> None:
    """After 6 there are 10, 14 and 20 or none, whatever a budget would allow."""
    for seconds in range(4, 60):
        for used in (0.1, 0.5, 1.0):
            made, _ = spend(replace(TIMED, seconds=float(seconds)), 0.5, used, usual=1.0)
            assert made in (6, 10, 14, 20), (seconds, used)


def test_even_no_time_gives_one_launch() -> None:
    assert spend(replace(TIMED, seconds=0.1), 0.5)[0] == 1


def test_parts_get_time_as_they_have_cells() -> None:
    large = replace(PART, sizes=tuple(range(30)))
    plan = replace(TIMED, parts=(PART, large))
    small_s, large_s = (budget.share(plan, launch, 60.0, 0.0) or 0.0 for launch in (0, 1))
    assert large_s / small_s == pytest.approx(10, rel=0.02)


def test_a_round_once_begun_is_finished() -> None:
    plan = replace(TIMED, parts=(PART, PART))
    assert budget.share(plan, 3, 0.0, 0.5) == budget.LEAST_S
    assert budget.share(plan, 4, 0.0, 0.5) is None


def test_overhead_is_what_launches_showed() -> None:
    seen = [
        LaunchOutcome(0, ended=True, wall_s=2.0, measuring_s=1.5),
        LaunchOutcome(1, reason="x", wall_s=9),
    ]
    assert budget.overhead_s(seen) == 0.5
    assert budget.overhead_s([]) == budget.FIRST_OVERHEAD_S


# --- processes ------------------------------------------------------------------------------
def test_nothing_of_a_job_is_left_behind() -> None:
    """Not even a process in a session of its own, as the launchers' helpers are."""
    script = "setsid sh -c 'echo started; sleep 600' & wait"
    job = LauncherProcess(Command(("sh", "-c", script), {}))
    for line in job.lines():
        if line is not None:
            break
    assert len(job.strays()) >= 2  # the shell, and the one in a session of its own
    job.kill()
    job.close()
    assert job.strays() == []


KILLED = """
import sys
from mpigauge.measuring.jobs.process import LauncherProcess
from mpigauge.site.launch import Command

stubborn = "trap '' TERM; echo started; while :; do sleep 1; done"
job = LauncherProcess(Command(("sh", "-c", 'setsid sh -c "$0" & wait', stubborn), {}))
for line in job.lines():
    if line is not None:
        print(*job.strays(), flush=True)
        sys.stdin.read()
"""


def test_a_job_does_not_outlive_a_killed_mpigauge() -> None:
    """Not even what does not listen to SIGTERM and is in a session of its own."""
    ours = subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert ours.stdout is not None
    strays = [int(word) for word in ours.stdout.readline().split()]
    assert len(strays) >= 2
    ours.kill()
    ours.communicate()
    patience.wait_for(lambda: not any(_alive(pid) for pid in strays))


def _alive(pid: int) -> bool:
    """Not gone, and no zombie that nobody has asked for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_cleaning_up_waits_for_the_next_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """It searches all processes, which takes longer than the rest of a launch's end."""
    removed: list[str] = []
    monkeypatch.setattr(Watched, "remove", lambda _: removed.append("files"))
    tasks: list[Callable[[], None]] = []
    job = LauncherProcess(Command(("true",), {}))
    assert job.close(tasks.append) == 0
    assert removed == []
    (clean_up,) = tasks
    clean_up()
    assert removed == ["files"]


def test_all_jobs_of_a_process_share_a_watchdog() -> None:
    """A job that has ended is not ended again, and those beside it still are."""
    script = f"""
import os
import sys
from mpigauge.measuring.jobs.process import LauncherProcess
from mpigauge.measuring.jobs.watchdog import watchdog
from mpigauge.site.launch import Command

first, second, third = (LauncherProcess(Command(("sleep", "600"), {{}})) for _ in range(3))
first.kill()
first.close()
shells = [pid for pid in os.listdir("/proc") if pid.isdigit() and {_IS_OURS}]
print(watchdog()._shell.pid, *shells, flush=True)
print(*second.strays(), *third.strays(), flush=True)
sys.stdin.read()
"""
    ours = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert ours.stdout is not None
    dog, *shells = map(int, ours.stdout.readline().split())
    assert shells == [dog]
    left = [int(word) for word in ours.stdout.readline().split()]
    assert len(left) == 2
    ours.kill()
    ours.communicate()
    patience.wait_for(lambda: not any(_alive(pid) for pid in (dog, *left)))


_IS_OURS = """b"MPIGAUGE_JOB=" in open(f"/proc/{pid}/cmdline", "rb").read()
    and int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]) == os.getpid()"""


def test_exit_status_and_streams() -> None:
    job = LauncherProcess(
        Command(("sh", "-c", "echo out; echo $WORD >&2; exit 7"), {"WORD": "err"})
    )
    lines = {(line.stream, line.text) for line in job.lines() if line is not None}
    assert lines == {("stdout", "out\n"), ("stderr", "err\n")}
    assert job.close() == 7


def test_own_process_is_no_stray() -> None:
    assert os.getpid() not in _processes()


# --- when there are enough launches -----------------------------------------------------------
def test_rows_that_the_clock_limits_do_not_ask_for_more_launches() -> None:
    wide = [
        cells.cell(launch=i, message_bytes=0, time_p50_s=1e-8 * (1 + i % 2), flags=["clock"])
        for i in range(6)
    ]
    narrow = [cells.cell(launch=i, message_bytes=8) for i in range(6)]
    results = Results(0.05, [*wide, *narrow])
    assert results.converged()
    widest = results.widest()
    assert widest is not None
    assert widest.message_bytes == 8
    unmarked = [replace(cell, flags=()) for cell in wide]
    assert not Results(0.05, [*unmarked, *narrow]).converged()


WIDE = [1.0, 1.4, 0.8, 1.3, 1.9, 1.1]
NEARLY = [1.0, 1.05, 0.95, 1.02, 1.06, 0.97]
ONE_OFF = [1.0, 1.01, 3.0, 0.99, 1.02, 1.0]


def of_launches(values: Sequence[float], **columns: Any) -> list[Cell]:
    return [
        cells.cell(launch=i, time_p50_s=1e-6 * value, **columns) for i, value in enumerate(values)
    ]


@pytest.mark.parametrize(("values", "hopeless"), [(WIDE, True), (NEARLY, False), (ONE_OFF, False)])
def test_rows_that_twenty_launches_would_not_make_precise(
    values: list[float], hopeless: bool
) -> None:
    results = Results(0.05, of_launches(values))
    assert not results.converged()
    assert results.look_ahead(14).stop == (HOPELESS if hopeless else "")


def test_rows_with_too_few_launches_for_an_interval_get_more() -> None:
    """As after six launches of which one failed."""
    assert Results(0.05, of_launches(WIDE[:5])).look_ahead(15).stop == ""


def test_rows_that_were_left_out_do_not_count_any_more() -> None:
    left_out = [of_launches(WIDE, message_bytes=8 * i) for i in range(9)]
    (key,) = {cell.key for cell in of_launches(NEARLY, message_bytes=99)}
    results = Results(0.05, chain(*left_out, of_launches(NEARLY, message_bytes=99)))
    assert results.look_ahead(14).stop == HOPELESS
    assert results.look_ahead(14, {key}).stop == ""


def test_launches_that_a_row_missed_do_not_come_back() -> None:
    """Of twenty, ten are over, and a row that had six may have sixteen."""
    results = Results(0.05, of_launches(NEARLY))
    assert results.look_ahead(14).stop == ""
    assert results.look_ahead(0).stop == HOPELESS


def test_memory_of_the_job_is_no_reason_to_go_on() -> None:
    """Real kernels report it in each launch."""
    results = Results(0.05, of_launches(WIDE))
    assert results.add(Figure(0, JOB, "peak RSS", 5e6, "B", ""))
    assert results.look_ahead(14).stop == HOPELESS
    precise = Results(0.05, of_launches([1.0] * 6))
    precise.add(Figure(0, JOB, "peak RSS", 5e6, "B", ""))
    assert precise.converged()
    precise.add(Figure(0, "HPL", "rate", 41.5, "GFLOP/s", "higher"))
    assert not precise.converged()


def test_one_row_of_four_is_worth_more_launches() -> None:
    def held(wide: int) -> bool:
        rows = [of_launches(WIDE, message_bytes=8 * i) for i in range(wide)]
        results = Results(0.05, chain(*rows, of_launches(NEARLY, message_bytes=99)))
        return results.look_ahead(14).stop == HOPELESS

    assert not held(3)
    assert held(4)


def test_more_launches_are_expected_to_make_intervals_narrower() -> None:
    assert expected_error(NEARLY, 20) == pytest.approx(expected_error(NEARLY, 5) / 2)
    assert expected_error(NEARLY, 20, widening=1.5) == 1.5 * expected_error(NEARLY, 20)
    assert math.isnan(expected_error([1.0], 20))
    assert math.isnan(expected_error([1.0, 0.0], 20))


# --- nothing to measure ---------------------------------------------------------------------------
def test_what_cannot_be_measured_is_tried_once_and_fails(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, launches=6), fake="nothing")
    stored = bench.stored()
    assert len(ending.outcomes) == 1
    assert not stored.has_numbers
    assert verdict(ending, stored) == ["nothing could be measured: not enough memory"]


def test_what_a_launch_measures_is_no_reason_to_stop(bench: Bench) -> None:
    ending = bench.run(replace(PLAN, launches=2), fake="nothing", launches="1")
    assert len(ending.outcomes) == 2
    assert verdict(ending, bench.stored()) == []
