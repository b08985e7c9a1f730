# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes rules as the files of an MPI, and confirms them in fresh launches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError
from mpigauge.model.suite_options import calls_from_several
from mpigauge.products.tune.measure.right import why_lost
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.products.tune.plan import (
    ODD_RANKS,
    TUNED,
    confirm_plan,
    right_alone_plan,
)
from mpigauge.products.tune.result import (
    confirmed,
    tried,
)
from mpigauge.products.tune.show.text import (
    sizes_in_words,
)
from mpigauge.runs.store.tuned_rules import DefaultStays, TunedRule
from mpigauge.runs.store.tunings import RUNS, write_files
from mpigauge.site.mpi.rule_files.registry import rule_format_of

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Request
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.rules import Rule
    from mpigauge.runs.store import Run
    from mpigauge.site.mpi.rule_files.registry import LookUp


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
            why = outcome.untested.get((each, lost[0], TUNED))
            if why:
                wrong[each] = f"results with the rules are not tested: {why}"
            else:
                why = why_lost(run, each, lost[0], TUNED)
                wrong[each] = f"the program ends with the rules: {why}"
    if form.told_with and not form.has_read(folder, _output_of(run)):
        raise RunError(
            f"{task.setup.mpi.label} does not report that it uses the rules (its output is in "
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
