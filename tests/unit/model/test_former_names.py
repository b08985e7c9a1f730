# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Benchmarks that were renamed are found by their former names, also in stored runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.former_names import FORMER, FORMER_SUITE, SUITE
from mpigauge.model.stored_cards import FILE, all_cards
from mpigauge.result.nature import nature
from tests import runs

NAMES = [pytest.param(former, now, id=former) for former, now in FORMER.items()]


@pytest.mark.parametrize(("former", "now"), NAMES)
def test_a_former_name_is_the_present_benchmark(former: str, now: str) -> None:
    card = all_cards().find(f"{SUITE}:{now}")
    for word in (former, former.lower(), f"{FORMER_SUITE}:{former}", f"more:{former}"):
        assert all_cards().find(word) is card
        assert all_cards().chosen([word]) == [card]


def test_a_family_is_all_algorithms_of_a_collective() -> None:
    names = [card.name for card in all_cards().chosen(["alg:allreduce"])]
    assert "Allreduce/ring" in names
    assert all(name.startswith("Allreduce/") for name in names)
    assert len(names) > 5
    assert [card.word for card in all_cards().chosen(["Allreduce"])] == ["Allreduce"]


def test_a_stored_run_has_the_present_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        runs.cell(launch, suite=suite, benchmark=name, message_bytes=8, time_p50_s=2e-6)
        for launch in range(6)
        for suite, name in ((FORMER_SUITE, "Bcast_by_hand"), ("MPI1", "Bcast"))
    ]
    old = runs.write(tmp_path / "old", lines)
    cards = json.loads(FILE.read_text(encoding="utf-8"))
    for card in cards["benchmarks"]:
        if card["name"] == "Bcast/binomial":
            card.update(suite=FORMER_SUITE, name="Bcast_by_hand")
    (old / "cards.json").write_text(json.dumps(cards))
    assert run(["show", str(old), "--format", "json"]) == 0
    shown = capsys.readouterr().out
    assert "Bcast/binomial" in shown
    assert "by_hand" not in shown
    for value in ("Bcast_by_hand", "Bcast/binomial"):
        only = ["--only", f"benchmark={value}"]
        assert run(["compare", str(old), str(old), *only]) == 0
        assert "Bcast/binomial" in capsys.readouterr().out


def test_algorithms_are_messages_as_they_were() -> None:
    """Settings of collectives have no effect on them, those of messages have."""
    assert {nature(card.suite, card.name).does for card in all_cards().default(SUITE)} == {
        "messages"
    }
