# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Describes a tuning: its gains, what stays at the default and why, and how to use it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import compress
from mpigauge.model.rules import MOST_BYTES
from mpigauge.model.suite_options import LEVELS
from mpigauge.model.units import byte_count, listed, many, settings_in_words

if TYPE_CHECKING:
    from mpigauge.model.call_mix import CallMix
    from mpigauge.model.rules import Rule
    from mpigauge.runs.store.tuned_rules import (
        Beyond,
        Evidence,
        Fault,
        Rescued,
        TunedMessages,
        TunedRule,
    )
    from mpigauge.runs.store.tunings import ProgramTrial, Tuning

REDUCTIONS = ("Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block")
"""The collectives whose algorithms differ in the order of operations."""
WEIGHTS = "All sizes are weighted equally, since no profile was given."
"""The sentence about weights without a profile."""


NOISY = 0.1
"""The difference of the default from itself, as a share, above which noise is reported."""


def lines_of(tuning: Tuning) -> Iterator[str]:
    yield (
        f"{tuning.mpi.label} on {_where(tuning)}; "
        f"{tuning.data} data, {_level_in_words(tuning.thread_level)}"
    )
    yield ""
    yield from _found_lines(tuning)
    yield from _note_lines(tuning)
    if tuning.trial:
        yield from trial_sentences(tuning.trial)


def _found_lines(tuning: Tuning) -> Iterator[str]:
    """Yields the gains, what stays at the default, and what is not used."""
    if tuning.messages:
        yield from message_lines(tuning.messages)
    for each in tuning.rules:
        yield rule_sentence(each)
    if not tuning.rules and not tuning.messages:
        yield "No rule is written: the default stays everywhere."
    for left in tuning.left:
        yield f"{left.collective}, {many(left.ranks, 'rank')}: the default stays: {left.why}."
    for fault in each_once(tuning.faults):
        name = fault.candidate or "the default"
        shown = f" (`{fault.proof}` shows it)" if fault.proof else ""
        yield f"{fault.collective}: {name} is not used: {fault.why}{shown}."
    for rescued in tuning.rescued:
        yield rescue_sentence(rescued)
    if tuning.beyond == ():
        yield "No algorithm of suite ALG was faster than the library's best, in the same launches."
    for beyond in tuning.beyond or ():
        yield beyond_sentence(beyond)


def _note_lines(tuning: Tuning) -> Iterator[str]:
    """Yields notes on noise, reductions and weights."""
    if tuning.noise is not None and tuning.noise > NOISY:
        yield (
            f"While this was measured the default differed from itself by {100 * tuning.noise:.0f} "
            "%: smaller gains are not significant, and a quiet machine would show more."
        )
    summed = dict.fromkeys(
        each.rule.collective for each in tuning.rules if each.rule.collective in REDUCTIONS
    )
    if summed:
        yield (
            f"Sums of floating-point numbers may differ in their last digits: {listed(summed)}; "
            "--keep-order leaves them as they are."
        )
    weights = WEIGHTS if tuning.mix is None else _weights(tuning.mix)
    if tuning.rules:
        yield f"{_elsewhere(tuning)} {weights}"
    elif tuning.message_settings:
        yield weights


def message_lines(messages: TunedMessages) -> Iterator[str]:
    """Yields the gains by settings of point-to-point messages, or why the default stays."""
    what = "Messages from rank to rank"
    if not messages.settings:
        yield f"{what}: the default stays: {messages.why}."
    gained = messages.confirmed or messages.chosen
    if messages.settings and gained:
        words = settings_in_words(messages.settings)
        fresh = "fresh launch" if messages.confirmed else "launch"
        yield (
            f"{what}: {words} takes {saved(gained)} less time than the default in the mean of all "
            f"that was measured ({listed(messages.measured_by)}), by "
            f"{many(gained.launches, fresh)}; chosen of {many(messages.tried, 'combination')}."
        )
    for each in messages.slower:
        sizes = _from_to(each.first_bytes, each.last_bytes)
        low, high = 100 * (each.ratio.low - 1), 100 * (each.ratio.high - 1)
        yield (
            f"With it {each.benchmark} among {many(each.ranks, 'rank')}, {sizes}, takes {low:.0f} "
            f"to {high:.0f} % more."
        )
    for point, why in messages.failed.items():
        yield f"{point} is not used: {why}."


def rescue_sentence(of: Rescued) -> str:
    settings = listed([f"{name}={value}" for name, value in of.settings.items()])
    return (
        f"{of.collective}, {many(of.ranks, 'rank')} that share cores: {settings} rescues it. All "
        f"{many(of.candidates, 'candidate')} measured with it take at most {of.usual:.2g} of the "
        f"default's time at {byte_count(of.message_bytes)} in the median of "
        f"{many(of.launches, 'launch')}, and at most a tenth in {of.in_launches} of them."
    )


def beyond_sentence(of: Beyond) -> str:
    sizes = _from_to(of.first_bytes, of.last_bytes)
    mean = "" if of.first_bytes == of.last_bytes else " in the mean of these sizes"
    return (
        f"{of.collective}, {many(of.ranks, 'rank')}, {sizes}: the library could be faster: "
        f"{of.algorithm}, made of messages and copies, takes {saved(of.ratio)} less time than its "
        f"best{mean}, by {many(of.ratio.launches, 'launch')} that measured both."
    )


def _where(tuning: Tuning) -> str:
    if not tuning.hosts:
        return f"{tuning.hostname}, {many(tuning.cores, 'core')}"
    each = f", {many(tuning.ppn, 'rank')} on each" if tuning.ppn else ""
    return f"{many(len(tuning.hosts), 'host')}, {compress(tuning.hosts)}{each}"


def _level_in_words(level: str) -> str:
    if level == LEVELS[0]:
        return "one thread"
    return f"thread level {level}"


def _weights(mix: CallMix) -> str:
    weights = f"Sizes count by the time that the program of {mix.profile} spends on them."
    if not mix.arrivals:
        return weights
    collectives = listed(list(dict.fromkeys(key.split()[0] for key in mix.arrivals)))
    return f"{weights} Ranks came to {collectives} as late as they do in it."


def trial_sentences(trial: ProgramTrial) -> Iterator[str]:
    each = many(trial.run_time.launches, "launch")
    yield (
        f"`{trial.command}` with the rules, by {each} of each in turn: "
        f"{_verdict(trial.run_time)}; its time in MPI: {_verdict(trial.mpi_time)}."
    )


def _verdict(gained: Evidence) -> str:
    """Returns the verdict in the words of `mpigauge compare`."""
    if gained.high < 1:
        return f"FASTER, {saved(gained)} less"
    if gained.low > 1:
        return f"SLOWER, {100 * (gained.low - 1):.0f} to {100 * (gained.high - 1):.0f} % more"
    return f"UNDECIDED, {_of_default(gained)} of the time without rules"


def _elsewhere(tuning: Tuning) -> str:
    if tuning.names_default:
        return "Everywhere else nothing changes."
    return (
        f"Other collectives stay as they are. These rules hold for communicators of all sizes, and "
        f"were measured with {many(tuning.rules[0].rule.ranks, 'rank')}."
    )


def each_once(faults: Iterable[Fault]) -> list[Fault]:
    """Returns the first fault of each candidate, as most occur with any number of ranks."""
    firsts: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        firsts.setdefault((fault.collective, fault.candidate), fault)
    return list(firsts.values())


def rule_sentence(each: TunedRule) -> str:
    rule = each.rule
    gained = each.confirmed or each.chosen
    by = many(gained.launches, "fresh launch") if each.confirmed else "the launches that chose it"
    ranks = many(rule.ranks, "rank")
    if rule.hosts > 1:
        ranks += f" on {rule.hosts} hosts"
    where = f"{rule.collective}, {ranks}, {sizes_in_words(rule)}"
    if each.stands_in:
        return (
            f"{where}: {rule.candidate} replaces the default, which has no name: it takes "
            f"{_of_default(gained)} of its time, by {by}."
        )
    mean = "" if rule.first_bytes == rule.last_bytes else " in the mean of these sizes"
    less = f"{saved(gained)} less time than the default{mean}"
    return f"{where}: {rule.candidate} takes {less}, by {by}."


def sizes_in_words(rule: Rule) -> str:
    if rule.last_bytes == MOST_BYTES:
        if rule.first_bytes:
            return f"{byte_count(rule.first_bytes)} and more"
        return "all sizes"
    if rule.first_bytes == 0:
        return f"up to {byte_count(rule.last_bytes)}"
    return _from_to(rule.first_bytes, rule.last_bytes)


def _from_to(first: int, last: int) -> str:
    if first == last:
        return byte_count(first)
    return f"{byte_count(first)} to {byte_count(last)}"


def why_no_stand_in(nearest: TunedRule, label: str) -> str:
    """Returns why no candidate replaces a default that rules cannot name: even the nearest is not
    as good."""
    return (
        f"there are faster candidates, but rules of {label} have to name one for every size: "
        f"{sizes_in_words(nearest.rule)} the nearest to the default is {nearest.rule.candidate}, "
        f"with {_of_default(nearest.chosen)} of its time"
    )


def _of_default(gained: Evidence) -> str:
    return f"{gained.low:.2f} to {gained.high:.2f}"


def saved(gained: Evidence) -> str:
    """Returns the saved time as the ends of its interval, such as "42 to 56 %"."""
    return f"{100 * (1 - gained.high):.0f} to {100 * (1 - gained.low):.0f} %"


def environment_lines(tuning: Tuning, variables: Mapping[str, str], form: str) -> Iterator[str]:
    """Yields the environment variables of a tuning in this format. UserError: the format is for
    another MPI, or cannot express the values."""
    if form == "mca" and tuning.mpi.name != "openmpi":
        raise UserError(
            f"--format mca is a file of Open MPI's, and {tuning.mpi.label} does not read it; give "
            "--format sh, --format sbatch or --format module"
        )
    variables = dict(sorted(variables.items()))
    if form == "sbatch":
        yield from _line_of_sbatch(variables)
        return
    for name, value in variables.items():
        if form == "module":
            yield f"setenv {name} {{{value}}}"
        elif form == "sh":
            yield f"export {name}={shlex.quote(value)}"
        elif not name.startswith("OMPI_MCA_"):
            raise UserError(
                f"--format mca: {name}={value} is not a parameter of Open MPI, so its file cannot "
                "set it; give --format sh, --format sbatch or --format module"
            )
        else:
            yield f"{name.removeprefix('OMPI_MCA_')} = {value}"


def _line_of_sbatch(variables: Mapping[str, str]) -> Iterator[str]:
    """Yields one line for all variables, as a second one would replace it. UserError: a value has a
    comma, at which Slurm would cut it."""
    if not variables:
        return
    words = ["ALL"]
    for name, value in variables.items():
        if "," in value:
            raise UserError(
                f"--format sbatch: Slurm would cut {name}={value} at its comma; move the tuning to "
                "a folder without one, or give --format sh"
            )
        words.append(f"{name}={value}")
    yield f"#SBATCH --export={shlex.quote(','.join(words))}"
