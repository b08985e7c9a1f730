# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.model import record
from mpigauge.model.columns import KEY_COLUMNS
from tests import cells

LINES = {
    "launch": cells.line("launch", **cells.LAUNCH),
    "rank": cells.line("rank", launch=0, rank=1, host="a", pid=7, local_rank=1, wanted_cpuset="1",
                       cpuset="1", cpu=1, numa=0),
    "noise": cells.line("noise", launch=0, rank=1, when="before", cpu=1, seconds=0.1, detours=12,
                        lost_ratio=0.01, longest_s=None),
    "sampling": cells.line("sampling", launch=0, cores=2, detours_per_s=0.0, lost_ratio=0.0,
                           detour_s=None, calm_s=None, batch_s=2.5e-7),
    "cell": cells.line("cell", **cells.fields(), raw=cells.raw([[10, 12], [11, 13]])),
    "skip": cells.line("skip", launch=0, benchmark="Bcast", message_bytes=8, reason="no memory"),
    "figure": cells.line("figure", launch=0, benchmark="HPL", name="HPL", value=41.5,
                         unit="GFLOP/s", better="higher", ranks=4),
    "error": cells.line("error", launch=0, rank=1, message="a fault"),
    "end": cells.end(),
}  # fmt: skip
PROGRESS = {
    "launch": 2,
    "key": {name: cells.fields()[name] for name in KEY_COLUMNS},
    "time_p50_s": 1e-6,
    "ci_low_s": 0.9e-6,
    "ci_high_s": 1.1e-6,
    "time_scale": 0.5,
    "moved_bytes": 8,
    "messages": 1,
    "samples": 40,
    "rounds": 3,
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("prefix", ["", "[0] ", "[1,0]<stdout>: ", "00:55:22  ", "\r"])
def test_every_kind_is_read_behind_any_prefix(kind: str, prefix: str) -> None:
    read = record.parse(prefix + LINES[kind] + "\r\n")
    assert read is not None
    assert read.launch == 0
    assert read == record.parse(LINES[kind])


@pytest.mark.parametrize(
    "noise",
    ["", "UCX  WARN  no such device", "{}", '{"record":"cell"', '{"record":"new","launch":0}',
     '{"record":"end","launch":0}', '{"record":"end","launch":"x","stopped":1}', "[1, 2]", "null"],
)  # fmt: skip
def test_other_output_is_no_record(noise: str) -> None:
    assert record.parse(noise) is None


@given(st.text())
def test_no_text_makes_it_fail(text: str) -> None:
    record.parse(text)
    record.parse('{"record":' + text)


@given(st.integers(0, len(LINES["cell"]) - 1))
def test_a_cut_line_is_no_record(at: int) -> None:
    assert record.parse(LINES["cell"][:at]) is None


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="end record has no 'stopped'"):
        record.decode('{"record":"end","launch":0}')


def test_launch_has_its_clock() -> None:
    launch = record.parse(LINES["launch"])
    assert isinstance(launch, record.Launch)
    assert launch.clock == record.Clock("tsc", 2.6e9, 1e-8, 1e-9)


def test_null_is_a_number_that_is_not_known() -> None:
    noise = record.parse(LINES["noise"])
    assert isinstance(noise, record.Noise)
    assert math.isnan(noise.longest_s)


def test_cell_knows_its_chunks() -> None:
    cell = record.parse(LINES["cell"])
    assert isinstance(cell, record.CellRecord)
    assert cell.raw is not None
    assert record.samples_of(cell.raw) == 4
    assert [chunk.round for chunk in cell.raw.chunks] == [1, 2]


def test_progress_becomes_a_cell_without_what_is_not_known() -> None:
    progress = record.parse(cells.line("progress", **PROGRESS))
    assert isinstance(progress, record.Progress)
    cell = record.known_of_killed(progress)
    assert cell.key == cells.cell().key
    assert (cell.launch, cell.samples, cell.stop) == (2, 40, "interrupted")
    assert cell.latency_s == 0.5e-6
    assert math.isnan(cell.time_mean_s)
    assert math.isnan(cell.ci_low_s)  # three rounds give no interval


def test_later_progress_has_an_interval() -> None:
    progress = record.parse(cells.line("progress", **PROGRESS | {"rounds": 6}))
    assert isinstance(progress, record.Progress)
    assert record.known_of_killed(progress).ci_high_s == 1.1e-6


@pytest.mark.parametrize("kind", ["cell", "skip"])
def test_the_campaign_adds_what_kernels_do_not_know(kind: str) -> None:
    line = json.dumps(json.loads(LINES[kind]) | {"members": "0,2"})
    known = {"placement": "", "arm": "A=1"}
    read = json.loads(record.with_known(line, known, {"0,2": "l3"}))
    assert (read["arm"], read["placement"]) == ("A=1", "l3")
    assert record.with_known(line, {"placement": ""}, {}) == line
    assert record.with_known(LINES["rank"], known, {}) == LINES["rank"]
