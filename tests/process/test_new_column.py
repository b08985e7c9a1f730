# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A new column is an entry in the schema: what reads, sorts, names, compares and shows it follows.

A copy of the program gets two: a time that the kernels compute out of samples, and something that
cells are told apart by.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import cells, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
TIME = """
[[column]]
name = "time_p90_s"
type = "float"
unit = "s"
group = "time"
quantile = 0.9
about = "90th percentile of samples."
absent = nan
column = "p90 µs"
"""
DIMENSION = """
[[column]]
name = "paint"
type = "str"
group = "cell"
role = "how"
absent = ""
values = ["", "red", "blue"]
empty = "no paint"
heading = "painted {}"
in_name = "{}"
about = "What colour the cable has."
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with both columns, everything generated anew."""
    made = tmp_path_factory.mktemp("tree")
    for name in ("schema", "tools", "src", "profiler"):
        shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
    schema = made / "schema/columns.toml"
    text = schema.read_text(encoding="utf-8")
    derived = text.index("# --- derived")
    schema.write_text(text[:derived] + TIME + DIMENSION + text[derived:], encoding="utf-8")
    subprocess.run([sys.executable, made / "tools/generate.py"], check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runs.write(tmp_path_factory.mktemp("stored") / "run", list(lines()))


def lines() -> Iterator[str]:
    """A usual one and a blue one in each launch, and what the kernels wrote before."""
    for launch in range(6):
        yield runs.launch(launch)
        for paint, time in (("blue", 4e-6), ("", 2e-6)):
            known: dict[str, Any] = {"launch": launch, "message_bytes": 8, "time_p50_s": time}
            fields = cells.fields(**known) | {"paint": paint, "time_p90_s": 3 * time}
            yield cells.line("cell", **fields)
        yield runs.cell(launch, benchmark="PingPing")
        yield cells.end(launch)


def said(tree: Path, *words: object) -> str:
    """What the program in this tree prints."""
    program = "import sys; from mpigauge.cli.main import run; sys.exit(run(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_get_a_field_that_is_written_with_all_others(tree: Path) -> None:
    header = (tree / "kernels/record/columns.hpp").read_text(encoding="utf-8")
    assert "  double time_p90_s = std::numeric_limits<double>::quiet_NaN();" in header
    assert "  record.add(time_p90_s, times.time_p90_s);" in header
    assert "    {&Times::time_p90_s, 0.9}," in header


def test_tables_show_the_time_as_that_of_the_benchmark_and_name_the_dimension(
    tree: Path, run: Path
) -> None:
    usual, painted, without = said(tree, "show", run).split("\nPing")[1:4]
    assert usual.startswith("Pong · 2 ranks · byte · 6 launches")
    assert painted.startswith("Pong · 2 ranks · byte · painted blue · 6 launches")
    for table, time in ((usual, "3.00"), (painted, "6.00")):
        heads, row = table.splitlines()[1:3]
        assert "p90 µs" in heads
        assert time in row.split(), "half of the round trip, as the time beside it"
    assert "p90" not in without, "a column of which nothing is known is not shown"


def test_files_have_both(tree: Path, run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(said(tree, "show", run, "--format", "csv"))))
    assert [(row["paint"], row["time_p90_s"]) for row in rows] == [
        ("", "6e-06"), ("blue", "1.2e-05"), ("", ""),
    ]  # fmt: skip


def test_numbers_are_compared_by_the_dimension(tree: Path, run: Path) -> None:
    compared = said(tree, "compare", run, "--by", "paint")
    assert "blue" in compared
    assert "SLOWER" in compared


def test_what_cannot_be_told_apart_otherwise_is_named_by_it(tree: Path, run: Path) -> None:
    checked = said(tree, "check", run, "--against", run)
    assert "PingPong 8 B on 2 ranks [blue]" in checked


def test_what_is_remembered_of_a_cell_outlives_a_new_column(tree: Path) -> None:
    """It is kept by a hash of the columns, which no older program knew to have one more."""
    program = """
from mpigauge.model.between import cell_name
from mpigauge.model.columns import KEY_COLUMNS, Cell
from tests import cells
for known in ({}, {"paint": "red"}):
    print(len(KEY_COLUMNS), cell_name(Cell.from_record(cells.fields() | known).key))
"""
    found = []
    for source in (ROOT / "src", tree / "src"):
        path = os.pathsep.join(map(str, (source, ROOT)))
        env = {**os.environ, "PYTHONPATH": path}
        words = [sys.executable, "-c", program]
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
        found += [line.split() for line in done.stdout.splitlines()]
    (columns, before), _, (more, same), (_, painted) = found
    assert int(more) == int(columns) + 1
    assert before == same != painted


def test_the_page_of_columns_explains_both(tree: Path) -> None:
    page = (tree / "docs/reference/columns.md").read_text(encoding="utf-8")
    assert "| `paint` | str |  | What colour the cable has. |" in page
    assert "| `time_p90_s` | float | s | 90th percentile of samples. |" in page
