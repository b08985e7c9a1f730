# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How often a stated interval covers the truth, from the kernels' own sampling to the row.

`replay` (kernels/tests/replay.cpp) runs the sampling of the kernels on a fake clock: the cell that
is looked at takes its times from a trace or from a made-up process, 11 others take time between its
visits. Its launches go through the statistics of a run. A trial is one run, of six launches, or of
as many as a campaign would start until the interval is narrow enough, twenty at most.

The truth is the median of the whole trace, and 1 µs for the processes (1 ms for the one that
blocks). Where there are two speeds, the middle of all calls is none of them; there it is what the
median over launches stands for, the speed that most launches show: the median of 4000 other
launches.

Covered in so many of 200 runs (percent, the lower of precision 5 % and 2 %; last column: of all
launches, the own interval of one, which does not know how launches differ and therefore is never
called the interval of a run); the tests make 100:

                  six launches   until narrow   one launch alone
    quiet-8B          100            100             96
    busy-8B            99             94             61
    quiet-1MiB        100            100             97
    busy-1MiB         100            100             93
    lognormal         100            100             94
    drift              97             97              6
    bimodal-slow       98            100             68
    bimodal-fast       97             99             71
    wandering          97             99             11
    interrupted       100            100             98

Of two runs of six launches of the same thing, none of 1000 pairs had intervals that stand apart.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL, aggregate, interval
from tests.cells import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.columns import Cell

TRIALS, MOST_LAUNCHES, SEED = 100, 20, 20261121
KERNELS = Path(__file__).resolve().parents[2] / "kernels"
BUILD = KERNELS.parent / "build"
TRACES = Path(__file__).resolve().parents[1] / "data" / "traces"
SOURCES = (
    "tests/replay.cpp",
    *(f"core/{name}.cpp" for name in ("sampling", "hits", "detours", "statistics", "turns")),
)
BYTES = {"quiet-8B": 8, "busy-8B": 8, "quiet-1MiB": 1 << 20, "busy-1MiB": 1 << 20}
TWO_SPEEDS = ("bimodal-slow", "bimodal-fast")
PROCESSES = ("lognormal", "drift", *TWO_SPEEDS, "wandering", "interrupted", "blocking")

TEMPLATE = cell()

Run = list["Cell"]


class Source(NamedTuple):
    """What `replay` is given, and what is true of it."""

    name: str
    bytes: int
    truth_s: float


# --- the program ----------------------------------------------------------------------------
@pytest.fixture(scope="session")
def replay() -> Path:
    """From the build of the C++ tests where that is current, else compiled here, and kept."""
    changed = max(map(_changed, KERNELS.rglob("*.?pp")))
    for program in (BUILD / "test" / "kernels" / "tests" / "replay", BUILD / "unit" / "replay"):
        if program.exists() and program.stat().st_mtime > changed:
            return program
    compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    assert compiler is not None, "needs a C++ compiler"
    program.parent.mkdir(parents=True, exist_ok=True)
    sources = [str(KERNELS / source) for source in SOURCES]
    with TemporaryDirectory(dir=program.parent) as folder:
        new = Path(folder) / "replay"
        words = [compiler, "-std=c++20", "-O2", f"-I{KERNELS}", *sources, "-o", str(new)]
        subprocess.run(words, check=True)
        new.replace(program)
    return program


def _changed(path: Path) -> float:
    return path.stat().st_mtime


@pytest.fixture(scope="session", params=[*BYTES, *PROCESSES])
def source(
    request: pytest.FixtureRequest, replay: Path, tmp_path_factory: pytest.TempPathFactory
) -> Source:
    name = str(request.param)
    if name in TWO_SPEEDS:
        return Source(
            name, 8, median(each.time_p50_s for each in launches(replay, name, 8, 0.05, 1))
        )
    if name in PROCESSES:
        return Source(name, 8, 20e-6 if name == "blocking" else 1e-6)
    with np.load(TRACES / f"{name}.npz") as data:
        calls = 2 * data["half_round_trip_ns"]
    file = tmp_path_factory.mktemp("traces") / name
    calls.astype("<u4").tofile(file)
    return Source(str(file), BYTES[name], float(np.median(calls)) * 1e-9)


@cache
def runs(replay: Path, source: Source, precision: float) -> list[Run]:
    """The launches of every trial, as many as a campaign may start."""
    cells = launches(replay, source.name, source.bytes, precision, SEED)
    return [cells[i : i + MOST_LAUNCHES] for i in range(0, len(cells), MOST_LAUNCHES)]


def launches(replay: Path, name: str, size: int, precision: float, seed: int) -> list[Cell]:
    lines = _lines(replay, name, size, precision, TRIALS * MOST_LAUNCHES, seed)
    return [_cell(line, i % MOST_LAUNCHES) for i, line in enumerate(lines)]


def _lines(replay: Path, *words: object) -> list[str]:
    done = subprocess.run(
        [str(replay), *map(str, words)], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def _cell(line: str, launch: int) -> Cell:
    value, low, high, rounds, stop, *_ = line.split()
    value_s, low_s, high_s = (float(ns) * 1e-9 for ns in (value, low, high))
    return replace(
        TEMPLATE,
        launch=launch,
        time_p50_s=value_s,
        ci_low_s=low_s,
        ci_high_s=high_s,
        chunks=int(rounds),
        rounds=int(rounds),
        stop=stop,
    )


# --- the rules ------------------------------------------------------------------------------
def until_narrow(cells: Run, precision: float) -> Run:
    """The launches that a campaign starts, which looks after each from the sixth on."""
    for n in range(LEAST_FOR_INTERVAL, len(cells)):
        value = median(each.time_p50_s for each in cells[:n])
        low, high = interval(cells[:n])[1]
        if max(high - value, value - low) <= precision * value:
            return cells[:n]
    return cells


def coverage(trials: Sequence[Run], truth_s: float) -> float:
    ends = [interval(cells)[1] for cells in trials]
    return sum(low <= truth_s <= high for low, high in ends) / len(ends)


# --- tests ----------------------------------------------------------------------------------
@pytest.mark.parametrize("precision", [0.05, 0.02])
def test_six_launches_cover_the_truth(replay: Path, source: Source, precision: float) -> None:
    trials = [cells[:LEAST_FOR_INTERVAL] for cells in runs(replay, source, precision)]
    assert {interval(cells)[0] for cells in trials} == {"interval"}
    assert coverage(trials, source.truth_s) >= 0.9


@pytest.mark.parametrize("precision", [0.05, 0.02])
def test_as_many_launches_as_it_takes_cover_the_truth(
    replay: Path, source: Source, precision: float
) -> None:
    trials = [until_narrow(cells, precision) for cells in runs(replay, source, precision)]
    assert coverage(trials, source.truth_s) >= 0.9


@pytest.mark.parametrize("source", ["quiet-8B", "quiet-1MiB", "interrupted"], indirect=True)
def test_the_interval_is_no_wider_than_it_must_be(replay: Path, source: Source) -> None:
    """Everything would cover; but what is quiet must also be said to be known well."""
    rows = [aggregate(cells[:LEAST_FOR_INTERVAL]) for cells in runs(replay, source, 0.05)]
    assert np.median([row.relative_error for row in rows]) <= 0.05


@pytest.mark.parametrize("source", TWO_SPEEDS, indirect=True)
def test_two_speeds_are_said(replay: Path, source: Source) -> None:
    rows = [aggregate(cells) for cells in runs(replay, source, 0.05)]
    assert sum("bimodal" in row.flags for row in rows) >= 0.9 * len(rows)


def test_fewer_launches_are_never_called_an_interval(replay: Path, source: Source) -> None:
    for cells in runs(replay, source, 0.05)[:20]:
        assert interval(cells[:1])[0] == "one launch"
        assert {interval(cells[:n])[0] for n in range(2, LEAST_FOR_INTERVAL)} == {"range"}


def test_two_runs_of_one_thing_agree(replay: Path, source: Source) -> None:
    """A/A: intervals of two runs that measure the same rarely stand apart."""
    ends = [interval(cells[:LEAST_FOR_INTERVAL])[1] for cells in runs(replay, source, 0.05)]
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    apart = sum(a[1] < b[0] or b[1] < a[0] for a, b in pairs)
    assert apart <= 0.05 * len(pairs)


def test_every_launch_gives_a_value_and_says_why_it_stopped(replay: Path, source: Source) -> None:
    cells = [each for cells in runs(replay, source, 0.05) for each in cells]
    assert all(math.isfinite(each.time_p50_s) and each.rounds >= 6 for each in cells)
    assert {each.stop for each in cells} <= {"precise", "budget"}


@pytest.mark.parametrize(
    ("source", "least", "most"),
    [("quiet-8B", 0, 0), ("busy-8B", 0, 0), ("busy-1MiB", 0.1, 0.6)],
    indirect=["source"],
)
def test_a_spread_is_laid_to_detours_only_where_they_can_make_it(
    replay: Path, source: Source, least: float, most: float
) -> None:
    """Of the launches that are not precise: samples of 1.2 µs hardly ever meet one; some of those
    with samples of 100 µs are spread by nothing else, but most are."""
    lines = _lines(replay, source.name, source.bytes, 0.02, 400, SEED)
    flags = [",".join(line.split()[5:]).split(",") for line in lines]
    spread = [found for found in flags if "unconverged" in found]
    said = [found for found in flags if "detours" in found]
    assert all(found in spread for found in said)
    assert least * len(spread) <= len(said) <= most * len(spread)
