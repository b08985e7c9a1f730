# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program of a stored profile: its calls, and its launches with other variables in turn."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import RunError, UserError
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.jobs import main_jobs
from mpigauge.products.profile.beside.measured import mpi_of
from mpigauge.products.profile.beside.mix import mix_of
from mpigauge.products.profile.finding import HEADER
from mpigauge.products.profile.launch.left import collect_left
from mpigauge.products.profile.launch.profiling import NO_CARDS, Profiling, header
from mpigauge.products.profile.launch.starting import agent_for, hosts_of, starter_for
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.store import RunWriter, load

if TYPE_CHECKING:
    from mpigauge.cli.runs.kinds import Times
    from mpigauge.model.call_mix import CallMix
    from mpigauge.products.profile.store.stored import ProfiledJob


@dataclass(frozen=True)
class ProfiledProgram:
    """The program of a profile."""

    folder: Path
    jobs: Sequence[ProfiledJob]

    def mpi_spec(self) -> str:
        return mpi_of(main_jobs(self.jobs)[0].ranks[0].library).spec

    @cached_property
    def mix(self) -> CallMix | None:
        return mix_of(self.folder.name, self.jobs)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words_of(load(self.folder).header)[0]

    def launched_in_turn(
        self,
        arms: Mapping[str, Mapping[str, str]],
        folder: Path,
        rounds: int,
        seed: int,
        tell: Callable[[str], None],
    ) -> dict[str, list[Times]]:
        """Launches each arm with its variables once per round, in random order; each arm is a run
        in `folder`, and launches that it has already are not repeated. RunError: a launch fails."""
        from mpigauge.cli.output.terminal import TERMINAL
        from mpigauge.cli.program_options import NAMES
        from mpigauge.products.profile.launch.library import library
        from mpigauge.products.profile.launch.preload import PRELOAD
        from mpigauge.session.program import set_up_program

        words, options = words_of(load(self.folder).header)
        options["tuned"] = None
        setup = (
            set_up_program(options, words, TERMINAL)
            if any(options[name] for name in NAMES)
            else None
        )
        starter = starter_for(words, setup, dict(os.environ))
        agent, hosts = agent_for(setup, options["rsh"]), hosts_of(setup)
        preloaded = {PRELOAD: str(library(tell))}
        order = random.Random(seed)
        times: dict[str, list[Times]] = {arm: [] for arm in arms}
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            profilings = {}
            for arm, variables in arms.items():
                if (folder / arm / HEADER).is_file():
                    times[arm] = stored_times(folder / arm)
                    made = RunWriter.resume(folder / arm)
                else:
                    made = RunWriter.create(header(words), NO_CARDS, output=folder / arm, label=arm)
                writer = stack.enter_context(made)
                rank_variables = {**preloaded, **variables}
                profilings[arm] = Profiling(
                    starter, rank_variables, writer, tell, agent, hosts, output=subprocess.DEVNULL
                )
            for number in range(rounds):
                for arm in order.sample(list(arms), len(arms)):
                    if number >= len(times[arm]):
                        times[arm].append(_launched(profilings[arm], number, words, arm))
        rounds = min(map(len, times.values()), default=0)
        return {arm: each[:rounds] for arm, each in times.items()}


def program_of(word: str, folder: Path) -> ProfiledProgram:
    """Returns the program of a profile. UserError: its calls are not in it."""
    collect_left(folder)
    jobs = load_jobs(folder)
    shown = main_jobs(jobs)
    if not shown:
        raise UserError(f"the profile {word} has seen no rank")
    if shown[0].source:
        raise UserError(f"{word} is {shown[0].lacks}")
    return ProfiledProgram(folder, jobs)


def words_of(run_header: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Returns the profiled command line and the options of `mpigauge profile` from the header of a
    profile; empty if they are not in it."""
    from mpigauge.cli.paths import LATER
    from mpigauge.products.profile.command import command

    typed = run_header.get("command")
    if not isinstance(typed, list) or typed[:2] != ["mpigauge", "profile"]:
        return (), {}
    options = command.make_context("profile", list(map(str, typed[2:])), obj=LATER).params
    return tuple(options.pop("words")), options


def stored_times(folder: Path) -> list[Times]:
    """Returns the times of the launches that a run has, up to the first one that it lacks."""
    by_launch = {job.launch: _times(job) for job in main_jobs(load_jobs(folder))}
    times: list[Times] = []
    while len(times) in by_launch:
        times.append(by_launch[len(times)])
    return times


def _launched(profiling: Profiling, number: int, words: Sequence[str], arm: str) -> Times:
    jobs, ended = profiling.launch(number)
    shown = main_jobs(jobs)
    if ended.status or not shown:
        why = f"ended with status {ended.status}" if ended.status else "showed no rank"
        profiling.writer.finish("failed", exit_status=ended.status)
        raise RunError(f"`{' '.join(words)}` {why} in launch {number + 1} ({arm})")
    profiling.writer.amend(header(words, jobs))
    profiling.writer.finish("done", exit_status=0)
    return _times(shown[0])


def _times(job: ProfiledJob) -> Times:
    account = Account(job)
    return float(account.run_s.mean()), float(account.mpi_s.mean())
