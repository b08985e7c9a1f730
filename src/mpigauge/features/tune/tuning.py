# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A tuning from its first launch to its last: try, measure, choose, write, confirm."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.screen import tell
from mpigauge.features.tune.faults import proof_of
from mpigauge.features.tune.plan import (
    ODD_RANKS,
    RIGHT,
    TUNED,
    Where,
    confirm_plan,
    grid_alone_plan,
    grid_plan,
    refine_plan,
    right_alone_plan,
    right_plan,
    screen_plan,
)
from mpigauge.features.tune.refine import (
    MOST_HALVINGS,
    Edge,
    edges_of,
    moved,
    sizes_to_ask,
    widened,
)
from mpigauge.features.tune.result import (
    Of,
    Tried,
    choices,
    confirmed,
    grids,
    is_as_good,
    rescue,
    rules_for_all_sizes,
    rules_of,
    tried,
    weighed,
)
from mpigauge.features.tune.show import (
    each_once,
    sizes_in_words,
    why_no_stand_in,
)
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.suite_options import LEVELS, THREAD_LEVEL, calls_from_several
from mpigauge.model.units import listed
from mpigauge.result.tuning.halving import contenders
from mpigauge.runs.store.files import failing_as
from mpigauge.runs.store.tunings import RUNS, DefaultStays, Fault, Rescued, TunedRule, write_files
from mpigauge.site.mpi.rule_files.candidates import (
    Candidate,
    candidates_of,
    find_candidate,
    known_to,
)
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from mpigauge.cli.targets import Setup
    from mpigauge.measure.campaign import CampaignTask
    from mpigauge.measure.plan import Plan, Request
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.rules import Rule
    from mpigauge.result.tuning.choose import Choice
    from mpigauge.result.tuning.grid import Grid
    from mpigauge.runs.store import Run
    from mpigauge.site.mpi.rule_files.registry import LookUp

AllArms = dict[str, dict[int, list[tuple[str, Mapping[str, str]]]]]
"""By collective and ranks: the names of candidates, and what is set for each."""
FEW_CANDIDATES = 3
"""So many are measured without a first look."""
RUN_NAMES = {
    "right": "whether candidates are right",
    "right-alone": "whether candidates are right, each alone",
    "screen": "which candidates are worth a closer look",
    "grid": "how long candidates take",
    "refine": "where rules begin and end",
    "p2p": "how long messages take with each combination of settings",
    "p2p-trial": "how long messages take with a combination of settings",
    "p2p-finalists": "the best combinations of settings once more",
    "p2p-right": "whether collectives are right with the best one",
    "p2p-confirm": "whether the best one helps",
    "rules-right": "whether results with the rules are right",
    "confirm": "whether the rules help",
}


@dataclass(frozen=True)
class TuningTask:
    """What is tuned, and where to."""

    setup: Setup
    request: Request
    """With the settings under which candidates are measured."""
    collectives: tuple[str, ...]
    ranks: tuple[int, ...]
    folder: Path
    going_on: str
    """How to go on after an interruption."""
    mix: CallMix | None = None
    """The calls of a program, for which it is tuned; None: for any."""

    @property
    def names_default(self) -> bool:
        """Whether rules of this MPI may leave sizes to its default."""
        return rule_format_of(self.setup.mpi.name).names_default

    @property
    def where(self) -> Where:
        return Where(self.setup.cards, self.setup.resources, self.setup.mpi, self.mix)

    @property
    def is_crowded(self) -> bool:
        """Whether ranks share cores."""
        return any(ranks > self.where.cores for _, ranks in self.wanted)

    @property
    def thread_level(self) -> str:
        """At which MPI is started: as asked, else the lowest, which collectives can do with."""
        return self.request.suite_options.get(THREAD_LEVEL, LEVELS[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """At which candidates are measured."""
        every = {size for of in self.wanted for size in self.where.sizes(self.request, *of)}
        return tuple(sorted(every))

    def hosts_of(self, collective: str, ranks: int) -> int:
        """On how many hosts so many ranks are measured, or tried for right results."""
        request = replace(self.request, oversubscribe=True)
        return len(self.where.with_room(ranks).part(request, collective, ranks).blocks)

    def groups(self, collective: str) -> tuple[int, ...]:
        """The numbers of ranks that it is tuned for."""
        if self.mix is None:
            return self.ranks
        return self.mix.groups(collective)

    def candidates(self, ranks: int) -> list[Candidate]:
        every = known_to(self.setup.mpi, candidates_of(self.setup.mpi.name))
        return [each for each in every if each.collective in self.collectives and each.fits(ranks)]

    def forced(self, candidate: Candidate, ranks: int) -> Mapping[str, str]:
        """The settings that make the MPI use it for all sizes among so many ranks, as they lie
        here."""
        form = rule_format_of(self.setup.mpi.name)
        name = candidate.collective
        return {**candidate.settings, **form.measured_among(name, self.hosts_of(name, ranks))}

    @property
    def wanted(self) -> list[Of]:
        return [(name, ranks) for name in self.collectives for ranks in self.groups(name)]

    def grids(self, run: Run) -> dict[Of, Grid]:
        """The grid of each collective and number of ranks, with what its sizes count."""
        return {of: weighed(of, grid, self.mix) for of, grid in grids(run).items()}

    def measured(self, name: str, plan: Plan) -> Run:
        """The run of this name, made now, gone on with, or as it was. RunError: interrupted."""
        what = RUN_NAMES[name.rstrip("-0123456789")]
        stored, problem = measured(self.setup, plan, self.folder / RUNS / name, what)
        if stored.status.get("status") == "interrupted":
            raise RunError(f"interrupted: what was measured is kept; {self.going_on}")
        if is_cut_short(stored):
            raise RunError(f"{problem}; what was measured is kept; {self.going_on}")
        check_level(stored)
        return stored


@dataclass(frozen=True)
class TuningFindings:
    """What measuring candidates has brought."""

    rules: list[TunedRule]
    left: list[DefaultStays]
    faults: list[Fault]
    noise: float | None = None
    """By how much the default differed from itself; None: nothing was measured."""
    rescued: Sequence[Rescued] = ()
    """What makes collectives far faster among ranks that share cores."""


# --- runs ---------------------------------------------------------------------------------------
def check_level(stored: Run) -> None:
    """RunError: the MPI provides a lower thread level than was asked for."""
    for launch in stored.launches:
        asked, given = launch.thread_level_asked, launch.thread_level
        if asked and given and LEVELS.index(given) < LEVELS.index(asked):
            raise RunError(
                f"the MPI provides no thread level {asked}, only {given}: programs run at that "
                f"level here, too; tune with --thread-level {given}"
            )


def measured(setup: Setup, plan: Plan, folder: Path, what: str) -> tuple[Run, str]:
    """The run in this folder, made now, gone on with, or as it was; and what went wrong last."""
    from mpigauge.cli.measuring import PlannedRun, carry_out, measure
    from mpigauge.runs.store import load

    problems: tuple[str, ...] = ()
    if not (folder / "run.json").is_file():
        tell(f"{what}: {folder}")
        with failing_as(UserError, folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
        problems = measure([PlannedRun(setup, plan)], folder, "tune").problems
    else:
        _check_same_plan(folder, plan)
        if is_cut_short(load(folder)):
            tell(f"{what}: goes on in {folder}")
            with ExitStack() as stack:
                problems = carry_out([_what_is_left(folder, setup, plan.env, stack)]).problems
    return load(folder), "; ".join(problems[-1:])


def is_cut_short(stored: Run) -> bool:
    """True if launches are missing: it was interrupted, or it was given up with a reason, such as a
    full disk; no status, if there was no room even for that."""
    return stored.status.get("status") in (None, "interrupted") or "reason" in stored.status


def _what_is_left(
    folder: Path, setup: Setup, env: Mapping[str, str], stack: ExitStack
) -> CampaignTask:
    """`env`: the variables of the command, some of which are too secret to be stored."""
    from mpigauge.measure.campaign import resumed
    from mpigauge.runs.store import RunWriter, load

    stored = load(folder)
    writer = stack.enter_context(RunWriter.resume(folder))
    return resumed(stored, setup.mpi, setup.kernels, writer, {**os.environ, **env})


def _check_same_plan(folder: Path, plan: Plan) -> None:
    """UserError: what was measured there is something else."""
    from mpigauge.measure.plan import Plan as Plans
    from mpigauge.runs.store import load

    then, plan = Plans.from_json(load(folder).plan), Plans.from_json(plan.to_json())
    if replace(then, seed=plan.seed) != plan or _arms(then) != _arms(plan):
        raise UserError(
            f"{folder} was measured with other options; name another folder with --output, or give "
            "the command as it was"
        )


def _arms(plan: Plan) -> list[object]:
    return [(part.arm, dict(part.settings), part.arms) for part in plan.parts]


# --- candidates that are right ------------------------------------------------------------------
def right_candidates(task: TuningTask) -> tuple[dict[Of, list[Candidate]], list[Fault]]:
    """Candidates without a fault, by collective and ranks that are tuned, and the faults of the
    others. A candidate with a fault among any number of ranks is out everywhere."""
    wanted: dict[Of, list[Candidate]] = {}
    for ranks in sorted({*task.ranks, 2, ODD_RANKS}):
        for each in task.candidates(ranks):
            wanted.setdefault((each.collective, ranks), []).append(each)
    faults = _faults_of(task, wanted)
    out = {(fault.collective, fault.candidate) for fault in faults}
    right = {
        (name, ranks): [each for each in own if (name, each.name) not in out]
        for (name, ranks), own in wanted.items()
        if ranks in task.groups(name) and (name, "") not in out
    }
    return right, faults


def _faults_of(task: TuningTask, wanted: Mapping[Of, Sequence[Candidate]]) -> list[Fault]:
    """All in one process first, where they can be; those of which nothing came back each in
    launches of its own."""
    together = _tried_together(task, wanted)
    alone = []
    for (name, ranks), own in wanted.items():
        for arm, settings in (("", {}), *_alone(task, own, ranks)):
            if (name, ranks, arm) not in together.known:
                alone.append((name, ranks, arm, settings))
    if not alone:
        return list(together.faults)
    run = task.measured("right-alone", right_alone_plan(task.request, alone, task.where))
    again = tried(run)
    lost = [
        Fault(name, ranks, arm, why_lost(run, name, ranks, arm))
        for name, ranks, arm, _ in alone
        if (name, ranks, arm) not in again.known
    ]
    return [*together.faults, *again.faults, *lost]


def _tried_together(task: TuningTask, wanted: Mapping[Of, Sequence[Candidate]]) -> Tried:
    arms = _arms_in_one_process(task, wanted)
    if arms is None:
        return Tried(frozenset(), ())
    return tried(task.measured("right", right_plan(task.request, arms, task.where)))


def why_lost(run: Run, name: str, ranks: int, arm: str) -> str:
    """Why the launch of a candidate brought nothing."""
    parts = run.plan.get("parts") or ()
    wanted = ([RIGHT.format(name)], ranks, arm)
    for failure in run.failures:
        part = parts[failure.launch % len(parts)]
        if (list(part["benchmarks"]), part["world_ranks"], part["arm"]) == wanted:
            return failure.message
    skipped = [skip.reason for skip in run.skips if skip.key.get("arm") == arm]
    if skipped:
        return skipped[0]
    return f"a launch of {ranks} ranks brought nothing"


def _arms_in_one_process(
    task: TuningTask, wanted: Mapping[Of, Sequence[Candidate]]
) -> AllArms | None:
    """As control variables of the library; None: it lets nobody set them while it runs."""
    from mpigauge.site.mpi.settings import knobs
    from mpigauge.site.mpi.settings.inside import OutsideError, written

    every = knobs(task.setup.mpi)
    found: AllArms = {}
    for (name, ranks), own in wanted.items():
        try:
            values = written([task.forced(each, ranks) for each in own], every, task.setup.mpi)
        except OutsideError:
            return None
        arms = [(each.name, arm) for each, arm in zip(own, values, strict=True)]
        found.setdefault(name, {})[ranks] = list(arms)
    return found


def _alone(
    task: TuningTask, candidates: Iterable[Candidate], ranks: int
) -> list[tuple[str, Mapping[str, str]]]:
    """As settings that a launch starts with."""
    return [(each.name, task.forced(each, ranks)) for each in candidates]


# --- choosing -----------------------------------------------------------------------------------
def find_rules(task: TuningTask) -> TuningFindings:
    """Tries and measures all candidates, and chooses."""
    right, faults = right_candidates(task)
    for fault in each_once(faults):
        name = fault.candidate or "the default"
        proof = proof_of(fault, task.setup.mpi, task.request.suite_options.get(THREAD_LEVEL, ""))
        tell(f"{fault.collective}: {name} is out: {fault.why}; `{proof}` shows it")
    wanted = {of: own for of, own in right.items() if own}
    left = [
        DefaultStays(name, ranks, "no candidate gives right results")
        for name, ranks in task.wanted
        if (name, ranks) not in wanted
    ]
    if not wanted:
        return TuningFindings([], left, faults)
    in_race = screened(task, wanted)
    why = "each candidate was slower than it at every size in a first launch"
    left += [DefaultStays(*of, why) for of in wanted if of not in in_race]
    if not in_race:
        return TuningFindings([], left, faults)
    measured_grids = task.grids(task.measured("grid", _grid_plan(task, in_race)))
    chosen = choices(measured_grids)
    rules = []
    for of in in_race:
        if of not in chosen:
            left.append(DefaultStays(*of, "nothing was measured of it"))
            continue
        own, why = _rules_or_why(task, of, measured_grids[of], chosen[of])
        rules += _on_hosts(own, task.hosts_of(*of))
        if why:
            left.append(DefaultStays(*of, why))
    rules = refined(task, rules, measured_grids)
    return TuningFindings(
        rules, left, faults, noise_of(chosen.values()), _rescued(task, in_race, measured_grids)
    )


def screened(
    task: TuningTask, wanted: Mapping[Of, Sequence[Candidate]]
) -> Mapping[Of, Sequence[Candidate]]:
    """The candidates that are worth more launches, by one of each; a collective that has none is
    left out. Where ranks share cores a launch takes so long that the grid itself has few."""
    many_candidates = {of: own for of, own in wanted.items() if len(own) > FEW_CANDIDATES}
    if task.is_crowded or not many_candidates:
        return wanted
    run = task.measured("screen", screen_plan(_grid_plan(task, many_candidates)))
    left = dict(wanted)
    for of, grid in task.grids(run).items():
        names = contenders(grid, for_every_size=not task.names_default)
        left[of] = [each for each in wanted[of] if each.name in names]
    return {of: own for of, own in left.items() if own}


def _rescued(
    task: TuningTask, wanted: Mapping[Of, Sequence[Candidate]], measured_grids: Mapping[Of, Grid]
) -> list[Rescued]:
    """Where ranks share cores and have to wait for each other's turn."""
    found = []
    for of, own in wanted.items():
        if of[1] > task.where.cores and of in measured_grids:
            settings = {each.name: each.settings for each in own}
            found.append(rescue(of, measured_grids[of], settings))
    return [each for each in found if each is not None]


def _on_hosts(rules: Iterable[TunedRule], hosts: int) -> list[TunedRule]:
    """With the number of hosts that they were chosen on."""
    return [replace(each, rule=replace(each.rule, hosts=hosts)) for each in rules]


def refined(
    task: TuningTask, rules: list[TunedRule], measured_grids: Mapping[Of, Grid]
) -> list[TunedRule]:
    """Each up to the last power of two at which it is faster, where it borders on the default. A
    program's rules end where its messages do, and where ranks share cores at measured sizes."""
    if task.mix is not None or not task.names_default or task.is_crowded:
        return rules
    edges = edges_of(rules, measured_grids)
    for step in range(1, MOST_HALVINGS + 1):
        sizes = sizes_to_ask(edges)
        arms = _arms_in_one_process(task, _candidates_at(task, edges))
        if not sizes or arms is None:
            break
        plan = refine_plan(task.request, arms, sizes, task.where)
        edges = moved(edges, task.grids(task.measured(f"refine-{step}", plan)))
        rules = widened(rules, edges)
    return rules


def _candidates_at(task: TuningTask, edges: Iterable[Edge]) -> dict[Of, list[Candidate]]:
    """Of the edges of which there is something left to ask."""
    every = candidates_of(task.setup.mpi.name)
    found: dict[Of, list[Candidate]] = {}
    for edge in edges:
        candidate = find_candidate(every, edge.of[0], edge.candidate)
        if edge.middle is not None and candidate not in found.setdefault(edge.of, []):
            found[edge.of].append(candidate)
    return {of: own for of, own in found.items() if own}


def noise_of(chosen: Iterable[Choice]) -> float | None:
    """As a share, of the collective where it is most."""
    known = [choice.noise for choice in chosen if not math.isnan(choice.noise)]
    if known:
        return math.expm1(max(known))
    return None


def _grid_plan(task: TuningTask, wanted: Mapping[Of, Sequence[Candidate]]) -> Plan:
    arms = _arms_in_one_process(task, wanted)
    if arms is not None:
        return grid_plan(task.request, arms, task.where)
    alone: AllArms = {}
    for (name, ranks), own in wanted.items():
        alone.setdefault(name, {})[ranks] = _alone(task, own, ranks)
    tell(f"{task.setup.mpi.label} reads these settings when it starts: each has its own launches")
    return grid_alone_plan(task.request, alone, task.where)


def _rules_or_why(
    task: TuningTask, of: Of, grid: Grid, choice: Choice
) -> tuple[list[TunedRule], str]:
    """Why the default stays, where no rule follows."""
    if task.names_default:
        own = rules_of(of, grid, choice, task.mix)
        return own, "" if own else why_default(grid, choice)
    own = rules_for_all_sizes(of, grid, choice, task.mix)
    worse = [each for each in own if each.stands_in and not is_as_good(each.chosen)]
    if not own or not worse:
        return own, "" if own else why_default(grid, choice)
    return [], why_no_stand_in(worse[0], task.setup.mpi.label)


def why_default(grid: Grid, choice: Choice) -> str:
    if not grid.launches:
        return "no launch measured all of its sizes"
    if grid.incomplete and not grid.arms:
        return f"{listed(grid.incomplete)} could not be measured at every size"
    if choice.doubtful:
        best = min(choice.doubtful, key=lambda each: each.ratio.value)
        less = 100 * (1 - best.ratio.value)
        return f"{best.arm} seemed to take {less:.0f} % less time, which may be chance"
    return "no candidate was faster"


# --- writing and confirming ---------------------------------------------------------------------
def write_and_read_back(
    task: TuningTask, folder: Path, rules: Sequence[TunedRule]
) -> dict[str, str]:
    """Writes the MPI's files, and reads them back as it will. RunError: they say something else."""
    mpi = task.setup.mpi
    form = rule_format_of(mpi.name)
    bare = [each.rule for each in rules]
    several = calls_from_several(task.thread_level)
    texts = form.write(mpi, bare, several)
    written, wanted = form.read(mpi, texts, several), form.expected(mpi, bare, several)
    _check_calls(mpi, bare, written, wanted)
    if form.tells_threads:
        _check_calls(
            mpi, bare, form.read(mpi, texts, not several), form.expected(mpi, [], not several)
        )
    return write_files(folder, texts)


def _check_calls(mpi: Mpi, rules: Sequence[Rule], written: LookUp, wanted: LookUp) -> None:
    """At both ends of each rule and a byte beside them. RunError: these calls differ."""
    for rule in rules:
        for size in _ends(rule.first_bytes, rule.last_bytes):
            for ranks in range(max(rule.ranks - 1, 1), rule.ranks + 2):
                call = (rule.collective, ranks, size)
                if written(*call) != wanted(*call):
                    raise RunError(
                        f"the files for {mpi.label} would not say what was chosen for {call}"
                    )


def _ends(first: int, last: int) -> Iterable[int]:
    return {max(first - 1, 0), first, (first + last) // 2, last, last + 1}


def confirm(
    task: TuningTask, rules: Sequence[TunedRule]
) -> tuple[list[TunedRule], list[DefaultStays]]:
    """The rules that hold in fresh launches with the files, and why the others are gone."""
    trial = task.folder / RUNS / "files"
    write_and_read_back(task, trial, rules)
    settings = rule_format_of(task.setup.mpi.name).settings(trial)
    wrong = wrong_with(task, rules, trial)
    kept = [each for each in rules if each.rule.collective not in wrong]
    left = []
    for each in rules:
        if each.rule.collective in wrong:
            left.append(
                DefaultStays(each.rule.collective, each.rule.ranks, wrong[each.rule.collective])
            )
    if not kept:
        return [], left
    bare = [each.rule for each in kept]
    plan = confirm_plan(without_own(task), bare, settings, task.where)
    run = task.measured("confirm", plan)
    sure, doubtful = confirmed(kept, task.grids(run), TUNED)
    if not task.names_default:
        gone = {each.rule.collective for each in doubtful}
        sure = [each for each in sure if each.rule.collective not in gone]
    return sure, left + [
        DefaultStays(each.rule.collective, each.rule.ranks, why_gone(each)) for each in doubtful
    ]


def without_own(task: TuningTask) -> Request:
    """The request as a user's program would start: without what measuring candidates takes."""
    own = rule_format_of(task.setup.mpi.name).measured_with
    kept = {name: value for name, value in task.request.settings.items() if name not in own}
    return replace(task.request, settings=kept)


def wrong_with(task: TuningTask, rules: Sequence[TunedRule], folder: Path) -> dict[str, str]:
    """What goes wrong with the files in this folder, by collective; the MPI has to tell that it
    took them, where it can."""
    form = rule_format_of(task.setup.mpi.name)
    settings = form.settings(folder)
    groups = sorted({*(each.rule.ranks for each in rules), 2, ODD_RANKS})
    told = {**settings, **form.told_with}
    collectives = list(dict.fromkeys(each.rule.collective for each in rules))
    alone = [(each, ranks, TUNED, told) for each in collectives for ranks in groups]
    run = task.measured("rules-right", right_alone_plan(without_own(task), alone, task.where))
    found = tried(run)
    wrong = {}
    for fault in found.faults:
        wrong[fault.collective] = f"results with the rules are wrong: {fault.why}"
    for each in collectives:
        lost = [ranks for ranks in groups if (each, ranks, TUNED) not in found.right]
        if lost and each not in wrong:
            why = why_lost(run, each, lost[0], TUNED)
            wrong[each] = f"the program ends with the rules: {why}"
    if form.told_with and not form.has_read(folder, _said(run)):
        raise RunError(
            f"{task.setup.mpi.label} does not tell that it has taken the rules (what it said is in "
            f"{run.path / 'logs'})"
        )
    return wrong


def _said(run: Run) -> str:
    logs = sorted((run.path / "logs").glob("*.std*"))
    return "\n".join(log.read_text(encoding="utf-8", errors="replace") for log in logs)


def why_gone(each: TunedRule) -> str:
    rule = each.rule
    where = f"{rule.candidate}, {sizes_in_words(rule)},"
    if each.confirmed is None:
        return f"{where} could not be measured in fresh launches"
    what = "as good" if each.stands_in else "faster"
    low, high = each.confirmed.low, each.confirmed.high
    return (
        f"{where} was not {what} with certainty in {each.confirmed.launches} fresh launches "
        f"({low:.2f} to {high:.2f} of the default's time)"
    )
