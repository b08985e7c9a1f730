# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sentences of a tuning: where it was measured, what a rule is about, and why the default stays."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from mpigauge.model.call_mix import CallMix
from mpigauge.model.names import CONTROL
from mpigauge.model.row import Estimate
from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.products.tune.decide.choose import Choice, SizeRange
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.measure.choosing import noise_of, why_default
from mpigauge.products.tune.measure.confirming import why_gone
from mpigauge.products.tune.show.text import (
    lines_of,
    message_lines,
    rule_sentence,
    saved,
    sizes_in_words,
    trial_sentences,
    why_no_stand_in,
)
from mpigauge.runs.store.tuned_rules import (
    Beyond,
    Evidence,
    Fault,
    SlowerMessages,
    TunedMessages,
    TunedRule,
)
from mpigauge.runs.store.tunings import MpiBuild, ProgramTrial, Tuning

GAINED = Evidence(0.5, 0.45, 0.58, 6)
RULE = TunedRule(Rule("Alltoall", 2, 8, 4096, "pairwise"), GAINED)
TUNING = Tuning(
    mpi=MpiBuild("openmpi", "5.0.11", "openmpi", "/lib/libmpi.so.40", "ab"),
    hostname="vm",
    cores=1,
    data="static",
    thread_level="single",
    sizes=(8, 4096),
    rules=(RULE,),
)
MIX = CallMix("app", "openmpi 5.0.11", "single", 1.0, 2.0, ())


def head(tuning: Tuning) -> str:
    return next(iter(lines_of(tuning)))


def text(tuning: Tuning) -> str:
    return "\n".join(lines_of(tuning))


# --- where it was measured ------------------------------------------------------------------------
def test_the_head_names_the_machine_or_its_hosts() -> None:
    assert head(TUNING) == "openmpi 5.0.11 on vm, 1 core; static data, one thread"
    hosts = replace(TUNING, hosts=("n1", "n2", "n3"))
    assert head(hosts) == "openmpi 5.0.11 on 3 hosts, n[1-3]; static data, one thread"
    each = replace(hosts, ppn=4)
    assert head(each).startswith("openmpi 5.0.11 on 3 hosts, n[1-3], 4 ranks on each; ")


@pytest.mark.parametrize(("noise", "is_noisy"), [(None, False), (0.1, False), (0.11, True)])
def test_a_default_that_differs_from_itself_by_a_tenth_is_quiet(
    noise: float | None, is_noisy: bool
) -> None:
    assert ("differed from itself" in text(replace(TUNING, noise=noise))) == is_noisy


# --- what was gained -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (0, MOST_BYTES, "all sizes"),
        (1, MOST_BYTES, "1 B and more"),
        (0, 64, "up to 64 B"),
        (8, 8, "8 B"),
        (8, 9, "8 B to 9 B"),
    ],
)
def test_sizes_in_words(first: int, last: int, words: str) -> None:
    assert sizes_in_words(Rule("Bcast", 2, first, last, "a")) == words


def test_a_rule_of_one_size_on_several_hosts() -> None:
    one = replace(RULE, rule=replace(RULE.rule, last_bytes=8, hosts=2))
    assert rule_sentence(one) == (
        "Alltoall, 2 ranks on 2 hosts, 8 B: pairwise takes 42 to 55 % less time than the default, "
        "by the launches that chose it."
    )
    assert "2 ranks, 8 B to 4 KiB: pairwise" in rule_sentence(RULE)
    once = replace(RULE, confirmed=replace(GAINED, low=0.6, high=0.7, launches=1))
    assert "takes 30 to 40 % less time" in rule_sentence(once)
    assert rule_sentence(once).endswith("by 1 fresh launch.")


def test_rules_that_cannot_name_the_default_hold_for_all_communicators() -> None:
    assert "Everywhere else nothing changes. All sizes are weighted equally" in text(TUNING)
    rules = (RULE, replace(RULE, rule=replace(RULE.rule, ranks=8)))
    intel = replace(TUNING, mpi=replace(TUNING.mpi, name="intel"), rules=rules)
    assert (
        "Other collectives stay as they are. These rules hold for communicators of all sizes, and "
        "were measured with 2 ranks. All sizes are weighted equally" in text(intel)
    )


def test_only_reductions_may_differ_in_their_last_digits() -> None:
    assert "last digits" not in text(TUNING)
    sums = [replace(RULE, rule=replace(RULE.rule, collective=name)) for name in
            ("Reduce", "Bcast", "Reduce", "Allreduce")]  # fmt: skip
    assert "may differ in their last digits: Reduce and Allreduce; --keep-order" in text(
        replace(TUNING, rules=tuple(sums))
    )


def test_collectives_whose_ranks_came_late_are_named_once() -> None:
    late = {"Allreduce 2": "a=0+1", "Allreduce 4": "a=0+1", "Bcast 2": "a=0+1"}
    mixed = text(replace(TUNING, mix=replace(MIX, arrivals=late)))
    assert (
        "Sizes count by the time that the program of app spends on them. Ranks came to Allreduce "
        "and Bcast as late as they do in it." in mixed
    )
    assert "as late as" not in text(replace(TUNING, mix=MIX))


def test_without_a_rule_the_default_stays_and_sizes_are_not_mentioned() -> None:
    nothing = text(replace(TUNING, rules=()))
    assert "No rule is written: the default stays everywhere." in nothing
    assert "Sizes count" not in nothing
    assert "No rule is written" not in text(TUNING)


def test_faults_name_the_command_that_reproduces_them() -> None:
    faults = (
        Fault("Bcast", 2, "", "it hangs", "mpigauge run X"),
        Fault("Bcast", 3, "", "it hangs"),
        Fault("Bcast", 2, "ring", "7 wrong elements"),
    )
    shown = [line for line in lines_of(replace(TUNING, faults=faults)) if "not used" in line]
    assert shown == [
        "Bcast: the default is not used: it hangs (`mpigauge run X` shows it).",
        "Bcast: ring is not used: 7 wrong elements.",
    ]


def test_what_is_saved_is_what_the_interval_leaves() -> None:
    assert saved(Evidence(0.2, 0.1, 0.3, 6)) == "70 to 90 %"


# --- messages and programs -----------------------------------------------------------------------
def test_messages_that_were_not_confirmed_are_of_the_launches_that_chose_them() -> None:
    slower = SlowerMessages("PingPong", 2, 8, 8, Evidence(1.3, 1.25, 1.4, 6))
    chosen = TunedMessages(
        {"pml": "ucx"}, chosen=GAINED, measured_by=("PingPong",), tried=1, slower=(slower,)
    )
    assert list(message_lines(chosen)) == [
        (
            "Messages from rank to rank: pml=ucx takes 42 to 55 % less time than the default in "
            "the mean of all that was measured (PingPong), by 6 launches; chosen of 1 combination."
        ),
        "With it PingPong among 2 ranks, 8 B, takes 25 to 40 % more.",
    ]
    assert "All sizes are weighted equally" in text(replace(TUNING, rules=(), messages=chosen))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.8, 0.99, "FASTER, 1 to 20 % less"),
        (0.8, 1.0, "UNDECIDED, 0.80 to 1.00 of the time without rules"),
        (1.0, 1.2, "UNDECIDED, 1.00 to 1.20 of the time without rules"),
        (1.01, 1.25, "SLOWER, 1 to 25 % more"),
    ],
)
def test_the_verdict_on_a_program_goes_by_its_interval(low: float, high: float, words: str) -> None:
    once = Evidence(1.0, low, high, 1)
    (sentence,) = trial_sentences(ProgramTrial("./app", once, GAINED))
    assert sentence == (
        f"`./app` with the rules, by 1 launch of each in turn: {words}; its time in MPI: "
        "FASTER, 42 to 55 % less."
    )


# --- why the default stays -----------------------------------------------------------------------
def a_grid(arms: tuple[str, ...], launches: int = 3, missing: tuple[str, ...] = ()) -> Grid:
    times = {(arm, 8, n): 1.0 for arm in (DEFAULT, CONTROL, *arms) for n in range(launches)}
    return grid_of(times, [8], [*arms, *missing])


def doubtful(arm: str, ratio: float) -> SizeRange:
    return SizeRange(arm, (8,), Estimate(ratio, ratio / 2, 2 * ratio), 6, 0.2)


def test_the_reason_that_the_default_stays() -> None:
    none = Choice(0.1, (), ())
    assert why_default(a_grid(("a",), 0), none) == "no launch measured all of its sizes"
    assert why_default(a_grid((), missing=("a", "b")), none) == (
        "a and b could not be measured at every size"
    )
    assert why_default(a_grid(("a",), missing=("b",)), none) == "no candidate was faster"
    doubts = Choice(0.1, (), (doubtful("a", 0.9), doubtful("b", 0.7), doubtful("c", 0.8)))
    assert why_default(a_grid(("a", "b", "c")), doubts) == (
        "b seemed to take 30 % less time, which may be chance"
    )


def test_the_noise_of_a_tuning_is_that_of_its_worst_collective() -> None:
    """From logarithms to a share; where nothing is known of one, that of the others."""
    noises = [Choice(noise, (), ()) for noise in (math.log(1.1), math.nan, math.log(1.25))]
    assert noise_of(noises) == pytest.approx(0.25)
    assert noise_of([Choice(math.nan, (), ())]) is None


def test_a_rule_that_fresh_launches_do_not_confirm() -> None:
    assert why_gone(RULE) == "pairwise, 8 B to 4 KiB, could not be measured in fresh launches"
    again = replace(RULE, confirmed=Evidence(0.96, 0.9, 1.02, 10))
    assert why_gone(again) == (
        "pairwise, 8 B to 4 KiB, was not significantly faster in 10 fresh launches (0.90 to 1.02 "
        "of the default's time)"
    )
    assert "was not as good in" in why_gone(replace(again, stands_in=True))


def test_the_candidate_nearest_to_the_default_may_be_far_from_it() -> None:
    assert why_no_stand_in(RULE, "Intel MPI 2021.17").endswith(
        "8 B to 4 KiB the nearest to the default is pairwise, with 0.45 to 0.58 of its time"
    )


# --- what the library could reach ----------------------------------------------------------------
def test_faster_algorithms_are_named_and_stored() -> None:
    beyond = Beyond("Bcast", 2, 8, 4096, "ALG:Bcast/node_flags", GAINED)
    tuning = replace(TUNING, beyond=(beyond,))
    assert (
        "Bcast, 2 ranks, 8 B to 4 KiB: the library could be faster: ALG:Bcast/node_flags, made of "
        "messages and copies, takes 42 to 55 % less time than its best in the mean of these sizes, "
        "by 6 launches that measured both."
    ) in text(tuning)
    assert Tuning.from_json(tuning.to_json()) == tuning


@pytest.mark.parametrize(("beyond", "is_told"), [(None, False), ((), True)])
def test_that_no_algorithm_was_faster_is_told_if_any_was_measured(
    beyond: tuple[Beyond, ...] | None, is_told: bool
) -> None:
    tuning = replace(TUNING, beyond=beyond)
    assert ("No algorithm of suite ALG was faster" in text(tuning)) == is_told
    assert Tuning.from_json(tuning.to_json()) == tuning
