# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every cause finds what was planted for it, and nothing where it was not."""

from __future__ import annotations

import json
import math
import re
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from mpigauge.cli.main import run as main
from mpigauge.model.columns import COLUMNS
from mpigauge.model.record import Carried, CellRecord, Gpu, GpuState
from mpigauge.products.explain.registry import CAUSES, cause, explain
from mpigauge.result.nature import ANY
from mpigauge.runs.readers import READERS, Text
from mpigauge.runs.store import load
from mpigauge.show.explanation import NO_ROWS, QUIET, page, to_json
from tests import fabrics, planted
from tests.planted import (
    LAPTOP,
    OPEN_MPI,
    ROME,
    SIZES,
    curve,
    line,
    noise,
    ranks,
    run,
    stepping,
    table,
    ticking,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Rank
    from mpigauge.runs.store import Run

GOLDEN = Path(__file__).parents[3] / "golden"
FEW = [8, 64, 512, 4096, 32768, 262144]
ROME_TABLE = """
            0         1000         0.15         0.00
         1024         1000         0.22      4605.93
         2048         1000         0.30      6930.18
         4096         1000         0.40     10225.02
         8192         1000         0.56     14720.87
        16384         1000         1.01     16236.54
        32768         1000         1.67     19583.06
        65536          640         2.97     22052.98
       131072          320         5.20     25187.35
       262144          160        24.28     10798.82
       524288           80        43.56     12034.72
      1048576           40        98.23     10674.20
      2097152           20       172.21     12177.67
      4194304           10       389.03     10781.55
"""
"""Of two ranks on a socket of an EPYC Rome, Open MPI 4.1; L2 of 512 KiB, L3 of 16 MiB."""
JUNO_TABLE = """
            0         1000        44.26         0.00
            8         1000        46.55         0.16
           16         1000        46.46         0.33
           32         1000        23.56         1.30
           64         1000        23.63         2.58
         1024         1000        25.16        38.81
         4096         1000        29.37       133.00
        16384         1000        39.14       399.16
        65536          640       145.80       428.66
       262144          160       314.83       794.07
      1048576           40      1114.86       896.97
      4194304           10      4266.39       937.56
"""
"""Of two ranks of an ARM Juno over the loopback interface, Open MPI 1.6.5."""
ROME_AT = {"machine": ROME}
KNOWN = ("time_p50_s", "time_scale", "moved_bytes", "messages")
TWO_HOSTS = [*ranks(["0"], str(ROME["hostname"])), replace(ranks(["0"], "n2")[0], rank=1)]
WITH_CARD = {
    "machine": ROME | {
        "devices": [{"name": "mlx5_0", "also": [], "kind": "network", "fabric": True, "bus": "",
                     "pus": [], "numa": None}]
    }
}  # fmt: skip
HERE = str(ROME["hostname"])


class Case(NamedTuple):
    planted: Run
    words: str
    """Of the finding."""
    without: Run


def usual(_: tuple[int, int]) -> float:
    return 1.0


def slow_host(pair: tuple[int, int]) -> float:
    return 0.5 if 3 in pair else 1.0


def slow_pair(pair: tuple[int, int]) -> float:
    return 0.5 if pair == (2, 5) else 1.0


def out_of_a(pair: tuple[int, int]) -> float:
    """Pairs of which one host is among the first two."""
    return 0.4 if (pair[0] < 2) != (pair[1] < 2) else 1.0


def at_a(pair: tuple[int, int]) -> float:
    """Pairs of which any host is among the first four."""
    return 0.4 if min(pair) < 4 else 1.0


def colliding(pair: tuple[int, int]) -> float:
    return 0.5 if pair in ((0, 6), (1, 7)) else 1.0


def network(
    together: fabrics.Speed = usual,
    alone: fabrics.Speed | None = None,
    groups: Sequence[str] = (),
    halves: fabrics.Speed | None = None,
    short: fabrics.Speed | None = None,
) -> Run:
    """A run of all hosts at once; alone they are as fast as together, if nothing else is said."""
    hosts = [f"n{place}" for place in range(len(groups) or 8)]
    with tempfile.TemporaryDirectory() as folder:
        speeds = together, alone or together
        made = fabrics.run(Path(folder) / "run", *speeds, hosts, groups, halves, short)
        stored = load(made)
        cells = [replace(each, raw=None) if isinstance(each, CellRecord) else each
                 for each in stored.records]  # fmt: skip
        return replace(stored, records=tuple(cells))


def ulysses(n: int) -> float:
    """One user's two nodes: 3.6 GB/s at 2 KiB, and 150 MB/s from there on."""
    return 2e-7 + n / 5.7e9 if n <= 2048 else n / 150e6


def rate(before: float, behind: float, at: int) -> list[Cell]:
    return curve(lambda n: 1e-6 + n / (before if n <= at else behind))


def step(at: int, by: float) -> list[Cell]:
    return curve(lambda n: 5e-7 + n * 1e-10 + (by if n > at else 0.0))


def settled(**changed: Any) -> list[Cell]:
    return curve(line(), sizes=FEW, **changed)


def two_groups(launches: int = 8) -> list[Cell]:
    return [
        replace(cell, time_p50_s=cell.time_p50_s * (1.5 if cell.launch % 2 else 1.0))
        for cell in curve(line(), sizes=FEW, launches=launches)
    ]


def arms(gain: float, column: str, **more: Any) -> list[Cell]:
    other = curve(line(1e-6 * (1 - gain), 1e-10 * (1 - gain)), sizes=FEW, **more)
    named: dict[str, Any] = {column: "X=1"}
    return [*settled(), *(replace(cell, **named) for cell in other)]


def uneven(ratio: float) -> list[Cell]:
    found = curve(line(5e-6), "Allreduce", FEW, ranks=8, datatype="float")
    return [
        replace(c, time_min_s=c.time_p50_s / ratio, time_max_s=c.time_p50_s,
                time_avg_s=c.time_p50_s / ratio * (1 + (ratio - 1) / 8))
        for c in found
    ]  # fmt: skip


def exchanges(ratio: float, arm: str = "") -> list[Cell]:
    """Messages of one direction, and of both at once, which take so many times as long."""
    both = curve(line(1e-5 * ratio, 1e-8 * ratio), "Sendrecv", FEW, arm=arm)
    return [*curve(line(1e-5, 1e-8), sizes=FEW, arm=arm), *both]


def collectives(allreduce_s: float) -> list[Cell]:
    more: dict[str, Any] = {"ranks": 4, "datatype": "float"}
    return [
        *curve(line(allreduce_s), "Allreduce", FEW, **more),
        *curve(line(4e-6), "Reduce", FEW, **more),
        *curve(line(3e-6), "Bcast", FEW, ranks=4),
    ]


def poor_node(bytes_of_0: int) -> dict[str, Any]:
    nodes = [n | {"bytes": bytes_of_0 if n["number"] == 0 else 16 << 30} for n in ROME["numa"]]
    return {"machine": ROME | {"numa": nodes}}


OPENMPI_OVER_TCP: dict[str, Any] = {
    "mpi": {"name": "openmpi", "version": "5.0.11"},
    "transport": {"name": "tcp", "used": "btl tcp"},
}
MIB = 1 << 20
LINK = "32.0 GT/s x16"


def on_gpus(numa: int = 0, link: str = LINK, **changed: Any) -> list[Rank]:
    """Two ranks with a GPU each."""
    return [
        replace(
            rank,
            gpu=Gpu(index=rank.rank, bus=f"0000:{rank.rank}9:00.0", numa=numa, link=link,
                    link_max=LINK, **changed),
        )
        for rank in ranks(["0", "1"])
    ]  # fmt: skip


def in_memory(alpha: float, beta: float, memory: str = "device", **changed: Any) -> list[Cell]:
    return curve(line(alpha, beta), memory=memory, **changed)


def beside_host(*others: list[Cell]) -> list[Cell]:
    """PingPong in host memory, 10 GB/s, and in others."""
    return [*curve(line()), *(cell for each in others for cell in each)]


def falling(at: int, by: float, memory: str) -> list[Cell]:
    return curve(lambda n: 1e-6 + n * 1e-10 * (by if n > at else 1.0), memory=memory)


def state(throttle: str = "", others: int = 0) -> GpuState:
    return GpuState(
        0, 0, "after", "0000:09:00.0", 1.2e9, 1.98e9, throttle, 690.0, 88.0, others=others
    )


def allreduces(mpi: float, nccl: float, completion: str = "each") -> list[Cell]:
    more: dict[str, Any] = {"ranks": 4, "memory": "device", "datatype": "float", "op": "sum"}
    return [
        *curve(line(1e-5, mpi), "Allreduce", FEW, **more),
        *curve(line(2e-5, nccl), "AllReduce", FEW, suite="NCCL", completion=completion, **more),
    ]


CASES = {
    "gpu-staging": Case(
        run(beside_host(in_memory(2e-6, 2e-10))),
        "PingPong 1 MiB, 2 MiB, 4 MiB: up to 2 × the time of the same in host memory",
        run(beside_host(in_memory(2e-6, 1.1e-10))),
    ),
    "gpu-far": Case(
        run(settled(memory="device"), on_gpus(numa=1)),
        "rank 0, rank 1: the GPU is on another NUMA node than the core",
        run(settled(memory="device"), on_gpus(numa=0)),
    ),
    "gpu-link": Case(
        run(settled(memory="device"), on_gpus(link="32.0 GT/s x8")),
        "GPU 0000:09:00.0, 0000:19:00.0: its PCIe link is slower than it can be",
        run(settled(memory="device"), on_gpus()),
    ),
    "gpu-copy-launch": Case(
        run(beside_host(in_memory(9e-6, 1e-10))),
        "PingPong in device memory: small messages take 8.01 µs or more longer than in host",
        run(beside_host(in_memory(2e-6, 1e-10))),
    ),
    "gpu-turns": Case(
        run(beside_host(in_memory(155e-6, 1e-10))),
        "PingPong in device memory: small messages take 154 µs or more longer than in host",
        run(beside_host(in_memory(2e-6, 1e-10))),
    ),
    "gpu-threshold": Case(
        run(beside_host(falling(65536, 4.0, "device"))),
        "PingPong in device memory: bandwidth falls from",
        run(beside_host(falling(65536, 1.1, "device"))),
    ),
    "gpu-shared": Case(
        run(settled(memory="device", sharing="shared"), on_gpus(ranks_on_it=2)),
        "several ranks share it", run(settled(memory="device"), on_gpus()),
    ),
    "gpu-throttled": Case(
        run(settled(memory="device"), [state("power, thermal")]),
        "GPU 0000:09:00.0: its clock is held down (power, thermal)",
        run(settled(memory="device"), [state()]),
    ),
    "gpu-pageable": Case(
        run([*in_memory(9e-6, 1e-10, "device>host"), *in_memory(9e-6, 1e-10, "device>pinned")]),
        "no faster than with pageable memory",
        run([*in_memory(9e-6, 1e-10, "device>host"), *in_memory(9e-6, 3e-11, "device>pinned")]),
    ),
    "nccl-faster": Case(
        run(allreduces(1e-9, 2e-10)),
        "Allreduce: from 32 KiB on up to 3.76 × the time of NCCL's AllReduce",
        run(allreduces(1e-10, 2e-10)),
    ),
    "algorithm": Case(
        run(stepping(16384, 2.0, benchmark="Allreduce", ranks=4), **OPEN_MPI),
        "Allreduce on 4 ranks: between 16 KiB and 32 KiB the time jumps to 2 ×",
        run(curve(line(), "Allreduce", SIZES[2:], ranks=4), **OPEN_MPI),
    ),
    "another-way": Case(
        run(stepping(16384, 2.0), ranks(["0", "1"]), **OPEN_MPI),
        "between 16 KiB and 32 KiB the time jumps to 2 ×",
        run(curve(line()), ranks(["0", "1"]), **OPEN_MPI),
    ),
    "better-placement": Case(
        run(arms(0.3, "placement")), "placed by X=1 they take up to 30 % less",
        run(arms(0.02, "placement")),
    ),
    "better-setting": Case(
        run(arms(0.3, "arm")), "with X=1 they take up to 30 % less time than by default",
        run(arms(0.3, "arm", launches=5)),
    ),
    "bimodal": Case(
        run(settled(flags=["bimodal"])), "the samples of a launch fall into two groups",
        run(settled()),
    ),
    "header": Case(
        run(stepping(32, 1.8)), "between 32 B and 64 B the time jumps to 1.8 ×",
        run(stepping(32, 1.1)),
    ),
    "launch-groups": Case(
        run(two_groups()), "launches fall into two groups, up to 1.5", run(settled(launches=8))
    ),
    "cache-capacity": Case(
        run(table(ROME_TABLE), **ROME_AT),
        "bandwidth falls from 25206 MB/s (error not known) at 128 KiB",
        run(curve(line()), **ROME_AT),
    ),
    "start-up": Case(
        run(settled(), ranks(["0", "1"], init_s=1.02), **OPEN_MPI),
        "MPI_Init takes 1.02 s or more in every launch",
        run(settled(), ranks(["0", "1"], init_s=0.02), **OPEN_MPI),
    ),
    "clock": Case(
        run(settled(sync="clock", sync_error_s=1e-6)), "clock is not good enough",
        run(settled(sync="clock", sync_error_s=1e-9)),
    ),
    "collapse": Case(
        run(curve(ulysses)), "from 3653 MB/s ±1.0 % at 2 KiB to 150 MB/s",
        run(rate(4e9, 3e9, 2048)),
    ),
    "composed": Case(
        run(collectives(14e-6)), "up to 2 × the time of Reduce and Bcast", run(collectives(7e-6))
    ),
    "cross-socket": Case(
        run(settled(), ranks(["0", "64"], HERE), **ROME_AT), "the two ranks were on two sockets",
        run(settled(), ranks(["0", "1"], HERE), **ROME_AT),
    ),
    "drift": Case(
        run(settled(flags=["drift"])), "differ in 100 % of the rows", run(settled())
    ),
    "far-memory": Case(
        run(settled(), ranks(["0", "1"], HERE), **poor_node(0)),
        "rank 0, rank 1: beside a NUMA node",
        run(settled(), ranks(["0", "1"], HERE), **poor_node(16 << 30)),
    ),
    "first-message": Case(
        run(settled(time_first_s=5e-4)), "up to 249 µs longer than the next ones",
        run(settled(time_first_s=5e-6)),
    ),
    "frequency": Case(
        run(settled(flags=["drift"]), machine=ROME | {"governors": ["powersave"]}),
        "100 % of the rows change",
        run(settled(), machine=ROME | {"governors": ["powersave"]}),
    ),
    "noise": Case(
        run(settled(), [noise(0.3)]), "others take up to 30 % of core 0",
        run(settled(), [noise(0.001)]),
    ),
    "upper-tail": Case(
        run(settled(time_p50_s=1e-4, time_p99_s=1.25e-4), [ticking(length_s=25e-6)]),
        "0.6 % of core 0 is taken by detours, which explains the upper tail of 6 of 6 rows",
        run(settled(time_p50_s=1e-4, time_p99_s=9e-4), [ticking(length_s=25e-6)]),
    ),
    "not-bound": Case(
        run(settled(), [*ranks(["0"]), replace(ranks(["1"])[0], rank=1, cpuset="0-3")]),
        "1 of 2 ranks are not bound as wanted",
        run(settled(), ranks(["0", "1"])),
    ),
    "not-monotonic": Case(
        run(table(JUNO_TABLE)), "8 B takes 1.98 × the time of 32 B", run(curve(line()))
    ),
    "one-core": Case(
        run(settled(), ranks(["3", "3"])), "ranks 0, 1 on CPU 3 of n1",
        run(settled(), ranks(["3", "4"])),
    ),
    "quota": Case(
        run(settled(), ranks(["0", "1"], HERE), machine=ROME | {"cpu_quota": 1.5}),
        "2 ranks share 1.5 CPUs' worth",
        run(settled(), ranks(["0", "1"], HERE), machine=ROME | {"cpu_quota": 2.0}),
    ),
    "rendezvous": Case(
        run(step(4096, 3e-6), **OPEN_MPI),
        "between 4 KiB and 8 KiB the time jumps", run(curve(line())),
    ),
    "slow-host": Case(network(slow_host), "host n3 is slow while all hosts communicate", network()),
    "slow-link": Case(network(slow_pair), "the link of n2 and n5 is slow", network()),
    "lost-packets": Case(
        network(short=slow_pair), "the link of n2 and n5 is slow", network(short=usual)
    ),
    "saturated-uplink": Case(
        network(out_of_a, alone=usual, groups=list("aabbccdd")),
        "the uplink of a is slow", network(groups=list("aabbccdd")),
    ),
    "unfair-switch": Case(
        network(at_a, alone=usual, groups=list("aaaabbbbcccc")),
        "the switch of a", network(groups=list("aaaabbbbcccc")),
    ),
    "colliding-routes": Case(
        network(usual, alone=usual, halves=colliding),
        "routes that collide", network(usual, alone=usual, halves=usual),
    ),
    "one-direction": Case(
        run(exchanges(2.7), TWO_HOSTS, **OPENMPI_OVER_TCP),
        "take up to 2.7 × the time of one message",
        run(exchanges(1.1), TWO_HOSTS),
    ),
    "slow-rank": Case(run(uneven(2.0)), "the slowest rank takes up to 2 ×", run(uneven(1.1))),
    "smt-siblings": Case(
        run(settled(), ranks(["0", "4"], str(LAPTOP["hostname"])), machine=LAPTOP),
        "ranks 0, 1 on core 0", run(settled(), ranks(["0", "1"], str(LAPTOP["hostname"])),
                                    machine=LAPTOP),
    ),
    "steal": Case(
        run(settled(), machine=ROME | {"steal_ratio": 0.04}), "has given 4.0 % of the CPU time",
        run(settled(), machine=ROME | {"steal_ratio": 0.0}),
    ),
    "tcp": Case(
        run(settled(), TWO_HOSTS, transport={"name": "tcp", "used": "btl tcp"}, **WITH_CARD),
        "go over TCP, beside the card mlx5_0",
        run(settled(), TWO_HOSTS, transport={"name": "ucx", "used": "rc_mlx5"}, **WITH_CARD),
    ),
    "tcp-within-host": Case(
        run(settled(), ranks(["0", "1"]), plan={"settings": {"OMPI_MCA_btl": "self,tcp"}}),
        "messages within a host go over TCP",
        run(settled(), ranks(["0", "1"]), plan={"settings": {"OMPI_MCA_btl": "self,sm,tcp"}}),
    ),
    "wrong-data": Case(
        run(settled(wrong_count=3)), "wrong data", run(settled())
    ),
}  # fmt: skip


def found(of: Run, name: str) -> list[str]:
    return [said.what for said in explain(of).findings if said.cause == name]


def test_every_cause_has_a_planted_case() -> None:
    assert set(CASES) == set(CAUSES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_it_is_found_where_it_was_planted(name: str) -> None:
    said = found(CASES[name].planted, name)
    assert any(CASES[name].words in what for what in said), said


@pytest.mark.parametrize("name", sorted(CASES))
def test_recommended_commands_name_the_run(name: str) -> None:
    for finding in explain(CASES[name].planted).findings:
        for attempt in finding.attempts:
            assert not re.search(r"`mpigauge \w+ RUN\b", attempt), attempt


@pytest.mark.parametrize("name", sorted(CASES))
def test_it_is_not_found_where_it_was_not(name: str) -> None:
    assert found(CASES[name].without, name) == []


@pytest.mark.parametrize(
    ("told", "where", "found"),
    [
        ("tcp within a host, tcp between hosts", TWO_HOSTS, "tcp"),
        ("sm within a host, tcp between hosts", TWO_HOSTS, "tcp"),
        ("provider tcp on eth0", TWO_HOSTS, "tcp"),
        ("netmod ofi, provider tcp;ofi_rxm", TWO_HOSTS, "tcp"),
        ("tcp within a host, ucx=rc_mlx5 between hosts", TWO_HOSTS, ""),
        ("tcp within a host", ranks(["0", "1"]), "tcp-within-host"),
        ("netmod ofi, provider tcp", ranks(["0", "1"]), ""),
        ("sm within a host", ranks(["0", "1"]), ""),
    ],
)
def test_what_launches_tell_of_tcp(told: str, where: list[Rank], found: str) -> None:
    """Without any option or setting."""
    measured = run(settled(), [*where, Carried(0, told)], **WITH_CARD)
    causes = {each.cause for each in explain(measured).findings}
    assert causes & {"tcp", "tcp-within-host"} == ({found} if found else set())


def test_exchanges_of_open_mpi_over_tcp_have_a_setting_as_remedy() -> None:
    """Not if it is set, for all rows or by a sweep; and other links may be half duplex."""
    setting = "`--set btl_tcp_flags=1`"
    put = CASES["one-direction"].planted
    plan = {"settings": {"OMPI_MCA_btl_tcp_flags": "1"}}
    sent = replace(put, header={**put.header, "plan": plan})
    other_mpi = run(exchanges(2.7), TWO_HOSTS)
    swept = run(exchanges(2.7, "OMPI_MCA_btl_tcp_flags=1"), TWO_HOSTS, **OPENMPI_OVER_TCP)
    for measured, is_named in ((put, True), (sent, False), (swept, False), (other_mpi, False)):
        (finding,) = (each for each in explain(measured).findings if each.cause == "one-direction")
        assert any(setting in attempt for attempt in finding.attempts) == is_named


def test_ranks_of_one_host_share_no_link() -> None:
    measured = run(exchanges(2.7), ranks(["0", "1"]), **OPENMPI_OVER_TCP)
    assert "one-direction" not in {each.cause for each in explain(measured).findings}


def test_a_guess_of_tcp_yields_to_what_is_told() -> None:
    slow = settled(time_p50_s=40e-6)
    guess = run(slow, TWO_HOSTS, **WITH_CARD)
    told = run(slow, [*TWO_HOSTS, Carried(0, "ucx=rc_mlx5 between hosts")], **WITH_CARD)
    assert "tcp" in {each.cause for each in explain(guess).findings}
    assert "tcp" not in {each.cause for each in explain(told).findings}


def test_a_collective_is_compared_with_its_fastest_algorithm_made_of_messages() -> None:
    more: dict[str, Any] = {"ranks": 4, "datatype": "float"}
    of_library = curve(line(12e-6), "Allreduce", FEW, **more)
    slower = curve(line(9e-6), "Allreduce/ring", FEW, suite="ALG", **more)
    fastest = curve(line(4e-6), "Allreduce/rabenseifner", FEW, suite="ALG", **more)
    (finding,) = [
        each
        for each in explain(run([*of_library, *slower, *fastest])).findings
        if each.cause == "composed"
    ]
    assert "the time of ALG:Allreduce/rabenseifner, with which the same" in finding.what


# --- that benchmark, that MPI, that machine, that certainty ---------------------------------------
def test_no_setting_of_an_mpi_is_blamed_for_a_loop_without_mpi() -> None:
    loops = [
        replace(cell, arm="")
        for at, by in ((2048, 1.5), (65536, 2.0), (262144, 0.5))
        for cell in stepping(at, by, benchmark="Copy_once", suite="NODE", arm=f"X={at}")
    ]
    said = explain(run(loops, ranks(["0", "1"])))
    assert said.findings == ()
    reason = next(blind.reason for blind in said.blind if blind.causes == ("algorithm", "composed"))
    assert reason == "none of its benchmarks is about collectives"


def test_a_reduction_within_a_rank_has_no_other_algorithm() -> None:
    said = explain(run(stepping(16384, 2.0, benchmark="Reduce_local"), **OPEN_MPI))
    assert said.findings == ()


@pytest.mark.parametrize(
    ("mpi", "named"),
    [("openmpi", ["OMPI_MCA_mpi_preconnect_mpi"]), ("mpich", []), ("intel", []), ("", [])],
)
def test_first_messages_are_helped_by_settings_of_that_mpi(mpi: str, named: list[str]) -> None:
    slow = run(settled(time_first_s=5e-4), TWO_HOSTS, mpi={"name": mpi, "version": "5.0"})
    (said,) = [each for each in explain(slow).findings if each.cause == "first-message"]
    assert re.findall(r"[A-Z]+_MCA_mpi_pre\w+", " ".join(said.attempts)) == named


def test_a_cache_is_not_left_for_a_placement_that_is_refused() -> None:
    """Two cores of a Rome share an L3 of 16 MiB; those of the laptop share nothing else."""
    fall = table(ROME_TABLE)
    for seats, level in ((["0", "64"], "l3"), (["0", "1"], "")):
        (said,) = [
            each
            for each in explain(run(fall, ranks(seats, HERE), **ROME_AT)).findings
            if each.cause == "cache-capacity"
        ]
        assert re.findall(r"--place (\w+)", " ".join(said.attempts)) == [level] * bool(level)


def test_what_one_launch_shows_is_a_hint() -> None:
    def of(launches: int) -> Run:
        return run([cell for cell in step(4096, 3e-6) if cell.launch < launches], **OPEN_MPI)

    once = of(1)
    (hint,) = [each for each in explain(once).findings if each.cause == "rendezvous"]
    (sure,) = [each for each in explain(of(6)).findings if each.cause == "rendezvous"]
    assert sure.tentative == ""
    assert hint.tentative.startswith("one launch shows it, too few to distinguish it from chance")
    text = "\n".join(page("r", explain(once), 96, whole=True))
    assert "   perhaps   from eager" in text
    assert "   only      one launch shows it" in text
    assert "likely" not in text


def test_facts_need_one_launch_and_come_before_hints() -> None:
    here = {"machine": ROME | {"steal_ratio": 0.04}}
    said = explain(run(curve(ulysses, launches=1), ranks(["0", "1"], HERE), **here)).findings
    assert [(each.cause, bool(each.tentative)) for each in said] == [
        ("steal", False), ("collapse", True)
    ]  # fmt: skip


# --- data on a GPU ---------------------------------------------------------------------------
def causes_of(of: Run) -> set[str]:
    return {each.cause for each in explain(of).findings}


@pytest.mark.parametrize("alpha", [9e-6, 150e-6])
def test_ranks_that_share_a_gpu_are_blamed_for_nothing_else(alpha: float) -> None:
    """They take turns: neither the way of messages nor the launch of a copy can be seen."""
    slow = in_memory(alpha, 3e-10, sharing="shared")
    assert causes_of(run(beside_host(slow), on_gpus(ranks_on_it=2))) == {"gpu-shared"}


@pytest.mark.parametrize(("beta", "found"), [(1e-10, True), (2e-11, False)])
def test_staging_is_a_guess_where_host_memory_was_not_measured(beta: float, found: bool) -> None:
    """A link of 32 GT/s x16 carries 63 GB/s."""
    of = run(in_memory(1e-5, beta), on_gpus())
    assert causes_of(of) == ({"gpu-staging"} if found else set())
    assert all(not said.proved for said in explain(of).findings)
    apart = [replace(rank, host=f"n{rank.rank}") for rank in on_gpus()]
    assert "gpu-staging" not in causes_of(run(in_memory(1e-5, beta), apart))


def test_the_recorded_tables_of_two_ranks_on_one_gpu() -> None:
    """IMB-MPI1-GPU on an H200: flat at 155 µs, which is no launch of a copy."""
    texts = (GOLDEN / f"printed/impi-gpu-MPI1-{word}-np2.txt" for word in ("device", "cpu"))
    readings = [READERS["imb"].read(Text(file.read_bytes())) for file in texts]
    cells_of = [cell for one in readings for table in one.tables for cell in table.cells()]
    causes = causes_of(run(cells_of))
    assert "gpu-turns" in causes
    assert not causes & {"gpu-copy-launch", "gpu-staging"}


@pytest.mark.parametrize(("mps", "word"), [(False, "no MPS"), (True, "with MPS")])
def test_turns_end_with_mps(mps: bool, word: str) -> None:
    shared = settled(memory="device", sharing="shared")
    (said,) = explain(run(shared, on_gpus(ranks_on_it=2, mps=mps))).findings
    assert word in said.evidence[0]
    assert any("nvidia-cuda-mps-control" in attempt for attempt in said.attempts) == (not mps)


def test_other_processes_on_a_gpu() -> None:
    (said,) = explain(run(settled(memory="device"), [*on_gpus(), state(others=2)])).findings
    assert said.cause == "gpu-shared"
    assert said.evidence == ("0000:09:00.0: 2 other processes after the measurement",)


@pytest.mark.parametrize(
    ("link", "proved"),
    [("32.0 GT/s x8", True), ("16.0 GT/s x16", False), ("2.5 GT/s x16", False),
     ("8.0 GT/s x4", True)],
)  # fmt: skip
def test_fewer_lanes_prove_more_than_a_slow_link(link: str, proved: bool) -> None:
    """An idle GPU slows its link down."""
    (said,) = explain(run(settled(memory="device"), on_gpus(link=link))).findings
    assert (said.cause, said.proved) == ("gpu-link", proved)
    assert link in said.evidence[0]


@pytest.mark.parametrize("link", ["", "unknown", "64.0 GT/s x16", LINK])
def test_links_that_are_not_slow(link: str) -> None:
    assert causes_of(run(settled(memory="device"), on_gpus(link=link))) == set()


def test_a_node_that_is_not_known_is_not_far() -> None:
    assert causes_of(run(settled(memory="device"), on_gpus(numa=-1))) == set()


def test_gpus_that_no_data_are_on_are_no_matter() -> None:
    """Ranks have GPUs, and their data are in host memory."""
    said = explain(run(settled(), on_gpus(numa=1, link="2.5 GT/s x1", ranks_on_it=2)))
    assert said.findings == ()


def test_pipelined_calls_of_nccl_are_not_held_against_the_mpi() -> None:
    assert "nccl-faster" not in causes_of(run(allreduces(1e-9, 2e-10, completion="end")))


def test_no_setting_of_the_mpi_is_named_for_nccl() -> None:
    steps = stepping(16384, 2.0, benchmark="AllReduce", suite="NCCL", ranks=4, memory="device")
    for said in explain(run(steps, **OPEN_MPI)).findings:
        assert not re.search(r"OMPI_|UCX_|--transport", " ".join(said.attempts)), said


@pytest.mark.parametrize(
    ("device", "found"), [("device", True), ("managed", True), ("pinned", False)]
)
def test_thresholds_of_data_on_a_gpu_alone(device: str, found: bool) -> None:
    of = run(beside_host(falling(65536, 4.0, device)))
    assert ("gpu-threshold" in causes_of(of)) == found


def test_a_cache_holds_no_data_of_a_gpu() -> None:
    fall = table(ROME_TABLE, memory="device")
    assert "cache-capacity" not in causes_of(run(fall, **ROME_AT))


def test_pageable_memory_counts_beside_a_gpu_only() -> None:
    """Between host and pinned memory no GPU copies."""
    assert causes_of(run(beside_host(in_memory(1e-6, 1e-10, "pinned")))) == set()


# --- the users' tables -----------------------------------------------------------------------
def test_a_table_without_its_machine_claims_no_cache() -> None:
    """The same figures, where nothing tells the caches."""
    said = explain(run(table(ROME_TABLE), mpi={}))
    (fall,) = [each for each in said.findings if each.cause == "collapse"]
    assert "or messages outgrow a cache, which the run does not record" in fall.likely
    assert "the run does not describe its machine" in [blind.reason for blind in said.blind]


def test_a_capacity_that_lies_there_is_named() -> None:
    (said,) = [
        each
        for each in explain(CASES["cache-capacity"].planted).findings
        if each.cause in ("cache-capacity", "collapse")
    ]
    assert said.evidence[0].startswith("the L2 cache beside these ranks holds 512 KiB")
    assert 0.05 < said.cost < 0.5


def test_a_limit_that_lies_there_is_named_and_one_that_does_not_is_not() -> None:
    def steps(at: int, **header: Any) -> Any:
        planted_run = run(step(at, 2e-5), ranks(["0", "1"]), **header)
        return next(s for s in explain(planted_run).findings if s.cause == "rendezvous")

    said = steps(4096, **OPEN_MPI)
    limit = "eager to rendezvous: OMPI_MCA_btl_sm_eager_limit is"
    assert f"{limit} usually 4 KiB" in said.evidence
    assert "vary OMPI_MCA_btl_sm_eager_limit (" in said.attempts[0]
    said = steps(65536, **OPEN_MPI)
    assert "nothing in the run proves it" in said.likely
    assert "OMPI_MCA_btl_sm_eager_limit" not in said.attempts[0]
    said = steps(65536, plan={"settings": {"OMPI_MCA_btl_sm_eager_limit": "65536"}}, **OPEN_MPI)
    assert f"{limit} set to 64 KiB" in said.evidence


def test_curves_that_fall_together_are_told_together() -> None:
    many = [cell for size in (1, 2, 4) for cell in curve(ulysses, inflight=size)]
    said = [each for each in explain(run(many)).findings if each.cause == "collapse"]
    assert len(said) == 1
    alone = [each for each in explain(run(curve(ulysses))).findings if each.cause == "collapse"]
    assert said[0].cost == pytest.approx(alone[0].cost)


# --- all of them together --------------------------------------------------------------------
def quiet() -> Run:
    """Two ranks beside each other on a quiet machine."""
    more: dict[str, Any] = {"ranks": 2, "datatype": "float", "time_first_s": 3e-6}
    measured = [
        *curve(line(3e-7, 1.2e-10), time_first_s=2e-6),
        *curve(line(4e-7, 1.5e-10), "Sendrecv", time_first_s=2e-6),
        *curve(line(9e-7, 4e-10), "Allreduce", SIZES[2:], **more),
        *curve(line(6e-7, 2e-10), "Bcast", SIZES[2:], **more),
        *curve(line(6e-7, 3e-10), "Reduce", SIZES[2:], **more),
    ]
    return run(measured, [*ranks(["0", "1"], HERE), ticking(length_s=2e-6)], **ROME_AT)


def test_a_quiet_run_says_so_and_what_it_could_not_look_at() -> None:
    said = explain(quiet())
    text = "\n".join(page("quiet", said, 96, whole=True))
    assert said.findings == ()
    assert text.startswith(f"quiet: 114 rows of 6 launches, {len(CAUSES)} causes checked")
    assert QUIET in text
    assert "- the run varies no setting (better-setting)" in text
    assert "- the run has one placement of ranks only (better-placement)" in text
    assert len(said.blind) == 2


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_was_not_planted_is_not_found(name: str) -> None:
    """Runs without the cause have none that another test would have to explain."""
    assert explain(CASES[name].without).findings == ()


def test_settings_that_do_nothing_beat_no_default() -> None:
    """Eight settings on 8 sizes, all alike but for 10 % of noise, in six launches: 10 runs."""
    random = np.random.default_rng(7)
    found = [
        said.what
        for _ in range(10)
        for said in explain(
            run(
                replace(
                    cell, time_p50_s=cell.time_p50_s * float(np.exp(0.1 * random.standard_normal()))
                )
                for i in range(9)
                for cell in curve(line(), sizes=SIZES[3:19:2], arm=f"X={i}" if i else "")
            )
        ).findings
        if said.cause == "better-setting"
    ]
    assert len(found) <= 1


def test_the_control_of_a_sweep_is_no_better_setting() -> None:
    """It is the default once more, however fast it came out."""
    made = run(
        replace(cell, time_p50_s=cell.time_p50_s * (0.5 if arm == "control" else 1.0))
        for arm in ("", "control", "X=1")
        for cell in curve(line(), sizes=SIZES[3:19:2], arm=arm)
    )
    assert [f.what for f in explain(made).findings if f.cause == "better-setting"] == []


def test_noise_alone_is_no_cause() -> None:
    """Curves that scatter by 3 % in six launches, without anything in them: 20 runs."""
    random = np.random.default_rng(5)
    found = [
        said.what
        for _ in range(20)
        for said in explain(
            run(
                replace(cell, time_p50_s=cell.time_p50_s * (1 + 0.03 * random.standard_normal()))
                for cell in curve(line(3e-7, 1.2e-10))
            )
        ).findings
    ]
    assert found == []


def test_the_dearest_comes_first_and_wrong_data_before_it() -> None:
    stepping = [replace(cell, cache="cold") for cell in step(4096, 3e-6)]
    both = [*curve(ulysses), *stepping, *settled(data="fresh", wrong_count=1)]
    findings = explain(run(both, [noise(0.3)], **OPEN_MPI)).findings
    costs = [(said.void, said.cost) for said in findings]
    assert costs[0][0]
    known = [cost for void, cost in costs if not void and not math.isnan(cost)]
    assert known == sorted(known, reverse=True)
    assert len(known) > 1
    assert math.isnan(costs[-1][1])


def test_numbers_that_are_not_known_stand_in_nobodys_way() -> None:
    """Of another program's table there may be a time of each size, and nothing else."""
    unknown: dict[str, Any] = dict.fromkeys(
        (c.name for c in COLUMNS if c.type == "float" and c.name not in KNOWN), math.nan
    )
    bare = [replace(cell, **unknown) for cell in table(JUNO_TABLE)]
    said = explain(run([*bare, replace(bare[0], message_bytes=3, time_p50_s=math.nan)], mpi={}))
    assert {each.cause for each in said.findings} <= {"not-monotonic", "rendezvous"}
    assert said.rows == len(bare)
    json.dumps(to_json("bare", said), allow_nan=False)


def test_a_run_without_rows_explains_nothing() -> None:
    said = explain(run([]))
    assert NO_ROWS in list(page("empty", said, 80))
    assert (said.findings, said.blind, said.rows) == ((), (), 0)


def test_what_could_not_be_read_is_told() -> None:
    broken = replace(quiet(), damaged=("records.jsonl, line 7: it is not JSON",))
    assert "- records.jsonl, line 7: it is not JSON" in list(page("r", explain(broken), 96))


def test_two_causes_of_one_name_stop_the_program() -> None:
    assert CAUSES
    with pytest.raises(RuntimeError, match="two causes are named 'steal'"):
        cause("steal", "again", of=ANY, sure_from=1)(lambda _: ())


def test_pairs_that_stand_out_are_named() -> None:
    """Every two of eight cores of a NUMA node; core 5 is slow."""
    seats = [planted.ranks([str(i)], HERE)[0] for i in range(8)]
    seats = [replace(rank, rank=i) for i, rank in enumerate(seats)]
    pairs = [
        replace(cell, members=f"{a},{b}", group=0)
        for a, b in combinations(range(8), 2)
        for cell in curve(
            line((4e-7 if 5 in (a, b) else 2e-7) * (1 + 0.002 * ((a * 3 + b) % 5))), sizes=[8]
        )
    ]
    said = [s for s in explain(run(pairs, seats, **ROME_AT)).findings if s.cause == "slow-rank"]
    assert any("core 5 (" in each.what for each in said), said


# --- the command -----------------------------------------------------------------------------
def test_the_command_prints_text_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(planted.store(CASES["collapse"].planted, tmp_path / "r"))
    assert main(["explain", folder, "--all"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        f"r: 24 rows of 6 launches, {len(CAUSES)} causes checked\n\n1. PingPong: bandwidth"
    )
    assert all(word in text for word in ("costs ", "likely ", "evidence ", "try "))
    assert main(["explain", folder, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["findings"][0]["cause"] == "collapse"
    assert 0 < data["findings"][0]["cost"] < 1
    assert data["causes"] == len(CAUSES)


@pytest.mark.parametrize("name", CASES)
def test_each_part_of_a_finding_is_two_lines_at_most(name: str) -> None:
    """What it is, why in all likelihood, and what to try."""
    said = explain(CASES[name].planted)
    parts: list[list[str]] = []
    for text in page(name, said, 80):
        if re.match(r"\d+\. |   (likely|perhaps|try|void) ", text):
            parts.append([])
        if text.startswith((" ", *"0123456789")) and parts:
            parts[-1].append(text)
    assert len(parts) >= 3 * len(said.findings)
    assert all(len(part) <= 2 and all(len(text) <= 80 for text in part) for part in parts)


def test_what_nothing_proves_is_perhaps() -> None:
    lines = list(page("header", explain(CASES["header"].planted), 80))
    assert [line for line in lines if line.startswith("   perhaps ")]
    assert not [line for line in lines if "(nothing in the run proves it)" in line]


def test_unknown_costs_are_null_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = planted.store(CASES["noise"].planted, tmp_path / "r")
    assert main(["explain", str(folder), "--format", "json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)["findings"]
    assert (said["cause"], said["cost"]) == ("noise", None)


def test_the_causes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown and each.about in shown for name, each in CAUSES.items())


def test_a_run_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nowhere"]) == 2
    assert "there is no run 'nowhere'" in capsys.readouterr().err
