# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several MPIs beside each other: the order of launches, what one that fails costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mpigauge.measuring import campaign
from mpigauge.measuring.campaign import CampaignTask, Ending
from mpigauge.measuring.campaign.state import LaunchOutcome
from mpigauge.measuring.plan import Plan
from mpigauge.model.errors import RunError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import RunWriter, load
from tests import cells
from tests.process.test_campaign import PLAN, Watcher, fake_mpi, measuring

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
        tasks.append(CampaignTask(own, replace(mpi, version=name), KERNELS, writer))
    try:
        return campaign.run_in_turn(tasks, watcher)
    finally:
        for task in tasks:
            task.writer.close()


class Names(Watcher):
    """Remembers whose launch ended when."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def launch_ended(self, state: campaign.CampaignState, outcome: LaunchOutcome) -> None:
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
