# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports of long builds: how far they are, and about how long they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.site.builds.progress import BuildProgress, steps_done

NINJA = "-- Build files\n[1/286] Building CXX object a.o\n[{}/286] Building CXX object b.o\n"
MAKE = "[  1%] Building CXX object a.o\n[ 25%] Building CXX object b.o\n"


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def reports(log: Path, texts: dict[float, str]) -> list[str]:
    """The reports of a build whose log has these texts after so many seconds."""
    clock, told = Clock(), list[str]()
    progress = BuildProgress(log, told.append, clock)
    for seconds, text in texts.items():
        log.write_text(text)
        clock.now_s = 100.0 + seconds
        progress.look()
    return told


def test_progress_comes_with_an_estimate(tmp_path: Path) -> None:
    told = reports(tmp_path / "log", {60.0: NINJA.format(143)})
    assert told == ["building the kernels: 143 of 286 steps, about 60 s left"]
    told = reports(tmp_path / "log", {120.0: MAKE})
    assert told == ["building the kernels: 25 %, about 6 min left"]


def test_a_short_build_reports_nothing(tmp_path: Path) -> None:
    assert reports(tmp_path / "log", {2.0: NINJA.format(9), 9.0: NINJA.format(280)}) == []


def test_reports_come_at_growing_intervals(tmp_path: Path) -> None:
    texts = {float(second): NINJA.format(second // 2) for second in range(2, 400, 2)}
    told = reports(tmp_path / "log", texts)
    assert [each.split()[3] for each in told] == ["5", "10", "20", "40", "70", "100", "130", "160",
                                                  "190"]  # fmt: skip


@pytest.mark.parametrize("text", ["", "-- Configuring done\n", "In file: [1/2]\n"])
def test_a_log_without_steps(tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text)
    assert steps_done(tmp_path / "log") is None
