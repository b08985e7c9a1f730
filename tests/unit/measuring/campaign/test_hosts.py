# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts: lists and files of them, how ranks are shared out, and every sentence that refuses."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.measuring.campaign.launch import block_of
from mpigauge.measuring.plan import Plan, PlanPart, Resources, host_words, read_request, resolve
from mpigauge.model import hostfile, hostlist
from mpigauge.model.errors import UserError
from mpigauge.model.hostfile import MOST, parse_hostfile, read_hostfile
from mpigauge.model.hostlist import compress, expand, parse_hosts
from mpigauge.model.hosts import HostRanks, NamedHost, ProbedHost
from mpigauge.model.machine import Machine
from mpigauge.products.quick.plan import quick
from mpigauge.site import topology
from mpigauge.site.launch import OnHost
from mpigauge.site.placement import HostResources, room, share_out
from mpigauge.site.topology import differences
from tests import asked
from tests.unit.measuring.plan.test_plan import CARDS, MPICH


def of(text: str) -> list[tuple[str, int | None]]:
    return [(host.name, host.slots) for host in parse_hosts(text, "--hosts")]


def file_of(text: str) -> list[tuple[str, int | None]]:
    return [(host.name, host.slots) for host in parse_hostfile(text, "hosts.txt")]


# --- lists ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a", [("a", None)]),
        ("a,b[01-03]", [("a", None), ("b01", None), ("b02", None), ("b03", None)]),
        ("b[9-11]", [("b9", None), ("b10", None), ("b11", None)]),
        ("b[01,7-8]-x:4", [("b01-x", 4), ("b7-x", 4), ("b8-x", 4)]),
        ("r[1-2]n[1-2]", [("r1n1", None), ("r1n2", None), ("r2n1", None), ("r2n2", None)]),
        ("a:2, b.cluster.org:3", [("a", 2), ("b.cluster.org", 3)]),
        ("10.0.0.1,10.0.0.2", [("10.0.0.1", None), ("10.0.0.2", None)]),
    ],
)
def test_lists(text: str, hosts: list[tuple[str, int | None]]) -> None:
    assert of(text) == hosts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "--hosts, column 1: there is nothing where a host should be"),
        ("a,,b", "--hosts, column 3: there is ',' where a host should be"),
        ("a,b[01-04", "--hosts, column 4: this '[' has no partner"),
        ("a,b]", "--hosts, column 4: this ']' has no partner"),
        ("a,b[4-1]", "--hosts, column 3: the range 4-1 runs downwards; write 1-4"),
        ("a,b[x]", "--hosts, column 3: 'x' in brackets is not a range; write b[01-04,7]"),
        ("a,b[]", "--hosts, column 3: '' in brackets is not a range"),
        ("a,-b", "--hosts, column 3: '-b' is not a name of a host"),
        ("a:0", "--hosts, column 1: '0' is not a number of ranks for a"),
        ("a:x", "--hosts, column 1: 'x' is not a number of ranks for a"),
        ("u@a", "--hosts, column 1: 'u@a' is not a name of a host"),
        ("a,b,a", "host a is named twice (--hosts, column 1; --hosts, column 5)"),
        ("a,b,a:3,a", "name it once, with all of its ranks: a:5"),
        ("b[01-04],b03", "host b03 is named twice (--hosts, column 1; --hosts, column 10)"),
        ("b[1-99999999]", "is longer than 200000 hosts"),
        ("b[1-9999][1-9999]", "stands for 99980001 hosts"),
    ],
)
def test_wrong_lists(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        of(text)


def test_compressed() -> None:
    assert compress(["node01", "node02", "node04", "login"]) == "node[01-02,04],login"
    assert compress(["a", "b7"]) == "a,b7"
    assert compress([]) == ""


@given(st.lists(st.from_regex(r"[a-c]{1,2}[0-9]{0,3}", fullmatch=True), unique=True, min_size=1))
def test_compressed_and_read_again(names: list[str]) -> None:
    assert sorted(name for name, _ in of(compress(names))) == sorted(names)


def test_expand_keeps_zeros() -> None:
    assert expand("n[008-010]", "x") == ["n008", "n009", "n010"]


# --- files ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a\nb\n", [("a", None), ("b", None)]),
        ("# ours\na:2  # MPICH\n\nb:3\n", [("a", 2), ("b", 3)]),
        ("a slots=2\nb slots=4 max_slots=8\n", [("a", 2), ("b", 4)]),
        ("n[1-2] slots=2", [("n1", 2), ("n2", 2)]),
        ("a slots = 4\nb slots=4 max_slots = 8\n", [("a", 4), ("b", 4)]),
        ("a\tcount=2\nb cpu =3\nc  slots= 1\n", [("a", 2), ("b", 3), ("c", 1)]),
        ("a max-slots=3\n", [("a", 3)]),
        ("a\nb\na\n", [("a", 2), ("b", 1)]),
        ("a\nb:3\nc\nb:2\n", [("a", None), ("b", 5), ("c", None)]),
        ("n[1-4] slots=2\nn3 slots=1", [("n1", 2), ("n2", 2), ("n3", 3), ("n4", 2)]),
        ("a slots=0\nb slots=2\n", [("b", 2)]),
        ("a\n^b\nb\n^c\n", [("a", None)]),
        ("a.x.org:2\nb.x.org:2\n^b\n", [("a.x.org", 2)]),
        ("/* two\n   lines */ a slots=1 // one\n//b\nc slots=1 # d\n", [("a", 1), ("c", 1)]),
        ("rank 0=a slot=0\nrank 2 = b slot = 1:0\nrank 1=a\n", [("a", 2), ("b", 1)]),
        ("a.org 4 all.q@a.org UNDEFINED\nb.org 2 all.q@b.org <NULL>", [("a.org", 4), ("b.org", 2)]),
    ],
)
def test_files_of_each_dialect(text: str, hosts: list[tuple[str, int | None]]) -> None:
    assert file_of(text) == hosts


@pytest.mark.parametrize("name", ["bom", "ompi-blanks", "pbs"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_files_of_bug_reports(repository: Path, tmp_path: Path, name: str, ends: bytes) -> None:
    """With a byte-order mark, with blanks around =, with a line for each rank."""
    file = tmp_path / "hosts"
    reported = repository / "tests" / "golden" / "hosts" / f"{name}.hosts"
    file.write_bytes(reported.read_bytes().replace(b"\n", ends))
    slots = {"bom": None, "ompi-blanks": 4, "pbs": 4}[name]
    assert [(h.name, h.slots) for h in read_hostfile(file)] == [("node1", slots), ("node2", slots)]


def test_a_node_file_has_more_lines_than_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each host has a line for each of its ranks; hosts are counted once."""
    monkeypatch.setattr(hostlist, "MOST_HOSTS", 10)
    lines = "\n".join(f"node{number // 128}" for number in range(1280))
    assert file_of(lines) == [(f"node{number}", 128) for number in range(10)]
    with pytest.raises(UserError, match=r"hosts\.txt, line 1281: there are more than 10 hosts"):
        file_of(f"{lines}\nnode10\n")


def test_more_ranks_than_any_job_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostfile, "MOST_ENTRIES", 3)
    with pytest.raises(UserError, match=r"hosts\.txt, line 4: there are more than 3 ranks"):
        file_of("a\na\nb\na\n")


@pytest.mark.parametrize("word", MOST)
def test_the_most_ranks_of_a_host(big: Machine, word: str) -> None:
    """Open MPI's max_slots, by all of its names, limits ranks that share cores."""
    (host,) = parse_hostfile(f"a slots=2 {word}=8", "hosts.txt")
    assert (host.slots, host.most) == (2, 8)
    (site,) = (replace(each, most=host.most) for each in sites(big, "a", slots=2))
    assert share_out([site], 8, None, True) == (8,)
    for ranks, ppn in ((9, None), (9, 9)):
        with pytest.raises(UserError):
            share_out([site], ranks, ppn, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a slot=2",
            "hosts.txt, line 1, column 3: 'slot=2' is not known here; did you mean 'slots'",
        ),
        ("a\nb 2", "hosts.txt, line 2, column 3: '2' is not known here; a line is a host"),
        ("a slots=two", "hosts.txt, line 1, column 3: 'two' is not a number of slots"),
        ("a slots=-1", "hosts.txt, line 1, column 3: '-1' is not a number of slots"),
        ("a slots=0", "hosts.txt leaves no host: each is excluded by ^ or has slots=0"),
        ("^a\n", "hosts.txt leaves no host"),
        ("a:0", "hosts.txt, line 1, column 1: '0' is not a number of ranks for a"),
        ("a slots=2 cpu=2", "hosts.txt, line 1, column 11: the slots are given twice"),
        ("a slots=4 max_slots=2", "hosts.txt, line 1: max_slots=2 is less than slots=4"),
        ("a slots=\n", "hosts.txt, line 1, column 8: this '=' has no word or no value"),
        ("slots=4\n", "hosts.txt, line 1: 'slots=4' stands where a host should be"),
        ("a\nroot@b\n", "hosts.txt, line 2: 'root@b': ranks start as one user on all hosts"),
        ("a username=x\n", "hosts.txt, line 1, column 3: 'username=x': ranks start as one user"),
        ("a user=x\n", "hosts.txt, line 1, column 3: 'user=x': ranks start as one user"),
        ("a port = 22\n", "hosts.txt, line 1, column 3: 'port=22': the agent has one port"),
        ("a:2 binding=user:0\n", "hosts.txt, line 1, column 5: 'binding=user:0': ranks are bound"),
        ("a:2 ifname=ib0\n", "hosts.txt, line 1, column 5: 'ifname=ib0': the interface is"),
        ("a:2:mlx5_0\n", "hosts.txt, line 1: 'mlx5_0' is a network card of MVAPICH"),
        ("a:mlx5_0\n", "hosts.txt, line 1: 'mlx5_0' is a network card of MVAPICH"),
        ("+n1\n", "hosts.txt, line 1: +n1 counts the hosts of a batch job"),
        ("+e:2\n", "hosts.txt, line 1: +e:2 counts the hosts of a batch job"),
        ('"a" slots=2', "hosts.txt, line 1: launchers take no quotes in a host file"),
        ("a boards=2", "hosts.txt, line 1, column 3: 'boards=2' is not known here"),
        (
            "^a slots=2\nb",
            "hosts.txt, line 1: ^a excludes a host; 'slots' has no meaning beside it",
        ),
        ("a 4 all.q@a 0,0:0,1", "hosts.txt, line 1: 0,0:0,1 names cores; write them as --place"),
        ("a 4 b 4", "hosts.txt, line 1: 'a 4 b 4' is no line of a host file"),
        ("a 0,1,2", "hosts.txt, line 1, column 3: '0,1,2' is not known here"),
        ("a:2 slots=2", "hosts.txt, line 1: a:2 has its slots twice"),
        ("# nobody\n", "hosts.txt names no host"),
        ("a[1-", "hosts.txt, line 1, column 2: this '[' has no partner"),
    ],
)
def test_wrong_files(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        file_of(text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--hostfile: cannot read .*: No such file"):
        read_hostfile(tmp_path / "none")
    (tmp_path / "picture").write_bytes(b"\x89\xff\xfe")
    with pytest.raises(UserError, match="is not text"):
        read_hostfile(tmp_path / "picture")


# --- ranks on hosts -------------------------------------------------------------------------
@pytest.fixture
def big(repository: Path) -> Machine:
    """Two sockets of 16 cores."""
    return topology.read(repository / "tests" / "machines" / "epyc-7302-two-sockets.txt")


def sites(machine: Machine, *names: str, slots: int | None = None) -> tuple[HostResources, ...]:
    return tuple(HostResources(name, replace(machine, hostname=name), slots) for name in names)


@pytest.mark.parametrize(
    ("world", "ppn", "slots", "counts"),
    [
        (2, None, None, (1, 1, 0)),
        (4, None, None, (2, 1, 1)),
        (96, None, None, (32, 32, 32)),
        (5, 2, None, (2, 2, 1)),
        (3, 3, None, (3, 0, 0)),
        (5, None, 2, (2, 2, 1)),
    ],
)
def test_shared_out(
    big: Machine, world: int, ppn: int | None, slots: int | None, counts: tuple[int, ...]
) -> None:
    assert share_out(sites(big, "a", "b", "c", slots=slots), world, ppn, False) == counts


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.floats(0.0, 1.0),
)
def test_shared_out_evenly(slots: list[int], share: float) -> None:
    """All ranks have a place, no host more than it may, and none could take from a fuller one."""
    machine = topology.read()
    hosts = [HostResources(f"n{i}", machine, each) for i, each in enumerate(slots)]
    world = max(1, int(share * sum(slots)))
    counts = share_out(hosts, world, None, False)
    assert sum(counts) == world
    assert all(count <= most for count, most in zip(counts, slots, strict=True))
    open_to = [count for count, most in zip(counts, slots, strict=True) if count < most]
    assert max(counts) - min(open_to, default=max(counts)) <= 1


@pytest.mark.parametrize(
    ("world", "ppn", "slots", "sentence"),
    [
        (97, None, None, "97 ranks are more than the 96 slots of the hosts (a 32, b 32, c 32)"),
        (7, None, 2, "7 ranks are more than the 6 slots of the hosts (a 2, b 2, c 2)"),
        (7, 2, None, "7 ranks are more than the 6 slots of the hosts (a 2, b 2, c 2); name more"),
        (2, 33, None, "--ppn 33 is more than the 32 cores of host a"),
        (2, 3, 2, "--ppn 3 is more than the 2 slots of host a"),
    ],
)
def test_too_many(
    big: Machine, world: int, ppn: int | None, slots: int | None, sentence: str
) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        share_out(sites(big, "a", "b", "c", slots=slots), world, ppn, False)


def test_room(big: Machine) -> None:
    assert room(sites(big, "a", "b"), None) == 64
    assert room(sites(big, "a", "b", slots=3), None) == 6
    assert room(sites(big, "a", "b"), 4) == 8


# --- plans ----------------------------------------------------------------------------------
def plan(resources: Resources, *benchmarks: str, **raw: Any) -> Plan:
    request = asked.request({"benchmarks": benchmarks} | raw)
    return resolve(request, CARDS, replace(resources, ppn=request.ppn), MPICH)


def counts(made: Plan) -> dict[str, int]:
    return counts_of(made.parts[0])


def counts_of(part: PlanPart) -> dict[str, int]:
    return {block.host: block.ranks for block in part.blocks}


def test_a_pair_sits_on_two_hosts(big: Machine) -> None:
    made = plan(Resources(big, sites(big, "a", "b", "c")), "PingPong")
    assert counts(made) == {"a": 1, "b": 1}
    assert made.hosts == ("a", "b")
    assert not made.parts[0].bind
    assert not made.oversubscribe


def test_collectives_get_all_hosts(big: Machine) -> None:
    assert counts(plan(Resources(big, sites(big, "a", "b")), "Allreduce")) == {"a": 32, "b": 32}
    assert counts(plan(Resources(big, sites(big, "a", "b")), "Allreduce", ppn="4")) == {
        "a": 4,
        "b": 4,
    }
    assert counts(plan(Resources(big, sites(big, "a", "b")), "Allreduce", np="3")) == {
        "a": 2,
        "b": 1,
    }
    assert counts(plan(Resources(big, sites(big, "a", "b", slots=2)), "Allreduce")) == {
        "a": 2,
        "b": 2,
    }


def test_each_rank_has_a_core_of_its_host(big: Machine) -> None:
    """Hosts that allow other cores are told others; equal ones the same, for one command."""
    part = replace(big, hostname="b", allowed=frozenset(range(4, 8)))
    (a, b) = (
        plan(Resources(big, (*sites(big, "a"), HostResources("b", part))), "Allreduce", np="4")
        .parts[0]
        .blocks
    )
    assert (a.bind, b.bind) == (("0", "1"), ("4", "5"))
    uneven = plan(Resources(big, sites(big, "a", "b")), "Allreduce", np="3").parts[0].blocks
    assert [block.bind for block in uneven] == [("0", "1"), ("0", "1")]


def test_cores_as_said(big: Machine) -> None:
    made = plan(Resources(big, sites(big, "a", "b")), "Allreduce", bind="0,16")
    assert counts(made) == {"a": 2, "b": 2}
    assert made.parts[0].blocks[1].bind == ("0", "16")
    assert (
        plan(Resources(big, sites(big, "a", "b")), "PingPong", bind="none").parts[0].blocks[0].bind
        == ()
    )


def test_placements_on_hosts(big: Machine) -> None:
    """They share a job; the pair on one host does not touch the other."""
    (part,) = plan(Resources(big, sites(big, "a", "b")), "PingPong", place=("core,hosts",)).parts
    assert part.blocks == (HostRanks("a", 2, ("0", "32"), "a"), HostRanks("b", 1, ("0", "32"), "b"))
    assert part.places == {"0,1": "core", "0,2": "hosts"}


def test_ppn_is_the_room_of_each_host(big: Machine) -> None:
    resources = Resources(big, sites(big, "a", "b"))
    part = plan(resources, "Allreduce", place=("hosts",), ppn="2").parts[0]
    assert part.blocks == (HostRanks("a", 2, ("0", "1"), "a"), HostRanks("b", 2, ("0", "1"), "b"))
    assert part.in_turn
    part = plan(resources, "Allreduce", place=("compact",), ppn="3").parts[0]
    assert (counts_of(part), part.in_turn) == ({"a": 3, "b": 3}, False)
    with pytest.raises(UserError, match="it places 2 ranks, the job has 4"):
        plan(resources, "Allreduce", place=("node",), ppn="2")
    with pytest.raises(UserError, match="--place cores:0,1 puts 2 ranks on host a, which has room"):
        plan(Resources(big, sites(big, "a", slots=1)), "PingPong", bind="0,1")


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"bind": "0,1,2", "np": "4"}, "it names cores for 6 ranks, the job has 4"),
        ({"bind": "0,999"}, "--place cores:0,999: there is no core 999 on a"),
        ({"np": "65"}, "65 ranks are more than the 64 slots of the hosts"),
        ({"ppn": "0"}, "--ppn: '0' is not a number of ranks"),
        ({"rsh": "ssh -o 'A B'"}, "splits it at blanks and reads no quotes"),
        ({"rsh": "no-such-agent -p 1"}, "--rsh: there is no program 'no-such-agent'"),
    ],
)
def test_refused(big: Machine, raw: dict[str, str], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        plan(Resources(big, sites(big, "a", "b")), "Allreduce", **raw)


def test_slots_that_exceed_the_cores(big: Machine) -> None:
    resources = Resources(big, sites(big, "a", "b", slots=40))
    with pytest.raises(UserError, match="40 ranks are more than the cores of host a, which has 32"):
        plan(resources, "Allreduce")
    assert plan(resources, "Allreduce", oversubscribe=True).oversubscribe


def test_quick_on_hosts(big: Machine) -> None:
    small = replace(big, allowed=frozenset({0}))
    parts = quick(read_request({}), CARDS, Resources(big, sites(small, "a", "b", "c")), MPICH).parts
    assert [[block.ranks for block in part.blocks] for part in parts] == [[1, 1], [1, 1], [1, 1, 1]]


def test_quick_spreads_its_pairs(big: Machine) -> None:
    resources = Resources(big, sites(big, "a", "b"), ppn=2)
    parts = quick(read_request({}), CARDS, resources, MPICH).parts
    assert [[block.ranks for block in part.blocks] for part in parts] == [[1, 1], [1, 1], [2, 2]]


def test_plans_with_hosts_can_be_stored(big: Machine) -> None:
    made = plan(Resources(big, sites(big, "a", "b")), "Allreduce", rsh="sh -x")
    again = Plan.from_json(made.to_json())
    assert again == made
    assert again.rsh[1:] == ("-x",)
    assert again.parts[0].blocks[1].hostname == "b"


def test_hosts_of_ranks() -> None:
    part = PlanPart(("PingPong",), 3, blocks=(HostRanks("a", 2), HostRanks("b", 1)))
    assert [block_of(rank, part).host for rank in range(3)] == ["a", "a", "b"]
    in_turn = replace(part, in_turn=True)
    assert [block_of(rank, in_turn).host for rank in range(3)] == ["a", "b", "a"]


def test_words_of_a_binding() -> None:
    assert host_words(("0", "4+5"), ()) == ("--bind", "0,4+5")
    assert host_words((), ("0000:19:00.0",)) == ("--gpus", "0000:19:00.0")
    assert host_words((), ()) == ()
    assert OnHost("a", 1).words == ()


# --- what differs ---------------------------------------------------------------------------
def nodes(machine: Machine, *names: str) -> list[ProbedHost]:
    return [ProbedHost(name, replace(machine, hostname=name)) for name in names]


def test_equal_hosts_have_no_differences(big: Machine) -> None:
    assert differences(nodes(big, "a", "b")) == []
    assert differences(()) == []


def test_differences_are_named(big: Machine) -> None:
    other = replace(
        big, allowed=frozenset(range(8)), cpu_model="Other CPU", memory_total_bytes=1 << 33
    )
    (sentence,) = differences((*nodes(big, "a", "b"), ProbedHost("c", other)))
    assert sentence.startswith("host c differs from a: 8 cores instead of 32 cores, CPU Other CPU")
    assert "8 GiB of memory instead of" in sentence
    one = replace(big, pus=tuple(replace(pu, package=0) for pu in big.pus))
    assert differences((*nodes(big, "a"), ProbedHost("b", one))) == [
        "host b differs from a: 1 socket instead of 2 sockets"
    ]
    assert [device.name for device in big.devices if device.fabric] == ["mlx5_0"]
    assert differences((*nodes(big, "a"), ProbedHost("b", replace(big, devices=())))) == [
        "host b differs from a: fast network card none instead of mlx5_0"
    ]


def test_named_hosts_know_where_they_were_written() -> None:
    assert parse_hosts("a,b", "--hosts")[1] == NamedHost("b", None, "--hosts, column 3")
