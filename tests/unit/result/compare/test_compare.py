# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge compare: what belongs together, what is refused, the verdicts in words and formats."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import geometric_mean, median
from typing import Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.model.between import Scatter
from mpigauge.model.errors import UserError
from mpigauge.model.record import Figure
from mpigauge.model.row import Row
from mpigauge.model.units import number
from mpigauge.result.compare.compare import compare, split
from mpigauge.result.compare.comparison import Comparison
from mpigauge.result.compare.match.items import items
from mpigauge.result.compare.match.of_runs import side_of
from mpigauge.result.compare.match.only import only, read_only
from mpigauge.result.compare.match.side import Side
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.runs.store import RunWriter
from mpigauge.show.comparisons.beside import render
from mpigauge.show.comparisons.compared import as_csv, as_json
from mpigauge.show.comparisons.programs import sentences
from mpigauge.show.web.answer import verdicts
from tests import cells, planted

SIZES = (8, 1024, 8192, 65536, 1 << 20)


def made(factor: float = 1.0, launches: int = 6, seed: int = 1, **columns: Any) -> list[Row]:
    """Rows of PingPong at all sizes, which scatter by 1 %."""
    return rows_of(lines(factor, launches, seed, **columns))


def lines(factor: float, launches: int, seed: int, **columns: Any) -> list[Any]:
    """`scatter` is that of each number, `launch` that of all numbers of a launch."""
    random = Random(seed)
    sizes = columns.pop("sizes", SIZES)
    scatter, together = columns.pop("scatter", 0.01), columns.pop("launch", 0.0)
    first = columns.pop("first_launch", 0)
    moved = [random.gauss(1, together) if together else 1.0 for _ in range(launches)]
    return [
        cells.cell(
            launch=first + launch,
            message_bytes=size,
            time_p50_s=2e-6 * factor * (1 + size / 8e3) * moved[launch] * random.gauss(1, scatter),
            **columns,
        )
        for launch in range(launches)
        for size in sizes
    ]


def side(name: str, rows: list[Row], figures: list[Figure] | None = None) -> Side:
    return Side(name, items(rows, figures or []))


def said(found: Comparison) -> list[str]:
    return [entry.verdict for entry in found.entries]


# --- curves -------------------------------------------------------------------------------------
def test_a_curve_in_one_sentence() -> None:
    b = made(sizes=(8, 1 << 20), seed=2) + made(0.8, sizes=(1024, 8192), seed=3)
    b += made(2.5, sizes=(65536,), seed=4)
    found = compare([side("A", made()), side("B", b)])
    assert dict(zip(SIZES, said(found), strict=True)) == {
        8: "SAME", 1024: "FASTER", 8192: "FASTER", 65536: "SLOWER", 1 << 20: "SAME",
    }  # fmt: skip
    (sentence,) = found.tables[0].sentences
    assert sentence == (
        "B takes 20 % less time from 1 KiB to 8 KiB; takes 2.5 times as long at 64 KiB; "
        "is the same within 5 % at 8 B and at 1 MiB."
    )


def test_one_verdict_for_all_sizes_names_none() -> None:
    found = compare([side("A", made()), side("B", made(1.3, seed=2))])
    assert found.tables[0].sentences == ("B takes 29 to 30 % more time.",)


@pytest.mark.parametrize(("launches", "word"), [(1, "1 launch"), (3, "3 launches")])
def test_few_launches_say_how_many_are_needed(launches: int, word: str) -> None:
    found = compare([side("A", made()), side("B", made(3.0, launches, seed=2))])
    assert set(said(found)) == {"UNDECIDED"}
    assert found.tables[0].sentences == (
        f"B is undecided ({word}, at least 6 of each are needed).",
    )


def test_undecided_says_what_would_decide() -> None:
    found = compare([side("A", made()), side("B", made(1.008, seed=2))], tolerance=0.015)
    open_ones = [entry for entry in found.entries if entry.verdict == "UNDECIDED"]
    assert open_ones
    assert all("launches of each would" in entry.undecided for entry in open_ones)
    needed = sorted(entry.judged.needed or 0 for entry in open_ones if entry.judged)
    assert len(needed) > 1
    (sentence,) = found.tables[0].sentences
    assert f"(about {needed[0]} to {needed[-1]} launches of each would decide)" in sentence


def test_reasons_of_several_sizes_do_not_contradict_each_other() -> None:
    a = made(sizes=(8,)) + made(sizes=(16,), launches=2)
    b = made(1.008, seed=2, sizes=(8,)) + made(3.0, seed=2, sizes=(16,), launches=2)
    (sentence,) = compare([side("A", a), side("B", b)], tolerance=0.0081).tables[0].sentences
    assert "would decide some sizes; for others: 2 launches" in sentence


def test_one_ratio_is_in_the_singular() -> None:
    text = " ".join(
        render(
            compare([side("A", made(sizes=(8,))), side("B", made(sizes=(8,)))]), cells.cards()
        ).split()
    )
    assert "1 is of launches at different times" in text


def test_all_sides_are_compared_with_the_first() -> None:
    found = compare([side("A", made()), side("B", made(0.5, seed=2)), side("C", made(2, seed=3))])
    assert said(found) == ["FASTER", "SLOWER"] * len(SIZES)


def test_launches_in_turn_are_paired() -> None:
    starts = {launch: f"2026-11-21T05:00:{launch:02}Z" for launch in range(6)}
    later = {launch: f"2026-11-21T06:00:{launch:02}Z" for launch in range(6)}
    a, b = items(made()), items(made(seed=2))
    together = compare([Side("A", a, starts), Side("B", b, starts)])
    apart = compare([Side("A", a, starts), Side("B", b, later)])
    assert all(entry.ratio and entry.ratio.paired for entry in together.entries)
    assert not any(entry.ratio and entry.ratio.paired for entry in apart.entries)


def test_a_shared_machine_tells_no_difference_between_two_times() -> None:
    """Launches in turn met the same machine, others did not; that both are alike can be seen."""
    starts = {launch: f"2026-11-21T05:00:{launch:02}Z" for launch in range(6)}
    for times, word in ((starts, "SLOWER"), ({}, "UNDECIDED")):
        a = Side("A", items(made()), times, lost_ratio=0.01)
        b = Side("B", items(made(1.5, seed=2)), times, lost_ratio=0.25)
        found = compare([a, b])
        assert set(said(found)) == {word}
    assert found.entries[0].undecided == "others took 25 % of the cores; measure both in turn"
    again = Side("again", items(made(seed=2)), lost_ratio=0.25)
    assert set(said(compare([a, again]))) == {"SAME"}


# --- curves as a whole ----------------------------------------------------------------------------
def test_what_no_size_shows_the_curve_does() -> None:
    """A tenth more at 24 sizes whose launches scatter by 5 %."""
    sizes = tuple(2**n for n in range(24))
    a, b = (
        made(factor, seed=seed, sizes=sizes, scatter=0.05) for factor, seed in ((1, 1), (1.1, 2))
    )
    found = compare([side("A", a), side("B", b)])
    assert said(found).count("SLOWER") < 16
    (curve,) = found.curves
    assert (curve.verdict, curve.numbers, curve.worse) == ("SLOWER", 24, True)
    ratios = [entry.ratio.estimate.value for entry in found.entries if entry.ratio]
    assert curve.ratio.estimate.value == pytest.approx(geometric_mean(ratios))
    assert found.overall == (None, None)  # it is the same as the curve


def test_sizes_of_one_launch_move_together() -> None:
    """What all sizes of a launch share is no more certain over many sizes."""
    moved = [made(seed=seed, sizes=tuple(2**n for n in range(24)), launch=0.05) for seed in (1, 2)]
    found = compare([side("A", moved[0]), side("B", moved[1])])
    (curve,) = found.curves
    single = [entry.ratio.error for entry in found.entries if entry.ratio]
    assert curve.ratio.error > 0.7 * median(single)


def test_a_launch_three_times_as_long_hides_no_difference() -> None:
    sizes = tuple(2**n for n in range(24))
    slow = lines(1.1, 6, 2, sizes=sizes, scatter=0.05)
    wild = [
        replace(cell, time_p50_s=3 * cell.time_p50_s) if cell.launch == 4 else cell for cell in slow
    ]
    found = compare([side("A", made(sizes=sizes, scatter=0.05)), side("B", rows_of(wild))])
    (curve,) = found.curves
    assert (curve.verdict, curve.ratio.left_out) == ("SLOWER", 1)
    assert "a launch lies far from all others" in " ".join(render(found, cells.cards()).split())


def test_several_curves_are_judged_together_too() -> None:
    a, b = (
        made(factor, seed=seed) + made(factor, seed=seed + 1, ranks=4, first_launch=6)
        for factor, seed in ((1.0, 1), (1.2, 3))
    )
    found = compare([side("A", a), side("B", b)])
    assert [(curve.verdict, curve.numbers) for curve in found.curves] == [("SLOWER", 5)] * 2
    (whole,) = filter(None, found.overall)
    assert (whole.verdict, whole.numbers, whole.ratio.launches) == ("SLOWER", 10, 6)
    ratios = [curve.ratio.estimate.value for curve in found.curves]
    assert whole.ratio.estimate.value == pytest.approx(geometric_mean(ratios))


def test_all_formats_have_the_same_verdicts_of_curves_and_of_all() -> None:
    a, b = (
        made(factor, seed=seed) + made(factor, seed=seed + 1, ranks=4)
        for factor, seed in ((1.0, 1), (1.2, 3))
    )
    found = compare([side("A", a), side("B", b)])
    text, data = render(found, cells.cards()), json.loads(as_json(found))
    rows = [row for row in csv.DictReader(io.StringIO(as_csv(found))) if row["over"]]
    assert [row["over"] for row in rows] == ["curve", "curve", "all"]
    blocks = list(verdicts(found))
    for curve, record, row, block in zip(found.curves, data["curves"], rows, blocks, strict=False):
        estimate = curve.ratio.estimate
        assert record["ratio"] == float(row["ratio"]) == estimate.value
        assert record["verdict"] == row["verdict"] == "SLOWER"
        value, low, high = (number(each, estimate.error) for each in estimate)
        assert f"all B {value} {low}–{high} SLOWER" in " ".join(text.split())
        sentence = f"Over all 5 sizes B takes {value} ({low} to {high}) times as long as A: SLOWER."
        assert sentence in block.sentences
        assert sentence in data["sentences"]
    (together,) = data["together"]
    assert float(rows[-1]["ratio_high"]) == together["ratio_high"]
    (sentence,) = blocks[-1].sentences
    assert sentence.startswith("Over all 10 times together B takes 1.")
    assert sentence in " ".join(text.split())


def test_times_that_are_judged_together_say_when_they_go_both_ways() -> None:
    a, b = made() + made(benchmark="Bcast"), made(1.3, seed=2) + made(0.7, 6, 3, benchmark="Bcast")
    (said,) = compare([side("A", a), side("B", b)]).sentences
    assert said.endswith(" Of these 5 are shorter and 5 longer.")


def test_figures_and_single_sizes_are_no_curves() -> None:
    a, b = figures(100, "higher"), figures(80, "higher")
    found = compare([side("A", made(sizes=(8,)), a), side("B", made(2.0, sizes=(8,)), b)])
    assert (found.curves, found.overall) == ([], (None, None))


def test_all_that_a_comparison_needs_of_a_run() -> None:
    noise = [replace(planted.noise(lost), launch=number) for number, lost in
             enumerate((0.1, 0.4, 0.2))]  # fmt: skip
    seats = [*planted.ranks(["0"], "n1"), *planted.ranks(["0"], "n2")]
    plan = {"env": {"A": "1", "B": "1"}, "settings": {"B": "2", "C": "3"}}
    run = planted.run(lines(1.0, 6, 1), [*seats, *noise], plan=plan)
    found = side_of("a", run, items(made()))
    assert (found.name, found.run_alone, found.items) == ("a", True, items(made()))
    assert found.starts == {0: cells.LAUNCH["time"]}
    assert found.facts == {"settings": "A=1 B=2 C=3", "rules": "the MPI's own", "hosts": "2"}
    assert found.lost_ratio == pytest.approx(0.2)
    bare = side_of("b", planted.run([]), ())
    assert (bare.facts["settings"], bare.lost_ratio, "hosts" in bare.facts) == ("none", 0.0, False)
    assert side_of("c", planted.run([], plan={"env": {"A": "1"}}), ()).facts["settings"] == "A=1"


# --- runs at different times ----------------------------------------------------------------------
def run_side(name: str, rows: list[Row], day: int) -> Side:
    starts = {launch: f"2026-11-{day:02}T05:00:{launch:02}Z" for launch in range(6)}
    return Side(name, items(rows), starts, run_alone=True)


def test_runs_of_a_machine_that_is_not_known_carry_the_starting_value() -> None:
    a, b = run_side("A", made(), 20), run_side("B", made(1.1, seed=2), 21)
    found = compare([a, b])
    assert set(said(found)) == {"UNDECIDED"}
    assert found.between_runs == "starting"
    assert "take 10 % for what its runs differ by" in " ".join(render(found, cells.cards()).split())
    why = {entry.undecided for entry in found.verdicts}
    assert why == {"runs of this machine differ too much; measure both in turn"}
    in_turn = compare([a, replace(b, starts=a.starts)])
    assert set(said(in_turn)) == {"SLOWER"}


@pytest.mark.parametrize(("sd", "word"), [(0.01, "SLOWER"), (0.2, "UNDECIDED")])
def test_runs_of_a_known_machine_carry_what_it_has_shown(sd: float, word: str) -> None:
    known = Scatter(sd, -2 * sd, 2 * sd, runs=9)
    a, b = (
        run_side(name, [replace(row, scatter=known) for row in made(factor, seed=day)], day)
        for name, factor, day in (("A", 1.0, 20), ("B", 1.2, 21))
    )
    found = compare([a, b])
    assert {each.verdict for each in found.verdicts} == {word}
    assert found.between_runs == "known"
    assert all(each.ratio and each.ratio.error >= sd for each in found.verdicts)


# --- like with like -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"ranks": 4}, "ranks: 2 in A, 4 in B"),
        ({"datatype": "int"}, "datatype: byte in A, int in B"),
        ({"groups": 2}, "groups: 1 in A, 2 in B"),
        (
            {"sizes": (4, 5, 6, 7, 9)},
            "bytes: 8, 1024, 8192 or others in A, 4, 5, 6 or others in B",
        ),
    ],
)
def test_other_things_are_not_compared(columns: dict[str, Any], why: str) -> None:
    found = compare([side("A", made()), side("B", made(**columns))])
    assert found.tables == ()
    words = f"5 rows of A and 5 of B are not compared, {why}"
    assert found.left_out == (("PingPong", words, True),)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"placement": "l3"}, "placement: the default against l3"),
        ({"source": "IMB 2021.7"}, "source: mpigauge against IMB 2021.7"),
        ({"statistic": "mean"}, "statistic: median against mean"),
        ({"mode": "classic"}, "mode: adaptive against classic"),
        ({"cache": "cold"}, "cache: hot against cold"),
        ({"data": "fresh"}, "data: static against fresh"),
    ],
)
def test_what_was_measured_otherwise_is_said(columns: dict[str, Any], words: str) -> None:
    found = compare([side("A", made()), side("B", made(2.0, **columns))])
    assert {entry.unlike for entry in found.entries} == {(words,)}
    assert f"Measured otherwise: {words}." in render(found, cells.cards())


def test_calls_that_began_in_two_ways_are_not_judged() -> None:
    """0.51 µs behind a barrier and 0.77 µs in a common window are no difference of the MPI."""
    behind_barrier, in_window = made(sync="barrier"), made(1.5, seed=2, sync="window")
    found = compare([side("A", behind_barrier), side("B", in_window)])
    assert set(said(found)) == {"UNDECIDED"}
    assert found.curves == []
    text = " ".join(render(found, cells.cards()).split())
    assert "Measured otherwise: sync: barrier against window." in text
    assert "B is undecided (its calls began in two ways)." in text


def test_other_hosts_and_settings_are_said() -> None:
    a = Side("A", items(made()), facts={"hosts": "1", "settings": "none"})
    b = Side("B", items(made()), facts={"hosts": "2", "settings": "X=1"})
    text = " ".join(render(compare([a, b]), cells.cards()).split())
    assert "Measured otherwise: hosts: 1 (A) against 2 (B)." in text
    assert "Measured otherwise: settings: none (A) against X=1 (B)." in text
    assert "otherwise" not in render(compare([a, a]), cells.cards())


def test_the_same_columns_come_before_similar_ones() -> None:
    b = made(3.0, cache="cold") + made(seed=2)
    found = compare([side("A", made()), side("B", b)])
    assert said(found) == ["SAME"] * len(SIZES)
    assert found.left_out == (("PingPong", "5 rows only in B (cache cold)", False),)


def test_nobody_guesses_which_of_several_belongs() -> None:
    b = made(cache="cold") + made(data="fresh")
    found = compare([side("A", made()), side("B", b)])
    assert found.tables == ()
    assert found.left_out[0].why == (
        "5 rows of A and 10 of B are not compared: A has placement the default; B has cache cold "
        "and hot, data static and fresh, placement the default; --only cache=hot or --only "
        "cache=cold or --only data=static each pair some"
    )
    chosen = compare(only([side("A", made()), side("B", b)], {"cache": ["cold"]}))
    assert {entry.unlike for entry in chosen.entries} == {("cache: hot against cold",)}


def test_the_default_can_be_chosen_by_its_name() -> None:
    (found,) = only([side("A", made() + made(placement="l3"))], {"placement": ["the default"]})
    assert found.items == items(made())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("cahce=hot", "no column 'cahce'; did you mean 'cache'?"),
        ("cache=warm", "--only cache=warm: no run has it; there are hot"),
        ("cache", "'cache' chooses nothing; write COLUMN=VALUE"),
    ],
)
def test_wrong_choices(words: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        only([side("A", made())], read_only([words]))
    assert why in str(error.value)


# --- within one run -------------------------------------------------------------------------------
def test_arms_of_one_run_with_the_default() -> None:
    rows = made(0.7, seed=2, arm="EAGER=64k") + made() + made(seed=3, arm="EAGER=1k")
    sides = split(rows, [], "arm", {})
    assert [each.name for each in sides] == ["default", "EAGER=64k", "EAGER=1k"]
    assert said(compare(sides)) == ["FASTER", "SAME"] * len(SIZES)


@pytest.mark.parametrize(
    ("column", "why"),
    [
        ("placemnt", "no column 'placemnt' to compare by; did you mean 'placement'?"),
        ("benchmark", "no column 'benchmark'"),
        ("cache", r"the run has one value of it \(hot\)"),
    ],
)
def test_wrong_columns_are_refused(column: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        split(made(), [], column, {})


# --- figures --------------------------------------------------------------------------------------
def figures(value: float, better: str, **columns: Any) -> list[Figure]:
    random = Random(value)
    return [
        Figure(launch, "HPL", "rate", value * random.gauss(1, 0.01), "GFLOP/s", better, **columns)
        for launch in range(6)
    ]


@pytest.mark.parametrize(
    ("better", "more", "less"),
    [("higher", "BETTER", "WORSE"), ("lower", "WORSE", "BETTER"), ("", "HIGHER", "LOWER")],
)
def test_figures_go_by_their_direction(better: str, more: str, less: str) -> None:
    for factor, word in ((1.3, more), (0.7, less), (1.001, "SAME")):
        a, b = figures(100, better), figures(100 * factor, better)
        found = compare([side("A", [], a), side("B", [], b)])
        assert said(found) == [word]
        assert found.entries[0].worse == (word == "WORSE")


def test_figures_of_one_name_in_two_units_are_not_compared() -> None:
    """A thousand MFLOP/s are no thousand times as much as one GFLOP/s."""
    mega = [replace(each, unit="MFLOP/s") for each in figures(100_000, "higher")]
    found = compare([side("A", [], figures(100, "higher")), side("B", [], mega)])
    assert found.tables == ()
    assert found.left_out[0].text == (
        "HPL rate: 1 row of A and 1 of B are not compared, unit: GFLOP/s in A, MFLOP/s in B"
    )


def test_a_figure_in_words() -> None:
    found = compare([side("A", [], figures(100, "higher")), side("B", [], figures(80, "higher"))])
    text = render(found, cells.cards())
    assert text.startswith("HPL · rate · GFLOP/s\n")
    assert "B is 20 % lower." in text


def test_a_figure_that_is_zero_has_no_ratio() -> None:
    zero = [Figure(launch, "app", "errors", 0.0, "", "lower") for launch in range(6)]
    found = compare([side("A", [], zero), side("B", [], zero)])
    assert found.entries[0].undecided == "a value is not positive, so there is no ratio"
    assert json.loads(as_json(found))["ratios"][0]["ratio"] is None


# --- the worst and the best launch ----------------------------------------------------------------
def test_the_worst_of_launches_is_shown_and_nothing_is_decided() -> None:
    """Three launches each, as somebody does who notes the worst of three."""
    a, b = made(launches=3, sizes=(8,)), made(2.0, launches=4, seed=2, sizes=(8,))
    found = compare([side("A", a), side("B", b)], response="worst")
    ((first, second),) = found.tables[0].lines
    assert first.item is not None
    assert second.item is not None
    assert first.item.value.value == max(a[0].values_s) / 2
    assert second.item.value.value == max(b[0].values_s) / 2
    assert second.ratio is not None
    assert second.ratio.estimate.value == pytest.approx(max(b[0].values_s) / max(a[0].values_s))
    assert said(found) == ["UNDECIDED"]
    assert second.unlike == ("of_launches: 3 against 4",)
    text = " ".join(render(found, cells.cards()).split())
    assert "PingPong · 2 ranks · byte · worst launch" in text
    assert "B is undecided (of the worst launch alone the error is unknown)." in text
    assert "of more launches the worst is worse: so nothing is decided." in text
    assert json.loads(as_json(found))["response"] == "worst"


@pytest.mark.parametrize(("better", "worst"), [("higher", min), ("lower", max), ("", max)])
def test_which_launch_is_the_worst_goes_by_the_direction(
    better: str, worst: Callable[[Any], float]
) -> None:
    (item,) = items([], figures(100, better))
    values = item.sample.values
    assert item.launch("worst") == worst(values)
    assert {item.launch("worst"), item.launch("best")} == {min(values), max(values)}


# --- formats --------------------------------------------------------------------------------------
def test_the_table() -> None:
    b = made(0.5, seed=2, sizes=(8, 65536))
    found = compare([side("mpich", made(sizes=(8, 65536))), side("openmpi", b),
                     side("intel", made(seed=3, sizes=(8,)))])  # fmt: skip
    text = render(found, cells.cards(), ["where"])
    assert text.splitlines()[2:11] == [
        "PingPong · 2 ranks · byte · 6 launches",
        " bytes              µs      ± ratio        95 %",
        " 8 B    mpich     1.00 ±1.2 %",
        "        openmpi  0.500 ±2.3 % 0.499 0.494–0.508  FASTER",
        "        intel     1.00 ±1.3 % 0.998  0.990–1.01  SAME",
        "64 KiB  mpich     9.16 ±1.8 %",
        "        openmpi   4.56 ±1.0 % 0.498 0.493–0.504  FASTER",
        "        intel                                    not measured",
        "   all  openmpi               0.499 0.495–0.505  FASTER",
    ]
    assert max(map(len, text.splitlines())) <= 80
    assert "Holm's" in text


def test_for_programs() -> None:
    found = compare([side("A", made()), side("B", made(0.5, launches=3))])
    (first, *_), data = json.loads(as_json(found))["ratios"], json.loads(as_json(found))
    assert data["sides"] == ["A", "B"]
    assert first["verdict"] == "UNDECIDED"
    assert first["p_holm"] is None
    assert first["ratio"] == pytest.approx(0.5, rel=0.05)
    assert first["launches_needed"] == 6
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [row["message_bytes"] for row in rows] == [*map(str, SIZES), ""]
    assert [row["over"] for row in rows] == [*[""] * len(SIZES), "curve"]


# --- the command ----------------------------------------------------------------------------------
@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three stored runs: a, the same again, and one that is slower."""
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "a", 1.0, 1)
    store(tmp_path / "again", 1.0, 2)
    store(tmp_path / "slow", 1.4, 3)
    store(tmp_path / "four", 1.0, 3, ranks=4)
    store(tmp_path / "set", 1.0, 4, plan={"settings": {"X": "1"}})
    return tmp_path


def store(folder: Path, factor: float, seed: int, plan: Any = None, **columns: Any) -> None:
    header = {"version": "1", "plan": plan or {}, "mpi": {"name": "mpich", "version": "5"}}
    with RunWriter.create(header, cells.cards_text(), output=folder) as writer:
        launches = columns.pop("launches", 6)
        for launch in range(launches):
            writer.append(cells.line("launch", **cells.LAUNCH | {"launch": launch}))
        for cell in lines(factor, launches, seed, **columns):
            known = {name: getattr(cell, name) for name in cell.__dataclass_fields__}
            writer.append(cells.line("cell", **known))
        for launch in range(launches):
            writer.append(cells.end(launch))
        writer.finish("done")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("a again", 0),
        ("a again --only cache=hot", 0),
        ("a slow", 0),
        ("a slow --fail-on slower", 1),
        ("slow a --fail-on slower", 0),
        ("slow a --fail-on different", 1),
        ("a slow --response worst", 0),
        ("a again --fail-on slower --fail-on different --fail-on undecided", 0),
        ("a again --tolerance 0.01% --fail-on undecided", 1),
    ],
)
def test_exit_status(runs: Path, words: str, status: int) -> None:
    assert runs.is_dir()
    assert cli(["compare", *words.split()]) == status


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("a", "name two runs or more, or one with --by"),
        ("a slow --by arm", "--by compares the parts of one run"),
        ("a four", "there is nothing to compare; PingPong: 5 rows of a and 5 of four are not"),
        ("a nothing", "there is no run 'nothing'"),
        ("a slow --only cache=warm", "no run has it"),
        ("a slow --response worst --fail-on slower", "--response worst decides nothing, so"),
        ("a slow --tolerance much", "--tolerance: 'much' is not a relative error"),
    ],
)
def test_wrong_words(runs: Path, words: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.is_dir()
    assert cli(["compare", *words.split()]) == 2
    assert why in capsys.readouterr().err


def test_runs_of_one_mpi_are_named_by_their_folders(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runs.is_dir()
    assert cli(["compare", "a", "slow", "again"]) == 0
    out = capsys.readouterr().out
    assert "slow: mpigauge 1 · mpich 5" in out
    assert "slow takes" in out
    assert "again is the same within 5 %." in out
    assert cli(["compare", "a", "set"]) == 0
    assert "Measured otherwise: settings: none (a) against X=1 (set)." in capsys.readouterr().out


# --- programs that are not ours -------------------------------------------------------------------
def times_of(name: str, seconds: float, unit: str = "s", better: str = "lower") -> Side:
    """A program's figure of twelve launches that differ by little."""
    figures = [
        Figure(launch, "app", "rate", seconds * (1 + launch % 5 / 500), unit, better, source="app")
        for launch in range(12)
    ]
    return Side(name, items((), figures))


@pytest.mark.parametrize(
    ("first", "second", "unit", "better", "said"),
    [
        (1.31, 1.0, "s", "lower", r"app on B: 1\.31\d* × \[1\.\d+, 1\.\d+\] faster than on A\."),
        (1.0, 1.31, "s", "lower", r"app on B: 1\.31\d* × \[1\.\d+, 1\.\d+\] slower than on A\."),
        (10, 20, "GF", "higher", r"app on B: 2\.0\d* × \[.*\] better in rate than on A\."),
        (20, 10, "GF", "higher", r"app on B: 2\.0\d* × \[.*\] worse in rate than on A\."),
        (1.0, 1.0, "s", "lower", r"app on B: the same as on A, 1\.0\d* × \[.*\] the time\."),
    ],
)
def test_which_mpi_is_faster_for_a_program(
    first: float, second: float, unit: str, better: str, said: str
) -> None:
    found = compare([times_of("A", first, unit, better), times_of("B", second, unit, better)])
    (sentence,) = sentences(found, [set(), set()])
    assert re.fullmatch(said, sentence)


def test_the_mpi_that_a_program_was_linked_to_is_its_own() -> None:
    found = compare([times_of("A", 2.0), times_of("B", 1.0)])
    (sentence,) = sentences(found, [{"app"}, set()])
    assert sentence.endswith("faster than on its own A.")
    (sentence,) = sentences(found, [{"other"}, {"app"}])
    assert sentence.startswith("app on its own B: ")
    assert sentences(found, []) == []


def test_few_launches_of_a_program_decide_nothing() -> None:
    few = [
        Side(name, items((), [Figure(0, "app", "run time", 1.0, "s", "lower", source="app")]))
        for name in "AB"
    ]
    (sentence,) = sentences(compare(few), [set(), set()])
    assert sentence == "app on B: undecided against A (1 launch, at least 6 of each are needed)."


def test_predicted_numbers_have_ratios_and_no_significance() -> None:
    """Even where launches would carry a difference, a model has none."""
    result = compare([side("A", made()), side("B", made(3.0, origin="predicted"))])
    (table,) = result.tables
    entries = [line[1] for line in table.lines]
    assert [round(entry.ratio.estimate.value, 1) for entry in entries if entry.ratio] == [3.0] * 5
    assert not any(entry.differs for entry in entries)
    assert "no significance" in entries[0].undecided
    assert table.overall == (None, None)
    measured = compare([side("A", made()), side("B", made(3.0))])
    assert all(line[1].differs for line in measured.tables[0].lines)
