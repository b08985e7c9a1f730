# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The main tables of all commands on 80 columns: nothing is wider, and what is cut says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as main
from mpigauge.cli.output import text_tables
from mpigauge.model.row import Estimate
from mpigauge.model.row_tables import row_tables
from mpigauge.model.screen import Screen
from mpigauge.model.width import WIDTH, broken, cut_apart, shortened
from mpigauge.products.check.result import CheckLine, CheckResult
from mpigauge.products.check.show import as_table
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.show.formats import table as table_format
from mpigauge.show.formats.table import table_lines
from mpigauge.show.tables.text_table import text_table
from tests import cells, planted
from tests.unit.result.node.test_hardware import messages, node_run, store

if TYPE_CHECKING:
    from pathlib import Path

LONG = "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD"
SIZES = [0, 8, 4096, 65536, 1 << 20, 4 << 20]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with long names of settings, of files and of ways to go over memory."""
    folder = tmp_path_factory.mktemp("wide")
    cells = [
        cell
        for value in ("", *(f"{LONG}={n}" for n in (1024, 32768)))
        for name in ("PingPong", "Allreduce")
        for cell in planted.curve(
            planted.line(1e-6 + len(value) * 1e-8), name, SIZES, arm=value, messages=1.0
        )
    ]
    planted.store(planted.run(cells, planted.ranks(["0", "1"])), folder / f"sweep-of-{'x' * 60}")
    store(messages(created="2026-11-21T12:00:00Z"), folder, "messages")
    store(node_run(), folder, f"a-run-of-the-node-with-a-long-name-{'y' * 30}")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "show SWEEP", "show messages", "node NODE", "best SWEEP",
        "compare SWEEP --by arm", "compare messages messages",
        "check messages --against messages --tolerance 60%",
        "explain SWEEP", "explain --list", "model SWEEP", "ls .", "ref list",
        "ref show orfeo-epyc-rome", "plot --list", "plot SWEEP arms", "plot SWEEP best",
    ],
)  # fmt: skip
def test_nothing_is_wider_than_the_screen(
    words: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(text_tables, "screen_width", lambda: WIDTH)
    names = {"SWEEP": f"sweep-of-{'x' * 60}", "NODE": next(folder.glob("a-run-*")).name}
    assert main([names.get(word, word) for word in words.split()]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown
    wide = [line for line in shown if len(line) > WIDTH and " " in line.strip()]
    assert wide == []


def test_words_that_cannot_be_broken_stay_whole() -> None:
    path = "/" + "x" * 100
    assert broken(["short", f"see {path} there"]) == ["short", "see", f"  {path}", "  there"]
    assert broken([""]) == [""]


def test_long_names_lose_their_middle() -> None:
    names = [f"{LONG}=1024", f"{LONG}=32768", "control"]
    assert shortened(names, 20) == ["MPIR_CVAR…SHOLD=1024", "MPIR_CVAR…HOLD=32768", "control"]
    alike = ["a" * 30, "a" * 10 + "b" + "a" * 19]
    assert shortened(alike, 8) == alike


def test_a_last_column_without_room_stands_below() -> None:
    rows = [["a" * 30, "one two three four five"], ["b", "short"]]
    assert list(text_table(["name", "about"], rows, 40)) == [
        f"{'name':<30}  about",
        "a" * 30,
        "    one two three four five",
        f"{'b':<30}  short",
    ]
    assert list(text_table(["name", "about"], rows, 0))[1] == f"{'a' * 30}  {rows[0][1]}"
    assert list(text_table(["a", "about"], [["x", "one two " * 5]], 30))[1:] == [
        "x  one two one two one two one",
        "   two one two",
    ]


def test_what_was_checked_in_sentences_where_columns_have_no_room() -> None:
    value = Estimate(1.5e-6, 1.4e-6, 1.6e-6)
    name = f"PingPong 4 KiB on 2 ranks at {'a long placement ' * 3}"
    line = CheckLine("FAIL", name.strip(), "time", "s", value, 1.2e-6, True, why="too slow")
    text = as_table(CheckResult((line,))).splitlines()
    assert all(len(each) <= WIDTH for each in text)
    assert "time: 1.50 µs ±6.7 %, at most 1.20 µs is allowed, too slow" in " ".join(text)


def test_names_of_cpp_lose_their_namespaces_first() -> None:
    names = ["LAMMPS_NS::Verlet::run+0x515", "LAMMPS_NS::CommBrick::forward_comm+0x2f8"]
    assert shortened(names, 20) == ["Verlet::run+0x515", "forward_comm+0x2f8"]
    assert shortened(["std::sort"], 20) == ["std::sort"]


@pytest.mark.parametrize("width", [16, 20, 30])
@pytest.mark.parametrize(
    "names",
    [
        [f"IMB_pingpong_benchmarks_and_functions.h:{line}" for line in (64, 640, 1640, 2640)],
        [
            f"{kind}_exchange_of_all_boundaries_of_a_block (main.cpp:640)"
            for kind in ("sent", "got")
        ],
        [f"run_of_{'x' * 40}_{word}_{'y' * 40}" for word in ("one", "two", "three")],
        ["short", "shorter"],
        [f"a{'b' * 50}"] * 2,
    ],
)
def test_cut_names_stay_apart(names: list[str], width: int) -> None:
    short = cut_apart(names, width)
    assert len(set(short)) == len(set(names))
    assert max(map(len, short)) <= width


def test_a_wide_terminal_has_the_columns_that_a_narrow_one_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe has as many columns as a narrow one, whatever the terminal."""
    monkeypatch.setattr(table_format, "WIDTH", 40)
    measured = [cells.cell("Allreduce", launch=launch) for launch in range(6)]
    (table,) = row_tables(rows_of(measured), cells.cards())
    heads = [
        table_lines(table, screen)[1].split()
        for screen in (Screen(width=40, live=True), Screen(width=120), Screen(120, live=True))
    ]
    assert ["samples" in each for each in heads] == [False, False, True]
