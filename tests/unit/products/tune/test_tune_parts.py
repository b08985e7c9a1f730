# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Steps of a tuning that decide without measuring: comparisons, refusals, reasons."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest

from mpigauge.measuring.plan import Request
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.names import CONTROL
from mpigauge.model.rules import Rule
from mpigauge.products.tune.decide.choose import Choice
from mpigauge.products.tune.decide.grid import DEFAULT, grid_of
from mpigauge.products.tune.making import _check_one_level, folder_for, with_level
from mpigauge.products.tune.measure.choosing import noise_of
from mpigauge.products.tune.measure.confirming import _check_calls, why_gone
from mpigauge.products.tune.measure.message_runs import Messages, slower_messages
from mpigauge.products.tune.plan import TUNED
from mpigauge.runs.store.tuned_rules import Evidence, TunedRule
from mpigauge.site.mpi.rule_files.registry import LookUp
from tests.unit.measuring.plan.test_plan import MPICH

Call = tuple[str, int, int]
RULE = Rule("Bcast", 4, 8, 32, "ring")
CHECKED = {("Bcast", ranks, size) for ranks, size in product((3, 4, 5), (7, 8, 20, 32, 33))}


def look_up(calls: list[Call], wrong: Call | None = None) -> LookUp:
    """Answers like files that name another algorithm for one call, and notes all calls."""

    def algorithm(collective: str, ranks: int, size: int) -> tuple[str, ...]:
        calls.append((collective, ranks, size))
        return ("linear" if calls[-1] == wrong else "ring",)

    return algorithm


def test_written_files_are_compared_within_each_rule_and_a_byte_outside() -> None:
    compared: list[Call] = []
    _check_calls(MPICH, [RULE], look_up([]), look_up(compared))
    assert set(compared) == CHECKED
    for wrong in CHECKED:
        with pytest.raises(
            RunError, match=rf"for {MPICH.label} have other rules than those chosen for \('Bcast', "
        ):
            _check_calls(MPICH, [RULE], look_up([], wrong), look_up([]))


def test_no_rule_is_compared_below_one_rank_and_below_no_byte() -> None:
    compared: list[Call] = []
    first = Rule("Bcast", 1, 0, 1, "ring")
    _check_calls(MPICH, [first], look_up(compared), look_up([]))
    assert set(compared) == {("Bcast", ranks, size) for ranks, size in product((1, 2), (0, 1, 2))}


def test_a_folder_that_holds_something_else_takes_no_tuning(tmp_path: Path) -> None:
    assert folder_for(MPICH, None) == Path(f"mpigauge-tuned-mpich-{MPICH.version}")
    assert folder_for(MPICH, tmp_path / "new") == tmp_path / "new"
    (tmp_path / "begun/runs").mkdir(parents=True)
    assert folder_for(MPICH, tmp_path / "begun") == tmp_path / "begun"
    with pytest.raises(UserError, match="is not empty"):
        folder_for(MPICH, tmp_path)


def test_rules_are_chosen_at_one_thread_level() -> None:
    for level in ("", "single", "multiple"):
        _check_one_level(with_level(Request(), level))
    with pytest.raises(UserError, match=r"name one of single, multiple$"):
        _check_one_level(with_level(Request(), "single,multiple"))


def test_the_noise_of_a_tuning_is_the_largest() -> None:
    choices = [Choice(noise, (), ()) for noise in (math.log(1.1), math.nan, math.log(1.3))]
    assert noise_of(choices) == pytest.approx(0.3)
    assert noise_of(choices[1:2]) is None


@pytest.mark.parametrize("stands_in", [False, True])
def test_a_rule_that_fresh_launches_do_not_confirm_has_a_reason(stands_in: bool) -> None:
    chosen = Evidence(0.5, 0.45, 0.55, 6)
    rule = TunedRule(RULE, chosen, None, stands_in=stands_in)
    assert "could not be measured in fresh launches" in why_gone(rule)
    measured = TunedRule(RULE, chosen, Evidence(0.97, 0.912, 1.024, 5), stands_in=stands_in)
    what = "as good" if stands_in else "significantly faster"
    assert f"was not {what} in 5 fresh launches (0.91 to 1.02" in why_gone(measured)


def test_messages_that_get_slower_are_named_by_benchmark_and_sizes() -> None:
    """Sizes of one benchmark that follow each other are one entry; each kind has its own ranks."""
    messages = [
        Messages(("PingPong", "Sendrecv"), 2, {8: 1.0, 64: 1.0, 512: 1.0}),
        Messages(("Exchange",), 6, {16: 1.0, 32: 1.0}),
    ]
    shares = {1: 1.5, 2: 1.4, 5: 1.2, 7: 1.3}
    times = {}
    for place, launch in product(range(8), range(6)):
        for arm in (DEFAULT, CONTROL, TUNED):
            share = shares.get(place, 0.9) if arm == TUNED else 1.0
            times[arm, place, launch] = share * (1 + launch / 1000)
    slower = slower_messages(grid_of(times, range(8), [TUNED]), messages)
    assert [(each.benchmark, each.ranks, each.first_bytes, each.last_bytes) for each in slower] == [
        ("PingPong", 2, 64, 512), ("Sendrecv", 2, 512, 512), ("Exchange", 6, 32, 32)
    ]  # fmt: skip
