# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune --for PROFILE`: which calls count, how much, and what the program itself gains."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan.request import Request
from mpigauge.measuring.plan.resources import Resources
from mpigauge.model.call_mix import CallMix, MixedCall
from mpigauge.model.errors import UserError
from mpigauge.model.names import CONTROL
from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.products.profile.beside.mix import MOST_VECTORS, mix_of
from mpigauge.products.profile.program import words_of
from mpigauge.products.tune.decide.choose import choose
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.making import called
from mpigauge.products.tune.plan import CROWDED_SIZES, SIZES, Where, sizes_to_confirm
from mpigauge.products.tune.result import (
    as_ranks_come,
    rules_for_all_sizes,
    rules_of,
    weighed,
)
from mpigauge.products.tune.show.text import lines_of, trial_sentences
from mpigauge.products.tune.trial import ROUNDS, trial_of
from mpigauge.runs.store.tuned_rules import Evidence, TunedRule
from mpigauge.runs.store.tunings import MpiBuild, Tuning, load_tuning, save
from mpigauge.site import topology
from tests.cells import cell
from tests.profiles import job, stored
from tests.unit.products.profile.test_profile_lateness import one_late

OF = ("Allreduce", 2)
MIX = CallMix(
    profile="app",
    mpi="mpich 5.0.2",
    thread_level="single",
    mpi_s=10.0,
    run_s=20.0,
    calls=(
        MixedCall("Allreduce", 2, 32768, 30000, 40000, 6.0, "double", "sum"),
        MixedCall("Bcast", 4, 64, 64, 64, 2.0),
        MixedCall("Allreduce", 2, 8, 8, 15, 1.0, "double", "sum"),
        MixedCall("Allreduce", 2, 16, 16, 16, 0.5, "int", "max"),
    ),
)


def test_a_profile_hands_over_its_collectives() -> None:
    mix = mix_of("app", [job()])
    assert mix is not None
    (call,) = mix.calls
    assert (call.benchmark, call.ranks, call.message_bytes) == ("Allreduce", 2, 8)
    assert (call.datatype, call.op) == ("double", "sum")
    assert call.least_bytes <= 8 <= call.most_bytes
    assert call.seconds == pytest.approx(0.3)
    assert mix.mpi_s == pytest.approx(0.35)
    assert mix_of("app", []) is None


def test_a_mix_knows_what_it_has() -> None:
    assert MIX.collectives == ("Allreduce", "Bcast")
    assert MIX.groups("Bcast") == (4,)
    assert [call.message_bytes for call in MIX.of(*OF)] == [8, 32768]
    assert MIX.seconds(*OF, 12) == 1.0
    assert MIX.seconds(*OF, 20000) == 0.0
    assert CallMix.from_json(json.loads(json.dumps(MIX.to_json()))) == MIX


def grid(small: float, large: float) -> Grid:
    """One candidate, `a`, with its ratio to the default for 8 B and for 32 KiB."""
    times = {}
    for n in range(6):
        for size, ratio in ((8, small), (32768, large)):
            slow = 1 + 0.3 * n
            times[DEFAULT, size, n] = slow
            times[CONTROL, size, n] = slow * (1.01 if n % 2 else 0.99)
            times["a", size, n] = slow * ratio * (1.002 if n % 3 else 0.998)
    return grid_of(times, [8, 32768], ["a"])


def test_sizes_count_by_the_time_that_the_program_spends_on_them() -> None:
    found = weighed(OF, grid(0.9, 0.5), MIX)
    (stretch,) = choose(found).faster
    assert stretch.sizes == (8, 32768)
    assert stretch.ratio.value == pytest.approx(0.9 ** (1 / 7) * 0.5 ** (6 / 7), rel=0.01)
    (alike,) = choose(weighed(OF, grid(0.9, 0.5), None)).faster
    assert alike.ratio.value == pytest.approx((0.9 * 0.5) ** 0.5, rel=0.01)


def test_a_gain_where_the_program_spends_little_is_no_reason_to_switch() -> None:
    little = weighed(OF, grid(0.97, 1.3), MIX)
    assert choose(little).faster == ()
    assert choose(weighed(OF, grid(0.9, 1.3), None)).faster


def test_rules_reach_over_the_messages_of_the_program() -> None:
    found = weighed(OF, grid(1.3, 0.5), MIX)
    (rule,) = rules_of(OF, found, choose(found), MIX)
    assert rule.rule == Rule("Allreduce", 2, 30000, 40000, "a")
    whole = weighed(OF, grid(1.05, 0.5), MIX)
    below, above = rules_for_all_sizes(OF, whole, choose(whole), MIX)
    assert (below.rule.last_bytes, above.rule.first_bytes) == (29999, 30000)
    assert above.rule.last_bytes == MOST_BYTES


@pytest.fixture
def two_cores(repository: Path) -> Resources:
    return Resources(topology.read(repository / "tests" / "machines" / "vm-epyc-2-cores.txt"))


def test_rules_are_confirmed_at_the_ends_of_what_the_program_sends(two_cores: Resources) -> None:
    where = Where(None, two_cores, None, MIX)  # type: ignore[arg-type]
    rule = Rule("Allreduce", 2, 30000, 40000, "a")
    assert sizes_to_confirm(rule, Request(), where) == [30000, 32768, 40000]
    assert where.sizes(Request(), *OF) == (8, 32768)


def test_where_ranks_share_cores_few_sizes_are_measured_and_no_new_ones(
    two_cores: Resources,
) -> None:
    where = Where(None, two_cores, None)  # type: ignore[arg-type]
    assert where.sizes(Request(), "Allreduce", 2) == SIZES
    assert where.sizes(Request(), "Allreduce", 4) == CROWDED_SIZES
    rule = Rule("Allreduce", 4, 64 << 10, 1 << 20, "a")
    assert sizes_to_confirm(rule, Request(), where) == [64 << 10, 1 << 20]
    assert len(sizes_to_confirm(replace(rule, ranks=2), Request(), where)) > 2


def test_a_profile_hands_over_how_late_its_ranks_come() -> None:
    of = job()
    late = replace(of, profile=replace(of.profile, arrivals=(one_late(),)))
    mix = mix_of("app=1", [late])
    assert mix is not None
    name, _, found = mix.arrival(*OF).partition("=")
    assert name == "profile:app_1"
    calls = found.split("/")
    assert len(calls) == 100 <= MOST_VECTORS
    assert calls.count("0.0+80.0") == 90
    assert mix.arrival("Bcast", 2) == ""
    assert CallMix.from_json(json.loads(json.dumps(mix.to_json()))) == mix


def test_times_count_as_ranks_come_in_the_program() -> None:
    """Ranks that come at once are measured beside those that come apart."""
    at_once = cell("Allreduce", ranks=2, message_bytes=8)
    apart = replace(at_once, arrival="profile:app")
    other = replace(at_once, benchmark="Bcast")
    assert as_ranks_come([at_once, apart, other]) == [apart, other]


def test_only_what_the_program_calls_is_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(("Bcast", "Allreduce", "Alltoall"), MIX) == ("Allreduce", "Bcast")
    assert called(("Bcast",), MIX) == ("Bcast",)
    assert "Allreduce is called, too, and stays at the default" in capsys.readouterr().err
    with pytest.raises(UserError, match="on Allreduce and Bcast, and Alltoall can be tuned"):
        called(("Alltoall",), MIX)


# --- the program itself ---------------------------------------------------------------------------
def test_what_a_program_gains_is_told_with_a_verdict() -> None:
    default = [(10.0 + n, 4.0 + n / 10) for n in range(ROUNDS)]
    tuned = [(9.9 + n, 2.0 + n / 20) for n in range(ROUNDS)]
    trial = trial_of("mpirun -n 2 ./app", default, tuned)
    assert trial.mpi_time.high < 0.55
    (sentence,) = trial_sentences(trial)
    assert sentence.startswith("`mpirun -n 2 ./app` with the rules, by 10 launches of each in turn")
    assert "its time in MPI: FASTER, 50 to 50 % less." in sentence


def test_a_program_that_differs_by_chance_is_undecided() -> None:
    default = [(10.0 + n % 3, 1.0) for n in range(10)]
    tuned = [(10.0 + (n + 1) % 3, 1.2 + n / 1000) for n in range(10)]
    (sentence,) = trial_sentences(trial_of("./app", default, tuned))
    assert "turn: UNDECIDED, 0." in sentence
    assert "its time in MPI: SLOWER, 20 to 21 % more." in sentence


def test_a_tuning_keeps_the_mix_and_the_trial(tmp_path: Path) -> None:
    gained = Evidence(0.5, 0.45, 0.55, 6)
    tuning = Tuning(
        mpi=MpiBuild("mpich", "5.0.2", "mpich", "/nowhere/libmpi.so.12", "0" * 64),
        hostname="a",
        cores=2,
        data="fresh",
        thread_level="single",
        sizes=(8, 32768),
        rules=(TunedRule(Rule("Allreduce", 2, 8, 8, "ring"), gained, gained),),
        mix=MIX,
        trial=trial_of("./app", [(1.0, 0.5)] * 5, [(0.9, 0.4)] * 5),
    )
    save(tmp_path, tuning)
    assert load_tuning(tmp_path) == tuning
    text = "\n".join(lines_of(tuning))
    assert "Sizes count by the time that the program of app spends on them." in text
    assert "`./app` with the rules, by 5 launches of each in turn" in text


def test_the_words_of_a_profile_are_found_in_its_header() -> None:
    said = {"command": ["mpigauge", "profile", "--np", "2", "--", "./app", "-x"]}
    words, options = words_of(said)
    assert words == ("./app", "-x")
    assert options["np"] == "2"
    assert words_of({})[0] == ()
    assert words_of({"command": "mpigauge profile -- ./app"})[0] == ()


def test_what_the_profile_says_is_not_said_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(stored(tmp_path / "run"))
    assert run(["tune", "--for", folder, "--ranks", "2"]) == 2
    assert "--for and --ranks contradict" in capsys.readouterr().err
    assert run(["tune", "--for", str(tmp_path)]) == 2
    assert "is not a folder of a profile" in capsys.readouterr().err
