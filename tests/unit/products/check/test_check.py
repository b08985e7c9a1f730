# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge check: limits and their grammar, references, peers, what is measured again, formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.measuring.plan import Plan, PlanPart
from mpigauge.measuring.plan.arms.foreign import Foreign, Merit
from mpigauge.measuring.plan.narrowed import narrowed
from mpigauge.model.errors import UserError
from mpigauge.model.record import Figure
from mpigauge.model.row import Estimate
from mpigauge.products.check.limits import parse_limits
from mpigauge.products.check.peers import against_peers
from mpigauge.products.check.result import (
    CheckLine,
    CheckResult,
    against_limits,
    against_reference,
    name_of,
    once_more,
    right_data,
)
from mpigauge.products.check.show import as_json, as_junit, as_table
from mpigauge.result.compare.match.items import Item, items
from mpigauge.result.compare.match.side import Side
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.result.stats.peers import RankPair, clusters
from mpigauge.runs.store import load
from tests import cells
from tests.unit.result.compare.test_compare import lines as cell_lines
from tests.unit.result.compare.test_compare import store

VENDOR = Path(__file__).parents[3] / "golden/printed/oci-openmpi-allreduce-144.txt"
"""A table that a vendor printed: one launch on 144 ranks, in which 8 B take 18.6 µs."""
NAMES = ("PingPong", "Allreduce", "Uniband", "NBC:Ibcast")


def measured(factor: float = 1.0, launches: int = 6, **columns: Any) -> tuple[Item, ...]:
    """PingPong of 8 B: 1 µs, and of 8 KiB: 2 µs, each within 1 %."""
    columns = {"sizes": (8, 8192)} | columns
    return items(rows_of(cell_lines(factor, launches, 1, **columns)))


def limits(text: str) -> Any:
    return parse_limits(text, "limits.toml", NAMES)


def outcomes(text: str, found: tuple[Item, ...]) -> list[str]:
    return [line.outcome for line in against_limits(found, limits(text))]


# --- limits ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ('time = "2.5 us"', ["PASS", "PASS"]),
        ('time = "1500 ns"', ["PASS", "FAIL"]),
        ('time = "0.5 us"', ["FAIL", "FAIL"]),
        ('sizes = "8"\ntime = "1.001 us"', ["UNDECIDED"]),
        ('sizes = "8"\ntime = "0.9 us"', ["FAIL"]),
        ('sizes = "8"\ntime = "0.9 us"\ntolerance = "20%"', ["PASS"]),
        ('time = { 8 = "2 us", 8Ki = "1 us" }', ["PASS", "FAIL"]),
        ('ranks = 4\ntime = "2 us"', ["UNDECIDED"]),
        ('placement = "l3"\ntime = "2 us"', ["UNDECIDED"]),
        ('sizes = "8,16"\ntime = "2 us"', ["PASS", "UNDECIDED"]),
        ('memory = "host"\ntime = "2.5 us"', ["PASS", "PASS"]),
        ('memory = "device"\ntime = "2.5 us"', ["UNDECIDED"]),
    ],
)
def test_limits_of_times(limit: str, expected: list[str]) -> None:
    assert outcomes(f'[[limit]]\nbenchmark = "PingPong"\n{limit}\n', measured()) == expected


@pytest.mark.parametrize("word", ["device:host", "device>host"])
def test_a_limit_of_one_kind_of_memory(word: str) -> None:
    found = measured() + measured(9.0, memory="device>host") + measured(5.0, memory="device")
    text = f'[[limit]]\nbenchmark = "PingPong"\nsizes = "8"\nmemory = "{word}"\ntime = "10 us"\n'
    (line,) = against_limits(found, limits(text))
    assert line.outcome == "PASS"
    assert line.item
    assert line.item.value.value == pytest.approx(9e-6, rel=0.05)


def test_limits_of_bandwidth_and_rate_are_least_values() -> None:
    found = measured(sizes=(8192,), moved_bytes=8192, messages=1)
    text = '[[limit]]\nbenchmark = "PingPong"\n'
    assert outcomes(text + 'bandwidth = "3 GB/s"\nrate = "0.4 M/s"', found) == ["PASS", "PASS"]
    assert outcomes(text + 'bandwidth = "5 GB/s"\nrate = "0.6 M/s"', found) == ["FAIL", "FAIL"]
    slack = 'bandwidth = "5 GB/s"\ntolerance = "30%"'
    assert outcomes(text + slack, found) == ["PASS"]


def test_a_benchmark_without_bandwidth() -> None:
    (line, _) = against_limits(
        measured(), limits('[[limit]]\nbenchmark = "PingPong"\nbandwidth = "1 MB/s"')
    )
    assert (line.outcome, line.why) == ("UNDECIDED", "PingPong has no bandwidth")


@pytest.mark.parametrize("launches", [1, 5])
def test_few_launches_neither_pass_nor_fail(launches: int) -> None:
    found = measured(launches=launches)
    assert outcomes('[[limit]]\nbenchmark = "PingPong"\ntime = "9 s"', found) == ["UNDECIDED"] * 2


@pytest.mark.parametrize("launches", [1, 5])
def test_what_few_launches_plainly_violate_fails(launches: int) -> None:
    """The vendor's 18.6 µs against at most 10 µs: nothing that is known speaks for it."""
    (line,) = against_limits(
        measured(18.6, launches=launches, sizes=(8,)),
        limits('[[limit]]\nbenchmark = "PingPong"\ntime = "10 us"'),
    )
    assert (line.outcome, line.why) == ("FAIL", "no interval known")


def test_a_limit_within_the_range_of_few_launches_is_not_plainly_violated() -> None:
    assert outcomes(
        '[[limit]]\nbenchmark = "PingPong"\ntime = "1 us"', measured(launches=5, sizes=(8,))
    ) == ["UNDECIDED"]


def test_point_values_are_judged_as_such_when_that_is_asked_for() -> None:
    found = measured(launches=1, time_worst_s=9e-6)
    demands = limits('[[limit]]\nbenchmark = "PingPong"\ntime = { 8 = "1.1 us", 8Ki = "1.5 us" }')
    lines = against_limits(found, demands, points=True)
    assert [(line.outcome, line.why) for line in lines] == [
        ("PASS", "no interval known"),
        ("FAIL", "no interval known"),
    ]
    assert "±?" in as_table(CheckResult(tuple(lines)))
    full = against_limits(measured(), demands, points=True)
    assert [line.why for line in full] == ["", ""]


def test_point_values_against_a_reference() -> None:
    reference, run = Side("A", measured()), Side("B", measured(launches=1))
    for points, outcome in ((False, "UNDECIDED"), (True, "PASS")):
        lines, _ = against_reference(reference, run, 0.1, points)
        assert {line.outcome for line in lines} == {outcome}
    slow = Side("C", measured(2.0, launches=1))
    assert {line.outcome for line in against_reference(reference, slow, 0.1)[0]} == {"FAIL"}


def test_limits_of_figures() -> None:
    figures = [Figure(i, "HPL", "rate", 100 + i, "GFLOP/s", "higher") for i in range(6)]
    found = items([], figures)
    assert outcomes('[[figure]]\nbenchmark = "HPL"\nat_least = 90', found) == ["PASS"]
    assert outcomes('[[figure]]\nbenchmark = "HPL"\nname = "rate"\nat_least = 110', found) == [
        "FAIL"
    ]
    assert outcomes('[[figure]]\nbenchmark = "HPL"\nat_most = 103', found) == ["UNDECIDED"]
    assert outcomes('[[figure]]\nbenchmark = "HPL"\nname = "RSS"\nat_most = 103', found) == [
        "UNDECIDED"
    ]


def test_the_tolerance_of_the_file_holds_where_none_is_said() -> None:
    first, second = limits(
        'tolerance = 0.1\n[[limit]]\nbenchmark = "PingPong"\ntime = "1 us"\nbandwidth = "1 MB/s"\n'
    )
    assert first.allowed == pytest.approx(1.1e-6)
    assert second.allowed == pytest.approx(0.9e6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1 of limits.toml: it holds no [[limit]] and no [[figure]]"),
        ("[[limit]\n", "line 1 of limits.toml is not TOML"),
        ("x = 1", "line 1 of limits.toml: there is no 'x' here; there are tolerance, limit"),
        ("\n[limit]\nbenchmark = 'PingPong'", "line 2 of limits.toml: write [[limit]], with two"),
        ("[[limit]]\ntime = '1 us'", "line 1 of limits.toml: it has no benchmark"),
        ("[[limit]]\nbenchmark = 'PingPong'", "line 1 of limits.toml: [[limit]] limits nothing"),
        ("[[limit]]\nbenchmark = 'PingPnog'\ntime = '1 us'",
         "line 2 of limits.toml: there is no benchmark 'PingPnog'; did you mean 'PingPong'?"),
        ("[[limit]]\nbenchmark = 'PingPong'\n\ntimes = '1 us'",
         "line 4 of limits.toml: there is no 'times' here; did you mean 'time'?"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = 1.5",
         "line 3 of limits.toml: 1.5 has no unit; write time such as 1.5 us"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1.5 GB/s'",
         "line 3 of limits.toml: time: '1.5 GB/s' is not a time such as 1.5 us; the units are ns"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '0 us'", "line 3 of limits.toml: time: '0 us'"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1 us'\nsizes = '8..x'",
         "line 4 of limits.toml: sizes: '8..x'"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = { 8x = '1 us' }",
         "line 3 of limits.toml: time: '8x' is not a size"),
        ("[[limit]]\nbenchmark = 'PingPong'\nsizes = '8'\ntime = { 8 = '1 us' }",
         "line 3 of limits.toml: time names its sizes itself"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1 us'\nranks = 'two'",
         "line 4 of limits.toml: ranks is 'two'; it has to be a whole number"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1 us'\nmemory = 'gpu'",
         "line 4 of limits.toml: there is no memory 'gpu'; there are host, pinned, device"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1 us'\nmemory = 'device:'",
         "line 4 of limits.toml: there is no memory 'device:'; did you mean 'device'?"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1 us'\nmemory = 'a:b:c'",
         "line 4 of limits.toml: there is no memory 'a:b:c'"),
        ("[[limit]]\nbenchmark = 'PingPong'\ntime = '1 us'\ncache = 'warm'",
         "line 4 of limits.toml: there is no cache 'warm'; there are hot, cold"),
        ("[[limit]]\nbenchmark = 'Uniband'\n[[limit]]\nbenchmark = 'Uniband'\ntolerance = '120%'",
         "line 1 of limits.toml: [[limit]] limits nothing"),
        (2 * "[[figure]]\nbenchmark = 'a'\nat_most = 1\n" + "tolerance = '120%'",
         "line 7 of limits.toml: '120%' is not a share"),
        ("[[figure]]\nbenchmark = 'HPL'", "line 1 of limits.toml: [[figure]] limits nothing"),
        ("[[figure]]\nbenchmark = 'HPL'\nat_least = nan", "line 3 of limits.toml: at_least is nan"),
        ("[[figure]]\nbenchmark = 'HPL'\nat_least = 'fast'",
         "line 3 of limits.toml: at_least is 'fast'; it has to be a number"),
    ],
)  # fmt: skip
def test_wrong_limits_name_their_line(text: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        limits(text)
    assert str(error.value).startswith(why)


# --- a reference ----------------------------------------------------------------------------------
def referred(reference: tuple[Item, ...], run: tuple[Item, ...], tolerance: float = 0.1) -> Any:
    return against_reference(Side("reference", reference), Side("run", run), tolerance)[0]


@pytest.mark.parametrize(
    ("factor", "outcome"), [(0.5, "PASS"), (1.0, "PASS"), (1.1, "UNDECIDED"), (1.3, "FAIL")]
)
@pytest.mark.parametrize("launches", [6, 1])
def test_a_reference_with_launches_or_as_one_number(
    factor: float, outcome: str, launches: int
) -> None:
    (line,) = referred(measured(launches=launches, sizes=(8,)), measured(factor, sizes=(8,)))
    assert line.outcome == outcome
    assert ("the reference is one number" in line.why) == (launches == 1)


def test_figures_of_a_reference_go_by_their_direction() -> None:
    def rate(value: float) -> tuple[Item, ...]:
        return items(
            [], [Figure(i, "HPL", "rate", value + i / 10, "GF", "higher") for i in range(6)]
        )

    assert [line.outcome for line in referred(rate(100), rate(80))] == ["FAIL"]
    assert [line.outcome for line in referred(rate(100), rate(120))] == ["PASS"]


def test_what_the_reference_has_not_is_undecided() -> None:
    (line,) = referred(measured(ranks=4), measured())
    assert line.outcome == "UNDECIDED"
    assert "ranks: 4 in reference, 2 in run" in line.why
    more = measured() + measured(sizes=(64,))
    lines, notes = against_reference(Side("A", more), Side("B", measured()), 0.1)
    assert [line.outcome for line in lines] == ["PASS", "PASS"]
    assert notes == ["not checked: PingPong: 1 row only in A"]
    one, two = Side("A", more, facts={"hosts": "1"}), Side("B", more, facts={"hosts": "2"})
    assert against_reference(one, two, 0.1)[1] == ["measured otherwise: hosts: 1 (A) against 2 (B)"]


def test_wrong_data_fail() -> None:
    (line, _) = right_data(measured(wrong_count=3))
    assert (line.outcome, line.what) == ("FAIL", "data")
    assert line.why == "wrong data: 18 elements differ from the sender's"
    assert right_data(measured()) == []


# --- peers ----------------------------------------------------------------------------------------
def pairs_of(slow: dict[tuple[int, int], float], ranks: int = 8) -> list[CheckLine]:
    pairs = [
        RankPair(
            a, b, "node", Estimate(*(slow.get((a, b), 1.0) * x * 1e-6 for x in (1, 0.99, 1.01)))
        )
        for a in range(ranks)
        for b in range(a + 1, ranks)
    ]
    return list(against_peers("PingPong 8 B", clusters(pairs, ["node"]), lambda r: f"core {r}"))


def test_peers() -> None:
    assert [(each.outcome, each.why) for each in pairs_of({})] == [
        ("PASS", "28 pairs like their peers")
    ]
    (line,) = pairs_of({(1, 3): 2.0})
    assert (line.outcome, line.name) == ("FAIL", "PingPong 8 B, core 1 with core 3")
    (line,) = pairs_of({(min(2, r), max(2, r)): 1.5 for r in range(8) if r != 2})
    assert (line.outcome, line.name) == ("FAIL", "PingPong 8 B, core 2")
    (line,) = pairs_of({}, ranks=3)
    assert line.outcome == "UNDECIDED"


# --- measured again -------------------------------------------------------------------------------
def test_what_failed_is_judged_by_its_second_measurement() -> None:
    demands = limits('[[limit]]\nbenchmark = "PingPong"\ntime = { 8 = "1.2 us", 8Ki = "1 us" }')
    bad, good = against_limits(measured(2), demands), against_limits(measured(), demands)
    held = once_more(bad, good)
    assert [(line.outcome, line.again) for line in held] == [("PASS", True), ("FAIL", True)]
    assert once_more(good[:1], bad) == good[:1]


def test_the_plan_is_narrowed_to_what_failed() -> None:
    part = PlanPart(("PingPong", "Allreduce"), 4, ranks=(2, 4), sizes=(0, 8, 64))
    near = PlanPart(("PingPong",), 2, placement="l3")
    plan = Plan((part, near), "mpich", seed=7)
    failed = [
        cells.cell("PingPong", message_bytes=8),
        cells.cell("Allreduce", message_bytes=8, ranks=4),
        cells.cell("Allreduce", message_bytes=64, ranks=4),
    ]
    found = narrowed(plan, failed)
    assert found is not None
    assert [(p.benchmarks, p.ranks, p.sizes) for p in found.parts] == [
        (("PingPong",), (2,), (8,)),
        (("Allreduce",), (4,), (8, 64)),
    ]
    assert found.seed != plan.seed
    placed = narrowed(plan, [cells.cell("PingPong", message_bytes=8, placement="l3")])
    assert placed is not None
    assert [(p.placement, p.ranks, p.sizes) for p in placed.parts] == [("l3", (), (8,))]
    assert narrowed(plan, [cells.cell("Bcast")]) is None


def test_a_program_that_is_not_ours_is_run_again_as_it_is() -> None:
    hpl = Foreign("HPL", ("xhpl",), (Merit("rate", "higher", regex="(.*)"),), ranks=4)
    parts = [PlanPart(("HPL",), 4, foreign=hpl, arm=arm) for arm in ("", "X=1")]
    plan = Plan((PlanPart(("PingPong",), 2), *parts), "mpich", seed=7)
    failed = Figure(0, "HPL", "rate", 41.5, "GFLOP/s", "higher", arm="X=1")
    found = narrowed(plan, [failed])
    assert found is not None
    assert found.parts == (parts[1],)
    assert narrowed(plan, [Figure(0, "PingPong", "rate", 1.0, "", "")]) is None


# --- formats --------------------------------------------------------------------------------------
def some() -> list[CheckLine]:
    demands = limits(
        '[[limit]]\nbenchmark = "PingPong"\ntime = { 8 = "1.2 us", 8Ki = "1 us", 9 = "1 s" }'
    )
    return against_limits(measured(), demands)


def test_for_people() -> None:
    assert as_table(CheckResult(tuple(some()), ("a note",))).splitlines() == [
        "           what                             measured       ±          allowed",
        "PASS       PingPong 8 B on 2 ranks    time   1.00 µs  ±1.2 %  at most 1.20 µs",
        "FAIL       PingPong 8 KiB on 2 ranks  time   2.02 µs  ±1.8 %  at most 1.00 µs",
        "UNDECIDED  PingPong 9 B               time  not measured",
        "",
        "FAIL: 1 FAIL, 1 UNDECIDED, 1 PASS",
        "a note",
    ]


def test_json() -> None:
    data = json.loads(as_json(CheckResult(tuple(some()))))
    assert data["outcome"] == "FAIL"
    assert [line["outcome"] for line in data["lines"]] == ["PASS", "FAIL", "UNDECIDED"]
    assert data["lines"][0]["allowed"] == pytest.approx(1.2e-6)
    assert data["lines"][2]["value"] is None


@pytest.mark.parametrize(("undecided", "failures", "skipped"), [("fail", 2, 0), ("pass", 1, 1)])
def test_junit(undecided: str, failures: int, skipped: int) -> None:
    root = ET.fromstring(as_junit(CheckResult(tuple(some())), "check <run>", undecided))
    (suite,) = root
    assert suite.attrib["name"] == "check <run>"
    assert [suite.attrib[name] for name in ("tests", "failures", "skipped")] == [
        "3", str(failures), str(skipped),
    ]  # fmt: skip
    assert len(suite.findall("testcase/failure")) == failures
    (failure, *_) = suite.findall("testcase/failure")
    assert failure.attrib["message"].startswith("FAIL: 2.0")
    assert "at most 1.00 µs is allowed" in failure.attrib["message"]


def test_names() -> None:
    (item,) = measured(sizes=(8,), placement="l3", arm="X=1", cache="cold")
    assert name_of(item) == "PingPong 8 B on 2 ranks [l3, X=1, cold]"
    (item,) = measured(sizes=(8,), groups=2, group=1, threads=3)
    assert name_of(item) == "PingPong 8 B on 2 ranks [2 groups, group 1, 3 threads]"
    assert CheckResult(()).outcome == "PASS"


def test_figures_without_direction_are_named() -> None:
    figures = items([], [Figure(i, "app", "cells", 5.0 + i, "", "") for i in range(6)])
    lines, notes = against_reference(Side("A", figures), Side("B", figures), 0.1)
    assert (lines, notes) == ([], ["not checked: app cells has no better direction"])


def test_lines_are_told_apart_by_all_of_their_columns() -> None:
    """Two groups side by side have one name and two numbers."""
    demand = limits('[[limit]]\nbenchmark = "PingPong"\ntime = "1.2 us"')
    first = measured(2, sizes=(8,), group=0) + measured(2, sizes=(8,), group=1)
    later = measured(1, sizes=(8,), group=0) + measured(2, sizes=(8,), group=1)
    held = once_more(against_limits(first, demand), against_limits(later, demand))
    assert [line.outcome for line in held] == ["PASS", "FAIL"]


# --- the command ----------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "a", 1.0, 1, sizes=(8, 8192))
    store(tmp_path / "slow", 1.5, 2, sizes=(8, 8192))
    store(tmp_path / "one", 1.0, 2, sizes=(8, 8192), launches=1)
    store(tmp_path / "four", 1.0, 2, sizes=(8, 8192), launches=4)
    assert cli(["import", str(VENDOR), "--output", "vendor"]) == 0
    good, bad, near = (
        f'[[limit]]\nbenchmark = "PingPong"\ntime = "{time}"\n'
        for time in ("9 us", "0.1 us", "2.02 us")
    )
    reduce = '[[limit]]\nbenchmark = "Allreduce"\nsizes = "8..32"\ntime = "10 us"\n'
    texts = {"good": good, "bad": bad, "near": near, "reduce": reduce}
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("a --against good.toml", 0),
        ("one --against good.toml", 1),
        ("one --against good.toml --undecided pass", 0),
        ("one --against bad.toml --undecided pass", 1),
        ("four --against good.toml", 1),
        ("four --against good.toml --undecided pass", 0),
        ("four --against good.toml --points", 0),
        ("four --against bad.toml --undecided pass", 1),
        ("vendor --against reduce.toml --points", 1),
        ("vendor --against reduce.toml --points --undecided pass", 1),
        ("a --against bad.toml", 1),
        ("a --against near.toml", 1),
        ("a --against near.toml --undecided pass", 0),
        ("a --against slow", 0),
        ("slow --against a", 1),
        ("slow --against a --tolerance 90%", 0),
        ("slow --against a --format json", 1),
        ("a --against a --only cache=hot", 0),
    ],
)
def test_exit_status(folder: Path, words: str, status: int) -> None:
    assert folder.is_dir()
    assert cli(["check", *words.split()]) == status


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("a", "there is nothing to check in a"),
        ("a --points", "--points is about limits or another run; name them with --against"),
        ("vendor --against reduce.toml", "give --points to judge them by their values alone"),
        ("vendor --against reduce.toml --undecided pass",
         "vendor was imported and has one launch of each number that is to be checked"),
        ("a --tolerance 5%", "--tolerance and --only are about another run; name it"),
        ("a --against good.toml --tolerance 5%", "are for another run; give both in good.toml"),
        ("a --against none.toml", "cannot read none.toml: No such file"),
        ("a --against nothing", "there is no run 'nothing'"),
        ("a --against good.toml --junit x/y.xml", "cannot write x/y.xml: there is no folder x"),
    ],
)  # fmt: skip
def test_wrong_words(
    folder: Path, words: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folder.is_dir()
    assert cli(["check", *words.split()]) == 2
    assert why in capsys.readouterr().err


def test_a_run_without_a_plan_is_not_measured_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is not done is said, and FAIL stays."""
    words = ["check", "a", "--against", "bad.toml", "--again", "--junit", "out.xml"]
    assert cli(words) == 1
    assert "not measured again: a/run.json holds no plan" in capsys.readouterr().out
    assert ET.parse(folder / "out.xml").getroot().attrib["failures"] == "2"


def test_a_second_measurement_that_is_good_passes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def measured_again(stored: Any, wanted: Any, output: Any, view: Any) -> Any:
        del stored, output, view
        asked.extend(cell.message_bytes for cell in wanted)
        return load(folder / "a")

    monkeypatch.setattr("mpigauge.products.check.checking.measured_again", measured_again)
    (folder / "mid.toml").write_text(
        '[[limit]]\nbenchmark = "PingPong"\ntime = { 8 = "1.2 us", 8Ki = "9 us" }\n'
    )
    assert cli(["check", "slow", "--against", "mid.toml", "--again"]) == 0
    assert asked == [8]
    out = capsys.readouterr().out
    assert "PASS: 2 PASS; 1 measured again" in out
    assert "measured again in " in " ".join(out.split())
