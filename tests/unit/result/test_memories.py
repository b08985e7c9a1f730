# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Kinds of memory in one run: compared in the same launches, chosen, flagged; bus bandwidth."""

from __future__ import annotations

import csv
import io
import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.model.bus_bandwidth import bus_bytes
from mpigauge.model.flags import LETTERS, SHARED_GPU
from mpigauge.result.document import Document, document
from mpigauge.result.run_result import RunResult
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.result.stats.remarks import MEANING
from mpigauge.runs.store import RunWriter, load
from mpigauge.show import formats
from tests import cells
from tests.cells import cell
from tests.pages import report_of

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (8, 65536)
TIMES = {"host": (1.0, 1.0), "pinned": (1.0, 0.5), "device": (12.0, 0.5), "device>host": (9.0, 2.0)}
"""Times by kind of memory, for each size, relative to those of host memory."""


def store(
    folder: Path, times: dict[str, tuple[float, float]], launches: int = 6, **columns: Any
) -> Path:
    random = Random(2)
    with RunWriter.create({"plan": {}}, cells.cards_text(), output=folder) as writer:
        for launch in range(launches):
            writer.append(cells.line("launch", **cells.LAUNCH | {"launch": launch}))
            for memory, factors in reversed(times.items()):
                for size, factor in zip(SIZES, factors, strict=True):
                    time = 2e-6 * factor * (1 + size / 8e3) * random.gauss(1, 0.003)
                    line = cells.fields(
                        launch=launch, message_bytes=size, moved_bytes=size, memory=memory,
                        time_p50_s=time, **columns,
                    )  # fmt: skip
                    writer.append(cells.line("cell", **line))
            writer.append(cells.end(launch))
        writer.finish("done")
    return folder


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(tmp_path_factory.mktemp("memories") / "kinds", TIMES)


def shown(folder: Path) -> Document:
    return document(load(folder))


# --- compared -----------------------------------------------------------------------------------
def test_each_kind_is_compared_with_each_other(kinds: Path) -> None:
    ratios = json.loads(formats.render("json", shown(kinds)))["memories"]
    names = list(TIMES)
    pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
    assert {(each["first"], each["second"]) for each in ratios} == set(pairs)
    found = {(r["first"], r["second"], r["message_bytes"]): r for r in ratios}
    assert found["host", "device", 8]["ratio"] == pytest.approx(12, rel=0.02)
    assert found["pinned", "device", 65536]["verdict"] == "SAME"
    assert all(each["paired"] for each in ratios)


def test_the_table_says_where_kinds_differ(kinds: Path) -> None:
    text = formats.render("table", shown(kinds))
    _, heading, rest = text.partition("Kinds of memory against host · PingPong")
    assert heading
    words = " ".join(rest.split())
    assert "device takes 12 times as long at 8 B;" in words
    assert "pinned takes 50 % less time at 64 KiB" in words
    assert "Kinds of memory against pinned" in rest


def test_tables_of_kinds_stand_apart(kinds: Path) -> None:
    titles = [line for line in formats.render("table", shown(kinds)).splitlines()
              if line.startswith("PingPong ·")]  # fmt: skip
    named = ["device>host", "device", "pinned"]
    assert [next((w for w in named if f"{w} memory" in title), "") for title in titles] == [
        "", "pinned", "device", "device>host"
    ]  # fmt: skip


@pytest.mark.parametrize(("memory", "words"), [("host", ""), ("device", ", device memory")])
def test_the_headline_names_the_memory(memory: str, words: str, tmp_path: Path) -> None:
    text = formats.render("table", shown(store(tmp_path / "one", {memory: (1.0, 1.0)})))
    assert f"(PingPong{words}, 6 launches)" in text


def test_the_page_shows_them(kinds: Path) -> None:
    page = report_of(RunResult.of("kinds", load(kinds)))
    assert '<section id="memories"' in page
    assert "device takes 12 times as long at 8 B" in page


def test_one_kind_alone_is_not_compared(tmp_path: Path) -> None:
    found = shown(store(tmp_path / "one", {"device": (1.0, 1.0)}))
    assert found.memories == ()
    assert "Kinds of memory" not in formats.render("table", found)
    assert json.loads(formats.render("json", found))["memories"] == []


def test_imported_kinds_are_not_compared(tmp_path: Path) -> None:
    """They were not measured in turn."""
    folder = store(tmp_path / "imported", TIMES, source="OSU 7.4", origin="imported")
    assert shown(folder).memories == ()


def test_ranks_that_share_a_gpu_compare_their_host_memory_too(tmp_path: Path) -> None:
    """Only rows with buffers on the GPU have `sharing`, but all are of the same launches."""
    folder = tmp_path / "shared"
    with RunWriter.create({"plan": {}}, cells.cards_text(), output=folder) as writer:
        writer.append(cells.line("launch", **cells.LAUNCH))
        for memory, sharing in (("host", ""), ("device", "shared"), ("managed", "shared")):
            line = cells.fields(message_bytes=8, memory=memory, sharing=sharing)
            writer.append(cells.line("cell", **line))
        writer.append(cells.end())
        writer.finish("done")
    found = json.loads(formats.render("json", shown(folder)))["memories"]
    assert [(each["first"], each["second"]) for each in found] == [
        ("host", "device"), ("host", "managed"), ("device", "managed"),
    ]  # fmt: skip
    assert "are not compared, sharing" not in formats.render("table", shown(folder))


# --- chosen -------------------------------------------------------------------------------------
def test_a_comparison_by_memory(kinds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["compare", str(kinds), "--by", "memory", "--format", "json"]) == 0
    ratios = json.loads(capsys.readouterr().out)
    assert "device" in json.dumps(ratios)


@pytest.mark.parametrize("word", ["device>host", "device:host"])
def test_only_one_kind(kinds: Path, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(kinds), str(kinds), "--only", f"memory={word}"]
    assert cli(words) == 0
    assert capsys.readouterr().out.count("device>host memory") == 1


def test_a_kind_that_no_run_has(kinds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["compare", str(kinds), str(kinds), "--only", "memory=managed"]) == 2
    assert "no run has it; there are" in capsys.readouterr().err


# --- flagged ------------------------------------------------------------------------------------
def test_rows_of_a_shared_gpu_are_flagged() -> None:
    shared, own = rows_of([cell(memory="device", sharing="shared"), cell(memory="device")])
    if not shared.cell.sharing:
        shared, own = own, shared
    assert (SHARED_GPU in shared.flags, SHARED_GPU in own.flags) == (True, False)
    assert SHARED_GPU in LETTERS
    assert SHARED_GPU in MEANING
    assert len(set(LETTERS.values())) == len(LETTERS)


# --- bus bandwidth ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("suite", "benchmark", "factor"),
    [
        ("MPI1", "Allreduce", 1.5), ("NCCL", "AllReduce", 1.5),
        ("MPI1", "Reduce_scatter", 3), ("NCCL", "ReduceScatter", 3),
        ("MPI1", "Reduce_scatter_block", 3), ("MPI1", "Allgatherv", 3), ("NCCL", "AllGather", 3),
        ("MPI1", "Alltoall", 3), ("NCCL", "AlltoAll", 3), ("MPI1", "Gather", 3),
        ("MPI1", "Bcast", 1), ("NCCL", "Broadcast", 1), ("MPI1", "Reduce", 1),
        ("MPI1", "Sendrecv", 1), ("NCCL", "SendRecv", 1),
        ("MPI1", "PingPong", 0), ("MPI1", "Barrier", 0), ("MPI1", "Exchange", 0),
        ("NBC", "Iallreduce", 0), ("RMA", "Accumulate", 0), ("MPI1", "Reduce_local", 0),
    ],
)  # fmt: skip
def test_the_bytes_that_count(suite: str, benchmark: str, factor: float) -> None:
    """On 4 ranks; nccl-tests counts the size of all parts, and this is the size of one."""
    assert bus_bytes(cell(benchmark, suite=suite, ranks=4, message_bytes=1000)) == 1000 * factor


def test_the_size_of_all_parts_counts_as_in_nccl_tests() -> None:
    old = cell("Reduce_scatter", ranks=4, message_bytes=1000, settings="size=total")
    assert bus_bytes(old) == 750


@pytest.mark.parametrize("columns", [{"ranks": 1}, {"message_bytes": 0}, {"message_bytes": -1}])
def test_nothing_that_moves_has_no_bus_bandwidth(columns: dict[str, int]) -> None:
    assert bus_bytes(cell("Allreduce", **({"ranks": 2, "message_bytes": 8} | columns))) == 0


@pytest.mark.parametrize(
    ("memory", "is_shown"),
    [("host", False), ("pinned", False), ("device", True), ("managed", True),
     ("host>device", True)],
)  # fmt: skip
def test_where_it_is_shown(memory: str, is_shown: bool, tmp_path: Path) -> None:
    found = shown(store(tmp_path / "run", {memory: (1.0, 1.0)}, benchmark="Allreduce"))
    assert ("bus MB/s" in formats.render("table", found)) == is_shown
    (row, *_) = csv.DictReader(io.StringIO(formats.render("csv", found)))
    time = float(row["latency_s"])
    assert float(row["bus_bandwidth_bytes_per_s"]) == pytest.approx(8 / time)
    assert float(row["bus_bandwidth_low_bytes_per_s"]) <= 8 / time


def test_the_bus_bandwidth_of_nccl_tests_is_what_it_printed() -> None:
    """64 MiB on 4 ranks in 4801 µs: busbw 41.94 GB/s."""
    big = cell("AllReduce", suite="NCCL", ranks=4, message_bytes=134217728, time_p50_s=4.801e-3)
    (row,) = rows_of([big])
    assert row.bus_bandwidth
    assert row.bus_bandwidth.value == pytest.approx(41.94e9, rel=1e-3)
