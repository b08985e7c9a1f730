# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge node` on several hosts: its plan, which hosts are named slow, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from mpigauge import topology
from mpigauge.analyse.cluster import Cluster, by_ranks, cluster
from mpigauge.campaign import Results
from mpigauge.cli.commands.node import again_for
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.placement import Site
from mpigauge.plan import Ground, read_request
from mpigauge.plan.cluster import AGAIN, cluster_plan
from mpigauge.plan.plan import Plan
from mpigauge.report.cluster import page, sentences
from mpigauge.report.document import Document
from mpigauge.stats.launches import rows
from mpigauge.stats.peers import odd_ones
from tests import cells, planted
from tests.unit.test_node import MACHINES, X86
from tests.unit.test_plan import MPICH

HOSTS = tuple(f"n{number}" for number in range(1, 7))
USUAL_S = 1e-3


def ground_of_hosts(hosts: tuple[str, ...] = HOSTS, ppn: int | None = 2) -> Ground:
    machine = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
    sites = tuple(Site(name, replace(machine, hostname=name)) for name in hosts)
    return Ground(machine, sites, ppn)


def plan(hosts: tuple[str, ...] = HOSTS, ppn: int | None = 2, **asked: Any) -> Plan:
    return cluster_plan(read_request(asked), X86, ground_of_hosts(hosts, ppn), MPICH)


def triad(arm: str, group: int, launch: int, slow: float = 1.0) -> Cell:
    time = USUAL_S * slow * (1 + 0.001 * (group * 7 % 5))
    return cells.cell(
        "Triad_tuned", suite="NODE", ranks=2, group=group, groups=6, launch=launch, arm=arm,
        message_bytes=1 << 27, moved_bytes=6e7, time_p50_s=time, ci_low_s=time * 0.995,
        ci_high_s=time * 1.005,
    )  # fmt: skip


def at_once(slow: Mapping[str, float] | None = None, hosts: int = 6) -> list[Cell]:
    return [triad("", i, 0, (slow or {}).get(f"n{i + 1}", 1.0)) for i in range(hosts)]


def seats(*launches: tuple[str, ...]) -> list[Any]:
    """Two ranks on each of the hosts of each launch."""
    return [
        replace(rank, rank=2 * place + rank.rank)
        for launch, hosts in enumerate(launches)
        for place, host in enumerate(hosts)
        for rank in planted.ranks(["0", "1"], host, launch)
    ]


def seen(measured: list[Cell], *launches: tuple[str, ...]) -> Cluster:
    found = cluster(rows(measured), by_ranks(seats(*(launches or (HOSTS,)))))
    assert found is not None
    return found


# --- plan -----------------------------------------------------------------------------------
def test_all_hosts_at_once_and_then_one_at_a_time() -> None:
    together, *each = (made := plan()).parts
    assert (made.multi, made.launches) == (1, 1)
    assert (together.world_ranks, together.ranks) == (12, (2,))
    assert [part.arm for part in each] == [f"host={name}" for name in HOSTS]
    assert all(part.world_ranks == 2 and part.ranks == (2,) for part in each)
    assert all(part.benchmarks == together.benchmarks for part in each)
    assert {"NODE:Triad_tuned", "NODE:Chase_huge", "NODE:Noise"} <= set(made.benchmarks)
    assert "NODE:Peak_neon" not in made.benchmarks


def test_hosts_with_more_ranks_than_others_cannot_be_compared() -> None:
    with pytest.raises(UserError, match=r"get from 1 to 2 ranks.*; --ppn 1 gives each as many"):
        plan(ppn=None, np=11)


def test_ranks_that_go_round_are_refused() -> None:
    with pytest.raises(UserError, match="node fills a host with ranks before the next"):
        plan(place=("hosts",))


# --- judgement ------------------------------------------------------------------------------
def test_a_slow_host_is_named_with_its_numbers() -> None:
    found = seen(at_once({"n3": 1.4}))
    (odd,) = found.kernels[0].odd
    assert odd.name == "n3"
    assert odd.ratio == pytest.approx(1.4, rel=0.01)
    assert list(sentences(found)) == [
        "n3 is slow: Triad_tuned 128 MiB takes 1.4 × as long as the median of its peers"
    ]


def test_what_stood_out_once_is_not_accused() -> None:
    measured = [*at_once({"n3": 1.4}), triad(AGAIN, 0, 1)]
    assert "n3 stood out once in Triad_tuned 128 MiB, but not when it was measured again" in (
        list(sentences(seen(measured, HOSTS, ("n3",))))
    )
    slow = [*at_once({"n3": 1.4}), triad(AGAIN, 0, 1, 1.38)]
    (sentence,) = sentences(seen(slow, HOSTS, ("n3",)))
    assert sentence.startswith("n3 is slow")
    assert sentence.endswith("measured again")


def test_hosts_that_are_alike_are_so() -> None:
    found = seen(at_once())
    assert found.kernels[0].odd == ()
    assert list(sentences(found)) == ["all 6 hosts are like their peers"]


def test_few_hosts_do_not_tell_what_is_usual() -> None:
    found = seen(at_once({"n3": 3.0}, hosts=4))
    assert found.kernels[0].odd == ()
    assert next(iter(sentences(found))).startswith("UNDECIDED whether a host is slow: 4 do not")
    assert odd_ones({}) == ()


def test_hosts_that_suffer_from_the_others() -> None:
    alone = [triad("host=n2", 0, 1, 0.8), triad("host=n1", 0, 2, 0.99)]
    found = seen([*at_once(), *alone], HOSTS, ("n2",), ("n1",))
    assert list(found.kernels[0].suffering) == ["n2"]
    assert any("on 1 of 6 hosts when all are at work, on n2 1.25 ×" in s for s in sentences(found))


def test_a_run_of_one_machine_is_no_cluster() -> None:
    assert cluster(rows([triad("", -1, 0)]), by_ranks([])) is None
    assert cluster(rows(at_once(hosts=1)), by_ranks(seats(HOSTS))) is None


def test_what_stood_out_is_measured_again() -> None:
    again = again_for(plan())
    assert again(Results(0.05, at_once())) is None
    part = again(Results(0.05, at_once({"n3": 1.4, "n5": 1.2})))
    assert part is not None
    assert (part.arm, part.world_ranks) == (AGAIN, 4)
    assert [block.host for block in part.blocks] == ["n3", "n5"]


# --- table ----------------------------------------------------------------------------------
def test_the_table_has_all_hosts_at_once_and_alone() -> None:
    measured = [*at_once({"n3": 1.4}), triad("host=n2", 0, 1, 0.8)]
    found = seen(measured, HOSTS, ("n2",))
    shown = "\n".join(page(Document(tuple(rows(measured)), X86), found))
    assert "6 hosts, 2 ranks on each: at once / alone" in shown
    lines = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if " / " in line}
    assert lines["n2"] == ["59.9", "/", "75.0"]
    assert lines["n3"] == ["42.7", "/", "–"]
    assert lines["median"][:2] == ["59.9", "/"]
    assert "n3 is slow" in shown
