# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The report in Debian's Chromium: nothing is loaded, every control works, all can read it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.result.run_result import RunResult
from mpigauge.session.run_names import open_run
from mpigauge.show.web import every
from tests import pages, planted
from tests.e2e.debian import needs_root
from tests.pages import report_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.debian import Installed

pytestmark = [pytest.mark.heavy, needs_root]
HERE = "tests/e2e/in_browser.py"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[RunResult]:
    path = pages.hostile(tmp_path_factory.mktemp("runs"))
    other = planted.run(planted.curve(planted.line(3e-6), sizes=pages.SIZES))
    network = replace(pages.network(tmp_path_factory.mktemp("network")), name="network")
    return [RunResult.of(path.name, open_run(str(path))), RunResult.of("other", other), network]


@pytest.fixture(scope="module")
def seen(
    shown: list[RunResult],
    repository: Path,
    chromium: Installed,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "page.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(every, "MANY_ROWS", 3)  # so that there is a section of all curves
        page.write_text(report_of(*shown), encoding="utf-8")
    done = chromium.python(str(repository / HERE), str(page), cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("view", ["light", "dark", "phone"])
def test_a_page_is_quiet_and_shuts_nobody_out(seen: dict[str, Any], view: str) -> None:
    said = seen["views"][view]
    assert said["heard"] == []
    assert said["violations"] == []
    assert said["passes"] > 20
    assert said["fits"]


def test_a_page_is_dark_where_people_want_it(seen: dict[str, Any]) -> None:
    papers = {name: view["paper"] for name, view in seen["views"].items()}
    assert papers["light"] == papers["phone"] == "rgb(255, 255, 255)"
    assert papers["dark"] == "rgb(20, 23, 27)"


def test_every_control_works(seen: dict[str, Any]) -> None:
    used = seen["used"]
    assert len(used["switches"]) > 10
    assert all(states == [True, False, True] for states in used["switches"])
    assert all(used["details"])
    assert used["cells"] == [f"PingPing · {n} B · 2 ranks" for n in (64, 8)]
    assert used["lost links"] == []
    hidden, visible = ["none", "inline", "none"], [None, "none", "inline"]
    assert used["ranges"] == [hidden, hidden, visible]  # beside panels of few curves
    assert used["heard"] == []


def test_any_curve_is_found_by_words_of_its_name(
    seen: dict[str, Any], shown: list[RunResult]
) -> None:
    (wanted,) = [m for m in shown[0].members if m.group == ("Allreduce", 4)]
    found = seen["used"]["found"]
    assert found["said"].startswith("1 of ")
    assert found["caption"] == "Allreduce · 4 ranks · float datatype · sum op · default"
    told = [float(word) for word in found["cells"]]
    assert told == pytest.approx([0, wanted.times[0] * 1e6, 100 * wanted.errors[0]], rel=1e-3)
    assert found["points"] == len(pages.SIZES)


def test_a_point_tells_its_value(seen: dict[str, Any]) -> None:
    first, last, second = seen["used"]["readouts"]
    assert "0 B: 1 µs (" in first
    assert last != first
    assert "1 B: 1 µs (" in second


def test_what_is_saved_are_the_numbers(seen: dict[str, Any], shown: list[RunResult]) -> None:
    saved = seen["used"]["downloads"]
    wanted = [row.latency.value for row in shown[0].document.rows]
    assert [row["latency_s"] for row in json.loads(saved["json"])["rows"]] == wanted
    from_csv = csv.DictReader(io.StringIO(saved["csv"]))
    assert [float(row["latency_s"]) for row in from_csv] == wanted


def test_without_script_everything_is_drawn(seen: dict[str, Any]) -> None:
    without = seen["without script"]
    assert len(without["drawings"]) == 17
    assert all(without["drawings"])
    assert not any(without["controls"])
