# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pictures in README and the documentation show what the program prints today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.result.run_result import RunResult
from mpigauge.session.run_names import open_run
from mpigauge.show.kinds import PLOTS, picture_of
from tools import pictures

_ROW = re.compile(r"^ +(\d+) +\d+ +([\d.]+)(?: +([\d.]+))?(?: +[\d.]+)*$", re.MULTILINE)
"""Of a table of IMB: bytes, repetitions, then t[usec], or the smallest and the largest of ranks."""


def test_pictures_are_what_is_printed_today(capsys: pytest.CaptureFixture[str]) -> None:
    assert pictures.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", ["quick.svg", "latency.svg", *pictures.OF_OTHERS])
def test_pictures_need_no_network(name: str) -> None:
    text = (pictures.FOLDER / name).read_text(encoding="utf-8")
    assert text.replace("http://www.w3.org/2000/svg", "").count("http") == 0
    assert "url(" not in text.replace("url(#", "")


@pytest.mark.parametrize("name", ["epyc-placements.svg", "oci-allreduce.svg", "juno-boards.svg"])
def test_pictures_of_others_have_their_numbers(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each point is a line of a table that they printed, and each such line is a point."""
    monkeypatch.chdir(tmp_path)
    kind, files = pictures.OF_OTHERS[name]
    printed: dict[str, list[tuple[int, float]]] = {}
    for called, printed_as in files.items():
        text = (pictures.ROOT / pictures.PRINTED / f"{printed_as}.txt").read_text(encoding="utf-8")
        Path(f"{called}.txt").write_text(text)
        largest = 3 if kind == "collectives" else 2
        rows = ((int(row[1]), float(row[largest])) for row in _ROW.finditer(text))
        printed[called] = [row for row in rows if row[0] or kind != "collectives"]
    assert (
        run(["import", *(f"{called}.txt" for called in files), "--apart", "--output", "all"]) == 0
    )
    plot = picture_of(PLOTS[kind], [RunResult.of("", open_run("all"))]).plot
    assert plot is not None
    (panel,) = plot.panels
    seen = {}
    for series in panel.series:
        (called,) = printed.keys() & set(series.name.split(" · "))
        seen[called] = [(int(p.x), round(p.y * 1e6, 4)) for p in series.points]
    assert seen == printed
