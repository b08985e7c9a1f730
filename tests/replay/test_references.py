# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The reference library: every file is whole, and its numbers are those that were published."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.record import Figure
from mpigauge.result.document import document
from mpigauge.result.stats.launches import rows
from mpigauge.runs.readers import Text, sniff
from mpigauge.runs.readers.reading import joined
from mpigauge.runs.readers.references import names, reference
from mpigauge.runs.store.imported import load_reference
from mpigauge.session import run_names
from mpigauge.show import formats

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.model.row import Row

PRINTED = Path(__file__).parents[1] / "golden/printed"


def cell_of(name: str, benchmark: str, size: int, **more: str) -> Row:
    found = [
        row
        for row in rows(load_reference(name).cells)
        if (row.benchmark, row.message_bytes) == (benchmark, size)
        and all(getattr(row.cell, column) == value for column, value in more.items())
    ]
    assert len(found) == 1
    return found[0]


def test_there_is_one_for_each_system() -> None:
    assert names() == [
        "aws-c5n-18xlarge-intel", "aws-c5n-18xlarge-openmpi", "ember-uv1000", "juno",
        "oci-optimized3-36-intel", "oci-optimized3-36-openmpi", "orfeo-epyc-rome", "ulysses",
        "xeon-e5-2697-ib",
    ]  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_each_says_where_it_is_from_and_can_be_shown(name: str) -> None:
    known = reference(name)
    assert known.about
    assert known.system
    assert known.source
    stored = load_reference(name)
    figures = stored.of(Figure)
    assert len(stored.cells) + len(figures) > 0
    assert {cell.origin for cell in stored.cells} <= {"imported"}
    assert all(cell.source and cell.statistic for cell in stored.cells)
    for form in formats.for_any_run():
        assert formats.render(form, document(stored))


def test_times_are_of_whole_calls_and_no_error_is_claimed() -> None:
    row = cell_of("oci-optimized3-36-openmpi", "PingPong", 0)
    assert row.latency.value == pytest.approx(1.67e-6)
    assert row.time.value == pytest.approx(3.34e-6)
    assert math.isnan(row.time.error)
    peak = cell_of("oci-optimized3-36-openmpi", "PingPong", 268435456)
    assert peak.bandwidth
    assert peak.bandwidth.value == pytest.approx(12_232.55e6, rel=1e-4)


@pytest.mark.parametrize("name", names())
def test_the_head_of_each_has_what_its_file_says(name: str) -> None:
    known, run = reference(name), load_reference(name)
    assert str(run.path) == f"ref:{name}"
    assert run.header["created"] == known.date
    assert run.header["mpi"] == {"name": " and ".join(known.mpis), "version": ""}
    about = run.header["imported"]
    assert (about["what"], about["source"], about["date"]) == (
        known.about,
        known.source,
        known.date,
    )
    assert run.passport == {"machine": {"hostname": known.system}}
    assert run.status == {"status": "done"}
    tables = {str(table.fixed["source"]) for table in known.reading.tables}
    figures = {figure.source for figure in known.reading.figures}
    assert set(about["sources"]) == (tables | figures) - {""}


def test_the_variants_of_a_system_stay_apart() -> None:
    far = cell_of("ember-uv1000", "MORE:ping_pong", 10000, placement="cores:96,180")
    near = cell_of("ember-uv1000", "MORE:ping_pong", 10000, placement="cores:96,97")
    assert (far.latency.value, near.latency.value) == pytest.approx((25.24e-6, 3.00e-6))
    assert far.cell.arm == "MPI_SHARED_NEIGHBORHOOD=HOST"


def test_a_word_names_a_run_or_a_reference() -> None:
    assert run_names.open_run("ref:juno").header["imported"]["source"]
    with pytest.raises(UserError, match="did you mean 'juno'"):
        run_names.open_run("ref:junno")


def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ref", "list"]) == 0
    assert all(f"ref:{name}" in capsys.readouterr().out for name in names()[:1])
    assert run(["ref", "show", "juno"]) == 0
    by_ref = capsys.readouterr().out
    assert run(["show", "ref:juno"]) == 0
    assert capsys.readouterr().out == by_ref
    assert run(["ref", "show", "nowhere"]) == 2


PUBLISHED = {
    "ember-uv1000": "ember-imb31-* ember-pingpong-*",
    "juno": "juno-*",
    "oci-optimized3-36-intel": "oci-impi-*",
    "oci-optimized3-36-openmpi": "oci-openmpi-*",
    "orfeo-epyc-rome": "orfeo-*",
    "xeon-e5-2697-ib": "xeon-*",
}


@pytest.mark.parametrize(("name", "patterns"), PUBLISHED.items())
def test_numbers_are_those_of_the_published_tables(name: str, patterns: str) -> None:
    """A reader gets the same out of the text as somebody has put into the library."""
    files = [
        file for pattern in patterns.split() for file in sorted(PRINTED.glob(f"{pattern}.txt"))
    ]
    texts = [Text(file.read_bytes()) for file in files]
    read = joined(reader.read(text) for text in texts for reader in sniff(text))
    published = Counter(numbers(cell) for table in read.tables for cell in table.cells())
    kept = Counter(numbers(cell) for cell in load_reference(name).cells)
    assert kept - published == Counter(n for n in kept if n[0] == "mpi_latency")
    assert not published - kept


def numbers(cell: Cell) -> tuple[str, int, int, float]:
    return cell.benchmark, cell.ranks, cell.message_bytes, round(cell.time_p50_s, 12)
