# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is generated from schema/*.toml is current and says what the schema says."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from mpigauge.model import columns
from mpigauge.model.columns import Cell
from mpigauge.model.option_table import OptionRow
from mpigauge.model.records import Launch
from mpigauge.model.suite_options import read_suite_options
from tools import generate, generate_command_line, generate_options, generate_records

ROOT = Path(__file__).resolve().parents[3]


def record(**changed: Any) -> dict[str, Any]:
    examples = {"int": 1, "float": 2.0, "str": "x", "bool": False, "words": ["drift"]}
    return {column.name: examples[column.type] for column in columns.COLUMNS} | changed


def test_generated_files_are_current() -> None:
    assert generate.stale(ROOT, generate.all_outputs()) == []


def test_a_cell_is_read_from_a_record_and_derives_its_values() -> None:
    cell = Cell.from_record(
        record(time_p50_s=4e-6, time_scale=0.5, moved_bytes=100, messages=3, raw={"no": "column"})
    )
    assert cell.flags == ("drift",)
    assert cell.latency_s == pytest.approx(2e-6)
    assert cell.bandwidth_bytes_per_s == pytest.approx(5e7)
    assert cell.message_rate_per_s == pytest.approx(1.5e6)


def test_what_json_cannot_say_becomes_nan() -> None:
    cell = Cell.from_record(record(time_p50_s=None, time_scale=1.0))
    assert math.isnan(cell.latency_s)
    assert math.isnan(Cell.from_record(record(time_p50_s=0.0)).bandwidth_bytes_per_s)


def test_a_missing_column_is_named() -> None:
    incomplete = record()
    del incomplete["ci_low_s"]
    with pytest.raises(ValueError, match="no column 'ci_low_s'"):
        Cell.from_record(incomplete)


def test_the_key_leaves_the_launch_out() -> None:
    assert Cell.from_record(record(launch=0)).key == Cell.from_record(record(launch=7)).key
    assert Cell.from_record(record(ranks=2)).key != Cell.from_record(record(ranks=4)).key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[column]]\nname="a"\ntype="int"\ngroup="cell"\nabout=""\n' * 2, "twice: a"),
        ('[[column]]\nname="a"\ntype="date"\ngroup="cell"\nabout=""\n', "a: unknown type"),
        ('[[derived]]\nname="b"\nformula="a * 2"\nabout=""\n', "b: unknown name a"),
    ],
)
def test_a_broken_schema_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "columns.toml"
    empty = "".join(f"{kind} = []\n" for kind in ("column", "derived") if f"[[{kind}]]" not in text)
    path.write_text("version = 1\n" + empty + text)
    with pytest.raises(SystemExit, match=message):
        generate.read_schema(path)


# --- options -----------------------------------------------------------------------------------
NEW_OPTION = """
[[option]]
name = "far-hops"
type = "int"
least = 1
most = 8
default = 3
suite = true
metavar = "N"
about = "Hops of a message."
"""


def options_with(tmp_path: Path, entry: str) -> dict[str, str]:
    path = tmp_path / "options.toml"
    path.write_text((ROOT / generate_options.SCHEMA).read_text(encoding="utf-8") + entry)
    texts: dict[str, str] = generate_options.outputs(path) | generate_command_line.outputs(path)
    return texts


def test_a_new_option_is_one_entry_of_the_schema(tmp_path: Path) -> None:
    made = options_with(tmp_path, NEW_OPTION)
    assert "int far_hops = 3;" in made["kernels/core/suite_options.hpp"]
    assert (
        '{"far-hops", text_of<&SuiteOptions::far_hops>,' in made["kernels/core/suite_options.hpp"]
    )
    assert "into(&S::far_hops, Range<int>{1, 8})" in made["kernels/driver/option_table.cpp"]
    assert (
        "| `--far-hops` | whole number from 1 to 8 | 3 | Hops of a message. |"
        in (made["docs/reference/options.md"])
    )


def test_a_new_option_is_offered_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space: dict[str, Any] = {"__name__": "made"}
    exec(options_with(tmp_path, NEW_OPTION)["src/mpigauge/model/option_table.py"], space)
    offered = tuple(OptionRow(*row) for row in space["OFFERED"])
    monkeypatch.setattr("mpigauge.model.suite_options.OFFERED", offered)
    assert read_suite_options({"far_hops": "5"}, {}) == {"far-hops": "5"}
    assert offered[-1].about == "Hops of a message.  [default: 3]"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('name = "ranks"\ntype = "int"', "ranks: defined twice"),
        ('name = "new"\ntype = "date"', "new: unknown type date"),
        ('name = "new"\ntype = "word"\nenum = "New"', "new: a word has an enum, and its words"),
        ('name = "new"\ntype = "int"\nform = "roman"', "new: unknown form roman; there are"),
        ('name = "new"\ntype = "int"\neach = true', "new: only what some benchmarks use"),
    ],
)
def test_a_broken_option_is_refused(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        options_with(tmp_path, f'\n[[option]]\nabout = ""\n{entry}\n')


# --- records -----------------------------------------------------------------------------------
NEW_RECORD = """
[[record]]
kind = "weather"
name = "Weather"
about = "What it was like outside."
[record.field]
launch = { type = "int", about = "Number of the launch." }
degrees = { type = "float", unit = "K", absent = "nan", about = "How warm." }
"""


def records_with(tmp_path: Path, entry: str) -> dict[str, str]:
    path = tmp_path / "records.toml"
    path.write_text((ROOT / generate_records.SCHEMA).read_text(encoding="utf-8") + entry)
    texts: dict[str, str] = generate_records.outputs(path)
    return texts


def test_a_new_record_is_one_entry_of_the_schema(tmp_path: Path) -> None:
    made = records_with(tmp_path, NEW_RECORD)
    header = made["kernels/record/records.hpp"]
    assert "  double degrees = std::numeric_limits<double>::quiet_NaN();" in header
    assert '      .add("degrees", r.degrees);' in header
    assert "| `degrees` | float | K | `null` | How warm. |" in made["docs/reference/records.md"]
    module = tmp_path / "records.py"
    module.write_text(made["src/mpigauge/model/records.py"], encoding="utf-8")
    weather = run_path(str(module))["KINDS"]["weather"](3)
    assert weather.launch == 3
    assert math.isnan(weather.degrees)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (NEW_RECORD.replace("Weather", "Rank"), "Rank: defined twice"),
        (NEW_RECORD.replace('"float"', '"Sun"'), "Weather.degrees: unknown type Sun"),
        (NEW_RECORD.replace("launch = {", 'launch = { by = "me",'), "nobody called me writes"),
        (NEW_RECORD.replace('"int",', '"int", absent = 0,').replace('absent = "nan", ', ""),
         "Weather: what can be absent comes last"),
    ],
)  # fmt: skip
def test_a_broken_schema_of_records_is_refused(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        records_with(tmp_path, entry)


def test_records_that_mpigauge_does_not_read_are_written_all_the_same() -> None:
    header = (ROOT / "kernels/record/records.hpp").read_text(encoding="utf-8")
    assert '.add("one_clock", r.one_clock)' in header
    assert "one_clock" not in {field.name for field in fields(Launch)}
