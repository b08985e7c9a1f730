# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A folder of runs in Debian's Chromium: found, filtered, put side by side, seen over time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import nights, pages
from tests.e2e.debian import needs_root

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.debian import Installed

pytestmark = [pytest.mark.heavy, needs_root]
HERE = "tests/e2e/browse_in_browser.py"
LOOKS = ["runs dark", "runs phone", "beside phone", "trends phone", "trend light"]


@pytest.fixture(scope="module")
def seen(
    repository: Path, chromium: Installed, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("browser")
    runs = nights.folder(folder / "runs")
    done = chromium.python(str(repository / HERE), str(runs), cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", LOOKS)
def test_pages_are_quiet_and_shut_nobody_out(seen: dict[str, Any], name: str) -> None:
    said = seen["looks"][name]
    assert said["heard"] == []
    assert said["violations"] == []
    assert said["passes"] > 15
    assert said["fits"]


def test_pages_are_dark_where_people_want_it(seen: dict[str, Any]) -> None:
    assert seen["looks"]["trend light"]["paper"] == "rgb(255, 255, 255)"
    assert seen["looks"]["runs dark"]["paper"] == "rgb(20, 23, 27)"


def test_runs_are_found_by_every_control(seen: dict[str, Any]) -> None:
    used = seen["used"]
    assert len(used["all"]) == nights.NIGHTS + 2
    assert pages.NAME in used["all"]
    found = used["found"]
    assert found["mpi"] == nights.NIGHTS
    assert found["days"] == [f"night{number:02}" for number in reversed(range(4, 12))]
    assert found["where"] == ["night11", "night10", "night09", "night08"]
    assert found["find"] == ["night11", "night10"]
    assert found["kept"] == "kernel = '6.1.0-18'"
    assert found["again"] == nights.NIGHTS + 2


def test_two_runs_are_put_side_by_side(seen: dict[str, Any]) -> None:
    said = seen["used"]["beside"]
    assert said["said"] == "night12 takes 20 % more time."
    assert [name.strip() for name in said["curves"]] == ["night00", "night12"]
    assert said["verdicts"].count("SLOWER") == 3  # at two sizes, and over both
    assert seen["used"]["report"].endswith(" on n1")


def test_a_trend_shows_its_step_and_what_changed(seen: dict[str, Any]) -> None:
    said = seen["used"]["trend"]
    assert said["said"].startswith("SLOWER since 2026-10-09 (night08): 1.199 times")
    assert said["point"].startswith("runs, 2026-10-01 03:00: 1.01 µs (")
    assert said["marks"] == ["1"]
    assert said["change"][3] == "kernel: 6.1.0-17 → 6.1.0-18"
    assert said["change"][-1] == "SLOWER"


def test_nothing_else_is_asked_for_and_nothing_complains(seen: dict[str, Any]) -> None:
    requests = [each for each in seen["used"]["heard"] if each.startswith("request: ")]
    assert len(requests) > 8
    assert all(each.startswith(f"request: {seen['address']}") for each in requests)
    assert seen["used"]["heard"] == requests
