# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune --p2p`: which settings are tried, how one value is chosen for all sizes."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from mpigauge.cli.main import run
from mpigauge.model.call_mix import CallMix, MixedCall
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.names import CONTROL
from mpigauge.model.units import settings_in_words
from mpigauge.products.profile.beside.mix import mix_of
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.decide.halving import better_half
from mpigauge.products.tune.decide.one_value import best_for_all, costs, slower_places
from mpigauge.products.tune.decide.spaces import (
    SpaceSetting,
    drawn_point,
    points,
    settings_worth_trying,
)
from mpigauge.products.tune.decide.trials import tried_points
from mpigauge.products.tune.making import called, wants_messages
from mpigauge.products.tune.measure.message_runs import Messages, groups_of
from mpigauge.products.tune.measure.messages import MOST_POINTS, points_to_measure, values_that_work
from mpigauge.products.tune.show.text import lines_of, message_lines
from mpigauge.runs.store.tuned_rules import Evidence, SlowerMessages, TunedMessages
from mpigauge.runs.store.tunings import (
    MpiBuild,
    Tuning,
    load_tuning,
    save,
    settings_of,
    variables_of,
)
from mpigauge.site.mpi.settings import catalogue
from tests.profiles import job
from tests.tunings import shown_as

SPACE = (
    SpaceSetting("openmpi", "pml", ("ucx",), besides={"tls": "any"}),
    SpaceSetting("openmpi", "eager", ("1024", "4096"), where={"pml": ""}, least=512, most=4096),
    SpaceSetting("openmpi", "threshold", ("9",), where={"pml": "ucx"}),
)
MIX = CallMix(
    profile="app",
    mpi="openmpi 5.0.11",
    thread_level="single",
    mpi_s=10.0,
    run_s=20.0,
    calls=(),
    messages=(MixedCall("PingPong", 2, 8192, 8000, 8200, 7.0),),
)
FASTER = TunedMessages(
    settings={"pml": "ucx"},
    chosen=Evidence(0.7, 0.65, 0.75, 10),
    confirmed=Evidence(0.72, 0.68, 0.77, 10),
    measured_by=("PingPong", "Sendrecv"),
    tried=18,
    failed={"smsc=^cma": "ended with status 1"},
    slower=(SlowerMessages("PingPong", 2, 131072, 2097152, Evidence(1.8, 1.5, 2.2, 10)),),
)
TUNING = Tuning(
    mpi=MpiBuild("openmpi", "5.0.11", "openmpi", "/lib/libmpi.so.40", "ab"),
    hostname="vm",
    cores=2,
    data="fresh",
    thread_level="single",
    sizes=(8, 8192),
    rules=(),
    messages=FASTER,
)


# --- the space ----------------------------------------------------------------------------------
def test_no_point_has_a_setting_without_effect_beside_the_others() -> None:
    assert [settings_in_words(point) for point in points(SPACE)] == [
        "pml=ucx tls=any",
        "eager=1024",
        "eager=4096",
        "pml=ucx tls=any threshold=9",
    ]


def test_trials_are_asked_only_for_settings_that_have_an_effect() -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    def last(name: str, values: tuple[str, ...]) -> str:
        asked.append((name, values))
        return values[-1]

    assert drawn_point(SPACE, last) == {"pml": "ucx", "tls": "any", "threshold": "9"}
    assert asked == [("pml", ("", "ucx")), ("threshold", ("", "9"))]
    assert SPACE[1].powers == ("512", "1024", "2048", "4096")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "intel"])
@pytest.mark.parametrize("hosts", [1, 2])
def test_each_setting_of_a_space_is_explained_in_the_catalogue(mpi: str, hosts: int) -> None:
    known = [entry.variable for entry in catalogue.entries()]
    found = settings_worth_trying(mpi, hosts)
    assert found
    for number, each in enumerate(found):
        words = (each.name, f"OMPI_MCA_{each.name}")
        fits = [entry for entry in catalogue.entries() if any(map(entry.fits, words))]
        assert fits or each.name in known, f"{each.name} has no meaning in catalogue.toml"
        assert set(each.where) <= {other.name for other in found[:number]}
        assert each.least <= each.most
        assert set(each.values) <= set(each.powers) or not each.most


def test_of_a_large_space_some_points_are_tried_and_those_of_one_setting_always() -> None:
    large = tuple(SpaceSetting("x", f"s{n}", ("1", "2", "3")) for n in range(5))
    every = points(large)
    found = points_to_measure(large, seed=1)
    assert len(every) > MOST_POINTS == len(found)
    assert {settings_in_words(point) for point in every if len(point) == 1} <= set(found)
    assert points_to_measure(large, seed=1) == found != points_to_measure(large, seed=2)
    wide = SpaceSetting("x", "s", tuple(map(str, range(MOST_POINTS + 2))))
    assert len(points_to_measure((wide, large[0]), seed=1)) == MOST_POINTS + 5
    assert set(points_to_measure(SPACE, seed=1)) == {
        settings_in_words(point) for point in points(SPACE)
    }


def test_values_with_which_the_program_itself_fails_are_not_tried() -> None:
    asked: list[Mapping[str, str]] = []

    def failing(point: Mapping[str, str]) -> str:
        asked.append(dict(point))
        return "no component" if point.get("pml") == "ucx" else ""

    kept, failed = values_that_work(SPACE, failing)
    assert [each.name for each in kept] == ["eager"]
    assert set(failed) == {"pml=ucx tls=any", "threshold=9 pml=ucx tls=any"}
    assert asked == [
        {},
        {"pml": "ucx", "tls": "any"},
        {"eager": "1024"},
        {"eager": "4096"},
        {"pml": "ucx", "tls": "any", "threshold": "9"},
    ]


def test_a_program_that_no_longer_runs_ends_the_tuning() -> None:
    with pytest.raises(RunError, match="no longer runs as it was profiled: status 1"):
        values_that_work(SPACE, lambda _: "status 1")


def test_what_a_value_needs_beside_it_may_be_the_value_itself() -> None:
    setting = SpaceSetting("mpich", "cell", ("64",), besides={"buffer": "{}", "other": "1"})
    assert points([setting]) == [{"cell": "64", "buffer": "64", "other": "1"}]


# --- choosing -----------------------------------------------------------------------------------
def measured(
    ratios: Mapping[str, Mapping[int, float]], weights: Mapping[int, float], rounds: int = 10
) -> Grid:
    """Times of launches that scatter by 3 %, of points that take so much of the default's time by
    place."""
    rng = random.Random(7)
    times = {}
    for number in range(rounds):
        for place in weights:
            for arm in (DEFAULT, CONTROL, *ratios):
                ratio = ratios.get(arm, {}).get(place, 1.0)
                times[arm, place, number] = ratio * math.exp(rng.gauss(0, 0.03))
    return replace(grid_of(times, weights, ratios), weights=dict(weights))


def test_a_point_is_chosen_by_what_messages_weigh() -> None:
    ratios = {"a": {0: 0.5, 1: 1.5}, "b": {0: 1.2, 1: 0.8}}
    small = best_for_all(measured(ratios, {0: 9.0, 1: 1.0}), {"a": 1, "b": 1})
    large = best_for_all(measured(ratios, {0: 1.0, 1: 9.0}), {"a": 1, "b": 1})
    assert small is not None
    assert large is not None
    assert (small.arm, small.is_faster) == ("a", True)
    assert (large.arm, large.is_faster) == ("b", True)


def test_of_points_that_are_as_good_the_one_with_fewest_settings_is_taken() -> None:
    ratios = {"two": {0: 0.6}, "one": {0: 0.605}, "slow": {0: 0.9}}
    found = best_for_all(measured(ratios, {0: 1.0}), {"two": 2, "one": 1, "slow": 1})
    assert found is not None
    assert found.arm == "one"


def test_a_tuning_of_a_thing_against_itself_finds_nothing() -> None:
    """Three finalists that are the default under other names, then fresh launches of the best."""
    rng = random.Random(1)

    def found(arms: tuple[str, ...]) -> bool:
        times = {
            (arm, place, number): math.exp(rng.gauss(0, 0.1))
            for arm in (DEFAULT, CONTROL, *arms)
            for place in range(20)
            for number in range(10)
        }
        best = best_for_all(grid_of(times, range(20), arms), {})
        return best is not None and best.is_faster

    chosen = [found(("a", "b", "c")) for _ in range(100)]
    assert sum(chosen) <= 10
    assert sum(each and found(("tuned",)) for each in chosen) <= 1


def test_what_could_not_be_measured_everywhere_costs_most_and_is_left_out() -> None:
    grid = measured({"good": {0: 0.9}, "bad": {0: 1.3}}, {0: 1.0})
    found = costs(grid, ["good", "bad", "ended"])
    assert found["ended"] == math.inf
    assert found["good"] == pytest.approx(math.log(0.9), abs=0.05)
    assert better_half(found, 1) == ("good",)
    assert better_half({"a": 1.0, "b": 0.5, "c": 0.7, "d": math.nan}, 1) == ("b", "c")
    assert better_half({"a": 1.0, "b": 0.5}, 3) == ("b", "a")


def test_too_few_rounds_choose_nothing() -> None:
    assert best_for_all(measured({"a": {0: 0.5}}, {0: 1.0}, rounds=2), {}) is None


def test_the_chance_of_a_point_is_that_of_welch_s_test_in_one_direction() -> None:
    """Against the default and the control together, times the points that it was picked from."""
    for ratio in (0.98, 1.01):
        grid = measured({"a": {0: ratio}, "b": {0: 1.5}}, {0: 1.0})
        found = best_for_all(grid, {})
        assert found is not None
        usual = [grid.logs[arm, 0, n] for arm in (DEFAULT, CONTROL) for n in grid.launches]
        logs = [grid.logs["a", 0, n] for n in grid.launches]
        known = stats.ttest_ind(logs, usual, equal_var=False, alternative="less").pvalue
        assert (found.arm, found.launches) == ("a", 10)
        assert found.p == pytest.approx(min(1.0, 2 * known))


@pytest.mark.parametrize("ratio", [0.98, 1.01])
def test_a_single_point_has_its_own_chance(ratio: float) -> None:
    """Above a half where it is slower."""
    grid = measured({"a": {0: ratio}}, {0: 1.0})
    found = best_for_all(grid, {})
    usual = [grid.logs[arm, 0, n] for arm in (DEFAULT, CONTROL) for n in grid.launches]
    logs = [grid.logs["a", 0, n] for n in grid.launches]
    known = stats.ttest_ind(logs, usual, equal_var=False, alternative="less").pvalue
    assert found is not None
    assert found.p == pytest.approx(known)
    assert (found.p > 0.5) == (ratio > 1)


def test_what_takes_the_same_in_all_launches_has_no_known_chance() -> None:
    times = {(arm, 0, n): 1.0 for arm in (DEFAULT, CONTROL, "a") for n in range(3)}
    found = best_for_all(grid_of(times, [0], ["a"]), {})
    assert found is not None
    assert (found.p, found.is_faster) == (1.0, False)
    fewer = {place: time for place, time in times.items() if place[2] < 2}
    assert best_for_all(grid_of(fewer, [0], ["a"]), {}) is None


def test_a_point_that_was_not_measured_everywhere_takes_no_part() -> None:
    grid = measured({"a": {0: 0.5}}, {0: 1.0})
    assert best_for_all(replace(grid, arms=()), {}) is None
    assert costs(replace(grid, launches=()), ["a"]) == {"a": math.inf}


def test_a_point_costs_what_its_fastest_launch_takes_by_the_fastest_of_the_default() -> None:
    """Whichever of the default's two it is; places count what they weigh."""
    times = {(arm, place, n): 8.0 for arm in (DEFAULT, CONTROL, "a")
             for place in (0, 1) for n in range(3)}  # fmt: skip
    times[CONTROL, 0, 1] = times[CONTROL, 1, 1] = 4.0
    times["a", 0, 2], times["a", 1, 2] = 1.0, 2.0
    grid = replace(grid_of(times, [0, 1], ["a"]), weights={0: 3.0, 1: 1.0})
    assert costs(grid, ["a"])["a"] == pytest.approx(0.25 * math.log(2) - math.log(4))
    alike = replace(grid, weights={})
    assert costs(alike, ["a"])["a"] == pytest.approx(0.5 * math.log(2) - math.log(4))


def test_neighbours_that_get_slower_are_named_together() -> None:
    grid = measured({"a": {0: 0.5, 1: 1.5, 2: 1.6, 3: 0.9, 4: 1.4}}, dict.fromkeys(range(5), 1.0))
    found = slower_places(grid, "a", [[0, 1, 2], [3, 4]])
    assert [each.sizes for each in found] == [(1, 2), (4,)]
    assert all(each.ratio.low > 1 for each in found)


def test_trials_come_to_the_best_point_of_a_space_with_conditions() -> None:
    pytest.importorskip("optuna")
    best = {"pml": "ucx", "tls": "any", "threshold": "9"}
    asked: list[int] = []

    def cost(number: int, point: Mapping[str, str]) -> float:
        asked.append(number)
        if point.get("eager") == "512":
            return math.inf
        return -1.0 if point == best else -0.1 * len(point)

    found = tried_points(SPACE, cost, trials=40, seed=1)
    words = [settings_in_words(point) for point, _ in found]
    assert min(found, key=lambda each: each[1])[0] == best
    assert len(set(words)) == len(words) == len(asked)
    assert asked[0] == 1
    assert found == tried_points(SPACE, cost, trials=40, seed=1)


# --- what was measured --------------------------------------------------------------------------
def test_each_kind_of_messages_has_places_of_its_own() -> None:
    pair = Messages(("PingPong", "Sendrecv"), 2, {8: 1.0, 64: 1.0})
    sums = Messages(("Allreduce",), 2, {8: 3.0})
    assert groups_of([pair, sums]) == {
        (0, "PingPong"): [0, 1],
        (0, "Sendrecv"): [2, 3],
        (1, "Allreduce"): [4],
    }


def test_a_profile_hands_over_its_messages() -> None:
    mix = mix_of("app", [job()])
    assert mix is not None
    assert mix.messages, "the job of the test sends messages"
    assert sum(call.seconds for call in mix.messages) <= mix.mpi_s
    for call in mix.messages:
        assert call.benchmark in ("PingPong", "Sendrecv")
        assert call.least_bytes <= call.message_bytes <= call.most_bytes
    again = CallMix.from_json(json.loads(json.dumps(mix.to_json())))
    assert again == mix
    older = mix.to_json()
    del older["messages"]
    assert CallMix.from_json(older).messages == ()


def test_messages_are_tuned_where_they_are_asked_for_or_a_program_sends_some() -> None:
    assert wants_messages(None, None) is False
    assert wants_messages(None, MIX) is True
    assert wants_messages(False, MIX) is False
    assert wants_messages(True, None) is True
    assert called(["Allreduce"], MIX, with_messages=True) == ()
    with pytest.raises(UserError, match="no collective"):
        called(["Allreduce"], MIX)


# --- what is said and kept ----------------------------------------------------------------------
def test_settings_of_messages_are_kept_and_set(tmp_path: Path) -> None:
    save(tmp_path, TUNING)
    found = load_tuning(tmp_path)
    assert found == TUNING
    assert found.has_effect
    assert settings_of(tmp_path, found) == {"pml": "ucx"}
    assert variables_of(tmp_path, found) == {"OMPI_MCA_pml": "ucx"}
    nothing = replace(TUNING, messages=replace(FASTER, settings={}, why="no"))
    assert not nothing.has_effect
    assert settings_of(tmp_path, nothing) == {}


def test_a_file_of_open_mpi_cannot_say_what_is_none_of_its_parameters(tmp_path: Path) -> None:
    ucx = {"pml": "ucx", "UCX_RNDV_THRESH": "4096"}
    tuning = replace(TUNING, messages=replace(FASTER, settings=ucx))
    assert shown_as(tmp_path, tuning, "sh") == [
        "export OMPI_MCA_pml=ucx",
        "export UCX_RNDV_THRESH=4096",
    ]
    assert shown_as(tmp_path, TUNING, "mca") == ["pml = ucx"]
    with pytest.raises(UserError, match="UCX_RNDV_THRESH=4096 is not a parameter of Open MPI"):
        shown_as(tmp_path, tuning, "mca")


def test_it_is_said_what_was_gained_and_what_gets_slower() -> None:
    text = "\n".join(lines_of(TUNING))
    assert "Messages from rank to rank: pml=ucx takes 23 to 32 % less time than the default" in text
    assert "(PingPong and Sendrecv), by 10 fresh launches; chosen of 18 combinations." in text
    assert "With it PingPong among 2 ranks, 128 KiB to 2 MiB, takes 50 to 120 % more." in text
    assert "smsc=^cma is not used: ended with status 1." in text
    assert "No rule is written" not in text
    assert "All sizes are weighted equally" in text


def test_where_the_default_stays_it_is_said_why() -> None:
    left = replace(FASTER, settings={}, why="pml=ucx was not faster in fresh launches", slower=())
    assert list(message_lines(left)) == [
        "Messages from rank to rank: the default stays: pml=ucx was not faster in fresh launches.",
        "smsc=^cma is not used: ended with status 1.",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("Allreduce", "--trials", "9"), "add --p2p"),
        (("--p2p", "--trials", "0"), "--trials"),
    ],
)
def test_trials_without_messages_are_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", *words]) == 2
    assert said in capsys.readouterr().err
