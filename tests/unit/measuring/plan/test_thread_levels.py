# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Thread levels of MPI: planned as launches of their own, told apart, named and compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.cli.runs.seats import seat_lines
from mpigauge.measuring.plan import LaunchPlan, Plan, Resources, kernel_words, resolve
from mpigauge.measuring.plan.arms.arms import Arm
from mpigauge.measuring.plan.narrowed import narrowed
from mpigauge.model.column_facts import OF_NAME
from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import LEVELS, THREAD_LEVEL
from mpigauge.products.sweep.plan import swept
from mpigauge.result.document import document
from mpigauge.runs.store import load
from mpigauge.site import topology
from tests import asked, cells, runs
from tests.unit.measuring.plan.test_plan import CARDS, MPICH

if TYPE_CHECKING:
    from pathlib import Path

USING = tuple(replace(card, options=(THREAD_LEVEL,)) for card in CARDS.benchmarks)
TALKING = replace(USING[0], suite="MT", name="PingPongMT", options=("threads", THREAD_LEVEL))
POOL = ("threads", "thread-order", THREAD_LEVEL)
WORKING = replace(USING[0], suite="NODE", name="Copy", ranks="any", options=POOL)
ALL = replace(CARDS, benchmarks=(*USING, TALKING, WORKING))


def planned(repository: Path, benchmark: str = "PingPong", **raw: Any) -> Plan:
    machine = topology.built(repository / "tests/machines/laptop-i7-8550u-smt.txt")
    return resolve(
        asked.request({"benchmarks": [benchmark], **raw}), ALL, Resources(machine), MPICH
    )


def levels_of(plan: Plan) -> list[str]:
    return [part.suite_options.get(THREAD_LEVEL, "") for part in plan.parts]


def test_the_levels_of_the_option_are_those_of_the_column() -> None:
    assert OF_NAME["thread_level"].values == ("", *LEVELS)


def test_each_level_has_launches_of_its_own(repository: Path) -> None:
    plan = planned(repository, thread_level="single,multiple,single")
    assert levels_of(plan) == ["single", "multiple"]
    words = kernel_words(plan, LaunchPlan(number=1, part=plan.part(1), seed=1))
    assert words[words.index("--thread-level") + 1] == "multiple"
    assert Plan.from_json(plan.to_json()) == plan


def test_without_the_option_kernels_choose(repository: Path) -> None:
    plan = planned(repository)
    assert levels_of(plan) == [""]
    assert "--thread-level" not in kernel_words(plan, LaunchPlan(0, plan.part(0), seed=1))


def test_a_dry_run_says_the_levels(repository: Path) -> None:
    plan = planned(repository, thread_level="single,multiple")
    machine = topology.built(repository / "tests/machines/laptop-i7-8550u-smt.txt")
    titles = [seat_lines(part, Resources(machine))[0] for part in plan.parts]
    assert [title.rpartition(", ")[2] for title in titles] == [
        "PingPong at thread level single", "PingPong at thread level multiple",
    ]  # fmt: skip


def test_a_sweep_varies_settings_at_each_level(repository: Path) -> None:
    plan = planned(repository, thread_level="single,multiple")
    arms: list[tuple[Arm, dict[str, str]]] = [(Arm(), {}), (Arm({"A": "1"}), {"A": "1"})]
    found = [
        (part.arm, part.suite_options[THREAD_LEVEL]) for part in swept(plan, arms, False).parts
    ]
    assert found == [("", "single"), ("", "multiple"), ("A=1", "single"), ("A=1", "multiple")]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"thread_level": "multipel"}, "--thread-level: there is no thread level 'multipel'"),
        ({"thread_level": "x"}, "--thread-level: there is no thread level 'x'; there are single"),
        ({"thread_level": "single,"}, "there is no thread level ''"),
    ],
)
def test_wrong_levels_are_said(repository: Path, raw: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as error:
        planned(repository, **raw)
    assert message in str(error.value)


def test_threads_refuse_levels_that_do_not_allow_them(repository: Path) -> None:
    with pytest.raises(UserError, match="--thread-level funneled: the threads of PingPongMT call"):
        planned(repository, "PingPongMT", threads="2", thread_level="multiple,funneled")
    with pytest.raises(UserError, match="--thread-level single: the threads of Copy run beside"):
        planned(repository, "Copy", threads="1,2", thread_level="single,funneled", ranks="1")
    assert levels_of(planned(repository, "PingPongMT", threads="2", thread_level="multiple"))
    one = planned(repository, "PingPongMT", threads="1", thread_level="single")
    assert levels_of(one) == ["single"]


def test_what_is_measured_once_more_is_at_its_level(repository: Path) -> None:
    plan = planned(repository, thread_level="single,multiple")
    once = narrowed(plan, [cells.cell(thread_level="multiple", message_bytes=8)])
    assert once is not None
    assert levels_of(once) == ["multiple"]
    lower = narrowed(plan, [cells.cell(thread_level="funneled", message_bytes=8)])
    assert lower is not None, "a library that provides what nobody asked for"
    assert levels_of(lower) == ["single", "multiple"]


# --- stored runs ----------------------------------------------------------------------------
def stored(folder: Path, provided: dict[str, str], known: bool = True) -> Path:
    """A run that asked for these levels, and what was provided; once there was no column."""
    lines = []
    for number in range(6 * len(provided)):
        asked_for, level = list(provided.items())[number % len(provided)]
        fields: dict[str, Any] = {
            "launch": number,
            "message_bytes": 8,
            "time_p50_s": 1e-6 + LEVELS.index(level) * 1e-6,
            "thread_level": level,
        }
        cell, launch = cells.fields(**fields), {"thread_level_asked": asked_for}
        if not known:
            del cell["thread_level"], launch["thread_level_asked"]
        lines.append(runs.launch(number, thread_level=level, **launch))
        lines += [cells.line("cell", **cell), cells.end(number)]
    return runs.write(folder, lines)


def test_headings_name_the_level(tmp_path: Path) -> None:
    run = load(stored(tmp_path / "run", {"single": "single", "multiple": "multiple"}))
    found = document(run)
    assert [table.variant for table in found.tables()] == [
        {"thread_level": "single"}, {"thread_level": "multiple"},
    ]  # fmt: skip
    assert not any("thread level" in sentence for sentence in found.sentences)


def test_levels_of_a_run_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(tmp_path / "run", {"single": "single", "multiple": "multiple"})
    assert cli(["compare", str(run), "--by", "thread_level"]) == 0
    said = capsys.readouterr().out
    assert "multiple" in said
    assert "SLOWER" in said


def test_runs_of_two_levels_are_compared_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = stored(tmp_path / "old", {"single": "single"}, known=False)
    new = stored(tmp_path / "new", {"multiple": "multiple"})
    assert cli(["compare", str(old), str(new)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "thread level: the default against multiple" in said


def test_a_lower_level_than_was_asked_for_is_said(tmp_path: Path) -> None:
    run = load(stored(tmp_path / "run", {"single": "single", "multiple": "funneled"}))
    (said,) = (each for each in document(run).sentences if "thread level" in each)
    assert said == (
        "the MPI library was asked for thread level multiple and provided funneled, under which "
        "its rows stand."
    )
    levels = [table.variant["thread_level"] for table in document(run).tables()]
    assert levels == ["single", "funneled"]


def test_runs_that_know_no_levels_have_the_default(tmp_path: Path) -> None:
    run = load(stored(tmp_path / "run", {"single": "single"}, known=False))
    assert {cell.thread_level for cell in run.cells} == {""}
    assert {launch.thread_level_asked for launch in run.launches} == {""}
    assert [table.variant for table in document(run).tables()] == [{}]
