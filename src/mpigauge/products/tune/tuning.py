# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes a tuning: tests and measures candidates, chooses, writes and confirms rules."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.screen import tell
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.suite_options import LEVELS, THREAD_LEVEL, calls_from_several
from mpigauge.model.units import duration, listed
from mpigauge.products.tune.decide.halving import contenders
from mpigauge.products.tune.faults import proof_of
from mpigauge.products.tune.plan import (
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
from mpigauge.products.tune.refine import (
    MOST_HALVINGS,
    Edge,
    edges_of,
    moved,
    sizes_to_ask,
    widened,
)
from mpigauge.products.tune.result import (
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
from mpigauge.products.tune.show.text import (
    each_once,
    sizes_in_words,
    why_no_stand_in,
)
from mpigauge.runs.store.files import failing_as
from mpigauge.runs.store.tuned_rules import DefaultStays, Fault, Rescued, TunedRule
from mpigauge.runs.store.tunings import RUNS, write_files
from mpigauge.site.mpi.rule_files.candidates import (
    Candidate,
    candidates_of,
    find_candidate,
    known_to,
)
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from mpigauge.measuring.campaign import CampaignTask
    from mpigauge.measuring.plan import Plan, Request
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.rules import Rule
    from mpigauge.products.tune.budget import TimeBudget
    from mpigauge.products.tune.decide.choose import Choice
    from mpigauge.products.tune.decide.grid import Grid
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup
    from mpigauge.site.mpi.rule_files.registry import LookUp

AllArms = dict[str, dict[int, list[tuple[str, Mapping[str, str]]]]]
"""The names and settings of candidates, by collective and ranks."""
FEW_CANDIDATES = 3
"""The maximum number of candidates that are measured without screening."""
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
    """The parameters of a tuning, and its folder."""

    setup: Setup
    request: Request
    """The request, including the settings under which candidates are measured."""
    collectives: tuple[str, ...]
    ranks: tuple[int, ...]
    folder: Path
    going_on: str
    """The sentence on how to resume after an interruption."""
    mix: CallMix | None = None
    """The calls of the program to tune for; None: any."""
    budget: TimeBudget | None = None
    """The time for the whole tuning; None: it takes the time that it takes."""

    @property
    def names_default(self) -> bool:
        """True if rules of this MPI can leave sizes to its default."""
        return rule_format_of(self.setup.mpi.name).names_default

    @property
    def where(self) -> Where:
        return Where(self.setup.cards, self.setup.resources, self.setup.mpi, self.mix)

    @property
    def is_crowded(self) -> bool:
        """True if ranks share cores."""
        return any(ranks > self.where.cores for _, ranks in self.targets)

    @property
    def thread_level(self) -> str:
        """The thread level of MPI: the requested one, else the lowest."""
        return self.request.suite_options.get(THREAD_LEVEL, LEVELS[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at which candidates are measured."""
        every = {size for of in self.targets for size in self.where.sizes(self.request, *of)}
        return tuple(sorted(every))

    def hosts_of(self, collective: str, ranks: int) -> int:
        """Returns the number of hosts on which this number of ranks is measured or tested."""
        request = replace(self.request, oversubscribe=True)
        return len(self.where.with_room(ranks).part(request, collective, ranks).blocks)

    def groups(self, collective: str) -> tuple[int, ...]:
        """Returns the numbers of ranks for which a collective is tuned."""
        if self.mix is None:
            return self.ranks
        return self.mix.groups(collective)

    def candidates(self, ranks: int) -> list[Candidate]:
        every = known_to(self.setup.mpi, candidates_of(self.setup.mpi.name))
        return [each for each in every if each.collective in self.collectives and each.fits(ranks)]

    def forced(self, candidate: Candidate, ranks: int) -> Mapping[str, str]:
        """Returns the settings that make the MPI use the candidate for all sizes, with this number
        of ranks as they are placed here."""
        form = rule_format_of(self.setup.mpi.name)
        name = candidate.collective
        return {**candidate.settings, **form.measured_among(name, self.hosts_of(name, ranks))}

    @property
    def targets(self) -> list[Of]:
        return [(name, ranks) for name in self.collectives for ranks in self.groups(name)]

    def grids(self, run: Run) -> dict[Of, Grid]:
        """Returns the grid of each collective and number of ranks, with weighted sizes."""
        return {of: weighed(of, grid, self.mix) for of, grid in grids(run).items()}

    def measured(self, name: str, plan: Plan) -> Run:
        """Returns the run of this name: new, resumed, or complete. RunError: interrupted."""
        kind = name.rstrip("-0123456789")
        folder = self.folder / RUNS / name
        if self.budget is not None:
            plan = _in_time(plan, self.budget, kind, folder)
        stored, problem = measured(self.setup, plan, folder, RUN_NAMES[kind])
        if stored.status.get("status") == "interrupted":
            raise RunError(f"interrupted: what was measured is kept; {self.going_on}")
        if is_cut_short(stored):
            raise RunError(f"{problem}; what was measured is kept; {self.going_on}")
        check_level(stored)
        return stored


@dataclass(frozen=True)
class TuningFindings:
    """The results of measuring candidates."""

    rules: list[TunedRule]
    left: list[DefaultStays]
    faults: list[Fault]
    noise: float | None = None
    """The difference of the default from itself, as a share; None: nothing was measured."""
    rescued: Sequence[Rescued] = ()
    """The settings that make collectives far faster if ranks share cores."""


# --- runs ---------------------------------------------------------------------------------------
def check_level(stored: Run) -> None:
    """Checks the thread level. RunError: the MPI provides a lower one than requested."""
    for launch in stored.launches:
        asked, given = launch.thread_level_asked, launch.thread_level
        if asked and given and LEVELS.index(given) < LEVELS.index(asked):
            raise RunError(
                f"the MPI provides no thread level {asked}, only {given}: programs run at that "
                f"level here, too; tune with --thread-level {given}"
            )


def measured(setup: Setup, plan: Plan, folder: Path, what: str) -> tuple[Run, str]:
    """Returns the run in this folder, new, resumed or complete, and its last problem."""
    from mpigauge.runs.store import load
    from mpigauge.session.measuring import PlannedRun, carry_out, measure

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
                task = _what_is_left(folder, setup, plan.env, stack)
                problems = carry_out([task], setup.view).problems
    return load(folder), "; ".join(problems[-1:])


def _in_time(plan: Plan, budget: TimeBudget, kind: str, folder: Path) -> Plan:
    """Returns the plan with its share of the time left; a run that is stored keeps its own."""
    from mpigauge.measuring.plan import Plan as Plans
    from mpigauge.runs.store import load

    share_s = budget.share_s(kind)
    if (folder / "run.json").is_file():
        return replace(plan, seconds=Plans.from_json(load(folder).plan).seconds)
    tell(f"{duration(budget.left_s)} left")
    return plan if share_s is None else replace(plan, seconds=share_s)


def is_cut_short(stored: Run) -> bool:
    """True if launches are missing: it was interrupted, or it was given up with a reason, such as a
    full disk; no status, if there was no room even for that."""
    return stored.status.get("status") in (None, "interrupted") or "reason" in stored.status


def _what_is_left(
    folder: Path, setup: Setup, env: Mapping[str, str], stack: ExitStack
) -> CampaignTask:
    """Returns the rest of a run. `env`: variables of the command, some too secret to be stored."""
    from mpigauge.measuring.campaign.resume import resumed
    from mpigauge.runs.store import RunWriter, load

    stored = load(folder)
    writer = stack.enter_context(RunWriter.resume(folder))
    return resumed(stored, setup.mpi, setup.kernels, writer, {**os.environ, **env})


def _check_same_plan(folder: Path, plan: Plan) -> None:
    """Checks the plan of a stored run. UserError: it was measured with other options."""
    from mpigauge.measuring.plan import Plan as Plans
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
    """Returns candidates without a fault, by collective and ranks, and the faults of the others. A
    candidate with a fault at one number of ranks is excluded everywhere."""
    candidates: dict[Of, list[Candidate]] = {}
    for ranks in sorted({*task.ranks, 2, ODD_RANKS}):
        for each in task.candidates(ranks):
            candidates.setdefault((each.collective, ranks), []).append(each)
    faults = _faults_of(task, candidates)
    out = {(fault.collective, fault.candidate) for fault in faults}
    right = {
        (name, ranks): [each for each in own if (name, each.name) not in out]
        for (name, ranks), own in candidates.items()
        if ranks in task.groups(name) and (name, "") not in out
    }
    return right, faults


def _faults_of(task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]) -> list[Fault]:
    """Tests all candidates in one process first, if possible; those without a result are tested
    again in launches of their own."""
    together = _tried_together(task, candidates)
    alone = []
    for (name, ranks), own in candidates.items():
        for arm, settings in (("", {}), *_alone(task, own, ranks)):
            if (name, ranks, arm) not in together.tested:
                alone.append((name, ranks, arm, settings))
    if not alone:
        return list(together.faults)
    run = task.measured("right-alone", right_alone_plan(task.request, alone, task.where))
    again = tried(run)
    lost = [
        Fault(name, ranks, arm, why_lost(run, name, ranks, arm))
        for name, ranks, arm, _ in alone
        if (name, ranks, arm) not in again.tested
    ]
    return [*together.faults, *again.faults, *lost]


def _tried_together(task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]) -> Tried:
    arms = _arms_in_one_process(task, candidates)
    if arms is None:
        return Tried(frozenset(), ())
    return tried(task.measured("right", right_plan(task.request, arms, task.where)))


def why_lost(run: Run, name: str, ranks: int, arm: str) -> str:
    """Returns why the launch of a candidate gave no result."""
    parts = run.plan.get("parts") or ()
    identity = ([RIGHT.format(name)], ranks, arm)
    for failure in run.failures:
        part = parts[failure.launch % len(parts)]
        if (list(part["benchmarks"]), part["world_ranks"], part["arm"]) == identity:
            return failure.message
    skipped = [skip.reason for skip in run.skips if skip.key.get("arm") == arm]
    if skipped:
        return skipped[0]
    return f"a launch of {ranks} ranks brought nothing"


def _arms_in_one_process(
    task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]
) -> AllArms | None:
    """Returns candidates as control variables of the library; None: it reads some only at start."""
    from mpigauge.site.mpi.settings import knobs
    from mpigauge.site.mpi.settings.inside import OutsideError, written

    every = knobs(task.setup.mpi)
    arms_by_collective: AllArms = {}
    for (name, ranks), own in candidates.items():
        try:
            values = written([task.forced(each, ranks) for each in own], every, task.setup.mpi)
        except OutsideError:
            return None
        arms = [(each.name, arm) for each, arm in zip(own, values, strict=True)]
        arms_by_collective.setdefault(name, {})[ranks] = list(arms)
    return arms_by_collective


def _alone(
    task: TuningTask, candidates: Iterable[Candidate], ranks: int
) -> list[tuple[str, Mapping[str, str]]]:
    """Returns candidates with the settings of launches of their own."""
    return [(each.name, task.forced(each, ranks)) for each in candidates]


# --- choosing -----------------------------------------------------------------------------------
def find_rules(task: TuningTask) -> TuningFindings:
    """Tests and measures all candidates, and chooses rules."""
    right, faults = right_candidates(task)
    for fault in each_once(faults):
        name = fault.candidate or "the default"
        proof = proof_of(fault, task.setup.mpi, task.request.suite_options.get(THREAD_LEVEL, ""))
        tell(f"{fault.collective}: {name} is out: {fault.why}; `{proof}` shows it")
    usable = {of: own for of, own in right.items() if own}
    left = [
        DefaultStays(name, ranks, "no candidate gives right results")
        for name, ranks in task.targets
        if (name, ranks) not in usable
    ]
    if not usable:
        return TuningFindings([], left, faults)
    in_race = screened(task, usable)
    why = "each candidate was slower than it at every size in a first launch"
    left += [DefaultStays(*of, why) for of in usable if of not in in_race]
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
    task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]
) -> Mapping[Of, Sequence[Candidate]]:
    """Returns candidates worth more launches, judged by one launch; collectives without any are
    left out. If ranks share cores all stay, as the grid itself then has few launches."""
    many_candidates = {of: own for of, own in candidates.items() if len(own) > FEW_CANDIDATES}
    if task.is_crowded or not many_candidates:
        return candidates
    run = task.measured("screen", screen_plan(_grid_plan(task, many_candidates)))
    left = dict(candidates)
    for of, grid in task.grids(run).items():
        names = contenders(grid, for_every_size=not task.names_default)
        left[of] = [each for each in candidates[of] if each.name in names]
    return {of: own for of, own in left.items() if own}


def _rescued(
    task: TuningTask,
    candidates: Mapping[Of, Sequence[Candidate]],
    measured_grids: Mapping[Of, Grid],
) -> list[Rescued]:
    """Returns the rescues of collectives whose ranks share cores."""
    rescues = []
    for of, own in candidates.items():
        if of[1] > task.where.cores and of in measured_grids:
            settings = {each.name: each.settings for each in own}
            rescues.append(rescue(of, measured_grids[of], settings))
    return [each for each in rescues if each is not None]


def _on_hosts(rules: Iterable[TunedRule], hosts: int) -> list[TunedRule]:
    """Returns the rules with the number of hosts on which they were chosen."""
    return [replace(each, rule=replace(each.rule, hosts=hosts)) for each in rules]


def refined(
    task: TuningTask, rules: list[TunedRule], measured_grids: Mapping[Of, Grid]
) -> list[TunedRule]:
    """Extends rules to the last power of two at which they are faster, where they border on the
    default. Rules for a program or for ranks that share cores stay as they are."""
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
    """Returns the candidates of edges with a size left to measure."""
    every = candidates_of(task.setup.mpi.name)
    candidates: dict[Of, list[Candidate]] = {}
    for edge in edges:
        candidate = find_candidate(every, edge.of[0], edge.candidate)
        if edge.middle is not None and candidate not in candidates.setdefault(edge.of, []):
            candidates[edge.of].append(candidate)
    return {of: own for of, own in candidates.items() if own}


def noise_of(chosen: Iterable[Choice]) -> float | None:
    """Returns the largest noise of all collectives, as a share; None: unknown."""
    noises = [choice.noise for choice in chosen if not math.isnan(choice.noise)]
    if noises:
        return math.expm1(max(noises))
    return None


def _grid_plan(task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]) -> Plan:
    arms = _arms_in_one_process(task, candidates)
    if arms is not None:
        return grid_plan(task.request, arms, task.where)
    alone: AllArms = {}
    for (name, ranks), own in candidates.items():
        alone.setdefault(name, {})[ranks] = _alone(task, own, ranks)
    tell(f"{task.setup.mpi.label} reads these settings when it starts: each has its own launches")
    return grid_alone_plan(task.request, alone, task.where)


def _rules_or_why(
    task: TuningTask, of: Of, grid: Grid, choice: Choice
) -> tuple[list[TunedRule], str]:
    """Returns the rules, or none and why the default stays."""
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
    """Writes the MPI's files and reads them back as the MPI will. RunError: they differ."""
    mpi = task.setup.mpi
    form = rule_format_of(mpi.name)
    bare = [each.rule for each in rules]
    several = calls_from_several(task.thread_level)
    texts = form.write(mpi, bare, several)
    written, expected = form.read(mpi, texts, several), form.expected(mpi, bare, several)
    _check_calls(mpi, bare, written, expected)
    if form.tells_threads:
        _check_calls(
            mpi, bare, form.read(mpi, texts, not several), form.expected(mpi, [], not several)
        )
    return write_files(folder, texts)


def _check_calls(mpi: Mpi, rules: Sequence[Rule], written: LookUp, expected: LookUp) -> None:
    """Compares rules at the ends of each, its middle, and a byte outside. RunError: they differ."""
    for rule in rules:
        for size in _ends(rule.first_bytes, rule.last_bytes):
            for ranks in range(max(rule.ranks - 1, 1), rule.ranks + 2):
                call = (rule.collective, ranks, size)
                if written(*call) != expected(*call):
                    raise RunError(
                        f"the files for {mpi.label} have other rules than those chosen for {call}"
                    )


def _ends(first: int, last: int) -> Iterable[int]:
    return {max(first - 1, 0), first, (first + last) // 2, last, last + 1}


def confirm(
    task: TuningTask, rules: Sequence[TunedRule]
) -> tuple[list[TunedRule], list[DefaultStays]]:
    """Returns the rules confirmed by fresh launches with the files, and why others are dropped."""
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
    """Returns the request as for a user's program, without settings for measuring candidates."""
    own = rule_format_of(task.setup.mpi.name).measured_with
    kept = {name: value for name, value in task.request.settings.items() if name not in own}
    return replace(task.request, settings=kept)


def wrong_with(task: TuningTask, rules: Sequence[TunedRule], folder: Path) -> dict[str, str]:
    """Tests collectives with the rule files in this folder; returns errors by collective. RunError:
    the MPI can report that it has read the files, and did not."""
    form = rule_format_of(task.setup.mpi.name)
    settings = form.settings(folder)
    groups = sorted({*(each.rule.ranks for each in rules), 2, ODD_RANKS})
    verbose_settings = {**settings, **form.told_with}
    collectives = list(dict.fromkeys(each.rule.collective for each in rules))
    alone = [(each, ranks, TUNED, verbose_settings) for each in collectives for ranks in groups]
    run = task.measured("rules-right", right_alone_plan(without_own(task), alone, task.where))
    outcome = tried(run)
    wrong = {}
    for fault in outcome.faults:
        wrong[fault.collective] = f"results with the rules are wrong: {fault.why}"
    for each in collectives:
        lost = [ranks for ranks in groups if (each, ranks, TUNED) not in outcome.right]
        if lost and each not in wrong:
            why = why_lost(run, each, lost[0], TUNED)
            wrong[each] = f"the program ends with the rules: {why}"
    if form.told_with and not form.has_read(folder, _output_of(run)):
        raise RunError(
            f"{task.setup.mpi.label} does not tell that it has taken the rules (what it said is in "
            f"{run.path / 'logs'})"
        )
    return wrong


def _output_of(run: Run) -> str:
    logs = sorted((run.path / "logs").glob("*.std*"))
    return "\n".join(log.read_text(encoding="utf-8", errors="replace") for log in logs)


def why_gone(each: TunedRule) -> str:
    rule = each.rule
    where = f"{rule.candidate}, {sizes_in_words(rule)},"
    if each.confirmed is None:
        return f"{where} could not be measured in fresh launches"
    what = "as good" if each.stands_in else "significantly faster"
    low, high = each.confirmed.low, each.confirmed.high
    return (
        f"{where} was not {what} in {each.confirmed.launches} fresh launches "
        f"({low:.2f} to {high:.2f} of the default's time)"
    )
