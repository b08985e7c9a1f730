# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge node` on several hosts: its plan, which hosts are named slow, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from mpigauge.measuring.campaign import Results
from mpigauge.measuring.plan import Resources, read_request
from mpigauge.measuring.plan.plan import Plan
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.products.node.cluster.plan import AGAIN, AGAIN_ALONE, ALONE, cluster_plan
from mpigauge.products.node.cluster.result import Cluster, by_ranks, cluster
from mpigauge.products.node.cluster.show import page, sentences
from mpigauge.products.node.measuring import OddHosts
from mpigauge.result.document import Document
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.peers import odd_ones
from mpigauge.site import topology
from mpigauge.site.placement import HostResources
from tests import cells, planted
from tests.unit.measuring.plan.test_plan import MPICH
from tests.unit.products.node.test_node import MACHINES, X86
from tests.unit.products.node.test_products import CARDS as WITH_PRODUCTS
from tests.unit.products.node.test_products import TWO, product

HOSTS = tuple(f"n{number}" for number in range(1, 7))
USUAL_S = 1e-3


def resources_of_hosts(hosts: tuple[str, ...] = HOSTS, ppn: int | None = 2) -> Resources:
    machine = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
    sites = tuple(HostResources(name, replace(machine, hostname=name)) for name in hosts)
    return Resources(machine, sites, ppn)


def plan(hosts: tuple[str, ...] = HOSTS, ppn: int | None = 2, **asked: Any) -> Plan:
    return cluster_plan(read_request(asked), X86, resources_of_hosts(hosts, ppn), MPICH)


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
    assert found.kernels[0].odd == ("n3",)
    assert found.kernels[0].at_once.ratio("n3") == pytest.approx(1.4, rel=0.01)
    assert list(sentences(found)) == [
        "n3 is slow: Triad_tuned 128 MiB takes 1.4 × as long as the median of its peers"
    ]


def again(slow: Mapping[str, float]) -> list[Cell]:
    """All at once, in the second launch."""
    return [replace(cell, launch=1, arm=AGAIN) for cell in at_once(slow)]


@pytest.mark.parametrize(("first", "second"), [("n3", ""), ("n3", "n4")])
def test_what_stood_out_once_is_not_accused(first: str, second: str) -> None:
    measured = [*at_once({first: 1.4}), *again({second: 1.4} if second else {})]
    assert list(sentences(seen(measured, HOSTS, HOSTS))) == [
        *(
            f"{host} stood out once in Triad_tuned 128 MiB, but not the other time"
            for host in (first, second)
            if host
        ),
        "all 6 hosts are like their peers",
    ]


def test_what_stands_out_again_is_slow() -> None:
    slow = [*at_once({"n3": 1.4}), *again({"n3": 1.38})]
    (sentence,) = sentences(seen(slow, HOSTS, HOSTS))
    assert sentence == (
        "n3 is slow: Triad_tuned 128 MiB takes 1.38 × as long as the median of its peers, measured "
        "again"
    )


def each_alone(slow: float, kind: str = ALONE, hosts: Sequence[str] = HOSTS) -> list[Cell]:
    """One launch after the other from the second on; n3 takes so much longer."""
    return [
        triad(f"{kind}{name}", 0, launch, slow if name == "n3" else 1.0)
        for launch, name in enumerate(hosts, 2)
    ]


def test_hosts_are_judged_alone_as_well() -> None:
    """One is slow both times, one when the others rest, and one when they do not."""
    where = (HOSTS, HOSTS, *((name,) for name in HOSTS), ("n3",))
    again_alone = [triad(f"{AGAIN_ALONE}n3", 0, 8, 1.3)]
    both = [*at_once({"n3": 1.4}), *again({"n3": 1.4}), *each_alone(1.3), *again_alone]
    slow = "n3 is slow: Triad_tuned 128 MiB takes"
    assert next(iter(sentences(seen(both, *where)))) == (
        f"{slow} 1.4 × as long as the median of its peers, alone 1.3 ×, measured again"
    )
    alone_only = [*at_once(), *each_alone(1.3), *again_alone]
    assert next(iter(sentences(seen(alone_only, *where)))) == (
        f"{slow} 1.3 × as long as the median of its peers while these rest, at once with the "
        "others 1 ×, measured again"
    )
    loaded_only = [*at_once({"n3": 1.4}), *each_alone(1.0)]
    assert next(iter(sentences(seen(loaded_only, *where)))) == (
        f"{slow} 1.4 × as long as the median of its peers, alone 1 ×"
    )
    once = [*at_once(), *each_alone(1.3), triad(f"{AGAIN_ALONE}n3", 0, 8)]
    assert next(iter(sentences(seen(once, *where)))).startswith("n3 stood out once in")


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
    """At once with all others, and alone; only the benchmark in which it did."""
    odd = OddHosts(plan())
    assert odd.parts(Results(0.05, at_once())) == []
    together, *each = odd.parts(Results(0.05, at_once({"n3": 1.4, "n5": 1.2})))
    assert (together.arm, together.world_ranks) == (AGAIN, 12)
    assert together.benchmarks == ("NODE:Triad_tuned",)
    assert [part.arm for part in each] == ["again host=n3", "again host=n5"]
    assert [(part.world_ranks, part.blocks[0].host) for part in each] == [(2, "n3"), (2, "n5")]
    alone = odd.parts(Results(0.05, [*at_once(), *each_alone(1.3)]))
    assert [part.arm for part in alone] == ["again", "again host=n3"]


def test_products_are_measured_on_every_host_where_a_library_is_named() -> None:
    plan = cluster_plan(
        replace(read_request({}), blas=TWO), WITH_PRODUCTS, resources_of_hosts(), MPICH
    )
    found = [part for part in plan.parts if part.benchmarks == ("NODE:DGEMM",)]
    assert [part.arm for part in found[:7]] == ["", *(f"host={name}" for name in HOSTS)]
    assert [part.suite_options["blas"] for part in found[::7]] == [each.word for each in TWO]
    assert "NODE:DGEMM" not in plan.parts[0].benchmarks
    slow = [
        product(50 if (host, library) == (2, "mkl") else 100, ranks=2, group=host, groups=6,
                settings=f"blas={library}")
        for library in ("openblas", "mkl")
        for host in range(6)
    ]  # fmt: skip
    (sentence,) = sentences(seen(slow))
    assert sentence.startswith("n3 is slow: DGEMM mkl takes 2 × as long")
    together, alone = OddHosts(plan).parts(Results(0.05, slow))
    assert {part.suite_options["blas"] for part in (together, alone)} == {TWO[1].word}


@pytest.mark.parametrize("option", ["threads", "thread-order", "memory-on"])
def test_options_for_one_host_are_refused_on_several(option: str) -> None:
    request = replace(read_request({}), suite_options={option: "1"})
    with pytest.raises(UserError, match=f"--{option}: on several hosts node measures ranks that"):
        cluster_plan(request, X86, resources_of_hosts(), MPICH)


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
