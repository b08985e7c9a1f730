# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Policies of placement on machines of many shapes: who sits where, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.placement import Placement
from mpigauge.model.placement_words import of_policy
from mpigauge.site import placement, topology
from mpigauge.site.placement import HostResources, registry

MACHINES = Path(__file__).resolve().parents[3] / "machines"
ALL = sorted(path for path in MACHINES.iterdir() if path.suffix in (".txt", ".xml"))
ROME, SKYLAKE, DESKTOP = "epyc-rome-2s-nps4.xml", "skylake-2s-snc-off.xml", "desktop-i9-12900k.xml"
CUT, POWER, PI = "epyc-7402p-cpuset.xml", "power9-2s-smt4.xml", "arm-raspberry-pi-4.xml"
CONTAINER, GPUS = "container-cgroup-v2.txt", "xeon-6426y-4-gpus.txt"


def site(name: str, host: str = "") -> HostResources:
    it = topology.built(MACHINES / name)
    return HostResources(host or it.hostname, it)


def seats(name: str, text: str, ranks: int | None = None, usual: int = 2) -> list[list[int]]:
    """The PUs of each rank."""
    (found,) = placement.place(text, [site(name)], usual, ranks)
    assert found.name == of_policy(text)
    return [sorted(seat.pus) for seat in found.seats]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (ROME, "l3", [[0], [1]]),
        (ROME, "numa", [[0], [4]]),
        (ROME, "socket", [[0], [16]]),
        (ROME, "package", [[0], [16]]),
        (ROME, "sockets", [[0], [64]]),
        (ROME, "node", [[0], [64]]),
        (SKYLAKE, "core", [[0], [40]]),
        (SKYLAKE, "l3", [[0], [2]]),
        (SKYLAKE, "node", [[0], [1]]),
        (DESKTOP, "core", [[0], [1]]),
        (DESKTOP, "l2", [[16], [17]]),
        (DESKTOP, "l3", [[0], [2]]),
        (CUT, "core", [[1], [25]]),
        (CUT, "l3", [[1], [2]]),
        (CUT, "numa", [[1], [3]]),
        (POWER, "l2", [[0], [4]]),
        (POWER, "numa", [[0], [8]]),
        (CONTAINER, "node", [[0], [8]]),
        (ROME, "nic-near", [[96], [97]]),
        (ROME, "nic-near:eth0", [[0], [1]]),
        (ROME, "nic-near:0000:61:00.0", [[0], [1]]),
        (ROME, "nic-far", [[0], [1]]),
        (ROME, "nic-far:eth0", [[64], [65]]),
        (POWER, "nic-near:ib3", [[80], [84]]),
        (POWER, "gpu", [[0], [4]]),
        (GPUS, "gpu", [[0], [1]]),
        (ROME, "ppr:2:socket", [[0], [1], [64], [65]]),
        (ROME, "ppr:1:package", [[0], [64]]),
        (CUT, "ppr:2:l3", [[1], [2], [3], [4], [6], [7]]),
        (CONTAINER, "ppr:1:node", [[0]]),
        (ROME, "cores:0,16-17,5+7", [[0], [16, 17], [5, 7]]),
    ],
)
def test_who_sits_where(name: str, text: str, expected: list[list[int]]) -> None:
    assert seats(name, text) == expected


@pytest.mark.parametrize(
    ("name", "text", "ranks", "expected"),
    [
        (ROME, "compact", 5, [0, 1, 2, 3, 4]),
        (SKYLAKE, "compact", 3, [0, 2, 4]),
        (CUT, "compact", 3, [1, 2, 3]),
        (ROME, "scatter", 6, [0, 64, 16, 80, 32, 96]),
        (CUT, "scatter", 7, [1, 3, 6, 2, 4, 7, 5]),
        (CONTAINER, "scatter", 4, [0, 8, 1, 9]),
        (ROME, "nic-near", 18, [*range(96, 112), 64, 65]),
        (GPUS, "gpu", 4, [0, 1, 16, 17]),
        (GPUS, "gpu", 6, [0, 1, 16, 17, 2, 3]),
    ],
)
def test_policies_for_any_number_of_ranks(
    name: str, text: str, ranks: int, expected: list[int]
) -> None:
    assert seats(name, text, ranks) == [[pu] for pu in expected]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_all_gives_a_pair_of_each_level_and_what_it_says(path: Path) -> None:
    it = HostResources("here", topology.built(path))
    shared = it.levels.shared()
    if not shared:
        with pytest.raises(UserError, match="only one core"):
            placement.place("all", [it], 2)
        return
    found = placement.place("all", [it], 2)
    assert [each.name for each in found] == list(shared)
    for each in found:
        first, second = (min(seat.pus) for seat in each.seats)
        assert it.levels.closest(first, second) == each.name
        assert {first, second} <= it.topology.allowed


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
@pytest.mark.parametrize("text", ["compact", "scatter"])
def test_every_usable_core_once(path: Path, text: str) -> None:
    it = HostResources("here", topology.built(path))
    (found,) = placement.place(text, [it], it.topology.cores)
    taken = [min(seat.pus) for seat in found.seats]
    assert sorted(taken) == sorted(it.cores)


# --- several hosts --------------------------------------------------------------------------
def on_two(text: str, ranks: int | None = None, usual: int = 2) -> list[tuple[str, int]]:
    (found,) = placement.place(text, [site(PI, "a"), site(PI, "b")], usual, ranks)
    return [(seat.host, min(seat.pus)) for seat in found.seats]


def test_hosts_in_turn() -> None:
    assert on_two("hosts") == [("a", 0), ("b", 0)]
    assert on_two("hosts", 3) == [("a", 0), ("b", 0), ("a", 1)]


def test_a_pair_is_on_one_host() -> None:
    assert on_two("l2") == [("a", 0), ("a", 1)]
    with pytest.raises(UserError, match="this machine has l2; for ranks on different hosts write"):
        on_two("node")


def test_compact_fills_the_first_host_and_scatter_does_not() -> None:
    assert on_two("compact", 5) == [("a", 0), ("a", 1), ("a", 2), ("a", 3), ("b", 0)]
    assert on_two("scatter", 3) == [("a", 0), ("b", 0), ("a", 1)]


def test_all_has_the_pair_on_two_hosts() -> None:
    found = placement.place("all", [site(PI, "a"), site(PI, "b")], 2)
    assert [each.name for each in found] == ["l2", "hosts"]


def test_each_host_has_the_cores_as_said() -> None:
    assert on_two("cores:2,3") == [("a", 2), ("a", 3), ("b", 2), ("b", 3)]


def test_slots_bound_what_a_host_gets() -> None:
    two = [replace(site(PI, name), slots=2) for name in ("a", "b")]
    for text, order in (("compact", "aabb"), ("scatter", "abab"), ("hosts", "abab")):
        (found,) = placement.place(text, two, 4, 4)
        assert [seat.host for seat in found.seats] == list(order)
    with pytest.raises(UserError, match="there are 4 cores that may be used for 5 ranks"):
        placement.place("compact", two, 5)


# --- as launchers and kernels are told ------------------------------------------------------
def told(text: str, *hosts: HostResources, ranks: int = 4) -> list[tuple[str, int, str]]:
    (found,) = placement.place(text, hosts, 2, ranks)
    return [(block.host, block.ranks, ",".join(block.bind)) for block in placement.blocks(found)]


def test_blocks_of_hosts() -> None:
    """Hosts whose cores begin alike are told the same, so that one command does for all."""
    a, b, other = site(PI, "a"), site(PI, "b"), site(CUT, "c")
    assert told("compact", a, b, ranks=5) == [("a", 4, "0,1,2,3"), ("b", 1, "0,1,2,3")]
    assert told("hosts", a, b) == [("a", 2, "0,1"), ("b", 2, "0,1")]
    assert told("compact", a, other, ranks=5) == [("a", 4, "0,1,2,3"), ("c", 1, "1")]
    assert told("hosts", a, other, ranks=2) == [("a", 1, "0"), ("c", 1, "1")]
    with pytest.raises(UserError, match="hosts would have different cores"):
        told("hosts", a, other)


def test_orders_of_ranks() -> None:
    """Host by host, or one on each in turn; launchers know no third."""
    a, b = site(PI, "a").seat, site(PI, "b").seat
    assert not placement.in_turn(Placement("x", (a(0), a(1), b(0))))
    assert not placement.in_turn(Placement("x", (a(0), b(0))))
    assert placement.in_turn(Placement("x", (a(0), b(0), a(1))))
    with pytest.raises(UserError, match="--place x: ranks go from host to host in an order"):
        placement.in_turn(Placement("x", (a(0), b(0), b(1), a(1))))


# --- rankfiles ------------------------------------------------------------------------------
RANKFILE = """\
# a comment
rank 0=skylake slot=0
rank 2=+n0 slot=4-5,7
rank 1=localhost slot=1:3   # the fourth core of the second socket
rank 3=skylake slots=1:*
"""


def by_rankfile(text: str, name: str = SKYLAKE) -> list[list[int]]:
    (found,) = placement.place("rankfile:ranks", [site(name)], 2, files={"ranks": text})
    return [sorted(seat.pus) for seat in found.seats]


def test_rankfile() -> None:
    """Logical cores with all their hardware threads, as Open MPI has it."""
    assert by_rankfile(RANKFILE) == [
        [0, 40], [7, 47], [8, 10, 14, 48, 50, 54], list(range(1, 80, 2)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("slots", "pus"),
    [
        ("1:0,1", [1, 3, 41, 43]),
        ("1:0,2-3", [1, 5, 7, 41, 45, 47]),
        ("1:0;0", [0, 1, 40, 41]),
        ("0:0;1:0", [0, 1, 40, 41]),
        ("p3", [3]),
        ("p0-1,79", [0, 1, 79]),
        ("P0,p1", [0, 1]),
    ],
)
def test_slots_of_a_rankfile(slots: str, pus: list[int]) -> None:
    """Cores behind a comma are of the same socket; pN is a CPU as the system numbers it."""
    assert by_rankfile(f"/* one */ rank 0 = +N0 slot = {slots} // core\n") == [pus]


def test_rankfile_inside_a_cpuset() -> None:
    assert by_rankfile("rank 0=+n0 slot=0\n", CUT) == [[1, 25]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rank 0=skylake slot=0\nrank 2=skylake slot=1\n", "rank 1 is missing"),
        ("", "rank 0 is missing"),
        ("rank 0=skylake slot=0\nrank 0=skylake slot=1\n", "line 2 names rank 0 again"),
        ("rank 0 skylake\n", "line 1 ('rank 0 skylake') is none of a rankfile"),
        ("rank 0=skylark slot=0\n", "there is no host 'skylark'; did you mean 'skylake'?"),
        ("rank 0=+n1 slot=0\n", "there is no host '+n1'"),
        ("rank 0=skylake slot=40\n", "slot=40 is outside of the 40 cores of skylake"),
        ("rank 0=skylake slot=2:0\n", "skylake has no socket 2, it has 2"),
        ("rank 0=skylake slot=1:20\n", "slot=1:20 is outside of the 20 cores of socket 1"),
        ("rank 0=skylake slot=a\n", "'a' names no cores"),
        ("rank 0=skylake slot=3-1\n", "slot=3-1 is outside"),
        ("rank 0=+e slot=0\n", "line 1: +e means hosts without ranks"),
        ("rank 0=me@skylake slot=0\n", "line 1: 'me@skylake': ranks start as one user on all"),
        ("rank 0=skylake slot=p1:0\n", "line 1: slot=p1:0: cores within a socket have no numbers"),
        ("rank 0=skylake slot=p80\n", "line 1: there is no core 80 on skylake"),
        ("rank 0=skylake slot=px\n", "line 1: 'px' names no CPUs"),
        ("rank 0=skylake slot=p3-1\n", "line 1: 'p3-1' names no CPUs"),
    ],
)
def test_wrong_rankfiles(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        by_rankfile(text)
    assert sentence in str(refused.value)


# --- what is refused ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "text", "ranks", "sentence"),
    [
        (ROME, "core", None, "this machine has l3, numa, socket and sockets"),
        (
            SKYLAKE,
            "numa",
            None,
            "numa and l3 are the same here; this machine has core, l3 and sockets",
        ),
        (PI, "l3", None, "this machine has l2"),
        (ROME, "l3", 4, "it places 2 ranks, the job has 4"),
        (PI, "hosts", None, "it needs two hosts or more, there is one (raspberrypi)"),
        (PI, "nic-near", None, "raspberrypi has no network card"),
        (ROME, "gpu", None, "rome has no NVIDIA GPU"),
        (GPUS, "gpu:1", None, "nothing may follow it"),
        (ROME, "nic-near:mlx5_1", None, "no network card mlx5_1; did you mean 'mlx5_0'?"),
        (
            DESKTOP,
            "nic-far",
            None,
            "every core that may be used on desktop is equally far from eno1",
        ),
        (PI, "compact", 5, "there are 4 cores that may be used for 5 ranks"),
        (CUT, "cores:0,1", None, "core 0 may not be used; the cpuset of this process is 1-7,25-31"),
        (PI, "cores:0,4", None, "there is no core 4 on raspberrypi"),
        (PI, "cores:0,1", 3, "it names cores for 2 ranks, the job has 3"),
        (PI, "cores:x", None, "'x' (word 1 of 'x') names no cores"),
        (PI, "ppr:2", None, "write a number and a level, such as ppr:2:l3"),
        (PI, "ppr:0:l2", None, "write a number and a level"),
        (PI, "ppr:1:l9", None, "there is no level 'l9'"),
        (PI, "ppr:1:l3", None, "this machine has no l3"),
        (CUT, "ppr:3:l3", None, "a l3 of epyc7402 has 2 cores that may be used, not 3"),
        (PI, "ppr", None, "ppr is so many ranks on each object of a level: ppr:2:l3; write"),
        (PI, "l2:3", None, "l2 is two cores that share an L2 cache; nothing may follow it"),
        (PI, "scater", None, "there is no placement 'scater'; did you mean 'scatter'?"),
    ],
)
def test_refusals(name: str, text: str, ranks: int | None, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        placement.place(text, [site(name)], 2, ranks)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_card_that_does_not_say_where_it_is() -> None:
    rome = site(ROME)
    lost = tuple(replace(d, pus=frozenset(), numa=None) for d in rome.topology.devices)
    with pytest.raises(UserError, match="does not report which cores mlx5_0 is next to"):
        placement.place("nic-near", [HostResources("r", replace(rome.topology, devices=lost))], 2)


def test_gpus_that_do_not_report_their_cores() -> None:
    gpus = site(GPUS)
    lost = tuple(replace(d, pus=frozenset(), numa=None) for d in gpus.topology.devices)
    with pytest.raises(UserError, match="does not report which cores GPU 0 is next to"):
        placement.place("gpu", [HostResources("r", replace(gpus.topology, devices=lost))], 2)


def test_only_gpus_that_a_job_may_use_have_ranks() -> None:
    host = replace(site(GPUS), gpus=("0000:b8:00.0",))
    (found,) = placement.place("gpu", [host], 2)
    assert [min(seat.pus) for seat in found.seats] == [16, 17]
    with pytest.raises(UserError, match="--place gpu: the driver of gpu4 offers no GPU"):
        placement.place("gpu", [replace(host, gpus=())], 2)


def test_ranks_on_several_hosts_have_the_gpus_of_their_hosts() -> None:
    (found,) = placement.place("gpu", [site(GPUS, "a"), site(GPUS, "b")], 2, 5)
    assert [(seat.host, min(seat.pus)) for seat in found.seats] == [
        ("a", 0), ("a", 1), ("a", 16), ("b", 0), ("b", 1),
    ]  # fmt: skip


def test_without_distances_the_socket_counts() -> None:
    rome = site(ROME)
    blind = HostResources("r", replace(rome.topology, distances=()))
    (near,) = placement.place("nic-near", [blind], 18)
    assert [min(s.pus) for s in near.seats][15:] == [111, 64, 65]
    (far,) = placement.place("nic-far", [blind], 2)
    assert [min(s.pus) for s in far.seats] == [0, 1]


def test_a_core_for_two_ranks_is_refused() -> None:
    (found,) = placement.place("cores:0,0", [site(PI)], 2)
    with pytest.raises(UserError, match="ranks 0 and 1 of raspberrypi on the same core 0"):
        placement.check_alone(found)


# --- the list of policies -------------------------------------------------------------------
def test_lists_of_policies() -> None:
    assert placement.words("core,l3,cores:0,4,numa,ppr:2:l3") == (
        "core", "l3", "cores:0,4", "numa", "ppr:2:l3",
    )  # fmt: skip
    with pytest.raises(UserError, match="there is no placement '4'"):
        placement.words("l3,4")


def test_the_files_that_placements_name_are_known_before_they_are_read() -> None:
    assert placement.files_in(["l3,rankfile:a", "rankfile:b", "rankfile:a"]) == ("a", "b")
    assert placement.files_in(["cores:0,4", "all"]) == ()


def test_a_placement_is_stored_by_one_name() -> None:
    assert placement.words("Package,ppr:2:package,rankfile:package") == (
        "socket", "ppr:2:socket", "rankfile:package",
    )  # fmt: skip


def test_the_docs_page_has_every_policy() -> None:
    page = (MACHINES.parents[1] / "docs" / "explain" / "placement.md").read_text()
    missing = [name for name in placement.POLICIES if f"`{name}" not in page]
    assert missing == []


def test_two_policies_of_one_name_are_refused() -> None:
    assert placement.POLICIES
    with pytest.raises(RuntimeError, match="two placements are named 'compact'"):
        registry.policy("compact", "again")(lambda _: [])


def test_placements_know_their_hosts() -> None:
    seat = site(PI, "b").seat
    assert list(Placement("x", (seat(1), site(PI, "a").seat(0), seat(2))).by_host) == ["b", "a"]


def test_a_topology_cannot_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "PingPong", "--topology", str(MACHINES / ROME)]) == 2
    assert "--topology is for --dry-run" in capsys.readouterr().err
