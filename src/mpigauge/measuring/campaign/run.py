# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The launches of a plan: as many as necessary, each stored, none lost."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.measuring.campaign import launch as one
from mpigauge.measuring.campaign.backlog import Backlog
from mpigauge.measuring.campaign.budget import cell_s, left_s, overhead_s, round_s, share
from mpigauge.measuring.campaign.memory import Memory
from mpigauge.measuring.campaign.noise_samples import NoiseSamples
from mpigauge.measuring.campaign.results import Results
from mpigauge.measuring.campaign.state import CampaignState, LaunchOutcome, View
from mpigauge.measuring.campaign.stop_rule import StopRule
from mpigauge.measuring.campaign.task import CampaignTask
from mpigauge.measuring.jobs.interrupt import Interrupt
from mpigauge.measuring.jobs.job import job_of, kernel_job
from mpigauge.measuring.plan import LaunchPlan, PlanPart
from mpigauge.measuring.plan.meeting import started_by_clock
from mpigauge.model.errors import RunError
from mpigauge.model.record import Record
from mpigauge.site import batch
from mpigauge.site.launch import Command, Job, command

if TYPE_CHECKING:
    from mpigauge.site.mpi.programs.ways import Way

FAILURES_IN_A_ROW = 3
"""Consecutive failures of a part after which its next launch is not expected to work."""
SHOW_EVERY_S = 0.25
SYSTEM_S = 1.0
"""Seconds after the end of a job step within which mpigauge may be told to end, too."""
LAUNCHER = -1
"""The rank in the record of a launch that failed as a whole."""


@dataclass(frozen=True)
class Ending:
    status: str
    """done, interrupted or failed."""
    outcomes: tuple[LaunchOutcome, ...]
    wrong_count: int

    @property
    def failures(self) -> list[LaunchOutcome]:
        return [outcome for outcome in self.outcomes if outcome.reason]


class Campaign:
    """The launches of one task. `name` distinguishes it from others that are shown next to it."""

    def __init__(
        self,
        task: CampaignTask,
        view: View,
        interrupt: Interrupt,
        name: str = "",
        backlog: Backlog | None = None,
    ) -> None:
        plan = task.plan
        self.plan, self.mpi, self.kernels = plan, task.mpi, task.kernels
        self.writer, self.view = task.writer, view
        self.memory = Memory(task.writer.folder)
        earlier, conditions = self.memory.earlier, self.memory.conditions
        results = Results(plan.precision, task.cells, plan.benchmarks, earlier, conditions)
        self.state = CampaignState(plan, results, name)
        self.spent_s = task.spent_s
        self.since_s: float | None = None
        self.number: int | None = 0
        self.given = batch.here(os.environ)
        self.interrupt = interrupt
        self.backlog = backlog or Backlog()
        self.remeasure = task.remeasure
        self.rule = StopRule(plan, self.state)
        self.last: dict[int, PlanPart] = {}
        """Parts that were measured once more, by the numbers of their launches."""
        self.shown_s = 0.0
        self.noise = NoiseSamples(plan, results)
        self.ways: dict[tuple[str, ...], Way] = {}
        """The ways in which the user's programs run on this MPI, by their words."""

    def step(self) -> bool:
        """Makes one launch; False if none remains."""
        if self.number is None or self.interrupt.count or self.failed_fast():
            return False
        self.number = self.next_launch(self.number)
        if self.number is None:
            self.once_more()
            return False
        self.note(self.launch(self.planned(self.number)))
        self.number += 1
        return True

    def once_more(self) -> None:
        """Makes last launches for results that stood out, if any did."""
        if self.remeasure is None:
            return
        for part in self.remeasure.parts(self.state.results):
            if self.interrupt.count:
                return
            number = max(self.made(), default=-1) + 1
            self.last[number] = part
            self.note(self.launch(replace(self.planned(number), part=part, detours="")))

    def made(self) -> list[int]:
        """The numbers of the launches that need not be made any more."""
        return [*self.writer.complete, *(outcome.launch for outcome in self.state.outcomes)]

    def next_launch(self, number: int) -> int | None:
        """The first missing launch from this number on; None: there are enough."""
        parts = len(self.plan.parts)
        while self.plan.round(number) < self.plan.most_rounds:
            if number % parts == 0 and self.rule.ends_after(self.plan.round(number)):
                return None
            if self.no_time_for(number):
                return None
            if self.is_missing(number):
                if self.plan.seconds is not None and self.seconds(number) is None:
                    return None
                return number
            number += 1
        return None

    def is_missing(self, number: int) -> bool:
        """True if this launch was not made, and is worth making."""
        if number in self.writer.complete or self.given_up(number):
            return False
        return self.rule.narrow(self.plan.part(number)) is not None

    def no_time_for(self, number: int) -> bool:
        """True if the time limit is strict and the rest of it is shorter than a usual launch. The
        first launch is always made."""
        if not self.plan.strict or self.plan.seconds is None or not self.state.outcomes:
            return False
        if number == 0:
            return False
        from statistics import median  # which a single launch does without

        walls = [outcome.wall_s for outcome in self.state.outcomes]
        return self.plan.seconds - self.elapsed_s() < median(walls)

    def given_up(self, number: int) -> bool:
        """True if the part of this launch failed so often that it is expected to fail again."""
        part = self.plan.part_number(number)
        own = [o for o in self.state.outcomes if self.plan.part_number(o.launch) == part]
        last = own[-FAILURES_IN_A_ROW:]
        return len(last) == FAILURES_IN_A_ROW and all(outcome.reason for outcome in last)

    def begins_round(self, number: int) -> bool:
        """True if no launch of its round was made."""
        return self.plan.round(number) not in map(self.plan.round, self.made())

    @property
    def any_failed(self) -> bool:
        return any(outcome.reason for outcome in self.state.outcomes)

    def launch(self, planned: LaunchPlan) -> LaunchOutcome:
        number = planned.number
        words = self.command(planned)
        self.writer.write_command(number, words.words, words.env, words.files)
        self.since_s = time.monotonic()
        watch = self.watch(planned, words)
        self.state.launch, self.state.activity = number, "starting"
        self.backlog.add(lambda: self.show(at_once=True))
        outcome = one.launch(watch)
        if watch.failed_to_start:
            self.state.remarks.append(f"launch {number} started again: {outcome.reason}")
            outcome = one.launch(self.watch(planned, words))
        self.spent_s, self.since_s = self.elapsed_s(), None
        return self.or_interrupted(outcome)

    def watch(self, planned: LaunchPlan, words: Command) -> one.Watch:
        """Starts a launch, with the watch that follows it to its end."""
        return _watch_of(planned.part)(
            process=one.start(words),
            plan=planned,
            mpi=self.mpi,
            writer=self.writer,
            interrupt=self.interrupt,
            timeout_s=planned.part.timeout_s or self.plan.timeout_s,
            start_s=self.plan.start_s,
            on_record=self.learn,
            on_tick=self.show,
            backlog=self.backlog,
        )

    def or_interrupted(self, outcome: LaunchOutcome) -> LaunchOutcome:
        """The outcome as interrupted, if a batch system is ending the job: it ends the job's steps
        and mpigauge in any order."""
        if outcome.reason and self.given and not self.interrupt.count:
            time.sleep(SYSTEM_S)
        if outcome.reason and self.given and self.interrupt.count:
            return replace(outcome, reason="", interrupted=True)
        return outcome

    def planned(self, number: int) -> LaunchPlan:
        return LaunchPlan(
            number=number,
            part=self.rule.narrow(self.plan.part(number)) or self.plan.part(number),
            seed=self.plan.seed_of(number),
            seconds=self.seconds(number) or 0.0,
            cell_seconds=cell_s(self.plan, number),
            use_all=self.plan.use_all,
            stop_file=str((self.writer.folder / f"stop-{number:03d}").absolute()),
            bound_by=self.plan.bound_by,
            by_clock=self.by_clock(number),
            detours=self.noise.words_for(number, is_last=self.is_short_of_time()),
        )

    def is_short_of_time(self) -> bool:
        """True if the given time leaves no room for another launch after the next."""
        if self.plan.seconds is None:
            return False
        longest_s = max((outcome.wall_s for outcome in self.state.outcomes), default=0.0)
        return self.plan.seconds - self.elapsed_s() < 2 * longest_s

    def by_clock(self, number: int) -> tuple[str, ...] | None:
        """The cells that start by the clock. Across hosts the first launch of a part determines the
        cells for which the clock is exact enough; later ones use the same, so that they measure the
        same."""
        if self.plan.sync != "auto" or len(self.plan.part(number).hosts) < 2:
            return None
        part = self.plan.part_number(number)
        own = [c for c in self.state.results.cells() if self.plan.part_number(c.launch) == part]
        return started_by_clock(own)

    def command(self, planned: LaunchPlan) -> Command:
        """The command that starts this launch."""
        foreign = planned.part.foreign
        if foreign and not foreign.launcher:
            settings = {**self.plan.settings, **planned.part.settings}
            variables = {**self.plan.env, **planned.part.env}
            return Command(foreign.words, {**self.mpi.env, **settings, **variables})
        if foreign:
            job = job_of(self.plan, planned.part, self.mpi, foreign.words, *self.at(planned))
            return command(self.made_ready(job))
        assert self.kernels is not None
        place = self.at(planned)
        return command(kernel_job(self.plan, planned, self.mpi, self.kernels, os.environ, *place))

    def at(self, planned: LaunchPlan) -> tuple[str, str]:
        """The batch system of a launch, and the prefix of its file names."""
        system = self.given.system.name if self.given else ""
        stem = str((self.writer.folder / "logs" / f"launch-{planned.number:03d}").absolute())
        return system, stem

    def made_ready(self, job: Job) -> Job:
        """The job, adapted to this MPI if its program was built for another one."""
        from mpigauge.measuring.jobs.on_mpi import on_its_mpi
        from mpigauge.site.mpi.programs.ways import way_of

        here = {**os.environ, **job.env}
        if job.program not in self.ways:
            self.ways[job.program] = way_of(job.program, self.mpi, here)
        return on_its_mpi(job, self.ways[job.program], os.environ)

    def seconds(self, number: int) -> float | None:
        if self.plan.seconds is None:
            return None
        left = self.plan.seconds - self.elapsed_s()
        outcomes = self.state.outcomes
        usual = round_s(self.plan, outcomes)
        begins = self.begins_round(number)
        return share(self.plan, number, left, overhead_s(outcomes), usual, begins)

    def learn(self, record: Record) -> None:
        self.noise.learn(record)
        if self.state.results.add(record):
            self.state.activity = "measuring"

    def show(self, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self.shown_s >= SHOW_EVERY_S:
            self.shown_s = now
            self.state.elapsed_s = self.elapsed_s()
            self.state.left_s = self.left_s()
            if self.interrupt.count:
                self.state.activity = "stopping"
            self.view.show(self.state)

    def note(self, outcome: LaunchOutcome) -> None:
        outcome = self.with_advice(outcome)
        self.state.outcomes.append(outcome)
        self.noise.end_launch(outcome.launch)
        self.state.results.settle()
        if outcome.used:
            self.writer.append(_carried(outcome))
        if outcome.reason:
            words = f"launch {self.title(outcome.launch)} failed: {outcome.reason}"
            self.state.remarks.append(words)
            self.writer.append(_failure(outcome.launch, words))
            self.check_first(outcome)
        self.backlog.add(lambda: self.view.launch_ended(self.state, outcome))

    def with_advice(self, outcome: LaunchOutcome) -> LaunchOutcome:
        """The outcome; if MPI did not start, with what its settings may lack."""
        if not outcome.reason or outcome.records:
            return outcome
        from mpigauge.site.mpi.advice import advice

        settings = {**self.plan.settings, **self.plan.part(outcome.launch).settings}
        words = [outcome.reason, advice(self.mpi, settings)]
        return replace(outcome, reason="; ".join(filter(None, words)))

    def title(self, number: int) -> str:
        """The number of a launch, with its arm."""
        arm = self.last.get(number, self.plan.part(number)).arm
        if arm:
            return f"{number} ({arm})"
        return str(number)

    def check_first(self, outcome: LaunchOutcome) -> None:
        """RunError: the first launch failed without a record, so a second one is pointless; unless
        it may be an arm of a sweep with settings that do not work."""
        arm = self.plan.part(outcome.launch).arm
        if len(self.state.outcomes) == 1 and not outcome.records and not arm:
            log = self.writer.folder / "logs" / f"launch-{outcome.launch:03d}.stderr"
            hint = f" (its output is in {log})" if log.exists() else ""
            raise RunError(f"the first launch failed: {outcome.reason}{hint}")

    def failed_fast(self) -> bool:
        return self.plan.fail_fast and self.any_failed

    def ending(self) -> Ending:
        finished = self.number is None or self.next_launch(self.number) is None
        cut_short = any(outcome.interrupted for outcome in self.state.outcomes)
        status = "done"
        if cut_short or (self.interrupt.count > 0 and not finished):
            status = "interrupted"
        elif self.any_failed and not (finished and self.only_settings_failed()):
            status = "failed"
        return Ending(status, tuple(self.state.outcomes), self.state.results.wrong_count)

    def only_settings_failed(self) -> bool:
        """True if all launches that failed are of settings of a sweep, beside complete ones: that
        is a result of the sweep."""
        bad = {self.plan.part(each.launch).arm for each in self.state.outcomes if each.reason}
        good = {self.plan.part(number).arm for number in self.writer.complete}
        good |= {self.plan.part(each.launch).arm for each in self.state.outcomes if not each.reason}
        return not self.failed_fast() and "" not in bad and bool(good - bad)

    def elapsed_s(self) -> float:
        """Seconds in this campaign's own launches, without those of others next to it."""
        if self.since_s is None:
            return self.spent_s
        return self.spent_s + (time.monotonic() - self.since_s)

    def left_s(self) -> float | None:
        return left_s(self.plan, self.state.outcomes, self.state.launch, self.elapsed_s())


def finished(campaign: Campaign) -> Ending:
    """Writes how the campaign ended."""
    ending = campaign.ending()
    campaign.memory.end(campaign.writer, campaign.state.results.rows())
    campaign.writer.finish(ending.status, stopped=campaign.rule.reason, **_facts(ending.outcomes))
    return ending


def given_up(campaign: Campaign, error: RunError) -> RunError:
    """The error that a campaign ends with; also writes why it failed, unless the disk is full."""
    with suppress(RunError):
        campaign.memory.end(campaign.writer, campaign.state.results.rows())
    with suppress(RunError):
        campaign.writer.finish("failed", reason=str(error), **_facts(campaign.state.outcomes))
    return error


def _facts(outcomes: Iterable[LaunchOutcome]) -> dict[str, object]:
    return {"launches": [asdict(outcome) for outcome in outcomes]}


def _carried(outcome: LaunchOutcome) -> str:
    return json.dumps({"record": "transport", "launch": outcome.launch, "used": outcome.used})


def _failure(launch: int, words: str) -> str:
    return json.dumps({"record": "error", "launch": launch, "rank": LAUNCHER, "message": words})


def _watch_of(part: PlanPart) -> type[one.Watch]:
    """The watch of a launch: a program of the user writes no records, the kernels do."""
    if not part.foreign:
        return one.Watch
    from mpigauge.measuring.campaign.foreign import ForeignWatch

    return ForeignWatch
