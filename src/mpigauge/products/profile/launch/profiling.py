# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launches the program to profile, once or several times, and stores its profiles."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.measuring.jobs.agent import Agent
from mpigauge.measuring.jobs.in_front import Ended, run
from mpigauge.model.cpu_lists import as_list
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.record import CallSite, Clock, End, Figure, Launch, Rank, encode
from mpigauge.model.secrets import masked_words
from mpigauge.model.units import many
from mpigauge.products.profile import KIND
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.apart import apart_command
from mpigauge.products.profile.analyse.entries import Called
from mpigauge.products.profile.analyse.jobs import main_jobs
from mpigauge.products.profile.analyse.place_names import readable
from mpigauge.products.profile.launch.gather import (
    fetch,
    folder_for_ranks,
    forget_left,
    note_left,
    prepare,
    remove,
)
from mpigauge.products.profile.launch.launching import FOLDER_VARIABLE, Start, with_stand_ins
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.match.timeline import MOST_BYTES
from mpigauge.products.profile.read.files import SUFFIX, numbered, read_rank
from mpigauge.products.profile.read.symbols import Place, resolved
from mpigauge.products.profile.store.replayed import save_mix
from mpigauge.products.profile.store.stored import ProfiledJob, save
from mpigauge.runs.store.files import SCHEMA
from mpigauge.site.launch.lines import is_launcher
from mpigauge.site.mpi.query import name_and_version

if TYPE_CHECKING:
    from mpigauge.measuring.jobs.interrupt import Interrupt
    from mpigauge.products.profile.read.rank_file import RankFile, ReturnAddress
    from mpigauge.products.profile.store.stored import Places
    from mpigauge.runs.store import RunWriter

LEVELS = ("single", "funneled", "serialized", "multiple")
NO_CARDS = '{"benchmarks": []}'
Starter = Callable[[Mapping[str, str]], Start]
"""A function that returns the start of a launch with these variables in its ranks."""


@dataclass
class Profiling:
    """The profiling of one command."""

    starter: Starter
    variables: Mapping[str, str]
    """The variables of ranks in each launch, except the folder of their files."""
    writer: RunWriter
    tell: Callable[[str], None]
    agent: Agent = field(default_factory=Agent)
    hosts: tuple[str, ...] = ()
    """The hosts that may have ranks, in addition to those that the line names."""
    timeline_bytes: int = MOST_BYTES
    """The most that the recorded calls of one launch take when stored."""
    output: int | None = None
    """The output of the program, which then has no input; None: it inherits our streams."""
    was_interrupted: bool = False
    """True if an interrupt came during the last launch."""

    def profile(self, launches: int, interrupt: Interrupt) -> tuple[list[ProfiledJob], int]:
        """Makes `launches` launches, fewer if one fails or on an interrupt between two. Returns the
        jobs, and the exit status of the last launch."""
        jobs: list[ProfiledJob] = []
        status = 0
        for number in range(launches):
            if interrupt.count:
                self.tell(f"interrupted after {many(number, 'launch')} of {launches}")
                break
            new_jobs, ended = self.launch(number)
            self.was_interrupted = interrupt.count > 0
            jobs += new_jobs
            status = ended.status
            if ended.cause:
                self.tell(ended.cause)
            if status:
                self.tell_last(number, launches, status)
                break
        return jobs, status

    def tell_last(self, number: int, launches: int, status: int) -> None:
        """Reports a failed launch, if others were to follow."""
        if number + 1 < launches:
            self.tell(
                f"launch {number + 1} of {launches} ended with status {status}; no further one is "
                "made"
            )

    def launch(self, number: int) -> tuple[list[ProfiledJob], Ended]:
        folder = folder_for_ranks()
        try:
            start = self.starter({**self.variables, FOLDER_VARIABLE: str(folder)})
            if number == 0:
                for note in start.notes:
                    self.tell(note)
            if not is_launcher(start.words[0]):
                start = with_stand_ins(start, folder)
            hosts = (*start.hosts, *self.hosts)
            for problem in prepare(folder, hosts, self.agent):
                self.tell(problem)
            self.note_command(number, start)
            note_left(self.writer.folder, number, folder, hosts, self.agent)
            ended = run(start.words, start.env, self.output)
            jobs = self.collected(number, folder, hosts, ended.seconds, time.time())
            return jobs, ended
        finally:
            remove(folder)
            forget_left(self.writer.folder)

    def note_command(self, number: int, start: Start) -> None:
        """Stores the command of a launch; a full disk is only reported."""
        try:
            self.writer.write_command(number, start.words, {}, start.files)
        except RunError as error:
            self.tell(str(error))

    def collected(
        self,
        number: int,
        folder: Path,
        hosts: Sequence[str],
        seconds: float | None = None,
        ended_utc_s: float | None = None,
    ) -> list[ProfiledJob]:
        """Stores and returns the jobs of a launch. Errors are only reported, as the program has
        run. `seconds`: the duration of the launch, and `ended_utc_s` its end in seconds since 1970;
        None: unknown."""
        for problem in fetch(folder, hosts, self.agent):
            self.tell(problem)
        files = self.read(folder, ended_utc_s)
        alone = [file for file in files if file.rank is None]
        if alone:
            left = many(len(alone), "process")
            self.tell(f"left out: {left} that called MPI and never came out of MPI_Init")
        if len(alone) == len(files) and any(file.launched > 1 for file in alone):
            right = apart_command(alone[0])
            self.tell(f"if the launcher is not that of the program's MPI: `{right}`")
        try:
            jobs = jobs_of(number, files, self.places, self.timeline_bytes)
            for job in jobs:
                save(job, self.writer.folder)
                save_mix(job, self.writer.folder)
            longest_s = max((file.run_s for file in files), default=0.0)
            self.record(number, jobs, longest_s if seconds is None else seconds)
        except (RunError, UserError, OSError) as error:  # OSError: a file is gone
            self.tell(str(error))
            return []
        return jobs

    def read(self, folder: Path, ended_utc_s: float | None = None) -> list[RankFile]:
        """Reads the files of processes, by job and rank. A damaged file is reported."""
        files = []
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                files.append(read_rank(path, ended_utc_s))
            except (UserError, OSError, ValueError) as error:
                self.tell(f"what a process left cannot be read, and is left out: {error}")
        return sorted(
            _by_world(files), key=lambda file: (file.rank is None, file.job, file.rank or 0)
        )

    def places(self, frames: Iterable[ReturnAddress]) -> Places:
        """Returns the places of frames in the sources."""
        try:
            return resolved(frames)
        except (OSError, subprocess.SubprocessError) as error:
            self.tell(f"call sites have addresses in place of names: {error}")
            return {}

    def record(self, number: int, jobs: Sequence[ProfiledJob], seconds: float) -> None:
        """Appends the records for other commands: launches, ranks, figures and call sites."""
        shown = main_jobs(jobs)
        lines = [line for job in shown for line in records_of(job)]
        for line in lines:
            self.writer.append(line)
        end = End(number, "done", seconds, seconds, 0, 0, len(lines))
        self.writer.append(encode(end))


def _by_world(files: Sequence[RankFile]) -> list[RankFile]:
    """Returns the files with the numbers of their worlds. A killed rank may have run longer than
    its last timestamp."""
    run_times = {}
    longer = []
    for file in files:
        run_times[file.host, file.pid, file.began_utc_s] = file.run_s
        run_s = math.inf if file.ended == "killed" else file.run_s
        longer.append(replace(file, run_s=run_s))
    numbered_files = []
    for file in numbered(longer):
        run_s = run_times[file.host, file.pid, file.began_utc_s]
        numbered_files.append(replace(file, run_s=run_s))
    return numbered_files


def jobs_of(
    launch: int,
    files: Sequence[RankFile],
    places: Callable[[Iterable[ReturnAddress]], Places] = resolved,
    timeline_bytes: int = MOST_BYTES,
) -> list[ProfiledJob]:
    """Returns the MPI jobs of these files, in the order in which they began, with so many bytes of
    recorded calls. Processes without a rank are ignored."""
    by_job: dict[int, list[RankFile]] = {}
    for file in files:
        if file.rank is not None:
            by_job.setdefault(file.job, []).append(file)
    jobs = []
    for number, job in enumerate(sorted(by_job)):
        ranks = sorted(by_job[job], key=lambda file: file.rank or 0)
        profile = merged(ranks, timeline_bytes // len(by_job))
        frames = (frame for spot in profile.spots for frame in spot.frames)
        jobs.append(ProfiledJob(launch, number, profile, places(frames)))
    return jobs


# --- records --------------------------------------------------------------------------------------
def records_of(job: ProfiledJob) -> Iterable[str]:
    """Yields the records of a job: its launch, ranks, figures and call sites."""
    first = job.ranks[0]
    level = LEVELS[first.thread_level] if 0 <= first.thread_level < len(LEVELS) else ""
    yield encode(
        Launch(
            launch=job.launch,
            schema=SCHEMA,
            time=first.started,
            mpi_library=first.library,
            mpi_standard="",
            abi=first.abi,
            world_ranks=job.expected,
            mode=KIND,
            precision=math.nan,
            seed=0,
            thread_level=level,
            clock=Clock(),
        )
    )
    before: Counter[str] = Counter()
    for file in job.ranks:
        yield rank_line(job.launch, file, before[file.host])
        before[file.host] += 1
    for figure in figures(job):
        yield encode(figure)
    for site in call_sites(job):
        yield encode(site)


def rank_line(launch: int, file: RankFile, local: int) -> str:
    import json

    cpu = next(iter(file.cpus), -1)
    rank = Rank(
        launch=launch,
        rank=file.rank or 0,
        host=file.host,
        pid=file.pid,
        local_rank=local,
        wanted_cpuset="",
        cpuset=as_list(file.cpus),
        cpu=cpu,
        numa=file.cpus[cpu][0] if cpu in file.cpus else -1,
    )
    values = {name: value for name, value in vars(rank).items() if value == value}
    del values["gpu"]  # a profile does not record it
    return json.dumps({"record": "rank"} | values, separators=(",", ":"))


def figures(job: ProfiledJob) -> Iterable[Figure]:
    """Yields figures of the whole program, and of each MPI function that it called."""
    account = Account(job)

    def figure(name: str, value: float, unit: str, better: str = "") -> Figure:
        return Figure(job.launch, job.program, name, value, unit, better, len(job.ranks))

    mpi_s = float(account.mpi_s.mean())
    yield figure("run time", float(account.run_s.mean()), "s", "lower")
    yield figure("time in MPI", mpi_s, "s", "lower")
    if math.isfinite(account.mean_share):
        yield figure("share of MPI", 100 * account.mean_share, "%", "lower")
        yield figure("imbalance", 100 * account.imbalance, "%", "lower")
    calls: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    for site in account.inside:
        calls[site.spot.call] += site.calls
        seconds[site.spot.call] += site.total_s
    for call in sorted(calls):
        yield figure(f"calls of {call}", calls[call], "1")
        yield figure(f"time in {call}", seconds[call] / len(job.ranks), "s", "lower")


def call_sites(job: ProfiledJob) -> Iterable[CallSite]:
    """Yields the call sites of the program, for queries over many runs."""
    account = Account(job)
    waited = {each.called.spot: each.waiting.value for each in account.waited}
    for site in account.sites:
        yield _call_site(job, account, site, waited.get(site.spot, math.nan) / len(job.ranks))


def _call_site(job: ProfiledJob, account: Account, site: Called, waiting_s: float) -> CallSite:
    place, library_file, offset = Place(""), "", 0
    frame = account.frame_of(site.spot)
    if frame:
        offset = frame.offset
        library_file = frame.module.path if frame.module else ""
        place = next(iter(job.places.get(frame, ())), place)
    return CallSite(
        launch=job.launch,
        benchmark=job.program,
        number=site.number,
        call=site.spot.call,
        region=site.spot.region,
        function=readable(place.function),
        source_file=place.file,
        line=place.line,
        library_file=library_file,
        offset=offset,
        ranks=int((site.calls_of > 0).sum()),
        calls=site.calls,
        time_s=site.mean_s,
        time_max_s=float(site.seconds.max()),
        call_p50_s=site.median_s,
        call_p99_s=site.late_s,
        call_max_s=site.most_s,
        sent_bytes=site.sent,
        failures=site.failures,
        waiting_s=waiting_s,
    )


# --- the head of the run --------------------------------------------------------------------------
def header(words: Sequence[str], jobs: Sequence[ProfiledJob] = ()) -> dict[str, Any]:
    """Returns the contents of run.json: the command, and the MPI once it is known."""
    return {
        "kind": KIND,
        "version": mpigauge.__version__,
        "command": masked_words(["mpigauge", *_own_words(words), "--", *words]),
        "mpi": {"name": "", "version": ""},
        "profile": {"program": PurePath(words[0]).name},
        **facts_of(jobs),
    }


def facts_of(jobs: Sequence[ProfiledJob]) -> dict[str, Any]:
    """The facts about ranks in run.json; empty if no rank was seen."""
    shown = main_jobs(jobs)
    if not shown:
        return {}
    name, version = name_and_version(shown[0].ranks[0].library)
    return {
        "mpi": {"name": name, "version": version},
        "profile": {"program": shown[0].program},
    }


def _own_words(words: Sequence[str]) -> list[str]:
    """Returns the arguments of mpigauge before the user's command."""
    ours = sys.argv[1 : len(sys.argv) - len(words)]
    if ours[-1:] == ["--"]:
        return ours[:-1]
    return ours


def ranks_seen(jobs: Sequence[ProfiledJob]) -> str:
    """Returns the number of ranks seen and expected, in words."""
    shown = main_jobs(jobs)
    if not shown:
        return "no rank was seen: no process came out of MPI_Init where the profiler could see it"
    if shown[0].is_apart:
        return f"{many(len(jobs), 'rank')} seen, which do not see each other"
    fewest = min(shown, key=lambda job: len(job.ranks) / max(job.expected, 1))
    return f"{len(fewest.ranks)} of {many(fewest.expected, 'rank')} seen"
