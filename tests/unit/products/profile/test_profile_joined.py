# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A profile beside its machine: which cells it needs, and what they say of its call sites."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.beside.joined import Joined, MachineFigures, joined
from mpigauge.products.profile.beside.measured import joined_at, parts_for
from mpigauge.products.profile.beside.needs import Need, Use, needed, uses_of
from mpigauge.products.profile.match.waiting import WAIT
from mpigauge.products.profile.show.sentences import saved_at_most
from mpigauge.products.profile.show.text import lines_of, page
from mpigauge.products.profile.store.stored import ProfiledJob, load_jobs
from mpigauge.result.stats.launches import rows
from tests.cells import cell
from tests.profiles import job, stored
from tests.runs import cell as cell_line
from tests.runs import launch, write

if TYPE_CHECKING:
    from mpigauge.model.row import Row

ALLREDUCE = Need("Allreduce", 2, 8, "double", "sum")
SMALL, LARGE = Need("PingPong", 2, 0), Need("PingPong", 2, 1024)


def measured(benchmark: str, size: int, seconds: float, **more: Any) -> Row:
    """Six launches that hardly differ."""
    (row,) = rows([
        cell(benchmark, message_bytes=size, launch=n, time_p50_s=seconds * (1 + n / 1000),
             time_avg_s=seconds, **more)
        for n in range(6)
    ])  # fmt: skip
    return row


def sum_of(size: int, seconds: float, **more: Any) -> Row:
    return measured("Allreduce", size, seconds, **({"datatype": "double", "op": "sum"} | more))


def split(found: ProfiledJob, waiting_s: float, moving_s: float) -> ProfiledJob:
    """With what its sums took on each rank told apart."""
    site = [spot.call for spot in found.profile.spots].index("MPI_Allreduce")
    waits = np.zeros(2, WAIT)
    waits["site"], waits["rank"] = site, (0, 1)
    for part, seconds in (("waiting", waiting_s), ("moving", moving_s)):
        waits[f"{part}_s"] = seconds
        waits[f"{part}_low_s"], waits[f"{part}_high_s"] = 0.9 * seconds, 1.1 * seconds
    return replace(found, profile=replace(found.profile, waits=waits))


def test_a_profile_needs_the_cells_of_its_calls() -> None:
    account = Account(job())
    uses = uses_of(account)
    assert {use.need for use in uses} == {ALLREDUCE, SMALL, LARGE}
    assert {use.need: use.calls for use in uses}[ALLREDUCE] == 100
    shares = needed(account, uses)
    assert list(shares) == [ALLREDUCE, LARGE, SMALL]
    assert shares[ALLREDUCE] == pytest.approx(0.3 / (0.3 + 0.04 + 0.01))


def test_what_takes_less_than_a_hundredth_is_not_measured() -> None:
    account = Account(job(slower=1000.0))
    assert list(needed(account, uses_of(account))) == [ALLREDUCE]


def test_collectives_are_measured_with_the_roots_of_the_program() -> None:
    needs = [Need("Bcast", 4, 8, root=3), Need("Bcast", 4, 64, root=3), Need("Bcast", 4, 8),
             Need("Reduce", 2, 8, "double", "sum", 1)]  # fmt: skip
    parts = {(part.benchmarks, part.ranks, part.sizes): part for part in parts_for(needs, 4)}
    assert {key: part.suite_options for key, part in parts.items()} == {
        (("Bcast",), (4,), (8, 64)): {"root": "3"},
        (("Bcast",), (4,), (8,)): {},
        (("Reduce",), (2,), (8,)): {"datatype": "double", "op": "sum", "root": "1"},
    }


def test_roots_that_are_too_seldom_are_measured_together() -> None:
    account = Account(job())
    called, whole = account.inside[0], float(account.mpi_s.sum())
    shares = {0: 0.005, 1: 0.02, 2: 0.008, 3: 0.004}
    uses = [
        Use(called, Need("Bcast", 4, 8, root=root), 1, share * whole, 8, 8)
        for root, share in shares.items()
    ]
    assert needed(account, uses) == {
        Need("Bcast", 4, 8, root=1): pytest.approx(0.02),
        Need("Bcast", 4, 8): pytest.approx(0.017),
    }


def test_the_same_root_speaks_for_a_call_before_root_0() -> None:
    known = [measured("Bcast", 8, 1e-6), measured("Bcast", 8, 2e-6, settings="root=2"),
             measured("Bcast", 64, 3e-6)]  # fmt: skip
    times = {
        (root, size): MachineFigures(known).time(Need("Bcast", 2, size, root=root))
        for root in (0, 1, 2)
        for size in (8, 64)
    }
    assert {key: told.value for key, told in times.items() if told} == pytest.approx({
        (0, 8): 1e-6, (0, 64): 3e-6, (1, 8): 1e-6, (1, 64): 3e-6, (2, 8): 2e-6, (2, 64): 3e-6,
    })  # fmt: skip


def test_times_come_from_the_cell_itself_or_from_between_two() -> None:
    machine = MachineFigures([sum_of(4, 1e-6), sum_of(16, 4e-6), sum_of(64, 4e-6)])
    between = machine.time(ALLREDUCE)
    assert between
    assert between.value == pytest.approx(2e-6, rel=1e-6)
    at = machine.time(ALLREDUCE._replace(message_bytes=64))
    assert at
    assert at.value == pytest.approx(4e-6, rel=1e-6)
    assert at.low <= at.value <= at.high
    assert machine.time(ALLREDUCE._replace(message_bytes=65)) is None
    assert machine.time(ALLREDUCE._replace(ranks=3)) is None
    assert machine.time(ALLREDUCE._replace(op="max")) is None


def test_cells_with_the_arrivals_of_the_program_come_first() -> None:
    usual, ours = sum_of(8, 1e-6), sum_of(8, 3e-6, arrival="profile:ab12")
    other = sum_of(8, 9e-6, arrival="late:1:50us")
    for order in ([usual, ours, other], [other, ours, usual]):
        found = MachineFigures(order, "profile:ab12").time(ALLREDUCE)
        assert found
        assert found.value == pytest.approx(3e-6, rel=1e-6)
    found = MachineFigures([usual, ours, other], "").time(ALLREDUCE)
    assert found
    assert found.value == pytest.approx(1e-6, rel=1e-6)


def test_half_a_round_trip_is_a_message() -> None:
    found = MachineFigures([measured("PingPong", 1024, 6e-6)]).time(LARGE)
    assert found
    assert found.value == pytest.approx(3e-6, rel=1e-6)


def of(found: ProfiledJob, *known: Row) -> Joined:
    account = Account(found)
    return joined(account, uses_of(account), MachineFigures(known))


def test_a_call_site_is_waiting_moving_as_it_can_be_and_moving_above_that() -> None:
    found = of(split(job(), waiting_s=0.08, moving_s=0.05), sum_of(8, 1e-4))
    (site,) = (each for each in found.sites if each.called.spot.call == "MPI_Allreduce")
    assert site.waiting
    assert site.waiting.value == pytest.approx(0.08)
    assert site.machine
    assert site.machine.value == pytest.approx(0.01, rel=0.01)
    assert site.above
    assert site.above.value == pytest.approx(0.04, rel=0.01)
    assert site.above.low < site.above.value < site.above.high
    assert found.sites[0] is site


def test_what_could_not_be_split_counts_as_moving() -> None:
    found = of(job(), sum_of(8, 1e-4))
    (site,) = found.sites
    assert site.waiting is None
    assert site.above
    assert site.above.value == pytest.approx(0.15 - 0.01, rel=0.01)


def test_the_whole_program_saves_no_more_than_that() -> None:
    program = split(job(), waiting_s=0.085, moving_s=0.05)
    best = sum_of(8, 0.5e-4, arm="ALGORITHM=ring")
    found = of(program, sum_of(8, 1e-4), best)
    mpi_s = 0.175
    assert found.network == pytest.approx(mpi_s - 0.085)
    assert found.balance == pytest.approx(0.085 + mpi_s - 0.15)
    assert found.setting == pytest.approx(0.005, rel=0.01)
    assert saved_at_most(found) == (
        "Beside this machine, a perfect network would save at most 9.0 % of the run time, a "
        "perfect balance 11 %, the best known setting 0.5 %."
    )
    assert math.isnan(of(program, sum_of(8, 1e-4)).setting)
    assert saved_at_most(of(program, sum_of(8, 1e-4))).endswith("a perfect balance 11 %.")


def test_the_page_has_a_row_for_each_place() -> None:
    program = split(job(), waiting_s=0.08, moving_s=0.05)
    lines = page([program], beside=of(program, sum_of(8, 1e-4)))
    head = next(line for line in lines if "above that" in line)
    row = lines[lines.index(head) + 1]
    assert row.split()[:2] == ["1", "Allreduce"]
    assert "80.0 ms ±7.1 %" in row
    assert "10.0 ms" in row


def test_programs_are_told_it_with_intervals() -> None:
    program = split(job(), waiting_s=0.08, moving_s=0.05)
    found = of(program, sum_of(8, 1e-4))
    told = json.loads("\n".join(lines_of([program], "json", beside=found)))
    (parts,) = told["jobs"][0]["waiting"]
    assert parts["operation_s"] == pytest.approx(0.1)
    ends = parts["operation_low_s"], parts["operation_high_s"]
    assert ends == pytest.approx((0.1 - 0.005 * 2**0.5, 0.1 + 0.005 * 2**0.5))
    assert parts["disturbed_low_s"] == parts["disturbed_s"] == parts["disturbed_high_s"] == 0
    beside = told["beside_machine"]
    assert beside["perfect_network_saves"] == pytest.approx(found.network)
    assert beside["best_setting_saves"] is None
    (site,) = [each for each in beside["call_sites"] if each["site"] == 1]
    assert site["machine_s"] == pytest.approx(0.01, rel=1e-3)
    assert site["above_low_s"] < site["above_s"] == pytest.approx(0.04, rel=1e-3)
    alone = json.loads("\n".join(lines_of([program], "json")))
    assert alone["beside_machine"] is None


def test_runs_of_the_same_mpi_in_the_store_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = stored(tmp_path / "before", job())
    assert not found_in(folder)
    header = {"plan": {"benchmarks": ["Allreduce"]}, "measured_for": "before"}
    known: dict[str, Any] = {"benchmark": "Allreduce", "datatype": "double", "op": "sum"}
    lines = [launch(), cell_line(**known, time_p50_s=1e-4, time_avg_s=1e-4)]
    write(tmp_path / "before-measured", lines, header=header)
    assert [each.called.spot.call for each in found_in(folder)] == ["MPI_Allreduce"]
    told = tmp_path / "before-measured" / "run.json"
    told.write_text(json.dumps(json.loads(told.read_text()) | {"mpi": {"name": "openmpi"}}))
    assert not found_in(folder)


def found_in(folder: Path) -> list[Any]:
    found = joined_at(folder, load_jobs(folder))
    assert found
    return [each for each in found.sites if each.machine]
