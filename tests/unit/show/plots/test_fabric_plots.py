# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plots of a network: pairs, impacts, hosts and rounds."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.draw.plot import Panel, Picture
from mpigauge.draw.terminal import lines
from mpigauge.model.errors import UserError
from mpigauge.model.screen import Screen
from mpigauge.result.fabric.impact import AGGRESSORS, VICTIMS
from mpigauge.result.run_result import RunResult
from mpigauge.runs.store import load
from mpigauge.show.kinds import PLOTS, picture_of
from tests import fabrics, runs

PRINTED = Path(__file__).parents[3] / "golden/printed/gpcnet.txt"
KINDS = ("pairs", "impact", "hosts", "spread")


def slow(pair: tuple[int, int]) -> float:
    return 0.5 if 3 in pair else 1.0


def drawn(kind: str, *folders: Path) -> Picture:
    shown = [RunResult.of(folder.name, load(folder)) for folder in folders]
    picture = picture_of(PLOTS[kind], shown)
    ET.fromstring(picture.svg)
    return picture


def panels(picture: Picture) -> tuple[Panel, ...]:
    assert picture.plot is not None
    return picture.plot.panels


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_drawn_in_a_terminal(kind: str, tmp_path: Path) -> None:
    picture = drawn(kind, fabrics.run(tmp_path / "run", slow, halves=slow))
    for screen in (Screen(80, 24), Screen(80, 24, 256)):
        printed = lines(picture, screen)
        assert printed is not None
        assert max(len(re.sub("\033\\[[0-9;]*m", "", line)) for line in printed) <= 80


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_without_a_network_has_none(kind: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"there is no plot '{kind}' in this run"):
        drawn(kind, runs.write(tmp_path / "run"))


def test_pairs_have_the_share_of_what_they_have_alone(tmp_path: Path) -> None:
    picture = drawn("pairs", fabrics.run(tmp_path / "run", slow))
    shares = {row[1:3]: row[3] for row in picture.rows}
    assert shares["n3", "n5"] == "50 %"
    assert shares["n0", "n5"] in ("99 %", "100 %", "101 %")
    assert "n3 with n5: 50 %" in picture.svg
    dark, light = (
        re.search(rf'fill="(#\w+)"><title>{pair}:', picture.svg)
        for pair in ("n3 with n5", "n0 with n5")
    )
    assert dark is not None
    assert light is not None
    assert dark[1] < light[1]


def test_many_hosts_are_folded_by_group(tmp_path: Path) -> None:
    hosts = [f"c{place:02}" for place in range(80)]
    groups = [f"leaf{place // 20}" for place in range(80)]
    across = lambda pair: 0.6 if pair[0] // 20 != pair[1] // 20 else 1.0  # noqa: E731
    picture = drawn("pairs", fabrics.run(tmp_path / "run", across, hosts=hosts, groups=groups))
    assert "leaf0 with leaf3: 60 %" in picture.svg
    assert "leaf2 with leaf2: 100 %" in picture.svg
    assert "<title>c00" not in picture.svg
    assert "pairs never met in a round" in picture.notes[0]


def test_very_many_hosts_without_groups_are_folded_into_blocks(tmp_path: Path) -> None:
    hosts = [f"c{place:03}" for place in range(320)]
    across = lambda pair: 0.6 if pair[0] < 5 or pair[1] < 5 else 1.0  # noqa: E731
    picture = drawn("pairs", fabrics.run(tmp_path / "run", across, hosts=hosts))
    assert "<title>c000 to c004 with " in picture.svg
    assert picture.svg.count("<title>") <= 64 * 64
    assert "a square is the median of all pairs of its hosts, in blocks" in " ".join(picture.notes)


def test_impacts_have_intervals_and_stopped_rows_are_missing(tmp_path: Path) -> None:
    folder = fabrics.run(tmp_path / "run", names=VICTIMS, stopped="put")
    each = panels(drawn("impact", folder))
    assert [panel.title for panel in each] == [
        "Latency 8 B", "Allreduce 8 B", "Ring 1 MiB", "Allreduce 1 MiB"
    ]  # fmt: skip
    for panel in each:
        assert panel.level == 1
        assert [series.name for series in panel.series] == ["median", "99 %"]
        for series in panel.series:
            assert len(series.points) == len(AGGRESSORS) - 1
            assert all(point.low <= point.y <= point.high for point in series.points)


def test_a_slow_host_is_marked(tmp_path: Path) -> None:
    picture = drawn("hosts", fabrics.run(tmp_path / "run", slow, slow))
    (panel,) = panels(picture)
    blamed = next(series for series in panel.series if series.name == "named as slow")
    (point,) = blamed.points
    assert panel.x.words(point.x) == "n3"
    assert point.y == pytest.approx(0.5, rel=0.02)
    assert [row[1] for row in picture.rows if row[-1]] == ["n3"]
    assert picture.notes[-1].startswith("SLOW: host n3")


def test_of_many_hosts_the_slowest_are_drawn(tmp_path: Path) -> None:
    hosts = [f"c{place:02}" for place in range(24)]
    picture = drawn("hosts", fabrics.run(tmp_path / "run", slow, slow, hosts=hosts))
    (panel,) = panels(picture)
    assert len(panel.x.names) == 16
    assert "c03" in panel.x.names
    assert len(picture.rows) == 24
    assert "the table has 8 more" in picture.notes[0]


def test_the_worst_round_is_marked(tmp_path: Path) -> None:
    folder = fabrics.run(tmp_path / "run", halves=lambda pair: 0.2 if pair == (2, 5) else 0.8)
    pairs, halves = panels(drawn("spread", folder))
    assert (pairs.title, halves.title) == ("random pairs", "halves by name")
    (mark,) = halves.marks
    assert mark.x == min(point.x for point in halves.series[0].points)
    assert mark.x == pytest.approx(0.65, rel=0.02)
    assert "the least has n2 with n5, 20 %" in mark.words[0]
    assert len(pairs.series[0].points) == fabrics.ROUNDS


def test_several_runs_are_beside_each_other(tmp_path: Path) -> None:
    both = fabrics.run(tmp_path / "a"), fabrics.run(tmp_path / "b", slow, slow)
    assert [panel.title for panel in panels(drawn("hosts", *both))] == ["a", "b"]
    (spread,) = panels(drawn("spread", *both))
    assert [series.name for series in spread.series] == ["a", "b"]
    assert [mark.label for mark in spread.marks] == ["worst a", "worst b"]
    (impact,) = panels(drawn("impact", *both))
    assert "99 % · b" in [series.name for series in impact.series]


def test_the_command_writes_a_picture(tmp_path: Path) -> None:
    stored, file = str(fabrics.run(tmp_path / "run")), tmp_path / "pairs.svg"
    assert mpigauge(["plot", stored, "pairs", "-o", str(file)]) == 0
    assert "n0 with n1" in file.read_text()


def test_factors_that_gpcnet_printed_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mpigauge(["import", str(PRINTED), "--output", "gpcnet"]) == 0
    (panel,) = panels(drawn("impact", tmp_path / "gpcnet"))
    factors = {series.name: [point.y for point in series.points] for series in panel.series}
    assert factors == {"Avg": [2.5, 2, 3], "99%": [20, 4, 16]}
    assert panel.x.names[2] == "Multiple Allreduce (8 B)"


def imported(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of what another program printed."""
    monkeypatch.chdir(tmp_path)
    assert mpigauge(["import", str(PRINTED.with_name(name)), "--output", "run"]) == 0
    return tmp_path / "run"


def test_a_matrix_of_mpigraph_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that its third host has a part in is slow by half. No pair was measured alone."""
    folder = imported("mpigraph.txt", tmp_path, monkeypatch)
    pairs = drawn("pairs", folder)
    shares = {row[1:3]: row[3] for row in pairs.rows}
    assert len(shares) == 6
    assert pairs.heads[3] == "share of the median"
    assert "n1 with n2" in pairs.svg
    slow_ones = {pair for pair, share in shares.items() if int(share.split()[0]) < 80}
    assert slow_ones == {pair for pair in shares if "n3" in pair}
    (hosts,) = panels(drawn("hosts", folder))
    assert hosts.x.names == ("n1", "n2", "n3", "n4")
    points = {hosts.x.words(point.x): point.y for series in hosts.series for point in series.points}
    assert min(points, key=points.__getitem__) == "n3"
    (spread,) = panels(drawn("spread", folder))
    (curve,) = spread.series
    assert (curve.name, len(curve.points)) == ("mpiGraph", 6)


def test_a_matrix_of_hp2p_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = imported("hp2p.txt", tmp_path, monkeypatch)
    assert drawn("pairs", folder).heads[3] == "share of the median"
    assert panels(drawn("hosts", folder))
    (spread,) = panels(drawn("spread", folder))
    assert [series.name for series in spread.series] == ["HP2P"]
    with pytest.raises(UserError, match="there is no plot 'impact' in this run"):
        drawn("impact", folder)
