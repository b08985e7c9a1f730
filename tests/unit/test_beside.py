# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several MPIs beside each other: the order of launches, what one that fails costs, the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge import campaign
from mpigauge.campaign import Ending, Task
from mpigauge.campaign.state import Outcome
from mpigauge.model.errors import RunError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.model.row import Row
from mpigauge.plan import Plan
from mpigauge.report.beside import ratio, render, verdict
from mpigauge.report.document import Document, Facts
from mpigauge.stats.launches import rows as rows_of
from mpigauge.store import RunWriter, load
from tests import cells
from tests.unit.test_campaign import PLAN, Watcher, fake_mpi, measuring

__all__ = ["fake_mpi"]

KERNELS = Kernels(Path("/fake/kernel"), Path("/fake/plugin.so"), Path("/fake/cards"))


def beside(
    mpi: Mpi, root: Path, faults: dict[str, str], watcher: Watcher, plan: Plan = PLAN
) -> list[Ending | RunError]:
    """A campaign for each name, with its fault."""
    tasks = []
    for name, fault in faults.items():
        own = replace(plan, env={"FAKE": fault} if fault else {})
        header = {"version": "1", "plan": own.to_json()}
        writer = RunWriter.create(header, cells.cards_text(), output=root / name)
        tasks.append(Task(own, replace(mpi, version=name), KERNELS, writer))
    try:
        return campaign.run_beside(tasks, watcher)
    finally:
        for task in tasks:
            task.writer.close()


class Names(Watcher):
    """Remembers whose launch ended when."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def launch_ended(self, state: campaign.State, outcome: Outcome) -> None:
        super().launch_ended(state, outcome)
        self.names.append(state.name.split()[-1])


# --- campaigns ------------------------------------------------------------------------------
def test_launches_take_turns_and_the_order_turns_round(fake_mpi: Mpi, tmp_path: Path) -> None:
    watcher = Names()
    endings = beside(fake_mpi, tmp_path, {"A": "", "B": "", "C": ""}, watcher)
    assert watcher.names == ["A", "B", "C", "C", "B", "A"]
    assert [ending.status for ending in endings if isinstance(ending, Ending)] == ["done"] * 3
    for name in "ABC":
        stored = load(tmp_path / name)
        assert stored.status["status"] == "done"
        assert stored.complete == {0, 1}
    assert watcher.closed


def test_one_that_fails_leaves_the_others_to_go_on(fake_mpi: Mpi, tmp_path: Path) -> None:
    watcher = Names()
    bad, good = beside(fake_mpi, tmp_path, {"A": "abort", "B": ""}, watcher)
    assert isinstance(bad, RunError)
    assert isinstance(good, Ending)
    assert good.status == "done"
    assert load(tmp_path / "A").status["status"] == "failed"
    assert len(load(tmp_path / "B").cells) == 6


def test_ctrl_c_ends_all_of_them_and_keeps_what_there_is(fake_mpi: Mpi, tmp_path: Path) -> None:
    watcher = Watcher(measuring)
    endings = beside(fake_mpi, tmp_path, {"A": "slow", "B": "slow"}, watcher)
    assert {ending.status for ending in endings if isinstance(ending, Ending)} == {"interrupted"}
    assert load(tmp_path / "A").cells
    assert load(tmp_path / "B").status["status"] == "interrupted"


# --- the table ------------------------------------------------------------------------------
def measured(time_s: float, launches: int = 6, spread: float = 0.01, size: int = 8) -> list[Row]:
    """A row over launches that lie evenly around a time."""
    return rows_of(
        [
            cells.cell(
                launch=i,
                message_bytes=size,
                time_p50_s=2 * time_s * (1 + spread * (i / (launches - 1) - 0.5)),
                ci_low_s=2 * time_s * (1 - spread / 2),
                ci_high_s=2 * time_s * (1 + spread / 2),
            )
            for i in range(launches)
        ],
        0.05,
    )


def page(name: str, rows: list[Row]) -> Document:
    return Document(tuple(rows), cells.cards(), Facts(mpi=name, host="n"))


@pytest.mark.parametrize(
    ("second", "said"),
    [(1.2e-6, "slower"), (0.8e-6, "faster"), (1.005e-6, "undecided")],
)
def test_verdicts(second: float, said: str) -> None:
    (a,), (b,) = measured(1e-6), measured(second)
    assert verdict(b, a) == said
    found = ratio(b, a)
    assert found.value == pytest.approx(second / 1e-6)
    assert found.low < found.value < found.high
    assert found.low == pytest.approx(b.low_s / a.high_s)


def test_few_launches_decide_nothing() -> None:
    (a,), (b,) = measured(1e-6, launches=3), measured(9e-6, launches=3)
    assert verdict(b, a) == "undecided: few launches"


def test_the_table() -> None:
    text = render(
        [
            page("mpich 5.0.2", measured(1e-6) + measured(20e-6, size=65536)),
            page("openmpi 5.0.11", measured(0.5e-6) + measured(21e-6, size=65536)),
            page("intel 2021", measured(1e-6)),
        ]
    )
    assert text.split("\n\n")[1].splitlines() == [
        "PingPong · 2 ranks · byte · 6 launches",
        " bytes  MPI                µs      ± ratio      ±",
        "   8 B  mpich 5.0.2     1.000 ±0.5 %",
        "        openmpi 5.0.11  0.500 ±0.5 % 0.500 ±1.0 %  faster",
        "        intel 2021      1.000 ±0.5 %  1.00 ±1.0 %  undecided",
        "64 KiB  mpich 5.0.2      20.0 ±0.5 %",
        "        openmpi 5.0.11   21.0 ±0.5 %  1.05 ±1.0 %  slower",
        "        intel 2021                                 not measured",
    ]
    assert max(map(len, text.splitlines())) <= 80
