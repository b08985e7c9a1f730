# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs `tune make` and `tune verify` with the options of their commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output import tell, write_lines
from mpigauge.model.errors import RunError, UserError, no_such
from mpigauge.model.outputs import check_empty
from mpigauge.model.suite_options import THREAD_LEVEL
from mpigauge.model.typed import as_word
from mpigauge.model.units import listed
from mpigauge.products.tune.measure.beyond import faster_beyond
from mpigauge.products.tune.measure.choosing import TuningFindings, find_rules
from mpigauge.products.tune.measure.confirming import (
    confirm,
    without_own,
    write_and_read_back,
    wrong_with,
)
from mpigauge.products.tune.measure.messages import confirmed_messages, tune_messages
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.products.tune.plan import CROWDED_S, TUNED, Where, confirm_plan
from mpigauge.products.tune.result import confirmed
from mpigauge.products.tune.show.text import REDUCTIONS, lines_of, message_lines
from mpigauge.runs.store.tunings import (
    FILE,
    RUNS,
    Tuning,
    build_of,
    check_build,
    holds_tuning,
    save,
    settings_of,
)
from mpigauge.site.mpi.rule_files.candidates import collectives_of
from mpigauge.site.mpi.rule_files.registry import has_rule_format, refusal_of, rule_format_of

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Request
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.mpi import Mpi
    from mpigauge.products.tune.measure.budget import TimeBudget
    from mpigauge.products.tune.measure.messages import Failing
    from mpigauge.runs.store.tuned_rules import TunedMessages
    from mpigauge.session.targets import Setup

CHECKS = "checks"
"""The folder of the runs of `tune verify`, with a subfolder for each call."""


def make(
    collectives: Sequence[str],
    options: dict[str, Any],
    mix: CallMix | None = None,
    failing: Failing | None = None,
    budget: TimeBudget | None = None,
) -> tuple[Path, Tuning]:
    """Makes, stores and prints a tuning; returns its folder and the tuning. `mix`: the calls of the
    program to tune for; `failing`: a function that returns why it fails with settings; `budget`:
    the time for all of it, with the program itself at the end."""
    p2p, trials = options.pop("p2p"), options.pop("trials")
    _check_trials(trials, p2p, mix)
    task, refusal = read_task(collectives, options, mix, wants_messages(p2p, mix))
    task = replace(task, budget=budget)
    if budget is not None:
        budget.begin()
    messages = None
    if wants_messages(p2p, mix):
        messages = tune_messages(task, trials or 0, failing)
        settings = {**task.request.settings, **messages.settings}
        task = replace(task, request=replace(task.request, settings=settings))
    if refusal and task.collectives:
        tell(f"candidates are measured and shown, but no file is written: {refusal}")
    findings = find_rules(task) if task.collectives else TuningFindings([], [], [])
    rules, left = findings.rules, list(findings.left)
    if rules and not refusal:
        rules, gone = confirm(task, rules)
        left += gone
    files = write_and_read_back(task, task.folder, rules) if rules and not refusal else {}
    beyond = None
    if task.collectives and not refusal:
        own = rule_format_of(task.setup.mpi.name).settings(task.folder) if files else {}
        beyond = faster_beyond(task, own)
    tuning = Tuning(
        mpi=build_of(task.setup.mpi),
        hostname=task.setup.machine.hostname,
        cores=task.setup.machine.cores,
        data=task.request.data,
        thread_level=task.thread_level,
        sizes=task.sizes or task.request.sizes or (),
        rules=tuple(rules),
        left=tuple(left),
        faults=tuple(findings.faults),
        files=files,
        mix=mix,
        noise=findings.noise,
        rescued=tuple(findings.rescued),
        hosts=tuple(host.name for host in task.setup.resources.hosts),
        ppn=task.setup.resources.ppn,
        messages=messages,
        beyond=beyond,
    )
    save(task.folder, tuning)
    write_lines(lines_of(tuning))
    if tuning.has_effect:
        tell(f"use it with `mpigauge tune apply {as_word(task.folder)} -- mpirun …`")
    tell(f"stored in {task.folder}")
    return task.folder, tuning


def wants_messages(p2p: bool | None, mix: CallMix | None) -> bool:
    """True if settings of point-to-point messages are tuned: as `p2p` says, or if that is None, if
    the program spends time on such messages."""
    if p2p is None:
        return bool(mix and mix.messages)
    return p2p


def _check_trials(trials: int | None, p2p: bool | None, mix: CallMix | None) -> None:
    """Checks --trials. UserError: no settings of messages are tuned, or Optuna is missing."""
    from mpigauge.model.extras import require

    if trials is None:
        return
    if not wants_messages(p2p, mix):
        raise UserError(
            "--trials is about settings of messages from rank to rank; add --p2p to tune them"
        )
    require("trials", "--trials")


def read_task(
    collectives: Sequence[str],
    options: dict[str, Any],
    mix: CallMix | None,
    with_messages: bool,
) -> tuple[TuningTask, str]:
    """Returns the task, and why no file can be written; empty: it can. `with_messages`: settings of
    messages are tuned as well, so that no collective is needed. UserError: tuning is not
    possible."""
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.site.mpi import find

    output, spec, keeps_order = (options.pop(name) for name in ("output", "mpi_spec", "keep_order"))
    request = read_request(options, look_up(options))
    mpi = find(spec)
    alone = with_messages and not collectives and mix is None
    chosen = () if alone else chosen_collectives(mpi, collectives, keeps_order)
    _check_one_level(request)
    if mix is not None:
        chosen = called(chosen, mix, with_messages)
        request = replace(request, ranks=_groups(chosen, mix))
        request = with_level(request, mix.thread_level)
    folder = folder_for(mpi, output)
    if (folder / FILE).exists():
        raise UserError(
            f"{folder} holds a tuning already; `mpigauge tune show {as_word(folder)}` shows it, "
            "and --output names another folder"
        )
    _check_one_group(request.ranks, mpi)
    setup = set_up_one(request, spec)
    ranks = request.ranks or (setup.resources.room,)
    _check_ranks(ranks, setup, request)
    settings = dict(request.settings)
    if has_rule_format(mpi.name):
        settings |= rule_format_of(mpi.name).measured_with
    own = replace(request, settings=settings)
    going_on = f"the same command with --output {folder} goes on"
    task = TuningTask(setup, own, chosen, tuple(ranks), folder, going_on, mix)
    if task.is_crowded and request.seconds is None and request.launches is None:
        task = replace(task, request=replace(own, seconds=CROWDED_S))
    return task, refusal_of(mpi)


def folder_for(mpi: Mpi, output: Path | None) -> Path:
    """Returns the folder for a tuning of this MPI. UserError: it contains something else."""
    folder = output or Path(f"mpigauge-tuned-{mpi.name}-{mpi.version}")
    if folder.is_dir() and not holds_tuning(folder) and not (folder / RUNS).is_dir():
        check_empty(folder)
    return folder


def chosen_collectives(mpi: Mpi, words: Sequence[str], keeps_order: bool) -> tuple[str, ...]:
    """Returns the collectives to tune, in their own spelling; without `words` all possible ones.
    UserError: none can be tuned."""
    tunable = collectives_of(mpi.name)
    if not tunable:
        raise UserError(
            f"no algorithms of collectives are known for {mpi.label} "
            f"({refusal_of(mpi)}); `mpigauge sweep --vary` measures any of its settings"
        )
    chosen = tuple(dict.fromkeys(_collective(word, tunable) for word in words)) or tunable
    if keeps_order:
        return _without_reductions(chosen)
    return chosen


def with_level(request: Request, level: str) -> Request:
    """Returns the request with this thread level; unchanged if the level is empty."""
    if not level:
        return request
    return replace(request, suite_options={**request.suite_options, THREAD_LEVEL: level})


def _check_one_level(request: Request) -> None:
    level = request.suite_options.get(THREAD_LEVEL, "")
    if "," in level:
        raise UserError(
            f"--thread-level: rules are chosen at one level; name one of {level.replace(',', ', ')}"
        )


def called(
    collectives: Sequence[str], mix: CallMix, with_messages: bool = False
) -> tuple[str, ...]:
    """Returns the collectives on which the program spends its time. UserError: there are none, and
    messages are not tuned either."""
    common = tuple(name for name in mix.collectives if name in collectives)
    if not common and not with_messages:
        spent = listed(mix.collectives) if mix.collectives else "no collective"
        raise UserError(
            f"the program of {mix.profile} spends 1 % of its time in MPI or more on {spent}, and "
            f"{listed(collectives)} can be tuned"
        )
    for name in mix.collectives:
        if name not in common:
            tell(f"{name} is called, too, and stays at the default: it is not tuned")
    return common


def _groups(collectives: Sequence[str], mix: CallMix) -> tuple[int, ...]:
    return tuple(sorted({ranks for name in collectives for ranks in mix.groups(name)}))


def set_up_one(request: Request, spec: str | None) -> Setup:
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.session.setup import set_up
    from mpigauge.session.targets import CommandOptions

    (setup,) = set_up(request, CommandOptions((spec,) if spec else ()), TERMINAL)
    return setup


def _collective(word: str, tunable: Sequence[str]) -> str:
    """Returns a collective in its own spelling. UserError: it cannot be tuned."""
    for name in tunable:
        if name.lower() == word.lower():
            return name
    raise no_such("collective that can be tuned", word, tunable)


def _without_reductions(collectives: Sequence[str]) -> tuple[str, ...]:
    """Returns the collectives that are not reductions. UserError: there are none."""
    left = tuple(name for name in collectives if name not in REDUCTIONS)
    if not left:
        raise UserError(
            f"--keep-order leaves {listed(collectives)} at the default, and nothing else is to be "
            "tuned"
        )
    return left


def _check_ranks(ranks: Sequence[int], setup: Setup, request: Request) -> None:
    if min(ranks) < 2:
        raise UserError("--ranks: a collective is among at least 2 ranks")
    cores = Where(setup.cards, setup.resources, setup.mpi).cores
    if max(ranks) > cores and not request.oversubscribe:
        where = "on these hosts" if setup.resources.hosts else "here"
        raise UserError(
            f"--ranks {max(ranks)} are more than the {cores} cores {where}: ranks that share a "
            "core measure the scheduler and no algorithm; add --oversubscribe to tune nevertheless"
        )


def _check_one_group(ranks: Sequence[int], mpi: Mpi) -> None:
    if len(ranks) < 2 or not has_rule_format(mpi.name):
        return
    if not rule_format_of(mpi.name).names_default:
        raise UserError(
            f"--ranks: rules of {mpi.label} hold for communicators of all sizes at once, so they "
            f"can be chosen by one only; name one of {', '.join(map(str, ranks))}"
        )


def verify(folder: Path, tuning: Tuning, spec: str | None, options: dict[str, Any]) -> None:
    """Verifies rules on the hosts where they were measured, unless `options` names other hosts.
    UserError: the rules are not for this MPI. RunError: they no longer hold."""
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.site.mpi import find

    if not options.get("hosts") and not options.get("hostfile"):
        options |= {"hosts": ",".join(tuning.hosts) or None}
        options["ppn"] = options.get("ppn") or (str(tuning.ppn) if tuning.ppn else None)
    options["data"] = tuning.data
    request = replace(read_request(options, look_up(options)), sizes=tuning.sizes)
    request = with_level(request, tuning.thread_level)
    check_build(tuning, find(spec or tuning.mpi.spec))
    setup = set_up_one(request, spec or tuning.mpi.spec)
    cores = Where(setup.cards, setup.resources, setup.mpi).cores
    crowded = any(each.rule.ranks > cores for each in tuning.rules)
    request = replace(request, oversubscribe=crowded)
    if not tuning.has_effect:
        click.echo("there is no rule to verify: the default stays everywhere")
        return
    bare = [each.rule for each in tuning.rules]
    checks = _next_folder(folder / CHECKS)
    task = TuningTask(setup, request, (), (), checks, "the same command begins anew", tuning.mix)
    if tuning.messages and tuning.messages.settings:
        task = verified_messages(task, tuning.messages)
    if not tuning.files:
        return
    settings: Mapping[str, str] = settings_of(folder, tuning)
    wrong = wrong_with(task, tuning.rules, folder)
    if wrong:
        raise RunError("; ".join(f"{name}: {why}" for name, why in wrong.items()))
    run = task.measured("confirm", confirm_plan(without_own(task), bare, settings, task.where))
    sure, doubtful = confirmed(tuning.rules, task.grids(run), TUNED)
    write_lines(lines_of(replace(tuning, rules=tuple(sure), left=(), beyond=None)))
    if doubtful:
        names = ", ".join(f"{each.rule.collective} {each.rule.candidate}" for each in doubtful)
        raise RunError(f"not significantly faster now: {names}; results are right")


def verified_messages(task: TuningTask, messages: TunedMessages) -> TuningTask:
    """Returns the task with the settings of messages. RunError: they are no longer faster."""
    now = confirmed_messages(task, messages)
    write_lines(message_lines(now))
    if not now.settings:
        raise RunError(f"settings of messages no longer hold: {now.why}")
    settings = {**task.request.settings, **now.settings}
    return replace(task, request=replace(task.request, settings=settings))


def _next_folder(folder: Path) -> Path:
    """Returns the first numbered subfolder that does not exist."""
    number = 1
    while (folder / str(number)).exists():
        number += 1
    return folder / str(number)
