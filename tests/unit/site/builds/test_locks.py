# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Locks of builds: the holder works, others report that they wait for it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from mpigauge.site.builds.folders import locked

if TYPE_CHECKING:
    from pathlib import Path


def test_a_free_lock_is_taken_without_a_report(tmp_path: Path) -> None:
    reports: list[str] = []
    with locked(tmp_path / "build.lock", tell=reports.append) as held:
        assert held
    assert reports == []


def test_a_wait_for_another_process_is_reported(tmp_path: Path) -> None:
    path, reports, waits = tmp_path / "build.lock", list[str](), threading.Event()

    def report(line: str) -> None:
        reports.append(line)
        waits.set()

    def build() -> None:
        with locked(path, tell=report) as held:
            reports.append(f"held: {held}")

    with locked(path):
        other = threading.Thread(target=build)
        other.start()
        assert waits.wait(60)
        assert reports == [f"waiting for another process, which holds {path}"]
    other.join(60)
    assert reports[1:] == ["held: True"]


def test_a_lock_that_is_not_waited_for_is_refused(tmp_path: Path) -> None:
    reports: list[str] = []
    with (
        locked(tmp_path / "build.lock"),
        locked(tmp_path / "build.lock", wait=False, tell=reports.append) as held,
    ):
        assert not held
    assert reports == []
