# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The page of a profile in Debian's Chromium: all can read it, and its tables are sorted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.products.profile.kind import page_of
from tests import profiles
from tests.e2e.debian import needs_root

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.debian import Installed

pytestmark = [pytest.mark.heavy, needs_root]
HERE = "tests/e2e/profile_in_browser.py"


@pytest.fixture(scope="module")
def seen(
    repository: Path, chromium: Installed, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "page.html"
    page.write_text(page_of(str(profiles.stored(folder / "run", profiles.job()))))
    done = chromium.python(str(repository / HERE), str(page), cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("view", ["light", "dark", "phone"])
def test_the_page_is_quiet_and_shuts_nobody_out(seen: dict[str, Any], view: str) -> None:
    said = seen["views"][view]
    assert said["heard"] == []
    assert said["violations"] == []
    assert said["fits"]


def test_call_sites_are_sorted_by_any_column(seen: dict[str, Any]) -> None:
    used = seen["used"]
    by_time = ["MPI_Allreduce", "MPI_Send", "MPI_Waitall", "MPI_Init"]
    assert used["at first"] == by_time
    assert used["calls descending"] == by_time
    assert used["calls ascending"] == [*reversed(by_time)]
    assert used["call ascending"] == ["MPI_Allreduce", "MPI_Init", "MPI_Send", "MPI_Waitall"]
    assert used["call descending"] == [*reversed(used["call ascending"])]
    assert used["heard"] == []


def test_call_sites_are_found_by_words(seen: dict[str, Any]) -> None:
    assert seen["used"]["found"] == ["MPI_Send"]
    assert seen["used"]["said"] == "1 of 4 lines"
