# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs what is to be profiled, once or several times, and stores what was seen."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.features.profile import KIND
from mpigauge.features.profile.account import Account, Called, readable
from mpigauge.features.profile.files import SUFFIX, numbered, read_rank
from mpigauge.features.profile.gather import (
    fetch,
    folder_for_ranks,
    forget_left,
    note_left,
    prepare,
    remove,
)
from mpigauge.features.profile.launching import FOLDER_VARIABLE, Start, with_stand_ins
from mpigauge.features.profile.merge import merged
from mpigauge.features.profile.replayed import save_mix
from mpigauge.features.profile.show import main_jobs
from mpigauge.features.profile.stored import ProfiledJob, save
from mpigauge.features.profile.symbols import Place, resolved
from mpigauge.measure.campaign.agent import Agent
from mpigauge.measure.campaign.in_front import Ended, run
from mpigauge.model.cpu_lists import as_list
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.record import CallSite, Clock, End, Figure, Launch, Rank, encode
from mpigauge.model.secrets import masked_words
from mpigauge.model.units import many
from mpigauge.runs.store.files import SCHEMA
from mpigauge.site.launch.lines import is_launcher
from mpigauge.site.mpi.query import name_and_version

if TYPE_CHECKING:
    from mpigauge.features.profile.files import RankFile, ReturnAddress
    from mpigauge.features.profile.stored import Places
    from mpigauge.measure.campaign.interrupt import Interrupt
    from mpigauge.runs.store import RunWriter

LEVELS = ("single", "funneled", "serialized", "multiple")
NO_CARDS = '{"benchmarks": []}'
Starter = Callable[[Mapping[str, str]], Start]
"""What is started where ranks find these variables."""


@dataclass
class Profiling:
    """The profiling of one command."""

    starter: Starter
    variables: Mapping[str, str]
    """What ranks are told in each launch, but for the folder of their files."""
    writer: RunWriter
    tell: Callable[[str], None]
    agent: Agent = field(default_factory=Agent)
    hosts: tuple[str, ...] = ()
    """Where ranks may be beside the hosts that the line names."""
    output: int | None = None
    """Where what the program prints goes, which then reads nothing; None: it has our streams."""

    def profile(self, launches: int, interrupt: Interrupt) -> tuple[list[ProfiledJob], int]:
        """Makes so many launches, fewer if one fails or we are interrupted between two. What was
        seen, and the status of the last one: the program's own."""
        jobs: list[ProfiledJob] = []
        status = 0
        for number in range(launches):
            if interrupt.count:
                self.tell(f"interrupted after {many(number, 'launch')} of {launches}")
                break
            found, ended = self.launch(number)
            jobs += found
            status = ended.status
            if ended.cause:
                self.tell(ended.cause)
            if status:
                self.tell_last(number, launches, status)
                break
        return jobs, status

    def tell_last(self, number: int, launches: int, status: int) -> None:
        """Tells of a launch that failed, where others were to follow."""
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
            return self.collected(number, folder, hosts, ended.seconds), ended
        finally:
            remove(folder)
            forget_left(self.writer.folder)

    def note_command(self, number: int, start: Start) -> None:
        """A disk that is full keeps nobody's program from running."""
        try:
            self.writer.write_command(number, start.words, {}, start.files)
        except RunError as error:
            self.tell(str(error))

    def collected(
        self, number: int, folder: Path, hosts: Sequence[str], seconds: float | None
    ) -> list[ProfiledJob]:
        """The jobs of a launch, stored. Trouble is told: the program has run, whatever we do.
        `seconds`: how long the launch took; None: that is not known."""
        for problem in fetch(folder, hosts, self.agent):
            self.tell(problem)
        files = self.read(folder)
        alone = [file for file in files if file.rank is None]
        if alone:
            left = many(len(alone), "process")
            self.tell(f"left out: {left} that called MPI and never came out of MPI_Init")
        try:
            jobs = jobs_of(number, files, self.places)
            for job in jobs:
                save(job, self.writer.folder)
                save_mix(job, self.writer.folder)
            longest_s = max((file.run_s for file in files), default=0.0)
            self.record(number, jobs, longest_s if seconds is None else seconds)
        except (RunError, UserError) as error:
            self.tell(str(error))
            return []
        return jobs

    def read(self, folder: Path) -> list[RankFile]:
        """What processes left, by job and rank. A file that is not a whole one is told."""
        found = []
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                found.append(read_rank(path))
            except (UserError, OSError, ValueError) as error:
                self.tell(f"what a process left cannot be read, and is left out: {error}")
        return sorted(
            _by_world(found), key=lambda file: (file.rank is None, file.job, file.rank or 0)
        )

    def places(self, frames: Iterable[ReturnAddress]) -> Places:
        """Where in the sources they are."""
        try:
            return resolved(frames)
        except (OSError, subprocess.SubprocessError) as error:
            self.tell(f"call sites have addresses in place of names: {error}")
            return {}

    def record(self, number: int, jobs: Sequence[ProfiledJob], seconds: float) -> None:
        """What other commands know of a run: launches, ranks, and figures over the launches."""
        shown = main_jobs(jobs)
        lines = [line for job in shown for line in records_of(job)]
        for line in lines:
            self.writer.append(line)
        end = End(number, "done", seconds, seconds, 0, 0, len(lines))
        self.writer.append(encode(end))


def _by_world(files: Sequence[RankFile]) -> list[RankFile]:
    """With the number of its world for each. A rank that was killed may have lived on behind the
    last that is known of it."""
    known = {}
    longer = []
    for file in files:
        known[file.host, file.pid, file.began_utc_s] = file.run_s
        run_s = math.inf if file.ended == "killed" else file.run_s
        longer.append(replace(file, run_s=run_s))
    found = []
    for file in numbered(longer):
        run_s = known[file.host, file.pid, file.began_utc_s]
        found.append(replace(file, run_s=run_s))
    return found


def jobs_of(
    launch: int,
    files: Sequence[RankFile],
    places: Callable[[Iterable[ReturnAddress]], Places] = resolved,
) -> list[ProfiledJob]:
    """The jobs of MPI that left these files, in the order in which they began. Processes without a
    rank are of none."""
    by_job: dict[int, list[RankFile]] = {}
    for file in files:
        if file.rank is not None:
            by_job.setdefault(file.job, []).append(file)
    found = []
    for number, job in enumerate(sorted(by_job)):
        profile = merged(sorted(by_job[job], key=lambda file: file.rank or 0))
        frames = (frame for spot in profile.spots for frame in spot.frames)
        found.append(ProfiledJob(launch, number, profile, places(frames)))
    return found


# --- records --------------------------------------------------------------------------------------
def records_of(job: ProfiledJob) -> Iterable[str]:
    """Lines for the run's records: what was launched, where its ranks were, what it took."""
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
    known = {name: value for name, value in vars(rank).items() if value == value}
    return json.dumps({"record": "rank"} | known, separators=(",", ":"))


def figures(job: ProfiledJob) -> Iterable[Figure]:
    """Figures of the whole program, and of each function of MPI that it called."""
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
    """Each call site of the program, for questions over many runs."""
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
    """run.json: what is profiled, and with which MPI as soon as that is known."""
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
    """Ours, before those of the user."""
    ours = sys.argv[1 : len(sys.argv) - len(words)]
    if ours[-1:] == ["--"]:
        return ours[:-1]
    return ours


def ranks_seen(jobs: Sequence[ProfiledJob]) -> str:
    """How many ranks were seen, of how many."""
    shown = main_jobs(jobs)
    if not shown:
        return "no rank was seen: no process came out of MPI_Init where the profiler could see it"
    fewest = min(shown, key=lambda job: len(job.ranks) / max(job.expected, 1))
    return f"{len(fewest.ranks)} of {many(fewest.expected, 'rank')} seen"
