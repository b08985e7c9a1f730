# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings that mpigauge adds to a launch by itself, and when it leaves them alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.measuring.jobs.own_settings import start_settings, start_settings_of
from mpigauge.measuring.plan import Plan, PlanPart
from mpigauge.measuring.plan.arms.foreign import Foreign
from mpigauge.model.hosts import HostRanks
from mpigauge.model.mpi import Mpi
from mpigauge.model.stored_cards import all_cards
from mpigauge.site.mpi.quick_start import VARIABLE, WITHOUT_OFI

PART = PlanPart(("PingPong",), 2)
PLAN = Plan((PART,), mpi="x", seed=1)


@pytest.fixture
def open_mpi(tmp_path: Path) -> Mpi:
    return Mpi(
        name="openmpi",
        version="5.0.11",
        standard="3.1",
        library=tmp_path / "lib" / "libmpi.so.40",
        library_string="Open MPI v5.0.11",
        abi="ompi",
        launcher="openmpi",
        mpiexec=tmp_path / "bin" / "mpiexec",
        prefix=tmp_path,
        include=None,
        env={},
        found="in a test",
    )


def added(mpi: Mpi, part: PlanPart = PART, plan: Plan = PLAN, **env: str) -> dict[str, str]:
    return start_settings(plan, part, mpi, {"HOME": "/nonexistent", **env})


def test_open_mpi_5_starts_without_its_sleeping_component(open_mpi: Mpi) -> None:
    assert added(open_mpi) == WITHOUT_OFI
    assert added(replace(open_mpi, version="4.1.6")) == {}
    assert added(replace(open_mpi, name="mpich")) == {}


def test_no_benchmark_that_may_use_the_component_starts_without_it(open_mpi: Mpi) -> None:
    """Windows may use it, and benchmarks of set-up calls may start MPI again."""
    for card in all_cards():
        uses_windows = card.suite in ("EXT", "RMA") or card.name.startswith(("Win", "Sessions"))
        settings = added(open_mpi, replace(PART, benchmarks=(card.word,)))
        assert not (uses_windows and settings), card.word
        if card.suite in ("MPI1", "NBC", "P2P", "IO", "MT"):
            assert settings == WITHOUT_OFI, card.word
    assert added(open_mpi, replace(PART, benchmarks=("PingPong", "RMA:Bidir_put"))) == {}


def test_ranks_on_several_hosts_start_with_it(open_mpi: Mpi) -> None:
    hosts = (HostRanks("n1", 1), HostRanks("n2", 1))
    assert added(open_mpi, replace(PART, blocks=hosts)) == {}
    assert added(open_mpi, replace(PART, blocks=hosts[:1])) == WITHOUT_OFI


def test_programs_of_the_user_start_as_they_do(open_mpi: Mpi) -> None:
    assert added(open_mpi, replace(PART, foreign=Foreign("a.out", ("./a.out",), ()))) == {}


@pytest.mark.parametrize("name", ["btl", VARIABLE])
def test_a_choice_of_the_user_takes_precedence(open_mpi: Mpi, name: str) -> None:
    chosen = {name: "self,tcp"}
    assert added(open_mpi, plan=replace(PLAN, settings=chosen)) == {}
    assert added(open_mpi, plan=replace(PLAN, env=chosen)) == {}
    assert added(open_mpi, replace(PART, settings=chosen)) == {}
    assert added(open_mpi, replace(PART, env=chosen)) == {}
    assert added(open_mpi, OMPI_MCA_btl="self,sm") == {}


def test_a_parameter_file_takes_precedence(open_mpi: Mpi, tmp_path: Path) -> None:
    file = tmp_path / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("# btl = tcp\nbtl_tcp_links = 2\n")
    assert added(open_mpi, HOME=str(tmp_path)) == WITHOUT_OFI
    file.write_text("  btl=self,tcp\n")
    assert added(open_mpi, HOME=str(tmp_path)) == {}
    assert added(open_mpi, OMPI_MCA_mca_base_param_files=str(file)) == {}
    of_the_site = open_mpi.prefix / "etc" / "openmpi-mca-params.conf"
    of_the_site.parent.mkdir()
    of_the_site.write_text("btl = ^uct\n")
    assert added(open_mpi) == {}


def test_a_plan_records_the_settings_of_all_its_parts(open_mpi: Mpi) -> None:
    one_sided = replace(PART, benchmarks=("RMA:Bidir_put",))
    env = {"HOME": "/nonexistent"}
    assert start_settings_of(replace(PLAN, parts=(one_sided,)), open_mpi, env) == {}
    assert start_settings_of(replace(PLAN, parts=(one_sided, PART)), open_mpi, env) == WITHOUT_OFI
