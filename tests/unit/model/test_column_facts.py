# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the schema says of columns is what tables, names, sentences and comparisons go by."""

from __future__ import annotations

import pytest

from mpigauge.model import column_facts as facts
from mpigauge.model.columns import COLUMNS, KEY_COLUMNS
from mpigauge.result.stats.launches import rows as rows_of
from tests import cells


def test_all_columns_of_a_key_and_no_others_but_the_statistic_tell_numbers_apart() -> None:
    assert (*KEY_COLUMNS, "statistic") == facts.IDENTITY


def test_a_template_has_one_place_for_the_value_or_none() -> None:
    for column in COLUMNS:
        for template in (column.heading, column.in_name, column.phrase):
            assert template.count("{") <= 1, column.name
            assert template.format("7").strip() == template.format("7"), column.name


def test_usual_values_are_among_all_values() -> None:
    for column in COLUMNS:
        assert not column.values or column.usual in column.values, column.name


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("layout", "resize", "resize layout"),
        ("root_shift", True, "moving root"),
        ("completion", "each", "completed one by one"),
        ("sync", "clock", "started by the clock"),
        ("arm", "UCX_TLS=tcp", "UCX_TLS=tcp"),
    ],
)
def test_headings_say_a_value_in_the_words_of_the_schema(
    name: str, value: object, said: str
) -> None:
    assert facts.heading_word(name, value) == said


def test_a_name_says_only_what_is_not_usual() -> None:
    usual = {name: facts.USUAL[name] for name in KEY_COLUMNS if name in facts.USUAL}
    assert list(facts.words_in_name(usual)) == []
    unusual = usual | {"threads": 4, "cache": "cold", "placement": "l3"}
    assert list(facts.words_in_name(unusual)) == ["4 threads", "l3", "cold"]


def test_a_sentence_says_of_a_curve_what_is_not_usual_about_it() -> None:
    assert list(facts.phrases(cells.cell())) == []
    cell = cells.cell(placement="l3", data="fresh", inflight=64)
    assert list(facts.phrases(cell)) == ["at l3", "with 64 in flight", "with fresh data"]


def test_empty_values_have_names_of_their_own() -> None:
    assert facts.value_word("source", "") == "mpigauge"
    assert facts.value_word("op", "") == "none"
    assert facts.value_word("rank", 3) == "3", "a column of figures"
    assert facts.label("message_bytes") == "bytes"
    assert facts.label("rank") == "rank"


def test_rows_are_in_the_order_of_values_that_the_schema_gives() -> None:
    found = rows_of([cells.cell(cache=cache, message_bytes=8) for cache in ("cold", "hot")])
    assert [row.cell.cache for row in found] == ["hot", "cold"]


def test_placements_and_settings_stay_in_the_order_in_which_they_appear() -> None:
    pairs = [("l3", "b"), ("numa", "b"), ("l3", "a")]
    found = rows_of([cells.cell(placement=place, arm=arm) for place, arm in pairs])
    assert [(row.cell.placement, row.cell.arm) for row in found] == pairs
