# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whatever is wrong, of every benchmark, with every MPI, on every recorded machine: `explain` names
no setting and no placement that do not exist there, and no MPI for what calls none."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.model.stored_cards import all_cards
from mpigauge.products.explain.needs import FACT, REPEATED
from mpigauge.products.explain.registry import CAUSES, explain
from mpigauge.result.nature import ABOUT, nature, nature_of
from mpigauge.runs.readers.nccl_cards import nccl_card
from mpigauge.site.mpi.settings.catalogue import entries
from mpigauge.site.mpi.settings.known import BELOW
from mpigauge.site.placement import HostResources, place
from mpigauge.site.topology import built
from mpigauge.site.topology.passport import plain
from mpigauge.site.topology.read import read
from tests import planted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.cards import Card
    from mpigauge.model.columns import Cell
    from mpigauge.model.topology import Topology
    from mpigauge.result.finding import Finding
    from mpigauge.runs.store import Run

MPIS = (
    ("mpich", "5.0.2"), ("mpich", "4.0"), ("openmpi", "4.1.1"), ("openmpi", "5.0.2"),
    ("intel", "2018.3"), ("intel", "2021.18.1"), ("mpt", "2.25"), ("mvapich", "3.0"), ("", ""),
)  # fmt: skip
SIZES = (4, 32, 64, 4096, 8192, 65536, 131072, 262144, 1 << 20, 1 << 24)
STEPS = ((32, 2.0), (4096, 2.0), (16384, 0.5))
STEPPING = [1 << i for i in range(3, 19)]
SETTING = re.compile(r"\b(?:OMPI_MCA|MPIR_CVAR|I_MPI|UCX|FI|MPI|HYDRA|PRTE_MCA)_[\w*]+")
PLACE = re.compile(r"--place ([\w,:]+)")
OF_MPI = re.compile(r"\bMPI\b|--transport|--mpi\b|eager|rendezvous|algorithm|single copy|--sync")


@cache
def machines() -> tuple[Topology, ...]:
    files = sorted(planted.MACHINES.glob("*.*"))
    recorded = [read(file) for file in files if file.suffix == ".txt"]
    return (*recorded, *(built(file) for file in files if file.suffix == ".xml"))


def by_nature() -> dict[str, list[Card]]:
    found: dict[str, list[Card]] = defaultdict(list)
    for card in (*all_cards(), nccl_card("AllReduce")):
        found[nature(card.suite, card.name).does].append(card)
    return found


def everything_wrong(card: Card, launches: int) -> Iterator[Cell]:
    """Steps at every limit, a bandwidth that collapses, samples in two groups, and the like."""

    def time(n: int) -> float:
        step = 1e-6 * (1 + 2 * (n > 32) + 5 * (n > 4096) + 40 * (n > 131072))
        return 3e-5 if n == SIZES[0] else step + n * 1e-10 * (1 + 20 * (n > 131072))

    changed: dict[str, Any] = {
        "suite": card.suite, "flags": ["bimodal", "drift", "clock"], "wrong_count": 1,
        "time_first_s": 1e-3, "sync": "clock", "sync_error_s": 1e-5, "time_p99_s": 5e-4,
    }  # fmt: skip
    yield from planted.curve(time, card.name, SIZES, launches, **changed)
    faster = planted.curve(lambda n: time(n) / 2, card.name, SIZES, launches, **changed)
    yield from (replace(cell, arm="X=1") for cell in faster)
    more: dict[str, Any] = {"suite": card.suite, "cache": "cold", "sizes": STEPPING}
    for at, by in STEPS if launches > 1 else STEPS[1:2]:
        of = {**more, "arm": f"X={at}"}
        yield from planted.stepping(at, by, benchmark=card.name, launches=launches, **of)


def run_of(chosen: Sequence[Card], mpi: tuple[str, str], where: Topology, launches: int) -> Run:
    """On the first and the last core of the machine, each rank where another was wanted."""
    cores = [str(pu.number) for pu in where.usable]
    seats = planted.ranks([cores[0], cores[-1]], where.hostname)
    elsewhere = replace(seats[1], wanted_cpuset=cores[len(cores) // 2])
    state = {"governors": ["powersave"], "steal_ratio": 0.3, "cpu_quota": 0.5}
    return planted.run(
        [cell for card in chosen for cell in everything_wrong(card, launches)],
        [seats[0], elsewhere, planted.noise(0.3), planted.ticking()],
        machine=plain(asdict(where)) | state,
        mpi={"name": mpi[0], "version": mpi[1]} if mpi[0] else {},
    )


def words_of(said: Finding) -> str:
    return "\n".join((said.what, said.likely, *said.evidence, *said.attempts))


def settings_there(mpi: tuple[str, str]) -> set[str]:
    of = [e for e in entries() if e.of == mpi[0] and e.is_of_version(mpi[1])]
    below = [e for e in entries() if e.of in BELOW.get(mpi[0], ())]
    return {name for entry in of + below for name in entry.variables()}


def check(said: Finding, mpi: tuple[str, str], where: Topology, launches: int) -> None:
    text = words_of(said)
    cause = CAUSES[said.cause]
    does = {nature_of(row).does for row in said.rows}
    assert does <= cause.of
    assert not set(SETTING.findall(text)) - settings_there(mpi), text
    for word in ",".join(PLACE.findall(text)).split(","):
        if word and not word.startswith("cores"):
            assert place(word, [HostResources(where.hostname, where)], 2, 2), text
    assert bool(said.tentative) == bool(said.rows and launches < cause.sure_from)


@pytest.mark.parametrize("mpi", [MPIS[0], MPIS[3], MPIS[5], MPIS[-1]], ids=" ".join)
def test_every_benchmark_with_every_mpi(mpi: tuple[str, str]) -> None:
    where = next(each for each in machines() if "Rome" in each.cpu_model or len(each.numa) > 1)
    for does, chosen in by_nature().items():
        told = explain(run_of(chosen, mpi, where, 1))
        assert told.findings, does
        for said in told.findings:
            check(said, mpi, where, 1)
            if does == "node":
                assert not OF_MPI.search(words_of(said)), said
            if does not in ("messages", "collective"):
                assert not SETTING.search(words_of(said)), said
            if does != "collective":
                assert "algorithm" not in words_of(said), said


@pytest.mark.parametrize("where", range(len(list(planted.MACHINES.glob("*.*"))) - 1))
def test_every_machine_with_every_mpi(where: int) -> None:
    machine = machines()[where]
    chosen = [of[where % len(of)] for of in by_nature().values()]
    for mpi in MPIS:
        for said in explain(run_of(chosen, mpi, machine, 1)).findings:
            check(said, mpi, machine, 1)


def test_every_cause_is_said_of_six_launches() -> None:
    """What the two tests above look at is most of what `explain` can say."""
    chosen = [card for of in by_nature().values() for card in of[:2]]
    told = [
        said
        for machine in machines()[::4]
        for said in explain(run_of(chosen, MPIS[3], machine, REPEATED)).findings
    ]
    assert not any(said.tentative for said in told)
    assert len({said.cause for said in told}) >= 16


def test_it_is_known_of_every_benchmark_what_it_does() -> None:
    found = by_nature()
    assert set(found) == set(ABOUT) - {"unknown"}
    assert {card.word for card in found["local"]} == {"Reduce_local"}
    assert {card.suite for card in found["node"]} == {"NODE"}
    collectives = {card.word for card in found["collective"]}
    assert collectives > {"Bcast", "NBC:Ibcast_pure", "MPI4:Bcast_persist", "MT:AllReduceMT"}
    assert {card.suite for card in found["messages"]} <= {
        "MPI1", "ALG", "FABRIC", "MT", "P2P", "HALO", "MORE", "MPI4", "REPLAY", "SELFTEST"
    }  # fmt: skip


@pytest.mark.parametrize("name", CAUSES)
def test_every_cause_says_what_it_needs(name: str) -> None:
    cause = CAUSES[name]
    assert cause.of
    assert cause.of <= set(ABOUT)
    assert cause.sure_from in (FACT, REPEATED)
