# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One launch, from its command to its outcome."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.campaign.backlog import Backlog
from mpigauge.measuring.campaign.state import LaunchOutcome
from mpigauge.measuring.jobs import deaths
from mpigauge.measuring.jobs.agent import is_here
from mpigauge.measuring.jobs.process import LauncherProcess, OutputLine
from mpigauge.measuring.jobs.reasons import failed_to_start, signal_of, why
from mpigauge.model.errors import RunError
from mpigauge.model.hostlist import compress
from mpigauge.model.hosts import HostRanks
from mpigauge.model.pair_block import is_large, pairs_of, spread
from mpigauge.model.record import (
    CellRecord,
    End,
    Failure,
    Launch,
    PairBlock,
    Progress,
    Rank,
    Record,
    with_known,
)
from mpigauge.site import placement
from mpigauge.site.mpi.transports.registry import report_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.measuring.jobs.interrupt import Interrupt
    from mpigauge.measuring.plan import LaunchPlan, PlanPart
    from mpigauge.model.mpi import Mpi
    from mpigauge.runs.store import RunWriter
    from mpigauge.site.launch import Command
    from mpigauge.site.topology.conditions import Conditions

GRACE_S = 5.0
"""Seconds that the kernels may take to finish their table after the first Ctrl-C."""
TERM_S = 2.0
"""Seconds that the launcher may take to end its job after SIGTERM."""
URGENT_S = 0.3
"""Seconds for each of these after a SIGTERM to mpigauge."""
MOST_LOG_BYTES = 16 << 20
LAST_LINES = 200
"""Lines that are kept of each stream, to find why a launch failed."""
MOST_STDOUT_LINES = 4096
"""Lines of output that are searched for the MPI's transport; Intel MPI prints one per rank."""


@dataclass
class Watch:
    """A running launch: the output so far, and the deadline for its end."""

    process: LauncherProcess
    plan: LaunchPlan
    mpi: Mpi
    writer: RunWriter
    interrupt: Interrupt
    timeout_s: float
    start_s: float
    """The time for which it may be silent before its first record, if that is longer."""
    on_record: Callable[[Record], None]
    on_tick: Callable[[], None]
    backlog: Backlog = field(default_factory=Backlog)
    before: Conditions = field(default_factory=deaths.conditions)
    after: Conditions | None = None
    """The conditions at the end of the job, before its leftovers are removed."""
    started_s: float = field(default_factory=time.monotonic)
    heard_s: float = field(default_factory=time.monotonic)
    end_at_s: float = float("inf")
    terminated: bool = False
    interrupts_seen: int = 0
    reason: str = ""
    fatal: str = ""
    last_lines: dict[str, deque[str]] = field(
        default_factory=lambda: {name: deque(maxlen=LAST_LINES) for name in ("stdout", "stderr")}
    )
    stdout_lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_STDOUT_LINES))
    logged: int = 0
    records: int = 0
    counted: int = 0
    """The number of records that the end counts."""
    cells: int = 0
    wrong: int = 0
    end: End | None = None

    def follow(self) -> None:
        for line in self.process.lines():
            if line is not None:
                self.take(line)
            self.check_interrupts()
            self.look_at_clock()
            self.on_tick()

    def take(self, line: OutputLine) -> None:
        self.heard_s = time.monotonic()
        part = self.plan.part
        text = with_known(line.text, part.extra_columns, part.places)
        record = self.writer.append(text) if line.stream == "stdout" else None
        if record is None:
            self.keep(line)
        else:
            self.counted += not isinstance(record, (Progress, End))
            large = isinstance(record, PairBlock) and is_large(record)
            for each in [record] if large else spread([record]):
                self.learn(each)
                self.on_record(each)

    def keep(self, line: OutputLine) -> None:
        """Logs output that is not a record; its end may explain why a launch failed."""
        text = line.text.strip()[:1000]
        self.last_lines[line.stream].append(text)
        if line.stream == "stdout":
            self.stdout_lines.append(text)
        if self.logged < MOST_LOG_BYTES:
            self.writer.log(self.plan.number, line.stream, line.text)
        self.logged += len(line.text)

    def learn(self, record: Record) -> None:
        if not self.records:
            self.process.leave_alone()
        self.records += 1
        self.cells += isinstance(record, CellRecord)
        if isinstance(record, PairBlock):
            self.cells += len(pairs_of(record))
        if isinstance(record, End):
            self.end = record
            self.wrong = record.wrong_count
        elif isinstance(record, Failure):
            self.reason = self.reason or f"rank {record.rank}: {record.message}"
        elif problem := misfit(record, self.plan, self.mpi):
            self.fatal = self.fatal or problem
            self.end_now()

    def check_interrupts(self) -> None:
        """First Ctrl-C: asks the kernels to finish their table, if they have begun it. Second: ends
        them."""
        if self.interrupt.count <= self.interrupts_seen:
            return
        self.interrupts_seen = self.interrupt.count
        if self.interrupts_seen == 1 and self.records and ask_to_stop(Path(self.plan.stop_file)):
            self.end_at_s = time.monotonic() + self.at_most(GRACE_S)
        else:
            self.end_now()

    def look_at_clock(self) -> None:
        now = time.monotonic()
        silent_s = self.timeout_s if self.records else max(self.timeout_s, self.start_s)
        if now - self.heard_s > silent_s and not self.terminated:
            self.reason = f"it was silent for {silent_s:g} s and was ended (--timeout)"
            self.end_now()
        elif now > self.end_at_s:
            self.end_now()

    def end_now(self) -> None:
        self.process.terminate()
        self.terminated = True
        self.end_at_s = time.monotonic() + self.at_most(TERM_S)

    def at_most(self, seconds: float) -> float:
        """These seconds, or less if mpigauge itself is to end soon."""
        return min(seconds, URGENT_S) if self.interrupt.is_urgent else seconds

    def outcome(self, status: int) -> LaunchOutcome:
        interrupted = self.interrupts_seen > 0
        reason = self.fatal or self.with_cause(self.reason or self.failure(status), status)
        return LaunchOutcome(
            launch=self.plan.number,
            reason="" if interrupted and not self.fatal else reason,
            ended=self.end is not None,
            interrupted=interrupted,
            records=self.records,
            cells=self.cells,
            wrong_count=self.wrong,
            wall_s=time.monotonic() - self.started_s,
            measuring_s=self.end.measuring_s if self.end else 0.0,
            used=report_of(self.mpi.name).read("\n".join(self.stdout_lines)),
        )

    def with_cause(self, reason: str, status: int) -> str:
        """The reason with the limit of this machine that the ranks reached, if any."""
        hosts = self.plan.part.hosts
        here = [block.ranks for block in hosts if is_here(block.host)]
        ranks = sum(here) if hosts else self.plan.part.world_ranks
        lines = [*self.last_lines["stderr"], *self.last_lines["stdout"]]
        number = signal_of(status, lines)
        if not reason or not ranks:
            names = compress([block.host for block in hosts])
            hint = f"; `mpigauge doctor --hosts {names}` searches for the cause there"
            return reason + (hint if reason and number else "")
        death = deaths.Death(
            signal=number,
            words="\n".join([reason, *lines]),
            ranks=ranks,
            before=self.before,
            after=self.after or deaths.conditions(),
        )
        return "; ".join(filter(None, [reason, deaths.cause_of(death)]))

    def lost(self) -> str:
        """A message if fewer records arrived than the end has counted; empty: all arrived."""
        if self.end is None or self.counted >= self.end.records:
            return ""
        missing = self.end.records - self.counted
        return f"{missing} of its {self.end.records} records did not come whole"

    def failure(self, status: int) -> str:
        """The reason why a launch failed, from its exit status and last lines; empty: it did
        not."""
        if lost := self.lost():
            return lost
        if status == 0 and self.end is not None:
            return ""
        if self.end is not None and self.wrong:
            return ""  # the kernels say with their status that data were wrong
        return self.said_why(status)

    @property
    def failed_to_start(self) -> bool:
        return (
            not self.records
            and not self.interrupts_seen
            and failed_to_start(self.last_lines["stderr"])
        )

    def said_why(self, status: int) -> str:
        return why(status, self.last_lines["stderr"], self.last_lines["stdout"])


def launch(watch: Watch) -> LaunchOutcome:
    """Follows a launch to its end. RunError: continuing is pointless."""
    try:
        watch.backlog.work(lambda: watch.process.is_silent)
        watch.follow()
        watch.after = deaths.conditions()
        watch.backlog.work()
    except BaseException:
        watch.process.kill()
        raise
    finally:
        status = watch.process.close(watch.backlog.add)
        with suppress(OSError):
            Path(watch.plan.stop_file).unlink(missing_ok=True)
    if watch.fatal:
        raise RunError(watch.fatal)
    return watch.outcome(status)


def start(command: Command) -> LauncherProcess:
    return LauncherProcess(command)


def ask_to_stop(file: Path) -> bool:
    try:
        file.touch()
    except OSError:
        return False  # a full disk, say: then the job is ended the hard way
    return True


def misfit(record: Record, plan: LaunchPlan, mpi: Mpi) -> str:
    """The problem with a record that shows another job than the planned one; empty: there is
    none."""
    if isinstance(record, Launch) and record.world_ranks != plan.part.world_ranks:
        return (
            f"the job has {record.world_ranks} rank{'s' * (record.world_ranks != 1)} instead of "
            f"{plan.part.world_ranks}: the launcher {mpi.mpiexec} and the library {mpi.library} do "
            "not belong together; name the MPI by its own folder with --mpi"
        )
    if isinstance(record, Rank):
        return misplaced(record, plan)
    return ""


def misplaced(rank: Rank, plan: LaunchPlan) -> str:
    """The reason why a rank is not on its planned host or cores; empty: it is."""
    block = block_of(rank.rank, plan.part)
    if block.hostname and rank.host != block.hostname:
        return (
            f"rank {rank.rank} was to run on host {block.host} and runs on {rank.host}: the "
            "launcher has hosts of its own; check its settings and host files"
        )
    if problem := on_wrong_gpu(rank, block.gpus):
        return problem
    if block.bind:
        return wrongly_bound(rank, block.bind, plan.bound_by)
    return ""


def on_wrong_gpu(rank: Rank, gpus: tuple[str, ...]) -> str:
    """The reason why a rank does not use its planned GPU; empty: it does, or it uses none."""
    if not gpus or rank.gpu.index < 0:
        return ""
    who = f"rank {rank.rank} on {rank.host}"
    if not 0 <= rank.local_rank < len(gpus):
        return f"{who} has no number among the ranks of its host, so its GPU is not known"
    planned = gpus[rank.local_rank]
    if rank.gpu.bus == planned:
        return ""
    return f"{who} was to use the GPU at {planned} and uses the one at {rank.gpu.bus}"


def block_of(rank: int, part: PlanPart) -> HostRanks:
    """The host of a rank, by the numbering of ranks."""
    if part.in_turn:
        return part.blocks[rank % len(part.blocks)]
    for block in part.blocks:
        if rank < block.ranks:
            return block
        rank -= block.ranks
    return HostRanks("", part.world_ranks)


def wrongly_bound(rank: Rank, bind: tuple[str, ...], by: str) -> str:
    who = f"rank {rank.rank} on {rank.host}"
    if not 0 <= rank.local_rank < len(bind):
        return (
            f"{who} has no number among the ranks of its host, so its core is not known; "
            "run with --bind none"
        )
    core = bind[rank.local_rank]
    if placement.cores_of(rank.cpuset) == placement.cores_of(core):
        return ""
    why = (
        "its launcher did not bind it as requested; check the launcher's settings, or run "
        "with --bind-by kernel"
        if by == "launcher"
        else "something else binds it too; check the launcher's settings, or run with --bind none"
    )
    return f"{who} was to run on core {core} and may run on {rank.cpuset}: {why}"
