# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""docs/explain/numbers.md has a section for every number that is shown or stored, and no other."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run
from mpigauge.model.columns import COLUMNS, DERIVED
from mpigauge.model.fields import fields
from mpigauge.model.record import Clock, End, Noise, Rank
from mpigauge.model.stored_cards import all_cards
from mpigauge.products.message_model.show import COLUMNS as OF_MODELS
from mpigauge.show.formats import table

if TYPE_CHECKING:
    from pathlib import Path

MEASURED = re.compile(r"_s$|_ratio$|^hz$|^detours$|^seconds$")
WHICH = {column.name for column in COLUMNS if column.group == "cell"} - {"group", "ranks"}
"""Columns that say what was measured; no numbers."""
FORM = re.compile(r"(?<=Peak)_.*|(?<=Clock)_.*|(?<=_loaded)_.*|_(tuned|huge|fresh|update)$")
"""What tells benchmarks of one section apart."""


def named(text: str) -> list[str]:
    lines = re.findall(r"^Names: (.*)$", text, re.MULTILINE)
    return [name for line in lines for name in re.findall(r"`([^`]+)`", line)]


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs/explain/numbers.md").read_text(encoding="utf-8")


def stored() -> set[str]:
    columns = {column.name for column in (*COLUMNS, *DERIVED)} | {each.name for each in fields()}
    records = {f.name for kind in (Rank, Noise, End, Clock) for f in fields_of(kind)}
    return (columns | set(OF_MODELS) | {name for name in records if MEASURED.search(name)}) - WHICH


def shown() -> set[str]:
    """The heads of the columns of tables."""
    things = [each for known in vars(table).values() for each in _all(known)]
    return {each.head for each in things if isinstance(each, table.TableColumn)}


def _all(known: object) -> list[object]:
    if isinstance(known, dict):
        return [each for value in known.values() for each in _all(value)]
    return list(known) if type(known) is list else [known]


def test_every_stored_and_shown_number_has_a_section(page: str) -> None:
    found = set(named(page))
    assert stored() - found == set()
    assert len(shown()) > 15
    assert shown() - found == set()


def test_ratios_have_a_section(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    systems = ("ref:oci-optimized3-36-intel", "ref:oci-optimized3-36-openmpi")
    assert run(["compare", *systems, "--format", "csv"]) == 0
    heads = capsys.readouterr().out.splitlines()[0].split(",")
    sides = re.compile(r"first|second|what$|unit$|benchmark$")
    assert {h for h in heads if not sides.match(h)} - WHICH - set(named(page)) == set()


def test_what_a_node_can_do_has_a_section(page: str) -> None:
    benchmarks = {FORM.sub("", card.word) for card in all_cards() if card.suite == "NODE"}
    assert benchmarks
    assert benchmarks - set(named(page)) == set()


def test_no_number_has_two_sections(page: str) -> None:
    assert [name for name, many in Counter(named(page)).items() if many > 1] == []


def test_no_section_is_about_columns_that_are_gone(page: str) -> None:
    columns = {name for name in named(page) if re.fullmatch(r"[a-z0-9_]+_s|[a-z_]+_ratio", name)}
    assert columns - stored() == set()
