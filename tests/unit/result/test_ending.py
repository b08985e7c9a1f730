# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The end of a run's tables: numbers, how far to trust them, remarks counted, one command."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.model.columns import COLUMNS
from mpigauge.model.record import Skip
from mpigauge.model.width import WIDTH
from mpigauge.result.document import document
from mpigauge.runs.store import load
from mpigauge.show import formats
from mpigauge.show.ending import first_rows, headline_lines
from mpigauge.show.formats.table import remarks
from tests import cells, planted, runs

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.columns import Cell
    from mpigauge.result.document import Document

SIZES = [0, *(1 << i for i in range(23))]
LINES = 24
"""The lines of the smallest terminal."""


def pingpong(launches: int = 6, slower: float = 1.0, **columns: Any) -> list[Cell]:
    """PingPong at all sizes; from the middle launch on so many times as slow."""
    return [
        cells.cell(
            launch=launch, message_bytes=size, moved_bytes=size, messages=1,
            time_p50_s=(1.2e-6 + 2e-10 * size) * (1 + launch / 1000)
            * (slower if 2 * launch >= launches else 1.0), **columns,
        )
        for launch in range(launches)
        for size in SIZES
    ]  # fmt: skip


def of(measured: list[Cell], **changed: Any) -> Document:
    return document(planted.run(measured, **changed))


def end_of(shown: Document) -> list[str]:
    """What is printed from the headline numbers on."""
    lines = formats.render("table", shown).splitlines()
    first = headline_lines(shown)[0]
    return lines[lines.index(first) :]


def test_a_run_ends_with_its_answer_on_one_screen() -> None:
    shown = of(pingpong(flags=["drift"]))
    text = formats.render("table", shown)
    marks = [
        "PingPong · 2 ranks", "Flags: D = drift", "latency, 0 B", "peak bandwidth", "t = α + β·n",
        "24 of 24 numbers are known within ±5 %", "24 of 24 cells flagged; ", "Next: ",
    ]  # fmt: skip
    places = [text.find(mark) for mark in marks]
    assert min(places) >= 0, marks[places.index(-1)]
    assert places == sorted(places)
    assert len(end_of(shown)) < LINES
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_last_lines_are_the_count_of_remarks_and_one_command() -> None:
    *_, counted, last = end_of(of(pingpong(flags=["drift"])))
    assert counted == "24 of 24 cells flagged; `mpigauge show planted --remarks`"
    assert last == "Next: `mpigauge explain planted` (anomalies, and what to try)"
    *_, sure, more, last = end_of(of(pingpong()))
    assert sure.startswith("24 of 24 numbers are known within ±5 %; ")
    assert "`" not in more, "nothing is to be remarked"
    assert last == "Next: `mpigauge report planted` (one page with plots, for a browser)"


def test_what_a_flag_means_is_printed_on_request_alone() -> None:
    shown = of(pingpong(flags=["drift"]))
    assert "the machine changed while it was measured" not in formats.render("table", shown)
    text = " ".join(remarks(shown).split())
    assert "Flags: D = drift" in text
    assert "the machine changed while it was measured" in text
    assert "There are no remarks on this run." in remarks(of(pingpong()))


def test_what_was_not_measured_is_printed_in_any_case() -> None:
    known = {column.name for column in COLUMNS}
    left = {n: v for n, v in cells.fields(message_bytes=8 << 20).items() if n in known}
    stored = planted.run(pingpong(), [Skip(0, left, "no memory")])
    shown = document(stored)
    text = formats.render("table", shown)
    assert "PingPong 8 MiB left out: no memory." in text
    assert text.find("left out") < text.find("latency, 0 B")
    assert "--remarks" not in text, "nothing more is known than what is printed"


def test_every_sentence_is_printed_or_counted() -> None:
    shown = of(pingpong(flags=["drift", "tainted"], wrong_count=1))
    text = " ".join(remarks(shown).split())
    assert all(sentence in text for sentence in shown.sentences)
    assert set(shown.notes) <= set(shown.sentences)


def test_wrong_data_leave_nothing_to_trust() -> None:
    end = " ".join(end_of(of(pingpong(wrong_count=2))))
    assert "Do not trust these numbers: wrong data: 288 elements differ" in end
    assert "`mpigauge explain planted` (what is wrong, and what to try)" in end


def test_a_machine_that_changed_is_told_before_errors_are() -> None:
    end = " ".join(end_of(of(pingpong(20, slower=1.5))))
    assert "The machine changed from launch 11 of 20 on: calls took 1.5" in end


@pytest.mark.parametrize(
    ("launches", "sentence"),
    [
        (1, "All are of one launch: ± does not cover other launches (--launches 6)."),
        (3, "There are too few launches for an error: numbers carry the range"),
    ],
)
def test_few_launches_are_little_to_trust(launches: int, sentence: str) -> None:
    assert sentence in " ".join(end_of(of(pingpong(launches))))


@pytest.mark.parametrize("status", ["interrupted", "unfinished"])
def test_a_run_that_was_cut_short_goes_on_next(status: str) -> None:
    shown = of(pingpong())
    cut = replace(shown, facts=replace(shown.facts, status=status))
    assert end_of(cut)[-1] == "Next: `mpigauge resume planted` (the launches that are missing)"


def test_runs_without_pairs_end_with_their_smallest_and_largest_message() -> None:
    measured = [
        cells.cell("Allreduce", ranks=4, launch=launch, message_bytes=size, arm=arm)
        for arm in ("A=1", "")
        for launch in range(6)
        for size in (8, 64, 4096)
    ]
    shown = of([*measured, cells.cell("Barrier", ranks=4)])
    assert [(row.cell_name, row.cell.arm) for row in first_rows(shown.rows)] == [
        ("Allreduce 8 B", ""), ("Allreduce 4 KiB", ""),
    ]  # fmt: skip
    first, second = headline_lines(shown)
    assert re.match(r"Allreduce 8 B +1\.00 µs ±\S+ %  \(4 ranks, 6 launches\)$", first)
    assert second.startswith("Allreduce 4 KiB")
    assert headline_lines(of([cells.cell("Barrier")]))[0].startswith("Barrier")


# --- how it is asked for --------------------------------------------------------------------
@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [runs.launch(), runs.cell(0, flags=["drift"]), cells.end()]
    return runs.write(tmp_path / "mpigauge-runs" / "one", lines)


def test_commands_name_the_run_as_it_was_typed(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for word in ("last", "one", "on", str(stored)):
        assert cli(["show", word]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"`mpigauge show {word} --remarks`" in shown
        assert f"`mpigauge explain {word}`" in shown
    assert document(load(stored)).run == str(stored)


def test_remarks_are_shown_alone(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stored.is_dir()
    assert cli(["show", "last", "--remarks"]) == 0
    shown = capsys.readouterr().out
    assert "drift, PingPong" in shown
    assert "µs" not in shown
    for others in (["--format", "json"], ["--pivot", "arm"], ["--limits", "none"]):
        assert cli(["show", "last", "--remarks", *others]) == 2
        assert f"--remarks prints sentences alone; leave out {others[0]}" in capsys.readouterr().err
