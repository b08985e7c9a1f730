# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is generated from schema/columns.toml is current and says what the schema says."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from mpigauge.model import columns
from mpigauge.model.columns import Cell

ROOT = Path(__file__).resolve().parents[2]


def _generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tools" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


generate = _generator()


def record(**changed: Any) -> dict[str, Any]:
    examples = {"int": 1, "float": 2.0, "str": "x", "bool": False, "words": ["drift"]}
    return {column.name: examples[column.type] for column in columns.COLUMNS} | changed


def test_generated_files_are_current() -> None:
    schema = generate.read_schema(ROOT / "schema" / "columns.toml")
    assert generate.stale(ROOT, generate.outputs(schema)) == []


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
