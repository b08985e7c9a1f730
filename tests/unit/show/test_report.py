# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.model.columns import COLUMNS, KEY_COLUMNS
from mpigauge.model.errors import UserError
from mpigauge.model.fields import fields
from mpigauge.model.flags import LETTERS
from mpigauge.model.record import Figure, Sampled, Skip
from mpigauge.model.row_tables import row_tables
from mpigauge.model.screen import Screen
from mpigauge.model.width import aligned
from mpigauge.result.document import Document, document
from mpigauge.result.facts import Facts
from mpigauge.result.stats.headline import headline
from mpigauge.result.stats.launches import aggregate, rows
from mpigauge.result.stats.remarks import sentences
from mpigauge.runs.store import RunWriter, load
from mpigauge.show import formats, heading
from mpigauge.show.ending import headline_lines
from mpigauge.show.formats import table as table_format
from mpigauge.show.formats.imb import repetitions
from mpigauge.show.titles import title
from tests import cells, planted

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.columns import Cell

SIZES = [0, *(1 << i for i in range(23))]


def pingpong(launch: int, **changed: Any) -> list[Cell]:
    return [
        cells.cell(
            launch=launch, message_bytes=n, moved_bytes=n, messages=1,
            time_p50_s=(1.2e-6 + 2e-10 * n) * (1 + launch / 1000), **changed
        )
        for n in SIZES
    ]  # fmt: skip


def whole(launches: int = 6, **changed: Any) -> Document:
    measured = [cell for launch in range(launches) for cell in pingpong(launch, **changed)]
    found = tuple(rows(measured))
    return Document(
        rows=found,
        cards=cells.cards(),
        facts=Facts(version="0.1", host="a", mpi="mpich 5.0.2", created="2026-11-21T05:00:00Z"),
        headline=headline(found),
        sentences=tuple(sentences(found)),
    )


# --- formats -------------------------------------------------------------------------------
def test_formats_are_the_files_in_the_folder() -> None:
    assert list(formats.FORMATS) == [
        "csv", "imb", "json", "latex", "map", "markdown", "svg", "table",
    ]  # fmt: skip
    assert formats.for_any_run() == ["csv", "imb", "json", "latex", "markdown", "table"]
    assert all(each.about for each in formats.FORMATS.values())


def in_full(facts: Facts) -> str:
    return formats.render("table", Document((), cells.cards(), facts, whole=True))


def test_a_heading_is_two_lines() -> None:
    """The rest of it is behind --all."""
    facts = Facts(
        version="0.1", host="a" * 60, cpu="A CPU with a long name", mpi="mpich 5.0.2",
        init_s=(0.031,), world_ranks=2, created="2026-11-21T05:00:00Z", status="interrupted",
    )  # fmt: skip
    shown = formats.render("table", Document((), cells.cards(), facts)).splitlines()
    assert shown[0] == "mpigauge 0.1 · mpich 5.0.2 · 2026-11-21T05:00:00Z · interrupted"
    assert (shown[1][:3], shown[1][-7:]) == ("aaa", "2 ranks")
    assert max(map(len, shown)) <= 80
    assert len(shown) == 2
    assert "MPI_Init 31.0 ms" in in_full(facts)


def test_signs_and_units_stand_below_each_other() -> None:
    known = aligned([["8 B", "±1.8 %"], ["64 KiB", "±12 %"], ["", "±?"], ["bytes", "±"]])
    assert known == [["8 B  ", "±1.8 %"], ["64 KiB", "± 12 %"], ["", "±?"], ["bytes", "±"]]


def test_what_starting_took_is_said_with_its_spread() -> None:
    started = Facts(init_s=(0.031, 0.025, 0.18), world_ranks=0)
    assert "MPI_Init 31.0 ms on the slowest rank (25.0 ms to 180 ms in 3 launches)" in (
        in_full(started)
    )
    once = in_full(Facts(init_s=(0.031,)))
    assert "MPI_Init 31.0 ms on the slowest rank (one launch)" in once
    assert "MPI_Init" not in formats.render("table", whole())


def test_the_detours_that_sampling_allows_for_are_said() -> None:
    heard = [Sampled(launch, 2, rate, 0.002, 2.1e-6, 26.1e-6, 0.25e-6)
             for launch, rate in enumerate([980.0, 700.0, 3000.0])]  # fmt: skip
    said = in_full(Facts(sampled=tuple(heard)))
    assert " ".join(said.split()) == (
        "mpigauge 2 ranks detours 980/s of 2.10 µs on a core (0.2 % of its time): short calls are "
        "sampled for 250 ns at a time (at most 26.1 µs)"
    )
    quiet = Sampled(0, 2, 0.0, 0.0, math.nan, math.nan, 0.25e-6)
    assert "detours" not in in_full(Facts(sampled=(quiet,)))


def test_the_memory_of_the_ranks_is_said(tmp_path: Path) -> None:
    """The worst of the launches; figures of the job are no results of their own."""
    figures = [
        Figure(launch, "job", name, value, "B", better, ranks=2)
        for launch, (peak, left) in enumerate([(50 << 20, 3 << 30), (60 << 20, 4 << 30)])
        for name, value, better in (
            ("peak RSS", peak, "lower"),
            ("shared memory", 1 << 20, "lower"),
            ("memory left", left, "higher"),
        )
    ]
    with RunWriter.create({"version": "1"}, cells.cards_text(), output=tmp_path / "run"):
        stored = replace(load(tmp_path / "run"), records=tuple(figures))
    found = document(stored)
    assert found.figures == ()
    assert (
        "memory 60.0 MiB on the largest rank, 1.0 MiB of it shared, 3.0 GiB left to the control "
        "group" in " ".join(in_full(found.facts).split())
    )


def test_an_unknown_format_gets_the_nearest() -> None:
    with pytest.raises(UserError, match="no format 'jsn'; did you mean 'json'"):
        formats.render("jsn", whole())


@pytest.mark.parametrize("name", formats.for_any_run())
def test_every_format_shows_everything_or_nothing(name: str) -> None:
    nothing = Document(rows=(), cards=cells.cards())
    for shown in (whole(), whole(1), nothing):
        text = formats.render(name, shown)
        assert text.endswith("\n")
        assert "\033" not in text


# --- the table -------------------------------------------------------------------------------
def test_the_table_fits_the_screen() -> None:
    measured = [
        cells.cell(name, message_bytes=n, moved_bytes=n, messages=1, time_p50_s=0.0123456,
                   stop="interrupted", flags=list(LETTERS), ranks=128, launch=i)
        for i in range(12) for name in ("Sendrecv", "Biband", "Allreduce", "Barrier")
        for n in SIZES
    ]  # fmt: skip
    found = tuple(rows(measured))
    text = formats.render(
        "table", Document(found, cells.cards(), sentences=tuple(sentences(found)))
    )
    assert max(map(len, text.split("\n"))) <= 80


def test_the_table_says_value_error_and_what_they_rest_on() -> None:
    lines = formats.render("table", whole()).split("\n")
    (heading,) = (
        line for line in lines if line.startswith("PingPong · 2 ranks · byte · 6 launches")
    )
    assert re.search(r"   µs ▁+[▂-█]+   MB/s ▁[▁-█]+█$", heading)
    zero = next(line for line in lines if line.startswith("  0 B  "))
    assert zero.split() == ["0", "B", "0.601", "±1.0", "%", "720", "precise"]


def test_a_table_of_rows_with_more_and_fewer_launches_tells_them_apart() -> None:
    found = whole().rows + tuple(rows([cells.cell(message_bytes=3)]))
    text = formats.render("table", Document(found, cells.cards()))
    assert "launches" in text
    assert "1 launch" in text


@pytest.mark.parametrize(("launches", "words"), [(1, "1 launch"), (3, "range of 3")])
def test_fewer_launches_are_named(launches: int, words: str) -> None:
    assert words in formats.render("table", whole(launches))


def test_a_row_without_error_says_so() -> None:
    shown = whole(1, mode="classic", ci_low_s=None, ci_high_s=None, stop="schedule")
    assert "±?" in formats.render("table", shown)
    assert "classic" in formats.render("table", shown)


def test_the_headline_of_a_sweep_is_of_the_default_and_says_so() -> None:
    """Whichever setting was measured first."""
    measured = [
        cells.cell(message_bytes=n, launch=launch, arm=arm, time_p50_s=time * (1 + n))
        for arm, time in (("A=1", 4e-6), ("control", 2e-6), ("", 2e-6))
        for launch in range(6)
        for n in (0, 8, 64)
    ]
    head = headline(rows(measured))
    assert head.zero is not None
    assert (head.zero.cell.arm, head.setting_of(head.zero)) == ("", "default settings")
    shown = Document(tuple(rows(measured)), cells.cards(), headline=head)
    assert "default settings" in headline_lines(shown)[0]
    alone = headline(rows([cell for cell in measured if cell.arm == "A=1"]))
    assert alone.zero is not None
    assert alone.setting_of(alone.zero) == "with A=1"
    usual = headline(rows([cell for cell in measured if not cell.arm]))
    assert usual.zero is not None
    assert usual.setting_of(usual.zero) == ""


def test_the_headline_block() -> None:
    text = formats.render("table", whole())
    assert "latency, 0 B" in text
    assert "peak bandwidth" in text
    assert "at 4 MiB" in text
    assert "n½ = 5.9 KiB" in text
    assert "off by" not in text, "how far a line is from its points is in `mpigauge model`"


def test_a_cell_that_another_launch_measured_is_not_left_out() -> None:
    """Kernels write no columns that only we know, such as the placement, in what they skip."""
    known = ("placement", "arm", "source")
    key = {n: v for n, v in cells.fields(message_bytes=0).items() if n in KEY_COLUMNS}
    missed = {name: value for name, value in key.items() if name not in known}
    skips = [Skip(1, missed, "no time"), Skip(1, missed | {"message_bytes": 64}, "no time")]
    run = planted.run([cells.cell(message_bytes=0)], skips)
    assert [skip.key["message_bytes"] for skip in document(run).skips] == [64]


COLOURS = Screen(colours=16)


def test_colour_marks_what_is_suspicious() -> None:
    text = formats.render("table", whole(flags=["drift"]), COLOURS)
    assert "\033[33m" in text
    assert "Flags: D = drift" in text
    assert "\033[31m" in formats.render("table", whole(wrong_count=1), COLOURS)


def test_variants_have_tables_of_their_own() -> None:
    found = rows([cells.cell(), cells.cell(cache="cold"), cells.cell(root_shift=True)])
    titles = [title(table) for table in row_tables(found, cells.cards())]
    assert titles == [
        "PingPong · 2 ranks · byte · 1 launch",
        "PingPong · 2 ranks · byte · moving root · 1 launch",
        "PingPong · 2 ranks · byte · cold cache · 1 launch",
    ]


def test_rows_can_be_shown_while_they_are_measured() -> None:
    shown = whole()
    lines = table_format.rows_as_lines(shown, shown.rows[:2])
    assert len(lines) == 4


# --- IMB text ----------------------------------------------------------------------------------
def test_repetitions_are_calls_in_classic_mode_and_all_operations_else() -> None:
    classic = [cells.cell(launch=i, mode="classic", calls=640, samples=1) for i in range(3)]
    assert repetitions(aggregate(classic)) == 640
    assert repetitions(aggregate([cells.cell(launch=i, calls=4) for i in range(3)])) == 4 * 360


def test_imb_text_names_every_skipped_size() -> None:
    skip = Skip(0, cells.fields(message_bytes=1 << 31), "this MPI library has no MPI_Send_c")
    shown = Document(whole().rows, cells.cards(), Facts(), (skip,))
    assert "\n   2147483648 skipped; this MPI library has no MPI_Send_c\n" in formats.render(
        "imb", shown
    )


def test_many_ranks_of_groups_are_wrapped() -> None:
    found = tuple(rows([cells.cell("Bcast", ranks=20, groups=2)]))
    text = formats.render("imb", Document(found, cells.cards(), Facts(world_ranks=41, multi=0)))
    assert "# Benchmarking Multi-Bcast \n" in text
    assert "# Group  1:    20   21" in text
    assert "# ( 1 additional process waiting in MPI_Barrier)\n" in text


# --- CSV and JSON ------------------------------------------------------------------------------
def test_csv_has_a_line_for_each_row_and_units_in_its_names() -> None:
    shown = whole()
    read = list(csv.DictReader(io.StringIO(formats.render("csv", shown))))
    assert len(read) == len(shown.rows)
    assert float(read[0]["latency_s"]) == shown.rows[0].latency.value
    assert read[0]["bandwidth_bytes_per_s"] == ""
    assert read[0]["stops"] == ";".join(["precise"] * 6)


def test_json_says_what_its_columns_are() -> None:
    shown = whole(1, mode="classic", ci_low_s=None, ci_high_s=None)
    read = json.loads(formats.render("json", shown))
    assert [column["name"] for column in read["columns"]] == list(read["rows"][0])
    assert all(column["about"] for column in read["columns"])
    assert read["rows"][0]["ci_low_s"] is None
    assert read["headline"]["fit"]["residuals"] == "relative"


def test_every_stored_column_can_be_exported() -> None:
    names = [field.name for field in fields()]
    assert len(names) == len(set(names))
    assert {column.name for column in COLUMNS} - set(names) == {"launch", "stop"}


# --- from a run ----------------------------------------------------------------------------------
def test_document_of_a_run(tmp_path: Path) -> None:
    header = {
        "version": "0.1",
        "command": ["mpigauge", "run", "PingPong", "Alltoall"],
        "plan": {"benchmarks": ["PingPong", "Alltoall"], "map": [2, 2], "multi": None},
        "mpi": {"name": "mpich", "version": "5.0.2"},
    }
    skipped = cells.fields("Alltoall", message_bytes=8)
    with RunWriter.create(header, cells.cards_text(), output=tmp_path / "run") as writer:
        writer.write_passport({"machine": {"hostname": "a", "cpu_model": "b"}})
        writer.append(cells.line("launch", **cells.LAUNCH | {"world_ranks": 4}))
        writer.append(cells.line("cell", **cells.fields(wrong_count=2)))
        writer.append(cells.line("skip", **skipped | {"reason": "no memory"}))
        writer.append(cells.line("error", launch=0, rank=3, message="a fault"))
        writer.append(cells.line("error", launch=1, rank=-1, message="launch 1 failed: why"))
        writer.finish("failed")
    shown = document(load(tmp_path / "run"))
    facts = shown.facts
    assert (facts.host, facts.cpu, facts.mpi, facts.world_ranks) == ("a", "b", "mpich 5.0.2", 4)
    assert (facts.map, facts.multi, facts.status) == ((2, 2), None, "failed")
    assert facts.benchmarks == ("PingPong", "Alltoall")
    assert len(shown.skips) == 1
    assert shown.sentences == (
        "PingPong 0 B: wrong data: 2 elements differ from the sender's.",
        "Alltoall 8 B left out: no memory.",
        "rank 3: a fault",
        "launch 1 failed: why",
    )
    assert "8 skipped; no memory" in formats.render("imb", shown)


def test_a_cell_that_another_launch_measured_is_not_missing(tmp_path: Path) -> None:
    with RunWriter.create({}, cells.cards_text(), output=tmp_path / "run") as writer:
        skip = {"reason": "no time was left for it"}
        writer.append(cells.line("skip", **cells.fields() | skip))
        writer.append(cells.line("cell", **cells.fields(launch=1)))
    assert document(load(tmp_path / "run")).skips == ()


def test_the_heading_names_the_transport() -> None:
    facts = Facts(version="1", mpi="mpich 5", transport="tcp (ofi on lo)", created="now")
    assert heading.heading(facts)[0] == "mpigauge 1 · mpich 5 · over tcp (ofi on lo) · now"
    assert heading.heading(replace(facts, transport=""))[0] == "mpigauge 1 · mpich 5 · now"


@pytest.mark.parametrize("name", ["PingPong", *table_format.ROUND_TRIPS])
def test_the_small_programs_show_one_way_and_both(name: str) -> None:
    ours = cells.cards()
    card = replace(ours.find("PingPong"), name=name)
    known = replace(ours, benchmarks=(*ours.benchmarks, card))
    measured = replace(cells.cell("PingPong", time_p50_s=3.0e-6, message_bytes=1), benchmark=name)
    text = formats.render("table", Document(tuple(rows([measured])), known))
    assert " 1.50 " in text
    assert ("both ways µs" in text) == (" 3.00 " in text) == (name != "PingPong")
