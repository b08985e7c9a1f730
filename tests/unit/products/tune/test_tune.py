# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune`: what runs say of candidates and rules, the stored folder, wrong words."""

from __future__ import annotations

import json
import math
import shlex
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.mpi import Mpi
from mpigauge.model.names import CONTROL
from mpigauge.model.row import Estimate
from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.products.tune.decide.choose import SizeRange, choose
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.faults import proof_of
from mpigauge.products.tune.plan import SIZES, TUNED, between_sizes, sizes_of
from mpigauge.products.tune.result import (
    _is_next,
    _judged,
    choices,
    confirmed,
    grids,
    rescue,
    rules_for_all_sizes,
    rules_of,
    tried,
)
from mpigauge.products.tune.show.text import (
    lines_of,
    rescue_sentence,
    rule_sentence,
)
from mpigauge.result.compare.match.of_runs import facts_of
from mpigauge.runs.store import Run, load
from mpigauge.runs.store.history import conditions_of
from mpigauge.runs.store.tuned_rules import DefaultStays, Evidence, Fault, Rescued, TunedRule
from mpigauge.runs.store.tunings import (
    FILE,
    MpiBuild,
    Tuning,
    check_files,
    load_tuning,
    save,
    sha256_of,
    tuned_by,
    variables_of,
    write_files,
)
from mpigauge.session.tuned import level_sentence, recorded_rules
from mpigauge.site.mpi.rule_files.candidates import candidates_of
from tests import runs
from tests.tunings import shown_as

BUILD = MpiBuild("openmpi", "5.0.11", "openmpi", "/nowhere/libmpi.so.40", "0" * 64)
RULE = TunedRule(
    Rule("Allreduce", 2, 32768, 524288, "recursive_doubling"),
    chosen=Evidence(0.5, 0.45, 0.55, 6),
    confirmed=Evidence(0.52, 0.44, 0.6, 10),
)


def stored(folder: Path, lines: list[str], parts: int = 1) -> Run:
    plan = {"benchmarks": ["Allreduce"], "parts": [_part() for _ in range(parts)]}
    launches = sorted({json.loads(line).get("launch", 0) for line in lines})
    heads = [runs.launch(number) for number in launches]
    return load(runs.write(folder, [*heads, *lines], header={"plan": plan}))


def _part() -> dict[str, object]:
    return {"benchmarks": ["Allreduce"], "world_ranks": 2, "sizes": [8]}


def cell(launch: int, arm: str, size: int, time: float, **more: object) -> str:
    return runs.cell(
        launch, benchmark="Allreduce", arm=arm, message_bytes=size, time_p50_s=time, **more
    )


def measured_inside(folder: Path) -> Run:
    """`a` takes half of the time from 512 B on; the control differs by a percent."""
    lines = []
    for launch in range(6):
        for size in (8, 32, 128, 512, 2048):
            default = 1e-6 * (1 + launch / 10)
            halves = 0.5 if size >= 512 else 1.3
            wobble = 1.01 if launch % 2 else 0.99
            lines += [
                cell(launch, "", size, default),
                cell(launch, "control", size, default * wobble),
                cell(launch, "a", size, default * halves * (1 + launch / 1000)),
            ]
    return stored(folder, lines)


def test_a_rule_follows_from_a_run(tmp_path: Path) -> None:
    found = grids(measured_inside(tmp_path / "run"))
    of = ("Allreduce", 2)
    (rule,) = rules_of(of, found[of], choices(found)[of])
    assert rule.rule == Rule("Allreduce", 2, 512, 2048, "a")
    assert rule.chosen.high < 0.55
    assert rule.chosen.launches == 6
    assert rule.confirmed is None


def by_size(sizes: tuple[int, ...], faster: dict[str, tuple[int, ...]]) -> Grid:
    """Each arm takes half of the default's time at its own sizes, and half more at all others."""
    times: dict[tuple[str, int, int], float] = {}
    for size, n in product(sizes, range(6)):
        times[DEFAULT, size, n] = 1 + n / 10
        times[CONTROL, size, n] = (1 + n / 10) * (1.01 if n % 2 else 0.99)
        for arm, own in faster.items():
            ratio = (0.5 if size in own else 1.5) * (1 + n / 1000)
            times[arm, size, n] = (1 + n / 10) * ratio
    return grid_of(times, sizes, faster)


def test_a_rule_ends_one_byte_before_the_next_begins() -> None:
    """Where the default is faster in between, it ends at its own last size."""
    of, sizes = ("Allreduce", 2), (8, 32, 128, 512, 2048, 8192)
    found = by_size(sizes, {"a": (8, 32), "b": (128, 512), "c": (8192,)})
    rules = [each.rule for each in rules_of(of, found, choose(found))]
    assert rules == [
        Rule(*of, 8, 127, "a"), Rule(*of, 128, 512, "b"), Rule(*of, 8192, 8192, "c")
    ]  # fmt: skip
    whole = [each.rule for each in rules_for_all_sizes(of, found, choose(found))]
    assert [rule.first_bytes for rule in whole[1:]] == [rule.last_bytes + 1 for rule in whole[:-1]]
    assert (whole[0].first_bytes, whole[-1].last_bytes) == (0, MOST_BYTES)
    assert {"a", "b"} <= {rule.candidate for rule in whole}


def test_rules_for_all_sizes_name_what_stands_in_for_the_default(tmp_path: Path) -> None:
    """`a` is slower below 512 B; there `b`, which takes as long as the default, stands in."""
    lines = []
    for launch in range(6):
        for size in (8, 32, 128, 512, 2048):
            default = 1e-6 * (1 + launch / 10)
            wobble = 1.01 if launch % 2 else 0.99
            taken = {"": 1.0, "control": wobble, "a": 0.5 if size >= 512 else 1.3, "b": 1.0}
            lines += [cell(launch, arm, size, default * ratio) for arm, ratio in taken.items()]
    found = grids(stored(tmp_path / "run", lines))
    of = ("Allreduce", 2)
    below, above = rules_for_all_sizes(of, found[of], choices(found)[of])
    assert below.rule == Rule("Allreduce", 2, 0, 511, "b")
    assert above.rule == Rule("Allreduce", 2, 512, MOST_BYTES, "a")
    assert (below.stands_in, above.stands_in) == (True, False)
    assert below.chosen.high < 1.05


def test_nothing_stands_in_where_there_is_nothing_to_gain(tmp_path: Path) -> None:
    lines = [
        cell(launch, arm, 8, 1e-6 * ratio)
        for launch in range(6)
        for arm, ratio in (("", 1.0), ("control", 1.01), ("b", 1.0))
    ]
    found = grids(stored(tmp_path / "run", lines))
    of = ("Allreduce", 2)
    assert rules_for_all_sizes(of, found[of], choices(found)[of]) == []


def in_turn(folder: Path, ratio: float, rounds: int = 10) -> Run:
    """Launches of the default and of the rules, in an order that changes from round to round."""
    lines = []
    for round_ in range(rounds):
        slow = 1 + 0.2 * (round_ % 3)
        places = (0, 1) if round_ % 2 else (1, 0)
        wobble = 1 + 0.02 * (round_ % 4)
        for size in (32768, 524288):
            lines += [
                cell(2 * round_ + places[0], "", size, 1e-5 * slow),
                cell(2 * round_ + places[1], TUNED, size, 1e-5 * slow * ratio * wobble),
            ]
    return stored(folder, lines, parts=2)


@pytest.mark.parametrize(("ratio", "holds"), [(0.5, True), (1.0, False), (1.5, False)])
def test_a_rule_stays_where_fresh_launches_find_it_faster(
    ratio: float, holds: bool, tmp_path: Path
) -> None:
    measured = grids(in_turn(tmp_path / "run", ratio))
    kept, dropped = confirmed([RULE], measured, TUNED)
    assert bool(kept) == holds
    (each,) = kept or dropped
    assert each.confirmed is not None
    assert each.confirmed.launches == 10
    assert each.confirmed.low < ratio * 1.04 < each.confirmed.high


@pytest.mark.parametrize(("ratio", "holds"), [(0.9, True), (1.0, True), (1.5, False)])
def test_what_stands_in_for_the_default_has_to_be_as_good_in_fresh_launches(
    ratio: float, holds: bool, tmp_path: Path
) -> None:
    measured = grids(in_turn(tmp_path / "run", ratio))
    kept, dropped = confirmed([replace(RULE, stands_in=True)], measured, TUNED)
    assert bool(kept) == holds
    assert len(kept) + len(dropped) == 1


@pytest.mark.parametrize("stands_in", [False, True])
def test_one_fresh_launch_confirms_nothing(stands_in: bool, tmp_path: Path) -> None:
    """Nor does it make the test of other rules harder."""
    measured = grids(in_turn(tmp_path / "run", 0.5, rounds=1))
    once = replace(RULE, stands_in=stands_in, confirmed=None)
    assert confirmed([once], measured, TUNED) == ([], [once])
    again = grids(in_turn(tmp_path / "again", 0.5))
    ((alone,), _) = confirmed([RULE], again, TUNED)
    other = replace(once, rule=replace(once.rule, ranks=3))
    more = again | {("Allreduce", 3): measured["Allreduce", 2]}
    assert confirmed([RULE, other], more, TUNED) == ([alone], [other])


def test_two_fresh_launches_that_agree_confirm_a_rule() -> None:
    times = {
        (arm, 65536, n): ratio * (1 + n / 10) * (1 + n / 1e6)
        for arm, ratio in ((DEFAULT, 1.0), (TUNED, 0.5))
        for n in range(2)
    }
    times[TUNED, 65536, 0] *= 1.001
    (kept, dropped) = confirmed([RULE], {("Allreduce", 2): grid_of(times, [65536], [TUNED])}, TUNED)
    assert len(kept) == 1
    assert dropped == []


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("other", range(4))
def test_a_stretch_follows_where_no_measured_size_is_between(place: int, other: int) -> None:
    sizes = (8, 64, 512, 4096)
    grid = grid_of({}, sizes, [])
    first, second = (
        SizeRange("a", (sizes[of],), Estimate(0.5, 0.4, 0.6), 6, 0.01) for of in (place, other)
    )
    assert _is_next(grid, first, second) == (other == place + 1)


def test_a_rule_is_judged_at_its_own_sizes_with_both_ends() -> None:
    sizes = (8, 64, 512, 4096)
    times = {
        (arm, size, n): ratio * (1 + n / 10) * (1 + size / 1e9)
        for arm, ratio in ((DEFAULT, 1.0), (TUNED, 0.5))
        for size in sizes
        for n in range(4)
    }
    measured = {("Allreduce", 2): grid_of(times, sizes, [TUNED])}
    for first, last, own in ((64, 512, (64, 512)), (0, 8, (8,)), (4096, 1 << 20, (4096,))):
        (found,) = _judged([Rule("Allreduce", 2, first, last, "ring")], measured, TUNED)
        assert found is not None
        assert (found.sizes, found.launches) == (own, 4)
    assert _judged([Rule("Allreduce", 2, 9, 63, "ring")], measured, TUNED) == [None]


def test_a_rule_of_which_nothing_was_measured_is_dropped(tmp_path: Path) -> None:
    measured = grids(in_turn(tmp_path / "run", 0.5))
    other = TunedRule(Rule("Bcast", 2, 8, 64, "binomial"), RULE.chosen)
    kept, dropped = confirmed([RULE, other], measured, TUNED)
    assert [each.rule.collective for each in kept] == ["Allreduce"]
    assert dropped == [other]


def test_candidates_with_wrong_results_are_named(tmp_path: Path) -> None:
    lines = [
        runs.cell(0, benchmark="Allreduce_right", suite="SELFTEST", arm="ring", wrong_count=7),
        runs.cell(0, benchmark="Allreduce_right", suite="SELFTEST", arm="good"),
    ]
    found = tried(stored(tmp_path / "run", lines))
    assert found.right == {("Allreduce", 2, "good")}
    assert found.tested == {("Allreduce", 2, "good"), ("Allreduce", 2, "ring")}
    (fault,) = found.faults
    assert (fault.candidate, fault.why) == ("ring", "7 wrong elements among 2 ranks")


def test_new_sizes_lie_between_those_that_were_measured() -> None:
    found = sizes_of(Rule("Allreduce", 2, 32768, 524288, "a"), SIZES)
    assert found == [32768, 65536, 131072, 262144, 524288]
    # Ends that halving found are powers of two; others, and none, were not measured.
    found = sizes_of(Rule("Allreduce", 2, 16384, 262144, "a"), (32768, 131072))
    assert found == [16384, 32768, 65536, 131072, 262144]
    assert sizes_of(Rule("Allreduce", 2, 0, 131071, "a"), (32768,)) == [32768]
    assert between_sizes(8, 32) == 16
    assert between_sizes(8, 8) == 8


# --- the folder ---------------------------------------------------------------------------------
def a_tuning(folder: Path) -> Tuning:
    digests = write_files(folder, {"tuned.conf": "0\n"})
    tuning = Tuning(
        mpi=BUILD,
        hostname="a",
        cores=2,
        data="fresh",
        thread_level="single",
        sizes=SIZES,
        rules=(RULE,),
        left=(DefaultStays("Bcast", 2, "no candidate was faster"),),
        faults=(Fault("Allreduce", 3, "ring", "7 wrong elements among 3 ranks"),) * 2,
        files=digests,
        rescued=(Rescued("Allreduce", 4, {"X": "0"}, 1 << 20, 0.02, 5, 7, 6),),
    )
    save(folder, tuning)
    return tuning


def test_a_tuning_is_stored_whole(tmp_path: Path) -> None:
    tuning = a_tuning(tmp_path)
    assert load_tuning(tmp_path) == tuning
    check_files(tmp_path, tuning)


def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    tuning = a_tuning(tmp_path)
    (tmp_path / "tuned.conf").write_text("1 2 1 0 1 0 4 0 0\n")
    with pytest.raises(UserError, match="somebody has changed it"):
        check_files(tmp_path, tuning)


def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    tuning = a_tuning(tmp_path)
    (tmp_path / "tuned.conf").unlink()
    with pytest.raises(UserError, match="cannot read"):
        check_files(tmp_path, tuning)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": 1}', '{"schema": "x"}', "\0", "[" * 9999]
)
def test_a_damaged_tuning_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UserError, match="is damaged"):
        load_tuning(tmp_path)


def test_one_cut_anywhere_is_refused(tmp_path: Path) -> None:
    a_tuning(tmp_path)
    text = (tmp_path / FILE).read_text().rstrip()
    for length in range(0, len(text), 97):
        (tmp_path / FILE).write_text(text[:length])
        with pytest.raises(UserError, match="is damaged"):
            load_tuning(tmp_path)


def test_one_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    a_tuning(tmp_path)
    data = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(data | {"schema": 99}))
    with pytest.raises(UserError, match="newer mpigauge"):
        load_tuning(tmp_path)


def test_on_a_disk_that_is_full_nothing_is_lost(small_disk: Path) -> None:
    tuning = a_tuning(small_disk)
    with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)
    with pytest.raises(RunError, match=r"cannot write .*rules\.json: No space left"):
        save(small_disk, replace(tuning, left=()))
    assert load_tuning(small_disk) == tuning
    with pytest.raises(RunError, match=r"cannot write .*tuned\.conf: No space left"):
        write_files(small_disk, {"tuned.conf": "1\n" * 4096})
    check_files(small_disk, tuning)
    assert {path.name for path in small_disk.iterdir()} == {"filler", "rules.json", "tuned.conf"}


def test_a_machine_that_is_not_quiet_is_said(tmp_path: Path) -> None:
    tuning = a_tuning(tmp_path)
    assert not any("differed from itself" in line for line in lines_of(replace(tuning, noise=0.04)))
    text = "\n".join(lines_of(replace(tuning, noise=0.31)))
    assert "the default differed from itself by 31 %: smaller gains are not" in text
    assert "itself by 90 %" in "\n".join(lines_of(replace(tuning, noise=0.9)))
    save(tmp_path, replace(tuning, noise=0.31))
    assert load_tuning(tmp_path).noise == 0.31


def test_what_rescues_ranks_that_share_cores_is_what_all_far_faster_candidates_share() -> None:
    settings = {
        "ring": {"DEVICE": "0", "ALGORITHM": "ring"},
        "tree": {"DEVICE": "0", "ALGORITHM": "tree"},
        "other": {"DEVICE": "1"},
    }
    ratios = {DEFAULT: 1.0, "ring": 0.01, "tree": 0.02, "other": 0.5}
    times = {(arm, size, n): ratio * (n + 1) for arm, ratio in ratios.items()
             for size in (8, 1 << 20) for n in range(6)}  # fmt: skip
    found = rescue(("Allreduce", 4), grid_of(times, [8, 1 << 20], list(settings)), settings)
    assert found is not None
    assert (found.settings, found.message_bytes, found.launches) == ({"DEVICE": "0"}, 1 << 20, 6)
    assert rescue_sentence(found) == (
        "Allreduce, 4 ranks that share cores: DEVICE=0 rescues it. All 2 candidates measured with "
        "it take at most 0.02 of the default's time at 1 MiB in the median of 6 launches, and at "
        "most a tenth in 6 of them."
    )
    lucky = times | {(DEFAULT, 1 << 20, 5): 0.01}
    again = rescue(("Allreduce", 4), grid_of(lucky, [8, 1 << 20], list(settings)), settings)
    assert again is not None
    assert again.in_launches == 5
    slower = {place: time * (1 if place[0] == DEFAULT else 20) for place, time in times.items()}
    unrescued = grid_of(slower, [8, 1 << 20], list(settings))
    assert rescue(("Allreduce", 4), unrescued, settings) is None


@pytest.mark.parametrize(("lucky", "is_rescued"), [(2, True), (3, False)])
def test_a_rescue_holds_in_three_quarters_of_the_launches(lucky: int, is_rescued: bool) -> None:
    """Of eight launches, in some of which the default had luck."""
    times = {(DEFAULT, 8, n): 0.01 if n < lucky else 1.0 for n in range(8)}
    times |= {("ring", 8, n): 0.01 for n in range(8)}
    found = rescue(("Allreduce", 4), grid_of(times, [8], ["ring"]), {"ring": {"DEVICE": "0"}})
    assert (found is not None) == is_rescued
    assert found is None or found.in_launches == 6


@pytest.mark.parametrize(("share", "is_rescued"), [(0.1, True), (0.101, False)])
def test_a_rescue_takes_at_most_a_tenth(share: float, is_rescued: bool) -> None:
    times = {(DEFAULT, 8, n): 1.0 for n in range(3)} | {("ring", 8, n): share for n in range(3)}
    found = rescue(("Allreduce", 4), grid_of(times, [8], ["ring"]), {"ring": {"DEVICE": "0"}})
    assert (found is not None) == is_rescued
    few = {place: time for place, time in times.items() if place[2] < 2}
    assert rescue(("Allreduce", 4), grid_of(few, [8], ["ring"]), {"ring": {"A": "0"}}) is None


def test_the_environment_in_four_forms(tmp_path: Path) -> None:
    tuning = a_tuning(tmp_path)
    file = str(tmp_path.absolute() / "tuned.conf")
    assert variables_of(tmp_path, tuning) == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "true",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": file,
    }
    assert shown_as(tmp_path, tuning, "mca") == [
        f"coll_tuned_dynamic_rules_filename = {file}",
        "coll_tuned_use_dynamic_rules = true",
    ]
    sourced = shown_as(tmp_path, tuning, "sh")
    assert sourced[1] == "export OMPI_MCA_coll_tuned_use_dynamic_rules=true"
    modules = shown_as(tmp_path, tuning, "module")
    assert modules[1] == "setenv OMPI_MCA_coll_tuned_use_dynamic_rules {true}"
    (for_slurm,) = shown_as(tmp_path, tuning, "sbatch")
    comment, option = for_slurm.split()
    assert comment == "#SBATCH"
    assert shlex.split(option)[0].split(",") == [
        "--export=ALL",
        f"OMPI_MCA_coll_tuned_dynamic_rules_filename={file}",
        "OMPI_MCA_coll_tuned_use_dynamic_rules=true",
    ]


def test_a_value_that_slurm_would_cut_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tuned, again"
    folder.mkdir()
    with pytest.raises(UserError, match=r"Slurm would cut .* at its comma"):
        shown_as(folder, a_tuning(folder), "sbatch")


def test_without_rules_slurm_is_told_nothing(tmp_path: Path) -> None:
    tuning = replace(a_tuning(tmp_path), rules=(), files={})
    assert shown_as(tmp_path, tuning, "sbatch") == []


def test_what_was_gained_is_one_sentence(tmp_path: Path) -> None:
    assert rule_sentence(RULE) == (
        "Allreduce, 2 ranks, 32 KiB to 512 KiB: recursive_doubling takes 40 to 56 % less time than "
        "the default in the mean of these sizes, by 10 fresh launches."
    )
    text = "\n".join(lines_of(a_tuning(tmp_path)))
    assert "Bcast, 2 ranks: the default stays: no candidate was faster." in text
    assert text.count("Allreduce: ring is not used: 7 wrong elements among 3 ranks.") == 1
    assert "may differ in their last digits: Allreduce" in text


def test_rules_say_at_which_thread_level_they_were_measured(tmp_path: Path) -> None:
    tuning = replace(a_tuning(tmp_path), thread_level="multiple")
    save(tmp_path, tuning)
    assert load_tuning(tmp_path).thread_level == "multiple"
    assert "fresh data, thread level multiple" in next(iter(lines_of(tuning)))
    assert "may not help at single" in level_sentence(tmp_path, tuning, "single")
    mpich = replace(tuning, mpi=replace(BUILD, name="mpich", version="5.0.2"))
    said = level_sentence(tmp_path, mpich, "single")
    assert said.endswith("do not hold at single, where mpich 5.0.2 follows its own")


def test_what_stands_in_for_the_default_is_said() -> None:
    below = TunedRule(
        Rule("Bcast", 2, 0, 511, "preset_4"), Evidence(1.0, 0.97, 1.04, 6), stands_in=True
    )
    assert rule_sentence(below) == (
        "Bcast, 2 ranks, up to 511 B: preset_4 replaces the default, which has no name: "
        "it takes 0.97 to 1.04 of its time, by the launches that chose it."
    )
    above = replace(below, rule=Rule("Bcast", 2, 512, MOST_BYTES, "preset_8"), stands_in=False)
    assert "Bcast, 2 ranks, 512 B and more: preset_8 takes" in rule_sentence(above)
    assert TunedRule.from_json(json.loads(json.dumps(below.to_json()))) == below


def test_lines_of_open_mpi_s_file_are_for_open_mpi(tmp_path: Path) -> None:
    tuning = replace(a_tuning(tmp_path), mpi=replace(BUILD, name="mpich"))
    with pytest.raises(UserError, match="--format mca is a file of Open MPI's"):
        shown_as(tmp_path, tuning, "mca")


def test_a_fault_is_shown_by_one_command() -> None:
    fault = Fault("Allreduce", 3, "ring", "7 wrong elements among 3 ranks")
    openmpi = Mpi(
        "openmpi", "5.0.11", "3.1", Path("/x/libmpi.so.40"), "", "ompi", "openmpi",
        Path("/x/bin/mpiexec"), Path("/x"), None, {}, "",
    )  # fmt: skip
    assert proof_of(fault, candidates_of("openmpi"), openmpi) == (
        "mpigauge run SELFTEST:Allreduce_right --mpi /x/bin/mpiexec --ranks 3 --oversubscribe "
        "--launches 1 --set coll_tuned_use_dynamic_rules=true "
        "--set coll_tuned_allreduce_algorithm=4"
    )


# --- words --------------------------------------------------------------------------------------
def test_a_word_that_is_nothing_is_refused_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["tune", "Alreduce"]) == 2
    assert "did you mean 'Allreduce'?" in capsys.readouterr().err
    assert run(["tune", "verfy", "x"]) == 2
    assert "did you mean 'verify'?" in capsys.readouterr().err


def test_an_option_is_looked_at_also_where_the_subcommand_is_not_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["tune", "--ranks", "2", "--ranks", "3", "--mpi", "mpich"]) == 2
    assert "--ranks is given 2 times" in capsys.readouterr().err
    assert run(["tune", "--thread-level", "", "--mpi", "mpich"]) == 2
    assert "--thread-level: the value is empty" in capsys.readouterr().err


def test_a_shell_is_told_the_subcommands_and_the_options_of_the_usual_one() -> None:
    from click.shell_completion import ShellComplete

    from mpigauge.cli.main import group

    shell = ShellComplete(group, {}, "mpigauge", "_MPIGAUGE_COMPLETE")
    words = [each.value for each in shell.get_completions(["tune"], "")]
    assert words == ["apply", "env", "make", "show", "verify"]
    assert [each.value for each in shell.get_completions(["tune", "Bcast"], "--ra")] == ["--ranks"]


def test_a_folder_without_a_tuning_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["show"], ["env"], ["verify"]):
        assert run(["tune", *words, str(tmp_path)]) == 2
        assert "has no rules.json" in capsys.readouterr().err
    assert run(["tune", "apply", str(tmp_path), "--", "true"]) == 2
    assert "has no rules.json" in capsys.readouterr().err


def test_a_program_is_not_started_with_rules_of_another_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_tuning(tmp_path)
    assert run(["tune", "apply", str(tmp_path), "--", "true"]) == 2
    assert "cannot read /nowhere/libmpi.so.40" in capsys.readouterr().err


def test_show_prints_the_stored_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_tuning(tmp_path)
    assert run(["tune", "show", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "openmpi 5.0.11 on a, 2 cores; fresh data, one thread" in out
    assert "recursive_doubling takes 40 to 56 % less time" in out


def test_env_says_where_there_is_nothing_to_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path, replace(a_tuning(tmp_path), rules=(), files={}))
    assert run(["tune", "env", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "has no rule: there is nothing to set" in printed.err


# --- what was made with a tuning ------------------------------------------------------------------
def made_with(folder: Path, rules: Path | None) -> Run:
    """A run, with the rules of this tuning if there is one."""
    header: dict[str, object] = {"plan": {"benchmarks": ["Allreduce"], "parts": [_part()]}}
    if rules is not None:
        settings = {"coll_tuned_use_dynamic_rules": "true"}
        header["plan"] = {**header["plan"], "settings": settings}  # type: ignore[dict-item]
        header["tuned"] = asdict(tuned_by(rules, settings))
    return load(runs.write(folder, [runs.launch(0), cell(0, "", 8, 1e-6)], header=header))


def test_comparing_says_which_rules_were_followed(tmp_path: Path) -> None:
    a_tuning(tmp_path / "rules")
    with_rules = facts_of(made_with(tmp_path / "a", tmp_path / "rules"))
    without = facts_of(made_with(tmp_path / "b", None))
    assert with_rules["settings"] == without["settings"] == "none"
    assert with_rules["rules"] == f"rules ({sha256_of(tmp_path / 'rules')[:8]})"
    assert without["rules"] == "the MPI's own"


def test_what_is_shown_names_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_tuning(tmp_path / "rules")
    made_with(tmp_path / "a", tmp_path / "rules")
    assert run(["show", str(tmp_path / "a")]) == 0
    assert "rules of rules (" in capsys.readouterr().out


def test_a_run_with_rules_is_remembered_apart(tmp_path: Path) -> None:
    a_tuning(tmp_path / "rules")
    first = made_with(tmp_path / "a", tmp_path / "rules")
    others = {**first.header, "tuned": {**first.header["tuned"], "sha256": "0" * 64}}
    assert conditions_of(first.header) != conditions_of(others)


def test_a_run_does_not_go_on_with_other_rules(tmp_path: Path) -> None:
    tuning = a_tuning(tmp_path / "rules")
    stored_run = made_with(tmp_path / "a", tmp_path / "rules")
    assert recorded_rules(stored_run) == tmp_path / "rules"
    assert recorded_rules(made_with(tmp_path / "b", None)) is None
    save(tmp_path / "rules", replace(tuning, left=()))
    with pytest.raises(UserError, match="was made with other rules"):
        recorded_rules(stored_run)
    (tmp_path / "rules" / FILE).unlink()
    with pytest.raises(UserError, match=r"has no rules\.json"):
        recorded_rules(stored_run)


def test_ratios_of_a_run_are_logarithms(tmp_path: Path) -> None:
    found = grids(measured_inside(tmp_path / "run"))["Allreduce", 2]
    assert found.ratios("a", 512)[0] == pytest.approx(math.log(0.5))
