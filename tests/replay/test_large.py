# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs too large to be read record by record: the same numbers, and a part that says so."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as main
from mpigauge.cli.runs.reporting import shown_of
from mpigauge.model.between import Between
from mpigauge.model.column_facts import OF_CURVES
from mpigauge.model.errors import UserError
from mpigauge.products.explain.registry import explain
from mpigauge.result.library import large
from mpigauge.result.run_result import RunResults
from mpigauge.result.run_view import RunView, members
from mpigauge.result.stats.curve_stats import Member, most_informative, usual, varied
from mpigauge.runs.store import load
from mpigauge.show.kinds import PLOTS, picture_of
from mpigauge.show.plots import usual as plot_usual
from mpigauge.show.web import every
from tests import cells, planted
from tests.pages import report_of

if TYPE_CHECKING:
    from pathlib import Path

SIZES = [0, 8, 1024, 65536]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three benchmarks under thirty settings in seven launches, one of them disturbed; a cell twice
    in a launch, one with wrong data, one of a single launch, a line that is not whole."""
    folder = tmp_path_factory.mktemp("large") / "run"
    measured = [
        cell
        for benchmark in ("PingPong", "Allreduce", "Bcast")
        for arm in range(30)
        for cell in planted.curve(
            planted.line(1e-6 * (1 + arm / 10)), benchmark, SIZES, launches=7,
            arm=f"A={arm}" if arm else "", wrong_count=int(benchmark == "Bcast" and arm == 17),
        )
    ]  # fmt: skip
    again = cells.cell("Bcast", launch=3, message_bytes=8, time_p50_s=9e-6, arm="A=4")
    alone = cells.cell("Bcast", launch=2, message_bytes=9, time_p50_s=3e-6, arm="A=5")
    three = planted.curve(planted.line(), "Bcast", [4], launches=3, arm="A=6")
    whole = [*measured, again, alone, *three]
    planted.store(planted.run(whole, planted.ranks(["0", "1"]), planted.LAPTOP), folder)
    records = folder / "records.jsonl"
    lines = records.read_text(encoding="utf-8").splitlines()
    lines.insert(400, '{"record":"cell","launch":')
    lines.insert(300, "")
    older = json.loads(lines[10])
    for name in ("placement", "arm", "layout"):
        del older[name]  # as versions wrote it that did not know them
    lines[10] = json.dumps(older)
    records.write_text("\n".join(lines) + "\n", encoding="utf-8")
    alike = json.dumps(Between(3, 0.3).to_json())  # launches that follow each other
    (folder / "history.json").write_text(alike, encoding="utf-8")
    return folder


def test_all_curves_are_as_they_are_read_one_by_one(path: Path) -> None:
    found = large.load_large(path)
    wanted = members(RunView.of(load(path)).curves)
    assert sorted(m[:4] for m in found.members) == sorted(m[:4] for m in wanted)
    by_name = {m[:4]: m for m in found.members}
    for each in wanted:
        mine = by_name[each[:4]]
        assert mine.times == pytest.approx(each.times, rel=1e-12)
        assert mine.errors == pytest.approx(each.errors, rel=1e-9)
        assert mine.wrong == each.wrong


def test_a_part_is_read_as_it_stands(path: Path) -> None:
    whole = load(path)
    found = large.load_large(path, rows=60)
    known = {(c.launch, c.key): c for c in whole.cells}
    assert 0 < len({c.key for c in found.run.cells}) <= 60
    assert all(known[c.launch, c.key].time_p50_s > 0 for c in found.run.cells)
    names = {(c.benchmark, c.arm) for c in found.run.cells}
    assert ("Bcast", "A=17") in names  # wrong
    assert {b for b, arm in names if arm == ""} == {"PingPong", "Allreduce", "Bcast"}
    assert ("PingPong", "A=29") in names  # the slowest
    assert found.run.ranks == whole.ranks
    assert found.run.launches == whole.launches
    assert found.run.damaged == whole.damaged
    assert len(found.run.damaged) == 1
    assert found.run.part.startswith("60 of 362 rows (")


def test_a_file_that_changes_meanwhile_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = large._lines
    monkeypatch.setattr(large, "_lines", lambda *of: [number + 1 for number in lines(*of)])
    with pytest.raises(UserError, match="was changed while it was read"):
        large.load_large(path, rows=20)


def test_what_is_chosen_by_its_times_proves_nothing(path: Path) -> None:
    part = large.load_large(path, rows=60).run
    blind = {name: each.reason for each in explain(part).blind for name in each.causes}
    assert "chosen by their times" in blind["better-setting"]
    assert "better-setting" not in {f.cause for f in explain(part).findings}


def test_a_large_run_has_a_report(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(large, "LARGE_BYTES", 1000)
    (shown,) = shown_of([str(path)])
    assert shown.arms is None
    assert RunResults([shown, shown]).comparison is None
    text = report_of(shown)
    assert "A part of a large run: 362 of 362 rows (" in text
    assert "The run has 362 rows of 90 curves." in text
    assert "the rows of this part" in text.lower()
    assert main(["report", str(path), str(path), "-o", str(tmp_path / "two.html")]) == 0
    said = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert "too large to be compared" in said
    assert main(["plot", str(path), "usual", "-o", str(tmp_path / "usual.svg")]) == 0
    assert "rows (90 of 90 curves) are examined closely" in capsys.readouterr().err


def test_a_page_carries_so_many_curves(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_BYTES", 1000)
    monkeypatch.setattr(every, "MOST_ROWS", 50)
    (shown,) = shown_of([str(path)])
    found = every.every(shown)
    assert found
    assert "The page carries the 12 that are farthest" in found.notes[1]
    monkeypatch.setattr(plot_usual, "MOST_PANELS", 2)
    picture = picture_of(PLOTS["usual"], [shown])
    assert picture.notes == ("1 more benchmarks or numbers of ranks are not drawn.",)


def member(name: str, time: float, wrong: int = 0) -> Member:
    told = (("arm", name),)
    return Member("PingPong", 2, told, (8, 16), (time, 2 * time), (math.nan, 0.1), wrong)


def test_the_usual_is_the_middle_of_all() -> None:
    found = usual([member("a", 1.0), member("b", 3.0), member("c", 5.0)])
    assert [(each.message_bytes, each.curves) for each in found] == [(8, 3), (16, 3)]
    assert found[0].times == (1.0, 2.0, 3.0, 4.0, 5.0)


def test_what_tells_most_is_wrong_or_usual_by_default_or_far_away() -> None:
    crowd = [member(f"A={t}", float(t)) for t in range(10, 20)]
    crowd += [member("", 15.0), member("A=bad", 15.0, wrong=1)]
    chosen = [dict(crowd[place].columns)["arm"] for place in most_informative(crowd, 8)]
    assert chosen == ["A=10", "A=19", "", "A=bad"]


def test_curves_are_told_apart_by_what_differs() -> None:
    one = tuple("PingPong" if name == "benchmark" else 1 for name in OF_CURVES)
    other = tuple(
        2 if name in ("ranks", "groups") else value
        for name, value in zip(OF_CURVES, one, strict=True)
    )
    assert varied([one, other]) == ["groups"]
    assert varied([one]) == []
    assert varied([]) == []
