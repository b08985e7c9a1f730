# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.cards import Card, Cards
from mpigauge.model.errors import UserError
from tests import cells

if TYPE_CHECKING:
    from pathlib import Path

CARDS = cells.cards()


def test_names_are_found_in_any_spelling_of_capitals() -> None:
    assert CARDS.find("pingPONG").name == "PingPong"
    assert CARDS.get("pingpang") is None


def test_a_wrong_name_gets_the_right_one() -> None:
    with pytest.raises(UserError, match="no benchmark 'PingPnog'; did you mean 'PingPong'"):
        CARDS.find("PingPnog")


def test_a_name_like_no_other_gets_the_list() -> None:
    with pytest.raises(UserError, match="no benchmark 'qqq'; there are PingPong, PingPing"):
        CARDS.find("qqq")


def test_words_with_commas_are_several_names_each_once() -> None:
    chosen = CARDS.chosen(["bcast,PINGPONG", "Bcast", "barrier"])
    assert [card.name for card in chosen] == ["Bcast", "PingPong", "Barrier"]


def test_some_are_only_run_when_named() -> None:
    names = [card.name for card in CARDS.default()]
    assert "PingPong" in names
    assert "Uniband" not in names


def test_pairs_need_two_ranks() -> None:
    assert not CARDS.find("Uniband").fits(1)
    assert CARDS.find("Bcast").fits(1)


def test_types_and_operations_are_checked_together() -> None:
    assert CARDS.datatype("FLOAT") == "float"
    CARDS.check_op(CARDS.op("LAND"), "int")
    with pytest.raises(UserError, match="land is not defined for float; it reduces int"):
        CARDS.check_op("land", "float")
    with pytest.raises(UserError, match="no data type 'flaot'; did you mean 'float'"):
        CARDS.datatype("flaot")


def test_cards_come_from_the_build(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    path.write_text(cells.cards_text(), encoding="utf-8")
    assert Cards.load(path).names() == CARDS.names()


@pytest.mark.parametrize("content", [None, "{", "{}", "[]", '{"benchmarks":[{"name":"x"}]}'])
def test_cards_that_are_none(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "cards.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=r"cards\.json"):
        Cards.load(path)


def card_of(suite: str, name: str) -> Card:
    return Card(suite, name, "", "pair", "call", "transfer", "none", False, True, "single")


SUITES = Cards(
    (
        card_of("MPI1", "PingPong"),
        card_of("P2P", "PingPong"),
        card_of("EXT", "Accumulate"),
        card_of("EXT", "Unidir_Put"),
        card_of("RMA", "Accumulate"),
        card_of("RMA", "Unidir_put"),
        card_of("RMA", "Fetch_and_op"),
    )
)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("pingpong", "PingPong"),
        ("p2p:pingpong", "P2P:PingPong"),
        ("unidir_put", None),
        ("Unidir_put", "RMA:Unidir_put"),
        ("Unidir_Put", "EXT:Unidir_Put"),
        ("fetch_and_op", "RMA:Fetch_and_op"),
        ("MPI1:Accumulate", None),
    ],
)
def test_a_name_of_several_suites_is_told_apart(word: str, found: str | None) -> None:
    card = SUITES.get(word)
    assert (card.word if card else None) == found


def test_a_name_that_could_be_two_is_refused() -> None:
    with pytest.raises(UserError, match="write EXT:Accumulate or RMA:Accumulate"):
        SUITES.find("Accumulate")


def test_a_near_name_is_given_with_its_suite() -> None:
    with pytest.raises(UserError, match="did you mean 'RMA:Fetch_and_op'"):
        SUITES.find("Fetch_and_ob")


def test_a_suite_stands_for_its_defaults() -> None:
    assert [card.word for card in SUITES.chosen(["ext"])] == ["EXT:Accumulate", "EXT:Unidir_Put"]


@pytest.mark.parametrize(
    ("kind", "fit"), [("plane", [4, 6, 8, 9, 10, 12]), ("volume", [8, 12]), ("one", range(1, 13))]
)
def test_grids_need_factors(kind: str, fit: list[int]) -> None:
    card = replace(card_of("P2P", "Stencil"), ranks=kind)
    assert [n for n in range(1, 13) if card.fits(n)] == list(fit)
