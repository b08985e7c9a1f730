# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Trial launches of each family of calls with buffers on a GPU, before a run measures them.

An MPI that is not CUDA-aware reads device memory on the CPU, which ends the launch; some accept it
in a part of their calls. So each family has a launch of its own. If it ends by a signal, or with
wrong data, the run leaves out the family in that memory, with this reason.
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.jobs.job import kernel_job
from mpigauge.measuring.jobs.process import LauncherProcess
from mpigauge.measuring.jobs.reasons import signal_of, why
from mpigauge.measuring.plan import LaunchPlan, Plan, PlanPart
from mpigauge.measuring.plan.call_families import MESSAGES, by_family, call_of, family_of
from mpigauge.measuring.plan.memory.buffer_memory import DEVICE, has_two_sides, is_on_gpu, sides
from mpigauge.model.errors import UserError
from mpigauge.model.pair_block import spread
from mpigauge.model.record import CellRecord, Launch, Record, Skip, parse
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi.device_memory.awareness import (
    CallTrial,
    Circumstances,
    keep_trials,
    relevant,
    trials_of,
)
from mpigauge.site.mpi.device_memory.protocols import ASK, used_protocols
from mpigauge.site.topology.busy import grown

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.model.cards import Card, Cards
    from mpigauge.model.columns import Cell
    from mpigauge.model.mpi import Kernels, Mpi

SIZES = (8, 1 << 20)
"""A message that is sent ahead, and one that is too long for that."""
REPETITIONS = 5
PATIENCE_S = 60.0
SELFTEST, STAND_IN = "SELFTEST", "PingPong"
"""A suite with planted faults, and the benchmark that is tried in its place."""
_READ_ON_CPU = (signal.SIGSEGV, signal.SIGBUS)


@dataclass(frozen=True)
class TrialSite:
    """The MPI, kernels and environment of trials."""

    mpi: Mpi
    kernels: Kernels
    cards: Cards
    env: Mapping[str, str]
    system: str = ""
    """The batch system whose job we are in; empty: none."""
    report: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class _Ended:
    """The end of a trial launch."""

    records: Sequence[Record]
    signal: int = 0
    reason: str = ""
    """The reason why it failed; empty: it did not."""
    protocols: tuple[str, ...] = ()
    """The protocols that UCX used."""


def with_trials(plan: Plan, site: TrialSite) -> tuple[Plan, tuple[CallTrial, ...]]:
    """The plan without the benchmarks that this MPI cannot run with buffers on a GPU, and the
    trials that showed it. UserError: no rank starts with the settings for device memory."""
    kinds = [kind for kind in plan.memory if is_on_gpu(kind)]
    if not kinds:
        return plan, ()
    trials: list[CallTrial] = []
    parts: list[PlanPart] = []
    for part in plan.parts:
        own = [] if part.foreign else list(_trials(plan, part, kinds, site))
        parts.append(replace(part, left_out=tuple(left_out(part, own, site.cards))))
        trials += own
    return replace(plan, parts=tuple(parts)), tuple(dict.fromkeys(trials))


def left_out(
    part: PlanPart, trials: Sequence[CallTrial], cards: Cards
) -> Iterator[tuple[str, str, str]]:
    """Each benchmark and memory that is left out, with its reason."""
    for trial in trials:
        for name in part.benchmarks if trial.refused else ():
            is_accepted = name in trial.accepted
            if _tried_family(cards.find(name)) == trial.family and not is_accepted:
                yield name, trial.memory, trial.reason


def _tried_family(card: Card) -> str:
    return MESSAGES if card.suite == SELFTEST else family_of(card)


def _trials(
    plan: Plan, part: PlanPart, kinds: Sequence[str], site: TrialSite
) -> Iterator[CallTrial]:
    """A trial of each family in each memory: a remembered one, or a new one of the benchmarks that
    it lacks."""
    circumstances = _circumstances(plan, part, site)
    remembered: dict[tuple[str, str], CallTrial] = {}
    for trial in trials_of(site.mpi, plan.cuda):
        if trial.circumstances == circumstances:
            remembered[trial.family, trial.memory] = trial
    for kind in kinds:
        for family, of in by_family(tried_cards(part, kind, site.cards)).items():
            earlier = remembered.get((family, kind))
            missing = [card for card in of if not earlier or card.word not in earlier.accepted]
            if earlier and (earlier.refused or not missing):
                yield earlier
                continue
            trial = CallTrial(family, kind, circumstances, earlier.accepted if earlier else ())
            yield _launched(trial, missing, plan, part, site)


def tried_cards(part: PlanPart, kind: str, cards: Cards) -> list[Card]:
    """The benchmarks of a part that kernels would run in this memory, each once; a stand-in for
    those with planted faults."""
    chosen: dict[Card, None] = {}
    for name in part.benchmarks:
        card = cards.find(name)
        fits = card.ranks == "pair" if has_two_sides(kind) else card.fits(part.largest_group)
        if fits and not card.gpu:
            chosen[cards.find(STAND_IN) if card.suite == SELFTEST else card] = None
    return list(chosen)


def _circumstances(plan: Plan, part: PlanPart, site: TrialSite) -> Circumstances:
    job = _job(plan, replace(part, sizes=SIZES), site, "")
    return Circumstances(
        driver=plan.cuda,
        settings=relevant({**site.env, **job.mpi.env, **job.settings, **job.env}),
        is_shared=any(len(set(block.gpus)) < len(block.gpus) for block in part.blocks),
        hosts=max(1, len(part.hosts)),
    )


def _launched(
    trial: CallTrial, cards: Sequence[Card], plan: Plan, part: PlanPart, site: TrialSite
) -> CallTrial:
    """The trial with the result of a launch, which is remembered if it is certain."""
    site.report(f"{site.mpi.label}: trying {trial.family} with {trial.memory} memory")
    tried = replace(
        part,
        benchmarks=tuple(card.word for card in cards),
        ranks=(part.largest_group,),
        sizes=SIZES,
        pairs="",
        places={},
        arms=(),
    )
    ended = _launch(replace(plan, memory=(trial.memory,), parts=(tried,)), tried, site)
    result = judged(trial, cards, ended.records, ended.signal, ended.reason)
    result = replace(result, protocols=ended.protocols)
    if not result.refused or ended.signal in _READ_ON_CPU or _wrong(ended.records):
        keep_trials(site.mpi, plan.cuda, [result])
    return result


def judged(
    trial: CallTrial, cards: Sequence[Card], records: Sequence[Record], number: int, reason: str
) -> CallTrial:
    """The trial with the benchmarks that these records show to work, and with the reason why it
    ended, if it failed. `number` is the signal that ended it. UserError: no rank got as far as to
    measure."""
    cells = [record.cell for record in records if isinstance(record, CellRecord)]
    if reason and not any(isinstance(record, Launch) for record in records):
        settings = " ".join(f"{n}={v}" for n, v in trial.circumstances.settings.items())
        with_them = f" with {settings}" if settings else ""
        raise UserError(f"--memory {trial.memory}: the ranks did not start{with_them}: {reason}")
    failed = _failed(cards, records, reason)
    worked = [card.word for card in cards if card is not failed and _has(card, cells)]
    trial = replace(trial, accepted=tuple(dict.fromkeys((*trial.accepted, *worked))))
    if failed is None:
        return trial
    why_not = _why(trial, failed, number, reason if not _wrong(records) else "")
    return replace(trial, refused=failed.word, reason=why_not)


def _failed(cards: Sequence[Card], records: Sequence[Record], reason: str) -> Card | None:
    """The benchmark with wrong data, or the first one that was not measured to its end."""
    if wrong := _wrong(records):
        return next(card for card in cards if _is_of(wrong[0], card))
    if not reason:
        return None
    return next((card for card in cards if not _is_whole(card, records)), cards[-1])


def _why(trial: CallTrial, card: Card, number: int, reason: str) -> str:
    """The reason for a skip; `reason` is empty if data were wrong."""
    call, aware = call_of(card), f"this MPI is not CUDA-aware for {trial.family}"
    if not reason:
        return f"data in {trial.memory} memory were wrong in a trial of {call}: {aware}"
    if number not in _READ_ON_CPU:
        return f"a trial of {call} with {trial.memory} memory failed: {reason}"
    on_gpu = DEVICE if DEVICE in sides(trial.memory) else trial.memory
    return (
        f"this MPI read {on_gpu} memory on the CPU in {call}: it is not CUDA-aware for "
        f"{trial.family}"
    )


def _wrong(records: Sequence[Record]) -> list[Cell]:
    cells = (record.cell for record in records if isinstance(record, CellRecord))
    return [cell for cell in cells if cell.wrong_count]


def _is_of(cell: Cell, card: Card) -> bool:
    return (cell.suite, cell.benchmark) == (card.suite, card.name)


def _has(card: Card, cells: Sequence[Cell]) -> bool:
    return any(_is_of(cell, card) for cell in cells)


def _is_whole(card: Card, records: Sequence[Record]) -> bool:
    """True if the benchmark was measured, or refused by the kernels, in all of its sizes."""
    keys: list[tuple[object, object]] = []
    for record in records:
        if isinstance(record, CellRecord):
            keys.append((record.cell.suite, record.cell.benchmark))
        elif isinstance(record, Skip):
            keys.append((record.key.get("suite"), record.key.get("benchmark")))
    expected = (len(SIZES) if card.is_sized else 1) * len(card.completions)
    return keys.count((card.suite, card.name)) >= expected


def _launch(plan: Plan, part: PlanPart, site: TrialSite) -> _Ended:
    patience_s = grown(PATIENCE_S)
    with tempfile.TemporaryDirectory(prefix="mpigauge-trial-") as folder:
        job = _job(plan, part, site, f"{folder}/trial")
        words = command(replace(job, env={**job.env, **ASK}))
        for name, text in words.files.items():
            Path(name).write_text(text, encoding="utf-8")
        process = LauncherProcess(words)
        end_s, late = time.monotonic() + patience_s, False
        output: dict[str, list[str]] = {"stdout": [], "stderr": []}
        records: list[Record] = []
        try:
            for line in process.lines():
                if line is not None and (record := parse(line.text)):
                    records += spread([record])
                elif line is not None:
                    output[line.stream].append(line.text)
                if not late and time.monotonic() > end_s:
                    late = True
                    process.kill()
        finally:
            status = process.close()
    if late:
        return _Ended(records, 0, f"it did not end within {patience_s:g} s")
    lines = [*output["stderr"], *output["stdout"]]
    protocols = used_protocols(lines)
    if status == 0 or _wrong(records):
        return _Ended(records, protocols=protocols)
    reason = why(status, output["stderr"], output["stdout"])
    return _Ended(records, signal_of(status, lines), reason, protocols)


def _job(plan: Plan, part: PlanPart, site: TrialSite, stem: str) -> Job:
    planned = LaunchPlan(number=0, part=part, seed=plan.seed, bound_by=plan.bound_by)
    job = kernel_job(
        replace(plan, mode="classic"), planned, site.mpi, site.kernels, site.env, site.system, stem
    )
    return replace(job, program=(*job.program, "--repetitions", str(REPETITIONS)))
