# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One run, and one comparison, in every form: the same numbers, and what is printed is what is
stored."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run
from tests import planted
from tests.replay.test_report_page import Page

SIZES = [0, 8, 4096, 1 << 20]
Line = tuple[str, ...]
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of PingPong and Allreduce in twelve launches, the second a fifth faster."""
    monkeypatch.chdir(tmp_path)
    for name, factor in (("slow", 1.0), ("fast", 0.8)):

        def time(size: int, factor: float = factor) -> float:
            return planted.line()(size) * factor

        cells = planted.curve(time, sizes=SIZES, launches=12)
        cells += planted.curve(time, "Allreduce", SIZES, 12, ranks=4, datatype="float", op="sum")
        planted.store(planted.run(cells), Path(name))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(list(words)) == 0
    return capsys.readouterr().out


def plain(text: str) -> str:
    """Without what Markdown, LaTeX and typesetting add to words."""
    for added, meant in (("\\%", "%"), ("$\\pm$", "±"), ("\\~", "~"), ("--", "–"), ("\\_", "_")):
        text = text.replace(added, meant)
    return re.sub(r"\\textcolor\{gray\}\{(.*?)\}", r"\1", re.sub(r"\\textbf\{(.*?)\}", r"\1", text))


def cells_of(line: str, form: str) -> Line:
    """What stands in the columns of a line of a table."""
    if form == "markdown":
        parts = line.strip().strip("|").replace("**", "").split("|")
    elif form == "latex":
        parts = line.removesuffix("\\\\").split("&")
    else:
        parts = re.split(r"\s+(?=[^%\s])", line.strip())
    return tuple(plain(part.strip()) for part in parts)


def numbers_in(text: str, form: str) -> list[list[str]]:
    """The numbers of each line of a table that begins with a size, in their order."""
    kept = []
    for line in text.splitlines():
        words = " ".join(cells_of(line.rstrip(), form))
        if found := re.match(r"\|?\s*(0|8|4|1) (B|KiB|MiB)\b(.*)", words):
            kept.append([found[1] + found[2], *_NUMBER.findall(found[3])])
    return kept


def stored(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    told = json.loads(printed(capsys, "show", "slow", "--format", "json"))
    rows: list[dict[str, Any]] = told["rows"]
    return rows


# --- a run ----------------------------------------------------------------------------------
def test_a_run_has_the_same_rows_on_every_page(capsys: pytest.CaptureFixture[str]) -> None:
    forms = {
        form: numbers_in(printed(capsys, "show", "slow", "--format", form), form)
        for form in ("table", "markdown", "latex")
    }
    assert run(["report", "slow", "-o", "page.html"]) == 0
    page = Page(Path("page.html").read_text(encoding="utf-8"))
    on_page = [
        numbers_in("\n".join(" ".join(row) for row in table[1:]), "table")
        for table in page.tables
        if table[0][-1] == "stop"
    ]
    forms["html"] = [row for table in on_page for row in table]
    assert len(forms["table"]) == 2 * len(SIZES)
    assert all(form == forms["table"] for form in forms.values())


def test_what_is_printed_is_what_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    """Each printed time and bandwidth is the stored one, rounded to its digits."""
    told = numbers_in(printed(capsys, "show", "slow", "--format", "markdown"), "markdown")
    for words, row in zip(told, stored(capsys), strict=True):
        _, time, _, *rest = words
        assert _rounds_to(row["latency_s"] * 1e6, time)
        if row["benchmark"] == "PingPong" and row["message_bytes"]:
            assert _rounds_to(row["bandwidth_bytes_per_s"] / 1e6, rest[0])


def _rounds_to(value: float, word: str) -> bool:
    digits = len(word.partition(".")[2])
    return abs(value - float(word)) <= 0.5001 * 10.0**-digits


def test_tables_to_calculate_with_are_equal_to_the_last_bit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    as_json = stored(capsys)
    text = printed(capsys, "show", "slow", "--format", "csv")
    as_csv = list(csv.DictReader(StringIO(text)))
    query = "SELECT latency_s, latency_low_s, latency_high_s FROM rows WHERE run = 'slow'"
    asked = json.loads(printed(capsys, "sql", query, ".", "--format", "json"))
    ends = ("latency_s", "latency_low_s", "latency_high_s")
    by_form = [
        sorted(tuple(float(row[name]) for name in ends) for row in form)
        for form in (as_json, as_csv, asked)
    ]
    assert by_form[0] == by_form[1] == by_form[2]


# --- a comparison ---------------------------------------------------------------------------
def test_a_comparison_has_the_same_ratios_in_every_form(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("compare", "slow", "fast", "--format")
    pivots = {form: printed(capsys, *words, form) for form in ("markdown", "latex")}
    assert run(["report", "slow", "fast", "-o", "page.html"]) == 0
    page = Page(Path("page.html").read_text(encoding="utf-8"))
    side_by_side = [table for table in page.tables if table[0][-1] == "ratio (95 %)"]
    lines = "\n".join(" ".join(row) for table in side_by_side for row in table[1:])
    forms = {form: numbers_in(text, form) for form, text in pivots.items()}
    forms["html"] = numbers_in(lines, "table")
    assert len(forms["html"]) == 2 * len(SIZES)
    assert forms["markdown"] == forms["latex"] == forms["html"]
    told = json.loads(printed(capsys, *words, "json"))["ratios"]
    as_csv = list(csv.DictReader(StringIO(printed(capsys, *words, "csv"))))
    ends = ("ratio", "ratio_low", "ratio_high")
    for name in ends:
        assert [row[name] for row in told] == [float(row[name]) for row in as_csv[: len(told)]]
    in_terminal = printed(capsys, *words, "table")
    of_sizes = [row for row in told if row["message_bytes"] != ""]
    for line, row in zip(forms["markdown"], of_sizes, strict=False):
        assert all(_rounds_to(row[name], word) for name, word in zip(ends, line[-3:], strict=True))
        assert f"{line[-3]} {line[-2]}–{line[-1]}" in in_terminal
